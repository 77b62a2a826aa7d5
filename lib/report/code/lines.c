/* The view of source lines with their instructions, and of the line of an address. */
#include <stdlib.h>
#include <string.h>

#include "lib/base/sort.h"
#include "lib/report/code/source.h"
#include "lib/report/code/view.h"

/* An instruction with a source line; sorted by function, file, line, address. */
typedef struct item {
    const cute_code_function *function;
    const cute_code_instruction *instruction;
} item;

static int compare_items(const void *a, const void *b)
{
    const item *x = a, *y = b;
    const cute_code_place *p = x->instruction->place, *q = y->instruction->place;
    if (x->function != y->function) return x->function < y->function ? -1 : 1;
    int order = p->file == q->file ? 0 : strcmp(p->file, q->file);
    if (order) return order;
    if (p->line != q->line) return p->line < q->line ? -1 : 1;
    return (x->instruction > y->instruction) - (x->instruction < y->instruction);
}

/* The requested address, or line with or without a file. */
typedef struct query {
    bool all, address;
    const char *file; /* a suffix of the path; NULL: any */
    size_t file_length;
    int64_t number;
} query;

static cute_status read_query(const char *where, query *out, cute_diag *diag)
{
    char *end;
    *out = (query){.all = !where};
    if (!where) return CUTE_OK;
    const char *colon = strrchr(where, ':'), *digits = colon ? colon + 1 : where;
    out->address = !colon && digits[0] == '0' && (digits[1] == 'x' || digits[1] == 'X');
    out->number = strtoll(digits, &end, out->address ? 16 : 10);
    if (colon) out->file = where, out->file_length = (size_t)(colon - where);
    if (end == digits || *end || *digits == '-' || *digits == '+' || (colon && !out->file_length))
        return cute_fail(diag, CUTE_USAGE, NULL,
                         "expected a line (12 or k.mlir:12) or an address (0x1f0), got '%s'", where);
    return CUTE_OK;
}

static bool ends_with(const char *file, const query *q)
{
    size_t length = strlen(file);
    if (!q->file) return true;
    if (length < q->file_length || memcmp(file + length - q->file_length, q->file, q->file_length) != 0)
        return false;
    return length == q->file_length || file[length - q->file_length - 1] == '/' || *q->file == '/';
}

/* An inlined instruction also matches the lines of its call sites. */
static bool matches_query(const query *q, const cute_code_instruction *i)
{
    if (q->all) return true;
    if (q->address) return i->address == (uint64_t)q->number;
    for (const cute_code_place *p = i->place; p; p = p->caller)
        if (p->line == q->number && ends_with(p->file, q)) return true;
    return false;
}

static cute_status find_items(cute_arena *arena, const char *label, const cute_code *code, const char *only,
                              const char *where, item **out, size_t *count, cute_diag *diag)
{
    const cute_place file = {.file = label};
    size_t total = 0, placed = 0;
    query q;
    CUTE_TRY(read_query(where, &q, diag));
    for (size_t k = 0; k < code->count; k++) total += code->functions[k].count;
    *count = 0;
    if (!(*out = cute_arena_array(arena, total + 1, sizeof **out))) return cute_fail_memory(diag);
    for (size_t k = 0; k < code->count; k++) {
        const cute_code_function *f = &code->functions[k];
        if (only && strcmp(only, f->name) != 0) continue;
        for (size_t n = 0; n < f->count; n++) {
            if (!f->instructions[n].place) continue;
            placed++;
            if (matches_query(&q, &f->instructions[n])) (*out)[(*count)++] = (item){f, &f->instructions[n]};
        }
    }
    if (!placed) {
        cute_fail(diag, CUTE_INVALID, &file, "the code has no source lines");
        cute_note(diag, NULL, "compile with -lineinfo (cute-ptx, cute-link, nvcc, ptxas)");
        return CUTE_INVALID;
    }
    if (!*count)
        return cute_fail(diag, CUTE_INVALID, &file,
                         q.address ? "no instruction with a source line at %s" : "no instruction of line %s",
                         where);
    cute_sort(*out, *count, sizeof **out, compare_items);
    return CUTE_OK;
}

static bool same_line(const item *a, const item *b)
{
    const cute_code_place *p = a->instruction->place, *q = b->instruction->place;
    return a->function == b->function && p->line == q->line && strcmp(p->file, q->file) == 0;
}

cute_status cute_code_print_lines(const char *label, const cute_code *code, const char *only,
                                  const char *where, cute_buffer *out, cute_diag *diag)
{
    cute_arena *arena = cute_arena_create();
    cute_source *sources = NULL;
    item *items;
    size_t count = 0, length;
    cute_status status =
        arena ? find_items(arena, label, code, only, where, &items, &count, diag) : cute_fail_memory(diag);
    for (size_t k = 0; k < count && status == CUTE_OK; k++) {
        const cute_code_instruction *i = items[k].instruction;
        const cute_code_place *place = i->place;
        if (!k || items[k].function != items[k - 1].function)
            cute_buffer_printf(out, "%s%s:\n", k ? "\n" : "", items[k].function->name);
        if (!k || !same_line(&items[k], &items[k - 1])) {
            size_t n = k;
            while (n < count && same_line(&items[k], &items[n])) n++;
            const char *text = cute_source_line(arena, &sources, place->file, place->line, &length);
            cute_buffer_printf(out, "  %s:%lld  %.*s  (%zu instructions)\n", place->file,
                               (long long)place->line, (int)(length < 200 ? length : 200), text ? text : "",
                               n - k);
        }
        cute_buffer_printf(out, "    %04llx  %s\n", (unsigned long long)i->address, i->text);
        if (where)
            for (const cute_code_place *p = place->caller; p; p = p->caller)
                cute_buffer_printf(out, "          inlined at %s:%lld\n", p->file, (long long)p->line);
    }
    cute_source_release(sources);
    cute_arena_destroy(arena);
    return status;
}

cute_status cute_code_json_lines(const char *label, const cute_code *code, const char *only,
                                 const char *where, json_t **out, cute_diag *diag)
{
    cute_arena *arena = cute_arena_create();
    cute_source *sources = NULL;
    item *items;
    size_t count = 0, length;
    json_t *list = NULL;
    *out = NULL;
    cute_status status =
        arena ? find_items(arena, label, code, only, where, &items, &count, diag) : cute_fail_memory(diag);
    if (status == CUTE_OK) *out = json_array();
    for (size_t k = 0; k < count && status == CUTE_OK; k++) {
        const cute_code_instruction *i = items[k].instruction;
        if (!k || !same_line(&items[k], &items[k - 1])) {
            json_t *o = json_object();
            const char *text = cute_source_line(arena, &sources, i->place->file, i->place->line, &length);
            json_object_set_new(o, "function", cute_json_text(items[k].function->name));
            json_object_set_new(o, "file", cute_json_text(i->place->file));
            json_object_set_new(o, "line", json_integer(i->place->line));
            if (text) json_object_set_new(o, "source", json_stringn(text, length));
            json_object_set_new(o, "instructions", list = json_array());
            json_array_append_new(*out, o);
        }
        json_array_append_new(
            list, json_pack("{s:I,s:o}", "offset", (json_int_t)i->address, "sass", cute_json_text(i->text)));
    }
    cute_source_release(sources);
    cute_arena_destroy(arena);
    return status;
}
