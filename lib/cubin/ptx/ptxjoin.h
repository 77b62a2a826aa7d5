/* Several PTX modules as one, as a linker would resolve their names: what the emulator runs of a cubin that was linked. */
#ifndef CUTE_LIB_CUBIN_PTX_PTXJOIN_H
#define CUTE_LIB_CUBIN_PTX_PTXJOIN_H

#include "lib/base/buffer.h"

typedef struct cute_ptx_part {
    const char *label;
    const char *text;
    size_t length;
    bool on_demand; /* a member of a library: taken where it defines what others lack */
} cute_ptx_part;

/* Appends one module to *out. Names that are .visible, .weak, .common or .extern are the same in all modules: of
 * several definitions a .visible one is taken, else the first; declarations of what is defined go. Names without any of these
 * belong to their module, and are renamed where they meet others. Debug sections are left out, .loc stays. One part
 * is passed on as it is. CUTE_INVALID with the place of what can't be read, or is defined twice. */
cute_status cute_ptx_join(cute_arena *arena, const cute_ptx_part *parts, size_t count, cute_buffer *out,
                          cute_diag *diag);

#endif
