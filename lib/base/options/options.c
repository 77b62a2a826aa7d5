/* Parses command lines with getopt_long_only, driven by tables. getopt keeps its state in globals, so only
 * one thread may parse a command line at a time. */
#include "lib/base/options/options.h"

#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/base/diagnostics/diag.h"
#include "lib/base/diagnostics/log.h"
#include "lib/base/options/nearest.h"
#include "lib/base/options/settings.h"

/* getopt's return values of long options: above every letter. */
enum { LONG = 256 };

static bool is_table_end(const cute_option *option)
{
    return option->kind == CUTE_OPTION_GROUP && !option->name;
}

static bool takes_value(const cute_option *option)
{
    return option->kind > CUTE_OPTION_FLAG && option->kind != CUTE_OPTION_MAYBE;
}

enum { TOOL_NAME = 32 };

/* "cute-dump" of "cute-dump layout" */
static const char *tool_name(const cute_command *command, char out[TOOL_NAME])
{
    size_t length = command->name ? strcspn(command->name, " ") : 0;
    if (length >= TOOL_NAME) length = 0;
    if (length) memcpy(out, command->name, length);
    out[length] = '\0';
    return out;
}

/* Flags with an environment variable take a value, so that they can be turned off: --lineinfo=0. */
static bool may_have_value(const cute_command *command, const cute_option *option)
{
    char tool[TOOL_NAME];
    return option->kind == CUTE_OPTION_MAYBE ||
           (option->kind == CUTE_OPTION_FLAG && cute_setting_of(tool_name(command, tool), option->name));
}

/* The table in getopt's format. */
typedef struct getopt_table {
    char *letters;
    struct option *names;
    size_t count; /* of the options, including groups */
} getopt_table;

static bool build_table(cute_arena *arena, const cute_command *command, getopt_table *table)
{
    const cute_option *options = command->options;
    while (!is_table_end(&options[table->count])) table->count++;
    char *letter = table->letters = cute_arena_alloc(arena, 2 * table->count + 2);
    struct option *name = table->names = cute_arena_array(arena, table->count + 1, sizeof *name);
    if (!letter || !name) return false;
    *letter++ = ':'; /* makes getopt distinguish a missing value from an unknown option */
    for (size_t i = 0; i < table->count; i++) {
        const cute_option *option = &options[i];
        if (option->kind == CUTE_OPTION_GROUP) continue;
        if (option->letter) {
            *letter++ = option->letter;
            if (takes_value(option)) *letter++ = ':';
        }
        if (option->name)
            *name++ = (struct option){.name = option->name,
                                      .has_arg = takes_value(option)               ? required_argument
                                                 : may_have_value(command, option) ? optional_argument
                                                                                   : no_argument,
                                      .val = LONG + (int)i};
    }
    return true;
}

static const cute_option *find_option(const cute_command *command, size_t count, int answer)
{
    if (answer >= LONG) return (size_t)(answer - LONG) < count ? &command->options[answer - LONG] : NULL;
    for (size_t i = 0; i < count; i++)
        if (answer && command->options[i].letter == answer) return &command->options[i];
    return NULL;
}

bool cute_option_append(cute_arena *arena, cute_option_list *list, const char *item)
{
    /* The capacity is the power of two at or above the count. */
    if ((list->count & (list->count - 1)) == 0) {
        const char **items = cute_arena_array(arena, list->count ? 2 * list->count : 1, sizeof *items);
        if (!items) return false;
        if (list->count) memcpy(items, list->items, list->count * sizeof *items);
        list->items = items;
    }
    list->items[list->count++] = item;
    return true;
}

/* The preferred spelling: "--output" or "-o". */
static const char *option_spelling(cute_arena *arena, const cute_option *option)
{
    const char *text = option->name ? cute_arena_printf(arena, "--%s", option->name)
                                    : cute_arena_printf(arena, "-%c", option->letter);
    return text ? text : "option";
}

static cute_status store_value(cute_arena *arena, const cute_option *option, const char *value,
                               cute_diag *diag)
{
    switch (option->kind) {
    case CUTE_OPTION_GROUP: break;
    case CUTE_OPTION_FLAG:
        *(bool *)option->target = true;
        if (value && !cute_switch_parse(value, option->target))
            return cute_fail(diag, CUTE_USAGE, NULL, "'%s' expects 1 or 0, got '%s'",
                             option_spelling(arena, option), value);
        break;
    case CUTE_OPTION_STRING: *(const char **)option->target = value; break;
    case CUTE_OPTION_MAYBE: *(const char **)option->target = value ? value : ""; break;
    case CUTE_OPTION_LIST:
        if (!cute_option_append(arena, option->target, value)) return cute_fail_memory(diag);
        break;
    case CUTE_OPTION_INT: {
        char *end;
        errno = 0;
        long long number = strtoll(value, &end, 0);
        if (end == value || *end || errno)
            return cute_fail(diag, CUTE_USAGE, NULL, "'%s' expects %s, got '%s'",
                             option_spelling(arena, option),
                             errno == ERANGE ? "an integer of 64 bits" : "an integer", value);
        *(int64_t *)option->target = number;
        break;
    }
    }
    return CUTE_OK;
}

/* ---- errors ---- */

static const char *option_at(const void *list, size_t index)
{
    const cute_command *command = list;
    const cute_option *option = &command->options[index];
    if (is_table_end(option)) return NULL;
    return option->kind == CUTE_OPTION_GROUP || !option->name ? "" : option->name;
}

/* getopt said '?'. `word` is the argument, `known` the option when getopt knew it. */
static cute_status fail_unknown_option(const cute_command *command, const getopt_table *table,
                                       cute_arena *arena, const char *word, const cute_option *known,
                                       cute_diag *diag)
{
    if (known && strchr(word, '='))
        return cute_fail(diag, CUTE_USAGE, NULL, "'%s' takes no value", option_spelling(arena, known));
    const char *name = word + strspn(word, "-");
    size_t length = strcspn(name, "="), matches = 0;
    /* The second of two letters, as in -vx. A longer word was meant as one name. */
    if (optopt && optopt < LONG && !known && word[1] != '-' && length == 2 && optopt != name[0])
        return cute_fail(diag, CUTE_USAGE, NULL, "unknown option '-%c' in '%s'", optopt, word);
    for (const struct option *o = table->names; o->name && length; o++)
        if (strncmp(o->name, name, length) == 0) matches++;
    if (matches > 1) {
        cute_buffer list = {0};
        for (const struct option *o = table->names; o->name; o++)
            if (strncmp(o->name, name, length) == 0)
                cute_buffer_printf(&list, "%s--%s", list.length ? ", " : "", o->name);
        cute_status status =
            cute_fail(diag, CUTE_USAGE, NULL, "option '%s' is ambiguous: %s", word, cute_buffer_text(&list));
        cute_buffer_release(&list);
        return status;
    }
    int shown = (int)(name - word + (ptrdiff_t)length);
    const char *copy = cute_arena_copy(arena, name, length);
    const cute_setting *other = copy ? cute_setting_of(NULL, copy) : NULL;
    if (other) {
        cute_fail(diag, CUTE_USAGE, NULL, "unknown option '%.*s'; '%s --help' lists them", shown, word,
                  command->name);
        cute_note(diag, NULL, "it is an option of %s", other->tools);
        return CUTE_USAGE;
    }
    const char *near = cute_nearest_of(name, length, option_at, command);
    if (near)
        return cute_fail(diag, CUTE_USAGE, NULL, "unknown option '%.*s'; did you mean '--%s'?", shown, word,
                         near);
    return cute_fail(diag, CUTE_USAGE, NULL, "unknown option '%.*s'; '%s --help' lists them", shown, word,
                     command->name);
}

/* ---- the environment ---- */

static cute_status take_variable(const cute_setting *setting, const cute_option *option, cute_arena *arena,
                                 cute_diag *diag)
{
    const char *name = NULL, *value = cute_setting_value(setting, &name);
    cute_log_level unused;
    bool on = false;
    if (!value) return CUTE_OK;
    if (setting->kind == CUTE_SETTING_LEVEL && !cute_log_level_parse(value, &unused))
        return cute_fail(
            diag, CUTE_USAGE, NULL,
            "the environment variable %s expects error, warning, info, debug or 0 to 50, got '%s'", name,
            value);
    if (setting->kind != CUTE_SETTING_FLAG)
        return store_value(arena, option, cute_arena_copy(arena, value, strlen(value)), diag);
    if (!cute_switch_parse(value, &on))
        return cute_fail(diag, CUTE_USAGE, NULL, "the environment variable %s expects 1 or 0, got '%s'", name,
                         value);
    *(bool *)option->target = on;
    return CUTE_OK;
}

/* Checks that apply whether or not the option is given. */
static cute_status check_variable(const cute_setting *setting, cute_diag *diag)
{
    const char *name = NULL, *value = cute_setting_value(setting, &name);
    struct stat info;
    bool on = true;
    if (!value) return CUTE_OK;
    if (setting->kind == CUTE_SETTING_FOLDER && (stat(value, &info) != 0 || !S_ISDIR(info.st_mode))) {
        cute_fail(diag, CUTE_USAGE, NULL, "the environment variable %s expects a folder, got '%s'", name,
                  value);
        cute_note(diag, NULL, "it sets %s; unset it, or set it to an existing folder", setting->help);
        return CUTE_USAGE;
    }
    if (setting->kind == CUTE_SETTING_NONE && !(cute_switch_parse(value, &on) && !on))
        cute_report(diag, CUTE_WARNING, NULL, "%s has no effect: it is %s", name, setting->help);
    return CUTE_OK;
}

/* Options that were not given take the value of their environment variable. */
static cute_status take_environment(const cute_command *command, size_t count, const bool *given,
                                    cute_arena *arena, cute_diag *diag)
{
    const cute_setting *setting;
    char tool[TOOL_NAME];
    /* --help and --version work even if a variable is invalid. */
    for (size_t i = 0; i < count; i++)
        if (given[i] && command->options[i].name &&
            (!strcmp(command->options[i].name, "help") || !strcmp(command->options[i].name, "version")))
            return CUTE_OK;
    for (size_t row = 0; (setting = cute_setting_at(row)) != NULL; row++) {
        const cute_option *option = NULL;
        bool by_hand = false;
        if (!cute_setting_lists(setting->tools, tool_name(command, tool))) continue;
        for (size_t i = 0; i < count; i++) {
            const cute_option *o = &command->options[i];
            if (o->kind == CUTE_OPTION_GROUP || !o->name || !setting->option) continue;
            if (!option && strcmp(o->name, setting->option) == 0) option = o;
        }
        for (size_t i = 0; i < count && option; i++)
            if (given[i] && command->options[i].target == option->target) by_hand = true;
        if (by_hand) continue;
        CUTE_TRY(check_variable(setting, diag));
        if (option && setting->kind <= CUTE_SETTING_LEVEL)
            CUTE_TRY(take_variable(setting, option, arena, diag));
    }
    return CUTE_OK;
}

cute_status cute_options_parse(const cute_command *command, cute_arena *arena, int argc, char **argv,
                               cute_option_list *operands, cute_diag *diag)
{
    getopt_table table = {0};
    *operands = (cute_option_list){0};
    /* A copy, because getopt reorders the words. */
    char **words = cute_arena_array(arena, (size_t)argc + 1, sizeof *words);
    if (!words || !build_table(arena, command, &table)) return cute_fail_memory(diag);
    bool *given = cute_arena_array(arena, table.count + 1, sizeof *given);
    if (!given) return cute_fail_memory(diag);
    if (argc > 0) memcpy(words, argv, (size_t)argc * sizeof *words);
    opterr = 0;
    optind = 0; /* reset getopt */
    for (int answer; (answer = getopt_long_only(argc, words, table.letters, table.names, NULL)) != -1;) {
        const char *word = optind > 0 && optind <= argc ? words[optind - 1] : "";
        if (answer == '?') {
            const cute_option *known = find_option(command, table.count, optopt);
            /* After a letter at the end of its word, optind is at the next word, else at this one. */
            bool at_end = optind > 1 && word[0] == '-' && word[strlen(word) - 1] == optopt;
            if (optopt && !known && optopt < LONG && !at_end && optind < argc && words[optind][0] == '-' &&
                strchr(words[optind], optopt))
                word = words[optind];
            return fail_unknown_option(command, &table, arena, word, known, diag);
        }
        if (answer == ':') {
            const cute_option *option = find_option(command, table.count, optopt);
            return cute_fail(diag, CUTE_USAGE, NULL, "'%s' expects a value%s%s",
                             option ? option_spelling(arena, option) : word,
                             option && option->value ? ": " : "",
                             option && option->value ? option->value : "");
        }
        const cute_option *option = find_option(command, table.count, answer);
        if (!option) continue;
        given[option - command->options] = true;
        CUTE_TRY(store_value(arena, option, optarg, diag));
    }
    CUTE_TRY(take_environment(command, table.count, given, arena, diag));
    for (int i = optind; i < argc; i++)
        if (!cute_option_append(arena, operands, words[i])) return cute_fail_memory(diag);
    return CUTE_OK;
}

static cute_status set_flag(const cute_option *option, const char *value, cute_diag *diag)
{
    if (value && strcmp(value, "0") != 0 && strcmp(value, "1") != 0)
        return cute_fail(diag, CUTE_USAGE, NULL, "option '%s': expected 1 or 0, got '%s'", option->name,
                         value);
    *(bool *)option->target = !value || *value == '1';
    return CUTE_OK;
}

cute_status cute_option_set(const cute_option *options, cute_arena *arena, const char *name,
                            const char *value, cute_diag *diag)
{
    const cute_command command = {.options = options};
    const cute_option *option = options;
    while (!is_table_end(option) &&
           (option->kind == CUTE_OPTION_GROUP || !option->name || strcmp(option->name, name) != 0))
        option++;
    if (is_table_end(option)) {
        const char *near = cute_nearest(name, option_at, &command);
        return near ? cute_fail(diag, CUTE_USAGE, NULL, "unknown option '%s'; did you mean '%s'?", name, near)
                    : cute_fail(diag, CUTE_USAGE, NULL, "unknown option '%s'", name);
    }
    if (option->kind == CUTE_OPTION_FLAG) return set_flag(option, value, diag);
    if (!value && option->kind == CUTE_OPTION_MAYBE) return store_value(arena, option, NULL, diag);
    if (!value) return cute_fail(diag, CUTE_USAGE, NULL, "option '%s': expected a value", name);
    const char *copy = cute_arena_copy(arena, value, strlen(value));
    return copy ? store_value(arena, option, copy, diag) : cute_fail_memory(diag);
}

cute_status cute_diag_format_parse(const char *text, cute_diag_format *out, cute_diag *diag)
{
    if (strcmp(text, "text") == 0)
        *out = CUTE_DIAG_TEXT;
    else if (strcmp(text, "json") == 0)
        *out = CUTE_DIAG_JSON;
    else if (strcmp(text, "full") == 0)
        *out = CUTE_DIAG_FULL;
    else if (strcmp(text, "sarif") == 0)
        *out = CUTE_DIAG_SARIF;
    else
        return cute_fail(diag, CUTE_USAGE, NULL,
                         "'--diagnostics' expects text, full, json or sarif, got '%s'", text);
    return CUTE_OK;
}
