/* Plugins with one mistake each: -DWRONG_<mistake>; without one, a plugin that does nothing wrong. */
#include <mlir-c/BuiltinAttributes.h>
#include <mlir-c/BuiltinTypes.h>
#include <mlir-c/IR.h>
#include <stdlib.h>

#include <cute/plugin.h>

static const cute_host *host;

/* ---- passes ---- */

static void run_nothing(MlirOperation root, cute_pass_run *run)
{
    (void)root;
    host->compiler->unchanged(run);
}

static void run_say(MlirOperation root, cute_pass_run *run)
{
    host->compiler->remark(run, mlirOperationGetLocation(root), "ran");
}

static void visit_add(MlirOperation op, void *context)
{
    MlirValue operands[] = {mlirOperationGetOperand(op, 0), mlirOperationGetOperand(op, 0)};
    MlirType type = mlirValueGetType(operands[0]);
    (void)context;
    MlirOperation made = host->compiler->build(op, "arith.muli", operands, 2, &type, 1, NULL, 0);
    mlirOperationRemoveFromParent(made); /* and forgotten */
}

static void run_stray(MlirOperation root, cute_pass_run *run)
{
    (void)run;
    host->compiler->each(root, "arith.addi", visit_add, NULL);
}

static void run_crash(MlirOperation root, cute_pass_run *run)
{
    (void)root, (void)run;
    *(volatile int *)16 = 1;
}

static int overflow(volatile int depth)
{
    volatile char room[4096];
    room[depth % 4096] = 1;
    return depth < 0 ? 0 : overflow(depth + 1) + room[0];
}

static void run_overflow(MlirOperation root, cute_pass_run *run)
{
    (void)root, (void)run;
    exit(overflow(0) > 1 << 30);
}

static void run_abort(MlirOperation root, cute_pass_run *run)
{
    (void)root, (void)run;
    abort();
}

static void run_fatal(MlirOperation root, cute_pass_run *run)
{
    MlirOperation made = host->compiler->build(
        mlirBlockGetFirstOperation(mlirRegionGetFirstBlock(mlirOperationGetRegion(root, 0))), "wrong.any",
        NULL, 0, NULL, 0, NULL, 0);
    (void)run;
    /* Operations of plugins have no inherent attributes, which MLIR takes for a fatal error. */
    mlirOperationSetInherentAttributeByName(made, mlirStringRefCreateFromCString("x"),
                                            mlirUnitAttrGet(mlirOperationGetContext(root)));
}

static void fail_visit(MlirOperation op, void *context)
{
    (void)context;
    host->compiler->error(mlirOperationGetLocation(op), "no %s here", "addition");
}

static void run_fail(MlirOperation root, cute_pass_run *run)
{
    host->compiler->each(root, "arith.addi", fail_visit, NULL);
    host->compiler->fail(run);
}

static void count_op(MlirOperation op, void *count)
{
    (void)op;
    ++*(int *)count;
}

static bool has_no_addi(MlirOperation root, cute_pass_run *run)
{
    int count = 0;
    (void)run;
    host->compiler->each(root, "arith.addi", count_op, &count);
    return !count;
}

static const cute_plugin_option options[] = {
    {"count", CUTE_PLUGIN_INT, "3", "A number"},
    {"on", CUTE_PLUGIN_BOOL, "true", "A flag"},
    {"text", CUTE_PLUGIN_TEXT, NULL, "A text"},
#ifdef WRONG_option_kind
    {"kind", (cute_plugin_option_kind)7, NULL, "No kind"},
#endif
#ifdef WRONG_option_default
    {"many", CUTE_PLUGIN_INT, "some", "No number"},
#endif
#ifdef WRONG_option_twice
    {"count", CUTE_PLUGIN_INT, "4", "The same name"},
#endif
};

#ifdef WRONG_unknown_function
extern void nobody_defines_this(void);
static void run_unknown(MlirOperation root, cute_pass_run *run)
{
    (void)root, (void)run;
    nobody_defines_this();
}
#endif
#ifdef WRONG_unknown_mlir
extern void mlirNobodyDefinesThis(void);
static void run_unknown(MlirOperation root, cute_pass_run *run)
{
    (void)root, (void)run;
    mlirNobodyDefinesThis();
}
#endif
#ifdef WRONG_cxx
extern void cxx(void *op) __asm__("_ZN4mlir9Operation7destroyEv");
static void run_unknown(MlirOperation root, cute_pass_run *run)
{
    (void)run;
    cxx(root.ptr);
}
#endif
#ifdef WRONG_own_mlir
CUTE_API void mlirOperationVerifyOfAnotherMlir(void) {}
#endif

static const cute_plugin_pass passes[] = {
#ifndef WRONG_no_name
    {.name = "wrong-nothing",
     .help = "Do nothing",
     .options = options,
     .option_count = sizeof options / sizeof *options,
     .run = run_nothing},
    {.name = "wrong-stray", .dialects = "arith", .run = run_stray},
    {.name = "wrong-crash", .run = run_crash},
    {.name = "wrong-overflow", .run = run_overflow},
    {.name = "wrong-abort", .run = run_abort},
    {.name = "wrong-fatal", .dialects = "wrong", .run = run_fatal},
    {.name = "wrong-fail", .run = run_fail},
    {.name = "wrong-requires", .requires_ = has_no_addi, .run = run_nothing},
    {.name = "wrong-third", .run = run_say, .needs = "wrong-first,wrong-second"},
    {.name = "wrong-second", .run = run_say, .needs = "wrong-first"},
    {.name = "wrong-first", .run = run_say},
    {.name = "wrong-ensures", .run = run_nothing, .ensures = has_no_addi},
#endif
#ifdef WRONG_needs
    {.name = "wrong-needs", .run = run_nothing, .needs = "no-such-pass"},
#endif
#ifdef WRONG_pass_twice
    {.name = "wrong-nothing", .run = run_nothing},
#endif
#ifdef WRONG_pass_builtin
    {.name = "canonicalize", .run = run_nothing},
#endif
#ifdef WRONG_pass_option
    {.name = "remarks", .run = run_nothing},
#endif
#ifdef WRONG_pass_without_run
    {.name = "wrong-empty"},
#endif
#ifdef WRONG_pass_name
    {.name = "wrong pass", .run = run_nothing},
#endif
#if defined WRONG_unknown_function || defined WRONG_unknown_mlir || defined WRONG_cxx
    {.name = "wrong-unknown", .run = run_unknown},
#endif
    {.name = "wrong-last", .run = run_nothing},
};

static const cute_plugin_pipeline pipelines[] = {
    {"wrong-all", "A pipeline", "wrong-nothing{count=1},canonicalize"},
#ifdef WRONG_pipeline_passes
    {"wrong-none", "A pipeline", "no-such-pass"},
#endif
};

static const cute_plugin_step steps[] = {
#ifdef WRONG_step_pipeline
    {"no-such-pipeline", NULL, "cse", "wrong-nothing"},
#endif
#ifdef WRONG_step_place
    {"cute-full-lowering", "no-such-pass", NULL, "wrong-nothing"},
#endif
#ifdef WRONG_step_both
    {"cute-full-lowering", "cute-tile-expand", "cute-tile-expand", "wrong-nothing"},
#endif
    {"cute-full-lowering", "cute-tile-expand", NULL, "wrong-last"},
};

static const cute_plugin_operation operations[] = {
#ifdef WRONG_operation_dialect
    {.name = "arith.scale"},
#endif
#ifdef WRONG_operation_name
    {.name = "scale"},
#endif
    {.name = "wrong.any",
     .operands = CUTE_PLUGIN_ANY,
     .results = CUTE_PLUGIN_ANY,
     .regions = CUTE_PLUGIN_ANY},
};

/* ---- the run-time half ---- */

static void *begin(const cute_check_launch *launch, cute_check_run *run)
{
    return launch->alloc(run, 8);
}

static void step_crash(void *state, const cute_check_launch *launch, cute_check_run *run,
                       const cute_check_at *at)
{
    (void)state, (void)launch, (void)run;
    if (at->lanes) *(volatile int *)16 = 1;
}

static double add(double total, const double *values, size_t count)
{
    for (size_t i = 0; i < count; i++) total += values[i];
    return total;
}

static void find(const cute_explain_code *code, cute_explain_run *run)
{
    (void)code, (void)run;
}

static const cute_plugin_check_finding rows[] = {
#ifdef WRONG_code
    {"K0101", CUTE_ERROR, NULL},
#endif
#ifdef WRONG_reason
    {"X0102", CUTE_WARNING, NULL},
#endif
    {"X0101", CUTE_ERROR, NULL},
};
static const cute_plugin_check checks[] = {
#ifdef WRONG_check_builtin
    {.name = "race", .begin = begin},
#endif
#ifdef WRONG_check_twice
    {.name = "steps", .begin = begin},
#endif
    {.name = "steps",
     .findings = rows,
     .finding_count = sizeof rows / sizeof *rows,
     .begin = begin,
     .step = step_crash},
};
static const cute_plugin_finding findings[] = {
#ifdef WRONG_finding_builtin
    {"X0301", "spill", "title", "fix", CUTE_EXPLAIN_PTX, find},
#endif
    {"X0302", "wrong", "title", "fix", CUTE_EXPLAIN_PTX, find},
};
static const cute_plugin_reduction reductions[] = {
#ifdef WRONG_reduction_builtin
    {"mean", NULL, 0, add, NULL},
#endif
    {"total", NULL, 0, add, NULL},
};

/* ---- the plugin ---- */

static const char *init(const cute_host *given)
{
    (void)given;
#ifdef WRONG_init_crash
    *(volatile int *)16 = 1;
#endif
#ifdef WRONG_init_refuses
    return "no licence on this machine";
#endif
    return NULL;
}

#ifdef WRONG_constructor
__attribute__((constructor)) static void construct(void)
{
    abort();
}
#endif

#ifndef WRONG_no_entry
#ifdef WRONG_major
#define MAJOR CUTE_PLUGIN_MAJOR + 1
#else
#define MAJOR CUTE_PLUGIN_MAJOR
#endif
#ifdef WRONG_minor
#define MINOR CUTE_PLUGIN_MINOR + 1
#else
#define MINOR CUTE_PLUGIN_MINOR
#endif
#ifdef WRONG_size
#define SIZE 64
#else
#define SIZE sizeof(cute_plugin)
#endif
#ifdef WRONG_mlir_version
#define MLIR CUTE_PLUGIN_MLIR + 1
#else
#define MLIR CUTE_PLUGIN_MLIR
#endif
CUTE_PLUGIN cute_plugin_info = {
    MAJOR,
    MINOR,
    SIZE,
    MLIR,
#ifndef WRONG_anonymous
    .name = "wrong",
#endif
    .host = &host,
    .init = init,
#ifdef WRONG_rows
    .passes = {passes, 2, 8},
#else
    .passes = CUTE_ROWS(passes),
#endif
    .pipelines = CUTE_ROWS(pipelines),
    .steps = CUTE_ROWS(steps),
    .operations = CUTE_ROWS(operations),
    .checks = CUTE_ROWS(checks),
    .findings = CUTE_ROWS(findings),
    .reductions = CUTE_ROWS(reductions),
};
#endif
