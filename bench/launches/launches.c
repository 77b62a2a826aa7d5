/* CPU time of a launch through the driver, through the object of cute-link --emit-c (k.h) and through cute/plan.h, in turns; the object's
 * launches on a stream of the caller and in a CUDA graph, with results checked. Usage: launches axpy.cubin. Without a GPU: exit code 3. */
#include <cute/plan.h>
#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "k.h"

enum { COUNT = 4096, BURST = 200, BURSTS = 50 };
typedef int result;
typedef unsigned long long address;

static struct {
    result (*init)(unsigned), (*device)(int *, int), (*retain)(void **, int), (*current)(void *),
        (*alloc)(address *, size_t), (*to_device)(address, const void *, size_t),
        (*to_host)(void *, address, size_t), (*sync)(void *), (*create)(void **, unsigned),
        (*load)(void **, const void *), (*find)(void **, void *, const char *),
        (*launch)(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void *,
                  void **, void **),
        (*begin)(void *, int), (*end)(void *, void **), (*instantiate)(void **, void *, unsigned long long),
        (*replay)(void *, void *);
} cu;

static const char bare_ptx[] = ".version 8.0\n.target sm_80\n.address_size 64\n"
                               ".visible .entry bare(.param .u64 x, .param .u32 n, .param .u64 y, .param "
                               ".u32 m, .param .f32 a) { ret; }\n";

/* One argument for every form of the launch. */
typedef struct vectors {
    k_tensor1 x, y;
    void *stream, *bare;
    cute_plan_runner *plan;
    cute_stream *own;
    cute_diag *diag;
} vectors;

static void need(bool condition, const char *what)
{
    if (condition) return;
    fprintf(stderr, "launches: %s: %s\n", what, k_error());
    exit(1);
}

static void find_driver(void)
{
    static const struct {
        const char *name;
        void *to;
    } symbols[] = {{"cuInit", &cu.init},
                   {"cuDeviceGet", &cu.device},
                   {"cuDevicePrimaryCtxRetain", &cu.retain},
                   {"cuCtxSetCurrent", &cu.current},
                   {"cuMemAlloc_v2", &cu.alloc},
                   {"cuMemcpyHtoD_v2", &cu.to_device},
                   {"cuMemcpyDtoH_v2", &cu.to_host},
                   {"cuStreamSynchronize", &cu.sync},
                   {"cuStreamCreate", &cu.create},
                   {"cuModuleLoadData", &cu.load},
                   {"cuModuleGetFunction", &cu.find},
                   {"cuLaunchKernel", &cu.launch},
                   {"cuStreamBeginCapture_v2", &cu.begin},
                   {"cuStreamEndCapture", &cu.end},
                   {"cuGraphInstantiateWithFlags", &cu.instantiate},
                   {"cuGraphLaunch", &cu.replay}};
    void *library = dlopen("libcuda.so.1", RTLD_NOW);
    if (!library) {
        fprintf(stderr, "launches: no driver: %s\n", dlerror());
        exit(3);
    }
    for (size_t i = 0; i < sizeof symbols / sizeof symbols[0]; i++) {
        void *found = dlsym(library, symbols[i].name);
        need(found != NULL, symbols[i].name);
        memcpy(symbols[i].to, &found, sizeof found);
    }
}

static void launch_bare(vectors *v)
{
    float a = 0.5F;
    unsigned n = COUNT;
    void *params[] = {&v->x.data, &n, &v->y.data, &n, &a};
    need(cu.launch(v->bare, COUNT / 1024, 1, 1, 256, 1, 1, 0, v->stream, params, NULL) == 0,
         "cuLaunchKernel");
}

static void launch_object(vectors *v)
{
    need(k_axpy(&v->x, &v->y, 0.5F, NULL, 0, v->stream) == K_OK, "k_axpy");
}

static void launch_plan(vectors *v)
{
    need(cute_plan_start(v->plan, v->own, v->diag) == CUTE_OK, "cute_plan_start");
}

static const struct {
    const char *name;
    void (*launch)(vectors *);
} ways[] = {{"cuLaunchKernel", launch_bare},
            {"k_axpy of cute-link --emit-c", launch_object},
            {"cute_plan_start", launch_plan}};
enum { WAYS = sizeof ways / sizeof ways[0] };

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec * 1e-3;
}

/* The least of bursts, each well within the driver's queue; waiting is not counted. */
static void time_ways(vectors *v)
{
    double best[WAYS] = {1e9, 1e9, 1e9};
    for (int burst = 0; burst < BURSTS; burst++)
        for (int w = 0; w < WAYS; w++) {
            double start = now();
            for (int i = 0; i < BURST; i++) ways[w].launch(v);
            double each = (now() - start) / BURST;
            if (each < best[w]) best[w] = each;
            need(cu.sync(v->stream) == 0, "cuStreamSynchronize");
            need(cute_stream_sync(v->own, v->diag) == CUTE_OK, "cute_stream_sync");
        }
    for (int w = 0; w < WAYS; w++)
        printf("%-30s %6.2f us a launch, %+.2f\n", ways[w].name, best[w], best[w] - best[0]);
}

static void open_plan(vectors *v, const char *path)
{
    static char image[1 << 22], config[256];
    cute_device *device;
    cute_module *module;
    FILE *file = fopen(path, "rb");
    need(file != NULL, path);
    size_t length = fread(image, 1, sizeof image, file);
    fclose(file);
    snprintf(config, sizeof config,
             "{\"plan\": \"axpy\", \"params\": {\"a\": 0.5}, \"buffers\": {\"x\": {\"shape\": [%d]}, \"y\": "
             "{\"shape\": [%d]}}}",
             COUNT, COUNT);
    v->diag = cute_diag_create();
    bool good = cute_module_open(path, image, length, NULL, &module, v->diag) == CUTE_OK &&
                cute_device_open("cuda:0", &device, v->diag) == CUTE_OK &&
                cute_plan_open(device, module, config, strlen(config), NULL, &v->plan, v->diag) == CUTE_OK &&
                cute_plan_set_buffer(v->plan, "x", (cute_address)(size_t)v->x.data, v->diag) == CUTE_OK &&
                cute_plan_set_buffer(v->plan, "y", (cute_address)(size_t)v->y.data, v->diag) == CUTE_OK &&
                cute_stream_create(device, &v->own, v->diag) == CUTE_OK;
    if (!good) fprintf(stderr, "%s", cute_diag_render(v->diag, CUTE_DIAG_TEXT, false));
    need(good, "cute/plan.h");
}

/* Three launches in a graph, replayed twice: y = y0 + 6 a x. */
static void use_graph(vectors *v)
{
    static float x[COUNT], y[COUNT];
    void *graph, *run;
    for (int i = 0; i < COUNT; i++) x[i] = (float)(i % 64), y[i] = 1;
    need(cu.to_device((address)(size_t)v->x.data, x, sizeof x) == 0 &&
             cu.to_device((address)(size_t)v->y.data, y, sizeof y) == 0,
         "cuMemcpyHtoD");
    need(cu.begin(v->stream, 0) == 0, "cuStreamBeginCapture");
    for (int i = 0; i < 3; i++) launch_object(v);
    need(cu.end(v->stream, &graph) == 0 && cu.instantiate(&run, graph, 0) == 0, "cuGraphInstantiate");
    for (int i = 0; i < 2; i++) need(cu.replay(run, v->stream) == 0, "cuGraphLaunch");
    need(cu.sync(v->stream) == 0 && cu.to_host(y, (address)(size_t)v->y.data, sizeof y) == 0, "the graph");
    for (int i = 0; i < COUNT; i++) need(y[i] == 1 + 3 * x[i], "results of the graph");
    printf("a graph of three launches, replayed twice on a stream of the caller: results are right\n");
}

int main(int argc, char **argv)
{
    static vectors v;
    int device;
    void *context, *module;
    address x, y;
    if (argc != 2) return 2;
    find_driver();
    if (cu.init(0) != 0 || cu.device(&device, 0) != 0) {
        fprintf(stderr, "launches: no GPU\n");
        return 3;
    }
    need(cu.retain(&context, device) == 0 && cu.current(context) == 0, "the primary context");
    need(cu.alloc(&x, COUNT * sizeof(float)) == 0 && cu.alloc(&y, COUNT * sizeof(float)) == 0, "cuMemAlloc");
    need(cu.create(&v.stream, 1) == 0 && cu.load(&module, bare_ptx) == 0 &&
             cu.find(&v.bare, module, "bare") == 0,
         "cuModuleLoadData");
    v.x.data = (void *)(size_t)x;
    v.y.data = (void *)(size_t)y;
    v.x.shape[0] = v.y.shape[0] = COUNT;
    v.x.strides[0] = v.y.strides[0] = 1;
    open_plan(&v, argv[1]);
    need(k_load() == K_OK, "k_load");
    use_graph(&v);
    time_ways(&v);
    return 0;
}
