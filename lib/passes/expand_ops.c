/* cute-expand-ops: the layout algebra as arithmetic on unknown leaves.
 *
 * Requires: verified IR. Ensures: of the dialect cute only static, make_*, get_scalars and print remain.
 * Operations are emitted in the order in which the algebra computes; nothing is shared or folded across
 * operations, but what was put together by make_* is not taken apart again.
 *
 *     %i = cute.layout_eval(%c, %l) : (!cute.coord<"(?,?)">, !cute.layout<"(4,8):(8,1)">) ->
 * !cute.int_tuple<"?">
 * ->
 *     %s:2 = cute.get_scalars<{only_dynamic}> (%c) : !cute.coord<"(?,?)">
 *     %p = arith.muli %s#0, %c8 overflow<nsw> : i32
 *     %q = arith.addi %p, %s#1 overflow<nsw> : i32
 *     %i = cute.make_int_tuple(%q) : (i32) -> !cute.int_tuple<"?">
 */
#include <mlir-c/Diagnostics.h>
#include <stdio.h>

#include "lib/ir/builder.h"
#include "lib/ir/emitter.h"
#include "lib/ir/hooks.h"
#include "lib/ir/util.h"
#include "lib/passes/passes.h"

typedef struct expansion {
    cute_pass_run *pass;
    cute_diag *diag; /* empty between operations */
    cute_emitter emitter;
    struct {
        const void *name;
        int kind;
    } names[64];
} expansion;

/* The unknown leaves of a part of a value: how many. */
static size_t unknowns_of_layout(cute_layout layout)
{
    cute_value value = cute_value_of_layout(layout);
    return layout.shape ? cute_value_unknowns(&value, NULL, 0) : 0;
}

/* ---- operands ---- */

/* Writes the integers for the unknown leaves of `value` to handles + *count, in the order in which they are
 * stored, when the operations that made it say what they are. */
static bool read_maker(MlirValue value, void **handles, size_t *count)
{
    if (cute_type_is_static(mlirValueGetType(value))) return true;
    if (!mlirValueIsAOpResult(value)) return false;
    MlirOperation op = mlirOpResultGetOwner(value);
    intptr_t operands = mlirOperationGetNumOperands(op);
    if (cute_op_is(op, "cute.make_layout"))
        return read_maker(mlirOperationGetOperand(op, 0), handles, count) &&
               read_maker(mlirOperationGetOperand(op, 1), handles, count);
    if (cute_op_is(op, "cute.make_composed_layout"))
        return read_maker(mlirOperationGetOperand(op, 2), handles, count) &&
               read_maker(mlirOperationGetOperand(op, 1), handles, count) &&
               read_maker(mlirOperationGetOperand(op, 0), handles, count);
    static const char *const makers[] = {"cute.make_int_tuple", "cute.make_coord", "cute.make_shape",
                                         "cute.make_stride", "cute.make_tile"};
    bool makes = false;
    for (size_t i = 0; !makes && i < sizeof makers / sizeof *makers; i++) makes = cute_op_is(op, makers[i]);
    if (!makes) return false;
    for (intptr_t i = 0; i < operands; i++) {
        MlirValue operand = mlirOperationGetOperand(op, i);
        if (!mlirTypeIsAInteger(mlirValueGetType(operand))) return false;
        handles[(*count)++] = (void *)operand.ptr;
    }
    return true;
}

/* The operand with its unknown leaves bound to the integers that it was made of, or else to the results of a
 * get_scalars before `op`. */
static cute_status bind(cute_arena *arena, MlirOperation op, MlirValue operand, cute_value *out,
                        cute_diag *diag)
{
    CUTE_TRY(cute_type_value(mlirValueGetType(operand), out, diag));
    size_t count = cute_value_unknowns(out, NULL, 0);
    if (count == 0) return CUTE_OK;
    cute_int *leaves = cute_arena_array(arena, count, sizeof *leaves);
    MlirType *types = cute_arena_array(arena, count, sizeof *types);
    void **handles = cute_arena_array(arena, count, sizeof *handles);
    if (!leaves || !types || !handles) return cute_fail_memory(diag);
    cute_value_unknowns(out, leaves, count);
    cute_value bound;
    size_t made = 0;
    if (read_maker(operand, handles, &made) && made == count) {
        CUTE_TRY(cute_value_with_handles(arena, out, handles, count, &bound, diag));
        *out = bound;
        return CUTE_OK;
    }
    MlirContext c = mlirOperationGetContext(op);
    MlirNamedAttribute only = cute_attribute(c, "only_dynamic", mlirUnitAttrGet(c));
    /* get_scalars gives a composed layout's A, offset, B; the value's own order is B, offset, A. */
    size_t outer = out->type == CUTE_COMPOSED_LAYOUT ? unknowns_of_layout(out->layout) : 0;
    size_t inner = out->type == CUTE_COMPOSED_LAYOUT ? unknowns_of_layout(out->inner) : 0;
    size_t offset = out->type == CUTE_COMPOSED_LAYOUT ? count - outer - inner : 0;
    size_t *order = cute_arena_array(arena, count, sizeof *order);
    if (!order) return cute_fail_memory(diag);
    for (size_t i = 0; i < count; i++) order[i] = i;
    if (out->type == CUTE_COMPOSED_LAYOUT) {
        size_t n = 0;
        for (size_t i = 0; i < inner; i++) order[n++] = outer + offset + i;
        for (size_t i = 0; i < offset; i++) order[n++] = outer + i;
        for (size_t i = 0; i < outer; i++) order[n++] = i;
    }
    for (size_t i = 0; i < count; i++) types[i] = mlirIntegerTypeGet(c, (unsigned)leaves[order[i]].width);
    cute_builder b = cute_builder_before(op);
    MlirOperation scalars = cute_build(&b, "cute.get_scalars", CUTE_OPERANDS(operand),
                                       (cute_types){types, (intptr_t)count}, CUTE_NAMED(only));
    if (mlirOperationIsNull(scalars))
        return cute_fail(diag, CUTE_INVALID, NULL, "could not read the operand's leaves");
    for (size_t i = 0; i < count; i++)
        handles[order[i]] = (void *)mlirOperationGetResult(scalars, (intptr_t)i).ptr;
    CUTE_TRY(cute_value_with_handles(arena, out, handles, count, &bound, diag));
    *out = bound;
    return CUTE_OK;
}

/* ---- results ---- */

static cute_status build(cute_arena *arena, MlirOperation where, const cute_value *value, MlirValue *out,
                         cute_diag *diag);

static cute_status make(cute_arena *arena, MlirOperation where, const char *name, const MlirValue *operands,
                        size_t count, const cute_value *value, MlirValue *out, cute_diag *diag)
{
    MlirType type = cute_type_of_value(mlirOperationGetContext(where), arena, value);
    cute_builder b = cute_builder_before(where);
    MlirOperation op =
        cute_build(&b, name, (cute_operands){operands, (intptr_t)count}, CUTE_TYPES(type), CUTE_NO_NAMED);
    if (mlirOperationIsNull(op)) return cute_fail(diag, CUTE_INVALID, NULL, "could not make %s", name);
    *out = mlirOperationGetResult(op, 0);
    return CUTE_OK;
}

/* A value that is one tree, from its unknown leaves, if any. */
static cute_status build_tree(cute_arena *arena, MlirOperation where, const cute_value *value, MlirValue *out,
                              cute_diag *diag)
{
    size_t count = cute_value_unknowns(value, NULL, 0);
    cute_int *leaves = cute_arena_array(arena, count, sizeof *leaves);
    MlirValue *operands = cute_arena_array(arena, count, sizeof *operands);
    if (count && (!leaves || !operands)) return cute_fail_memory(diag);
    cute_value_unknowns(value, leaves, count);
    for (size_t i = 0; i < count; i++) operands[i] = (MlirValue){leaves[i].handle};
    const char *name = cute_arena_printf(arena, "cute.make_%s", cute_type_name(value->type));
    if (!name) return cute_fail_memory(diag);
    return make(arena, where, name, operands, count, value, out, diag);
}

/* Operations that yield `value`, whose unknown leaves have handles. */
static cute_status build(cute_arena *arena, MlirOperation where, const cute_value *value, MlirValue *out,
                         cute_diag *diag)
{
    if (cute_value_is_static(value)) return make(arena, where, "cute.static", NULL, 0, value, out, diag);
    if (value->type == CUTE_LAYOUT) {
        cute_value shape = cute_value_of_tree(CUTE_SHAPE, value->layout.shape);
        cute_value stride = cute_value_of_tree(CUTE_STRIDE, value->layout.stride);
        MlirValue operands[2];
        CUTE_TRY(build_tree(arena, where, &shape, &operands[0], diag));
        CUTE_TRY(build_tree(arena, where, &stride, &operands[1], diag));
        return make(arena, where, "cute.make_layout", operands, 2, value, out, diag);
    }
    if (value->type != CUTE_COMPOSED_LAYOUT) return build_tree(arena, where, value, out, diag);
    cute_value inner = {.type = CUTE_SWIZZLE, .swizzle = value->swizzle};
    if (value->inner.shape) inner = cute_value_of_layout(value->inner);
    cute_value offset = cute_value_of_tree(CUTE_INT_TUPLE, value->tree),
               outer = cute_value_of_layout(value->layout);
    MlirValue operands[3];
    CUTE_TRY(build(arena, where, &outer, &operands[2], diag));
    CUTE_TRY(build_tree(arena, where, &offset, &operands[1], diag));
    CUTE_TRY(build(arena, where, &inner, &operands[0], diag));
    return make(arena, where, "cute.make_composed_layout", operands, 3, value, out, diag);
}

/* ---- operations ---- */

static MlirAttribute attribute_of(void *op, MlirStringRef name)
{
    return mlirOperationGetAttributeByName(*(MlirOperation *)op, name);
}

/* The only result becomes `value`; that of a comparison is an i1 itself. */
static cute_status replace_result(cute_arena *arena, MlirOperation op, intptr_t index,
                                  const cute_value *value, cute_diag *diag)
{
    MlirValue old = mlirOperationGetResult(op, index), new;
    if (cute_type_is(mlirValueGetType(old), NULL)) {
        CUTE_TRY(build(arena, op, value, &new, diag));
    } else {
        cute_int number = value->tree->value;
        cute_builder b = cute_builder_before(op);
        new = number.known ? cute_build_constant(&b, 1, number.value) : (MlirValue){number.handle};
    }
    mlirValueReplaceAllUsesOfWith(old, new);
    return CUTE_OK;
}

/* `tree` with each leaf, known ones too, as the next result of a get_scalars. */
static const cute_tree *number_leaves(cute_arena *arena, const cute_tree *tree, MlirOperation scalars,
                                      intptr_t *next)
{
    if (tree->kind == CUTE_TREE_INT) {
        MlirValue result = mlirOperationGetResult(scalars, (*next)++);
        int width = (int)mlirIntegerTypeGetWidth(mlirValueGetType(result));
        return cute_tree_unknown(arena, width, (void *)result.ptr);
    }
    if (tree->kind != CUTE_TREE_TUPLE) return tree;
    const cute_tree **items = cute_arena_array(arena, tree->count, sizeof *items);
    for (uint32_t i = 0; items && i < tree->count; i++)
        if (!(items[i] = number_leaves(arena, tree->items[i], scalars, next))) return NULL;
    return items || !tree->count ? cute_tree_tuple(arena, items, tree->count) : NULL;
}

static bool only_integers(const cute_tree *tree)
{
    if (tree->kind != CUTE_TREE_TUPLE) return tree->kind == CUTE_TREE_INT;
    for (uint32_t i = 0; i < tree->count; i++)
        if (!only_integers(tree->items[i])) return false;
    return true;
}

/* As `bind`, but known leaves are numbers of the program too: what a comparison compares. */
static cute_status bind_all(cute_arena *arena, MlirOperation op, MlirValue operand, cute_value *out,
                            cute_diag *diag)
{
    CUTE_TRY(cute_type_value(mlirValueGetType(operand), out, diag));
    const cute_tree **parts[] = {&out->tree, &out->layout.shape, &out->layout.stride};
    for (int i = 0; i < 3; i++)
        if (*parts[i] && !only_integers(*parts[i])) return bind(arena, op, operand, out, diag);
    cute_builder b = cute_builder_before(op);
    MlirOperation scalars =
        cute_build_inferred(&b, "cute.get_scalars", CUTE_OPERANDS(operand), CUTE_NO_NAMED);
    if (mlirOperationIsNull(scalars))
        return cute_fail(diag, CUTE_INVALID, NULL, "could not read the operand's leaves");
    intptr_t next = 0;
    for (int i = 0; i < 3; i++)
        if (*parts[i] && !(*parts[i] = number_leaves(arena, *parts[i], scalars, &next)))
            return cute_fail_memory(diag);
    return CUTE_OK;
}

static cute_status expand_one(cute_arena *arena, MlirOperation op, cute_operation operation,
                              cute_emitter *emitter, cute_diag *diag)
{
    intptr_t count = mlirOperationGetNumOperands(op);
    cute_value *operands = cute_arena_array(arena, (size_t)count, sizeof *operands), result;
    if (!operands && count) return cute_fail_memory(diag);
    cute_attributes attributes;
    CUTE_TRY(cute_op_attributes(arena, attribute_of, &op, &attributes, diag));
    /* First without code: what is known needs none. */
    for (intptr_t i = 0; i < count; i++)
        CUTE_TRY(cute_type_value(mlirValueGetType(mlirOperationGetOperand(op, i)), &operands[i], diag));
    CUTE_TRY(cute_apply(arena, NULL, operation, operands, (size_t)count, &attributes, &result, diag));
    if (cute_value_is_static(&result)) return replace_result(arena, op, 0, &result, diag);
    bool compares = operation == CUTE_OP_EQUAL || operation == CUTE_OP_ELEM_LESS;
    for (intptr_t i = 0; i < count; i++)
        CUTE_TRY((compares ? bind_all : bind)(arena, op, mlirOperationGetOperand(op, i), &operands[i], diag));
    cute_builder b = cute_builder_before(op);
    cute_arith arith = cute_emitter_start(emitter, &b);
    CUTE_TRY(cute_apply(arena, &arith, operation, operands, (size_t)count, &attributes, &result, diag));
    return replace_result(arena, op, 0, &result, diag);
}

/* get_leaves and get_layouts_from_tile: a value for each part. */
static cute_status expand_parts(cute_arena *arena, MlirOperation op, bool layouts_only, cute_diag *diag)
{
    cute_value value, *parts;
    size_t count;
    CUTE_TRY(bind(arena, op, mlirOperationGetOperand(op, 0), &value, diag));
    CUTE_TRY(cute_value_leaves(arena, &value, layouts_only, &parts, &count, diag));
    for (size_t i = 0; i < count; i++) CUTE_TRY(replace_result(arena, op, (intptr_t)i, &parts[i], diag));
    return CUTE_OK;
}

/* What becomes of an operation: one of the algebra, or one of these. */
enum { KEPT = CUTE_OPERATIONS, LEAVES, LAYOUTS };

static int kind_of(MlirStringRef name)
{
    static const struct {
        const char *name;
        int kind;
    } table[] = {
        {"static", KEPT},       {"print", KEPT},
        {"get_scalars", KEPT},  {"make_int_tuple", KEPT},
        {"make_shape", KEPT},   {"make_stride", KEPT},
        {"make_coord", KEPT},   {"make_tile", KEPT},
        {"make_layout", KEPT},  {"make_composed_layout", KEPT},
        {"get_leaves", LEAVES}, {"get_layouts_from_tile", LAYOUTS},
    };
    char text[64];
    cute_operation operation;
    if (name.length < 5 || name.length - 5 >= sizeof text || memcmp(name.data, "cute.", 5) != 0) return KEPT;
    memcpy(text, name.data + 5, name.length - 5);
    text[name.length - 5] = '\0';
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (!strcmp(text, table[i].name)) return table[i].kind;
    return cute_operation_find(text, &operation) ? (int)operation : KEPT;
}

/* The same, once for each name: an identifier is one object in its context. */
static int kind_of_op(expansion *e, MlirOperation op)
{
    const void *name = mlirOperationGetName(op).ptr;
    size_t slot = ((uintptr_t)name >> 4) % (sizeof e->names / sizeof *e->names);
    if (e->names[slot].name != name) {
        e->names[slot].name = name;
        e->names[slot].kind = kind_of(mlirIdentifierStr(mlirOperationGetName(op)));
    }
    return e->names[slot].kind;
}

static cute_status expand_as(expansion *e, cute_arena *arena, MlirOperation op, int kind)
{
    if (kind == LEAVES || kind == LAYOUTS) return expand_parts(arena, op, kind == LAYOUTS, e->diag);
    return expand_one(arena, op, (cute_operation)kind, &e->emitter, e->diag);
}

static void expand(MlirOperation op, void *context)
{
    expansion *e = context;
    int kind = kind_of_op(e, op);
    if (kind == KEPT) return;
    cute_arena *arena = cute_arena_create();
    MlirLocation location = mlirOperationGetLocation(op);
    if (arena && expand_as(e, arena, op, kind) == CUTE_OK) {
        mlirOperationDestroy(op);
    } else {
        for (size_t i = 0; i < cute_diag_count(e->diag); i++)
            mlirEmitError(location, cute_diag_get(e->diag, i)->text);
        cute_pass_fail(e->pass);
        cute_diag_destroy(e->diag);
        e->diag = cute_diag_create();
    }
    cute_arena_destroy(arena);
}

/* What was only made to be read again. */
static void drop(MlirOperation op, void *context)
{
    (void)context;
    MlirStringRef name = mlirIdentifierStr(mlirOperationGetName(op));
    if (name.length > 10 && !memcmp(name.data, "cute.make_", 10) && cute_op_is_dead(op))
        mlirOperationDestroy(op);
}

static void run(MlirOperation root, cute_pass_run *pass)
{
    expansion e = {.pass = pass, .diag = cute_diag_create()};
    cute_op_walk(root, NULL, CUTE_WALK_INNER_FIRST, expand, &e);
    cute_diag_destroy(e.diag);
    cute_op_walk(root, NULL, CUTE_WALK_LAST_FIRST, drop, NULL);
}

const cute_pass cute_pass_expand_ops = {
    .name = "cute-expand-ops",
    .help = "Expand the layout algebra into arithmetic on unknown leaves",
    .dialects = CUTE_DIALECT_CUTE | CUTE_DIALECT_ARITH | CUTE_DIALECT_MATH | CUTE_DIALECT_SCF,
    .run = run,
};
