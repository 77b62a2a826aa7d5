/* Findings of tensor cores: serialised wgmma, setmaxnreg without effect, products that do without. */
#include <string.h>

#include "lib/report/explain/context.h"

/* What ptxas said of this kernel with `word` in it; NULL: nothing. */
static const char *message(explain_context *c, const char *word)
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
    const x_function *f = c->f;
    const char *said = message(c, "wgmma");
    size_t products = 0, waits = 0;
    const x_inst *first = NULL, *wait = NULL;
    for (size_t n = 0; n < f->count; n++) {
        const x_inst *i = &f->insts[n];
        if (!x_reached(f, i)) continue;
        if (i->flags & F_WGMMA) {
            products++;
            if (!first) first = i;
        }
        /* Only waits that stand behind a product, with another one to come. */
        if (i->flags & F_WGMMA_WAIT && i->offset == 0 && products) {
            waits++;
            if (!wait) wait = i;
        }
    }
    if (!first) return;
    double cost = 0;
    enum { WAIT = 60 /* cycles until the accumulators of the smallest are there */ };
    for (size_t n = 0; n < f->count; n++)
        if (f->insts[n].flags & F_WGMMA && x_reached(f, &f->insts[n]))
            cost += (x_cost(f, &f->insts[n]) + 2 * WAIT) * x_weight(f, &f->insts[n]);
    bool looped = x_loop_of(f, first) != CUTE_NO_LOOP && wait && x_loop_of(f, wait) == x_loop_of(f, first);
    if (said && strstr(said, "serialized"))
        explain_add_wait(c, first, cost * 0.5, NULL, "ptxas: %s", said);
    else if (waits && waits >= products && (products > 1 || looped))
        explain_add_wait(c, wait, cost * 0.5, NULL, "%zu products and %zu waits for all that are under way",
                         products, waits);
}

void find_ignored_setmaxnreg(explain_context *c)
{
    const char *said = message(c, "setmaxnreg");
    const x_inst *asked = NULL;
    bool has = false;
    for (size_t n = 0; c->ptx && n < c->ptx->count && !asked; n++)
        if (c->ptx->insts[n].flags & F_SETMAXNREG) asked = &c->ptx->insts[n];
    for (size_t n = 0; c->sass && n < c->sass->count; n++)
        has |= (c->sass->insts[n].flags & F_SETMAXNREG) != 0;
    if (said && strstr(said, "gnored"))
        explain_add_whole(c, asked, 0.2, NULL, "ptxas: %s", said);
    else if (asked && c->sass && !has)
        explain_add_whole(c, asked, 0.2, NULL, "the PTX asks for it, and the machine code has no USETMAXREG");
}

/* ---- products without tensor cores ---- */

/* The load that a factor comes from, through conversions. */
static const x_inst *factor(const x_function *f, const x_operand *o, bool *half, int depth)
{
    const x_value *v = x_use(f, o);
    if (o->kind != X_VAR || v->inst < 0 || depth > 4) return NULL;
    const x_inst *i = &f->insts[v->inst];
    if (i->flags & F_WIDEN_HALF) *half = true;
    if (i->access == CUTE_ACCESS_LOAD) return i;
    if (i->class != CUTE_CODE_CONVERT && i->class != CUTE_CODE_MOVE && i->class != CUTE_CODE_LOGIC &&
        !(f->sass && i->class == CUTE_CODE_HALF))
        return NULL;
    if (f->sass && i->class == CUTE_CODE_HALF) *half = true;
    for (unsigned u = 0; u < i->use_count; u++) {
        const x_inst *from = factor(f, &i->uses[u], half, depth + 1);
        if (from) return from;
    }
    return NULL;
}

/* Lanes see the two factors at different places: rows of one, columns of the other. */
static bool outer(const x_function *f, const x_inst *a, const x_inst *b)
{
    uint64_t x[X_LANES], y[X_LANES];
    uint32_t active;
    uint32_t wants = X_THREAD | X_BLOCK;
    if (!(x_address_depends(f, a) & wants) || !(x_address_depends(f, b) & wants)) return false;
    if (x_address_varying(f, a) != x_address_varying(f, b)) return true;
    if (!x_addresses(f, a, x, &active) || !x_addresses(f, b, y, &active)) return false;
    for (int l = 1; l < X_LANES; l++)
        if (x[l] - x[0] != y[l] - y[0]) return true;
    return false;
}

void find_unused_tensor_cores(explain_context *c)
{
    const x_function *f = c->f;
    for (size_t n = 0; n < f->count; n++)
        if (f->insts[n].flags & (F_MMA | F_WGMMA)) return;
    for (size_t n = 0; n < f->count; n++) {
        const x_inst *i = &f->insts[n];
        bool half = (i->flags & F_HALF) != 0;
        if (!x_reached(f, i) || !(i->flags & F_FMA) || i->flags & F_DOUBLE ||
            x_loop_of(f, i) == CUTE_NO_LOOP || i->use_count < 3)
            continue;
        const x_inst *a = factor(f, &i->uses[0], &half, 0), *b = factor(f, &i->uses[1], &half, 0);
        if (!a || !b || a == b || x_loop_of(f, a) == CUTE_NO_LOOP || x_loop_of(f, b) == CUTE_NO_LOOP ||
            !outer(f, a, b))
            continue;
        /* f32 loses bits on tensor cores: a choice of the user's. */
        double loads = x_cost(f, a) + x_cost(f, b);
        explain_add(
            c, i, half ? (x_cost(f, i) + loads / 2) * x_weight(f, i) : 0, NULL,
            half ? "rows of one f16 or bf16 operand meet columns of another in scalar fma"
                 : "rows of one f32 operand meet columns of another in scalar fma (tf32 keeps 10 bits)");
    }
}
