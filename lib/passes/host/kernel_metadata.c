/* cute-kernel-metadata: records the launch requirements of each kernel (docs/metadata.md) while its arguments
 * still have the types of the source.
 *
 * Requires: launches outlined, kernels in gpu.modules. Ensures: each kernel carries `cute.kernel`, a
 * dictionary with `args`, `source`, the types of its `tensors`, `tiled_copies` and `mmas`, and `grid`,
 * `block`, `dynamic_smem` if a launch in this module has constants for them, and `schedule`, which cute-tile-distribute described. An
 * existing dictionary is kept.
 *
 *     gpu.func @k(%a: memref<?xf32> {cute.name = "a"}) kernel
 * ->
 *     gpu.func @k(...) kernel attributes {cute.kernel = {args = [{name = "a", kind = "memref", dtype = "f32",
 *         first = 0 : i64, count = 5 : i64, ...}], source = {...}}}
 */
#include <stdio.h>
#include <stdlib.h>

#include "lib/ir/mlir/kernel.h"
#include "lib/ir/mlir/shim.h"
#include "lib/ir/mlir/util.h"
#include "lib/passes/host/describe.h"
#include "lib/passes/host/kernel_layouts.h"
#include "lib/passes/host/kernel_offsets.h"
#include "lib/passes/host/launches.h"
#include "lib/passes/passes.h"

/* ---- arguments ---- */

static MlirAttribute describe_arguments(MlirOperation kernel, MlirStringRef tensor_map_space)
{
    MlirContext context = mlirOperationGetContext(kernel);
    intptr_t count = cute_kernel_argument_count(kernel);
    MlirAttribute *items = calloc((size_t)count + 1, sizeof *items);
    int64_t first = 0;
    for (intptr_t i = 0; items && i < count; i++)
        items[i] = cute_describe_argument(kernel, i, tensor_map_space, &first);
    MlirAttribute array = mlirArrayAttrGet(context, items ? count : 0, items);
    free(items);
    return array;
}

/* A tensor map that cute-nvgpu-tma-materialize turned into a parameter. */
static bool is_map_by_value(MlirAttribute attributes)
{
    MlirAttribute space = cute_dict_find(cute_dict_find(attributes, "cute.tensor_map"), "space");
    return !mlirAttributeIsNull(space) && cute_text_is(mlirStringAttrGetValue(space), "param");
}

/* Argument attributes by parameter, which conversions drop and finish_kernels.c restores. */
static MlirAttribute kept_attributes(MlirOperation kernel, MlirAttribute args)
{
    MlirContext context = mlirOperationGetContext(kernel);
    MlirAttribute all = mlirOperationGetAttributeByName(kernel, cute_text("arg_attrs"));
    cute_dict d = {.context = context};
    if (mlirAttributeIsNull(all)) return cute_dict_finish(&d);
    static const char *const names[] = {"llvm.byval", "llvm.align", "nvvm.grid_constant", NULL};
    for (intptr_t i = 0; i < mlirArrayAttrGetNumElements(all) && d.count < 24; i++) {
        MlirAttribute attributes = mlirArrayAttrGetElement(all, i);
        bool map = is_map_by_value(attributes);
        if (!map && mlirAttributeIsNull(cute_dict_find(attributes, "llvm.byval"))) continue;
        cute_dict kept = {.context = context};
        for (const char *const *n = names; *n; n++) {
            MlirAttribute value = cute_dict_find(attributes, *n);
            if (!mlirAttributeIsNull(value)) cute_dict_put(&kept, *n, value);
        }
        char index[32];
        snprintf(
            index, sizeof index, "p%lld",
            (long long)mlirIntegerAttrGetValueInt(cute_dict_find(mlirArrayAttrGetElement(args, i), "first")));
        cute_dict_put(&d, index, map ? cute_grid_constant(context) : cute_dict_finish(&kept));
    }
    return cute_dict_finish(&d);
}

/* ---- launches ---- */

static bool integer_constant(MlirValue value, int64_t *out)
{
    if (!mlirValueIsAOpResult(value)) return false;
    MlirOperation op = mlirOpResultGetOwner(value);
    if (cute_op_is(op, "arith.extsi") || cute_op_is(op, "arith.index_cast"))
        return integer_constant(mlirOperationGetOperand(op, 0), out);
    if (!cute_op_is(op, "arith.constant") && !cute_op_is(op, "llvm.mlir.constant")) return false;
    MlirAttribute attribute = mlirOperationGetAttributeByName(op, cute_text("value"));
    if (!mlirAttributeIsAInteger(attribute)) return false;
    *out = mlirIntegerAttrGetValueInt(attribute);
    return true;
}

/* Records `count` operands starting at `first` if they are constants and no earlier launch recorded any. */
static void note_operands(cute_dict *out, const char *name, MlirOperation op, intptr_t first, int count)
{
    int64_t values[3];
    bool known = mlirAttributeIsNull(cute_dict_find(cute_dict_finish(out), name));
    for (int i = 0; i < count && known; i++)
        known = integer_constant(mlirOperationGetOperand(op, first + i), &values[i]);
    if (known && count == 1)
        cute_dict_int(out, name, values[0]);
    else if (known)
        cute_dict_put(out, name, cute_int_array(out->context, values, 3, INT64_MIN));
}

static void note_cuda_launch(MlirOperation op, cute_dict *out)
{
    MlirOperation config = cute_defining_op(mlirOperationGetOperand(op, 0));
    if (mlirOperationIsNull(config) || !cute_op_is(config, "cuda.launch_cfg.create")) return;
    note_operands(out, "block", config, 0, 3);
    note_operands(out, "dynamic_smem", config, 3, 1);
    note_operands(out, "grid", config, 4, 3);
}

static void note_launch(MlirOperation op, void *context)
{
    static const struct {
        const char *name;
        int segment, count;
    } fields[] = {{"grid", CUTE_LAUNCH_GRID, 3},
                  {"block", CUTE_LAUNCH_BLOCK, 3},
                  {"cluster", CUTE_LAUNCH_CLUSTER, 3},
                  {"dynamic_smem", CUTE_LAUNCH_DYNAMIC, 1}};
    intptr_t start[CUTE_LAUNCH_GROUPS];
    if (cute_op_is(op, "cuda.launch_ex")) {
        note_cuda_launch(op, context);
        return;
    }
    cute_launch_groups(op, start);
    for (size_t f = 0; f < sizeof fields / sizeof *fields; f++)
        if (start[fields[f].segment + 1] > start[fields[f].segment])
            note_operands(context, fields[f].name, op, start[fields[f].segment], fields[f].count);
}

static void put_source(cute_dict *d, MlirOperation kernel)
{
    MlirStringRef file;
    unsigned line, column;
    if (!cute_location_place(mlirOperationGetLocation(kernel), &file, &line, &column)) return;
    cute_dict source = {.context = d->context};
    cute_dict_ref(&source, "file", file);
    cute_dict_int(&source, "line", line);
    cute_dict_int(&source, "column", column);
    cute_dict_put(d, "source", cute_dict_finish(&source));
}

typedef struct work {
    MlirOperation root;
    cute_launches *launches;
    const cute_pass_run *pass;
    MlirStringRef space;
    bool failed;
} work;

/* Rejects duplicate names, which a launch with named arguments could not tell apart. */
static bool refuse_doubled(MlirOperation kernel)
{
    MlirBlock entry = mlirRegionGetFirstBlock(mlirOperationGetRegion(kernel, 0));
    for (intptr_t i = 1; i < cute_kernel_argument_count(kernel); i++) {
        MlirStringRef name = cute_argument_stated_name(kernel, i);
        for (intptr_t k = 0; k < i && name.length; k++) {
            if (!mlirStringRefEqual(name, cute_argument_stated_name(kernel, k))) continue;
            cute_buffer text = {0};
            cute_buffer_printf(&text, "arguments %td and %td have the same cute.name '%.*s'", k, i,
                               (int)name.length, name.data);
            cute_emit_error(cute_argument_location(mlirBlockGetArgument(entry, i)), cute_buffer_text(&text));
            cute_buffer_release(&text);
            return true;
        }
    }
    return false;
}

static void note_kernel(MlirOperation kernel, void *context)
{
    work *w = context;
    if (cute_op_has(kernel, "cute.kernel")) return;
    if (refuse_doubled(kernel)) {
        w->failed = true;
        return;
    }
    cute_dict d = {.context = mlirOperationGetContext(w->root)};
    MlirAttribute args = cute_describe_offsets(kernel, w->pass, describe_arguments(kernel, w->space));
    cute_dict_put(&d, "args", args);
    put_source(&d, kernel);
    cute_describe_layouts(kernel, &d);
    cute_launches_each(w->launches, kernel, note_launch, &d);
    MlirAttribute schedule = mlirOperationGetAttributeByName(kernel, cute_text("cute.scheduled"));
    if (!mlirAttributeIsNull(schedule)) {
        cute_dict_put(&d, "schedule", schedule);
        mlirOperationRemoveAttributeByName(kernel, cute_text("cute.scheduled"));
    }
    cute_dict_put(&d, "kept", kept_attributes(kernel, args));
    mlirOperationSetAttributeByName(kernel, cute_text("cute.kernel"), cute_dict_finish(&d));
}

/* ---- kernels not outlined yet ---- */

/* Warns about operations that a later pass would turn into a kernel. */
static void note_absent(MlirOperation op, void *context)
{
    (void)context;
    static const struct {
        const char *operation, *attribute, *pass;
    } rows[] = {
        {"gpu.launch", NULL, "gpu-kernel-outlining"},     {"cuda.kernel", NULL, "cute-import-kernels"},
        {"func.func", "gpu.kernel", "cute-wrap-kernels"}, {"func.func", "nvvm.kernel", "cute-wrap-kernels"},
        {"llvm.func", "gpu.kernel", "cute-wrap-kernels"}, {"llvm.func", "nvvm.kernel", "cute-wrap-kernels"},
    };
    MlirOperation parent = mlirOperationGetParentOperation(op);
    bool inside = !mlirOperationIsNull(parent) && cute_op_is(parent, "gpu.module");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (!cute_op_is(op, rows[i].operation)) continue;
        if (rows[i].attribute && (inside || !cute_op_has(op, rows[i].attribute))) continue;
        cute_buffer text = {0};
        cute_buffer_printf(
            &text,
            "'%s' op gets no metadata, as it is not a kernel in a gpu.module yet: run %s before "
            "cute-kernel-metadata, or external-kernel-for-gpu-launch, which includes both",
            rows[i].operation, rows[i].pass);
        cute_emit_warning(mlirOperationGetLocation(op), cute_buffer_text(&text));
        cute_buffer_release(&text);
        return;
    }
}

static void run_kernel_metadata(MlirOperation root, cute_pass_run *pass)
{
    if (cute_pass_int(pass, 1)) cute_op_each(root, NULL, note_absent, NULL);
    work w = {
        .root = root, .launches = cute_launches_create(root), .pass = pass, .space = cute_pass_text(pass, 0)};
    if (w.launches) cute_kernels_each(root, note_kernel, &w);
    if (w.failed || !w.launches) cute_pass_fail(pass);
    cute_launches_destroy(w.launches);
}

static const cute_pass_option options[] = {
    {"tensor-map", CUTE_PASS_TEXT, "Passing of tensor maps: param (by value) or memory (by pointer)", 0,
     "param"},
    {"warn-absent", CUTE_PASS_BOOL, "Warn about operations that become kernels in a pass that has not run", 1,
     NULL},
};

const cute_pass cute_pass_kernel_metadata = {
    .name = "cute-kernel-metadata",
    .help = "Record the launch requirements of each kernel",
    .anchor = "builtin.module",
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .dialects = CUTE_DIALECT_LLVM, /* types that store arguments */
    .run = run_kernel_metadata,
};
