/* Detection of textures and surfaces in operations of llvm, and the error. */
#include "lib/passes/devices/textures.h"

#include <ctype.h>
#include <mlir-c/BuiltinAttributes.h>
#include <string.h>

#include "lib/ir/mlir/shim.h"

static const struct row {
    const char *root, *what, *instead;
} rows[] = {
#define TEXTURE(root, what, instead) {root, what, instead},
#include "lib/passes/devices/textures.def"
};

static bool is_name_byte(char c)
{
    return isalnum((unsigned char)c) || c == '.' || c == '_' || c == ':';
}

/* The row for a name such as `tex.2d.v4.f32.s32`. */
static const struct row *find_texture_row(MlirStringRef name)
{
    const char *dot = memchr(name.data, '.', name.length);
    if (!dot) return NULL;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (strlen(rows[i].root) == (size_t)(dot - name.data) &&
            !memcmp(rows[i].root, name.data, (size_t)(dot - name.data)))
            return &rows[i];
    return NULL;
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
        const struct row *found = begins ? find_texture_row(*name) : NULL;
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
            row = find_texture_row(mlirStringRefCreate(name.data + prefix, name.length - prefix));
    }
    if (!row) return false;
    MlirStringRef called = mlirIdentifierStr(mlirOperationGetName(op));
    cute_buffer text = {0}, instead = {0};
    cute_buffer_printf(&text, "'%.*s' op %s (%.*s), but textures and surfaces are unsupported",
                       (int)called.length, called.data, row->what, (int)name.length, name.data);
    cute_buffer_printf(&instead, "expected %s", row->instead);
    cute_emit_note note = {mlirOperationGetLocation(op), cute_buffer_text(&instead)};
    cute_emit_with_notes(note.location, true, cute_buffer_text(&text), &note, 1);
    cute_buffer_release(&text);
    cute_buffer_release(&instead);
    return true;
}
