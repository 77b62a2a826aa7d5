/* cute-warp-specialization: one warp fetches tiles, the other ones compute.
 *
 * Requires: cute-async-pipeline with pipes; a kernel of one block of operations. Ensures: two cute.tile.role: the producer has the
 * fetches, and what their coordinates need, in loops of their own; the consumers have everything else. What neither needs alone, and has
 * no effects, stays in front of both. The block has a warpgroup more.
 *
 * A kernel stays as it is, with a remark, where the fetches need what consumers compute.
 *
 *     scf.for ... { cute.tile.acquire ; cute.tile.fetch ; cute.tile.await ; cute.tile.gemm ; cute.tile.release }
 * ->
 *     cute.tile.role { scf.for ... { cute.tile.acquire ; cute.tile.fetch } } {label = "producer", warps = 1, registers = 24}
 *     cute.tile.role { scf.for ... { cute.tile.await ; cute.tile.gemm ; cute.tile.release } } {label = "consumers", warps = 8, registers = 240}
 */
#include <mlir-c/BuiltinAttributes.h>
#include <mlir-c/BuiltinTypes.h>

#include "lib/ir/dialects/types.h"
#include "lib/ir/mlir/shim.h"
#include "lib/ir/mlir/util.h"
#include "lib/model/model.h"
#include "lib/passes/passes.h"
#include "lib/passes/tiles/describe_schedule.h"
#include "lib/passes/tiles/schedule.h"

enum { MOST_VALUES = 512, MOST_CARRIED = 64 };

typedef struct work {
    cute_pass_run *pass;
    bool changed;
} work;

/* ---- the producer: copies of operations, with values of its own ---- */

typedef struct producer {
    MlirBlock entry; /* of the kernel */
    MlirValue from[MOST_VALUES], to[MOST_VALUES];
    int count;
    MlirOperation stuck; /* what needs a value that consumers compute */
} producer;

static void map(producer *p, MlirValue from, MlirValue to)
{
    if (p->count == MOST_VALUES) {
        p->stuck = mlirValueIsABlockArgument(from)
                       ? mlirBlockGetParentOperation(mlirBlockArgumentGetOwner(from))
                       : mlirOpResultGetOwner(from);
        return;
    }
    p->from[p->count] = from;
    p->to[p->count++] = to;
}

/* The mark of operations that stay in front of both roles. */
static const char FRONT[] = "cute.front";

static bool stays(MlirOperation op)
{
    return cute_op_has(op, FRONT);
}

/* Null: the producer does not have it. */
static MlirValue mapped(const producer *p, MlirValue value)
{
    for (int i = p->count; i-- > 0;)
        if (mlirValueEqual(p->from[i], value)) return p->to[i];
    bool shared = mlirValueIsABlockArgument(value)
                      ? mlirBlockEqual(mlirBlockArgumentGetOwner(value), p->entry)
                      : stays(mlirOpResultGetOwner(value));
    return shared ? value : (MlirValue){NULL};
}

static void look_for_acquire(MlirOperation op, void *context)
{
    (void)op;
    *(bool *)context = true;
}

static bool has_fetches(MlirOperation op)
{
    bool found = false;
    cute_op_walk(op, "cute.tile.acquire", CUTE_WALK_OUTER_FIRST, look_for_acquire, &found);
    return found;
}

static bool is_fetch(MlirOperation op)
{
    return cute_op_is(op, "cute.tile.acquire") || cute_op_is(op, "cute.tile.fetch");
}

static bool is_scalar_op(MlirOperation op)
{
    if (mlirOperationGetNumRegions(op) || !cute_op_is_effect_free(op)) return false;
    for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); i++)
        if (mlirTypeIsARankedTensor(mlirValueGetType(mlirOperationGetOperand(op, i)))) return false;
    for (intptr_t i = 0; i < mlirOperationGetNumResults(op); i++)
        if (mlirTypeIsARankedTensor(mlirValueGetType(mlirOperationGetResult(op, i)))) return false;
    return true;
}

static void copy_ops(producer *p, MlirBlock from, MlirBlock to);

static void copy_loop(producer *p, MlirOperation loop, MlirBlock to)
{
    MlirBlock old = tile_loop_body(loop);
    MlirValue operands[MOST_CARRIED + 3];
    MlirType types[MOST_CARRIED + 1];
    MlirLocation places[MOST_CARRIED + 1];
    intptr_t kept[MOST_CARRIED], count = 0, results = mlirOperationGetNumResults(loop);
    if (results > MOST_CARRIED) {
        p->stuck = loop;
        return;
    }
    for (intptr_t i = 0; i < 3; i++) operands[i] = mapped(p, mlirOperationGetOperand(loop, i));
    for (intptr_t i = 0; i < results; i++) {
        MlirValue initial = mlirOperationGetOperand(loop, 3 + i);
        if (mlirTypeIsARankedTensor(mlirValueGetType(initial))) continue;
        operands[3 + count] = mapped(p, initial);
        kept[count++] = i;
    }
    types[0] = mlirValueGetType(mlirBlockGetArgument(old, 0));
    for (intptr_t i = 0; i < 3 + count; i++)
        if (mlirValueIsNull(operands[i])) p->stuck = loop;
    if (!mlirOperationIsNull(p->stuck)) return;
    for (intptr_t i = 0; i < count; i++) types[1 + i] = mlirValueGetType(operands[3 + i]);
    for (intptr_t i = 0; i <= count; i++) places[i] = mlirOperationGetLocation(loop);
    MlirBlock body = mlirBlockCreate(1 + count, types, places);
    MlirRegion region = mlirRegionCreate();
    mlirRegionAppendOwnedBlock(region, body);
    map(p, mlirBlockGetArgument(old, 0), mlirBlockGetArgument(body, 0));
    for (intptr_t i = 0; i < count; i++)
        map(p, mlirBlockGetArgument(old, 1 + kept[i]), mlirBlockGetArgument(body, 1 + i));
    copy_ops(p, old, body);
    MlirOperation yield = mlirBlockGetTerminator(old);
    MlirValue yielded[MOST_CARRIED];
    for (intptr_t i = 0; i < count && mlirOperationIsNull(p->stuck); i++) {
        yielded[i] = mapped(p, mlirOperationGetOperand(yield, kept[i]));
        if (mlirValueIsNull(yielded[i])) p->stuck = loop;
    }
    if (!mlirOperationIsNull(p->stuck)) {
        mlirRegionDestroy(region);
        return;
    }
    cute_builder end = cute_builder_at_end(body, mlirOperationGetLocation(yield)),
                 at = cute_builder_at_end(to, mlirOperationGetLocation(loop));
    cute_build(&end, "scf.yield", (cute_operands){yielded, count}, CUTE_NO_TYPES, CUTE_NO_NAMED);
    MlirOperation made = cute_build_regions(&at, "scf.for", (cute_operands){operands, 3 + count},
                                            (cute_types){types + 1, count}, CUTE_NO_NAMED, &region, 1);
    for (intptr_t i = 0; i < count; i++)
        map(p, mlirOperationGetResult(loop, kept[i]), mlirOperationGetResult(made, i));
}

static void copy_ops(producer *p, MlirBlock from, MlirBlock to)
{
    for (MlirOperation op = mlirBlockGetFirstOperation(from);
         !mlirOperationIsNull(op) && mlirOperationIsNull(p->stuck); op = mlirOperationGetNextInBlock(op)) {
        if (cute_op_is(op, "scf.for")) {
            if (has_fetches(op)) copy_loop(p, op, to);
            continue;
        }
        bool needed = is_fetch(op);
        if (mlirOperationEqual(op, mlirBlockGetTerminator(from)) ||
            (!needed && (!(is_scalar_op(op) || tile_reads_element(op)) || stays(op))))
            continue;
        MlirValue operands[16];
        intptr_t count = mlirOperationGetNumOperands(op);
        bool known = count <= 16;
        for (intptr_t i = 0; i < count && known; i++) {
            operands[i] = mapped(p, mlirOperationGetOperand(op, i));
            known = !mlirValueIsNull(operands[i]);
        }
        if (!known) {
            if (needed) p->stuck = op;
            continue;
        }
        MlirOperation copy = mlirOperationClone(op);
        for (intptr_t i = 0; i < count; i++) mlirOperationSetOperand(copy, i, operands[i]);
        mlirBlockAppendOwnedOperation(to, copy);
        for (intptr_t i = 0; i < mlirOperationGetNumResults(op); i++)
            map(p, mlirOperationGetResult(op, i), mlirOperationGetResult(copy, i));
    }
}

/* ---- the kernel ---- */

/* At the kernel's top level: rings, pipes, scalars that follow from such and from arguments. */
static void mark_front(MlirBlock entry)
{
    for (MlirOperation op = mlirBlockGetFirstOperation(entry); !mlirOperationIsNull(op);
         op = mlirOperationGetNextInBlock(op)) {
        bool front = cute_op_is(op, "cute.tile.ring") || cute_op_is(op, "cute.tile.pipe") || is_scalar_op(op);
        for (intptr_t i = 0; front && i < mlirOperationGetNumOperands(op); i++) {
            MlirOperation from = cute_defining_op(mlirOperationGetOperand(op, i));
            front = mlirOperationIsNull(from) || stays(from);
        }
        if (front && !cute_op_is(op, "gpu.return"))
            mlirOperationSetDiscardableAttributeByName(op, cute_text(FRONT),
                                                       mlirUnitAttrGet(mlirOperationGetContext(op)));
    }
}

static void unmark(MlirOperation op, void *context)
{
    (void)context;
    mlirOperationRemoveDiscardableAttributeByName(op, cute_text(FRONT));
}

static void drop_unused(MlirOperation loop, void *context)
{
    (void)context;
    tile_drop_unused(tile_loop_body(loop));
}

static void destroy_fetch(MlirOperation op, void *context)
{
    (void)context;
    if (is_fetch(op)) mlirOperationDestroy(op);
}

static MlirOperation make_role(const cute_builder *b, const char *label, int warps, int registers,
                               MlirBlock body)
{
    MlirType i32 = mlirIntegerTypeGet(b->context, 32);
    MlirRegion region = mlirRegionCreate();
    mlirRegionAppendOwnedBlock(region, body);
    return cute_build_regions(
        b, "cute.tile.role", CUTE_NO_OPERANDS, CUTE_NO_TYPES,
        CUTE_NAMED(cute_attribute(b->context, "label", cute_string_attribute(b->context, label)),
                   cute_attribute(b->context, "registers", mlirIntegerAttrGet(i32, registers)),
                   cute_attribute(b->context, "warps", mlirIntegerAttrGet(i32, warps))),
        &region, 1);
}

static void specialize(work *w, MlirOperation function, const tile_schedule *s)
{
    MlirBlock entry = mlirRegionGetFirstBlock(mlirOperationGetRegion(function, 0));
    MlirOperation end = mlirBlockGetTerminator(entry);
    MlirLocation at = mlirOperationGetLocation(function);
    producer p = {.entry = entry, .stuck = {NULL}};
    MlirBlock fetches = mlirBlockCreate(0, NULL, NULL);
    mark_front(entry);
    copy_ops(&p, entry, fetches);
    if (!mlirOperationIsNull(p.stuck)) {
        cute_op_walk(function, NULL, CUTE_WALK_OUTER_FIRST, unmark, NULL);
        tile_refuse(w->pass, p.stuck,
                    "fetches stay with the warps that compute: this depends on their results");
        mlirBlockDestroy(fetches);
        return;
    }
    MlirBlock rest = mlirBlockCreate(0, NULL, NULL);
    for (MlirOperation op = mlirBlockGetFirstOperation(entry), next; !mlirOperationEqual(op, end);
         op = next) {
        next = mlirOperationGetNextInBlock(op);
        if (stays(op)) continue;
        mlirOperationRemoveFromParent(op);
        mlirBlockAppendOwnedOperation(rest, op);
    }
    cute_builder b = cute_builder_before(end);
    b.location = at;
    int groups = tile_schedule_groups(s);
    /* Of several blocks on a multiprocessor each has as many registers as the launch gives it. */
    static const cute_model_registers as_launched = {0, 0};
    const cute_model_registers *registers =
        s->blocks > 1 ? &as_launched : &cute_model_group_registers[groups];
    MlirOperation fetching = make_role(&b, "producer", 1, registers->producer, fetches);
    cute_op_walk(fetching, "scf.for", CUTE_WALK_OUTER_FIRST, drop_unused, NULL);
    MlirOperation consumers = make_role(&b, "consumers", 4 * groups, registers->consumer, rest);
    cute_op_walk(consumers, "cute.tile.", CUTE_WALK_LAST_FIRST, destroy_fetch, NULL);
    cute_op_walk(function, NULL, CUTE_WALK_OUTER_FIRST, unmark, NULL);
    int32_t block[3] = {128 * (groups + 1), 1, 1};
    MlirType i32 = mlirIntegerTypeGet(b.context, 32);
    mlirOperationSetAttributeByName(function, cute_text("nvvm.reqntid"),
                                    mlirDenseI32ArrayGet(b.context, 3, block));
    /* ptxas ignores setmaxnreg without it. */
    if (!cute_op_has(function, "nvvm.minctasm"))
        mlirOperationSetAttributeByName(function, cute_text("nvvm.minctasm"), mlirIntegerAttrGet(i32, 1));
    w->changed = true;
}

static void visit_function(MlirOperation function, void *context)
{
    work *w = context;
    tile_schedule schedule;
    tile_schedule_of(function, &schedule);
    if (!schedule.consumers || !tile_is_program(function) || !has_fetches(function)) return;
    MlirRegion body = mlirOperationGetRegion(function, 0);
    bool specialized = false;
    cute_op_walk(function, "cute.tile.role", CUTE_WALK_OUTER_FIRST, look_for_acquire, &specialized);
    if (specialized || !mlirBlockIsNull(mlirBlockGetNextInRegion(mlirRegionGetFirstBlock(body)))) return;
    specialize(w, function, &schedule);
}

static void run_warp_specialization(MlirOperation root, cute_pass_run *pass)
{
    work w = {.pass = pass};
    cute_op_walk(root, "gpu.func", CUTE_WALK_OUTER_FIRST, visit_function, &w);
    if (!w.changed) cute_pass_unchanged(pass);
}

const cute_pass cute_pass_warp_specialization = {
    .name = "cute-warp-specialization",
    .help = "Let one warp fetch the tiles that the others compute on",
    .dialects = CUTE_DIALECT_CUTE | CUTE_DIALECT_SCF,
    .run = run_warp_specialization,
};
