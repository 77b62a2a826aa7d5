/* mbarrier objects in shared memory. Our 64-bit layout: bits 0-19 expected arrivals, 20-39 pending arrivals,
 * 40-61 pending bytes (plus TX_ZERO), 62 set, 63 the phase. lib/order/mbarrier.h has their rules. */
#include "lib/emulator/program/decode.h"

#include <stdio.h>

#include "lib/order/mbarrier.h"

enum { TX_ZERO = 1 << 21 };
#define VALID (UINT64_C(1) << 62)

static order_mbarrier unpack_mbarrier(uint64_t v)
{
    return (order_mbarrier){.count = (uint32_t)(v & ORDER_MBARRIER_MOST),
                            .pending = (uint32_t)(v >> 20 & ORDER_MBARRIER_MOST),
                            .bytes = (int64_t)(v >> 40 & 0x3fffff) - TX_ZERO,
                            .phase = (uint32_t)(v >> 63)};
}
static uint64_t pack_mbarrier(const order_mbarrier *b)
{
    return b->count | (uint64_t)b->pending << 20 | ((uint64_t)(b->bytes + TX_ZERO) & 0x3fffff) << 40 | VALID |
           (uint64_t)(b->phase & 1) << 63;
}

static uint8_t *locate_mbarrier(em_warp *w, const em_inst *i, int lane, uint64_t address, uint64_t *value)
{
    if (address & 7) {
        em_fault(w, i, lane, "misaligned mbarrier: address 0x%llx, alignment 8", (unsigned long long)address);
        return NULL;
    }
    uint8_t *p = em_locate(w, i, lane, EM_SHARED, address, 8, EM_ATOMIC);
    if (!p) return NULL;
    memcpy(value, p, 8);
    return p;
}

/* The mbarrier at `address`; NULL after a fault. */
static uint8_t *find_valid_mbarrier(em_warp *w, const em_inst *i, int lane, uint64_t address,
                                    order_mbarrier *out)
{
    /* cp.async.mbarrier.arrive adds arrivals, which it removes when the copies complete. */
    enum { ADDED = 1 << 14 };
    uint64_t v;
    uint8_t *p = locate_mbarrier(w, i, lane, address, &v);
    if (!p) return NULL;
    *out = unpack_mbarrier(v);
    if (v & VALID && out->count && out->pending <= out->count + ADDED && v != UINT64_MAX) return p;
    em_fault(w, i, lane, "no valid mbarrier at shared address 0x%llx: never initialised, or overwritten",
             (unsigned long long)address);
    return NULL;
}

static void store_mbarrier(em_warp *w, uint8_t *at, const order_mbarrier *b)
{
    uint64_t v = pack_mbarrier(b);
    memcpy(at, &v, 8);
    w->machine->changes++;
}

static void fail_arrival(em_warp *w, const em_inst *i, int lane, uint32_t address, const order_mbarrier *b,
                         uint32_t count, int64_t tx, order_arrival why)
{
    char more[120] = "";
    if (why == ORDER_TOO_MANY_BYTES) {
        em_fault(w, i, lane, "transaction count %lld of the mbarrier at 0x%x is out of range",
                 (long long)(b->bytes + tx), address);
        return;
    }
    if (!b->pending)
        snprintf(
            more, sizeof more,
            "; the phase still waits for %lld bytes: an extra arrival, or an expected count that is too low",
            (long long)b->bytes);
    em_fault(w, i, lane, "%u arrivals at the mbarrier at 0x%x exceed the %u pending of %u%s", count, address,
             b->pending, b->count, more);
}

bool em_mbarrier_arrive(em_warp *w, const em_inst *i, int lane, uint32_t address, uint32_t count, int64_t tx,
                        bool drops, uint64_t *state)
{
    order_mbarrier b;
    /* Arrivals at an exited block are dropped. */
    if (em_shared_ended(w, address)) return locate_mbarrier(w, i, lane, address, &(uint64_t){0}) != NULL;
    uint8_t *p = find_valid_mbarrier(w, i, lane, address, &b);
    if (!p) return false;
    if (state) *state = pack_mbarrier(&b);
    order_arrival done = order_mbarrier_arrive(&b, count, tx, drops);
    if (done != ORDER_ARRIVES) {
        fail_arrival(w, i, lane, address, &b, count, tx, done);
        return false;
    }
    em_tell(EM_E_MBARRIER_ARRIVE, w, i, 1u << (lane & 31), address, (uint64_t)tx);
    if (order_mbarrier_is_complete(&b)) {
        em_tell(EM_E_MBARRIER_PHASE, w, i, 0, address, 0);
        order_mbarrier_next(&b);
    }
    store_mbarrier(w, p, &b);
    return true;
}

bool em_mbarrier_raise(em_warp *w, const em_inst *i, int lane, uint32_t address)
{
    order_mbarrier b;
    uint8_t *p = find_valid_mbarrier(w, i, lane, address, &b);
    if (!p) return false;
    if (!order_mbarrier_raise(&b)) {
        em_fault(w, i, lane, "the mbarrier at 0x%x has %u pending arrivals, the maximum", address, b.pending);
        return false;
    }
    store_mbarrier(w, p, &b);
    return true;
}

static uint64_t shared_word(const em_warp *w, uint32_t address)
{
    const em_cluster *c = w->block->cluster;
    uint32_t rank = address >> EM_RANK_SHIFT,
             at = (address & ((1u << EM_RANK_SHIFT) - 1)) - EM_SHARED_RESERVED;
    uint64_t v = 0;
    if (rank < c->count && at < c->blocks[rank].shared_size && c->blocks[rank].shared_size - at >= 8)
        memcpy(&v, c->blocks[rank].shared + at, 8);
    return v;
}

bool em_mbarrier_counts(const em_warp *w, uint32_t address, uint32_t *expected, uint32_t *missing)
{
    uint64_t v = shared_word(w, address);
    order_mbarrier b = unpack_mbarrier(v);
    *expected = b.count;
    *missing = b.pending;
    return v & VALID;
}

void em_mbarrier_describe(const em_warp *w, uint32_t address, uint32_t phase, char *out, size_t size)
{
    order_mbarrier b = unpack_mbarrier(shared_word(w, address));
    /* cp.async.mbarrier.arrive may have added pending arrivals. */
    uint32_t total = b.pending > b.count ? b.pending : b.count;
    char bytes[64] = "";
    if (b.bytes)
        snprintf(bytes, sizeof bytes, ", %lld bytes %s", (long long)(b.bytes < 0 ? -b.bytes : b.bytes),
                 b.bytes < 0 ? "more than expected" : "missing");
    snprintf(out, size, "waits for phase %u of the mbarrier at shared address 0x%x: %u of %u arrivals%s",
             phase, address, total - b.pending, total, bytes);
}

static void run_init(em_warp *w, const em_inst *i, uint32_t mask)
{
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        int l = __builtin_ctz(rest);
        uint32_t address;
        uint64_t v, count = em_get(w, &i->o[1], l);
        if (!em_shared_address(w, i, l, em_address(w, &i->o[0], l), &address)) return;
        uint8_t *p = locate_mbarrier(w, i, l, address, &v);
        if (!p) return;
        if (!order_mbarrier_count_is_valid((int64_t)count)) {
            em_fault(w, i, l, "expected an arrival count from 1 to %d, got %llu", ORDER_MBARRIER_MOST,
                     (unsigned long long)count);
            return;
        }
        order_mbarrier b = order_mbarrier_init((uint32_t)count);
        store_mbarrier(w, p, &b);
        em_tell(EM_E_MBARRIER_INIT, w, i, 1u << l, address, 0);
    }
    /* Kernels in which each warp initialises without a barrier rely on warps advancing in step. */
    w->stop = EM_YIELD;
}

static void run_inval(em_warp *w, const em_inst *i, uint32_t mask)
{
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        int l = __builtin_ctz(rest);
        uint32_t address;
        order_mbarrier b;
        if (!em_shared_address(w, i, l, em_address(w, &i->o[0], l), &address)) return;
        uint8_t *p = find_valid_mbarrier(w, i, l, address, &b);
        if (!p) return;
        memset(p, 0, 8);
    }
}

/* Variants: arrive, arrive.expect_tx, expect_tx, complete_tx, arrive_drop, arrive_drop.expect_tx. */
typedef enum em_mbarrier_kind { ARRIVE, ARRIVE_EXPECT, EXPECT, COMPLETE, DROP, DROP_EXPECT } em_mbarrier_kind;

static void run_arrive(em_warp *w, const em_inst *i, uint32_t mask)
{
    em_mbarrier_kind kind = (em_mbarrier_kind)i->mbarrier.kind;
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        int l = __builtin_ctz(rest);
        uint32_t address, number = i->mbarrier.number ? (uint32_t)em_get(w, &i->o[i->mbarrier.number], l) : 1;
        uint64_t state = 0;
        if (!em_shared_address(w, i, l, em_address(w, &i->o[i->mbarrier.address], l), &address)) return;
        bool expects = kind == ARRIVE_EXPECT || kind == EXPECT || kind == DROP_EXPECT;
        uint32_t count = kind == EXPECT || kind == COMPLETE ? 0 : expects ? 1 : number;
        int64_t tx = expects ? (int64_t)number : kind == COMPLETE ? -(int64_t)number : 0;
        bool drops = kind == DROP || kind == DROP_EXPECT;
        if (!em_mbarrier_arrive(w, i, l, address, count, tx, drops, &state)) return;
        if (i->mbarrier.address == 1) em_set(w, &i->o[0], l, state);
    }
}

/* Whether the warp waits at one address for one phase, and no check needs the event of each lane. */
static bool waits_together(const em_warp *w, const em_inst *i, uint32_t mask)
{
    const em_hooks *hooks = &w->machine->launch->hooks;
    const em_operand *at = &i->o[1].list[0], *token = &i->o[2];
    if (hooks->access || hooks->event || mask != UINT32_MAX || at->bytes != 4 || token->bytes != 4)
        return false;
    const uint32_t *a = em_r32(w, at), *t = em_r32(w, token);
    uint32_t other = 0;
    for (int l = 1; l < EM_LANES; l++) other |= (a[l] ^ a[0]) | (t[l] ^ t[0]);
    return other == 0;
}

static void run_mbarrier_wait(em_warp *w, const em_inst *i, uint32_t mask)
{
    uint32_t done = 0, last = 0, last_phase = 0;
    bool together = waits_together(w, i, mask);
    for (uint32_t rest = together ? 1 : mask; rest; rest &= rest - 1) {
        int l = __builtin_ctz(rest);
        uint32_t address;
        uint64_t token = em_get(w, &i->o[2], l);
        order_mbarrier b;
        if (!em_shared_address(w, i, l, em_address(w, &i->o[1], l), &address)) return;
        if (!find_valid_mbarrier(w, i, l, address, &b)) return;
        uint32_t phase = i->mbarrier.parity ? (uint32_t)token & 1 : (uint32_t)(token >> 63);
        if (order_mbarrier_passes(&b, phase)) {
            done |= together ? mask : 1u << l;
            em_tell(EM_E_MBARRIER_PASS, w, i, 1u << l, address, 0);
        } else {
            last = address;
            last_phase = phase;
        }
    }
    em_set_mask(w, &i->o[0], mask, done);
    em_split *s = w->split;
    if (done == mask) {
        s->polled = 0;
        return;
    }
    bool again = s->polled == w->machine->changes + 1 && s->polled_at == s->pc - 1;
    s->polls = again ? s->polls + 1 : 0;
    s->polled = w->machine->changes + 1;
    s->polled_at = s->pc - 1;
    s->poll_address = last;
    s->poll_phase = last_phase;
    w->stop = EM_POLL;
}

static void run_pending_count(em_warp *w, const em_inst *i, uint32_t mask)
{
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        int l = __builtin_ctz(rest);
        em_set(w, &i->o[0], l, unpack_mbarrier(em_get(w, &i->o[1], l)).pending);
    }
}

cute_status em_decode_mbarrier(em_parser *p, const em_raw *raw, em_inst *i)
{
    if (em_has(i, EM_M_init)) {
        CUTE_TRY(em_operands(p, raw, 2, 2));
        i->run = run_init;
        CUTE_TRY(em_space_operand(p, raw, i, 0));
        return em_source(p, raw, i, 1, PTX_u32);
    }
    if (em_has(i, EM_M_inval)) {
        CUTE_TRY(em_operands(p, raw, 1, 1));
        i->run = run_inval;
        return em_space_operand(p, raw, i, 0);
    }
    if (em_has(i, EM_M_test_wait) || em_has(i, EM_M_try_wait)) {
        CUTE_TRY(em_operands(p, raw, 3, 4));
        i->mbarrier.parity = em_has(i, EM_M_parity);
        i->run = run_mbarrier_wait;
        CUTE_TRY(em_target(p, raw, i, 0, PTX_pred, false));
        CUTE_TRY(em_space_operand(p, raw, i, 1));
        return em_source(p, raw, i, 2, i->mbarrier.parity ? PTX_u32 : PTX_b64);
    }
    if (em_has(i, EM_M_pending_count)) {
        CUTE_TRY(em_operands(p, raw, 2, 2));
        i->run = run_pending_count;
        CUTE_TRY(em_target(p, raw, i, 0, PTX_u32, false));
        return em_source(p, raw, i, 1, PTX_b64);
    }
    bool arrive = em_has(i, EM_M_arrive) || em_has(i, EM_M_arrive_drop), expect = em_has(i, EM_M_expect_tx);
    if (!arrive && !expect && !em_has(i, EM_M_complete_tx)) return em_unknown(p, raw);
    int at = raw->count > 0 && raw->o[0].kind == EM_O_MEMORY ? 0 : 1;
    CUTE_TRY(em_operands(p, raw, at + 1, at + 2));
    i->mbarrier.address = (uint8_t)at;
    i->mbarrier.number = raw->count > at + 1 ? (uint8_t)(at + 1) : 0;
    i->mbarrier.kind = em_has(i, EM_M_arrive_drop) ? (expect ? DROP_EXPECT : DROP)
                       : arrive && expect          ? ARRIVE_EXPECT
                       : expect                    ? EXPECT
                       : arrive                    ? ARRIVE
                                                   : COMPLETE;
    if (expect && !i->mbarrier.number) return em_wrong(p, raw, "expected the number of bytes as an operand");
    i->run = run_arrive;
    if (at) CUTE_TRY(em_target(p, raw, i, 0, PTX_b64, true));
    CUTE_TRY(em_space_operand(p, raw, i, at));
    return i->mbarrier.number ? em_source(p, raw, i, i->mbarrier.number, PTX_u32) : CUTE_OK;
}
