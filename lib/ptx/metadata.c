/* Writes the JSON metadata of each kernel from the lowered IR (docs/metadata.md). */
#include "lib/ptx/metadata.h"

#include <mlir-c/Dialect/LLVM.h>
#include <stdio.h>

#include "lib/ir/mlir/json.h"
#include "lib/ir/mlir/kernel.h"
#include "lib/ir/mlir/util.h"

/* ---- PTX parameters ---- */

static json_t *parameter_json(MlirType type, MlirAttribute attributes)
{
    int64_t size = 0, align = 0;
    MlirAttribute byval = {NULL}, stated = {NULL};
    if (!mlirAttributeIsNull(attributes)) {
        byval = mlirDictionaryAttrGetElementByName(attributes, cute_text("llvm.byval"));
        stated = mlirDictionaryAttrGetElementByName(attributes, cute_text("llvm.align"));
    }
    if (!mlirAttributeIsNull(byval)) {
        MlirType inner = mlirTypeAttrGetValue(byval);
        if (cute_type_is_tensor_map_bytes(inner)) {
            size = 128;
            align = 64;
        } else {
            cute_type_layout(inner, &size, &align);
        }
        if (!mlirAttributeIsNull(stated)) align = mlirIntegerAttrGetValueInt(stated);
    } else {
        cute_type_layout(type, &size, &align);
    }
    return json_pack("{sIsI}", "size", (json_int_t)size, "align", (json_int_t)align);
}

static json_t *parameters_json(MlirOperation kernel)
{
    json_t *array = json_array();
    MlirBlock entry = mlirRegionGetFirstBlock(mlirOperationGetRegion(kernel, 0));
    MlirAttribute all = mlirOperationGetAttributeByName(kernel, cute_text("arg_attrs"));
    for (intptr_t i = 0; i < cute_kernel_argument_count(kernel); i++) {
        MlirAttribute attributes = {NULL};
        if (!mlirAttributeIsNull(all) && i < mlirArrayAttrGetNumElements(all))
            attributes = mlirArrayAttrGetElement(all, i);
        json_array_append_new(array,
                              parameter_json(mlirValueGetType(mlirBlockGetArgument(entry, i)), attributes));
    }
    return array;
}

/* Arguments by type, for kernels written in the llvm dialect. */
static json_t *arguments_of_types(MlirOperation kernel)
{
    json_t *array = json_array();
    MlirBlock entry = mlirRegionGetFirstBlock(mlirOperationGetRegion(kernel, 0));
    for (intptr_t i = 0; i < cute_kernel_argument_count(kernel); i++) {
        MlirType type = mlirValueGetType(mlirBlockGetArgument(entry, i));
        cute_buffer text = {0};
        mlirTypePrint(type, cute_print_to_buffer, &text);
        char name[32];
        snprintf(name, sizeof name, "arg%td", i);
        bool pointer = cute_type_is_pointer(type);
        json_t *arg = json_pack("{ssssss}", "name", name, "type", cute_buffer_text(&text), "kind",
                                pointer                           ? "pointer"
                                : mlirTypeIsALLVMStructType(type) ? "struct"
                                                                  : "scalar");
        if (!pointer && cute_dtype_name(type))
            json_object_set_new(arg, "dtype", json_string(cute_dtype_name(type)));
        json_object_set_new(arg, "first", json_integer(i));
        json_object_set_new(arg, "count", json_integer(1));
        json_array_append_new(array, arg);
        cute_buffer_release(&text);
    }
    return array;
}

/* ---- shared memory ---- */

typedef struct dynamic {
    MlirOperation module;
    bool used;
    int64_t align;
} dynamic;

/* An external zero-length array in address space 3 is dynamic shared memory. */
static void look_at_address(MlirOperation op, void *context)
{
    dynamic *d = context;
    MlirStringRef name =
        mlirFlatSymbolRefAttrGetValue(mlirOperationGetAttributeByName(op, cute_text("global_name")));
    MlirBlock block = mlirRegionGetFirstBlock(mlirOperationGetRegion(d->module, 0));
    for (MlirOperation g = mlirBlockGetFirstOperation(block); !mlirOperationIsNull(g);
         g = mlirOperationGetNextInBlock(g)) {
        if (!cute_op_is(g, "llvm.mlir.global")) continue;
        if (!mlirStringRefEqual(
                mlirStringAttrGetValue(mlirOperationGetAttributeByName(g, cute_text("sym_name"))), name))
            continue;
        MlirAttribute space = mlirOperationGetAttributeByName(g, cute_text("addr_space"));
        if (mlirAttributeIsNull(space) || mlirIntegerAttrGetValueInt(space) != 3) return;
        cute_buffer type = {0};
        mlirTypePrint(mlirTypeAttrGetValue(mlirOperationGetAttributeByName(g, cute_text("global_type"))),
                      cute_print_to_buffer, &type);
        if (strstr(cute_buffer_text(&type), "array<0 x")) {
            d->used = true;
            MlirAttribute align = mlirOperationGetAttributeByName(g, cute_text("alignment"));
            if (!mlirAttributeIsNull(align) && mlirIntegerAttrGetValueInt(align) > d->align)
                d->align = mlirIntegerAttrGetValueInt(align);
        }
        cute_buffer_release(&type);
        return;
    }
}

/* ---- one kernel ---- */

typedef struct writer {
    MlirOperation module;
    const cute_ptx_options *options;
    cute_buffer *out;
    bool failed;
} writer;

static void copy_attribute(json_t *object, const char *key, MlirOperation kernel, const char *attribute)
{
    MlirAttribute value = mlirOperationGetAttributeByName(kernel, cute_text(attribute));
    if (mlirAttributeIsNull(value)) return;
    json_t *json = cute_attribute_json(value);
    while (json_is_array(json) && json_array_size(json) < 3) json_array_append_new(json, json_integer(1));
    json_object_set_new(object, key, json);
}

static void write_kernel(MlirOperation kernel, void *context)
{
    writer *w = context;
    json_t *object = json_pack("{si}", "format", 1);
    json_object_set_new(object, "kernel",
                        cute_attribute_json(mlirOperationGetAttributeByName(kernel, cute_text("sym_name"))));
    json_object_set_new(
        object, "module",
        cute_attribute_json(mlirOperationGetAttributeByName(w->module, cute_text("sym_name"))));
    json_object_set_new(object, "arch", json_string(w->options->arch->name));
    MlirAttribute noted = mlirOperationGetAttributeByName(kernel, cute_text("cute.kernel"));
    if (!mlirAttributeIsNull(noted)) {
        json_t *notes = cute_attribute_json(noted);
        json_object_del(notes, "kept");
        json_object_update(object, notes);
        json_decref(notes);
    } else {
        json_object_set_new(object, "args", arguments_of_types(kernel));
    }
    json_object_set_new(object, "params", parameters_json(kernel));
    copy_attribute(object, "reqntid", kernel, "nvvm.reqntid");
    copy_attribute(object, "maxntid", kernel, "nvvm.maxntid");
    copy_attribute(object, "cluster", kernel, "nvvm.cluster_dim");
    if (!mlirAttributeIsNull(mlirOperationGetAttributeByName(kernel, cute_text("gpu.known_grid_size"))))
        copy_attribute(object, "grid", kernel, "gpu.known_grid_size");
    dynamic d = {.module = w->module};
    cute_op_each(kernel, "llvm.mlir.addressof", look_at_address, &d);
    if (d.used) json_object_set_new(object, "uses_dynamic_smem", json_true());
    if (d.align > 16) json_object_set_new(object, "smem_align", json_integer(d.align));
    if (w->options->define_count) {
        json_t *defines = json_object();
        for (size_t i = 0; i < w->options->define_count; i++)
            json_object_set_new(defines, w->options->defines[i].name,
                                json_string(w->options->defines[i].value));
        json_object_set_new(object, "defines", defines);
    }
    cute_buffer_puts(w->out, "//!cute ");
    cute_json_dump(object, false, w->out);
    if (w->out->length && w->out->data[w->out->length - 1] != '\n') cute_buffer_putc(w->out, '\n');
    json_decref(object);
}

/* The plans from cute-launch-plan, which are JSON already. */
static void write_plans(MlirOperation module, cute_buffer *out)
{
    MlirAttribute plans = mlirOperationGetAttributeByName(module, cute_text("cute.plans"));
    for (intptr_t i = 0; !mlirAttributeIsNull(plans) && i < mlirArrayAttrGetNumElements(plans); i++) {
        MlirStringRef text = mlirStringAttrGetValue(mlirArrayAttrGetElement(plans, i));
        cute_buffer_puts(out, "//!cute ");
        cute_buffer_append(out, text.data, text.length);
        cute_buffer_putc(out, '\n');
    }
}

cute_status cute_metadata_write(MlirOperation module, const cute_ptx_options *options, cute_buffer *out,
                                cute_diag *diag)
{
    writer w = {.module = module, .options = options, .out = out};
    MlirBlock block = mlirRegionGetFirstBlock(mlirOperationGetRegion(module, 0));
    for (MlirOperation op = mlirBlockGetFirstOperation(block); !mlirOperationIsNull(op);
         op = mlirOperationGetNextInBlock(op))
        if (cute_op_is(op, "llvm.func") && cute_kernel_is(op)) write_kernel(op, &w);
    write_plans(module, out);
    return cute_buffer_ok(out) ? CUTE_OK : cute_fail_memory(diag);
}
