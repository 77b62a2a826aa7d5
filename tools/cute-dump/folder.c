/* 'run' writes every stage of a compilation to a folder; 'diff' compares two of them. */
#include "tools/cute-dump/dump.h"

#include <stdio.h>
#include <string.h>

#include "lib/base/options/settings.h"
#include "lib/report/folder/diff.h"
#include "lib/report/folder/dumprun.h"
#include "lib/report/folder/schema.h"

cute_status do_run(dump_settings *s, cute_buffer *out, cute_diag *diag)
{
    cute_buffer commands = {0}, report = {0};
    if (s->schema) {
        cute_buffer_puts(out, cute_report_schema());
        return CUTE_OK;
    }
    if (s->each && !*s->each) s->each = "all";
    if (s->changed && s->each && strcmp(s->each, "changed") != 0)
        return cute_fail(diag, CUTE_USAGE, NULL, "--changed and --print-each-pass=%s are mutually exclusive",
                         s->each);
    if (s->changed) s->each = "changed";
    if (!s->output || strcmp(s->output, "-") == 0)
        return cute_fail(diag, CUTE_USAGE, NULL, "'run' requires an output folder: -o DIR");
    cute_dump_options options = {.input = s->label,
                                 .folder = s->output,
                                 .arch = s->arch,
                                 .opt_level = s->opt_level,
                                 .cuda_path = s->cuda_path,
                                 .defines = s->defines.items,
                                 .define_count = s->defines.count,
                                 .folders = s->folders.items,
                                 .folder_count = s->folders.count,
                                 .allow = s->allow.items,
                                 .allow_count = s->allow.count,
                                 .pipeline = s->pipeline,
                                 .plugins = s->plugin_paths.items,
                                 .plugin_count = s->plugin_paths.count,
                                 .tensor_map = s->tensor_map,
                                 .function = s->function,
                                 .each = s->each,
                                 .line_info = s->line_info || cute_setting_on("lineinfo"),
                                 .assertions = s->assertions || cute_setting_on("enable-assertions"),
                                 .verbose = s->verbose};
    cute_status status = cute_dump_run(&options, &commands, &report, diag);
    if (s->verbose) cute_tool_say(cute_buffer_text(&commands), commands.length);
    if (s->json) cute_buffer_append(out, cute_buffer_text(&report), report.length);
    cute_buffer_release(&report);
    cute_buffer_release(&commands);
    return status;
}

cute_status do_diff(dump_settings *s, cute_buffer *out, cute_diag *diag)
{
    json_t *difference;
    if (!s->second) return cute_fail(diag, CUTE_USAGE, NULL, "'diff' expects two operands");
    if (s->json && s->html)
        return cute_fail(diag, CUTE_USAGE, NULL, "--json and --html are mutually exclusive");
    CUTE_TRY(cute_diff_make(s->label, s->second, s->arch, s->cuda_path, &difference, diag));
    if (s->json) {
        cute_dump_json(difference, out);
        return CUTE_OK;
    }
    if (s->html)
        cute_diff_html(difference, out);
    else
        cute_diff_print(difference, cute_dump_wants_colour(s), out);
    json_decref(difference);
    return CUTE_OK;
}
