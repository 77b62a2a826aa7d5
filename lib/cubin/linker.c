/* The public linker interface to cute_link: options by name, inputs, result. */
#include "cute/link.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/list.h"
#include "lib/base/options/options.h"
#include "lib/cubin/link.h"

struct cute_linker {
    cute_arena *arena; /* options and inputs */
    cute_arena *work;  /* of the last link */
    cute_link_options options;
    cute_link_input *inputs;
    size_t count, capacity;
    cute_link_result result;
};

static void drop_result(cute_linker *l)
{
    cute_buffer_release(&l->result.output);
    cute_buffer_release(&l->result.commands);
    cute_arena_destroy(l->work);
    l->work = NULL;
    l->result = (cute_link_result){0};
}

cute_status cute_linker_create(cute_linker **out, cute_diag *diag)
{
    cute_linker *l = *out = calloc(1, sizeof *l);
    if (l) l->arena = cute_arena_create();
    if (l && l->arena) return CUTE_OK;
    cute_linker_destroy(l);
    *out = NULL;
    return cute_fail_memory(diag);
}

void cute_linker_destroy(cute_linker *l)
{
    if (!l) return;
    drop_result(l);
    cute_arena_destroy(l->arena);
    free(l);
}

cute_status cute_linker_set(cute_linker *l, const char *option, const char *value, cute_diag *diag)
{
    cute_link_options *o = &l->options, old = *o;
    const cute_option table[] = {
        {CUTE_OPTION_LIST, "arch", 0, NULL, NULL, &o->archs},
        {CUTE_OPTION_STRING, "opt-level", 0, NULL, NULL, &o->opt_level},
        {CUTE_OPTION_INT, "maxrregcount", 0, NULL, NULL, &o->max_registers},
        {CUTE_OPTION_INT, "tool-timeout", 0, NULL, NULL, &o->tool_timeout},
        {CUTE_OPTION_LIST, "Xptxas", 0, NULL, NULL, &o->xptxas},
        {CUTE_OPTION_LIST, "library", 0, NULL, NULL, &o->libraries},
        {CUTE_OPTION_LIST, "library-path", 0, NULL, NULL, &o->folders},
        {CUTE_OPTION_STRING, "cuda-path", 0, NULL, NULL, &o->cuda_path},
        {CUTE_OPTION_FLAG, "fatbin", 0, NULL, NULL, &o->fatbin},
        {CUTE_OPTION_FLAG, "relocatable", 0, NULL, NULL, &o->relocatable},
        {CUTE_OPTION_FLAG, "lineinfo", 0, NULL, NULL, &o->line_info},
        {CUTE_OPTION_FLAG, "device-debug", 0, NULL, NULL, &o->debug},
        {CUTE_OPTION_FLAG, "strip", 0, NULL, NULL, &o->strip},
        {CUTE_OPTION_LIST, "allow", 0, NULL, NULL, &o->allow},
        {CUTE_OPTION_FLAG, "Werror", 0, NULL, NULL, &o->werror},
        {CUTE_OPTION_FLAG, "disable-warnings", 0, NULL, NULL, &o->quiet},
        {CUTE_OPTION_FLAG, "verbose", 0, NULL, NULL, &o->verbose},
        {0},
    };
    cute_status status = cute_option_set(table, l->arena, option, value, diag);
    if (status == CUTE_OK) status = cute_link_check_options(o, diag);
    if (status != CUTE_OK) *o = old;
    return status;
}

cute_status cute_linker_add(cute_linker *l, const char *label, const void *bytes, size_t length,
                            cute_diag *diag)
{
    cute_link_input input = {.label = cute_arena_copy(l->arena, label, strlen(label)),
                             .bytes = cute_arena_copy(l->arena, bytes, length),
                             .length = length};
    if (!input.label || !input.bytes ||
        !cute_arena_more(l->arena, &l->inputs, l->count, &l->capacity, sizeof *l->inputs, 4))
        return cute_fail_memory(diag);
    l->inputs[l->count++] = input;
    return CUTE_OK;
}

cute_status cute_linker_link(cute_linker *l, cute_diag *diag)
{
    drop_result(l);
    if (!l->count) return cute_fail(diag, CUTE_USAGE, NULL, "nothing to link: no input was added");
    l->work = cute_arena_create();
    if (!l->work) return cute_fail_memory(diag);
    cute_status status = cute_link(l->work, &l->options, l->inputs, l->count, &l->result, diag);
    if (status != CUTE_OK) cute_buffer_release(&l->result.output);
    return status;
}

const void *cute_linker_output(const cute_linker *l, size_t *length)
{
    *length = l->result.output.length;
    return l->result.output.data;
}

const char *cute_linker_commands(const cute_linker *l)
{
    return cute_buffer_text(&l->result.commands);
}
