/* Collects messages. Each is a single block that owns its strings. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cute/base.h"
#include "lib/base/diagnostics/diag.h"
#include "lib/base/list.h"

typedef struct record {
    cute_message message; /* the block starts at its text */
    char *around;         /* source lines, the first has number `first`; NULL: unknown */
    int first;
} record;

struct cute_diag {
    record *records;
    size_t count, capacity, errors;
    bool lost; /* a message could not be stored */
    void (*heard)(void *context, const cute_message *message);
    void *context;
    char *facts[CUTE_FACT_COUNT];
};

cute_diag *cute_diag_create(void)
{
    return calloc(1, sizeof(cute_diag));
}

static void drop_messages(cute_diag *diag)
{
    for (size_t i = 0; i < diag->count; i++) {
        free((char *)(uintptr_t)diag->records[i].message.text);
        free(diag->records[i].around);
    }
    free(diag->records);
}

void cute_diag_destroy(cute_diag *diag)
{
    if (!diag) return;
    drop_messages(diag);
    for (size_t i = 0; i < CUTE_FACT_COUNT; i++) free(diag->facts[i]);
    free(diag);
}

void cute_diag_know(cute_diag *diag, cute_fact fact, const char *value)
{
    if (!diag) return;
    char *copy = value ? strdup(value) : NULL;
    free(diag->facts[fact]);
    diag->facts[fact] = copy;
}

const char *cute_diag_fact(const cute_diag *diag, cute_fact fact)
{
    return diag ? diag->facts[fact] : NULL;
}

void cute_diag_clear(cute_diag *diag)
{
    if (!diag) return;
    drop_messages(diag);
    diag->records = NULL;
    diag->count = diag->capacity = diag->errors = 0;
    diag->lost = false;
}

void cute_diag_listen(cute_diag *diag, void (*heard)(void *context, const cute_message *message),
                      void *context)
{
    diag->heard = heard;
    diag->context = context;
}

size_t cute_diag_count(const cute_diag *diag)
{
    return diag ? diag->count : 0;
}

size_t cute_diag_errors(const cute_diag *diag)
{
    return diag ? diag->errors : 0;
}

const cute_message *cute_diag_get(const cute_diag *diag, size_t index)
{
    return diag && index < diag->count ? &diag->records[index].message : NULL;
}

bool cute_diag_lost(const cute_diag *diag)
{
    return diag && diag->lost;
}

void cute_diag_show(cute_diag *diag, const char *source, size_t length)
{
    if (!diag || !diag->count || diag->lost) return;
    record *last = &diag->records[diag->count - 1];
    free(last->around);
    last->around = cute_lines_around(source, length, &last->message.place, &last->first);
}

const char *cute_diag_shown(const cute_diag *diag, size_t index, int *first)
{
    if (!diag || index >= diag->count) return NULL;
    *first = diag->records[index].first;
    return diag->records[index].around;
}

CUTE_PRINTF(4, 0)
static bool store_message(cute_diag *diag, cute_severity severity, const cute_place *place,
                          const char *format, va_list args)
{
    if (!cute_heap_more(&diag->records, diag->count, &diag->capacity, sizeof *diag->records, 8)) return false;
    va_list again;
    va_copy(again, args);
    int needed = vsnprintf(NULL, 0, format, args);
    size_t text = needed < 0 ? 0 : (size_t)needed + 1;
    size_t file = place && place->file ? strlen(place->file) + 1 : 0;
    size_t line = file && place->text ? place->text_length + 1 : 0;
    char *block = needed < 0 ? NULL : malloc(text + file + line);
    if (!block) {
        va_end(again);
        return false;
    }
    vsnprintf(block, text, format, again);
    va_end(again);
    record *added = &diag->records[diag->count++];
    *added = (record){.message = {.severity = severity, .text = block}};
    cute_message *message = &added->message;
    if (file) {
        message->place = *place;
        message->place.file = memcpy(block + text, place->file, file);
        message->place.text = NULL;
        message->place.text_length = 0;
    }
    if (line) {
        char *copy = block + text + file;
        if (line > 1) memcpy(copy, place->text, line - 1);
        copy[line - 1] = 0;
        message->place.text = copy;
        message->place.text_length = line - 1;
    }
    return true;
}

void cute_vreport(cute_diag *diag, cute_severity severity, const cute_place *place, const char *format,
                  va_list args)
{
    if (!diag) return;
    /* Counted even if it can't be stored: callers depend on the number of errors. */
    if (severity == CUTE_ERROR) diag->errors++;
    if (!store_message(diag, severity, place, format, args))
        diag->lost = true;
    else if (diag->heard)
        diag->heard(diag->context, &diag->records[diag->count - 1].message);
}

void cute_report(cute_diag *diag, cute_severity severity, const cute_place *place, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    cute_vreport(diag, severity, place, format, args);
    va_end(args);
}

cute_status cute_fail(cute_diag *diag, cute_status status, const cute_place *place, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    cute_vreport(diag, CUTE_ERROR, place, format, args);
    va_end(args);
    return status;
}

void cute_diag_code(cute_diag *diag, const char *code)
{
    if (diag && diag->count && !diag->lost) diag->records[diag->count - 1].message.code = code;
}

void cute_diag_append(cute_diag *diag, const cute_message *message)
{
    cute_report(diag, message->severity, &message->place, "%s", message->text);
    cute_diag_code(diag, message->code);
}

void cute_note(cute_diag *diag, const cute_place *place, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    cute_vreport(diag, CUTE_NOTE, place, format, args);
    va_end(args);
}

cute_status cute_fail_memory(cute_diag *diag)
{
    return cute_fail(diag, CUTE_SYSTEM, NULL, "out of memory");
}

cute_place cute_place_at(const char *file, const char *source, size_t source_length, size_t offset)
{
    if (offset > source_length) offset = source_length;
    size_t begin = 0, line = 1;
    for (const char *n; begin < offset && (n = memchr(source + begin, '\n', offset - begin)); line++)
        begin = (size_t)(n - source) + 1;
    const char *newline = begin < source_length ? memchr(source + begin, '\n', source_length - begin) : NULL;
    size_t end = newline ? (size_t)(newline - source) : source_length;
    if (end > begin && source[end - 1] == '\r') end--;
    size_t column = offset - begin + 1;
    return (cute_place){
        .file = file,
        .line = line > INT_MAX ? INT_MAX : (int)line,
        .column = column > INT_MAX ? INT_MAX : (int)column,
        .length = 1,
        .text = source ? source + begin : NULL,
        .text_length = end - begin,
    };
}
