/* cvt: conversions between all types. */
#include "lib/emulator/program/decode.h"

#include "lib/emulator/instructions/lanes.h"
#include "lib/numeric/number.h"

static void run_convert(em_warp *w, const em_inst *i, uint32_t mask)
{
    ptx_type to = (ptx_type)i->type, from = (ptx_type)i->types[1];
    int to_bits = ptx_types[to].bytes * 8, from_bits = ptx_types[from].bytes * 8;
    bool to_signed = ptx_types[to].kind == PTX_SIGNED, from_signed = ptx_types[from].kind == PTX_SIGNED;
    bool to_real = ptx_types[to].kind == PTX_FLOAT, from_real = ptx_types[from].kind == PTX_FLOAT;
    num_round round = em_rounding(i);
    unsigned flags = em_flags(i);
    num_format tf = em_format_of(to), ff = em_format_of(from);
    bool integral = em_has(i, EM_M_rni) || em_has(i, EM_M_rzi) || em_has(i, EM_M_rmi) || em_has(i, EM_M_rpi);
    uint64_t low = from_bits == 64 ? UINT64_MAX : (UINT64_C(1) << from_bits) - 1;
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        int l = __builtin_ctz(rest);
        uint64_t v = em_get(w, &i->o[1], l) & low, d;
        if (to_real && from_real)
            d = integral ? num_to_integral(tf, ff, v, round, flags) : num_convert(tf, ff, v, round, flags);
        else if (to_real)
            d = num_from_integer(tf, v, from_bits, from_signed, round, flags);
        else if (from_real)
            d = num_to_integer(ff, v, to_bits, to_signed, round, flags);
        else
            d = num_integer_convert(to_bits, to_signed, v, from_bits, from_signed, (flags & NUM_SAT) != 0);
        em_set(w, &i->o[0], l, d);
    }
}

/* f32 to and from f16 or bf16, to nearest without modifiers. A lane of a 16-bit register occupies 32 bits. */
static void run_narrow_real(em_warp *w, const em_inst *i, uint32_t mask)
{
    uint16_t half[EM_LANES];
    uint32_t *d = em_r32(w, &i->o[0]);
    num_convert_lanes(em_format_of((ptx_type)i->type), NUM_F32, half, em_r32(w, &i->o[1]), NUM_RN, 0);
    EM_EACH(mask, d[l] = half[l]);
}
static void run_widen_real(em_warp *w, const em_inst *i, uint32_t mask)
{
    uint16_t half[EM_LANES];
    uint32_t whole[EM_LANES], *d = em_r32(w, &i->o[0]);
    const uint32_t *a = em_r32(w, &i->o[1]);
    for (int l = 0; l < EM_LANES; l++) half[l] = (uint16_t)a[l];
    num_convert_lanes(NUM_F32, em_format_of((ptx_type)i->types[1]), whole, half, NUM_RN, 0);
    EM_EACH(mask, d[l] = whole[l]);
}

/* Between 32 and 64 bits without saturation. */
static void run_widen_unsigned(em_warp *w, const em_inst *i, uint32_t mask)
{
    uint64_t *d = em_r64(w, &i->o[0]);
    const uint32_t *a = em_r32(w, &i->o[1]);
    EM_EACH(mask, d[l] = a[l]);
}
static void run_widen_signed(em_warp *w, const em_inst *i, uint32_t mask)
{
    uint64_t *d = em_r64(w, &i->o[0]);
    const int32_t *a = (const int32_t *)em_r32(w, &i->o[1]);
    EM_EACH(mask, d[l] = (uint64_t)(int64_t)a[l]);
}
static void run_narrow(em_warp *w, const em_inst *i, uint32_t mask)
{
    uint32_t *d = em_r32(w, &i->o[0]);
    const uint64_t *a = em_r64(w, &i->o[1]);
    EM_EACH(mask, d[l] = (uint32_t)a[l]);
}

static void run_pack_real(em_warp *w, const em_inst *i, uint32_t mask)
{
    num_format to = em_format_of((ptx_type)i->type);
    int bits = ptx_types[i->type].bytes * 4; /* of one half */
    EM_EACH(mask, {
        uint64_t high = num_convert(to, NUM_F32, em_get(w, &i->o[1], l), em_rounding(i), em_flags(i));
        uint64_t low = num_convert(to, NUM_F32, em_get(w, &i->o[2], l), em_rounding(i), em_flags(i));
        em_set(w, &i->o[0], l, low | high << bits);
    });
}

/* The same for f16x2 and bf16x2. */
static void run_pack_halves(em_warp *w, const em_inst *i, uint32_t mask)
{
    uint16_t high[EM_LANES], low[EM_LANES];
    uint32_t *d = em_r32(w, &i->o[0]);
    num_format to = em_format_of((ptx_type)i->type);
    num_convert_lanes(to, NUM_F32, high, em_r32(w, &i->o[1]), NUM_RN, 0);
    num_convert_lanes(to, NUM_F32, low, em_r32(w, &i->o[2]), NUM_RN, 0);
    EM_EACH(mask, d[l] = (uint32_t)high[l] << 16 | low[l]);
}

/* e4m3x2 from f16x2: both halves in one register. */
static void run_narrow_pair(em_warp *w, const em_inst *i, uint32_t mask)
{
    num_format to = em_format_of((ptx_type)i->type), from = em_format_of((ptx_type)i->types[1]);
    EM_EACH(mask, {
        uint64_t v = em_get(w, &i->o[1], l);
        uint64_t low = num_convert(to, from, v & 0xffff, em_rounding(i), em_flags(i));
        uint64_t high = num_convert(to, from, v >> 16 & 0xffff, em_rounding(i), em_flags(i));
        em_set(w, &i->o[0], l, (low & 0xff) | (high & 0xff) << 8);
    });
}

static void run_widen_pair(em_warp *w, const em_inst *i, uint32_t mask)
{
    num_format to = em_format_of((ptx_type)i->type), from = em_format_of((ptx_type)i->types[1]);
    EM_EACH(mask, {
        uint64_t v = em_get(w, &i->o[1], l);
        uint64_t low = num_convert(to, from, v & 0xff, NUM_RN, em_flags(i));
        uint64_t high = num_convert(to, from, v >> 8 & 0xff, NUM_RN, em_flags(i));
        em_set(w, &i->o[0], l, (low & 0xffff) | (high & 0xffff) << 16);
    });
}

/* A register may be wider than the integer converted from or to it. */
static cute_status wide_operand(em_parser *p, const em_raw *raw, em_inst *i, int index, ptx_type type,
                                bool target)
{
    em_operand *o = &i->o[index];
    if (o->kind == EM_O_VALUE && o->bytes >= ptx_types[type].bytes && o->bytes <= 8 &&
        (!target || o->base == EM_BASE_REGISTERS))
        return CUTE_OK;
    return target ? em_target(p, raw, i, index, type, false) : em_source(p, raw, i, index, type);
}

/* cvt.pack.sat.u8.s32.b32 d, a, b, c: two saturated integers, above the shifted c. */
static void run_cvt_pack(em_warp *w, const em_inst *i, uint32_t mask)
{
    ptx_type to = (ptx_type)i->type;
    int bits = to == PTX_u16 || to == PTX_s16 ? 16 : to == PTX_u8 || to == PTX_s8 ? 8 : 4;
    bool sign = ptx_types[to].kind == PTX_SIGNED;
    int64_t most = sign ? (1 << (bits - 1)) - 1 : (1 << bits) - 1, least = sign ? -(1 << (bits - 1)) : 0;
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        int l = __builtin_ctz(rest);
        uint64_t d = i->count > 3 ? em_get(w, &i->o[3], l) << (2 * bits) : 0;
        for (int n = 0; n < 2; n++) {
            int64_t v = (int32_t)em_get(w, &i->o[2 - n], l);
            v = v > most ? most : v < least ? least : v;
            d |= ((uint64_t)v & ((1u << bits) - 1)) << (n * bits);
        }
        em_set(w, &i->o[0], l, d);
    }
}

/* Whether the vectorised loops apply: to nearest, no modifiers, registers of 16 or 32 bits. */
static bool is_vectorised(const em_inst *i)
{
    bool integral = em_has(i, EM_M_rni) || em_has(i, EM_M_rzi) || em_has(i, EM_M_rmi) || em_has(i, EM_M_rpi);
    return !integral && em_rounding(i) == NUM_RN && em_flags(i) == 0 && i->o[0].bytes <= 4 &&
           i->o[1].bytes <= 4;
}

static bool is_half_type(ptx_type type)
{
    return type == PTX_f16 || type == PTX_bf16;
}

static bool is_packed_type(ptx_type type)
{
    return ptx_types[type].count == 2 && ptx_types[type].kind == PTX_FLOAT && type != PTX_f32x2;
}

cute_status em_decode_cvt(em_parser *p, const em_raw *raw, em_inst *i)
{
    ptx_type to = (ptx_type)i->type, from = (ptx_type)i->types[1];
    if (em_has(i, EM_M_pack)) {
        CUTE_TRY(em_operands(p, raw, 3, 4));
        CUTE_TRY(em_target(p, raw, i, 0, PTX_b32, false));
        for (int n = 1; n < raw->count; n++) CUTE_TRY(em_source(p, raw, i, n, PTX_b32));
        i->run = run_cvt_pack;
        return i->types[1] == PTX_s32 ? CUTE_OK : em_unknown(p, raw);
    }
    if (i->type_count < 2) return em_wrong(p, raw, "expected two types");
    bool pair_to = is_packed_type(to), pair_from = is_packed_type(from);
    if (pair_to) i->dataflow = EM_FLOW_HALVES;
    if (pair_to && from == PTX_f32) {
        CUTE_TRY(em_operands(p, raw, 3, 3));
        CUTE_TRY(em_target(p, raw, i, 0, to, false));
        CUTE_TRY(em_source(p, raw, i, 1, PTX_f32));
        bool halves = to == PTX_f16x2 || to == PTX_bf16x2;
        i->run = halves && is_vectorised(i) ? run_pack_halves : run_pack_real;
        return em_source(p, raw, i, 2, PTX_f32);
    }
    CUTE_TRY(em_operands(p, raw, 2, 2));
    if (pair_to || pair_from) {
        if (!pair_to || !pair_from) return em_unknown(p, raw);
        CUTE_TRY(em_target(p, raw, i, 0, to, false));
        i->run = ptx_types[to].bytes == 2 ? run_narrow_pair : run_widen_pair;
        return em_source(p, raw, i, 1, from);
    }
    if (to == PTX_pred || from == PTX_pred || ptx_types[to].bytes > 8 || ptx_types[from].bytes > 8)
        return em_unknown(p, raw);
    CUTE_TRY(wide_operand(p, raw, i, 0, to, true));
    CUTE_TRY(wide_operand(p, raw, i, 1, from, false));
    i->run = run_convert;
    bool integers =
        ptx_types[to].kind != PTX_FLOAT && ptx_types[from].kind != PTX_FLOAT && !em_has(i, EM_M_sat);
    uint8_t d = i->o[0].bytes, s = i->o[1].bytes;
    if (integers && ptx_types[to].bytes == 8 && ptx_types[from].bytes == 4 && d == 8 && s == 4)
        i->run = ptx_types[from].kind == PTX_SIGNED ? run_widen_signed : run_widen_unsigned;
    if (integers && ptx_types[to].bytes == 4 && ptx_types[from].bytes == 8 && d == 4 && s == 8)
        i->run = run_narrow;
    if (is_half_type(to) && from == PTX_f32 && is_vectorised(i)) i->run = run_narrow_real;
    if (to == PTX_f32 && is_half_type(from) && is_vectorised(i)) i->run = run_widen_real;
    return CUTE_OK;
}
