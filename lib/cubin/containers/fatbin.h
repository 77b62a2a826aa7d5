/* Fatbins: containers of cubins and PTX for several architectures, as written by fatbinary and nvcc. */
#ifndef CUTE_LIB_CUBIN_CONTAINERS_FATBIN_H
#define CUTE_LIB_CUBIN_CONTAINERS_FATBIN_H

#include "lib/base/devices/arch.h"

typedef enum cute_fatbin_kind {
    CUTE_FATBIN_PTX = 1,
    CUTE_FATBIN_ELF = 2,
    CUTE_FATBIN_LTO = 8 /* of nvcc -dlto: intermediate code */
} cute_fatbin_kind;

typedef struct cute_fatbin_entry {
    unsigned kind;           /* a cute_fatbin_kind, or an unsupported kind */
    unsigned sm;             /* 90 */
    const char *compression; /* "none", "lz4", "zstd" */
    const uint8_t *data;     /* as stored */
    size_t length, full_length;
} cute_fatbin_entry;

bool cute_fatbin_is(const void *bytes, size_t length);
/* The size of the fatbin at `bytes`; 0: not a fatbin, or truncated. */
size_t cute_fatbin_extent(const void *bytes, size_t length);
/* Lists the entries (in `arena`; they point into `bytes`). CUTE_INVALID: truncated or not a fatbin. */
cute_status cute_fatbin_read(cute_arena *arena, const char *label, const void *bytes, size_t length,
                             cute_fatbin_entry **out, size_t *count, cute_diag *diag);
/* The contents of an entry: in `arena`, or in place if uncompressed. PTX is terminated, without padding. */
cute_status cute_fatbin_extract(cute_arena *arena, const char *label, const cute_fatbin_entry *entry,
                                const void **bytes, size_t *length, cute_diag *diag);
/* "ptx", "elf", "kind 16" ... in `arena`. */
const char *cute_fatbin_kind_name(cute_arena *arena, const cute_fatbin_entry *entry);

#endif
