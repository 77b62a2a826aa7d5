/* No traversal recurses: kernels can have chains of thousands of blocks. */
#include "lib/base/graph.h"

#include <string.h>

#include "lib/base/list.h"

void cute_graph_create(cute_arena *arena, uint32_t count, cute_graph *out)
{
    *out = (cute_graph){.arena = arena, .count = count};
}

bool cute_graph_add(cute_graph *g, uint32_t from, uint32_t to)
{
    if (!cute_arena_more(g->arena, &g->edges, g->edge_count, &g->edge_capacity, sizeof *g->edges, 64))
        return false;
    g->edges[g->edge_count++] = (cute_graph_edge){from, to};
    return true;
}

/* Turns edge counts (of node n in at[n + 1]) into the offset of each node's first edge. */
static void sum_offsets(uint32_t *at, uint32_t count)
{
    for (uint32_t n = 0; n < count; n++) at[n + 1] += at[n];
}

bool cute_graph_finish(cute_graph *g)
{
    size_t nodes = (size_t)g->count + 2;
    cute_graph_edge *sorted = cute_arena_array(g->arena, g->edge_count + 1, sizeof *sorted);
    uint32_t *fill = cute_arena_array(g->arena, nodes, sizeof *fill);
    g->out = cute_arena_array(g->arena, nodes, sizeof *g->out);
    g->in = cute_arena_array(g->arena, nodes, sizeof *g->in);
    g->in_edges = cute_arena_array(g->arena, g->edge_count + 1, sizeof *g->in_edges);
    g->order = cute_arena_array(g->arena, nodes, sizeof *g->order);
    g->number = cute_arena_array(g->arena, nodes, sizeof *g->number);
    g->dominator = cute_arena_array(g->arena, nodes, sizeof *g->dominator);
    g->root = cute_arena_array(g->arena, nodes, sizeof *g->root);
    g->stack = cute_arena_array(g->arena, nodes, sizeof *g->stack);
    g->next = cute_arena_array(g->arena, nodes, sizeof *g->next);
    if (!sorted || !fill || !g->out || !g->in || !g->in_edges || !g->order || !g->number || !g->dominator ||
        !g->root || !g->stack || !g->next)
        return false;
    for (size_t e = 0; e < g->edge_count; e++) {
        g->out[g->edges[e].from + 1]++;
        g->in[g->edges[e].to + 1]++;
    }
    sum_offsets(g->out, g->count);
    sum_offsets(g->in, g->count);
    for (size_t e = 0; e < g->edge_count; e++) {
        uint32_t from = g->edges[e].from;
        sorted[g->out[from] + fill[from]++] = g->edges[e];
    }
    g->edges = sorted;
    memset(fill, 0, nodes * sizeof *fill);
    for (uint32_t e = 0; e < g->edge_count; e++) {
        uint32_t to = g->edges[e].to;
        g->in_edges[g->in[to] + fill[to]++] = e;
    }
    for (uint32_t n = 0; n < g->count; n++) g->number[n] = g->dominator[n] = CUTE_NO_NODE;
    return true;
}

void cute_graph_reach(cute_graph *g, uint32_t root)
{
    uint32_t depth = 0;
    g->root[root] = true;
    if (g->number[root] != CUTE_NO_NODE) return;
    g->number[root] = 0;
    g->next[root] = g->out[root];
    g->stack[depth++] = root;
    while (depth) {
        uint32_t at = g->stack[depth - 1];
        if (g->next[at] == g->out[at + 1]) {
            g->order[g->reached++] = at;
            depth--;
            continue;
        }
        uint32_t to = g->edges[g->next[at]++].to;
        if (g->number[to] != CUTE_NO_NODE) continue;
        g->number[to] = 0;
        g->next[to] = g->out[to];
        g->stack[depth++] = to;
    }
}

/* The nearest common dominator; CUTE_NO_NODE: different roots. */
static uint32_t common_dominator(const cute_graph *g, uint32_t a, uint32_t b)
{
    while (a != b) {
        if (a == CUTE_NO_NODE || b == CUTE_NO_NODE) return CUTE_NO_NODE;
        if (g->number[a] > g->number[b])
            a = g->dominator[a];
        else
            b = g->dominator[b];
    }
    return a;
}

bool cute_graph_dominators(cute_graph *g)
{
    bool *known = cute_arena_array(g->arena, (size_t)g->count + 1, sizeof *known);
    if (!known) return false;
    for (uint32_t k = 0; k < g->reached; k++) g->number[cute_graph_at(g, k)] = k;
    for (uint32_t n = 0; n < g->count; n++) known[n] = g->root[n];
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t k = 0; k < g->reached; k++) {
            uint32_t node = cute_graph_at(g, k), above = CUTE_NO_NODE;
            bool any = false;
            if (g->root[node]) continue;
            for (uint32_t e = g->in[node]; e < g->in[node + 1]; e++) {
                uint32_t from = g->edges[g->in_edges[e]].from;
                if (!known[from]) continue;
                above = any ? common_dominator(g, above, from) : from;
                any = true;
            }
            if (!any || (known[node] && g->dominator[node] == above)) continue;
            g->dominator[node] = above;
            known[node] = changed = true;
        }
    }
    return true;
}

bool cute_graph_dominates(const cute_graph *g, uint32_t above, uint32_t node)
{
    while (node != CUTE_NO_NODE && g->number[node] > g->number[above]) node = g->dominator[node];
    return node == above;
}

typedef struct search {
    const cute_graph *g;
    cute_graph_loops *loops;
    uint32_t *work, *seen;
} search;

/* Pushes the sources of back edges to the header to `work`; `mark` is the loop's number. */
static uint32_t find_latches(search *s, uint32_t header, uint32_t mark, bool *found)
{
    const cute_graph *g = s->g;
    uint32_t count = 0;
    for (uint32_t e = g->in[header]; e < g->in[header + 1]; e++) {
        uint32_t from = g->edges[g->in_edges[e]].from;
        if (g->number[from] == CUTE_NO_NODE || g->number[from] < g->number[header]) continue;
        if (!cute_graph_dominates(g, header, from)) {
            s->loops->irreducible++;
            continue;
        }
        *found = true;
        if (s->seen[from] == mark || from == header) continue;
        s->seen[from] = mark;
        s->work[count++] = from;
    }
    return count;
}

/* Outer headers precede inner ones in reverse postorder, so an inner loop takes over nodes of the outer
 * one. */
static bool find_loop(search *s, uint32_t header)
{
    const cute_graph *g = s->g;
    cute_graph_loops *l = s->loops;
    uint32_t mark = (uint32_t)l->count + 1, self = (uint32_t)l->count, parent = l->innermost[header];
    bool found = false;
    uint32_t count = find_latches(s, header, mark, &found);
    if (!found) return true;
    if (!cute_arena_more(g->arena, &l->items, l->count, &l->capacity, sizeof *l->items, 8)) return false;
    l->count++;
    cute_graph_loop *loop = &l->items[self];
    *loop = (cute_graph_loop){header, parent, 1, 1, true};
    if (parent != CUTE_NO_NODE) {
        loop->depth = l->items[parent].depth + 1;
        l->items[parent].innermost = false;
    }
    s->seen[header] = mark;
    l->innermost[header] = self;
    while (count) {
        uint32_t node = s->work[--count];
        l->innermost[node] = self;
        loop->nodes++;
        for (uint32_t e = g->in[node]; e < g->in[node + 1]; e++) {
            uint32_t from = g->edges[g->in_edges[e]].from;
            if (g->number[from] == CUTE_NO_NODE || s->seen[from] == mark) continue;
            s->seen[from] = mark;
            s->work[count++] = from;
        }
    }
    return true;
}

bool cute_graph_find_loops(const cute_graph *g, cute_graph_loops *out)
{
    size_t nodes = (size_t)g->count + 1;
    *out = (cute_graph_loops){.innermost = cute_arena_array(g->arena, nodes, sizeof *out->innermost)};
    search s = {g, out, cute_arena_array(g->arena, nodes, sizeof *s.work),
                cute_arena_array(g->arena, nodes, sizeof *s.seen)};
    if (!out->innermost || !s.work || !s.seen) return false;
    for (uint32_t n = 0; n < g->count; n++) out->innermost[n] = CUTE_NO_NODE;
    for (uint32_t k = 0; k < g->reached; k++)
        if (!find_loop(&s, cute_graph_at(g, k))) return false;
    return true;
}
