/* Loads in a row, each of which has its address from the one before: a list that is walked in an unrolled loop, or in none.
 * What a loop carries is for follows_itself (latency.c). */
#include "lib/code/function.h"

static bool is_link(const x_inst *i)
{
    return i->access == CUTE_ACCESS_LOAD && i->address >= 0 &&
           (i->space == CUTE_CODE_SPACE_GLOBAL || i->space == CUTE_CODE_SPACE_GENERIC);
}

/* Of a load its address alone: a guard says whether it is done, not where. */
static bool leads_on(const x_inst *i, unsigned use)
{
    return i->uses[use].kind == X_VAR && (!is_link(i) || (int)use == i->address || (int)use == i->address2);
}

static uint16_t one_more(uint16_t n)
{
    return n < UINT16_MAX / 2 ? (uint16_t)(n + 1) : n;
}

bool x_find_chains(x_function *f)
{
    /* By value: loads in a row that lead to it, and that it leads to. Phis begin anew. */
    uint16_t *before = cute_arena_array(f->arena, f->value_count + 1, sizeof *before);
    uint16_t *behind = cute_arena_array(f->arena, f->value_count + 1, sizeof *behind);
    if (!before || !behind) return false;
    for (size_t n = 0; n < f->count; n++) {
        x_inst *i = &f->insts[n];
        uint16_t most = 0;
        for (unsigned u = 0; u < i->use_count; u++) {
            const x_value *v = x_use(f, &i->uses[u]);
            if (leads_on(i, u) && !v->phi && before[v - f->values] > most) most = before[v - f->values];
        }
        if (is_link(i)) i->chain = most = one_more(most);
        for (unsigned d = 0; d < i->def_count; d++) before[i->first_value + d] = most;
    }
    for (size_t n = f->count; n-- > 0;) {
        x_inst *i = &f->insts[n];
        uint16_t most = 0;
        for (unsigned d = 0; d < i->def_count; d++)
            if (behind[i->first_value + d] > most) most = behind[i->first_value + d];
        if (is_link(i)) {
            i->chain = (uint16_t)(i->chain + most);
            most = one_more(most);
        }
        for (unsigned u = 0; u < i->use_count; u++) {
            const x_value *v = x_use(f, &i->uses[u]);
            if (leads_on(i, u) && !v->phi && behind[v - f->values] < most) behind[v - f->values] = most;
        }
    }
    return true;
}
