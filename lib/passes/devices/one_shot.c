/* one-shot-convert-to-llvm: converts host and device code to llvm and nvvm.
 *
 * Requires: cute-to-base. Ensures: all operations are of llvm and nvvm, except for builtin.module,
 * gpu.module and gpu.binary. Device code is converted first, one gpu.module at a time; its math becomes
 * calls of libdevice.
 *
 *     gpu.module @m { gpu.func @k(%a: i32) kernel { gpu.return } }
 * ->
 *     gpu.module @m { llvm.func @k(%a: i32) attributes {gpu.kernel, nvvm.kernel} { llvm.return } }
 */
#include <stdio.h>

#include "lib/ir/mlir/shim.h"
#include "lib/ir/mlir/util.h"
#include "lib/passes/passes.h"

static bool has_prefix(MlirStringRef name, const char *with)
{
    return name.length >= strlen(with) && !memcmp(name.data, with, strlen(with));
}

static void check_converted(MlirOperation op, void *context)
{
    static const char *const shells[] = {"builtin.module", "gpu.module", "gpu.module_end", "gpu.binary",
                                         "gpu.launch_func"};
    MlirStringRef name = mlirIdentifierStr(mlirOperationGetName(op));
    if (has_prefix(name, "llvm.") || has_prefix(name, "nvvm.")) return;
    for (size_t i = 0; i < sizeof shells / sizeof *shells; i++)
        if (cute_text_is(name, shells[i])) return;
    char text[200];
    snprintf(text, sizeof text, "'%.*s' op is not lowered to llvm: %s", (int)name.length, name.data,
             has_prefix(name, "cute.")
                 ? "run cute-expand-ops and cute-to-base first"
                 : "expected a pass that lowers it to arith, cf, func, gpu, math or memref first");
    cute_emit_error(mlirOperationGetLocation(op), text);
    cute_pass_fail(context);
}

static void run_one_shot(MlirOperation root, cute_pass_run *pass)
{
    bool marked = cute_loops_mark(root);
    bool converted = cute_convert_to_llvm(root);
    if (marked) cute_loops_annotate(root);
    if (converted)
        cute_op_each(root, NULL, check_converted, pass);
    else
        cute_pass_fail(pass);
}

const cute_pass cute_pass_one_shot = {
    .name = "one-shot-convert-to-llvm",
    .help = "Convert host and device code to llvm and nvvm",
    .anchor = "builtin.module",
    .dialects = CUTE_DIALECT_CUTE | CUTE_DIALECT_ARITH | CUTE_DIALECT_CF | CUTE_DIALECT_FUNC |
                CUTE_DIALECT_GPU | CUTE_DIALECT_LLVM | CUTE_DIALECT_MATH | CUTE_DIALECT_MEMREF |
                CUTE_DIALECT_NVVM | CUTE_DIALECT_SCF,
    .run = run_one_shot,
};
