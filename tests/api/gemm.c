/* Products through cute/gemm.h, compiled in the process or by the programs: what is computed, what is refused, and that a
 * plan runs again and again with other operands, on a stream. gemm [programs]: by the programs in PATH. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cute/emulator.h>
#include <cute/gemm.h>
#include <cute/gemm_compiler.h>

static cute_diag *diag;
static int failures;

#define CHECK(condition)                                                                                     \
    (void)((condition) || (failures++, fprintf(stderr, "line %d: %s\n", __LINE__, #condition)))

static bool said(const char *text)
{
    char *all = cute_diag_render(diag, CUTE_DIAG_TEXT, false);
    bool found = all && strstr(all, text);
    if (!found) fprintf(stderr, "expected '%s' in: %s\n", text, all ? all : "");
    free(all);
    cute_diag_clear(diag);
    return found;
}

static float *host(cute_device *device, size_t count, cute_address *out)
{
    float *data = aligned_alloc(256, (count * sizeof *data + 255) / 256 * 256);
    for (size_t i = 0; i < count; i++) data[i] = (float)((int)(i * 37 % 17) - 8);
    CHECK(cute_emulator_register(device, data, count * sizeof *data, diag) == CUTE_OK);
    *out = (cute_address)(uintptr_t)data;
    return data;
}

/* D = relu(alpha A B - C + bias) in f32, which has no rounding here; D by columns. */
static void check(const cute_gemm_problem *p, const float *a, const float *b, const float *c,
                  const float *bias, const float *d)
{
    int bad = 0;
    for (int64_t l = 0; l < p->batch; l++)
        for (int64_t i = 0; i < p->m; i++)
            for (int64_t j = 0; j < p->n; j++) {
                float sum = 0;
                for (int64_t k = 0; k < p->k; k++)
                    sum += a[l * p->m * p->k + i * p->k + k] *
                           b[l * p->k * p->n + (p->order_b == CUTE_GEMM_ROWS ? k * p->n + j : j * p->k + k)];
                int64_t at = l * p->m * p->n + j * p->m + i;
                float want = fmaxf((float)p->alpha * sum - c[at] + bias[j], 0);
                bad += d[at] != want;
            }
    CHECK(bad == 0);
}

static void test_run(cute_device *device, const cute_gemm_compiler *compiler)
{
    cute_gemm_problem p[2] = {CUTE_GEMM_PROBLEM, CUTE_GEMM_PROBLEM};
    cute_gemm_options options = {.size = sizeof options, .device = device, .compiler = compiler, .cache = ""};
    cute_gemm_operands operands[2];
    float *a[2], *b[2], *c[2], *bias[2], *d[2];
    cute_gemm *gemm = NULL;
    cute_stream *stream = NULL;
    for (int i = 0; i < 2; i++) {
        p[i].m = 37 - 20 * i;
        p[i].n = 29 + 7 * i;
        p[i].k = 19;
        p[i].type_a = "f32";
        p[i].order_d = CUTE_GEMM_COLUMNS;
        p[i].batch = 2 - i;
        p[i].alpha = 1 + i;
        p[i].beta = -1;
        p[i].bias = true;
        p[i].activation = CUTE_GEMM_RELU;
        operands[i] = (cute_gemm_operands){.size = sizeof operands[i]};
        a[i] = host(device, (size_t)(p[i].m * p[i].k * p[i].batch), &operands[i].a);
        b[i] = host(device, (size_t)(p[i].k * p[i].n * p[i].batch), &operands[i].b);
        c[i] = host(device, (size_t)(p[i].m * p[i].n * p[i].batch), &operands[i].c);
        d[i] = host(device, (size_t)(p[i].m * p[i].n * p[i].batch), &operands[i].d);
        bias[i] = host(device, (size_t)p[i].n, &operands[i].bias);
    }
    CHECK(cute_gemm_create(p, 2, &options, &gemm, diag) == CUTE_OK);
    if (!gemm) {
        said("");
        exit(1);
    }
    size_t size = cute_gemm_workspace(gemm);
    CHECK(size > 0);
    CHECK(cute_gemm_run(gemm, operands, diag) == CUTE_USAGE && said("expected a workspace of"));
    CHECK(cute_device_alloc(device, size, &operands[0].workspace, diag) == CUTE_OK);
    CHECK(cute_stream_create(device, &stream, diag) == CUTE_OK);
    operands[0].stream = stream;
    for (int round = 0; round < 2; round++) {
        CHECK(cute_gemm_run(gemm, operands, diag) == CUTE_OK);
        CHECK(cute_stream_sync(stream, diag) == CUTE_OK);
        for (int i = 0; i < 2; i++) check(&p[i], a[i], b[i], c[i], bias[i], d[i]);
        for (int64_t i = 0; i < p[0].m * p[0].k; i++) a[0][i] = -a[0][i]; /* and other data */
    }
    cute_address there = operands[1].b;
    operands[1].b = 0;
    CHECK(cute_gemm_run(gemm, operands, diag) == CUTE_USAGE &&
          said("product 1: expected an address of B, got none"));
    operands[1].b = there + 4;
    CHECK(cute_gemm_run(gemm, operands, diag) == CUTE_USAGE &&
          said("B is misaligned: expected a multiple of 16"));
    operands[1].b = there;
    operands[0].workspace += 16;
    CHECK(cute_gemm_run(gemm, operands, diag) == CUTE_USAGE &&
          said("workspace is misaligned: expected a multiple of 256"));
    cute_gemm_choice choice = {.size = sizeof choice};
    CHECK(cute_gemm_chosen(gemm, 1, &choice, diag) == CUTE_OK && strcmp(choice.kernel, "product") == 0 &&
          choice.fused && !choice.epilogue && choice.tile[0] > 0);
    CHECK(cute_gemm_chosen(gemm, 2, &choice, diag) == CUTE_USAGE &&
          said("expected a product below 2, got 2"));
    cute_stream_destroy(stream);
    cute_gemm_destroy(gemm);
}

/* Small integers are exact. */
static cute_gemm_problem on_tensor_cores(int64_t k)
{
    cute_gemm_problem p = CUTE_GEMM_PROBLEM;
    p.m = 140;
    p.n = 36;
    p.k = k;
    p.type_a = "tf32";
    p.order_b = p.order_d = CUTE_GEMM_COLUMNS;
    p.alpha = 2;
    p.beta = -1;
    p.bias = true;
    p.activation = CUTE_GEMM_RELU;
    return p;
}

/* Kernels that make D themselves: no workspace, D may be C, and a bias lies at any element. */
static void test_fused(cute_device *device, const cute_gemm_compiler *compiler)
{
    static const char *const configurations[] = {"sm90:128x128:6:1x1:0", "split:64x32:128:8:2x1:2"};
    for (int i = 0; i < 2; i++) {
        cute_gemm_problem p = on_tensor_cores(40);
        cute_gemm_options options = {.size = sizeof options,
                                     .device = device,
                                     .compiler = compiler,
                                     .cache = "",
                                     .multiprocessors = 3,
                                     .configuration = configurations[i]};
        cute_gemm_operands o = {.size = sizeof o};
        cute_gemm_choice choice = {.size = sizeof choice};
        cute_gemm *gemm = NULL;
        size_t size = (size_t)(p.m * p.n);
        float *a = host(device, (size_t)(p.m * p.k), &o.a), *b = host(device, (size_t)(p.k * p.n), &o.b),
              *d = host(device, size, &o.d), *bias = host(device, (size_t)p.n + 1, &o.bias);
        float *before = malloc(size * sizeof *before);
        o.c = o.d;
        o.bias += sizeof *bias;
        CHECK(cute_gemm_create(&p, 1, &options, &gemm, diag) == CUTE_OK && cute_gemm_workspace(gemm) == 0);
        CHECK(cute_gemm_chosen(gemm, 0, &choice, diag) == CUTE_OK && choice.fused && !choice.epilogue &&
              choice.split == i + 1);
        for (int round = 0; round < 2; round++) {
            memcpy(before, d, size * sizeof *before);
            CHECK(cute_gemm_run(gemm, &o, diag) == CUTE_OK && cute_device_sync(device, diag) == CUTE_OK);
            check(&p, a, b, before, bias + 1, d);
        }
        cute_gemm_destroy(gemm);
        free(before);
    }
}

/* Tiles that clusters share out by k: sums and flags are in a workspace, which holds anything before. */
static void test_shared(cute_device *device, const cute_gemm_compiler *compiler)
{
    static const char *const configurations[] = {"sm90:128x256:4:2x1:0:tail", "sm90:128x256:4:2x1:0:k"};
    for (int i = 0; i < 2; i++) {
        cute_gemm_problem p = on_tensor_cores(520);
        cute_gemm_options options = {.size = sizeof options,
                                     .device = device,
                                     .compiler = compiler,
                                     .cache = "",
                                     .multiprocessors = 6,
                                     .configuration = configurations[i]};
        cute_gemm_operands o = {.size = sizeof o};
        cute_gemm *gemm = NULL;
        size_t size = (size_t)(p.m * p.n);
        float *a = host(device, (size_t)(p.m * p.k), &o.a), *b = host(device, (size_t)(p.k * p.n), &o.b),
              *c = host(device, size, &o.c), *d = host(device, size, &o.d),
              *bias = host(device, (size_t)p.n, &o.bias);
        CHECK(cute_gemm_create(&p, 1, &options, &gemm, diag) == CUTE_OK);
        size_t bytes = cute_gemm_workspace(gemm);
        float *workspace = host(device, bytes / sizeof(float), &o.workspace);
        CHECK(bytes >= 6 * 128 * 256 * sizeof(float));
        for (int round = 0; round < 2; round++) {
            memset(workspace, 0xff, bytes);
            CHECK(cute_gemm_run(gemm, &o, diag) == CUTE_OK && cute_device_sync(device, diag) == CUTE_OK);
            check(&p, a, b, c, bias, d);
        }
        /* Where nothing is shared no sum is there. */
        bool used = false;
        for (size_t at = 0; at < 3 * 64 * 256; at++) used = used || !isnan(workspace[at]);
        CHECK(used);
        cute_gemm_destroy(gemm);
    }
}

static void test_refusals(const cute_gemm_compiler *compiler)
{
    cute_gemm_problem p[2] = {CUTE_GEMM_PROBLEM, CUTE_GEMM_PROBLEM};
    cute_gemm_options options = {.size = sizeof options, .compiler = compiler, .cache = ""};
    cute_gemm_operands operands = {.size = sizeof operands};
    cute_gemm *gemm = NULL;
    int64_t tile[3];
    p[0].m = p[0].n = p[0].k = p[1].m = p[1].n = p[1].k = 64;
    CHECK(cute_gemm_create(p, 1, &options, &gemm, diag) == CUTE_USAGE && !gemm && said("the type of A"));
    p[0].type_a = "bf16";
    p[1].type_a = "f16";
    CHECK(cute_gemm_create(p, 2, &options, &gemm, diag) == CUTE_USAGE && said("product 1 of the group"));
    p[0].ld_a = 63;
    CHECK(cute_gemm_create(p, 1, &options, &gemm, diag) == CUTE_USAGE && said("at least 64, got 63"));
    p[0].ld_a = 0;
    p[0].batch = 2;
    p[0].stride_d = 100;
    CHECK(cute_gemm_create(p, 1, &options, &gemm, diag) == CUTE_USAGE &&
          said("a batch stride of D of at least 4096 elements, got 100"));
    p[0].stride_d = 0;
    p[0].type_b = "f16";
    CHECK(cute_gemm_create(p, 1, &options, &gemm, diag) == CUTE_USAGE && said("expected B of the type of A"));
    p[0].type_b = NULL;
    options.arch = "sm_75";
    CHECK(cute_gemm_create(p, 1, &options, &gemm, diag) == CUTE_INVALID && said("no kernel multiplies"));
    options.arch = "sm_12";
    CHECK(cute_gemm_create(p, 1, &options, &gemm, diag) == CUTE_USAGE && said("unknown architecture"));
    options.arch = "sm_90a";
    CHECK(cute_gemm_create(p, 0, &options, &gemm, diag) == CUTE_USAGE && said("expected at least 1 product"));
    p[0].size = sizeof(size_t) - 1;
    CHECK(cute_gemm_create(p, 1, &options, &gemm, diag) == CUTE_USAGE && said("cute_gemm_problem.size"));
    p[0].size = sizeof p[0];
    CHECK(cute_gemm_create(p, 1, &options, &gemm, diag) == CUTE_OK &&
          gemm); /* ahead, for a device elsewhere */
    CHECK(cute_gemm_run(gemm, &operands, diag) == CUTE_USAGE && said("made without a device"));
    cute_gemm_destroy(gemm);
    CHECK(cute_gemm_tune(p, &options, NULL, NULL, diag) == CUTE_USAGE &&
          said("expected a device to measure on"));
    CHECK(cute_gemm_optimal_tile(8192, 8192, 8192, "sm_90a", tile, diag) == CUTE_OK &&
          tile[0] * tile[1] >= 128 * 128 && tile[2] > 0);
    CHECK(cute_gemm_optimal_tile(16, 16, 4096, NULL, tile, diag) == CUTE_OK && tile[0] * tile[1] <= 64 * 64);
    CHECK(cute_gemm_optimal_tile(8192, 8192, 8192, "sm_80", tile, diag) == CUTE_OK && tile[2] == 64);
    CHECK(cute_gemm_optimal_tile(0, 16, 16, NULL, tile, diag) == CUTE_USAGE && said("m, n and k from 1"));
}

/* Small whole numbers, so that sums are exact. */
static void fill(float *data, size_t count, int step)
{
    for (size_t i = 0; i < count; i++) data[i] = (float)((int)(i * (size_t)step % 11) - 5);
}

/* An expression with an operand, a scalar, two matrices and a sum along rows, on arrays of the host. */
/* `p`: a product of fewer elements. */
static void test_batched_expression(const cute_gemm_options *options, cute_gemm_problem p)
{
    enum { L = 3, M = 5, N = 8, K = 16 };
    static float a[L * M * K], b[L * K * N], bias[L * N], row[M], d[L * M * N], total[L];
    cute_gemm *gemm = NULL;
    p.m = M, p.n = N, p.k = K, p.batch = L;
    p.epilogue = "D = scale * acc + bias[l,j] * row[i]; total[l] = sum(D)";
    CHECK(cute_gemm_create(&p, 1, options, &gemm, diag) == CUTE_OK);
    fill(a, L * M * K, 7);
    fill(b, L * K * N, 5);
    fill(bias, L * N, 3);
    fill(row, M, 3);
    cute_gemm_array arrays[] = {{"A", a, sizeof a},       {"B", b, sizeof b}, {"bias", bias, sizeof bias},
                                {"row", row, sizeof row}, {"D", d, sizeof d}, {"total", total, sizeof total}};
    cute_gemm_array_info info = {.size = sizeof info};
    CHECK(cute_gemm_array_at(gemm, 1, &info, diag) == CUTE_OK);
    CHECK(info.rank == 3 && info.shape[0] == L && info.shape[1] == K && info.shape[2] == N);
    CHECK(info.strides[0] == K * N && info.strides[1] == N && info.strides[2] == 1);
    CHECK(cute_gemm_run_host(gemm, arrays, 6, diag) == CUTE_OK);
    int bad = 0;
    for (int l = 0; l < L; l++) {
        float all = 0;
        for (int i = 0; i < M * N; i++) {
            float sum = 0;
            for (int k = 0; k < K; k++) sum += a[l * M * K + i / N * K + k] * b[l * K * N + k * N + i % N];
            float want = 0.5f * sum + bias[l * N + i % N] * row[i / N];
            all += want;
            bad += d[l * M * N + i] != want;
        }
        bad += total[l] != all;
    }
    CHECK(bad == 0);
    cute_gemm_destroy(gemm);
    p.stride_d = 2 * M * N;
    CHECK(cute_gemm_create(&p, 1, options, &gemm, diag) == CUTE_USAGE);
    CHECK(said("an epilogue expression and a distance between the D of a batch are mutually exclusive"));
}

static void test_expression(cute_device *device, const cute_gemm_compiler *compiler)
{
    enum { M = 21, N = 24, K = 16 };
    static float a[M * K], b[K * N], bias[N], d[M * N], z[M * N], total[N];
    cute_gemm_value scale = {"scale", 0.5};
    cute_gemm_problem p = CUTE_GEMM_PROBLEM;
    p.m = M;
    p.n = N;
    p.k = K;
    p.type_a = "f32";
    p.epilogue = "z = scale * acc + bias[j]; D = relu(z); aux Z = z; total[j] = sum(z, 0)";
    p.values = &scale;
    p.value_count = 1;
    cute_gemm_options options = {.size = sizeof options, .device = device, .compiler = compiler, .cache = ""};
    cute_gemm *gemm = NULL;
    CHECK(cute_gemm_create(&p, 1, &options, &gemm, diag) == CUTE_OK);
    fill(a, M * K, 7);
    fill(b, K * N, 5);
    fill(bias, N, 3);
    cute_gemm_array arrays[] = {{"A", a, sizeof a}, {"B", b, sizeof b}, {"bias", bias, sizeof bias},
                                {"D", d, sizeof d}, {"Z", z, sizeof z}, {"total", total, sizeof total}};
    CHECK(cute_gemm_run_host(gemm, arrays, 6, diag) == CUTE_OK);
    int bad = 0;
    for (int j = 0; j < N; j++) {
        float all = 0;
        for (int i = 0; i < M; i++) {
            float sum = 0;
            for (int k = 0; k < K; k++) sum += a[i * K + k] * b[k * N + j];
            float want = 0.5f * sum + bias[j];
            all += want;
            bad += z[i * N + j] != want || d[i * N + j] != fmaxf(want, 0);
        }
        bad += total[j] != all;
    }
    CHECK(bad == 0);
    cute_gemm_array_info info = {.size = sizeof info};
    for (size_t i = 0; i < 6; i++) {
        CHECK(cute_gemm_array_at(gemm, i, &info, diag) == CUTE_OK);
        CHECK(strcmp(info.name, arrays[i].name) == 0 && strcmp(info.type, "f32") == 0);
        CHECK(info.bytes == arrays[i].bytes && info.result == (i > 2));
        CHECK(info.rank == (i == 2 || i == 5 ? 1 : 2) && info.strides[info.rank - 1] == 1);
    }
    CHECK(info.shape[0] == N);
    CHECK(cute_gemm_array_at(gemm, 6, &info, diag) == CUTE_USAGE);
    CHECK(said("the product has 6 arrays, none of index 6"));
    CHECK(cute_gemm_run_host(gemm, arrays, 5, diag) == CUTE_USAGE);
    CHECK(said("expected an array 'total', got none"));
    arrays[0].bytes--;
    CHECK(cute_gemm_run_host(gemm, arrays, 6, diag) == CUTE_USAGE);
    CHECK(said("bytes of 'A'"));
    cute_gemm_destroy(gemm);
    test_batched_expression(&options, p);
    p.epilogue = "D = reluu(acc)";
    CHECK(cute_gemm_create(&p, 1, &options, &gemm, diag) == CUTE_INVALID);
    CHECK(said("<epilogue>:1:5: error: unknown function 'reluu'; did you mean 'relu'?"));
}

static const char own_source[] =
    "!T = !cute.memref<f32, gmem, \"(?,?):(?{i64},?{i64})\">\n"
    "gpu.module @kernels {\n"
    "  gpu.func @twice(%A: !T, %B: !T, %D: !T) kernel {\n"
    "    %i, %j = cute.tile.program<[16, 16]> %D\n"
    "    %steps = cute.tile.count<1, 16> %A\n"
    "    %c0 = arith.constant 0 : i32\n"
    "    %c1 = arith.constant 1 : i32\n"
    "    %zero = arith.constant dense<0.0> : tensor<16x16xf32>\n"
    "    %sum = scf.for %k = %c0 to %steps step %c1 iter_args(%acc = %zero) -> (tensor<16x16xf32>) : i32 {\n"
    "      %a = cute.tile.load<[16, 16]> %A[%i, %k]\n"
    "      %b = cute.tile.load<[16, 16]> %B[%j, %k]\n"
    "      %d = cute.tile.gemm %a, %b, %acc\n"
    "      scf.yield %d : tensor<16x16xf32>\n"
    "    }\n"
    "    %both = cute.tile.add %sum, %sum\n"
    "    cute.tile.store %both, %D[%i, %j]\n"
    "    gpu.return\n"
    "  }\n"
    "}\n";

/* A product of the caller: as source, then as the module that was compiled from it. */
static void test_own(cute_device *device, const cute_gemm_compiler *compiler)
{
    enum { M = 20, N = 17, K = 9 };
    static float a[M * K], b[K * N], d[M * N];
    cute_gemm_problem p = CUTE_GEMM_PROBLEM;
    p.m = M;
    p.n = N;
    p.k = K;
    p.type_a = "f32";
    cute_gemm_options options = {.size = sizeof options, .device = device, .compiler = compiler, .cache = ""};
    cute_gemm_array arrays[] = {{"A", a, sizeof a}, {"B", b, sizeof b}, {"D", d, sizeof d}};
    cute_module *module = NULL;
    fill(a, M * K, 7);
    fill(b, K * N, 5);
    for (int compiled = 0; compiled < 2; compiled++) {
        cute_gemm *gemm = NULL;
        options.source = compiled ? NULL : own_source;
        options.source_length = sizeof own_source - 1;
        options.module = module;
        CHECK(cute_gemm_create(&p, 1, &options, &gemm, diag) == CUTE_OK);
        memset(d, 0, sizeof d);
        CHECK(cute_gemm_run_host(gemm, arrays, 3, diag) == CUTE_OK);
        int bad = 0;
        for (int i = 0; i < M; i++)
            for (int j = 0; j < N; j++) {
                float sum = 0;
                for (int k = 0; k < K; k++) sum += a[i * K + k] * b[k * N + j];
                bad += d[i * N + j] != 2 * sum;
            }
        CHECK(bad == 0);
        cute_gemm_destroy(gemm);
        if (compiled || !compiler) break;
        char *ptx = NULL;
        size_t length = 0;
        CHECK(compiler->to_ptx(compiler->context, "own", own_source, sizeof own_source - 1, NULL, 0, "sm_90a",
                               &ptx, &length, diag) == CUTE_OK);
        CHECK(cute_module_open("own", ptx, length, NULL, &module, diag) == CUTE_OK);
        free(ptx);
    }
    cute_gemm *gemm = NULL;
    options.source = own_source;
    options.module = NULL;
    options.function = "thrice";
    CHECK(cute_gemm_create(&p, 1, &options, &gemm, diag) == CUTE_INVALID);
    CHECK(said("thrice"));
    options.function = NULL;
    p.activation = CUTE_GEMM_RELU;
    CHECK(cute_gemm_create(&p, 1, &options, &gemm, diag) == CUTE_USAGE);
    CHECK(said("has its own epilogue"));
    cute_module_close(module);
}

int main(int argc, char **argv)
{
    const cute_gemm_compiler *compiler =
        argc > 1 && strcmp(argv[1], "programs") == 0 ? NULL : cute_compiler_gemm();
    cute_device *device = NULL;
    diag = cute_diag_create();
    CHECK(cute_device_open("emulator", &device, diag) == CUTE_OK);
    test_run(device, compiler);
    test_fused(device, compiler);
    test_shared(device, compiler);
    test_refusals(compiler);
    test_expression(device, compiler);
    test_own(device, compiler);
    cute_device_close(device);
    cute_diag_destroy(diag);
    return failures != 0;
}
