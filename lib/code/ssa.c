/* Builds static single assignment form (Braun et al., "Simple and efficient construction of static single assignment form"): all
 * definitions are numbered first, then the values at block entries are found on demand. */
#include <string.h>

#include "lib/base/list.h"
#include "lib/code/function.h"

/* (block, variable) -> value: open addressing. */
typedef struct slot {
    uint32_t block, var, value;
} slot;
typedef struct table {
    cute_arena *arena;
    slot *slots;
    size_t count, size; /* size: a power of two */
} table;

static slot *find_slot(slot *slots, size_t size, uint32_t block, uint32_t var)
{
    uint64_t h = ((uint64_t)block << 32 | var) * UINT64_C(0x9e3779b97f4a7c15);
    size_t at = (size_t)(h >> 32) & (size - 1);
    while (slots[at].value && (slots[at].block != block || slots[at].var != var)) at = (at + 1) & (size - 1);
    return &slots[at];
}

static bool set_value(table *t, uint32_t block, uint32_t var, uint32_t value)
{
    if (t->count * 2 >= t->size) {
        size_t size = t->size ? t->size * 2 : 1024;
        slot *slots = cute_arena_array(t->arena, size, sizeof *slots);
        if (!slots) return false;
        for (size_t i = 0; i < t->size; i++)
            if (t->slots[i].value) *find_slot(slots, size, t->slots[i].block, t->slots[i].var) = t->slots[i];
        t->slots = slots;
        t->size = size;
    }
    slot *s = find_slot(t->slots, t->size, block, var);
    t->count += !s->value;
    *s = (slot){block, var, value};
    return true;
}

static uint32_t get_value(const table *t, uint32_t block, uint32_t var)
{
    return t->size ? find_slot(t->slots, t->size, block, var)->value : 0;
}

static bool add_value(ssa_function *f, int64_t inst, uint32_t block, uint32_t *out)
{
    if (!cute_arena_more(f->arena, &f->values, f->value_count, &f->value_capacity, sizeof *f->values, 256))
        return false;
    *out = (uint32_t)f->value_count++;
    f->values[*out] = (ssa_value){.inst = inst, .block = block, .same = *out};
    return true;
}

typedef struct builder {
    ssa_function *f;
    table entry, exit; /* exit: the last definition in a block */
    bool failed;
} builder;

static uint32_t value_at_exit(builder *b, uint32_t block, uint32_t var, int depth);

enum { DEEPEST = 4000 };

static uint32_t value_at_entry(builder *b, uint32_t block, uint32_t var, int depth)
{
    ssa_function *f = b->f;
    uint32_t start = block, value = get_value(&b->entry, block, var);
    if (value) return value - 1;
    /* Walk chains of single predecessors without recursion. Block 0 also has the function's entry as a predecessor. */
    while (block && f->blocks[block].before_count == 1) {
        uint32_t before = f->blocks[block].before[0], made = get_value(&b->exit, before, var);
        if (made) {
            b->failed |= !set_value(&b->entry, start, var, made);
            return made - 1;
        }
        block = before;
        value = get_value(&b->entry, block, var);
        if (value) return value - 1;
    }
    if (!f->blocks[block].before_count || depth > DEEPEST) {
        b->failed |= !set_value(&b->entry, start, var, SSA_NO_VALUE + 1);
        return SSA_NO_VALUE;
    }
    uint32_t phi, count = f->blocks[block].before_count;
    uint32_t *args = cute_arena_array(f->arena, count, sizeof *args);
    if (!args || !add_value(f, -1, block, &phi) || !set_value(&b->entry, block, var, phi + 1)) {
        b->failed = true;
        return SSA_NO_VALUE;
    }
    f->values[phi].phi = true;
    f->values[phi].next_phi = f->blocks[block].first_phi;
    f->blocks[block].first_phi = phi;
    for (uint32_t k = 0; k < count; k++)
        args[k] = value_at_exit(b, f->blocks[block].before[k], var, depth + 1);
    f->values[phi].args = args;
    f->values[phi].arg_count = count;
    if (start != block) b->failed |= !set_value(&b->entry, start, var, phi + 1);
    return phi;
}

static uint32_t value_at_exit(builder *b, uint32_t block, uint32_t var, int depth)
{
    uint32_t made = get_value(&b->exit, block, var);
    return made ? made - 1 : value_at_entry(b, block, var, depth);
}

/* Replaces phis whose operands are all one value by that value, until nothing changes. */
static void remove_trivial_phis(ssa_function *f)
{
    for (bool again = true; again;) {
        again = false;
        for (size_t v = 1; v < f->value_count; v++) {
            ssa_value *p = &f->values[v];
            uint32_t only = UINT32_MAX;
            bool more = false;
            if (!p->phi || p->same != v) continue;
            for (uint32_t k = 0; k < p->arg_count; k++) {
                uint32_t arg = p->args[k];
                while (f->values[arg].same != arg) arg = f->values[arg].same;
                p->args[k] = arg;
                if (arg == v || arg == SSA_NO_VALUE) continue;
                if (only != UINT32_MAX && only != arg) more = true;
                only = arg;
            }
            if (more || only == UINT32_MAX) continue;
            p->same = only;
            again = true;
        }
    }
    for (size_t v = 1; v < f->value_count; v++) {
        uint32_t to = f->values[v].same;
        while (f->values[to].same != to) to = f->values[to].same;
        f->values[v].same = to;
    }
}

static bool find_predecessors(ssa_function *f)
{
    const cute_code_function *flow = f->flow;
    f->blocks = cute_arena_array(f->arena, flow->block_count + 1, sizeof *f->blocks);
    if (!f->blocks) return false;
    for (size_t b = 0; b < flow->block_count; b++)
        for (uint32_t e = 0; e < flow->blocks[b].edge_count; e++)
            if (flow->blocks[b].reached) f->blocks[flow->blocks[b].edges[e].to].before_count++;
    for (size_t b = 0; b < flow->block_count; b++) {
        f->blocks[b].before = cute_arena_array(f->arena, f->blocks[b].before_count + 1, sizeof(uint32_t));
        if (!f->blocks[b].before) return false;
        f->blocks[b].before_count = 0;
    }
    for (uint32_t b = 0; b < flow->block_count; b++)
        for (uint32_t e = 0; e < flow->blocks[b].edge_count; e++) {
            ssa_block *to = &f->blocks[flow->blocks[b].edges[e].to];
            if (flow->blocks[b].reached) to->before[to->before_count++] = b;
        }
    return true;
}

bool ssa_build(ssa_function *f)
{
    builder b = {.f = f, .entry = {.arena = f->arena}, .exit = {.arena = f->arena}};
    uint32_t *here = cute_arena_array(f->arena, (size_t)f->variables + 1, sizeof *here), none;
    uint32_t *stamp = cute_arena_array(f->arena, (size_t)f->variables + 1, sizeof *stamp);
    if (!here || !stamp || !find_predecessors(f) || !add_value(f, -1, 0, &none)) return false;
    for (size_t n = 0; n < f->count; n++) {
        ssa_inst *i = &f->insts[n];
        i->first_value = (uint32_t)f->value_count;
        for (uint32_t d = 0; d < i->def_count; d++) {
            uint32_t value;
            if (!add_value(f, (int64_t)n, i->block, &value)) return false;
            if (!set_value(&b.exit, i->block, i->defs[d], value + 1)) return false;
        }
    }
    for (size_t n = 0; n < f->count && !b.failed; n++) {
        ssa_inst *i = &f->insts[n];
        for (uint32_t u = 0; u < i->use_count; u++) {
            ssa_operand *o = &i->uses[u];
            if (o->kind != SSA_VAR) continue;
            o->value = stamp[o->var] == i->block + 1 ? here[o->var] : value_at_entry(&b, i->block, o->var, 0);
        }
        for (uint32_t d = 0; d < i->def_count; d++) {
            here[i->defs[d]] = i->first_value + d;
            stamp[i->defs[d]] = i->block + 1;
        }
    }
    if (b.failed) return false;
    remove_trivial_phis(f);
    return true;
}
