/* See follow.h. Registers that are written once have one value; those that are written more often, as the copies that stand
 * for phis are, have one at each block's begin. Only what addresses and branches depend on is followed. */
#include "lib/report/kernel/follow.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/list.h"
#include "lib/report/kernel/evaluate.h"

enum { PASSES = 64, SLOTS = EVALUATE_OPERANDS * 2, NONE = UINT32_MAX, MOST_STATE = 1 << 23 };

typedef struct reg {
    uint32_t at, defs, block; /* block: of the only definition */
    uint32_t multi;           /* index among those with several; NONE */
    uint8_t bits;             /* 0: not followed */
    bool needed;
} reg;

typedef struct flow_block {
    uint32_t first, last; /* instructions */
    bool in_loop;
    /* of this warp */
    uint32_t mask;
    bool reached, partial, joined, varying;
    const lane_values **begin, **end; /* by reg.multi */
} flow_block;

/* Blocks between a branch that lanes take differently and where they meet again, where the branch is one of them. */
typedef struct region {
    uint8_t *has;    /* by block */
    uint32_t behind; /* where they meet; NONE */
} region;

struct follow {
    cute_arena *arena;
    const em_program *program;
    const em_function *kernel;
    cute_access_options options;
    uint32_t block_size[3], threads;
    reg *regs;
    uint32_t reg_count, multi_count;
    uint32_t *reg_of; /* by place / 4; NONE */
    const cute_graph *graph;
    const uint32_t *block_of;
    flow_block *blocks;
    uint32_t *masks;         /* of this warp, by edge */
    uint8_t *used;           /* by instruction: it is evaluated */
    uint32_t *made_at, made; /* by instruction: its first result among all; how many there are */
    uint8_t *pool;
    uint32_t used_count;
    bool too_large; /* for values at each block's begin: nothing is followed */
    /* of this warp */
    evaluation e;      /* of the instruction that is executed */
    uint32_t *seen[2]; /* by block: the way on which it was seen last; the first of this branch */
    uint32_t stamp, last_way;
    uint32_t *visited, *stack; /* blocks */
    cute_arena *own;
    em_warp *scratch;
    const lane_values **values;    /* by register, of those that are written once */
    const lane_values **last_made; /* what each instruction made of registers that are written more often */
    region *regions;
    size_t region_count, region_capacity;
    uint32_t current, index;
    bool changed, failed;
};

/* ---- the graph ---- */

static const em_inst *code(const follow *f, uint32_t at)
{
    return &f->program->code[at];
}

static bool ends_block(const em_inst *i)
{
    return i->control != EM_NEXT;
}

static uint32_t reg_index(const follow *f, const em_operand *o)
{
    if (o->kind != EM_O_VALUE || o->base != EM_BASE_REGISTERS) return NONE;
    return f->reg_of[o->at / 4];
}

static bool make_blocks(follow *f)
{
    const cute_graph *g = f->graph;
    f->blocks = cute_arena_array(f->arena, (size_t)g->count + 1, sizeof *f->blocks);
    f->masks = cute_arena_array(f->arena, g->edge_count + 1, sizeof *f->masks);
    if (!f->blocks || !f->masks) return false;
    for (uint32_t b = 0; b < g->count; b++)
        f->blocks[b] =
            (flow_block){.first = f->kernel->flow.first[b], .last = f->kernel->flow.first[b + 1] - 1};
    for (size_t e = 0; e < g->edge_count; e++)
        for (uint32_t b = g->edges[e].to; b <= g->edges[e].from; b++) f->blocks[b].in_loop = true;
    return true;
}

/* ---- registers ---- */

static bool add_register(follow *f, const em_operand *o, size_t *capacity)
{
    if (o->kind != EM_O_VALUE || o->base != EM_BASE_REGISTERS) return true;
    uint32_t *index = &f->reg_of[o->at / 4];
    if (*index != NONE) return true;
    if (!cute_arena_more(f->arena, &f->regs, f->reg_count, capacity, sizeof *f->regs, 256)) return false;
    *index = f->reg_count;
    f->regs[f->reg_count++] = (reg){.at = o->at, .bits = (uint8_t)evaluate_bits(o), .multi = NONE};
    return true;
}

static bool add_operand_registers(follow *f, const em_operand *o, size_t *capacity)
{
    bool ok = add_register(f, o, capacity);
    uint32_t count = o->kind == EM_O_VECTOR ? o->count : o->kind == EM_O_MEMORY ? 1 : 0;
    for (uint32_t n = 0; ok && n < count; n++) ok = add_operand_registers(f, &o->list[n], capacity);
    return ok;
}

/* Of instructions whose results are not told apart: all operands. */
static void forget_operand(follow *f, const em_operand *o)
{
    uint32_t r = reg_index(f, o);
    if (r != NONE) f->regs[r].bits = 0;
    if (o->kind == EM_O_VECTOR)
        for (int n = 0; n < o->count; n++) forget_operand(f, &o->list[n]);
}

static bool is_told(const evaluation *e)
{
    return e->inst->unread || (e->inst->class != EM_CLASS_TENSOR && e->inst->opcode != EM_OP_wgmma);
}

static void need(follow *f, const em_operand *o, bool *changed)
{
    uint32_t r = reg_index(f, o);
    if (r == NONE || f->regs[r].needed) return;
    f->regs[r].needed = true;
    *changed = true;
}

static em_operand guard_operand(const em_inst *i)
{
    return (em_operand){.kind = EM_O_VALUE, .base = EM_BASE_REGISTERS, .at = i->guard_at};
}

/* Operands that are addresses. */
static bool is_memory(const em_inst *i)
{
    for (int n = 0; n < i->count; n++)
        if (i->o[n].kind == EM_O_MEMORY) return true;
    return false;
}

static void need_roots(follow *f, bool *changed)
{
    for (uint32_t at = f->kernel->start; at <= f->kernel->end; at++) {
        const em_inst *i = code(f, at);
        em_operand guard = guard_operand(i);
        for (int n = 0; n < i->count; n++)
            if (i->o[n].kind == EM_O_MEMORY) need(f, &i->o[n].list[0], changed);
        if (i->opcode == EM_OP_cp && i->count > 3) need(f, &i->o[3], changed);
        if (i->control == EM_BRANCH_INDEX) need(f, &i->o[0], changed);
        if (i->guard && (ends_block(i) || is_memory(i))) need(f, &guard, changed);
    }
}

/* Marks instructions that make what is needed. */
static void need_more(follow *f, bool *changed)
{
    evaluation e = {0};
    for (uint32_t at = f->kernel->end + 1; at-- > f->kernel->start;) {
        const em_inst *i = code(f, at);
        bool makes = false;
        if (f->used[at - f->kernel->start] || !evaluate_operands(&e, i) || !is_told(&e)) continue;
        for (int n = 0; n < e.result_count; n++) {
            uint32_t r = reg_index(f, e.results[n]);
            makes |= r != NONE && f->regs[r].needed && f->regs[r].bits;
        }
        if (!makes) continue;
        em_operand guard = guard_operand(i);
        f->used[at - f->kernel->start] = 1;
        *changed = true;
        for (int n = 0; n < e.source_count; n++) need(f, e.sources[n], changed);
        if (i->guard) need(f, &guard, changed);
    }
}

static bool make_registers(follow *f)
{
    uint32_t places = f->kernel->register_bytes / 4 + 64;
    size_t capacity = 0;
    f->reg_of = cute_arena_array(f->arena, places, sizeof *f->reg_of);
    f->used = cute_arena_alloc(f->arena, f->kernel->end - f->kernel->start + 2);
    f->made_at = cute_arena_array(f->arena, f->kernel->end - f->kernel->start + 2, sizeof *f->made_at);
    if (!f->reg_of || !f->used || !f->made_at) return false;
    memset(f->reg_of, 0xff, places * sizeof *f->reg_of);
    for (uint32_t at = f->kernel->start; at <= f->kernel->end; at++) {
        const em_inst *i = code(f, at);
        em_operand guard = guard_operand(i);
        for (int n = 0; n < i->count; n++)
            if (!add_operand_registers(f, &i->o[n], &capacity)) return false;
        if (i->guard && !add_register(f, &guard, &capacity)) return false;
    }
    evaluation e = {0};
    for (uint32_t at = f->kernel->start; at <= f->kernel->end; at++) {
        const em_inst *i = code(f, at);
        f->made_at[at - f->kernel->start] = f->made;
        if (!evaluate_operands(&e, i) || !is_told(&e)) {
            for (int n = 0; n < i->count; n++) forget_operand(f, &i->o[n]);
            continue;
        }
        f->made += (uint32_t)e.result_count;
        for (int n = 0; n < e.result_count; n++) {
            uint32_t r = reg_index(f, e.results[n]);
            if (r == NONE) continue;
            f->regs[r].defs++;
            f->regs[r].block = f->block_of[at - f->kernel->start];
        }
    }
    bool changed = true;
    need_roots(f, &changed);
    while (changed) {
        changed = false;
        need_more(f, &changed);
    }
    for (uint32_t r = 0; r < f->reg_count; r++)
        if (f->regs[r].defs > 1 && f->regs[r].needed) f->regs[r].multi = f->multi_count++;
    for (uint32_t n = 0; n <= f->kernel->end - f->kernel->start; n++) f->used_count += f->used[n];
    f->too_large = (uint64_t)f->multi_count * f->graph->count > MOST_STATE;
    for (uint32_t r = 0; f->too_large && r < f->reg_count; r++) f->regs[r].multi = NONE;
    if (f->too_large) f->multi_count = 0;
    return true;
}

/* Constants, with the addresses of shared variables as a block has them. */
static bool make_pool(follow *f)
{
    const em_program *p = f->program;
    f->pool = cute_arena_alloc(f->arena, (size_t)p->pool_length + 128);
    if (!f->pool) return false;
    f->pool += (64 - (uintptr_t)f->pool % 64) % 64;
    if (p->pool_length) memcpy(f->pool, p->pool, p->pool_length);
    for (size_t n = 0; n < p->reloc_count; n++) {
        const em_reloc *r = &p->relocs[n];
        int64_t offset = 0;
        em_shared_offset(f->kernel, r->variable, &offset);
        em_splat(f->pool + r->at, r->bytes, (uint64_t)(offset + EM_SHARED_RESERVED + r->offset), 0);
    }
    return true;
}

cute_status follow_create(cute_arena *arena, const em_program *program, const em_function *kernel,
                          const uint32_t block[3], const cute_access_options *options, follow **out,
                          cute_diag *diag)
{
    follow *f = *out = cute_arena_alloc(arena, sizeof *f);
    if (!f) return cute_fail_memory(diag);
    *f = (follow){.arena = arena,
                  .program = program,
                  .kernel = kernel,
                  .graph = &kernel->flow.graph,
                  .block_of = kernel->flow.block_of};
    if (options) f->options = *options;
    memcpy(f->block_size, block, sizeof f->block_size);
    f->threads = block[0] * block[1] * block[2];
    if (!make_blocks(f) || !make_registers(f) || !make_pool(f)) return cute_fail_memory(diag);
    return CUTE_OK;
}

uint32_t follow_work(const follow *f)
{
    return f->used_count;
}

const char *follow_parameter(const follow *f, uint32_t offset)
{
    for (size_t n = 0; n < f->kernel->param_count; n++) {
        const em_variable *v = f->kernel->params[n];
        if (offset >= (uint64_t)v->offset && offset - (uint64_t)v->offset < (uint64_t)v->size) return v->name;
    }
    return NULL;
}

/* ---- values ---- */

/* In the warp's memory; `old` where it is the same. */
static const lane_values *keep(follow *f, const lane_values *v, const lane_values *old)
{
    if (old && lanes_equal(old, v)) return old;
    lane_values *copy = cute_arena_alloc(f->own, sizeof *copy);
    if (copy)
        *copy = *v;
    else
        f->failed = true;
    f->changed = true;
    return copy ? copy : old;
}

static lane_values special(const follow *f, const em_operand *o)
{
    uint32_t which = o->at / (4 * EM_LANES);
    lane_values v = lanes_constant(32, 0);
    uint32_t first = f->index * LANES;
    const char *names[] = {"%ctaid.x", "%ctaid.y", "%ctaid.z"};
    switch (which) {
    case EM_SREG_ntid_x:
    case EM_SREG_ntid_y:
    case EM_SREG_ntid_z:
        if (f->threads) return lanes_constant(32, f->block_size[which - EM_SREG_ntid_x]);
        return lanes_same(32, which == EM_SREG_ntid_x ? 5 : 0, "the size of the block");
    case EM_SREG_tid_x:
    case EM_SREG_tid_y:
    case EM_SREG_tid_z:
        if (!f->threads && which != EM_SREG_tid_x) return lanes_same(32, 0, "the thread's index");
        for (uint32_t l = 0; l < LANES; l++) {
            uint32_t t = first + l, x = f->threads ? f->block_size[0] : UINT32_MAX,
                     y = f->threads ? f->block_size[1] : 1;
            v.at[l] = which == EM_SREG_tid_x ? t % x : which == EM_SREG_tid_y ? t / x % y : t / x / y;
        }
        if (!f->threads) v.free = 5;
        return v;
    case EM_SREG_ctaid_x:
    case EM_SREG_ctaid_y:
    case EM_SREG_ctaid_z: return lanes_same(32, 0, names[which - EM_SREG_ctaid_x]);
    case EM_SREG_lanemask_eq:
    case EM_SREG_lanemask_lt:
    case EM_SREG_lanemask_le:
    case EM_SREG_lanemask_gt:
    case EM_SREG_lanemask_ge:
    case EM_SREG_laneid:
        for (uint32_t l = 0; l < LANES; l++) {
            uint32_t bit = 1u << l, below = bit - 1;
            v.at[l] = which == EM_SREG_laneid        ? l
                      : which == EM_SREG_lanemask_eq ? bit
                      : which == EM_SREG_lanemask_lt ? below
                      : which == EM_SREG_lanemask_le ? (below | bit)
                      : which == EM_SREG_lanemask_gt ? (uint32_t)~(below | bit)
                                                     : (uint32_t)~below;
        }
        return v;
    default: return lanes_same(32, 0, "a special register");
    }
}

/* A register that a loop wrote, behind the loop that lanes left at different rounds. */
static bool left_differently(const follow *f, uint32_t defined)
{
    for (size_t n = 0; n < f->region_count; n++)
        if (f->regions[n].has[defined] && !f->regions[n].has[f->current]) return true;
    return false;
}

static lane_values value_of(const follow *f, const lane_values *const *multi, const em_operand *o)
{
    uint32_t bits = evaluate_bits(o);
    if (o->kind == EM_O_SREG) return lanes_same(bits ? bits : 32, 0, "a clock");
    if (o->kind != EM_O_VALUE || !bits) return lanes_vary(bits ? bits : 64, "a value of more than 64 bits");
    if (o->base == EM_BASE_SREGS) {
        lane_values v = special(f, o);
        return bits == 16 ? lanes_resize(v, 16, false) : v;
    }
    if (o->base == EM_BASE_CONSTANTS) {
        lane_values v = lanes_constant(bits, 0);
        const uint8_t *at = f->pool + o->at;
        for (int l = 0; l < LANES; l++) {
            uint32_t word = 0;
            if (o->bytes == 8)
                memcpy(&v.at[l], at + l * 8, 8);
            else {
                memcpy(&word, at + (o->bytes ? l * 4 : 0), 4);
                v.at[l] = o->bytes ? word & lanes_ones(bits) : (word >> l & 1) ^ o->negated;
            }
        }
        return v;
    }
    uint32_t r = reg_index(f, o);
    const reg *at = r != NONE ? &f->regs[r] : NULL;
    if (!at || !at->bits) return lanes_vary(bits, "a register of tensor cores");
    const lane_values *found = at->multi != NONE ? multi[at->multi] : f->values[r];
    if (!found)
        return lanes_vary(bits, f->too_large ? "the kernel is too large to be followed"
                                : at->defs   ? "a value that comes later"
                                             : "a register that has none");
    lane_values v = *found;
    if (at->multi == NONE && !lanes_known(&v) && left_differently(f, at->block))
        return lanes_vary(bits, "rounds of a loop that lanes leave one by one");
    if (v.bits != bits) return lanes_vary(bits, "a register of another size");
    if (bits == 1 && o->negated)
        for (int l = 0; l < LANES; l++) v.at[l] ^= 1;
    return v;
}

static uint32_t lanes_of(const lane_values *predicate)
{
    uint32_t mask = 0;
    for (int l = 0; l < LANES; l++) mask |= (uint32_t)(predicate->at[l] & 1) << l;
    return mask;
}

/* The guard as a predicate; true: there is one. */
static bool guard_of(const follow *f, const lane_values *const *multi, const em_inst *i, lane_values *out)
{
    em_operand guard = guard_operand(i);
    if (!i->guard) return false;
    guard.negated = i->guard == 2;
    *out = value_of(f, multi, &guard);
    return true;
}

/* ---- loads ---- */

/* What the launch says of a parameter's bytes: one of CUTE_ACCESS_. */
static int parameter_known(const follow *f, uint64_t at, uint32_t bytes, uint64_t *out)
{
    const cute_access_options *o = &f->options;
    *out = 0;
    if (!o->parameters || at > o->parameter_bytes || bytes > o->parameter_bytes - at)
        return CUTE_ACCESS_UNKNOWN;
    for (uint32_t n = 0; n < bytes; n++) {
        if (o->known[at + n] != o->known[at]) return CUTE_ACCESS_UNKNOWN;
        *out |= (uint64_t)o->parameters[at + n] << (n * 8);
    }
    return o->known[at];
}

static void load_parameter(follow *f, evaluation *e, const em_operand *memory)
{
    uint32_t bytes = ptx_types[e->inst->type].bytes;
    lane_values address = e->in[0];
    bool known = lanes_known(&address) && lanes_uniform(&address);
    for (int n = 0; n < e->result_count; n++) {
        uint32_t bits = evaluate_bits(e->results[n]);
        uint64_t at = (address.at[0] & (EM_WINDOW_SIZE - 1)) + (uint64_t)memory->offset + (uint64_t)n * bytes,
                 value;
        if (!bits) continue;
        if (!known) {
            e->out[n] = lanes_same(bits, 0, "a parameter");
            continue;
        }
        bool is_signed = ptx_types[e->inst->type].kind == PTX_SIGNED;
        int given = parameter_known(f, at, bytes, &value);
        if (given == CUTE_ACCESS_NUMBER) {
            e->out[n] = lanes_resize(lanes_constant(bytes * 8, value), bits, is_signed);
            continue;
        }
        const char *name = at <= UINT32_MAX ? follow_parameter(f, (uint32_t)at) : NULL;
        const char *why = name ? cute_arena_printf(f->own, "the parameter '%s'", name) : "a parameter";
        e->out[n] = lanes_same(bits, bytes == 8 ? 64 : 0, why);
        if (bytes == 8 && bits == 64) e->out[n].pointer = (uint32_t)at + 1;
        for (int l = 0; given == CUTE_ACCESS_POINTER && e->out[n].pointer && l < LANES; l++)
            e->out[n].at[l] = value;
    }
}

static void load(follow *f, evaluation *e)
{
    const em_inst *i = e->inst;
    const em_operand *memory = i->count > 1 ? &i->o[1] : NULL;
    if (memory && memory->kind == EM_O_MEMORY && i->opcode == EM_OP_ld && i->space == EM_PARAM) {
        load_parameter(f, e, memory);
        return;
    }
    bool common = memory && memory->kind == EM_O_MEMORY && i->space != EM_LOCAL &&
                  (i->opcode == EM_OP_ld || i->opcode == EM_OP_ldu) && lanes_uniform(&e->in[0]);
    for (int n = 0; n < e->result_count; n++) {
        uint32_t bits = evaluate_bits(e->results[n]);
        if (!bits) bits = 64;
        e->out[n] = common ? lanes_same(bits, 0, "a value from memory")
                           : lanes_vary(bits, i->opcode == EM_OP_atom ? "the result of an atomic"
                                              : i->space == EM_LOCAL  ? "a value from local memory"
                                                                      : "values from memory");
    }
}

static void execute(follow *f, const lane_values **multi, uint32_t at, uint32_t mask)
{
    evaluation *e = &f->e;
    const em_inst *i = code(f, at);
    lane_values guard;
    e->arena = f->own;
    e->scratch = f->scratch;
    e->mask = mask;
    if (!evaluate_operands(e, i)) return;
    for (int n = 0; n < e->source_count; n++) e->in[n] = value_of(f, multi, e->sources[n]);
    if (i->dataflow == EM_FLOW_LOAD || i->opcode == EM_OP_atom)
        load(f, e);
    else
        evaluate(e);
    bool guarded = guard_of(f, multi, i, &guard);
    for (int n = 0; n < e->result_count; n++) {
        uint32_t r = reg_index(f, e->results[n]);
        if (r == NONE || !f->regs[r].needed || !f->regs[r].bits) continue;
        const lane_values **slot = f->regs[r].multi != NONE ? &multi[f->regs[r].multi] : &f->values[r];
        lane_values v = e->out[n];
        if (v.bits != f->regs[r].bits) v = lanes_vary(f->regs[r].bits, v.why);
        if (guarded && *slot && f->regs[r].multi != NONE) {
            if (lanes_known(&guard))
                v = lanes_select(lanes_of(&guard), &v, *slot);
            else if (lanes_uniform(&guard))
                v = lanes_either(v, **slot);
            else if (!lanes_equal(&v, *slot))
                v = lanes_vary(v.bits, guard.why);
        }
        const lane_values **last =
            f->regs[r].multi != NONE ? &f->last_made[f->made_at[at - f->kernel->start] + (uint32_t)n] : slot;
        *slot = *last = keep(f, &v, *last);
    }
}

/* ---- blocks ---- */

/* Blocks on the ways from `from` to `behind`; appends those that were not seen on any way of this branch. */
static void reach(follow *f, uint32_t from, uint32_t behind, uint32_t way, uint32_t *count)
{
    uint32_t depth = 0;
    if (from == behind || f->seen[0][from] == way) return;
    f->seen[0][from] = way;
    f->stack[depth++] = from;
    while (depth) {
        uint32_t at = f->stack[--depth];
        if (f->seen[1][at] < f->stamp) {
            f->visited[(*count)++] = at;
            f->seen[1][at] = way;
        } else if (f->seen[1][at] != way) {
            f->blocks[at].joined = true;
        }
        for (uint32_t e = f->graph->out[at]; e < f->graph->out[at + 1]; e++) {
            uint32_t to = f->graph->edges[e].to;
            if (to == behind || f->seen[0][to] == way) continue;
            f->seen[0][to] = way;
            f->stack[depth++] = to;
        }
    }
}

/* Lanes of block `b` go different ways, nobody knows which. */
static void part(follow *f, uint32_t b)
{
    flow_block *at = &f->blocks[b];
    const em_inst *i = code(f, at->last);
    if (at->varying) return;
    at->varying = true;
    f->changed = true;
    uint32_t meet = i->control == EM_BRANCH ? i->branch.reconverge : UINT32_MAX, count = 0;
    uint32_t behind =
        meet >= f->kernel->start && meet <= f->kernel->end ? f->block_of[meet - f->kernel->start] : NONE;
    uint32_t way = f->stamp = f->last_way + 1;
    for (uint32_t e = f->graph->out[b]; e < f->graph->out[b + 1]; e++)
        reach(f, f->graph->edges[e].to, behind, way++, &count);
    f->last_way = way;
    for (uint32_t n = 0; n < count; n++) f->blocks[f->visited[n]].partial = true;
    if (behind != NONE && i->control != EM_EXIT) f->blocks[behind].joined = true;
    if (f->seen[1][b] < f->stamp) return;
    uint8_t *has = cute_arena_alloc(f->own, f->graph->count);
    if (!has ||
        !cute_arena_more(f->own, &f->regions, f->region_count, &f->region_capacity, sizeof *f->regions, 8)) {
        f->failed = true;
        return;
    }
    for (uint32_t n = 0; n < count; n++) has[f->visited[n]] = 1;
    f->regions[f->region_count++] = (region){has, behind};
}

/* Values at the block's begin, out of those at the ends in front of it. */
static void join(follow *f, uint32_t b)
{
    flow_block *at = &f->blocks[b];
    uint32_t mask = b ? 0 : at->mask;
    bool reached = b == 0;
    for (uint32_t n = f->graph->in[b]; n < f->graph->in[b + 1]; n++) {
        uint32_t way = f->masks[f->graph->in_edges[n]];
        mask |= way;
        reached |= way != 0;
    }
    f->changed |= mask != at->mask || reached != at->reached;
    at->mask = mask;
    at->reached = reached;
    if (!reached) return;
    for (uint32_t m = 0; m < f->multi_count; m++) {
        const lane_values *all = NULL;
        lane_values sum;
        uint32_t have = 0;
        bool one_by_one = false;
        for (uint32_t n = f->graph->in[b]; n < f->graph->in[b + 1]; n++) {
            uint32_t from = f->graph->edges[f->graph->in_edges[n]].from,
                     way = f->masks[f->graph->in_edges[n]];
            const lane_values *v = way ? f->blocks[from].end[m] : NULL;
            if (!v) continue;
            for (size_t k = 0; k < f->region_count; k++)
                one_by_one |= f->regions[k].has[from] && !f->regions[k].has[b];
            if (!all)
                all = v;
            else if (all != v && !lanes_equal(all, v)) {
                if (!(have & way))
                    sum = lanes_select(way, v, all);
                else if (at->joined)
                    sum = lanes_vary(v->bits, "a value by the way that each lane took");
                else
                    sum = lanes_either(*all, *v);
                if (!sum.varies && !sum.why && !lanes_known(&sum)) sum.why = "the round of a loop";
                all = &sum;
            }
            have |= way;
        }
        if (!all) continue;
        if (one_by_one && !lanes_known(all)) {
            sum = lanes_vary(all->bits, "rounds of a loop that lanes leave one by one");
            all = &sum;
        }
        at->begin[m] = keep(f, all, at->begin[m]);
    }
}

static void leave(follow *f, uint32_t b)
{
    flow_block *at = &f->blocks[b];
    const em_inst *i = code(f, at->last);
    lane_values guard;
    uint32_t taken = at->mask, rest = at->mask;
    bool guarded = ends_block(i) && guard_of(f, at->end, i, &guard);
    if (guarded && lanes_known(&guard)) {
        taken &= lanes_of(&guard);
        rest &= ~lanes_of(&guard);
    } else if (guarded && !lanes_uniform(&guard)) {
        part(f, b);
    }
    if (i->control == EM_BRANCH_INDEX) {
        f->current = b;
        lane_values which = value_of(f, at->end, &i->o[0]);
        if (!lanes_uniform(&which)) part(f, b);
    }
    uint32_t last = f->graph->out[b + 1];
    for (uint32_t e = f->graph->out[b]; e < last; e++) {
        bool falls = (i->guard || i->control == EM_NEXT) && e + 1 == last;
        uint32_t mask = falls ? (i->control == EM_NEXT ? at->mask : rest) : taken;
        f->changed |= f->masks[e] != mask;
        f->masks[e] = mask;
    }
}

static void pass(follow *f)
{
    for (uint32_t b = 0; b < f->graph->count; b++) {
        flow_block *at = &f->blocks[b];
        join(f, b);
        if (!at->reached) continue;
        f->current = b;
        if (f->multi_count) memcpy(at->end, at->begin, f->multi_count * sizeof *at->end);
        for (uint32_t k = at->first; k <= at->last; k++)
            if (f->used[k - f->kernel->start]) execute(f, at->end, k, at->mask);
        leave(f, b);
    }
}

/* ---- accesses ---- */

/* By where a generic address leads. */
static cute_access_space space_of(const em_inst *i, lane_values *address, const char **unknown)
{
    if (i->space == EM_SHARED) return CUTE_ACCESS_SHARED;
    if (i->space == EM_GLOBAL) return CUTE_ACCESS_GLOBAL;
    uint64_t window = address->at[0] & ~(EM_WINDOW_SIZE - 1);
    if (address->varies) return CUTE_ACCESS_GLOBAL;
    if (window == EM_SHARED_WINDOW) {
        *address = lanes_sub(*address, lanes_constant(address->bits, EM_SHARED_WINDOW));
        return CUTE_ACCESS_SHARED;
    }
    if (!address->pointer) *unknown = "a generic address that may be of any memory";
    return CUTE_ACCESS_GLOBAL;
}

typedef struct side {
    int operand;
    uint32_t bytes;
    cute_access_space space;
} side;

static int sides_of(const em_inst *i, side out[2])
{
    uint32_t bytes = ptx_types[i->type].bytes;
    bool here = i->space == EM_GLOBAL || i->space == EM_SHARED || i->space == EM_GENERIC;
    /* st.async and red.async go to shared memory of the cluster. */
    cute_access_space memory = em_has(i, EM_M_async) ? CUTE_ACCESS_SHARED : CUTE_ACCESS_GLOBAL;
    switch (i->opcode) {
    case EM_OP_ld:
    case EM_OP_ldu:
        if (!here || i->count < 2) return 0;
        out[0] = (side){1, i->memory.used ? i->memory.used : bytes * i->memory.vector, CUTE_ACCESS_GLOBAL};
        return 1;
    case EM_OP_st:
        if (!here || i->count < 2) return 0;
        out[0] = (side){0, bytes * i->memory.vector, memory};
        return 1;
    case EM_OP_atom:
    case EM_OP_red:
        if (!here || i->count < 2) return 0;
        out[0] = (side){i->memory.address, bytes * i->memory.vector, memory};
        return 1;
    case EM_OP_ldmatrix:
    case EM_OP_stmatrix:
        if (i->count < 2) return 0;
        out[0] = (side){i->opcode == EM_OP_stmatrix ? 0 : 1, 16, CUTE_ACCESS_SHARED};
        return 1;
    case EM_OP_cp:
        if (!em_has(i, EM_M_async) || em_has(i, EM_M_bulk) || i->count < 3 || i->o[0].kind != EM_O_MEMORY ||
            i->o[1].kind != EM_O_MEMORY)
            return 0;
        out[0] = (side){1, i->copy.bytes, CUTE_ACCESS_GLOBAL};
        out[1] = (side){0, i->copy.bytes, CUTE_ACCESS_SHARED};
        return 2;
    default: return 0;
    }
}

static lane_values address_of(const follow *f, const lane_values *const *multi, const em_operand *memory)
{
    lane_values address = value_of(f, multi, &memory->list[0]);
    if (!memory->offset) return address;
    return lanes_add(address, lanes_constant(address.bits, (uint64_t)memory->offset));
}

/* Lanes of a cp.async that read nothing: its last operand says how many bytes, or that they are not read. */
static void reading(const follow *f, const lane_values *const *multi, const em_inst *i, follow_access *a)
{
    if (i->count <= 3) return;
    lane_values v = value_of(f, multi, &i->o[3]);
    if (!lanes_known(&v)) {
        a->lanes_assumed = true;
        return;
    }
    for (int l = 0; l < LANES; l++) {
        bool reads = v.bits == 1 ? !v.at[l] : v.at[l] > 0;
        if (!reads) a->idle |= 1u << l;
        if (v.bits > 1 && v.at[l] && v.at[l] < i->copy.bytes) a->lanes_assumed = true;
    }
}

static void tell(follow *f, const lane_values **multi, uint32_t at, const flow_block *b, follow_sink *sink,
                 void *context)
{
    const em_inst *i = code(f, at);
    side sides[2];
    int count = i->hidden ? 0 : sides_of(i, sides);
    lane_values guard;
    for (int n = 0; n < count; n++) {
        const em_operand *memory = &i->o[sides[n].operand];
        if (memory->kind != EM_O_MEMORY) continue;
        lane_values address = address_of(f, multi, memory), other;
        follow_access a = {.inst = at,
                           .side = n,
                           .bytes = sides[n].bytes,
                           .address = &address,
                           .mask = b->mask,
                           .lanes_assumed = b->partial,
                           .in_loop = b->in_loop};
        bool fixed = i->opcode == EM_OP_cp || sides[n].space == CUTE_ACCESS_SHARED;
        a.space = fixed ? sides[n].space : space_of(i, &address, &a.unknown);
        if (guard_of(f, multi, i, &guard)) {
            if (lanes_known(&guard))
                a.mask &= lanes_of(&guard);
            else if (!lanes_uniform(&guard))
                a.lanes_assumed = true;
        }
        if (i->opcode == EM_OP_cp) {
            other = address_of(f, multi, &i->o[sides[!n].operand]);
            a.other = &other;
            reading(f, multi, i, &a);
            if (!n) a.mask &= ~a.idle;
        }
        if (i->opcode == EM_OP_ldmatrix || i->opcode == EM_OP_stmatrix) {
            int rows = em_has(i, EM_M_x4) ? 32 : em_has(i, EM_M_x2) ? 16 : 8;
            a.mask &= rows == 32 ? UINT32_MAX : (1u << rows) - 1;
        }
        sink(context, &a);
    }
}

static bool begin(follow *f, uint32_t index)
{
    f->index = index;
    f->failed = false;
    f->regions = NULL;
    f->region_count = f->region_capacity = 0;
    f->scratch = cute_arena_alloc(f->own, sizeof *f->scratch);
    uint8_t *slots = cute_arena_alloc(f->own, SLOTS * 8 * EM_LANES + 64);
    f->values = cute_arena_array(f->own, f->reg_count + 1, sizeof *f->values);
    f->last_made = cute_arena_array(f->own, f->made + 1, sizeof *f->last_made);
    for (int n = 0; n < 2; n++) f->seen[n] = cute_arena_array(f->own, f->graph->count + 1, sizeof(uint32_t));
    f->visited = cute_arena_array(f->own, f->graph->count + 1, sizeof *f->visited);
    f->stack = cute_arena_array(f->own, f->graph->count + 1, sizeof *f->stack);
    f->last_way = 0;
    if (!f->scratch || !slots || !f->values || !f->last_made || !f->seen[0] || !f->seen[1] || !f->visited ||
        !f->stack)
        return false;
    f->scratch->base[EM_BASE_REGISTERS] = slots + (64 - (uintptr_t)slots % 64) % 64;
    f->scratch->base[EM_BASE_CONSTANTS] = f->pool;
    f->scratch->base[EM_BASE_SREGS] = (uint8_t *)f->scratch->sregs;
    memset(f->masks, 0, f->graph->edge_count * sizeof *f->masks);
    for (uint32_t b = 0; b < f->graph->count; b++) {
        flow_block *at = &f->blocks[b];
        at->reached = at->partial = at->joined = at->varying = false;
        at->mask = 0;
        at->begin = cute_arena_array(f->own, f->multi_count + 1, sizeof *at->begin);
        at->end = cute_arena_array(f->own, f->multi_count + 1, sizeof *at->end);
        if (!at->begin || !at->end) return false;
    }
    uint32_t left = f->threads ? f->threads - index * LANES : LANES;
    f->blocks[0].mask = left >= LANES ? UINT32_MAX : (1u << left) - 1;
    return true;
}

static void tell_all(follow *f, bool settled, follow_sink *sink, void *context)
{
    if (!settled) memset(f->values, 0, f->reg_count * sizeof *f->values);
    for (uint32_t b = 0; b < f->graph->count; b++) {
        flow_block *at = &f->blocks[b];
        if (!at->reached) continue;
        f->current = b;
        for (uint32_t m = 0; m < f->multi_count; m++) at->end[m] = settled ? at->begin[m] : NULL;
        for (uint32_t k = at->first; k <= at->last; k++) {
            tell(f, at->end, k, at, sink, context);
            if (settled && f->used[k - f->kernel->start]) execute(f, at->end, k, at->mask);
        }
    }
}

cute_status follow_warp(follow *f, uint32_t index, follow_sink *sink, void *context, cute_diag *diag)
{
    int passes = 0;
    f->own = cute_arena_create();
    if (!f->own || !begin(f, index)) f->failed = true;
    for (uint32_t b = 0; f->too_large && !f->failed && b < f->graph->count; b++) {
        f->blocks[b].reached = f->blocks[b].partial = true;
        f->blocks[b].mask = f->blocks[0].mask;
    }
    f->changed = !f->too_large;
    while (f->changed && !f->failed && passes++ < PASSES) {
        f->changed = false;
        pass(f);
    }
    if (!f->failed) tell_all(f, !f->changed && !f->too_large, sink, context);
    cute_arena_destroy(f->own);
    f->own = NULL;
    return f->failed ? cute_fail_memory(diag) : CUTE_OK;
}
