/* Launch plans through cute/plan.h on an emulator: the size of the temporaries, a workspace of the caller, and what is refused. */
#include <cute/compile.h>
#include <cute/cubin.h>
#include <cute/emulator.h>
#include <cute/plan.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static cute_diag *diag;

#define CHECK(condition)                                                                                     \
    do {                                                                                                     \
        if (!(condition)) printf("plan.c:%d: %s\n", __LINE__, #condition);                                   \
    } while (0)

/* sum[i] = flags[i] + 1, which is 1 where the flags are 0 at the start; the flags of two calls are apart. */
static const char source[] =
    "!T = !cute.memref<i32, gmem, align<256>, \"?:1\">\n"
    "!out = !cute.memref<i32, gmem, \"?:1\">\n"
    "gpu.module @m {\n"
    "  gpu.func @add(%t: !T, %out: !out) kernel attributes {nvvm.reqntid = array<i32: 32, 1, 1>} {\n"
    "    %i = nvvm.read.ptx.sreg.tid.x : i32\n"
    "    %one = arith.constant 1 : i32\n"
    "    %x = cute.load %t[%i]\n"
    "    %y = arith.addi %x, %one : i32\n"
    "    cute.store %y, %t[%i]\n"
    "    cute.store %y, %out[%i]\n"
    "    gpu.return\n"
    "  }\n"
    "}\n"
    "func.func private @once(%n: i32, %out: !out) {\n"
    "  %layout = cute.make_layout(%n)\n"
    "  %t = cute.temporary<zero> %layout : i32\n"
    "  %c1 = arith.constant 1 : index\n"
    "  %c32 = arith.constant 32 : index\n"
    "  gpu.launch_func @m::@add blocks in (%c1, %c1, %c1) threads in (%c32, %c1, %c1) args(%t : !T, %out : "
    "!out)\n"
    "  return\n"
    "}\n"
    "func.func @count(%n: i32, %out: !out, %other: !out) {\n"
    "  func.call @once(%n, %out) : (i32, !out) -> ()\n"
    "  func.call @once(%n, %other) : (i32, !out) -> ()\n"
    "  return\n"
    "}\n";
static const char config[] = "{\"plan\": \"count\", \"params\": {\"n\": 100},"
                             " \"buffers\": {\"out\": {\"shape\": [32]}, \"other\": {\"shape\": [32]}}}";

static bool said(const char *text)
{
    char *all = cute_diag_render(diag, CUTE_DIAG_TEXT, false);
    bool found = all && strstr(all, text);
    if (!found) printf("expected '%s', got: %s\n", text, all ? all : "");
    free(all);
    cute_diag_clear(diag);
    return found;
}

static cute_plan_runner *plan_with(cute_device *device, const cute_module *module, const char *define)
{
    cute_plan_runner *runner = NULL;
    cute_plan_options options = {.size = sizeof options, .defines = &define, .define_count = 1};
    CHECK(cute_plan_open(device, module, config, strlen(config), &options, &runner, diag) == CUTE_OK);
    return runner;
}

static void test_size(const cute_module *module)
{
    size_t offset, bytes;
    cute_plan_runner *runner = plan_with(NULL, module, "n=100");
    /* Two temporaries of 400 bytes, each at a multiple of 256. */
    CHECK(cute_plan_workspace(runner) == 1024);
    CHECK(cute_plan_temporary(runner, 1, &offset, &bytes, diag) == CUTE_OK && offset == 512 && bytes == 400);
    CHECK(cute_plan_temporary(runner, 2, &offset, &bytes, diag) == CUTE_USAGE &&
          said("expected a temporary below 2, got 2"));
    CHECK(cute_plan_start(runner, NULL, diag) == CUTE_USAGE && said("without a device"));
    cute_plan_close(runner);
    runner = plan_with(NULL, module, "n=64");
    CHECK(cute_plan_workspace(runner) == 512);
    cute_plan_close(runner);
    cute_plan_options options = {.size = sizeof options};
    const char *define = "n=0";
    options.defines = &define;
    options.define_count = 1;
    CHECK(cute_plan_open(NULL, module, config, strlen(config), &options, &runner, diag) == CUTE_INVALID &&
          !runner && said("temporary 0 of plan 'count': expected extents of at least 1, got 0"));
    cute_plan_close(NULL);
}

static void test_runs(cute_device *device, const cute_module *module)
{
    int32_t out[32], other[32];
    cute_address a, b, workspace;
    cute_plan_runner *runner = plan_with(device, module, "n=100");
    CHECK(cute_device_alloc(device, sizeof out, &a, diag) == CUTE_OK);
    CHECK(cute_device_alloc(device, sizeof other, &b, diag) == CUTE_OK);
    CHECK(cute_device_alloc(device, cute_plan_workspace(runner), &workspace, diag) == CUTE_OK);
    CHECK(cute_plan_set_buffer(runner, "outt", a, diag) == CUTE_USAGE && said("got 'outt'"));
    CHECK(cute_plan_set_buffer(runner, "out", a + 2, diag) == CUTE_USAGE && said("'out' is misaligned"));
    CHECK(cute_plan_set_buffer(runner, "out", a, diag) == CUTE_OK);
    CHECK(cute_plan_start(runner, NULL, diag) == CUTE_USAGE && said("expected an address of buffer 'other'"));
    CHECK(cute_plan_set_buffer(runner, "other", b, diag) == CUTE_OK);
    CHECK(cute_plan_start(runner, NULL, diag) == CUTE_USAGE &&
          said("expected a workspace of 1024 bytes, got none"));
    CHECK(cute_plan_set_workspace(runner, workspace + 16, diag) == CUTE_USAGE &&
          said("the workspace is misaligned: expected a multiple of 256"));
    CHECK(cute_plan_set_workspace(runner, workspace, diag) == CUTE_OK);
    cute_stream *stream = NULL;
    CHECK(cute_stream_create(device, &stream, diag) == CUTE_OK);
    /* The workspace may hold anything before a run, also what the last run left. */
    for (int run = 0; run < 3; run++) {
        if (run == 1)
            CHECK(cute_device_fill(device, workspace, 0xff, cute_plan_workspace(runner), diag) == CUTE_OK);
        CHECK(cute_plan_start(runner, run == 2 ? stream : NULL, diag) == CUTE_OK);
        CHECK(cute_device_sync(device, diag) == CUTE_OK);
        CHECK(cute_device_download(device, out, a, sizeof out, diag) == CUTE_OK);
        CHECK(cute_device_download(device, other, b, sizeof other, diag) == CUTE_OK);
        for (int i = 0; i < 32; i++) CHECK(out[i] == 1 && other[i] == 1);
    }
    cute_stream_destroy(stream);
    cute_plan_close(runner);
}

int main(void)
{
    cute_compiler *compiler = NULL;
    cute_compiled *compiled = NULL;
    cute_module *module = NULL;
    cute_device *device = NULL;
    size_t length;
    diag = cute_diag_create();
    CHECK(cute_compiler_create(&compiler, diag) == CUTE_OK);
    CHECK(cute_compiler_run(compiler, "plan.mlir", source, strlen(source), &compiled, diag) == CUTE_OK);
    if (!compiled) return said(""), 1;
    const char *ptx = cute_compiled_text(compiled, 0, &length);
    CHECK(cute_module_open("plan.ptx", ptx, length, NULL, &module, diag) == CUTE_OK);
    CHECK(cute_emulator_open(NULL, &device, diag) == CUTE_OK);
    test_size(module);
    test_runs(device, module);
    cute_device_close(device);
    cute_module_close(module);
    cute_compiled_destroy(compiled);
    cute_compiler_destroy(compiler);
    cute_diag_destroy(diag);
    return 0;
}
