/* cute-fold-static: replaces static values by cute.static and removes unused operations.
 *
 * Requires: verified IR. Ensures: no pure operation except cute.static has a result without unknown leaves,
 * no pure operation is dead; comparisons of static values are constants.
 *
 *     %s = cute.make_shape() : () -> !cute.shape<"(2,4)">
 *     %n = cute.size(%s) : (!cute.shape<"(2,4)">) -> !cute.int_tuple<"8">
 * ->
 *     %n = cute.static : !cute.int_tuple<"8">
 */

#include "lib/ir/dialects/types.h"
#include "lib/ir/mlir/builder.h"
#include "lib/ir/mlir/shim.h"
#include "lib/ir/mlir/util.h"
#include "lib/ir/ops/ops.h"
#include "lib/passes/dead.h"
#include "lib/passes/passes.h"

static MlirValue build_constant(MlirOperation where, const char *name, const MlirNamedAttribute *value,
                                MlirType type)
{
    cute_builder b = cute_builder_before(where);
    return cute_build_value(&b, name, type, CUTE_NO_OPERANDS, (cute_named){value, value ? 1 : 0});
}

static void fold_op(MlirOperation op, void *context)
{
    (void)context;
    const cute_op_row *row = cute_op_row_of(op);
    if ((row && row->constant) || mlirOperationGetNumRegions(op) > 0 || !cute_op_is_effect_free(op)) return;
    if (row && row->fold) {
        MlirAttribute folded = row->fold(row, op);
        if (mlirAttributeIsNull(folded)) return;
        MlirNamedAttribute value = cute_attribute(mlirOperationGetContext(op), "value", folded);
        MlirValue result = mlirOperationGetResult(op, 0);
        mlirValueReplaceAllUsesOfWith(result,
                                      build_constant(op, "arith.constant", &value, mlirValueGetType(result)));
        return;
    }
    for (intptr_t i = 0; i < mlirOperationGetNumResults(op); i++) {
        MlirValue result = mlirOperationGetResult(op, i);
        if (mlirOpOperandIsNull(mlirValueGetFirstUse(result)) ||
            !cute_type_is_static(mlirValueGetType(result)))
            continue;
        mlirValueReplaceAllUsesOfWith(result,
                                      build_constant(op, "cute.static", NULL, mlirValueGetType(result)));
    }
}

static void run_fold_static(MlirOperation root, cute_pass_run *pass)
{
    (void)pass;
    cute_op_walk(root, NULL, CUTE_WALK_INNER_FIRST, fold_op, NULL);
    cute_drop_dead(root);
}

const cute_pass cute_pass_fold_static = {
    .name = "cute-fold-static",
    .help = "Fold pure operations with static results to cute.static and remove dead ones",
    .dialects = CUTE_DIALECT_CUTE | CUTE_DIALECT_ARITH,
    .run = run_fold_static,
};
