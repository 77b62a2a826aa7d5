/* Checks shared by verifiers of tensor and atom operations. All return false after emitting an error. */
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

/* The value described by an operand or result type; NULL if the type has none. */
const cute_value *cute_check_operand(const cute_check *c, intptr_t index);
const cute_value *cute_check_result(const cute_check *c, intptr_t index);

/* `what` is "operand #1" or "result". */
bool cute_check_space(const cute_check *c, const char *what, const cute_pointer *pointer, cute_space space);
/* The alignment is at most `align`, or that of an element. */
bool cute_check_align(const cute_check *c, const char *what, const cute_pointer *pointer, int64_t align);
bool cute_check_element(const cute_check *c, const char *what, const char *element, const char *expected);
/* The result has the operand's layout. */
bool cute_check_layout(const cute_check *c, const cute_value *result, const cute_value *layout);
/* An SSA value has the element type; if MLIR has no such type, an integer of the same width. */
bool cute_check_value(const cute_check *c, const char *what, MlirType type, const cute_pointer *element);
/* A coordinate or index of a single element matches the shape, and is within static bounds. */
bool cute_check_coord(const cute_check *c, const cute_tree *coord, const cute_tree *shape);

/* The number of coordinates; 0: dynamic. */
int64_t cute_check_size(const cute_tree *shape);
/* The number of elements of a vector type; 0 on overflow. */
int64_t cute_check_length(MlirType vector);
/* The width of a builtin integer or !cute.iN type. */
int cute_integer_width(MlirType type);
/* Mode `i` of a tuple; mode 0 of a scalar is the scalar; otherwise NULL. */
const cute_tree *cute_check_mode(const cute_tree *tree, uint32_t i);

#endif
