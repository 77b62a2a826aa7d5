/* Finds the likely causes of an error by its text (causes.def), its settings, and the source lines around
 * it. */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "lib/base/diagnostics/diag.h"
#include "lib/base/system/file.h"

enum { CONTEXT_LINES = 2 /* lines on each side of a place */ };

#define NOTE   false, false
#define REPORT true, false
#define SILENT false, true
#define ROW(code, id, stage, reported, silent, pattern, likely, example, remedies)                           \
    {id, stage, pattern, likely, remedies, reported, code, example, silent},
static const cute_cause causes[] = {
#define C(code, id, stage, form, pattern, likely, example, remedies)                                         \
    ROW(code, id, stage, form, pattern, likely, example, remedies)
/* The names of checks are more specific than the patterns of errors. */
#include "lib/base/diagnostics/check_causes.def"

#include "lib/base/diagnostics/causes.def"
#undef C
};
enum { CAUSES = sizeof causes / sizeof *causes };

/* Whether `text` contains the parts of the line `pattern` between '*', in this order. */
static bool line_matches(const char *pattern, const char *text)
{
    for (;;) {
        size_t length = strcspn(pattern, "*\n");
        const char *found = memmem(text, strlen(text), pattern, length);
        if (!found) return false;
        if (pattern[length] != '*') return true;
        text = found + length;
        pattern += length + 1;
    }
}

static bool pattern_matches(const char *pattern, const char *text)
{
    for (; *pattern; pattern += strcspn(pattern, "\n"), pattern += *pattern == '\n')
        if (line_matches(pattern, text)) return true;
    return false;
}

const cute_cause *cute_cause_get(size_t index)
{
    return index < CAUSES ? &causes[index] : NULL;
}

const cute_cause *cute_cause_of(const char *text)
{
    for (size_t i = 0; text && i < CAUSES; i++)
        if (pattern_matches(causes[i].pattern, text)) return &causes[i];
    return NULL;
}

const cute_cause *cute_cause_find(const char *name)
{
    for (size_t i = 0; name && i < CAUSES; i++)
        if (!strcmp(causes[i].code, name) || !strcmp(causes[i].id, name)) return &causes[i];
    return NULL;
}

const cute_cause *cute_diag_cause(const cute_diag *diag, size_t index)
{
    const cute_message *message = cute_diag_get(diag, index);
    if (!message || (message->severity != CUTE_ERROR && message->severity != CUTE_WARNING)) return NULL;
    return message->code ? cute_cause_find(message->code) : cute_cause_of(message->text);
}

bool cute_diag_explain(const cute_diag *diag, size_t index, cute_explanation *out)
{
    const cute_message *message = cute_diag_get(diag, index);
    *out = (cute_explanation){.message = message};
    if (!message || message->severity != CUTE_ERROR) return false;
    out->cause = cute_diag_cause(diag, index);
    for (int i = 0; i < CUTE_FACT_COUNT; i++) out->facts[i] = cute_diag_fact(diag, i);
    return true;
}

char *cute_lines_around(const char *source, size_t length, const cute_place *place, int *first)
{
    const char *stop = source + length, *begin = NULL, *end = NULL;
    int line = 1, from = place->line > CONTEXT_LINES ? place->line - CONTEXT_LINES : 1;
    if (!length || !place->file || place->line <= 0 || !place->text) return NULL;
    bool same = false;
    for (const char *at = source; at && line - CONTEXT_LINES <= place->line; line++) {
        const char *newline = memchr(at, '\n', (size_t)(stop - at));
        end = newline ? newline : stop;
        if (line == from) begin = at;
        size_t here = (size_t)(end - at);
        if (line == place->line)
            same = here >= place->text_length && !memcmp(at, place->text, place->text_length) &&
                   (here == place->text_length || at[place->text_length] == '\r');
        at = newline ? newline + 1 : NULL;
    }
    *first = from;
    return begin && same ? strndup(begin, (size_t)(end - begin)) : NULL;
}

char *cute_diag_around(const cute_diag *diag, size_t index, int *first)
{
    const cute_message *message = cute_diag_get(diag, index);
    const char *shown = cute_diag_shown(diag, index, first);
    struct stat about;
    if (shown) return strdup(shown);
    if (!message || !message->place.file || message->place.line <= 0 || !message->place.text) return NULL;
    if (stat(message->place.file, &about) != 0 || !S_ISREG(about.st_mode)) return NULL;
    cute_buffer file = {0};
    char *lines = NULL;
    if (cute_file_read(message->place.file, &file, NULL) == CUTE_OK)
        lines = cute_lines_around(cute_buffer_text(&file), file.length, &message->place, first);
    cute_buffer_release(&file);
    return lines;
}
