/* The device code in an ELF file for a CPU: the fatbins that nvcc puts into objects and programs. */
#ifndef CUTE_LIB_CUBIN_ELF_HOSTELF_H
#define CUTE_LIB_CUBIN_ELF_HOSTELF_H

#include "lib/cubin/elf/elf.h"

typedef struct cute_host_code {
    const uint8_t *bytes; /* a whole fatbin, in place */
    size_t length;
    bool relocatable; /* of __nv_relfatbin: for nvlink (nvcc -rdc=true) */
} cute_host_code;

/* Whether `bytes` are an ELF file of another machine than CUDA's. */
bool cute_host_is(const void *bytes, size_t length);
/* The fatbins that have an entry, in `arena`: those of .nv_fatbin, and only where there are none those of
 * __nv_relfatbin, which a linked program keeps as left-overs. CUTE_INVALID: cut off, damaged, or none at all. */
cute_status cute_host_read(cute_arena *arena, const char *label, const void *bytes, size_t length,
                           cute_host_code **out, size_t *count, cute_diag *diag);

#endif
