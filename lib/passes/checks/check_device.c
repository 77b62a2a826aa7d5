/* cute-check-device: rejects operations that cannot be lowered or that the target lacks.
 *
 * Requires: kernels in gpu.modules, as users write them. Ensures for gpu.modules: `arch` has the operations;
 * PTX accepts the names of functions; workgroup and private memory have known extents; inline assembly
 * refers to existing operands; dimensions and loop steps are at least 1; no types that PTX lacks, and no
 * arithmetic on 8-bit floats. Changes nothing. Without `arch`, the targets of each gpu.module apply.
 *
 *     %r = arith.addf %v, %v : f128
 * ->
 *     error: 'arith.addf' op expected f16, bf16, f32 or f64, got 'f128'
 */
#include <mlir-c/BuiltinAttributes.h>
#include <mlir-c/BuiltinTypes.h>

#include "lib/ir/mlir/kernel.h"
#include "lib/ir/mlir/shim.h"
#include "lib/ir/mlir/util.h"
#include "lib/passes/devices/target.h"
#include "lib/passes/passes.h"

typedef struct check {
    const cute_arch *arch;
    cute_pass_run *pass;
} check;

static void fail_with_text(const check *c, MlirLocation location, cute_buffer *text)
{
    cute_emit_error(location, cute_buffer_text(text));
    cute_buffer_release(text);
    cute_pass_fail(c->pass);
}

/* Reports "'arith.addf' op expected WHAT, got 'TYPE'". */
static void fail_type(const check *c, MlirOperation op, const char *what, MlirType type)
{
    cute_buffer text = {0};
    MlirStringRef name = mlirIdentifierStr(mlirOperationGetName(op));
    cute_buffer_printf(&text, "'%.*s' op expected %s, got '", (int)name.length, name.data, what);
    mlirTypePrint(type, cute_print_to_buffer, &text);
    cute_buffer_puts(&text, "'");
    fail_with_text(c, mlirOperationGetLocation(op), &text);
}

/* ---- names ---- */

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* PTX ISA, "Identifiers". LLVM rewrites the dots in names that are local to a module. */
static bool is_identifier(MlirStringRef name, bool points)
{
    for (size_t i = 0; i < name.length; i++) {
        char c = name.data[i];
        bool digit = c >= '0' && c <= '9';
        if (is_letter(c) || c == '_' || c == '$' || (digit && i > 0) || (points && c == '.')) continue;
        return false;
    }
    return name.length > 0;
}

static bool is_kernel(MlirOperation op)
{
    return cute_kernel_is(op) || cute_op_has(op, "kernel");
}

static void check_name(const check *c, MlirOperation function)
{
    MlirAttribute attribute = mlirOperationGetAttributeByName(function, cute_text("sym_name"));
    if (mlirAttributeIsNull(attribute)) return;
    MlirStringRef name = mlirStringAttrGetValue(attribute);
    if (is_identifier(name, !is_kernel(function))) return;
    cute_buffer text = {0};
    cute_buffer_printf(&text, "expected a name of letters, digits, '_' and '$', as PTX requires, got '%.*s'",
                       (int)name.length, name.data);
    fail_with_text(c, mlirOperationGetLocation(function), &text);
}

/* ---- workgroup and private memory ---- */

static void check_attributions(const check *c, MlirOperation function)
{
    MlirAttribute type = mlirOperationGetAttributeByName(function, cute_text("function_type"));
    MlirBlock body = mlirRegionGetFirstBlock(mlirOperationGetRegion(function, 0));
    if (mlirAttributeIsNull(type) || mlirBlockIsNull(body)) return;
    intptr_t inputs = mlirFunctionTypeGetNumInputs(mlirTypeAttrGetValue(type));
    for (intptr_t i = inputs; i < mlirBlockGetNumArguments(body); i++) {
        MlirValue buffer = mlirBlockGetArgument(body, i);
        MlirType memref = mlirValueGetType(buffer);
        if (!mlirTypeIsAMemRef(memref) || mlirShapedTypeHasStaticShape(memref)) continue;
        cute_buffer text = {0};
        cute_buffer_puts(&text, "expected workgroup or private memory of known extent, got '");
        mlirTypePrint(memref, cute_print_to_buffer, &text);
        cute_buffer_puts(&text, "'; gpu.dynamic_shared_memory is sized at launch");
        fail_with_text(c, cute_argument_location(buffer), &text);
    }
}

/* ---- inline assembly ---- */

/* Number of outputs and inputs in an LLVM constraint string, without clobbers. */
static int64_t count_constraints(MlirStringRef text)
{
    int64_t count = 0;
    for (size_t i = 0; i < text.length;) {
        if (text.data[i] != '~') count++;
        int depth = 0;
        for (; i < text.length && (depth > 0 || text.data[i] != ','); i++)
            depth += text.data[i] == '{' ? 1 : text.data[i] == '}' ? -1 : 0;
        i++;
    }
    return count;
}

/* Operand that `$7`, `${7}` or `${7:c}` at `at` refers to, of *length characters; -1: none. */
static int64_t operand_reference(MlirStringRef text, size_t at, size_t *length)
{
    size_t i = at + 1;
    bool braces = i < text.length && text.data[i] == '{';
    if (braces) i++;
    int64_t number = -1;
    for (; i < text.length && text.data[i] >= '0' && text.data[i] <= '9' && number < 100000; i++)
        number = (number < 0 ? 0 : number * 10) + (text.data[i] - '0');
    if (number < 0 && i < text.length) i++; /* "$$" */
    *length = i - at;
    return number;
}

/* Number of input constraints: all except `=r`, but including `=*m`. */
static int64_t count_inputs(MlirStringRef text)
{
    int64_t count = 0;
    for (size_t i = 0; i < text.length;) {
        bool output = text.data[i] == '=' && !(i + 1 < text.length && text.data[i + 1] == '*');
        if (text.data[i] != '~' && !output) count++;
        int depth = 0;
        for (; i < text.length && (depth > 0 || text.data[i] != ','); i++)
            depth += text.data[i] == '{' ? 1 : text.data[i] == '}' ? -1 : 0;
        i++;
    }
    return count;
}

static void check_assembly(const check *c, MlirOperation op)
{
    MlirStringRef text = mlirStringAttrGetValue(mlirOperationGetAttributeByName(op, cute_text("asm_string")));
    MlirStringRef constraints =
        mlirStringAttrGetValue(mlirOperationGetAttributeByName(op, cute_text("constraints")));
    int64_t count = count_constraints(constraints), inputs = count_inputs(constraints);
    if (inputs != mlirOperationGetNumOperands(op)) {
        cute_buffer message = {0};
        cute_buffer_printf(&message, "'llvm.inline_asm' op expected %d operands for its constraints, got %d",
                           (int)inputs, (int)mlirOperationGetNumOperands(op));
        fail_with_text(c, mlirOperationGetLocation(op), &message);
        return;
    }
    for (size_t i = 0, length; i < text.length; i += length) {
        length = 1;
        if (text.data[i] != '$') continue;
        int64_t number = operand_reference(text, i, &length);
        if (number < count) continue;
        cute_buffer message = {0};
        if (count)
            cute_buffer_printf(&message,
                               "'llvm.inline_asm' op expected operands $0 to $%d of its constraints, got $%d",
                               (int)count - 1, (int)number);
        else
            cute_buffer_printf(
                &message, "'llvm.inline_asm' op expected no operand references without constraints, got $%d",
                (int)number);
        fail_with_text(c, mlirOperationGetLocation(op), &message);
        return;
    }
}

/* ---- operations without a lowering ---- */

static const struct {
    const char *name, *instead;
} unknown[] = {
    {"memref.alloc", "memref.alloca, or workgroup memory of the kernel"},
    {"memref.dealloc", "memref.alloca, whose memory is released automatically"},
    {"memref.realloc", "memref.alloca, or workgroup memory of the kernel"},
    {"vector.flat_transpose", "vector.transpose"},
    {"vector.matrix_multiply", "vector.contract"},
    {"vector.print", "gpu.printf"},
    {"vector.reshape", "vector.shape_cast"},
    {"vector.scalable.extract", "a vector of known length"},
    {"vector.scalable.insert", "a vector of known length"},
    {"vector.vscale", "a vector of known length"},
    {"vector.warp_execute_on_lane_0", "scf.if on gpu.lane_id"},
};

static void check_known(const check *c, MlirOperation op)
{
    if (!cute_op_of(op, "vector.") && !cute_op_of(op, "memref.")) return;
    for (size_t i = 0; i < sizeof unknown / sizeof *unknown; i++) {
        if (!cute_op_is(op, unknown[i].name)) continue;
        cute_buffer text = {0};
        cute_buffer_printf(&text, "'%s' op is not lowered to PTX; expected %s", unknown[i].name,
                           unknown[i].instead);
        fail_with_text(c, mlirOperationGetLocation(op), &text);
        return;
    }
}

/* vector.load and vector.store of one row. */
static void check_row(const check *c, MlirOperation op)
{
    bool load = cute_op_is(op, "vector.load");
    if (!load && !cute_op_is(op, "vector.store")) return;
    MlirType type = mlirValueGetType(load ? mlirOperationGetResult(op, 0) : mlirOperationGetOperand(op, 0));
    if (mlirShapedTypeGetRank(type) > 1)
        fail_type(c, op,
                  load ? "a vector of rank 1 (vector.transfer_read takes any)"
                       : "a vector of rank 1 (vector.transfer_write takes any)",
                  type);
}

/* ---- types ---- */

static MlirType element_of(MlirType type)
{
    return mlirTypeIsAVector(type) ? mlirShapedTypeGetElementType(type) : type;
}

static bool check_shape(const check *c, MlirOperation op, MlirType type)
{
    if (!mlirTypeIsAVector(type)) return true;
    if (mlirVectorTypeIsScalable(type)) {
        fail_type(c, op, "a vector of known length", type);
        return false;
    }
    bool elementwise = cute_op_of(op, "arith.") || cute_op_of(op, "math.");
    if (!elementwise || mlirShapedTypeGetRank(type) > 0) return true;
    fail_type(c, op, "a scalar or a vector of rank 1 or more", type);
    return false;
}

/* False after an error. */
static bool check_type(const check *c, MlirOperation op, MlirType type)
{
    MlirType element = element_of(type);
    if (!mlirTypeIsAFloat(element)) return true;
    if (mlirFloatTypeGetWidth(element) <= 64 && !mlirTypeIsATF32(element)) return true;
    fail_type(c, op, "f16, bf16, f32 or f64", element);
    return false;
}

/* Whether an operation only moves, converts or reinterprets 8-bit floats. */
static bool moves_bits(MlirOperation op)
{
    static const char *const names[] = {"arith.bitcast", "arith.constant", "arith.extf", "arith.select",
                                        "arith.truncf"};
    if (!cute_op_of(op, "arith.") && !cute_op_of(op, "math.")) return true;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (cute_op_is(op, names[i])) return true;
    return false;
}

static bool check_value(const check *c, MlirOperation op, MlirType type, bool moves)
{
    if (!check_shape(c, op, type) || !check_type(c, op, type)) return false;
    MlirType element = element_of(type);
    if (moves || !mlirTypeIsAFloat(element) || mlirFloatTypeGetWidth(element) > 8) return true;
    fail_type(c, op, "f16, bf16, f32 or f64 (convert with arith.extf)", element);
    return false;
}

static void check_op_types(const check *c, MlirOperation op)
{
    bool moves = moves_bits(op);
    for (intptr_t i = 0; i < mlirOperationGetNumResults(op); i++)
        if (!check_value(c, op, mlirValueGetType(mlirOperationGetResult(op, i)), moves)) return;
    for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); i++)
        if (!check_value(c, op, mlirValueGetType(mlirOperationGetOperand(op, i)), moves)) return;
}

/* ---- numbers ---- */

/* PTX ISA, "Performance-tuning directives": dimensions are at least 1. */
static void check_dimensions(const check *c, MlirOperation op)
{
    static const char *const names[] = {"nvvm.reqntid",       "nvvm.maxntid",         "nvvm.cluster_dim",
                                        "known_block_size",   "gpu.known_block_size", "known_grid_size",
                                        "gpu.known_grid_size"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        MlirAttribute sizes = mlirOperationGetAttributeByName(op, cute_text(names[i]));
        if (mlirAttributeIsNull(sizes) || !mlirAttributeIsADenseI32Array(sizes)) continue;
        for (intptr_t k = 0; k < mlirDenseArrayGetNumElements(sizes); k++) {
            int32_t size = mlirDenseI32ArrayGetElement(sizes, k);
            if (size > 0) continue;
            cute_buffer text = {0};
            cute_buffer_printf(&text, "expected dimensions of at least 1 as %s, got %d", names[i], (int)size);
            fail_with_text(c, mlirOperationGetLocation(op), &text);
            break;
        }
    }
}

/* A loop with step 0 does not end, and a negative step is undefined behaviour. */
static void check_step(const check *c, MlirOperation op)
{
    MlirAttribute step = {NULL};
    if (cute_op_is(op, "affine.for")) {
        step = mlirOperationGetAttributeByName(op, cute_text("step"));
    } else if (cute_op_is(op, "scf.for")) {
        MlirOperation made = cute_defining_op(mlirOperationGetOperand(op, 2));
        if (!mlirOperationIsNull(made) && cute_op_is(made, "arith.constant"))
            step = mlirOperationGetAttributeByName(made, cute_text("value"));
    }
    if (mlirAttributeIsNull(step) || !mlirAttributeIsAInteger(step)) return;
    int64_t by = mlirIntegerAttrGetValueInt(step);
    if (by > 0) return;
    MlirStringRef name = mlirIdentifierStr(mlirOperationGetName(op));
    cute_buffer text = {0};
    cute_buffer_printf(&text, "'%.*s' op expected a step of at least 1, got %lld", (int)name.length,
                       name.data, (long long)by);
    fail_with_text(c, mlirOperationGetLocation(op), &text);
}

/* ---- the pass ---- */

static void check_op(MlirOperation op, void *context)
{
    const check *c = context;
    if (!cute_target_has(op, c->arch)) {
        cute_pass_fail(c->pass);
        return;
    }
    if (cute_op_is(op, "gpu.func")) check_attributions(c, op);
    if (cute_op_is(op, "gpu.func") || cute_op_is(op, "func.func") || cute_op_is(op, "llvm.func")) {
        check_name(c, op);
        check_dimensions(c, op);
    }
    check_step(c, op);
    if (cute_op_is(op, "llvm.inline_asm")) check_assembly(c, op);
    check_known(c, op);
    check_row(c, op);
    check_op_types(c, op);
}

typedef struct targets {
    const check *check;
    MlirOperation module;
} targets;

static bool check_target(const char *chip, const cute_arch *arch, void *context)
{
    (void)chip;
    targets *t = context;
    if (!cute_target_has_all(t->module, arch)) cute_pass_fail(t->check->pass);
    return true;
}

static void check_module(MlirOperation op, void *context)
{
    const check *c = context;
    cute_op_each(op, NULL, check_op, context);
    if (!c->arch) cute_targets_each(op, check_target, &(targets){c, op});
}

static void run_check_device(MlirOperation root, cute_pass_run *pass)
{
    check c = {.pass = pass};
    if (cute_pass_arch(pass, 0, root, &c.arch)) cute_op_each(root, "gpu.module", check_module, &c);
    cute_pass_unchanged(pass);
}

static const cute_pass_option options[] = {
    CUTE_ARCH_OPTION,
};

const cute_pass cute_pass_check_device = {
    .name = "cute-check-device",
    .help = "Reject operations that cannot be lowered or that the target lacks",
    .anchor = "builtin.module",
    .options = options,
    .option_count = 1,
    .run = run_check_device,
};
