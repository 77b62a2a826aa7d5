/* The tensors, tiled copies and tiled MMAs of a kernel, for its metadata. */
#ifndef CUTE_LIB_PASSES_HOST_KERNEL_LAYOUTS_H
#define CUTE_LIB_PASSES_HOST_KERNEL_LAYOUTS_H

#include "lib/passes/host/describe.h"

/* Adds `tensors`, `tiled_copies` and `mmas`: each type once, with the location that creates it first.
 * Omits empty lists. */
void cute_describe_layouts(MlirOperation kernel, cute_dict *out);

#endif
