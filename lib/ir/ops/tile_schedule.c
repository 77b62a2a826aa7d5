/* Operations of scheduled tile programs: rings, pipes, fetches, roles, workers. */
#include <mlir-c/BuiltinAttributes.h>
#include <mlir-c/BuiltinTypes.h>
#include <string.h>

#include "lib/ir/dialects/types.h"
#include "lib/ir/mlir/util.h"
#include "lib/ir/ops/check.h"
#include "lib/ir/ops/ops.h"
#include "lib/ir/ops/tile.h"

bool cute_tile_ring_shape(const cute_value *ring, cute_tile_shape *tile, int64_t *stages)
{
    if (!ring || ring->type != CUTE_MEMREF || ring->pointer->space != CUTE_SPACE_SMEM || ring->tree ||
        !ring->layout.shape || ring->layout.shape->kind != CUTE_TREE_TUPLE ||
        !cute_tree_is_static(ring->layout.shape) || !cute_tree_is_static(ring->layout.stride))
        return false;
    const cute_tree *shape = ring->layout.shape;
    if (shape->count < 2 || shape->count > CUTE_TILE_RANK) return false;
    tile->rank = (int)shape->count - 1;
    for (uint32_t i = 0; i < shape->count; i++) {
        int64_t size = cute_check_size(shape->items[i]);
        if (size < 1) return false;
        if (i + 1 < shape->count)
            tile->extent[i] = size;
        else
            *stages = size;
    }
    return true;
}

static bool verify_ring(const cute_op_row *row, MlirOperation op)
{
    cute_check c = cute_check_begin(row, op);
    cute_tile_shape tile;
    int64_t stages;
    if (cute_tile_ring_shape(cute_check_result(&c, 0), &tile, &stages)) return true;
    return cute_check_fail(
        &c, "expects a tensor in shared memory with known extents and strides: modes of a tile, then stages");
}

/* The columns of a ring's tiles, spans of a row: their numbers and steps; false where rows are not in spans. */
static bool columns_of(const cute_value *ring, const cute_tree **spans, const cute_tree **steps)
{
    uint32_t at = ring->layout.shape->count - 2;
    *spans = ring->layout.shape->items[at];
    *steps = ring->layout.stride->items[at];
    return (*spans)->kind == CUTE_TREE_TUPLE && (*spans)->count == 2 &&
           (*spans)->items[0]->kind != CUTE_TREE_TUPLE && (*spans)->items[1]->kind != CUTE_TREE_TUPLE;
}

static bool verify_part(const cute_op_row *row, MlirOperation op)
{
    cute_check c = cute_check_begin(row, op);
    cute_tile_shape tile, part;
    const cute_tree *spans, *steps, *own_spans, *own_steps;
    const cute_value *ring = cute_check_operand(&c, 0), *own = cute_check_result(&c, 0);
    int64_t stages, own_stages, count = cute_tile_number(op, "count", 1),
                                index = cute_tile_number(op, "index", 0);
    bool fits = cute_tile_ring_shape(ring, &tile, &stages) && cute_tile_ring_shape(own, &part, &own_stages) &&
                tile.rank == part.rank && stages == own_stages && index < count &&
                columns_of(ring, &spans, &steps) && columns_of(own, &own_spans, &own_steps) &&
                cute_tree_equal(ring->layout.stride, own->layout.stride) &&
                spans->items[1]->value.value == own_spans->items[1]->value.value * count;
    for (int i = 0; fits && i < tile.rank; i++)
        fits = tile.extent[i] == part.extent[i] * (i + 1 == tile.rank ? count : 1);
    if (!fits)
        return cute_check_fail(&c,
                               "expects rings with rows in spans, of the result %lld times fewer of them, "
                               "and 'index' below that",
                               (long long)count);
    return cute_check_element(&c, "a part of", own->pointer->element, ring->pointer->element);
}

static bool verify_pipe(const cute_op_row *row, MlirOperation op)
{
    cute_check c = cute_check_begin(row, op);
    const cute_value *pipe = cute_check_result(&c, 0);
    return cute_check_space(&c, "a result", pipe->pointer, CUTE_SPACE_SMEM) &&
           cute_check_element(&c, "a result of", pipe->pointer->element, "i64");
}

static bool verify_use(const cute_op_row *row, MlirOperation op)
{
    cute_check c = cute_check_begin(row, op);
    const cute_value *pipe = cute_check_operand(&c, 0);
    return cute_check_space(&c, "a pipe", pipe->pointer, CUTE_SPACE_SMEM) &&
           cute_check_element(&c, "a pipe of", pipe->pointer->element, "i64");
}

static bool verify_fetch(const cute_op_row *row, MlirOperation op)
{
    cute_check c = cute_check_begin(row, op);
    const cute_value *tensor = cute_check_operand(&c, 0), *coord = cute_check_operand(&c, 1),
                     *ring = cute_check_operand(&c, 2);
    cute_tile_shape tile;
    int64_t stages;
    if (!cute_tile_ring_shape(ring, &tile, &stages))
        return cute_check_fail(
            &c, "expects a ring in shared memory with known extents: modes of a tile, then stages");
    int rank = tensor->layout.shape->kind == CUTE_TREE_TUPLE ? (int)tensor->layout.shape->count : 1,
        got = coord->tree->kind == CUTE_TREE_TUPLE ? (int)coord->tree->count : 1;
    if (!cute_check_space(&c, "a tensor", tensor->pointer, CUTE_SPACE_GMEM) ||
        !cute_check_element(&c, "a ring of", ring->pointer->element, tensor->pointer->element))
        return false;
    if (rank != tile.rank || got != rank)
        return cute_check_fail(&c,
                               "expects a tile and a coordinate of the tensor's rank, %d, but got %d and %d",
                               rank, tile.rank, got);
    return true;
}

/* Operand `at` is a ring of tiles of type `of`. */
static bool verify_stage(const cute_check *c, intptr_t at, MlirType of, const char *what)
{
    const cute_value *ring = cute_check_operand(c, at);
    cute_tile_shape tile, own;
    int64_t stages;
    if (!cute_tile_ring_shape(ring, &tile, &stages))
        return cute_check_fail(
            c, "expects a ring in shared memory with known extents: modes of a tile, then stages");
    if (!cute_tile_shape_of(of, &own) || !cute_tile_shape_equal(&own, &tile))
        return cute_check_fail(c, "expects a %s of the shape of the ring's tiles", what);
    return cute_check_value(c, "elements", cute_tile_element(of), ring->pointer);
}

static bool verify_take(const cute_op_row *row, MlirOperation op)
{
    cute_check c = cute_check_begin(row, op);
    return verify_stage(&c, 0, mlirValueGetType(mlirOperationGetResult(op, 0)), "result");
}

static bool verify_put(const cute_op_row *row, MlirOperation op)
{
    cute_check c = cute_check_begin(row, op);
    return verify_stage(&c, 1, mlirValueGetType(mlirOperationGetOperand(op, 0)), "tile");
}

static bool verify_settle(const cute_op_row *row, MlirOperation op)
{
    cute_check c = cute_check_begin(row, op);
    if (mlirTypeEqual(mlirValueGetType(mlirOperationGetOperand(op, 0)),
                      mlirValueGetType(mlirOperationGetResult(op, 0))))
        return true;
    return cute_check_fail(&c, "expects a result of the accumulator's type");
}

static bool verify_any(const cute_op_row *row, MlirOperation op)
{
    cute_check c = cute_check_begin(row, op);
    MlirType element = cute_tile_element(mlirValueGetType(mlirOperationGetOperand(op, 0)));
    if (mlirTypeIsAInteger(element) && mlirIntegerTypeGetWidth(element) == 1) return true;
    return cute_check_fail(&c, "expects a tile of i1");
}

static bool verify_cluster(const cute_check *c)
{
    int64_t blocks[CUTE_TILE_RANK], all = 1;
    int count = cute_tile_numbers(mlirOperationGetAttributeByName(c->op, cute_text("cluster")), blocks);
    for (int i = 0; i < count; i++) {
        if (blocks[i] < 1 || blocks[i] > 16)
            return cute_check_fail(c, "expects 1 to 16 blocks of a cluster in each dimension, but got %lld",
                                   (long long)blocks[i]);
        all *= blocks[i];
    }
    if (count < 1 || all > 16)
        return cute_check_fail(c, "expects a cluster of 1 to 16 blocks, but got %lld", (long long)all);
    return true;
}

static bool verify_workers(const cute_op_row *row, MlirOperation op)
{
    cute_check c = cute_check_begin(row, op);
    return verify_cluster(&c);
}

static bool verify_role(const cute_op_row *row, MlirOperation op)
{
    cute_check c = cute_check_begin(row, op);
    int64_t registers = cute_tile_number(op, "registers", 0), warps = cute_tile_number(op, "warps", 1);
    if (warps > 32) return cute_check_fail(&c, "expects 1 to 32 warps, but got %lld", (long long)warps);
    if (registers && (registers < 24 || registers > 240 || registers % 8))
        return cute_check_fail(&c, "expects registers of 24 to 240, a multiple of 8, or 0, but got %lld",
                               (long long)registers);
    int64_t turns = cute_tile_number(op, "turns", 1);
    if (turns > 1 && (warps != 4 || turns > 4))
        return cute_check_fail(&c, "expects 2 to 4 turns of 4 warps, but got %lld of %lld", (long long)turns,
                               (long long)warps);
    return true;
}

/* Slots have a mode of the elements of a block, then one of blocks; flags the same. */
static bool verify_slots(const cute_op_row *row, MlirOperation op)
{
    cute_check c = cute_check_begin(row, op);
    MlirType tile = mlirValueGetType(mlirOperationGetOperand(op, 0));
    for (uint32_t i = 1; i < 3; i++) {
        const cute_value *memory = cute_check_operand(&c, i);
        const cute_tree *shape = memory->layout.shape;
        if (!cute_check_space(&c, i == 1 ? "slots" : "flags", memory->pointer, CUTE_SPACE_GMEM)) return false;
        if (memory->tree || !shape || shape->kind != CUTE_TREE_TUPLE || shape->count != 2 ||
            !cute_tree_is_static(shape->items[0]))
            return cute_check_fail(
                &c, "expects slots and flags with two modes: the elements of a block, then blocks");
    }
    if (mlirOperationGetNumResults(op) &&
        !mlirTypeEqual(tile, mlirValueGetType(mlirOperationGetResult(op, 0))))
        return cute_check_fail(&c, "expects a result of the tile's type");
    return cute_check_value(&c, "elements", cute_tile_element(tile), cute_check_operand(&c, 1)->pointer) &&
           cute_check_element(&c, "flags of", cute_check_operand(&c, 2)->pointer->element, "i32");
}

/* The blocks that divide a tile; 0: `share` is not the index of a block among those. */
static int64_t blocks_of_share(MlirValue share)
{
    MlirOperation program = cute_defining_op(share);
    if (mlirOperationIsNull(program) || !cute_op_is(program, "cute.tile.program")) return 0;
    int64_t blocks[CUTE_TILE_RANK], extents[CUTE_TILE_RANK];
    int count = cute_tile_numbers(mlirOperationGetAttributeByName(program, cute_text("in_cluster")), blocks),
        rank = cute_tile_numbers(mlirOperationGetAttributeByName(program, cute_text("extents")), extents);
    return rank > 0 && count == rank + 1 && mlirOpResultGetResultNumber(share) == rank ? blocks[rank] : 0;
}

/* One dimension is divided, the others are kept. */
static bool verify_reduce_scatter(const cute_op_row *row, MlirOperation op)
{
    cute_check c = cute_check_begin(row, op);
    MlirType from = mlirValueGetType(mlirOperationGetOperand(op, 0)),
             to = mlirValueGetType(mlirOperationGetResult(op, 0));
    cute_tile_shape all, own;
    int64_t mode = cute_tile_number(op, "mode", -1);
    int64_t blocks = blocks_of_share(mlirOperationGetOperand(op, 1));
    if (!blocks)
        return cute_check_fail(
            &c, "expects the index of the block among those that divide the tile: the last result of "
                "cute.tile.program with 'in_cluster'");
    bool fits = cute_tile_shape_of(from, &all) && cute_tile_shape_of(to, &own) && all.rank == own.rank &&
                mode >= 0 && mode < all.rank && mlirTypeEqual(cute_tile_element(from), cute_tile_element(to));
    for (int i = 0; fits && i < all.rank; i++)
        fits = all.extent[i] == own.extent[i] * (i == mode ? blocks : 1);
    if (fits) return true;
    return cute_check_fail(
        &c, "expects a result that is one of %lld parts of the tile along 'mode', of the same elements",
        (long long)blocks);
}

static bool infer_cluster_reduce(const cute_op_row *row, const cute_op_query *query, cute_op_types *out)
{
    (void)row;
    if (query->operand_count) cute_op_types_add(out, mlirValueGetType(query->operands[0]));
    return true;
}

static bool verify_cluster_reduce(const cute_op_row *row, MlirOperation op)
{
    cute_check c = cute_check_begin(row, op);
    MlirType tile = mlirValueGetType(mlirOperationGetOperand(op, 0)), element = cute_tile_element(tile);
    MlirValue index = mlirOperationGetOperand(op, 1);
    MlirOperation program = cute_defining_op(index);
    int64_t blocks[CUTE_TILE_RANK];
    bool integers = mlirTypeIsAInteger(element) && mlirIntegerTypeGetWidth(element) == 32;
    MlirStringRef kind = cute_tile_word(op, "kind");
    bool bits = cute_text_is(kind, "and") || cute_text_is(kind, "or") || cute_text_is(kind, "xor");
    if (!integers && (bits || !mlirTypeIsAF32(element)))
        return cute_check_fail(&c, bits ? "expects a tile of i32" : "expects a tile of f32 or i32");
    if (!mlirTypeEqual(tile, mlirValueGetType(mlirOperationGetResult(op, 0))))
        return cute_check_fail(&c, "expects a result of the tile's type");
    if (!mlirOperationIsNull(program) && cute_op_is(program, "cute.tile.program") &&
        cute_tile_numbers(mlirOperationGetAttributeByName(program, cute_text("in_cluster")), blocks) >
            mlirOpResultGetResultNumber(index))
        return true;
    return cute_check_fail(&c, "expects an index of a grid in clusters: a result of cute.tile.program with "
                               "'in_cluster'");
}

static const cute_op_row rows[] = {
    {.name = "cute.tile.ring", .verify = verify_ring},
    {.name = "cute.tile.part", .verify = verify_part},
    {.name = "cute.tile.pipe", .verify = verify_pipe},
    {.name = "cute.tile.acquire", .verify = verify_use},
    {.name = "cute.tile.await", .verify = verify_use},
    {.name = "cute.tile.drain", .verify = verify_use},
    {.name = "cute.tile.release", .verify = verify_use},
    {.name = "cute.tile.fetch", .verify = verify_fetch},
    {.name = "cute.tile.take", .verify = verify_take},
    {.name = "cute.tile.put", .verify = verify_put},
    {.name = "cute.tile.settle", .verify = verify_settle},
    {.name = "cute.tile.any", .verify = verify_any},
    {.name = "cute.tile.role", .verify = verify_role},
    {.name = "cute.tile.turn"},
    {.name = "cute.tile.begin_turn"},
    {.name = "cute.tile.end_turn"},
    {.name = "cute.tile.workers", .verify = verify_workers},
    {.name = "cute.tile.place", .verify = verify_workers},
    {.name = "cute.tile.pieces"},
    {.name = "cute.tile.piece"},
    {.name = "cute.tile.give", .verify = verify_slots},
    {.name = "cute.tile.collect", .verify = verify_slots},
    {.name = "cute.tile.reduce_scatter", .verify = verify_reduce_scatter},
    {.name = "cute.tile.cluster_reduce", .infer = infer_cluster_reduce, .verify = verify_cluster_reduce},
};
const cute_op_family cute_family_tile_schedule = {rows, sizeof rows / sizeof *rows};
