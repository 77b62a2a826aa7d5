/* A stand-in for libcuda.so.1, for tests without a GPU. Device memory is host memory; the only kernels are known
 * by name and computed here. FAKECUDA chooses what goes wrong:
 *   wrong      vector_add adds 1 to element 5       partial  it leaves elements 7, 8, 9 alone
 *   overrun    it writes one element too many       nan      it writes NaN to element 3
 *   fault      the sync after a launch fails        hang     it never ends
 *   launch     the launch is refused                assert   a text is printed, then an assertion fails
 *   load       the module is refused, with a log    nodevice no device is there
 *   crash      the driver dies                      print    the kernel prints
 *   noshare    memory has no name for other processes
 *   old        cuInit fails                     underrun it writes an element in front of the first */
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define API __attribute__((visibility("default")))

typedef struct {
    unsigned gx, gy, gz, bx, by, bz, shared;
    void *stream, *attributes;
    unsigned attribute_count;
} config;

enum {
    INVALID = 1,
    MEMORY = 2,
    NO_DEVICE = 100,
    BAD_DEVICE = 101,
    BAD_PTX = 218,
    NOT_FOUND = 500,
    NO_CONTEXT = 201,
    ADDRESS = 700,
    ASSERT = 710
};

static int pending; /* what the next sync answers */
static int live;    /* contexts, streams, events, modules and pieces of memory that were not released */
static _Thread_local void *context;
static double event_times[64];
static int event_count;

static int mode(const char *name)
{
    const char *chosen = getenv("FAKECUDA");
    return chosen && strcmp(chosen, name) == 0;
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

/* For tests: how much is not released. */
API int fakecuda_live(void)
{
    return live;
}
/* FAKECUDA="alloc=2": the result of that call; 0: another one, or none is chosen. */
static int chosen(const char *call)
{
    const char *text = getenv("FAKECUDA");
    size_t length = strlen(call);
    return text && strncmp(text, call, length) == 0 && text[length] == '=' ? atoi(text + length + 1) : 0;
}

/* A call that needs the context, which each thread has to set. */
#define ENTER                                                                                                \
    do {                                                                                                     \
        if (!context) return NO_CONTEXT;                                                                     \
    } while (0)

API int cuInit(unsigned flags)
{
    static pid_t starter;
    (void)flags;
    /* As the driver: of no use in a process that was forked behind the first call. */
    if (starter && starter != getpid()) return 3;
    starter = getpid();
    if (chosen("init")) return chosen("init");
    return mode("old") ? 3 : mode("nodevice") ? NO_DEVICE : 0;
}
API int cuDriverGetVersion(int *v)
{
    *v = 13000;
    return 0;
}
API int cuGetErrorName(int e, const char **out)
{
    static const struct {
        int code;
        const char *name;
    } names[] = {
        {1, "CUDA_ERROR_INVALID_VALUE"},
        {2, "CUDA_ERROR_OUT_OF_MEMORY"},
        {3, "CUDA_ERROR_NOT_INITIALIZED"},
        {34, "CUDA_ERROR_STUB_LIBRARY"},
        {36, "CUDA_ERROR_CALL_REQUIRES_NEWER_DRIVER"},
        {46, "CUDA_ERROR_DEVICE_UNAVAILABLE"},
        {100, "CUDA_ERROR_NO_DEVICE"},
        {101, "CUDA_ERROR_INVALID_DEVICE"},
        {200, "CUDA_ERROR_INVALID_IMAGE"},
        {209, "CUDA_ERROR_NO_BINARY_FOR_GPU"},
        {214, "CUDA_ERROR_ECC_UNCORRECTABLE"},
        {218, "CUDA_ERROR_INVALID_PTX"},
        {221, "CUDA_ERROR_JIT_COMPILER_NOT_FOUND"},
        {222, "CUDA_ERROR_UNSUPPORTED_PTX_VERSION"},
        {700, "CUDA_ERROR_ILLEGAL_ADDRESS"},
        {701, "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES"},
        {702, "CUDA_ERROR_LAUNCH_TIMEOUT"},
        {710, "CUDA_ERROR_ASSERT"},
        {715, "CUDA_ERROR_ILLEGAL_INSTRUCTION"},
        {716, "CUDA_ERROR_MISALIGNED_ADDRESS"},
        {717, "CUDA_ERROR_INVALID_ADDRESS_SPACE"},
        {719, "CUDA_ERROR_LAUNCH_FAILED"},
        {720, "CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE"},
        {802, "CUDA_ERROR_SYSTEM_NOT_READY"},
        {803, "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH"},
        {804, "CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE"},
        {912, "CUDA_ERROR_INVALID_CLUSTER_SIZE"},
    };
    *out = "CUDA_ERROR_INVALID_VALUE";
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (names[i].code == e) *out = names[i].name;
    return 0;
}
API int cuGetErrorString(int e, const char **out)
{
    *out = e == ADDRESS  ? "an illegal memory access was encountered"
           : e == ASSERT ? "device-side assert triggered"
                         : "a text of the driver";
    return 0;
}
/* FAKECUDA_DEVICES: the number of devices, else 1. */
static int devices(void)
{
    const char *text = getenv("FAKECUDA_DEVICES");
    return text ? atoi(text) : 1;
}
API int cuDeviceGetCount(int *n)
{
    *n = devices();
    return 0;
}
API int cuDeviceGet(int *d, int i)
{
    *d = i;
    return i >= 0 && i < devices() ? 0 : BAD_DEVICE;
}
API int cuDeviceGetName(char *name, int size, int d)
{
    (void)d;
    snprintf(name, (size_t)size, "Fake GPU");
    return 0;
}
API int cuDeviceTotalMem_v2(size_t *size, int d)
{
    (void)d;
    *size = (size_t)1 << 33;
    return 0;
}
API int cuDeviceGetAttribute(int *value, int which, int d)
{
    static const int values[][2] = {
        {1, 1024},     {2, 1024}, {3, 1024},     {4, 64},       {5, 2147483647}, {6, 65535}, {7, 65535},
        {8, 49152},    {10, 32},  {12, 65536},   {13, 1980000}, {16, 4},         {32, 1},    {33, 1},
        {36, 1000000}, {37, 512}, {38, 1 << 20}, {39, 2048},    {75, 9},         {76, 0},    {81, 233472},
        {82, 65536},   {95, 1},   {97, 232448},  {106, 32},     {111, 1024},     {120, 1},   {127, 1},
    };
    *value = which == 34 ? d : 0; /* the PCI device */
    for (size_t i = 0; i < sizeof values / sizeof *values; i++)
        if (values[i][0] == which) *value = values[i][1];
    return 0;
}
API int cuDevicePrimaryCtxRetain(void **c, int d)
{
    (void)d;
    *c = (void *)1;
    live++;
    return 0;
}
API int cuDevicePrimaryCtxRelease_v2(int d)
{
    (void)d;
    live--;
    return 0;
}
API int cuCtxSetCurrent(void *c)
{
    context = c;
    return 0;
}
API int cuStreamCreate(void **s, unsigned f)
{
    (void)f;
    ENTER;
    *s = malloc(1);
    live++;
    return 0;
}
API int cuCtxGetStreamPriorityRange(int *least, int *greatest)
{
    *least = 0;
    *greatest = -5;
    return 0;
}
API int cuStreamCreateWithPriority(void **s, unsigned f, int priority)
{
    return priority == -5 ? cuStreamCreate(s, f) : INVALID;
}
API int cuStreamDestroy_v2(void *s)
{
    free(s);
    live--;
    return 0;
}
API int cuStreamWaitEvent(void *s, void *e, unsigned flags)
{
    (void)flags;
    return s && e ? 0 : INVALID;
}
/* Memory of whole 2 MiB pieces can be shared with other processes: this one's, and that of others. */
typedef struct {
    char *memory;
    size_t size;
    int fd;
} piece;
static piece pieces[64];
static piece *piece_of(unsigned long long address)
{
    for (int i = 0; i < 64; i++)
        if (pieces[i].memory && (uintptr_t)address - (uintptr_t)pieces[i].memory < pieces[i].size)
            return &pieces[i];
    return NULL;
}
static void *map_piece(int fd, size_t size)
{
    for (int i = 0; i < 64; i++) {
        if (pieces[i].memory) continue;
        void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
        if (memory == MAP_FAILED) return NULL;
        pieces[i] = (piece){memory, size, fd};
        return memory;
    }
    return NULL;
}
static void unmap_piece(piece *p)
{
    munmap(p->memory, p->size);
    close(p->fd);
    *p = (piece){0};
}
typedef struct {
    char bytes[64];
} shared_name;
API int cuIpcGetMemHandle(shared_name *out, unsigned long long address)
{
    ENTER;
    piece *p = piece_of(address);
    if (!p || mode("noshare")) return INVALID;
    snprintf(out->bytes, sizeof out->bytes, "%zu /proc/%ld/fd/%d", p->size, (long)getpid(), p->fd);
    return 0;
}
API int cuIpcOpenMemHandle_v2(unsigned long long *out, shared_name name, unsigned flags)
{
    ENTER;
    size_t size;
    char path[64];
    int fd = flags == 1 && sscanf(name.bytes, "%zu %63s", &size, path) == 2 ? open(path, O_RDWR) : -1;
    void *memory = fd >= 0 ? map_piece(fd, size) : NULL;
    *out = (unsigned long long)(uintptr_t)memory;
    return memory ? 0 : INVALID;
}
API int cuIpcCloseMemHandle(unsigned long long address)
{
    ENTER;
    piece *p = piece_of(address);
    if (p) unmap_piece(p);
    return p ? 0 : INVALID;
}
API int cuStreamWriteValue32_v2(void *s, uint64_t address, unsigned value, unsigned flags)
{
    if (!s || flags) return INVALID;
    __atomic_store_n((uint32_t *)(uintptr_t)address, value, __ATOMIC_RELEASE);
    return 0;
}
/* Work is complete when it is started; only another process increases a counter later. */
API int cuStreamWaitValue32_v2(void *s, uint64_t address, unsigned value, unsigned flags)
{
    uint32_t *at = (uint32_t *)(uintptr_t)address;
    if (!s || flags) return INVALID;
    for (int i = 0;
         i < 20000 && piece_of(address) && (int32_t)(__atomic_load_n(at, __ATOMIC_ACQUIRE) - value) < 0; i++)
        usleep(1000);
    return (int32_t)(*at - value) >= 0 ? 0 : INVALID;
}
static int wait_for_all(void)
{
    while (pending < 0) sleep(1);
    return pending;
}
API int cuCtxSynchronize(void)
{
    return wait_for_all();
}
API int cuStreamSynchronize(void *s)
{
    (void)s;
    return wait_for_all();
}
API int cuStreamQuery(void *s)
{
    (void)s;
    return pending < 0 ? 600 : pending;
}
API int cuMemAlloc_v2(unsigned long long *p, size_t n)
{
    ENTER;
    if (chosen("alloc")) return chosen("alloc");
    bool whole = n && n % (2 << 20) == 0;
    int fd = whole ? memfd_create("fakecuda", MFD_CLOEXEC) : -1;
    void *memory = n > (size_t)1 << 33            ? NULL
                   : !whole                       ? aligned_alloc(256, (n + 255) / 256 * 256)
                   : ftruncate(fd, (off_t)n) == 0 ? map_piece(fd, n)
                                                  : NULL;
    if (whole && !memory && n <= (size_t)1 << 33) {
        close(fd);
        memory = aligned_alloc(256, n);
    }
    *p = (unsigned long long)(uintptr_t)memory;
    live += memory != NULL;
    return memory ? 0 : MEMORY;
}
API int cuMemFree_v2(unsigned long long p)
{
    ENTER;
    live--;
    piece *shared = piece_of(p);
    if (shared)
        unmap_piece(shared);
    else
        free((void *)(uintptr_t)p);
    return 0;
}
API int cuMemcpyHtoDAsync_v2(unsigned long long to, const void *from, size_t n, void *s)
{
    (void)s;
    ENTER;
    memcpy((void *)(uintptr_t)to, from, n);
    return 0;
}
API int cuMemcpyDtoHAsync_v2(void *to, unsigned long long from, size_t n, void *s)
{
    (void)s;
    ENTER;
    memcpy(to, (void *)(uintptr_t)from, n);
    return 0;
}
typedef struct {
    size_t x, y, z, lod;
    int memory;
    void *host;
    unsigned long long address;
    void *array, *reserved;
    size_t pitch, rows;
} copy_end;
typedef struct {
    copy_end from, to;
    size_t row, rows, slices;
} copy_3d;

/* Between pieces of memory. */
API int cuMemcpy3DAsync_v2(const copy_3d *c, void *s)
{
    (void)s;
    ENTER;
    if (c->from.memory != 2 || c->to.memory != 2 || c->slices != 1 || c->from.pitch < c->row ||
        c->to.pitch < c->row)
        return INVALID;
    for (size_t i = 0; i < c->rows; i++)
        memmove((char *)(uintptr_t)c->to.address + i * c->to.pitch,
                (char *)(uintptr_t)c->from.address + i * c->from.pitch, c->row);
    return 0;
}
API int cuMemcpyDtoDAsync_v2(unsigned long long to, unsigned long long from, size_t n, void *s)
{
    (void)s;
    ENTER;
    memcpy((void *)(uintptr_t)to, (void *)(uintptr_t)from, n);
    return 0;
}
API int cuMemsetD8Async(unsigned long long to, unsigned char c, size_t n, void *s)
{
    (void)s;
    memset((void *)(uintptr_t)to, c, n);
    return 0;
}
API int cuMemsetD16Async(unsigned long long to, unsigned short c, size_t n, void *s)
{
    (void)s;
    for (size_t i = 0; i < n; i++) ((unsigned short *)(uintptr_t)to)[i] = c;
    return 0;
}
API int cuMemsetD32Async(unsigned long long to, unsigned c, size_t n, void *s)
{
    (void)s;
    for (size_t i = 0; i < n; i++) ((unsigned *)(uintptr_t)to)[i] = c;
    return 0;
}
API int cuMemsetD2D32Async(unsigned long long to, size_t pitch, unsigned c, size_t width, size_t height,
                           void *s)
{
    (void)s;
    for (size_t i = 0; i < height; i++)
        for (size_t k = 0; k < width; k++) ((unsigned *)(uintptr_t)(to + i * pitch))[k] = c;
    return 0;
}
API int cuModuleLoadDataEx(void **m, const void *image, unsigned n, int *options, void **values)
{
    (void)image;
    ENTER;
    if (chosen("load")) return chosen("load");
    *m = (void *)1;
    live += !mode("load");
    if (!mode("load")) return 0;
    for (unsigned i = 0; i < n; i++)
        if (options[i] == 5)
            strcpy(values[i], "ptxas application ptx input, line 7; error : Unknown symbol 'x'");
    return BAD_PTX;
}
API int cuModuleUnload(void *m)
{
    (void)m;
    live--;
    return 0;
}
API int cuModuleGetFunction(void **f, void *m, const char *name)
{
    static const char *const names[] = {
        "vector_add", "fill_index",    "scale",           "no_arguments",    "twice",           "product",
        "probe",      "gemm_epilogue", "product_signals", "product_copies1", "epilogue_matrix1"};
    (void)m;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(name, names[i]) == 0) *f = (void *)(uintptr_t)(i + 1);
    return *f ? 0 : NOT_FOUND;
}
/* One variable, of four numbers. */
API int cuModuleGetGlobal_v2(uintptr_t *address, size_t *size, void *m, const char *name)
{
    static int table[4];
    (void)m;
    *address = (uintptr_t)table;
    *size = sizeof table;
    return strcmp(name, "table") ? NOT_FOUND : 0;
}
API int cuFuncGetAttribute(int *v, int which, void *f)
{
    (void)f;
    *v = which == 4 ? 12 : which == 0 ? 1024 : which == 5 ? 80 : which == 6 ? 90 : 0;
    return 0;
}
API int cuFuncSetAttribute(void *f, int which, int v)
{
    (void)f;
    (void)which;
    (void)v;
    return 0;
}
API int cuOccupancyMaxActiveBlocksPerMultiprocessor(int *n, void *f, int threads, size_t shared)
{
    (void)f;
    (void)shared;
    *n = 2048 / threads;
    return 0;
}
API int cuOccupancyMaxActiveClusters(int *n, void *f, const config *c)
{
    (void)f;
    (void)c;
    *n = 2;
    return 0;
}
API int cuEventCreate(void **e, unsigned f)
{
    (void)f;
    live++;
    *e = (void *)(uintptr_t)(++event_count);
    return 0;
}
API int cuEventDestroy_v2(void *e)
{
    (void)e;
    live--;
    return 0;
}
API int cuEventRecord(void *e, void *s)
{
    (void)s;
    event_times[(uintptr_t)e % 64] = now();
    return 0;
}
API int cuEventElapsedTime(float *ms, void *a, void *b)
{
    *ms = (float)(event_times[(uintptr_t)b % 64] - event_times[(uintptr_t)a % 64]);
    return 0;
}
API int cuTensorMapEncodeTiled(void *map, int type, uint32_t rank, void *address, const uint64_t *dims,
                               const uint64_t *strides, const uint32_t *box, const uint32_t *steps,
                               int interleave, int swizzle, int promotion, int fill)
{
    (void)type;
    (void)dims;
    (void)strides;
    (void)box;
    (void)steps;
    (void)interleave;
    (void)swizzle;
    (void)promotion;
    (void)fill;
    (void)rank;
    memset(map, 0x5A, 128);
    memcpy(map, &address, sizeof address);
    return (uintptr_t)address % 16 ? INVALID : 0;
}

static void vector_add(const config *c, void **params)
{
    const float *a = *(float **)params[0], *b = *(float **)params[1];
    float *out = *(float **)params[2];
    long n = *(int32_t *)params[3], threads = (long)c->gx * c->bx;
    for (long i = 0; i < n && i < threads; i++)
        if (!(mode("partial") && i >= 7 && i <= 9)) out[i] = a[i] + b[i];
    if (mode("wrong")) out[5] += 1;
    if (mode("nan")) out[3] = 0.0f / (float)(n - n);
    if (mode("overrun")) out[n] = 1;
    if (mode("underrun")) out[-1] = 1;
}

/* An i8 output that holds every byte, so every poison too. */
static void fill_index(const config *c, void **params)
{
    unsigned char *out = *(unsigned char **)params[0];
    for (unsigned i = 0; i < c->gx * c->bx; i++) out[i] = (unsigned char)i;
}

static void scale(const config *c, void **params)
{
    float *x = *(float **)params[0], factor = *(float *)params[1];
    for (unsigned i = 0; i < c->gx * c->bx; i++) x[i] *= factor;
}

/* A memref with its descriptor, and a factor. */
static void twice(const config *c, void **params)
{
    float *x = *(float **)params[1], factor = *(float *)params[5];
    for (unsigned i = 0; i < c->gx * c->bx; i++) x[i] *= factor;
}

/* kernels/product of one matrix of f32, by rows: D = A B^T. */
typedef struct {
    float *data;
    int32_t items, rows, columns;
    int64_t batch, ld;
} matrix;

static void product(void **params)
{
    const matrix *a = params[0], *b = params[1], *d = params[2];
    for (int64_t i = 0; i < d->rows; i++)
        for (int64_t j = 0; j < d->columns; j++) {
            float sum = 0;
            for (int64_t k = 0; k < a->columns; k++) sum += a->data[i * a->ld + k] * b->data[j * b->ld + k];
            d->data[i * d->ld + j] = sum;
        }
}

/* The same, which counts the tiles of groups of rows: their number depends on the tile, so several have many. */
typedef struct {
    int32_t *data;
    int32_t count;
} counters;
static void count_tiles(const counters *c, const matrix *d)
{
    enum { TILE = 128, MANY = 1 << 20 };
    int all = (d->rows + TILE - 1) / TILE * ((d->columns + TILE - 1) / TILE);
    for (int i = 0; i < c->count; i++)
        __atomic_fetch_add(&c->data[i], c->count > 2 ? MANY : all, __ATOMIC_ACQ_REL);
}
static void product_signals(void **params)
{
    product(params);
    count_tiles(params[7], params[2]);
}

/* And stores D once more, with counters of its own. */
static void product_copies1(void **params)
{
    void *copy[] = {params[0], params[1], params[11]};
    product(params);
    product(copy);
    count_tiles(params[7], params[2]);
    count_tiles(params[10], params[2]);
}

/* D = acc + p1, matrices of f32. */
static void sum_of_two(void **params)
{
    typedef struct {
        float *data;
        int32_t rows, columns;
        int64_t ld;
    } plain;
    const plain *d = params[0], *acc = params[1], *more = params[2];
    for (int64_t i = 0; i < d->rows; i++)
        for (int64_t j = 0; j < d->columns; j++)
            d->data[i * d->ld + j] = acc->data[i * acc->ld + j] + more->data[i * more->ld + j];
}

/* kernels/gemm/gemm_epilogue of f32 without an activation: D = alpha P + beta C + bias. Memrefs are their descriptors: two addresses, an
 * offset, extents, strides. */
static void gemm_epilogue(void **params)
{
    enum { P = 0, C = 7, BIAS = 14, D = 19, ALPHA = 26, BETA = 27 };
    const int64_t *const *at = (const int64_t *const *)params;
    const float *p = *(float **)params[P + 1] + *at[P + 2], *c = *(float **)params[C + 1] + *at[C + 2],
                *bias = *(float **)params[BIAS + 1] + *at[BIAS + 2];
    float *d = *(float **)params[D + 1] + *at[D + 2], alpha = *(float *)params[ALPHA],
          beta = *(float *)params[BETA];
    for (int64_t i = 0; i < *at[D + 3]; i++)
        for (int64_t j = 0; j < *at[D + 4]; j++) {
            float sum = alpha * p[i * *at[P + 5] + j * *at[P + 6]];
            if (beta != 0) sum += beta * c[i * *at[C + 5] + j * *at[C + 6]];
            d[i * *at[D + 5] + j * *at[D + 6]] = sum + (*at[BIAS + 3] == *at[D + 4] ? bias[j] : 0);
        }
}

API int cuLaunchKernelEx(const config *c, void *f, void **params, void **extra)
{
    (void)extra;
    ENTER;
    if (chosen("launch")) return chosen("launch");
    if (mode("launch")) return 701;
    if (mode("crash")) abort();
    if (mode("print") || mode("assert")) {
        printf("hello from the kernel\n");
        fflush(stdout);
    }
    pending = chosen("sync")   ? chosen("sync")
              : mode("hang")   ? -1
              : mode("fault")  ? ADDRESS
              : mode("assert") ? ASSERT
                               : 0;
    switch ((uintptr_t)f) {
    case 1: vector_add(c, params); break;
    case 2: fill_index(c, params); break;
    case 3: scale(c, params); break;
    case 5: twice(c, params); break;
    case 6: product(params); break;
    case 7: usleep(500); break; /* of --calibrate */
    case 8: gemm_epilogue(params); break;
    case 9: product_signals(params); break;
    case 10: product_copies1(params); break;
    case 11: sum_of_two(params); break;
    }
    return 0;
}
