/* cute-lower-loops: lowers scf to branches and keeps loop annotations.
 *
 * Requires: nothing. Ensures: those of convert-scf-to-cf, and the `loop_annotation` (of the dialect llvm;
 * `llvm.loop_annotation` is an alias) of an scf.for or scf.while is on the latch branch, where LLVM expects
 * it. Upstream drops it. In an llvm.func, block arguments have LLVM types: an index is an i64, a memref its
 * descriptor.
 *
 *     scf.for %i = %a to %b step %c { ... } {loop_annotation = #llvm.loop_annotation<unroll = <full = true>>}
 * ->
 *     cf.br ^header(%next : i32) {loop_annotation = #llvm.loop_annotation<unroll = <full = true>>}
 */
#include "lib/ir/mlir/arith.h"
#include "lib/ir/mlir/shim.h"
#include "lib/ir/mlir/util.h"
#include "lib/passes/passes.h"

static const char annotation[] = "loop_annotation", prefixed[] = "llvm.loop_annotation";
/* Text of the empty assembly before a loop's latch branch, which marks it during the conversion. */
static const char mark[] = "cute.loop";

/* The annotation of a loop; null: none. */
static MlirAttribute annotation_of(MlirOperation loop)
{
    MlirAttribute value = mlirOperationGetAttributeByName(loop, cute_text(annotation));
    if (mlirAttributeIsNull(value)) value = mlirOperationGetAttributeByName(loop, cute_text(prefixed));
    return value;
}

static void mark_loop(MlirOperation op, void *context)
{
    if (!cute_op_is(op, "scf.for") && !cute_op_is(op, "scf.while")) return;
    MlirAttribute value = annotation_of(op);
    if (mlirAttributeIsNull(value)) return;
    /* The terminator of the last region branches back to the header. */
    MlirRegion body = mlirOperationGetRegion(op, mlirOperationGetNumRegions(op) - 1);
    cute_builder b = cute_builder_before(mlirBlockGetTerminator(mlirRegionGetFirstBlock(body)));
    MlirNamedAttribute attributes[] = {
        cute_attribute(b.context, "asm_string", cute_string_attribute(b.context, "")),
        cute_attribute(b.context, "constraints", cute_string_attribute(b.context, "")),
        cute_attribute(b.context, "has_side_effects", mlirUnitAttrGet(b.context)),
        cute_attribute(b.context, mark, value),
    };
    cute_build(&b, "llvm.inline_asm", CUTE_NO_OPERANDS, CUTE_NO_TYPES, (cute_named){attributes, 4});
    *(bool *)context = true;
}

static void annotate_branch(MlirOperation op, void *context)
{
    (void)context;
    MlirAttribute value = mlirOperationGetAttributeByName(op, cute_text(mark));
    if (mlirAttributeIsNull(value)) return;
    MlirOperation last = mlirBlockGetTerminator(mlirOperationGetBlock(op));
    mlirOperationSetAttributeByName(last, cute_text(annotation), value);
    mlirOperationDestroy(op);
}

bool cute_loops_mark(MlirOperation root)
{
    bool marked = false;
    cute_op_each(root, "scf.", mark_loop, &marked);
    return marked;
}

void cute_loops_annotate(MlirOperation root)
{
    cute_op_each(root, "llvm.inline_asm", annotate_branch, NULL);
}

static void run_lower_loops(MlirOperation root, cute_pass_run *pass)
{
    bool marked = cute_loops_mark(root);
    if (!cute_lower_loops(root)) cute_pass_fail(pass);
    if (marked) cute_loops_annotate(root);
    cute_lower_block_arguments(root);
}

const cute_pass cute_pass_lower_loops = {
    .name = "cute-lower-loops",
    .help = "Convert scf to cf, keeping loop annotations on latch branches",
    .dialects = CUTE_DIALECT_CF | CUTE_DIALECT_LLVM | CUTE_DIALECT_SCF,
    .run = run_lower_loops,
};
