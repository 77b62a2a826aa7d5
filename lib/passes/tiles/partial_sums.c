/* Partial sums of a tile in global memory: a block gives its own, the one that completes the tile collects them.
 *
 * A slot holds a block's values in thread order: each thread reads the values of the same thread of the other block, by accesses of 16
 * bytes. A warp raises its flag after its lanes' writes (release at the scope of the device), and the same warp of the other
 * block waits for it (acquire): no barrier of the block is needed. */
#include <mlir-c/BuiltinAttributes.h>
#include <mlir-c/BuiltinTypes.h>
#include <stdio.h>

#include "lib/ir/dialects/types.h"
#include "lib/ir/mlir/util.h"
#include "lib/passes/tiles/emit.h"

enum { WARP = 32, ACCESS = 128 /* bits */, UNDER_WAY = 16 /* accesses */ };

/* This thread's values of a slot: (of an access, accesses). */
typedef struct slot {
    MlirValue view, flag; /* the latter an llvm.ptr */
    int64_t width, accesses;
} slot;

static MlirValue slice(tile_emitter *e, MlirValue view, const char *coord, cute_operands at)
{
    MlirValue where = at.count
                          ? cute_build_value(&e->b, "cute.make_coord", tile_type(e, coord), at, CUTE_NO_NAMED)
                          : tile_static(e, coord);
    return tile_emit(e, "cute.slice", CUTE_OPERANDS(view, where), CUTE_NO_NAMED);
}

/* The slot of the block of this one's place in `cluster`. */
static bool find_slot(tile_emitter *e, const tile_op *t, MlirValue cluster, slot *out)
{
    char text[128];
    int bits;
    int64_t values = tile_values(&t->in[0]), threads = tile_threads(&t->in[0]);
    tile_element_text(e, cute_type_element(mlirValueGetType(mlirOperationGetOperand(t->op, 0))), &bits);
    out->width = 1;
    while (values % (2 * out->width) == 0 && 2 * out->width * bits <= ACCESS) out->width *= 2;
    out->accesses = values / out->width;
    MlirValue block = cluster;
    if (e->cluster_size > 1)
        block = cute_binary(&e->b, "arith.addi",
                            cute_binary(&e->b, "arith.muli", cluster, tile_i32(e, e->cluster_size)), e->rank);
    MlirValue base =
        tile_emit(e, "cute.get_iter", CUTE_OPERANDS(mlirOperationGetOperand(t->op, 1)), CUTE_NO_NAMED);
    snprintf(text, sizeof text, "!cute.layout<\"(%lld,%lld,%lld,1):(1,%lld,%lld,%lld)\">",
             (long long)out->width, (long long)out->accesses, (long long)threads,
             (long long)(threads * out->width), (long long)out->width, (long long)(threads * values));
    if (e->failed) return false;
    MlirValue all = tile_emit(e, "cute.make_view", CUTE_OPERANDS(base, tile_static(e, text)), CUTE_NO_NAMED);
    if (e->failed) return false;
    out->view = slice(e, all, "!cute.coord<\"(_,_,?,?)\">", CUTE_OPERANDS(e->thread, block));
    MlirValue flags =
        tile_emit(e, "cute.get_iter", CUTE_OPERANDS(mlirOperationGetOperand(t->op, 2)), CUTE_NO_NAMED);
    MlirValue warp = cute_binary(&e->b, "arith.divui", e->thread, tile_i32(e, WARP)),
              of_block = cute_binary(&e->b, "arith.muli", block, tile_i32(e, threads / WARP));
    MlirValue offset =
        cute_build_value(&e->b, "cute.make_int_tuple", tile_type(e, "!cute.int_tuple<\"?\">"),
                         CUTE_OPERANDS(cute_binary(&e->b, "arith.addi", of_block, warp)), CUTE_NO_NAMED);
    MlirValue at = tile_emit(e, "cute.add_offset", CUTE_OPERANDS(flags, offset), CUTE_NO_NAMED);
    if (e->failed) return false;
    MlirValue address = cute_build_value(&e->b, "cute.ptrtoint", mlirIntegerTypeGet(e->context, 64),
                                         CUTE_OPERANDS(at), CUTE_NO_NAMED);
    out->flag = cute_unary(&e->b, "llvm.inttoptr", address, tile_type(e, "!llvm.ptr<1>"));
    return !e->failed;
}

static MlirValue access_of(tile_emitter *e, const slot *s, int64_t i)
{
    char coord[48];
    snprintf(coord, sizeof coord, "!cute.coord<\"(_,%lld)\">", (long long)i);
    return slice(e, s->view, coord, CUTE_NO_OPERANDS);
}

static MlirValue part_of(tile_emitter *e, MlirValue value, const slot *s, int64_t i)
{
    int32_t map[ACCESS / 8];
    for (int64_t k = 0; k < s->width; k++) map[k] = (int32_t)(i * s->width + k);
    return tile_pick(e, value, map, s->width);
}

/* The attributes of an atomic access of a flag. */
enum { ACQUIRE = 4, RELEASE = 5 };
static cute_named atomic(tile_emitter *e, int ordering, MlirNamedAttribute to[3])
{
    MlirType i64 = mlirIntegerTypeGet(e->context, 64);
    to[0] = cute_attribute(e->context, "alignment", mlirIntegerAttrGet(i64, 4));
    to[1] = cute_attribute(e->context, "ordering", mlirIntegerAttrGet(i64, ordering));
    to[2] = cute_attribute(e->context, "syncscope", cute_string_attribute(e->context, "device"));
    return (cute_named){to, 3};
}

static void sync_warp(tile_emitter *e)
{
    cute_build(&e->b, "cute_nvgpu.arch.warp_sync", CUTE_NO_OPERANDS, CUTE_NO_TYPES, CUTE_NO_NAMED);
}

MlirValue tile_lower_give(tile_emitter *e, const tile_op *t)
{
    const MlirValue none = {NULL};
    MlirNamedAttribute attributes[3];
    MlirValue value = tile_as_stored(e, mlirOperationGetOperand(t->op, 0));
    slot s;
    if (!find_slot(e, t, mlirOperationGetOperand(t->op, 3), &s)) return none;
    for (int64_t i = 0; i < s.accesses && !e->failed; i++) {
        MlirValue part = part_of(e, value, &s, i), to = access_of(e, &s, i);
        if (!e->failed)
            cute_build(&e->b, "cute.memref.store_vec", CUTE_OPERANDS(part, to), CUTE_NO_TYPES, CUTE_NO_NAMED);
    }
    if (e->failed) return none;
    sync_warp(e);
    MlirValue lane = cute_binary(&e->b, "arith.remui", e->thread, tile_i32(e, WARP));
    tile_if first = tile_if_begin(e, cute_compare(&e->b, CUTE_IS_EQ, lane, tile_i32(e, 0)));
    cute_build(&e->b, "llvm.store", CUTE_OPERANDS(tile_i32(e, 1), s.flag), CUTE_NO_TYPES,
               atomic(e, RELEASE, attributes));
    tile_if_end(e, &first);
    return none;
}

/* All lanes look until the flag is raised. */
static void wait_for(tile_emitter *e, MlirValue flag)
{
    MlirNamedAttribute attributes[3];
    MlirRegion regions[2] = {mlirRegionCreate(), mlirRegionCreate()};
    MlirBlock look = mlirBlockCreate(0, NULL, NULL), again = mlirBlockCreate(0, NULL, NULL);
    mlirRegionAppendOwnedBlock(regions[0], look);
    mlirRegionAppendOwnedBlock(regions[1], again);
    cute_builder in = cute_builder_at_end(look, e->b.location);
    MlirValue raised = cute_build_value(&in, "llvm.load", mlirIntegerTypeGet(e->context, 32),
                                        CUTE_OPERANDS(flag), atomic(e, ACQUIRE, attributes));
    MlirValue waits = cute_compare(&in, CUTE_IS_EQ, raised, cute_build_constant(&in, 32, 0));
    cute_build(&in, "scf.condition", CUTE_OPERANDS(waits), CUTE_NO_TYPES, CUTE_NO_NAMED);
    in = cute_builder_at_end(again, e->b.location);
    cute_build(&in, "scf.yield", CUTE_NO_OPERANDS, CUTE_NO_TYPES, CUTE_NO_NAMED);
    cute_build_regions(&e->b, "scf.while", CUTE_NO_OPERANDS, CUTE_NO_TYPES, CUTE_NO_NAMED, regions, 2);
    sync_warp(e);
}

/* Products of the next tile formally read the registers of an accumulator that begins with 0. These have the new sums, so that the sums of
 * this tile take no registers beside them. */
static void keep_in_place(tile_emitter *e, MlirValue collected, MlirValue sum)
{
    MlirOperation loop = mlirValueIsABlockArgument(collected)
                             ? mlirBlockGetParentOperation(mlirBlockArgumentGetOwner(collected))
                             : (MlirOperation){NULL};
    if (mlirOperationIsNull(loop) || !cute_op_is(loop, "scf.for")) return;
    MlirOperation from =
        cute_defining_op(mlirOperationGetOperand(loop, 2 + mlirBlockArgumentGetArgNumber(collected)));
    if (mlirOperationIsNull(from) || !cute_op_is(from, "cute.memref.load_vec")) return;
    MlirValue variable = mlirOperationGetOperand(from, 0);
    for (int i = 0; i < e->accumulator_count; i++)
        if (mlirValueEqual(e->accumulators[i].variable, variable))
            cute_build(&e->b, "cute.memref.store_vec", CUTE_OPERANDS(sum, variable), CUTE_NO_TYPES,
                       CUTE_NO_NAMED);
}

MlirValue tile_lower_collect(tile_emitter *e, const tile_op *t)
{
    const MlirValue none = {NULL};
    MlirValue value = mlirOperationGetOperand(t->op, 0), out = none;
    slot s;
    if (!find_slot(e, t, mlirOperationGetOperand(t->op, 3), &s)) return none;
    wait_for(e, s.flag);
    for (int64_t i = 0; i < s.accesses && !e->failed; i++) {
        if (i && i % UNDER_WAY == 0)
            sync_warp(e); /* loads do not pass it: registers for all would be taken from others */
        MlirValue from = access_of(e, &s, i);
        if (e->failed) return none;
        MlirValue other = tile_emit(e, "cute.memref.load_vec", CUTE_OPERANDS(from), CUTE_NO_NAMED);
        if (e->failed) return none;
        MlirValue sum = tile_combine(e, cute_text("add"), part_of(e, value, &s, i), other);
        out = i ? tile_concat(e, out, sum) : sum;
    }
    if (!e->failed) keep_in_place(e, value, out);
    return out;
}
