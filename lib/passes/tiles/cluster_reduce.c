/* Reductions of the tiles of a cluster's blocks, whose result all of them get: each block sends its tile by st.async to a slot of each
 * block, its own included, and an mbarrier of the receiver counts the bytes. Threads that hold copies of an element divide the blocks
 * among them. Then each thread combines its elements of all slots in the order of the blocks, so all blocks have the same result, the same in each
 * run.
 *
 * Slots belong to one operation, which a block executes once, so no block waits for the others' reads (peers.c). A block ends when all
 * tiles have arrived, so none is sent to a block that has ended. */
#include <mlir-c/BuiltinAttributes.h>
#include <mlir-c/BuiltinTypes.h>

#include "lib/ir/dialects/types.h"
#include "lib/ir/mlir/util.h"
#include "lib/passes/tiles/emit.h"
#include "lib/passes/tiles/schedule.h"

enum { BITS = 32, BYTES = BITS / 8, ALIGN = 16, BARRIER_BYTES = 8 };

typedef struct tile_cluster_reduce {
    struct tile_cluster_reduce *next;
    MlirOperation op;
    int along; /* the dimension of the cluster */
    int64_t blocks, elements;
    int64_t barrier, slots; /* bytes of shared memory: of the mbarrier, and where the first slot is */
} tile_cluster_reduce;

/* ---- the plan ---- */

static bool shape_of(MlirOperation op, tile_cluster_reduce *x)
{
    cute_tile_shape shape;
    int64_t along[CUTE_TILE_RANK];
    MlirValue index = mlirOperationGetOperand(op, 1);
    int count = tile_cluster_of(cute_defining_op(index), along);
    x->op = op;
    x->along = (int)mlirOpResultGetResultNumber(index);
    if (x->along >= count || !cute_tile_shape_of(mlirValueGetType(mlirOperationGetOperand(op, 0)), &shape))
        return false;
    x->blocks = along[x->along];
    x->elements = cute_tile_size(&shape);
    return true;
}

static int64_t slot_bytes(const tile_cluster_reduce *x)
{
    return (x->elements * BYTES + ALIGN - 1) / ALIGN * ALIGN;
}

int64_t tile_cluster_reduce_bytes(MlirOperation op)
{
    tile_cluster_reduce x;
    return shape_of(op, &x) ? ALIGN + x.blocks * slot_bytes(&x) : 0;
}

static void find_cluster_reduce(MlirOperation op, void *context)
{
    tile_emitter *e = context;
    tile_cluster_reduce *x = cute_arena_alloc(e->arena, sizeof *x);
    MlirOperation parent = tile_parent(op);
    if (!x) {
        e->failed = true;
        return;
    }
    e->b.location = mlirOperationGetLocation(op);
    if (!shape_of(op, x) || (!cute_op_is(parent, "gpu.func") && !cute_op_is(parent, "cute.tile.role"))) {
        tile_fail(e, "expected cute.tile.cluster_reduce at the top level of the kernel: all blocks of a "
                     "cluster execute it once");
        return;
    }
    x->barrier = (e->shared_bytes + BARRIER_BYTES - 1) / BARRIER_BYTES * BARRIER_BYTES;
    x->slots = (x->barrier + BARRIER_BYTES + ALIGN - 1) / ALIGN * ALIGN;
    e->shared_bytes = x->slots + x->blocks * slot_bytes(x);
    x->next = e->cluster_reduces;
    e->cluster_reduces = x;
    tile_note_peers(e, op);
}

bool tile_find_cluster_reduces(tile_emitter *e)
{
    cute_op_walk(e->function, "cute.tile.cluster_reduce", CUTE_WALK_OUTER_FIRST, find_cluster_reduce, e);
    return !e->failed;
}

void tile_init_cluster_reduces(tile_emitter *e)
{
    for (const tile_cluster_reduce *x = e->cluster_reduces; x; x = x->next)
        tile_init_bytes(e, x->barrier, x->blocks * x->elements * BYTES);
}

/* ---- the exchange ---- */

static MlirValue own_place(tile_emitter *e, const tile_cluster_reduce *x)
{
    MlirValue own = e->rank;
    int64_t below = 1;
    for (int k = 0; k < x->along; k++) below *= e->cluster[k];
    if (below > 1) own = cute_binary(&e->b, "arith.divui", own, tile_i32(e, below));
    if (below * x->blocks < e->cluster_size)
        own = cute_binary(&e->b, "arith.remui", own, tile_i32(e, x->blocks));
    return own;
}

/* Which copy of its elements a thread has, of *copies. */
static MlirValue copy_of(tile_emitter *e, const tile_distribution *d, int64_t *copies)
{
    MlirValue copy = {NULL};
    int64_t below = 1;
    *copies = 1;
    for (int i = 0; i < d->threads.count; below *= d->threads.at[i++].extent) {
        const tile_mode *m = &d->threads.at[i];
        if (m->dim != TILE_COPIES || m->extent == 1) continue;
        MlirValue index = cute_binary(&e->b, "arith.divui", e->thread, tile_i32(e, below));
        index = cute_binary(&e->b, "arith.remui", index, tile_i32(e, m->extent));
        if (*copies > 1) index = cute_binary(&e->b, "arith.muli", index, tile_i32(e, *copies));
        copy = mlirValueIsNull(copy) ? index : cute_binary(&e->b, "arith.addi", copy, index);
        *copies *= m->extent;
    }
    return mlirValueIsNull(copy) ? tile_i32(e, 0) : copy;
}

/* Elements that adjacent threads hold as the same value are adjacent in a slot. */
static void send(tile_emitter *e, const tile_cluster_reduce *x, const tile_op *t, MlirValue value,
                 MlirValue slots, MlirValue barrier, MlirValue base)
{
    int64_t copies, values = tile_values(&t->out), each = slot_bytes(x) / BYTES;
    MlirValue own = own_place(e, x), copy = copy_of(e, &t->out, &copies),
              at = cute_binary(&e->b, "arith.muli", own, tile_i32(e, each)),
              to = tile_offset_by(e, slots, cute_binary(&e->b, "arith.addi", at, base));
    for (int64_t first = 0; first < x->blocks && !e->failed; first += copies) {
        MlirValue block = cute_binary(&e->b, "arith.addi", copy, tile_i32(e, first)), there = {NULL};
        if (first + copies > x->blocks)
            there = cute_compare(&e->b, CUTE_IS_ULT, block, tile_i32(e, x->blocks));
        tile_if some = tile_if_begin(e, there);
        MlirValue rank = tile_peer_rank(e, x->along, own, block);
        for (int64_t v = 0; v < values && !e->failed; v++) {
            MlirValue place = v ? tile_offset_by(e, to, tile_i32(e, v * (x->elements / values))) : to,
                      one = cute_vector_extract(&e->b, value, v);
            tile_sync(e, "cute_nvgpu.arch.st_async", CUTE_OPERANDS(one, place, barrier, rank), CUTE_NO_NAMED);
        }
        tile_if_end(e, &some);
    }
}

static MlirValue load_slot(tile_emitter *e, const tile_cluster_reduce *x, const tile_op *t, MlirValue value,
                           MlirValue shared, MlirValue base, int64_t slot)
{
    int64_t values = tile_values(&t->out);
    for (int64_t v = 0; v < values && !e->failed; v++) {
        MlirValue at = cute_binary(&e->b, "arith.addi", base, tile_i32(e, v * (x->elements / values))),
                  coord = cute_build_value(&e->b, "cute.make_coord", tile_type(e, "!cute.coord<\"(?,?)\">"),
                                           CUTE_OPERANDS(tile_i32(e, slot), at), CUTE_NO_NAMED),
                  one = tile_emit(e, "cute.memref.load", CUTE_OPERANDS(shared, coord), CUTE_NO_NAMED);
        if (!e->failed) value = cute_vector_insert(&e->b, value, one, v);
    }
    return value;
}

MlirValue tile_lower_cluster_reduce(tile_emitter *e, const tile_op *t)
{
    const tile_cluster_reduce *x = e->cluster_reduces;
    while (x && !mlirOperationEqual(x->op, t->op)) x = x->next;
    MlirValue value = mlirOperationGetOperand(t->op, 0), out = {NULL};
    if (!x) return e->failed = true, value;
    tile_distribution distinct;
    int bits;
    const char *text = tile_element_text(e, cute_type_element(mlirValueGetType(value)), &bits);
    char *pointer = cute_arena_printf(e->arena, "!cute.ptr<%s, smem, align<16>>", text),
         *layout = cute_arena_printf(e->arena, "!cute.layout<\"(%lld,%lld):(%lld,1)\">", (long long)x->blocks,
                                     (long long)x->elements, (long long)(slot_bytes(x) / BYTES));
    if (!pointer || !layout) return e->failed = true, value;
    tile_meet_peers(e);
    MlirValue slots = tile_shared_at(e, pointer, BITS, x->slots),
              barrier = tile_shared_at(e, "!cute.ptr<i64, smem, align<1024>>", 64, x->barrier),
              base = tile_thread_of(e, &t->out, &distinct);
    send(e, x, t, value, slots, barrier, base);
    tile_sync(e, "cute_nvgpu.arch.mbarrier_wait", CUTE_OPERANDS(barrier, tile_i32(e, 0)),
              CUTE_NAMED(cute_attribute(e->context, "scope", cute_string_attribute(e->context, "cluster"))));
    MlirValue view =
        tile_emit(e, "cute.make_view", CUTE_OPERANDS(slots, tile_static(e, layout)), CUTE_NO_NAMED);
    MlirStringRef kind = cute_tile_word(t->op, "kind");
    for (int64_t i = 0; i < x->blocks && !e->failed; i++) {
        MlirValue one = load_slot(e, x, t, value, view, base, i);
        if (!e->failed) out = i ? tile_combine(e, kind, out, one) : one;
    }
    return out;
}
