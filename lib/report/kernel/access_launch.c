/* Accesses of the kernels of a launch: launch.json gives blocks and parameters, except for buffer addresses. */
#include <string.h>

#include "lib/base/system/file.h"
#include "lib/code/access.h"
#include "lib/launch/plan/plan.h"

/* The parameter block; addresses are offsets from their allocations. */
static cute_status make_parameters(cute_arena *arena, const plan_launch *launch, cute_access_options *out,
                                   cute_diag *diag)
{
    const cute_kernel *kernel = launch->kernel;
    size_t bytes = 0;
    for (size_t n = 0; n < launch->param_count && n < kernel->param_count; n++) {
        int64_t end = kernel->params[n].offset + launch->param_sizes[n];
        if (kernel->params[n].offset < 0) return CUTE_OK;
        if ((size_t)end > bytes) bytes = (size_t)end;
    }
    uint8_t *values = cute_arena_alloc(arena, bytes + 1), *known = cute_arena_alloc(arena, bytes + 1);
    if (!values || !known) return cute_fail_memory(diag);
    for (size_t n = 0; n < launch->param_count && n < kernel->param_count; n++) {
        size_t at = (size_t)kernel->params[n].offset, size = (size_t)launch->param_sizes[n];
        memcpy(values + at, launch->params[n], size);
        memset(known + at, CODE_BYTE_NUMBER, size);
    }
    for (size_t n = 0; n < launch->fixup_count; n++) {
        const plan_fixup *fix = &launch->fixups[n];
        size_t size = fix->kind == FIXUP_MAP ? 128 : 8;
        if (fix->param >= kernel->param_count) continue;
        size_t at = (size_t)(kernel->params[fix->param].offset + fix->at);
        if (at > bytes || size > bytes - at) continue;
        memset(known + at, fix->kind == FIXUP_BUFFER ? CODE_BYTE_POINTER : CODE_BYTE_UNKNOWN, size);
        uint64_t offset = (uint64_t)fix->bytes;
        for (size_t k = 0; fix->kind == FIXUP_BUFFER && k < size; k++)
            values[at + k] = (uint8_t)(offset >> (k * 8));
    }
    out->parameters = values;
    out->known = known;
    out->parameter_bytes = bytes;
    return CUTE_OK;
}

static cute_status add_launch(cute_arena *arena, const char *label, const cute_module *module,
                              const plan_launch *launch, cute_access_report *out, cute_diag *diag)
{
    cute_access_options options = {.kernel = launch->kernel->name, .block_from = "launch.json"};
    cute_access_report one;
    for (int d = 0; d < 3; d++) options.block[d] = launch->shape.block[d];
    CUTE_TRY(make_parameters(arena, launch, &options, diag));
    CUTE_TRY(cute_access_read_module(arena, label, module, &options, &one, diag));
    for (size_t n = 0; n < one.count; n++) out->kernels[out->count++] = one.kernels[n];
    return CUTE_OK;
}

static cute_status add_launches(cute_arena *arena, const char *label, const cute_module *module,
                                const char *kernel, const cute_plan *plan, cute_access_report *out,
                                cute_diag *diag)
{
    *out = (cute_access_report){.label = label};
    out->kernels = cute_arena_array(arena, plan->main.count + 1, sizeof *out->kernels);
    if (!out->kernels) return cute_fail_memory(diag);
    for (size_t n = 0; n < plan->main.count; n++) {
        const plan_launch *launch = &plan->main.launches[n];
        bool had = false;
        if (kernel && strcmp(kernel, launch->kernel->name) != 0) continue;
        for (size_t k = 0; k < out->count; k++) had |= !strcmp(out->kernels[k].kernel, launch->kernel->name);
        if (!had) CUTE_TRY(add_launch(arena, label, module, launch, out, diag));
    }
    return CUTE_OK;
}

cute_status cute_access_read_launch(cute_arena *arena, const char *label, const cute_module *module,
                                    const char *kernel, const char *path, const char *const *defines,
                                    size_t define_count, cute_access_report *out, cute_diag *diag)
{
    cute_buffer text = {0};
    cute_config config = {0};
    cute_plan plan;
    CUTE_TRY(cute_file_read(path, &text, diag));
    const char *slash = strrchr(path, '/');
    const char *folder =
        slash ? cute_arena_copy(arena, path, (size_t)(slash - path) + (slash == path)) : NULL;
    const config_source source = {.label = cute_file_label(path),
                                  .text = cute_buffer_text(&text),
                                  .length = text.length,
                                  .folder = folder,
                                  .module = module,
                                  .defines = defines,
                                  .define_count = define_count};
    plan_limits limits = cute_plan_limits("", NULL);
    cute_status status = cute_config_read(arena, &source, &config, diag);
    if (status == CUTE_OK) status = cute_plan_make(&config, module, NULL, &limits, &plan, diag);
    if (status == CUTE_OK) status = add_launches(arena, label, module, kernel, &plan, out, diag);
    cute_config_release(&config);
    cute_buffer_release(&text);
    return status;
}

/* ---- counts ---- */

bool cute_access_wants_counts(const cute_access_report *report)
{
    for (size_t k = 0; k < report->count; k++)
        for (size_t n = 0; n < report->kernels[k].count; n++) {
            const cute_access *a = &report->kernels[k].accesses[n];
            if (a->unknown || a->estimated || a->lanes_assumed || a->one_side) return true;
        }
    return false;
}

/* Counters are per PTX line, so several accesses of one line to the same space cannot be told apart. */
static bool has_own_line(const cute_access_kernel *kernel, const cute_access *a)
{
    size_t same = 0;
    for (size_t n = 0; n < kernel->count; n++)
        same += kernel->accesses[n].ptx_line == a->ptx_line && kernel->accesses[n].space == a->space;
    return same == 1;
}

static void add_line(cute_access_kernel *kernel, const json_t *line)
{
    json_int_t at = json_integer_value(json_object_get(line, "ptx_line"));
    for (size_t n = 0; n < kernel->count; n++) {
        cute_access *a = &kernel->accesses[n];
        const json_t *cost =
            json_object_get(line, a->space == CUTE_CODE_SPACE_SHARED ? "wavefronts" : "sectors");
        if ((json_int_t)a->ptx_line != at || !cost || !has_own_line(kernel, a)) continue;
        a->counted = (cute_traffic){
            .requests = (uint64_t)json_integer_value(json_object_get(line, "instructions")),
            .count = (uint64_t)json_integer_value(json_object_get(cost, "count")),
            .ideal = (uint64_t)json_integer_value(json_object_get(cost, "ideal")),
        };
    }
}

void cute_access_add_counts(cute_access_report *report, const json_t *launch, const char *why)
{
    size_t n, l;
    json_t *kernel, *line;
    for (size_t k = 0; k < report->count; k++) {
        cute_access_kernel *about = &report->kernels[k];
        if (!launch) about->not_counted = why;
        json_array_foreach(json_object_get(launch, "counters"), n, kernel)
        {
            const char *name = json_string_value(json_object_get(kernel, "kernel"));
            if (!name || strcmp(name, about->kernel) != 0) continue;
            json_array_foreach(json_object_get(kernel, "lines"), l, line) add_line(about, line);
        }
    }
}
