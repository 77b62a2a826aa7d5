/* The schedules of tile programs: roles, buffers and who waits for whom, from the metadata of kernels (docs/metadata.md). One
 * value, printed as text, JSON and SVG. */
#ifndef CUTE_LIB_REPORT_SCHEDULE_SCHEDULE_H
#define CUTE_LIB_REPORT_SCHEDULE_SCHEDULE_H

#include "cute/cubin.h"
#include "lib/base/text/json.h"

enum { SCHEDULE_RANK = 8 };
typedef struct schedule_extents {
    int64_t extent[SCHEDULE_RANK];
    size_t rank;
} schedule_extents;

/* Warps that execute the same part of a kernel; `registers` and `barrier`: 0: the kernel's. `turns`: groups of them that compute tiles of
 * their own. */
typedef struct schedule_role {
    const char *name;
    int64_t first_warp, warps, registers, barrier, turns;
} schedule_role;

/* Stages in shared memory for the tiles of one load. */
typedef struct schedule_ring {
    const char *dtype, *swizzle, *layout, *copy, *file; /* copy: "tma", "cp.async"; may be NULL, as swizzle */
    const char *name;                                   /* of the tensor; NULL: unknown */
    schedule_extents tile, multicast;                   /* multicast: dimensions of the cluster */
    int64_t tensor, stages, bytes, offset, role, pipe, line; /* tensor, pipe: -1: none */
    int64_t sharers; /* blocks that fetch a part of each tile for all of them */
} schedule_ring;

/* The mbarriers of the stages of rings: full and empty. */
typedef struct schedule_pipe {
    const char *reader; /* of which one arrives: "warp", "warpgroup" */
    int64_t stages, offset, bytes, expected, arrivals, readers, producer, consumer;
    int64_t writers,
        other; /* warps that fill a stage, without `expected` bytes; another role that reads it, -1: none */
} schedule_pipe;

typedef struct schedule_product {
    const char *instruction, *file;
    schedule_extents tile, atom;
    int64_t role, pending,
        line; /* pending: products under way while this one's results are not awaited; -1: no limit */
} schedule_product;

/* Also a load together with a store. */
typedef struct schedule_store {
    const char *name, *file, *copy; /* copy: "tma"; NULL: by threads */
    schedule_extents tile;
    int64_t tensor, role, line,
        band; /* band: columns that go through shared memory at a time; 0: all or none */
} schedule_store;

/* Shared memory of a role's conversions and stores. */
typedef struct schedule_scratch {
    int64_t role, offset, bytes;
} schedule_scratch;

typedef struct schedule_barrier {
    int64_t number, role, threads, uses;
} schedule_barrier;

/* Choices of the schedule that the kernel does not have. */
typedef struct schedule_refusal {
    const char *text, *file;
    int64_t line;
} schedule_refusal;

typedef struct schedule_kernel {
    const char *kernel, *text; /* text: of the schedule */
    const char *why_none;      /* why nothing is scheduled; NULL: something is */
    schedule_role *roles;
    schedule_ring *rings;
    schedule_pipe *pipes;
    schedule_product *products;
    schedule_store *stores, *loads; /* loads: of tiles that a store uses, together with it */
    schedule_scratch *scratch;
    schedule_barrier *barriers;
    schedule_refusal *refused;
    size_t role_count, ring_count, pipe_count, product_count, store_count, load_count, scratch_count,
        barrier_count, refused_count;
    int64_t copies_pending; /* cp.async groups under way at a wait; -1: none */
    bool resident;
    schedule_extents tile, cluster; /* of the grid; rank 0: not stated */
    int64_t order;
    int64_t slices; /* of a block, which divide the k of a tile; each has its own of the roles and rings */
    const char
        *tail; /* how clusters share the last tiles, "split" or "stream"; NULL: each computes whole tiles */
    int64_t shared, shared_limit; /* bytes of a block; limit -1: unknown architecture */
} schedule_kernel;

typedef struct schedule_report {
    const char *label;
    schedule_kernel *kernels;
    size_t count;
} schedule_report;

/* The kernels of a module, or the one named `only`. CUTE_INVALID: metadata that contradicts docs/metadata.md. */
cute_status cute_schedule_read(cute_arena *arena, const char *label, const cute_module *module,
                               const char *only, schedule_report *out, cute_diag *diag);
/* One kernel; `arch` NULL: unknown. */
cute_status cute_schedule_read_kernel(cute_arena *arena, const char *label, const char *arch,
                                      const cute_kernel *source, schedule_kernel *out, cute_diag *diag);
/* The role of warp `warp` and the number of its warpgroup in it; NULL: none. */
const schedule_role *cute_schedule_role_of(const schedule_kernel *kernel, int64_t warp, int64_t *group);
void cute_schedule_print(cute_arena *arena, const schedule_report *report, cute_buffer *out);
/* docs/reports.md has the keys. */
json_t *cute_schedule_json(const schedule_report *report);
/* Swimlanes of one kernel: roles and stages over a few iterations. */
void cute_schedule_svg(const schedule_kernel *kernel, cute_buffer *out);

#endif
