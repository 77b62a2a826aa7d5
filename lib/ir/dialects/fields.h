/* How values of the dialect are stored after cute-to-base: the fields of structs, and where each leaf lies. */
#ifndef CUTE_LIB_IR_DIALECTS_FIELDS_H
#define CUTE_LIB_IR_DIALECTS_FIELDS_H

#include "cute/layout.h"
#include "lib/ir/dialects/types.h"
#include "lib/ir/mlir/builder.h"

/* The functions of types.def. A value with no unknown leaf is `!llvm.struct<()>`, with one that integer, with
 * more a flat struct; a layout is a pair of shape and stride. */
MlirType cute_lower_leaves(MlirContext context, cute_arena *arena, MlirType type);
MlirType cute_lower_layout(MlirContext context, cute_arena *arena, MlirType type);
/* The layouts side by side, without `_`; a single one stands alone. */
MlirType cute_lower_tile(MlirContext context, cute_arena *arena, MlirType type);
/* Of A o offset o B the fields B, offset, A. */
MlirType cute_lower_composed(MlirContext context, cute_arena *arena, MlirType type);

/* !llvm.ptr of a space; a descriptor is its two words, low and high. */
MlirType cute_pointer_type(MlirContext context, cute_space space);
/* A pointer of LLVM's. */
MlirType cute_lower_pointer(MlirContext context, cute_arena *arena, MlirType type);
/* A tensor in memory: the pointer, and the unknown leaves of its layout if there are any, in one struct. */
MlirType cute_lower_tensor(MlirContext context, cute_arena *arena, MlirType type);
/* The unknown leaves of all parts, as of a value that is one tree. */
MlirType cute_lower_flat(MlirContext context, cute_arena *arena, MlirType type);
/* The integer itself. */
MlirType cute_lower_integer(MlirContext context, cute_arena *arena, MlirType type);
/* A divisor, its multiplier and shifts (ops/divisor.c). */
MlirType cute_lower_divisor(MlirContext context, cute_arena *arena, MlirType type);
/* Whether a wgmma adds to its accumulator, an i1; `!llvm.struct<()>` of other MMAs. */
MlirType cute_lower_mma(MlirContext context, cute_arena *arena, MlirType type);
/* `!llvm.struct<()>`: the type says all. */
MlirType cute_lower_nothing(MlirContext context, cute_arena *arena, MlirType type);

/* An atom of the tensor memory accelerator: a pointer to its descriptor; of one that can run a struct with that, a cache
 * policy, and of a load the barrier and a mask of blocks (ops/tma.h). */
/* The same of a bulk copy, whose descriptor is nothing. */
MlirType cute_lower_tma(MlirContext context, cute_arena *arena, MlirType type);

/* A walk over the leaves of a value, in the order in which they are stored (of a composed layout B, offset,
 * A). Zeroed but for `leaf` and `context`. */
typedef struct cute_fields {
    /* Gets each leaf with the path of an unknown one in the struct. */
    void (*leaf)(struct cute_fields *f, const cute_tree *leaf, const int64_t *path, intptr_t depth);
    void *context;
    int64_t prefix[3]; /* of the tree in hand, and room for the leaf's own index */
    intptr_t depth;
    size_t unknowns, seen; /* of the tree in hand */
} cute_fields;
void cute_fields_walk(cute_fields *f, const cute_value *value);
void cute_walk_leaves(cute_fields *f, const cute_value *value);
void cute_walk_layout(cute_fields *f, const cute_value *value);
void cute_walk_tile(cute_fields *f, const cute_value *value);
void cute_walk_composed(cute_fields *f, const cute_value *value);
void cute_walk_tensor(cute_fields *f, const cute_value *value);

/* The unknown leaves of a value that is stored in `stored`, in order: as many as cute_value_unknowns says. */
size_t cute_fields_gather(const cute_builder *b, const cute_value *value, MlirValue stored, MlirValue *items);
/* `into` with them; what is one integer is the item itself. */
MlirValue cute_fields_scatter(const cute_builder *b, const cute_value *value, MlirValue into,
                              MlirValue *items);

/* ub.poison of `type`: an empty struct, or one whose fields are inserted next. */
MlirValue cute_fields_poison(const cute_builder *b, MlirType type);
MlirValue cute_fields_insert(const cute_builder *b, MlirValue into, MlirValue value, const int64_t *path,
                             intptr_t depth);
MlirValue cute_fields_extract(const cute_builder *b, MlirValue from, MlirType type, const int64_t *path,
                              intptr_t depth);

#endif
