/* Warp-wide operations: shfl, vote, match, activemask, redux, elect. */
#include "lib/emulator/program/decode.h"

#include "lib/emulator/instructions/lanes.h"
#include "lib/emulator/machine/control.h"

static void by_members(em_warp *w, const em_inst *i, uint32_t mask, int index, em_run run)
{
    const em_operand *o = &i->o[index];
    if (em_diverge_members(w, i, o, mask)) return;
    for (uint32_t rest = mask, group; rest; rest &= ~group) {
        uint32_t member = em_same_members(w, o, rest, &group);
        if (!em_gather(w, i, member, &group)) return;
        em_tell(EM_E_WARP_EXCHANGE, w, i, group, member, 0);
        run(w, i, group);
    }
}

/* Operands: d, p, a, b, c, member. */
static void shuffle_lanes(em_warp *w, const em_inst *i, uint32_t mask)
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
        by_members(w, i, mask, 5, shuffle_lanes);
    else
        run_shfl(w, i, mask);
}

/* Inserts '_' as the second result if only one is written: "d" or "d|p". */
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
static void vote_lanes(em_warp *w, const em_inst *i, uint32_t mask)
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
        by_members(w, i, mask, 2, vote_lanes);
    else
        run_vote(w, i, mask);
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
static void match_lanes(em_warp *w, const em_inst *i, uint32_t mask)
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
    by_members(w, i, mask, 3, match_lanes);
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

static void reduce_lanes(em_warp *w, const em_inst *i, uint32_t mask)
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
    by_members(w, i, mask, 2, reduce_lanes);
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

static void elect_lane(em_warp *w, const em_inst *i, uint32_t mask)
{
    uint32_t leader = (uint32_t)__builtin_ctz(mask);
    EM_EACH(mask, em_set(w, &i->o[0], l, leader));
    em_set_mask(w, &i->o[1], mask, 1u << leader);
}

static void run_elect(em_warp *w, const em_inst *i, uint32_t mask)
{
    by_members(w, i, mask, 2, elect_lane);
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
