/* Shared by the files of lib/layout: the state of one evaluation and the operations on trees.
 *
 * Functions that return a tree return NULL after a failure, which has already been reported and recorded in
 * the state. They accept NULL operands and propagate the failure, so a formula can be written as nested calls
 * with a single check. */
#ifndef CUTE_LIB_LAYOUT_ALGEBRA_H
#define CUTE_LIB_LAYOUT_ALGEBRA_H

#include "cute/layout.h"

typedef const cute_tree *cute_node;

typedef struct cute_algebra {
    cute_arena *arena;
    const cute_arith *arith; /* NULL: infer */
    cute_diag *diag;
    cute_status status; /* of the first failure */
    /* Prefix of messages: the operation that failed. `$0`, `$1` are replaced by the types of the operands,
     * `$a`, `$b` by the attributes. NULL: no prefix. */
    const char *sentence;
    const cute_value *operands;
    const int64_t *attributes;
    cute_node culprit; /* the shape or stride that broke a rule; the parser points at it */
    /* The input is the text of a type: messages also contain the wording that the public dialect's tests
     * expect. */
    bool type_text;
    /* CuTe DSL's conventions, and those of all tensor operations: divisors of results are tracked even if no
     * operand states one, and the stride of a single tile is 0. */
    bool dsl;
    /* For tensors: indices are as wide as the extents require (eval.c). */
    bool tensor;
    int least; /* minimum width of scalar operations in bits; 0: that of the operands */
} cute_algebra;

/* ---- failures (algebra.c) ---- */

/* Reports, records CUTE_INVALID, and returns NULL. Only the first failure is reported. */
void *alg_fail(cute_algebra *a, const char *format, ...) CUTE_PRINTF(2, 3);
/* The operation got `count` operands instead of `least` to `most`. */
void *alg_fail_count(cute_algebra *a, const char *name, size_t least, size_t most, size_t count);
void *alg_exhausted(cute_algebra *a);
/* For messages: `'!cute.shape<"(4,2)">'`, `(4,2)`; never NULL. */
const char *alg_type_text(cute_algebra *a, const cute_value *value);
const char *alg_text(cute_algebra *a, cute_node tree);
const char *alg_layout_text(cute_algebra *a, cute_layout layout);

/* ---- trees (tree.c) ---- */

typedef struct alg_list {
    cute_node *items;
    size_t count, capacity;
    bool failed;
} alg_list;

void alg_push(cute_algebra *a, alg_list *list, cute_node item);
cute_node alg_tuple(cute_algebra *a, const alg_list *list);
cute_node alg_pair(cute_algebra *a, cute_node first, cute_node second);
cute_node alg_number(cute_algebra *a, int64_t value);
cute_node alg_scalar(cute_algebra *a, cute_int value);
cute_node alg_empty(cute_algebra *a);
cute_node alg_basis(cute_algebra *a, cute_int value, const int32_t *path, size_t length);
cute_node alg_layout_leaf(cute_algebra *a, cute_layout layout);

static inline bool alg_is_leaf(cute_node t)
{
    return t->kind != CUTE_TREE_TUPLE;
}
static inline bool alg_is_int(cute_node t)
{
    return t->kind == CUTE_TREE_INT;
}
static inline bool alg_is_known(cute_node t)
{
    return t->kind == CUTE_TREE_INT && t->value.known;
}
static inline bool alg_is(cute_node t, int64_t value)
{
    return alg_is_known(t) && t->value.value == value;
}
static inline bool alg_is_empty(cute_node t)
{
    return t->kind == CUTE_TREE_TUPLE && t->count == 0;
}
/* A leaf has rank 1 and is its own mode 0. */
static inline size_t alg_rank(cute_node t)
{
    return alg_is_leaf(t) ? 1 : t->count;
}
static inline cute_node alg_mode(cute_node t, size_t i)
{
    return alg_is_leaf(t) ? t : t->items[i];
}

static inline uint64_t alg_magnitude(int64_t v)
{
    return v < 0 ? 0 - (uint64_t)v : (uint64_t)v;
}

/* True if some leaf is of this kind. */
bool alg_has(cute_node t, cute_tree_kind kind);
/* True if all leaves are integers, known or not. */
bool alg_only_ints(cute_node t);
bool alg_only_zeros(cute_node t);
/* The leaves in order as a tuple, even for a single leaf. */
cute_node alg_flatten_to_tuple(cute_algebra *a, cute_node t);
/* The leaves in order as a tuple; a single leaf stays a leaf. */
cute_node alg_flatten(cute_algebra *a, cute_node t);
/* Replaces a tuple of one item by its item, repeatedly. */
cute_node alg_unwrap(cute_node t);
/* Modes [begin, end) of a tuple. */
cute_node alg_take(cute_algebra *a, cute_node t, size_t begin, size_t end);
/* The structure of `t` with `leaf` as every leaf. */
cute_node alg_repeat_like(cute_algebra *a, cute_node t, cute_node leaf);
/* Appends the modes of `t` to `list`; a leaf is its own mode. */
void alg_push_modes(cute_algebra *a, alg_list *list, cute_node t);

/* ---- arithmetic (scalar.c, tuple.c) ---- */

/* Operands are integer leaves. */
cute_node alg_op(cute_algebra *a, cute_arith_op op, cute_node x, cute_node y);
/* An integer leaf times an integer leaf or basis vector (in either order). */
cute_node alg_mul(cute_algebra *a, cute_node x, cute_node y);
/* `condition ? then : otherwise`; each part is only evaluated (emitted) where it is needed. */
typedef cute_node (*alg_part)(cute_algebra *a, void *context);
cute_node alg_if(cute_algebra *a, cute_node condition, alg_part then_part, alg_part else_part, void *context);
/* The product of all leaves, 1 if there are no leaves. */
cute_node alg_product(cute_algebra *a, cute_node t);
/* The product of the leaves of a layout's shape; 0: a leaf is unknown, or the product exceeds 64 bits. */
int64_t alg_known_size(cute_node t);
/* The sum of arithmetic tuples: an integer and an integer, or tuples item by item, keeping the additional
 * items of the longer one; `()` and 0 are neutral. */
cute_node alg_sum(cute_algebra *a, cute_node x, cute_node y);
cute_node alg_difference(cute_algebra *a, cute_node x, cute_node y);
/* |leaf| for each leaf; the scale of a basis vector. */
cute_node alg_abs(cute_algebra *a, cute_node t);
cute_node alg_ceil_div(cute_algebra *a, cute_node target, cute_node tiler);
cute_node alg_shape_div(cute_algebra *a, cute_node x, cute_node y);
/* 1, 0 or -1. */
cute_node alg_sign(cute_algebra *a, cute_node x);

/* ---- evaluation (eval.c) ---- */

/* Strides 1, s0, s0*s1, ...; a known extent of 1 has stride 0. */
cute_node alg_compact(cute_algebra *a, cute_node shape, cute_node start);
cute_node alg_eval(cute_algebra *a, cute_node coord, cute_node shape, cute_node stride);
cute_node alg_crd2idx(cute_algebra *a, cute_node coord, cute_node shape);
cute_node alg_idx2crd(cute_algebra *a, cute_node index, cute_node shape);
cute_node alg_swizzle(cute_algebra *a, cute_swizzle swizzle, cute_node index);
/* 1@path for each leaf of `shape`; 1 if `shape` is a leaf. */
cute_node alg_basis_like(cute_algebra *a, cute_node shape);
/* One more than the largest index, for each mode of the codomain. */
cute_node alg_coshape(cute_algebra *a, cute_layout layout);

/* ---- text (print.c) ---- */

struct cute_buffer;
void alg_print_tree(struct cute_buffer *out, cute_node t);

#endif
