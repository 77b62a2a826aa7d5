/* cute-tile-launch: the launch of a tile program, derived from its logical grid.
 *
 * Requires: cute-tile-distribute; kernels in gpu.modules. Ensures: no cute.tile.program, no cute.tile.count; of each kernel that had a
 * cute.tile.program there is a host function of its name that launches it, with a block for each tile, unless a function of that name
 * is there already. Blocks are one row of the grid, the last dimension fastest: neighbours work on neighbouring memory, and no
 * dimension has the limit of 65,535 blocks. A grid without blocks is not launched; a dimension whose index the kernel does not use
 * has to have one tile, which the host function asserts.
 *
 *     gpu.func @k(%a: !A) kernel { %m = cute.tile.program(%a) {extents = array<i32: 64>} ... }
 * ->
 *     gpu.func @k(%a: !A) kernel { %m = nvvm.read.ptx.sreg.ctaid.x ... }
 *     func.func @k(%a: !A) { ... scf.if %any { gpu.launch_func @kernels::@k blocks in (%tiles, %c1, %c1) threads in (%c128, %c1, %c1) } }
 */
#include <mlir-c/BuiltinAttributes.h>
#include <mlir-c/BuiltinTypes.h>
#include <stdio.h>
#include <string.h>

#include "lib/ir/dialects/types.h"
#include "lib/ir/mlir/arith.h"
#include "lib/ir/mlir/util.h"
#include "lib/passes/passes.h"
#include "lib/passes/tiles/tiles.h"

enum { DIMENSIONS = 3, MOST_OPS = 256 };

/* ---- what both sides compute ---- */

static MlirValue emit(const cute_builder *b, const char *name, cute_operands operands, cute_named attributes)
{
    for (intptr_t i = 0; i < operands.count; i++)
        if (mlirValueIsNull(operands.items[i])) return operands.items[i];
    MlirOperation op = cute_build_inferred(b, name, operands, attributes);
    return mlirOperationIsNull(op) ? (MlirValue){NULL} : mlirOperationGetResult(op, 0);
}

/* The extent of mode `mode` of a tensor over `size`, rounded up: an integer. */
static MlirValue tiles_along(const cute_builder *b, MlirValue tensor, int64_t mode, int64_t size)
{
    int32_t which = (int32_t)mode;
    const cute_value *type = cute_type_peek(mlirValueGetType(tensor));
    bool tuple = type->layout.shape->kind == CUTE_TREE_TUPLE;
    char text[64];
    snprintf(text, sizeof text, "!cute.int_tuple<\"%lld\">", (long long)size);
    MlirNamedAttribute at = cute_attribute(b->context, "mode", mlirDenseI32ArrayGet(b->context, 1, &which));
    MlirValue layout = emit(b, "cute.get_layout", CUTE_OPERANDS(tensor), CUTE_NO_NAMED),
              extent = emit(b, "cute.size", CUTE_OPERANDS(layout), tuple ? CUTE_NAMED(at) : CUTE_NO_NAMED),
              by = cute_build_value(b, "cute.static", mlirTypeParseGet(b->context, cute_text(text)),
                                    CUTE_NO_OPERANDS, CUTE_NO_NAMED),
              tiles = emit(b, "cute.ceil_div", CUTE_OPERANDS(extent, by), CUTE_NO_NAMED);
    return emit(b, "cute.get_scalars", CUTE_OPERANDS(tiles), CUTE_NO_NAMED);
}

static MlirValue as_i32(const cute_builder *b, MlirValue value)
{
    MlirType type = mlirValueGetType(value), i32 = mlirIntegerTypeGet(b->context, 32);
    if (mlirTypeEqual(type, i32)) return value;
    return cute_unary(b, mlirTypeIsAIndex(type) ? "arith.index_cast" : "arith.trunci", value, i32);
}

static void lower_count(MlirOperation op, void *context)
{
    (void)context;
    cute_builder b = cute_builder_before(op);
    MlirValue count = tiles_along(&b, mlirOperationGetOperand(op, 0), cute_tile_number(op, "mode", 0),
                                  cute_tile_number(op, "size", 1));
    if (mlirValueIsNull(count)) return;
    count = as_i32(&b, count);
    mlirValueReplaceAllUsesOfWith(mlirOperationGetResult(op, 0), count);
    mlirOperationDestroy(op);
}

static MlirValue as_index(const cute_builder *b, MlirValue value)
{
    MlirType index = mlirIndexTypeGet(b->context);
    if (mlirValueIsNull(value) || mlirTypeIsAIndex(mlirValueGetType(value))) return value;
    return cute_unary(b, "arith.index_cast", value, index);
}

/* ---- the host function ---- */

typedef struct copying {
    MlirBlock kernel, host; /* first blocks */
    cute_builder b;         /* in the host function */
    MlirValue from[MOST_OPS], to[MOST_OPS];
    int count;
    MlirOperation stuck; /* what the host cannot compute */
} copying;

/* The host's value of a value of the kernel: an argument, or the copy of the operation that computes it from arguments. */
static MlirValue copy_value(copying *c, MlirValue value, int depth)
{
    enum { MOST_DEPTH = 64 };
    if (mlirValueIsABlockArgument(value)) {
        bool own = mlirBlockEqual(mlirBlockArgumentGetOwner(value), c->kernel);
        return own ? mlirBlockGetArgument(c->host, mlirBlockArgumentGetArgNumber(value)) : (MlirValue){NULL};
    }
    for (int i = 0; i < c->count; i++)
        if (mlirValueEqual(c->from[i], value)) return c->to[i];
    MlirOperation op = mlirOpResultGetOwner(value);
    bool pure = cute_op_is_effect_free(op) && !mlirOperationGetNumRegions(op) &&
                (cute_op_of(op, "cute.") || cute_op_of(op, "arith.")) && !cute_op_is(op, "cute.tile.program");
    MlirValue operands[16];
    intptr_t count = mlirOperationGetNumOperands(op);
    if (!pure || count > 16 || depth > MOST_DEPTH || c->count + mlirOperationGetNumResults(op) > MOST_OPS)
        return c->stuck = op, (MlirValue){NULL};
    for (intptr_t i = 0; i < count; i++) {
        operands[i] = copy_value(c, mlirOperationGetOperand(op, i), depth + 1);
        if (mlirValueIsNull(operands[i])) {
            if (mlirOperationIsNull(c->stuck)) c->stuck = op;
            return operands[i];
        }
    }
    MlirOperation copy = mlirOperationClone(op);
    for (intptr_t i = 0; i < count; i++) mlirOperationSetOperand(copy, i, operands[i]);
    if (mlirOperationIsNull(c->b.before))
        mlirBlockAppendOwnedOperation(c->b.block, copy);
    else
        mlirBlockInsertOwnedOperationBefore(c->b.block, c->b.before, copy);
    for (intptr_t i = 0; i < mlirOperationGetNumResults(op); i++) {
        c->from[c->count] = mlirOperationGetResult(op, i);
        c->to[c->count++] = mlirOperationGetResult(copy, i);
    }
    return copy_value(c, value, depth);
}

static MlirStringRef symbol_of(MlirOperation op)
{
    MlirAttribute name = mlirOperationGetAttributeByName(op, cute_text("sym_name"));
    return mlirAttributeIsNull(name) ? cute_text("") : mlirStringAttrGetValue(name);
}

/* A dimension that the kernel does not look at: with several tiles, several blocks would do the same. */
static void assert_single(copying *c, MlirOperation program, int dimension, MlirValue extent)
{
    char text[128];
    if (!mlirOpOperandIsNull(mlirValueGetFirstUse(mlirOperationGetResult(program, dimension)))) return;
    int64_t tile[CUTE_TILE_RANK];
    int count = cute_tile_numbers(mlirOperationGetAttributeByName(program, cute_text("extents")), tile);
    if (count < 0) return;
    snprintf(text, sizeof text,
             "expected at most %lld elements in mode %d of the tensor: the kernel has one tile there",
             (long long)tile[dimension], dimension);
    MlirValue most = cute_integer(&c->b, mlirValueGetType(extent), 1);
    MlirValue fits = cute_compare(&c->b, CUTE_IS_SLE, extent, most);
    cute_build(
        &c->b, "cf.assert", CUTE_OPERANDS(fits), CUTE_NO_TYPES,
        CUTE_NAMED(cute_attribute(c->b.context, "msg", mlirStringAttrGet(c->b.context, cute_text(text)))));
}

/* The number of blocks in the host function; null after an error at the operation. */
static MlirValue blocks_of(copying *c, MlirOperation program)
{
    int64_t tile[CUTE_TILE_RANK];
    int dimensions = cute_tile_numbers(mlirOperationGetAttributeByName(program, cute_text("extents")), tile);
    int count = (int)mlirOperationGetNumResults(program);
    MlirValue none = {NULL}, blocks = none;
    for (int i = 0; i < count; i++) {
        MlirValue of = copy_value(c, mlirOperationGetOperand(program, dimensions < 0 ? i : 0), 0);
        if (mlirValueIsNull(of)) {
            cute_emit_note note = {
                mlirOperationGetLocation(mlirOperationIsNull(c->stuck) ? program : c->stuck), "this is not"};
            cute_emit_with_notes(mlirOperationGetLocation(program), true,
                                 "expected a grid that is computed from the kernel's arguments by operations "
                                 "of cute and arith",
                                 &note, 1);
            return none;
        }
        MlirValue extent = as_index(&c->b, dimensions < 0 ? of : tiles_along(&c->b, of, i, tile[i]));
        if (mlirValueIsNull(extent)) return none;
        assert_single(c, program, i, extent);
        blocks = i ? cute_binary(&c->b, "arith.muli", blocks, extent) : extent;
    }
    return blocks;
}

static void name_arguments(MlirOperation kernel, MlirOperation host)
{
    static const char *const names[] = {"arg_attrs"};
    MlirAttribute attributes = mlirOperationGetAttributeByName(kernel, cute_text(names[0]));
    if (!mlirAttributeIsNull(attributes))
        mlirOperationSetAttributeByName(host, cute_text(names[0]), attributes);
}

static bool make_host(MlirOperation top, MlirOperation module, MlirOperation kernel, MlirOperation program)
{
    MlirContext context = mlirOperationGetContext(top);
    MlirLocation location = mlirOperationGetLocation(kernel);
    MlirBlock from = mlirRegionGetFirstBlock(mlirOperationGetRegion(kernel, 0));
    intptr_t count = mlirBlockGetNumArguments(from);
    enum { MOST = 128 };
    MlirType types[MOST];
    MlirLocation places[MOST];
    MlirValue operands[MOST + 8];
    if (count > MOST)
        return cute_emit_error(location, "expected at most 128 arguments of a tile program"), false;
    for (intptr_t i = 0; i < count; i++) {
        types[i] = mlirValueGetType(mlirBlockGetArgument(from, i));
        places[i] = cute_argument_location(mlirBlockGetArgument(from, i));
    }
    MlirRegion body = mlirRegionCreate();
    MlirBlock block = mlirBlockCreate(count, types, places);
    mlirRegionAppendOwnedBlock(body, block);
    MlirStringRef name = symbol_of(kernel);
    MlirType function = mlirFunctionTypeGet(context, count, types, 0, NULL);
    cute_builder at = cute_builder_at_end(mlirRegionGetFirstBlock(mlirOperationGetRegion(top, 0)), location);
    MlirOperation host =
        cute_build_regions(&at, "func.func", CUTE_NO_OPERANDS, CUTE_NO_TYPES,
                           CUTE_NAMED(cute_attribute(context, "sym_name", mlirStringAttrGet(context, name)),
                                      cute_attribute(context, "function_type", mlirTypeAttrGet(function))),
                           &body, 1);
    name_arguments(kernel, host);
    copying c = {
        .kernel = from, .host = block, .b = cute_builder_at_end(block, mlirOperationGetLocation(program))};
    MlirType index = mlirIndexTypeGet(context);
    MlirValue blocks = blocks_of(&c, program);
    if (mlirValueIsNull(blocks)) return false;
    cute_builder after = c.b;
    MlirValue any = cute_compare(&c.b, CUTE_IS_SGT, blocks, cute_integer(&c.b, index, 0));
    MlirRegion regions[] = {mlirRegionCreate(), mlirRegionCreate()};
    MlirBlock launch = mlirBlockCreate(0, NULL, NULL);
    mlirRegionAppendOwnedBlock(regions[0], launch);
    c.b = cute_builder_at_end(launch, mlirOperationGetLocation(program));
    intptr_t n = 0;
    operands[n++] = blocks;
    for (int i = 1; i < DIMENSIONS; i++) operands[n++] = cute_integer(&c.b, index, 1);
    for (int i = 0; i < DIMENSIONS; i++)
        operands[n++] = cute_integer(&c.b, index, i ? 1 : tile_block_size(kernel));
    int64_t bytes = cute_tile_number(kernel, "cute.shared_bytes", 0);
    if (bytes) operands[n++] = cute_build_constant(&c.b, 32, bytes);
    for (intptr_t i = 0; i < count; i++) operands[n++] = mlirBlockGetArgument(block, i);
    int32_t segments[] = {0, 1, 1, 1, 1, 1, 1, 0, 0, 0, bytes ? 1 : 0, (int32_t)count, 0};
    MlirAttribute inner = mlirFlatSymbolRefAttrGet(context, name),
                  symbol = mlirSymbolRefAttrGet(context, symbol_of(module), 1, &inner);
    cute_build(&c.b, "gpu.launch_func", (cute_operands){operands, n}, CUTE_NO_TYPES,
               CUTE_NAMED(cute_attribute(context, "kernel", symbol),
                          cute_attribute(
                              context, "operandSegmentSizes",
                              mlirDenseI32ArrayGet(context, sizeof segments / sizeof *segments, segments))));
    cute_build(&c.b, "scf.yield", CUTE_NO_OPERANDS, CUTE_NO_TYPES, CUTE_NO_NAMED);
    cute_build_regions(&after, "scf.if", CUTE_OPERANDS(any), CUTE_NO_TYPES, CUTE_NO_NAMED, regions, 2);
    c.b = after;
    cute_build(&c.b, "func.return", CUTE_NO_OPERANDS, CUTE_NO_TYPES, CUTE_NO_NAMED);
    mlirOperationSetAttributeByName(top, cute_text("gpu.container_module"), mlirUnitAttrGet(context));
    cute_op_walk(host, "cute.tile.count", CUTE_WALK_OUTER_FIRST, lower_count, NULL);
    return true;
}

/* ---- in the kernel ---- */

static void lower_program(MlirOperation op)
{
    cute_builder b = cute_builder_before(op);
    int64_t tile[CUTE_TILE_RANK];
    int dimensions = cute_tile_numbers(mlirOperationGetAttributeByName(op, cute_text("extents")), tile);
    MlirValue rest = cute_build_value(&b, "nvvm.read.ptx.sreg.ctaid.x", mlirIntegerTypeGet(b.context, 32),
                                      CUTE_NO_OPERANDS, CUTE_NO_NAMED);
    for (intptr_t i = mlirOperationGetNumResults(op) - 1; i >= 0; i--) {
        MlirValue result = mlirOperationGetResult(op, i), own = rest;
        bool used = !mlirOpOperandIsNull(mlirValueGetFirstUse(result));
        if (i && (used || dimensions < 0)) {
            MlirValue extent =
                as_i32(&b, dimensions < 0 ? mlirOperationGetOperand(op, i)
                                          : tiles_along(&b, mlirOperationGetOperand(op, 0), i, tile[i]));
            own = cute_binary(&b, "arith.remui", rest, extent);
            rest = cute_binary(&b, "arith.divui", rest, extent);
        }
        mlirValueReplaceAllUsesOfWith(result, own);
    }
    mlirOperationDestroy(op);
}

/* ---- the pass ---- */

typedef struct programs {
    MlirOperation top, op; /* a cute.tile.program of the kernel that is looked at */
    int count;
    bool changed, failed;
} programs;

static void note_program(MlirOperation op, void *context)
{
    programs *p = context;
    p->op = op;
    p->count++;
}

static void visit_kernel(MlirOperation kernel, void *context)
{
    programs *p = context;
    if (p->failed || !cute_op_has(kernel, "gpu.kernel")) return;
    p->count = 0;
    cute_op_walk(kernel, "cute.tile.program", CUTE_WALK_OUTER_FIRST, note_program, p);
    if (p->count == 1) {
        MlirOperation module = mlirOperationGetParentOperation(kernel);
        MlirStringRef name = symbol_of(kernel);
        char text[256];
        snprintf(text, sizeof text, "%.*s", (int)name.length, name.data);
        if (!cute_symbol_in(p->top, text)) p->failed = !make_host(p->top, module, kernel, p->op);
        if (!p->failed) lower_program(p->op);
        p->changed = true;
    } else if (p->count > 1) {
        cute_emit_error(mlirOperationGetLocation(p->op), "expected one cute.tile.program in a kernel");
        p->failed = true;
    }
    if (!p->failed) cute_op_walk(kernel, "cute.tile.count", CUTE_WALK_OUTER_FIRST, lower_count, NULL);
}

static void run_tile_launch(MlirOperation root, cute_pass_run *pass)
{
    programs p = {.top = root};
    cute_op_walk(root, "gpu.func", CUTE_WALK_OUTER_FIRST, visit_kernel, &p);
    if (p.failed)
        cute_pass_fail(pass);
    else if (!p.changed)
        cute_pass_unchanged(pass);
}

const cute_pass cute_pass_tile_launch = {
    .name = "cute-tile-launch",
    .help = "Derive the launch of a tile program from its logical grid",
    .anchor = "builtin.module",
    .dialects = CUTE_DIALECT_CUTE | CUTE_DIALECT_ARITH | CUTE_DIALECT_CF | CUTE_DIALECT_FUNC |
                CUTE_DIALECT_GPU | CUTE_DIALECT_NVVM | CUTE_DIALECT_SCF,
    .run = run_tile_launch,
};
