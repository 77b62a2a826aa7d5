/* The device code in an ELF file for a CPU: fatbins that nvcc embeds in objects and programs. */
#ifndef CUTE_LIB_CUBIN_ELF_HOSTELF_H
#define CUTE_LIB_CUBIN_ELF_HOSTELF_H

#include "lib/cubin/elf/elf.h"

typedef struct cute_host_code {
    const uint8_t *bytes; /* a whole fatbin, in place */
    size_t length;
    bool relocatable; /* of __nv_relfatbin: for nvlink (nvcc -rdc=true) */
} cute_host_code;

/* Whether `bytes` are an ELF file for a machine other than CUDA. */
bool cute_host_is(const void *bytes, size_t length);
/* Lists the non-empty fatbins in `arena`: those of .nv_fatbin, or, if it has none, those of __nv_relfatbin,
 * which a linked program keeps as leftovers. CUTE_INVALID: truncated, damaged, or no fatbin. */
cute_status cute_host_read(cute_arena *arena, const char *label, const void *bytes, size_t length,
                           cute_host_code **out, size_t *count, cute_diag *diag);

#endif
