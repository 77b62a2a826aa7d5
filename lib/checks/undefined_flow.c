/* Propagation of undefined bytes through instructions: one rule per kind of data flow, for one lane. */
#include "lib/checks/undefined_flow.h"

/* Bytes of a value that are all zeros, or all ones. */
static uint32_t bytes_that_are(const em_warp *w, const em_operand *o, int lane, bool set)
{
    if (o->bytes > 8) return 0;
    uint64_t value = em_get(w, o, lane);
    uint32_t bits = 0;
    if (!o->bytes) return (value & 1) == set;
    for (int n = 0; n < o->bytes; n++) bits |= (uint32_t)((value >> 8 * n & 0xff) == (set ? 0xffu : 0u)) << n;
    return bits;
}

/* A byte is defined if one side decides it: 0 of an and, ones of an or. */
static uint32_t flow_and_or(const em_warp *w, const em_inst *i, int lane, bool or)
{
    const em_operand *a = &i->o[1], *b = &i->o[2];
    uint32_t in_a = bits_of(w, a, lane), in_b = bits_of(w, b, lane);
    return (in_a | in_b) & ~(bytes_that_are(w, a, lane, or) & ~in_a) &
           ~(bytes_that_are(w, b, lane, or) & ~in_b);
}

static uint32_t flow_shift(const em_warp *w, const em_inst *i, int lane)
{
    int bytes = bytes_of(&i->o[0]);
    uint32_t in = bits_of(w, &i->o[1], lane), out = 0;
    uint64_t by = em_get(w, &i->o[2], lane);
    bool left = i->opcode == EM_OP_shl, sign = ptx_types[i->type].kind == PTX_SIGNED;
    if (bits_of(w, &i->o[2], lane)) return ones(bytes);
    int amount = (int)(by > 64 ? 64 : by);
    for (int n = 0; n < bytes; n++)
        for (int bit = 8 * n; bit < 8 * n + 8; bit += 7) {
            int from = left ? bit - amount : bit + amount;
            if (sign && from >= 8 * bytes) from = 8 * bytes - 1;
            if (from >= 0 && from < 8 * bytes) out |= (in >> from / 8 & 1) << n;
        }
    return out;
}

/* bfi d, a, b, position, length: a field of b is replaced by a; a byte with bits of both depends on both. */
static uint32_t flow_insert(const em_warp *w, const em_inst *i, int lane, uint32_t *parts)
{
    uint32_t a = bits_of(w, &i->o[1], lane), b = bits_of(w, &i->o[2], lane), out = 0;
    int bytes = bytes_of(&i->o[0]);
    int from = (int)(em_get(w, &i->o[3], lane) & 0xff), to = from + (int)(em_get(w, &i->o[4], lane) & 0xff);
    *parts = 0;
    if (bits_of(w, &i->o[3], lane) || bits_of(w, &i->o[4], lane)) return ones(bytes);
    for (int n = 0; n < bytes; n++) {
        bool field = from < 8 * n + 8 && to > 8 * n, rest = from > 8 * n || to < 8 * n + 8;
        bool bad_field = field && a, bad_rest = rest && b >> n & 1;
        out |= (uint32_t)(bad_field || bad_rest) << n;
        if (field && rest) *parts |= (uint32_t)(bad_field != bad_rest) << n;
    }
    return out;
}

static uint32_t flow_extract(const em_warp *w, const em_inst *i, int lane)
{
    uint32_t in = bits_of(w, &i->o[1], lane), all = ones(bytes_of(&i->o[0]));
    int from = (int)(em_get(w, &i->o[2], lane) & 0xff), to = from + (int)(em_get(w, &i->o[3], lane) & 0xff);
    if (bits_of(w, &i->o[2], lane) || bits_of(w, &i->o[3], lane)) return all;
    for (int n = from / 8; n < bytes_of(&i->o[1]) && 8 * n < to; n++)
        if (in >> n & 1) return all;
    return 0;
}

static uint32_t flow_permute(const em_warp *w, const em_inst *i, int lane)
{
    uint32_t pair = bits_of(w, &i->o[1], lane) | bits_of(w, &i->o[2], lane) << 4, out = 0;
    bool plain = !em_has(i, EM_M_f4e) && !em_has(i, EM_M_b4e) && !em_has(i, EM_M_rc8) &&
                 !em_has(i, EM_M_ecl) && !em_has(i, EM_M_ecr) && !em_has(i, EM_M_rc16);
    if (!plain || bits_of(w, &i->o[3], lane)) return 15;
    for (int n = 0; n < 4; n++) out |= (pair >> (em_get(w, &i->o[3], lane) >> 4 * n & 7) & 1) << n;
    return out;
}

static uint32_t flow_select(const em_warp *w, const em_inst *i, int lane)
{
    const em_operand *a = &i->o[1], *b = &i->o[2];
    uint32_t in_a = bits_of(w, a, lane), in_b = bits_of(w, b, lane);
    if (!bits_of(w, &i->o[3], lane)) return em_get(w, &i->o[3], lane) ? in_a : in_b;
    bool same = !in_a && !in_b && em_get(w, a, lane) == em_get(w, b, lane);
    return same ? 0 : ones(bytes_of(&i->o[0]));
}

/* setp.cmp.and: false if the predicate is, whatever the comparison; .or: true. */
static uint32_t flow_compare(const em_warp *w, const em_inst *i, int lane)
{
    bool values = (bits_of(w, &i->o[2], lane) | bits_of(w, &i->o[3], lane)) != 0;
    bool with = i->count > 4, predicate = with && bits_of(w, &i->o[4], lane);
    uint32_t all = ones(bytes_of(&i->o[0]));
    if (!values || !with || predicate || em_has(i, EM_M_xor)) return values || predicate ? all : 0;
    return (em_get(w, &i->o[4], lane) != 0) == em_has(i, EM_M_or) ? 0 : all;
}

/* Halves of a pair are computed apart: cvt takes them from two sources, the first one's high. */
static uint32_t flow_halves(const em_warp *w, const em_inst *i, int lane)
{
    bool packs = i->opcode == EM_OP_cvt && i->count == 3;
    int half = bytes_of(&i->o[0]) / 2;
    uint32_t high = 0, low = 0;
    for (int n = 1; n < i->count; n++) {
        uint32_t in = bits_of(w, &i->o[n], lane);
        int part = bytes_of(&i->o[n]) / 2;
        if (packs ? n == 1 : in >> part) high |= in;
        if (packs ? n == 2 : in & ones(part)) low |= in;
    }
    return !half ? (high | low) != 0 : (low ? ones(half) : 0) | (high ? ones(half) << half : 0);
}

/* Integers keep their low bytes; wider results repeat the sign. */
static uint32_t flow_convert(const em_warp *w, const em_inst *i, int lane)
{
    ptx_type to = (ptx_type)i->type, from = (ptx_type)i->types[1];
    uint32_t in = bits_of(w, &i->o[1], lane), all = ones(bytes_of(&i->o[0]));
    bool plain = ptx_types[to].kind != PTX_FLOAT && ptx_types[from].kind != PTX_FLOAT &&
                 !em_has(i, EM_M_sat) && i->count == 2 && ptx_types[from].bytes;
    if (!plain) return all;
    in &= ones(ptx_types[from].bytes);
    if (ptx_types[from].kind == PTX_SIGNED && in >> (ptx_types[from].bytes - 1) & 1)
        in |= ~ones(ptx_types[from].bytes);
    return in & (ptx_types[to].bytes > ptx_types[from].bytes ? all : all & ones(ptx_types[to].bytes));
}

void em_flow_move(const em_warp *w, const em_inst *i, int lane, uint32_t origin)
{
    const em_operand *d = &i->o[0], *s = &i->o[1];
    if (d->kind == EM_O_VECTOR) {
        int bytes = ptx_types[i->type].bytes / d->count;
        uint32_t in = bits_of(w, s, lane);
        for (int n = 0; n < d->count; n++)
            set_bits(w, &d->list[n], lane, in >> n * bytes & ones(bytes), origin);
    } else if (s->kind == EM_O_VECTOR) {
        int bytes = ptx_types[i->type].bytes / s->count;
        uint32_t bits = 0;
        for (int n = 0; n < s->count; n++) bits |= (bits_of(w, &s->list[n], lane) & ones(bytes)) << n * bytes;
        set_bits(w, d, lane, bits, origin);
    } else {
        set_bits(w, d, lane, bits_of(w, s, lane), origin);
    }
}

uint32_t em_flow_parts(const em_warp *w, const em_inst *i, em_dataflow kind, int lane)
{
    uint32_t parts = 0;
    if (kind == EM_FLOW_INSERT) flow_insert(w, i, lane, &parts);
    if (kind == EM_FLOW_COPY || kind == EM_FLOW_CONVERT) return parts_of(w, &i->o[1], lane);
    if (kind != EM_FLOW_AND && kind != EM_FLOW_OR) return parts;
    const em_operand *a = &i->o[1], *b = &i->o[2];
    bool or = kind == EM_FLOW_OR;
    uint32_t in_a = bits_of(w, a, lane), in_b = bits_of(w, b, lane), pa = parts_of(w, a, lane),
             pb = parts_of(w, b, lane);
    /* Ones on the other side keep bits of an and undefined, zeros those of an or. */
    uint32_t one = in_a & ~in_b & (pa | ~bytes_that_are(w, b, lane, !or));
    uint32_t other = in_b & ~in_a & (pb | ~bytes_that_are(w, a, lane, !or));
    return one | other | (in_a & in_b & (or ? pa & pb : pa | pb));
}

uint32_t em_flow_bits(const em_warp *w, const em_inst *i, em_dataflow kind, int lane)
{
    uint32_t bits = 0, parts;
    switch (kind) {
    case EM_FLOW_INSERT: return flow_insert(w, i, lane, &parts);
    case EM_FLOW_EXTRACT: return flow_extract(w, i, lane);
    case EM_FLOW_CONVERT: return flow_convert(w, i, lane);
    case EM_FLOW_AND: return flow_and_or(w, i, lane, false);
    case EM_FLOW_OR: return flow_and_or(w, i, lane, true);
    case EM_FLOW_SHIFT: return flow_shift(w, i, lane);
    case EM_FLOW_PERMUTE: return flow_permute(w, i, lane);
    case EM_FLOW_SELECT: return flow_select(w, i, lane);
    case EM_FLOW_COMPARE: return flow_compare(w, i, lane);
    case EM_FLOW_HALVES: return flow_halves(w, i, lane);
    default: break;
    }
    bool same = i->count == 3 && is_register(&i->o[1]) && is_register(&i->o[2]) && i->o[1].at == i->o[2].at;
    if (same && i->opcode == EM_OP_xor) return 0; /* xor r, a, a */
    for (int n = 1; n < i->count; n++) bits |= bits_of(w, &i->o[n], lane);
    return bits;
}
