/* One operation by its name. */
#include <mlir-c/BuiltinAttributes.h>
#include <mlir-c/BuiltinTypes.h>
#include <stdlib.h>
#include <string.h>

#include "lib/builder/builder.h"
#include "lib/ir/mlir/creation.h"
#include "lib/ir/mlir/util.h"
#include "lib/ir/ops/ops.h"

MlirAttribute ir_word(cute_ir *ir, const char *name, const char *value)
{
    MlirNamedAttribute named = cute_attribute(ir->context, name, cute_string_attribute(ir->context, value));
    return mlirDictionaryAttrGet(ir->context, 1, &named);
}

void ir_load_dialect(cute_ir *ir, const char *name)
{
    const char *dot = strchr(name, '.');
    if (dot) mlirContextGetOrLoadDialect(ir->context, mlirStringRefCreate(name, (size_t)(dot - name)));
}

static void creation_error(cute_ir_at at, cute_operands operands, const cute_types *results)
{
    ir_fail(at, "%s", ir_caught(at.ir, "the operation is invalid"));
    ir_note_types(at.ir, operands.items, (size_t)operands.count, results ? results->items : NULL,
                  results ? (size_t)results->count : 0);
}

/* The result types of an operation of ours, in `out->items`, which are to be freed; false if its dialect infers them otherwise, or
 * after an error. */
static bool infer_types(cute_ir_at at, const char *name, cute_operands operands, MlirAttribute attributes,
                        cute_op_types *out)
{
    const cute_op_row *row = cute_op_row_find(name, strlen(name));
    if (!row || !row->infer) return false;
    cute_op_query query = {.context = at.ir->context,
                           .location = ir_location(at),
                           .operand_count = operands.count,
                           .operands = operands.items,
                           .attributes = mlirAttributeIsNull(attributes)
                                             ? mlirDictionaryAttrGet(at.ir->context, 0, NULL)
                                             : attributes,
                           .follows = true};
    return row->infer(row, &query, out) && out->count;
}

/* Creates it without verification. */
static MlirOperation create_only(cute_ir_at at, const cute_builder *b, const char *name,
                                 cute_operands operands, const cute_types *results, MlirAttribute attributes)
{
    cute_op_types inferred = {0};
    MlirOperation op = {NULL};
    intptr_t count = mlirAttributeIsNull(attributes) ? 0 : mlirDictionaryAttrGetNumElements(attributes);
    MlirNamedAttribute *named = cute_arena_array(at.ir->arena, (size_t)count + 1, sizeof *named);
    if (!named) return ir_fail_memory(at.ir), op;
    for (intptr_t i = 0; i < count; i++) named[i] = mlirDictionaryAttrGetElement(attributes, i);
    cute_named all = {named, count};
    if (results)
        op = cute_build(b, name, operands, *results, all);
    else if (infer_types(at, name, operands, attributes, &inferred))
        op = cute_build(b, name, operands, (cute_types){inferred.items, inferred.count}, all);
    else if (!at.ir->caught_error && cute_op_can_infer(b, cute_text(name), operands, attributes))
        op = cute_build_inferred(b, name, operands, all);
    free(inferred.items);
    return op;
}

typedef struct creation {
    cute_ir_at at;
    const char *name;
    cute_operands operands;
    const cute_types *results; /* NULL: inferred */
    MlirAttribute attributes;
    MlirOperation op; /* null after an error */
} creation;

static void create_and_verify(void *context)
{
    creation *c = context;
    cute_ir *ir = c->at.ir;
    cute_builder b = cute_builder_at_end(ir->frames[ir->depth - 1].block, ir_location(c->at));
    ir_load_dialect(ir, c->name);
    if (cute_op_can_create(ir->context, cute_text(c->name), c->operands.count, c->attributes, b.location))
        c->op = create_only(c->at, &b, c->name, c->operands, c->results, c->attributes);
    if (mlirOperationIsNull(c->op) || !mlirOperationVerify(c->op)) c->op = (MlirOperation){NULL};
}

MlirOperation ir_create(cute_ir_at at, const char *name, cute_operands operands, const cute_types *results,
                        MlirAttribute attributes)
{
    creation c = {at, name, operands, results, attributes, {NULL}};
    if (!ir_frame_for(at, name)) return c.op;
    ir_listen(at.ir);
    if (!ir_guard(at, create_and_verify, &c)) return (MlirOperation){NULL};
    if (mlirOperationIsNull(c.op)) creation_error(at, operands, results);
    return c.op;
}

cute_ir_value ir_build(cute_ir_at at, const char *name, cute_operands operands, const cute_types *results,
                       MlirAttribute attributes)
{
    MlirOperation op = ir_create(at, name, operands, results, attributes);
    return mlirOperationIsNull(op) ? (cute_ir_value){0} : ir_new_results(at.ir, op);
}

cute_ir_value cute_ir_op(cute_ir_at at, const char *name, cute_ir_values operands, const char *types,
                         const char *attributes)
{
    cute_ir *ir = at.ir;
    cute_types results = {0};
    MlirType *items = NULL;
    size_t count = 0;
    MlirAttribute dictionary = {NULL};
    if (!ir_ready(ir)) return (cute_ir_value){0};
    if (!name) return ir_fail(at, "cute_ir_op expects the name of an operation, got NULL");
    MlirValue *values = cute_arena_array(ir->arena, operands.count + 1, sizeof *values);
    if (!values) return ir_fail_memory(ir);
    for (size_t i = 0; i < operands.count; i++)
        if (!ir_get(at, name, operands.items[i], &values[i])) return (cute_ir_value){0};
    if (types && !ir_types(at, types, &items, &count)) return (cute_ir_value){0};
    if (attributes) {
        dictionary = ir_attribute(at, attributes);
        if (mlirAttributeIsNull(dictionary)) return (cute_ir_value){0};
        if (!mlirAttributeIsADictionary(dictionary))
            return ir_fail(at, "%s expects attributes in braces, such as {kind = \"add\"}, got '%s'", name,
                           attributes);
    }
    results = (cute_types){items, (intptr_t)count};
    return ir_build(at, name, (cute_operands){values, (intptr_t)operands.count}, types ? &results : NULL,
                    dictionary);
}
