/* The dialect's types as text: canonical form, sugar, and the way to and from lib/layout's values. */
#include "lib/ir/hooks.h"

#include <string.h>

#include "lib/base/buffer.h"

cute_status cute_type_canonical(cute_arena *arena, cute_type type, const char *text, size_t length,
                                const char **out, size_t *offset, cute_diag *diag)
{
    cute_value value;
    CUTE_TRY(cute_value_parse(arena, type, text, length, &value, offset, diag));
    *out = cute_value_text(arena, &value);
    return *out ? CUTE_OK : cute_fail_memory(diag);
}

/* `!cute.tile<128, 64>`: a contiguous stretch of each mode. */
static cute_status tile_of_extents(cute_arena *arena, const int64_t *values, int count, const char **out,
                                   cute_diag *diag)
{
    cute_buffer text = {0};
    for (int i = 0; i < count; i++)
        cute_buffer_printf(&text, "%c%lld:1", i ? ';' : '[', (long long)values[i]);
    cute_buffer_puts(&text, "]");
    size_t offset;
    cute_status status = cute_buffer_ok(&text) ? cute_type_canonical(arena, CUTE_TILE, text.data, text.length,
                                                                     out, &offset, diag)
                                               : cute_fail_memory(diag);
    cute_buffer_release(&text);
    return status;
}

/* What is longer is a number whose quotes are missing. */
#define RANKS 16

cute_status cute_type_sugar(cute_arena *arena, cute_type type, const int64_t *values, int count,
                            const char **out, cute_diag *diag)
{
    const char *name = cute_type_name(type);
    if (type == CUTE_TILE && count > 1) return tile_of_extents(arena, values, count, out, diag);
    bool ranked = type != CUTE_SWIZZLE && type != CUTE_COMPOSED_LAYOUT && type != CUTE_TILE;
    if (!ranked || count != 1 || values[0] < 1 || values[0] > RANKS)
        return cute_fail(diag, CUTE_INVALID, NULL, "expected string: !cute.%s takes its text in quotes%s",
                         name,
                         ranked              ? ", or a rank from 1 to 16"
                         : type == CUTE_TILE ? ", or two or more extents"
                                             : "");
    cute_value value;
    CUTE_TRY(cute_value_of_rank(arena, type, values[0], &value, diag));
    *out = cute_value_text(arena, &value);
    return *out ? CUTE_OK : cute_fail_memory(diag);
}

cute_status cute_type_value(MlirType type, cute_value *out, cute_diag *diag)
{
    const cute_value *value = cute_type_peek(type);
    if (!value) return cute_fail(diag, CUTE_INVALID, NULL, "not a type of the dialect cute");
    *out = *value;
    return CUTE_OK;
}

MlirType cute_type_of_value(MlirContext context, cute_arena *arena, const cute_value *value)
{
    const char *text = cute_value_text(arena, value);
    if (!text) return (MlirType){NULL};
    return cute_type_get(context, value->type, mlirStringRefCreateFromCString(text));
}

bool cute_type_is_static(MlirType type)
{
    if (!cute_type_is(type, NULL)) return false;
    MlirStringRef text = cute_type_text(type);
    return !memchr(text.data, '?', text.length);
}
