/* The text of --help, and how a tool ends. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/base/diag.h"
#include "lib/base/options.h"
#include "lib/base/signals.h"

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
        if (option->name) cute_buffer_putc(out, '=');
        cute_buffer_puts(out, option->value);
    }
    size_t column = out->length - start;
    if (column + 2 > EXPLANATION)
        cute_buffer_printf(out, "\n%*s", EXPLANATION, "");
    else
        cute_buffer_printf(out, "%*s", (int)(EXPLANATION - column), "");
    wrap(option->help, EXPLANATION, out);
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
    if (command->epilogue) {
        size_t length = strlen(command->epilogue);
        cute_buffer_printf(out, "\n%s%s", command->epilogue,
                           length && command->epilogue[length - 1] == '\n' ? "" : "\n");
    }
}

static bool wants_colour(void)
{
    const char *none = getenv("NO_COLOR"), *terminal = getenv("TERM");
    return !(none && *none) && terminal && strcmp(terminal, "dumb") != 0 && isatty(STDERR_FILENO);
}

int cute_tool_finish(const char *tool, cute_status status, const cute_diag *diag, cute_diag_format format)
{
    cute_buffer text = {0};
    cute_diag_render_for(tool, diag, format, format == CUTE_DIAG_TEXT && wants_colour(), &text);
    const char *rest = cute_buffer_text(&text);
    size_t length = text.length;
    cute_pipe_guard guard;
    cute_pipe_hold(&guard);
    while (length) {
        ssize_t put = write(STDERR_FILENO, rest, length);
        if (put <= 0) break;
        rest += put;
        length -= (size_t)put;
    }
    cute_pipe_release(&guard);
    cute_buffer_release(&text);
    return (int)status;
}
