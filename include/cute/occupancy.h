/* How many blocks of a kernel one multiprocessor holds and what limits that, by the rules of the driver: the answer is that
 * of cuOccupancyMaxActiveBlocksPerMultiprocessor, for any architecture and without a GPU.
 *
 * Structs begin with `size`, which the caller sets to sizeof the struct; other fields that are zero are the default. */
#ifndef CUTE_OCCUPANCY_H
#define CUTE_OCCUPANCY_H

#include "cute/cubin.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct cute_occupancy_input {
    size_t size;
    const char *arch;                  /* "sm_90a", in any spelling that the tools take */
    int64_t threads;                   /* of a block, 1 to 1024 */
    int64_t registers;                 /* of a thread */
    int64_t static_smem, dynamic_smem; /* bytes of a block, without what the system reserves */
    int64_t barriers;                  /* named barriers that the kernel uses */
    bool has_carveout;                 /* false: as much shared memory as there is */
    int64_t carveout;                  /* percent of the most shared memory; the rest is L1 */
    int64_t cluster;                   /* blocks of a cluster; 0: there are none */
    const int64_t *gpcs; /* multiprocessors of each GPC, for the number of clusters, each of which
                          * goes to a GPC with a multiprocessor for each of its blocks, and of which
                          * no more than 8 blocks are counted on one; NULL: not known */
    size_t gpc_count;
} cute_occupancy_input;

/* What allows no more blocks. */
typedef enum cute_occupancy_limit {
    CUTE_LIMIT_WARPS = 1,
    CUTE_LIMIT_REGISTERS = 2,
    CUTE_LIMIT_SHARED = 4,
    CUTE_LIMIT_BARRIERS = 8,
    CUTE_LIMIT_BLOCKS = 16
} cute_occupancy_limit;

typedef struct cute_occupancy {
    size_t size;
    int64_t blocks;                      /* of a multiprocessor; 0: the kernel cannot be launched so */
    int64_t warps, max_warps;            /* of a multiprocessor */
    double fraction;                     /* warps / max_warps */
    const char *limit;                   /* the first of limits: "warps", "registers", "shared memory", ... */
    unsigned limits;                     /* CUTE_LIMIT_* of all that allow no more */
    int64_t block_registers, block_smem; /* what a block takes, rounded up and with what is reserved */
    int64_t registers, smem;             /* what the multiprocessor has; smem with this carveout */
    /* how many blocks each of them would allow; INT64_MAX: it limits nothing */
    int64_t by_warps, by_registers, by_smem, by_barriers, by_blocks;
    int64_t clusters; /* of the GPU; -1: there are none, or its GPCs are not known */
} cute_occupancy;

/* The most of each with which a multiprocessor holds a number of blocks as far as it alone goes; -1: not with any. */
typedef struct cute_occupancy_most {
    size_t size;
    int64_t threads; /* of a block; whole warps, with the registers as they are */
    int64_t registers, barriers;
    int64_t smem;       /* bytes of a block, static and dynamic */
    int64_t max_blocks; /* that there may be whatever they take */
} cute_occupancy_most;

/* CUTE_USAGE: an architecture that is not known or of which no limits are published, or a number that no launch can have
 * (more than 1024 threads, negative sizes). More registers or shared memory than there are is no error: 0 blocks. */
CUTE_API cute_status cute_occupancy_compute(const cute_occupancy_input *input, cute_occupancy *out,
                                            cute_diag *diag);
/* What would do for `blocks` blocks. With those of cute_occupancy_compute: how much more of each may be taken for
 * nothing; with one more: how much less of each has to be taken. */
CUTE_API cute_status cute_occupancy_find_most(const cute_occupancy_input *input, int64_t blocks,
                                              cute_occupancy_most *out, cute_diag *diag);
/* What a compiled kernel states: registers, shared memory, barriers, the block that it requires, is launched with or
 * allows at most. threads 0: it states none; dynamic shared memory that only the launch knows is 0. CUTE_INVALID:
 * the module is PTX, which has no registers yet. `module` has to live as long as `out` is used. */
CUTE_API cute_status cute_occupancy_of_kernel(const cute_module *module, const cute_kernel *kernel,
                                              cute_occupancy_input *out, cute_diag *diag);

#ifdef __cplusplus
}
#endif
#endif
