/* Happens-before between accesses to shared memory by threads, tensor copies and wgmma (async.h). Races
 * between threads are left to the emulator: of a tensor that threads share, only the elements of some
 * threads are known here. */
#include <string.h>

#include "lib/base/list.h"
#include "lib/ir/mlir/util.h"
#include "lib/order/proxy.h"
#include "lib/passes/checks/async.h"

void async_known_merge(async_known *into, const async_known *from, int warps, int copies)
{
    for (int i = 0; i < warps; i++)
        if (into->seq[i] < from->seq[i]) into->seq[i] = from->seq[i];
    for (int i = 0; i <= copies / 64 && i < ASYNC_MAX_COPIES / 64; i++) into->done[i] |= from->done[i];
}

static bool cell_overlaps(const async_cell *c, int region, int cta, int64_t low, int64_t high)
{
    return c->region == region && c->cta == cta && c->low < high && low < c->high;
}

/* The cell of these bytes; NULL when memory is exhausted. */
static async_cell *find_cell(async_machine *m, int region, int cta, int64_t low, int64_t high)
{
    size_t at = (size_t)((uint64_t)(low ^ high << 7 ^ (int64_t)cta << 3 ^ (int64_t)region << 20) *
                             0x9E3779B97F4A7C15ull >>
                         40) %
                ASYNC_CELL_BUCKETS;
    for (int i = m->buckets[at] - 1; i >= 0; i = m->cells[i].next - 1) {
        async_cell *c = &m->cells[i];
        if (c->region == region && c->cta == cta && c->low == low && c->high == high) return c;
    }
    if (!cute_arena_more(m->arena, &m->cells, m->cell_count, &m->cell_capacity, sizeof *m->cells, 256))
        return NULL;
    int self = (int)m->cell_count++;
    async_cell *cell = &m->cells[self];
    *cell = (async_cell){.region = region, .cta = cta, .low = low, .high = high, .next = m->buckets[at]};
    m->buckets[at] = self + 1;
    for (int i = 0; i <= self; i++) {
        async_cell *c = &m->cells[i];
        if (!cell_overlaps(c, region, cta, low, high)) continue;
        if (i != self &&
            cute_arena_more(m->arena, &c->near, c->near_count, &c->near_capacity, sizeof *c->near, 8))
            c->near[c->near_count++] = self;
        if (cute_arena_more(m->arena, &cell->near, cell->near_count, &cell->near_capacity, sizeof *cell->near,
                            8))
            cell->near[cell->near_count++] = i;
    }
    return cell;
}

static bool is_proxy(async_access_kind kind)
{
    return kind >= ASYNC_PROXY_READ;
}

static bool is_write(async_access_kind kind)
{
    return kind == ASYNC_WRITE || kind == ASYNC_PROXY_WRITE;
}

static const char *access_name(const async_machine *m, const async_access *a)
{
    if (!is_proxy(a->kind)) return is_write(a->kind) ? "write" : "read";
    switch (m->copies[a->copy].kind) {
    case ASYNC_LOAD:
        return cute_op_is(m->copies[a->copy].op, "cute_nvgpu.arch.st_async") ? "st.async" : "tensor copy";
    case ASYNC_STORE: return "tensor store";
    default: return "wgmma";
    }
}

/* Latest wait of a warp for an mbarrier. */
static const async_wait *wait_on(const async_warp *warp, int barrier)
{
    for (int i = warp->wait_count - 1; i >= 0; i--)
        if (warp->waits[i].barrier == barrier) return &warp->waits[i];
    return NULL;
}

/* Reports a read of bytes that a copy may not have written yet. */
static void tell_early(async_machine *m, async_warp *warp, const async_access *read, const async_access *copy)
{
    int barrier = m->copies[copy->copy].barrier;
    const async_wait *wait = wait_on(warp, barrier);
    async_finding f;
    if (!m->barriers[barrier].tx_ever) {
        f = async_find(ASYNC_EXPECT_TX, copy->op,
                       "completes at an mbarrier that expects no bytes, so waits do not wait for it: "
                       "expected mbarrier_arrive_and_expect_tx first");
        if (wait) async_note(&f, wait->op, "this wait ends too early");
        async_blame(m, &f);
        return;
    }
    if (wait && wait->trivial) {
        f = async_find(ASYNC_PHASE, wait->op,
                       "waits for phase %d of an mbarrier before its first phase is complete, which returns "
                       "at once: expected a consumer to start with phase 0",
                       wait->parity);
        async_note(&f, read->op, "this %s uses the copied data", access_name(m, read));
    } else if (wait) {
        f = async_find(ASYNC_PHASE, wait->op,
                       "this wait for phase %d ends with an earlier phase than that of the copy: expected "
                       "the phase to flip each time the stage index wraps",
                       wait->parity);
        async_note(&f, read->op, "this %s uses the copied data", access_name(m, read));
    } else {
        f = async_find(
            ASYNC_ORDER, read->op,
            "reads shared memory that a %s is writing: no wait for the mbarrier at which it completes",
            access_name(m, copy));
    }
    async_note(&f, copy->op, "the copy");
    async_blame(m, &f);
}

/* Reports that `x` overwrites an operand of a wgmma, at the release that waits too little if there is one. */
static async_finding of_product(const async_machine *m, const async_warp *warp, const async_access *a,
                                const async_access *x)
{
    const async_copy *old = &m->copies[a->copy];
    MlirOperation released = m->warps[a->warp].released;
    async_finding f;
    if (a->warp != warp->id && warp->known->seq[a->warp] >= a->seq && !mlirOperationIsNull(released)) {
        f = async_find(ASYNC_ORDER, released,
                       "releases shared memory that a wgmma may still read: expected wgmma.wait_group for "
                       "the wgmma first");
        async_note(&f, x->op, "this overwrites it");
    } else {
        f = async_find(
            ASYNC_ORDER, x->op,
            "overwrites shared memory that a wgmma may still read: expected a wait for its release first");
    }
    async_note(&f, a->op, "the wgmma");
    if (!old->committed) async_note(&f, a->op, "it is not followed by wgmma.commit_group");
    return f;
}

/* Whether `a` happens before an access of `warp`; false after reporting that it does not. */
static bool is_ordered(async_machine *m, async_warp *warp, const async_access *a, const async_access *x)
{
    bool ra = !is_write(a->kind), rx = !is_write(x->kind);
    if (a->stale && x->kind == ASYNC_PROXY_WRITE && m->copies[x->copy].kind == ASYNC_LOAD &&
        !m->program->blind) {
        async_warp *reader = &m->warps[a->warp];
        tell_early(m, reader, a, x);
        return false;
    }
    if ((ra && rx) || (!is_proxy(a->kind) && !is_proxy(x->kind))) return true;
    if (is_proxy(a->kind) && is_proxy(x->kind) && a->copy == x->copy) return true;
    if (is_proxy(a->kind)) {
        if (async_known_done(warp->known, a->copy)) return true;
        const async_copy *old = &m->copies[a->copy];
        if (old->kind == ASYNC_LOAD && rx) {
            tell_early(m, warp, x, a);
            return false;
        }
        async_finding f;
        if (old->kind == ASYNC_STORE) {
            f = async_find(
                ASYNC_ORDER, x->op,
                "%s shared memory that a tensor store may still read: expected cp.async.bulk.wait_group.read "
                "by the thread that issued the store, and a barrier, first",
                rx ? "reads" : "overwrites");
            async_note(&f, a->op, "the store");
            if (!old->committed) async_note(&f, a->op, "it is not followed by cp.async.bulk.commit_group");
        } else if (old->kind == ASYNC_PRODUCT) {
            f = of_product(m, warp, a, x);
        } else {
            f = async_find(ASYNC_ORDER, x->op, "overwrites shared memory that another %s may still write",
                           access_name(m, a));
            async_note(&f, a->op, "the other copy");
            if (warp->wait_count) async_note(&f, warp->waits[warp->wait_count - 1].op, "an earlier wait");
        }
        async_blame(m, &f);
        return false;
    }
    bool own = a->warp == warp->id;
    if (!own && a->seq > warp->known->seq[a->warp]) {
        async_finding f = async_find(
            ASYNC_ORDER, x->op, "%s shared memory that other threads %s, without a barrier in between",
            x->kind == ASYNC_PROXY_READ ? "reads" : "overwrites", ra ? "read" : "write");
        async_note(&f, a->op, "the %s", access_name(m, a));
        async_blame(m, &f);
        return false;
    }
    if (!order_needs_proxy_fence(ORDER_GENERIC, !ra, is_proxy(x->kind) ? ORDER_ASYNC : ORDER_GENERIC, !rx))
        return true;
    const async_warp *writer = &m->warps[a->warp];
    uint32_t limit = own ? warp->seq : warp->known->seq[a->warp];
    size_t last = writer->fence_count;
    while (last && writer->fences[last - 1] > limit) last--;
    if (order_is_fenced(a->seq, last ? writer->fences[last - 1] : 0, warp->fenced[a->warp])) return true;
    async_finding f = async_find(ASYNC_PROXY, x->op,
                                 "reads generic-proxy writes through the asynchronous proxy: expected "
                                 "fence.proxy.async after the write, before the barrier");
    async_note(&f, a->op, "the write");
    async_tell(m->report, &f);
    m->stopped = m->found = true;
    return false;
}

/* Threads wrote to the memory of `cell` after `time`, with a swizzle. Of a copy by threads only some elements
 * are recorded: the others may be anywhere in the region. */
static bool is_rewritten(const async_machine *m, const async_cell *cell, uint32_t time, int swizzle)
{
    for (size_t n = 0; n < m->cell_count; n++) {
        const async_cell *c = &m->cells[n];
        if (c->region != cell->region || c->cta != cell->cta) continue;
        for (size_t i = 0; i < c->count; i++) {
            const async_access *x = &c->accesses[i];
            if (x->kind == ASYNC_WRITE && x->time > time && x->swizzle == swizzle) return true;
        }
    }
    return false;
}

/* Checks a read of bytes of `cell` that `a` wrote last, as far as is recorded. */
static bool check_swizzle(async_machine *m, const async_cell *cell, const async_access *a,
                          const async_access *x)
{
    if (a->swizzle < 0 || x->swizzle < 0 || a->swizzle == x->swizzle ||
        (!is_proxy(a->kind) && !is_proxy(x->kind)) || is_rewritten(m, cell, a->time, x->swizzle))
        return true;
    async_finding f = async_find(
        ASYNC_SWIZZLE, x->op,
        "reads a tile with the swizzle S<%d,4,3>, which was written with S<%d,4,3>: expected equal swizzles",
        x->swizzle, a->swizzle);
    async_note(&f, a->op, "the %s", access_name(m, a));
    async_tell(m->report, &f);
    m->stopped = m->found = true;
    return false;
}

static void record_access(async_machine *m, async_cell *cell, const async_access *access)
{
    for (size_t i = 0; i < cell->count; i++) {
        async_access *old = &cell->accesses[i];
        if (old->kind != access->kind || old->warp != access->warp) continue;
        if (!is_proxy(old->kind) || old->copy == access->copy ||
            async_known_done(m->warps[old->warp].known, old->copy)) {
            *old = *access;
            return;
        }
    }
    if (cell->count < 64 &&
        cute_arena_more(m->arena, &cell->accesses, cell->count, &cell->capacity, sizeof *cell->accesses, 4))
        cell->accesses[cell->count++] = *access;
}

bool async_touch(async_machine *m, async_warp *warp, const lane_place *at, int64_t bytes,
                 const async_access *access)
{
    int64_t high;
    if (bytes <= 0 || __builtin_add_overflow(at->byte, bytes, &high)) return true;
    async_cell *cell = find_cell(m, at->region, at->cta, at->byte, high);
    if (!cell) return true;
    async_access own = *access, latest = {0};
    own.time = ++m->time;
    bool filled = false;
    size_t self = (size_t)(cell - m->cells);
    for (size_t n = 0; n < m->cells[self].near_count; n++) {
        async_cell *c = &m->cells[m->cells[self].near[n]];
        filled |= c->filled;
        for (size_t i = 0; i < c->count; i++) {
            if (!is_ordered(m, warp, &c->accesses[i], &own)) return false;
            if (is_write(c->accesses[i].kind) && c->accesses[i].time > latest.time) latest = c->accesses[i];
        }
    }
    if (latest.time && !is_write(own.kind) && !check_swizzle(m, &m->cells[self], &latest, &own)) return false;
    cell = &m->cells[self];
    if (!is_write(own.kind)) {
        own.stale = !filled;
        record_access(m, cell, &own);
        return true;
    }
    /* accesses ordered before this write need no further checks */
    if (own.kind == ASYNC_PROXY_WRITE)
        for (size_t n = 0; n < cell->near_count; n++) {
            async_cell *c = &m->cells[cell->near[n]];
            if (c->low < at->byte || c->high > high) continue;
            c->count = 0;
            c->filled = true;
        }
    cell->filled = true;
    record_access(m, cell, &own);
    return true;
}
