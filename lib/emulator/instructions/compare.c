/* Comparisons and selections: setp, set, selp, slct. */
#include "lib/emulator/program/decode.h"

#include "lib/emulator/instructions/lanes.h"
#include "lib/numeric/number.h"

/* ---- comparisons ---- */

/* Outcomes that make a comparison true: less, equal, greater, unordered (bits 1, 2, 4, 8). */
typedef struct comparison {
    em_modifier modifier;
    uint8_t outcomes;
    bool is_unsigned;
} comparison;
static const comparison comparisons[] = {
    {EM_M_eq, 2, false},  {EM_M_ne, 5, false},   {EM_M_lt, 1, false},   {EM_M_le, 3, false},
    {EM_M_gt, 4, false},  {EM_M_ge, 6, false},   {EM_M_lo, 1, true},    {EM_M_ls, 3, true},
    {EM_M_hi, 4, true},   {EM_M_hs, 6, true},    {EM_M_equ, 10, false}, {EM_M_neu, 13, false},
    {EM_M_ltu, 9, false}, {EM_M_leu, 11, false}, {EM_M_gtu, 12, false}, {EM_M_geu, 14, false},
    {EM_M_num, 7, false}, {EM_M_nan, 8, false},
};

static uint32_t outcome_integer(uint64_t a, uint64_t b, int bits, bool sign)
{
    if (sign && bits < 64) {
        a = (uint64_t)((int64_t)(a << (64 - bits)) >> (64 - bits));
        b = (uint64_t)((int64_t)(b << (64 - bits)) >> (64 - bits));
    }
    if (a == b) return 2;
    return (sign ? (int64_t)a < (int64_t)b : a < b) ? 1 : 4;
}

/* Packs lanes of bytes, 0 or 1, into a mask. */
static uint32_t pack_mask(const uint8_t *bytes)
{
    uint32_t mask = 0;
    for (int k = 0; k < 4; k++) {
        uint64_t word;
        memcpy(&word, bytes + 8 * k, 8);
        mask |= (uint32_t)(word * UINT64_C(0x0102040810204080) >> 56) << (8 * k);
    }
    return mask;
}

#define COMPARE(type, get)                                                                                   \
    {                                                                                                        \
        const type *x = (const type *)get(w, a), *y = (const type *)get(w, b);                               \
        switch (i->compare.outcomes) {                                                                       \
        case 1:                                                                                              \
            for (int l = 0; l < EM_LANES; l++) t[l] = x[l] < y[l];                                           \
            break;                                                                                           \
        case 2:                                                                                              \
            for (int l = 0; l < EM_LANES; l++) t[l] = x[l] == y[l];                                          \
            break;                                                                                           \
        case 3:                                                                                              \
            for (int l = 0; l < EM_LANES; l++) t[l] = x[l] <= y[l];                                          \
            break;                                                                                           \
        case 4:                                                                                              \
            for (int l = 0; l < EM_LANES; l++) t[l] = x[l] > y[l];                                           \
            break;                                                                                           \
        case 5:                                                                                              \
            for (int l = 0; l < EM_LANES; l++) t[l] = x[l] != y[l];                                          \
            break;                                                                                           \
        default:                                                                                             \
            for (int l = 0; l < EM_LANES; l++) t[l] = x[l] >= y[l];                                          \
            break;                                                                                           \
        }                                                                                                    \
        return pack_mask(t);                                                                                 \
    }

static uint32_t compare_lanes(const em_warp *w, const em_inst *i, const em_operand *a, const em_operand *b,
                              uint32_t mask)
{
    uint8_t t[EM_LANES];
    ptx_type type = (ptx_type)i->compare.type;
    int bits = ptx_types[type].bytes * 8;
    bool sign = ptx_types[type].kind == PTX_SIGNED && !i->compare.is_unsigned;
    if (ptx_types[type].kind != PTX_FLOAT) {
        if (bits == 32 && sign) COMPARE(int32_t, em_r32)
        if (bits == 32) COMPARE(uint32_t, em_r32)
        if (bits == 64 && sign) COMPARE(int64_t, em_r64)
        if (bits == 64) COMPARE(uint64_t, em_r64)
        uint32_t out = 0;
        for (int l = 0; l < EM_LANES; l++)
            out |= (uint32_t)((i->compare.outcomes &
                               outcome_integer(em_get(w, a, l), em_get(w, b, l), bits, sign)) != 0)
                   << l;
        return out;
    }
    num_format format = em_format_of(type);
    uint32_t out = 0;
    static const uint8_t bit[5] = {[NUM_UNORDERED] = 8, [NUM_LESS] = 1, [NUM_EQUAL] = 2, [NUM_GREATER] = 4};
    if (type == PTX_f32 && !em_has(i, EM_M_ftz)) {
        const uint32_t *x = em_r32(w, a), *y = em_r32(w, b);
        for (int l = 0; l < EM_LANES; l++) {
            float p, q;
            memcpy(&p, &x[l], 4);
            memcpy(&q, &y[l], 4);
            uint32_t r = p < q ? 1 : p == q ? 2 : p > q ? 4 : 8;
            t[l] = (i->compare.outcomes & r) != 0;
        }
        return pack_mask(t);
    }
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        int l = __builtin_ctz(rest);
        out |=
            (uint32_t)((i->compare.outcomes &
                        bit[num_compare(format, em_get(w, a, l), em_get(w, b, l), em_flags(i) & NUM_FTZ)]) !=
                       0)
            << l;
    }
    return out;
}

/* c: the comparison. Returns it combined with a predicate; setp calls it with c for d and !c for p. */
static uint32_t combine_predicate(const em_inst *i, uint32_t c, uint32_t other)
{
    if (em_has(i, EM_M_and)) return c & other;
    if (em_has(i, EM_M_or)) return c | other;
    if (em_has(i, EM_M_xor)) return c ^ other;
    return c;
}

/* Operands: d, p ('_' if absent), a, b, c. */
static void run_setp(em_warp *w, const em_inst *i, uint32_t mask)
{
    uint32_t r = compare_lanes(w, i, &i->o[2], &i->o[3], mask),
             c = i->count > 4 ? em_mask_of(w, &i->o[4]) : 0;
    em_set_mask(w, &i->o[0], mask, combine_predicate(i, r, c));
    if (i->o[1].kind == EM_O_VALUE) em_set_mask(w, &i->o[1], mask, combine_predicate(i, ~r, c));
}

/* set: true is all ones or 1.0. */
static void run_set(em_warp *w, const em_inst *i, uint32_t mask)
{
    uint32_t r = combine_predicate(i, compare_lanes(w, i, &i->o[2], &i->o[3], mask),
                                   i->count > 4 ? em_mask_of(w, &i->o[4]) : 0);
    uint64_t yes = i->type == PTX_f32    ? 0x3f800000
                   : i->type == PTX_f16  ? 0x3c00
                   : i->type == PTX_bf16 ? 0x3f80
                                         : UINT64_MAX;
    EM_EACH(mask, em_set(w, &i->o[0], l, r >> l & 1 ? yes : 0));
}

/* Compares two halves, each with its own predicate (setp.f16x2) or half of the result (set). */
static void run_compare_halves(em_warp *w, const em_inst *i, uint32_t mask)
{
    uint32_t out[2] = {0};
    static const uint8_t bit[5] = {[NUM_UNORDERED] = 8, [NUM_LESS] = 1, [NUM_EQUAL] = 2, [NUM_GREATER] = 4};
    num_format format = em_format_of((ptx_type)i->compare.type);
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        int l = __builtin_ctz(rest);
        uint64_t a = em_get(w, &i->o[2], l), b = em_get(w, &i->o[3], l);
        for (int h = 0; h < 2; h++) {
            int r =
                num_compare(format, a >> (16 * h) & 0xffff, b >> (16 * h) & 0xffff, em_flags(i) & NUM_FTZ);
            out[h] |= (uint32_t)((i->compare.outcomes & bit[r]) != 0) << l;
        }
    }
    uint32_t c = i->count > 4 ? em_mask_of(w, &i->o[4]) : 0;
    for (int h = 0; h < 2; h++) out[h] = combine_predicate(i, out[h], c);
    if (i->o[0].bytes == 0) {
        em_set_mask(w, &i->o[0], mask, out[0]);
        em_set_mask(w, &i->o[1], mask, out[1]);
        return;
    }
    uint64_t yes = i->type == PTX_f16x2 ? 0x3c00 : i->type == PTX_bf16x2 ? 0x3f80 : 0xffff;
    EM_EACH(mask, em_set(w, &i->o[0], l, (out[0] >> l & 1 ? yes : 0) | (out[1] >> l & 1 ? yes : 0) << 16));
}

static cute_status outcomes_of(em_parser *p, const em_raw *raw, em_inst *i)
{
    bool real = ptx_types[i->compare.type].kind == PTX_FLOAT;
    for (size_t n = 0; n < sizeof comparisons / sizeof *comparisons; n++)
        if (em_has(i, comparisons[n].modifier)) {
            i->compare.outcomes = comparisons[n].outcomes;
            i->compare.is_unsigned = comparisons[n].is_unsigned;
        }
    if (!i->compare.outcomes) return em_wrong(p, raw, "expected a comparison: .eq, .lt, ...");
    /* For integers .ne covers all outcomes but equal; for floats it is ordered like the others. */
    if (!real && i->compare.outcomes > 6)
        return em_wrong(p, raw, "unordered comparisons require a floating-point type");
    return CUTE_OK;
}

cute_status em_decode_compare(em_parser *p, const em_raw *raw, em_inst *i)
{
    bool set = i->opcode == EM_OP_set; /* set.cmp.dtype.stype d, a, b, c */
    bool second = raw->second;
    int extra = (em_has(i, EM_M_and) || em_has(i, EM_M_or) || em_has(i, EM_M_xor)) ? 1 : 0;
    int count = 3 + extra + second;
    CUTE_TRY(em_operands(p, raw, count, count));
    em_operand *o = cute_arena_array(p->arena, 6, sizeof *o);
    if (!o) return cute_fail_memory(p->diag);
    o[0] = raw->o[0];
    o[1] = second ? raw->o[1] : (em_operand){.kind = EM_O_NONE};
    memcpy(o + 2, raw->o + 1 + second, (size_t)(2 + extra) * sizeof *o);
    i->o = o;
    i->count = (uint8_t)(4 + extra);
    i->compare.type = set ? i->types[1] : i->type;
    if (i->type_count != (set ? 2 : 1)) return em_wrong(p, raw, "expected a type");
    CUTE_TRY(outcomes_of(p, raw, i));
    ptx_type source = (ptx_type)i->compare.type;
    bool pair = source == PTX_f16x2 || source == PTX_bf16x2;
    if (ptx_types[source].bytes < 2 || ptx_types[source].bytes > 8) return em_unknown(p, raw);
    CUTE_TRY(em_target(p, raw, i, 0, set ? (ptx_type)i->type : PTX_pred, !set));
    CUTE_TRY(em_target(p, raw, i, 1, PTX_pred, true));
    CUTE_TRY(em_source(p, raw, i, 2, source));
    CUTE_TRY(em_source(p, raw, i, 3, source));
    if (extra) CUTE_TRY(em_predicate(p, raw, i, 4, false));
    i->run = pair ? run_compare_halves : set ? run_set : run_setp;
    return CUTE_OK;
}

/* ---- selections ---- */

static void run_selp(em_warp *w, const em_inst *i, uint32_t mask)
{
    uint32_t c = em_mask_of(w, &i->o[3]);
    if (i->o[0].bytes == 8) {
        uint64_t *d = em_r64(w, &i->o[0]);
        const uint64_t *a = em_r64(w, &i->o[1]), *b = em_r64(w, &i->o[2]);
        EM_EACH(mask, d[l] = c >> l & 1 ? a[l] : b[l]);
    } else {
        uint32_t *d = em_r32(w, &i->o[0]);
        const uint32_t *a = em_r32(w, &i->o[1]), *b = em_r32(w, &i->o[2]);
        EM_EACH(mask, d[l] = c >> l & 1 ? a[l] : b[l]);
    }
}

cute_status em_decode_selp(em_parser *p, const em_raw *raw, em_inst *i)
{
    CUTE_TRY(em_operands(p, raw, 4, 4));
    if (!i->type_count || ptx_types[i->type].bytes < 2 || ptx_types[i->type].bytes > 8)
        return em_unknown(p, raw);
    CUTE_TRY(em_target(p, raw, i, 0, (ptx_type)i->type, false));
    CUTE_TRY(em_source(p, raw, i, 1, (ptx_type)i->type));
    CUTE_TRY(em_source(p, raw, i, 2, (ptx_type)i->type));
    i->run = run_selp;
    return em_predicate(p, raw, i, 3, false);
}

uint64_t em_lane_slct(const em_inst *i, uint64_t a, uint64_t b, uint64_t c)
{
    if (i->types[1] == PTX_s32) return (int32_t)c >= 0 ? a : b;
    float f;
    uint32_t word = (uint32_t)c;
    if (em_has(i, EM_M_ftz) && (word & 0x7f800000) == 0) word = 0;
    memcpy(&f, &word, sizeof f);
    return f >= 0 ? a : b;
}

cute_status em_decode_slct(em_parser *p, const em_raw *raw, em_inst *i)
{
    CUTE_TRY(em_operands(p, raw, 4, 4));
    if (i->type_count != 2 || ptx_types[i->type].bytes < 2 ||
        (i->types[1] != PTX_s32 && i->types[1] != PTX_f32))
        return em_unknown(p, raw);
    CUTE_TRY(em_target(p, raw, i, 0, (ptx_type)i->type, false));
    CUTE_TRY(em_source(p, raw, i, 1, (ptx_type)i->type));
    CUTE_TRY(em_source(p, raw, i, 2, (ptx_type)i->type));
    i->lane.function = em_lane_slct;
    i->run = em_run_lanes;
    return em_source(p, raw, i, 3, (ptx_type)i->types[1]);
}
