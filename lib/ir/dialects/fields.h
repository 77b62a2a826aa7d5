/* Lowered representation of values after cute-to-base: struct types, and the path of each leaf. */
#ifndef CUTE_LIB_IR_DIALECTS_FIELDS_H
#define CUTE_LIB_IR_DIALECTS_FIELDS_H

#include "cute/layout.h"
#include "lib/ir/dialects/types.h"
#include "lib/ir/mlir/builder.h"

/* The `lower` functions of types.def. A static value is `!llvm.struct<()>`, a value with one dynamic leaf
 * is that integer, one with several a flat struct; a layout is a pair of shape and stride. */
MlirType cute_lower_leaves(MlirContext context, cute_arena *arena, MlirType type);
MlirType cute_lower_layout(MlirContext context, cute_arena *arena, MlirType type);
/* A struct of the layouts, without `_`; a single layout is not wrapped. */
MlirType cute_lower_tile(MlirContext context, cute_arena *arena, MlirType type);
/* For A o offset o B: the fields B, offset, A. */
MlirType cute_lower_composed(MlirContext context, cute_arena *arena, MlirType type);

/* !llvm.ptr of a memory space; for a descriptor, its two words, low and high. */
MlirType cute_pointer_type(MlirContext context, cute_space space);
/* An LLVM pointer. */
MlirType cute_lower_pointer(MlirContext context, cute_arena *arena, MlirType type);
/* A tensor in memory: the pointer, or a struct of the pointer and the dynamic leaves of the layout. */
MlirType cute_lower_tensor(MlirContext context, cute_arena *arena, MlirType type);
/* The dynamic leaves of all parts in one flat struct. */
MlirType cute_lower_flat(MlirContext context, cute_arena *arena, MlirType type);
/* The integer itself. */
MlirType cute_lower_integer(MlirContext context, cute_arena *arena, MlirType type);
/* A divisor, its multiplier and shifts (ops/divisor.c). */
MlirType cute_lower_divisor(MlirContext context, cute_arena *arena, MlirType type);
/* For wgmma an i1, whether it adds to its accumulator; `!llvm.struct<()>` for other MMAs. */
MlirType cute_lower_mma(MlirContext context, cute_arena *arena, MlirType type);
/* `!llvm.struct<()>`, for types that determine their value. */
MlirType cute_lower_nothing(MlirContext context, cute_arena *arena, MlirType type);

/* A TMA atom: a pointer to its tensor map; if executable, a struct of that pointer, a cache policy and,
 * for loads, the barrier and a multicast mask (ops/tma.h). Bulk copies have the same struct without a
 * tensor map. */
MlirType cute_lower_tma(MlirContext context, cute_arena *arena, MlirType type);

/* Walks the leaves of a value in storage order (for a composed layout B, offset, A). Set `leaf` and
 * `context`, zero the rest. */
typedef struct cute_fields {
    /* Called for each leaf; `path` locates a dynamic leaf in the struct. */
    void (*leaf)(struct cute_fields *f, const cute_tree *leaf, const int64_t *path, intptr_t depth);
    void *context;
    int64_t prefix[3]; /* path of the current tree, with room for the leaf's index */
    intptr_t depth;
    size_t unknowns, seen; /* dynamic leaves of the current tree: total, visited */
} cute_fields;
void cute_fields_walk(cute_fields *f, const cute_value *value);
void cute_walk_leaves(cute_fields *f, const cute_value *value);
void cute_walk_layout(cute_fields *f, const cute_value *value);
void cute_walk_tile(cute_fields *f, const cute_value *value);
void cute_walk_composed(cute_fields *f, const cute_value *value);
void cute_walk_tensor(cute_fields *f, const cute_value *value);

/* Extracts the dynamic leaves of `value` from its lowered value `stored`, in order (cute_value_unknowns of
 * them). */
size_t cute_fields_gather(const cute_builder *b, const cute_value *value, MlirValue stored, MlirValue *items);
/* The inverse: inserts the leaves into `into`. */
MlirValue cute_fields_scatter(const cute_builder *b, const cute_value *value, MlirValue into,
                              MlirValue *items);

/* ub.poison of `type`, for an empty struct or one whose fields are inserted next. */
MlirValue cute_fields_poison(const cute_builder *b, MlirType type);
MlirValue cute_fields_insert(const cute_builder *b, MlirValue into, MlirValue value, const int64_t *path,
                             intptr_t depth);
MlirValue cute_fields_extract(const cute_builder *b, MlirValue from, MlirType type, const int64_t *path,
                              intptr_t depth);

#endif
