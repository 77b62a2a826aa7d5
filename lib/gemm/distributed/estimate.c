/* The time of a distributed product's steps by the models of products and links, and the choice among schedules. */
#include <stdio.h>
#include <string.h>

#include "lib/gemm/distributed/distributed.h"

/* Multiprocessors that are left to NCCL's kernels while a product runs beside them; puts use the copy engines. A product on all of them
 * would have its last blocks start when the collective ends. An estimate: NCCL starts 16 to 32 blocks on NVLink. */
enum { NCCL_BLOCKS = 16 };
/* A counter that a stream writes in another rank's memory. An estimate. */
static const double signal_seconds = 2e-6;
/* The tile program that adds parts: its launch, and the fraction of the bandwidth of memory. Estimates. */
static const double sum_launch = 3e-6, sum_efficiency = 0.7;

/* The slowdown of a product beside traffic to other devices: a fraction of its time, and seconds of all groups that NCCL sends, whose kernels and
 * the product's blocks wait for each other. Least squares of bench/ranks/h200x2.csv (docs/ranks.md). */
typedef struct traffic_loss {
    double fraction, group;
} traffic_loss;

static traffic_loss loss_of(const dist_schedule *s)
{
    if (s->puts) return (traffic_loss){0.05, 0};
    switch (s->overlap) {
    case DIST_PEER: return (traffic_loss){0.10, 0};
    case DIST_SIGNAL: return (traffic_loss){0.03, 32e-6 * (double)s->groups};
    case DIST_PARTS: return (traffic_loss){0.01, 9e-6};
    default: return (traffic_loss){0};
    }
}

int64_t dist_multiprocessors(const dist_schedule *s, int64_t all)
{
    bool beside = s->overlap != DIST_SEQUENCE && s->overlap != DIST_PEER && !s->puts;
    return beside && all > 2 * NCCL_BLOCKS ? all - NCCL_BLOCKS : all;
}

/* ---- one step ---- */

typedef struct estimator {
    const dist_problem *p;
    const dist_schedule *schedule;
    const gemm_target *target;
    const char *configuration;
    const cute_model_network *network;
    dist_shard own;
    int64_t rows; /* of the latest product, and its seconds */
    double seconds;
} estimator;

/* The rank's product of so many rows without an expression, which has no configurations of its own. */
static cute_status read_product(const dist_problem *p, int64_t rows, gemm_problem *out, cute_diag *diag)
{
    dist_shard own = dist_shard_of(p, p->rank);
    cute_gemm_problem given = p->whole;
    given.epilogue = NULL;
    given.type_d = cute_dtype_get(p->sums)->name;
    if (dist_result_of(p) != DIST_D) {
        given.beta = 0;
        given.bias = false;
        given.activation = CUTE_GEMM_LINEAR;
        given.order_d = CUTE_GEMM_ROWS;
    }
    given.m = rows;
    given.n = own.n;
    given.k = own.k;
    given.batch = dist_launch_batch(p);
    return gemm_problem_read(&given, -1, out, diag);
}

static cute_status product_seconds(estimator *e, int64_t rows, double *out, cute_diag *diag)
{
    const dist_schedule *s = e->schedule;
    if (rows != e->rows) {
        gemm_problem read;
        gemm_algo algo;
        CUTE_TRY(read_product(e->p, rows, &read, diag));
        gemm_target target = {e->target->arch, dist_multiprocessors(s, e->target->multiprocessors)};
        const char *configuration = s->tiles.m ? s->tiles.configuration : e->configuration;
        CUTE_TRY(gemm_choose(&read, 1, &target, configuration, NULL, NULL, &algo, diag));
        e->rows = rows;
        traffic_loss loss = loss_of(s);
        e->seconds = algo.seconds * (double)(e->p->whole.batch / dist_launch_batch(e->p));
        e->seconds = e->seconds * (1 + loss.fraction) + loss.group;
    }
    *out = e->seconds;
    return CUTE_OK;
}

/* An epilogue of its own reads the sums and its operands and writes its results. */
static double epilogue_seconds(const estimator *e)
{
    cute_model_device device;
    double bytes = 0;
    cute_model_measured(e->target->multiprocessors, &device);
    for (int i = DIST_D; i < DIST_BUFFERS; i++) {
        dist_matrix m = dist_matrix_of(e->p, (dist_buffer)i, e->p->rank);
        if (i != DIST_P) bytes += (double)dist_matrix_bytes(&m);
    }
    return cute_model_elementwise(&device, bytes);
}

/* The sum reads the parts of all ranks. */
static double sum_seconds(const estimator *e, int64_t rows)
{
    cute_model_device device;
    double elements = (double)(e->p->size + 1) * (double)rows * (double)e->own.n * (double)e->p->whole.batch;
    cute_model_measured(e->target->multiprocessors, &device);
    return sum_launch + elements * (double)cute_dtype_get(e->p->sums)->bytes / (device.dram * sum_efficiency);
}

/* Bytes that a product of PEER stores to others: the link takes as long. */
static double peer_bytes(const estimator *e, const dist_step *s)
{
    const dist_problem *p = e->p;
    double own = (double)s->rows * (double)e->own.n * (double)cute_dtype_get(p->sums)->bytes;
    if (e->schedule->overlap != DIST_PEER) return 0;
    own *= (double)p->whole.batch;
    return p->split == DIST_K ? (s->peer == p->rank ? 0 : own) : own * (p->size - 1);
}

static cute_model_exchange exchange_of(comm_kind kind)
{
    switch (kind) {
    case COMM_ALL_REDUCE: return CUTE_MODEL_ALL_REDUCE;
    case COMM_ALL_GATHER:
    case COMM_REDUCE_SCATTER: return CUTE_MODEL_ALL_GATHER;
    case COMM_BROADCAST:
    case COMM_REDUCE: return CUTE_MODEL_BROADCAST;
    default: return CUTE_MODEL_SEND;
    }
}

/* A group starts together: its first step has the latency. A receive and a wait take as long as the other rank's send. */
static void collective_seconds(const estimator *e, const dist_step *s, double *seconds, double *bytes)
{
    cute_dtype dtype = dist_matrix_of(e->p, s->from, e->p->rank).dtype;
    double own = (double)s->count * (double)cute_dtype_get(dtype)->bytes;
    cute_model_exchange exchange = exchange_of(s->call);
    int size = e->p->size;
    *bytes = *seconds = 0;
    if (s->call == COMM_RECV || s->call == COMM_WAIT) return;
    if (s->call == COMM_PUT && !s->count) {
        *seconds = signal_seconds;
        return;
    }
    bool sends = s->call != COMM_BROADCAST || s->peer == e->p->rank;
    *bytes = sends ? cute_model_exchange_bytes(exchange, size, own) : 0;
    *seconds = cute_model_exchange_seconds(e->network, exchange, size, own);
    if (!s->begins) *seconds -= cute_model_exchange_seconds(e->network, exchange, size, 0);
}

/* ---- all steps ---- */

cute_status dist_estimate_of(const dist_problem *p, const dist_schedule *s, const gemm_target *target,
                             const char *configuration, const cute_model_network *network, cute_arena *arena,
                             dist_estimate *out, cute_diag *diag)
{
    estimator e = {p, s, target, configuration, network, dist_shard_of(p, p->rank), -1, 0};
    double product_begin = 0, now[DIST_STREAMS] = {0},
           *events = cute_arena_array(arena, (size_t)s->events + 1, sizeof *events);
    *out = (dist_estimate){.seconds = cute_arena_array(arena, s->count + 1, sizeof *out->seconds),
                           .begins = cute_arena_array(arena, s->count + 1, sizeof *out->begins),
                           .step_bytes = cute_arena_array(arena, s->count + 1, sizeof *out->step_bytes)};
    if (!events || !out->seconds || !out->begins || !out->step_bytes) return cute_fail_memory(diag);
    for (size_t i = 0; i < s->count; i++) {
        const dist_step *step = &s->steps[i];
        double *at = &now[step->stream], *seconds = &out->seconds[i];
        if (step->kind == DIST_PRODUCT) product_begin = *at;
        if (step->kind == DIST_AWAIT) { /* tiles are computed in the order of rows */
            double done = product_begin + e.seconds * (double)(step->first + step->rows) / (double)e.rows;
            if (done > *at) *at = done;
        }
        if (step->kind == DIST_WAIT && events[step->event] > *at) *at = events[step->event];
        if (step->kind == DIST_RECORD) events[step->event] = *at;
        out->begins[i] = *at;
        if (step->kind == DIST_PRODUCT) {
            CUTE_TRY(product_seconds(&e, step->rows, seconds, diag));
            out->step_bytes[i] = peer_bytes(&e, step);
            double link = out->step_bytes[i] > 0 ? cute_model_exchange_seconds(network, CUTE_MODEL_SEND,
                                                                               p->size, out->step_bytes[i])
                                                 : 0;
            if (link > *seconds) *seconds = link;
        }
        if (step->kind == DIST_ARRIVE && now[0] > *at)
            *at = now[0]; /* all ranks end at about the same time */
        if (step->kind == DIST_ARRIVE) out->begins[i] = *at;
        if (step->kind == DIST_SUM) *seconds = sum_seconds(&e, step->rows);
        if (step->kind == DIST_EPILOGUE) *seconds = epilogue_seconds(&e);
        if (step->kind == DIST_COLLECTIVE) collective_seconds(&e, step, seconds, &out->step_bytes[i]);
        *(step->kind == DIST_COLLECTIVE ? &out->collective : &out->product) += *seconds;
        out->bytes += out->step_bytes[i];
        *at += *seconds;
    }
    out->total = now[0] > now[1] ? now[0] : now[1];
    return CUTE_OK;
}

/* ---- the choice ---- */

typedef struct candidate {
    dist_overlap overlap;
    int64_t groups;
} candidate;

enum { MOST_CANDIDATES = 12 };

/* The tiles of rank 0's whole product, if its kernel counts them. */
static cute_status find_tiles(const dist_problem *p, const gemm_target *target, const char *configuration,
                              dist_tiles *out, cute_diag *diag)
{
    dist_shard own = dist_shard_of(p, p->rank);
    gemm_problem read;
    gemm_algo algo;
    bool fused = dist_result_of(p) == DIST_D && p->read.tree;
    *out = (dist_tiles){0};
    if (fused || !own.m || !own.n || !own.k) return CUTE_OK;
    CUTE_TRY(read_product(p, own.m, &read, diag));
    if (configuration) {
        CUTE_TRY(gemm_choose(&read, 1, target, configuration, NULL, NULL, &algo, diag));
    } else { /* the fastest that does */
        gemm_algo all[GEMM_MAX_ALGOS];
        size_t count = gemm_algos(&read, 1, target, all, GEMM_MAX_ALGOS), i = 0;
        while (i < count && !gemm_signal_supports(&all[i])) i++;
        if (i == count) return CUTE_OK;
        algo = all[i];
    }
    if (!gemm_signal_supports(&algo)) return CUTE_OK;
    out->m = algo.config->bm;
    out->n = algo.config->bn;
    snprintf(out->configuration, sizeof out->configuration, "%s", algo.name);
    return CUTE_OK;
}

static int list_candidates(const dist_problem *p, dist_overlap overlap, int64_t groups, dist_means means,
                           const dist_tiles *tiles, candidate *out)
{
    bool scatters = dist_scatters(p);
    dist_overlap own = p->split == DIST_N ? DIST_ROTATE : DIST_SIGNAL;
    int64_t last = -1; /* rows of a group: with few rows of tiles more groups are the same */
    int count = 0;
    if (overlap == DIST_AUTO || overlap == DIST_SEQUENCE || p->size == 1)
        out[count++] = (candidate){DIST_SEQUENCE, 0};
    if (p->size == 1 || overlap == DIST_SEQUENCE || p->whole_rows) return count;
    if (own == DIST_ROTATE) {
        out[count++] = (candidate){DIST_ROTATE, 0};
        return count;
    }
    bool peers = p->split != DIST_N && !dist_peers_lack(p, tiles, means);
    means.inside = means.inside && p->split == DIST_K; /* rows are sent by puts, sums by collectives */
    if (means.inside && !peers && !count) out[count++] = (candidate){DIST_SEQUENCE, 0};
    if (peers && (overlap == DIST_AUTO || overlap == DIST_PEER)) out[count++] = (candidate){DIST_PEER, 0};
    if ((peers && overlap == DIST_PEER) || means.inside) return count;
    for (int64_t parts = scatters ? p->size : 2, i = 0; i < (groups ? 1 : 4); i++, parts *= 2) {
        int64_t of = groups ? groups : parts, rows = 0;
        bool counts = dist_tiles_fit(p, tiles, of, &rows), same = rows == last;
        last = rows;
        if (overlap != DIST_PARTS && overlap != DIST_PEER && counts && !same)
            out[count++] = (candidate){DIST_SIGNAL, of};
        if (overlap != DIST_SIGNAL || !counts) out[count++] = (candidate){DIST_PARTS, of};
    }
    return count;
}

/* A candidate's schedule of this rank, with its estimate and that of the sequence. */
static cute_status make_choice(const dist_problem *p, const candidate *c, dist_means means,
                               const dist_tiles *tiles, const gemm_target *target, const char *configuration,
                               const cute_model_network *network, cute_arena *arena, dist_choice *out,
                               cute_diag *diag)
{
    dist_schedule sequence;
    CUTE_TRY(dist_schedule_build(p, DIST_SEQUENCE, 0, means, NULL, arena, &sequence, diag));
    CUTE_TRY(dist_estimate_of(p, &sequence, target, configuration, network, arena, &out->sequence, diag));
    CUTE_TRY(dist_schedule_build(p, c->overlap, c->groups, means, tiles, arena, &out->schedule, diag));
    return dist_estimate_of(p, &out->schedule, target, configuration, network, arena, &out->estimate, diag);
}

cute_status dist_choose(const dist_problem *p, dist_overlap overlap, int64_t groups, dist_means means,
                        const gemm_target *target, const char *configuration,
                        const cute_model_network *network, cute_arena *arena, dist_choice *out,
                        cute_diag *diag)
{
    candidate list[MOST_CANDIDATES], best = {DIST_SEQUENCE, 0};
    dist_problem first = *p; /* rank 0 has the most: all ranks decide by it */
    double least = 0;
    first.rank = 0;
    dist_tiles tiles;
    CUTE_TRY(find_tiles(&first, target, configuration, &tiles, diag));
    int count = list_candidates(&first, overlap, groups, means, &tiles, list);
    for (int i = 0; i < count; i++) {
        dist_choice one;
        CUTE_TRY(
            make_choice(&first, &list[i], means, &tiles, target, configuration, network, arena, &one, diag));
        if (i && one.estimate.total >= least) continue;
        least = one.estimate.total;
        best = list[i];
    }
    CUTE_TRY(make_choice(p, &best, means, &tiles, target, configuration, network, arena, out, diag));
    bool wanted = overlap == DIST_PEER || (means.foreign && p->split != DIST_N);
    out->lack = wanted && p->size > 1 ? dist_peers_lack(&first, &tiles, means) : NULL;
    return CUTE_OK;
}

cute_status dist_choose_each(const dist_problem *p, dist_overlap overlap, int64_t groups, dist_means means,
                             const gemm_target *target, const char *configuration,
                             const cute_model_network *network, cute_arena *arena, dist_choice **out,
                             size_t *count, cute_diag *diag)
{
    candidate list[MOST_CANDIDATES];
    dist_problem first = *p;
    dist_tiles tiles;
    first.rank = 0;
    CUTE_TRY(find_tiles(&first, target, configuration, &tiles, diag));
    *count = (size_t)list_candidates(&first, overlap, groups, means, &tiles, list);
    if (!(*out = cute_arena_array(arena, *count + 1, sizeof **out))) return cute_fail_memory(diag);
    for (size_t i = 0; i < *count; i++)
        CUTE_TRY(
            make_choice(p, &list[i], means, &tiles, target, configuration, network, arena, &(*out)[i], diag));
    return CUTE_OK;
}

void dist_choice_explain(const dist_problem *p, const dist_choice *c, cute_diag *diag)
{
    const dist_estimate *e = &c->estimate, *s = &c->sequence;
    if (p->size == 1) return;
    dist_problem_explain(p, diag);
    if (c->lack) cute_report(diag, CUTE_REMARK, NULL, "not peer: %s", c->lack);
    if (c->schedule.overlap == DIST_SEQUENCE) {
        cute_report(diag, CUTE_REMARK, NULL,
                    "sequence: the product (%.1f us) and its %s (%.1f us) one after the other; no overlap is "
                    "estimated to "
                    "be faster",
                    s->product * 1e6, comm_kind_name(p->collective), s->collective * 1e6);
        return;
    }
    cute_report(diag, CUTE_REMARK, NULL,
                "%s, %lld %s: estimated %.1f us instead of %.1f us in sequence: %.1f us of products "
                "beside %.1f us of "
                "collectives%s",
                dist_overlap_name(c->schedule.overlap),
                (long long)(c->schedule.groups ? c->schedule.groups : p->size),
                c->schedule.overlap == DIST_SIGNAL ? "groups of tiles of one launch"
                : c->schedule.overlap == DIST_PEER ? "ranks, whose epilogues store into the others' memory"
                                                   : "parts",
                e->total * 1e6, s->total * 1e6, e->product * 1e6, e->collective * 1e6,
                c->schedule.overlap != DIST_ROTATE ? (c->schedule.puts ? "; rows are sent by puts" : "")
                : c->schedule.puts                 ? "; shards arrive by puts"
                                   : "; shards arrive by send and recv, as there are no puts");
}
