/* "plan" in launch.json: finds the module's host functions, binds their parameters to buffers and numbers,
 * and applies launch.json's overrides to their launches. */
#include <math.h>
#include <string.h>

#include "lib/base/diagnostics/diag.h"
#include "lib/base/list.h"
#include "lib/base/numbers/checked.h"
#include "lib/base/options/nearest.h"
#include "lib/launch/config/config.h"
#include "lib/launch/formula/fit.h"

#define FAIL(config, path, diag, ...) cute_document_fail(&(config)->document, path, false, diag, __VA_ARGS__)

static const char PLAN_LABEL[] = "<plan>";

/* ---- the plans ---- */

/* Reports errors about the name at its place in launch.json. */
static cute_status find_plan(cute_config *config, const char *name, const cute_path *path, json_t **out,
                             cute_diag *diag)
{
    const char *text = NULL;
    size_t length = 0;
    cute_diag *found = cute_diag_create();
    if (!found) return cute_fail_memory(diag);
    cute_status status = cute_module_find_plan(config->module, name, &text, &length, found);
    for (size_t i = 0; i < cute_diag_count(found); i++) {
        const cute_message *message = cute_diag_get(found, i);
        if (message->severity == CUTE_NOTE)
            cute_note(diag, NULL, "%s", message->text);
        else if (config->from_options)
            cute_diag_append(diag, message);
        else
            cute_document_report(&config->document, path, false, message->severity, diag, "%s",
                                 message->text);
    }
    cute_diag_destroy(found);
    if (status == CUTE_OK) status = cute_json_parse(PLAN_LABEL, text, length, out, diag);
    if (status == CUTE_OK) json_array_append_new(config->plan_lines, *out);
    return status;
}

static const char *param_name_at(const void *context, size_t index)
{
    const host_plan *plan = context;
    return index < plan->param_count ? plan->params[index].name : NULL;
}

/* Rejects names under "args" that are not parameters. */
static cute_status check_arg_names(const cute_config *config, const json_t *args, const cute_path *path,
                                   const config_plan *plans, size_t count, cute_diag *diag)
{
    const char *name;
    json_t *value;
    json_object_foreach((json_t *)(uintptr_t)args, name, value)
    {
        bool found = false;
        for (size_t p = 0; p < count; p++)
            for (size_t i = 0; i < plans[p].host.param_count; i++)
                found = found || strcmp(plans[p].host.params[i].name, name) == 0;
        if (found) continue;
        const char *near = cute_nearest(name, param_name_at, &plans[0].host);
        cute_document_fail(&config->document,
                           config_member(config, config_member(config, path, "args"), name), true, diag,
                           near ? "host function '%s' has no parameter '%s'; did you mean '%s'?"
                                : "host function '%s' has no parameter '%s'",
                           plans[0].host.name, name, near);
        const char *names = "";
        for (size_t i = 0; names && i < plans[0].host.param_count; i++)
            names = cute_arena_printf(config->arena, "%s%s'%s'", names, i ? ", " : "",
                                      plans[0].host.params[i].name);
        if (names && *names && !near) cute_note(diag, NULL, "its parameters are %s", names);
        return CUTE_INVALID;
    }
    return CUTE_OK;
}

cute_status config_read_plan(cute_config *config, const json_t *item, const cute_path *path, config_plan *out,
                             cute_diag *diag)
{
    const char *name = json_string_value(item);
    json_t *line = NULL;
    *out = (config_plan){.path = path, .json = name ? NULL : item};
    if (!config->module) return FAIL(config, path, diag, "expected a module with host functions, got none");
    if (!config->plan_lines && !(config->plan_lines = json_array())) return cute_fail_memory(diag);
    if (!name) name = json_string_value(json_object_get(item, "function"));
    CUTE_TRY(find_plan(config, name, path, &line, diag));
    CUTE_TRY(host_plan_read(config->arena, PLAN_LABEL, line, &out->host, diag));
    if (!out->host.refused)
        return check_arg_names(config, json_object_get(out->json, "args"), path, out, 1, diag);
    cute_place place = {.file = PLAN_LABEL};
    return cute_fail(diag, CUTE_INVALID, &place, "host function '%s' has no launch plan: %s", out->host.name,
                     out->host.refused);
}

/* One plan, or a list of them. */
static cute_status read_plan_list(cute_config *config, const json_t *value, const cute_path *path,
                                  config_plan_list *out, cute_diag *diag)
{
    size_t count = json_is_array(value) ? json_array_size(value) : 1;
    out->items = cute_arena_array(config->arena, count, sizeof *out->items);
    if (!out->items) return cute_fail_memory(diag);
    for (; out->count < count; out->count++) {
        const json_t *item = json_is_array(value) ? json_array_get(value, out->count) : value;
        const cute_path *at = json_is_array(value) ? config_element(config, path, out->count) : path;
        CUTE_TRY(config_read_plan(config, item, at, &out->items[out->count], diag));
    }
    return CUTE_OK;
}

cute_status config_read_plans(cute_config *config, cute_diag *diag)
{
    static const char *const exclusive[] = {"kernel", "launches"};
    const json_t *root = config->document.root, *plan = json_object_get(root, "plan");
    if (!plan) {
        if (!json_is_object(json_object_get(root, "args"))) return CUTE_OK;
        return FAIL(
            config, config_member(config, NULL, "args"), diag,
            "expected a list of arguments: named arguments require 'plan', the name of a host function");
    }
    for (size_t i = 0; i < sizeof exclusive / sizeof *exclusive; i++)
        if (json_object_get(root, exclusive[i]))
            return cute_document_fail(
                &config->document, config_member(config, NULL, exclusive[i]), true, diag,
                "'plan' and '%s' are mutually exclusive: the host function determines the launches",
                exclusive[i]);
    if (json_is_array(json_object_get(root, "args")))
        return FAIL(config, config_member(config, NULL, "args"), diag,
                    "expected named arguments of the host function, as in {\"a\": \"x\"}, got a list");
    config_plan_list *plans = &config->plans;
    CUTE_TRY(read_plan_list(config, plan, config_member(config, NULL, "plan"), plans, diag));
    return check_arg_names(config, json_object_get(root, "args"), NULL, plans->items, plans->count, diag);
}

/* ---- arguments ---- */

/* launch.json's value for a parameter; NULL: none, so the buffer or param of the same name is used. */
static const json_t *find_arg_value(const cute_config *config, const config_plan *plan, const char *name,
                                    const cute_path **path)
{
    const json_t *args = json_object_get(plan->json, "args");
    const json_t *value = json_object_get(args, name);
    const cute_path *up = plan->path;
    if (!value) {
        value = json_object_get(json_object_get(config->document.root, "args"), name);
        up = NULL;
    }
    *path = value ? config_member(config, config_member(config, up, "args"), name) : plan->path;
    return value;
}

/* The name of the buffer that a tensor parameter is bound to, as a whole or as a view. */
static const char *bound_buffer_name(const cute_config *config, const config_plan *plan,
                                     const host_param *param, const cute_path **path)
{
    const json_t *value = find_arg_value(config, plan, param->name, path);
    const json_t *of = json_object_get(value, "buffer");
    return value ? json_string_value(of ? of : value) : param->name;
}

/* The parameter that a whole buffer is bound to; NULL: none. */
static const host_param *find_bound_param(const cute_config *config, const char *buffer)
{
    const cute_path *path;
    for (size_t p = 0; p < config->plans.count; p++)
        for (size_t i = 0; i < config->plans.items[p].host.param_count; i++) {
            const host_param *param = &config->plans.items[p].host.params[i];
            if (param->kind != HOST_MEMREF && param->kind != HOST_POINTER) continue;
            const char *name = bound_buffer_name(config, &config->plans.items[p], param, &path);
            bool whole = !json_is_object(find_arg_value(config, &config->plans.items[p], param->name, &path));
            if (name && whole && strcmp(name, buffer) == 0) return param;
        }
    return NULL;
}

/* Names the option or launch.json key that provides the parameter. */
static cute_status fail_missing(const cute_config *config, const config_plan *plan, const host_param *param,
                                cute_diag *diag)
{
    bool tensor = param->kind == HOST_MEMREF || param->kind == HOST_POINTER;
    const char *type = param->type    ? param->type
                       : param->dtype ? param->dtype
                                      : "an unknown type",
               *name = param->name;
    if (config->from_options && tensor)
        return cute_fail(
            diag, CUTE_USAGE, NULL, "host function '%s' needs the tensor '%s', %s: pass --tensor %s=%s%s",
            plan->host.name, name, type, name, param->dtype ? param->dtype : "DTYPE",
            param->kind == HOST_MEMREF && param->text && !strchr(param->text, '?') ? "" : ":SHAPE");
    if (config->from_options)
        return cute_fail(diag, CUTE_USAGE, NULL, "host function '%s' needs '%s': pass -D %s=%s",
                         plan->host.name, name, name, param->kind == HOST_TUPLE ? param->text : "NUMBER");
    return FAIL(config, plan->path, diag, "host function '%s' needs %s'%s', %s: add it to '%s'",
                plan->host.name, tensor ? "the tensor " : "", name, type,
                tensor                       ? "buffers"
                : param->kind == HOST_SCALAR ? "params' or 'args"
                                             : "args");
}

static bool is_compatible_dtype(const host_param *param, cute_dtype given_dtype)
{
    cute_dtype wanted;
    if (cute_is_packed(param->dtype)) return given_dtype == CUTE_I8 || given_dtype == CUTE_U8;
    if (!param->dtype || !cute_dtype_find(param->dtype, &wanted) || wanted == given_dtype) return true;
    const cute_dtype_info *a = cute_dtype_get(wanted), *b = cute_dtype_get(given_dtype);
    bool floats = a->class == CUTE_CLASS_FLOAT || b->class == CUTE_CLASS_FLOAT;
    /* MLIR's integers are signless, 8-bit floats may be passed as i8, and tf32 is stored as f32. */
    return a->bytes == b->bytes &&
           (!floats || a->bytes == 1 || (wanted == CUTE_F32 && given_dtype == CUTE_TF32) ||
            (wanted == CUTE_TF32 && given_dtype == CUTE_F32));
}

static host_number known_integer(int64_t value)
{
    return (host_number){.value = value, .width = 64, .base = -1, .known = true};
}

/* The address of a buffer's first element. */
static host_number buffer_address(config_plan *plan, config_buffer *buffer)
{
    size_t index = 0;
    while (index < plan->buffer_count && plan->buffers[index] != buffer) index++;
    if (index == plan->buffer_count) plan->buffers[plan->buffer_count++] = buffer;
    return (host_number){.width = 64, .base = (int)index, .known = true};
}

/* MLIR's memref descriptor: allocated and aligned pointer, offset, sizes, strides. */
static cute_status bind_memref_leaves(const cute_config *config, const host_param *param, int64_t begin,
                                      const cute_tensor *t, host_number address, host_number *out,
                                      const cute_path *path, cute_diag *diag)
{
    if ((size_t)t->rank != param->rank)
        return FAIL(config, path, diag, "tensor '%s': expected %zu dimension%s, got %d", t->name, param->rank,
                    param->rank == 1 ? "" : "s", t->rank);
    /* A memref has the allocation's address, and the offset separately. */
    address.value = -begin * cute_dtype_get(t->dtype)->bytes;
    out[0] = out[1] = address;
    out[2] = known_integer(t->offset);
    for (size_t i = 0; i < param->rank; i++) {
        if (param->shape[i] != CUTE_DYNAMIC && param->shape[i] != t->shape[i])
            return FAIL(config, path, diag, "tensor '%s': dimension %zu has extent %lld, expected %lld",
                        t->name, i, (long long)t->shape[i], (long long)param->shape[i]);
        if (param->strides[i] != CUTE_DYNAMIC && param->strides[i] != t->strides[i] && t->shape[i] > 1)
            return FAIL(config, path, diag, "tensor '%s': dimension %zu has stride %lld, expected %lld",
                        t->name, i, (long long)t->strides[i], (long long)param->strides[i]);
        out[3 + i] = known_integer(t->shape[i]);
        out[3 + param->rank + i] = known_integer(t->strides[i]);
    }
    return CUTE_OK;
}

static cute_status bind_layout_leaves(const cute_config *config, const host_param *param,
                                      const cute_tensor *tensor, host_number *out, const cute_path *path,
                                      cute_diag *diag)
{
    int64_t *leaves;
    size_t count;
    cute_buffer why = {0};
    const cute_tensor own = cute_tensor_as(param->dtype, tensor);
    cute_status status = cute_fit(config->arena, &param->layout, &own, &leaves, &count, &why, diag);
    if (status == CUTE_INVALID) {
        FAIL(config, path, diag, "tensor '%s': %s", tensor->name, cute_buffer_text(&why));
        cute_note(diag, NULL, "the host function's parameter '%s' has the layout %s", param->name,
                  param->text);
    }
    cute_buffer_release(&why);
    for (size_t i = 0; status == CUTE_OK && i < count; i++) out[i] = known_integer(leaves[i]);
    return status;
}

/* ---- temporaries: { "temporary", "dtype", "offset", "shape", "strides" } ---- */

static cute_status read_temporary(const cute_config *config, const json_t *json, const cute_path *path,
                                  cute_tensor *out, cute_diag *diag)
{
    *out = (cute_tensor){.name = json_string_value(json_object_get(json, "temporary"))};
    cute_dtype_find(json_string_value(json_object_get(json, "dtype")), &out->dtype);
    return config_view(config, json, path, out, diag);
}

static config_temporary *find_temporary(const cute_config *config, const char *name)
{
    for (size_t i = 0; i < config->temporary_count; i++)
        if (strcmp(config->temporaries[i].name, name) == 0) return &config->temporaries[i];
    return NULL;
}

cute_status config_add_temporaries(cute_config *config, const config_plan *plan, cute_diag *diag)
{
    for (size_t i = 0; i < plan->host.param_count; i++) {
        const cute_path *path;
        const json_t *json = find_arg_value(config, plan, plan->host.params[i].name, &path);
        const char *name = json_string_value(json_object_get(json, "temporary"));
        cute_tensor view;
        if (!name) continue;
        CUTE_TRY(read_temporary(config, json, path, &view, diag));
        config_temporary *known = find_temporary(config, name);
        if (!known) {
            if (!cute_arena_more(config->arena, &config->temporaries, config->temporary_count,
                                 &config->temporary_capacity, sizeof *config->temporaries, 4))
                return cute_fail_memory(diag);
            known = &config->temporaries[config->temporary_count++];
            *known = (config_temporary){.name = name};
        }
        if (view.bytes > known->bytes) known->bytes = view.bytes;
    }
    return CUTE_OK;
}

/* ---- tensors ---- */

/* The leaves of `t`, in memory at `address` whose first element is `begin`. */
static cute_status bind_tensor_at(const cute_config *config, const host_param *param, const cute_tensor *t,
                                  host_number address, int64_t begin, host_number *out,
                                  const cute_path *origin, cute_diag *diag)
{
    const cute_dtype_info *info = cute_dtype_get(t->dtype);
    if (!is_compatible_dtype(param, t->dtype))
        return FAIL(config, origin, diag, "tensor '%s': expected elements of %s, got %s", t->name,
                    param->dtype, info->name);
    if (param->align > 1 && t->offset * info->bytes % param->align != 0)
        return FAIL(
            config, origin, diag,
            "tensor '%s' is misaligned: expected an offset that is a multiple of %lld bytes, got %lld",
            t->name, (long long)param->align, (long long)(t->offset * info->bytes));
    out[0] = address;
    out[0].value = (t->offset - begin) * info->bytes;
    if (param->kind == HOST_POINTER) return CUTE_OK;
    if (param->text) return bind_layout_leaves(config, param, t, out + 1, origin, diag);
    return bind_memref_leaves(config, param, begin, t, out[0], out, origin, diag);
}

static cute_status bind_temporary_leaves(const cute_config *config, const host_param *param,
                                         const json_t *json, const cute_path *path, host_number *out,
                                         cute_diag *diag)
{
    cute_tensor t;
    CUTE_TRY(read_temporary(config, json, path, &t, diag));
    int index = (int)(find_temporary(config, t.name) - config->temporaries);
    host_number address = {.width = 64, .base = HOST_NAMED + index, .known = true};
    return bind_tensor_at(config, param, &t, address, 0, out, path, diag);
}

static cute_status bind_tensor_leaves(const cute_config *config, config_plan *plan, size_t index,
                                      host_number *out, cute_diag *diag)
{
    const host_param *param = &plan->host.params[index];
    const cute_path *path;
    const json_t *json = find_arg_value(config, plan, param->name, &path);
    if (json_object_get(json, "temporary"))
        return bind_temporary_leaves(config, param, json, path, out, diag);
    const char *name = bound_buffer_name(config, plan, param, &path);
    config_buffer *buffer = NULL;
    if (!name) {
        if (json_is_null(json) && param->kind == HOST_POINTER) {
            out[0] = known_integer(0);
            return CUTE_OK;
        }
        return FAIL(config, path, diag, "expected the name of a buffer for '%s', %s", param->name,
                    param->type ? param->type : "a pointer");
    }
    for (size_t i = 0; i < config->buffer_count; i++)
        if (strcmp(config->buffers[i].tensor.name, name) == 0) buffer = &config->buffers[i];
    if (!buffer && path == plan->path) return fail_missing(config, plan, param, diag);
    if (!buffer) return config_find_buffer(config, name, path, &buffer, diag);
    const cute_tensor *t = &buffer->tensor;
    cute_tensor view;
    const cute_path *origin = buffer->path;
    if (json_is_object(json)) {
        CUTE_TRY(config_buffer_view(config, json, path, t, &view, diag));
        t = &view;
        origin = path;
    }
    return bind_tensor_at(config, param, t, buffer_address(plan, buffer), buffer->tensor.offset, out, origin,
                          diag);
}

/* Converts a number to the bits of `dtype`. */
static cute_status encode_number(const cute_config *config, const host_param *param, const char *type,
                                 const json_t *value, const cute_path *path, host_number *out,
                                 cute_diag *diag)
{
    cute_dtype dtype = CUTE_I64;
    uint8_t bytes[8] = {0};
    cute_dtype_find(type, &dtype);
    const cute_dtype_info *info = cute_dtype_get(dtype);
    if (info->class == CUTE_CLASS_FLOAT) {
        double real;
        CUTE_TRY(config_real(config, value, path, &real, diag));
        cute_dtype_store(dtype, bytes, 1, 1, &real);
        *out = host_number_of(bytes, info->bytes);
        return CUTE_OK;
    }
    int64_t integer_value;
    if (json_is_real(value))
        return FAIL(config, path, diag, "'%s' is of %s: expected an integer, got %g", param->name, info->name,
                    json_real_value(value));
    CUTE_TRY(config_integer(config, value, path, &integer_value, diag));
    int bits = info->class == CUTE_CLASS_BOOL ? 1 : (int)info->bytes * 8;
    if (bits < 64 && (integer_value < -((int64_t)1 << (bits - 1)) || integer_value >= (int64_t)1 << bits))
        return FAIL(config, path, diag, "'%s': %lld does not fit in %s", param->name,
                    (long long)integer_value, info->name);
    *out = (host_number){.value = integer_value, .width = bits, .base = -1, .known = true};
    return CUTE_OK;
}

static cute_status bind_scalar_leaf(const cute_config *config, const config_plan *plan,
                                    const host_param *param, host_number *out, cute_diag *diag)
{
    const cute_path *path;
    const json_t *value = find_arg_value(config, plan, param->name, &path);
    const cute_formula_param *known = config_param(config, param->name);
    if (json_is_object(value)) {
        path = config_member(config, path, "value");
        value = json_object_get(value, "value");
    }
    if (!value && !known) return fail_missing(config, plan, param, diag);
    if (value && !json_is_number(value) && !json_is_string(value))
        return FAIL(config, path, diag, "expected a number or an expression for '%s', %s", param->name,
                    param->type ? param->type : param->dtype);
    json_t *own = value         ? json_incref((json_t *)(uintptr_t)value)
                  : known->real ? json_real(known->number)
                                : json_integer(known->integer);
    cute_status status = encode_number(config, param, param->dtype, own, path, out, diag);
    json_decref(own);
    if (status == CUTE_OK && param->divisor > 1 && out->value % param->divisor != 0)
        return FAIL(config, path, diag, "'%s' is %lld, expected a multiple of %lld", param->name,
                    (long long)out->value, (long long)param->divisor);
    return status;
}

/* ---- tuples: [128, ["n", 4]] or "(128,(64,4))" against a pattern ---- */

static cute_status tuple_text(const cute_config *config, const json_t *value, const cute_path *path,
                              int depth, cute_buffer *out, cute_diag *diag)
{
    if (depth > CUTE_MAX_DEPTH)
        return FAIL(config, path, diag, "nested deeper than %d levels", CUTE_MAX_DEPTH);
    if (!json_is_array(value)) {
        int64_t number;
        if (!json_is_integer(value) && !json_is_string(value))
            return FAIL(config, path, diag, "expected an integer, an expression, or a list of them");
        CUTE_TRY(config_integer(config, value, path, &number, diag));
        cute_buffer_printf(out, "%lld", (long long)number);
        return CUTE_OK;
    }
    cute_buffer_putc(out, '(');
    for (size_t i = 0; i < json_array_size(value); i++) {
        if (i) cute_buffer_putc(out, ',');
        CUTE_TRY(tuple_text(config, json_array_get(value, i), config_element(config, path, i), depth + 1, out,
                            diag));
    }
    cute_buffer_putc(out, ')');
    return CUTE_OK;
}

/* Matches `tree` with `pattern` and collects the leaves that are unknown in the pattern. */
static bool match_tree(const cute_tree *pattern, const cute_tree *tree, host_number *out, size_t *count)
{
    if (!pattern || !tree) return pattern == tree;
    if (pattern->kind != tree->kind || pattern->count != tree->count) return false;
    if (pattern->kind == CUTE_TREE_LAYOUT)
        return match_tree(pattern->layout.shape, tree->layout.shape, out, count) &&
               match_tree(pattern->layout.stride, tree->layout.stride, out, count);
    if (pattern->kind == CUTE_TREE_TUPLE) {
        for (uint32_t i = 0; i < pattern->count; i++)
            if (!match_tree(pattern->items[i], tree->items[i], out, count)) return false;
        return true;
    }
    if (pattern->kind == CUTE_TREE_UNDERSCORE) return true;
    if (pattern->kind == CUTE_TREE_BASIS &&
        memcmp(pattern->path, tree->path, pattern->count * sizeof *tree->path))
        return false;
    const cute_int *p = &pattern->value, *v = &tree->value;
    if (!v->known) return false;
    if (p->known) return p->value == v->value;
    if (p->divisor > 1 && v->value % p->divisor != 0) return false;
    if (p->width < 64 &&
        (v->value < -((int64_t)1 << (p->width - 1)) || v->value >= (int64_t)1 << (p->width - 1)))
        return false;
    out[(*count)++] = known_integer(v->value);
    return true;
}

static bool match_tuple(const cute_value *pattern, const cute_value *value, host_number *out, size_t *count)
{
    bool tree = pattern->type != CUTE_LAYOUT && pattern->type != CUTE_COMPOSED_LAYOUT;
    if ((tree || value->type != pattern->type) &&
        (!tree || !value->tree || value->type == CUTE_COMPOSED_LAYOUT))
        return false;
    return match_tree(pattern->layout.shape, value->layout.shape, out, count) &&
           match_tree(pattern->layout.stride, value->layout.stride, out, count) &&
           match_tree(pattern->tree, value->tree, out, count) &&
           match_tree(pattern->inner.shape, value->inner.shape, out, count) &&
           match_tree(pattern->inner.stride, value->inner.stride, out, count);
}

static cute_status bind_tuple_leaves(const cute_config *config, const config_plan *plan,
                                     const host_param *param, host_number *out, cute_diag *diag)
{
    const cute_path *path;
    const json_t *json = find_arg_value(config, plan, param->name, &path);
    if (param->leaf_count == 0) return CUTE_OK;
    if (!json) return fail_missing(config, plan, param, diag);
    cute_buffer text = {0};
    cute_value value;
    size_t count = 0;
    cute_status status = CUTE_OK;
    if (json_is_string(json))
        cute_buffer_puts(&text, json_string_value(json));
    else
        status = tuple_text(config, json, path, 0, &text, diag);
    if (status == CUTE_OK && (cute_value_parse_any(config->arena, cute_buffer_text(&text), text.length,
                                                   &value, NULL, NULL) != CUTE_OK ||
                              !match_tuple(&param->layout, &value, out, &count)))
        status = FAIL(config, path, diag, "expected '%s' of the form %s, got %s", param->name, param->text,
                      cute_buffer_text(&text));
    cute_buffer_release(&text);
    return status;
}

/* A pointer field: the name of a buffer, or null. */
static cute_status bind_pointer_field(const cute_config *config, config_plan *plan, const json_t *item,
                                      const cute_path *path, host_number *out, cute_diag *diag)
{
    config_buffer *buffer;
    *out = known_integer(0);
    if (json_is_null(item)) return CUTE_OK;
    if (!json_is_string(item)) return FAIL(config, path, diag, "expected the name of a buffer, or null");
    CUTE_TRY(config_find_buffer(config, json_string_value(item), path, &buffer, diag));
    *out = buffer_address(plan, buffer);
    return CUTE_OK;
}

/* A list of fields: numbers, or names of buffers for pointers. */
static cute_status bind_struct_leaves(const cute_config *config, config_plan *plan, const host_param *param,
                                      host_number *out, cute_diag *diag)
{
    const cute_path *path;
    const json_t *json = find_arg_value(config, plan, param->name, &path);
    if (param->leaf_count == 0) return CUTE_OK;
    if (!json) return fail_missing(config, plan, param, diag);
    if (json_array_size(json) != param->leaf_count || !json_is_array(json))
        return FAIL(config, path, diag, "expected a list of %zu fields for struct '%s'", param->leaf_count,
                    param->name);
    for (size_t i = 0; i < param->leaf_count; i++) {
        const json_t *item = json_array_get(json, i);
        const cute_path *at = config_element(config, path, i);
        if (!param->fields[i].dtype)
            CUTE_TRY(bind_pointer_field(config, plan, item, at, &out[i], diag));
        else if (json_is_number(item) || json_is_string(item))
            CUTE_TRY(encode_number(config, param, param->fields[i].dtype, item, at, &out[i], diag));
        else
            return FAIL(config, at, diag, "expected a number or an expression");
    }
    return CUTE_OK;
}

static cute_status bind_param(cute_config *config, config_plan *plan, size_t index,
                              const host_number **leaves, cute_diag *diag)
{
    const host_param *param = &plan->host.params[index];
    host_number *out = cute_arena_array(config->arena, param->leaf_count + 1, sizeof *out);
    if (!out) return cute_fail_memory(diag);
    *leaves = out;
    switch (param->kind) {
    case HOST_SCALAR: return bind_scalar_leaf(config, plan, param, out, diag);
    case HOST_MEMREF:
    case HOST_POINTER: return bind_tensor_leaves(config, plan, index, out, diag);
    case HOST_TUPLE: return bind_tuple_leaves(config, plan, param, out, diag);
    case HOST_STRUCT: return bind_struct_leaves(config, plan, param, out, diag);
    case HOST_STREAM:
    case HOST_OTHER: break;
    }
    *leaves = NULL; /* an error only if a launch uses it */
    return CUTE_OK;
}

/* ---- launches ---- */

/* Overrides a planned launch by the keys of `json`. */
static cute_status override_launch(cute_config *config, const json_t *json, const cute_path *path,
                                   config_launch *out, cute_diag *diag)
{
    config_launch own = {0};
    if (!json) return CUTE_OK;
    CUTE_TRY(config_read_launch(config, json, path, &own, diag));
    bool grid = json_object_get(json, "grid");
    bool any = grid || own.block[0] || own.cluster[0] || own.dynamic_smem >= 0;
    if (grid) memcpy(out->grid, own.grid, sizeof own.grid);
    if (own.block[0]) memcpy(out->block, own.block, sizeof own.block);
    if (own.cluster[0]) memcpy(out->cluster, own.cluster, sizeof own.cluster);
    if (own.dynamic_smem >= 0) out->dynamic_smem = own.dynamic_smem;
    if (json_object_get(json, "cooperative")) out->cooperative = own.cooperative;
    if (json_object_get(json, "programmatic")) out->programmatic = own.programmatic;
    if (!any) return CUTE_OK;
    out->json = json;
    out->path = path;
    return CUTE_OK;
}

static cute_status make_launch(cute_config *config, const config_plan *plan, const host_launch *host,
                               size_t index, bool top, config_launch *out, cute_diag *diag)
{
    const json_t *list = json_object_get(plan->json, "launches");
    const cute_path *base = config_member(config, plan->path, "launches");
    *out = (config_launch){.path = plan->path,
                           .json = plan->json,
                           .kernel = host->kernel,
                           .dynamic_smem = host->dynamic_smem,
                           .cooperative = host->cooperative,
                           .programmatic = host->programmatic,
                           .host = host,
                           .plan = plan};
    memcpy(out->grid, host->grid, sizeof out->grid);
    memcpy(out->block, host->block, sizeof out->block);
    memcpy(out->cluster, host->cluster, sizeof out->cluster);
    if (top) CUTE_TRY(override_launch(config, config->document.root, NULL, out, diag));
    CUTE_TRY(override_launch(config, plan->json, plan->path, out, diag));
    return override_launch(config, json_array_get(list, index), config_element(config, base, index), out,
                           diag);
}

static cute_status get_sms(void *context, int64_t *out, cute_diag *diag)
{
    return config_sms(context, out, diag);
}

cute_status config_run_plan(cute_config *config, config_plan *plan, cute_diag *diag)
{
    size_t params = plan->host.param_count;
    const host_number **leaves = cute_arena_array(config->arena, params + 1, sizeof *leaves);
    plan->buffers = cute_arena_array(config->arena, config->buffer_count + 1, sizeof *plan->buffers);
    if (!leaves || !plan->buffers) return cute_fail_memory(diag);
    for (size_t i = 0; i < params; i++) CUTE_TRY(bind_param(config, plan, i, &leaves[i], diag));
    CUTE_TRY(host_plan_run(config->arena, PLAN_LABEL, &plan->host, leaves, (host_device){get_sms, config},
                           &plan->run, diag));
    const json_t *list = json_object_get(plan->json, "launches");
    size_t count = plan->run.launch_count;
    if (list && count && json_array_size(list) != count)
        return FAIL(config, config_member(config, plan->path, "launches"), diag,
                    "expected %zu entr%s, one for each launch of host function '%s', got %zu", count,
                    count == 1 ? "y" : "ies", plan->host.name, json_array_size(list));
    return CUTE_OK;
}

/* Work that the run leaves on its own streams ends before later steps of `stream`. */
static cute_status join_streams(cute_config *config, const config_plan *plan, int stream,
                                const char *stream_name, int first_stream, config_steps *steps,
                                cute_diag *diag)
{
    for (int s = 1; s < plan->run.streams; s++) {
        config_step step = {.path = plan->path, .plan = plan};
        step.stream = cute_arena_printf(config->arena, "%s.%d", plan->host.name, s);
        if (!step.stream) return cute_fail_memory(diag);
        step.step = (host_step){.kind = HOST_RECORD, .stream = first_stream + s - 1, .event = steps->events};
        CUTE_TRY(config_add_step(config, steps, step, diag));
        step.stream = stream_name;
        step.step = (host_step){.kind = HOST_WAIT, .stream = stream, .event = steps->events++};
        CUTE_TRY(config_add_step(config, steps, step, diag));
    }
    return CUTE_OK;
}

cute_status config_add_run(cute_config *config, const config_plan *plan, bool top, int stream,
                           const char *stream_name, config_launch *launches, size_t *count,
                           config_steps *steps, cute_diag *diag)
{
    const host_run *run = &plan->run;
    int first_stream = steps->streams, first_event = steps->events;
    steps->streams += run->streams - 1;
    steps->events += run->events;
    for (size_t i = 0; i < run->step_count; i++) {
        config_step step = {.path = plan->path, .plan = plan, .stream = stream_name, .step = run->steps[i]};
        host_step *s = &step.step;
        if (s->stream &&
            !(step.stream = cute_arena_printf(config->arena, "%s.%d", plan->host.name, s->stream)))
            return cute_fail_memory(diag);
        s->stream = s->stream ? first_stream + s->stream - 1 : stream;
        s->event += first_event;
        if (s->kind == HOST_LAUNCH) {
            size_t index = s->launch;
            config_launch *launch = &launches[*count];
            CUTE_TRY(make_launch(config, plan, &run->launches[index], index, top, launch, diag));
            if (!config_has_blocks(launch)) continue;
            step.path = launch->path;
            s->launch = (*count)++;
        }
        CUTE_TRY(config_add_step(config, steps, step, diag));
    }
    return join_streams(config, plan, stream, stream_name, first_stream, steps, diag);
}

cute_status config_run_plans(cute_config *config, config_plan_list *plans, config_launch **out, size_t *count,
                             config_steps *steps, cute_diag *diag)
{
    size_t total = 0;
    /* Overrides at the top level apply to the top-level plan, not to those of a baseline. */
    bool top = plans == &config->plans;
    *count = 0;
    steps->streams = 1;
    for (size_t i = 0; i < plans->count; i++)
        CUTE_TRY(config_add_temporaries(config, &plans->items[i], diag));
    for (size_t i = 0; i < plans->count; i++) {
        CUTE_TRY(config_run_plan(config, &plans->items[i], diag));
        total += plans->items[i].run.launch_count;
    }
    if (!(*out = cute_arena_array(config->arena, total + 1, sizeof **out))) return cute_fail_memory(diag);
    for (size_t i = 0; i < plans->count; i++)
        CUTE_TRY(config_add_run(config, &plans->items[i], top, 0, NULL, *out, count, steps, diag));
    return CUTE_OK;
}

cute_status config_read_plan_launches(cute_config *config, const json_t *value, const cute_path *path,
                                      config_launch **out, size_t *count, config_steps *steps,
                                      cute_diag *diag)
{
    config_plan_list list = {0};
    CUTE_TRY(read_plan_list(config, value, path, &list, diag));
    return config_run_plans(config, &list, out, count, steps, diag);
}

/* ---- defaults of buffers ---- */

cute_status config_buffer_from_plan(const cute_config *config, const json_t *value, config_buffer *out,
                                    cute_diag *diag)
{
    const host_param *param = find_bound_param(config, out->tensor.name);
    const json_t *dtype = json_object_get(value, "dtype"), *shape = json_object_get(value, "shape");
    cute_tensor *t = &out->tensor;
    bool layout = param && param->kind == HOST_MEMREF && param->text;
    const char *name = dtype ? json_string_value(dtype) : param ? param->dtype : NULL;
    if (!name) return FAIL(config, out->path, diag, "missing key 'dtype'");
    if (!cute_dtype_find(name, &t->dtype))
        return FAIL(config, out->path, diag,
                    "unsupported element type of %s: set 'dtype' to a type of the same size",
                    param->type ? param->type : name);
    if (shape) return CUTE_OK;
    bool memref = param && param->kind == HOST_MEMREF && !param->text && param->rank <= CUTE_TENSOR_RANK;
    bool is_static = layout && cute_fit_shape(&param->layout, t);
    if (memref) {
        is_static = true;
        t->rank = (int)param->rank;
        for (size_t i = 0; i < param->rank; i++) {
            t->shape[i] = param->shape[i];
            is_static = is_static && param->shape[i] != CUTE_DYNAMIC;
        }
    }
    if (!is_static) {
        FAIL(config, out->path, diag, "missing key 'shape'");
        if (param && param->type)
            cute_note(diag, NULL, "the host function's parameter '%s' has the type %s", param->name,
                      param->type);
        return CUTE_INVALID;
    }
    return CUTE_OK;
}

cute_status config_strides_from_plan(const cute_config *config, config_buffer *out, cute_diag *diag)
{
    const host_param *param = find_bound_param(config, out->tensor.name);
    bool layout = param && param->kind == HOST_MEMREF && param->text;
    cute_tensor *t = &out->tensor;
    bool fits = layout ? cute_fit_strides(config->arena, &param->layout, t) : cute_tensor_row_major(t);
    if (param && param->kind == HOST_MEMREF && !param->text && param->rank == (size_t)t->rank) {
        bool known = true;
        for (size_t i = 0; i < param->rank; i++) known = known && param->strides[i] != CUTE_DYNAMIC;
        for (size_t i = 0; known && i < param->rank; i++) t->strides[i] = param->strides[i];
    }
    if (fits) return CUTE_OK;
    return FAIL(config, out->path, diag, "the size of the buffer exceeds 64 bits");
}
