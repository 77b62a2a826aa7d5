/* What can be chosen of the emulator, and what it counts. */
#ifndef CUTE_EMULATOR_OPTIONS_H
#define CUTE_EMULATOR_OPTIONS_H

#include "cute/base.h"

/* `size` is sizeof(cute_emulator_options); zeros elsewhere are the defaults. */
typedef struct cute_emulator_options {
    size_t size;
    int64_t seed; /* 0: asynchronous work completes when it is issued and warps run in order; another seed is
                        another schedule, the same each time */
    int64_t
        threads; /* of the host that run blocks, up to 1024; 0: as many as processors, at most 16. One where
                        launches are cooperative, are checked, have a seed, or allocate memory */
    double timeout; /* seconds that a launch may take; 0: any number */
    double
        patience; /* seconds without a change of memory after which a kernel is given up and explained; 0: any number */
    uint32_t checks; /* CUTE_CHECK_... (cute/checks.h), or-ed */
    bool counters;   /* of each line and kernel, for cute_emulator_counters_json */
    /* What kernels print (vprintf), in the order of the blocks; NULL: dropped. `text` is not terminated. */
    void (*print)(void *context, const char *text, size_t length);
    /* Called now and then while a kernel gets on, by one thread at a time. May be NULL. */
    void (*heartbeat)(void *context);
    void *context;           /* given to both */
    int64_t multiprocessors; /* that the device has, up to 4096; 0: the 132 of an H100 */
    /* Findings that are warnings, whatever they would be: allow_count texts "CHECK" or "CHECK@FILE:LINE", several with commas
     * between them; CHECK is a name of cute/checks.def, FILE the end of the path of a source or of the PTX. They have to
     * outlive the device. */
    const char *const *allow;
    size_t allow_count;
} cute_emulator_options;

/* What kernels did. Read only: later versions may have more at the end. */
typedef struct cute_emulator_counts {
    uint64_t instructions, lanes;                                      /* of warps; of their active lanes */
    uint64_t global_read, global_written, shared_read, shared_written; /* bytes */
    uint64_t divergences, barriers;
    uint64_t mma_flops;
} cute_emulator_counts;

#endif
