/* Runs the steps of a distributed product: a plan for each number of rows, two streams, and events between them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/device/device.h"
#include "lib/gemm/distributed/distributed.h"

enum { BEGAN = 0, ENDED = 1, OWN_EVENTS = 1 + DIST_STREAMS };

/* The product of so many rows. */
typedef struct row_plan {
    int64_t rows;
    cute_gemm *gemm;
} row_plan;

struct gemm_dist {
    cute_arena *arena;
    dist_problem problem;
    const dist_schedule *schedule;
    cute_comm *comm;
    cute_device *device;
    row_plan *plans;
    size_t plan_count;
    gemm_finish *finish;   /* NULL: the products have the epilogue */
    cute_address counters; /* of SIGNAL: of groups of tiles */
    cute_stream *streams[DIST_STREAMS];
    cute_device_event **events; /* OWN_EVENTS, then those of the schedule */
    cute_ranks *ranks;          /* that are told of the steps; may be NULL */
    dist_windows windows;
    gemm_finish *sum; /* of PEER: of the parts of all ranks */
    uint32_t runs;    /* of PEER: counters are never reset */
};

/* ---- plans ---- */

/* The first row of a step in the buffers of the whole product: of split m in the results, which have the rows of all ranks. */
static int64_t result_row(const dist_problem *p, const dist_step *s)
{
    return s->first + (p->split == DIST_M ? p->rank * dist_shard_of(p, p->rank).chunk : 0);
}

static row_plan *find_plan(const gemm_dist *g, int64_t rows)
{
    for (size_t i = 0; i < g->plan_count; i++)
        if (g->plans[i].rows == rows) return &g->plans[i];
    return NULL;
}

static int64_t leading(const dist_matrix *m)
{
    return m->row > m->column ? m->row : m->column;
}

/* Bytes that divide the addresses of the products of a batch, each of which has a launch of its own. */
static int64_t alignment_of_items(const dist_problem *p, const dist_matrix *a, const dist_matrix *b)
{
    enum { MOST = 16 };
    int64_t given = p->whole.align ? p->whole.align : MOST, between[] = {0, 0};
    if (p->whole.batch > dist_launch_batch(p)) {
        between[0] = a->stride * cute_dtype_get(a->dtype)->bytes;
        between[1] = b->stride * cute_dtype_get(b->dtype)->bytes;
    }
    while (between[0] % given || between[1] % given) given /= 2;
    return given;
}

/* The rank's part of the problem with so many rows; its epilogue is in the kernel, or none. */
static cute_gemm_problem row_problem(const dist_problem *p, int64_t rows)
{
    dist_shard own = dist_shard_of(p, p->rank);
    dist_buffer result = dist_result_of(p);
    dist_matrix a = dist_matrix_of(p, DIST_A, p->rank), b = dist_matrix_of(p, DIST_B, p->rank),
                d = dist_matrix_of(p, result, p->rank), c = dist_matrix_of(p, DIST_C, p->rank);
    cute_gemm_problem given = p->whole;
    given.m = rows;
    given.n = own.n;
    given.k = own.k;
    given.ld_a = leading(&a);
    given.batch = dist_launch_batch(p);
    given.align = alignment_of_items(p, &a, &b);
    if (given.batch > 1) {
        given.stride_a = a.stride;
        given.stride_b = b.stride;
        given.stride_d = d.stride;
    }
    if (p->read.tree) { /* its operands have no leading dimensions: rows are packed in all */
        given.alpha = p->finishes ? 1 : given.alpha;
    } else {
        given.ld_d = leading(&d);
        given.ld_c = leading(&c);
        if (given.batch > 1) given.stride_c = c.stride;
    }
    if (result == DIST_D) return given;
    given.ld_d = d.row;
    given.ld_c = given.stride_c = 0;
    given.type_d = cute_dtype_get(p->sums)->name;
    given.order_d = CUTE_GEMM_ROWS;
    given.beta = 0;
    given.bias = false;
    given.activation = CUTE_GEMM_LINEAR;
    given.epilogue = NULL;
    given.values = NULL;
    given.value_count = 0;
    return given;
}

static int64_t counter_count(const gemm_dist *g)
{
    int64_t rows = dist_shard_of(&g->problem, g->problem.rank).m, group = g->schedule->group_rows;
    return rows / group + (rows % group != 0);
}

static size_t counter_bytes(const gemm_dist *g)
{
    return (size_t)(counter_count(g) + 1) * sizeof(uint32_t); /* and that of tiles beyond D */
}

static cute_status create_row_plan(gemm_dist *g, const dist_step *s, const cute_gemm_options *options,
                                   cute_diag *diag)
{
    cute_gemm_problem given = row_problem(&g->problem, s->rows);
    row_plan *plan = &g->plans[g->plan_count];
    plan->rows = s->rows;
    cute_gemm_options own_options = *options;
    own_options.multiprocessors = dist_multiprocessors(g->schedule, options->multiprocessors);
    const dist_tiles *tiles = &g->schedule->tiles;
    bool peers = g->schedule->overlap == DIST_PEER;
    if (g->counters || peers) {
        gemm_signal signal = {.groups = 1, .rows = s->rows, .peers = peers};
        if (peers && g->problem.split == DIST_M) signal.copies = g->problem.size - 1;
        if (peers && g->problem.split == DIST_K && given.batch > 1)
            given.stride_d = dist_window_of(&g->problem).item;
        if (!peers) signal.groups = counter_count(g);
        if (!peers) signal.rows = g->schedule->group_rows / tiles->m;
        own_options.configuration = tiles->configuration;
        CUTE_TRY(gemm_create_signalled(&given, &own_options, signal, &plan->gemm, diag));
        g->plan_count++;
        return peers ? CUTE_OK : gemm_set_signals(plan->gemm, g->counters, diag);
    }
    CUTE_TRY(cute_gemm_create(&given, 1, &own_options, &plan->gemm, diag));
    g->plan_count++;
    return CUTE_OK;
}

/* The epilogue on finished sums. */
static cute_status create_finish(gemm_dist *g, const cute_gemm_options *options, cute_diag *diag)
{
    const dist_problem *p = &g->problem;
    dist_region r = dist_region_of(p, p->rank);
    dist_matrix d = dist_matrix_of(p, DIST_D, p->rank), c = dist_matrix_of(p, DIST_C, p->rank);
    cute_gemm_problem given = p->whole;
    if (!p->finishes || r.rows < 1 || r.columns < 1) return CUTE_OK;
    given.m = r.rows;
    given.n = r.columns;
    if (p->read.tree) given.batch = 1;
    if (!p->read.tree) {
        given.alpha = 1; /* the products have it */
        given.ld_d = leading(&d);
        given.ld_c = leading(&c);
        if (given.batch > 1) {
            given.stride_d = d.stride;
            given.stride_c = c.stride;
        }
    }
    return gemm_finish_create(&given, p->sums, dist_matrix_of(p, DIST_S, p->rank).stride, options, &g->finish,
                              diag);
}

/* Partial sums of all ranks, added in their order as an expression of the first and of operands. */
static cute_status create_sum(gemm_dist *g, const cute_gemm_options *options, cute_diag *diag)
{
    const dist_problem *p = &g->problem;
    cute_buffer text = {0};
    const char *type = cute_dtype_get(p->sums)->name;
    cute_buffer_printf(&text, "acc");
    for (int i = 1; i < p->size; i++) cute_buffer_printf(&text, " + p%d[i,j]:%s", i, type);
    cute_gemm_problem given = CUTE_GEMM_PROBLEM;
    given.m = dist_rows_of(p, p->rank);
    given.n = p->whole.n;
    given.k = p->whole.k;
    given.type_a = given.type_b = p->whole.type_a;
    given.type_d = type;
    given.epilogue = cute_buffer_text(&text);
    cute_status status = cute_buffer_ok(&text)
                             ? gemm_finish_create(&given, p->sums, 0, options, &g->sum, diag)
                             : cute_fail_memory(diag);
    cute_buffer_release(&text);
    return status;
}

static cute_status create_plans(gemm_dist *g, const cute_gemm_options *options, cute_diag *diag)
{
    const dist_schedule *s = g->schedule;
    if (s->overlap == DIST_SIGNAL && counter_bytes(g)) {
        CUTE_TRY(cute_device_alloc(g->device, counter_bytes(g), &g->counters, diag));
        if (g->device->ops->emulator)
            CUTE_TRY(cute_emulator_describe_buffer(g->device, g->counters, "counters", counter_bytes(g), true,
                                                   diag));
    }
    g->plans = cute_arena_array(g->arena, s->count + 1, sizeof *g->plans);
    if (!g->plans) return cute_fail_memory(diag);
    for (size_t i = 0; i < s->count; i++) {
        const dist_step *step = &s->steps[i];
        if (step->kind != DIST_PRODUCT || find_plan(g, step->rows)) continue;
        CUTE_TRY(create_row_plan(g, step, options, diag));
    }
    if (s->overlap == DIST_PEER && g->problem.split == DIST_K) CUTE_TRY(create_sum(g, options, diag));
    return create_finish(g, options, diag);
}

static cute_status create_streams(gemm_dist *g, cute_diag *diag)
{
    int count = OWN_EVENTS + g->schedule->events;
    g->events = cute_arena_array(g->arena, (size_t)count, sizeof *g->events);
    if (!g->events) return cute_fail_memory(diag);
    for (int i = 0; i < count; i++) CUTE_TRY(cute_device_event_create(g->device, &g->events[i], diag));
    CUTE_TRY(cute_stream_create(g->device, &g->streams[0], diag));
    /* otherwise a collective would wait for multiprocessors until a later product ends */
    return g->device->ops->stream_create_urgent
               ? g->device->ops->stream_create_urgent(g->device, &g->streams[1], diag)
               : cute_stream_create(g->device, &g->streams[1], diag);
}

cute_status gemm_dist_create(const dist_problem *problem, const dist_schedule *schedule, cute_comm *comm,
                             const cute_gemm_options *options, gemm_dist **out, cute_diag *diag)
{
    *out = NULL;
    gemm_dist *g = calloc(1, sizeof *g);
    if (!g || !(g->arena = cute_arena_create())) {
        free(g);
        return cute_fail_memory(diag);
    }
    g->problem = *problem;
    g->schedule = schedule;
    g->comm = comm;
    g->device = options->device;
    cute_status status = create_plans(g, options, diag);
    if (status == CUTE_OK) status = create_streams(g, diag);
    if (status == CUTE_OK)
        *out = g;
    else
        gemm_dist_destroy(g);
    return status;
}

void gemm_dist_destroy(gemm_dist *g)
{
    if (!g) return;
    for (size_t i = 0; i < g->plan_count; i++) cute_gemm_destroy(g->plans[i].gemm);
    gemm_finish_destroy(g->finish);
    gemm_finish_destroy(g->sum);
    if (g->counters) cute_device_free(g->device, g->counters, NULL);
    for (int i = 0; i < DIST_STREAMS; i++) cute_stream_destroy(g->streams[i]);
    cute_arena_destroy(g->arena);
    free(g);
}

size_t gemm_dist_workspace(const gemm_dist *g)
{
    size_t most = g->finish ? gemm_finish_workspace(g->finish) : 0;
    if (g->sum && gemm_finish_workspace(g->sum) > most) most = gemm_finish_workspace(g->sum);
    for (size_t i = 0; i < g->plan_count; i++)
        if (cute_gemm_workspace(g->plans[i].gemm) > most) most = cute_gemm_workspace(g->plans[i].gemm);
    return most;
}

const cute_gemm *gemm_dist_first(const gemm_dist *g)
{
    return g->plan_count ? g->plans[0].gemm : NULL;
}

void gemm_dist_use(gemm_dist *g, const dist_windows *windows, cute_ranks *ranks)
{
    g->windows = *windows;
    g->ranks = ranks;
}

/* ---- running ---- */

typedef struct dist_run {
    gemm_dist *g;
    const cute_address *buffers;
    cute_address workspace;
} dist_run;

static cute_address element(const dist_run *r, dist_buffer buffer, int64_t offset)
{
    const dist_problem *p = &r->g->problem;
    dist_matrix m = dist_matrix_of(p, buffer, p->rank);
    return r->buffers[buffer] + (cute_address)(offset * cute_dtype_get(m.dtype)->bytes);
}

/* The rows of a launch: `first` of operands and `result_first` of results, which have the rows of all ranks; of product `item` of a batch. */
typedef struct launch_rows {
    int64_t first, result_first, item;
} launch_rows;

static cute_address operand_address(const dist_run *r, dist_buffer buffer, const dist_operand *o,
                                    const launch_rows *at)
{
    const dist_problem *p = &r->g->problem;
    dist_matrix m = dist_matrix_of(p, buffer, p->rank);
    int64_t item = m.items > 1 ? at->item * m.stride : 0;
    return element(r, buffer,
                   item + (o->shape.rows ? (o->result ? at->result_first : at->first) * m.row : 0));
}

/* C, D, the bias and named operands. */
static void set_operands(const dist_run *r, const launch_rows *rows, cute_gemm_operands *out,
                         cute_gemm_named *named)
{
    const dist_problem *p = &r->g->problem;
    dist_operand o;
    out->named = named;
    for (int i = DIST_D; i < DIST_BUFFERS; i++) {
        dist_buffer buffer = (dist_buffer)i;
        if (!dist_operand_of(p, buffer, &o)) continue;
        cute_address at = operand_address(r, buffer, &o, rows);
        if (buffer == DIST_C) out->c = at;
        if (buffer == DIST_D) out->d = at;
        if (buffer == DIST_BIAS) out->bias = at;
        if (p->read.tree) named[out->named_count++] = (cute_gemm_named){o.name, at};
    }
}

/* Where this rank's tiles are counted in the memory of another. */
static cute_address counter_at(const gemm_dist *g, int rank)
{
    dist_window w = dist_window_of(&g->problem);
    return cute_comm_peer(g->comm, g->windows.parts, rank) +
           (cute_address)(w.counters + (int64_t)g->problem.rank * DIST_COUNTER);
}

/* D, its copies and counters of a product of PEER. */
static cute_status set_peers(const dist_run *r, const dist_step *s, const row_plan *plan,
                             cute_gemm_operands *operands, cute_diag *diag)
{
    const gemm_dist *g = r->g;
    const dist_problem *p = &g->problem;
    if (p->split == DIST_K) {
        operands->d = cute_comm_peer(g->comm, g->windows.parts, s->peer) +
                      (cute_address)(p->rank * dist_window_of(p).part);
        return gemm_set_signals(plan->gemm, counter_at(g, s->peer), diag);
    }
    CUTE_TRY(gemm_set_signals(plan->gemm, counter_at(g, p->rank), diag));
    for (int i = 1; i < p->size; i++) {
        int peer = (p->rank + i) % p->size;
        cute_address d =
            operands->d - r->buffers[DIST_D] + cute_comm_peer(g->comm, g->windows.of[DIST_D], peer);
        CUTE_TRY(gemm_set_copy(plan->gemm, i, d, counter_at(g, peer), diag));
    }
    return CUTE_OK;
}

/* Until a rank's tiles of this run and all before are in this rank's memory. */
static cute_status await_tiles(const dist_run *r, const dist_step *s, cute_diag *diag)
{
    const gemm_dist *g = r->g;
    dist_window w = dist_window_of(&g->problem);
    cute_address counter = cute_comm_peer(g->comm, g->windows.parts, g->problem.rank) +
                           (cute_address)(w.counters + (int64_t)s->peer * DIST_COUNTER);
    return cute_comm_await(g->comm, counter, g->runs * (uint32_t)s->tiles, s->peer, g->streams[s->stream],
                           diag);
}

/* The own rows of one product of a batch; with all-reduce they are a part of D. */
static cute_status start_sum_of(const dist_run *r, const dist_step *s, int64_t item, cute_diag *diag)
{
    const gemm_dist *g = r->g;
    const dist_problem *p = &g->problem;
    cute_gemm_named named[GEMM_COPIES_MOST + 1];
    char names[GEMM_COPIES_MOST + 1][16];
    dist_window w = dist_window_of(p);
    dist_buffer sums = dist_sums_of(p);
    int64_t first = dist_scatters(p) ? 0 : p->rank * w.item;
    cute_address parts = cute_comm_peer(g->comm, g->windows.parts, p->rank) +
                         (cute_address)(item * w.item * cute_dtype_get(p->sums)->bytes);
    cute_gemm_operands operands = {
        .size = sizeof operands, .workspace = r->workspace, .stream = g->streams[s->stream], .named = named};
    for (int i = 1; i < p->size; i++) {
        snprintf(names[i], sizeof names[i], "p%d", i);
        named[operands.named_count++] = (cute_gemm_named){names[i], parts + (cute_address)(i * w.part)};
    }
    named[operands.named_count++] =
        (cute_gemm_named){"D", element(r, sums, item * dist_matrix_of(p, sums, p->rank).stride + first)};
    return gemm_finish_run(g->sum, parts, &operands, diag);
}

static cute_status start_sum(const dist_run *r, const dist_step *s, cute_diag *diag)
{
    for (int64_t item = 0; item < r->g->problem.whole.batch; item++) CUTE_TRY(start_sum_of(r, s, item, diag));
    return CUTE_OK;
}

static cute_status start_item(const dist_run *r, const dist_step *s, int64_t item, cute_diag *diag)
{
    const gemm_dist *g = r->g;
    const dist_problem *p = &g->problem;
    const launch_rows rows = {s->first, result_row(p, s), item};
    dist_buffer result = dist_result_of(p);
    dist_matrix a = dist_matrix_of(p, DIST_A, p->rank), b = dist_matrix_of(p, DIST_B, p->rank),
                d = dist_matrix_of(p, result, p->rank);
    const row_plan *plan = find_plan(g, s->rows);
    cute_gemm_named named[DIST_BUFFERS];
    cute_gemm_operands operands = {.size = sizeof operands,
                                   .a = element(r, DIST_A, item * a.stride + dist_matrix_row(&a, s->first)),
                                   .b = element(r, DIST_B, item * b.stride),
                                   .workspace = r->workspace,
                                   .stream = g->streams[s->stream]};
    if (result == DIST_D)
        set_operands(r, &rows, &operands, named);
    else
        operands.d = element(r, result, rows.result_first * d.row);
    if (g->schedule->overlap == DIST_PEER) CUTE_TRY(set_peers(r, s, plan, &operands, diag));
    return cute_gemm_run(plan->gemm, &operands, diag);
}

static cute_status start_product(const dist_run *r, const dist_step *s, cute_diag *diag)
{
    const dist_problem *p = &r->g->problem;
    int64_t launches = p->whole.batch / dist_launch_batch(p);
    for (int64_t item = 0; item < launches; item++) CUTE_TRY(start_item(r, s, item, diag));
    return CUTE_OK;
}

/* An expression has the sums of one product of a batch, other epilogues those of all. */
static cute_status start_epilogue(const dist_run *r, const dist_step *s, cute_diag *diag)
{
    const gemm_dist *g = r->g;
    const dist_problem *p = &g->problem;
    int64_t launches = p->read.tree ? p->whole.batch : 1, stride = dist_matrix_of(p, DIST_S, p->rank).stride;
    for (int64_t item = 0; item < launches; item++) {
        const launch_rows rows = {0, 0, item};
        cute_gemm_named named[DIST_BUFFERS];
        cute_gemm_operands operands = {
            .size = sizeof operands, .workspace = r->workspace, .stream = g->streams[s->stream]};
        set_operands(r, &rows, &operands, named);
        CUTE_TRY(gemm_finish_run(g->finish, element(r, DIST_S, item * stride), &operands, diag));
    }
    return CUTE_OK;
}

static cute_status start_collective(const dist_run *r, const dist_step *s, cute_diag *diag)
{
    gemm_dist *g = r->g;
    const dist_problem *p = &g->problem;
    cute_dtype dtype = dist_matrix_of(p, s->from, p->rank).dtype;
    comm_call call = {.kind = s->call,
                      .type = comm_type_find(cute_dtype_get(dtype)->name),
                      .from = element(r, s->from, s->from_offset),
                      .to = element(r, s->to, s->to_offset),
                      .count = s->count,
                      .peer = s->peer,
                      .window = g->windows.of[s->to],
                      .offset = s->to_offset * cute_dtype_get(dtype)->bytes,
                      .signals = s->signals};
    if (s->begins && !s->ends) CUTE_TRY(cute_comm_group_begin(g->comm, diag));
    cute_status status = cute_comm_start(g->comm, &call, g->streams[s->stream], diag);
    if (!s->begins && s->ends) {
        cute_status ended = cute_comm_group_end(g->comm, diag);
        if (status == CUTE_OK) status = ended;
    }
    return status;
}

static cute_status start_step(const dist_run *r, const dist_step *s, cute_diag *diag)
{
    gemm_dist *g = r->g;
    cute_stream *stream = g->streams[s->stream];
    switch (s->kind) {
    case DIST_PRODUCT: return start_product(r, s, diag);
    case DIST_COLLECTIVE: return start_collective(r, s, diag);
    case DIST_EPILOGUE: return start_epilogue(r, s, diag);
    case DIST_ARRIVE: return await_tiles(r, s, diag);
    case DIST_SUM: return start_sum(r, s, diag);
    case DIST_RESET:
        return g->counters ? cute_stream_fill(stream, g->counters, 0, counter_bytes(g), diag) : CUTE_OK;
    case DIST_CLEAR: {
        dist_matrix m = dist_matrix_of(&g->problem, s->to, g->problem.rank);
        return cute_stream_fill(stream, r->buffers[s->to], 0, dist_matrix_bytes(&m), diag);
    }
    case DIST_AWAIT:
        return g->device->ops->stream_wait_count(g->device, stream,
                                                 g->counters + (cute_address)s->group * sizeof(uint32_t),
                                                 (uint32_t)s->tiles, diag);
    case DIST_RECORD: return cute_stream_record(stream, g->events[OWN_EVENTS + s->event], diag);
    case DIST_WAIT: return cute_stream_wait(stream, g->events[OWN_EVENTS + s->event], diag);
    }
    return CUTE_OK;
}

/* On the device's own stream if `stream` is NULL. */
static cute_status record_on(gemm_dist *g, cute_stream *stream, cute_device_event *event, cute_diag *diag)
{
    return stream ? cute_stream_record(stream, event, diag)
                  : cute_device_event_record(g->device, event, diag);
}

static cute_status wait_on(gemm_dist *g, cute_stream *stream, cute_device_event *event, cute_diag *diag)
{
    return stream ? cute_stream_wait(stream, event, diag)
                  : g->device->ops->stream_wait(g->device, NULL, event, diag);
}

static void name_step(const gemm_dist *g, const dist_step *s)
{
    char text[80];
    if (s->kind == DIST_RECORD || s->kind == DIST_WAIT || !g->ranks) return;
    dist_step_text(s, text, sizeof text);
    cute_ranks_step(g->ranks, "%s", text);
}

/* The steps begin after the caller's stream, which then waits for them. */
cute_status gemm_dist_run(gemm_dist *g, const cute_address buffers[DIST_BUFFERS], cute_address workspace,
                          cute_stream *stream, dist_part part, cute_diag *diag)
{
    dist_run r = {g, buffers, workspace};
    const dist_schedule *s = g->schedule;
    g->runs++;
    CUTE_TRY(record_on(g, stream, g->events[BEGAN], diag));
    for (int i = 0; i < DIST_STREAMS; i++) CUTE_TRY(cute_stream_wait(g->streams[i], g->events[BEGAN], diag));
    for (size_t i = 0; i < s->count; i++) {
        const dist_step *step = &s->steps[i];
        bool computes = step->kind == DIST_PRODUCT || step->kind == DIST_EPILOGUE || step->kind == DIST_RESET;
        if ((part == DIST_PRODUCTS_ONLY && !computes) ||
            (part == DIST_COLLECTIVES_ONLY && step->kind != DIST_COLLECTIVE))
            continue;
        name_step(g, step);
        CUTE_TRY(start_step(&r, step, diag));
    }
    for (int i = 0; i < DIST_STREAMS; i++) {
        CUTE_TRY(cute_stream_record(g->streams[i], g->events[ENDED + i], diag));
        CUTE_TRY(wait_on(g, stream, g->events[ENDED + i], diag));
    }
    return CUTE_OK;
}
