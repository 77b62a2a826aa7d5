/* Calls of cute/build.h in any order: an answer, never a crash; a module that is valid prints, and its text is read again. Each step of
 * an input is a byte that picks a call and bytes that pick its operands, among the values that were made and numbers; steps that
 * are refused end the input, as the first error does. */
#include <mlir-c/BuiltinTypes.h>
#include <mlir-c/Diagnostics.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/builder/builder.h"
#include "lib/ir/mlir/shim.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
const char *__asan_default_options(void);

/* LLVM's registries belong to the process. */
const char *__asan_default_options(void)
{
    return "detect_leaks=0";
}

enum { NAMES = 8192, VALUES = 64, STEPS = 200 };

static char *names[NAMES];
static size_t name_count;

static void keep_name(MlirStringRef name, void *unused)
{
    (void)unused;
    if (name_count < NAMES) names[name_count++] = strndup(name.data, name.length);
}

static const char *const types[] = {
    "f32",
    "i32",
    "i1",
    "index",
    "f16",
    "i64",
    "vector<4xf32>",
    "tensor<4x8xf32>",
    "tensor<8xi32>",
    "memref<?xf32>",
    "!cute.memref<f32, gmem, \"?:1\">",
    "!cute.memref<f16, gmem, align<16>, \"(?,?{div=8}):(?{i64 div=8},1)\">",
    "!cute.memref<i32, smem, \"(4,8):(8,1)\">",
    "!llvm.ptr",
    "f8E4M3FN",
    "wrong<",
    "tensor<?xf32>",
    "f32, i32",
    "",
};
static const char *const attributes[] = {
    NULL,
    "{kind = \"add\"}",
    "{predicate = 2 : i64}",
    "{extents = array<i32: 4, 8>}",
    "{mode = 0 : i32}",
    "{value = 1 : i32}",
    "{value = 1.0 : f32}",
    "{kind = 3 : i32}",
    "[1]",
    "{a =",
    "{operandSegmentSizes = array<i32: 1, 1, 0>}",
    "{dimension = #gpu<dim x>}",
};
static const char *const texts[] = {
    "arith.addf %0, %1 : f32",
    "%a = arith.mulf %0, %0 : f32\narith.negf %a : f32",
    "gpu.barrier",
    "cute.tile.load<[4, 8], neg_inf> %0[%1, 0]",
    "cute.tile.exp %0 {fast}",
    "scf.yield %0 : f32",
    "}",
    "gpu.return",
    "${N}",
    "%c = arith.constant 1 : i32\nscf.for %i = %c to %c step %c : i32 {\n}",
    "cf.br ^bb1\n^bb1:",
    "cute.memref.load %0[%1]",
    "func.func @f() { return }",
};
#define COUNT(list) (sizeof(list) / sizeof *(list))

typedef struct input {
    const uint8_t *at, *end;
    cute_ir *ir;
    cute_ir_value values[VALUES];
    size_t count;
    int line;
    bool
        others; /* an operation of an upstream dialect by its name: the printed form of some cannot be parsed */
} input;

static unsigned next(input *in)
{
    return in->at < in->end ? *in->at++ : 0;
}

static cute_ir_at here(input *in)
{
    in->line++;
    return cute_ir_here(in->ir, in->line % 7 ? "fuzz.c" : NULL, in->line);
}

/* A value of the latest ones, a number, or none. */
static cute_ir_value operand(input *in)
{
    unsigned pick = next(in);
    if (pick >= 224) return cute_ir_integer((int64_t)pick - 240);
    if (pick >= 216) return cute_ir_real((double)pick / 16 - 13);
    if (pick == 215 || !in->count) return (cute_ir_value){0};
    size_t recent = in->count < VALUES ? in->count : VALUES;
    return in->values[(in->count - 1 - pick % recent) % VALUES];
}

static void keep(input *in, cute_ir_value value)
{
    if (value.kind != CUTE_IR_NOTHING) in->values[in->count++ % VALUES] = value;
}

static void keep_all(input *in, const cute_ir_value *values, size_t count)
{
    for (size_t i = 0; i < count && ir_ready(in->ir); i++) keep(in, values[i]);
}

static cute_ir_values operands(input *in, cute_ir_value *items, size_t most)
{
    size_t count = next(in) % (most + 1);
    for (size_t i = 0; i < count; i++) items[i] = operand(in);
    return cute_ir_values_of(items, count);
}

static cute_ir_extents extents(input *in, int64_t *items)
{
    size_t count = next(in) % 4;
    for (size_t i = 0; i < count; i++) items[i] = (int64_t)next(in) - 1;
    return cute_ir_extents_of(items, count);
}

static const char *const kinds[] = {"add", "max", "xor", "sum"};

static void build_tiles(input *in)
{
    int64_t numbers[4];
    cute_ir_value items[4], results[4] = {{0}};
    cute_ir_value x = operand(in);
    cute_ir_extents shape = extents(in, numbers);
    switch (next(in) % 7) {
    case 0:
        cute_ir_tile_program(here(in), x, shape, results);
        keep_all(in, results, shape.count);
        break;
    case 1: keep(in, cute_ir_tile_count(here(in), x, (int)next(in) % 4 - 1, (int64_t)next(in) - 2)); break;
    case 2: keep(in, cute_ir_tile_load(here(in), x, shape, operands(in, items, 3))); break;
    case 3: cute_ir_tile_store(here(in), x, operand(in), operands(in, items, 3)); break;
    case 4: keep(in, cute_ir_tile(here(in), x, types[next(in) % COUNT(types)], shape)); break;
    case 5: keep(in, cute_ir_tile_gemm(here(in), x, operand(in), operand(in))); break;
    default:
        keep(in, cute_ir_tile_reduce(here(in), kinds[next(in) % COUNT(kinds)], (int)next(in) % 4 - 1, x));
        break;
    }
}

static void build_threads(input *in)
{
    int64_t numbers[4];
    cute_ir_value items[4];
    switch (next(in) % 9) {
    case 0: keep(in, cute_ir_thread(here(in), (cute_ir_axis)(next(in) % 4))); break;
    case 1: keep(in, cute_ir_lane(here(in))); break;
    case 2: keep(in, cute_ir_load(here(in), operand(in), operands(in, items, 3))); break;
    case 3: cute_ir_store(here(in), operand(in), operand(in), operands(in, items, 3)); break;
    case 4: keep(in, cute_ir_shared(here(in), types[next(in) % COUNT(types)], extents(in, numbers))); break;
    case 5:
        keep(in, cute_ir_shuffle(here(in), (cute_ir_shuffle_mode)(next(in) % 5), operand(in), operand(in)));
        break;
    case 6: keep(in, cute_ir_warp_reduce(here(in), kinds[next(in) % COUNT(kinds)], operand(in))); break;
    case 7: keep(in, cute_ir_block_reduce(here(in), kinds[next(in) % COUNT(kinds)], operand(in))); break;
    default:
        cute_ir_communicate(here(in), (cute_ir_pattern)(next(in) % 4), operand(in), operand(in), operand(in));
        break;
    }
}

static void build_elementwise(input *in)
{
    unsigned pick = next(in), row = 0;
    cute_ir_value x = operand(in), y = operand(in), z = operand(in);
#define CUTE_IR_MAP1(name, description)                                                                      \
    if (pick % 64 == row++) keep(in, cute_ir_##name(here(in), x));
#define CUTE_IR_MAP2(name, description)                                                                      \
    if (pick % 64 == row++) keep(in, cute_ir_##name(here(in), x, y));
#define CUTE_IR_MAP3(name, description)                                                                      \
    if (pick % 64 == row++) keep(in, cute_ir_##name(here(in), x, y, z));
#define CUTE_IR_COMPARE(name, description) CUTE_IR_MAP2(name, description)
#include "cute/build_ops.def"
    if (pick % 64 >= row) keep(in, cute_ir_cast(here(in), x, types[next(in) % COUNT(types)]));
}

static void build_control(input *in)
{
    cute_ir_value items[4], results[4] = {{0}};
    cute_ir_value x = operand(in), y = operand(in);
    cute_ir_values list = operands(in, items, 3);
    switch (next(in) % 6) {
    case 0:
        keep(in, cute_ir_for(here(in), x, y, operand(in), list, results));
        keep_all(in, results, list.count);
        break;
    case 1: cute_ir_if(here(in), x); break;
    case 2: cute_ir_else(here(in), list); break;
    case 3:
        cute_ir_while(here(in), list, results);
        keep_all(in, results, list.count);
        break;
    case 4:
        cute_ir_do(here(in), x, list, results);
        keep_all(in, results, list.count);
        break;
    default: {
        /* At most as many results as an operation of this input can have. */
        cute_ir_end(here(in), list, results);
        keep_all(in, results, COUNT(results));
        break;
    }
    }
}

static void build_any(input *in)
{
    cute_ir_value items[4];
    cute_ir_values list = operands(in, items, 4);
    size_t name = (size_t)next(in) << 8;
    name |= next(in);
    unsigned type = next(in), attribute = next(in);
    in->others |= strncmp(names[name % name_count], "cute", 4) != 0;
    const char *of = type & 1 ? types[type / 2 % COUNT(types)] : NULL;
    keep(in,
         cute_ir_op(here(in), names[name % name_count], list, of, attributes[attribute % COUNT(attributes)]));
}

static void step(input *in)
{
    cute_ir_value items[4];
    switch (next(in) % 13) {
    case 0: cute_ir_kernel(here(in), next(in) % 4 ? "k" : "other"); break;
    case 1:
        keep(in, cute_ir_argument(here(in), next(in) % 4 ? "y" : "a", types[next(in) % COUNT(types)]));
        break;
    case 2:
        keep(in, cute_ir_tensor(here(in), "t", types[next(in) % 6], (int)next(in) % 8, (int)next(in)));
        break;
    case 3: cute_ir_attribute(here(in), "nvvm.reqntid", next(in) % 2 ? "array<i32: 32, 1, 1>" : NULL); break;
    case 4: keep(in, cute_ir_constant(here(in), operand(in), types[next(in) % COUNT(types)])); break;
    case 5: cute_ir_end(here(in), CUTE_NO_VALUES, NULL); break;
    case 6: build_tiles(in); break;
    case 7: build_threads(in); break;
    case 8: build_elementwise(in); break;
    case 9: build_control(in); break;
    case 10: build_any(in); break;
    case 11: keep(in, cute_ir_result(here(in), operand(in), next(in) % 2)); break;
    default: {
        const char *text = texts[next(in) % COUNT(texts)];
        keep(in, cute_ir_text(here(in), text, operands(in, items, 3)));
        break;
    }
    }
}

static void keep_names(void)
{
    cute_ir *ir;
    if (cute_ir_create(&ir, NULL) != CUTE_OK) abort();
    mlirContextLoadAllAvailableDialects(ir->context);
    cute_operations_visit(ir->context, keep_name, NULL);
    cute_ir_destroy(ir);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *text = NULL;
    size_t length;
    if (!name_count) keep_names();
    input in = {.at = data, .end = data + size};
    if (cute_ir_create(&in.ir, NULL) != CUTE_OK) abort();
    /* A kernel with arguments, so that most inputs get further than the first call. */
    cute_ir_kernel(here(&in), "first");
    for (size_t i = 0; i < 13; i++) {
        char name[] = {(char)('a' + i), 0};
        keep(&in, cute_ir_argument(here(&in), name, types[i]));
    }
    for (int n = 0; n < STEPS && in.at < in.end && ir_ready(in.ir); n++) step(&in);
    while (ir_ready(in.ir) && in.ir->depth && in.ir->frames[in.ir->depth - 1].kind != IR_BEFORE)
        cute_ir_end(here(&in), CUTE_NO_VALUES, NULL);
    if (cute_ir_print(in.ir, false, &text, &length, NULL) == CUTE_OK && !in.others) {
        MlirModule again = cute_module_parse(in.ir->context, (MlirStringRef){text, length},
                                             mlirStringRefCreateFromCString("printed"));
        if (mlirModuleIsNull(again)) fprintf(stderr, "%s%s\n", text, ir_caught(in.ir, "")), abort();
        mlirModuleDestroy(again);
    }
    cute_ir_destroy(in.ir);
    return 0;
}
