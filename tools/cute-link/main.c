/* cute-link: PTX and device objects in, a cubin or a fatbin out. Options in, cute_link, files out. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "lib/base/devices/arch.h"
#include "lib/base/options/tool.h"
#include "lib/base/system/cache.h"
#include "lib/base/system/clock.h"
#include "lib/base/system/file.h"
#include "lib/cubin/containers/extract.h"
#include "lib/cubin/containers/gencode.h"
#include "lib/cubin/link.h"
#include "lib/report/module/module.h"
#include "lib/toolkit/keep.h"
#include "lib/toolkit/native.h"
#include "lib/toolkit/toolkit.h"

typedef struct settings {
    const char *output, *extract, *opt_level, *cuda_path, *timing_format;
    int64_t max_registers, tool_timeout;
    bool line_info, debug, relocatable, fatbin, werror, quiet, verbose, resources, json, strip, dry_run, keep,
        timing;
    cute_keep kept;
    cute_option_list archs, gencodes, xptxas, libraries, folders, allow;
} settings;

static cute_status read_inputs(cute_arena *arena, const cute_option_list *operands, cute_link_input **out,
                               size_t *count, cute_diag *diag)
{
    static const char *standard[] = {"-"};
    cute_option_list files = operands->count ? *operands : (cute_option_list){standard, 1};
    *out = cute_arena_array(arena, files.count, sizeof **out);
    if (!*out) return cute_fail_memory(diag);
    for (*count = 0; *count < files.count; ++*count) {
        cute_buffer bytes = {0};
        cute_link_input *input = &(*out)[*count];
        cute_status status = cute_file_read(files.items[*count], &bytes, diag);
        input->label = cute_file_label(files.items[*count]);
        input->length = bytes.length;
        input->bytes =
            status == CUTE_OK ? cute_arena_copy(arena, cute_buffer_text(&bytes), bytes.length) : NULL;
        cute_buffer_release(&bytes);
        if (status != CUTE_OK) return status;
        if (!input->bytes) return cute_fail_memory(diag);
    }
    return CUTE_OK;
}

static bool to_stdout(const settings *s)
{
    return !s->output || strcmp(s->output, "-") == 0;
}

/* Bytes that would upset a terminal are not written to one unless "-o -" asks for them. */
static cute_status check_output(const settings *s, cute_diag *diag)
{
    if (s->output || s->dry_run || !isatty(STDOUT_FILENO)) return CUTE_OK;
    cute_fail(diag, CUTE_USAGE, NULL, "a cubin is not printed to a terminal");
    cute_note(diag, NULL, "name a file with -o FILE, or redirect the output: > FILE");
    return CUTE_USAGE;
}

/* The table of resources, or JSON: on stderr beside a cubin on stdout, else JSON on stdout. */
static cute_status report(const settings *s, const cute_link_result *result, cute_diag *diag)
{
    cute_module *module;
    cute_buffer text = {0};
    if (!s->resources && !s->json) return CUTE_OK;
    CUTE_TRY(cute_module_open(to_stdout(s) ? "<stdout>" : s->output, cute_buffer_text(&result->output),
                              result->output.length, NULL, &module, diag));
    if (s->json) {
        json_t *value = cute_report_module_json(to_stdout(s) ? "<stdout>" : s->output, module, NULL, false);
        cute_json_dump(value, true, &text);
        json_decref(value);
        if (text.length && text.data[text.length - 1] != '\n') cute_buffer_putc(&text, '\n');
    } else {
        cute_report_resources(module, &text);
    }
    cute_module_close(module);
    cute_status status = cute_buffer_ok(&text) ? CUTE_OK : cute_fail_memory(diag);
    if (status == CUTE_OK && s->json && !to_stdout(s))
        status = cute_file_write("-", cute_buffer_text(&text), text.length, diag);
    else if (status == CUTE_OK)
        cute_tool_say(cute_buffer_text(&text), text.length);
    cute_buffer_release(&text);
    return status;
}

static void print_stage(bool json, const char *name, double seconds)
{
    if (json)
        fprintf(stderr, "\"%s\": %.6f, ", name, seconds);
    else
        fprintf(stderr, " %s %.1f ms,", name, seconds * 1e3);
}

static void print_timing(const settings *s, const cute_link_result *result, double read, double write,
                         double total)
{
    bool json = s->timing_format && strcmp(s->timing_format, "json") == 0;
    fputs(json ? "{" : "cute-link:", stderr);
    print_stage(json, "read", read);
    for (size_t i = 0; i < result->stage_count; i++)
        print_stage(json, result->stages[i].name, result->stages[i].seconds);
    print_stage(json, "write", write);
    if (json)
        fprintf(stderr, "\"total\": %.6f}\n", total);
    else
        fprintf(stderr, " total %.1f ms\n", total * 1e3);
}

/* Intermediate files are named after the output, or the first input. */
static const char *keep_prefix(cute_arena *arena, const settings *s, const cute_link_input *inputs)
{
    const char *from = to_stdout(s) ? inputs[0].label : s->output;
    if (*from == '<') from = "cute-link";
    const char *slash = strrchr(from, '/');
    const char *dot = strrchr(slash ? slash : from, '.');
    size_t length = dot && dot != from ? (size_t)(dot - from) : strlen(from);
    return cute_arena_printf(arena, "%.*s.tmp", (int)length, from);
}

static bool is_native(const settings *s)
{
    for (size_t i = 0; i < s->archs.count; i++)
        if (strstr(s->archs.items[i], "native")) return true;
    return false;
}

/* The key of this run, where it is kept: a cubin of the inputs, and nothing beside it. */
static bool make_key(const settings *s, cute_arena *arena, const cute_link_input *inputs, size_t count,
                     const char **folder, cute_buffer *key)
{
    *folder = cute_cache_pipe_folder(arena);
    if (!*folder || s->keep || s->kept.on || s->kept.hook || s->resources || s->json || s->verbose ||
        s->dry_run || s->timing || s->timing_format || s->libraries.count || is_native(s))
        return false;
    cute_cache_key_program(key);
    cute_toolkit_key(arena, s->cuda_path, key);
    for (size_t i = 0; i < s->xptxas.count; i++) {
        /* ptxas takes files of options; a word that names no file is one that is not there. */
        const char *at = s->xptxas.items[i];
        for (size_t length; *at; at += length + (at[length] != '\0')) {
            length = strcspn(at, ",= ");
            cute_cache_key_file(key, cute_arena_copy(arena, at, length));
        }
    }
    for (size_t i = 0; i < count; i++) {
        cute_cache_key_bytes(key, inputs[i].label, strlen(inputs[i].label));
        cute_cache_key_bytes(key, inputs[i].bytes, inputs[i].length);
    }
    return cute_buffer_ok(key);
}

static cute_status keep_output(const settings *s, cute_arena *arena, const cute_link_result *result,
                               cute_diag *diag)
{
    cute_module *module = NULL;
    cute_option_list kernels = {0};
    cute_keep kept = s->kept;
    kept.output = s->output;
    if (!kept.on && !kept.hook) return CUTE_OK;
    CUTE_TRY(cute_module_open("<output>", cute_buffer_text(&result->output), result->output.length, NULL,
                              &module, diag));
    cute_status status = CUTE_OK;
    for (size_t i = 0; i < cute_module_kernel_count(module) && status == CUTE_OK; i++)
        if (!cute_option_append(arena, &kernels, cute_module_kernel(module, i)->name))
            status = cute_fail_memory(diag);
    if (status == CUTE_OK)
        status = cute_keep_module(&kept, &kernels, cute_module_arch(module), s->fatbin ? "fatbin" : "cubin",
                                  cute_buffer_text(&result->output), result->output.length, diag);
    cute_module_close(module);
    return status;
}

static cute_status link_inputs(const settings *s, cute_arena *arena, const cute_link_input *inputs,
                               size_t count, double start, cute_diag *diag)
{
    cute_link_result result = {0};
    cute_link_options options = {.archs = s->archs,
                                 .xptxas = s->xptxas,
                                 .libraries = s->libraries,
                                 .folders = s->folders,
                                 .allow = s->allow,
                                 .cuda_path = s->cuda_path,
                                 .opt_level = s->opt_level,
                                 .max_registers = s->max_registers,
                                 .tool_timeout = s->tool_timeout,
                                 .line_info = s->line_info,
                                 .debug = s->debug,
                                 .relocatable = s->relocatable,
                                 .fatbin = s->fatbin,
                                 .werror = s->werror,
                                 .quiet = s->quiet,
                                 .verbose = s->verbose,
                                 .strip = s->strip,
                                 .dry_run = s->dry_run,
                                 .keep = s->keep ? keep_prefix(arena, s, inputs) : NULL};
    double read = cute_clock() - start;
    const char *folder = NULL;
    cute_buffer key = {0}, found = {0};
    bool keeps = make_key(s, arena, inputs, count, &folder, &key);
    if (keeps && cute_cache_get(folder, "cute-link", key.data, key.length, &found)) {
        cute_status written = cute_buffer_ok(&found)
                                  ? cute_file_write(s->output, cute_buffer_text(&found), found.length, diag)
                                  : cute_fail_memory(diag);
        cute_buffer_release(&key);
        cute_buffer_release(&found);
        return written;
    }
    cute_status status = cute_link(arena, &options, inputs, count, &result, diag);
    if (s->verbose && !s->dry_run) cute_tool_say(cute_buffer_text(&result.commands), result.commands.length);
    if (status == CUTE_OK && s->dry_run)
        status =
            cute_tool_write("-", cute_buffer_text(&result.commands), result.commands.length, false, diag);
    double before = cute_clock();
    if (status == CUTE_OK && !s->dry_run)
        status = cute_file_write(s->output, cute_buffer_text(&result.output), result.output.length, diag);
    double write = cute_clock() - before;
    if (status == CUTE_OK && !s->dry_run && !s->relocatable) {
        status = keep_output(s, arena, &result, diag);
    }
    /* What had nothing to say is kept: a message is told each time. */
    if (status == CUTE_OK && keeps && !cute_diag_count(diag))
        cute_cache_put(folder, "cute-link", key.data, key.length, cute_buffer_text(&result.output),
                       result.output.length);
    cute_buffer_release(&key);
    if (status == CUTE_OK && !s->dry_run) status = report(s, &result, diag);
    if (s->timing || s->timing_format) print_timing(s, &result, read, write, cute_clock() - start);
    cute_buffer_release(&result.output);
    cute_buffer_release(&result.commands);
    return status;
}

static cute_status check_options(const settings *s, cute_diag *diag)
{
    CUTE_TRY(cute_link_check_options(
        &(cute_link_options){.opt_level = s->opt_level, .max_registers = s->max_registers, .allow = s->allow},
        diag));
    if (s->timing_format && strcmp(s->timing_format, "json") != 0 && strcmp(s->timing_format, "text") != 0)
        return cute_fail(diag, CUTE_USAGE, NULL, "--timing-format expects text or json, got '%s'",
                         s->timing_format);
    if (s->extract && (s->fatbin || s->relocatable))
        return cute_fail(diag, CUTE_USAGE, NULL,
                         "--extract takes objects as they are; it excludes --fatbin and -c");
    return CUTE_OK;
}

static cute_status work(cute_tool *tool, void *context)
{
    settings *s = context;
    cute_arena *arena = tool->arena;
    cute_diag *diag = tool->diag;
    cute_link_input *inputs;
    size_t count = 0;
    double start = cute_clock();
    CUTE_TRY(check_options(s, diag));
    CUTE_TRY(check_output(s, diag));
    for (size_t i = 0; i < s->gencodes.count; i++)
        CUTE_TRY(cute_gencode_add(arena, s->gencodes.items[i], &s->archs, diag));
    CUTE_TRY(read_inputs(arena, &tool->operands, &inputs, &count, diag));
    if (!s->extract) return link_inputs(s, arena, inputs, count, start, diag);
    const cute_arch *arch = NULL;
    if (s->archs.count) CUTE_TRY(cute_arch_parse_native(s->archs.items[s->archs.count - 1], &arch, diag));
    return cute_extract(arena, s->extract, arch, s->output, inputs, count, diag);
}

int main(int argc, char **argv)
{
    settings s = {0};
    const cute_option options[] = {
        {CUTE_OPTION_GROUP, "Target and code", 0, NULL, NULL, NULL},
        {CUTE_OPTION_LIST, "arch", 0, "sm_XX[a|f]",
         "architecture, or native (default: the input's, else $ARCH, else sm_90a)", &s.archs},
        {CUTE_OPTION_LIST, "gpu-arch", 0, "sm_XX[a|f]", NULL, &s.archs},
        {CUTE_OPTION_LIST, "gencode", 0, "arch=,code=", "the same as nvcc has it; several go into a --fatbin",
         &s.gencodes},
        {CUTE_OPTION_LIST, "generate-code", 0, "arch=,code=", NULL, &s.gencodes},
        {CUTE_OPTION_FLAG, "fatbin", 0, NULL, "a fatbin of all -arch (compute_XX: the PTX too)", &s.fatbin},
        {CUTE_OPTION_STRING, "opt-level", 'O', "0..3", "optimisation of ptxas (default 3)", &s.opt_level},
        {CUTE_OPTION_INT, "maxrregcount", 0, "N", "registers for a thread at most", &s.max_registers},
        {CUTE_OPTION_INT, "tool-timeout", 0, "SECONDS", "end ptxas or nvlink that takes longer",
         &s.tool_timeout},
        {CUTE_OPTION_FLAG, "lineinfo", 0, NULL, "keep source lines", &s.line_info},
        {CUTE_OPTION_FLAG, "device-debug", 'G', NULL, "code for a debugger, not optimised", &s.debug},
        {CUTE_OPTION_LIST, "Xptxas", 0, "OPTION,...", "pass options to ptxas", &s.xptxas},
        {CUTE_OPTION_LIST, "ptxas-options", 0, "OPTION,...", NULL, &s.xptxas},
        {CUTE_OPTION_GROUP, "Input", 0, NULL, NULL, NULL},
        {CUTE_OPTION_LIST, "library", 'l', "NAME", "link libNAME.a", &s.libraries},
        {CUTE_OPTION_LIST, "library-path", 'L', "DIR", "look there for libraries", &s.folders},
        {CUTE_OPTION_STRING, "extract", 0, "SYMBOL|all", "write the objects of gpu.binary as they are",
         &s.extract},
        {CUTE_OPTION_STRING, "cuda-path", 0, "DIR", "where the CUDA toolkit is", &s.cuda_path},
        {CUTE_OPTION_STRING, "toolkit", 0, "DIR", NULL, &s.cuda_path},
        {CUTE_OPTION_GROUP, "Output", 0, NULL, NULL, NULL},
        {CUTE_OPTION_STRING, "output", 'o', "FILE",
         "output file (default: stdout, which may not be a terminal)", &s.output},
        {CUTE_OPTION_FLAG, "relocatable", 'c', NULL, "a device object that can be linked with others",
         &s.relocatable},
        {CUTE_OPTION_FLAG, "dc", 0, NULL, NULL, &s.relocatable},
        {CUTE_OPTION_FLAG, "strip", 0, NULL, "leave PTX and metadata out of the cubin", &s.strip},
        {CUTE_OPTION_FLAG, "save-temps", 0, NULL, "keep what stands between the stages", &s.keep},
        {CUTE_OPTION_FLAG, "keep", 0, NULL, NULL, &s.keep},
        {CUTE_OPTION_FLAG, "keep-cubin", 0, NULL, "write DIR/FUNCTION.ARCH.cubin for each kernel, too",
         &s.kept.on},
        {CUTE_OPTION_STRING, "dump-dir", 0, "DIR", "the DIR of that (default: this folder)", &s.kept.folder},
        {CUTE_OPTION_STRING, "post-compile", 0, "PROGRAM",
         "run it afterwards, with CUTE_OUTPUT and more in its environment", &s.kept.hook},
        {CUTE_OPTION_GROUP, "Messages", 0, NULL, NULL, NULL},
        {CUTE_OPTION_FLAG, "resource-usage", 'v', NULL, "print a table of each kernel's resources on stderr",
         &s.resources},
        {CUTE_OPTION_FLAG, "json", 0, NULL, "the same as JSON, on stdout where -o names a file", &s.json},
        {CUTE_OPTION_LIST, "allow", 0, "KIND,...",
         "a warning in any case: wgmma-serialized, setmaxnreg-ignored", &s.allow},
        {CUTE_OPTION_FLAG, "Werror", 0, NULL, "warnings and spills are errors", &s.werror},
        {CUTE_OPTION_FLAG, "disable-warnings", 'w', NULL, "no warnings", &s.quiet},
        {CUTE_OPTION_FLAG, "verbose", 0, NULL, "print the programs that are run, and all that they say",
         &s.verbose},
        {CUTE_OPTION_FLAG, "dry-run", 0, NULL, "only print the programs that would be run", &s.dry_run},
        {CUTE_OPTION_FLAG, "dryrun", 0, NULL, NULL, &s.dry_run},
        {CUTE_OPTION_FLAG, "timing", 0, NULL, "print where the time goes on stderr", &s.timing},
        {CUTE_OPTION_STRING, "timing-format", 0, "text|json", "the same, in this form", &s.timing_format},
        {0},
    };
    const cute_command command = {
        .name = "cute-link",
        .synopsis = "[options] [file...]",
        .summary = "Links PTX, cubins, fatbins, device objects and gpu.binary to a cubin.",
        .options = options,
        .output = &s.output,
        .epilogue = "Examples:\n"
                    "  cute-ptx k.mlir | cute-link > k.cubin\n"
                    "  cute-link -v -Werror -o k.cubin k.ptx\n"
                    "  cute-link --fatbin -arch sm_80,sm_90a,compute_80 -o k.fatbin k.ptx\n"
                    "  cute-link --extract=all -o DIR/ k.mlir\n",
    };
    return cute_tool_run(&command, NULL, work, &s, argc, argv);
}
