/* Random data of a distributed product, of which each rank makes its part, and checks of each rank's part of D. An element depends only on
 * the seed and its place in the whole matrix. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/numbers/mix.h"
#include "lib/gemm/distributed/distributed.h"
#include "lib/launch/data/parallel.h"
#include "lib/launch/data/random.h"

enum { PIECE = 1024, SAMPLES = 1000, INTEGER_LOW = -128, INTEGER_HIGH = 127 };
/* Products of at most so many multiplications and operands are checked as a whole; larger D have no digest. */
static const double whole_check = 1 << 26, whole_operands = 1 << 24, whole_digest = 1 << 26;

/* ---- values ---- */

typedef struct source {
    uint64_t key;
    int64_t columns; /* of the whole matrix */
    cute_dtype dtype;
} source;

static source source_of(const dist_problem *p, dist_buffer buffer, uint64_t seed)
{
    bool a = buffer == DIST_A;
    return (source){cute_random_key(seed, 0, a ? "A" : "B"), a ? p->whole.k : p->whole.n, p->read.in};
}

/* `count` elements, `step` of the whole apart (1: along a row; columns: along a column), rounded to the type. */
static void make_values(const source *s, int64_t row, int64_t column, int64_t count, int64_t step,
                        double *out)
{
    bool integers = cute_dtype_get(s->dtype)->class == CUTE_CLASS_SIGNED;
    uint64_t at = (uint64_t)(row * s->columns + column);
    for (int64_t i = 0; i < count; i++, at += (uint64_t)step)
        out[i] = integers ? (double)cute_random_integer(s->key, at, INTEGER_LOW, INTEGER_HIGH)
                          : cute_random_normal(s->key, at);
    cute_dtype_round(s->dtype, out, (size_t)count);
}

typedef struct filling {
    source from;
    dist_matrix to;
    int64_t skip; /* rows in the buffer before its first own row */
    char *out;
} filling;

static void fill_rows(void *context, int64_t begin, int64_t end, int worker)
{
    const filling *f = context;
    int64_t bytes = cute_dtype_get(f->to.dtype)->bytes;
    double values[PIECE];
    (void)worker;
    for (int64_t i = begin; i < end; i++)
        for (int64_t j = 0; j < f->to.columns; j += PIECE) {
            int64_t count = f->to.columns - j < PIECE ? f->to.columns - j : PIECE;
            make_values(&f->from, f->to.first_row + i, f->to.first_column + j, count, 1, values);
            cute_dtype_store(f->to.dtype, f->out + ((f->skip + i) * f->to.row + j * f->to.column) * bytes,
                             f->to.column, (size_t)count, values);
        }
}

void dist_data_fill(const dist_problem *p, dist_buffer buffer, uint64_t seed, void *out)
{
    dist_matrix m = dist_matrix_of(p, buffer, p->rank);
    int64_t bytes = cute_dtype_get(m.dtype)->bytes;
    filling f = {.to = m, .out = out};
    if (buffer == DIST_P) {
        memset(out, 0, (size_t)(m.elements * bytes));
        return;
    }
    memset(out, 0xFF, (size_t)(m.elements * bytes)); /* NaN: an element that is not written fails the check */
    if (buffer == DIST_D) return;
    if (p->split == DIST_N && buffer == DIST_A) {
        /* the rank's shard; the others have to arrive */
        int64_t chunk = dist_shard_of(p, p->rank).chunk, first = p->rank * chunk, left = p->whole.m - first;
        f.skip = f.to.first_row = first;
        f.to.rows = left < 0 ? 0 : left < chunk ? left : chunk;
    }
    f.from = source_of(p, buffer, seed);
    cute_parallel(f.to.rows, 1, fill_rows, &f);
}

/* ---- checks ---- */

typedef struct checking {
    const dist_problem *p;
    source a, b;
    dist_matrix d;
    const char *got;
    double rtol, atol;
    double *a_values, *b_values; /* all that D needs: rows of A, columns of B; NULL: made for each element */
    int64_t count;               /* elements to compare */
    uint64_t seed;
    dist_result workers[CUTE_PARALLEL_MAX];
    double *scratch; /* 2 k doubles for each worker */
} checking;

static double activate(cute_gemm_activation activation, double x)
{
    switch (activation) {
    case CUTE_GEMM_LINEAR: return x;
    case CUTE_GEMM_RELU: return x > 0 ? x : 0;
    case CUTE_GEMM_GELU: return x / (1 + exp(-1.5957691216057308 * (x + 0.044715 * x * x * x)));
    }
    return x;
}

static double expected_of(const checking *c, int64_t row, int64_t column, int worker)
{
    int64_t k = c->p->whole.k, rows = row - c->d.first_row, columns = column - c->d.first_column;
    double *scratch = c->scratch + (int64_t)worker * 2 * k, sum = 0;
    const double *a = c->a_values ? c->a_values + rows * k : scratch;
    const double *b = c->b_values ? c->b_values + columns * k : scratch + k;
    if (!c->a_values) {
        make_values(&c->a, row, 0, k, 1, scratch);
        make_values(&c->b, 0, column, k, c->b.columns, scratch + k);
    }
    for (int64_t i = 0; i < k; i++) sum += a[i] * b[i];
    return activate(c->p->whole.activation, c->p->whole.alpha * sum);
}

static void compare_elements(void *context, int64_t begin, int64_t end, int worker)
{
    checking *c = context;
    dist_result *r = &c->workers[worker];
    int64_t all = c->d.rows * c->d.columns;
    for (int64_t i = begin; i < end; i++) {
        int64_t at = c->count == all ? i : cute_random_integer(c->seed, (uint64_t)i, 0, all - 1);
        int64_t row = at / c->d.columns, column = at % c->d.columns;
        double got, want = expected_of(c, c->d.first_row + row, c->d.first_column + column, worker);
        cute_dtype_load(c->d.dtype,
                        c->got + (row * c->d.row + column * c->d.column) * cute_dtype_get(c->d.dtype)->bytes,
                        1, 1, &got);
        double error = fabs(got - want);
        r->compared++;
        if (error > r->max_error) r->max_error = error;
        if (error <= c->atol + c->rtol * fabs(want)) continue;
        if (!r->bad++) {
            r->row = c->d.first_row + row;
            r->column = c->d.first_column + column;
            r->got = got;
            r->want = want;
        }
    }
}

static void make_rows(void *context, int64_t begin, int64_t end, int worker)
{
    const checking *c = context;
    int64_t k = c->p->whole.k;
    (void)worker;
    for (int64_t i = begin; i < end; i++)
        if (i < c->d.rows)
            make_values(&c->a, c->d.first_row + i, 0, k, 1, c->a_values + i * k);
        else
            make_values(&c->b, 0, c->d.first_column + i - c->d.rows, k, c->b.columns,
                        c->b_values + (i - c->d.rows) * k);
}

/* Sums over disjoint parts are the sum over the whole. */
static uint64_t digest_of(const checking *c)
{
    size_t bytes = (size_t)cute_dtype_get(c->d.dtype)->bytes;
    uint64_t sum = 0;
    for (int64_t i = 0; i < c->d.rows; i++)
        for (int64_t j = 0; j < c->d.columns; j++) {
            uint64_t bits = 0,
                     place = (uint64_t)((c->d.first_row + i) * c->p->whole.n + c->d.first_column + j);
            memcpy(&bits, c->got + (size_t)(i * c->d.row + j * c->d.column) * bytes, bytes);
            sum += cute_mix(bits + cute_mix(place + CUTE_MIX_STEP));
        }
    return sum;
}

/* Sums over k that ranks round before they are added, and that NCCL rounds at each rank: a part's size is that of a sum of k terms. */
static double rounding_of_parts(const dist_problem *p)
{
    const cute_dtype_info *out = cute_dtype_get(p->read.out);
    if (p->split != DIST_K || p->size == 1 || p->read.out == CUTE_I32) return 0;
    double scale = fabs(p->whole.alpha) * (p->read.in == CUTE_I8 ? 74.0 * 74.0 : 1);
    return ldexp(5 * sqrt((double)p->whole.k) * scale * p->size, -out->mantissa - 1);
}

static cute_status prepare_check(checking *c, cute_diag *diag)
{
    double k = (double)c->p->whole.k, m = (double)c->d.rows, n = (double)c->d.columns;
    bool whole = m * n * k <= whole_check && (m + n) * k <= whole_operands;
    c->count = whole || m * n <= SAMPLES ? c->d.rows * c->d.columns : SAMPLES;
    c->scratch = malloc((size_t)c->p->whole.k * 2 * CUTE_PARALLEL_MAX * sizeof(double));
    if (!c->scratch) return cute_fail_memory(diag);
    if (!whole) return CUTE_OK;
    c->a_values = malloc((size_t)(c->d.rows * c->p->whole.k + 1) * sizeof(double));
    c->b_values = malloc((size_t)(c->d.columns * c->p->whole.k + 1) * sizeof(double));
    if (!c->a_values || !c->b_values) return cute_fail_memory(diag);
    cute_parallel(c->d.rows + c->d.columns, 16, make_rows, c);
    return CUTE_OK;
}

cute_status dist_data_check(const dist_problem *p, uint64_t seed, const void *d, dist_result *out,
                            cute_diag *diag)
{
    *out = (dist_result){0};
    checking *c = calloc(1, sizeof *c);
    if (!c) return cute_fail_memory(diag);
    *c = (checking){.p = p,
                    .a = source_of(p, DIST_A, seed),
                    .b = source_of(p, DIST_B, seed),
                    .d = dist_matrix_of(p, DIST_D, p->rank),
                    .got = d,
                    .seed = cute_random_key(seed, (uint64_t)p->rank, "samples")};
    gemm_tolerances(&p->read, &c->rtol, &c->atol);
    c->atol += rounding_of_parts(p);
    cute_status status = c->d.rows && c->d.columns ? prepare_check(c, diag) : CUTE_OK;
    if (status == CUTE_OK && c->count) cute_parallel(c->count, 16, compare_elements, c);
    for (int i = 0; i < CUTE_PARALLEL_MAX; i++) {
        const dist_result *r = &c->workers[i];
        if (r->bad && !out->bad) {
            out->row = r->row;
            out->column = r->column;
            out->got = r->got;
            out->want = r->want;
        }
        out->bad += r->bad;
        out->compared += r->compared;
        if (r->max_error > out->max_error) out->max_error = r->max_error;
    }
    out->has_digest = (double)c->d.rows * (double)c->d.columns <= whole_digest;
    if (status == CUTE_OK && out->has_digest) out->digest = digest_of(c);
    free(c->a_values);
    free(c->b_values);
    free(c->scratch);
    free(c);
    return status;
}
