/* See nesting.h. Counts brackets; the parser checks that they match. */
#include "lib/ir/text/nesting.h"

#include <string.h>

/* `<` and `>` are brackets around types, but not in `->`, `<=`, `>=` and `==>`. */
static int nesting_step(const char *text, size_t length, size_t i)
{
    char before = i ? text[i - 1] : 0, after = i + 1 < length ? text[i + 1] : 0;
    switch (text[i]) {
    case '(':
    case '[':
    case '{': return 1;
    case ')':
    case ']':
    case '}': return -1;
    case '<': return after != '=';
    case '>': return before == '-' || before == '=' || after == '=' ? 0 : -1;
    default: return 0;
    }
}

/* Most characters are outside brackets, strings and comments: skip them quickly. */
static const bool special[256] = {
    ['('] = true, ['['] = true, ['{'] = true, ['<'] = true, ['"'] = true,
    [')'] = true, [']'] = true, ['}'] = true, ['>'] = true, ['/'] = true,
};

cute_status cute_nesting_check(const cute_sources *sources, const char *text, size_t length, cute_diag *diag)
{
    long depth = 0;
    for (size_t i = 0; i < length; i++) {
        if (!special[(unsigned char)text[i]]) continue;
        if (text[i] == '"') {
            for (i++; i < length && text[i] != '"' && text[i] != '\n'; i++)
                if (text[i] == '\\') i++;
        } else if (text[i] == '/' && i + 1 < length && text[i + 1] == '/') {
            const char *end = memchr(text + i, '\n', length - i);
            i = end ? (size_t)(end - text) : length;
        } else {
            depth += nesting_step(text, length, i);
            if (depth < 0) depth = 0;
        }
        if (depth <= CUTE_MAX_NESTING) continue;
        cute_place place = cute_sources_place(sources, i);
        return cute_fail(diag, CUTE_INVALID, &place, "brackets nest deeper than %d levels", CUTE_MAX_NESTING);
    }
    return CUTE_OK;
}
