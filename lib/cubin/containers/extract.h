/* Writes the objects of gpu.binary operations to files, unchanged: cute-link --extract. */
#ifndef CUTE_LIB_CUBIN_CONTAINERS_EXTRACT_H
#define CUTE_LIB_CUBIN_CONTAINERS_EXTRACT_H

#include "lib/base/devices/arch.h"
#include "lib/cubin/link.h"

/* `symbol`: of one gpu.binary, or "all". A single object is written to the file `output` ("-", NULL: stdout);
 * several require a folder (created if the name ends with a slash) and are named SYMBOL.cubin, .ptx, .fatbin
 * or .bc, with the architecture before the suffix if a binary has several. `arch` (may be NULL) excludes
 * objects for other architectures. */
cute_status cute_extract(cute_arena *arena, const char *symbol, const cute_arch *arch, const char *output,
                         const cute_link_input *inputs, size_t count, cute_diag *diag);
/* Writes all objects to `folder` and lists them, for the dump folder. */
typedef struct cute_extracted {
    const char *symbol, *chip, *kind, *file; /* file: its name in the folder */
    size_t length;
} cute_extracted;
cute_status cute_extract_all(cute_arena *arena, const char *folder, const cute_link_input *input,
                             cute_extracted **out, size_t *count, cute_diag *diag);

#endif
