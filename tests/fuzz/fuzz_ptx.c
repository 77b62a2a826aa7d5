/* Any text through the PTX parser of the emulator: a program or an error with a place, never a crash. What
 * was parsed is looked up as a launch would. */
#include <stdlib.h>
#include <string.h>

#include "lib/emulator/program.h"

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
            if (f && em_static_shared(program, f) < 0) abort();
        }
    else if (cute_diag_errors(diag) == 0)
        abort();
    free(text);
    cute_diag_destroy(diag);
    cute_arena_destroy(arena);
    return 0;
}
