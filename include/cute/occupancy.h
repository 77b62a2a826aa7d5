/* How many blocks of a kernel a multiprocessor holds and which resource limits that. The result is that of
 * cuOccupancyMaxActiveBlocksPerMultiprocessor, for any architecture and without a GPU.
 *
 * Structs begin with `size`, which the caller sets to sizeof the struct; zero in any other field selects the
 * default. */
#ifndef CUTE_OCCUPANCY_H
#define CUTE_OCCUPANCY_H

#include "cute/cubin.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct cute_occupancy_input {
    size_t size;
    const char *arch;                  /* "sm_90a", in any spelling that the tools accept */
    int64_t threads;                   /* per block, 1 to 1024 */
    int64_t registers;                 /* per thread */
    int64_t static_smem, dynamic_smem; /* bytes per block, without the system's reservation */
    int64_t barriers;                  /* named barriers that the kernel uses */
    bool has_carveout;                 /* false: the largest shared memory */
    int64_t carveout;                  /* shared memory in percent of the maximum; the rest is L1 */
    int64_t cluster;                   /* blocks per cluster; 0: no clusters */
    /* Multiprocessors of each GPC, to count clusters: a GPC holds a cluster only if it has at least as many
     * multiprocessors as the cluster has blocks; at most 8 blocks of clusters count per multiprocessor. NULL:
     * unknown. */
    const int64_t *gpcs;
    size_t gpc_count;
} cute_occupancy_input;

/* A resource that allows no further block. */
typedef enum cute_occupancy_limit {
    CUTE_LIMIT_WARPS = 1,
    CUTE_LIMIT_REGISTERS = 2,
    CUTE_LIMIT_SHARED = 4,
    CUTE_LIMIT_BARRIERS = 8,
    CUTE_LIMIT_BLOCKS = 16
} cute_occupancy_limit;

typedef struct cute_occupancy {
    size_t size;
    int64_t blocks;           /* per multiprocessor; 0: the kernel cannot be launched */
    int64_t warps, max_warps; /* per multiprocessor */
    double fraction;          /* warps / max_warps */
    const char *limit;        /* the first of `limits`: "warps", "registers", "shared memory", ... */
    unsigned limits;          /* CUTE_LIMIT_* of all limiting resources */
    int64_t block_registers, block_smem; /* used by a block, rounded up and including the reservation */
    int64_t registers, smem;             /* of the multiprocessor; smem with this carveout */
    /* blocks allowed by each resource alone; INT64_MAX: it does not limit */
    int64_t by_warps, by_registers, by_smem, by_barriers, by_blocks;
    int64_t clusters; /* of the GPU; -1: no clusters, or its GPCs are unknown */
} cute_occupancy;

/* The largest value of each resource with which a multiprocessor still holds a number of blocks, the other
 * resources being unlimited; -1: no value suffices. */
typedef struct cute_occupancy_most {
    size_t size;
    int64_t threads; /* per block, in whole warps, with the given registers */
    int64_t registers, barriers;
    int64_t smem;       /* bytes per block, static and dynamic */
    int64_t max_blocks; /* the limit on blocks, whatever their resources */
} cute_occupancy_most;

/* CUTE_USAGE: an architecture that is unknown or has no published limits, or a number that no launch can have
 * (more than 1024 threads, negative sizes). Exceeding the registers or shared memory is not an error: 0
 * blocks. */
CUTE_API cute_status cute_occupancy_compute(const cute_occupancy_input *input, cute_occupancy *out,
                                            cute_diag *diag);
/* The largest resources that allow `blocks` blocks. With the `blocks` of cute_occupancy_compute: how much
 * each resource can grow without loss; with one more: how far each must shrink. */
CUTE_API cute_status cute_occupancy_find_most(const cute_occupancy_input *input, int64_t blocks,
                                              cute_occupancy_most *out, cute_diag *diag);
/* The resources stated by a compiled kernel: registers, shared memory, barriers, and the block size that it
 * requires, is launched with, or allows at most. threads 0: not stated; dynamic shared memory known only at
 * launch is 0. CUTE_INVALID: the module is PTX, which has no register count yet. `module` must outlive the
 * use of `out`. */
CUTE_API cute_status cute_occupancy_of_kernel(const cute_module *module, const cute_kernel *kernel,
                                              cute_occupancy_input *out, cute_diag *diag);

#ifdef __cplusplus
}
#endif
#endif
