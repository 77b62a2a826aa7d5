/* What ptxas prints: any text is read. The input is the output, a byte 0, and the PTX. */
#include <string.h>

#include "lib/toolkit/messages.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    cute_arena *arena = cute_arena_create();
    cute_diag *diag = cute_diag_create();
    const char *text = (const char *)data, *split = size ? memchr(text, 0, size) : NULL;
    size_t length = split ? (size_t)(split - text) : size;
    cute_ptx_text ptx = {"fuzz.ptx", split ? split + 1 : "", split ? size - length - 1 : 0};
    cute_tool_output output = {.text = size ? text : "", .length = length, .ptx = &ptx, .verbose = true};
    cute_usage_list usage = {0};
    (void)!cute_tool_messages(arena, &output, &usage, diag);
    cute_diag_destroy(diag);
    cute_arena_destroy(arena);
    return 0;
}
