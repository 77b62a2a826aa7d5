/* The rows of types.def and their functions: canonical text, shorthands, conversion from and to
 * lib/layout's values. */
#include "lib/ir/dialects/types.h"

#include <stdlib.h>
#include <string.h>

#include "lib/atoms/atoms.h"
#include "lib/base/buffer.h"
#include "lib/base/options/nearest.h"
#include "lib/ir/dialects/fields.h"

/* ---- descriptors: pointers and tensors whose text is their own ---- */

static const cute_pointer descriptors = {
    .element = "!cute_nvgpu.smem_desc", .space = CUTE_SPACE_DESC, .align = 1};

/* `!cute_nvgpu.smem_desc, "LAYOUT"`. */
static cute_status view_value(const cute_type_row *row, cute_arena *arena, const char *text, size_t length,
                              cute_value *out, size_t *offset, cute_diag *diag)
{
    size_t n = strlen(descriptors.element), at = n, fault = 0, unused;
    if (!offset) offset = &unused;
    if (length >= n && !memcmp(text, descriptors.element, n)) {
        while (at < length && (text[at] == ' ' || text[at] == ',')) at++;
        fault = at;
    }
    *offset = fault;
    if (fault == 0 || at >= length || text[at] != '"' || text[length - 1] != '"' || length - at < 2)
        return cute_fail(diag, CUTE_INVALID, NULL, "expected '<%s, \"LAYOUT\">' behind '!%s.%s'",
                         descriptors.element, row->dialect, row->mnemonic);
    cute_status status =
        cute_value_parse(arena, CUTE_LAYOUT, text + at + 1, length - at - 2, out, offset, diag);
    *offset += at + 1;
    if (status != CUTE_OK) return status;
    out->type = CUTE_MEMREF;
    out->pointer = &descriptors;
    return cute_value_verify(out, diag);
}

/* ---- texts that lib/layout and lib/atoms read ---- */

/* The width in the mnemonic `i32`, which is part of the value. */
static int width_of(const cute_type_row *row)
{
    return row->kind == CUTE_INTEGER ? atoi(row->mnemonic + 1) : 0;
}

cute_status cute_type_row_value(const cute_type_row *row, cute_arena *arena, const char *text, size_t length,
                                cute_value *out, size_t *offset, cute_diag *diag)
{
    if (!strcmp(row->mnemonic, "smem_desc_view"))
        return view_value(row, arena, text, length, out, offset, diag);
    if (!strcmp(row->mnemonic, "smem_desc")) {
        *out = (cute_value){.type = CUTE_PTR, .pointer = &descriptors};
        return CUTE_OK;
    }
    if (row->kind == CUTE_ATOM) {
        *out = (cute_value){.type = CUTE_ATOM};
        return cute_atom_parse(arena, row->mnemonic, text, length, &out->atom, offset, diag);
    }
    CUTE_TRY(cute_atom_value_parse(arena, (cute_type)row->kind, text, length, out, offset, diag));
    if (row->kind == CUTE_INTEGER) {
        cute_int leaf = out->tree->value;
        leaf.width = width_of(row);
        out->tree = cute_tree_scalar(arena, leaf);
        if (!out->tree) return cute_fail_memory(diag);
    }
    return CUTE_OK;
}

/* The text between `<` and `>` of a value's type; NULL when memory is exhausted. */
static const char *text_of_value(cute_arena *arena, const cute_value *value)
{
    if (value->pointer && value->pointer->space == CUTE_SPACE_DESC) {
        if (value->type == CUTE_PTR) return "";
        const char *layout = value->tree ? NULL : cute_layout_text(arena, value->layout);
        return layout ? cute_arena_printf(arena, "%s, \"%s\"", value->pointer->element, layout) : NULL;
    }
    const char *text = cute_atom_value_text(arena, value);
    if (!text) return NULL;
    if (value->type == CUTE_INTEGER) return strstr(text, "divby");
    if (value->type != CUTE_ATOM) return text;
    const char *open = strchr(text, '<');
    return open ? cute_arena_copy(arena, open + 1, strlen(open) - 2) : "";
}

static cute_status cute_canonical_value(const cute_type_row *row, cute_arena *arena, const char *text,
                                        size_t length, const char **out, size_t *offset, cute_diag *diag)
{
    cute_value value;
    CUTE_TRY(cute_type_row_value(row, arena, text, length, &value, offset, diag));
    *out = text_of_value(arena, &value);
    return *out ? CUTE_OK : cute_fail_memory(diag);
}

/* ---- texts of their own ---- */

static cute_status cute_canonical_view(const cute_type_row *row, cute_arena *arena, const char *text,
                                       size_t length, const char **out, size_t *offset, cute_diag *diag)
{
    cute_value value;
    CUTE_TRY(view_value(row, arena, text, length, &value, offset, diag));
    *out = text_of_value(arena, &value);
    return *out ? CUTE_OK : cute_fail_memory(diag);
}

static cute_status cute_canonical_empty(const cute_type_row *row, cute_arena *arena, const char *text,
                                        size_t length, const char **out, size_t *offset, cute_diag *diag)
{
    (void)arena;
    (void)text;
    *offset = 0;
    *out = "";
    if (length == 0) return CUTE_OK;
    return cute_fail(diag, CUTE_INVALID, NULL, "expected no parameters: '!%s.%s' has none", row->dialect,
                     row->mnemonic);
}

/* ---- sugar ---- */

static cute_status expect_text(const cute_type_row *row, const char * or, cute_diag *diag)
{
    return cute_fail(diag, CUTE_INVALID, NULL, "expected string: !cute.%s takes its text in quotes%s",
                     row->mnemonic, or);
}

/* A larger integer is more likely a text without quotes. */
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

/* `!cute.tile<128, 64>`: contiguous elements of each mode. */
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
#define CUTE_IR_TYPE(cls, mnemonic, kind, ...) {"cute", #mnemonic, kind, __VA_ARGS__},
#define CUTE_IR_TEXT(cls, dialect, mnemonic, kind, canonical, lower, walk)                                   \
    {#dialect, #mnemonic, kind, canonical, NULL, lower, walk},
#include "lib/ir/dialects/types.def"
};
static const bool in_quotes[] = {
#define CUTE_IR_TYPE(...) true,
#define CUTE_IR_TEXT(...) false,
#include "lib/ir/dialects/types.def"
};

const cute_type_row *cute_type_row_at(cute_type_index index)
{
    return &rows[index];
}

bool cute_type_row_find(const char *dialect, const char *mnemonic, cute_type_index *out)
{
    for (int i = 0; i < CUTE_TYPE_INDICES; i++) {
        if (in_quotes[i] || strcmp(rows[i].mnemonic, mnemonic) != 0 || strcmp(rows[i].dialect, dialect) != 0)
            continue;
        *out = (cute_type_index)i;
        return true;
    }
    return false;
}

static const char *mnemonic_at(const void *dialect, size_t index)
{
    if (index >= CUTE_TYPE_INDICES) return NULL;
    return strcmp(rows[index].dialect, dialect) ? "" : rows[index].mnemonic;
}

const char *cute_type_row_nearest(const char *dialect, const char *mnemonic)
{
    return cute_nearest(mnemonic, mnemonic_at, dialect);
}

/* The first row of a kind. */
static cute_type_index first_index_of_kind(cute_type kind)
{
    int i = 0;
    while (rows[i].kind != (int)kind) i++;
    return (cute_type_index)i;
}

const cute_type_row *cute_type_row_of_kind(cute_type kind)
{
    return &rows[first_index_of_kind(kind)];
}

static bool index_of_value(const cute_value *value, cute_type_index *out)
{
    if (value->type == CUTE_ATOM) return cute_type_row_find("cute_nvgpu", value->atom->mnemonic, out);
    if (value->pointer && value->pointer->space == CUTE_SPACE_DESC) {
        *out = value->type == CUTE_PTR ? CUTE_TYPE_INDEX_SmemDesc : CUTE_TYPE_INDEX_SmemDescView;
        return true;
    }
    *out = first_index_of_kind(value->type);
    if (value->type != CUTE_INTEGER) return true;
    while (*out < CUTE_TYPE_INDICES &&
           (rows[*out].kind != CUTE_INTEGER || width_of(&rows[*out]) != value->tree->value.width))
        (*out)++;
    return *out < CUTE_TYPE_INDICES;
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
    cute_type_index index;
    const char *text = text_of_value(arena, value);
    if (!text || !index_of_value(value, &index)) return (MlirType){NULL};
    return cute_type_get(context, index, mlirStringRefCreateFromCString(text));
}

bool cute_type_is_static(MlirType type)
{
    const cute_value *value = cute_type_peek(type);
    if (!value || (value->atom && (!value->atom->known || value->atom->wgmma))) return false;
    return cute_value_is_static(value);
}
