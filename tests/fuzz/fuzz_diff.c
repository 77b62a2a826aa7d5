/* What `cute-dump diff` compares: dump folders with any REPORT.json, texts of MLIR, modules. The text is a list of files: a
 * line "@@@ a/NAME" or "@@@ b/NAME" begins one in either folder, "@@@ a" and "@@@ b" are the operands themselves. */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/base/diagnostics/diag.h"
#include "lib/base/system/file.h"
#include "lib/report/folder/diff.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { FILES = 16 };
static const char marker[] = "@@@ ";
static cute_arena *arena;
static const char *scratch;
/* Names in the working directory, so that a run is as the one before; files: of operands that are no folders. */
static const char *const folders[2] = {"a", "b"}, *const files[2] = {"a.file", "b.file"};

static void leave(void)
{
    for (int side = 0; side < 2; side++) cute_temp_remove(folders[side]);
    cute_temp_remove(scratch);
    cute_arena_destroy(arena);
}

static void begin(void)
{
    arena = cute_arena_create();
    /* A program diff, but no program of CUDA. */
    setenv("PATH", "/usr/bin:/bin", 1);
    unsetenv("CUDA_HOME");
    unsetenv("CUDA_PATH");
    if (cute_temp_directory(arena, &scratch, NULL) != CUTE_OK || chdir(scratch) != 0) abort();
    for (int side = 0; side < 2; side++)
        if (mkdir(folders[side], 0700) != 0) abort();
    atexit(leave);
}

static bool is_name(const char *text, size_t length)
{
    if (!length || length > 40 || *text == '.') return false;
    for (size_t i = 0; i < length; i++)
        if (!strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_", text[i]) || !text[i])
            return false;
    return true;
}

/* The next file of the list, written; its path, NULL: it has none. */
static const char *write_next(cute_arena *own, const char **at, const char *end, bool *whole)
{
    const char *line = *at + sizeof marker - 1, *stop = memchr(line, '\n', (size_t)(end - line)), *path;
    if (!stop) stop = end;
    const char *text = stop < end ? stop + 1 : end, *next = text;
    while (next < end && !((size_t)(end - next) >= sizeof marker - 1 && (next == text || next[-1] == '\n') &&
                           !memcmp(next, marker, sizeof marker - 1)))
        next++;
    *at = next;
    int side = line < end ? *line - 'a' : -1;
    if (side < 0 || side > 1) return NULL;
    if (stop - line == 1) {
        whole[side] = true;
        path = files[side];
    } else if (line[1] == '/' && is_name(line + 2, (size_t)(stop - line) - 2)) {
        path = cute_arena_printf(own, "%s/%.*s", folders[side], (int)(stop - line) - 2, line + 2);
    } else {
        return NULL;
    }
    if (!path || cute_file_write(path, text, (size_t)(next - text), NULL) != CUTE_OK) abort();
    return path;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *at = (const char *)data, *end = at + size, *written[FILES];
    size_t count = 0;
    bool whole[2] = {false, false};
    if (!arena) begin();
    if (size < sizeof marker || memcmp(at, marker, sizeof marker - 1) != 0) return 0;
    cute_arena *own = cute_arena_create();
    while (at < end && count < FILES)
        if ((written[count] = write_next(own, &at, end, whole)) != NULL) count++;
    cute_diag *diag = cute_diag_create();
    cute_buffer out = {0};
    json_t *difference;
    cute_status status = cute_diff_make(whole[0] ? files[0] : folders[0], whole[1] ? files[1] : folders[1],
                                        NULL, "/nowhere", &difference, diag);
    if ((status != CUTE_OK) != (cute_diag_errors(diag) != 0)) __builtin_trap();
    if (status == CUTE_OK) {
        cute_diff_print(difference, size % 2, &out);
        cute_diff_html(difference, &out);
        cute_json_dump(difference, true, &out);
        json_decref(difference);
    }
    for (size_t n = 0; n < count; n++) unlink(written[n]);
    cute_buffer_release(&out);
    cute_diag_destroy(diag);
    cute_arena_destroy(own);
    return 0;
}
