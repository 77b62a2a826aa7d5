/* The machine that runs a program: warps of 32 lanes, blocks, clusters, memory, barriers, a schedule. One
 * launch at a time; nothing is shared between machines. Names begin with em_; what lib/numeric offers, which knows no
 * machine, with num_ and ptx_. */
#ifndef CUTE_LIB_EMULATOR_MACHINE_MACHINE_H
#define CUTE_LIB_EMULATOR_MACHINE_MACHINE_H

#include <stdatomic.h>
#include <string.h>

#include "cute/emulator_options.h"
#include "lib/base/buffer.h"
#include "lib/emulator/program/program.h"
#include "lib/order/barrier.h"

/* ---- memory of the device: allocations at addresses of their own, so that each access is checked ---- */

typedef struct em_allocation {
    uint64_t base, size;
    uint8_t *host;
    bool read_only;
    bool owned;       /* host is freed with it */
    const char *name; /* of a variable, NULL for what was allocated */
} em_allocation;

typedef struct em_memory {
    em_allocation *list; /* by base */
    size_t count, capacity;
    uint64_t next;
    struct {
        uint64_t base, size;
    } freed[64]; /* the last ones, for messages; addresses are not given twice */
    size_t freed_count;
} em_memory;

/* False when memory is exhausted. Fresh memory is filled with 0xA5, not zero. */
bool em_memory_alloc(em_memory *memory, uint64_t size, uint64_t *out);
bool em_memory_add(em_memory *memory, const em_allocation *allocation);
bool em_memory_free(em_memory *memory, uint64_t base);
/* Whether the address lay in an allocation that was freed, as far as that is remembered. */
bool em_memory_was_freed(const em_memory *memory, uint64_t address, uint64_t *base, uint64_t *size);
const em_allocation *em_memory_find(const em_memory *memory, uint64_t address);
/* Whether any of `size` bytes from `base` on belongs to an allocation, or to a window of generic addresses. */
bool em_memory_overlaps(const em_memory *memory, uint64_t base, uint64_t size);
void em_memory_release(em_memory *memory);

/* ---- a launch ---- */

typedef struct em_machine em_machine;
typedef struct em_block em_block;
typedef struct em_cluster em_cluster;

enum { EM_BLOCK_WARPS = 1024 / 32 };

typedef enum em_access { EM_READ, EM_WRITE, EM_ATOMIC } em_access;

/* Events for the checks, besides accesses. `inst` is NULL where no instruction causes it. */
typedef enum em_event {
    EM_E_BEGIN,            /* the warp's cluster starts */
    EM_E_FENCE,            /* fence, membar; not of proxies */
    EM_E_PROXY_FENCE,      /* fence.proxy.async */
    EM_E_WARP_SYNC,        /* bar.warp.sync of all of `mask`; a: the member mask */
    EM_E_WARP_EXCHANGE,    /* a shuffle, vote or the like of all of `mask`; a: the member mask */
    EM_E_BARRIER_ARRIVE,   /* at barrier a, for b threads (0: all) */
    EM_E_BARRIER_COMPLETE, /* barrier a of the warp's block is complete */
    EM_E_BARRIER_EXIT,     /* the warp leaves barrier a */
    EM_E_CLUSTER_ARRIVE,   /* at barrier.cluster */
    EM_E_CLUSTER_COMPLETE,
    EM_E_CLUSTER_EXIT,
    EM_E_MBARRIER_INIT,   /* a: shared address */
    EM_E_MBARRIER_ARRIVE, /* a: shared address, b: bytes expected (> 0) or arrived (< 0) */
    EM_E_MBARRIER_PHASE,  /* the phase of the mbarrier at a is complete */
    EM_E_MBARRIER_PASS,   /* a wait on the mbarrier at a succeeded */
    EM_E_COMMIT_GROUP,    /* a: kind of asynchronous work, b: number of the group */
    EM_E_WAIT_GROUP,      /* for groups up to b of kind a */
    EM_E_EXIT,            /* the lanes exit */
    EM_E_END,             /* the grid has ended, or failed */
    EM_E_FRAME_ENTER,     /* a call makes a stack frame: b bytes of local memory from a on */
    EM_E_FRAME_WRITE,     /* a call writes b bytes of local memory from a on: arguments or results */
    EM_E_DEADLOCK,        /* the warp waits forever; a: shared address of an mbarrier, or UINT64_MAX */
} em_event;

/* The accesses of a warp's ld or st, lane l's at `base` + offsets[l], all in one allocation or the shared memory of one
 * block; `bytes` each. */
typedef struct em_warp_access {
    em_warp *warp;
    const em_inst *inst;
    uint32_t mask, bytes;
    em_space space; /* global or shared */
    em_access kind;
    uint64_t base;
    const uint32_t *offsets;
} em_warp_access;

/* Callbacks of the checks; each may be NULL. `access` comes before the access, once for each lane. */
typedef struct em_hooks {
    void *context;
    /* Before `access`, where the lanes make a row. True: `access` is not called for them. */
    bool (*row)(void *context, const em_warp_access *row);
    void (*access)(void *context, em_warp *warp, const em_inst *inst, int lane, em_space space,
                   uint64_t address, uint32_t bytes, em_access access);
    /* What orders memory, as it happens. `a` and `b` by the event. */
    void (*event)(void *context, em_event event, em_warp *warp, const em_inst *inst, uint32_t mask,
                  uint64_t a, uint64_t b);
    /* Before each instruction; `lanes` are active, whatever its guard says. */
    void (*step)(void *context, em_warp *warp, const em_inst *inst, uint32_t lanes);
    bool shadows; /* register frames get their `shadow` */
} em_hooks;

/* Counts of one instruction of the program. */
typedef struct em_tally {
    uint64_t instructions, lanes, divergences; /* of warps; of their active lanes */
    uint64_t bytes[EM_PARAM + 1][2];           /* by space: read, written */
} em_tally;

typedef struct em_launch {
    const em_program *program;
    const em_function *kernel;
    em_memory *memory;
    uint32_t grid[3], block[3], cluster[3];
    uint32_t dynamic_shared;
    const uint8_t *params;          /* the parameter block, kernel->param_bytes */
    bool cooperative, programmatic; /* programmatic: the preceding launch may still run */
    cute_emulator_options options;
    em_tally *tally; /* one for each instruction, added to; NULL: not counted */
    em_hooks hooks;
} em_launch;

/* Runs the grid to its end. CUTE_INVALID: a fault or a deadlock, explained. grid.c */
cute_status em_run_grid(const em_launch *launch, cute_emulator_counts *counts, cute_diag *diag);

/* ---- inside ---- */

/* What a split waits for. */
typedef enum em_wait {
    EM_RUNS,
    EM_WAIT_BARRIER, /* barrier `number` of the block */
    EM_WAIT_CLUSTER, /* barrier.cluster */
    EM_WAIT_WARP,    /* lanes of the warp that are elsewhere */
    EM_WAIT_ASYNC,   /* its own copies or wgmmas */
    EM_JOIN,         /* its children */
} em_wait;

/* The register frame of a function that is running, and where it returns to. */
typedef struct em_frame {
    struct em_frame *up, *next; /* the caller's, or the next free one; next: of all that the warp has */
    const em_function *function;
    uint8_t *registers;
    uint8_t *shadow; /* of hooks.shadows: as many bytes again, all ones when the function begins; else NULL */
    uint32_t return_pc;
    uint32_t users; /* splits that will return from it */
    int64_t sp;
    int64_t stack_top[EM_LANES]; /* when it was called */
} em_frame;

/* Active lanes with one pc. When they diverge, the split waits as the join of the two that it is split into. */
typedef struct em_split {
    uint32_t pc, rpc, mask;
    int depth, rdepth; /* of calls; rpc counts at rdepth only */
    int parent, children;
    em_frame *frame;
    int64_t sp;
    em_wait wait;
    uint32_t barrier, generation; /* EM_WAIT_BARRIER */
    uint32_t member;              /* EM_WAIT_WARP: lanes */
    uint64_t polled;              /* 1 + `changes` at the last failed try_wait; 0: none */
    uint32_t polled_at;           /* instruction */
    uint32_t poll_address, poll_phase;
    uint32_t polls;    /* failed ones at that place in a row, without a change in between */
    uint32_t gathered; /* EM_WAIT_WARP: lanes that wait */
    bool live;
    bool counted; /* among the users of its frames */
    bool woken;   /* its barrier has completed: the instruction is finished, not restarted */
} em_split;

/* Whether a warp loops without progress: hashes of its state after its time slices, while no memory changes. hang.c */
typedef struct em_spin {
    uint64_t state;        /* hash of an earlier one */
    uint32_t local_stores; /* of the warp, at the first probe */
    uint32_t left, span;   /* probes until the next state is kept */
    bool found;
} em_spin;

enum { EM_SPLITS = 72, EM_BARRIERS = ORDER_BARRIERS };

typedef enum em_stop { EM_GO_ON, EM_SWITCH, EM_YIELD, EM_POLL, EM_BLOCK, EM_DONE, EM_FAULT } em_stop;

struct em_warp {
    uint8_t *base[EM_BASES]; /* of operands: the split's register frame, constants, special registers */
    em_split *split;
    em_block *block;
    em_machine *machine;
    em_stop stop;
    uint32_t alive, started; /* lanes that have not exited; that the warp began with */
    uint32_t index;          /* in the block */
    int current, high;       /* the split that runs; no split behind `high` is live */
    em_spin spin;
    uint32_t local_stores; /* instructions */
    uint32_t diverged;     /* instructions since the warp diverged, or lanes were last resumed */
    bool resumed;          /* a divergent path was resumed past its join */
    em_split splits[EM_SPLITS];
    uint8_t *local; /* of each lane, one after the other */
    int64_t local_size;
    int64_t stack_top[EM_LANES]; /* alloca takes local memory from the top */
    em_allocation last;          /* found last */
    em_frame *free_frames, *frames;
    uint32_t
        lent; /* lanes whose registers are swapped with those of lenders[lane] while an instruction runs */
    em_frame *lenders[EM_LANES];
    uint32_t sregs[EM_SREG_fixed_end * EM_LANES];
    /* asynchronous work */
    uint32_t wgmma_groups;                                 /* committed so far; the warp's */
    uint32_t copy_groups[EM_LANES], bulk_groups[EM_LANES]; /* each lane's own */
    uint32_t cluster_generation[EM_LANES]; /* when each lane arrived at the cluster's barrier */
    uint32_t cluster_arrived;              /* lanes that ever did */
};

typedef struct em_barrier {
    uint32_t generation, arrived, expected;
    uint32_t red_and, red_or, red_count; /* being gathered */
    uint32_t result_and, result_or, result_count;
} em_barrier;

struct em_block {
    em_machine *machine;
    em_cluster *cluster;
    em_warp *warps;
    uint32_t warp_count, threads, alive;
    uint32_t rank; /* in the cluster */
    uint32_t ctaid[3];
    uint8_t *shared; /* from address EM_SHARED_RESERVED on */
    uint32_t shared_size;
    uint8_t scratch[EM_SCRATCH_BYTES]; /* at address EM_SCRATCH, for programs that ask where it is */
    uint8_t *pool;
    em_barrier barriers[EM_BARRIERS];
    /* wgmmas of each warp so far; the four of a warpgroup wait for each other */
    uint32_t wgmma_issued[EM_BLOCK_WARPS];
};

struct em_cluster {
    em_block *blocks;
    uint32_t count;
    uint32_t arrived, generation, alive; /* barrier.cluster: threads */
    uint32_t live_warps;
    uint64_t index; /* in the grid */
    bool running;
    cute_buffer output; /* of vprintf, while clusters in front of it run */
};

/* Work that completes late. */
typedef struct em_pending {
    struct em_pending *next;
    uint64_t due;
    em_warp *warp;
    uint32_t lanes;    /* whose it is */
    uint32_t size;     /* of data */
    int kind;          /* em_pending_kind */
    uint32_t group;    /* number of its group when it is committed, 0: not yet */
    uint32_t sequence; /* of a wgmma: its number in its warp */
    uint32_t issued;   /* the checks' time */
    bool done, read_done;
    const struct cute_tensor_map *map; /* of a tensor copy into shared memory at `box`, for checks */
    uint32_t box;
    bool (*complete)(em_machine *, struct em_pending *);
    const em_inst *inst;
    void *data;
} em_pending;
typedef enum em_pending_kind {
    EM_P_CP_ASYNC,
    EM_P_BULK,
    EM_P_LOAD,
    EM_P_WGMMA,
    EM_P_MBARRIER
} em_pending_kind;

/* Idle detection: how long nothing has changed that a warp might wait for. schedule.c */
typedef struct em_idle {
    uint64_t changes;                         /* at the last one */
    uint64_t reads, shared, instructions;     /* when a cluster last started */
    uint64_t rounds, next;                    /* rounds since; when warps are probed */
    uint32_t probes, left;                    /* rounds of probing; how many are left */
    uint64_t all_changes, clocks, idle_reads; /* at the first of them; all_changes: of all machines */
    uint64_t clock_changes;                   /* changes of all machines when the clock was last read */
    bool probing, suspect; /* suspect: warps of this launch looped without progress before */
} em_idle;

/* One thread of the host with the clusters that it runs. */
typedef struct em_grid em_grid;
struct em_machine {
    _Alignas(128) em_grid *grid; /* cache-line aligned: no false sharing between machines */
    bool parallel;               /* other machines run other clusters of the grid */
    atomic_ullong published;     /* `changes`, for other machines */
    atomic_ullong stuck; /* 1 + changes of all machines at which this one was stuck; 0: it makes progress */
    atomic_bool ended;   /* it has nothing left to run */
    uint32_t running, width;  /* clusters that run; that may run at once */
    uint64_t failed_at;       /* cluster */
    uint64_t clocks, atomics; /* clocks read; atomics on global memory */
    em_idle idle;
    const em_launch *launch;
    const em_program *program;
    const em_inst *code;
    cute_diag *diag;
    cute_emulator_counts counts;
    em_tally *tally;        /* the machine's own, or the launch's */
    em_cluster *clusters;   /* `width` slots at most */
    uint32_t cluster_count; /* slots that have blocks */
    uint64_t changes;       /* stores, arrivals: anything that another warp might wait for */
    uint64_t round, random;
    em_pending *pending, **pending_end;
    const em_pending *completing; /* whose accesses are being made */
    uint32_t time;                /* of the checks: counts synchronisations */
    uint64_t workspace;           /* address of a cooperative launch's own memory; 0: none */
    uint32_t shared_static;
    uint32_t cluster_shape[3];
    bool failed;
};

/* ---- lanes of operands ---- */

static inline uint32_t *em_r32(const em_warp *w, const em_operand *o)
{
    return (uint32_t *)(void *)(w->base[o->base] + o->at);
}
static inline uint64_t *em_r64(const em_warp *w, const em_operand *o)
{
    return (uint64_t *)(void *)(w->base[o->base] + o->at);
}
static inline uint32_t em_mask_of(const em_warp *w, const em_operand *o)
{
    uint32_t mask = *em_r32(w, o);
    return o->negated ? ~mask : mask;
}
static inline uint64_t em_get(const em_warp *w, const em_operand *o, int lane)
{
    if (o->bytes == 8) return em_r64(w, o)[lane];
    if (o->bytes == 0) return em_mask_of(w, o) >> lane & 1;
    return em_r32(w, o)[lane];
}
static inline void em_set(const em_warp *w, const em_operand *o, int lane, uint64_t value)
{
    if (o->kind == EM_O_NONE) return;
    if (o->bytes == 8)
        em_r64(w, o)[lane] = value;
    else if (o->bytes == 4)
        em_r32(w, o)[lane] = (uint32_t)value;
    else if (o->bytes == 2)
        em_r32(w, o)[lane] = (uint32_t)value & 0xffff;
    else if (value)
        *em_r32(w, o) |= 1u << lane;
    else
        *em_r32(w, o) &= ~(1u << lane);
}
static inline void em_set_mask(const em_warp *w, const em_operand *o, uint32_t mask, uint32_t value)
{
    if (o->kind == EM_O_NONE) return;
    uint32_t *d = em_r32(w, o);
    *d = (*d & ~mask) | (value & mask);
}
/* The value of an operand that PTX requires to be the same in all active lanes: the first one's. */
static inline uint64_t em_uniform(const em_warp *w, const em_operand *o, uint32_t mask)
{
    return em_get(w, o, mask ? __builtin_ctz(mask) : 0);
}

static inline void em_count_bytes(em_machine *m, const em_inst *i, em_space space, bool store, uint64_t bytes)
{
    cute_emulator_counts *c = &m->counts;
    if (space == EM_SHARED) *(store ? &c->shared_written : &c->shared_read) += bytes;
    if (space == EM_GLOBAL) *(store ? &c->global_written : &c->global_read) += bytes;
    if (m->tally) m->tally[i - m->code].bytes[space][store] += bytes;
}

/* How many lanes; mostly all. */
static inline uint32_t em_lanes_in(uint32_t mask)
{
    return mask == UINT32_MAX ? EM_LANES : (uint32_t)__builtin_popcount(mask);
}

/* `lanes` run the instruction again and are counted then; `all`: no other lane ran it now. */
static inline void em_uncount(em_warp *w, const em_inst *i, uint32_t lanes, bool all)
{
    em_machine *m = w->machine;
    uint32_t count = em_lanes_in(lanes);
    m->counts.instructions -= all;
    m->counts.lanes -= count;
    if (!m->tally) return;
    m->tally[i - m->code].instructions -= all;
    m->tally[i - m->code].lanes -= count;
}

/* `bytes` of each lane, at the address that it gives with operand [..]. memory.c */
void em_count_access(em_warp *w, const em_inst *i, const em_operand *o, bool store, uint32_t bytes,
                     uint32_t mask);

static inline void em_tell(em_event event, em_warp *w, const em_inst *i, uint32_t mask, uint64_t a,
                           uint64_t b)
{
    const em_hooks *hooks = &w->machine->launch->hooks;
    if (hooks->event) hooks->event(hooks->context, event, w, i, mask, a, b);
}

void em_splat(uint8_t *lanes, uint8_t bytes, uint64_t low, uint64_t high);
const char *em_instruction_name(const em_inst *i);
/* What is known of an instruction of PTX: a row of instructions.def. */
typedef struct em_instruction_info {
    const char *name, *meaning, *modifiers; /* modifiers: words between blanks */
    const char *why;                        /* why it is not emulated; NULL: it is */
    bool partly;                            /* `why` is about some of its forms */
} em_instruction_info;
/* The row `index`, of those that name an instruction; false: there are no more. */
bool em_instruction_get(size_t index, em_instruction_info *out);

/* Reports a fault of a lane (-1: the warp) at an instruction; the launch ends. */
void em_fault(em_warp *w, const em_inst *i, int lane, const char *format, ...) CUTE_PRINTF(4, 5);

/* Whether a shared address of the warp's cluster belongs to a block that has ended. memory.c */
bool em_shared_ended(const em_warp *w, uint64_t address);
/* Instructions whose accesses to a block that has ended are lost, as on an H200. There all others fail. */
static inline bool em_is_dropped(const em_inst *i)
{
    return i->opcode == EM_OP_st || i->opcode == EM_OP_mbarrier;
}
/* The bytes that an address of a space names; NULL after a fault. memory.c */
uint8_t *em_locate(em_warp *w, const em_inst *i, int lane, em_space space, uint64_t address, uint32_t bytes,
                   em_access access);
/* The address that lane `lane` gives with operand [..]. */
static inline uint64_t em_address(const em_warp *w, const em_operand *o, int lane)
{
    const em_operand *base = &o->list[0];
    uint64_t a = base->bytes == 8 ? em_r64(w, base)[lane] : em_r32(w, base)[lane];
    return a + (uint64_t)o->offset;
}
/* A shared address (of the block's frame or generic) as an offset in the cluster's frame; false: a fault.
 */
bool em_shared_address(em_warp *w, const em_inst *i, int lane, uint64_t address, uint32_t *out);

/* ---- control.c, schedule.c ---- */
/* Waits until all lanes of `member` have reached the instruction. False: the split waits and the instruction runs
 * again. True: *mask is all of them. */
bool em_gather(em_warp *w, const em_inst *i, uint32_t member, uint32_t *mask);
/* The lanes of `lanes` whose member mask in `o` is that of the first one, in *group; returns the mask. */
uint32_t em_same_members(const em_warp *w, const em_operand *o, uint32_t lanes, uint32_t *group);
/* Active lanes may have different member masks, as tiles of a warp do. Where lanes of a mask are missing, those that are
 * there diverge to wait for them: true, and each path runs the instruction again. */
bool em_diverge_members(em_warp *w, const em_inst *i, const em_operand *o, uint32_t mask);
/* The lanes exit. */
void em_exit_lanes(em_warp *w, uint32_t mask);
/* Part of the lanes go to `target`, the rest to `other`. */
void em_diverge(em_warp *w, uint32_t lanes, uint32_t target, uint32_t other, uint32_t reconverge);
/* The split waits; the instruction runs again. */
void em_block_split(em_warp *w, em_wait wait);
bool em_enter_function(em_warp *w, const em_inst *i, uint32_t mask, const em_function *f, uint32_t return_pc);
void em_barrier_complete(em_block *block);
void em_cluster_complete(em_cluster *cluster);
/* Whether a lane of `mask` has arrived at barrier.cluster and not all others have. */
bool em_cluster_waits(const em_warp *w, uint32_t mask);

/* ---- pending.c ---- */
em_pending *em_pending_add(em_warp *w, const em_inst *i, uint32_t lanes, int kind, size_t data_size);
/* Completes what is due; `all`: what is under way. False after a fault. */
bool em_pending_run(em_machine *m, bool all);
/* Completes wgmma `sequence` of the warp's warpgroup, which all four warps have issued. */
bool em_pending_run_wgmma(const em_warp *w, uint32_t sequence);
/* Completes the work of a warp's lanes of one kind, groups up to number `upto`. */
bool em_pending_finish(em_warp *w, int kind, uint32_t lanes, uint32_t upto);
/* Completes the warp's wgmma up to number `sequence`, which its warpgroup has issued. */
bool em_pending_finish_wgmma(em_warp *w, uint32_t sequence);
/* Before a block's last threads exit: its own work completes, whether or not a thread waits for it, and copies of other
 * blocks that are on their way to its shared memory. */
bool em_pending_end_block(const em_block *block);
/* Whether a bulk copy writes shared memory of the block, or completes at an mbarrier there. copy.c */
bool em_bulk_reaches(const em_pending *p, const em_block *block);
/* Lanes that do not belong to `lanes` become work of their own, next in the list. */
bool em_pending_split(em_machine *m, em_pending *p, uint32_t lanes);
uint64_t em_random(em_machine *m);
/* Of a cp.async under way what a lane copies; the bytes that are not used become 0. copy.c */
typedef struct em_lane_copy {
    uint64_t from; /* global memory */
    uint32_t to, used;
} em_lane_copy;
em_lane_copy em_cp_async_lane(const em_pending *p, int lane);
/* Whether all four warps of the warpgroup have issued wgmma `sequence`. matrix.c */
bool em_warpgroup_issued(const em_warp *w, uint32_t sequence);
/* ---- mbarrier.c ---- */

/* As order_mbarrier_arrive; `state`: before it. False after a fault. */
bool em_mbarrier_arrive(em_warp *w, const em_inst *i, int lane, uint32_t shared_address, uint32_t count,
                        int64_t tx, bool drops, uint64_t *state);
/* As order_mbarrier_raise. */
bool em_mbarrier_raise(em_warp *w, const em_inst *i, int lane, uint32_t shared_address);
/* Arrivals that the mbarrier's phases expect, and that this one lacks. False: there is none. */
bool em_mbarrier_counts(const em_warp *w, uint32_t address, uint32_t *expected, uint32_t *missing);
/* Who waits for what at an mbarrier, as a sentence without its subject. */
void em_mbarrier_describe(const em_warp *w, uint32_t shared_address, uint32_t phase, char *out, size_t size);

#endif
