/* cute-tile-launch: the launch of a tile program, derived from its logical grid.
 *
 * Requires: cute-tile-distribute; kernels in gpu.modules. Ensures: no cute.tile.program, no cute.tile.count; of each kernel that had a
 * cute.tile.program there is a host function of its name that launches it, with a block for each tile, unless a function of that name
 * is there already; the body of one that is only declared, with the kernel's arguments, is derived, so that another host function can
 * call it. Blocks are one row of the grid, the last dimension fastest: neighbours work on neighbouring memory, and no
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
#include "lib/passes/tiles/schedule.h"
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

/* A dimension that the kernel does not look at: with several tiles, several blocks would do the same. Or one whose only cluster reduces whole
 * rows. */
static void assert_single(copying *c, MlirOperation program, int dimension, int64_t cluster, MlirValue extent)
{
    char text[128];
    int64_t tile[CUTE_TILE_RANK];
    int count = cute_tile_numbers(mlirOperationGetAttributeByName(program, cute_text("extents")), tile);
    bool single = cute_op_has(program, "single") && dimension == count - 1;
    bool used = !mlirOpOperandIsNull(mlirValueGetFirstUse(mlirOperationGetResult(program, dimension)));
    if (count < 0 || (used && !single)) return;
    snprintf(text, sizeof text,
             "expected at most %lld elements in mode %d of the tensor: the kernel has one %s there",
             (long long)(tile[dimension] * cluster), dimension, cluster > 1 ? "cluster" : "tile");
    MlirValue most = cute_integer(&c->b, mlirValueGetType(extent), 1);
    MlirValue fits = cute_compare(&c->b, CUTE_IS_SLE, extent, most);
    cute_build(
        &c->b, "cf.assert", CUTE_OPERANDS(fits), CUTE_NO_TYPES,
        CUTE_NAMED(cute_attribute(c->b.context, "msg", mlirStringAttrGet(c->b.context, cute_text(text)))));
}

int tile_cluster_of(MlirOperation grid, int64_t along[CUTE_TILE_RANK])
{
    const char *name = cute_op_is(grid, "cute.tile.program") ? TILE_IN_CLUSTER : "cluster";
    return cute_tile_numbers(mlirOperationGetAttributeByName(grid, cute_text(name)), along);
}

/* The number of blocks of a cluster along each dimension of the grid; 1 for cute.tile.program. */
static int64_t cluster_of(MlirOperation program, int64_t along[CUTE_TILE_RANK])
{
    int64_t all = 1;
    int count = tile_cluster_of(program, along);
    for (int i = 0; i < CUTE_TILE_RANK; i++) {
        if (i >= count) along[i] = 1;
        all *= along[i];
    }
    return all;
}

/* Dimensions of a grid, whose sizes or tensor are operands from `first` on. */
static int rank_of(MlirOperation op, intptr_t first)
{
    int64_t tile[CUTE_TILE_RANK];
    int of_tensor = cute_tile_numbers(mlirOperationGetAttributeByName(op, cute_text("extents")), tile);
    return of_tensor < 0 ? (int)(mlirOperationGetNumOperands(op) - first) : of_tensor;
}

/* Clusters of so many blocks that `blocks` of them are in, the last one perhaps with more. */
static MlirValue clusters_of(const cute_builder *b, MlirValue blocks, int64_t cluster)
{
    if (cluster < 2) return blocks;
    MlirType type = mlirValueGetType(blocks);
    blocks = cute_binary(b, "arith.addi", blocks, cute_integer(b, type, cluster - 1));
    return cute_binary(b, "arith.divui", blocks, cute_integer(b, type, cluster));
}

/* The number of tiles of the grid, in clusters, in the host function; null after an error at the operation. */
static MlirValue blocks_of(copying *c, MlirOperation program)
{
    int64_t tile[CUTE_TILE_RANK], cluster[CUTE_TILE_RANK];
    cluster_of(program, cluster);
    bool resident = cute_op_is(program, "cute.tile.workers");
    int dimensions = cute_tile_numbers(mlirOperationGetAttributeByName(program, cute_text("extents")), tile);
    MlirValue none = {NULL}, blocks = none;
    for (int i = 0; i < rank_of(program, 0); i++) {
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
        MlirValue extent =
            as_index(&c->b, dimensions < 0 ? of : tiles_along(&c->b, of, i, tile[i] * cluster[i]));
        if (mlirValueIsNull(extent)) return none;
        if (dimensions < 0) extent = clusters_of(&c->b, extent, cluster[i]);
        if (!resident) assert_single(c, program, i, cluster[i], extent);
        blocks = i ? cute_binary(&c->b, "arith.muli", blocks, extent) : extent;
    }
    return blocks;
}

/* As many clusters as are resident at once, one block on a multiprocessor, and at most one for each tile of them unless clusters split tiles:
 * in blocks. */
static MlirValue resident_blocks(const cute_builder *b, MlirValue tiles, int64_t cluster, bool splits)
{
    MlirType i32 = mlirIntegerTypeGet(b->context, 32), index = mlirIndexTypeGet(b->context);
    MlirValue units = cute_build_value(b, "cute_nvgpu.host.sm_count", i32, CUTE_NO_OPERANDS, CUTE_NO_NAMED);
    MlirValue most = as_index(b, units), size = cute_integer(b, index, cluster);
    if (cluster > 1) {
        most = cute_binary(b, "arith.divui", most, size);
        most = cute_binary(b, "arith.maxui", most,
                           cute_integer(b, index, 1)); /* a launch tells whether it fits */
    }
    MlirValue clusters = cute_binary(b, "arith.minui", tiles, most);
    if (splits) {
        MlirValue none = cute_compare(b, CUTE_IS_EQ, tiles, cute_integer(b, index, 0));
        clusters = cute_select(b, none, tiles, most);
    }
    return cluster > 1 ? cute_binary(b, "arith.muli", clusters, size) : clusters;
}

static void name_arguments(MlirOperation kernel, MlirOperation host, intptr_t count)
{
    enum { MOST = 128 };
    const MlirStringRef name = cute_text("arg_attrs");
    MlirAttribute attributes = mlirOperationGetAttributeByName(kernel, name), own[MOST];
    if (mlirAttributeIsNull(attributes)) return;
    for (intptr_t i = 0; i < count; i++) own[i] = mlirArrayAttrGetElement(attributes, i);
    mlirOperationSetAttributeByName(host, name,
                                    mlirArrayAttrGet(mlirOperationGetContext(kernel), count, own));
}

/* Memory of the launch for `blocks` blocks: a kernel's argument of two modes, elements of a block and blocks. Flags begin as 0. */
static MlirValue make_temporary(copying *c, MlirType type, MlirValue blocks, bool flags)
{
    const cute_value *memory = cute_type_peek(type);
    MlirContext context = c->b.context;
    char text[96];
    long long elements = (long long)memory->layout.shape->items[0]->value.value;
    snprintf(text, sizeof text, "!cute.layout<\"(%lld,?):(1,%lld)\">", elements, elements);
    MlirValue some =
                  cute_binary(&c->b, "arith.maxsi", blocks, cute_integer(&c->b, mlirValueGetType(blocks), 1)),
              size = as_i32(&c->b, some), layout, shape;
    snprintf(text, sizeof text, "!cute.shape<\"(%lld,?)\">", elements);
    shape = cute_build_value(&c->b, "cute.make_shape", mlirTypeParseGet(context, cute_text(text)),
                             CUTE_OPERANDS(size), CUTE_NO_NAMED);
    layout = emit(&c->b, "cute.make_layout", CUTE_OPERANDS(shape), CUTE_NO_NAMED);
    if (mlirValueIsNull(layout)) return layout;
    MlirNamedAttribute zero = cute_attribute(context, "init", cute_string_attribute(context, "zero"));
    return cute_build_value(&c->b, "cute.temporary", type, CUTE_OPERANDS(layout),
                            flags ? CUTE_NAMED(zero) : CUTE_NO_NAMED);
}

static bool make_host(MlirOperation top, MlirOperation module, MlirOperation kernel, MlirOperation program)
{
    MlirContext context = mlirOperationGetContext(top);
    MlirLocation location = mlirOperationGetLocation(kernel);
    MlirBlock from = mlirRegionGetFirstBlock(mlirOperationGetRegion(kernel, 0));
    intptr_t all = mlirBlockGetNumArguments(from),
             count = all - (intptr_t)cute_tile_number(kernel, TILE_TEMPORARIES, 0);
    enum { MOST = 128 };
    MlirType types[MOST];
    MlirLocation places[MOST];
    MlirValue operands[MOST + 16];
    if (count > MOST)
        return cute_emit_error(location, "expected at most 128 arguments of a tile program"), false;
    for (intptr_t i = 0; i < count; i++) {
        types[i] = mlirValueGetType(mlirBlockGetArgument(from, i));
        places[i] = cute_argument_location(mlirBlockGetArgument(from, i));
    }
    MlirRegion body = mlirRegionCreate();
    MlirBlock block = mlirBlockCreate(count, types, places);
    mlirRegionAppendOwnedBlock(body, block);
    MlirStringRef name = cute_op_symbol(kernel);
    MlirType function = mlirFunctionTypeGet(context, count, types, 0, NULL);
    cute_builder at = cute_builder_at_end(mlirRegionGetFirstBlock(mlirOperationGetRegion(top, 0)), location);
    MlirOperation host =
        cute_build_regions(&at, "func.func", CUTE_NO_OPERANDS, CUTE_NO_TYPES,
                           CUTE_NAMED(cute_attribute(context, "sym_name", mlirStringAttrGet(context, name)),
                                      cute_attribute(context, "function_type", mlirTypeAttrGet(function))),
                           &body, 1);
    name_arguments(kernel, host, count);
    copying c = {
        .kernel = from, .host = block, .b = cute_builder_at_end(block, mlirOperationGetLocation(program))};
    MlirType index = mlirIndexTypeGet(context);
    MlirValue blocks = blocks_of(&c, program);
    if (mlirValueIsNull(blocks)) return false;
    int64_t along[CUTE_TILE_RANK], cluster = cluster_of(program, along);
    if (cute_op_is(program, "cute.tile.workers"))
        blocks = resident_blocks(&c.b, blocks, cluster, all > count);
    else if (cluster > 1)
        blocks = cute_binary(&c.b, "arith.muli", blocks, cute_integer(&c.b, index, cluster));
    MlirValue temporaries[2];
    for (intptr_t i = count; i < all && i < count + 2; i++) {
        temporaries[i - count] =
            make_temporary(&c, mlirValueGetType(mlirBlockGetArgument(from, i)), blocks, i > count);
        if (mlirValueIsNull(temporaries[i - count])) return false;
    }
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
    for (int i = 0; i < DIMENSIONS && cluster > 1; i++)
        operands[n++] = cute_integer(&c.b, index, i ? 1 : cluster);
    int64_t bytes = cute_tile_number(kernel, "cute.shared_bytes", 0);
    if (bytes) operands[n++] = cute_build_constant(&c.b, 32, bytes);
    for (intptr_t i = 0; i < count; i++) operands[n++] = mlirBlockGetArgument(block, i);
    for (intptr_t i = count; i < all; i++) operands[n++] = temporaries[i - count];
    int32_t clusters = cluster > 1;
    int32_t segments[] = {0, 1, 1, 1, 1, 1, 1, clusters, clusters, clusters, bytes ? 1 : 0, (int32_t)all, 0};
    MlirAttribute inner = mlirFlatSymbolRefAttrGet(context, name),
                  symbol = mlirSymbolRefAttrGet(context, cute_op_symbol(module), 1, &inner);
    MlirOperation launched =
        cute_build(&c.b, "gpu.launch_func", (cute_operands){operands, n}, CUTE_NO_TYPES,
                   CUTE_NAMED(cute_attribute(context, "kernel", symbol),
                              cute_attribute(context, "operandSegmentSizes",
                                             mlirDenseI32ArrayGet(context, sizeof segments / sizeof *segments,
                                                                  segments))));
    if (cute_op_has(kernel, TILE_PROGRAMMATIC)) {
        mlirOperationSetAttributeByName(launched, cute_text(TILE_PROGRAMMATIC), mlirUnitAttrGet(context));
        mlirOperationRemoveAttributeByName(kernel, cute_text(TILE_PROGRAMMATIC));
    }
    mlirOperationRemoveAttributeByName(kernel, cute_text(TILE_TEMPORARIES));
    cute_build(&c.b, "scf.yield", CUTE_NO_OPERANDS, CUTE_NO_TYPES, CUTE_NO_NAMED);
    cute_build_regions(&after, "scf.if", CUTE_OPERANDS(any), CUTE_NO_TYPES, CUTE_NO_NAMED, regions, 2);
    c.b = after;
    cute_build(&c.b, "func.return", CUTE_NO_OPERANDS, CUTE_NO_TYPES, CUTE_NO_NAMED);
    mlirOperationSetAttributeByName(top, cute_text("gpu.container_module"), mlirUnitAttrGet(context));
    cute_op_walk(host, "cute.tile.count", CUTE_WALK_OUTER_FIRST, lower_count, NULL);
    return true;
}

/* ---- in the kernel ---- */

static MlirValue special(const cute_builder *b, const char *name)
{
    return cute_build_value(b, name, mlirIntegerTypeGet(b->context, 32), CUTE_NO_OPERANDS, CUTE_NO_NAMED);
}

static MlirValue i32_of(const cute_builder *b, int64_t value)
{
    return cute_build_constant(b, 32, value);
}

/* Tiles of clusters along dimension `i` of a grid, whose sizes or tensor are operands from `first` on. */
static MlirValue cluster_tiles(const cute_builder *b, MlirOperation op, intptr_t first, int i,
                               const int64_t *cluster)
{
    int64_t tile[CUTE_TILE_RANK];
    int of_tensor = cute_tile_numbers(mlirOperationGetAttributeByName(op, cute_text("extents")), tile);
    if (of_tensor < 0) return clusters_of(b, as_i32(b, mlirOperationGetOperand(op, first + i)), cluster[i]);
    return as_i32(b, tiles_along(b, mlirOperationGetOperand(op, first), i, tile[i] * cluster[i]));
}

/* The indices of a block along the grid's dimensions, `at`: in, those of its cluster. `rest`: its number in the cluster; *left: that number
 * divided by the blocks of these dimensions. */
static void place_in_cluster(const cute_builder *b, const int64_t *along, int rank, MlirValue rest,
                             MlirValue *at, MlirValue *left)
{
    for (int i = 0; i < rank; i++) {
        if (along[i] < 2) continue;
        MlirValue size = i32_of(b, along[i]), own = cute_binary(b, "arith.remui", rest, size);
        rest = cute_binary(b, "arith.divui", rest, size);
        at[i] = cute_binary(b, "arith.addi", cute_binary(b, "arith.muli", at[i], size), own);
    }
    *left = rest;
}

typedef enum usually { UNKNOWN, FIRST_ROW, POWER_OF_2 } usually;

static void divide_usual(const cute_builder *b, MlirValue number, MlirValue extent, usually is,
                         MlirValue *quotient, MlirValue *remainder)
{
    if (is == FIRST_ROW) {
        *quotient = i32_of(b, 0);
        *remainder = number;
        return;
    }
    MlirValue bits = cute_unary(b, "math.cttz", extent, mlirValueGetType(extent));
    *quotient = cute_binary(b, "arith.shrui", number, bits);
    *remainder = cute_binary(b, "arith.andi", number, cute_binary(b, "arith.subi", extent, i32_of(b, 1)));
}

/* Quotient and remainder of a tile's number. A division takes up to 300 cycles, and the tile's loads wait for its result, so the common case has a
 * branch without one: a number below the extent, or an extent that is a power of two. */
static void divide(const cute_builder *b, MlirValue number, MlirValue extent, usually is, MlirValue *quotient,
                   MlirValue *remainder)
{
    if (is == UNKNOWN) {
        *remainder = cute_binary(b, "arith.remui", number, extent);
        *quotient = cute_binary(b, "arith.divui", number, extent);
        return;
    }
    MlirValue usual;
    if (is == FIRST_ROW) {
        usual = cute_compare(b, CUTE_IS_ULT, number, extent);
    } else {
        MlirValue below = cute_binary(b, "arith.subi", extent, i32_of(b, 1));
        usual = cute_compare(b, CUTE_IS_EQ, cute_binary(b, "arith.andi", extent, below), i32_of(b, 0));
    }
    MlirType i32 = mlirValueGetType(number);
    MlirRegion regions[2];
    for (int r = 0; r < 2; r++) {
        MlirBlock block = mlirBlockCreate(0, NULL, NULL);
        regions[r] = mlirRegionCreate();
        mlirRegionAppendOwnedBlock(regions[r], block);
        cute_builder in = cute_builder_at_end(block, b->location);
        MlirValue q, rest;
        if (r)
            divide(&in, number, extent, UNKNOWN, &q, &rest);
        else
            divide_usual(&in, number, extent, is, &q, &rest);
        cute_build(&in, "scf.yield", CUTE_OPERANDS(q, rest), CUTE_NO_TYPES, CUTE_NO_NAMED);
    }
    MlirOperation op = cute_build_regions(b, "scf.if", CUTE_OPERANDS(usual), CUTE_TYPES(i32, i32),
                                          CUTE_NO_NAMED, regions, 2);
    *quotient = mlirOperationGetResult(op, 0);
    *remainder = mlirOperationGetResult(op, 1);
}

static void lower_program(MlirOperation op)
{
    cute_builder b = cute_builder_before(op);
    int64_t tile[CUTE_TILE_RANK], along[CUTE_TILE_RANK], cluster = cluster_of(op, along);
    int dimensions = cute_tile_numbers(mlirOperationGetAttributeByName(op, cute_text("extents")), tile);
    int results = (int)mlirOperationGetNumResults(op), rank = rank_of(op, 0);
    MlirValue rest = special(&b, "nvvm.read.ptx.sreg.ctaid.x"), at[CUTE_TILE_RANK], in = {NULL};
    if (cluster > 1) {
        in = cute_binary(&b, "arith.remui", rest, i32_of(&b, cluster));
        rest = cute_binary(&b, "arith.divui", rest, i32_of(&b, cluster));
    }
    for (int i = rank - 1; i >= 0; i--) {
        bool used = !mlirOpOperandIsNull(mlirValueGetFirstUse(mlirOperationGetResult(op, i)));
        at[i] = rest;
        if (i && (used || dimensions < 0)) {
            MlirValue extent = cluster_tiles(&b, op, 0, i, along);
            divide(&b, rest, extent, i == rank - 1 ? POWER_OF_2 : FIRST_ROW, &rest, &at[i]);
        }
    }
    if (cluster > 1) place_in_cluster(&b, along, rank, in, at, &at[rank]);
    for (int i = 0; i < results; i++) mlirValueReplaceAllUsesOfWith(mlirOperationGetResult(op, i), at[i]);
    mlirOperationDestroy(op);
}

static void lower_workers(MlirOperation op, void *context)
{
    (void)context;
    cute_builder b = cute_builder_before(op);
    int64_t along[CUTE_TILE_RANK], cluster = cluster_of(op, along);
    MlirValue first = special(&b, "nvvm.read.ptx.sreg.ctaid.x"),
              step = special(&b, "nvvm.read.ptx.sreg.nctaid.x"), count = {NULL};
    if (cluster > 1) {
        first = cute_binary(&b, "arith.divui", first, i32_of(&b, cluster));
        step = cute_binary(&b, "arith.divui", step, i32_of(&b, cluster));
    }
    for (int i = 0; i < rank_of(op, 0); i++) {
        MlirValue tiles = cluster_tiles(&b, op, 0, i, along);
        count = i ? cute_binary(&b, "arith.muli", count, tiles) : tiles;
    }
    mlirValueReplaceAllUsesOfWith(mlirOperationGetResult(op, 0), first);
    mlirValueReplaceAllUsesOfWith(mlirOperationGetResult(op, 1), count);
    mlirValueReplaceAllUsesOfWith(mlirOperationGetResult(op, 2), step);
    mlirOperationDestroy(op);
}

/* The indices along the last two dimensions of tile `t`: `order` along the first before the next along the second. */
static void raster(const cute_builder *b, MlirValue t, MlirValue rows, MlirValue columns, int64_t order,
                   MlirValue *row, MlirValue *column)
{
    if (order == 1) {
        divide(b, t, columns, POWER_OF_2, row, column);
        return;
    }
    MlirValue group = i32_of(b, order), many = cute_binary(b, "arith.muli", group, columns), g, r, in;
    divide(b, t, many, FIRST_ROW, &g, &r);
    MlirValue from = cute_binary(b, "arith.muli", g, group), left = cute_binary(b, "arith.subi", rows, from),
              high = cute_binary(b, "arith.minui", left, group);
    divide(b, r, high, POWER_OF_2, column, &in);
    *row = cute_binary(b, "arith.addi", from, in);
}

static void lower_place(MlirOperation op, void *context)
{
    (void)context;
    cute_builder b = cute_builder_before(op);
    int64_t along[CUTE_TILE_RANK], cluster = cluster_of(op, along), order = cute_tile_number(op, "order", 1);
    int rank = rank_of(op, 1);
    MlirValue t = mlirOperationGetOperand(op, 0), at[CUTE_TILE_RANK], tiles[CUTE_TILE_RANK];
    for (int i = 0; i < rank; i++) tiles[i] = cluster_tiles(&b, op, 1, i, along);
    if (rank == 1) at[0] = t;
    if (rank > 1) {
        MlirValue rows = tiles[rank - 2], columns = tiles[rank - 1], plane = {NULL}, in = t;
        if (rank > 2) {
            plane = cute_binary(&b, "arith.muli", rows, columns);
            divide(&b, t, plane, FIRST_ROW, &t, &in);
        }
        raster(&b, in, rows, columns, order, &at[rank - 2], &at[rank - 1]);
        for (int i = rank - 3; i >= 0; i--) {
            at[i] = i ? cute_binary(&b, "arith.remui", t, tiles[i]) : t;
            if (i) t = cute_binary(&b, "arith.divui", t, tiles[i]);
        }
    }
    MlirValue rest = cluster > 1 ? cute_binary(&b, "arith.remui", special(&b, "nvvm.read.ptx.sreg.ctaid.x"),
                                               i32_of(&b, cluster))
                                 : (MlirValue){NULL};
    if (cluster > 1) place_in_cluster(&b, along, rank, rest, at, &rest);
    for (int i = 0; i < rank; i++) mlirValueReplaceAllUsesOfWith(mlirOperationGetResult(op, i), at[i]);
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

/* The function of that name on the host; null if there is none. */
static MlirOperation find_host(MlirOperation top, MlirStringRef name)
{
    MlirBlock block = mlirRegionGetFirstBlock(mlirOperationGetRegion(top, 0));
    for (MlirOperation op = mlirBlockGetFirstOperation(block); !mlirOperationIsNull(op);
         op = mlirOperationGetNextInBlock(op))
        if (mlirStringRefEqual(cute_op_symbol(op), name)) return op;
    return (MlirOperation){NULL};
}

/* Whether it has no body, which is to be made. */
static bool is_declared(MlirOperation host)
{
    return cute_op_is(host, "func.func") &&
           mlirBlockIsNull(mlirRegionGetFirstBlock(mlirOperationGetRegion(host, 0)));
}

bool tile_is_declared_on_host(MlirOperation kernel)
{
    MlirOperation top = kernel, host;
    while (!mlirOperationIsNull(mlirOperationGetParentOperation(top)))
        top = mlirOperationGetParentOperation(top);
    host = find_host(top, cute_op_symbol(kernel));
    return !mlirOperationIsNull(host) && is_declared(host);
}

static MlirType function_type(MlirOperation op)
{
    return mlirTypeAttrGetValue(mlirOperationGetAttributeByName(op, cute_text("function_type")));
}

/* Makes the host function of a kernel, or the body of its declaration. False after an error. */
static bool derive_host(programs *p, MlirOperation kernel)
{
    MlirOperation host = find_host(p->top, cute_op_symbol(kernel));
    if (!mlirOperationIsNull(host)) {
        if (!is_declared(host)) return true;
        if (!mlirTypeEqual(function_type(host), function_type(kernel)))
            return cute_emit_error(mlirOperationGetLocation(host),
                                   "expected a declaration with the arguments of the kernel of this name, or "
                                   "a function with a body"),
                   false;
    }
    MlirAttribute visibility = {NULL};
    if (!mlirOperationIsNull(host)) {
        visibility = mlirOperationGetAttributeByName(host, cute_text("sym_visibility"));
        mlirOperationDestroy(host);
    }
    if (!make_host(p->top, mlirOperationGetParentOperation(kernel), kernel, p->op)) return false;
    if (!mlirAttributeIsNull(visibility))
        mlirOperationSetAttributeByName(find_host(p->top, cute_op_symbol(kernel)),
                                        cute_text("sym_visibility"), visibility);
    return true;
}

static void visit_kernel(MlirOperation kernel, void *context)
{
    programs *p = context;
    if (p->failed || !cute_op_has(kernel, "gpu.kernel")) return;
    p->count = 0;
    cute_op_walk(kernel, "cute.tile.program", CUTE_WALK_OUTER_FIRST, note_program, p);
    cute_op_walk(kernel, "cute.tile.workers", CUTE_WALK_OUTER_FIRST, note_program, p);
    if (p->count == 1) {
        p->failed = !derive_host(p, kernel);
        if (!p->failed && cute_op_is(p->op, "cute.tile.workers")) {
            cute_op_walk(kernel, "cute.tile.pieces", CUTE_WALK_OUTER_FIRST, tile_lower_pieces, NULL);
            cute_op_walk(kernel, "cute.tile.piece", CUTE_WALK_OUTER_FIRST, tile_lower_piece, NULL);
            cute_op_walk(kernel, "cute.tile.place", CUTE_WALK_OUTER_FIRST, lower_place, NULL);
            lower_workers(p->op, NULL);
        } else if (!p->failed) {
            lower_program(p->op);
        }
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
    cute_pass_end(pass, p.failed, p.changed);
}

const cute_pass cute_pass_tile_launch = {
    .name = "cute-tile-launch",
    .help = "Derive the launch of a tile program from its logical grid",
    .anchor = "builtin.module",
    .dialects = CUTE_DIALECT_CUTE | CUTE_DIALECT_ARITH | CUTE_DIALECT_CF | CUTE_DIALECT_FUNC |
                CUTE_DIALECT_GPU | CUTE_DIALECT_MATH | CUTE_DIALECT_NVVM | CUTE_DIALECT_SCF,
    .run = run_tile_launch,
};
