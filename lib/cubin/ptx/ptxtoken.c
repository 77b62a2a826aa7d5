/* Splits PTX into tokens. */
#include "lib/cubin/ptx/ptxtoken.h"

#include <ctype.h>
#include <string.h>

#include "lib/base/text/chars.h"

static void skip_blank(const char **at, const char *stop)
{
    while (*at < stop) {
        size_t left = (size_t)(stop - *at);
        if (isspace((unsigned char)**at)) {
            ++*at;
        } else if (left > 1 && (*at)[0] == '/' && (*at)[1] == '/') {
            const char *end = memchr(*at, '\n', left);
            *at = end ? end : stop;
        } else if (left > 1 && (*at)[0] == '/' && (*at)[1] == '*') {
            const char *end = memmem(*at + 2, left - 2, "*/", 2);
            *at = end ? end + 2 : stop;
        } else {
            return;
        }
    }
}

cute_ptx_token cute_ptx_next(const char **at, const char *stop)
{
    skip_blank(at, stop);
    cute_ptx_token t = {*at, 0};
    if (*at == stop) return t;
    if (**at == '"') {
        const char *end = memchr(*at + 1, '"', (size_t)(stop - *at - 1));
        *at = end ? end + 1 : stop;
    } else if (cute_is_word(**at, "$%.")) {
        /* ".param" and "%r1" are one token, "a.b" too; "0;" is not. */
        for (++*at; *at < stop && cute_is_word(**at, "$%.");) ++*at;
    } else {
        ++*at;
    }
    t.length = (size_t)(*at - t.at);
    return t;
}

bool cute_ptx_token_is(cute_ptx_token token, const char *text)
{
    return strlen(text) == token.length && memcmp(token.at, text, token.length) == 0;
}

bool cute_ptx_token_is_name(cute_ptx_token token)
{
    return token.length && cute_is_word(*token.at, "$%") && !cute_is_digit(*token.at) &&
           !memchr(token.at, '.', token.length);
}
