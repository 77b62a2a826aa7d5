/* cute-ptx: MLIR in, PTX out. Options in, cute_ptx_compile, files out. */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/base/file.h"
#include "lib/base/tool.h"
#include "lib/ptx/ptx.h"
#include "lib/toolkit/native.h"

typedef struct settings {
    const char *arch, *output, *emit, *timing, *cuda_path, *save_temps, *dump_passes, *tensor_map,
        *source_map;
    int64_t level;
    bool lineinfo, assertions, relocatable, timing_text;
    cute_option_list defines, libraries;
} settings;

static cute_status one_of(const char *option, const char *text, const char *const *choices, int *out,
                          cute_diag *diag)
{
    cute_buffer all = {0};
    for (*out = 0; choices[*out]; ++*out) {
        if (!strcmp(choices[*out], text)) {
            cute_buffer_release(&all);
            return CUTE_OK;
        }
        cute_buffer_printf(&all, "%s'%s'", *out ? " or " : "", choices[*out]);
    }
    cute_status status =
        cute_fail(diag, CUTE_USAGE, NULL, "--%s expects %s, got '%s'", option, cute_buffer_text(&all), text);
    cute_buffer_release(&all);
    return status;
}

static bool is_directory(const char *path)
{
    struct stat info;
    return path[strlen(path) - 1] == '/' || (stat(path, &info) == 0 && S_ISDIR(info.st_mode));
}

/* FOLDER/MODULE.SUFFIX; modules whose names make the same file name get a number. */
static const char *path_of(cute_arena *arena, const char *folder, const cute_ptx_output *result, size_t index,
                           const char *suffix)
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

/* One PTX to a file or standard output; several to a directory, a file a module. */
static cute_status write_output(const settings *s, const char *label, const cute_ptx_output *result,
                                cute_diag *diag)
{
    const char *output = s->output ? s->output : "-";
    bool directory = strcmp(output, "-") && *output && is_directory(output);
    if (!directory && result->count == 1)
        return cute_file_write(output, cute_buffer_text(&result->modules[0].text),
                               result->modules[0].text.length, diag);
    if (!directory) {
        cute_status status = cute_fail(diag, CUTE_INVALID, &(cute_place){.file = label},
                                       "%zu gpu.modules make %zu PTX files", result->count, result->count);
        cute_note(diag, NULL, "give a folder for them: -o DIR/");
        return status;
    }
    CUTE_TRY(cute_make_directory(output, diag));
    cute_arena *arena = cute_arena_create();
    cute_status status = arena ? CUTE_OK : cute_fail_memory(diag);
    const char *suffix = s->emit && !strcmp(s->emit, "llvm") ? "ll" : "ptx";
    for (size_t i = 0; i < result->count && !status; i++) {
        const char *path = path_of(arena, output, result, i, suffix);
        const cute_buffer *text = &result->modules[i].text;
        status =
            path ? cute_file_write(path, cute_buffer_text(text), text->length, diag) : cute_fail_memory(diag);
    }
    cute_arena_destroy(arena);
    return status;
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

static cute_status compile(cute_tool *tool, void *context)
{
    const settings *s = context;
    const cute_option_list *operands = &tool->operands;
    cute_diag *diag = tool->diag;
    static const char *const emits[] = {"ptx", "llvm", NULL}, *const maps[] = {"param", "memory", NULL},
                             *const source_maps[] = {"auto", "off", NULL};
    int emit = 0, map = 0, source_map = 0;
    if (operands->count > 1)
        return cute_fail(diag, CUTE_USAGE, NULL, "expected one input, got '%s' and '%s'", operands->items[0],
                         operands->items[1]);
    const char *input = operands->count ? operands->items[0] : "-";
    if (s->emit) CUTE_TRY(one_of("emit", s->emit, emits, &emit, diag));
    if (s->tensor_map) CUTE_TRY(one_of("tensor-map", s->tensor_map, maps, &map, diag));
    if (s->source_map) CUTE_TRY(one_of("source-map", s->source_map, source_maps, &source_map, diag));
    if (s->level < 0 || s->level > 3)
        return cute_fail(diag, CUTE_USAGE, NULL, "-O expects 0 to 3, got %lld", (long long)s->level);
    cute_ptx_options options = {.opt_level = (int)s->level,
                                .lineinfo = s->lineinfo,
                                .assertions = s->assertions,
                                .emit = emit ? CUTE_EMIT_LLVM : CUTE_EMIT_PTX,
                                .tensor_maps_memory = map == 1,
                                .relocatable = s->relocatable,
                                .libraries = s->libraries.items,
                                .library_count = s->libraries.count,
                                .cuda_path = s->cuda_path,
                                .save_temps = s->save_temps,
                                .dump_passes = s->dump_passes,
                                .define_count = s->defines.count,
                                .no_source_map = source_map == 1};
    CUTE_TRY(s->arch ? cute_arch_parse_native(s->arch, &options.arch, diag)
                     : cute_arch_choose(NULL, &options.arch, diag));
    cute_define *defines;
    CUTE_TRY(cute_defines_parse(tool->arena, s->defines.items, s->defines.count, &defines, diag));
    options.defines = defines;

    cute_buffer text = {0};
    cute_ptx_output result = {0};
    const char *label = cute_file_label(input);
    cute_status status = cute_file_read(input, &text, diag);
    if (!status)
        status = cute_ptx_compile(label, cute_buffer_text(&text), text.length, &options, &result, diag);
    if (!status) status = write_output(s, label, &result, diag);
    if (!status && (s->timing || s->timing_text)) print_timing(s->timing ? s->timing : "text", &result);
    cute_ptx_output_release(&result);
    cute_buffer_release(&text);
    return status;
}

int main(int argc, char **argv)
{
    settings s = {.level = 3};
    const cute_option options[] = {
        {CUTE_OPTION_GROUP, "Target", 0, NULL, NULL, NULL},
        {CUTE_OPTION_STRING, "arch", 0, "sm_XX[a|f]", "architecture, or native (default: $ARCH, else sm_90a)",
         &s.arch},
        {CUTE_OPTION_INT, "opt-level", 'O', "0..3", "optimisation (default 3)", &s.level},
        {CUTE_OPTION_LIST, "link-libraries", 0, "FILE", "link functions that are missing from LLVM bitcode",
         &s.libraries},
        {CUTE_OPTION_STRING, "tensor-map", 0, "param|memory",
         "pass tensor maps by value (default) or by pointer", &s.tensor_map},
        {CUTE_OPTION_FLAG, "relocatable-device-code", 0, NULL,
         "keep device functions visible, for cute-link to link", &s.relocatable},
        {CUTE_OPTION_FLAG, "rdc", 0, NULL, NULL, &s.relocatable},
        {CUTE_OPTION_STRING, "cuda-path", 0, "DIR", "where the CUDA toolkit is", &s.cuda_path},
        {CUTE_OPTION_GROUP, "Source", 0, NULL, NULL, NULL},
        {CUTE_OPTION_LIST, "define", 'D', "NAME=VALUE", "replace ${NAME} and ${NAME*2} in the text",
         &s.defines},
        {CUTE_OPTION_FLAG, "lineinfo", 0, NULL, "keep source lines (.loc)", &s.lineinfo},
        {CUTE_OPTION_STRING, "source-map", 0, "auto|off",
         "take places from what cute-opt says of its input (default auto)", &s.source_map},
        {CUTE_OPTION_FLAG, "enable-assertions", 0, NULL, "keep cf.assert: a false one stops the grid",
         &s.assertions},
        {CUTE_OPTION_GROUP, "Output", 0, NULL, NULL, NULL},
        {CUTE_OPTION_STRING, "output", 'o', "FILE|DIR/",
         "output file, or a folder for several modules (default: stdout)", &s.output},
        {CUTE_OPTION_STRING, "emit", 0, "ptx|llvm", "what to write (default ptx)", &s.emit},
        {CUTE_OPTION_STRING, "save-temps", 0, "DIR", "keep what stands between the stages", &s.save_temps},
        {CUTE_OPTION_STRING, "dump-passes", 0, "DIR", "write the IR before, after each pass, and at the end",
         &s.dump_passes},
        {CUTE_OPTION_FLAG, "timing", 0, NULL, "print where the time goes on stderr", &s.timing_text},
        {CUTE_OPTION_STRING, "timing-format", 0, "text|json", "the same, in this form", &s.timing},
        {0},
    };
    const cute_command command = {
        .name = "cute-ptx",
        .synopsis = "[options] [file.mlir]",
        .summary = "Compiles kernels in MLIR (cute, gpu, nvgpu, scf, vector, memref, arith, math) to PTX.",
        .options = options,
        .output = &s.output,
        .epilogue = "  cute-opt k.mlir | cute-ptx -arch sm_90a | cute-link > k.cubin\n"
                    "  cute-ptx -D BM=128 -lineinfo k.mlir -o k.ptx\n",
    };
    char with[64];
    snprintf(with, sizeof with, "LLVM %s", cute_llvm_version());
    return cute_tool_run(&command, with, compile, &s, argc, argv);
}
