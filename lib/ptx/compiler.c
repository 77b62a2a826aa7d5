/* The public compiler interface: options by name, runs, results. Maps cute-ptx's options to
 * cute_ptx_compile. */
#include "cute/compile.h"

#include <stdlib.h>
#include <string.h>

#include "lib/ptx/settings.h"

struct cute_compiler {
    cute_arena *arena;
    cute_ptx_settings settings;
    cute_compile_hook hook; /* NULL: none */
    void *hook_context;
};

struct cute_compiled {
    cute_ptx_output output;
};

cute_status cute_compiler_create(cute_compiler **out, cute_diag *diag)
{
    cute_compiler *c = *out = calloc(1, sizeof *c);
    if (c) c->arena = cute_arena_create();
    if (c && c->arena) {
        c->settings.level = 3;
        return CUTE_OK;
    }
    free(c);
    *out = NULL;
    return cute_fail_memory(diag);
}

void cute_compiler_destroy(cute_compiler *c)
{
    if (!c) return;
    cute_arena_destroy(c->arena);
    free(c);
}

cute_status cute_compiler_set(cute_compiler *c, const char *option, const char *value, cute_diag *diag)
{
    cute_ptx_settings *s = &c->settings, old = *s;
    const cute_option table[] = {
        {CUTE_OPTION_STRING, "arch", 0, NULL, NULL, &s->arch},
        {CUTE_OPTION_INT, "opt-level", 0, NULL, NULL, &s->level},
        {CUTE_OPTION_LIST, "define", 0, NULL, NULL, &s->defines},
        {CUTE_OPTION_LIST, "include", 0, NULL, NULL, &s->folders},
        {CUTE_OPTION_FLAG, "lineinfo", 0, NULL, NULL, &s->lineinfo},
        {CUTE_OPTION_STRING, "source-map", 0, NULL, NULL, &s->source_map},
        {CUTE_OPTION_FLAG, "enable-assertions", 0, NULL, NULL, &s->assertions},
        {CUTE_OPTION_FLAG, "relocatable-device-code", 0, NULL, NULL, &s->relocatable},
        {CUTE_OPTION_STRING, "tensor-map", 0, NULL, NULL, &s->tensor_map},
        {CUTE_OPTION_STRING, "static-checks", 0, NULL, NULL, &s->static_checks},
        {CUTE_OPTION_STRING, "schedule", 0, NULL, NULL, &s->schedule},
        {CUTE_OPTION_LIST, "link-libraries", 0, NULL, NULL, &s->libraries},
        {CUTE_OPTION_STRING, "cuda-path", 0, NULL, NULL, &s->cuda_path},
        {CUTE_OPTION_STRING, "pipeline", 0, NULL, NULL, &s->pipeline},
        {CUTE_OPTION_STRING, "pass-pipeline", 0, NULL, NULL, &s->pipeline},
        {CUTE_OPTION_MAYBE, "remarks", 0, NULL, NULL, &s->remarks},
        {CUTE_OPTION_STRING, "warn", 0, NULL, NULL, &s->warn},
        {CUTE_OPTION_STRING, "backend", 0, NULL, NULL, &s->backend},
        {CUTE_OPTION_STRING, "emit", 0, NULL, NULL, &s->emit},
        {CUTE_OPTION_STRING, "save-temps", 0, NULL, NULL, &s->save_temps},
        {CUTE_OPTION_STRING, "dump-passes", 0, NULL, NULL, &s->dump_passes},
        {CUTE_OPTION_STRING, "dump-each", 0, NULL, NULL, &s->dump_each},
        {0},
    };
    cute_status status = cute_option_set(table, c->arena, option, value, diag);
    cute_arena *scratch = status == CUTE_OK ? cute_arena_create() : NULL;
    cute_ptx_options unused;
    if (status == CUTE_OK)
        status = scratch ? cute_ptx_settings_resolve(s, scratch, &unused, diag) : cute_fail_memory(diag);
    cute_arena_destroy(scratch);
    if (status != CUTE_OK) *s = old;
    return status;
}

void cute_compiler_set_hook(cute_compiler *c, cute_compile_hook hook, void *context)
{
    c->hook = hook;
    c->hook_context = context;
}

/* Compiles to `made`, and calls the hook. */
static cute_status run_hooked(const cute_compiler *c, const char *label, const void *source, size_t length,
                              cute_compiled *made, cute_diag *diag)
{
    cute_arena *arena = cute_arena_create();
    cute_buffer mlir = {0};
    cute_ptx_options options;
    cute_status status =
        arena ? cute_ptx_settings_resolve(&c->settings, arena, &options, diag) : cute_fail_memory(diag);
    if (status == CUTE_OK) {
        options.lowered = &mlir;
        status = cute_ptx_compile(label, source, length, &options, &made->output, diag);
    }
    if (status == CUTE_OK)
        status = c->hook(&(cute_compilation){.label = label,
                                             .arch = options.arch->name,
                                             .compiled = made,
                                             .mlir = cute_buffer_text(&mlir),
                                             .mlir_length = mlir.length},
                         c->hook_context, diag);
    cute_buffer_release(&mlir);
    cute_arena_destroy(arena);
    return status;
}

cute_status cute_compiler_run(const cute_compiler *c, const char *label, const void *source, size_t length,
                              cute_compiled **out, cute_diag *diag)
{
    cute_compiled *made = calloc(1, sizeof *made);
    *out = NULL;
    if (!made) return cute_fail_memory(diag);
    cute_status status =
        c->hook ? run_hooked(c, label, source, length, made, diag)
                : cute_ptx_compile_source(&c->settings, label, source, length, &made->output, diag);
    if (status == CUTE_OK)
        *out = made;
    else
        cute_compiled_destroy(made);
    return status;
}

size_t cute_compiled_count(const cute_compiled *compiled)
{
    return compiled->output.count;
}

const char *cute_compiled_text(const cute_compiled *compiled, size_t index, size_t *length)
{
    if (index >= compiled->output.count) return NULL;
    const cute_buffer *text = &compiled->output.modules[index].text;
    if (length) *length = text->length;
    return cute_buffer_text(text);
}

const char *cute_compiled_module(const cute_compiled *compiled, size_t index)
{
    return index < compiled->output.count ? compiled->output.modules[index].module : NULL;
}

void cute_compiled_destroy(cute_compiled *compiled)
{
    if (!compiled) return;
    cute_ptx_output_release(&compiled->output);
    free(compiled);
}

const char *cute_compiler_llvm_version(void)
{
    return cute_llvm_version();
}
