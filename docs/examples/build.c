/* D = A B^T of f16 as a tile program, built from C, compiled, launched and checked: build [DEVICE], such as emulator or cuda:0. */
#include <cute/build.h>
#include <cute/link.h>
#include <cute/plan.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { M = 200, N = 136, K = 104 };

static cute_diag *diag;

static void check(cute_status status)
{
    if (status == CUTE_OK) return;
    fputs(cute_diag_render(diag, CUTE_DIAG_TEXT, false), stderr);
    exit(status);
}

/* A block computes a tile of BM x BN elements, in steps of BK along K. */
static void build_product(cute_ir *ir)
{
#define P CUTE_AT(ir)
    enum { BM = 128, BN = 64, BK = 64 };
    cute_ir_kernel(P, "product");
    cute_ir_value a = cute_ir_tensor(P, "A", CUTE_F16, 2, 16);
    cute_ir_value b = cute_ir_tensor(P, "B", CUTE_F16, 2, 16);
    cute_ir_value d = cute_ir_tensor(P, "D", CUTE_F32, 2, 16);
    cute_ir_value at[2], sum;
    cute_ir_tile_program(P, d, CUTE_EXTENTS(BM, BN), at);

    cute_ir_value zero = cute_ir_tile(P, CUTE_NUMBER(0), CUTE_F32, CUTE_EXTENTS(BM, BN));
    cute_ir_value steps = cute_ir_tile_count(P, a, 1, BK);
    cute_ir_value k = cute_ir_for(P, CUTE_NUMBER(0), steps, CUTE_NUMBER(1), CUTE_VALUES(zero), &sum);
    cute_ir_value x = cute_ir_tile_load(P, a, CUTE_EXTENTS(BM, BK), CUTE_VALUES(at[0], k));
    cute_ir_value y = cute_ir_tile_load(P, b, CUTE_EXTENTS(BN, BK), CUTE_VALUES(at[1], k));
    cute_ir_end(P, CUTE_VALUES(cute_ir_tile_gemm(P, x, y, sum)), &sum);

    cute_ir_tile_store(P, sum, d, CUTE_VALUES(at[0], at[1]));
    cute_ir_end(P, CUTE_NO_VALUES, NULL);
}

static void *compile_product(const char *arch, size_t *length)
{
    cute_ir *ir; /* MLIR in memory, to PTX */
    cute_compiler *compiler;
    cute_compiled *compiled;
    check(cute_ir_create(&ir, diag));
    build_product(ir);
    check(cute_compiler_create(&compiler, diag));
    check(cute_compiler_set(compiler, "arch", arch, diag));
    check(cute_ir_compile(ir, compiler, &compiled, diag));

    cute_linker *linker; /* to a cubin, which keeps the PTX for the emulator */
    size_t ptx_length;
    const char *ptx = cute_compiled_text(compiled, 0, &ptx_length);
    check(cute_linker_create(&linker, diag));
    check(cute_linker_add(linker, "product.ptx", ptx, ptx_length, diag));
    check(cute_linker_link(linker, diag));
    const void *cubin = cute_linker_output(linker, length);
    void *copy = memcpy(malloc(*length), cubin, *length);
    cute_linker_destroy(linker);
    cute_compiled_destroy(compiled);
    cute_compiler_destroy(compiler);
    cute_ir_destroy(ir);
    return copy;
}

static cute_address upload(cute_device *device, const void *bytes, size_t size)
{
    cute_address address;
    check(cute_device_alloc(device, size, &address, diag));
    check(cute_device_upload(device, address, bytes, size, diag));
    return address;
}

/* Small integers, as the bits of f16. */
static int element(int row, int column)
{
    return (row * 7 + column * 3) % 5 - 2;
}
static uint16_t half(int number)
{
    static const uint16_t halves[] = {0xc000, 0xbc00, 0, 0x3c00, 0x4000};
    return halves[number + 2];
}

int main(int argc, char **argv)
{
    static uint16_t a[M * K], b[N * K];
    static float d[M * N];
    static const char launch[] = "{ \"plan\": \"product\", \"buffers\": { \"A\": { \"shape\": [200, 104] },"
                                 " \"B\": { \"shape\": [136, 104] }, \"D\": { \"shape\": [200, 136] } } }";
    diag = cute_diag_create();
    for (int i = 0; i < M * K; i++) a[i] = half(element(i / K, i % K));
    for (int i = 0; i < N * K; i++) b[i] = half(element(i / K + 1, i % K));
    size_t length;
    void *cubin = compile_product("sm_90a", &length);

    cute_module *module; /* the grid follows from the shapes */
    cute_device *device;
    cute_plan_runner *runner;
    check(cute_module_open("product.cubin", cubin, length, NULL, &module, diag));
    check(cute_device_open(argc > 1 ? argv[1] : NULL, &device, diag));
    check(cute_plan_open(device, module, launch, strlen(launch), NULL, &runner, diag));
    cute_address result = upload(device, d, sizeof d);
    check(cute_plan_set_buffer(runner, "A", upload(device, a, sizeof a), diag));
    check(cute_plan_set_buffer(runner, "B", upload(device, b, sizeof b), diag));
    check(cute_plan_set_buffer(runner, "D", result, diag));
    check(cute_plan_start(runner, NULL, diag));
    check(cute_device_download(device, d, result, sizeof d, diag));

    int wrong = 0;
    for (int i = 0; i < M * N; i++) {
        int sum = 0;
        for (int k = 0; k < K; k++) sum += element(i / N, k) * element(i % N + 1, k);
        wrong += d[i] != (float)sum;
    }
    printf("%s: %d of %d elements are right\n", cute_device_get_info(device)->kind, M * N - wrong, M * N);
    cute_plan_close(runner);
    cute_device_close(device);
    cute_module_close(module);
    cute_diag_destroy(diag);
    free(cubin);
    return wrong != 0;
}
