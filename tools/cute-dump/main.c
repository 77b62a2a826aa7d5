/* cute-dump: inspects modules and the stages of their compilation. Each view of the table (views.c) reads its input, builds one
 * report in lib/report and prints it as text or JSON. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/base/system/file.h"
#include "lib/plugin/plugins.h"
#include "lib/toolkit/native.h"
#include "tools/cute-dump/dump.h"
#include "tools/cute-dump/evt.h"
#include "tools/cute-dump/layout.h"

void cute_dump_json(json_t *value, cute_buffer *out)
{
    cute_json_dump(value, true, out);
    if (out->length && out->data[out->length - 1] != '\n') cute_buffer_putc(out, '\n');
    json_decref(value);
}

bool cute_dump_wants_colour(const dump_settings *s)
{
    const char *none = getenv("NO_COLOR"), *terminal = getenv("TERM");
    return !s->output && !(none && *none) && terminal && strcmp(terminal, "dumb") != 0 &&
           isatty(STDOUT_FILENO);
}

static cute_status run_cute_dump(cute_tool *tool, void *context)
{
    dump_settings *s = context;
    cute_option_list *operands = &tool->operands;
    cute_diag *diag = tool->diag;
    s->arena = tool->arena;
    const dump_view *view = &cute_dump_views[0];
    cute_buffer out = {0};
    bool ranges = s->life_ranges != NULL;
    CUTE_TRY(cute_dump_take_flag_file(s, operands, &s->life_ranges, diag));
    CUTE_TRY(cute_dump_take_flag_file(s, operands, &s->shown, diag));
    if (ranges && !s->life_ranges) s->view_flags[CUTE_DUMP_FLAG_LINES] = true;
    if (s->shown) s->kernel = s->shown;
    if (s->life_ranges) {
        if (strcmp(s->life_ranges, "count") && strcmp(s->life_ranges, "wide") &&
            strcmp(s->life_ranges, "narrow"))
            return cute_fail(diag, CUTE_USAGE, NULL, "expected count, wide or narrow after -lrm, got '%s'",
                             s->life_ranges);
        s->code.sass.liveness = true;
    }
    CUTE_TRY(cute_dump_choose_view(s, operands, &view, diag));
    if (s->file && operands->count)
        return cute_fail(diag, CUTE_USAGE, NULL, "expected one file, got --file=%s and '%s'", s->file,
                         operands->items[0]);
    CUTE_TRY(cute_dump_check_options(s, view, diag));
    CUTE_TRY(cute_dump_take_script(s, operands, diag));
    const char *path = s->file ? s->file : operands->count ? operands->items[0] : "-";
    s->label = view->module ? cute_file_label(path) : path;
    if (s->plugin_paths.count) {
        const plugin_site site = {.program = "cute-dump"};
        CUTE_TRY(cute_plugins_load(s->plugin_paths.items, s->plugin_paths.count, &site, &s->plugins, diag));
    }
    if (s->arch) {
        const cute_arch *arch;
        CUTE_TRY(cute_arch_parse_native(s->arch, &arch, diag));
        s->arch = arch->name;
    }
    if (view->run == do_occupancy && operands->count) {
        cute_fail(diag, CUTE_USAGE, NULL, "'occupancy' takes no input file, got '%s'", operands->items[0]);
        cute_note(diag, NULL, "'cute-dump resources %s' prints the occupancy of the kernels in a file",
                  operands->items[0]);
        return CUTE_USAGE;
    }
    cute_status status = view->module ? cute_dump_open(s, tool, path, view->run == do_resources) : CUTE_OK;
    if (status == CUTE_OK && view->module) status = cute_dump_check_module(s, view, diag);
    if (status == CUTE_OK) status = view->run(s, &out, diag);
    if (!cute_buffer_ok(&out)) status = cute_fail_memory(diag);
    const char *target = view->run == do_run && !s->schema ? NULL : s->output;
    if (out.length && (status == CUTE_OK || !view->module)) {
        /* PTX is copied byte by byte unless stdout is a terminal. */
        bool data =
            s->json || s->svg || s->html || (view->run == do_ptx && (target || !isatty(STDOUT_FILENO)));
        cute_status written = data ? cute_file_write(target, cute_buffer_text(&out), out.length, diag)
                                   : cute_tool_write(target, cute_buffer_text(&out), out.length,
                                                     cute_dump_wants_colour(s), diag);
        if (status == CUTE_OK) status = written;
    }
    cute_buffer_release(&out);
    cute_module_close(s->module);
    return status;
}

int main(int argc, char **argv)
{
    dump_settings s = {.question = RESOURCE_AS_IS};
    cute_option options[CUTE_DUMP_OPTIONS + 1];
    cute_dump_list_options(&s, options);
    int first = cute_dump_find_operand(options, argc, argv);
    if (first && !strcmp(argv[first], "layout")) {
        memmove(argv + first, argv + first + 1, (size_t)(argc - first) * sizeof *argv);
        return cute_dump_layout(argc - 1, argv);
    }
    if (first && !strcmp(argv[first], "evt")) {
        memmove(argv + first, argv + first + 1, (size_t)(argc - first) * sizeof *argv);
        return cute_dump_evt(argc - 1, argv);
    }
    cute_buffer epilogue = {0};
    cute_dump_print_epilogue(&epilogue);
    const cute_command command = {
        .name = "cute-dump",
        .synopsis = "[view] [options] [file]",
        .summary =
            "Inspect kernels in a cubin, fatbin, PTX or MLIR file, and every stage of their compilation.",
        .options = options,
        .epilogue = cute_buffer_text(&epilogue)};
    int code = cute_tool_run(&command, NULL, run_cute_dump, &s, argc, argv);
    cute_plugins_close(s.plugins);
    cute_buffer_release(&epilogue);
    return code;
}
