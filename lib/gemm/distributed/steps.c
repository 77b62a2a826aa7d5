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

/* Elements between the matrices of a batch, and of a row of a buffer by rows. */
static int64_t stride_of(const builder *b, dist_buffer buffer)
{
    return dist_matrix_of(b->p, buffer, b->p->rank).stride;
}

static int64_t row_of(const builder *b, dist_buffer buffer)
{
    return dist_matrix_of(b->p, buffer, b->p->rank).columns;
}

/* The epilogue, once all sums are finished. */
static void add_epilogue(builder *b)
{
    dist_region r = dist_region_of(b->p, b->p->rank);
    if (b->p->finishes && r.rows > 0 && r.columns > 0) add_step(b, DIST_EPILOGUE, 1)->rows = r.rows;
}

/* Operands that rank 0 has for all, in front of the products. */
static void broadcast_operands(builder *b)
{
    const epilogue_tree *t = b->p->read.tree;
    bool any = false;
    for (int i = 0; t && b->p->size > 1 && i < t->step_count; i++) {
        if (t->steps[i].moment != EPILOGUE_OF_OPERAND) continue;
        dist_buffer buffer = dist_step_buffer(b->p, &t->steps[i]);
        add_call(b, COMM_BROADCAST, buffer, 0, buffer, 0, dist_matrix_of(b->p, buffer, b->p->rank).elements)
            ->peer = 0;
        any = true;
    }
    if (any) order_streams(b, 1, 0);
}

/* Sums over each rank's rows become those over all. */
static void reduce_results(builder *b)
{
    const epilogue_tree *t = b->p->read.tree;
    for (int i = 0; t && !b->p->finishes && b->p->size > 1 && i < t->step_count; i++) {
        if (t->steps[i].moment != EPILOGUE_OF_RESULT || t->steps[i].collective != EPILOGUE_ALL_REDUCE)
            continue;
        dist_buffer buffer = dist_step_buffer(b->p, &t->steps[i]);
        if (!b->own.m) add_step(b, DIST_CLEAR, 1)->to = buffer;
        add_call(b, COMM_ALL_REDUCE, buffer, 0, buffer, 0, dist_matrix_of(b->p, buffer, b->p->rank).elements);
    }
}

static int64_t ceil_div(int64_t a, int64_t b)
{
    return a / b + (a % b != 0);
}

/* Signals that the rank's windows may be written, as its earlier work has ended, and waits for those of all others. */
static void meet_peers(builder *b, int stream)
{
    int size = b->p->size, rank = b->p->rank;
    for (int kind = 0; kind < 2; kind++)
        for (int i = 1; i < size; i++) {
            dist_step *step = add_call(b, kind ? COMM_WAIT : COMM_PUT, DIST_A, 0, DIST_A, 0, 0);
            step->stream = stream;
            step->peer = (rank + i) % size;
            step->signals = kind;
        }
}

/* ---- one after the other ---- */

/* The rank's product; a gathered A by columns is a matrix for each rank. */
static void add_whole_product(builder *b)
{
    int64_t block = dist_matrix_of(b->p, DIST_A, b->p->rank).block, step = block ? block : b->own.m;
    for (int64_t first = 0; first < b->own.m; first += step) add_product(b, first, step);
}

static bool is_gathered(const dist_problem *p, dist_buffer buffer)
{
    dist_operand o;
    if (p->finishes) return buffer == DIST_S;
    return dist_operand_of(p, buffer, &o) && o.result && o.shape.rows;
}

/* Everything behind the products of split m or k, on matrix `item`. */
static void collect_item(builder *b, int64_t item)
{
    const dist_problem *p = b->p;
    int64_t chunk = b->own.chunk, n = p->whole.n, parts = item * stride_of(b, DIST_P);
    dist_buffer to = dist_sums_of(p);
    int64_t sums = item * stride_of(b, to);
    if (dist_scatters(p))
        add_call(b, COMM_REDUCE_SCATTER, DIST_P, parts, to, sums, chunk * n);
    else if (p->split == DIST_K)
        add_call(b, COMM_ALL_REDUCE, DIST_P, parts, to, sums, p->whole.m * n);
    for (int i = 0; p->split == DIST_M && i < DIST_BUFFERS; i++) {
        dist_buffer buffer = (dist_buffer)i;
        if (!is_gathered(p, buffer)) continue;
        int64_t count = chunk * row_of(b, buffer), first = item * stride_of(b, buffer);
        add_call(b, COMM_ALL_GATHER, buffer, first + p->rank * count, buffer, first, count);
    }
}

static void build_sequence(builder *b)
{
    const dist_problem *p = b->p;
    int64_t own = b->own.chunk * p->whole.k, items = p->whole.batch;
    if (p->size == 1) {
        add_product(b, 0, b->own.m);
        return;
    }
    if (p->split == DIST_N) {
        for (int64_t i = 0; i < items; i++) {
            int64_t first = i * stride_of(b, DIST_A);
            add_call(b, COMM_ALL_GATHER, DIST_A, first + p->rank * own, DIST_A, first, own);
        }
        order_streams(b, 1, 0);
        add_whole_product(b);
        return;
    }
    add_product(b, 0, b->own.m);
    order_streams(b, 0, 1);
    for (int64_t i = 0; i < items; i++) collect_item(b, i);
    reduce_results(b);
    add_epilogue(b);
}

/* ---- the product in parts, each of which a second stream sends ---- */

/* Rows of all ranks' parts of a result, as broadcasts that start together: an all_gather would need them side by side. */
static void gather_rows(builder *b, dist_buffer buffer, int64_t item, int64_t first, int64_t rows)
{
    const dist_problem *p = b->p;
    int64_t n = row_of(b, buffer);
    for (int root = 0; root < p->size; root++) {
        int64_t at = item * stride_of(b, buffer) + (root * b->own.chunk + first) * n;
        dist_step *step = add_call(b, COMM_BROADCAST, buffer, at, buffer, at, rows * n);
        step->peer = root;
        step->begins = root == 0;
        step->ends = root == p->size - 1;
    }
}

/* Own rows of a buffer that all ranks have, stored into the window of each other rank. */
static void push_rows(builder *b, dist_buffer buffer, int64_t item, int64_t first, int64_t rows)
{
    const dist_problem *p = b->p;
    int64_t left = dist_rows_of(p, p->rank) - first, n = row_of(b, buffer);
    if (rows > left) rows = left;
    for (int i = 1; i < p->size && rows > 0; i++) {
        int64_t at = item * stride_of(b, buffer) + (p->rank * b->own.chunk + first) * n;
        add_call(b, COMM_PUT, buffer, at, buffer, at, rows * n)->peer = (p->rank + i) % p->size;
    }
}

/* Waits for so many puts of each other rank, for each part of `rows` rows that it has. */
static void await_pushes(builder *b, int64_t rows, int64_t each)
{
    const dist_problem *p = b->p;
    for (int i = 1; i < p->size; i++) {
        int from = (p->rank + i) % p->size;
        int64_t parts = ceil_div(dist_rows_of(p, from), rows);
        if (!parts) continue;
        dist_step *step = add_call(b, COMM_WAIT, DIST_D, 0, DIST_D, 0, 0);
        step->peer = from;
        step->signals = parts * each;
    }
}

/* Gathered buffers become windows, on all ranks. Their number. */
static int64_t open_gathered(builder *b)
{
    int64_t count = 0;
    for (int i = 0; i < DIST_BUFFERS; i++) {
        b->out->windows[i] = is_gathered(b->p, (dist_buffer)i);
        count += b->out->windows[i];
    }
    return count;
}

/* `count` rows from `first` on of rank `root`'s part, for reduce_scatter, else of the rank's product. */
static void send_rows(builder *b, int root, int64_t first, int64_t count)
{
    const dist_problem *p = b->p;
    int64_t n = p->whole.n;
    dist_buffer to = dist_sums_of(p);
    for (int64_t item = 0; item < p->whole.batch; item++) {
        int64_t parts = item * stride_of(b, DIST_P), sums = item * stride_of(b, to) + first * n;
        if (dist_scatters(p))
            add_call(b, COMM_REDUCE, DIST_P, parts + (root * b->own.chunk + first) * n, to, sums, count * n)
                ->peer = root;
        else if (p->split == DIST_K)
            add_call(b, COMM_ALL_REDUCE, DIST_P, parts + first * n, to, sums, count * n);
        for (int i = 0; p->split == DIST_M && i < DIST_BUFFERS; i++)
            if (is_gathered(p, (dist_buffer)i))
                (b->out->puts ? push_rows : gather_rows)(b, (dist_buffer)i, item, first, count);
    }
}

static void build_parts(builder *b, int64_t groups)
{
    const dist_problem *p = b->p;
    int64_t chunk = b->own.chunk;
    bool scatters = dist_scatters(p);
    /* reduce_scatter: each group belongs to one rank, whose sums it becomes */
    int64_t extent = p->split == DIST_M || scatters ? chunk : p->whole.m;
    int64_t unit = p->unit_m, parts = scatters ? ceil_div(groups, p->size) : groups;
    int64_t rows = ceil_div(ceil_div(extent, parts), unit) * unit;
    if (b->out->puts) meet_peers(b, 1);
    for (int root = 0; root < (scatters ? p->size : 1); root++)
        for (int64_t first = 0; first < extent; first += rows) {
            int64_t count = rows < extent - first ? rows : extent - first;
            add_product(b, root * chunk + first, count);
            order_streams(b, 0, 1);
            send_rows(b, root, first, count);
        }
    if (b->out->puts) await_pushes(b, rows, p->whole.batch * open_gathered(b));
    add_epilogue(b);
}

/* ---- one product that counts each group of tiles, which a second stream sends ---- */

/* Tiles are computed in bands of so many rows of them (order of the product's schedule): groups of whole bands end in turn. */
enum { BAND = 8 };

bool dist_tiles_fit(const dist_problem *p, const dist_tiles *tiles, int64_t groups, int64_t *rows)
{
    bool scatters = dist_scatters(p);
    int64_t chunk = dist_shard_of(p, 0).chunk, extent = p->split == DIST_M || scatters ? chunk : p->whole.m;
    if (!tiles->m || p->split == DIST_N || p->size == 1) return false;
    if (scatters) { /* a group belongs to one rank */
        int64_t parts = ceil_div(groups, p->size), most = chunk / tiles->m;
        if (chunk % tiles->m != 0) return false;
        if (parts > most) parts = most;
        while (chunk % (parts * tiles->m) != 0) parts++;
        *rows = chunk / parts;
        return true;
    }
    int64_t band = BAND * tiles->m, unit = extent / band >= groups ? band : tiles->m;
    *rows = ceil_div(ceil_div(extent, groups), unit) * unit;
    return true;
}

static void build_signal(builder *b, int64_t rows)
{
    const dist_problem *p = b->p;
    const dist_tiles *t = &b->out->tiles;
    int64_t chunk = b->own.chunk;
    bool scatters = dist_scatters(p);
    int64_t extent = p->split == DIST_M || scatters ? chunk : p->whole.m;
    add_step(b, DIST_RESET, 0);
    order_streams(b, 0, 1);
    if (b->out->puts) meet_peers(b, 1);
    size_t before = b->out->count;
    add_product(b, 0, b->own.m);
    bool computes = b->out->count > before;
    for (int root = 0; root < (scatters ? p->size : 1); root++)
        for (int64_t first = 0; first < extent; first += rows) {
            int64_t count = rows < extent - first ? rows : extent - first, at = root * chunk + first,
                    own = count < b->own.m - at ? count : b->own.m - at;
            if (computes && own > 0) {
                dist_step *step = add_step(b, DIST_AWAIT, 1);
                step->first = at;
                step->rows = own;
                step->group = at / rows;
                step->tiles = ceil_div(own, t->m) * ceil_div(b->own.n, t->n) * p->whole.batch;
            }
            send_rows(b, root, first, count);
        }
    if (b->out->puts) await_pushes(b, rows, p->whole.batch * open_gathered(b));
    add_epilogue(b);
}

/* ---- tiles in rank-rotated order, behind the shards that arrive ---- */

/* Elements of A in the part of a rank: by columns, gaps of a part that is not full are sent, too. */
static int64_t part_elements(const builder *b, int rank)
{
    int64_t rows = dist_rows_of(b->p, rank);
    bool blocks = dist_matrix_of(b->p, DIST_A, b->p->rank).block != 0;
    return (blocks && rows ? b->own.chunk : rows) * b->p->whole.k;
}

static void exchange_shards(builder *b, int64_t item, int to, int from, bool puts)
{
    const dist_problem *p = b->p;
    int64_t part = b->own.chunk * p->whole.k, begin = item * stride_of(b, DIST_A),
            own = part_elements(b, p->rank), theirs = part_elements(b, from);
    dist_step *step;
    if (own) {
        int64_t at = begin + p->rank * part;
        step = add_call(b, puts ? COMM_PUT : COMM_SEND, DIST_A, at, DIST_A, at, own);
        step->peer = to;
        step->ends = puts || !theirs;
    }
    if (theirs) {
        int64_t at = begin + from * part;
        step = add_call(b, puts ? COMM_WAIT : COMM_RECV, DIST_A, at, DIST_A, at, puts ? 0 : theirs);
        step->peer = from;
        step->signals = puts;
        step->begins = puts || !own;
    }
}

static void build_rotate(builder *b, dist_means means)
{
    const dist_problem *p = b->p;
    int size = p->size, rank = p->rank;
    bool puts = means.puts;
    add_product(b, rank * b->own.chunk, dist_rows_of(b->p, rank));
    if (puts && means.reaches) meet_peers(b, 1);
    for (int i = 1; i < size; i++) {
        int to = (rank + size - i) % size, from = (rank + i) % size;
        for (int64_t item = 0; item < p->whole.batch; item++) exchange_shards(b, item, to, from, puts);
        order_streams(b, 1, 0);
        add_product(b, from * b->own.chunk, dist_rows_of(b->p, from));
    }
    if (!puts || means.reaches) return;
    /* The window may be written again when all ranks have read it; its last element is there for that. */
    order_streams(b, 0, 1);
    int64_t spare = dist_matrix_of(p, DIST_A, rank).elements - 1;
    add_call(b, COMM_ALL_REDUCE, DIST_A, spare, DIST_A, spare, 1);
}

/* ---- tiles that the epilogue stores into the windows of other ranks ---- */

static int64_t tiles_of(const builder *b, int64_t rows, int64_t columns)
{
    return ceil_div(rows, b->out->tiles.m) * ceil_div(columns, b->out->tiles.n) * b->p->whole.batch;
}

const char *dist_peers_lack(const dist_problem *p, const dist_tiles *tiles, dist_means means)
{
    if (!means.reaches) return "the ranks do not map each other's memory";
    if (means.foreign && !dist_scatters(p)) return "D is the caller's memory, which other ranks do not map";
    if (p->size > GEMM_COPIES_MOST + 1) return "more than 8 ranks";
    if (p->split == DIST_M && p->finishes) return "the epilogue is a step on gathered rows";
    if (p->split == DIST_K && cute_dtype_get(p->sums)->class != CUTE_CLASS_FLOAT)
        return "the sums are integers";
    for (int i = 0; i < p->size; i++) {
        dist_shard s = dist_shard_of(p, i);
        if (!s.m || !s.n || !s.k || !dist_rows_of(p, i)) return "a rank has no part of the product";
    }
    if (dist_result_of(p) == DIST_D && p->read.tree) return "the kernel has an expression";
    return tiles->m ? NULL : "the kernel does not count its tiles";
}

dist_window dist_window_of(const dist_problem *p)
{
    dist_shard s = dist_shard_of(p, p->rank);
    dist_window w = {.item = s.chunk * s.n};
    int64_t bytes = w.item * p->whole.batch * cute_dtype_get(p->sums)->bytes;
    w.part = p->split == DIST_K ? ceil_div(bytes, DIST_COUNTER) * DIST_COUNTER : 0;
    w.counters = w.part * p->size;
    w.bytes = w.counters + DIST_COUNTER * p->size;
    return w;
}

static void add_arrival(builder *b, int rank, int64_t tiles)
{
    dist_step *step = add_step(b, DIST_ARRIVE, 1);
    step->peer = rank;
    step->tiles = tiles;
}

/* A window is written once its rank has signalled it. Sums: rows of the next rank first, the own ones last; with all-reduce, finished sums are
 * then put into the others' memory. */
static void build_peer(builder *b)
{
    const dist_problem *p = b->p;
    bool sums = p->split == DIST_K;
    int64_t own = dist_rows_of(p, p->rank);
    meet_peers(b, 0);
    if (!sums) add_product(b, 0, b->own.m);
    for (int i = 1; sums && i <= p->size; i++) {
        int owner = (p->rank + i) % p->size;
        add_product(b, owner * b->own.chunk, dist_rows_of(p, owner));
        b->out->steps[b->out->count - 1].peer = owner;
    }
    for (int i = 0; i < p->size; i++) {
        int from = (p->rank + i) % p->size;
        add_arrival(b, from, tiles_of(b, sums ? own : dist_rows_of(p, from), b->own.n));
    }
    if (sums) add_step(b, DIST_SUM, 1)->rows = own;
    if (sums && !dist_scatters(p)) {
        b->out->windows[dist_sums_of(p)] = true;
        for (int64_t item = 0; item < p->whole.batch; item++) push_rows(b, dist_sums_of(p), item, 0, own);
        await_pushes(b, b->own.chunk, p->whole.batch);
    }
    if (!sums) b->out->windows[DIST_D] = true;
    add_epilogue(b);
}

cute_status dist_schedule_build(const dist_problem *p, dist_overlap overlap, int64_t groups, dist_means means,
                                const dist_tiles *tiles, cute_arena *arena, dist_schedule *out,
                                cute_diag *diag)
{
    builder b = {.p = p, .arena = arena, .own = dist_shard_of(p, p->rank), .out = out};
    *out = (dist_schedule){.overlap = overlap};
    if (p->size == 1) out->overlap = DIST_SEQUENCE;
    if (out->overlap == DIST_SIGNAL || out->overlap == DIST_PARTS)
        out->groups = groups > 0 ? groups : p->size;
    bool parts = out->overlap == DIST_SIGNAL || out->overlap == DIST_PARTS;
    out->puts = out->overlap == DIST_ROTATE ? means.puts
                                            : parts && means.reaches && !means.foreign && p->split == DIST_M;
    broadcast_operands(&b);
    if (out->overlap == DIST_SIGNAL) {
        out->tiles = *tiles;
        if (!dist_tiles_fit(p, tiles, out->groups, &out->group_rows))
            return cute_fail(diag, CUTE_INVALID, NULL,
                             "expected groups of tiles that each belong to one rank");
        build_signal(&b, out->group_rows);
    } else if (out->overlap == DIST_PEER) {
        out->tiles = *tiles;
        const char *lack = dist_peers_lack(p, tiles, means);
        if (lack)
            return cute_fail(diag, CUTE_INVALID, NULL,
                             "expected ranks whose kernels store into the others' windows: %s", lack);
        build_peer(&b);
    } else if (out->overlap == DIST_PARTS)
        build_parts(&b, out->groups);
    else if (out->overlap == DIST_ROTATE)
        build_rotate(&b, means);
    else
        build_sequence(&b);
    return b.failed ? cute_fail_memory(diag) : CUTE_OK;
}

/* ---- text ---- */

/* Results of an expression but for D have no letter. */
static const char *letter_of(dist_buffer buffer)
{
    static const char *const names[] = {"A", "B", "D", "P", "S", "C", "bias"};
    return buffer < DIST_OPERANDS ? names[buffer] : "a result";
}

void dist_step_text(const dist_step *s, char *out, size_t size)
{
    switch (s->kind) {
    case DIST_PRODUCT:
        snprintf(out, size, "product of rows %lld to %lld", (long long)s->first,
                 (long long)(s->first + s->rows - 1));
        break;
    case DIST_RESET: snprintf(out, size, "reset of the counters"); break;
    case DIST_CLEAR: snprintf(out, size, "zeros in %s", letter_of(s->to)); break;
    case DIST_AWAIT:
        snprintf(out, size, "wait for %lld tiles of rows %lld to %lld", (long long)s->tiles,
                 (long long)s->first, (long long)(s->first + s->rows - 1));
        break;
    case DIST_ARRIVE:
        snprintf(out, size, "wait for %lld tiles of rank %d", (long long)s->tiles, s->peer);
        break;
    case DIST_SUM: snprintf(out, size, "sum of all ranks' parts of %lld rows", (long long)s->rows); break;
    case DIST_EPILOGUE: snprintf(out, size, "epilogue of %lld rows", (long long)s->rows); break;
    case DIST_RECORD: snprintf(out, size, "record event %d", s->event); break;
    case DIST_WAIT: snprintf(out, size, "wait for event %d", s->event); break;
    case DIST_COLLECTIVE:
        if (s->call == COMM_PUT && !s->count)
            snprintf(out, size, "signal to rank %d", s->peer);
        else if (s->call == COMM_WAIT)
            snprintf(out, size, "wait for rank %d", s->peer);
        else if (s->call == COMM_ALL_REDUCE && s->from == DIST_A)
            snprintf(out, size, "all_reduce of one element, as a barrier");
        else if (s->call == COMM_ALL_REDUCE || s->call == COMM_REDUCE_SCATTER || s->call == COMM_ALL_GATHER)
            snprintf(out, size, "%s of %s", comm_kind_name(s->call), letter_of(s->from));
        else
            snprintf(out, size, "%s of %s, rank %d", comm_kind_name(s->call), letter_of(s->from), s->peer);
        break;
    }
}
