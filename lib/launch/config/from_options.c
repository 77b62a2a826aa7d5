/* Generates a launch.json from options: --plan f -D n=5 --tensor a=f16:4096x512:1,4096:normal --expect
 * c=... */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/options/nearest.h"
#include "lib/cubin/module.h"
#include "lib/launch/config/config.h"
#include "lib/launch/launch.h"

typedef struct option_reader {
    cute_arena *arena;
    const cute_launch_options *options;
    const cute_module *module;
    host_plan *plans;
    json_t **lines;
    json_t *args, *buffers, *checks;
    cute_diag *diag;
} option_reader;

/* ---- parameters of the host functions ---- */

static cute_status read_plans(option_reader *m, const cute_module *module)
{
    static const char label[] = "<plan>";
    const cute_launch_options *o = m->options;
    for (size_t i = 0; i < o->plan_count; i++) {
        const char *text = NULL;
        size_t length = 0;
        CUTE_TRY(cute_module_find_plan(module, o->plans[i], &text, &length, m->diag));
        CUTE_TRY(cute_json_parse(label, text, length, &m->lines[i], m->diag));
        CUTE_TRY(host_plan_read(m->arena, label, m->lines[i], &m->plans[i], m->diag));
    }
    return CUTE_OK;
}

static const host_param *find_param(const option_reader *m, const char *name)
{
    for (size_t p = 0; p < m->options->plan_count; p++)
        for (size_t i = 0; i < m->plans[p].param_count; i++)
            if (strcmp(m->plans[p].params[i].name, name) == 0) return &m->plans[p].params[i];
    return NULL;
}

static const char *param_name_at(const void *context, size_t index)
{
    const option_reader *m = context;
    for (size_t p = 0; p < m->options->plan_count; index -= m->plans[p++].param_count)
        if (index < m->plans[p].param_count) return m->plans[p].params[index].name;
    return NULL;
}

static bool is_tensor(const host_param *param)
{
    return param->kind == HOST_MEMREF || param->kind == HOST_POINTER;
}

/* Splits "NAME=VALUE"; `expected` describes the value in messages. */
static cute_status split_assignment(option_reader *m, const char *option, const char *expected,
                                    const char *text, const char **name, const char **value)
{
    const char *equals = strchr(text, '=');
    if (!equals || equals == text || !equals[1])
        return cute_fail(m->diag, CUTE_USAGE, NULL, "%s expects NAME=%s, got '%s'", option, expected, text);
    *name = cute_arena_copy(m->arena, text, (size_t)(equals - text));
    *value = equals + 1;
    return *name ? CUTE_OK : cute_fail_memory(m->diag);
}

static cute_status fail_unknown(option_reader *m, const char *option, const char *name)
{
    const char *near = cute_nearest(name, param_name_at, m);
    if (m->plans[0].refused)
        return cute_fail(m->diag, CUTE_INVALID, NULL, "host function '%s' has no launch plan: %s",
                         m->plans[0].name, m->plans[0].refused);
    return cute_fail(m->diag, CUTE_USAGE, NULL,
                     near ? "%s %s: host function '%s' has no parameter '%s'; did you mean '%s'?"
                          : "%s %s: host function '%s' has no parameter '%s'",
                     option, name, m->plans[0].name, name, near);
}

/* ---- -D ---- */

static cute_status add_define(option_reader *m, const char *text)
{
    const char *name, *value;
    char *end;
    CUTE_TRY(split_assignment(m, "-D", "VALUE", text, &name, &value));
    const host_param *param = find_param(m, name);
    if (!param && cute_module_defines(m->module, name)) return CUTE_OK;
    if (!param) return fail_unknown(m, "-D", name);
    if (is_tensor(param))
        return cute_fail(m->diag, CUTE_USAGE, NULL, "-D %s: '%s' is a tensor: pass --tensor %s=%s:SHAPE",
                         name, name, name, param->dtype ? param->dtype : "DTYPE");
    json_t *json = NULL;
    if (param->kind == HOST_SCALAR) {
        cute_dtype dtype = CUTE_I64;
        cute_dtype_find(param->dtype, &dtype);
        bool real = cute_dtype_get(dtype)->class == CUTE_CLASS_FLOAT;
        errno = 0;
        if (real) {
            double number = strtod(value, &end);
            json = *end ? NULL : json_real(number); /* NULL for an infinity or NaN */
        } else {
            long long number = strtoll(value, &end, 0);
            json = *end || errno ? NULL : json_integer(number);
        }
        if (!json)
            return cute_fail(m->diag, CUTE_USAGE, NULL, "-D %s expects %s, got '%s'", name,
                             real ? "a finite number" : "an integer", value);
    } else if (*value == '[') {
        json = json_loads(value, 0, NULL);
    } else {
        json = json_string(value);
    }
    if (!json)
        return cute_fail(m->diag, CUTE_USAGE, NULL, "-D %s expects %s, got '%s'", name,
                         param->text ? param->text : "a value", value);
    json_object_set_new(m->args, name, json);
    return CUTE_OK;
}

/* ---- --tensor ---- */

static const char TENSOR_SYNTAX[] = "DTYPE:SHAPE:STRIDES:INIT, as in f16:4096x512:1,4096:normal";

/* Parses "4096x512" or "1,4096" as a list; NULL if malformed. */
static json_t *parse_extents(const char *text, size_t length, char separator)
{
    json_t *list = json_array();
    for (const char *at = text, *stop = text + length; at < stop;) {
        char *end;
        errno = 0;
        if (*at < '0' || *at > '9') break;
        long long number = strtoll(at, &end, 10);
        if (errno || (end < stop && *end != separator) || end > stop || end + 1 == stop) break;
        json_array_append_new(list, json_integer(number));
        if (end == stop) return list;
        at = end + 1;
    }
    json_decref(list);
    return NULL;
}

static bool is_init(const char *text, size_t length)
{
    static const char *const words[] = {"zeros", "ones", "iota", "uniform", "normal", "nan"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strlen(words[i]) == length && memcmp(words[i], text, length) == 0) return true;
    return false;
}

/* Adds one field, recognized by its form; false if unrecognized or repeated. */
static bool add_field(json_t *buffer, const char *text, size_t length)
{
    cute_dtype dtype;
    char word[16];
    json_t *list = NULL;
    if (length < sizeof word) {
        memcpy(word, text, length);
        word[length] = '\0';
        if (cute_dtype_find(word, &dtype))
            return !json_object_get(buffer, "dtype") &&
                   !json_object_set_new(buffer, "dtype", json_string(word));
    }
    if (is_init(text, length))
        return !json_object_get(buffer, "init") &&
               !json_object_set_new(buffer, "init", json_stringn(text, length));
    const char *key = json_object_get(buffer, "shape") ? "strides" : "shape";
    list = parse_extents(text, length, *key == 's' && key[1] == 'h' ? 'x' : ',');
    if (!list || json_object_get(buffer, key)) {
        json_decref(list);
        return false;
    }
    return !json_object_set_new(buffer, key, list);
}

static const char *tensor_word_at(const void *unused, size_t index)
{
    static const char *const words[] = {"zeros", "ones", "iota", "uniform", "normal", "nan"};
    const char *dtype = cute_dtype_name_at(unused, index);
    if (dtype) return dtype;
    return index - CUTE_DTYPE_COUNT < sizeof words / sizeof *words ? words[index - CUTE_DTYPE_COUNT] : NULL;
}

static cute_status add_tensor(option_reader *m, const char *text)
{
    const char *name, *value;
    CUTE_TRY(split_assignment(m, "--tensor", TENSOR_SYNTAX, text, &name, &value));
    const host_param *param = find_param(m, name);
    if (!param) return fail_unknown(m, "--tensor", name);
    if (!is_tensor(param))
        return cute_fail(m->diag, CUTE_USAGE, NULL,
                         "--tensor %s: '%s' is not a tensor but %s: pass -D %s=VALUE", name, name,
                         param->type    ? param->type
                         : param->dtype ? param->dtype
                                        : "of another kind",
                         name);
    json_t *buffer = json_object();
    if (json_object_get(m->buffers, name)) {
        json_decref(buffer);
        return cute_fail(m->diag, CUTE_USAGE, NULL, "--tensor %s is repeated", name);
    }
    json_object_set_new(m->buffers, name, buffer);
    for (const char *at = value; at;) {
        size_t length = strcspn(at, ":");
        const char *next = at[length] ? at + length + 1 : NULL;
        if (*at == '{') {
            json_error_t error;
            json_t *init = json_loads(at, 0, &error);
            if (!init)
                return cute_fail(m->diag, CUTE_USAGE, NULL, "--tensor %s: invalid JSON in the init '%s': %s",
                                 name, at, error.text);
            json_object_set_new(buffer, "init", init);
            break;
        }
        /* Empty strides: row-major. */
        bool skipped =
            !length && next && json_object_get(buffer, "shape") && !json_object_get(buffer, "strides");
        if (!skipped && !add_field(buffer, at, length)) {
            const char *near = cute_nearest_of(at, length, tensor_word_at, NULL);
            return cute_fail(m->diag, CUTE_USAGE, NULL,
                             near ? "--tensor %s expects %s; got '%.*s', did you mean '%s'?"
                                  : "--tensor %s expects %s; got '%.*s'",
                             name, TENSOR_SYNTAX, (int)length, at, near);
        }
        at = next;
    }
    return CUTE_OK;
}

/* ---- --expect ---- */

static cute_status add_check(option_reader *m, const char *text)
{
    const char *name, *value;
    json_error_t error;
    CUTE_TRY(split_assignment(m, "--expect", "EXPRESSION", text, &name, &value));
    if (!json_object_get(m->buffers, name))
        return cute_fail(m->diag, CUTE_USAGE, NULL, "--expect %s: expected a --tensor %s", name, name);
    json_t *check = *value == '{' ? json_loads(value, 0, &error) : json_string(value);
    if (!check)
        return cute_fail(m->diag, CUTE_USAGE, NULL, "--expect %s: invalid JSON '%s': %s", name, value,
                         error.text);
    json_object_set_new(m->checks, name, check);
    return CUTE_OK;
}

/* ---- the document, one member a line, so that messages can show it ---- */

static void put_part(cute_buffer *out, const char *key, json_t *object)
{
    const char *name;
    json_t *value;
    bool first = true;
    if (!json_object_size(object)) return;
    cute_buffer_printf(out, ",\n  \"%s\": {", key);
    json_object_foreach(object, name, value)
    {
        char *text = json_dumps(value, JSON_ENCODE_ANY);
        json_t *string = json_string(name);
        char *quoted = json_dumps(string, JSON_ENCODE_ANY);
        cute_buffer_printf(out, "%s\n    %s: %s", first ? "" : ",", quoted ? quoted : "", text ? text : "");
        first = false;
        json_decref(string);
        free(quoted);
        free(text);
    }
    cute_buffer_puts(out, "\n  }");
}

static void put_document(const option_reader *m, cute_buffer *out)
{
    json_t *names = json_array();
    for (size_t i = 0; i < m->options->plan_count; i++)
        json_array_append_new(names, json_string(m->plans[i].name));
    char *text = json_dumps(names, 0);
    cute_buffer_printf(out, "{\n  \"plan\": %s", text ? text : "");
    free(text);
    json_decref(names);
    put_part(out, "args", m->args);
    put_part(out, "buffers", m->buffers);
    put_part(out, "check", m->checks);
    cute_buffer_puts(out, "\n}\n");
}

cute_status cute_launch_from_options(cute_arena *arena, const cute_launch_options *options,
                                     const cute_module *module, cute_buffer *out, cute_diag *diag)
{
    option_reader m = {.arena = arena, .options = options, .module = module, .diag = diag};
    if (!options->plan_count)
        return cute_fail(diag, CUTE_USAGE, NULL,
                         "expected a launch.json or a host function (--plan), got neither");
    m.plans = cute_arena_array(arena, options->plan_count, sizeof *m.plans);
    m.lines = cute_arena_array(arena, options->plan_count, sizeof *m.lines);
    m.args = json_object();
    m.buffers = json_object();
    m.checks = json_object();
    cute_status status = m.plans && m.lines && m.checks ? read_plans(&m, module) : cute_fail_memory(diag);
    for (size_t i = 0; status == CUTE_OK && i < options->define_count; i++)
        status = add_define(&m, options->defines[i]);
    for (size_t i = 0; status == CUTE_OK && i < options->tensor_count; i++)
        status = add_tensor(&m, options->tensors[i]);
    for (size_t i = 0; status == CUTE_OK && i < options->check_count; i++)
        status = add_check(&m, options->checks[i]);
    if (status == CUTE_OK) put_document(&m, out);
    for (size_t i = 0; m.lines && i < options->plan_count; i++) json_decref(m.lines[i]);
    json_decref(m.args);
    json_decref(m.buffers);
    json_decref(m.checks);
    if (status != CUTE_OK) return status;
    return cute_buffer_ok(out) ? CUTE_OK : cute_fail_memory(diag);
}
