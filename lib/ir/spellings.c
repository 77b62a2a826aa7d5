/* Texts of newer MLIR that LLVM 19 spells otherwise, replaced at the same length so that columns hold. */
#include "lib/ir/spellings.h"
#include "lib/base/chars.h"

#include <ctype.h>
#include <string.h>

static const char *skip_string(const char *at, const char *end)
{
    for (at++; at < end && *at != '"' && *at != '\n'; at++)
        if (*at == '\\' && at + 1 < end) at++;
    return at < end ? at + 1 : end;
}

static const char *skip_space(const char *at, const char *end)
{
    while (at < end && isspace((unsigned char)*at)) at++;
    return at;
}

/* The end of the format string of the next gpu.printf from *at on, or NULL. *at is moved behind it. */
static const char *next_printf(const char **at, const char *end)
{
    static const char name[] = "gpu.printf";
    if (!memmem(*at, (size_t)(end - *at), name, strlen(name))) {
        *at = end;
        return NULL;
    }
    for (const char *p = *at; p < end;) {
        if (*p == '"') {
            p = skip_string(p, end);
        } else if (*p == '/' && p + 1 < end && p[1] == '/') {
            const char *line = memchr(p, '\n', (size_t)(end - p));
            p = line ? line + 1 : end;
        } else if (cute_is_word(*p, "$.-") || *p == '%' || *p == '@' || *p == '#' || *p == '!' || *p == '^') {
            const char *start = p++;
            while (p < end && cute_is_word(*p, "$.-")) p++;
            if ((size_t)(p - start) != strlen(name) || memcmp(start, name, strlen(name))) continue;
            const char *format = skip_space(p, end);
            if (format >= end || *format != '"') continue;
            return *at = skip_string(format, end);
        } else {
            p++;
        }
    }
    *at = end;
    return NULL;
}

void cute_spellings_read(char *text, size_t length)
{
    const char *at = text, *end = text + length, *found;
    while ((found = next_printf(&at, end))) {
        const char *comma = skip_space(found, end);
        if (comma < end && *comma == ',') text[comma - text] = ' ';
    }
}

void cute_spellings_write(const char *text, size_t length, cute_buffer *out)
{
    const char *at = text, *end = text + length, *done = text, *found;
    while ((found = next_printf(&at, end))) {
        /* Printed arguments stand on the line of their format; the next line may begin with a value of its
         * own. */
        const char *argument = found;
        while (argument < end && *argument == ' ') argument++;
        if (argument == end || *argument != '%') continue;
        cute_buffer_append(out, done, (size_t)(found - done));
        cute_buffer_puts(out, ",");
        done = found;
    }
    cute_buffer_append(out, done, (size_t)(end - done));
}
