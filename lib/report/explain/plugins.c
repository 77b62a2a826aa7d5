/* Findings of plugins: shows a kernel's code to them as the stable structs of cute/plugin.h. */
#include "lib/plugin/plugins.h"

#include <stdarg.h>
#include <string.h>

#include "lib/report/explain/context.h"

struct cute_explain_run {
    explain_context *context;
    const ssa_function *f;
};

static bool host_get(cute_explain_run *run, size_t index, cute_explain_inst *out)
{
    const ssa_function *f = run->f;
    const ssa_inst *i = index < f->count ? &f->insts[index] : NULL;
    if (!i) return false;
    bool loads = i->access == CUTE_ACCESS_LOAD, stores = i->access == CUTE_ACCESS_STORE;
    cute_explain_inst own = {.size = sizeof own,
                             .text = i->text,
                             .length = i->length,
                             .file = i->file,
                             .line = i->line,
                             .ptx_line = i->ptx_line,
                             .executed = ssa_weight(f, i),
                             .cycles = explain_cost(f, i),
                             .in_loop = ssa_loop_of(f, i) != CUTE_NO_LOOP,
                             .loads = loads,
                             .stores = stores,
                             .global = i->access != CUTE_ACCESS_NONE && (i->space == CUTE_CODE_SPACE_GLOBAL ||
                                                                         i->space == CUTE_CODE_SPACE_GENERIC),
                             .shared = i->access != CUTE_ACCESS_NONE && i->space == CUTE_CODE_SPACE_SHARED,
                             .width = i->width};
    size_t size = out->size < sizeof own ? out->size : sizeof own;
    if (size < sizeof size) return false;
    own.size = out->size;
    memcpy(out, &own, size);
    return true;
}

static bool host_addresses(cute_explain_run *run, size_t index, uint64_t out[32], uint32_t *active)
{
    return index < run->f->count && ssa_addresses(run->f, &run->f->insts[index], out, active);
}

CUTE_PRINTF(4, 5)
static void host_add(cute_explain_run *run, size_t index, double cycles, const char *format, ...)
{
    cute_buffer text = {0};
    va_list args;
    if (index >= run->f->count) return;
    va_start(args, format);
    cute_buffer_vprintf(&text, format, args);
    va_end(args);
    const ssa_inst *i = &run->f->insts[index];
    explain_add(run->context, i, cycles * ssa_weight(run->f, i), NULL, "%s", cute_buffer_text(&text));
    cute_buffer_release(&text);
}

void explain_run_added(explain_context *c, const plugin_finding *finding)
{
    cute_explain_run run = {c, c->f};
    const cute_explain_code code = {.size = sizeof code,
                                    .kernel = c->kernel->name,
                                    .arch = c->f->arch,
                                    .count = c->f->count,
                                    .get = host_get,
                                    .addresses = host_addresses,
                                    .add = host_add};
    plugin_mark mark;
    plugin_enter(&mark, finding->library, "finding", finding->row.name);
    finding->row.find(&code, &run);
    plugin_leave(&mark);
}

size_t explain_row_count(const cute_plugins *plugins)
{
    return EXPLAIN_COUNT + (plugins ? plugins->finding_count : 0);
}

explain_row explain_row_at(const cute_plugins *plugins, size_t index)
{
    if (index < EXPLAIN_COUNT) return explain_rows[index];
    const cute_plugin_finding *f = &plugins->findings[index - EXPLAIN_COUNT].row;
    return (explain_row){f->code, f->name, f->title, f->fix,
                         f->view == CUTE_EXPLAIN_SASS ? EXPLAIN_SASS : EXPLAIN_PTX};
}

cute_status explain_check_plugins(const cute_plugins *plugins, cute_diag *diag)
{
    for (size_t n = 0; plugins && n < plugins->finding_count; n++)
        for (size_t k = 0; k < EXPLAIN_COUNT; k++)
            if (strcmp(plugins->findings[n].row.name, explain_rows[k].name) == 0)
                return cute_fail(diag, CUTE_INVALID,
                                 &(cute_place){.file = plugins->findings[n].library->path},
                                 "finding '%s': explain has a finding of this name", explain_rows[k].name);
    return CUTE_OK;
}
