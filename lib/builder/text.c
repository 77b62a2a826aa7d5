/* Texts given to the builder: types, attributes, operations. */
#include <mlir-c/BuiltinAttributes.h>
#include <mlir-c/BuiltinTypes.h>
#include <string.h>

#include "lib/base/list.h"
#include "lib/builder/builder.h"
#include "lib/ir/diagnostics/origin.h"
#include "lib/ir/mlir/shim.h"
#include "lib/ir/mlir/util.h"

/* ---- parameters ---- */

void cute_ir_define(cute_ir_at at, const char *name, const char *value)
{
    cute_ir *ir = at.ir;
    if (!ir_ready(ir)) return;
    if (!name || !value) {
        ir_fail(at, "cute_ir_define expects a name and a value, got NULL");
        return;
    }
    const char *text = cute_arena_printf(ir->arena, "%s=%s", name, value);
    cute_define *define = NULL;
    if (!text || !cute_arena_more(ir->arena, &ir->defines, ir->define_count, &ir->define_capacity,
                                  sizeof *define, 8)) {
        ir_fail_memory(ir);
        return;
    }
    cute_diag *diag = cute_diag_create();
    cute_status status = cute_defines_parse(ir->arena, &text, 1, &define, diag);
    const cute_message *message = status ? cute_diag_get(diag, 0) : NULL;
    if (status) ir_fail(at, "cute_ir_define: %s", message ? message->text : "out of memory");
    cute_diag_destroy(diag);
    if (status) return;
    for (size_t i = 0; i < ir->define_count; i++)
        if (!strcmp(ir->defines[i].name, define->name)) {
            ir->defines[i] = *define;
            return;
        }
    ir->defines[ir->define_count++] = *define;
}

/* The text as MLIR 19 spells it, with parameters replaced, in the arena; NULL after an error. */
static const char *expand_text(cute_ir_at at, const char *what, const char *text, size_t length)
{
    cute_ir *ir = at.ir;
    cute_origin origin;
    cute_diag *diag = cute_diag_create();
    cute_origin_options options = {.defines = ir->defines, .define_count = ir->define_count, .no_map = true};
    cute_status status = cute_origin_open(&origin, "text", text, length, &options, diag);
    const char *out = NULL;
    if (status == CUTE_OK) {
        out = cute_arena_copy(ir->arena, origin.parsed.text, origin.parsed.length);
        if (!out) ir_fail_memory(ir);
    } else {
        const cute_message *message = cute_diag_get(diag, 0);
        ir_fail(at, "%s: %s", what, message ? message->text : "out of memory");
    }
    cute_origin_release(&origin);
    cute_diag_destroy(diag);
    return out;
}

const char *ir_expand(cute_ir_at at, const char *what, const char *text)
{
    if (!text) return ir_fail(at, "%s: expected a text, got NULL", what), NULL;
    return expand_text(at, what, text, strlen(text));
}

/* ---- types and attributes ---- */

typedef struct parsing {
    MlirContext context;
    MlirStringRef text;
    MlirType type;           /* parse_type */
    MlirAttribute attribute; /* parse_attribute */
    MlirModule module;       /* parse_module; null if it is invalid */
    MlirLocation location;   /* of its operations */
    bool inside; /* of a kernel: verified at once; otherwise with the module, whose symbols it may use */
    bool valid;
} parsing;

static void parse_type(void *context)
{
    parsing *p = context;
    p->type = mlirTypeParseGet(p->context, p->text);
}

static void parse_attribute(void *context)
{
    parsing *p = context;
    p->attribute = mlirAttributeParseGet(p->context, p->text);
}

/* `expected` begins the message. */
static void not_parsed(cute_ir_at at, const char *expected, const char *text)
{
    ir_fail(at, "expected %s, got '%s'", expected, text);
    if (at.ir->caught_error) ir_note(at.ir, NULL, "%s", ir_caught(at.ir, ""));
}

MlirType ir_type(cute_ir_at at, const char *text)
{
    const char *expanded = ir_expand(at, "the type", text);
    parsing p = {.context = at.ir->context};
    if (!expanded) return p.type;
    p.text = cute_text(expanded);
    ir_listen(at.ir);
    if (!ir_guard(at, parse_type, &p)) return (MlirType){NULL};
    if (mlirTypeIsNull(p.type)) not_parsed(at, "a type", expanded);
    return p.type;
}

MlirAttribute ir_attribute(cute_ir_at at, const char *text)
{
    const char *expanded = ir_expand(at, "the attribute", text);
    parsing p = {.context = at.ir->context};
    if (!expanded) return p.attribute;
    p.text = cute_text(expanded);
    ir_listen(at.ir);
    if (!ir_guard(at, parse_attribute, &p)) return mlirAttributeGetNull();
    if (mlirAttributeIsNull(p.attribute)) not_parsed(at, "an attribute", expanded);
    return p.attribute;
}

/* MLIR parses lists of types as the operands of a function type. */
bool ir_types(cute_ir_at at, const char *text, MlirType **types, size_t *count)
{
    *types = NULL;
    *count = 0;
    const char *expanded = ir_expand(at, "the types", text);
    if (!expanded) return false;
    const char *list = cute_arena_printf(at.ir->arena, "(%s) -> ()", expanded);
    if (!list) return ir_fail_memory(at.ir), false;
    parsing p = {.context = at.ir->context, .text = cute_text(list)};
    ir_listen(at.ir);
    if (!ir_guard(at, parse_type, &p)) return false;
    MlirType all = p.type;
    if (mlirTypeIsNull(all) || !mlirTypeIsAFunction(all))
        return not_parsed(at, "types separated by commas", expanded), false;
    *count = (size_t)mlirFunctionTypeGetNumInputs(all);
    *types = cute_arena_array(at.ir->arena, *count + 1, sizeof **types);
    if (!*types) return ir_fail_memory(at.ir), false;
    for (size_t i = 0; i < *count; i++) (*types)[i] = mlirFunctionTypeGetInput(all, (intptr_t)i);
    return true;
}

const char *ir_type_text(cute_ir *ir, MlirType type)
{
    cute_buffer text = {0};
    mlirTypePrint(type, cute_print_to_buffer, &text);
    const char *copy = cute_arena_copy(ir->arena, cute_buffer_text(&text), text.length);
    cute_buffer_release(&text);
    return copy ? copy : "?";
}

/* ---- operations ---- */

#define LABEL     "<cute_ir_text>"
#define CONTAINER "gpu.container_module" /* of modules whose functions launch kernels */

static MlirLocation location_of_call(MlirLocation old, unsigned line, unsigned column,
                                     const cute_placed *what, void *context)
{
    (void)old, (void)line, (void)column, (void)what;
    return *(MlirLocation *)context;
}

static void parse_module(void *context)
{
    parsing *p = context;
    p->module = cute_module_parse_part(p->context, p->text, cute_text(LABEL));
    if (mlirModuleIsNull(p->module)) return;
    MlirOperation root = mlirModuleGetOperation(p->module);
    cute_locations_replace(root, cute_text(LABEL), false, location_of_call, &p->location);
    p->valid = !p->inside || mlirOperationVerify(root);
}

static void parse_error(cute_ir_at at, const char *message, const char *text, const MlirValue *values,
                        size_t count)
{
    ir_fail(at, "%s", message);
    ir_note(at.ir, NULL, "in the text '%s'", text);
    ir_note_types(at.ir, values, count, NULL, 0);
}

/* Parses operations in a function whose arguments are the operands; null after an error. */
static MlirModule parse_operations(cute_ir_at at, const char *text, const MlirValue *values, size_t count,
                                   bool inside)
{
    cute_ir *ir = at.ir;
    cute_buffer whole = {0};
    if (inside) {
        cute_buffer_puts(&whole, "gpu.module @m {\ngpu.func @f(");
        for (size_t i = 0; i < count; i++) {
            cute_buffer_printf(&whole, "%s%%%zu: ", i ? ", " : "", i);
            mlirTypePrint(mlirValueGetType(values[i]), cute_print_to_buffer, &whole);
        }
        cute_buffer_printf(&whole, ") kernel {\n%s\ngpu.return\n}\n}\n", text);
    } else {
        cute_buffer_puts(&whole, text);
    }
    const char *expanded = NULL;
    if (!cute_buffer_ok(&whole))
        ir_fail_memory(ir);
    else
        expanded = expand_text(at, "cute_ir_text", cute_buffer_text(&whole), whole.length);
    cute_buffer_release(&whole);
    if (!expanded) return (MlirModule){NULL};
    parsing p = {
        .context = ir->context, .text = cute_text(expanded), .location = ir_location(at), .inside = inside};
    ir_listen(ir);
    if (!ir_guard(at, parse_module, &p)) return (MlirModule){NULL};
    if (p.valid) return p.module;
    parse_error(at, ir_caught(ir, "the text has no operations"), text, values, count);
    if (!mlirModuleIsNull(p.module)) mlirModuleDestroy(p.module);
    return (MlirModule){NULL};
}

static MlirBlock only_block(MlirOperation op)
{
    MlirBlock none = {NULL};
    if (mlirOperationIsNull(op) || mlirOperationGetNumRegions(op) != 1) return none;
    MlirBlock block = mlirRegionGetFirstBlock(mlirOperationGetRegion(op, 0));
    return mlirBlockIsNull(block) || !mlirBlockIsNull(mlirBlockGetNextInRegion(block)) ? none : block;
}

/* The body of the function of parse_operations; null if the text closed it, or has several blocks. */
static MlirBlock body_of(MlirModule module)
{
    MlirBlock none = {NULL};
    MlirOperation outer = mlirBlockGetFirstOperation(mlirModuleGetBody(module));
    if (mlirOperationIsNull(outer) || !cute_op_is(outer, "gpu.module") ||
        !mlirOperationIsNull(mlirOperationGetNextInBlock(outer)))
        return none;
    MlirBlock block = only_block(outer);
    MlirOperation function =
        mlirBlockIsNull(block) ? (MlirOperation){NULL} : mlirBlockGetFirstOperation(block);
    if (mlirOperationIsNull(function) || !cute_op_is(function, "gpu.func")) return none;
    MlirOperation next = mlirOperationGetNextInBlock(function);
    return mlirOperationIsNull(next) || cute_op_is(next, "gpu.module_end") ? only_block(function) : none;
}

static cute_ir_value move_operations(cute_ir_at at, MlirModule module, const char *text,
                                     const MlirValue *values, size_t count)
{
    cute_ir *ir = at.ir;
    MlirBlock body = body_of(module), to = ir->frames[ir->depth - 1].block;
    MlirOperation last = {NULL};
    if (mlirBlockIsNull(body) || (size_t)mlirBlockGetNumArguments(body) != count) {
        parse_error(at, "expected operations in one block", text, values, count);
        return (cute_ir_value){0};
    }
    for (size_t i = 0; i < count; i++)
        mlirValueReplaceAllUsesOfWith(mlirBlockGetArgument(body, (intptr_t)i), values[i]);
    for (MlirOperation op = mlirBlockGetFirstOperation(body), next; !mlirOperationIsNull(op); op = next) {
        next = mlirOperationGetNextInBlock(op);
        if (mlirOperationIsNull(next)) break; /* gpu.return */
        mlirOperationRemoveFromParent(op);
        mlirBlockAppendOwnedOperation(to, op);
        last = op;
    }
    return mlirOperationIsNull(last) ? (cute_ir_value){0} : ir_new_results(ir, last);
}

static void move_all(MlirBlock from, MlirBlock to, MlirOperation before)
{
    for (MlirOperation op = mlirBlockGetFirstOperation(from), next; !mlirOperationIsNull(op); op = next) {
        next = mlirOperationGetNextInBlock(op);
        if (cute_op_is(op, "gpu.module_end")) continue;
        mlirOperationRemoveFromParent(op);
        mlirBlockInsertOwnedOperationBefore(to, before, op);
    }
}

/* Operations of the module are added behind those that it has, those of a gpu.module of the same name to that. */
static void move_to_module(cute_ir *ir, MlirModule module)
{
    MlirBlock body = mlirModuleGetBody(module);
    MlirOperation root = mlirModuleGetOperation(module), to_root = mlirModuleGetOperation(ir->module);
    if (cute_op_has(root, CONTAINER))
        mlirOperationSetAttributeByName(to_root, cute_text(CONTAINER), mlirUnitAttrGet(ir->context));
    for (MlirOperation op = mlirBlockGetFirstOperation(body), next; !mlirOperationIsNull(op); op = next) {
        next = mlirOperationGetNextInBlock(op);
        MlirOperation same = ir_find_module(ir, op);
        MlirBlock from = only_block(op), to = only_block(same);
        mlirOperationRemoveFromParent(op);
        if (mlirBlockIsNull(from) || mlirBlockIsNull(to)) {
            mlirBlockAppendOwnedOperation(mlirModuleGetBody(ir->module), op);
        } else {
            move_all(from, to, mlirBlockGetTerminator(to));
            mlirOperationDestroy(op);
        }
    }
}

cute_ir_value cute_ir_text(cute_ir_at at, const char *text, cute_ir_values operands)
{
    cute_ir *ir = at.ir;
    if (!ir_ready(ir)) return (cute_ir_value){0};
    if (!text) return ir_fail(at, "cute_ir_text expects a text, got NULL");
    if (!ir->depth && operands.count)
        return ir_fail(at, "cute_ir_text without an open kernel expects no operands, got %zu",
                       operands.count);
    MlirValue *values = cute_arena_array(ir->arena, operands.count + 1, sizeof *values);
    if (!values) return ir_fail_memory(ir);
    for (size_t i = 0; i < operands.count; i++)
        if (!ir_get(at, "cute_ir_text", operands.items[i], &values[i])) return (cute_ir_value){0};
    MlirModule module = parse_operations(at, text, values, operands.count, ir->depth > 0);
    if (mlirModuleIsNull(module)) return (cute_ir_value){0};
    cute_ir_value result = {0};
    if (ir->depth)
        result = move_operations(at, module, text, values, operands.count);
    else
        move_to_module(ir, module);
    mlirModuleDestroy(module);
    return result;
}
