/* See unread.h. */
#include "lib/code/unread.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/buffer.h"
#include "lib/base/sort.h"

typedef struct unread_inst {
    const char *text;
    uint32_t length, where;
    const char *why;
} unread_inst;

static int compare_texts(const void *a, const void *b)
{
    const unread_inst *x = a, *y = b;
    uint32_t length = x->length < y->length ? x->length : y->length;
    int order = memcmp(x->text, y->text, length);
    if (order) return order;
    if (x->length != y->length) return x->length < y->length ? -1 : 1;
    return (x->where > y->where) - (x->where < y->where);
}

static int compare_offsets(const void *a, const void *b)
{
    const cute_unread *x = a, *y = b;
    return (x->ptx_line > y->ptx_line) - (x->ptx_line < y->ptx_line);
}

/* Converts ptx_line from text offsets to lines. */
static void set_lines(const em_program *program, cute_unread_list *list)
{
    uint32_t line = 1, at = 0;
    for (size_t n = 0; n < list->count; n++) {
        for (; at < list->items[n].ptx_line; at++) line += program->text[at] == '\n';
        list->items[n].ptx_line = line;
    }
}

cute_status cute_unread_find(cute_arena *arena, const em_program *program, const em_function *kernel,
                             cute_unread_list *out, cute_diag *diag)
{
    size_t count = 0;
    *out = (cute_unread_list){0};
    for (uint32_t n = kernel->start; n <= kernel->end; n++) count += program->code[n].unread;
    if (!count) return CUTE_OK;
    unread_inst *all = cute_arena_array(arena, count, sizeof *all);
    out->items = cute_arena_array(arena, count, sizeof *out->items);
    if (!all || !out->items) return cute_fail_memory(diag);
    count = 0;
    for (uint32_t n = kernel->start; n <= kernel->end; n++) {
        const em_inst *i = &program->code[n];
        if (i->unread) all[count++] = (unread_inst){program->text + i->where, i->length, i->where, i->why};
    }
    cute_sort(all, count, sizeof *all, compare_texts);
    for (size_t n = 0; n < count; n++) {
        const unread_inst *before = n ? &all[n - 1] : NULL;
        if (before && before->length == all[n].length && !memcmp(before->text, all[n].text, all[n].length)) {
            out->items[out->count - 1].count++;
            continue;
        }
        cute_unread *u = &out->items[out->count++];
        *u = (cute_unread){.operation = cute_arena_copy(arena, all[n].text, all[n].length),
                           .why = all[n].why,
                           .count = 1,
                           .ptx_line = all[n].where};
        if (!u->operation) return cute_fail_memory(diag);
    }
    cute_sort(out->items, out->count, sizeof *out->items, compare_offsets);
    set_lines(program, out);
    return CUTE_OK;
}

const char *cute_unread_text(cute_arena *arena, const cute_unread_list *list, size_t most)
{
    cute_buffer text = {0};
    for (size_t n = 0; n < list->count && n < most; n++) {
        const cute_unread *u = &list->items[n];
        cute_buffer_printf(&text, "%s%s (", n ? ", " : "", u->operation);
        if (u->count > 1) cute_buffer_printf(&text, "%u times, ", u->count);
        cute_buffer_printf(&text, "PTX %u)", u->ptx_line);
    }
    if (list->count > most) cute_buffer_printf(&text, " and %zu more", list->count - most);
    const char *copy = cute_arena_copy(arena, cute_buffer_text(&text), text.length);
    if (!cute_buffer_ok(&text)) copy = NULL;
    cute_buffer_release(&text);
    return copy;
}

json_t *cute_unread_json(const cute_unread_list *list)
{
    json_t *value = json_array();
    for (size_t n = 0; n < list->count; n++) {
        const cute_unread *u = &list->items[n];
        json_array_append_new(value, json_pack("{s:o,s:o,s:i,s:i}", "operation", cute_json_text(u->operation),
                                               "why", cute_json_text(u->why), "count", (int)u->count,
                                               "ptx_line", (int)u->ptx_line));
    }
    return value;
}
