/* See evaluate.h. What is all known is run by the emulator; for the rest there is a row an opcode. */
#include "lib/report/kernel/evaluate.h"

enum { SLOT = 8 * EM_LANES };

uint32_t evaluate_bits(const em_operand *o)
{
    return o->bytes == 0 ? 1 : o->bytes <= 8 ? o->bytes * 8u : 0;
}

static bool add_operand(em_operand **list, int *count, em_operand *o)
{
    if (o->kind == EM_O_VECTOR) {
        for (int n = 0; n < o->count; n++)
            if (!add_operand(list, count, &o->list[n])) return false;
        return true;
    }
    if (o->kind == EM_O_MEMORY) return add_operand(list, count, &o->list[0]);
    if (o->kind != EM_O_VALUE && o->kind != EM_O_SREG && o->kind != EM_O_NONE) return true;
    if (*count == EVALUATE_OPERANDS) return false;
    list[(*count)++] = o;
    return true;
}

bool evaluate_operands(evaluation *e, const em_inst *inst)
{
    e->inst = inst;
    e->source_count = e->result_count = 0;
    if (!inst->count) return inst->control != EM_NEXT;
    for (int n = 0; n < inst->count; n++) {
        bool result = n < inst->results;
        if (!add_operand(result ? e->results : e->sources, result ? &e->result_count : &e->source_count,
                         &inst->o[n]))
            return false;
    }
    return true;
}

/* ---- by the emulator ---- */

static void put(const em_warp *w, const em_operand *o, const uint64_t at[LANES])
{
    if (!o->bytes) *em_r32(w, o) = 0;
    for (int l = 0; l < LANES; l++) em_set(w, o, l, at[l]);
}

/* Runs the instruction with its operands in slots; out[n] of result n. */
static void run(const evaluation *e, const uint64_t *const *in, uint64_t out[][LANES])
{
    em_operand top[8], lists[EVALUATE_OPERANDS];
    em_inst copy = *e->inst;
    int slot = 0, next = 0, source = 0;
    for (int n = 0; n < copy.count && n < 8; n++) {
        top[n] = e->inst->o[n];
        em_operand *list = &top[n];
        int count = 1;
        if (top[n].kind == EM_O_VECTOR) {
            count = top[n].count;
            memcpy(&lists[next], top[n].list, (size_t)count * sizeof *lists);
            top[n].list = list = &lists[next];
            next += count;
        }
        for (int k = 0; k < count; k++) {
            if (list[k].kind != EM_O_VALUE) {
                source += n >= copy.results && (list[k].kind == EM_O_NONE || list[k].kind == EM_O_SREG);
                continue;
            }
            list[k].base = EM_BASE_REGISTERS;
            list[k].at = (uint32_t)(slot++ * SLOT);
            list[k].negated = false;
            if (n >= copy.results) put(e->scratch, &list[k], in[source++]);
        }
    }
    copy.o = top;
    copy.run(e->scratch, &copy, UINT32_MAX);
    int result = 0;
    for (int n = 0; n < copy.results && n < copy.count; n++) {
        const em_operand *list = top[n].kind == EM_O_VECTOR ? top[n].list : &top[n];
        for (int k = 0; k < (top[n].kind == EM_O_VECTOR ? top[n].count : 1); k++, result++)
            for (int l = 0; l < LANES && list[k].kind == EM_O_VALUE; l++)
                out[result][l] = em_get(e->scratch, &list[k], l);
    }
}

/* Its executor needs nothing but registers. */
static bool is_pure(const em_inst *i)
{
    bool class = i->class == EM_CLASS_INTEGER || i->class == EM_CLASS_FLOAT ||
                 i->class == EM_CLASS_CONVERSION || i->class == EM_CLASS_MOVE;
    if (!class || !i->count || i->count > 8 || i->control != EM_NEXT || em_has(i, EM_M_cc)) return false;
    switch (i->opcode) {
    case EM_OP_addc:
    case EM_OP_subc:
    case EM_OP_madc:
    case EM_OP_isspacep:
    case EM_OP_mapa:
    case EM_OP_getctarank:
    case EM_OP_createpolicy: return false;
    default: return true;
    }
}

/* ---- rows ---- */

static bool is_integer(const em_inst *i)
{
    ptx_kind kind = ptx_types[i->type].kind;
    return kind != PTX_FLOAT && ptx_types[i->type].count <= 1 && !em_has(i, EM_M_sat) && !em_has(i, EM_M_cc);
}

static bool is_signed(ptx_type type)
{
    return ptx_types[type].kind == PTX_SIGNED;
}

/* A number that is the same in all lanes. */
static bool number(const lane_values *v, uint64_t *out)
{
    *out = v->at[0];
    return lanes_known(v) && lanes_uniform(v);
}

static bool do_add(evaluation *e)
{
    if (!is_integer(e->inst)) return false;
    e->out[0] = lanes_add(e->in[0], e->in[1]);
    return true;
}

static bool do_sub(evaluation *e)
{
    if (!is_integer(e->inst)) return false;
    e->out[0] = lanes_sub(e->in[0], e->in[1]);
    return true;
}

static bool product(const evaluation *e, lane_values *out)
{
    const em_inst *i = e->inst;
    lane_values a = e->in[0], b = e->in[1];
    if (!is_integer(i) || em_has(i, EM_M_hi)) return false;
    if (em_has(i, EM_M_wide)) {
        a = lanes_resize(a, a.bits * 2u, is_signed((ptx_type)i->type));
        b = lanes_resize(b, b.bits * 2u, is_signed((ptx_type)i->type));
    }
    *out = lanes_mul(a, b);
    if (out->varies && !a.varies && !b.varies) {
        const char *why = lanes_uniform(&a) ? a.why : lanes_uniform(&b) ? b.why : NULL;
        const char *text =
            why ? cute_arena_printf(e->arena, "lanes lie apart by a multiple of %s", why) : NULL;
        out->why = text ? text : "lanes lie apart by what is not known";
    }
    return true;
}

static bool do_mul(evaluation *e)
{
    return product(e, &e->out[0]);
}

static bool do_mad(evaluation *e)
{
    lane_values a;
    if (!product(e, &a)) return false;
    e->out[0] = lanes_add(a, e->in[2]);
    return true;
}

static bool do_neg(evaluation *e)
{
    if (!is_integer(e->inst)) return false;
    e->out[0] = lanes_sub(lanes_constant(e->in[0].bits, 0), e->in[0]);
    return true;
}

static bool do_shift(evaluation *e)
{
    uint64_t by;
    const em_inst *i = e->inst;
    if (!number(&e->in[1], &by)) return false;
    if (by > 64) by = 64;
    e->out[0] = i->opcode == EM_OP_shl ? lanes_shl(e->in[0], (uint32_t)by)
                                       : lanes_shr(e->in[0], (uint32_t)by, is_signed((ptx_type)i->type));
    return true;
}

static void run_bits(void *context, const uint64_t *const operands[3], uint64_t out[LANES])
{
    run(context, operands, (uint64_t(*)[LANES])out);
}

static bool do_bits(evaluation *e)
{
    if (e->result_count != 1 || e->source_count > 3) return false;
    e->out[0] = lanes_bitwise(run_bits, e, e->in, e->source_count, evaluate_bits(e->results[0]));
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
static bool do_bfe(evaluation *e)
{
    uint64_t from, length;
    if (is_signed((ptx_type)e->inst->type) || !number(&e->in[1], &from) || !number(&e->in[2], &length))
        return false;
    from &= 255, length &= 255;
    if (from >= e->in[0].bits) return false;
    e->out[0] = masked(lanes_shr(e->in[0], (uint32_t)from, false), lanes_ones((uint32_t)length));
    return true;
}

/* By a power of two. */
static bool do_div(evaluation *e)
{
    uint64_t by;
    if (!is_integer(e->inst) || is_signed((ptx_type)e->inst->type) || !number(&e->in[1], &by) || !by ||
        (by & (by - 1)))
        return false;
    e->out[0] = e->inst->opcode == EM_OP_div ? lanes_shr(e->in[0], (uint32_t)__builtin_ctzll(by), false)
                                             : masked(e->in[0], by - 1);
    return true;
}

static bool do_mov(evaluation *e)
{
    if (e->result_count == 1 && e->source_count == 1) {
        if (e->sources[0]->kind == EM_O_SREG) return false;
        e->out[0] = e->in[0];
        return true;
    }
    if (e->source_count != 1 || e->in[0].bits % (uint32_t)e->result_count) return false;
    uint32_t bits = e->in[0].bits / (uint32_t)e->result_count;
    for (int n = 0; n < e->result_count; n++)
        e->out[n] = lanes_resize(lanes_shr(e->in[0], bits * (uint32_t)n, false), bits, false);
    return true;
}

static bool do_cvt(evaluation *e)
{
    const em_inst *i = e->inst;
    ptx_type to = (ptx_type)i->types[0], from = (ptx_type)i->types[1];
    if (i->type_count != 2 || ptx_types[to].kind == PTX_FLOAT || ptx_types[from].kind == PTX_FLOAT ||
        em_has(i, EM_M_sat) || em_has(i, EM_M_pack) || ptx_types[from].bits > e->in[0].bits)
        return false;
    uint32_t bits = evaluate_bits(e->results[0]);
    lane_values v = lanes_resize(e->in[0], ptx_types[from].bits, false);
    if (ptx_types[to].bits < bits) v = lanes_resize(v, ptx_types[to].bits, is_signed(from));
    e->out[0] = lanes_resize(v, bits, ptx_types[to].bits < bits ? is_signed(to) : is_signed(from));
    return true;
}

static bool do_cvta(evaluation *e)
{
    const em_inst *i = e->inst;
    uint64_t window = i->space == EM_SHARED ? EM_SHARED_WINDOW : i->space == EM_LOCAL ? EM_LOCAL_WINDOW : 0;
    lane_values by = lanes_constant(e->in[0].bits, window);
    e->out[0] = !window ? e->in[0] : i->address.to_space ? lanes_sub(e->in[0], by) : lanes_add(e->in[0], by);
    return true;
}

static bool do_mapa(evaluation *e)
{
    if (e->in[0].bits != e->out[0].bits) return false;
    e->out[0] = lanes_add(e->in[0], lanes_same(e->in[0].bits, EM_RANK_SHIFT, "the block in the cluster"));
    return true;
}

static bool do_selp(evaluation *e)
{
    const lane_values *p = &e->in[2];
    if (lanes_known(p)) {
        uint32_t which = 0;
        for (int l = 0; l < LANES; l++) which |= (uint32_t)(p->at[l] & 1) << l;
        e->out[0] = lanes_select(which, &e->in[0], &e->in[1]);
        return true;
    }
    if (lanes_uniform(p))
        e->out[0] = lanes_either(e->in[0], e->in[1]);
    else if (lanes_equal(&e->in[0], &e->in[1]) && lanes_known(&e->in[0]))
        e->out[0] = e->in[0];
    else
        e->out[0] = lanes_vary(e->in[0].bits, p->why ? p->why : e->in[0].why);
    return true;
}

static bool do_setp(evaluation *e)
{
    const em_inst *i = e->inst;
    ptx_type type = (ptx_type)i->compare.type;
    bool equal = em_has(i, EM_M_eq) || em_has(i, EM_M_ne);
    bool swapped = em_has(i, EM_M_gt) || em_has(i, EM_M_le) || em_has(i, EM_M_hi) || em_has(i, EM_M_ls);
    bool inverse = em_has(i, EM_M_ne) || em_has(i, EM_M_ge) || em_has(i, EM_M_le) || em_has(i, EM_M_hs) ||
                   em_has(i, EM_M_ls);
    uint32_t outcome = 0;
    if (e->source_count != 2 || ptx_types[type].kind == PTX_FLOAT) return false;
    int known = lanes_compare(e->in[swapped ? 1 : 0], e->in[swapped ? 0 : 1],
                              equal ? LANES_EQUAL : LANES_LESS, &outcome);
    const char *why = e->in[0].why ? e->in[0].why : e->in[1].why;
    for (int n = 0; n < e->result_count; n++) {
        lane_values *out = &e->out[n];
        if (e->results[n]->kind != EM_O_VALUE) continue;
        *out = known < 0 ? lanes_vary(1, why) : known ? lanes_same(1, 0, why) : lanes_constant(1, 0);
        for (int l = 0; !known && l < LANES; l++) out->at[l] = (outcome >> l & 1) ^ inverse ^ (n == 1);
    }
    return true;
}

static bool do_shfl(evaluation *e)
{
    uint64_t lane, clamp;
    if (!em_has(e->inst, EM_M_idx) || !number(&e->in[1], &lane) || !number(&e->in[2], &clamp) ||
        (clamp & 0x1f1f) != 31 || e->in[0].varies)
        return false;
    e->out[0] = e->in[0];
    for (int l = 0; l < LANES; l++) e->out[0].at[l] = e->in[0].at[lane & 31];
    if (e->result_count > 1 && e->results[1]->kind == EM_O_VALUE) e->out[1] = lanes_constant(1, 1);
    return true;
}

/* The first lane that comes here. */
static bool do_elect(evaluation *e)
{
    uint32_t leader = e->mask ? (uint32_t)__builtin_ctz(e->mask) : 0;
    e->out[0] = lanes_constant(32, leader);
    e->out[1] = lanes_constant(1, 0);
    e->out[1].at[leader] = 1;
    return true;
}

/* What a warp knows in common. */
static bool do_common(evaluation *e)
{
    for (int n = 0; n < e->result_count; n++)
        if (e->results[n]->kind == EM_O_VALUE && evaluate_bits(e->results[n]))
            e->out[n] = lanes_same(evaluate_bits(e->results[n]), 0, "what the lanes found together");
    return true;
}

/* A test of one phase that all lanes ask for. */
static bool do_mbarrier(evaluation *e)
{
    for (int n = 0; n < e->source_count; n++)
        if (!lanes_uniform(&e->in[n])) return false;
    return (em_has(e->inst, EM_M_test_wait) || em_has(e->inst, EM_M_try_wait)) && do_common(e);
}

static bool (*const rows[EM_OPCODES])(evaluation *) = {
    [EM_OP_add] = do_add,      [EM_OP_sub] = do_sub,           [EM_OP_mul] = do_mul,
    [EM_OP_mad] = do_mad,      [EM_OP_neg] = do_neg,           [EM_OP_shl] = do_shift,
    [EM_OP_shr] = do_shift,    [EM_OP_and] = do_bits,          [EM_OP_or] = do_bits,
    [EM_OP_xor] = do_bits,     [EM_OP_not] = do_bits,          [EM_OP_lop3] = do_bits,
    [EM_OP_bfe] = do_bfe,      [EM_OP_div] = do_div,           [EM_OP_rem] = do_div,
    [EM_OP_mov] = do_mov,      [EM_OP_cvt] = do_cvt,           [EM_OP_cvta] = do_cvta,
    [EM_OP_mapa] = do_mapa,    [EM_OP_selp] = do_selp,         [EM_OP_setp] = do_setp,
    [EM_OP_shfl] = do_shfl,    [EM_OP_elect] = do_elect,       [EM_OP_vote] = do_common,
    [EM_OP_redux] = do_common, [EM_OP_mbarrier] = do_mbarrier,
};

/* Computed in front of an instruction that accesses the thread's stack: only a launch has one. */
static bool is_frame_address(const em_inst *i)
{
    return i->hidden && i->count == 1;
}

/* Opcodes whose known operands are for the row, not for the emulator. */
static bool all_known(const evaluation *e)
{
    if (!is_pure(e->inst)) return false;
    for (int n = 0; n < e->source_count; n++)
        if (!lanes_known(&e->in[n]) || e->sources[n]->kind == EM_O_SREG) return false;
    for (int n = 0; n < e->result_count; n++)
        if (e->results[n]->kind == EM_O_VALUE && !evaluate_bits(e->results[n])) return false;
    return true;
}

static void evaluate_known(evaluation *e)
{
    static const uint64_t none[LANES];
    const uint64_t *in[EVALUATE_OPERANDS];
    uint64_t out[EVALUATE_OPERANDS][LANES] = {{0}};
    for (int n = 0; n < e->source_count; n++) in[n] = e->sources[n]->kind == EM_O_VALUE ? e->in[n].at : none;
    run(e, in, out);
    for (int n = 0; n < e->result_count; n++) {
        if (e->results[n]->kind != EM_O_VALUE) continue;
        e->out[n] = lanes_constant(evaluate_bits(e->results[n]), 0);
        memcpy(e->out[n].at, out[n], sizeof out[n]);
    }
}

void evaluate(evaluation *e)
{
    const char *why = NULL, *varying = NULL;
    bool uniform = is_pure(e->inst), wide = false;
    for (int n = 0; n < e->result_count; n++) {
        uint32_t bits = evaluate_bits(e->results[n]);
        wide |= !bits && e->results[n]->kind == EM_O_VALUE;
        e->out[n] = lanes_vary(bits ? bits : 64, NULL);
    }
    if (is_frame_address(e->inst)) {
        e->out[0] = lanes_same(evaluate_bits(e->results[0]), 0, "an address of local memory");
        return;
    }
    if (all_known(e)) {
        evaluate_known(e);
        return;
    }
    for (int n = 0; n < e->source_count; n++) {
        if (!why) why = e->in[n].why;
        if (e->in[n].varies && !varying) varying = e->in[n].why;
        uniform &= lanes_uniform(&e->in[n]);
    }
    bool (*row)(evaluation *) = rows[e->inst->opcode];
    if (row && !wide && e->result_count && row(e)) return;
    for (int n = 0; n < e->result_count; n++) {
        uint32_t bits = evaluate_bits(e->results[n]);
        if (!bits) continue;
        if (uniform) {
            e->out[n] = lanes_same(bits, 0, why);
            continue;
        }
        if (e->inst->unread) varying = "the result of an instruction that is not looked at";
        if (!varying && e->inst->dataflow < EM_FLOW_LOAD && !e->out[n].why) {
            const char *text =
                cute_arena_printf(e->arena, "%s of what lanes differ in%s%s", em_instruction_name(e->inst),
                                  why ? ", and " : "", why ? why : "");
            if (text) varying = text;
        }
        e->out[n] = lanes_vary(bits, varying ? varying : e->out[n].why);
    }
}
