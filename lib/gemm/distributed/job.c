/* One distributed product from its data to its times: the steps of each rank, which is a process or one of all in this process. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/sort.h"
#include "lib/device/cublas.h"
#include "lib/device/device.h"
#include "lib/gemm/distributed/distributed.h"

enum { WARM_RUNS = 3, SAMPLES = 20 };

typedef struct trial_record {
    dist_result result;
    double seconds;
} trial_record;

typedef struct job_run {
    const dist_job *job;
    cute_arena *arena;
    dist_outcome *out;
    cute_comm *comm; /* NULL with one rank */
    bool inside;     /* one of all ranks in this process */
    gemm_dist *sequence;
    /* the schedules that are run, the first one unless each is; and this rank's outcome of each */
    dist_choice *choices;
    gemm_dist **dists;
    trial_record *trials;
    size_t count;
    dist_schedule plain;
    cute_cublas *cublas;
    cute_address buffers[DIST_BUFFERS], workspace;
    dist_windows windows;
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

/* Whether other ranks write a buffer in any schedule. */
static bool is_window(const job_run *r, const dist_matrix *m, dist_buffer buffer)
{
    bool found = m->window;
    for (size_t i = 0; i < r->count; i++) found = found || r->choices[i].schedule.windows[buffer];
    return found;
}

static cute_status allocate_buffer(job_run *r, dist_buffer buffer, cute_diag *diag)
{
    const dist_job *j = r->job;
    dist_matrix m = dist_matrix_of(&j->problem, buffer, j->problem.rank);
    size_t bytes = dist_matrix_bytes(&m);
    if (!bytes) return CUTE_OK;
    CUTE_TRY(is_window(r, &m, buffer)
                 ? cute_comm_window(r->comm, bytes, &r->buffers[buffer], &r->windows.of[buffer], diag)
                 : cute_device_alloc(j->device, bytes, &r->buffers[buffer], diag));
    return j->device->ops->emulator
               ? cute_emulator_describe_buffer(j->device, r->buffers[buffer],
                                               dist_buffer_name(&j->problem, buffer), bytes, true, diag)
               : CUTE_OK;
}

static cute_status allocate_buffers(job_run *r, cute_diag *diag)
{
    const dist_job *j = r->job;
    bool peers = false;
    for (size_t i = 0; i < r->count; i++) peers = peers || r->choices[i].schedule.overlap == DIST_PEER;
    for (int i = 0; i < DIST_BUFFERS; i++) CUTE_TRY(allocate_buffer(r, (dist_buffer)i, diag));
    cute_address parts;
    size_t bytes = (size_t)dist_window_of(&j->problem).bytes;
    if (!peers) return CUTE_OK;
    CUTE_TRY(cute_comm_window(r->comm, bytes, &parts, &r->windows.parts, diag));
    return j->device->ops->emulator
               ? cute_emulator_describe_buffer(j->device, parts, "parts of other ranks", bytes, true, diag)
               : CUTE_OK;
}

/* As before a run: NaN in all that the schedule writes and that other ranks send, zeros in partial sums. */
static cute_status poison_buffers(const job_run *r, cute_diag *diag)
{
    const dist_job *j = r->job;
    const dist_problem *p = &j->problem;
    dist_operand o;
    for (int i = 0; i < DIST_BUFFERS; i++) {
        dist_buffer buffer = (dist_buffer)i;
        dist_matrix m = dist_matrix_of(p, buffer, p->rank);
        bool written = buffer == DIST_P || buffer == DIST_S || (dist_operand_of(p, buffer, &o) && o.result);
        if (m.elements && written)
            CUTE_TRY(cute_device_fill(j->device, r->buffers[i], buffer == DIST_P ? 0 : 0xFF,
                                      dist_matrix_bytes(&m), diag));
    }
    if (p->split != DIST_N || p->size == 1) return CUTE_OK;
    dist_matrix a = dist_matrix_of(p, DIST_A, p->rank);
    int64_t bytes = cute_dtype_get(a.dtype)->bytes,
            part = dist_shard_of(p, p->rank).chunk * p->whole.k * bytes;
    for (int64_t item = 0; item < a.items; item++)
        for (int rank = 0; rank < p->size; rank++)
            if (rank != p->rank)
                CUTE_TRY(cute_device_fill(
                    j->device, r->buffers[DIST_A] + (cute_address)(item * a.stride * bytes + rank * part),
                    0xFF, (size_t)part, diag));
    return CUTE_OK;
}

/* The rank's data of a seed. */
static cute_status fill_buffers(const job_run *r, uint64_t seed, cute_diag *diag)
{
    const dist_job *j = r->job;
    for (int i = 0; i < DIST_BUFFERS; i++) {
        dist_matrix m = dist_matrix_of(&j->problem, (dist_buffer)i, j->problem.rank);
        size_t bytes = dist_matrix_bytes(&m);
        void *data = bytes ? malloc(bytes) : NULL;
        if (!bytes) continue;
        if (!data) return cute_fail_memory(diag);
        dist_data_fill(&j->problem, (dist_buffer)i, seed, data);
        cute_status status = cute_device_upload(j->device, r->buffers[i], data, bytes, diag);
        free(data);
        CUTE_TRY(status);
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
    gemm_dist_use(*out, &r->windows, j->ranks);
    return CUTE_OK;
}

static cute_status create_plans(job_run *r, cute_diag *diag)
{
    const dist_job *j = r->job;
    const cute_gemm *first;
    cute_gemm_choice choice = {.size = sizeof choice};
    cute_status status = CUTE_OK;
    for (size_t i = 0; status == CUTE_OK && i < r->count; i++)
        status = create_dist(r, &r->choices[i].schedule, &r->dists[i], diag);
    if (status == CUTE_OK && j->bench) {
        status = dist_schedule_build(&j->problem, DIST_SEQUENCE, 0, (dist_means){0}, NULL, r->arena,
                                     &r->plain, diag);
        if (status == CUTE_OK) status = create_dist(r, &r->plain, &r->sequence, diag);
    }
    CUTE_TRY(status);
    first = gemm_dist_first(r->dists[0]);
    if (first && cute_gemm_chosen(first, 0, &choice, NULL) == CUTE_OK)
        snprintf(r->out->configuration, sizeof r->out->configuration, "%s", choice.configuration);
    size_t workspace = r->sequence ? gemm_dist_workspace(r->sequence) : 0;
    for (size_t i = 0; i < r->count; i++)
        if (gemm_dist_workspace(r->dists[i]) > workspace) workspace = gemm_dist_workspace(r->dists[i]);
    return workspace ? cute_device_alloc(j->device, workspace, &r->workspace, diag) : CUTE_OK;
}

/* Rank 0 compiles first, and the others find most of its kernels in the cache. */
static cute_status create_plans_in_turn(job_run *r, cute_diag *diag)
{
    const dist_job *j = r->job;
    int mark = 0, all[RANKS_MOST];
    cute_ranks_step(j->ranks, "compiling the kernels");
    if (j->problem.rank) CUTE_TRY(cute_ranks_exchange(j->ranks, &mark, sizeof mark, all, diag));
    CUTE_TRY(create_plans(r, diag));
    return j->problem.rank ? CUTE_OK : cute_ranks_exchange(j->ranks, &mark, sizeof mark, all, diag);
}

/* ---- checked runs ---- */

static cute_status sync_all(const job_run *r, cute_diag *diag)
{
    return r->comm ? cute_comm_sync(r->comm, diag) : cute_device_sync(r->job->device, diag);
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

/* Adds to `out`; its digest is that of the last result. */
static cute_status check_result(job_run *r, uint64_t seed, dist_result *out, cute_diag *diag)
{
    void *data[DIST_BUFFERS] = {NULL};
    dist_result own = {0};
    cute_ranks_step(r->job->ranks, "checking the result");
    cute_status status = download_results(r, data, diag);
    if (status == CUTE_OK)
        status = dist_data_check(&r->job->problem, seed, (const void *const *)data, &own, diag);
    for (int i = 0; i < DIST_BUFFERS; i++) free(data[i]);
    dist_result_add(out, &own);
    out->digest = own.digest;
    out->has_digest = own.has_digest;
    return status;
}

/* The record's digest is that of the first schedule on the last data. */
static void add_trials(job_run *r)
{
    for (size_t i = r->count; i-- > 0;) dist_result_add(&r->own.result, &r->trials[i].result);
    r->own.result.digest = r->trials[0].result.digest;
    r->own.result.has_digest = r->trials[0].result.has_digest;
}

static int64_t seeds_of(const dist_job *j)
{
    return j->check && j->seeds > 1 ? j->seeds : 1;
}

/* Each schedule on the data of each seed. */
static cute_status run_checked(job_run *r, cute_diag *diag)
{
    const dist_job *j = r->job;
    for (int64_t s = 0; s < seeds_of(j); s++) {
        uint64_t seed = j->seed + (uint64_t)s;
        cute_ranks_step(j->ranks, "making the data");
        CUTE_TRY(fill_buffers(r, seed, diag));
        for (size_t i = 0; i < r->count; i++) {
            if (i) CUTE_TRY(poison_buffers(r, diag));
            CUTE_TRY(gemm_dist_run(r->dists[i], r->buffers, r->workspace, NULL, DIST_ALL, diag));
            CUTE_TRY(sync_all(r, diag));
            if (j->check) CUTE_TRY(check_result(r, seed, &r->trials[i].result, diag));
        }
    }
    add_trials(r);
    return CUTE_OK;
}

/* ---- times ---- */

typedef enum timed_work {
    TIME_PRODUCT,
    TIME_COLLECTIVE,
    TIME_SEQUENCE,
    TIME_CUBLAS,
    TIME_PEER,
    TIME_SCHEDULES /* and the number of one */
} timed_work;

static cute_status start_work(job_run *r, int work, cute_diag *diag)
{
    bool gathers_first = r->job->problem.split == DIST_N;
    switch (work) {
    case TIME_PRODUCT:
        return gemm_dist_run(r->sequence, r->buffers, r->workspace, NULL, DIST_PRODUCTS_ONLY, diag);
    case TIME_COLLECTIVE:
        return gemm_dist_run(r->sequence, r->buffers, r->workspace, NULL, DIST_COLLECTIVES_ONLY, diag);
    case TIME_SEQUENCE: return gemm_dist_run(r->sequence, r->buffers, r->workspace, NULL, DIST_ALL, diag);
    case TIME_CUBLAS: return cute_cublas_start(r->cublas, diag);
    case TIME_PEER:
        if (gathers_first) CUTE_TRY(start_work(r, TIME_COLLECTIVE, diag));
        CUTE_TRY(cute_cublas_start(r->cublas, diag));
        return gathers_first ? CUTE_OK : start_work(r, TIME_COLLECTIVE, diag);
    default:
        return gemm_dist_run(r->dists[work - TIME_SCHEDULES], r->buffers, r->workspace, NULL, DIST_ALL, diag);
    }
}

static int compare_seconds(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The median of SAMPLES runs that are started one behind the other. */
static cute_status time_work(job_run *r, int work, const char *name, double *out, cute_diag *diag)
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
    for (size_t i = 0; i < r->count; i++)
        CUTE_TRY(time_work(r, TIME_SCHEDULES + (int)i, "the schedule", &r->trials[i].seconds, diag));
    t->all = r->trials[0].seconds;
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

/* A schedule's trial with one more rank's record: the slowest rank's time, and all ranks' results. */
static void add_trial(dist_trial *t, const trial_record *record)
{
    dist_result_add(&t->result, &record->result);
    if (record->seconds > t->seconds) t->seconds = record->seconds;
}

static cute_status make_trials(job_run *r, cute_diag *diag)
{
    r->out->trials = cute_arena_array(r->arena, r->count, sizeof *r->out->trials);
    if (!r->out->trials) return cute_fail_memory(diag);
    r->out->trial_count = r->count;
    for (size_t i = 0; i < r->count; i++) r->out->trials[i].choice = r->choices[i];
    return CUTE_OK;
}

static cute_status exchange_trials(job_run *r, cute_diag *diag)
{
    const dist_job *j = r->job;
    size_t size = (size_t)j->problem.size;
    trial_record *all = cute_arena_array(r->arena, size, sizeof *all);
    if (!j->each) return CUTE_OK;
    if (!all) return cute_fail_memory(diag);
    CUTE_TRY(make_trials(r, diag));
    for (size_t i = 0; i < r->count; i++) {
        CUTE_TRY(cute_ranks_exchange(j->ranks, &r->trials[i], sizeof *all, all, diag));
        for (size_t k = 0; k < size; k++) add_trial(&r->out->trials[i], &all[k]);
    }
    return CUTE_OK;
}

/* All ranks have their records in `out`. */
static cute_status judge_records(const dist_problem *p, bool check, dist_outcome *out)
{
    int64_t bad = 0;
    out->has_digest = check;
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

static cute_status exchange_records(job_run *r, cute_diag *diag)
{
    const dist_problem *p = &r->job->problem;
    dist_outcome *out = r->out;
    out->records = cute_arena_array(r->arena, (size_t)p->size, sizeof *out->records);
    if (!out->records) return cute_fail_memory(diag);
    snprintf(r->own.device, sizeof r->own.device, "%.63s", r->job->device->info.name);
    CUTE_TRY(cute_ranks_exchange(r->job->ranks, &r->own, sizeof r->own, out->records, diag));
    CUTE_TRY(exchange_trials(r, diag));
    return judge_records(p, r->job->check, out);
}

/* The model's choice, or each schedule with the model's choice first. */
static cute_status choose_schedules(job_run *r, cute_diag *diag)
{
    const dist_job *j = r->job;
    dist_means means = {.puts = r->comm && cute_comm_puts(r->comm),
                        .reaches = r->comm && cute_comm_reaches(r->comm),
                        .inside = r->inside};
    dist_choice *chosen = &r->out->choice;
    CUTE_TRY(dist_choose(&j->problem, j->overlap, j->groups, means, &j->target, j->configuration, &j->network,
                         r->arena, chosen, diag));
    r->choices = chosen;
    r->count = 1;
    if (j->each)
        CUTE_TRY(dist_choose_each(&j->problem, j->overlap, j->groups, means, &j->target, j->configuration,
                                  &j->network, r->arena, &r->choices, &r->count, diag));
    for (size_t i = 1; i < r->count; i++) {
        const dist_schedule *s = &r->choices[i].schedule, *c = &chosen->schedule;
        if (s->overlap != c->overlap || s->groups != c->groups) continue;
        dist_choice first = r->choices[i];
        memmove(r->choices + 1, r->choices, i * sizeof *r->choices);
        r->choices[0] = first;
    }
    r->dists = cute_arena_array(r->arena, r->count, sizeof(gemm_dist *));
    r->trials = cute_arena_array(r->arena, r->count, sizeof *r->trials);
    return r->dists && r->trials ? CUTE_OK : cute_fail_memory(diag);
}

static cute_status run_job(job_run *r, cute_diag *diag)
{
    const dist_job *j = r->job;
    dist_outcome *out = r->out;
    CUTE_TRY(open_comm(r, diag));
    out->timed = !r->comm ? !j->device->ops->emulator : cute_comm_timed(r->comm);
    CUTE_TRY(choose_schedules(r, diag));
    CUTE_TRY(allocate_buffers(r, diag));
    CUTE_TRY(create_plans_in_turn(r, diag));
    CUTE_TRY(run_checked(r, diag));
    if (j->bench && out->timed) CUTE_TRY(time_all(r, diag));
    cute_ranks_step(j->ranks, "exchanging the results");
    return exchange_records(r, diag);
}

static void release_job(job_run *r)
{
    cute_cublas_close(r->cublas);
    for (size_t i = 0; r->dists && i < r->count; i++) gemm_dist_destroy(r->dists[i]);
    gemm_dist_destroy(r->sequence);
}

cute_status dist_job_run(const dist_job *job, cute_arena *arena, dist_outcome *out, cute_diag *diag)
{
    job_run r = {.job = job, .arena = arena, .out = out};
    *out = (dist_outcome){0};
    cute_status status = run_job(&r, diag);
    release_job(&r);
    cute_comm_close(r.comm);
    return status;
}

/* ---- all ranks in this process ---- */

static cute_status prepare_inside(job_run *runs, int size, cute_diag *diag)
{
    for (int i = 0; i < size; i++) CUTE_TRY(choose_schedules(&runs[i], diag));
    for (int i = 0; i < size; i++) CUTE_TRY(allocate_buffers(&runs[i], diag));
    for (int i = 0; i < size; i++) CUTE_TRY(create_plans(&runs[i], diag));
    return CUTE_OK;
}

/* A schedule's work is started on all ranks before any of it is executed. */
static cute_status run_schedule_inside(job_run *runs, int size, size_t schedule, uint64_t seed,
                                       cute_diag *diag)
{
    for (int i = 0; i < size && schedule; i++) CUTE_TRY(poison_buffers(&runs[i], diag));
    for (int i = 0; i < size; i++)
        CUTE_TRY(
            gemm_dist_run(runs[i].dists[schedule], runs[i].buffers, runs[i].workspace, NULL, DIST_ALL, diag));
    CUTE_TRY(sync_all(&runs[0], diag));
    for (int i = 0; i < size && runs[i].job->check; i++)
        CUTE_TRY(check_result(&runs[i], seed, &runs[i].trials[schedule].result, diag));
    return CUTE_OK;
}

static cute_status run_checked_inside(job_run *runs, int size, cute_diag *diag)
{
    const dist_job *j = runs[0].job;
    for (int64_t s = 0; s < seeds_of(j); s++) {
        uint64_t seed = j->seed + (uint64_t)s;
        for (int i = 0; i < size; i++) CUTE_TRY(fill_buffers(&runs[i], seed, diag));
        for (size_t k = 0; k < runs[0].count; k++) CUTE_TRY(run_schedule_inside(runs, size, k, seed, diag));
    }
    for (int i = 0; i < size; i++) add_trials(&runs[i]);
    return CUTE_OK;
}

static cute_status gather_records(job_run *runs, int size, cute_diag *diag)
{
    dist_outcome *out = runs[0].out;
    out->records = cute_arena_array(runs[0].arena, (size_t)size, sizeof *out->records);
    if (!out->records) return cute_fail_memory(diag);
    for (int i = 0; i < size; i++) {
        snprintf(runs[i].own.device, sizeof runs[i].own.device, "%.63s", runs[i].job->device->info.name);
        out->records[i] = runs[i].own;
    }
    if (runs[0].job->each) CUTE_TRY(make_trials(&runs[0], diag));
    for (size_t k = 0; k < out->trial_count; k++)
        for (int i = 0; i < size; i++) add_trial(&out->trials[k], &runs[i].trials[k]);
    return judge_records(&runs[0].job->problem, runs[0].job->check, out);
}

cute_status dist_job_run_inside(const dist_job *jobs, cute_team *team, cute_arena *arena, dist_outcome *out,
                                cute_diag *diag)
{
    int size = cute_team_size(team);
    dist_inside *inside = NULL;
    *out = (dist_outcome){0};
    job_run *runs = cute_arena_array(arena, (size_t)size, sizeof *runs);
    dist_outcome *outcomes = cute_arena_array(arena, (size_t)size, sizeof *outcomes);
    if (!runs || !outcomes) return cute_fail_memory(diag);
    cute_status status = dist_inside_open(team, jobs[0].target.arch, &inside, diag);
    if (status != CUTE_OK) return status;
    for (int i = 0; i < size; i++)
        runs[i] = (job_run){.job = &jobs[i],
                            .arena = arena,
                            .out = i ? &outcomes[i] : out,
                            .comm = size > 1 ? dist_inside_comm(inside, i) : NULL,
                            .inside = true};
    snprintf(out->provider, sizeof out->provider, "%s", size > 1 ? cute_comm_name(runs[0].comm) : "none");
    status = prepare_inside(runs, size, diag);
    if (status == CUTE_OK) status = run_checked_inside(runs, size, diag);
    if (status == CUTE_OK) status = gather_records(runs, size, diag);
    for (int i = 0; i < size; i++) release_job(&runs[i]);
    dist_inside_close(inside);
    return status;
}
