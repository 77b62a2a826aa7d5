/* Executes instructions with known operands on the emulator, and evaluates operations that are not integer arithmetic. */
#include "lib/code/execute.h"

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

static void write_lanes(const em_warp *w, const em_operand *o, const uint64_t at[LANES])
{
    if (!o->bytes) *em_r32(w, o) = 0;
    for (int l = 0; l < LANES; l++) em_set(w, o, l, at[l]);
}

/* Executes the instruction with its operands in scratch registers; out[n] is result n. */
static void execute_on_emulator(const evaluation *e, const uint64_t *const *in, uint64_t out[][LANES])
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
            if (n >= copy.results) write_lanes(e->scratch, &list[k], in[source++]);
        }
    }
    copy.o = top;
    /* Nothing is pending in scratch registers. */
    (copy.behind_wgmma ? copy.behind_wgmma : copy.run)(e->scratch, &copy, UINT32_MAX);
    int result = 0;
    for (int n = 0; n < copy.results && n < copy.count; n++) {
        const em_operand *list = top[n].kind == EM_O_VECTOR ? top[n].list : &top[n];
        for (int k = 0; k < (top[n].kind == EM_O_VECTOR ? top[n].count : 1); k++, result++)
            for (int l = 0; l < LANES && list[k].kind == EM_O_VALUE; l++)
                out[result][l] = em_get(e->scratch, &list[k], l);
    }
}

bool evaluate_is_pure(const em_inst *i)
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

/* ---- other operations ---- */

/* {lo, hi} = register */
static bool do_mov(evaluation *e)
{
    if (e->result_count < 2 || e->source_count != 1 || e->in[0].bits % (uint32_t)e->result_count)
        return false;
    uint32_t bits = e->in[0].bits / (uint32_t)e->result_count;
    for (int n = 0; n < e->result_count; n++)
        e->out[n] = lanes_resize(lanes_shr(e->in[0], bits * (uint32_t)n, false), bits, false);
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
    e->out[0] =
        lanes_add(e->in[0], lanes_same(e->in[0].bits, EM_RANK_SHIFT, "the block's rank in the cluster"));
    return true;
}

static bool do_shfl(evaluation *e)
{
    uint64_t lane, clamp;
    if (!em_has(e->inst, EM_M_idx) || !lanes_single(&e->in[1], &lane) || !lanes_single(&e->in[2], &clamp) ||
        (clamp & 0x1f1f) != 31 || e->in[0].varies)
        return false;
    e->out[0] = e->in[0];
    for (int l = 0; l < LANES; l++) e->out[0].at[l] = e->in[0].at[lane & 31];
    if (e->result_count > 1 && e->results[1]->kind == EM_O_VALUE) e->out[1] = lanes_constant(1, 1);
    return true;
}

/* The first active lane. */
static bool do_elect(evaluation *e)
{
    uint32_t leader = e->mask ? (uint32_t)__builtin_ctz(e->mask) : 0;
    e->out[0] = lanes_constant(32, leader);
    e->out[1] = lanes_constant(1, 0);
    e->out[1].at[leader] = 1;
    return true;
}

/* Unknown uniform results. */
static bool do_uniform(evaluation *e)
{
    for (int n = 0; n < e->result_count; n++)
        if (e->results[n]->kind == EM_O_VALUE && evaluate_bits(e->results[n]))
            e->out[n] = lanes_same(evaluate_bits(e->results[n]), 0, "the result of a warp vote or reduction");
    return true;
}

/* A test of an mbarrier with uniform operands. */
static bool do_mbarrier(evaluation *e)
{
    for (int n = 0; n < e->source_count; n++)
        if (!lanes_uniform(&e->in[n])) return false;
    return (em_has(e->inst, EM_M_test_wait) || em_has(e->inst, EM_M_try_wait)) && do_uniform(e);
}

static bool (*const rows[EM_OPCODES])(evaluation *) = {
    [EM_OP_mov] = do_mov,       [EM_OP_cvta] = do_cvta,         [EM_OP_mapa] = do_mapa,
    [EM_OP_shfl] = do_shfl,     [EM_OP_elect] = do_elect,       [EM_OP_vote] = do_uniform,
    [EM_OP_redux] = do_uniform, [EM_OP_mbarrier] = do_mbarrier,
};

bool evaluate_other(evaluation *e)
{
    bool (*row)(evaluation *) = rows[e->inst->opcode];
    return !e->inst->hidden && row && e->result_count && row(e);
}

static bool all_known(const evaluation *e)
{
    if (!evaluate_is_pure(e->inst)) return false;
    for (int n = 0; n < e->source_count; n++)
        if (!lanes_known(&e->in[n]) || e->sources[n]->kind == EM_O_SREG) return false;
    for (int n = 0; n < e->result_count; n++)
        if (e->results[n]->kind == EM_O_VALUE && !evaluate_bits(e->results[n])) return false;
    return true;
}

bool evaluate_known(evaluation *e)
{
    static const uint64_t none[LANES];
    const uint64_t *in[EVALUATE_OPERANDS];
    uint64_t out[EVALUATE_OPERANDS][LANES];
    if (!all_known(e)) return false;
    memset(out, 0, (size_t)e->result_count * sizeof *out);
    for (int n = 0; n < e->source_count; n++) in[n] = e->sources[n]->kind == EM_O_VALUE ? e->in[n].at : none;
    execute_on_emulator(e, in, out);
    for (int n = 0; n < e->result_count; n++) {
        if (e->results[n]->kind != EM_O_VALUE) continue;
        e->out[n] = lanes_constant(evaluate_bits(e->results[n]), 0);
        memcpy(e->out[n].at, out[n], sizeof out[n]);
    }
    return true;
}
