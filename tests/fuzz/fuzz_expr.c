/* Expressions as launch.json and ${...} give them: any text is a value or an error with a place. */
#include <stdlib.h>

#include "lib/base/numbers/expr.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool lookup(void *context, const char *name, int64_t *value)
{
    (void)context;
    *value = name[0] == 'M' ? INT64_MAX : name[0];
    return name[0] != 'u';
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    cute_arena *arena = cute_arena_create();
    cute_diag *diag = cute_diag_create();
    const char *text = (const char *)data;
    cute_place origin = cute_place_at("launch.json", text, size, 0);
    cute_expr *expr;
    int64_t value;
    cute_status status = cute_expr_parse(arena, text, size, &origin, &expr, diag);
    if (status == CUTE_OK) status = cute_expr_int(expr, lookup, NULL, &value, diag);
    if ((status != CUTE_OK) != (cute_diag_errors(diag) != 0))
        abort(); /* refused without a word, or with praise */
    free(cute_diag_render(diag, CUTE_DIAG_TEXT, false));
    cute_diag_destroy(diag);
    cute_arena_destroy(arena);
    return 0;
}
