/* A stand-in for libcublasLt.so, for tests without a GPU: products of f32 matrices by columns, as the library's own
 * documentation defines them, on memory of the host (fakecuda.c). Of its three algorithms the first needs more workspace
 * than anyone gives, the second fails when it runs, the third works. FAKECUBLAS=none: there is no algorithm; exact: there
 * is no fast accumulation. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define API __attribute__((visibility("default")))

enum { NOT_SUPPORTED = 15, FAILED = 13 };

typedef struct {
    int compute, scale, transpose[2], epilogue, bias_type;
    const float *bias;
} descriptor;
typedef struct {
    int type, batch;
    uint64_t rows, columns;
    int64_t ld, stride;
} layout;
typedef struct {
    uint64_t data[8];
    size_t workspace;
    int state;
    float waves;
    int reserved[4];
} proposal;

API int cublasLtCreate(void **handle)
{
    *handle = malloc(1);
    return 0;
}
API int cublasLtDestroy(void *handle)
{
    free(handle);
    return 0;
}
API int cublasLtMatmulDescCreate(void **out, int compute, int scale)
{
    descriptor *d = calloc(1, sizeof *d);
    d->compute = compute;
    d->scale = scale;
    d->epilogue = 1;
    *out = d;
    return compute == 68 && scale == 0 ? 0 : NOT_SUPPORTED;
}
API int cublasLtMatmulDescDestroy(void *d)
{
    free(d);
    return 0;
}
API int cublasLtMatmulDescSetAttribute(void *desc, int attribute, const void *value, size_t size)
{
    descriptor *d = desc;
    size_t wanted = attribute == 8 ? sizeof(void *) : attribute == 25 ? 1 : sizeof(int32_t);
    if (size != wanted) return 7;
    if (attribute == 3 || attribute == 4)
        memcpy(&d->transpose[attribute - 3], value, size);
    else if (attribute == 7)
        memcpy(&d->epilogue, value, size);
    else if (attribute == 8)
        memcpy(&d->bias, value, size);
    else if (attribute == 25)
        return getenv("FAKECUBLAS") && !strcmp(getenv("FAKECUBLAS"), "exact") && *(const int8_t *)value ? 7
                                                                                                        : 0;
    else if (attribute != 26)
        return 7;
    return 0;
}
API int cublasLtMatrixLayoutCreate(void **out, int type, uint64_t rows, uint64_t columns, int64_t ld)
{
    layout *l = calloc(1, sizeof *l);
    *l = (layout){.type = type, .batch = 1, .rows = rows, .columns = columns, .ld = ld};
    *out = l;
    return ld >= (int64_t)rows && type == 0 ? 0 : 7;
}
API int cublasLtMatrixLayoutDestroy(void *l)
{
    free(l);
    return 0;
}
API int cublasLtMatrixLayoutSetAttribute(void *to, int attribute, const void *value, size_t size)
{
    layout *l = to;
    if (attribute == 5 && size == sizeof l->batch)
        memcpy(&l->batch, value, size);
    else if (attribute == 6 && size == sizeof l->stride)
        memcpy(&l->stride, value, size);
    else
        return 7;
    return 0;
}
API int cublasLtMatmulPreferenceCreate(void **out)
{
    *out = calloc(1, sizeof(size_t));
    return 0;
}
API int cublasLtMatmulPreferenceDestroy(void *p)
{
    free(p);
    return 0;
}
API int cublasLtMatmulPreferenceSetAttribute(void *p, int attribute, const void *value, size_t size)
{
    if (attribute != 1 || size != sizeof(size_t)) return 7;
    memcpy(p, value, size);
    return 0;
}
API int cublasLtMatmulAlgoGetHeuristic(void *handle, void *desc, layout *a, layout *b, layout *c, layout *d,
                                       void *preference, int wanted, proposal *out, int *count)
{
    const descriptor *p = desc;
    const char *mode = getenv("FAKECUBLAS");
    uint64_t m = p->transpose[0] ? a->columns : a->rows, k = p->transpose[0] ? a->rows : a->columns;
    uint64_t k2 = p->transpose[1] ? b->columns : b->rows, n = p->transpose[1] ? b->rows : b->columns;
    (void)handle, (void)preference;
    *count = 0;
    if (mode && strcmp(mode, "none") == 0) return NOT_SUPPORTED;
    if (k != k2 || d->rows != m || d->columns != n || c->rows != m || c->columns != n) return 7;
    memset(out, 0, (size_t)wanted * sizeof *out);
    for (uint64_t i = 0; i < 3 && *count < wanted; i++, ++*count) out[i].data[0] = i;
    out[0].workspace = (size_t)1 << 40;
    return 0;
}
API int cublasLtMatmul(void *handle, void *desc, const float *alpha, const float *a, layout *la,
                       const float *b, layout *lb, const float *beta, const float *c, layout *lc, float *d,
                       layout *ld, const uint64_t *algo, void *workspace, size_t size, void *stream)
{
    const descriptor *p = desc;
    uint64_t depth = p->transpose[0] ? la->rows : la->columns;
    if (!handle || !stream || !workspace || !size || algo[0] == 0) return 7;
    if (algo[0] == 1) return FAILED;
    for (int64_t i = 0; i < ld->batch; i++)
        for (uint64_t column = 0; column < ld->columns; column++)
            for (uint64_t row = 0; row < ld->rows; row++) {
                double sum = 0;
                for (uint64_t k = 0; k < depth; k++) {
                    uint64_t ar = p->transpose[0] ? k : row, ac = p->transpose[0] ? row : k;
                    uint64_t br = p->transpose[1] ? column : k, bc = p->transpose[1] ? k : column;
                    sum += (double)a[i * la->stride + (int64_t)(ac * (uint64_t)la->ld + ar)] *
                           (double)b[i * lb->stride + (int64_t)(bc * (uint64_t)lb->ld + br)];
                }
                sum *= (double)*alpha;
                if (*beta != 0)
                    sum += (double)*beta *
                           (double)c[i * lc->stride + (int64_t)(column * (uint64_t)lc->ld + row)];
                if (p->epilogue & 4) sum += (double)p->bias[row];
                if (p->epilogue & 2 && sum < 0) sum = 0;
                d[i * ld->stride + (int64_t)(column * (uint64_t)ld->ld + row)] = (float)sum;
            }
    return 0;
}
