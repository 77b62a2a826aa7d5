/* cute-to-base: cute values as structs of the integers that are unknown.
 *
 * Requires: cute-expand-ops. Ensures: no operation or type of the dialect cute. A value with no unknown leaf is
 * `!llvm.struct<()>`, with one that integer, with more a flat struct; a layout is a pair of shape and stride.
 *
 *     %l = cute.make_layout(%s, %d) : (!cute.shape<"(?,4)">, !cute.stride<"(4,1)">) -> !cute.layout<"(?,4):(4,1)">
 * ->
 *     %0 = ub.poison : !llvm.struct<(i32, struct<()>)>
 *     %1 = llvm.insertvalue %s, %0[0]
 *     %l = llvm.insertvalue %d, %1[1]
 *
 * Each operation is lowered between casts, while all types are still cute's; then every value of a cute type gets its
 * lowered type in place, and the casts, now from a type to itself, go.
 */
#include <mlir-c/Diagnostics.h>
#include <mlir-c/Dialect/Arith.h>
#include <mlir-c/Dialect/LLVM.h>
#include <stdio.h>
#include <stdlib.h>

#include "lib/ir/hooks.h"
#include "lib/ir/util.h"
#include "lib/passes/emitter.h"
#include "lib/passes/passes.h"

/* ---- types ---- */

static MlirType struct_of(MlirContext c, intptr_t count, const MlirType *fields)
{
    return mlirLLVMStructTypeLiteralGet(c, count, fields, false);
}

/* Of a value that is one tree. */
static MlirType lower_leaves(MlirContext c, cute_arena *arena, const cute_value *value)
{
    size_t count = cute_value_unknowns(value, NULL, 0);
    cute_int *leaves = cute_arena_array(arena, count, sizeof *leaves);
    MlirType *fields = cute_arena_array(arena, count, sizeof *fields);
    if (count && (!leaves || !fields)) return (MlirType){NULL};
    cute_value_unknowns(value, leaves, count);
    for (size_t i = 0; i < count; i++) fields[i] = mlirIntegerTypeGet(c, (unsigned)leaves[i].width);
    return count == 1 ? fields[0] : struct_of(c, (intptr_t)count, fields);
}

static MlirType lower_layout(MlirContext c, cute_arena *arena, cute_layout layout)
{
    cute_value shape = cute_value_of_tree(CUTE_SHAPE, layout.shape);
    cute_value stride = cute_value_of_tree(CUTE_STRIDE, layout.stride);
    MlirType fields[] = {lower_leaves(c, arena, &shape), lower_leaves(c, arena, &stride)};
    return struct_of(c, 2, fields);
}

static MlirType lower_value(MlirContext c, cute_arena *arena, const cute_value *value)
{
    if (value->type == CUTE_LAYOUT) return lower_layout(c, arena, value->layout);
    if (value->type != CUTE_COMPOSED_LAYOUT) return lower_leaves(c, arena, value);
    cute_value offset = cute_value_of_tree(CUTE_INT_TUPLE, value->tree);
    MlirType inner = value->inner.shape ? lower_layout(c, arena, value->inner) : struct_of(c, 0, NULL);
    MlirType fields[] = {inner, lower_leaves(c, arena, &offset), lower_layout(c, arena, value->layout)};
    return struct_of(c, 3, fields);
}

/* The lowered type; `type` itself when it is not of the dialect. */
static MlirType lowered(MlirType type)
{
    if (!cute_type_is(type, NULL)) return type;
    cute_arena *arena = cute_arena_create();
    cute_value value;
    MlirType result = type;
    if (arena && cute_type_value(arena, type, &value, NULL) == CUTE_OK)
        result = lower_value(mlirTypeGetContext(type), arena, &value);
    cute_arena_destroy(arena);
    return result;
}

/* ---- building ---- */

static MlirValue one(MlirOperation where, const char *name, const MlirValue *operands, intptr_t count, MlirType type,
                     const MlirNamedAttribute *attributes, intptr_t attribute_count)
{
    return mlirOperationGetResult(cute_op_insert_before(where, &(cute_op_new){
        .name = name, .location = mlirOperationGetLocation(where), .operands = operands, .operand_count = count,
        .results = &type, .result_count = 1, .attributes = attributes, .attribute_count = attribute_count}), 0);
}

static MlirValue cast(MlirOperation where, MlirValue value, MlirType type)
{
    if (mlirTypeEqual(mlirValueGetType(value), type)) return value;
    return one(where, "builtin.unrealized_conversion_cast", &value, 1, type, NULL, 0);
}

static MlirValue poison(MlirOperation where, MlirType type)
{
    MlirContext c = mlirOperationGetContext(where);
    MlirNamedAttribute value = cute_attribute(c, "value", mlirAttributeParseGet(c, cute_text("#ub.poison")));
    return one(where, "ub.poison", NULL, 0, type, &value, 1);
}

static MlirNamedAttribute position(MlirContext c, const int64_t *path, intptr_t count)
{
    return cute_attribute(c, "position", mlirDenseI64ArrayGet(c, count, path));
}

static MlirValue insert_value(MlirOperation where, MlirValue into, MlirValue value, int64_t index)
{
    MlirNamedAttribute at = position(mlirOperationGetContext(where), &index, 1);
    MlirValue operands[] = {into, value};
    return one(where, "llvm.insertvalue", operands, 2, mlirValueGetType(into), &at, 1);
}

/* ---- operations ---- */

static void replace(MlirOperation op, MlirValue value)
{
    MlirValue old = mlirOperationGetResult(op, 0);
    mlirValueReplaceAllUsesOfWith(old, cast(op, value, mlirValueGetType(old)));
    mlirOperationDestroy(op);
}

static void lower_make(MlirOperation op)
{
    MlirType type = lowered(mlirValueGetType(mlirOperationGetResult(op, 0)));
    intptr_t count = mlirOperationGetNumOperands(op);
    if (count == 1 && !mlirTypeIsALLVMStructType(type)) {
        replace(op, cast(op, mlirOperationGetOperand(op, 0), type));
        return;
    }
    MlirValue value = poison(op, type);
    for (intptr_t i = 0; i < count; i++) {
        MlirValue operand = mlirOperationGetOperand(op, i);
        value = insert_value(op, value, cast(op, operand, lowered(mlirValueGetType(operand))), i);
    }
    replace(op, value);
}

static void lower_static(MlirOperation op)
{
    replace(op, poison(op, lowered(mlirValueGetType(mlirOperationGetResult(op, 0)))));
}

/* Where a scalar lies in the lowered value, while its leaves are listed in get_scalars' order. */
typedef struct scalars {
    MlirOperation op;
    MlirValue value; /* lowered */
    bool only_unknown;
    intptr_t result;
    MlirValue *results;
    int64_t prefix[2]; /* fields on the way to the tree in hand */
    intptr_t depth;
} scalars;

static void list_tree(scalars *s, const cute_tree *tree, size_t unknowns, size_t *seen)
{
    switch (tree->kind) {
    case CUTE_TREE_UNDERSCORE: return;
    case CUTE_TREE_INT:
    case CUTE_TREE_BASIS:
        if (!tree->value.known) {
            int64_t path[3] = {s->prefix[0], s->prefix[1], 0};
            intptr_t depth = s->depth;
            if (unknowns > 1) path[depth++] = (int64_t)*seen;
            (*seen)++;
            if (depth == 0) {
                s->results[s->result++] = s->value;
            } else {
                MlirContext c = mlirOperationGetContext(s->op);
                MlirNamedAttribute at = position(c, path, depth);
                s->results[s->result++] = one(s->op, "llvm.extractvalue", &s->value, 1,
                                              mlirIntegerTypeGet(c, (unsigned)tree->value.width), &at, 1);
            }
        } else if (!s->only_unknown) {
            s->results[s->result++] = cute_emit_constant(s->op, 32, tree->value.value);
        }
        if (tree->kind == CUTE_TREE_BASIS && !s->only_unknown)
            for (uint32_t i = tree->count; i-- > 0;) s->results[s->result++] = cute_emit_constant(s->op, 32, tree->path[i]);
        return;
    case CUTE_TREE_LAYOUT:
        list_tree(s, tree->layout.shape, unknowns, seen);
        list_tree(s, tree->layout.stride, unknowns, seen);
        return;
    case CUTE_TREE_TUPLE:
        for (uint32_t i = 0; i < tree->count; i++) list_tree(s, tree->items[i], unknowns, seen);
        return;
    }
}

static void list_one(scalars *s, cute_type type, const cute_tree *tree)
{
    cute_value value = cute_value_of_tree(type, tree);
    size_t seen = 0;
    list_tree(s, tree, cute_value_unknowns(&value, NULL, 0), &seen);
}

static void list_layout(scalars *s, cute_layout layout)
{
    s->prefix[s->depth++] = 0;
    list_one(s, CUTE_SHAPE, layout.shape);
    s->prefix[s->depth - 1] = 1;
    list_one(s, CUTE_STRIDE, layout.stride);
    s->depth--;
}

static void list_value(scalars *s, const cute_value *value)
{
    bool composed = value->type == CUTE_COMPOSED_LAYOUT;
    if ((value->type == CUTE_SWIZZLE || (composed && !value->inner.shape)) && !s->only_unknown) {
        const int parameters[] = {value->swizzle.bits, value->swizzle.base, value->swizzle.shift};
        for (int i = 0; i < 3; i++) s->results[s->result++] = cute_emit_constant(s->op, 32, parameters[i]);
    }
    if (!composed) {
        if (value->tree) list_one(s, value->type, value->tree);
        if (value->layout.shape) list_layout(s, value->layout);
        return;
    }
    s->depth = 1;
    if (value->inner.shape) list_layout(s, value->inner);
    s->prefix[0] = 1;
    list_one(s, CUTE_INT_TUPLE, value->tree);
    s->prefix[0] = 2;
    list_layout(s, value->layout);
}

static bool lower_get_scalars(MlirOperation op)
{
    MlirValue operand = mlirOperationGetOperand(op, 0);
    cute_arena *arena = cute_arena_create();
    cute_value value;
    intptr_t count = mlirOperationGetNumResults(op);
    MlirValue *results = calloc((size_t)count + 1, sizeof *results);
    bool ok = arena && results && cute_type_value(arena, mlirValueGetType(operand), &value, NULL) == CUTE_OK;
    if (ok) {
        scalars s = {.op = op, .only_unknown = cute_op_has(op, "only_dynamic"), .results = results};
        s.value = cast(op, operand, lowered(mlirValueGetType(operand)));
        list_value(&s, &value);
        for (intptr_t i = 0; i < count; i++) mlirValueReplaceAllUsesOfWith(mlirOperationGetResult(op, i), results[i]);
        mlirOperationDestroy(op);
    }
    free(results);
    cute_arena_destroy(arena);
    return ok;
}

/* ---- the walk ---- */

typedef struct lowering {
    cute_pass_run *pass;
    bool failed;
} lowering;

static void lower(MlirOperation op, lowering *l)
{
    MlirStringRef name = mlirIdentifierStr(mlirOperationGetName(op));
    if (name.length < 5 || memcmp(name.data, "cute.", 5)) return;
    bool ok = true;
    if (cute_op_is(op, "cute.static")) lower_static(op);
    else if (cute_op_is(op, "cute.get_scalars")) ok = lower_get_scalars(op);
    else if (name.length > 10 && !memcmp(name.data, "cute.make_", 10)) lower_make(op);
    else ok = false;
    if (ok) return;
    char text[160];
    snprintf(text, sizeof text, "'%.*s' op is not lowered: run cute-expand-ops before cute-to-base", (int)name.length,
             name.data);
    mlirEmitError(mlirOperationGetLocation(op), text);
    if (!l->failed) cute_pass_fail(l->pass);
    l->failed = true;
}

static void each_operation(MlirOperation op, void (*visit)(MlirOperation, lowering *), lowering *l)
{
    for (intptr_t r = 0; r < mlirOperationGetNumRegions(op); r++)
        for (MlirBlock b = mlirRegionGetFirstBlock(mlirOperationGetRegion(op, r)); !mlirBlockIsNull(b);
             b = mlirBlockGetNextInRegion(b))
            for (MlirOperation o = mlirBlockGetFirstOperation(b), next; !mlirOperationIsNull(o); o = next) {
                next = mlirOperationGetNextInBlock(o);
                each_operation(o, visit, l);
            }
    visit(op, l);
}

static void retype_value(MlirValue value)
{
    MlirType type = mlirValueGetType(value);
    if (cute_type_is(type, NULL)) mlirValueSetType(value, lowered(type));
}

static void retype_signature(MlirOperation op)
{
    MlirAttribute attribute = mlirOperationGetAttributeByName(op, cute_text("function_type"));
    if (mlirAttributeIsNull(attribute) || !mlirTypeIsAFunction(mlirTypeAttrGetValue(attribute))) return;
    MlirType type = mlirTypeAttrGetValue(attribute);
    intptr_t inputs = mlirFunctionTypeGetNumInputs(type), results = mlirFunctionTypeGetNumResults(type);
    MlirType *types = calloc((size_t)(inputs + results) + 1, sizeof *types);
    if (!types) return;
    for (intptr_t i = 0; i < inputs; i++) types[i] = lowered(mlirFunctionTypeGetInput(type, i));
    for (intptr_t i = 0; i < results; i++) types[inputs + i] = lowered(mlirFunctionTypeGetResult(type, i));
    type = mlirFunctionTypeGet(mlirOperationGetContext(op), inputs, types, results, types + inputs);
    mlirOperationSetAttributeByName(op, cute_text("function_type"), mlirTypeAttrGet(type));
    free(types);
}

static void retype(MlirOperation op, lowering *l)
{
    (void)l;
    for (intptr_t i = 0; i < mlirOperationGetNumResults(op); i++) retype_value(mlirOperationGetResult(op, i));
    for (intptr_t r = 0; r < mlirOperationGetNumRegions(op); r++)
        for (MlirBlock b = mlirRegionGetFirstBlock(mlirOperationGetRegion(op, r)); !mlirBlockIsNull(b);
             b = mlirBlockGetNextInRegion(b))
            for (intptr_t i = 0; i < mlirBlockGetNumArguments(b); i++) retype_value(mlirBlockGetArgument(b, i));
    retype_signature(op);
}

static void drop_cast(MlirOperation op, lowering *l)
{
    (void)l;
    if (!cute_op_is(op, "builtin.unrealized_conversion_cast") || mlirOperationGetNumOperands(op) != 1 ||
        mlirOperationGetNumResults(op) != 1)
        return;
    MlirValue from = mlirOperationGetOperand(op, 0), to = mlirOperationGetResult(op, 0);
    if (!mlirTypeEqual(mlirValueGetType(from), mlirValueGetType(to))) return;
    mlirValueReplaceAllUsesOfWith(to, from);
    mlirOperationDestroy(op);
}

static void run(MlirOperation root, cute_pass_run *pass)
{
    lowering l = {.pass = pass};
    each_operation(root, lower, &l);
    if (l.failed) return;
    each_operation(root, retype, &l);
    each_operation(root, drop_cast, &l);
}

static MlirDialectHandle (*const dialects[])(void) = {cute_dialect_handle, mlirGetDialectHandle__arith__,
                                                      mlirGetDialectHandle__llvm__, NULL};

const cute_pass cute_pass_to_base = {
    .name = "cute-to-base",
    .help = "Lower cute values to structs of integers",
    .dialects = dialects,
    .run = run,
};
