/* The metadata of docs/metadata.md: lines of PTX, the sections of a cubin, and the structures of
 * cute/cubin.h. */
#ifndef CUTE_LIB_CUBIN_METADATA_H
#define CUTE_LIB_CUBIN_METADATA_H

#include "cute/cubin.h"
#include "lib/base/buffer.h"

#define CUTE_SECTION_METADATA  ".cute.metadata"
#define CUTE_SECTION_PTX       ".cute.ptx"
#define CUTE_SECTION_RESOURCES ".cute.resources"

/* Appends the JSON object of each `//!cute` line of the PTX, and a newline each. Lines end at the first line
 * that is no comment and not blank. */
void cute_metadata_extract(const char *ptx, size_t length, cute_buffer *out);

typedef enum cute_metadata_kind { CUTE_METADATA_KERNELS, CUTE_METADATA_RESOURCES } cute_metadata_kind;

/* Reads the lines of a section (one JSON object each; names of `label` and lines count for messages) and
 * completes the kernels of the same name; lines of other kernels are ignored. Strings are in `arena`.
 * CUTE_INVALID: not JSON, a value of the wrong kind (by its path in the object), or parameters that are not
 * the kernel's. */
cute_status cute_metadata_apply(cute_arena *arena, const char *label, cute_metadata_kind kind,
                                const char *lines, size_t length, cute_kernel *kernels, size_t kernel_count,
                                cute_diag *diag);

#endif
