/* Kernels and their arguments. See kernel.h. */
#include "lib/ir/mlir/kernel.h"

#include <ctype.h>
#include <mlir-c/Dialect/LLVM.h>
#include <stdio.h>

#include "lib/ir/mlir/shim.h"
#include "lib/ir/mlir/util.h"

bool cute_kernel_is(MlirOperation op)
{
    return cute_op_has(op, "gpu.kernel") || cute_op_has(op, "nvvm.kernel");
}

typedef struct visitor {
    void (*visit)(MlirOperation kernel, void *context);
    void *context;
} visitor;

static void visit_if_kernel(MlirOperation op, void *context)
{
    visitor *v = context;
    MlirOperation parent = mlirOperationGetParentOperation(op);
    bool inside = !mlirOperationIsNull(parent) && cute_op_is(parent, "gpu.module");
    if (inside && cute_kernel_is(op)) v->visit(op, v->context);
}

void cute_kernels_each(MlirOperation root, void (*visit)(MlirOperation kernel, void *context), void *context)
{
    visitor v = {visit, context};
    cute_op_each(root, "gpu.func", visit_if_kernel, &v);
    cute_op_each(root, "llvm.func", visit_if_kernel, &v);
}

static void mark_kernel(MlirOperation kernel, void *context)
{
    (void)context;
    if (cute_op_is(kernel, "llvm.func"))
        mlirOperationSetAttributeByName(kernel, cute_text("nvvm.kernel"),
                                        mlirUnitAttrGet(mlirOperationGetContext(kernel)));
}

void cute_kernels_enter(MlirOperation root)
{
    cute_kernels_each(root, mark_kernel, NULL);
}

intptr_t cute_kernel_argument_count(MlirOperation kernel)
{
    MlirType type = mlirTypeAttrGetValue(mlirOperationGetAttributeByName(kernel, cute_text("function_type")));
    if (mlirTypeIsAFunction(type)) return mlirFunctionTypeGetNumInputs(type);
    MlirBlock entry = mlirRegionGetFirstBlock(mlirOperationGetRegion(kernel, 0));
    return mlirBlockIsNull(entry) ? 0 : mlirBlockGetNumArguments(entry);
}

const char *cute_dtype_name(MlirType type)
{
    if (mlirTypeIsAVector(type)) type = mlirShapedTypeGetElementType(type);
    if (mlirTypeIsAF64(type)) return "f64";
    if (mlirTypeIsAF32(type)) return "f32";
    if (mlirTypeIsATF32(type)) return "tf32";
    if (mlirTypeIsAF16(type)) return "f16";
    if (mlirTypeIsABF16(type)) return "bf16";
    if (mlirTypeIsAFloat8E4M3FN(type)) return "e4m3";
    if (mlirTypeIsAFloat8E5M2(type)) return "e5m2";
    if (mlirTypeIsAIndex(type)) return "i64";
    if (!mlirTypeIsAInteger(type)) return NULL;
    bool is_unsigned = mlirIntegerTypeIsUnsigned(type);
    switch (mlirIntegerTypeGetWidth(type)) {
    case 1: return "i1";
    case 8: return is_unsigned ? "u8" : "i8";
    case 16: return is_unsigned ? "u16" : "i16";
    case 32: return is_unsigned ? "u32" : "i32";
    case 64: return is_unsigned ? "u64" : "i64";
    default: return NULL;
    }
}

bool cute_type_is_empty(MlirType type)
{
    if (!mlirTypeIsALLVMStructType(type)) return false;
    for (intptr_t i = 0; i < mlirLLVMStructTypeGetNumElementTypes(type); i++)
        if (!cute_type_is_empty(mlirLLVMStructTypeGetElementType(type, i))) return false;
    return true;
}

bool cute_type_is_pointer(MlirType type)
{
    return mlirTypeIsALLVMPointerType(type);
}

static int64_t float_bytes(MlirType type)
{
    if (mlirTypeIsAF64(type)) return 8;
    if (mlirTypeIsAF32(type) || mlirTypeIsATF32(type)) return 4;
    if (mlirTypeIsAF16(type) || mlirTypeIsABF16(type)) return 2;
    if (mlirTypeIsAFloat8E4M3FN(type) || mlirTypeIsAFloat8E5M2(type)) return 1;
    return 0;
}

bool cute_type_layout(MlirType type, int64_t *size, int64_t *align)
{
    *size = float_bytes(type);
    if (mlirTypeIsAIndex(type) || cute_type_is_pointer(type)) *size = 8;
    if (mlirTypeIsAInteger(type)) {
        *size = 1;
        while (*size * 8 < (int64_t)mlirIntegerTypeGetWidth(type)) *size *= 2;
    }
    *align = *size;
    if (*size) return true;
    if (mlirTypeIsAVector(type)) {
        if (!cute_type_layout(mlirShapedTypeGetElementType(type), size, align)) return false;
        int64_t bytes = *size * mlirShapedTypeGetDimSize(type, 0);
        for (*size = 1; *size < bytes;) *size *= 2;
        *align = *size;
        return mlirShapedTypeGetRank(type) == 1;
    }
    if (mlirTypeIsALLVMStructType(type)) {
        int64_t offset = 0, most = 1;
        for (intptr_t i = 0; i < mlirLLVMStructTypeGetNumElementTypes(type); i++) {
            int64_t s, a;
            if (!cute_type_layout(mlirLLVMStructTypeGetElementType(type, i), &s, &a)) return false;
            if (mlirLLVMStructTypeIsPacked(type)) a = 1;
            offset = (offset + a - 1) / a * a + s;
            if (a > most) most = a;
        }
        *size = (offset + most - 1) / most * most;
        *align = most;
        return true;
    }
    return false;
}

bool cute_type_is_tensor_map_bytes(MlirType type)
{
    cute_buffer text = {0};
    mlirTypePrint(type, cute_print_to_buffer, &text);
    const char *t = cute_buffer_text(&text);
    bool is = strcmp(t, "!llvm.array<128 x i8>") == 0 || strcmp(t, "!llvm.array<16 x i64>") == 0 ||
              strcmp(t, "!llvm.struct<(array<16 x i64>)>") == 0 ||
              strcmp(t, "!llvm.struct<(array<128 x i8>)>") == 0;
    cute_buffer_release(&text);
    return is;
}

/* ---- tensor maps: parsed from the type's text, as the C API has no accessors ---- */

static const char prefix[] = "!nvgpu.tensormap.descriptor<";

bool cute_tensor_map_is(MlirType type)
{
    cute_buffer text = {0};
    mlirTypePrint(type, cute_print_to_buffer, &text);
    bool is = strncmp(cute_buffer_text(&text), prefix, sizeof prefix - 1) == 0;
    cute_buffer_release(&text);
    return is;
}

/* The word after `key` up to `,` or `>`, without nvgpu's prefix of enumerators. */
static void word_after(const char *text, const char *key, char out[8])
{
    static const struct {
        const char *from, *to;
    } spelling[] = {
        {"swizzle_32b", "32B"},    {"swizzle_64b", "64B"},    {"swizzle_128b", "128B"},
        {"interleave_16b", "16B"}, {"interleave_32b", "32B"}, {"l2promo_64b", "64B"},
        {"l2promo_128b", "128B"},  {"l2promo_256b", "256B"},
    };
    snprintf(out, 8, "none");
    const char *at = strstr(text, key);
    if (!at) return;
    at += strlen(key);
    int length = (int)strcspn(at, ",>");
    for (size_t i = 0; i < sizeof spelling / sizeof *spelling; i++)
        if ((int)strlen(spelling[i].from) == length && !strncmp(at, spelling[i].from, (size_t)length)) {
            snprintf(out, 8, "%s", spelling[i].to);
            return;
        }
    snprintf(out, 8, "%.*s", length > 7 ? 7 : length, at);
}

bool cute_tensor_map_parse(MlirType type, cute_nvgpu_tensor_map *out)
{
    *out = (cute_nvgpu_tensor_map){0};
    cute_buffer text = {0};
    mlirTypePrint(type, cute_print_to_buffer, &text);
    const char *t = cute_buffer_text(&text), *memref = strstr(t, "tensor = memref<");
    bool ok = false;
    if (memref) {
        memref += strlen("tensor = ");
        /* The memref's text up to its own closing bracket. */
        int depth = 0;
        const char *end = memref;
        for (; *end; end++) {
            if (*end == '<') depth++;
            if (*end == '>' && --depth == 0) break;
        }
        MlirType tensor = mlirTypeParseGet(mlirTypeGetContext(type),
                                           mlirStringRefCreate(memref, (size_t)(end - memref) + (*end != 0)));
        ok = !mlirTypeIsNull(tensor) && mlirShapedTypeGetRank(tensor) <= 5;
        if (ok) {
            out->element = mlirShapedTypeGetElementType(tensor);
            out->rank = (int)mlirShapedTypeGetRank(tensor);
            for (int i = 0; i < out->rank; i++) out->box[i] = mlirShapedTypeGetDimSize(tensor, i);
            word_after(end, "swizzle = ", out->swizzle);
            word_after(end, "interleave = ", out->interleave);
            word_after(end, "l2promo = ", out->l2promo);
            word_after(end, "oob = ", out->fill);
        }
    }
    cute_buffer_release(&text);
    return ok;
}

/* ---- argument names ---- */

MlirStringRef cute_argument_stated_name(MlirOperation function, intptr_t index)
{
    MlirAttribute all = mlirOperationGetAttributeByName(function, cute_text("arg_attrs"));
    if (mlirAttributeIsNull(all) || index >= mlirArrayAttrGetNumElements(all)) return cute_text("");
    MlirAttribute name =
        mlirDictionaryAttrGetElementByName(mlirArrayAttrGetElement(all, index), cute_text("cute.name"));
    bool stated = !mlirAttributeIsNull(name) && mlirAttributeIsAString(name);
    return stated ? mlirStringAttrGetValue(name) : cute_text("");
}

/* The arguments that a conversion made from one; they share a location. */
typedef struct run_of_arguments {
    intptr_t first, count;
} run_of_arguments;

static run_of_arguments find_argument_run(MlirBlock entry, intptr_t index)
{
    MlirLocation own = cute_argument_location(mlirBlockGetArgument(entry, index));
    intptr_t total = mlirBlockGetNumArguments(entry), first = index, end = index + 1;
    while (first > 0 &&
           mlirLocationEqual(own, cute_argument_location(mlirBlockGetArgument(entry, first - 1))))
        first--;
    while (end < total && mlirLocationEqual(own, cute_argument_location(mlirBlockGetArgument(entry, end))))
        end++;
    return (run_of_arguments){first, end - first};
}

static bool is_pointer_argument(MlirBlock entry, intptr_t index)
{
    return cute_type_is_pointer(mlirValueGetType(mlirBlockGetArgument(entry, index)));
}

/* The name of part `index` of `name`: a memref's descriptor is pointer, aligned pointer, offset, sizes,
 * strides. */
static void part_name(MlirBlock entry, run_of_arguments run, intptr_t index, MlirStringRef name,
                      cute_buffer *out)
{
    intptr_t part = index - run.first, rank = (run.count - 3) / 2;
    bool memref = run.count >= 3 && run.count % 2 == 1 && is_pointer_argument(entry, run.first) &&
                  is_pointer_argument(entry, run.first + 1) && !is_pointer_argument(entry, run.first + 2);
    cute_buffer_append(out, name.data, name.length);
    if (part == 0) return;
    if (!memref)
        cute_buffer_printf(out, "_%td", part);
    else if (part < 3)
        cute_buffer_puts(out, part == 1 ? "_aligned" : "_offset");
    else
        cute_buffer_printf(out, part < 3 + rank ? "_size%td" : "_stride%td", (part - 3) % rank);
}

/* Whether a location's name is an MLIR value name, unlike "<module>" from Python. */
static bool is_value_name(MlirStringRef name)
{
    for (size_t i = 0; i < name.length; i++)
        if (!isalnum((unsigned char)name.data[i]) && !strchr("$._-", name.data[i])) return false;
    return name.length > 0;
}

/* The name from its location; empty if it has none or another argument has that name. */
static void located_name(MlirOperation function, MlirBlock entry, intptr_t index, cute_buffer *out)
{
    MlirStringRef name = cute_location_name(cute_argument_location(mlirBlockGetArgument(entry, index)));
    if (!is_value_name(name)) return;
    run_of_arguments run = find_argument_run(entry, index);
    part_name(entry, run, index, name, out);
    MlirStringRef whole = mlirStringRefCreate(cute_buffer_text(out), out->length);
    bool taken = false;
    for (intptr_t i = 0; i < mlirBlockGetNumArguments(entry) && !taken; i++) {
        MlirLocation location = cute_argument_location(mlirBlockGetArgument(entry, i));
        bool before = i < run.first && mlirStringRefEqual(cute_location_name(location), whole);
        taken = before || (i != index && mlirStringRefEqual(cute_argument_stated_name(function, i), whole));
    }
    if (taken) cute_buffer_release(out);
}

MlirStringRef cute_argument_name(MlirOperation function, intptr_t index)
{
    MlirStringRef stated = cute_argument_stated_name(function, index);
    if (stated.length) return stated;
    MlirBlock entry = mlirRegionGetFirstBlock(mlirOperationGetRegion(function, 0));
    cute_buffer text = {0};
    if (!mlirBlockIsNull(entry) && index < mlirBlockGetNumArguments(entry))
        located_name(function, entry, index, &text);
    if (!text.length) cute_buffer_printf(&text, "arg%td", index);
    /* Attributes live as long as the context. */
    MlirStringRef name = mlirStringAttrGetValue(mlirStringAttrGet(
        mlirOperationGetContext(function), mlirStringRefCreate(cute_buffer_text(&text), text.length)));
    cute_buffer_release(&text);
    return name;
}
