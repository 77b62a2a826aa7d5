/* Scans text without parsing: an operation ends at the end of a line with balanced brackets, or before its body. */
#include "lib/report/module/launchsites.h"
#include "lib/base/text/chars.h"

#include <ctype.h>
#include <string.h>

static const char *const operations[] = {"gpu.launch_func", "gpu.launch", "cuda.launch_ex", "cute.launch"};

/* The length of the operation name at `at`; 0: none. */
static size_t name_at(const char *text, const char *at, const char *stop)
{
    if (at > text && cute_is_word(at[-1], ".")) return 0;
    for (size_t i = 0; i < sizeof operations / sizeof *operations; i++) {
        size_t length = strlen(operations[i]);
        if ((size_t)(stop - at) > length && memcmp(at, operations[i], length) == 0 &&
            !cute_is_word(at[length], "."))
            return length;
    }
    return 0;
}

/* The end of the operation that begins at `at`. */
static const char *find_end(const char *at, const char *stop)
{
    int depth = 0;
    for (; at < stop; at++) {
        if (*at == '"') {
            for (at++; at < stop && *at != '"'; at++)
                if (*at == '\\') at++;
            if (at >= stop) return stop;
        } else if (strchr("([<", *at) && *at) {
            depth++;
        } else if (*at == '-' && at + 1 < stop && at[1] == '>') {
            at++;
        } else if (strchr(")]>", *at) && *at) {
            depth--;
        } else if (*at == '{' && depth <= 0) {
            return at;
        } else if (*at == '\n' && depth <= 0) {
            /* `blocks in`, `threads in`, `args(` may be on separate lines. */
            const char *next = at;
            while (next < stop && isspace((unsigned char)*next)) next++;
            static const char *const going_on[] = {
                "blocks",    "threads", "clusters", "args",  "dynamic_shared_memory_size",
                "workgroup", "private", ":",        "async", "["};
            bool more = false;
            for (size_t i = 0; i < sizeof going_on / sizeof *going_on; i++) {
                size_t length = strlen(going_on[i]);
                more = more || ((size_t)(stop - next) > length && memcmp(next, going_on[i], length) == 0);
            }
            if (!more) return at;
        }
    }
    return stop;
}

size_t cute_launch_sites(const char *label, const char *text, size_t length, cute_buffer *out)
{
    const char *stop = text + length;
    size_t found = 0, line = 1;
    for (const char *at = text; at < stop; at++) {
        if (*at == '\n') line++;
        if (*at == '"') { /* the name in generic form; other strings are skipped */
            size_t quoted = at + 1 < stop ? name_at(text, at + 1, stop) : 0;
            if (!quoted || at[1 + quoted] != '"') {
                for (at++; at < stop && *at != '"'; at++) {
                    if (*at == '\\')
                        at++;
                    else if (*at == '\n')
                        line++;
                }
                continue;
            }
            at++;
        }
        if (*at == '/' && at + 1 < stop && at[1] == '/') {
            const char *end = memchr(at, '\n', (size_t)(stop - at));
            if (!end) break;
            at = end - 1;
            continue;
        }
        size_t name = name_at(text, at, stop);
        if (!name) continue;
        const char *begin = at, *end = find_end(at[name] == '"' ? at + name + 1 : at, stop);
        cute_buffer_printf(out, "%s:%zu: ", label, line);
        bool blank = false;
        for (const char *c = begin; c < end; c++) { /* on one line */
            if (isspace((unsigned char)*c)) {
                blank = true;
                line += *c == '\n';
                continue;
            }
            if (blank) cute_buffer_putc(out, ' ');
            blank = false;
            cute_buffer_putc(out, *c);
        }
        cute_buffer_putc(out, '\n');
        found++;
        at = end - 1;
    }
    return found;
}
