/* Generates a template of launch.json for a kernel or a host function. */
#include <string.h>

#include "cute/launch.h"
#include "lib/base/text/json.h"
#include "lib/launch/plan/hostplan.h"

static bool is_given(const int64_t *v)
{
    return v[0] > 0;
}

static json_t *template_shape(const cute_arg *arg)
{
    json_t *shape = json_array();
    for (size_t i = 0; i < arg->rank; i++)
        json_array_append_new(shape, arg->shape && arg->shape[i] != CUTE_DYNAMIC ? json_integer(arg->shape[i])
                                                                                 : json_string("n"));
    if (arg->rank == 0) json_array_append_new(shape, json_string("n"));
    return shape;
}

/* A tensor map of a buffer, as in the kernel's metadata. */
static void template_map(const cute_arg *arg, json_t *args, json_t *buffers)
{
    json_t *buffer = json_object(), *map = json_object(), *arg_value = json_object(), *shape = json_array();
    for (size_t i = 0; i < arg->box_rank; i++) json_array_append_new(shape, json_string("n"));
    json_object_set_new(buffer, "dtype", json_string(arg->dtype ? arg->dtype : "f32"));
    json_object_set_new(buffer, "shape", shape);
    json_object_set_new(buffer, "init", json_string("normal"));
    json_object_set_new(buffers, arg->name, buffer);
    json_object_set_new(map, "buffer", json_string(arg->name));
    json_object_set_new(map, "box", cute_json_integers(arg->box, (int)arg->box_rank, CUTE_DYNAMIC));
    const char *const words[][2] = {{"swizzle", arg->swizzle}, {"interleave", arg->interleave}};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (words[i][1] && strcmp(words[i][1], "none") != 0)
            json_object_set_new(map, words[i][0], json_string(words[i][1]));
    json_object_set_new(arg_value, "tensor_map", map);
    json_array_append_new(args, arg_value);
}

static void template_arg(const cute_arg *arg, json_t *args, json_t *buffers, json_t *outputs)
{
    const char *dtype = arg->dtype ? arg->dtype : "f32";
    bool is_float = dtype[0] != 'i' && dtype[0] != 'u';
    if (arg->kind == CUTE_ARG_SCALAR) {
        json_t *scalar = json_object();
        json_object_set_new(scalar, "type", json_string(dtype));
        json_object_set_new(scalar, "value", is_float ? json_real(1.0) : json_string("n"));
        json_array_append_new(args, scalar);
        return;
    }
    if (arg->kind == CUTE_ARG_STRUCT) {
        json_t *value = json_object(), *fields = json_object();
        for (size_t i = 0; i < arg->field_count; i++)
            json_object_set_new(fields, arg->fields[i].name ? arg->fields[i].name : "?", json_integer(0));
        json_object_set_new(value, "struct", fields);
        json_array_append_new(args, value);
        return;
    }
    if (arg->kind == CUTE_ARG_UNKNOWN && arg->size > 0 && arg->size != 8) {
        json_t *scalar = json_object();
        json_object_set_new(scalar, "type",
                            json_string(arg->size == 1   ? "i8"
                                        : arg->size == 2 ? "i16"
                                                         : "i32"));
        json_object_set_new(scalar, "value", json_string("n"));
        json_array_append_new(args, scalar);
        return;
    }
    if (arg->kind == CUTE_ARG_TENSOR_MAP && arg->box_rank) {
        template_map(arg, args, buffers);
        return;
    }
    json_t *buffer = json_object();
    json_object_set_new(buffer, "dtype", json_string(dtype));
    json_object_set_new(buffer, "shape", template_shape(arg));
    if (arg->writes && !arg->reads)
        json_object_set_new(outputs, arg->name, json_string("stats"));
    else
        json_object_set_new(buffer, "init", json_string(is_float ? "normal" : "iota"));
    json_object_set_new(buffers, arg->name, buffer);
    json_array_append_new(args, json_string(arg->name));
}

char *cute_launch_template(const cute_kernel *kernel)
{
    cute_buffer out = {0};
    json_t *value = json_object(), *params = json_object(), *args = json_array(), *buffers = json_object(),
           *outputs = json_object();
    const int64_t *block = is_given(kernel->reqntid) ? kernel->reqntid
                           : is_given(kernel->block) ? kernel->block
                                                     : NULL;
    for (size_t i = 0; i < kernel->arg_count; i++)
        if (kernel->args[i].count) template_arg(&kernel->args[i], args, buffers, outputs);
    json_object_set_new(params, "n", json_integer(1024));
    json_object_set_new(value, "kernel", json_string(kernel->name));
    json_object_set_new(value, "params", params);
    json_t *grid = json_array();
    json_array_append_new(grid, json_sprintf("ceil_div(n, %lld)", block ? (long long)block[0] : 256LL));
    json_object_set_new(value, "grid",
                        is_given(kernel->grid) ? cute_json_integers(kernel->grid, 3, CUTE_DYNAMIC)
                                               : json_incref(grid));
    json_decref(grid);
    json_object_set_new(value, "block",
                        block ? cute_json_integers(block, 3, CUTE_DYNAMIC) : json_integer(256));
    if (kernel->uses_dynamic_smem || kernel->dynamic_smem > 0)
        json_object_set_new(value, "dynamic_smem",
                            json_integer(kernel->dynamic_smem > 0 ? kernel->dynamic_smem : 0));
    json_object_set_new(value, "buffers", buffers);
    json_object_set_new(value, "args", args);
    json_object_set_new(value, "outputs", outputs);
    return cute_json_finish(value, true, &out);
}

/* ---- host functions ---- */

/* The extents of a tensor; "n" for unknown ones. */
static void put_extents(const cute_tree *shape, json_t *out)
{
    if (shape->kind == CUTE_TREE_TUPLE)
        for (uint32_t i = 0; i < shape->count; i++) put_extents(shape->items[i], out);
    else
        json_array_append_new(out, shape->value.known ? json_integer(shape->value.value) : json_string("n"));
}

static json_t *tensor_template(const host_param *param)
{
    json_t *buffer = json_object(), *shape = json_array();
    const char *dtype = param->dtype ? param->dtype : "f32";
    bool is_static = param->text && !strchr(param->text, '?');
    if (!param->dtype) json_object_set_new(buffer, "dtype", json_string(dtype));
    if (param->text)
        put_extents(param->layout.layout.shape, shape);
    else if (param->kind == HOST_POINTER)
        json_array_append_new(shape, json_string("n"));
    for (size_t i = 0; !param->text && i < param->rank; i++)
        json_array_append_new(shape, param->shape[i] == CUTE_DYNAMIC ? json_string("n")
                                                                     : json_integer(param->shape[i]));
    if (!is_static) json_object_set(buffer, "shape", shape);
    json_object_set_new(buffer, "init", json_string(*dtype == 'i' || *dtype == 'u' ? "iota" : "normal"));
    json_decref(shape);
    return buffer;
}

static void put_param(const host_param *param, json_t *buffers, json_t *params, json_t *args)
{
    if (param->kind == HOST_MEMREF || param->kind == HOST_POINTER) {
        json_object_set_new(buffers, param->name, tensor_template(param));
    } else if (param->kind == HOST_SCALAR) {
        bool is_float = strchr("fbet", *param->dtype) != NULL;
        json_object_set_new(params, param->name, is_float ? json_real(1.0) : json_integer(1));
    } else if (param->kind == HOST_TUPLE && param->leaf_count) {
        json_object_set_new(args, param->name, json_string(param->text));
    } else if (param->kind == HOST_STRUCT && param->leaf_count) {
        json_t *fields = json_array();
        for (size_t i = 0; i < param->leaf_count; i++) json_array_append_new(fields, json_integer(0));
        json_object_set_new(args, param->name, fields);
    }
}

cute_status cute_launch_plan_template(const cute_module *module, const char *name, char **out,
                                      cute_diag *diag)
{
    const char *text = NULL;
    size_t length = 0;
    json_t *line = NULL;
    host_plan plan;
    cute_buffer buffer = {0};
    *out = NULL;
    CUTE_TRY(cute_module_find_plan(module, name, &text, &length, diag));
    CUTE_TRY(cute_json_parse("<plan>", text, length, &line, diag));
    cute_arena *arena = cute_arena_create();
    cute_status status = arena ? host_plan_read(arena, "<plan>", line, &plan, diag) : cute_fail_memory(diag);
    if (status == CUTE_OK) {
        json_t *params = json_object(), *args = json_object(), *buffers = json_object(),
               *value = json_object();
        json_object_set_new(params, "n", json_integer(1024));
        for (size_t i = 0; i < plan.param_count; i++) put_param(&plan.params[i], buffers, params, args);
        json_object_set_new(value, "plan", json_string(plan.name));
        json_object_set_new(value, "params", params);
        if (json_object_size(args)) json_object_set(value, "args", args);
        json_object_set_new(value, "buffers", buffers);
        json_decref(args);
        *out = cute_json_finish(value, true, &buffer);
        if (!*out) status = cute_fail_memory(diag);
    }
    json_decref(line);
    cute_arena_destroy(arena);
    return status;
}
