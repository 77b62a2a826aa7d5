/* Joins several PTX modules into one, resolving names like a linker: the emulator runs the result for a
 * linked cubin. */
#ifndef CUTE_LIB_CUBIN_PTX_PTXJOIN_H
#define CUTE_LIB_CUBIN_PTX_PTXJOIN_H

#include "lib/base/buffer.h"

typedef struct cute_ptx_part {
    const char *label;
    const char *text;
    size_t length;
    bool on_demand; /* a library member: used only if it defines a missing symbol */
} cute_ptx_part;

/* Appends the joined module to *out. Names that are .visible, .weak, .common or .extern are global: of
 * several definitions, a .visible one is kept, else the first; redundant declarations are dropped. Other
 * names are private to their module, and renamed on conflict. Debug sections are dropped, .loc is kept. A
 * single part is copied unchanged. CUTE_INVALID with the place of a syntax error or duplicate definition. */
cute_status cute_ptx_join(cute_arena *arena, const cute_ptx_part *parts, size_t count, cute_buffer *out,
                          cute_diag *diag);

#endif
