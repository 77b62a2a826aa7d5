/* How many blocks of a kernel as it was compiled a multiprocessor holds. */
#ifndef CUTE_LIB_CUBIN_KERNEL_OCCUPANCY_H
#define CUTE_LIB_CUBIN_KERNEL_OCCUPANCY_H

#include "cute/occupancy.h"

/* The threads of a block as required, launched or at most; 0: not known. */
int64_t cute_kernel_threads(const cute_kernel *kernel);
/* false: not known. */
bool cute_kernel_occupancy(const cute_module *module, const cute_kernel *kernel, cute_occupancy *out);

#endif
