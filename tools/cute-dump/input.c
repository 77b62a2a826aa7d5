/* Opens the module that a view reads: PTX, a cubin, an image of a container, or MLIR that is compiled first. */
#include "tools/cute-dump/dump.h"

#include <stdio.h>

#include "lib/base/devices/arch.h"
#include "lib/base/system/file.h"
#include "lib/cubin/containers/images.h"
#include "lib/toolkit/pipe.h"

cute_status cute_dump_take_flag_file(dump_settings *s, cute_option_list *operands, const char **value,
                                     cute_diag *diag)
{
    if (!*value || s->file || operands->count > 1 || !cute_file_exists(*value)) return CUTE_OK;
    if (operands->count && (!cute_dump_find_view(operands->items[0]) || cute_file_exists(operands->items[0])))
        return CUTE_OK;
    if (!cute_option_append(s->arena, operands, *value)) return cute_fail_memory(diag);
    *value = NULL;
    return CUTE_OK;
}

/* Replaces MLIR in `bytes` by the compiled module. */
static cute_status compile_mlir(dump_settings *s, cute_tool *tool, const char *path, cute_buffer *bytes)
{
    cute_pipe pipe = {.arch = s->arch,
                      .opt_level = s->opt_level,
                      .cuda_path = s->cuda_path,
                      .defines = &s->defines,
                      .folders = &s->folders,
                      .plugins = &s->plugin_paths,
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

cute_status cute_dump_open(dump_settings *s, cute_tool *tool, const char *path, bool or_any)
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

cute_status cute_dump_check_module(const dump_settings *s, const dump_view *view, cute_diag *diag)
{
    const cute_place file = {.file = s->label};
    bool compiled = cute_module_get_format(s->module) == CUTE_MODULE_CUBIN;
    const char *made = cute_module_arch(s->module);
    if (s->compiled) return CUTE_OK;
    if ((s->defines.count && !s->config) || s->folders.count)
        return cute_fail(diag, CUTE_USAGE, &file,
                         "%s applies to MLIR only, and this file is already compiled",
                         s->defines.count ? "-D" : "-I");
    if (s->opt_level && compiled)
        return cute_fail(diag, CUTE_USAGE, &file, "-O has no effect on a cubin, which is already compiled");
    if (!s->arch || cute_module_get_container(s->module) == CUTE_MODULE_FATBIN ||
        (view->takes & TAKES_LEVEL && !compiled) || view->run == do_resources ||
        cute_arch_find(made) == cute_arch_find(s->arch))
        return CUTE_OK;
    return cute_fail(diag, CUTE_INVALID, &file, "expected a module for %s, got one for %s", s->arch, made);
}

cute_status cute_dump_check_kernel(dump_settings *s, cute_diag *diag)
{
    const cute_kernel *kernel;
    if (!s->kernel) return CUTE_OK;
    CUTE_TRY(cute_module_find_kernel(s->module, s->kernel, &kernel, diag));
    s->kernel = kernel->name;
    return CUTE_OK;
}
