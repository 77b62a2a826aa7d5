/* Launches a kernel with named arguments from any program: no child process is created, and several threads
 * can each use their own device. An argument is checked against the kernel's metadata (cute/cubin.h) when it
 * is set.
 *
 * For users of a KernelExecutor class: load_cubin is cute_module_open (cute/cubin.h) with
 * cute_device_load_module; set_kernel is cute_arguments_create; launch(args, grid, block, shared_mem) is
 * cute_arguments_set_* with cute_arguments_launch. For GemmExecutor see cute/gemm.h. cute/launch.h runs a
 * launch.json or the launches of a host function. */
#ifndef CUTE_ARGUMENTS_H
#define CUTE_ARGUMENTS_H

#include "cute/cubin.h"
#include "cute/device.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Loads the part of a module that the device runs: PTX on the emulator, the image on a GPU. CUTE_INVALID: the
 * module does not have that part. */
CUTE_API cute_status cute_device_load_module(cute_device *device, const cute_module *module,
                                             cute_device_module **out, cute_diag *diag);

/* Used by one thread at a time, as its device is. */
typedef struct cute_arguments cute_arguments;

/* Kernel `name` (NULL: the only one) of a module that was loaded as `loaded`. All three must outlive the arguments. */
CUTE_API cute_status cute_arguments_create(cute_device *device, cute_device_module *loaded,
                                           const cute_module *module, const char *name, cute_arguments **out,
                                           cute_diag *diag);
/* NULL is allowed. */
CUTE_API void cute_arguments_destroy(cute_arguments *arguments);
/* The kernel: its parameters and launch attributes. */
CUTE_API const cute_kernel *cute_arguments_kernel(const cute_arguments *arguments);

/* Each function sets the argument `name`. Where names are unknown (a kernel without metadata), `name` is the
 * index in decimal, from 0. A value stays set for all later launches. CUTE_USAGE: there is no such argument,
 * or it has another type; nothing changes. */

/* A pointer, or a memref or tensor map passed as a pointer; for a memref passed as a descriptor, the static
 * shape. */
CUTE_API cute_status cute_arguments_set_address(cute_arguments *arguments, const char *name,
                                                cute_address address, cute_diag *diag);
/* An integer, within the range of its type (unsigned types also accept negative numbers in two's complement),
 * or a floating-point scalar, rounded. */
CUTE_API cute_status cute_arguments_set_integer(cute_arguments *arguments, const char *name, int64_t value,
                                                cute_diag *diag);
/* A floating-point scalar, rounded. */
CUTE_API cute_status cute_arguments_set_real(cute_arguments *arguments, const char *name, double value,
                                             cute_diag *diag);
/* A memref: `offset` in elements from `address`; `shape` and `strides` (in elements; NULL: row-major) have
 * `rank` entries. */
CUTE_API cute_status cute_arguments_set_memref(cute_arguments *arguments, const char *name,
                                               cute_address address, int64_t offset, size_t rank,
                                               const int64_t *shape, const int64_t *strides, cute_diag *diag);
/* A tensor map. */
CUTE_API cute_status cute_arguments_set_map(cute_arguments *arguments, const char *name,
                                            const cute_tensor_map *map, cute_diag *diag);
/* Any argument, as the bytes of its parameter; `size` must be the parameter's size. */
CUTE_API cute_status cute_arguments_set_bytes(cute_arguments *arguments, const char *name, const void *bytes,
                                              size_t size, cute_diag *diag);

/* Starts the kernel (cute_device_start). Zeros in the launch's grid, block, cluster and dynamic shared memory
 * select the values of the kernel's source. CUTE_USAGE: an argument is not set, or the grid or block is
 * missing; CUTE_INVALID: the device cannot run the launch, or the kernel failed. */
CUTE_API cute_status cute_arguments_launch(cute_arguments *arguments, const cute_device_launch *launch,
                                           cute_diag *diag);

#ifdef __cplusplus
}
#endif
#endif
