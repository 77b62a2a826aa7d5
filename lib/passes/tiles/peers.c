/* Blocks of a cluster that write each other's shared memory by st.async (reduce_scatter.c, cluster_reduce.c). Their only barrier is that the
 * mbarriers are initialised: threads arrive at the kernel's start and wait where they first send, long after. With roles, this is also the
 * barrier for the block's own mbarriers: the first role, whose warp has initialised them, waits at its end only. */
#include <mlir-c/BuiltinAttributes.h>

#include "lib/ir/dialects/types.h"
#include "lib/ir/mlir/util.h"
#include "lib/passes/tiles/emit.h"

void tile_note_peers(tile_emitter *e, MlirOperation op)
{
    e->peers.write = true;
    e->peers.role = (int)(tile_role_of(e, op) - e->roles);
    e->peers.by_roles = e->peers.role > 1 && !tile_shares_stages(e);
}

bool tile_shares_stages(const tile_emitter *e)
{
    bool shares = !e->peers.write;
    for (int i = 0; i < e->buffer_count; i++) shares |= e->buffers[i].multicast != 0;
    return e->cluster_size > 1 && shares;
}

void tile_sync(tile_emitter *e, const char *name, cute_operands operands, cute_named attributes)
{
    if (!e->failed) cute_build(&e->b, name, operands, CUTE_NO_TYPES, attributes);
}

/* Blocks that share stages have a whole barrier of the cluster. */
static void arrive(tile_emitter *e)
{
    if (!tile_shares_stages(e))
        tile_sync(e, "cute_nvgpu.arch.cluster_arrive", CUTE_NO_OPERANDS,
                  CUTE_NAMED(cute_attribute(e->context, "relaxed", mlirUnitAttrGet(e->context))));
}

static void wait_for_cluster(tile_emitter *e)
{
    if (!tile_shares_stages(e)) tile_sync(e, "cute_nvgpu.arch.cluster_wait", CUTE_NO_OPERANDS, CUTE_NO_NAMED);
}

void tile_init_bytes(tile_emitter *e, int64_t offset, int64_t bytes)
{
    MlirValue barrier = tile_shared_at(e, "!cute.ptr<i64, smem, align<1024>>", 64, offset);
    tile_sync(e, "cute_nvgpu.arch.mbarrier_init", CUTE_OPERANDS(barrier, tile_i32(e, 1)), CUTE_NO_NAMED);
    tile_sync(e, "cute_nvgpu.arch.mbarrier_init_fence", CUTE_NO_OPERANDS, CUTE_NO_NAMED);
    tile_sync(e, "cute_nvgpu.arch.mbarrier_arrive_and_expect_tx", CUTE_OPERANDS(barrier, tile_i32(e, bytes)),
              CUTE_NO_NAMED);
}

void tile_begin_peers(tile_emitter *e)
{
    if (!e->peers.write) return;
    MlirValue first = cute_compare(&e->b, CUTE_IS_EQ, e->thread, tile_i32(e, 0));
    tile_if one = tile_if_begin(e, first);
    tile_init_scatter(e);
    tile_init_cluster_reduces(e);
    tile_if_end(e, &one);
    if (!e->peers.by_roles) arrive(e);
}

bool tile_peers_start(const tile_emitter *e)
{
    return e->peers.write && e->peers.by_roles;
}

void tile_arrive_peers(tile_emitter *e)
{
    if (tile_peers_start(e)) arrive(e);
}

void tile_start_role(tile_emitter *e, const tile_role *role)
{
    if (tile_peers_start(e) && role != &e->roles[1]) wait_for_cluster(e);
}

void tile_join_peers(tile_emitter *e, const tile_role *role)
{
    if (!e->peers.write) return;
    bool waits = e->peers.by_roles ? role == &e->roles[1] : role != &e->roles[e->peers.role];
    if (waits) wait_for_cluster(e);
}

void tile_meet_peers(tile_emitter *e)
{
    if (!e->peers.by_roles && !e->peers.met) wait_for_cluster(e);
    e->peers.met = true;
}

MlirValue tile_peer_rank(tile_emitter *e, int along, MlirValue own, MlirValue i)
{
    int64_t below = 1;
    for (int k = 0; k < along; k++) below *= e->cluster[k];
    if (below == 1 && e->cluster[along] == e->cluster_size) return i;
    MlirValue by = cute_binary(&e->b, "arith.subi", i, own);
    if (below > 1) by = cute_binary(&e->b, "arith.muli", by, tile_i32(e, below));
    return cute_binary(&e->b, "arith.addi", e->rank, by);
}
