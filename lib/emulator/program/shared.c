/* The shared memory of each kernel: as in ptxas, a module's .shared variables are allocated only in kernels
 * that reach them, by name or through functions that they call. */
#include <stdlib.h>

#include "lib/base/sort.h"
#include "lib/emulator/program/program.h"

static int64_t round_up(int64_t value, int64_t align)
{
    return (value + align - 1) / align * align;
}

static int64_t least_16(int64_t align)
{
    return align < 16 ? 16 : align;
}

static int64_t own_begin(const em_function *kernel)
{
    return round_up(kernel->shared_common, least_16(kernel->shared_align));
}

int64_t em_static_shared(const em_function *kernel)
{
    return own_begin(kernel) + kernel->shared;
}

static int by_variable(const void *a, const void *b)
{
    uintptr_t x = (uintptr_t)((const em_shared_place *)a)->variable,
              y = (uintptr_t)((const em_shared_place *)b)->variable;
    return (x > y) - (x < y);
}

bool em_shared_offset(const em_function *kernel, const em_variable *v, int64_t *offset)
{
    const em_shared_place key = {.variable = v}, *found = NULL;
    if (v->owner && v->owner != kernel) return false;
    if (v->owner) {
        *offset = own_begin(kernel) + v->offset;
        return true;
    }
    if (kernel->shared_place_count)
        found = bsearch(&key, kernel->shared_places, kernel->shared_place_count, sizeof key, by_variable);
    if (found) *offset = found->offset;
    return found != NULL;
}

/* ---- variables that a kernel reaches ---- */

/* Functions found so far, and those still to be visited. */
typedef struct reach {
    em_function **found;
    size_t count;
    uint32_t mark;
} reach;

static void add_reached_function(reach *r, em_function *f)
{
    if (f->reached == r->mark) return;
    f->reached = r->mark;
    r->found[r->count++] = f;
}

static void find_reached_functions(const em_program *program, reach *r, em_function *kernel)
{
    bool by_address = false;
    r->mark++;
    r->count = 0;
    add_reached_function(r, kernel);
    for (size_t n = 0; n < r->count; n++) {
        const em_function *f = r->found[n];
        for (size_t c = 0; c < f->callee_count; c++) add_reached_function(r, f->callees[c]);
        if (!f->calls_address || by_address) continue;
        by_address = true; /* it may call any function whose address is taken */
        for (size_t c = 0; c < program->function_count; c++)
            if (program->functions[c]->address_taken) add_reached_function(r, program->functions[c]);
    }
}

static int compare_variable_offsets(const void *a, const void *b)
{
    const em_variable *x = ((const em_shared_place *)a)->variable,
                      *y = ((const em_shared_place *)b)->variable;
    return (x->offset > y->offset) - (x->offset < y->offset);
}

/* In module order; dynamic variables all begin at the end of the static ones. */
static bool place_kernel_shared(em_program *program, const reach *r, em_function *kernel)
{
    size_t most = 0, count = 0;
    for (size_t n = 0; n < r->count; n++) most += r->found[n]->shared_used_count;
    if (!most) return true;
    em_shared_place *list = cute_arena_array(program->arena, most, sizeof *list);
    if (!list) return false;
    for (size_t n = 0; n < r->count; n++)
        for (size_t u = 0; u < r->found[n]->shared_used_count; u++)
            list[count++].variable = r->found[n]->shared_used[u];
    cute_sort(list, count, sizeof *list, by_variable);
    size_t kept = 0;
    for (size_t n = 0; n < count; n++)
        if (!kept || list[kept - 1].variable != list[n].variable) list[kept++] = list[n];
    cute_sort(list, kept, sizeof *list, compare_variable_offsets);
    for (size_t n = 0; n < kept; n++) {
        const em_variable *v = list[n].variable;
        if (v->dynamic) continue;
        list[n].offset = round_up(kernel->shared_common, v->align);
        kernel->shared_common = list[n].offset + v->size;
    }
    for (size_t n = 0; n < kept; n++)
        if (list[n].variable->dynamic)
            list[n].offset =
                round_up(em_static_shared(kernel) + EM_SHARED_RESERVED, least_16(list[n].variable->align)) -
                EM_SHARED_RESERVED;
    cute_sort(list, kept, sizeof *list, by_variable);
    kernel->shared_places = list;
    kernel->shared_place_count = kept;
    return true;
}

bool em_place_shared(em_program *program)
{
    reach r = {0};
    if (!program->function_count) return true;
    r.found = cute_arena_array(program->arena, program->function_count, sizeof *r.found);
    for (size_t n = 0; r.found && n < program->function_count; n++) {
        em_function *kernel = program->functions[n];
        if (!kernel->entry || !kernel->defined) continue;
        find_reached_functions(program, &r, kernel);
        if (!place_kernel_shared(program, &r, kernel)) return false;
    }
    return r.found != NULL;
}
