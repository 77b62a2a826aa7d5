/* A plugin: the operation mine.scale, and a pass that lowers it to arith. Built by the Makefile beside it. */
#include <cute/plugin.h>
#include <mlir-c/BuiltinAttributes.h>
#include <mlir-c/BuiltinTypes.h>
#include <mlir-c/IR.h>

static const cute_host *host;

static bool verify_scale(MlirOperation op)
{
    MlirType type = mlirValueGetType(mlirOperationGetOperand(op, 0));
    if (mlirTypeIsAF32(type)) return true;
    host->compiler->error(mlirOperationGetLocation(op), "'mine.scale' op expects f32, got another type");
    return false;
}

static void lower_scale(MlirOperation op, void *bias)
{
    MlirStringRef value = mlirStringRefCreateFromCString("value");
    MlirNamedAttribute factor = {
        mlirIdentifierGet(mlirOperationGetContext(op), value),
        mlirOperationGetAttributeByName(op, mlirStringRefCreateFromCString("factor"))};
    MlirValue x = mlirOperationGetOperand(op, 0);
    MlirType type = mlirValueGetType(x);
    MlirOperation c = host->compiler->build(op, "arith.constant", NULL, 0, &type, 1, &factor, 1);
    MlirValue product[] = {x, mlirOperationGetResult(c, 0)};
    for (int64_t i = *(int64_t *)bias; i >= 0; i--) /* the product, plus `bias` times itself */
        product[0] = mlirOperationGetResult(
            host->compiler->build(op, i ? "arith.addf" : "arith.mulf", product, 2, &type, 1, NULL, 0), 0);
    host->compiler->replace(op, product, 1);
}

static void run_lower(MlirOperation root, cute_pass_run *run)
{
    int64_t times = host->compiler->option_int(run, "times");
    host->compiler->each(root, "mine.scale", lower_scale, &times);
}

static const cute_plugin_option options[] = {{"times", CUTE_PLUGIN_INT, "0", "Additions of the factor"}};
static const cute_plugin_pass passes[] = {{.name = "mine-lower",
                                           .help = "Lower mine.scale to arith",
                                           .options = options,
                                           .option_count = 1,
                                           .dialects = "arith",
                                           .run = run_lower}};
static const cute_plugin_operation operations[] = {
    {.name = "mine.scale", .operands = 1, .results = 1, .attributes = "factor", .verify = verify_scale}};
CUTE_PLUGIN cute_plugin_info = {CUTE_PLUGIN_VERSION, .name = "mine", .host = &host,
                                .passes = CUTE_ROWS(passes), .operations = CUTE_ROWS(operations)};
