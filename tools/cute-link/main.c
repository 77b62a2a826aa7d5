/* cute-link: links PTX and device objects to a cubin or fatbin. Parses options, calls cute_link, writes files. */
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
#include "lib/toolkit/pipe_options.h"
#include "lib/toolkit/toolkit.h"
#include "tools/cute-link/emit.h"

typedef struct link_settings {
    const char *output, *extract, *emit, *opt_level, *cuda_path, *timing_format;
    int64_t max_registers, tool_timeout;
    bool line_info, debug, relocatable, fatbin, werror, quiet, verbose, resources, json, strip, dry_run, keep,
        timing;
    cute_keep kept;
    cute_option_list archs, gencodes, xptxas, libraries, folders, allow;
} link_settings;

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

static bool writes_to_stdout(const link_settings *s)
{
    return !s->output || strcmp(s->output, "-") == 0;
}

/* Binary output is not written to a terminal unless "-o -" asks for it. */
static cute_status check_output(const link_settings *s, cute_diag *diag)
{
    if (s->output || s->emit || s->dry_run || !isatty(STDOUT_FILENO)) return CUTE_OK;
    cute_fail(diag, CUTE_USAGE, NULL, "refusing to write a cubin to a terminal");
    cute_note(diag, NULL, "write to a file with -o FILE, or redirect standard output");
    return CUTE_USAGE;
}

/* Prints the resource table to stderr; JSON goes to stdout unless the cubin is written there. */
static cute_status report_resources(const link_settings *s, const cute_link_result *result, cute_diag *diag)
{
    cute_module *module;
    cute_buffer text = {0};
    if (!s->resources && !s->json) return CUTE_OK;
    CUTE_TRY(cute_module_open(writes_to_stdout(s) ? "<stdout>" : s->output, cute_buffer_text(&result->output),
                              result->output.length, NULL, &module, diag));
    if (s->json) {
        json_t *value =
            cute_report_module_json(writes_to_stdout(s) ? "<stdout>" : s->output, module, NULL, false);
        cute_json_dump(value, true, &text);
        json_decref(value);
        if (text.length && text.data[text.length - 1] != '\n') cute_buffer_putc(&text, '\n');
    } else {
        cute_report_resources(module, &text);
    }
    cute_module_close(module);
    cute_status status = cute_buffer_ok(&text) ? CUTE_OK : cute_fail_memory(diag);
    if (status == CUTE_OK && s->json && !writes_to_stdout(s))
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

static void print_timing(const link_settings *s, const cute_link_result *result, double read, double write,
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
static const char *keep_prefix(cute_arena *arena, const link_settings *s, const cute_link_input *inputs)
{
    const char *from = writes_to_stdout(s) ? inputs[0].label : s->output;
    if (*from == '<') from = "cute-link";
    const char *slash = strrchr(from, '/');
    const char *dot = strrchr(slash ? slash : from, '.');
    size_t length = dot && dot != from ? (size_t)(dot - from) : strlen(from);
    return cute_arena_printf(arena, "%.*s.tmp", (int)length, from);
}

static bool has_native_arch(const link_settings *s)
{
    for (size_t i = 0; i < s->archs.count; i++)
        if (strstr(s->archs.items[i], "native")) return true;
    return false;
}

/* Computes the cache key. False if the run is not cacheable: it writes more than its output, or depends on more than the key covers. */
static bool make_link_key(const link_settings *s, cute_arena *arena, const cute_link_input *inputs,
                          size_t count, const char **folder, cute_buffer *key)
{
    *folder = cute_cache_pipe_folder(arena);
    if (!*folder || s->keep || s->kept.on || s->kept.hook || s->resources || s->json || s->verbose ||
        s->dry_run || s->timing || s->timing_format || s->libraries.count || has_native_arch(s))
        return false;
    cute_cache_key_program(key);
    cute_toolkit_key(arena, s->cuda_path, key);
    for (size_t i = 0; i < s->xptxas.count; i++) {
        /* Options can name option files of ptxas, so each word is hashed as a file; other words hash as missing files. */
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

static cute_status keep_cubin(const link_settings *s, cute_arena *arena, const cute_link_result *result,
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

static cute_status link_inputs(const link_settings *s, cute_arena *arena, const cute_link_input *inputs,
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
    if (s->emit) return emit_sources(s->emit, &options, inputs, count, arena, diag);
    double read = cute_clock() - start;
    const char *folder = NULL;
    cute_buffer key = {0}, found = {0};
    bool keeps = make_link_key(s, arena, inputs, count, &folder, &key);
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
        status = keep_cubin(s, arena, &result, diag);
    }
    /* Runs with messages are not cached, so that the messages are printed every time. */
    if (status == CUTE_OK && keeps && !cute_diag_count(diag))
        cute_cache_put(folder, "cute-link", key.data, key.length, cute_buffer_text(&result.output),
                       result.output.length);
    cute_buffer_release(&key);
    if (status == CUTE_OK && !s->dry_run) status = report_resources(s, &result, diag);
    if (s->timing || s->timing_format) print_timing(s, &result, read, write, cute_clock() - start);
    cute_buffer_release(&result.output);
    cute_buffer_release(&result.commands);
    return status;
}

static cute_status check_link_options(const link_settings *s, cute_diag *diag)
{
    CUTE_TRY(cute_link_check_options(
        &(cute_link_options){.opt_level = s->opt_level, .max_registers = s->max_registers, .allow = s->allow},
        diag));
    if (s->timing_format && strcmp(s->timing_format, "json") != 0 && strcmp(s->timing_format, "text") != 0)
        return cute_fail(diag, CUTE_USAGE, NULL, "--timing-format expects text or json, got '%s'",
                         s->timing_format);
    if (s->emit && (s->output || s->extract || s->fatbin || s->relocatable || s->dry_run))
        return cute_fail(diag, CUTE_USAGE, NULL,
                         "--emit-c cannot be combined with -o, --extract, --fatbin, -c or --dry-run");
    if (s->extract && (s->fatbin || s->relocatable))
        return cute_fail(diag, CUTE_USAGE, NULL,
                         "--extract copies objects unchanged; it cannot be combined with --fatbin or -c");
    return CUTE_OK;
}

static cute_status run_cute_link(cute_tool *tool, void *context)
{
    link_settings *s = context;
    cute_arena *arena = tool->arena;
    cute_diag *diag = tool->diag;
    cute_link_input *inputs;
    size_t count = 0;
    double start = cute_clock();
    CUTE_TRY(check_link_options(s, diag));
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
    link_settings s = {0};
    const cute_option options[] = {
        {CUTE_OPTION_GROUP, "Target and code", 0, NULL, NULL, NULL},
        {CUTE_OPTION_LIST, "arch", 0, "sm_XX[a|f]",
         "Select the architecture, or native (default: the input's, else $ARCH, else sm_90a)", &s.archs},
        {CUTE_OPTION_LIST, "gpu-arch", 0, "sm_XX[a|f]", NULL, &s.archs},
        {CUTE_OPTION_LIST, "gencode", 0, "arch=,code=",
         "Select architectures in nvcc's syntax; more than one requires --fatbin", &s.gencodes},
        {CUTE_OPTION_LIST, "generate-code", 0, "arch=,code=", NULL, &s.gencodes},
        {CUTE_OPTION_FLAG, "fatbin", 0, NULL, "Write a fatbin for each -arch; compute_XX adds the PTX",
         &s.fatbin},
        {CUTE_OPTION_STRING, "opt-level", 'O', "0..3", "Set the optimization level of ptxas (default 3)",
         &s.opt_level},
        {CUTE_OPTION_INT, "maxrregcount", 0, "N", "Limit registers per thread to N", &s.max_registers},
        {CUTE_OPTION_INT, "tool-timeout", 0, "SECONDS", "Stop ptxas or nvlink after SECONDS",
         &s.tool_timeout},
        {CUTE_OPTION_FLAG, "lineinfo", 0, NULL, "Keep source line information", &s.line_info},
        {CUTE_OPTION_FLAG, "device-debug", 'G', NULL, "Generate unoptimized code for a debugger", &s.debug},
        cute_pipe_option(PIPE_XPTXAS, &s.xptxas),
        {CUTE_OPTION_LIST, "ptxas-options", 0, "OPTION,...", NULL, &s.xptxas},
        {CUTE_OPTION_GROUP, "Input", 0, NULL, NULL, NULL},
        {CUTE_OPTION_LIST, "library", 'l', "NAME", "Link libNAME.a", &s.libraries},
        {CUTE_OPTION_LIST, "library-path", 'L', "DIR", "Search DIR for libraries", &s.folders},
        {CUTE_OPTION_STRING, "extract", 0, "SYMBOL|all",
         "Write objects of a gpu.binary unchanged instead of linking", &s.extract},
        cute_pipe_option(PIPE_CUDA_PATH, &s.cuda_path),
        {CUTE_OPTION_STRING, "toolkit", 0, "DIR", NULL, &s.cuda_path},
        {CUTE_OPTION_GROUP, "Output", 0, NULL, NULL, NULL},
        {CUTE_OPTION_STRING, "output", 'o', "FILE",
         "Write to FILE (default: stdout, which may not be a terminal)", &s.output},
        {CUTE_OPTION_STRING, "emit-c", 0, "NAME",
         "Write NAME.h, NAME.c and NAME.o with a function for each host function and kernel", &s.emit},
        {CUTE_OPTION_FLAG, "relocatable", 'c', NULL, "Write a relocatable device object for a later link",
         &s.relocatable},
        {CUTE_OPTION_FLAG, "dc", 0, NULL, NULL, &s.relocatable},
        {CUTE_OPTION_FLAG, "strip", 0, NULL, "Omit PTX and metadata from the cubin", &s.strip},
        {CUTE_OPTION_FLAG, "save-temps", 0, NULL, "Keep intermediate files", &s.keep},
        {CUTE_OPTION_FLAG, "keep", 0, NULL, NULL, &s.keep},
        cute_pipe_option(PIPE_KEEP_CUBIN, &s.kept.on),
        {CUTE_OPTION_STRING, "dump-dir", 0, "DIR",
         "Set the DIR of --keep-cubin (default: the current folder)", &s.kept.folder},
        cute_pipe_option(PIPE_POST_COMPILE, &s.kept.hook),
        {CUTE_OPTION_GROUP, "Messages", 0, NULL, NULL, NULL},
        {CUTE_OPTION_FLAG, "resource-usage", 'v', NULL, "Print a table of each kernel's resources to stderr",
         &s.resources},
        {CUTE_OPTION_FLAG, "json", 0, NULL, "Print resources as JSON, to stdout if -o names a file", &s.json},
        {CUTE_OPTION_LIST, "allow", 0, "KIND,...",
         "Report as a warning in any case: wgmma-serialized, setmaxnreg-ignored", &s.allow},
        cute_pipe_option(PIPE_WERROR, &s.werror),
        {CUTE_OPTION_FLAG, "disable-warnings", 'w', NULL, "Suppress warnings", &s.quiet},
        {CUTE_OPTION_FLAG, "verbose", 0, NULL,
         "Print the commands of the programs that are run, and their output", &s.verbose},
        {CUTE_OPTION_FLAG, "dry-run", 0, NULL, "Print the commands without running them", &s.dry_run},
        {CUTE_OPTION_FLAG, "dryrun", 0, NULL, NULL, &s.dry_run},
        {CUTE_OPTION_FLAG, "timing", 0, NULL, "Print the time of each stage to stderr", &s.timing},
        {CUTE_OPTION_STRING, "timing-format", 0, "text|json", "Print the time of each stage in this format",
         &s.timing_format},
        {0},
    };
    const cute_command command = {
        .name = "cute-link",
        .synopsis = "[options] [file...]",
        .summary = "Link PTX, cubins, fatbins, device objects and gpu.binary to a cubin.",
        .options = options,
        .output = &s.output,
        .epilogue = "Examples:\n"
                    "  cute-ptx k.mlir | cute-link > k.cubin\n"
                    "  cute-link -v -Werror -o k.cubin k.ptx\n"
                    "  cute-link --fatbin -arch sm_80,sm_90a,compute_80 -o k.fatbin k.ptx\n"
                    "  cute-link --extract=all -o DIR/ k.mlir\n"
                    "  cute-link --emit-c=k -arch sm_80,sm_90a k.ptx\n",
    };
    return cute_tool_run(&command, NULL, run_cute_link, &s, argc, argv);
}
