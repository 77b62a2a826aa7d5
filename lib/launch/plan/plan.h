/* Plans: the launches of a config, checked against its kernels, with parameters as bytes. Addresses are
 * filled in once memory is allocated. */
#ifndef CUTE_LIB_LAUNCH_PLAN_PLAN_H
#define CUTE_LIB_LAUNCH_PLAN_PLAN_H

#include "cute/cubin.h"
#include "cute/device.h"
#include "lib/launch/config/config.h"
#include "lib/ranks/comm.h"

typedef enum plan_fixup_kind {
    FIXUP_BUFFER,      /* the address of a buffer or temporary, plus bytes */
    FIXUP_MAP,         /* the 128 bytes of a tensor map */
    FIXUP_MAP_ADDRESS, /* the address of a tensor map in device memory */
    FIXUP_TEXTURE,     /* the handle of a texture or surface object */
    FIXUP_PEERS        /* the address of the table with each rank's address of a buffer */
} plan_fixup_kind;

typedef struct plan_fixup {
    plan_fixup_kind kind;
    size_t param; /* index of the kernel's parameter */
    int64_t at;   /* byte offset in it */
    size_t index; /* of the plan's memory, or of its map or texture */
    int64_t bytes;
    int64_t peer; /* FIXUP_BUFFER: 1 + the rank whose memory it is; 0: the own */
} plan_fixup;

typedef struct plan_map {
    cute_tensor_map map; /* the address is filled in later */
    size_t buffer;       /* index of the plan's memory */
    int64_t bytes;       /* offset from its start */
    bool in_memory;
    const char *text; /* for the report */
    size_t rank;      /* whose memory it describes */
} plan_map;

typedef struct plan_texture {
    cute_texture texture; /* the address is filled in later */
    size_t buffer;
    int64_t bytes;    /* offset from its start */
    const char *text; /* for the report */
    size_t rank;      /* whose memory it is of */
} plan_texture;

/* A texture on a device. */
typedef struct plan_texture_object {
    cute_device_texture *object;
    uint64_t handle;
    cute_address address; /* that it was made of */
} plan_texture_object;

/* A temporary of a host function, of one of its runs in a sequence, or a named one of launch.json, which come first. */
typedef struct plan_temporary {
    host_temporary memory;
    const char
        *name;  /* "temporary 0 of plan 'sum'": the same in each run of that function; "temporary 'sums'" */
    size_t run; /* number of the run; those of different runs may share memory. Of a named one: 0 */
} plan_temporary;

typedef struct plan_launch {
    const config_launch *config;
    const cute_kernel *kernel;
    cute_device_launch shape;
    size_t param_count;
    uint8_t **params;
    int64_t *param_sizes;
    plan_fixup *fixups;
    size_t fixup_count;
    const char **arg_texts; /* one line for each argument, for the report */
    size_t arg_count;
} plan_launch;

/* A step of the sequence. Its addresses are offsets in bytes in the plan's memory of that index. */
typedef struct plan_step {
    const config_step *config;
    const host_step *step;
    size_t to, from;
    int64_t to_bytes, from_bytes;
    size_t first_fill, fill_count; /* the first step of a run: the temporaries to fill before it */
} plan_step;

typedef struct plan_sequence {
    plan_launch *launches;
    size_t count;
    plan_step *steps;
    size_t step_count;
    int streams, events; /* numbers of them; the streams include the default stream */
} plan_sequence;

typedef struct cute_plan {
    const cute_config *config;
    const cute_module *module;
    plan_sequence main;
    plan_sequence
        *others; /* the same launches with the arguments of ranks 1, 2, ...; config->ranks - 1 of them */
    plan_sequence *baselines; /* one for each baseline; empty for copies, fills and cuBLAS */
    plan_map *maps;
    size_t map_count, map_capacity;
    plan_texture *textures;
    size_t texture_count, texture_capacity;
    /* The plan's memory is indexed by the config's buffers, then these. */
    plan_temporary *temporaries;
    size_t temporary_count, temporary_capacity;
    size_t first_temporary, run_count; /* while launches are bound: of the current run; runs count from 1 */
    uint8_t *used;                     /* per buffer: an argument of some launch */
    const char **symbols;              /* per buffer: a global's symbol in the module */
    uint8_t *writes;                   /* per buffer: written according to the metadata */
} cute_plan;

/* Launch limits of a device or architecture. */
typedef struct plan_limits {
    const char *name; /* "sm_90" or the device's name */
    int64_t threads_block, block[3], grid[3], shared_optin, cluster;
} plan_limits;

/* The limits of `device`, or if NULL of `arch`. */
plan_limits cute_plan_limits(const char *arch, const cute_device_info *device);

/* `kernel` (may be NULL) overrides the config's. Everything is allocated in the config's arena. */
cute_status cute_plan_make(cute_config *config, const cute_module *module, const char *kernel,
                           const plan_limits *limits, cute_plan *out, cute_diag *diag);
/* Checks a launch's grid, block, cluster and shared memory against the kernel and the limits. */
cute_status cute_plan_shape(const cute_config *config, const config_launch *launch, const cute_kernel *kernel,
                            const plan_limits *limits, cute_device_launch *out, cute_diag *diag);
/* The rank whose arguments are being bound; 0 if there are no others. */
static inline size_t cute_plan_rank(const cute_plan *plan)
{
    return plan->config->rank > 0 ? (size_t)plan->config->rank : 0;
}
/* Binds the parameters of a launch. */
cute_status cute_plan_bind(cute_plan *plan, plan_launch *launch, cute_diag *diag);
/* The same for a launch by a host function, whose arguments are numbers. */
cute_status cute_plan_bind_host(cute_plan *plan, plan_launch *launch, cute_diag *diag);
/* Adds the named temporaries of launch.json, before any run. */
cute_status cute_plan_add_named(cute_plan *plan, cute_diag *diag);
/* Starts the run of a host function, whose steps are bound next: adds its temporaries, which `first`, its first
 * step, fills. */
cute_status cute_plan_begin_run(cute_plan *plan, const config_plan *source, plan_step *first,
                                cute_diag *diag);
/* Places the temporaries in one workspace behind the named ones, where those of different runs overlap unless the sequence has
 * several streams: the offset of each, multiples of 256, into `offsets`. False if the sum exceeds 64 bits. */
bool cute_plan_place_temporaries(const cute_plan *plan, int64_t *offsets, int64_t *bytes);
/* The index of the plan's memory that an address refers to; *begin is the offset in bytes of its first element. `source`: the
 * host function; NULL: the address has the index of a buffer. */
size_t cute_plan_locate(const cute_plan *plan, const config_plan *source, const host_number *address,
                        int64_t *begin);
/* Resolves the addresses of a step and checks that copies and fills are in bounds. */
cute_status cute_plan_bind_step(cute_plan *plan, plan_step *step, cute_diag *diag);
/* Warns about steps on different streams that access the same memory without an event between them. */
void cute_plan_check_streams(const cute_plan *plan, const plan_sequence *sequence, cute_diag *diag);

/* A sequence on a device. `memory` has the addresses of the plan's memory. */
typedef struct plan_run {
    const cute_plan *plan;
    const plan_sequence *sequence;
    cute_device *device;
    const cute_address *memory;
    cute_device_function *const *functions; /* per launch */
    void **const *params;                   /* per launch: pointers to each parameter's bytes */
    cute_stream **streams;                  /* [0]: the sequence's own; NULL: the device's default stream */
    cute_device_event **events, **marks;    /* marks: one for each stream */
    const struct plan_run *others; /* those of the other ranks of an emulator, whose steps start with these */
    size_t other_count;
    cute_comm *comm; /* of collectives; NULL: one rank */
    const plan_texture_object *textures;
    const int *windows;   /* per buffer that others put into, its number */
    int64_t window_front; /* bytes of a window in front of the buffer */
} plan_run;
/* Creates the streams and events of `run`, whose other members are set; arrays are in `arena`, handles are released with the device. */
cute_status cute_plan_open_streams(plan_run *run, cute_arena *arena, cute_diag *diag);
/* Starts all steps, between cute_plan_fork and cute_plan_join. */
cute_status cute_plan_start_steps(const plan_run *run, cute_diag *diag);
/* The other streams wait for earlier work of stream 0; stream 0 waits for their work. */
cute_status cute_plan_fork(const plan_run *run, cute_diag *diag);
cute_status cute_plan_join(const plan_run *run, cute_diag *diag);
cute_status cute_plan_start_step(const plan_run *run, size_t step, cute_diag *diag);
/* The argument that parameter `param` belongs to; NULL: the module does not say. */
const cute_arg *cute_kernel_arg_of(const cute_kernel *kernel, size_t param);
/* Copies the elements of a simplified box. */
cute_status cute_plan_copy_box(const plan_run *run, const host_box *box, cute_address to, cute_address from,
                               cute_stream *stream, cute_diag *diag);
/* The bytes from the first to the last that a copy or fill accesses. */
int64_t cute_plan_step_span(const host_step *step, bool target);
/* Room for a parameter of `size` bytes, aligned as tensor maps require. */
uint8_t *cute_plan_param_room(cute_arena *arena, int64_t size);
/* A copy of the bytes of each parameter, for cute_plan_apply_fixups. */
cute_status cute_plan_copy_params(cute_arena *arena, const plan_launch *launch, void ***out, cute_diag *diag);
/* The 128 bytes of a tensor map; `memory` as for cute_plan_fill. */
cute_status cute_plan_encode_map(const plan_map *map, const cute_address *memory, cute_device *device,
                                 uint8_t *out, cute_diag *diag);
/* Makes a texture or surface object and loads its array; `memory` as for cute_plan_fill. */
cute_status cute_plan_open_texture(const plan_texture *texture, const cute_address *memory,
                                   cute_device *device, plan_texture_object *out, cute_diag *diag);
/* The copies between arrays of textures and memory that a launch needs, before or after it. */
cute_status cute_plan_move_textures(const plan_run *run, const plan_launch *launch, bool after,
                                    cute_stream *stream, cute_diag *diag);
/* Writes addresses, encoded maps and handles into parameters. `map_addresses` may be NULL if no map is in device memory. Addresses
 * that involve other ranks are left out. */
void cute_plan_apply_fixups(const plan_launch *launch, void **params, const cute_address *memory,
                            uint8_t (*maps)[CUTE_MAP_BYTES], const cute_address *map_addresses,
                            const plan_texture_object *textures);
/* Adds a fixup. */
cute_status cute_plan_fixup(const cute_config *config, plan_launch *launch, plan_fixup fixup,
                            cute_diag *diag);
/* Loads the module's image for the device: PTX for the emulator. `label` names it in messages; may be
 * NULL. */
cute_status cute_launch_load(cute_device *device, const cute_module *module, const char *label,
                             cute_device_module **out, cute_diag *diag);
/* Whether a map matches the kernel's metadata; if not, *expected and *got describe the difference, in
 * `arena`. */
bool cute_tensor_map_agrees(cute_arena *arena, const cute_arg *arg, const cute_tensor_map *map,
                            const char **expected, const char **got);
/* A tensor map as numbers. Dimensions from the fastest to the slowest; strides in bytes, [0] is not used. */
typedef struct tma_numbers {
    const char *tensor;  /* the argument's name, for messages */
    cute_tensor_map map; /* without address, extents and strides */
    int64_t dims[CUTE_MAP_RANK], strides[CUTE_MAP_RANK], modes[CUTE_MAP_RANK];
} tma_numbers;
/* Adds a map of a buffer from byte offset `bytes`. CUTE_INVALID: the numbers violate a rule of tensor
 * maps. */
cute_status cute_plan_tma_map(cute_plan *plan, const cute_path *path, const tma_numbers *numbers,
                              size_t buffer, int64_t bytes, bool in_memory, size_t *index, cute_diag *diag);
/* Whether the map is derived from another argument, according to the metadata, so that a launch need not give
 * it. */
bool cute_arg_is_derived(const cute_kernel *kernel, const cute_arg *arg);
/* The static part of such a map; false: it is not derived. */
bool cute_arg_map_read(const cute_kernel *kernel, const cute_arg *arg, cute_tensor_map *map);
/* Adds such a map, of the buffer that the other argument is bound to. */
cute_status cute_plan_tma_map_of(cute_plan *plan, const cute_path *path, const cute_kernel *kernel,
                                 const cute_arg *arg, const config_buffer *buffer, int64_t bytes,
                                 size_t *index, cute_diag *diag);
/* Adds a tensor map of a buffer, described by `json` (NULL: by the metadata only) and the kernel's metadata
 * `arg` (may be NULL). Checks every rule of cuTensorMapEncodeTiled. */
cute_status cute_plan_map(cute_plan *plan, const json_t *json, const cute_path *path,
                          const config_buffer *buffer, const cute_arg *arg, size_t *index, cute_diag *diag);

/* Adds a texture or surface object of a buffer, described by `json`. Checks every rule of the driver. */
cute_status cute_plan_texture(cute_plan *plan, const json_t *json, const cute_path *path,
                              const config_buffer *buffer, bool surface, size_t *index, cute_diag *diag);

#endif
