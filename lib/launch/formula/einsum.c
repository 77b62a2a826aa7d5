/* Einstein summation. Contractions of two operands are packed as [batch][m][k] and [batch][k][n] and
 * multiplied in blocks; others are summed element by element. */
#include "lib/launch/formula/einsum.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/launch/data/parallel.h"

static int label_of(char c)
{
    if (c >= 'a' && c <= 'z') return c - 'a';
    if (c >= 'A' && c <= 'Z') return 26 + c - 'A';
    return -1;
}

#define COMPLAIN(...) (snprintf(message, size, __VA_ARGS__), CUTE_INVALID)

typedef struct labels {
    int number[EINSUM_LABELS]; /* -1: not seen yet */
    char letter[EINSUM_LABELS];
} labels;

static int label_number(labels *l, cute_einsum *e, char c)
{
    int *number = &l->number[label_of(c)];
    if (*number < 0) {
        *number = e->label_count;
        l->letter[e->label_count] = c;
        e->extents[e->label_count++] = -1;
    }
    return *number;
}

static cute_status set_label_extent(cute_einsum *e, int number, int64_t extent, char letter, const char *name,
                                    char *message, size_t size)
{
    int64_t known = e->extents[number];
    e->extents[number] = extent;
    if (known < 0 || known == extent) return CUTE_OK;
    return COMPLAIN("expected extent %lld of label '%c' in %s, got %lld", (long long)known, letter, name,
                    (long long)extent);
}

cute_status cute_einsum_parse(const char *text, const cute_tensor *const *operands, int count,
                              const cute_tensor *result, cute_einsum *out, char *message, size_t size)
{
    const char *arrow = strstr(text, "->");
    labels l;
    memset(out, 0, sizeof *out);
    memset(&l, -1, sizeof l);
    if (!arrow) return COMPLAIN("expected '->', as in \"mk,kn->mn\"");
    if (count < 1 || count > EINSUM_OPERANDS)
        return COMPLAIN("expected 1 to %d operands, got %d", EINSUM_OPERANDS, count);
    /* The result's labels come first and get the lowest numbers. */
    int rank = 0;
    for (const char *c = arrow + 2; *c; c++) {
        if (*c == ' ') continue;
        if (label_of(*c) < 0) return COMPLAIN("expected a letter as a label, got '%c'", *c);
        if (l.number[label_of(*c)] >= 0) return COMPLAIN("label '%c' is repeated in the result", *c);
        int number = label_number(&l, out, *c);
        if (rank < result->rank)
            CUTE_TRY(set_label_extent(out, number, result->shape[rank], *c, result->name, message, size));
        rank++;
    }
    if (rank != result->rank)
        return COMPLAIN("expected %d label%s of the result, one for each dimension of %s, got %d",
                        result->rank, result->rank == 1 ? "" : "s", result->name, rank);
    out->out_count = out->label_count;
    bool fed[EINSUM_LABELS] = {false};
    int operand = 0, dimension = 0;
    for (const char *c = text;; c++) {
        if (*c == ' ') continue;
        if (operand >= count)
            return COMPLAIN("expected %d operand%s, one for each buffer, got more", count,
                            count == 1 ? "" : "s");
        const cute_tensor *t = operands[operand];
        if (c == arrow || *c == ',') {
            if (dimension != t->rank)
                return COMPLAIN("expected %d label%s of operand %d, one for each dimension of %s, got %d",
                                t->rank, t->rank == 1 ? "" : "s", operand, t->name, dimension);
            out->operands[operand++] = t;
            dimension = 0;
            if (c == arrow) break;
            continue;
        }
        if (label_of(*c) < 0) return COMPLAIN("expected a letter as a label, got '%c'", *c);
        int number = label_number(&l, out, *c);
        if (dimension < t->rank) {
            CUTE_TRY(set_label_extent(out, number, t->shape[dimension], *c, t->name, message, size));
            out->strides[operand][number] += t->strides[dimension];
        }
        fed[number] = true;
        dimension++;
    }
    if (operand != count)
        return COMPLAIN("expected %d operand%s, one for each buffer, got %d", count, count == 1 ? "" : "s",
                        operand);
    for (int i = 0; i < out->out_count; i++)
        if (!fed[i]) return COMPLAIN("label '%c' of the result is not in any operand", l.letter[i]);
    out->operand_count = count;
    out->work = 1;
    for (int i = 0; i < out->label_count; i++) out->work *= (double)out->extents[i];
    return CUTE_OK;
}

/* ---- one element ---- */

static double load_element(const cute_tensor *t, int64_t offset)
{
    double value;
    cute_dtype_load(t->dtype, (const char *)t->data + offset * cute_dtype_get(t->dtype)->bytes, 1, 1, &value);
    return value;
}

double cute_einsum_element(const cute_einsum *e, const int64_t *index)
{
    enum { RUN = 256 };
    int64_t offsets[EINSUM_OPERANDS], counter[EINSUM_LABELS] = {0};
    for (int i = e->out_count; i < e->label_count; i++)
        if (e->extents[i] == 0) return 0;
    for (int o = 0; o < e->operand_count; o++) {
        offsets[o] = e->operands[o]->offset;
        for (int i = 0; i < e->out_count; i++) offsets[o] += index[i] * e->strides[o][i];
    }
    int last = e->label_count - 1;
    bool summed = last >= e->out_count;
    int64_t extent = summed ? e->extents[last] : 1;
    double total = 0;
    for (;;) {
        for (int64_t k = 0; k < extent; k += RUN) {
            double product[RUN], values[RUN];
            int count = extent - k < RUN ? (int)(extent - k) : RUN;
            for (int o = 0; o < e->operand_count; o++) {
                const cute_tensor *t = e->operands[o];
                int64_t stride = summed ? e->strides[o][last] : 0;
                const char *from =
                    (const char *)t->data + (offsets[o] + k * stride) * cute_dtype_get(t->dtype)->bytes;
                cute_dtype_load(t->dtype, from, stride, (size_t)count, o ? values : product);
                for (int i = 0; o && i < count; i++) product[i] *= values[i];
            }
            for (int i = 0; i < count; i++) total += product[i];
        }
        /* Advance the other summed labels like an odometer. */
        int i = last - 1;
        for (; i >= e->out_count; i--) {
            for (int o = 0; o < e->operand_count; o++) offsets[o] += e->strides[o][i];
            if (++counter[i] < e->extents[i]) break;
            for (int o = 0; o < e->operand_count; o++) offsets[o] -= e->strides[o][i] * e->extents[i];
            counter[i] = 0;
        }
        if (i < e->out_count) return total;
    }
}

/* ---- contractions of two operands ---- */

typedef struct label_group {
    int labels[EINSUM_LABELS], count;
    int64_t size;
} label_group;

typedef struct contraction {
    const cute_einsum *einsum;
    label_group batch, m, n, k;
    double *a, *b, *out; /* [batch][m][k], [batch][k][n], the result in its own order */
} contraction;

enum { BLOCK_M = 8, BLOCK_N = 256 };

static bool classify_labels(const cute_einsum *e, contraction *p)
{
    if (e->operand_count != 2) return false;
    label_group *const groups[] = {&p->batch, &p->m, &p->n, &p->k};
    for (int g = 0; g < 4; g++) *groups[g] = (label_group){.size = 1};
    for (int i = 0; i < e->label_count; i++) {
        bool in_a = e->strides[0][i] != 0 || e->extents[i] == 1, in_b = e->strides[1][i] != 0;
        bool out = i < e->out_count;
        label_group *g = out ? (in_a && in_b ? &p->batch : in_b ? &p->n : &p->m) : &p->k;
        if (!out && e->extents[i] > 1 && !(in_a && in_b)) return false;
        g->labels[g->count++] = i;
        g->size *= e->extents[i];
    }
    return true;
}

/* The offset of index `linear` of a group. */
static int64_t group_offset(const cute_einsum *e, const label_group *g, const int64_t *strides,
                            int64_t linear)
{
    int64_t offset = 0;
    for (int i = g->count; i-- > 0; linear /= e->extents[g->labels[i]])
        offset += linear % e->extents[g->labels[i]] * strides[g->labels[i]];
    return offset;
}

static void pack_operand(const cute_einsum *e, int operand, const label_group *batch, const label_group *rows,
                         const label_group *columns, double *out, int64_t begin, int64_t end)
{
    const int64_t *strides = e->strides[operand];
    const cute_tensor *t = e->operands[operand];
    for (int64_t row = begin; row < end; row++) {
        int64_t base = t->offset + group_offset(e, batch, strides, row / rows->size) +
                       group_offset(e, rows, strides, row % rows->size);
        double *to = out + row * columns->size;
        if (columns->count == 1) {
            int64_t stride = strides[columns->labels[0]];
            cute_dtype_load(t->dtype, (const char *)t->data + base * cute_dtype_get(t->dtype)->bytes, stride,
                            (size_t)columns->size, to);
            continue;
        }
        for (int64_t i = 0; i < columns->size; i++)
            to[i] = load_element(t, base + group_offset(e, columns, strides, i));
    }
}

static void pack_a(void *context, int64_t begin, int64_t end, int worker)
{
    const contraction *p = context;
    (void)worker;
    pack_operand(p->einsum, 0, &p->batch, &p->m, &p->k, p->a, begin, end);
}

static void pack_b(void *context, int64_t begin, int64_t end, int worker)
{
    const contraction *p = context;
    (void)worker;
    pack_operand(p->einsum, 1, &p->batch, &p->k, &p->n, p->b, begin, end);
}

/* acc[r][c] += a[r][i] * b[i][c]; the compiler vectorizes the loops. */
static inline __attribute__((always_inline)) void multiply_block(const double *a, const double *b, int64_t k,
                                                                 int64_t n, int rows, int columns,
                                                                 double acc[BLOCK_M][BLOCK_N])
{
    for (int64_t i = 0; i < k; i++) {
        const double *right = b + i * n;
        for (int r = 0; r < rows; r++) {
            double left = a[r * k + i];
            for (int c = 0; c < columns; c++) acc[r][c] += left * right[c];
        }
    }
}

#if defined(__x86_64__)
static __attribute__((target("avx2,fma"))) void multiply_block_avx2(const double *a, const double *b,
                                                                    int64_t k, int64_t n, int rows,
                                                                    int columns, double acc[BLOCK_M][BLOCK_N])
{
    multiply_block(a, b, k, n, rows, columns, acc);
}
static bool has_avx2(void)
{
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
}
#else
#define multiply_block_avx2 multiply_block
static bool has_avx2(void)
{
    return false;
}
#endif

static void multiply_rows(void *context, int64_t begin, int64_t end, int worker)
{
    const contraction *p = context;
    const cute_einsum *e = p->einsum;
    int64_t blocks = (p->m.size + BLOCK_M - 1) / BLOCK_M, out_strides[EINSUM_LABELS], stride = 1;
    (void)worker;
    for (int i = e->out_count; i-- > 0; stride *= e->extents[i]) out_strides[i] = stride;
    for (int64_t at = begin; at < end; at++) {
        int64_t batch = at / blocks, row = at % blocks * BLOCK_M;
        int rows = p->m.size - row < BLOCK_M ? (int)(p->m.size - row) : BLOCK_M;
        const double *a = p->a + (batch * p->m.size + row) * p->k.size,
                     *b = p->b + batch * p->k.size * p->n.size;
        int64_t base = group_offset(e, &p->batch, out_strides, batch);
        for (int64_t column = 0; column < p->n.size; column += BLOCK_N) {
            double acc[BLOCK_M][BLOCK_N] = {{0}};
            int columns = p->n.size - column < BLOCK_N ? (int)(p->n.size - column) : BLOCK_N;
            if (has_avx2())
                multiply_block_avx2(a, b + column, p->k.size, p->n.size, rows, columns, acc);
            else
                multiply_block(a, b + column, p->k.size, p->n.size, rows, columns, acc);
            for (int r = 0; r < rows; r++) {
                int64_t left = base + group_offset(e, &p->m, out_strides, row + r);
                for (int c = 0; c < columns; c++)
                    p->out[left + group_offset(e, &p->n, out_strides, column + c)] = acc[r][c];
            }
        }
    }
}

static void compute_elements(void *context, int64_t begin, int64_t end, int worker)
{
    const contraction *p = context;
    const cute_einsum *e = p->einsum;
    (void)worker;
    for (int64_t at = begin; at < end; at++) {
        int64_t index[EINSUM_LABELS], rest = at;
        for (int i = e->out_count; i-- > 0; rest /= e->extents[i]) index[i] = rest % e->extents[i];
        p->out[at] = cute_einsum_element(e, index);
    }
}

double *cute_einsum_all(const cute_einsum *e)
{
    contraction p = {.einsum = e};
    int64_t count = 1;
    for (int i = 0; i < e->out_count; i++) count *= e->extents[i];
    p.out = malloc((size_t)(count ? count : 1) * sizeof *p.out);
    if (!p.out || count == 0) return p.out;
    if (classify_labels(e, &p)) {
        p.a = malloc((size_t)(p.batch.size * p.m.size * p.k.size + 1) * sizeof *p.a);
        p.b = malloc((size_t)(p.batch.size * p.k.size * p.n.size + 1) * sizeof *p.b);
    }
    if (p.a && p.b) {
        cute_parallel(p.batch.size * p.m.size, 16, pack_a, &p);
        cute_parallel(p.batch.size * p.k.size, 16, pack_b, &p);
        int64_t blocks = (p.m.size + BLOCK_M - 1) / BLOCK_M;
        cute_parallel(p.batch.size * blocks, p.k.size * p.n.size > 1 << 16 ? 1 : 64, multiply_rows, &p);
    } else {
        cute_parallel(count, 256, compute_elements, &p);
    }
    free(p.a);
    free(p.b);
    return p.out;
}
