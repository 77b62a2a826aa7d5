/* base-prepare: cleans up after cute-to-base, on the host and in each gpu.module.
 *
 * Requires: nothing. Ensures: canonical operations without duplicates, loop-invariant ones hoisted, no field
 * extracted from a struct that was just built.
 *
 *     %1 = llvm.insertvalue %a, %0[0]
 *     %2 = llvm.extractvalue %1[0]
 *     %3 = arith.muli %2, %c1
 * ->
 *     (%a)
 */

#include "lib/ir/mlir/shim.h"
#include "lib/ir/mlir/util.h"
#include "lib/passes/passes.h"

static const char tidy[] =
    "cute-fold-structs,canonicalize,cse,loop-invariant-code-motion,reconcile-unrealized-casts";

static void tidy_module(MlirOperation op, void *context)
{
    if (!cute_pass_run_pipeline(context, tidy, op)) cute_pass_fail(context);
}

static void run_base_prepare(MlirOperation root, cute_pass_run *pass)
{
    if (!cute_pass_run_pipeline(pass, tidy, root))
        cute_pass_fail(pass);
    else
        cute_op_each(root, "gpu.module", tidy_module, pass);
}

const cute_pass cute_pass_base_prepare = {
    .name = "base-prepare",
    .help = "Canonicalize and simplify before the conversion to llvm",
    .anchor = "builtin.module",
    .dialects = CUTE_DIALECT_CUTE | CUTE_DIALECT_ARITH | CUTE_DIALECT_CF | CUTE_DIALECT_FUNC |
                CUTE_DIALECT_GPU | CUTE_DIALECT_LLVM | CUTE_DIALECT_MATH | CUTE_DIALECT_NVVM |
                CUTE_DIALECT_SCF,
    .run = run_base_prepare,
};
