/* Translates the settings of cute-ptx and the compiler library to cute_ptx_options. */
#include "lib/ptx/settings.h"

#include <string.h>

#include "lib/ir/diagnostics/warnings.h"
#include "lib/toolkit/native.h"

/* The index of `text` in the choices; 0 for NULL. */
static cute_status parse_choice(const char *option, const char *text, const char *const *choices, int *out,
                                cute_diag *diag)
{
    cute_buffer all = {0};
    *out = 0;
    if (!text) return CUTE_OK;
    for (; choices[*out]; ++*out) {
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

cute_status cute_ptx_settings_resolve(const cute_ptx_settings *s, cute_arena *arena, cute_ptx_options *out,
                                      cute_diag *diag)
{
    static const char *const emits[] = {
        [CUTE_EMIT_PTX] = "ptx", [CUTE_EMIT_LLVM] = "llvm", [CUTE_EMIT_MLIR] = "mlir", NULL};
    static const char *const maps[] = {"param", "memory", NULL};
    static const char *const source_maps[] = {"auto", "off", NULL};
    static const char *const dumps[] = {
        [CUTE_DUMP_ALL] = "all", [CUTE_DUMP_CHANGED] = "changed", [CUTE_DUMP_NONE] = "none", NULL};
    static const char *const checks[] = {"on", "warn", "strict", "off", NULL};
    static const char *const backends[] = {
        "auto", [CUTE_BACKEND_NVPTX] = "llvm", [CUTE_BACKEND_LIBNVVM] = "libnvvm", NULL};
    int emit, map, source_map, check, dump, backend;
    cute_define *defines;
    CUTE_TRY(parse_choice("emit", s->emit, emits, &emit, diag));
    CUTE_TRY(parse_choice("tensor-map", s->tensor_map, maps, &map, diag));
    CUTE_TRY(parse_choice("source-map", s->source_map, source_maps, &source_map, diag));
    CUTE_TRY(parse_choice("static-checks", s->static_checks, checks, &check, diag));
    CUTE_TRY(parse_choice("backend", s->backend, backends, &backend, diag));
    CUTE_TRY(parse_choice("dump-each", s->dump_each, dumps, &dump, diag));
    if (s->dump_each && !s->dump_passes)
        return cute_fail(diag, CUTE_USAGE, NULL, "--dump-each has no effect without --dump-passes");
    if (s->level < 0 || s->level > 3)
        return cute_fail(diag, CUTE_USAGE, NULL, "-O expects 0 to 3, got %lld", (long long)s->level);
    *out = (cute_ptx_options){.opt_level = (int)s->level,
                              .backend = (unsigned)backend,
                              .lineinfo = s->lineinfo,
                              .assertions = s->assertions,
                              .emit = (cute_ptx_emit)emit,
                              .tensor_maps_memory = map == 1,
                              .static_checks = checks[check],
                              .schedule = s->schedule,
                              .relocatable = s->relocatable,
                              .libraries = s->libraries.items,
                              .library_count = s->libraries.count,
                              .cuda_path = s->cuda_path,
                              .save_temps = s->save_temps,
                              .dump_passes = s->dump_passes,
                              .dump_each = (cute_dump_each)dump,
                              .print_ir = s->print_ir,
                              .pipeline = s->pipeline,
                              .define_count = s->defines.count,
                              .folders = s->folders.items,
                              .folder_count = s->folders.count,
                              .no_source_map = source_map == 1};
    CUTE_TRY(cute_warnings_as_remarks(arena, s->warn, s->remarks, &out->remarks, diag));
    CUTE_TRY(cute_arch_choose_native(s->arch, &out->arch, diag));
    CUTE_TRY(cute_defines_parse(arena, s->defines.items, s->defines.count, &defines, diag));
    out->defines = defines;
    return CUTE_OK;
}

static cute_status compile_in_arena(cute_arena *arena, const cute_ptx_settings *settings, const char *label,
                                    const char *source, size_t length, cute_ptx_output *out, cute_diag *diag)
{
    cute_ptx_options options;
    CUTE_TRY(cute_ptx_settings_resolve(settings, arena, &options, diag));
    return cute_ptx_compile(label, source, length, &options, out, diag);
}

cute_status cute_ptx_compile_source(const cute_ptx_settings *settings, const char *label, const void *source,
                                    size_t length, cute_ptx_output *out, cute_diag *diag)
{
    cute_arena *arena = cute_arena_create();
    *out = (cute_ptx_output){0};
    if (!arena) return cute_fail_memory(diag);
    cute_status status = compile_in_arena(arena, settings, label, source, length, out, diag);
    cute_arena_destroy(arena);
    return status;
}
