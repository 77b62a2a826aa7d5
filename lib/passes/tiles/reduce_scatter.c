/* Sums of the blocks of a cluster that divide a tile's k: each block writes its partial sums to its own shared memory, in place of the
 * stages, and reads its part of those of all blocks, its own among them, in the order of the blocks.
 *
 * Two barriers of the cluster are for all threads of the block. Behind the first, all partial sums are written; it is executed with the
 * operation, and by other roles at their end. The second one is that this block's memory has been read: threads arrive behind their reads
 * and wait at the kernel's end, so the epilogue is in between. */
#include <mlir-c/BuiltinAttributes.h>
#include <mlir-c/BuiltinTypes.h>
#include <stdio.h>

#include "lib/ir/dialects/types.h"
#include "lib/ir/mlir/util.h"
#include "lib/passes/tiles/staging.h"

static void note_scatter(MlirOperation op, void *context)
{
    tile_emitter *e = context;
    e->scatters = true;
    e->scatter_role = (int)(tile_role_of(e, op) - e->roles);
    e->scatter_along = (int)mlirOpResultGetResultNumber(mlirOperationGetOperand(op, 1));
}

void tile_find_scatter(tile_emitter *e)
{
    cute_op_walk(e->function, "cute.tile.reduce_scatter", CUTE_WALK_OUTER_FIRST, note_scatter, e);
}

bool tile_shares_stages(const tile_emitter *e)
{
    bool shares = !e->scatters;
    for (int i = 0; i < e->buffer_count; i++) shares |= e->buffers[i].multicast != 0;
    return e->cluster_size > 1 && shares;
}

static void sync(tile_emitter *e, const char *name)
{
    if (!e->failed) cute_build(&e->b, name, CUTE_NO_OPERANDS, CUTE_NO_TYPES, CUTE_NO_NAMED);
}

static void arrive(tile_emitter *e)
{
    sync(e, "cute_nvgpu.arch.cluster_arrive");
}

static void await(tile_emitter *e)
{
    sync(e, "cute_nvgpu.arch.cluster_wait");
}

void tile_join_scatter(tile_emitter *e, const tile_role *role)
{
    if (!e->scatters || role == &e->roles[e->scatter_role]) return;
    arrive(e);
    await(e);
    arrive(e);
}

void tile_end_scatter(tile_emitter *e)
{
    await(e);
    e->roles[e->scatter_role].scratch = e->scatter_scratch;
}

/* Operations behind this one use memory behind its own, which other blocks may still read. */
static void keep_memory(tile_emitter *e, int64_t bytes)
{
    enum { ALIGN = 1024 };
    e->scatter_scratch = e->role->scratch;
    e->role->scratch += (bytes + ALIGN - 1) / ALIGN * ALIGN;
}

/* The rank in the cluster of block `i` of those that divide this block's tile. */
static MlirValue rank_of_block(tile_emitter *e, MlirValue share, int64_t i)
{
    int64_t below = 1;
    for (int k = 0; k < e->scatter_along; k++) below *= e->cluster[k];
    if (below * e->cluster[e->scatter_along] == e->cluster_size && below == 1) return tile_i32(e, i);
    MlirValue own = cute_binary(&e->b, "arith.muli", share, tile_i32(e, below)),
              rest = cute_binary(&e->b, "arith.subi", e->rank, own);
    return cute_binary(&e->b, "arith.addi", rest, tile_i32(e, i * below));
}

/* The address of this block's part in its own memory. */
static MlirValue part_address(tile_emitter *e, MlirValue view, MlirValue share, int64_t distance, int bits)
{
    char text[64];
    int64_t aligned = 1;
    while (distance % (2 * aligned) == 0 && 2 * aligned * bits <= 128) aligned *= 2;
    snprintf(text, sizeof text, "!cute.int_tuple<\"?{div=%lld}\">", (long long)aligned);
    MlirValue by = cute_binary(&e->b, "arith.muli", share, tile_i32(e, distance));
    MlirValue tuple =
        cute_build_value(&e->b, "cute.make_int_tuple", tile_type(e, text), CUTE_OPERANDS(by), CUTE_NO_NAMED);
    MlirValue first = tile_emit(e, "cute.get_iter", CUTE_OPERANDS(view), CUTE_NO_NAMED);
    return tile_emit(e, "cute.add_offset", CUTE_OPERANDS(first, tuple), CUTE_NO_NAMED);
}

MlirValue tile_lower_reduce_scatter(tile_emitter *e, const tile_op *t)
{
    MlirValue value = mlirOperationGetOperand(t->op, 0), share = mlirOperationGetOperand(t->op, 1),
              sum = {NULL};
    MlirType element = cute_type_element(mlirValueGetType(value));
    int bits, mode = (int)cute_tile_number(t->op, "mode", 0);
    const char *text = tile_element_text(e, element, &bits);
    const tile_distribution *from = &t->in[0], *to = &t->out;
    tile_staging s;
    tile_choose_staging(e, from, to, false, bits, &s);
    if (e->failed) return value;
    value = tile_reorder(e, value, from, &s.write.d);
    tile_barrier(e); /* other warps of the role have read their stages */
    tile_to_shared(e, &s.write.d, value, tile_staging_view(e, &s, &s.write, text, bits), s.write.width);
    arrive(e);
    MlirValue view = tile_staging_view(e, &s, &s.read, text, bits);
    if (e->failed) return value;
    MlirValue layout = tile_emit(e, "cute.get_layout", CUTE_OPERANDS(view), CUTE_NO_NAMED);
    int64_t distance = to->shape.extent[mode] * s.read.stride[mode];
    MlirValue own = part_address(e, view, share, distance, bits);
    await(e);
    for (int64_t i = 0; i < e->cluster[e->scatter_along] && !e->failed; i++) {
        MlirValue there = tile_emit(e, "cute_nvgpu.arch.map_dsmem_ptr",
                                    CUTE_OPERANDS(own, rank_of_block(e, share, i)), CUTE_NO_NAMED);
        MlirValue part = tile_emit(e, "cute.make_view", CUTE_OPERANDS(there, layout), CUTE_NO_NAMED);
        if (e->failed) return value;
        MlirValue read = tile_from_shared(e, &s.read.d, part, s.read.width);
        if (e->failed) return value;
        sum = i ? tile_combine(e, cute_text("add"), sum, read) : read;
    }
    arrive(e);
    if (e->failed) return value;
    keep_memory(e, s.elements * bits / 8);
    return tile_as_held(e, tile_reorder(e, sum, &s.read.d, to), element);
}
