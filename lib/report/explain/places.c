/* Places in shared memory that data decide in part: which bits of an address are known of each lane, and which may be any.
 * A table that each thread has of its own, [thread][index], has its lanes a constant number of bytes apart, whatever the index. */
#include "lib/report/explain/context.h"

enum { DEEPEST = 12, SAMPLES = 16, MOST_OPERANDS = 4 };

/* at[l] + d of lane l, where d has bits of `any` alone. */
typedef struct place {
    uint64_t at[X_LANES], any;
} place;

static uint64_t up_to_highest(uint64_t any)
{
    return any ? UINT64_MAX >> __builtin_clzll(any) : 0;
}

static bool has_lanes(const place *p)
{
    for (int l = 1; l < X_LANES; l++)
        if (p->at[l] != p->at[0]) return true;
    return false;
}

static bool follow(const x_function *f, const x_operand *o, int depth, place *out);

static void add_place(place *to, const place *more)
{
    uint64_t both = to->any & more->any, any = to->any | more->any;
    for (int l = 0; l < X_LANES; l++) to->at[l] += more->at[l];
    to->any = both ? up_to_highest(any) << 1 | 1 : any;
}

static void shift_left(place *p, uint64_t by)
{
    for (int l = 0; l < X_LANES; l++) p->at[l] <<= by;
    p->any <<= by;
}

static uint64_t bits_of(const x_inst *i, uint64_t a, uint64_t b, uint64_t c)
{
    uint64_t r = 0;
    switch (i->op) {
    case X_AND: return a & b;
    case X_OR: return a | b;
    case X_XOR: return a ^ b;
    default:
        for (int k = 0; k < 8; k++)
            if (i->table >> k & 1) r |= (k & 4 ? a : ~a) & (k & 2 ? b : ~b) & (k & 1 ? c : ~c);
        return r;
    }
}

/* Bits of AND, OR, XOR, LOP3 are each of the bits at their place; those of `at` and `any` must not meet. */
static bool join_bits(const x_inst *i, const place *in, unsigned count, place *out)
{
    uint64_t ones = i->bits && i->bits < 64 ? (UINT64_C(1) << i->bits) - 1 : UINT64_MAX;
    for (unsigned n = 0; n < count; n++)
        for (int l = 0; l < X_LANES; l++)
            if (in[n].at[l] & in[n].any) return false;
    *out = (place){.any = 0};
    for (int l = 0; l < X_LANES; l++) {
        uint64_t value[3] = {0};
        for (unsigned set = 0; set < 1u << count; set++) {
            for (unsigned n = 0; n < count; n++) value[n] = in[n].at[l] | (set >> n & 1 ? in[n].any : 0);
            uint64_t r = bits_of(i, value[0], value[1], value[2]) & ones;
            if (!set)
                out->at[l] = r;
            else
                out->any |= r ^ out->at[l];
        }
    }
    for (int l = 0; l < X_LANES; l++) out->at[l] &= ~out->any;
    return true;
}

static bool is_number(const place *p, uint64_t *out)
{
    *out = p->at[0];
    return !p->any && !has_lanes(p);
}

static bool multiply(const place *a, const place *b, place *out)
{
    uint64_t by;
    if (!is_number(b, &by) || by >= 1 << 16) return false;
    *out = *a;
    for (int l = 0; l < X_LANES; l++) out->at[l] *= by;
    if (out->any && by && !(by & (by - 1))) {
        out->any <<= __builtin_ctzll(by);
    } else if (out->any) {
        if (out->any >= UINT64_C(1) << 32) return false;
        out->any = up_to_highest(out->any * by) & ~((UINT64_C(1) << __builtin_ctzll(out->any * by)) - 1);
    }
    return true;
}

/* A loaded number of one or two bytes has no more bits; of others all are unknown. */
static bool begin(const x_inst *i, place *out)
{
    bool loads = i->access == CUTE_ACCESS_LOAD &&
                 (i->space == CUTE_CODE_SPACE_GLOBAL || i->space == CUTE_CODE_SPACE_GENERIC ||
                  i->space == CUTE_CODE_SPACE_SHARED);
    *out = (place){.any = UINT32_MAX};
    if (loads && (i->width == 1 || i->width == 2) && !x_has_word(i, ".s8") && !x_has_word(i, ".s16") &&
        !x_has_word(i, ".S8") && !x_has_word(i, ".S16"))
        out->any = i->width == 1 ? 0xff : 0xffff;
    return loads;
}

static bool follow_value(const x_function *f, const x_inst *i, int depth, place *out)
{
    place in[MOST_OPERANDS];
    unsigned count = x_sources(i);
    uint64_t by;
    if (i->access != CUTE_ACCESS_NONE) return begin(i, out);
    if (i->op == X_OTHER || !count || count > MOST_OPERANDS || i->guard >= 0) return false;
    for (unsigned n = 0; n < count; n++)
        if (!follow(f, &i->uses[n], depth + 1, &in[n])) return false;
    *out = in[0];
    switch (i->op) {
    case X_MOV: return true;
    case X_EXTEND:
        if (i->shift < 64 && has_lanes(out)) return !(out->any >> i->shift);
        if (i->shift < 64) out->any &= (UINT64_C(1) << i->shift) - 1;
        return !i->is_signed || !(out->any >> (i->shift - 1));
    case X_ADD:
        for (unsigned n = 1; n < count; n++) add_place(out, &in[n]);
        return true;
    case X_LEA:
        shift_left(out, i->shift);
        if (count > 1) add_place(out, &in[1]);
        return true;
    case X_SHL:
        if (count < 2 || !is_number(&in[1], &by) || by > 31) return false;
        shift_left(out, by);
        return true;
    case X_SHR:
        if (count < 2 || !is_number(&in[1], &by) || by > 31 || has_lanes(out)) return false;
        for (int l = 0; l < X_LANES; l++) out->at[l] >>= by;
        out->any >>= by;
        return true;
    case X_BFE:
        if (count < 3 || i->is_signed || has_lanes(out) || !is_number(&in[1], &by) || by > 31) return false;
        out->any >>= by;
        if (!is_number(&in[2], &by) || by > 31) return false;
        out->any &= (UINT64_C(1) << by) - 1;
        return true;
    case X_MUL:
    case X_MAD:
        if (count < 2 || (!multiply(&in[0], &in[1], out) && !multiply(&in[1], &in[0], out))) return false;
        if (i->op == X_MAD && count > 2) add_place(out, &in[2]);
        return true;
    case X_AND:
    case X_OR:
    case X_XOR:
    case X_LOP3: return count <= 3 && i->compare != X_NONZERO && join_bits(i, in, count, out);
    default: return false;
    }
}

static bool follow(const x_function *f, const x_operand *o, int depth, place *out)
{
    bool known = true;
    *out = (place){.any = 0};
    for (int l = 0; l < X_LANES && known; l++) known = x_operand_lane(f, o, l, &out->at[l]);
    if (known) return true;
    *out = (place){.any = 0};
    if (o->kind != X_VAR || o->negative || o->inverted || depth > DEEPEST) return false;
    const x_value *v = x_use(f, o);
    return v->inst >= 0 && follow_value(f, &f->insts[v->inst], depth, out);
}

/* Numbers that repeat from run to run. */
static uint64_t next_number(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return *state >> 24;
}

bool x_expected_wavefronts(const x_function *f, const x_inst *i, x_scatter *out)
{
    place at, more;
    uint64_t seed = 1, sample[X_LANES];
    uint32_t active = x_active(f, i);
    unsigned width = i->width ? i->width : 4;
    double sum = 0;
    *out = (x_scatter){0};
    if (i->address < 0 || i->flags & F_TENSOR_LOAD || !follow(f, &i->uses[i->address], 0, &at)) return false;
    if (i->address2 >= 0) {
        if (!follow(f, &i->uses[i->address2], 0, &more)) return false;
        add_place(&at, &more);
    }
    if (!at.any) return false;
    /* All of shared memory, where all bits are unknown. */
    at.any &= 0xffff;
    at.any &= ~(uint64_t)(width - 1);
    for (int k = 0; k < SAMPLES; k++) {
        for (int l = 0; l < X_LANES; l++)
            sample[l] = (at.at[l] + (uint64_t)i->offset + (next_number(&seed) & at.any)) & UINT32_MAX;
        x_traffic t = x_wavefronts(sample, active, width, x_plain_load(i));
        sum += t.count;
        out->ideal = t.ideal;
    }
    out->count = sum / SAMPLES;
    /* Lanes that lie apart by more than the data can: each has a part of its own. */
    out->stride = (int64_t)(at.at[1] - at.at[0]);
    out->apart = out->stride > 0 && (uint64_t)out->stride > at.any;
    for (int l = 1; l < X_LANES; l++) out->apart &= (int64_t)(at.at[l] - at.at[l - 1]) == out->stride;
    return true;
}
