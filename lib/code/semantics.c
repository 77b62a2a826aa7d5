/* Integer operations: evaluated per lane if all operands are known, else on the abstract values of lanes.h. */
#include <string.h>

#include "lib/code/function.h"

/* ---- one lane ---- */

static uint64_t truncate_bits(uint64_t v, unsigned bits)
{
    return bits ? v & lanes_ones(bits) : v;
}

static uint64_t shift_left(uint64_t a, uint64_t n, unsigned bits)
{
    return n < bits ? a << n : 0;
}

static uint64_t compare_lane(const ssa_inst *i, uint64_t a, uint64_t b)
{
    int64_t x = lanes_extended(a, i->bits), y = lanes_extended(b, i->bits);
    uint64_t u = truncate_bits(a, i->bits), w = truncate_bits(b, i->bits);
    bool less = i->is_signed ? x < y : u < w, same = u == w;
    switch (i->compare) {
    case SSA_EQ: return same;
    case SSA_NE: return !same;
    case SSA_LT: return less;
    case SSA_LE: return less || same;
    case SSA_GT: return !less && !same;
    default: return !less;
    }
}

static uint64_t apply_lut(uint64_t a, uint64_t b, uint64_t c, unsigned table)
{
    uint64_t r = 0;
    for (int k = 0; k < 8; k++)
        if (table >> k & 1) r |= (k & 4 ? a : ~a) & (k & 2 ? b : ~b) & (k & 1 ? c : ~c);
    return r;
}

static uint64_t multiply_lane(const ssa_inst *i, uint64_t a, uint64_t b, bool example)
{
    int64_t x = lanes_extended(a, i->bits), y = lanes_extended(b, i->bits);
    bool sizes = x > 0 && y > 0 && x % CODE_ASSUMED_ARGUMENT == 0 && y % CODE_ASSUMED_ARGUMENT == 0;
    return example && i->bits == 32 && sizes && x > INT32_MAX / y ? UINT64_C(1) << 30 : a * b;
}

static uint64_t shift_right(const ssa_inst *i, uint64_t a, uint64_t by, unsigned bits)
{
    if (!i->is_signed) return by < bits ? truncate_bits(a, bits) >> by : 0;
    return (uint64_t)(lanes_extended(a, bits) >> (by < bits - 1 ? by : bits - 1));
}

static uint64_t extract_bits(const ssa_inst *i, uint64_t a, uint64_t from, uint64_t length, unsigned bits)
{
    uint64_t r = from < 64 ? truncate_bits(a, bits) >> from : 0;
    r = length ? truncate_bits(r, (unsigned)(length < 64 ? length : 64)) : 0;
    return i->is_signed && length && length < 64 ? (uint64_t)lanes_extended(r, (unsigned)length) : r;
}

static bool divide_lane(const ssa_inst *i, uint64_t a, uint64_t b, unsigned bits, uint64_t *out)
{
    int64_t x = lanes_extended(a, bits), y = lanes_extended(b, bits);
    uint64_t u = truncate_bits(a, bits), w = truncate_bits(b, bits);
    if (!w || (i->is_signed && y == -1)) return false;
    if (i->is_signed)
        *out = (uint64_t)(i->op == SSA_DIV ? x / y : x % y);
    else
        *out = i->op == SSA_DIV ? u / w : u % w;
    return true;
}

static uint64_t reverse_bits(uint64_t a, unsigned bits)
{
    uint64_t r = 0;
    for (unsigned n = 0; n < bits; n++) r |= (a >> n & 1) << (bits - 1 - n);
    return r;
}

/* PRMT: bit 3 of a selector nibble replicates the sign of the byte. */
static uint64_t permute_bytes(uint64_t a, uint64_t b, uint64_t selector)
{
    uint64_t bytes = truncate_bits(a, 32) | b << 32, r = 0;
    for (int n = 0; n < 4; n++) {
        uint64_t digit = selector >> (4 * n) & 15, byte = bytes >> (8 * (digit & 7)) & 0xff;
        r |= (digit & 8 ? (byte & 0x80 ? 0xff : 0) : byte) << (8 * n);
    }
    return r;
}

static uint64_t high_product(const ssa_inst *i, uint64_t a, uint64_t b, unsigned bits)
{
    if (i->is_signed) {
        __int128 p = (__int128)lanes_extended(a, bits) * lanes_extended(b, bits);
        return (uint64_t)(p >> bits);
    }
    return (uint64_t)((unsigned __int128)truncate_bits(a, bits) * truncate_bits(b, bits) >> bits);
}

static uint64_t apply_bitwise(const ssa_inst *i, uint64_t a, uint64_t b, uint64_t c)
{
    switch (i->op) {
    case SSA_AND: return a & b;
    case SSA_OR: return a | b;
    case SSA_XOR: return a ^ b;
    case SSA_NOT: return ~a;
    default: return apply_lut(a, b, c, i->table);
    }
}

static bool evaluate_lane(const ssa_inst *i, const uint64_t *v, unsigned count, bool example, uint64_t *out)
{
    uint64_t a = v[0], b = count > 1 ? v[1] : 0, c = count > 2 ? v[2] : 0, r = 0;
    unsigned bits = i->bits ? i->bits : 64;
    bool less = i->is_signed ? lanes_extended(a, bits) < lanes_extended(b, bits)
                             : truncate_bits(a, bits) < truncate_bits(b, bits);
    switch (i->op) {
    case SSA_MOV: r = a; break;
    case SSA_ADD:
        for (unsigned k = 0; k < count; k++) r += v[k];
        break;
    case SSA_SUB: r = a - b; break;
    case SSA_NEG: r = 0 - a; break;
    case SSA_MUL: r = multiply_lane(i, a, b, example); break;
    case SSA_MAD: r = multiply_lane(i, a, b, example) + c; break;
    case SSA_SHL: r = shift_left(a, truncate_bits(b, 32), bits); break;
    case SSA_SHR: r = shift_right(i, a, truncate_bits(b, 32), bits); break;
    case SSA_AND:
    case SSA_OR:
    case SSA_XOR:
    case SSA_NOT:
    case SSA_LOP3:
        r = apply_bitwise(i, a, b, c);
        if (i->compare == SSA_NONZERO && i->def_count < 2) return *out = truncate_bits(r, bits) != 0, true;
        break;
    case SSA_MIN: r = less ? a : b; break;
    case SSA_MAX: r = less ? b : a; break;
    case SSA_SELECT: r = c & 1 ? a : b; break;
    case SSA_SETP: *out = compare_lane(i, a, b); return true;
    case SSA_SETP_COMBINED:
        r = compare_lane(i, a, b);
        *out = i->table == SSA_COMBINE_AND  ? r & c & 1
               : i->table == SSA_COMBINE_OR ? (r | c) & 1
                                            : (r ^ c) & 1;
        return true;
    case SSA_BFE: r = extract_bits(i, a, truncate_bits(b, 8), truncate_bits(c, 8), bits); break;
    case SSA_EXTEND:
        r = i->is_signed ? (uint64_t)lanes_extended(a, i->shift) : truncate_bits(a, i->shift);
        break;
    case SSA_DIV:
    case SSA_REM:
        if (!divide_lane(i, a, b, bits, &r)) return false;
        break;
    case SSA_LEA: r = (i->shift < 64 ? a << i->shift : 0) + b; break;
    case SSA_LEA_HIGH: r = (truncate_bits(a, bits) >> i->shift) + b; break;
    case SSA_BREV: r = reverse_bits(truncate_bits(a, bits), bits); break;
    case SSA_POPC: r = (uint64_t)__builtin_popcountll(truncate_bits(a, bits)); break;
    case SSA_PERMUTE: r = permute_bytes(a, b, c); break;
    case SSA_MUL_HIGH: r = high_product(i, a, b, bits); break;
    case SSA_SIGN_EXTEND:
        r = b && b < 64 ? (uint64_t)lanes_extended(truncate_bits(a, (unsigned)b), (uint32_t)b) : a;
        break;
    default: return false;
    }
    *out = truncate_bits(r, bits);
    return true;
}

/* ---- abstract values ---- */

typedef struct operation {
    cute_arena *arena;
    const ssa_inst *i;
    const lane_values *in;
    unsigned count, bits;
} operation;

static lane_values resized_operand(const operation *q, unsigned n)
{
    return lanes_resize(q->in[n], q->bits, q->i->is_signed);
}

static bool abstract_mov(const operation *q, lane_values *out)
{
    *out = resized_operand(q, 0);
    return true;
}

static bool abstract_add(const operation *q, lane_values *out)
{
    *out = resized_operand(q, 0);
    for (unsigned n = 1; n < q->count; n++) *out = lanes_add(*out, resized_operand(q, n));
    return true;
}

static bool abstract_sub(const operation *q, lane_values *out)
{
    *out = lanes_sub(resized_operand(q, 0), resized_operand(q, 1));
    return true;
}

static bool abstract_neg(const operation *q, lane_values *out)
{
    *out = lanes_sub(lanes_constant(q->bits, 0), resized_operand(q, 0));
    return true;
}

static bool abstract_mul(const operation *q, lane_values *out)
{
    lane_values a = resized_operand(q, 0), b = resized_operand(q, 1);
    *out = lanes_mul(a, b);
    if (!out->varies || a.varies || b.varies) return true;
    const char *why = lanes_uniform(&a) ? a.why : lanes_uniform(&b) ? b.why : NULL;
    const char *text =
        why ? cute_arena_printf(q->arena, "the stride between lanes is a multiple of %s", why) : NULL;
    out->why = text ? text : "unknown stride between lanes";
    return true;
}

static bool abstract_mad(const operation *q, lane_values *out)
{
    lane_values product;
    abstract_mul(q, &product);
    *out = lanes_add(product, resized_operand(q, 2));
    return true;
}

static bool abstract_shift(const operation *q, lane_values *out)
{
    uint64_t by;
    if (!lanes_single(&q->in[1], &by)) return false;
    if (by > 64) by = 64;
    *out = q->i->op == SSA_SHL ? lanes_shl(resized_operand(q, 0), (uint32_t)by)
                               : lanes_shr(resized_operand(q, 0), (uint32_t)by, q->i->is_signed);
    return true;
}

static void apply_bitwise_lanes(void *context, const uint64_t *const in[3], uint64_t out[LANES])
{
    const operation *q = context;
    for (int l = 0; l < LANES; l++)
        out[l] = apply_bitwise(q->i, in[0][l], q->count > 1 ? in[1][l] : 0, q->count > 2 ? in[2][l] : 0);
}

static bool abstract_bits(const operation *q, lane_values *out)
{
    operation own = *q;
    lane_values in[3];
    if (q->count > 3 || q->i->compare == SSA_NONZERO) return false;
    for (unsigned n = 0; n < q->count; n++) in[n] = resized_operand(q, n);
    *out = lanes_bitwise(apply_bitwise_lanes, &own, in, (int)q->count, q->bits);
    return true;
}

static void and_bits(void *context, const uint64_t *const operands[3], uint64_t out[LANES])
{
    (void)context;
    for (int l = 0; l < LANES; l++) out[l] = operands[0][l] & operands[1][l];
}

static lane_values mask_bits(lane_values v, uint64_t mask)
{
    lane_values both[2] = {v, lanes_constant(v.bits, mask)};
    return lanes_bitwise(and_bits, NULL, both, 2, v.bits);
}

static bool abstract_bfe(const operation *q, lane_values *out)
{
    uint64_t from, length;
    if (q->i->is_signed || !lanes_single(&q->in[1], &from) || !lanes_single(&q->in[2], &length)) return false;
    from &= 255, length &= 255;
    if (from >= q->bits) return false;
    *out = mask_bits(lanes_shr(resized_operand(q, 0), (uint32_t)from, false), lanes_ones((uint32_t)length));
    return true;
}

/* By a power of two only. */
static bool abstract_div(const operation *q, lane_values *out)
{
    uint64_t by;
    if (q->i->is_signed || !lanes_single(&q->in[1], &by) || !by || (by & (by - 1))) return false;
    *out = q->i->op == SSA_DIV ? lanes_shr(resized_operand(q, 0), (uint32_t)__builtin_ctzll(by), false)
                               : mask_bits(resized_operand(q, 0), by - 1);
    return true;
}

static bool abstract_extend(const operation *q, lane_values *out)
{
    *out = lanes_resize(lanes_resize(q->in[0], q->i->shift, false), q->bits, q->i->is_signed);
    return q->i->shift <= q->in[0].bits;
}

static bool abstract_select(const operation *q, lane_values *out)
{
    const lane_values *p = &q->in[2];
    lane_values a = resized_operand(q, 0), b = resized_operand(q, 1);
    if (lanes_known(p)) {
        *out = lanes_select(lanes_true(p), &a, &b);
    } else if (lanes_uniform(p)) {
        *out = lanes_either(a, b);
    } else if (lanes_equal(&a, &b) && lanes_known(&a)) {
        *out = a;
    } else {
        *out = lanes_vary(q->bits, p->why ? p->why : a.why);
    }
    return true;
}

static bool abstract_setp(const operation *q, lane_values *out)
{
    uint8_t how = q->i->compare;
    bool equal = how == SSA_EQ || how == SSA_NE, swapped = how == SSA_GT || how == SSA_LE;
    bool inverse = how == SSA_NE || how == SSA_GE || how == SSA_LE;
    uint32_t outcome = 0;
    if (q->count != 2) return false;
    int known = lanes_compare(q->in[swapped ? 1 : 0], q->in[swapped ? 0 : 1],
                              equal ? LANES_EQUAL : LANES_LESS, &outcome);
    const char *why = q->in[0].why ? q->in[0].why : q->in[1].why;
    *out = known < 0 ? lanes_vary(1, why) : known ? lanes_same(1, 0, why) : lanes_constant(1, 0);
    for (int l = 0; !known && l < LANES; l++) out->at[l] = (outcome >> l & 1) ^ inverse;
    return true;
}

static bool abstract_lea(const operation *q, lane_values *out)
{
    lane_values a = q->i->op == SSA_LEA ? lanes_shl(resized_operand(q, 0), q->i->shift)
                                        : lanes_shr(resized_operand(q, 0), q->i->shift, false);
    *out = lanes_add(a, resized_operand(q, 1));
    return true;
}

static bool abstract_reverse(const operation *q, lane_values *out)
{
    *out = lanes_reverse(resized_operand(q, 0));
    return true;
}

typedef bool abstract_function(const operation *q, lane_values *out);
static abstract_function *const functions[] = {
    [SSA_MOV] = abstract_mov,      [SSA_ADD] = abstract_add,       [SSA_SUB] = abstract_sub,
    [SSA_NEG] = abstract_neg,      [SSA_MUL] = abstract_mul,       [SSA_MAD] = abstract_mad,
    [SSA_SHL] = abstract_shift,    [SSA_SHR] = abstract_shift,     [SSA_AND] = abstract_bits,
    [SSA_OR] = abstract_bits,      [SSA_XOR] = abstract_bits,      [SSA_NOT] = abstract_bits,
    [SSA_LOP3] = abstract_bits,    [SSA_SELECT] = abstract_select, [SSA_SETP] = abstract_setp,
    [SSA_BFE] = abstract_bfe,      [SSA_EXTEND] = abstract_extend, [SSA_DIV] = abstract_div,
    [SSA_REM] = abstract_div,      [SSA_LEA] = abstract_lea,       [SSA_LEA_HIGH] = abstract_lea,
    [SSA_BREV] = abstract_reverse,
};

bool ssa_compute(cute_arena *arena, const ssa_inst *i, const lane_values *in, unsigned count, bool example,
                 lane_values *out)
{
    operation q = {arena, i, in, count, i->bits ? i->bits : 64};
    bool known = true, tests = i->op == SSA_SETP || i->op == SSA_SETP_COMBINED;
    enum { MOST = 8 };
    if (i->op == SSA_OTHER || !count || count > MOST) return false;
    for (unsigned n = 0; n < count; n++) known &= lanes_known(&in[n]);
    if (!known) {
        abstract_function *f = i->op < sizeof functions / sizeof *functions ? functions[i->op] : NULL;
        return f && f(&q, out);
    }
    lane_values result = lanes_constant(tests ? 1 : q.bits, 0);
    for (int l = 0; l < LANES; l++) {
        uint64_t args[MOST];
        for (unsigned n = 0; n < count; n++) args[n] = in[n].at[l];
        if (!evaluate_lane(i, args, count, example, &result.at[l])) return false;
    }
    *out = result;
    return true;
}
