/* Hover text of types: size and table of layouts, thread-value assignment of atoms, tiled copies and MMAs. */
#ifndef CUTE_LIB_LSP_HOVER_H
#define CUTE_LIB_LSP_HOVER_H

#include "cute/layout.h"
#include "lib/base/buffer.h"

/* Appends Markdown about a value of the algebra, if there is any information. */
void lsp_describe(cute_arena *arena, const cute_value *value, cute_buffer *out);

#endif
