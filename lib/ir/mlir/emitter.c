/* The arithmetic interface of lib/layout over arith: one operation per step of the algebra. */
#include "lib/ir/mlir/emitter.h"

#include "lib/ir/dialects/types.h"
#include "lib/ir/mlir/util.h"

typedef struct emitted {
    const char *name;
    bool no_wrap;  /* overflow<nsw> */
    int predicate; /* of arith.cmpi, or -1 */
} emitted;

static const emitted table[] = {
    [CUTE_ADD] = {"arith.addi", true, -1},   [CUTE_SUB] = {"arith.subi", true, -1},
    [CUTE_MUL] = {"arith.muli", true, -1},   [CUTE_DIV] = {"arith.divsi", false, -1},
    [CUTE_REM] = {"arith.remsi", false, -1}, [CUTE_CEIL_DIV] = {"arith.ceildivsi", false, -1},
    [CUTE_MIN] = {"arith.minsi", false, -1}, [CUTE_MAX] = {"arith.maxsi", false, -1},
    [CUTE_AND] = {"arith.andi", false, -1},  [CUTE_OR] = {"arith.ori", false, -1},
    [CUTE_XOR] = {"arith.xori", false, -1},  [CUTE_SHL] = {"arith.shli", false, -1},
    [CUTE_SHR] = {"arith.shrui", false, -1}, [CUTE_ABS] = {"math.absi", false, -1},
    [CUTE_EQ] = {"arith.cmpi", false, 0},    [CUTE_NE] = {"arith.cmpi", false, 1},
    [CUTE_LT] = {"arith.cmpi", false, 2},    [CUTE_GT] = {"arith.cmpi", false, 4},
};

/* The value at `width` bits: a constant, or the handle sign-extended. */
static MlirValue at_width(cute_emitter *e, const cute_int *x, int width)
{
    if (x->known) return cute_build_constant(&e->builder, width, x->value);
    MlirValue value = {x->handle};
    if (x->width >= width) return value;
    return cute_build_value(&e->builder, "arith.extsi",
                            mlirIntegerTypeGet(e->builder.context, (unsigned)width), CUTE_OPERANDS(value),
                            CUTE_NO_NAMED);
}

static cute_status emit_arith(void *context, cute_arith_op op, const cute_int *a, const cute_int *b,
                              int width, void **handle, cute_diag *diag)
{
    cute_emitter *e = context;
    const emitted *row = &table[op];
    MlirValue operands[2];
    intptr_t count = 0;
    operands[count++] = at_width(e, a, width);
    if (b) operands[count++] = at_width(e, b, width);
    MlirType type = mlirIntegerTypeGet(e->builder.context, row->predicate >= 0 ? 1 : (unsigned)width);
    MlirNamedAttribute attribute;
    intptr_t attributes = 0;
    if (row->no_wrap) {
        if (mlirAttributeIsNull(e->nsw))
            e->nsw = mlirAttributeParseGet(e->builder.context, cute_text("#arith.overflow<nsw>"));
        attribute = cute_attribute(e->builder.context, "overflowFlags", e->nsw);
        attributes = 1;
    } else if (row->predicate >= 0) {
        attribute =
            cute_attribute(e->builder.context, "predicate",
                           mlirIntegerAttrGet(mlirIntegerTypeGet(e->builder.context, 64), row->predicate));
        attributes = 1;
    }
    MlirOperation made = cute_build(&e->builder, row->name, (cute_operands){operands, count},
                                    CUTE_TYPES(type), (cute_named){&attribute, attributes});
    if (mlirOperationIsNull(made)) return cute_fail(diag, CUTE_INVALID, NULL, "could not make %s", row->name);
    *handle = (void *)mlirOperationGetResult(made, 0).ptr;
    return CUTE_OK;
}

static cute_status emit_if_begin(void *context, const cute_int *condition, cute_diag *diag)
{
    cute_emitter *e = context;
    if (e->depth == CUTE_EMITTER_DEPTH)
        return cute_fail(diag, CUTE_INVALID, NULL, "conditions nest too deep");
    MlirValue value = at_width(e, condition, 1);
    MlirBlock then = mlirBlockCreate(0, NULL, NULL), otherwise = mlirBlockCreate(0, NULL, NULL);
    e->ifs[e->depth].condition = value;
    e->ifs[e->depth].then = then;
    e->ifs[e->depth].otherwise = otherwise;
    e->ifs[e->depth++].outside = e->builder;
    e->builder = cute_builder_at_end(then, e->builder.location);
    return CUTE_OK;
}

static cute_status emit_if_otherwise(void *context, cute_diag *diag)
{
    (void)diag;
    cute_emitter *e = context;
    e->builder.block = e->ifs[e->depth - 1].otherwise;
    return CUTE_OK;
}

static void emit_yield(cute_emitter *e, MlirBlock block, const cute_int *value, int width)
{
    e->builder.block = block;
    MlirValue operand = at_width(e, value, width);
    cute_build(&e->builder, "scf.yield", CUTE_OPERANDS(operand), CUTE_NO_TYPES, CUTE_NO_NAMED);
}

static cute_status emit_if_end(void *context, const cute_int *then_value, const cute_int *else_value,
                               int width, void **handle, cute_diag *diag)
{
    cute_emitter *e = context;
    e->depth--;
    emit_yield(e, e->ifs[e->depth].then, then_value, width);
    emit_yield(e, e->ifs[e->depth].otherwise, else_value, width);
    e->builder = e->ifs[e->depth].outside;
    MlirRegion regions[2] = {mlirRegionCreate(), mlirRegionCreate()};
    mlirRegionAppendOwnedBlock(regions[0], e->ifs[e->depth].then);
    mlirRegionAppendOwnedBlock(regions[1], e->ifs[e->depth].otherwise);
    MlirType type = mlirIntegerTypeGet(e->builder.context, (unsigned)width);
    MlirOperation made = cute_build_regions(&e->builder, "scf.if", CUTE_OPERANDS(e->ifs[e->depth].condition),
                                            CUTE_TYPES(type), CUTE_NO_NAMED, regions, 2);
    if (mlirOperationIsNull(made)) return cute_fail(diag, CUTE_INVALID, NULL, "could not make scf.if");
    *handle = (void *)mlirOperationGetResult(made, 0).ptr;
    return CUTE_OK;
}

static void emit_if_abandon(void *context)
{
    cute_emitter *e = context;
    while (e->depth > 0) {
        e->depth--;
        e->builder = e->ifs[e->depth].outside;
        mlirBlockDestroy(e->ifs[e->depth].otherwise);
        mlirBlockDestroy(e->ifs[e->depth].then);
    }
}

/* The type of a value in the builder's context; null when memory is exhausted. */
static MlirType type_of_value(cute_emitter *e, const cute_value *value)
{
    cute_arena *arena = cute_arena_create();
    MlirType type = arena ? cute_type_of_value(e->builder.context, arena, value) : (MlirType){NULL};
    cute_arena_destroy(arena);
    return type;
}

/* The pointer cast to `type`, the algebra's view of it. */
static MlirValue pointer_as(cute_emitter *e, const cute_pointer *pointer, MlirType type)
{
    MlirValue value = {pointer->handle};
    if (mlirTypeEqual(type, mlirValueGetType(value))) return value;
    return cute_build_value(&e->builder, "cute.recast_iter", type, CUTE_OPERANDS(value), CUTE_NO_NAMED);
}

static cute_status emit_advance(void *context, const cute_pointer *from, const cute_int *offset,
                                const cute_pointer *to, void **handle, cute_diag *diag)
{
    cute_emitter *e = context;
    if (!from->handle) return cute_fail(diag, CUTE_INVALID, NULL, "cannot offset a null pointer");
    cute_value source = {.type = CUTE_PTR, .pointer = from}, target = {.type = CUTE_PTR, .pointer = to};
    cute_tree leaf = {.kind = CUTE_TREE_INT, .leaves = 1, .value = *offset};
    cute_value tuple = cute_value_of_tree(CUTE_INT_TUPLE, &leaf);
    MlirType before = type_of_value(e, &source), after = type_of_value(e, &target),
             type = type_of_value(e, &tuple);
    if (mlirTypeIsNull(before) || mlirTypeIsNull(after) || mlirTypeIsNull(type))
        return cute_fail_memory(diag);
    MlirValue operand = {offset->handle};
    MlirValue elements =
        cute_build_value(&e->builder, offset->known ? "cute.static" : "cute.make_int_tuple", type,
                         (cute_operands){&operand, offset->known ? 0 : 1}, CUTE_NO_NAMED);
    MlirValue made = cute_build_value(&e->builder, "cute.add_offset", after,
                                      CUTE_OPERANDS(pointer_as(e, from, before), elements), CUTE_NO_NAMED);
    *handle = (void *)made.ptr;
    return CUTE_OK;
}

cute_arith cute_emitter_start(cute_emitter *emitter, const cute_builder *builder)
{
    emitter->builder = *builder;
    emitter->depth = 0;
    return (cute_arith){.context = emitter,
                        .emit = emit_arith,
                        .if_begin = emit_if_begin,
                        .if_otherwise = emit_if_otherwise,
                        .if_end = emit_if_end,
                        .if_abandon = emit_if_abandon,
                        .advance = emit_advance};
}
