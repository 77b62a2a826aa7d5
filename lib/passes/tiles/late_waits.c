/* See tile_delay_waits. */
#include "lib/ir/mlir/shim.h"
#include "lib/ir/mlir/util.h"
#include "lib/passes/tiles/emit.h"
#include "lib/passes/tiles/schedule.h"

enum { MOST = 16 };

/* A branch, and the wait in front of it with the operations behind the wait that depend on it. */
typedef struct late {
    MlirOperation branch, moved[MOST];
    int count;
} late;

static MlirBlock region_block(MlirOperation branch, int i)
{
    return mlirRegionGetFirstBlock(mlirOperationGetRegion(branch, i));
}

/* The region of `branch` that has `op`; -1: it is elsewhere. */
static int region_of(MlirOperation branch, MlirOperation op)
{
    for (; !cute_op_is(op, "gpu.func"); op = tile_parent(op))
        for (int i = 0; i < 2; i++)
            if (mlirBlockEqual(mlirOperationGetBlock(op), region_block(branch, i))) return i;
    return -1;
}

/* Whether sums that are read behind the wait are used in the branch only. */
static bool is_used_inside(const late *l, MlirOperation op)
{
    for (MlirOpOperand use = mlirValueGetFirstUse(mlirOperationGetResult(op, 0)); !mlirOpOperandIsNull(use);
         use = mlirOpOperandGetNextUse(use))
        if (region_of(l->branch, mlirOpOperandGetOwner(use)) < 0) return false;
    return true;
}

/* The wait, reads of sums and releases of stages in front of the branch. */
static bool find_wait(late *l)
{
    bool found = false;
    for (MlirOperation op = mlirBlockGetFirstOperation(mlirOperationGetBlock(l->branch));
         !mlirOperationEqual(op, l->branch); op = mlirOperationGetNextInBlock(op)) {
        bool waits = cute_op_is(op, "cute_nvgpu.arch.wgmma_wait_group"),
             reads = cute_op_is(op, "cute.memref.load_vec"),
             releases = cute_op_is(op, "scf.if") && !mlirOperationGetNumResults(op);
        if (waits) l->count = 0;
        found |= waits;
        if (waits || (found && (reads || releases))) {
            found = l->count < MOST && (!reads || is_used_inside(l, op));
            if (found) l->moved[l->count++] = op;
        } else {
            found &= cute_op_is_effect_free(op);
        }
    }
    return found;
}

/* Uses of `from` in a region become uses of `to`. */
static void replace_inside(MlirOperation branch, int region, MlirValue from, MlirValue to)
{
    MlirOpOperand next, use = mlirValueGetFirstUse(from);
    for (; !mlirOpOperandIsNull(use); use = next) {
        next = mlirOpOperandGetNextUse(use);
        MlirOperation user = mlirOpOperandGetOwner(use);
        if (region_of(branch, user) == region)
            mlirOperationSetOperand(user, mlirOpOperandGetOperandNumber(use), to);
    }
}

static void delay(MlirOperation branch, void *context)
{
    (void)context;
    late l = {.branch = branch};
    if (!cute_op_has(branch, TILE_RARE)) return;
    mlirOperationRemoveDiscardableAttributeByName(branch, cute_text(TILE_RARE));
    if (!find_wait(&l)) return;
    for (int region = 0; region < 2; region++) {
        MlirBlock block = region_block(branch, region);
        MlirOperation first = mlirBlockGetFirstOperation(block);
        for (int i = 0; i < l.count; i++) {
            MlirOperation own = mlirOperationClone(l.moved[i]);
            mlirBlockInsertOwnedOperationBefore(block, first, own);
            if (mlirOperationGetNumResults(own))
                replace_inside(branch, region, mlirOperationGetResult(l.moved[i], 0),
                               mlirOperationGetResult(own, 0));
        }
    }
    while (l.count-- > 0) mlirOperationDestroy(l.moved[l.count]);
}

void tile_delay_waits(MlirOperation function)
{
    cute_op_walk(function, "scf.if", CUTE_WALK_OUTER_FIRST, delay, NULL);
}
