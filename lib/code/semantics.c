/* What operations on integers compute: of known lanes one by one, of others in the form that lanes.h keeps. */
#include <string.h>

#include "lib/code/function.h"

/* ---- one lane ---- */

static uint64_t cut(uint64_t v, unsigned bits)
{
    return bits ? v & lanes_ones(bits) : v;
}

static uint64_t shift_left(uint64_t a, uint64_t n, unsigned bits)
{
    return n < bits ? a << n : 0;
}

static uint64_t compare(const x_inst *i, uint64_t a, uint64_t b)
{
    int64_t x = lanes_extended(a, i->bits), y = lanes_extended(b, i->bits);
    uint64_t u = cut(a, i->bits), w = cut(b, i->bits);
    bool less = i->is_signed ? x < y : u < w, same = u == w;
    switch (i->compare) {
    case X_EQ: return same;
    case X_NE: return !same;
    case X_LT: return less;
    case X_LE: return less || same;
    case X_GT: return !less && !same;
    default: return !less;
    }
}

static uint64_t lut(uint64_t a, uint64_t b, uint64_t c, unsigned table)
{
    uint64_t r = 0;
    for (int k = 0; k < 8; k++)
        if (table >> k & 1) r |= (k & 4 ? a : ~a) & (k & 2 ? b : ~b) & (k & 1 ? c : ~c);
    return r;
}

static uint64_t product(const x_inst *i, uint64_t a, uint64_t b, bool made_up)
{
    int64_t x = lanes_extended(a, i->bits), y = lanes_extended(b, i->bits);
    bool sizes = x > 0 && y > 0 && x % CODE_MADE_UP == 0 && y % CODE_MADE_UP == 0;
    return made_up && i->bits == 32 && sizes && x > INT32_MAX / y ? UINT64_C(1) << 30 : a * b;
}

static uint64_t shift_right(const x_inst *i, uint64_t a, uint64_t by, unsigned bits)
{
    if (!i->is_signed) return by < bits ? cut(a, bits) >> by : 0;
    return (uint64_t)(lanes_extended(a, bits) >> (by < bits - 1 ? by : bits - 1));
}

static uint64_t extract(const x_inst *i, uint64_t a, uint64_t from, uint64_t length, unsigned bits)
{
    uint64_t r = from < 64 ? cut(a, bits) >> from : 0;
    r = length ? cut(r, (unsigned)(length < 64 ? length : 64)) : 0;
    return i->is_signed && length && length < 64 ? (uint64_t)lanes_extended(r, (unsigned)length) : r;
}

static bool divide(const x_inst *i, uint64_t a, uint64_t b, unsigned bits, uint64_t *out)
{
    int64_t x = lanes_extended(a, bits), y = lanes_extended(b, bits);
    uint64_t u = cut(a, bits), w = cut(b, bits);
    if (!w || (i->is_signed && y == -1)) return false;
    if (i->is_signed)
        *out = (uint64_t)(i->op == X_DIV ? x / y : x % y);
    else
        *out = i->op == X_DIV ? u / w : u % w;
    return true;
}

static uint64_t reverse(uint64_t a, unsigned bits)
{
    uint64_t r = 0;
    for (unsigned n = 0; n < bits; n++) r |= (a >> n & 1) << (bits - 1 - n);
    return r;
}

/* A digit's highest bit asks for the sign of the byte, eight times. */
static uint64_t permute(uint64_t a, uint64_t b, uint64_t selector)
{
    uint64_t bytes = cut(a, 32) | b << 32, r = 0;
    for (int n = 0; n < 4; n++) {
        uint64_t digit = selector >> (4 * n) & 15, byte = bytes >> (8 * (digit & 7)) & 0xff;
        r |= (digit & 8 ? (byte & 0x80 ? 0xff : 0) : byte) << (8 * n);
    }
    return r;
}

static uint64_t high_product(const x_inst *i, uint64_t a, uint64_t b, unsigned bits)
{
    if (i->is_signed) {
        __int128 p = (__int128)lanes_extended(a, bits) * lanes_extended(b, bits);
        return (uint64_t)(p >> bits);
    }
    return (uint64_t)((unsigned __int128)cut(a, bits) * cut(b, bits) >> bits);
}

static uint64_t bitwise(const x_inst *i, uint64_t a, uint64_t b, uint64_t c)
{
    switch (i->op) {
    case X_AND: return a & b;
    case X_OR: return a | b;
    case X_XOR: return a ^ b;
    case X_NOT: return ~a;
    default: return lut(a, b, c, i->table);
    }
}

static bool lane(const x_inst *i, const uint64_t *v, unsigned count, bool made_up, uint64_t *out)
{
    uint64_t a = v[0], b = count > 1 ? v[1] : 0, c = count > 2 ? v[2] : 0, r = 0;
    unsigned bits = i->bits ? i->bits : 64;
    bool less =
        i->is_signed ? lanes_extended(a, bits) < lanes_extended(b, bits) : cut(a, bits) < cut(b, bits);
    switch (i->op) {
    case X_MOV: r = a; break;
    case X_ADD:
        for (unsigned k = 0; k < count; k++) r += v[k];
        break;
    case X_SUB: r = a - b; break;
    case X_NEG: r = 0 - a; break;
    case X_MUL: r = product(i, a, b, made_up); break;
    case X_MAD: r = product(i, a, b, made_up) + c; break;
    case X_SHL: r = shift_left(a, cut(b, 32), bits); break;
    case X_SHR: r = shift_right(i, a, cut(b, 32), bits); break;
    case X_AND:
    case X_OR:
    case X_XOR:
    case X_NOT:
    case X_LOP3:
        r = bitwise(i, a, b, c);
        if (i->compare == X_NONZERO && i->def_count < 2) return *out = cut(r, bits) != 0, true;
        break;
    case X_MIN: r = less ? a : b; break;
    case X_MAX: r = less ? b : a; break;
    case X_SELECT: r = c & 1 ? a : b; break;
    case X_SETP: *out = compare(i, a, b); return true;
    case X_SETP_JOINED:
        r = compare(i, a, b);
        *out = i->table == X_JOIN_AND ? r & c & 1 : i->table == X_JOIN_OR ? (r | c) & 1 : (r ^ c) & 1;
        return true;
    case X_BFE: r = extract(i, a, cut(b, 8), cut(c, 8), bits); break;
    case X_EXTEND: r = i->is_signed ? (uint64_t)lanes_extended(a, i->shift) : cut(a, i->shift); break;
    case X_DIV:
    case X_REM:
        if (!divide(i, a, b, bits, &r)) return false;
        break;
    case X_LEA: r = (i->shift < 64 ? a << i->shift : 0) + b; break;
    case X_LEA_HIGH: r = (cut(a, bits) >> i->shift) + b; break;
    case X_BREV: r = reverse(cut(a, bits), bits); break;
    case X_POPC: r = (uint64_t)__builtin_popcountll(cut(a, bits)); break;
    case X_PERMUTE: r = permute(a, b, c); break;
    case X_MUL_HIGH: r = high_product(i, a, b, bits); break;
    case X_SIGN: r = b && b < 64 ? (uint64_t)lanes_extended(cut(a, (unsigned)b), (uint32_t)b) : a; break;
    default: return false;
    }
    *out = cut(r, bits);
    return true;
}

/* ---- lanes that are not known ---- */

typedef struct question {
    cute_arena *arena;
    const x_inst *i;
    const lane_values *in;
    unsigned count, bits;
} question;

static lane_values sized(const question *q, unsigned n)
{
    return lanes_resize(q->in[n], q->bits, q->i->is_signed);
}

static bool do_mov(const question *q, lane_values *out)
{
    *out = sized(q, 0);
    return true;
}

static bool do_add(const question *q, lane_values *out)
{
    *out = sized(q, 0);
    for (unsigned n = 1; n < q->count; n++) *out = lanes_add(*out, sized(q, n));
    return true;
}

static bool do_sub(const question *q, lane_values *out)
{
    *out = lanes_sub(sized(q, 0), sized(q, 1));
    return true;
}

static bool do_neg(const question *q, lane_values *out)
{
    *out = lanes_sub(lanes_constant(q->bits, 0), sized(q, 0));
    return true;
}

static bool do_mul(const question *q, lane_values *out)
{
    lane_values a = sized(q, 0), b = sized(q, 1);
    *out = lanes_mul(a, b);
    if (!out->varies || a.varies || b.varies) return true;
    const char *why = lanes_uniform(&a) ? a.why : lanes_uniform(&b) ? b.why : NULL;
    const char *text = why ? cute_arena_printf(q->arena, "lanes lie apart by a multiple of %s", why) : NULL;
    out->why = text ? text : "lanes lie apart by what is not known";
    return true;
}

static bool do_mad(const question *q, lane_values *out)
{
    lane_values product;
    do_mul(q, &product);
    *out = lanes_add(product, sized(q, 2));
    return true;
}

static bool do_shift(const question *q, lane_values *out)
{
    uint64_t by;
    if (!lanes_single(&q->in[1], &by)) return false;
    if (by > 64) by = 64;
    *out = q->i->op == X_SHL ? lanes_shl(sized(q, 0), (uint32_t)by)
                             : lanes_shr(sized(q, 0), (uint32_t)by, q->i->is_signed);
    return true;
}

static void every_lane(void *context, const uint64_t *const in[3], uint64_t out[LANES])
{
    const question *q = context;
    for (int l = 0; l < LANES; l++)
        out[l] = bitwise(q->i, in[0][l], q->count > 1 ? in[1][l] : 0, q->count > 2 ? in[2][l] : 0);
}

static bool do_bits(const question *q, lane_values *out)
{
    question own = *q;
    lane_values in[3];
    if (q->count > 3 || q->i->compare == X_NONZERO) return false;
    for (unsigned n = 0; n < q->count; n++) in[n] = sized(q, n);
    *out = lanes_bitwise(every_lane, &own, in, (int)q->count, q->bits);
    return true;
}

static void and_bits(void *context, const uint64_t *const operands[3], uint64_t out[LANES])
{
    (void)context;
    for (int l = 0; l < LANES; l++) out[l] = operands[0][l] & operands[1][l];
}

static lane_values masked(lane_values v, uint64_t mask)
{
    lane_values both[2] = {v, lanes_constant(v.bits, mask)};
    return lanes_bitwise(and_bits, NULL, both, 2, v.bits);
}

/* Bits from one place on. */
static bool do_bfe(const question *q, lane_values *out)
{
    uint64_t from, length;
    if (q->i->is_signed || !lanes_single(&q->in[1], &from) || !lanes_single(&q->in[2], &length)) return false;
    from &= 255, length &= 255;
    if (from >= q->bits) return false;
    *out = masked(lanes_shr(sized(q, 0), (uint32_t)from, false), lanes_ones((uint32_t)length));
    return true;
}

/* By a power of two. */
static bool do_div(const question *q, lane_values *out)
{
    uint64_t by;
    if (q->i->is_signed || !lanes_single(&q->in[1], &by) || !by || (by & (by - 1))) return false;
    *out = q->i->op == X_DIV ? lanes_shr(sized(q, 0), (uint32_t)__builtin_ctzll(by), false)
                             : masked(sized(q, 0), by - 1);
    return true;
}

static bool do_extend(const question *q, lane_values *out)
{
    *out = lanes_resize(lanes_resize(q->in[0], q->i->shift, false), q->bits, q->i->is_signed);
    return q->i->shift <= q->in[0].bits;
}

static bool do_select(const question *q, lane_values *out)
{
    const lane_values *p = &q->in[2];
    lane_values a = sized(q, 0), b = sized(q, 1);
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

static bool do_setp(const question *q, lane_values *out)
{
    uint8_t how = q->i->compare;
    bool equal = how == X_EQ || how == X_NE, swapped = how == X_GT || how == X_LE;
    bool inverse = how == X_NE || how == X_GE || how == X_LE;
    uint32_t outcome = 0;
    if (q->count != 2) return false;
    int known = lanes_compare(q->in[swapped ? 1 : 0], q->in[swapped ? 0 : 1],
                              equal ? LANES_EQUAL : LANES_LESS, &outcome);
    const char *why = q->in[0].why ? q->in[0].why : q->in[1].why;
    *out = known < 0 ? lanes_vary(1, why) : known ? lanes_same(1, 0, why) : lanes_constant(1, 0);
    for (int l = 0; !known && l < LANES; l++) out->at[l] = (outcome >> l & 1) ^ inverse;
    return true;
}

static bool do_lea(const question *q, lane_values *out)
{
    lane_values a =
        q->i->op == X_LEA ? lanes_shl(sized(q, 0), q->i->shift) : lanes_shr(sized(q, 0), q->i->shift, false);
    *out = lanes_add(a, sized(q, 1));
    return true;
}

static bool do_reverse(const question *q, lane_values *out)
{
    *out = lanes_reverse(sized(q, 0));
    return true;
}

typedef bool row(const question *q, lane_values *out);
static row *const rows[] = {
    [X_MOV] = do_mov,       [X_ADD] = do_add,       [X_SUB] = do_sub,   [X_NEG] = do_neg,
    [X_MUL] = do_mul,       [X_MAD] = do_mad,       [X_SHL] = do_shift, [X_SHR] = do_shift,
    [X_AND] = do_bits,      [X_OR] = do_bits,       [X_XOR] = do_bits,  [X_NOT] = do_bits,
    [X_LOP3] = do_bits,     [X_SELECT] = do_select, [X_SETP] = do_setp, [X_BFE] = do_bfe,
    [X_EXTEND] = do_extend, [X_DIV] = do_div,       [X_REM] = do_div,   [X_LEA] = do_lea,
    [X_LEA_HIGH] = do_lea,  [X_BREV] = do_reverse,
};

bool x_compute(cute_arena *arena, const x_inst *i, const lane_values *in, unsigned count, bool made_up,
               lane_values *out)
{
    question q = {arena, i, in, count, i->bits ? i->bits : 64};
    bool known = true, tests = i->op == X_SETP || i->op == X_SETP_JOINED;
    enum { MOST = 8 };
    if (i->op == X_OTHER || !count || count > MOST) return false;
    for (unsigned n = 0; n < count; n++) known &= lanes_known(&in[n]);
    if (!known) {
        row *f = i->op < sizeof rows / sizeof *rows ? rows[i->op] : NULL;
        return f && f(&q, out);
    }
    lane_values result = lanes_constant(tests ? 1 : q.bits, 0);
    for (int l = 0; l < LANES; l++) {
        uint64_t args[MOST];
        for (unsigned n = 0; n < count; n++) args[n] = in[n].at[l];
        if (!lane(i, args, count, made_up, &result.at[l])) return false;
    }
    *out = result;
    return true;
}
