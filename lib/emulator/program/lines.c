/* Source lines: the directives .file and .loc (PTX ISA, "Debugging Directives"). */
#include <stdlib.h>
#include <string.h>

#include "lib/base/list.h"
#include "lib/base/sort.h"
#include "lib/emulator/program/parser.h"

enum { FILE_LIMIT = 1 << 16, DEEPEST = 64 /* nesting of inlined functions */ };

/* function_name label, inlined_at file line column */
static cute_status parse_inlined(em_parser *p, em_loc *loc)
{
    uint32_t *const to[] = {&loc->at_number, &loc->at_line, &loc->at_column};
    em_next(p);
    if (em_is_name(p, "function_name")) {
        em_next(p);
        em_next(p);
        if (em_is(p, '+')) {
            em_next(p);
            em_next(p);
        }
        CUTE_TRY(em_expect(p, ','));
    }
    if (!em_is_name(p, "inlined_at")) return CUTE_OK;
    em_next(p);
    for (int i = 0; i < 3; i++) {
        int64_t value;
        CUTE_TRY(em_take_integer(p, &value, "a number"));
        *to[i] = value >= 0 && value < UINT32_MAX ? (uint32_t)value : 0;
    }
    return CUTE_OK;
}

cute_status em_parse_loc(em_parser *p)
{
    int64_t file, line, column;
    em_loc loc = {0};
    em_next(p);
    CUTE_TRY(em_take_integer(p, &file, "a file number"));
    CUTE_TRY(em_take_integer(p, &line, "a line"));
    CUTE_TRY(em_take_integer(p, &column, "a column"));
    if (em_is(p, ',')) CUTE_TRY(parse_inlined(p, &loc));
    em_program *program = p->program;
    if (!cute_arena_more(p->arena, &program->locs, program->loc_count, &program->loc_capacity,
                         sizeof *program->locs, 64))
        return cute_fail_memory(p->diag);
    if (!program->loc_count) program->loc_count = 1;
    loc.number = file >= 0 && file < UINT32_MAX ? (uint32_t)file : UINT32_MAX;
    loc.line = (uint32_t)line;
    loc.column = (uint32_t)column;
    program->locs[program->loc_count] = loc;
    p->loc = (uint32_t)program->loc_count++;
    return CUTE_OK;
}

cute_status em_parse_file(em_parser *p)
{
    int64_t number;
    em_next(p);
    CUTE_TRY(em_take_integer(p, &number, "a file number"));
    if (p->lexer.token.kind != EM_T_STRING) return em_fail_token(p, "a file name");
    const em_token *t = &p->lexer.token;
    if (number < FILE_LIMIT) {
        if ((size_t)number >= p->file_count) {
            size_t count = (size_t)number + 16;
            const char **files = cute_arena_array(p->arena, count, sizeof *files);
            if (!files) return cute_fail_memory(p->diag);
            if (p->file_count) memcpy(files, p->files, p->file_count * sizeof *files);
            p->files = files;
            p->file_count = count;
        }
        p->files[number] = cute_arena_copy(p->arena, t->text + 1, t->length - 2);
        if (!p->files[number]) return cute_fail_memory(p->diag);
    }
    em_next(p);
    for (int i = 0; i < 2 && em_is(p, ','); i++) {
        int64_t unused;
        em_next(p);
        CUTE_TRY(em_take_integer(p, &unused, "a number"));
    }
    return CUTE_OK;
}

/* ---- source lines ---- */

/* A .loc of inlined code, and its index among all. */
typedef struct inlined {
    em_loc loc;
    size_t order;
} inlined;

static int compare_places(const em_loc *x, size_t x_order, const em_loc *y, size_t y_order)
{
    if (x->number != y->number) return x->number < y->number ? -1 : 1;
    if (x->line != y->line) return x->line < y->line ? -1 : 1;
    if (x->column != y->column) return x->column < y->column ? -1 : 1;
    return (x_order > y_order) - (x_order < y_order);
}

static int compare_inlined(const void *a, const void *b)
{
    const inlined *x = a, *y = b;
    return compare_places(&x->loc, x->order, &y->loc, y->order);
}

/* The place that a place is inlined at is itself described by the preceding .loc of that place. NULL: not
 * inlined. */
static const inlined *find_preceding_loc(const inlined *sorted, size_t count, const em_loc *place,
                                         size_t order)
{
    size_t low = 0, high = count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (compare_places(&sorted[middle].loc, sorted[middle].order, place, order) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    const inlined *found = low ? &sorted[low - 1] : NULL;
    return found && !compare_places(&found->loc, 0, place, 0) ? found : NULL;
}

static em_loc user_place(const em_loc *loc, size_t order, const inlined *sorted, size_t count)
{
    em_loc chain[DEEPEST] = {*loc};
    int depth = 0, n = 0;
    while (chain[depth].at_line && depth + 1 < DEEPEST) {
        const em_loc *from = &chain[depth];
        em_loc next = {.number = from->at_number, .line = from->at_line, .column = from->at_column};
        const inlined *known = find_preceding_loc(sorted, count, &next, order);
        if (known) order = known->order;
        chain[++depth] = known ? known->loc : next;
    }
    while (chain[n].number != chain[depth].number) n++;
    return chain[n];
}

cute_status em_find_lines(em_parser *p)
{
    em_program *program = p->program;
    inlined *sorted = cute_arena_array(p->arena, program->loc_count + 1, sizeof *sorted);
    size_t count = 0;
    if (!sorted) return cute_fail_memory(p->diag);
    for (size_t i = 1; i < program->loc_count; i++)
        if (program->locs[i].at_line) sorted[count++] = (inlined){program->locs[i], i};
    cute_sort(sorted, count, sizeof *sorted, compare_inlined);
    for (size_t i = 1; i < program->loc_count; i++) {
        em_loc *loc = &program->locs[i];
        if (loc->at_line) *loc = user_place(loc, i, sorted, count);
        /* .file may follow the code */
        if (loc->number < p->file_count) loc->file = p->files[loc->number];
    }
    return CUTE_OK;
}
