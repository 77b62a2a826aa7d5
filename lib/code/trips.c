/* How often blocks run: the trips of loops, from what counts them or as loops are, and what is seldom reached. Behind x_try. */
#include <string.h>

#include "lib/code/function.h"

static const double FEW_TRIPS = 4 /* of what is unlikely */, TRIPS = 16, MANY_TRIPS = 256,
                    MOST_TRIPS = 1 << 16; /* of a loop about which nothing is known */

/* ---- loops ---- */

bool x_reached(const x_function *f, const x_inst *i)
{
    return f->flow->blocks[i->block].reached;
}

bool x_made_in(const x_function *f, const x_value *v, uint32_t loop)
{
    if (v == f->values) return false;
    return cute_code_in_loop(f->flow, v->inst >= 0 ? f->insts[v->inst].block : v->block, loop);
}

const x_value *x_entry(const x_function *f, const x_value *v)
{
    uint32_t loop = x_is_header(f, v->block) ? f->flow->blocks[v->block].loop : CUTE_NO_LOOP;
    for (uint32_t k = 0; v->phi && k < v->arg_count; k++) {
        const x_value *from = x_at(f, v->args[k]);
        if (from != v && from != f->values && (loop == CUTE_NO_LOOP || !x_made_in(f, from, loop)))
            return from;
    }
    return NULL;
}

/* The phi of the loop's header that an operand counts from: i, i + 1, i * 4 ...; NULL: none. */
static const x_value *counter(const x_function *f, const x_value *v, uint32_t header, int depth)
{
    if (v->phi) return v->block == header ? v : NULL;
    if (v->inst < 0 || depth > 4) return NULL;
    const x_inst *i = &f->insts[v->inst];
    if (i->op != X_ADD && i->op != X_SUB && i->op != X_MOV && i->op != X_EXTEND && i->op != X_MAD &&
        i->op != X_SHL)
        return NULL;
    for (unsigned u = 0; u < i->use_count; u++) {
        if (i->uses[u].kind != X_VAR) continue;
        const x_value *found = counter(f, x_use(f, &i->uses[u]), header, depth + 1);
        if (found) return found;
    }
    return NULL;
}

/* What one iteration adds to the counter; 0: not known. */
static int64_t step_of(const x_function *f, const x_value *phi, unsigned bits)
{
    for (uint32_t k = 0; k < phi->arg_count; k++) {
        const x_value *next = x_at(f, phi->args[k]);
        int64_t sum = 0;
        bool ok = next != phi && next->inst >= 0;
        for (int hops = 0; ok && next != phi && hops < 64; hops++) {
            const x_inst *i = next->inst >= 0 ? &f->insts[next->inst] : NULL;
            const x_value *from = NULL;
            ok =
                i && (i->op == X_ADD || i->op == X_SUB || i->op == X_MOV || i->op == X_MAD || i->op == X_LEA);
            unsigned u = 0;
            /* Of a product and of what is shifted only the sum counts on. */
            if (ok && (i->op == X_MAD || i->op == X_LEA) && i->use_count > 1) {
                uint64_t a, b = UINT64_C(1) << i->shift % 32;
                ok = x_operand_lane(f, &i->uses[u++], 0, &a) &&
                     (i->op == X_LEA || x_operand_lane(f, &i->uses[u++], 0, &b));
                if (ok) sum += lanes_extended(a * b, bits);
            }
            for (; ok && u < x_sources(i); u++) {
                uint64_t n;
                const x_value *v = i->uses[u].kind == X_VAR ? x_use(f, &i->uses[u]) : NULL;
                bool carried = v && (v == phi || (v->inst >= 0 && counter(f, v, phi->block, 0) == phi));
                if (carried && !from)
                    from = v;
                else if (x_operand_lane(f, &i->uses[u], 0, &n))
                    sum += i->op == X_SUB && u == 1 ? -lanes_extended(n, bits) : lanes_extended(n, bits);
                else
                    ok = false;
            }
            ok &= from != NULL;
            next = from ? from : next;
        }
        if (ok && next == phi && sum) return sum;
    }
    return 0;
}

static const x_inst *comparison(const x_function *f, const x_inst *branch)
{
    const x_value *v = x_use(f, &branch->uses[branch->guard]);
    for (int hops = 0; hops < 4 && v->inst >= 0; hops++) {
        const x_inst *i = &f->insts[v->inst];
        if (i->op == X_SETP) return i;
        if ((i->op != X_MOV && i->op != X_NOT) || i->uses[0].kind != X_VAR) return NULL;
        v = x_use(f, &i->uses[0]);
    }
    return NULL;
}

/* Loops that look at memory until somebody else has written there. */
static bool only_waits(const x_function *f, uint32_t n)
{
    bool looks = false;
    for (size_t k = 0; k < f->count; k++) {
        const x_inst *i = &f->insts[k];
        if (!cute_code_in_loop(f->flow, i->block, n)) continue;
        if (i->flags & (F_MATH | F_MMA | F_WGMMA) || i->access == CUTE_ACCESS_STORE) return false;
        looks |= i->flags & (F_WAIT_MBARRIER | F_VOLATILE) || i->access == CUTE_ACCESS_ATOMIC ||
                 (i->access == CUTE_ACCESS_LOAD && i->flags & F_ORDERED);
    }
    return looks;
}

/* The compiler's own: lanes elect one of them after the other, and mostly all ask for the same. */
static bool elects_each(const x_function *f, uint32_t n)
{
    for (size_t k = 0; k < f->count; k++)
        if (cute_code_in_loop(f->flow, f->insts[k].block, n) && x_has_word(&f->insts[k], "BRA.U.ANY"))
            return true;
    return false;
}

/* n & 7 of the rest of an unrolled loop are few, whatever n is; 0: the value is no such number. */
static double masked_trips(const x_function *f, const x_value *v, int64_t step)
{
    const x_inst *i = v && v->inst >= 0 ? &f->insts[v->inst] : NULL;
    int64_t each = step < 0 ? -step : step;
    for (unsigned u = 0; i && (i->op == X_AND || i->op == X_LOP3) && u < 2 && u < i->use_count; u++)
        if (i->uses[u].kind == X_IMM && i->uses[u].imm > 0 && i->uses[u].imm < 64)
            return each < i->uses[u].imm ? (double)(i->uses[u].imm + 1) / 2 / (double)each : 1;
    return 0;
}

/* Of a loop that counts from or to a number that is not known. */
static double unknown_trips(const x_function *f, const x_value *phi, const x_operand *bound)
{
    const x_value *from = x_entry(f, phi);
    uint32_t depends = x_operand_depends(f, bound) | (from ? from->depends : 0);
    return depends & (X_ARGUMENT | X_LOADED) ? MANY_TRIPS : TRIPS;
}

static bool judge_exit(x_function *f, uint32_t n, const x_inst *branch)
{
    const cute_code_loop *loop = &f->flow->loops[n];
    x_loop *out = &f->loops[n];
    const x_inst *test = comparison(f, branch);
    for (int side = 0; test && test->use_count >= 2 && side < 2; side++) {
        const x_operand *mine = &test->uses[side], *bound = &test->uses[1 - side];
        uint64_t from, to;
        const x_value *phi = mine->kind == X_VAR ? counter(f, x_use(f, mine), loop->header, 0) : NULL;
        if (!phi || (bound->kind == X_VAR && x_made_in(f, x_use(f, bound), n))) continue;
        int64_t step = step_of(f, phi, test->bits);
        x_operand start = {.kind = X_VAR, .value = (uint32_t)(phi - f->values)};
        if (!step) continue;
        out->counts = true;
        out->bound = bound;
        out->step = step;
        out->test = test;
        out->counter = start.value;
        double few = bound->kind == X_IMM ? masked_trips(f, x_entry(f, phi), step) : 0;
        if (few > 0) {
            out->trips = few;
            return true;
        }
        if (!x_operand_lane(f, bound, 0, &to) || !x_operand_lane(f, &start, 0, &from)) {
            out->trips = unknown_trips(f, phi, bound);
            return true;
        }
        double way =
            (double)(lanes_extended(to, test->bits) - lanes_extended(from, test->bits)) / (double)step;
        if (way < 0) way = -way;
        if (way >= 1) out->trips = way < MOST_TRIPS ? way : MOST_TRIPS;
        /* Sizes that are not known are not small. */
        uint32_t depends = x_operand_depends(f, bound) | x_operand_depends(f, &start);
        if (way >= 1 && depends & (X_ARGUMENT | X_LOADED) && out->trips < MANY_TRIPS) out->trips = MANY_TRIPS;
        return true;
    }
    return false;
}

static void find_trips(x_function *f, uint32_t n)
{
    x_loop *out = &f->loops[n];
    *out = (x_loop){.trips = TRIPS, .exit = -1, .waits = only_waits(f, n)};
    if (f->sass && f->flow->loops[n].innermost && elects_each(f, n)) {
        out->waits = true;
        out->trips = 1;
        return;
    }
    for (uint32_t b = 0; b < f->flow->block_count; b++) {
        const x_inst *branch = x_branch_of(f, b);
        if (!f->flow->blocks[b].reached || !cute_code_in_loop(f->flow, b, n) || !branch) continue;
        bool leaves = false;
        for (uint32_t e = 0; e < f->flow->blocks[b].edge_count; e++)
            leaves |= !cute_code_in_loop(f->flow, f->flow->blocks[b].edges[e].to, n);
        if (!leaves) continue;
        if (out->exit < 0) out->exit = branch - f->insts;
        if (!judge_exit(f, n, branch)) continue;
        out->exit = branch - f->insts;
        return;
    }
}

/* What another loop with larger steps has left. */
static void find_rest(x_function *f, uint32_t n)
{
    x_loop *rest = &f->loops[n];
    if (!rest->counts) return;
    const x_value *phi = x_at(f, rest->counter), *from = x_entry(f, phi);
    int64_t mine = rest->step < 0 ? -rest->step : rest->step;
    for (uint32_t k = 0; from && k < (from->phi ? from->arg_count : 1); k++) {
        const x_value *left = from->phi ? x_at(f, from->args[k]) : from;
        uint32_t block = left->inst >= 0 ? f->insts[left->inst].block : left->block;
        uint32_t m = left == f->values ? CUTE_NO_LOOP : f->flow->blocks[block].loop;
        if (m == CUTE_NO_LOOP || m == n || cute_code_in_loop(f->flow, f->flow->loops[n].header, m) ||
            !f->loops[m].counts)
            continue;
        int64_t step = f->loops[m].step < 0 ? -f->loops[m].step : f->loops[m].step;
        double trips = (double)step / (double)mine / 2;
        if (step >= 2 * mine && step % mine == 0 && trips < rest->trips) rest->trips = trips;
    }
}

bool x_find_weights(x_function *f)
{
    const cute_code_function *flow = f->flow;
    f->loops = cute_arena_array(f->arena, flow->loop_count + 1, sizeof *f->loops);
    if (!f->loops) return false;
    for (uint32_t l = 0; l < flow->loop_count; l++) find_trips(f, l);
    for (uint32_t l = 0; l < flow->loop_count; l++) find_rest(f, l);
    for (size_t b = 0; b < flow->block_count; b++) {
        double weight = flow->blocks[b].reached ? f->blocks[b].likely : 0;
        for (uint32_t l = flow->blocks[b].loop; l != CUTE_NO_LOOP; l = flow->loops[l].parent)
            weight *= f->blocks[flow->loops[l].header].likely < 1 && f->loops[l].trips > FEW_TRIPS
                          ? FEW_TRIPS
                          : f->loops[l].trips;
        f->blocks[b].weight = weight < 1e12 ? weight : 1e12;
    }
    /* What was counted is better. */
    for (size_t n = 0; n < f->count; n++) {
        const x_inst *i = &f->insts[n];
        x_block *b = &f->blocks[i->block];
        bool first = !n || f->insts[n - 1].block != i->block;
        if (i->seen) b->weight = !first && b->weight > i->seen->executed ? b->weight : i->seen->executed;
    }
    return true;
}
