/* cute-check-lowered: rejects operations that were not lowered, at their location.
 *
 * Requires: the lowering of gpu.modules to llvm and nvvm. Ensures: they contain no other dialects, `arch`
 * has their nvvm instructions, and they use no texture or surface by name. Changes nothing.
 */

#include <mlir-c/BuiltinAttributes.h>

#include "lib/ir/mlir/shim.h"
#include "lib/ir/mlir/util.h"
#include "lib/passes/devices/target.h"
#include "lib/passes/devices/textures.h"
#include "lib/passes/passes.h"

typedef struct check {
    const cute_arch *arch;
    cute_pass_run *pass;
    MlirOperation cast; /* first leftover conversion cast, or null */
    bool told;
} check;

static const char not_lowered[] = "' op is not lowered to PTX";

/* ---- passes for other dialects ---- */

static const char bufferize[] = "one-shot-bufferize";

/* Dialects that cute-full-lowering does not accept, and the passes that lower them to ones it does. */
static const struct {
    const char *dialect, *passes;
} lowerings[] = {
    {"linalg.", "convert-linalg-to-loops"}, {"tensor.", bufferize},
    {"bufferization.", bufferize},          {"complex.", "convert-complex-to-standard"},
    {"shape.", "convert-shape-to-std"},     {"tosa.", "tosa-to-linalg"},
};

static bool is_on_tensors(MlirOperation op)
{
    for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); i++)
        if (mlirTypeIsATensor(mlirValueGetType(mlirOperationGetOperand(op, i)))) return true;
    return mlirOperationGetNumResults(op) &&
           mlirTypeIsATensor(mlirValueGetType(mlirOperationGetResult(op, 0)));
}

/* Adds a note that names these passes, if there are any. */
static void put_lowering_advice(MlirOperation op, cute_buffer *out)
{
    for (size_t i = 0; i < sizeof lowerings / sizeof *lowerings; i++) {
        if (!cute_op_of(op, lowerings[i].dialect)) continue;
        bool itself = !strcmp(lowerings[i].passes, bufferize);
        bool before = !itself && is_on_tensors(op);
        cute_buffer_printf(out, "--pipeline=%s%s%s lowers it first", before ? bufferize : "",
                           before ? "," : "", lowerings[i].passes);
    }
}

/* Whether the operation belongs to one that is rejected itself, such as its linalg.yield. */
static bool is_inside_refused(MlirOperation op)
{
    MlirOperation parent = mlirOperationGetParentOperation(op);
    for (size_t i = 0; i < sizeof lowerings / sizeof *lowerings; i++)
        if (!mlirOperationIsNull(parent) && cute_op_of(parent, lowerings[i].dialect)) return true;
    return false;
}

static void refuse_op(check *c, MlirOperation op, const char *what)
{
    cute_buffer text = {0}, advice = {0};
    MlirStringRef name = mlirIdentifierStr(mlirOperationGetName(op));
    cute_buffer_printf(&text, "'%.*s%s", (int)name.length, name.data, what);
    intptr_t operands = mlirOperationGetNumOperands(op);
    for (intptr_t i = 0; i < operands; i++) {
        cute_buffer_puts(&text, i ? ", " : " on (");
        mlirTypePrint(mlirValueGetType(mlirOperationGetOperand(op, i)), cute_print_to_buffer, &text);
    }
    if (operands) cute_buffer_puts(&text, ")");
    put_lowering_advice(op, &advice);
    cute_emit_note note = {mlirOperationGetLocation(op), cute_buffer_text(&advice)};
    cute_emit_with_notes(note.location, true, cute_buffer_text(&text), &note, advice.length > 0);
    cute_buffer_release(&text);
    cute_buffer_release(&advice);
    c->told = true;
}

/* The dialect llvm accepts any intrinsic name. */
static void refuse_unknown(check *c, MlirOperation op, MlirStringRef name)
{
    cute_buffer text = {0};
    cute_emit_note note = {mlirOperationGetLocation(op),
                           "expected an LLVM intrinsic; llvm.inline_asm emits any PTX instruction"};
    cute_buffer_printf(&text, "'%.*s' is not an operation of the dialect nvvm", (int)name.length, name.data);
    cute_emit_with_notes(note.location, true, cute_buffer_text(&text), &note, 1);
    cute_buffer_release(&text);
    c->told = true;
}

/* Executable operations directly in the module. */
static bool is_stray(MlirOperation op)
{
    static const char *const others[] = {"gpu.module_end", "llvm.mlir.global_ctors",
                                         "llvm.mlir.global_dtors"};
    MlirOperation parent = mlirOperationGetParentOperation(op);
    if (mlirOperationIsNull(parent) || !cute_op_is(parent, "gpu.module") || cute_op_has(op, "sym_name"))
        return false;
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (cute_op_is(op, others[i])) return false;
    return true;
}

/* Upstream verifies the types of all llvm operations but this one, and translates it. */
static void check_elem_type(check *c, MlirOperation op)
{
    if (!cute_op_is(op, "llvm.getelementptr") && !cute_op_is(op, "llvm.alloca")) return;
    MlirType type = mlirTypeAttrGetValue(mlirOperationGetAttributeByName(op, cute_text("elem_type")));
    if (cute_type_is_llvm(type)) return;
    cute_buffer text = {0};
    MlirStringRef name = mlirIdentifierStr(mlirOperationGetName(op));
    cute_buffer_printf(&text, "'%.*s' op expected elements of a type that LLVM has, such as i8, got '",
                       (int)name.length, name.data);
    mlirTypePrint(type, cute_print_to_buffer, &text);
    cute_buffer_putc(&text, '\'');
    cute_emit_error(mlirOperationGetLocation(op), cute_buffer_text(&text));
    cute_buffer_release(&text);
    c->told = true;
}

static void check_op(MlirOperation op, void *context)
{
    check *c = context;
    if (is_stray(op)) {
        refuse_op(c, op, "' op is not in a function");
        return;
    }
    if (cute_op_of(op, "llvm.")) {
        check_elem_type(c, op);
        if (cute_texture_refuse(op)) c->told = true;
        return;
    }
    if (cute_op_of(op, "nvvm.")) {
        MlirStringRef name = mlirIdentifierStr(mlirOperationGetName(op));
        if (!mlirContextIsRegisteredOperation(mlirOperationGetContext(op), name))
            refuse_unknown(c, op, name);
        else if (!cute_target_has(op, c->arch))
            c->told = true;
        return;
    }
    if (cute_op_of(op, "gpu.module") || cute_op_is(op, "gpu.module")) return;
    /* The operation that produces the cast's operand has an error of its own. */
    if (is_inside_refused(op)) return;
    if (!cute_op_is(op, "builtin.unrealized_conversion_cast"))
        refuse_op(c, op, not_lowered);
    else if (mlirOperationIsNull(c->cast))
        c->cast = op;
}

static void check_module(MlirOperation op, void *context)
{
    check *c = context;
    c->cast = (MlirOperation){NULL};
    bool before = c->told;
    c->told = false;
    cute_op_each(op, NULL, check_op, c);
    if (!c->told && !mlirOperationIsNull(c->cast)) refuse_op(c, c->cast, not_lowered);
    c->told |= before;
}

static void run_check_lowered(MlirOperation root, cute_pass_run *pass)
{
    check c = {.pass = pass};
    if (!cute_pass_arch(pass, 0, root, &c.arch)) return;
    cute_op_each(root, "gpu.module", check_module, &c);
    if (c.told) cute_pass_fail(pass);
    cute_pass_unchanged(pass);
}

static const cute_pass_option options[] = {
    CUTE_ARCH_OPTION,
};

const cute_pass cute_pass_check_lowered = {
    .name = "cute-check-lowered",
    .help = "Reject operations in kernels that were not lowered",
    .anchor = "builtin.module",
    .options = options,
    .option_count = 1,
    .run = run_check_lowered,
};
