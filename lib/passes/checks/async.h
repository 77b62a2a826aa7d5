/* Static checks of kernels with mbarriers, tensor copies and wgmma: each is run once at compile time, with
 * small assumed extents, to check that its asynchronous operations are synchronised
 * (docs/static-checks.md). async_program.c extracts the operations that synchronisation depends on,
 * lib/passes/values evaluates values, async_machine.c runs the warps, async_memory.c tracks the accesses to
 * shared memory, async_checks.c reports findings, async_resources.c holds the checks that need no run. */
#ifndef CUTE_LIB_PASSES_CHECKS_ASYNC_H
#define CUTE_LIB_PASSES_CHECKS_ASYNC_H

#include <mlir-c/IR.h>

#include "cute/layout.h"
#include "lib/base/devices/arch.h"
#include "lib/ir/mlir/shim.h"
#include "lib/ir/ops/ops.h"
#include "lib/order/group.h"
#include "lib/order/mbarrier.h"
#include "lib/passes/host/launches.h"
#include "lib/passes/values/values.h"

/* ---- checks (async_checks.c) ---- */

/* One enumerator for each row of async_checks.def. */
typedef enum async_check {
#define CUTE_ASYNC(id, ...) ASYNC_##id,
#include "lib/passes/checks/async_checks.def"
    ASYNC_CHECKS
} async_check;

enum { ASYNC_NOTES = 4 };
typedef struct async_finding {
    async_check check;
    MlirOperation op;
    char text[480];
    int note_count;
    struct {
        MlirOperation op;
        char text[200];
    } notes[ASYNC_NOTES];
} async_finding;

typedef struct async_report async_report;
/* Reports a finding, once for each location and check. */
void async_tell(async_report *report, const async_finding *finding);
async_finding async_find(async_check check, MlirOperation op, const char *format, ...) CUTE_PRINTF(3, 4);
void async_note(async_finding *finding, MlirOperation op, const char *format, ...) CUTE_PRINTF(3, 4);

/* Runs all checks on the kernels under `root`, the operation `pass` runs on. `arch` may be NULL. False
 * after an error. `mode`: "on", "warn", "strict", "off". */
bool async_check_kernels(cute_pass_run *pass, MlirOperation root, const cute_arch *arch, const char *mode);
/* Whether `mode` is one of those names. */
bool async_mode_known(MlirStringRef mode);

/* ---- programs (async_program.c) ---- */

/* Assumptions of a run. */
typedef struct async_setting {
    lane_setting values;
    size_t steps;         /* limit on instructions executed by all warps */
    MlirOperation launch; /* of the kernel; null: unknown */
} async_setting;

typedef enum async_code {
    ASYNC_EVAL,
    ASYNC_EVENT,
    ASYNC_COPY, /* pairs of slots */
    ASYNC_IF,   /* in[0]: condition; target: the ELSE */
    ASYNC_ELSE, /* target: the ENDIF */
    ASYNC_ENDIF,
    ASYNC_FOR,       /* in: lower, upper, step; out: the counter; target: after the loop */
    ASYNC_NEXT,      /* target: the loop's FOR */
    ASYNC_CONDITION, /* in[0]: condition; target: after the loop; follows a COPY of forwarded values */
    ASYNC_GOTO,
    ASYNC_END,
} async_code;

typedef enum async_event {
    ASYNC_EV_NONE,
    ASYNC_EV_INIT,
    ASYNC_EV_TXN, /* kind given by an attribute */
    ASYNC_EV_ARRIVE,
    ASYNC_EV_ARRIVE_EXPECT,
    ASYNC_EV_EXPECT,
    ASYNC_EV_WAIT, /* blocks until a phase completes */
    ASYNC_EV_TEST, /* tests whether a phase is complete */
    ASYNC_EV_INVAL,
    ASYNC_EV_COMPLETE,
    ASYNC_EV_FENCE_INIT,
    ASYNC_EV_FENCE_PROXY,
    ASYNC_EV_SYNC, /* barrier of the block, or a named barrier */
    ASYNC_EV_NAMED_ARRIVE,
    ASYNC_EV_ASM,
    ASYNC_EV_CLUSTER_ARRIVE,
    ASYNC_EV_CLUSTER_WAIT,
    ASYNC_EV_CLUSTER_SYNC,
    ASYNC_EV_WGMMA_FENCE,
    ASYNC_EV_WGMMA_COMMIT,
    ASYNC_EV_WGMMA_WAIT,
    ASYNC_EV_GEMM,
    ASYNC_EV_TENSOR_COPY, /* cute.copy */
    ASYNC_EV_SEND,        /* st.async */
    ASYNC_EV_ACCESS,      /* cute.memref.load, store and similar */
    ASYNC_EV_BULK_COMMIT,
    ASYNC_EV_BULK_WAIT,
    ASYNC_EV_REGISTERS,
    ASYNC_EV_TOUCH, /* access to an accumulator */
} async_event;

typedef struct async_instr {
    async_code code;
    MlirOperation op;
    const lane_op *eval; /* for EVAL */
    async_event event;
    int which;          /* row of the event table; for TOUCH the region */
    int a_registers;    /* for GEMM: region of its A; -1: none */
    bool writes;        /* for TOUCH */
    bool events_inside; /* for IF, FOR and loops */
    int id;
    const int *in, *out; /* slots */
    int in_count, out_count;
    int target;
    int loop[2]; /* for FOR and NEXT: slots of the bound and the step */
} async_instr;

typedef struct async_program {
    cute_arena *arena;
    MlirOperation kernel;
    async_instr *code;
    size_t count, capacity;
    lane_value *initial; /* one for each slot */
    int slots;
    bool interesting; /* it contains an mbarrier, a tensor copy or a wgmma */
    bool opaque;      /* it contains an operation that cannot be simulated */
    MlirOperation opaque_at;
    bool blind; /* it writes shared memory at an unknown address */
    bool wgmma, clusters;
    MlirOperation first_wgmma;
} async_program;
/* False when memory is exhausted. */
bool async_program_make(cute_arena *arena, MlirOperation kernel, const async_setting *setting,
                        async_program *out);

/* ---- calls (async_calls.c) ---- */

/* The kernel in a copy of its module, `root`, with calls inlined. Both are null if inlining is not
 * possible. The caller destroys the root. */
MlirOperation async_without_calls(cute_arena *arena, MlirOperation kernel, MlirOperation *root);

/* ---- memory (async_memory.c) ---- */

enum { ASYNC_MAX_WARPS = 64, ASYNC_MAX_COPIES = 4096 };
typedef struct async_known {
    uint32_t seq[ASYNC_MAX_WARPS];        /* for each warp: the last of its actions known to have happened */
    uint64_t done[ASYNC_MAX_COPIES / 64]; /* bit set of completed asynchronous operations */
} async_known;
void async_known_merge(async_known *into, const async_known *from, int warps, int copies);
static inline bool async_known_done(const async_known *k, int id)
{
    return k->done[id / 64] >> (id % 64) & 1;
}
static inline void async_known_set(async_known *k, int id)
{
    k->done[id / 64] |= 1ull << (id % 64);
}

typedef enum async_access_kind {
    ASYNC_READ, /* by threads */
    ASYNC_WRITE,
    ASYNC_PROXY_READ, /* by tensor copies and wgmma */
    ASYNC_PROXY_WRITE,
} async_access_kind;

/* An asynchronous operation. */
typedef struct async_copy {
    MlirOperation op;
    int warp;
    enum { ASYNC_LOAD, ASYNC_STORE, ASYNC_PRODUCT } kind;
    int barrier; /* for a load: the first mbarrier at which it completes */
    bool committed;
} async_copy;

/* An access to bytes [low, high) of a region. */
typedef struct async_access {
    async_access_kind kind;
    int warp;
    uint32_t seq, time; /* sequence numbers of its warp and of the machine */
    int copy;           /* for a proxy access */
    int swizzle;
    bool stale; /* a read of bytes that nothing had written */
    MlirOperation op;
} async_access;

typedef struct async_cell {
    int region, cta;
    int64_t low, high;
    async_access *accesses;
    size_t count, capacity;
    bool filled; /* has been written */
    int next;    /* next in its bucket, from 1 */
    int *near;   /* cells that overlap it, itself included */
    size_t near_count, near_capacity;
} async_cell;
enum { ASYNC_CELL_BUCKETS = 512 };

typedef struct async_warp async_warp;
typedef struct async_machine async_machine;

/* Records an access by `warp`. Reports accesses that are not ordered and returns false. */
bool async_touch(async_machine *m, async_warp *warp, const lane_place *at, int64_t bytes,
                 const async_access *access);

/* ---- the run (async_machine.c) ---- */

typedef struct async_frame {
    uint32_t saved, other;
    bool split;
} async_frame;

enum { ASYNC_DEPTH = 64, ASYNC_WAITS = 32, ASYNC_ACCUMULATORS = 16, ASYNC_GROUPS = 64 };

typedef enum async_state {
    ASYNC_RUNS,
    ASYNC_AT_BARRIER, /* barrier of the block, or a named barrier */
    ASYNC_AT_MBARRIER,
    ASYNC_AT_CLUSTER,
    ASYNC_AT_PRODUCT, /* waiting for the other warps of its warpgroup */
    ASYNC_ENDED,
} async_state;

typedef struct async_wait {
    int barrier;
    int parity;
    MlirOperation op;
    bool trivial; /* passed before any phase was complete */
    bool again;   /* an equal wait for the same phase of the mbarrier passed before */
    uint32_t phase;
    int passes; /* number of different phases waited for */
} async_wait;

typedef struct async_accumulator {
    int region;
    order_registers of;
    MlirOperation op, user; /* latest product; latest other access */
} async_accumulator;

struct async_warp {
    int id, cta, index;
    lane_value *slots;
    size_t pc;
    uint32_t mask;
    async_frame frames[ASYNC_DEPTH];
    int depth;
    async_state state;
    int barrier, parity; /* mbarrier that it waits for, and parity */
    bool polls;          /* the wait is a loop around a test */
    MlirOperation at;
    uint32_t polled;
    async_known *known;
    uint32_t seq;
    uint32_t *fences; /* sequence numbers of proxy fences */
    size_t fence_count, fence_capacity;
    uint32_t fenced[ASYNC_MAX_WARPS]; /* known at the latest fence */
    async_wait waits[ASYNC_WAITS];    /* latest wait for each mbarrier */
    int wait_count;
    /* bulk groups */
    int stores[ASYNC_GROUPS], store_group[ASYNC_GROUPS], store_count, groups;
    /* accumulators of wgmma */
    async_accumulator accumulators[ASYNC_ACCUMULATORS];
    int accumulator_count;
    order_products products;
    uint32_t product_waited; /* wgmma groups */
    int registers;
    MlirOperation registers_at;
    bool cluster_arrived, cluster_waits; /* arrived in this phase; has not waited since */
    uint32_t cluster_phase;
    uint32_t init_fence; /* sequence number of the latest */
    uint32_t cluster_released,
        cluster_relaxed;    /* sequence numbers of its latest arrivals at the cluster barrier, by kind */
    MlirOperation released; /* its latest arrival */
    uint32_t activity;      /* activity of the machine at its latest failed test */
};

typedef struct async_mbarrier {
    lane_place place;
    bool alive;
    order_mbarrier state;
    order_bytes bytes; /* of the current phase */
    int64_t in_flight; /* bytes of copies in flight */
    MlirOperation init;
    int init_warp;
    uint32_t init_seq;
    MlirOperation expects, copies[ASYNC_NOTES], arrives[ASYNC_NOTES];
    int copy_count, arrive_count;
    int64_t arrivals; /* in the current phase */
    bool waited_ever, tx_ever, fence_told;
    uint64_t arrivers;              /* bit set of warps */
    uint8_t lanes[ASYNC_MAX_WARPS]; /* arrivals made at once by each warp */
    MlirOperation first_arrive, first_wait;
    async_known *acquired, *gathered; /* released by completed phases and by the current one */
} async_mbarrier;

/* wgmma products of a warpgroup: the asynchronous operation of each group. */
typedef struct async_products {
    int *copies;
    size_t count, capacity;
} async_products;

typedef struct async_named {
    int cta, id;
    int64_t arrived, count;
    async_known *gathered;
    MlirOperation op;
} async_named;

/* Latest access of a warp to another block's shared memory. */
typedef struct async_remote {
    int warp, cta;
    uint32_t seq;
    int copy; /* -1: an arrival */
    MlirOperation op;
} async_remote;

struct async_machine {
    cute_arena *arena;
    async_remote *remotes;
    size_t remote_count, remote_capacity;
    const async_program *program;
    lane_eval eval;
    async_report *report;
    async_warp *warps;
    int warp_count, block_warps, ctas;
    async_mbarrier *barriers;
    size_t barrier_count, barrier_capacity;
    async_named *named;
    size_t named_count, named_capacity;
    async_copy *copies;
    int copy_count;
    struct async_flight {
        int barrier, copy;
        int64_t bytes;
    } *flights;
    size_t flight_count, flight_capacity;
    async_cell *cells;
    size_t cell_count, cell_capacity;
    int buckets[ASYNC_CELL_BUCKETS];
    async_products *groups;
    async_known *cluster_gathered, *cluster_acquired;
    uint32_t cluster_phase;
    bool stopped; /* after a finding, or when nothing more can be learnt */
    bool found;
    uint32_t activity; /* counts events that can unblock a warp */
    uint32_t time;     /* counts accesses */
    size_t steps, budget;
    MlirOperation at; /* latest instruction */
};
/* Reports a synchronisation error, or the misuse of an mbarrier that causes it, and ends the run. */
void async_blame(async_machine *m, const async_finding *finding);
/* Extent of a run. */
typedef struct async_outcome {
    bool ended;       /* all warps ended */
    MlirOperation at; /* otherwise the operation at which the run stopped; null: the step limit was reached */
    size_t steps, barriers;
    int copies;
    uint32_t phases; /* maximum over all mbarriers */
} async_outcome;
/* Runs the program and adds its findings to `report`. */
async_outcome async_run(cute_arena *arena, const async_program *program, const async_setting *setting,
                        async_report *report);

/* ---- checks without a run (async_resources.c) ---- */

/* Threads of a block, blocks of a cluster and of the grid, where stated; 0: unknown. */
typedef struct async_launch {
    int64_t block[3], cluster[3], grid[3];
    int64_t dynamic;      /* bytes of dynamic shared memory; -1: unknown */
    MlirOperation launch; /* null: unknown */
} async_launch;
async_launch async_launch_of(const cute_launches *launches, MlirOperation kernel);
void async_check_resources(MlirOperation kernel, const async_launch *launch, const cute_arch *arch,
                           const async_program *program, async_report *report);

#endif
