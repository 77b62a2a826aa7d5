/* Control-flow findings: divergence, loops of a single lane, barriers, small loops, calls. */
#include <string.h>

#include "lib/report/explain/context.h"

/* ---- divergence ---- */

/* `top` dominates `block`. */
static bool is_dominated_by(const ssa_function *f, uint32_t block, uint32_t top)
{
    for (uint32_t steps = 0; block != CUTE_NO_BLOCK && steps <= f->flow->block_count; steps++) {
        if (block == top) return true;
        uint32_t up = f->flow->blocks[block].dominator;
        if (up == block) break;
        block = up;
    }
    return false;
}

/* The slow path of a division or square root: the compiler calls a helper for rare operands. */
static bool is_slow_path(const ssa_function *f, uint32_t side)
{
    for (uint32_t b = 0; b < f->flow->block_count; b++) {
        if (!f->flow->blocks[b].reached || !is_dominated_by(f, b, side)) continue;
        for (size_t k = 0; k < f->flow->blocks[b].count; k++) {
            const ssa_inst *i = &f->insts[f->flow->blocks[b].first + k];
            if (i->flags & INST_CALL && memmem(i->text, i->length, "__cuda_sm", 9)) return true;
        }
        if (f->flow->blocks[b].loop != f->flow->blocks[side].loop) return false;
    }
    return false;
}

/* Within the branch, in a loop that has its own finding. */
static bool is_reported(const ssa_function *f, uint32_t loop, uint32_t branch, const bool *reported)
{
    for (; loop != CUTE_NO_LOOP && !cute_code_in_loop(f->flow, branch, loop);
         loop = f->flow->loops[loop].parent)
        if (reported[loop]) return true;
    return false;
}

/* Cycles of the code that only one side of a branch executes; 0: none, or just a jump. `reported`: loops with their own finding,
 * which are not counted again. */
static double side_cost(const ssa_function *f, uint32_t side, uint32_t branch, const bool *reported)
{
    double sum = 0;
    const cute_code_block *first = &f->flow->blocks[side];
    if (first->count == 1 && first->edge_count == 1 && f->insts[first->first].flags & INST_BRANCH) return 0;
    if (f->blocks[side].before_count != 1 || f->flow->blocks[side].dominator != branch) return 0;
    for (uint32_t b = 0; b < f->flow->block_count; b++) {
        if (!f->flow->blocks[b].reached || !is_dominated_by(f, b, side) ||
            is_reported(f, f->flow->blocks[b].loop, branch, reported))
            continue;
        for (size_t k = 0; k < f->flow->blocks[b].count; k++) {
            const ssa_inst *i = &f->insts[f->flow->blocks[b].first + k];
            sum += explain_cost(f, i) * ssa_weight(f, i);
        }
    }
    return sum;
}

/* The set bits are adjacent. */
static bool is_contiguous(uint32_t mask)
{
    if (!mask) return true;
    mask >>= __builtin_ctz(mask);
    return !(mask & (mask + 1));
}

/* ptxas predicates a short branch. */
static bool is_predicated(const ssa_function *f, uint32_t side)
{
    const cute_code_block *b = &f->flow->blocks[side];
    enum { FEW = 7 };
    if (f->sass || b->count > FEW || b->edge_count != 1) return false;
    for (size_t k = 0; k < b->count; k++)
        if (f->insts[b->first + k].flags & (INST_CALL | INST_BARRIER)) return false;
    return b->edges[0].to != side && f->flow->blocks[b->edges[0].to].dominator == b->dominator;
}

static void check_branch(explain_context *c, const ssa_inst *branch, uint32_t b, const bool *reported)
{
    const ssa_function *f = c->f;
    const cute_code_block *block = &f->flow->blocks[b];
    const ssa_operand *guard = &branch->uses[branch->guard];
    uint32_t taken, loop = block->loop;
    if (block->edge_count != 2 || !ssa_operand_varies(f, guard)) return;
    uint32_t sides[2] = {block->edges[0].to, block->edges[1].to};
    if (loop != CUTE_NO_LOOP &&
        (!cute_code_in_loop(f->flow, sides[0], loop) || !cute_code_in_loop(f->flow, sides[1], loop)))
        return;
    double costs[2] = {side_cost(f, sides[0], b, reported), side_cost(f, sides[1], b, reported)};
    if (f->sass && (is_slow_path(f, sides[0]) || is_slow_path(f, sides[1]))) return;
    if (ssa_long_division(f, b) != CUTE_NO_BLOCK) return;
    double least = costs[0] < costs[1] ? costs[0] : costs[1], most = costs[0] + costs[1] - least;
    bool known = ssa_lanes_true(f, guard, &taken);
    taken &= f->blocks[b].active;
    if (known && (!taken || taken == f->blocks[b].active)) return;
    if (known && is_contiguous(taken) && is_contiguous(f->blocks[b].active & ~taken) &&
        __builtin_popcount(taken) % 31 <= 1)
        return; /* one lane, or all but one */
    bool by_branch = f->insts[branch->target].block == (costs[0] > 0 ? sides[0] : sides[1]);
    uint32_t busy = f->blocks[b].active & (by_branch ? taken : ~taken);
    if (least > 0) {
        /* Without divergence each warp would execute one side only. */
        double part =
            known ? __builtin_popcount(busy) / (double)__builtin_popcount(f->blocks[b].active) : 0.5;
        explain_add(c, branch, costs[0] * (1 - part) + costs[1] * part, NULL,
                    "%s; the two sides take %.0f and %.0f cycles and execute one after the other",
                    known ? explain_text(c, "%d of %d lanes take the branch", __builtin_popcount(taken),
                                         __builtin_popcount(f->blocks[b].active))
                          : "the condition depends on loaded data or on the lane",
                    costs[0], costs[1]);
    } else if (known && !is_contiguous(taken) && most > 0) {
        explain_add(c, branch, most * (1 - __builtin_popcount(busy) / 32.0), NULL,
                    "%d of 32 lanes are active, the others idle", __builtin_popcount(busy));
    } else if (!known && ssa_operand_depends(f, guard) & DEPENDS_LOADED &&
               !is_predicated(f, costs[0] > 0 ? sides[0] : sides[1])) {
        explain_add(c, branch, most * 0.4, NULL,
                    "the condition depends on loaded data: lanes for which it is false idle for %.0f cycles",
                    most);
    }
}

/* @P0 EXIT: some lanes end early. Contiguous lanes are the usual bounds check. */
static void check_exit(explain_context *c, const ssa_inst *end, uint32_t b)
{
    const ssa_function *f = c->f;
    uint32_t gone;
    double cost = 0;
    if (!ssa_lanes_true(f, &end->uses[end->guard], &gone)) return;
    uint32_t busy = f->blocks[b].active & ~gone;
    if (!busy || busy == f->blocks[b].active || (is_contiguous(busy) && is_contiguous(gone))) return;
    for (uint32_t o = 0; o < f->flow->block_count; o++) {
        if (o == b || !f->flow->blocks[o].reached || !is_dominated_by(f, o, b)) continue;
        for (size_t k = 0; k < f->flow->blocks[o].count; k++) {
            const ssa_inst *i = &f->insts[f->flow->blocks[o].first + k];
            cost += explain_cost(f, i) * ssa_weight(f, i);
        }
    }
    explain_add(c, end, cost * (1 - __builtin_popcount(busy) / 32.0), NULL,
                "%d of 32 lanes are active, the others have exited", __builtin_popcount(busy));
}

/* Predicated instructions are issued for all lanes. */
static void check_predicated(explain_context *c, const ssa_inst *i)
{
    const ssa_function *f = c->f;
    uint32_t busy;
    if (i->guard < 0 || i->flags & INST_BRANCH || i->class == CUTE_CODE_CONTROL ||
        !ssa_lanes_true(f, &i->uses[i->guard], &busy))
        return;
    busy &= f->blocks[i->block].active;
    if (!busy || is_contiguous(busy) || __builtin_popcount(busy) > 16) return;
    explain_add(c, i, explain_cost(f, i) * (1 - __builtin_popcount(busy) / 32.0) * ssa_weight(f, i), NULL,
                "%d of 32 lanes are active, the others idle", __builtin_popcount(busy));
}

/* The share of idle lanes in a loop whose trip count differs between lanes: 1 - mean / maximum. */
static double idle_share(const ssa_function *f, const ssa_loop *loop)
{
    double sum = 0, most = 0;
    const ssa_operand start = {.kind = SSA_VAR, .value = loop->counter};
    unsigned bits = loop->test->bits >= 64 ? 64 : 32;
    for (int l = 0; l < LANES; l++) {
        uint64_t from, to;
        if (!ssa_operand_lane(f, loop->bound, l, &to) || !ssa_operand_lane(f, &start, l, &from)) return 0;
        int64_t distance = bits == 64 ? (int64_t)(to - from) : (int32_t)(uint32_t)(to - from);
        int64_t step = loop->step < 0 ? -loop->step : loop->step;
        distance = loop->step < 0 ? -distance : distance;
        double n = distance > 0 ? (double)((distance + step - 1) / step) : 0;
        sum += n;
        if (n > most) most = n;
    }
    /* A difference of one iteration is the remainder of an array. */
    return most > 0 && most - sum / LANES > 1 ? 1 - sum / LANES / most : 0;
}

/* A data-dependent exit of a counted loop. */
static const ssa_inst *find_early_exit(const ssa_function *f, uint32_t n)
{
    for (uint32_t b = 0; b < f->flow->block_count; b++) {
        const cute_code_block *block = &f->flow->blocks[b];
        if (!block->reached || !block->count || !cute_code_in_loop(f->flow, b, n)) continue;
        const ssa_inst *i = &f->insts[block->first + block->count - 1];
        if (!(i->flags & INST_BRANCH) || i->guard < 0) continue;
        bool leaves = false;
        for (uint32_t e = 0; e < block->edge_count; e++)
            leaves |= !cute_code_in_loop(f->flow, block->edges[e].to, n);
        /* @!P0 BRA P1, `(.L) has two conditions; skip the one that tests the counter. */
        bool counter = i - f->insts == f->loops[n].exit;
        for (unsigned u = 0; u < i->use_count && leaves; u++)
            if (!(counter && ssa_value_of(f, &i->uses[u]) == ssa_value_of(f, &i->uses[i->guard])) &&
                ssa_operand_varies(f, &i->uses[u]) && ssa_operand_depends(f, &i->uses[u]) & DEPENDS_LOADED)
                return i;
    }
    return NULL;
}

/* A compare-and-swap loop that emulates an atomic; find_contended reports it. */
static bool is_swap_loop(const ssa_function *f, uint32_t n)
{
    static const char *const words[] = {".CAS", "atom.shared.cas", "atom.global.cas", "atom.cas"};
    if (!f->flow->loops[n].innermost) return false;
    for (size_t k = 0; k < f->count; k++)
        for (size_t w = 0; w < sizeof words / sizeof *words && explain_in_loop(f, &f->insts[k], n); w++)
            if (memmem(f->insts[k].text, f->insts[k].length, words[w], strlen(words[w]))) return true;
    return false;
}

/* Lanes leave the loop in different iterations, by more than one; true: the loop needs no other finding. */
static bool check_loop_divergence(explain_context *c, uint32_t n)
{
    const ssa_function *f = c->f;
    const ssa_loop *loop = &f->loops[n];
    if (loop->exit < 0) return false;
    const ssa_inst *branch = &f->insts[loop->exit];
    const ssa_operand *guard = &branch->uses[branch->guard];
    double cost = explain_loop_cost(f, n);
    /* Values are not traced through SASS calls. */
    for (size_t k = 0; f->sass && k < f->count; k++)
        if (f->insts[k].flags & INST_CALL && explain_in_loop(f, &f->insts[k], n)) return false;
    if (is_swap_loop(f, n)) return true;
    const ssa_inst *early = loop->waits ? NULL : find_early_exit(f, n);
    if (early) {
        explain_add(c, early, cost * 0.4, NULL,
                    "each lane exits the loop independently: the warp runs until its last lane");
        return true;
    }
    if (!ssa_operand_varies(f, guard)) return false;
    if (loop->counts) {
        /* A start that depends on the lane is usual (i = threadIdx.x; i < n; ...); a loaded one is not. */
        const ssa_value *from = ssa_value_at(f, loop->counter);
        const ssa_value *to = ssa_value_of(f, loop->bound);
        bool data =
            (ssa_operand_varies(f, loop->bound) && !ssa_is_known(to) && to->depends & DEPENDS_LOADED) ||
            (from->varying && !ssa_is_known(from) && from->depends & DEPENDS_LOADED);
        if (!data) {
            double share = idle_share(f, loop);
            if (share > 0.1)
                explain_add(c, branch, cost * share, NULL, "the trip count differs between lanes");
            return share > 0.1;
        }
        explain_add(c, branch, cost * 0.5, NULL,
                    "the trip count is loaded per lane: the warp runs for the largest one");
        return true;
    }
    if (ssa_operand_depends(f, guard) & (DEPENDS_LOADED | DEPENDS_THREAD) && !loop->waits) {
        explain_add(c, branch, cost * 0.4, NULL,
                    "each lane exits the loop independently: the warp runs until its last lane");
        return true;
    }
    return false;
}

void find_divergence(explain_context *c)
{
    const ssa_function *f = c->f;
    bool *reported = cute_arena_array(c->arena, f->flow->loop_count + 1, sizeof *reported);
    if (!reported) {
        c->failed = true;
        return;
    }
    for (uint32_t n = 0; n < f->flow->loop_count; n++) reported[n] = check_loop_divergence(c, n);
    for (uint32_t b = 0; b < f->flow->block_count; b++) {
        const cute_code_block *block = &f->flow->blocks[b];
        if (!block->reached || !block->count) continue;
        const ssa_inst *branch = &f->insts[block->first + block->count - 1];
        if (branch->guard >= 0 &&
            f->flow->instructions[block->first + block->count - 1].opcode->flow == CUTE_FLOW_EXIT)
            check_exit(c, branch, b);
        else if (branch->flags & INST_BRANCH && branch->guard >= 0 && branch->target >= 0)
            check_branch(c, branch, b, reported);
        for (size_t k = 0; k < block->count; k++) check_predicated(c, &f->insts[block->first + k]);
    }
}

/* ---- single lanes ---- */

void find_serial(explain_context *c)
{
    const ssa_function *f = c->f;
    for (uint32_t n = 0; n < f->flow->loop_count; n++) {
        const cute_code_loop *loop = &f->flow->loops[n];
        const ssa_inst *worst = NULL;
        bool other = f->loops[n].waits;
        if (!loop->innermost || __builtin_popcount(f->blocks[loop->header].active) != 1) continue;
        for (size_t k = 0; k < f->count; k++) {
            const ssa_inst *i = &f->insts[k];
            if (!explain_in_loop(f, i, n)) continue;
            other |= i->flags & (INST_TMA | INST_ASYNC | INST_WAIT_MBARRIER | INST_VOLATILE | INST_WGMMA) ||
                     i->access == CUTE_ACCESS_ATOMIC || i->class == CUTE_CODE_SYNC;
            if (!worst || explain_cost(f, i) > explain_cost(f, worst)) worst = i;
        }
        if (other || !worst) continue;
        explain_add_wait(
            c, worst, explain_loop_cost(f, n) * 31 / 32 + explain_exposed(c, 30) * ssa_weight(f, worst), NULL,
            "one lane of the block executes the loop, about %.0f iterations", f->loops[n].trips);
    }
}

/* ---- barriers ---- */

/* Shared and global accesses between two barriers. */
typedef struct segment {
    bool reads, writes;
} segment;

static void add_access(segment *s, const ssa_inst *i)
{
    if (i->access == CUTE_ACCESS_NONE || i->space == CUTE_CODE_SPACE_CONST ||
        i->space == CUTE_CODE_SPACE_LOCAL)
        return;
    s->reads |= i->access != CUTE_ACCESS_STORE;
    s->writes |= i->access != CUTE_ACCESS_LOAD;
}

static bool is_barrier_needed(segment before, segment after)
{
    return (before.writes && (after.reads || after.writes)) || (before.reads && after.writes);
}

/* Redundant barriers of one basic block. If the block is a loop, its first segment follows its last one. */
static void find_redundant_barriers(explain_context *c, uint32_t b)
{
    const ssa_function *f = c->f;
    const cute_code_block *block = &f->flow->blocks[b];
    enum { MOST_BARRIERS = 32 };
    segment segments[MOST_BARRIERS + 1] = {0};
    const ssa_inst *barriers[MOST_BARRIERS];
    unsigned count = 0;
    bool own = block->loop != CUTE_NO_LOOP && f->flow->loops[block->loop].block_count == 1;
    for (size_t k = 0; k < block->count && count < MOST_BARRIERS; k++) {
        const ssa_inst *i = &f->insts[block->first + k];
        if (i->flags & (INST_ASYNC | INST_TMA | INST_WGMMA | INST_WAIT_MBARRIER | INST_CALL)) return;
        if (i->flags & INST_BARRIER)
            barriers[count++] = i;
        else
            add_access(&segments[count], i);
    }
    for (unsigned k = 0; k < count; k++) {
        segment before = segments[k], after = segments[k + 1];
        bool first = k == 0, last = k + 1 == count;
        if (own && count) {
            if (first) before.reads |= segments[count].reads, before.writes |= segments[count].writes;
            if (last) after.reads |= segments[0].reads, after.writes |= segments[0].writes;
        } else if (first || last) {
            continue;
        }
        if (is_barrier_needed(before, after)) continue;
        explain_add(c, barriers[k], explain_cost(f, barriers[k]) * ssa_weight(f, barriers[k]),
                    "remove it: nothing written before the barrier is used after it",
                    "the barrier orders no memory accesses");
    }
}

enum { MANY_BARRIERS = 8 };

/* Barriers outside of loops, as in an unrolled reduction. */
static void check_unrolled_barriers(explain_context *c)
{
    const ssa_function *f = c->f;
    double work = 0, waits = 0;
    unsigned count = 0;
    bool other = false;
    for (size_t n = 0; n < f->count; n++) {
        const ssa_inst *i = &f->insts[n];
        if (!ssa_is_reached(f, i)) continue;
        other |= (i->flags & (INST_WGMMA | INST_MMA | INST_TMA | INST_ASYNC)) != 0;
        count += i->flags & INST_BARRIER && ssa_loop_of(f, i) == CUTE_NO_LOOP && ssa_weight(f, i) >= 0.5;
        (i->flags & INST_BARRIER ? &waits : &work)[0] += explain_cost(f, i) * ssa_weight(f, i);
    }
    if (other || count < MANY_BARRIERS || waits < work * 0.4) return;
    for (size_t n = 0; n < f->count; n++) {
        const ssa_inst *i = &f->insts[n];
        if (ssa_is_reached(f, i) && i->flags & INST_BARRIER && ssa_loop_of(f, i) == CUTE_NO_LOOP)
            explain_add(c, i, explain_cost(f, i) * ssa_weight(f, i), NULL,
                        "%u consecutive barriers take about %.0f %% of the time", count,
                        100 * waits / (waits + work));
    }
}

void find_barriers(explain_context *c)
{
    const ssa_function *f = c->f;
    check_unrolled_barriers(c);
    for (uint32_t b = 0; b < f->flow->block_count; b++)
        if (f->flow->blocks[b].reached) find_redundant_barriers(c, b);
    for (uint32_t n = 0; n < f->flow->loop_count; n++) {
        double work = 0, waits = 0;
        bool other = false;
        for (size_t k = 0; k < f->count; k++) {
            const ssa_inst *i = &f->insts[k];
            if (!explain_in_loop(f, i, n) || ssa_loop_of(f, i) != n) continue;
            other |= (i->flags & (INST_WGMMA | INST_MMA | INST_TMA | INST_ASYNC)) != 0;
            (i->flags & INST_BARRIER ? &waits : &work)[0] += explain_cost(f, i) * ssa_weight(f, i);
        }
        if (other || waits < work * 0.4 || waits <= 0) continue;
        for (size_t k = 0; k < f->count; k++) {
            const ssa_inst *i = &f->insts[k];
            if (explain_in_loop(f, i, n) && ssa_loop_of(f, i) == n && i->flags & INST_BARRIER)
                explain_add(c, i, explain_cost(f, i) * ssa_weight(f, i), NULL,
                            "barriers take about %.0f %% of an iteration", 100 * waits / (waits + work));
        }
    }
}

/* ---- small loops ---- */

/* The result is loop-carried: a counter or an advancing pointer. */
static bool is_loop_carried(const ssa_function *f, const ssa_inst *i, uint32_t header)
{
    for (uint32_t p = f->blocks[header].first_phi; p; p = f->values[p].next_phi)
        for (uint32_t k = 0; k < f->values[p].arg_count; k++)
            if (ssa_value_at(f, f->values[p].args[k])->inst == i - f->insts) return true;
    return false;
}

void find_rolled(explain_context *c)
{
    const ssa_function *f = c->f;
    for (uint32_t n = 0; n < f->flow->loop_count; n++) {
        const cute_code_loop *loop = &f->flow->loops[n];
        double all = 0, counting = 0;
        const ssa_inst *branch = NULL, *first = NULL;
        bool other = f->loops[n].waits || !f->loops[n].counts || find_early_exit(f, n);
        size_t instructions = 0, work = 0;
        if (!loop->innermost || f->loops[n].trips < 4 || other) continue;
        for (size_t k = 0; k < f->count && !other; k++) {
            const ssa_inst *i = &f->insts[k];
            if (!explain_in_loop(f, i, n)) continue;
            double cost = explain_cost(f, i);
            bool counts = i->class == CUTE_CODE_COMPARE || i->class == CUTE_CODE_CONTROL ||
                          (i->class == CUTE_CODE_INTEGER && is_loop_carried(f, i, loop->header));
            instructions++;
            all += cost;
            counting += counts ? cost : 0;
            work += i->flags & INST_MATH || i->access != CUTE_ACCESS_NONE;
            other |= i->class == CUTE_CODE_SYNC || i->class == CUTE_CODE_ASYNC || i->flags & INST_WGMMA;
            if (i->flags & INST_BRANCH) branch = i;
            if (!first && (i->flags & INST_MATH || i->access == CUTE_ACCESS_LOAD)) first = i;
        }
        if (other || !work || work > 2 || !branch || instructions > 24 || counting < 0.4 * all) continue;
        explain_add(
            c, first ? first : branch, counting * 0.75 * ssa_weight(f, branch), NULL,
            "%zu instructions per iteration, %.0f %% of their cost is loop control; about %.0f iterations",
            instructions, 100 * counting / all, f->loops[n].trips);
    }
}

/* A function of the CUDA runtime, which cannot be inlined. */
static bool is_system_call(const ssa_inst *i)
{
    static const char *const names[] = {"vprintf", "__assertfail", "malloc", "free", "__internal", "__cuda"};
    for (size_t k = 0; k < sizeof names / sizeof *names; k++)
        if (memmem(i->text, i->length, names[k], strlen(names[k]))) return true;
    return false;
}

void find_calls(explain_context *c)
{
    const ssa_function *f = c->f;
    for (size_t n = 0; n < f->count; n++) {
        const ssa_inst *i = &f->insts[n];
        if (!(i->flags & INST_CALL) || !ssa_is_reached(f, i) || ssa_loop_of(f, i) == CUTE_NO_LOOP ||
            is_system_call(i))
            continue;
        explain_add_wait(
            c, i, 60 * ssa_weight(f, i), NULL,
            "arguments and live registers are passed through the calling convention and the stack");
    }
}
