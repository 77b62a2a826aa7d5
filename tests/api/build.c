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

#define P CUTE_AT(ir)

/* kernels/product/product.mlir with these parameters: gelu(alpha A B^T + bias) of f16. Conditions on constants in the text are conditions in C here. */
static const char *const product_defines[] = {
    "T=f16", "ACC=f32",   "TD=f16",  "BITS=16", "BITSD=16", "Z=0.0", "A=0",   "B=0",   "TF32=0",
    "ACT=2", "PROMOTE=0", "SCALE=1", "ADD=0",   "BIAS=1",   "BM=64", "BN=64", "BK=32",
};

static void build_product(cute_ir *ir)
{
    enum { BM = 64, BN = 64, BK = 32 };
    cute_ir_value at[3], sum;
    cute_ir_kernel(P, "product");
    cute_ir_attribute(P, "cute.schedule", "\"auto\"");
    cute_ir_value a = cute_ir_tensor(P, "A", CUTE_F16, 3, 16);
    cute_ir_value b = cute_ir_tensor(P, "B", CUTE_F16, 3, 16);
    cute_ir_value d = cute_ir_tensor(P, "D", CUTE_F16, 3, 16);
    cute_ir_tensor(P, "C", CUTE_F16, 3, 16);
    cute_ir_value bias = cute_ir_argument(P, "bias", "!cute.memref<f16, gmem, \"(?,?):(0,1)\">");
    cute_ir_value alpha = cute_ir_argument(P, "alpha", CUTE_F32);
    cute_ir_argument(P, "beta", CUTE_F32);
    cute_ir_tile_program(P, d, CUTE_EXTENTS(1, BM, BN), at);

    cute_ir_value steps = cute_ir_tile_count(P, a, 2, BK);
    cute_ir_value zero = cute_ir_tile(P, CUTE_NUMBER(0), CUTE_F32, CUTE_EXTENTS(BM, BN));
    cute_ir_value k = cute_ir_for(P, CUTE_NUMBER(0), steps, CUTE_NUMBER(1), CUTE_VALUES(zero), &sum);
    cute_ir_value x = cute_ir_tile_load(P, a, CUTE_EXTENTS(BM, BK), CUTE_VALUES(at[0], at[1], k));
    cute_ir_value y = cute_ir_tile_load(P, b, CUTE_EXTENTS(BN, BK), CUTE_VALUES(at[0], at[2], k));
    cute_ir_end(P, CUTE_VALUES(cute_ir_tile_gemm(P, x, y, sum)), &sum);

    cute_ir_define(P, "BN", "64");
    cute_ir_value row =
        cute_ir_text(P, "cute.tile.load<[1, ${BN}], f32> %0[%1, %2]", CUTE_VALUES(bias, at[1], at[2]));
    cute_ir_value z = cute_ir_add(P, cute_ir_mul(P, sum, alpha), row);
    z = cute_ir_op(P, "cute.tile.map", CUTE_VALUES(z), NULL, "{kind = \"gelu_tanh\", fast}");
    cute_ir_tile_store(P, cute_ir_cast(P, z, CUTE_F16), d, CUTE_VALUES(at[0], at[1], at[2]));
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
static void *make(const char *kernel, void (*build)(cute_ir *), const char *text, size_t length,
                  const char *const *defines, size_t define_count, size_t *size)
{
    cute_ir *ir;
    cute_compiler *compiler;
    cute_compiled *built, *written;
    check(cute_ir_create(&ir, diag));
    build(ir);
    check(cute_compiler_create(&compiler, diag));
    check(cute_compiler_set(compiler, "arch", "sm_90a", diag));
    check(cute_ir_compile(ir, compiler, &built, diag));
    for (size_t i = 0; i < define_count; i++) check(cute_compiler_set(compiler, "define", defines[i], diag));
    check(cute_compiler_run(compiler, "written.mlir", text, length, &written, diag));
    free(link_to(kernel, "written", written, size));
    void *cubin = link_to(kernel, "built", built, size);
    cute_compiled_destroy(built);
    cute_compiled_destroy(written);
    cute_compiler_destroy(compiler);
    cute_ir_destroy(ir);
    return cubin;
}

/* A kernel on the emulator. */
typedef struct running {
    cute_device *device;
    cute_module *module;
    cute_arguments *arguments;
} running;

static running open_kernel(const char *name, const void *cubin, size_t length)
{
    running r;
    cute_device_module *loaded;
    check(cute_device_open("emulator", &r.device, diag));
    check(cute_module_open(name, cubin, length, NULL, &r.module, diag));
    check(cute_device_load_module(r.device, r.module, &loaded, diag));
    check(cute_arguments_create(r.device, loaded, r.module, name, &r.arguments, diag));
    return r;
}

static cute_status launch_block(const running *r, unsigned threads)
{
    cute_device_launch launch;
    memset(&launch, 0, sizeof launch);
    launch.size = sizeof launch;
    launch.grid[0] = launch.grid[1] = launch.grid[2] = launch.block[1] = launch.block[2] = 1;
    launch.block[0] = threads;
    return cute_arguments_launch(r->arguments, &launch, diag);
}

static void close_kernel(const running *r)
{
    cute_arguments_destroy(r->arguments);
    cute_device_close(r->device);
    cute_module_close(r->module);
}

/* The cubin of a kernel, to be freed. */
static void *make_one(const char *kernel, void (*build)(cute_ir *), const char *option, size_t *length)
{
    cute_ir *ir;
    cute_compiler *compiler;
    cute_compiled *compiled;
    check(cute_ir_create(&ir, diag));
    build(ir);
    check(cute_compiler_create(&compiler, diag));
    if (option) check(cute_compiler_set(compiler, option, NULL, diag));
    check(cute_ir_compile(ir, compiler, &compiled, diag));
    void *cubin = link_to(kernel, "built", compiled, length);
    cute_compiled_destroy(compiled);
    cute_compiler_destroy(compiler);
    cute_ir_destroy(ir);
    return cubin;
}

static void run_reduce(const void *cubin, size_t length)
{
    static float x[1000];
    float sum = 0, result = 0;
    cute_address memory, out;
    running r = open_kernel("reduce", cubin, length);
    for (int i = 0; i < 1000; i++) x[i] = (float)(i % 7), sum += x[i];
    check(cute_device_alloc(r.device, sizeof x, &memory, diag));
    check(cute_device_alloc(r.device, sizeof result, &out, diag));
    check(cute_device_upload(r.device, memory, x, sizeof x, diag));
    check(cute_arguments_set_address(r.arguments, "x", memory, diag));
    check(cute_arguments_set_integer(r.arguments, "n", 1000, diag));
    check(cute_arguments_set_address(r.arguments, "out", out, diag));
    check(launch_block(&r, 64));
    check(cute_device_download(r.device, &result, out, sizeof result, diag));
    CHECK(result == sum);
    close_kernel(&r);
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

static int outside_line;

static void build_outside(cute_ir *ir)
{
    cute_ir_kernel(P, "outside");
    cute_ir_value x = cute_ir_argument(P, "x", "!cute.memref<f32, gmem, \"32:1\">");
    cute_ir_value i = cute_ir_add(P, cute_ir_thread(P, CUTE_IR_X), CUTE_NUMBER(1));
    outside_line = __LINE__ + 1;
    cute_ir_store(P, CUTE_NUMBER(1), x, CUTE_VALUES(i));
    cute_ir_end(P, CUTE_NO_VALUES, NULL);
}

/* A finding of the emulator names the file and line of the call. */
static void test_finding(void)
{
    cute_address memory;
    size_t length;
    char expected[32];
    void *cubin = make_one("outside", build_outside, "lineinfo", &length);
    running r = open_kernel("outside", cubin, length);
    check(cute_device_alloc(r.device, 32 * sizeof(float), &memory, diag));
    check(cute_arguments_set_address(r.arguments, "x", memory, diag));
    CHECK(launch_block(&r, 32) == CUTE_INVALID);
    snprintf(expected, sizeof expected, "build.c:%d", outside_line);
    char *all = cute_diag_render(diag, CUTE_DIAG_TEXT, false);
    if (!all || !strstr(all, expected)) printf("expected %s in: %s\n", expected, all ? all : "");
    free(all);
    cute_diag_clear(diag);
    close_kernel(&r);
    free(cubin);
}

/* Lanes of two warps communicate, with the values 0 to 63; out has 32 elements for each warp and pattern. */
static void build_communication(cute_ir *ir)
{
    cute_ir_value moved[4], steps[2];
    cute_ir_kernel(P, "communication");
    cute_ir_value out = cute_ir_argument(P, "out", "memref<?xf32>");
    cute_ir_value t = cute_ir_thread(P, CUTE_IR_X);
    cute_ir_value v = cute_ir_cast(P, t, CUTE_F32);
    cute_ir_communicate(P, CUTE_IR_ALL_REDUCE, v, out, t);
    cute_ir_value second = cute_ir_add(P, t, CUTE_NUMBER(64));
    cute_ir_communicate(P, CUTE_IR_BROADCAST, v, out, second);
    moved[CUTE_IR_IDX] = cute_ir_shuffle(P, CUTE_IR_IDX, v, CUTE_NUMBER(7));
    moved[CUTE_IR_UP] = cute_ir_shuffle(P, CUTE_IR_UP, v, CUTE_NUMBER(1));
    moved[CUTE_IR_DOWN] = cute_ir_shuffle(P, CUTE_IR_DOWN, v, CUTE_NUMBER(1));
    moved[CUTE_IR_XOR] = cute_ir_shuffle(P, CUTE_IR_XOR, v, CUTE_NUMBER(3));
    for (int i = 0; i < 4; i++) {
        cute_ir_value index = cute_ir_add(P, t, CUTE_NUMBER(64 * (2 + i)));
        cute_ir_store(P, moved[i], out, CUTE_VALUES(index));
    }
    cute_ir_value largest = cute_ir_block_reduce(P, "max", v);
    cute_ir_value sixth = cute_ir_add(P, t, CUTE_NUMBER(64 * 6));
    cute_ir_store(P, largest, out, CUTE_VALUES(sixth));
    /* Halved while it is above 10, in threads that are even; -1 in others. */
    cute_ir_value bit = cute_ir_and(P, t, CUTE_NUMBER(1));
    cute_ir_if(P, cute_ir_eq(P, bit, CUTE_NUMBER(0)));
    cute_ir_while(P, CUTE_VALUES(v), steps);
    cute_ir_do(P, cute_ir_gt(P, steps[0], CUTE_NUMBER(10)), CUTE_VALUES(steps[0]), steps);
    cute_ir_end(P, CUTE_VALUES(cute_ir_mul(P, steps[0], CUTE_REAL(0.5))), steps);
    cute_ir_else(P, CUTE_VALUES(steps[0]));
    cute_ir_end(P, CUTE_VALUES(CUTE_NUMBER(-1)), steps);
    cute_ir_value seventh = cute_ir_add(P, t, CUTE_NUMBER(64 * 7));
    cute_ir_store(P, steps[0], out, CUTE_VALUES(seventh));
    cute_ir_value lane = cute_ir_lane(P);
    cute_ir_if(P, cute_ir_lt(P, t, CUTE_NUMBER(32)));
    cute_ir_value gathered = cute_ir_add(P, lane, CUTE_NUMBER(16));
    cute_ir_communicate(P, CUTE_IR_ALL_GATHER, v, out, gathered);
    cute_ir_end(P, CUTE_NO_VALUES, NULL);
    cute_ir_end(P, CUTE_NO_VALUES, NULL);
}

/* What thread t has in row `row` of build_communication. */
static float expected_of(int row, int t)
{
    int lane = t % 32, warp = t / 32 * 32;
    float v = (float)t;
    switch (row) {
    case 0: return (float)(warp * 32 + 31 * 16);
    case 1: return (float)warp;
    case 2: return (float)(warp + 7);
    case 3: return lane ? v - 1 : v;
    case 4: return lane < 31 ? v + 1 : v;
    case 5: return (float)(t ^ 3);
    case 6: return 63;
    default: break;
    }
    while (v > 10) v /= 2;
    return t % 2 ? -1 : v;
}

static void run_communication(void)
{
    enum { ROWS = 8, GATHERED = 16 * 32, COUNT = GATHERED + 32 * 32 };
    static float result[COUNT];
    static const int64_t shape[] = {COUNT};
    cute_address out;
    size_t length;
    void *cubin = make_one("communication", build_communication, NULL, &length);
    running r = open_kernel("communication", cubin, length);
    check(cute_device_alloc(r.device, sizeof result, &out, diag));
    check(cute_device_upload(r.device, out, result, sizeof result, diag));
    check(cute_arguments_set_memref(r.arguments, "out", out, 0, 1, shape, NULL, diag));
    check(launch_block(&r, 64));
    check(cute_device_download(r.device, result, out, sizeof result, diag));
    for (int i = 0; i < 64 * ROWS; i++)
        if (result[i] != expected_of(i / 64, i % 64))
            printf("row %d, thread %d: %g, not %g\n", i / 64, i % 64, (double)result[i],
                   (double)expected_of(i / 64, i % 64));
    for (int i = 0; i < 32 * 32; i++) CHECK(result[GATHERED + i] == (float)(i % 32));
    close_kernel(&r);
    free(cubin);
}

int main(int argc, char **argv)
{
    static char product[65536];
    size_t length;
    FILE *file = argc > 1 ? fopen(argv[1], "rb") : NULL;
    if (!file) return printf("expected kernels/product/product.mlir\n"), 2;
    size_t read = fread(product, 1, sizeof product, file);
    fclose(file);
    diag = cute_diag_create();
    free(make("product", build_product, product, read, product_defines,
              sizeof product_defines / sizeof *product_defines, &length));
    void *cubin = make("reduce", build_reduce, reduce_text, strlen(reduce_text), NULL, 0, &length);
    run_reduce(cubin, length);
    free(cubin);
    run_communication();
    test_error();
    test_finding();
    cute_diag_destroy(diag);
    return 0;
}
