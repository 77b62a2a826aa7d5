/* Epilogue expressions: any text becomes a program with its launches and checks, or an error with a place. The first byte selects the size
 * of the product. */
#include <stdlib.h>
#include <string.h>

#include "lib/epilogue/epilogue.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static cute_status generate(epilogue_tree *tree, cute_diag *diag)
{
    epilogue_program *program;
    cute_buffer out = {0};
    CUTE_TRY(epilogue_run_passes(tree, NULL, diag));
    CUTE_TRY(epilogue_program_make(tree, &program, diag));
    json_t *buffers = json_object();
    if (!epilogue_put_buffers(tree, buffers)) abort();
    int64_t items = tree->problem.batch;
    for (int i = 0; i < program->count; i++)
        json_decref(epilogue_kernel_args(&program->kernels[i], NULL, 0, 0, items));
    json_decref(epilogue_checks(tree));
    json_decref(epilogue_json(tree));
    epilogue_text(tree, &out);
    epilogue_svg(tree, &out);
    cute_buffer_release(&out);
    json_decref(buffers);
    return CUTE_OK;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const int64_t extents[] = {1, 64, 96, 250, 4096, INT32_MAX};
    if (!size) return 0;
    cute_arena *arena = cute_arena_create();
    cute_diag *diag = cute_diag_create();
    epilogue_tree *tree;
    int64_t n = extents[data[0] % 6];
    cute_status status = epilogue_parse(arena, "<epilogue>", (const char *)data + 1, size - 1, &tree, diag);
    if (status == CUTE_OK) {
        tree->problem = (epilogue_problem){.m = n,
                                           .n = n,
                                           .k = 64,
                                           .in = CUTE_BF16,
                                           .sum = CUTE_F32,
                                           .out = data[0] & 8 ? CUTE_E4M3 : CUTE_BF16,
                                           .tile_m = 128,
                                           .tile_n = data[0] & 16 ? 64 : 256,
                                           .cluster_most = data[0] & 32 ? 8 : 1,
                                           .batch = data[0] & 64 ? 3 : 1,
                                           .align = 16};
        status = generate(tree, diag);
    }
    if ((status != CUTE_OK) != (cute_diag_errors(diag) != 0))
        abort(); /* refused without a word, or with praise */
    free(cute_diag_render(diag, CUTE_DIAG_TEXT, false));
    cute_diag_destroy(diag);
    cute_arena_destroy(arena);
    return 0;
}
