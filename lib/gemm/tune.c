/* Measures all algorithms for a problem and caches the fastest. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/abi.h"
#include "lib/base/devices/arch.h"
#include "lib/base/sort.h"
#include "lib/base/system/cache.h"
#include "lib/base/system/clock.h"
#include "lib/gemm/gemm.h"

enum { SAMPLES = 15, WARMUP = 3 };

typedef struct tuner {
    cute_device *device;
    const cute_gemm_problem *problem;
    cute_gemm_operands operands;
    cute_gemm_named *named; /* of an expression */
    cute_address *owned;
    size_t count;
    cute_device_event *begin, *end;
    cute_diag *diag;
} tuner;

/* Fills with random values from -1 to 1 (integers: -100 to 100): zeros draw less power, so clocks would be
 * higher. */
static cute_status allocate_matrix(tuner *t, int64_t elements, cute_dtype dtype, bool fill, cute_address *out)
{
    size_t size = (size_t)elements * (size_t)cute_dtype_get(dtype)->bytes;
    CUTE_TRY(cute_device_alloc(t->device, size, out, t->diag));
    t->owned[t->count++] = *out;
    if (!fill) return CUTE_OK;
    enum { CHUNK = 1 << 16 };
    size_t chunk = size < CHUNK ? size : CHUNK, bytes = (size_t)cute_dtype_get(dtype)->bytes;
    uint8_t *data = malloc(chunk);
    uint64_t state = 1;
    if (!data) return cute_fail_memory(t->diag);
    for (size_t i = 0; i + bytes <= chunk; i += bytes) {
        state = state * UINT64_C(6364136223846793005) + 1442695040888963407u;
        double value = (double)(int64_t)(state >> 11) * 0x1p-52 - 1; /* -1 to 1 */
        if (cute_dtype_get(dtype)->class == CUTE_CLASS_SIGNED) value = rint(value * 100);
        cute_dtype_store(dtype, data + i, 1, 1, &value);
    }
    cute_status status = CUTE_OK;
    for (size_t at = 0; at < size && status == CUTE_OK; at += chunk)
        status =
            cute_device_upload(t->device, *out + at, data, size - at < chunk ? size - at : chunk, t->diag);
    free(data);
    return status;
}

static cute_status add_named(tuner *t, const char *name, int64_t elements, cute_dtype dtype, bool fill)
{
    cute_gemm_named *n = &t->named[t->operands.named_count++];
    n->name = name;
    return allocate_matrix(t, elements, dtype, fill, &n->address);
}

/* Operands and results of an expression. */
static cute_status prepare_named(tuner *t, epilogue_tree *tree)
{
    CUTE_TRY(epilogue_run_passes(tree, "PassFixElementD", t->diag));
    t->operands.named = t->named;
    for (int i = 0; i < tree->count; i++) {
        const epilogue_node *n = tree->nodes[i];
        if (n->op != EPILOGUE_LOAD) continue;
        CUTE_TRY(add_named(t, n->name, epilogue_elements(tree, n->shape, n->batched), n->dtype, true));
    }
    for (int i = 0; i < tree->output_count; i++) {
        const epilogue_output *o = &tree->outputs[i];
        CUTE_TRY(add_named(t, o->name, epilogue_elements(tree, o->node->shape, true), o->dtype, false));
    }
    return CUTE_OK;
}

static cute_status prepare_operands(tuner *t, cute_arena *arena, const gemm_problem *p)
{
    size_t named = p->tree ? (size_t)(p->tree->count + p->tree->output_count) : 0;
    t->operands.size = sizeof t->operands;
    t->owned = cute_arena_array(arena, 5 + named, sizeof *t->owned);
    t->named = cute_arena_array(arena, 1 + named, sizeof *t->named);
    if (!t->owned || !t->named) return cute_fail_memory(t->diag);
    CUTE_TRY(cute_device_event_create(t->device, &t->begin, t->diag));
    CUTE_TRY(cute_device_event_create(t->device, &t->end, t->diag));
    CUTE_TRY(allocate_matrix(t, p->a.span, p->in, true, &t->operands.a));
    CUTE_TRY(allocate_matrix(t, p->b.span, p->in, true, &t->operands.b));
    if (p->tree) return prepare_named(t, p->tree);
    CUTE_TRY(allocate_matrix(t, p->d.span, p->out, false, &t->operands.d));
    if (p->given.beta != 0) CUTE_TRY(allocate_matrix(t, p->c.span, p->out, true, &t->operands.c));
    if (p->given.bias) CUTE_TRY(allocate_matrix(t, p->given.n, p->out, true, &t->operands.bias));
    return CUTE_OK;
}

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

static bool is_emulated(const cute_device *device)
{
    return strcmp(cute_device_get_info(device)->kind, "emulator") == 0;
}

/* The median of SAMPLES runs; on the emulator, one run. */
static cute_status measure_median(tuner *t, cute_gemm *gemm, double *out)
{
    double seconds[SAMPLES];
    bool emulated = is_emulated(t->device);
    int warmup = emulated ? 0 : WARMUP, samples = emulated ? 1 : SAMPLES;
    for (int i = -warmup; i < samples; i++) {
        double began = cute_clock();
        CUTE_TRY(cute_device_event_record(t->device, t->begin, t->diag));
        CUTE_TRY(cute_gemm_run(gemm, &t->operands, t->diag));
        CUTE_TRY(cute_device_event_record(t->device, t->end, t->diag));
        CUTE_TRY(cute_device_sync(t->device, t->diag));
        if (i < 0) continue;
        seconds[i] = cute_clock() - began;
        if (!emulated) CUTE_TRY(cute_device_elapsed(t->device, t->begin, t->end, &seconds[i], t->diag));
    }
    cute_sort(seconds, (size_t)samples, sizeof *seconds, compare_doubles);
    *out = seconds[samples / 2];
    return CUTE_OK;
}

static cute_status measure_algo(tuner *t, const cute_gemm_options *options, const gemm_algo *algo,
                                double *seconds)
{
    cute_gemm_options own = *options;
    cute_gemm *gemm;
    own.configuration = algo->name;
    *seconds = -1;
    t->operands.workspace = 0;
    CUTE_TRY(cute_gemm_create(t->problem, 1, &own, &gemm, t->diag));
    size_t size = cute_gemm_workspace(gemm);
    cute_status status = size ? cute_device_alloc(t->device, size, &t->operands.workspace, t->diag) : CUTE_OK;
    double found = -1;
    if (status == CUTE_OK) status = measure_median(t, gemm, &found);
    cute_gemm_destroy(gemm);
    if (t->operands.workspace) cute_device_free(t->device, t->operands.workspace, NULL);
    if (status == CUTE_OK) *seconds = found;
    return status;
}

/* Without those that differ from one before in the schedule alone: programs of an expression choose theirs. */
static size_t drop_equal_programs(gemm_algo *algos, size_t count)
{
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        const gemm_config *c = algos[i].config;
        bool equal = false;
        for (size_t k = 0; k < kept && !equal; k++) {
            const gemm_config *other = algos[k].config;
            equal = other->kernel == c->kernel && other->bm == c->bm && other->bn == c->bn &&
                    other->bk == c->bk && other->promotes == c->promotes &&
                    algos[k].vectors == algos[i].vectors;
        }
        if (!equal) algos[kept++] = algos[i];
    }
    return kept;
}

typedef void told_time(void *context, const char *configuration, size_t index, size_t count, double seconds);

static cute_status tune_problem(const cute_gemm_options *o, cute_arena *arena,
                                const cute_gemm_problem *problem, const gemm_problem *p, told_time *told,
                                void *context, cute_diag *diag)
{
    gemm_algo algos[GEMM_MAX_ALGOS];
    const char *best = NULL;
    double fastest = INFINITY;
    const cute_device_info *info = cute_device_get_info(o->device);
    const cute_arch *arch;
    CUTE_TRY(cute_arch_parse(o->arch ? o->arch : gemm_arch_for(info->arch), NULL, &arch, diag));
    gemm_target target = {arch->name, o->multiprocessors ? o->multiprocessors : info->multiprocessors};
    tuner t = {.device = o->device, .problem = problem, .diag = diag};
    size_t count = gemm_algos(p, 1, &target, algos, GEMM_MAX_ALGOS);
    if (p->tree) count = drop_equal_programs(algos, count);
    cute_status status = count ? prepare_operands(&t, arena, p) : gemm_fail_unsupported(p, 1, &target, diag);
    cute_diag *own = cute_diag_create();
    t.diag = own;
    for (size_t i = 0; status == CUTE_OK && i < count; i++) {
        double seconds = -1;
        cute_status tried = measure_algo(&t, o, &algos[i], &seconds);
        if (tried == CUTE_OK && seconds < fastest) {
            fastest = seconds;
            best = algos[i].name;
        }
        if (told) told(context, algos[i].name, i, count, seconds);
        for (size_t m = 0; tried != CUTE_OK && m < cute_diag_count(own); m++)
            cute_report(diag, m ? CUTE_NOTE : CUTE_WARNING, &cute_diag_get(own, m)->place, "%s: %s",
                        algos[i].name, cute_diag_get(own, m)->text);
        cute_diag_clear(own); /* remarks on an expression, too */
        if (tried != CUTE_OK && cute_device_sync(t.device, NULL) != CUTE_OK)
            break; /* the device has failed */
    }
    for (size_t i = 0; i < t.count; i++) cute_device_free(t.device, t.owned[i], NULL);
    cute_diag_destroy(own);
    if (status != CUTE_OK) return status;
    if (!best) return cute_fail(diag, CUTE_INVALID, NULL, "no configuration could be measured");
    gemm_tuned_put(p, &target, info->name, cute_cache_folder(arena, o->cache), best, fastest,
                   is_emulated(o->device));
    return CUTE_OK;
}

cute_status cute_gemm_tune(const cute_gemm_problem *problem, const cute_gemm_options *options,
                           void (*told)(void *context, const char *configuration, size_t index, size_t count,
                                        double seconds),
                           void *context, cute_diag *diag)
{
    cute_gemm_options o;
    gemm_problem p;
    CUTE_TRY(cute_struct_read(&o, sizeof o, options, "cute_gemm_options", diag));
    if (!o.device) return cute_fail(diag, CUTE_USAGE, NULL, "expected a device to measure on, got none");
    CUTE_TRY(gemm_problem_read(problem, -1, &p, diag));
    cute_arena *arena = cute_arena_create();
    if (!arena) return cute_fail_memory(diag);
    cute_status status = p.given.epilogue ? gemm_expression_read(arena, &p, diag) : CUTE_OK;
    if (status == CUTE_OK) status = tune_problem(&o, arena, problem, &p, told, context, diag);
    cute_arena_destroy(arena);
    return status;
}
