/* Passes over the same data: loads of one loop that a loop in front of it has made already. */
#include "lib/report/explain/context.h"

enum { BUDGET = 400, MOST_ARGUMENTS = 8 };

static bool is_plain(const x_function *f, const x_inst *i)
{
    return i->access == CUTE_ACCESS_LOAD && x_reached(f, i) && i->address >= 0 && i->width &&
           (i->space == CUTE_CODE_SPACE_GLOBAL || i->space == CUTE_CODE_SPACE_GENERIC) &&
           !(i->flags & (F_VOLATILE | F_ORDERED | F_TENSOR_LOAD));
}

/* ---- addresses ---- */

/* What an address is made of: its arguments, and whether a value of loop `loop` is among them. */
typedef struct origin {
    const x_function *f;
    uint32_t loop;
    bool continues;
    int64_t arguments[MOST_ARGUMENTS]; /* in their order */
    unsigned count, budget;
    uint8_t *seen; /* by value */
} origin;

static void add_argument(origin *o, int64_t place)
{
    unsigned at = 0;
    while (at < o->count && o->arguments[at] < place) at++;
    if ((at < o->count && o->arguments[at] == place) || o->count == MOST_ARGUMENTS) return;
    for (unsigned k = o->count++; k > at; k--) o->arguments[k] = o->arguments[k - 1];
    o->arguments[at] = place;
}

static void trace(origin *o, const x_operand *operand)
{
    const x_function *f = o->f;
    if (operand->kind == X_ARG) add_argument(o, operand->imm);
    if (operand->kind != X_VAR) return;
    const x_value *v = x_use(f, operand);
    if (v == f->values || o->seen[v - f->values] || !o->budget) return;
    o->seen[v - f->values] = 1;
    o->budget--;
    o->continues |= o->loop != CUTE_NO_LOOP && x_made_in(f, v, o->loop);
    for (uint32_t k = 0; v->phi && k < v->arg_count; k++)
        trace(o, &(x_operand){.kind = X_VAR, .value = v->args[k]});
    const x_inst *i = v->inst >= 0 ? &f->insts[v->inst] : NULL;
    for (unsigned u = 0; i && u < i->use_count; u++) trace(o, &i->uses[u]);
}

static bool find_origin(explain_context *c, const x_inst *i, uint32_t loop, origin *o)
{
    *o = (origin){.f = c->f, .loop = loop, .budget = BUDGET};
    o->seen = cute_arena_array(c->arena, c->f->value_count + 1, 1);
    if (!o->seen) {
        c->failed = true;
        return false;
    }
    trace(o, &i->uses[i->address]);
    if (i->address2 >= 0) trace(o, &i->uses[i->address2]);
    return o->budget > 0;
}

/* Each lane has the same place in the first round. */
static bool same_places(const x_function *f, const x_inst *i, const x_inst *o)
{
    uint64_t at[X_LANES], other[X_LANES];
    uint32_t active, others;
    if (!x_addresses(f, i, at, &active) || !x_addresses(f, o, other, &others) || active & ~others)
        return false;
    for (int l = 0; l < X_LANES; l++)
        if (active >> l & 1 && at[l] != other[l]) return false;
    return true;
}

/* Arguments that are made up may be the same number: what the addresses are made of is, too, and nothing of `loop`, from which
 * the rest of an unrolled loop goes on. */
static bool same_arguments(explain_context *c, const x_inst *i, const x_inst *o, uint32_t loop)
{
    origin mine, theirs;
    if (!find_origin(c, i, loop, &mine) || !find_origin(c, o, CUTE_NO_LOOP, &theirs)) return false;
    if (mine.continues || mine.count != theirs.count || !mine.count) return false;
    for (unsigned k = 0; k < mine.count; k++)
        if (mine.arguments[k] != theirs.arguments[k]) return false;
    return true;
}

/* ---- loops ---- */

static bool reaches(const x_function *f, uint32_t from, uint32_t to, uint32_t around, uint8_t *seen)
{
    const cute_code_block *b = &f->flow->blocks[from];
    if (from == to) return true;
    if (seen[from]) return false;
    seen[from] = 1;
    for (uint32_t e = 0; e < b->edge_count; e++)
        if (b->edges[e].to != around && reaches(f, b->edges[e].to, to, around, seen)) return true;
    return false;
}

/* One loop behind the other, in the same round of what is around both: not two ways of a branch. */
static bool follows(explain_context *c, uint32_t first, uint32_t second)
{
    const x_function *f = c->f;
    const cute_code_loop *loops = f->flow->loops;
    uint32_t outer = loops[first].parent;
    if (cute_code_in_loop(f->flow, loops[first].header, second) ||
        cute_code_in_loop(f->flow, loops[second].header, first))
        return false;
    while (outer != CUTE_NO_LOOP && !cute_code_in_loop(f->flow, loops[second].header, outer))
        outer = loops[outer].parent;
    uint8_t *seen = cute_arena_array(c->arena, f->flow->block_count + 1, 1);
    if (!seen) {
        c->failed = true;
        return false;
    }
    return reaches(f, loops[first].header, loops[second].header,
                   outer == CUTE_NO_LOOP ? CUTE_NO_BLOCK : loops[outer].header, seen);
}

/* Somebody writes there: it is not the same data. */
static bool is_written(explain_context *c, const x_inst *i)
{
    const x_function *f = c->f;
    for (size_t n = 0; n < f->count; n++) {
        const x_inst *o = &f->insts[n];
        bool writes = o->access == CUTE_ACCESS_STORE || o->access == CUTE_ACCESS_ATOMIC;
        if (writes && x_reached(f, o) && o->space != CUTE_CODE_SPACE_SHARED && o->address >= 0 &&
            same_places(f, o, i) && same_arguments(c, i, o, CUTE_NO_LOOP))
            return true;
    }
    return false;
}

static const x_inst *find_earlier(explain_context *c, const x_inst *i)
{
    const x_function *f = c->f;
    uint32_t loop = x_loop_of(f, i);
    for (const x_inst *o = f->insts; o < i; o++) {
        uint32_t first = is_plain(f, o) ? x_loop_of(f, o) : CUTE_NO_LOOP;
        if (first == CUTE_NO_LOOP || first == loop || o->width < i->width || !explain_moves(f, o, first))
            continue;
        /* Comparisons in front of the step and behind it are one round apart. */
        double apart = f->loops[first].trips - f->loops[loop].trips;
        if (apart > 1 || apart < -1 || !same_places(f, i, o)) continue;
        if (follows(c, first, loop) && same_arguments(c, i, o, first)) return o;
    }
    return NULL;
}

void find_rereads(explain_context *c)
{
    const x_function *f = c->f;
    const int64_t *b = f->assume.block;
    for (size_t n = 0; n < f->count && !c->failed; n++) {
        const x_inst *i = &f->insts[n];
        uint32_t loop = is_plain(f, i) ? x_loop_of(f, i) : CUTE_NO_LOOP;
        if (loop == CUTE_NO_LOOP || i->again || x_address_depends(f, i) & X_LOADED ||
            !explain_moves(f, i, loop) || f->loops[loop].trips < 2)
            continue;
        const x_inst *first = find_earlier(c, i);
        if (!first || is_written(c, i)) continue;
        double each = f->loops[loop].trips * i->width;
        explain_add(
            c, i, x_cost(f, i) * x_weight(f, i), NULL,
            "the loop in front of it has loaded the same: about %.0f bytes a thread, %.0f KiB a block, with "
            "each load of the loop",
            each, each * (double)(b[0] * b[1] * b[2]) / 1024);
    }
}
