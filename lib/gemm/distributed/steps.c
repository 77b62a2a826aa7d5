/* The steps of a distributed product on one rank: products on one stream, collectives on another, ordered by events. */
#include <stdio.h>
#include <string.h>

#include "lib/gemm/distributed/distributed.h"

/* ---- building ---- */

typedef struct builder {
    const dist_problem *p;
    cute_arena *arena;
    dist_shard own;
    dist_schedule *out;
    size_t capacity;
    bool failed;
} builder;

static dist_step *add_step(builder *b, dist_kind kind, int stream)
{
    static dist_step lost;
    dist_schedule *s = b->out;
    if (s->count == b->capacity) {
        size_t capacity = b->capacity ? 2 * b->capacity : 16;
        dist_step *steps = cute_arena_array(b->arena, capacity, sizeof *steps);
        b->failed = b->failed || !steps;
        if (b->failed) return &lost;
        if (s->count) memcpy(steps, s->steps, s->count * sizeof *steps);
        s->steps = steps;
        b->capacity = capacity;
    }
    dist_step *step = &s->steps[s->count++];
    *step = (dist_step){.kind = kind, .stream = stream};
    return step;
}

/* Stream `to` waits for what stream `from` has so far. */
static void order_streams(builder *b, int from, int to)
{
    int event = b->out->events++;
    add_step(b, DIST_RECORD, from)->event = event;
    add_step(b, DIST_WAIT, to)->event = event;
}

/* Rows that the rank has, of `rows` from `first`. */
static void add_product(builder *b, int64_t first, int64_t rows)
{
    if (rows > b->own.m - first) rows = b->own.m - first;
    if (rows <= 0 || !b->own.n || !b->own.k) return;
    dist_step *step = add_step(b, DIST_PRODUCT, 0);
    step->first = first;
    step->rows = rows;
}

static dist_step *add_call(builder *b, comm_kind call, dist_buffer from, int64_t from_offset, dist_buffer to,
                           int64_t to_offset, int64_t count)
{
    dist_step *step = add_step(b, DIST_COLLECTIVE, 1);
    step->call = call;
    step->from = from;
    step->from_offset = from_offset;
    step->to = to;
    step->to_offset = to_offset;
    step->count = count;
    step->begins = step->ends = true;
    return step;
}

/* ---- one after the other ---- */

static void build_sequence(builder *b)
{
    const dist_problem *p = b->p;
    int64_t chunk = b->own.chunk, n = p->whole.n, k = p->whole.k;
    if (p->size == 1) {
        add_product(b, 0, b->own.m);
        return;
    }
    if (p->split == DIST_N) {
        add_call(b, COMM_ALL_GATHER, DIST_A, p->rank * chunk * k, DIST_A, 0, chunk * k);
        order_streams(b, 1, 0);
        add_product(b, 0, b->own.m);
        return;
    }
    add_product(b, 0, b->own.m);
    order_streams(b, 0, 1);
    if (p->split == DIST_M)
        add_call(b, COMM_ALL_GATHER, DIST_D, p->rank * chunk * n, DIST_D, 0, chunk * n);
    else if (p->collective == COMM_REDUCE_SCATTER)
        add_call(b, COMM_REDUCE_SCATTER, DIST_P, 0, DIST_D, 0, chunk * n);
    else
        add_call(b, COMM_ALL_REDUCE, DIST_P, 0, DIST_D, 0, p->whole.m * n);
}

/* ---- the product signals each group of tiles, which a second stream sends ---- */

/* Rows of all ranks' parts of D, as broadcasts that start together: an all_gather would need them side by side. */
static void gather_rows(builder *b, int64_t first, int64_t rows)
{
    const dist_problem *p = b->p;
    int64_t n = p->whole.n;
    for (int root = 0; root < p->size; root++) {
        int64_t at = (root * b->own.chunk + first) * n;
        dist_step *step = add_call(b, COMM_BROADCAST, DIST_D, at, DIST_D, at, rows * n);
        step->peer = root;
        step->begins = root == 0;
        step->ends = root == p->size - 1;
    }
}

static int64_t ceil_div(int64_t a, int64_t b)
{
    return a / b + (a % b != 0);
}

static void build_signal(builder *b, int64_t groups)
{
    const dist_problem *p = b->p;
    int64_t chunk = b->own.chunk, n = p->whole.n;
    bool scatters = p->split == DIST_K && p->collective == COMM_REDUCE_SCATTER;
    /* reduce_scatter: each group belongs to one rank, whose sums it becomes */
    int64_t extent = p->split == DIST_M || scatters ? chunk : p->whole.m;
    int64_t unit = dist_unit(p), parts = scatters ? ceil_div(groups, p->size) : groups;
    int64_t rows = ceil_div(ceil_div(extent, parts), unit) * unit;
    for (int root = 0; root < (scatters ? p->size : 1); root++)
        for (int64_t first = 0; first < extent; first += rows) {
            int64_t count = rows < extent - first ? rows : extent - first, at = root * chunk + first;
            add_product(b, at, count);
            order_streams(b, 0, 1);
            if (p->split == DIST_M)
                gather_rows(b, first, count);
            else if (scatters)
                add_call(b, COMM_REDUCE, DIST_P, at * n, DIST_D, first * n, count * n)->peer = root;
            else
                add_call(b, COMM_ALL_REDUCE, DIST_P, at * n, DIST_D, at * n, count * n);
        }
}

/* ---- tiles in rank-rotated order, behind the shards that arrive ---- */

static int64_t rows_of(const builder *b, int rank)
{
    int64_t left = b->p->whole.m - rank * b->own.chunk;
    return left < 0 ? 0 : left < b->own.chunk ? left : b->own.chunk;
}

static void exchange_shards(builder *b, int to, int from, bool puts)
{
    const dist_problem *p = b->p;
    int64_t k = p->whole.k, chunk = b->own.chunk, own = rows_of(b, p->rank) * k,
            theirs = rows_of(b, from) * k;
    dist_step *step;
    if (own) {
        step = add_call(b, puts ? COMM_PUT : COMM_SEND, DIST_A, p->rank * chunk * k, DIST_A,
                        p->rank * chunk * k, own);
        step->peer = to;
        step->ends = puts || !theirs;
    }
    if (theirs) {
        step = add_call(b, puts ? COMM_WAIT : COMM_RECV, DIST_A, from * chunk * k, DIST_A, from * chunk * k,
                        puts ? 0 : theirs);
        step->peer = from;
        step->signals = puts;
        step->begins = puts || !own;
    }
}

/* Elements of A in the part of one rank; the window has another one behind those of all ranks. */
static int64_t chunk_elements(const builder *b)
{
    return b->own.chunk * b->p->whole.k;
}

static void build_rotate(builder *b, bool puts)
{
    const dist_problem *p = b->p;
    int size = p->size, rank = p->rank;
    add_product(b, rank * b->own.chunk, rows_of(b, rank));
    for (int i = 1; i < size; i++) {
        int to = (rank + size - i) % size, from = (rank + i) % size;
        exchange_shards(b, to, from, puts);
        order_streams(b, 1, 0);
        add_product(b, from * b->own.chunk, rows_of(b, from));
    }
    if (!puts) return;
    /* the window may be written again when all ranks have read it */
    order_streams(b, 0, 1);
    int64_t spare = chunk_elements(b) * size;
    add_call(b, COMM_ALL_REDUCE, DIST_A, spare, DIST_A, spare, 1);
}

cute_status dist_schedule_build(const dist_problem *p, dist_overlap overlap, int64_t groups, bool puts,
                                cute_arena *arena, dist_schedule *out, cute_diag *diag)
{
    builder b = {.p = p, .arena = arena, .own = dist_shard_of(p, p->rank), .out = out};
    *out = (dist_schedule){.overlap = overlap};
    if (p->size == 1) out->overlap = DIST_SEQUENCE;
    if (out->overlap == DIST_SIGNAL) out->groups = groups > 0 ? groups : p->size;
    out->puts = puts && out->overlap == DIST_ROTATE;
    if (out->overlap == DIST_SIGNAL)
        build_signal(&b, out->groups);
    else if (out->overlap == DIST_ROTATE)
        build_rotate(&b, puts);
    else
        build_sequence(&b);
    return b.failed ? cute_fail_memory(diag) : CUTE_OK;
}

/* ---- text ---- */

void dist_step_text(const dist_step *s, char *out, size_t size)
{
    static const char names[] = "ABDP";
    switch (s->kind) {
    case DIST_PRODUCT:
        snprintf(out, size, "product of rows %lld to %lld", (long long)s->first,
                 (long long)(s->first + s->rows - 1));
        break;
    case DIST_RECORD: snprintf(out, size, "record event %d", s->event); break;
    case DIST_WAIT: snprintf(out, size, "wait for event %d", s->event); break;
    case DIST_COLLECTIVE:
        if (s->call == COMM_WAIT)
            snprintf(out, size, "wait for a put of rank %d", s->peer);
        else if (s->call == COMM_ALL_REDUCE && s->from == DIST_A)
            snprintf(out, size, "all_reduce of one element, as a barrier");
        else if (s->call == COMM_ALL_REDUCE || s->call == COMM_REDUCE_SCATTER || s->call == COMM_ALL_GATHER)
            snprintf(out, size, "%s of %c", comm_kind_name(s->call), names[s->from]);
        else
            snprintf(out, size, "%s of %c, rank %d", comm_kind_name(s->call), names[s->from], s->peer);
        break;
    }
}
