/* Shared declarations of the checks' parts: the table of parts, and the state of a launch, its clusters,
 * warps and threads. A check is a row of cute/checks.def and, for each part it names, a file that defines
 * em_part_NAME. */
#ifndef CUTE_LIB_CHECKS_PARTS_H
#define CUTE_LIB_CHECKS_PARTS_H

#include <jansson.h>

#include "lib/base/devices/traffic.h"
#include "lib/checks/checks.h"
#include "lib/plugin/plugins.h"

typedef struct shadow shadow;
typedef struct vclock vclock;
typedef struct cross_clock cross_clock;

/* ---- parts ---- */

/* An access of one lane; -1: of the whole warp, or asynchronous. */
typedef struct memory_access {
    em_warp *warp;
    const em_inst *inst;
    int lane;
    em_space space; /* shared, global (also constants) or local */
    em_access kind;
    bool mbarrier; /* by an mbarrier.* instruction: a write by init, else a read */
    bool strong;   /* relaxed, volatile, atomic or stronger */
    uint32_t bytes;
    uint64_t address;
    shadow *shadow; /* NULL: local or reserved shared memory */
    uint64_t at;    /* offset in the shadow */
} memory_access;

typedef struct em_part em_part;
struct em_part {
    const em_part *const *needs;        /* parts whose state it reads, NULL-terminated */
    uint32_t events;                    /* one bit per em_event it receives */
    bool (*wanted)(const em_checks *c); /* whether the launch's accesses concern it; NULL: yes */
    bool (*begin)(em_checks *c);        /* before c->launch. False, here and below: memory is exhausted */
    bool (*grow)(em_checks *c,
                 uint32_t places); /* makes room for clusters in this many slots of the machine */
    void (*end)(em_checks *c);     /* after a launch, also a failed begin */
    void (*event)(em_checks *c, em_event event, em_warp *w, const em_inst *i, uint32_t mask, uint64_t a,
                  uint64_t b);
    bool (*access)(em_checks *c,
                   const memory_access *a); /* before the access; false: hidden from later parts */
    /* The same for a warp's accesses at once. False: `access` is called per lane instead, also of parts that
     * already saw the row, so a row's effects may be applied twice. NULL: always false. */
    bool (*row)(em_checks *c, const em_warp_access *r, shadow *s, uint64_t at);
    bool (*concerns)(const em_checks *c, const em_inst *i); /* instructions that need `step`; NULL: all */
    /* Before an instruction: `lanes` are active, `mask` also satisfy its guard. */
    void (*step)(em_checks *c, em_warp *w, const em_inst *i, uint32_t lanes, uint32_t mask);
    bool shadows_registers; /* needs `shadow` in register frames */
};
enum { PARTS = 20 };
#define EVENT(name)                       (UINT32_C(1) << EM_E_##name)

#define CHECK(id, bit, name, parts, text) parts
#define PART(name)                        extern const em_part em_part_##name;
#include "cute/checks.def"
/* The part of all checks of plugins. */
extern const em_part em_part_plugins;
/* Parts that several checks depend on. */
extern const em_part em_part_clusters, em_part_shadow_memory, em_part_vector_clocks, em_part_mbarrier_states;

/* ---- vector clocks: accesses ordered before those of a thread ---- */

/* Time counts synchronisations. A clock holds, for each thread of a cluster, the time up to which its
 * accesses are ordered before later ones. Each kind of asynchronous work of a warp counts as one more thread,
 * ordered only after a wait for it. Immutable and shared. */
struct vclock {
    uint32_t references;
    cross_clock *cross; /* other clusters (flags.c); NULL: nothing known */
    uint32_t clock[];
};

/* SCOPE_SYSTEM only if the launch has several devices; otherwise it equals SCOPE_GRID. */
enum { SCOPE_BLOCK, SCOPE_CLUSTER, SCOPE_GRID, SCOPE_SYSTEM, SCOPES };

/* A synchronisation object: a barrier or an mbarrier. */
typedef struct sync_var {
    uint32_t *accumulated; /* clock of this phase's arrivals; NULL: none */
    const vclock *last;    /* clock of the last arrival */
    vclock *result;        /* of the last complete phase */
    cross_clock *cross;    /* accumulated for other clusters */
    const vclock *last_fenced[SCOPES];
    vclock *fenced[SCOPES], *fenced_result[SCOPES]; /* the same, as of the last fences */
    vclock *assumed, *assumed_result;               /* the same, of thread_state.assumed */
} sync_var;

typedef struct thread_state {
    vclock *known;
    vclock *fenced[SCOPES];   /* `known` at its last fence of at least that scope; NULL: none */
    vclock *observed[SCOPES]; /* read from flags, not yet followed by a fence */
    bool counted;             /* partly read by atom.add or atom.inc */
    vclock *locked;           /* read by other atomics, which may take locks */
    vclock *assumed; /* ordered by hardware, not by the memory model: by a barrier after such an atomic */
    uint32_t fence[SCOPES];
    const em_inst *device_fence;                /* the last fence of a scope below the system's */
    uint32_t proxy_fence[2];                    /* fence.proxy.async of shared and global memory */
    uint32_t init_fence;                        /* fence.mbarrier_init */
    uint32_t cluster_released, cluster_relaxed; /* latest barrier.cluster.arrive, by kind */
} thread_state;

enum { WGMMA_KIND = 2, BULK_WRITE_KIND = 3, ASYNC_KINDS = 4, GROUPS_KEPT = 16, BLOCK_BARRIERS = EM_BARRIERS };

/* Lanes of a warp that arrived at an incomplete barrier. */
typedef struct warp_arrival {
    const em_inst *inst; /* of the last arrival */
    uint32_t lanes;
} warp_arrival;

typedef struct warp_state {
    warp_arrival arrivals[BLOCK_BARRIERS];
    uint32_t committed[ASYNC_KINDS][GROUPS_KEPT];
    uint32_t cluster_lanes;            /* arrived at barrier.cluster, not yet waited */
    uint32_t exchanged, exchange_mask; /* time and lanes of the last shuffle or vote */
    const vclock *known;               /* common to all lanes; NULL: lanes differ */
    warp_arrival whole;                /* at an instruction for whole warps; lanes 0: none is incomplete */
} warp_state;

/* A barrier of a block. */
typedef struct barrier_state {
    sync_var sync;
    const em_inst *inst; /* of the last arrival; NULL if it has a thread count */
} barrier_state;

typedef struct mbarrier_state {
    uint32_t address;
    sync_var sync;
    int64_t expected, arrived; /* bytes of this phase */
    const em_inst *expect_inst, *arrive_inst, *init_inst, *twice_inst;
    uint32_t init_id, init_time; /* the thread, and its time */
    uint8_t *arrivals;           /* of this phase, one bit per thread; NULL: out of memory */
    uint32_t twice_id;           /* thread that arrived twice in a phase, at twice_inst (NULL: none) */
} mbarrier_state;

/* A flag of another device that a thread has read, and the time of the write that it read. */
typedef struct flag_seen {
    uint64_t address;
    uint32_t id, time;
} flag_seen;
enum { FLAGS_SEEN = 64 };

typedef struct cluster_state {
    uint32_t serial; /* number in the grid, + 1; with several devices also unique among launches */
    uint32_t device;
    uint32_t began;
    uint32_t map_fence;    /* time of the last acquiring tensormap fence */
    bool waited;           /* griddepcontrol.wait: the preceding launch has ended */
    thread_state *threads; /* c->entries of them */
    warp_state *warps;
    barrier_state *barriers; /* BLOCK_BARRIERS a block */
    sync_var cluster;
    mbarrier_state *mbarriers;
    size_t mbarrier_count, mbarrier_capacity;
    shadow *shared; /* one per block */
    /* By the device of a flag's writer (ranks.c): the last read of such a flag if it had the value of an earlier
     * use, and the fence before a flag, or after reading it, whose scope excludes other devices; NULL: none. */
    const em_inst *stale[EM_DEVICES], *narrow[EM_DEVICES];
    flag_seen seen[FLAGS_SEEN]; /* by a hash of thread and address */
} cluster_state;

/* ---- shadows: state of each byte ---- */

typedef struct access_record {
    uint32_t time; /* 0: none */
    uint32_t inst, cluster;
    uint16_t id; /* thread in its cluster */
    uint8_t mask, flags;
} access_record;
enum {
    ACCESS_STRONG = 1,
    ACCESS_WRITE = 2,
    ACCESS_ASYNC = 4,
    ACCESS_PROXY = 8,
    ACCESS_ATOMIC = 16,
    ACCESS_REDUNDANT = 32,
    ACCESS_BLOCK = 64, /* strong only in this scope */
    ACCESS_CLUSTER = 128,
    ACCESS_SCOPE = 192 /* both: the device, if there are several */
};

/* 16 bytes of shared memory written by a tensor copy: their row and column (in 16-byte units) in its box. */
typedef struct tile_piece {
    uint32_t box, inst; /* box: number of the copy, 0: none */
    uint16_t row;
    uint8_t column, span; /* span: of the copy's swizzle, bytes */
} tile_piece;

struct shadow {
    uint64_t base, total, size;
    char *name;
    uint8_t *written;                        /* one bit per byte; NULL: all written, or not tracked */
    access_record *writes, *reads;           /* by granule; `slots` reads each; NULL: none yet */
    access_record *write_lines, *read_lines; /* global memory: of lines that are not split */
    uint8_t *split;                          /* 1: by granule */
    uint8_t granule, slots;                  /* log2 of bytes */
    bool too_large;
    bool shared_use;    /* shared memory accessed by other blocks of the cluster or asynchronously */
    uint8_t *mbarriers; /* shared memory: one bit per 8 bytes that are an mbarrier; NULL: none yet */
    tile_piece *pieces; /* NULL: no tensor copy yet */
};

/* ---- memory transactions ---- */

/* The lanes of the instruction that is executing. */
typedef struct memory_request {
    const em_warp *warp;
    const em_inst *inst;
    const em_pending *pending; /* the completing copy; NULL: none */
    int last;                  /* last lane added */
    cute_request of;
} memory_request;
_Static_assert((int)CUTE_REQUEST_LANES >= (int)EM_LANES, "a request holds a warp");

/* Counts of one kind of traffic. */
typedef struct memory_traffic {
    cute_traffic *by_inst; /* NULL: not counted */
    memory_request request;
} memory_traffic;

/* ---- findings ---- */

typedef enum finding_kind {
#define FINDING(id, code, check, severity, note, reason) FOUND_##id,
#include "lib/checks/findings.def"
} finding_kind;

/* A finding of the running launch. */
typedef struct finding {
    finding_kind kind;
    const struct cute_plugin_check_finding *added; /* the row of a plugin, instead of `kind`; else NULL */
    unsigned added_check;                          /* its bit */
    uint32_t inst, other;                          /* index in the program; UINT32_MAX: none */
    uint64_t count;
    uint32_t device, block[3], thread[3], warp; /* of the first occurrence */
    bool whole_warp;
    cute_buffer text;
} finding;

/* ---- the state ---- */

struct em_checks {
    unsigned which;
    const char *const *allow; /* user's entries, allow_count of them */
    size_t allow_count;
    const cute_plugins *plugins; /* NULL: none */
    struct plugin_checks *added; /* their checks, during a launch */
    const em_part *parts[PARTS]; /* each after those it needs */
    size_t part_count;
    bool shadows;                        /* shadow_memory is selected */
    const em_part *listeners[32][PARTS]; /* by event, NULL-terminated */
    const em_part *accessing[PARTS], *stepping[PARTS];
    size_t stepping_count;
    uint16_t *steps;         /* by instruction: one bit per element of `stepping` */
    uint8_t *access_classes; /* by instruction: CLASS_... of checks.c */
    const em_launch *launch;
    em_machine *machine;      /* NULL: no launch */
    bool active;              /* the parts have been started */
    uint32_t time;            /* the machine's, kept between launches */
    uint32_t previous_launch; /* start of the preceding launch */
    uint32_t launch_time;     /* start of this launch */
    bool triggered,
        previous_triggered; /* griddepcontrol.launch_dependents was executed in this, the preceding launch */
    uint32_t entries, stride; /* entries of a clock; of one block in it */
    cluster_state *clusters;
    uint32_t cluster_count, cluster_room; /* clusters known to the parts; allocated in `clusters`, cleared */
    uint64_t grid_clusters;               /* of all devices */
    uint32_t devices;
    /* ranks.c: several devices. Their launches are not ordered among each other. */
    uint32_t serial_base;   /* clusters of earlier launches */
    uint32_t *launch_times; /* starts of the launches so far */
    size_t launch_count, launch_capacity;
    cross_clock *ended[EM_DEVICES],
        *begun[EM_DEVICES],                 /* known to the exited threads, at the launch's start */
        *signalled[EM_DEVICES][EM_DEVICES]; /* known to a device when it signalled another */
    const em_program *only_program;         /* of all launches so far; NULL: there were several */
    bool other_programs;
    bool exhausted; /* memory: the findings are incomplete */
    /* flags.c */
    struct flag_state *flags;
    size_t flag_count, flag_capacity;
    struct release_history **history; /* by cluster; NULL: none */
    size_t history_bytes, history_room;
    uint8_t *scratch;
    size_t scratch_room;
    /* shadow_memory.c */
    shadow *regions; /* global memory, by base */
    size_t region_count, region_capacity;
    shadow *last_region;
    uint64_t heap; /* first address returned by malloc during the launch */
    /* memory_transactions.c */
    memory_traffic traffic[EM_TRAFFIC_KINDS];
    em_transactions *transactions; /* of the launch's counters; NULL: not wanted */
    /* footprint.c */
    em_footprint *footprint; /* likewise */
    struct footprint_map *footprints;
    /* undefined_registers.c */
    struct register_flow *flows; /* by instruction; NULL: registers are not tracked */
    struct register_use *uses;
    size_t use_count, use_capacity;
    struct load_origin *origins;
    size_t origin_count, origin_capacity;
    uint8_t **locals; /* by warp: written bytes of local memory; NULL: unused so far */
    size_t local_count;
    /* wgmma_registers.c */
    struct wgmma_registers *wgmma; /* NULL: no wgmma */
    /* report.c */
    finding *findings; /* of the launch */
    size_t finding_count, finding_capacity;
    cute_finding *found; /* of all launches; their strings are in the arena */
    size_t found_count, found_capacity;
    cute_arena *arena;
    json_t *lines;
    json_t *line_index; /* elements of `lines` by space, kernel and place */
};

static inline cluster_state *cluster_of(const em_checks *c, const em_warp *w)
{
    return &c->clusters[w->block->cluster - c->machine->clusters];
}
static inline warp_state *warp_of(const em_checks *c, const em_warp *w)
{
    return &cluster_of(c, w)->warps[w->block->rank * w->block->warp_count + w->index];
}
static inline uint32_t thread_id(const em_checks *c, const em_warp *w, int lane)
{
    return w->block->rank * c->stride + w->index * EM_LANES + (uint32_t)(lane < 0 ? 0 : lane);
}
static inline uint32_t async_id(const em_checks *c, const em_warp *w, uint32_t kind)
{
    uint32_t index = kind == WGMMA_KIND ? w->index / 4 * 4 : w->index; /* a wgmma belongs to the warpgroup */
    return w->block->rank * c->stride + w->block->warp_count * EM_LANES + index * ASYNC_KINDS + kind;
}
/* cp.async, bulk copies, wgmma. Bulk copies' writes to global memory are a kind of their own: .read does not
 * wait for them. */
static inline uint32_t async_kind(int kind)
{
    return kind == EM_P_CP_ASYNC || kind == EM_P_MBARRIER ? 0 : kind == EM_P_WGMMA ? WGMMA_KIND : 1;
}
static inline uint32_t inst_index(const em_checks *c, const em_inst *i)
{
    return (uint32_t)(i - c->launch->program->code);
}

/* ---- vector_clock.c ---- */

/* Advances time: later accesses are not covered by earlier releases. */
uint32_t em_tick(em_checks *c);
/* Merges `what` into the lanes' clocks. */
void em_vclock_acquire(em_checks *c, em_warp *w, uint32_t mask, const vclock *what);
vclock *em_vclock_keep(const vclock *v);
void em_vclock_drop(const vclock *v);
void em_vclock_set(vclock **at, const vclock *value);
/* `clock` NULL: zeros. NULL if memory is exhausted. */
vclock *em_vclock_make(em_checks *c, const uint32_t *clock, cross_clock *cross);
vclock *em_vclock_join(em_checks *c, const vclock *a, const vclock *b);
/* *at becomes the join of *at and `more`; either may be NULL. */
void em_vclock_add(em_checks *c, vclock **at, const vclock *more);
void em_sync_release(sync_var *sync);

/* ---- flags.c: fences, releases and acquires of the memory model ---- */

void em_flags_fence(em_checks *c, em_warp *w, const em_inst *i, uint32_t mask);
/* Lanes arrive at a block barrier, possibly after an atomic. */
void em_flags_arrive(em_checks *c, em_warp *w, uint32_t mask, sync_var *barrier);
/* A strong access, through which threads may synchronise. */
void em_flags_access(em_checks *c, em_warp *w, const em_inst *i, int lane, uint64_t address,
                     em_access access);
/* SCOPE_... of a fence or access. */
uint32_t em_scope_of(const em_checks *c, const em_inst *i);
cross_clock *em_cross_join(em_checks *c, cross_clock *a, cross_clock *b);
/* The same, and all of a device's launches so far. */
cross_clock *em_cross_launches(em_checks *c, cross_clock *a, cross_clock *b, uint32_t device, uint32_t time);
/* The clock that releases of a flag at system scope published, between launches; NULL: none. */
cross_clock *em_flags_published(em_checks *c, uint64_t address);
cross_clock *em_cross_keep(cross_clock *f);
void em_cross_drop(cross_clock *f);
/* Whether another cluster's release covers `previous` for a thread that knows `f`. */
bool em_cross_covers(const em_checks *c, const cross_clock *f, const access_record *previous);
/* After a launch. With several devices flags and releases remain, since other devices may not have ended. */
void em_flags_end(em_checks *c);
void em_flags_release(em_checks *c);
void em_flags_begin(em_checks *c);

/* ---- ranks.c ---- */

/* The device of a cluster. */
static inline uint32_t em_device_of(const em_checks *c, uint32_t serial)
{
    return c->devices > 1 ? (serial - 1) % c->devices : 0;
}
/* Whether the access is of an earlier launch, and of the same device as cluster `o`: then it is ordered. */
static inline bool em_is_earlier(const em_checks *c, const cluster_state *o, const access_record *previous)
{
    return previous->time <= c->launch_time &&
           (c->devices == 1 || !previous->time || em_device_of(c, previous->cluster) == o->device);
}
void em_ranks_begin(em_checks *c);
void em_ranks_end(em_checks *c);
void em_ranks_release(em_checks *c);
/* The start of the last launch before `time`. */
uint32_t em_ranks_launch_before(const em_checks *c, uint32_t time);
/* Before a strong read of global memory. */
void em_ranks_poll(em_checks *c, const memory_access *a);
/* The cause of a race between devices; `o`: the cluster of `current`. */
typedef struct rank_race {
    finding_kind kind;
    uint32_t other; /* index of the other instruction; UINT32_MAX: unknown */
    bool earlier;   /* `previous` is of an earlier launch */
    char lack[160];
} rank_race;
rank_race em_ranks_explain(const em_checks *c, const cluster_state *o, const access_record *previous,
                           const access_record *current);

/* Whether `previous` is ordered before accesses of thread `id` of the cluster, which knows `known`. */
static inline bool em_is_ordered(const em_checks *c, const cluster_state *o, uint32_t id,
                                 const access_record *previous, const vclock *known)
{
    if (em_is_earlier(c, o, previous)) return true;
    if (previous->cluster == o->serial &&
        (previous->id == id || previous->time <= known->clock[previous->id]))
        return true;
    return known->cross && em_cross_covers(c, known->cross, previous);
}

/* ---- mbarrier_states.c ---- */

/* NULL: unknown, or memory is exhausted. */
mbarrier_state *em_mbarrier_find(em_checks *c, cluster_state *o, uint32_t address, bool add);

/* ---- line_records.c ---- */

/* A warp's access to whole lines; `current` describes its first lane. False: not whole lines in lane order;
 * split them and check each lane. */
bool em_lines_access(em_checks *c, const em_warp_access *a, shadow *s, uint64_t at,
                     const access_record *current, const vclock *known);
/* Required before access to granules. False: memory is exhausted. */
bool em_lines_split(em_checks *c, shadow *s, uint64_t at, uint64_t bytes);

/* ---- shadow_memory.c ---- */

void em_shadow_release(shadow *s);
void em_shadow_write(shadow *s, uint64_t at, uint64_t bytes, bool written);
/* Sets `shadow` and `at`. False: no shadow, or the access will fault. */
bool em_shadow_locate(em_checks *c, memory_access *a);
/* "byte 12 of shared 'tile' (address 0x40c)" for an address used by the warp. */
void em_shadow_describe(em_checks *c, const em_warp *w, em_space space, uint64_t address, char *out,
                        size_t size);
/* The same for an offset in a shadow. */
void em_shadow_place(const em_checks *c, const em_warp *w, em_space space, const shadow *s, uint64_t at,
                     char *out, size_t size);

/* ---- undefined_registers.c: no-ops if c->flows is NULL ---- */

/* A lane loads uninitialised bytes, one bit of `undefined` each. False: the destination is not a register. */
bool em_registers_load(em_checks *c, em_warp *w, const em_inst *i, int lane, em_space space, uint64_t address,
                       uint64_t undefined);
/* Undefined bytes among those that a lane stores; `global`: reported if a whole value is undefined. */
uint64_t em_registers_store(em_checks *c, em_warp *w, const em_inst *i, int lane, bool global);

/* Whether a lane of `mask` stores an undefined byte. */
bool em_registers_undefined(const em_checks *c, const em_warp *w, const em_inst *i, uint32_t mask);

/* ---- allowed.c ---- */

/* Whether the user allows the finding; `ptx`: file of the PTX, NULL: none. */
bool em_allowed(const em_checks *c, const cute_finding *f, const char *ptx);

/* ---- report.c ---- */

/* Records a finding, once per pair of instructions. False: already recorded. */
bool em_check_find(em_checks *c, finding_kind kind, em_warp *w, const em_inst *i, int lane, uint32_t other,
                   const char *format, ...) CUTE_PRINTF(7, 8);
/* The same for the finding of a plugin's check. */
bool em_check_find_added(em_checks *c, const plugin_check *check, const cute_plugin_check_finding *row,
                         em_warp *w, const em_inst *i, int lane, const char *format, ...) CUTE_PRINTF(7, 8);
void em_report_launch(em_checks *c, cute_diag *diag);

#endif
