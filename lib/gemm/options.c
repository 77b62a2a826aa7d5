/* Parses cute-run's --gemm options: shapes such as 4096x4096x4096, separated by commas, types and layouts. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/gemm/gemm.h"

static cute_status read_shape(const char *text, size_t length, cute_gemm_problem *out, cute_diag *diag)
{
    int64_t *const to[3] = {&out->m, &out->n, &out->k};
    const char *at = text;
    for (int i = 0; i < 3; i++) {
        char *end;
        errno = 0;
        *to[i] = *at >= '0' && *at <= '9' ? strtoll(at, &end, 10) : -1;
        bool good = *to[i] > 0 && !errno && (i < 2 ? *end == 'x' : end == text + length);
        if (!good)
            return cute_fail(diag, CUTE_USAGE, NULL,
                             "--gemm expects a shape MxNxK such as 4096x4096x64, got '%.*s'", (int)length,
                             text);
        at = end + 1;
    }
    return CUTE_OK;
}

static cute_status read_number(const char *name, const char *text, double *out, cute_diag *diag)
{
    char *end;
    if (!text) return CUTE_OK;
    *out = strtod(text, &end);
    if (end != text && !*end) return CUTE_OK;
    return cute_fail(diag, CUTE_USAGE, NULL, "--%s expects a number, got '%s'", name, text);
}

/* As in BLAS: t is row-major, n column-major. The third letter is D's. */
static cute_status read_layout(const char *text, cute_gemm_problem *out, cute_diag *diag)
{
    cute_gemm_order *const to[3] = {&out->order_a, &out->order_b, &out->order_d};
    size_t length = strlen(text);
    for (size_t i = 0; i < length && (length == 2 || length == 3); i++) {
        if (text[i] != 't' && text[i] != 'n') length = 0;
        if (length) *to[i] = text[i] == 't' ? CUTE_GEMM_ROWS : CUTE_GEMM_COLUMNS;
    }
    if (length == 2 || length == 3) return CUTE_OK;
    return cute_fail(
        diag, CUTE_USAGE, NULL,
        "--layout expects tn, nn, nt or tt, for A and B by rows (t) or by columns (n), and a third letter "
        "for D, got '%s'",
        text);
}

static cute_status read_values(cute_arena *arena, const gemm_words *words, cute_gemm_problem *out,
                               cute_diag *diag)
{
    cute_gemm_value *values = cute_arena_array(arena, words->value_count + 1, sizeof *values);
    if (!values) return cute_fail_memory(diag);
    for (size_t i = 0; i < words->value_count; i++) {
        const char *word = words->values[i], *equals = strchr(word, '=');
        if (!equals) return cute_fail(diag, CUTE_USAGE, NULL, "-D expects NAME=VALUE, got '%s'", word);
        values[i].name = cute_arena_copy(arena, word, (size_t)(equals - word));
        if (!values[i].name) return cute_fail_memory(diag);
        CUTE_TRY(read_number("define", equals + 1, &values[i].value, diag));
    }
    out->values = values;
    out->value_count = words->value_count;
    return CUTE_OK;
}

cute_status gemm_problems_parse(cute_arena *arena, const gemm_words *words, cute_gemm_problem **out,
                                size_t *count, cute_diag *diag)
{
    cute_gemm_problem one = CUTE_GEMM_PROBLEM;
    one.type_a = words->dtype ? words->dtype : "bf16";
    one.type_d = words->dtype_d;
    one.accumulate = words->accumulate;
    one.batch = words->batch;
    one.align = words->align;
    one.bias = words->bias;
    one.activation = words->gelu ? CUTE_GEMM_GELU : words->relu ? CUTE_GEMM_RELU : CUTE_GEMM_LINEAR;
    if (words->relu && words->gelu)
        return cute_fail(diag, CUTE_USAGE, NULL, "expected one of --relu and --gelu, got both");
    if (words->batch < 0)
        return cute_fail(diag, CUTE_USAGE, NULL, "--batch expects a positive integer, got %lld",
                         (long long)words->batch);
    one.epilogue = words->epilogue;
    if (words->epilogue) CUTE_TRY(read_values(arena, words, &one, diag));
    CUTE_TRY(read_layout(words->layout ? words->layout : "tn", &one, diag));
    CUTE_TRY(read_number("alpha", words->alpha, &one.alpha, diag));
    CUTE_TRY(read_number("beta", words->beta, &one.beta, diag));
    *count = 1;
    for (const char *c = words->shapes; *c; c++) *count += *c == ',';
    *out = cute_arena_array(arena, *count, sizeof **out);
    if (!*out) return cute_fail_memory(diag);
    const char *at = words->shapes;
    for (size_t i = 0; i < *count; i++) {
        size_t length = strcspn(at, ",");
        (*out)[i] = one;
        CUTE_TRY(read_shape(at, length, &(*out)[i], diag));
        at += length + 1;
    }
    return CUTE_OK;
}
