/* What verifiers of operations on tensors and atoms say alike: what was expected, what came. All return false after an error. */
#ifndef CUTE_LIB_IR_OPS_CHECK_H
#define CUTE_LIB_IR_OPS_CHECK_H

#include "lib/atoms/atoms.h"
#include "lib/ir/ops/algebra.h"

typedef struct cute_check {
    const cute_op_row *row;
    MlirOperation op;
} cute_check;

static inline cute_check cute_check_begin(const cute_op_row *row, MlirOperation op)
{
    return (cute_check){row, op};
}

bool cute_check_fail(const cute_check *c, const char *format, ...) CUTE_PRINTF(2, 3);

/* What a type of the operation describes; NULL: not a value of lib/layout. */
const cute_value *cute_check_operand(const cute_check *c, intptr_t index);
const cute_value *cute_check_result(const cute_check *c, intptr_t index);

/* `what` is "operand #1" or "result". */
bool cute_check_space(const cute_check *c, const char *what, const cute_pointer *pointer, cute_space space);
/* The alignment is at most `align`, or that of an element. */
bool cute_check_align(const cute_check *c, const char *what, const cute_pointer *pointer, int64_t align);
bool cute_check_element(const cute_check *c, const char *what, const char *element, const char *expected);
/* A value of the program has the type of an element; of one that MLIR has no such type for, an integer of as many bits. */
bool cute_check_value(const cute_check *c, const char *what, MlirType type, const cute_pointer *element);
/* A coordinate, or an index, of an element of a shape: inside of it as far as both are known. */
bool cute_check_coord(const cute_check *c, const cute_tree *coord, const cute_tree *shape);

/* The number of coordinates; 0: it is not known. */
int64_t cute_check_size(const cute_tree *shape);
/* The elements of a vector type; 0: there are more than fit 64 bits. */
int64_t cute_check_length(MlirType vector);
/* The bits of an integer of the program, constrained or not. */
int cute_integer_width(MlirType type);
/* Mode `i` of a tuple, of anything else the tree itself (for 0), or NULL. */
const cute_tree *cute_check_mode(const cute_tree *tree, uint32_t i);

#endif
