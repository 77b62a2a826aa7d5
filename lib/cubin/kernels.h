/* The kernels of a cubin and what .nv.info and the sections say about them. */
#ifndef CUTE_LIB_CUBIN_KERNELS_H
#define CUTE_LIB_CUBIN_KERNELS_H

#include "cute/cubin.h"
#include "lib/cubin/elf/elf.h"

/* Kernels in the order of their symbols, in `arena`, without metadata. CUTE_INVALID: attributes that are cut
 * off. */
cute_status cute_elf_kernels(cute_arena *arena, const cute_elf *elf, cute_kernel **out, size_t *count,
                             cute_diag *diag);
/* "sm_90a", in `arena`; "" when the flags and notes do not say. */
const char *cute_elf_arch(cute_arena *arena, const cute_elf *elf);

#endif
