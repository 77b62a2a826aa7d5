/* The addresses of simultaneous accesses of a warp, their cost, and the swizzle that minimizes it. */
#include <string.h>

#include "lib/atoms/access.h"
#include "lib/base/diagnostics/diag.h"
#include "lib/base/numbers/checked.h"
#include "lib/layout/trial.h"

enum { MOST_ACCESSES = 1 << 20 };

/* ---- addresses ---- */

uint64_t cute_swizzle_apply(cute_swizzle s, uint64_t x)
{
    if (s.bits == 0) return x;
    uint64_t mask = ((UINT64_C(1) << s.bits) - 1) << (s.base + (s.shift > 0 ? s.shift : 0));
    return x ^ (s.shift >= 0 ? (x & mask) >> s.shift : (x & mask) << -s.shift);
}

/* A lane's tensor, flattened. */
typedef struct lane_view {
    const cute_lane *lane;
    alg_flat flat;
    int64_t size;
} lane_view;

static cute_status open_view(cute_algebra *a, const cute_lane *lane, lane_view *out)
{
    const cute_value *t = &lane->tensor;
    *out = (lane_view){.lane = lane, .size = 1};
    bool known =
        t->type == CUTE_MEMREF && t->pointer && !t->inner.shape && alg_flat_of(a, t->layout, &out->flat);
    if (a->status) return a->status;
    if (!known || (t->tree && !alg_is_known(t->tree)))
        return cute_fail(a->diag, CUTE_INVALID, NULL, "expected a fully known tensor in memory");
    for (size_t i = 0; i < out->flat.count; i++)
        if (!cute_mul64(out->size, out->flat.extent[i], &out->size) || out->size > MOST_ACCESSES)
            return cute_fail(a->diag, CUTE_INVALID, NULL, "a lane has more than %d elements", MOST_ACCESSES);
    return CUTE_OK;
}

/* The address of element `i`, in bytes. */
static bool address_of(const lane_view *v, int64_t i, uint64_t *out)
{
    const cute_value *t = &v->lane->tensor;
    int64_t at, bits;
    if (!alg_flat_at(&v->flat, i, &at)) return false;
    if (t->tree) {
        if (!cute_add64(at, t->tree->value.value, &at)) return false;
        at = (int64_t)cute_swizzle_apply(t->swizzle, (uint64_t)at);
    }
    if (!cute_mul64(at, t->pointer->bits, &bits) || !cute_add64(bits / 8, v->lane->address, &at))
        return false;
    *out = cute_swizzle_apply(t->pointer->swizzle, (uint64_t)at);
    return true;
}

cute_status cute_warp_requests(cute_arena *arena, const cute_lane *lanes, uint32_t count, int64_t elements,
                               cute_requests *out, cute_diag *diag)
{
    cute_algebra a = {.arena = arena, .diag = diag};
    lane_view views[CUTE_REQUEST_LANES];
    *out = (cute_requests){0};
    if (!count || count > CUTE_REQUEST_LANES || elements < 1)
        return cute_fail(diag, CUTE_INVALID, NULL, "expected 1 to %d lanes, got %u", CUTE_REQUEST_LANES,
                         count);
    for (uint32_t i = 0; i < count; i++) {
        CUTE_TRY(open_view(&a, &lanes[i], &views[i]));
        if (views[i].size != views[0].size || views[i].size % elements)
            return cute_fail(diag, CUTE_INVALID, NULL,
                             "expected tensors of equal size that %lld divides, got %lld and %lld elements",
                             (long long)elements, (long long)views[0].size, (long long)views[i].size);
    }
    int64_t bits;
    if (!cute_mul64(elements, lanes[0].tensor.pointer->bits, &bits) || bits < 8 || bits % 8 || bits > 8 * 16)
        return cute_fail(diag, CUTE_INVALID, NULL, "unsupported access of %lld bits", (long long)bits);
    out->count = (size_t)(views[0].size / elements);
    out->items = cute_arena_array(arena, out->count, sizeof *out->items);
    if (out->count && !out->items) return cute_fail_memory(diag);
    for (size_t k = 0; k < out->count; k++) {
        cute_request *r = &out->items[k];
        *r = (cute_request){.count = count, .bytes = (uint32_t)(bits / 8)};
        for (uint32_t i = 0; i < count; i++) {
            r->lane[i] = (uint8_t)i;
            if (!address_of(&views[i], (int64_t)k * elements, &r->address[i]))
                return cute_fail(diag, CUTE_INVALID, NULL, "an address has more than 63 bits");
        }
    }
    return CUTE_OK;
}

/* ---- cost ---- */

cute_traffic cute_requests_sectors(const cute_requests *requests)
{
    cute_traffic t = {0};
    for (size_t i = 0; i < requests->count; i++) cute_traffic_add_sectors(&requests->items[i], &t);
    return t;
}

/* Stops when there are `most` wavefronts. */
static cute_traffic wavefronts_below(const cute_requests *requests, cute_swizzle swizzle, uint64_t most)
{
    cute_traffic t = {0};
    for (size_t i = 0; i < requests->count && t.count < most; i++) {
        cute_request moved = requests->items[i];
        for (uint32_t n = 0; n < moved.count; n++)
            moved.address[n] = cute_swizzle_apply(swizzle, moved.address[n]);
        cute_traffic_add_wavefronts(&moved, &t);
    }
    return t;
}

cute_traffic cute_requests_wavefronts(const cute_requests *requests, cute_swizzle swizzle)
{
    return wavefronts_below(requests, swizzle, UINT64_MAX);
}

/* ---- the best swizzle ---- */

/* Banks are selected by the lower 7 bits of an address: a swizzle changes these. */
enum { BANK_BITS = 7, LEAST_BASE = 2, MOST_SHIFT = 16 };

static int log2_of(int64_t power)
{
    return 63 - __builtin_clzll((unsigned long long)power);
}

cute_swizzle cute_requests_swizzle(const cute_requests *requests, int64_t together, int64_t block)
{
    cute_swizzle best = {0};
    uint64_t least = cute_requests_wavefronts(requests, best).count;
    int base = log2_of(together);
    if (base < LEAST_BASE) base = LEAST_BASE;
    /* Coarsest first: among equal swizzles it permutes the longest runs with the fewest bits. */
    for (int b = BANK_BITS - 1; b >= base; b--)
        for (int bits = 1; b + bits <= BANK_BITS && b + bits <= log2_of(block); bits++)
            for (int shift = bits; shift <= MOST_SHIFT && cute_swizzle_valid(bits, b, shift); shift++) {
                cute_swizzle s = {bits, b, shift};
                uint64_t cost = wavefronts_below(requests, s, least).count;
                if (cost >= least) continue;
                least = cost;
                best = s;
            }
    return best;
}
