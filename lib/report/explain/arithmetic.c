/* Findings of arithmetic: f64 by accident, divisions, slow roots, scalar halves, 64-bit indices. */
#include <string.h>

#include "lib/report/explain/context.h"

/* ---- f64 ---- */

enum { DEEPEST = 12 };

/* Marks the f64 arithmetic that leads from f32 to `o`; false: it comes from elsewhere alone. */
static bool mark_doubles(const x_function *f, const x_operand *o, bool *marks, int depth)
{
    const x_value *v = x_use(f, o);
    if (o->kind != X_VAR || depth > DEEPEST) return false;
    if (v->phi) {
        /* A sum that a loop carries. */
        bool any = false;
        for (uint32_t k = 0; k < v->arg_count; k++) {
            const x_operand arg = {.kind = X_VAR, .value = v->args[k]};
            if (x_at(f, v->args[k]) != v) any |= mark_doubles(f, &arg, marks, depth + 1);
        }
        return any;
    }
    if (v->inst < 0) return false;
    const x_inst *i = &f->insts[v->inst];
    if (i->flags & F_TO_DOUBLE) return true;
    if (marks[v->inst]) return true;
    bool found = false,
         math = i->flags & F_DOUBLE || i->class == CUTE_CODE_MOVE || i->class == CUTE_CODE_SPECIAL;
    for (unsigned u = 0; u < i->use_count && math; u++)
        found |= mark_doubles(f, &i->uses[u], marks, depth + 1);
    if (found && i->flags & F_DOUBLE) marks[v->inst] = true;
    return found;
}

void find_doubles(explain_context *c)
{
    const x_function *f = c->f;
    bool *marks = cute_arena_array(c->arena, f->count + 1, sizeof *marks);
    if (!marks) {
        c->failed = true;
        return;
    }
    for (size_t n = 0; n < f->count; n++) {
        const x_inst *i = &f->insts[n];
        bool end = i->flags & F_FROM_DOUBLE;
        bool test = i->flags & F_DOUBLE &&
                    (memmem(i->text, i->length, "setp", 4) || memmem(i->text, i->length, "SETP", 4));
        if (!x_reached(f, i) || (!end && !test)) continue;
        bool found = false;
        for (unsigned u = 0; u < i->use_count; u++) found |= mark_doubles(f, &i->uses[u], marks, 0);
        if (test && found) marks[n] = true;
    }
    for (size_t n = 0; n < f->count; n++) {
        const x_inst *i = &f->insts[n];
        if (!marks[n]) continue;
        double cost = x_cost(f, i) + 16 - 1; /* a conversion beside it */
        explain_add(c, i, cost * x_weight(f, i), NULL,
                    "its operands are f32 that were widened, and the result is narrowed again or compared");
    }
}

/* ---- divisions and roots ---- */

void find_divisions(explain_context *c)
{
    const x_function *f = c->f;
    for (size_t n = 0; n < f->count; n++) {
        const x_inst *i = &f->insts[n];
        if (!(i->flags & F_DIVIDE) || !x_reached(f, i)) continue;
        bool loop = x_loop_of(f, i) != CUTE_NO_LOOP;
        if (x_has_inverse(f, i)) {
            explain_add(
                c, i, (x_division_cost(f, i) - 3) * x_weight(f, i), NULL,
                loop
                    ? "about 10 instructions in a loop; the inverse of the divisor is computed in front of it"
                    : "about 10 instructions; the inverse of the divisor is computed once");
            continue;
        }
        explain_add(c, i, (x_division_cost(f, i) - 3) * x_weight(f, i), NULL, "about %d instructions%s",
                    i->bits == 64 ? 70 : 20, loop ? ", in a loop" : "");
    }
}

void find_slow_math(explain_context *c)
{
    const x_function *f = c->f;
    for (size_t n = 0; n < f->count; n++) {
        const x_inst *i = &f->insts[n];
        bool root = i->flags & F_CALL &&
                    (memmem(i->text, i->length, "sqrt", 4) || memmem(i->text, i->length, "rcp", 3));
        if (!x_reached(f, i) || (!(i->flags & F_SLOW_MATH) && !root) || i->flags & F_DOUBLE) continue;
        /* A slow way that is called is rare: what leads there is done each time. */
        uint32_t before = f->flow->blocks[i->block].dominator;
        double cycles = root && before != CUTE_NO_BLOCK ? 16 * f->blocks[before].weight
                                                        : (x_cost(f, i) - 8) * x_weight(f, i);
        explain_add(c, i, cycles, NULL, "%s",
                    root || f->sass
                        ? "an approximation, Newton steps, and a branch for numbers near the ends"
                        : "all bits are right: 8 to 20 instructions and a branch for numbers near the ends");
    }
}

enum {
    SINE = 24,      /* instructions of sinf for small arguments, beside 3 of sin.approx */
    REDUCTION = 100 /* cycles for large ones */
};

void find_reductions(explain_context *c)
{
    const x_function *f = c->f;
    for (uint32_t b = 0; b < f->flow->block_count; b++) {
        const cute_code_block *block = &f->flow->blocks[b];
        uint32_t large = block->reached && block->count ? x_large_argument(f, b) : CUTE_NO_BLOCK;
        if (large == CUTE_NO_BLOCK) continue;
        const x_inst *branch = &f->insts[block->first + block->count - 1];
        double often = f->blocks[b].weight, rarely = f->blocks[large].weight;
        explain_add_wait(
            c, branch, SINE * often + REDUCTION * rarely, NULL,
            "about %d instructions each; arguments above 105615 are multiplied by 192 bits of 2/pi in a "
            "local array",
            SINE);
    }
}

/* ---- halves ---- */

void find_scalar_halves(explain_context *c)
{
    const x_function *f = c->f;
    for (size_t n = 0; n < f->count; n++) {
        const x_inst *i = &f->insts[n];
        unsigned alike = 0;
        if (!x_reached(f, i) || !(i->flags & F_HALF_SCALAR) || i->class != CUTE_CODE_HALF) continue;
        const cute_code_block *b = &f->flow->blocks[i->block];
        for (size_t k = 0; k < b->count; k++) {
            const x_inst *o = &f->insts[b->first + k];
            alike += (o->flags & F_HALF_SCALAR) && o->class == CUTE_CODE_HALF &&
                     !memcmp(o->text, i->text,
                             strcspn(i->text, " ") < i->length ? strcspn(i->text, " ") : i->length);
        }
        if (alike < 2) continue;
        explain_add(c, i, (x_cost(f, i) / 2 + 1) * x_weight(f, i), NULL,
                    "%u of the same operation stand in one block: half of them would do", alike);
    }
}

/* ---- indices ---- */

void find_wide_indices(explain_context *c)
{
    const x_function *f = c->f;
    for (size_t n = 0; n < f->count; n++) {
        const x_inst *i = &f->insts[n];
        if (!(i->flags & F_MULTIPLY_64) || !x_reached(f, i) || x_loop_of(f, i) == CUTE_NO_LOOP) continue;
        bool constant = false;
        for (unsigned u = 0; u < 2 && u < i->use_count; u++) constant |= i->uses[u].kind == X_IMM;
        if (constant) continue;
        explain_add(c, i, 5 * x_weight(f, i), NULL, "a product of 64 bits is four of 32 bits and their sum");
    }
}
