/* cute-legalize-arith: lowers operations of arith that upstream's conversions lack or get wrong.
 *
 * Requires: kernels in gpu.modules. Ensures there: no arith.ceildivsi (MLIR 19 negates the dividend, which
 * overflows for the smallest integer); conversions from and to f8E4M3FN and f8E5M2 are the PTX instructions
 * of sm_89, which saturate; no other 8-bit floats are converted; no arith.addui_extended of index, and no
 * operation with two results on vectors of rank 2 and more; divisions of f32 that may be approximated are div.approx or rcp.approx; arith.maxnumf, arith.minnumf, arith.maximumf and
 * arith.minimumf are intrinsics where these are one instruction (arith-expand emits three); bytes are shifted and converted to f16 four or
 * two at a time (byte_vectors.h).
 *
 *     %r = arith.extf %v : f8E4M3FN to f32
 * ->
 *     %0 = arith.bitcast %v : f8E4M3FN to i8
 *     %1 = llvm.inline_asm "cvt.rn.f16x2.e4m3x2 $0, $1;", "=r,h" ...
 */
#include <mlir-c/BuiltinTypes.h>
#include <stdio.h>

#include "lib/ir/mlir/arith.h"
#include "lib/ir/mlir/shim.h"
#include "lib/ir/mlir/util.h"
#include "lib/passes/devices/byte_vectors.h"
#include "lib/passes/devices/target.h"
#include "lib/passes/passes.h"

/* ---- division ---- */

/* The truncated quotient, plus one if it is inexact and positive. */
static bool lower_ceildiv(MlirOperation op, const cute_device_work *w)
{
    (void)w;
    cute_builder b = cute_builder_before(op);
    MlirValue x = mlirOperationGetOperand(op, 0), y = mlirOperationGetOperand(op, 1);
    MlirType type = mlirValueGetType(x);
    MlirValue zero = cute_integer(&b, type, 0);
    MlirValue quotient = cute_binary(&b, "arith.divsi", x, y);
    MlirValue rest = cute_binary(&b, "arith.subi", x, cute_binary(&b, "arith.muli", quotient, y));
    MlirValue inexact = cute_compare(&b, CUTE_IS_NE, rest, zero);
    MlirValue positive = cute_compare(&b, CUTE_IS_SGE, cute_binary(&b, "arith.xori", rest, y), zero);
    MlirValue up = cute_binary(&b, "arith.andi", inexact, positive);
    MlirValue above = cute_binary(&b, "arith.addi", quotient, cute_integer(&b, type, 1));
    mlirValueReplaceAllUsesOfWith(mlirOperationGetResult(op, 0), cute_select(&b, up, above, quotient));
    return true;
}

static bool is_one(MlirValue value)
{
    MlirAttribute element = cute_constant_splat(value);
    if (mlirAttributeIsNull(element)) {
        MlirOperation op = cute_defining_op(value);
        if (mlirOperationIsNull(op) || !cute_op_is(op, "arith.constant")) return false;
        element = mlirOperationGetAttributeByName(op, cute_text("value"));
    }
    return mlirAttributeIsAFloat(element) && mlirFloatAttrGetValueDouble(element) == 1;
}

/* Of f32, where it may be approximated: LLVM's division is exact whatever its flags are. One is divided by a reciprocal. */
static bool lower_division(MlirOperation op, const cute_device_work *w)
{
    (void)w;
    MlirType type = mlirValueGetType(mlirOperationGetResult(op, 0)), f32 = cute_type_element(type);
    if (!mlirTypeIsAF32(f32) || !cute_may_approximate(op)) return false;
    cute_builder b = cute_builder_before(op);
    intptr_t from = is_one(mlirOperationGetOperand(op, 0)); /* of the operands */
    const MlirNamedAttribute intrinsic = cute_attribute(
        b.context, "intrin",
        cute_string_attribute(b.context, from ? "llvm.nvvm.rcp.approx.ftz.f" : "llvm.nvvm.div.approx.ftz.f"));
    MlirValue in[2], out;
    bool vector = mlirTypeIsAVector(type), flat = vector && mlirShapedTypeGetRank(type) != 1;
    for (intptr_t i = 0; i < 2; i++) {
        in[i] = mlirOperationGetOperand(op, i);
        if (flat) in[i] = cute_unary(&b, "vector.shape_cast", in[i], cute_vector_flat(type));
    }
    if (!vector) {
        out = cute_build_value(&b, "llvm.call_intrinsic", f32, (cute_operands){in + from, 2 - from},
                               CUTE_NAMED(intrinsic));
    } else {
        out = cute_undefined(&b, cute_vector_flat(type));
        for (int64_t i = 0; i < cute_vector_count(type); i++) {
            MlirValue of[2] = {cute_vector_extract(&b, in[0], i), cute_vector_extract(&b, in[1], i)};
            out = cute_vector_insert(&b, out,
                                     cute_build_value(&b, "llvm.call_intrinsic", f32,
                                                      (cute_operands){of + from, 2 - from},
                                                      CUTE_NAMED(intrinsic)),
                                     i);
        }
    }
    if (flat) out = cute_unary(&b, "vector.shape_cast", out, type);
    mlirValueReplaceAllUsesOfWith(mlirOperationGetResult(op, 0), out);
    return true;
}

/* Operations with two operands and two results, on vectors of rank 1. */
static bool lower_extended(MlirOperation op, const cute_device_work *w)
{
    (void)w;
    MlirType type = mlirValueGetType(mlirOperationGetResult(op, 0));
    if (!mlirTypeIsAVector(type) || mlirShapedTypeGetRank(type) < 2) return false;
    cute_builder b = cute_builder_before(op);
    MlirValue operands[2];
    MlirType types[2];
    for (intptr_t i = 0; i < 2; i++) {
        MlirValue operand = mlirOperationGetOperand(op, i);
        operands[i] =
            cute_unary(&b, "vector.shape_cast", operand, cute_vector_flat(mlirValueGetType(operand)));
        types[i] = cute_vector_flat(mlirValueGetType(mlirOperationGetResult(op, i)));
    }
    char name[32];
    MlirStringRef text = mlirIdentifierStr(mlirOperationGetName(op));
    snprintf(name, sizeof name, "%.*s", (int)text.length, text.data);
    MlirOperation made =
        cute_build(&b, name, (cute_operands){operands, 2}, (cute_types){types, 2}, CUTE_NO_NAMED);
    for (intptr_t i = 0; i < 2; i++) {
        MlirValue old = mlirOperationGetResult(op, i);
        mlirValueReplaceAllUsesOfWith(
            old, cute_unary(&b, "vector.shape_cast", mlirOperationGetResult(made, i), mlirValueGetType(old)));
    }
    return true;
}

static bool lower_extended_add(MlirOperation op, const cute_device_work *w)
{
    cute_builder b = cute_builder_before(op);
    MlirValue x = mlirOperationGetOperand(op, 0);
    if (!mlirTypeIsAIndex(cute_type_element(mlirValueGetType(x)))) return lower_extended(op, w);
    MlirValue sum = cute_binary(&b, "arith.addi", x, mlirOperationGetOperand(op, 1));
    mlirValueReplaceAllUsesOfWith(mlirOperationGetResult(op, 0), sum);
    mlirValueReplaceAllUsesOfWith(mlirOperationGetResult(op, 1), cute_compare(&b, CUTE_IS_ULT, sum, x));
    return true;
}

/* ---- maxima ---- */

/* Uses an intrinsic where it is one instruction: for f32 and f64, as scalars and in vectors of rank 1. */
static bool lower_extremum(MlirOperation op, const char *intrinsic)
{
    MlirType type = mlirValueGetType(mlirOperationGetResult(op, 0)), element = cute_type_element(type);
    if (!mlirTypeIsAF32(element) && !mlirTypeIsAF64(element)) return false;
    if (mlirTypeIsAVector(type) && mlirShapedTypeGetRank(type) != 1) return false;
    cute_builder b = cute_builder_before(op);
    MlirValue x = mlirOperationGetOperand(op, 0), y = mlirOperationGetOperand(op, 1);
    mlirValueReplaceAllUsesOfWith(mlirOperationGetResult(op, 0), cute_binary(&b, intrinsic, x, y));
    return true;
}

static bool lower_maxnum(MlirOperation op, const cute_device_work *w)
{
    return (void)w, lower_extremum(op, "llvm.intr.maxnum");
}

static bool lower_minnum(MlirOperation op, const cute_device_work *w)
{
    return (void)w, lower_extremum(op, "llvm.intr.minnum");
}

/* NaN if one is: one instruction for f32 on the architectures that have it; of LLVM, not of libNVVM. */
static bool lower_nan_extremum(MlirOperation op, const cute_device_work *w, const char *intrinsic)
{
    MlirType element = cute_type_element(mlirValueGetType(mlirOperationGetResult(op, 0)));
    bool has = w->arch && cute_arch_has(w->arch->number, CUTE_FEATURE_MAX_NAN) &&
               w->arch->backends & CUTE_BACKEND_NVPTX;
    return has && mlirTypeIsAF32(element) && lower_extremum(op, intrinsic);
}

static bool lower_maximum(MlirOperation op, const cute_device_work *w)
{
    return lower_nan_extremum(op, w, "llvm.intr.maximum");
}

static bool lower_minimum(MlirOperation op, const cute_device_work *w)
{
    return lower_nan_extremum(op, w, "llvm.intr.minimum");
}

/* ---- 8-bit floats ---- */

/* PTX's name of a format; NULL if PTX lacks it. */
static const char *format_of(MlirType type)
{
    return mlirTypeIsAFloat8E4M3FN(type) ? "e4m3x2" : mlirTypeIsAFloat8E5M2(type) ? "e5m2x2" : NULL;
}

static bool is_f8(MlirType type)
{
    return mlirTypeIsAFloat(type) && mlirFloatTypeGetWidth(type) == 8;
}

/* Converts two 8-bit floats, packed in an i16, to a pair of f16; and back, from f32. */
static MlirValue widen_pair(const cute_builder *b, const char *format, MlirValue bytes)
{
    cute_buffer text = {0};
    int64_t two = 2;
    cute_buffer_printf(&text, "cvt.rn.f16x2.%s $0, $1;", format);
    MlirValue bits = cute_assembly(b, false, cute_buffer_text(&text), "=r,h", CUTE_OPERANDS(bytes),
                                   mlirIntegerTypeGet(b->context, 32));
    cute_buffer_release(&text);
    return cute_unary(b, "llvm.bitcast", bits, mlirVectorTypeGet(1, &two, mlirF16TypeGet(b->context)));
}

static MlirValue narrow_pair(const cute_builder *b, const char *format, MlirValue low, MlirValue high)
{
    cute_buffer text = {0};
    cute_buffer_printf(&text, "cvt.rn.satfinite.%s.f32 $0, $1, $2;", format);
    MlirValue bytes = cute_assembly(b, false, cute_buffer_text(&text), "=h,f,f", CUTE_OPERANDS(high, low),
                                    mlirIntegerTypeGet(b->context, 16));
    cute_buffer_release(&text);
    return bytes;
}

/* The elements of a scalar, or of a vector of any shape, one by one. */
typedef struct elements {
    MlirType type, flat;
    MlirValue value;
    int64_t count;
} elements;

static elements read_elements(const cute_builder *b, MlirValue value)
{
    MlirType type = mlirValueGetType(value);
    elements e = {.type = type, .flat = type, .value = value, .count = cute_vector_count(type)};
    if (!mlirTypeIsAVector(type)) return e;
    e.flat = cute_vector_flat(type);
    e.value = cute_unary(b, "vector.shape_cast", value, e.flat);
    return e;
}

static MlirValue extract_element(const cute_builder *b, const elements *e, int64_t i)
{
    return mlirTypeIsAVector(e->type) ? cute_vector_extract(b, e->value, i) : e->value;
}

static void set_element(const cute_builder *b, elements *e, MlirValue value, int64_t i)
{
    if (!mlirTypeIsAVector(e->type))
        e->value = value;
    else
        e->value = cute_vector_insert(b, e->value, value, i);
}

static elements new_elements(const cute_builder *b, MlirType type, MlirType element)
{
    elements e = {.type = type, .flat = element, .count = cute_vector_count(type)};
    if (!mlirTypeIsAVector(type)) return e;
    e.flat = cute_type_with_element(cute_vector_flat(type), element);
    e.value = cute_undefined(b, e.flat);
    return e;
}

static MlirValue in_shape(const cute_builder *b, const elements *e, MlirType type)
{
    return mlirTypeIsAVector(type) ? cute_unary(b, "vector.shape_cast", e->value, type) : e->value;
}

/* Converts exactly from f16, to f16 or wider. */
static MlirValue to_float(const cute_builder *b, MlirValue half, MlirType type)
{
    if (mlirTypeIsAF16(type)) return half;
    if (!mlirTypeIsABF16(type)) return cute_unary(b, "arith.extf", half, type);
    return cute_unary(b, "arith.truncf", cute_unary(b, "arith.extf", half, mlirF32TypeGet(b->context)), type);
}

static void widen_fp8(MlirOperation op, const char *format)
{
    cute_builder b = cute_builder_before(op);
    MlirValue source = mlirOperationGetOperand(op, 0), result = mlirOperationGetResult(op, 0);
    MlirType type = mlirValueGetType(result), i8 = mlirIntegerTypeGet(b.context, 8),
             i16 = mlirIntegerTypeGet(b.context, 16);
    source = cute_unary(&b, "arith.bitcast", source, cute_type_with_element(mlirValueGetType(source), i8));
    elements in = read_elements(&b, source), out = new_elements(&b, type, cute_type_element(type));
    for (int64_t i = 0; i < in.count; i += 2) {
        MlirValue bytes = cute_unary(&b, "arith.extui", extract_element(&b, &in, i), i16);
        if (i + 1 < in.count) {
            MlirValue high = cute_unary(&b, "arith.extui", extract_element(&b, &in, i + 1), i16);
            high = cute_binary(&b, "arith.shli", high, cute_integer(&b, i16, 8));
            bytes = cute_binary(&b, "arith.ori", bytes, high);
        }
        MlirValue pair = widen_pair(&b, format, bytes);
        for (int64_t k = 0; k < 2 && i + k < in.count; k++)
            set_element(&b, &out, to_float(&b, cute_vector_extract(&b, pair, k), cute_type_element(type)),
                        i + k);
    }
    mlirValueReplaceAllUsesOfWith(result, in_shape(&b, &out, type));
}

static MlirValue from_float(const cute_builder *b, MlirValue value)
{
    MlirType f32 = mlirF32TypeGet(b->context);
    return mlirTypeIsAF32(mlirValueGetType(value)) ? value : cute_unary(b, "arith.extf", value, f32);
}

static void narrow_to_fp8(MlirOperation op, const char *format)
{
    cute_builder b = cute_builder_before(op);
    MlirValue result = mlirOperationGetResult(op, 0);
    MlirType type = mlirValueGetType(result), i8 = mlirIntegerTypeGet(b.context, 8),
             i16 = mlirIntegerTypeGet(b.context, 16);
    elements in = read_elements(&b, mlirOperationGetOperand(op, 0)), out = new_elements(&b, type, i8);
    for (int64_t i = 0; i < in.count; i += 2) {
        MlirValue low = from_float(&b, extract_element(&b, &in, i));
        MlirValue high = i + 1 < in.count ? from_float(&b, extract_element(&b, &in, i + 1)) : low;
        MlirValue bytes = narrow_pair(&b, format, low, high);
        set_element(&b, &out, cute_unary(&b, "arith.trunci", bytes, i8), i);
        if (i + 1 == in.count) break;
        bytes = cute_binary(&b, "arith.shrui", bytes, cute_integer(&b, i16, 8));
        set_element(&b, &out, cute_unary(&b, "arith.trunci", bytes, i8), i + 1);
    }
    MlirValue shaped = in_shape(&b, &out, cute_type_with_element(type, i8));
    mlirValueReplaceAllUsesOfWith(result, cute_unary(&b, "arith.bitcast", shaped, type));
}

/* Reports "'arith.extf' op expected f8E4M3FN or f8E5M2, got 'f8E4M3B11FNUZ'". */
static bool refuse_conversion(MlirOperation op, const cute_device_work *w, const char *what, MlirType type)
{
    cute_buffer text = {0};
    MlirStringRef name = mlirIdentifierStr(mlirOperationGetName(op));
    cute_buffer_printf(&text, "'%.*s' op expected %s, got '", (int)name.length, name.data, what);
    mlirTypePrint(type, cute_print_to_buffer, &text);
    cute_buffer_puts(&text, "'");
    cute_emit_error(mlirOperationGetLocation(op), cute_buffer_text(&text));
    cute_buffer_release(&text);
    cute_pass_fail(w->pass);
    return false;
}

static bool lower_fp8_conversion(MlirOperation op, const cute_device_work *w)
{
    MlirType from = cute_type_element(mlirValueGetType(mlirOperationGetOperand(op, 0)));
    MlirType to = cute_type_element(mlirValueGetType(mlirOperationGetResult(op, 0)));
    if (!is_f8(from) && !is_f8(to)) return false;
    MlirType f8 = is_f8(from) ? from : to;
    const char *format = format_of(f8);
    if (!format || (is_f8(from) && is_f8(to)))
        return refuse_conversion(op, w, "f8E4M3FN or f8E5M2 and a wider float", f8);
    if (mlirTypeIsAF64(from)) return refuse_conversion(op, w, "f16, bf16 or f32 to narrow to 8 bits", from);
    if (w->arch && !cute_arch_has(w->arch->number, CUTE_FEATURE_FP8)) {
        cute_buffer text = {0};
        MlirStringRef name = mlirIdentifierStr(mlirOperationGetName(op));
        cute_buffer_printf(&text, "'%.*s' op of an 8-bit float needs sm_%d, got %s", (int)name.length,
                           name.data, cute_feature_first(CUTE_FEATURE_FP8), w->arch->name);
        cute_emit_error(mlirOperationGetLocation(op), cute_buffer_text(&text));
        cute_buffer_release(&text);
        cute_pass_fail(w->pass);
        return false;
    }
    if (is_f8(from))
        widen_fp8(op, format);
    else
        narrow_to_fp8(op, format);
    return true;
}

/* ---- the pass ---- */

/* True: the operation was replaced. */
static const struct {
    const char *name;
    bool (*lower)(MlirOperation op, const cute_device_work *w);
} rows[] = {
    {"arith.addui_extended", lower_extended_add},
    {"arith.ceildivsi", lower_ceildiv},
    {"arith.divf", lower_division},
    {"arith.extf", lower_fp8_conversion},
    {"arith.maximumf", lower_maximum},
    {"arith.maxnumf", lower_maxnum},
    {"arith.minimumf", lower_minimum},
    {"arith.minnumf", lower_minnum},
    {"arith.mulsi_extended", lower_extended},
    {"arith.mului_extended", lower_extended},
    {"arith.shrsi", cute_lower_byte_shift},
    {"arith.sitofp", cute_lower_byte_conversion},
    {"arith.truncf", lower_fp8_conversion},
    {"arith.uitofp", cute_lower_byte_conversion},
};

static void lower_arith_op(MlirOperation op, void *context)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (!cute_op_is(op, rows[i].name)) continue;
        if (rows[i].lower(op, context)) {
            mlirOperationDestroy(op);
            ((cute_device_work *)context)->changed = true;
        }
        return;
    }
}

static void run_legalize_arith(MlirOperation root, cute_pass_run *pass)
{
    cute_lower_each(root, pass, "arith.", CUTE_WALK_OUTER_FIRST, lower_arith_op);
}

static const cute_pass_option options[] = {
    CUTE_ARCH_OPTION,
};

const cute_pass cute_pass_legalize_arith = {
    .name = "cute-legalize-arith",
    .help = "Lower operations of arith without a device lowering upstream",
    .anchor = "builtin.module",
    .options = options,
    .option_count = 1,
    .dialects = CUTE_DIALECT_ARITH | CUTE_DIALECT_LLVM | CUTE_DIALECT_MATH | CUTE_DIALECT_VECTOR,
    .run = run_legalize_arith,
};
