/* Reads nvdisasm's listing:
 *     .section .text.vadd,"ax",@progbits
 *     //## File "/src/k.mlir", line 7
 *             [0010 in a comment]   LDC R0, c[0x0][0x218] ;
 *     .L_x_3: */
#include "lib/report/sass.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/demangle.h"
#include "lib/base/file.h"
#include "lib/base/list.h"
#include "lib/base/process.h"
#include "lib/toolkit/scratch.h"
#include "lib/toolkit/toolkit.h"

typedef struct span {
    const char *at;
    size_t length;
} span;

static bool starts(span line, const char *prefix, span *rest)
{
    size_t length = strlen(prefix);
    if (line.length < length || memcmp(line.at, prefix, length) != 0) return false;
    *rest = (span){line.at + length, line.length - length};
    return true;
}

static span trim(span s)
{
    while (s.length && isspace((unsigned char)*s.at)) s.at++, s.length--;
    while (s.length && isspace((unsigned char)s.at[s.length - 1])) s.length--;
    return s;
}

static cute_sass_function *add_function(cute_arena *arena, cute_sass *sass, span name)
{
    if (!cute_arena_more(arena, &sass->functions, sass->count, &sass->capacity, sizeof *sass->functions, 8))
        return NULL;
    cute_sass_function *f = &sass->functions[sass->count++];
    *f = (cute_sass_function){.name = cute_arena_copy(arena, name.at, name.length)};
    return f->name ? f : NULL;
}

static bool add_line(cute_arena *arena, cute_sass_function *f, const cute_sass_line *line)
{
    if (!cute_arena_more(arena, &f->lines, f->count, &f->capacity, sizeof *f->lines, 64)) return false;
    f->lines[f->count++] = *line;
    return line->text != NULL;
}

/* Digits up to the first other character. */
static int64_t number_at(span s, int base)
{
    char digits[24];
    size_t length = s.length < sizeof digits - 1 ? s.length : sizeof digits - 1;
    memcpy(digits, s.at, length);
    digits[length] = 0;
    return strtoll(digits, NULL, base);
}

/* "/src/k.mlir", line 7 ... */
static void read_place(cute_arena *arena, span rest, cute_sass_line *current)
{
    const char *end = rest.length ? memchr(rest.at, '"', rest.length) : NULL;
    span after;
    current->file = NULL;
    if (!end) return;
    const char *file = cute_arena_copy(arena, rest.at, (size_t)(end - rest.at));
    if (!starts((span){end, rest.length - (size_t)(end - rest.at)}, "\", line ", &after)) return;
    current->line = number_at(after, 10);
    current->file = file;
}

cute_status cute_sass_parse(cute_arena *arena, const char *text, size_t length, cute_sass *out,
                            cute_diag *diag)
{
    cute_sass_function *f = NULL;
    cute_sass_line current = {0};
    *out = (cute_sass){0};
    for (const char *at = text, *stop = text + length; at < stop;) {
        const char *end = memchr(at, '\n', (size_t)(stop - at));
        span line = trim((span){at, (size_t)((end ? end : stop) - at)}), rest;
        at = end ? end + 1 : stop;
        if (starts(line, ".section", &rest) && rest.length && isspace((unsigned char)*rest.at)) {
            rest = trim(rest);
            f = NULL;
            current = (cute_sass_line){0};
            if (!starts(rest, ".text.", &rest)) continue;
            const char *comma = memchr(rest.at, ',', rest.length);
            if (comma) rest.length = (size_t)(comma - rest.at);
            if (!(f = add_function(arena, out, rest))) return cute_fail_memory(diag);
        } else if (starts(line, "//## File \"", &rest)) {
            read_place(arena, rest, &current);
        } else if (f && starts(line, "/*", &rest) && rest.length && isxdigit((unsigned char)*rest.at)) {
            const char *close = memmem(rest.at, rest.length, "*/", 2);
            if (!close) continue;
            span code = trim((span){close + 2, rest.length - (size_t)(close + 2 - rest.at)});
            cute_sass_line item = current;
            item.offset = (uint64_t)number_at(rest, 16);
            item.text = cute_arena_copy(arena, code.at, code.length);
            if (!add_line(arena, f, &item)) return cute_fail_memory(diag);
        } else if (f && line.length > 2 && *line.at == '.' && line.at[line.length - 1] == ':' &&
                   line.at[1] == 'L') {
            cute_sass_line item = {.label = true, .text = cute_arena_copy(arena, line.at, line.length - 1)};
            if (!add_line(arena, f, &item)) return cute_fail_memory(diag);
        }
    }
    return CUTE_OK;
}

cute_status cute_sass_read(cute_arena *arena, const char *label, const void *cubin, size_t length,
                           const char *cuda_path, cute_sass *out, cute_diag *diag)
{
    const char *program, *path;
    const cute_place file = {.file = label};
    CUTE_TRY(cute_toolkit_find(arena, CUTE_NVDISASM, cuda_path, &program, diag));
    cute_scratch scratch = {.arena = arena};
    cute_status status = cute_scratch_file(&scratch, "image.cubin", cubin, length, &path, diag);
    cute_process process = {.argv = (const char *const[]){program, "-g", "-c", path, NULL},
                            .inherited = scratch.descriptors,
                            .inherited_count = scratch.descriptor_count};
    if (status == CUTE_OK) status = cute_process_run(&process, diag);
    if (status == CUTE_OK && process.exit_code) {
        span said = trim((span){cute_buffer_text(&process.err), process.err.length});
        status = cute_fail(diag, CUTE_INVALID, &file, "nvdisasm refuses this cubin: %.*s",
                           (int)(said.length < 2000 ? said.length : 2000), said.at);
    }
    if (status == CUTE_OK)
        status = cute_sass_parse(arena, cute_buffer_text(&process.out), process.out.length, out, diag);
    cute_buffer_release(&process.out);
    cute_buffer_release(&process.err);
    cute_scratch_close(&scratch);
    return status;
}

/* ---- source lines ---- */

/* The files that were asked for, read once; one that is not there stays empty. */
typedef struct source {
    const char *file;
    cute_buffer text;
    struct source *next;
} source;

static span source_line(cute_arena *arena, source **all, const char *file, int64_t line)
{
    source *s = *all;
    while (s && strcmp(s->file, file) != 0) s = s->next;
    if (!s) {
        s = cute_arena_alloc(arena, sizeof *s);
        if (!s) return (span){NULL, 0};
        *s = (source){.file = file, .next = *all};
        *all = s;
        if (*file != '<' && cute_file_exists(file)) (void)!cute_file_read(file, &s->text, NULL);
    }
    const char *at = s->text.data, *stop = at ? at + s->text.length : NULL;
    for (int64_t i = 1; at && at < stop; i++) {
        const char *end = memchr(at, '\n', (size_t)(stop - at));
        if (i == line) return trim((span){at, (size_t)((end ? end : stop) - at)});
        at = end ? end + 1 : NULL;
    }
    return (span){NULL, 0};
}

static void release_sources(source *all)
{
    for (; all; all = all->next) cute_buffer_release(&all->text);
}

/* ---- views ---- */

void cute_sass_print(const cute_sass *sass, const char *only, cute_buffer *out)
{
    cute_arena *arena = cute_arena_create();
    source *sources = NULL;
    bool first = true;
    if (!arena) return;
    for (size_t i = 0; i < sass->count; i++) {
        const cute_sass_function *f = &sass->functions[i];
        const char *file = NULL;
        int64_t line = 0;
        if (only && strcmp(only, f->name) != 0) continue;
        cute_demangled names;
        cute_buffer_printf(out, "%s%s:\n", first ? "" : "\n", f->name);
        if (cute_demangle(arena, f->name, &names)) cute_buffer_printf(out, "    // %s\n", names.full);
        first = false;
        for (size_t j = 0; j < f->count; j++) {
            const cute_sass_line *l = &f->lines[j];
            if (l->label) {
                cute_buffer_printf(out, "%s:\n", l->text);
                continue;
            }
            if (l->file && (!file || line != l->line || strcmp(file, l->file) != 0)) {
                span text = source_line(arena, &sources, l->file, l->line);
                cute_buffer_printf(out, "  // %s:%lld  %.*s\n", l->file, (long long)l->line,
                                   (int)(text.length < 200 ? text.length : 200), text.at ? text.at : "");
            }
            file = l->file;
            line = l->line;
            cute_buffer_printf(out, "    %04llx  %s\n", (unsigned long long)l->offset, l->text);
        }
    }
    release_sources(sources);
    cute_arena_destroy(arena);
}

json_t *cute_sass_json(const cute_sass *sass, const char *only)
{
    cute_arena *arena = cute_arena_create();
    json_t *functions = json_array();
    source *sources = NULL;
    for (size_t i = 0; arena && i < sass->count; i++) {
        const cute_sass_function *f = &sass->functions[i];
        if (only && strcmp(only, f->name) != 0) continue;
        json_t *o = json_object(), *instructions = json_array(), *labels = json_object();
        json_object_set_new(o, "name", json_string(f->name));
        const char *pending = NULL; /* a label belongs to the instruction after it */
        for (size_t j = 0; j < f->count; j++) {
            const cute_sass_line *l = &f->lines[j];
            if (l->label) {
                pending = l->text;
                continue;
            }
            if (pending) json_object_set_new(labels, pending, json_integer((json_int_t)l->offset));
            pending = NULL;
            json_t *item = json_object();
            json_object_set_new(item, "offset", json_integer((json_int_t)l->offset));
            json_object_set_new(item, "sass", json_string(l->text));
            if (l->file) {
                span text = source_line(arena, &sources, l->file, l->line);
                json_object_set_new(item, "file", json_string(l->file));
                json_object_set_new(item, "line", json_integer(l->line));
                if (text.at) json_object_set_new(item, "source", json_stringn(text.at, text.length));
            }
            json_array_append_new(instructions, item);
        }
        json_object_set_new(o, "instructions", instructions);
        json_object_set_new(o, "labels", labels);
        json_array_append_new(functions, o);
    }
    release_sources(sources);
    cute_arena_destroy(arena);
    return functions;
}
