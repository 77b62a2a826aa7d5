/* Timing, in the child. The plan and its baselines alternate sample by sample, so that all run at the same
 * clocks. */
#include <stdlib.h>
#include <string.h>

#include "lib/device/cublas.h"
#include "lib/launch/run.h"

enum { MIN_FLUSH_BYTES = 64 << 20, MAX_BATCH = 1000 };

typedef struct contender {
    size_t which; /* index of the sequence */
    config_peer peer;
    cute_address from, to;
    size_t bytes;
    int64_t batch;
    int64_t lead; /* untimed batches before a sample */
    cute_cublas *cublas;
    cute_device_graph *graph; /* `batch` runs; NULL with event timing */
} contender;

typedef struct bench {
    run_child *child;
    cute_device *device;
    const config_bench *config;
    contender *contenders;
    size_t count;
    cute_address flush;
    size_t flush_bytes;
    cute_device_event *begin, *end;
} bench;

static cute_status start_once(const bench *b, const contender *c, cute_diag *diag)
{
    if (c->peer == PEER_MEMCPY) return cute_device_copy(b->device, c->to, c->from, c->bytes, diag);
    if (c->peer == PEER_MEMSET) return cute_device_fill(b->device, c->to, 0, c->bytes, diag);
    if (c->peer == PEER_CUBLAS) return cute_cublas_start(c->cublas, diag);
    return run_start_sequence(b->child, c->which, diag);
}

static cute_status start_batch(const bench *b, const contender *c, cute_diag *diag)
{
    if (c->graph) return cute_device_graph_start(b->device, c->graph, diag);
    for (int64_t i = 0; i < c->batch; i++) CUTE_TRY(start_once(b, c, diag));
    return CUTE_OK;
}

/* The L2 flush or untimed batches before the first event keep the device busy while the host enqueues the
 * timed batch. Otherwise launch latency would be measured. */
static cute_status take_sample(const bench *b, const contender *c, double *seconds, cute_diag *diag)
{
    if (b->config->cold) CUTE_TRY(cute_device_fill(b->device, b->flush, 0, b->flush_bytes, diag));
    for (int64_t i = 0; i < c->lead; i++) CUTE_TRY(start_batch(b, c, diag));
    CUTE_TRY(cute_device_event_record(b->device, b->begin, diag));
    CUTE_TRY(start_batch(b, c, diag));
    CUTE_TRY(cute_device_event_record(b->device, b->end, diag));
    CUTE_TRY(cute_device_sync(b->device, diag));
    CUTE_TRY(cute_device_elapsed(b->device, b->begin, b->end, seconds, diag));
    *seconds /= (double)c->batch;
    run_progress(b->child);
    return CUTE_OK;
}

static cute_status make_graph(const bench *b, contender *c, cute_diag *diag)
{
    CUTE_TRY(cute_device_graph_begin(b->device, diag));
    for (int64_t i = 0; i < c->batch; i++) CUTE_TRY(start_once(b, c, diag));
    return cute_device_graph_end(b->device, &c->graph, diag);
}

/* Batches runs up to about 50 us, because events have a resolution of 0.5 us; and chooses the batches before a sample. */
static cute_status choose_batch(const bench *b, contender *c, cute_diag *diag)
{
    const double min_seconds = 50e-6;
    double seconds;
    c->batch = b->config->batch ? b->config->batch : 1;
    c->lead = b->config->cold ? 0 : 1;
    CUTE_TRY(start_once(b, c, diag));
    CUTE_TRY(take_sample(b, c, &seconds, diag));
    if (!b->config->cold && !b->config->batch && seconds < min_seconds)
        c->batch = seconds > min_seconds / MAX_BATCH ? (int64_t)(min_seconds / seconds) + 1 : MAX_BATCH;
    double batch = seconds * (double)c->batch, shortest = min_seconds / MAX_BATCH;
    c->lead += (int64_t)(b->config->lead / (batch > shortest ? batch : shortest));
    return CUTE_OK;
}

static cublas_matrix cublas_matrix_of(const bench *b, const config_buffer *buffer)
{
    const cute_tensor *t = &buffer->tensor;
    const int64_t *strides = t->strides + t->rank - 2, *shape = t->shape + t->rank - 2;
    /* For a single row or column, either order fits. */
    bool by_rows = strides[1] == 1 && (strides[0] != 1 || shape[1] == 1);
    int64_t ld = by_rows ? strides[0] : strides[1], least = by_rows ? shape[1] : shape[0];
    return (cublas_matrix){.address = run_address(b->child, buffer),
                           .by_rows = by_rows,
                           .ld = ld < least ? least : ld,
                           .stride = t->rank == 3 ? t->strides[0] : 0};
}

static cute_status make_cublas(const bench *b, const config_product *p, contender *c, cute_diag *diag)
{
    const cute_tensor *a = &p->a->tensor, *d = &p->d->tensor;
    cublas_product product = {.type = cute_dtype_get(a->dtype)->name,
                              .type_d = cute_dtype_get(d->dtype)->name,
                              .m = d->shape[d->rank - 2],
                              .n = d->shape[d->rank - 1],
                              .k = a->shape[a->rank - 1],
                              .batch = d->rank == 3 ? d->shape[0] : 1,
                              .a = cublas_matrix_of(b, p->a),
                              .b = cublas_matrix_of(b, p->b),
                              .c = cublas_matrix_of(b, p->c ? p->c : p->d),
                              .d = cublas_matrix_of(b, p->d),
                              .bias = p->bias ? run_address(b->child, p->bias) : 0,
                              .activation = (cublas_activation)p->activation,
                              .fast = p->fast,
                              .alpha = p->alpha,
                              .beta = p->beta};
    return cute_cublas_open(b->device, &product, &c->cublas, diag);
}

static cute_status make_contender(bench *b, const config_baseline *baseline, contender *c, cute_diag *diag)
{
    c->peer = baseline->peer;
    if (c->peer == PEER_LAUNCHES) return CUTE_OK;
    if (c->peer == PEER_CUBLAS) return make_cublas(b, &baseline->product, c, diag);
    /* A copy's traffic is twice its size. */
    c->bytes = (size_t)(c->peer == PEER_MEMCPY ? baseline->bytes / 2 : baseline->bytes);
    CUTE_TRY(cute_device_alloc(b->device, c->bytes, &c->to, diag));
    if (c->peer == PEER_MEMSET) return CUTE_OK;
    CUTE_TRY(cute_device_alloc(b->device, c->bytes, &c->from, diag));
    return cute_device_fill(b->device, c->from, 1, c->bytes, diag);
}

static cute_status prepare_bench(bench *b, cute_diag *diag)
{
    const cute_device_info *info = cute_device_get_info(b->device);
    CUTE_TRY(cute_device_event_create(b->device, &b->begin, diag));
    CUTE_TRY(cute_device_event_create(b->device, &b->end, diag));
    b->flush_bytes = (size_t)info->l2 * 2 > MIN_FLUSH_BYTES ? (size_t)info->l2 * 2 : MIN_FLUSH_BYTES;
    if (b->config->cold) CUTE_TRY(cute_device_alloc(b->device, b->flush_bytes, &b->flush, diag));
    for (size_t i = 0; i < b->count; i++) {
        contender *c = &b->contenders[i];
        c->which = i;
        c->peer = PEER_LAUNCHES;
        if (i) CUTE_TRY(make_contender(b, &b->config->baselines[i - 1], c, diag));
        CUTE_TRY(choose_batch(b, c, diag));
        if (b->config->graph) CUTE_TRY(make_graph(b, c, diag));
    }
    return CUTE_OK;
}

cute_status run_bench(run_child *child, const run_request *request, run_samples *samples, cute_diag *diag)
{
    bench b = {.child = child, .device = run_device(child), .config = &request->config->bench};
    double unused;
    b.count = 1 + b.config->baseline_count;
    b.contenders = calloc(b.count, sizeof *b.contenders);
    if (!b.contenders) return cute_fail_memory(diag);
    cute_status status = prepare_bench(&b, diag);
    for (int64_t s = 0; s < b.config->warmup && status == CUTE_OK; s++)
        for (size_t i = 0; i < b.count && status == CUTE_OK; i++)
            status = take_sample(&b, &b.contenders[i], &unused, diag);
    for (int64_t s = 0; s < b.config->samples && status == CUTE_OK; s++)
        for (size_t i = 0; i < b.count && status == CUTE_OK; i++)
            status = take_sample(&b, &b.contenders[i], &samples[i].seconds[s], diag);
    for (size_t i = 0; i < b.count; i++) samples[i].batch = b.contenders[i].batch;
    for (size_t i = 0; i < b.count; i++) cute_cublas_close(b.contenders[i].cublas);
    free(b.contenders);
    return status;
}
