/* Source files, read on demand, with the start of each line. */
#include "lib/report/code/source.h"

#include <ctype.h>
#include <string.h>

#include "lib/base/list.h"
#include "lib/base/system/file.h"

struct cute_source {
    const char *file;
    cute_buffer text; /* empty: the file does not exist */
    size_t *starts, count, capacity;
    cute_source *next;
};

static cute_source *open_source(cute_arena *arena, const char *file)
{
    cute_source *s = cute_arena_alloc(arena, sizeof *s);
    if (!s) return NULL;
    s->file = file;
    if (*file != '<' && cute_file_exists(file)) (void)!cute_file_read(file, &s->text, NULL);
    for (size_t at = 0; at < s->text.length;) {
        if (!cute_arena_more(arena, &s->starts, s->count, &s->capacity, sizeof *s->starts, 64)) break;
        s->starts[s->count++] = at;
        const char *end = memchr(s->text.data + at, '\n', s->text.length - at);
        at = end ? (size_t)(end + 1 - s->text.data) : s->text.length;
    }
    return s;
}

const char *cute_source_line(cute_arena *arena, cute_source **all, const char *file, int64_t line,
                             size_t *length)
{
    cute_source *s = *all;
    *length = 0;
    while (s && s->file != file && strcmp(s->file, file) != 0) s = s->next;
    if (!s) {
        if (!(s = open_source(arena, file))) return NULL;
        s->next = *all;
        *all = s;
    }
    if (line < 1 || (uint64_t)line > s->count) return NULL;
    size_t from = s->starts[line - 1], to = (uint64_t)line < s->count ? s->starts[line] : s->text.length;
    while (from < to && isspace((unsigned char)s->text.data[from])) from++;
    while (to > from && isspace((unsigned char)s->text.data[to - 1])) to--;
    *length = to - from;
    return s->text.data + from;
}

void cute_source_release(cute_source *all)
{
    for (; all; all = all->next) cute_buffer_release(&all->text);
}
