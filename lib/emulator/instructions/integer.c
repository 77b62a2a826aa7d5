/* Integers and bits. Each operation is a function of one lane's values, zero-extended to 64 bits, whose
 * result is truncated to the register (em_run_lanes); frequent ones also have a loop per width. */
#include "lib/emulator/program/decode.h"

#include "lib/emulator/instructions/lanes.h"

void em_run_lanes(em_warp *w, const em_inst *i, uint32_t mask)
{
    const em_operand *a = &i->o[1], *b = i->count > 2 ? &i->o[2] : a, *c = i->count > 3 ? &i->o[3] : a;
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        int l = __builtin_ctz(rest);
        em_set(w, &i->o[0], l, i->lane.function(i, em_get(w, a, l), em_get(w, b, l), em_get(w, c, l)));
    }
}

static int operand_bits(const em_inst *i)
{
    return ptx_types[i->type].bytes * 8;
}

static int64_t sign_extend(uint64_t value, int bits)
{
    return bits >= 64 ? (int64_t)value : (int64_t)(value << (64 - bits)) >> (64 - bits);
}

static bool is_signed(const em_inst *i)
{
    return ptx_types[i->type].kind == PTX_SIGNED;
}

static uint64_t zero_extend(uint64_t value, int bits)
{
    return bits >= 64 ? value : value & ((UINT64_C(1) << bits) - 1);
}

/* ---- vectorised loops ---- */

#define LOOP2(name, type, get, expression)                                                                   \
    static void name(em_warp *w, const em_inst *i, uint32_t mask)                                            \
    {                                                                                                        \
        type *d = (type *)get(w, &i->o[0]);                                                                  \
        const type *x = (const type *)get(w, &i->o[1]), *y = (const type *)get(w, &i->o[2]);                 \
        EM_EACH(mask, d[l] = (type)(expression));                                                            \
    }
#define LOOP3(name, type, get, expression)                                                                   \
    static void name(em_warp *w, const em_inst *i, uint32_t mask)                                            \
    {                                                                                                        \
        type *d = (type *)get(w, &i->o[0]);                                                                  \
        const type *x = (const type *)get(w, &i->o[1]), *y = (const type *)get(w, &i->o[2]),                 \
                   *z = (const type *)get(w, &i->o[3]);                                                      \
        EM_EACH(mask, d[l] = (type)(expression));                                                            \
    }
#define WIDTHS2(name, e)                                                                                     \
    LOOP2(name##_u32, uint32_t, em_r32, e)                                                                   \
    LOOP2(name##_s32, int32_t, em_r32, e)                                                                    \
    LOOP2(name##_u64, uint64_t, em_r64, e)                                                                   \
    LOOP2(name##_s64, int64_t, em_r64, e)
#define UNSIGNED2(name, e)                                                                                   \
    LOOP2(name##_u32, uint32_t, em_r32, e)                                                                   \
    LOOP2(name##_u64, uint64_t, em_r64, e)
UNSIGNED2(add, x[l] + y[l])
UNSIGNED2(sub, x[l] - y[l])
UNSIGNED2(mul, x[l] * y[l])
UNSIGNED2(and, x[l] & y[l])
UNSIGNED2(or, x[l] | y[l])
UNSIGNED2(xor, x[l] ^ y[l])
WIDTHS2(min, x[l] < y[l] ? x[l] : y[l])
WIDTHS2(max, x[l] > y[l] ? x[l] : y[l])
LOOP3(mad_u32, uint32_t, em_r32, x[l] * y[l] + z[l])
LOOP3(mad_u64, uint64_t, em_r64, x[l] * y[l] + z[l])
LOOP2(shl_u32, uint32_t, em_r32, y[l] < 32 ? x[l] << (y[l] & 31) : 0)
LOOP2(shr_u32, uint32_t, em_r32, y[l] < 32 ? x[l] >> (y[l] & 31) : 0)
LOOP2(shr_s32, int32_t, em_r32, x[l] >> ((uint32_t)y[l] < 31 ? y[l] : 31))

#define SHIFT64(name, type, expression)                                                                      \
    static void name(em_warp *w, const em_inst *i, uint32_t mask)                                            \
    {                                                                                                        \
        type *d = (type *)em_r64(w, &i->o[0]);                                                               \
        const type *x = (const type *)em_r64(w, &i->o[1]);                                                   \
        const uint32_t *y = em_r32(w, &i->o[2]);                                                             \
        EM_EACH(mask, d[l] = (type)(expression));                                                            \
    }
SHIFT64(shl_u64, uint64_t, y[l] < 64 ? x[l] << (y[l] & 63) : 0)
SHIFT64(shr_u64, uint64_t, y[l] < 64 ? x[l] >> (y[l] & 63) : 0)
SHIFT64(shr_s64, int64_t, x[l] >> (y[l] < 63 ? y[l] : 63))

#define WIDE(name, wide, narrow)                                                                             \
    static void name(em_warp *w, const em_inst *i, uint32_t mask)                                            \
    {                                                                                                        \
        wide *d = (wide *)em_r64(w, &i->o[0]);                                                               \
        const narrow *x = (const narrow *)em_r32(w, &i->o[1]), *y = (const narrow *)em_r32(w, &i->o[2]);     \
        EM_EACH(mask, d[l] = (wide)x[l] * (wide)y[l]);                                                       \
    }
WIDE(wide_u32, uint64_t, uint32_t)
WIDE(wide_s32, int64_t, int32_t)

/* By signedness and width: u32, s32, u64, s64. */
static const em_run loops[EM_OPCODES][4] = {
    [EM_OP_add] = {add_u32, add_u32, add_u64, add_u64}, [EM_OP_sub] = {sub_u32, sub_u32, sub_u64, sub_u64},
    [EM_OP_mul] = {mul_u32, mul_u32, mul_u64, mul_u64}, [EM_OP_and] = {and_u32, and_u32, and_u64, and_u64},
    [EM_OP_or] = {or_u32, or_u32, or_u64, or_u64},      [EM_OP_xor] = {xor_u32, xor_u32, xor_u64, xor_u64},
    [EM_OP_min] = {min_u32, min_s32, min_u64, min_s64}, [EM_OP_max] = {max_u32, max_s32, max_u64, max_s64},
    [EM_OP_mad] = {mad_u32, mad_u32, mad_u64, mad_u64}, [EM_OP_shl] = {shl_u32, shl_u32, shl_u64, shl_u64},
    [EM_OP_shr] = {shr_u32, shr_s32, shr_u64, shr_s64},
};

/* em_run_lanes if there is no loop. */
static em_run loop_for(const em_inst *i)
{
    int bits = operand_bits(i), at = (bits == 64 ? 2 : 0) + is_signed(i);
    em_run run = bits == 32 || bits == 64 ? loops[i->opcode][at] : NULL;
    return run ? run : em_run_lanes;
}

/* ---- lane functions ---- */

uint64_t em_lane_add(const em_inst *i, uint64_t a, uint64_t b, uint64_t c)
{
    (void)i, (void)c;
    return a + b;
}
uint64_t em_lane_sub(const em_inst *i, uint64_t a, uint64_t b, uint64_t c)
{
    (void)i, (void)c;
    return a - b;
}
static int64_t clamp32(int64_t v)
{
    return v > INT32_MAX ? INT32_MAX : v < INT32_MIN ? INT32_MIN : v;
}
static uint64_t lane_add_sat(const em_inst *i, uint64_t a, uint64_t b, uint64_t c)
{
    (void)i, (void)c;
    return (uint64_t)clamp32((int64_t)(int32_t)a + (int32_t)b);
}
static uint64_t lane_sub_sat(const em_inst *i, uint64_t a, uint64_t b, uint64_t c)
{
    (void)i, (void)c;
    return (uint64_t)clamp32((int64_t)(int32_t)a - (int32_t)b);
}
static uint64_t lane_add_x2(const em_inst *i, uint64_t a, uint64_t b, uint64_t c)
{
    (void)i, (void)c;
    return ((a + b) & 0xffff) | (((a >> 16) + (b >> 16)) & 0xffff) << 16;
}
static __int128 full_product(const em_inst *i, uint64_t a, uint64_t b)
{
    int bits = operand_bits(i);
    if (is_signed(i)) return (__int128)sign_extend(a, bits) * sign_extend(b, bits);
    return (__int128)((unsigned __int128)zero_extend(a, bits) * zero_extend(b, bits));
}
uint64_t em_lane_mul(const em_inst *i, uint64_t a, uint64_t b, uint64_t c)
{
    (void)i, (void)c;
    return a * b;
}
static uint64_t lane_mul_hi(const em_inst *i, uint64_t a, uint64_t b, uint64_t c)
{
    (void)c;
    return (uint64_t)((unsigned __int128)full_product(i, a, b) >> operand_bits(i));
}
static uint64_t lane_mul_wide(const em_inst *i, uint64_t a, uint64_t b, uint64_t c)
{
    (void)c;
    return (uint64_t)full_product(i, a, b);
}
uint64_t em_lane_mad(const em_inst *i, uint64_t a, uint64_t b, uint64_t c)
{
    (void)i;
    return a * b + c;
}
static uint64_t lane_mad_hi(const em_inst *i, uint64_t a, uint64_t b, uint64_t c)
{
    uint64_t high = lane_mul_hi(i, a, b, 0);
    if (!em_has(i, EM_M_sat)) return high + c;
    return (uint64_t)clamp32((int64_t)(int32_t)high + (int32_t)c);
}
static uint64_t lane_mad_wide(const em_inst *i, uint64_t a, uint64_t b, uint64_t c)
{
    return (uint64_t)full_product(i, a, b) + c;
}
static __int128 product24(const em_inst *i, uint64_t a, uint64_t b)
{
    if (is_signed(i)) return (__int128)sign_extend(a, 24) * sign_extend(b, 24);
    return (__int128)(zero_extend(a, 24) * zero_extend(b, 24));
}
uint64_t em_lane_mul24(const em_inst *i, uint64_t a, uint64_t b, uint64_t c)
{
    (void)c;
    return (uint64_t)(em_has(i, EM_M_hi) ? product24(i, a, b) >> 16 : product24(i, a, b));
}
uint64_t em_lane_mad24(const em_inst *i, uint64_t a, uint64_t b, uint64_t c)
{
    uint64_t p = em_lane_mul24(i, a, b, 0);
    return em_has(i, EM_M_sat) ? (uint64_t)clamp32((int64_t)(int32_t)p + (int32_t)c) : p + c;
}
/* Division by zero: quotient and remainder are all ones, as on hardware. */
uint64_t em_lane_div(const em_inst *i, uint64_t a, uint64_t b, uint64_t c)
{
    int bits = operand_bits(i);
    (void)c;
    if (zero_extend(b, bits) == 0) return UINT64_MAX;
    if (!is_signed(i)) return zero_extend(a, bits) / zero_extend(b, bits);
    int64_t x = sign_extend(a, bits), y = sign_extend(b, bits);
    return y == -1 ? 0 - (uint64_t)x : (uint64_t)(x / y);
}
uint64_t em_lane_rem(const em_inst *i, uint64_t a, uint64_t b, uint64_t c)
{
    int bits = operand_bits(i);
    (void)c;
    if (zero_extend(b, bits) == 0) return UINT64_MAX;
    if (!is_signed(i)) return zero_extend(a, bits) % zero_extend(b, bits);
    int64_t x = sign_extend(a, bits), y = sign_extend(b, bits);
    return y == -1 ? 0 : (uint64_t)(x % y);
}
uint64_t em_lane_abs(const em_inst *i, uint64_t a, uint64_t b, uint64_t c)
{
    int64_t x = sign_extend(a, operand_bits(i));
    (void)b, (void)c;
    return x < 0 ? 0 - (uint64_t)x : (uint64_t)x;
}
uint64_t em_lane_neg(const em_inst *i, uint64_t a, uint64_t b, uint64_t c)
{
    (void)i, (void)b, (void)c;
    return 0 - a;
}
static bool is_less(const em_inst *i, uint64_t a, uint64_t b)
{
    int bits = operand_bits(i);
    return is_signed(i) ? sign_extend(a, bits) < sign_extend(b, bits)
                        : zero_extend(a, bits) < zero_extend(b, bits);
}
static uint64_t relu_value(const em_inst *i, uint64_t v)
{
    return em_has(i, EM_M_relu) && sign_extend(v, operand_bits(i)) < 0 ? 0 : v;
}
uint64_t em_lane_min(const em_inst *i, uint64_t a, uint64_t b, uint64_t c)
{
    (void)c;
    return relu_value(i, is_less(i, b, a) ? b : a);
}
uint64_t em_lane_max(const em_inst *i, uint64_t a, uint64_t b, uint64_t c)
{
    (void)c;
    return relu_value(i, is_less(i, a, b) ? b : a);
}
static uint64_t min_max_pair(const em_inst *i, uint64_t a, uint64_t b, bool maximum)
{
    uint64_t d = 0;
    bool sign = i->type == PTX_s16x2;
    for (int h = 0; h < 32; h += 16) {
        int64_t x = sign ? (int16_t)(a >> h) : (uint16_t)(a >> h),
                y = sign ? (int16_t)(b >> h) : (uint16_t)(b >> h);
        int64_t v = (x < y) == maximum ? y : x;
        if (em_has(i, EM_M_relu) && v < 0) v = 0;
        d |= (uint64_t)(uint16_t)v << h;
    }
    return d;
}
static uint64_t lane_min_x2(const em_inst *i, uint64_t a, uint64_t b, uint64_t c)
{
    (void)c;
    return min_max_pair(i, a, b, false);
}
static uint64_t lane_max_x2(const em_inst *i, uint64_t a, uint64_t b, uint64_t c)
{
    (void)c;
    return min_max_pair(i, a, b, true);
}
uint64_t em_lane_sad(const em_inst *i, uint64_t a, uint64_t b, uint64_t c)
{
    return c + (is_less(i, a, b) ? b - a : a - b);
}
uint64_t em_lane_and(const em_inst *i, uint64_t a, uint64_t b, uint64_t c)
{
    (void)i, (void)c;
    return a & b;
}
uint64_t em_lane_or(const em_inst *i, uint64_t a, uint64_t b, uint64_t c)
{
    (void)i, (void)c;
    return a | b;
}
uint64_t em_lane_xor(const em_inst *i, uint64_t a, uint64_t b, uint64_t c)
{
    (void)i, (void)c;
    return a ^ b;
}
uint64_t em_lane_not(const em_inst *i, uint64_t a, uint64_t b, uint64_t c)
{
    (void)b, (void)c;
    return i->type == PTX_pred ? !a : ~a;
}
uint64_t em_lane_cnot(const em_inst *i, uint64_t a, uint64_t b, uint64_t c)
{
    (void)b, (void)c;
    return zero_extend(a, operand_bits(i)) == 0;
}
uint64_t em_lane_shl(const em_inst *i, uint64_t a, uint64_t b, uint64_t c)
{
    (void)c;
    return b >= (uint64_t)operand_bits(i) ? 0 : a << b;
}
uint64_t em_lane_shr(const em_inst *i, uint64_t a, uint64_t b, uint64_t c)
{
    int bits = operand_bits(i);
    (void)c;
    if (is_signed(i)) return (uint64_t)(sign_extend(a, bits) >> (b >= (uint64_t)bits ? bits - 1 : (int)b));
    return b >= (uint64_t)bits ? 0 : zero_extend(a, bits) >> b;
}
uint64_t em_lane_shf(const em_inst *i, uint64_t a, uint64_t b, uint64_t c)
{
    uint32_t n = em_has(i, EM_M_clamp) ? (uint32_t)(c > 32 ? 32 : c) : (uint32_t)c & 31;
    uint64_t both = b << 32 | (uint32_t)a;
    return em_has(i, EM_M_l) ? (n == 0 ? b : (uint32_t)(both >> (32 - n))) : both >> n;
}
uint64_t em_lane_bfe(const em_inst *i, uint64_t a, uint64_t b, uint64_t c)
{
    int bits = operand_bits(i);
    uint32_t position = (uint32_t)b & 0xff, length = (uint32_t)c & 0xff;
    bool sign = is_signed(i) && length > 0;
    uint32_t top = position + length - 1 < (uint32_t)bits - 1 ? position + length - 1 : (uint32_t)bits - 1;
    uint64_t filler = sign && (a >> top & 1) ? UINT64_MAX : 0;
    if (length == 0) return 0;
    uint64_t d = position < (uint32_t)bits ? a >> position : 0;
    /* bits from here on are filled */
    uint32_t taken = position < (uint32_t)bits ? (uint32_t)bits - position : 0;
    if (taken > length) taken = length;
    if (taken < 64) d = (d & ((UINT64_C(1) << taken) - 1)) | filler << taken;
    return bits == 64 ? d : d & UINT32_MAX;
}
static uint64_t insert_bits(int bits, uint64_t a, uint64_t b, uint64_t c, uint64_t count)
{
    uint32_t position = (uint32_t)c & 0xff, length = (uint32_t)count & 0xff;
    for (uint32_t n = 0; n < length && position + n < (uint32_t)bits; n++)
        b = (b & ~(UINT64_C(1) << (position + n))) | (a >> n & 1) << (position + n);
    return b;
}
static void run_bfi(em_warp *w, const em_inst *i, uint32_t mask)
{
    EM_EACH(mask, em_set(w, &i->o[0], l,
                         insert_bits(operand_bits(i), em_get(w, &i->o[1], l), em_get(w, &i->o[2], l),
                                     em_get(w, &i->o[3], l), em_get(w, &i->o[4], l))));
}
uint64_t em_lane_bfind(const em_inst *i, uint64_t a, uint64_t b, uint64_t c)
{
    int bits = operand_bits(i);
    (void)b, (void)c;
    uint64_t v = is_signed(i) && sign_extend(a, bits) < 0 ? zero_extend(~a, bits) : zero_extend(a, bits);
    if (!v) return UINT32_MAX;
    uint64_t at = 63 - (uint64_t)__builtin_clzll(v);
    return em_has(i, EM_M_shiftamt) ? (uint64_t)bits - 1 - at : at;
}
uint64_t em_lane_brev(const em_inst *i, uint64_t a, uint64_t b, uint64_t c)
{
    uint64_t d = 0;
    (void)b, (void)c;
    for (int n = 0; n < operand_bits(i); n++) d |= (a >> n & 1) << (operand_bits(i) - 1 - n);
    return d;
}
uint64_t em_lane_clz(const em_inst *i, uint64_t a, uint64_t b, uint64_t c)
{
    (void)b, (void)c;
    return a ? (uint64_t)(__builtin_clzll(a) - (64 - operand_bits(i))) : (uint64_t)operand_bits(i);
}
uint64_t em_lane_popc(const em_inst *i, uint64_t a, uint64_t b, uint64_t c)
{
    (void)i, (void)b, (void)c;
    return (uint64_t)__builtin_popcountll(a);
}
uint64_t em_lane_lop3(const em_inst *i, uint64_t a, uint64_t b, uint64_t c)
{
    uint32_t table = i->lane.table;
    uint64_t d = 0;
    if (table & 1) d |= ~a & ~b & ~c;
    if (table & 2) d |= ~a & ~b & c;
    if (table & 4) d |= ~a & b & ~c;
    if (table & 8) d |= ~a & b & c;
    if (table & 16) d |= a & ~b & ~c;
    if (table & 32) d |= a & ~b & c;
    if (table & 64) d |= a & b & ~c;
    if (table & 128) d |= a & b & c;
    return d;
}
uint64_t em_lane_prmt(const em_inst *i, uint64_t a, uint64_t b, uint64_t c)
{
    uint64_t bytes = b << 32 | (uint32_t)a, d = 0;
    uint32_t n = (uint32_t)c & 3, selector = (uint32_t)c;
    static const uint32_t f4e[4] = {0x3210, 0x4321, 0x5432, 0x6543},
                          b4e[4] = {0x5670, 0x6701, 0x7012, 0x0123};
    static const uint32_t rc8[4] = {0x0000, 0x1111, 0x2222, 0x3333},
                          ecl[4] = {0x3210, 0x3211, 0x3222, 0x3333};
    static const uint32_t ecr[4] = {0x0000, 0x1110, 0x2210, 0x3210},
                          rc16[4] = {0x1010, 0x3232, 0x1010, 0x3232};
    if (em_has(i, EM_M_f4e))
        selector = f4e[n];
    else if (em_has(i, EM_M_b4e))
        selector = b4e[n];
    else if (em_has(i, EM_M_rc8))
        selector = rc8[n];
    else if (em_has(i, EM_M_ecl))
        selector = ecl[n];
    else if (em_has(i, EM_M_ecr))
        selector = ecr[n];
    else if (em_has(i, EM_M_rc16))
        selector = rc16[n];
    for (int k = 0; k < 4; k++) {
        uint32_t s = selector >> (4 * k) & 15;
        uint64_t byte = bytes >> (8 * (s & 7)) & 0xff;
        if (s & 8) byte = byte & 0x80 ? 0xff : 0;
        d |= byte << (8 * k);
    }
    return d;
}
uint64_t em_lane_dp4a(const em_inst *i, uint64_t a, uint64_t b, uint64_t c)
{
    uint32_t sum = (uint32_t)c;
    for (int k = 0; k < 32; k += 8) {
        int32_t x = i->type == PTX_s32 ? (int8_t)(a >> k) : (uint8_t)(a >> k);
        int32_t y = i->types[1] == PTX_s32 ? (int8_t)(b >> k) : (uint8_t)(b >> k);
        sum += (uint32_t)(x * y);
    }
    return sum;
}
uint64_t em_lane_dp2a(const em_inst *i, uint64_t a, uint64_t b, uint64_t c)
{
    uint32_t sum = (uint32_t)c;
    int high = em_has(i, EM_M_hi) ? 16 : 0;
    for (int k = 0; k < 2; k++) {
        int32_t x = i->type == PTX_s32 ? (int16_t)(a >> (16 * k)) : (uint16_t)(a >> (16 * k));
        int32_t y = i->types[1] == PTX_s32 ? (int8_t)(b >> (high + 8 * k)) : (uint8_t)(b >> (high + 8 * k));
        sum += (uint32_t)x * (uint32_t)y;
    }
    return sum;
}
uint64_t em_lane_szext(const em_inst *i, uint64_t a, uint64_t b, uint64_t c)
{
    uint32_t n = em_has(i, EM_M_clamp) ? (uint32_t)(b > 32 ? 32 : b) : (uint32_t)b & 31;
    (void)c;
    if (n == 0) return 0;
    return i->type == PTX_s32 ? (uint64_t)sign_extend(a, (int)n) : zero_extend(a, (int)n);
}
uint64_t em_lane_bmsk(const em_inst *i, uint64_t a, uint64_t b, uint64_t c)
{
    uint32_t start = (uint32_t)a, length = (uint32_t)b;
    (void)c;
    if (em_has(i, EM_M_wrap)) {
        start &= 31;
        length &= 31;
    }
    uint64_t ones = length >= 32 ? UINT32_MAX : (UINT64_C(1) << length) - 1;
    return start >= 32 ? 0 : (uint32_t)(ones << start);
}
/* The nth set bit from a base: up (n > 0), down (n < 0) or at it (n = 0); ISA 9.7.1.21. */
uint64_t em_lane_fns(const em_inst *i, uint64_t a, uint64_t b, uint64_t c)
{
    uint32_t mask = (uint32_t)a;
    int32_t base = (int32_t)((uint32_t)b & 31), offset = (int32_t)c;
    (void)i;
    if (b > 31) return UINT32_MAX;
    if (offset == 0) return mask >> base & 1 ? (uint64_t)base : UINT32_MAX;
    int64_t count = offset < 0 ? -(int64_t)offset : offset, found = 0;
    for (int32_t at = base; at >= 0 && at < 32; at += offset < 0 ? -1 : 1)
        if (mask >> at & 1 && ++found == count) return (uint64_t)at;
    return UINT32_MAX;
}

/* ---- carry: CC.CF is a mask of lanes at offset 0 of the register frame ---- */

static void run_carry(em_warp *w, const em_inst *i, uint32_t mask)
{
    int bits = operand_bits(i);
    bool subtract = i->carry.subtract, set = em_has(i, EM_M_cc);
    uint32_t flags;
    memcpy(&flags, w->base[0], sizeof flags);
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        int l = __builtin_ctz(rest);
        uint64_t a = em_get(w, &i->o[1], l), b = em_get(w, &i->o[2], l),
                 in = i->carry.carry_in ? flags >> l & 1 : 0;
        if (i->carry.multiply) {
            a = zero_extend(em_has(i, EM_M_hi) ? lane_mul_hi(i, a, b, 0) : a * b, bits);
            b = em_get(w, &i->o[3], l);
        }
        unsigned __int128 r;
        uint32_t out;
        if (subtract) {
            r = (unsigned __int128)a - b - in;
            out = (unsigned __int128)b + in > a;
        } else {
            r = (unsigned __int128)a + b + in;
            out = (uint32_t)(r >> bits & 1);
        }
        em_set(w, &i->o[0], l, (uint64_t)r);
        if (set) flags = (flags & ~(1u << l)) | out << l;
    }
    memcpy(w->base[0], &flags, sizeof flags);
}

/* add, sub and mad with .cc, addc, subc, madc. */
cute_status em_decode_carry(em_parser *p, const em_raw *raw, em_inst *i)
{
    bool multiply = i->opcode == EM_OP_mad || i->opcode == EM_OP_madc;
    int count = multiply ? 4 : 3;
    CUTE_TRY(em_operands(p, raw, count, count));
    if (operand_bits(i) != 32 && operand_bits(i) != 64) return em_unknown(p, raw);
    CUTE_TRY(em_target(p, raw, i, 0, (ptx_type)i->type, false));
    for (int n = 1; n < count; n++) CUTE_TRY(em_source(p, raw, i, n, (ptx_type)i->type));
    i->carry.subtract = i->opcode == EM_OP_sub || i->opcode == EM_OP_subc;
    i->carry.carry_in = em_rows[i->opcode].carry_in;
    i->carry.multiply = multiply;
    i->run = run_carry;
    return CUTE_OK;
}

/* ---- predicates ---- */

static void run_logic_masks(em_warp *w, const em_inst *i, uint32_t mask)
{
    uint32_t a = em_mask_of(w, &i->o[1]), b = i->count > 2 ? em_mask_of(w, &i->o[2]) : 0;
    uint32_t d = i->opcode == EM_OP_and   ? a & b
                 : i->opcode == EM_OP_or  ? a | b
                 : i->opcode == EM_OP_xor ? a ^ b
                                          : ~a;
    em_set_mask(w, &i->o[0], mask, d);
}

/* ---- decoding ---- */

/* Result and `sources` operands of the type, the last one of type `last`; executed by the row's lane
 * function, or its loop. */
static cute_status decode_integer(em_parser *p, const em_raw *raw, em_inst *i, int sources, ptx_type result,
                                  ptx_type last)
{
    CUTE_TRY(em_operands(p, raw, sources + 1, sources + 1));
    if (!i->type_count) return em_wrong(p, raw, "expected a type");
    CUTE_TRY(em_target(p, raw, i, 0, result, false));
    for (int n = 1; n <= sources; n++)
        CUTE_TRY(em_source(p, raw, i, n, n == sources ? last : (ptx_type)i->type));
    i->lane.function = em_rows[i->opcode].lane;
    i->run = loop_for(i);
    return CUTE_OK;
}

static void by_lane(em_inst *i, em_lane_function function)
{
    i->lane.function = function;
    i->run = em_run_lanes;
}

static bool has_integer_type(const em_inst *i)
{
    return ptx_types[i->type].kind != PTX_FLOAT && i->type != PTX_pred && ptx_types[i->type].bytes >= 2 &&
           ptx_types[i->type].bytes <= 8;
}

static bool is_packed_pair(const em_inst *i)
{
    return i->type == PTX_u16x2 || i->type == PTX_s16x2;
}

static ptx_type double_width(const em_inst *i)
{
    return operand_bits(i) == 16 ? PTX_u32 : PTX_u64;
}

cute_status em_decode_arithmetic(em_parser *p, const em_raw *raw, em_inst *i)
{
    bool subtract = i->opcode == EM_OP_sub;
    if (ptx_types[i->type].kind == PTX_FLOAT) return em_decode_real(p, raw, i);
    if (!has_integer_type(i)) return em_unknown(p, raw);
    if (em_has(i, EM_M_cc)) return em_decode_carry(p, raw, i);
    CUTE_TRY(decode_integer(p, raw, i, 2, (ptx_type)i->type, (ptx_type)i->type));
    if (is_packed_pair(i)) {
        if (subtract) return em_unknown(p, raw);
        by_lane(i, lane_add_x2);
    } else if (em_has(i, EM_M_sat)) {
        if (i->type != PTX_s32) return em_wrong(p, raw, ".sat requires .s32");
        by_lane(i, subtract ? lane_sub_sat : lane_add_sat);
    }
    return CUTE_OK;
}

cute_status em_decode_multiply(em_parser *p, const em_raw *raw, em_inst *i)
{
    bool wide = em_has(i, EM_M_wide), high = em_has(i, EM_M_hi), add = i->opcode == EM_OP_mad;
    if (ptx_types[i->type].kind == PTX_FLOAT) return em_decode_real(p, raw, i);
    if (!has_integer_type(i)) return em_unknown(p, raw);
    if (!wide && !high && !em_has(i, EM_M_lo))
        return em_wrong(p, raw, "integer %s requires .lo, .hi or .wide", em_rows[i->opcode].name);
    if (add && em_has(i, EM_M_cc)) return em_decode_carry(p, raw, i);
    ptx_type result = wide ? double_width(i) : (ptx_type)i->type;
    if (wide && operand_bits(i) == 64) return em_unknown(p, raw);
    CUTE_TRY(decode_integer(p, raw, i, add ? 3 : 2, result, add ? result : (ptx_type)i->type));
    if (wide) by_lane(i, add ? lane_mad_wide : lane_mul_wide);
    if (high) by_lane(i, add ? lane_mad_hi : lane_mul_hi);
    if (wide && !add && operand_bits(i) == 32) i->run = is_signed(i) ? wide_s32 : wide_u32;
    return CUTE_OK;
}

cute_status em_decode_min_max(em_parser *p, const em_raw *raw, em_inst *i)
{
    bool maximum = i->opcode == EM_OP_max;
    if (ptx_types[i->type].kind == PTX_FLOAT) return em_decode_real(p, raw, i);
    if (!has_integer_type(i)) return em_unknown(p, raw);
    CUTE_TRY(decode_integer(p, raw, i, 2, (ptx_type)i->type, (ptx_type)i->type));
    if (is_packed_pair(i))
        by_lane(i, maximum ? lane_max_x2 : lane_min_x2);
    else if (em_has(i, EM_M_relu))
        i->run = em_run_lanes;
    return CUTE_OK;
}

cute_status em_decode_divrem(em_parser *p, const em_raw *raw, em_inst *i)
{
    if (ptx_types[i->type].kind == PTX_FLOAT) return em_decode_real(p, raw, i);
    if (!has_integer_type(i)) return em_unknown(p, raw);
    return decode_integer(p, raw, i, 2, (ptx_type)i->type, (ptx_type)i->type);
}

/* abs, neg */
cute_status em_decode_unary(em_parser *p, const em_raw *raw, em_inst *i)
{
    if (ptx_types[i->type].kind == PTX_FLOAT) return em_decode_real(p, raw, i);
    if (!has_integer_type(i)) return em_unknown(p, raw);
    return decode_integer(p, raw, i, 1, (ptx_type)i->type, (ptx_type)i->type);
}

cute_status em_decode_logic(em_parser *p, const em_raw *raw, em_inst *i)
{
    CUTE_TRY(decode_integer(p, raw, i, em_rows[i->opcode].sources, (ptx_type)i->type, (ptx_type)i->type));
    if (i->type == PTX_pred)
        i->run = run_logic_masks;
    else if (!has_integer_type(i))
        return em_unknown(p, raw);
    return CUTE_OK;
}

cute_status em_decode_shift(em_parser *p, const em_raw *raw, em_inst *i)
{
    if (!has_integer_type(i)) return em_unknown(p, raw);
    return decode_integer(p, raw, i, 2, (ptx_type)i->type, PTX_u32);
}

/* Instructions described by their lane function and row alone. */
cute_status em_decode_lane(em_parser *p, const em_raw *raw, em_inst *i)
{
    const em_row *row = &em_rows[i->opcode];
    CUTE_TRY(em_operands(p, raw, row->sources + 1, row->sources + 1));
    if (!i->type_count || !has_integer_type(i)) return em_unknown(p, raw);
    CUTE_TRY(em_target(p, raw, i, 0, row->word_result ? PTX_u32 : (ptx_type)i->type, false));
    for (int n = 1; n <= row->sources; n++)
        CUTE_TRY(em_source(p, raw, i, n, n > 1 && row->word_rest ? PTX_u32 : (ptx_type)i->type));
    by_lane(i, row->lane);
    return CUTE_OK;
}

cute_status em_decode_bfi(em_parser *p, const em_raw *raw, em_inst *i)
{
    CUTE_TRY(em_operands(p, raw, 5, 5));
    CUTE_TRY(em_target(p, raw, i, 0, (ptx_type)i->type, false));
    for (int k = 1; k < 5; k++) CUTE_TRY(em_source(p, raw, i, k, k < 3 ? (ptx_type)i->type : PTX_u32));
    i->run = run_bfi;
    return CUTE_OK;
}

/* lop3.b32 d, a, b, c, table; lop3.or.b32 d|p, a, b, c, table, q. */
static void run_lop3_predicate(em_warp *w, const em_inst *i, uint32_t mask)
{
    uint32_t q = em_mask_of(w, &i->o[6]), out = 0;
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        int l = __builtin_ctz(rest);
        uint64_t d = em_lane_lop3(i, em_get(w, &i->o[2], l), em_get(w, &i->o[3], l), em_get(w, &i->o[4], l));
        if (i->o[0].kind == EM_O_VALUE) em_set(w, &i->o[0], l, d);
        out |= (uint32_t)((uint32_t)d != 0) << l;
    }
    em_set_mask(w, &i->o[1], mask, em_has(i, EM_M_or) ? out | q : out & q);
}

cute_status em_decode_lop3(em_parser *p, const em_raw *raw, em_inst *i)
{
    bool with = em_has(i, EM_M_or) || em_has(i, EM_M_and);
    int first = with ? 2 : 1;
    int64_t table;
    CUTE_TRY(em_operands(p, raw, with ? 7 : 5, with ? 7 : 5));
    CUTE_TRY(em_target(p, raw, i, 0, PTX_b32, with));
    for (int k = first; k < first + 3; k++) CUTE_TRY(em_source(p, raw, i, k, PTX_b32));
    CUTE_TRY(em_number(p, raw, i, first + 3, &table));
    if (table < 0 || table > 255)
        return em_wrong(p, raw, "expected an immediate from 0 to 255 as the table of lop3");
    by_lane(i, em_lane_lop3);
    i->lane.table = (uint8_t)table;
    if (with) {
        i->run = run_lop3_predicate;
        i->results = 2;
        i->dataflow = EM_FLOW_PURE;
        CUTE_TRY(em_predicate(p, raw, i, 1, true));
        CUTE_TRY(em_predicate(p, raw, i, 6, false));
    }
    return CUTE_OK;
}
