/* One distributed product from its data to its times: what cute-run --gemm --ranks does on each rank. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/sort.h"
#include "lib/device/cublas.h"
#include "lib/device/device.h"
#include "lib/gemm/distributed/distributed.h"

enum { WARM_RUNS = 3, SAMPLES = 20 };

typedef struct job_run {
    const dist_job *job;
    cute_arena *arena;
    dist_outcome *out;
    cute_comm *comm; /* NULL with one rank */
    gemm_dist *dist, *sequence;
    dist_schedule plain;
    cute_cublas *cublas;
    cute_address buffers[DIST_BUFFERS], workspace;
    int window;
    dist_record own;
} job_run;

/* ---- preparation ---- */

static cute_status open_comm(job_run *r, cute_diag *diag)
{
    const dist_job *j = r->job;
    if (j->problem.size == 1) {
        snprintf(r->out->provider, sizeof r->out->provider, "none");
        return CUTE_OK;
    }
    cute_ranks_step(j->ranks, "opening the communicator");
    CUTE_TRY(cute_comm_open(j->ranks, j->device, j->provider, &r->comm, diag));
    snprintf(r->out->provider, sizeof r->out->provider, "%s", cute_comm_name(r->comm));
    return CUTE_OK;
}

static cute_status allocate_buffers(job_run *r, cute_diag *diag)
{
    const dist_job *j = r->job;
    for (int i = 0; i < DIST_BUFFERS; i++) {
        dist_matrix m = dist_matrix_of(&j->problem, (dist_buffer)i, j->problem.rank);
        size_t bytes = dist_matrix_bytes(&m);
        if (!bytes) continue;
        void *data = malloc(bytes);
        if (!data) return cute_fail_memory(diag);
        cute_status status = m.window ? cute_comm_window(r->comm, bytes, &r->buffers[i], &r->window, diag)
                                      : cute_device_alloc(j->device, bytes, &r->buffers[i], diag);
        dist_data_fill(&j->problem, (dist_buffer)i, j->seed, data);
        if (status == CUTE_OK) status = cute_device_upload(j->device, r->buffers[i], data, bytes, diag);
        free(data);
        CUTE_TRY(status);
        if (j->device->ops->emulator)
            CUTE_TRY(cute_emulator_describe_buffer(
                j->device, r->buffers[i], dist_buffer_name(&j->problem, (dist_buffer)i), bytes, true, diag));
        cute_ranks_beat(j->ranks);
    }
    return CUTE_OK;
}

static cute_status create_dist(job_run *r, const dist_schedule *schedule, gemm_dist **out, cute_diag *diag)
{
    const dist_job *j = r->job;
    cute_gemm_options options = {.size = sizeof options,
                                 .device = j->device,
                                 .arch = j->target.arch,
                                 .multiprocessors = j->target.multiprocessors,
                                 .configuration = j->configuration};
    CUTE_TRY(gemm_dist_create(&j->problem, schedule, r->comm, &options, out, diag));
    gemm_dist_use(*out, r->window, j->ranks);
    return CUTE_OK;
}

/* Rank 0 compiles first, and the others find most of its kernels in the cache. */
static cute_status create_plans(job_run *r, cute_diag *diag)
{
    const dist_job *j = r->job;
    int mark = 0, all[RANKS_MOST];
    const cute_gemm *first;
    cute_gemm_choice choice = {.size = sizeof choice};
    cute_ranks_step(j->ranks, "compiling the kernels");
    if (j->problem.rank) CUTE_TRY(cute_ranks_exchange(j->ranks, &mark, sizeof mark, all, diag));
    cute_status status = create_dist(r, &r->out->choice.schedule, &r->dist, diag);
    if (status == CUTE_OK && j->bench) {
        status = dist_schedule_build(&j->problem, DIST_SEQUENCE, 0, false, NULL, r->arena, &r->plain, diag);
        if (status == CUTE_OK) status = create_dist(r, &r->plain, &r->sequence, diag);
    }
    CUTE_TRY(status);
    if (!j->problem.rank) CUTE_TRY(cute_ranks_exchange(j->ranks, &mark, sizeof mark, all, diag));
    first = gemm_dist_first(r->dist);
    if (first && cute_gemm_chosen(first, 0, &choice, NULL) == CUTE_OK)
        snprintf(r->out->configuration, sizeof r->out->configuration, "%s", choice.configuration);
    size_t workspace = gemm_dist_workspace(r->dist),
           other = r->sequence ? gemm_dist_workspace(r->sequence) : 0;
    if (other > workspace) workspace = other;
    return workspace ? cute_device_alloc(j->device, workspace, &r->workspace, diag) : CUTE_OK;
}

/* ---- the checked run ---- */

static cute_status sync_all(const job_run *r, cute_diag *diag)
{
    return r->comm ? cute_comm_sync(r->comm, diag) : cute_device_sync(r->job->device, diag);
}

static cute_status run_once(job_run *r, cute_diag *diag)
{
    CUTE_TRY(gemm_dist_run(r->dist, r->buffers, r->workspace, NULL, DIST_ALL, diag));
    return sync_all(r, diag);
}

/* Downloads the results into `data`, whose entries are malloc'ed. */
static cute_status download_results(job_run *r, void *data[DIST_BUFFERS], cute_diag *diag)
{
    const dist_job *j = r->job;
    dist_operand o;
    for (int i = 0; i < DIST_BUFFERS; i++) {
        if (!dist_operand_of(&j->problem, (dist_buffer)i, &o) || !o.result) continue;
        dist_matrix m = dist_matrix_of(&j->problem, (dist_buffer)i, j->problem.rank);
        size_t bytes = dist_matrix_bytes(&m);
        if (!(data[i] = malloc(bytes + 1))) return cute_fail_memory(diag);
        if (bytes) CUTE_TRY(cute_device_download(j->device, data[i], r->buffers[i], bytes, diag));
    }
    return CUTE_OK;
}

static cute_status check_result(job_run *r, cute_diag *diag)
{
    const dist_job *j = r->job;
    void *data[DIST_BUFFERS] = {NULL};
    cute_ranks_step(j->ranks, "checking the result");
    cute_status status = download_results(r, data, diag);
    if (status == CUTE_OK)
        status = dist_data_check(&j->problem, j->seed, (const void *const *)data, &r->own.result, diag);
    for (int i = 0; i < DIST_BUFFERS; i++) free(data[i]);
    return status;
}

/* ---- times ---- */

typedef enum timed_work {
    TIME_PRODUCT,
    TIME_COLLECTIVE,
    TIME_SEQUENCE,
    TIME_ALL,
    TIME_CUBLAS,
    TIME_PEER
} timed_work;

static cute_status start_work(job_run *r, timed_work work, cute_diag *diag)
{
    bool gathers_first = r->job->problem.split == DIST_N;
    switch (work) {
    case TIME_PRODUCT:
        return gemm_dist_run(r->sequence, r->buffers, r->workspace, NULL, DIST_PRODUCTS_ONLY, diag);
    case TIME_COLLECTIVE:
        return gemm_dist_run(r->sequence, r->buffers, r->workspace, NULL, DIST_COLLECTIVES_ONLY, diag);
    case TIME_SEQUENCE: return gemm_dist_run(r->sequence, r->buffers, r->workspace, NULL, DIST_ALL, diag);
    case TIME_ALL: return gemm_dist_run(r->dist, r->buffers, r->workspace, NULL, DIST_ALL, diag);
    case TIME_CUBLAS: return cute_cublas_start(r->cublas, diag);
    case TIME_PEER:
        if (gathers_first) CUTE_TRY(start_work(r, TIME_COLLECTIVE, diag));
        CUTE_TRY(cute_cublas_start(r->cublas, diag));
        return gathers_first ? CUTE_OK : start_work(r, TIME_COLLECTIVE, diag);
    }
    return CUTE_OK;
}

static int compare_seconds(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The median of SAMPLES runs that are started one behind the other. */
static cute_status time_work(job_run *r, timed_work work, const char *name, double *out, cute_diag *diag)
{
    cute_device *device = r->job->device;
    cute_device_event *events[SAMPLES + 1];
    double seconds[SAMPLES];
    int mark = 0, all[RANKS_MOST];
    for (int i = 0; i <= SAMPLES; i++) CUTE_TRY(cute_device_event_create(device, &events[i], diag));
    cute_ranks_step(r->job->ranks, "timing %s", name);
    CUTE_TRY(cute_ranks_exchange(r->job->ranks, &mark, sizeof mark, all, diag));
    for (int i = 0; i < WARM_RUNS; i++) CUTE_TRY(start_work(r, work, diag));
    for (int i = 0; i < SAMPLES; i++) {
        CUTE_TRY(cute_device_event_record(device, events[i], diag));
        CUTE_TRY(start_work(r, work, diag));
    }
    CUTE_TRY(cute_device_event_record(device, events[SAMPLES], diag));
    CUTE_TRY(sync_all(r, diag));
    for (int i = 0; i < SAMPLES; i++)
        CUTE_TRY(cute_device_elapsed(device, events[i], events[i + 1], &seconds[i], diag));
    cute_sort(seconds, SAMPLES, sizeof *seconds, compare_seconds);
    *out = seconds[SAMPLES / 2];
    return CUTE_OK;
}

static cublas_matrix cublas_matrix_of(const job_run *r, dist_buffer buffer)
{
    dist_matrix m = dist_matrix_of(&r->job->problem, buffer, r->job->problem.rank);
    return (cublas_matrix){.address = r->buffers[buffer],
                           .by_rows = m.column == 1,
                           .ld = m.column == 1 ? m.row : m.column,
                           .stride = m.stride};
}

/* The product that the rank's kernels compute, with their epilogue. */
static cute_status open_cublas(job_run *r, cute_diag *diag)
{
    const dist_problem *p = &r->job->problem;
    const cute_gemm_problem *g = &p->whole;
    dist_shard s = dist_shard_of(p, p->rank);
    dist_buffer result = dist_result_of(p);
    bool fused = result == DIST_D, adds = fused && g->beta != 0;
    if (!s.m || !s.n || !s.k)
        return cute_fail(diag, CUTE_USAGE, NULL, "--vs=cublas expects a part of the product for each rank");
    cublas_product product = {.type = cute_dtype_get(p->read.in)->name,
                              .type_d = cute_dtype_get(p->sums)->name,
                              .m = s.m,
                              .n = s.n,
                              .k = s.k,
                              .batch = g->batch,
                              .a = cublas_matrix_of(r, DIST_A),
                              .b = cublas_matrix_of(r, DIST_B),
                              .d = cublas_matrix_of(r, result),
                              .bias = fused && g->bias ? r->buffers[DIST_BIAS] : 0,
                              .activation = fused ? (cublas_activation)g->activation : CUBLAS_LINEAR,
                              .fast = p->read.fast,
                              .alpha = g->alpha,
                              .beta = adds ? g->beta : 0};
    if (p->split == DIST_M)
        product.d.address += (cute_address)(s.first_m * product.d.ld * cute_dtype_get(p->sums)->bytes);
    product.c = adds ? cublas_matrix_of(r, DIST_C) : product.d;
    return cute_cublas_open(r->job->device, &product, &r->cublas, diag);
}

static cute_status time_all(job_run *r, cute_diag *diag)
{
    dist_times *t = &r->own.times;
    bool several = r->job->problem.size > 1;
    CUTE_TRY(time_work(r, TIME_PRODUCT, "the product", &t->product, diag));
    if (several) {
        CUTE_TRY(time_work(r, TIME_COLLECTIVE, "the collective", &t->collective, diag));
        CUTE_TRY(time_work(r, TIME_SEQUENCE, "the sequence", &t->sequence, diag));
    }
    CUTE_TRY(time_work(r, TIME_ALL, "the schedule", &t->all, diag));
    if (!r->job->cublas) return CUTE_OK;
    CUTE_TRY(open_cublas(r, diag));
    CUTE_TRY(time_work(r, TIME_CUBLAS, "cuBLASLt", &t->cublas, diag));
    return several ? time_work(r, TIME_PEER, "cuBLASLt and the collective", &t->peer, diag) : CUTE_OK;
}

/* ---- the outcome ---- */

static bool whole_on_each(const dist_problem *p)
{
    return p->split == DIST_M || (p->split == DIST_K && p->collective == COMM_ALL_REDUCE);
}

static cute_status exchange_records(job_run *r, cute_diag *diag)
{
    const dist_problem *p = &r->job->problem;
    dist_outcome *out = r->out;
    int64_t bad = 0;
    out->records = cute_arena_array(r->arena, (size_t)p->size, sizeof *out->records);
    if (!out->records) return cute_fail_memory(diag);
    snprintf(r->own.device, sizeof r->own.device, "%.63s", r->job->device->info.name);
    CUTE_TRY(cute_ranks_exchange(r->job->ranks, &r->own, sizeof r->own, out->records, diag));
    out->has_digest = r->job->check;
    out->differs = -1;
    for (int i = 0; i < p->size; i++) {
        const dist_result *own = &out->records[i].result;
        bad += own->bad;
        out->has_digest = out->has_digest && own->has_digest;
        if (!whole_on_each(p))
            out->digest += own->digest;
        else if (own->digest != out->records[0].result.digest && out->differs < 0)
            out->differs = i;
    }
    if (whole_on_each(p)) out->digest = out->records[0].result.digest;
    return bad || (out->has_digest && out->differs >= 0) ? CUTE_MISMATCH : CUTE_OK;
}

static cute_status run_job(job_run *r, cute_diag *diag)
{
    const dist_job *j = r->job;
    dist_outcome *out = r->out;
    CUTE_TRY(open_comm(r, diag));
    out->timed = !r->comm ? !j->device->ops->emulator : cute_comm_timed(r->comm);
    CUTE_TRY(dist_choose(&j->problem, j->overlap, j->groups, r->comm && cute_comm_puts(r->comm), &j->target,
                         j->configuration, &j->network, r->arena, &out->choice, diag));
    CUTE_TRY(allocate_buffers(r, diag));
    CUTE_TRY(create_plans(r, diag));
    CUTE_TRY(run_once(r, diag));
    if (j->check) CUTE_TRY(check_result(r, diag));
    if (j->bench && out->timed) CUTE_TRY(time_all(r, diag));
    cute_ranks_step(j->ranks, "exchanging the results");
    return exchange_records(r, diag);
}

cute_status dist_job_run(const dist_job *job, cute_arena *arena, dist_outcome *out, cute_diag *diag)
{
    job_run r = {.job = job, .arena = arena, .out = out, .window = -1};
    *out = (dist_outcome){0};
    cute_status status = run_job(&r, diag);
    cute_cublas_close(r.cublas);
    gemm_dist_destroy(r.dist);
    gemm_dist_destroy(r.sequence);
    cute_comm_close(r.comm);
    return status;
}
