/* Kernel metadata (docs/metadata.md): from lines of PTX, or sections of a cubin, to the structures of
 * cute/cubin.h. */
#ifndef CUTE_LIB_CUBIN_METADATA_H
#define CUTE_LIB_CUBIN_METADATA_H

#include "cute/cubin.h"
#include "lib/base/buffer.h"

#define CUTE_SECTION_METADATA  ".cute.metadata"
#define CUTE_SECTION_PTX       ".cute.ptx"
#define CUTE_SECTION_RESOURCES ".cute.resources"

/* Appends the JSON object of each `//!cute` line of the PTX, one per line. Stops at the first line that is
 * neither a comment nor blank. */
void cute_metadata_extract(const char *ptx, size_t length, cute_buffer *out);

typedef enum cute_metadata_kind { CUTE_METADATA_KERNELS, CUTE_METADATA_RESOURCES } cute_metadata_kind;

/* Reads the lines of a section (a JSON object each; `label` and line numbers are for messages) and completes
 * the kernels of the same names; other kernels are ignored. Strings are in `arena`. CUTE_INVALID: not JSON, a
 * value of the wrong type (with its path), or parameters that differ from the kernel's. */
cute_status cute_metadata_apply(cute_arena *arena, const char *label, cute_metadata_kind kind,
                                const char *lines, size_t length, cute_kernel *kernels, size_t kernel_count,
                                cute_diag *diag);

#endif
