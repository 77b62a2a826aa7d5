/* Links the images of --emit-c, writes the sources of lib/aot, and compiles them. */
#include "tools/cute-link/emit.h"

#include <string.h>

#include "lib/aot/aot.h"
#include "lib/base/diagnostics/diag.h"
#include "lib/base/system/file.h"
#include "lib/base/system/process.h"
#include "lib/toolkit/native.h"

enum { MAX_IMAGES = 64 };

typedef struct emitter {
    cute_arena *arena;
    const char *path;
    const cute_link_options *options;
    const cute_link_input *inputs;
    size_t count;
    cute_aot_group groups[MAX_IMAGES];
    size_t group_count;
    cute_aot_image images[MAX_IMAGES];
    size_t image_count;
    cute_diag *diag;
} emitter;

static cute_status add_image(emitter *e, const cute_arch *arch, bool binary, const void *bytes, size_t length)
{
    if (e->image_count == MAX_IMAGES)
        return cute_fail(e->diag, CUTE_USAGE, NULL, "--emit-c expects at most %d architectures",
                         (int)MAX_IMAGES);
    void *copy = cute_arena_alloc(e->arena, length + 1);
    if (!copy) return cute_fail_memory(e->diag);
    memcpy(copy, bytes, length);
    ((char *)copy)[length] = '\0'; /* the end of PTX */
    e->images[e->image_count++] = (cute_aot_image){arch, binary, e->group_count - 1, copy, length + !binary};
    return CUTE_OK;
}

/* Links inputs for one architecture (NULL: their own), and adds the image to the last group. */
static cute_status link_image(emitter *e, const char *arch_name, const cute_link_input *inputs, size_t count)
{
    cute_link_options options = *e->options;
    cute_link_result result = {0};
    cute_module *module = NULL;
    bool ptx = arch_name && strncmp(arch_name, "compute_", 8) == 0;
    const cute_arch *arch = NULL;
    if (arch_name) CUTE_TRY(cute_arch_parse_native(arch_name, &arch, e->diag));
    const char *items[] = {arch ? arch->name : NULL};
    options.archs = (cute_option_list){items, arch ? 1 : 0};
    options.strip = false;
    cute_status status = cute_link(e->arena, &options, inputs, count, &result, e->diag);
    if (status == CUTE_OK)
        status = cute_module_open(inputs[0].label, cute_buffer_text(&result.output), result.output.length,
                                  NULL, &module, e->diag);
    if (status == CUTE_OK && !(arch = cute_arch_find(cute_module_arch(module))))
        status = cute_fail(e->diag, CUTE_INVALID, &(cute_place){.file = inputs[0].label},
                           "unknown architecture '%s'", cute_module_arch(module));
    if (status == CUTE_OK && ptx) {
        size_t length = 0;
        const char *text = cute_module_ptx(module, &length);
        status = text ? add_image(e, arch, false, text, length)
                      : cute_fail(e->diag, CUTE_INVALID, &(cute_place){.file = inputs[0].label},
                                  "-arch=%s expects PTX, which the input does not have", arch_name);
    } else if (status == CUTE_OK && e->options->strip) {
        cute_link_result plain = {0};
        options.strip = true;
        status = cute_link(e->arena, &options, inputs, count, &plain, e->diag);
        if (status == CUTE_OK)
            status = add_image(e, arch, true, cute_buffer_text(&plain.output), plain.output.length);
        cute_buffer_release(&plain.output);
        cute_buffer_release(&plain.commands);
    } else if (status == CUTE_OK) {
        status = add_image(e, arch, true, cute_buffer_text(&result.output), result.output.length);
    }
    cute_buffer_release(&result.output);
    cute_buffer_release(&result.commands);
    cute_aot_group *group = &e->groups[e->group_count - 1];
    if (status == CUTE_OK && !group->module)
        group->module = module;
    else
        cute_module_close(module);
    return status;
}

static cute_status begin_group(emitter *e, const char *label)
{
    if (e->group_count == MAX_IMAGES)
        return cute_fail(e->diag, CUTE_USAGE, NULL, "--emit-c expects at most %d architectures",
                         (int)MAX_IMAGES);
    e->groups[e->group_count++] = (cute_aot_group){label, NULL};
    return CUTE_OK;
}

/* All inputs are linked for each architecture of -arch. */
static cute_status link_archs(emitter *e)
{
    CUTE_TRY(begin_group(e, e->inputs[0].label));
    for (size_t i = 0; i < e->options->archs.count; i++)
        for (const char *at = e->options->archs.items[i]; *at;) {
            size_t length = strcspn(at, ",");
            const char *name = cute_arena_copy(e->arena, at, length);
            if (!name) return cute_fail_memory(e->diag);
            CUTE_TRY(link_image(e, name, e->inputs, e->count));
            at += length + (at[length] == ',');
        }
    return CUTE_OK;
}

/* Inputs of the same architecture are linked together. */
static cute_status link_groups(emitter *e)
{
    const char **archs = cute_arena_array(e->arena, e->count, sizeof *archs);
    cute_link_input *members = cute_arena_array(e->arena, e->count, sizeof *members);
    bool *done = cute_arena_array(e->arena, e->count, sizeof *done);
    if (!archs || !members || !done) return cute_fail_memory(e->diag);
    for (size_t i = 0; i < e->count; i++) {
        cute_module *module;
        CUTE_TRY(cute_module_open(e->inputs[i].label, e->inputs[i].bytes, e->inputs[i].length, NULL, &module,
                                  e->diag));
        archs[i] = cute_arena_printf(e->arena, "%s", cute_module_arch(module));
        cute_module_close(module);
        if (!archs[i]) return cute_fail_memory(e->diag);
    }
    for (size_t i = 0; i < e->count; i++) {
        size_t count = 0;
        for (size_t k = i; k < e->count && !done[i]; k++)
            if (strcmp(archs[k], archs[i]) == 0) members[count++] = e->inputs[k];
        for (size_t k = i; k < e->count; k++) done[k] = done[k] || strcmp(archs[k], archs[i]) == 0;
        if (!count) continue;
        CUTE_TRY(begin_group(e, e->inputs[i].label));
        CUTE_TRY(link_image(e, NULL, members, count));
    }
    return CUTE_OK;
}

/* The first C compiler of this machine compiles the source. */
static cute_status compile_source(const emitter *e)
{
    static const char *const compilers[] = {"cc", "gcc", "clang"};
    const char *source = cute_arena_printf(e->arena, "%s.c", e->path),
               *object = cute_arena_printf(e->arena, "%s.o", e->path);
    if (!source || !object) return cute_fail_memory(e->diag);
    for (size_t i = 0; i < sizeof compilers / sizeof *compilers; i++) {
        const char *argv[] = {compilers[i], "-std=c11", "-O2", "-fPIC", "-c", source, "-o", object, NULL};
        cute_process process = {.argv = argv};
        cute_status status = cute_process_run(&process, NULL);
        if (status == CUTE_OK && process.exit_code != 0)
            status = cute_fail(e->diag, CUTE_SYSTEM, NULL, "%s failed: %s", cute_process_text(e->arena, argv),
                               cute_buffer_text(&process.err));
        else if (status != CUTE_OK)
            process.exit_code = -1;
        cute_buffer_release(&process.out);
        cute_buffer_release(&process.err);
        if (process.exit_code >= 0) return status;
    }
    cute_report(e->diag, CUTE_REMARK, NULL, "no C compiler was found: %s was not compiled to an object",
                source);
    return CUTE_OK;
}

static cute_status write_text(const emitter *e, const char *ending, const cute_buffer *text)
{
    const char *path = cute_arena_printf(e->arena, "%s%s", e->path, ending);
    if (!path) return cute_fail_memory(e->diag);
    return cute_file_write(path, cute_buffer_text(text), text->length, e->diag);
}

static cute_status write_sources(const emitter *e)
{
    const char *slash = strrchr(e->path, '/'), *base = slash ? slash + 1 : e->path;
    cute_aot_input input = {cute_aot_identifier(e->arena, base), e->groups, e->group_count, e->images,
                            e->image_count};
    cute_aot_output out = {0};
    if (!input.name) return cute_fail_memory(e->diag);
    if (strcmp(input.name, base) != 0)
        return cute_fail(e->diag, CUTE_USAGE, NULL,
                         "--emit-c expects a name that is an identifier of C, got '%s'", base);
    cute_status status = cute_aot_write(e->arena, &input, &out, e->diag);
    if (status == CUTE_OK) status = write_text(e, ".h", &out.header);
    if (status == CUTE_OK) status = write_text(e, ".c", &out.source);
    if (status == CUTE_OK) status = write_text(e, "_torch.cpp", &out.torch);
    cute_aot_release(&out);
    return status == CUTE_OK ? compile_source(e) : status;
}

cute_status emit_sources(const char *path, const cute_link_options *options, const cute_link_input *inputs,
                         size_t count, cute_arena *arena, cute_diag *diag)
{
    emitter *e = cute_arena_alloc(arena, sizeof *e);
    if (!e) return cute_fail_memory(diag);
    *e = (emitter){
        .arena = arena, .path = path, .options = options, .inputs = inputs, .count = count, .diag = diag};
    cute_status status = options->archs.count ? link_archs(e) : link_groups(e);
    if (status == CUTE_OK) status = write_sources(e);
    for (size_t i = 0; i < e->group_count; i++)
        cute_module_close((cute_module *)(uintptr_t)e->groups[i].module);
    return status;
}
