/* Findings of control flow: divergence, work of one lane, barriers, loops that are not unrolled, calls. */
#include <string.h>

#include "lib/report/explain/context.h"

/* ---- divergence ---- */

static bool under(const x_function *f, uint32_t block, uint32_t top)
{
    for (uint32_t steps = 0; block != CUTE_NO_BLOCK && steps <= f->flow->block_count; steps++) {
        if (block == top) return true;
        uint32_t up = f->flow->blocks[block].dominator;
        if (up == block) break;
        block = up;
    }
    return false;
}

/* The slow path of a division or a root: a call of the compiler's own, for numbers that are rare. */
static bool is_slow_path(const x_function *f, uint32_t side)
{
    for (uint32_t b = 0; b < f->flow->block_count; b++) {
        if (!f->flow->blocks[b].reached || !under(f, b, side)) continue;
        for (size_t k = 0; k < f->flow->blocks[b].count; k++) {
            const x_inst *i = &f->insts[f->flow->blocks[b].first + k];
            if (i->flags & F_CALL && memmem(i->text, i->length, "__cuda_sm", 9)) return true;
        }
        if (f->flow->blocks[b].loop != f->flow->blocks[side].loop) return false;
    }
    return false;
}

/* In a loop behind the branch of which more is said. */
static bool is_told(const x_function *f, uint32_t loop, uint32_t branch, const bool *told)
{
    for (; loop != CUTE_NO_LOOP && !cute_code_in_loop(f->flow, branch, loop);
         loop = f->flow->loops[loop].parent)
        if (told[loop]) return true;
    return false;
}

/* Cycles of what only one side of a branch reaches; 0 where it has no blocks of its own, or only goes on. `told`: loops of which
 * more is said. */
static double side_cost(const x_function *f, uint32_t side, uint32_t branch, const bool *told)
{
    double sum = 0;
    const cute_code_block *first = &f->flow->blocks[side];
    if (first->count == 1 && first->edge_count == 1 && f->insts[first->first].flags & F_BRANCH) return 0;
    if (f->blocks[side].before_count != 1 || f->flow->blocks[side].dominator != branch) return 0;
    for (uint32_t b = 0; b < f->flow->block_count; b++) {
        if (!f->flow->blocks[b].reached || !under(f, b, side) ||
            is_told(f, f->flow->blocks[b].loop, branch, told))
            continue;
        for (size_t k = 0; k < f->flow->blocks[b].count; k++) {
            const x_inst *i = &f->insts[f->flow->blocks[b].first + k];
            sum += x_cost(f, i) * x_weight(f, i);
        }
    }
    return sum;
}

static bool contiguous(uint32_t mask)
{
    if (!mask) return true;
    mask >>= __builtin_ctz(mask);
    return !(mask & (mask + 1));
}

/* ptxas makes predicates of a branch around a few instructions. */
static bool is_predicated(const x_function *f, uint32_t side)
{
    const cute_code_block *b = &f->flow->blocks[side];
    enum { FEW = 7 };
    if (f->sass || b->count > FEW || b->edge_count != 1) return false;
    for (size_t k = 0; k < b->count; k++)
        if (f->insts[b->first + k].flags & (F_CALL | F_BARRIER)) return false;
    return b->edges[0].to != side && f->flow->blocks[b->edges[0].to].dominator == b->dominator;
}

static void judge_branch(explain_context *c, const x_inst *branch, uint32_t b, const bool *told)
{
    const x_function *f = c->f;
    const cute_code_block *block = &f->flow->blocks[b];
    const x_operand *guard = &branch->uses[branch->guard];
    uint32_t taken, loop = block->loop;
    if (block->edge_count != 2 || !x_operand_varying(f, guard)) return;
    uint32_t sides[2] = {block->edges[0].to, block->edges[1].to};
    if (loop != CUTE_NO_LOOP &&
        (!cute_code_in_loop(f->flow, sides[0], loop) || !cute_code_in_loop(f->flow, sides[1], loop)))
        return;
    double costs[2] = {side_cost(f, sides[0], b, told), side_cost(f, sides[1], b, told)};
    if (f->sass && (is_slow_path(f, sides[0]) || is_slow_path(f, sides[1]))) return;
    if (x_long_division(f, b) != CUTE_NO_BLOCK) return;
    double least = costs[0] < costs[1] ? costs[0] : costs[1], most = costs[0] + costs[1] - least;
    bool known = x_lanes_true(f, guard, &taken);
    taken &= f->blocks[b].active;
    if (known && (!taken || taken == f->blocks[b].active)) return;
    if (known && contiguous(taken) && contiguous(f->blocks[b].active & ~taken) &&
        __builtin_popcount(taken) % 31 <= 1)
        return; /* one lane, or all but one */
    bool by_branch = f->insts[branch->target].block == (costs[0] > 0 ? sides[0] : sides[1]);
    uint32_t busy = f->blocks[b].active & (by_branch ? taken : ~taken);
    if (least > 0) {
        /* Where warps went one way each would take its own side alone. */
        double part =
            known ? __builtin_popcount(busy) / (double)__builtin_popcount(f->blocks[b].active) : 0.5;
        explain_add(c, branch, costs[0] * (1 - part) + costs[1] * part, NULL,
                    "%s; one side takes %.0f cycles, the other %.0f, one after the other",
                    known ? explain_text(c, "%d of %d lanes go one way", __builtin_popcount(taken),
                                         __builtin_popcount(f->blocks[b].active))
                          : "the condition is of loaded data or computed lane by lane",
                    costs[0], costs[1]);
    } else if (known && !contiguous(taken) && most > 0) {
        explain_add(c, branch, most * (1 - __builtin_popcount(busy) / 32.0), NULL,
                    "%d of 32 lanes have work, every other idles", __builtin_popcount(busy));
    } else if (!known && x_operand_depends(f, guard) & X_LOADED &&
               !is_predicated(f, costs[0] > 0 ? sides[0] : sides[1])) {
        explain_add(c, branch, most * 0.4, NULL,
                    "the condition is of loaded data: lanes for which it does not hold wait for %.0f cycles",
                    most);
    }
}

/* @P0 EXIT: the others go on alone. Lanes side by side are the usual test of bounds. */
static void judge_end(explain_context *c, const x_inst *end, uint32_t b)
{
    const x_function *f = c->f;
    uint32_t gone;
    double cost = 0;
    if (!x_lanes_true(f, &end->uses[end->guard], &gone)) return;
    uint32_t busy = f->blocks[b].active & ~gone;
    if (!busy || busy == f->blocks[b].active || (contiguous(busy) && contiguous(gone))) return;
    for (uint32_t o = 0; o < f->flow->block_count; o++) {
        if (o == b || !f->flow->blocks[o].reached || !under(f, o, b)) continue;
        for (size_t k = 0; k < f->flow->blocks[o].count; k++) {
            const x_inst *i = &f->insts[f->flow->blocks[o].first + k];
            cost += x_cost(f, i) * x_weight(f, i);
        }
    }
    explain_add(c, end, cost * (1 - __builtin_popcount(busy) / 32.0), NULL,
                "%d of 32 lanes have work, every other has left", __builtin_popcount(busy));
}

/* What is predicated is issued for all lanes. */
static void judge_predicated(explain_context *c, const x_inst *i)
{
    const x_function *f = c->f;
    uint32_t busy;
    if (i->guard < 0 || i->flags & F_BRANCH || i->class == CUTE_CODE_CONTROL ||
        !x_lanes_true(f, &i->uses[i->guard], &busy))
        return;
    busy &= f->blocks[i->block].active;
    if (!busy || contiguous(busy) || __builtin_popcount(busy) > 16) return;
    explain_add(c, i, x_cost(f, i) * (1 - __builtin_popcount(busy) / 32.0) * x_weight(f, i), NULL,
                "%d of 32 lanes have work, every other idles", __builtin_popcount(busy));
}

/* Of a loop that each lane runs another number of times: how far the mean is from the most. */
static double idle_share(const x_function *f, const x_loop *loop)
{
    double sum = 0, most = 0;
    const x_operand start = {.kind = X_VAR, .value = loop->counter};
    unsigned bits = loop->test->bits >= 64 ? 64 : 32;
    for (int l = 0; l < X_LANES; l++) {
        uint64_t from, to;
        if (!x_operand_lane(f, loop->bound, l, &to) || !x_operand_lane(f, &start, l, &from)) return 0;
        int64_t way = bits == 64 ? (int64_t)(to - from) : (int32_t)(uint32_t)(to - from);
        int64_t step = loop->step < 0 ? -loop->step : loop->step;
        way = loop->step < 0 ? -way : way;
        double n = way > 0 ? (double)((way + step - 1) / step) : 0;
        sum += n;
        if (n > most) most = n;
    }
    /* One iteration more or less is the end of an array. */
    return most > 0 && most - sum / X_LANES > 1 ? 1 - sum / X_LANES / most : 0;
}

/* Another way out of a loop that counts, which each lane takes at its own time. */
static const x_inst *early_exit(const x_function *f, uint32_t n)
{
    for (uint32_t b = 0; b < f->flow->block_count; b++) {
        const cute_code_block *block = &f->flow->blocks[b];
        if (!block->reached || !block->count || !cute_code_in_loop(f->flow, b, n)) continue;
        const x_inst *i = &f->insts[block->first + block->count - 1];
        if (!(i->flags & F_BRANCH) || i->guard < 0) continue;
        bool leaves = false;
        for (uint32_t e = 0; e < block->edge_count; e++)
            leaves |= !cute_code_in_loop(f->flow, block->edges[e].to, n);
        /* @!P0 BRA P1, `(.L): two conditions; that of the counter is not meant. */
        bool counter = i - f->insts == f->loops[n].exit;
        for (unsigned u = 0; u < i->use_count && leaves; u++)
            if (!(counter && x_use(f, &i->uses[u]) == x_use(f, &i->uses[i->guard])) &&
                x_operand_varying(f, &i->uses[u]) && x_operand_depends(f, &i->uses[u]) & X_LOADED)
                return i;
    }
    return NULL;
}

/* An atomic that the hardware has not: compare and swap, until nobody else came first. find_contended tells of it. */
static bool swaps(const x_function *f, uint32_t n)
{
    static const char *const words[] = {".CAS", "atom.shared.cas", "atom.global.cas", "atom.cas"};
    if (!f->flow->loops[n].innermost) return false;
    for (size_t k = 0; k < f->count; k++)
        for (size_t w = 0; w < sizeof words / sizeof *words && explain_in_loop(f, &f->insts[k], n); w++)
            if (memmem(f->insts[k].text, f->insts[k].length, words[w], strlen(words[w]))) return true;
    return false;
}

/* Lanes leave a loop at different times, by more than one iteration; true: told. */
static bool judge_loop(explain_context *c, uint32_t n)
{
    const x_function *f = c->f;
    const x_loop *loop = &f->loops[n];
    if (loop->exit < 0) return false;
    const x_inst *branch = &f->insts[loop->exit];
    const x_operand *guard = &branch->uses[branch->guard];
    double cost = explain_loop_cost(f, n);
    /* What goes through a function of machine code is not followed. */
    for (size_t k = 0; f->sass && k < f->count; k++)
        if (f->insts[k].flags & F_CALL && explain_in_loop(f, &f->insts[k], n)) return false;
    if (swaps(f, n)) return true;
    const x_inst *early = loop->waits ? NULL : early_exit(f, n);
    if (early) {
        explain_add(c, early, cost * 0.4, NULL,
                    "each lane leaves the loop by a condition of its own: the warp goes on until the last");
        return true;
    }
    if (!x_operand_varying(f, guard)) return false;
    if (loop->counts) {
        /* From where it counts: by lane is usual (i = threadIdx.x; i < n; ...), unless each lane has loaded it. */
        const x_value *from = x_at(f, loop->counter);
        const x_value *to = x_use(f, loop->bound);
        bool data = (x_operand_varying(f, loop->bound) && !x_known(to) && to->depends & X_LOADED) ||
                    (from->varying && !x_known(from) && from->depends & X_LOADED);
        if (!data) {
            double share = idle_share(f, loop);
            if (share > 0.1)
                explain_add(c, branch, cost * share, NULL,
                            "the number of iterations differs from lane to lane");
            return share > 0.1;
        }
        explain_add(c, branch, cost * 0.5, NULL,
                    "the number of iterations is loaded by each lane: the warp takes the most of them");
        return true;
    }
    if (x_operand_depends(f, guard) & (X_LOADED | X_THREAD) && !loop->waits) {
        explain_add(c, branch, cost * 0.4, NULL,
                    "each lane leaves the loop by a condition of its own: the warp goes on until the last");
        return true;
    }
    return false;
}

void find_divergence(explain_context *c)
{
    const x_function *f = c->f;
    bool *told = cute_arena_array(c->arena, f->flow->loop_count + 1, sizeof *told);
    if (!told) {
        c->failed = true;
        return;
    }
    for (uint32_t n = 0; n < f->flow->loop_count; n++) told[n] = judge_loop(c, n);
    for (uint32_t b = 0; b < f->flow->block_count; b++) {
        const cute_code_block *block = &f->flow->blocks[b];
        if (!block->reached || !block->count) continue;
        const x_inst *branch = &f->insts[block->first + block->count - 1];
        if (branch->guard >= 0 &&
            f->flow->instructions[block->first + block->count - 1].opcode->flow == CUTE_FLOW_EXIT)
            judge_end(c, branch, b);
        else if (branch->flags & F_BRANCH && branch->guard >= 0 && branch->target >= 0)
            judge_branch(c, branch, b, told);
        for (size_t k = 0; k < block->count; k++) judge_predicated(c, &f->insts[block->first + k]);
    }
}

/* ---- one lane ---- */

void find_serial(explain_context *c)
{
    const x_function *f = c->f;
    for (uint32_t n = 0; n < f->flow->loop_count; n++) {
        const cute_code_loop *loop = &f->flow->loops[n];
        const x_inst *worst = NULL;
        bool other = f->loops[n].waits;
        if (!loop->innermost || __builtin_popcount(f->blocks[loop->header].active) != 1) continue;
        for (size_t k = 0; k < f->count; k++) {
            const x_inst *i = &f->insts[k];
            if (!explain_in_loop(f, i, n)) continue;
            other |= i->flags & (F_TMA | F_ASYNC | F_WAIT_MBARRIER | F_VOLATILE | F_WGMMA) ||
                     i->access == CUTE_ACCESS_ATOMIC || i->class == CUTE_CODE_SYNC;
            if (!worst || x_cost(f, i) > x_cost(f, worst)) worst = i;
        }
        if (other || !worst) continue;
        explain_add_wait(c, worst,
                         explain_loop_cost(f, n) * 31 / 32 + explain_exposed(c, 30) * x_weight(f, worst),
                         NULL, "the loop runs in one lane of the block, about %.0f times", f->loops[n].trips);
    }
}

/* ---- barriers ---- */

typedef struct segment {
    bool reads, writes;
} segment;

static void see(segment *s, const x_inst *i)
{
    if (i->access == CUTE_ACCESS_NONE || i->space == CUTE_CODE_SPACE_CONST ||
        i->space == CUTE_CODE_SPACE_LOCAL)
        return;
    s->reads |= i->access != CUTE_ACCESS_STORE;
    s->writes |= i->access != CUTE_ACCESS_LOAD;
}

static bool needed(segment before, segment after)
{
    return (before.writes && (after.reads || after.writes)) || (before.reads && after.writes);
}

/* Barriers of one block that order nothing; its last segment is followed by the first where it is a loop of its own. */
static void judge_order(explain_context *c, uint32_t b)
{
    const x_function *f = c->f;
    const cute_code_block *block = &f->flow->blocks[b];
    enum { MOST_BARRIERS = 32 };
    segment segments[MOST_BARRIERS + 1] = {0};
    const x_inst *barriers[MOST_BARRIERS];
    unsigned count = 0;
    bool own = block->loop != CUTE_NO_LOOP && f->flow->loops[block->loop].block_count == 1;
    for (size_t k = 0; k < block->count && count < MOST_BARRIERS; k++) {
        const x_inst *i = &f->insts[block->first + k];
        if (i->flags & (F_ASYNC | F_TMA | F_WGMMA | F_WAIT_MBARRIER | F_CALL)) return;
        if (i->flags & F_BARRIER)
            barriers[count++] = i;
        else
            see(&segments[count], i);
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
        if (needed(before, after)) continue;
        explain_add(c, barriers[k], x_cost(f, barriers[k]) * x_weight(f, barriers[k]),
                    "leave it out: nothing is written before it that is used behind it",
                    "no memory is exchanged across it");
    }
}

enum { MANY_BARRIERS = 8 };

/* Steps that were unrolled: barriers of code in no loop. */
static void judge_straight(explain_context *c)
{
    const x_function *f = c->f;
    double work = 0, waits = 0;
    unsigned count = 0;
    bool other = false;
    for (size_t n = 0; n < f->count; n++) {
        const x_inst *i = &f->insts[n];
        if (!x_reached(f, i)) continue;
        other |= (i->flags & (F_WGMMA | F_MMA | F_TMA | F_ASYNC)) != 0;
        count += i->flags & F_BARRIER && x_loop_of(f, i) == CUTE_NO_LOOP && x_weight(f, i) >= 0.5;
        (i->flags & F_BARRIER ? &waits : &work)[0] += x_cost(f, i) * x_weight(f, i);
    }
    if (other || count < MANY_BARRIERS || waits < work * 0.4) return;
    for (size_t n = 0; n < f->count; n++) {
        const x_inst *i = &f->insts[n];
        if (x_reached(f, i) && i->flags & F_BARRIER && x_loop_of(f, i) == CUTE_NO_LOOP)
            explain_add(c, i, x_cost(f, i) * x_weight(f, i), NULL,
                        "%u barriers one after the other take about %.0f %% of the time", count,
                        100 * waits / (waits + work));
    }
}

void find_barriers(explain_context *c)
{
    const x_function *f = c->f;
    judge_straight(c);
    for (uint32_t b = 0; b < f->flow->block_count; b++)
        if (f->flow->blocks[b].reached) judge_order(c, b);
    for (uint32_t n = 0; n < f->flow->loop_count; n++) {
        double work = 0, waits = 0;
        bool other = false;
        for (size_t k = 0; k < f->count; k++) {
            const x_inst *i = &f->insts[k];
            if (!explain_in_loop(f, i, n) || x_loop_of(f, i) != n) continue;
            other |= (i->flags & (F_WGMMA | F_MMA | F_TMA | F_ASYNC)) != 0;
            (i->flags & F_BARRIER ? &waits : &work)[0] += x_cost(f, i) * x_weight(f, i);
        }
        if (other || waits < work * 0.4 || waits <= 0) continue;
        for (size_t k = 0; k < f->count; k++) {
            const x_inst *i = &f->insts[k];
            if (explain_in_loop(f, i, n) && x_loop_of(f, i) == n && i->flags & F_BARRIER)
                explain_add(c, i, x_cost(f, i) * x_weight(f, i), NULL,
                            "waiting takes about %.0f %% of an iteration", 100 * waits / (waits + work));
        }
    }
}

/* ---- loops ---- */

/* What it computes is what the next iteration begins with: counters, and pointers that go on. */
static bool is_carried(const x_function *f, const x_inst *i, uint32_t header)
{
    for (uint32_t p = f->blocks[header].first_phi; p; p = f->values[p].next_phi)
        for (uint32_t k = 0; k < f->values[p].arg_count; k++)
            if (x_at(f, f->values[p].args[k])->inst == i - f->insts) return true;
    return false;
}

void find_rolled(explain_context *c)
{
    const x_function *f = c->f;
    for (uint32_t n = 0; n < f->flow->loop_count; n++) {
        const cute_code_loop *loop = &f->flow->loops[n];
        double all = 0, counting = 0;
        const x_inst *branch = NULL, *first = NULL;
        bool other = f->loops[n].waits || !f->loops[n].counts || early_exit(f, n);
        size_t instructions = 0, work = 0;
        if (!loop->innermost || f->loops[n].trips < 4 || other) continue;
        for (size_t k = 0; k < f->count && !other; k++) {
            const x_inst *i = &f->insts[k];
            if (!explain_in_loop(f, i, n)) continue;
            double cost = x_cost(f, i);
            bool counts = i->class == CUTE_CODE_COMPARE || i->class == CUTE_CODE_CONTROL ||
                          (i->class == CUTE_CODE_INTEGER && is_carried(f, i, loop->header));
            instructions++;
            all += cost;
            counting += counts ? cost : 0;
            work += i->flags & F_MATH || i->access != CUTE_ACCESS_NONE;
            other |= i->class == CUTE_CODE_SYNC || i->class == CUTE_CODE_ASYNC || i->flags & F_WGMMA;
            if (i->flags & F_BRANCH) branch = i;
            if (!first && (i->flags & F_MATH || i->access == CUTE_ACCESS_LOAD)) first = i;
        }
        if (other || !work || work > 2 || !branch || instructions > 24 || counting < 0.4 * all) continue;
        explain_add(
            c, first ? first : branch, counting * 0.75 * x_weight(f, branch), NULL,
            "%zu instructions an iteration, %.0f %% of them to count and to branch; about %.0f iterations",
            instructions, 100 * counting / all, f->loops[n].trips);
    }
}

static bool of_system(const x_inst *i)
{
    static const char *const names[] = {"vprintf", "__assertfail", "malloc", "free", "__internal", "__cuda"};
    for (size_t k = 0; k < sizeof names / sizeof *names; k++)
        if (memmem(i->text, i->length, names[k], strlen(names[k]))) return true;
    return false;
}

void find_calls(explain_context *c)
{
    const x_function *f = c->f;
    for (size_t n = 0; n < f->count; n++) {
        const x_inst *i = &f->insts[n];
        if (!(i->flags & F_CALL) || !x_reached(f, i) || x_loop_of(f, i) == CUTE_NO_LOOP || of_system(i))
            continue;
        explain_add_wait(c, i, 60 * x_weight(f, i), NULL,
                         "arguments and what is alive go through the registers and the stack of the call");
    }
}
