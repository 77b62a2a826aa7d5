/* Control-flow graphs: dominators and loops compared with their definitions on random graphs. */
#include "lib/base/graph.h"

#include "tests/unit/test.h"

enum { MOST = 24 };

/* A program of its own: edges as a matrix. */
typedef struct matrix {
    uint32_t count;
    bool edge[MOST][MOST];
} matrix;

static uint32_t state = 1;
static uint32_t draw(uint32_t below)
{
    state = state * 1664525u + 1013904223u;
    return (state >> 8) % below;
}

/* What `from` leads to without passing `without`. */
static void reach(const matrix *m, uint32_t from, uint32_t without, bool *seen)
{
    if (from == without || seen[from]) return;
    seen[from] = true;
    for (uint32_t to = 0; to < m->count; to++)
        if (m->edge[from][to]) reach(m, to, without, seen);
}

static matrix random_matrix(void)
{
    matrix m = {.count = 1 + draw(MOST)};
    uint32_t edges = draw(2 * m.count + 1);
    for (uint32_t n = 0; n + 1 < m.count; n++) m.edge[n][n + 1] = draw(4) != 0;
    for (uint32_t e = 0; e < edges; e++) m.edge[draw(m.count)][draw(m.count)] = true;
    return m;
}

static bool make(cute_arena *arena, const matrix *m, cute_graph *g)
{
    bool ok = true;
    cute_graph_create(arena, m->count, g);
    /* From the last node on: edges need no order. */
    for (uint32_t from = m->count; from-- > 0;)
        for (uint32_t to = 0; to < m->count; to++)
            if (m->edge[from][to]) ok &= cute_graph_add(g, from, to);
    ok = ok && cute_graph_finish(g);
    if (!ok) return false;
    cute_graph_reach(g, 0);
    return cute_graph_dominators(g);
}

static void check_dominators(const matrix *m, const cute_graph *g)
{
    bool from_entry[MOST] = {0}, without[MOST][MOST] = {{0}};
    reach(m, 0, MOST, from_entry);
    for (uint32_t n = 0; n < m->count; n++) reach(m, 0, n, without[n]);
    for (uint32_t n = 0; n < m->count; n++) {
        CHECK((g->number[n] != CUTE_NO_NODE) == from_entry[n]);
        if (!from_entry[n]) continue;
        for (uint32_t a = 0; a < m->count; a++)
            if (from_entry[a]) CHECK(cute_graph_dominates(g, a, n) == (a == n || !without[a][n]));
        uint32_t above = g->dominator[n];
        if (n == 0) CHECK(above == CUTE_NO_NODE);
        if (n == 0 || !CHECK(above < m->count && above != n)) continue;
        /* The immediate one: all others dominate it. */
        for (uint32_t a = 0; a < m->count; a++)
            if (a != n && from_entry[a] && !without[a][n]) CHECK(a == above || !without[a][above]);
    }
}

/* The nodes of the natural loop of `header`: those that reach an edge back to it without passing it. */
static uint32_t loop_of(const matrix *m, const cute_graph *g, uint32_t header, bool *in)
{
    uint32_t count = 0;
    for (uint32_t latch = 0; latch < m->count; latch++) {
        if (!m->edge[latch][header] || g->number[latch] == CUTE_NO_NODE ||
            !cute_graph_dominates(g, header, latch))
            continue;
        in[header] = true;
        for (uint32_t n = 0; n < m->count; n++) {
            bool seen[MOST] = {0};
            if (g->number[n] == CUTE_NO_NODE || n == header) continue;
            reach(m, n, header, seen);
            in[n] |= seen[latch];
        }
    }
    for (uint32_t n = 0; n < m->count; n++) count += in[n];
    return count;
}

static void check_loops(const matrix *m, const cute_graph *g)
{
    cute_graph_loops loops;
    uint32_t headers = 0;
    if (!CHECK(cute_graph_find_loops(g, &loops))) return;
    for (uint32_t h = 0; h < m->count; h++) {
        bool in[MOST] = {0};
        uint32_t nodes = g->number[h] != CUTE_NO_NODE ? loop_of(m, g, h, in) : 0;
        if (!nodes) continue;
        headers++;
        uint32_t found = CUTE_NO_NODE;
        for (uint32_t l = 0; l < loops.count; l++)
            if (loops.items[l].header == h) found = l;
        if (!CHECK(found != CUTE_NO_NODE)) continue;
        CHECK_INT(loops.items[found].nodes, nodes);
        for (uint32_t n = 0; n < m->count; n++) {
            uint32_t l = loops.innermost[n], steps = 0;
            while (l != CUTE_NO_NODE && l != found && steps++ < MOST) l = loops.items[l].parent;
            CHECK((l == found) == in[n]);
        }
    }
    CHECK_INT(loops.count, headers);
}

static void test_random(void)
{
    for (int n = 0; n < 3000 && !test_failed; n++) {
        cute_arena *arena = cute_arena_create();
        matrix m = random_matrix();
        cute_graph g;
        if (CHECK(arena && make(arena, &m, &g))) {
            check_dominators(&m, &g);
            check_loops(&m, &g);
        }
        cute_arena_destroy(arena);
    }
}

static void test_order(void)
{
    cute_arena *arena = cute_arena_create();
    cute_graph g;
    cute_graph_create(arena, 3, &g);
    CHECK(cute_graph_add(&g, 1, 0) && cute_graph_add(&g, 0, 2) && cute_graph_add(&g, 0, 1) &&
          cute_graph_add(&g, 0, 2) && cute_graph_finish(&g));
    CHECK_INT(g.out[1] - g.out[0], 3);
    CHECK_INT(g.edges[g.out[0]].to, 2);
    CHECK_INT(g.edges[g.out[0] + 1].to, 1);
    CHECK_INT(g.in[3] - g.in[2], 2);
    CHECK_INT(g.edges[g.in_edges[g.in[0]]].from, 1);
    cute_arena_destroy(arena);
}

static void test_roots(void)
{
    cute_arena *arena = cute_arena_create();
    cute_graph g;
    cute_graph_create(arena, 4, &g);
    CHECK(cute_graph_add(&g, 0, 2) && cute_graph_add(&g, 1, 2) && cute_graph_add(&g, 2, 3) &&
          cute_graph_finish(&g));
    cute_graph_reach(&g, 0);
    CHECK_INT(g.reached, 3);
    cute_graph_reach(&g, 1);
    CHECK_INT(g.reached, 4);
    CHECK(cute_graph_dominators(&g));
    CHECK_INT(g.dominator[2], CUTE_NO_NODE);
    CHECK_INT(g.dominator[3], 2);
    cute_arena_destroy(arena);
}

/* 0 -> 1 and 2; 1 <-> 2: neither dominates the other. */
static void test_irreducible(void)
{
    cute_arena *arena = cute_arena_create();
    cute_graph g;
    cute_graph_loops loops;
    cute_graph_create(arena, 3, &g);
    CHECK(cute_graph_add(&g, 0, 1) && cute_graph_add(&g, 0, 2) && cute_graph_add(&g, 1, 2) &&
          cute_graph_add(&g, 2, 1) && cute_graph_finish(&g));
    cute_graph_reach(&g, 0);
    CHECK(cute_graph_dominators(&g) && cute_graph_find_loops(&g, &loops));
    CHECK_INT(loops.count, 0);
    CHECK_INT(loops.irreducible, 1);
    cute_arena_destroy(arena);
}

static void test_long(void)
{
    enum { LENGTH = 200000 };
    cute_arena *arena = cute_arena_create();
    cute_graph g;
    cute_graph_loops loops;
    bool ok = true;
    cute_graph_create(arena, LENGTH, &g);
    for (uint32_t n = 0; n + 1 < LENGTH; n++) ok &= cute_graph_add(&g, n, n + 1);
    CHECK(ok && cute_graph_add(&g, LENGTH - 1, 1) && cute_graph_finish(&g));
    cute_graph_reach(&g, 0);
    CHECK(cute_graph_dominators(&g) && cute_graph_find_loops(&g, &loops));
    CHECK_INT(loops.count, 1);
    CHECK_INT(loops.items[0].nodes, LENGTH - 1);
    cute_arena_destroy(arena);
}

int main(void)
{
    TEST("the edges of a node stay in the order in which they were added", test_order);
    TEST("dominators and loops of random graphs are those of their definitions", test_random);
    TEST("nothing dominates a node that two entries lead to", test_roots);
    TEST("a cycle with two entries is counted and is no loop", test_irreducible);
    TEST("a chain of 200,000 blocks needs no stack", test_long);
    return test_finish();
}
