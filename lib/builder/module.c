/* The whole module: validity, text, compilation. */

#include "lib/builder/builder.h"
#include "lib/ir/mlir/shim.h"
#include "lib/ir/mlir/util.h"

/* Passes the messages of the first error on. */
static cute_status report_errors(const cute_ir *ir, cute_diag *diag)
{
    for (size_t i = 0; i < cute_diag_count(ir->diag); i++) {
        const cute_message *message = cute_diag_get(ir->diag, i);
        cute_report(diag, message->severity, &message->place, "%s", message->text);
    }
    return ir->status;
}

cute_status cute_ir_check(cute_ir *ir, cute_diag *diag)
{
    if (!ir) return cute_fail(diag, CUTE_USAGE, NULL, "expected a module of cute_ir_create, got NULL");
    if (ir->status != CUTE_OK) return report_errors(ir, diag);
    if (ir->depth) {
        const ir_frame *frame = &ir->frames[ir->depth - 1];
        cute_place place = {.file = frame->file, .line = frame->line > 0 ? frame->line : 0};
        return cute_fail(diag, CUTE_INVALID, &place,
                         "a kernel, loop or branch is opened here and not closed by cute_ir_end");
    }
    ir_listen(ir);
    if (mlirOperationVerify(mlirModuleGetOperation(ir->module))) return CUTE_OK;
    cute_place place = {0};
    MlirStringRef file;
    unsigned line, column;
    if (ir->caught_error && cute_location_place(ir->caught_location, &file, &line, &column))
        place = (cute_place){.file = file.data, .line = (int)line};
    return cute_fail(diag, CUTE_INVALID, &place, "%s", ir_caught(ir, "the module is invalid"));
}

cute_status cute_ir_print(cute_ir *ir, bool lines, const char **text, size_t *length, cute_diag *diag)
{
    *text = NULL;
    if (length) *length = 0;
    CUTE_TRY(cute_ir_check(ir, diag));
    cute_buffer_release(&ir->output);
    ir->output = (cute_buffer){0};
    MlirOpPrintingFlags flags = mlirOpPrintingFlagsCreate();
    if (lines) mlirOpPrintingFlagsEnableDebugInfo(flags, true, false);
    mlirOperationPrintWithFlags(mlirModuleGetOperation(ir->module), flags, cute_print_to_buffer, &ir->output);
    mlirOpPrintingFlagsDestroy(flags);
    cute_buffer_putc(&ir->output, '\n');
    if (!cute_buffer_ok(&ir->output)) return cute_fail_memory(diag);
    *text = cute_buffer_text(&ir->output);
    if (length) *length = ir->output.length;
    return CUTE_OK;
}

/* The file of the first kernel: names the module in messages without a line. */
static const char *label_of(const cute_ir *ir)
{
    MlirStringRef file;
    unsigned line, column;
    if (!mlirOperationIsNull(ir->kernels) &&
        cute_location_place(mlirOperationGetLocation(ir->kernels), &file, &line, &column))
        return file.data;
    return "<cute_ir>";
}

cute_status cute_ir_compile(cute_ir *ir, const cute_compiler *compiler, cute_compiled **out, cute_diag *diag)
{
    *out = NULL;
    CUTE_TRY(cute_ir_check(ir, diag));
    /* Bytecode keeps the places of the calls. */
    cute_buffer bytecode = {0};
    mlirOperationWriteBytecode(mlirModuleGetOperation(ir->module), cute_print_to_buffer, &bytecode);
    cute_status status = cute_buffer_ok(&bytecode)
                             ? cute_compiler_run(compiler, label_of(ir), cute_buffer_text(&bytecode),
                                                 bytecode.length, out, diag)
                             : cute_fail_memory(diag);
    cute_buffer_release(&bytecode);
    return status;
}
