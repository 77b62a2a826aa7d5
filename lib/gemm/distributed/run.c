/* Runs the steps of a distributed product: a plan for each number of rows, two streams, and events between them. */
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
    cute_stream *streams[DIST_STREAMS];
    cute_device_event **events; /* OWN_EVENTS, then those of the schedule */
    cute_ranks *ranks;          /* that are told of the steps; may be NULL */
    int window;                 /* of A */
};

/* ---- plans ---- */

typedef struct product_offsets {
    int64_t a, d; /* elements */
} product_offsets;

/* Where the rows of a step begin in A, and in D or P. */
static product_offsets offsets_of(const dist_problem *p, const dist_step *s)
{
    dist_matrix a = dist_matrix_of(p, DIST_A, p->rank), d = dist_matrix_of(p, dist_result_of(p), p->rank);
    int64_t row = s->first + (p->split == DIST_M ? p->rank * dist_shard_of(p, p->rank).chunk : 0);
    return (product_offsets){s->first * a.row, row * d.row};
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

static cute_status create_row_plan(gemm_dist *g, const dist_step *s, const cute_gemm_options *options,
                                   cute_diag *diag)
{
    const dist_problem *p = &g->problem;
    dist_shard own = dist_shard_of(p, p->rank);
    dist_matrix a = dist_matrix_of(p, DIST_A, p->rank), d = dist_matrix_of(p, dist_result_of(p), p->rank);
    cute_gemm_problem given = p->whole;
    row_plan *plan = &g->plans[g->plan_count];
    given.m = plan->rows = s->rows;
    given.n = own.n;
    given.k = own.k;
    given.ld_a = leading(&a);
    given.ld_d = leading(&d);
    cute_gemm_options own_options = *options;
    own_options.multiprocessors = dist_multiprocessors(g->schedule, options->multiprocessors);
    CUTE_TRY(cute_gemm_create(&given, 1, &own_options, &plan->gemm, diag));
    g->plan_count++;
    return CUTE_OK;
}

static cute_status create_plans(gemm_dist *g, const cute_gemm_options *options, cute_diag *diag)
{
    const dist_schedule *s = g->schedule;
    g->plans = cute_arena_array(g->arena, s->count + 1, sizeof *g->plans);
    if (!g->plans) return cute_fail_memory(diag);
    for (size_t i = 0; i < s->count; i++) {
        const dist_step *step = &s->steps[i];
        if (step->kind != DIST_PRODUCT || find_plan(g, step->rows)) continue;
        CUTE_TRY(create_row_plan(g, step, options, diag));
    }
    return CUTE_OK;
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
    for (int i = 0; i < DIST_STREAMS; i++) cute_stream_destroy(g->streams[i]);
    cute_arena_destroy(g->arena);
    free(g);
}

size_t gemm_dist_workspace(const gemm_dist *g)
{
    size_t most = 0;
    for (size_t i = 0; i < g->plan_count; i++)
        if (cute_gemm_workspace(g->plans[i].gemm) > most) most = cute_gemm_workspace(g->plans[i].gemm);
    return most;
}

const cute_gemm *gemm_dist_first(const gemm_dist *g)
{
    return g->plan_count ? g->plans[0].gemm : NULL;
}

void gemm_dist_use(gemm_dist *g, int window, cute_ranks *ranks)
{
    g->window = window;
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
    cute_dtype dtype = buffer == DIST_A || buffer == DIST_B ? p->read.in : p->read.out;
    return r->buffers[buffer] + (cute_address)(offset * cute_dtype_get(dtype)->bytes);
}

static cute_status start_product(const dist_run *r, const dist_step *s, cute_diag *diag)
{
    const gemm_dist *g = r->g;
    const dist_problem *p = &g->problem;
    product_offsets o = offsets_of(p, s);
    const row_plan *plan = find_plan(g, s->rows);
    cute_gemm_operands operands = {.size = sizeof operands,
                                   .a = element(r, DIST_A, o.a),
                                   .b = r->buffers[DIST_B],
                                   .d = element(r, dist_result_of(p), o.d),
                                   .workspace = r->workspace,
                                   .stream = g->streams[s->stream]};
    return cute_gemm_run(plan->gemm, &operands, diag);
}

static cute_status start_collective(const dist_run *r, const dist_step *s, cute_diag *diag)
{
    gemm_dist *g = r->g;
    const dist_problem *p = &g->problem;
    cute_dtype dtype = s->from == DIST_A ? p->read.in : p->read.out;
    comm_call call = {.kind = s->call,
                      .type = comm_type_find(cute_dtype_get(dtype)->name),
                      .from = element(r, s->from, s->from_offset),
                      .to = element(r, s->to, s->to_offset),
                      .count = s->count,
                      .peer = s->peer,
                      .window = g->window,
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
    CUTE_TRY(record_on(g, stream, g->events[BEGAN], diag));
    for (int i = 0; i < DIST_STREAMS; i++) CUTE_TRY(cute_stream_wait(g->streams[i], g->events[BEGAN], diag));
    for (size_t i = 0; i < s->count; i++) {
        const dist_step *step = &s->steps[i];
        if ((part == DIST_PRODUCTS_ONLY && step->kind != DIST_PRODUCT) ||
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
