/* The layout algebra: int tuples, layouts, swizzles, tiles, their text and their operations.
 *
 * Values are immutable trees in a cute_arena; they share parts freely and live as long as it does.
 * An operation is written once, over an arithmetic (cute_arith). Without one (NULL) it infers: what
 * is known folds, what is not becomes an unknown of the right width. With one, the same code calls
 * it for each scalar operation that cannot be folded, in order, and the unknowns of the result carry
 * its handles. So the inferred type and the emitted code cannot drift apart.
 *
 * Sources: the CuTe documentation (NVIDIA/cutlass, media/docs/cpp/cute/01_layout.md and
 * 02_layout_algebra.md) and the public dialect (media/docs/cutlass_compiler/cute_dialect.rst); Cecka,
 * "CuTe Layout Representation and Algebra", 2026. Formulas stand at the operations in layout_ops.def. */
#ifndef CUTE_LAYOUT_H
#define CUTE_LAYOUT_H

#include "cute/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Tuples nest this deep at most, and basis vectors are this long at most. */
#define CUTE_MAX_DEPTH 64
/* The largest mode index of a basis vector (`1@255`): evaluation makes tuples of that length. */
#define CUTE_MAX_BASIS 255
/* A value has this many leaves at most; what would have more is refused. */
#define CUTE_MAX_LEAVES 65536

/* ---- scalars ---- */

/* A known number, or an unknown one. Known: `value`. Unknown: `width` bits (1, 8, 16, 32 or 64), a
 * number that divides it if one was stated (`?{div=8}`; 0: none was), and what the arithmetic that
 * made it calls it (NULL where nothing is emitted). */
typedef struct cute_int {
    bool known;
    int width;
    int64_t value;
    int64_t divisor;
    void *handle;
} cute_int;

/* ---- trees ---- */

typedef enum cute_tree_kind {
    CUTE_TREE_INT,        /* value */
    CUTE_TREE_UNDERSCORE, /* `_`: in coordinates and tiles */
    CUTE_TREE_BASIS,      /* value @ path: in strides */
    CUTE_TREE_LAYOUT,     /* layout: in tiles */
    CUTE_TREE_TUPLE,      /* items, count of them (none for `()`) */
} cute_tree_kind;

typedef struct cute_tree cute_tree;

typedef struct cute_layout {
    const cute_tree *shape, *stride;
} cute_layout;

struct cute_tree {
    cute_tree_kind kind;
    int depth;       /* 0 for a leaf, 1 + the deepest item for a tuple */
    uint32_t count;  /* items of a tuple, indices in the path of a basis vector */
    uint32_t leaves; /* in all; `()` has none, a layout in a tile counts as one */
    cute_int value;
    const int32_t *path; /* outermost mode first: {0, 1} is printed `@1@0` */
    const cute_tree *const *items;
    cute_layout layout;
};

/* Each returns NULL when memory is exhausted; cute_tree_tuple also when the result would be deeper
 * or larger than the limits above. */
CUTE_API const cute_tree *cute_tree_number(cute_arena *arena, int64_t value);
/* An unknown of `width` bits with a handle (may be NULL). */
CUTE_API const cute_tree *cute_tree_unknown(cute_arena *arena, int width, void *handle);
CUTE_API const cute_tree *cute_tree_scalar(cute_arena *arena, cute_int value);
CUTE_API const cute_tree *cute_tree_tuple(cute_arena *arena, const cute_tree *const *items, size_t count);

/* Same structure, leaf for leaf (what the leaves are does not matter). */
CUTE_API bool cute_tree_congruent(const cute_tree *a, const cute_tree *b);
/* `coarse` has the structure of `fine` as far as it goes: each of its leaves stands for a subtree. */
CUTE_API bool cute_tree_weakly_congruent(const cute_tree *coarse, const cute_tree *fine);
/* Same structure and leaves; unknowns are equal when width and divisor are (handles do not count). */
CUTE_API bool cute_tree_equal(const cute_tree *a, const cute_tree *b);
/* No unknown in it. */
CUTE_API bool cute_tree_is_static(const cute_tree *tree);

/* ---- values ---- */

typedef enum cute_type {
    CUTE_SHAPE,
    CUTE_STRIDE,
    CUTE_COORD,
    CUTE_INT_TUPLE,
    CUTE_LAYOUT,
    CUTE_COMPOSED_LAYOUT,
    CUTE_SWIZZLE,
    CUTE_TILE,
    CUTE_PTR,              /* pointer */
    CUTE_MEMREF,           /* a tensor in memory: pointer and layout, or a composed layout */
    CUTE_ARITH_TUPLE_ITER, /* tree: where a coordinate tensor is */
    CUTE_COORD_TENSOR,     /* a tensor of coordinates: tree (its iterator) and layout */
    CUTE_INTEGER,          /* tree: one leaf, known to be a multiple of its divisor */
    CUTE_DIVISOR,          /* what fast division by an unknown number needs; width */
    CUTE_ATOM,             /* atom: one instruction */
    CUTE_TILED_COPY,       /* atom, layout (thread and value to the tile), tree (the tiler) */
    CUTE_TILED_MMA,        /* atom, layout (of atoms), tree (the permutation; NULL: none) */
    CUTE_TYPES
} cute_type;

/* "shape", "stride", "coord", "int_tuple", "layout", "composed_layout", "swizzle", "tile", "ptr", "memref",
 * "arith_tuple_iter", "coord_tensor", "integer", "fast_divmod_divisor", "atom", "tiled_copy", "tiled_mma". */
CUTE_API const char *cute_type_name(cute_type type);

/* x ^ ((x & Y) >> shift) with `bits` ones in Y at base + max(shift, 0); left when shift < 0. */
typedef struct cute_swizzle {
    int bits, base, shift;
} cute_swizzle;

/* |shift| >= bits and |shift| + bits + base <= 32. */
CUTE_API bool cute_swizzle_valid(int64_t bits, int64_t base, int64_t shift);

/* Where a pointer points. */
typedef enum cute_space {
    CUTE_SPACE_GENERIC,
    CUTE_SPACE_GMEM,
    CUTE_SPACE_SMEM,
    CUTE_SPACE_RMEM,  /* registers */
    CUTE_SPACE_TMEM,  /* tensor memory, from sm_100 on */
    CUTE_SPACE_DSMEM, /* shared memory of another block of the cluster, from sm_90 on */
    CUTE_SPACE_DESC,  /* matrices of shared memory by their descriptors: no type is written with it */
    CUTE_SPACES
} cute_space;

/* "generic", "gmem", "smem", "rmem", "tmem", "dsmem", "desc". */
CUTE_API const char *cute_space_name(cute_space space);

typedef struct cute_pointer {
    const char *element; /* MLIR's text of the element type: "f16" */
    int bits;            /* of an element in memory; 0: not known */
    cute_space space;
    int64_t align;        /* bytes that divide the address: a power of two */
    cute_swizzle swizzle; /* of the address in bytes; bits is 0: none */
    void *handle;         /* what the arithmetic calls it, or NULL */
} cute_pointer;

/* NULL when memory is exhausted. */
CUTE_API const cute_pointer *cute_pointer_with_handle(cute_arena *arena, const cute_pointer *pointer,
                                                      void *handle);

struct cute_atom; /* lib/atoms */

typedef struct cute_value {
    cute_type type;
    const cute_tree *tree;        /* shape, stride, coord, int_tuple, tile; a composed layout's offset (of a
                                   * memref: NULL if its layout is not composed); an iterator; an integer */
    cute_layout layout;           /* layout, a tensor's too; of a composed layout A o offset o B: B */
    cute_layout inner;            /* of a composed layout: A when it is a layout */
    cute_swizzle swizzle;         /* swizzle; of a composed layout: A when inner.shape is NULL */
    const cute_pointer *pointer;  /* of a ptr, of a memref */
    const struct cute_atom *atom; /* of an atom, a tiled copy or MMA */
    int width;                    /* bits of a divisor */
} cute_value;

CUTE_API cute_value cute_value_of_tree(cute_type type, const cute_tree *tree);
CUTE_API cute_value cute_value_of_layout(cute_layout layout);
CUTE_API bool cute_value_equal(const cute_value *a, const cute_value *b);
/* Pointers, tensors in memory and divisors never are: they are only known when the program runs. */
CUTE_API bool cute_value_is_static(const cute_value *value);

/* The rules that a value of its type obeys, as cute_value_parse checks them: shape extents of layouts
 * positive, shape and stride congruent, strides all integers or all basis vectors, and so on. */
CUTE_API cute_status cute_value_verify(const cute_value *value, cute_diag *diag);

/* The unknown leaves in the order in which they are stored: depth-first, shape before stride, a
 * composed layout's B, offset, A; a coordinate tensor's iterator before its layout. A pointer is none of
 * them: its handle stands in it. Returns how many there are; writes at most `capacity` of them. */
CUTE_API size_t cute_value_unknowns(const cute_value *value, cute_int *out, size_t capacity);
/* *out is *value whose i-th unknown leaf has handles[i]; there are as many as cute_value_unknowns
 * says. */
CUTE_API cute_status cute_value_with_handles(cute_arena *arena, const cute_value *value, void *const *handles,
                                             size_t count, cute_value *out, cute_diag *diag);

/* The leaves as values, in order: of the same type, but the layouts in a tile as layouts. With
 * `layouts_only` a tile's `_` are left out (get_layouts_from_tile), else not (get_leaves). *out is in
 * `arena`. CUTE_INVALID for layouts and swizzles, and for a tile without layouts where only these are
 * wanted. */
CUTE_API cute_status cute_value_leaves(cute_arena *arena, const cute_value *value, bool layouts_only,
                                       cute_value **out, size_t *count, cute_diag *diag);

/* ---- text ---- */

/* Parses the text of one value, as the public dialect spells it: `(4,(2,?))`, `?{i64 div=8}`,
 * `(1@0,?@1@0)`, `(4,2):(1,4)`, `(4,2)` for a compact layout, `S<3,4,3>`,
 * `S<3,4,3> o 0 o (8,8):(8,1)`, `[(2,3):(1,2);_;[4:1;2:1]]`, and in a tile `4` for `4:1`. Of the later
 * types it is what stands between `<` and `>`: `f16, smem, align<16>, S<3,3,3>` (an alignment only where
 * it is not the element's), `f16, gmem, "(?,8):(8,1)"`, `"(0,?)"`, `"(0,0)", "(8,8):(1@0,1@1)"`, `32` of a
 * divisor; of an integer `divby 16`, with its width in front if that is not 32: `i64 divby 16`. A composed
 * layout `64:1` is one of no swizzle and offset 0, which CuTe DSL has. On
 * CUTE_INVALID *offset (may be NULL) is the byte at which the message points; the message has no
 * place. */
CUTE_API cute_status cute_value_parse(cute_arena *arena, cute_type type, const char *text, size_t length,
                                      cute_value *out, size_t *offset, cute_diag *diag);

/* Finds the type out from the text: an int_tuple (or coord with `_`, or stride with `@`), layout
 * (with `:`), composed layout (with ` o `), swizzle (`S<`), tile (`[`). */
CUTE_API cute_status cute_value_parse_any(cute_arena *arena, const char *text, size_t length, cute_value *out,
                                          size_t *offset, cute_diag *diag);

/* The canonical text, in `arena`; NULL when memory is exhausted. Parsing it yields an equal value. */
CUTE_API const char *cute_value_text(cute_arena *arena, const cute_value *value);
CUTE_API const char *cute_tree_text(cute_arena *arena, const cute_tree *tree);
CUTE_API const char *cute_layout_text(cute_arena *arena, cute_layout layout);

/* What `!cute.layout<2>` means: all of it unknown, i32, of that rank: "(?,?):(?,?)"; "?:?" for rank 1.
 * Shapes, strides, coordinates and int tuples likewise; a tile is `[?:?;?:?]`. CUTE_INVALID for a
 * rank below 1 or above 1024, and for swizzles and composed layouts. */
CUTE_API cute_status cute_value_of_rank(cute_arena *arena, cute_type type, int64_t rank, cute_value *out,
                                        cute_diag *diag);

/* ---- arithmetic ---- */

typedef enum cute_arith_op {
    CUTE_ADD, /* signed, must not wrap: arith.addi, subi, muli with overflow<nsw> */
    CUTE_SUB,
    CUTE_MUL,
    CUTE_DIV, /* truncating: arith.divsi, remsi */
    CUTE_REM,
    CUTE_CEIL_DIV, /* arith.ceildivsi */
    CUTE_MIN,      /* arith.minsi, maxsi */
    CUTE_MAX,
    CUTE_AND, /* arith.andi, ori, xori */
    CUTE_OR,
    CUTE_XOR,
    CUTE_SHL, /* arith.shli, shrui by a known amount below the width */
    CUTE_SHR,
    CUTE_ABS, /* math.absi; b is not used */
    CUTE_EQ,  /* arith.cmpi eq, ne, slt, sgt: the result is 1 bit wide */
    CUTE_NE,
    CUTE_LT,
    CUTE_GT,
} cute_arith_op;

/* What a compiler implements to get code out of the algebra. Every function may fail; the status is
 * handed through. Calls come in the order in which the operations have to stand. */
typedef struct cute_arith {
    void *context;
    /* *handle: a OP b at `width` bits (of the operands). At least one operand is unknown. A known
     * operand is a constant to be made here, of that width; an unknown one may be narrower and is
     * sign-extended here, first a, then b, each just before use. `b` is NULL for CUTE_ABS. */
    cute_status (*emit)(void *context, cute_arith_op op, const cute_int *a, const cute_int *b, int width,
                        void **handle, cute_diag *diag);
    /* An if with a result: begin, what the then part emits, otherwise, what the else part emits, end.
     * `end` gives both results, to be brought to `width` bits in their parts. They nest. After a
     * failure `abandon` comes instead of what is left. */
    cute_status (*if_begin)(void *context, const cute_int *condition, cute_diag *diag);
    cute_status (*if_otherwise)(void *context, cute_diag *diag);
    cute_status (*if_end)(void *context, const cute_int *then_value, const cute_int *else_value, int width,
                          void **handle, cute_diag *diag);
    void (*if_abandon)(void *context);
    /* *handle: a pointer `offset` elements behind `from`; `to` is what is known of it (its alignment; no
     * handle yet). `offset` is known or not, and not a known 0; NULL where only the type changes. The
     * function is NULL where no tensor comes. */
    cute_status (*advance)(void *context, const cute_pointer *from, const cute_int *offset,
                           const cute_pointer *to, void **handle, cute_diag *diag);
} cute_arith;

/* One scalar operation with all the folding: known op known (CUTE_INVALID on overflow or division by
 * zero), x*1, x*0, x+0, x/1, x%1, 0/x. The result's width is the wider operand's, 64 for a known number
 * that does not fit 32 bits. Divisors are tracked where an operand states one. */
CUTE_API cute_status cute_int_apply(const cute_arith *arith, cute_arith_op op, cute_int a, cute_int b,
                                    cute_int *out, cute_diag *diag);

/* ---- operations ---- */

/* One line an operation: the names, operands and attributes of the public dialect. See layout_ops.def
 * for what each computes, and atom_ops.def for those that need an instruction: lib/atoms has these, cute_apply
 * refuses them. */
typedef enum cute_operation {
#define CUTE_OPERATION(id, name, least, most, summary) CUTE_OP_##id,
#include "cute/layout_ops.def"

#include "cute/atom_ops.def"
#undef CUTE_OPERATION
    CUTE_OPERATIONS
} cute_operation;

/* "crd2idx", "tiled.copy.retile"; false when there is no operation of that name (without "cute."). */
CUTE_API bool cute_operation_find(const char *name, cute_operation *out);
CUTE_API const char *cute_operation_name(cute_operation operation);

/* Attributes of an operation: integers in the order of the operation's documentation (a mode path for
 * `get<[0,1]>`, begin and end for group_modes<0,2>, a rank, bit widths). */
typedef struct cute_attributes {
    const int64_t *values;
    size_t count;
} cute_attributes;

/* Evaluates an operation. Operands have been verified (cute_value_parse or an earlier result). With
 * `arith` NULL it infers: unknown leaves of the result have no handles. CUTE_INVALID when the operation
 * is not defined there or its result would be wrong: the message names the mode, the stride and the
 * divisor. `attributes` may be NULL for none. */
CUTE_API cute_status cute_apply(cute_arena *arena, const cute_arith *arith, cute_operation operation,
                                const cute_value *operands, size_t count, const cute_attributes *attributes,
                                cute_value *out, cute_diag *diag);
/* The same as CuTe DSL has it on layouts and tuples too, not only on tensors: what divides an unknown is
 * told even where no operand states a divisor (`(8,?)` has a size of `?{div=8}`), and a divide's rest has
 * stride 0 where there is one tile. Both are right; the public dialect's types are cute_apply's. */
CUTE_API cute_status cute_apply_dsl(cute_arena *arena, const cute_arith *arith, cute_operation operation,
                                    const cute_value *operands, size_t count,
                                    const cute_attributes *attributes, cute_value *out, cute_diag *diag);

#ifdef __cplusplus
}
#endif
#endif
