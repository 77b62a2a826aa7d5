/* The layout algebra: int tuples, layouts, swizzles and tiles, with their text and operations.
 *
 * Values are immutable trees in a cute_arena; they share subtrees and live as long as the arena.
 * Each operation is implemented once, over an arithmetic (cute_arith). With a NULL arithmetic it infers:
 * known scalars fold, others become unknowns of the right width. With an arithmetic, the same code calls
 * it in order for each scalar operation that does not fold, and the unknowns of the result carry its
 * handles. So the inferred type and the emitted code always agree.
 *
 * Sources: the CuTe documentation (NVIDIA/cutlass, media/docs/cpp/cute/01_layout.md and
 * 02_layout_algebra.md) and the public dialect (media/docs/cutlass_compiler/cute_dialect.rst); Cecka,
 * "CuTe Layout Representation and Algebra", 2026. The formulas are in layout_ops.def. */
#ifndef CUTE_LAYOUT_H
#define CUTE_LAYOUT_H

#include "cute/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Maximum nesting of tuples and maximum length of basis vectors. */
#define CUTE_MAX_DEPTH 64
/* The largest mode index of a basis vector (`1@255`): evaluation creates tuples of that length. */
#define CUTE_MAX_BASIS 255
/* Maximum number of leaves of a value; operations reject larger results. */
#define CUTE_MAX_LEAVES 65536

/* ---- scalars ---- */

/* A known or unknown number. Known: `value`. Unknown: its `width` in bits (1, 8, 16, 32 or 64), its stated
 * divisor (`?{div=8}`; 0: none) and the arithmetic's handle for it (NULL if no code is emitted). */
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
    uint32_t count;  /* items of a tuple; indices in the path of a basis vector */
    uint32_t leaves; /* total; `()` has none, a layout in a tile counts as one */
    cute_int value;
    const int32_t *path; /* outermost mode first: {0, 1} is printed `@1@0` */
    const cute_tree *const *items;
    cute_layout layout;
};

/* These return NULL when memory is exhausted; cute_tree_tuple also if the result would exceed the limits
 * above. */
CUTE_API const cute_tree *cute_tree_number(cute_arena *arena, int64_t value);
/* An unknown of `width` bits with a handle (may be NULL). */
CUTE_API const cute_tree *cute_tree_unknown(cute_arena *arena, int width, void *handle);
CUTE_API const cute_tree *cute_tree_scalar(cute_arena *arena, cute_int value);
CUTE_API const cute_tree *cute_tree_tuple(cute_arena *arena, const cute_tree *const *items, size_t count);

/* The same structure down to the leaves, whose values are ignored. */
CUTE_API bool cute_tree_congruent(const cute_tree *a, const cute_tree *b);
/* `fine` refines the structure of `coarse`: each leaf of `coarse` corresponds to a subtree. */
CUTE_API bool cute_tree_weakly_congruent(const cute_tree *coarse, const cute_tree *fine);
/* The same structure and leaves; unknowns are equal if width and divisor are (handles are ignored). */
CUTE_API bool cute_tree_equal(const cute_tree *a, const cute_tree *b);
/* All leaves are known. */
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
    CUTE_ARITH_TUPLE_ITER, /* tree: the current coordinate of a coordinate tensor */
    CUTE_COORD_TENSOR,     /* a tensor of coordinates: tree (its iterator) and layout */
    CUTE_INTEGER,          /* tree: one leaf, known to be a multiple of its divisor */
    CUTE_DIVISOR,          /* precomputed constants for fast division by an unknown number; width */
    CUTE_ATOM,             /* atom: one instruction */
    CUTE_TILED_COPY,       /* atom, layout (thread and value to the tile), tree (the tiler) */
    CUTE_TILED_MMA,        /* atom, layout (of atoms), tree (the permutation; NULL: none) */
    CUTE_TYPES
} cute_type;

/* "shape", "stride", "coord", "int_tuple", "layout", "composed_layout", "swizzle", "tile", "ptr", "memref",
 * "arith_tuple_iter", "coord_tensor", "integer", "fast_divmod_divisor", "atom", "tiled_copy", "tiled_mma". */
CUTE_API const char *cute_type_name(cute_type type);

/* x ^ ((x & Y) >> shift), where Y has `bits` ones from bit base + max(shift, 0); a left shift if shift <
 * 0. */
typedef struct cute_swizzle {
    int bits, base, shift;
} cute_swizzle;

/* |shift| >= bits and |shift| + bits + base <= 32. */
CUTE_API bool cute_swizzle_valid(int64_t bits, int64_t base, int64_t shift);

/* The address space of a pointer. */
typedef enum cute_space {
    CUTE_SPACE_GENERIC,
    CUTE_SPACE_GMEM,
    CUTE_SPACE_SMEM,
    CUTE_SPACE_RMEM,  /* registers */
    CUTE_SPACE_TMEM,  /* tensor memory, from sm_100 on */
    CUTE_SPACE_DSMEM, /* shared memory of another block of the cluster, from sm_90 on */
    CUTE_SPACE_DESC,  /* shared-memory matrices given by their descriptors; has no textual form */
    CUTE_SPACES
} cute_space;

/* "generic", "gmem", "smem", "rmem", "tmem", "dsmem", "desc". */
CUTE_API const char *cute_space_name(cute_space space);

typedef struct cute_pointer {
    const char *element; /* MLIR's text of the element type: "f16" */
    int bits;            /* of an element in memory; 0: unknown */
    cute_space space;
    int64_t align;        /* bytes that divide the address: a power of two */
    cute_swizzle swizzle; /* of the address in bytes; no swizzle if bits is 0 */
    void *handle;         /* the arithmetic's handle, or NULL */
} cute_pointer;

/* NULL when memory is exhausted. */
CUTE_API const cute_pointer *cute_pointer_with_handle(cute_arena *arena, const cute_pointer *pointer,
                                                      void *handle);

struct cute_atom; /* lib/atoms */

typedef struct cute_value {
    cute_type type;
    /* shape, stride, coord, int_tuple, tile; the offset of a composed layout (of a memref: NULL if its
     * layout is not composed); an iterator; an integer */
    const cute_tree *tree;
    cute_layout layout;           /* layout, also a tensor's; B of a composed layout A o offset o B */
    cute_layout inner;            /* A of a composed layout if it is a layout */
    cute_swizzle swizzle;         /* swizzle; A of a composed layout if inner.shape is NULL */
    const cute_pointer *pointer;  /* of a ptr, of a memref */
    const struct cute_atom *atom; /* of an atom, a tiled copy or MMA */
    int width;                    /* bits of a divisor */
} cute_value;

CUTE_API cute_value cute_value_of_tree(cute_type type, const cute_tree *tree);
CUTE_API cute_value cute_value_of_layout(cute_layout layout);
CUTE_API bool cute_value_equal(const cute_value *a, const cute_value *b);
/* No unknown leaves. Pointers, tensors in memory and divisors are never static: they are only known at run
 * time. */
CUTE_API bool cute_value_is_static(const cute_value *value);

/* Checks the invariants of the value's type, as cute_value_parse does: positive extents of a layout's shape,
 * congruent shape and stride, strides that are all integers or all basis vectors, and so on. */
CUTE_API cute_status cute_value_verify(const cute_value *value, cute_diag *diag);

/* The unknown leaves in storage order: depth-first, shape before stride; a composed layout's B, offset, A; a
 * coordinate tensor's iterator before its layout. A pointer's handle is not among them. Returns their number;
 * writes at most `capacity` of them. */
CUTE_API size_t cute_value_unknowns(const cute_value *value, cute_int *out, size_t capacity);
/* *out is *value with handles[i] as the handle of unknown leaf i; the count is that of
 * cute_value_unknowns. */
CUTE_API cute_status cute_value_with_handles(cute_arena *arena, const cute_value *value, void *const *handles,
                                             size_t count, cute_value *out, cute_diag *diag);

/* The leaves in order, as values of the same type; the layouts of a tile become layouts. `layouts_only` omits
 * a tile's `_` (get_layouts_from_tile; without it: get_leaves). *out is allocated in `arena`. CUTE_INVALID
 * for layouts and swizzles, and for a tile without layouts if `layouts_only`. */
CUTE_API cute_status cute_value_leaves(cute_arena *arena, const cute_value *value, bool layouts_only,
                                       cute_value **out, size_t *count, cute_diag *diag);

/* ---- text ---- */

/* Parses the text of one value in the public dialect's spelling: `(4,(2,?))`, `?{i64 div=8}`, `(1@0,?@1@0)`,
 * `(4,2):(1,4)`, `(4,2)` for a compact layout, `S<3,4,3>`, `S<3,4,3> o 0 o (8,8):(8,1)`,
 * `[(2,3):(1,2);_;[4:1;2:1]]`, and in a tile `4` for `4:1`. The text of the remaining types is the part
 * between `<` and `>`: `f16, smem, align<16>, S<3,3,3>` (without an alignment: the element's), `f16, gmem,
 * "(?,8):(8,1)"`, `"(0,?)"`, `"(0,0)", "(8,8):(1@0,1@1)"`, `32` of a divisor; of an integer `divby 16`, after
 * its width unless that is 32: `i64 divby 16`. The composed layout `64:1` has no swizzle and offset 0, as in
 * CuTe DSL. On CUTE_INVALID, *offset (may be NULL) is the byte that the message refers to; the message has no
 * place. */
CUTE_API cute_status cute_value_parse(cute_arena *arena, cute_type type, const char *text, size_t length,
                                      cute_value *out, size_t *offset, cute_diag *diag);

/* Infers the type from the text: an int_tuple (coord with `_`, stride with `@`), layout (with `:`), composed
 * layout (with ` o `), swizzle (`S<`) or tile (`[`). */
CUTE_API cute_status cute_value_parse_any(cute_arena *arena, const char *text, size_t length, cute_value *out,
                                          size_t *offset, cute_diag *diag);

/* The canonical text, in `arena`; NULL when memory is exhausted. Parsing it yields an equal value. */
CUTE_API const char *cute_value_text(cute_arena *arena, const cute_value *value);
CUTE_API const char *cute_tree_text(cute_arena *arena, const cute_tree *tree);
CUTE_API const char *cute_layout_text(cute_arena *arena, cute_layout layout);

/* The meaning of `!cute.layout<2>`: a layout of that rank with unknown i32 leaves: "(?,?):(?,?)", "?:?" for
 * rank 1. Shapes, strides, coordinates and int tuples likewise; a tile is `[?:?;?:?]`. CUTE_INVALID for a
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
    CUTE_ABS, /* math.absi; b is unused */
    CUTE_EQ,  /* arith.cmpi eq, ne, slt, sgt: the result is 1 bit wide */
    CUTE_NE,
    CUTE_LT,
    CUTE_GT,
} cute_arith_op;

/* Implemented by a compiler to emit code from the algebra. Every function may fail; its status is propagated.
 * Calls are made in program order of the operations. */
typedef struct cute_arith {
    void *context;
    /* *handle: a OP b at `width` bits. At least one operand is unknown. The callee materializes a known
     * operand as a constant of that width and sign-extends a narrower unknown one, first a, then b, each just
     * before use. `b` is NULL for CUTE_ABS. */
    cute_status (*emit)(void *context, cute_arith_op op, const cute_int *a, const cute_int *b, int width,
                        void **handle, cute_diag *diag);
    /* An if with a result: begin, operations of the then part, otherwise, operations of the else part, end.
     * `end` receives both results and extends each to `width` bits within its part. Ifs nest. After a
     * failure, `abandon` replaces the remaining calls. */
    cute_status (*if_begin)(void *context, const cute_int *condition, cute_diag *diag);
    cute_status (*if_otherwise)(void *context, cute_diag *diag);
    cute_status (*if_end)(void *context, const cute_int *then_value, const cute_int *else_value, int width,
                          void **handle, cute_diag *diag);
    void (*if_abandon)(void *context);
    /* *handle: the pointer `from` advanced by `offset` elements; `to` describes the result (its alignment; no
     * handle yet). `offset` is never a known 0; NULL: only the type changes. May be NULL if no operation has
     * tensors. */
    cute_status (*advance)(void *context, const cute_pointer *from, const cute_int *offset,
                           const cute_pointer *to, void **handle, cute_diag *diag);
} cute_arith;

/* One scalar operation with all folding: two known operands (CUTE_INVALID on overflow or division by zero),
 * x*1, x*0, x+0, x/1, x%1, 0/x. The result is as wide as the wider operand, 64 bits for a known number that
 * does not fit 32 bits. Divisors are tracked if an operand states one. */
CUTE_API cute_status cute_int_apply(const cute_arith *arith, cute_arith_op op, cute_int a, cute_int b,
                                    cute_int *out, cute_diag *diag);

/* ---- operations ---- */

/* One row per operation: the names, operands and attributes of the public dialect. layout_ops.def has the
 * formulas; the operations of atom_ops.def need an instruction: lib/atoms implements them, cute_apply rejects
 * them. */
typedef enum cute_operation {
#define CUTE_OPERATION(id, name, least, most, summary) CUTE_OP_##id,
#include "cute/layout_ops.def"

#include "cute/atom_ops.def"
#undef CUTE_OPERATION
    CUTE_OPERATIONS
} cute_operation;

/* "crd2idx", "tiled.copy.retile"; false if the operation is unknown. Names have no "cute." prefix. */
CUTE_API bool cute_operation_find(const char *name, cute_operation *out);
CUTE_API const char *cute_operation_name(cute_operation operation);

/* Attributes of an operation: integers in the order of the operation's documentation (a mode path for
 * `get<[0,1]>`, begin and end for group_modes<0,2>, a rank, bit widths). */
typedef struct cute_attributes {
    const int64_t *values;
    size_t count;
} cute_attributes;

/* Evaluates an operation. Operands must be valid (from cute_value_parse or an earlier result). With `arith`
 * NULL it infers: unknown leaves of the result have no handles. CUTE_INVALID: the operation is undefined for
 * these operands; the message names the mode, the stride and the divisor. `attributes` may be NULL for
 * none. */
CUTE_API cute_status cute_apply(cute_arena *arena, const cute_arith *arith, cute_operation operation,
                                const cute_value *operands, size_t count, const cute_attributes *attributes,
                                cute_value *out, cute_diag *diag);
/* The same with CuTe DSL's conventions also for layouts and tuples, not only for tensors: divisors of
 * unknowns are tracked even if no operand states one (`(8,?)` has size `?{div=8}`), and the rest of a divide
 * has stride 0 if there is a single tile. Both conventions are correct; cute_apply infers the public
 * dialect's types. */
CUTE_API cute_status cute_apply_dsl(cute_arena *arena, const cute_arith *arith, cute_operation operation,
                                    const cute_value *operands, size_t count,
                                    const cute_attributes *attributes, cute_value *out, cute_diag *diag);

#ifdef __cplusplus
}
#endif
#endif
