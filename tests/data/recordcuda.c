/* A stand-in for libcuda.so.1 that runs no kernel and records launches: $RECORDCUDA names a file, which gets a line for each launch and
 * fill, array, texture and copy, with the bytes of all parameters. Their sizes are those in the image's metadata (docs/metadata.md). A tensor map has the
 * arguments that it was encoded from. Device memory is host memory, which fills do not write. $RECORDCUDA_ARCH is the compute capability (90). */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define API __attribute__((visibility("default")))

enum { PARAMS = 64, NOT_FOUND = 500, INVALID = 1, BAD_IMAGE = 200 };

typedef struct {
    char name[128];
    int count, sizes[PARAMS];
} kernel;

typedef struct {
    char *text; /* of the metadata */
} module;

typedef struct {
    int id;
    char pad[4];
    union {
        char bytes[64];
        int flag;
        unsigned extents[3];
    } value;
} attribute;

typedef struct {
    unsigned grid[3], block[3], shared;
    void *stream;
    attribute *attributes;
    unsigned attribute_count;
} config;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static long launches, loads;
static _Thread_local void *context;

/* For tests. */
API long recordcuda_launches(void)
{
    return __atomic_load_n(&launches, __ATOMIC_RELAXED);
}
API long recordcuda_loads(void)
{
    return __atomic_load_n(&loads, __ATOMIC_RELAXED);
}

static void record(const char *line)
{
    const char *path = getenv("RECORDCUDA");
    if (!path || !*path) return;
    pthread_mutex_lock(&lock);
    FILE *file = fopen(path, "a");
    if (file) {
        fputs(line, file);
        fclose(file);
    }
    pthread_mutex_unlock(&lock);
}

API int cuInit(unsigned flags)
{
    (void)flags;
    return 0;
}
API int cuDriverGetVersion(int *v)
{
    *v = 13000;
    return 0;
}
API int cuGetErrorName(int e, const char **out)
{
    *out = e == NOT_FOUND ? "CUDA_ERROR_NOT_FOUND" : "CUDA_ERROR_INVALID_VALUE";
    return 0;
}
API int cuGetErrorString(int e, const char **out)
{
    (void)e;
    *out = "a text of the driver";
    return 0;
}
API int cuDeviceGetCount(int *n)
{
    *n = 1;
    return 0;
}
API int cuDeviceGet(int *d, int i)
{
    *d = i;
    return i ? 101 : 0;
}
API int cuDeviceGetName(char *name, int size, int d)
{
    (void)d;
    snprintf(name, (size_t)size, "Recorder");
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
        {1, 1024},  {2, 1024},    {3, 1024},   {4, 64},     {5, 2147483647}, {6, 65535},   {7, 65535},
        {8, 49152}, {10, 32},     {12, 65536}, {16, 132},   {39, 2048},      {81, 233472}, {82, 65536},
        {95, 1},    {97, 232448}, {106, 32},   {111, 1024}, {120, 1},        {127, 1},
    };
    const char *arch = getenv("RECORDCUDA_ARCH");
    int number = arch ? atoi(arch) : 90;
    (void)d;
    *value = which == 75 ? number / 10 : which == 76 ? number % 10 : 0;
    for (size_t i = 0; i < sizeof values / sizeof *values; i++)
        if (values[i][0] == which) *value = values[i][1];
    return 0;
}
API int cuDevicePrimaryCtxRetain(void **c, int d)
{
    (void)d;
    *c = (void *)1;
    return 0;
}
API int cuDevicePrimaryCtxRelease_v2(int d)
{
    (void)d;
    return 0;
}
API int cuCtxSetCurrent(void *c)
{
    context = c;
    return 0;
}
API int cuCtxGetCurrent(void **c)
{
    *c = context;
    return 0;
}
API int cuCtxGetId(void *c, unsigned long long *id)
{
    *id = (uintptr_t)c;
    return 0;
}
API int cuCtxGetDevice(int *d)
{
    *d = 0;
    return 0;
}
API int cuCtxSynchronize(void)
{
    return 0;
}
API int cuStreamCreate(void **s, unsigned f)
{
    (void)f;
    *s = malloc(1);
    return 0;
}
API int cuStreamDestroy_v2(void *s)
{
    free(s);
    return 0;
}
API int cuStreamSynchronize(void *s)
{
    (void)s;
    return 0;
}
API int cuStreamWaitEvent(void *s, void *e, unsigned f)
{
    (void)s, (void)e, (void)f;
    return 0;
}
API int cuMemAlloc_v2(unsigned long long *p, size_t n)
{
    *p = (uintptr_t)aligned_alloc(512, (n + 511) / 512 * 512);
    return *p ? 0 : 2;
}
API int cuMemFree_v2(unsigned long long p)
{
    free((void *)(uintptr_t)p);
    return 0;
}
API int cuMemcpyHtoDAsync_v2(unsigned long long to, const void *from, size_t n, void *s)
{
    (void)s;
    memcpy((void *)(uintptr_t)to, from, n);
    return 0;
}
API int cuMemcpyDtoHAsync_v2(void *to, unsigned long long from, size_t n, void *s)
{
    (void)s;
    memcpy(to, (void *)(uintptr_t)from, n);
    return 0;
}
API int cuMemcpyDtoDAsync_v2(unsigned long long to, unsigned long long from, size_t n, void *s)
{
    (void)s;
    memcpy((void *)(uintptr_t)to, (void *)(uintptr_t)from, n);
    return 0;
}
API int cuMemsetD8Async(unsigned long long to, unsigned char c, size_t n, void *s)
{
    char line[120];
    (void)s;
    snprintf(line, sizeof line, "fill %llx %zu bytes with %d\n", to, n, c);
    record(line);
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

/* The metadata is text in the image, whose size the ELF header has; 200: no metadata. */
static int load(void **m, const char *image)
{
    uint64_t sections;
    uint16_t size, count;
    static const char mark[] = "{\"format\": 1, \"kernel\": ";
    if (memcmp(image, "\177ELF", 4)) return BAD_IMAGE;
    memcpy(&sections, image + 40, 8);
    memcpy(&size, image + 58, 2);
    memcpy(&count, image + 60, 2);
    uint64_t end = sections + (uint64_t)size * count;
    for (int i = 0; i < count; i++) {
        uint64_t at, bytes;
        uint32_t type;
        memcpy(&type, image + sections + (uint64_t)i * size + 4, 4);
        memcpy(&at, image + sections + (uint64_t)i * size + 24, 8);
        memcpy(&bytes, image + sections + (uint64_t)i * size + 32, 8);
        if (type != 8 && at + bytes > end) end = at + bytes;
    }
    module *made = calloc(1, sizeof *made);
    made->text = calloc(1, end + 1);
    char *to = made->text;
    for (uint64_t i = 0; i + sizeof mark <= end; i++) {
        if (memcmp(image + i, mark, sizeof mark - 1)) continue;
        while (image[i] && image[i] != '\n') *to++ = image[i++];
        *to++ = '\n';
    }
    *m = made;
    __atomic_add_fetch(&loads, 1, __ATOMIC_RELAXED);
    return 0;
}
API int cuModuleLoadData(void **m, const void *image)
{
    return load(m, image);
}
API int cuModuleLoadDataEx(void **m, const void *image, unsigned n, int *options, void **values)
{
    (void)n, (void)options, (void)values;
    return load(m, image);
}
API int cuModuleUnload(void *m)
{
    (void)m;
    return 0;
}
API int cuModuleGetFunction(void **f, void *m, const char *name)
{
    char key[200];
    snprintf(key, sizeof key, "\"kernel\": \"%s\"", name);
    const char *line = strstr(((module *)m)->text, key), *at = line ? strstr(line, "\"params\": [") : NULL;
    if (!at) return NOT_FOUND;
    kernel *k = calloc(1, sizeof *k);
    snprintf(k->name, sizeof k->name, "%s", name);
    const char *end = strchr(at, ']');
    while ((at = strstr(at, "\"size\": ")) && at < end && k->count < PARAMS)
        k->sizes[k->count++] = atoi(at += 8);
    *f = k;
    return 0;
}
API int cuModuleGetGlobal_v2(uintptr_t *address, size_t *size, void *m, const char *name)
{
    (void)address, (void)size, (void)m, (void)name;
    return NOT_FOUND;
}
API int cuFuncGetAttribute(int *v, int which, void *f)
{
    (void)which, (void)f;
    *v = 0;
    return 0;
}
API int cuFuncSetAttribute(void *f, int which, int v)
{
    (void)f, (void)which, (void)v;
    return 0;
}
API int cuEventCreate(void **e, unsigned f)
{
    (void)f;
    *e = malloc(1);
    return 0;
}
API int cuEventDestroy_v2(void *e)
{
    free(e);
    return 0;
}
API int cuEventRecord(void *e, void *s)
{
    (void)e, (void)s;
    return 0;
}
API int cuEventElapsedTime(float *ms, void *a, void *b)
{
    (void)a, (void)b;
    *ms = 0;
    return 0;
}

API int cuTensorMapEncodeTiled(void *map, int type, uint32_t rank, void *address, const uint64_t *dims,
                               const uint64_t *strides, const uint32_t *box, const uint32_t *steps,
                               int interleave, int swizzle, int promotion, int fill)
{
    unsigned char *out = map;
    memset(out, 0, 128);
    if (rank < 1 || rank > 5 || (uintptr_t)address % 16) return INVALID;
    memcpy(out, &address, 8);
    memcpy(out + 8, dims, 8 * rank);
    memcpy(out + 48, strides, 8 * (rank - 1));
    for (uint32_t i = 0; i < rank; i++) {
        memcpy(out + 80 + 4 * i, &box[i], 4);
        out[100 + i] = (unsigned char)steps[i];
    }
    const int words[] = {type, (int)rank, interleave, swizzle, promotion, fill};
    for (int i = 0; i < 6; i++) out[110 + i] = (unsigned char)words[i];
    return 0;
}

/* ---- arrays, textures and surfaces: descriptors are recorded; an array is host memory without gaps ---- */

typedef struct {
    size_t width, height, depth;
    int format;
    unsigned channels, flags;
    char *data;
} array;

typedef struct {
    size_t x, y, z, lod;
    int memory;
    void *host;
    unsigned long long address;
    array *array;
    void *reserved;
    size_t pitch, rows;
} copy_end;

typedef struct {
    copy_end from, to;
    size_t row, rows, slices;
} copy;

typedef struct {
    int kind;
    union {
        array *array;
        struct {
            unsigned long long address;
            int format;
            unsigned channels;
            size_t sizes[3]; /* bytes; or width, height, pitch */
        } memory;
        int reserved[32];
    } of;
    unsigned flags;
} resource;

typedef struct {
    int modes[3], filter;
    unsigned flags, anisotropy;
    int mipmap_filter;
    float mipmap[3], border[4];
    int reserved[12];
} reading;

static unsigned long long objects;

API int cuArray3DCreate_v2(array **out, const array *descriptor)
{
    char line[200];
    static const int bytes[] = {[1] = 1, [2] = 2, [3] = 4, [8] = 1, [9] = 2, [10] = 4, [16] = 2, [32] = 4};
    array *a = calloc(1, sizeof *a);
    memcpy(a, descriptor, 40);
    size_t texels = a->width * (a->height ? a->height : 1) * (a->depth ? a->depth : 1);
    a->data = calloc(texels * a->channels, (size_t)bytes[a->format]);
    snprintf(line, sizeof line, "array %zux%zux%zu format %d channels %u flags %u\n", a->width, a->height,
             a->depth, a->format, a->channels, a->flags);
    record(line);
    *out = a;
    return 0;
}
API int cuArrayDestroy(array *a)
{
    record("array destroyed\n");
    free(a->data);
    free(a);
    return 0;
}
static char *end_of_copy(const copy *c, const copy_end *e, size_t row, size_t slice)
{
    return e->array ? e->array->data + (slice * c->rows + row) * c->row
                    : (char *)(uintptr_t)e->address + (slice * e->rows + row) * e->pitch;
}
API int cuMemcpy3DAsync_v2(const copy *c, void *s)
{
    char line[200];
    (void)s;
    if ((!c->from.array && c->from.pitch < c->row) || (!c->to.array && c->to.pitch < c->row)) return INVALID;
    for (size_t z = 0; z < c->slices; z++)
        for (size_t y = 0; y < c->rows; y++)
            memcpy(end_of_copy(c, &c->to, y, z), end_of_copy(c, &c->from, y, z), c->row);
    snprintf(line, sizeof line, "copy %zu bytes x %zu x %zu from %s to %s\n", c->row, c->rows, c->slices,
             c->from.memory == 3 ? "array" : "memory", c->to.memory == 3 ? "array" : "memory");
    record(line);
    return 0;
}
typedef struct {
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
} copy_2d;

API int cuMemcpy2DAsync_v2(const copy_2d *c, void *s)
{
    char line[200];
    (void)s;
    if (c->from_pitch < c->width || c->to_pitch < c->width || c->from_kind != 2 || c->to_kind != 2)
        return INVALID;
    for (size_t y = 0; y < c->height; y++)
        memcpy((char *)(uintptr_t)c->to + y * c->to_pitch, (char *)(uintptr_t)c->from + y * c->from_pitch,
               c->width);
    snprintf(line, sizeof line, "copy %zu bytes x %zu\n", c->width, c->height);
    record(line);
    return 0;
}
static int make_object(unsigned long long *out, const resource *r, const reading *t)
{
    char line[400];
    int length = snprintf(line, sizeof line, "%s %llu of ", t ? "texture" : "surface", ++objects);
    if (r->kind == 0)
        length += snprintf(line + length, sizeof line - (size_t)length, "array %zux%zux%zu",
                           r->of.array->width, r->of.array->height, r->of.array->depth);
    else
        length += snprintf(
            line + length, sizeof line - (size_t)length, "memory kind %d format %d channels %u: %zu %zu %zu",
            r->kind, r->of.memory.format, r->of.memory.channels, r->of.memory.sizes[0],
            r->kind == 3 ? r->of.memory.sizes[1] : 0, r->kind == 3 ? r->of.memory.sizes[2] : 0);
    if (t)
        length += snprintf(line + length, sizeof line - (size_t)length,
                           " modes %d %d %d filter %d flags %u border %g %g", t->modes[0], t->modes[1],
                           t->modes[2], t->filter, t->flags, (double)t->border[0], (double)t->border[1]);
    snprintf(line + length, sizeof line - (size_t)length, "\n");
    record(line);
    *out = objects;
    return 0;
}
API int cuTexObjectCreate(unsigned long long *out, const resource *r, const reading *t, const void *view)
{
    if (view || !t || (r->kind && r->of.memory.address % 512)) return INVALID;
    return make_object(out, r, t);
}
API int cuSurfObjectCreate(unsigned long long *out, const resource *r)
{
    return r->kind ? INVALID : make_object(out, r, NULL);
}
API int cuTexObjectDestroy(unsigned long long object)
{
    (void)object;
    record("texture destroyed\n");
    return 0;
}
API int cuSurfObjectDestroy(unsigned long long object)
{
    (void)object;
    record("surface destroyed\n");
    return 0;
}

API int cuLaunchKernelEx(const config *c, void *f, void **params, void **extra)
{
    const kernel *k = f;
    (void)extra;
    __atomic_add_fetch(&launches, 1, __ATOMIC_RELAXED);
    const char *path = getenv("RECORDCUDA");
    if (!context) return 201;
    if (!path || !*path) return 0;
    size_t length = 0, room = 65536;
    char *line = malloc(room);
    length += (size_t)snprintf(line, room, "%s grid %u %u %u block %u %u %u shared %u", k->name, c->grid[0],
                               c->grid[1], c->grid[2], c->block[0], c->block[1], c->block[2], c->shared);
    for (unsigned i = 0; i < c->attribute_count; i++) {
        const attribute *a = &c->attributes[i];
        if (a->id == 4)
            length += (size_t)snprintf(line + length, room - length, " cluster %u %u %u", a->value.extents[0],
                                       a->value.extents[1], a->value.extents[2]);
        else
            length +=
                (size_t)snprintf(line + length, room - length, " attribute %d %d", a->id, a->value.flag);
    }
    for (int i = 0; i < k->count; i++) {
        length += (size_t)snprintf(line + length, room - length, " |");
        for (int b = 0; b < k->sizes[i] && length + 8 < room; b++)
            length += (size_t)snprintf(line + length, room - length, "%02x", ((unsigned char *)params[i])[b]);
    }
    snprintf(line + length, room - length, "\n");
    record(line);
    free(line);
    return 0;
}
