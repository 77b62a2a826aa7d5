/* Repeated passes over the same data: a loop loads data that an earlier loop has already loaded. */
#include "lib/report/explain/context.h"

enum { BUDGET = 400, MOST_ARGUMENTS = 8 };

static bool is_plain_global_load(const ssa_function *f, const ssa_inst *i)
{
    return i->access == CUTE_ACCESS_LOAD && ssa_is_reached(f, i) && i->address >= 0 && i->width &&
           (i->space == CUTE_CODE_SPACE_GLOBAL || i->space == CUTE_CODE_SPACE_GENERIC) &&
           !(i->flags & (INST_VOLATILE | INST_ORDERED | INST_TENSOR_LOAD));
}

/* ---- addresses ---- */

/* The kernel arguments that an address is computed from, and whether it uses a value defined in `loop`. */
typedef struct origin {
    const ssa_function *f;
    uint32_t loop;
    bool uses_loop;
    int64_t arguments[MOST_ARGUMENTS]; /* parameter offsets, sorted */
    unsigned count, budget;
    uint8_t *seen; /* by value */
} origin;

static void add_argument(origin *o, int64_t offset)
{
    unsigned at = 0;
    while (at < o->count && o->arguments[at] < offset) at++;
    if ((at < o->count && o->arguments[at] == offset) || o->count == MOST_ARGUMENTS) return;
    for (unsigned k = o->count++; k > at; k--) o->arguments[k] = o->arguments[k - 1];
    o->arguments[at] = offset;
}

static void trace_operand(origin *o, const ssa_operand *operand)
{
    const ssa_function *f = o->f;
    if (operand->kind == SSA_ARG) add_argument(o, operand->imm);
    if (operand->kind != SSA_VAR) return;
    const ssa_value *v = ssa_value_of(f, operand);
    if (v == f->values || o->seen[v - f->values] || !o->budget) return;
    o->seen[v - f->values] = 1;
    o->budget--;
    o->uses_loop |= o->loop != CUTE_NO_LOOP && ssa_is_defined_in(f, v, o->loop);
    for (uint32_t k = 0; v->phi && k < v->arg_count; k++)
        trace_operand(o, &(ssa_operand){.kind = SSA_VAR, .value = v->args[k]});
    const ssa_inst *i = v->inst >= 0 ? &f->insts[v->inst] : NULL;
    for (unsigned u = 0; i && u < i->use_count; u++) trace_operand(o, &i->uses[u]);
}

static bool find_origin(explain_context *c, const ssa_inst *i, uint32_t loop, origin *o)
{
    *o = (origin){.f = c->f, .loop = loop, .budget = BUDGET};
    o->seen = cute_arena_array(c->arena, c->f->value_count + 1, 1);
    if (!o->seen) {
        c->failed = true;
        return false;
    }
    trace_operand(o, &i->uses[i->address]);
    if (i->address2 >= 0) trace_operand(o, &i->uses[i->address2]);
    return o->budget > 0;
}

/* Each lane accesses the same address in the first iteration. */
static bool same_addresses(const ssa_function *f, const ssa_inst *i, const ssa_inst *o)
{
    uint64_t at[LANES], other[LANES];
    uint32_t active, others;
    if (!ssa_addresses(f, i, at, &active) || !ssa_addresses(f, o, other, &others) || active & ~others)
        return false;
    for (int l = 0; l < LANES; l++)
        if (active >> l & 1 && at[l] != other[l]) return false;
    return true;
}

/* Assumed argument values may coincide, so compare the arguments themselves. An address derived from `loop` is excluded: it belongs
 * to the remainder of an unrolled loop. */
static bool same_arguments(explain_context *c, const ssa_inst *i, const ssa_inst *o, uint32_t loop)
{
    origin mine, theirs;
    if (!find_origin(c, i, loop, &mine) || !find_origin(c, o, CUTE_NO_LOOP, &theirs)) return false;
    if (mine.uses_loop || mine.count != theirs.count || !mine.count) return false;
    for (unsigned k = 0; k < mine.count; k++)
        if (mine.arguments[k] != theirs.arguments[k]) return false;
    return true;
}

/* ---- loops ---- */

/* There is a path from block `from` to block `to` that does not enter `around`. */
static bool reaches_block(const ssa_function *f, uint32_t from, uint32_t to, uint32_t around, uint8_t *seen)
{
    const cute_code_block *b = &f->flow->blocks[from];
    if (from == to) return true;
    if (seen[from]) return false;
    seen[from] = 1;
    for (uint32_t e = 0; e < b->edge_count; e++)
        if (b->edges[e].to != around && reaches_block(f, b->edges[e].to, to, around, seen)) return true;
    return false;
}

/* Loop `second` executes after loop `first` in the same iteration of their common outer loop. */
static bool loop_follows(explain_context *c, uint32_t first, uint32_t second)
{
    const ssa_function *f = c->f;
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
    return reaches_block(f, loops[first].header, loops[second].header,
                         outer == CUTE_NO_LOOP ? CUTE_NO_BLOCK : loops[outer].header, seen);
}

/* The kernel writes to the address, so the data may have changed. */
static bool is_written(explain_context *c, const ssa_inst *i)
{
    const ssa_function *f = c->f;
    for (size_t n = 0; n < f->count; n++) {
        const ssa_inst *o = &f->insts[n];
        bool writes = o->access == CUTE_ACCESS_STORE || o->access == CUTE_ACCESS_ATOMIC;
        if (writes && ssa_is_reached(f, o) && o->space != CUTE_CODE_SPACE_SHARED && o->address >= 0 &&
            same_addresses(f, o, i) && same_arguments(c, i, o, CUTE_NO_LOOP))
            return true;
    }
    return false;
}

static const ssa_inst *find_earlier(explain_context *c, const ssa_inst *i)
{
    const ssa_function *f = c->f;
    uint32_t loop = ssa_loop_of(f, i);
    for (const ssa_inst *o = f->insts; o < i; o++) {
        uint32_t first = is_plain_global_load(f, o) ? ssa_loop_of(f, o) : CUTE_NO_LOOP;
        if (first == CUTE_NO_LOOP || first == loop || o->width < i->width ||
            !explain_address_changes(f, o, first))
            continue;
        /* Loops that test before and after the increment differ by one iteration. */
        double apart = f->loops[first].trips - f->loops[loop].trips;
        if (apart > 1 || apart < -1 || !same_addresses(f, i, o)) continue;
        if (loop_follows(c, first, loop) && same_arguments(c, i, o, first)) return o;
    }
    return NULL;
}

void find_rereads(explain_context *c)
{
    const ssa_function *f = c->f;
    const int64_t *b = f->assume.block;
    for (size_t n = 0; n < f->count && !c->failed; n++) {
        const ssa_inst *i = &f->insts[n];
        uint32_t loop = is_plain_global_load(f, i) ? ssa_loop_of(f, i) : CUTE_NO_LOOP;
        if (loop == CUTE_NO_LOOP || i->cached || ssa_address_depends(f, i) & DEPENDS_LOADED ||
            !explain_address_changes(f, i, loop) || f->loops[loop].trips < 2)
            continue;
        const ssa_inst *first = find_earlier(c, i);
        if (!first || is_written(c, i)) continue;
        double each = f->loops[loop].trips * i->width;
        explain_add(c, i, explain_cost(f, i) * ssa_weight(f, i), NULL,
                    "an earlier loop has loaded the same data: about %.0f bytes per thread, %.0f KiB per "
                    "block, for each "
                    "load of the loop",
                    each, each * (double)(b[0] * b[1] * b[2]) / 1024);
    }
}
