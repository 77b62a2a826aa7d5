/* See emulate.h. */
#include "tools/cute-dump/emulate.h"

#include <stdlib.h>
#include <string.h>

#include "cute/checks.h"
#include "cute/report.h"
#include "lib/base/file.h"

cute_status cute_dump_emulate(const emulate_question *q, json_t **out, cute_diag *diag)
{
    const char *outputs; /* they are not wanted */
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
    const char *slash = strrchr(q->config, '/');
    const char *folder = !slash ? NULL
                         : slash == q->config
                             ? "/"
                             : cute_arena_copy(q->arena, q->config, (size_t)(slash - q->config));
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
