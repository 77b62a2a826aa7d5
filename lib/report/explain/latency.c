/* Findings of latency: chains of loads, one load at a time, copies without stages. */
#include <string.h>

#include "lib/report/explain/context.h"

static bool loads_global(const x_inst *i)
{
    return i->access == CUTE_ACCESS_LOAD &&
           (i->space == CUTE_CODE_SPACE_GLOBAL || i->space == CUTE_CODE_SPACE_GENERIC);
}

typedef struct search {
    const x_function *f;
    uint32_t loop;
    int64_t wanted; /* instruction */
    uint8_t *seen;  /* by value */
    unsigned budget;
} search;

/* Whether the value comes from the instruction, in the loop. */
static bool comes_from(search *s, const x_value *v)
{
    if (v == s->f->values || s->seen[v - s->f->values] || !s->budget) return false;
    s->seen[v - s->f->values] = 1;
    s->budget--;
    if (!x_made_in(s->f, v, s->loop)) return false;
    if (v->phi) {
        for (uint32_t k = 0; k < v->arg_count; k++)
            if (comes_from(s, x_at(s->f, v->args[k]))) return true;
        return false;
    }
    if (v->inst == s->wanted) return true;
    const x_inst *i = &s->f->insts[v->inst];
    for (unsigned u = 0; u < i->use_count; u++)
        if (i->uses[u].kind == X_VAR && comes_from(s, x_use(s->f, &i->uses[u]))) return true;
    return false;
}

/* Whether the address of `i` comes from what `from` loads, in the loop. */
static bool depends_on(explain_context *c, const x_inst *i, const x_inst *from, uint32_t loop)
{
    search s = {.f = c->f, .loop = loop, .wanted = from - c->f->insts, .budget = 600};
    s.seen = cute_arena_array(c->arena, c->f->value_count + 1, 1);
    if (!s.seen) {
        c->failed = true;
        return false;
    }
    for (int k = 0; k < 2; k++) {
        int at = k ? i->address2 : i->address;
        if (at >= 0 && i->uses[at].kind == X_VAR && comes_from(&s, x_use(c->f, &i->uses[at]))) return true;
    }
    return false;
}

static bool follows_itself(explain_context *c, const x_inst *i, uint32_t loop)
{
    return depends_on(c, i, i, loop);
}

bool explain_is_chased(explain_context *c, const x_inst *i)
{
    const x_function *f = c->f;
    uint32_t loop = x_loop_of(f, i);
    if (i->chain >= X_LONG_CHAIN) return true;
    if (loop == CUTE_NO_LOOP || !loads_global(i) || !(x_address_depends(f, i) & X_LOADED)) return false;
    if (follows_itself(c, i, loop)) return true;
    for (uint32_t b = 0; b < f->flow->block_count; b++)
        for (size_t k = 0; f->flow->blocks[b].loop == loop && k < f->flow->blocks[b].count; k++) {
            const x_inst *from = &f->insts[f->flow->blocks[b].first + k];
            if (from != i && loads_global(from) && x_address_depends(f, from) & X_LOADED &&
                follows_itself(c, from, loop) && depends_on(c, i, from, loop))
                return true;
        }
    return false;
}

/* Cycles for sectors that lanes with chains of their own do not share. */
static double scattered(const x_function *f, const x_inst *i)
{
    uint64_t at[X_LANES];
    uint32_t active;
    unsigned width = i->width ? i->width : 4;
    if (i->seen && i->seen->ideal > 0) return (i->seen->count - i->seen->ideal) * SECTOR_COST;
    if (!x_address_varying(f, i) || x_addresses(f, i, at, &active) || width > 8) return 0;
    return SECTOR_COST * (X_LANES / 2 - (double)width) * 0.75;
}

/* A chain of the same code in one iteration, or in no loop: each of its loads adds a latency. */
static void judge_chain(explain_context *c, const x_inst *i, double more, const char *apart)
{
    explain_add_wait(c, i, (explain_exposed(c, LATENCY_GLOBAL) + more) * x_weight(c->f, i), NULL,
                     "one of %u loads in a row, each of which has its address from the one before: %d cycles "
                     "each%s",
                     i->chain, LATENCY_GLOBAL, apart);
}

void find_chases(explain_context *c)
{
    const x_function *f = c->f;
    for (size_t n = 0; n < f->count; n++) {
        const x_inst *i = &f->insts[n];
        uint32_t loop = x_loop_of(f, i);
        bool shared = i->access == CUTE_ACCESS_LOAD && i->space == CUTE_CODE_SPACE_SHARED;
        if (!x_reached(f, i) || (!loads_global(i) && !shared) || i->flags & F_VOLATILE) continue;
        double more = shared ? 0 : scattered(f, i);
        const char *apart = more > 0 ? "; each lane is somewhere else, in a sector of its own" : "";
        bool follows = loop != CUTE_NO_LOOP && follows_itself(c, i, loop);
        if (!follows && i->chain >= X_LONG_CHAIN) {
            judge_chain(c, i, more, apart);
            continue;
        }
        if (!follows) {
            if (loop != CUTE_NO_LOOP && more > 0 && explain_is_chased(c, i))
                explain_add_wait(c, i, more * x_weight(f, i), NULL,
                                 "it lies where a chain of loads has led%s", apart);
            continue;
        }
        int latency = shared ? 30 : LATENCY_GLOBAL;
        explain_add_wait(c, i, (explain_exposed(c, latency) + more) * x_weight(f, i), NULL,
                         "its address comes from what it loaded one iteration before: %d cycles each%s",
                         latency, apart);
    }
}

/* Where there is no machine code: ptxas unrolls a loop that counts, unless .pragma "nounroll" stands in front of its first
 * instruction. */
static double unrolled(const explain_context *c, uint32_t loop)
{
    const x_function *f = c->f;
    const cute_code_block *header = &f->flow->blocks[f->flow->loops[loop].header];
    size_t length;
    const char *text = cute_module_ptx(c->input->module, &length), *end = text ? text + length : NULL;
    if (c->sass || !text || !f->loops[loop].counts || !header->count) return 1;
    int64_t first = f->insts[header->first].ptx_line, line = 1;
    for (const char *at = text; at < end && line < first; line++) {
        const char *next = memchr(at, '\n', (size_t)(end - at));
        size_t chars = next ? (size_t)(next - at) : (size_t)(end - at);
        if (line + 4 >= first && memmem(at, chars, "nounroll", 8)) return 1;
        at = next ? next + 1 : end;
    }
    return 4;
}

void find_single_loads(explain_context *c)
{
    const x_function *f = c->f;
    for (uint32_t n = 0; n < f->flow->loop_count; n++) {
        const x_inst *load = NULL;
        unsigned loads = 0, levels = 1;
        bool other = f->loops[n].waits;
        if (!f->flow->loops[n].innermost || f->loops[n].trips < 8) continue;
        for (size_t k = 0; k < f->count; k++) {
            const x_inst *i = &f->insts[k];
            if (!explain_in_loop(f, i, n)) continue;
            other |= i->flags & (F_TMA | F_ASYNC | F_MMA | F_WGMMA | F_CALL) || i->class == CUTE_CODE_SYNC ||
                     i->access == CUTE_ACCESS_ATOMIC;
            if (!loads_global(i)) continue;
            loads++;
            if (load && depends_on(c, i, load, n)) levels++;
            load = i;
        }
        if (other || !loads || loads != levels || load->width > 4 || load->width == 0 ||
            load->flags & F_VOLATILE)
            continue;
        if (!explain_moves(f, load, n) || follows_itself(c, load, n)) continue;
        double body = explain_loop_cost(f, n) / (x_weight(f, load) > 0 ? x_weight(f, load) : 1);
        double exposed = explain_exposed(c, LATENCY_LOADED * (double)levels) / unrolled(c, n) - body;
        if (exposed <= 0) continue;
        if (levels > 1)
            explain_add_wait(
                c, load, exposed * 0.75 * x_weight(f, load), NULL,
                "%u loads of an iteration, each of which has its address from the one before; about "
                "%.0f iterations",
                levels, f->loops[n].trips);
        else
            explain_add_wait(c, load, exposed * 0.75 * x_weight(f, load), NULL,
                             "the only load of an iteration, of %u bytes a lane; about %.0f iterations",
                             load->width, f->loops[n].trips);
    }
}

/* ---- stages ---- */

static bool works(const x_inst *i)
{
    return (i->flags & (F_MATH | F_MMA | F_WGMMA)) != 0;
}

/* Registers are moved to uniform ones for a copy. */
static x_operand unmoved(const x_function *f, x_operand o)
{
    for (int hops = 0; hops < 4 && o.kind == X_VAR; hops++) {
        const x_value *v = x_use(f, &o);
        if (v->inst < 0 || f->insts[v->inst].op != X_MOV || f->insts[v->inst].guard >= 0 ||
            f->insts[v->inst].def_count != 1)
            break;
        o = f->insts[v->inst].uses[0];
    }
    return o;
}

static bool same_operand(const x_function *f, const x_operand *first, const x_operand *second)
{
    const x_operand one = unmoved(f, *first), two = unmoved(f, *second), *a = &one, *b = &two;
    if (a->kind != b->kind) return false;
    return a->kind == X_VAR ? x_use(f, a) == x_use(f, b) && x_use(f, a) != f->values
                            : a->kind == X_IMM && a->imm == b->imm;
}

/* The barrier that a bulk copy completes is among its operands. */
static bool waits_for(const x_function *f, const x_inst *wait, const x_inst *copy)
{
    if (wait->flags & F_WAIT_ASYNC) return copy->flags & F_ASYNC && wait->offset == 0;
    if (!(copy->flags & F_TMA) || wait->address < 0 || (f->sass && wait->offset)) return false;
    for (unsigned u = 1; u < copy->use_count; u++)
        if (same_operand(f, &wait->uses[wait->address], &copy->uses[u])) return true;
    return false;
}

void find_missing_stages(explain_context *c)
{
    const x_function *f = c->f;
    for (size_t n = 0; n < f->count; n++) {
        const x_inst *copy = &f->insts[n];
        uint32_t loop = x_loop_of(f, copy);
        if (!(copy->flags & (F_ASYNC | F_TMA)) || !x_reached(f, copy)) continue;
        /* Machine code elects a lane for a bulk copy in a loop of its own. */
        while (f->sass && loop != CUTE_NO_LOOP && f->loops[loop].waits) loop = f->flow->loops[loop].parent;
        /* A copy that one lane issues stands under a branch of the loop, in its own block, with the same loop. */
        if (loop == CUTE_NO_LOOP) continue;
        for (size_t k = n + 1; k < f->count; k++) {
            const x_inst *wait = &f->insts[k];
            if (!explain_in_loop(f, wait, loop) || works(wait)) break;
            if (!(wait->flags & (F_WAIT_ASYNC | F_WAIT_MBARRIER)) || !waits_for(f, wait, copy)) continue;
            bool work = false;
            for (size_t w = k + 1; w < f->count && !work; w++)
                work = explain_in_loop(f, &f->insts[w], loop) && works(&f->insts[w]);
            if (work)
                explain_add_wait(c, wait, explain_exposed(c, LATENCY_GLOBAL + 200) * x_weight(f, copy), NULL,
                                 "no work stands between the copy and the wait for it");
            break;
        }
    }
}
