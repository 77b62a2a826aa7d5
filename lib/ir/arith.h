/* Operations of arith and llvm that several passes make, one call each. */
#ifndef CUTE_LIB_IR_ARITH_H
#define CUTE_LIB_IR_ARITH_H

#include "lib/ir/builder.h"

/* Predicates of arith.cmpi and llvm.icmp. */
typedef enum cute_predicate {
    CUTE_IS_EQ,
    CUTE_IS_NE,
    CUTE_IS_SLT,
    CUTE_IS_SLE,
    CUTE_IS_SGT,
    CUTE_IS_SGE,
    CUTE_IS_ULT,
    CUTE_IS_ULE,
    CUTE_IS_UGT,
    CUTE_IS_UGE,
} cute_predicate;

/* An operation of one operand whose result is of `type`. */
MlirValue cute_unary(const cute_builder *b, const char *name, MlirValue value, MlirType type);
/* An operation of two operands of the type of its result. */
MlirValue cute_binary(const cute_builder *b, const char *name, MlirValue left, MlirValue right);
MlirValue cute_compare(const cute_builder *b, cute_predicate predicate, MlirValue left, MlirValue right);
MlirValue cute_select(const cute_builder *b, MlirValue condition, MlirValue yes, MlirValue no);
/* arith.constant of an integer type or index. */
MlirValue cute_integer(const cute_builder *b, MlirType type, int64_t value);
/* llvm.inline_asm with side effects; its result is null where `result` is. */
MlirValue cute_assembly(const cute_builder *b, const char *text, const char *constraints,
                        cute_operands operands, MlirType result);
/* llvm.extractvalue and llvm.insertvalue of the field `at` of a struct, `element` of an array field (-1: the
 * field itself). */
MlirValue cute_extract_field(const cute_builder *b, MlirValue container, int64_t at, int64_t element,
                             MlirType type);
MlirValue cute_insert_field(const cute_builder *b, MlirValue container, MlirValue value, int64_t at);

#endif
