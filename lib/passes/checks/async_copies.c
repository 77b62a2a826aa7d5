/* Tensor copies and accesses to tensors in the static checks (async.h): the mbarriers that receive their
 * bytes, and the shared memory they read and write. */
#include "lib/passes/checks/async_events.h"

#include <mlir-c/BuiltinAttributes.h>
#include <string.h>

#include "lib/atoms/atoms.h"
#include "lib/base/list.h"
#include "lib/base/numbers/checked.h"
#include "lib/ir/mlir/util.h"
#include "lib/order/proxy.h"

int async_copy_new(async_machine *m, async_copy copy)
{
    if (m->copy_count >= ASYNC_MAX_COPIES - 64) {
        m->stopped = true;
        return -1;
    }
    m->copies[m->copy_count] = copy;
    return m->copy_count++;
}

static bool is_atom_of(const lane_value *v, const char *part)
{
    return v->kind == LANE_ATOM && v->atom->type->atom && strstr(v->atom->type->atom->mnemonic, part);
}

static void check_swizzle(async_machine *m, const lane_atom *atom, const cute_value *tensor, MlirOperation op)
{
    int own = lane_swizzle_of(tensor);
    if (atom->swizzle < 0 || own < 0 || own == atom->swizzle) return;
    async_finding f = async_find(ASYNC_SWIZZLE, op,
                                 "copies a tensor in shared memory with the swizzle S<%d,4,3> by a tensor "
                                 "map with S<%d,4,3>: expected the layout of the tensor map",
                                 own, atom->swizzle);
    if (!mlirOperationIsNull(atom->made)) async_note(&f, atom->made, "the tensor map is made here");
    async_stop(m, &f);
}

/* Bytes of a tensor without gaps; 0: unknown. */
static int64_t tensor_bytes(const cute_value *tensor)
{
    int64_t bits, size = lane_size_of(tensor);
    if (!size || !cute_mul64(size, tensor->pointer->bits, &bits)) return 0;
    return bits / 8;
}

static void check_barriers_kept(async_machine *m, const lane_place *at, int64_t bytes, MlirOperation op)
{
    for (size_t i = 0; i < m->barrier_count && !m->stopped; i++) {
        const async_mbarrier *b = &m->barriers[i];
        if (!b->alive || b->place.region != at->region || b->place.cta != at->cta ||
            b->place.byte + 8 <= at->byte || b->place.byte >= at->byte + bytes)
            continue;
        async_finding f =
            async_find(ASYNC_ORDER, op,
                       "writes bytes %lld to %lld of shared memory, which overlap the mbarrier at byte %lld",
                       (long long)at->byte, (long long)(at->byte + bytes), (long long)b->place.byte);
        async_note(&f, b->init, "the mbarrier");
        async_stop(m, &f);
    }
}

/* `generic`: st.async accesses the mbarrier through the generic proxy. */
static void check_init_fence(async_machine *m, const async_warp *user, async_mbarrier *b, MlirOperation op,
                             bool generic)
{
    const async_warp *w = &m->warps[b->init_warp];
    order_init init = {.init = b->init_seq,
                       .init_fence = w->init_fence,
                       .proxy_fence = w->fence_count ? w->fences[w->fence_count - 1] : 0,
                       .relaxed = w->cluster_relaxed,
                       .released = w->cluster_released,
                       .user_fence = user->fenced[b->init_warp]};
    if (b->fence_told || (generic ? user->cta == b->place.cta || order_init_reaches_blocks(&init)
                                  : order_init_reaches_copies(&init)))
        return;
    b->fence_told = true;
    async_finding f = async_find(
        ASYNC_INIT_FENCE, b->init,
        "a copy completes at an mbarrier whose initialisation is not followed by mbarrier_init_fence");
    async_note(&f, op, "the copy");
    async_tell(m->report, &f);
}

/* Counts the bytes of `copy` at mbarrier `index`. */
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

/* An access by a warp, or by its copy (-1: none), to a tensor in shared memory. */
static async_access access_by(const async_warp *w, MlirOperation op, async_access_kind kind, int copy,
                              const cute_value *tensor)
{
    return (async_access){.kind = kind,
                          .warp = w->id,
                          .seq = w->seq,
                          .copy = copy,
                          .op = op,
                          .swizzle = lane_swizzle_of(tensor)};
}

/* One lane of the warp issues the copy. */
static void tensor_load(async_machine *m, async_warp *w, const async_instr *i)
{
    const lane_atom *atom = w->slots[i->in[0]].atom;
    const lane_value *tensor = &w->slots[i->in[2]];
    lane_place at, bar;
    int64_t mask = 0, bytes;
    int lane = w->mask ? __builtin_ctz(w->mask) : 0;
    lane_value barrier = atom->barrier ? lane_of(atom->barrier, lane) : (lane_value){0};
    if (!lane_place_of(tensor, &at) || !lane_place_of(&barrier, &bar) ||
        !(bytes = tensor_bytes(tensor->value))) {
        m->stopped = true;
        return;
    }
    /* Each instruction copies this block's share of its box. */
    int64_t sharers = at.sharers      ? at.sharers
                      : atom->sharers ? atom->sharers /* tma_partition was expanded */
                                      : 1;
    int64_t box = lane_copy_bits(atom) / 8, boxes = 1;
    if (box > 0 && bytes % box == 0)
        boxes = bytes / box;
    else
        box = bytes;
    if (box % sharers) box = sharers;
    int64_t own_bytes = box / sharers;
    bool multicast = atom->mask != NULL;
    if (multicast) {
        lane_value v = lane_of(atom->mask, lane);
        if (!lane_number_of(&v, &mask)) {
            m->stopped = true;
            return;
        }
        mask &= 0xffff;
    } else {
        mask = 1ll << w->cta;
    }
    if (mask >> m->ctas) {
        async_finding f =
            async_find(ASYNC_CLUSTER_RANK, i->op, "copies to blocks of mask 0x%llx in a cluster of %d",
                       (unsigned long long)mask, m->ctas);
        async_stop(m, &f);
        return;
    }
    check_swizzle(m, atom, tensor->value, i->op);
    if (m->stopped) return;
    bar.cta = w->cta;
    int own = async_barrier_at(m, w, &bar, i->op);
    int copy =
        own < 0
            ? -1
            : async_copy_new(
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
        check_init_fence(m, w, b, i->op, false);
        check_barriers_kept(m, &at, box * (boxes - 1) + own_bytes, i->op);
        async_reach(m, w, cta, copy, i->op);
        lane_place to = at;
        async_access access = access_by(w, i->op, ASYNC_PROXY_WRITE, copy, tensor->value);
        for (int64_t n = 0; n < boxes && n < 64; n++, to.byte += box)
            if (m->stopped || !async_touch(m, w, &to, own_bytes, &access)) return;
        take_off(m, index, copy, own_bytes * boxes, i->op);
    }
}

/* Bytes that one lane of st.async sends. */
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

/* Each lane of st.async may send to a different block; consecutive lanes with one destination are one
 * access. */
static void send_async(async_machine *m, async_warp *w, const async_instr *i)
{
    struct {
        lane_place bar;
        int index, copy;
        int64_t bytes;
    } groups[32];
    int count = 0, run_group = -1;
    int64_t bytes = sent_bytes(i->op), run_bytes = 0;
    lane_place run = {0};
    async_access access = {
        .kind = ASYNC_PROXY_WRITE, .warp = w->id, .seq = ++w->seq, .op = i->op, .swizzle = -1};
    for (int lane = 0; lane <= 32; lane++) {
        lane_place at = {0}, bar = {0};
        int64_t block = 0;
        int g = -1;
        if (lane < 32) {
            if (!(w->mask >> lane & 1)) continue;
            lane_value p = lane_of(&w->slots[i->in[1]], lane), b = lane_of(&w->slots[i->in[2]], lane),
                       r = lane_of(&w->slots[i->in[3]], lane);
            if (!lane_place_of(&p, &at) || !lane_place_of(&b, &bar) || !lane_number_of(&r, &block)) {
                m->stopped = true;
                return;
            }
            if (block < 0 || block >= m->ctas) {
                async_finding f =
                    async_find(ASYNC_CLUSTER_RANK, i->op, "addresses block %lld of a cluster of %d",
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
                check_init_fence(m, w, &m->barriers[index], i->op, true);
                int copy = async_copy_new(
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
    const lane_atom *atom = w->slots[i->in[0]].atom;
    const lane_value *from = &w->slots[i->in[1]];
    lane_value barrier =
        atom->barrier ? lane_of(atom->barrier, w->mask ? __builtin_ctz(w->mask) : 0) : (lane_value){0};
    lane_place source, at, bar;
    int64_t bytes;
    if (!lane_place_of(from, &source) || !lane_place_of(&w->slots[i->in[2]], &at) ||
        !lane_place_of(&barrier, &bar) || !(bytes = tensor_bytes(from->value))) {
        m->stopped = true;
        return;
    }
    int index = async_barrier_at(m, w, &bar, i->op);
    if (index < 0) return;
    check_init_fence(m, w, &m->barriers[index], i->op, false);
    int copy = async_copy_new(
        m, (async_copy){.op = i->op, .warp = w->id, .kind = ASYNC_LOAD, .barrier = index, .committed = true});
    if (copy < 0) return;
    w->seq++;
    async_access access = access_by(w, i->op, ASYNC_PROXY_READ, copy, from->value);
    async_reach(m, w, at.cta, copy, i->op);
    check_barriers_kept(m, &at, bytes, i->op);
    if (m->stopped || !async_touch(m, w, &source, bytes, &access)) return;
    access.kind = ASYNC_PROXY_WRITE;
    if (async_touch(m, w, &at, bytes, &access)) take_off(m, index, copy, bytes, i->op);
}

static void tensor_store(async_machine *m, async_warp *w, const async_instr *i)
{
    const lane_value *tensor = &w->slots[i->in[1]];
    lane_place at;
    int64_t bytes;
    if (!lane_place_of(tensor, &at) || !(bytes = tensor_bytes(tensor->value))) {
        m->stopped = true;
        return;
    }
    check_swizzle(m, w->slots[i->in[0]].atom, tensor->value, i->op);
    if (m->stopped) return;
    int copy = async_copy_new(m, (async_copy){.op = i->op, .warp = w->id, .kind = ASYNC_STORE});
    if (copy < 0) return;
    w->seq++;
    async_access access = access_by(w, i->op, ASYNC_PROXY_READ, copy, tensor->value);
    if (!async_touch(m, w, &at, bytes, &access)) return;
    if (w->store_count == ASYNC_GROUPS) { /* drop the oldest, as if it had completed */
        async_known_set(w->known, w->stores[0]);
        memmove(w->stores, w->stores + 1, sizeof w->stores - sizeof w->stores[0]);
        memmove(w->store_group, w->store_group + 1, sizeof w->store_group - sizeof w->store_group[0]);
        w->store_count--;
    }
    w->stores[w->store_count] = copy;
    w->store_group[w->store_count++] = w->groups;
}

/* Address of the byte at offset `byte` of a tensor, after its swizzle. */
static int64_t swizzle_byte(const cute_value *tensor, int64_t byte)
{
    cute_swizzle s = tensor->pointer->swizzle;
    if (!s.bits || s.shift <= 0) return byte;
    uint64_t moved = ((uint64_t)byte >> (s.base + s.shift) & ((1ull << s.bits) - 1)) << s.base;
    return (int64_t)((uint64_t)byte ^ moved);
}

/* Adds the index of the last element of a layout to *sum; false: unknown. */
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

/* Records the accesses of threads to some elements of a tensor in shared memory. */
static void thread_access(async_machine *m, async_warp *w, const lane_value *v, async_access_kind kind,
                          MlirOperation op)
{
    lane_place at, own;
    if (v->kind != LANE_VALUE || !v->value->pointer || v->value->pointer->space != CUTE_SPACE_SMEM) return;
    if (!lane_place_of(v, &at)) {
        m->stopped = true;
        return;
    }
    if (v->value->tree || v->value->inner.shape) return; /* a composed layout */
    int64_t element = (v->value->pointer->bits + 7) / 8, size = lane_size_of(v->value), last = 0;
    int64_t bits = v->value->pointer->bits;
    if (size > 1 && !(last_index(v->value->layout.shape, v->value->layout.stride, &last) &&
                      cute_mul64(last, bits, &last)))
        last = 0;
    last /= 8;
    async_access access = access_by(w, op, kind, -1, v->value);
    own = at;
    own.byte = swizzle_byte(v->value, at.byte);
    if (!async_touch(m, w, &own, element, &access) || last <= 0) return;
    own.byte = swizzle_byte(v->value, at.byte + last);
    async_touch(m, w, &own, element, &access);
}

static async_step tensor_copy(async_machine *m, async_warp *w, const async_instr *i)
{
    if (i->in_count < 3 || i->in[0] < 0 || i->in[1] < 0 || i->in[2] < 0) {
        m->stopped = true;
        return ASYNC_PAUSES;
    }
    const lane_value *atom = &w->slots[i->in[0]];
    bool bulk = is_atom_of(atom, "bulk_copy");
    if (is_atom_of(atom, "tma_load") || (bulk && strstr(atom->atom->type->atom->text, "g2s")))
        tensor_load(m, w, i);
    else if (is_atom_of(atom, "tma_store") || is_atom_of(atom, "tma_reduce") ||
             (bulk && strstr(atom->atom->type->atom->text, "s2g")))
        tensor_store(m, w, i);
    else if (bulk)
        hand_over(m, w, i);
    else if (is_atom_of(atom, "tma"))
        m->stopped = true;
    else {
        w->seq++;
        thread_access(m, w, &w->slots[i->in[1]], ASYNC_READ, i->op);
        if (!m->stopped) thread_access(m, w, &w->slots[i->in[2]], ASYNC_WRITE, i->op);
    }
    return ASYNC_GOES_ON;
}

static void bulk_wait(async_machine *m, async_warp *w, MlirOperation op)
{
    (void)m;
    int64_t left = async_attribute(op, "group", async_attribute(op, "groups", 0));
    int kept = 0;
    for (int i = 0; i < w->store_count; i++) {
        if (w->store_group[i] < (int)order_groups_done((uint32_t)w->groups, (uint64_t)left)) {
            async_known_set(w->known, w->stores[i]);
            continue;
        }
        w->stores[kept] = w->stores[i];
        w->store_group[kept++] = w->store_group[i];
    }
    w->store_count = kept;
}

async_step async_copy_do(async_machine *m, async_warp *w, const async_instr *i)
{
    switch (i->event) {
    case ASYNC_EV_TENSOR_COPY: return tensor_copy(m, w, i);
    case ASYNC_EV_SEND:
        if (i->in_count < 4 || i->in[1] < 0 || i->in[2] < 0 || i->in[3] < 0) {
            m->stopped = true;
            return ASYNC_PAUSES;
        }
        send_async(m, w, i);
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
    default: return ASYNC_GOES_ON;
    }
}
