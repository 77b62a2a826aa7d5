/* Data-dependent addresses in shared memory: the known bits of each lane's address and the unknown ones. In a table per thread,
 * [thread][index], the stride between lanes is constant for any index. */
#include "lib/report/explain/context.h"

enum { DEEPEST = 12, SAMPLES = 16, MOST_OPERANDS = 4 };

/* The address of lane l is at[l] + d, where d is unknown and has no bits outside `any`. */
typedef struct place {
    uint64_t at[LANES], any;
} place;

/* All bits up to the highest one set. */
static uint64_t fill_below_highest(uint64_t any)
{
    return any ? UINT64_MAX >> __builtin_clzll(any) : 0;
}

static bool differs_between_lanes(const place *p)
{
    for (int l = 1; l < LANES; l++)
        if (p->at[l] != p->at[0]) return true;
    return false;
}

static bool trace_operand(const ssa_function *f, const ssa_operand *o, int depth, place *out);

static void add_place(place *to, const place *more)
{
    uint64_t both = to->any & more->any, any = to->any | more->any;
    for (int l = 0; l < LANES; l++) to->at[l] += more->at[l];
    to->any = both ? fill_below_highest(any) << 1 | 1 : any;
}

static void shift_left(place *p, uint64_t by)
{
    for (int l = 0; l < LANES; l++) p->at[l] <<= by;
    p->any <<= by;
}

static uint64_t apply_bitwise(const ssa_inst *i, uint64_t a, uint64_t b, uint64_t c)
{
    uint64_t r = 0;
    switch (i->op) {
    case SSA_AND: return a & b;
    case SSA_OR: return a | b;
    case SSA_XOR: return a ^ b;
    default:
        for (int k = 0; k < 8; k++)
            if (i->table >> k & 1) r |= (k & 4 ? a : ~a) & (k & 2 ? b : ~b) & (k & 1 ? c : ~c);
        return r;
    }
}

/* AND, OR, XOR, LOP3 work bit by bit; false: an operand has the same bit in `at` and `any`. */
static bool combine_bitwise(const ssa_inst *i, const place *in, unsigned count, place *out)
{
    uint64_t ones = i->bits && i->bits < 64 ? (UINT64_C(1) << i->bits) - 1 : UINT64_MAX;
    for (unsigned n = 0; n < count; n++)
        for (int l = 0; l < LANES; l++)
            if (in[n].at[l] & in[n].any) return false;
    *out = (place){.any = 0};
    for (int l = 0; l < LANES; l++) {
        uint64_t value[3] = {0};
        for (unsigned set = 0; set < 1u << count; set++) {
            for (unsigned n = 0; n < count; n++) value[n] = in[n].at[l] | (set >> n & 1 ? in[n].any : 0);
            uint64_t r = apply_bitwise(i, value[0], value[1], value[2]) & ones;
            if (!set)
                out->at[l] = r;
            else
                out->any |= r ^ out->at[l];
        }
    }
    for (int l = 0; l < LANES; l++) out->at[l] &= ~out->any;
    return true;
}

static bool is_uniform_constant(const place *p, uint64_t *out)
{
    *out = p->at[0];
    return !p->any && !differs_between_lanes(p);
}

static bool multiply_places(const place *a, const place *b, place *out)
{
    uint64_t by;
    if (!is_uniform_constant(b, &by) || by >= 1 << 16) return false;
    *out = *a;
    for (int l = 0; l < LANES; l++) out->at[l] *= by;
    if (out->any && by && !(by & (by - 1))) {
        out->any <<= __builtin_ctzll(by);
    } else if (out->any) {
        if (out->any >= UINT64_C(1) << 32) return false;
        out->any = fill_below_highest(out->any * by) & ~((UINT64_C(1) << __builtin_ctzll(out->any * by)) - 1);
    }
    return true;
}

/* All bits of a loaded value are unknown; a zero-extended byte or short has no others. */
static bool trace_load(const ssa_inst *i, place *out)
{
    bool loads = i->access == CUTE_ACCESS_LOAD &&
                 (i->space == CUTE_CODE_SPACE_GLOBAL || i->space == CUTE_CODE_SPACE_GENERIC ||
                  i->space == CUTE_CODE_SPACE_SHARED);
    *out = (place){.any = UINT32_MAX};
    if (loads && (i->width == 1 || i->width == 2) && !ssa_has_word(i, ".s8") && !ssa_has_word(i, ".s16") &&
        !ssa_has_word(i, ".S8") && !ssa_has_word(i, ".S16"))
        out->any = i->width == 1 ? 0xff : 0xffff;
    return loads;
}

static bool trace_inst(const ssa_function *f, const ssa_inst *i, int depth, place *out)
{
    place in[MOST_OPERANDS];
    unsigned count = ssa_source_count(i);
    uint64_t by;
    if (i->access != CUTE_ACCESS_NONE) return trace_load(i, out);
    if (i->op == SSA_OTHER || !count || count > MOST_OPERANDS || i->guard >= 0) return false;
    for (unsigned n = 0; n < count; n++)
        if (!trace_operand(f, &i->uses[n], depth + 1, &in[n])) return false;
    *out = in[0];
    switch (i->op) {
    case SSA_MOV: return true;
    case SSA_EXTEND:
        if (i->shift < 64 && differs_between_lanes(out)) return !(out->any >> i->shift);
        if (i->shift < 64) out->any &= (UINT64_C(1) << i->shift) - 1;
        return !i->is_signed || !(out->any >> (i->shift - 1));
    case SSA_ADD:
        for (unsigned n = 1; n < count; n++) add_place(out, &in[n]);
        return true;
    case SSA_LEA:
        shift_left(out, i->shift);
        if (count > 1) add_place(out, &in[1]);
        return true;
    case SSA_SHL:
        if (count < 2 || !is_uniform_constant(&in[1], &by) || by > 31) return false;
        shift_left(out, by);
        return true;
    case SSA_SHR:
        if (count < 2 || !is_uniform_constant(&in[1], &by) || by > 31 || differs_between_lanes(out))
            return false;
        for (int l = 0; l < LANES; l++) out->at[l] >>= by;
        out->any >>= by;
        return true;
    case SSA_BFE:
        if (count < 3 || i->is_signed || differs_between_lanes(out) || !is_uniform_constant(&in[1], &by) ||
            by > 31)
            return false;
        out->any >>= by;
        if (!is_uniform_constant(&in[2], &by) || by > 31) return false;
        out->any &= (UINT64_C(1) << by) - 1;
        return true;
    case SSA_MUL:
    case SSA_MAD:
        if (count < 2 || (!multiply_places(&in[0], &in[1], out) && !multiply_places(&in[1], &in[0], out)))
            return false;
        if (i->op == SSA_MAD && count > 2) add_place(out, &in[2]);
        return true;
    case SSA_AND:
    case SSA_OR:
    case SSA_XOR:
    case SSA_LOP3: return count <= 3 && i->compare != SSA_NONZERO && combine_bitwise(i, in, count, out);
    default: return false;
    }
}

static bool trace_operand(const ssa_function *f, const ssa_operand *o, int depth, place *out)
{
    bool known = true;
    *out = (place){.any = 0};
    for (int l = 0; l < LANES && known; l++) known = ssa_operand_lane(f, o, l, &out->at[l]);
    if (known) return true;
    *out = (place){.any = 0};
    if (o->kind != SSA_VAR || o->negative || o->inverted || depth > DEEPEST) return false;
    const ssa_value *v = ssa_value_of(f, o);
    return v->inst >= 0 && trace_inst(f, &f->insts[v->inst], depth, out);
}

/* A reproducible pseudo-random sequence. */
static uint64_t next_number(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return *state >> 24;
}

bool explain_expected_wavefronts(const ssa_function *f, const ssa_inst *i, explain_scatter *out)
{
    place at, more;
    uint64_t seed = 1, sample[LANES];
    uint32_t active = ssa_active_lanes(f, i);
    unsigned width = i->width ? i->width : 4;
    double sum = 0;
    *out = (explain_scatter){0};
    if (i->address < 0 || i->flags & INST_TENSOR_LOAD || !trace_operand(f, &i->uses[i->address], 0, &at))
        return false;
    if (i->address2 >= 0) {
        if (!trace_operand(f, &i->uses[i->address2], 0, &more)) return false;
        add_place(&at, &more);
    }
    if (!at.any) return false;
    /* Unknown bits range over all of shared memory. */
    at.any &= 0xffff;
    at.any &= ~(uint64_t)(width - 1);
    for (int k = 0; k < SAMPLES; k++) {
        for (int l = 0; l < LANES; l++)
            sample[l] = (at.at[l] + (uint64_t)i->offset + (next_number(&seed) & at.any)) & UINT32_MAX;
        explain_traffic t = explain_wavefronts(sample, active, width, ssa_is_plain_load(i));
        sum += t.count;
        out->ideal = t.ideal;
    }
    out->count = sum / SAMPLES;
    /* A stride larger than the unknown part: the lanes' ranges do not overlap. */
    out->stride = (int64_t)(at.at[1] - at.at[0]);
    out->is_private = out->stride > 0 && (uint64_t)out->stride > at.any;
    for (int l = 1; l < LANES; l++) out->is_private &= (int64_t)(at.at[l] - at.at[l - 1]) == out->stride;
    return true;
}
