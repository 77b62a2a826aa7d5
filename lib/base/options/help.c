/* The options table as text (--help) and JSON (--help=json). */
#include <string.h>

#include "lib/base/options/options.h"
#include "lib/base/options/settings.h"
#include "lib/base/text/json.h"

/* The width of the screen, and the column of the explanations. */
enum { SCREEN = 100, EXPLANATION = 30 };

/* Words of `text` from column `column` on, later lines indented to EXPLANATION. */
static void wrap_text(const char *text, size_t column, cute_buffer *out)
{
    while (*text) {
        size_t word = strcspn(text, " ");
        if (column > EXPLANATION && column + 1 + word > SCREEN) {
            cute_buffer_printf(out, "\n%*s", EXPLANATION, "");
            column = EXPLANATION;
        } else if (column > EXPLANATION) {
            cute_buffer_putc(out, ' ');
            column++;
        }
        cute_buffer_append(out, text, word);
        column += word;
        text += word;
        text += strspn(text, " ");
    }
    cute_buffer_putc(out, '\n');
}

static void print_option(const cute_option *option, cute_buffer *out)
{
    size_t start = out->length;
    if (option->letter)
        cute_buffer_printf(out, "  -%c%s", option->letter, option->name ? ", " : "");
    else
        cute_buffer_puts(out, "      ");
    if (option->name) cute_buffer_printf(out, "--%s", option->name);
    if (option->value) {
        /* The value of a short option follows directly, as typed: -O3, -lNAME. */
        bool maybe = option->kind == CUTE_OPTION_MAYBE;
        if (option->name) cute_buffer_puts(out, maybe ? "[=" : "=");
        cute_buffer_printf(out, "%s%s", option->value, maybe ? "]" : "");
    }
    size_t column = out->length - start;
    if (column + 2 > EXPLANATION)
        cute_buffer_printf(out, "\n%*s", EXPLANATION, "");
    else
        cute_buffer_printf(out, "%*s", (int)(EXPLANATION - column), "");
    wrap_text(option->help, EXPLANATION, out);
}

static bool has_option(const cute_command *command, const char *name)
{
    for (const cute_option *o = command->options; o->kind != CUTE_OPTION_GROUP || o->name; o++)
        if (o->kind != CUTE_OPTION_GROUP && o->name && strcmp(o->name, name) == 0) return true;
    return false;
}

/* The environment variables of the program and its options. */
static void print_environment(const char *tool, const cute_command *command, cute_buffer *out)
{
    const cute_setting *setting;
    bool any = false;
    for (size_t row = 0; (setting = cute_setting_at(row)) != NULL; row++) {
        if (!cute_setting_lists(setting->tools, tool) ||
            (command && setting->option && !has_option(command, setting->option)))
            continue;
        cute_buffer_puts(out, any ? "" : "\nEnvironment:\n");
        any = true;
        size_t start = out->length;
        for (size_t i = 0; i < 4 && setting->variables[i]; i++)
            cute_buffer_printf(out, "%s%s", i ? ", " : "  ", setting->variables[i]);
        size_t column = out->length - start;
        if (column + 2 > EXPLANATION)
            cute_buffer_printf(out, "\n%*s", EXPLANATION, "");
        else
            cute_buffer_printf(out, "%*s", (int)(EXPLANATION - column), "");
        wrap_text(setting->help, EXPLANATION, out);
    }
}

void cute_options_environment(const char *tool, cute_buffer *out)
{
    print_environment(tool, NULL, out);
}

void cute_options_help(const cute_command *command, cute_buffer *out)
{
    cute_buffer_printf(out, "usage: %s %s\n\n%s\n", command->name, command->synopsis, command->summary);
    const cute_option *option = command->options;
    if (option->kind != CUTE_OPTION_GROUP) cute_buffer_puts(out, "\nOptions:\n");
    for (; option->kind != CUTE_OPTION_GROUP || option->name; option++) {
        if (option->kind == CUTE_OPTION_GROUP)
            cute_buffer_printf(out, "\n%s:\n", option->name);
        else if (option->help)
            print_option(option, out);
    }
    print_environment(command->name, command, out);
    if (command->epilogue) {
        size_t length = strlen(command->epilogue);
        cute_buffer_printf(out, "\n%s%s", command->epilogue,
                           length && command->epilogue[length - 1] == '\n' ? "" : "\n");
    }
}

/* ---- as JSON ---- */

/* The aliases of a row: the following rows without help that have the same target. */
static json_t *aliases_of(const cute_option *option)
{
    json_t *list = json_array();
    for (const cute_option *o = option + 1; o->kind != CUTE_OPTION_GROUP || o->name; o++)
        if (o->kind != CUTE_OPTION_GROUP && !o->help && o->target == option->target && o->name)
            json_array_append_new(list, json_string(o->name));
    return list;
}

static json_t *default_of(const cute_option *option)
{
    static const char mark[] = "(default";
    const char *at = option->help ? strstr(option->help, mark) : NULL;
    if (option->kind == CUTE_OPTION_FLAG) return json_string("0");
    if (!at) return NULL;
    at += sizeof mark - 1;
    at += strspn(at, ": ");
    return json_stringn(at, strcspn(at, ":;)"));
}

/* "text|json": the allowed words. A word in capitals is a placeholder. */
static json_t *choices_of(const char *value)
{
    if (!value || !strchr(value, '|') || strpbrk(value, "ABCDEFGHIJKLMNOPQRSTUVWXYZ[")) return NULL;
    json_t *list = json_array();
    for (; *value; value += *value == '|') {
        size_t length = strcspn(value, "|");
        json_array_append_new(list, json_stringn(value, length));
        value += length;
    }
    return list;
}

static json_t *variables_of(const cute_setting *setting)
{
    json_t *list = json_array();
    for (size_t i = 0; i < sizeof setting->variables / sizeof *setting->variables && setting->variables[i];
         i++)
        json_array_append_new(list, json_string(setting->variables[i]));
    return list;
}

static json_t *environment_of(const char *tool, const char *option)
{
    const cute_setting *setting;
    json_t *all = json_array();
    for (size_t row = 0; (setting = cute_setting_at(row)) != NULL; row++) {
        if (!option || !setting->option || strcmp(setting->option, option) != 0 ||
            !cute_setting_lists(setting->tools, tool))
            continue;
        json_t *own = variables_of(setting);
        json_array_extend(all, own);
        json_decref(own);
    }
    return all;
}

static void set_unless_empty(json_t *object, const char *key, json_t *value)
{
    if (value && (!json_is_array(value) || json_array_size(value))) json_object_set(object, key, value);
    json_decref(value);
}

static json_t *option_json(const char *tool, const char *group, const cute_option *option)
{
    static const char *const types[] = {
        [CUTE_OPTION_FLAG] = "flag", [CUTE_OPTION_STRING] = "text",         [CUTE_OPTION_INT] = "integer",
        [CUTE_OPTION_LIST] = "text", [CUTE_OPTION_MAYBE] = "optional text",
    };
    json_t *o = json_object();
    if (option->name) json_object_set_new(o, "name", json_string(option->name));
    if (option->letter) json_object_set_new(o, "letter", json_stringn(&option->letter, 1));
    set_unless_empty(o, "aliases", aliases_of(option));
    if (group) json_object_set_new(o, "group", json_string(group));
    json_object_set_new(o, "type", json_string(types[option->kind]));
    if (option->kind == CUTE_OPTION_LIST) json_object_set_new(o, "repeats", json_true());
    if (option->value) json_object_set_new(o, "value", json_string(option->value));
    set_unless_empty(o, "choices", choices_of(option->value));
    set_unless_empty(o, "default", default_of(option));
    set_unless_empty(o, "environment", environment_of(tool, option->name));
    json_object_set_new(o, "help", json_string(option->help));
    return o;
}

void cute_options_json(const cute_command *command, cute_buffer *out)
{
    const char *group = NULL;
    const cute_setting *setting;
    json_t *all = json_object(), *options = json_array(), *variables = json_array();
    for (const cute_option *o = command->options; o->kind != CUTE_OPTION_GROUP || o->name; o++) {
        if (o->kind == CUTE_OPTION_GROUP)
            group = o->name;
        else if (o->help)
            json_array_append_new(options, option_json(command->name, group, o));
    }
    for (size_t row = 0; (setting = cute_setting_at(row)) != NULL; row++) {
        if (!cute_setting_lists(setting->tools, command->name)) continue;
        json_t *entry = json_object();
        json_object_set_new(entry, "variables", variables_of(setting));
        if (setting->option && has_option(command, setting->option))
            json_object_set_new(entry, "option", json_string(setting->option));
        else if (setting->option) {
            json_decref(entry);
            continue;
        }
        json_object_set_new(entry, "help", json_string(setting->help));
        json_array_append_new(variables, entry);
    }
    json_object_set_new(all, "name", json_string(command->name));
    json_object_set_new(all, "summary", json_string(command->summary));
    json_object_set_new(all, "options", options);
    json_object_set_new(all, "environment", variables);
    cute_json_dump(all, true, out);
    json_decref(all);
}
