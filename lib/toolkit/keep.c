/* Writes a module to files named after its kernels, and runs the post-compile program. */
#include "lib/toolkit/keep.h"

#include <stdio.h>
#include <string.h>

#include "lib/base/system/file.h"
#include "lib/base/system/process.h"

static cute_status run_hook(cute_arena *arena, const char *hook, const char *path, const char *arch,
                            const char *suffix, const char *kernels, cute_diag *diag)
{
    const char *const argv[] = {"env",
                                cute_arena_printf(arena, "CUTE_OUTPUT=%s", path),
                                cute_arena_printf(arena, "CUTE_KERNELS=%s", kernels),
                                cute_arena_printf(arena, "CUTE_ARCH=%s", arch),
                                cute_arena_printf(arena, "CUTE_KIND=%s", suffix),
                                hook,
                                NULL};
    for (size_t i = 0; i + 1 < sizeof argv / sizeof *argv; i++)
        if (!argv[i]) return cute_fail_memory(diag);
    cute_process process = {.argv = argv};
    cute_status status = cute_process_run(&process, diag);
    if (status == CUTE_OK) {
        fwrite(cute_buffer_text(&process.out), 1, process.out.length, stderr);
        fwrite(cute_buffer_text(&process.err), 1, process.err.length, stderr);
        if (process.exit_code)
            status = cute_fail(diag, CUTE_SYSTEM, NULL, "post-compile program '%s' failed with exit code %d",
                               hook, process.exit_code);
    }
    cute_buffer_release(&process.out);
    cute_buffer_release(&process.err);
    return status;
}

static cute_status keep_kernels(const cute_keep *keep, cute_arena *arena, const cute_option_list *list,
                                const char *arch, const char *suffix, const void *bytes, size_t length,
                                cute_diag *diag)
{
    const char *path = keep->output && strcmp(keep->output, "-") != 0 ? keep->output : NULL, *kernels = "";
    bool write = keep->on || (keep->hook && !path);
    if (write && keep->folder) CUTE_TRY(cute_make_directory(keep->folder, diag));
    for (size_t i = 0; i < list->count; i++) {
        const char *kernel = list->items[i];
        const char *plain = cute_file_plain_name(arena, kernel);
        const char *file = plain ? cute_arena_printf(arena, "%s/%s.%s.%s", keep->folder ? keep->folder : ".",
                                                     plain, arch, suffix)
                                 : NULL;
        kernels = cute_arena_printf(arena, "%s%s%s", kernels, *kernels ? "," : "", kernel);
        if (!file || !kernels) return cute_fail_memory(diag);
        if (write) CUTE_TRY(cute_file_write(file, bytes, length, diag));
        if (!path) path = file;
    }
    return keep->hook && path ? run_hook(arena, keep->hook, path, arch, suffix, kernels, diag) : CUTE_OK;
}

cute_status cute_keep_module(const cute_keep *keep, const cute_option_list *kernels, const char *arch,
                             const char *suffix, const void *bytes, size_t length, cute_diag *diag)
{
    if (!keep->on && !keep->hook) return CUTE_OK;
    cute_arena *arena = cute_arena_create();
    if (!arena) return cute_fail_memory(diag);
    cute_status status = keep_kernels(keep, arena, kernels, arch, suffix, bytes, length, diag);
    cute_arena_destroy(arena);
    return status;
}
