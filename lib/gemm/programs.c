/* Compiles a kernel with the program cute-ptx, found in the folder of the running program or in PATH. */
#include <string.h>
#include <sys/stat.h>

#include "lib/base/system/process.h"
#include "lib/gemm/gemm.h"
#include "lib/toolkit/pipe.h"

/* Each line of the program's output becomes a note. */
static cute_status report_failure(const cute_process *process, const char *label, cute_diag *diag)
{
    if (process->exit_code == 0) return CUTE_OK;
    cute_status status = process->exit_code >= CUTE_INVALID && process->exit_code <= CUTE_SYSTEM
                             ? (cute_status)process->exit_code
                             : CUTE_SYSTEM;
    cute_fail(diag, status, NULL, "cute-ptx failed to compile the kernel '%s'", label);
    const char *text = cute_buffer_text(&process->err);
    for (int lines = 0; *text && lines < 20; lines++) {
        size_t length = strcspn(text, "\n");
        if (length) cute_note(diag, NULL, "%.*s", (int)length, text);
        text += length + (text[length] == '\n');
    }
    return status;
}

static cute_status run_cute_ptx(void *context, const char *label, const char *source, size_t length,
                                const char *const *defines, size_t define_count, const char *arch, char **ptx,
                                size_t *ptx_length, cute_diag *diag)
{
    cute_arena *arena = cute_arena_create();
    cute_words words = {.arena = arena};
    (void)context;
    if (!arena) return cute_fail_memory(diag);
    cute_words_add(&words, cute_pipe_program(arena, "cute-ptx"));
    cute_words_add(&words, "-arch");
    cute_words_add(&words, arch);
    for (size_t i = 0; i < define_count; i++) {
        cute_words_add(&words, "-D");
        cute_words_add(&words, defines[i]);
    }
    cute_words_add(&words, "-");
    cute_process process = {.argv = words.items, .input = source, .input_length = length};
    cute_status status = words.failed ? cute_fail_memory(diag) : cute_process_run(&process, diag);
    if (status == CUTE_OK) status = report_failure(&process, label, diag);
    if (status == CUTE_OK && !cute_buffer_ok(&process.out)) status = cute_fail_memory(diag);
    if (status == CUTE_OK) {
        *ptx = process.out.data;
        *ptx_length = process.out.length;
        process.out = (cute_buffer){0};
    }
    cute_buffer_release(&process.out);
    cute_buffer_release(&process.err);
    cute_arena_destroy(arena);
    return status;
}

/* The version, part of cache keys, is the executable's size and time: a rebuilt one may report the same
 * version. */
cute_status gemm_programs(cute_arena *arena, cute_gemm_compiler *out, cute_diag *diag)
{
    struct stat info;
    const char *program = cute_pipe_program(arena, "cute-ptx");
    *out = (cute_gemm_compiler){.size = sizeof *out, .to_ptx = run_cute_ptx};
    if (!program) return cute_fail_memory(diag);
    out->version = stat(program, &info) != 0
                       ? "cute-ptx"
                       : cute_arena_printf(arena, "cute-ptx %lld %lld.%09ld", (long long)info.st_size,
                                           (long long)info.st_mtim.tv_sec, info.st_mtim.tv_nsec);
    return out->version ? CUTE_OK : cute_fail_memory(diag);
}
