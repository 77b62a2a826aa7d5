/* cute-legalize-math: rewrites operations of math to forms that upstream's conversions accept, by the table
 * math.def.
 *
 * Requires: kernels in gpu.modules. Ensures there: libdevice functions on f32 and f64 and on vectors of rank
 * 1 only; those unknown to upstream are calls, approximate ones intrinsics; no math.fpowi, no math.ipowi.
 *
 *     %r = math.exp %v : bf16
 * ->
 *     %0 = arith.extf %v : bf16 to f32
 *     %1 = math.exp %0 : f32
 *     %r = arith.truncf %1 : f32 to bf16
 */
#include <mlir-c/BuiltinAttributes.h>
#include <mlir-c/BuiltinTypes.h>
#include <mlir-c/Dialect/LLVM.h>

#include "lib/ir/mlir/arith.h"
#include "lib/ir/mlir/shim.h"
#include "lib/ir/mlir/util.h"
#include "lib/passes/devices/target.h"
#include "lib/passes/passes.h"

typedef enum kind { PLAIN, CALL, OWN } kind;

typedef struct row {
    const char *name;
    kind kind;
    const char *f32, *f64, *approximate;
} row;

static const row rows[] = {
#define MATH(name, kind, f32, f64, approximate) {name, kind, f32, f64, approximate},
#include "lib/passes/devices/math.def"
};

typedef struct work {
    MlirOperation module;
    cute_pass_run *pass;
    bool changed;
} work;

enum { OPERANDS = 3 };

/* ---- types ---- */

static bool is_narrow(MlirType element)
{
    return mlirTypeIsAF16(element) || mlirTypeIsABF16(element);
}

static int64_t type_rank(MlirType type)
{
    return mlirTypeIsAVector(type) ? mlirShapedTypeGetRank(type) : 0;
}

/* ---- libdevice functions ---- */

static void declare_function(const work *w, const char *name, MlirType result, const MlirType *inputs,
                             intptr_t count)
{
    if (cute_symbol_in(w->module, name)) return;
    MlirContext c = mlirOperationGetContext(w->module);
    MlirNamedAttribute attributes[] = {
        cute_attribute(c, "sym_name", cute_string_attribute(c, name)),
        cute_attribute(c, "function_type",
                       mlirTypeAttrGet(mlirLLVMFunctionTypeGet(result, count, inputs, false))),
        cute_attribute(c, "linkage", mlirAttributeParseGet(c, cute_text("#llvm.linkage<external>"))),
    };
    MlirRegion body = mlirRegionCreate();
    cute_builder b = cute_builder_at_start(mlirRegionGetFirstBlock(mlirOperationGetRegion(w->module, 0)),
                                           mlirOperationGetLocation(w->module));
    cute_build_regions(&b, "llvm.func", CUTE_NO_OPERANDS, CUTE_NO_TYPES, (cute_named){attributes, 3}, &body,
                       1);
}

static MlirValue call_function(const cute_builder *b, const work *w, const char *function, MlirType result,
                               const MlirValue *operands, intptr_t count)
{
    MlirType inputs[OPERANDS];
    for (intptr_t i = 0; i < count; i++) inputs[i] = mlirValueGetType(operands[i]);
    declare_function(w, function, result, inputs, count);
    return cute_build_value(
        b, "llvm.call", result, (cute_operands){operands, count},
        CUTE_NAMED(
            cute_attribute(b->context, "callee", mlirFlatSymbolRefAttrGet(b->context, cute_text(function)))));
}

/* ---- integer powers ---- */

/* By squaring. With a negative exponent, only bases 1 and -1 have nonzero powers, which repeat:
 *     %e0 = %e < 0 ? %e & 1 : %e
 *     %p = scf.while (%a = 1, %b = %base, %e = %e0) { scf.condition(%e != 0) }
 *          do { %a * (%e & 1 ? %b : 1), %b * %b, %e >> 1 }
 *     %r = %e < 0 and %base not 1 or -1 ? 0 : %p */
static MlirValue integer_power(const cute_builder *b, MlirValue base, MlirValue exponent)
{
    MlirType type = mlirValueGetType(base), three[] = {type, type, type};
    MlirLocation locations[] = {b->location, b->location, b->location};
    MlirValue zero = cute_integer(b, type, 0), one = cute_integer(b, type, 1);
    MlirValue negative = cute_compare(b, CUTE_IS_SLT, exponent, zero);
    MlirValue first = cute_select(b, negative, cute_binary(b, "arith.andi", exponent, one), exponent);

    MlirRegion regions[] = {mlirRegionCreate(), mlirRegionCreate()};
    MlirBlock blocks[2];
    MlirValue arguments[2][3];
    for (int i = 0; i < 2; i++) {
        blocks[i] = mlirBlockCreate(3, three, locations);
        mlirRegionAppendOwnedBlock(regions[i], blocks[i]);
        for (int k = 0; k < 3; k++) arguments[i][k] = mlirBlockGetArgument(blocks[i], k);
    }
    MlirOperation loop = cute_build_regions(b, "scf.while", CUTE_OPERANDS(one, base, first),
                                            (cute_types){three, 3}, CUTE_NO_NAMED, regions, 2);
    cute_builder before = cute_builder_at_end(blocks[0], b->location),
                 after = cute_builder_at_end(blocks[1], b->location);
    MlirValue more = cute_compare(&before, CUTE_IS_NE, arguments[0][2], zero);
    cute_build(&before, "scf.condition",
               CUTE_OPERANDS(more, arguments[0][0], arguments[0][1], arguments[0][2]), CUTE_NO_TYPES,
               CUTE_NO_NAMED);
    MlirValue power = arguments[1][0], square = arguments[1][1], rest = arguments[1][2];
    MlirValue odd = cute_compare(&after, CUTE_IS_NE, cute_binary(&after, "arith.andi", rest, one), zero);
    MlirValue next[] = {
        cute_binary(&after, "arith.muli", power, cute_select(&after, odd, square, one)),
        cute_binary(&after, "arith.muli", square, square),
        cute_binary(&after, "arith.shrui", rest, one),
    };
    cute_build(&after, "scf.yield", (cute_operands){next, 3}, CUTE_NO_TYPES, CUTE_NO_NAMED);

    MlirValue other = cute_binary(b, "arith.andi", cute_compare(b, CUTE_IS_NE, base, one),
                                  cute_compare(b, CUTE_IS_NE, base, cute_integer(b, type, -1)));
    return cute_select(b, cute_binary(b, "arith.andi", negative, other), zero,
                       mlirOperationGetResult(loop, 0));
}

/* ---- one operation ---- */

/* On scalars. */
static MlirValue lower_own_scalar(const cute_builder *b, const work *w, const row *r, MlirValue *operands,
                                  intptr_t count)
{
    MlirType type = mlirValueGetType(operands[0]), i32 = mlirIntegerTypeGet(b->context, 32);
    if (r->kind == CALL)
        return cute_build_value(
            b, "llvm.call_intrinsic", type, (cute_operands){operands, count},
            CUTE_NAMED(
                cute_attribute(b->context, "intrin", cute_string_attribute(b->context, r->approximate))));
    if (!r->f32) return integer_power(b, operands[0], operands[1]);
    if (count == 2 && mlirTypeIsAInteger(mlirValueGetType(operands[1])) &&
        !mlirTypeEqual(mlirValueGetType(operands[1]), i32))
        operands[1] = cute_unary(b, "arith.extsi", operands[1], i32);
    return call_function(b, w, mlirTypeIsAF64(type) ? r->f64 : r->f32, type, operands, count);
}

/* Applies it to each element of vectors of rank 1. */
static MlirValue own_each(const cute_builder *b, const work *w, const row *r, const MlirValue *vectors,
                          intptr_t count)
{
    MlirType type = mlirValueGetType(vectors[0]);
    if (!mlirTypeIsAVector(type)) {
        MlirValue operands[OPERANDS];
        memcpy(operands, vectors, (size_t)count * sizeof *operands);
        return lower_own_scalar(b, w, r, operands, count);
    }
    MlirValue result = cute_undefined(b, type);
    for (int64_t i = 0; i < cute_vector_count(type); i++) {
        MlirValue operands[OPERANDS];
        for (intptr_t k = 0; k < count; k++) operands[k] = cute_vector_extract(b, vectors[k], i);
        result = cute_vector_insert(b, result, lower_own_scalar(b, w, r, operands, count), i);
    }
    return result;
}

static void lower_math_op(MlirOperation op, const work *w, const row *r, bool flatten, bool widen,
                          bool approximate)
{
    cute_builder b = cute_builder_before(op);
    MlirValue result = mlirOperationGetResult(op, 0), operands[OPERANDS];
    MlirType type = mlirValueGetType(result), f32 = mlirF32TypeGet(b.context);
    intptr_t count = mlirOperationGetNumOperands(op);
    for (intptr_t i = 0; i < count; i++) {
        operands[i] = mlirOperationGetOperand(op, i);
        MlirType from = mlirValueGetType(operands[i]);
        if (flatten) from = cute_vector_flat(from);
        if (flatten) operands[i] = cute_unary(&b, "vector.shape_cast", operands[i], from);
        if (widen && is_narrow(cute_type_element(from)))
            operands[i] = cute_unary(&b, "arith.extf", operands[i], cute_type_with_element(from, f32));
    }
    MlirType computed = mlirValueGetType(operands[0]);
    MlirAttribute flags = mlirOperationGetAttributeByName(op, cute_text("fastmath"));
    MlirNamedAttribute fastmath = {0};
    if (!mlirAttributeIsNull(flags)) fastmath = cute_attribute(b.context, "fastmath", flags);
    MlirValue value = r->kind == OWN || approximate
                          ? own_each(&b, w, r, operands, count)
                          : cute_build_value(&b, r->name, computed, (cute_operands){operands, count},
                                             (cute_named){&fastmath, !mlirAttributeIsNull(flags)});
    if (widen) value = cute_unary(&b, "arith.truncf", value, flatten ? cute_vector_flat(type) : type);
    if (flatten) value = cute_unary(&b, "vector.shape_cast", value, type);
    mlirValueReplaceAllUsesOfWith(result, value);
    mlirOperationDestroy(op);
}

static bool has_wide_exponent(MlirOperation op)
{
    MlirType exponent = cute_type_element(mlirValueGetType(mlirOperationGetOperand(op, 1)));
    return mlirIntegerTypeGetWidth(exponent) > 32;
}

static void visit_math_op(MlirOperation op, void *context)
{
    work *w = context;
    size_t i = 0, count = sizeof rows / sizeof *rows;
    while (i < count && !cute_op_is(op, rows[i].name)) i++;
    if (i == count || rows[i].kind == PLAIN) return;
    MlirType type = mlirValueGetType(mlirOperationGetResult(op, 0));
    bool flatten = type_rank(type) > 1, widen = is_narrow(cute_type_element(type));
    bool approximate =
        rows[i].approximate && !mlirTypeIsAF64(cute_type_element(type)) && cute_may_approximate(op);
    if (cute_op_is(op, "math.fpowi") && has_wide_exponent(op)) {
        cute_emit_error(mlirOperationGetLocation(op),
                        "'math.fpowi' op expected an exponent of up to 32 bits");
        cute_pass_fail(w->pass);
    } else if (flatten || widen || approximate || rows[i].kind == OWN) {
        lower_math_op(op, w, &rows[i], flatten, widen, approximate);
        w->changed = true;
    }
}

static void legalize_module(MlirOperation op, void *context)
{
    work *w = context;
    w->module = op;
    cute_op_each(op, "math.", visit_math_op, w);
}

static void run_legalize_math(MlirOperation root, cute_pass_run *pass)
{
    work w = {.pass = pass};
    cute_op_each(root, "gpu.module", legalize_module, &w);
    if (!w.changed) cute_pass_unchanged(pass);
}

const cute_pass cute_pass_legalize_math = {
    .name = "cute-legalize-math",
    .help = "Rewrite operations of math to types and functions that exist on devices",
    .anchor = "builtin.module",
    .dialects =
        CUTE_DIALECT_ARITH | CUTE_DIALECT_LLVM | CUTE_DIALECT_MATH | CUTE_DIALECT_SCF | CUTE_DIALECT_VECTOR,
    .run = run_legalize_math,
};
