/* The views 'accesses', 'layouts' and 'schedule': each builds a report of lib/report and prints it as text, JSON, HTML or SVG. */
#include "tools/cute-dump/kernel.h"

#include <stdlib.h>
#include <string.h>

#include "lib/code/access.h"
#include "lib/report/kernel/layouts.h"
#include "lib/report/schedule/schedule.h"
#include "tools/cute-dump/emulate.h"
#include "tools/cute-dump/output.h"

/* "256", "16x16", "16,16,1". */
static cute_status read_block(const char *text, uint32_t out[3], cute_diag *diag)
{
    const char *at = text;
    uint64_t threads = 1;
    for (int d = 0; d < 3; d++) out[d] = 1;
    for (int d = 0; d < 3; d++) {
        char *end;
        unsigned long value = strtoul(at, &end, 10);
        if (end == at || value < 1 || value > 1024 || (threads *= value) > 1024) break;
        out[d] = (uint32_t)value;
        if (!*end) return CUTE_OK;
        if (*end != 'x' && *end != ',') break;
        at = end + 1;
    }
    return cute_fail(diag, CUTE_USAGE, NULL,
                     "expected --block=X, XxY or XxYxZ of 1 to 1024 in total, got '%s'", text);
}

/* Adds counters of an emulated launch for accesses that the static analysis cannot resolve. If the launch fails, they stay unknown. */
static void add_emulator_counts(const kernel_request *q, const cute_module *module,
                                cute_access_report *report)
{
    const emulate_request launch = {
        .arena = q->arena,
        .label = q->label,
        .module = module,
        .kernel = q->kernel,
        .config = q->config,
        .defines = q->defines,
    };
    cute_diag *own = cute_diag_create();
    json_t *counters = NULL;
    const char *why = "the launch failed";
    if (cute_dump_emulate(&launch, &counters, own) != CUTE_OK && own && cute_diag_count(own)) {
        const char *text = cute_diag_get(own, 0)->text, *copy = cute_arena_copy(q->arena, text, strlen(text));
        if (copy) why = copy;
    }
    cute_access_add_counts(report, counters, why);
    json_decref(counters);
    cute_diag_destroy(own);
}

cute_status cute_dump_accesses(const kernel_request *q, const cute_module *module, cute_buffer *out,
                               cute_diag *diag)
{
    cute_access_report report;
    cute_access_options options = {.kernel = q->kernel};
    uint32_t block[3] = {0};
    if (q->block) CUTE_TRY(read_block(q->block, block, diag));
    for (int d = 0; d < 3; d++) options.block[d] = block[d];
    options.block_from = "--block";
    if (q->config && q->block)
        return cute_fail(diag, CUTE_USAGE, NULL,
                         "--block cannot be combined with --config, which sets the block size");
    if (q->defines.count && !q->config)
        return cute_fail(diag, CUTE_USAGE, NULL, "-D has no effect on 'accesses' without --config");
    if (q->config)
        CUTE_TRY(cute_access_read_launch(q->arena, q->label, module, q->kernel, q->config, q->defines.items,
                                         q->defines.count, &report, diag));
    else
        CUTE_TRY(cute_access_read_module(q->arena, q->label, module, &options, &report, diag));
    if (q->config && cute_access_wants_counts(&report)) add_emulator_counts(q, module, &report);
    if (!q->json) {
        cute_access_print(q->arena, &report, out);
        return CUTE_OK;
    }
    cute_dump_json(cute_access_json(&report), out);
    return CUTE_OK;
}

cute_status cute_dump_layouts(const kernel_request *q, const cute_module *module, cute_buffer *out,
                              cute_diag *diag)
{
    layout_report report;
    if (q->json + q->svg + q->html + q->table > 1)
        return cute_fail(diag, CUTE_USAGE, NULL, "--json, --svg, --html and --table are mutually exclusive");
    if (q->number && !q->svg) return cute_fail(diag, CUTE_USAGE, NULL, "--number requires --svg");
    CUTE_TRY(cute_layouts_read(q->arena, q->label, module, q->kernel, &report, diag));
    if (q->svg && !q->number && report.items != 1) {
        cute_fail(diag, CUTE_USAGE, NULL, "--svg draws one layout, got %d", report.items);
        cute_note(diag, NULL, "select a layout of the list with --number=N, or draw all of them with --html");
        return CUTE_USAGE;
    }
    if (q->svg) return cute_layouts_svg(q->arena, &report, q->number ? q->number : 1, out, diag);
    if (q->html) return cute_layouts_html(q->arena, &report, out, diag);
    if (q->table) return cute_layouts_print_tables(q->arena, &report, out, diag);
    if (q->json)
        cute_dump_json(cute_layouts_json(&report), out);
    else
        cute_layouts_print(q->arena, &report, out);
    return CUTE_OK;
}

cute_status cute_dump_schedule(const kernel_request *q, const cute_module *module, cute_buffer *out,
                               cute_diag *diag)
{
    const cute_place file = {.file = q->label};
    schedule_report report;
    const schedule_kernel *drawn = NULL;
    size_t scheduled = 0;
    if (q->json && q->svg)
        return cute_fail(diag, CUTE_USAGE, NULL, "--json and --svg are mutually exclusive");
    CUTE_TRY(cute_schedule_read(q->arena, q->label, module, q->kernel, &report, diag));
    for (size_t n = 0; n < report.count; n++) {
        if (!report.kernels[n].ring_count) continue;
        drawn = &report.kernels[n];
        scheduled++;
    }
    if (q->svg && !scheduled)
        return cute_fail(diag, CUTE_INVALID, &file, "--svg draws a kernel with stages, got none");
    if (q->svg && scheduled > 1)
        return cute_fail(diag, CUTE_USAGE, &file,
                         "--svg draws one kernel, got %zu: select one with --kernel=NAME", scheduled);
    if (q->svg)
        cute_schedule_svg(drawn, out);
    else if (q->json)
        cute_dump_json(cute_schedule_json(&report), out);
    else
        cute_schedule_print(q->arena, &report, out);
    return CUTE_OK;
}
