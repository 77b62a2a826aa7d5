/* cute-tile-cluster: clusters of blocks that are not resident. They share loads, and divide the k of a tile (split-k in a cluster).
 *
 * Requires: cute-tile-schedule; a kernel whose schedule has a cluster, split=S or slices, which are blocks until cute-tile-slices, and is not persistent, with one cute.tile.program of a tensor
 * and extents at its top level. Ensures: cute.tile.program states the cluster, as that of a program with cute.tile.cluster_reduce does from the start. With split=S the S blocks of a tile multiply every S-th
 * iteration each, and one S-th of the summed tile becomes that of each block (cute.tile.reduce_scatter), with what follows the loop.
 *
 * The loop with products is the only one, at the top level, and carries one tile: a sum that begins with 0 and to which each iteration
 * adds. What follows it is elementwise, with loads, and ends in stores. The dimension of the tile in which elements are not adjacent in
 * memory is divided, so that stores stay wide. Other kernels stay as they are, with a remark.
 *
 *     %m, %n = cute.tile.program(%c) {extents = array<i32: 64, 64>} ...
 *     %sum = scf.for %k = %c0 to %steps step %c1 iter_args(%acc = %zero) -> (tensor<64x64xf32>) { PRODUCT }
 *     %h = arith.truncf %sum : tensor<64x64xf32> to tensor<64x64xf16>
 *     cute.tile.store(%h, %c, (%m, %n))
 * ->
 *     %m, %n, %share = cute.tile.program(%c) {extents = array<i32: 64, 64>, in_cluster = array<i32: 1, 1, 4>} ...
 *     %part = scf.for %k = %share to %steps step %c4 iter_args(%acc = %zero) -> (tensor<64x64xf32>) { PRODUCT }
 *     %sum = cute.tile.reduce_scatter(%part, %share) {mode = 0 : i32} : (tensor<64x64xf32>, i32) -> tensor<16x64xf32>
 *     %h = arith.truncf %sum : tensor<16x64xf32> to tensor<16x64xf16>
 *     cute.tile.store(%h, %c, (4 * %m + %share, %n))
 */
#include <mlir-c/BuiltinAttributes.h>
#include <mlir-c/BuiltinTypes.h>

#include "lib/base/buffer.h"
#include "lib/ir/dialects/types.h"
#include "lib/ir/mlir/arith.h"
#include "lib/ir/mlir/util.h"
#include "lib/passes/passes.h"
#include "lib/passes/tiles/describe_schedule.h"
#include "lib/passes/tiles/schedule.h"

typedef struct work {
    cute_pass_run *pass;
    bool changed;
} work;

typedef struct divided {
    MlirOperation program, loop;
    MlirBlock entry;
    int64_t blocks; /* that divide k */
    int back;       /* the divided dimension of the tile, from its last one */
    int64_t extent; /* of the tile there */
    MlirValue share;
} divided;

/* ---- the loop ---- */

static const char *find_loop(divided *d)
{
    tile_product_loop l = tile_find_product_loop(mlirBlockGetParentOperation(d->entry), d->entry);
    d->loop = l.loop;
    if (l.several) return "it has several loops with products";
    if (l.elsewhere) return "it has products outside of one loop at the top level";
    if (mlirOperationIsNull(l.loop)) return "it has no loop with products";
    if (!l.only_loads) return "it does more than load in front of its loop with products";
    if (tile_places_of_bounds(l.loop)) return "the number of iterations depends on the tile";
    return tile_why_not_sum(l.loop);
}

/* ---- operations after the loop, on a part of the tile ---- */

/* The dimension of a tile that is divided; -1: it has one element there, or the tile has no such dimension. */
static int dimension_of(const divided *d, const cute_tile_shape *shape)
{
    int at = shape->rank - 1 - d->back;
    return at >= 0 && shape->extent[at] > 1 ? at : -1;
}

/* Whether the extents of a tile along the divided dimension are 1 or the whole tile's. */
static bool divides(const divided *d, MlirValue tile)
{
    cute_tile_shape shape;
    if (!cute_tile_shape_of(mlirValueGetType(tile), &shape)) return false;
    int at = dimension_of(d, &shape);
    return at < 0 || shape.extent[at] == d->extent;
}

/* A reshape that adds or drops leading dimensions of one element. */
static bool keeps_last_two(MlirOperation reshape)
{
    cute_tile_shape from, to;
    if (!cute_tile_shape_of(mlirValueGetType(mlirOperationGetOperand(reshape, 0)), &from) ||
        !cute_tile_shape_of(mlirValueGetType(mlirOperationGetResult(reshape, 0)), &to) || from.rank < 2 ||
        to.rank < 2)
        return false;
    for (int i = 1; i <= 2; i++)
        if (from.extent[from.rank - i] != to.extent[to.rank - i]) return false;
    return true;
}

/* A coordinate of integers of 32 bits, or numbers. */
static bool is_coord(MlirValue coord)
{
    MlirOperation op = cute_defining_op(coord);
    if (mlirOperationIsNull(op) || (!cute_op_is(op, "cute.make_coord") && !cute_op_is(op, "cute.static")))
        return false;
    for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); i++) {
        MlirType type = mlirValueGetType(mlirOperationGetOperand(op, i));
        if (!mlirTypeIsAInteger(type) || mlirIntegerTypeGetWidth(type) != 32) return false;
    }
    const cute_tree *tree = cute_type_peek(mlirValueGetType(coord))->tree;
    for (uint32_t i = 0; tree->kind == CUTE_TREE_TUPLE && i < tree->count; i++)
        if (tree->items[i]->kind == CUTE_TREE_TUPLE) return false;
    return true;
}

static const char *why_not_behind(const divided *d, MlirOperation op)
{
    static const char other[] = "an operation on its sums is neither elementwise, nor a load or store";
    if (!tile_has_tiles(op)) return cute_op_is_effect_free(op) ? NULL : "it does more than store its sums";
    bool load = cute_op_is(op, "cute.tile.load"), store = cute_op_is(op, "cute.tile.store");
    if (mlirOperationGetNumRegions(op)) return "a branch or loop uses its sums";
    if (!tile_is_elementwise(op) && !load && !store && !cute_op_is(op, "cute.tile.broadcast") &&
        !cute_op_is(op, "cute.tile.iota") && !(cute_op_is(op, "cute.tile.reshape") && keeps_last_two(op)))
        return other;
    for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); i++) {
        MlirValue value = mlirOperationGetOperand(op, i);
        if (!tile_is_tile(value)) continue;
        MlirOperation from = cute_defining_op(value);
        bool behind = mlirOperationEqual(from, d->loop);
        for (MlirOperation at = mlirOperationGetNextInBlock(d->loop); !behind && !mlirOperationEqual(at, op);
             at = mlirOperationGetNextInBlock(at))
            behind = mlirOperationEqual(at, from);
        if (!behind && mlirAttributeIsNull(cute_constant_splat(value)))
            return "a tile from in front of its loop is combined with its sums";
        if (!divides(d, value)) return other;
    }
    if (mlirOperationGetNumResults(op) > 1) return other;
    if (mlirOperationGetNumResults(op) && !divides(d, mlirOperationGetResult(op, 0))) return other;
    if ((load || store) && !is_coord(mlirOperationGetOperand(op, store ? 2 : 1)))
        return "the coordinate of a load or store is computed";
    cute_tile_shape shape;
    if (store && (!cute_tile_shape_of(mlirValueGetType(mlirOperationGetOperand(op, 0)), &shape) ||
                  dimension_of(d, &shape) < 0))
        return "it stores a tile that has no such part";
    return NULL;
}

static const char *why_not_all_behind(const divided *d)
{
    for (MlirOperation op = mlirOperationGetNextInBlock(d->loop);
         !mlirOperationEqual(op, mlirBlockGetTerminator(d->entry)); op = mlirOperationGetNextInBlock(op)) {
        const char *why = why_not_behind(d, op);
        if (why) return why;
    }
    return NULL;
}

/* The dimension to divide: not that whose elements are adjacent in the tensor that is stored, if the other one can be divided into parts of at least
 * as many rows as lanes of a warp have next to each other: of smaller ones each warp has several. */
static const char *choose_dimension(divided *d)
{
    enum { LEAST_ROWS = 8 };
    cute_tile_shape shape, stored;
    int contiguous = -1, first = 1;
    cute_tile_shape_of(mlirValueGetType(mlirOperationGetResult(d->loop, 0)), &shape);
    for (MlirOperation op = mlirOperationGetNextInBlock(d->loop); !mlirOperationIsNull(op);
         op = mlirOperationGetNextInBlock(op)) {
        if (!cute_op_is(op, "cute.tile.store")) continue;
        cute_tile_shape_of(mlirValueGetType(mlirOperationGetOperand(op, 0)), &stored);
        tile_access_width(cute_type_peek(mlirValueGetType(mlirOperationGetOperand(op, 1))), &stored,
                          &contiguous);
        if (contiguous >= 0 && contiguous == stored.rank - 2) first = 0;
    }
    if (shape.extent[1 - first] / d->blocks < LEAST_ROWS && shape.extent[first] / d->blocks >= LEAST_ROWS)
        first = 1 - first;
    const char *why = NULL;
    for (int i = 0; i < 2; i++) {
        d->back = i ? 1 - first : first;
        d->extent = shape.extent[1 - d->back];
        if (d->extent % d->blocks || d->extent == 1) {
            if (!why) why = "neither dimension of its tile is a multiple of the blocks";
            continue;
        }
        why = why_not_all_behind(d);
        if (!why) return NULL;
    }
    return why;
}

/* ---- the rewrite ---- */

static MlirType part_type(const divided *d, MlirType type)
{
    cute_tile_shape shape;
    if (!cute_tile_shape_of(type, &shape)) return type;
    int at = dimension_of(d, &shape);
    if (at < 0) return type;
    shape.extent[at] /= d->blocks;
    return cute_tile_type(&shape, cute_tile_element(type), (MlirAttribute){NULL});
}

/* `index` counts whole tiles, the result parts of them. */
static MlirValue part_index(const cute_builder *b, const divided *d, MlirValue index)
{
    MlirValue all = cute_binary(b, "arith.muli", index, cute_build_constant(b, 32, d->blocks));
    return cute_binary(b, "arith.addi", all, d->share);
}

/* The coordinate of the part, where that of the tile is `coord`; `at`: the divided mode. */
static MlirValue part_coord(const cute_builder *b, const divided *d, MlirValue coord, int at)
{
    MlirOperation from = cute_defining_op(coord);
    const cute_tree *tree = cute_type_peek(mlirValueGetType(coord))->tree;
    bool tuple = tree->kind == CUTE_TREE_TUPLE;
    int rank = tuple ? (int)tree->count : 1;
    MlirValue operands[CUTE_TILE_RANK];
    intptr_t read = 0, count = 0;
    cute_arena *arena = cute_arena_create();
    cute_buffer text = {0};
    cute_buffer_printf(&text, "!cute.coord<\"%s", tuple ? "(" : "");
    for (int i = 0; i < rank && arena; i++) {
        const cute_tree *leaf = tuple ? tree->items[i] : tree;
        bool known = leaf->value.known;
        cute_buffer_printf(&text, "%s%s", i ? "," : "", i == at ? "?" : cute_tree_text(arena, leaf));
        MlirValue index = {NULL};
        if (!known) index = mlirOperationGetOperand(from, read++);
        if (i == at && known) index = cute_build_constant(b, 32, leaf->value.value);
        if (i == at) index = part_index(b, d, index);
        if (!mlirValueIsNull(index)) operands[count++] = index;
    }
    cute_buffer_printf(&text, "%s\">", tuple ? ")" : "");
    MlirType type = mlirTypeParseGet(b->context, cute_text(cute_buffer_text(&text)));
    cute_buffer_release(&text);
    cute_arena_destroy(arena);
    return cute_build_value(b, "cute.make_coord", type, (cute_operands){operands, count}, CUTE_NO_NAMED);
}

static void set_extents(MlirOperation op, MlirType type)
{
    cute_tile_shape shape;
    int32_t extents[CUTE_TILE_RANK];
    if (!cute_op_has(op, "extents") || !cute_tile_shape_of(type, &shape)) return;
    for (int i = 0; i < shape.rank; i++) extents[i] = (int32_t)shape.extent[i];
    mlirOperationSetAttributeByName(op, cute_text("extents"),
                                    mlirDenseI32ArrayGet(mlirOperationGetContext(op), shape.rank, extents));
}

/* Constants of the tile's shape have other users. */
static void take_part_of_constants(const divided *d, MlirOperation op)
{
    for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); i++) {
        MlirValue value = mlirOperationGetOperand(op, i);
        MlirType type = mlirValueGetType(value), part = part_type(d, type);
        MlirAttribute element = cute_constant_splat(value);
        if (!tile_is_tile(value) || mlirAttributeIsNull(element) || mlirTypeEqual(type, part)) continue;
        cute_builder b = cute_builder_before(op);
        MlirNamedAttribute splat =
            cute_attribute(b.context, "value", mlirDenseElementsAttrSplatGet(part, element));
        mlirOperationSetOperand(
            op, i, cute_build_value(&b, "arith.constant", part, CUTE_NO_OPERANDS, CUTE_NAMED(splat)));
    }
}

/* An iota along the divided dimension, from where the part begins. */
static void start_at_part(const divided *d, MlirOperation iota)
{
    cute_builder b = cute_builder_before(iota);
    cute_tile_shape shape;
    MlirValue old = mlirOperationGetResult(iota, 0);
    cute_tile_shape_of(mlirValueGetType(old), &shape);
    if (cute_tile_number(iota, "mode", 0) != dimension_of(d, &shape)) return;
    MlirValue start =
        cute_binary(&b, "arith.muli", d->share, cute_build_constant(&b, 32, d->extent / d->blocks));
    if (mlirOperationGetNumOperands(iota)) {
        start = cute_binary(&b, "arith.addi", start, mlirOperationGetOperand(iota, 0));
        mlirOperationSetOperand(iota, 0, start);
        return;
    }
    MlirType part = part_type(d, mlirValueGetType(old));
    MlirAttribute mode = mlirOperationGetAttributeByName(iota, cute_text("mode")),
                  extents = mlirOperationGetAttributeByName(iota, cute_text("extents"));
    MlirValue made = cute_build_value(
        &b, "cute.tile.iota", part, CUTE_OPERANDS(start),
        CUTE_NAMED(cute_attribute(b.context, "extents", extents), cute_attribute(b.context, "mode", mode)));
    set_extents(cute_defining_op(made), part);
    mlirValueReplaceAllUsesOfWith(old, made);
}

/* The coordinate of a load or store: that of the part. Its tile is still whole. */
static void move_to_part(const divided *d, MlirOperation op)
{
    cute_builder b = cute_builder_before(op);
    bool store = cute_op_is(op, "cute.tile.store");
    cute_tile_shape shape;
    MlirValue tile = store ? mlirOperationGetOperand(op, 0) : mlirOperationGetResult(op, 0);
    cute_tile_shape_of(mlirValueGetType(tile), &shape);
    int at = shape.rank - 1 - d->back;
    if (at < 0 || (!store && shape.extent[at] == 1)) return;
    intptr_t operand = store ? 2 : 1;
    MlirValue coord = mlirOperationGetOperand(op, operand);
    const cute_tree *tree = cute_type_peek(mlirValueGetType(coord))->tree;
    int rank = tree->kind == CUTE_TREE_TUPLE ? (int)tree->count : 1;
    mlirOperationSetOperand(op, operand, part_coord(&b, d, coord, rank - 1 - d->back));
}

static void take_part(const divided *d, MlirOperation op)
{
    if (!tile_has_tiles(op)) return;
    if (cute_op_is(op, "cute.tile.load") || cute_op_is(op, "cute.tile.store")) move_to_part(d, op);
    if (cute_op_is(op, "cute.tile.iota")) start_at_part(d, op);
    if (cute_op_is(op, "arith.constant")) return; /* where it is used */
    take_part_of_constants(d, op);
    if (!mlirOperationGetNumResults(op)) return;
    MlirValue result = mlirOperationGetResult(op, 0);
    MlirType part = part_type(d, mlirValueGetType(result));
    set_extents(op, part);
    mlirValueSetType(result, part);
}

/* Block `share` has the iterations of the numbers share, share + blocks, ... */
static void divide_loop(const divided *d)
{
    cute_builder b = cute_builder_before(d->loop);
    MlirValue low = mlirOperationGetOperand(d->loop, 0), step = mlirOperationGetOperand(d->loop, 2),
              share = d->share;
    MlirType type = mlirValueGetType(low), i32 = mlirIntegerTypeGet(b.context, 32);
    if (!mlirTypeEqual(type, i32))
        share = cute_unary(&b, mlirTypeIsAIndex(type) ? "arith.index_cast" : "arith.extsi", share, type);
    MlirValue skipped = cute_binary(&b, "arith.muli", share, step);
    mlirOperationSetOperand(d->loop, 0, cute_binary(&b, "arith.addi", low, skipped));
    mlirOperationSetOperand(d->loop, 2,
                            cute_binary(&b, "arith.muli", step, cute_integer(&b, type, d->blocks)));
}

static void divide(divided *d)
{
    MlirOperation end = mlirBlockGetTerminator(d->entry);
    MlirValue part = mlirOperationGetResult(d->loop, 0);
    MlirType type = mlirValueGetType(part);
    divide_loop(d);
    cute_builder b = cute_builder_before(mlirOperationGetNextInBlock(d->loop));
    b.location = mlirOperationGetLocation(d->loop);
    MlirNamedAttribute mode =
        cute_attribute(b.context, "mode", mlirIntegerAttrGet(mlirIntegerTypeGet(b.context, 32), 1 - d->back));
    MlirValue own = cute_build_value(&b, "cute.tile.reduce_scatter", part_type(d, type),
                                     CUTE_OPERANDS(part, d->share), CUTE_NAMED(mode));
    MlirOperation scatter = cute_defining_op(own);
    mlirValueReplaceAllUsesOfWith(part, own);
    mlirOperationSetOperand(scatter, 0, part);
    for (MlirOperation op = mlirOperationGetNextInBlock(scatter), next; !mlirOperationEqual(op, end);
         op = next) {
        next = mlirOperationGetNextInBlock(op);
        take_part(d, op);
    }
}

/* ---- the grid ---- */

/* cute.tile.program with a cluster; its results take the place of the old ones. */
static MlirOperation make_cluster(MlirOperation function, MlirOperation program, const tile_schedule *s)
{
    enum { MOST = 4 };
    cute_builder b = cute_builder_before(program);
    int shares = tile_schedule_shares(s);
    intptr_t rank = mlirOperationGetNumResults(program), count = rank + (shares > 1);
    int32_t blocks[MOST] = {1, 1, 1, 1}, all[3] = {s->cluster[0] * s->cluster[1] * shares, 1, 1};
    MlirType i32 = mlirIntegerTypeGet(b.context, 32), types[MOST] = {i32, i32, i32, i32};
    if (rank > 1) blocks[rank - 2] = s->cluster[0];
    blocks[rank - 1] = s->cluster[1];
    if (count > rank) blocks[rank] = shares;
    MlirAttribute extents = mlirOperationGetAttributeByName(program, cute_text("extents"));
    MlirOperation made =
        cute_build(&b, "cute.tile.program", CUTE_OPERANDS(mlirOperationGetOperand(program, 0)),
                   (cute_types){types, count},
                   CUTE_NAMED(cute_attribute(b.context, "extents", extents),
                              cute_attribute(b.context, TILE_IN_CLUSTER,
                                             mlirDenseI32ArrayGet(b.context, count, blocks))));
    for (intptr_t i = 0; i < rank; i++)
        mlirValueReplaceAllUsesOfWith(mlirOperationGetResult(program, i), mlirOperationGetResult(made, i));
    mlirOperationDestroy(program);
    mlirOperationSetAttributeByName(function, cute_text("nvvm.cluster_dim"),
                                    mlirDenseI32ArrayGet(b.context, 3, all));
    return made;
}

/* The cluster of a program that states it (cute-tile-schedule has checked it). False: the function has it. */
static bool set_stated(MlirOperation function, MlirOperation program)
{
    int64_t along[CUTE_TILE_RANK];
    int count = tile_cluster_of(program, along);
    int32_t all[3] = {1, 1, 1};
    if (cute_op_has(function, "nvvm.cluster_dim")) return false;
    for (int i = 0; i < count; i++) all[0] *= (int32_t)along[i];
    mlirOperationSetAttributeByName(function, cute_text("nvvm.cluster_dim"),
                                    mlirDenseI32ArrayGet(mlirOperationGetContext(function), 3, all));
    return true;
}

/* ---- the pass ---- */

static void visit_function(MlirOperation function, void *context)
{
    work *w = context;
    tile_schedule s;
    tile_schedule_of(function, &s);
    if (!tile_is_program(function)) return;
    MlirOperation program = tile_find_op(function, "cute.tile.program");
    if (!mlirOperationIsNull(program) && cute_op_has(program, TILE_IN_CLUSTER)) {
        w->changed |= set_stated(function, program);
        return;
    }
    if (s.naive || s.persistent || s.cluster[0] * s.cluster[1] * tile_schedule_shares(&s) < 2) return;
    MlirBlock entry = mlirRegionGetFirstBlock(mlirOperationGetRegion(function, 0));
    if (mlirOperationIsNull(program)) return;
    if (!cute_op_has(program, "extents") || !mlirBlockEqual(mlirOperationGetBlock(program), entry) ||
        !mlirBlockIsNull(mlirBlockGetNextInRegion(entry))) {
        tile_refuse(w->pass, program,
                    "no clusters: expected cute.tile.program<EXTENTS> of a tensor, at the top level of the "
                    "kernel");
        s.cluster[0] = s.cluster[1] = s.split = s.slices = 1;
        tile_schedule_set(function, &s);
        w->changed = true;
        return;
    }
    divided d = {.program = program, .entry = entry, .blocks = tile_schedule_shares(&s)};
    if (d.blocks > 1) {
        const char *why = find_loop(&d);
        if (!why) why = choose_dimension(&d);
        if (why) {
            tile_refuse(w->pass, mlirOperationIsNull(d.loop) ? function : d.loop,
                        "blocks of a cluster do not divide the k of a tile: %s", why);
            s.split = s.slices = 1;
            d.blocks = 1;
            tile_schedule_set(function, &s);
            w->changed = true;
        }
    }
    if (s.cluster[0] * s.cluster[1] * d.blocks < 2) return;
    d.program = make_cluster(function, program, &s);
    w->changed = true;
    if (d.blocks == 1) return;
    d.share = mlirOperationGetResult(d.program, mlirOperationGetNumResults(d.program) - 1);
    divide(&d);
}

static void run_tile_cluster(MlirOperation root, cute_pass_run *pass)
{
    work w = {.pass = pass};
    cute_op_walk(root, "gpu.func", CUTE_WALK_OUTER_FIRST, visit_function, &w);
    if (!w.changed) cute_pass_unchanged(pass);
}

const cute_pass cute_pass_tile_cluster = {
    .name = "cute-tile-cluster",
    .help = "Clusters of blocks that share the loads and divide the k of tiles",
    .dialects = CUTE_DIALECT_CUTE | CUTE_DIALECT_ARITH | CUTE_DIALECT_SCF,
    .run = run_tile_cluster,
};
