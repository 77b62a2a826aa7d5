/* Floating-point arithmetic over the active lanes: maps modifiers to the operation, rounding and flags of
 * number.h. */
#include "lib/emulator/program/decode.h"

#include "lib/emulator/instructions/lanes.h"
#include "lib/numeric/number.h"

num_round em_rounding(const em_inst *i)
{
    if (em_has(i, EM_M_rz) || em_has(i, EM_M_rzi)) return NUM_RZ;
    if (em_has(i, EM_M_rm) || em_has(i, EM_M_rmi)) return NUM_RM;
    if (em_has(i, EM_M_rp) || em_has(i, EM_M_rpi)) return NUM_RP;
    if (em_has(i, EM_M_rna)) return NUM_RNA;
    return NUM_RN;
}

unsigned em_flags(const em_inst *i)
{
    return (em_has(i, EM_M_ftz) ? NUM_FTZ : 0u) | (em_has(i, EM_M_sat) ? NUM_SAT : 0u) |
           (em_has(i, EM_M_satfinite) ? NUM_SATFINITE : 0u) | (em_has(i, EM_M_relu) ? NUM_RELU : 0u) |
           (em_has(i, EM_M_NaN) ? NUM_NAN : 0u) | (em_has(i, EM_M_xorsign) ? NUM_XORSIGN : 0u);
}

static const uint32_t *operand_lanes(const em_warp *w, const em_inst *i, int n)
{
    return n < i->count ? em_r32(w, &i->o[n]) : NULL;
}

/* Copies the active lanes of a result that was computed for all. */
static void copy_active_lanes(uint32_t *d, const uint32_t *from, uint32_t mask)
{
    EM_EACH(mask, d[l] = from[l]);
}

static void run_f32(em_warp *w, const em_inst *i, uint32_t mask)
{
    uint32_t *d = em_r32(w, &i->o[0]), out[EM_LANES];
    num_f32_lanes((num_op)i->real.op, mask == UINT32_MAX ? d : out, operand_lanes(w, i, 1),
                  operand_lanes(w, i, 2), operand_lanes(w, i, 3), (num_round)i->real.round, i->real.flags);
    if (mask != UINT32_MAX) copy_active_lanes(d, out, mask);
}

static void run_float_pair(em_warp *w, const em_inst *i, uint32_t mask)
{
    uint32_t *d = em_r32(w, &i->o[0]), out[EM_LANES];
    num_half_lanes((num_op)i->real.op, (num_format)i->real.format, true, mask == UINT32_MAX ? d : out,
                   operand_lanes(w, i, 1), operand_lanes(w, i, 2), operand_lanes(w, i, 3),
                   (num_round)i->real.round, i->real.flags);
    if (mask != UINT32_MAX) copy_active_lanes(d, out, mask);
}

/* A lane of a 16-bit register occupies 32 bits; the functions take packed lanes. */
static void run_half(em_warp *w, const em_inst *i, uint32_t mask)
{
    uint32_t *d = em_r32(w, &i->o[0]);
    uint16_t in[3][EM_LANES] = {{0}}, out[EM_LANES];
    for (int n = 1; n < i->count && n < 4; n++) {
        const uint32_t *from = em_r32(w, &i->o[n]);
        for (int l = 0; l < EM_LANES; l++) in[n - 1][l] = (uint16_t)from[l];
    }
    num_half_lanes((num_op)i->real.op, (num_format)i->real.format, false, out, in[0], in[1], in[2],
                   (num_round)i->real.round, i->real.flags);
    EM_EACH(mask, d[l] = out[l]);
}

static void run_f64(em_warp *w, const em_inst *i, uint32_t mask)
{
    uint64_t *d = em_r64(w, &i->o[0]), out[EM_LANES];
    const uint64_t *b = i->count > 2 ? em_r64(w, &i->o[2]) : NULL,
                   *c = i->count > 3 ? em_r64(w, &i->o[3]) : NULL;
    num_f64_lanes((num_op)i->real.op, mask == UINT32_MAX ? d : out, em_r64(w, &i->o[1]), b, c,
                  (num_round)i->real.round, i->real.flags);
    if (mask != UINT32_MAX) EM_EACH(mask, d[l] = out[l]);
}

/* f32x2: two f32 in 64 bits. */
static void run_f32x2(em_warp *w, const em_inst *i, uint32_t mask)
{
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        int l = __builtin_ctz(rest);
        uint64_t v[3] = {0}, d = 0;
        for (int n = 1; n < i->count && n < 4; n++) v[n - 1] = em_get(w, &i->o[n], l);
        for (int h = 0; h < 64; h += 32)
            d |= (num_arithmetic((num_op)i->real.op, NUM_F32, v[0] >> h & UINT32_MAX, v[1] >> h & UINT32_MAX,
                                 v[2] >> h & UINT32_MAX, (num_round)i->real.round, i->real.flags) &
                  UINT32_MAX)
                 << h;
        em_set(w, &i->o[0], l, d);
    }
}

/* Three-operand min and max. */
static void run_min_max3(em_warp *w, const em_inst *i, uint32_t mask)
{
    EM_EACH(mask, em_set(w, &i->o[0], l,
                         num_arithmetic((num_op)i->real.op, (num_format)i->real.format,
                                        num_arithmetic((num_op)i->real.op, (num_format)i->real.format,
                                                       em_get(w, &i->o[1], l), em_get(w, &i->o[2], l), 0,
                                                       (num_round)i->real.round, i->real.flags),
                                        em_get(w, &i->o[3], l), 0, (num_round)i->real.round, i->real.flags)));
}

/* add{.rnd}.f32.f16: the first source is a half. */
static void run_mixed(em_warp *w, const em_inst *i, uint32_t mask)
{
    num_format narrow = em_format_of((ptx_type)i->types[1]);
    EM_EACH(mask, {
        uint64_t v[3] = {0};
        for (int n = 1; n < i->count && n < 4; n++) v[n - 1] = em_get(w, &i->o[n], l);
        v[0] = num_convert(NUM_F32, narrow, v[0], NUM_RN, 0);
        if ((num_op)i->real.op == NUM_FMA) v[1] = num_convert(NUM_F32, narrow, v[1], NUM_RN, 0);
        em_set(w, &i->o[0], l,
               num_arithmetic((num_op)i->real.op, NUM_F32, v[0], v[1], v[2], (num_round)i->real.round,
                              i->real.flags));
    });
}

static num_op approximate_op(const em_inst *i, num_op op)
{
    if (em_has(i, EM_M_approx)) {
        if (op == NUM_RCP) return NUM_RCP_APPROX;
        if (op == NUM_SQRT) return NUM_SQRT_APPROX;
        if (op == NUM_DIV) return NUM_DIV_APPROX;
    }
    return em_has(i, EM_M_full) && op == NUM_DIV ? NUM_DIV_FULL : op;
}

cute_status em_decode_real(em_parser *p, const em_raw *raw, em_inst *i)
{
    const em_row *row = &em_rows[i->opcode];
    num_op op = (num_op)row->real;
    ptx_type type = (ptx_type)i->type;
    num_format format = em_format_of(type);
    if (!row->has_real || format == NUM_FORMATS || ptx_types[type].bytes < 2) return em_unknown(p, raw);
    if (type == PTX_tf32 || format == NUM_E4M3 || format == NUM_E5M2 || format == NUM_UE8M0)
        return em_unknown(p, raw);
    bool three = (op == NUM_MIN || op == NUM_MAX) && raw->count == 4;
    bool mixed = i->type_count == 2 && type == PTX_f32 && (i->types[1] == PTX_f16 || i->types[1] == PTX_bf16);
    if (i->type_count > 1 && !mixed) return em_unknown(p, raw);
    int sources = three ? 3 : num_operands(op);
    CUTE_TRY(em_operands(p, raw, sources + 1, sources + 1));
    CUTE_TRY(em_target(p, raw, i, 0, type, false));
    for (int n = 1; n <= sources; n++) {
        bool narrow = mixed && (n == 1 || (n == 2 && op == NUM_FMA));
        CUTE_TRY(em_source(p, raw, i, n, narrow ? (ptx_type)i->types[1] : type));
    }
    i->real.op = (uint8_t)approximate_op(i, op);
    i->real.format = (uint8_t)format;
    i->real.round = (uint8_t)em_rounding(i);
    i->real.flags = (uint8_t)em_flags(i);
    if (ptx_types[type].count == 2) i->dataflow = EM_FLOW_HALVES;
    if (mixed)
        i->run = run_mixed;
    else if (three)
        i->run = run_min_max3;
    else if (type == PTX_f32x2)
        i->run = run_f32x2;
    else if (type == PTX_f32)
        i->run = run_f32;
    else if (type == PTX_f64)
        i->run = run_f64;
    else
        i->run = type == PTX_f16x2 || type == PTX_bf16x2 ? run_float_pair : run_half;
    return CUTE_OK;
}

/* ---- copysign, testp ---- */

uint64_t em_lane_copysign(const em_inst *i, uint64_t a, uint64_t b, uint64_t c)
{
    uint64_t sign = UINT64_C(1) << (ptx_types[i->type].bytes * 8 - 1);
    (void)c;
    return (b & ~sign) | (a & sign);
}

uint64_t em_lane_testp(const em_inst *i, uint64_t a, uint64_t b, uint64_t c)
{
    num_class k = num_classify(i->type == PTX_f64 ? NUM_F64 : NUM_F32, a);
    (void)b, (void)c;
    if (em_has(i, EM_M_finite)) return k != NUM_INFINITE && k != NUM_NOT_A_NUMBER;
    if (em_has(i, EM_M_infinite)) return k == NUM_INFINITE;
    if (em_has(i, EM_M_number)) return k != NUM_NOT_A_NUMBER;
    if (em_has(i, EM_M_notanumber)) return k == NUM_NOT_A_NUMBER;
    if (em_has(i, EM_M_normal)) return k == NUM_NORMAL || k == NUM_ZERO; /* as an H200 does */
    return k == NUM_SUBNORMAL;
}

cute_status em_decode_copysign(em_parser *p, const em_raw *raw, em_inst *i)
{
    CUTE_TRY(em_operands(p, raw, 3, 3));
    if (i->type != PTX_f32 && i->type != PTX_f64) return em_unknown(p, raw);
    for (int n = 0; n < 3; n++)
        CUTE_TRY(n ? em_source(p, raw, i, n, (ptx_type)i->type)
                   : em_target(p, raw, i, n, (ptx_type)i->type, false));
    i->lane.function = em_lane_copysign;
    i->run = em_run_lanes;
    return CUTE_OK;
}

cute_status em_decode_testp(em_parser *p, const em_raw *raw, em_inst *i)
{
    CUTE_TRY(em_operands(p, raw, 2, 2));
    if (i->type != PTX_f32 && i->type != PTX_f64) return em_unknown(p, raw);
    CUTE_TRY(em_target(p, raw, i, 0, PTX_pred, false));
    i->lane.function = em_lane_testp;
    i->run = em_run_lanes;
    return em_source(p, raw, i, 1, (ptx_type)i->type);
}
