/* The builder of cute/build.h: what it prints, what it refuses and where, and that it compiles to the code of the same text. */
#include <cute/build.h>
#include <pthread.h>

#include "tests/unit/test.h"

static cute_diag *diag;

/* The line after the call that marks it. */
static int marked;
#define MARK       (marked = __LINE__ + 1)
#define K          CUTE_AT(ir)
#define VECTOR     "!cute.memref<f32, gmem, \"?:1\">"
#define END_KERNEL cute_ir_end(K, CUTE_NO_VALUES, NULL)

static cute_ir *new_ir(void)
{
    cute_ir *ir = NULL;
    CHECK_INT(cute_ir_create(&ir, diag), CUTE_OK);
    return ir;
}

static const char *printed(cute_ir *ir)
{
    const char *text = NULL;
    if (cute_ir_print(ir, false, &text, NULL, diag) != CUTE_OK)
        printf("# %s\n", cute_diag_render(diag, CUTE_DIAG_TEXT, false));
    return text ? text : "";
}

/* The module is refused with this text at the marked line of this file. */
static void refused(cute_ir *ir, const char *text)
{
    cute_diag_clear(diag);
    CHECK_INT(cute_ir_check(ir, diag), CUTE_INVALID);
    const cute_message *message = cute_diag_count(diag) ? cute_diag_get(diag, 0) : NULL;
    CHECK_TEXT(message ? message->text : NULL, text);
    CHECK(message && message->place.file && strstr(message->place.file, "test_build.c"));
    CHECK_INT(message ? message->place.line : 0, marked);
    cute_compiled *compiled = (cute_compiled *)diag;
    CHECK_INT(cute_ir_compile(ir, NULL, &compiled, NULL), CUTE_INVALID);
    CHECK(!compiled);
    cute_ir_destroy(ir);
}

/* A note of the latest refusal begins so. */
static bool noted(const char *text)
{
    for (size_t i = 1; i < cute_diag_count(diag); i++)
        if (!strncmp(cute_diag_get(diag, i)->text, text, strlen(text))) return true;
    return false;
}

/* PTX without comments, to be freed. */
static char *without_comments(const char *ptx)
{
    char *out = calloc(1, strlen(ptx) + 1), *to = out;
    while (*ptx) {
        size_t length = strcspn(ptx, "\n");
        if (strncmp(ptx, "//", 2) != 0) memcpy(to, ptx, length), to += length, *to++ = '\n';
        ptx += length + (ptx[length] == '\n');
    }
    return out;
}

static char *ptx_of(const cute_compiled *compiled)
{
    return compiled ? without_comments(cute_compiled_text(compiled, 0, NULL)) : calloc(1, 1);
}

/* Built and written kernels have the same PTX. */
static void same_code(cute_ir *ir, const char *text, const char *arch)
{
    cute_compiler *compiler = NULL;
    cute_compiled *built = NULL, *written = NULL;
    CHECK_INT(cute_compiler_create(&compiler, diag), CUTE_OK);
    CHECK_INT(cute_compiler_set(compiler, "arch", arch, diag), CUTE_OK);
    if (cute_ir_compile(ir, compiler, &built, diag) != CUTE_OK ||
        cute_compiler_run(compiler, "written.mlir", text, strlen(text), &written, diag) != CUTE_OK)
        printf("# %s\n", cute_diag_render(diag, CUTE_DIAG_TEXT, false));
    char *left = ptx_of(built), *right = ptx_of(written);
    CHECK(*left);
    CHECK_TEXT(left, right);
    free(left);
    free(right);
    cute_compiled_destroy(built);
    cute_compiled_destroy(written);
    cute_compiler_destroy(compiler);
}

/* ---- what is built ---- */

static void test_prints(void)
{
    cute_ir *ir = new_ir();
    cute_ir_kernel(K, "twice");
    cute_ir_value x = cute_ir_argument(K, "x", VECTOR);
    cute_ir_value i = cute_ir_thread(K, CUTE_IR_X);
    cute_ir_value v = cute_ir_load(K, x, CUTE_VALUES(i));
    cute_ir_store(K, cute_ir_mul(K, v, CUTE_NUMBER(2)), x, CUTE_VALUES(i));
    END_KERNEL;
    CHECK_TEXT(printed(ir),
               "module {\n"
               "  gpu.module @kernels {\n"
               "    gpu.func @twice(%arg0: !cute.memref<f32, gmem, \"?:1\"> {cute.name = \"x\"}) "
               "kernel {\n"
               "      %thread_id_x = gpu.thread_id  x\n"
               "      %0 = arith.index_cast %thread_id_x : index to i32\n"
               "      %1 = cute.make_coord(%0) : (i32) -> !cute.coord<\"?\">\n"
               "      %2 = cute.memref.load(%arg0, %1) : (!cute.memref<f32, gmem, \"?:1\">, "
               "!cute.coord<\"?\">) -> f32\n"
               "      %cst = arith.constant 2.000000e+00 : f32\n"
               "      %3 = arith.mulf %2, %cst : f32\n"
               "      %4 = cute.make_coord(%0) : (i32) -> !cute.coord<\"?\">\n"
               "      cute.memref.store(%arg0, %4, %3) : (!cute.memref<f32, gmem, \"?:1\">, "
               "!cute.coord<\"?\">, f32) -> ()\n"
               "      gpu.return\n"
               "    }\n"
               "  }\n"
               "}\n\n");
    cute_ir_destroy(ir);
}

/* The printed text compiles to what the module compiles to. */
static void test_round_trip(void)
{
    cute_ir *ir = new_ir();
    cute_ir_value carried, results[2];
    cute_ir_kernel(K, "all");
    cute_ir_value x = cute_ir_argument(K, "x", VECTOR);
    cute_ir_value n = cute_ir_argument(K, "n", CUTE_I32);
    cute_ir_value zero = cute_ir_constant(K, CUTE_NUMBER(0), CUTE_F32);
    cute_ir_value k = cute_ir_for(K, CUTE_NUMBER(0), n, CUTE_NUMBER(1), CUTE_VALUES(zero), &carried);
    cute_ir_value v = cute_ir_load(K, x, CUTE_VALUES(k));
    cute_ir_end(K, CUTE_VALUES(cute_ir_add(K, carried, v)), &carried);
    cute_ir_if(K, cute_ir_gt(K, n, CUTE_NUMBER(5)));
    cute_ir_else(K, CUTE_VALUES(carried));
    cute_ir_end(K, CUTE_VALUES(CUTE_REAL(0.5)), &carried);
    cute_ir_while(K, CUTE_VALUES(carried, n), results);
    cute_ir_value more = cute_ir_gt(K, results[1], CUTE_NUMBER(0));
    cute_ir_do(K, more, CUTE_VALUES(results[0], results[1]), results);
    cute_ir_value half = cute_ir_mul(K, results[0], CUTE_REAL(0.5));
    cute_ir_value less = cute_ir_sub(K, results[1], CUTE_NUMBER(1));
    cute_ir_end(K, CUTE_VALUES(half, less), results);
    cute_ir_store(K, results[0], x, CUTE_VALUES(CUTE_NUMBER(0)));
    END_KERNEL;
    char *text = strdup(printed(ir));
    same_code(ir, text, "sm_80");
    free(text);
    cute_ir_destroy(ir);
}

static void test_product(void)
{
    static const char text[] =
        "!A = !cute.memref<f16, gmem, align<16>, \"(?,?{div=8}):(?{i64 div=8},1)\">\n"
        "!D = !cute.memref<f32, gmem, align<16>, \"(?,?{div=4}):(?{i64 div=4},1)\">\n"
        "gpu.module @kernels {\n"
        "  gpu.func @product(%A: !A, %B: !A, %D: !D) kernel attributes {cute.schedule = \"stages=3\"} {\n"
        "    %i, %j = cute.tile.program<[128, 64]> %D\n"
        "    %steps = cute.tile.count<1, 64> %A\n"
        "    %c0 = arith.constant 0 : i32\n"
        "    %c1 = arith.constant 1 : i32\n"
        "    %zero = arith.constant dense<0.0> : tensor<128x64xf32>\n"
        "    %sum = scf.for %k = %c0 to %steps step %c1 iter_args(%acc = %zero) -> (tensor<128x64xf32>) : "
        "i32 {\n"
        "      %a = cute.tile.load<[128, 64]> %A[%i, %k]\n"
        "      %b = cute.tile.load<[64, 64]> %B[%j, %k]\n"
        "      %d = cute.tile.gemm %a, %b, %acc\n"
        "      scf.yield %d : tensor<128x64xf32>\n"
        "    }\n"
        "    %x = cute.tile.relu %sum\n"
        "    %y = cute.tile.mul %x, 0.5\n"
        "    cute.tile.store %y, %D[%i, %j]\n"
        "    gpu.return\n"
        "  }\n"
        "}\n";
    static const char *const archs[] = {"sm_80", "sm_90a"};
    for (size_t n = 0; n < 2; n++) {
        cute_ir *ir = new_ir();
        cute_ir_value at[2], sum;
        cute_ir_kernel(K, "product");
        cute_ir_attribute(K, "cute.schedule", "\"stages=3\"");
        cute_ir_value a = cute_ir_tensor(K, "A", CUTE_F16, 2, 16),
                      b = cute_ir_tensor(K, "B", CUTE_F16, 2, 16);
        cute_ir_value d = cute_ir_tensor(K, "D", CUTE_F32, 2, 16);
        cute_ir_tile_program(K, d, CUTE_EXTENTS(128, 64), at);
        cute_ir_value steps = cute_ir_tile_count(K, a, 1, 64);
        cute_ir_value zero = cute_ir_tile(K, CUTE_NUMBER(0), CUTE_F32, CUTE_EXTENTS(128, 64));
        cute_ir_value k = cute_ir_for(K, CUTE_NUMBER(0), steps, CUTE_NUMBER(1), CUTE_VALUES(zero), &sum);
        cute_ir_value x = cute_ir_tile_load(K, a, CUTE_EXTENTS(128, 64), CUTE_VALUES(at[0], k));
        cute_ir_value y = cute_ir_tile_load(K, b, CUTE_EXTENTS(64, 64), CUTE_VALUES(at[1], k));
        cute_ir_end(K, CUTE_VALUES(cute_ir_tile_gemm(K, x, y, sum)), &sum);
        sum = cute_ir_mul(K, cute_ir_relu(K, sum), CUTE_REAL(0.5));
        cute_ir_tile_store(K, sum, d, CUTE_VALUES(at[0], at[1]));
        END_KERNEL;
        same_code(ir, text, archs[n]);
        cute_ir_destroy(ir);
    }
}

/* Options of the compiler are those of cute-ptx. */
static void test_options(void)
{
    static const char *const schedules[] = {"stages=2", "naive"};
    for (size_t n = 0; n < 2; n++) {
        cute_ir *ir = new_ir();
        cute_ir_value at[2];
        cute_ir_kernel(K, "product");
        cute_ir_value a = cute_ir_tensor(K, "a", CUTE_F16, 2, 16),
                      d = cute_ir_tensor(K, "d", CUTE_F32, 2, 16);
        cute_ir_tile_program(K, d, CUTE_EXTENTS(16, 16), at);
        cute_ir_value x = cute_ir_tile_load(K, a, CUTE_EXTENTS(16, 16), CUTE_VALUES(at[0], CUTE_NUMBER(0)));
        cute_ir_value y = cute_ir_tile_load(K, a, CUTE_EXTENTS(16, 16), CUTE_VALUES(at[1], CUTE_NUMBER(0)));
        cute_ir_value zero = cute_ir_tile(K, CUTE_NUMBER(0), CUTE_F32, CUTE_EXTENTS(16, 16));
        cute_ir_tile_store(K, cute_ir_tile_gemm(K, x, y, zero), d, CUTE_VALUES(at[0], at[1]));
        END_KERNEL;
        cute_compiler *compiler = NULL;
        cute_compiled *compiled = NULL;
        CHECK_INT(cute_compiler_create(&compiler, diag), CUTE_OK);
        CHECK_INT(cute_compiler_set(compiler, "arch", "sm_80", diag), CUTE_OK);
        CHECK_INT(cute_compiler_set(compiler, "schedule", schedules[n], diag), CUTE_OK);
        CHECK_INT(cute_ir_compile(ir, compiler, &compiled, diag), CUTE_OK);
        const char *ptx = compiled ? cute_compiled_text(compiled, 0, NULL) : "";
        CHECK(strstr(ptx, ".target sm_80"));
        CHECK((strstr(ptx, "mma.sync") != NULL) == (n == 0));
        cute_compiled_destroy(compiled);
        cute_compiler_destroy(compiler);
        cute_ir_destroy(ir);
    }
}

static void test_threads(void)
{
    static const char text[] =
        "gpu.module @kernels {\n"
        "  gpu.func @sums(%x: memref<?xf32>, %out: !cute.memref<f32, gmem, \"?:1\">) kernel {\n"
        "    %t = gpu.thread_id x\n"
        "    %v = memref.load %x[%t] : memref<?xf32>\n"
        "    %i = arith.index_cast %t : index to i32\n"
        "    %s = cute.memref.alloca() : !cute.memref<f32, smem, align<16>, \"(4,32):(32,1)\">\n"
        "    cute.memref.store %s[0, %i], %v\n"
        "    gpu.barrier\n"
        "    %w = cute.memref.load %s[0, %i]\n"
        "    %r = cute_nvgpu.arch.warp_all_reduce<add> %w\n"
        "    cute.memref.store %out[%i], %r\n"
        "    gpu.return\n"
        "  }\n"
        "}\n";
    cute_ir *ir = new_ir();
    cute_ir_kernel(K, "sums");
    cute_ir_value x = cute_ir_argument(K, "x", "memref<?xf32>"), out = cute_ir_argument(K, "out", VECTOR);
    cute_ir_value t = cute_ir_thread(K, CUTE_IR_X);
    cute_ir_value v = cute_ir_load(K, x, CUTE_VALUES(t));
    cute_ir_value s = cute_ir_shared(K, CUTE_F32, CUTE_EXTENTS(4, 32));
    cute_ir_store(K, v, s, CUTE_VALUES(CUTE_NUMBER(0), t));
    cute_ir_barrier(K);
    v = cute_ir_load(K, s, CUTE_VALUES(CUTE_NUMBER(0), t));
    cute_ir_communicate(K, CUTE_IR_ALL_REDUCE, v, out, t);
    END_KERNEL;
    same_code(ir, text, "sm_80");
    cute_ir_destroy(ir);
}

/* Each function of build_ops.def is a kind of cute.tile.map, and its operation is that kind. */
static void test_every_kind(void)
{
    cute_ir *ir = new_ir();
    cute_ir_kernel(K, "k");
    cute_ir_value f = cute_ir_argument(K, "f", "tensor<4x8xf32>"),
                  i = cute_ir_argument(K, "i", "tensor<8xi32>");
    cute_ir_value c = cute_ir_argument(K, "c", "tensor<8xi1>");
    size_t count = 0;
    static const char *const integer_kinds[] = {"and",  "or",   "xor",  "shl", "shr", "ushr", "umin",
                                                "umax", "udiv", "urem", "ult", "ule", "ugt",  "uge"};
#define CUTE_IR_MAP1(name, description) count += cute_ir_##name(K, f).kind == CUTE_IR_RESULT;
#define CUTE_IR_MAP2(name, description)                                                                      \
    {                                                                                                        \
        bool integers = false;                                                                               \
        for (size_t n = 0; n < sizeof integer_kinds / sizeof *integer_kinds; n++)                            \
            integers |= !strcmp(integer_kinds[n], #name);                                                    \
        count += cute_ir_##name(K, integers ? i : f, CUTE_NUMBER(2)).kind == CUTE_IR_RESULT;                 \
    }
#define CUTE_IR_COMPARE(name, description) CUTE_IR_MAP2(name, description)
#include <cute/build_ops.def>
    count += cute_ir_fma(K, f, f, CUTE_NUMBER(1)).kind == CUTE_IR_RESULT;
    count += cute_ir_where(K, c, CUTE_NUMBER(1), f).kind == CUTE_IR_RESULT;
    END_KERNEL;
    const char *text = printed(ir);
    size_t maps = 0, rows = 0;
    for (const char *at = text; (at = strstr(at, "cute.tile.map<{kind = \"")); at++) maps++;
#define CUTE_IR_MAP1(name, description)    rows += strstr(text, "{kind = \"" #name "\"}") != NULL;
#define CUTE_IR_MAP2(name, description)    CUTE_IR_MAP1(name, description)
#define CUTE_IR_MAP3(name, description)    CUTE_IR_MAP1(name, description)
#define CUTE_IR_COMPARE(name, description) CUTE_IR_MAP1(name, description)
#include <cute/build_ops.def>
    CHECK_INT(count, maps);
    CHECK_INT(rows, maps);
    CHECK(maps > 40);
    cute_ir_destroy(ir);
}

static void test_any_operation(void)
{
    cute_ir *ir = new_ir();
    cute_ir_kernel(K, "k");
    cute_ir_value x = cute_ir_argument(K, "x", CUTE_F32), n = cute_ir_argument(K, "n", CUTE_I32);
    cute_ir_value inferred =
        cute_ir_op(K, "arith.negf", CUTE_VALUES(x), NULL, "{fastmath = #arith.fastmath<fast>}");
    CHECK_TEXT(cute_ir_type(ir, inferred), "f32");
    cute_ir_value pair = cute_ir_op(K, "arith.mulsi_extended", CUTE_VALUES(n, n), "i32, i32", NULL);
    CHECK_TEXT(cute_ir_type(ir, cute_ir_result(K, pair, 1)), "i32");
    cute_ir_value text =
        cute_ir_text(K, "%a = arith.mulf %0, %0 : f32\narith.truncf %a : f32 to f16", CUTE_VALUES(x));
    CHECK_TEXT(cute_ir_type(ir, text), "f16");
    cute_ir_define(K, "N", "3");
    cute_ir_value vector = cute_ir_text(K, "arith.constant dense<${N*2}> : vector<${N}xi32>", CUTE_NO_VALUES);
    CHECK_TEXT(cute_ir_type(ir, vector), "vector<3xi32>");
    CHECK_INT(cute_ir_text(K, "gpu.barrier", CUTE_NO_VALUES).kind, CUTE_IR_NOTHING);
    cute_ir_value loop = cute_ir_text(K,
                                      "%c0 = arith.constant 0 : i32\n%c1 = arith.constant 1 : i32\n"
                                      "scf.for %i = %c0 to %1 step %c1 iter_args(%a = %0) -> (f32) : i32 {\n"
                                      "  %b = arith.addf %a, %0 : f32\n  scf.yield %b : f32\n}",
                                      CUTE_VALUES(x, n));
    CHECK_TEXT(cute_ir_type(ir, loop), "f32");
    END_KERNEL;
    cute_ir_text(K, "func.func @host() { return }", CUTE_NO_VALUES);
    CHECK(strstr(printed(ir), "func.func @host()"));
    cute_ir_destroy(ir);
}

/* Functions of the device, constants, and a host function whose launches name a kernel that is built later. */
static void test_functions(void)
{
    cute_ir *ir = new_ir();
    cute_ir_text(K,
                 "gpu.module @kernels {\nfunc.func @square(%x: f32) -> f32 {\n%y = arith.mulf %x, %x : f32\n"
                 "return %y : f32\n}\n}",
                 CUTE_NO_VALUES);
    cute_ir_text(K,
                 "func.func @host(%x: memref<32xf32>) {\n%c = arith.constant 1 : index\n"
                 "gpu.launch_func @kernels::@k blocks in (%c, %c, %c) threads in (%c, %c, %c) args(%x : "
                 "memref<32xf32>)\n"
                 "return\n}",
                 CUTE_NO_VALUES);
    cute_ir_kernel(K, "k");
    cute_ir_value x = cute_ir_argument(K, "x", "memref<32xf32>"), i = cute_ir_thread(K, CUTE_IR_X);
    cute_ir_value v = cute_ir_load(K, x, CUTE_VALUES(i));
    v = cute_ir_op(K, "func.call", CUTE_VALUES(v), CUTE_F32, "{callee = @square}");
    cute_ir_value table =
        cute_ir_op(K, "memref.get_global", CUTE_NO_VALUES, "memref<2xf32, 4>", "{name = @table}");
    v = cute_ir_mul(K, v, cute_ir_load(K, table, CUTE_VALUES(CUTE_NUMBER(1))));
    cute_ir_store(K, v, x, CUTE_VALUES(i));
    END_KERNEL;
    cute_ir_text(
        K, "gpu.module @kernels {\nmemref.global constant @table : memref<2xf32, 4> = dense<[1.0, 2.0]>\n}",
        CUTE_NO_VALUES);
    cute_compiler *compiler = NULL;
    cute_compiled *compiled = NULL;
    CHECK_INT(cute_compiler_create(&compiler, diag), CUTE_OK);
    if (!CHECK(cute_ir_compile(ir, compiler, &compiled, diag) == CUTE_OK))
        printf("# %s\n", cute_diag_render(diag, CUTE_DIAG_TEXT, false));
    CHECK_INT(compiled ? (int)cute_compiled_count(compiled) : 0, 1);
    CHECK(compiled && strstr(cute_compiled_text(compiled, 0, NULL), ".const .align 4 .b8 table"));
    cute_compiled_destroy(compiled);
    cute_compiler_destroy(compiler);
    cute_ir_destroy(ir);

    ir = new_ir();
    MARK;
    cute_ir_text(K, "func.func @host() { func.call @none() : () -> ()\nreturn }", CUTE_NO_VALUES);
    refused(ir, "'func.call' op 'none' does not reference a valid function");
}

static void test_lines(void)
{
    cute_ir *ir = new_ir();
    const char *text;
    size_t length;
    cute_ir_kernel(cute_ir_here(ir, "front.c", 10), "k");
    cute_ir_value x = cute_ir_argument(cute_ir_here(ir, "front.c", 11), "x", VECTOR);
    cute_ir_store(cute_ir_here(ir, "front.c", 12), CUTE_NUMBER(1), x, CUTE_VALUES(CUTE_NUMBER(0)));
    cute_ir_end(cute_ir_here(ir, "front.c", 13), CUTE_NO_VALUES, NULL);
    CHECK_INT(cute_ir_print(ir, true, &text, &length, diag), CUTE_OK);
    CHECK(strlen(text) == length && strstr(text, "loc(\"front.c\":12:0)"));
    cute_compiler *compiler = NULL;
    cute_compiled *compiled = NULL;
    CHECK_INT(cute_compiler_create(&compiler, diag), CUTE_OK);
    CHECK_INT(cute_compiler_set(compiler, "lineinfo", NULL, diag), CUTE_OK);
    CHECK_INT(cute_ir_compile(ir, compiler, &compiled, diag), CUTE_OK);
    const char *ptx = compiled ? cute_compiled_text(compiled, 0, NULL) : "";
    CHECK(strstr(ptx, "front.c\"") && strstr(ptx, ".loc\t1 12 0"));
    cute_compiled_destroy(compiled);
    cute_compiler_destroy(compiler);
    cute_ir_destroy(ir);
}

static void *build_in_thread(void *out)
{
    char **text = (char **)out;
    cute_ir *ir = NULL;
    cute_diag *own = cute_diag_create();
    const char *made = NULL;
    if (cute_ir_create(&ir, own) == CUTE_OK) {
        cute_ir_kernel(cute_ir_here(ir, "thread.c", 1), "k");
        cute_ir_value x = cute_ir_argument(cute_ir_here(ir, "thread.c", 2), "x", VECTOR), v = x;
        for (int n = 0; n < 100; n++) {
            v = cute_ir_load(cute_ir_here(ir, "thread.c", 3), x, CUTE_VALUES(CUTE_NUMBER(n)));
            v = cute_ir_text(cute_ir_here(ir, "thread.c", 4), "arith.negf %0 : f32", CUTE_VALUES(v));
            cute_ir_store(cute_ir_here(ir, "thread.c", 5), v, x, CUTE_VALUES(CUTE_NUMBER(n)));
        }
        cute_ir_end(cute_ir_here(ir, "thread.c", 6), CUTE_NO_VALUES, NULL);
        if (cute_ir_print(ir, true, &made, NULL, own) == CUTE_OK) *text = strdup(made);
    }
    cute_ir_destroy(ir);
    cute_diag_destroy(own);
    return NULL;
}

static void test_threads_of_the_program(void)
{
    enum { THREADS = 4 };
    pthread_t threads[THREADS];
    char *texts[THREADS] = {NULL};
    for (int i = 0; i < THREADS; i++)
        CHECK_INT(pthread_create(&threads[i], NULL, build_in_thread, &texts[i]), 0);
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        CHECK(texts[i] && !strcmp(texts[i], texts[0]));
    }
    for (int i = 0; i < THREADS; i++) free(texts[i]);
}

/* Errors of the passes name the line of the call, too. */
static void test_errors_of_passes(void)
{
    cute_ir *ir = new_ir();
    cute_ir_value at[2];
    cute_ir_kernel(K, "k");
    cute_ir_value d = cute_ir_tensor(K, "d", CUTE_F32, 2, 16);
    cute_ir_tile_program(K, d, CUTE_EXTENTS(64, 64), at);
    cute_ir_value x = cute_ir_tile_load(K, d, CUTE_EXTENTS(64, 64), CUTE_VALUES(at[0], at[1]));
    MARK;
    cute_ir_tile_store(K, x, d, CUTE_VALUES(at[0], CUTE_NUMBER(0)));
    END_KERNEL;
    cute_compiler *compiler = NULL;
    cute_compiled *compiled = NULL;
    CHECK_INT(cute_compiler_create(&compiler, diag), CUTE_OK);
    cute_diag_clear(diag);
    CHECK_INT(cute_ir_compile(ir, compiler, &compiled, diag), CUTE_INVALID);
    const cute_message *message = cute_diag_count(diag) ? cute_diag_get(diag, 0) : NULL;
    CHECK(message && message->place.file && strstr(message->place.file, "test_build.c"));
    CHECK_INT(message ? message->place.line : 0, marked);
    cute_compiled_destroy(compiled);
    cute_compiler_destroy(compiler);
    cute_ir_destroy(ir);
}

/* ---- what is refused ---- */

static cute_ir *new_kernel(cute_ir_value *f, cute_ir_value *i)
{
    cute_ir *ir = new_ir();
    cute_ir_kernel(K, "k");
    *f = cute_ir_argument(K, "f", CUTE_F32);
    *i = cute_ir_argument(K, "i", CUTE_I32);
    return ir;
}

static void test_types(void)
{
    cute_ir_value f, i;
    cute_ir *ir = new_kernel(&f, &i);
    MARK;
    cute_ir_add(K, f, i);
    cute_ir_add(K, i, f); /* the first error counts */
    refused(ir,
            "cute_ir_add expects operands of one type, got 'f32' and 'i32': convert one with cute_ir_cast");

    ir = new_kernel(&f, &i);
    MARK;
    cute_ir_op(K, "arith.addf", CUTE_VALUES(f, i), "f32", NULL);
    refused(ir, "'arith.addf' op operand #1 must be floating-point-like, but got 'i32'");
    CHECK(noted("operands: 'f32', 'i32'; results: 'f32'"));

    ir = new_kernel(&f, &i);
    MARK;
    cute_ir_if(K, i);
    refused(ir, "cute_ir_if expects 'i1', got 'i32'");
    CHECK(noted("the value is made here"));

    ir = new_kernel(&f, &i);
    MARK;
    cute_ir_load(K, f, CUTE_VALUES(i));
    refused(ir, "cute_ir_load expects a tensor of type !cute.memref or memref, got 'f32'");

    ir = new_kernel(&f, &i);
    cute_ir_value x = cute_ir_argument(K, "x", VECTOR);
    MARK;
    cute_ir_store(K, i, x, CUTE_VALUES(i));
    refused(ir, "cute_ir_store expects 'f32', got 'i32'");

    ir = new_kernel(&f, &i);
    MARK;
    cute_ir_argument(K, "y", "!cute.tensr");
    refused(ir, "expected a type, got '!cute.tensr'");

    ir = new_kernel(&f, &i);
    MARK;
    cute_ir_mul(K, i, CUTE_REAL(0.5));
    refused(ir, "cute_ir_mul expects an integer for 'i32', got 0.5");

    ir = new_kernel(&f, &i);
    MARK;
    cute_ir_constant(K, CUTE_NUMBER(300), CUTE_I8);
    refused(ir, "cute_ir_constant got 300, which 'i8' does not have");

    ir = new_kernel(&f, &i);
    MARK;
    cute_ir_add(K, CUTE_NUMBER(1), CUTE_NUMBER(2));
    refused(ir, "cute_ir_add expects a value among its operands, got numbers alone");
}

static void test_regions(void)
{
    cute_ir_value f, i, carried[2];
    cute_ir *ir = new_kernel(&f, &i);
    MARK;
    cute_ir_for(K, CUTE_NUMBER(0), i, CUTE_NUMBER(1), CUTE_VALUES(f), carried);
    refused(ir, "a kernel, loop or branch is opened here and not closed by cute_ir_end");

    ir = new_kernel(&f, &i);
    cute_ir_for(K, CUTE_NUMBER(0), i, CUTE_NUMBER(1), CUTE_VALUES(f), carried);
    MARK;
    cute_ir_end(K, CUTE_VALUES(carried[0], f), carried);
    refused(ir, "cute_ir_end expects 1 value for the loop, got 2");
    CHECK(noted("the loop is opened here"));

    ir = new_kernel(&f, &i);
    cute_ir_for(K, CUTE_NUMBER(0), i, CUTE_NUMBER(1), CUTE_VALUES(f), carried);
    MARK;
    cute_ir_end(K, CUTE_VALUES(i), carried);
    refused(ir, "cute_ir_end expects 'f32', got 'i32'");

    ir = new_kernel(&f, &i);
    cute_ir_for(K, CUTE_NUMBER(0), i, CUTE_NUMBER(1), CUTE_VALUES(f), carried);
    cute_ir_value inner = cute_ir_add(K, carried[0], f);
    cute_ir_end(K, CUTE_VALUES(inner), NULL);
    MARK;
    cute_ir_add(K, inner, f);
    refused(ir,
            "cute_ir_add got a value of a kernel, loop or branch that is closed: pass it on by cute_ir_end");

    ir = new_kernel(&f, &i);
    MARK;
    cute_ir_else(K, CUTE_NO_VALUES);
    refused(ir, "cute_ir_else expects an open cute_ir_if");

    ir = new_kernel(&f, &i);
    cute_ir_while(K, CUTE_VALUES(f), carried);
    MARK;
    cute_ir_end(K, CUTE_VALUES(f), NULL);
    refused(ir, "cute_ir_end expects cute_ir_do before it, which ends the condition of the loop");

    ir = new_kernel(&f, &i);
    END_KERNEL;
    MARK;
    END_KERNEL;
    refused(ir, "cute_ir_end expects an open kernel, loop or branch");

    ir = new_ir();
    MARK;
    cute_ir_barrier(K);
    refused(ir, "gpu.barrier expects an open kernel: call cute_ir_kernel first");

    ir = new_kernel(&f, &i);
    MARK;
    cute_ir_kernel(K, "inner");
    refused(ir, "cute_ir_kernel expects no open region: kernels do not nest");

    ir = new_kernel(&f, &i);
    END_KERNEL;
    MARK;
    cute_ir_kernel(K, "k");
    refused(ir, "cute_ir_kernel expects another name than 'k', which the module has");

    ir = new_kernel(&f, &i);
    MARK;
    cute_ir_argument(K, "f", CUTE_F32);
    refused(ir, "cute_ir_argument expects another name than 'f', which argument 0 has");

    ir = new_kernel(&f, &i);
    MARK;
    cute_ir_attribute(K, "sym_name", "\"other\"");
    refused(ir, "cute_ir_attribute expects another name than 'sym_name', which the builder sets");

    ir = new_ir();
    MARK;
    cute_ir_kernel(K, "k");
    cute_ir_attribute(K, "nvvm.reqntid", NULL);
    END_KERNEL;
    refused(ir, "'\"nvvm.reqntid\"' attribute must be integer array with maximum 3 index");

    ir = new_kernel(&f, &i);
    for (int n = 0; n < 199; n++) cute_ir_if(K, cute_ir_gt(K, i, CUTE_NUMBER(n)));
    MARK;
    cute_ir_if(K, cute_ir_gt(K, i, CUTE_NUMBER(200)));
    refused(ir, "cute_ir_if nests deeper than 200 regions");
}

static void test_misuse(void)
{
    cute_ir_value f, i, g, j;
    cute_ir *ir = new_kernel(&f, &i), *other = new_kernel(&g, &j);
    MARK;
    cute_ir_add(K, f, g);
    refused(ir, "cute_ir_add got a value of another module");
    cute_ir_destroy(other);

    ir = new_kernel(&f, &i);
    cute_ir_value none;
    memset(&none, 0, sizeof none);
    MARK;
    cute_ir_neg(K, none);
    refused(ir, "cute_ir_neg expects a value, got none: an operation without results, or no operation");

    ir = new_kernel(&f, &i);
    none = f;
    none.index = 1000;
    MARK;
    cute_ir_neg(K, none);
    refused(ir, "cute_ir_neg got a value that was not made");

    ir = new_kernel(&f, &i);
    MARK;
    cute_ir_op(K, "arith.add", CUTE_VALUES(f, f), NULL, NULL);
    refused(ir, "'arith.add' is not an operation of a known dialect");

    ir = new_kernel(&f, &i);
    MARK;
    cute_ir_op(K, "arith.addf", CUTE_NO_VALUES, NULL, NULL);
    refused(ir, "'arith.addf' expects 2 operands, got 0");

    ir = new_kernel(&f, &i);
    MARK;
    cute_ir_op(K, "arith.cmpi", CUTE_VALUES(i, i), NULL, "{predicate = \"less\"}");
    CHECK_INT(cute_ir_check(ir, diag), CUTE_INVALID);
    refused(ir, "'arith.cmpi' attribute 'predicate' failed to satisfy constraint: allowed 64-bit signless "
                "integer cases: 0, 1, 2, 3, 4, 5, 6, 7, 8, 9");

    ir = new_kernel(&f, &i);
    MARK;
    cute_ir_op(K, "scf.for", CUTE_VALUES(i, i, i), "", NULL);
    refused(ir, "'scf.for' has regions: build it as text");

    ir = new_kernel(&f, &i);
    MARK;
    cute_ir_op(K, "gpu.return", CUTE_NO_VALUES, "", NULL);
    refused(ir, "'gpu.return' ends a block: regions are closed by cute_ir_end");

    ir = new_kernel(&f, &i);
    MARK;
    cute_ir_op(K, "arm_sme.outerproduct", CUTE_VALUES(f, f), NULL, NULL);
    refused(ir, "'arm_sme.outerproduct' is an operation of other machines");

    ir = new_kernel(&f, &i);
    MARK;
    cute_ir_op(K, "llvm.bitcast", CUTE_VALUES(i), NULL, NULL);
    refused(ir, "the result types of 'llvm.bitcast' cannot be inferred: state them");

    ir = new_kernel(&f, &i);
    MARK;
    cute_ir_text(K, "arith.addf %0, %1 : f32", CUTE_VALUES(f, i));
    refused(ir, "use of value '%1' expects different type than prior uses: 'f32' vs 'i32'");
    CHECK(noted("in the text 'arith.addf %0, %1 : f32'") && noted("operands: 'f32', 'i32'"));

    ir = new_kernel(&f, &i);
    MARK;
    cute_ir_text(K, "gpu.return }} gpu.module @n { gpu.func @f(%0: f32) kernel { ", CUTE_VALUES(f));
    refused(ir, "expected operations in one block");

    ir = new_kernel(&f, &i);
    MARK;
    cute_ir_text(K, "arith.constant ${N} : i32", CUTE_NO_VALUES);
    CHECK_INT(cute_ir_check(ir, diag), CUTE_INVALID);
    cute_ir_destroy(ir);

    ir = new_kernel(&f, &i);
    MARK;
    cute_ir_op(K, "memref.load", CUTE_VALUES(f), NULL, NULL);
    refused(ir, "'memref.load' op operand #0 must be memref of any type values, but got 'f32'");

    ir = new_kernel(&f, &i);
    MARK;
    cute_ir_op(K, "cute_nvgpu.arch.vote", CUTE_VALUES(f), NULL, NULL);
    refused(ir, "'cute_nvgpu.arch.vote' op expects kind all, any, uni or ballot");

    ir = new_kernel(&f, &i);
    MARK;
    cute_ir_result(K, f, 1);
    refused(ir, "cute_ir_result expects an index less than 1, the number of results, got 1");

    /* A failed creation, or none. */
    ir = NULL;
    cute_ir_kernel(K, "k");
    CHECK_INT(cute_ir_thread(K, CUTE_IR_X).kind, CUTE_IR_NOTHING);
    END_KERNEL;
    CHECK_INT(cute_ir_check(ir, diag), CUTE_USAGE);
    cute_ir_destroy(NULL);
}

int main(void)
{
    diag = cute_diag_create();
    TEST("a kernel prints as MLIR with the names of its arguments", test_prints);
    TEST("the printed text compiles to the code of the module: loops, branches, while", test_round_trip);
    TEST("the product of tiles compiles to the code of its text", test_product);
    TEST("architecture and schedule are options of the compiler", test_options);
    TEST("a kernel of threads compiles to the code of its text", test_threads);
    TEST("each elementwise function builds the kind of its name", test_every_kind);
    TEST("any operation is built by its name or as text", test_any_operation);
    TEST("functions, constants and host functions are text beside the kernels", test_functions);
    TEST("PTX and text have the lines of the calls", test_lines);
    TEST("threads build modules of their own", test_threads_of_the_program);
    TEST("errors of passes name the line of the call", test_errors_of_passes);
    TEST("operands of a wrong type are refused at the call, with both types", test_types);
    TEST("regions that are not closed, or closed with other values, are refused", test_regions);
    TEST("misuse is an error", test_misuse);
    cute_diag_destroy(diag);
    return test_finish();
}
