/* The occupancy of a compiled kernel. */
#ifndef CUTE_LIB_CUBIN_KERNEL_OCCUPANCY_H
#define CUTE_LIB_CUBIN_KERNEL_OCCUPANCY_H

#include "cute/occupancy.h"

/* Threads per block: required, of the stated launch, or the maximum; 0: unknown. */
int64_t cute_kernel_threads(const cute_kernel *kernel);
/* False: unknown. */
bool cute_kernel_occupancy(const cute_module *module, const cute_kernel *kernel, cute_occupancy *out);

#endif
