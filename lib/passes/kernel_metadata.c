/* cute-kernel-metadata: notes on each kernel what a launch has to know (docs/metadata.md), while its
 * arguments still have the types that the source gave them.
 *
 * Requires: launches outlined, kernels in gpu.modules. Ensures: each kernel carries `cute.kernel`, a
 * dictionary with `args`, `source`, and `grid`, `block`, `dynamic_smem` where a launch in this module gives
 * constants. A kernel that has it already keeps it.
 *
 *     gpu.func @k(%a: memref<?xf32> {cute.name = "a"}) kernel
 * ->
 *     gpu.func @k(...) kernel attributes {cute.kernel = {args = [{name = "a", kind = "memref", dtype = "f32",
 *         first = 0 : i64, count = 5 : i64, ...}], source = {...}}}
 */
#include <mlir-c/Diagnostics.h>
#include <mlir-c/Dialect/LLVM.h>
#include <stdio.h>
#include <stdlib.h>

#include "lib/ir/kernel.h"
#include "lib/ir/types.h"
#include "lib/ir/util.h"
#include "lib/passes/passes.h"

/* A dictionary or array under construction. */
typedef struct dict {
    MlirContext context;
    MlirNamedAttribute items[24];
    intptr_t count;
} dict;

static void put(dict *d, const char *name, MlirAttribute value)
{
    d->items[d->count++] = cute_attribute(d->context, name, value);
}
static void put_text(dict *d, const char *name, const char *text)
{
    put(d, name, cute_string_attribute(d->context, text));
}
static void put_ref(dict *d, const char *name, MlirStringRef text)
{
    put(d, name, mlirStringAttrGet(d->context, text));
}
static void put_int(dict *d, const char *name, int64_t value)
{
    put(d, name, mlirIntegerAttrGet(mlirIntegerTypeGet(d->context, 64), value));
}
static MlirAttribute finish(dict *d)
{
    return mlirDictionaryAttrGet(d->context, d->count, d->items);
}

/* Numbers, or a unit attribute (null in JSON) where `unknown`. */
static MlirAttribute int_array(MlirContext context, const int64_t *values, intptr_t count, int64_t unknown)
{
    MlirAttribute *items = calloc((size_t)count + 1, sizeof *items);
    MlirType i64 = mlirIntegerTypeGet(context, 64);
    for (intptr_t i = 0; items && i < count; i++)
        items[i] = values[i] == unknown ? mlirUnitAttrGet(context) : mlirIntegerAttrGet(i64, values[i]);
    MlirAttribute array = mlirArrayAttrGet(context, items ? count : 0, items);
    free(items);
    return array;
}

/* ---- types ---- */

static void put_type(dict *d, MlirType type)
{
    cute_buffer text = {0};
    mlirTypePrint(type, cute_print_to_buffer, &text);
    put_text(d, "type", cute_buffer_text(&text));
    cute_buffer_release(&text);
}

static void put_dtype(dict *d, MlirType type)
{
    const char *name = cute_dtype_name(type);
    if (name) put_text(d, "dtype", name);
}

/* Shape and strides of a strided memref, in elements. */
static void put_memref(dict *d, MlirType type)
{
    int64_t shape[64], strides[64], running = 1;
    int64_t rank = mlirShapedTypeGetRank(type);
    if (rank > 64) return;
    int64_t unknown = mlirShapedTypeGetDynamicSize();
    for (int64_t i = 0; i < rank; i++) shape[i] = mlirShapedTypeGetDimSize(type, i);
    bool known = true;
    for (int64_t i = rank; i-- > 0;) {
        strides[i] = known ? running : unknown;
        known = known && shape[i] != unknown && !__builtin_mul_overflow(running, shape[i], &running);
    }
    MlirAttribute layout = mlirMemRefTypeGetLayout(type);
    if (mlirAttributeIsAStridedLayout(layout))
        for (int64_t i = 0; i < rank && i < mlirStridedLayoutAttrGetNumStrides(layout); i++)
            strides[i] = mlirStridedLayoutAttrGetStride(layout, i);
    put(d, "shape", int_array(d->context, shape, rank, unknown));
    put(d, "strides", int_array(d->context, strides, rank, unknown));
}

static void put_tensor_map(dict *d, MlirType type)
{
    cute_nvgpu_tensor_map map;
    if (!cute_tensor_map_parse(type, &map)) return;
    put_dtype(d, map.element);
    put(d, "box", int_array(d->context, map.box, map.rank, INT64_MIN));
    put_text(d, "swizzle", map.swizzle);
    put_text(d, "interleave", map.interleave);
    put_text(d, "l2promo", map.l2promo);
    put_text(d, "fill", map.fill);
}

/* The unknown leaves of a cute value, passed as a struct of integers. */
static void put_cute_value(dict *d, MlirType type)
{
    cute_arena *arena = cute_arena_create();
    cute_value value;
    if (arena && cute_type_value(type, &value, NULL) == CUTE_OK) {
        size_t count = cute_value_unknowns(&value, NULL, 0);
        cute_int *leaves = cute_arena_array(arena, count, sizeof *leaves);
        MlirAttribute *fields = cute_arena_array(arena, count, sizeof *fields);
        int64_t offset = 0;
        if (leaves && fields)
            cute_value_unknowns(&value, leaves, count);
        else
            count = 0;
        for (size_t i = 0; i < count; i++) {
            int64_t size = leaves[i].width / 8;
            offset = (offset + size - 1) / size * size;
            char name[32];
            snprintf(name, sizeof name, "leaf%zu", i);
            dict field = {.context = d->context};
            put_text(&field, "name", name);
            put_text(&field, "dtype", size == 8 ? "i64" : "i32");
            put_int(&field, "offset", offset);
            put_int(&field, "size", size);
            fields[i] = finish(&field);
            offset += size;
        }
        put(d, "fields", mlirArrayAttrGet(d->context, (intptr_t)count, fields));
        MlirStringRef text = cute_type_text(type);
        if (value.type == CUTE_LAYOUT || value.type == CUTE_COMPOSED_LAYOUT) put_ref(d, "layout", text);
    }
    cute_arena_destroy(arena);
}

static void put_struct(dict *d, MlirType type)
{
    intptr_t count = mlirLLVMStructTypeGetNumElementTypes(type);
    MlirAttribute *fields = calloc((size_t)count + 1, sizeof *fields);
    int64_t offset = 0;
    for (intptr_t i = 0; fields && i < count; i++) {
        MlirType element = mlirLLVMStructTypeGetElementType(type, i);
        int64_t size, align;
        if (!cute_type_layout(element, &size, &align)) {
            count = i; /* what follows has no known place */
            break;
        }
        if (mlirLLVMStructTypeIsPacked(type)) align = 1;
        offset = (offset + align - 1) / align * align;
        char name[32];
        snprintf(name, sizeof name, "f%td", i);
        dict field = {.context = d->context};
        put_text(&field, "name", name);
        put_type(&field, element);
        put_dtype(&field, element);
        put_int(&field, "offset", offset);
        put_int(&field, "size", size);
        fields[i] = finish(&field);
        offset += size;
    }
    put(d, "fields", mlirArrayAttrGet(d->context, fields ? count : 0, fields));
    free(fields);
}

/* ---- arguments ---- */

static MlirAttribute lookup(MlirAttribute dictionary, const char *name)
{
    if (mlirAttributeIsNull(dictionary)) return dictionary;
    return mlirDictionaryAttrGetElementByName(dictionary, cute_text(name));
}

static void put_pointer(dict *d, MlirAttribute attributes)
{
    MlirAttribute dtype = lookup(attributes, "cute.dtype");
    if (!mlirAttributeIsNull(dtype) && mlirAttributeIsAType(dtype)) put_dtype(d, mlirTypeAttrGetValue(dtype));
}

static void put_access(dict *d, MlirAttribute attributes)
{
    bool read = !mlirAttributeIsNull(lookup(attributes, "llvm.readonly"));
    bool write = !mlirAttributeIsNull(lookup(attributes, "llvm.writeonly"));
    if (read || write) put_text(d, "access", read ? "read" : "write");
    MlirAttribute align = lookup(attributes, "llvm.align");
    if (!mlirAttributeIsNull(align) && mlirAttributeIsAInteger(align))
        put_int(d, "align", mlirIntegerAttrGetValueInt(align));
}

static MlirAttribute argument(MlirOperation kernel, MlirValue value, MlirAttribute attributes, intptr_t index,
                              MlirStringRef tensor_map_space, int64_t *first)
{
    dict d = {.context = mlirOperationGetContext(kernel)};
    MlirType type = mlirValueGetType(value);
    put_ref(&d, "name", cute_argument_name(kernel, index));
    put_type(&d, type);
    int64_t count = 1;
    const char *kind = "scalar";
    MlirAttribute byval = lookup(attributes, "llvm.byval");
    if (mlirTypeIsAMemRef(type)) {
        kind = "memref";
        put_dtype(&d, mlirShapedTypeGetElementType(type));
        put_memref(&d, type);
        put_access(&d, attributes);
        count = 3 + 2 * mlirShapedTypeGetRank(type);
    } else if (cute_tensor_map_is(type)) {
        kind = "tensor_map";
        put_tensor_map(&d, type);
        put_ref(&d, "space", tensor_map_space);
    } else if (cute_type_is(type, NULL)) {
        kind = "struct";
        put_cute_value(&d, type);
        if (cute_type_is_static(type)) count = 0;
    } else if (cute_type_is_pointer(type)) {
        bool map = !mlirAttributeIsNull(byval) &&
                   !mlirAttributeIsNull(lookup(attributes, "nvvm.grid_constant")) &&
                   cute_type_is_tensor_map_bytes(mlirTypeAttrGetValue(byval));
        kind = map ? "tensor_map" : mlirAttributeIsNull(byval) ? "pointer" : "struct";
        if (map)
            put_text(&d, "space", "param");
        else if (mlirAttributeIsNull(byval))
            put_pointer(&d, attributes);
        else if (mlirTypeIsALLVMStructType(mlirTypeAttrGetValue(byval)))
            put_struct(&d, mlirTypeAttrGetValue(byval));
        put_access(&d, attributes);
    } else if (mlirTypeIsALLVMStructType(type)) {
        kind = "struct";
        put_struct(&d, type);
    } else {
        put_dtype(&d, type);
    }
    put_text(&d, "kind", kind);
    put_int(&d, "first", *first);
    put_int(&d, "count", count);
    *first += count;
    return finish(&d);
}

static MlirAttribute arguments(MlirOperation kernel, MlirStringRef tensor_map_space)
{
    MlirContext context = mlirOperationGetContext(kernel);
    intptr_t count = cute_kernel_argument_count(kernel);
    MlirAttribute all = mlirOperationGetAttributeByName(kernel, cute_text("arg_attrs"));
    MlirBlock entry = mlirRegionGetFirstBlock(mlirOperationGetRegion(kernel, 0));
    MlirAttribute *items = calloc((size_t)count + 1, sizeof *items);
    int64_t first = 0;
    for (intptr_t i = 0; items && i < count; i++) {
        MlirAttribute attributes = {NULL};
        if (!mlirAttributeIsNull(all) && i < mlirArrayAttrGetNumElements(all))
            attributes = mlirArrayAttrGetElement(all, i);
        items[i] = argument(kernel, mlirBlockGetArgument(entry, i), attributes, i, tensor_map_space, &first);
    }
    MlirAttribute array = mlirArrayAttrGet(context, items ? count : 0, items);
    free(items);
    return array;
}

/* Attributes of arguments by parameter, for what conversions drop (finish_kernels.c). */
static MlirAttribute kept_attributes(MlirOperation kernel, MlirAttribute args)
{
    MlirContext context = mlirOperationGetContext(kernel);
    MlirAttribute all = mlirOperationGetAttributeByName(kernel, cute_text("arg_attrs"));
    dict d = {.context = context};
    if (mlirAttributeIsNull(all)) return finish(&d);
    static const char *const names[] = {"llvm.byval", "llvm.align", "nvvm.grid_constant", NULL};
    for (intptr_t i = 0; i < mlirArrayAttrGetNumElements(all) && d.count < 24; i++) {
        MlirAttribute attributes = mlirArrayAttrGetElement(all, i);
        if (mlirAttributeIsNull(lookup(attributes, "llvm.byval"))) continue;
        dict kept = {.context = context};
        for (const char *const *n = names; *n; n++) {
            MlirAttribute value = lookup(attributes, *n);
            if (!mlirAttributeIsNull(value)) put(&kept, *n, value);
        }
        char index[32];
        snprintf(index, sizeof index, "p%lld",
                 (long long)mlirIntegerAttrGetValueInt(lookup(mlirArrayAttrGetElement(args, i), "first")));
        put(&d, index, finish(&kept));
    }
    return finish(&d);
}

/* ---- launches ---- */

static bool constant(MlirValue value, int64_t *out)
{
    if (!mlirValueIsAOpResult(value)) return false;
    MlirOperation op = mlirOpResultGetOwner(value);
    if (!cute_op_is(op, "arith.constant") && !cute_op_is(op, "llvm.mlir.constant")) return false;
    MlirAttribute attribute = mlirOperationGetAttributeByName(op, cute_text("value"));
    if (!mlirAttributeIsAInteger(attribute)) return false;
    *out = mlirIntegerAttrGetValueInt(attribute);
    return true;
}

typedef struct launch {
    MlirOperation kernel;
    MlirStringRef module, name;
    dict *out;
} launch;

static void note_launch(MlirOperation op, void *context)
{
    launch *l = context;
    MlirAttribute callee = mlirOperationGetAttributeByName(op, cute_text("kernel"));
    if (!mlirStringRefEqual(mlirSymbolRefAttrGetRootReference(callee), l->module) ||
        !mlirStringRefEqual(mlirSymbolRefAttrGetLeafReference(callee), l->name))
        return;
    MlirAttribute segments = mlirOperationGetAttributeByName(op, cute_text("operandSegmentSizes"));
    /* async dependencies, grid x y z, block x y z, cluster x y z, dynamic shared memory, arguments, async
     * object */
    static const struct {
        const char *name;
        int segment;
    } fields[] = {{"grid", 1}, {"block", 4}, {"cluster", 7}};
    intptr_t start[13] = {0};
    for (int i = 0; i < 12; i++) start[i + 1] = start[i] + mlirDenseI32ArrayGetElement(segments, i);
    for (size_t f = 0; f < sizeof fields / sizeof *fields; f++) {
        int64_t values[3];
        bool known = start[fields[f].segment + 1] > start[fields[f].segment];
        for (int i = 0; i < 3 && known; i++)
            known = constant(mlirOperationGetOperand(op, start[fields[f].segment] + i), &values[i]);
        if (known && mlirAttributeIsNull(lookup(finish(l->out), fields[f].name)))
            put(l->out, fields[f].name, int_array(l->out->context, values, 3, INT64_MIN));
    }
    int64_t bytes;
    if (start[11] > start[10] && constant(mlirOperationGetOperand(op, start[10]), &bytes) &&
        mlirAttributeIsNull(lookup(finish(l->out), "dynamic_smem")))
        put_int(l->out, "dynamic_smem", bytes);
}

static void put_source(dict *d, MlirOperation kernel)
{
    MlirStringRef file;
    unsigned line, column;
    if (!cute_location_place(mlirOperationGetLocation(kernel), &file, &line, &column)) return;
    dict source = {.context = d->context};
    put_ref(&source, "file", file);
    put_int(&source, "line", line);
    put_int(&source, "column", column);
    put(d, "source", finish(&source));
}

typedef struct work {
    MlirOperation root;
    MlirStringRef space;
    bool failed;
} work;

/* A launch that gives arguments by name could mean either. */
static bool refuse_doubled(MlirOperation kernel)
{
    MlirBlock entry = mlirRegionGetFirstBlock(mlirOperationGetRegion(kernel, 0));
    for (intptr_t i = 1; i < cute_kernel_argument_count(kernel); i++) {
        MlirStringRef name = cute_argument_stated_name(kernel, i);
        for (intptr_t k = 0; k < i && name.length; k++) {
            if (!mlirStringRefEqual(name, cute_argument_stated_name(kernel, k))) continue;
            cute_buffer text = {0};
            cute_buffer_printf(&text, "arguments %td and %td are both called '%.*s' by cute.name", k, i,
                               (int)name.length, name.data);
            mlirEmitError(cute_argument_location(mlirBlockGetArgument(entry, i)), cute_buffer_text(&text));
            cute_buffer_release(&text);
            return true;
        }
    }
    return false;
}

static void note(MlirOperation kernel, void *context)
{
    work *w = context;
    if (cute_op_has(kernel, "cute.kernel")) return;
    if (refuse_doubled(kernel)) {
        w->failed = true;
        return;
    }
    dict d = {.context = mlirOperationGetContext(w->root)};
    MlirAttribute args = arguments(kernel, w->space);
    put(&d, "args", args);
    put_source(&d, kernel);
    launch l = {.kernel = kernel, .out = &d};
    l.name = mlirStringAttrGetValue(mlirOperationGetAttributeByName(kernel, cute_text("sym_name")));
    MlirOperation module = mlirOperationGetParentOperation(kernel);
    l.module = mlirStringAttrGetValue(mlirOperationGetAttributeByName(module, cute_text("sym_name")));
    cute_op_each(w->root, "gpu.launch_func", note_launch, &l);
    put(&d, "kept", kept_attributes(kernel, args));
    mlirOperationSetAttributeByName(kernel, cute_text("cute.kernel"), finish(&d));
}

static void run(MlirOperation root, cute_pass_run *pass)
{
    work w = {.root = root, .space = cute_pass_text(pass, 0)};
    cute_kernels_each(root, note, &w);
    if (w.failed) cute_pass_fail(pass);
}

static const cute_pass_option options[] = {
    {"tensor-map", CUTE_PASS_TEXT, "How tensor maps are passed: param (by value) or memory (by pointer)", 0,
     "param"},
};

const cute_pass cute_pass_kernel_metadata = {
    .name = "cute-kernel-metadata",
    .help = "Note on each kernel what a launch has to know",
    .anchor = "builtin.module",
    .options = options,
    .option_count = 1,
    .run = run,
};
