/* The rows of types.def, and their functions: canonical texts, sugar, the way to and from lib/layout's values. */
#include "lib/ir/types.h"

#include <string.h>

#include "lib/base/buffer.h"
#include "lib/ir/fields.h"

/* ---- texts that lib/layout reads ---- */

static cute_status cute_canonical_value(const cute_type_row *row, cute_arena *arena, const char *text,
                                        size_t length, const char **out, size_t *offset, cute_diag *diag)
{
    cute_value value;
    CUTE_TRY(cute_value_parse(arena, (cute_type)row->kind, text, length, &value, offset, diag));
    *out = cute_value_text(arena, &value);
    return *out ? CUTE_OK : cute_fail_memory(diag);
}

/* ---- sugar ---- */

static cute_status expect_text(const cute_type_row *row, const char * or, cute_diag *diag)
{
    return cute_fail(diag, CUTE_INVALID, NULL, "expected string: !cute.%s takes its text in quotes%s",
                     row->mnemonic, or);
}

/* A larger number is rather a text without its quotes. */
#define RANKS 16

/* `!cute.layout<2>`: all leaves unknown. */
static cute_status cute_sugar_rank(const cute_type_row *row, cute_arena *arena, const int64_t *values,
                                   int count, const char **out, cute_diag *diag)
{
    if (count != 1 || values[0] < 1 || values[0] > RANKS)
        return expect_text(row, ", or a rank from 1 to 16", diag);
    cute_value value;
    CUTE_TRY(cute_value_of_rank(arena, (cute_type)row->kind, values[0], &value, diag));
    *out = cute_value_text(arena, &value);
    return *out ? CUTE_OK : cute_fail_memory(diag);
}

/* `!cute.tile<128, 64>`: a contiguous stretch of each mode. */
static cute_status cute_sugar_extents(const cute_type_row *row, cute_arena *arena, const int64_t *values,
                                      int count, const char **out, cute_diag *diag)
{
    if (count < 2) return expect_text(row, ", or two or more extents", diag);
    cute_buffer text = {0};
    for (int i = 0; i < count; i++)
        cute_buffer_printf(&text, "%c%lld:1", i ? ';' : '[', (long long)values[i]);
    cute_buffer_puts(&text, "]");
    size_t offset;
    cute_status status = cute_buffer_ok(&text)
                             ? row->canonical(row, arena, text.data, text.length, out, &offset, diag)
                             : cute_fail_memory(diag);
    cute_buffer_release(&text);
    return status;
}

cute_status cute_type_sugar(const cute_type_row *row, cute_arena *arena, const int64_t *values, int count,
                            const char **out, cute_diag *diag)
{
    return row->sugar ? row->sugar(row, arena, values, count, out, diag) : expect_text(row, "", diag);
}

/* ---- rows ---- */

static const cute_type_row rows[] = {
#define CUTE_IR_TYPE(cls, mnemonic, kind, ...) {#mnemonic, kind, __VA_ARGS__},
#include "lib/ir/types.def"
#undef CUTE_IR_TYPE
};

const cute_type_row *cute_type_row_at(cute_type_index index)
{
    return &rows[index];
}

static cute_type_index index_of(cute_type kind)
{
    int i = 0;
    while (rows[i].kind != (int)kind) i++;
    return (cute_type_index)i;
}

const cute_type_row *cute_type_row_of_kind(cute_type kind)
{
    return &rows[index_of(kind)];
}

/* ---- types and values ---- */

bool cute_type_is(MlirType type, cute_type *kind)
{
    const cute_type_row *row = cute_type_row_of(type);
    if (!row || row->kind == CUTE_NO_VALUE) return false;
    if (kind) *kind = (cute_type)row->kind;
    return true;
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
    return cute_type_get(context, index_of(value->type), mlirStringRefCreateFromCString(text));
}

bool cute_type_is_static(MlirType type)
{
    MlirStringRef text = cute_type_text(type);
    return text.data && !memchr(text.data, '?', text.length);
}
