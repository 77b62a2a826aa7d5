/* Detection of operations of llvm that refer to textures and surfaces by name, or to samplers, and the error: launches bind texture and
 * surface objects, which are arguments. */
#include "lib/passes/devices/textures.h"

#include <ctype.h>
#include <mlir-c/BuiltinAttributes.h>
#include <string.h>

#include "lib/ir/mlir/shim.h"

typedef enum row_place { ANY, INTRINSIC } row_place;

static const struct row {
    const char *prefix;
    row_place in;
    const char *what, *instead; /* NULL: accepted */
} rows[] = {
#define TEXTURE(prefix, in, what, instead) {prefix, in, what, instead},
#include "lib/passes/devices/textures.def"
};

/* The first row for a name such as `tex.2d.v4.f32.s32`; NULL: none, or it is accepted. */
static const struct row *find_texture_row(MlirStringRef name, row_place place)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        size_t length = strlen(rows[i].prefix);
        if ((rows[i].in != ANY && rows[i].in != place) || length > name.length ||
            memcmp(rows[i].prefix, name.data, length) != 0)
            continue;
        return rows[i].what ? &rows[i] : NULL;
    }
    return NULL;
}

static bool is_name_byte(char c)
{
    return isalnum((unsigned char)c) || c == '.' || c == '_' || c == ':';
}

/* The first such instruction in inline PTX: a word at the beginning or after `;`, a brace, a label or a
 * predicate. */
static const struct row *row_in(MlirStringRef text, MlirStringRef *name)
{
    bool begins = true;
    for (size_t i = 0; i < text.length; i++) {
        char c = text.data[i];
        if (isspace((unsigned char)c)) continue;
        if (c == '@') { /* a predicate precedes its instruction */
            while (i + 1 < text.length && !isspace((unsigned char)text.data[i + 1])) i++;
            continue;
        }
        size_t length = 0;
        while (i + length < text.length && is_name_byte(text.data[i + length])) length++;
        *name = mlirStringRefCreate(text.data + i, length);
        const struct row *found = begins ? find_texture_row(*name, ANY) : NULL;
        if (found) return found;
        if (length) i += length - 1;
        /* `again:` is a label. */
        begins = c == ';' || c == '{' || c == '}' || (begins && length && text.data[i] == ':');
    }
    return NULL;
}

static MlirStringRef attribute_text(MlirOperation op, const char *attribute)
{
    MlirAttribute value = mlirOperationGetAttributeByName(op, cute_text(attribute));
    if (mlirAttributeIsNull(value)) return mlirStringRefCreate("", 0);
    if (mlirAttributeIsAFlatSymbolRef(value)) return mlirFlatSymbolRefAttrGetValue(value);
    return mlirAttributeIsAString(value) ? mlirStringAttrGetValue(value) : mlirStringRefCreate("", 0);
}

bool cute_texture_refuse(MlirOperation op)
{
    static const char intrinsic[] = "llvm.nvvm.";
    static const struct {
        const char *op, *attribute;
    } callers[] = {{"llvm.call", "callee"}, {"llvm.call_intrinsic", "intrin"}};
    const struct row *row = NULL;
    MlirStringRef name = {0};
    if (cute_op_is(op, "llvm.inline_asm")) row = row_in(attribute_text(op, "asm_string"), &name);
    for (size_t i = 0; i < sizeof callers / sizeof *callers && !row; i++) {
        if (!cute_op_is(op, callers[i].op)) continue;
        name = attribute_text(op, callers[i].attribute);
        size_t prefix = strlen(intrinsic);
        if (name.length > prefix && !memcmp(name.data, intrinsic, prefix))
            row = find_texture_row(mlirStringRefCreate(name.data + prefix, name.length - prefix), INTRINSIC);
    }
    if (!row) return false;
    MlirStringRef called = mlirIdentifierStr(mlirOperationGetName(op));
    cute_buffer text = {0}, instead = {0};
    cute_buffer_printf(&text, "'%.*s' op %s (%.*s), which launches cannot bind", (int)called.length,
                       called.data, row->what, (int)name.length, name.data);
    cute_buffer_printf(&instead, "expected %s", row->instead);
    cute_emit_note note = {mlirOperationGetLocation(op), cute_buffer_text(&instead)};
    cute_emit_with_notes(note.location, true, cute_buffer_text(&text), &note, 1);
    cute_buffer_release(&text);
    cute_buffer_release(&instead);
    return true;
}
