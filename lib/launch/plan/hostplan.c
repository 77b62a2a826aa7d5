/* Reads the parameters of launch plans; cute_module_plan runs plans whose parameters are all numbers. */
#include "lib/launch/plan/hostplan.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cute/launch.h"
#include "lib/launch/data/dtype.h"

static const struct {
    const char *name;
    host_kind kind;
} kinds[] = {
    {"scalar", HOST_SCALAR}, {"memref", HOST_MEMREF}, {"pointer", HOST_POINTER}, {"tuple", HOST_TUPLE},
    {"struct", HOST_STRUCT}, {"stream", HOST_STREAM}, {"other", HOST_OTHER},
};

/* ---- reading ---- */

typedef struct plan_reader {
    cute_arena *arena;
    cute_place file;
    const char *plan;
    cute_diag *diag;
} plan_reader;

static cute_status fail_plan(const plan_reader *r, const char *problem)
{
    return cute_fail(r->diag, CUTE_INVALID, &r->file, "the plan of '%s' %s", r->plan, problem);
}

static cute_status read_integers(const plan_reader *r, const json_t *list, size_t count, const int64_t **out)
{
    int64_t *values = cute_arena_array(r->arena, count + 1, sizeof *values);
    if (!values) return cute_fail_memory(r->diag);
    if (json_array_size(list) != count) return fail_plan(r, "has a memref with a wrong number of strides");
    for (size_t i = 0; i < count; i++) {
        const json_t *item = json_array_get(list, i);
        values[i] = json_is_integer(item) ? json_integer_value(item) : CUTE_DYNAMIC;
    }
    *out = values;
    return CUTE_OK;
}

static cute_status read_layout(const plan_reader *r, const char *text, host_param *out)
{
    if (cute_value_parse_any(r->arena, text, strlen(text), &out->layout, NULL, NULL) != CUTE_OK)
        return cute_fail(r->diag, CUTE_INVALID, &r->file,
                         "the plan of '%s' has a parameter '%s' with the malformed value '%s'", r->plan,
                         out->name, text);
    out->text = text;
    return CUTE_OK;
}

static cute_status read_memref(const plan_reader *r, const json_t *json, host_param *out)
{
    const char *layout = json_string_value(json_object_get(json, "layout"));
    const json_t *shape = json_object_get(json, "shape");
    if (layout) {
        CUTE_TRY(read_layout(r, layout, out));
        if (out->layout.type != CUTE_LAYOUT && out->layout.type != CUTE_COMPOSED_LAYOUT)
            return fail_plan(r, "has a tensor with an invalid layout");
        out->leaf_count = 1 + cute_value_unknowns(&out->layout, NULL, 0);
        return CUTE_OK;
    }
    if (!json_is_array(shape)) return fail_plan(r, "has a tensor without a layout or shape");
    out->rank = json_array_size(shape);
    CUTE_TRY(read_integers(r, shape, out->rank, &out->shape));
    CUTE_TRY(read_integers(r, json_object_get(json, "strides"), out->rank, &out->strides));
    out->leaf_count = 3 + 2 * out->rank;
    return CUTE_OK;
}

static cute_status read_fields(const plan_reader *r, const json_t *list, host_param *out)
{
    size_t count = json_array_size(list);
    host_field *fields = cute_arena_array(r->arena, count + 1, sizeof *fields);
    if (!fields) return cute_fail_memory(r->diag);
    for (size_t i = 0; i < count; i++)
        fields[i].dtype = json_string_value(json_object_get(json_array_get(list, i), "dtype"));
    out->fields = fields;
    out->leaf_count = count;
    return CUTE_OK;
}

static const char *integer_name(int64_t width)
{
    return width == 1 ? "i1" : width <= 8 ? "i8" : width <= 16 ? "i16" : width <= 32 ? "i32" : "i64";
}

static cute_status read_param(const plan_reader *r, const json_t *json, host_param *out)
{
    const char *kind = json_string_value(json_object_get(json, "kind"));
    int64_t width = json_integer_value(json_object_get(json, "width"));
    cute_dtype dtype;
    out->name = json_string_value(json_object_get(json, "name"));
    if (!out->name) return fail_plan(r, "has an argument without a name");
    out->type = json_string_value(json_object_get(json, "type"));
    out->dtype = json_string_value(json_object_get(json, "dtype"));
    out->align = json_integer_value(json_object_get(json, "align"));
    out->divisor = json_integer_value(json_object_get(json, "div"));
    out->kind = HOST_OTHER;
    if (!kind && width > 0) kind = "scalar";
    for (size_t i = 0; kind && i < sizeof kinds / sizeof *kinds; i++)
        if (strcmp(kinds[i].name, kind) == 0) out->kind = kinds[i].kind;
    if (out->kind == HOST_SCALAR && !out->dtype && width > 0 && width <= 64) out->dtype = integer_name(width);
    if (out->align < 0) return fail_plan(r, "has a pointer with a negative alignment");
    bool typed = out->dtype && cute_dtype_find(out->dtype, &dtype);
    if (out->kind == HOST_SCALAR && !typed) out->kind = HOST_OTHER;
    switch (out->kind) {
    case HOST_MEMREF: return read_memref(r, json, out);
    case HOST_STRUCT: return read_fields(r, json_object_get(json, "fields"), out);
    case HOST_TUPLE: {
        const char *text = json_string_value(json_object_get(json, "value"));
        if (!text) return fail_plan(r, "has a tuple without a value");
        CUTE_TRY(read_layout(r, text, out));
        out->leaf_count = cute_value_unknowns(&out->layout, NULL, 0);
        return CUTE_OK;
    }
    case HOST_SCALAR:
    case HOST_POINTER: out->leaf_count = 1; return CUTE_OK;
    case HOST_STREAM:
    case HOST_OTHER: break;
    }
    return CUTE_OK;
}

cute_status host_plan_read(cute_arena *arena, const char *label, const json_t *json, host_plan *out,
                           cute_diag *diag)
{
    plan_reader r = {arena, {.file = label}, json_string_value(json_object_get(json, "plan")), diag};
    const json_t *args = json_object_get(json, "args");
    *out = (host_plan){.name = r.plan ? r.plan : "", .json = json};
    out->refused = json_string_value(json_object_get(json, "refused"));
    out->params = cute_arena_array(arena, json_array_size(args) + 1, sizeof *out->params);
    if (!r.plan) r.plan = "";
    if (!out->params) return cute_fail_memory(diag);
    for (size_t i = 0; i < json_array_size(args); i++)
        CUTE_TRY(read_param(&r, json_array_get(args, i), &out->params[out->param_count++]));
    if (!out->refused && !json_array_size(json_object_get(json, "launches")))
        return cute_fail(diag, CUTE_INVALID, &r.file, "the plan of '%s' has no list of launches", r.plan);
    return CUTE_OK;
}

host_number host_number_of(const uint8_t *bytes, int64_t size)
{
    int64_t value = 0;
    memcpy(&value, bytes, (size_t)size);
    int unused = 64 - 8 * (int)size;
    return (host_number){.value = (int64_t)((uint64_t)value << unused) >> unused,
                         .width = 8 * (int)size,
                         .base = -1,
                         .known = true};
}

/* ---- cute_module_plan: plans whose parameters are numbers ---- */

static cute_status read_define(const host_plan *plan, const host_param *param, const char *const *defines,
                               size_t define_count, host_number *out, cute_diag *diag)
{
    const char *name = param->name, *given = NULL;
    cute_dtype dtype = CUTE_I64;
    for (size_t d = 0; d < define_count; d++)
        if (!strncmp(defines[d], name, strlen(name)) && defines[d][strlen(name)] == '=')
            given = defines[d] + strlen(name) + 1;
    if (!given)
        return cute_fail(diag, CUTE_USAGE, NULL, "host function '%s' needs '%s': pass -D %s=NUMBER",
                         plan->name, name, name);
    char *end;
    errno = 0;
    cute_dtype_find(param->dtype, &dtype);
    const cute_dtype_info *info = cute_dtype_get(dtype);
    if (info->class == CUTE_CLASS_FLOAT) {
        uint8_t bytes[8] = {0};
        double real = strtod(given, &end);
        if (end == given || *end)
            return cute_fail(diag, CUTE_USAGE, NULL, "-D %s expects a number, got '%s'", name, given);
        cute_dtype_store(dtype, bytes, 1, 1, &real);
        *out = host_number_of(bytes, info->bytes);
        return CUTE_OK;
    }
    int64_t value = strtoll(given, &end, 0);
    if (end == given || *end || errno)
        return cute_fail(diag, CUTE_USAGE, NULL, "-D %s expects an integer, got '%s'", name, given);
    *out = (host_number){.value = value, .width = 64, .base = -1, .known = true};
    return CUTE_OK;
}

typedef struct given_defines {
    const char *plan, *const *defines;
    size_t count;
} given_defines;

/* The number of multiprocessors, from -D sms=132. */
static cute_status read_sms_define(void *context, int64_t *out, cute_diag *diag)
{
    const given_defines *given = context;
    for (size_t i = 0; i < given->count; i++) {
        const char *text = given->defines[i];
        char *end;
        if (strncmp(text, "sms=", 4) != 0) continue;
        *out = strtoll(text + 4, &end, 0);
        if (end != text + 4 && !*end && *out > 0 && *out <= INT32_MAX) return CUTE_OK;
        return cute_fail(diag, CUTE_USAGE, NULL, "-D sms expects a positive integer, got '%s'", text + 4);
    }
    return cute_fail(diag, CUTE_USAGE, NULL,
                     "host function '%s' needs the device's number of multiprocessors: pass -D sms=NUMBER",
                     given->plan);
}

static cute_status read_defines(cute_arena *arena, const host_plan *plan, const char *const *defines,
                                size_t define_count, const host_number **leaves, cute_diag *diag)
{
    for (size_t i = 0; i < plan->param_count; i++) {
        const host_param *param = &plan->params[i];
        if (param->kind == HOST_MEMREF || param->kind == HOST_POINTER)
            return cute_fail(diag, CUTE_USAGE, NULL,
                             "host function '%s' needs the tensor '%s': use a launch.json with 'plan'",
                             plan->name, param->name);
        if (param->kind != HOST_SCALAR) continue; /* an error only if a launch uses it */
        host_number *number = cute_arena_alloc(arena, sizeof *number);
        if (!number) return cute_fail_memory(diag);
        CUTE_TRY(read_define(plan, param, defines, define_count, number, diag));
        leaves[i] = number;
    }
    return CUTE_OK;
}

static json_t *extents3_json(const int64_t *values)
{
    return cute_json_integers(values, 3, INT64_MIN);
}

static json_t *leaf_json(const host_number *number, const char *dtype)
{
    cute_dtype type;
    double value;
    bool real = dtype && cute_dtype_find(dtype, &type) && cute_dtype_get(type)->class == CUTE_CLASS_FLOAT;
    if (!real) return json_integer(number->value);
    cute_dtype_load(type, &number->value, 1, 1, &value);
    json_t *json = json_real(value);
    return json ? json : json_null(); /* JSON has no infinities and NaN */
}

/* A kernel's argument in the form of launch.json. */
static json_t *arg_json(const host_arg *given, const cute_arg *arg)
{
    if (arg->count == 1 && !arg->field_count && given->count == 1)
        return leaf_json(&given->leaves[0], arg->dtype);
    json_t *list = json_array();
    for (size_t i = 0; i < given->count; i++)
        json_array_append_new(
            list, leaf_json(&given->leaves[i], i < arg->field_count ? arg->fields[i].dtype : NULL));
    return json_pack("{so}", "struct", list);
}

static json_t *launch_json(const host_launch *launch, const cute_kernel *kernel)
{
    json_t *out = json_pack("{sssoso}", "kernel", launch->kernel, "grid", extents3_json(launch->grid),
                            "block", extents3_json(launch->block));
    if (launch->cluster[0]) json_object_set_new(out, "cluster", extents3_json(launch->cluster));
    if (launch->dynamic_smem >= 0)
        json_object_set_new(out, "dynamic_smem", json_integer(launch->dynamic_smem));
    if (launch->cooperative) json_object_set_new(out, "cooperative", json_true());
    if (launch->programmatic) json_object_set_new(out, "programmatic", json_true());
    json_t *args = json_array();
    for (size_t i = 0; i < launch->arg_count && i < kernel->arg_count; i++)
        if (kernel->args[i].count) json_array_append_new(args, arg_json(&launch->args[i], &kernel->args[i]));
    json_object_set_new(out, "args", args);
    return out;
}

cute_status cute_module_plan(const cute_module *module, const char *name, const char *const *defines,
                             size_t define_count, char **out, cute_diag *diag)
{
    const char *text = NULL;
    size_t length = 0;
    host_plan plan;
    host_run run = {0};
    json_t *json = NULL, *config = json_pack("{s[]}", "launches");
    *out = NULL;
    cute_arena *arena = cute_arena_create();
    cute_status status =
        arena && config ? cute_module_find_plan(module, name, &text, &length, diag) : cute_fail_memory(diag);
    if (status == CUTE_OK) status = cute_json_parse("<plan>", text, length, &json, diag);
    if (status == CUTE_OK) status = host_plan_read(arena, "<plan>", json, &plan, diag);
    const host_number **leaves =
        status == CUTE_OK ? cute_arena_array(arena, plan.param_count + 1, sizeof *leaves) : NULL;
    if (status == CUTE_OK && !leaves) status = cute_fail_memory(diag);
    if (status == CUTE_OK && !plan.refused)
        status = read_defines(arena, &plan, defines, define_count, leaves, diag);
    given_defines given = {name, defines, define_count};
    if (status == CUTE_OK)
        status =
            host_plan_run(arena, "<plan>", &plan, leaves, (host_device){read_sms_define, &given}, &run, diag);
    if (status == CUTE_OK && run.temporary_count)
        status = cute_fail(diag, CUTE_USAGE, NULL,
                           "host function '%s' needs temporary memory: use a launch.json with 'plan'", name);
    for (size_t i = 0; status == CUTE_OK && i < run.launch_count; i++) {
        const cute_kernel *kernel = NULL;
        status = cute_module_find_kernel(module, run.launches[i].kernel, &kernel, diag);
        if (status == CUTE_OK)
            json_array_append_new(json_object_get(config, "launches"), launch_json(&run.launches[i], kernel));
    }
    if (status == CUTE_OK && !(*out = json_dumps(config, JSON_INDENT(2)))) status = cute_fail_memory(diag);
    json_decref(config);
    json_decref(json);
    cute_arena_destroy(arena);
    return status;
}
