/* Reads "check" and "bench" of launch.json. */
#include <string.h>

#include "lib/launch/config/config.h"

static void read_tolerances(const json_t *value, config_check *out)
{
    const json_t *rtol = json_object_get(value, "rtol"), *atol = json_object_get(value, "atol");
    const json_t *ulp = json_object_get(value, "ulp"), *nan_equal = json_object_get(value, "nan_equal");
    const cute_dtype_info *info = cute_dtype_get(out->buffer->tensor.dtype);
    bool given = rtol || atol || ulp;
    out->rtol = given ? json_number_value(rtol) : info->rtol;
    out->atol = given ? json_number_value(atol) : info->atol;
    out->ulp = ulp ? json_integer_value(ulp) : -1;
    out->nan_equal = !nan_equal || json_is_true(nan_equal);
}

static cute_status read_sample(const cute_config *config, const json_t *value, config_check *out,
                               cute_diag *diag)
{
    const json_t *sample = json_object_get(value, "sample");
    if (!sample) return CUTE_OK;
    const cute_path *at = config_member(config, out->path, "sample");
    CUTE_TRY(config_integer(config, sample, at, &out->sample, diag));
    if (out->sample < 1)
        return cute_document_fail(&config->document, at, false, diag, "expected at least 1 sample, got %lld",
                                  (long long)out->sample);
    return CUTE_OK;
}

static cute_status read_operands(const cute_config *config, const json_t *value, config_check *out,
                                 cute_diag *diag)
{
    const json_t *list = json_object_get(value, "operands");
    if (!list)
        return cute_document_fail(&config->document, out->path, false, diag,
                                  "expected 'operands', the buffers of the einsum, got none");
    const cute_path *at = config_member(config, out->path, "operands");
    out->operand_count = (int)json_array_size(list);
    for (int i = 0; i < out->operand_count; i++) {
        const char *name = json_string_value(json_array_get(list, (size_t)i));
        CUTE_TRY(
            config_find_buffer(config, name, config_element(config, at, (size_t)i), &out->operands[i], diag));
    }
    return CUTE_OK;
}

/* Reads the expected values, given by exactly one of the keys. */
static cute_status read_expected(const cute_config *config, const json_t *value, config_check *out,
                                 cute_diag *diag)
{
    static const char *const keys[] = {"expr", "einsum", "npy", "raw"}; /* in the order of config_expected */
    int found = 0;
    for (int i = 0; i < 4; i++) {
        if (!json_object_get(value, keys[i])) continue;
        if (found++)
            return cute_document_fail(&config->document, config_member(config, out->path, keys[i]), true,
                                      diag, "expected one of expr, einsum, npy and raw, got several");
        out->kind = (config_expected)i;
    }
    if (!found)
        return cute_document_fail(&config->document, out->path, false, diag,
                                  "expected one of expr, einsum, npy and raw, got none");
    const json_t *item = json_object_get(value, keys[out->kind]);
    const cute_path *at = config_member(config, out->path, keys[out->kind]);
    switch (out->kind) {
    case EXPECT_EXPR: CUTE_TRY(config_expr(config, item, at, &out->expr, diag)); break;
    case EXPECT_EINSUM:
        out->einsum = json_string_value(item);
        CUTE_TRY(read_operands(config, value, out, diag));
        break;
    default:
        out->file = config_file(config, json_string_value(item));
        if (!out->file) return cute_fail_memory(diag);
    }
    static const char *const only_einsum[] = {"operands", "epilogue"};
    for (int i = 0; i < 2 && out->kind != EXPECT_EINSUM; i++)
        if (json_object_get(value, only_einsum[i]))
            return cute_document_fail(&config->document, config_member(config, out->path, only_einsum[i]),
                                      true, diag, "'%s' requires 'einsum'", only_einsum[i]);
    return CUTE_OK;
}

/* Expected values near a threshold: of elements, or of bits of integers. */
static cute_status read_uncertain(const cute_config *config, const json_t *value, config_check *out,
                                  cute_diag *diag)
{
    const json_t *elements = json_object_get(value, "uncertain"),
                 *bits = json_object_get(value, "uncertain_bits");
    if (!elements && !bits) return CUTE_OK;
    const cute_path *at = config_member(config, out->path, bits ? "uncertain_bits" : "uncertain");
    if (elements && bits)
        return cute_document_fail(&config->document, at, true, diag,
                                  "expected one of uncertain and uncertain_bits, got both");
    const cute_dtype_info *dtype = cute_dtype_get(out->buffer->tensor.dtype);
    if (bits && dtype->class != CUTE_CLASS_SIGNED && dtype->class != CUTE_CLASS_UNSIGNED)
        return cute_document_fail(&config->document, at, true, diag,
                                  "'uncertain_bits' requires a buffer of integers, got %s", dtype->name);
    out->uncertain_bits = bits != NULL;
    return config_expr(config, bits ? bits : elements, at, &out->uncertain, diag);
}

static cute_status read_check(const cute_config *config, const json_t *value, config_check *out,
                              cute_diag *diag)
{
    const char *word = json_string_value(value);
    read_tolerances(value, out);
    CUTE_TRY(config_names(config, json_object_get(value, "index"), out->path, out->buffer->tensor.rank,
                          out->index_names, diag));
    if (word) {
        size_t length = strlen(word);
        if (length > 4 && strcmp(word + length - 4, ".npy") == 0) {
            out->kind = EXPECT_NPY;
            out->file = config_file(config, word);
            return out->file ? CUTE_OK : cute_fail_memory(diag);
        }
        out->kind = EXPECT_EXPR;
        return config_expr(config, value, out->path, &out->expr, diag);
    }
    CUTE_TRY(read_sample(config, value, out, diag));
    CUTE_TRY(read_expected(config, value, out, diag));
    const json_t *epilogue = json_object_get(value, "epilogue"), *where = json_object_get(value, "where");
    if (epilogue)
        CUTE_TRY(config_expr(config, epilogue, config_member(config, out->path, "epilogue"), &out->epilogue,
                             diag));
    if (where)
        CUTE_TRY(config_expr(config, where, config_member(config, out->path, "where"), &out->where, diag));
    return read_uncertain(config, value, out, diag);
}

cute_status config_read_checks(cute_config *config, cute_diag *diag)
{
    json_t *checks = json_object_get(config->document.root, "check"), *value;
    config->checks = cute_arena_array(config->arena, json_object_size(checks) + 1, sizeof *config->checks);
    if (!config->checks) return cute_fail_memory(diag);
    const cute_path *base = config_member(config, NULL, "check");
    const char *name;
    json_object_foreach(checks, name, value)
    {
        config_check *out = &config->checks[config->check_count++];
        out->path = config_member(config, base, name);
        CUTE_TRY(config_find_buffer(config, name, out->path, &out->buffer, diag));
        CUTE_TRY(read_check(config, value, out, diag));
        out->buffer->checked = true;
    }
    return CUTE_OK;
}

/* ---- bench ---- */

static cute_status read_amount(const cute_config *config, const json_t *value, const char *key,
                               const cute_path *path, double *out, cute_diag *diag)
{
    const json_t *item = json_object_get(value, key);
    if (!item) return CUTE_OK;
    const cute_path *at = config_member(config, path, key);
    CUTE_TRY(config_real(config, item, at, out, diag));
    if (!(*out >= 0))
        return cute_document_fail(&config->document, at, false, diag, "expected at least 0, got %g", *out);
    return CUTE_OK;
}

/* A matrix of a product, a batch of them, or the bias; NULL: not given. */
static cute_status read_product_buffer(const cute_config *config, const json_t *value, const cute_path *path,
                                       const char *key, const config_buffer **out, cute_diag *diag)
{
    const char *name = json_string_value(json_object_get(value, key));
    config_buffer *found;
    *out = NULL;
    if (!name) return CUTE_OK;
    const cute_path *at = config_member(config, path, key);
    CUTE_TRY(config_find_buffer(config, name, at, &found, diag));
    int rank = found->tensor.rank;
    bool vector = strcmp(key, "bias") == 0;
    if (vector ? rank != 1 || found->tensor.strides[0] != 1 : rank != 2 && rank != 3)
        return cute_document_fail(&config->document, at, false, diag,
                                  vector ? "expected a contiguous vector as the bias, got %d dimensions"
                                         : "expected a matrix or a batch of matrices, got %d dimensions",
                                  rank);
    bool contiguous = vector || found->tensor.strides[rank - 1] == 1 || found->tensor.strides[rank - 2] == 1;
    if (!contiguous)
        return cute_document_fail(&config->document, at, false, diag,
                                  "expected contiguous rows or columns of '%s'", name);
    *out = found;
    return CUTE_OK;
}

static cute_status read_product(const cute_config *config, const json_t *value, const cute_path *path,
                                config_product *out, cute_diag *diag)
{
    static const char *const activations[] = {"none", "relu", "gelu"};
    const char *activation = json_string_value(json_object_get(value, "activation"));
    const char *accumulate = json_string_value(json_object_get(value, "accumulate"));
    const json_t *alpha = json_object_get(value, "alpha"), *beta = json_object_get(value, "beta");
    out->alpha = 1;
    CUTE_TRY(read_product_buffer(config, value, path, "a", &out->a, diag));
    CUTE_TRY(read_product_buffer(config, value, path, "b", &out->b, diag));
    CUTE_TRY(read_product_buffer(config, value, path, "d", &out->d, diag));
    CUTE_TRY(read_product_buffer(config, value, path, "c", &out->c, diag));
    CUTE_TRY(read_product_buffer(config, value, path, "bias", &out->bias, diag));
    if (alpha) CUTE_TRY(config_real(config, alpha, config_member(config, path, "alpha"), &out->alpha, diag));
    if (beta) CUTE_TRY(config_real(config, beta, config_member(config, path, "beta"), &out->beta, diag));
    for (int i = 0; activation && i < 3; i++)
        if (strcmp(activation, activations[i]) == 0) out->activation = i;
    out->fast = accumulate && strcmp(accumulate, "fast") == 0;
    const cute_tensor *a = &out->a->tensor, *b = &out->b->tensor, *d = &out->d->tensor;
    int r = d->rank;
    bool fits = a->rank == r && b->rank == r && (!out->c || out->c->tensor.rank == r) &&
                a->shape[r - 2] == d->shape[r - 2] && b->shape[r - 1] == d->shape[r - 1] &&
                a->shape[r - 1] == b->shape[r - 2] &&
                (r == 2 || (a->shape[0] == d->shape[0] && b->shape[0] == d->shape[0]));
    for (int i = 0; fits && out->c && i < r; i++) fits = out->c->tensor.shape[i] == d->shape[i];
    if (fits && out->bias) fits = out->bias->tensor.shape[0] == d->shape[r - 1];
    if (!fits)
        return cute_document_fail(
            &config->document, path, false, diag,
            "mismatched shapes of the buffers: expected a (m,k), b (k,n), c and d (m,n)");
    if (out->beta != 0 && !out->c)
        return cute_document_fail(&config->document, path, false, diag,
                                  "expected 'c' for a nonzero 'beta', got none");
    return CUTE_OK;
}

static cute_status read_baseline(cute_config *config, const json_t *value, const cute_path *path,
                                 config_baseline *out, cute_diag *diag)
{
    const char *peer =
        json_is_string(value) ? json_string_value(value) : json_string_value(json_object_get(value, "peer"));
    const char *name = json_string_value(json_object_get(value, "name"));
    json_t *launches = json_object_get(value, "launches"), *launch;
    size_t index;
    out->name = name ? name : peer;
    out->bytes = config->bench.bytes;
    CUTE_TRY(read_amount(config, value, "bytes", path, &out->bytes, diag));
    const json_t *product = json_object_get(value, "cublas");
    if (product) {
        out->peer = PEER_CUBLAS;
        if (!name) out->name = "cuBLASLt";
        out->flops = config->bench.flops;
        CUTE_TRY(read_amount(config, value, "flops", path, &out->flops, diag));
        return read_product(config, product, config_member(config, path, "cublas"), &out->product, diag);
    }
    const json_t *plan = json_object_get(value, "plan");
    if (!launches && !plan) {
        out->peer = strcmp(peer, "memset") == 0 ? PEER_MEMSET : PEER_MEMCPY;
        if (out->bytes < 2)
            return cute_document_fail(&config->document, path, false, diag,
                                      "expected 'bytes' for %s, here or in the bench", peer);
        return CUTE_OK;
    }
    out->peer = PEER_LAUNCHES;
    out->flops = config->bench.flops;
    CUTE_TRY(read_amount(config, value, "flops", path, &out->flops, diag));
    if (plan)
        return config_read_plan_launches(config, plan, config_member(config, path, "plan"), &out->launches,
                                         &out->launch_count, &out->steps, diag);
    out->launches = cute_arena_array(config->arena, json_array_size(launches) + 1, sizeof *out->launches);
    if (!out->launches) return cute_fail_memory(diag);
    const cute_path *base = config_member(config, path, "launches");
    json_array_foreach(launches, index, launch) CUTE_TRY(config_add_launch(
        config, launch, config_element(config, base, index), out->launches, &out->launch_count, diag));
    return config_launch_steps(config, out->launches, out->launch_count, &out->steps, diag);
}

/* A baseline is timed beside the launches: it has some if they have. */
static cute_status check_baseline(const cute_config *config, const config_baseline *baseline,
                                  const cute_path *path, cute_diag *diag)
{
    if (baseline->peer != PEER_LAUNCHES || baseline->launch_count) return CUTE_OK;
    return cute_document_fail(&config->document, path, false, diag,
                              "expected a baseline that launches a kernel, got empty grids");
}

cute_status config_read_bench(cute_config *config, cute_diag *diag)
{
    enum { DEFAULT_WARMUP = 10, DEFAULT_SAMPLES = 100 };
    /* Without a launch there is nothing to time. */
    const json_t *value = config->launch_count ? json_object_get(config->document.root, "bench") : NULL;
    config_bench *bench = &config->bench;
    const json_t *warmup = json_object_get(value, "warmup"), *samples = json_object_get(value, "samples");
    const char *cache = json_string_value(json_object_get(value, "cache"));
    const char *timing = json_string_value(json_object_get(value, "timing"));
    json_t *list = json_object_get(value, "baselines"), *item;
    size_t index;
    bench->present = value != NULL;
    bench->warmup = warmup ? json_integer_value(warmup) : DEFAULT_WARMUP;
    bench->samples = samples ? json_integer_value(samples) : DEFAULT_SAMPLES;
    bench->batch = json_integer_value(json_object_get(value, "batch"));
    bench->cold = !cache || strcmp(cache, "cold") == 0;
    bench->graph = timing && strcmp(timing, "graph") == 0;
    const cute_path *path = config_member(config, NULL, "bench");
    if (!value) return CUTE_OK;
    if (bench->cold && bench->batch > 1)
        return cute_document_fail(
            &config->document, config_member(config, path, "batch"), false, diag,
            "a batch requires \"cache\": \"warm\": only its first run would find L2 cold");
    CUTE_TRY(read_amount(config, value, "bytes", path, &bench->bytes, diag));
    CUTE_TRY(read_amount(config, value, "flops", path, &bench->flops, diag));
    CUTE_TRY(read_amount(config, value, "lead", path, &bench->lead, diag));
    if (bench->lead > 10 || (bench->cold && bench->lead > 0))
        return cute_document_fail(&config->document, config_member(config, path, "lead"), false, diag,
                                  bench->cold ? "untimed runs require \"cache\": \"warm\": they fill L2"
                                              : "expected at most 10 seconds, got %g",
                                  bench->lead);
    bench->baselines = cute_arena_array(config->arena, json_array_size(list) + 1, sizeof *bench->baselines);
    if (!bench->baselines) return cute_fail_memory(diag);
    const cute_path *base = config_member(config, path, "baselines");
    json_array_foreach(list, index, item)
    {
        config_baseline *baseline = &bench->baselines[bench->baseline_count++];
        const cute_path *place = config_element(config, base, index);
        CUTE_TRY(read_baseline(config, item, place, baseline, diag));
        CUTE_TRY(check_baseline(config, baseline, place, diag));
    }
    return CUTE_OK;
}
