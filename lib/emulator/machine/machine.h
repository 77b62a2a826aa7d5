/* The machine that runs a program: warps of 32 lanes, blocks, clusters, memory, barriers, a schedule. Runs
 * one launch at a time; machines share nothing but their em_grid. Its names start with em_, those of
 * lib/numeric with num_ and ptx_. */
#ifndef CUTE_LIB_EMULATOR_MACHINE_MACHINE_H
#define CUTE_LIB_EMULATOR_MACHINE_MACHINE_H

#include <stdatomic.h>
#include <string.h>

#include "cute/emulator_options.h"
#include "lib/base/buffer.h"
#include "lib/emulator/program/program.h"
#include "lib/numeric/texture.h"
#include "lib/order/barrier.h"

/* ---- device memory: each allocation has its own address range, so that every access can be checked ---- */

typedef struct em_allocation {
    uint64_t base, size;
    uint8_t *host;
    bool read_only;
    bool owned;       /* host memory is freed with it */
    const char *name; /* of a variable; NULL: an allocation */
    uint32_t device;  /* that owns it */
} em_allocation;

typedef struct em_memory {
    em_allocation *list; /* sorted by base */
    size_t count, capacity;
    uint64_t next;
    uint32_t device; /* of the next allocation */
    struct {
        uint64_t base, size;
    } freed[64]; /* the last ones, for messages; addresses are not reused */
    size_t freed_count;
} em_memory;

/* False if memory is exhausted. Fresh memory is filled with 0xA5. */
bool em_memory_alloc(em_memory *memory, uint64_t size, uint64_t *out);
bool em_memory_add(em_memory *memory, const em_allocation *allocation);
bool em_memory_free(em_memory *memory, uint64_t base);
/* Whether the address is in one of the last freed allocations. */
bool em_memory_was_freed(const em_memory *memory, uint64_t address, uint64_t *base, uint64_t *size);
const em_allocation *em_memory_find(const em_memory *memory, uint64_t address);
/* Whether any of `size` bytes from `base` belongs to an allocation or a window of generic addresses. */
bool em_memory_overlaps(const em_memory *memory, uint64_t base, uint64_t size);
void em_memory_release(em_memory *memory);

/* ---- texture and surface objects: their handles count from EM_TEXTURE_HANDLE; they are not reused. texture.c ---- */

#define EM_TEXTURE_HANDLE UINT64_C(0x7e87000000000000)
typedef struct em_texture {
    cute_texture texture;
    bool live; /* not destroyed */
} em_texture;
typedef struct em_textures {
    em_texture *list;
    size_t count, capacity;
} em_textures;
/* False if memory is exhausted. */
bool em_texture_add(em_textures *textures, const cute_texture *texture, uint64_t *handle);
void em_texture_remove(em_textures *textures, uint64_t handle);

/* ---- a launch ---- */

typedef struct em_machine em_machine;
typedef struct em_block em_block;
typedef struct em_cluster em_cluster;

enum { EM_BLOCK_WARPS = 1024 / 32, EM_DEVICES = 16 };

typedef enum em_access { EM_READ, EM_WRITE, EM_ATOMIC } em_access;

/* Events for the checks, besides accesses. `inst` is NULL if no instruction causes the event. */
typedef enum em_event {
    EM_E_BEGIN,            /* the warp's cluster starts */
    EM_E_FENCE,            /* fence, membar; not proxy fences */
    EM_E_PROXY_FENCE,      /* fence.proxy.async */
    EM_E_WARP_SYNC,        /* bar.warp.sync, all of `mask`; a: the member mask */
    EM_E_WARP_EXCHANGE,    /* shuffle, vote and the like, all of `mask`; a: the member mask */
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
    EM_E_ISSUE,           /* an asynchronous operation; a: its em_pending.issued, b: its kind */
    EM_E_DEADLOCK,        /* the warp waits for ever; a: shared address of an mbarrier, or UINT64_MAX */
} em_event;

/* The accesses of a warp's ld or st, `bytes` each: lane l at `base` + offsets[l], all in one allocation or
 * one block's shared memory. */
typedef struct em_warp_access {
    em_warp *warp;
    const em_inst *inst;
    uint32_t mask, bytes;
    em_space space; /* global or shared */
    em_access kind;
    uint64_t base;
    const uint32_t *offsets;
} em_warp_access;

/* Callbacks of the checks and of the timeline; each may be NULL. `access` precedes the access, once per lane. */
typedef struct em_hooks {
    void *context;
    /* Before `access`, if the lanes form a row. True: `access` is not called for them. */
    bool (*row)(void *context, const em_warp_access *row);
    void (*access)(void *context, em_warp *warp, const em_inst *inst, int lane, em_space space,
                   uint64_t address, uint32_t bytes, em_access access);
    /* Synchronisation events; `a` and `b` depend on the event. */
    void (*event)(void *context, em_event event, em_warp *warp, const em_inst *inst, uint32_t mask,
                  uint64_t a, uint64_t b);
    /* Before each instruction; `lanes` are active, regardless of its guard. */
    void (*step)(void *context, em_warp *warp, const em_inst *inst, uint32_t lanes);
    bool shadows; /* allocates `shadow` in register frames */
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
    const em_textures *textures; /* NULL: none */
    uint32_t grid[3], block[3], cluster[3];
    uint32_t dynamic_shared;
    const uint8_t *params;               /* the parameter block, kernel->param_bytes */
    uint32_t devices;                    /* that run the grid at the same time, at most EM_DEVICES; 0: one */
    uint32_t only;                       /* a bit for each device that runs it; 0: all */
    const uint8_t *const *device_params; /* the parameter block of each; NULL: `params` of all */
    const uint64_t *device_shifts;       /* of each: distance of its variables from program->base; NULL: 0 */
    bool cooperative, programmatic;      /* programmatic: the preceding launch may still run */
    cute_emulator_options options;
    em_tally *tally; /* one per instruction, added to; NULL: not counted */
    em_hooks hooks;
} em_launch;

/* Runs the grid. CUTE_INVALID: a fault or a deadlock, explained in diag. grid.c */
cute_status em_run_grid(const em_launch *launch, cute_emulator_counts *counts, cute_diag *diag);

/* ---- state ---- */

/* The reason why a split waits. */
typedef enum em_wait {
    EM_RUNS,
    EM_WAIT_BARRIER, /* barrier `number` of the block */
    EM_WAIT_CLUSTER, /* barrier.cluster */
    EM_WAIT_WARP,    /* other lanes of the warp */
    EM_WAIT_ASYNC,   /* its own copies or wgmmas */
    EM_JOIN,         /* its child splits */
} em_wait;

/* The register frame of an active function, and its return address. */
typedef struct em_frame {
    struct em_frame *up, *next; /* up: the caller's, or the next free one; next: in w->frames */
    const em_function *function;
    uint8_t *registers;
    uint8_t *shadow; /* if hooks.shadows: as many bytes again, all ones at function entry; else NULL */
    uint32_t return_pc;
    uint32_t users; /* splits that will return from it */
    int64_t sp;
    int64_t stack_top[EM_LANES]; /* at the call */
} em_frame;

/* Active lanes with one pc. When they diverge, the split waits as the join of its two children. */
typedef struct em_split {
    uint32_t pc, rpc, mask;
    int depth, rdepth; /* call depth; rpc counts at rdepth only */
    int parent, children;
    em_frame *frame;
    int64_t sp;
    em_wait wait;
    uint32_t barrier, generation; /* EM_WAIT_BARRIER */
    uint32_t member;              /* EM_WAIT_WARP: lanes */
    uint64_t polled;              /* `changes` at the last failed try_wait, + 1; 0: none */
    uint32_t polled_at;           /* index of that instruction */
    uint32_t poll_address, poll_phase;
    uint32_t polls;    /* consecutive failures there without a change */
    uint32_t gathered; /* EM_WAIT_WARP: lanes that wait */
    bool live;
    bool counted; /* included in `users` of its frames */
    bool woken;   /* its barrier has completed: the instruction is finished, not restarted */
} em_split;

/* Detects a warp that loops without progress: hashes of its state after time slices while memory does not
 * change. hang.c */
typedef struct em_spin {
    uint64_t state;        /* hash of an earlier state */
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
    uint32_t alive, started; /* not exited; present at the start */
    uint32_t index;          /* in the block */
    int current, high;       /* the running split; splits above `high` are free */
    em_spin spin;
    uint32_t local_stores; /* stores to local memory */
    uint32_t diverged;     /* instructions since the warp diverged or lanes were last resumed */
    bool resumed;          /* a diverged path was resumed past its join */
    em_split splits[EM_SPLITS];
    uint8_t *local; /* local memory, lane by lane */
    int64_t local_size;
    int64_t stack_top[EM_LANES]; /* alloca allocates from the top of local memory */
    em_allocation last;          /* most recently found allocation */
    em_frame *free_frames, *frames;
    uint32_t lent; /* lanes whose registers are swapped with those of lenders[lane] during an instruction */
    em_frame *lenders[EM_LANES];
    uint32_t sregs[EM_SREG_fixed_end * EM_LANES];
    /* asynchronous work */
    uint32_t wgmma_groups;                                 /* committed groups of the warp */
    uint32_t copy_groups[EM_LANES], bulk_groups[EM_LANES]; /* committed groups of each lane */
    uint32_t cluster_generation[EM_LANES]; /* generation of the cluster barrier at each lane's arrival */
    uint32_t cluster_arrived;              /* lanes that have ever arrived */
};

typedef struct em_barrier {
    uint32_t generation, arrived, expected;
    uint32_t red_and, red_or, red_count; /* being accumulated */
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
    uint8_t scratch[EM_SCRATCH_BYTES]; /* at address EM_SCRATCH, for programs that read its address */
    uint8_t *pool;
    em_barrier barriers[EM_BARRIERS];
    /* wgmmas issued by each warp; the four of a warpgroup wait for each other */
    uint32_t wgmma_issued[EM_BLOCK_WARPS];
};

struct em_cluster {
    em_block *blocks;
    uint32_t count;
    uint32_t arrived, generation, alive; /* barrier.cluster: threads */
    uint32_t live_warps;
    uint64_t index;  /* in the grid; with several devices: index in its device's grid * devices + device */
    uint32_t device; /* that runs it */
    bool running;
    cute_buffer output; /* of vprintf, while earlier clusters run */
};

/* An asynchronous operation. */
typedef struct em_pending {
    struct em_pending *next;
    uint64_t due;
    em_warp *warp;
    uint32_t lanes;    /* issuing lanes */
    uint32_t size;     /* of data */
    int kind;          /* em_pending_kind */
    uint32_t group;    /* number of its group, 0: not committed */
    uint32_t sequence; /* of a wgmma: its number within the warp */
    uint32_t issued;   /* em_machine.time */
    bool done, read_done;
    const struct cute_tensor_map *map; /* of a tensor copy into shared memory at `box`, for the checks */
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
    uint64_t changes;                         /* at the last change */
    uint64_t reads, shared, instructions;     /* when a cluster last started */
    uint64_t rounds, next;                    /* rounds since then; round of the next probe */
    uint32_t probes, left;                    /* rounds of probing; those that remain */
    uint64_t all_changes, clocks, idle_reads; /* at the first of them; all_changes: of all machines */
    uint64_t clock_changes;                   /* changes of all machines when the clock was last read */
    bool probing, suspect; /* suspect: a warp of this launch looped without progress before */
} em_idle;

/* A host thread and the clusters it runs. */
typedef struct em_grid em_grid;
struct em_machine {
    _Alignas(128) em_grid *grid; /* cache-line aligned: no false sharing between machines */
    bool parallel;               /* other machines run other clusters of the grid */
    atomic_ullong published;     /* copy of `changes` for other machines */
    atomic_ullong stuck;      /* changes of all machines when this one got stuck, + 1; 0: it makes progress */
    atomic_bool ended;        /* no clusters are left for it */
    uint32_t running, width;  /* running clusters; their limit */
    uint64_t failed_at;       /* index of the failed cluster */
    uint64_t clocks, atomics; /* clock reads; atomics on global memory */
    em_idle idle;
    const em_launch *launch;
    const em_program *program;
    const em_inst *code;
    cute_diag *diag;
    cute_emulator_counts counts;
    em_tally *tally;        /* the machine's own, or the launch's */
    em_cluster *clusters;   /* at most `width` slots */
    uint32_t cluster_count; /* slots whose blocks are allocated */
    uint64_t changes;       /* stores, arrivals: anything that another warp might wait for */
    uint64_t round, random;
    uint64_t delays[EM_DEVICES]; /* with a seed: the round before which each device does not run */
    em_pending *pending, **pending_end;
    const em_pending *completing;    /* the operation whose accesses are being made */
    uint32_t time;                   /* for the checks: counts synchronisations */
    uint64_t workspaces[EM_DEVICES]; /* address of a cooperative launch's workspace on each device; 0: none */
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
/* An operand that PTX requires to be uniform over the active lanes: its value in the first one. */
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

/* Number of lanes; usually all. */
static inline uint32_t em_lanes_in(uint32_t mask)
{
    return mask == UINT32_MAX ? EM_LANES : (uint32_t)__builtin_popcount(mask);
}

/* `lanes` will run the instruction again and are counted then; `all`: no other lane ran it this time. */
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

/* Counts `bytes` per lane at operand [..]. memory.c */
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
/* Documentation of a PTX instruction: its row of instructions.def. */
typedef struct em_instruction_info {
    const char *name, *meaning, *modifiers; /* modifiers: separated by blanks */
    const char *why;                        /* why it is not emulated; NULL: it is */
    bool partly;                            /* `why` applies to some forms only */
} em_instruction_info;
/* The index-th named row; false: past the end. */
bool em_instruction_get(size_t index, em_instruction_info *out);

/* Reports a fault of a lane (-1: of the warp) at an instruction; the launch ends. */
void em_fault(em_warp *w, const em_inst *i, int lane, const char *format, ...) CUTE_PRINTF(4, 5);

/* Whether a shared address in the warp's cluster belongs to an exited block. memory.c */
bool em_shared_ended(const em_warp *w, uint64_t address);
/* Instructions whose accesses to an exited block are dropped, as on an H200. Other instructions fail
 * there. */
static inline bool em_is_dropped(const em_inst *i)
{
    return i->opcode == EM_OP_st || i->opcode == EM_OP_mbarrier;
}
/* The host address of an address in a space; NULL after a fault. memory.c */
uint8_t *em_locate(em_warp *w, const em_inst *i, int lane, em_space space, uint64_t address, uint32_t bytes,
                   em_access access);
/* The number of devices of the launch. */
static inline uint32_t em_devices(const em_launch *l)
{
    return l->devices ? l->devices : 1;
}

/* Whether a device takes part in the launch. */
static inline bool em_launched_on(const em_launch *l, uint32_t device)
{
    return !l->only || l->only >> device & 1;
}
/* The parameter block of the warp's device. */
static inline const uint8_t *em_params_of(const em_warp *w)
{
    const em_launch *l = w->machine->launch;
    return l->device_params ? l->device_params[w->block->cluster->device] : l->params;
}
/* The address of operand [..] in lane `lane`. */
static inline uint64_t em_address(const em_warp *w, const em_operand *o, int lane)
{
    const em_operand *base = &o->list[0];
    uint64_t a = base->bytes == 8 ? em_r64(w, base)[lane] : em_r32(w, base)[lane];
    return a + (uint64_t)o->offset;
}
/* Converts a shared address (of the block or generic) to an offset in the cluster's frame; false: a fault. */
bool em_shared_address(em_warp *w, const em_inst *i, int lane, uint64_t address, uint32_t *out);

/* ---- control.c, schedule.c ---- */
/* Waits until all lanes of `member` have reached the instruction. False: the split waits and will run the
 * instruction again. True: *mask contains all of them. */
bool em_gather(em_warp *w, const em_inst *i, uint32_t member, uint32_t *mask);
/* Those of `lanes` whose member mask in `o` equals that of the first lane, in *group; returns that mask. */
uint32_t em_same_members(const em_warp *w, const em_operand *o, uint32_t lanes, uint32_t *group);
/* Active lanes may have different member masks, as tiles of a warp do. If lanes of a mask are missing, those
 * present diverge to wait for them: true, and each path runs the instruction again. */
bool em_diverge_members(em_warp *w, const em_inst *i, const em_operand *o, uint32_t mask);
/* Ends these lanes. */
void em_exit_lanes(em_warp *w, uint32_t mask);
/* `lanes` continue at `target`, the others at `other`. */
void em_diverge(em_warp *w, uint32_t lanes, uint32_t target, uint32_t other, uint32_t reconverge);
/* The split waits, then runs the instruction again. */
void em_block_split(em_warp *w, em_wait wait);
bool em_enter_function(em_warp *w, const em_inst *i, uint32_t mask, const em_function *f, uint32_t return_pc);
void em_barrier_complete(em_block *block);
void em_cluster_complete(em_cluster *cluster);
/* Whether a lane of `mask` has arrived at barrier.cluster while others have not. */
bool em_cluster_waits(const em_warp *w, uint32_t mask);

/* ---- pending.c ---- */
em_pending *em_pending_add(em_warp *w, const em_inst *i, uint32_t lanes, int kind, size_t data_size);
/* Completes the operations that are due; `all`: all of them. False after a fault. */
bool em_pending_run(em_machine *m, bool all);
/* Completes wgmma `sequence` of the warpgroup, which all four warps have issued. */
bool em_pending_run_wgmma(const em_warp *w, uint32_t sequence);
/* Completes the groups up to `upto` of one kind issued by lanes of the warp. */
bool em_pending_finish(em_warp *w, int kind, uint32_t lanes, uint32_t upto);
/* Completes the warp's wgmmas up to `sequence`, which its warpgroup has issued. */
bool em_pending_finish_wgmma(em_warp *w, uint32_t sequence);
/* Before the last threads of a block exit: completes its own operations and copies from other blocks to its
 * shared memory. */
bool em_pending_end_block(const em_block *block);
/* Whether a bulk copy writes the block's shared memory or completes at an mbarrier in it. copy.c */
bool em_bulk_reaches(const em_pending *p, const em_block *block);
/* Moves the lanes outside `lanes` to an operation of their own, next in the list. */
bool em_pending_split(em_machine *m, em_pending *p, uint32_t lanes);
uint64_t em_random(em_machine *m);
/* The copy of a lane in a pending cp.async; unused bytes become 0. copy.c */
typedef struct em_lane_copy {
    uint64_t from; /* global memory */
    uint32_t to, used;
} em_lane_copy;
em_lane_copy em_cp_async_lane(const em_pending *p, int lane);
/* Whether all four warps of the warpgroup have issued wgmma `sequence`. matrix.c */
bool em_warpgroup_issued(const em_warp *w, uint32_t sequence);
/* ---- mbarrier.c ---- */

/* See order_mbarrier_arrive; `state`: the value before. False after a fault. */
bool em_mbarrier_arrive(em_warp *w, const em_inst *i, int lane, uint32_t shared_address, uint32_t count,
                        int64_t tx, bool drops, uint64_t *state);
/* See order_mbarrier_raise. */
bool em_mbarrier_raise(em_warp *w, const em_inst *i, int lane, uint32_t shared_address);
/* The arrivals per phase, and those missing from the current one. False: no valid mbarrier. */
bool em_mbarrier_counts(const em_warp *w, uint32_t address, uint32_t *expected, uint32_t *missing);
/* Describes a wait at an mbarrier: "waits for phase ...". */
void em_mbarrier_describe(const em_warp *w, uint32_t shared_address, uint32_t phase, char *out, size_t size);

#endif
