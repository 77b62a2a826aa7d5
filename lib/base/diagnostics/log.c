/* Log lines on stderr. */
#include "lib/base/diagnostics/log.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "lib/base/buffer.h"
#include "lib/base/diagnostics/diag.h"

static const char *const names[] = {"error", "warning", "info", "debug"};
static const char *program; /* NULL: not set by a program, so nothing is printed */
static cute_log_level least = CUTE_LOG_WARNING;

bool cute_log_level_parse(const char *text, cute_log_level *out)
{
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcasecmp(text, names[i]) == 0) {
            *out = (cute_log_level)i;
            return true;
        }
    char *end;
    long number = strtol(text, &end, 10);
    if (end == text || *end || number < 0 || number > 50) return false;
    *out = number == 0    ? CUTE_LOG_WARNING
           : number <= 10 ? CUTE_LOG_DEBUG
           : number <= 20 ? CUTE_LOG_INFO
           : number <= 30 ? CUTE_LOG_WARNING
                          : CUTE_LOG_ERROR;
    return true;
}

void cute_log_set(const char *tool, cute_log_level level)
{
    program = tool;
    least = level;
}

cute_log_level cute_log_get(void)
{
    return least;
}

void cute_log(cute_log_level level, const char *format, ...)
{
    if (level > least || !program) return;
    cute_buffer text = {0}, line = {0};
    va_list args;
    va_start(args, format);
    cute_buffer_vprintf(&text, format, args);
    va_end(args);
    cute_buffer_printf(&line, "%s: %s: ", program, names[level]);
    cute_text_printable(cute_buffer_text(&text), text.length, &line);
    cute_buffer_putc(&line, '\n');
    /* A single write, so that lines of concurrent programs do not mix. */
    if (cute_buffer_ok(&line)) fwrite(cute_buffer_text(&line), 1, line.length, stderr);
    cute_buffer_release(&text);
    cute_buffer_release(&line);
}
