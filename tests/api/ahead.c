/* Functions of cute-link --emit-c on the recording driver: k.h has the sum of docs/tile-programs.md, p.h a product with TMA. Valid C and
 * C++. Each mode prints nothing if all is well. */
#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "k.h"
#include "p.h"

#define CHECK(condition)                                                                                     \
    do {                                                                                                     \
        if (!(condition)) printf("ahead.c:%d: %s: %s, %s\n", __LINE__, #condition, k_error(), p_error());    \
    } while (0)

/* Addresses that nothing reads. */
static void *at(uintptr_t address)
{
    return (void *)address;
}

static void *driver(const char *symbol)
{
    static void *library;
    if (!library) library = dlopen("libcuda.so.1", RTLD_NOW);
    return library ? dlsym(library, symbol) : NULL;
}

static void use_context(uintptr_t which)
{
    int (*set)(void *);
    void *symbol = driver("cuCtxSetCurrent");
    memcpy(&set, &symbol, sizeof set);
    set((void *)which);
}

static long count_of(const char *symbol)
{
    long (*count)(void);
    void *address = driver(symbol);
    memcpy(&count, &address, sizeof count);
    return count();
}

static k_tensor1 vector(uintptr_t address, int64_t n)
{
    k_tensor1 t;
    t.data = at(address);
    t.shape[0] = n;
    t.strides[0] = 1;
    return t;
}

static p_tensor3 matrix(uintptr_t address, int64_t rows, int64_t columns)
{
    p_tensor3 t;
    t.data = at(address);
    t.shape[0] = 1;
    t.shape[1] = rows;
    t.shape[2] = columns;
    t.strides[0] = rows * columns;
    t.strides[1] = columns;
    t.strides[2] = 1;
    return t;
}

/* The launches that tests/api/ahead_plan.c makes through cute/plan.h. */
static void launch_all(void)
{
    k_tensor1 x = vector(0x10000000, 100000), out = vector(0x20000000, 1);
    p_tensor3 A = matrix(0x30000000, 520, 264), B = matrix(0x40000000, 1032, 264),
              C = matrix(0x50000000, 520, 1032), D = matrix(0x60000000, 520, 1032);
    p_tensor2 bias;
    size_t bytes = 0;
    bias.data = at(0x70000000);
    bias.shape[0] = 520;
    bias.shape[1] = 1032;
    bias.strides[0] = 0;
    bias.strides[1] = 1;
    CHECK(k_sum_workspace(&x, &out, &bytes) == K_OK && bytes == 256);
    CHECK(k_sum(&x, &out, at(0x80000000), bytes, NULL) == K_OK);
    CHECK(p_product_workspace(&A, &B, &D, &C, &bias, 0.5f, 2.0f, &bytes) == P_OK);
    CHECK(p_product(&A, &B, &D, &C, &bias, 0.5f, 2.0f, at(0x90000000), bytes, NULL) == P_OK);
    /* Sums of no terms: A and B have no elements, and no memory. */
    p_tensor3 none_A = matrix(0, 520, 0), none_B = matrix(0, 1032, 0);
    CHECK(p_product_workspace(&none_A, &none_B, &D, &C, &bias, 0.5f, 2.0f, &bytes) == P_OK);
    CHECK(p_product(&none_A, &none_B, &D, &C, &bias, 0.5f, 2.0f, at(0x90000000), bytes, NULL) == P_OK);
}

static void check_message(k_status status, k_status expected, const char *text)
{
    CHECK(status == expected);
    if (!strstr(k_error(), text)) printf("expected '%s', got '%s'\n", text, k_error());
}

typedef struct {
    void *data;
    int32_t device_type, device_id, ndim;
    uint8_t code, bits;
    uint16_t lanes;
    int64_t *shape, *strides;
    uint64_t byte_offset;
} dltensor;

static void refuse_all(void)
{
    k_tensor1 x = vector(0x10000000, 100000), out = vector(0x20000000, 1), bad = x;
    size_t bytes = 0;
    long before = count_of("recordcuda_launches");
    check_message(k_sum(NULL, &out, at(0x80000000), 256, NULL), K_ARGUMENT,
                  "k_sum: expected a value for 'x', got NULL");
    bad.data = NULL;
    check_message(k_sum(&bad, &out, at(0x80000000), 256, NULL), K_ARGUMENT,
                  "k_sum: expected a value for 'x', got NULL");
    bad.data = at(0x10000002);
    check_message(k_sum(&bad, &out, at(0x80000000), 256, NULL), K_ARGUMENT,
                  "'x' is misaligned: expected a multiple of 4 bytes");
    bad = x;
    bad.strides[0] = 2;
    check_message(k_sum(&bad, &out, at(0x80000000), 256, NULL), K_ARGUMENT,
                  "dimension 0 of 'x' has stride 2, expected 1");
    bad = vector(0x20000000, 2);
    check_message(k_sum(&x, &bad, at(0x80000000), 256, NULL), K_ARGUMENT,
                  "dimension 0 of 'out' has extent 2, expected 1");
    bad = vector(0x10000000, (int64_t)1 << 40);
    check_message(k_sum(&bad, &out, at(0x80000000), 256, NULL), K_ARGUMENT, "which does not fit in 32 bits");
    bad = vector(0x10000000, -1);
    check_message(k_sum(&bad, &out, at(0x80000000), 256, NULL), K_ARGUMENT, "extent -1, expected at least 0");
    check_message(k_sum(&x, &out, NULL, 0, NULL), K_WORKSPACE,
                  "k_sum: expected a workspace of 256 bytes, got none");
    check_message(k_sum(&x, &out, at(0x80000000), 255, NULL), K_WORKSPACE,
                  "expected a workspace of 256 bytes, got 255");
    check_message(k_sum(&x, &out, at(0x80000080), 256, NULL), K_WORKSPACE,
                  "misaligned: expected a multiple of 256 bytes");
    check_message(k_sum_workspace(&x, &out, NULL), K_ARGUMENT, "expected a value for 'bytes', got NULL");

    int64_t n = 100000, one = 1, strides = 1;
    dltensor a = {at(0x10000000 - 64), 2, 0, 1, 2, 32, 1, &n, NULL, 64},
             b = {at(0x20000000), 2, 0, 1, 2, 32, 1, &one, &strides, 0};
    CHECK(k_sum_dlpack_workspace(&a, &b, &bytes) == K_OK && bytes == 256);
    dltensor half = a, host = a, other = a, square = a;
    half.bits = 16;
    host.device_type = 1;
    other.device_id = 3;
    square.ndim = 2;
    const struct {
        dltensor *x;
        const char *message;
    } wrong[] = {{&half, "expected elements of DLPack's type code 2 with 32 bits"},
                 {&host, "expected 'x' on a CUDA device, got DLPack's device type 1"},
                 {&other, "expected 'x' on device 0, the current one, got 3"},
                 {&square, "expected 1 dimensions of 'x', got 2"}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        check_message(k_sum_dlpack(wrong[i].x, &b, at(0x80000000), 256, NULL), K_ARGUMENT, wrong[i].message);
    check_message(k_sum_dlpack(NULL, &b, at(0x80000000), 256, NULL), K_ARGUMENT,
                  "expected a value for 'x', got NULL");
    CHECK(strcmp(k_status_name(K_WORKSPACE), "K_WORKSPACE") == 0);
    use_context(0);
    check_message(k_sum(&x, &out, at(0x80000000), 256, NULL), K_NO_CONTEXT,
                  "the thread has no current CUDA context");
    use_context(1);
    CHECK(count_of("recordcuda_launches") == before);
    CHECK(k_sum_dlpack(&a, &b, at(0x80000000), 256, NULL) == K_OK);
    CHECK(count_of("recordcuda_launches") == before + 2);
}

/* TVM-FFI's packed arguments; the test has the functions of its library. */
typedef struct {
    int32_t type;
    uint32_t zero;
    union {
        int64_t integer;
        double real;
        void *pointer;
    } value;
} any;

static char raised[300];
static int streams_asked;

#ifdef __cplusplus
extern "C" {
#endif
int __tvm_ffi_k_sum(void *handle, const any *args, int32_t count, any *result);
void TVMFFIErrorSetRaisedFromCStr(const char *kind, const char *message);
void *TVMFFIEnvGetStream(int32_t device_type, int32_t device_id);
void TVMFFIErrorSetRaisedFromCStr(const char *kind, const char *message)
{
    snprintf(raised, sizeof raised, "%s: %s", kind, message);
}
void *TVMFFIEnvGetStream(int32_t device_type, int32_t device_id)
{
    streams_asked += device_type == 2 && device_id == 0;
    return NULL;
}
#ifdef __cplusplus
}
#endif

static void call_packed(void)
{
    int64_t n = 100000, one = 1, room = 256;
    struct {
        int64_t header[3];
        dltensor tensor;
    } object = {{0, 0, 0}, {at(0x20000000), 2, 0, 1, 2, 32, 1, &one, NULL, 0}};
    dltensor a = {at(0x10000000), 2, 0, 1, 2, 32, 1, &n, NULL, 0},
             w = {at(0x80000000), 2, 0, 1, 1, 8, 1, &room, NULL, 0};
    any args[3], result;
    memset(args, 0, sizeof args);
    memset(&result, 0, sizeof result);
    args[0].type = args[2].type = 7;
    args[0].value.pointer = &a;
    args[1].type = 70;
    args[1].value.pointer = &object;
    args[2].value.pointer = &w;
    CHECK(__tvm_ffi_k_sum(NULL, args, 3, &result) == 0 && streams_asked == 1);
    CHECK(__tvm_ffi_k_sum(NULL, args, 1, &result) == -1);
    CHECK(strcmp(raised, "ValueError: k_sum: expected 2 or 3 arguments, got 1") == 0);
    CHECK(__tvm_ffi_k_sum(NULL, args, 2, &result) == -1);
    CHECK(strcmp(raised, "ValueError: k_sum: expected a workspace of 256 bytes, got none") == 0);
    args[0].type = 3;
    CHECK(__tvm_ffi_k_sum(NULL, args, 3, &result) == -1);
    CHECK(strcmp(raised, "ValueError: k_sum: expected a tensor for argument 0 (x), got type 3") == 0);
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec * 1e-3;
}

static long resident(void)
{
    long pages = 0, total = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (file && fscanf(file, "%ld %ld", &total, &pages) != 2) pages = 0;
    if (file) fclose(file);
    return pages;
}

static void sum_many(long times)
{
    k_tensor1 x = vector(0x10000000, 100000), out = vector(0x20000000, 1);
    for (long i = 0; i < times; i++)
        if (k_sum(&x, &out, at(0x80000000), 256, NULL) != K_OK) {
            printf("%s\n", k_error());
            return;
        }
}

static void launch_bare(long times)
{
    typedef struct {
        unsigned grid[3], block[3], shared;
        void *stream, *attributes;
        unsigned count;
    } config;
    int (*launch)(const config *, void *, void **, void **);
    void *symbol = driver("cuLaunchKernelEx"), *params[1] = {NULL};
    config c;
    memset(&c, 0, sizeof c);
    memcpy(&launch, &symbol, sizeof launch);
    for (long i = 0; i < times; i++) launch(&c, NULL, params, NULL);
}

/* Microseconds of a launch beyond the driver's: two launches for each sum; the least of rounds in turns. */
static void time_launches(void)
{
    double sum = 1e9, bare = 1e9;
    for (int round = 0; round < 7; round++) {
        double start = now();
        sum_many(20000);
        double middle = now();
        launch_bare(40000);
        double end = now();
        if (middle - start < sum) sum = middle - start;
        if (end - middle < bare) bare = end - middle;
    }
    double each = (sum - bare) / 40000;
    fprintf(stderr, "%.3f us of a launch beside the driver's %.3f us\n", each, bare / 40000);
    if (each > 3) printf("expected at most 3 us, got %.3f\n", each);
}

static void keep_memory(void)
{
    sum_many(1000);
    long before = resident();
    sum_many(500000);
    if (resident() > before + 16)
        printf("expected constant memory, got %ld pages instead of %ld\n", resident(), before);
}

static void *run_thread(void *which)
{
    use_context(1 + (uintptr_t)which % 4);
    sum_many(200);
    return NULL;
}

static void use_threads(void)
{
    pthread_t threads[16];
    for (uintptr_t i = 0; i < 16; i++) CHECK(pthread_create(&threads[i], NULL, run_thread, (void *)i) == 0);
    for (int i = 0; i < 16; i++) pthread_join(threads[i], NULL);
    CHECK(count_of("recordcuda_loads") == 4);
    CHECK(count_of("recordcuda_launches") == 16 * 200 * 2);
}

int main(int argc, char **argv)
{
    const char *mode = argc > 1 ? argv[1] : "";
    k_tensor1 x = vector(0x10000000, 100000), out = vector(0x20000000, 1);
    if (strcmp(mode, "missing") == 0) {
        k_status status = k_sum(&x, &out, at(0x80000000), 256, NULL);
        printf("%s: %s\n", k_status_name(status), k_error());
        return 0;
    }
    use_context(1);
    if (strcmp(mode, "launch") == 0) launch_all();
    if (strcmp(mode, "refuse") == 0) refuse_all();
    if (strcmp(mode, "packed") == 0) call_packed();
    if (strcmp(mode, "time") == 0) time_launches();
    if (strcmp(mode, "memory") == 0) keep_memory();
    if (strcmp(mode, "threads") == 0) use_threads();
    return 0;
}
