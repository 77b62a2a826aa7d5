/* A GPU through the driver, which CUTE_LIBCUDA names a stand-in of (tests/data/fakecuda.c): streams, another thread than the
 * one that opened the device, and that nothing is left behind. Exit code 0 where all is as it should. */
#include <cute/device.h>
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char ptx[] =
    ".version 8.0\n.target sm_90\n.entry scale(.param .u64 x, .param .f32 f) { ret; }\n";

static cute_diag *diag;
static cute_device *device;

#define CHECK(condition)                                                                                     \
    do {                                                                                                     \
        if (!(condition)) {                                                                                  \
            char *said = cute_diag_render(diag, CUTE_DIAG_TEXT, false);                                      \
            fprintf(stderr, "line %d: %s\n%s", __LINE__, #condition, said ? said : "");                      \
            exit(1);                                                                                         \
        }                                                                                                    \
    } while (0)

static void *use(void *unused)
{
    float x[32], y[32];
    cute_stream *one, *two;
    cute_device_event *event;
    cute_device_module *module, *other;
    cute_device_function *function;
    cute_function_info info;
    cute_address memory, left;
    cute_device_launch launch;
    (void)unused;
    for (int i = 0; i < 32; i++) x[i] = (float)i;
    memset(y, 0, sizeof y);
    memset(&launch, 0, sizeof launch);
    launch.size = sizeof launch;
    for (int d = 0; d < 3; d++) launch.grid[d] = launch.block[d] = 1;
    launch.block[0] = 32;
    CHECK(cute_stream_create(device, &one, diag) == CUTE_OK);
    CHECK(cute_stream_create(device, &two, diag) == CUTE_OK);
    CHECK(cute_device_event_create(device, &event, diag) == CUTE_OK);
    CHECK(cute_device_alloc(device, sizeof x, &memory, diag) == CUTE_OK);
    CHECK(cute_device_alloc(device, 16, &left, diag) == CUTE_OK);
    CHECK(cute_device_load(device, "k.ptx", ptx, sizeof ptx - 1, &module, diag) == CUTE_OK);
    CHECK(cute_device_load(device, "k.ptx", ptx, sizeof ptx - 1, &other, diag) == CUTE_OK);
    CHECK(cute_device_get_function(device, module, "scale", &function, diag) == CUTE_OK);
    info.size = sizeof info;
    CHECK(cute_device_function_info(device, function, &info, diag) == CUTE_OK && info.registers == 12 &&
          info.ptx_version == 80 && info.binary_version == 90);
    CHECK(info.size == sizeof info);
    float factor = 3;
    void *params[] = {&memory, &factor};
    launch.stream = one;
    CHECK(cute_stream_upload(one, memory, x, sizeof x, diag) == CUTE_OK);
    CHECK(cute_device_prepare(device, function, &launch, diag) == CUTE_OK);
    int64_t blocks, clusters;
    CHECK(cute_device_occupancy(device, function, &launch, &blocks, &clusters, diag) == CUTE_OK);
    CHECK(blocks == 2048 / 32 && clusters == -1);
    CHECK(cute_device_start(device, function, &launch, params, diag) == CUTE_OK);
    CHECK(cute_stream_record(one, event, diag) == CUTE_OK);
    CHECK(cute_stream_wait(two, event, diag) == CUTE_OK);
    CHECK(cute_stream_download(two, y, memory, sizeof y, diag) == CUTE_OK);
    CHECK(cute_stream_sync(two, diag) == CUTE_OK);
    for (int i = 0; i < 32; i++) CHECK(y[i] == 3 * (float)i);
    launch.grid[0] = (int64_t)1 << 40;
    CHECK(cute_device_start(device, function, &launch, params, NULL) == CUTE_INVALID);
    CHECK(cute_device_unload(device, module, diag) == CUTE_OK);
    CHECK(cute_device_free(device, memory, diag) == CUTE_OK);
    CHECK(cute_device_free(device, memory, NULL) == CUTE_INVALID);
    CHECK(cute_device_free(device, 0, diag) == CUTE_OK);
    cute_stream_destroy(one);
    return NULL;
}

/* Memory that another library allocated in the primary context of the GPU, as the CUDA runtime, CuPy and PyTorch do, is an argument
 * like any other, and stays that library's. */
static void use_foreign_memory(void)
{
    float x[32], y[32], factor = 3;
    cute_device_module *module;
    cute_device_function *function;
    cute_device_launch launch;
    unsigned long long foreign = 0;
    void *context = NULL, *library = dlopen(getenv("CUTE_LIBCUDA"), RTLD_NOW), *symbols[5];
    static const char *const names[5] = {"cuDevicePrimaryCtxRetain", "cuCtxSetCurrent", "cuMemAlloc_v2",
                                         "cuMemFree_v2", "cuDevicePrimaryCtxRelease_v2"};
    int (*retain)(void **, int), (*make_current)(void *), (*allocate)(unsigned long long *, size_t);
    int (*release_memory)(unsigned long long), (*release)(int);
    CHECK(library);
    for (int i = 0; i < 5; i++) CHECK((symbols[i] = dlsym(library, names[i])));
    memcpy(&retain, &symbols[0], sizeof retain);
    memcpy(&make_current, &symbols[1], sizeof make_current);
    memcpy(&allocate, &symbols[2], sizeof allocate);
    memcpy(&release_memory, &symbols[3], sizeof release_memory);
    memcpy(&release, &symbols[4], sizeof release);
    CHECK(retain(&context, 0) == 0 && make_current(context) == 0);
    CHECK(allocate(&foreign, sizeof x) == 0);
    for (int i = 0; i < 32; i++) x[i] = (float)i;
    memset(&launch, 0, sizeof launch);
    launch.size = sizeof launch;
    for (int d = 0; d < 3; d++) launch.grid[d] = launch.block[d] = 1;
    launch.block[0] = 32;
    void *params[] = {&foreign, &factor};
    CHECK(cute_device_load(device, "k.ptx", ptx, sizeof ptx - 1, &module, diag) == CUTE_OK);
    CHECK(cute_device_get_function(device, module, "scale", &function, diag) == CUTE_OK);
    CHECK(cute_device_upload(device, foreign, x, sizeof x, diag) == CUTE_OK);
    CHECK(cute_device_start(device, function, &launch, params, diag) == CUTE_OK);
    CHECK(cute_device_sync(device, diag) == CUTE_OK);
    CHECK(cute_device_download(device, y, foreign, sizeof y, diag) == CUTE_OK);
    for (int i = 0; i < 32; i++) CHECK(y[i] == 3 * (float)i);
    CHECK(cute_device_free(device, foreign, NULL) == CUTE_INVALID); /* it is not ours */
    CHECK(cute_device_unload(device, module, diag) == CUTE_OK);
    CHECK(release_memory(foreign) == 0 && release(0) == 0);
}

int main(void)
{
    cute_device_info info;
    pthread_t thread;
    int (*live)(void);
    diag = cute_diag_create();
    info.size = sizeof info;
    CHECK(cute_device_query(0, &info, diag) == CUTE_OK && strcmp(info.name, "Fake GPU") == 0);
    CHECK(cute_device_query(7, &info, NULL) == CUTE_SYSTEM);
    /* Where a library is named it is meant. */
    CHECK(cute_device_open(NULL, &device, diag) == CUTE_OK);
    CHECK(strcmp(cute_device_get_info(device)->kind, "cuda") == 0);
    CHECK(pthread_create(&thread, NULL, use, NULL) == 0);
    pthread_join(thread, NULL);
    use_foreign_memory();
    /* A stream, an event, a module and memory are left to it. */
    cute_device_close(device);
    void *library = dlopen(getenv("CUTE_LIBCUDA"), RTLD_NOW);
    CHECK(library);
    void *symbol = dlsym(library, "fakecuda_live");
    memcpy(&live, &symbol, sizeof live);
    CHECK(symbol && live() == 0);
    cute_diag_destroy(diag);
    return 0;
}
