/* The steps of an algorithm as a launch.json: for each matrix of each batch, pack A and B, multiply, apply
 * the epilogue. */
#include <stdio.h>
#include <string.h>

#include "lib/gemm/gemm.h"

/* The row stride of sums, padded for vectors of four elements. */
static int64_t sums_row(int64_t columns)
{
    return (columns + 3) / 4 * 4;
}

/* ---- buffers ---- */

const char *gemm_buffer_name(cute_arena *arena, const char *name, size_t index, size_t count)
{
    return count == 1 ? name : cute_arena_printf(arena, "%s%zu", name, index);
}

typedef struct document_writer {
    cute_arena *arena;
    const gemm_algo *algo;
    json_t *buffers, *plans;
    bool failed;
} document_writer;

/* A buffer of shape [batch, rows, columns]; [rows, columns] without a batch. */
static void put_matrix(document_writer *w, const char *name, cute_dtype dtype, const cute_gemm_problem *p,
                       int64_t rows, int64_t columns, const gemm_matrix *m)
{
    bool batched = p->batch > 1;
    json_t *buffer = batched
                         ? json_pack("{s:s,s:[III],s:[III]}", "dtype", cute_dtype_get(dtype)->name, "shape",
                                     (json_int_t)p->batch, (json_int_t)rows, (json_int_t)columns, "strides",
                                     (json_int_t)m->batch, (json_int_t)m->row, (json_int_t)m->column)
                         : json_pack("{s:s,s:[II],s:[II]}", "dtype", cute_dtype_get(dtype)->name, "shape",
                                     (json_int_t)rows, (json_int_t)columns, "strides", (json_int_t)m->row,
                                     (json_int_t)m->column);
    w->failed = w->failed || !name || !buffer || json_object_set_new(w->buffers, name, buffer) != 0;
}

/* "D", "D1", ...: a copy of D, or its counters. */
static const char *copy_name(cute_arena *arena, const char *name, int copy)
{
    return copy ? cute_arena_printf(arena, "%s%d", name, copy) : name;
}

static void put_buffers(document_writer *w, const gemm_problem *p, size_t index, size_t count)
{
    const cute_gemm_problem *g = &p->given;
    if (p->tree) {
        put_matrix(w, "A", p->in, g, g->m, g->k, &p->a);
        put_matrix(w, "B", p->in, g, g->k, g->n, &p->b);
        w->failed = w->failed || !epilogue_put_buffers(p->tree, w->buffers);
        return;
    }
    put_matrix(w, gemm_buffer_name(w->arena, "A", index, count), p->in, g, g->m, g->k, &p->a);
    put_matrix(w, gemm_buffer_name(w->arena, "B", index, count), p->in, g, g->k, g->n, &p->b);
    if (g->beta != 0)
        put_matrix(w, gemm_buffer_name(w->arena, "C", index, count), p->out, g, g->m, g->n, &p->c);
    put_matrix(w, gemm_buffer_name(w->arena, "D", index, count), p->out, g, g->m, g->n, &p->d);
    for (int i = 0; w->algo->signal.groups && i <= w->algo->signal.copies; i++) {
        json_t *counters =
            json_pack("{s:s,s:[I]}", "dtype", "i32", "shape", (json_int_t)w->algo->signal.groups + 1);
        if (i) put_matrix(w, copy_name(w->arena, "D", i), p->out, g, g->m, g->n, &p->d);
        w->failed = w->failed || !counters ||
                    json_object_set_new(w->buffers, copy_name(w->arena, "signals", i), counters) != 0;
    }
    if (!g->bias) return;
    json_t *bias = json_pack("{s:s,s:[I]}", "dtype", cute_dtype_get(p->out)->name, "shape", (json_int_t)g->n);
    const char *name = gemm_buffer_name(w->arena, "bias", index, count);
    w->failed = w->failed || !name || !bias || json_object_set_new(w->buffers, name, bias) != 0;
}

/* ---- plans ---- */

/* A matrix of a batch, or the whole batch: an argument of a host function. */
typedef struct matrix_arg {
    int64_t rows, columns, row, column;
    int64_t items, batch; /* items 0: the parameter has no mode for the batch */
} matrix_arg;

static json_t *put_extents(json_t *out, const matrix_arg *m)
{
    json_t *shape =
        m->items ? json_pack("[III]", (json_int_t)m->items, (json_int_t)m->rows, (json_int_t)m->columns)
                 : json_pack("[II]", (json_int_t)m->rows, (json_int_t)m->columns);
    json_t *strides =
        m->items ? json_pack("[III]", (json_int_t)m->batch, (json_int_t)m->row, (json_int_t)m->column)
                 : json_pack("[II]", (json_int_t)m->row, (json_int_t)m->column);
    json_object_set_new(out, "shape", shape);
    json_object_set_new(out, "strides", strides);
    return out;
}

/* A part of a buffer. */
static json_t *matrix_view(const char *buffer, int64_t offset, const matrix_arg *m)
{
    return put_extents(json_pack("{s:s,s:I}", "buffer", buffer, "offset", (json_int_t)offset), m);
}

/* A matrix between two steps: memory of the launch plan. */
static json_t *temporary_matrix(const char *name, cute_dtype dtype, const matrix_arg *m)
{
    return put_extents(json_pack("{s:s,s:s}", "temporary", name, "dtype", cute_dtype_get(dtype)->name), m);
}

static void put_plan(document_writer *w, const char *function, json_t *args)
{
    json_t *plan = json_pack("{s:s,s:o}", "function", function, "args", args);
    w->failed = w->failed || !plan || json_array_append_new(w->plans, plan) != 0;
}

/* The matrices that a step computes: from `first`, `count` of the batch. */
typedef struct step_items {
    int64_t first, count;
} step_items;

static matrix_arg batch_arg(const gemm_matrix *m, int64_t rows, int64_t columns, step_items items,
                            const gemm_kernel *kernel)
{
    return (matrix_arg){rows, columns, m->row, m->column, kernel->tiles ? items.count : 0, m->batch};
}

/* Contiguous rows of `row` elements. */
static matrix_arg rows_arg(int64_t rows, int64_t columns, int64_t row, const gemm_kernel *kernel)
{
    return (matrix_arg){rows, columns, row, 1, kernel->tiles, rows * row};
}

/* The kernel's A or B: in place, or a packed copy that a plan of its own makes. */
static json_t *operand_view(document_writer *w, const gemm_problem *p, const char *name, const gemm_matrix *m,
                            int64_t rows, step_items items, bool packs, const char *packed)
{
    const gemm_kernel *kernel = w->algo->config->kernel;
    int64_t k = p->given.k, wide = gemm_packed_k(w->algo, k), offset = items.first * m->batch;
    matrix_arg own = batch_arg(m, rows, k, items, kernel), to = rows_arg(rows, wide, wide, kernel);
    if (!packs) return matrix_view(name, offset, &own);
    json_t *copy = temporary_matrix(packed, p->in, &to);
    own.items = to.items = 0;
    put_plan(w, "gemm_pack",
             json_pack("{s:o,s:o}", "from", matrix_view(name, offset, &own), "to",
                       temporary_matrix(packed, p->in, &to)));
    return copy;
}

/* The bias, which runs along columns of the product or, if swapped, along its rows; `buffer` is another where there is none. */
static json_t *bias_view(const char *buffer, const gemm_algo *algo, const gemm_problem *p)
{
    gemm_view v = gemm_view_of(algo, p);
    bool swapped = algo->swapped, given = p->given.bias;
    matrix_arg m = {given ? v.rows : 1, given ? v.columns : 1, swapped, !swapped, 0, 0};
    if (algo->config->kernel->tiles) return matrix_view(buffer, 0, &m);
    return json_pack("{s:s,s:[I],s:[i]}", "buffer", buffer, "shape", (json_int_t)(given ? p->given.n : 1),
                     "strides", 1);
}

/* C, D, bias, alpha and beta of a product; `swapped`: C and D transposed, as the kernel sees them. */
static json_t *product_epilogue(document_writer *w, const gemm_problem *p, size_t index, size_t count,
                                step_items items)
{
    const cute_gemm_problem *g = &p->given;
    const gemm_algo *algo = w->algo;
    const gemm_kernel *kernel = algo->config->kernel;
    const char *d = gemm_buffer_name(w->arena, "D", index, count),
               *c = g->beta == 0 ? d : gemm_buffer_name(w->arena, "C", index, count),
               *bias = g->bias ? gemm_buffer_name(w->arena, "bias", index, count) : d;
    const gemm_matrix *of = g->beta == 0 ? &p->d : &p->c; /* an unused C needs a valid buffer */
    gemm_matrix own = p->d, added = *of;
    if (algo->swapped) {
        own = (gemm_matrix){own.column, own.row, own.batch, own.span};
        added = (gemm_matrix){added.column, added.row, added.batch, added.span};
    }
    gemm_view v = gemm_view_of(algo, p);
    matrix_arg to = batch_arg(&own, v.rows, v.columns, items, kernel),
               from = batch_arg(&added, v.rows, v.columns, items, kernel);
    json_t *args = json_pack("{s:o}", kernel->result, matrix_view(d, items.first * p->d.batch, &to));
    if (!kernel->takes_epilogue) return args;
    json_object_set_new(args, kernel->addend, matrix_view(c, items.first * of->batch, &from));
    json_object_set_new(args, "bias", bias_view(bias, algo, p));
    json_object_set_new(args, "alpha", json_real(g->alpha));
    json_object_set_new(args, "beta", json_real(g->beta));
    return args;
}

/* The sums as D, of which a second step makes the result. They are padded: a kernel that writes whole units of rows may write beyond the
 * columns of B. */
static json_t *sums_epilogue(const gemm_algo *algo, const gemm_view *v)
{
    const gemm_kernel *kernel = algo->config->kernel;
    int64_t row = sums_row(v->columns);
    matrix_arg sums = rows_arg(v->rows, kernel->row_bytes ? row : v->columns, row, kernel),
               bias = {.rows = 1, .columns = 1, .row = algo->swapped, .column = !algo->swapped};
    json_t *args = json_pack("{s:o}", kernel->result, temporary_matrix("sums", algo->product, &sums));
    if (!kernel->takes_epilogue) return args;
    json_object_set_new(args, kernel->addend, temporary_matrix("sums", algo->product, &sums));
    json_t *unused = kernel->tiles ? temporary_matrix("sums", algo->product, &bias)
                                   : json_pack("{s:s,s:s,s:[i]}", "temporary", "sums", "dtype",
                                               cute_dtype_get(algo->product)->name, "shape", 1);
    json_object_set_new(args, "bias", unused);
    json_object_set_new(args, "alpha", json_real(1));
    json_object_set_new(args, "beta", json_real(0));
    return args;
}

/* The second step: D of the sums. */
static json_t *separate_epilogue(document_writer *w, const gemm_problem *p, size_t index, size_t count,
                                 int64_t item)
{
    const cute_gemm_problem *g = &p->given;
    const gemm_algo *algo = w->algo;
    const char *d = gemm_buffer_name(w->arena, "D", index, count);
    const gemm_matrix *of = g->beta == 0 ? &p->d : &p->c;
    int64_t row = sums_row(gemm_view_of(algo, p).columns);
    matrix_arg out = {.rows = g->m, .columns = g->n, .row = p->d.row, .column = p->d.column}, in = out,
               sums = out;
    in.row = of->row;
    in.column = of->column;
    sums.row = algo->swapped ? 1 : row;
    sums.column = algo->swapped ? row : 1;
    return json_pack(
        "{s:o,s:o,s:o,s:{s:s,s:[I],s:[i]},s:f,s:f}", "P", temporary_matrix("sums", algo->product, &sums), "D",
        matrix_view(d, item * p->d.batch, &out), "C",
        matrix_view(g->beta == 0 ? d : gemm_buffer_name(w->arena, "C", index, count), item * of->batch, &in),
        "bias", "buffer", g->bias ? gemm_buffer_name(w->arena, "bias", index, count) : d, "shape",
        (json_int_t)(g->bias ? g->n : 1), "strides", 1, "alpha", g->alpha, "beta", g->beta);
}

/* A copy of D, which is not transposed. */
static json_t *copy_view(const document_writer *w, const gemm_problem *p, const char *name, step_items items)
{
    gemm_view v = gemm_view_of(w->algo, p);
    matrix_arg to = batch_arg(&p->d, v.rows, v.columns, items, w->algo->config->kernel);
    return matrix_view(name, items.first * p->d.batch, &to);
}

static void put_steps(document_writer *w, const gemm_problem *p, size_t index, size_t count, step_items items)
{
    const gemm_algo *algo = w->algo;
    const gemm_kernel *kernel = algo->config->kernel;
    gemm_view v = gemm_view_of(algo, p);
    const char *a = gemm_buffer_name(w->arena, algo->swapped ? "B" : "A", index, count);
    const char *b = gemm_buffer_name(w->arena, algo->swapped ? "A" : "B", index, count);
    json_t *first = operand_view(w, p, a, &v.a, v.rows, items, algo->pack_a, "packed_a");
    json_t *second = operand_view(w, p, b, &v.b, v.columns, items, algo->pack_b, "packed_b");
    if (p->tree) {
        const epilogue_program *program = algo->program;
        json_t *product =
            epilogue_kernel_args(&program->kernels[0], p->values, p->value_count, items.first, items.count);
        json_object_set_new(product, "A", first);
        json_object_set_new(product, "B", second);
        put_plan(w, kernel->function, product);
        for (int i = 1; i < program->count; i++)
            put_plan(w, program->kernels[i].function,
                     epilogue_kernel_args(&program->kernels[i], p->values, p->value_count, items.first,
                                          items.count));
        return;
    }
    json_t *args = algo->epilogue ? sums_epilogue(algo, &v) : product_epilogue(w, p, index, count, items);
    json_object_set_new(args, "A", first);
    json_object_set_new(args, "B", second);
    for (int i = 0; algo->signal.groups && i <= algo->signal.copies; i++) {
        const char *counters = copy_name(w->arena, "signals", i), *d = copy_name(w->arena, "D", i);
        if (i) json_object_set_new(args, d, copy_view(w, p, d, items));
        json_object_set_new(args, counters,
                            json_pack("{s:s,s:[I],s:[i]}", "buffer", counters, "shape",
                                      (json_int_t)algo->signal.groups + 1, "strides", 1));
    }
    if (algo->signal.groups) {
        json_object_set_new(args, "group", json_integer((json_int_t)algo->signal.rows));
        json_object_set_new(args, "groups", json_integer((json_int_t)algo->signal.groups));
    }
    put_plan(w, kernel->function, args);
    if (algo->epilogue) put_plan(w, "gemm_epilogue", separate_epilogue(w, p, index, count, items.first));
}

bool gemm_whole_batch(const gemm_algo *algo)
{
    return algo->config->kernel->tiles && !algo->pack_a && !algo->pack_b && !algo->epilogue;
}

static void put_problem(document_writer *w, const gemm_problem *p, size_t index, size_t count)
{
    if (w->algo->own) {
        json_t *plan = gemm_own_plan(w->algo, p);
        w->failed = w->failed || !plan || json_array_append_new(w->plans, plan) != 0;
        return;
    }
    bool whole = gemm_whole_batch(w->algo);
    int64_t batch = p->given.batch, step = whole ? batch : 1;
    for (int64_t item = 0; item < batch && !w->failed; item += step)
        put_steps(w, p, index, count, (step_items){item, step});
}

json_t *gemm_document(const gemm_algo *algo, const gemm_problem *problems, size_t count)
{
    document_writer w = {cute_arena_create(), algo, json_object(), json_array(), false};
    json_t *document = json_object();
    w.failed = !w.arena || !w.buffers || !w.plans || !document;
    for (size_t i = 0; i < count && !w.failed; i++) put_buffers(&w, &problems[i], i, count);
    for (size_t i = 0; i < count && !w.failed; i++) put_problem(&w, &problems[i], i, count);
    json_object_set_new(document, "plan", w.plans);
    json_object_set_new(document, "buffers", w.buffers);
    cute_arena_destroy(w.arena);
    if (!w.failed) return document;
    json_decref(document);
    return NULL;
}

/* ---- data and expected results ---- */

void gemm_tolerances(const gemm_problem *p, double *rtol, double *atol)
{
    const cute_gemm_problem *g = &p->given;
    const cute_dtype_info *out = cute_dtype_get(p->out);
    double k = (double)g->k, scale = g->alpha < 0 ? -g->alpha : g->alpha;
    double root = 1;
    while (root * root < k) root *= 2;
    double eps = p->out == CUTE_I32 ? 0 : 1;
    for (int i = 0; i <= out->mantissa && eps != 0; i++) eps /= 2;
    *rtol = 2 * eps;
    /* Sums of k terms grow as sqrt(k). At each step of k, tensor cores truncate towards zero: to f32, or for
     * fp8 to 13 fractional bits. Unless sums of 128 are promoted to f32, the errors of fp8's steps of 32 add
     * up. */
    bool cut = gemm_class_of(p->in) == GEMM_FP8;
    double steps = (p->fast || k < 128 ? k : 128) / 32;
    double sum = cut ? 0x1p-15 * (steps + 16) : 0x1p-24 * (k / 8 + 16);
    *atol = p->in == CUTE_I8 ? 0 : sum * root * scale * 4;
    if (p->out != CUTE_I32 && p->in == CUTE_I8) *rtol = 4 * eps;
    if (out->mantissa < 4 && p->out != CUTE_I32) *atol += 0x1p-9;
    if (g->activation == CUTE_GEMM_GELU) *atol += 1e-4;
    if (p->out == CUTE_I32) *rtol = 0;
    /* A sum much larger than sqrt(k) loses half of its own 13th bit at each step. */
    if (cut) *rtol += 0x1p-14 * steps;
}

static const char *expected_expression(cute_arena *arena, const gemm_problem *p, size_t index, size_t count)
{
    const cute_gemm_problem *g = &p->given;
    const char *text = "x";
    if (g->alpha != 1) text = cute_arena_printf(arena, "(%.17g) * x", g->alpha);
    if (text && g->beta != 0)
        text = cute_arena_printf(arena, "%s + (%.17g) * %s", text, g->beta,
                                 gemm_buffer_name(arena, "C", index, count));
    if (text && g->bias)
        text = cute_arena_printf(arena, "%s + %s[j]", text, gemm_buffer_name(arena, "bias", index, count));
    if (text && g->activation == CUTE_GEMM_RELU) return cute_arena_printf(arena, "relu(%s)", text);
    if (text && g->activation == CUTE_GEMM_GELU)
        return cute_arena_printf(arena, "(%s) * sigmoid(1.5957691216057308 * ((%s) + 0.044715 * pow(%s, 3)))",
                                 text, text, text);
    return text;
}

static void add_random_init(json_t *buffers, const char *name, cute_dtype in, const char *type)
{
    json_t *buffer = json_object_get(buffers, name);
    bool integers = cute_dtype_get(in)->class == CUTE_CLASS_SIGNED;
    (void)type;
    if (!buffer) return;
    if (integers)
        json_object_set_new(buffer, "init", json_pack("{s:[ii]}", "integers", -128, 127));
    else
        json_object_set_new(buffer, "init", json_string("normal"));
}

double gemm_flops(const gemm_problem *problems, size_t count)
{
    double flops = 0;
    for (size_t i = 0; i < count; i++) {
        const cute_gemm_problem *g = &problems[i].given;
        flops += 2.0 * (double)g->m * (double)g->n * (double)g->k * (double)g->batch;
    }
    return flops;
}

/* The problem as a baseline that cuBLASLt computes from the same buffers. */
static json_t *cublas_json(const gemm_problem *p)
{
    static const char *const activations[] = {"none", "relu", "gelu"};
    const cute_gemm_problem *g = &p->given;
    json_t *peer = json_pack("{s:s,s:s,s:s,s:f,s:f,s:s}", "a", "A", "b", "B", "d", "D", "alpha", g->alpha,
                             "beta", g->beta, "activation", activations[g->activation]);
    if (g->beta != 0) json_object_set_new(peer, "c", json_string("C"));
    if (g->bias) json_object_set_new(peer, "bias", json_string("bias"));
    if (p->fast) json_object_set_new(peer, "accumulate", json_string(g->accumulate));
    return peer;
}

void gemm_document_bench(json_t *document, const gemm_problem *problems, size_t count, bool cold, bool cublas)
{
    double bytes = 0;
    for (size_t i = 0; i < count; i++) {
        const cute_gemm_problem *g = &problems[i].given;
        double m = (double)g->m, n = (double)g->n, k = (double)g->k;
        double in = (double)cute_dtype_get(problems[i].in)->bytes,
               out = (double)cute_dtype_get(problems[i].out)->bytes;
        bytes += ((m * k + k * n) * in + m * n * out * (g->beta != 0 ? 2 : 1)) * (double)g->batch;
    }
    json_t *bench = json_pack("{s:f,s:f,s:s,s:i}", "flops", gemm_flops(problems, count), "bytes", bytes,
                              "cache", cold ? "cold" : "warm", "samples", 50);
    if (cublas) {
        json_t *baseline = json_pack("{s:o}", "cublas", cublas_json(&problems[0]));
        if (problems[0].fast)
            json_object_set_new(baseline, "name", json_string("cuBLASLt, fast accumulation"));
        json_object_set_new(bench, "baselines", json_pack("[o]", baseline));
    }
    json_object_set_new(document, "bench", bench);
}

void gemm_document_check(json_t *document, const gemm_problem *problems, size_t count)
{
    enum { MAX_FULL_CHECK = 1 << 28, SAMPLES = 2000 }; /* multiplications; larger products are sampled */
    json_t *buffers = json_object_get(document, "buffers"), *checks = json_object();
    cute_arena *arena = cute_arena_create();
    for (size_t i = 0; arena && i < count; i++) {
        const gemm_problem *p = &problems[i];
        const cute_gemm_problem *g = &p->given;
        bool batched = g->batch > 1;
        double rtol, atol;
        if (p->tree) {
            json_decref(checks);
            checks = gemm_expression_data(document, p);
            break;
        }
        gemm_tolerances(p, &rtol, &atol);
        add_random_init(buffers, gemm_buffer_name(arena, "A", i, count), p->in, NULL);
        add_random_init(buffers, gemm_buffer_name(arena, "B", i, count), p->in, NULL);
        add_random_init(buffers, gemm_buffer_name(arena, "C", i, count), p->out, NULL);
        add_random_init(buffers, gemm_buffer_name(arena, "bias", i, count), p->out, NULL);
        const char *epilogue = expected_expression(arena, p, i, count);
        json_t *check = json_pack(
            "{s:s,s:[ss],s:f,s:f,s:s}", "einsum", batched ? "lmk,lkn->lmn" : "mk,kn->mn", "operands",
            gemm_buffer_name(arena, "A", i, count), gemm_buffer_name(arena, "B", i, count), "rtol", rtol,
            "atol", atol, "epilogue", epilogue ? epilogue : "x");
        if (batched) json_object_set_new(check, "index", json_pack("[sss]", "l", "i", "j"));
        if ((double)g->m * (double)g->n * (double)g->k * (double)g->batch > MAX_FULL_CHECK)
            json_object_set_new(check, "sample", json_integer(SAMPLES));
        json_object_set_new(checks, gemm_buffer_name(arena, "D", i, count), check);
    }
    json_object_set_new(document, "check", checks);
    cute_arena_destroy(arena);
}
