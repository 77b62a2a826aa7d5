/* Products by cuBLASLt: every order of the matrices, batches and epilogues come to the library as it wants them. The
 * driver and the library are stand-ins that compute on the host (tests/data). */
#include <stdlib.h>
#include <unistd.h>

#include "lib/base/system/file.h"
#include "lib/device/cublas.h"
#include "lib/device/device.h"
#include "tests/unit/test.h"

enum { M = 3, N = 5, K = 4, GAP = 2, BATCH = 2, ROOM = 256 };

typedef struct rig {
    cute_device *device;
    cute_diag *diag;
    cute_arena *arena;
} rig;

static bool open_rig(rig *r)
{
    *r = (rig){.diag = cute_diag_create(), .arena = cute_arena_create()};
    const char *folder = cute_program_directory(r->arena);
    setenv("CUTE_LIBCUDA", cute_arena_printf(r->arena, "%s/libfakecuda.so", folder), 1);
    setenv("CUTE_LIBCUBLASLT", cute_arena_printf(r->arena, "%s/libfakecublas.so", folder), 1);
    unsetenv("FAKECUBLAS");
    return CHECK(cute_device_open("cuda:0", &r->device, r->diag) == CUTE_OK);
}

static void close_rig(rig *r)
{
    cute_device_close(r->device);
    cute_diag_destroy(r->diag);
    cute_arena_destroy(r->arena);
}

static float *place(rig *r, cublas_matrix *m, bool by_rows, int64_t rows, int64_t columns, int seed)
{
    cute_address address = 0;
    CHECK(cute_device_alloc(r->device, ROOM * sizeof(float), &address, r->diag) == CUTE_OK);
    float *data = (float *)(uintptr_t)address;
    for (int i = 0; i < ROOM; i++) data[i] = (float)((i * 7 + seed) % 11 - 5);
    int64_t ld = (by_rows ? columns : rows) + GAP;
    *m = (cublas_matrix){address, by_rows, ld, ld * (by_rows ? rows : columns) + 1};
    return data;
}

static float at(const cublas_matrix *m, const float *data, int64_t item, int64_t row, int64_t column)
{
    return data[item * m->stride + (m->by_rows ? row * m->ld + column : column * m->ld + row)];
}

static void run_one(rig *r, int orders, int batch, bool bias, bool beta, cublas_activation act)
{
    cublas_product p = {.type = "f32",
                        .type_d = "f32",
                        .m = M,
                        .n = N,
                        .k = K,
                        .batch = batch,
                        .alpha = 2,
                        .beta = beta ? 3 : 0,
                        .activation = act};
    cute_cublas *cublas = NULL;
    bool d_rows = orders & 4;
    const float *a = place(r, &p.a, orders & 1, M, K, 1), *b = place(r, &p.b, orders & 2, K, N, 2);
    const float *c = place(r, &p.c, d_rows, M, N, 3), *d = place(r, &p.d, d_rows, M, N, 4);
    cublas_matrix line;
    const float *added = place(r, &line, true, 1, N, 5);
    if (bias) p.bias = line.address;
    cute_status status = cute_cublas_open(r->device, &p, &cublas, r->diag);
    if (bias && !d_rows) { /* there is none along rows of a transpose */
        CHECK(status == CUTE_INVALID);
    } else if (CHECK(status == CUTE_OK) && CHECK(cute_cublas_start(cublas, r->diag) == CUTE_OK)) {
        for (int i = 0; i < batch; i++)
            for (int row = 0; row < M; row++)
                for (int column = 0; column < N; column++) {
                    float want = 0;
                    for (int k = 0; k < K; k++) want += at(&p.a, a, i, row, k) * at(&p.b, b, i, k, column);
                    want =
                        2 * want + (beta ? 3 * at(&p.c, c, i, row, column) : 0) + (bias ? added[column] : 0);
                    if (act == CUBLAS_RELU && want < 0) want = 0;
                    CHECK(at(&p.d, d, i, row, column) == want);
                }
    }
    cute_cublas_close(cublas);
    cute_address const all[] = {p.a.address, p.b.address, p.c.address, p.d.address, line.address};
    for (int i = 0; i < 5; i++) cute_device_free(r->device, all[i], r->diag);
}

static void test_orders(void)
{
    rig r;
    if (!open_rig(&r)) return;
    for (int orders = 0; orders < 8; orders++) {
        run_one(&r, orders, 1, false, false, CUBLAS_LINEAR);
        run_one(&r, orders, BATCH, false, true, CUBLAS_LINEAR);
        run_one(&r, orders, BATCH, true, true, CUBLAS_RELU);
    }
    close_rig(&r);
}

static void test_refusals(void)
{
    rig r;
    if (!open_rig(&r)) return;
    cublas_product p = {.type = "f32", .type_d = "f32", .m = M, .n = N, .k = K, .batch = 1, .alpha = 1};
    cute_cublas *cublas = NULL;
    place(&r, &p.a, true, M, K, 1);
    place(&r, &p.b, true, K, N, 2);
    place(&r, &p.d, true, M, N, 3);
    p.c = p.d;
    p.type = "f64";
    CHECK(cute_cublas_open(r.device, &p, &cublas, r.diag) == CUTE_INVALID && !cublas);
    p.type = "i8";
    CHECK(cute_cublas_open(r.device, &p, &cublas, r.diag) == CUTE_INVALID && !cublas);
    p.type = "f32";
    p.fast = true;
    CHECK(cute_cublas_open(r.device, &p, &cublas, r.diag) == CUTE_OK);
    cute_cublas_close(cublas);
    setenv("FAKECUBLAS", "exact", 1);
    CHECK(cute_cublas_open(r.device, &p, &cublas, r.diag) == CUTE_INVALID && !cublas);
    p.fast = false;
    CHECK(cute_cublas_open(r.device, &p, &cublas, r.diag) == CUTE_OK);
    cute_cublas_close(cublas);
    cublas = NULL;
    setenv("FAKECUBLAS", "none", 1);
    CHECK(cute_cublas_open(r.device, &p, &cublas, r.diag) == CUTE_INVALID && !cublas);
    unsetenv("FAKECUBLAS");
    setenv("CUTE_LIBCUBLASLT", "/nowhere/libcublasLt.so", 1);
    CHECK(cute_cublas_open(r.device, &p, &cublas, r.diag) == CUTE_SYSTEM && !cublas);
    cute_device *emulator = NULL;
    CHECK(cute_device_open("emulator", &emulator, r.diag) == CUTE_OK);
    CHECK(cute_cublas_open(emulator, &p, &cublas, r.diag) == CUTE_USAGE && !cublas);
    cute_device_close(emulator);
    close_rig(&r);
}

int main(void)
{
    TEST("each order of the matrices, batches and epilogues are told to cuBLASLt", test_orders);
    TEST("what cuBLASLt does not do is an error", test_refusals);
    return test_finish();
}
