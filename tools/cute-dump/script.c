/* 'run' by names of a module and its arguments: --module, --args and --kwargs become a file and -D. */
#include <stdio.h>
#include <string.h>

#include "lib/base/system/file.h"
#include "lib/base/text/json.h"
#include "tools/cute-dump/dump.h"

/* pkg.mod is pkg/mod.mlir in the current folder or one of -I. */
static cute_status find_module(dump_settings *s, cute_diag *diag)
{
    char *name = cute_arena_printf(s->arena, "%s.mlir", s->source_module);
    if (!name) return cute_fail_memory(diag);
    for (char *at = name; at < name + strlen(s->source_module); at++)
        if (*at == '.') *at = '/';
    if (cute_file_exists(name)) {
        s->file = name;
        return CUTE_OK;
    }
    for (size_t i = 0; i < s->folders.count; i++) {
        const char *path = cute_arena_printf(s->arena, "%s/%s", s->folders.items[i], name);
        if (!path) return cute_fail_memory(diag);
        if (!cute_file_exists(path)) continue;
        s->file = path;
        return CUTE_OK;
    }
    cute_fail(diag, CUTE_USAGE, NULL, "cannot find module '%s': there is no '%s'", s->source_module, name);
    cute_note(diag, NULL, "searched the current folder%s",
              s->folders.count ? " and those of -I" : "; -I adds folders");
    return CUTE_USAGE;
}

/* Adds -D NAME=VALUE. */
static cute_status define(dump_settings *s, const char *option, const char *name, int length,
                          const json_t *value, cute_diag *diag)
{
    const char *text = NULL;
    if (json_is_string(value))
        text = cute_arena_printf(s->arena, "%.*s=%s", length, name, json_string_value(value));
    else if (json_is_boolean(value))
        text = cute_arena_printf(s->arena, "%.*s=%d", length, name, json_is_true(value));
    else if (json_is_integer(value))
        text = cute_arena_printf(s->arena, "%.*s=%lld", length, name, (long long)json_integer_value(value));
    else if (json_is_real(value))
        text = cute_arena_printf(s->arena, "%.*s=%.17g", length, name, json_real_value(value));
    else
        return cute_fail(
            diag, CUTE_USAGE, NULL,
            "%s: expected numbers, strings or booleans for '%.*s': tensors are described by the types of "
            "the source",
            option, length, name);
    return text && cute_option_append(s->arena, &s->defines, text) ? CUTE_OK : cute_fail_memory(diag);
}

static cute_status parse_json(const char *option, const char *text, json_type type, json_t **out,
                              cute_diag *diag)
{
    CUTE_TRY(cute_json_parse(option, text, strlen(text), out, diag));
    if (json_typeof(*out) == type) return CUTE_OK;
    return cute_fail(diag, CUTE_USAGE, NULL, "%s expects a JSON %s, got '%s'", option,
                     type == JSON_ARRAY ? "list, as in \"[128, 64]\"" : "object, as in '{\"BM\": 128}'",
                     text);
}

/* The next `//!param NAME` after *at; false: there is none. */
static bool next_param(const char **at, const char **name, int *length)
{
    static const char marker[] = "//!param";
    for (; *at && **at; *at = strchr(*at, '\n'), *at = *at ? *at + 1 : NULL) {
        const char *line = *at + strspn(*at, " \t");
        if (strncmp(line, marker, sizeof marker - 1)) continue;
        *name = line + sizeof marker - 1;
        *name += strspn(*name, " \t");
        *length = (int)strcspn(*name, " \t=\n");
        *at = strchr(*at, '\n');
        if (*at) (*at)++;
        if (*length) return true;
        if (!*at) break;
    }
    return false;
}

/* Values of the source's params (//!param NAME), in their order. */
static cute_status take_args(dump_settings *s, const char *path, const json_t *list, cute_diag *diag)
{
    cute_buffer text = {0};
    const char *name = NULL;
    int length = 0;
    if (!json_array_size(list)) return CUTE_OK;
    cute_status status = cute_file_read(path, &text, diag);
    const char *at = cute_buffer_text(&text);
    for (size_t i = 0; status == CUTE_OK && i < json_array_size(list); i++) {
        if (!next_param(&at, &name, &length))
            status = cute_fail(
                diag, CUTE_USAGE, NULL,
                "--args has %zu value%s, but '%s' has %zu param%s (lines //!param NAME = VALUE)",
                json_array_size(list), json_array_size(list) == 1 ? "" : "s", path, i, i == 1 ? "" : "s");
        else
            status = define(s, "--args", name, length, json_array_get(list, i), diag);
    }
    cute_buffer_release(&text);
    return status;
}

cute_status cute_dump_take_script(dump_settings *s, const cute_option_list *operands, cute_diag *diag)
{
    json_t *args = NULL, *kwargs = NULL, *value;
    const char *name;
    if (s->source_module && (s->file || operands->count))
        return cute_fail(diag, CUTE_USAGE, NULL, "--module and a file are mutually exclusive");
    if (s->source_module) CUTE_TRY(find_module(s, diag));
    const char *path = s->file ? s->file : operands->count ? operands->items[0] : "-";
    if (s->args && !strcmp(path, "-"))
        return cute_fail(diag, CUTE_USAGE, NULL,
                         "--args requires a file, whose params it sets; --kwargs names them");
    cute_status status = s->args ? parse_json("--args", s->args, JSON_ARRAY, &args, diag) : CUTE_OK;
    if (status == CUTE_OK && s->kwargs)
        status = parse_json("--kwargs", s->kwargs, JSON_OBJECT, &kwargs, diag);
    if (status == CUTE_OK) status = take_args(s, path, args, diag);
    if (status == CUTE_OK)
        json_object_foreach(kwargs, name, value) if (status == CUTE_OK) status =
            define(s, "--kwargs", name, (int)strlen(name), value, diag);
    json_decref(args);
    json_decref(kwargs);
    return status == CUTE_INVALID ? CUTE_USAGE : status;
}
