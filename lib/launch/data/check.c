/* Checks: compares a buffer with a formula, an einsum or a file, in double, row by row or at random
 * positions, by all threads. */
#include "lib/launch/data/check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/system/file.h"
#include "lib/launch/data/npy.h"
#include "lib/launch/data/parallel.h"
#include "lib/launch/data/random.h"

enum { CHECK_GRAIN = 1 << 10 }; /* elements */

#define FAIL(config, check, key, ...)                                                                        \
    cute_document_fail(&(config)->document, config_member(config, (check)->path, key), false, diag,          \
                       __VA_ARGS__)

static cute_status compile_check_formula(const cute_config *config, const config_check *check,
                                         const cute_expr *expr, const char *extra, cute_formula **out,
                                         cute_diag *diag)
{
    const cute_tensor *t = &check->buffer->tensor;
    cute_formula_scope scope = {
        .plugins = config->plugins,
        .params = config->params,
        .param_count = config->param_count,
        .tensors = config->tensors,
        .tensor_count = config->buffer_count,
        .indices = check->index_names,
        .extents = t->shape,
        .index_count = t->rank,
        .extra = extra,
    };
    return cute_formula_compile(config->arena, expr, &scope, out, diag);
}

static cute_status prepare_einsum(const cute_config *config, const config_check *check, cute_check *out,
                                  cute_diag *diag)
{
    const cute_tensor *operands[CUTE_TENSOR_RANK];
    char message[200];
    for (int i = 0; i < check->operand_count; i++) operands[i] = &check->operands[i]->reference;
    if (cute_einsum_parse(check->einsum, operands, check->operand_count, &check->buffer->tensor, &out->einsum,
                          message, sizeof message) != CUTE_OK)
        return FAIL(config, check, "einsum", "%s", message);
    return check->epilogue ? compile_check_formula(config, check, check->epilogue, "x", &out->epilogue, diag)
                           : CUTE_OK;
}

static cute_status prepare_file(const cute_config *config, const config_check *check, cute_check *out,
                                cute_diag *diag)
{
    const cute_tensor *t = &check->buffer->tensor;
    if (check->kind == EXPECT_NPY) {
        CUTE_TRY(cute_npy_read(check->file, t->dtype, false, &out->file, &out->bytes, diag));
        bool same = out->file.rank == t->rank;
        for (int i = 0; same && i < t->rank; i++) same = out->file.shape[i] == t->shape[i];
        if (same) return CUTE_OK;
        cute_buffer here = {0}, there = {0};
        cute_tensor_shape_text(t, &here);
        cute_tensor_shape_text(&out->file, &there);
        FAIL(config, check, "npy", "expected the shape %s of '%s', got %s in %s", here.data, t->name,
             there.data, check->file);
        cute_buffer_release(&here);
        cute_buffer_release(&there);
        return CUTE_INVALID;
    }
    out->file = *t;
    out->file.offset = 0;
    if (!cute_tensor_row_major(&out->file) || !cute_tensor_layout(&out->file)) return cute_fail_memory(diag);
    int64_t size; /* reads one byte more, to detect a file that is too long */
    CUTE_TRY(cute_file_read_part(check->file, 0, out->file.bytes + 1, &out->bytes, &size, diag));
    out->file.data = out->bytes.data;
    if ((int64_t)out->bytes.length == out->file.bytes) return CUTE_OK;
    return FAIL(config, check, "raw", "expected the %lld bytes of '%s', got %lld in %s",
                (long long)out->file.bytes, t->name, (long long)size, check->file);
}

cute_status cute_check_prepare(const cute_config *config, const config_check *check, cute_check *out,
                               cute_diag *diag)
{
    memset(out, 0, sizeof *out);
    out->config = check;
    switch (check->kind) {
    case EXPECT_EXPR:
        CUTE_TRY(compile_check_formula(config, check, check->expr, NULL, &out->formula, diag));
        break;
    case EXPECT_EINSUM: CUTE_TRY(prepare_einsum(config, check, out, diag)); break;
    default: CUTE_TRY(prepare_file(config, check, out, diag));
    }
    if (check->where) CUTE_TRY(compile_check_formula(config, check, check->where, NULL, &out->where, diag));
    const char *extra = check->kind == EXPECT_EINSUM ? "x" : NULL;
    return check->uncertain
               ? compile_check_formula(config, check, check->uncertain, extra, &out->uncertain, diag)
               : CUTE_OK;
}

void cute_check_release(cute_check *check)
{
    cute_buffer_release(&check->bytes);
}

/* ---- comparing ---- */

typedef struct worker_state {
    cute_formula_state *formula, *epilogue, *where, *uncertain;
    const cute_formula_state *failed;
    double sums[CUTE_FORMULA_LANES]; /* of the einsum, for the elements that are compared */
    cute_check_result result;
} worker_state;

typedef struct compare_loop {
    const cute_check *check;
    const double *sums; /* all elements of the einsum; NULL: computed one by one */
    uint64_t key;
    worker_state *workers;
} compare_loop;

static void unravel_index(const cute_tensor *t, int64_t linear, int64_t *index)
{
    for (int d = t->rank; d-- > 0; linear /= t->shape[d]) index[d] = linear % t->shape[d];
}

static bool compute_expected(const compare_loop *c, worker_state *w, int64_t linear, const int64_t *index,
                             int count, double *want)
{
    const cute_check *check = c->check;
    if (check->formula) {
        if (cute_formula_eval(w->formula, index, count, NULL, want)) return true;
        w->failed = w->formula;
        return false;
    }
    if (check->config->kind != EXPECT_EINSUM) {
        cute_tensor_load(&check->file, check->file.data, linear, count, want);
        return true;
    }
    double *sums = w->sums;
    if (c->sums) {
        memcpy(sums, c->sums + linear, (size_t)count * sizeof *sums);
    } else {
        int64_t at[CUTE_TENSOR_RANK];
        int rank = check->config->buffer->tensor.rank;
        memcpy(at, index, (size_t)rank * sizeof *at);
        for (int i = 0; i < count; i++) {
            if (i > 0) at[rank - 1]++;
            sums[i] = cute_einsum_element(&check->einsum, at);
        }
    }
    if (!check->epilogue) {
        memcpy(want, sums, (size_t)count * sizeof *sums);
        return true;
    }
    if (cute_formula_eval(w->epilogue, index, count, sums, want)) return true;
    w->failed = w->epilogue;
    return false;
}

static void note_maximum(double value, int64_t linear, double *max, int64_t *at)
{
    if (*at >= 0 && !(value > *max)) return;
    *max = value;
    *at = linear;
}

static bool is_close(const config_check *check, double got, double want)
{
    if (got != got || want != want) return got != got && want != want && check->nan_equal;
    if (got == want) return true;
    if (check->ulp >= 0 && cute_dtype_ulps(check->buffer->tensor.dtype, got, want) <= check->ulp) return true;
    /* One value is infinite: the tolerance would be infinite as well. */
    if (isinf(got) || isinf(want)) return false;
    return fabs(got - want) <= check->atol + check->rtol * fabs(want);
}

static void note_errors(const config_check *check, int64_t linear, double got, double want,
                        cute_check_result *r)
{
    if (got != got || want != want) return;
    if (got == want) {
        note_maximum(0, linear, &r->max_abs, &r->max_abs_at);
        note_maximum(0, linear, &r->max_rel, &r->max_rel_at);
        if (r->max_ulp_at < 0) r->max_ulp_at = linear;
        return;
    }
    double error = fabs(got - want);
    int64_t ulps = cute_dtype_ulps(check->buffer->tensor.dtype, got, want);
    if (isfinite(error)) {
        note_maximum(error, linear, &r->max_abs, &r->max_abs_at);
        if (want != 0) note_maximum(error / fabs(want), linear, &r->max_rel, &r->max_rel_at);
    }
    if (r->max_ulp_at < 0 || ulps > r->max_ulp) {
        r->max_ulp = ulps;
        r->max_ulp_at = linear;
    }
}

int cute_check_left_out(int width, double uncertain, double got, double want)
{
    if (!width) return uncertain != 0 && uncertain == uncertain;
    if (!(fabs(uncertain) < 0x1p62) || !(fabs(got) < 0x1p62) || !(fabs(want) < 0x1p62)) return 0;
    uint64_t all = UINT64_MAX >> (64 - width), mask = (uint64_t)(int64_t)uncertain,
             wrong = ((uint64_t)(int64_t)got ^ (uint64_t)(int64_t)want) & all;
    return wrong & ~mask ? 0 : __builtin_popcountll(wrong);
}

/* Of a wrong element; -1: the formula failed. */
static int count_left_out(const compare_loop *c, worker_state *w, int64_t linear, int at, double got,
                          double want)
{
    int64_t index[CUTE_TENSOR_RANK];
    double uncertain;
    if (!c->check->uncertain) return 0;
    unravel_index(&c->check->config->buffer->tensor, linear, index);
    if (!cute_formula_eval(w->uncertain, index, 1, w->sums + at, &uncertain)) {
        w->failed = w->uncertain;
        return -1;
    }
    const config_check *check = c->check->config;
    int width = check->uncertain_bits ? 8 * (int)cute_dtype_get(check->buffer->tensor.dtype)->bytes : 0;
    return cute_check_left_out(width, uncertain, got, want);
}

static bool compare_element(const compare_loop *c, worker_state *w, int64_t linear, int at, double got,
                            double want)
{
    const config_check *check = c->check->config;
    cute_check_result *r = &w->result;
    bool good = is_close(check, got, want);
    int left_out = good ? 0 : count_left_out(c, w, linear, at, got, want);
    if (left_out < 0) return false;
    r->compared++;
    r->left_out += left_out;
    if (left_out) return true;
    r->got_nans += got != got;
    r->want_nans += want != want;
    note_errors(check, linear, got, want, r);
    if (good) return true;
    r->bad++;
    if (r->first >= 0 && r->first <= linear) return true;
    r->first = linear;
    r->got = got;
    r->want = want;
    return true;
}

static bool compare_run(const compare_loop *c, worker_state *w, int64_t linear, int count)
{
    const cute_tensor *t = &c->check->config->buffer->tensor;
    double got[CUTE_FORMULA_LANES], want[CUTE_FORMULA_LANES], where[CUTE_FORMULA_LANES];
    int64_t index[CUTE_TENSOR_RANK];
    unravel_index(t, linear, index);
    if (c->check->where && !cute_formula_eval(w->where, index, count, NULL, where)) {
        w->failed = w->where;
        return false;
    }
    bool any = !c->check->where;
    for (int i = 0; i < count && !any; i++) any = where[i] != 0;
    if (!any) return true;
    if (!compute_expected(c, w, linear, index, count, want)) return false;
    cute_tensor_load(t, t->data, linear, count, got);
    for (int i = 0; i < count; i++)
        if ((!c->check->where || where[i] != 0) && !compare_element(c, w, linear + i, i, got[i], want[i]))
            return false;
    return true;
}

static void compare_range(void *context, int64_t begin, int64_t end, int worker)
{
    const compare_loop *c = context;
    const cute_tensor *t = &c->check->config->buffer->tensor;
    worker_state *w = &c->workers[worker];
    int64_t row = t->rank ? t->shape[t->rank - 1] : 1;
    while (begin < end && !w->failed) {
        int64_t count = row - begin % row;
        if (count > end - begin) count = end - begin;
        if (count > CUTE_FORMULA_LANES) count = CUTE_FORMULA_LANES;
        if (!compare_run(c, w, begin, (int)count)) return;
        begin += count;
    }
}

static void compare_samples(void *context, int64_t begin, int64_t end, int worker)
{
    const compare_loop *c = context;
    int64_t count = c->check->config->buffer->tensor.count;
    for (; begin < end && !c->workers[worker].failed; begin++)
        compare_run(c, &c->workers[worker], cute_random_integer(c->key, (uint64_t)begin, 0, count - 1), 1);
}

static void merge_results(const cute_check_result *from, cute_check_result *to)
{
    to->compared += from->compared;
    to->bad += from->bad;
    to->left_out += from->left_out;
    to->got_nans += from->got_nans;
    to->want_nans += from->want_nans;
    if (from->max_abs_at >= 0) note_maximum(from->max_abs, from->max_abs_at, &to->max_abs, &to->max_abs_at);
    if (from->max_rel_at >= 0) note_maximum(from->max_rel, from->max_rel_at, &to->max_rel, &to->max_rel_at);
    if (from->max_ulp_at >= 0 && (to->max_ulp_at < 0 || from->max_ulp > to->max_ulp)) {
        to->max_ulp = from->max_ulp;
        to->max_ulp_at = from->max_ulp_at;
    }
    if (from->first < 0 || (to->first >= 0 && to->first <= from->first)) return;
    to->first = from->first;
    to->got = from->got;
    to->want = from->want;
}

static cute_check_result empty_result(void)
{
    return (cute_check_result){.first = -1, .max_abs_at = -1, .max_rel_at = -1, .max_ulp_at = -1};
}

static bool create_states(const cute_check *check, worker_state *w)
{
    w->result = empty_result();
    if (check->formula && !(w->formula = cute_formula_state_create(check->formula))) return false;
    if (check->epilogue && !(w->epilogue = cute_formula_state_create(check->epilogue))) return false;
    if (check->uncertain && !(w->uncertain = cute_formula_state_create(check->uncertain))) return false;
    return !check->where || (w->where = cute_formula_state_create(check->where));
}

cute_status cute_check_run(const cute_config *config, const cute_check *check, uint64_t seed,
                           cute_check_result *out, cute_diag *diag)
{
    const config_check *c = check->config;
    const cute_tensor *t = &c->buffer->tensor;
    int workers = cute_parallel_workers();
    bool sampled = c->sample > 0 && c->sample < t->count;
    compare_loop loop = {.check = check, .key = cute_random_key(seed, 0, t->name)};
    double *sums = NULL;
    cute_status status = CUTE_OK;
    (void)config;
    *out = empty_result();
    loop.workers = calloc((size_t)workers, sizeof *loop.workers);
    if (!loop.workers) return cute_fail_memory(diag);
    for (int i = 0; i < workers; i++)
        if (!create_states(check, &loop.workers[i])) status = cute_fail_memory(diag);
    if (status == CUTE_OK && c->kind == EXPECT_EINSUM && !sampled) {
        loop.sums = sums = cute_einsum_all(&check->einsum);
        if (!sums) status = cute_fail_memory(diag);
    }
    if (status == CUTE_OK && sampled)
        cute_parallel(c->sample, 16, compare_samples, &loop);
    else if (status == CUTE_OK)
        cute_parallel(t->count,
                      t->rank && t->shape[t->rank - 1] > CHECK_GRAIN ? t->shape[t->rank - 1] : CHECK_GRAIN,
                      compare_range, &loop);
    for (int i = 0; i < workers; i++) {
        worker_state *w = &loop.workers[i];
        merge_results(&w->result, out);
        if (w->failed && status == CUTE_OK) status = cute_formula_error(w->failed, diag);
        cute_formula_state_destroy(w->formula);
        cute_formula_state_destroy(w->epilogue);
        cute_formula_state_destroy(w->where);
        cute_formula_state_destroy(w->uncertain);
    }
    out->empty = check->where && t->count > 0 && out->compared == 0;
    free(loop.workers);
    free(sums);
    return status;
}
