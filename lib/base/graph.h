/* Control-flow graphs: predecessors, reverse postorder, dominators, natural loops. Knows blocks by number only; whoever has
 * instructions (PTX in lib/emulator, machine code in lib/report/code) adds the edges. Post-dominators are the dominators of
 * the graph whose edges are added the other way round. Everything is in the arena; functions return false when memory is
 * exhausted. */
#ifndef CUTE_LIB_BASE_GRAPH_H
#define CUTE_LIB_BASE_GRAPH_H

#include "cute/base.h"

enum { CUTE_NO_NODE = UINT32_MAX };

typedef struct cute_graph_edge {
    uint32_t from, to;
} cute_graph_edge;

typedef struct cute_graph {
    cute_arena *arena;
    uint32_t count;         /* nodes */
    cute_graph_edge *edges; /* by `from`; those of a node in the order in which they were added */
    size_t edge_count, edge_capacity;
    uint32_t *out;           /* the edges from node n: [out[n], out[n + 1]) */
    uint32_t *in, *in_edges; /* the edges to node n: in_edges[in[n]] to in_edges[in[n + 1] - 1] */
    uint32_t *order;         /* the nodes that were reached, in postorder: see cute_graph_reach */
    uint32_t reached;
    uint32_t *number;    /* a node's place in reverse postorder; CUTE_NO_NODE: not reached */
    uint32_t *dominator; /* the immediate one; CUTE_NO_NODE: a root, or not reached */
    bool *root;
    uint32_t *stack, *next; /* of the walk */
} cute_graph;

/* A natural loop: its header dominates all of it. */
typedef struct cute_graph_loop {
    uint32_t header;
    uint32_t parent; /* the loop around it; CUTE_NO_NODE: outermost */
    uint32_t depth;  /* 1: outermost */
    uint32_t nodes;  /* with those of inner loops */
    bool innermost;
} cute_graph_loop;

typedef struct cute_graph_loops {
    cute_graph_loop *items; /* outer loops before inner ones */
    size_t count, capacity;
    uint32_t *innermost; /* by node: the innermost loop around it, or CUTE_NO_NODE */
    size_t irreducible;  /* retreating edges to a node that does not dominate their start */
} cute_graph_loops;

/* An empty graph of `count` nodes. */
void cute_graph_create(cute_arena *arena, uint32_t count, cute_graph *out);
bool cute_graph_add(cute_graph *g, uint32_t from, uint32_t to);
/* After the last edge: the edges of each node. */
bool cute_graph_finish(cute_graph *g);

/* Makes `root` an entry and appends to `order`, in postorder, the nodes that only it reaches. */
void cute_graph_reach(cute_graph *g, uint32_t root);
/* Immediate dominators of the nodes that were reached (Cooper, Harvey and Kennedy, "A Simple, Fast Dominance Algorithm"). */
bool cute_graph_dominators(cute_graph *g);
/* Whether each way from a root to `node` passes `above`; both reached. Needs the dominators. */
bool cute_graph_dominates(const cute_graph *g, uint32_t above, uint32_t node);
/* The natural loops. Needs the dominators. */
bool cute_graph_find_loops(const cute_graph *g, cute_graph_loops *out);

/* The node before the place `n` of reverse postorder. */
static inline uint32_t cute_graph_at(const cute_graph *g, uint32_t n)
{
    return g->order[g->reached - 1 - n];
}

#endif
