/* Kernels, loops and branches: regions that are open while their operations are built. */
#include <mlir-c/BuiltinAttributes.h>
#include <mlir-c/BuiltinTypes.h>
#include <string.h>

#include "lib/base/list.h"
#include "lib/builder/builder.h"
#include "lib/ir/mlir/kernel.h"
#include "lib/ir/mlir/shim.h"
#include "lib/ir/mlir/util.h"

/* ---- regions ---- */

static const char *const region_names[] = {
    [IR_KERNEL] = "kernel", [IR_FOR] = "loop",         [IR_THEN] = "branch",
    [IR_ELSE] = "branch",   [IR_BEFORE] = "condition", [IR_AFTER] = "loop",
};

/* Opens a region with a new block; NULL after an error. */
static ir_frame *open_region(cute_ir_at at, const char *function, ir_region kind)
{
    cute_ir *ir = at.ir;
    if (ir->depth == IR_DEPTH)
        return ir_fail(at, "%s nests deeper than %d regions", function, IR_DEPTH), NULL;
    const char *file = at.file ? cute_arena_copy(ir->arena, at.file, strlen(at.file)) : NULL;
    if (at.file && !file) return ir_fail_memory(ir), NULL;
    ir_frame *frame = &ir->frames[ir->depth++];
    *frame = (ir_frame){.kind = kind,
                        .scope = ++ir->scopes,
                        .location = ir_location(at),
                        .file = file,
                        .line = at.line,
                        .regions = {mlirRegionCreate()},
                        .block = mlirBlockCreate(0, NULL, NULL)};
    mlirRegionAppendOwnedBlock(frame->regions[0], frame->block);
    return frame;
}

/* Continues in the second region of an operation. */
static void open_second(ir_frame *frame, cute_ir *ir, ir_region kind)
{
    frame->kind = kind;
    frame->scope = ++ir->scopes;
    frame->regions[1] = mlirRegionCreate();
    frame->block = mlirBlockCreate(0, NULL, NULL);
    mlirRegionAppendOwnedBlock(frame->regions[1], frame->block);
}

static cute_place place_of(const ir_frame *frame)
{
    return (cute_place){.file = frame->file, .line = frame->line > 0 ? frame->line : 0};
}

static void note_opened(cute_ir *ir, const ir_frame *frame)
{
    cute_place place = place_of(frame);
    ir_note(ir, &place, "the %s is opened here", region_names[frame->kind]);
}

/* The innermost region, which `opener` has opened; NULL after an error. */
static ir_frame *expect_open(cute_ir_at at, const char *function, ir_region kind, const char *opener)
{
    ir_frame *frame = ir_frame_for(at, function);
    if (!frame || frame->kind == kind) return frame;
    ir_fail(at, "%s expects an open %s", function, opener);
    note_opened(at.ir, frame);
    return NULL;
}

/* An argument of the innermost region. */
static cute_ir_value add_argument(cute_ir *ir, MlirType type, MlirLocation location)
{
    return ir_new_value(ir, mlirBlockAddArgument(ir->frames[ir->depth - 1].block, type, location), 0, 0);
}

/* Arguments of the types of `values`, as handles in `out` (NULL: not needed). */
static void add_arguments(cute_ir_at at, const MlirType *types, size_t count, cute_ir_value *out)
{
    for (size_t i = 0; i < count && ir_ready(at.ir); i++) {
        cute_ir_value value = add_argument(at.ir, types[i], ir_location(at));
        if (out) out[i] = value;
    }
}

static void append(ir_frame *frame, const char *name, const MlirValue *values, size_t count,
                   MlirLocation location)
{
    cute_builder b = cute_builder_at_end(frame->block, location);
    cute_build(&b, name, (cute_operands){values, (intptr_t)count}, CUTE_NO_TYPES, CUTE_NO_NAMED);
}

/* The values, of which numbers take the types; NULL after an error. `types` NULL: any, but no numbers. */
static MlirValue *get_values(cute_ir_at at, const char *function, cute_ir_values values,
                             const MlirType *types)
{
    MlirValue *out = cute_arena_array(at.ir->arena, values.count + 1, sizeof *out);
    if (!out) return ir_fail_memory(at.ir), NULL;
    for (size_t i = 0; i < values.count; i++)
        if (types ? !ir_get_as(at, function, values.items[i], types[i], &out[i])
                  : !ir_get(at, function, values.items[i], &out[i]))
            return NULL;
    return out;
}

static bool expect_count(cute_ir_at at, const char *function, const ir_frame *frame, size_t got, size_t want)
{
    if (got == want) return true;
    ir_fail(at, "%s expects %zu value%s for the %s, got %zu", function, want, want == 1 ? "" : "s",
            region_names[frame->kind], got);
    note_opened(at.ir, frame);
    return false;
}

/* Stores the types of values; false when memory is exhausted. */
static bool keep_types(cute_ir *ir, ir_frame *frame, const MlirValue *values, size_t count)
{
    frame->types = cute_arena_array(ir->arena, count + 1, sizeof *frame->types);
    if (!frame->types) return ir_fail_memory(ir), false;
    for (size_t i = 0; i < count; i++) frame->types[i] = mlirValueGetType(values[i]);
    frame->type_count = count;
    return true;
}

/* ---- kernels ---- */

static bool is_symbol(const char *name)
{
    if (!name || !*name) return false;
    for (const char *c = name; *c; c++)
        if (!((*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') || *c == '_' || *c == '$' ||
              (c > name && *c >= '0' && *c <= '9')))
            return false;
    return true;
}

static bool expect_symbol(cute_ir_at at, const char *function, const char *name)
{
    if (is_symbol(name)) return true;
    ir_fail(at, "%s expects a name of letters, digits, '_' and '$', got '%s'", function, name ? name : "");
    return false;
}

static MlirBlock body_of(MlirOperation op)
{
    return mlirRegionGetFirstBlock(mlirOperationGetRegion(op, 0));
}

static bool is_named(MlirOperation op, MlirStringRef name)
{
    MlirAttribute is = mlirOperationGetAttributeByName(op, cute_text("sym_name"));
    return cute_op_is(op, "gpu.module") && !mlirAttributeIsNull(is) && mlirAttributeIsAString(is) &&
           mlirStringRefEqual(mlirStringAttrGetValue(is), name);
}

static MlirOperation find_module(const cute_ir *ir, MlirStringRef name)
{
    MlirOperation op = mlirBlockGetFirstOperation(mlirModuleGetBody(ir->module));
    while (!mlirOperationIsNull(op) && !is_named(op, name)) op = mlirOperationGetNextInBlock(op);
    return op;
}

MlirOperation ir_find_module(const cute_ir *ir, MlirOperation like)
{
    MlirAttribute is = mlirOperationGetAttributeByName(like, cute_text("sym_name"));
    bool named = cute_op_is(like, "gpu.module") && !mlirAttributeIsNull(is) && mlirAttributeIsAString(is);
    return named ? find_module(ir, mlirStringAttrGetValue(is)) : (MlirOperation){NULL};
}

/* Makes the gpu.module `name` that of new kernels; creates a missing one. */
static void choose_module(cute_ir_at at, const char *name)
{
    cute_ir *ir = at.ir;
    ir->kernels = find_module(ir, cute_text(name));
    if (!mlirOperationIsNull(ir->kernels)) return;
    cute_buffer text = {0};
    cute_buffer_printf(&text, "gpu.module @%s {}", name);
    MlirModule module = cute_module_parse(ir->context, cute_text(cute_buffer_text(&text)), cute_text("-"));
    cute_buffer_release(&text);
    MlirOperation op = mlirModuleIsNull(module) ? (MlirOperation){NULL}
                                                : mlirBlockGetFirstOperation(mlirModuleGetBody(module));
    if (mlirOperationIsNull(op)) {
        ir_fail_memory(ir);
        return;
    }
    cute_op_set_location(op, ir_location(at));
    mlirOperationRemoveFromParent(op);
    mlirBlockAppendOwnedOperation(mlirModuleGetBody(ir->module), op);
    mlirModuleDestroy(module);
    ir->kernels = op;
}

void cute_ir_module(cute_ir_at at, const char *name)
{
    if (!ir_ready(at.ir) || !expect_symbol(at, "cute_ir_module", name)) return;
    if (at.ir->depth) {
        ir_fail(at, "cute_ir_module expects no open region");
        note_opened(at.ir, &at.ir->frames[at.ir->depth - 1]);
        return;
    }
    choose_module(at, name);
}

void cute_ir_kernel(cute_ir_at at, const char *name)
{
    cute_ir *ir = at.ir;
    if (!ir_ready(ir) || !expect_symbol(at, "cute_ir_kernel", name)) return;
    if (ir->depth) {
        ir_fail(at, "cute_ir_kernel expects no open region: kernels do not nest");
        note_opened(ir, &ir->frames[ir->depth - 1]);
        return;
    }
    if (mlirOperationIsNull(ir->kernels)) choose_module(at, "kernels");
    if (!ir_ready(ir)) return;
    if (cute_symbol_in(ir->kernels, name)) {
        ir_fail(at, "cute_ir_kernel expects another name than '%s', which the module has", name);
        return;
    }
    ir_frame *frame = open_region(at, "cute_ir_kernel", IR_KERNEL);
    if (frame && !(frame->name = cute_arena_copy(ir->arena, name, strlen(name)))) ir_fail_memory(ir);
}

/* The open kernel, if no other region is open in it. */
static ir_frame *kernel_frame(cute_ir_at at, const char *function)
{
    ir_frame *frame = ir_frame_for(at, function);
    if (!frame || frame->kind == IR_KERNEL) return frame;
    ir_fail(at, "%s expects no open region in the kernel", function);
    note_opened(at.ir, frame);
    return NULL;
}

cute_ir_value cute_ir_argument(cute_ir_at at, const char *name, const char *type)
{
    cute_ir *ir = at.ir;
    if (!ir_ready(ir) || !kernel_frame(at, "cute_ir_argument") ||
        !expect_symbol(at, "cute_ir_argument", name))
        return (cute_ir_value){0};
    MlirBlock block = ir->frames[0].block;
    for (intptr_t i = 0; i < mlirBlockGetNumArguments(block); i++)
        if (cute_text_is(cute_location_name(cute_argument_location(mlirBlockGetArgument(block, i))), name))
            return ir_fail(at, "cute_ir_argument expects another name than '%s', which argument %d has", name,
                           (int)i);
    MlirType is = ir_type(at, type);
    if (mlirTypeIsNull(is)) return (cute_ir_value){0};
    return add_argument(ir, is, mlirLocationNameGet(ir->context, cute_text(name), ir_location(at)));
}

cute_ir_value cute_ir_tensor(cute_ir_at at, const char *name, const char *element, int rank, int alignment)
{
    cute_ir *ir = at.ir;
    int64_t bytes, aligned;
    if (!ir_ready(ir)) return (cute_ir_value){0};
    if (rank < 1 || rank > 5) return ir_fail(at, "cute_ir_tensor expects a rank of 1 to 5, got %d", rank);
    MlirType type = ir_type(at, element);
    if (mlirTypeIsNull(type)) return (cute_ir_value){0};
    if (!(mlirTypeIsAFloat(type) || mlirTypeIsAInteger(type)) || !cute_type_layout(type, &bytes, &aligned))
        return ir_fail(at, "cute_ir_tensor expects an element type of whole bytes, got '%s'", element);
    if (alignment < bytes || alignment % bytes || alignment > 4096 || (alignment & (alignment - 1)))
        return ir_fail(at,
                       "cute_ir_tensor expects an alignment that is a power of two of at most 4096 bytes, at "
                       "least the %lld of '%s', got %d",
                       (long long)bytes, element, alignment);
    cute_buffer text = {0};
    int64_t multiple = alignment / bytes;
    cute_buffer_printf(&text, "!cute.memref<%s, gmem, align<%d>, \"(", ir_type_text(ir, type), alignment);
    for (int i = 0; i < rank; i++) {
        cute_buffer_puts(&text, i ? ",?" : "?");
        if (i == rank - 1 && multiple > 1) cute_buffer_printf(&text, "{div=%lld}", (long long)multiple);
    }
    cute_buffer_puts(&text, "):(");
    for (int i = 0; i < rank - 1; i++)
        cute_buffer_printf(&text, multiple > 1 ? "?{i64 div=%lld}," : "?{i64},", (long long)multiple);
    cute_buffer_puts(&text, "1)\">");
    cute_ir_value value = {0};
    if (cute_buffer_ok(&text))
        value = cute_ir_argument(at, name, cute_buffer_text(&text));
    else
        ir_fail_memory(ir);
    cute_buffer_release(&text);
    return value;
}

void cute_ir_attribute(cute_ir_at at, const char *name, const char *value)
{
    cute_ir *ir = at.ir;
    if (!ir_ready(ir)) return;
    ir_frame *frame = kernel_frame(at, "cute_ir_attribute");
    if (!frame) return;
    if (!name || !*name) {
        ir_fail(at, "cute_ir_attribute expects a name");
        return;
    }
    static const char *const own[] = {"sym_name", "function_type", "arg_attrs", "gpu.kernel"};
    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        if (!strcmp(name, own[i])) {
            ir_fail(at, "cute_ir_attribute expects another name than '%s', which the builder sets", name);
            return;
        }
    ir_load_dialect(ir, name); /* it verifies its attributes */
    MlirAttribute attribute = value ? ir_attribute(at, value) : mlirUnitAttrGet(ir->context);
    if (mlirAttributeIsNull(attribute)) return;
    for (size_t i = 0; i < frame->attribute_count; i++)
        if (cute_text_is(mlirIdentifierStr(frame->attributes[i].name), name)) {
            frame->attributes[i].attribute = attribute;
            return;
        }
    if (!cute_arena_more(ir->arena, &frame->attributes, frame->attribute_count, &frame->attribute_capacity,
                         sizeof *frame->attributes, 4)) {
        ir_fail_memory(ir);
        return;
    }
    frame->attributes[frame->attribute_count++] = cute_attribute(ir->context, name, attribute);
}

/* The names of the arguments, which the printed text keeps. */
static MlirAttribute argument_names(cute_ir *ir, MlirBlock block)
{
    intptr_t count = mlirBlockGetNumArguments(block);
    MlirAttribute *each = cute_arena_array(ir->arena, (size_t)count + 1, sizeof *each);
    if (!each) return ir_fail_memory(ir), mlirAttributeGetNull();
    for (intptr_t i = 0; i < count; i++) {
        MlirStringRef name = cute_location_name(cute_argument_location(mlirBlockGetArgument(block, i)));
        MlirNamedAttribute named =
            cute_attribute(ir->context, "cute.name", mlirStringAttrGet(ir->context, name));
        each[i] = mlirDictionaryAttrGet(ir->context, 1, &named);
    }
    return mlirArrayAttrGet(ir->context, count, each);
}

static void close_kernel(cute_ir_at at, ir_frame *frame)
{
    cute_ir *ir = at.ir;
    append(frame, "gpu.return", NULL, 0, ir_location(at));
    intptr_t count = mlirBlockGetNumArguments(frame->block);
    MlirType *types = cute_arena_array(ir->arena, (size_t)count + 1, sizeof *types);
    size_t own = frame->attribute_count;
    MlirNamedAttribute *named = cute_arena_array(ir->arena, own + 4, sizeof *named);
    MlirAttribute names = argument_names(ir, frame->block);
    if (!types || !named || mlirAttributeIsNull(names)) {
        ir_fail_memory(ir);
        return;
    }
    for (intptr_t i = 0; i < count; i++) types[i] = mlirValueGetType(mlirBlockGetArgument(frame->block, i));
    if (own) memcpy(named, frame->attributes, own * sizeof *named);
    named[own] = cute_attribute(ir->context, "sym_name", cute_string_attribute(ir->context, frame->name));
    named[own + 1] = cute_attribute(ir->context, "function_type",
                                    mlirTypeAttrGet(mlirFunctionTypeGet(ir->context, count, types, 0, NULL)));
    named[own + 2] = cute_attribute(ir->context, "gpu.kernel", mlirUnitAttrGet(ir->context));
    named[own + 3] = cute_attribute(ir->context, "arg_attrs", names);
    MlirBlock body = body_of(ir->kernels);
    MlirOperation end = mlirBlockGetTerminator(body);
    cute_builder b = {ir->context, frame->location, body, end};
    MlirRegion region = frame->regions[0];
    frame->regions[0] = (MlirRegion){NULL};
    ir->depth--;
    ir_listen(ir);
    MlirOperation op = cute_build_regions(&b, "gpu.func", CUTE_NO_OPERANDS, CUTE_NO_TYPES,
                                          (cute_named){named, (intptr_t)own + 3 + (count > 0)}, &region, 1);
    if (mlirOperationIsNull(op) || !mlirOperationVerify(op)) {
        at.file = frame->file;
        at.line = frame->line;
        ir_fail(at, "%s", ir_caught(ir, "the kernel is invalid"));
    }
}

/* ---- loops and branches ---- */

/* The type of the bounds: that of the first value, i32 if all are numbers. */
static MlirType bound_type(cute_ir_at at, const cute_ir_value *bounds, size_t count)
{
    MlirType type = mlirIntegerTypeGet(at.ir->context, 32);
    for (size_t i = 0; i < count; i++) {
        MlirValue value;
        if (ir_is_number(bounds[i])) continue;
        if (!ir_get(at, "cute_ir_for", bounds[i], &value)) return (MlirType){NULL};
        type = mlirValueGetType(value);
        break;
    }
    if (mlirTypeIsAInteger(type) || mlirTypeIsAIndex(type)) return type;
    ir_fail(at, "cute_ir_for expects bounds that are integers, got '%s'", ir_type_text(at.ir, type));
    return (MlirType){NULL};
}

cute_ir_value cute_ir_for(cute_ir_at at, cute_ir_value from, cute_ir_value to, cute_ir_value step,
                          cute_ir_values initial, cute_ir_value *carried)
{
    cute_ir *ir = at.ir;
    const cute_ir_value bounds[] = {from, to, step};
    if (!ir_frame_for(at, "cute_ir_for")) return (cute_ir_value){0};
    MlirType type = bound_type(at, bounds, 3);
    MlirValue *first = mlirTypeIsNull(type) ? NULL : get_values(at, "cute_ir_for", initial, NULL);
    MlirValue *operands = first ? cute_arena_array(ir->arena, initial.count + 3, sizeof *operands) : NULL;
    if (first && !operands) return ir_fail_memory(ir);
    for (size_t i = 0; i < 3; i++)
        if (!operands || !ir_get_as(at, "cute_ir_for", bounds[i], type, &operands[i]))
            return (cute_ir_value){0};
    if (initial.count) memcpy(operands + 3, first, initial.count * sizeof *operands);
    ir_frame *frame = open_region(at, "cute_ir_for", IR_FOR);
    if (!frame || !keep_types(ir, frame, first, initial.count)) return (cute_ir_value){0};
    frame->operands = operands;
    frame->operand_count = initial.count + 3;
    cute_ir_value index = add_argument(ir, type, frame->location);
    add_arguments(at, frame->types, frame->type_count, carried);
    return index;
}

void cute_ir_if(cute_ir_at at, cute_ir_value condition)
{
    cute_ir *ir = at.ir;
    if (!ir_frame_for(at, "cute_ir_if")) return;
    MlirValue *value = cute_arena_alloc(ir->arena, sizeof *value);
    if (!value) {
        ir_fail_memory(ir);
        return;
    }
    if (!ir_get_as(at, "cute_ir_if", condition, mlirIntegerTypeGet(ir->context, 1), value)) return;
    ir_frame *frame = open_region(at, "cute_ir_if", IR_THEN);
    if (!frame) return;
    frame->operands = value;
    frame->operand_count = 1;
}

void cute_ir_else(cute_ir_at at, cute_ir_values values)
{
    cute_ir *ir = at.ir;
    ir_frame *frame = expect_open(at, "cute_ir_else", IR_THEN, "cute_ir_if");
    if (!frame) return;
    MlirValue *results = get_values(at, "cute_ir_else", values, NULL);
    if (!results || !keep_types(ir, frame, results, values.count)) return;
    append(frame, "scf.yield", results, values.count, ir_location(at));
    open_second(frame, ir, IR_ELSE);
}

void cute_ir_while(cute_ir_at at, cute_ir_values initial, cute_ir_value *carried)
{
    cute_ir *ir = at.ir;
    if (!ir_frame_for(at, "cute_ir_while")) return;
    MlirValue *first = get_values(at, "cute_ir_while", initial, NULL);
    ir_frame *frame = first ? open_region(at, "cute_ir_while", IR_BEFORE) : NULL;
    if (!frame || !keep_types(ir, frame, first, initial.count)) return;
    frame->operands = first;
    frame->operand_count = initial.count;
    add_arguments(at, frame->types, frame->type_count, carried);
}

void cute_ir_do(cute_ir_at at, cute_ir_value condition, cute_ir_values passed, cute_ir_value *body)
{
    cute_ir *ir = at.ir;
    ir_frame *frame = expect_open(at, "cute_ir_do", IR_BEFORE, "cute_ir_while");
    if (!frame) return;
    MlirValue *values = cute_arena_array(ir->arena, passed.count + 1, sizeof *values);
    MlirValue *rest = get_values(at, "cute_ir_do", passed, NULL);
    if (!values || !rest) {
        ir_fail_memory(ir);
        return;
    }
    if (!ir_get_as(at, "cute_ir_do", condition, mlirIntegerTypeGet(ir->context, 1), &values[0])) return;
    if (passed.count) memcpy(values + 1, rest, passed.count * sizeof *values);
    append(frame, "scf.condition", values, passed.count + 1, ir_location(at));
    if (!keep_types(ir, frame, rest, passed.count)) return;
    open_second(frame, ir, IR_AFTER);
    add_arguments(at, frame->types, frame->type_count, body);
}

/* The types of the values that cute_ir_end expects. */
static const MlirType *closing_types(cute_ir *ir, const ir_frame *frame, size_t *count)
{
    *count = frame->kind == IR_THEN ? 0 : frame->type_count;
    if (frame->kind != IR_AFTER) return frame->types;
    *count = frame->operand_count;
    MlirType *types = cute_arena_array(ir->arena, *count + 1, sizeof *types);
    for (size_t i = 0; types && i < *count; i++) types[i] = mlirValueGetType(frame->operands[i]);
    if (!types) ir_fail_memory(ir);
    return types;
}

static void close_loop_or_branch(cute_ir_at at, ir_frame *frame, cute_ir_value *results)
{
    static const char *const names[] = {
        [IR_FOR] = "scf.for", [IR_THEN] = "scf.if", [IR_ELSE] = "scf.if", [IR_AFTER] = "scf.while"};
    cute_ir *ir = at.ir;
    const char *name = names[frame->kind];
    bool two = frame->kind != IR_FOR;
    cute_types types = {frame->types, (intptr_t)frame->type_count};
    cute_operands operands = {frame->operands, (intptr_t)frame->operand_count};
    if (two && mlirRegionIsNull(frame->regions[1])) frame->regions[1] = mlirRegionCreate();
    MlirRegion regions[2] = {frame->regions[0], frame->regions[1]};
    frame->regions[0] = frame->regions[1] = (MlirRegion){NULL};
    ir->depth--;
    cute_builder b = cute_builder_at_end(ir->frames[ir->depth - 1].block, frame->location);
    ir_listen(ir);
    MlirOperation op = cute_build_regions(&b, name, operands, types, CUTE_NO_NAMED, regions, two ? 2 : 1);
    if (mlirOperationIsNull(op) || !mlirOperationVerify(op)) {
        at.file = frame->file;
        at.line = frame->line;
        ir_fail(at, "%s", ir_caught(ir, "the loop or branch is invalid"));
        return;
    }
    cute_ir_value first = ir_new_results(ir, op);
    for (size_t i = 0; results && ir_ready(ir) && i < (size_t)types.count; i++) {
        results[i] = first;
        results[i].index += (uint32_t)i;
    }
}

void cute_ir_end(cute_ir_at at, cute_ir_values values, cute_ir_value *results)
{
    cute_ir *ir = at.ir;
    if (!ir_ready(ir)) return;
    if (!ir->depth) {
        ir_fail(at, "cute_ir_end expects an open kernel, loop or branch");
        return;
    }
    ir_frame *frame = &ir->frames[ir->depth - 1];
    if (frame->kind == IR_BEFORE) {
        ir_fail(at, "cute_ir_end expects cute_ir_do before it, which ends the condition of the loop");
        note_opened(ir, frame);
        return;
    }
    size_t count = 0;
    const MlirType *types = closing_types(ir, frame, &count);
    if (!ir_ready(ir) || !expect_count(at, "cute_ir_end", frame, values.count, count)) return;
    MlirValue *last = get_values(at, "cute_ir_end", values, types);
    if (!last) return;
    if (frame->kind == IR_KERNEL) {
        close_kernel(at, frame);
        return;
    }
    append(frame, "scf.yield", last, values.count, ir_location(at));
    close_loop_or_branch(at, frame, results);
}
