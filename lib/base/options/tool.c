/* The main function of all programs. */
#include "lib/base/options/tool.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/base/diagnostics/diag.h"
#include "lib/base/diagnostics/log.h"
#include "lib/base/system/file.h"
#include "lib/base/system/process.h"
#include "lib/base/system/signals.h"

typedef struct common {
    const char *diagnostics, *log_level, *help;
    bool version;
} common;

/* The program's options followed by the common ones; NULL when memory is exhausted. */
static const cute_option *build_option_table(const cute_option *own, cute_arena *arena, common *c)
{
    const cute_option rows[] = {
        {CUTE_OPTION_STRING, "diagnostics", 0, "text|full|json|sarif",
         "Format of diagnostics (default text; full: errors with likely causes)", &c->diagnostics},
        {CUTE_OPTION_STRING, "log-level", 0, "LEVEL",
         "Verbosity: error, warning (default), info (programs run, stages, the cache) or debug (files, "
         "passes)",
         &c->log_level},
        {CUTE_OPTION_MAYBE, "help", 'h', "json", "Show this help, or the same table as JSON", &c->help},
        {CUTE_OPTION_FLAG, "version", 0, NULL, "Show the version", &c->version},
        {0},
    };
    size_t count = 0;
    while (own[count].kind != CUTE_OPTION_GROUP || own[count].name) count++;
    cute_option *table = cute_arena_alloc(arena, count * sizeof *own + sizeof rows);
    if (!table) return NULL;
    memcpy(table, own, count * sizeof *own);
    memcpy(table + count, rows, sizeof rows);
    return table;
}

static cute_status print_help_or_version(const cute_command *command, const char *with, const char *help,
                                         cute_diag *diag)
{
    cute_buffer text = {0};
    if (help && *help && strcmp(help, "json") != 0)
        return cute_fail(diag, CUTE_USAGE, NULL, "'--help' expects json or nothing, got '%s'", help);
    if (help && *help)
        cute_options_json(command, &text);
    else if (help)
        cute_options_help(command, &text);
    else
        cute_buffer_printf(&text, "%.*s %s%s%s%s\n", (int)strcspn(command->name, " "), command->name,
                           cute_version(), with ? " (" : "", with ? with : "", with ? ")" : "");
    cute_status status = cute_file_write("-", cute_buffer_text(&text), text.length, diag);
    cute_buffer_release(&text);
    return status;
}

static cute_status set_log_level(const char *tool, const char *text, cute_diag *diag)
{
    cute_log_level level;
    if (!cute_log_level_parse(text, &level))
        return cute_fail(diag, CUTE_USAGE, NULL,
                         "'--log-level' expects error, warning, info, debug or 0 to 50, got '%s'", text);
    cute_log_set(tool, level);
    return CUTE_OK;
}

/* The format of errors in the command line itself: that of a valid --diagnostics in it. */
static void set_error_format(int argc, char **argv, cute_diag_format *out)
{
    static const char name[] = "--diagnostics";
    for (int i = 1; i < argc; i++) {
        if (strncmp(argv[i], name, sizeof name - 1) != 0) continue;
        const char *value = argv[i] + sizeof name - 1;
        if (*value == '=')
            cute_diag_format_parse(value + 1, out, NULL);
        else if (!*value && i + 1 < argc)
            cute_diag_format_parse(argv[i + 1], out, NULL);
    }
}

int cute_tool_run(const cute_command *command, const char *with, cute_tool_work work, void *settings,
                  int argc, char **argv)
{
    char name[32]; /* "cute-dump" of "cute-dump layout" */
    size_t length = strcspn(command->name, " ");
    if (length >= sizeof name) length = sizeof name - 1;
    memcpy(name, command->name, length);
    name[length] = '\0';
    cute_log_set(name, CUTE_LOG_WARNING);
    cute_ending_install();
    cute_tool tool = {.arena = cute_arena_create(), .diag = cute_diag_create()};
    common c = {0};
    cute_command whole = *command;
    cute_status status = CUTE_OK;
    whole.options = tool.arena ? build_option_table(command->options, tool.arena, &c) : NULL;
    if (!whole.options || !tool.diag) status = cute_fail_memory(tool.diag);
    if (status == CUTE_OK)
        cute_diag_know(tool.diag, CUTE_FACT_COMMAND,
                       cute_process_text(tool.arena, (const char *const *)(uintptr_t)argv));
    if (status == CUTE_OK)
        status = cute_options_parse(&whole, tool.arena, argc, argv, &tool.operands, tool.diag);
    if (status != CUTE_OK) set_error_format(argc, argv, &tool.format);
    if (status == CUTE_OK && c.log_level) status = set_log_level(name, c.log_level, tool.diag);
    if (status == CUTE_OK && c.diagnostics)
        status = cute_diag_format_parse(c.diagnostics, &tool.format, tool.diag);
    if (status == CUTE_OK && (c.help || c.version))
        status = print_help_or_version(&whole, with, c.help, tool.diag);
    else if (status == CUTE_OK)
        status = work(&tool, settings);
    int code = cute_tool_finish(name, status, tool.diag, tool.format);
    cute_log_set(NULL, CUTE_LOG_WARNING);
    if (code && command->output && (!*command->output || !strcmp(*command->output, "-"))) cute_pipe_failed();
    cute_diag_destroy(tool.diag);
    cute_arena_destroy(tool.arena);
    return code;
}

cute_status cute_tool_write(const char *path, const char *text, size_t length, bool coloured, cute_diag *diag)
{
    cute_buffer shown = {0};
    (coloured ? cute_text_coloured : cute_text_printable)(text, length, &shown);
    cute_status status = cute_buffer_ok(&shown)
                             ? cute_file_write(path, cute_buffer_text(&shown), shown.length, diag)
                             : cute_fail_memory(diag);
    cute_buffer_release(&shown);
    return status;
}

static void write_stderr(const char *text, size_t length)
{
    cute_pipe_guard guard;
    cute_pipe_hold(&guard);
    while (length) {
        ssize_t put = write(STDERR_FILENO, text, length);
        if (put <= 0) break;
        text += put;
        length -= (size_t)put;
    }
    cute_pipe_release(&guard);
}

void cute_tool_say(const char *text, size_t length)
{
    cute_buffer shown = {0};
    cute_text_printable(text, length, &shown);
    write_stderr(cute_buffer_text(&shown), shown.length);
    cute_buffer_release(&shown);
}

static bool wants_colour(void)
{
    const char *none = getenv("NO_COLOR"), *terminal = getenv("TERM");
    return !(none && *none) && terminal && strcmp(terminal, "dumb") != 0 && isatty(STDERR_FILENO);
}

/* The errors and their notes; NULL when memory is exhausted. */
static cute_diag *errors_of(const cute_diag *diag)
{
    cute_diag *only = cute_diag_create();
    bool keeps = false;
    for (size_t i = 0; only && i < cute_diag_count(diag); i++) {
        const cute_message *message = cute_diag_get(diag, i);
        if (message->severity != CUTE_NOTE) keeps = message->severity == CUTE_ERROR;
        if (keeps) cute_diag_append(only, message);
    }
    for (int i = 0; only && i < CUTE_FACT_COUNT; i++) cute_diag_know(only, i, cute_diag_fact(diag, i));
    return only;
}

void cute_tool_print(const char *tool, const cute_diag *diag, cute_diag_format format)
{
    cute_buffer text = {0};
    cute_diag *errors = cute_log_get() == CUTE_LOG_ERROR ? errors_of(diag) : NULL;
    cute_diag_render_for(tool, errors ? errors : diag, format, !cute_diag_is_data(format) && wants_colour(),
                         &text);
    cute_diag_destroy(errors);
    write_stderr(cute_buffer_text(&text), text.length);
    cute_buffer_release(&text);
}

int cute_tool_finish(const char *tool, cute_status status, const cute_diag *diag, cute_diag_format format)
{
    cute_tool_print(tool, diag, format);
    return (int)status;
}
