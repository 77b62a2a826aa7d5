/* Copies of operations with other operands: what passes that take a loop apart put in front of it and behind it. */
#ifndef CUTE_LIB_PASSES_TILES_COPIES_H
#define CUTE_LIB_PASSES_TILES_COPIES_H

#include "lib/ir/mlir/builder.h"
#include "lib/ir/mlir/util.h"

/* Copies at the end of a block, with `to` in place of `from`: of several for the same value the last one counts. */
enum { TILE_COPIES_MOST = 2048 };
typedef struct tile_copies {
    MlirBlock into;
    MlirValue from[TILE_COPIES_MOST], to[TILE_COPIES_MOST];
    int count;
} tile_copies;

void tile_map(tile_copies *c, MlirValue from, MlirValue to);
MlirValue tile_mapped(const tile_copies *c, MlirValue value);
/* Operands of an operation and of those in its regions. */
void tile_map_operands(const tile_copies *c, MlirOperation op);
/* Appends a copy, and maps results to its own. */
MlirOperation tile_copy(tile_copies *c, MlirOperation op);

/* scf.if with the block of `then`, which yields `values` as they are mapped there; else the block of `otherwise` yields them, or, without
 * it, `others` are the results. */
MlirOperation tile_copies_if(const cute_builder *b, MlirValue condition, tile_copies *then,
                             tile_copies *otherwise, const MlirValue *values, const MlirValue *others,
                             int count);
/* 0 of an integer type of 32 bits or of a tile. */
MlirValue tile_zero_of(const cute_builder *b, MlirType type);

#endif
