/* cute-dump: what is in a module, and what the pipe makes of one. A table of views; each reads its input, builds one
 * value in lib/report and prints it as text or JSON. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/base/arch.h"
#include "lib/base/demangle.h"
#include "lib/base/diag.h"
#include "lib/base/file.h"
#include "lib/base/nearest.h"
#include "lib/base/settings.h"
#include "lib/base/tool.h"
#include "lib/cubin/images.h"
#include "lib/cubin/link.h"
#include "lib/cubin/module.h"
#include "lib/report/counters.h"
#include "lib/report/dumprun.h"
#include "lib/report/elfview.h"
#include "lib/report/folder/diff.h"
#include "lib/report/folder/schema.h"
#include "lib/report/module.h"
#include "lib/report/resources/resources.h"
#include "lib/toolkit/native.h"
#include "lib/toolkit/pipe.h"
#include "tools/cute-dump/code.h"
#include "tools/cute-dump/explain.h"
#include "tools/cute-dump/kernel.h"
#include "tools/cute-dump/layout.h"

typedef struct settings {
    const char *output, *kernel, *counters, *arch, *cuda_path, *opt_level;
    const char *pipeline, *tensor_map, *config, *block, *cluster, *function, *each, *file;
    bool json, line_info, assertions, verbose, table, svg, changed, schema, html, all;
    const char *ncu;
    int64_t sms;
    int64_t number; /* of a layout */
    int64_t image;  /* 0: not asked */
    resource_question question;
    code_question code;
    bool habits[CUTE_DUMP_HABITS];   /* which of cute_dump_habits were given */
    const char *life_ranges, *shown; /* -lrm, -fun */
    cute_option_list defines, folders;
    bool compiled; /* from MLIR, by this program */
    cute_arena *arena;
    const char *label;   /* of the input */
    const char *second;  /* of 'diff' */
    cute_module *module; /* of views that have one */
} settings;

/* ---- views ---- */

static void put_json(json_t *value, cute_buffer *out)
{
    cute_json_dump(value, true, out);
    if (out->length && out->data[out->length - 1] != '\n') cute_buffer_putc(out, '\n');
    json_decref(value);
}

/* The kernel's symbol instead of what the user calls it. */
static cute_status check_kernel(settings *s, cute_diag *diag)
{
    const cute_kernel *kernel;
    if (!s->kernel) return CUTE_OK;
    CUTE_TRY(cute_module_find_kernel(s->module, s->kernel, &kernel, diag));
    s->kernel = kernel->name;
    return CUTE_OK;
}

static cute_status do_show(settings *s, cute_buffer *out, cute_diag *diag)
{
    CUTE_TRY(check_kernel(s, diag));
    if (s->json)
        put_json(cute_report_module_json(s->label, s->module, s->kernel, true), out);
    else
        cute_report_module(s->label, s->module, s->kernel, !s->kernel, out);
    return CUTE_OK;
}

static cute_status put_counted(const settings *s, const char *ptx, size_t length, cute_buffer *out,
                               cute_diag *diag)
{
    cute_buffer text = {0};
    json_t *report = NULL;
    while (length && !ptx[length - 1]) length--;
    cute_status status = cute_file_read(s->counters, &text, diag);
    if (status == CUTE_OK)
        status = cute_json_parse(cute_file_label(s->counters), cute_buffer_text(&text), text.length, &report,
                                 diag);
    if (status == CUTE_OK)
        status =
            cute_report_counted_ptx(cute_file_label(s->counters), report, s->kernel, ptx, length, out, diag);
    json_decref(report);
    cute_buffer_release(&text);
    return status;
}

static cute_status do_ptx(settings *s, cute_buffer *out, cute_diag *diag)
{
    const cute_place file = {.file = s->label};
    size_t length;
    const char *ptx = cute_module_ptx(s->module, &length);
    if (!ptx) {
        cute_fail(diag, CUTE_INVALID, &file, "this cubin has no PTX in it");
        cute_note(
            diag, NULL,
            "cute-link keeps it in the section .cute.ptx, unless its inputs have none or --strip is given");
        return CUTE_INVALID;
    }
    if (s->counters && s->json)
        return cute_fail(diag, CUTE_USAGE, NULL,
                         "--counters and --json contradict each other: the report is JSON already");
    if (s->counters) return put_counted(s, ptx, length, out, diag);
    if (!s->json) {
        cute_buffer_append(out, ptx, length);
        return CUTE_OK;
    }
    json_t *value = cute_report_module_json(s->label, s->module, NULL, false);
    json_object_set_new(value, "ptx", json_stringn(ptx, length));
    put_json(value, out);
    return CUTE_OK;
}

/* PTX has no machine code yet: it is compiled first. */
static cute_status compile_ptx(settings *s, cute_link_result *result, cute_diag *diag)
{
    cute_link_input input = {.label = s->label};
    cute_link_options options = {.cuda_path = s->cuda_path, .opt_level = s->opt_level, .line_info = true};
    input.bytes = cute_module_image(s->module, &input.length);
    if (s->arch) options.archs = (cute_option_list){&s->arch, 1};
    return cute_link(s->arena, &options, &input, 1, result, diag);
}

static cute_status put_code(settings *s, code_view *view, cute_buffer *out, cute_diag *diag)
{
    cute_link_result result = {0};
    cute_code code;
    size_t length;
    const void *image = cute_module_image(s->module, &length);
    cute_status status = check_kernel(s, diag);
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

static cute_status do_sass(settings *s, cute_buffer *out, cute_diag *diag)
{
    return put_code(s, cute_dump_sass, out, diag);
}

static cute_status do_cfg(settings *s, cute_buffer *out, cute_diag *diag)
{
    return put_code(s, cute_dump_cfg, out, diag);
}

static cute_status do_histogram(settings *s, cute_buffer *out, cute_diag *diag)
{
    return put_code(s, cute_dump_histogram, out, diag);
}

static cute_status do_lines(settings *s, cute_buffer *out, cute_diag *diag)
{
    return put_code(s, cute_dump_lines, out, diag);
}

/* "256", "16x16" or "16,16,1": threads of a block, blocks of a cluster. */
static cute_status read_extent(const char *option, const char *text, int64_t *out, cute_diag *diag)
{
    const char *at = text;
    int64_t all = 1;
    for (int dims = 0;; dims++) {
        char *end;
        long long value = strtoll(at, &end, 10);
        if (end == at || value < 1 || value > 1024 || (all *= value) > 1024 || dims == 3)
            return cute_fail(diag, CUTE_USAGE, NULL,
                             "expected %s=X, XxY or XxYxZ of 1 to 1024 in all, got '%s'", option, text);
        at = end;
        if (!*at) break;
        if (*at != 'x' && *at != ',')
            return cute_fail(diag, CUTE_USAGE, NULL, "expected 'x' between the sizes of %s, got '%s'", option,
                             at);
        at++;
    }
    *out = all;
    return CUTE_OK;
}

static cute_status read_question(settings *s, cute_diag *diag)
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
            return cute_fail(diag, CUTE_USAGE, NULL, "expected %s=N of 0 or more, got %lld", sizes[i].name,
                             (long long)sizes[i].value);
    if (q->shared >= 0 && q->dynamic >= 0)
        return cute_fail(diag, CUTE_USAGE, NULL,
                         "--shared is all shared memory, --dynamic a part of it; one of them at a time");
    if (s->json && s->svg) return cute_fail(diag, CUTE_USAGE, NULL, "one of --json and --svg at a time");
    if (s->block) CUTE_TRY(read_extent("--block", s->block, &q->threads, diag));
    if (s->cluster) CUTE_TRY(read_extent("--cluster", s->cluster, &q->cluster, diag));
    return CUTE_OK;
}

/* Without nvdisasm the report is as long as it can be. */
static cute_status add_code(settings *s, const cute_module *module, resource_report *report, cute_diag *diag)
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
        cute_report(diag, CUTE_WARNING, NULL, "no registers by class and lines of spills: %s",
                    message ? message->text : "the code cannot be read");
        status = CUTE_OK;
    }
    cute_diag_destroy(own);
    return status;
}

static cute_status put_resources(settings *s, const cute_module *module, cute_buffer *out, cute_diag *diag)
{
    const cute_place file = {.file = s->label};
    resource_report report;
    const cute_arch *made = cute_arch_find(cute_module_arch(module));
    if (s->arch && made != cute_arch_find(s->arch)) s->question.arch = s->arch;
    CUTE_TRY(cute_resource_report_create(s->arena, s->label, module, s->kernel, &s->question, &report, diag));
    if (!s->svg) CUTE_TRY(add_code(s, module, &report, diag));
    if (s->json) return put_json(cute_resources_json(&report), out), CUTE_OK;
    if (!s->svg) return cute_resources_print(s->arena, &report, s->table, out), CUTE_OK;
    if (report.count != 1)
        return cute_fail(diag, CUTE_USAGE, &file,
                         "a picture is of one kernel, and there are %zu; --kernel chooses", report.count);
    if (!report.kernels->has_occupancy)
        return cute_fail(diag, CUTE_INVALID, &file, "%s", report.kernels->why_not);
    cute_occupancy_svg(&report.kernels->occupancy, cute_symbol_name(s->arena, report.kernels->kernel->name),
                       out);
    return CUTE_OK;
}

static cute_status do_resources(settings *s, cute_buffer *out, cute_diag *diag)
{
    cute_link_result result = {0};
    cute_module *compiled = NULL;
    CUTE_TRY(check_kernel(s, diag));
    CUTE_TRY(read_question(s, diag));
    if (cute_module_get_format(s->module) != CUTE_MODULE_PTX) return put_resources(s, s->module, out, diag);
    /* What cannot become code for -arch is compiled for its own. */
    const char *arch = s->arch;
    const cute_arch *made = cute_arch_find(cute_module_arch(s->module));
    if (arch && made && !cute_arch_compatible(made, false, cute_arch_find(arch))) s->arch = NULL;
    cute_status status = compile_ptx(s, &result, diag);
    s->arch = arch;
    if (status == CUTE_OK)
        status = cute_module_open(s->label, cute_buffer_text(&result.output), result.output.length, NULL,
                                  &compiled, diag);
    if (status == CUTE_OK) status = put_resources(s, compiled, out, diag);
    cute_module_close(compiled);
    cute_buffer_release(&result.output);
    cute_buffer_release(&result.commands);
    return status;
}

/* Of numbers alone: there is no input. */
static cute_status do_occupancy(settings *s, cute_buffer *out, cute_diag *diag)
{
    occupancy_report report = {0};
    const cute_arch *arch;
    CUTE_TRY(read_question(s, diag));
    CUTE_TRY(cute_arch_choose_native(s->arch, &arch, diag));
    if (s->question.registers < 0)
        return cute_fail(diag, CUTE_USAGE, NULL,
                         "'occupancy' needs the registers of a thread: --registers=N");
    cute_occupancy_input in = {.size = sizeof in, .arch = arch->name};
    CUTE_TRY(cute_occupancy_report_create(s->arena, &in, &s->question, &report, diag));
    report.what_if = false;
    if (s->json)
        put_json(cute_occupancy_json(&report), out);
    else if (s->svg)
        cute_occupancy_svg(&report, "occupancy", out);
    else
        cute_occupancy_print(s->arena, &report, s->table, "", out);
    return CUTE_OK;
}

static kernel_question kernel_question_of(const settings *s)
{
    return (kernel_question){.arena = s->arena,
                             .label = s->label,
                             .kernel = s->kernel,
                             .block = s->block,
                             .config = s->config,
                             .defines = s->defines,
                             .number = s->number,
                             .json = s->json,
                             .svg = s->svg,
                             .html = s->html,
                             .table = s->table};
}

static cute_status do_accesses(settings *s, cute_buffer *out, cute_diag *diag)
{
    CUTE_TRY(check_kernel(s, diag));
    const kernel_question q = kernel_question_of(s);
    return cute_dump_accesses(&q, s->module, out, diag);
}

static cute_status do_layouts(settings *s, cute_buffer *out, cute_diag *diag)
{
    CUTE_TRY(check_kernel(s, diag));
    const kernel_question q = kernel_question_of(s);
    return cute_dump_layouts(&q, s->module, out, diag);
}

static cute_status do_elf(settings *s, cute_buffer *out, cute_diag *diag)
{
    const cute_place file = {.file = s->label};
    const cute_elf *elf = cute_module_elf(s->module);
    json_t *value;
    if (!elf)
        return cute_fail(diag, CUTE_INVALID, &file,
                         "this is PTX, which has no ELF sections; 'cute-link' makes a cubin of it");
    if (!s->json) return cute_report_elf(elf, out, diag);
    CUTE_TRY(cute_report_elf_json(elf, &value, diag));
    put_json(value, out);
    return CUTE_OK;
}

static cute_status do_images(settings *s, cute_buffer *out, cute_diag *diag)
{
    s->code.arena = s->arena;
    s->code.json = s->json;
    return cute_dump_images(&s->code, s->label, out, diag);
}

/* Everything that can be shown of a module. */
static cute_status do_all(settings *s, cute_buffer *out, cute_diag *diag)
{
    const struct {
        const char *name;
        bool has;
        cute_status (*run)(settings *s, cute_buffer *out, cute_diag *diag);
    } parts[] = {
        {"show", true, do_show},
        {"elf", cute_module_elf(s->module) != NULL, do_elf},
        {"ptx", cute_module_ptx(s->module, &(size_t){0}) != NULL, do_ptx},
        {"sass", true, do_sass},
    };
    json_t *value = json_object();
    cute_status status = CUTE_OK;
    for (size_t i = 0; status == CUTE_OK && i < sizeof parts / sizeof *parts; i++) {
        cute_buffer part = {0};
        if (!parts[i].has) continue;
        status = parts[i].run(s, &part, diag);
        if (s->json)
            json_object_set_new(value, parts[i].name, json_loads(cute_buffer_text(&part), 0, NULL));
        else
            cute_buffer_printf(out, "%s==== %s ====\n%s", i ? "\n" : "", parts[i].name,
                               cute_buffer_text(&part));
        cute_buffer_release(&part);
    }
    if (s->json && status == CUTE_OK)
        put_json(value, out);
    else
        json_decref(value);
    return status;
}

static cute_status do_run(settings *s, cute_buffer *out, cute_diag *diag)
{
    cute_buffer commands = {0}, report = {0};
    if (s->schema) {
        cute_buffer_puts(out, cute_report_schema());
        return CUTE_OK;
    }
    if (s->each && !*s->each) s->each = "all";
    if (s->changed && s->each && strcmp(s->each, "changed") != 0)
        return cute_fail(diag, CUTE_USAGE, NULL, "--changed and --print-each-pass=%s contradict each other",
                         s->each);
    if (s->changed) s->each = "changed";
    if (!s->output || strcmp(s->output, "-") == 0)
        return cute_fail(diag, CUTE_USAGE, NULL, "'run' writes a folder; name it with -o DIR");
    cute_dump_options options = {.input = s->label,
                                 .folder = s->output,
                                 .arch = s->arch,
                                 .opt_level = s->opt_level,
                                 .cuda_path = s->cuda_path,
                                 .defines = s->defines.items,
                                 .define_count = s->defines.count,
                                 .folders = s->folders.items,
                                 .folder_count = s->folders.count,
                                 .pipeline = s->pipeline,
                                 .tensor_map = s->tensor_map,
                                 .function = s->function,
                                 .each = s->each,
                                 .line_info = s->line_info || cute_setting_on("lineinfo"),
                                 .assertions = s->assertions || cute_setting_on("enable-assertions"),
                                 .verbose = s->verbose};
    cute_status status = cute_dump_run(&options, &commands, &report, diag);
    if (s->verbose) fputs(cute_buffer_text(&commands), stderr);
    if (s->json) cute_buffer_append(out, cute_buffer_text(&report), report.length);
    cute_buffer_release(&report);
    cute_buffer_release(&commands);
    return status;
}

/* Colour where a person looks, unless NO_COLOR says otherwise. */
static bool wants_colour(const settings *s)
{
    const char *none = getenv("NO_COLOR"), *terminal = getenv("TERM");
    return !s->output && !(none && *none) && terminal && strcmp(terminal, "dumb") != 0 &&
           isatty(STDOUT_FILENO);
}

static cute_status do_diff(settings *s, cute_buffer *out, cute_diag *diag)
{
    json_t *difference;
    if (!s->second) return cute_fail(diag, CUTE_USAGE, NULL, "'diff' expects two operands");
    if (s->json && s->html)
        return cute_fail(diag, CUTE_USAGE, NULL, "--json and --html contradict each other");
    CUTE_TRY(cute_diff_make(s->label, s->second, s->arch, s->cuda_path, &difference, diag));
    if (s->json) {
        put_json(difference, out);
        return CUTE_OK;
    }
    if (s->html)
        cute_diff_html(difference, out);
    else
        cute_diff_print(difference, wants_colour(s), out);
    json_decref(difference);
    return CUTE_OK;
}

static cute_status do_explain(settings *s, cute_buffer *out, cute_diag *diag)
{
    CUTE_TRY(check_kernel(s, diag));
    if (s->sms < 0 || s->sms > 4096)
        return cute_fail(diag, CUTE_USAGE, NULL, "expected --sms=N of 1 to 4096, got %lld",
                         (long long)s->sms);
    const explain_question q = {.arena = s->arena,
                                .label = s->label,
                                .module = s->module,
                                .kernel = s->kernel,
                                .arch = s->arch,
                                .opt_level = s->opt_level,
                                .cuda_path = s->cuda_path,
                                .config = s->config,
                                .ncu = s->ncu,
                                .sms = s->sms,
                                .defines = s->defines,
                                .json = s->json,
                                .html = s->html,
                                .all = s->all,
                                .colour = wants_colour(s)};
    return cute_dump_explain(&q, out, diag);
}

static cute_status do_source(settings *s, cute_buffer *out, cute_diag *diag)
{
    cute_buffer text = {0};
    json_t *report = NULL;
    const char *label = cute_file_label(s->label);
    cute_status status = cute_file_read(s->label, &text, diag);
    if (status == CUTE_OK)
        status = cute_json_parse(label, cute_buffer_text(&text), text.length, &report, diag);
    if (status == CUTE_OK) status = cute_report_counted_source(label, report, s->kernel, out, diag);
    json_decref(report);
    cute_buffer_release(&text);
    return status;
}

/* The table of causes; with an operand the row of that name, or the one that fits a message. */
static cute_status do_causes(settings *s, cute_buffer *out, cute_diag *diag)
{
    bool all = strcmp(s->label, "-") == 0, any = false;
    const cute_cause *fits = all ? NULL : cute_cause_of(s->label), *cause;
    if (s->json) cute_buffer_putc(out, '[');
    for (size_t i = 0; (cause = cute_cause_get(i)) != NULL; i++) {
        if (!all && cause != fits && strcmp(cause->id, s->label) != 0) continue;
        if (s->json) cute_buffer_puts(out, any ? ",\n" : "\n");
        (s->json ? cute_cause_json : cute_cause_text)(cause, out);
        any = true;
    }
    if (s->json) cute_buffer_puts(out, "\n]\n");
    if (any) return CUTE_OK;
    cute_fail(diag, CUTE_INVALID, NULL, "expected the name of a cause or the text of a message, got '%s'",
              s->label);
    cute_note(diag, NULL, "cute-dump causes prints them all");
    return CUTE_INVALID;
}

/* Options that not all views have. */
enum {
    KERNEL = 1,
    COUNTERS = 2,
    ARCH = 4,
    LEVEL = 8,
    DEFINES = 16,
    LINES = 32,
    CUDA = 64,
    VERBOSE = 128,
    JSON = 256,
    PIPELINE = 512,
    WHATIF = 1024,
    SASS = 2048,
    GRAPH = 4096,
    AT = 8192,
    HTML = 16384,
    BLOCK = 32768,
    CONFIG = 65536,
    REASONS = 131072,
    PICTURES = 262144,
    IMAGE = 524288,
};

static const struct view {
    const char *name, *help;
    bool module;    /* its input is one */
    unsigned takes; /* options */
    cute_status (*run)(settings *s, cute_buffer *out, cute_diag *diag);
} views[] = {
    {"show", "kernels with resources, parameters and sections (the default)", true, JSON | KERNEL | ARCH,
     do_show},
    {"ptx", "the PTX", true, JSON | KERNEL | COUNTERS | ARCH, do_ptx},
    {"source", "the source with what each line did; its input is a report of cute-run --counters --json",
     false, KERNEL, do_source},
    {"sass", "the machine code with source lines; PTX is compiled first", true,
     JSON | KERNEL | ARCH | LEVEL | CUDA | SASS, do_sass},
    {"cfg", "basic blocks, edges and loops of the machine code", true,
     JSON | KERNEL | ARCH | LEVEL | CUDA | GRAPH, do_cfg},
    {"histogram", "instructions by class and opcode, memory operations, chains of dependences", true,
     JSON | KERNEL | ARCH | LEVEL | CUDA, do_histogram},
    {"lines", "source lines with the instructions that came from them", true,
     JSON | KERNEL | ARCH | LEVEL | CUDA | AT, do_lines},
    {"resources", "registers, spills, memory and barriers of each kernel, and its occupancy; what if", true,
     JSON | KERNEL | ARCH | LEVEL | CUDA | WHATIF, do_resources},
    {"occupancy", "the same of numbers: --registers, --block, --shared; it has no input", false,
     JSON | ARCH | WHATIF, do_occupancy},
    {"accesses", "what each access to memory costs: wavefronts of shared, sectors of global memory", true,
     JSON | KERNEL | ARCH | BLOCK | CONFIG | DEFINES, do_accesses},
    {"explain", "why a kernel is slow: findings with their lines, shares of the time and ways out", true,
     JSON | KERNEL | ARCH | LEVEL | CUDA | HTML | DEFINES | CONFIG | REASONS, do_explain},
    {"layouts", "tensors, tiled copies, MMAs and TMA boxes of a kernel, and pictures of them", true,
     JSON | KERNEL | ARCH | PICTURES, do_layouts},
    {"elf", "header, sections, symbols and attributes of a cubin", true, JSON | ARCH, do_elf},
    {"images", "the cubins and PTX in a fatbin, an object, a program or an archive", false, JSON, do_images},
    {"all", "show, elf, ptx and sass", true, JSON | ARCH | LEVEL | CUDA | SASS, do_all},
    {"run", "take an MLIR file through the pipe; all that stands between goes to -o DIR", false,
     JSON | ARCH | LEVEL | DEFINES | LINES | PIPELINE | CUDA | VERBOSE, do_run},
    {"diff", "what differs between two dump folders, modules or MLIR files", false, JSON | ARCH | CUDA | HTML,
     do_diff},
    {"causes", "likely causes of errors and what to try: of all, or of a name or a message", false, JSON,
     do_causes},
    {"layout", "evaluate and draw layouts; it has options of its own: cute-dump layout --help", false, 0,
     NULL},
};
enum { VIEW_COUNT = sizeof views / sizeof *views };

static const char *view_at(const void *list, size_t index)
{
    (void)list;
    return index < VIEW_COUNT ? views[index].name : NULL;
}

static const struct view *find_view(const char *name)
{
    for (size_t i = 0; i < VIEW_COUNT; i++)
        if (strcmp(views[i].name, name) == 0) return &views[i];
    return NULL;
}

/* ---- the command line ---- */

/* Where the first operand is; 0: there is none. */
static int find_operand(const cute_option *options, int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        const char *word = argv[i];
        if (word[0] != '-' || !word[1]) return i;
        if (!strcmp(word, "--")) return i + 1 < argc ? i + 1 : 0;
        const char *name = word + 1 + (word[1] == '-');
        for (const cute_option *o = options; o->kind != CUTE_OPTION_GROUP || o->name; o++)
            if (o->kind > CUTE_OPTION_FLAG &&
                (!strcmp(name, o->name) || (!name[1] && name[0] == o->letter))) {
                i++;
                break;
            }
    }
    return 0;
}

/* The first operand is a view if it is the name of one and no file. */
static cute_status choose(settings *s, cute_option_list *operands, const struct view **view, cute_diag *diag)
{
    const cute_sass_options *sass = &s->code.sass;
    const char *asked = NULL; /* by cuobjdump's or nvdisasm's option */
    for (size_t i = 0; i < CUTE_DUMP_HABITS; i++) {
        const char *habit = cute_dump_habits[i].view;
        if (!s->habits[i] || (asked && !strcmp(asked, habit))) continue;
        if (asked) return cute_fail(diag, CUTE_USAGE, NULL, "one view at a time: '%s' or '%s'", asked, habit);
        asked = habit;
        /* nvdisasm prints its graph for dot. */
        if (!strcmp(habit, "cfg") && !s->json && !s->svg) s->code.dot = true;
    }
    *view = &views[0];
    if (asked)
        *view = find_view(asked);
    else if (sass->liveness || sass->encodings || sass->hot)
        *view = find_view("sass");
    const char *first = operands->count ? operands->items[0] : NULL;
    const struct view *named = first ? find_view(first) : NULL;
    if (named && (operands->count > 1 || !cute_file_exists(first))) {
        if (asked && *view != named)
            return cute_fail(diag, CUTE_USAGE, NULL, "one view at a time: '%s' or '%s'", first, asked);
        *view = named;
        operands->items++;
        operands->count--;
        if (named->run == do_diff && operands->count == 2) s->second = operands->items[--operands->count];
    } else if (first && operands->count > 1) {
        const char *near = cute_nearest(first, view_at, NULL);
        if (near)
            return cute_fail(diag, CUTE_USAGE, NULL, "unknown view '%s'; did you mean '%s'?", first, near);
        cute_fail(diag, CUTE_USAGE, NULL, "expected one file; unexpected '%s'", operands->items[1]);
        cute_buffer names = {0};
        for (size_t v = 0; v < VIEW_COUNT; v++)
            cute_buffer_printf(&names, "%s%s", !v ? "" : v + 1 == VIEW_COUNT ? " and " : ", ", views[v].name);
        cute_note(diag, NULL, "views are %s", cute_buffer_text(&names));
        cute_buffer_release(&names);
        return CUTE_USAGE;
    }
    if (operands->count > 1)
        return cute_fail(diag, CUTE_USAGE, NULL, "expected one file; unexpected '%s'", operands->items[1]);
    return CUTE_OK;
}

/* MLIR in the place of a module is compiled; a file can have several modules. */
static unsigned taken_by(const struct view *view)
{
    return view->takes | (view->module ? DEFINES | IMAGE : 0);
}

/* An option without an effect is a mistake of who gave it. */
static cute_status check_options(const settings *s, const struct view *view, cute_diag *diag)
{
    const struct {
        unsigned option;
        const char *name;
        bool given;
    } options[] = {
        {JSON, "--json", s->json},
        {KERNEL, "--kernel", s->kernel != NULL},
        {IMAGE, "--image", s->image != 0},
        {COUNTERS, "--counters", s->counters != NULL},
        {ARCH, "-arch", s->arch != NULL},
        {LEVEL, "-O", s->opt_level != NULL},
        {DEFINES, "-D", s->defines.count > 0},
        {DEFINES, "-I", s->folders.count > 0},
        {LINES, "-lineinfo", s->line_info},
        {PIPELINE, "--pass-pipeline", s->pipeline != NULL},
        {PICTURES, "--number", s->number != 0},
        {CONFIG, "--config", s->config != NULL},
        {WHATIF, "--registers", s->question.registers != -1},
        {WHATIF, "--shared", s->question.shared != -1},
        {WHATIF, "--dynamic", s->question.dynamic != -1},
        {WHATIF, "--barriers", s->question.barriers != -1},
        {WHATIF, "--carveout", s->question.carveout != -1},
        {WHATIF | BLOCK, "--block", s->block != NULL},
        {WHATIF, "--cluster", s->cluster != NULL},
        {WHATIF | PICTURES, "--table", s->table},
        {WHATIF | GRAPH | PICTURES, "--svg", s->svg},
        {PIPELINE, "--tensor-map", s->tensor_map != NULL},
        {PIPELINE, "--enable-assertions", s->assertions},
        {PIPELINE, "--func", s->function != NULL},
        {PIPELINE, "--file", s->file != NULL},
        {PIPELINE, "--print-each-pass", s->each != NULL},
        {PIPELINE, "--changed", s->changed},
        {PIPELINE, "--schema", s->schema},
        {HTML | PICTURES, "--html", s->html},
        {REASONS, "--ncu", s->ncu != NULL},
        {REASONS, "--sms", s->sms != 0},
        {REASONS, "--all-findings", s->all},
        {CUDA, "--cuda-path", s->cuda_path != NULL},
        {VERBOSE, "--verbose", s->verbose},
        {SASS, "--encodings", s->code.sass.encodings},
        {SASS, "--liveness", s->code.sass.liveness},
        {SASS, "--hot", s->code.sass.hot},
        {GRAPH, "--dot", s->code.dot},
        {AT, "--at", s->code.at != NULL},
    };
    for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
        if (!options[i].given || taken_by(view) & options[i].option) continue;
        cute_buffer names = {0};
        for (size_t v = 0; v < VIEW_COUNT; v++)
            if (taken_by(&views[v]) & options[i].option)
                cute_buffer_printf(&names, "%s'%s'", names.length ? ", " : "", views[v].name);
        cute_fail(diag, CUTE_USAGE, NULL, "%s has no effect on '%s'", options[i].name, view->name);
        cute_note(diag, NULL, "it is for %s", cute_buffer_text(&names));
        cute_buffer_release(&names);
        return CUTE_USAGE;
    }
    if (s->kernel && view->run == do_ptx && !s->counters)
        return cute_fail(diag, CUTE_USAGE, NULL, "--kernel has no effect on 'ptx' without --counters");
    return cute_link_check_options(&(cute_link_options){.opt_level = s->opt_level}, diag);
}

/* -arch chooses of a fatbin and compiles PTX; what is one architecture's already has to be that one's. */
static cute_status check_module(const settings *s, const struct view *view, cute_diag *diag)
{
    const cute_place file = {.file = s->label};
    bool compiled = cute_module_get_format(s->module) == CUTE_MODULE_CUBIN;
    const char *made = cute_module_arch(s->module);
    if (s->compiled) return CUTE_OK;
    if ((s->defines.count && !s->config) || s->folders.count)
        return cute_fail(diag, CUTE_USAGE, &file, "%s is for MLIR, and this is compiled already",
                         s->defines.count ? "-D" : "-I");
    if (s->opt_level && compiled)
        return cute_fail(diag, CUTE_USAGE, &file, "-O has no effect on a cubin, which is compiled already");
    if (!s->arch || cute_module_get_container(s->module) == CUTE_MODULE_FATBIN ||
        (view->takes & LEVEL && !compiled) || view->run == do_resources ||
        cute_arch_find(made) == cute_arch_find(s->arch))
        return CUTE_OK;
    return cute_fail(diag, CUTE_INVALID, &file, "expected a module for %s, got one for %s", s->arch, made);
}

/* What the pipe makes of it takes its place. */
static cute_status compile_mlir(settings *s, cute_tool *tool, const char *path, cute_buffer *bytes)
{
    cute_pipe pipe = {.arch = s->arch,
                      .opt_level = s->opt_level,
                      .cuda_path = s->cuda_path,
                      .defines = &s->defines,
                      .folders = &s->folders,
                      .format = tool->format};
    cute_buffer source = *bytes, said = {0};
    *bytes = (cute_buffer){0};
    cute_status status = cute_pipe_run(s->arena, &pipe, path, cute_buffer_text(&source), source.length, bytes,
                                       &said, tool->diag);
    fputs(cute_buffer_text(&said), stderr);
    cute_buffer_release(&said);
    cute_buffer_release(&source);
    return status;
}

/* `or_any`: where there is no image for -arch, any is taken. */
static cute_status open_module(settings *s, cute_tool *tool, const char *path, bool or_any)
{
    cute_buffer bytes = {0};
    cute_diag *diag = tool->diag;
    cute_status status = cute_file_read(path, &bytes, diag);
    bool any = or_any && s->arch;
    s->compiled = cute_content_is_mlir(cute_buffer_text(&bytes), bytes.length);
    if (status == CUTE_OK && s->compiled) status = compile_mlir(s, tool, path, &bytes);
    const void *image = cute_buffer_text(&bytes);
    size_t length = bytes.length;
    if (status == CUTE_OK)
        status = cute_images_choose(s->arena, s->label, s->image, s->kernel, any ? NULL : s->arch, &image,
                                    &length, diag);
    bool chosen = status == CUTE_OK;
    if (chosen) status = cute_module_open(s->label, image, length, s->arch, &s->module, any ? NULL : diag);
    if (chosen && status != CUTE_OK && any && length)
        status = cute_module_open(s->label, image, length, NULL, &s->module, diag);
    cute_buffer_release(&bytes);
    return status;
}

/* "-lrm k.cubin" and "-fun k.cubin", as flags: the lines, and the functions. The file is the operand then. */
static cute_status take_file(settings *s, cute_option_list *operands, const char **value, cute_diag *diag)
{
    if (!*value || s->file || operands->count > 1 || !cute_file_exists(*value)) return CUTE_OK;
    if (operands->count && (!find_view(operands->items[0]) || cute_file_exists(operands->items[0])))
        return CUTE_OK;
    if (!cute_option_append(s->arena, operands, *value)) return cute_fail_memory(diag);
    *value = NULL;
    return CUTE_OK;
}

static cute_status work(cute_tool *tool, void *context)
{
    settings *s = context;
    cute_option_list *operands = &tool->operands;
    cute_diag *diag = tool->diag;
    s->arena = tool->arena;
    const struct view *view = &views[0];
    cute_buffer out = {0};
    bool ranges = s->life_ranges != NULL;
    CUTE_TRY(take_file(s, operands, &s->life_ranges, diag));
    CUTE_TRY(take_file(s, operands, &s->shown, diag));
    if (ranges && !s->life_ranges) s->habits[CUTE_DUMP_LINES] = true;
    if (s->shown) s->kernel = s->shown;
    if (s->life_ranges) {
        if (strcmp(s->life_ranges, "count") && strcmp(s->life_ranges, "wide") &&
            strcmp(s->life_ranges, "narrow"))
            return cute_fail(diag, CUTE_USAGE, NULL, "expected count, wide or narrow after -lrm, got '%s'",
                             s->life_ranges);
        s->code.sass.liveness = true;
    }
    CUTE_TRY(choose(s, operands, &view, diag));
    if (s->file && operands->count)
        return cute_fail(diag, CUTE_USAGE, NULL, "expected one file, got --file=%s and '%s'", s->file,
                         operands->items[0]);
    const char *path = s->file ? s->file : operands->count ? operands->items[0] : "-";
    s->label = view->module ? cute_file_label(path) : path;
    CUTE_TRY(check_options(s, view, diag));
    if (s->arch) {
        const cute_arch *arch;
        CUTE_TRY(cute_arch_parse_native(s->arch, &arch, diag));
        s->arch = arch->name;
    }
    if (view->run == do_occupancy && operands->count)
        return cute_fail(diag, CUTE_USAGE, NULL, "'occupancy' has no input; unexpected '%s'",
                         operands->items[0]);
    cute_status status = view->module ? open_module(s, tool, path, view->run == do_resources) : CUTE_OK;
    if (status == CUTE_OK && view->module) status = check_module(s, view, diag);
    if (status == CUTE_OK) status = view->run(s, &out, diag);
    if (!cute_buffer_ok(&out)) status = cute_fail_memory(diag);
    const char *target = view->run == do_run && !s->schema ? NULL : s->output;
    if (out.length && (status == CUTE_OK || !view->module)) {
        cute_status written = cute_file_write(target, cute_buffer_text(&out), out.length, diag);
        if (status == CUTE_OK) status = written;
    }
    cute_buffer_release(&out);
    cute_module_close(s->module);
    return status;
}

int main(int argc, char **argv)
{
    settings s = {.question = RESOURCE_AS_IS};
    enum { OWN = 64 };
    cute_option options[OWN + CUTE_DUMP_HABITS + 1] = {
        {CUTE_OPTION_GROUP, "Options", 0, NULL, NULL, NULL},
        {CUTE_OPTION_STRING, "output", 'o', "FILE|DIR", "output file (default: stdout); the folder of 'run'",
         &s.output},
        {CUTE_OPTION_FLAG, "json", 0, NULL, "the same as JSON", &s.json},
        {CUTE_OPTION_STRING, "kernel", 'k', "NAME", "only this kernel", &s.kernel},
        {CUTE_OPTION_INT, "image", 0, "N", "of several only this one, as 'images' numbers them", &s.image},
        {CUTE_OPTION_STRING, "fun", 0, "NAME", NULL, &s.shown},
        {CUTE_OPTION_STRING, "function", 0, "NAME", NULL, &s.shown},
        {CUTE_OPTION_FLAG, "encodings", 0, NULL, "'sass': the bytes of each instruction (-hex)",
         &s.code.sass.encodings},
        {CUTE_OPTION_FLAG, "liveness", 0, NULL, "'sass': live registers at each instruction (-plr)",
         &s.code.sass.liveness},
        {CUTE_OPTION_FLAG, "hot", 0, NULL, "'sass': loops only, the deepest first", &s.code.sass.hot},
        {CUTE_OPTION_FLAG, "dot", 0, NULL, "'cfg': for graphviz", &s.code.dot},
        {CUTE_OPTION_STRING, "at", 0, "[FILE:]LINE|0xADDRESS",
         "'lines': only this line, or that of an address", &s.code.at},
        {CUTE_OPTION_FLAG, "hex", 0, NULL, NULL, &s.code.sass.encodings},
        {CUTE_OPTION_FLAG, "print-instruction-encoding", 0, NULL, NULL, &s.code.sass.encodings},
        {CUTE_OPTION_FLAG, "plr", 0, NULL, NULL, &s.code.sass.liveness},
        {CUTE_OPTION_FLAG, "print-life-ranges", 0, NULL, NULL, &s.code.sass.liveness},
        {CUTE_OPTION_STRING, "lrm", 0, "MODE", NULL, &s.life_ranges},
        {CUTE_OPTION_STRING, "life-range-mode", 0, "MODE", NULL, &s.life_ranges},
        {CUTE_OPTION_STRING, "counters", 0, "FILE",
         "'ptx': what each line did, of cute-run --counters --json", &s.counters},
        {CUTE_OPTION_STRING, "arch", 0, "sm_XX[a|f]",
         "of a fatbin the image for it; what MLIR and 'sass' compile for; of 'resources' and 'occupancy' "
         "the GPU; "
         "or native",
         &s.arch},
        {CUTE_OPTION_STRING, "gpu-arch", 0, "sm_XX[a|f]", NULL, &s.arch},
        {CUTE_OPTION_STRING, "opt-level", 'O', "0..3", "optimisation of 'sass' and 'run'", &s.opt_level},
        {CUTE_OPTION_LIST, "define", 'D', "NAME=VALUE", "of MLIR: replace ${NAME} in the text", &s.defines},
        {CUTE_OPTION_LIST, "include", 'I', "DIR", "of MLIR: look there for files that it includes",
         &s.folders},
        {CUTE_OPTION_FLAG, "lineinfo", 0, NULL, "'run': keep source lines", &s.line_info},
        {CUTE_OPTION_STRING, "pass-pipeline", 0, "PASSES", "'run': passes to run before the default lowering",
         &s.pipeline},
        {CUTE_OPTION_STRING, "tensor-map", 0, "param|memory",
         "'run': pass tensor maps by value or by pointer (default param)", &s.tensor_map},
        {CUTE_OPTION_FLAG, "enable-assertions", 0, NULL, "'run': keep cf.assert, and check bounds",
         &s.assertions},
        {CUTE_OPTION_FLAG, "enable-device-assertions", 0, NULL, NULL, &s.assertions},
        {CUTE_OPTION_INT, "number", 0, "N", "'layouts': the picture of --svg", &s.number},
        {CUTE_OPTION_STRING, "config", 0, "FILE",
         "'accesses', 'explain': of the launches of a launch.json, on the emulator", &s.config},
        {CUTE_OPTION_STRING, "block", 0, "X[xY[xZ]]",
         "'resources', 'occupancy', 'accesses': with blocks of these threads", &s.block},
        {CUTE_OPTION_INT, "registers", 0, "N", "the same: with these registers of a thread",
         &s.question.registers},
        {CUTE_OPTION_INT, "shared", 0, "BYTES", "the same: with this shared memory of a block",
         &s.question.shared},
        {CUTE_OPTION_INT, "dynamic", 0, "BYTES", "the same: with this dynamic shared memory",
         &s.question.dynamic},
        {CUTE_OPTION_INT, "barriers", 0, "N", "the same: with these named barriers", &s.question.barriers},
        {CUTE_OPTION_INT, "carveout", 0, "PERCENT", "the same: with this part of the most shared memory",
         &s.question.carveout},
        {CUTE_OPTION_STRING, "cluster", 0, "X[xY[xZ]]", "the same: with clusters of these blocks",
         &s.cluster},
        {CUTE_OPTION_FLAG, "table", 0, NULL,
         "the same: the occupancy over sizes of blocks; 'layouts': pictures of text", &s.table},
        {CUTE_OPTION_FLAG, "svg", 0, NULL, "the same, 'cfg' and 'layouts': as a picture", &s.svg},
        {CUTE_OPTION_STRING, "file", 0, "FILE", "'run': the module, instead of an operand", &s.file},
        {CUTE_OPTION_STRING, "func", 0, "NAME", "'run': only this function, with what it calls and launches",
         &s.function},
        {CUTE_OPTION_MAYBE, "print-each-pass", 0, "all|changed|none",
         "'run': the IR after each pass, after those that changed it, or after none (default all)", &s.each},
        {CUTE_OPTION_FLAG, "changed", 0, NULL, "'run': --print-each-pass=changed", &s.changed},
        {CUTE_OPTION_FLAG, "html", 0, NULL,
         "'diff', 'explain', 'layouts': as a page that needs no other file", &s.html},
        {CUTE_OPTION_STRING, "ncu", 0, "FILE", "'explain': a table of ncu as CSV, for stall reasons", &s.ncu},
        {CUTE_OPTION_INT, "sms", 0, "N", "'explain': multiprocessors of the GPU", &s.sms},
        {CUTE_OPTION_FLAG, "all-findings", 0, NULL, "'explain': also findings of little weight", &s.all},
        {CUTE_OPTION_FLAG, "schema", 0, NULL, "'run': print the JSON Schema of REPORT.json", &s.schema},
        {CUTE_OPTION_STRING, "cuda-path", 0, "DIR", "where the CUDA toolkit is", &s.cuda_path},
        {CUTE_OPTION_STRING, "toolkit", 0, "DIR", NULL, &s.cuda_path},
        {CUTE_OPTION_FLAG, "verbose", 0, NULL, "'run': print the programs that are run", &s.verbose},
    };
    size_t count = 0;
    while (options[count].name) count++;
    for (size_t i = 0; i < CUTE_DUMP_HABITS; i++)
        options[count + i] = (cute_option){.kind = CUTE_OPTION_FLAG,
                                           .name = cute_dump_habits[i].option,
                                           .letter = cute_dump_habits[i].letter,
                                           .target = &s.habits[i]};
    int first = find_operand(options, argc, argv);
    if (first && !strcmp(argv[first], "layout")) {
        memmove(argv + first, argv + first + 1, (size_t)(argc - first) * sizeof *argv);
        return cute_dump_layout(argc - 1, argv);
    }
    cute_buffer epilogue = {0};
    cute_buffer_puts(&epilogue, "Views:\n");
    for (size_t i = 0; i < VIEW_COUNT; i++)
        cute_buffer_printf(&epilogue, "  %-9s %s\n", views[i].name, views[i].help);
    cute_buffer_puts(&epilogue, "\nExamples:\n"
                                "  cute-dump k.cubin\n"
                                "  cute-dump sass k.cubin --kernel=vector_add\n"
                                "  cute-dump cfg k.cubin --svg -o k.svg\n"
                                "  cute-dump lines k.cubin --at=k.mlir:12\n"
                                "  cute-dump ptx k.ptx --counters=report.json\n"
                                "  cute-dump run k.mlir -D BM=128 -arch sm_90a -o dump/\n"
                                "  cute-dump diff dump-O0/ dump-O3/ --html -o diff.html\n");
    const cute_command command = {
        .name = "cute-dump",
        .synopsis = "[view] [options] [file]",
        .summary = "Shows what is in a cubin, PTX or fatbin, and what the pipe makes of a module.",
        .options = options,
        .epilogue = cute_buffer_text(&epilogue)};
    int code = cute_tool_run(&command, NULL, work, &s, argc, argv);
    cute_buffer_release(&epilogue);
    return code;
}
