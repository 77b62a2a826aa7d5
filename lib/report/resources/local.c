/* Resource data from SASS: live registers by class, and the lines that use local memory. */
#include <stdlib.h>
#include <string.h>

#include "lib/base/list.h"
#include "lib/base/sort.h"
#include "lib/code/sass/code.h"
#include "lib/report/resources/resources.h"

_Static_assert((int)RESOURCE_CLASSES == (int)CUTE_REGISTER_CLASSES, "one count per class");

static resource_line *find_or_add_line(cute_arena *arena, resource_kernel *r, size_t *capacity,
                                       const cute_code_place *place)
{
    const char *file = place ? place->file : NULL;
    int64_t line = place ? place->line : 0;
    for (size_t i = 0; i < r->local_count; i++) {
        resource_line *l = &r->local[i];
        bool same = l->file == file || (l->file && file && !strcmp(l->file, file));
        if (same && l->line == line) return l;
    }
    if (!cute_arena_more(arena, &r->local, r->local_count, capacity, sizeof *r->local, 8)) return NULL;
    r->local[r->local_count] = (resource_line){.file = file, .line = line};
    return &r->local[r->local_count++];
}

/* The most bytes first. */
static int compare_bytes(const void *a, const void *b)
{
    const resource_line *x = a, *y = b;
    int64_t p = x->bytes_loaded + x->bytes_stored, q = y->bytes_loaded + y->bytes_stored;
    return p < q ? 1 : p > q ? -1 : x->line < y->line ? -1 : x->line > y->line;
}

cute_status cute_resource_report_add_code(cute_arena *arena, resource_report *report,
                                          const struct cute_code *code, cute_diag *diag)
{
    for (size_t k = 0; k < report->count; k++) {
        resource_kernel *r = &report->kernels[k];
        const cute_code_function *f = cute_code_find(code, r->kernel->name);
        size_t capacity = 0;
        if (!f) continue;
        r->has_code = true;
        memcpy(r->live, f->peak, sizeof r->live);
        for (size_t i = 0; i < f->count; i++) {
            const cute_code_instruction *in = &f->instructions[i];
            bool store = in->opcode->access == CUTE_ACCESS_STORE;
            if (in->space != CUTE_CODE_SPACE_LOCAL || in->opcode->access == CUTE_ACCESS_NONE) continue;
            resource_line *line = find_or_add_line(arena, r, &capacity, in->place);
            if (!line) return cute_fail_memory(diag);
            *(store ? &line->stores : &line->loads) += 1;
            *(store ? &line->bytes_stored : &line->bytes_loaded) += in->width;
        }
        cute_sort(r->local, r->local_count, sizeof *r->local, compare_bytes);
    }
    return CUTE_OK;
}
