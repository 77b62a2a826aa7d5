/* The table devices.def by name and by compute capability. */
#include "lib/base/devices/devices.h"

#include <ctype.h>
#include <string.h>

static const cute_gpu rows[] = {
#define DEVICE(...) {__VA_ARGS__},
#include "lib/base/devices/devices.def"
};
enum { ROWS = sizeof rows / sizeof *rows };

const cute_gpu *cute_gpu_at(size_t n)
{
    return n < ROWS ? &rows[n] : NULL;
}

const cute_gpu *cute_gpu_of_arch(int arch)
{
    for (size_t n = 0; n < ROWS; n++)
        if (rows[n].arch == arch) return &rows[n];
    return NULL;
}

/* Whether `text` contains the whole word `word`, ignoring case: A10 does not match A100. */
static bool has_word(const char *text, const char *word)
{
    size_t length = strlen(word);
    for (const char *at = text; *at && length; at++) {
        size_t n = 0;
        while (n < length && tolower((unsigned char)at[n]) == tolower((unsigned char)word[n])) n++;
        if (n == length && !(at > text && isalnum((unsigned char)at[-1])) && !isalnum((unsigned char)at[n]))
            return true;
    }
    return false;
}

const cute_gpu *cute_gpu_in_name(const char *name)
{
    const cute_gpu *best = NULL;
    for (size_t n = 0; n < ROWS; n++)
        if (has_word(name, rows[n].name) && (!best || strlen(rows[n].name) > strlen(best->name)))
            best = &rows[n];
    return best;
}

const cute_gpu *cute_gpu_with_word(const char *word)
{
    for (size_t n = 0; n < ROWS; n++)
        if (has_word(rows[n].name, word)) return &rows[n];
    return NULL;
}
