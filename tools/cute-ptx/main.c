/* cute-ptx: compiles MLIR to PTX. Parses options, calls cute_ptx_compile, writes files. */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/base/options/tool.h"
#include "lib/base/system/cache.h"
#include "lib/base/system/file.h"
#include "lib/base/text/include.h"
#include "lib/passes/plugins.h"
#include "lib/ptx/settings.h"
#include "lib/toolkit/keep.h"
#include "lib/toolkit/pipe_options.h"
#include "lib/toolkit/toolkit.h"

typedef struct ptx_tool_settings {
    const char *output, *timing;
    bool timing_text;
    cute_ptx_settings compile;
    cute_keep kept;
    bool keep_ir;
    cute_option_list plugins;
} ptx_tool_settings;

static bool is_directory(const char *path)
{
    struct stat info;
    return path[strlen(path) - 1] == '/' || (stat(path, &info) == 0 && S_ISDIR(info.st_mode));
}

/* FOLDER/MODULE.SUFFIX, with the index added if another module maps to the same file name. */
static const char *module_path(cute_arena *arena, const char *folder, const cute_ptx_output *result,
                               size_t index, const char *suffix)
{
    const char *name = cute_file_plain_name(arena, result->modules[index].module);
    bool taken = false;
    for (size_t i = 0; name && i < index && !taken; i++) {
        const char *other = cute_file_plain_name(arena, result->modules[i].module);
        taken = other && strcmp(name, other) == 0;
    }
    if (!name) return NULL;
    return taken ? cute_arena_printf(arena, "%s/%s.%zu.%s", folder, name, index, suffix)
                 : cute_arena_printf(arena, "%s/%s.%s", folder, name, suffix);
}

/* Writes the modules concatenated; cute-link splits them. */
static cute_status write_concatenated(const char *output, const cute_ptx_output *result, cute_diag *diag)
{
    cute_buffer all = {0};
    for (size_t i = 0; i < result->count; i++) {
        const cute_buffer *text = &result->modules[i].text;
        cute_buffer_append(&all, cute_buffer_text(text), text->length);
    }
    cute_status status = cute_buffer_ok(&all)
                             ? cute_file_write(output, cute_buffer_text(&all), all.length, diag)
                             : cute_fail_memory(diag);
    cute_buffer_release(&all);
    return status;
}

/* Writes to a file or standard output, with several PTX modules concatenated, or to a folder, one file per module. */
static cute_status write_output(const ptx_tool_settings *s, const char *label, const cute_ptx_output *result,
                                cute_diag *diag)
{
    const char *output = s->output ? s->output : "-";
    bool directory = strcmp(output, "-") && *output && is_directory(output);
    if (!directory && result->count == 1)
        return cute_file_write(output, cute_buffer_text(&result->modules[0].text),
                               result->modules[0].text.length, diag);
    if (!directory && (!s->compile.emit || !strcmp(s->compile.emit, "ptx")))
        return write_concatenated(output, result, diag);
    if (!directory) {
        cute_status status =
            cute_fail(diag, CUTE_INVALID, &(cute_place){.file = label},
                      "cannot write the LLVM IR of %zu gpu.modules to one file", result->count);
        cute_note(diag, NULL, "write to a folder: -o DIR/");
        return status;
    }
    CUTE_TRY(cute_make_directory(output, diag));
    cute_arena *arena = cute_arena_create();
    cute_status status = arena ? CUTE_OK : cute_fail_memory(diag);
    const char *emit = s->compile.emit ? s->compile.emit : "ptx",
               *suffix = strcmp(emit, "llvm") ? emit : "ll";
    for (size_t i = 0; i < result->count && !status; i++) {
        const char *path = module_path(arena, output, result, i, suffix);
        const cute_buffer *text = &result->modules[i].text;
        status =
            path ? cute_file_write(path, cute_buffer_text(text), text->length, diag) : cute_fail_memory(diag);
    }
    cute_arena_destroy(arena);
    return status;
}

/* --keep-ptx and --keep-ir; other kinds of output are not kept. */
static cute_status keep_kernels(const ptx_tool_settings *s, cute_arena *arena, const char *arch,
                                const cute_buffer *input, const cute_ptx_output *result, cute_diag *diag)
{
    cute_keep kept = s->kept;
    kept.output =
        result->count == 1 && !(s->output && *s->output && is_directory(s->output)) ? s->output : NULL;
    if (s->compile.emit && strcmp(s->compile.emit, "ptx") != 0) return CUTE_OK;
    for (size_t i = 0; i < result->count; i++) {
        const cute_buffer *text = &result->modules[i].text;
        cute_option_list kernels = {0};
        for (const char *at = cute_buffer_text(text); (at = strstr(at, "\n.visible .entry ")) != NULL;) {
            at += strlen("\n.visible .entry ");
            const char *name = cute_arena_copy(arena, at, strcspn(at, "( \n"));
            if (!name || !cute_option_append(arena, &kernels, name)) return cute_fail_memory(diag);
        }
        CUTE_TRY(cute_keep_module(&kept, &kernels, arch, "ptx", cute_buffer_text(text), text->length, diag));
        cute_keep source = {.on = s->keep_ir, .folder = s->kept.folder};
        CUTE_TRY(
            cute_keep_module(&source, &kernels, arch, "mlir", cute_buffer_text(input), input->length, diag));
    }
    return CUTE_OK;
}

static void print_timing(const char *form, const cute_ptx_output *result)
{
    static const char *const names[] = {
#define X(name) #name,
        CUTE_PTX_STAGES(X)
#undef X
    };
    bool json = !strcmp(form, "json");
    double total = 0;
    fputs(json ? "{" : "cute-ptx:", stderr);
    for (int i = 0; i < CUTE_STAGE_COUNT; i++) {
        total += result->seconds[i];
        if (json)
            fprintf(stderr, "\"%s\": %.6f, ", names[i], result->seconds[i]);
        else
            fprintf(stderr, " %s %.1f ms,", names[i], 1e3 * result->seconds[i]);
    }
    if (json)
        fprintf(stderr, "\"total\": %.6f}\n", total);
    else
        fprintf(stderr, " total %.1f ms\n", 1e3 * total);
}

/* Computes the cache key. False if the run is not cacheable: it writes more than its output, or depends on more than the key covers. */
static bool make_ptx_key(const ptx_tool_settings *s, cute_arena *arena, const char *label,
                         const cute_buffer *text, const char **folder, cute_buffer *key)
{
    const cute_ptx_settings *c = &s->compile;
    const char *output = s->output ? s->output : "-";
    *folder = cute_cache_pipe_folder(arena);
    if (!*folder || s->plugins.count || s->kept.on || s->keep_ir || s->kept.hook || s->timing ||
        s->timing_text || c->save_temps || c->dump_passes || c->print_ir || c->remarks || c->warn ||
        (strcmp(output, "-") && *output && is_directory(output)) || (c->arch && !strcmp(c->arch, "native")) ||
        strstr(cute_buffer_text(text), "link ="))
        return false;
    cute_cache_key_program(key);
    for (size_t i = 0; i < c->libraries.count; i++) cute_cache_key_file(key, c->libraries.items[i]);
    cute_toolkit_key(arena, c->cuda_path, key);
    cute_cache_key_bytes(key, cute_buffer_text(text), text->length);
    if (!cute_include_key(label, cute_buffer_text(text), text->length, c->folders.items, c->folders.count,
                          key))
        return false;
    return cute_buffer_ok(key);
}

/* Adds the output to the cache, unless there were messages, which have to be printed every time. */
static void cache_output(const char *folder, const cute_buffer *key, const cute_ptx_output *result,
                         const cute_diag *diag)
{
    cute_buffer all = {0};
    if (cute_diag_count(diag)) return;
    for (size_t i = 0; i < result->count; i++)
        cute_buffer_append(&all, cute_buffer_text(&result->modules[i].text), result->modules[i].text.length);
    if (cute_buffer_ok(&all))
        cute_cache_put(folder, "cute-ptx", key->data, key->length, cute_buffer_text(&all), all.length);
    cute_buffer_release(&all);
}

static cute_status run_cute_ptx(cute_tool *tool, void *context)
{
    const ptx_tool_settings *s = context;
    const cute_option_list *operands = &tool->operands;
    cute_diag *diag = tool->diag;
    cute_ptx_options options;
    if (operands->count > 1)
        return cute_fail(diag, CUTE_USAGE, NULL, "expected one input, got '%s' and '%s'", operands->items[0],
                         operands->items[1]);
    const char *input = operands->count ? operands->items[0] : "-";
    if (s->plugins.count) {
        cute_ptx_register();
        CUTE_TRY(cute_plugins_register("cute-ptx", s->plugins.items, s->plugins.count, diag));
    }
    CUTE_TRY(cute_ptx_settings_resolve(&s->compile, tool->arena, &options, diag));

    cute_buffer text = {0}, key = {0}, found = {0};
    const char *folder = NULL;
    cute_ptx_output result = {0};
    const char *label = cute_file_label(input);
    cute_status status = cute_file_read(input, &text, diag);
    bool keeps = !status && make_ptx_key(s, tool->arena, label, &text, &folder, &key);
    if (keeps && cute_cache_get(folder, "cute-ptx", key.data, key.length, &found)) {
        status = cute_buffer_ok(&found) ? cute_file_write(s->output ? s->output : "-",
                                                          cute_buffer_text(&found), found.length, diag)
                                        : cute_fail_memory(diag);
    } else {
        if (!status)
            status = cute_ptx_compile(label, cute_buffer_text(&text), text.length, &options, &result, diag);
        if (!status) status = write_output(s, label, &result, diag);
        if (!status) status = keep_kernels(s, tool->arena, options.arch->name, &text, &result, diag);
        if (!status && keeps) cache_output(folder, &key, &result, diag);
    }
    if (!status && (s->timing || s->timing_text)) print_timing(s->timing ? s->timing : "text", &result);
    cute_ptx_output_release(&result);
    cute_buffer_release(&text);
    cute_buffer_release(&key);
    cute_buffer_release(&found);
    return status;
}

int main(int argc, char **argv)
{
    ptx_tool_settings s = {.compile.level = 3};
    const cute_option options[] = {
        {CUTE_OPTION_GROUP, "Target", 0, NULL, NULL, NULL},
        {CUTE_OPTION_STRING, "arch", 0, "sm_XX[a|f]",
         "Select the architecture, or native (default: $ARCH, else sm_90a)", &s.compile.arch},
        {CUTE_OPTION_STRING, "gpu-arch", 0, "sm_XX[a|f]", NULL, &s.compile.arch},
        cute_pipe_option(PIPE_BACKEND, &s.compile.backend),
        {CUTE_OPTION_INT, "opt-level", 'O', "0..3", "Set the optimization level (default 3)",
         &s.compile.level},
        cute_pipe_option(PIPE_LIBRARIES, &s.compile.libraries),
        cute_pipe_option(PIPE_TENSOR_MAP, &s.compile.tensor_map),
        {CUTE_OPTION_STRING, "schedule", 0, "TEXT",
         "Schedule tile programs: \"stages=4 consumers=2\", or naive for a reference without optimization",
         &s.compile.schedule},
        {CUTE_OPTION_FLAG, "relocatable-device-code", 0, NULL,
         "Keep device functions visible for a link by cute-link", &s.compile.relocatable},
        {CUTE_OPTION_FLAG, "rdc", 0, NULL, NULL, &s.compile.relocatable},
        cute_pipe_option(PIPE_CUDA_PATH, &s.compile.cuda_path),
        {CUTE_OPTION_STRING, "toolkit", 0, "DIR", NULL, &s.compile.cuda_path},
        {CUTE_OPTION_GROUP, "Source", 0, NULL, NULL, NULL},
        {CUTE_OPTION_LIST, "define", 'D', "NAME=VALUE",
         "Replace ${NAME} and expressions such as ${NAME*2} in the source", &s.compile.defines},
        {CUTE_OPTION_LIST, "include", 'I', "DIR", "Search DIR for files named by //!include \"FILE\"",
         &s.compile.folders},
        cute_pipe_option(PIPE_LINEINFO, &s.compile.lineinfo),
        {CUTE_OPTION_STRING, "source-map", 0, "auto|off",
         "Use or ignore the source locations recorded by cute-opt (default auto)", &s.compile.source_map},
        cute_pipe_option(PIPE_PIPELINE, &s.compile.pipeline),
        {CUTE_OPTION_STRING, "pass-pipeline", 0, "PASSES", NULL, &s.compile.pipeline},
        {CUTE_OPTION_LIST, "load-plugin", 0, "FILE",
         "Add passes and operations of a plugin (.so), or a pass of PDL patterns (.mlir)", &s.plugins},
        cute_pipe_option(PIPE_ASSERTIONS, &s.compile.assertions),
        {CUTE_OPTION_FLAG, "enable-device-assertions", 0, NULL, NULL, &s.compile.assertions},
        cute_pipe_option(PIPE_STATIC_CHECKS, &s.compile.static_checks),
        {CUTE_OPTION_GROUP, "Output", 0, NULL, NULL, NULL},
        {CUTE_OPTION_STRING, "output", 'o', "FILE|DIR/",
         "Write to FILE, or one file per module to DIR/ (default: stdout)", &s.output},
        {CUTE_OPTION_STRING, "emit", 0, "ptx|llvm|mlir", "Select the output format (default ptx)",
         &s.compile.emit},
        {CUTE_OPTION_STRING, "save-temps", 0, "DIR", "Write intermediate files to DIR",
         &s.compile.save_temps},
        cute_pipe_option(PIPE_DUMP_PASSES, &s.compile.dump_passes),
        {CUTE_OPTION_STRING, "dump-each", 0, "all|changed|none",
         "Dump after each pass, after passes that changed the IR, or never (default all)",
         &s.compile.dump_each},
        cute_pipe_option(PIPE_PRINT_IR, &s.compile.print_ir),
        cute_pipe_option(PIPE_KEEP_PTX, &s.kept.on),
        cute_pipe_option(PIPE_KEEP_IR, &s.keep_ir),
        {CUTE_OPTION_STRING, "dump-dir", 0, "DIR",
         "Set the DIR of --keep-ptx and --keep-ir (default: the current folder)", &s.kept.folder},
        cute_pipe_option(PIPE_POST_COMPILE, &s.kept.hook),
        {CUTE_OPTION_MAYBE, "remarks", 0, "PASS,...",
         "Report where passes were applied or missed, for PASS,... or all passes", &s.compile.remarks},
        {CUTE_OPTION_STRING, "warn", 0, "index-overflow",
         "Remark on tensor offsets assumed to fit in 32 bits; the launch checks this", &s.compile.warn},
        {CUTE_OPTION_FLAG, "timing", 0, NULL, "Print the time of each stage to stderr", &s.timing_text},
        {CUTE_OPTION_STRING, "timing-format", 0, "text|json", "Print the time of each stage in this format",
         &s.timing},
        {0},
    };
    const cute_command command = {
        .name = "cute-ptx",
        .synopsis = "[options] [file.mlir]",
        .summary = "Compile MLIR kernels (cute, gpu, nvgpu, scf, vector, memref, arith, math) to PTX.",
        .options = options,
        .output = &s.output,
        .epilogue = "  cute-opt k.mlir | cute-ptx -arch sm_90a | cute-link > k.cubin\n"
                    "  cute-ptx -D BM=128 -lineinfo k.mlir -o k.ptx\n",
    };
    char with[64];
    snprintf(with, sizeof with, "LLVM %s", cute_llvm_version());
    return cute_tool_run(&command, with, run_cute_ptx, &s, argc, argv);
}
