/* Where diverged lanes reconverge: the immediate post-dominator of each branch, found once a
 * function (Cooper, Harvey and Kennedy's iteration on the reversed graph of basic blocks). */
#include "lib/emulator/decode.h"

typedef struct graph {
    em_program *program;
    uint32_t start, end;
    uint32_t count;         /* of blocks; the last is the function's end */
    uint32_t *first;        /* instruction of each block, and one more */
    uint32_t *block_of;     /* of each instruction */
    uint32_t *order, *rank; /* reverse post-order of the reversed graph */
    uint32_t ordered;
    uint32_t *idom;
    uint32_t *pred_start, *preds; /* predecessors in the graph: successors in the reversed one */
    uint32_t main_exit;           /* a block */
    bool all_exits;               /* lead to the function's end; else only that of main_exit does */
} graph;

static bool is_branch(const em_inst *i)
{
    return i->control == EM_BRANCH || i->control == EM_BRANCH_INDEX;
}

static uint32_t target_count(const em_inst *i)
{
    return i->control == EM_BRANCH ? 1 : i->control == EM_BRANCH_INDEX ? i->o[1].count : 0;
}

static uint32_t target_at(const em_inst *i, uint32_t n)
{
    return i->control == EM_BRANCH ? i->branch.target : i->o[1].list[n].at;
}

static bool falls_through(const em_inst *i)
{
    return i->guard || i->control == EM_NEXT;
}

/* Lanes that end early do not come together with others, so that an exit on the way leads nowhere. */
static bool leads_to_end(const graph *g, uint32_t block, const em_inst *last)
{
    return last->control == EM_EXIT && !last->guard && (g->all_exits || block == g->main_exit);
}

/* The last ret; LLVM puts an exit behind it for what is never reached. */
static uint32_t find_main_exit(const graph *g)
{
    for (uint32_t b = g->count; b-- > 0;) {
        const em_inst *last = &g->program->code[g->first[b + 1] - 1];
        if (last->control == EM_EXIT && !last->guard && last->opcode == EM_OP_ret) return b;
    }
    return g->count - 2;
}

static uint32_t successors(const graph *g, uint32_t block, uint32_t index, bool *more)
{
    const em_inst *last = &g->program->code[g->first[block + 1] - 1];
    uint32_t targets = target_count(last);
    *more = true;
    if (index < targets) return g->block_of[target_at(last, index) - g->start];
    bool falls = block + 1 < g->count && falls_through(last);
    if (index == targets && falls) return block + 1;
    if (index == targets && leads_to_end(g, block, last)) return g->count - 1;
    *more = false;
    return 0;
}

static cute_status find_blocks(graph *g, cute_diag *diag)
{
    em_program *program = g->program;
    uint32_t length = g->end - g->start + 1;
    uint8_t *leader = cute_arena_alloc(program->arena, length + 1);
    g->block_of = cute_arena_array(program->arena, length, sizeof *g->block_of);
    if (!leader || !g->block_of) return cute_fail_memory(diag);
    leader[0] = leader[length - 1] = 1;
    for (uint32_t at = g->start; at <= g->end; at++) {
        em_inst *i = &program->code[at];
        if (i->control == EM_BRANCH) i->branch.target = i->count ? i->o[0].at : g->end;
        for (uint32_t t = 0; t < target_count(i); t++) {
            uint32_t target = target_at(i, t);
            if (target < g->start || target > g->end) {
                cute_place place = em_place(program, i);
                return cute_fail(diag, CUTE_INVALID, &place,
                                 "the target of the branch is in another function");
            }
            leader[target - g->start] = 1;
        }
        if (is_branch(i) || i->control == EM_EXIT || i->control == EM_TRAP) leader[at + 1 - g->start] = 1;
    }
    for (uint32_t at = 0; at < length; at++) g->count += leader[at];
    g->first = cute_arena_array(program->arena, (size_t)g->count + 1, sizeof *g->first);
    if (!g->first) return cute_fail_memory(diag);
    uint32_t block = 0;
    for (uint32_t at = 0; at < length; at++) {
        if (leader[at]) g->first[block++] = g->start + at;
        g->block_of[at] = block - 1;
    }
    g->first[block] = g->end + 1;
    return CUTE_OK;
}

static cute_status find_predecessors(graph *g, cute_diag *diag)
{
    cute_arena *arena = g->program->arena;
    bool more;
    uint32_t edges = 0;
    g->pred_start = cute_arena_array(arena, (size_t)g->count + 2, sizeof *g->pred_start);
    if (!g->pred_start) return cute_fail_memory(diag);
    for (uint32_t b = 0; b < g->count; b++)
        for (uint32_t n = 0;; n++) {
            uint32_t s = successors(g, b, n, &more);
            if (!more) break;
            g->pred_start[s + 2]++;
            edges++;
        }
    for (uint32_t b = 0; b < g->count; b++) g->pred_start[b + 2] += g->pred_start[b + 1];
    g->preds = cute_arena_array(arena, (size_t)edges + 1, sizeof *g->preds);
    if (!g->preds) return cute_fail_memory(diag);
    for (uint32_t b = 0; b < g->count; b++)
        for (uint32_t n = 0;; n++) {
            uint32_t s = successors(g, b, n, &more);
            if (!more) break;
            g->preds[g->pred_start[s + 1]++] = b;
        }
    return CUTE_OK;
}

/* Depth first from the end against the edges, without recursion. */
static cute_status find_order(graph *g, cute_diag *diag)
{
    cute_arena *arena = g->program->arena;
    uint32_t *stack = cute_arena_array(arena, (size_t)g->count + 1, sizeof *stack);
    uint32_t *next = cute_arena_array(arena, (size_t)g->count + 1, sizeof *next);
    uint8_t *seen = cute_arena_alloc(arena, (size_t)g->count + 1);
    g->order = cute_arena_array(arena, (size_t)g->count + 1, sizeof *g->order);
    g->rank = cute_arena_array(arena, (size_t)g->count + 1, sizeof *g->rank);
    if (!stack || !next || !seen || !g->order || !g->rank) return cute_fail_memory(diag);
    uint32_t depth = 0;
    stack[depth++] = g->count - 1;
    seen[g->count - 1] = 1;
    while (depth) {
        uint32_t b = stack[depth - 1], edge = g->pred_start[b] + next[b];
        if (edge < g->pred_start[b + 1]) {
            uint32_t s = g->preds[edge];
            next[b]++;
            if (!seen[s]) {
                seen[s] = 1;
                stack[depth++] = s;
            }
        } else {
            g->rank[b] = g->ordered + 1;
            g->order[g->ordered++] = b;
            depth--;
        }
    }
    return CUTE_OK;
}

static uint32_t intersect(const graph *g, uint32_t a, uint32_t b)
{
    while (a != b) {
        while (g->rank[a] < g->rank[b]) a = g->idom[a];
        while (g->rank[b] < g->rank[a]) b = g->idom[b];
    }
    return a;
}

static cute_status find_dominators(graph *g, cute_diag *diag)
{
    bool changed = true, more;
    g->idom = cute_arena_array(g->program->arena, g->count, sizeof *g->idom);
    if (!g->idom) return cute_fail_memory(diag);
    for (uint32_t b = 0; b < g->count; b++) g->idom[b] = UINT32_MAX;
    g->idom[g->count - 1] = g->count - 1;
    while (changed) {
        changed = false;
        for (uint32_t n = g->ordered; n-- > 0;) {
            uint32_t b = g->order[n], best = UINT32_MAX;
            if (b == g->count - 1) continue;
            for (uint32_t e = 0;; e++) {
                uint32_t s = successors(g, b, e, &more);
                if (!more) break;
                if (!g->rank[s] || g->idom[s] == UINT32_MAX) continue;
                best = best == UINT32_MAX ? s : intersect(g, best, s);
            }
            if (best != g->idom[b]) {
                g->idom[b] = best;
                changed = true;
            }
        }
    }
    return CUTE_OK;
}

/* The immediate post-dominators, where paths to the function's end exist. */
static cute_status find_joins(graph *g, bool all_exits, cute_diag *diag)
{
    g->all_exits = all_exits;
    g->ordered = 0;
    CUTE_TRY(find_predecessors(g, diag));
    CUTE_TRY(find_order(g, diag));
    return find_dominators(g, diag);
}

cute_status em_reconverge(em_program *program, uint32_t start, uint32_t end, cute_diag *diag)
{
    graph g = {.program = program, .start = start, .end = end};
    CUTE_TRY(find_blocks(&g, diag));
    g.main_exit = find_main_exit(&g);
    CUTE_TRY(find_joins(&g, false, diag));
    const uint32_t *late = g.idom;
    CUTE_TRY(find_joins(&g, true, diag));
    for (uint32_t b = 0; b < g.count; b++) {
        em_inst *last = &program->code[g.first[b + 1] - 1];
        if (!is_branch(last)) continue;
        /* A loop without an exit never meets its end: there the end stands for nowhere. */
        uint32_t join = late[b] != UINT32_MAX ? late[b] : g.idom[b];
        last->branch.reconverge = join == UINT32_MAX ? end : g.first[join];
    }
    return CUTE_OK;
}
