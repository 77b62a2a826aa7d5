/* Branches and thread exits: bra, brx.idx, ret, exit, trap. Calls and their returns are in call.c and
 * control.c. */
#include "lib/emulator/program/decode.h"

#include "lib/emulator/machine/control.h"

static void run_branch(em_warp *w, const em_inst *i, uint32_t mask)
{
    em_split *s = w->split;
    if (mask == s->mask)
        s->pc = i->branch.target;
    else
        em_diverge(w, mask, i->branch.target, s->pc, i->branch.reconverge);
}

static void run_branch_index(em_warp *w, const em_inst *i, uint32_t mask)
{
    em_split *s = w->split;
    const em_operand *list = &i->o[1];
    uint32_t here = s->pc - 1, index = (uint32_t)em_uniform(w, &i->o[0], mask), same = 0;
    if (index >= list->count) {
        em_fault(w, i, __builtin_ctz(mask), "branch index %u is out of range: expected less than %u", index,
                 list->count);
        return;
    }
    const uint32_t *values = em_r32(w, &i->o[0]);
    for (int l = 0; l < EM_LANES; l++) same |= (uint32_t)(mask >> l & 1 && values[l] == index) << l;
    if (same == s->mask) s->pc = list->list[index].at;
    /* Lanes with other indices run the branch again; those with a false guard fall through. */
    else if (s->mask & ~mask) {
        em_uncount(w, i, mask, true);
        em_diverge(w, mask, here, s->pc, i->branch.reconverge);
    } else {
        em_uncount(w, i, mask & ~same, false);
        em_diverge(w, same, list->list[index].at, here, i->branch.reconverge);
    }
}

static void run_exit(em_warp *w, const em_inst *i, uint32_t mask)
{
    (void)i;
    em_exit_lanes(w, mask);
}

static void run_trap(em_warp *w, const em_inst *i, uint32_t mask)
{
    em_fault(w, i, __builtin_ctz(mask), "the kernel executed trap");
}

cute_status em_decode_branch(em_parser *p, const em_raw *raw, em_inst *i)
{
    CUTE_TRY(em_operands(p, raw, 1, 1));
    if (i->o[0].kind != EM_O_LABEL) return em_wrong(p, raw, "expected a label");
    i->run = run_branch;
    return CUTE_OK;
}

cute_status em_decode_branch_index(em_parser *p, const em_raw *raw, em_inst *i)
{
    if (!em_has(i, EM_M_idx)) return em_unknown(p, raw);
    CUTE_TRY(em_operands(p, raw, 2, 2));
    if (i->o[1].kind != EM_O_LABEL)
        return em_wrong(p, raw, "brx.idx expects an index and a list of .branchtargets");
    /* The list may be declared after its use. */
    em_symbol *s = em_find(p->scope, i->o[1].symbol, i->o[1].count);
    if (!s || s->kind != EM_SYM_TARGETS) return em_wrong(p, raw, "undeclared .branchtargets");
    i->o[1] = *s->targets;
    i->run = run_branch_index;
    return em_source(p, raw, i, 0, PTX_u32);
}

cute_status em_decode_return(em_parser *p, const em_raw *raw, em_inst *i)
{
    CUTE_TRY(em_operands(p, raw, 0, 0));
    bool kernel = p->function && p->function->entry;
    i->run = kernel ? run_exit : run_branch;
    if (!kernel) i->control = EM_BRANCH; /* at the end of the function */
    return CUTE_OK;
}

cute_status em_decode_exit(em_parser *p, const em_raw *raw, em_inst *i)
{
    CUTE_TRY(em_operands(p, raw, 0, 0));
    i->run = run_exit;
    return CUTE_OK;
}

cute_status em_decode_trap(em_parser *p, const em_raw *raw, em_inst *i)
{
    CUTE_TRY(em_operands(p, raw, 0, 0));
    i->run = run_trap;
    return CUTE_OK;
}
