/* Abstract interpretation of a PTX function: the lanes of operands, the effect of instructions, and the fixed point over basic
 * blocks for any arguments and loop iterations. */
#include "lib/code/function.h"

#include <string.h>

#include "lib/base/list.h"
#include "lib/code/execute.h"
#include "lib/emulator/program/program.h"

enum { PASSES = 64, SLOTS = EVALUATE_OPERANDS * 2 };

/* The blocks of a loop with a divergent exit: from the branch to its reconvergence, including the branch. */
typedef struct ssa_region {
    uint8_t *has; /* by block */
} ssa_region;

bool ssa_run_begin(ssa_run *r, ssa_function *f, cute_arena *own, uint32_t warp, bool example)
{
    *r = (ssa_run){.f = f, .own = own, .example = example};
    f->warp = warp;
    for (size_t n = 0; n < f->value_count; n++) f->values[n].lanes = NULL;
    if (f->sass) return true;
    evaluation *e = r->e = cute_arena_alloc(own, sizeof *e);
    em_warp *scratch = cute_arena_alloc(own, sizeof *scratch);
    uint8_t *slots = cute_arena_alloc(own, SLOTS * 8 * EM_LANES + 64);
    if (!e || !scratch || !slots) return false;
    e->arena = own;
    e->scratch = scratch;
    scratch->base[EM_BASE_REGISTERS] = slots + (64 - (uintptr_t)slots % 64) % 64;
    scratch->base[EM_BASE_SREGS] = (uint8_t *)scratch->sregs;
    return true;
}

/* ---- operands ---- */

static const int64_t *block_size(const ssa_run *r)
{
    return r->f->assume.block;
}

static lane_values thread_index(const ssa_run *r, ssa_sreg which)
{
    const int64_t *b = block_size(r);
    lane_values v = lanes_constant(32, 0);
    if (!b[0] && which != SSA_SREG_TID_X) return lanes_same(32, 0, "the thread index");
    for (int64_t l = 0; l < LANES; l++) {
        int64_t t = (int64_t)r->f->warp * LANES + l;
        v.at[l] = (uint64_t)(!b[0]                     ? l
                             : which == SSA_SREG_TID_X ? t % b[0]
                             : which == SSA_SREG_TID_Y ? t / b[0] % b[1]
                                                       : t / b[0] / b[1]);
    }
    if (!b[0]) v.free = 5;
    return v;
}

static lane_values lane_mask(ssa_sreg which)
{
    lane_values v = lanes_constant(32, 0);
    for (uint32_t l = 0; l < LANES; l++) {
        uint32_t bit = 1u << l, below = bit - 1;
        v.at[l] = which == SSA_SREG_LANE          ? l
                  : which == SSA_SREG_LANEMASK_EQ ? bit
                  : which == SSA_SREG_LANEMASK_LT ? below
                  : which == SSA_SREG_LANEMASK_LE ? (below | bit)
                  : which == SSA_SREG_LANEMASK_GT ? (uint32_t)~(below | bit)
                                                  : (uint32_t)~below;
    }
    return v;
}

static lane_values special_register(const ssa_run *r, ssa_sreg which)
{
    static const char *const names[] = {"%ctaid.x", "%ctaid.y", "%ctaid.z"};
    enum { GRID = 16 };
    switch (which) {
    case SSA_SREG_TID_X:
    case SSA_SREG_TID_Y:
    case SSA_SREG_TID_Z: return thread_index(r, which);
    case SSA_SREG_NTID_X:
    case SSA_SREG_NTID_Y:
    case SSA_SREG_NTID_Z:
        if (block_size(r)[0]) return lanes_constant(32, (uint64_t)block_size(r)[which - SSA_SREG_NTID_X]);
        return lanes_same(32, which == SSA_SREG_NTID_X ? 5 : 0, "the block size");
    case SSA_SREG_CTAID_X:
    case SSA_SREG_CTAID_Y:
    case SSA_SREG_CTAID_Z:
        return r->example ? lanes_constant(32, 0) : lanes_same(32, 0, names[which - SSA_SREG_CTAID_X]);
    case SSA_SREG_NCTAID_X:
    case SSA_SREG_NCTAID_Y:
    case SSA_SREG_NCTAID_Z: {
        int64_t n = r->f->assume.grid[which - SSA_SREG_NCTAID_X];
        return r->example ? lanes_constant(32, (uint64_t)(n ? n : GRID)) : lanes_same(32, 0, "the grid size");
    }
    case SSA_SREG_UNIFORM:
        return r->example ? lanes_constant(32, 0) : lanes_same(32, 0, "a special register");
    default: return lane_mask(which);
    }
}

static const char *parameter_name(const ssa_function *f, uint64_t offset)
{
    for (size_t n = 0; f->kernel && n < f->kernel->param_count; n++) {
        const em_variable *v = f->kernel->params[n];
        if (offset >= (uint64_t)v->offset && offset - (uint64_t)v->offset < (uint64_t)v->size) return v->name;
    }
    return NULL;
}

/* `bytes` of the parameter block at offset `at`, extended to `bits`. */
static lane_values parameter_lanes(const ssa_run *r, uint64_t at, uint32_t bytes, uint32_t bits,
                                   bool is_signed)
{
    uint64_t value;
    code_byte given = code_parameter(&r->f->assume, at, bytes, &value);
    if (given == CODE_BYTE_NUMBER) return lanes_resize(lanes_constant(bytes * 8, value), bits, is_signed);
    const char *name = parameter_name(r->f, at);
    const char *why = name ? cute_arena_printf(r->own, "the parameter '%s'", name) : "a parameter";
    lane_values v = lanes_same(bits, bytes == 8 ? 64 : 0, why);
    if (bytes == 8 && bits == 64 && at < UINT32_MAX) v.pointer = (uint32_t)at + 1;
    for (int l = 0; given == CODE_BYTE_POINTER && v.pointer && l < LANES; l++) v.at[l] = value;
    return v;
}

/* A value defined in a loop with a divergent exit is used after the loop. */
static bool leaves_divergent_loop(const ssa_run *r, uint32_t defined)
{
    for (size_t n = 0; n < r->region_count; n++)
        if (r->regions[n].has[defined] && !r->regions[n].has[r->current]) return true;
    return false;
}

static lane_values value_lanes(const ssa_run *r, const ssa_value *v, uint32_t bits)
{
    if (!v->lanes)
        return lanes_vary(bits,
                          v == r->f->values ? "an undefined register" : "a value that is not reached yet");
    if (!lanes_known(v->lanes) && leaves_divergent_loop(r, v->block))
        return lanes_vary(bits, "a loop that lanes exit in different iterations");
    return *v->lanes;
}

lane_values ssa_operand_lanes(const ssa_run *r, const ssa_operand *o, uint32_t bits)
{
    lane_values v;
    if (o->bits) bits = o->bits;
    switch (o->kind) {
    case SSA_IMM: v = lanes_constant(bits, (uint64_t)o->imm); break;
    case SSA_ARG:
        v = r->example ? lanes_constant(bits, code_assumed_argument((uint64_t)o->imm))
                       : parameter_lanes(r, (uint64_t)o->imm, bits / 8, bits, false);
        break;
    case SSA_SREG:
        v = special_register(r, (ssa_sreg)o->imm);
        if (bits != v.bits) v = lanes_resize(v, bits, false);
        break;
    case SSA_VAR: v = value_lanes(r, ssa_value_of(r->f, o), bits); break;
    default: return lanes_vary(bits, "a value wider than 64 bits");
    }
    if (o->inverted && v.bits == 1) {
        for (int l = 0; l < LANES; l++) v.at[l] ^= 1;
    } else if (o->inverted) {
        v = lanes_sub(lanes_constant(v.bits, UINT64_MAX), v); /* ~x */
    }
    if (o->negative) v = lanes_sub(lanes_constant(v.bits, 0), v);
    return v;
}

/* ---- instructions ---- */

void ssa_set_lanes(ssa_run *r, ssa_value *v, const lane_values *lanes)
{
    if (v->lanes && lanes_equal(v->lanes, lanes)) return;
    lane_values *copy = cute_arena_alloc(r->own, sizeof *copy);
    if (copy)
        *copy = *lanes;
    else
        r->failed = true;
    r->changed = true;
    if (copy) v->lanes = copy;
}

lane_values ssa_source_lanes(const ssa_run *r, const ssa_inst *i, const em_operand *from)
{
    uint32_t bits = evaluate_bits(from);
    ssa_operand o = ssa_ptx_operand(r->f, from);
    if (from->kind == EM_O_SREG) return lanes_same(bits ? bits : 32, 0, "a clock");
    if (from->kind != EM_O_VALUE || !bits) return lanes_vary(bits ? bits : 64, "a value wider than 64 bits");
    for (unsigned u = 0; o.kind == SSA_VAR && u < i->use_count; u++) {
        const ssa_operand *use = &i->uses[u];
        if (use->kind != SSA_VAR || use->var != o.var) continue;
        o.value = use->value;
        lane_values v = ssa_operand_lanes(r, &o, bits);
        if (r->example) return lanes_resize(v, bits, false);
        return v.bits == bits ? v : lanes_vary(bits, "a register of a different size");
    }
    if (o.kind == SSA_VAR) return lanes_vary(bits, "a tensor-core register");
    return ssa_operand_lanes(r, &o, bits);
}

static void evaluate_parameter_load(const ssa_run *r, const em_operand *memory)
{
    evaluation *e = r->e;
    uint32_t bytes = ptx_types[e->inst->type].bytes;
    const lane_values *address = &e->in[0];
    bool known = lanes_known(address) && lanes_uniform(address);
    bool is_signed = ptx_types[e->inst->type].kind == PTX_SIGNED;
    for (int n = 0; n < e->result_count; n++) {
        uint32_t bits = evaluate_bits(e->results[n]);
        uint64_t at =
            (address->at[0] & (EM_WINDOW_SIZE - 1)) + (uint64_t)memory->offset + (uint64_t)n * bytes;
        if (bits)
            e->out[n] =
                known ? parameter_lanes(r, at, bytes, bits, is_signed) : lanes_same(bits, 0, "a parameter");
    }
}

/* A load is uniform if its address is; the result of an atomic is not. */
static void evaluate_load(const ssa_run *r)
{
    evaluation *e = r->e;
    const em_inst *i = e->inst;
    const em_operand *memory = i->count > 1 && i->o[1].kind == EM_O_MEMORY ? &i->o[1] : NULL;
    if (memory && i->opcode == EM_OP_ld && i->space == EM_PARAM) {
        evaluate_parameter_load(r, memory);
        return;
    }
    bool uniform = memory && i->space != EM_LOCAL && (i->opcode == EM_OP_ld || i->opcode == EM_OP_ldu) &&
                   lanes_uniform(&e->in[0]);
    for (int n = 0; n < e->result_count; n++) {
        uint32_t bits = evaluate_bits(e->results[n]);
        if (!bits) bits = 64;
        e->out[n] = uniform ? lanes_same(bits, 0, "a loaded value")
                            : lanes_vary(bits, i->opcode == EM_OP_atom ? "the result of an atomic"
                                               : i->space == EM_LOCAL  ? "a value from local memory"
                                                                       : "loaded values");
    }
}

/* Operations that are not evaluated: uniform if all operands are. */
static void evaluate_uniformity(evaluation *e, bool uniform)
{
    const char *why = NULL, *varying = NULL;
    for (int n = 0; n < e->source_count; n++) {
        if (!why) why = e->in[n].why;
        if (e->in[n].varies && !varying) varying = e->in[n].why;
        uniform &= lanes_uniform(&e->in[n]);
    }
    if (e->inst->unread) varying = "the result of an unsupported instruction";
    if (!varying && !uniform && e->inst->dataflow < EM_FLOW_LOAD)
        varying = cute_arena_printf(e->arena, "%s of lane-dependent values%s%s", em_instruction_name(e->inst),
                                    why ? " and " : "", why ? why : "");
    for (int n = 0; n < e->result_count; n++) {
        uint32_t bits = evaluate_bits(e->results[n]);
        if (bits) e->out[n] = uniform ? lanes_same(bits, 0, why) : lanes_vary(bits, varying);
    }
}

/* Integer operations; setp has a second result, the negation. */
static bool evaluate_integer(const ssa_inst *i, evaluation *e)
{
    lane_values v;
    if (i->op == SSA_OTHER || e->inst->hidden || !e->result_count || !evaluate_bits(e->results[0]))
        return false;
    if (!ssa_compute(e->arena, i, e->in, (unsigned)e->source_count, false, &v)) return false;
    uint32_t bits = evaluate_bits(e->results[0]);
    bool is_signed = i->op == SSA_EXTEND && ptx_types[e->inst->types[0]].kind == PTX_SIGNED;
    e->out[0] = lanes_resize(v, bits, is_signed);
    if (e->result_count == 2 && i->op == SSA_SETP) {
        e->out[1] = v;
        for (int l = 0; l < LANES && !v.varies; l++) e->out[1].at[l] ^= 1;
        return true;
    }
    return e->result_count == 1;
}

/* A stack address that the parser computes before an access to local memory; its value is known only in a launch. */
static bool is_frame_address(const em_inst *i)
{
    return i->hidden && i->count == 1;
}

static bool evaluate_ptx(ssa_run *r, const ssa_inst *i, uint32_t mask)
{
    evaluation *e = r->e;
    e->mask = mask;
    bool evaluated = i->ptx->unread || (i->ptx->class != EM_CLASS_TENSOR && i->ptx->opcode != EM_OP_wgmma);
    if (!evaluated || !evaluate_operands(e, i->ptx)) return false;
    for (int n = 0; n < e->source_count; n++) e->in[n] = ssa_source_lanes(r, i, e->sources[n]);
    for (int n = 0; n < e->result_count; n++) {
        uint32_t bits = evaluate_bits(e->results[n]);
        e->out[n] = lanes_vary(bits ? bits : 64, NULL);
    }
    if (is_frame_address(e->inst))
        e->out[0] = lanes_same(evaluate_bits(e->results[0]), 0, "an address of local memory");
    else if (e->inst->dataflow == EM_FLOW_LOAD || e->inst->opcode == EM_OP_atom)
        evaluate_load(r);
    else if (!evaluate_known(e) && !evaluate_other(e) && !evaluate_integer(i, e))
        evaluate_uniformity(e, evaluate_is_pure(e->inst));
    return true;
}

/* Lanes with a false guard keep the previous value. */
static lane_values merge_guarded(const ssa_run *r, const ssa_inst *i, lane_values made,
                                 const ssa_operand *before)
{
    lane_values guard = ssa_operand_lanes(r, &i->uses[i->guard], 1);
    const ssa_value *old = ssa_value_of(r->f, before);
    if (!old->lanes || old->lanes->bits != made.bits) return made;
    lane_values had = value_lanes(r, old, made.bits);
    if (lanes_known(&guard)) return lanes_select(lanes_true(&guard), &made, &had);
    if (lanes_uniform(&guard)) return lanes_either(made, had);
    return lanes_equal(&made, &had) ? made : lanes_vary(made.bits, guard.why);
}

void ssa_execute(ssa_run *r, const ssa_inst *i, uint32_t mask)
{
    evaluation *e = r->e;
    unsigned def = 0;
    if (!evaluate_ptx(r, i, mask)) {
        lane_values tensor = lanes_vary(32, "a tensor-core register");
        for (; def < i->def_count; def++) ssa_set_lanes(r, &r->f->values[i->first_value + def], &tensor);
        return;
    }
    for (int n = 0; n < e->result_count && def < i->def_count; n++) {
        const em_operand *o = e->results[n];
        if (o->kind != EM_O_VALUE || o->base != EM_BASE_REGISTERS) continue;
        uint32_t bits = evaluate_bits(o);
        lane_values v = e->out[n];
        if (v.bits != bits) v = lanes_vary(bits ? bits : 64, v.why);
        if (i->guard >= 0 && (unsigned)i->guard + 1 + def < i->use_count)
            v = merge_guarded(r, i, v, &i->uses[i->guard + 1 + (int)def]);
        ssa_set_lanes(r, &r->f->values[i->first_value + def++], &v);
    }
}

/* ---- needed instructions ---- */

typedef struct worklist {
    ssa_function *f;
    uint32_t *values;
    size_t count;
    bool *seen; /* by value */
} worklist;

static void need_operand(worklist *w, const ssa_operand *o)
{
    if (o->kind != SSA_VAR) return;
    uint32_t v = (uint32_t)(ssa_value_of(w->f, o) - w->f->values);
    if (w->seen[v]) return;
    w->seen[v] = true;
    w->values[w->count++] = v;
}

static void need_value(worklist *w, const ssa_value *v, uint32_t *count)
{
    ssa_operand o = {.kind = SSA_VAR};
    for (uint32_t k = 0; v->phi && k < v->arg_count; k++) {
        o.value = v->args[k];
        need_operand(w, &o);
    }
    if (v->inst < 0 || w->f->needed[v->inst]) return;
    const ssa_inst *i = &w->f->insts[v->inst];
    w->f->needed[v->inst] = 1;
    ++*count;
    for (unsigned u = 0; u < i->use_count; u++) need_operand(w, &i->uses[u]);
}

static void need_register(worklist *w, const ssa_inst *i, const em_operand *o)
{
    ssa_operand read = ssa_ptx_operand(w->f, o);
    for (unsigned u = 0; read.kind == SSA_VAR && u < i->use_count; u++)
        if (i->uses[u].kind == SSA_VAR && i->uses[u].var == read.var) {
            need_operand(w, &i->uses[u]);
            return;
        }
}

bool ssa_find_needed(ssa_function *f, uint32_t *count)
{
    cute_arena *own = cute_arena_create();
    if (!own) return false;
    worklist w = {.f = f,
                  .values = cute_arena_array(own, f->value_count + 1, sizeof *w.values),
                  .seen = cute_arena_array(own, f->value_count + 1, sizeof *w.seen)};
    f->needed = cute_arena_alloc(f->arena, f->count + 1);
    bool ok = w.values && w.seen && f->needed;
    *count = 0;
    for (size_t n = 0; ok && n < f->count; n++) {
        const ssa_inst *i = &f->insts[n];
        const em_inst *p = i->ptx;
        bool asked = p->control != EM_NEXT;
        for (int k = 0; k < p->count; k++) {
            if (p->o[k].kind != EM_O_MEMORY) continue;
            need_register(&w, i, &p->o[k].list[0]);
            asked = true;
        }
        if (p->opcode == EM_OP_cp && p->count > 3) need_register(&w, i, &p->o[3]);
        if (p->control == EM_BRANCH_INDEX) need_register(&w, i, &p->o[0]);
        if (asked && i->guard >= 0) need_operand(&w, &i->uses[i->guard]);
    }
    for (size_t n = 0; ok && n < w.count; n++) need_value(&w, &f->values[w.values[n]], count);
    cute_arena_destroy(own);
    return ok;
}

/* ---- blocks ---- */

typedef struct warp_walk {
    ssa_run run;
    uint32_t
        *seen[2]; /* by block: the number of the path that visited it last; the first path of this branch */
    uint32_t *visited, *stack;
    uint32_t first_path, last_path; /* numbers of the paths of this branch; of all */
} warp_walk;

/* Visits the blocks between `from` and `join` on path number `path`; appends those that no path of this branch has visited. */
static void visit_path(warp_walk *w, uint32_t from, uint32_t join, uint32_t path, uint32_t *count)
{
    ssa_function *f = w->run.f;
    uint32_t depth = 0;
    if (from == join || w->seen[0][from] == path) return;
    w->seen[0][from] = path;
    w->stack[depth++] = from;
    while (depth) {
        uint32_t at = w->stack[--depth];
        const cute_code_block *b = &f->flow->blocks[at];
        if (w->seen[1][at] < w->first_path) {
            w->visited[(*count)++] = at;
            w->seen[1][at] = path;
        } else if (w->seen[1][at] != path) {
            f->blocks[at].merges = true;
        }
        for (uint32_t e = 0; e < b->edge_count; e++) {
            uint32_t to = b->edges[e].to;
            if (to == join || w->seen[0][to] == path) continue;
            w->seen[0][to] = path;
            w->stack[depth++] = to;
        }
    }
}

/* The branch of block `b` diverges, and the lanes of each side are unknown. */
static void mark_divergent(warp_walk *w, uint32_t b)
{
    ssa_run *r = &w->run;
    ssa_function *f = r->f;
    const cute_code_block *block = &f->flow->blocks[b];
    const ssa_inst *last = &f->insts[block->first + block->count - 1];
    uint32_t count = 0, join = f->blocks[b].reconverge;
    if (f->blocks[b].diverges) return;
    f->blocks[b].diverges = true;
    r->changed = true;
    uint32_t path = w->first_path = w->last_path + 1;
    for (uint32_t e = 0; e < block->edge_count; e++) visit_path(w, block->edges[e].to, join, path++, &count);
    w->last_path = path;
    for (uint32_t n = 0; n < count; n++) f->blocks[w->visited[n]].partial = true;
    if (join != CUTE_NO_BLOCK && last->ptx->control != EM_EXIT) f->blocks[join].merges = true;
    if (w->seen[1][b] < w->first_path) return;
    uint8_t *has = cute_arena_alloc(r->own, f->flow->block_count);
    if (!has ||
        !cute_arena_more(r->own, &r->regions, r->region_count, &r->region_capacity, sizeof *r->regions, 8)) {
        r->failed = true;
        return;
    }
    for (uint32_t n = 0; n < count; n++) has[w->visited[n]] = 1;
    r->regions[r->region_count++] = (ssa_region){has};
}

/* The value of a phi, from the values at the ends of the predecessors. */
static void merge_phi(ssa_run *r, ssa_value *phi, const ssa_block *at, uint32_t b)
{
    const ssa_function *f = r->f;
    const lane_values *all = NULL;
    lane_values sum, incoming[1];
    uint32_t have = 0;
    bool leaves_loop = false;
    for (uint32_t k = 0; k < phi->arg_count; k++) {
        uint32_t lanes = at->edge_lanes[k], from = at->before[k];
        const ssa_value *arg = ssa_value_at(f, phi->args[k]);
        if (!lanes || !arg->lanes) continue;
        for (size_t n = 0; n < r->region_count; n++)
            leaves_loop |= r->regions[n].has[from] && !r->regions[n].has[b];
        r->current = from;
        *incoming = value_lanes(r, arg, arg->lanes->bits);
        if (!all) {
            sum = *incoming;
        } else if (!lanes_equal(all, incoming)) {
            if (all->bits != incoming->bits)
                sum = lanes_vary(all->bits, "a register of a different size");
            else if (!(have & lanes))
                sum = lanes_select(lanes, incoming, all);
            else if (at->merges)
                sum = lanes_vary(incoming->bits, "a value that depends on the branch each lane took");
            else
                sum = lanes_either(*all, *incoming);
            if (!sum.varies && !sum.why && !lanes_known(&sum)) sum.why = "the loop iteration";
        }
        all = &sum;
        have |= lanes;
    }
    if (!all) return;
    if (leaves_loop && !lanes_known(all))
        sum = lanes_vary(all->bits, "a loop that lanes exit in different iterations");
    ssa_set_lanes(r, phi, &sum);
}

/* Merges the active lanes and the phis of the incoming edges. */
static void enter_block(warp_walk *w, uint32_t b)
{
    ssa_run *r = &w->run;
    ssa_function *f = r->f;
    ssa_block *at = &f->blocks[b];
    uint32_t mask = b ? 0 : at->active;
    bool reachable = b == 0;
    for (uint32_t k = 0; k < at->before_count; k++) {
        mask |= at->edge_lanes[k];
        reachable |= at->edge_lanes[k] != 0;
    }
    r->changed |= mask != at->active || reachable != at->reachable;
    at->active = mask;
    at->reachable = reachable;
    if (!reachable) return;
    for (uint32_t p = at->first_phi; p; p = f->values[p].next_phi)
        if (f->values[p].same == p) merge_phi(r, &f->values[p], at, b);
    r->current = b;
}

static void set_edge_lanes(ssa_run *r, uint32_t from, uint32_t to, uint32_t mask)
{
    ssa_block *at = &r->f->blocks[to];
    for (uint32_t k = 0; k < at->before_count; k++) {
        if (at->before[k] != from) continue;
        r->changed |= at->edge_lanes[k] != mask;
        at->edge_lanes[k] = mask;
    }
}

/* Sets the active lanes of the outgoing edges. */
static void leave_block(warp_walk *w, uint32_t b)
{
    ssa_run *r = &w->run;
    const ssa_function *f = r->f;
    const cute_code_block *block = &f->flow->blocks[b];
    const ssa_inst *i = block->count ? &f->insts[block->first + block->count - 1] : NULL;
    uint32_t all = f->blocks[b].active, taken = all, rest = all;
    bool leaves = i && i->ptx->control != EM_NEXT;
    if (leaves && i->guard >= 0) {
        lane_values guard = ssa_operand_lanes(r, &i->uses[i->guard], 1);
        if (lanes_known(&guard)) {
            taken &= lanes_true(&guard);
            rest &= ~lanes_true(&guard);
        } else if (!lanes_uniform(&guard)) {
            mark_divergent(w, b);
        }
    }
    if (leaves && i->ptx->control == EM_BRANCH_INDEX && i->use_count) {
        lane_values which = ssa_operand_lanes(r, &i->uses[0], 32);
        if (!lanes_uniform(&which)) mark_divergent(w, b);
    }
    for (uint32_t e = 0; e < block->edge_count; e++) {
        const cute_code_edge *edge = &block->edges[e];
        uint32_t mask = edge->kind == CUTE_EDGE_NEXT ? (leaves ? rest : all) : taken;
        /* If both edges have the same target, it is listed once. */
        bool only = block->edge_count == 1 && leaves && i->guard >= 0 && i->ptx->control == EM_BRANCH;
        set_edge_lanes(r, b, edge->to, only ? all : mask);
    }
}

static bool begin_walk(warp_walk *w, ssa_function *f, cute_arena *own, uint32_t index)
{
    size_t blocks = f->flow->block_count;
    *w = (warp_walk){0};
    if (!ssa_run_begin(&w->run, f, own, index, false)) return false;
    for (int n = 0; n < 2; n++) w->seen[n] = cute_arena_array(own, blocks + 1, sizeof(uint32_t));
    w->visited = cute_arena_array(own, blocks + 1, sizeof *w->visited);
    w->stack = cute_arena_array(own, blocks + 1, sizeof *w->stack);
    if (!w->seen[0] || !w->seen[1] || !w->visited || !w->stack) return false;
    for (uint32_t b = 0; b < blocks; b++) {
        ssa_block *at = &f->blocks[b];
        at->reachable = at->partial = at->merges = at->diverges = false;
        at->active = 0;
        at->edge_lanes = cute_arena_array(own, at->before_count + 1, sizeof *at->edge_lanes);
        if (!at->edge_lanes) return false;
    }
    const int64_t *size = f->assume.block;
    int64_t left = size[0] ? size[0] * size[1] * size[2] - (int64_t)index * LANES : LANES;
    f->blocks[0].active = left >= LANES ? UINT32_MAX : (1u << left) - 1;
    return true;
}

static void walk_blocks(warp_walk *w)
{
    ssa_function *f = w->run.f;
    for (uint32_t b = 0; b < f->flow->block_count; b++) {
        const cute_code_block *block = &f->flow->blocks[b];
        enter_block(w, b);
        if (!f->blocks[b].reachable) continue;
        for (size_t k = 0; k < block->count; k++)
            if (f->needed[block->first + k])
                ssa_execute(&w->run, &f->insts[block->first + k], f->blocks[b].active);
        leave_block(w, b);
    }
}

bool ssa_run_abstract(ssa_function *f, cute_arena *own, uint32_t index, ssa_visit *visit, void *context)
{
    warp_walk w;
    int passes = 0;
    if (!begin_walk(&w, f, own, index)) return false;
    ssa_run *r = &w.run;
    for (r->changed = true; r->changed && !r->failed && passes < PASSES; passes++) {
        r->changed = false;
        walk_blocks(&w);
    }
    /* No fixed point within PASSES: nothing is known. */
    for (size_t n = 0; r->changed && n < f->value_count; n++) f->values[n].lanes = NULL;
    for (uint32_t b = 0; !r->failed && b < f->flow->block_count; b++) {
        const cute_code_block *block = &f->flow->blocks[b];
        r->current = b;
        for (size_t k = 0; f->blocks[b].reachable && k < block->count; k++)
            visit(context, r, &f->insts[block->first + k]);
    }
    return !r->failed;
}
