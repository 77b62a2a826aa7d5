/* Arithmetic findings: unintended f64, divisions, square roots, sin and cos, scalar halves, 64-bit indices. */
#include <string.h>

#include "lib/report/explain/context.h"

/* ---- f64 ---- */

enum { DEEPEST = 12 };

/* Marks the f64 arithmetic between f32 inputs and `o`; false: no f32 input. */
static bool mark_doubles(const ssa_function *f, const ssa_operand *o, bool *marks, int depth)
{
    const ssa_value *v = ssa_value_of(f, o);
    if (o->kind != SSA_VAR || depth > DEEPEST) return false;
    if (v->phi) {
        /* a loop-carried sum */
        bool any = false;
        for (uint32_t k = 0; k < v->arg_count; k++) {
            const ssa_operand arg = {.kind = SSA_VAR, .value = v->args[k]};
            if (ssa_value_at(f, v->args[k]) != v) any |= mark_doubles(f, &arg, marks, depth + 1);
        }
        return any;
    }
    if (v->inst < 0) return false;
    const ssa_inst *i = &f->insts[v->inst];
    if (i->flags & INST_TO_DOUBLE) return true;
    if (marks[v->inst]) return true;
    bool found = false,
         math = i->flags & INST_DOUBLE || i->class == CUTE_CODE_MOVE || i->class == CUTE_CODE_SPECIAL;
    for (unsigned u = 0; u < i->use_count && math; u++)
        found |= mark_doubles(f, &i->uses[u], marks, depth + 1);
    if (found && i->flags & INST_DOUBLE) marks[v->inst] = true;
    return found;
}

void find_doubles(explain_context *c)
{
    const ssa_function *f = c->f;
    bool *marks = cute_arena_array(c->arena, f->count + 1, sizeof *marks);
    if (!marks) {
        c->failed = true;
        return;
    }
    for (size_t n = 0; n < f->count; n++) {
        const ssa_inst *i = &f->insts[n];
        bool end = i->flags & INST_FROM_DOUBLE;
        bool test = i->flags & INST_DOUBLE &&
                    (memmem(i->text, i->length, "setp", 4) || memmem(i->text, i->length, "SETP", 4));
        if (!ssa_is_reached(f, i) || (!end && !test)) continue;
        bool found = false;
        for (unsigned u = 0; u < i->use_count; u++) found |= mark_doubles(f, &i->uses[u], marks, 0);
        if (test && found) marks[n] = true;
    }
    for (size_t n = 0; n < f->count; n++) {
        const ssa_inst *i = &f->insts[n];
        if (!marks[n]) continue;
        double cost = explain_cost(f, i) + 16 - 1; /* with one conversion */
        explain_add(c, i, cost * ssa_weight(f, i), NULL,
                    "f32 operands are converted to f64, and the result is converted back or compared");
    }
}

/* ---- divisions and square roots ---- */

void find_divisions(explain_context *c)
{
    const ssa_function *f = c->f;
    for (size_t n = 0; n < f->count; n++) {
        const ssa_inst *i = &f->insts[n];
        if (!(i->flags & INST_DIVIDE) || !ssa_is_reached(f, i)) continue;
        bool loop = ssa_loop_of(f, i) != CUTE_NO_LOOP;
        if (ssa_has_inverse(f, i)) {
            explain_add(
                c, i, (explain_division_cost(f, i) - 3) * ssa_weight(f, i), NULL,
                loop ? "about 10 instructions in a loop; the inverse of the divisor is computed before it"
                     : "about 10 instructions; the inverse of the divisor is computed once");
            continue;
        }
        explain_add(c, i, (explain_division_cost(f, i) - 3) * ssa_weight(f, i), NULL,
                    "about %d instructions%s", i->bits == 64 ? 70 : 20, loop ? ", in a loop" : "");
    }
}

void find_slow_math(explain_context *c)
{
    const ssa_function *f = c->f;
    for (size_t n = 0; n < f->count; n++) {
        const ssa_inst *i = &f->insts[n];
        bool root = i->flags & INST_CALL &&
                    (memmem(i->text, i->length, "sqrt", 4) || memmem(i->text, i->length, "rcp", 3));
        if (!ssa_is_reached(f, i) || (!(i->flags & INST_SLOW_MATH) && !root) || i->flags & INST_DOUBLE)
            continue;
        /* A called slow path is rare; the check before it executes every time. */
        uint32_t before = f->flow->blocks[i->block].dominator;
        double cycles = root && before != CUTE_NO_BLOCK ? 16 * f->blocks[before].weight
                                                        : (explain_cost(f, i) - 8) * ssa_weight(f, i);
        explain_add(
            c, i, cycles, NULL, "%s",
            root || f->sass
                ? "an approximation, Newton steps, and a branch for operands of extreme magnitude"
                : "correctly rounded: 8 to 20 instructions and a branch for operands of extreme magnitude");
    }
}

enum {
    SINE = 24,      /* instructions of sinf for small arguments; sin.approx takes 3 */
    REDUCTION = 100 /* cycles for large arguments */
};

void find_reductions(explain_context *c)
{
    const ssa_function *f = c->f;
    for (uint32_t b = 0; b < f->flow->block_count; b++) {
        const cute_code_block *block = &f->flow->blocks[b];
        uint32_t large = block->reached && block->count ? ssa_large_argument(f, b) : CUTE_NO_BLOCK;
        if (large == CUTE_NO_BLOCK) continue;
        const ssa_inst *branch = &f->insts[block->first + block->count - 1];
        double often = f->blocks[b].weight, rarely = f->blocks[large].weight;
        explain_add_wait(
            c, branch, SINE * often + REDUCTION * rarely, NULL,
            "about %d instructions per call; arguments above 105615 are multiplied by 192 bits of 2/pi in "
            "local memory",
            SINE);
    }
}

/* ---- halves ---- */

void find_scalar_halves(explain_context *c)
{
    const ssa_function *f = c->f;
    for (size_t n = 0; n < f->count; n++) {
        const ssa_inst *i = &f->insts[n];
        unsigned alike = 0;
        if (!ssa_is_reached(f, i) || !(i->flags & INST_HALF_SCALAR) || i->class != CUTE_CODE_HALF) continue;
        const cute_code_block *b = &f->flow->blocks[i->block];
        for (size_t k = 0; k < b->count; k++) {
            const ssa_inst *o = &f->insts[b->first + k];
            alike += (o->flags & INST_HALF_SCALAR) && o->class == CUTE_CODE_HALF &&
                     !memcmp(o->text, i->text,
                             strcspn(i->text, " ") < i->length ? strcspn(i->text, " ") : i->length);
        }
        if (alike < 2) continue;
        explain_add(c, i, (explain_cost(f, i) / 2 + 1) * ssa_weight(f, i), NULL,
                    "%u operations of the same kind in one basic block; packed, half as many suffice", alike);
    }
}

/* ---- indices ---- */

void find_wide_indices(explain_context *c)
{
    const ssa_function *f = c->f;
    for (size_t n = 0; n < f->count; n++) {
        const ssa_inst *i = &f->insts[n];
        if (!(i->flags & INST_MULTIPLY_64) || !ssa_is_reached(f, i) || ssa_loop_of(f, i) == CUTE_NO_LOOP)
            continue;
        bool constant = false;
        for (unsigned u = 0; u < 2 && u < i->use_count; u++) constant |= i->uses[u].kind == SSA_IMM;
        if (constant) continue;
        explain_add(c, i, 5 * ssa_weight(f, i), NULL,
                    "a 64-bit multiplication takes four 32-bit multiplications");
    }
}
