/* Kernels of cute/build.h beside the same kernels as text: cubins KERNEL.built.cubin and KERNEL.written.cubin in the current folder, whose
 * code is to be equal, and results of the built ones on the emulator. Also errors, as a program outside of the tree sees them. */
#include <cute/arguments.h>
#include <cute/build.h>
#include <cute/emulator.h>
#include <cute/link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static cute_diag *diag;

#define CHECK(condition)                                                                                     \
    do {                                                                                                     \
        if (!(condition)) printf("build.c:%d: %s\n", __LINE__, #condition);                                  \
    } while (0)

static void check(cute_status status)
{
    if (status == CUTE_OK) return;
    fputs(cute_diag_render(diag, CUTE_DIAG_TEXT, false), stdout);
    exit(1);
}

static const char product_text[] =
    "!A = !cute.memref<bf16, gmem, align<16>, \"(?,?{div=8}):(?{i64 div=8},1)\">\n"
    "!D = !cute.memref<f32, gmem, align<16>, \"(?,?{div=4}):(?{i64 div=4},1)\">\n"
    "gpu.module @kernels {\n"
    "  gpu.func @product(%A: !A, %B: !A, %D: !D) kernel {\n"
    "    %i, %j = cute.tile.program<[128, 128]> %D\n"
    "    %steps = cute.tile.count<1, 64> %A\n"
    "    %c0 = arith.constant 0 : i32\n"
    "    %c1 = arith.constant 1 : i32\n"
    "    %zero = arith.constant dense<0.0> : tensor<128x128xf32>\n"
    "    %sum = scf.for %k = %c0 to %steps step %c1 iter_args(%acc = %zero) -> (tensor<128x128xf32>) : i32 "
    "{\n"
    "      %a = cute.tile.load<[128, 64]> %A[%i, %k]\n"
    "      %b = cute.tile.load<[128, 64]> %B[%j, %k]\n"
    "      %d = cute.tile.gemm %a, %b, %acc\n"
    "      scf.yield %d : tensor<128x128xf32>\n"
    "    }\n"
    "    cute.tile.store %sum, %D[%i, %j]\n"
    "    gpu.return\n"
    "  }\n"
    "}\n";

static void build_product(cute_ir *ir)
{
#define P CUTE_AT(ir)
    cute_ir_value at[2], sum;
    cute_ir_kernel(P, "product");
    cute_ir_value a = cute_ir_tensor(P, "A", CUTE_BF16, 2, 16);
    cute_ir_value b = cute_ir_tensor(P, "B", CUTE_BF16, 2, 16);
    cute_ir_value d = cute_ir_tensor(P, "D", CUTE_F32, 2, 16);
    cute_ir_tile_program(P, d, CUTE_EXTENTS(128, 128), at);
    cute_ir_value steps = cute_ir_tile_count(P, a, 1, 64);
    cute_ir_value zero = cute_ir_tile(P, CUTE_NUMBER(0), CUTE_F32, CUTE_EXTENTS(128, 128));
    cute_ir_value k = cute_ir_for(P, CUTE_NUMBER(0), steps, CUTE_NUMBER(1), CUTE_VALUES(zero), &sum);
    cute_ir_value x = cute_ir_tile_load(P, a, CUTE_EXTENTS(128, 64), CUTE_VALUES(at[0], k));
    cute_ir_value y = cute_ir_tile_load(P, b, CUTE_EXTENTS(128, 64), CUTE_VALUES(at[1], k));
    cute_ir_end(P, CUTE_VALUES(cute_ir_tile_gemm(P, x, y, sum)), &sum);
    cute_ir_tile_store(P, sum, d, CUTE_VALUES(at[0], at[1]));
    cute_ir_end(P, CUTE_NO_VALUES, NULL);
}

/* Each thread sums every 64th of n elements; sums of warps meet in shared memory. */
static const char reduce_text[] =
    "!X = !cute.memref<f32, gmem, \"1000:1\">\n"
    "gpu.module @kernels {\n"
    "  gpu.func @reduce(%x: !X, %n: i32, %out: !X) kernel {\n"
    "    %tid = gpu.thread_id x\n"
    "    %t = arith.index_cast %tid : index to i32\n"
    "    %s = cute.memref.alloca() : !cute.memref<f32, smem, align<16>, \"2:1\">\n"
    "    %zero = arith.constant 0.0 : f32\n"
    "    %c64 = arith.constant 64 : i32\n"
    "    %sum = scf.for %i = %t to %n step %c64 iter_args(%acc = %zero) -> (f32) : i32 {\n"
    "      %v = cute.memref.load %x[%i]\n"
    "      %next = arith.addf %acc, %v : f32\n"
    "      scf.yield %next : f32\n"
    "    }\n"
    "    %w = cute_nvgpu.arch.warp_all_reduce<add> %sum\n"
    "    %c31 = arith.constant 31 : i32\n"
    "    %lane = arith.andi %t, %c31 : i32\n"
    "    %c0 = arith.constant 0 : i32\n"
    "    %first = arith.cmpi eq, %lane, %c0 : i32\n"
    "    scf.if %first {\n"
    "      %c5 = arith.constant 5 : i32\n"
    "      %warp = arith.shrsi %t, %c5 : i32\n"
    "      cute.memref.store %s[%warp], %w\n"
    "    }\n"
    "    gpu.barrier\n"
    "    %z = arith.cmpi eq, %t, %c0 : i32\n"
    "    scf.if %z {\n"
    "      %a = cute.memref.load %s[0]\n"
    "      %b = cute.memref.load %s[1]\n"
    "      %c = arith.addf %a, %b : f32\n"
    "      cute.memref.store %out[0], %c\n"
    "    }\n"
    "    gpu.return\n"
    "  }\n"
    "}\n";

static void build_reduce(cute_ir *ir)
{
    cute_ir_value sum;
    cute_ir_kernel(P, "reduce");
    cute_ir_value x = cute_ir_argument(P, "x", "!cute.memref<f32, gmem, \"1000:1\">");
    cute_ir_value n = cute_ir_argument(P, "n", CUTE_I32);
    cute_ir_value out = cute_ir_argument(P, "out", "!cute.memref<f32, gmem, \"1000:1\">");
    cute_ir_value t = cute_ir_thread(P, CUTE_IR_X);
    cute_ir_value s = cute_ir_shared(P, CUTE_F32, CUTE_EXTENTS(2));
    cute_ir_value zero = cute_ir_constant(P, CUTE_NUMBER(0), CUTE_F32);
    cute_ir_value i = cute_ir_for(P, t, n, CUTE_NUMBER(64), CUTE_VALUES(zero), &sum);
    cute_ir_value v = cute_ir_load(P, x, CUTE_VALUES(i));
    cute_ir_end(P, CUTE_VALUES(cute_ir_add(P, sum, v)), &sum);
    cute_ir_value w = cute_ir_warp_reduce(P, "add", sum);
    cute_ir_value lane = cute_ir_and(P, t, CUTE_NUMBER(31));
    cute_ir_if(P, cute_ir_eq(P, lane, CUTE_NUMBER(0)));
    cute_ir_value warp = cute_ir_shr(P, t, CUTE_NUMBER(5));
    cute_ir_store(P, w, s, CUTE_VALUES(warp));
    cute_ir_end(P, CUTE_NO_VALUES, NULL);
    cute_ir_barrier(P);
    cute_ir_if(P, cute_ir_eq(P, t, CUTE_NUMBER(0)));
    cute_ir_value a = cute_ir_load(P, s, CUTE_VALUES(CUTE_NUMBER(0)));
    cute_ir_value b = cute_ir_load(P, s, CUTE_VALUES(CUTE_NUMBER(1)));
    cute_ir_store(P, cute_ir_add(P, a, b), out, CUTE_VALUES(CUTE_NUMBER(0)));
    cute_ir_end(P, CUTE_NO_VALUES, NULL);
    cute_ir_end(P, CUTE_NO_VALUES, NULL);
}

static void *link_to(const char *kernel, const char *made, const cute_compiled *compiled, size_t *length)
{
    cute_linker *linker;
    size_t ptx_length;
    char path[64];
    const char *ptx = cute_compiled_text(compiled, 0, &ptx_length);
    check(cute_linker_create(&linker, diag));
    check(cute_linker_add(linker, kernel, ptx, ptx_length, diag));
    check(cute_linker_link(linker, diag));
    const void *cubin = cute_linker_output(linker, length);
    void *copy = memcpy(malloc(*length), cubin, *length);
    snprintf(path, sizeof path, "%s.%s.cubin", kernel, made);
    FILE *file = fopen(path, "wb");
    CHECK(file && fwrite(copy, 1, *length, file) == *length && fclose(file) == 0);
    cute_linker_destroy(linker);
    return copy;
}

/* The cubin of the built kernel, to be freed. */
static void *make(const char *kernel, void (*build)(cute_ir *), const char *text, size_t *length)
{
    cute_ir *ir;
    cute_compiler *compiler;
    cute_compiled *built, *written;
    check(cute_ir_create(&ir, diag));
    build(ir);
    check(cute_compiler_create(&compiler, diag));
    check(cute_compiler_set(compiler, "arch", "sm_90a", diag));
    check(cute_ir_compile(ir, compiler, &built, diag));
    check(cute_compiler_run(compiler, "written.mlir", text, strlen(text), &written, diag));
    free(link_to(kernel, "written", written, length));
    void *cubin = link_to(kernel, "built", built, length);
    cute_compiled_destroy(built);
    cute_compiled_destroy(written);
    cute_compiler_destroy(compiler);
    cute_ir_destroy(ir);
    return cubin;
}

static void run_reduce(const void *cubin, size_t length)
{
    static float x[1000];
    float sum = 0, result = 0;
    cute_device *device;
    cute_module *module;
    cute_device_module *loaded;
    cute_arguments *arguments;
    cute_address memory, out;
    cute_device_launch launch;
    for (int i = 0; i < 1000; i++) x[i] = (float)(i % 7), sum += x[i];
    memset(&launch, 0, sizeof launch);
    launch.size = sizeof launch;
    launch.grid[0] = launch.grid[1] = launch.grid[2] = launch.block[1] = launch.block[2] = 1;
    launch.block[0] = 64;
    check(cute_device_open("emulator", &device, diag));
    check(cute_module_open("reduce.cubin", cubin, length, NULL, &module, diag));
    check(cute_device_load_module(device, module, &loaded, diag));
    check(cute_device_alloc(device, sizeof x, &memory, diag));
    check(cute_device_alloc(device, sizeof result, &out, diag));
    check(cute_device_upload(device, memory, x, sizeof x, diag));
    check(cute_arguments_create(device, loaded, module, "reduce", &arguments, diag));
    check(cute_arguments_set_address(arguments, "x", memory, diag));
    check(cute_arguments_set_integer(arguments, "n", 1000, diag));
    check(cute_arguments_set_address(arguments, "out", out, diag));
    check(cute_arguments_launch(arguments, &launch, diag));
    check(cute_device_download(device, &result, out, sizeof result, diag));
    CHECK(result == sum);
    cute_arguments_destroy(arguments);
    cute_device_close(device);
    cute_module_close(module);
}

/* A wrong operand is reported with the file and line of the call and both types. */
static void test_error(void)
{
    cute_ir *ir;
    const char *text;
    char expected[32];
    check(cute_ir_create(&ir, diag));
    cute_ir_kernel(P, "k");
    cute_ir_value f = cute_ir_argument(P, "f", CUTE_F32), i = cute_ir_argument(P, "i", CUTE_I32);
    cute_ir_value wrong = cute_ir_add(P, f, i);
    snprintf(expected, sizeof expected, "build.c:%d: error: ", __LINE__ - 1);
    cute_ir_neg(P, wrong);
    cute_ir_end(P, CUTE_NO_VALUES, NULL);
    CHECK(cute_ir_print(ir, false, &text, NULL, diag) == CUTE_INVALID && !text);
    char *all = cute_diag_render(diag, CUTE_DIAG_TEXT, false);
    CHECK(all && strstr(all, expected) && strstr(all, "'f32' and 'i32'"));
    free(all);
    cute_diag_clear(diag);
    cute_ir_destroy(ir);
}

/* A finding of the emulator names the file and line of the call. */
static void test_finding(void)
{
    cute_ir *ir;
    cute_compiler *compiler;
    cute_compiled *compiled;
    cute_device *device;
    cute_module *module;
    cute_device_module *loaded;
    cute_arguments *arguments;
    cute_address memory;
    cute_device_launch launch;
    size_t length;
    char expected[32];
    check(cute_ir_create(&ir, diag));
    cute_ir_kernel(P, "outside");
    cute_ir_value x = cute_ir_argument(P, "x", "!cute.memref<f32, gmem, \"32:1\">");
    cute_ir_value i = cute_ir_add(P, cute_ir_thread(P, CUTE_IR_X), CUTE_NUMBER(1));
    cute_ir_store(P, CUTE_NUMBER(1), x, CUTE_VALUES(i));
    snprintf(expected, sizeof expected, "build.c:%d", __LINE__ - 1);
    cute_ir_end(P, CUTE_NO_VALUES, NULL);
    check(cute_compiler_create(&compiler, diag));
    check(cute_compiler_set(compiler, "lineinfo", NULL, diag));
    check(cute_ir_compile(ir, compiler, &compiled, diag));
    void *cubin = link_to("outside", "built", compiled, &length);
    memset(&launch, 0, sizeof launch);
    launch.size = sizeof launch;
    launch.grid[0] = launch.grid[1] = launch.grid[2] = launch.block[1] = launch.block[2] = 1;
    launch.block[0] = 32;
    check(cute_device_open("emulator", &device, diag));
    check(cute_module_open("outside.cubin", cubin, length, NULL, &module, diag));
    check(cute_device_load_module(device, module, &loaded, diag));
    check(cute_device_alloc(device, 32 * sizeof(float), &memory, diag));
    check(cute_arguments_create(device, loaded, module, "outside", &arguments, diag));
    check(cute_arguments_set_address(arguments, "x", memory, diag));
    CHECK(cute_arguments_launch(arguments, &launch, diag) == CUTE_INVALID);
    char *all = cute_diag_render(diag, CUTE_DIAG_TEXT, false);
    if (!all || !strstr(all, expected)) printf("expected %s in: %s\n", expected, all ? all : "");
    free(all);
    cute_diag_clear(diag);
    cute_arguments_destroy(arguments);
    cute_device_close(device);
    cute_module_close(module);
    free(cubin);
    cute_compiled_destroy(compiled);
    cute_compiler_destroy(compiler);
    cute_ir_destroy(ir);
}

int main(void)
{
    size_t length;
    diag = cute_diag_create();
    free(make("product", build_product, product_text, &length));
    void *cubin = make("reduce", build_reduce, reduce_text, &length);
    run_reduce(cubin, length);
    free(cubin);
    test_error();
    test_finding();
    cute_diag_destroy(diag);
    return 0;
}
