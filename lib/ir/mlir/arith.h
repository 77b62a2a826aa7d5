/* Builders for common operations of arith, vector and llvm. */
#ifndef CUTE_LIB_IR_MLIR_ARITH_H
#define CUTE_LIB_IR_MLIR_ARITH_H

#include "lib/ir/mlir/builder.h"

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

/* The element type of a vector; any other type itself. */
MlirType cute_type_element(MlirType type);
/* The same shape with another element type; null for vectors of more than 16 dimensions. */
MlirType cute_type_with_element(MlirType type, MlirType element);
/* Elements of a vector; 1 for any other type. */
int64_t cute_vector_count(MlirType type);
/* The vector of rank 1 with as many elements. */
MlirType cute_vector_flat(MlirType type);
/* Of vectors of rank 1. */
MlirValue cute_vector_extract(const cute_builder *b, MlirValue vector, int64_t at);
MlirValue cute_vector_insert(const cute_builder *b, MlirValue vector, MlirValue value, int64_t at);
/* The element of a constant vector or tile whose elements are all equal; null: `value` is something else. */
MlirAttribute cute_constant_splat(MlirValue value);
/* llvm.mlir.undef, of a type that LLVM has. */
MlirValue cute_undefined(const cute_builder *b, MlirType type);

/* An operation of one operand whose result is of `type`. */
MlirValue cute_unary(const cute_builder *b, const char *name, MlirValue value, MlirType type);
/* An operation of two operands of the type of its result. */
MlirValue cute_binary(const cute_builder *b, const char *name, MlirValue left, MlirValue right);
MlirValue cute_compare(const cute_builder *b, cute_predicate predicate, MlirValue left, MlirValue right);
MlirValue cute_select(const cute_builder *b, MlirValue condition, MlirValue yes, MlirValue no);
/* arith.constant of an integer type or index, or a vector of them. */
MlirValue cute_integer(const cute_builder *b, MlirType type, int64_t value);
/* builtin.unrealized_conversion_cast, for types that are lowered to the same type; the value itself if
 * they are equal. */
MlirValue cute_cast(const cute_builder *b, MlirValue value, MlirType type);
/* llvm.inline_asm, with side effects or without; its result is null where `result` is. */
MlirValue cute_assembly(const cute_builder *b, bool effects, const char *text, const char *constraints,
                        cute_operands operands, MlirType result);
/* llvm.extractvalue and llvm.insertvalue of the field `at` of a struct, `element` of an array field (-1: the
 * field itself). */
MlirValue cute_extract_field(const cute_builder *b, MlirValue container, int64_t at, int64_t element,
                             MlirType type);
MlirValue cute_insert_field(const cute_builder *b, MlirValue container, MlirValue value, int64_t at);

#endif
