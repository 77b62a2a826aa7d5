/* Layouts of the tiles of a tile program (docs/tile-programs.md), which the source does not state: the compiler's passes choose
 * them. */
#ifndef CUTE_LIB_LSP_TILES_H
#define CUTE_LIB_LSP_TILES_H

#include <mlir-c/IR.h>

#include "lib/passes/tiles/distribution.h"

typedef struct lsp_tile {
    tile_distribution distribution;
    int bits; /* of an element */
} lsp_tile;

/* The tile `value` as it is distributed over threads: its type's own encoding, or the choice of the passes for $ARCH, else
 * sm_90a. False if it is not a tile of a tile program, or its kernel cannot be distributed; there are no messages. The module is
 * unchanged. */
bool lsp_tile_of(MlirValue value, lsp_tile *out);

#endif
