/* Chains of dependent loads within one iteration: pointer chasing in an unrolled loop or in straight-line code. Loop-carried
 * chains are not followed here. */
#include "lib/code/function.h"

static bool is_global_load(const ssa_inst *i)
{
    return i->access == CUTE_ACCESS_LOAD && i->address >= 0 &&
           (i->space == CUTE_CODE_SPACE_GLOBAL || i->space == CUTE_CODE_SPACE_GENERIC);
}

/* The operand belongs to the chain; of a load only the address does, not the guard. */
static bool is_chain_operand(const ssa_inst *i, unsigned use)
{
    return i->uses[use].kind == SSA_VAR &&
           (!is_global_load(i) || (int)use == i->address || (int)use == i->address2);
}

static uint16_t saturating_increment(uint16_t n)
{
    return n < UINT16_MAX / 2 ? (uint16_t)(n + 1) : n;
}

bool ssa_find_chains(ssa_function *f)
{
    /* By value: lengths of the longest chains that end at it and that start from it. Phis end chains. */
    uint16_t *before = cute_arena_array(f->arena, f->value_count + 1, sizeof *before);
    uint16_t *after = cute_arena_array(f->arena, f->value_count + 1, sizeof *after);
    if (!before || !after) return false;
    for (size_t n = 0; n < f->count; n++) {
        ssa_inst *i = &f->insts[n];
        uint16_t most = 0;
        for (unsigned u = 0; u < i->use_count; u++) {
            const ssa_value *v = ssa_value_of(f, &i->uses[u]);
            if (is_chain_operand(i, u) && !v->phi && before[v - f->values] > most)
                most = before[v - f->values];
        }
        if (is_global_load(i)) i->chain = most = saturating_increment(most);
        for (unsigned d = 0; d < i->def_count; d++) before[i->first_value + d] = most;
    }
    for (size_t n = f->count; n-- > 0;) {
        ssa_inst *i = &f->insts[n];
        uint16_t most = 0;
        for (unsigned d = 0; d < i->def_count; d++)
            if (after[i->first_value + d] > most) most = after[i->first_value + d];
        if (is_global_load(i)) {
            i->chain = (uint16_t)(i->chain + most);
            most = saturating_increment(most);
        }
        for (unsigned u = 0; u < i->use_count; u++) {
            const ssa_value *v = ssa_value_of(f, &i->uses[u]);
            if (is_chain_operand(i, u) && !v->phi && after[v - f->values] < most) after[v - f->values] = most;
        }
    }
    return true;
}
