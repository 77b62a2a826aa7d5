/* Control-flow graphs: predecessors, reverse postorder, dominators, natural loops. Blocks are numbers; the
 * owner of the instructions (PTX in lib/emulator, machine code in lib/code) adds the edges. Post-dominators
 * are the dominators of the graph with reversed edges. Everything is allocated in the arena; functions return
 * false when memory is exhausted. */
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
    cute_graph_edge *edges; /* sorted by `from`; those of a node in the order of insertion */
    size_t edge_count, edge_capacity;
    uint32_t *out;           /* the edges from node n: [out[n], out[n + 1]) */
    uint32_t *in, *in_edges; /* the edges to node n: in_edges[in[n]] to in_edges[in[n + 1] - 1] */
    uint32_t *order;         /* reached nodes in postorder: see cute_graph_reach */
    uint32_t reached;
    uint32_t *number;    /* a node's index in reverse postorder; CUTE_NO_NODE: not reached */
    uint32_t *dominator; /* immediate dominator; CUTE_NO_NODE: a root, or not reached */
    bool *root;
    uint32_t *stack, *next; /* of the traversal */
} cute_graph;

/* A natural loop: its header dominates all of it. */
typedef struct cute_graph_loop {
    uint32_t header;
    uint32_t parent; /* the enclosing loop; CUTE_NO_NODE: outermost */
    uint32_t depth;  /* 1: outermost */
    uint32_t nodes;  /* including those of inner loops */
    bool innermost;
} cute_graph_loop;

typedef struct cute_graph_loops {
    cute_graph_loop *items; /* outer loops before inner ones */
    size_t count, capacity;
    uint32_t *innermost; /* by node: the innermost enclosing loop, or CUTE_NO_NODE */
    size_t irreducible;  /* retreating edges whose target does not dominate their source */
} cute_graph_loops;

/* An empty graph of `count` nodes. */
void cute_graph_create(cute_arena *arena, uint32_t count, cute_graph *out);
bool cute_graph_add(cute_graph *g, uint32_t from, uint32_t to);
/* After the last edge: sorts the edges by node. */
bool cute_graph_finish(cute_graph *g);

/* Makes `root` an entry and appends to `order`, in postorder, the nodes that only it reaches. */
void cute_graph_reach(cute_graph *g, uint32_t root);
/* Immediate dominators of reached nodes (Cooper, Harvey and Kennedy, "A Simple, Fast Dominance
 * Algorithm"). */
bool cute_graph_dominators(cute_graph *g);
/* Whether `above` dominates `node`; both must be reached. Requires the dominators. */
bool cute_graph_dominates(const cute_graph *g, uint32_t above, uint32_t node);
/* Finds the natural loops. Requires the dominators. */
bool cute_graph_find_loops(const cute_graph *g, cute_graph_loops *out);

/* The node at index `n` of reverse postorder. */
static inline uint32_t cute_graph_at(const cute_graph *g, uint32_t n)
{
    return g->order[g->reached - 1 - n];
}

#endif
