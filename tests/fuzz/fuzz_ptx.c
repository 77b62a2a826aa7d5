/* Any text through the PTX parser of the emulator, the accesses that reports find in it and, with itself, the joiner of modules: a
 * program or an error with a place, never a crash. What was parsed is looked up as a launch would. */
#include <stdlib.h>
#include <string.h>

#include "lib/code/access.h"
#include "lib/cubin/ptx/ptxjoin.h"
#include "lib/emulator/program/program.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    cute_arena *arena = cute_arena_create();
    cute_diag *diag = cute_diag_create();
    char *text = malloc(size + 1);
    em_program *program;
    memcpy(text, data, size);
    text[size] = '\0';
    cute_status status = em_program_parse(arena, "fuzz.ptx", text, size, UINT64_C(1) << 40, &program, diag);
    if (status == CUTE_OK)
        for (size_t i = 0; i < program->function_count; i++) {
            const em_function *f = em_program_find(program, program->functions[i]->name);
            if (f && em_static_shared(f) < 0) abort();
        }
    else if (cute_diag_errors(diag) == 0)
        abort();
    /* Reports take what can be run, and more. */
    cute_access_report report;
    cute_diag_clear(diag);
    cute_status read = cute_access_read(arena, "fuzz.ptx", text, size, NULL, &report, diag);
    if (status == CUTE_OK && read != CUTE_OK) abort();
    if (read != CUTE_OK && cute_diag_errors(diag) == 0) abort();
    if (read == CUTE_OK) {
        cute_buffer shown = {0};
        cute_access_print(arena, &report, &shown);
        json_decref(cute_access_json(&report));
        cute_buffer_release(&shown);
    }
    cute_buffer joined = {0};
    const cute_ptx_part parts[] = {
        {"a.ptx", text, size, false}, {"b.ptx", text, size / 2, false}, {"c.ptx", text, size, true}};
    cute_diag_clear(diag);
    if (cute_ptx_join(arena, parts, 3, &joined, diag) != CUTE_OK && cute_diag_errors(diag) == 0) abort();
    cute_buffer_release(&joined);
    free(text);
    cute_diag_destroy(diag);
    cute_arena_destroy(arena);
    return 0;
}
