/* See lanes.h. Each function keeps as much as it can: the form with `mask`, else the one with `free`, else nothing. */
#include "lib/code/lanes.h"

#include <stddef.h>
#include <string.h>

uint64_t lanes_ones(uint32_t bits)
{
    return bits >= 64 ? UINT64_MAX : (UINT64_C(1) << bits) - 1;
}

int64_t lanes_extended(uint64_t value, uint32_t bits)
{
    return bits >= 64 || !bits ? (int64_t)value : (int64_t)(value << (64 - bits)) >> (64 - bits);
}

/* Trailing zero bits, at most `most`. */
static uint32_t count_trailing_zeros(uint64_t value, uint32_t most)
{
    uint32_t n = value ? (uint32_t)__builtin_ctzll(value) : 64;
    return n < most ? n : most;
}

lane_values lanes_constant(uint32_t bits, uint64_t value)
{
    lane_values v;
    v.bits = v.free = (uint8_t)bits;
    v.varies = false;
    v.pointer = 0;
    v.mask = 0;
    v.why = NULL;
    value &= lanes_ones(bits);
    for (int l = 0; l < LANES; l++) v.at[l] = value;
    return v;
}

lane_values lanes_same(uint32_t bits, uint32_t free, const char *why)
{
    lane_values v = lanes_constant(bits, 0);
    v.why = why;
    if (bits == 1)
        v.mask = 1;
    else
        v.free = (uint8_t)(free < bits ? free : bits);
    return v;
}

lane_values lanes_vary(uint32_t bits, const char *why)
{
    lane_values v = lanes_constant(bits, 0);
    v.varies = true;
    v.why = why;
    return v;
}

bool lanes_known(const lane_values *v)
{
    return !v->varies && !v->pointer && !v->mask && v->free == v->bits;
}

bool lanes_uniform(const lane_values *v)
{
    if (v->varies) return false;
    for (int l = 1; l < LANES; l++)
        if (v->at[l] != v->at[0]) return false;
    return true;
}

bool lanes_single(const lane_values *v, uint64_t *out)
{
    *out = v->at[0];
    return lanes_known(v) && lanes_uniform(v);
}

uint32_t lanes_true(const lane_values *predicate)
{
    uint32_t mask = 0;
    for (int l = 0; l < LANES; l++) mask |= (uint32_t)(predicate->at[l] & 1) << l;
    return mask;
}

bool lanes_equal(const lane_values *a, const lane_values *b)
{
    return a->bits == b->bits && a->free == b->free && a->varies == b->varies && a->pointer == b->pointer &&
           a->mask == b->mask && (a->varies || !memcmp(a->at, b->at, sizeof a->at));
}

static void truncate_lanes(lane_values *v)
{
    uint64_t ones = lanes_ones(v->bits);
    if (v->free > v->bits) v->free = v->bits;
    for (int l = 0; l < LANES; l++) v->at[l] &= ones;
    v->mask &= lanes_ones(v->free);
}

lane_values lanes_number(lane_values v)
{
    if (!v.pointer || v.varies) return v;
    lane_values number = v;
    number.pointer = 0;
    /* With free == 0 every bit is unknown, so `mask` must be uniform. */
    number.free = 0;
    if (number.mask) {
        for (int l = 1; l < LANES; l++)
            if ((v.at[l] ^ v.at[0]) & v.mask) return lanes_vary(v.bits, v.why);
        number.mask = 0;
    }
    return number;
}

/* Turns x (`mask`) into y (`free`). False: lanes differ in those bits. */
static bool mask_to_free(lane_values *v)
{
    if (!v->mask) return true;
    for (int l = 1; l < LANES; l++)
        if ((v->at[l] ^ v->at[0]) & v->mask) return false;
    uint32_t low = count_trailing_zeros(v->mask, 64);
    for (int l = 0; l < LANES; l++) v->at[l] &= ~v->mask;
    if (low < v->free) v->free = (uint8_t)low;
    v->mask = 0;
    return true;
}

/* Turns y (`free`) into x (`mask`). False: carries differ between the lanes. */
static bool free_to_mask(lane_values *v)
{
    uint64_t high = lanes_ones(v->bits) & ~lanes_ones(v->free);
    if (v->pointer) return false;
    if (v->free == v->bits) return true;
    for (int l = 1; l < LANES; l++)
        if ((v->at[l] ^ v->at[0]) & high) return false;
    for (int l = 0; l < LANES; l++) v->at[l] &= ~high;
    v->mask |= high;
    v->free = v->bits;
    return true;
}

static const char *merge_reasons(const lane_values *a, const lane_values *b)
{
    if (a->varies && a->why) return a->why;
    if (b->varies && b->why) return b->why;
    return a->why ? a->why : b->why;
}

/* ---- arithmetic ---- */

/* No carries enter or leave unknown bits, so the sum keeps the form with `mask`. */
static bool has_no_unknown_carries(const lane_values *a, const lane_values *b)
{
    uint64_t mask = a->mask | b->mask;
    for (int l = 0; l < LANES; l++) {
        uint64_t x = a->at[l] | a->mask, y = b->at[l] | b->mask, carries = (x + y) ^ x ^ y;
        if ((x & y & mask) || (carries & mask)) return false;
    }
    return true;
}

lane_values lanes_add(lane_values a, lane_values b)
{
    const char *why = merge_reasons(&a, &b);
    if (a.varies || b.varies) return lanes_vary(a.bits, why);
    if (a.pointer && b.pointer) {
        a = lanes_number(a);
        b = lanes_number(b);
        if (a.varies || b.varies) return lanes_vary(a.bits, why);
    }
    if ((a.mask || b.mask) && !has_no_unknown_carries(&a, &b) && (!mask_to_free(&a) || !mask_to_free(&b)))
        return lanes_vary(a.bits, why);
    lane_values sum = a;
    sum.free = a.free < b.free ? a.free : b.free;
    sum.mask = a.mask | b.mask;
    sum.pointer = a.pointer ? a.pointer : b.pointer;
    sum.why = why;
    if (sum.mask & ~lanes_ones(sum.free)) {
        if (!mask_to_free(&a) || !mask_to_free(&b)) return lanes_vary(sum.bits, why);
        sum.free = a.free < b.free ? a.free : b.free;
        sum.mask = 0;
    }
    for (int l = 0; l < LANES; l++) sum.at[l] = a.at[l] + b.at[l];
    truncate_lanes(&sum);
    return sum;
}

lane_values lanes_sub(lane_values a, lane_values b)
{
    const char *why = merge_reasons(&a, &b);
    bool same = a.pointer && a.pointer == b.pointer;
    if (a.varies || b.varies) return lanes_vary(a.bits, why);
    if (same)
        a.pointer = b.pointer = 0;
    else
        b = lanes_number(b);
    if (b.varies || !mask_to_free(&a) || !mask_to_free(&b)) return lanes_vary(a.bits, why);
    lane_values out = a;
    out.free = a.free < b.free ? a.free : b.free;
    out.why = why;
    for (int l = 0; l < LANES; l++) out.at[l] = a.at[l] - b.at[l];
    truncate_lanes(&out);
    return out;
}

lane_values lanes_shl(lane_values v, uint32_t by)
{
    v = lanes_number(v);
    if (v.varies) return v;
    if (by >= v.bits) return lanes_constant(v.bits, 0);
    for (int l = 0; l < LANES; l++) v.at[l] <<= by;
    v.mask <<= by;
    v.free = (uint8_t)(v.free + by < v.bits ? v.free + by : v.bits);
    truncate_lanes(&v);
    return v;
}

lane_values lanes_shr(lane_values v, uint32_t by, bool arithmetic)
{
    v = lanes_number(v);
    if (v.varies) return v;
    if (by >= v.bits && !arithmetic) return lanes_constant(v.bits, 0);
    if (by >= v.bits) by = v.bits - 1u;
    if (v.free < v.bits && v.free < by && !free_to_mask(&v)) return lanes_vary(v.bits, v.why);
    bool added = v.free < v.bits; /* the sum does not wrap, although its parts may */
    for (int l = 0; l < LANES; l++)
        v.at[l] = arithmetic || added ? (uint64_t)(lanes_extended(v.at[l], v.bits) >> by) : v.at[l] >> by;
    v.mask = arithmetic && !added ? (uint64_t)(lanes_extended(v.mask, v.bits) >> by) : v.mask >> by;
    if (added) v.free = (uint8_t)(v.free - by);
    truncate_lanes(&v);
    return v;
}

static uint64_t reverse_bits(uint64_t value, uint32_t bits)
{
    uint64_t reversed = 0;
    for (uint32_t n = 0; n < bits; n++) reversed |= (value >> n & 1) << (bits - 1 - n);
    return reversed;
}

lane_values lanes_reverse(lane_values v)
{
    v = lanes_number(v);
    if (v.varies) return v;
    if (!free_to_mask(&v)) return lanes_vary(v.bits, v.why);
    for (int l = 0; l < LANES; l++) v.at[l] = reverse_bits(v.at[l], v.bits);
    v.mask = reverse_bits(v.mask, v.bits);
    return v;
}

lane_values lanes_mul(lane_values a, lane_values b)
{
    const char *why = merge_reasons(&a, &b);
    a = lanes_number(a);
    b = lanes_number(b);
    if (a.varies || b.varies) return lanes_vary(a.bits, why);
    if (lanes_known(&a) && lanes_uniform(&a)) {
        lane_values swap = a;
        a = b;
        b = swap;
    }
    bool factor = lanes_known(&b) && lanes_uniform(&b);
    if (factor && b.at[0] && !(b.at[0] & (b.at[0] - 1)))
        return lanes_shl(a, count_trailing_zeros(b.at[0], 64));
    lane_values out = lanes_constant(a.bits, 0);
    out.why = why;
    if (factor && !b.at[0]) return out;
    if (!mask_to_free(&a) || !mask_to_free(&b)) return lanes_vary(a.bits, why);
    if (!factor && !(lanes_known(&a) && lanes_known(&b)) && !(lanes_uniform(&a) && lanes_uniform(&b)))
        return lanes_vary(a.bits, why);
    for (int l = 0; l < LANES; l++) out.at[l] = a.at[l] * b.at[l];
    truncate_lanes(&out);
    if (lanes_known(&a) && lanes_known(&b)) return out;
    /* (x + 2^m y) (u + 2^n v) = xu + 2^m yu + 2^n vx + ... */
    uint32_t m = a.free < a.bits ? a.free + count_trailing_zeros(b.at[0], 64) : 64,
             n = b.free < b.bits ? b.free + count_trailing_zeros(a.at[0], 64) : 64,
             both = a.free < a.bits && b.free < b.bits ? (uint32_t)a.free + b.free : 64;
    uint32_t least = m < n ? m : n;
    if (both < least) least = both;
    out.free = (uint8_t)(least < out.bits ? least : out.bits);
    truncate_lanes(&out);
    return out;
}

lane_values lanes_resize(lane_values v, uint32_t bits, bool is_signed)
{
    uint32_t had = v.bits;
    if (bits == had) return v;
    if (v.pointer) v = lanes_number(v);
    v.bits = (uint8_t)bits;
    if (v.varies) return v;
    bool added = v.free < had;
    if (!added) v.free = (uint8_t)bits;
    if (bits > had && (is_signed || added)) {
        for (int l = 0; l < LANES; l++) v.at[l] = (uint64_t)lanes_extended(v.at[l], had);
        if (!added) v.mask = (uint64_t)lanes_extended(v.mask, had);
    }
    truncate_lanes(&v);
    return v;
}

/* ---- bits ---- */

lane_values lanes_bitwise(lanes_bits_function *f, void *context, const lane_values *operands, int count,
                          uint32_t bits)
{
    lane_values v[3], out = lanes_constant(bits, 0);
    int added = -1;
    const uint64_t *given[3] = {0};
    for (int n = 0; n < count; n++) {
        v[n] = lanes_number(operands[n]);
        if (v[n].why && !out.why) out.why = v[n].why;
        if (v[n].varies) return lanes_vary(bits, v[n].why);
        if (free_to_mask(&v[n])) continue;
        if (added >= 0) return lanes_vary(bits, out.why);
        added = n;
    }
    /* Evaluate with the unknown bits of each operand both clear and flipped. */
    uint64_t first[LANES], inverted[3][LANES], result[LANES], differ = 0;
    uint64_t pass = 0, keep = 0; /* bits that equal the operand's; that do not depend on it */
    for (unsigned set = 0; set < 1u << count; set++) {
        for (int n = 0; n < count; n++) {
            for (int l = 0; l < LANES; l++) inverted[n][l] = v[n].at[l] ^ (set >> n & 1 ? v[n].mask : 0);
            given[n] = inverted[n];
        }
        f(context, given, set ? result : first);
        if (!set) continue;
        uint64_t change = result[0] ^ first[0];
        for (int l = 0; l < LANES; l++) differ |= (result[l] ^ first[l]) ^ change;
        out.mask |= change;
    }
    if (differ & lanes_ones(bits)) return lanes_vary(bits, out.why);
    memcpy(out.at, first, sizeof first);
    truncate_lanes(&out);
    if (added < 0) return out;
    /* Above `free` the result must equal the operand or not depend on it. */
    uint64_t high = lanes_ones(bits) & ~lanes_ones(v[added].free);
    for (int n = 0; n < count; n++) given[n] = v[n].at;
    for (int n = 0; n < count; n++)
        if (n != added && (v[n].mask & high)) return lanes_vary(bits, out.why);
    uint64_t zero[LANES] = {0}, one[LANES], with_zero[LANES], with_one[LANES];
    for (int l = 0; l < LANES; l++) one[l] = lanes_ones(bits);
    given[added] = zero;
    f(context, given, with_zero);
    given[added] = one;
    f(context, given, with_one);
    pass = keep = high;
    for (int l = 0; l < LANES; l++) {
        pass &= ~with_zero[l] & with_one[l];
        keep &= ~(with_zero[l] ^ with_one[l]);
    }
    if (pass == high)
        out.free = v[added].free;
    else if (keep != high)
        return lanes_vary(bits, out.why);
    truncate_lanes(&out);
    return out;
}

/* ---- comparisons ---- */

/* *same: the lanes in which the known bits are equal; false: all lanes. */
static bool find_equal_lanes(const lane_values *a, const lane_values *b, uint32_t *same)
{
    uint32_t low = a->free < b->free ? a->free : b->free;
    uint64_t sure = lanes_ones(low) & ~a->mask & ~b->mask;
    if (a->pointer || b->pointer) sure = 0;
    *same = 0;
    for (int l = 0; l < LANES; l++)
        if (!((a->at[l] ^ b->at[l]) & sure)) *same |= 1u << l;
    return *same != UINT32_MAX;
}

/* All lanes are in one aligned range of 2^free values and the bound is a multiple of 2^free: the result is uniform. */
static bool is_uniform_bound_check(const lane_values *a, const lane_values *bound)
{
    uint64_t low = lanes_ones(a->free);
    if (a->pointer || bound->pointer || a->mask || bound->mask || bound->free < a->free ||
        !lanes_uniform(bound) || (bound->at[0] & low))
        return false;
    for (int l = 1; l < LANES; l++)
        if ((a->at[l] ^ a->at[0]) & ~low) return false;
    return true;
}

int lanes_compare(lane_values a, lane_values b, lanes_order order, uint32_t *out)
{
    uint32_t same;
    if (a.varies || b.varies) return -1;
    if (order == LANES_EQUAL && find_equal_lanes(&a, &b, &same) && !same) {
        *out = 0;
        return 0;
    }
    if (order == LANES_LESS && is_uniform_bound_check(&a, &b)) return 1;
    if (!mask_to_free(&a) || !mask_to_free(&b)) return -1;
    for (int l = 1; l < LANES; l++)
        if (((a.at[l] - b.at[l]) ^ (a.at[0] - b.at[0])) & lanes_ones(a.bits)) return -1;
    return 1;
}

/* ---- selection ---- */

lane_values lanes_either(lane_values a, lane_values b)
{
    const char *why = merge_reasons(&a, &b);
    if (a.varies || b.varies) return lanes_vary(a.bits, why);
    if (lanes_equal(&a, &b)) return a;
    if (a.pointer != b.pointer) {
        a = lanes_number(a);
        b = lanes_number(b);
        if (a.varies || b.varies) return lanes_vary(a.bits, why);
    }
    uint64_t differ = a.at[0] ^ b.at[0];
    bool bits = a.bits == 1 || ((a.mask || b.mask) && a.free == b.free);
    for (int l = 1; bits && l < LANES; l++) bits = (a.at[l] ^ b.at[l]) == differ;
    if (bits && !(differ & ~lanes_ones(a.free))) {
        a.mask |= b.mask | differ;
        a.why = why;
        return a;
    }
    if (a.bits == 1 || !mask_to_free(&a) || !mask_to_free(&b)) return lanes_vary(a.bits, why);
    differ = (a.at[0] - b.at[0]) & lanes_ones(a.bits);
    for (int l = 1; l < LANES; l++)
        if (((a.at[l] - b.at[l]) & lanes_ones(a.bits)) != differ) return lanes_vary(a.bits, why);
    uint32_t free = count_trailing_zeros(differ, a.bits);
    if (b.free < free) free = b.free;
    if (free < a.free) a.free = (uint8_t)free;
    a.why = why;
    truncate_lanes(&a);
    return a;
}

lane_values lanes_select(uint32_t which, const lane_values *a, const lane_values *b)
{
    if (which == UINT32_MAX) return *a;
    if (!which) return *b;
    if (lanes_equal(a, b) && lanes_known(a)) return *a;
    if (!lanes_known(a) || !lanes_known(b)) return lanes_vary(a->bits, merge_reasons(a, b));
    lane_values out = *b;
    for (int l = 0; l < LANES; l++)
        if (which >> l & 1) out.at[l] = a->at[l];
    return out;
}
