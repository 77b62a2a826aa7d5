/* What an editor shows about a type: of layouts their size and table, of atoms, tiled copies and MMAs which thread holds
 * what. */
#ifndef CUTE_LIB_LSP_HOVER_H
#define CUTE_LIB_LSP_HOVER_H

#include "cute/layout.h"
#include "lib/base/buffer.h"

/* Appends Markdown about a value of the algebra; nothing where there is nothing to say. */
void lsp_describe(cute_arena *arena, const cute_value *value, cute_buffer *out);

#endif
