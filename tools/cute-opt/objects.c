/* Compiles a gpu.module to PTX with metadata, or to a cubin or fatbin with sections for both. See objects.h. */
#include "tools/cute-opt/objects.h"

#include "lib/cubin/link.h"
#include "lib/ir/mlir/util.h"
#include "lib/ptx/ptx.h"

static cute_status compile_to_ptx(const cute_object_request *request, const char *label, cute_buffer *out,
                                  cute_diag *diag)
{
    cute_buffer text = {0};
    mlirOperationWriteBytecode(request->module, cute_print_to_buffer, &text);
    /* The module is already lowered and checked. */
    cute_ptx_options options = {.arch = request->arch,
                                .opt_level = request->opt_level,
                                .lineinfo = request->lineinfo,
                                .static_checks = "off",
                                .emit = CUTE_EMIT_PTX,
                                .cuda_path = request->toolkit,
                                .no_source_map = true};
    cute_ptx_output output = {0};
    cute_status status =
        cute_ptx_compile(label, cute_buffer_text(&text), text.length, &options, &output, diag);
    if (status == CUTE_OK && output.count != 1)
        status = cute_fail(diag, CUTE_INVALID, NULL, "expected one gpu.module, got %zu", output.count);
    if (status == CUTE_OK)
        cute_buffer_append(out, output.modules[0].text.data, output.modules[0].text.length);
    cute_ptx_output_release(&output);
    cute_buffer_release(&text);
    return status == CUTE_OK && !cute_buffer_ok(out) ? cute_fail_memory(diag) : status;
}

static cute_status link_to_binary(cute_arena *arena, const cute_object_request *request, const char *label,
                                  const cute_buffer *ptx, cute_buffer *out, cute_diag *diag)
{
    bool fatbin = request->format == CUTE_OBJECT_FATBIN;
    const char *name = request->arch->name, *level = cute_arena_printf(arena, "%d", request->opt_level);
    if (fatbin) name = cute_arena_printf(arena, "%s,compute_%s", name, name + 3);
    cute_link_options options = {
        .opt_level = level, .cuda_path = request->toolkit, .line_info = request->lineinfo, .fatbin = fatbin};
    if (!name || !level || !cute_option_append(arena, &options.archs, name)) return cute_fail_memory(diag);
    cute_link_input input = {.label = label, .bytes = ptx->data, .length = ptx->length};
    cute_link_result result = {0};
    cute_status status = cute_link(arena, &options, &input, 1, &result, diag);
    if (status == CUTE_OK) cute_buffer_append(out, result.output.data, result.output.length);
    cute_buffer_release(&result.output);
    cute_buffer_release(&result.commands);
    return status == CUTE_OK && !cute_buffer_ok(out) ? cute_fail_memory(diag) : status;
}

cute_status cute_opt_object(const cute_object_request *request, cute_buffer *out, cute_diag *diag)
{
    cute_arena *arena = cute_arena_create();
    if (!arena) return cute_fail_memory(diag);
    MlirAttribute name = mlirOperationGetAttributeByName(request->module, cute_text("sym_name"));
    MlirStringRef symbol = mlirStringAttrGetValue(name);
    const char *label = cute_arena_printf(arena, "%.*s.ptx", (int)symbol.length, symbol.data);
    cute_buffer ptx = {0};
    cute_status status = label ? compile_to_ptx(request, label, &ptx, diag) : cute_fail_memory(diag);
    if (status == CUTE_OK && request->format == CUTE_OBJECT_PTX)
        cute_buffer_append(out, ptx.data, ptx.length);
    else if (status == CUTE_OK)
        status = link_to_binary(arena, request, label, &ptx, out, diag);
    cute_buffer_release(&ptx);
    cute_arena_destroy(arena);
    return status;
}
