/* Collects messages. Each one is a single block that owns its strings; rendering is in render.c. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cute/base.h"
#include "lib/base/diag.h"
#include "lib/base/list.h"

struct cute_diag {
    cute_message *messages;
    size_t count, capacity, errors;
    bool lost; /* a message could not be stored */
    void (*heard)(void *context, const cute_message *message);
    void *context;
};

cute_diag *cute_diag_create(void)
{
    return calloc(1, sizeof(cute_diag));
}

/* The block of a message starts at its text. */
static void drop_messages(cute_diag *diag)
{
    for (size_t i = 0; i < diag->count; i++) free((char *)(uintptr_t)diag->messages[i].text);
    free(diag->messages);
}

void cute_diag_destroy(cute_diag *diag)
{
    if (!diag) return;
    drop_messages(diag);
    free(diag);
}

void cute_diag_clear(cute_diag *diag)
{
    if (!diag) return;
    drop_messages(diag);
    *diag = (cute_diag){.heard = diag->heard, .context = diag->context};
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
    return diag && index < diag->count ? &diag->messages[index] : NULL;
}

bool cute_diag_lost(const cute_diag *diag)
{
    return diag && diag->lost;
}

CUTE_PRINTF(4, 0)
static bool store(cute_diag *diag, cute_severity severity, const cute_place *place, const char *format,
                  va_list args)
{
    if (!cute_heap_more(&diag->messages, diag->count, &diag->capacity, sizeof *diag->messages, 8))
        return false;
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
    cute_message *message = &diag->messages[diag->count++];
    *message = (cute_message){.severity = severity, .text = block};
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
    /* Counted even if it can't be stored: callers ask for errors to decide. */
    if (severity == CUTE_ERROR) diag->errors++;
    if (!store(diag, severity, place, format, args))
        diag->lost = true;
    else if (diag->heard)
        diag->heard(diag->context, &diag->messages[diag->count - 1]);
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
