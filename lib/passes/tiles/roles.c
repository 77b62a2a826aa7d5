/* See emit.h: roles of a block's warps, whose operations follow where a role begins, and groups of a role's warps that take turns. */
#include <mlir-c/BuiltinAttributes.h>
#include <mlir-c/BuiltinTypes.h>
#include <stdio.h>

#include "lib/ir/mlir/util.h"
#include "lib/passes/tiles/emit.h"
#include "lib/passes/tiles/schedule.h"

enum { WARP = 32, GROUP = 4 };

/* ---- turns ---- */

/* Group and thread of a role whose groups take turns. The bytes of a group's memory are a constant that end_turns sets. */
static void begin_turns(tile_emitter *e, tile_role *r)
{
    MlirValue past = cute_binary(&e->b, "arith.subi", r->warp, tile_i32(e, r->first_warp)),
              bytes = tile_i32(e, 0);
    r->turn = cute_binary(&e->b, "arith.divui", past, tile_i32(e, r->warps));
    r->thread = cute_binary(&e->b, "arith.remui", r->thread, tile_i32(e, r->warps * WARP));
    r->own = cute_defining_op(bytes);
    r->memory = cute_binary(&e->b, "arith.muli", r->turn, bytes);
}

/* Once the operations of a role are lowered: its groups have memory of the same size, one behind the other. */
static void end_turns(tile_emitter *e)
{
    enum { ALIGN = 1024 };
    for (int i = 1; i < e->role_count; i++) {
        tile_role *r = &e->roles[i];
        if (!r->own.ptr) continue;
        int64_t bytes = (e->shared_bytes - r->scratch + ALIGN - 1) / ALIGN * ALIGN;
        mlirOperationSetAttributeByName(r->own, cute_text("value"),
                                        mlirIntegerAttrGet(tile_i32_type(e), bytes));
        if (bytes) e->shared_bytes = r->scratch + r->turns * bytes;
        r->own = (MlirOperation){NULL};
    }
}

MlirValue tile_own_memory(tile_emitter *e, MlirValue pointer, int bits)
{
    enum { ALIGN = 1024, BYTE = 8 };
    char tuple[48];
    snprintf(tuple, sizeof tuple, "!cute.int_tuple<\"?{div=%d}\">", ALIGN * BYTE / bits);
    MlirValue by = e->role->memory;
    if (bits != BYTE) by = cute_binary(&e->b, "arith.divui", by, tile_i32(e, bits / BYTE));
    MlirValue offset =
        cute_build_value(&e->b, "cute.make_int_tuple", tile_type(e, tuple), CUTE_OPERANDS(by), CUTE_NO_NAMED);
    return tile_emit(e, "cute.add_offset", CUTE_OPERANDS(pointer, offset), CUTE_NO_NAMED);
}

MlirValue tile_group_index(tile_emitter *e)
{
    const tile_role *r = e->role;
    if (r->turns > 1) return tile_i32(e, 0);
    MlirValue warp = r->warp;
    if (r->first_warp) warp = cute_binary(&e->b, "arith.subi", warp, tile_i32(e, r->first_warp));
    return cute_binary(&e->b, "arith.divui", warp, tile_i32(e, GROUP));
}

MlirValue tile_group_number(tile_emitter *e)
{
    MlirValue group = tile_group_index(e), turn = e->role->turn;
    if (mlirValueIsNull(turn)) return group;
    if (e->role->warps == GROUP) return turn;
    turn = cute_binary(&e->b, "arith.muli", turn, tile_i32(e, e->role->warps / GROUP));
    return cute_binary(&e->b, "arith.addi", turn, group);
}

/* Groups that take turns: those of a role with `turns`, or the warpgroups of one that has several. */
static int64_t turn_groups(const tile_emitter *e)
{
    const tile_role *r = e->role;
    return r->turns > 1 ? r->turns : r->op.ptr && r->warps % GROUP == 0 ? r->warps / GROUP : 1;
}

static MlirValue own_turn(tile_emitter *e)
{
    if (!mlirValueIsNull(e->role->turn)) return e->role->turn;
    return turn_groups(e) > 1 ? tile_group_index(e) : tile_i32(e, 0);
}

MlirValue tile_lower_turn(tile_emitter *e, const tile_op *t)
{
    (void)t;
    return own_turn(e);
}

/* Two groups of threads meet at the barrier of a turn: those that end theirs, and those that begin it. */
static void meet(tile_emitter *e, const char *name, MlirValue turn)
{
    MlirValue barrier = cute_binary(&e->b, "arith.addi", turn, tile_i32(e, TILE_TURN_BARRIERS));
    tile_sync(e, name, CUTE_OPERANDS(barrier, tile_i32(e, 2 * GROUP * WARP)), CUTE_NO_NAMED);
}

MlirValue tile_lower_begin_turn(tile_emitter *e, const tile_op *t)
{
    (void)t;
    if (turn_groups(e) > 1) meet(e, "cute_nvgpu.arch.named_barrier_sync", own_turn(e));
    return (MlirValue){NULL};
}

MlirValue tile_lower_end_turn(tile_emitter *e, const tile_op *t)
{
    int64_t groups = turn_groups(e);
    if (groups < 2) return (MlirValue){NULL};
    MlirValue last = tile_i32(e, groups - 1), turn = own_turn(e), next;
    if (groups == 2) {
        next = cute_binary(&e->b, "arith.subi", last, turn);
    } else {
        MlirValue is_last = cute_compare(&e->b, CUTE_IS_EQ, turn, last);
        next = cute_binary(&e->b, "arith.addi", turn, tile_i32(e, 1));
        next = cute_select(&e->b, is_last, tile_i32(e, 0), next);
    }
    tile_if goes_on = tile_if_begin(e, mlirOperationGetOperand(t->op, 0));
    meet(e, "cute_nvgpu.arch.named_barrier_arrive", next);
    tile_if_end(e, &goes_on);
    return (MlirValue){NULL};
}

/* ---- roles ---- */

MlirValue tile_lower_role(tile_emitter *e, const tile_op *t)
{
    tile_role *r = tile_role_of(e, t->op), *block = &e->roles[0];
    int64_t registers = cute_tile_number(t->op, "registers", 0), warps = r->warps * r->turns,
            groups = (warps + GROUP - 1) / GROUP * GROUP;
    end_turns(e);
    /* The role's warps are those of whole warpgroups: setmaxnreg is executed by all four. */
    tile_enter_role(e, block);
    MlirValue from = tile_i32(e, r->first_warp), past = cute_binary(&e->b, "arith.subi", block->warp, from);
    MlirValue in = cute_compare(&e->b, CUTE_IS_ULT, past, tile_i32(e, groups));
    if (r == &e->roles[1]) {
        tile_arrive_peers(e);
        /* The next kernel of the stream may start; this one waits for those before where it reads or writes global memory. */
        tile_sync(e, "cute_nvgpu.arch.griddepcontrol_launch_dependents", CUTE_NO_OPERANDS, CUTE_NO_NAMED);
        mlirOperationSetAttributeByName(e->function, cute_text(TILE_PROGRAMMATIC),
                                        mlirUnitAttrGet(e->context));
    }
    tile_if mine = tile_if_begin(e, in);
    if (registers)
        cute_build(&e->b,
                   registers > 128 ? "cute_nvgpu.arch.setmaxregister_increase"
                                   : "cute_nvgpu.arch.setmaxregister_decrease",
                   CUTE_NO_OPERANDS, CUTE_NO_TYPES,
                   CUTE_NAMED(cute_attribute(e->context, "registers",
                                             mlirIntegerAttrGet(tile_i32_type(e), registers))));
    tile_start_role(e, r);
    MlirValue only = {NULL};
    if (groups != warps) only = cute_compare(&e->b, CUTE_IS_ULT, past, tile_i32(e, warps));
    tile_if some = tile_if_begin(e, only);
    tile_sync(e, "cute_nvgpu.arch.griddepcontrol_wait", CUTE_NO_OPERANDS, CUTE_NO_NAMED);
    r->warp = block->warp;
    r->thread = r->first_warp
                    ? cute_binary(&e->b, "arith.subi", block->thread, tile_i32(e, r->first_warp * WARP))
                    : block->thread;
    r->scratch = e->frees_stages ? 0 : e->shared_bytes;
    r->shares = e->frees_stages;
    if (r->turns > 1) begin_turns(e, r);
    if (warps == 1)
        r->elected = cute_build_value(&e->b, "cute_nvgpu.arch.elect_one", mlirIntegerTypeGet(e->context, 1),
                                      CUTE_NO_OPERANDS, CUTE_NO_NAMED);
    /* The operations follow, in front of the end of this block. */
    MlirBlock body = mlirRegionGetFirstBlock(mlirOperationGetRegion(t->op, 0));
    for (MlirOperation op = mlirBlockGetFirstOperation(body), next; !mlirOperationIsNull(op); op = next) {
        next = mlirOperationGetNextInBlock(op);
        mlirOperationRemoveFromParent(op);
        mlirBlockInsertOwnedOperationBefore(e->b.block, e->b.before, op);
    }
    r->end = e->b;
    tile_if_end(e, &some);
    tile_join_peers(e, r);
    tile_if_end(e, &mine);
    return (MlirValue){NULL};
}

void tile_finish_roles(tile_emitter *e)
{
    e->roles[0].end = cute_builder_before(
        mlirBlockGetTerminator(mlirRegionGetFirstBlock(mlirOperationGetRegion(e->function, 0))));
    end_turns(e);
    for (int i = 0; i < e->role_count && !e->failed; i++) {
        tile_role *r = &e->roles[i];
        if (!r->stores) continue;
        tile_enter_role(e, r);
        tile_finish_stores(e, r);
        e->b = r->end;
        tile_wait_stores(e, tile_leads_group(e));
    }
    if (e->cluster_size == 1 || e->failed) return;
    /* No block exits while others release its stages. */
    bool released = false;
    for (int i = 0; i < e->buffer_count; i++)
        released |= e->buffers[i].is_pipe && e->buffers[i].readers && !e->buffers[i].drained;
    if (!released || !tile_shares_stages(e)) return;
    e->b = e->roles[0].end;
    tile_sync(e, "cute_nvgpu.arch.cluster_arrive", CUTE_NO_OPERANDS, CUTE_NO_NAMED);
    tile_sync(e, "cute_nvgpu.arch.cluster_wait", CUTE_NO_OPERANDS, CUTE_NO_NAMED);
}
