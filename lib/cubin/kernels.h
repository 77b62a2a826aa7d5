/* Reads the kernels of a cubin and their properties in .nv.info and sections. */
#ifndef CUTE_LIB_CUBIN_KERNELS_H
#define CUTE_LIB_CUBIN_KERNELS_H

#include "cute/cubin.h"
#include "lib/cubin/elf/elf.h"

/* Kernels in symbol order, in `arena`, without metadata. CUTE_INVALID: truncated attributes. */
cute_status cute_elf_kernels(cute_arena *arena, const cute_elf *elf, cute_kernel **out, size_t *count,
                             cute_diag *diag);
/* "sm_90a", in `arena`; "" if unknown. */
const char *cute_elf_arch(cute_arena *arena, const cute_elf *elf);

#endif
