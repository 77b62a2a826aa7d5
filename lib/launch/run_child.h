/* The state of a run within the child process: shared by run.c and run_ranks.c. */
#ifndef CUTE_LIB_LAUNCH_RUN_CHILD_H
#define CUTE_LIB_LAUNCH_RUN_CHILD_H

#include "lib/launch/run.h"
#include "lib/ranks/comm.h"

typedef struct loaded_sequence {
    cute_device_function **functions; /* per launch of a sequence */
    void ***params;                   /* per launch: pointers to each parameter's bytes */
    plan_run run;                     /* after fill_sequences */
} loaded_sequence;

/* The memory of a rank, and its arguments of the main sequence, as in loaded_sequence. */
typedef struct rank_memory {
    cute_address *buffers; /* of the config, then temporaries */
    cute_address *tables;  /* by buffer: the table of each rank's address; 0: none */
    void ***params;
} rank_memory;

struct run_child {
    const run_request *request;
    struct run_shared *shared;
    run_result *result;
    cute_arena *arena;
    cute_device *device;
    cute_device_module *module;
    cute_address *buffers, *map_addresses; /* buffers: of the selected rank */
    plan_texture_object *textures;         /* of the plan */
    cute_comm *comm;                       /* with other processes; NULL: there are none */
    int *windows;                          /* per buffer, its number in `comm` */
    loaded_sequence *sequences;            /* 1 + baselines */
    rank_memory *ranks;
    size_t rank; /* the selected one */
    double phase_began;
    trace_recorder trace;
};

/* Sizes of the guards on the device. The emulator detects other out-of-bounds accesses itself; its guard only
 * permits kernels to read a little beyond the end of a buffer. */
typedef struct guard_sizes {
    size_t front, back;
} guard_sizes;
guard_sizes run_guards(const run_child *c);

/* ---- run_ranks.c ---- */

size_t run_rank_count(const run_child *c);
/* Allocates the lists of addresses of all ranks, and selects the first. */
cute_status run_make_ranks(run_child *c, cute_diag *diag);
/* Later allocations, and c->buffers, are those of this rank. */
cute_status run_select_rank(run_child *c, size_t rank, cute_diag *diag);
/* The rank's part of a buffer: an offset in its data, in bytes, and a size. */
size_t run_piece(const run_child *c, const config_buffer *buffer, size_t *bytes);
/* "x", or with several ranks "x of rank 1". NULL: memory is exhausted. */
const char *run_name(const run_child *c, const char *name);
/* Fills in the arguments of the other ranks, and the addresses of other ranks' memory in those of all; the main run starts
 * the others. `maps`: encoded. */
cute_status run_fill_ranks(run_child *c, uint8_t (*maps)[CUTE_MAP_BYTES], cute_diag *diag);
/* Downloads the parts of buffers, with guards, of all ranks but the first. CUTE_MISMATCH: copies of a
 * checked or output buffer differ. */
cute_status run_download_ranks(run_child *c, cute_diag *diag);

#endif
