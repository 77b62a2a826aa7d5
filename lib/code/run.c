/* Runs over a function in static single assignment: the lanes of operands, what an instruction makes of them, and the fixed
 * point for all arguments and rounds. */
#include "lib/code/function.h"

#include <string.h>

#include "lib/base/list.h"
#include "lib/code/execute.h"
#include "lib/emulator/program/program.h"

enum { PASSES = 64, SLOTS = EVALUATE_OPERANDS * 2 };

/* Blocks between a branch that lanes take differently and where they meet again, where the branch is one of them. */
typedef struct x_region {
    uint8_t *has; /* by block */
} x_region;

bool x_run_begin(x_run *r, x_function *f, cute_arena *own, uint32_t warp, bool made_up)
{
    *r = (x_run){.f = f, .own = own, .made_up = made_up};
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

static const int64_t *block_of(const x_run *r)
{
    return r->f->assume.block;
}

static lane_values thread_index(const x_run *r, x_sreg which)
{
    const int64_t *b = block_of(r);
    lane_values v = lanes_constant(32, 0);
    if (!b[0] && which != X_S_TID_X) return lanes_same(32, 0, "the thread's index");
    for (int64_t l = 0; l < LANES; l++) {
        int64_t t = (int64_t)r->f->warp * LANES + l;
        v.at[l] = (uint64_t)(!b[0]                ? l
                             : which == X_S_TID_X ? t % b[0]
                             : which == X_S_TID_Y ? t / b[0] % b[1]
                                                  : t / b[0] / b[1]);
    }
    if (!b[0]) v.free = 5;
    return v;
}

static lane_values lane_mask(x_sreg which)
{
    lane_values v = lanes_constant(32, 0);
    for (uint32_t l = 0; l < LANES; l++) {
        uint32_t bit = 1u << l, below = bit - 1;
        v.at[l] = which == X_S_LANE          ? l
                  : which == X_S_LANEMASK_EQ ? bit
                  : which == X_S_LANEMASK_LT ? below
                  : which == X_S_LANEMASK_LE ? (below | bit)
                  : which == X_S_LANEMASK_GT ? (uint32_t)~(below | bit)
                                             : (uint32_t)~below;
    }
    return v;
}

static lane_values special(const x_run *r, x_sreg which)
{
    static const char *const names[] = {"%ctaid.x", "%ctaid.y", "%ctaid.z"};
    enum { GRID = 16 };
    switch (which) {
    case X_S_TID_X:
    case X_S_TID_Y:
    case X_S_TID_Z: return thread_index(r, which);
    case X_S_NTID_X:
    case X_S_NTID_Y:
    case X_S_NTID_Z:
        if (block_of(r)[0]) return lanes_constant(32, (uint64_t)block_of(r)[which - X_S_NTID_X]);
        return lanes_same(32, which == X_S_NTID_X ? 5 : 0, "the size of the block");
    case X_S_CTAID_X:
    case X_S_CTAID_Y:
    case X_S_CTAID_Z:
        return r->made_up ? lanes_constant(32, 0) : lanes_same(32, 0, names[which - X_S_CTAID_X]);
    case X_S_NCTAID_X:
    case X_S_NCTAID_Y:
    case X_S_NCTAID_Z: {
        int64_t n = r->f->assume.grid[which - X_S_NCTAID_X];
        return r->made_up ? lanes_constant(32, (uint64_t)(n ? n : GRID))
                          : lanes_same(32, 0, "the size of the grid");
    }
    case X_S_OTHER: return r->made_up ? lanes_constant(32, 0) : lanes_same(32, 0, "a special register");
    default: return lane_mask(which);
    }
}

static const char *parameter_name(const x_function *f, uint64_t offset)
{
    for (size_t n = 0; f->kernel && n < f->kernel->param_count; n++) {
        const em_variable *v = f->kernel->params[n];
        if (offset >= (uint64_t)v->offset && offset - (uint64_t)v->offset < (uint64_t)v->size) return v->name;
    }
    return NULL;
}

/* `bytes` of the parameters at an offset, in a register of so many bits. */
static lane_values parameter(const x_run *r, uint64_t at, uint32_t bytes, uint32_t bits, bool is_signed)
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

/* A value that a loop made, behind the loop that lanes left at different rounds. */
static bool left_differently(const x_run *r, uint32_t defined)
{
    for (size_t n = 0; n < r->region_count; n++)
        if (r->regions[n].has[defined] && !r->regions[n].has[r->current]) return true;
    return false;
}

static lane_values value_lanes(const x_run *r, const x_value *v, uint32_t bits)
{
    if (!v->lanes)
        return lanes_vary(bits, v == r->f->values ? "a register that has none" : "a value that comes later");
    if (!lanes_known(v->lanes) && left_differently(r, v->block))
        return lanes_vary(bits, "rounds of a loop that lanes leave one by one");
    return *v->lanes;
}

lane_values x_operand_lanes(const x_run *r, const x_operand *o, uint32_t bits)
{
    lane_values v;
    if (o->bits) bits = o->bits;
    switch (o->kind) {
    case X_IMM: v = lanes_constant(bits, (uint64_t)o->imm); break;
    case X_ARG:
        v = r->made_up ? lanes_constant(bits, code_made_up((uint64_t)o->imm))
                       : parameter(r, (uint64_t)o->imm, bits / 8, bits, false);
        break;
    case X_SREG:
        v = special(r, (x_sreg)o->imm);
        if (bits != v.bits) v = lanes_resize(v, bits, false);
        break;
    case X_VAR: v = value_lanes(r, x_use(r->f, o), bits); break;
    default: return lanes_vary(bits, "a value of more than 64 bits");
    }
    if (o->inverted && v.bits == 1) {
        for (int l = 0; l < LANES; l++) v.at[l] ^= 1;
    } else if (o->inverted) {
        v = lanes_sub(lanes_constant(v.bits, UINT64_MAX), v); /* ~x */
    }
    if (o->negative) v = lanes_sub(lanes_constant(v.bits, 0), v);
    return v;
}

/* ---- one instruction ---- */

void x_set_lanes(x_run *r, x_value *v, const lane_values *lanes)
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

/* The value of a register that the instruction of PTX reads. */
lane_values x_source(const x_run *r, const x_inst *i, const em_operand *from)
{
    uint32_t bits = evaluate_bits(from);
    x_operand o = x_ptx_operand(r->f, from);
    if (from->kind == EM_O_SREG) return lanes_same(bits ? bits : 32, 0, "a clock");
    if (from->kind != EM_O_VALUE || !bits)
        return lanes_vary(bits ? bits : 64, "a value of more than 64 bits");
    for (unsigned u = 0; o.kind == X_VAR && u < i->use_count; u++) {
        const x_operand *use = &i->uses[u];
        if (use->kind != X_VAR || use->var != o.var) continue;
        o.value = use->value;
        lane_values v = x_operand_lanes(r, &o, bits);
        if (r->made_up) return lanes_resize(v, bits, false);
        return v.bits == bits ? v : lanes_vary(bits, "a register of another size");
    }
    if (o.kind == X_VAR) return lanes_vary(bits, "a register of tensor cores");
    return x_operand_lanes(r, &o, bits);
}

static void load_parameter(const x_run *r, const em_operand *memory)
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
            e->out[n] = known ? parameter(r, at, bytes, bits, is_signed) : lanes_same(bits, 0, "a parameter");
    }
}

/* Of loads and atomics what lanes share. */
static void load(const x_run *r)
{
    evaluation *e = r->e;
    const em_inst *i = e->inst;
    const em_operand *memory = i->count > 1 && i->o[1].kind == EM_O_MEMORY ? &i->o[1] : NULL;
    if (memory && i->opcode == EM_OP_ld && i->space == EM_PARAM) {
        load_parameter(r, memory);
        return;
    }
    bool common = memory && i->space != EM_LOCAL && (i->opcode == EM_OP_ld || i->opcode == EM_OP_ldu) &&
                  lanes_uniform(&e->in[0]);
    for (int n = 0; n < e->result_count; n++) {
        uint32_t bits = evaluate_bits(e->results[n]);
        if (!bits) bits = 64;
        e->out[n] = common ? lanes_same(bits, 0, "a value from memory")
                           : lanes_vary(bits, i->opcode == EM_OP_atom ? "the result of an atomic"
                                              : i->space == EM_LOCAL  ? "a value from local memory"
                                                                      : "values from memory");
    }
}

/* Operations without a row: uniform if all operands are. */
static void guess(evaluation *e, bool uniform)
{
    const char *why = NULL, *varying = NULL;
    for (int n = 0; n < e->source_count; n++) {
        if (!why) why = e->in[n].why;
        if (e->in[n].varies && !varying) varying = e->in[n].why;
        uniform &= lanes_uniform(&e->in[n]);
    }
    if (e->inst->unread) varying = "the result of an instruction that is not looked at";
    if (!varying && !uniform && e->inst->dataflow < EM_FLOW_LOAD)
        varying = cute_arena_printf(e->arena, "%s of what lanes differ in%s%s", em_instruction_name(e->inst),
                                    why ? ", and " : "", why ? why : "");
    for (int n = 0; n < e->result_count; n++) {
        uint32_t bits = evaluate_bits(e->results[n]);
        if (bits) e->out[n] = uniform ? lanes_same(bits, 0, why) : lanes_vary(bits, varying);
    }
}

/* The outcome of a comparison, and its opposite. */
static bool compute(const x_inst *i, evaluation *e)
{
    lane_values v;
    if (i->op == X_OTHER || e->inst->hidden || !e->result_count || !evaluate_bits(e->results[0]))
        return false;
    if (!x_compute(e->arena, i, e->in, (unsigned)e->source_count, false, &v)) return false;
    uint32_t bits = evaluate_bits(e->results[0]);
    bool is_signed = i->op == X_EXTEND && ptx_types[e->inst->types[0]].kind == PTX_SIGNED;
    e->out[0] = lanes_resize(v, bits, is_signed);
    if (e->result_count == 2 && i->op == X_SETP) {
        e->out[1] = v;
        for (int l = 0; l < LANES && !v.varies; l++) e->out[1].at[l] ^= 1;
        return true;
    }
    return e->result_count == 1;
}

/* Computed in front of an instruction that accesses the thread's stack: only a launch has one. */
static bool is_frame_address(const em_inst *i)
{
    return i->hidden && i->count == 1;
}

static bool evaluate_ptx(x_run *r, const x_inst *i, uint32_t mask)
{
    evaluation *e = r->e;
    e->mask = mask;
    bool told = i->ptx->unread || (i->ptx->class != EM_CLASS_TENSOR && i->ptx->opcode != EM_OP_wgmma);
    if (!told || !evaluate_operands(e, i->ptx)) return false;
    for (int n = 0; n < e->source_count; n++) e->in[n] = x_source(r, i, e->sources[n]);
    for (int n = 0; n < e->result_count; n++) {
        uint32_t bits = evaluate_bits(e->results[n]);
        e->out[n] = lanes_vary(bits ? bits : 64, NULL);
    }
    if (is_frame_address(e->inst))
        e->out[0] = lanes_same(evaluate_bits(e->results[0]), 0, "an address of local memory");
    else if (e->inst->dataflow == EM_FLOW_LOAD || e->inst->opcode == EM_OP_atom)
        load(r);
    else if (!evaluate_known(e) && !evaluate_other(e) && !compute(i, e))
        guess(e, evaluate_is_pure(e->inst));
    return true;
}

/* Where the guard is false the value from before stays. */
static lane_values guarded(const x_run *r, const x_inst *i, lane_values made, const x_operand *before)
{
    lane_values guard = x_operand_lanes(r, &i->uses[i->guard], 1);
    const x_value *old = x_use(r->f, before);
    if (!old->lanes || old->lanes->bits != made.bits) return made;
    lane_values had = value_lanes(r, old, made.bits);
    if (lanes_known(&guard)) return lanes_select(lanes_true(&guard), &made, &had);
    if (lanes_uniform(&guard)) return lanes_either(made, had);
    return lanes_equal(&made, &had) ? made : lanes_vary(made.bits, guard.why);
}

void x_execute(x_run *r, const x_inst *i, uint32_t mask)
{
    evaluation *e = r->e;
    unsigned def = 0;
    if (!evaluate_ptx(r, i, mask)) {
        lane_values tensor = lanes_vary(32, "a register of tensor cores");
        for (; def < i->def_count; def++) x_set_lanes(r, &r->f->values[i->first_value + def], &tensor);
        return;
    }
    for (int n = 0; n < e->result_count && def < i->def_count; n++) {
        const em_operand *o = e->results[n];
        if (o->kind != EM_O_VALUE || o->base != EM_BASE_REGISTERS) continue;
        uint32_t bits = evaluate_bits(o);
        lane_values v = e->out[n];
        if (v.bits != bits) v = lanes_vary(bits ? bits : 64, v.why);
        if (i->guard >= 0 && (unsigned)i->guard + 1 + def < i->use_count)
            v = guarded(r, i, v, &i->uses[i->guard + 1 + (int)def]);
        x_set_lanes(r, &r->f->values[i->first_value + def++], &v);
    }
}

/* ---- what is needed ---- */

typedef struct worklist {
    x_function *f;
    uint32_t *values;
    size_t count;
    bool *seen; /* by value */
} worklist;

static void need(worklist *w, const x_operand *o)
{
    if (o->kind != X_VAR) return;
    uint32_t v = (uint32_t)(x_use(w->f, o) - w->f->values);
    if (w->seen[v]) return;
    w->seen[v] = true;
    w->values[w->count++] = v;
}

static void need_value(worklist *w, const x_value *v, uint32_t *count)
{
    x_operand o = {.kind = X_VAR};
    for (uint32_t k = 0; v->phi && k < v->arg_count; k++) {
        o.value = v->args[k];
        need(w, &o);
    }
    if (v->inst < 0 || w->f->needed[v->inst]) return;
    const x_inst *i = &w->f->insts[v->inst];
    w->f->needed[v->inst] = 1;
    ++*count;
    for (unsigned u = 0; u < i->use_count; u++) need(w, &i->uses[u]);
}

static void need_register(worklist *w, const x_inst *i, const em_operand *o)
{
    x_operand read = x_ptx_operand(w->f, o);
    for (unsigned u = 0; read.kind == X_VAR && u < i->use_count; u++)
        if (i->uses[u].kind == X_VAR && i->uses[u].var == read.var) {
            need(w, &i->uses[u]);
            return;
        }
}

bool x_find_needed(x_function *f, uint32_t *count)
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
        const x_inst *i = &f->insts[n];
        const em_inst *p = i->ptx;
        bool asked = p->control != EM_NEXT;
        for (int k = 0; k < p->count; k++) {
            if (p->o[k].kind != EM_O_MEMORY) continue;
            need_register(&w, i, &p->o[k].list[0]);
            asked = true;
        }
        if (p->opcode == EM_OP_cp && p->count > 3) need_register(&w, i, &p->o[3]);
        if (p->control == EM_BRANCH_INDEX) need_register(&w, i, &p->o[0]);
        if (asked && i->guard >= 0) need(&w, &i->uses[i->guard]);
    }
    for (size_t n = 0; ok && n < w.count; n++) need_value(&w, &f->values[w.values[n]], count);
    cute_arena_destroy(own);
    return ok;
}

/* ---- blocks ---- */

typedef struct walk {
    x_run run;
    uint32_t *seen[2]; /* by block: the way on which it was seen last; the first of this branch */
    uint32_t *visited, *stack;
    uint32_t stamp, last_way;
} walk;

/* Blocks on the ways from `from` to `behind`; appends those that were not seen on any way of this branch. */
static void reach(walk *w, uint32_t from, uint32_t behind, uint32_t way, uint32_t *count)
{
    x_function *f = w->run.f;
    uint32_t depth = 0;
    if (from == behind || w->seen[0][from] == way) return;
    w->seen[0][from] = way;
    w->stack[depth++] = from;
    while (depth) {
        uint32_t at = w->stack[--depth];
        const cute_code_block *b = &f->flow->blocks[at];
        if (w->seen[1][at] < w->stamp) {
            w->visited[(*count)++] = at;
            w->seen[1][at] = way;
        } else if (w->seen[1][at] != way) {
            f->blocks[at].joined = true;
        }
        for (uint32_t e = 0; e < b->edge_count; e++) {
            uint32_t to = b->edges[e].to;
            if (to == behind || w->seen[0][to] == way) continue;
            w->seen[0][to] = way;
            w->stack[depth++] = to;
        }
    }
}

/* Lanes of block `b` go different ways, nobody knows which. */
static void part(walk *w, uint32_t b)
{
    x_run *r = &w->run;
    x_function *f = r->f;
    const cute_code_block *block = &f->flow->blocks[b];
    const x_inst *last = &f->insts[block->first + block->count - 1];
    uint32_t count = 0, behind = f->blocks[b].reconverge;
    if (f->blocks[b].parted) return;
    f->blocks[b].parted = true;
    r->changed = true;
    uint32_t way = w->stamp = w->last_way + 1;
    for (uint32_t e = 0; e < block->edge_count; e++) reach(w, block->edges[e].to, behind, way++, &count);
    w->last_way = way;
    for (uint32_t n = 0; n < count; n++) f->blocks[w->visited[n]].partial = true;
    if (behind != CUTE_NO_BLOCK && last->ptx->control != EM_EXIT) f->blocks[behind].joined = true;
    if (w->seen[1][b] < w->stamp) return;
    uint8_t *has = cute_arena_alloc(r->own, f->flow->block_count);
    if (!has ||
        !cute_arena_more(r->own, &r->regions, r->region_count, &r->region_capacity, sizeof *r->regions, 8)) {
        r->failed = true;
        return;
    }
    for (uint32_t n = 0; n < count; n++) has[w->visited[n]] = 1;
    r->regions[r->region_count++] = (x_region){has};
}

/* A value at the block's begin, out of those at the ends in front of it. */
static void join_phi(x_run *r, x_value *phi, const x_block *at, uint32_t b)
{
    const x_function *f = r->f;
    const lane_values *all = NULL;
    lane_values sum, come[1];
    uint32_t have = 0;
    bool one_by_one = false;
    for (uint32_t k = 0; k < phi->arg_count; k++) {
        uint32_t way = at->ways[k], from = at->before[k];
        const x_value *arg = x_at(f, phi->args[k]);
        if (!way || !arg->lanes) continue;
        for (size_t n = 0; n < r->region_count; n++)
            one_by_one |= r->regions[n].has[from] && !r->regions[n].has[b];
        r->current = from;
        *come = value_lanes(r, arg, arg->lanes->bits);
        if (!all) {
            sum = *come;
        } else if (!lanes_equal(all, come)) {
            if (all->bits != come->bits)
                sum = lanes_vary(all->bits, "a register of another size");
            else if (!(have & way))
                sum = lanes_select(way, come, all);
            else if (at->joined)
                sum = lanes_vary(come->bits, "a value by the way that each lane took");
            else
                sum = lanes_either(*all, *come);
            if (!sum.varies && !sum.why && !lanes_known(&sum)) sum.why = "the round of a loop";
        }
        all = &sum;
        have |= way;
    }
    if (!all) return;
    if (one_by_one && !lanes_known(all))
        sum = lanes_vary(all->bits, "rounds of a loop that lanes leave one by one");
    x_set_lanes(r, phi, &sum);
}

static void join(walk *w, uint32_t b)
{
    x_run *r = &w->run;
    x_function *f = r->f;
    x_block *at = &f->blocks[b];
    uint32_t mask = b ? 0 : at->active;
    bool come = b == 0;
    for (uint32_t k = 0; k < at->before_count; k++) {
        mask |= at->ways[k];
        come |= at->ways[k] != 0;
    }
    r->changed |= mask != at->active || come != at->come;
    at->active = mask;
    at->come = come;
    if (!come) return;
    for (uint32_t p = at->first_phi; p; p = f->values[p].next_phi)
        if (f->values[p].same == p) join_phi(r, &f->values[p], at, b);
    r->current = b;
}

static void set_way(x_run *r, uint32_t from, uint32_t to, uint32_t mask)
{
    x_block *at = &r->f->blocks[to];
    for (uint32_t k = 0; k < at->before_count; k++) {
        if (at->before[k] != from) continue;
        r->changed |= at->ways[k] != mask;
        at->ways[k] = mask;
    }
}

static void leave(walk *w, uint32_t b)
{
    x_run *r = &w->run;
    const x_function *f = r->f;
    const cute_code_block *block = &f->flow->blocks[b];
    const x_inst *i = block->count ? &f->insts[block->first + block->count - 1] : NULL;
    uint32_t all = f->blocks[b].active, taken = all, rest = all;
    bool leaves = i && i->ptx->control != EM_NEXT;
    if (leaves && i->guard >= 0) {
        lane_values guard = x_operand_lanes(r, &i->uses[i->guard], 1);
        if (lanes_known(&guard)) {
            taken &= lanes_true(&guard);
            rest &= ~lanes_true(&guard);
        } else if (!lanes_uniform(&guard)) {
            part(w, b);
        }
    }
    if (leaves && i->ptx->control == EM_BRANCH_INDEX && i->use_count) {
        lane_values which = x_operand_lanes(r, &i->uses[0], 32);
        if (!lanes_uniform(&which)) part(w, b);
    }
    for (uint32_t e = 0; e < block->edge_count; e++) {
        const cute_code_edge *edge = &block->edges[e];
        uint32_t mask = edge->kind == CUTE_EDGE_NEXT ? (leaves ? rest : all) : taken;
        /* Both edges may go to one block, which then is listed once. */
        bool only = block->edge_count == 1 && leaves && i->guard >= 0 && i->ptx->control == EM_BRANCH;
        set_way(r, b, edge->to, only ? all : mask);
    }
}

static bool begin(walk *w, x_function *f, cute_arena *own, uint32_t index)
{
    size_t blocks = f->flow->block_count;
    *w = (walk){0};
    if (!x_run_begin(&w->run, f, own, index, false)) return false;
    for (int n = 0; n < 2; n++) w->seen[n] = cute_arena_array(own, blocks + 1, sizeof(uint32_t));
    w->visited = cute_arena_array(own, blocks + 1, sizeof *w->visited);
    w->stack = cute_arena_array(own, blocks + 1, sizeof *w->stack);
    if (!w->seen[0] || !w->seen[1] || !w->visited || !w->stack) return false;
    for (uint32_t b = 0; b < blocks; b++) {
        x_block *at = &f->blocks[b];
        at->come = at->partial = at->joined = at->parted = false;
        at->active = 0;
        at->ways = cute_arena_array(own, at->before_count + 1, sizeof *at->ways);
        if (!at->ways) return false;
    }
    const int64_t *size = f->assume.block;
    int64_t left = size[0] ? size[0] * size[1] * size[2] - (int64_t)index * LANES : LANES;
    f->blocks[0].active = left >= LANES ? UINT32_MAX : (1u << left) - 1;
    return true;
}

static void pass(walk *w)
{
    x_function *f = w->run.f;
    for (uint32_t b = 0; b < f->flow->block_count; b++) {
        const cute_code_block *block = &f->flow->blocks[b];
        join(w, b);
        if (!f->blocks[b].come) continue;
        for (size_t k = 0; k < block->count; k++)
            if (f->needed[block->first + k])
                x_execute(&w->run, &f->insts[block->first + k], f->blocks[b].active);
        leave(w, b);
    }
}

bool x_follow(x_function *f, cute_arena *own, uint32_t index, x_visit *visit, void *context)
{
    walk w;
    int passes = 0;
    if (!begin(&w, f, own, index)) return false;
    x_run *r = &w.run;
    for (r->changed = true; r->changed && !r->failed && passes < PASSES; passes++) {
        r->changed = false;
        pass(&w);
    }
    /* It did not settle. */
    for (size_t n = 0; r->changed && n < f->value_count; n++) f->values[n].lanes = NULL;
    for (uint32_t b = 0; !r->failed && b < f->flow->block_count; b++) {
        const cute_code_block *block = &f->flow->blocks[b];
        r->current = b;
        for (size_t k = 0; f->blocks[b].come && k < block->count; k++)
            visit(context, r, &f->insts[block->first + k]);
    }
    return !r->failed;
}
