/* Reads launch.json: values and expressions, params, buffers, launches and outputs. Checks and the bench are
 * in config_check.c. The document has been validated against the schema, so the types of values are not
 * checked again. */
#include "lib/launch/config/config.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/numbers/checked.h"
#include "lib/base/numbers/expr_tree.h"
#include "lib/base/options/nearest.h"
#include "lib/base/text/json.h"
#include "lib/cubin/module.h"
#include "lib/launch/config/schema.h"

const cute_path *config_member(const cute_config *config, const cute_path *up, const char *key)
{
    cute_path *path = cute_arena_alloc(config->arena, sizeof *path);
    if (path) *path = (cute_path){up, key, 0};
    return path;
}

const cute_path *config_key(const cute_config *config, const json_t *json, const cute_path *path,
                            const char *key)
{
    return json_object_get(json, key) ? config_member(config, path, key) : path;
}

const cute_path *config_element(const cute_config *config, const cute_path *up, size_t index)
{
    cute_path *path = cute_arena_alloc(config->arena, sizeof *path);
    if (path) *path = (cute_path){up, NULL, index};
    return path;
}

const cute_formula_param *config_param(const cute_config *config, const char *name)
{
    for (size_t i = 0; i < config->param_count; i++)
        if (strcmp(config->params[i].name, name) == 0) return &config->params[i];
    return NULL;
}

static const char SMS[] = "sms";

cute_status config_sms(const cute_config *config, int64_t *out, cute_diag *diag)
{
    const cute_formula_param *known = config_param(config, SMS);
    cute_config *own = (cute_config *)(uintptr_t)config;
    if (known && !known->real) {
        *out = known->integer;
        return CUTE_OK;
    }
    CUTE_TRY(cute_launch_sms(config->device, out, diag));
    if (!known) own->params[own->param_count++] = (cute_formula_param){SMS, false, *out, (double)*out};
    return CUTE_OK;
}

static bool names_sms(const cute_expr *expr)
{
    if (expr->kind == CUTE_EXPR_NAME && strcmp(expr->name, SMS) == 0) return true;
    for (int i = 0; i < expr->count; i++)
        if (names_sms(expr->args[i])) return true;
    return false;
}

/* The device is queried only if the expression uses `sms`. */
static cute_status find_sms(const cute_config *config, const cute_expr *expr, cute_diag *diag)
{
    int64_t unused;
    if (!names_sms(expr) || config_param(config, SMS)) return CUTE_OK;
    for (size_t i = 0; i < config->buffer_count; i++)
        if (strcmp(config->buffers[i].tensor.name, SMS) == 0) return CUTE_OK;
    return config_sms(config, &unused, diag);
}

static bool lookup_integer_param(void *context, const char *name, int64_t *value)
{
    const cute_formula_param *param = config_param(context, name);
    if (!param || param->real) return false;
    *value = param->integer;
    return true;
}

cute_status config_expr(const cute_config *config, const json_t *value, const cute_path *path,
                        const cute_expr **out, cute_diag *diag)
{
    cute_place place = cute_document_place(&config->document, path, false);
    place.column++; /* the opening quote */
    cute_expr *expr;
    CUTE_TRY(cute_expr_parse(config->arena, json_string_value(value), json_string_length(value), &place,
                             &expr, diag));
    *out = expr;
    CUTE_TRY(config_name_ranks(config, expr, path, diag));
    return find_sms(config, expr, diag);
}

/* Notes the value whose expression failed. */
static cute_status note_expression_path(const cute_path *path, cute_diag *diag)
{
    cute_buffer text = {0};
    cute_path_text(path, &text);
    cute_note(diag, NULL, "in the expression of %s", cute_buffer_text(&text));
    cute_buffer_release(&text);
    return CUTE_INVALID;
}

/* Fails at the first param in an expression that is not an integer. */
static cute_status check_integer_params(const cute_config *config, const cute_expr *expr, cute_diag *diag)
{
    const cute_formula_param *param = expr->kind == CUTE_EXPR_NAME ? config_param(config, expr->name) : NULL;
    if (param && param->real) {
        bool whole = param->number == rint(param->number) && fabs(param->number) < 1e15;
        return cute_fail(diag, CUTE_INVALID, &expr->place,
                         whole ? "'%s' is %.1f, expected an integer" : "'%s' is %.15g, expected an integer",
                         param->name, param->number);
    }
    for (int i = 0; i < expr->count; i++) CUTE_TRY(check_integer_params(config, expr->args[i], diag));
    return CUTE_OK;
}

cute_status config_integer(const cute_config *config, const json_t *value, const cute_path *path,
                           int64_t *out, cute_diag *diag)
{
    if (json_is_integer(value)) {
        *out = json_integer_value(value);
        return CUTE_OK;
    }
    const cute_expr *expr;
    CUTE_TRY(config_expr(config, value, path, &expr, diag));
    cute_status status = check_integer_params(config, expr, diag);
    if (status == CUTE_OK)
        status = cute_expr_int(expr, lookup_integer_param, (void *)(uintptr_t)config, out, diag);
    return status == CUTE_INVALID ? note_expression_path(path, diag) : status;
}

cute_status config_real(const cute_config *config, const json_t *value, const cute_path *path, double *out,
                        cute_diag *diag)
{
    if (json_is_number(value)) {
        *out = json_number_value(value);
        return CUTE_OK;
    }
    const cute_expr *expr;
    CUTE_TRY(config_expr(config, value, path, &expr, diag));
    return cute_formula_constant(config->arena, expr, config->params, config->param_count, out, diag);
}

cute_status config_integers(const cute_config *config, const json_t *value, const cute_path *path,
                            int64_t *out, int limit, int *count, cute_diag *diag)
{
    *count = 1;
    if (!json_is_array(value)) return config_integer(config, value, path, out, diag);
    *count = (int)json_array_size(value);
    if (*count > limit)
        return cute_document_fail(&config->document, path, false, diag, "expected at most %d entries, got %d",
                                  limit, *count);
    for (int i = 0; i < *count; i++)
        CUTE_TRY(config_integer(config, json_array_get(value, (size_t)i),
                                config_element(config, path, (size_t)i), &out[i], diag));
    return CUTE_OK;
}

const char *config_file(const cute_config *config, const char *name)
{
    if (name[0] == '/' || !config->folder || !*config->folder)
        return cute_arena_copy(config->arena, name, strlen(name));
    return cute_arena_printf(config->arena, "%s/%s", config->folder, name);
}

static const char *buffer_name_at(const void *context, size_t index)
{
    const cute_config *config = context;
    return index < config->buffer_count ? config->buffers[index].tensor.name : NULL;
}

cute_status config_find_buffer(const cute_config *config, const char *name, const cute_path *path,
                               config_buffer **out, cute_diag *diag)
{
    for (size_t i = 0; i < config->buffer_count; i++) {
        if (strcmp(config->buffers[i].tensor.name, name) != 0) continue;
        *out = &config->buffers[i];
        return CUTE_OK;
    }
    const char *near = cute_nearest(name, buffer_name_at, config);
    return cute_document_fail(&config->document, path, false, diag,
                              near ? "unknown buffer '%s'; did you mean '%s'?" : "unknown buffer '%s'", name,
                              near);
}

/* ---- params ---- */

static const char *param_key_at(const void *object, size_t index)
{
    void *iterator = json_object_iter((json_t *)(uintptr_t)object);
    while (iterator && index-- > 0) iterator = json_object_iter_next((json_t *)(uintptr_t)object, iterator);
    return iterator ? json_object_iter_key(iterator) : NULL;
}

/* An expression is an integer if it can be computed as one, and a real number otherwise. */
static cute_status evaluate_param(const cute_config *config, const cute_expr *expr, cute_formula_param *param,
                                  cute_diag *diag)
{
    if (cute_expr_int(expr, lookup_integer_param, (void *)(uintptr_t)config, &param->integer, NULL) ==
        CUTE_OK) {
        param->number = (double)param->integer;
        return CUTE_OK;
    }
    param->real = true;
    return cute_formula_constant(config->arena, expr, config->params, config->param_count, &param->number,
                                 diag);
}

static cute_status read_define(const cute_config *config, const char *text, cute_formula_param *param,
                               cute_diag *diag)
{
    cute_place place = {
        .file = "<command line>", .line = 1, .column = 1, .text = text, .text_length = strlen(text)};
    cute_expr *expr;
    CUTE_TRY(cute_expr_parse(config->arena, text, strlen(text), &place, &expr, diag));
    CUTE_TRY(config_name_ranks(config, expr, NULL, diag));
    CUTE_TRY(find_sms(config, expr, diag));
    return evaluate_param(config, expr, param, diag);
}

static cute_status check_defines(const cute_config *config, const json_t *params, const char *const *defines,
                                 size_t count, cute_diag *diag)
{
    for (size_t i = 0; i < count; i++) {
        const char *equals = strchr(defines[i], '=');
        if (!equals || equals == defines[i] || !equals[1])
            return cute_fail(diag, CUTE_USAGE, NULL, "-D expects NAME=VALUE, got '%s'", defines[i]);
        char *name = cute_arena_copy(config->arena, defines[i], (size_t)(equals - defines[i]));
        if (!name) return cute_fail_memory(diag);
        if (json_object_get(params, name) || cute_module_defines(config->module, name)) continue;
        const char *near = params ? cute_nearest(name, param_key_at, params) : NULL;
        return cute_fail(diag, CUTE_USAGE, NULL,
                         near ? "-D %s: %s has no param '%s'; did you mean '%s'?"
                              : "-D %s: %s has no param '%s'",
                         defines[i], config->document.label, name, near);
    }
    return CUTE_OK;
}

static const char *find_define(const char *const *defines, size_t count, const char *name)
{
    size_t length = strlen(name);
    for (size_t i = count; i-- > 0;)
        if (strncmp(defines[i], name, length) == 0 && defines[i][length] == '=')
            return defines[i] + length + 1;
    return NULL;
}

static cute_status read_params(cute_config *config, const char *const *defines, size_t define_count,
                               cute_diag *diag)
{
    json_t *params = json_object_get(config->document.root, "params"), *value;
    CUTE_TRY(check_defines(config, params, defines, define_count, diag));
    config->params = cute_arena_array(config->arena, json_object_size(params) + 4, sizeof *config->params);
    if (!config->params) return cute_fail_memory(diag);
    const cute_path *base = config_member(config, NULL, "params");
    const char *key;
    json_object_foreach(params, key, value)
    {
        cute_formula_param param = {.name = key};
        const cute_path *path = config_member(config, base, key);
        const char *define = find_define(defines, define_count, key);
        const cute_expr *expr;
        if (define) {
            CUTE_TRY(read_define(config, define, &param, diag));
        } else if (json_is_integer(value)) {
            param.integer = json_integer_value(value);
            param.number = (double)param.integer;
        } else if (json_is_real(value)) {
            param.real = true;
            param.number = json_real_value(value);
        } else {
            CUTE_TRY(config_expr(config, value, path, &expr, diag));
            CUTE_TRY(evaluate_param(config, expr, &param, diag));
        }
        config->params[config->param_count++] = param;
    }
    return CUTE_OK;
}

/* ---- buffers ---- */

cute_status config_view(const cute_config *config, const json_t *value, const cute_path *path,
                        cute_tensor *tensor, cute_diag *diag)
{
    const cute_document *document = &config->document;
    const json_t *shape = json_object_get(value, "shape"), *strides = json_object_get(value, "strides");
    const json_t *offset = json_object_get(value, "offset");
    int count = tensor->rank;
    if (shape) {
        const cute_path *at = config_member(config, path, "shape");
        CUTE_TRY(config_integers(config, shape, at, tensor->shape, CUTE_TENSOR_RANK, &tensor->rank, diag));
        for (int i = 0; i < tensor->rank; i++)
            if (tensor->shape[i] < 0)
                return cute_document_fail(
                    document, json_is_array(shape) ? config_element(config, at, (size_t)i) : at, false, diag,
                    "expected an extent of at least 0, got %lld", (long long)tensor->shape[i]);
        if (!strides && !cute_tensor_row_major(tensor))
            return cute_document_fail(document, at, false, diag, "the size of the buffer exceeds 64 bits");
    }
    if (strides) {
        const cute_path *at = config_member(config, path, "strides");
        CUTE_TRY(config_integers(config, strides, at, tensor->strides, CUTE_TENSOR_RANK, &count, diag));
        if (count != tensor->rank)
            return cute_document_fail(document, at, false, diag,
                                      "expected %d stride%s, one for each dimension, got %d", tensor->rank,
                                      tensor->rank == 1 ? "" : "s", count);
        for (int i = 0; i < count; i++)
            if (tensor->strides[i] < 0)
                return cute_document_fail(
                    document, json_is_array(strides) ? config_element(config, at, (size_t)i) : at, false,
                    diag, "expected a stride of at least 0, got %lld", (long long)tensor->strides[i]);
    }
    if (offset) {
        const cute_path *at = config_member(config, path, "offset");
        CUTE_TRY(config_integer(config, offset, at, &tensor->offset, diag));
        if (tensor->offset < 0)
            return cute_document_fail(document, at, false, diag, "expected an offset of at least 0, got %lld",
                                      (long long)tensor->offset);
    }
    if (!cute_tensor_layout(tensor))
        return cute_document_fail(document, path, false, diag, "the size of the buffer exceeds 64 bits");
    return CUTE_OK;
}

cute_status config_buffer_view(const cute_config *config, const json_t *json, const cute_path *path,
                               const cute_tensor *whole, cute_tensor *out, cute_diag *diag)
{
    *out = *whole;
    out->offset = 0;
    CUTE_TRY(config_view(config, json, path, out, diag));
    if (!cute_add64(out->offset, whole->offset, &out->offset) || !cute_tensor_layout(out) ||
        out->span > whole->span)
        return cute_document_fail(
            &config->document, path, false, diag,
            "the view of '%s' is out of bounds: its last element is %lld, but the buffer has %lld elements",
            whole->name, (long long)out->span - 1, (long long)whole->span);
    return CUTE_OK;
}

cute_status config_names(const cute_config *config, const json_t *list, const cute_path *path, int rank,
                         const char **out, cute_diag *diag)
{
    static const char *const index_names[CUTE_TENSOR_RANK] = {"i", "j", "k", "l", "m", "n", "o", "p",
                                                              "q", "r", "s", "t", "u", "v", "w", "z"};
    for (int i = 0; i < rank; i++) out[i] = index_names[i];
    if (!list) return CUTE_OK;
    if ((int)json_array_size(list) != rank)
        return cute_document_fail(&config->document, config_member(config, path, "index"), false, diag,
                                  "expected %d name%s, one for each dimension, got %zu", rank,
                                  rank == 1 ? "" : "s", json_array_size(list));
    for (int i = 0; i < rank; i++) out[i] = json_string_value(json_array_get(list, (size_t)i));
    return CUTE_OK;
}

static cute_status read_pair(const cute_config *config, const json_t *pair, const cute_path *path, double *a,
                             double *b, cute_diag *diag)
{
    CUTE_TRY(config_real(config, json_array_get(pair, 0), config_element(config, path, 0), a, diag));
    return config_real(config, json_array_get(pair, 1), config_element(config, path, 1), b, diag);
}

static cute_status read_init_object(const cute_config *config, const json_t *value, const cute_path *path,
                                    config_buffer *out, cute_diag *diag)
{
    static const struct {
        const char *key;
        config_init init;
    } pairs[] = {
        {"iota", INIT_IOTA}, {"uniform", INIT_UNIFORM}, {"normal", INIT_NORMAL}, {"integers", INIT_INTEGERS}};
    const json_t *item;
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        if (!(item = json_object_get(value, pairs[i].key))) continue;
        const cute_path *at = config_member(config, path, pairs[i].key);
        out->init = pairs[i].init;
        CUTE_TRY(read_pair(config, item, at, &out->a, &out->b, diag));
        if ((out->init == INIT_UNIFORM || out->init == INIT_INTEGERS) && !(out->a <= out->b))
            return cute_document_fail(&config->document, at, false, diag,
                                      "empty range: %g is greater than %g", out->a, out->b);
        if (out->init != INIT_INTEGERS) return CUTE_OK;
        if (out->a != rint(out->a) || out->b != rint(out->b) || fabs(out->a) > 0x1p53 ||
            fabs(out->b) > 0x1p53)
            return cute_document_fail(&config->document, at, false, diag,
                                      "expected integers of at most 53 bits, got [%g, %g]", out->a, out->b);
        out->low = (int64_t)out->a;
        out->high = (int64_t)out->b;
        return CUTE_OK;
    }
    if ((item = json_object_get(value, "value"))) {
        out->init = INIT_VALUE;
        return config_real(config, item, config_member(config, path, "value"), &out->a, diag);
    }
    if ((item = json_object_get(value, "expr"))) {
        out->init = INIT_EXPR;
        CUTE_TRY(config_names(config, json_object_get(value, "index"), path, out->tensor.rank,
                              out->index_names, diag));
        return config_expr(config, item, config_member(config, path, "expr"), &out->expr, diag);
    }
    out->init = json_object_get(value, "npy") ? INIT_NPY : INIT_RAW;
    item = json_object_get(value, out->init == INIT_NPY ? "npy" : "raw");
    out->skip = json_integer_value(json_object_get(value, "skip"));
    out->file = config_file(config, json_string_value(item));
    return out->file ? CUTE_OK : cute_fail_memory(diag);
}

static cute_status read_init(const cute_config *config, const json_t *value, const cute_path *path,
                             config_buffer *out, cute_diag *diag)
{
    static const struct {
        const char *word;
        config_init init;
        double a, b;
    } words[] = {
        {"zeros", INIT_VALUE, 0, 0},     {"ones", INIT_VALUE, 1, 0},    {"iota", INIT_IOTA, 0, 1},
        {"uniform", INIT_UNIFORM, 0, 1}, {"normal", INIT_NORMAL, 0, 1}, {"nan", INIT_NAN, 0, 0},
    };
    if (json_is_object(value)) return read_init_object(config, value, path, out, diag);
    if (json_is_number(value)) {
        out->init = INIT_VALUE;
        out->a = json_number_value(value);
        return CUTE_OK;
    }
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (strcmp(words[i].word, json_string_value(value)) != 0) continue;
        out->init = words[i].init;
        out->a = words[i].a;
        out->b = words[i].b;
    }
    return CUTE_OK;
}

static cute_status read_buffer(const cute_config *config, const char *name, const json_t *value, bool global,
                               config_buffer *out, cute_diag *diag)
{
    const json_t *init = json_object_get(value, "init");
    const char *unwritten = json_string_value(json_object_get(value, "unwritten"));
    out->path = config_member(config, config_member(config, NULL, global ? "globals" : "buffers"), name);
    out->global = global;
    out->tensor.name = name;
    CUTE_TRY(config_buffer_from_plan(config, value, out, diag));
    out->seed = json_integer_value(json_object_get(value, "seed"));
    out->allow_unwritten = unwritten && strcmp(unwritten, "allow") == 0;
    CUTE_TRY(config_view(config, value, out->path, &out->tensor, diag));
    if (!json_object_get(value, "strides")) {
        CUTE_TRY(config_strides_from_plan(config, out, diag));
        if (!cute_tensor_layout(&out->tensor))
            return cute_document_fail(&config->document, out->path, false, diag,
                                      "the size of the buffer exceeds 64 bits");
    }
    CUTE_TRY(config_read_shard(config, value, out, diag));
    if (!init) {
        if (!cute_tensor_injective(&out->tensor))
            return cute_document_fail(&config->document, config_member(config, out->path, "strides"), false,
                                      diag, "overlapping strides: elements of this output share an address");
        return CUTE_OK;
    }
    const cute_path *at = config_member(config, out->path, "init");
    CUTE_TRY(read_init(config, init, at, out, diag));
    cute_dtype_class class = cute_dtype_get(out->tensor.dtype)->class;
    if (out->init == INIT_NAN && class != CUTE_CLASS_FLOAT)
        return cute_document_fail(&config->document, at, false, diag, "%s has no NaN",
                                  cute_dtype_get(out->tensor.dtype)->name);
    if (out->init == INIT_NORMAL && class != CUTE_CLASS_FLOAT)
        return cute_document_fail(&config->document, at, false, diag,
                                  "unsupported init 'normal' for %s: use {\"integers\": [low, high]}",
                                  cute_dtype_get(out->tensor.dtype)->name);
    return CUTE_OK;
}

static cute_status add_buffers(cute_config *config, json_t *buffers, bool global, cute_diag *diag)
{
    const char *name;
    json_t *value;
    json_object_foreach(buffers, name, value)
    {
        config_buffer *buffer = &config->buffers[config->buffer_count];
        CUTE_TRY(read_buffer(config, name, value, global, buffer, diag));
        if (config_param(config, name))
            return cute_document_fail(&config->document, buffer->path, true, diag, "'%s' is already a param",
                                      name);
        for (size_t i = 0; i < config->buffer_count; i++)
            if (strcmp(config->buffers[i].tensor.name, name) == 0)
                return cute_document_fail(&config->document, buffer->path, true, diag,
                                          "'%s' is already a buffer", name);
        buffer->reference = buffer->tensor;
        config->tensors[config->buffer_count++] = &buffer->reference;
    }
    return CUTE_OK;
}

static cute_status read_buffers(cute_config *config, cute_diag *diag)
{
    json_t *buffers = json_object_get(config->document.root, "buffers");
    json_t *globals = json_object_get(config->document.root, "globals");
    size_t count = json_object_size(buffers) + json_object_size(globals);
    config->buffers = cute_arena_array(config->arena, count + 1, sizeof *config->buffers);
    config->tensors = cute_arena_array(config->arena, count + 1, sizeof *config->tensors);
    if (!config->buffers || !config->tensors) return cute_fail_memory(diag);
    CUTE_TRY(add_buffers(config, buffers, false, diag));
    return add_buffers(config, globals, true, diag);
}

/* ---- launches and outputs ---- */

static cute_status read_extents3(const cute_config *config, const json_t *value, const char *key,
                                 const cute_path *path, int64_t *out, cute_diag *diag)
{
    const json_t *item = json_object_get(value, key);
    int count;
    if (!item) return CUTE_OK;
    const cute_path *at = config_member(config, path, key);
    out[0] = out[1] = out[2] = 1;
    CUTE_TRY(config_integers(config, item, at, out, 3, &count, diag));
    int64_t least = strcmp(key, "grid") ? 1 : 0;
    for (int i = 0; i < 3; i++)
        if (out[i] < least)
            return cute_document_fail(&config->document,
                                      json_is_array(item) ? config_element(config, at, (size_t)i) : at, false,
                                      diag, "expected an extent of at least %lld in the %s, got %lld",
                                      (long long)least, key, (long long)out[i]);
    return CUTE_OK;
}

cute_status config_read_launch(cute_config *config, const json_t *value, const cute_path *path,
                               config_launch *out, cute_diag *diag)
{
    const json_t *smem = json_object_get(value, "dynamic_smem");
    out->path = path;
    out->json = value;
    out->kernel = json_string_value(json_object_get(value, "kernel"));
    out->cooperative = json_is_true(json_object_get(value, "cooperative"));
    out->programmatic = json_is_true(json_object_get(value, "programmatic"));
    out->dynamic_smem = -1;
    CUTE_TRY(read_extents3(config, value, "grid", path, out->grid, diag));
    CUTE_TRY(read_extents3(config, value, "block", path, out->block, diag));
    CUTE_TRY(read_extents3(config, value, "cluster", path, out->cluster, diag));
    if (!smem) return CUTE_OK;
    const cute_path *at = config_member(config, path, "dynamic_smem");
    CUTE_TRY(config_integer(config, smem, at, &out->dynamic_smem, diag));
    if (out->dynamic_smem < 0)
        return cute_document_fail(&config->document, at, false, diag,
                                  "expected a size of at least 0, got %lld", (long long)out->dynamic_smem);
    return CUTE_OK;
}

bool config_has_blocks(const config_launch *launch)
{
    return launch->grid[0] && launch->grid[1] && launch->grid[2];
}

cute_status config_add_launch(cute_config *config, const json_t *value, const cute_path *path,
                              config_launch *launches, size_t *count, cute_diag *diag)
{
    config_launch *launch = &launches[*count];
    memset(launch, 0, sizeof *launch);
    CUTE_TRY(config_read_launch(config, value, path, launch, diag));
    *count += !json_object_get(value, "grid") || config_has_blocks(launch);
    return CUTE_OK;
}

static cute_status read_launches(cute_config *config, cute_diag *diag)
{
    static const char *const single[] = {"kernel",       "grid",        "block",        "cluster",
                                         "dynamic_smem", "cooperative", "programmatic", "args"};
    json_t *list = json_object_get(config->document.root, "launches"), *value;
    size_t index;
    bool steps = json_object_get(config->document.root, "steps") != NULL;
    if (steps || config->plans.count) {
        cute_tensor *wholes; /* steps of a rank refer to its own part of a buffer */
        CUTE_TRY(config_use_pieces(config, &wholes, diag));
        cute_status status = steps ? config_read_steps(config, diag)
                                   : config_run_plans(config, &config->plans, &config->launches,
                                                      &config->launch_count, &config->steps, diag);
        config_use_wholes(config, wholes);
        return status;
    }
    config->launches =
        cute_arena_array(config->arena, list ? json_array_size(list) + 1 : 1, sizeof *config->launches);
    if (!config->launches) return cute_fail_memory(diag);
    if (!list) {
        CUTE_TRY(config_add_launch(config, config->document.root, NULL, config->launches,
                                   &config->launch_count, diag));
        return config_launch_steps(config, config->launches, config->launch_count, &config->steps, diag);
    }
    for (size_t i = 0; i < sizeof single / sizeof *single; i++)
        if (json_object_get(config->document.root, single[i]))
            return cute_document_fail(
                &config->document, config_member(config, NULL, single[i]), true, diag,
                "'launches' and '%s' are mutually exclusive: move '%s' into each launch", single[i],
                single[i]);
    const cute_path *base = config_member(config, NULL, "launches");
    json_array_foreach(list, index, value) CUTE_TRY(config_add_launch(
        config, value, config_element(config, base, index), config->launches, &config->launch_count, diag));
    return config_launch_steps(config, config->launches, config->launch_count, &config->steps, diag);
}

static cute_status read_output(const cute_config *config, const json_t *value, config_output *out,
                               cute_diag *diag)
{
    enum { DEFAULT_PRINT = 16 };
    const char *word = json_string_value(value), *npy, *raw;
    const json_t *print = json_object_get(value, "print");
    npy = json_string_value(json_object_get(value, "npy"));
    raw = json_string_value(json_object_get(value, "raw"));
    out->stats = json_is_true(json_object_get(value, "stats"));
    out->print = json_is_true(print) ? DEFAULT_PRINT : json_integer_value(print);
    if (word) {
        size_t length = strlen(word);
        if (strcmp(word, "print") == 0)
            out->print = DEFAULT_PRINT;
        else if (strcmp(word, "stats") == 0)
            out->stats = true;
        else if (length > 4 && strcmp(word + length - 4, ".npy") == 0)
            npy = word;
        else
            raw = word;
    }
    /* Not resolved yet: -o selects the folder. */
    out->npy = npy;
    out->raw = raw;
    if (!npy && !raw && !out->print && !out->stats)
        return cute_document_fail(&config->document, out->path, false, diag,
                                  "expected npy, raw, print or stats, got none");
    return CUTE_OK;
}

static cute_status read_outputs(cute_config *config, cute_diag *diag)
{
    json_t *outputs = json_object_get(config->document.root, "outputs"), *value;
    config->outputs = cute_arena_array(config->arena, json_object_size(outputs) + 1, sizeof *config->outputs);
    if (!config->outputs) return cute_fail_memory(diag);
    const cute_path *base = config_member(config, NULL, "outputs");
    const char *name;
    json_object_foreach(outputs, name, value)
    {
        config_output *out = &config->outputs[config->output_count++];
        out->path = config_member(config, base, name);
        CUTE_TRY(config_find_buffer(config, name, out->path, &out->buffer, diag));
        CUTE_TRY(read_output(config, value, out, diag));
        out->buffer->output = true;
    }
    return CUTE_OK;
}

cute_status cute_config_read(cute_arena *arena, const config_source *source, cute_config *out,
                             cute_diag *diag)
{
    cute_document *document = &out->document;
    memset(out, 0, sizeof *out);
    out->arena = arena;
    out->folder = source->folder;
    out->from_options = source->from_options;
    out->module = source->module;
    out->job_rank = source->job_rank;
    out->job_size = source->job_size ? source->job_size : 1;
    out->device = source->device;
    out->ranks = out->device && out->device->emulator && out->device->emulator->devices
                     ? out->device->emulator->devices
                     : 1;
    out->rank = -1;
    document->label = cute_arena_copy(arena, source->label, strlen(source->label));
    document->text = cute_arena_copy(arena, source->text ? source->text : "", source->length);
    document->length = source->length;
    if (!document->label || !document->text) return cute_fail_memory(diag);
    CUTE_TRY(cute_json_parse(document->label, document->text, source->length, &document->root, diag));
    CUTE_TRY(cute_launch_validate(document, diag));
    out->seed = json_integer_value(json_object_get(document->root, "seed"));
    out->timeout = json_number_value(json_object_get(document->root, "timeout"));
    CUTE_TRY(read_params(out, source->defines, source->define_count, diag));
    CUTE_TRY(config_read_plans(out, diag));
    CUTE_TRY(config_read_step_plans(out, diag));
    CUTE_TRY(read_buffers(out, diag));
    CUTE_TRY(read_launches(out, diag));
    CUTE_TRY(read_outputs(out, diag));
    CUTE_TRY(config_read_checks(out, diag));
    return config_read_bench(out, diag);
}

void cute_config_release(cute_config *config)
{
    json_decref(config->plan_lines);
    config->plan_lines = NULL;
    json_decref(config->document.root);
    config->document.root = NULL;
}
