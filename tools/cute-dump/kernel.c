/* Views of what kernels do with memory: each builds a value of lib/report/kernel and gives it in the form that was asked
 * for. */
#include "tools/cute-dump/kernel.h"

#include <stdlib.h>
#include <string.h>

#include "lib/code/access.h"
#include "lib/report/kernel/layouts.h"
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
    return cute_fail(diag, CUTE_USAGE, NULL, "expected --block=X, XxY or XxYxZ of 1 to 1024 in all, got '%s'",
                     text);
}

/* What does not follow from the code a launch tells. One that does not run leaves the rest as it is. */
static void add_counts(const kernel_question *q, const cute_module *module, cute_access_report *report)
{
    const emulate_question launch = {
        .arena = q->arena,
        .label = q->label,
        .module = module,
        .kernel = q->kernel,
        .config = q->config,
        .defines = q->defines,
    };
    cute_diag *own = cute_diag_create();
    json_t *counters = NULL;
    const char *why = "the launch does not run";
    if (cute_dump_emulate(&launch, &counters, own) != CUTE_OK && own && cute_diag_count(own)) {
        const char *text = cute_diag_get(own, 0)->text, *copy = cute_arena_copy(q->arena, text, strlen(text));
        if (copy) why = copy;
    }
    cute_access_add_counts(report, counters, why);
    json_decref(counters);
    cute_diag_destroy(own);
}

cute_status cute_dump_accesses(const kernel_question *q, const cute_module *module, cute_buffer *out,
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
                         "--config has the threads of a block; --block is not needed");
    if (q->defines.count && !q->config)
        return cute_fail(diag, CUTE_USAGE, NULL, "-D has no effect on 'accesses' without --config");
    if (q->config)
        CUTE_TRY(cute_access_read_launch(q->arena, q->label, module, q->kernel, q->config, q->defines.items,
                                         q->defines.count, &report, diag));
    else
        CUTE_TRY(cute_access_read_module(q->arena, q->label, module, &options, &report, diag));
    if (q->config && cute_access_wants_counts(&report)) add_counts(q, module, &report);
    if (!q->json) {
        cute_access_print(q->arena, &report, out);
        return CUTE_OK;
    }
    cute_dump_json(cute_access_json(&report), out);
    return CUTE_OK;
}

cute_status cute_dump_layouts(const kernel_question *q, const cute_module *module, cute_buffer *out,
                              cute_diag *diag)
{
    layout_report report;
    if (q->json + q->svg + q->html + q->table > 1)
        return cute_fail(diag, CUTE_USAGE, NULL, "one of --json, --svg, --html and --table at a time");
    if (q->number && !q->svg)
        return cute_fail(diag, CUTE_USAGE, NULL, "--number chooses the picture of --svg");
    CUTE_TRY(cute_layouts_read(q->arena, q->label, module, q->kernel, &report, diag));
    if (q->svg && !q->number && report.items != 1) {
        cute_fail(diag, CUTE_USAGE, NULL, "--svg is one picture, and there are %d layouts", report.items);
        cute_note(diag, NULL, "--number=N chooses, as they are listed; --html has all of them on a page");
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
