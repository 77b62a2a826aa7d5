/* The nodes of a cute_expr, for evaluators other than cute_expr_int: the checks of lib/launch evaluate it in
 * double over whole rows. Nodes are immutable and in the arena. */
#ifndef CUTE_LIB_BASE_NUMBERS_EXPR_TREE_H
#define CUTE_LIB_BASE_NUMBERS_EXPR_TREE_H

#include "lib/base/numbers/expr.h"

typedef enum cute_expr_kind {
    CUTE_EXPR_INTEGER, /* integer */
    CUTE_EXPR_REAL,    /* real */
    CUTE_EXPR_NAME,    /* name */
    CUTE_EXPR_INDEX,   /* name[args...] */
    CUTE_EXPR_CALL,    /* name(args...) */
    CUTE_EXPR_OPERATOR /* op over args: one, two or, for '?', three */
} cute_expr_kind;

typedef enum cute_expr_op {
    CUTE_EXPR_OP_NEGATE,
    CUTE_EXPR_OP_NOT,
    CUTE_EXPR_OP_OR,
    CUTE_EXPR_OP_AND,
    CUTE_EXPR_OP_EQ,
    CUTE_EXPR_OP_NE,
    CUTE_EXPR_OP_LT,
    CUTE_EXPR_OP_LE,
    CUTE_EXPR_OP_GT,
    CUTE_EXPR_OP_GE,
    CUTE_EXPR_OP_ADD,
    CUTE_EXPR_OP_SUB,
    CUTE_EXPR_OP_MUL,
    CUTE_EXPR_OP_DIV,
    CUTE_EXPR_OP_REM,
    CUTE_EXPR_OP_SELECT
} cute_expr_op;

struct cute_expr {
    cute_expr_kind kind;
    cute_expr_op op;
    int64_t integer;
    double real;
    const char *name;
    const cute_expr *const *args;
    int count;
    int depth;        /* 1 for a leaf; bounded, so that traversals may recurse */
    cute_place place; /* of the name, the number or the operator */
};

#endif
