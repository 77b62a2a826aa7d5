/* One interface to what runs kernels. A device is opened by name and number; memory, modules and time
 * are used through it. Not thread-safe: one thread per device. */
#ifndef CUTE_DEVICE_H
#define CUTE_DEVICE_H

#include "cute/base.h"
#include "cute/checks.h"
#include "cute/tensor_map.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct cute_device cute_device;
typedef struct cute_device_module cute_device_module;
typedef struct cute_device_function cute_device_function;
typedef struct cute_device_event cute_device_event;
typedef struct cute_device_graph cute_device_graph;

/* Numbers that the device does not tell are 0. */
typedef struct cute_device_info {
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
    int64_t grid[3], block[3];
    int64_t cluster[3]; /* zeros: none given */
    int64_t dynamic_smem;
    bool cooperative;
    bool programmatic; /* may start while the launch before it ends (programmatic stream serialization) */
} cute_device_launch;

typedef struct cute_function_info {
    int64_t registers, static_smem, local_bytes, constant_bytes, threads_limit;
} cute_function_info;

/* How many devices there are. CUTE_SYSTEM when there is no driver; the message says what was looked for. */
CUTE_API cute_status cute_device_count(int *out, cute_diag *diag);
/* Opens device `index`: the driver found as $CUTE_LIBCUDA, else libcuda.so.1. */
CUTE_API cute_status cute_device_open(int index, cute_device **out, cute_diag *diag);
/* Opens the emulator, which runs PTX on the CPU: images are PTX text. With seed 0 asynchronous work completes when
 * it is issued and warps run in order; another seed is another schedule, the same each time. */
CUTE_API cute_status cute_device_open_emulator(uint64_t seed, cute_device **out, cute_diag *diag);
/* What kernels did since the emulator was opened; false on a device that does not count. */
typedef struct cute_device_counts {
    uint64_t instructions, lanes; /* of warps; of their lanes that were on */
    uint64_t global_read, global_written, shared_read, shared_written; /* bytes */
    uint64_t divergences, barriers, mma_flops;
} cute_device_counts;
CUTE_API bool cute_device_get_counts(const cute_device *device, cute_device_counts *out);
/* Turns checks on, before memory is allocated. What they find becomes errors in the diag of cute_device_start,
 * which succeeds all the same. Another device than the emulator: CUTE_INVALID. */
CUTE_API cute_status cute_device_set_checks(cute_device *device, unsigned checks, cute_diag *diag);
/* Tells the checks what an allocation is: the buffer `name` of `size` bytes, and whether they have contents. Other
 * devices ignore it. */
CUTE_API cute_status cute_device_describe_buffer(cute_device *device, cute_address address, const char *name,
                                                 size_t size, bool written, cute_diag *diag);
/* What was found so far and the counts by line, as JSON text (docs/emulator-checks.md), malloc'ed; NULL without
 * checks. */
CUTE_API char *cute_device_check_report(const cute_device *device);
/* Of the emulator; other devices need none of it. */
typedef struct cute_device_settings {
    const char *label; /* names the PTX in messages; NULL: "<ptx>". Must outlive the device */
    void (*heartbeat)(
        void *context); /* called now and then while a kernel gets on, by one thread at a time; may be NULL */
    void *context;
    int threads; /* of the host that run blocks; 0: as many as processors, at most 16. One where launches are cooperative,
                    are checked, have a seed, or allocate memory */
    double timeout; /* seconds that a launch may take; 0: any number */
    double
        patience; /* seconds without a change of memory after which a kernel is given up and explained; 0: none */
    bool counters; /* by kernel and line, for cute_device_counters_report */
} cute_device_settings;
/* What kernels did so far, by class of instruction, space and line, as JSON text (cute-run(1)), malloc'ed; NULL
 * without settings.counters. */
CUTE_API char *cute_device_counters_report(const cute_device *device);
CUTE_API void cute_device_configure(cute_device *device, const cute_device_settings *settings);
/* What device `index` is, without making a context on it. */
CUTE_API cute_status cute_device_query(int index, cute_device_info *out, cute_diag *diag);
/* Releases everything that was allocated on it. NULL is taken. */
CUTE_API void cute_device_close(cute_device *device);
CUTE_API const cute_device_info *cute_device_get_info(const cute_device *device);

/* Memory. Copies and fills run in order with the launches; uploads and downloads wait until they are done. */
CUTE_API cute_status cute_device_alloc(cute_device *device, size_t size, cute_address *out, cute_diag *diag);
CUTE_API cute_status cute_device_free(cute_device *device, cute_address address, cute_diag *diag);
CUTE_API cute_status cute_device_upload(cute_device *device, cute_address to, const void *from, size_t size,
                                        cute_diag *diag);
CUTE_API cute_status cute_device_download(cute_device *device, void *to, cute_address from, size_t size,
                                          cute_diag *diag);
CUTE_API cute_status cute_device_copy(cute_device *device, cute_address to, cute_address from, size_t size,
                                      cute_diag *diag);
CUTE_API cute_status cute_device_fill(cute_device *device, cute_address to, uint8_t byte, size_t size,
                                      cute_diag *diag);

/* Code. An image is a cubin, a fatbin or PTX text (terminated). What the driver's compiler said becomes
 * remarks, or notes of the error. */
CUTE_API cute_status cute_device_load(cute_device *device, const void *image, cute_device_module **out,
                                      cute_diag *diag);
CUTE_API cute_status cute_device_get_function(cute_device *device, cute_device_module *module,
                                              const char *name, cute_device_function **out, cute_diag *diag);
CUTE_API cute_status cute_device_function_info(cute_device *device, cute_device_function *function,
                                               cute_function_info *out, cute_diag *diag);
/* The size of parameter `index` as the driver sees it; false behind the last or when it cannot tell. */
CUTE_API bool cute_device_param_size(cute_device *device, cute_device_function *function, size_t index,
                                     size_t *size);
/* Asks for what the launch needs (shared memory above the default, large clusters) and refuses what the
 * device cannot hold at once. Once before launches of that shape. */
CUTE_API cute_status cute_device_prepare(cute_device *device, cute_device_function *function,
                                         const cute_device_launch *launch, cute_diag *diag);
/* Starts a kernel; `params` points to each parameter's bytes. A fault shows at the next sync. */
CUTE_API cute_status cute_device_start(cute_device *device, cute_device_function *function,
                                       const cute_device_launch *launch, void *const *params,
                                       cute_diag *diag);
CUTE_API cute_status cute_device_encode_map(cute_device *device, const cute_tensor_map *map,
                                            uint8_t out[CUTE_MAP_BYTES], cute_diag *diag);
/* Waits for all work; its printf output is on stdout then. A fault of a kernel is CUTE_INVALID with the
 * driver's name and text for it; the device is unusable in this process afterwards. */
CUTE_API cute_status cute_device_sync(cute_device *device, cute_diag *diag);

/* Time. Events and graphs belong to the device and go with it. */
CUTE_API cute_status cute_device_event_create(cute_device *device, cute_device_event **out, cute_diag *diag);
CUTE_API cute_status cute_device_event_record(cute_device *device, cute_device_event *event, cute_diag *diag);
/* Seconds between two events that have passed. */
CUTE_API cute_status cute_device_elapsed(cute_device *device, cute_device_event *from, cute_device_event *to,
                                         double *seconds, cute_diag *diag);
/* What is started between begin and end does not run but becomes a graph. */
CUTE_API cute_status cute_device_graph_begin(cute_device *device, cute_diag *diag);
CUTE_API cute_status cute_device_graph_end(cute_device *device, cute_device_graph **out, cute_diag *diag);
CUTE_API cute_status cute_device_graph_start(cute_device *device, cute_device_graph *graph, cute_diag *diag);

#ifdef __cplusplus
}
#endif
#endif
