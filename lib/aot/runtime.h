/* The run-time part of the sources that `cute-link --emit-c` writes (docs/ahead-of-time.md). It is copied into them as text and not
 * compiled here: C11 that is also C++11, with no dependency but libdl. Before it, the source defines AOT_KERNEL_LIMIT, the largest
 * number of kernels of an image.
 *
 * Each launch is evaluated twice. The first pass checks the arguments and measures temporaries; the second one launches, so that an
 * error leaves nothing half done. Neither allocates memory or waits. */
#include <dlfcn.h>
#include <sched.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define AOT_MAYBE __attribute__((unused))
#define AOT_TRY(call)                                                                                        \
    do {                                                                                                     \
        int status_ = (call);                                                                                \
        if (status_ != AOT_OK) return status_;                                                               \
    } while (0)

/* In the order of the header's status codes. */
enum {
    AOT_OK,
    AOT_ARGUMENT,
    AOT_WORKSPACE,
    AOT_NO_DRIVER,
    AOT_NO_CONTEXT,
    AOT_NO_IMAGE,
    AOT_DRIVER,
    AOT_LIMIT
};
enum { AOT_CONTEXTS = 64, AOT_RANK = 5, AOT_MAP_BYTES = 128, AOT_TEMPORARY_ALIGN = 256 };

/* ---- messages ---- */

static __thread char aot_message[400];

__attribute__((format(printf, 2, 3))) AOT_MAYBE static int aot_fail(int status, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(aot_message, sizeof aot_message, format, args);
    va_end(args);
    return status;
}

/* ---- the driver ---- */

typedef struct aot_launch_attribute {
    int id;
    char pad[4];
    union {
        char bytes[64];
        int flag;
        unsigned extents[3];
    } value;
} aot_launch_attribute;

typedef struct aot_launch_config {
    unsigned grid[3], block[3], shared_bytes;
    void *stream;
    aot_launch_attribute *attributes;
    unsigned attribute_count;
} aot_launch_config;

/* The driver's CUDA_MEMCPY2D. */
typedef struct aot_rows {
    size_t from_x, from_y;
    int from_kind;
    const void *from_host;
    unsigned long long from;
    void *from_array;
    size_t from_pitch, to_x, to_y;
    int to_kind;
    void *to_host;
    unsigned long long to;
    void *to_array;
    size_t to_pitch, width, height;
} aot_rows;

typedef struct aot_driver {
    int (*init)(unsigned);
    int (*error_name)(int, const char **);
    int (*context_current)(void **);
    int (*context_id)(void *, unsigned long long *);
    int (*context_device)(int *);
    int (*device_attribute)(int *, int, int);
    int (*module_load)(void **, const void *);
    int (*module_unload)(void *);
    int (*module_function)(void **, void *, const char *);
    int (*function_attribute)(int *, int, void *);
    int (*function_set)(void *, int, int);
    int (*launch)(const aot_launch_config *, void *, void **, void **);
    int (*fill)(unsigned long long, unsigned char, size_t, void *);
    int (*fill_16)(unsigned long long, unsigned short, size_t, void *);
    int (*fill_32)(unsigned long long, unsigned, size_t, void *);
    int (*fill_columns)(unsigned long long, size_t, unsigned, size_t, size_t, void *);
    int (*copy)(unsigned long long, unsigned long long, size_t, void *);
    int (*copy_rows)(const aot_rows *, void *);
    int (*encode_tiled)(void *, int, uint32_t, void *, const uint64_t *, const uint64_t *, const uint32_t *,
                        const uint32_t *, int, int, int, int);
    int (*encode_im2col)(void *, int, uint32_t, void *, const uint64_t *, const uint64_t *, const int *,
                         const int *, uint32_t, uint32_t, const uint32_t *, int, int, int, int);
} aot_driver;

static aot_driver aot_cuda;
static int aot_cuda_ready; /* set when aot_cuda is complete */
static int aot_lock;       /* held while the driver is opened or an image is loaded */

static void aot_acquire(void)
{
    while (__atomic_exchange_n(&aot_lock, 1, __ATOMIC_ACQUIRE)) sched_yield();
}

static void aot_release(void)
{
    __atomic_store_n(&aot_lock, 0, __ATOMIC_RELEASE);
}

static int aot_driver_fail(int result, const char *doing, const char *name)
{
    const char *text = NULL;
    if (aot_cuda.error_name(result, &text) != 0 || !text) text = "an unknown error";
    return aot_fail(AOT_DRIVER, "%s%s%s%s: %s (%d)", doing, *name ? " '" : "", name, *name ? "'" : "", text,
                    result);
}

/* The lock is held. */
static int aot_open_driver(void)
{
    static const struct {
        const char *symbol;
        size_t offset;
        bool needed;
    } symbols[] = {
        {"cuInit", offsetof(aot_driver, init), true},
        {"cuGetErrorName", offsetof(aot_driver, error_name), true},
        {"cuCtxGetCurrent", offsetof(aot_driver, context_current), true},
        {"cuCtxGetId", offsetof(aot_driver, context_id), false},
        {"cuCtxGetDevice", offsetof(aot_driver, context_device), true},
        {"cuDeviceGetAttribute", offsetof(aot_driver, device_attribute), true},
        {"cuModuleLoadData", offsetof(aot_driver, module_load), true},
        {"cuModuleUnload", offsetof(aot_driver, module_unload), true},
        {"cuModuleGetFunction", offsetof(aot_driver, module_function), true},
        {"cuFuncGetAttribute", offsetof(aot_driver, function_attribute), true},
        {"cuFuncSetAttribute", offsetof(aot_driver, function_set), true},
        {"cuLaunchKernelEx", offsetof(aot_driver, launch), true},
        {"cuMemsetD8Async", offsetof(aot_driver, fill), true},
        {"cuMemsetD16Async", offsetof(aot_driver, fill_16), true},
        {"cuMemsetD32Async", offsetof(aot_driver, fill_32), true},
        {"cuMemsetD2D32Async", offsetof(aot_driver, fill_columns), true},
        {"cuMemcpyDtoDAsync_v2", offsetof(aot_driver, copy), true},
        {"cuMemcpy2DAsync_v2", offsetof(aot_driver, copy_rows), true},
        {"cuTensorMapEncodeTiled", offsetof(aot_driver, encode_tiled), false},
        {"cuTensorMapEncodeIm2col", offsetof(aot_driver, encode_im2col), false},
    };
    if (aot_cuda_ready) return AOT_OK;
    void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        const char *reason = dlerror();
        return aot_fail(AOT_NO_DRIVER, "no CUDA driver: %s", reason ? reason : "cannot open libcuda.so.1");
    }
    for (size_t i = 0; i < sizeof symbols / sizeof *symbols; i++) {
        void *symbol = dlsym(library, symbols[i].symbol);
        memcpy((char *)&aot_cuda + symbols[i].offset, &symbol, sizeof symbol);
        if (symbol || !symbols[i].needed) continue;
        dlclose(library);
        return aot_fail(AOT_NO_DRIVER, "libcuda.so.1 lacks %s: expected a driver of CUDA 12 or later",
                        symbols[i].symbol);
    }
    int result = aot_cuda.init(0);
    if (result != 0) {
        aot_driver_fail(result, "cuInit", "");
        dlclose(library);
        return AOT_NO_DRIVER;
    }
    __atomic_store_n(&aot_cuda_ready, 1, __ATOMIC_RELEASE);
    return AOT_OK;
}

/* ---- images, loaded once for each context ---- */

typedef struct aot_kernel {
    const char *name;
    bool clusters; /* is launched in clusters */
} aot_kernel;

typedef struct aot_image {
    int number;   /* 90 */
    char variant; /* 0, 'a' or 'f' */
    bool binary;  /* a cubin; false: PTX, which the driver compiles */
    int group;    /* of its plans */
    const void *bytes;
    const aot_kernel *kernels;
    size_t kernel_count;
} aot_image;

typedef struct aot_slot {
    void *context;
    unsigned long long id; /* tells a context from an earlier one at the same address */
    const aot_image *image;
    int64_t multiprocessors;
    void *module;
    void *functions[AOT_KERNEL_LIMIT];
} aot_slot;

static aot_slot aot_slots[AOT_CONTEXTS]; /* a slot is complete once aot_slot_count includes it */
static size_t aot_slot_count;

/* 0: the device cannot run the image; else the more specific one has the larger number. */
static int aot_rank(const aot_image *image, int device)
{
    bool family = image->number / 10 == device / 10 && image->number <= device;
    int best = image->binary ? 20000 : 10000;
    if (image->variant == 'a') return image->number == device ? best + 3000 + image->number : 0;
    if (image->variant == 'f') return family ? best + 2000 + image->number : 0;
    return (image->binary ? family : image->number <= device) ? best + image->number : 0;
}

static int aot_prepare(aot_slot *slot, int device)
{
    enum { SHARED_OPTIN = 97, SHARED = 1, MAX_DYNAMIC_SHARED = 8, NON_PORTABLE_CLUSTER = 14 };
    int most = 0, fixed = 0;
    aot_cuda.device_attribute(&most, SHARED_OPTIN, device);
    for (size_t i = 0; i < slot->image->kernel_count; i++) {
        const aot_kernel *kernel = &slot->image->kernels[i];
        int result = aot_cuda.module_function(&slot->functions[i], slot->module, kernel->name);
        if (result != 0) return aot_driver_fail(result, "looking up kernel", kernel->name);
        result = aot_cuda.function_attribute(&fixed, SHARED, slot->functions[i]);
        if (result == 0 && most > fixed)
            result = aot_cuda.function_set(slot->functions[i], MAX_DYNAMIC_SHARED, most - fixed);
        if (result == 0 && kernel->clusters)
            result = aot_cuda.function_set(slot->functions[i], NON_PORTABLE_CLUSTER, 1);
        if (result != 0) return aot_driver_fail(result, "preparing kernel", kernel->name);
    }
    return AOT_OK;
}

static int aot_fill_slot(aot_slot *slot, const aot_image *images, size_t count)
{
    enum { MULTIPROCESSORS = 16, MAJOR = 75, MINOR = 76 };
    int device = 0, major = 0, minor = 0, multiprocessors = 0, best = 0;
    int result = aot_cuda.context_device(&device);
    if (result == 0) result = aot_cuda.device_attribute(&major, MAJOR, device);
    if (result == 0) result = aot_cuda.device_attribute(&minor, MINOR, device);
    if (result == 0) result = aot_cuda.device_attribute(&multiprocessors, MULTIPROCESSORS, device);
    if (result != 0) return aot_driver_fail(result, "querying the device", "");
    slot->image = NULL;
    slot->multiprocessors = multiprocessors;
    for (size_t i = 0; i < count; i++) {
        int rank = aot_rank(&images[i], 10 * major + minor);
        if (rank > best) {
            best = rank;
            slot->image = &images[i];
        }
    }
    if (!slot->image)
        return aot_fail(AOT_NO_IMAGE, "no code for sm_%d%d: link it with -arch sm_%d%d too", major, minor,
                        major, minor);
    result = aot_cuda.module_load(&slot->module, slot->image->bytes);
    if (result != 0) return aot_driver_fail(result, "loading the kernels", "");
    int status = aot_prepare(slot, device);
    if (status != AOT_OK) aot_cuda.module_unload(slot->module);
    return status;
}

static aot_slot *aot_find_slot(void *context, unsigned long long id)
{
    size_t count = __atomic_load_n(&aot_slot_count, __ATOMIC_ACQUIRE);
    for (size_t i = 0; i < count; i++)
        if (aot_slots[i].context == context && aot_slots[i].id == id) return &aot_slots[i];
    return NULL;
}

/* The slot of the calling thread's context; loads the image at the first call. */
static int aot_enter(const aot_image *images, size_t count, aot_slot **out)
{
    int status = AOT_OK;
    if (!__atomic_load_n(&aot_cuda_ready, __ATOMIC_ACQUIRE)) {
        aot_acquire();
        status = aot_open_driver();
        aot_release();
        AOT_TRY(status);
    }
    void *context = NULL;
    unsigned long long id = 0;
    int result = aot_cuda.context_current(&context);
    if (result != 0) return aot_driver_fail(result, "finding the context", "");
    if (!context)
        return aot_fail(AOT_NO_CONTEXT,
                        "the thread has no current CUDA context: call cudaSetDevice or cuCtxSetCurrent");
    if (aot_cuda.context_id) aot_cuda.context_id(context, &id);
    if ((*out = aot_find_slot(context, id))) return AOT_OK;
    aot_acquire();
    *out = aot_find_slot(context, id);
    size_t used = aot_slot_count;
    if (!*out && used == AOT_CONTEXTS)
        status = aot_fail(AOT_LIMIT, "expected at most %d contexts in the life of the process", AOT_CONTEXTS);
    if (!*out && status == AOT_OK) {
        aot_slots[used].context = context;
        aot_slots[used].id = id;
        status = aot_fill_slot(&aot_slots[used], images, count);
        if (status == AOT_OK) {
            *out = &aot_slots[used];
            __atomic_store_n(&aot_slot_count, used + 1, __ATOMIC_RELEASE);
        }
    }
    aot_release();
    return status;
}

/* ---- a call ---- */

typedef struct aot_temporary {
    uint64_t address;
    int64_t bytes;
    int fill; /* the byte that fills it, -1: none */
} aot_temporary;

typedef struct aot_run {
    const char *function;
    aot_slot *slot;
    bool start; /* the second pass */
    void *stream;
    aot_temporary *temporaries;
    size_t temporary_count, launched;
    bool fills;
} aot_run;

typedef struct aot_shape {
    int64_t grid[3], block[3], cluster[3], shared;
    bool cooperative, programmatic;
} aot_shape;

AOT_MAYBE static int64_t aot_fit(int64_t value, int width)
{
    return width >= 64 ? value : (int64_t)((uint64_t)value << (64 - width)) >> (64 - width);
}
AOT_MAYBE static uint64_t aot_bits(int64_t value, int width)
{
    return width >= 64 ? (uint64_t)value : (uint64_t)value & (((uint64_t)1 << width) - 1);
}

/* A signed number of 4 or 8 bytes. */
AOT_MAYBE static int64_t aot_read(const unsigned char *bytes, int size)
{
    int32_t narrow;
    int64_t wide;
    memcpy(&narrow, bytes, sizeof narrow);
    if (size == 4) return narrow;
    memcpy(&wide, bytes, sizeof wide);
    return wide;
}

AOT_MAYBE static double aot_f32(int64_t bits)
{
    uint32_t pattern = (uint32_t)bits;
    float value;
    memcpy(&value, &pattern, sizeof value);
    return value;
}
AOT_MAYBE static int64_t aot_from_f32(double real)
{
    float value = (float)real;
    int32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}
AOT_MAYBE static double aot_f64(int64_t bits)
{
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}
AOT_MAYBE static int64_t aot_from_f64(double value)
{
    int64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

AOT_MAYBE static int aot_unknown(const aot_run *run, const char *role)
{
    return aot_fail(AOT_ARGUMENT, "%s: undefined %s: a division by zero, an oversized shift or an overflow",
                    run->function, role);
}

AOT_MAYBE static int aot_environment(const aot_run *run, const char *name, int64_t *out)
{
    const char *text = getenv(name);
    char *end = NULL;
    long long value = text ? strtoll(text, &end, 10) : 0;
    if (!text || end == text || *end)
        return aot_fail(AOT_ARGUMENT, "%s: expected an integer in $%s, got '%s'", run->function, name,
                        text ? text : "");
    *out = value;
    return AOT_OK;
}

/* ---- arguments ---- */

AOT_MAYBE static int aot_null(const char *function, const char *name)
{
    return aot_fail(AOT_ARGUMENT, "%s: expected a value for '%s', got NULL", function, name);
}

AOT_MAYBE static int aot_pointer(const char *function, const char *name, const void *pointer, bool required,
                                 unsigned align)
{
    if (!pointer && required) return aot_null(function, name);
    if ((uintptr_t)pointer % align == 0) return AOT_OK;
    return aot_fail(AOT_ARGUMENT, "%s: '%s' is misaligned: expected a multiple of %u bytes, got %p", function,
                    name, align, pointer);
}

AOT_MAYBE static bool aot_holds(int64_t value, int width)
{
    return width >= 64 || (value < (int64_t)1 << (width - 1) && value >= -((int64_t)1 << (width - 1)));
}

AOT_MAYBE static int aot_number(const char *function, const char *name, int64_t value, int64_t divisor,
                                int width)
{
    if (divisor > 1 && value % divisor != 0)
        return aot_fail(AOT_ARGUMENT, "%s: expected a multiple of %lld for '%s', got %lld", function,
                        (long long)divisor, name, (long long)value);
    if (aot_holds(value, width)) return AOT_OK;
    return aot_fail(AOT_ARGUMENT, "%s: expected at most %d bits for '%s', got %lld", function, width, name,
                    (long long)value);
}

/* `expected` is -1 if the extent is unknown when the kernel is compiled. */
AOT_MAYBE static int aot_extent(const char *function, const char *name, int mode, int64_t value,
                                int64_t expected, int64_t divisor, int width)
{
    if (value < 0 || (expected >= 0 && value != expected))
        return aot_fail(AOT_ARGUMENT, "%s: dimension %d of '%s' has extent %lld, expected %s%lld", function,
                        mode, name, (long long)value, expected >= 0 ? "" : "at least ",
                        (long long)(expected >= 0 ? expected : 0));
    if (divisor > 1 && value % divisor != 0)
        return aot_fail(AOT_ARGUMENT, "%s: dimension %d of '%s' has extent %lld, expected a multiple of %lld",
                        function, mode, name, (long long)value, (long long)divisor);
    if (aot_holds(value, width)) return AOT_OK;
    return aot_fail(AOT_ARGUMENT, "%s: dimension %d of '%s' has extent %lld, which does not fit in %d bits",
                    function, mode, name, (long long)value, width);
}

/* The stride of an extent of 1 is ignored, and of each extent of a tensor without elements, for which `extent` is 0. */
AOT_MAYBE static int aot_stride(const char *function, const char *name, int mode, int64_t extent,
                                int64_t value, bool known, int64_t expected, int64_t divisor, int width,
                                int64_t *out)
{
    *out = value;
    if (known) {
        if (value == expected || extent <= 1) return AOT_OK;
        return aot_fail(AOT_ARGUMENT, "%s: dimension %d of '%s' has stride %lld, expected %lld", function,
                        mode, name, (long long)value, (long long)expected);
    }
    bool divides = divisor <= 1 || value % divisor == 0, holds = aot_holds(value, width);
    if (divides && holds) return AOT_OK;
    *out = 0;
    if (extent <= 1) return AOT_OK;
    if (!divides)
        return aot_fail(AOT_ARGUMENT, "%s: dimension %d of '%s' has stride %lld, expected a multiple of %lld",
                        function, mode, name, (long long)value, (long long)divisor);
    return aot_fail(AOT_ARGUMENT, "%s: dimension %d of '%s' has stride %lld, which does not fit in %d bits",
                    function, mode, name, (long long)value, width);
}

/* Adds the distance of the last element along a leaf to *sum, saturating. */
AOT_MAYBE static void aot_reach(int64_t extent, int64_t stride, uint64_t *sum)
{
    uint64_t step = stride < 0 ? 0 - (uint64_t)stride : (uint64_t)stride, reach;
    if (extent < 1) return;
    if (__builtin_mul_overflow((uint64_t)extent - 1, step, &reach)) reach = UINT64_MAX;
    if (__builtin_add_overflow(*sum, reach, sum)) *sum = UINT64_MAX;
}

AOT_MAYBE static int aot_offsets(const aot_run *run, const char *name, uint64_t farthest, uint64_t below)
{
    if (farthest < below) return AOT_OK;
    return aot_fail(AOT_ARGUMENT,
                    "%s: expected the last element of '%s' less than %llu elements from the first, got %llu",
                    run->function, name, (unsigned long long)below, (unsigned long long)farthest);
}

/* ---- temporaries ---- */

/* size * (1 + sum of (extent - 1) * stride) bytes. */
AOT_MAYBE static int aot_measure(aot_run *run, size_t index, int64_t size, int fill, const int64_t *extents,
                                 const int64_t *strides, size_t rank, int64_t *value)
{
    aot_temporary *t = &run->temporaries[index];
    int64_t elements = 1, span;
    if (run->start) {
        *value = (int64_t)t->address;
        return AOT_OK;
    }
    t->fill = fill;
    *value = AOT_TEMPORARY_ALIGN; /* any aligned address: the first pass does not use it */
    for (size_t i = 0; i < rank; i++) {
        if (extents[i] < 1 || strides[i] < 0)
            return aot_fail(
                AOT_ARGUMENT,
                "%s: temporary %zu: expected extents of at least 1 and strides of at least 0, got %lld "
                "and %lld",
                run->function, index, (long long)extents[i], (long long)strides[i]);
        if (__builtin_mul_overflow(extents[i] - 1, strides[i], &span) ||
            __builtin_add_overflow(elements, span, &elements))
            return aot_fail(AOT_ARGUMENT, "%s: temporary %zu has a size beyond 64 bits", run->function,
                            index);
    }
    if (__builtin_mul_overflow(elements, size, &span) || span > INT64_MAX / 4)
        return aot_fail(AOT_ARGUMENT, "%s: temporary %zu has a size beyond 64 bits", run->function, index);
    if (span > t->bytes) t->bytes = span; /* in a loop: the largest of all iterations */
    return AOT_OK;
}

/* Places the temporaries one after the other; *bytes is the size of the workspace. */
AOT_MAYBE static int aot_place(aot_run *run, const void *workspace, uint64_t *bytes)
{
    *bytes = 0;
    for (size_t i = 0; i < run->temporary_count; i++) {
        aot_temporary *t = &run->temporaries[i];
        uint64_t units = ((uint64_t)t->bytes + AOT_TEMPORARY_ALIGN - 1) / AOT_TEMPORARY_ALIGN;
        t->address = (uint64_t)(uintptr_t)workspace + *bytes;
        if (__builtin_add_overflow(*bytes, units * AOT_TEMPORARY_ALIGN, bytes))
            return aot_fail(AOT_ARGUMENT, "%s: the workspace has a size beyond 64 bits", run->function);
        run->fills = run->fills || t->fill >= 0;
    }
    return AOT_OK;
}

/* Checks the workspace, fills temporaries and begins the second pass. */
AOT_MAYBE static int aot_begin(aot_run *run, const void *workspace, size_t given, uint64_t needed)
{
    if (needed && !workspace)
        return aot_fail(AOT_WORKSPACE, "%s: expected a workspace of %llu bytes, got none", run->function,
                        (unsigned long long)needed);
    if (given < needed)
        return aot_fail(AOT_WORKSPACE, "%s: expected a workspace of %llu bytes, got %zu", run->function,
                        (unsigned long long)needed, given);
    if (needed && (uintptr_t)workspace % AOT_TEMPORARY_ALIGN)
        return aot_fail(AOT_WORKSPACE,
                        "%s: the workspace is misaligned: expected a multiple of %d bytes, got %p",
                        run->function, (int)AOT_TEMPORARY_ALIGN, workspace);
    for (size_t i = 0; i < run->temporary_count; i++) {
        const aot_temporary *t = &run->temporaries[i];
        if (t->fill < 0 || !t->bytes) continue;
        int result = aot_cuda.fill(t->address, (unsigned char)t->fill, (size_t)t->bytes, run->stream);
        if (result != 0) return aot_driver_fail(result, "filling a temporary of", run->function);
    }
    run->start = true;
    return AOT_OK;
}

/* ---- copies and fills ---- */

AOT_MAYBE static int aot_copy(aot_run *run, int64_t to, int64_t from, int64_t bytes)
{
    if (bytes < 0)
        return aot_fail(AOT_ARGUMENT, "%s copies %lld bytes: expected 0 or more", run->function,
                        (long long)bytes);
    if (!run->start || !bytes) return AOT_OK;
    int result = aot_cuda.copy((unsigned long long)to, (unsigned long long)from, (size_t)bytes, run->stream);
    return result == 0 ? AOT_OK : aot_driver_fail(result, "copying memory of", run->function);
}

/* Copies `size` bytes at each place of a grid: strides are in multiples of `size`. The fastest dimensions without gaps are one row, the
 * next one is copied as rows. */
AOT_MAYBE static int aot_copy_box(aot_run *run, int64_t to, int64_t from, int64_t size,
                                  const int64_t *extents, const int64_t *to_strides,
                                  const int64_t *from_strides, size_t rank)
{
    int64_t at[16] = {0}, row = 1, count = 1;
    for (size_t i = 0; i < rank; i++) {
        if (extents[i] < 0 || to_strides[i] < 0 || from_strides[i] < 0)
            return aot_fail(AOT_ARGUMENT, "%s: a copy has a negative extent or stride", run->function);
        if (!extents[i]) return AOT_OK;
    }
    if (!run->start) return AOT_OK;
    while (rank && (extents[rank - 1] == 1 || (to_strides[rank - 1] == row && from_strides[rank - 1] == row)))
        row *= extents[--rank];
    const size_t inner = rank - 1;
    bool rows = rank && to_strides[inner] >= row && from_strides[inner] >= row;
    if (rows) count = extents[--rank];
    for (;;) {
        aot_rows c;
        memset(&c, 0, sizeof c);
        c.from_kind = c.to_kind = 2; /* memory of the device */
        c.width = (size_t)(row * size);
        c.height = (size_t)count;
        c.from = (unsigned long long)from;
        c.to = (unsigned long long)to;
        c.from_pitch = rows ? (size_t)(from_strides[inner] * size) : c.width;
        c.to_pitch = rows ? (size_t)(to_strides[inner] * size) : c.width;
        for (size_t i = 0; i < rank; i++) {
            c.from += (unsigned long long)(at[i] * from_strides[i] * size);
            c.to += (unsigned long long)(at[i] * to_strides[i] * size);
        }
        int result = aot_cuda.copy_rows(&c, run->stream);
        if (result != 0) return aot_driver_fail(result, "copying memory of", run->function);
        size_t i = rank;
        while (i && ++at[i - 1] == extents[i - 1]) at[--i] = 0;
        if (!i) return AOT_OK;
    }
}

/* Fills memory with the lowest `width` bytes of a value; 8 bytes are two columns of 4. */
AOT_MAYBE static int aot_fill(aot_run *run, int64_t to, int64_t bytes, int64_t value, int width)
{
    unsigned long long at = (unsigned long long)to;
    int result = 0;
    if (bytes < 0)
        return aot_fail(AOT_ARGUMENT, "%s fills %lld bytes: expected 0 or more", run->function,
                        (long long)bytes);
    if (!run->start || !bytes) return AOT_OK;
    size_t count = (size_t)bytes / (size_t)width;
    if (width == 1)
        result = aot_cuda.fill(at, (unsigned char)value, count, run->stream);
    else if (width == 2)
        result = aot_cuda.fill_16(at, (unsigned short)value, count, run->stream);
    else if (width == 4)
        result = aot_cuda.fill_32(at, (unsigned)value, count, run->stream);
    else
        for (int half = 0; half < 2 && result == 0; half++)
            result = aot_cuda.fill_columns(at + 4 * (unsigned)half, 8,
                                           (unsigned)((uint64_t)value >> 32 * half), 1, count, run->stream);
    return result == 0 ? AOT_OK : aot_driver_fail(result, "filling memory of", run->function);
}

/* ---- tensor maps ---- */

typedef struct aot_map {
    const char *tensor;
    int type, rank, interleave, swizzle, promotion, fill;
    uint32_t box[AOT_RANK], steps[AOT_RANK];
    bool im2col;
    int lower[AOT_RANK], upper[AOT_RANK];
} aot_map;

/* Encodes a map; extents from the fastest to the slowest, strides in bytes, [0] is not used. A tensor without elements has
 * none: one of a single element takes its place. */
AOT_MAYBE static int aot_encode(const aot_run *run, const aot_map *map, int64_t address,
                                const int64_t *extents, const int64_t *strides, unsigned char *out)
{
    int64_t align = map->interleave == 2 ? 32 : 16, largest = (int64_t)1 << 40;
    uint64_t dims[AOT_RANK] = {0}, steps[AOT_RANK] = {0};
    static const int none[AOT_RANK] = {0};
    bool empty = false;
    for (int i = 0; i < map->rank; i++) empty |= extents[i] == 0;
    if (empty) address -= address % align;
    if (address % align)
        return aot_fail(AOT_ARGUMENT, "%s: '%s' is misaligned: expected a multiple of %lld bytes, got 0x%llx",
                        run->function, map->tensor, (long long)align, (unsigned long long)address);
    for (int i = 0; i < map->rank; i++) {
        if (extents[i] < 0 || extents[i] > (int64_t)1 << 32)
            return aot_fail(AOT_ARGUMENT,
                            "%s: expected 0 to 2^32 elements in each dimension of '%s', got %lld",
                            run->function, map->tensor, (long long)extents[i]);
        if (map->im2col && !empty && i > 0 && i < map->rank - 1 &&
            extents[i] + map->upper[i - 1] - map->lower[i - 1] < 1)
            return aot_fail(
                AOT_ARGUMENT,
                "%s: expected more elements in a dimension of '%s' than the corners of the pixel box "
                "exclude, got %lld",
                run->function, map->tensor, (long long)extents[i]);
        dims[i] = empty ? 1 : (uint64_t)extents[i];
        if (i == 0) continue;
        bool valid = !empty && strides[i] >= align && strides[i] % align == 0 && strides[i] < largest;
        if (!valid && dims[i] != 1)
            return aot_fail(
                AOT_ARGUMENT,
                "%s: expected strides of '%s' that are multiples of %lld bytes below 2^40, got %lld",
                run->function, map->tensor, (long long)align, (long long)strides[i]);
        steps[i - 1] = (uint64_t)(valid ? strides[i] : align);
    }
    if (!run->start) return AOT_OK;
    if (map->im2col ? !aot_cuda.encode_im2col : !aot_cuda.encode_tiled)
        return aot_fail(AOT_NO_DRIVER, "%s: the driver is too old for tensor maps", run->function);
    void *data = (void *)(uintptr_t)address;
    int result = map->im2col ? aot_cuda.encode_im2col(out, map->type, (uint32_t)map->rank, data, dims, steps,
                                                      empty ? none : map->lower, empty ? none : map->upper,
                                                      map->box[0], map->box[1], map->steps, map->interleave,
                                                      map->swizzle, map->promotion, map->fill)
                             : aot_cuda.encode_tiled(out, map->type, (uint32_t)map->rank, data, dims, steps,
                                                     map->box, map->steps, map->interleave, map->swizzle,
                                                     map->promotion, map->fill);
    return result == 0 ? AOT_OK : aot_driver_fail(result, "encoding the tensor map of", map->tensor);
}

/* ---- launches ---- */

static int aot_start(aot_run *run, size_t kernel, const aot_shape *shape, void **params)
{
    enum { COOPERATIVE = 2, CLUSTER = 4, PROGRAMMATIC = 6 };
    const char *name = run->slot->image->kernels[kernel].name;
    aot_launch_attribute attributes[3];
    aot_launch_config config;
    unsigned count = 0;
    for (int i = 0; i < 3; i++) {
        if (shape->grid[i] < 0 || shape->grid[i] > INT32_MAX || shape->block[i] < 1 ||
            shape->block[i] > 1024 || shape->cluster[i] < 0 || shape->cluster[i] > 1024)
            return aot_fail(
                AOT_ARGUMENT,
                "%s launches '%s': expected 0 to 2^31 - 1 blocks, and 1 to 1024 threads along each "
                "dimension, got %lld and %lld",
                run->function, name, (long long)shape->grid[i], (long long)shape->block[i]);
        config.grid[i] = (unsigned)shape->grid[i];
        config.block[i] = (unsigned)shape->block[i];
    }
    if (shape->shared < 0 || shape->shared > INT32_MAX)
        return aot_fail(AOT_ARGUMENT, "%s launches '%s': expected bytes of dynamic shared memory, got %lld",
                        run->function, name, (long long)shape->shared);
    if (!run->start || !config.grid[0] || !config.grid[1] || !config.grid[2]) return AOT_OK;
    if (shape->cluster[0] > 0) {
        attributes[count].id = CLUSTER;
        for (int i = 0; i < 3; i++) attributes[count].value.extents[i] = (unsigned)shape->cluster[i];
        count++;
    }
    if (shape->cooperative) {
        attributes[count].id = COOPERATIVE;
        attributes[count++].value.flag = 1;
    }
    /* A fill, unlike a launch, waits for the previous launch to end. */
    if (shape->programmatic && (run->launched || !run->fills)) {
        attributes[count].id = PROGRAMMATIC;
        attributes[count++].value.flag = 1;
    }
    config.shared_bytes = (unsigned)shape->shared;
    config.stream = run->stream;
    config.attributes = count ? attributes : NULL;
    config.attribute_count = count;
    run->launched++;
    int result = aot_cuda.launch(&config, run->slot->functions[kernel], params, NULL);
    return result == 0 ? AOT_OK : aot_driver_fail(result, "launching", name);
}
