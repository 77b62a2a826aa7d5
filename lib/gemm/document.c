/* The steps of a way as a launch.json: copies of A and B, the product, the epilogue, for each matrix of each batch. */
#include <stdio.h>
#include <string.h>

#include "lib/base/numbers/checked.h"
#include "lib/gemm/gemm.h"

enum { FLAGS = 2 }; /* of a block that shares tiles: one for each warpgroup that multiplies */

static size_t align_up(size_t bytes)
{
    return (bytes + 255) / 256 * 256;
}

/* ---- the workspace ---- */

/* Rows of sums, so that copies of four elements fit. */
static int64_t sums_row(int64_t columns)
{
    return (columns + 3) / 4 * 4;
}

static bool grow(size_t *most, int64_t rows, int64_t row, int64_t size)
{
    int64_t bytes;
    if (!cute_mul64(rows, row, &bytes) || !cute_mul64(bytes, size, &bytes) || bytes > INT64_MAX / 4)
        return false;
    if (align_up((size_t)bytes) > *most) *most = align_up((size_t)bytes);
    return true;
}

cute_status gemm_workspace_of(const gemm_way *way, const gemm_problem *problems, size_t count,
                              gemm_workspace *out, cute_diag *diag)
{
    *out = (gemm_workspace){0};
    for (size_t i = 0; i < count; i++) {
        gemm_view v = gemm_view_of(way, &problems[i]);
        int64_t k = gemm_packed_k(way, v.k), in = cute_dtype_get(problems[i].in)->bytes;
        bool fits = (!way->pack_a || grow(&out->a, v.rows, k, in)) &&
                    (!way->pack_b || grow(&out->b, v.columns, k, in)) &&
                    (!way->epilogue || grow(&out->sums, v.rows, sums_row(v.columns), 4)) &&
                    (!way->config->sharing ||
                     (grow(&out->slots, way->multiprocessors, way->config->bm * way->config->bn, 4) &&
                      grow(&out->flags, way->multiprocessors, FLAGS, 4)));
        if (!fits) return cute_fail(diag, CUTE_USAGE, NULL, "the workspace is larger than 64 bits can count");
    }
    return CUTE_OK;
}

/* ---- buffers ---- */

const char *gemm_buffer_name(cute_arena *arena, const char *name, size_t index, size_t count)
{
    return count == 1 ? name : cute_arena_printf(arena, "%s%zu", name, index);
}

typedef struct writer {
    cute_arena *arena;
    const gemm_way *way;
    json_t *buffers, *plans;
    bool failed;
} writer;

static void put_buffer(writer *w, const char *name, cute_dtype dtype, int64_t elements)
{
    json_t *buffer = json_pack("{s:s,s:[I],s:s}", "dtype", cute_dtype_get(dtype)->name, "shape",
                               (json_int_t)elements, "unwritten", "allow");
    w->failed = w->failed || !name || !buffer || json_object_set_new(w->buffers, name, buffer) != 0;
}

/* A matrix of a batch with all its elements: [batch, rows, columns]. */
static void put_matrix(writer *w, const char *name, cute_dtype dtype, const cute_gemm_problem *p,
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

static void put_buffers(writer *w, const gemm_problem *p, size_t index, size_t count)
{
    const cute_gemm_problem *g = &p->given;
    put_matrix(w, gemm_buffer_name(w->arena, "A", index, count), p->in, g, g->m, g->k, &p->a);
    put_matrix(w, gemm_buffer_name(w->arena, "B", index, count), p->in, g, g->k, g->n, &p->b);
    if (g->beta != 0)
        put_matrix(w, gemm_buffer_name(w->arena, "C", index, count), p->out, g, g->m, g->n, &p->c);
    put_matrix(w, gemm_buffer_name(w->arena, "D", index, count), p->out, g, g->m, g->n, &p->d);
    if (!g->bias) return;
    json_t *bias = json_pack("{s:s,s:[I]}", "dtype", cute_dtype_get(p->out)->name, "shape", (json_int_t)g->n);
    const char *name = gemm_buffer_name(w->arena, "bias", index, count);
    w->failed = w->failed || !name || !bias || json_object_set_new(w->buffers, name, bias) != 0;
}

/* ---- plans ---- */

/* A part of a buffer: a matrix at an offset. */
static json_t *view(const char *buffer, int64_t offset, int64_t rows, int64_t columns, int64_t row,
                    int64_t column)
{
    return json_pack("{s:s,s:I,s:[II],s:[II]}", "buffer", buffer, "offset", (json_int_t)offset, "shape",
                     (json_int_t)rows, (json_int_t)columns, "strides", (json_int_t)row, (json_int_t)column);
}

static json_t *vector_view(const char *buffer, int64_t elements)
{
    return json_pack("{s:s,s:[I],s:[i]}", "buffer", buffer, "shape", (json_int_t)elements, "strides", 1);
}

static void put_plan(writer *w, const char *function, json_t *args)
{
    json_t *plan = json_pack("{s:s,s:o}", "function", function, "args", args);
    w->failed = w->failed || !plan || json_array_append_new(w->plans, plan) != 0;
}

/* The kernel's A or B: where it lies, or as the copy that is made first. */
static json_t *operand(writer *w, const gemm_problem *p, const char *name, const gemm_matrix *m, int64_t rows,
                       int64_t item, bool packs, const char *packed)
{
    int64_t k = p->given.k, wide = gemm_packed_k(w->way, k);
    json_t *there = view(name, item * m->batch, rows, k, m->row, m->column);
    if (!packs) return there;
    put_plan(w, "gemm_pack",
             json_pack("{s:o,s:o}", "from", there, "to", view(packed, 0, rows, wide, wide, 1)));
    return view(packed, 0, rows, wide, wide, 1);
}

/* C, D, bias, alpha and beta of one matrix of a batch. D and C as the kernel sees them, or as they lie. */
static json_t *epilogue_args(writer *w, const gemm_problem *p, size_t index, size_t count, int64_t item,
                             bool swapped, const char *result, const char *addend)
{
    const cute_gemm_problem *g = &p->given;
    const char *d = gemm_buffer_name(w->arena, "D", index, count);
    int64_t rows = swapped ? g->n : g->m, columns = swapped ? g->m : g->n;
    const gemm_matrix *of = g->beta == 0 ? &p->d : &p->c; /* what is not used has to be something */
    json_t *out = view(d, item * p->d.batch, rows, columns, swapped ? p->d.column : p->d.row,
                       swapped ? p->d.row : p->d.column);
    json_t *c = view(g->beta == 0 ? d : gemm_buffer_name(w->arena, "C", index, count), item * of->batch, rows,
                     columns, swapped ? of->column : of->row, swapped ? of->row : of->column);
    json_t *bias = json_pack("{s:s,s:[I],s:[I]}", "buffer",
                             g->bias ? gemm_buffer_name(w->arena, "bias", index, count) : d, "shape",
                             (json_int_t)(g->bias ? g->n : 1), "strides", (json_int_t)1);
    return json_pack("{s:o,s:o,s:o,s:f,s:f}", result, out, addend, c, "bias", bias, "alpha", g->alpha, "beta",
                     g->beta);
}

static void put_steps(writer *w, const gemm_problem *p, size_t index, size_t count, int64_t item)
{
    const gemm_way *way = w->way;
    const gemm_kernel *kernel = way->config->kernel;
    gemm_view v = gemm_view_of(way, p);
    const char *a = gemm_buffer_name(w->arena, way->swapped ? "B" : "A", index, count);
    const char *b = gemm_buffer_name(w->arena, way->swapped ? "A" : "B", index, count);
    const char *d = gemm_buffer_name(w->arena, "D", index, count);
    int64_t row = sums_row(v.columns);
    json_t *first = operand(w, p, a, &v.a, v.rows, item, way->pack_a, "packed_a");
    json_t *second = operand(w, p, b, &v.b, v.columns, item, way->pack_b, "packed_b");
    /* Sums have room for what a kernel writes in whole units; behind the columns of B it sees zeros. */
    int64_t wide = kernel->row_bytes ? row : v.columns;
    json_t *args = way->fused
                       ? epilogue_args(w, p, index, count, item, way->swapped, kernel->result, kernel->addend)
                       : json_object();
    json_object_set_new(args, "A", first);
    json_object_set_new(args, "B", second);
    if (way->epilogue)
        json_object_set_new(args, kernel->result, view("sums", 0, v.rows, wide, row, 1));
    else if (!way->fused)
        json_object_set_new(args, kernel->result,
                            view(d, item * p->d.batch, v.rows, v.columns, p->given.ld_d, 1));
    if (kernel->always_fused && !way->fused) {
        json_object_set_new(args, kernel->addend, view("sums", 0, v.rows, wide, row, 1));
        json_object_set_new(args, "bias", vector_view("sums", 1));
        json_object_set_new(args, "alpha", json_real(1));
        json_object_set_new(args, "beta", json_real(0));
    }
    if (way->config->sharing) {
        int64_t blocks = way->multiprocessors;
        json_t *slots = vector_view("slots", blocks * way->config->bm * way->config->bn);
        put_plan(w, "gemm_clear", json_pack("{s:o}", "flags", vector_view("flags", blocks * FLAGS)));
        json_object_set_new(args, "slots", slots);
        json_object_set_new(args, "flags", vector_view("flags", blocks * FLAGS));
    }
    put_plan(w, kernel->function, args);
    if (!way->epilogue) return;
    json_t *then = epilogue_args(w, p, index, count, item, false, "D", "C");
    json_object_set_new(then, "P",
                        way->swapped ? view("sums", 0, p->given.m, p->given.n, 1, row)
                                     : view("sums", 0, p->given.m, p->given.n, row, 1));
    put_plan(w, "gemm_epilogue", then);
}

json_t *gemm_document(const gemm_way *way, const gemm_problem *problems, size_t count)
{
    writer w = {cute_arena_create(), way, json_object(), json_array(), false};
    gemm_workspace work;
    json_t *document = json_object();
    w.failed = !w.arena || !w.buffers || !w.plans || !document ||
               gemm_workspace_of(way, problems, count, &work, NULL) != CUTE_OK;
    int64_t in = cute_dtype_get(problems[0].in)->bytes;
    for (size_t i = 0; i < count && !w.failed; i++) put_buffers(&w, &problems[i], i, count);
    if (!w.failed && work.a) put_buffer(&w, "packed_a", problems[0].in, (int64_t)work.a / in);
    if (!w.failed && work.b) put_buffer(&w, "packed_b", problems[0].in, (int64_t)work.b / in);
    if (!w.failed && work.sums) put_buffer(&w, "sums", way->product, (int64_t)work.sums / 4);
    if (!w.failed && work.slots) put_buffer(&w, "slots", problems[0].sum, (int64_t)work.slots / 4);
    if (!w.failed && work.flags) put_buffer(&w, "flags", CUTE_I32, (int64_t)work.flags / 4);
    for (size_t i = 0; i < count; i++)
        for (int64_t item = 0; item < problems[i].given.batch && !w.failed; item++)
            put_steps(&w, &problems[i], i, count, item);
    json_object_set_new(document, "plan", w.plans);
    json_object_set_new(document, "buffers", w.buffers);
    cute_arena_destroy(w.arena);
    if (!w.failed) return document;
    json_decref(document);
    return NULL;
}

/* ---- data and what is expected ---- */

/* Rounding of the sums and of the result, for data of mean 0 and deviation 1: `k` terms each. */
static void tolerances(const gemm_problem *p, double *rtol, double *atol)
{
    const cute_gemm_problem *g = &p->given;
    const cute_dtype_info *out = cute_dtype_get(p->out);
    double k = (double)g->k, scale = g->alpha < 0 ? -g->alpha : g->alpha;
    double root = 1;
    while (root * root < k) root *= 2;
    double eps = p->out == CUTE_I32 ? 0 : 1;
    for (int i = 0; i <= out->mantissa && eps != 0; i++) eps /= 2;
    *rtol = 2 * eps;
    /* Sums of k terms are as large as its root; instructions of tensor cores cut off what is below the last bit of f32
     * at each step of k, those of fp8 below 13 bits behind the point, always towards zero: what a step of 32 loses adds up, where sums
     * of 128 are not added as f32. */
    bool cut = gemm_class_of(p->in) == GEMM_FP8;
    double steps = (p->fast || k < 128 ? k : 128) / 32;
    double sum = cut ? 0x1p-15 * (steps + 16) : 0x1p-24 * (k / 8 + 16);
    *atol = p->in == CUTE_I8 ? 0 : sum * root * scale * 4;
    if (p->out != CUTE_I32 && p->in == CUTE_I8) *rtol = 4 * eps;
    if (out->mantissa < 4 && p->out != CUTE_I32) *atol += 0x1p-9;
    if (g->activation == CUTE_GEMM_GELU) *atol += 1e-4;
    if (p->out == CUTE_I32) *rtol = 0;
    /* A sum that is much larger than that root loses at each step half of its own 13th bit. */
    if (cut) *rtol += 0x1p-14 * steps;
}

static const char *expected(cute_arena *arena, const gemm_problem *p, size_t index, size_t count)
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

static void add_init(json_t *buffers, const char *name, cute_dtype in, const char *type)
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

/* The problem, alone, as a baseline that cuBLASLt computes from the same buffers. */
static json_t *peer_json(const gemm_problem *p)
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
        json_t *baseline = json_pack("{s:o}", "cublas", peer_json(&problems[0]));
        if (problems[0].fast)
            json_object_set_new(baseline, "name", json_string("cuBLASLt, fast accumulation"));
        json_object_set_new(bench, "baselines", json_pack("[o]", baseline));
    }
    json_object_set_new(document, "bench", bench);
}

void gemm_document_check(json_t *document, const gemm_problem *problems, size_t count)
{
    enum { WHOLE = 1 << 28, SAMPLES = 2000 }; /* products that are computed whole, in multiplications */
    json_t *buffers = json_object_get(document, "buffers"), *checks = json_object();
    cute_arena *arena = cute_arena_create();
    for (size_t i = 0; arena && i < count; i++) {
        const gemm_problem *p = &problems[i];
        const cute_gemm_problem *g = &p->given;
        bool batched = g->batch > 1;
        double rtol, atol;
        tolerances(p, &rtol, &atol);
        add_init(buffers, gemm_buffer_name(arena, "A", i, count), p->in, NULL);
        add_init(buffers, gemm_buffer_name(arena, "B", i, count), p->in, NULL);
        add_init(buffers, gemm_buffer_name(arena, "C", i, count), p->out, NULL);
        add_init(buffers, gemm_buffer_name(arena, "bias", i, count), p->out, NULL);
        const char *epilogue = expected(arena, p, i, count);
        json_t *check = json_pack(
            "{s:s,s:[ss],s:f,s:f,s:s}", "einsum", batched ? "lmk,lkn->lmn" : "mk,kn->mn", "operands",
            gemm_buffer_name(arena, "A", i, count), gemm_buffer_name(arena, "B", i, count), "rtol", rtol,
            "atol", atol, "epilogue", epilogue ? epilogue : "x");
        if (batched) json_object_set_new(check, "index", json_pack("[sss]", "l", "i", "j"));
        if ((double)g->m * (double)g->n * (double)g->k * (double)g->batch > WHOLE)
            json_object_set_new(check, "sample", json_integer(SAMPLES));
        json_object_set_new(checks, gemm_buffer_name(arena, "D", i, count), check);
    }
    json_object_set_new(document, "check", checks);
    cute_arena_destroy(arena);
}
