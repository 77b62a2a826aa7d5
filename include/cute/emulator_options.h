/* The options and counts of the emulator. */
#ifndef CUTE_EMULATOR_OPTIONS_H
#define CUTE_EMULATOR_OPTIONS_H

#include "cute/base.h"

/* `size` is sizeof(cute_emulator_options); zero in any other field selects the default. */
typedef struct cute_emulator_options {
    size_t size;
    /* 0: asynchronous operations complete when they are issued and warps run in order; any other seed
     * selects a different, reproducible schedule */
    int64_t seed;
    /* Host threads that run blocks, at most 1024; 0: one per processor, at most 16. Launches that are
     * cooperative, checked or seeded, or that allocate memory, use one */
    int64_t threads;
    double timeout; /* seconds per launch; 0: unlimited */
    /* Seconds without a change of memory after which a kernel is stopped and the hang explained; 0:
     * unlimited */
    double patience;
    uint32_t checks; /* bits of CUTE_CHECK_... (cute/checks.h) */
    bool counters;   /* per line and kernel, for cute_emulator_counters_json */
    /* Receives output of kernels (vprintf) in block order; NULL: dropped. `text` is not NUL-terminated. */
    void (*print)(void *context, const char *text, size_t length);
    /* Called now and then while a kernel makes progress, by one thread at a time. May be NULL. */
    void (*heartbeat)(void *context);
    void *context;           /* passed to both */
    int64_t multiprocessors; /* of the device, at most 4096; 0: 132, as an H100 */
    /* Findings to downgrade to warnings: allow_count texts "CHECK" or "CHECK@FILE:LINE", or several separated
     * by commas; CHECK is a name in cute/checks.def, FILE a suffix of the path of a source or of the PTX.
     * They must outlive the device. */
    const char *const *allow;
    size_t allow_count;
    bool timeline;          /* of one block of each launch, for cute_emulator_timeline_json */
    int64_t timeline_block; /* its number in the grid, x fastest */
    /* Plugins (cute/plugin.h) whose checks can be selected: bit 17 of `checks` is the first of them. They must outlive
     * the device. */
    const struct cute_plugins *plugins;
    /* Devices (ranks) of the emulator, at most 16; 0: one. Each has its own memory and variables, and can access
     * those of the others. Launches run on all of them at the same time (cute_emulator_start_all). */
    int64_t devices;
} cute_emulator_options;

/* Execution counts. Read only: later versions may add fields at the end. */
typedef struct cute_emulator_counts {
    uint64_t instructions, lanes; /* instructions per warp; active lanes */
    uint64_t global_read, global_written, shared_read, shared_written; /* bytes */
    uint64_t divergences, barriers;
    uint64_t mma_flops;
} cute_emulator_counts;

#endif
