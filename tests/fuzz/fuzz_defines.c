/* MLIR's text before MLIR sees it: -D, `${NAME}` and lines //!include. A text or a reason; every byte of the result has a place in
 * a file. The first line of the input is the list of -D; further files begin with a line "@@@ NAME". */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/base/diagnostics/diag.h"
#include "lib/base/system/file.h"
#include "lib/ir/text/defines.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { DEFINES = 8, FILES = 8 };
static const char marker[] = "\n@@@ ";
static const char *folder, *files[FILES]; /* called 0 to 7 */
static cute_arena *process;

static void leave(void)
{
    cute_temp_remove(folder);
    cute_arena_destroy(process);
}

static void begin(void)
{
    process = cute_arena_create();
    if (cute_temp_directory(process, &folder, NULL) != CUTE_OK) abort();
    for (int n = 0; n < FILES; n++) files[n] = cute_arena_printf(process, "%s/%d", folder, n);
    atexit(leave);
}

/* Cuts the files off the text; how long the rest is. */
static size_t write_files(const char *text, size_t length)
{
    size_t rest = length;
    for (const char *at = text, *end = text + length;
         (at = memmem(at, (size_t)(end - at), marker, sizeof marker - 1));) {
        if ((size_t)(at - text) < rest) rest = (size_t)(at - text);
        const char *line = at + sizeof marker - 1, *stop = memchr(line, '\n', (size_t)(end - line));
        at = line;
        if (!stop || line == end || *line < '0' || *line >= '0' + FILES) continue;
        const char *next = memmem(stop, (size_t)(end - stop), marker, sizeof marker - 1);
        size_t size = (size_t)((next ? next : end) - stop - 1);
        if (next == stop) size = 0;
        if (cute_file_write(files[*line - '0'], stop + 1, size, NULL) != CUTE_OK) abort();
        at = stop;
    }
    return rest;
}

static void check(const cute_sources *sources, size_t length, const cute_buffer *out, const cute_edits *edits)
{
    size_t to = 0, from = 0, at;
    for (size_t n = 0; n < edits->count; n++) {
        const cute_edit *e = &edits->items[n];
        if (e->from < from || e->to < to || e->from + e->from_length > length ||
            e->to + e->to_length > out->length)
            __builtin_trap();
        from = e->from + e->from_length;
        to = e->to + e->to_length;
    }
    for (size_t offset = 0; offset <= length; offset += 1 + length / 50) {
        const cute_source_file *file = cute_sources_find(sources, offset, &at);
        cute_place place = cute_sources_place(sources, offset);
        if (!file || at > file->length || place.line < 1 || place.column < 1) __builtin_trap();
    }
}

static void look(const char *text, size_t length, const cute_define *defines, size_t count, cute_diag *diag)
{
    cute_arena *arena = cute_arena_create();
    cute_buffer joined = {0}, out = {0}, key = {0};
    cute_sources sources = {.arena = arena, .folders = &folder, .folder_count = 1};
    cute_edits edits = {.arena = arena};
    size_t before = cute_diag_errors(diag);
    cute_status status = cute_include(&sources, "fuzz.mlir", text, length, &joined, diag);
    if (status == CUTE_OK) {
        bool any = sources.part_count != 0;
        const char *whole = any ? cute_buffer_text(&joined) : text;
        size_t size = any ? joined.length : length;
        status = cute_defines_apply(&sources, whole, size, defines, count, &out, &edits, diag);
        if (status == CUTE_OK) check(&sources, size, &out, &edits);
    }
    if ((status != CUTE_OK) != (cute_diag_errors(diag) != before)) __builtin_trap();
    (void)!cute_include_key("fuzz.mlir", text, length, &folder, 1, &key);
    cute_buffer_release(&joined);
    cute_buffer_release(&out);
    cute_buffer_release(&key);
    cute_arena_destroy(arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    /* Files of this machine are none of the input. */
    if (memmem(data, size, "/proc", 5) || memmem(data, size, "/sys", 4) || memmem(data, size, "/dev", 4))
        return 0;
    if (!process) begin();
    const char *text = (const char *)data, *stop = memchr(text, '\n', size);
    const char *words[DEFINES];
    size_t count = 0, line = stop ? (size_t)(stop - text) : 0;
    cute_arena *arena = cute_arena_create();
    cute_define *defines = NULL;
    cute_diag *diag = cute_diag_create();
    for (size_t at = 0, next; at < line && count < DEFINES; at = next + 1) {
        const char *blank = memchr(text + at, ' ', line - at);
        next = blank ? (size_t)(blank - text) : line;
        words[count++] = cute_arena_copy(arena, text + at, next - at);
    }
    cute_status status = cute_defines_parse(arena, words, count, &defines, diag);
    if ((status != CUTE_OK) != (cute_diag_errors(diag) != 0)) __builtin_trap();
    if (status != CUTE_OK) count = 0;
    /* In a block of its own, so that what is read behind it is seen. */
    size_t rest = write_files(text + line, size - line);
    char *own = malloc(rest + 1);
    memcpy(own, text + line, rest);
    char *exact = realloc(own, rest ? rest : 1);
    look(exact ? exact : own, rest, defines, count, diag);
    free(exact ? exact : own);
    free(cute_diag_render(diag, CUTE_DIAG_TEXT, false));
    cute_diag_destroy(diag);
    cute_arena_destroy(arena);
    return 0;
}
