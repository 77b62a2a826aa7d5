/* Reads metadata: checks JSON values and stores them in a kernel's fields; errors have the path in the
 * object. */
#include "lib/cubin/metadata.h"

#include <stdio.h>
#include <string.h>

#include "lib/base/numbers/checked.h"
#include "lib/base/text/json.h"
#include "lib/base/text/names.h"

typedef struct reader {
    cute_arena *arena;
    const char *label;  /* of the module's file */
    const char *kernel; /* name of the object's kernel */
    char path[192];     /* path in the object: "$.args[1]" */
    cute_diag *diag;
} reader;

static const char *const kinds[] = {
    [CUTE_ARG_UNKNOWN] = "unknown", [CUTE_ARG_POINTER] = "pointer", [CUTE_ARG_SCALAR] = "scalar",
    [CUTE_ARG_MEMREF] = "memref",   [CUTE_ARG_STRUCT] = "struct",   [CUTE_ARG_TENSOR_MAP] = "tensor_map",
};
enum { KIND_COUNT = sizeof kinds / sizeof *kinds };

const char *cute_arg_kind_name(cute_arg_kind kind)
{
    return (unsigned)kind < KIND_COUNT ? kinds[kind] : "unknown";
}

/* ---- values ---- */

static cute_status fail_value(reader *r, const char *key, const char *expected)
{
    const cute_place file = {.file = r->label};
    return cute_fail(r->diag, CUTE_INVALID, &file, "invalid metadata of kernel '%s' at %s%s%s: expected %s",
                     r->kernel, r->path, *key && *key != '[' ? "." : "", key, expected);
}

static cute_status read_text(reader *r, const json_t *object, const char *key, const char **out)
{
    const json_t *value = json_object_get(object, key);
    if (!value || json_is_null(value)) return CUTE_OK;
    if (!json_is_string(value)) return fail_value(r, key, "a string");
    *out = cute_arena_copy(r->arena, json_string_value(value), json_string_length(value));
    return *out ? CUTE_OK : cute_fail_memory(r->diag);
}

static cute_status read_count(reader *r, const json_t *object, const char *key, int64_t *out)
{
    const json_t *value = json_object_get(object, key);
    if (!value || json_is_null(value)) return CUTE_OK;
    if (!json_is_integer(value) || json_integer_value(value) < 0)
        return fail_value(r, key, "a non-negative number");
    *out = json_integer_value(value);
    return CUTE_OK;
}

static cute_status read_flag(reader *r, const json_t *object, const char *key, bool *out)
{
    const json_t *value = json_object_get(object, key);
    if (!value || json_is_null(value)) return CUTE_OK;
    if (!json_is_boolean(value)) return fail_value(r, key, "true or false");
    *out = json_is_true(value);
    return CUTE_OK;
}

/* Integers; `null` where `dynamic` is allowed. */
static cute_status read_list(reader *r, const json_t *object, const char *key, bool dynamic,
                             const int64_t **out, size_t *count)
{
    const json_t *value = json_object_get(object, key), *item;
    size_t i;
    if (!value || json_is_null(value)) return CUTE_OK;
    if (!json_is_array(value)) return fail_value(r, key, "an array of numbers");
    int64_t *list = cute_arena_array(r->arena, json_array_size(value), sizeof *list);
    if (!list) return cute_fail_memory(r->diag);
    json_array_foreach((json_t *)value, i, item)
    {
        if (dynamic && json_is_null(item))
            list[i] = CUTE_DYNAMIC;
        else if (json_is_integer(item) && json_integer_value(item) != CUTE_DYNAMIC)
            list[i] = json_integer_value(item);
        else
            return fail_value(r, key, dynamic ? "numbers, or null where dynamic" : "numbers");
    }
    *out = list;
    *count = json_array_size(value);
    return CUTE_OK;
}

static cute_status read_dim3(reader *r, const json_t *object, const char *key, int64_t out[3])
{
    const int64_t *list = NULL;
    size_t count = 0;
    CUTE_TRY(read_list(r, object, key, false, &list, &count));
    if (!list) return CUTE_OK;
    if (count != 3) return fail_value(r, key, "three numbers");
    for (int i = 0; i < 3; i++)
        if (list[i] < 1) return fail_value(r, key, "positive numbers");
    memcpy(out, list, 3 * sizeof *out);
    return CUTE_OK;
}

/* ---- arguments ---- */

static cute_status read_fields(reader *r, const json_t *object, cute_arg *arg)
{
    const json_t *value = json_object_get(object, "fields"), *item;
    size_t i;
    if (!value || json_is_null(value)) return CUTE_OK;
    if (!json_is_array(value)) return fail_value(r, "fields", "an array");
    cute_field *fields = cute_arena_array(r->arena, json_array_size(value), sizeof *fields);
    if (!fields) return cute_fail_memory(r->diag);
    json_array_foreach((json_t *)value, i, item)
    {
        if (!json_is_object(item)) return fail_value(r, "fields", "objects");
        CUTE_TRY(read_text(r, item, "name", &fields[i].name));
        CUTE_TRY(read_text(r, item, "type", &fields[i].type));
        CUTE_TRY(read_text(r, item, "dtype", &fields[i].dtype));
        CUTE_TRY(read_count(r, item, "offset", &fields[i].offset));
        CUTE_TRY(read_count(r, item, "size", &fields[i].size));
    }
    arg->fields = fields;
    arg->field_count = json_array_size(value);
    return CUTE_OK;
}

static cute_status read_kind(reader *r, const json_t *object, cute_arg *arg)
{
    const char *text = NULL;
    CUTE_TRY(read_text(r, object, "kind", &text));
    for (unsigned i = 0; text && i < KIND_COUNT; i++)
        if (strcmp(text, kinds[i]) == 0) {
            arg->kind = (cute_arg_kind)i;
            return CUTE_OK;
        }
    return text ? fail_value(r, "kind", "pointer, scalar, memref, struct or tensor_map") : CUTE_OK;
}

static cute_status read_access(reader *r, const json_t *object, cute_arg *arg)
{
    const char *text = NULL;
    CUTE_TRY(read_text(r, object, "access", &text));
    if (!text) return CUTE_OK;
    arg->reads = strcmp(text, "read") == 0 || strcmp(text, "readwrite") == 0;
    arg->writes = strcmp(text, "write") == 0 || strcmp(text, "readwrite") == 0;
    return arg->reads || arg->writes ? CUTE_OK : fail_value(r, "access", "read, write or readwrite");
}

/* "fill" is a word, or a flag in older metadata. */
static cute_status read_fill(reader *r, const json_t *object, cute_arg *arg)
{
    const json_t *value = json_object_get(object, "fill");
    if (value && json_is_boolean(value)) {
        arg->fill = json_is_true(value) ? "nan" : "zero";
        return CUTE_OK;
    }
    return read_text(r, object, "fill", &arg->fill);
}

static cute_status read_space(reader *r, const json_t *object, cute_arg *arg)
{
    const char *text = NULL;
    CUTE_TRY(read_text(r, object, "space", &text));
    if (text && strcmp(text, "param") != 0 && strcmp(text, "memory") != 0)
        return fail_value(r, "space", "param or memory");
    arg->in_memory = text && strcmp(text, "memory") == 0;
    return CUTE_OK;
}

/* The parameters that the argument occupies, and their size in bytes. */
static cute_status read_extent(reader *r, const json_t *object, const cute_kernel *kernel, cute_arg *arg)
{
    int64_t first = (int64_t)arg->first, count = 1, end;
    CUTE_TRY(read_count(r, object, "first", &first));
    CUTE_TRY(read_count(r, object, "count", &count));
    if (!cute_add64(first, count, &end) || end > (int64_t)kernel->param_count) {
        char expected[96];
        snprintf(expected, sizeof expected, "a range within the kernel's %zu parameters",
                 kernel->param_count);
        return fail_value(r, "first", expected);
    }
    arg->first = (size_t)first;
    arg->count = (size_t)count;
    if (!count) return CUTE_OK;
    const cute_param *a = &kernel->params[first], *b = &kernel->params[end - 1];
    arg->size = count == 1 || a->offset < 0 ? a->size : b->offset + b->size - a->offset;
    return CUTE_OK;
}

/* The exclusive bound of the sum of (extent - 1) * |stride| over some leaves. */
static cute_status read_offsets(reader *r, const json_t *object, cute_arg *arg)
{
    const json_t *value = json_object_get(object, "offsets");
    if (!value || json_is_null(value)) return CUTE_OK;
    if (!json_is_object(value)) return fail_value(r, "offsets", "an object");
    CUTE_TRY(read_list(r, value, "leaves", false, &arg->offset_leaves, &arg->offset_leaf_count));
    return read_count(r, value, "below", &arg->offsets_below);
}

static cute_status read_arg(reader *r, const json_t *object, const cute_kernel *kernel, size_t index,
                            cute_arg *arg)
{
    size_t strides = 0, rank = 0, modes = 0;
    if (!json_is_object(object)) return fail_value(r, "", "an object");
    CUTE_TRY(read_text(r, object, "name", &arg->name));
    if (!arg->name) arg->name = cute_arena_printf(r->arena, "arg%zu", index);
    if (!arg->name) return cute_fail_memory(r->diag);
    CUTE_TRY(read_extent(r, object, kernel, arg));
    CUTE_TRY(read_text(r, object, "type", &arg->type));
    CUTE_TRY(read_kind(r, object, arg));
    CUTE_TRY(read_text(r, object, "dtype", &arg->dtype));
    CUTE_TRY(read_access(r, object, arg));
    CUTE_TRY(read_list(r, object, "shape", true, &arg->shape, &rank));
    CUTE_TRY(read_list(r, object, "strides", true, &arg->strides, &strides));
    if (arg->shape && arg->strides && rank != strides)
        return fail_value(r, "strides", "as many as in the shape");
    arg->rank = arg->shape ? rank : strides;
    CUTE_TRY(read_text(r, object, "layout", &arg->layout));
    CUTE_TRY(read_count(r, object, "align", &arg->align));
    CUTE_TRY(read_list(r, object, "box", false, &arg->box, &arg->box_rank));
    CUTE_TRY(read_list(r, object, "modes", false, &arg->map_modes, &modes));
    if (arg->map_modes && modes != arg->box_rank) return fail_value(r, "modes", "as many as in the box");
    arg->map_tensor = -1;
    CUTE_TRY(read_count(r, object, "tensor", &arg->map_tensor));
    CUTE_TRY(read_text(r, object, "format", &arg->map_format));
    CUTE_TRY(read_text(r, object, "mode", &arg->map_mode));
    CUTE_TRY(read_text(r, object, "swizzle", &arg->swizzle));
    CUTE_TRY(read_text(r, object, "interleave", &arg->interleave));
    CUTE_TRY(read_text(r, object, "l2promo", &arg->l2promo));
    CUTE_TRY(read_fill(r, object, arg));
    if (arg->kind == CUTE_ARG_TENSOR_MAP) CUTE_TRY(read_space(r, object, arg));
    CUTE_TRY(read_offsets(r, object, arg));
    return read_fields(r, object, arg);
}

static cute_status read_args(reader *r, const json_t *object, cute_kernel *kernel)
{
    const json_t *value = json_object_get(object, "args"), *item;
    size_t i, next = 0;
    if (!value) return CUTE_OK;
    if (!json_is_array(value)) return fail_value(r, "args", "an array");
    cute_arg *args = cute_arena_array(r->arena, json_array_size(value), sizeof *args);
    if (!args) return cute_fail_memory(r->diag);
    json_array_foreach((json_t *)value, i, item)
    {
        snprintf(r->path, sizeof r->path, "$.args[%zu]", i);
        args[i].first = next;
        CUTE_TRY(read_arg(r, item, kernel, i, &args[i]));
        next = args[i].first + args[i].count;
    }
    strcpy(r->path, "$");
    kernel->args = args;
    kernel->arg_count = json_array_size(value);
    return CUTE_OK;
}

/* ---- kernels ---- */

/* Parameter sizes and alignments of the PTX; they must match the module. */
static cute_status read_params(reader *r, const json_t *object, cute_kernel *kernel)
{
    const json_t *value = json_object_get(object, "params"), *item;
    size_t i;
    if (!value) return CUTE_OK;
    if (!json_is_array(value)) return fail_value(r, "params", "an array");
    size_t count = json_array_size(value);
    char expected[96];
    snprintf(expected, sizeof expected, "the kernel's %zu parameters", kernel->param_count);
    if (count != kernel->param_count) return fail_value(r, "params", expected);
    cute_param *params = cute_arena_array(r->arena, count, sizeof *params);
    if (!params) return cute_fail_memory(r->diag);
    if (count) memcpy(params, kernel->params, count * sizeof *params);
    json_array_foreach((json_t *)value, i, item)
    {
        int64_t size = params[i].size;
        snprintf(r->path, sizeof r->path, "$.params[%zu]", i);
        if (!json_is_object(item)) return fail_value(r, "", "an object");
        CUTE_TRY(read_count(r, item, "size", &size));
        CUTE_TRY(read_count(r, item, "align", &params[i].align));
        snprintf(expected, sizeof expected, "the kernel's %lld bytes", (long long)params[i].size);
        if (size != params[i].size) return fail_value(r, "size", expected);
    }
    strcpy(r->path, "$");
    kernel->params = params;
    return CUTE_OK;
}

static cute_status read_source(reader *r, const json_t *object, cute_kernel *kernel)
{
    const json_t *value = json_object_get(object, "source");
    int64_t line = 0, column = 0;
    if (!value || json_is_null(value)) return CUTE_OK;
    if (!json_is_object(value)) return fail_value(r, "source", "an object");
    strcpy(r->path, "$.source");
    CUTE_TRY(read_text(r, value, "file", &kernel->source.file));
    CUTE_TRY(read_count(r, value, "line", &line));
    CUTE_TRY(read_count(r, value, "column", &column));
    if (line > INT32_MAX) return fail_value(r, "line", "a line");
    if (column > INT32_MAX) return fail_value(r, "column", "a column");
    strcpy(r->path, "$");
    kernel->source.line = (int)line;
    kernel->source.column = (int)column;
    return CUTE_OK;
}

static cute_status read_defines(reader *r, const json_t *object, cute_kernel *kernel)
{
    json_t *value = json_object_get(object, "defines"), *item;
    const char *key;
    size_t i = 0;
    if (!value || json_is_null(value)) return CUTE_OK;
    if (!json_is_object(value)) return fail_value(r, "defines", "an object");
    const char **names = cute_arena_array(r->arena, json_object_size(value), sizeof *names);
    const char **values = cute_arena_array(r->arena, json_object_size(value), sizeof *values);
    if (!names || !values) return cute_fail_memory(r->diag);
    strcpy(r->path, "$.defines");
    json_object_foreach(value, key, item)
    {
        if (!json_is_string(item)) return fail_value(r, key, "a string");
        names[i] = cute_arena_copy(r->arena, key, strlen(key));
        values[i] = cute_arena_copy(r->arena, json_string_value(item), json_string_length(item));
        if (!names[i] || !values[i]) return cute_fail_memory(r->diag);
        i++;
    }
    strcpy(r->path, "$");
    kernel->define_names = names;
    kernel->define_values = values;
    kernel->define_count = i;
    return CUTE_OK;
}

static cute_status read_kernel(reader *r, const json_t *object, cute_kernel *kernel)
{
    CUTE_TRY(read_text(r, object, "module", &kernel->module));
    CUTE_TRY(read_params(r, object, kernel));
    CUTE_TRY(read_args(r, object, kernel));
    CUTE_TRY(read_dim3(r, object, "reqntid", kernel->reqntid));
    CUTE_TRY(read_dim3(r, object, "maxntid", kernel->maxntid));
    CUTE_TRY(read_dim3(r, object, "cluster", kernel->cluster));
    CUTE_TRY(read_dim3(r, object, "grid", kernel->grid));
    CUTE_TRY(read_dim3(r, object, "block", kernel->block));
    /* The cubin's static shared memory takes precedence over the source's. */
    if (kernel->static_smem < 0) CUTE_TRY(read_count(r, object, "static_smem", &kernel->static_smem));
    CUTE_TRY(read_count(r, object, "dynamic_smem", &kernel->dynamic_smem));
    CUTE_TRY(read_flag(r, object, "uses_dynamic_smem", &kernel->uses_dynamic_smem));
    CUTE_TRY(read_count(r, object, "smem_align", &kernel->smem_align));
    CUTE_TRY(read_source(r, object, kernel));
    CUTE_TRY(read_defines(r, object, kernel));
    kernel->has_metadata = true;
    return CUTE_OK;
}

static cute_status read_resources(reader *r, const json_t *object, cute_kernel *kernel)
{
    CUTE_TRY(read_count(r, object, "spill_stores", &kernel->resources.spill_stores));
    return read_count(r, object, "spill_loads", &kernel->resources.spill_loads);
}

/* ---- lines ---- */

static cute_status apply_line(reader *r, cute_metadata_kind kind, const char *line, size_t length,
                              cute_kernel *kernels, const cute_names *names)
{
    const cute_place file = {.file = r->label};
    json_t *object = NULL;
    CUTE_TRY(cute_json_parse(r->label, line, length, &object, r->diag));
    const char *name = json_string_value(json_object_get(object, "kernel"));
    const json_t *format = json_object_get(object, "format");
    cute_status status = CUTE_OK;
    if (json_is_string(json_object_get(object, "plan"))) {
        json_decref(object);
        return CUTE_OK;
    }
    if (!json_is_object(object) || !name)
        status = cute_fail(r->diag, CUTE_INVALID, &file,
                           "expected an object that names a kernel in each line of metadata");
    else if (format && json_integer_value(format) != 1)
        status = cute_fail(r->diag, CUTE_INVALID, &file,
                           "the metadata of kernel '%s' has unsupported format %lld: expected format 1", name,
                           (long long)json_integer_value(format));
    size_t i = status == CUTE_OK ? cute_names_find_text(names, name) : CUTE_NO_NAME;
    if (i != CUTE_NO_NAME) {
        r->kernel = kernels[i].name;
        strcpy(r->path, "$");
        if (kind == CUTE_METADATA_RESOURCES) {
            status = read_resources(r, object, &kernels[i]);
        } else {
            status = read_kernel(r, object, &kernels[i]);
            kernels[i].metadata = cute_arena_copy(r->arena, line, length);
            if (!kernels[i].metadata) status = cute_fail_memory(r->diag);
        }
    }
    json_decref(object);
    return status;
}

cute_status cute_metadata_apply(cute_arena *arena, const char *label, cute_metadata_kind kind,
                                const char *lines, size_t length, cute_kernel *kernels, size_t kernel_count,
                                cute_diag *diag)
{
    reader r = {.arena = arena, .label = label, .diag = diag};
    cute_names names = {.arena = arena};
    for (size_t i = 0; i < kernel_count; i++)
        if (!cute_names_put(&names, kernels[i].name, strlen(kernels[i].name), i))
            return cute_fail_memory(diag);
    for (const char *at = lines, *stop = lines + length; at < stop;) {
        const char *end = memchr(at, '\n', (size_t)(stop - at));
        size_t n = (size_t)((end ? end : stop) - at);
        while (n && (at[n - 1] == 0 || at[n - 1] == '\r' || at[n - 1] == ' ')) n--;
        if (n) CUTE_TRY(apply_line(&r, kind, at, n, kernels, &names));
        at = end ? end + 1 : stop;
    }
    return CUTE_OK;
}

void cute_metadata_extract(const char *ptx, size_t length, cute_buffer *out)
{
    static const char mark[] = "//!cute ";
    for (const char *at = ptx, *stop = ptx + length; at < stop;) {
        const char *end = memchr(at, '\n', (size_t)(stop - at));
        const char *line = at, *line_end = end ? end : stop;
        at = end ? end + 1 : stop;
        while (line < line_end && (*line == ' ' || *line == '\t' || *line == '\r')) line++;
        while (line_end > line && (line_end[-1] == '\r' || line_end[-1] == ' ')) line_end--;
        size_t n = (size_t)(line_end - line);
        if (n == 0) continue;
        if (n < 2 || line[0] != '/' || line[1] != '/') return;
        if (n < sizeof mark - 1 || memcmp(line, mark, sizeof mark - 1) != 0) continue;
        cute_buffer_append(out, line + sizeof mark - 1, n - (sizeof mark - 1));
        cute_buffer_putc(out, '\n');
    }
}
