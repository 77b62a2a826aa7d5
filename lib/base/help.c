/* The text of --help. */
#include <string.h>

#include "lib/base/options.h"
#include "lib/base/settings.h"

/* Columns of a screen, and where the explanations begin. */
enum { SCREEN = 100, EXPLANATION = 30 };

/* Words of `text` from column `column` on, later lines indented to EXPLANATION. */
static void wrap(const char *text, size_t column, cute_buffer *out)
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

static void option_line(const cute_option *option, cute_buffer *out)
{
    size_t start = out->length;
    if (option->letter)
        cute_buffer_printf(out, "  -%c%s", option->letter, option->name ? ", " : "");
    else
        cute_buffer_puts(out, "      ");
    if (option->name) cute_buffer_printf(out, "--%s", option->name);
    if (option->value) {
        /* A value that is joined to a letter reads as it is typed: -O3, -lNAME. */
        bool maybe = option->kind == CUTE_OPTION_MAYBE;
        if (option->name) cute_buffer_puts(out, maybe ? "[=" : "=");
        cute_buffer_printf(out, "%s%s", option->value, maybe ? "]" : "");
    }
    size_t column = out->length - start;
    if (column + 2 > EXPLANATION)
        cute_buffer_printf(out, "\n%*s", EXPLANATION, "");
    else
        cute_buffer_printf(out, "%*s", (int)(EXPLANATION - column), "");
    wrap(option->help, EXPLANATION, out);
}

static bool has_option(const cute_command *command, const char *name)
{
    for (const cute_option *o = command->options; o->kind != CUTE_OPTION_GROUP || o->name; o++)
        if (o->kind != CUTE_OPTION_GROUP && o->name && strcmp(o->name, name) == 0) return true;
    return false;
}

/* The variables that the program or one of its options looks at. */
static void environment(const char *tool, const cute_command *command, cute_buffer *out)
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
        wrap(setting->help, EXPLANATION, out);
    }
}

void cute_options_environment(const char *tool, cute_buffer *out)
{
    environment(tool, NULL, out);
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
            option_line(option, out);
    }
    environment(command->name, command, out);
    if (command->epilogue) {
        size_t length = strlen(command->epilogue);
        cute_buffer_printf(out, "\n%s%s", command->epilogue,
                           length && command->epilogue[length - 1] == '\n' ? "" : "\n");
    }
}
