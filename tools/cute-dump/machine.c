/* Views of machine code, resources and occupancy; PTX is compiled first. */
#include "tools/cute-dump/dump.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/devices/arch.h"
#include "lib/base/text/demangle.h"
#include "lib/cubin/link.h"
#include "lib/toolkit/native.h"

/* Compiles PTX to a cubin; with --kernel only that kernel, which matters for large modules. */
static cute_status compile_ptx(dump_settings *s, cute_link_result *result, cute_diag *diag)
{
    cute_link_input input = {.label = s->label};
    cute_link_options options = {.cuda_path = s->cuda_path, .opt_level = s->opt_level, .line_info = true};
    input.bytes = cute_module_image(s->module, &input.length);
    const char *entry = s->kernel ? cute_arena_printf(s->arena, "--entry=%s", s->kernel) : NULL;
    if (s->kernel && !entry) return cute_fail_memory(diag);
    if (entry) options.xptxas = (cute_option_list){&entry, 1};
    if (s->arch) options.archs = (cute_option_list){&s->arch, 1};
    return cute_link(s->arena, &options, &input, 1, result, diag);
}

static cute_status run_code_view(dump_settings *s, code_view *view, cute_buffer *out, cute_diag *diag)
{
    cute_link_result result = {0};
    cute_code code;
    size_t length;
    const void *image = cute_module_image(s->module, &length);
    cute_status status = cute_dump_check_kernel(s, diag);
    s->code.arena = s->arena;
    s->code.label = s->label;
    s->code.kernel = s->kernel;
    s->code.json = s->json;
    s->code.svg = s->svg;
    if (status == CUTE_OK && cute_module_get_format(s->module) == CUTE_MODULE_PTX) {
        status = compile_ptx(s, &result, diag);
        image = cute_buffer_text(&result.output);
        length = result.output.length;
    }
    if (status == CUTE_OK)
        status = cute_code_read(s->arena, s->label, image, length, s->cuda_path, s->code.sass.encodings,
                                &code, diag);
    if (status == CUTE_OK) status = view(&s->code, &code, out, diag);
    cute_buffer_release(&result.output);
    cute_buffer_release(&result.commands);
    return status;
}

cute_status do_sass(dump_settings *s, cute_buffer *out, cute_diag *diag)
{
    return run_code_view(s, cute_dump_sass, out, diag);
}

cute_status do_cfg(dump_settings *s, cute_buffer *out, cute_diag *diag)
{
    return run_code_view(s, cute_dump_cfg, out, diag);
}

cute_status do_histogram(dump_settings *s, cute_buffer *out, cute_diag *diag)
{
    return run_code_view(s, cute_dump_histogram, out, diag);
}

cute_status do_lines(dump_settings *s, cute_buffer *out, cute_diag *diag)
{
    return run_code_view(s, cute_dump_lines, out, diag);
}

/* Parses "256", "16x16" or "16,16,1", the size of a block or cluster; *out is the product. */
static cute_status read_extent(const char *option, const char *text, int64_t *out, cute_diag *diag)
{
    const char *at = text;
    int64_t all = 1;
    for (int dims = 0;; dims++) {
        char *end;
        long long value = strtoll(at, &end, 10);
        if (end == at || value < 1 || value > 1024 || (all *= value) > 1024 || dims == 3)
            return cute_fail(diag, CUTE_USAGE, NULL,
                             "expected %s=X, XxY or XxYxZ of 1 to 1024 in total, got '%s'", option, text);
        at = end;
        if (!*at) break;
        if (*at != 'x' && *at != ',')
            return cute_fail(diag, CUTE_USAGE, NULL, "expected 'x' between the dimensions of %s, got '%s'",
                             option, at);
        at++;
    }
    *out = all;
    return CUTE_OK;
}

static cute_status read_what_if(dump_settings *s, cute_diag *diag)
{
    resource_question *q = &s->question;
    const struct {
        const char *name;
        int64_t value;
    } sizes[] = {{"--registers", q->registers},
                 {"--shared", q->shared},
                 {"--dynamic", q->dynamic},
                 {"--barriers", q->barriers},
                 {"--carveout", q->carveout}};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        if (sizes[i].value < -1)
            return cute_fail(diag, CUTE_USAGE, NULL, "expected %s=N with N >= 0, got %lld", sizes[i].name,
                             (long long)sizes[i].value);
    if (q->shared >= 0 && q->dynamic >= 0)
        return cute_fail(
            diag, CUTE_USAGE, NULL,
            "--shared and --dynamic are mutually exclusive: --shared includes dynamic shared memory");
    if (s->json && s->svg)
        return cute_fail(diag, CUTE_USAGE, NULL, "--json and --svg are mutually exclusive");
    if (s->block) CUTE_TRY(read_extent("--block", s->block, &q->threads, diag));
    if (s->cluster) CUTE_TRY(read_extent("--cluster", s->cluster, &q->cluster, diag));
    return CUTE_OK;
}

/* Adds registers by class and spill lines. Without nvdisasm the report omits them, with a warning. */
static cute_status add_machine_code(dump_settings *s, const cute_module *module, resource_report *report,
                                    cute_diag *diag)
{
    cute_code code;
    size_t length;
    const void *image = cute_module_image(module, &length);
    cute_diag *own = cute_diag_create();
    cute_status status = cute_code_read(s->arena, s->label, image, length, s->cuda_path, false, &code, own);
    const cute_message *message = own && cute_diag_count(own) ? cute_diag_get(own, 0) : NULL;
    if (status == CUTE_OK)
        status = cute_resource_report_add_code(s->arena, report, &code, diag);
    else {
        cute_report(diag, CUTE_WARNING, NULL, "registers by class and spill lines are unavailable: %s",
                    message ? message->text : "cannot read the machine code");
        status = CUTE_OK;
    }
    cute_diag_destroy(own);
    return status;
}

static cute_status print_resources(dump_settings *s, const cute_module *module, cute_buffer *out,
                                   cute_diag *diag)
{
    const cute_place file = {.file = s->label};
    resource_report report;
    const cute_arch *made = cute_arch_find(cute_module_arch(module));
    if (s->arch && made != cute_arch_find(s->arch)) s->question.arch = s->arch;
    CUTE_TRY(cute_resource_report_create(s->arena, s->label, module, s->kernel, &s->question, &report, diag));
    if (!s->svg) CUTE_TRY(add_machine_code(s, module, &report, diag));
    if (s->json) return cute_dump_json(cute_resources_json(&report), out), CUTE_OK;
    if (!s->svg) return cute_resources_print(s->arena, &report, s->table, out), CUTE_OK;
    if (report.count != 1)
        return cute_fail(diag, CUTE_USAGE, &file,
                         "--svg draws one kernel, got %zu; select one with --kernel=NAME", report.count);
    if (!report.kernels->has_occupancy)
        return cute_fail(diag, CUTE_INVALID, &file, "%s", report.kernels->why_not);
    cute_occupancy_svg(&report.kernels->occupancy, cute_symbol_name(s->arena, report.kernels->kernel->name),
                       out);
    return CUTE_OK;
}

cute_status do_resources(dump_settings *s, cute_buffer *out, cute_diag *diag)
{
    cute_link_result result = {0};
    cute_module *compiled = NULL;
    CUTE_TRY(cute_dump_check_kernel(s, diag));
    CUTE_TRY(read_what_if(s, diag));
    if (cute_module_get_format(s->module) != CUTE_MODULE_PTX) return print_resources(s, s->module, out, diag);
    /* PTX that cannot target -arch is compiled for its own architecture. */
    const char *arch = s->arch;
    const cute_arch *made = cute_arch_find(cute_module_arch(s->module));
    if (arch && made && !cute_arch_compatible(made, false, cute_arch_find(arch))) s->arch = NULL;
    cute_status status = compile_ptx(s, &result, diag);
    s->arch = arch;
    if (status == CUTE_OK)
        status = cute_module_open(s->label, cute_buffer_text(&result.output), result.output.length, NULL,
                                  &compiled, diag);
    if (status == CUTE_OK) status = print_resources(s, compiled, out, diag);
    cute_module_close(compiled);
    cute_buffer_release(&result.output);
    cute_buffer_release(&result.commands);
    return status;
}

/* Computes occupancy from options alone, without an input file. */
cute_status do_occupancy(dump_settings *s, cute_buffer *out, cute_diag *diag)
{
    occupancy_report report = {0};
    const cute_arch *arch;
    CUTE_TRY(read_what_if(s, diag));
    CUTE_TRY(cute_arch_choose_native(s->arch, &arch, diag));
    if (s->question.registers < 0)
        return cute_fail(diag, CUTE_USAGE, NULL, "'occupancy' requires registers per thread: --registers=N");
    cute_occupancy_input in = {.size = sizeof in, .arch = arch->name};
    CUTE_TRY(cute_occupancy_report_create(s->arena, &in, &s->question, &report, diag));
    report.what_if = false;
    if (s->json)
        cute_dump_json(cute_occupancy_json(&report), out);
    else if (s->svg)
        cute_occupancy_svg(&report, "occupancy", out);
    else
        cute_occupancy_print(s->arena, &report, s->table, "", out);
    return CUTE_OK;
}
