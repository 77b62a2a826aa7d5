/* One interface to what runs kernels: a GPU through its driver, which is opened at run time, or the emulator
 * (cute/emulator.h). Memory, modules, streams and time are used through a device.
 *
 * A device is used by one thread at a time, any one; several devices are independent. Structs that a caller fills or
 * has filled begin with `size`, which the caller sets to sizeof the struct; other fields that are zero are the default.
 *
 * What the calls of a class KernelExecutor are called here: load_cubin, load_ptx: cute_device_load; set_kernel:
 * cute_device_get_function; launch: cute_device_start; synchronize: cute_device_sync; DeviceBuffer: cute_device_alloc,
 * _upload, _download, _free; get_device_info: cute_device_query; TMADescriptor: cute_device_encode_map. */
#ifndef CUTE_DEVICE_H
#define CUTE_DEVICE_H

#include "cute/base.h"
#include "cute/tensor_map.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct cute_device cute_device;
typedef struct cute_device_module cute_device_module;
typedef struct cute_device_function cute_device_function;
typedef struct cute_device_event cute_device_event;
typedef struct cute_device_graph cute_device_graph;
typedef struct cute_stream cute_stream;

/* Numbers that the device does not tell are 0. */
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
    int64_t shared_block;    /* bytes of shared memory that a block gets without asking */
    int64_t shared_optin;    /* and at most */
    int64_t shared_reserved; /* and that the system takes of it */
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
    int64_t cluster[3];   /* blocks; zeros: none given */
    int64_t dynamic_smem; /* bytes */
    bool cooperative;
    bool programmatic;   /* may start while the launch before it ends (programmatic stream serialization) */
    cute_stream *stream; /* NULL: the device's own */
} cute_device_launch;

typedef struct cute_function_info {
    size_t size;
    int64_t registers; /* of a thread; 0: not known, of PTX on the emulator */
    int64_t static_smem, local_bytes, constant_bytes;
    int64_t threads_limit; /* of a block */
    int64_t ptx_version; /* the architecture that its PTX is for, and that of its machine code: 90 is sm_90 */
    int64_t binary_version;
} cute_function_info;

/* How many GPUs there are. CUTE_SYSTEM when there is no driver; the message says what was looked for. */
CUTE_API cute_status cute_device_count(int *out, cute_diag *diag);
/* What GPU `index` is, without making a context on it. */
CUTE_API cute_status cute_device_query(int index, cute_device_info *out, cute_diag *diag);
/* Opens a device by name: "cuda:1" or "1" is GPU 1, "cuda" GPU 0, "emulator" the emulator with its defaults; NULL,
 * "" or "any": GPU 0, and the emulator where there is no GPU. The driver is the library $CUTE_LIBCUDA, else
 * libcuda.so.1. CUTE_USAGE: no such name; CUTE_SYSTEM: no such device. Closed with cute_device_close. */
CUTE_API cute_status cute_device_open(const char *name, cute_device **out, cute_diag *diag);
/* Releases the device and everything that was made on it. NULL is taken. */
CUTE_API void cute_device_close(cute_device *device);
/* Valid until the device is closed. */
CUTE_API const cute_device_info *cute_device_get_info(const cute_device *device);

/* ---- memory ---- */

/* `size` bytes; 0 is taken. CUTE_SYSTEM when the device's memory is exhausted. */
CUTE_API cute_status cute_device_alloc(cute_device *device, size_t size, cute_address *out, cute_diag *diag);
/* 0 is taken. */
CUTE_API cute_status cute_device_free(cute_device *device, cute_address address, cute_diag *diag);
/* From and to the host. They wait until it is done. */
CUTE_API cute_status cute_device_upload(cute_device *device, cute_address to, const void *from, size_t size,
                                        cute_diag *diag);
CUTE_API cute_status cute_device_download(cute_device *device, void *to, cute_address from, size_t size,
                                          cute_diag *diag);
/* On the device. They run in order with the launches on the device's own stream, and do not wait. */
CUTE_API cute_status cute_device_copy(cute_device *device, cute_address to, cute_address from, size_t size,
                                      cute_diag *diag);
CUTE_API cute_status cute_device_fill(cute_device *device, cute_address to, uint8_t byte, size_t size,
                                      cute_diag *diag);

/* ---- code ---- */

/* Loads a module: a cubin, a fatbin as nvcc embeds it, or PTX text, which need not be terminated. The emulator runs the PTX
 * that a module has: of a fatbin that for sm_90a or what runs on it, else the newest; cubins of cute-link have it. `label`
 * names it in messages (NULL: "<image>"); both are only read. What the driver's compiler said becomes remarks, or
 * notes of the error. CUTE_INVALID: truncated, wrong, or not for this device. */
CUTE_API cute_status cute_device_load(cute_device *device, const char *label, const void *image,
                                      size_t length, cute_device_module **out, cute_diag *diag);
/* Unloads a module and its functions; none of them may be running. */
CUTE_API cute_status cute_device_unload(cute_device *device, cute_device_module *module, cute_diag *diag);
/* A kernel; it belongs to its module. */
CUTE_API cute_status cute_device_get_function(cute_device *device, cute_device_module *module,
                                              const char *name, cute_device_function **out, cute_diag *diag);
/* Where a .global or .const variable of the module lies, and its size; copies read and write it. CUTE_INVALID: there is
 * none of that name. */
CUTE_API cute_status cute_device_get_global(cute_device *device, cute_device_module *module, const char *name,
                                            cute_address *out, size_t *size, cute_diag *diag);
CUTE_API cute_status cute_device_function_info(cute_device *device, cute_device_function *function,
                                               cute_function_info *out, cute_diag *diag);
/* The size of parameter `index` as the driver sees it; false behind the last or when it cannot tell. */
CUTE_API bool cute_device_param_size(cute_device *device, cute_device_function *function, size_t index,
                                     size_t *size);
/* Asks for what the launch needs (shared memory above the default, large clusters) and refuses what the
 * device cannot hold at once. Once before launches of that shape. */
CUTE_API cute_status cute_device_prepare(cute_device *device, cute_device_function *function,
                                         const cute_device_launch *launch, cute_diag *diag);
/* How many blocks of such a launch a multiprocessor holds at once (0: it cannot be launched so), and how many of its
 * clusters the GPU does (-1: it has none, or the device cannot tell). It is the driver that answers. The emulator does by
 * cute/occupancy.h as an H100, with the registers of the cubin where the module has one, else without that limit, and tells
 * no clusters. */
CUTE_API cute_status cute_device_occupancy(cute_device *device, cute_device_function *function,
                                           const cute_device_launch *launch, int64_t *blocks,
                                           int64_t *clusters, cute_diag *diag);
/* Starts a kernel; `params` points to each parameter's bytes, which are only read during the call. A fault of a GPU
 * shows at the next sync. The emulator runs the kernel to its end, and tells a fault at once: CUTE_INVALID. */
CUTE_API cute_status cute_device_start(cute_device *device, cute_device_function *function,
                                       const cute_device_launch *launch, void *const *params,
                                       cute_diag *diag);
/* Waits for all work on all streams. A fault of a kernel is CUTE_INVALID with the driver's name and text for it; the
 * device is unusable in this process afterwards. What kernels print goes to the standard output of the process on a
 * GPU, to options.print on the emulator. */
CUTE_API cute_status cute_device_sync(cute_device *device, cute_diag *diag);

/* ---- tensor maps ---- */

/* The 128 bytes that a kernel gets as parameter. */
CUTE_API cute_status cute_device_encode_map(cute_device *device, const cute_tensor_map *map,
                                            uint8_t out[CUTE_MAP_BYTES], cute_diag *diag);

/* ---- streams: work that runs in order, beside that of other streams ---- */

/* They belong to the device and go with it. The emulator does the work of each stream when it is given, so in order.
 * Memory of the host must stay as it is until the stream has come there. */
CUTE_API cute_status cute_stream_create(cute_device *device, cute_stream **out, cute_diag *diag);
/* Waits for its work first. NULL is taken. */
CUTE_API void cute_stream_destroy(cute_stream *stream);
CUTE_API cute_status cute_stream_upload(cute_stream *stream, cute_address to, const void *from, size_t size,
                                        cute_diag *diag);
CUTE_API cute_status cute_stream_download(cute_stream *stream, void *to, cute_address from, size_t size,
                                          cute_diag *diag);
CUTE_API cute_status cute_stream_copy(cute_stream *stream, cute_address to, cute_address from, size_t size,
                                      cute_diag *diag);
CUTE_API cute_status cute_stream_fill(cute_stream *stream, cute_address to, uint8_t byte, size_t size,
                                      cute_diag *diag);
/* The event passes when the work given to the stream before is done; what is given to `stream` after cute_stream_wait
 * begins when the event has passed. */
CUTE_API cute_status cute_stream_record(cute_stream *stream, cute_device_event *event, cute_diag *diag);
CUTE_API cute_status cute_stream_wait(cute_stream *stream, cute_device_event *event, cute_diag *diag);
/* Waits for the stream's work; of faults see cute_device_sync. */
CUTE_API cute_status cute_stream_sync(cute_stream *stream, cute_diag *diag);

/* ---- time ---- */

/* Events and graphs belong to the device and go with it. Where no stream is named it is the device's own. */
CUTE_API cute_status cute_device_event_create(cute_device *device, cute_device_event **out, cute_diag *diag);
CUTE_API cute_status cute_device_event_record(cute_device *device, cute_device_event *event, cute_diag *diag);
/* Seconds between two events that have passed. */
CUTE_API cute_status cute_device_elapsed(cute_device *device, cute_device_event *from, cute_device_event *to,
                                         double *seconds, cute_diag *diag);
/* What is started between begin and end does not run but becomes a graph. The emulator has none: CUTE_INVALID. */
CUTE_API cute_status cute_device_graph_begin(cute_device *device, cute_diag *diag);
CUTE_API cute_status cute_device_graph_end(cute_device *device, cute_device_graph **out, cute_diag *diag);
CUTE_API cute_status cute_device_graph_start(cute_device *device, cute_device_graph *graph, cute_diag *diag);

#ifdef __cplusplus
}
#endif
#endif
