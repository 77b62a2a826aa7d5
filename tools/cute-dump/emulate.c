/* See emulate.h. */
#include "tools/cute-dump/emulate.h"

#include <stdlib.h>
#include <string.h>

#include "cute/checks.h"
#include "cute/report.h"
#include "lib/base/system/file.h"
#include "lib/launch/plan/plan.h"

static const char *config_folder(const emulate_request *q)
{
    const char *slash = strrchr(q->config, '/');
    return !slash               ? NULL
           : slash == q->config ? "/"
                                : cute_arena_copy(q->arena, q->config, (size_t)(slash - q->config));
}

static json_t *extent_json(const int64_t of[3])
{
    return json_pack("[I,I,I]", (json_int_t)of[0], (json_int_t)of[1], (json_int_t)of[2]);
}

cute_status cute_dump_launches(const emulate_request *q, json_t **out, cute_diag *diag)
{
    cute_buffer text = {0};
    cute_config config = {0};
    cute_plan plan = {0};
    CUTE_TRY(cute_file_read(q->config, &text, diag));
    const config_source source = {.label = cute_file_label(q->config),
                                  .text = cute_buffer_text(&text),
                                  .length = text.length,
                                  .folder = config_folder(q),
                                  .module = q->module,
                                  .defines = q->defines.items,
                                  .define_count = q->defines.count};
    const plan_limits limits = cute_plan_limits("", NULL);
    json_t *launches = json_array();
    cute_status status = cute_config_read(q->arena, &source, &config, diag);
    if (status == CUTE_OK) status = cute_plan_make(&config, q->module, q->kernel, &limits, &plan, diag);
    for (size_t n = 0; status == CUTE_OK && n < plan.main.count; n++) {
        const plan_launch *l = &plan.main.launches[n];
        json_array_append_new(launches,
                              json_pack("{s:s,s:o,s:o,s:I}", "kernel", l->kernel->name, "grid",
                                        extent_json(l->shape.grid), "block", extent_json(l->shape.block),
                                        "dynamic_smem", (json_int_t)l->shape.dynamic_smem));
    }
    *out = json_pack("{s:o}", "launches", launches);
    if (!*out && status == CUTE_OK) status = cute_fail_memory(diag);
    cute_config_release(&config);
    cute_buffer_release(&text);
    return status;
}

cute_status cute_dump_emulate(const emulate_request *q, json_t **out, cute_diag *diag)
{
    const char *outputs; /* discarded */
    CUTE_TRY(cute_temp_directory(q->arena, &outputs, diag));
    const cute_emulator_options emulator = {.size = sizeof emulator,
                                            .counters = true,
                                            .checks = CUTE_CHECK_BANK | CUTE_CHECK_COALESCING,
                                            .multiprocessors = q->sms};
    const cute_launch_options options = {.size = sizeof options,
                                         .defines = q->defines.items,
                                         .define_count = q->defines.count,
                                         .kernel = q->kernel,
                                         .emulator = &emulator,
                                         .bench = CUTE_BENCH_NEVER,
                                         .no_check = true,
                                         .stdout_is_data = true,
                                         .output_folder = outputs,
                                         .module_label = q->label,
                                         .multiprocessors = q->sms};
    cute_buffer text = {0};
    cute_launch *launch = NULL;
    const char *folder = config_folder(q);
    cute_status status = cute_file_read(q->config, &text, diag);
    if (status == CUTE_OK)
        status = cute_launch_open(cute_file_label(q->config), cute_buffer_text(&text), text.length, folder,
                                  q->module, &options, &launch, diag);
    if (status == CUTE_OK) status = cute_launch_run(launch, diag);
    if (status == CUTE_MISMATCH) status = CUTE_OK;
    if (status == CUTE_OK) {
        char *report = cute_launch_report(launch, true, false);
        *out = report ? json_loads(report, 0, NULL) : NULL;
        free(report);
        if (!*out) status = cute_fail_memory(diag);
    }
    cute_launch_close(launch);
    cute_temp_remove(outputs);
    cute_buffer_release(&text);
    return status;
}
