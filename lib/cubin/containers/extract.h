/* Writes the objects of gpu.binary operations to files, as they are. What `cute-link --extract` does. */
#ifndef CUTE_LIB_CUBIN_CONTAINERS_EXTRACT_H
#define CUTE_LIB_CUBIN_CONTAINERS_EXTRACT_H

#include "lib/base/devices/arch.h"
#include "lib/cubin/link.h"

/* `symbol`: of one gpu.binary, or "all". One object goes to the file `output` ("-", NULL: stdout); several
 * need a folder (made if it ends with a slash), where each is SYMBOL.cubin, .ptx, .fatbin or .bc, with the
 * architecture before the dot where a binary has several. `arch` (may be NULL) leaves the objects for others
 * out. */
cute_status cute_extract(cute_arena *arena, const char *symbol, const cute_arch *arch, const char *output,
                         const cute_link_input *inputs, size_t count, cute_diag *diag);
/* Writes all to `folder`, and lists them: for the dump folder. */
typedef struct cute_extracted {
    const char *symbol, *chip, *kind, *file; /* file: its name in the folder */
    size_t length;
} cute_extracted;
cute_status cute_extract_all(cute_arena *arena, const char *folder, const cute_link_input *input,
                             cute_extracted **out, size_t *count, cute_diag *diag);

#endif
