/* Reads a problem: fills in defaults and rejects inconsistent ones. */
#include <math.h>
#include <string.h>

#include "lib/base/abi.h"
#include "lib/base/numbers/checked.h"
#include "lib/base/options/nearest.h"
#include "lib/gemm/gemm.h"

typedef struct problem_reader {
    int which;
    cute_diag *diag;
} problem_reader;

static cute_status fail_problem(const problem_reader *r, const char *format, ...) CUTE_PRINTF(2, 3);
static cute_status fail_problem(const problem_reader *r, const char *format, ...)
{
    cute_buffer text = {0};
    va_list args;
    if (r->which >= 0) cute_buffer_printf(&text, "product %d of the group: ", r->which);
    va_start(args, format);
    cute_buffer_vprintf(&text, format, args);
    va_end(args);
    cute_fail(r->diag, CUTE_USAGE, NULL, "%s", cute_buffer_text(&text));
    cute_buffer_release(&text);
    return CUTE_USAGE;
}

/* ---- types ---- */

static const struct type_row {
    cute_dtype in, sum, usual; /* usual: the default type of D */
    cute_dtype out[6];         /* the supported types of D */
    int out_count;
} type_rows[] = {
    {CUTE_F16, CUTE_F32, CUTE_F16, {CUTE_F32, CUTE_F16, CUTE_BF16, CUTE_E4M3, CUTE_E5M2}, 5},
    {CUTE_BF16, CUTE_F32, CUTE_BF16, {CUTE_F32, CUTE_F16, CUTE_BF16, CUTE_E4M3, CUTE_E5M2}, 5},
    {CUTE_TF32, CUTE_F32, CUTE_F32, {CUTE_F32, CUTE_F16, CUTE_BF16, CUTE_E4M3, CUTE_E5M2}, 5},
    {CUTE_F32, CUTE_F32, CUTE_F32, {CUTE_F32, CUTE_F16, CUTE_BF16, CUTE_E4M3, CUTE_E5M2}, 5},
    {CUTE_E4M3, CUTE_F32, CUTE_F32, {CUTE_F32, CUTE_F16, CUTE_BF16, CUTE_E4M3, CUTE_E5M2}, 5},
    {CUTE_E5M2, CUTE_F32, CUTE_F32, {CUTE_F32, CUTE_F16, CUTE_BF16, CUTE_E4M3, CUTE_E5M2}, 5},
    {CUTE_I8, CUTE_I32, CUTE_I32, {CUTE_I32, CUTE_F32, CUTE_F16, CUTE_BF16}, 4},
};
enum { TYPE_ROWS = sizeof type_rows / sizeof *type_rows };

static const char *in_name_at(const void *unused, size_t index)
{
    (void)unused;
    return index < TYPE_ROWS ? cute_dtype_get(type_rows[index].in)->name : NULL;
}

static const char fast_sums[] = "fast";

static cute_status read_types(const problem_reader *r, const cute_gemm_problem *p, gemm_problem *out)
{
    const struct type_row *row = NULL;
    cute_dtype type;
    if (!p->type_a) return fail_problem(r, "expected the type of A, got none");
    for (size_t i = 0; i < TYPE_ROWS && !row; i++)
        if (cute_dtype_find(p->type_a, &type) && type == type_rows[i].in) row = &type_rows[i];
    if (!row) {
        const char *near = cute_nearest(p->type_a, in_name_at, NULL);
        return fail_problem(
            r,
            near ? "expected f16, bf16, tf32, f32, e4m3, e5m2 or i8 as the type of A, got '%s'; did "
                   "you mean '%s'?"
                 : "expected f16, bf16, tf32, f32, e4m3, e5m2 or i8 as the type of A, got '%s'",
            p->type_a, near);
    }
    out->in = row->in;
    out->sum = row->sum;
    out->out = row->usual;
    if (p->type_b && (!cute_dtype_find(p->type_b, &type) || type != row->in))
        return fail_problem(r, "expected B of the type of A, '%s', got '%s'", p->type_a, p->type_b);
    bool eight = gemm_class_of(row->in) == GEMM_FP8;
    out->fast = eight && (!p->accumulate || strcmp(p->accumulate, fast_sums) == 0);
    if (p->accumulate && !out->fast && (!cute_dtype_find(p->accumulate, &type) || type != row->sum))
        return fail_problem(r, "expected %s as the accumulator of %s, got '%s'",
                            eight ? "f32 or fast" : cute_dtype_get(row->sum)->name, p->type_a, p->accumulate);
    if (!p->type_d) return CUTE_OK;
    for (int i = 0; cute_dtype_find(p->type_d, &type) && i < row->out_count; i++) {
        if (type != row->out[i]) continue;
        out->out = type;
        return CUTE_OK;
    }
    return fail_problem(r, "expected %s as the type of D, got '%s'",
                        row->in == CUTE_I8 ? "i32, f32, f16 or bf16" : "f32, f16, bf16, e4m3 or e5m2",
                        p->type_d);
}

/* ---- matrices ---- */

static cute_status read_matrix(const problem_reader *r, char name, cute_gemm_order order, int64_t rows,
                               int64_t columns, int64_t *ld, int64_t batch, int64_t *stride, gemm_matrix *out)
{
    int64_t lines = order == CUTE_GEMM_ROWS ? rows : columns,
            length = order == CUTE_GEMM_ROWS ? columns : rows;
    int64_t one, all;
    if (order != CUTE_GEMM_ROWS && order != CUTE_GEMM_COLUMNS)
        return fail_problem(r, "expected the order of %c by rows (0) or by columns (1), got %d", name,
                            (int)order);
    if (!*ld) *ld = length;
    if (*ld < length)
        return fail_problem(r, "expected a leading dimension of %c of at least %lld, got %lld", name,
                            (long long)length, (long long)*ld);
    if (!cute_mul64(*ld, lines, &one) || one > INT64_MAX / 64)
        return fail_problem(r, "the size of %c exceeds 64 bits", name);
    if (!*stride) *stride = one;
    one -= *ld - length;
    if (*stride < 0 || (batch > 1 && name == 'D' && *stride < one))
        return fail_problem(r, "expected a batch stride of %c of at least %lld elements, got %lld", name,
                            (long long)one, (long long)*stride);
    if (!cute_mul64(*stride, batch - 1, &all) || !cute_add64(all, one, &all) || all > INT64_MAX / 64)
        return fail_problem(r, "the size of the batch of %c exceeds 64 bits", name);
    *out = (gemm_matrix){.row = order == CUTE_GEMM_ROWS ? *ld : 1,
                         .column = order == CUTE_GEMM_ROWS ? 1 : *ld,
                         .batch = *stride,
                         .span = all};
    return CUTE_OK;
}

static cute_status read_epilogue(const problem_reader *r, const gemm_problem *q)
{
    const cute_gemm_problem *p = &q->given;
    if (!isfinite(p->alpha) || !isfinite(p->beta))
        return fail_problem(r, "expected finite alpha and beta, got %g and %g", p->alpha, p->beta);
    bool integers = q->out == CUTE_I32;
    if (integers && (p->alpha != rint(p->alpha) || p->beta != rint(p->beta)))
        return fail_problem(r, "expected integer alpha and beta for D of i32, got %g and %g", p->alpha,
                            p->beta);
    if (integers && p->activation == CUTE_GEMM_GELU)
        return fail_problem(r, "expected D of a floating-point type for gelu, got i32");
    if (p->activation < CUTE_GEMM_LINEAR || p->activation > CUTE_GEMM_GELU)
        return fail_problem(r, "unknown activation %d", (int)p->activation);
    return CUTE_OK;
}

cute_status gemm_problem_read(const cute_gemm_problem *given, int which, gemm_problem *out, cute_diag *diag)
{
    const problem_reader r = {which, diag};
    cute_gemm_problem *p = &out->given;
    *out = (gemm_problem){0};
    CUTE_TRY(cute_struct_read(p, sizeof *p, given, "cute_gemm_problem", diag));
    if (p->m < 1 || p->n < 1 || p->k < 1 || p->m > INT32_MAX || p->n > INT32_MAX || p->k > INT32_MAX)
        return fail_problem(&r, "expected m, n and k from 1 to %d, got %lld, %lld and %lld", INT32_MAX,
                            (long long)p->m, (long long)p->n, (long long)p->k);
    if (!p->batch) p->batch = 1;
    if (p->batch < 1 || p->batch > 65535)
        return fail_problem(&r, "expected a batch of 1 to 65535, got %lld", (long long)p->batch);
    if (!p->align) p->align = 16;
    if (p->align < 1 || p->align & (p->align - 1))
        return fail_problem(&r, "expected a power of two as the alignment, got %lld bytes",
                            (long long)p->align);
    CUTE_TRY(read_types(&r, p, out));
    CUTE_TRY(read_matrix(&r, 'A', p->order_a, p->m, p->k, &p->ld_a, p->batch, &p->stride_a, &out->a));
    CUTE_TRY(read_matrix(&r, 'B', p->order_b, p->k, p->n, &p->ld_b, p->batch, &p->stride_b, &out->b));
    CUTE_TRY(read_matrix(&r, 'C', p->order_d, p->m, p->n, &p->ld_c, p->batch, &p->stride_c, &out->c));
    CUTE_TRY(read_matrix(&r, 'D', p->order_d, p->m, p->n, &p->ld_d, p->batch, &p->stride_d, &out->d));
    if (p->align < cute_dtype_get(out->in)->bytes || p->align < cute_dtype_get(out->out)->bytes)
        return fail_problem(&r, "expected an alignment of at least one element, got %lld bytes",
                            (long long)p->align);
    /* Strings are the table's, so the caller's need not outlive the call. */
    p->type_a = p->type_b = cute_dtype_get(out->in)->name;
    p->type_d = cute_dtype_get(out->out)->name;
    p->accumulate = out->fast ? fast_sums : cute_dtype_get(out->sum)->name;
    return read_epilogue(&r, out);
}

bool gemm_is_plain(const gemm_problem *problem)
{
    const cute_gemm_problem *g = &problem->given;
    return g->alpha == 1 && g->beta == 0 && !g->bias && g->activation == CUTE_GEMM_LINEAR;
}
