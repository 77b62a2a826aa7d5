/* cute-fold-structs: folds field extractions from structs that were just built.
 *
 * Requires: nothing. Ensures: no llvm.extractvalue reads through an llvm.insertvalue whose position
 * determines the result. Upstream's folder only compares whole positions: it does not see that [0, 1] is a
 * field of a struct inserted at [0].
 *
 *     %1 = llvm.insertvalue %pair, %0[0]
 *     %2 = llvm.extractvalue %1[0, 1]
 * ->
 *     %2 = llvm.extractvalue %pair[1]
 */
#include <mlir-c/BuiltinAttributes.h>

#include "lib/ir/mlir/builder.h"
#include "lib/ir/mlir/util.h"
#include "lib/passes/passes.h"

static MlirAttribute position_of(MlirOperation op)
{
    return mlirOperationGetAttributeByName(op, cute_text("position"));
}

/* The operation that defines `value` if it is called `name`, else null. */
static MlirOperation made_by(MlirValue value, const char *name)
{
    MlirOperation none = {NULL};
    if (!mlirValueIsAOpResult(value)) return none;
    MlirOperation op = mlirOpResultGetOwner(value);
    return cute_op_is(op, name) ? op : none;
}

static void fold_extract(MlirOperation op, void *context)
{
    (void)context;
    MlirValue from = mlirOperationGetOperand(op, 0);
    MlirAttribute path = position_of(op);
    intptr_t begin = 0, depth = mlirDenseArrayGetNumElements(path);
    for (;;) {
        MlirOperation insert = made_by(from, "llvm.insertvalue");
        if (mlirOperationIsNull(insert)) break;
        MlirAttribute other = position_of(insert);
        intptr_t count = mlirDenseArrayGetNumElements(other), same = 0;
        while (same < count && same < depth - begin &&
               mlirDenseI64ArrayGetElement(other, same) == mlirDenseI64ArrayGetElement(path, begin + same))
            same++;
        if (same == count) { /* inserted here, or in an enclosing struct */
            from = mlirOperationGetOperand(insert, 1);
            begin += count;
            if (begin == depth) break;
        } else if (same < depth - begin) { /* inserted into another field */
            from = mlirOperationGetOperand(insert, 0);
        } else {
            break; /* inserted into a part of it */
        }
    }
    if (mlirValueEqual(from, mlirOperationGetOperand(op, 0))) return;
    MlirValue result = mlirOperationGetResult(op, 0);
    if (begin < depth) {
        int64_t rest[64];
        if (depth - begin > 64) return;
        for (intptr_t i = begin; i < depth; i++) rest[i - begin] = mlirDenseI64ArrayGetElement(path, i);
        MlirContext c = mlirOperationGetContext(op);
        MlirType type = mlirValueGetType(result);
        MlirNamedAttribute at = cute_attribute(c, "position", mlirDenseI64ArrayGet(c, depth - begin, rest));
        cute_builder b = cute_builder_before(op);
        from = cute_build_value(&b, "llvm.extractvalue", type, CUTE_OPERANDS(from), CUTE_NAMED(at));
    }
    mlirValueReplaceAllUsesOfWith(result, from);
    mlirOperationDestroy(op);
}

static void run_fold_structs(MlirOperation root, cute_pass_run *pass)
{
    (void)pass;
    cute_op_each(root, "llvm.extractvalue", fold_extract, NULL);
}

const cute_pass cute_pass_fold_structs = {
    .name = "cute-fold-structs",
    .help = "Fold extractions of struct fields to the inserted values",
    .dialects = CUTE_DIALECT_LLVM,
    .run = run_fold_structs,
};
