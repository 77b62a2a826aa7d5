/* Execution counts of basic blocks: trip counts of loops, from their counters or by default, and unlikely branches. After
 * ssa_run_example. */
#include <string.h>

#include "lib/code/function.h"

static const double FEW_TRIPS = 4 /* of unlikely loops */, TRIPS = 16, MANY_TRIPS = 256, MOST_TRIPS = 1 << 16;

/* ---- loops ---- */

bool ssa_is_reached(const ssa_function *f, const ssa_inst *i)
{
    return f->flow->blocks[i->block].reached;
}

bool ssa_is_defined_in(const ssa_function *f, const ssa_value *v, uint32_t loop)
{
    if (v == f->values) return false;
    return cute_code_in_loop(f->flow, v->inst >= 0 ? f->insts[v->inst].block : v->block, loop);
}

const ssa_value *ssa_phi_entry(const ssa_function *f, const ssa_value *v)
{
    uint32_t loop = ssa_is_header(f, v->block) ? f->flow->blocks[v->block].loop : CUTE_NO_LOOP;
    for (uint32_t k = 0; v->phi && k < v->arg_count; k++) {
        const ssa_value *from = ssa_value_at(f, v->args[k]);
        if (from != v && from != f->values && (loop == CUTE_NO_LOOP || !ssa_is_defined_in(f, from, loop)))
            return from;
    }
    return NULL;
}

/* The phi of the loop header that a value is derived from: i, i + 1, i * 4 ...; NULL: none. */
static const ssa_value *find_counter(const ssa_function *f, const ssa_value *v, uint32_t header, int depth)
{
    if (v->phi) return v->block == header ? v : NULL;
    if (v->inst < 0 || depth > 4) return NULL;
    const ssa_inst *i = &f->insts[v->inst];
    if (i->op != SSA_ADD && i->op != SSA_SUB && i->op != SSA_MOV && i->op != SSA_EXTEND && i->op != SSA_MAD &&
        i->op != SSA_SHL)
        return NULL;
    for (unsigned u = 0; u < i->use_count; u++) {
        if (i->uses[u].kind != SSA_VAR) continue;
        const ssa_value *found = find_counter(f, ssa_value_of(f, &i->uses[u]), header, depth + 1);
        if (found) return found;
    }
    return NULL;
}

/* The step of the counter; 0: unknown. */
static int64_t find_step(const ssa_function *f, const ssa_value *phi, unsigned bits)
{
    for (uint32_t k = 0; k < phi->arg_count; k++) {
        const ssa_value *next = ssa_value_at(f, phi->args[k]);
        int64_t sum = 0;
        bool ok = next != phi && next->inst >= 0;
        for (int hops = 0; ok && next != phi && hops < 64; hops++) {
            const ssa_inst *i = next->inst >= 0 ? &f->insts[next->inst] : NULL;
            const ssa_value *from = NULL;
            ok = i && (i->op == SSA_ADD || i->op == SSA_SUB || i->op == SSA_MOV || i->op == SSA_MAD ||
                       i->op == SSA_LEA);
            unsigned u = 0;
            /* MAD and LEA: the product or shifted operand is part of the step. */
            if (ok && (i->op == SSA_MAD || i->op == SSA_LEA) && i->use_count > 1) {
                uint64_t a, b = UINT64_C(1) << i->shift % 32;
                ok = ssa_operand_lane(f, &i->uses[u++], 0, &a) &&
                     (i->op == SSA_LEA || ssa_operand_lane(f, &i->uses[u++], 0, &b));
                if (ok) sum += lanes_extended(a * b, bits);
            }
            for (; ok && u < ssa_source_count(i); u++) {
                uint64_t n;
                const ssa_value *v = i->uses[u].kind == SSA_VAR ? ssa_value_of(f, &i->uses[u]) : NULL;
                bool carried = v && (v == phi || (v->inst >= 0 && find_counter(f, v, phi->block, 0) == phi));
                if (carried && !from)
                    from = v;
                else if (ssa_operand_lane(f, &i->uses[u], 0, &n))
                    sum += i->op == SSA_SUB && u == 1 ? -lanes_extended(n, bits) : lanes_extended(n, bits);
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

static const ssa_inst *find_comparison(const ssa_function *f, const ssa_inst *branch)
{
    const ssa_value *v = ssa_value_of(f, &branch->uses[branch->guard]);
    for (int hops = 0; hops < 4 && v->inst >= 0; hops++) {
        const ssa_inst *i = &f->insts[v->inst];
        if (i->op == SSA_SETP) return i;
        if ((i->op != SSA_MOV && i->op != SSA_NOT) || i->uses[0].kind != SSA_VAR) return NULL;
        v = ssa_value_of(f, &i->uses[0]);
    }
    return NULL;
}

/* A loop that polls memory until another thread writes it. */
static bool is_polling_loop(const ssa_function *f, uint32_t n)
{
    bool looks = false;
    for (size_t k = 0; k < f->count; k++) {
        const ssa_inst *i = &f->insts[k];
        if (!cute_code_in_loop(f->flow, i->block, n)) continue;
        if (i->flags & (INST_MATH | INST_MMA | INST_WGMMA) || i->access == CUTE_ACCESS_STORE) return false;
        looks |= i->flags & (INST_WAIT_MBARRIER | INST_VOLATILE) || i->access == CUTE_ACCESS_ATOMIC ||
                 (i->access == CUTE_ACCESS_LOAD && i->flags & INST_ORDERED);
    }
    return looks;
}

/* A compiler-generated loop that elects the lanes one after the other; usually one iteration serves all. */
static bool is_election_loop(const ssa_function *f, uint32_t n)
{
    for (size_t k = 0; k < f->count; k++)
        if (cute_code_in_loop(f->flow, f->insts[k].block, n) && ssa_has_word(&f->insts[k], "BRA.U.ANY"))
            return true;
    return false;
}

/* The average trip count of an unrolled loop's remainder, n & 7; 0: the value is not masked. */
static double masked_trips(const ssa_function *f, const ssa_value *v, int64_t step)
{
    const ssa_inst *i = v && v->inst >= 0 ? &f->insts[v->inst] : NULL;
    int64_t each = step < 0 ? -step : step;
    for (unsigned u = 0; i && (i->op == SSA_AND || i->op == SSA_LOP3) && u < 2 && u < i->use_count; u++)
        if (i->uses[u].kind == SSA_IMM && i->uses[u].imm > 0 && i->uses[u].imm < 64)
            return each < i->uses[u].imm ? (double)(i->uses[u].imm + 1) / 2 / (double)each : 1;
    return 0;
}

/* The trip count of a loop with an unknown bound or start. */
static double default_trips(const ssa_function *f, const ssa_value *phi, const ssa_operand *bound)
{
    const ssa_value *from = ssa_phi_entry(f, phi);
    uint32_t depends = ssa_operand_depends(f, bound) | (from ? from->depends : 0);
    return depends & (DEPENDS_ARGUMENT | DEPENDS_LOADED) ? MANY_TRIPS : TRIPS;
}

/* Sets the trip count from an exit branch; false: it does not test a counter. */
static bool analyse_exit(ssa_function *f, uint32_t n, const ssa_inst *branch)
{
    const cute_code_loop *loop = &f->flow->loops[n];
    ssa_loop *out = &f->loops[n];
    const ssa_inst *test = find_comparison(f, branch);
    for (int side = 0; test && test->use_count >= 2 && side < 2; side++) {
        const ssa_operand *mine = &test->uses[side], *bound = &test->uses[1 - side];
        uint64_t from, to;
        const ssa_value *phi =
            mine->kind == SSA_VAR ? find_counter(f, ssa_value_of(f, mine), loop->header, 0) : NULL;
        if (!phi || (bound->kind == SSA_VAR && ssa_is_defined_in(f, ssa_value_of(f, bound), n))) continue;
        int64_t step = find_step(f, phi, test->bits);
        ssa_operand start = {.kind = SSA_VAR, .value = (uint32_t)(phi - f->values)};
        if (!step) continue;
        out->counts = true;
        out->bound = bound;
        out->step = step;
        out->test = test;
        out->counter = start.value;
        double few = bound->kind == SSA_IMM ? masked_trips(f, ssa_phi_entry(f, phi), step) : 0;
        if (few > 0) {
            out->trips = few;
            return true;
        }
        if (!ssa_operand_lane(f, bound, 0, &to) || !ssa_operand_lane(f, &start, 0, &from)) {
            out->trips = default_trips(f, phi, bound);
            return true;
        }
        double iterations =
            (double)(lanes_extended(to, test->bits) - lanes_extended(from, test->bits)) / (double)step;
        if (iterations < 0) iterations = -iterations;
        if (iterations >= 1) out->trips = iterations < MOST_TRIPS ? iterations : MOST_TRIPS;
        /* Unknown sizes are assumed to be large. */
        uint32_t depends = ssa_operand_depends(f, bound) | ssa_operand_depends(f, &start);
        if (iterations >= 1 && depends & (DEPENDS_ARGUMENT | DEPENDS_LOADED) && out->trips < MANY_TRIPS)
            out->trips = MANY_TRIPS;
        return true;
    }
    return false;
}

static void find_trip_count(ssa_function *f, uint32_t n)
{
    ssa_loop *out = &f->loops[n];
    *out = (ssa_loop){.trips = TRIPS, .exit = -1, .waits = is_polling_loop(f, n)};
    if (f->sass && f->flow->loops[n].innermost && is_election_loop(f, n)) {
        out->waits = true;
        out->trips = 1;
        return;
    }
    for (uint32_t b = 0; b < f->flow->block_count; b++) {
        const ssa_inst *branch = ssa_branch_of(f, b);
        if (!f->flow->blocks[b].reached || !cute_code_in_loop(f->flow, b, n) || !branch) continue;
        bool leaves = false;
        for (uint32_t e = 0; e < f->flow->blocks[b].edge_count; e++)
            leaves |= !cute_code_in_loop(f->flow, f->flow->blocks[b].edges[e].to, n);
        if (!leaves) continue;
        if (out->exit < 0) out->exit = branch - f->insts;
        if (!analyse_exit(f, n, branch)) continue;
        out->exit = branch - f->insts;
        return;
    }
}

/* The remainder loop of a loop with larger steps has fewer iterations. */
static void limit_remainder_trips(ssa_function *f, uint32_t n)
{
    ssa_loop *rest = &f->loops[n];
    if (!rest->counts) return;
    const ssa_value *phi = ssa_value_at(f, rest->counter), *from = ssa_phi_entry(f, phi);
    int64_t mine = rest->step < 0 ? -rest->step : rest->step;
    for (uint32_t k = 0; from && k < (from->phi ? from->arg_count : 1); k++) {
        const ssa_value *left = from->phi ? ssa_value_at(f, from->args[k]) : from;
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

bool ssa_find_weights(ssa_function *f)
{
    const cute_code_function *flow = f->flow;
    f->loops = cute_arena_array(f->arena, flow->loop_count + 1, sizeof *f->loops);
    if (!f->loops) return false;
    for (uint32_t l = 0; l < flow->loop_count; l++) find_trip_count(f, l);
    for (uint32_t l = 0; l < flow->loop_count; l++) limit_remainder_trips(f, l);
    for (size_t b = 0; b < flow->block_count; b++) {
        double weight = flow->blocks[b].reached ? f->blocks[b].likely : 0;
        for (uint32_t l = flow->blocks[b].loop; l != CUTE_NO_LOOP; l = flow->loops[l].parent)
            weight *= f->blocks[flow->loops[l].header].likely < 1 && f->loops[l].trips > FEW_TRIPS
                          ? FEW_TRIPS
                          : f->loops[l].trips;
        f->blocks[b].weight = weight < 1e12 ? weight : 1e12;
    }
    /* Counters override estimates. */
    for (size_t n = 0; n < f->count; n++) {
        const ssa_inst *i = &f->insts[n];
        ssa_block *b = &f->blocks[i->block];
        bool first = !n || f->insts[n - 1].block != i->block;
        if (i->counters)
            b->weight = !first && b->weight > i->counters->executed ? b->weight : i->counters->executed;
    }
    return true;
}
