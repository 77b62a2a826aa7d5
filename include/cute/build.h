/* Kernels from C: calls that build MLIR in memory, for programs that know a kernel when they run. A module is printed, or compiled
 * to PTX in the process (cute/compile.h). docs/builder.md is the guide.
 *
 *     #define K CUTE_AT(ir)
 *     cute_ir_kernel(K, "twice");
 *     cute_ir_value x = cute_ir_argument(K, "x", "!cute.memref<f32, gmem, \"32:1\">");
 *     cute_ir_value i = cute_ir_thread(K, CUTE_IR_X);
 *     cute_ir_value y = cute_ir_mul(K, cute_ir_load(K, x, CUTE_VALUES(i)), CUTE_NUMBER(2));
 *     cute_ir_store(K, y, x, CUTE_VALUES(i));
 *     cute_ir_end(K, CUTE_NO_VALUES, NULL);
 *     status = cute_ir_compile(ir, compiler, &compiled, diag);
 *
 * Errors: the first one is kept, and later calls do nothing, so a program checks once, when it prints or compiles. Messages, lines of
 * the PTX and findings of checks name the file and line of the call, which CUTE_AT passes. */
#ifndef CUTE_BUILD_H
#define CUTE_BUILD_H

#include "cute/compile.h"

#ifdef __cplusplus
#include <initializer_list>
extern "C" {
#endif

/* A module under construction. Used by one thread at a time. */
typedef struct cute_ir cute_ir;

CUTE_API cute_status cute_ir_create(cute_ir **out, cute_diag *diag);
/* NULL is allowed. Values of the module must not be used any more. */
CUTE_API void cute_ir_destroy(cute_ir *ir);

/* The call's place, the first parameter of each function that builds. `file` is copied where it is needed. */
typedef struct cute_ir_at {
    cute_ir *ir;
    const char *file;
    int line;
} cute_ir_at;

static inline cute_ir_at cute_ir_here(cute_ir *ir, const char *file, int line)
{
    cute_ir_at at;
    at.ir = ir;
    at.file = file;
    at.line = line;
    return at;
}
#define CUTE_AT(ir) cute_ir_here((ir), __FILE__, __LINE__)

/* ---- values ---- */

typedef enum cute_ir_kind {
    CUTE_IR_NOTHING, /* an operation without results, or a call after an error */
    CUTE_IR_RESULT,
    CUTE_IR_INTEGER, /* a number: as an operand it takes the type that the operation needs */
    CUTE_IR_REAL,
} cute_ir_kind;

/* A handle, valid in the kernel, loop or branch in which it was made. Fields are private. */
typedef struct cute_ir_value {
    const cute_ir *ir;
    int kind; /* cute_ir_kind */
    uint32_t index;
    int64_t integer;
    double real;
} cute_ir_value;

static inline cute_ir_value cute_ir_integer(int64_t number)
{
    cute_ir_value value = {0, CUTE_IR_INTEGER, 0, 0, 0};
    value.integer = number;
    return value;
}
static inline cute_ir_value cute_ir_real(double number)
{
    cute_ir_value value = {0, CUTE_IR_REAL, 0, 0, 0};
    value.real = number;
    return value;
}
#define CUTE_NUMBER(integer) cute_ir_integer(integer)
#define CUTE_REAL(number)    cute_ir_real(number)

/* Lists for one call. */
typedef struct cute_ir_values {
    const cute_ir_value *items;
    size_t count;
} cute_ir_values;
typedef struct cute_ir_extents {
    const int64_t *items;
    size_t count;
} cute_ir_extents;

static inline cute_ir_values cute_ir_values_of(const cute_ir_value *items, size_t count)
{
    cute_ir_values values;
    values.items = items;
    values.count = count;
    return values;
}
static inline cute_ir_extents cute_ir_extents_of(const int64_t *items, size_t count)
{
    cute_ir_extents extents;
    extents.items = items;
    extents.count = count;
    return extents;
}
#ifdef __cplusplus
} /* the lists' memory lasts as long as the call */
static inline cute_ir_values cute_ir_values_in(std::initializer_list<cute_ir_value> list)
{
    return cute_ir_values_of(list.begin(), list.size());
}
static inline cute_ir_extents cute_ir_extents_in(std::initializer_list<int64_t> list)
{
    return cute_ir_extents_of(list.begin(), list.size());
}
extern "C" {
#define CUTE_VALUES(...)  cute_ir_values_in({__VA_ARGS__})
#define CUTE_EXTENTS(...) cute_ir_extents_in({__VA_ARGS__})
#else
#define CUTE_IR_COUNT(type, ...) (sizeof((const type[]){__VA_ARGS__}) / sizeof(type))
#define CUTE_VALUES(...)                                                                                     \
    cute_ir_values_of((const cute_ir_value[]){__VA_ARGS__}, CUTE_IR_COUNT(cute_ir_value, __VA_ARGS__))
#define CUTE_EXTENTS(...)                                                                                    \
    cute_ir_extents_of((const int64_t[]){__VA_ARGS__}, CUTE_IR_COUNT(int64_t, __VA_ARGS__))
#endif
#define CUTE_NO_VALUES cute_ir_values_of(NULL, 0)

/* Types are MLIR's text: "f32", "index", "vector<4xf16>", "!cute.memref<f32, gmem, \"(?,?):(?{i64},1)\">". Element types by name: */
#define CUTE_F64  "f64"
#define CUTE_F32  "f32"
#define CUTE_F16  "f16"
#define CUTE_BF16 "bf16"
#define CUTE_E4M3 "f8E4M3FN"
#define CUTE_E5M2 "f8E5M2"
#define CUTE_I64  "i64"
#define CUTE_I32  "i32"
#define CUTE_I16  "i16"
#define CUTE_I8   "i8"
#define CUTE_I1   "i1"

/* The type of a value; NULL for numbers and values that are not this module's. Valid as long as the module. */
CUTE_API const char *cute_ir_type(cute_ir *ir, cute_ir_value value);

/* A parameter: ${NAME} in types, attributes and texts that follow is replaced by its value (docs/writing-ir.md, as by -D). */
CUTE_API void cute_ir_define(cute_ir_at at, const char *name, const char *value);

/* ---- kernels, loops and branches ----
 *
 * Each of these functions opens a region, which cute_ir_end closes; operations that are built in between are inside. */

/* Opens a kernel. Kernels are in one gpu.module, `kernels`, or the one that cute_ir_module named last. */
CUTE_API void cute_ir_kernel(cute_ir_at at, const char *name);
CUTE_API void cute_ir_module(cute_ir_at at, const char *name);
/* Adds an argument to the open kernel. */
CUTE_API cute_ir_value cute_ir_argument(cute_ir_at at, const char *name, const char *type);
/* Adds an argument that is a row-major tensor in global memory: `rank` extents that are known at the launch, of which the last one
 * and the strides of the others are multiples of `alignment` bytes, as is the address. */
CUTE_API cute_ir_value cute_ir_tensor(cute_ir_at at, const char *name, const char *element, int rank,
                                      int alignment);
/* Sets an attribute of the open kernel: "cute.schedule", "\"stages=4\"". `value` NULL: an attribute without a value. */
CUTE_API void cute_ir_attribute(cute_ir_at at, const char *name, const char *value);

/* A loop from `from` to less than `to`. `initial` are the values that it carries; in the first iteration carried[i] is initial[i],
 * then what cute_ir_end is given. Returns the index, of the type of the bounds (i32 if all are numbers). */
CUTE_API cute_ir_value cute_ir_for(cute_ir_at at, cute_ir_value from, cute_ir_value to, cute_ir_value step,
                                   cute_ir_values initial, cute_ir_value *carried);
/* A branch. With cute_ir_else it has results: `values` of the first branch, and of the second one what cute_ir_end is given. */
CUTE_API void cute_ir_if(cute_ir_at at, cute_ir_value condition);
CUTE_API void cute_ir_else(cute_ir_at at, cute_ir_values values);
/* A loop while a condition is true: operations between the two calls compute the condition from `carried`, and cute_ir_do passes
 * values on to the body, and to the results once the condition is false. The body's end gives the next `carried`. */
CUTE_API void cute_ir_while(cute_ir_at at, cute_ir_values initial, cute_ir_value *carried);
CUTE_API void cute_ir_do(cute_ir_at at, cute_ir_value condition, cute_ir_values passed, cute_ir_value *body);
/* Closes the innermost region. `values` are the next carried values of a loop, or those of a branch; results[i] receives the
 * i-th result. NULL: not needed. Numbers take the type of the value that they replace. */
CUTE_API void cute_ir_end(cute_ir_at at, cute_ir_values values, cute_ir_value *results);

/* ---- any operation ---- */

/* The operation `name`. `types` are the result types, separated by commas (NULL: inferred, where the dialect can). `attributes` is a
 * dictionary, "{predicate = 2 : i64}", or NULL. Returns the first result, cute_ir_result the others. */
CUTE_API cute_ir_value cute_ir_op(cute_ir_at at, const char *name, cute_ir_values operands, const char *types,
                                  const char *attributes);
/* Operations as text, with the short forms of docs/dialects: "cute.tile.load<[64, 32], neg_inf> %0[%1, 0]"; %0, %1 ... are the
 * operands. It may name values of its own, and have regions. Returns the first result of the last operation.
 * Without an open kernel: operations of the module, such as host functions. */
CUTE_API cute_ir_value cute_ir_text(cute_ir_at at, const char *text, cute_ir_values operands);
/* Result `index` of the operation that made `value`. */
CUTE_API cute_ir_value cute_ir_result(cute_ir_at at, cute_ir_value value, size_t index);

/* ---- arithmetic ---- */

/* One function for each row of build_ops.def: cute_ir_add(at, x, y) ... Operands have one type; numbers take it. */
#define CUTE_IR_MAP1(name, description) CUTE_API cute_ir_value cute_ir_##name(cute_ir_at at, cute_ir_value x);
#define CUTE_IR_MAP2(name, description)                                                                      \
    CUTE_API cute_ir_value cute_ir_##name(cute_ir_at at, cute_ir_value x, cute_ir_value y);
#define CUTE_IR_MAP3(name, description)                                                                      \
    CUTE_API cute_ir_value cute_ir_##name(cute_ir_at at, cute_ir_value x, cute_ir_value y, cute_ir_value z);
#define CUTE_IR_COMPARE(name, description)                                                                   \
    CUTE_API cute_ir_value cute_ir_##name(cute_ir_at at, cute_ir_value x, cute_ir_value y);
#include "cute/build_ops.def"

/* A number as a value of a type: a scalar, or a vector or tile whose elements are all equal. */
CUTE_API cute_ir_value cute_ir_constant(cute_ir_at at, cute_ir_value number, const char *type);
/* Converted to another element type: floats round to nearest even, and to integers toward zero. */
CUTE_API cute_ir_value cute_ir_cast(cute_ir_at at, cute_ir_value value, const char *element);

/* ---- threads and memory ---- */

typedef enum cute_ir_axis { CUTE_IR_X, CUTE_IR_Y, CUTE_IR_Z } cute_ir_axis;
/* Indices and sizes are i32. */
CUTE_API cute_ir_value cute_ir_thread(cute_ir_at at, cute_ir_axis axis);
CUTE_API cute_ir_value cute_ir_block(cute_ir_at at, cute_ir_axis axis);
CUTE_API cute_ir_value cute_ir_block_size(cute_ir_at at, cute_ir_axis axis);
CUTE_API cute_ir_value cute_ir_grid_size(cute_ir_at at, cute_ir_axis axis);
/* The thread's lane in its warp. */
CUTE_API cute_ir_value cute_ir_lane(cute_ir_at at);

/* An element of a tensor (!cute.memref or memref). */
CUTE_API cute_ir_value cute_ir_load(cute_ir_at at, cute_ir_value tensor, cute_ir_values coordinates);
CUTE_API void cute_ir_store(cute_ir_at at, cute_ir_value value, cute_ir_value tensor,
                            cute_ir_values coordinates);
/* A row-major tensor in shared memory. */
CUTE_API cute_ir_value cute_ir_shared(cute_ir_at at, const char *element, cute_ir_extents extents);
/* Waits for the threads of the block, of the warp. */
CUTE_API void cute_ir_barrier(cute_ir_at at);
CUTE_API void cute_ir_warp_barrier(cute_ir_at at);

/* ---- communication ---- */

typedef enum cute_ir_shuffle_mode {
    CUTE_IR_IDX,  /* of that lane */
    CUTE_IR_UP,   /* of the lane that is so many below */
    CUTE_IR_DOWN, /* of the lane that is so many above */
    CUTE_IR_XOR,  /* of the lane whose number differs in these bits */
} cute_ir_shuffle_mode;
/* The value (i32 or f32) of another lane; all 32 lanes take part. */
CUTE_API cute_ir_value cute_ir_shuffle(cute_ir_at at, cute_ir_shuffle_mode mode, cute_ir_value value,
                                       cute_ir_value lane);
/* Combined over the lanes of a warp, or the threads of a block, each of which gets the result. `kind`: add, mul, min, max, and, or,
 * xor. */
CUTE_API cute_ir_value cute_ir_warp_reduce(cute_ir_at at, const char *kind, cute_ir_value value);
CUTE_API cute_ir_value cute_ir_block_reduce(cute_ir_at at, const char *kind, cute_ir_value value);

/* Patterns of communication of a warp, each of whose lanes has a value. */
typedef enum cute_ir_pattern {
    CUTE_IR_ALL_REDUCE, /* out[index] is the sum of the values of all lanes */
    CUTE_IR_ALL_GATHER, /* out[32 index + i] is the value of lane i, for all 32 */
    CUTE_IR_BROADCAST,  /* out[index] is the value of lane 0 */
} cute_ir_pattern;
/* Stores the result in `out`, a tensor of one mode. */
CUTE_API void cute_ir_communicate(cute_ir_at at, cute_ir_pattern pattern, cute_ir_value value,
                                  cute_ir_value out, cute_ir_value index);

/* ---- tiles (docs/tile-programs.md) ---- */

/* The grid has a block for each tile of the tensor; indices[i] receives this block's. */
CUTE_API void cute_ir_tile_program(cute_ir_at at, cute_ir_value tensor, cute_ir_extents extents,
                                   cute_ir_value *indices);
/* The number of tiles of `size` along a mode of the tensor. */
CUTE_API cute_ir_value cute_ir_tile_count(cute_ir_at at, cute_ir_value tensor, int mode, int64_t size);
CUTE_API cute_ir_value cute_ir_tile_load(cute_ir_at at, cute_ir_value tensor, cute_ir_extents extents,
                                         cute_ir_values coordinates);
CUTE_API void cute_ir_tile_store(cute_ir_at at, cute_ir_value tile, cute_ir_value tensor,
                                 cute_ir_values coordinates);
/* A tile whose elements are all `number`. */
CUTE_API cute_ir_value cute_ir_tile(cute_ir_at at, cute_ir_value number, const char *element,
                                    cute_ir_extents extents);
/* a b^T + c */
CUTE_API cute_ir_value cute_ir_tile_gemm(cute_ir_at at, cute_ir_value a, cute_ir_value b, cute_ir_value c);
/* Along a dimension, which keeps extent 1. `kind`: add, mul, min, max, and, or, xor. */
CUTE_API cute_ir_value cute_ir_tile_reduce(cute_ir_at at, const char *kind, int dimension,
                                           cute_ir_value tile);

/* ---- the module ---- */

/* CUTE_OK if everything so far is valid: no call failed, and no region is open. Else the first error, in `diag`. */
CUTE_API cute_status cute_ir_check(cute_ir *ir, cute_diag *diag);
/* The module as MLIR, which cute-opt and cute-ptx read, NUL-terminated; valid until the next call with `ir`. `lines`: with the places
 * of the calls, as loc(...). */
CUTE_API cute_status cute_ir_print(cute_ir *ir, bool lines, const char **text, size_t *length,
                                   cute_diag *diag);
/* cute_compiler_run on the module, which may be extended and compiled again. */
CUTE_API cute_status cute_ir_compile(cute_ir *ir, const cute_compiler *compiler, cute_compiled **out,
                                     cute_diag *diag);

#ifdef __cplusplus
}
#endif
#endif
