/* Tensor-core findings: serialized wgmma, ignored setmaxnreg, matrix multiplication without tensor cores. */
#include <string.h>

#include "lib/report/explain/context.h"

/* The message of ptxas about this kernel that contains `word`; NULL: none. */
static const char *find_ptxas_message(explain_context *c, const char *word)
{
    const char *text = c->input->messages;
    while (text && *text) {
        size_t length = strcspn(text, "\n");
        if (memmem(text, length, word, strlen(word)) &&
            (!strstr(text, "'") || memmem(text, length, c->kernel->name, strlen(c->kernel->name)) ||
             c->input->kernel || cute_module_kernel_count(c->input->module) == 1))
            return cute_arena_copy(c->arena, text, length);
        text += length + (text[length] == '\n');
    }
    return NULL;
}

void find_serial_wgmma(explain_context *c)
{
    const ssa_function *f = c->f;
    const char *said = find_ptxas_message(c, "wgmma");
    size_t products = 0, waits = 0;
    const ssa_inst *first = NULL, *wait = NULL;
    for (size_t n = 0; n < f->count; n++) {
        const ssa_inst *i = &f->insts[n];
        if (!ssa_is_reached(f, i)) continue;
        if (i->flags & INST_WGMMA) {
            products++;
            if (!first) first = i;
        }
        /* Only waits after a wgmma count. */
        if (i->flags & INST_WGMMA_WAIT && i->offset == 0 && products) {
            waits++;
            if (!wait) wait = i;
        }
    }
    if (!first) return;
    double cost = 0;
    enum { WAIT = 60 /* cycles until the accumulators of the smallest wgmma are ready */ };
    for (size_t n = 0; n < f->count; n++)
        if (f->insts[n].flags & INST_WGMMA && ssa_is_reached(f, &f->insts[n]))
            cost += (explain_cost(f, &f->insts[n]) + 2 * WAIT) * ssa_weight(f, &f->insts[n]);
    bool looped =
        ssa_loop_of(f, first) != CUTE_NO_LOOP && wait && ssa_loop_of(f, wait) == ssa_loop_of(f, first);
    if (said && strstr(said, "serialized"))
        explain_add_wait(c, first, cost * 0.5, NULL, "ptxas: %s", said);
    else if (waits && waits >= products && (products > 1 || looped))
        explain_add_wait(c, wait, cost * 0.5, NULL, "%zu wgmma and %zu waits for all wgmma in flight",
                         products, waits);
}

void find_ignored_setmaxnreg(explain_context *c)
{
    const char *said = find_ptxas_message(c, "setmaxnreg");
    const ssa_inst *asked = NULL;
    bool has = false;
    for (size_t n = 0; c->ptx && n < c->ptx->count && !asked; n++)
        if (c->ptx->insts[n].flags & INST_SETMAXNREG) asked = &c->ptx->insts[n];
    for (size_t n = 0; c->sass && n < c->sass->count; n++)
        has |= (c->sass->insts[n].flags & INST_SETMAXNREG) != 0;
    if (said && strstr(said, "gnored"))
        explain_add_whole(c, asked, 0.2, NULL, "ptxas: %s", said);
    else if (asked && c->sass && !has)
        explain_add_whole(c, asked, 0.2, NULL, "the PTX has setmaxnreg, but SASS has no USETMAXREG");
}

/* ---- matrix multiplication without tensor cores ---- */

/* The load of a factor, traced through conversions. */
static const ssa_inst *find_factor_load(const ssa_function *f, const ssa_operand *o, bool *half, int depth)
{
    const ssa_value *v = ssa_value_of(f, o);
    if (o->kind != SSA_VAR || v->inst < 0 || depth > 4) return NULL;
    const ssa_inst *i = &f->insts[v->inst];
    if (i->flags & INST_WIDEN_HALF) *half = true;
    if (i->access == CUTE_ACCESS_LOAD) return i;
    if (i->class != CUTE_CODE_CONVERT && i->class != CUTE_CODE_MOVE && i->class != CUTE_CODE_LOGIC &&
        !(f->sass && i->class == CUTE_CODE_HALF))
        return NULL;
    if (f->sass && i->class == CUTE_CODE_HALF) *half = true;
    for (unsigned u = 0; u < i->use_count; u++) {
        const ssa_inst *from = find_factor_load(f, &i->uses[u], half, depth + 1);
        if (from) return from;
    }
    return NULL;
}

/* The two addresses vary differently with lane and block: rows of one operand, columns of the other. */
static bool is_outer_product(const ssa_function *f, const ssa_inst *a, const ssa_inst *b)
{
    uint64_t x[LANES], y[LANES];
    uint32_t active;
    uint32_t wants = DEPENDS_THREAD | DEPENDS_BLOCK;
    if (!(ssa_address_depends(f, a) & wants) || !(ssa_address_depends(f, b) & wants)) return false;
    if (ssa_address_varies(f, a) != ssa_address_varies(f, b)) return true;
    if (!ssa_addresses(f, a, x, &active) || !ssa_addresses(f, b, y, &active)) return false;
    for (int l = 1; l < LANES; l++)
        if (x[l] - x[0] != y[l] - y[0]) return true;
    return false;
}

void find_unused_tensor_cores(explain_context *c)
{
    const ssa_function *f = c->f;
    for (size_t n = 0; n < f->count; n++)
        if (f->insts[n].flags & (INST_MMA | INST_WGMMA)) return;
    for (size_t n = 0; n < f->count; n++) {
        const ssa_inst *i = &f->insts[n];
        bool half = (i->flags & INST_HALF) != 0;
        if (!ssa_is_reached(f, i) || !(i->flags & INST_FMA) || i->flags & INST_DOUBLE ||
            ssa_loop_of(f, i) == CUTE_NO_LOOP || i->use_count < 3)
            continue;
        const ssa_inst *a = find_factor_load(f, &i->uses[0], &half, 0),
                       *b = find_factor_load(f, &i->uses[1], &half, 0);
        if (!a || !b || a == b || ssa_loop_of(f, a) == CUTE_NO_LOOP || ssa_loop_of(f, b) == CUTE_NO_LOOP ||
            !is_outer_product(f, a, b))
            continue;
        /* f32 loses precision on tensor cores, so it costs nothing here: the user decides. */
        double loads = explain_cost(f, a) + explain_cost(f, b);
        explain_add(
            c, i, half ? (explain_cost(f, i) + loads / 2) * ssa_weight(f, i) : 0, NULL,
            half ? "scalar fma of rows and columns of two f16 or bf16 operands"
                 : "scalar fma of rows and columns of two f32 operands (tf32 keeps 10 bits of mantissa)");
    }
}
