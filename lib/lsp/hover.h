/* Hover text of types: size and table of layouts, thread-value assignment of atoms, tiled copies and MMAs,
 * distribution of tiles. */
#ifndef CUTE_LIB_LSP_HOVER_H
#define CUTE_LIB_LSP_HOVER_H

#include "cute/layout.h"
#include "lib/base/buffer.h"
#include "lib/lsp/tiles.h"

/* Appends Markdown about a value of the algebra, if there is any information. */
void lsp_describe(cute_arena *arena, const cute_value *value, cute_buffer *out);

/* Appends Markdown about a tile: its layout, registers, copies, and the coordinates of the first threads and values. */
void lsp_describe_tile(cute_arena *arena, const lsp_tile *tile, cute_buffer *out);

#endif
