/* gpu.binary in MLIR's text and bytecode: objects or a reason. */
#include "lib/cubin/containers/gpubinary.h"
#include "lib/report/module/launchsites.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    cute_arena *arena = cute_arena_create();
    cute_diag *diag = cute_diag_create();
    cute_object *objects;
    size_t count;
    cute_buffer sites = {0};
    if (cute_gpu_binary_read(arena, "fuzz.mlir", data, size, &objects, &count, diag) == CUTE_OK) {
        for (size_t i = 0; i < count; i++)
            if (!objects[i].symbol || !objects[i].chip || !objects[i].data) __builtin_trap();
    } else if (cute_diag_errors(diag) == 0) {
        __builtin_trap();
    }
    cute_launch_sites("fuzz.mlir", (const char *)data, size, &sites);
    cute_buffer_release(&sites);
    cute_diag_destroy(diag);
    cute_arena_destroy(arena);
    return 0;
}
