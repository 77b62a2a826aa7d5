/* See timeline.h. Logical clocks of the warps of one cluster, and spans of one of its blocks. */
#include "lib/emulator/machine/timeline.h"

#include <jansson.h>
#include <stdlib.h>

#include "lib/base/list.h"
#include "lib/numeric/wgmma.h"

/* Modelled cycles, of a multiprocessor at 16-bit rates: 1024 multiply-adds of tensor cores in each of its 4 parts every 2 cycles. */
enum {
    INSTRUCTION = 1,
    MMA = 8,            /* mma.sync, of a warp */
    WGMMA_COLUMNS = 2,  /* of wgmma that a cycle completes, K being 32 bytes */
    COPY_LATENCY = 500, /* from global memory */
    COPY_BYTES = 64,    /* of bulk copies, a cycle, from L2 */
    RUN_GAP = 64,       /* cycles between instructions of one span */
};
enum { GROUPS = 16, OPEN = 4096, MOST_SPANS = 40000, PARTS = 4, BUSY = 128 };

typedef enum span_kind {
    SPAN_WARP,     /* from its start to its exit */
    SPAN_MBARRIER, /* a wait; a: offset in the block's shared memory */
    SPAN_BARRIER,  /* a wait; a: the barrier */
    SPAN_CLUSTER,  /* a wait for the cluster's barrier */
    SPAN_GROUP,    /* a wait for groups of copies or wgmmas; a: em_pending_kind */
    SPAN_MMA,      /* mma.sync */
    SPAN_STORE,    /* stores to global memory */
    SPAN_COPY,     /* bytes on their way to the mbarrier at a */
    SPAN_WGMMA,    /* a group of wgmmas, of the tensor cores of a part of the multiprocessor */
    SPAN_COPIES,   /* a group of cp.async or bulk copies; a: em_pending_kind. These overlap */
} span_kind;
static const char *const kind_names[] = {"warp", "mbarrier", "barrier", "cluster", "group",
                                         "mma",  "store",    "copy",    "wgmma",   "copies"};

typedef struct span {
    span_kind kind;
    uint32_t warp;
    double began, ended;
    uint64_t a, bytes;
} span;

/* Work between two commits, or a committed group. */
typedef struct group {
    uint32_t number; /* 0: none */
    double began, done;
} group;

typedef struct warp_clock {
    double clock, free; /* free: end of the row's last span */
    double wait_from;   /* of the wait under way */
    double issued;      /* end of its last wgmma */
    const em_inst *polled;
    bool polling;
    span_kind run; /* SPAN_MMA or SPAN_STORE, if run_from >= 0 */
    double run_from, run_to;
    group open[EM_P_MBARRIER + 1], groups[EM_P_MBARRIER + 1][GROUPS];
    bool ended;
} warp_clock;

typedef struct sync_clock {
    uint32_t address; /* of an mbarrier; else its number */
    double arrived, phase;
    double copy_from; /* of the first copy of this phase; < 0: none */
    double free;
    uint64_t bytes;
} sync_clock;

/* The tensor cores of a part of the multiprocessor: when they are busy, sorted. Warps run in turn, so that one may use a time
 * before those of another that ran earlier. */
typedef struct busy {
    struct {
        double from, to;
    } spans[BUSY];
    int count;
} busy;

typedef struct block_clocks {
    double engine; /* when its last bulk copy leaves */
    busy tensor[PARTS];
    sync_clock barriers[EM_BARRIERS];
} block_clocks;

struct em_timeline {
    int64_t block;
    em_hooks inner;
    const em_launch *launch;
    em_cluster *cluster; /* that has the block; NULL: it has not started, or has ended */
    em_block *shown;
    warp_clock *warps; /* EM_BLOCK_WARPS of each block of the cluster */
    block_clocks *blocks;
    sync_clock together, *mbarriers;
    size_t mbarrier_count, mbarrier_capacity;
    struct {
        uint32_t id;
        double at;
    } issued[OPEN];  /* by em_pending.issued */
    uint32_t copied; /* em_pending.issued of the last bulk copy, which may arrive at several blocks */
    double copied_at;
    span *spans;
    size_t count, capacity, dropped;
    json_t *launches;
};

em_timeline *em_timeline_create(int64_t block)
{
    em_timeline *t = calloc(1, sizeof *t);
    if (t) t->block = block;
    if (t) t->launches = json_array();
    if (t && t->launches) return t;
    em_timeline_destroy(t);
    return NULL;
}

static void end_cluster(em_timeline *t)
{
    free(t->warps);
    free(t->blocks);
    t->warps = NULL;
    t->blocks = NULL;
    t->cluster = NULL;
    t->mbarrier_count = 0;
}

void em_timeline_destroy(em_timeline *t)
{
    if (!t) return;
    end_cluster(t);
    free(t->mbarriers);
    free(t->spans);
    json_decref(t->launches);
    free(t);
}

/* ---- spans ---- */

static void add_span(em_timeline *t, const em_warp *w, span_kind kind, double began, double ended, uint64_t a,
                     uint64_t bytes)
{
    if (w->block != t->shown || ended <= began) return;
    if (t->count == MOST_SPANS || !cute_heap_more(&t->spans, t->count, &t->capacity, sizeof *t->spans, 256)) {
        t->dropped++;
        return;
    }
    t->spans[t->count++] = (span){kind, w->index, began, ended, a, bytes};
}

static warp_clock *clock_of(em_timeline *t, const em_warp *w)
{
    return &t->warps[w->block->rank * EM_BLOCK_WARPS + w->index];
}

static double later(double a, double b)
{
    return a > b ? a : b;
}

/* A span of the warp's own row: none begins before the last one ended. */
static void add_own(em_timeline *t, const em_warp *w, span_kind kind, double began, double ended, uint64_t a)
{
    warp_clock *c = clock_of(t, w);
    began = later(began, c->free);
    if (ended <= began) return;
    c->free = ended;
    add_span(t, w, kind, began, ended, a, 0);
}

static void end_run(em_timeline *t, const em_warp *w)
{
    warp_clock *c = clock_of(t, w);
    if (c->run_from < 0) return;
    add_own(t, w, c->run, c->run_from, c->run_to, 0);
    c->run_from = -1;
}

static void extend_run(em_timeline *t, const em_warp *w, span_kind kind, double cycles)
{
    warp_clock *c = clock_of(t, w);
    if (c->run_from >= 0 && (c->run != kind || c->clock > c->run_to + RUN_GAP)) end_run(t, w);
    if (c->run_from < 0) c->run_from = c->clock;
    c->run = kind;
    c->clock += cycles - INSTRUCTION;
    c->run_to = c->clock + INSTRUCTION;
}

/* The warp continues at `until`, if that is later than its time `from`. */
static void wait_until(em_timeline *t, const em_warp *w, span_kind kind, double from, double until,
                       uint64_t a)
{
    warp_clock *c = clock_of(t, w);
    if (until > from) {
        end_run(t, w);
        add_own(t, w, kind, from, until, a);
    }
    c->clock = later(from, until);
}

/* ---- copies and products ---- */

static double issue_time(const em_timeline *t, const em_pending *p)
{
    uint32_t at = p->issued % OPEN;
    return t->issued[at].id == p->issued ? t->issued[at].at : 0;
}

static void join_group(group *g, double began, double done)
{
    if (!g->number) *g = (group){.number = 1, .began = began, .done = done};
    g->began = began < g->began ? began : g->began;
    g->done = later(g->done, done);
}

/* The first `cycles` from `at` on in which nothing else runs; they are taken. */
static double take_busy(busy *b, double at, double cycles)
{
    int n = 0;
    if (b->count == BUSY) memmove(&b->spans[0], &b->spans[1], (size_t)--b->count * sizeof *b->spans);
    for (; n < b->count && b->spans[n].from < at + cycles; n++) at = later(at, b->spans[n].to);
    memmove(&b->spans[n + 1], &b->spans[n], (size_t)(b->count++ - n) * sizeof *b->spans);
    b->spans[n].from = at;
    b->spans[n].to = at + cycles;
    return at;
}

/* An operation is issued; bulk copies that complete at an mbarrier are timed on arrival. */
static void on_issue(em_timeline *t, em_warp *w, const em_inst *i, uint32_t id, int kind)
{
    warp_clock *c = clock_of(t, w);
    block_clocks *b = &t->blocks[w->block->rank];
    t->issued[id % OPEN].id = id;
    t->issued[id % OPEN].at = c->clock;
    if (kind == EM_P_CP_ASYNC || kind == EM_P_BULK)
        join_group(&c->open[kind], c->clock, c->clock + COPY_LATENCY);
    if (kind != EM_P_WGMMA || i->opcode != EM_OP_wgmma) return;
    double cycles = (double)i->wgmma->n / WGMMA_COLUMNS,
           from = take_busy(&b->tensor[w->index % PARTS], later(c->clock, c->issued), cycles);
    c->issued = from + cycles; /* a warp's are in order */
    join_group(&c->open[kind], from, from + cycles);
}

static void on_commit(em_timeline *t, const em_warp *w, int kind, uint32_t number)
{
    warp_clock *c = clock_of(t, w);
    group *g = &c->open[kind];
    if (!g->number) return;
    c->groups[kind][number % GROUPS] = (group){number, g->began, g->done};
    bool products = kind == EM_P_WGMMA;
    if (!products || w->index % PARTS == 0)
        add_span(t, w, products ? SPAN_WGMMA : SPAN_COPIES, g->began, g->done, (uint64_t)kind, 0);
    *g = (group){0};
}

static void on_group_wait(em_timeline *t, const em_warp *w, int kind, uint32_t upto)
{
    warp_clock *c = clock_of(t, w);
    double until = 0;
    for (int n = 0; n < GROUPS; n++) {
        group *g = &c->groups[kind][n];
        if (!g->number || g->number > upto) continue;
        until = later(until, g->done);
        g->number = 0;
    }
    wait_until(t, w, SPAN_GROUP, c->clock, until, (uint64_t)kind);
}

/* ---- synchronisation ---- */

static sync_clock *mbarrier_at(em_timeline *t, uint64_t address)
{
    for (size_t n = 0; n < t->mbarrier_count; n++)
        if (t->mbarriers[n].address == address) return &t->mbarriers[n];
    if (!cute_heap_more(&t->mbarriers, t->mbarrier_count, &t->mbarrier_capacity, sizeof *t->mbarriers, 32))
        return NULL;
    sync_clock *made = &t->mbarriers[t->mbarrier_count++];
    *made = (sync_clock){.address = (uint32_t)address, .copy_from = -1};
    return made;
}

/* An address without the block's own rank, as the kernel counts its shared memory. */
static uint64_t own_offset(uint64_t address)
{
    return address & ((UINT64_C(1) << EM_RANK_SHIFT) - 1);
}

static double copy_arrival(em_timeline *t, const em_pending *p)
{
    if (t->copied == p->issued && t->copied_at > 0) return t->copied_at;
    return issue_time(t, p) + COPY_LATENCY;
}

/* Bytes of a bulk copy arrive: the block's copies leave one after the other. */
static void on_bytes(em_timeline *t, const em_pending *p, sync_clock *s, uint64_t bytes)
{
    block_clocks *b = &t->blocks[p->warp->block->rank];
    double issued = issue_time(t, p);
    if (t->copied != p->issued || t->copied_at <= 0) {
        b->engine = later(b->engine, issued) + (double)bytes / COPY_BYTES;
        t->copied = p->issued;
        t->copied_at = b->engine + COPY_LATENCY;
    }
    if (s->copy_from < 0 || issued < s->copy_from) s->copy_from = issued;
    s->bytes += bytes;
    s->arrived = later(s->arrived, copy_arrival(t, p));
}

static void on_arrive(em_timeline *t, const em_warp *w, uint64_t address, int64_t bytes)
{
    const em_pending *p = w->machine->completing;
    sync_clock *s = mbarrier_at(t, address);
    if (!s) return;
    if (bytes < 0 && p)
        on_bytes(t, p, s, (uint64_t)-bytes);
    else
        s->arrived = later(s->arrived, p ? issue_time(t, p) + COPY_LATENCY : clock_of(t, w)->clock);
}

static void on_phase(em_timeline *t, uint64_t address)
{
    sync_clock *s = mbarrier_at(t, address);
    if (!s) return;
    if (s->copy_from >= 0 && address >> EM_RANK_SHIFT == t->shown->rank) {
        double from = later(s->copy_from, s->free);
        add_span(t, &t->shown->warps[0], SPAN_COPY, from, s->arrived, own_offset(address), s->bytes);
        s->free = s->arrived;
    }
    s->phase = s->arrived;
    s->arrived = 0;
    s->bytes = 0;
    s->copy_from = -1;
}

static void on_pass(em_timeline *t, const em_warp *w, uint64_t address)
{
    warp_clock *c = clock_of(t, w);
    sync_clock *s = mbarrier_at(t, address);
    if (!s || !c->polling) return; /* of another lane of the same instruction */
    c->polling = false;
    c->polled = NULL;
    wait_until(t, w, SPAN_MBARRIER, c->wait_from, s->phase, own_offset(address));
}

static void arrive_at(em_timeline *t, const em_warp *w, sync_clock *s)
{
    warp_clock *c = clock_of(t, w);
    s->arrived = later(s->arrived, c->clock);
}

static void complete(sync_clock *s)
{
    s->phase = s->arrived;
    s->arrived = 0;
}

/* ---- the block ---- */

static int64_t number_of(const em_timeline *t, const em_block *b)
{
    const uint32_t *grid = t->launch->grid;
    return (int64_t)b->ctaid[0] + (int64_t)grid[0] * (b->ctaid[1] + (int64_t)grid[1] * b->ctaid[2]);
}

static void begin_cluster(em_timeline *t, em_cluster *cluster)
{
    if (t->cluster == cluster) end_cluster(t); /* the slot is used again */
    if (cluster->device) return;               /* of several devices the first is shown */
    for (uint32_t r = 0; r < cluster->count; r++) {
        if (number_of(t, &cluster->blocks[r]) != t->block) continue;
        t->warps = calloc((size_t)cluster->count * EM_BLOCK_WARPS, sizeof *t->warps);
        t->blocks = calloc(cluster->count, sizeof *t->blocks);
        if (!t->warps || !t->blocks) {
            end_cluster(t);
            return;
        }
        for (size_t n = 0; n < (size_t)cluster->count * EM_BLOCK_WARPS; n++) t->warps[n].run_from = -1;
        t->cluster = cluster;
        t->shown = &cluster->blocks[r];
        t->together = (sync_clock){0};
    }
}

static void end_warp(em_timeline *t, const em_warp *w)
{
    warp_clock *c = clock_of(t, w);
    if (c->ended) return;
    end_run(t, w);
    c->ended = true;
    add_span(t, w, SPAN_WARP, 0, later(c->clock, c->free), 0, 0);
}

static json_t *span_json(const span *s)
{
    json_t *one = json_pack("{s:s,s:I,s:f,s:f}", "kind", kind_names[s->kind], "warp", (json_int_t)s->warp,
                            "begin", s->began, "end", s->ended);
    if (s->a) json_object_set_new(one, "at", json_integer((json_int_t)s->a));
    if (s->bytes) json_object_set_new(one, "bytes", json_integer((json_int_t)s->bytes));
    return one;
}

/* Shared memory that the kernel sees as dynamic begins here. */
static uint32_t dynamic_from(const em_launch *l, const em_block *b)
{
    return EM_SHARED_RESERVED + b->shared_size - l->dynamic_shared;
}

static void end_launch(em_timeline *t)
{
    const em_launch *l = t->launch;
    if (!l) return;
    if (t->cluster)
        for (uint32_t n = 0; n < t->shown->warp_count; n++) end_warp(t, &t->shown->warps[n]);
    json_t *spans = json_array();
    for (size_t n = 0; n < t->count; n++) json_array_append_new(spans, span_json(&t->spans[n]));
    json_array_append_new(t->launches,
                          json_pack("{s:s,s:I,s:I,s:I,s:I,s:o}", "kernel", l->kernel->name, "block",
                                    (json_int_t)t->block, "warps",
                                    (json_int_t)(t->shown ? t->shown->warp_count : 0), "dynamic_shared",
                                    (json_int_t)(t->shown ? dynamic_from(l, t->shown) : 0), "dropped",
                                    (json_int_t)t->dropped, "spans", spans));
    end_cluster(t);
    t->launch = NULL;
    t->shown = NULL;
    t->count = t->dropped = 0;
}

/* ---- hooks ---- */

static void on_event(void *context, em_event event, em_warp *w, const em_inst *i, uint32_t mask, uint64_t a,
                     uint64_t b)
{
    em_timeline *t = context;
    if (event == EM_E_BEGIN) begin_cluster(t, w->block->cluster);
    if (t->cluster && w->block->cluster == t->cluster) {
        block_clocks *block = &t->blocks[w->block->rank];
        warp_clock *c = clock_of(t, w);
        switch (event) {
        case EM_E_ISSUE: on_issue(t, w, i, (uint32_t)a, (int)b); break;
        case EM_E_COMMIT_GROUP: on_commit(t, w, (int)a, (uint32_t)b); break;
        case EM_E_WAIT_GROUP: on_group_wait(t, w, (int)a, (uint32_t)b); break;
        case EM_E_MBARRIER_ARRIVE: on_arrive(t, w, a, (int64_t)b); break;
        case EM_E_MBARRIER_PHASE: on_phase(t, a); break;
        case EM_E_MBARRIER_PASS: on_pass(t, w, a); break;
        case EM_E_BARRIER_ARRIVE: arrive_at(t, w, &block->barriers[a % EM_BARRIERS]); break;
        case EM_E_BARRIER_COMPLETE: complete(&block->barriers[a % EM_BARRIERS]); break;
        case EM_E_BARRIER_EXIT:
            wait_until(t, w, SPAN_BARRIER, c->clock, block->barriers[a % EM_BARRIERS].phase, a);
            break;
        case EM_E_CLUSTER_ARRIVE: arrive_at(t, w, &t->together); break;
        case EM_E_CLUSTER_COMPLETE: complete(&t->together); break;
        case EM_E_CLUSTER_EXIT: wait_until(t, w, SPAN_CLUSTER, c->clock, t->together.phase, 0); break;
        case EM_E_EXIT:
            if (mask == w->alive || !w->alive) end_warp(t, w);
            break;
        default: break;
        }
    }
    if (event == EM_E_END) end_launch(t);
    if (t->inner.event) t->inner.event(t->inner.context, event, w, i, mask, a, b);
}

static bool is_wait(const em_inst *i)
{
    return i->opcode == EM_OP_mbarrier && (em_has(i, EM_M_try_wait) || em_has(i, EM_M_test_wait));
}

/* A failed poll takes no time: its wait ends with the phase, however often the emulator asks. */
static void begin_poll(warp_clock *c, const em_inst *i)
{
    if (c->polling && c->polled == i)
        c->clock = c->wait_from;
    else
        c->wait_from = c->clock;
    c->polling = true;
    c->polled = i;
}

static void on_step(void *context, em_warp *w, const em_inst *i, uint32_t lanes)
{
    em_timeline *t = context;
    if (t->cluster && w->block->cluster == t->cluster) {
        uint32_t mask = lanes, guard;
        if (i->guard) {
            memcpy(&guard, w->base[EM_BASE_REGISTERS] + i->guard_at, sizeof guard);
            mask &= i->guard == 2 ? ~guard : guard;
        }
        warp_clock *c = clock_of(t, w);
        c->clock += INSTRUCTION;
        if (mask && is_wait(i)) begin_poll(c, i);
        if (mask && i->opcode == EM_OP_mma) extend_run(t, w, SPAN_MMA, MMA);
        if (mask && i->opcode == EM_OP_st && i->space == EM_GLOBAL) extend_run(t, w, SPAN_STORE, INSTRUCTION);
    }
    if (t->inner.step) t->inner.step(t->inner.context, w, i, lanes);
}

static void on_access(void *context, em_warp *w, const em_inst *i, int lane, em_space space, uint64_t address,
                      uint32_t bytes, em_access kind)
{
    em_timeline *t = context;
    t->inner.access(t->inner.context, w, i, lane, space, address, bytes, kind);
}

static bool on_row(void *context, const em_warp_access *row)
{
    em_timeline *t = context;
    return t->inner.row(t->inner.context, row);
}

void em_timeline_begin(em_timeline *t, em_launch *launch)
{
    end_launch(t); /* one that failed to start */
    t->inner = launch->hooks;
    t->launch = launch;
    launch->hooks = (em_hooks){.context = t,
                               .event = on_event,
                               .step = on_step,
                               .access = t->inner.access ? on_access : NULL,
                               .row = t->inner.row ? on_row : NULL,
                               .shadows = t->inner.shadows};
}

char *em_timeline_json(const em_timeline *t)
{
    return json_dumps(t->launches, JSON_COMPACT | JSON_REAL_PRECISION(12));
}
