/* Descriptions of arguments for launches: of kernel arguments, with the parameter offset of each part, and
 * of host functions, with the value that a launch must supply for each. */
#include "lib/passes/host/describe.h"

#include <mlir-c/Dialect/LLVM.h>
#include <stdio.h>
#include <stdlib.h>

#include "lib/base/list.h"
#include "lib/ir/dialects/types.h"
#include "lib/ir/mlir/kernel.h"
#include "lib/ir/mlir/util.h"
#include "lib/ir/ops/address.h"

void cute_dict_put(cute_dict *d, const char *name, MlirAttribute value)
{
    d->items[d->count++] = cute_attribute(d->context, name, value);
}
void cute_dict_text(cute_dict *d, const char *name, const char *text)
{
    cute_dict_put(d, name, cute_string_attribute(d->context, text));
}
void cute_dict_ref(cute_dict *d, const char *name, MlirStringRef text)
{
    cute_dict_put(d, name, mlirStringAttrGet(d->context, text));
}
void cute_dict_int(cute_dict *d, const char *name, int64_t value)
{
    cute_dict_put(d, name, mlirIntegerAttrGet(mlirIntegerTypeGet(d->context, 64), value));
}
MlirAttribute cute_dict_finish(cute_dict *d)
{
    return mlirDictionaryAttrGet(d->context, d->count, d->items);
}

MlirAttribute cute_int_array(MlirContext context, const int64_t *values, intptr_t count, int64_t unknown)
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

static void put_type(cute_dict *d, MlirType type)
{
    cute_buffer text = {0};
    mlirTypePrint(type, cute_print_to_buffer, &text);
    cute_dict_text(d, "type", cute_buffer_text(&text));
    cute_buffer_release(&text);
}

static void put_dtype(cute_dict *d, MlirType type)
{
    const char *name = cute_dtype_name(type);
    if (name) cute_dict_text(d, "dtype", name);
}

/* Shape and strides of a strided memref, in elements. */
static void put_memref(cute_dict *d, MlirType type)
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
    cute_dict_put(d, "shape", cute_int_array(d->context, shape, rank, unknown));
    cute_dict_put(d, "strides", cute_int_array(d->context, strides, rank, unknown));
}

static void put_tensor_map(cute_dict *d, MlirType type)
{
    cute_nvgpu_tensor_map map;
    if (!cute_tensor_map_parse(type, &map)) return;
    put_dtype(d, map.element);
    cute_dict_put(d, "box", cute_int_array(d->context, map.box, map.rank, INT64_MIN));
    cute_dict_text(d, "swizzle", map.swizzle);
    cute_dict_text(d, "interleave", map.interleave);
    cute_dict_text(d, "l2promo", map.l2promo);
    cute_dict_text(d, "fill", map.fill);
}

/* ---- structs: leaves in order ---- */

typedef struct fields {
    MlirContext context;
    MlirAttribute *items;
    size_t count, capacity, integers;
    const char *prefix; /* prefix of names: "f0", "f1_0" in a nested struct, or "leaf0" */
    bool flat;          /* number the leaves consecutively */
} fields;

static int64_t round_up(int64_t value, int64_t to)
{
    return (value + to - 1) / to * to;
}

/* Appends the leaves of `type`, which starts at `offset`; false if one has no known offset. */
static bool add_fields(fields *f, MlirType type, const char *name, int64_t offset)
{
    int64_t size, align, at = 0;
    if (!cute_type_layout(type, &size, &align)) return false;
    if (mlirTypeIsALLVMStructType(type)) {
        for (intptr_t i = 0; i < mlirLLVMStructTypeGetNumElementTypes(type); i++) {
            MlirType element = mlirLLVMStructTypeGetElementType(type, i);
            char own[64];
            if (!cute_type_layout(element, &size, &align)) return false;
            at = round_up(at, mlirLLVMStructTypeIsPacked(type) ? 1 : align);
            snprintf(own, sizeof own, *name ? "%s_%td" : "%s%td", *name ? name : f->prefix, i);
            if (!add_fields(f, element, own, offset + at)) return false;
            at += size;
        }
        return true;
    }
    char numbered[32];
    bool pointer = cute_type_is_pointer(type);
    snprintf(numbered, sizeof numbered, pointer ? "pointer" : "leaf%zu", f->integers);
    f->integers += !pointer;
    cute_dict field = {.context = f->context};
    cute_dict_text(&field, "name", f->flat ? numbered : name);
    if (!f->flat) put_type(&field, type);
    put_dtype(&field, type);
    cute_dict_int(&field, "offset", offset);
    cute_dict_int(&field, "size", size);
    if (!cute_heap_more(&f->items, f->count, &f->capacity, sizeof *f->items, 16)) return false;
    f->items[f->count++] = cute_dict_finish(&field);
    return true;
}

static void put_fields(cute_dict *d, MlirType type, bool flat)
{
    fields f = {.context = d->context, .prefix = "f", .flat = flat};
    add_fields(&f, type, "", 0);
    cute_dict_put(d, "fields", mlirArrayAttrGet(d->context, (intptr_t)f.count, f.items));
    free(f.items);
}

/* ---- cute values ---- */

/* The layout of a tensor as text. */
static void put_layout(cute_dict *d, cute_arena *arena, const cute_value *value)
{
    cute_value layout = *value;
    layout.type = value->type == CUTE_LAYOUT || !value->tree ? CUTE_LAYOUT : CUTE_COMPOSED_LAYOUT;
    layout.pointer = NULL;
    const char *text = cute_value_text(arena, &layout);
    if (text) cute_dict_text(d, "layout", text);
}

static void put_cute_pointer(cute_dict *d, const cute_pointer *pointer)
{
    MlirType element = cute_element_type(d->context, pointer->element);
    if (!mlirTypeIsNull(element) && cute_dtype_name(element))
        put_dtype(d, element);
    else
        cute_dict_text(d, "dtype", pointer->element);
    cute_dict_text(d, "space", cute_space_name(pointer->space));
    cute_dict_int(d, "align", pointer->align);
}

/* A cute value as a kernel argument: the parameter has the type that stores it. */
static const char *put_cute_argument(cute_dict *d, MlirType type, int64_t *count)
{
    const char *kind = "struct";
    cute_arena *arena = cute_arena_create();
    const cute_value *value = cute_type_peek(type);
    const cute_type_row *row = cute_type_row_of(type);
    MlirType stored = arena && row->lower ? row->lower(d->context, arena, type) : (MlirType){NULL};
    if (value && value->pointer) {
        kind = value->type == CUTE_PTR ? "pointer" : "memref";
        put_cute_pointer(d, value->pointer);
    }
    if (value && arena &&
        (value->type == CUTE_LAYOUT || value->type == CUTE_COMPOSED_LAYOUT || value->type == CUTE_MEMREF))
        put_layout(d, arena, value);
    if (!mlirTypeIsNull(stored)) {
        int64_t size = 0, align;
        if (cute_type_layout(stored, &size, &align) && size == 0) *count = 0;
        put_fields(d, stored, true);
    }
    cute_arena_destroy(arena);
    return kind;
}

/* ---- arguments ---- */

MlirAttribute cute_dict_find(MlirAttribute dictionary, const char *name)
{
    if (mlirAttributeIsNull(dictionary)) return dictionary;
    return mlirDictionaryAttrGetElementByName(dictionary, cute_text(name));
}

static void put_pointer(cute_dict *d, MlirAttribute attributes)
{
    MlirAttribute dtype = cute_dict_find(attributes, "cute.dtype");
    if (!mlirAttributeIsNull(dtype) && mlirAttributeIsAType(dtype)) put_dtype(d, mlirTypeAttrGetValue(dtype));
}

static void put_access(cute_dict *d, MlirAttribute attributes)
{
    bool read = !mlirAttributeIsNull(cute_dict_find(attributes, "llvm.readonly"));
    bool write = !mlirAttributeIsNull(cute_dict_find(attributes, "llvm.writeonly"));
    if (read || write) cute_dict_text(d, "access", read ? "read" : "write");
    MlirAttribute align = cute_dict_find(attributes, "llvm.align");
    if (!mlirAttributeIsNull(align) && mlirAttributeIsAInteger(align))
        cute_dict_int(d, "align", mlirIntegerAttrGetValueInt(align));
}

/* The attributes of argument `index` of a function; null: none. */
static MlirAttribute cute_argument_attributes(MlirOperation function, intptr_t index)
{
    MlirAttribute all = mlirOperationGetAttributeByName(function, cute_text("arg_attrs"));
    if (mlirAttributeIsNull(all) || index >= mlirArrayAttrGetNumElements(all)) return (MlirAttribute){NULL};
    return mlirArrayAttrGetElement(all, index);
}

static MlirType argument_type(MlirOperation function, intptr_t index)
{
    return mlirValueGetType(
        mlirBlockGetArgument(mlirRegionGetFirstBlock(mlirOperationGetRegion(function, 0)), index));
}

/* The description that cute-nvgpu-tma-materialize attached to a tensor map. */
static const char *put_made_map(cute_dict *d, MlirAttribute map)
{
    static const struct {
        const char *format, *dtype;
    } dtypes[] = {{"F16_RN", "f16"},   {"BF16_RN", "bf16"},     {"F32_RN", "f32"}, {"F32_FTZ_RN", "f32"},
                  {"TF32_RN", "tf32"}, {"TF32_FTZ_RN", "tf32"}, {"F64_RN", "f64"}, {"U8", "i8"},
                  {"U16", "i16"},      {"U32", "i32"},          {"S32", "i32"},    {"U64", "i64"},
                  {"S64", "i64"}};
    for (intptr_t i = 0; i < mlirDictionaryAttrGetNumElements(map) && d->count < 18; i++)
        d->items[d->count++] = mlirDictionaryAttrGetElement(map, i);
    MlirAttribute known = cute_dict_find(map, "format");
    MlirStringRef format = mlirAttributeIsNull(known) ? cute_text("") : mlirStringAttrGetValue(known);
    for (size_t i = 0; i < sizeof dtypes / sizeof *dtypes; i++)
        if (cute_text_is(format, dtypes[i].format)) cute_dict_text(d, "dtype", dtypes[i].dtype);
    return "tensor_map";
}

static const char *put_pointer_argument(cute_dict *d, MlirAttribute attributes)
{
    MlirAttribute made = cute_dict_find(attributes, "cute.tensor_map");
    if (!mlirAttributeIsNull(made)) return put_made_map(d, made);
    MlirAttribute byval = cute_dict_find(attributes, "llvm.byval");
    bool map = !mlirAttributeIsNull(byval) &&
               !mlirAttributeIsNull(cute_dict_find(attributes, "nvvm.grid_constant")) &&
               cute_type_is_tensor_map_bytes(mlirTypeAttrGetValue(byval));
    if (map)
        cute_dict_text(d, "space", "param");
    else if (mlirAttributeIsNull(byval))
        put_pointer(d, attributes);
    else if (mlirTypeIsALLVMStructType(mlirTypeAttrGetValue(byval)))
        put_fields(d, mlirTypeAttrGetValue(byval), false);
    put_access(d, attributes);
    return map ? "tensor_map" : mlirAttributeIsNull(byval) ? "pointer" : "struct";
}

MlirAttribute cute_describe_argument(MlirOperation kernel, intptr_t index, MlirStringRef tensor_map_space,
                                     int64_t *first)
{
    cute_dict d = {.context = mlirOperationGetContext(kernel)};
    MlirType type = argument_type(kernel, index);
    MlirAttribute attributes = cute_argument_attributes(kernel, index);
    int64_t count = 1;
    const char *kind = "scalar";
    cute_dict_ref(&d, "name", cute_argument_name(kernel, index));
    put_type(&d, type);
    if (mlirTypeIsAMemRef(type)) {
        kind = "memref";
        put_dtype(&d, mlirShapedTypeGetElementType(type));
        put_memref(&d, type);
        put_access(&d, attributes);
        count = 3 + 2 * mlirShapedTypeGetRank(type);
    } else if (cute_tensor_map_is(type)) {
        kind = "tensor_map";
        put_tensor_map(&d, type);
        cute_dict_ref(&d, "space", tensor_map_space);
    } else if (cute_type_row_of(type)) {
        kind = put_cute_argument(&d, type, &count);
        if (strcmp(kind, "struct") != 0) put_access(&d, attributes);
    } else if (cute_type_is_pointer(type)) {
        kind = put_pointer_argument(&d, attributes);
    } else if (mlirTypeIsALLVMStructType(type)) {
        kind = "struct";
        put_fields(&d, type, false);
    } else {
        put_dtype(&d, type);
    }
    cute_dict_text(&d, "kind", kind);
    cute_dict_int(&d, "first", *first);
    cute_dict_int(&d, "count", count);
    *first += count;
    return cute_dict_finish(&d);
}

/* ---- parameters of host functions ---- */

static const char *put_cute_parameter(cute_dict *d, MlirType type)
{
    const char *kind = "other";
    cute_arena *arena = cute_arena_create();
    const cute_value *value = cute_type_peek(type);
    if (!arena || !value) {
        if (cute_type_is_static(type)) kind = "stream"; /* the caller does not supply it */
    } else if (value->pointer) {
        kind = value->type == CUTE_PTR ? "pointer" : "memref";
        put_cute_pointer(d, value->pointer);
        if (value->type == CUTE_MEMREF) put_layout(d, arena, value);
    } else if (value->type == CUTE_INTEGER) {
        cute_int leaf = {.width = 32};
        cute_value_unknowns(value, &leaf, 1);
        kind = "scalar";
        put_dtype(d, mlirIntegerTypeGet(d->context, (unsigned)leaf.width));
        if (leaf.divisor > 1) cute_dict_int(d, "div", leaf.divisor);
    } else if (value->type <= CUTE_TILE) {
        const char *text = cute_value_text(arena, value);
        if (text) cute_dict_text(d, "value", text);
        kind = "tuple";
    }
    cute_arena_destroy(arena);
    return kind;
}

static bool is_stream(MlirType type)
{
    cute_buffer text = {0};
    mlirTypePrint(type, cute_print_to_buffer, &text);
    bool is = strcmp(cute_buffer_text(&text), "!cuda.stream") == 0;
    cute_buffer_release(&text);
    return is;
}

MlirAttribute cute_describe_parameter(MlirOperation function, intptr_t index)
{
    cute_dict d = {.context = mlirOperationGetContext(function)};
    MlirType type = argument_type(function, index);
    MlirAttribute attributes = cute_argument_attributes(function, index);
    const char *kind = "other";
    cute_dict_ref(&d, "name", cute_argument_name(function, index));
    put_type(&d, type);
    if (mlirTypeIsAMemRef(type)) {
        kind = "memref";
        put_dtype(&d, mlirShapedTypeGetElementType(type));
        put_memref(&d, type);
    } else if (cute_type_row_of(type)) {
        kind = put_cute_parameter(&d, type);
    } else if (cute_type_is_pointer(type)) {
        kind = "pointer";
        put_pointer(&d, attributes);
        put_access(&d, attributes);
    } else if (mlirTypeIsALLVMStructType(type)) {
        kind = "struct";
        put_fields(&d, type, false);
    } else if (is_stream(type)) {
        kind = "stream";
    } else if (!mlirTypeIsAVector(type) && (mlirTypeIsAInteger(type) || cute_dtype_name(type))) {
        kind = "scalar";
        put_dtype(&d, type);
        if (mlirTypeIsAInteger(type)) cute_dict_int(&d, "width", mlirIntegerTypeGetWidth(type));
    }
    cute_dict_text(&d, "kind", kind);
    return cute_dict_finish(&d);
}
