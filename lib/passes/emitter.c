/* The arithmetic interface of lib/layout over arith: each step of the algebra becomes an operation. */
#include "lib/passes/emitter.h"

#include "lib/ir/util.h"

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

static MlirOperation insert(cute_emitter *e, cute_op_new parts)
{
    parts.location = e->location;
    if (e->depth == 0) return cute_op_insert_before(e->where, &parts);
    MlirOperation op = cute_op_create(&parts);
    MlirBlock block =
        e->ifs[e->depth - 1].in_else ? e->ifs[e->depth - 1].otherwise : e->ifs[e->depth - 1].then;
    if (!mlirOperationIsNull(op)) mlirBlockAppendOwnedOperation(block, op);
    return op;
}

static MlirValue constant(cute_emitter *e, int width, int64_t value)
{
    MlirType type = mlirIntegerTypeGet(e->context, (unsigned)width);
    MlirNamedAttribute attribute = cute_attribute(e->context, "value", mlirIntegerAttrGet(type, value));
    return mlirOperationGetResult(insert(e, (cute_op_new){.name = "arith.constant",
                                                          .results = &type,
                                                          .result_count = 1,
                                                          .attributes = &attribute,
                                                          .attribute_count = 1}),
                                  0);
}

MlirValue cute_emit_constant(MlirOperation where, int width, int64_t value)
{
    cute_emitter e = {.where = where,
                      .context = mlirOperationGetContext(where),
                      .location = mlirOperationGetLocation(where)};
    return constant(&e, width, value);
}

/* The value at `width` bits: a constant, or the handle sign-extended. */
static MlirValue at_width(cute_emitter *e, const cute_int *x, int width)
{
    if (x->known) return constant(e, width, x->value);
    MlirValue value = {x->handle};
    if (x->width >= width) return value;
    MlirType type = mlirIntegerTypeGet(e->context, (unsigned)width);
    return mlirOperationGetResult(insert(e, (cute_op_new){.name = "arith.extsi",
                                                          .operands = &value,
                                                          .operand_count = 1,
                                                          .results = &type,
                                                          .result_count = 1}),
                                  0);
}

static cute_status emit(void *context, cute_arith_op op, const cute_int *a, const cute_int *b, int width,
                        void **handle, cute_diag *diag)
{
    cute_emitter *e = context;
    const emitted *row = &table[op];
    MlirValue operands[2];
    intptr_t count = 0;
    operands[count++] = at_width(e, a, width);
    if (b) operands[count++] = at_width(e, b, width);
    MlirType type = mlirIntegerTypeGet(e->context, row->predicate >= 0 ? 1 : (unsigned)width);
    MlirNamedAttribute attribute;
    intptr_t attributes = 0;
    if (row->no_wrap) {
        if (mlirAttributeIsNull(e->nsw))
            e->nsw = mlirAttributeParseGet(e->context, cute_text("#arith.overflow<nsw>"));
        attribute = cute_attribute(e->context, "overflowFlags", e->nsw);
        attributes = 1;
    } else if (row->predicate >= 0) {
        attribute = cute_attribute(e->context, "predicate",
                                   mlirIntegerAttrGet(mlirIntegerTypeGet(e->context, 64), row->predicate));
        attributes = 1;
    }
    MlirOperation made = insert(e, (cute_op_new){.name = row->name,
                                                 .operands = operands,
                                                 .operand_count = count,
                                                 .results = &type,
                                                 .result_count = 1,
                                                 .attributes = &attribute,
                                                 .attribute_count = attributes});
    if (mlirOperationIsNull(made)) return cute_fail(diag, CUTE_INVALID, NULL, "could not make %s", row->name);
    *handle = (void *)mlirOperationGetResult(made, 0).ptr;
    return CUTE_OK;
}

static cute_status if_begin(void *context, const cute_int *condition, cute_diag *diag)
{
    cute_emitter *e = context;
    if (e->depth == CUTE_EMITTER_DEPTH)
        return cute_fail(diag, CUTE_INVALID, NULL, "conditions nest too deep");
    MlirValue value = at_width(e, condition, 1);
    e->ifs[e->depth].condition = value;
    e->ifs[e->depth].then = mlirBlockCreate(0, NULL, NULL);
    e->ifs[e->depth].otherwise = mlirBlockCreate(0, NULL, NULL);
    e->ifs[e->depth++].in_else = false;
    return CUTE_OK;
}

static cute_status if_otherwise(void *context, cute_diag *diag)
{
    (void)diag;
    cute_emitter *e = context;
    e->ifs[e->depth - 1].in_else = true;
    return CUTE_OK;
}

static void yield(cute_emitter *e, bool in_else, const cute_int *value, int width)
{
    e->ifs[e->depth - 1].in_else = in_else;
    MlirValue operand = at_width(e, value, width);
    insert(e, (cute_op_new){.name = "scf.yield", .operands = &operand, .operand_count = 1});
}

static cute_status if_end(void *context, const cute_int *then_value, const cute_int *else_value, int width,
                          void **handle, cute_diag *diag)
{
    cute_emitter *e = context;
    yield(e, false, then_value, width);
    yield(e, true, else_value, width);
    e->depth--;
    MlirRegion regions[2] = {mlirRegionCreate(), mlirRegionCreate()};
    mlirRegionAppendOwnedBlock(regions[0], e->ifs[e->depth].then);
    mlirRegionAppendOwnedBlock(regions[1], e->ifs[e->depth].otherwise);
    MlirType type = mlirIntegerTypeGet(e->context, (unsigned)width);
    MlirOperation made = insert(e, (cute_op_new){.name = "scf.if",
                                                 .operands = &e->ifs[e->depth].condition,
                                                 .operand_count = 1,
                                                 .results = &type,
                                                 .result_count = 1,
                                                 .regions = regions,
                                                 .region_count = 2});
    if (mlirOperationIsNull(made)) return cute_fail(diag, CUTE_INVALID, NULL, "could not make scf.if");
    *handle = (void *)mlirOperationGetResult(made, 0).ptr;
    return CUTE_OK;
}

static void if_abandon(void *context)
{
    cute_emitter *e = context;
    while (e->depth > 0) {
        e->depth--;
        mlirBlockDestroy(e->ifs[e->depth].otherwise);
        mlirBlockDestroy(e->ifs[e->depth].then);
    }
}

cute_arith cute_emitter_start(cute_emitter *emitter, MlirOperation where)
{
    emitter->where = where;
    emitter->context = mlirOperationGetContext(where);
    emitter->location = mlirOperationGetLocation(where);
    emitter->depth = 0;
    return (cute_arith){.context = emitter,
                        .emit = emit,
                        .if_begin = if_begin,
                        .if_otherwise = if_otherwise,
                        .if_end = if_end,
                        .if_abandon = if_abandon};
}
