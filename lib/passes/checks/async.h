/* Kernels with mbarriers, tensor copies and wgmma, run once while they are compiled, with small made-up extents, to see whether
 * what they do at the same time is in order (docs/static-checks.md).
 *
 * async_program.c keeps of a kernel what its synchronisation needs, async_values.c and async_integers.c compute its
 * values, async_machine.c
 * runs its warps, async_memory.c knows who may touch which bytes, async_checks.c is the table of checks and says what
 * was found, async_resources.c looks at what needs no run. */
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

/* ---- checks (async_checks.c) ---- */

/* A row each of async_checks.def. */
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
/* Says what was found, once a place and check. */
void async_tell(async_report *report, const async_finding *finding);
async_finding async_find(async_check check, MlirOperation op, const char *format, ...) CUTE_PRINTF(3, 4);
void async_note(async_finding *finding, MlirOperation op, const char *format, ...) CUTE_PRINTF(3, 4);

/* All checks of all kernels under `root`, which `pass` runs on. `arch` may be NULL. False after an error. `mode`: "on", "warn",
 * "strict", "off". */
bool async_check_kernels(cute_pass_run *pass, MlirOperation root, const cute_arch *arch, const char *mode);
/* "off" or one of those; false: it is none. */
bool async_mode_known(MlirStringRef mode);

/* ---- values (async_values.c) ---- */

/* Where a pointer points: shared memory of a block of the cluster, registers, or elsewhere. */
enum { ASYNC_ELSEWHERE = -1, ASYNC_DYNAMIC = 0 };
typedef struct async_place {
    int region; /* a variable of shared memory, 0 the dynamic one */
    int cta;    /* rank in the cluster */
    int64_t byte;
    int sharers; /* blocks that share the copies of tma_partition; 0 as 1 */
} async_place;

/* An atom of TMA with its run-time state. */
typedef struct async_value async_value;
typedef struct async_atom {
    const cute_value *type;
    MlirOperation made; /* by which operation; null: unknown */
    const async_value *barrier, *mask;
    int swizzle; /* bits of its layout in shared memory; -1: unknown */
    int sharers; /* blocks that bring a part of its box each; 0 as 1 */
} async_atom;

typedef enum async_kind { ASYNC_UNKNOWN, ASYNC_INT, ASYNC_LANES, ASYNC_VALUE, ASYNC_ATOM } async_kind;
struct async_value {
    async_kind kind;
    union {
        int64_t number;
        const async_value *lanes; /* 32 */
        const cute_value *value;
        const async_atom *atom;
    };
};

/* What a run makes up, and which warp looks. */
typedef struct async_setting {
    int64_t extent, batch,
        scalar; /* unknown extents of arguments (the first two modes; others), integer arguments */
    int64_t block[3], cluster[3], grid[3];
    size_t steps;         /* instructions of all warps together */
    MlirOperation launch; /* of the kernel; null: none is known */
} async_setting;

typedef struct async_instr async_instr;
typedef struct async_eval {
    cute_arena *arena;
    const async_setting *setting;
    int cta, warp; /* rank in the cluster, warp of the block */
    uint32_t mask; /* active lanes */
    struct async_memo *memo;
    size_t memo_size, memo_count;
} async_eval;

/* Operations whose results are computed: by name, NULL: not one of them. */
typedef struct async_pure {
    const char *name;
    bool (*eval)(async_eval *x, const async_instr *i, const async_value *in, async_value *out);
    int which;
    int operands; /* bit set of those that count; 0: all */
    unsigned traits;
} async_pure;
enum {
    ASYNC_PARTIAL = 1,    /* may be known where an operand is not */
    ASYNC_FIRST_LANE = 2, /* takes the first lane's operands */
    ASYNC_ONCE = 4,       /* the same operands give the same results: computed once */
    ASYNC_CONSTANT = 8,   /* known before the run */
};
extern const async_pure async_integers[]; /* async_integers.c; the last row has no name */
const async_pure *async_pure_find(MlirStringRef name);
/* Rows for operations of the algebra. */
extern const async_pure async_pure_algebra;
/* Writes the results of `i` to out[]. */
void async_evaluate(async_eval *x, const async_instr *i, const async_value *in, async_value *out);
/* The value that a type without unknown leaves has; that of a kernel's argument. */
bool async_value_of_type(cute_arena *arena, MlirType type, async_value *out);
bool async_value_of_argument(cute_arena *arena, const async_setting *s, MlirType type, async_value *out);
/* Where a pointer or tensor in shared memory lies; false for others. */
bool async_place_of(const async_value *v, async_place *out);
/* Of lane `lane`. */
async_value async_lane(const async_value *v, int lane);
async_value async_number(int64_t n);
/* An integer, or a tuple of one, as a number. */
bool async_number_of(const async_value *v, int64_t *out);
/* What an instruction of TMA moves, for all blocks that share it; 0: not known. */
int64_t async_copy_bits(const async_atom *atom);
/* Swizzle of a pointer or tensor: its bits (3: 128 bytes). */
int async_swizzle_of(const cute_value *v);
/* The elements of a layout; 0: not known. */
int64_t async_size(const cute_value *v);

/* ---- programs (async_program.c) ---- */

typedef enum async_code {
    ASYNC_EVAL,
    ASYNC_EVENT,
    ASYNC_COPY, /* pairs of slots */
    ASYNC_IF,   /* in[0]; target: else */
    ASYNC_ELSE, /* target: endif */
    ASYNC_ENDIF,
    ASYNC_FOR,       /* in: lower, upper, step; out: the counter; target: behind the loop */
    ASYNC_NEXT,      /* target: the loop's FOR */
    ASYNC_CONDITION, /* in[0]; target: behind the loop; a COPY of what goes there stands before it */
    ASYNC_GOTO,
    ASYNC_END,
} async_code;

typedef enum async_event {
    ASYNC_EV_NONE,
    ASYNC_EV_INIT,
    ASYNC_EV_TXN, /* by its attribute */
    ASYNC_EV_ARRIVE,
    ASYNC_EV_ARRIVE_EXPECT,
    ASYNC_EV_EXPECT,
    ASYNC_EV_WAIT, /* until a phase is complete */
    ASYNC_EV_TEST, /* whether it is */
    ASYNC_EV_INVAL,
    ASYNC_EV_COMPLETE,
    ASYNC_EV_FENCE_INIT,
    ASYNC_EV_FENCE_PROXY,
    ASYNC_EV_SYNC, /* of the block, or a named barrier */
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
    ASYNC_EV_ACCESS,      /* cute.memref.load, store and the like */
    ASYNC_EV_BULK_COMMIT,
    ASYNC_EV_BULK_WAIT,
    ASYNC_EV_REGISTERS,
    ASYNC_EV_TOUCH, /* of an accumulator */
} async_event;

struct async_instr {
    async_code code;
    MlirOperation op;
    const cute_op_row *row;
    const async_pure *pure;
    async_event event;
    int which;          /* of the row; of TOUCH the region */
    int a_registers;    /* of GEMM: the region of its A; -1: none */
    bool writes;        /* of TOUCH */
    bool events_inside; /* of IF, FOR and loops */
    int id;
    int width, from, predicate; /* of integers: bits of the result, of the first operand; of a comparison */
    bool first_lane;            /* of EVAL: its result is that of the first lane */
    const int *in, *out;        /* slots */
    int in_count, out_count;
    int target;
    int loop[2]; /* of FOR and NEXT: slots of the bound and the step */
};

typedef struct async_program {
    cute_arena *arena;
    MlirOperation kernel;
    async_instr *code;
    size_t count, capacity;
    async_value *initial; /* of each slot */
    int slots;
    bool interesting; /* there is an mbarrier, a tensor copy or a wgmma */
    bool opaque;      /* it has what no run can follow */
    MlirOperation opaque_at;
    bool blind; /* something writes shared memory, and where is not known */
    bool wgmma, clusters;
    MlirOperation first_wgmma;
} async_program;
/* False when memory is exhausted. */
bool async_program_make(cute_arena *arena, MlirOperation kernel, const async_setting *setting,
                        async_program *out);

/* ---- calls (async_calls.c) ---- */

/* The kernel in a copy of its module, `root`, in which functions stand in place of their calls. Null, and no root, where that cannot
 * be. Who has it destroys the root. */
MlirOperation async_without_calls(cute_arena *arena, MlirOperation kernel, MlirOperation *root);

/* ---- memory (async_memory.c) ---- */

enum { ASYNC_MAX_WARPS = 64, ASYNC_MAX_COPIES = 4096 };
typedef struct async_known {
    uint32_t seq[ASYNC_MAX_WARPS];        /* of each warp: up to where its actions are known */
    uint64_t done[ASYNC_MAX_COPIES / 64]; /* asynchronous operations that are complete */
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
    int barrier; /* of a load: the first one it completes at */
    bool committed;
} async_copy;

/* Who touched bytes [low, high) of a region. */
typedef struct async_access {
    async_access_kind kind;
    int warp;
    uint32_t seq, time; /* of its warp; of the machine */
    int copy;           /* of a proxy access */
    int swizzle;
    bool stale; /* a read of what nothing wrote before */
    MlirOperation op;
} async_access;

typedef struct async_cell {
    int region, cta;
    int64_t low, high;
    async_access *accesses;
    size_t count, capacity;
    bool filled; /* something wrote it */
    int next;    /* in its bucket, from 1 */
    int *near;   /* cells that have bytes of it, itself too */
    size_t near_count, near_capacity;
} async_cell;
enum { ASYNC_CELL_BUCKETS = 512 };

typedef struct async_warp async_warp;
typedef struct async_machine async_machine;

/* An access of `warp`; what it may not touch yet is told, and false. */
bool async_touch(async_machine *m, async_warp *warp, const async_place *at, int64_t bytes,
                 const async_access *access);

/* ---- the run (async_machine.c) ---- */

typedef struct async_frame {
    uint32_t saved, other;
    bool split;
} async_frame;

enum { ASYNC_DEPTH = 64, ASYNC_WAITS = 32, ASYNC_ACCUMULATORS = 16, ASYNC_GROUPS = 64 };

typedef enum async_state {
    ASYNC_RUNS,
    ASYNC_AT_BARRIER, /* of the block or a named one */
    ASYNC_AT_MBARRIER,
    ASYNC_AT_CLUSTER,
    ASYNC_AT_PRODUCT, /* for its warpgroup */
    ASYNC_ENDED,
} async_state;

typedef struct async_wait {
    int barrier;
    int parity;
    MlirOperation op;
    bool trivial; /* passed before any phase was complete */
    bool again;   /* the same wait for the same phase of the mbarrier passed before */
    uint32_t phase;
    int passes; /* of different phases */
} async_wait;

typedef struct async_accumulator {
    int region;
    order_registers of;
    MlirOperation op, user; /* of the latest product; of the latest other access */
} async_accumulator;

struct async_warp {
    int id, cta, index;
    async_value *slots;
    size_t pc;
    uint32_t mask;
    async_frame frames[ASYNC_DEPTH];
    int depth;
    async_state state;
    int barrier, parity; /* it waits for */
    bool polls;          /* the wait is a loop around a test */
    MlirOperation at;
    uint32_t polled;
    async_known *known;
    uint32_t seq;
    uint32_t *fences; /* seqs of proxy fences */
    size_t fence_count, fence_capacity;
    uint32_t fenced[ASYNC_MAX_WARPS]; /* known at the latest one */
    async_wait waits[ASYNC_WAITS];    /* the latest of each barrier */
    int wait_count;
    /* bulk groups */
    int stores[ASYNC_GROUPS], store_group[ASYNC_GROUPS], store_count, groups;
    /* wgmma */
    async_accumulator accumulators[ASYNC_ACCUMULATORS];
    int accumulator_count;
    order_products products;
    uint32_t product_waited; /* groups */
    int registers;
    MlirOperation registers_at;
    bool cluster_arrived, cluster_waits; /* arrived in this phase; not waited since */
    uint32_t cluster_phase;
    uint32_t init_fence; /* seq of the latest */
    uint32_t cluster_released,
        cluster_relaxed;    /* seq of its latest arrival at the cluster's barrier, by kind */
    MlirOperation released; /* its latest arrival */
    uint32_t activity;      /* the machine's, at its latest test that failed */
};

typedef struct async_mbarrier {
    async_place place;
    bool alive;
    order_mbarrier state;
    order_bytes bytes; /* of this phase */
    int64_t in_flight; /* bytes of copies that are under way */
    MlirOperation init;
    int init_warp;
    uint32_t init_seq;
    MlirOperation expects, copies[ASYNC_NOTES], arrives[ASYNC_NOTES];
    int copy_count, arrive_count;
    int64_t arrivals; /* of this phase */
    bool waited_ever, tx_ever, fence_told;
    uint64_t arrivers;              /* warps */
    uint8_t lanes[ASYNC_MAX_WARPS]; /* arrivals of each at once */
    MlirOperation first_arrive, first_wait;
    async_known *acquired, *gathered; /* of the completed phases, of this one */
} async_mbarrier;

/* The products of a warpgroup: the asynchronous operation of each group. */
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

/* The latest access of a warp to another block's shared memory. */
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
    async_eval eval;
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
    bool stopped; /* nothing more is to be learnt */
    bool found;
    uint32_t activity; /* counts what may let a warp go on */
    uint32_t time;     /* counts accesses */
    size_t steps, budget;
    MlirOperation at; /* the latest instruction */
};
/* Tells of an error of synchronisation, or of what is wrong with an mbarrier and causes it; the run ends. */
void async_blame(async_machine *m, const async_finding *finding);
/* How far a run came. */
typedef struct async_outcome {
    bool ended;       /* all warps did */
    MlirOperation at; /* else where it could not be followed further; null: it was long enough */
    size_t steps, barriers;
    int copies;
    uint32_t phases; /* the most of an mbarrier */
} async_outcome;
/* Runs the program. What it finds goes to `report`. */
async_outcome async_run(cute_arena *arena, const async_program *program, const async_setting *setting,
                        async_report *report);

/* ---- what needs no run (async_resources.c) ---- */

/* Threads of a block, blocks of a cluster and of the grid as far as they are stated; 0: not. */
typedef struct async_launch {
    int64_t block[3], cluster[3], grid[3];
    int64_t dynamic;      /* bytes of shared memory; -1: not known */
    MlirOperation launch; /* null: none is known */
} async_launch;
async_launch async_launch_of(const cute_launches *launches, MlirOperation kernel);
void async_check_resources(MlirOperation kernel, const async_launch *launch, const cute_arch *arch,
                           const async_program *program, async_report *report);

#endif
