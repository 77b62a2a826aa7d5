/* What has to happen on the device: launches with their parameters as bytes, in which addresses are filled in
 * once memory exists. Made by comparing the config with what the kernels want. */
#ifndef CUTE_LIB_LAUNCH_PLAN_PLAN_H
#define CUTE_LIB_LAUNCH_PLAN_PLAN_H

#include "cute/cubin.h"
#include "cute/device.h"
#include "lib/launch/config/config.h"

typedef enum plan_fixup_kind {
    FIXUP_BUFFER,     /* the address of a buffer, plus bytes */
    FIXUP_MAP,        /* the 128 bytes of a tensor map */
    FIXUP_MAP_ADDRESS /* where that map lies in device memory */
} plan_fixup_kind;

typedef struct plan_fixup {
    plan_fixup_kind kind;
    size_t param; /* which of the kernel's parameters */
    int64_t at;   /* byte within it */
    size_t index; /* of the config's buffer, or of the plan's map */
    int64_t bytes;
} plan_fixup;

typedef struct plan_map {
    cute_tensor_map map; /* address: still to be filled in */
    size_t buffer;
    int64_t bytes; /* from the buffer's begin */
    bool in_memory;
    const char *text; /* for the report */
} plan_map;

typedef struct plan_launch {
    const config_launch *config;
    const cute_kernel *kernel;
    cute_device_launch shape;
    size_t param_count;
    uint8_t **params;
    int64_t *param_sizes;
    plan_fixup *fixups;
    size_t fixup_count;
    const char **arg_texts; /* one line an argument, for the report */
    size_t arg_count;
} plan_launch;

typedef struct plan_sequence {
    plan_launch *launches;
    size_t count;
} plan_sequence;

typedef struct cute_plan {
    const cute_config *config;
    const cute_module *module;
    plan_sequence main;
    plan_sequence *baselines; /* one for each of the bench's; empty for the driver's own */
    plan_map *maps;
    size_t map_count, map_capacity;
    uint8_t *used;        /* per buffer: some launch gets it */
    const char **symbols; /* per buffer: of a global its name in the module */
    uint8_t *writes;      /* per buffer: the metadata says that it is written */
} cute_plan;

/* What a device of an architecture allows, where no device is at hand. */
typedef struct plan_limits {
    const char *name; /* "sm_90" or the device's name */
    int64_t threads_block, block[3], grid[3], shared_optin, cluster;
} plan_limits;

/* Of a device, or (NULL) of the architecture by its name. */
plan_limits cute_plan_limits(const char *arch, const cute_device_info *device);

/* `kernel` (may be NULL) replaces what the config says. Everything is allocated in the config's arena. */
cute_status cute_plan_make(cute_config *config, const cute_module *module, const char *kernel,
                           const plan_limits *limits, cute_plan *out, cute_diag *diag);
/* Grid, block, cluster and shared memory of one launch against the kernel and the limits. */
cute_status cute_plan_shape(const cute_config *config, const config_launch *launch, const cute_kernel *kernel,
                            const plan_limits *limits, cute_device_launch *out, cute_diag *diag);
/* The parameters of one launch. */
cute_status cute_plan_bind(cute_plan *plan, plan_launch *launch, cute_diag *diag);
/* The same for a launch of a host function, whose arguments are numbers already. */
cute_status cute_plan_bind_host(cute_plan *plan, plan_launch *launch, cute_diag *diag);
/* An address that is filled in once memory exists. */
cute_status cute_plan_fixup(const cute_config *config, plan_launch *launch, plan_fixup fixup,
                            cute_diag *diag);
/* Loads what the device takes of a module; `label` names its PTX in messages and may be NULL. */
cute_status cute_launch_load(cute_device *device, const cute_module *module, const char *label,
                             cute_device_module **out, cute_diag *diag);
/* Whether a map is what the kernel's code counts on; else *expected and *got say what is not, in `arena`. */
bool cute_tensor_map_agrees(cute_arena *arena, const cute_arg *arg, const cute_tensor_map *map,
                            const char **expected, const char **got);
/* A tensor map as numbers. Dimensions from the fastest to the slowest; strides in bytes, [0] is not used. */
typedef struct tma_numbers {
    const char *tensor;  /* the argument, for messages */
    cute_tensor_map map; /* without address, extents and strides */
    int64_t dims[CUTE_MAP_RANK], strides[CUTE_MAP_RANK], modes[CUTE_MAP_RANK];
} tma_numbers;
/* The map of `bytes` behind the begin of a buffer. CUTE_INVALID where no tensor map has such numbers. */
cute_status cute_plan_tma_map(cute_plan *plan, const cute_path *path, const tma_numbers *numbers,
                              size_t buffer, int64_t bytes, bool in_memory, size_t *index, cute_diag *diag);
/* Whether the metadata says of which other argument the map is: a launch need not give it. */
bool cute_arg_is_made(const cute_kernel *kernel, const cute_arg *arg);
/* Such a map, of the buffer that the other argument was given. */
cute_status cute_plan_tma_map_of(cute_plan *plan, const cute_path *path, const cute_kernel *kernel,
                                 const cute_arg *arg, const config_buffer *buffer, int64_t bytes,
                                 size_t *index, cute_diag *diag);
/* A tensor map over a buffer: `json` its description (NULL: all from the metadata), `arg` what the kernel
 * says (may be NULL). Every rule of cuTensorMapEncodeTiled is checked by name. */
cute_status cute_plan_map(cute_plan *plan, const json_t *json, const cute_path *path,
                          const config_buffer *buffer, const cute_arg *arg, size_t *index, cute_diag *diag);

#endif
