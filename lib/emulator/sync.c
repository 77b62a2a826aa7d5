/* What lanes, warps and blocks do together: shuffles, votes, barriers of block and cluster, branches, calls.
 */
#include "lib/emulator/decode.h"

#include "lib/emulator/control.h"
#include "lib/emulator/lanes.h"

/* ---- within a warp ---- */

static void by_members(em_warp *w, const em_inst *i, uint32_t mask, int index, em_run run)
{
    const em_operand *o = &i->o[index];
    if (em_diverge_members(w, i, o, mask)) return;
    for (uint32_t rest = mask, group; rest; rest &= ~group) {
        uint32_t member = em_same_members(w, o, rest, &group);
        if (!em_gather(w, i, member, &group)) return;
        em_tell(EM_E_WARP_EXCHANGE, w, i, group, 0, 0);
        run(w, i, group);
    }
}

/* Operands: d, p, a, b, c, member. */
static void shuffle(em_warp *w, const em_inst *i, uint32_t mask)
{
    uint32_t source[EM_LANES], valid = 0, out[EM_LANES] = {0};
    const uint32_t *a = em_r32(w, &i->o[2]);
    memcpy(source, a, sizeof source);
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        int l = __builtin_ctz(rest);
        uint32_t b = (uint32_t)em_get(w, &i->o[3], l) & 31, c = (uint32_t)em_get(w, &i->o[4], l);
        uint32_t clamp = c & 31, segment = c >> 8 & 31, lane = (uint32_t)l;
        uint32_t most = (lane & segment) | (clamp & ~segment), least = lane & segment, j = lane;
        bool ok = false;
        if (em_has(i, EM_M_up)) {
            j = lane - b;
            ok = (int32_t)j >= (int32_t)most;
        } else if (em_has(i, EM_M_down)) {
            j = lane + b;
            ok = (int32_t)j <= (int32_t)most;
        } else if (em_has(i, EM_M_bfly)) {
            j = lane ^ b;
            ok = (int32_t)j <= (int32_t)most;
        } else {
            j = least | (b & ~segment);
            ok = (int32_t)j <= (int32_t)most;
        }
        if (!ok) j = lane;
        out[l] = source[j & 31];
        valid |= (uint32_t)ok << l;
    }
    if (i->o[0].kind == EM_O_VALUE) {
        uint32_t *d = em_r32(w, &i->o[0]);
        EM_EACH(mask, d[l] = out[l]);
    }
    em_set_mask(w, &i->o[1], mask, valid);
}

static void run_shfl(em_warp *w, const em_inst *i, uint32_t mask)
{
    if (i->count > 5)
        by_members(w, i, mask, 5, shuffle);
    else
        shuffle(w, i, mask);
}

/* Puts '_' as the second result where only one is written: "d" or "d|p". */
static cute_status two_results(em_parser *p, const em_raw *raw, em_inst *i)
{
    bool second = raw->second;
    em_operand *o = cute_arena_array(p->arena, (size_t)raw->count + 2, sizeof *o);
    if (!o) return cute_fail_memory(p->diag);
    if (raw->count < 1 + second) return em_wrong(p, raw, "expected a destination");
    o[0] = raw->o[0];
    o[1] = second ? raw->o[1] : (em_operand){.kind = EM_O_NONE};
    memcpy(o + 2, raw->o + 1 + second, (size_t)(raw->count - 1 - second) * sizeof *o);
    i->o = o;
    i->count = (uint8_t)(raw->count + !second);
    return CUTE_OK;
}

cute_status em_decode_shfl(em_parser *p, const em_raw *raw, em_inst *i)
{
    CUTE_TRY(two_results(p, raw, i));
    int count = em_has(i, EM_M_sync) ? 6 : 5;
    if (i->count != count)
        return em_wrong(p, raw, "shfl expects d|p, a, b, c%s", count == 6 ? ", membermask" : "");
    CUTE_TRY(em_target(p, raw, i, 0, PTX_b32, true));
    CUTE_TRY(em_target(p, raw, i, 1, PTX_pred, true));
    for (int n = 2; n < count; n++) CUTE_TRY(em_source(p, raw, i, n, PTX_b32));
    i->run = run_shfl;
    return CUTE_OK;
}

/* vote.sync.mode d, a, member; */
static void vote(em_warp *w, const em_inst *i, uint32_t mask)
{
    uint32_t a = em_mask_of(w, &i->o[1]) & mask;
    if (em_has(i, EM_M_ballot))
        EM_EACH(mask, em_set(w, &i->o[0], l, a));
    else if (em_has(i, EM_M_all))
        em_set_mask(w, &i->o[0], mask, a == mask ? UINT32_MAX : 0);
    else if (em_has(i, EM_M_any))
        em_set_mask(w, &i->o[0], mask, a ? UINT32_MAX : 0);
    else
        em_set_mask(w, &i->o[0], mask, a == mask || !a ? UINT32_MAX : 0);
}

static void run_vote(em_warp *w, const em_inst *i, uint32_t mask)
{
    if (i->count > 2)
        by_members(w, i, mask, 2, vote);
    else
        vote(w, i, mask);
}

cute_status em_decode_vote(em_parser *p, const em_raw *raw, em_inst *i)
{
    CUTE_TRY(em_operands(p, raw, em_has(i, EM_M_sync) ? 3 : 2, em_has(i, EM_M_sync) ? 3 : 2));
    CUTE_TRY(em_target(p, raw, i, 0, em_has(i, EM_M_ballot) ? PTX_b32 : PTX_pred, false));
    CUTE_TRY(em_source(p, raw, i, 1, PTX_pred));
    if (raw->count > 2) CUTE_TRY(em_source(p, raw, i, 2, PTX_b32));
    i->run = run_vote;
    return CUTE_OK;
}

/* match.any.sync d, a, member; match.all.sync d|p, a, member. */
static void match(em_warp *w, const em_inst *i, uint32_t mask)
{
    uint32_t out[EM_LANES] = {0};
    bool all = em_has(i, EM_M_all), equal = true;
    uint64_t first = em_uniform(w, &i->o[2], mask);
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        int l = __builtin_ctz(rest);
        uint64_t v = em_get(w, &i->o[2], l);
        equal = equal && v == first;
        for (uint32_t other = mask; other; other &= other - 1)
            if (em_get(w, &i->o[2], __builtin_ctz(other)) == v) out[l] |= other & -other;
    }
    EM_EACH(mask, em_set(w, &i->o[0], l, all ? (equal ? mask : 0) : out[l]));
    em_set_mask(w, &i->o[1], mask, equal ? UINT32_MAX : 0);
}

static void run_match(em_warp *w, const em_inst *i, uint32_t mask)
{
    by_members(w, i, mask, 3, match);
}

cute_status em_decode_match(em_parser *p, const em_raw *raw, em_inst *i)
{
    CUTE_TRY(two_results(p, raw, i));
    if (i->count != 4) return em_wrong(p, raw, "match expects d|p, a, membermask");
    CUTE_TRY(em_target(p, raw, i, 0, PTX_b32, true));
    CUTE_TRY(em_target(p, raw, i, 1, PTX_pred, true));
    CUTE_TRY(em_source(p, raw, i, 2, (ptx_type)i->type));
    i->run = run_match;
    return em_source(p, raw, i, 3, PTX_b32);
}

static void run_activemask(em_warp *w, const em_inst *i, uint32_t mask)
{
    EM_EACH(mask, em_set(w, &i->o[0], l, mask));
}

cute_status em_decode_activemask(em_parser *p, const em_raw *raw, em_inst *i)
{
    CUTE_TRY(em_operands(p, raw, 1, 1));
    i->run = run_activemask;
    return em_target(p, raw, i, 0, PTX_b32, false);
}

static void reduce(em_warp *w, const em_inst *i, uint32_t mask)
{
    const uint32_t *a = em_r32(w, &i->o[1]);
    uint32_t r = a[__builtin_ctz(mask)];
    for (uint32_t rest = mask & (mask - 1); rest; rest &= rest - 1) {
        uint32_t v = a[__builtin_ctz(rest)];
        if (em_has(i, EM_M_add))
            r += v;
        else if (em_has(i, EM_M_and))
            r &= v;
        else if (em_has(i, EM_M_or))
            r |= v;
        else if (em_has(i, EM_M_xor))
            r ^= v;
        else if (i->type == PTX_s32)
            r = ((int32_t)v < (int32_t)r) == (bool)em_has(i, EM_M_min) ? v : r;
        else
            r = (v < r) == (bool)em_has(i, EM_M_min) ? v : r;
    }
    EM_EACH(mask, em_set(w, &i->o[0], l, r));
}

static void run_redux(em_warp *w, const em_inst *i, uint32_t mask)
{
    by_members(w, i, mask, 2, reduce);
}

cute_status em_decode_redux(em_parser *p, const em_raw *raw, em_inst *i)
{
    CUTE_TRY(em_operands(p, raw, 3, 3));
    if (i->type == PTX_f32) return em_unknown(p, raw);
    CUTE_TRY(em_target(p, raw, i, 0, PTX_b32, false));
    CUTE_TRY(em_source(p, raw, i, 1, PTX_b32));
    i->run = run_redux;
    return em_source(p, raw, i, 2, PTX_b32);
}

static void elect(em_warp *w, const em_inst *i, uint32_t mask)
{
    uint32_t leader = (uint32_t)__builtin_ctz(mask);
    EM_EACH(mask, em_set(w, &i->o[0], l, leader));
    em_set_mask(w, &i->o[1], mask, 1u << leader);
}

static void run_elect(em_warp *w, const em_inst *i, uint32_t mask)
{
    by_members(w, i, mask, 2, elect);
}

cute_status em_decode_elect(em_parser *p, const em_raw *raw, em_inst *i)
{
    CUTE_TRY(two_results(p, raw, i));
    if (i->count != 3) return em_wrong(p, raw, "elect.sync expects d|p, membermask");
    CUTE_TRY(em_target(p, raw, i, 0, PTX_b32, true));
    CUTE_TRY(em_target(p, raw, i, 1, PTX_pred, true));
    i->run = run_elect;
    return em_source(p, raw, i, 2, PTX_b32);
}

/* ---- barriers of the block ---- */

/* Of barrier.red results stand before the barrier's number, the predicate behind it and the count. */
typedef enum em_barrier_kind { BARRIER_SYNC, BARRIER_ARRIVE, BARRIER_RED } em_barrier_kind;

static void run_barrier(em_warp *w, const em_inst *i, uint32_t mask)
{
    em_split *s = w->split;
    em_barrier_kind kind = (em_barrier_kind)i->barrier.kind;
    uint32_t number = (uint32_t)em_uniform(w, &i->o[i->barrier.number], mask);
    uint32_t wanted = i->barrier.threads ? (uint32_t)em_uniform(w, &i->o[i->barrier.threads], mask) : 0;
    em_machine *m = w->machine;
    if (number >= EM_BARRIERS) {
        em_fault(w, i, -1, "expected a barrier from 0 to 15, got %u", number);
        return;
    }
    em_barrier *b = &w->block->barriers[number];
    if (s->woken) {
        s->woken = false;
        em_tell(EM_E_BARRIER_EXIT, w, i, mask, number, 0);
        if (kind != BARRIER_RED) return;
        if (em_has(i, EM_M_popc))
            EM_EACH(mask, em_set(w, &i->o[0], l, b->result_count));
        else
            em_set_mask(w, &i->o[0], mask,
                        em_has(i, EM_M_and) ? (b->result_and ? UINT32_MAX : 0)
                                            : (b->result_or ? UINT32_MAX : 0));
        return;
    }
    if (i->barrier.threads && (wanted % EM_LANES || !wanted)) {
        em_fault(w, i, -1, "expected a thread count that is a positive multiple of %d, got %u", EM_LANES,
                 wanted);
        return;
    }
    if (b->arrived && b->expected != wanted && wanted && b->expected) {
        em_fault(w, i, -1, "barrier %u is used with %u threads here and with %u elsewhere", number, wanted,
                 b->expected);
        return;
    }
    em_tell(EM_E_BARRIER_ARRIVE, w, i, mask, number, wanted);
    uint32_t lanes = (uint32_t)__builtin_popcount(mask);
    if (wanted && mask == w->alive) lanes = EM_LANES; /* a count is in whole warps */
    if (kind == BARRIER_RED) {
        uint32_t a = em_mask_of(w, &i->o[i->count - 1]) & mask;
        if (a != mask) b->red_and = 0;
        b->red_or |= a;
        b->red_count += (uint32_t)__builtin_popcount(a);
    }
    uint32_t generation = b->generation;
    b->arrived += lanes;
    b->expected = wanted;
    m->changes++;
    if (kind != BARRIER_ARRIVE) {
        s->barrier = number;
        s->generation = generation;
        em_block_split(w, EM_WAIT_BARRIER);
    }
    em_barrier_complete(w->block);
    if (kind != BARRIER_ARRIVE && b->generation != generation) { /* it was the last: go on at once */
        s->wait = EM_RUNS;
        s->woken = true;
        w->stop = EM_GO_ON;
        em_uncount(w, i, mask, true);
    }
}

cute_status em_decode_barrier(em_parser *p, const em_raw *raw, em_inst *i)
{
    if (em_has(i, EM_M_cluster)) return em_decode_barrier_cluster(p, raw, i);
    if (em_has(i, EM_M_warp)) {
        CUTE_TRY(em_operands(p, raw, 1, 1));
        i->run = em_run_warp_barrier;
        return em_source(p, raw, i, 0, PTX_b32);
    }
    bool red = em_has(i, EM_M_red), arrive = em_has(i, EM_M_arrive);
    i->barrier.kind = red ? BARRIER_RED : arrive ? BARRIER_ARRIVE : BARRIER_SYNC;
    i->run = run_barrier;
    if (red) {
        CUTE_TRY(em_operands(p, raw, 3, 4));
        CUTE_TRY(em_target(p, raw, i, 0, em_has(i, EM_M_popc) ? PTX_u32 : PTX_pred, false));
        CUTE_TRY(em_source(p, raw, i, raw->count - 1, PTX_pred));
        i->results = 1;
        i->barrier.number = 1;
        i->barrier.threads = raw->count == 4 ? 2 : 0;
    } else {
        CUTE_TRY(em_operands(p, raw, arrive ? 2 : 1, 2));
        i->barrier.threads = raw->count == 2 ? 1 : 0;
    }
    CUTE_TRY(em_source(p, raw, i, i->barrier.number, PTX_u32));
    return i->barrier.threads ? em_source(p, raw, i, i->barrier.threads, PTX_u32) : CUTE_OK;
}

/* ---- barrier.cluster ---- */

static void run_cluster_arrive(em_warp *w, const em_inst *i, uint32_t mask)
{
    em_cluster *c = w->block->cluster;
    (void)i;
    EM_EACH(mask, w->cluster_generation[l] = c->generation);
    c->arrived += (uint32_t)__builtin_popcount(mask);
    em_tell(EM_E_CLUSTER_ARRIVE, w, i, mask, 0, 0);
    w->machine->changes++;
    em_cluster_complete(c);
}

static void run_cluster_wait(em_warp *w, const em_inst *i, uint32_t mask)
{
    if (em_cluster_waits(w, mask))
        em_block_split(w, EM_WAIT_CLUSTER);
    else
        em_tell(EM_E_CLUSTER_EXIT, w, i, mask, 0, 0);
}

cute_status em_decode_barrier_cluster(em_parser *p, const em_raw *raw, em_inst *i)
{
    CUTE_TRY(em_operands(p, raw, 0, 0));
    if (em_has(i, EM_M_arrive))
        i->run = run_cluster_arrive;
    else if (em_has(i, EM_M_wait))
        i->run = run_cluster_wait;
    else
        return em_wrong(p, raw, "barrier.cluster requires .arrive or .wait");
    return CUTE_OK;
}

/* ---- what changes nothing here ---- */

static void run_nothing(em_warp *w, const em_inst *i, uint32_t mask)
{
    (void)w, (void)i, (void)mask;
}

/* Memory is in order as it is, but for what other threads see of it; checks want to know. */
static void run_fence(em_warp *w, const em_inst *i, uint32_t mask)
{
    if (w->machine->parallel) atomic_thread_fence(memory_order_seq_cst);
    em_tell(em_has(i, EM_M_proxy) ? EM_E_PROXY_FENCE : EM_E_FENCE, w, i, mask, 0, 0);
}

cute_status em_decode_hint(em_parser *p, const em_raw *raw, em_inst *i)
{
    (void)p, (void)raw;
    i->run = run_nothing;
    return CUTE_OK;
}

cute_status em_decode_fence(em_parser *p, const em_raw *raw, em_inst *i)
{
    (void)p, (void)raw;
    i->run = run_fence;
    return CUTE_OK;
}

static void run_nanosleep(em_warp *w, const em_inst *i, uint32_t mask)
{
    (void)i, (void)mask;
    w->stop = EM_YIELD;
}

cute_status em_decode_nanosleep(em_parser *p, const em_raw *raw, em_inst *i)
{
    CUTE_TRY(em_operands(p, raw, 1, 1));
    i->run = run_nanosleep;
    return em_source(p, raw, i, 0, PTX_u32);
}
