/* A kernel with its arguments by name, for launches out of any program: no child process is made, and several threads
 * may each use a device of their own. What the source says of an argument (cute/cubin.h) is checked when it is set.
 *
 * What the calls of a class KernelExecutor are called here: load_cubin: cute_module_open of cute/cubin.h and
 * cute_device_load_module; set_kernel: cute_arguments_create; launch(args, grid, block, shared_mem): cute_arguments_set_*
 * and cute_arguments_launch. GemmExecutor: cute/gemm.h. A launch.json, or what a host function of the source launched,
 * is carried out with cute/launch.h. */
#ifndef CUTE_ARGUMENTS_H
#define CUTE_ARGUMENTS_H

#include "cute/cubin.h"
#include "cute/device.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Loads what the device takes of a module: the emulator its PTX, a GPU the image. CUTE_INVALID: there is none. */
CUTE_API cute_status cute_device_load_module(cute_device *device, const cute_module *module,
                                             cute_device_module **out, cute_diag *diag);

/* Used by one thread at a time, as its device is. */
typedef struct cute_arguments cute_arguments;

/* Kernel `name` (NULL: the only one) of a module that was loaded as `loaded`. All three must outlive the arguments. */
CUTE_API cute_status cute_arguments_create(cute_device *device, cute_device_module *loaded,
                                           const cute_module *module, const char *name, cute_arguments **out,
                                           cute_diag *diag);
/* NULL is taken. */
CUTE_API void cute_arguments_destroy(cute_arguments *arguments);
/* The kernel: what it takes and what it is launched with. */
CUTE_API const cute_kernel *cute_arguments_kernel(const cute_arguments *arguments);

/* Each sets the argument `name`; of a kernel without metadata and wherever names are not at hand: its index from 0 in
 * digits. A value stays set for all launches until it is set again. CUTE_USAGE: no such argument, or its type is another
 * one; then nothing changes. */

/* A pointer, or a memref or tensor map that travels as one; of a memref with a descriptor its static shape. */
CUTE_API cute_status cute_arguments_set_address(cute_arguments *arguments, const char *name,
                                                cute_address address, cute_diag *diag);
/* A scalar of an integer type, within its range (unsigned types take -1 .. as two's complement), or of a
 * floating-point type, rounded. */
CUTE_API cute_status cute_arguments_set_integer(cute_arguments *arguments, const char *name, int64_t value,
                                                cute_diag *diag);
/* A scalar of a floating-point type, rounded. */
CUTE_API cute_status cute_arguments_set_real(cute_arguments *arguments, const char *name, double value,
                                             cute_diag *diag);
/* A memref: `offset` in elements from `address`; `shape` and `strides` (elements; NULL: row-major) of `rank` numbers. */
CUTE_API cute_status cute_arguments_set_memref(cute_arguments *arguments, const char *name,
                                               cute_address address, int64_t offset, size_t rank,
                                               const int64_t *shape, const int64_t *strides, cute_diag *diag);
/* A tensor map. */
CUTE_API cute_status cute_arguments_set_map(cute_arguments *arguments, const char *name,
                                            const cute_tensor_map *map, cute_diag *diag);
/* Any argument as the bytes of its parameter; `size` must be the parameter's. */
CUTE_API cute_status cute_arguments_set_bytes(cute_arguments *arguments, const char *name, const void *bytes,
                                              size_t size, cute_diag *diag);

/* Starts the kernel (cute_device_start). Where the launch has zeros, grid, block, cluster and dynamic shared memory are
 * what the kernel's source says. CUTE_USAGE: an argument is not set, or there is no grid or block; CUTE_INVALID: the
 * device cannot launch that, or the kernel failed. */
CUTE_API cute_status cute_arguments_launch(cute_arguments *arguments, const cute_device_launch *launch,
                                           cute_diag *diag);

#ifdef __cplusplus
}
#endif
#endif
