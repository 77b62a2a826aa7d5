/* The builder's life, errors and values. */
#include "lib/builder/builder.h"

#include <mlir-c/BuiltinAttributes.h>
#include <mlir-c/BuiltinTypes.h>
#include <mlir-c/Diagnostics.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/list.h"
#include "lib/ir/diagnostics/recover.h"
#include "lib/ir/mlir/context.h"
#include "lib/ir/mlir/shim.h"
#include "lib/ir/mlir/util.h"

/* ---- life ---- */

/* Only the first error counts: MLIR may add others that follow from it. */
static MlirLogicalResult catch_diagnostic(MlirDiagnostic diagnostic, void *context)
{
    cute_ir *ir = context;
    if (mlirDiagnosticGetSeverity(diagnostic) == MlirDiagnosticError && !ir->caught_error) {
        ir->caught_error = true;
        ir->caught_location = mlirDiagnosticGetLocation(diagnostic);
        mlirDiagnosticPrint(diagnostic, cute_print_to_buffer, &ir->caught);
    }
    return mlirLogicalResultSuccess();
}

static void create_module(void *context)
{
    cute_ir *ir = context;
    MlirDialectRegistry registry = cute_registry_create();
    ir->context = mlirContextCreateWithRegistry(registry, false);
    mlirDialectRegistryDestroy(registry);
    mlirContextAttachDiagnosticHandler(ir->context, catch_diagnostic, ir, NULL);
    /* Of the operations that files of this room create; others are loaded with the first operation of their dialect. */
    static const char *const dialects[] = {"arith", "cute", "gpu", "scf"};
    for (size_t i = 0; i < sizeof dialects / sizeof *dialects; i++)
        mlirContextGetOrLoadDialect(ir->context, cute_text(dialects[i]));
    ir->module = mlirModuleCreateEmpty(mlirLocationUnknownGet(ir->context));
}

cute_status cute_ir_create(cute_ir **out, cute_diag *diag)
{
    cute_ir *ir = *out = calloc(1, sizeof *ir);
    if (!ir) return cute_fail_memory(diag);
    ir->arena = cute_arena_create();
    ir->diag = cute_diag_create();
    char *reason = NULL;
    bool made = ir->arena && ir->diag;
    if (made && !cute_llvm_recover(create_module, ir, &reason)) {
        made = false;
        ir->dead = true;
    }
    free(reason);
    if (made) return CUTE_OK;
    cute_ir_destroy(ir);
    *out = NULL;
    return cute_fail_memory(diag);
}

void cute_ir_destroy(cute_ir *ir)
{
    if (!ir) return;
    if (!ir->dead && !mlirContextIsNull(ir->context)) {
        /* Inner regions use values of outer ones. */
        while (ir->depth--)
            for (int i = 1; i >= 0; i--)
                if (!mlirRegionIsNull(ir->frames[ir->depth].regions[i]))
                    mlirRegionDestroy(ir->frames[ir->depth].regions[i]);
        mlirModuleDestroy(ir->module);
        mlirContextDestroy(ir->context);
    }
    free(ir->entries);
    cute_buffer_release(&ir->caught);
    cute_buffer_release(&ir->output);
    cute_diag_destroy(ir->diag);
    cute_arena_destroy(ir->arena);
    free(ir);
}

/* ---- errors ---- */

bool ir_ready(const cute_ir *ir)
{
    return ir && ir->status == CUTE_OK && !ir->dead;
}

cute_ir_value ir_fail(cute_ir_at at, const char *format, ...)
{
    if (!ir_ready(at.ir)) return (cute_ir_value){0};
    cute_place place = {.file = at.file, .line = at.line > 0 ? at.line : 0};
    va_list args;
    va_start(args, format);
    cute_vreport(at.ir->diag, CUTE_ERROR, &place, format, args);
    va_end(args);
    at.ir->status = CUTE_INVALID;
    return (cute_ir_value){0};
}

void ir_note(cute_ir *ir, const cute_place *place, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    cute_vreport(ir->diag, CUTE_NOTE, place, format, args);
    va_end(args);
}

cute_ir_value ir_fail_memory(cute_ir *ir)
{
    if (ir_ready(ir)) ir->status = cute_fail_memory(ir->diag);
    return (cute_ir_value){0};
}

void ir_listen(cute_ir *ir)
{
    ir->caught_error = false;
    cute_buffer_release(&ir->caught);
    ir->caught = (cute_buffer){0};
}

bool ir_guard(cute_ir_at at, void (*body)(void *context), void *context)
{
    char *reason = NULL;
    bool whole = cute_llvm_recover(body, context, &reason);
    if (!whole) {
        ir_fail(at, "LLVM gave up: %s", reason ? reason : "out of memory");
        at.ir->dead = true;
    }
    free(reason);
    return whole;
}

const char *ir_caught(const cute_ir *ir, const char *otherwise)
{
    return ir->caught_error ? cute_buffer_text(&ir->caught) : otherwise;
}

static void put_types(cute_ir *ir, cute_buffer *out, const MlirValue *operands, const MlirType *types,
                      size_t count)
{
    if (!count) cute_buffer_puts(out, "none");
    for (size_t i = 0; i < count; i++)
        cute_buffer_printf(out, "%s'%s'", i ? ", " : "",
                           ir_type_text(ir, operands ? mlirValueGetType(operands[i]) : types[i]));
}

void ir_note_types(cute_ir *ir, const MlirValue *operands, size_t count, const MlirType *results,
                   size_t result_count)
{
    cute_buffer text = {0};
    cute_buffer_puts(&text, "operands: ");
    put_types(ir, &text, operands, NULL, count);
    if (result_count) {
        cute_buffer_puts(&text, "; results: ");
        put_types(ir, &text, NULL, results, result_count);
    }
    ir_note(ir, NULL, "%s", cute_buffer_text(&text));
    cute_buffer_release(&text);
}

/* ---- values ---- */

MlirLocation ir_location(cute_ir_at at)
{
    if (!at.file || at.line <= 0) return mlirLocationUnknownGet(at.ir->context);
    return mlirLocationFileLineColGet(at.ir->context, cute_text(at.file), (unsigned)at.line, 0);
}

bool ir_is_number(cute_ir_value value)
{
    return value.kind == CUTE_IR_INTEGER || value.kind == CUTE_IR_REAL;
}

static bool scope_is_open(const cute_ir *ir, uint32_t scope)
{
    for (size_t i = 0; i < ir->depth; i++)
        if (ir->frames[i].scope == scope) return true;
    return false;
}

/* Notes the call that made a value. */
static void note_origin(cute_ir *ir, MlirValue value)
{
    MlirStringRef file;
    unsigned line, column;
    MlirLocation location = mlirValueIsABlockArgument(value)
                                ? cute_argument_location(value)
                                : mlirOperationGetLocation(cute_defining_op(value));
    if (!cute_location_place(location, &file, &line, &column)) return;
    cute_place place = {.file = file.data, .line = (int)line};
    ir_note(ir, &place, "the value is made here");
}

bool ir_get(cute_ir_at at, const char *function, cute_ir_value value, MlirValue *out)
{
    cute_ir *ir = at.ir;
    *out = (MlirValue){NULL};
    if (ir_is_number(value))
        return ir_fail(at, "%s expects a value, got a number: make it one with cute_ir_constant", function),
               false;
    if (value.kind != CUTE_IR_RESULT || !value.ir)
        return ir_fail(at, "%s expects a value, got none: an operation without results, or no operation",
                       function),
               false;
    if (value.ir != ir) return ir_fail(at, "%s got a value of another module", function), false;
    if (value.index >= ir->entry_count)
        return ir_fail(at, "%s got a value that was not made", function), false;
    const ir_entry *entry = &ir->entries[value.index];
    if (!scope_is_open(ir, entry->scope)) {
        ir_fail(at, "%s got a value of a kernel, loop or branch that is closed: pass it on by cute_ir_end",
                function);
        note_origin(ir, entry->value);
        return false;
    }
    *out = entry->value;
    return true;
}

/* The attribute of a number as a value of a type; null after an error. */
static MlirAttribute number_attribute(cute_ir_at at, const char *function, cute_ir_value number,
                                      MlirType type)
{
    bool many = mlirTypeIsAVector(type) || mlirTypeIsARankedTensor(type);
    MlirType element = many ? mlirShapedTypeGetElementType(type) : type;
    MlirAttribute out = {NULL};
    if (mlirTypeIsAFloat(element)) {
        out = mlirFloatAttrDoubleGet(at.ir->context, element,
                                     number.kind == CUTE_IR_REAL ? number.real : (double)number.integer);
    } else if (mlirTypeIsAInteger(element) || mlirTypeIsAIndex(element)) {
        unsigned width = mlirTypeIsAIndex(element) ? 64 : mlirIntegerTypeGetWidth(element);
        int64_t value = number.integer;
        if (number.kind == CUTE_IR_REAL)
            return ir_fail(at, "%s expects an integer for '%s', got %g", function, ir_type_text(at.ir, type),
                           number.real),
                   out;
        bool fits = width >= 64 || (width > 0 && value >= -(INT64_C(1) << (width - 1)) &&
                                    value < (int64_t)(UINT64_C(1) << width));
        if (!fits)
            return ir_fail(at, "%s got %lld, which '%s' does not have", function, (long long)value,
                           ir_type_text(at.ir, type)),
                   out;
        out = mlirIntegerAttrGet(element, value);
    } else {
        return ir_fail(at, "%s got a number where a value of '%s' is expected", function,
                       ir_type_text(at.ir, type)),
               out;
    }
    if (!many) return out;
    if (!mlirShapedTypeHasStaticShape(type))
        return ir_fail(at, "%s expects known extents, got '%s'", function, ir_type_text(at.ir, type)),
               mlirAttributeGetNull();
    return mlirDenseElementsAttrSplatGet(type, out);
}

bool ir_constant(cute_ir_at at, const char *function, cute_ir_value number, MlirType type, MlirValue *out)
{
    cute_ir *ir = at.ir;
    if (!ir_is_number(number)) return ir_fail(at, "%s expects a number, got a value", function), false;
    MlirAttribute value = number_attribute(at, function, number, type);
    if (mlirAttributeIsNull(value) || !ir_frame_for(at, function)) return false;
    MlirNamedAttribute named = cute_attribute(ir->context, "value", value);
    MlirOperation op = ir_create(at, "arith.constant", CUTE_NO_OPERANDS, &CUTE_TYPES(type),
                                 mlirDictionaryAttrGet(ir->context, 1, &named));
    if (mlirOperationIsNull(op)) return false;
    *out = mlirOperationGetResult(op, 0);
    return true;
}

bool ir_get_as(cute_ir_at at, const char *function, cute_ir_value value, MlirType type, MlirValue *out)
{
    if (ir_is_number(value)) return ir_constant(at, function, value, type, out);
    if (!ir_get(at, function, value, out)) return false;
    if (mlirTypeEqual(mlirValueGetType(*out), type)) return true;
    ir_fail(at, "%s expects '%s', got '%s'", function, ir_type_text(at.ir, type),
            ir_type_text(at.ir, mlirValueGetType(*out)));
    note_origin(at.ir, *out);
    return false;
}

cute_ir_value ir_new_value(cute_ir *ir, MlirValue value, uint32_t first, uint32_t count)
{
    if (ir->entry_count >= UINT32_MAX ||
        !cute_heap_more(&ir->entries, ir->entry_count, &ir->entry_capacity, sizeof *ir->entries, 256))
        return ir_fail_memory(ir);
    uint32_t index = (uint32_t)ir->entry_count++;
    ir->entries[index] =
        (ir_entry){value, ir->frames[ir->depth - 1].scope, count ? first : index, count ? count : 1};
    return (cute_ir_value){.ir = ir, .kind = CUTE_IR_RESULT, .index = index};
}

cute_ir_value ir_new_results(cute_ir *ir, MlirOperation op)
{
    cute_ir_value first = {0};
    uint32_t count = (uint32_t)mlirOperationGetNumResults(op), start = (uint32_t)ir->entry_count;
    for (uint32_t i = 0; i < count && ir_ready(ir); i++) {
        cute_ir_value value = ir_new_value(ir, mlirOperationGetResult(op, i), start, count);
        if (i == 0) first = value;
    }
    return ir_ready(ir) ? first : (cute_ir_value){0};
}

ir_frame *ir_frame_for(cute_ir_at at, const char *function)
{
    if (!ir_ready(at.ir)) return NULL;
    if (at.ir->depth) return &at.ir->frames[at.ir->depth - 1];
    ir_fail(at, "%s expects an open kernel: call cute_ir_kernel first", function);
    return NULL;
}

cute_ir_value cute_ir_result(cute_ir_at at, cute_ir_value value, size_t index)
{
    MlirValue made;
    if (!ir_ready(at.ir) || !ir_get(at, "cute_ir_result", value, &made)) return (cute_ir_value){0};
    const ir_entry *entry = &at.ir->entries[value.index];
    if (index >= entry->count)
        return ir_fail(at, "cute_ir_result expects an index less than %u, the number of results, got %zu",
                       entry->count, index);
    value.index = entry->first + (uint32_t)index;
    return value;
}

const char *cute_ir_type(cute_ir *ir, cute_ir_value value)
{
    if (!ir || ir->dead || value.kind != CUTE_IR_RESULT || value.ir != ir || value.index >= ir->entry_count)
        return NULL;
    return ir_type_text(ir, mlirValueGetType(ir->entries[value.index].value));
}
