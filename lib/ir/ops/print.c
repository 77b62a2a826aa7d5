/* Lowers cute.print to printf: the format is the canonical text of the value, its dynamic leaves are the
 * arguments. */
#include <mlir-c/BuiltinTypes.h>
#include <mlir-c/Dialect/LLVM.h>
#include <stdio.h>
#include <stdlib.h>

#include "lib/ir/dialects/types.h"
#include "lib/ir/mlir/arith.h"
#include "lib/ir/mlir/builder.h"
#include "lib/ir/mlir/shim.h"
#include "lib/ir/mlir/util.h"
#include "lib/ir/ops/algebra.h"

/* ---- the format ---- */

static void write_literal(cute_buffer *out, const char *text, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        if (text[i] == '%') cute_buffer_putc(out, '%');
        cute_buffer_putc(out, text[i]);
    }
}

/* The canonical text with a conversion for each dynamic leaf: `(?,4):(1,?{i64})` is `(%d,4):(1,%lld)`. */
static void write_format(cute_buffer *out, const char *text)
{
    while (*text) {
        if (*text != '?') {
            write_literal(out, text++, 1);
            continue;
        }
        const char *end = text + 1;
        bool wide = false;
        if (*end == '{') {
            wide = !strncmp(end, "{i64", 4);
            end += strcspn(end, "}") + 1;
        }
        cute_buffer_puts(out, wide ? "%lld" : "%d");
        text = end;
    }
}

/* ---- the leaves, in the order of the text ---- */

typedef struct leaves {
    MlirOperation where;
    MlirValue *items;
    intptr_t count;
} leaves;

static MlirValue extract_print_field(MlirOperation where, MlirValue from, int64_t index)
{
    cute_builder b = cute_builder_before(where);
    MlirType type = mlirLLVMStructTypeGetElementType(mlirValueGetType(from), (intptr_t)index);
    MlirNamedAttribute at = cute_attribute(b.context, "position", mlirDenseI64ArrayGet(b.context, 1, &index));
    return cute_build_value(&b, "llvm.extractvalue", type, CUTE_OPERANDS(from), CUTE_NAMED(at));
}

/* C's default argument promotion of integers. */
static MlirValue promote_vararg(MlirOperation where, MlirValue value)
{
    unsigned width = mlirIntegerTypeGetWidth(mlirValueGetType(value));
    if (width >= 32) return value;
    MlirType type = mlirIntegerTypeGet(mlirOperationGetContext(where), 32);
    cute_builder b = cute_builder_before(where);
    return cute_build_value(&b, width == 1 ? "arith.extui" : "arith.extsi", type, CUTE_OPERANDS(value),
                            CUTE_NO_NAMED);
}

/* Lists the fields of `value`, including nested ones; a scalar is a single leaf. */
static void list_fields(leaves *l, MlirValue value)
{
    MlirType type = mlirValueGetType(value);
    if (!mlirTypeIsALLVMStructType(type)) {
        l->items[l->count++] = promote_vararg(l->where, value);
        return;
    }
    for (intptr_t i = 0; i < mlirLLVMStructTypeGetNumElementTypes(type); i++) {
        MlirType field = mlirLLVMStructTypeGetElementType(type, i);
        bool empty = mlirTypeIsALLVMStructType(field) && mlirLLVMStructTypeGetNumElementTypes(field) == 0;
        if (!empty) list_fields(l, extract_print_field(l->where, value, i));
    }
}

static void list_leaves(leaves *l, const cute_value *value, MlirValue lowered)
{
    if (value->type != CUTE_COMPOSED_LAYOUT) {
        list_fields(l, lowered);
        return;
    }
    /* Stored as B, offset, A; printed as A o offset o B. */
    bool unknown_offset = !cute_tree_is_static(value->tree);
    MlirValue offset = {NULL};
    if (unknown_offset) offset = extract_print_field(l->where, lowered, 1);
    cute_value inner = cute_value_of_layout(value->inner), outer = cute_value_of_layout(value->layout);
    if (value->inner.shape && !cute_value_is_static(&inner))
        list_fields(l, extract_print_field(l->where, lowered, 2));
    if (unknown_offset) list_fields(l, offset);
    if (!cute_value_is_static(&outer)) list_fields(l, extract_print_field(l->where, lowered, 0));
}

/* ---- the host ---- */

static MlirOperation parse_before(MlirOperation where, const char *text)
{
    MlirContext c = mlirOperationGetContext(where);
    MlirOperation op = mlirOperationCreateParse(c, cute_text(text), cute_text("cute.print"));
    if (!mlirOperationIsNull(op))
        mlirBlockInsertOwnedOperationBefore(mlirOperationGetBlock(where), where, op);
    return op;
}

static bool find_symbol(MlirOperation module, const char *name, MlirOperation *found)
{
    MlirBlock body = mlirRegionGetFirstBlock(mlirOperationGetRegion(module, 0));
    for (MlirOperation o = mlirBlockGetFirstOperation(body); !mlirOperationIsNull(o);
         o = mlirOperationGetNextInBlock(o)) {
        MlirAttribute symbol = mlirOperationGetAttributeByName(o, mlirSymbolTableGetSymbolAttributeName());
        if (mlirAttributeIsNull(symbol) || !mlirAttributeIsAString(symbol)) continue;
        if (!cute_text_is(mlirStringAttrGetValue(symbol), name)) continue;
        *found = o;
        return true;
    }
    return false;
}

static MlirOperation module_of(MlirOperation op)
{
    return cute_op_parent(op, "builtin.module");
}

static bool declare_printf(MlirOperation op, MlirOperation module)
{
    MlirOperation found;
    if (find_symbol(module, "printf", &found)) {
        if (cute_op_is(found, "llvm.func")) return true;
        cute_emit_error(mlirOperationGetLocation(op), "'cute.print' op calls printf, but the symbol 'printf' "
                                                      "of this module is not an llvm.func: rename it");
        return false;
    }
    MlirOperation first =
        mlirBlockGetFirstOperation(mlirRegionGetFirstBlock(mlirOperationGetRegion(module, 0)));
    return !mlirOperationIsNull(parse_before(first, "llvm.func @printf(!llvm.ptr, ...) -> i32"));
}

/* One more than the highest N of the module's symbols printfFormat_N. */
static unsigned next_format(MlirOperation module)
{
    static const char prefix[] = "printfFormat_";
    size_t length = strlen(prefix);
    unsigned next = 0;
    MlirBlock body = mlirRegionGetFirstBlock(mlirOperationGetRegion(module, 0));
    for (MlirOperation o = mlirBlockGetFirstOperation(body); !mlirOperationIsNull(o);
         o = mlirOperationGetNextInBlock(o)) {
        MlirAttribute symbol = mlirOperationGetAttributeByName(o, mlirSymbolTableGetSymbolAttributeName());
        if (mlirAttributeIsNull(symbol) || !mlirAttributeIsAString(symbol)) continue;
        MlirStringRef name = mlirStringAttrGetValue(symbol);
        if (name.length <= length || name.length > length + 9 || memcmp(name.data, prefix, length) != 0)
            continue;
        unsigned number = 0;
        size_t i = length;
        while (i < name.length && name.data[i] >= '0' && name.data[i] <= '9')
            number = 10 * number + (unsigned)(name.data[i++] - '0');
        if (i == name.length && number >= next) next = number + 1;
    }
    return next;
}

/* Adds a global with the format; writes its name to `name`. */
static bool add_format(MlirOperation op, MlirOperation module, const cute_buffer *format, char *name,
                       size_t size)
{
    MlirOperation top = op;
    while (!mlirOperationEqual(mlirOperationGetParentOperation(top), module))
        top = mlirOperationGetParentOperation(top);
    snprintf(name, size, "printfFormat_%u", next_format(module));
    cute_buffer text = {0};
    cute_buffer_printf(&text, "llvm.mlir.global internal constant @%s(\"", name);
    for (size_t i = 0; i < format->length; i++) {
        unsigned char c = (unsigned char)format->data[i];
        if (c < ' ' || c > '~' || c == '"' || c == '\\')
            cute_buffer_printf(&text, "\\%02X", c);
        else
            cute_buffer_putc(&text, (char)c);
    }
    cute_buffer_puts(&text, "\\00\") {addr_space = 0 : i32}");
    bool ok = cute_buffer_ok(&text) && !mlirOperationIsNull(parse_before(top, cute_buffer_text(&text)));
    cute_buffer_release(&text);
    return ok;
}

static bool print_on_host(MlirOperation op, const cute_buffer *format, leaves *l)
{
    MlirOperation module = module_of(op);
    char name[32];
    if (mlirOperationIsNull(module)) {
        cute_emit_error(mlirOperationGetLocation(op), "'cute.print' op expects to be in a module");
        return false;
    }
    if (!declare_printf(op, module) || !add_format(op, module, format, name, sizeof name)) return false;
    MlirContext c = mlirOperationGetContext(op);
    MlirType pointer = mlirLLVMPointerTypeGet(c, 0);
    MlirNamedAttribute global =
        cute_attribute(c, "global_name", mlirFlatSymbolRefAttrGet(c, cute_text(name)));
    cute_builder b = cute_builder_before(op);
    MlirValue address =
        cute_build_value(&b, "llvm.mlir.addressof", pointer, CUTE_NO_OPERANDS, CUTE_NAMED(global));
    char array[48];
    snprintf(array, sizeof array, "!llvm.array<%zu x i8>", format->length + 1);
    const int32_t zeros[] = {0, 0};
    MlirNamedAttribute gep[] = {
        cute_attribute(c, "rawConstantIndices", mlirDenseI32ArrayGet(c, 2, zeros)),
        cute_attribute(c, "elem_type", mlirTypeAttrGet(mlirTypeParseGet(c, cute_text(array)))),
    };
    MlirValue text =
        cute_build_value(&b, "llvm.getelementptr", pointer, CUTE_OPERANDS(address), (cute_named){gep, 2});
    MlirValue *operands = malloc((size_t)(l->count + 1) * sizeof *operands);
    if (!operands) return false;
    operands[0] = text;
    for (intptr_t i = 0; i < l->count; i++) operands[i + 1] = l->items[i];
    MlirNamedAttribute call[] = {
        cute_attribute(c, "callee", mlirFlatSymbolRefAttrGet(c, cute_text("printf"))),
        cute_attribute(c, "var_callee_type",
                       mlirAttributeParseGet(c, cute_text("!llvm.func<i32 (ptr, ...)>"))),
    };
    cute_build_value(&b, "llvm.call", mlirIntegerTypeGet(c, 32), (cute_operands){operands, l->count + 1},
                     (cute_named){call, 2});
    free(operands);
    return true;
}

static void print_on_device(MlirOperation op, const cute_buffer *format, leaves *l)
{
    cute_builder b = cute_builder_before(op);
    MlirNamedAttribute text = cute_attribute(
        b.context, "format", mlirStringAttrGet(b.context, mlirStringRefCreate(format->data, format->length)));
    cute_build(&b, "gpu.printf", (cute_operands){l->items, l->count}, CUTE_NO_TYPES, CUTE_NAMED(text));
}

/* ---- values ---- */

/* A builtin integer or float; C's variadic functions take doubles and integers of 32 bits or more. */
static bool write_number(cute_buffer *format, leaves *l, MlirType type, MlirValue value)
{
    cute_builder b = cute_builder_before(l->where);
    if (mlirTypeIsAInteger(type) || mlirTypeIsAIndex(type)) {
        bool wide = mlirTypeIsAIndex(type) || mlirIntegerTypeGetWidth(type) > 32;
        if (mlirTypeIsAIndex(type)) value = cute_cast(&b, value, mlirIntegerTypeGet(b.context, 64));
        if (mlirTypeIsAInteger(type) && mlirIntegerTypeGetWidth(type) > 64) return false;
        cute_buffer_puts(format, wide ? "%lld" : "%d");
        l->items[l->count++] = mlirTypeIsAIndex(type) ? value : promote_vararg(l->where, value);
        return true;
    }
    if (!mlirTypeIsAFloat(type)) return false;
    cute_buffer_puts(format, "%f");
    MlirType wide = mlirF64TypeGet(b.context);
    l->items[l->count++] = mlirTypeIsAF64(type) ? value : cute_unary(&b, "arith.extf", value, wide);
    return true;
}

/* A pointer as `smem_ptr[16b](0x400)`; also the first field of a tensor, before ` o ` and the layout. */
static void write_pointer(cute_buffer *format, leaves *l, const cute_value *value, MlirValue lowered)
{
    cute_buffer_printf(format, "%s_ptr[%db](%%p)", cute_space_name(value->pointer->space),
                       value->pointer->bits);
    bool alone = !mlirTypeIsALLVMStructType(mlirValueGetType(lowered));
    cute_builder b = cute_builder_before(l->where);
    if (!alone) lowered = extract_print_field(l->where, lowered, 0);
    /* gpu.printf supports integers and floats only. */
    l->items[l->count++] = cute_unary(&b, "llvm.ptrtoint", lowered, mlirIntegerTypeGet(b.context, 64));
}

/* A tensor in memory. The order of its leaves is shape, stride, offset. */
static bool write_tensor(cute_buffer *format, leaves *l, cute_arena *arena, const cute_value *value,
                         MlirValue lowered)
{
    write_pointer(format, l, value, lowered);
    cute_value layout = cute_value_of_layout(value->layout);
    const char *text = cute_value_text(arena, &layout);
    if (!text) return false;
    if (value->tree) {
        cute_value whole = *value;
        whole.type = CUTE_COMPOSED_LAYOUT, whole.pointer = NULL;
        if (!(text = cute_value_text(arena, &whole))) return false;
    }
    cute_buffer_puts(format, " o ");
    write_format(format, text);
    size_t outer = cute_value_unknowns(&layout, NULL, 0), all = cute_value_unknowns(value, NULL, 0);
    for (size_t i = 0; i < all; i++) { /* the offset is printed before the layout and stored after it */
        size_t field = i < all - outer ? outer + i : i - (all - outer);
        l->items[l->count++] =
            promote_vararg(l->where, extract_print_field(l->where, lowered, (int64_t)field + 1));
    }
    return true;
}

static bool write_value(cute_buffer *format, leaves *l, cute_arena *arena, MlirType type, MlirValue lowered)
{
    const cute_value *value = cute_type_peek(type);
    if (!value) return write_number(format, l, type, lowered);
    if (value->type == CUTE_MEMREF) return write_tensor(format, l, arena, value, lowered);
    if (value->type == CUTE_PTR) {
        write_pointer(format, l, value, lowered);
        return true;
    }
    MlirStringRef text = cute_type_text(type);
    bool number = value->type == CUTE_INTEGER, hidden = value->type == CUTE_DIVISOR;
    const char *shown = number ? "?" : cute_arena_copy(arena, text.data, text.length);
    if (!shown) return false;
    if (number && value->tree->value.width > 32) shown = "?{i64}";
    write_format(format, shown);
    if (!hidden) list_leaves(l, value, lowered);
    return true;
}

/* Writes the next value at each `{}` of the format, or one line per value without a format. */
static bool write_all(cute_buffer *format, leaves *l, cute_arena *arena, const cute_op_lowering *lowering)
{
    MlirOperation op = lowering->op;
    intptr_t count = mlirOperationGetNumOperands(op), next = 0;
    MlirAttribute fmt = mlirOperationGetAttributeByName(op, cute_text("fmt"));
    bool lines = mlirAttributeIsNull(fmt);
    MlirStringRef text = lines ? cute_text("") : mlirStringAttrGetValue(fmt);
    for (size_t i = 0; i < text.length; i++) {
        bool place = text.data[i] == '{' && i + 1 < text.length && text.data[i + 1] == '}' && next < count;
        if (!place) {
            write_literal(format, text.data + i, 1);
            continue;
        }
        if (!write_value(format, l, arena, lowering->operands[next], mlirOperationGetOperand(op, next)))
            return false;
        next++, i++;
    }
    for (; lines && next < count; next++) {
        if (!write_value(format, l, arena, lowering->operands[next], mlirOperationGetOperand(op, next)))
            return false;
        cute_buffer_puts(format, "\n");
    }
    return cute_buffer_ok(format);
}

/* Upper bound of the number of printf arguments. */
static size_t max_print_arguments(const cute_op_lowering *lowering)
{
    size_t room = 0;
    for (intptr_t i = 0; i < mlirOperationGetNumOperands(lowering->op); i++) {
        const cute_value *value = cute_type_peek(lowering->operands[i]);
        room += 2 + (value ? cute_value_unknowns(value, NULL, 0) : 0);
    }
    return room;
}

/* gpu.printf on the device, a call of printf on the host. */
static bool lower_print(const cute_op_row *row, const cute_op_lowering *lowering)
{
    MlirOperation op = lowering->op;
    cute_arena *arena = cute_arena_create();
    cute_buffer format = {0};
    leaves l = {.where = op, .items = calloc(max_print_arguments(lowering) + 1, sizeof *l.items)};
    bool ok = arena && l.items;
    if (ok && !(ok = write_all(&format, &l, arena, lowering)))
        cute_op_fail(mlirOperationGetLocation(op), row->name, "expects CuTe values, integers and floats");
    if (ok) {
        bool device = !mlirOperationIsNull(cute_op_parent(op, "gpu.module")) ||
                      !mlirOperationIsNull(cute_op_parent(op, "gpu.launch"));
        if (device)
            print_on_device(op, &format, &l);
        else
            ok = print_on_host(op, &format, &l);
        if (ok) mlirOperationDestroy(op);
    }
    free(l.items);
    cute_buffer_release(&format);
    cute_arena_destroy(arena);
    return ok;
}

/* Each value has a place in the format. */
static bool verify_print(const cute_op_row *row, MlirOperation op)
{
    MlirAttribute fmt = mlirOperationGetAttributeByName(op, cute_text("fmt"));
    intptr_t count = mlirOperationGetNumOperands(op), places = 0;
    if (mlirAttributeIsNull(fmt)) return true;
    MlirStringRef text = mlirStringAttrGetValue(fmt);
    for (size_t i = 0; i + 1 < text.length; i++) places += text.data[i] == '{' && text.data[i + 1] == '}';
    if (places == count) return true;
    return cute_op_fail(mlirOperationGetLocation(op), row->name,
                        "expects one value per '{}' of its format, %d, but got %d", (int)places, (int)count);
}

static const cute_op_row rows[] = {
    {.name = "cute.print", .verify = verify_print, .lower = lower_print},
    {.name = "cute.print_view", .lower = lower_print},
};
const cute_op_family cute_family_print = {rows, sizeof rows / sizeof *rows};
