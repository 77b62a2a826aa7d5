/* What barriers, tensor copies, products and fences do in a kernel that runs while it is compiled (async.h). */
#include "lib/passes/async_events.h"

#include <mlir-c/BuiltinAttributes.h>
#include <stdlib.h>
#include <string.h>

#include "lib/atoms/atoms.h"
#include "lib/base/checked.h"
#include "lib/base/list.h"
#include "lib/base/multiprocessor.h"
#include "lib/ir/ops/check.h"
#include "lib/ir/types.h"
#include "lib/ir/util.h"

static void tell(async_machine *m, const async_finding *f)
{
    async_tell(m->report, f);
    m->stopped = m->found = true;
}

/* ---- knowledge ---- */

async_known *async_known_new(async_machine *m)
{
    async_known *k = cute_arena_alloc(m->arena, sizeof *k);
    if (k) memset(k, 0, sizeof *k);
    return k;
}

void async_release(async_machine *m, async_warp *w, async_known *into)
{
    w->known->seq[w->id] = w->seq++;
    async_known_merge(into, w->known, m->warp_count, m->copy_count);
}

bool async_whole_warp(async_machine *m, async_warp *w, MlirOperation op)
{
    uint32_t all = 0;
    const int64_t *b = m->eval.setting->block;
    int64_t left = b[0] * b[1] * b[2] - (int64_t)w->index * 32;
    all = left >= 32 ? 0xffffffffu : (1u << left) - 1;
    if (w->mask == all) return true;
    async_finding f = async_find(ASYNC_BARRIER, op,
                                 "is an operation of all threads of a warp, and only %d of them come to it",
                                 __builtin_popcount(w->mask));
    tell(m, &f);
    return false;
}

/* ---- barriers of the block ---- */

static int named_at(async_machine *m, int cta, int id)
{
    for (size_t i = 0; i < m->named_count; i++)
        if (m->named[i].cta == cta && m->named[i].id == id) return (int)i;
    if (!cute_arena_more(m->arena, &m->named, m->named_count, &m->named_capacity, sizeof *m->named, 8))
        return -1;
    async_named *n = &m->named[m->named_count];
    *n = (async_named){.cta = cta, .id = id, .gathered = async_known_new(m)};
    if (!n->gathered) return -1;
    return (int)m->named_count++;
}

static async_step sync_at(async_machine *m, async_warp *w, MlirOperation op, int64_t id, int64_t count,
                          bool waits)
{
    const int64_t *block = m->eval.setting->block;
    int64_t all = block[0] * block[1] * block[2];
    async_finding f;
    if (!async_whole_warp(m, w, op)) return ASYNC_PAUSES;
    if (id < 0 || id > 15 || count % 32 || count < 32 || count > (all + 31) / 32 * 32) {
        f = async_find(ASYNC_BARRIER, op,
                       "expected barrier 0 to 15 and a multiple of 32 threads up to the block's %lld, got "
                       "barrier %lld of %lld",
                       (long long)all, (long long)id, (long long)count);
        tell(m, &f);
        return ASYNC_PAUSES;
    }
    int index = named_at(m, w->cta, (int)id);
    if (index < 0) {
        m->stopped = true;
        return ASYNC_PAUSES;
    }
    async_named *n = &m->named[index];
    if (n->arrived && n->count != count) {
        f = async_find(ASYNC_BARRIER, op,
                       "comes to barrier %lld of %lld threads, while others wait there for %lld",
                       (long long)id, (long long)count, (long long)n->count);
        async_note(&f, n->op, "the others");
        tell(m, &f);
        return ASYNC_PAUSES;
    }
    n->count = count;
    n->op = op;
    n->arrived += 32;
    async_release(m, w, n->gathered);
    m->activity++;
    if (waits) {
        w->state = ASYNC_AT_BARRIER;
        w->barrier = index;
        w->at = op;
    }
    if (n->arrived < count) return waits ? ASYNC_PAUSES : ASYNC_GOES_ON;
    for (int i = 0; i < m->warp_count; i++) {
        async_warp *o = &m->warps[i];
        if (o->state != ASYNC_AT_BARRIER || o->barrier != index) continue;
        async_known_merge(o->known, n->gathered, m->warp_count, m->copy_count);
        o->state = ASYNC_RUNS;
    }
    n->arrived = 0;
    memset(n->gathered, 0, sizeof *n->gathered);
    return ASYNC_GOES_ON;
}

static async_step sync_block(async_machine *m, async_warp *w, const async_instr *i)
{
    const int64_t *block = m->eval.setting->block;
    int64_t id = 0, count = (block[0] * block[1] * block[2] + 31) / 32 * 32, numbers[2];
    if (i->in_count > 2) {
        m->stopped = true;
        return ASYNC_PAUSES;
    }
    for (int n = 0; n < i->in_count; n++) {
        async_value v = async_lane(&w->slots[i->in[n]], 0);
        if (!async_number_of(&v, &numbers[n])) {
            m->stopped = true;
            return ASYNC_PAUSES;
        }
    }
    MlirAttribute sizes = mlirOperationGetAttributeByName(i->op, cute_text("operandSegmentSizes"));
    bool only_count = !mlirAttributeIsNull(sizes) && mlirAttributeIsADenseI32Array(sizes) &&
                      mlirDenseArrayGetNumElements(sizes) == 2 && mlirDenseI32ArrayGetElement(sizes, 0) == 0;
    if (i->in_count == 1 && only_count)
        count = numbers[0];
    else if (i->in_count > 0)
        id = numbers[0];
    if (i->in_count == 2) count = numbers[1];
    return sync_at(m, w, i->op, id, count, i->event != ASYNC_EV_NAMED_ARRIVE);
}

/* ---- clusters ---- */

static bool cluster_ready(async_machine *m)
{
    for (int i = 0; i < m->warp_count; i++)
        if (m->warps[i].state != ASYNC_ENDED && !m->warps[i].cluster_arrived) return false;
    async_known_merge(m->cluster_acquired, m->cluster_gathered, m->warp_count, m->copy_count);
    m->cluster_phase++;
    m->activity++;
    for (int i = 0; i < m->warp_count; i++) m->warps[i].cluster_arrived = false;
    return true;
}

static async_step cluster_arrive(async_machine *m, async_warp *w, MlirOperation op)
{
    if (!async_whole_warp(m, w, op)) return ASYNC_PAUSES;
    if (w->cluster_waits) {
        async_finding f = async_find(ASYNC_BARRIER, op,
                                     "arrives at the barrier of the cluster twice, without a wait between");
        tell(m, &f);
        return ASYNC_PAUSES;
    }
    w->cluster_arrived = w->cluster_waits = true;
    w->cluster_phase = m->cluster_phase;
    async_release(m, w, m->cluster_gathered);
    m->activity++;
    return ASYNC_GOES_ON;
}

static async_step cluster_wait(async_machine *m, async_warp *w, MlirOperation op)
{
    if (!w->cluster_waits) {
        async_finding f = async_find(ASYNC_BARRIER, op,
                                     "waits at the barrier of the cluster without having arrived: expected "
                                     "cluster_arrive before");
        tell(m, &f);
        return ASYNC_PAUSES;
    }
    w->at = op;
    if (m->cluster_phase == w->cluster_phase && !cluster_ready(m)) {
        w->state = ASYNC_AT_CLUSTER;
        return ASYNC_AGAIN;
    }
    w->state = ASYNC_RUNS;
    w->cluster_waits = false;
    async_known_merge(w->known, m->cluster_acquired, m->warp_count, m->copy_count);
    return ASYNC_GOES_ON;
}

bool async_cluster_over(async_machine *m, const async_warp *w)
{
    return m->cluster_phase != w->cluster_phase || cluster_ready(m);
}

/* ---- tensor copies ---- */

static int new_copy(async_machine *m, async_copy copy)
{
    if (m->copy_count >= ASYNC_MAX_COPIES - 64) {
        m->stopped = true;
        return -1;
    }
    m->copies[m->copy_count] = copy;
    return m->copy_count++;
}

static bool is_atom(const async_value *v, const char *part)
{
    return v->kind == ASYNC_ATOM && v->atom->type->atom && strstr(v->atom->type->atom->mnemonic, part);
}

static void check_swizzle(async_machine *m, const async_atom *atom, const cute_value *tensor,
                          MlirOperation op)
{
    int own = async_swizzle_of(tensor);
    if (atom->swizzle < 0 || own < 0 || own == atom->swizzle) return;
    async_finding f = async_find(
        ASYNC_SWIZZLE, op,
        "copies a tensor in shared memory with the swizzle S<%d,4,3> by a tensor map with S<%d,4,3>: "
        "expected the layout of the tensor map",
        own, atom->swizzle);
    if (!mlirOperationIsNull(atom->made)) async_note(&f, atom->made, "the tensor map is made here");
    tell(m, &f);
}

/* Bytes of a tensor without gaps; 0: not known. */
static int64_t bytes_of(const cute_value *tensor)
{
    int64_t bits, size = async_size(tensor);
    if (!size || !cute_mul64(size, tensor->pointer->bits, &bits)) return 0;
    return bits / 8;
}

static void check_barriers_kept(async_machine *m, const async_place *at, int64_t bytes, MlirOperation op)
{
    for (size_t i = 0; i < m->barrier_count && !m->stopped; i++) {
        const async_mbarrier *b = &m->barriers[i];
        if (!b->alive || b->place.region != at->region || b->place.cta != at->cta ||
            b->place.byte + 8 <= at->byte || b->place.byte >= at->byte + bytes)
            continue;
        async_finding f = async_find(
            ASYNC_ORDER, op, "writes bytes %lld to %lld of shared memory, where an mbarrier is at byte %lld",
            (long long)at->byte, (long long)(at->byte + bytes), (long long)b->place.byte);
        async_note(&f, b->init, "the mbarrier");
        tell(m, &f);
    }
}

static void check_init_fence(async_machine *m, async_mbarrier *b, MlirOperation op)
{
    if (b->fence_told) return;
    b->fence_told = true;
    const async_warp *w = &m->warps[b->init_warp];
    for (size_t i = 0; i < w->fence_count; i++)
        if (w->fences[i] >= b->init_seq) return;
    if (w->init_fence >= b->init_seq) return;
    async_finding f =
        async_find(ASYNC_INIT_FENCE, b->init,
                   "a copy completes at an mbarrier whose initialisation no mbarrier_init_fence follows");
    async_note(&f, op, "the copy");
    async_tell(m->report, &f);
}

/* `copy` brings bytes to mbarrier `index`. */
static void take_off(async_machine *m, int index, int copy, int64_t bytes, MlirOperation op)
{
    async_mbarrier *b = &m->barriers[index];
    bool known = false;
    for (int n = 0; n < b->copy_count; n++) known |= mlirOperationEqual(b->copies[n], op);
    if (!known && b->copy_count < ASYNC_NOTES) b->copies[b->copy_count++] = op;
    b->in_flight += bytes;
    if (!cute_arena_more(m->arena, &m->flights, m->flight_count, &m->flight_capacity, sizeof *m->flights,
                         64)) {
        m->stopped = true;
        return;
    }
    m->flights[m->flight_count++] = (struct async_flight){index, copy, bytes};
    m->activity++;
}

/* One lane of the warp issues the copy. */
static void tensor_load(async_machine *m, async_warp *w, const async_instr *i)
{
    const async_atom *atom = w->slots[i->in[0]].atom;
    const async_value *tensor = &w->slots[i->in[2]];
    async_place at, bar;
    int64_t mask = 0, bytes;
    int lane = w->mask ? __builtin_ctz(w->mask) : 0;
    async_value barrier = atom->barrier ? async_lane(atom->barrier, lane) : (async_value){0};
    if (!async_place_of(tensor, &at) || !async_place_of(&barrier, &bar) ||
        !(bytes = bytes_of(tensor->value))) {
        m->stopped = true;
        return;
    }
    /* Each instruction brings what is this block's of its box. */
    int64_t sharers = at.sharers ? at.sharers : 1, box = async_copy_bits(atom) / 8, boxes = 1;
    if (box > 0 && bytes % box == 0)
        boxes = bytes / box;
    else
        box = bytes;
    if (box % sharers) box = sharers;
    int64_t own_bytes = box / sharers;
    bool multicast = atom->mask != NULL;
    if (multicast) {
        async_value v = async_lane(atom->mask, lane);
        if (!async_number_of(&v, &mask)) {
            m->stopped = true;
            return;
        }
        mask &= 0xffff;
    } else {
        mask = 1ll << w->cta;
    }
    if (mask >> m->ctas) {
        async_finding f =
            async_find(ASYNC_CLUSTER_RANK, i->op, "copies to the blocks of mask 0x%llx of a cluster of %d",
                       (unsigned long long)mask, m->ctas);
        tell(m, &f);
        return;
    }
    check_swizzle(m, atom, tensor->value, i->op);
    if (m->stopped) return;
    bar.cta = w->cta;
    int own = async_barrier_at(m, w, &bar, i->op);
    int copy =
        own < 0
            ? -1
            : new_copy(
                  m, (async_copy){
                         .op = i->op, .warp = w->id, .kind = ASYNC_LOAD, .barrier = own, .committed = true});
    if (copy < 0) return;
    w->seq++;
    for (int cta = 0; cta < m->ctas && !m->stopped; cta++) {
        if (!(mask >> cta & 1)) continue;
        at.cta = bar.cta = cta;
        int index = async_barrier_at(m, w, &bar, i->op);
        if (index < 0) return;
        async_mbarrier *b = &m->barriers[index];
        check_init_fence(m, b, i->op);
        check_barriers_kept(m, &at, box * (boxes - 1) + own_bytes, i->op);
        async_reach(m, w, cta, copy, i->op);
        async_place to = at;
        async_access access = {.kind = ASYNC_PROXY_WRITE,
                               .warp = w->id,
                               .seq = w->seq,
                               .copy = copy,
                               .op = i->op,
                               .swizzle = async_swizzle_of(tensor->value)};
        for (int64_t n = 0; n < boxes && n < 64; n++, to.byte += box)
            if (m->stopped || !async_touch(m, w, &to, own_bytes, &access)) return;
        take_off(m, index, copy, own_bytes * boxes, i->op);
    }
}

/* Bytes that a lane of st.async sends. */
static int64_t sent_bytes(MlirOperation op)
{
    MlirType type = mlirValueGetType(mlirOperationGetOperand(op, 0)), element = type;
    int64_t count = 1;
    if (mlirTypeIsAVector(type)) {
        element = mlirShapedTypeGetElementType(type);
        count = mlirShapedTypeGetDimSize(type, 0);
    }
    bool wide =
        mlirTypeIsAF64(element) || (mlirTypeIsAInteger(element) && mlirIntegerTypeGetWidth(element) == 64);
    return count * (wide ? 8 : 4);
}

/* st.async: each lane sends to a block of its own; neighbours to one place are one access. */
static void send(async_machine *m, async_warp *w, const async_instr *i)
{
    struct {
        async_place bar;
        int index, copy;
        int64_t bytes;
    } groups[32];
    int count = 0, run_group = -1;
    int64_t bytes = sent_bytes(i->op), run_bytes = 0;
    async_place run = {0};
    async_access access = {
        .kind = ASYNC_PROXY_WRITE, .warp = w->id, .seq = ++w->seq, .op = i->op, .swizzle = -1};
    for (int lane = 0; lane <= 32; lane++) {
        async_place at = {0}, bar = {0};
        int64_t block = 0;
        int g = -1;
        if (lane < 32) {
            if (!(w->mask >> lane & 1)) continue;
            async_value p = async_lane(&w->slots[i->in[1]], lane), b = async_lane(&w->slots[i->in[2]], lane),
                        r = async_lane(&w->slots[i->in[3]], lane);
            if (!async_place_of(&p, &at) || !async_place_of(&b, &bar) || !async_number_of(&r, &block)) {
                m->stopped = true;
                return;
            }
            if (block < 0 || block >= m->ctas) {
                async_finding f = async_find(ASYNC_CLUSTER_RANK, i->op, "names block %lld of a cluster of %d",
                                             (long long)block, m->ctas);
                async_blame(m, &f);
                return;
            }
            at.cta = bar.cta = (int)block;
            for (g = 0; g < count; g++)
                if (groups[g].bar.region == bar.region && groups[g].bar.cta == bar.cta &&
                    groups[g].bar.byte == bar.byte)
                    break;
            if (g == count) {
                int index = async_barrier_at(m, w, &bar, i->op);
                if (index < 0) return;
                check_init_fence(m, &m->barriers[index], i->op);
                int copy = new_copy(
                    m,
                    (async_copy){
                        .op = i->op, .warp = w->id, .kind = ASYNC_LOAD, .barrier = index, .committed = true});
                if (copy < 0) return;
                groups[count].bar = bar;
                groups[count].index = index;
                groups[count].copy = copy;
                groups[count++].bytes = 0;
                async_reach(m, w, bar.cta, copy, i->op);
            }
            groups[g].bytes += bytes;
            if (g == run_group && at.region == run.region && at.byte >= run.byte &&
                at.byte <= run.byte + run_bytes) {
                int64_t end = at.byte + bytes - run.byte;
                if (end > run_bytes) run_bytes = end;
                continue;
            }
        }
        if (run_group >= 0) {
            access.copy = groups[run_group].copy;
            check_barriers_kept(m, &run, run_bytes, i->op);
            if (m->stopped || !async_touch(m, w, &run, run_bytes, &access)) return;
        }
        run = at;
        run_group = g;
        run_bytes = bytes;
    }
    for (int g = 0; g < count && !m->stopped; g++)
        take_off(m, groups[g].index, groups[g].copy, groups[g].bytes, i->op);
}

/* cp.async.bulk to the shared memory of another block, whose mbarrier counts the bytes. */
static void hand_over(async_machine *m, async_warp *w, const async_instr *i)
{
    const async_atom *atom = w->slots[i->in[0]].atom;
    const async_value *from = &w->slots[i->in[1]];
    async_value barrier =
        atom->barrier ? async_lane(atom->barrier, w->mask ? __builtin_ctz(w->mask) : 0) : (async_value){0};
    async_place source, at, bar;
    int64_t bytes;
    if (!async_place_of(from, &source) || !async_place_of(&w->slots[i->in[2]], &at) ||
        !async_place_of(&barrier, &bar) || !(bytes = bytes_of(from->value))) {
        m->stopped = true;
        return;
    }
    int index = async_barrier_at(m, w, &bar, i->op);
    if (index < 0) return;
    check_init_fence(m, &m->barriers[index], i->op);
    int copy = new_copy(
        m, (async_copy){.op = i->op, .warp = w->id, .kind = ASYNC_LOAD, .barrier = index, .committed = true});
    if (copy < 0) return;
    async_access access = {.kind = ASYNC_PROXY_READ,
                           .warp = w->id,
                           .seq = ++w->seq,
                           .copy = copy,
                           .op = i->op,
                           .swizzle = async_swizzle_of(from->value)};
    async_reach(m, w, at.cta, copy, i->op);
    check_barriers_kept(m, &at, bytes, i->op);
    if (m->stopped || !async_touch(m, w, &source, bytes, &access)) return;
    access.kind = ASYNC_PROXY_WRITE;
    if (async_touch(m, w, &at, bytes, &access)) take_off(m, index, copy, bytes, i->op);
}

static void tensor_store(async_machine *m, async_warp *w, const async_instr *i)
{
    const async_value *tensor = &w->slots[i->in[1]];
    async_place at;
    int64_t bytes;
    if (!async_place_of(tensor, &at) || !(bytes = bytes_of(tensor->value))) {
        m->stopped = true;
        return;
    }
    check_swizzle(m, w->slots[i->in[0]].atom, tensor->value, i->op);
    if (m->stopped) return;
    int copy = new_copy(m, (async_copy){.op = i->op, .warp = w->id, .kind = ASYNC_STORE});
    if (copy < 0) return;
    async_access access = {.kind = ASYNC_PROXY_READ,
                           .warp = w->id,
                           .seq = ++w->seq,
                           .copy = copy,
                           .op = i->op,
                           .swizzle = async_swizzle_of(tensor->value)};
    if (!async_touch(m, w, &at, bytes, &access)) return;
    if (w->store_count == ASYNC_GROUPS) { /* the oldest is forgotten, as if it was over */
        async_known_set(w->known, w->stores[0]);
        memmove(w->stores, w->stores + 1, sizeof w->stores - sizeof w->stores[0]);
        memmove(w->store_group, w->store_group + 1, sizeof w->store_group - sizeof w->store_group[0]);
        w->store_count--;
    }
    w->stores[w->store_count] = copy;
    w->store_group[w->store_count++] = w->groups;
}

/* Where element `index` bytes behind a tensor's pointer lies, with its swizzle. */
static int64_t swizzled(const cute_value *tensor, int64_t byte)
{
    cute_swizzle s = tensor->pointer->swizzle;
    if (!s.bits || s.shift <= 0) return byte;
    uint64_t moved = ((uint64_t)byte >> (s.base + s.shift) & ((1ull << s.bits) - 1)) << s.base;
    return (int64_t)((uint64_t)byte ^ moved);
}

/* The index of the last element of a layout, added to *sum; false: it is not known. */
static bool last_index(const cute_tree *shape, const cute_tree *stride, int64_t *sum)
{
    if (shape->kind != stride->kind) return false;
    if (shape->kind == CUTE_TREE_TUPLE) {
        if (shape->count != stride->count) return false;
        for (uint32_t i = 0; i < shape->count; i++)
            if (!last_index(shape->items[i], stride->items[i], sum)) return false;
        return true;
    }
    int64_t by;
    return shape->kind == CUTE_TREE_INT && shape->value.known && stride->value.known &&
           stride->value.value >= 0 && cute_mul64(shape->value.value - 1, stride->value.value, &by) &&
           cute_add64(*sum, by, sum);
}

/* What threads read or write of a tensor in shared memory: some of its elements. */
static void thread_access(async_machine *m, async_warp *w, const async_value *v, async_access_kind kind,
                          MlirOperation op)
{
    async_place at, own;
    if (v->kind != ASYNC_VALUE || !v->value->pointer || v->value->pointer->space != CUTE_SPACE_SMEM) return;
    if (!async_place_of(v, &at)) {
        m->stopped = true;
        return;
    }
    if (v->value->tree || v->value->inner.shape) return; /* a composed layout */
    int64_t element = (v->value->pointer->bits + 7) / 8, size = async_size(v->value), last = 0;
    int64_t bits = v->value->pointer->bits;
    if (size > 1 && !(last_index(v->value->layout.shape, v->value->layout.stride, &last) &&
                      cute_mul64(last, bits, &last)))
        last = 0;
    last /= 8;
    async_access access = {.kind = kind,
                           .warp = w->id,
                           .seq = w->seq,
                           .copy = -1,
                           .op = op,
                           .swizzle = async_swizzle_of(v->value)};
    own = at;
    own.byte = swizzled(v->value, at.byte);
    if (!async_touch(m, w, &own, element, &access) || last <= 0) return;
    own.byte = swizzled(v->value, at.byte + last);
    async_touch(m, w, &own, element, &access);
}

static async_step tensor_copy(async_machine *m, async_warp *w, const async_instr *i)
{
    if (i->in_count < 3 || i->in[0] < 0 || i->in[1] < 0 || i->in[2] < 0) {
        m->stopped = true;
        return ASYNC_PAUSES;
    }
    const async_value *atom = &w->slots[i->in[0]];
    bool bulk = is_atom(atom, "bulk_copy");
    if (is_atom(atom, "tma_load") || (bulk && strstr(atom->atom->type->atom->text, "g2s")))
        tensor_load(m, w, i);
    else if (is_atom(atom, "tma_store") || is_atom(atom, "tma_reduce") ||
             (bulk && strstr(atom->atom->type->atom->text, "s2g")))
        tensor_store(m, w, i);
    else if (bulk)
        hand_over(m, w, i);
    else if (is_atom(atom, "tma"))
        m->stopped = true;
    else {
        w->seq++;
        thread_access(m, w, &w->slots[i->in[1]], ASYNC_READ, i->op);
        if (!m->stopped) thread_access(m, w, &w->slots[i->in[2]], ASYNC_WRITE, i->op);
    }
    return ASYNC_GOES_ON;
}

/* The integer of an attribute; `other` where there is none. */
static int64_t attribute_of(MlirOperation op, const char *name, int64_t other)
{
    MlirAttribute a = mlirOperationGetAttributeByName(op, cute_text(name));
    return mlirAttributeIsNull(a) || !mlirAttributeIsAInteger(a) ? other : mlirIntegerAttrGetValueInt(a);
}

static void bulk_wait(async_machine *m, async_warp *w, MlirOperation op)
{
    (void)m;
    int64_t left = attribute_of(op, "group", attribute_of(op, "groups", 0));
    int kept = 0;
    for (int i = 0; i < w->store_count; i++) {
        if (w->store_group[i] < w->groups - left) {
            async_known_set(w->known, w->stores[i]);
            continue;
        }
        w->stores[kept] = w->stores[i];
        w->store_group[kept++] = w->store_group[i];
    }
    w->store_count = kept;
}

/* ---- products ---- */

static async_accumulator *accumulator(async_warp *w, int region)
{
    for (int i = 0; i < w->accumulator_count; i++)
        if (w->accumulators[i].region == region) return &w->accumulators[i];
    if (region < 0 || w->accumulator_count == ASYNC_ACCUMULATORS) return NULL;
    async_accumulator *a = &w->accumulators[w->accumulator_count++];
    *a = (async_accumulator){.region = region};
    return a;
}

static async_products *products_of(const async_machine *m, const async_warp *w)
{
    return &m->groups[w->cta * m->block_warps + w->index / 4];
}

/* The asynchronous operation of the group that `w` fills. */
static int product_copy(async_machine *m, async_warp *w, MlirOperation op)
{
    async_products *p = products_of(m, w);
    while (p->count <= (size_t)w->product_groups) {
        if (!cute_arena_more(m->arena, &p->copies, p->count, &p->capacity, sizeof *p->copies, 64)) return -1;
        p->copies[p->count] = new_copy(m, (async_copy){.op = op, .warp = w->id, .kind = ASYNC_PRODUCT});
        if (p->copies[p->count] < 0) return -1;
        p->count++;
    }
    return p->copies[w->product_groups];
}

/* Rows, columns, depth and bits of the elements of a product's atom. */
static bool product_shape(const cute_atom *atom, int64_t shape[3], int bits[2])
{
    const char *at = strstr(atom->text, "mma<"), *types = strstr(atom->text, "elem_type = (");
    if (!types) types = strstr(atom->text, "elem_type=(");
    if (!at || !types) return false;
    char *end = (char *)at + 4;
    for (int i = 0; i < 3; i++) {
        shape[i] = strtol(end, &end, 10);
        if (shape[i] < 1 || shape[i] > 1024 || (i < 2 && *end++ != 'x')) return false;
    }
    types = strchr(types, '(');
    for (int i = 0; i < 2; i++) {
        types += strcspn(types, "0123456789");
        bits[i] = (int)strtol(types, &end, 10);
        types = strchr(end, ',');
        if (!types || bits[i] < 1 || bits[i] > 64) return false;
    }
    return true;
}

static async_step product(async_machine *m, async_warp *w, const async_instr *i)
{
    if (!async_whole_warp(m, w, i->op)) return ASYNC_PAUSES;
    int copy = product_copy(m, w, i->op);
    if (copy < 0) {
        m->stopped = true;
        return ASYNC_PAUSES;
    }
    m->copies[copy].op = i->op;
    const cute_value *mma = cute_type_peek(mlirValueGetType(mlirOperationGetOperand(i->op, 0)));
    int64_t shape[3];
    int bits[2];
    w->seq++;
    for (int o = 2; o <= 3 && mma && mma->atom && product_shape(mma->atom, shape, bits) && i->in[o] >= 0;
         o++) {
        const async_value *v = &w->slots[i->in[o]];
        async_place at;
        if (v->kind != ASYNC_VALUE || !v->value->pointer || strcmp(v->value->pointer->element, "i128") != 0)
            continue;
        if (!async_place_of(v, &at)) continue;
        async_access access = {.kind = ASYNC_PROXY_READ,
                               .warp = w->id,
                               .seq = w->seq,
                               .copy = copy,
                               .op = i->op,
                               .swizzle = async_swizzle_of(v->value)};
        if (!async_touch(m, w, &at, shape[o - 2] * shape[2] * bits[o - 2] / 8, &access)) return ASYNC_PAUSES;
    }
    async_accumulator *acc = accumulator(w, i->which), *a = accumulator(w, i->a_registers);
    const async_accumulator *dirty = acc && acc->dirty ? acc : a && a->dirty ? a : NULL;
    if (!w->product_fence || dirty) {
        async_finding f = async_find(
            ASYNC_WGMMA_FENCE, i->op,
            dirty ? "reads registers that were written without a wgmma.fence behind: expected one before this"
                  : "has no wgmma.fence before it: expected one before the first wgmma");
        if (dirty) async_note(&f, dirty->writer, "the write");
        async_tell(m->report, &f);
    }
    if (acc) {
        acc->pending = true;
        acc->group = w->product_groups;
        acc->op = i->op;
    }
    if (a) {
        a->pending = true;
        a->group = w->product_groups;
        a->op = i->op;
    }
    w->product_open = true;
    return ASYNC_GOES_ON;
}

static void commit(async_machine *m, async_warp *w, MlirOperation op)
{
    if (!async_whole_warp(m, w, op)) return;
    async_products *p = products_of(m, w);
    if (product_copy(m, w, op) < 0) {
        m->stopped = true;
        return;
    }
    m->copies[p->copies[w->product_groups]].committed = true;
    w->product_groups++;
    w->product_open = false;
}

bool async_products_together(const async_machine *m, const async_warp *w)
{
    int first = w->id - w->index % 4;
    for (int i = first; i < first + 4 && i < (w->cta + 1) * m->block_warps; i++)
        if (m->warps[i].product_groups < w->product_groups) return false;
    return true;
}

static async_step product_wait(async_machine *m, async_warp *w, const async_instr *i)
{
    if (!async_whole_warp(m, w, i->op)) return ASYNC_PAUSES;
    w->at = i->op;
    if (!async_products_together(m, w)) {
        w->state = ASYNC_AT_PRODUCT;
        return ASYNC_AGAIN;
    }
    int64_t left = attribute_of(i->op, "group", attribute_of(i->op, "groups", 0)),
            limit = w->product_groups - left;
    async_products *p = products_of(m, w);
    for (; w->product_waited < limit; w->product_waited++)
        async_known_set(w->known, p->copies[w->product_waited]);
    for (int a = 0; a < w->accumulator_count; a++)
        if (w->accumulators[a].pending && w->accumulators[a].group < limit)
            w->accumulators[a].pending = false;
    return ASYNC_GOES_ON;
}

static void touch(async_machine *m, async_warp *w, const async_instr *i)
{
    async_accumulator *a = accumulator(w, i->which);
    if (!a) return;
    if (a->pending) {
        bool open = a->group >= w->product_groups;
        async_finding f = async_find(
            open ? ASYNC_WGMMA : ASYNC_ACCUMULATOR, i->op,
            open ? "%s registers of a wgmma that no wgmma.commit_group has put into a group, so that no wait "
                   "is for it"
                 : "%s registers of a wgmma before wgmma.wait_group has waited for it",
            i->writes ? "writes" : "reads");
        async_note(&f, a->op, "the wgmma");
        async_tell(m->report, &f);
        if (open) m->stopped = m->found = true;
        a->pending = false;
    }
    if (i->writes) {
        a->dirty = true;
        a->writer = i->op;
    }
}

static void fence_products(async_warp *w)
{
    w->product_fence = true;
    for (int i = 0; i < w->accumulator_count; i++) w->accumulators[i].dirty = false;
}

/* ---- fences, registers ---- */

static void fence_proxy(async_machine *m, async_warp *w, MlirOperation op)
{
    MlirAttribute kind = mlirOperationGetAttributeByName(op, cute_text("kind"));
    cute_buffer text = {0};
    if (!mlirAttributeIsNull(kind)) mlirAttributePrint(kind, cute_print_to_buffer, &text);
    const char *name = cute_buffer_text(&text);
    bool counts = mlirAttributeIsNull(kind) || (strstr(name, "async") && !strstr(name, "async.global"));
    cute_buffer_release(&text);
    if (!counts) return;
    if (!cute_arena_more(m->arena, &w->fences, w->fence_count, &w->fence_capacity, sizeof *w->fences, 16))
        return;
    w->fences[w->fence_count++] = w->seq++;
    memcpy(w->fenced, w->known->seq, sizeof w->fenced);
    w->fenced[w->id] = w->seq - 1;
}

static async_step assembly(async_machine *m, async_warp *w, const async_instr *i)
{
    MlirStringRef text =
        mlirStringAttrGetValue(mlirOperationGetAttributeByName(i->op, cute_text("asm_string")));
    bool one = cute_text_is(text, "bar.sync $0;"), two = cute_text_is(text, "bar.sync $0, $1;");
    if ((one && i->in_count == 1) || (two && i->in_count == 2)) return sync_block(m, w, i);
    m->stopped = true;
    return ASYNC_PAUSES;
}

async_step async_event_do(async_machine *m, async_warp *w, const async_instr *i)
{
    switch (i->event) {
    case ASYNC_EV_INIT:
    case ASYNC_EV_ARRIVE:
    case ASYNC_EV_ARRIVE_EXPECT:
    case ASYNC_EV_EXPECT:
    case ASYNC_EV_WAIT:
    case ASYNC_EV_TEST:
    case ASYNC_EV_INVAL:
    case ASYNC_EV_COMPLETE: return async_mbarrier_do(m, w, i);
    case ASYNC_EV_FENCE_INIT: w->init_fence = w->seq++; return ASYNC_GOES_ON;
    case ASYNC_EV_FENCE_PROXY: fence_proxy(m, w, i->op); return ASYNC_GOES_ON;
    case ASYNC_EV_NAMED_ARRIVE:
    case ASYNC_EV_SYNC: return sync_block(m, w, i);
    case ASYNC_EV_ASM: return assembly(m, w, i);
    case ASYNC_EV_CLUSTER_ARRIVE: return cluster_arrive(m, w, i->op);
    case ASYNC_EV_CLUSTER_WAIT: return cluster_wait(m, w, i->op);
    case ASYNC_EV_CLUSTER_SYNC:
        if (!w->cluster_waits) {
            async_step arrived = cluster_arrive(m, w, i->op);
            if (m->stopped) return arrived;
        }
        return cluster_wait(m, w, i->op);
    case ASYNC_EV_TENSOR_COPY: return tensor_copy(m, w, i);
    case ASYNC_EV_SEND:
        if (i->in_count < 4 || i->in[1] < 0 || i->in[2] < 0 || i->in[3] < 0) {
            m->stopped = true;
            return ASYNC_PAUSES;
        }
        send(m, w, i);
        return ASYNC_GOES_ON;
    case ASYNC_EV_ACCESS: {
        int tensor = cute_op_is(i->op, "cute.memref.store_vec") ? 1 : 0;
        w->seq++;
        if (i->in[tensor] >= 0)
            thread_access(m, w, &w->slots[i->in[tensor]], (async_access_kind)i->which, i->op);
        return ASYNC_GOES_ON;
    }
    case ASYNC_EV_BULK_COMMIT:
        for (int n = 0; n < w->store_count; n++) m->copies[w->stores[n]].committed = true;
        w->groups++;
        return ASYNC_GOES_ON;
    case ASYNC_EV_BULK_WAIT: bulk_wait(m, w, i->op); return ASYNC_GOES_ON;
    case ASYNC_EV_GEMM: return product(m, w, i);
    case ASYNC_EV_WGMMA_FENCE: fence_products(w); return ASYNC_GOES_ON;
    case ASYNC_EV_WGMMA_COMMIT: commit(m, w, i->op); return ASYNC_GOES_ON;
    case ASYNC_EV_WGMMA_WAIT: return product_wait(m, w, i);
    case ASYNC_EV_TOUCH: touch(m, w, i); return ASYNC_GOES_ON;
    case ASYNC_EV_REGISTERS:
        if (!async_whole_warp(m, w, i->op)) return ASYNC_PAUSES;
        w->registers = (int)attribute_of(i->op, "regCount", attribute_of(i->op, "registers", 0));
        w->registers_at = i->op;
        return ASYNC_GOES_ON;
    case ASYNC_EV_NONE:
    case ASYNC_EV_TXN: break;
    }
    return ASYNC_GOES_ON;
}

/* ---- the end ---- */

void async_registers(async_machine *m)
{
    int64_t sum = 0, threads = (int64_t)m->block_warps * 32, own = CUTE_SM_REGISTERS / threads / 8 * 8;
    const async_warp *most = NULL;
    if (own > 255) own = 248;
    bool whole = true; /* of each warpgroup the registers are known */
    for (int i = 0; i < m->block_warps; i += 4) {
        const async_warp *first = &m->warps[i], *w = first;
        for (int n = 1; n < 4 && i + n < m->block_warps; n++) {
            const async_warp *o = &m->warps[i + n];
            bool both = (first->registers || first->state == ASYNC_ENDED) &&
                        (o->registers || o->state == ASYNC_ENDED);
            if (both && o->registers != first->registers) w = o;
        }
        whole &= first->registers || first->state == ASYNC_ENDED;
        if (w != first) {
            MlirOperation at = first->registers ? first->registers_at : w->registers_at;
            async_finding f = async_find(
                ASYNC_REGISTERS, at,
                "setmaxnreg is for the four warps of a warpgroup: warp %d has %d registers, warp %d has %d",
                first->index, first->registers, w->index, w->registers);
            async_tell(m->report, &f);
            return;
        }
        int64_t registers = first->registers ? first->registers : own;
        int64_t warps = m->block_warps - i < 4 ? m->block_warps - i : 4;
        sum += registers * warps * 32;
        if (first->registers && (!most || most->registers < first->registers)) most = first;
    }
    if (!most || !whole || sum <= CUTE_SM_REGISTERS) return;
    async_finding f = async_find(ASYNC_REGISTERS, most->registers_at,
                                 "the warpgroups of the block want %lld registers, of which a multiprocessor "
                                 "has %d: this waits for ever",
                                 (long long)sum, CUTE_SM_REGISTERS);
    for (int i = 0; i < m->block_warps; i += 4)
        if (m->warps[i].registers && &m->warps[i] != most)
            async_note(&f, m->warps[i].registers_at, "warp %d has %d", i, m->warps[i].registers);
        else if (!m->warps[i].registers)
            async_note(&f, m->program->kernel, "warp %d has the %lld of the launch", i, (long long)own);
    async_tell(m->report, &f);
}

void async_reach(async_machine *m, const async_warp *w, int cta, int copy, MlirOperation op)
{
    if (cta == w->cta) return;
    async_remote *r = NULL;
    for (size_t i = 0; i < m->remote_count && !r; i++)
        if (m->remotes[i].warp == w->id && m->remotes[i].cta == cta && (m->remotes[i].copy < 0) == (copy < 0))
            r = &m->remotes[i];
    if (!r) {
        if (!cute_arena_more(m->arena, &m->remotes, m->remote_count, &m->remote_capacity, sizeof *m->remotes,
                             32))
            return;
        r = &m->remotes[m->remote_count++];
    }
    *r = (async_remote){w->id, cta, w->seq, copy, op};
}

/* A block may not end before the others are done with its shared memory. */
static void check_exits(async_machine *m)
{
    for (size_t i = 0; i < m->remote_count; i++) {
        const async_remote *r = &m->remotes[i];
        bool known = false;
        for (int w = r->cta * m->block_warps; w < (r->cta + 1) * m->block_warps; w++)
            known |= r->copy < 0 ? m->warps[w].known->seq[r->warp] >= r->seq
                                 : async_known_done(m->warps[w].known, r->copy);
        if (known) continue;
        async_finding f = async_find(
            ASYNC_ORDER, r->op,
            "%s in block %d of the cluster, which may have ended: expected cluster_arrive and cluster_wait "
            "by all threads at the end",
            r->copy < 0 ? "arrives at an mbarrier" : "writes shared memory", r->cta);
        tell(m, &f);
        return;
    }
}

void async_end(async_machine *m)
{
    check_exits(m);
    if (m->stopped) return;
    for (int i = 0; i < m->warp_count; i++) {
        const async_warp *w = &m->warps[i];
        if (!w->store_count) continue;
        async_finding f =
            async_find(ASYNC_STORE_TAIL, m->copies[w->stores[0]].op,
                       "the block ends while the store may still read its shared memory: expected "
                       "cp.async.bulk.wait_group.read of 0 groups by the thread that made it");
        async_tell(m->report, &f);
        break;
    }
    for (size_t i = 0; i < m->barrier_count; i++) {
        const async_mbarrier *b = &m->barriers[i];
        if (b->waited_ever || mlirOperationIsNull(b->first_arrive)) continue;
        async_finding f =
            async_find(ASYNC_UNUSED, b->first_arrive, "arrives at an mbarrier on which nobody waits");
        async_note(&f, b->init, "it is initialised here");
        async_tell(m->report, &f);
        return;
    }
}
