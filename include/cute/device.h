/* One interface to the devices that run kernels: GPUs, through a driver that is opened at run time, and the
 * emulator (cute/emulator.h). It covers memory, modules, streams and time.
 *
 * A device is used by one thread at a time, but not always the same one; several devices are independent.
 * A GPU is used in its primary context, like the CUDA runtime uses it: addresses of memory that CUDA C++, CuPy or PyTorch allocated
 * on the same GPU are valid arguments, targets and sources, and remain theirs to free.
 *
 * Structs passed by the caller begin with `size`, which the caller sets to sizeof the struct; zero in any
 * other field selects the default.
 *
 * For users of a KernelExecutor class: load_cubin and load_ptx are cute_device_load; set_kernel is
 * cute_device_get_function; launch is cute_device_start; synchronize is cute_device_sync; DeviceBuffer is
 * cute_device_alloc, _upload, _download and _free; get_device_info is cute_device_query; TMADescriptor is
 * cute_device_encode_map. */
#ifndef CUTE_DEVICE_H
#define CUTE_DEVICE_H

#include "cute/base.h"
#include "cute/tensor_map.h"
#include "cute/texture.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct cute_device cute_device;
typedef struct cute_device_module cute_device_module;
typedef struct cute_device_function cute_device_function;
typedef struct cute_device_event cute_device_event;
typedef struct cute_device_graph cute_device_graph;
typedef struct cute_device_texture cute_device_texture;
typedef struct cute_stream cute_stream;

/* Numbers that the device does not report are 0. */
typedef struct cute_device_info {
    size_t size;
    const char *kind; /* "cuda", "emulator" */
    int index;
    char name[128];
    int major, minor;   /* compute capability */
    char arch[16];      /* "sm_90" */
    int driver_version; /* 13000 is 13.0 */
    int64_t multiprocessors;
    int64_t memory;          /* bytes */
    int64_t shared_block;    /* bytes of shared memory per block without opt-in */
    int64_t shared_optin;    /* maximum with opt-in */
    int64_t shared_reserved; /* of which the system reserves */
    int64_t shared_multiprocessor;
    int64_t registers_block, registers_multiprocessor;
    int64_t threads_block, threads_multiprocessor, blocks_multiprocessor;
    int64_t block_limit[3], grid_limit[3];
    int64_t warp_size;
    int64_t l2;           /* bytes */
    int64_t clock;        /* kHz */
    int64_t memory_clock; /* kHz */
    int64_t bus_width;    /* bits */
    bool cooperative, clusters, tensor_maps, ecc;
    int pci_domain, pci_bus, pci_device;
} cute_device_info;

typedef struct cute_device_launch {
    size_t size;
    int64_t grid[3], block[3];
    int64_t cluster[3];   /* blocks; zeros: not stated */
    int64_t dynamic_smem; /* bytes */
    bool cooperative;
    bool programmatic;   /* may start before the previous launch ends (programmatic stream serialization) */
    cute_stream *stream; /* NULL: the device's default stream */
} cute_device_launch;

typedef struct cute_function_info {
    size_t size;
    int64_t registers; /* per thread; 0: unknown (PTX on the emulator) */
    int64_t static_smem, local_bytes, constant_bytes;
    int64_t threads_limit; /* per block */
    int64_t ptx_version;   /* the architecture of its PTX, and of its machine code: 90 is sm_90 */
    int64_t binary_version;
} cute_function_info;

/* The number of GPUs. CUTE_SYSTEM: no driver; the message names the library that was searched for. */
CUTE_API cute_status cute_device_count(int *out, cute_diag *diag);
/* The properties of GPU `index`, without creating a context. */
CUTE_API cute_status cute_device_query(int index, cute_device_info *out, cute_diag *diag);
/* Opens a device by name: "cuda:1" or "1" is GPU 1, "cuda" GPU 0, "emulator" the emulator with its defaults;
 * NULL, "" or "any": GPU 0, or the emulator if the machine has no GPU. The driver is the library
 * $CUTE_LIBCUDA, else libcuda.so.1. CUTE_USAGE: invalid name; CUTE_SYSTEM: no such device. Close it with
 * cute_device_close. */
CUTE_API cute_status cute_device_open(const char *name, cute_device **out, cute_diag *diag);
/* Releases the device and everything created on it. NULL is allowed. */
CUTE_API void cute_device_close(cute_device *device);
/* Valid until the device is closed. */
CUTE_API const cute_device_info *cute_device_get_info(const cute_device *device);

/* ---- memory ---- */

/* Allocates `size` bytes; 0 is allowed. CUTE_SYSTEM: the device's memory is exhausted. */
CUTE_API cute_status cute_device_alloc(cute_device *device, size_t size, cute_address *out, cute_diag *diag);
/* Address 0 is allowed. */
CUTE_API cute_status cute_device_free(cute_device *device, cute_address address, cute_diag *diag);
/* Copies between host and device; synchronous. */
CUTE_API cute_status cute_device_upload(cute_device *device, cute_address to, const void *from, size_t size,
                                        cute_diag *diag);
CUTE_API cute_status cute_device_download(cute_device *device, void *to, cute_address from, size_t size,
                                          cute_diag *diag);
/* Copies and fills on the device: asynchronous, in order with launches on the device's default stream. */
CUTE_API cute_status cute_device_copy(cute_device *device, cute_address to, cute_address from, size_t size,
                                      cute_diag *diag);
CUTE_API cute_status cute_device_fill(cute_device *device, cute_address to, uint8_t byte, size_t size,
                                      cute_diag *diag);

/* ---- code ---- */

/* Loads a module: a cubin, a fatbin as nvcc embeds it, or PTX text, which need not be NUL-terminated. The
 * emulator runs the module's PTX (cubins of cute-link contain it): of a fatbin, the PTX for sm_90a or an
 * architecture that runs on it, else the newest. `label` names the module in messages (NULL: "<image>"); both
 * are only read. Output of the driver's compiler becomes remarks, or notes of the error. CUTE_INVALID:
 * truncated, wrong, or not for this device. */
CUTE_API cute_status cute_device_load(cute_device *device, const char *label, const void *image,
                                      size_t length, cute_device_module **out, cute_diag *diag);
/* Unloads a module and its functions, none of which may be running. */
CUTE_API cute_status cute_device_unload(cute_device *device, cute_device_module *module, cute_diag *diag);
/* A kernel; it belongs to its module. */
CUTE_API cute_status cute_device_get_function(cute_device *device, cute_device_module *module,
                                              const char *name, cute_device_function **out, cute_diag *diag);
/* The address and size of a .global or .const variable of the module; copies can read and write it.
 * CUTE_INVALID: no such variable. */
CUTE_API cute_status cute_device_get_global(cute_device *device, cute_device_module *module, const char *name,
                                            cute_address *out, size_t *size, cute_diag *diag);
CUTE_API cute_status cute_device_function_info(cute_device *device, cute_device_function *function,
                                               cute_function_info *out, cute_diag *diag);
/* The size of parameter `index` according to the driver; false past the last, or if the driver cannot
 * tell. */
CUTE_API bool cute_device_param_size(cute_device *device, cute_device_function *function, size_t index,
                                     size_t *size);
/* Requests the attributes that the launch needs (shared memory above the default, large clusters) and rejects
 * launches that exceed the device. Call it once before launches of that shape. */
CUTE_API cute_status cute_device_prepare(cute_device *device, cute_device_function *function,
                                         const cute_device_launch *launch, cute_diag *diag);
/* The number of blocks of such a launch that a multiprocessor holds concurrently (0: it cannot be launched),
 * and the number of its clusters that the GPU holds (-1: no clusters, or unknown). A GPU's driver answers;
 * the emulator answers with cute/occupancy.h as an H100, using the register count of the module's cubin if it
 * has one (otherwise registers do not limit), and does not count clusters. */
CUTE_API cute_status cute_device_occupancy(cute_device *device, cute_device_function *function,
                                           const cute_device_launch *launch, int64_t *blocks,
                                           int64_t *clusters, cute_diag *diag);
/* Starts a kernel; `params` points to each parameter's bytes, which are only read during the call. A GPU
 * reports a fault at the next sync. The emulator runs the kernel to its end and reports a fault immediately:
 * CUTE_INVALID. */
CUTE_API cute_status cute_device_start(cute_device *device, cute_device_function *function,
                                       const cute_device_launch *launch, void *const *params,
                                       cute_diag *diag);
/* Waits for all work on all streams. A kernel fault is CUTE_INVALID with the driver's name and description;
 * the device is then unusable in this process. Output of kernels is written to the standard output of the
 * process by a GPU, to options.print by the emulator. */
CUTE_API cute_status cute_device_sync(cute_device *device, cute_diag *diag);

/* ---- tensor maps ---- */

/* Encodes the 128 bytes of the kernel's parameter. */
CUTE_API cute_status cute_device_encode_map(cute_device *device, const cute_tensor_map *map,
                                            uint8_t out[CUTE_MAP_BYTES], cute_diag *diag);

/* ---- textures and surfaces ---- */

/* Makes a texture or surface object of the memory at texture->address; *handle is the kernel's argument. An array of the device has its
 * own copy of the texels, undefined until cute_device_texture_load; the emulator reads and writes the memory. Released with the device.
 * CUTE_INVALID names the violated rule. */
CUTE_API cute_status cute_device_texture_create(cute_device *device, const cute_texture *texture,
                                                cute_device_texture **out, uint64_t *handle, cute_diag *diag);
CUTE_API cute_status cute_device_texture_destroy(cute_device *device, cute_device_texture *texture,
                                                 cute_diag *diag);
/* Copies the memory to the object's array, and the array to the memory: asynchronous, on `stream` (NULL: the default stream). Without an
 * array they do nothing. */
CUTE_API cute_status cute_device_texture_load(cute_device *device, cute_stream *stream,
                                              cute_device_texture *texture, cute_diag *diag);
CUTE_API cute_status cute_device_texture_store(cute_device *device, cute_stream *stream,
                                               cute_device_texture *texture, cute_diag *diag);

/* ---- streams: in order within a stream, concurrent between streams ---- */

/* Streams are released with their device. The emulator executes work when it is submitted. Host memory must
 * not change until the stream has used it. */
CUTE_API cute_status cute_stream_create(cute_device *device, cute_stream **out, cute_diag *diag);
/* Waits for its work first. NULL is allowed. */
CUTE_API void cute_stream_destroy(cute_stream *stream);
CUTE_API cute_status cute_stream_upload(cute_stream *stream, cute_address to, const void *from, size_t size,
                                        cute_diag *diag);
CUTE_API cute_status cute_stream_download(cute_stream *stream, void *to, cute_address from, size_t size,
                                          cute_diag *diag);
CUTE_API cute_status cute_stream_copy(cute_stream *stream, cute_address to, cute_address from, size_t size,
                                      cute_diag *diag);
CUTE_API cute_status cute_stream_fill(cute_stream *stream, cute_address to, uint8_t byte, size_t size,
                                      cute_diag *diag);
/* The event completes when all earlier work of the stream has; work submitted to `stream` after
 * cute_stream_wait starts when the event has completed. */
CUTE_API cute_status cute_stream_record(cute_stream *stream, cute_device_event *event, cute_diag *diag);
CUTE_API cute_status cute_stream_wait(cute_stream *stream, cute_device_event *event, cute_diag *diag);
/* Waits for the stream's work; faults are reported as by cute_device_sync. */
CUTE_API cute_status cute_stream_sync(cute_stream *stream, cute_diag *diag);

/* ---- time ---- */

/* Events and graphs are released with their device. Without a stream parameter, the device's default stream
 * is used. */
CUTE_API cute_status cute_device_event_create(cute_device *device, cute_device_event **out, cute_diag *diag);
CUTE_API cute_status cute_device_event_record(cute_device *device, cute_device_event *event, cute_diag *diag);
/* Seconds between two completed events. */
CUTE_API cute_status cute_device_elapsed(cute_device *device, cute_device_event *from, cute_device_event *to,
                                         double *seconds, cute_diag *diag);
/* Work started between begin and end is not run but captured in a graph. The emulator has no graphs:
 * CUTE_INVALID. */
CUTE_API cute_status cute_device_graph_begin(cute_device *device, cute_diag *diag);
CUTE_API cute_status cute_device_graph_end(cute_device *device, cute_device_graph **out, cute_diag *diag);
CUTE_API cute_status cute_device_graph_start(cute_device *device, cute_device_graph *graph, cute_diag *diag);

#ifdef __cplusplus
}
#endif
#endif
