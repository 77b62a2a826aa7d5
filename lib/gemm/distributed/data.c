/* Random data of a distributed product, of which each rank makes its part, and checks of each rank's part of D. An element depends only on
 * the seed and its place in the whole matrix. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/numbers/mix.h"
#include "lib/gemm/distributed/distributed.h"
#include "lib/launch/data/parallel.h"
#include "lib/launch/data/random.h"

/* FEW: greatest integer of an expression's operands. */
enum { PIECE = 1024, SAMPLES = 1000, INTEGER_LOW = -128, INTEGER_HIGH = 127, FEW = 3 };
/* Products of at most so many multiplications and operands are checked as a whole; larger D have no digest. */
static const double gelu_slope = 1.13;
static const double whole_check = 1 << 26, whole_operands = 1 << 24, whole_digest = 1 << 26;

/* ---- values ---- */

typedef struct source {
    uint64_t key;
    int64_t rows, columns; /* of the whole matrix */
    double deviation;      /* of normal values */
    bool integers;
    int64_t most; /* of integers */
    cute_dtype dtype;
} source;

/* Sums of an expression have deviation 1, where activations are not flat. */
static source source_of(const dist_problem *p, dist_buffer buffer, uint64_t seed)
{
    const cute_gemm_problem *g = &p->whole;
    dist_operand o = {.dtype = p->read.in, .shape = {true, 1, 1}};
    bool factor = buffer == DIST_A || buffer == DIST_B, tree = p->read.tree != NULL;
    if (!factor) dist_operand_of(p, buffer, &o);
    bool whole_numbers = cute_dtype_get(p->read.in)->class == CUTE_CLASS_SIGNED && (factor || !tree);
    source s = {.key = cute_random_key(seed, 0, dist_buffer_name(p, buffer)),
                .rows = o.shape.rows ? g->m : 1,
                .columns = o.shape.mul ? g->n : 1,
                .deviation = factor && tree ? pow((double)g->k, -0.25) : 1,
                .integers = whole_numbers || cute_dtype_get(o.dtype)->class == CUTE_CLASS_SIGNED,
                .most = tree ? FEW : INTEGER_HIGH,
                .dtype = o.dtype};
    if (buffer == DIST_A) s.columns = g->k;
    if (buffer == DIST_B) s.rows = g->k;
    return s;
}

/* `count` elements, `step` of the whole apart (1: along a row; columns: along a column), rounded to the type. */
static void make_values(const source *s, int64_t item, int64_t row, int64_t column, int64_t count,
                        int64_t step, double *out)
{
    uint64_t at = (uint64_t)((item * s->rows + row) * s->columns + column);
    int64_t least = s->most == FEW ? -FEW : INTEGER_LOW;
    for (int64_t i = 0; i < count; i++, at += (uint64_t)step)
        out[i] = s->integers ? (double)cute_random_integer(s->key, at, least, s->most)
                             : s->deviation * cute_random_normal(s->key, at);
    cute_dtype_round(s->dtype, out, (size_t)count);
}

void dist_data_values(const dist_problem *p, dist_buffer buffer, uint64_t seed, int64_t item, int64_t row,
                      int64_t column, int64_t count, bool down, double *out)
{
    source s = source_of(p, buffer, seed);
    make_values(&s, item, row, column, count, down ? s.columns : 1, out);
}

typedef struct filling {
    source from;
    dist_matrix to;
    int64_t skip; /* rows in the buffer before its first own row */
    char *out;
} filling;

/* A row of each of the batch's matrices after the other. */
static void fill_rows(void *context, int64_t begin, int64_t end, int worker)
{
    const filling *f = context;
    int64_t bytes = cute_dtype_get(f->to.dtype)->bytes, start = dist_matrix_row(&f->to, f->skip);
    double values[PIECE];
    (void)worker;
    for (int64_t at = begin; at < end; at++)
        for (int64_t j = 0; j < f->to.columns; j += PIECE) {
            int64_t count = f->to.columns - j < PIECE ? f->to.columns - j : PIECE, item = at / f->to.rows,
                    i = at % f->to.rows, to = item * f->to.stride + start + i * f->to.row + j * f->to.column;
            make_values(&f->from, item, f->to.first_row + i, f->to.first_column + j, count, 1, values);
            cute_dtype_store(f->to.dtype, f->out + to * bytes, f->to.column, (size_t)count, values);
        }
}

/* Whether rank 0 has an operand that this rank receives. */
static bool comes_from_first(const dist_problem *p, dist_buffer buffer)
{
    const epilogue_tree *t = p->read.tree;
    for (int i = 0; t && p->rank && i < t->step_count; i++)
        if (t->steps[i].moment == EPILOGUE_OF_OPERAND && dist_step_buffer(p, &t->steps[i]) == buffer)
            return true;
    return false;
}

void dist_data_fill(const dist_problem *p, dist_buffer buffer, uint64_t seed, void *out)
{
    dist_matrix m = dist_matrix_of(p, buffer, p->rank);
    filling f = {.to = m, .out = out};
    dist_operand o;
    if (buffer == DIST_P) {
        memset(out, 0, dist_matrix_bytes(&m));
        return;
    }
    memset(out, 0xFF, dist_matrix_bytes(&m)); /* NaN: an element that is not written fails the check */
    bool operand = dist_operand_of(p, buffer, &o);
    if (operand ? o.result || comes_from_first(p, buffer) : buffer == DIST_S) return;
    if (p->split == DIST_N && buffer == DIST_A) {
        /* the rank's shard; the others have to arrive */
        int64_t chunk = dist_shard_of(p, p->rank).chunk, first = p->rank * chunk, left = p->whole.m - first;
        f.skip = f.to.first_row = first;
        f.to.rows = left < 0 ? 0 : left < chunk ? left : chunk;
    }
    f.from = source_of(p, buffer, seed);
    cute_parallel(f.to.rows * f.to.items, 1, fill_rows, &f);
}

/* ---- checks ---- */

typedef struct checking {
    const dist_problem *p;
    source a, b, c, bias;
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

/* beta C + bias at an element of the whole. */
static double addend_of(const checking *c, int64_t item, int64_t row, int64_t column)
{
    const cute_gemm_problem *g = &c->p->whole;
    double sum = 0, value;
    if (g->beta != 0) {
        make_values(&c->c, item, row, column, 1, 1, &value);
        sum += g->beta * value;
    }
    if (g->bias) {
        make_values(&c->bias, 0, 0, column, 1, 1, &value);
        sum += value;
    }
    return sum;
}

static double expected_of(const checking *c, int64_t item, int64_t row, int64_t column, int worker)
{
    int64_t k = c->p->whole.k, rows = item * c->d.rows + row - c->d.first_row,
            columns = item * c->d.columns + column - c->d.first_column;
    double *scratch = c->scratch + (int64_t)worker * 2 * k, sum = 0;
    const double *a = c->a_values ? c->a_values + rows * k : scratch;
    const double *b = c->b_values ? c->b_values + columns * k : scratch + k;
    if (!c->a_values) {
        make_values(&c->a, item, row, 0, k, 1, scratch);
        make_values(&c->b, item, 0, column, k, c->b.columns, scratch + k);
    }
    for (int64_t i = 0; i < k; i++) sum += a[i] * b[i];
    return activate(c->p->whole.activation, c->p->whole.alpha * sum + addend_of(c, item, row, column));
}

static void compare_elements(void *context, int64_t begin, int64_t end, int worker)
{
    checking *c = context;
    dist_result *r = &c->workers[worker];
    int64_t all = c->d.items * c->d.rows * c->d.columns;
    for (int64_t i = begin; i < end; i++) {
        int64_t at = c->count == all ? i : cute_random_integer(c->seed, (uint64_t)i, 0, all - 1);
        int64_t column = at % c->d.columns, row = at / c->d.columns % c->d.rows,
                item = at / c->d.columns / c->d.rows,
                place = item * c->d.stride + row * c->d.row + column * c->d.column;
        double got, want = expected_of(c, item, c->d.first_row + row, c->d.first_column + column, worker);
        cute_dtype_load(c->d.dtype, c->got + place * cute_dtype_get(c->d.dtype)->bytes, 1, 1, &got);
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

/* Rows of A of all matrices, then columns of B. */
static void make_rows(void *context, int64_t begin, int64_t end, int worker)
{
    const checking *c = context;
    int64_t k = c->p->whole.k, rows = c->d.items * c->d.rows;
    (void)worker;
    for (int64_t i = begin; i < end; i++) {
        int64_t j = i - rows;
        if (i < rows)
            make_values(&c->a, i / c->d.rows, c->d.first_row + i % c->d.rows, 0, k, 1, c->a_values + i * k);
        else
            make_values(&c->b, j / c->d.columns, 0, c->d.first_column + j % c->d.columns, k, c->b.columns,
                        c->b_values + j * k);
    }
}

/* Of the bits of a result; sums over disjoint parts are the sum over the whole. */
static uint64_t digest_of(const dist_matrix *m, uint64_t salt, int64_t columns, const char *got)
{
    size_t bytes = (size_t)cute_dtype_get(m->dtype)->bytes;
    uint64_t sum = 0;
    for (int64_t at = 0; at < m->items * m->rows; at++)
        for (int64_t j = 0; j < m->columns; j++) {
            int64_t item = at / m->rows, i = at % m->rows;
            uint64_t bits = 0, place = (uint64_t)((m->first_row + i) * columns + m->first_column + j) +
                                       (uint64_t)item * CUTE_MIX_STEP + salt;
            memcpy(&bits, got + (size_t)(item * m->stride + i * m->row + j * m->column) * bytes, bytes);
            sum += cute_mix(bits + cute_mix(place + CUTE_MIX_STEP));
        }
    return sum;
}

/* Sums over k that ranks round before they are added, and that NCCL rounds at each rank: a part's size is that of a sum of k terms. */
double dist_data_rounding(const dist_problem *p)
{
    const cute_dtype_info *sums = cute_dtype_get(p->sums);
    if ((p->split != DIST_K && !p->finishes) || p->size == 1 || p->sums == CUTE_I32) return 0;
    if (p->read.tree) return ldexp(5.0 * p->size, -sums->mantissa - 1);
    double scale = fabs(p->whole.alpha) * (p->read.in == CUTE_I8 ? 74.0 * 74.0 : 1);
    return ldexp(5 * sqrt((double)p->whole.k) * scale * p->size, -sums->mantissa - 1);
}

static cute_status prepare_check(checking *c, cute_diag *diag)
{
    double k = (double)c->p->whole.k, m = (double)(c->d.items * c->d.rows), n = (double)c->d.columns;
    bool whole = m * n * k <= whole_check && (m + n * (double)c->d.items) * k <= whole_operands;
    int64_t all = c->d.items * c->d.rows * c->d.columns;
    c->count = whole || all <= SAMPLES ? all : SAMPLES;
    c->scratch = malloc((size_t)c->p->whole.k * 2 * CUTE_PARALLEL_MAX * sizeof(double));
    if (!c->scratch) return cute_fail_memory(diag);
    if (!whole) return CUTE_OK;
    c->a_values = malloc((size_t)(c->d.items * c->d.rows * c->p->whole.k + 1) * sizeof(double));
    c->b_values = malloc((size_t)(c->d.items * c->d.columns * c->p->whole.k + 1) * sizeof(double));
    if (!c->a_values || !c->b_values) return cute_fail_memory(diag);
    cute_parallel(c->d.items * (c->d.rows + c->d.columns), 16, make_rows, c);
    return CUTE_OK;
}

static cute_status check_d(const dist_problem *p, uint64_t seed, const void *d, dist_result *out,
                           cute_diag *diag)
{
    checking *c = calloc(1, sizeof *c);
    if (!c) return cute_fail_memory(diag);
    *c = (checking){.p = p,
                    .a = source_of(p, DIST_A, seed),
                    .b = source_of(p, DIST_B, seed),
                    .d = dist_matrix_of(p, DIST_D, p->rank),
                    .got = d,
                    .seed = cute_random_key(seed, (uint64_t)p->rank, "samples")};
    if (p->whole.beta != 0) c->c = source_of(p, DIST_C, seed);
    if (p->whole.bias) c->bias = source_of(p, DIST_BIAS, seed);
    gemm_tolerances(&p->read, &c->rtol, &c->atol);
    c->atol += dist_data_rounding(p) * (p->whole.activation == CUTE_GEMM_GELU ? gelu_slope : 1);
    cute_status status = c->d.rows && c->d.columns ? prepare_check(c, diag) : CUTE_OK;
    if (status == CUTE_OK && c->count) cute_parallel(c->count, 16, compare_elements, c);
    for (int i = 0; i < CUTE_PARALLEL_MAX; i++) dist_result_add(out, &c->workers[i]);
    free(c->a_values);
    free(c->b_values);
    free(c->scratch);
    free(c);
    return status;
}

void dist_result_add(dist_result *out, const dist_result *more)
{
    if (more->bad && !out->bad) {
        out->row = more->row;
        out->column = more->column;
        out->got = more->got;
        out->want = more->want;
    }
    out->bad += more->bad;
    out->compared += more->compared;
    out->left_out += more->left_out;
    if (more->max_error > out->max_error) out->max_error = more->max_error;
}

static void add_digests(const dist_problem *p, const void *const results[DIST_BUFFERS], dist_result *out)
{
    dist_operand o;
    double elements = 0;
    for (int i = DIST_D; i < DIST_BUFFERS; i++) {
        dist_matrix m = dist_matrix_of(p, (dist_buffer)i, p->rank);
        if (!dist_operand_of(p, (dist_buffer)i, &o) || !o.result) continue;
        int64_t columns = o.shape.mul ? p->whole.n * o.shape.mul / o.shape.div : 1;
        elements += (double)m.rows * (double)m.columns * (double)m.items;
        if (elements <= whole_digest && m.rows && m.columns)
            out->digest += digest_of(&m, cute_random_key(0, 0, o.name), columns, results[i]);
    }
    out->has_digest = elements <= whole_digest;
}

cute_status dist_data_check(const dist_problem *p, uint64_t seed, const void *const results[DIST_BUFFERS],
                            dist_result *out, cute_diag *diag)
{
    *out = (dist_result){0};
    CUTE_TRY(p->read.tree ? dist_expression_check(p, seed, results, out, diag)
                          : check_d(p, seed, results[DIST_D], out, diag));
    add_digests(p, results, out);
    return CUTE_OK;
}
