/* What the parts of the checks share. */
#ifndef CUTE_LIB_CHECKS_STATE_H
#define CUTE_LIB_CHECKS_STATE_H

#include <jansson.h>

#include "lib/checks/checks.h"

/* ---- order: who knows that whose accesses are over ---- */

/* Time counts synchronisations. A snapshot says for each thread of a cluster up to which time its accesses
 * are ordered before what comes. The asynchronous work of a warp counts as a thread, one for each kind: it is
 * ordered only where somebody waited for it. Immutable and shared. */
typedef struct foreign foreign; /* what is known of other clusters: checkflag.c */
typedef struct published published;
typedef struct snapshot {
    uint32_t references;
    foreign *foreign; /* NULL: nothing */
    uint32_t clock[];
} snapshot;

/* Who hears a fence or an atomic. */
enum { SCOPE_BLOCK, SCOPE_CLUSTER, SCOPE_GRID, SCOPES };

/* Something that many give to and many take from: a barrier, a flag. */
typedef struct meeting {
    uint32_t *gathering; /* NULL: nobody came */
    const snapshot *last;
    snapshot *result;
    foreign *foreign; /* being gathered */
    const snapshot *last_fenced[SCOPES];
    snapshot *fenced[SCOPES], *fenced_result[SCOPES]; /* what those knew at their last fences */
    const em_inst *inst; /* of a barrier of the block: who came last; NULL where a count is given */
} meeting;

typedef struct thread_order {
    snapshot *known;
    snapshot *fenced[SCOPES]; /* known at its last fence of that scope or a wider one, NULL none */
    snapshot *heard[SCOPES];  /* from flags, by reads that no fence has followed yet */
    bool counted;             /* some of that by an atomic add or inc */
    uint32_t fence[SCOPES], proxy_fence;
    uint32_t init_fence; /* fence.mbarrier_init */
} thread_order;

enum { WGMMA_KIND = 2, BULK_WRITE_KIND = 3, ASYNC_KINDS = 4, GROUPS_KEPT = 16, BLOCK_BARRIERS = EM_BARRIERS };

/* A warp's lanes at a barrier that is not complete yet. */
typedef struct warp_arrival {
    const em_inst *inst; /* where the last came */
    uint32_t lanes;
} warp_arrival;

typedef struct warp_order {
    warp_arrival arrivals[BLOCK_BARRIERS];
    uint32_t committed[ASYNC_KINDS][GROUPS_KEPT];
    uint32_t cluster_lanes;            /* that have arrived at barrier.cluster and not waited */
    uint32_t exchanged, exchange_mask; /* when and who in the last shuffle or vote */
    warp_arrival whole;                /* who came to an instruction for whole warps; all: 0 */
} warp_order;

typedef struct mbarrier_order {
    uint32_t address;
    meeting meeting;
    int64_t expected, came; /* bytes of this phase */
    const em_inst *expect_inst, *come_inst;
    const em_inst *init_inst;
    uint32_t init_id, init_time; /* the thread, and when */
} mbarrier_order;

/* A global or shared location by which threads tell each other that data is there. */
typedef struct flag_order {
    uint64_t address;               /* 0: free */
    uint32_t cluster, rank, writer; /* who released last */
    snapshot *released[SCOPES];     /* to whom in that scope; SCOPE_GRID: of other clusters only */
} flag_order;

typedef struct shadow shadow;

typedef struct cluster_order {
    uint32_t serial;    /* number in the grid, + 1 */
    uint32_t map_fence; /* when somebody last acquired tensor maps */
    bool waited;        /* griddepcontrol.wait: the launch before has ended */
    uint32_t began;
    thread_order *threads; /* check->entries of them */
    warp_order *warps;
    meeting *barriers; /* BLOCK_BARRIERS a block */
    meeting cluster;
    mbarrier_order *mbarriers;
    size_t mbarrier_count, mbarrier_capacity;
    shadow *shared; /* a block each */
} cluster_order;

/* ---- shadows: what each byte went through ---- */

typedef struct access_record {
    uint32_t time; /* 0: none */
    uint32_t inst, cluster;
    uint16_t id; /* of the thread in its cluster */
    uint8_t mask, flags;
} access_record;
enum {
    ACCESS_STRONG = 1,
    ACCESS_WRITE = 2,
    ACCESS_ASYNC = 4,
    ACCESS_PROXY = 8,
    ACCESS_ATOMIC = 16,
    ACCESS_REDUNDANT = 32,
    ACCESS_BLOCK = 64, /* strong in this scope only */
    ACCESS_CLUSTER = 128
};

/* 16 bytes of shared memory that a tensor copy wrote: from which row and column (in 16 bytes) of its box. */
typedef struct tile_piece {
    uint32_t box, inst; /* box: the copy, 0 none */
    uint16_t row;
    uint8_t column, span; /* span: of the copy's swizzle, in bytes */
} tile_piece;

struct shadow {
    uint64_t base, total, size;
    char *name;
    uint8_t *written;              /* a bit a byte; NULL: all of it */
    access_record *writes, *reads; /* by granule; of reads `slots` each; NULL until one comes */
    uint8_t granule, slots;        /* log2 of the bytes */
    bool too_large;
    bool shared_use;    /* shared memory that other blocks of the cluster or asynchronous work used */
    uint8_t *mbarriers; /* of shared memory: a bit for 8 bytes that are a mbarrier; NULL until one is */
    tile_piece *pieces; /* NULL until a tensor copy comes */
};

/* ---- traffic ---- */

typedef struct traffic {
    uint64_t requests, transactions, ideal;
} traffic;

/* The lanes of one instruction that is being executed. */
typedef struct request {
    const em_warp *warp;
    const em_inst *inst;
    int last;
    uint32_t count, bytes;
    uint64_t address[EM_LANES];
    uint8_t lane[EM_LANES];
} request;

/* ---- findings ---- */

typedef struct finding {
    unsigned kind;
    uint32_t inst, other; /* of the program; UINT32_MAX none */
    const char *what;     /* which of the findings of that kind, for equality */
    uint64_t count;
    cute_buffer text, where;
} finding;

typedef struct register_flow register_flow;
typedef struct load_origin load_origin;

struct em_checks {
    unsigned which;
    const em_launch *launch;
    em_machine *machine;
    uint32_t previous_launch;              /* when the launch before began */
    uint32_t launch_time, entries, stride; /* entries of a snapshot; of a block */
    cluster_order *clusters;
    uint32_t cluster_count;
    uint64_t grid_clusters;
    flag_order *flags;
    size_t flag_count, flag_capacity;
    published **published; /* by cluster, NULL: nothing */
    size_t published_bytes;
    uint8_t *scratch;
    shadow *regions; /* global memory, by base */
    size_t region_count, region_capacity;
    shadow *last_region;
    uint64_t heap;            /* addresses from here on are given by malloc while the launch runs */
    traffic *shared, *global; /* by instruction */
    request shared_request, global_request;
    finding *findings;
    size_t finding_count, finding_capacity;
    json_t *found, *lines;
    json_t *line_index; /* the elements of `lines` by space, kernel and place */
    uint32_t time;
    register_flow *flows; /* by instruction; NULL: registers are not watched */
    struct register_use *uses;
    size_t use_count, use_capacity;
    load_origin *origins;
    size_t origin_count, origin_capacity;
    uint8_t **locals; /* by warp: which bytes of local memory were written; NULL until one is used */
    size_t local_count;
    uint8_t *concerns;         /* by instruction: which checks of checkstep.c */
    struct products *products; /* NULL: no wgmma, or races are not looked for */
    bool exhausted;            /* memory: what was found so far is told */
};

/* The warp's cluster. */
static inline cluster_order *cluster_of(const em_checks *c, const em_warp *w)
{
    return &c->clusters[w->block->cluster - c->machine->clusters];
}
static inline uint32_t thread_id(const em_checks *c, const em_warp *w, int lane)
{
    return w->block->rank * c->stride + w->index * EM_LANES + (uint32_t)(lane < 0 ? 0 : lane);
}
static inline uint32_t async_id(const em_checks *c, const em_warp *w, uint32_t kind)
{
    uint32_t index = kind == WGMMA_KIND ? w->index / 4 * 4 : w->index; /* products belong to the warpgroup */
    return w->block->rank * c->stride + w->block->warp_count * EM_LANES + index * ASYNC_KINDS + kind;
}
/* cp.async, bulk copies, wgmma. What bulk copies write to global memory is a kind of its own: .read does not
 * wait for it. */
static inline uint32_t async_kind(int kind)
{
    return kind == EM_P_CP_ASYNC || kind == EM_P_MBARRIER ? 0 : kind == EM_P_WGMMA ? WGMMA_KIND : 1;
}
static inline uint32_t inst_index(const em_checks *c, const em_inst *i)
{
    return (uint32_t)(i - c->machine->code);
}

/* checkorder.c */
bool em_order_begin(em_checks *c);
/* Room for the clusters in so many of the machine's places. */
bool em_order_grow(em_checks *c, uint32_t places);
void em_order_end(em_checks *c);
void em_order_event(em_checks *c, em_event event, em_warp *w, const em_inst *i, uint32_t mask, uint64_t a,
                    uint64_t b);
/* Whether `then` is ordered before what thread `id` of the cluster does now. */
bool em_order_is_before(const em_checks *c, const cluster_order *cluster, uint32_t id,
                        const access_record *then);
/* What is known of a mbarrier; NULL: nothing, or memory is exhausted. */
mbarrier_order *em_order_mbarrier(em_checks *c, cluster_order *o, uint32_t address, bool add);
/* Time goes on: what comes is not ordered with what was released. */
uint32_t em_order_tick(em_checks *c);
/* The lanes learn what `what` knows. */
void em_order_learn(em_checks *c, em_warp *w, uint32_t mask, const snapshot *what);
snapshot *em_snapshot_keep(const snapshot *s);
void em_snapshot_drop(const snapshot *s);
void em_snapshot_set(snapshot **at, const snapshot *value);
/* NULL when memory is exhausted. A clock of NULL: nothing. */
snapshot *em_snapshot_make(em_checks *c, const uint32_t *clock, foreign *others);
snapshot *em_snapshot_join(em_checks *c, const snapshot *a, const snapshot *b);

/* checkflag.c */
void em_order_fence(em_checks *c, em_warp *w, const em_inst *i, uint32_t mask);
/* Lanes come to a barrier of the block, some behind an atomic. */
void em_order_counted(em_checks *c, em_warp *w, uint32_t mask);
/* A relaxed, volatile or atomic access to a location, by which threads may meet. */
void em_order_flag(em_checks *c, em_warp *w, const em_inst *i, int lane, uint64_t address, em_access access);
/* SCOPE_... of a fence or an access. */
uint32_t em_scope_of(const em_inst *i);
foreign *em_foreign_join(em_checks *c, foreign *a, foreign *b);
foreign *em_foreign_keep(foreign *f);
void em_foreign_drop(foreign *f);
/* Whether another cluster released the access to who knows `f`. */
bool em_foreign_covers(const em_checks *c, const foreign *f, const access_record *then);
void em_flags_end(em_checks *c);

/* checkshadow.c */
void em_shadow_access(em_checks *c, em_warp *w, const em_inst *i, int lane, em_space space, uint64_t address,
                      uint32_t bytes, em_access access, bool mbarrier);
bool em_shadow_make(shadow *s, uint64_t base, uint64_t total, bool written, uint8_t granule);
void em_shadow_release(shadow *s);
void em_shadow_forget(shadow *s); /* of a block that begins */
void em_shadow_write(shadow *s, uint64_t at, uint64_t bytes, bool written);

/* "byte 12 of shared 'tile' (address 0x40c)", of what an instruction of the warp names. */
void em_shadow_describe(em_checks *c, const em_warp *w, em_space space, uint64_t address, char *out,
                        size_t size);

/* checkregister.c: which registers hold what nothing wrote. Nothing happens where c->flows is NULL. */
bool em_registers_begin(em_checks *c);
bool em_registers_grow(em_checks *c, uint32_t places);
void em_registers_end(em_checks *c);
void em_registers_begin_cluster(em_checks *c, em_cluster *cluster);
/* Before an instruction, and before lanes exchange values. */
void em_registers_step(em_checks *c, em_warp *w, const em_inst *i, uint32_t lanes);
void em_registers_exchange(em_checks *c, em_warp *w, const em_inst *i, uint32_t mask);
/* A lane loads bytes that nothing wrote, a bit of `undefined` each. False: no registers take them. */
bool em_registers_load(em_checks *c, em_warp *w, const em_inst *i, int lane, em_space space, uint64_t address,
                       uint64_t undefined);
/* Which of the bytes that a lane stores are undefined; `global`: those are told, if a whole value is. */
uint64_t em_registers_store(em_checks *c, em_warp *w, const em_inst *i, int lane, bool global);
void em_registers_local(em_checks *c, em_warp *w, const em_inst *i, int lane, uint64_t address,
                        uint32_t bytes, em_access access);
/* Local memory that a call begins with, or has written. */
void em_registers_frame(em_checks *c, em_warp *w, uint32_t lanes, uint64_t from, uint64_t bytes,
                        bool written);

/* The last threads of the warp's block end: others of the cluster may not use its shared memory from then on.
 */
void em_shadow_end_block(em_checks *c, em_warp *w);
/* A mbarrier at a shared address is initialised, or no longer one. */
void em_shadow_mbarrier(em_checks *c, em_warp *w, const em_inst *i, int lane, uint32_t address, bool valid);

bool em_shadow_is_mbarrier(const em_checks *c, const em_warp *w, uint32_t address);

/* checkstep.c: before each instruction. `lacks`: lanes end, or go on, that others wait for. */
bool em_step_begin(em_checks *c);
void em_step_end(em_checks *c);
void em_step(em_checks *c, em_warp *w, const em_inst *i, uint32_t lanes);
void em_step_lacks(em_checks *c, em_warp *w, uint32_t ending);

/* checkproduct.c: registers of wgmma. Nothing happens where c->products is NULL. */
bool em_mma_begin(em_checks *c);
bool em_mma_grow(em_checks *c, uint32_t places);
void em_mma_end(em_checks *c);
void em_mma_cluster(em_checks *c, const em_warp *any);
void em_mma_commit(em_checks *c, const em_warp *w, uint32_t group);
void em_mma_waited(em_checks *c, const em_warp *w, uint32_t group);
void em_mma_fence(em_checks *c, const em_warp *w);
void em_mma_step(em_checks *c, em_warp *w, const em_inst *i);

/* checktile.c: swizzles. Something writes shared memory; matrices are taken from it. */
void em_tiles_write(em_checks *c, const em_inst *i, shadow *s, uint64_t at, uint64_t bytes);
void em_tiles_ldmatrix(em_checks *c, em_warp *w, const em_inst *i, uint32_t mask);
void em_tiles_product(em_checks *c, em_warp *w, const em_inst *i, uint32_t mask);

/* checktraffic.c */
void em_traffic_access(em_checks *c, const em_warp *w, const em_inst *i, int lane, em_space space,
                       uint64_t address, uint32_t bytes);
void em_traffic_flush(em_checks *c);
void em_traffic_tally(const em_checks *c);

/* checkreport.c: a finding at an instruction, once for each pair of instructions. `what` lives forever;
 * returns false when it was found before. */
bool em_check_find(em_checks *c, unsigned kind, const char *what, em_warp *w, const em_inst *i, int lane,
                   uint32_t other, const char *format, ...) CUTE_PRINTF(8, 9);
void em_report_launch(em_checks *c, cute_diag *diag);

#endif
