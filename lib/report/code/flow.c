/* Basic blocks, their edges, dominators and natural loops of a function. Loops and dominators follow the edges inside of a
 * function; edges of calls and returns of functions inside of it are for live registers. */
#include <stdlib.h>
#include <string.h>

#include "lib/base/list.h"
#include "lib/report/code/code.h"

/* ---- targets ---- */

static int by_name(const void *a, const void *b)
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

static bool jumps(const cute_code_instruction *i)
{
    return i->opcode->flow == CUTE_FLOW_BRANCH || i->opcode->flow == CUTE_FLOW_INDEX ||
           i->opcode->flow == CUTE_FLOW_CALL || i->opcode->flow == CUTE_FLOW_COLLECTIVE;
}

static bool find_targets(cute_arena *arena, cute_code_function *f)
{
    cute_code_label *sorted = cute_arena_array(arena, f->label_count + 1, sizeof *sorted);
    if (!sorted) return false;
    if (f->label_count) memcpy(sorted, f->labels, f->label_count * sizeof *sorted);
    qsort(sorted, f->label_count, sizeof *sorted, by_name);
    for (size_t n = 0; n < f->count; n++) {
        cute_code_instruction *i = &f->instructions[n];
        const char *at = i->text, *label;
        size_t length, capacity = 0;
        int64_t *targets = NULL;
        if (!jumps(i)) continue;
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

/* "BRA `(.L)": neither a predicate before it nor an operand before its label. */
static bool conditional(const cute_code_instruction *i)
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
        if (leader[n]) *++b = (cute_code_block){.first = n, .dominator = CUTE_NO_BLOCK, .loop = CUTE_NO_LOOP};
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

/* A call of a function inside: where it begins, and the instruction after the call. Sorted by the first. */
typedef struct call {
    int64_t callee, after;
} call;

static int by_callee(const void *a, const void *b)
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
    if (*count) qsort(*out, *count, sizeof **out, by_callee);
    return true;
}

/* The calls of the last function that begins before the instruction. */
static void calls_of(const call *calls, size_t count, int64_t instruction, size_t *from, size_t *to)
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
        bool on = flow == CUTE_FLOW_NEXT || flow == CUTE_FLOW_CALL || flow == CUTE_FLOW_COLLECTIVE ||
                  conditional(i);
        if (on && !add_edge(arena, &list, f, (int64_t)last + 1, CUTE_EDGE_NEXT)) return false;
        for (size_t t = 0; t < i->target_count; t++) {
            cute_code_edge_kind kind =
                flow == CUTE_FLOW_CALL || flow == CUTE_FLOW_COLLECTIVE ? CUTE_EDGE_CALL : CUTE_EDGE_BRANCH;
            if (i->targets[t] < 0) b->leaves = true;
            if (!add_edge(arena, &list, f, i->targets[t], kind)) return false;
        }
        if (flow == CUTE_FLOW_RETURN) {
            calls_of(calls, call_count, (int64_t)last, &from, &to);
            if (from == to) b->leaves = true;
            for (; from < to; from++)
                if (!add_edge(arena, &list, f, calls[from].after, CUTE_EDGE_RETURN)) return false;
        }
        if (flow == CUTE_FLOW_EXIT || (jumps(i) && !i->target_count && flow != CUTE_FLOW_COLLECTIVE) ||
            (on && last + 1 >= f->count))
            b->leaves = true;
        b->edges = list.items;
        b->edge_count = (uint32_t)list.count;
    }
    return true;
}

/* ---- dominators (Cooper, Harvey, Kennedy) ---- */

typedef struct graph {
    uint32_t *order, *number; /* reverse postorder, and the place of each block in it */
    uint32_t count;           /* reached */
    uint32_t *before, *start; /* predecessors of block b: before[start[b] .. start[b + 1]) */
} graph;

static bool inside(const cute_code_edge *e)
{
    return e->kind == CUTE_EDGE_NEXT || e->kind == CUTE_EDGE_BRANCH;
}

typedef struct frame {
    uint32_t block, edge;
} frame;

/* Postorder from `root`, without recursion: kernels have long chains of blocks. */
static void walk(cute_code_function *f, uint32_t root, frame *stack, uint32_t *post, uint32_t *count)
{
    size_t depth = 0;
    if (f->blocks[root].reached) return;
    f->blocks[root].reached = true;
    stack[depth++] = (frame){root, 0};
    while (depth) {
        frame *top = &stack[depth - 1];
        const cute_code_block *b = &f->blocks[top->block];
        if (top->edge == b->edge_count) {
            post[(*count)++] = top->block;
            depth--;
            continue;
        }
        const cute_code_edge *e = &b->edges[top->edge++];
        if (!inside(e) || f->blocks[e->to].reached) continue;
        f->blocks[e->to].reached = true;
        stack[depth++] = (frame){e->to, 0};
    }
}

/* Entries: the first block, and what reached code calls. */
static bool find_order(cute_arena *arena, cute_code_function *f, graph *g, bool *entry)
{
    size_t n = f->block_count;
    frame *stack = cute_arena_array(arena, n + 1, sizeof *stack);
    uint32_t *post = cute_arena_array(arena, n + 1, sizeof *post);
    g->order = cute_arena_array(arena, n + 1, sizeof *g->order);
    g->number = cute_arena_array(arena, n + 1, sizeof *g->number);
    g->start = cute_arena_array(arena, n + 2, sizeof *g->start);
    if (!stack || !post || !g->order || !g->number || !g->start) return false;
    entry[0] = true;
    walk(f, 0, stack, post, &g->count);
    for (uint32_t k = 0; k < g->count; k++) {
        const cute_code_block *b = &f->blocks[post[k]];
        for (uint32_t e = 0; e < b->edge_count; e++) {
            if (b->edges[e].kind != CUTE_EDGE_CALL) continue;
            entry[b->edges[e].to] = true;
            walk(f, b->edges[e].to, stack, post, &g->count);
        }
    }
    for (uint32_t k = 0; k < g->count; k++) {
        g->order[k] = post[g->count - 1 - k];
        g->number[g->order[k]] = k;
    }
    uint32_t total = 0;
    for (size_t k = 0; k < n; k++)
        for (uint32_t e = 0; f->blocks[k].reached && e < f->blocks[k].edge_count; e++)
            if (inside(&f->blocks[k].edges[e])) g->start[f->blocks[k].edges[e].to + 1]++, total++;
    g->before = cute_arena_array(arena, total + 1, sizeof *g->before);
    uint32_t *fill = cute_arena_array(arena, n + 1, sizeof *fill);
    if (!g->before || !fill) return false;
    for (size_t k = 0; k < n; k++) g->start[k + 1] += g->start[k];
    for (uint32_t k = 0; k < n; k++)
        for (uint32_t e = 0; f->blocks[k].reached && e < f->blocks[k].edge_count; e++)
            if (inside(&f->blocks[k].edges[e])) {
                uint32_t to = f->blocks[k].edges[e].to;
                g->before[g->start[to] + fill[to]++] = k;
            }
    return true;
}

static uint32_t meet(const cute_code_function *f, const graph *g, uint32_t a, uint32_t b)
{
    while (a != b) {
        if (a == CUTE_NO_BLOCK || b == CUTE_NO_BLOCK) return CUTE_NO_BLOCK;
        if (g->number[a] > g->number[b])
            a = f->blocks[a].dominator;
        else
            b = f->blocks[b].dominator;
    }
    return a;
}

static void find_dominators(cute_code_function *f, const graph *g, const bool *entry, bool *known)
{
    for (size_t k = 0; k < f->block_count; k++) known[k] = entry[k];
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t k = 0; k < g->count; k++) {
            uint32_t b = g->order[k], to = CUTE_NO_BLOCK;
            bool any = false;
            if (entry[b]) continue;
            for (uint32_t p = g->start[b]; p < g->start[b + 1]; p++) {
                if (!known[g->before[p]]) continue;
                to = any ? meet(f, g, to, g->before[p]) : g->before[p];
                any = true;
            }
            if (any && (!known[b] || f->blocks[b].dominator != to)) {
                f->blocks[b].dominator = to;
                known[b] = changed = true;
            }
        }
    }
}

static bool dominates(const cute_code_function *f, const graph *g, uint32_t above, uint32_t block)
{
    while (block != CUTE_NO_BLOCK && g->number[block] > g->number[above]) block = f->blocks[block].dominator;
    return block == above;
}

/* ---- loops ---- */

bool cute_code_in_loop(const cute_code_function *f, uint32_t block, uint32_t loop)
{
    uint32_t l = f->blocks[block].loop;
    while (l != CUTE_NO_LOOP && l != loop) l = f->loops[l].parent;
    return l != CUTE_NO_LOOP;
}

/* Outer headers come first in reverse postorder, so an inner loop takes its blocks from the outer one. */
static bool find_loops(cute_arena *arena, cute_code_function *f, const graph *g)
{
    uint32_t *work = cute_arena_array(arena, f->block_count + 1, sizeof *work);
    uint32_t *seen = cute_arena_array(arena, f->block_count + 1, sizeof *seen);
    if (!work || !seen) return false;
    for (uint32_t k = 0; k < g->count; k++) {
        uint32_t header = g->order[k], count = 0;
        uint32_t mark = (uint32_t)f->loop_count + 1;
        bool found = false;
        for (uint32_t p = g->start[header]; p < g->start[header + 1]; p++) {
            uint32_t from = g->before[p];
            if (g->number[from] < k) continue;
            if (!dominates(f, g, header, from)) {
                f->irreducible++;
                continue;
            }
            found = true;
            if (seen[from] == mark || from == header) continue;
            seen[from] = mark;
            work[count++] = from;
        }
        if (!found) continue;
        if (!cute_arena_more(arena, &f->loops, f->loop_count, &f->loop_capacity, sizeof *f->loops, 8))
            return false;
        uint32_t self = (uint32_t)f->loop_count++, parent = f->blocks[header].loop;
        cute_code_loop *loop = &f->loops[self];
        *loop = (cute_code_loop){.header = header, .parent = parent, .depth = 1, .innermost = true};
        if (parent != CUTE_NO_LOOP) {
            loop->depth = f->loops[parent].depth + 1;
            f->loops[parent].innermost = false;
        }
        seen[header] = mark;
        f->blocks[header].loop = self;
        loop->block_count = 1;
        loop->instructions = f->blocks[header].count;
        while (count) {
            uint32_t b = work[--count];
            f->blocks[b].loop = self;
            loop->block_count++;
            loop->instructions += f->blocks[b].count;
            for (uint32_t p = g->start[b]; p < g->start[b + 1]; p++)
                if (seen[g->before[p]] != mark) {
                    seen[g->before[p]] = mark;
                    work[count++] = g->before[p];
                }
        }
    }
    return true;
}

bool cute_code_flow_find(cute_arena *arena, cute_code_function *f)
{
    graph g = {0};
    f->block_count = f->loop_count = f->irreducible = 0;
    if (!f->count) return true;
    if (!find_targets(arena, f) || !find_blocks(arena, f) || !find_edges(arena, f)) return false;
    bool *entry = cute_arena_array(arena, f->block_count + 1, sizeof *entry);
    bool *known = cute_arena_array(arena, f->block_count + 1, sizeof *known);
    if (!entry || !known || !find_order(arena, f, &g, entry)) return false;
    find_dominators(f, &g, entry, known);
    return find_loops(arena, f, &g);
}
