/* See include.h. */
#include "lib/base/text/include.h"

#include <ctype.h>
#include <string.h>
#include <sys/stat.h>

#include "lib/base/list.h"
#include "lib/base/system/cache.h"
#include "lib/base/system/file.h"

enum { MAX_INCLUDE_DEPTH = 64, MAX_INCLUDE_FILES = 10000, MAX_INCLUDE_BYTES = 256 << 20 };
static const char word[] = "//!include";

typedef struct joining {
    cute_sources *sources;
    cute_buffer *out;
    cute_diag *diag;
    struct stat which[MAX_INCLUDE_DEPTH + 2]; /* the chain of open files, to detect recursion */
    size_t depth;
} joining;

/* A line of the text; if it is an include line, the range of the file name. */
typedef struct line {
    size_t begin, end; /* without the end of the line */
    size_t name, name_length;
    bool is_include, quoted;
} line;

static line read_line(const char *text, size_t length, size_t begin)
{
    const char *stop = memchr(text + begin, '\n', length - begin);
    line l = {.begin = begin, .end = stop ? (size_t)(stop - text) : length};
    size_t at = begin, last = l.end;
    while (at < l.end && isblank((unsigned char)text[at])) at++;
    if (l.end - at < sizeof word - 1 || memcmp(text + at, word, sizeof word - 1) != 0) return l;
    at += sizeof word - 1;
    if (at < l.end && !isspace((unsigned char)text[at]) && text[at] != '"') return l;
    l.is_include = true;
    while (at < l.end && isblank((unsigned char)text[at])) at++;
    while (last > at && isspace((unsigned char)text[last - 1])) last--;
    l.quoted = last - at > 2 && text[at] == '"' && text[last - 1] == '"' &&
               !memchr(text + at + 1, '"', last - at - 2) && !memchr(text + at, 0, last - at);
    l.name = l.quoted ? at + 1 : at;
    l.name_length = l.quoted ? last - at - 2 : last - at;
    return l;
}

static cute_place place_in_file(const cute_source_file *file, size_t offset, size_t length)
{
    cute_place place = cute_place_at(file->name, file->text, file->length, offset);
    place.length = length ? (int)length : 1;
    return place;
}

static bool is_file(const char *path)
{
    struct stat info;
    return path && stat(path, &info) == 0 && S_ISREG(info.st_mode);
}

/* Searches the folder of the including file, then the include folders; NULL if not found. */
static const char *find_include_file(const cute_sources *s, const cute_source_file *by, const char *name)
{
    const char *slash = strrchr(by->name, '/'), *path = name;
    if (slash && *name != '/')
        path = cute_arena_printf(s->arena, "%.*s/%s", (int)(slash - by->name), by->name, name);
    if (is_file(path)) return path;
    for (size_t i = 0; i < s->folder_count && *name != '/'; i++) {
        path = cute_arena_printf(s->arena, "%s/%s", s->folders[i], name);
        if (is_file(path)) return path;
    }
    return NULL;
}

static cute_status fail_missing(const joining *j, const cute_source_file *by, const line *l, const char *name)
{
    const cute_sources *s = j->sources;
    cute_place place = place_in_file(by, l->name, l->name_length);
    const char *slash = strrchr(by->name, '/');
    cute_buffer folders = {0};
    cute_fail(j->diag, CUTE_INVALID, &place, "cannot find '%s'", name);
    if (*name == '/') return CUTE_INVALID;
    cute_buffer_printf(&folders, "'%.*s'", slash ? (int)(slash - by->name) : 1, slash ? by->name : ".");
    for (size_t i = 0; i < s->folder_count; i++) cute_buffer_printf(&folders, ", '%s'", s->folders[i]);
    cute_note(j->diag, NULL, "searched in %s; add a folder with -I DIR", cute_buffer_text(&folders));
    cute_buffer_release(&folders);
    return CUTE_INVALID;
}

static cute_status add_part(joining *j, size_t file, size_t from)
{
    cute_sources *s = j->sources;
    if (!cute_arena_more(s->arena, &s->parts, s->part_count, &s->part_capacity, sizeof *s->parts, 16))
        return cute_fail_memory(j->diag);
    s->parts[s->part_count++] = (cute_source_part){j->out->length, file, from};
    return CUTE_OK;
}

static cute_status add_file(joining *j, const char *path, size_t by, const line *l, size_t *out)
{
    cute_sources *s = j->sources;
    struct stat *info = &j->which[j->depth + 1];
    cute_place place = place_in_file(&s->files[by], l->name, l->name_length);
    cute_buffer bytes = {0};
    if (stat(path, info) != 0)
        return cute_fail(j->diag, CUTE_INVALID, &place, "'%s' was removed while it was read", path);
    for (size_t i = 0; i <= j->depth; i++)
        if (j->which[i].st_ino && j->which[i].st_ino == info->st_ino && j->which[i].st_dev == info->st_dev)
            return cute_fail(j->diag, CUTE_INVALID, &place, "'%s' includes itself", path);
    if (s->file_count > MAX_INCLUDE_FILES)
        return cute_fail(j->diag, CUTE_INVALID, &place, "more than %d files are included", MAX_INCLUDE_FILES);
    if (j->depth == MAX_INCLUDE_DEPTH)
        return cute_fail(j->diag, CUTE_INVALID, &place, "includes nest deeper than %d levels",
                         MAX_INCLUDE_DEPTH);
    cute_status status = cute_file_read(path, &bytes, j->diag);
    const char *text = status ? NULL : cute_arena_copy(s->arena, cute_buffer_text(&bytes), bytes.length);
    size_t length = bytes.length;
    cute_buffer_release(&bytes);
    if (status) return status;
    if (!text || !cute_arena_more(s->arena, &s->files, s->file_count, &s->file_capacity, sizeof *s->files, 8))
        return cute_fail_memory(j->diag);
    if (length + j->out->length > MAX_INCLUDE_BYTES)
        return cute_fail(j->diag, CUTE_INVALID, &place, "the included files exceed %d MiB",
                         MAX_INCLUDE_BYTES >> 20);
    *out = s->file_count;
    s->files[s->file_count++] = (cute_source_file){path, text, length, by, l->begin};
    return CUTE_OK;
}

/* Finds the next include line at or after `at`; false at the end. */
static bool next_line(const cute_source_file *file, size_t at, line *out)
{
    while (at < file->length) {
        const char *found = memmem(file->text + at, file->length - at, word, sizeof word - 1);
        if (!found) return false;
        const char *begin = memrchr(file->text, '\n', (size_t)(found - file->text));
        *out = read_line(file->text, file->length, begin ? (size_t)(begin - file->text) + 1 : 0);
        if (out->is_include) return true;
        at = out->end;
    }
    return false;
}

static cute_status join_file(joining *j, size_t index);

static cute_status include_line(joining *j, size_t by, const line *l)
{
    const cute_source_file *file = &j->sources->files[by];
    const char *name = cute_arena_copy(j->sources->arena, file->text + l->name, l->name_length);
    if (!name) return cute_fail_memory(j->diag);
    if (!l->quoted) {
        cute_place place = place_in_file(file, l->name, l->name_length);
        return cute_fail(j->diag, CUTE_INVALID, &place, "expected a file in quotes: %s \"FILE\"", word);
    }
    const char *path = find_include_file(j->sources, file, name);
    if (!path) return fail_missing(j, file, l, name);
    size_t index = 0;
    CUTE_TRY(add_file(j, path, by, l, &index));
    j->depth++;
    cute_status status = join_file(j, index);
    j->depth--;
    /* The replaced line ended with a newline, even if the last line of the file does not. */
    const cute_buffer *out = j->out;
    if (!status && out->length && out->data[out->length - 1] != '\n') cute_buffer_putc(j->out, '\n');
    return status;
}

static cute_status join_file(joining *j, size_t index)
{
    cute_source_file file = j->sources->files[index];
    size_t at = 0;
    line l;
    while (next_line(&file, at, &l)) {
        CUTE_TRY(add_part(j, index, at));
        cute_buffer_append(j->out, file.text + at, l.begin - at);
        CUTE_TRY(include_line(j, index, &l));
        at = l.end < file.length ? l.end + 1 : file.length;
    }
    if (index || at) CUTE_TRY(add_part(j, index, at));
    if (index || at) cute_buffer_append(j->out, file.text + at, file.length - at);
    return cute_buffer_ok(j->out) ? CUTE_OK : cute_fail_memory(j->diag);
}

cute_status cute_include(cute_sources *sources, const char *label, const char *text, size_t length,
                         cute_buffer *out, cute_diag *diag)
{
    cute_sources *s = sources;
    joining j = {.sources = s, .out = out, .diag = diag};
    if (!cute_arena_more(s->arena, &s->files, s->file_count, &s->file_capacity, sizeof *s->files, 8))
        return cute_fail_memory(diag);
    s->files[s->file_count++] = (cute_source_file){.name = label, .text = text, .length = length};
    if (stat(label, &j.which[0]) != 0) j.which[0] = (struct stat){0};
    return join_file(&j, 0);
}

const cute_source_file *cute_sources_find(const cute_sources *sources, size_t offset, size_t *from)
{
    size_t low = 0, high = sources->part_count;
    *from = offset;
    if (!high) return &sources->files[0];
    while (low + 1 < high) { /* the last part that begins at or before `offset` */
        size_t middle = low + (high - low) / 2;
        if (sources->parts[middle].to <= offset)
            low = middle;
        else
            high = middle;
    }
    const cute_source_part *part = &sources->parts[low];
    const cute_source_file *file = &sources->files[part->file];
    *from = part->from + (offset - part->to);
    if (*from > file->length) *from = file->length;
    return file;
}

cute_place cute_sources_place(const cute_sources *sources, size_t offset)
{
    size_t from;
    const cute_source_file *file = cute_sources_find(sources, offset, &from);
    return cute_place_at(file->name, file->text, file->length, from);
}

bool cute_include_key(const char *label, const char *text, size_t length, const char *const *folders,
                      size_t folder_count, cute_buffer *key)
{
    cute_sources s = {.arena = cute_arena_create(), .folders = folders, .folder_count = folder_count};
    cute_buffer joined = {0};
    bool ok = s.arena && cute_include(&s, label, text, length, &joined, NULL) == CUTE_OK;
    for (size_t i = 1; ok && i < s.file_count; i++)
        cute_cache_key_bytes(key, s.files[i].name, strlen(s.files[i].name) + 1);
    if (ok && s.part_count) cute_cache_key_bytes(key, cute_buffer_text(&joined), joined.length);
    cute_buffer_release(&joined);
    cute_arena_destroy(s.arena);
    return ok;
}
