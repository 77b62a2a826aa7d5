/* cuBLASLt through its C interface: column-major matrices, descriptors, heuristics. The declarations follow
 * the documentation, https://docs.nvidia.com/cuda/cublas. */
#include "lib/device/cublas.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/system/library.h"
#include "lib/device/device.h"

enum { WORKSPACE = 64 << 20, ALGORITHMS = 16, TIMED_RUNS = 5, STATUS_SUCCESS = 0 };

/* cudaDataType, cublasComputeType_t, cublasLtMatmulDescAttributes_t, cublasLtMatrixLayoutAttribute_t,
 * cublasLtMatmulPreferenceAttributes_t, cublasLtEpilogue_t, cublasOperation_t */
enum {
    REAL_32 = 0,
    REAL_16 = 2,
    INTEGER_8 = 3,
    INTEGER_32 = 10,
    BRAIN_16 = 14,
    REAL_E4M3 = 28,
    REAL_E5M2 = 29
};
enum { COMPUTE_32F = 68, COMPUTE_32I = 72, COMPUTE_TF32 = 77 };
enum {
    DESC_TRANSPOSE_A = 3,
    DESC_TRANSPOSE_B = 4,
    DESC_EPILOGUE = 7,
    DESC_BIAS = 8,
    DESC_FAST_ACCUM = 25,
    DESC_BIAS_TYPE = 26
};
enum { LAYOUT_BATCH = 5, LAYOUT_STRIDE = 6 };
enum { PREFERENCE_WORKSPACE = 1 };
enum { EPILOGUE_RELU = 2, EPILOGUE_BIAS = 4, EPILOGUE_GELU = 32, EPILOGUE_NONE = 1 };

typedef struct algorithm {
    uint64_t data[8];
} algorithm;

typedef struct proposal {
    algorithm algo;
    size_t workspace;
    int state;
    float waves;
    int reserved[4];
} proposal;

typedef struct api {
    int (*create)(void **handle);
    int (*destroy)(void *handle);
    int (*desc_create)(void **desc, int compute, int scale);
    int (*desc_destroy)(void *desc);
    int (*desc_set)(void *desc, int attribute, const void *value, size_t size);
    int (*layout_create)(void **layout, int type, uint64_t rows, uint64_t columns, int64_t ld);
    int (*layout_destroy)(void *layout);
    int (*layout_set)(void *layout, int attribute, const void *value, size_t size);
    int (*preference_create)(void **preference);
    int (*preference_destroy)(void *preference);
    int (*preference_set)(void *preference, int attribute, const void *value, size_t size);
    int (*propose)(void *handle, void *desc, void *a, void *b, void *c, void *d, void *preference, int wanted,
                   proposal *out, int *count);
    int (*run)(void *handle, void *desc, const void *alpha, const void *a, void *a_layout, const void *b,
               void *b_layout, const void *beta, const void *c, void *c_layout, void *d, void *d_layout,
               const algorithm *algo, void *workspace, size_t size, void *stream);
} api;

static const struct {
    const char *name;
    size_t offset;
} symbols[] = {
    {"cublasLtCreate", offsetof(api, create)},
    {"cublasLtDestroy", offsetof(api, destroy)},
    {"cublasLtMatmulDescCreate", offsetof(api, desc_create)},
    {"cublasLtMatmulDescDestroy", offsetof(api, desc_destroy)},
    {"cublasLtMatmulDescSetAttribute", offsetof(api, desc_set)},
    {"cublasLtMatrixLayoutCreate", offsetof(api, layout_create)},
    {"cublasLtMatrixLayoutDestroy", offsetof(api, layout_destroy)},
    {"cublasLtMatrixLayoutSetAttribute", offsetof(api, layout_set)},
    {"cublasLtMatmulPreferenceCreate", offsetof(api, preference_create)},
    {"cublasLtMatmulPreferenceDestroy", offsetof(api, preference_destroy)},
    {"cublasLtMatmulPreferenceSetAttribute", offsetof(api, preference_set)},
    {"cublasLtMatmulAlgoGetHeuristic", offsetof(api, propose)},
    {"cublasLtMatmul", offsetof(api, run)},
};

struct cute_cublas {
    cute_device *device;
    void *library, *stream;
    api api;
    void *handle, *desc, *a_layout, *b_layout, *c_layout, *d_layout;
    cublas_matrix a, b, c, d; /* as passed to the library */
    union {
        float real;
        int32_t integer;
    } alpha, beta;
    algorithm algo;
    cute_address workspace;
};

/* ---- the library ---- */

static cute_status open_library(cute_cublas *c, cute_diag *diag)
{
    static const char *const names[] = {"libcublasLt.so.13", "libcublasLt.so.12", "libcublasLt.so", NULL};
    cute_buffer reasons = {0};
    const char *path;
    c->library = cute_library_open("CUTE_LIBCUBLASLT", names, &path, &reasons);
    if (!c->library) {
        cute_fail(diag, CUTE_SYSTEM, NULL, "cuBLASLt not found: cannot open %s", path);
        cute_library_notes(&reasons, diag);
        cute_note(diag, NULL,
                  "set CUTE_LIBCUBLASLT to the library; the default is libcublasLt.so.13, .12 or .so");
        return CUTE_SYSTEM;
    }
    cute_buffer_release(&reasons);
    for (size_t i = 0; i < sizeof symbols / sizeof *symbols; i++) {
        void *symbol = dlsym(c->library, symbols[i].name);
        if (!symbol)
            return cute_fail(diag, CUTE_SYSTEM, NULL, "cuBLASLt has no function '%s'", symbols[i].name);
        memcpy((char *)&c->api + symbols[i].offset, &symbol, sizeof symbol);
    }
    return CUTE_OK;
}

#define LT(c, call, what)                                                                                    \
    do {                                                                                                     \
        int lt_status_ = (c)->api.call;                                                                      \
        if (lt_status_ != STATUS_SUCCESS)                                                                    \
            return cute_fail(diag, CUTE_INVALID, NULL, "cuBLASLt rejected %s: status %d", what, lt_status_); \
    } while (0)

/* ---- descriptors ---- */

static bool cublas_type(const char *name, int *out)
{
    static const struct {
        const char *name;
        int type;
    } types[] = {{"f32", REAL_32},    {"tf32", REAL_32},   {"f16", REAL_16},  {"bf16", BRAIN_16},
                 {"e4m3", REAL_E4M3}, {"e5m2", REAL_E5M2}, {"i8", INTEGER_8}, {"i32", INTEGER_32}};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        if (strcmp(types[i].name, name) != 0) continue;
        *out = types[i].type;
        return true;
    }
    return false;
}

/* A matrix of rows x columns. To the library, a row-major matrix is its column-major transpose. */
static cute_status make_layout(cute_cublas *c, void **out, int type, int64_t rows, int64_t columns,
                               const cublas_matrix *m, int64_t batch, cute_diag *diag)
{
    int32_t count = (int32_t)batch;
    LT(c,
       layout_create(out, type, (uint64_t)(m->by_rows ? columns : rows),
                     (uint64_t)(m->by_rows ? rows : columns), m->ld),
       "a matrix");
    if (batch == 1) return CUTE_OK;
    LT(c, layout_set(*out, LAYOUT_BATCH, &count, sizeof count), "a batch");
    LT(c, layout_set(*out, LAYOUT_STRIDE, &m->stride, sizeof m->stride), "the stride of a batch");
    return CUTE_OK;
}

static cute_status set_epilogue(cute_cublas *c, const cublas_product *p, int type_d, bool swapped,
                                cute_diag *diag)
{
    int32_t epilogue = p->activation == CUBLAS_RELU   ? EPILOGUE_RELU
                       : p->activation == CUBLAS_GELU ? EPILOGUE_GELU
                                                      : 0;
    if (p->bias) {
        if (!swapped)
            return cute_fail(diag, CUTE_INVALID, NULL,
                             "cuBLASLt supports a bias along rows only for row-major D");
        epilogue |= EPILOGUE_BIAS;
        const void *bias = (const void *)(uintptr_t)p->bias;
        LT(c, desc_set(c->desc, DESC_BIAS, &bias, sizeof bias), "a bias");
        LT(c, desc_set(c->desc, DESC_BIAS_TYPE, &type_d, sizeof(int32_t)), "the type of a bias");
    }
    if (!epilogue) epilogue = EPILOGUE_NONE;
    LT(c, desc_set(c->desc, DESC_EPILOGUE, &epilogue, sizeof epilogue), "an epilogue");
    return CUTE_OK;
}

/* The library's D is column-major: a row-major D is computed as its transpose, D' = B' A'. */
static cute_status describe_product(cute_cublas *c, const cublas_product *p, cute_diag *diag)
{
    int type = 0, type_d = 0;
    if (!cublas_type(p->type, &type) || !cublas_type(p->type_d, &type_d))
        return cute_fail(diag, CUTE_INVALID, NULL,
                         "cuBLASLt does not support products of %s with results of %s", p->type, p->type_d);
    bool integers = type == INTEGER_8, swapped = p->d.by_rows;
    if (integers && type_d != INTEGER_32)
        return cute_fail(diag, CUTE_INVALID, NULL,
                         "cuBLASLt does not support products of i8 with results of %s", p->type_d);
    int compute = integers ? COMPUTE_32I : strcmp(p->type, "tf32") == 0 ? COMPUTE_TF32 : COMPUTE_32F;
    LT(c, desc_create(&c->desc, compute, integers ? INTEGER_32 : REAL_32), "a product of these types");
    if (integers) {
        c->alpha.integer = (int32_t)p->alpha;
        c->beta.integer = (int32_t)p->beta;
    } else {
        c->alpha.real = (float)p->alpha;
        c->beta.real = (float)p->beta;
    }
    c->a = swapped ? p->b : p->a;
    c->b = swapped ? p->a : p->b;
    c->c = p->c;
    c->d = p->d;
    /* Column-major operands are used directly if D is column-major, and transposed otherwise. */
    int32_t transpose_a = c->a.by_rows != swapped, transpose_b = c->b.by_rows != swapped;
    LT(c, desc_set(c->desc, DESC_TRANSPOSE_A, &transpose_a, sizeof transpose_a), "a transpose");
    LT(c, desc_set(c->desc, DESC_TRANSPOSE_B, &transpose_b, sizeof transpose_b), "a transpose");
    int8_t fast = p->fast;
    if (fast) LT(c, desc_set(c->desc, DESC_FAST_ACCUM, &fast, sizeof fast), "fast accumulation");
    CUTE_TRY(set_epilogue(c, p, type_d, swapped, diag));
    CUTE_TRY(make_layout(c, &c->a_layout, type, swapped ? p->k : p->m, swapped ? p->n : p->k, &c->a, p->batch,
                         diag));
    CUTE_TRY(make_layout(c, &c->b_layout, type, swapped ? p->m : p->k, swapped ? p->k : p->n, &c->b, p->batch,
                         diag));
    CUTE_TRY(make_layout(c, &c->c_layout, type_d, p->m, p->n, &c->c, p->batch, diag));
    return make_layout(c, &c->d_layout, type_d, p->m, p->n, &c->d, p->batch, diag);
}

/* ---- the fastest algorithm ---- */

static const void *as_pointer(cute_address address)
{
    return (const void *)(uintptr_t)address;
}

static int start_matmul(const cute_cublas *c, const algorithm *algo)
{
    return c->api.run(c->handle, c->desc, &c->alpha, as_pointer(c->a.address), c->a_layout,
                      as_pointer(c->b.address), c->b_layout, &c->beta, as_pointer(c->c.address), c->c_layout,
                      (void *)(uintptr_t)c->d.address, c->d_layout, algo, (void *)(uintptr_t)c->workspace,
                      WORKSPACE, c->stream);
}

/* The minimum time of a few runs; negative: the algorithm fails. */
static cute_status time_one(const cute_cublas *c, const algorithm *algo, cute_device_event *begin,
                            cute_device_event *end, double *out, cute_diag *diag)
{
    *out = -1;
    if (start_matmul(c, algo) != STATUS_SUCCESS) return CUTE_OK;
    for (int i = 0; i < TIMED_RUNS; i++) {
        double seconds;
        CUTE_TRY(cute_device_event_record(c->device, begin, diag));
        if (start_matmul(c, algo) != STATUS_SUCCESS) return CUTE_OK;
        CUTE_TRY(cute_device_event_record(c->device, end, diag));
        CUTE_TRY(cute_device_sync(c->device, diag));
        CUTE_TRY(cute_device_elapsed(c->device, begin, end, &seconds, diag));
        if (*out < 0 || seconds < *out) *out = seconds;
    }
    return CUTE_OK;
}

static cute_status choose_algorithm(cute_cublas *c, cute_diag *diag)
{
    proposal proposals[ALGORITHMS];
    void *preference = NULL;
    size_t most = WORKSPACE;
    int count = 0;
    cute_device_event *begin, *end;
    CUTE_TRY(cute_device_event_create(c->device, &begin, diag));
    CUTE_TRY(cute_device_event_create(c->device, &end, diag));
    LT(c, preference_create(&preference), "a preference");
    int status = c->api.preference_set(preference, PREFERENCE_WORKSPACE, &most, sizeof most);
    if (status == STATUS_SUCCESS)
        status = c->api.propose(c->handle, c->desc, c->a_layout, c->b_layout, c->c_layout, c->d_layout,
                                preference, ALGORITHMS, proposals, &count);
    c->api.preference_destroy(preference);
    double best = -1;
    for (int i = 0; status == STATUS_SUCCESS && i < count; i++) {
        double seconds;
        if (proposals[i].state != STATUS_SUCCESS || proposals[i].workspace > most) continue;
        CUTE_TRY(time_one(c, &proposals[i].algo, begin, end, &seconds, diag));
        if (seconds < 0 || (best >= 0 && seconds >= best)) continue;
        best = seconds;
        c->algo = proposals[i].algo;
    }
    if (best >= 0) return CUTE_OK;
    return cute_fail(diag, CUTE_INVALID, NULL, "cuBLASLt has no algorithm for this product (status %d)",
                     status);
}

cute_status cute_cublas_open(cute_device *device, const cublas_product *product, cute_cublas **out,
                             cute_diag *diag)
{
    *out = NULL;
    if (!device->ops->native_stream)
        return cute_fail(diag, CUTE_USAGE, NULL, "expected a GPU for cuBLASLt, got '%s'", device->info.name);
    cute_cublas *c = calloc(1, sizeof *c);
    if (!c) return cute_fail_memory(diag);
    c->device = device;
    c->stream = device->ops->native_stream(device, NULL);
    cute_status status = open_library(c, diag);
    int created = status == CUTE_OK ? c->api.create(&c->handle) : STATUS_SUCCESS;
    if (created != STATUS_SUCCESS)
        status = cute_fail(diag, CUTE_SYSTEM, NULL, "cuBLASLt cannot use this device: status %d", created);
    if (status == CUTE_OK) status = cute_device_alloc(device, WORKSPACE, &c->workspace, diag);
    if (status == CUTE_OK) status = describe_product(c, product, diag);
    if (status == CUTE_OK) status = choose_algorithm(c, diag);
    if (status == CUTE_OK)
        *out = c;
    else
        cute_cublas_close(c);
    return status;
}

void cute_cublas_close(cute_cublas *c)
{
    if (!c) return;
    void *const layouts[] = {c->a_layout, c->b_layout, c->c_layout, c->d_layout};
    for (size_t i = 0; i < sizeof layouts / sizeof *layouts; i++)
        if (layouts[i]) c->api.layout_destroy(layouts[i]);
    if (c->desc) c->api.desc_destroy(c->desc);
    if (c->handle) c->api.destroy(c->handle);
    if (c->workspace) cute_device_free(c->device, c->workspace, NULL);
    if (c->library) dlclose(c->library);
    free(c);
}

cute_status cute_cublas_start(cute_cublas *c, cute_diag *diag)
{
    int status = start_matmul(c, &c->algo);
    return status == STATUS_SUCCESS
               ? CUTE_OK
               : cute_fail(diag, CUTE_INVALID, NULL, "cuBLASLt failed: status %d", status);
}
