/* The attributes in .nv.info sections, written by ptxas; the table is nvinfo.def. */
#ifndef CUTE_LIB_CUBIN_ELF_NVINFO_H
#define CUTE_LIB_CUBIN_ELF_NVINFO_H

#include "lib/cubin/elf/elf.h"

typedef enum cute_nvinfo_shape {
    CUTE_NVINFO_BYTES, /* not decoded; also for unknown codes */
    CUTE_NVINFO_NONE,
    CUTE_NVINFO_BYTE,
    CUTE_NVINFO_HALF,
    CUTE_NVINFO_WORD,
    CUTE_NVINFO_DIM3,
    CUTE_NVINFO_OF,
    CUTE_NVINFO_PARAM,
    CUTE_NVINFO_PARAM2,
    CUTE_NVINFO_BANK,
    CUTE_NVINFO_OFFSETS,
    CUTE_NVINFO_SYMBOLS,
} cute_nvinfo_shape;

/* The codes that this library uses. */
enum {
    CUTE_EIATTR_MAX_THREADS = 0x05,
    CUTE_EIATTR_PARAM_CBANK = 0x0a,
    CUTE_EIATTR_REQNTID = 0x10,
    CUTE_EIATTR_FRAME_SIZE = 0x11,
    CUTE_EIATTR_MIN_STACK_SIZE = 0x12,
    CUTE_EIATTR_KPARAM_INFO = 0x17,
    CUTE_EIATTR_CBANK_PARAM_SIZE = 0x19,
    CUTE_EIATTR_MAXREG_COUNT = 0x1b,
    CUTE_EIATTR_MAX_STACK_SIZE = 0x23,
    CUTE_EIATTR_REGCOUNT = 0x2f,
    CUTE_EIATTR_CTA_PER_CLUSTER = 0x3d,
    CUTE_EIATTR_EXPLICIT_CLUSTER = 0x3e,
    CUTE_EIATTR_MAX_CLUSTER_RANK = 0x3f,
    CUTE_EIATTR_KPARAM_INFO_V2 = 0x45,
    CUTE_EIATTR_NUM_BARRIERS = 0x4c,
    CUTE_EIATTR_BLOCKS_ARE_CLUSTERS = 0x5b,
};

typedef struct cute_nvinfo {
    uint8_t code;
    const char *name; /* "REGCOUNT"; NULL: not in the table */
    cute_nvinfo_shape shape;
    const uint8_t *data; /* the value */
    size_t length;
    uint32_t words[4]; /* decoded: BYTE, HALF, WORD [0]; DIM3 [0..2]; OF symbol, value; PARAM(2) ordinal,
                          offset, size; BANK symbol, offset, size */
} cute_nvinfo;

/* Reads the attribute at *offset of the section and advances *offset. *more: whether there was one.
 * CUTE_INVALID: truncated. */
cute_status cute_nvinfo_next(const cute_elf *elf, const cute_elf_section *section, size_t *offset,
                             cute_nvinfo *out, bool *more, cute_diag *diag);

#endif
