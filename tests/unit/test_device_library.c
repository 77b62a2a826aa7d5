/* Devices as a library uses them: names, structs with their size, modules, streams, memory of the host, arguments by
 * name, launches without a child. On the emulator. */
#include <pthread.h>
#include <unistd.h>

#include "cute/arguments.h"
#include "cute/checks.h"
#include "cute/emulator.h"
#include "cute/launch.h"
#include "tests/unit/test.h"

/* out[i] = in[i] * scale + add, with metadata; and one that prints. */
static const char ptx[] =
    "//!cute {\"format\":1,\"kernel\":\"axpb\",\"module\":\"m\",\"arch\":\"sm_90a\",\"args\":["
    "{\"name\":\"out\",\"type\":\"memref<32xf32>\",\"kind\":\"memref\",\"dtype\":\"f32\",\"first\":0,"
    "\"count\":1,"
    "\"access\":\"write\",\"shape\":[32],\"strides\":[1]},"
    "{\"name\":\"in\",\"type\":\"memref<?xf32>\",\"kind\":\"memref\",\"dtype\":\"f32\",\"first\":1,\"count\":"
    "1,"
    "\"access\":\"read\",\"shape\":[null],\"strides\":[1]},"
    "{\"name\":\"scale\",\"type\":\"f32\",\"kind\":\"scalar\",\"dtype\":\"f32\",\"first\":2,\"count\":1},"
    "{\"name\":\"add\",\"type\":\"i16\",\"kind\":\"scalar\",\"dtype\":\"i16\",\"first\":3,\"count\":1}],"
    "\"params\":[{\"size\":8,\"align\":8},{\"size\":8,\"align\":8},{\"size\":4,\"align\":4},{\"size\":2,"
    "\"align\":2}],"
    "\"block\":[32,1,1]}\n"
    ".version 8.0\n.target sm_90a\n.address_size 64\n"
    ".global .u32 counter = 7;\n"
    ".visible .entry axpb(.param .u64 o, .param .u64 i, .param .f32 s, .param .u16 a)\n{\n"
    ".reg .b64 %d<5>; .reg .b32 %r<3>; .reg .f32 %f<5>; .reg .b16 %h<2>;\n"
    "ld.param.u64 %d1,[o]; ld.param.u64 %d2,[i]; ld.param.f32 %f1,[s]; ld.param.s16 %h1,[a];\n"
    "mov.u32 %r1,%tid.x; mul.wide.u32 %d3,%r1,4; add.u64 %d1,%d1,%d3; add.u64 %d2,%d2,%d3;\n"
    "ld.global.f32 %f2,[%d2]; cvt.rn.f32.s16 %f3,%h1; fma.rn.f32 %f4,%f2,%f1,%f3; st.global.f32 "
    "[%d1],%f4;\nret;\n}\n";

typedef struct rig {
    cute_diag *diag;
    cute_device *device;
    cute_module *module;
    cute_device_module *loaded;
} rig;

static bool open_rig(rig *r, const cute_emulator_options *options)
{
    *r = (rig){.diag = cute_diag_create()};
    return CHECK(cute_emulator_open(options, &r->device, r->diag) == CUTE_OK) &&
           CHECK(cute_module_open("k.ptx", ptx, strlen(ptx), NULL, &r->module, r->diag) == CUTE_OK) &&
           CHECK(cute_device_load_module(r->device, r->module, &r->loaded, r->diag) == CUTE_OK);
}

static void close_rig(rig *r)
{
    cute_device_close(r->device);
    cute_module_close(r->module);
    cute_diag_destroy(r->diag);
}

static bool says(rig *r, const char *text)
{
    char *all = cute_diag_render(r->diag, CUTE_DIAG_TEXT, false);
    bool found = all && strstr(all, text);
    if (!found) printf("# not said: %s\n# but: %s\n", text, all ? all : "");
    free(all);
    cute_diag_clear(r->diag);
    return found;
}

/* ---- devices and structs ---- */

static void test_names(void)
{
    cute_device *device;
    static const char *const wrong[] = {"gpu", "cuda:", "cuda:x", "1x", "emulator0", "-1", "9999"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        CHECK_INT(cute_device_open(wrong[i], &device, NULL), CUTE_USAGE);
    CHECK(cute_device_open("emulator", &device, NULL) == CUTE_OK);
    const cute_device_info *info = cute_device_get_info(device);
    CHECK_TEXT(info->kind, "emulator");
    CHECK_INT(info->size, sizeof *info);
    cute_device_close(device);
    cute_device_close(NULL);
}

static void test_sizes(void)
{
    cute_device *device;
    cute_emulator_options options = {.seed = 3};
    rig r = {.diag = cute_diag_create()};
    CHECK_INT(cute_emulator_open(&options, &device, r.diag), CUTE_USAGE);
    CHECK(says(&r, "cute_emulator_options.size is 0: expected sizeof(cute_emulator_options)"));
    /* A newer caller's larger struct: its new fields must be zero. */
    struct {
        cute_emulator_options known;
        uint64_t newer;
    } larger = {.known.size = sizeof larger, .newer = 1};
    CHECK_INT(cute_emulator_open(&larger.known, &device, r.diag), CUTE_USAGE);
    CHECK(says(&r, "has fields of a newer libcute"));
    larger.newer = 0;
    CHECK(cute_emulator_open(&larger.known, &device, NULL) == CUTE_OK);
    cute_device_close(device);
    /* An older caller's smaller one: what it has not is the default. */
    options = (cute_emulator_options){.size = offsetof(cute_emulator_options, threads), .threads = -5};
    CHECK(cute_emulator_open(&options, &device, NULL) == CUTE_OK);
    cute_device_close(device);
    const cute_emulator_options wrong[] = {{.size = sizeof *wrong, .threads = -1},
                                           {.size = sizeof *wrong, .threads = 1025},
                                           {.size = sizeof *wrong, .timeout = -1},
                                           {.size = sizeof *wrong, .patience = -1},
                                           {.size = sizeof *wrong, .checks = 1u << 31}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        CHECK_INT(cute_emulator_open(&wrong[i], &device, NULL), CUTE_USAGE);
    cute_diag_destroy(r.diag);
}

static void test_modules(void)
{
    rig r;
    cute_device_module *module;
    if (!open_rig(&r, NULL)) return;
    /* Text without an end, in a page of its own size would be read beyond it otherwise. */
    size_t length = strlen(ptx);
    char *exact = malloc(length);
    memcpy(exact, ptx, length);
    CHECK(cute_device_load(r.device, "mine.ptx", exact, length, &module, r.diag) == CUTE_OK);
    CHECK(cute_device_unload(r.device, module, r.diag) == CUTE_OK);
    exact[length - 2] = '{';
    CHECK_INT(cute_device_load(r.device, "mine.ptx", exact, length, &module, r.diag), CUTE_INVALID);
    CHECK(says(&r, "mine.ptx:"));
    CHECK_INT(cute_device_load(r.device, "mine.ptx", exact, 0, &module, r.diag), CUTE_INVALID);
    CHECK(says(&r, "the module is empty"));
    CHECK_INT(cute_device_load(r.device, NULL, "\177ELF", 4, &module, r.diag), CUTE_INVALID);
    CHECK(says(&r, "<image>: error: the module is truncated"));
    free(exact);
    /* Many modules, one after the other and at once. */
    for (int i = 0; i < 600; i++) {
        if (!CHECK(cute_device_load(r.device, NULL, ptx, length, &module, r.diag) == CUTE_OK)) break;
        if (i % 2) CHECK(cute_device_unload(r.device, module, r.diag) == CUTE_OK);
    }
    close_rig(&r);
}

/* ---- what a kernel takes ---- */

static void test_attributes(void)
{
    static const char text[] =
        ".version 8.3\n.target sm_80\n.address_size 64\n.const .align 4 .b32 c[5];\n"
        ".visible .entry k(.param .u64 p) .maxntid 256, 1, 1 { .shared .align 4 .b8 s[40000]; "
        ".local .align 16 .b8 l[32]; ret; }\n";
    rig r;
    cute_module *read;
    cute_device_module *module;
    cute_device_function *f;
    cute_function_info info = {.size = sizeof info};
    int64_t blocks, clusters;
    if (!open_rig(&r, NULL)) return;
    CHECK(cute_module_open("k.ptx", text, sizeof text - 1, NULL, &read, r.diag) == CUTE_OK);
    CHECK_INT(cute_module_ptx_version(read), 83);
    cute_module_close(read);
    CHECK(cute_device_load(r.device, "k.ptx", text, sizeof text - 1, &module, r.diag) == CUTE_OK);
    CHECK(cute_device_get_function(r.device, module, "k", &f, r.diag) == CUTE_OK);
    CHECK(cute_device_function_info(r.device, f, &info, r.diag) == CUTE_OK);
    CHECK_INT(info.registers, 0);
    CHECK_INT(info.static_smem, 40000);
    CHECK_INT(info.local_bytes, 32);
    CHECK_INT(info.constant_bytes, 20);
    CHECK_INT(info.threads_limit, 256);
    CHECK_INT(info.ptx_version, 80);
    CHECK_INT(info.binary_version, 90);
    /* 228 KiB hold 5 blocks of 40,000 bytes and the reserved KiB; with 50,000 bytes more 2. */
    cute_device_launch launch = {.size = sizeof launch, .grid = {1, 1, 1}, .block = {128, 1, 1}};
    CHECK(cute_device_occupancy(r.device, f, &launch, &blocks, &clusters, r.diag) == CUTE_OK);
    CHECK_INT(blocks, 5);
    CHECK_INT(clusters, -1);
    launch.dynamic_smem = 50000;
    CHECK(cute_device_occupancy(r.device, f, &launch, &blocks, &clusters, r.diag) == CUTE_OK);
    CHECK_INT(blocks, 2);
    launch.dynamic_smem = 200000; /* more than a block can have */
    CHECK(cute_device_occupancy(r.device, f, &launch, &blocks, &clusters, r.diag) == CUTE_OK);
    CHECK_INT(blocks, 0);
    launch = (cute_device_launch){.size = sizeof launch, .grid = {1, 1, 1}, .block = {512, 1, 1}};
    CHECK(cute_device_occupancy(r.device, f, &launch, &blocks, &clusters, r.diag) == CUTE_OK);
    CHECK_INT(blocks, 0); /* more threads than the kernel allows */
    close_rig(&r);
}

/* ---- arguments ---- */

static void test_arguments(void)
{
    rig r;
    cute_arguments *a;
    cute_address out, in;
    float values[32], results[32];
    const cute_device_launch launch = {.size = sizeof launch, .grid = {1, 1, 1}};
    if (!open_rig(&r, NULL)) return;
    CHECK_INT(cute_arguments_create(r.device, r.loaded, r.module, "axpc", &a, r.diag), CUTE_INVALID);
    CHECK(says(&r, "no kernel 'axpc'; did you mean 'axpb'?"));
    if (!CHECK(cute_arguments_create(r.device, r.loaded, r.module, NULL, &a, r.diag) == CUTE_OK)) return;
    CHECK_TEXT(cute_arguments_kernel(a)->name, "axpb");
    for (int i = 0; i < 32; i++) values[i] = (float)i;
    CHECK(cute_device_alloc(r.device, sizeof values, &out, r.diag) == CUTE_OK);
    CHECK(cute_device_alloc(r.device, sizeof values, &in, r.diag) == CUTE_OK);
    CHECK(cute_device_upload(r.device, in, values, sizeof values, r.diag) == CUTE_OK);
    CHECK_INT(cute_arguments_launch(a, &launch, r.diag), CUTE_USAGE);
    CHECK(says(&r, "argument 'out' of kernel 'axpb' is not set"));
    CHECK_INT(cute_arguments_set_address(a, "scal", out, r.diag), CUTE_USAGE);
    CHECK(says(&r, "kernel 'axpb' has no argument 'scal'; did you mean 'scale'?"));
    CHECK_INT(cute_arguments_set_address(a, "4", out, r.diag), CUTE_USAGE);
    CHECK_INT(cute_arguments_set_address(a, "scale", out, r.diag), CUTE_USAGE);
    CHECK(says(&r, "argument 'scale' of kernel 'axpb' (f32): expected a number, got an address"));
    CHECK_INT(cute_arguments_set_real(a, "add", 1.5, r.diag), CUTE_USAGE);
    CHECK(says(&r, "(i16): expected an integer, got 1.5"));
    CHECK_INT(cute_arguments_set_integer(a, "add", 65536, r.diag), CUTE_USAGE);
    CHECK(says(&r, "expected -32768 to 65535, got 65536"));
    CHECK_INT(cute_arguments_set_bytes(a, "add", values, 4, r.diag), CUTE_USAGE);
    CHECK(says(&r, "expected 2 bytes, got 4 bytes"));
    CHECK_INT(cute_arguments_set_memref(a, "out", out, 0, 1, (int64_t[]){33}, NULL, r.diag), CUTE_USAGE);
    CHECK(says(&r, "expected 32 elements in dimension 0, got 33"));
    CHECK_INT(cute_arguments_set_memref(a, "in", in, 0, 1, (int64_t[]){32}, (int64_t[]){2}, r.diag),
              CUTE_USAGE);
    CHECK(says(&r, "expected stride 1 in dimension 0, got 2"));
    CHECK_INT(cute_arguments_set_map(a, "in", &(cute_tensor_map){.size = sizeof(cute_tensor_map)}, r.diag),
              CUTE_USAGE);
    CHECK(says(&r, "expected memref, got a tensor map"));
    CHECK(cute_arguments_set_address(a, "out", out, r.diag) == CUTE_OK);
    CHECK(cute_arguments_set_memref(a, "1", in, 0, 1, (int64_t[]){32}, NULL, r.diag) == CUTE_OK);
    CHECK(cute_arguments_set_real(a, "scale", 0.5, r.diag) == CUTE_OK);
    CHECK(cute_arguments_set_integer(a, "add", -3, r.diag) == CUTE_OK);
    CHECK_INT(cute_arguments_launch(a, &(cute_device_launch){.size = sizeof launch}, r.diag), CUTE_INVALID);
    CHECK(says(&r, "expected 1 to 2147483647 for the grid's x, got 0"));
    CHECK_INT(cute_arguments_launch(
                  a, &(cute_device_launch){.size = sizeof launch, .grid = {INT64_MAX, 1, 1}}, NULL),
              CUTE_INVALID);
    CHECK(cute_arguments_launch(a, &launch, r.diag) == CUTE_OK);
    CHECK(cute_device_download(r.device, results, out, sizeof results, r.diag) == CUTE_OK);
    for (int i = 0; i < 32; i++) CHECK(results[i] == (float)i * 0.5f - 3);
    CHECK_INT(cute_emulator_get_counts(r.device)->global_read, 128);
    CHECK_INT(cute_diag_count(r.diag), 0);
    cute_arguments_destroy(a);
    cute_arguments_destroy(NULL);
    close_rig(&r);
}

/* Two streams and an event; pointers of the host. */
static void test_streams_and_host_memory(void)
{
    rig r;
    cute_arguments *a;
    cute_stream *one, *two;
    cute_device_event *event;
    float *memory = calloc(96, sizeof *memory), fetched[32];
    const cute_emulator_options options = {.size = sizeof options,
                                           .checks = CUTE_CHECK_MEMORY | CUTE_CHECK_UNINIT};
    if (!open_rig(&r, &options)) return;
    CHECK(cute_arguments_create(r.device, r.loaded, r.module, NULL, &a, r.diag) == CUTE_OK);
    CHECK(cute_stream_create(r.device, &one, r.diag) == CUTE_OK);
    CHECK(cute_stream_create(r.device, &two, r.diag) == CUTE_OK);
    CHECK(cute_device_event_create(r.device, &event, r.diag) == CUTE_OK);
    CHECK(cute_emulator_register(r.device, memory, 64 * sizeof *memory, r.diag) == CUTE_OK);
    CHECK_INT(cute_emulator_register(r.device, memory + 63, 8, r.diag), CUTE_INVALID);
    CHECK(says(&r, "overlap existing memory of the device"));
    CHECK_INT(cute_emulator_register(r.device, (void *)0x10000000000, 8, NULL), CUTE_INVALID);
    CHECK_INT(cute_emulator_register(r.device, NULL, 8, NULL), CUTE_USAGE);
    CHECK_INT(cute_emulator_unregister(r.device, memory + 1, NULL), CUTE_INVALID);
    CHECK_INT(cute_device_free(r.device, (uintptr_t)memory, NULL), CUTE_INVALID);
    for (int i = 0; i < 32; i++) memory[i] = 2.0f;
    CHECK(cute_arguments_set_address(a, "in", (uintptr_t)memory, r.diag) == CUTE_OK);
    CHECK(cute_arguments_set_address(a, "out", (uintptr_t)(memory + 32), r.diag) == CUTE_OK);
    CHECK(cute_arguments_set_integer(a, "scale", 4, r.diag) == CUTE_OK);
    CHECK(cute_arguments_set_integer(a, "add", 1, r.diag) == CUTE_OK);
    cute_device_launch launch = {.size = sizeof launch, .grid = {1, 1, 1}, .stream = one};
    CHECK(cute_arguments_launch(a, &launch, r.diag) == CUTE_OK);
    CHECK(cute_stream_record(one, event, r.diag) == CUTE_OK);
    CHECK(cute_stream_wait(two, event, r.diag) == CUTE_OK);
    CHECK(cute_stream_copy(two, (uintptr_t)memory, (uintptr_t)(memory + 32), 128, r.diag) == CUTE_OK);
    CHECK(cute_stream_download(two, fetched, (uintptr_t)memory, 128, r.diag) == CUTE_OK);
    CHECK(cute_stream_sync(two, r.diag) == CUTE_OK);
    for (int i = 0; i < 32; i++) CHECK(memory[32 + i] == 9.0f && fetched[i] == 9.0f);
    /* Behind what is registered is nobody's memory. */
    CHECK(cute_arguments_set_address(a, "out", (uintptr_t)(memory + 64), r.diag) == CUTE_OK);
    CHECK_INT(cute_arguments_launch(a, &launch, r.diag), CUTE_INVALID);
    CHECK(says(&r, "past the end of"));
    CHECK(memory[64] == 0.0f);
    cute_stream_destroy(one);
    cute_stream_destroy(NULL);
    cute_arguments_destroy(a);
    /* A device on which a kernel failed is as new after a reset. */
    CHECK(cute_emulator_reset(r.device, r.diag) == CUTE_OK);
    CHECK_INT(cute_emulator_get_counts(r.device)->lanes, 0);
    CHECK(cute_device_load_module(r.device, r.module, &r.loaded, r.diag) == CUTE_OK);
    CHECK(cute_arguments_create(r.device, r.loaded, r.module, NULL, &a, r.diag) == CUTE_OK);
    CHECK(cute_emulator_register(r.device, memory, 64 * sizeof *memory, r.diag) == CUTE_OK);
    CHECK(cute_arguments_set_address(a, "in", (uintptr_t)memory, r.diag) == CUTE_OK);
    CHECK(cute_arguments_set_address(a, "out", (uintptr_t)(memory + 32), r.diag) == CUTE_OK);
    CHECK(cute_arguments_set_real(a, "scale", 1, r.diag) == CUTE_OK);
    CHECK(cute_arguments_set_integer(a, "add", 0, r.diag) == CUTE_OK);
    launch.stream = NULL;
    CHECK(cute_arguments_launch(a, &launch, r.diag) == CUTE_OK);
    CHECK(memory[32] == 9.0f);
    cute_arguments_destroy(a);
    CHECK(cute_emulator_unregister(r.device, memory, r.diag) == CUTE_OK);
    close_rig(&r);
    free(memory);
}

/* Memory that nothing wrote, read by all threads. */
static void test_findings(void)
{
    rig r;
    cute_arguments *a;
    cute_address memory;
    const cute_emulator_options options = {.size = sizeof options, .checks = CUTE_CHECK_UNINIT};
    const cute_device_launch launch = {.size = sizeof launch, .grid = {1, 1, 1}};
    if (!open_rig(&r, &options)) return;
    CHECK(cute_arguments_create(r.device, r.loaded, r.module, NULL, &a, r.diag) == CUTE_OK);
    CHECK(cute_device_alloc(r.device, 256, &memory, r.diag) == CUTE_OK);
    CHECK(cute_emulator_describe_buffer(r.device, memory, "data", 256, false, r.diag) == CUTE_OK);
    CHECK_INT(cute_emulator_describe_buffer(r.device, memory, "data", 257, false, NULL), CUTE_INVALID);
    CHECK_INT(cute_emulator_describe_buffer(r.device, memory + 4, "data", 8, false, NULL), CUTE_INVALID);
    cute_arguments_set_address(a, "in", memory, r.diag);
    cute_arguments_set_address(a, "out", memory + 128, r.diag);
    cute_arguments_set_real(a, "scale", 1, r.diag);
    cute_arguments_set_integer(a, "add", 0, r.diag);
    CHECK_INT(cute_emulator_finding_count(r.device), 0);
    CHECK(cute_arguments_launch(a, &launch, r.diag) == CUTE_OK);
    CHECK_INT(cute_emulator_finding_count(r.device), 1);
    const cute_finding *f = cute_emulator_finding(r.device, 0);
    if (CHECK(f)) {
        CHECK_INT(f->check, CUTE_CHECK_UNINIT);
        CHECK_INT(f->severity, CUTE_ERROR);
        CHECK_TEXT(f->kernel, "axpb");
        CHECK(strstr(f->message, "data") != NULL);
        CHECK_INT(f->count, 32);
        CHECK(f->place.ptx_line > 0 && !f->place.file);
        CHECK(says(&r, f->message));
    }
    CHECK(!cute_emulator_finding(r.device, 1));
    CHECK(cute_emulator_reset(r.device, r.diag) == CUTE_OK);
    CHECK_INT(cute_emulator_finding_count(r.device), 0);
    cute_arguments_destroy(a);
    close_rig(&r);
}

/* ---- launches ---- */

static const char printing[] =
    ".version 8.0\n.target sm_90a\n.address_size 64\n"
    ".extern .func (.param .b32 r) vprintf (.param .b64 f, .param .b64 a);\n"
    ".global .align 1 .b8 text[4] = {104, 105, 10, 0};\n"
    ".visible .entry hello()\n{\n.reg .b64 %d<2>; .reg .b32 %r<2>;\n"
    "cvta.global.u64 %d1, text;\n{ .param .b64 p; st.param.b64 [p], %d1;\n.param .b64 q; "
    "st.param.b64 [q], 0;\n.param .b32 s;\ncall.uni (s), vprintf, (p, q);\n}\nret;\n}\n";

static void gather(void *context, const char *text, size_t length)
{
    char *out = context;
    strncat(out, text, length < 64 ? length : 64);
}

static void test_launch_in_process(void)
{
    static const char config[] = "{\"grid\": 2, \"block\": 1, \"buffers\": {}, \"args\": []}";
    char printed[256] = "";
    cute_diag *diag = cute_diag_create();
    cute_module *module;
    cute_launch *launch;
    const cute_emulator_options emulator = {.size = sizeof emulator, .print = gather, .context = printed};
    const cute_launch_options options = {
        .size = sizeof options, .device = "emulator", .emulator = &emulator, .in_process = true};
    if (!CHECK(cute_module_open("p.ptx", printing, strlen(printing), NULL, &module, diag) == CUTE_OK)) return;
    CHECK(cute_launch_open("c.json", config, strlen(config), NULL, module, &options, &launch, diag) ==
          CUTE_OK);
    CHECK(cute_launch_run(launch, diag) == CUTE_OK);
    CHECK_TEXT(printed, "hi\nhi\n");
    cute_launch_close(launch);
    cute_launch_options wrong = options;
    wrong.device = "gpu";
    CHECK_INT(cute_launch_open("c.json", config, strlen(config), NULL, module, &wrong, &launch, NULL),
              CUTE_USAGE);
    cute_module_close(module);
    char *all = cute_diag_render(diag, CUTE_DIAG_TEXT, false);
    CHECK_TEXT(all, "");
    free(all);
    cute_diag_destroy(diag);
}

static void *run_alone(void *context)
{
    int *good = context;
    for (int round = 0; round < 20; round++) {
        rig r;
        cute_arguments *a;
        float memory[64] = {1, 2, 3};
        const cute_device_launch launch = {.size = sizeof launch, .grid = {1, 1, 1}};
        if (!open_rig(&r, NULL)) return NULL;
        cute_emulator_register(r.device, memory, sizeof memory, r.diag);
        cute_arguments_create(r.device, r.loaded, r.module, NULL, &a, r.diag);
        cute_arguments_set_address(a, "in", (uintptr_t)memory, r.diag);
        cute_arguments_set_address(a, "out", (uintptr_t)(memory + 32), r.diag);
        cute_arguments_set_real(a, "scale", round, r.diag);
        cute_arguments_set_integer(a, "add", 1, r.diag);
        *good +=
            cute_arguments_launch(a, &launch, r.diag) == CUTE_OK && memory[34] == 3.0f * (float)round + 1;
        cute_arguments_destroy(a);
        close_rig(&r);
    }
    return NULL;
}

static void test_threads(void)
{
    enum { THREADS = 4 };
    pthread_t threads[THREADS];
    int good[THREADS] = {0};
    for (int i = 0; i < THREADS; i++) CHECK(pthread_create(&threads[i], NULL, run_alone, &good[i]) == 0);
    for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
    for (int i = 0; i < THREADS; i++) CHECK_INT(good[i], 20);
}

/* ---- messages ---- */

static void hear(void *context, const cute_message *message)
{
    char *out = context;
    strcat(out, message->severity == CUTE_NOTE ? "note " : "error ");
    strcat(out, message->text);
    strcat(out, ";");
}

static void test_listening(void)
{
    char heard[128] = "";
    cute_diag *diag = cute_diag_create();
    cute_diag_listen(diag, hear, heard);
    cute_fail(diag, CUTE_INVALID, NULL, "a %d", 1);
    cute_diag_clear(diag);
    cute_note(diag, NULL, "b");
    CHECK_TEXT(heard, "error a 1;note b;");
    CHECK_INT(cute_diag_count(diag), 1);
    cute_diag_destroy(diag);
}

/* A tensor whose offsets the kernel computes in 32 bits, as cute-ptx says it; its bytes may be of a larger one. */
static const char narrow[] =
    "//!cute "
    "{\"format\":1,\"kernel\":\"k\",\"module\":\"m\",\"arch\":\"sm_80\",\"args\":[{\"align\":4,\"count\":1,"
    "\"dtype\":\"f32\",\"fields\":[{\"name\":\"pointer\",\"offset\":0,\"size\":8},{\"dtype\":\"i32\","
    "\"name\":\"leaf0\","
    "\"offset\":8,\"size\":4},{\"dtype\":\"i32\",\"name\":\"leaf1\",\"offset\":12,\"size\":4}],\"first\":0,"
    "\"kind\":\"memref\","
    "\"layout\":\"?:?\",\"name\":\"x\",\"offsets\":{\"below\":2147483648,\"leaves\":[0]},\"space\":\"gmem\","
    "\"type\":\"!cute.memref<f32, gmem, "
    "\\\"?:?\\\">\"}],\"params\":[{\"size\":16,\"align\":8}],\"reqntid\":[32,1,1]}\n"
    ".version 8.3\n.target sm_80\n.address_size 64\n"
    ".visible .entry k(.param .align 8 .b8 x[16]) .reqntid 32, 1, 1\n{\nret;\n}\n";

static void test_offsets_of_bytes(void)
{
    rig r = {.diag = cute_diag_create()};
    cute_arguments *a;
    struct {
        cute_address pointer;
        int32_t extent, stride;
    } bytes = {0x1000, 65536, 32768};
    if (!CHECK(cute_emulator_open(NULL, &r.device, r.diag) == CUTE_OK) ||
        !CHECK(cute_module_open("k.ptx", narrow, strlen(narrow), NULL, &r.module, r.diag) == CUTE_OK) ||
        !CHECK(cute_device_load_module(r.device, r.module, &r.loaded, r.diag) == CUTE_OK) ||
        !CHECK(cute_arguments_create(r.device, r.loaded, r.module, "k", &a, r.diag) == CUTE_OK))
        return;
    /* (65536 - 1) * 32768 is 32768 less than 2^31. */
    CHECK_INT(cute_arguments_set_bytes(a, "x", &bytes, sizeof bytes, r.diag), CUTE_OK);
    bytes.extent = 65537;
    CHECK_INT(cute_arguments_set_bytes(a, "x", &bytes, sizeof bytes, r.diag), CUTE_USAGE);
    CHECK(says(&r, "expected a last element less than 2147483648 elements from the first, got 2147483648"));
    bytes.stride = -32768;
    CHECK_INT(cute_arguments_set_bytes(a, "x", &bytes, sizeof bytes, r.diag), CUTE_USAGE);
    CHECK(says(&r, "declare the strides as ?{i64}"));
    cute_arguments_destroy(a);
    close_rig(&r);
}

int main(void)
{
    TEST("a device is opened by its name, and another name is refused", test_names);
    TEST("structs of older and newer callers are understood", test_sizes);
    TEST("a module has a length and a label and can be unloaded", test_modules);
    TEST("the emulator tells what a kernel takes and how many of its blocks a multiprocessor holds",
         test_attributes);
    TEST("arguments are set by name, checked, and launched", test_arguments);
    TEST("streams run in order, and memory of the host is the device's at its own address",
         test_streams_and_host_memory);
    TEST("findings are structs, and a reset forgets them", test_findings);
    TEST("a launch.json runs without a child, and what kernels print goes to the caller",
         test_launch_in_process);
    TEST("threads launch at once, each on its device", test_threads);
    TEST("messages are heard when they are added", test_listening);
    TEST("bytes of a tensor that is too large for offsets of 32 bits are refused", test_offsets_of_bytes);
    return test_finish();
}
