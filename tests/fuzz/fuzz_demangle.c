/* Any symbol through the demangler: a text or none, and a symbol is found by all its own names. */
#include <stdlib.h>
#include <string.h>

#include "lib/base/text/demangle.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    cute_arena *arena = cute_arena_create();
    char *symbol = malloc(size + 1);
    cute_demangled names;
    memcpy(symbol, data, size);
    symbol[size] = '\0';
    if (cute_demangle(arena, symbol, &names) &&
        (!cute_symbol_matches(arena, symbol, names.full) || !cute_symbol_matches(arena, symbol, names.base)))
        abort();
    free(symbol);
    cute_arena_destroy(arena);
    return 0;
}
