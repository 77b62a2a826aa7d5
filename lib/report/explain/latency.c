/* Latency findings: dependent loads, one load in flight, copies that are not overlapped. */
#include <string.h>

#include "lib/report/explain/context.h"

static bool is_global_load(const ssa_inst *i)
{
    return i->access == CUTE_ACCESS_LOAD &&
           (i->space == CUTE_CODE_SPACE_GLOBAL || i->space == CUTE_CODE_SPACE_GENERIC);
}

typedef struct search {
    const ssa_function *f;
    uint32_t loop;
    int64_t wanted; /* instruction */
    uint8_t *seen;  /* by value */
    unsigned budget;
} search;

/* The value depends on the wanted instruction, within the loop. */
static bool depends_on_wanted(search *s, const ssa_value *v)
{
    if (v == s->f->values || s->seen[v - s->f->values] || !s->budget) return false;
    s->seen[v - s->f->values] = 1;
    s->budget--;
    if (!ssa_is_defined_in(s->f, v, s->loop)) return false;
    if (v->phi) {
        for (uint32_t k = 0; k < v->arg_count; k++)
            if (depends_on_wanted(s, ssa_value_at(s->f, v->args[k]))) return true;
        return false;
    }
    if (v->inst == s->wanted) return true;
    const ssa_inst *i = &s->f->insts[v->inst];
    for (unsigned u = 0; u < i->use_count; u++)
        if (i->uses[u].kind == SSA_VAR && depends_on_wanted(s, ssa_value_of(s->f, &i->uses[u]))) return true;
    return false;
}

/* The address of `i` depends on the load `from`, within the loop. */
static bool address_depends_on(explain_context *c, const ssa_inst *i, const ssa_inst *from, uint32_t loop)
{
    search s = {.f = c->f, .loop = loop, .wanted = from - c->f->insts, .budget = 600};
    s.seen = cute_arena_array(c->arena, c->f->value_count + 1, 1);
    if (!s.seen) {
        c->failed = true;
        return false;
    }
    for (int k = 0; k < 2; k++) {
        int at = k ? i->address2 : i->address;
        if (at >= 0 && i->uses[at].kind == SSA_VAR && depends_on_wanted(&s, ssa_value_of(c->f, &i->uses[at])))
            return true;
    }
    return false;
}

/* The address depends on the value loaded in the previous iteration. */
static bool is_loop_carried_load(explain_context *c, const ssa_inst *i, uint32_t loop)
{
    return address_depends_on(c, i, i, loop);
}

bool explain_is_chased(explain_context *c, const ssa_inst *i)
{
    const ssa_function *f = c->f;
    uint32_t loop = ssa_loop_of(f, i);
    if (i->chain >= SSA_LONG_CHAIN) return true;
    if (loop == CUTE_NO_LOOP || !is_global_load(i) || !(ssa_address_depends(f, i) & DEPENDS_LOADED))
        return false;
    if (is_loop_carried_load(c, i, loop)) return true;
    for (uint32_t b = 0; b < f->flow->block_count; b++)
        for (size_t k = 0; f->flow->blocks[b].loop == loop && k < f->flow->blocks[b].count; k++) {
            const ssa_inst *from = &f->insts[f->flow->blocks[b].first + k];
            if (from != i && is_global_load(from) && ssa_address_depends(f, from) & DEPENDS_LOADED &&
                is_loop_carried_load(c, from, loop) && address_depends_on(c, i, from, loop))
                return true;
        }
    return false;
}

/* Additional cycles if each lane accesses its own sector. */
static double scattered_cost(const ssa_function *f, const ssa_inst *i)
{
    uint64_t at[LANES];
    uint32_t active;
    unsigned width = i->width ? i->width : 4;
    if (i->counters && i->counters->ideal > 0) return (i->counters->count - i->counters->ideal) * SECTOR_COST;
    if (!ssa_address_varies(f, i) || ssa_addresses(f, i, at, &active) || width > 8) return 0;
    return SECTOR_COST * (LANES / 2 - (double)width) * 0.75;
}

/* Dependent loads of straight-line code: each adds its latency. */
static void check_load_chain(explain_context *c, const ssa_inst *i, double more, const char *scattered)
{
    explain_add_wait(c, i, (explain_exposed(c, LATENCY_GLOBAL) + more) * ssa_weight(c->f, i), NULL,
                     "one of %u dependent loads: each computes its address from the previous one, %d cycles "
                     "each%s",
                     i->chain, LATENCY_GLOBAL, scattered);
}

void find_chases(explain_context *c)
{
    const ssa_function *f = c->f;
    for (size_t n = 0; n < f->count; n++) {
        const ssa_inst *i = &f->insts[n];
        uint32_t loop = ssa_loop_of(f, i);
        bool shared = i->access == CUTE_ACCESS_LOAD && i->space == CUTE_CODE_SPACE_SHARED;
        if (!ssa_is_reached(f, i) || (!is_global_load(i) && !shared) || i->flags & INST_VOLATILE) continue;
        double more = shared ? 0 : scattered_cost(f, i);
        const char *scattered = more > 0 ? "; each lane accesses its own sector" : "";
        bool follows = loop != CUTE_NO_LOOP && is_loop_carried_load(c, i, loop);
        if (!follows && i->chain >= SSA_LONG_CHAIN) {
            check_load_chain(c, i, more, scattered);
            continue;
        }
        if (!follows) {
            if (loop != CUTE_NO_LOOP && more > 0 && explain_is_chased(c, i))
                explain_add_wait(c, i, more * ssa_weight(f, i), NULL,
                                 "the address is the result of pointer chasing%s", scattered);
            continue;
        }
        int latency = shared ? 30 : LATENCY_GLOBAL;
        explain_add_wait(
            c, i, (explain_exposed(c, latency) + more) * ssa_weight(f, i), NULL,
            "the address depends on the value loaded in the previous iteration: %d cycles each%s", latency,
            scattered);
    }
}

/* The expected unroll factor if there is no SASS: ptxas unrolls counted loops unless .pragma "nounroll" precedes them. */
static double unroll_factor(const explain_context *c, uint32_t loop)
{
    const ssa_function *f = c->f;
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
    const ssa_function *f = c->f;
    for (uint32_t n = 0; n < f->flow->loop_count; n++) {
        const ssa_inst *load = NULL;
        unsigned loads = 0, levels = 1;
        bool other = f->loops[n].waits;
        if (!f->flow->loops[n].innermost || f->loops[n].trips < 8) continue;
        for (size_t k = 0; k < f->count; k++) {
            const ssa_inst *i = &f->insts[k];
            if (!explain_in_loop(f, i, n)) continue;
            other |= i->flags & (INST_TMA | INST_ASYNC | INST_MMA | INST_WGMMA | INST_CALL) ||
                     i->class == CUTE_CODE_SYNC || i->access == CUTE_ACCESS_ATOMIC;
            if (!is_global_load(i)) continue;
            loads++;
            if (load && address_depends_on(c, i, load, n)) levels++;
            load = i;
        }
        if (other || !loads || loads != levels || load->width > 4 || load->width == 0 ||
            load->flags & INST_VOLATILE)
            continue;
        if (!explain_address_changes(f, load, n) || is_loop_carried_load(c, load, n)) continue;
        double body = explain_loop_cost(f, n) / (ssa_weight(f, load) > 0 ? ssa_weight(f, load) : 1);
        double exposed = explain_exposed(c, LATENCY_LOADED * (double)levels) / unroll_factor(c, n) - body;
        if (exposed <= 0) continue;
        if (levels > 1)
            explain_add_wait(
                c, load, exposed * 0.75 * ssa_weight(f, load), NULL,
                "%u dependent loads per iteration, each computes its address from the previous one; about "
                "%.0f iterations",
                levels, f->loops[n].trips);
        else
            explain_add_wait(c, load, exposed * 0.75 * ssa_weight(f, load), NULL,
                             "the only load of an iteration, %u bytes per lane; about %.0f iterations",
                             load->width, f->loops[n].trips);
    }
}

/* ---- stages ---- */

static bool is_math(const ssa_inst *i)
{
    return (i->flags & (INST_MATH | INST_MMA | INST_WGMMA)) != 0;
}

/* The operand before moves: SASS moves the operands of a copy to uniform registers. */
static ssa_operand skip_moves(const ssa_function *f, ssa_operand o)
{
    for (int hops = 0; hops < 4 && o.kind == SSA_VAR; hops++) {
        const ssa_value *v = ssa_value_of(f, &o);
        if (v->inst < 0 || f->insts[v->inst].op != SSA_MOV || f->insts[v->inst].guard >= 0 ||
            f->insts[v->inst].def_count != 1)
            break;
        o = f->insts[v->inst].uses[0];
    }
    return o;
}

static bool same_operand(const ssa_function *f, const ssa_operand *first, const ssa_operand *second)
{
    const ssa_operand one = skip_moves(f, *first), two = skip_moves(f, *second), *a = &one, *b = &two;
    if (a->kind != b->kind) return false;
    return a->kind == SSA_VAR ? ssa_value_of(f, a) == ssa_value_of(f, b) && ssa_value_of(f, a) != f->values
                              : a->kind == SSA_IMM && a->imm == b->imm;
}

/* A bulk copy has the mbarrier that it completes as an operand. */
static bool waits_for_copy(const ssa_function *f, const ssa_inst *wait, const ssa_inst *copy)
{
    if (wait->flags & INST_WAIT_ASYNC) return copy->flags & INST_ASYNC && wait->offset == 0;
    if (!(copy->flags & INST_TMA) || wait->address < 0 || (f->sass && wait->offset)) return false;
    for (unsigned u = 1; u < copy->use_count; u++)
        if (same_operand(f, &wait->uses[wait->address], &copy->uses[u])) return true;
    return false;
}

void find_missing_stages(explain_context *c)
{
    const ssa_function *f = c->f;
    for (size_t n = 0; n < f->count; n++) {
        const ssa_inst *copy = &f->insts[n];
        uint32_t loop = ssa_loop_of(f, copy);
        if (!(copy->flags & (INST_ASYNC | INST_TMA)) || !ssa_is_reached(f, copy)) continue;
        /* SASS elects a lane for a bulk copy in a separate loop. */
        while (f->sass && loop != CUTE_NO_LOOP && f->loops[loop].waits) loop = f->flow->loops[loop].parent;
        if (loop == CUTE_NO_LOOP) continue;
        for (size_t k = n + 1; k < f->count; k++) {
            const ssa_inst *wait = &f->insts[k];
            if (!explain_in_loop(f, wait, loop) || is_math(wait)) break;
            if (!(wait->flags & (INST_WAIT_ASYNC | INST_WAIT_MBARRIER)) || !waits_for_copy(f, wait, copy))
                continue;
            bool work = false;
            for (size_t w = k + 1; w < f->count && !work; w++)
                work = explain_in_loop(f, &f->insts[w], loop) && is_math(&f->insts[w]);
            if (work)
                explain_add_wait(c, wait, explain_exposed(c, LATENCY_GLOBAL + 200) * ssa_weight(f, copy),
                                 NULL, "no computation between the copy and its wait");
            break;
        }
    }
}
