/* Basic blocks of SASS and their edges, from the labels of instructions; dominators and natural loops. Call and return edges of inner
 * functions only serve liveness; dominators and loops ignore them. */
#include <stdlib.h>
#include <string.h>

#include "lib/base/graph.h"
#include "lib/base/list.h"
#include "lib/base/sort.h"
#include "lib/code/sass/code.h"

/* ---- targets ---- */

static int compare_names(const void *a, const void *b)
{
    return strcmp(((const cute_code_label *)a)->name, ((const cute_code_label *)b)->name);
}

static int64_t find_label(const cute_code_label *sorted, size_t count, const char *name, size_t length)
{
    size_t low = 0, high = count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = strncmp(sorted[middle].name, name, length);
        if (order == 0 && sorted[middle].name[length]) order = 1;
        if (order == 0) return (int64_t)sorted[middle].instruction;
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return -1;
}

static bool is_jump(const cute_code_instruction *i)
{
    return i->opcode->flow == CUTE_FLOW_BRANCH || i->opcode->flow == CUTE_FLOW_INDEX ||
           i->opcode->flow == CUTE_FLOW_CALL || i->opcode->flow == CUTE_FLOW_COLLECTIVE;
}

static bool find_targets(cute_arena *arena, cute_code_function *f)
{
    cute_code_label *sorted = cute_arena_array(arena, f->label_count + 1, sizeof *sorted);
    if (!sorted) return false;
    if (f->label_count) memcpy(sorted, f->labels, f->label_count * sizeof *sorted);
    cute_sort(sorted, f->label_count, sizeof *sorted, compare_names);
    for (size_t n = 0; n < f->count; n++) {
        cute_code_instruction *i = &f->instructions[n];
        const char *at = i->text, *label;
        size_t length, capacity = 0;
        int64_t *targets = NULL;
        if (!is_jump(i)) continue;
        while (i->target_count < UINT16_MAX && cute_code_next_label(&at, &label, &length)) {
            if (!cute_arena_more(arena, &targets, i->target_count, &capacity, sizeof *targets, 1))
                return false;
            int64_t to = find_label(sorted, f->label_count, label, length);
            targets[i->target_count++] = to < (int64_t)f->count ? to : -1;
        }
        i->targets = targets;
    }
    return true;
}

/* ---- blocks ---- */

/* "BRA `(.L)" is unconditional: no predicate before it and no operand before its label. */
static bool is_conditional(const cute_code_instruction *i)
{
    const char *at = i->name + i->name_length;
    while (*at && *at != ' ') at++;
    while (*at == ' ') at++;
    return i->guarded || (i->opcode->flow == CUTE_FLOW_BRANCH && *at != '`');
}

static bool ends_block(const cute_code_instruction *i)
{
    if (i->opcode->flow == CUTE_FLOW_COLLECTIVE) return i->target_count > 0;
    return i->opcode->flow != CUTE_FLOW_NEXT;
}

static bool find_blocks(cute_arena *arena, cute_code_function *f)
{
    bool *leader = cute_arena_array(arena, f->count + 1, sizeof *leader);
    if (!leader) return false;
    leader[0] = true;
    for (size_t l = 0; l < f->label_count; l++) leader[f->labels[l].instruction] = true;
    for (size_t n = 0; n < f->count; n++) {
        const cute_code_instruction *i = &f->instructions[n];
        if (!ends_block(i)) continue;
        leader[n + 1] = true;
        for (size_t t = 0; t < i->target_count; t++)
            if (i->targets[t] >= 0) leader[i->targets[t]] = true;
    }
    for (size_t n = 0; n < f->count; n++) f->block_count += leader[n];
    f->blocks = cute_arena_array(arena, f->block_count + 1, sizeof *f->blocks);
    if (!f->blocks) return false;
    cute_code_block *b = f->blocks - 1;
    for (size_t n = 0; n < f->count; n++) {
        if (leader[n]) *++b = (cute_code_block){.first = n};
        b->count++;
        f->instructions[n].block = (uint32_t)(b - f->blocks);
    }
    return true;
}

typedef struct edges {
    cute_code_edge *items;
    size_t count, capacity;
} edges;

static bool add_edge(cute_arena *arena, edges *list, const cute_code_function *f, int64_t instruction,
                     cute_code_edge_kind kind)
{
    if (instruction < 0 || (uint64_t)instruction >= f->count) return true;
    cute_code_edge edge = {f->instructions[instruction].block, kind};
    for (size_t i = 0; i < list->count; i++)
        if (list->items[i].to == edge.to) return true;
    if (!cute_arena_more(arena, &list->items, list->count, &list->capacity, sizeof *list->items, 2))
        return false;
    list->items[list->count++] = edge;
    return true;
}

/* A call of an inner function: the callee's first instruction and the one after the call. */
typedef struct call {
    int64_t callee, after;
} call;

static int compare_callees(const void *a, const void *b)
{
    const call *x = a, *y = b;
    if (x->callee != y->callee) return x->callee < y->callee ? -1 : 1;
    return (x->after > y->after) - (x->after < y->after);
}

static bool find_calls(cute_arena *arena, const cute_code_function *f, call **out, size_t *count)
{
    size_t capacity = 0;
    *out = NULL;
    *count = 0;
    for (size_t n = 0; n < f->count; n++) {
        const cute_code_instruction *i = &f->instructions[n];
        if ((i->opcode->flow != CUTE_FLOW_CALL && i->opcode->flow != CUTE_FLOW_COLLECTIVE) ||
            !i->target_count || i->targets[0] < 0)
            continue;
        if (!cute_arena_more(arena, out, *count, &capacity, sizeof **out, 8)) return false;
        (*out)[(*count)++] = (call){i->targets[0], (int64_t)n + 1};
    }
    cute_sort(*out, *count, sizeof **out, compare_callees);
    return true;
}

/* The calls of the inner function that contains the instruction. */
static void find_callers(const call *calls, size_t count, int64_t instruction, size_t *from, size_t *to)
{
    size_t low = 0, high = count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (calls[middle].callee <= instruction)
            low = middle + 1;
        else
            high = middle;
    }
    *to = *from = low;
    while (*from && calls[*from - 1].callee == calls[low - 1].callee) --*from;
}

static bool find_edges(cute_arena *arena, cute_code_function *f)
{
    call *calls;
    size_t call_count;
    if (!find_calls(arena, f, &calls, &call_count)) return false;
    for (size_t k = 0; k < f->block_count; k++) {
        cute_code_block *b = &f->blocks[k];
        size_t last = b->first + b->count - 1, from, to;
        const cute_code_instruction *i = &f->instructions[last];
        edges list = {0};
        cute_code_flow flow = i->opcode->flow;
        bool falls_through = flow == CUTE_FLOW_NEXT || flow == CUTE_FLOW_CALL ||
                             flow == CUTE_FLOW_COLLECTIVE || is_conditional(i);
        if (falls_through && !add_edge(arena, &list, f, (int64_t)last + 1, CUTE_EDGE_NEXT)) return false;
        for (size_t t = 0; t < i->target_count; t++) {
            cute_code_edge_kind kind =
                flow == CUTE_FLOW_CALL || flow == CUTE_FLOW_COLLECTIVE ? CUTE_EDGE_CALL : CUTE_EDGE_BRANCH;
            if (i->targets[t] < 0) b->leaves = true;
            if (!add_edge(arena, &list, f, i->targets[t], kind)) return false;
        }
        if (flow == CUTE_FLOW_RETURN) {
            find_callers(calls, call_count, (int64_t)last, &from, &to);
            if (from == to) b->leaves = true;
            for (; from < to; from++)
                if (!add_edge(arena, &list, f, calls[from].after, CUTE_EDGE_RETURN)) return false;
        }
        if (flow == CUTE_FLOW_EXIT || (is_jump(i) && !i->target_count && flow != CUTE_FLOW_COLLECTIVE) ||
            (falls_through && last + 1 >= f->count))
            b->leaves = true;
        b->edges = list.items;
        b->edge_count = (uint32_t)list.count;
    }
    return true;
}

/* ---- dominators and loops ---- */

bool cute_code_in_loop(const cute_code_function *f, uint32_t block, uint32_t loop)
{
    uint32_t l = f->blocks[block].loop;
    while (l != CUTE_NO_LOOP && l != loop) l = f->loops[l].parent;
    return l != CUTE_NO_LOOP;
}

/* The graph without call edges; entries are the first block and the callees of reachable code. */
static bool make_graph(cute_arena *arena, const cute_code_function *f, cute_graph *g)
{
    cute_graph_create(arena, (uint32_t)f->block_count, g);
    for (uint32_t b = 0; b < f->block_count; b++)
        for (uint32_t e = 0; e < f->blocks[b].edge_count; e++) {
            const cute_code_edge *edge = &f->blocks[b].edges[e];
            bool inside = edge->kind == CUTE_EDGE_NEXT || edge->kind == CUTE_EDGE_BRANCH;
            if (inside && !cute_graph_add(g, b, edge->to)) return false;
        }
    if (!cute_graph_finish(g)) return false;
    cute_graph_reach(g, 0);
    for (uint32_t k = 0; k < g->reached; k++) {
        const cute_code_block *b = &f->blocks[g->order[k]];
        for (uint32_t e = 0; e < b->edge_count; e++)
            if (b->edges[e].kind == CUTE_EDGE_CALL) cute_graph_reach(g, b->edges[e].to);
    }
    return cute_graph_dominators(g);
}

static bool store_loops(cute_arena *arena, cute_code_function *f, const cute_graph_loops *loops)
{
    f->loop_count = loops->count;
    f->irreducible = loops->irreducible;
    f->loops = cute_arena_array(arena, loops->count + 1, sizeof *f->loops);
    if (!f->loops) return false;
    for (size_t l = 0; l < loops->count; l++) {
        const cute_graph_loop *loop = &loops->items[l];
        f->loops[l] = (cute_code_loop){.header = loop->header,
                                       .parent = loop->parent,
                                       .depth = loop->depth,
                                       .block_count = loop->nodes,
                                       .innermost = loop->innermost};
    }
    for (size_t b = 0; b < f->block_count; b++)
        for (uint32_t l = f->blocks[b].loop; l != CUTE_NO_LOOP; l = f->loops[l].parent)
            f->loops[l].instructions += f->blocks[b].count;
    return true;
}

bool cute_code_find_loops(cute_arena *arena, cute_code_function *f)
{
    cute_graph g;
    cute_graph_loops loops;
    f->loop_count = f->irreducible = 0;
    if (!f->block_count) return true;
    if (!make_graph(arena, f, &g) || !cute_graph_find_loops(&g, &loops)) return false;
    for (size_t b = 0; b < f->block_count; b++) {
        f->blocks[b].reached = g.number[b] != CUTE_NO_NODE;
        f->blocks[b].dominator = g.dominator[b];
        f->blocks[b].loop = loops.innermost[b];
    }
    return store_loops(arena, f, &loops);
}

bool cute_code_flow_find(cute_arena *arena, cute_code_function *f)
{
    f->block_count = 0;
    if (!f->count) return true;
    return find_targets(arena, f) && find_blocks(arena, f) && find_edges(arena, f) &&
           cute_code_find_loops(arena, f);
}
