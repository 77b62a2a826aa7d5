/* Conversion and correctly rounded arithmetic of one value at a time, in integers: every value is a
 * significand times a power of two, and every result is rounded once by number_pack. number_lanes.c has the
 * loops over warps. */
#include <math.h>
#include <string.h>

#include "lib/numeric/number_quick.h"
#include "lib/numeric/number_soft.h"

/* The largest finite encoding, without the sign. A format without infinity has infinity == 0. */
const number_format number_formats[NUM_FORMATS] = {
    /* bits, mantissa, bias, shift, largest, infinity, NaN, signed */
    [NUM_F64] = {64, 52, 1023, 0, 0x7fefffffffffffff, 0x7ff0000000000000, 0xfff8000000000000, true},
    [NUM_F32] = {32, 23, 127, 0, 0x7f7fffff, 0x7f800000, 0x7fffffff, true},
    [NUM_TF32] = {32, 10, 127, 13, 0x3fbff, 0x3fc00, 0x7fffffff, true},
    [NUM_F16] = {16, 10, 15, 0, 0x7bff, 0x7c00, 0x7fff, true},
    [NUM_BF16] = {16, 7, 127, 0, 0x7f7f, 0x7f80, 0x7fff, true},
    [NUM_E5M2] = {8, 2, 15, 0, 0x7b, 0x7c, 0x7f, true},
    [NUM_E4M3] = {8, 3, 7, 0, 0x7e, 0, 0x7f, true},
    [NUM_E2M3] = {6, 3, 1, 0, 0x1f, 0, 0, true},
    [NUM_E3M2] = {6, 2, 3, 0, 0x1f, 0, 0, true},
    [NUM_E2M1] = {4, 1, 1, 0, 0x7, 0, 0, true},
    [NUM_UE8M0] = {8, 0, 127, 0, 0xfe, 0, 0xff, false},
};

static int top_bit(num_u128 x)
{
    uint64_t high = (uint64_t)(x >> 64);
    return high ? 127 - __builtin_clzll(high) : 63 - __builtin_clzll((uint64_t)x);
}

number number_unpack(num_format format, uint64_t bits)
{
    const number_format *f = &number_formats[format];
    number n = {.class = NUM_NORMAL};
    if (format == NUM_UE8M0) {
        bits &= 0xff;
        if (bits == 0xff) return (number){.class = NUM_NOT_A_NUMBER};
        return (number){.class = NUM_NORMAL, .exponent = (int)bits - 127, .significand = 1};
    }
    bits >>= f->shift;
    int sign_bit = f->bits - f->shift - 1;
    n.sign = bits >> sign_bit & 1;
    bits &= (UINT64_C(1) << sign_bit) - 1;
    if (bits > f->largest && (f->infinity || f->nan)) {
        n.class = bits == f->infinity ? NUM_INFINITE : NUM_NOT_A_NUMBER;
        return n;
    }
    uint64_t fraction = bits & ((UINT64_C(1) << f->mantissa) - 1);
    int biased = (int)(bits >> f->mantissa);
    if (biased == 0)
        n.class = fraction ? NUM_SUBNORMAL : NUM_ZERO;
    else
        fraction |= UINT64_C(1) << f->mantissa;
    n.significand = fraction;
    n.exponent = (biased ? biased : 1) - f->bias - f->mantissa;
    return n;
}

/* True if a truncated magnitude must be incremented. `rest`: the truncated part is 0: zero, 1: less than half
 * a unit, 2: half, 3: more. */
static bool round_up(num_round round, bool sign, bool odd, int rest)
{
    switch (round) {
    case NUM_RN: return rest == 3 || (rest == 2 && odd);
    case NUM_RNA: return rest >= 2;
    case NUM_RZ: return false;
    case NUM_RM: return sign && rest;
    case NUM_RP: return !sign && rest;
    }
    return false;
}

/* significand >> shift, rounded; `sticky`: the exact value is slightly larger in magnitude. */
static num_u128 shift_round(num_u128 significand, int shift, bool sticky, num_round round, bool sign)
{
    int rest;
    num_u128 kept;
    if (shift > 127) {
        kept = 0;
        rest = significand || sticky ? 1 : 0;
    } else {
        kept = significand >> shift;
        num_u128 half = (num_u128)1 << (shift - 1), cut = significand & (((num_u128)1 << shift) - 1);
        rest = cut > half ? 3 : cut == half ? (sticky ? 3 : 2) : cut || sticky ? 1 : 0;
    }
    return kept + round_up(round, sign, kept & 1, rest);
}

static uint64_t overflow_result(const number_format *f, bool sign, num_round round, unsigned flags)
{
    bool finite = round == NUM_RZ || (round == NUM_RM && !sign) || (round == NUM_RP && sign);
    if (finite || (flags & NUM_SATFINITE) || (!f->infinity && !f->nan)) return f->largest;
    return f->infinity ? f->infinity : f->nan;
}

static uint64_t with_sign(const number_format *f, uint64_t magnitude, bool sign)
{
    return (magnitude | (uint64_t)sign << (f->bits - f->shift - 1)) << f->shift;
}

/* Powers of two from 2^-127 to 2^127, without zero and sign. */
static uint64_t pack_scale(number n, num_round round, unsigned flags)
{
    if (n.class == NUM_NOT_A_NUMBER || (n.sign && n.class != NUM_ZERO)) return 0xff;
    if (n.class == NUM_INFINITE) return flags & NUM_SATFINITE ? 0xfe : 0xff;
    if (!n.significand) return 0;
    int top = top_bit(n.significand), exponent = top + n.exponent;
    if (exponent < -127) return 0;
    if (top > 0 && shift_round(n.significand, top, n.sticky, round, false) > 1) exponent++;
    if (exponent > 127) return flags & NUM_SATFINITE || round == NUM_RZ ? 0xfe : 0xff;
    return (uint64_t)(exponent + 127);
}

uint64_t number_pack(num_format format, number n, num_round round, unsigned flags)
{
    const number_format *f = &number_formats[format];
    if (format == NUM_UE8M0) return pack_scale(n, round, flags);
    if (n.class == NUM_NOT_A_NUMBER) return f->nan ? f->nan : f->largest;
    if (n.class == NUM_INFINITE) {
        uint64_t bits =
            f->infinity && !(flags & NUM_SATFINITE) ? f->infinity : overflow_result(f, n.sign, NUM_RN, flags);
        return bits == f->nan ? bits : with_sign(f, bits, n.sign);
    }
    if (!n.significand) return with_sign(f, 0, n.sign);
    int exponent = top_bit(n.significand) + n.exponent, least = 1 - f->bias;
    int unit = (exponent > least ? exponent : least) - f->mantissa; /* exponent of the last place */
    num_u128 kept = unit > n.exponent ? shift_round(n.significand, unit - n.exponent, n.sticky, round, n.sign)
                                      : n.significand << (n.exponent - unit);
    /* The hidden bit increments the exponent field, and so does a carry out of the fraction. */
    int64_t field = exponent > least ? exponent - least : 0;
    num_u128 magnitude = ((num_u128)(uint64_t)field << f->mantissa) + kept;
    uint64_t bits = magnitude > f->largest ? overflow_result(f, n.sign, round, flags) : (uint64_t)magnitude;
    if (bits == f->nan && f->nan) return bits;
    if ((flags & NUM_FTZ) && format == NUM_F32 && bits < 0x800000) bits = 0;
    return with_sign(f, bits, n.sign);
}

static number flush_subnormal(number n, num_format format, unsigned flags)
{
    if ((flags & NUM_FTZ) && format == NUM_F32 && n.class == NUM_SUBNORMAL) {
        n.class = NUM_ZERO;
        n.significand = 0;
    }
    return n;
}

/* .sat and .relu of a result. */
static uint64_t clamp_result(num_format format, uint64_t bits, unsigned flags)
{
    if (!(flags & (NUM_SAT | NUM_RELU))) return bits;
    number n = number_unpack(format, bits);
    if (n.class == NUM_NOT_A_NUMBER) return flags & NUM_SAT ? 0 : bits;
    if (n.sign) return 0;
    const number_format *f = &number_formats[format];
    uint64_t one = ((uint64_t)f->bias << f->mantissa) << f->shift;
    return (flags & NUM_SAT) && bits > one ? one : bits;
}

/* Conversions that the host performs, rounding to nearest; false: use the slow path. */
static bool convert_quickly(num_format to, num_format from, uint64_t bits, uint64_t *out)
{
    uint32_t low = (uint32_t)bits;
    if (from == NUM_F32) {
        if (to == NUM_F16)
            *out = num_narrow_half(low);
        else if (to == NUM_BF16)
            *out = num_narrow_bfloat(low);
        else if (to == NUM_F64 && (low & 0x7f800000) != 0x7f800000) {
            double wide = num_as_float(low);
            memcpy(out, &wide, sizeof wide);
        } else
            return false;
        return true;
    }
    if (to != NUM_F32) return false;
    if (from == NUM_F16)
        *out = num_widen_half(low & 0xffff);
    else if (from == NUM_BF16)
        *out = num_widen_bfloat(low & 0xffff);
    else if (from == NUM_F64 && (bits & 0x7ff0000000000000) != 0x7ff0000000000000) {
        double wide;
        memcpy(&wide, &bits, sizeof wide);
        *out = num_as_bits((float)wide);
    } else
        return false;
    return true;
}

/* Conversions in which an H200 preserves part of a NaN's payload; false: `to` has a single NaN. */
static bool convert_nan(num_format to, num_format from, uint64_t bits, num_round round, unsigned flags,
                        uint64_t *out)
{
    const number_format *t = &number_formats[to], *f = &number_formats[from];
    if (to == NUM_TF32 && from == NUM_F32) {
        *out = round == NUM_RNA ? bits & ~UINT64_C(0x1fff) : 0x7fffe000;
    } else if (to == NUM_F32 && from == NUM_BF16) {
        *out = bits << 16;
    } else if (to == NUM_F64 && from == NUM_F32 && (flags & NUM_FTZ)) {
        *out = 0x7fffffffe0000000;
    } else if (to == NUM_F64) {
        uint64_t fraction = bits >> f->shift & ((UINT64_C(1) << f->mantissa) - 1);
        *out = bits >> (f->bits - 1) << 63 | 0x7ff8000000000000 | fraction << (52 - f->mantissa);
    } else if (from == NUM_F64 && (to == NUM_F32 || to == NUM_F16)) {
        uint64_t fraction = (bits & ((UINT64_C(1) << 52) - 1)) >> (52 - t->mantissa);
        *out = bits >> 63 << (t->bits - 1) | t->infinity | UINT64_C(1) << (t->mantissa - 1) | fraction;
    } else {
        return false;
    }
    return true;
}

uint64_t num_convert(num_format to, num_format from, uint64_t bits, num_round round, unsigned flags)
{
    uint64_t quick;
    if (!(flags & NUM_SAT) && num_classify(from, bits) == NUM_NOT_A_NUMBER &&
        convert_nan(to, from, bits, round, flags, &quick))
        return quick;
    if (round == NUM_RN && flags == 0 && convert_quickly(to, from, bits, &quick)) return quick;
    /* .ftz has no effect on f16 results. */
    number n = number_unpack(from, bits);
    if (to != NUM_F16) n = flush_subnormal(n, from, flags);
    return clamp_result(to, number_pack(to, n, round, flags), flags);
}

/* Rounds to an integral value. */
static number to_integral(number n, num_round round)
{
    if (n.exponent >= 0 || !n.significand) return n;
    n.significand = shift_round(n.significand, -n.exponent, false, round, n.sign);
    n.exponent = 0;
    return n;
}

uint64_t num_to_integral(num_format to, num_format from, uint64_t bits, num_round round, unsigned flags)
{
    number n = flush_subnormal(number_unpack(from, bits), from, flags);
    if (n.class == NUM_NOT_A_NUMBER) return num_convert(to, from, bits, round, flags);
    return clamp_result(to, number_pack(to, to_integral(n, round), NUM_RN, flags), flags);
}

/* Rounds a float or double that is normal and not large to an integer. */
static bool integer_quickly(num_format from, uint64_t bits, num_round round, int64_t *out)
{
    double x;
    if (from == NUM_F32)
        x = num_as_float((uint32_t)bits);
    else if (from == NUM_F64)
        memcpy(&x, &bits, sizeof x);
    else
        return false;
    double magnitude = fabs(x);
    if (!(magnitude < 0x1p62) || (magnitude < 0x1p-126 && magnitude > 0)) return false;
    switch (round) {
    case NUM_RN: x = rint(x); break;
    case NUM_RM: x = floor(x); break;
    case NUM_RP: x = ceil(x); break;
    case NUM_RZ: break;
    default: return false;
    }
    *out = (int64_t)x;
    return true;
}

uint64_t num_to_integer(num_format from, uint64_t bits, int width, bool is_signed, num_round round,
                        unsigned flags)
{
    int64_t value;
    if (integer_quickly(from, bits, round, &value))
        return num_integer_convert(width, is_signed, (uint64_t)value, 64, true, true);
    number n = flush_subnormal(number_unpack(from, bits), from, flags);
    uint64_t most = is_signed ? (UINT64_C(1) << (width - 1)) - 1 : UINT64_MAX >> (64 - width);
    if (n.class == NUM_NOT_A_NUMBER) {
        if (from != NUM_F64 && width != 64) return 0;
        uint64_t top = UINT64_C(1) << (width - 1);
        return is_signed ? 0 - top : top;
    }
    uint64_t limit = n.sign ? (is_signed ? most + 1 : 0) : most, magnitude = limit;
    if (n.class != NUM_INFINITE) {
        n = to_integral(n, round);
        if (!n.significand)
            magnitude = 0;
        else if (top_bit(n.significand) + n.exponent < 64)
            magnitude = (uint64_t)(n.significand << n.exponent);
        if (magnitude > limit) magnitude = limit;
    }
    return n.sign ? 0 - magnitude : magnitude;
}

uint64_t num_from_integer(num_format to, uint64_t bits, int width, bool is_signed, num_round round,
                          unsigned flags)
{
    int64_t value = (int64_t)(bits << (64 - width));
    number n = {.class = NUM_NORMAL, .sign = is_signed && value < 0};
    uint64_t extended = is_signed ? (uint64_t)(value >> (64 - width)) : (uint64_t)value >> (64 - width);
    n.significand = n.sign ? 0 - extended : extended;
    if (round == NUM_RN && flags == 0 && (to == NUM_F32 || to == NUM_F64)) {
        double wide = n.sign ? (double)(int64_t)extended : (double)extended;
        float single = n.sign ? (float)(int64_t)extended : (float)extended;
        uint64_t out = num_as_bits(single);
        if (to == NUM_F64) memcpy(&out, &wide, sizeof out);
        return out;
    }
    return clamp_result(to, number_pack(to, n, round, flags), flags);
}

uint64_t num_integer_convert(int to_width, bool to_signed, uint64_t bits, int from_width, bool from_signed,
                             bool saturate)
{
    uint64_t top = bits << (64 - from_width);
    uint64_t value = from_signed ? (uint64_t)((int64_t)top >> (64 - from_width)) : top >> (64 - from_width);
    bool negative = from_signed && (int64_t)value < 0;
    if (saturate) {
        uint64_t most = to_signed ? (UINT64_C(1) << (to_width - 1)) - 1 : UINT64_MAX >> (64 - to_width);
        if (negative) {
            int64_t least = to_signed ? -(int64_t)most - 1 : 0;
            if ((int64_t)value < least) value = (uint64_t)least;
        } else if (value > most) {
            value = most;
        }
    }
    top = value << (64 - to_width);
    return to_signed ? (uint64_t)((int64_t)top >> (64 - to_width)) : top >> (64 - to_width);
}

num_class num_classify(num_format format, uint64_t bits)
{
    return number_unpack(format, bits).class;
}

int num_compare(num_format format, uint64_t a, uint64_t b, unsigned flags)
{
    number x = flush_subnormal(number_unpack(format, a), format, flags),
           y = flush_subnormal(number_unpack(format, b), format, flags);
    if (x.class == NUM_NOT_A_NUMBER || y.class == NUM_NOT_A_NUMBER) return NUM_UNORDERED;
    bool zeros = !x.significand && !y.significand && x.class != NUM_INFINITE && y.class != NUM_INFINITE;
    if (zeros) return NUM_EQUAL;
    /* Encodings without their sign are ordered by magnitude. */
    int width = number_formats[format].bits;
    uint64_t mask = (UINT64_C(1) << (width - 1)) - 1;
    uint64_t p = x.class == NUM_ZERO ? 0 : a & mask, q = y.class == NUM_ZERO ? 0 : b & mask;
    if (x.sign != y.sign) return x.sign ? NUM_LESS : NUM_GREATER;
    if (p == q) return NUM_EQUAL;
    return (p < q) != x.sign ? NUM_LESS : NUM_GREATER;
}

/* ---- arithmetic ---- */

/* The sum of two values, exact except for `sticky`. The larger one is shifted to bit 125, so that
 * cancellation loses nothing: the exponents then differ by at most one. */
static number add_numbers(number x, number y, num_round round)
{
    if (!x.significand || !y.significand) {
        if (!x.significand && !y.significand) {
            if (x.sign != y.sign) x.sign = round == NUM_RM;
            return x;
        }
        return x.significand ? x : y;
    }
    if (top_bit(x.significand) + x.exponent < top_bit(y.significand) + y.exponent) {
        number t = x;
        x = y;
        y = t;
    }
    int up = 125 - top_bit(x.significand);
    x.significand <<= up;
    x.exponent -= up;
    int shift = x.exponent - y.exponent; /* to the right for y */
    bool lost = false;
    if (shift <= 0) {
        y.significand <<= -shift;
    } else if (shift > 127) {
        y.significand = 0;
        lost = true;
    } else {
        lost = (y.significand & (((num_u128)1 << shift) - 1)) != 0;
        y.significand >>= shift;
    }
    if (x.sign == y.sign)
        x.significand += y.significand;
    else if (x.significand >= y.significand + lost)
        x.significand -= y.significand + lost;
    else {
        x.significand = y.significand - x.significand; /* both at bit 125 or below: nothing was lost */
        x.sign = y.sign;
    }
    x.sticky = lost;
    if (!x.significand && !lost) x.sign = round == NUM_RM;
    return x;
}

static number multiply_numbers(number x, number y)
{
    return (number){.class = NUM_NORMAL,
                    .sign = x.sign != y.sign,
                    .exponent = x.exponent + y.exponent,
                    .significand = x.significand * y.significand};
}

static number divide_numbers(number x, number y)
{
    bool sign = x.sign != y.sign;
    if (!x.significand) return (number){.class = NUM_ZERO, .sign = sign};
    int up = 127 - top_bit(x.significand);
    num_u128 a = x.significand << up;
    return (number){.class = NUM_NORMAL,
                    .sign = sign,
                    .exponent = x.exponent - up - y.exponent,
                    .significand = a / y.significand,
                    .sticky = a % y.significand != 0};
}

static number square_root_number(number x)
{
    if (!x.significand) return x;
    int up = 126 - top_bit(x.significand);
    if ((x.exponent - up) & 1) up--;
    num_u128 rest = x.significand << up, root = 0;
    for (num_u128 bit = (num_u128)1 << 126; bit; bit >>= 2) {
        if (rest >= root + bit) {
            rest -= root + bit;
            root = (root >> 1) + bit;
        } else {
            root >>= 1;
        }
    }
    return (number){
        .class = NUM_NORMAL, .exponent = (x.exponent - up) / 2, .significand = root, .sticky = rest != 0};
}

static const number not_a_number = {.class = NUM_NOT_A_NUMBER};
static const number one = {.class = NUM_NORMAL, .significand = 1};

static bool is_infinite(number x)
{
    return x.class == NUM_INFINITE;
}

static bool is_zero(number x)
{
    return x.class == NUM_ZERO;
}

/* x * y + z with possibly infinite operands; a plain sum has y = 1, a plain product `no_addend`. */
static number multiply_add(number x, number y, number z, bool no_addend, num_round round)
{
    if (is_infinite(x) || is_infinite(y)) {
        if (is_zero(x) || is_zero(y)) return not_a_number;
        number product = {.class = NUM_INFINITE, .sign = x.sign != y.sign};
        return !no_addend && is_infinite(z) && z.sign != product.sign ? not_a_number : product;
    }
    if (!no_addend && is_infinite(z)) return z;
    number product = multiply_numbers(x, y);
    return no_addend ? product : add_numbers(product, z, round);
}

static number divide_special(number x, number y)
{
    bool sign = x.sign != y.sign;
    if ((is_infinite(x) && is_infinite(y)) || (is_zero(x) && is_zero(y))) return not_a_number;
    if (is_infinite(x) || is_zero(y)) return (number){.class = NUM_INFINITE, .sign = sign};
    if (is_infinite(y)) return (number){.class = NUM_ZERO, .sign = sign};
    return divide_numbers(x, y);
}

static number flush_operand(number n, num_format format, unsigned flags)
{
    if ((flags & NUM_FTZ) && n.class == NUM_SUBNORMAL && (format == NUM_F32 || format == NUM_F16)) {
        n.class = NUM_ZERO;
        n.significand = 0;
    }
    return n;
}

static uint64_t flush_result(num_format format, uint64_t bits, unsigned flags)
{
    if (!(flags & NUM_FTZ) || (format != NUM_F32 && format != NUM_F16)) return bits;
    return num_classify(format, bits) == NUM_SUBNORMAL
               ? bits & UINT64_C(1) << (number_formats[format].bits - 1)
               : bits;
}

uint64_t number_nan(num_format format, num_op op, const uint64_t *operands)
{
    /* The operand whose payload an H200 propagates, determined by experiment. */
    static const int usual[] = {1, 2, 0}, quotients[] = {0, 1, 2};
    const int *order = op == NUM_DIV ? quotients : usual;
    int count = num_operands(op);
    for (int i = 0; format == NUM_F64 && i < 3; i++)
        if (order[i] < count && num_classify(NUM_F64, operands[order[i]]) == NUM_NOT_A_NUMBER)
            return operands[order[i]] | UINT64_C(1) << 51;
    return number_formats[format].nan;
}

uint64_t number_min_max(num_op op, num_format format, uint64_t a, uint64_t b, unsigned flags)
{
    uint64_t top = UINT64_C(1) << (number_formats[format].bits - 1), sign = (a ^ b) & top;
    a = flush_result(format, a, flags);
    b = flush_result(format, b, flags);
    bool nan_a = num_classify(format, a) == NUM_NOT_A_NUMBER,
         nan_b = num_classify(format, b) == NUM_NOT_A_NUMBER;
    if ((nan_a && nan_b) || ((flags & NUM_NAN) && (nan_a || nan_b)))
        return format == NUM_F64 ? b | UINT64_C(1) << 51 : number_formats[format].nan;
    if (flags & NUM_XORSIGN) {
        a &= ~top;
        b &= ~top;
    }
    int order = num_compare(format, a, b, 0);
    bool first = nan_b || (!nan_a && (order == NUM_LESS || (order == NUM_EQUAL && (a & top))));
    if (op == NUM_MAX)
        first = nan_b || (!nan_a && (order == NUM_GREATER || (order == NUM_EQUAL && !(a & top))));
    uint64_t result = first ? a : b;
    return flags & NUM_XORSIGN ? result | sign : result;
}

int num_operands(num_op op)
{
    switch (op) {
    case NUM_FMA: return 3;
    case NUM_ADD:
    case NUM_SUB:
    case NUM_MUL:
    case NUM_DIV:
    case NUM_MIN:
    case NUM_MAX:
    case NUM_DIV_APPROX:
    case NUM_DIV_FULL: return 2;
    default: return 1;
    }
}

uint64_t number_arithmetic(num_op op, num_format format, uint64_t a, uint64_t b, uint64_t c, num_round round,
                           unsigned flags)
{
    uint64_t operands[3] = {a, b, c};
    int count = num_operands(op);
    number v[3] = {0};
    for (int i = 0; i < count; i++) {
        v[i] = flush_operand(number_unpack(format, operands[i]), format, flags);
        if (v[i].class == NUM_NOT_A_NUMBER)
            return clamp_result(format, number_nan(format, op, operands), flags);
    }
    number r;
    switch (op) {
    case NUM_ADD: r = multiply_add(v[0], one, v[1], false, round); break;
    case NUM_SUB:
        v[1].sign = !v[1].sign;
        r = multiply_add(v[0], one, v[1], false, round);
        break;
    case NUM_MUL: r = multiply_add(v[0], v[1], v[2], true, round); break;
    case NUM_FMA: r = multiply_add(v[0], v[1], v[2], false, round); break;
    case NUM_DIV: r = divide_special(v[0], v[1]); break;
    case NUM_RCP: r = divide_special(one, v[0]); break;
    case NUM_SQRT:
        r = is_zero(v[0])       ? v[0]
            : v[0].sign         ? not_a_number
            : is_infinite(v[0]) ? v[0]
                                : square_root_number(v[0]);
        break;
    default: r = not_a_number; break;
    }
    if (r.class == NUM_NOT_A_NUMBER) return clamp_result(format, number_formats[format].nan, flags);
    uint64_t bits = number_pack(format, r, round, flags & ~(unsigned)NUM_SATFINITE);
    return clamp_result(format, flush_result(format, bits, flags), flags);
}
