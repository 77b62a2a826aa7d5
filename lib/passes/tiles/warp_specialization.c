/* cute-warp-specialization: one warp fetches tiles, the other ones compute.
 *
 * Requires: cute-async-pipeline with pipes; a kernel of one block of operations. Ensures: two cute.tile.role: the producer has the
 * fetches, and what their coordinates need, in loops of their own; the consumers have everything else. What neither needs alone, and has
 * no effects, stays in front of both. The block has a warpgroup more.
 *
 * With `factors=1` a third role, of one warpgroup, has the operations whose tiles are distributed over its threads; fetched tiles that both
 * it and the consumers read are released by both.
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
#include "lib/passes/tiles/role_body.h"
#include "lib/passes/tiles/schedule.h"

enum { WARPS = 4, GROUP = 128 }; /* of a warpgroup: warps, threads */

typedef struct work {
    cute_pass_run *pass;
    bool changed;
} work;

/* ---- which operations a role has ---- */

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

/* Threads that have the tiles of an operation in registers; 0: it has none, or products read them in stages. */
static int64_t threads_of(MlirOperation op)
{
    tile_distribution d;
    MlirOperation root = op;
    while (!mlirOperationIsNull(root) &&
           (cute_op_is(root, "cute.tile.permute") || cute_op_is(root, "cute.tile.reshape")))
        root = cute_defining_op(mlirOperationGetOperand(root, 0));
    if (!mlirOperationIsNull(root) && cute_op_is(root, "cute.tile.take") && tile_read_in_place(root))
        return 0;
    bool made = mlirOperationGetNumResults(op) && tile_is_tile(mlirOperationGetResult(op, 0));
    for (intptr_t i = made ? -1 : 0; i < mlirOperationGetNumOperands(op); i++) {
        MlirValue value = i < 0 ? mlirOperationGetResult(op, 0) : mlirOperationGetOperand(op, i);
        if (tile_is_tile(value))
            return tile_distribution_of(mlirValueGetType(value), &d) ? tile_threads(&d) : 0;
    }
    return 0;
}

/* Threads that write the stages of a pipe; 0: fetches do. */
static int64_t writers_of(MlirValue pipe)
{
    for (MlirOpOperand use = mlirValueGetFirstUse(pipe); !mlirOpOperandIsNull(use);
         use = mlirOpOperandGetNextUse(use))
        if (cute_op_is(mlirOpOperandGetOwner(use), "cute.tile.put"))
            return threads_of(mlirOpOperandGetOwner(use));
    return 0;
}

static bool belongs_to_producer(MlirOperation op, const void *context)
{
    (void)context;
    return cute_op_is(op, "cute.tile.fetch") ||
           (cute_op_is(op, "cute.tile.acquire") && !writers_of(mlirOperationGetOperand(op, 0)));
}

/* A role of so many threads beside another one that computes. */
typedef struct side {
    int64_t threads;
    MlirOperation function;
} side;

typedef struct reads {
    MlirValue pipe;
    int64_t threads;
    bool found;
} reads;

/* Whether threads of the role use a tile, or a view of it. */
static bool is_used_by(MlirValue tile, int64_t threads)
{
    for (MlirOpOperand use = mlirValueGetFirstUse(tile); !mlirOpOperandIsNull(use);
         use = mlirOpOperandGetNextUse(use)) {
        MlirOperation user = mlirOpOperandGetOwner(use);
        int64_t own = threads_of(user);
        if (own ? own == threads : is_used_by(mlirOperationGetResult(user, 0), threads)) return true;
    }
    return false;
}

static void note_reader(MlirOperation take, void *context)
{
    reads *r = context;
    int64_t own = threads_of(take);
    if (!mlirValueEqual(tile_pipe_of(mlirOperationGetOperand(take, 0)), r->pipe)) return;
    r->found |= own ? own == r->threads : is_used_by(mlirOperationGetResult(take, 0), r->threads);
}

static bool belongs_to_side(MlirOperation op, const void *context)
{
    const side *s = context;
    if (cute_op_is(op, "cute.tile.fetch")) return false;
    if (cute_op_is(op, "cute.tile.acquire")) return writers_of(mlirOperationGetOperand(op, 0)) == s->threads;
    if (!cute_op_is(op, "cute.tile.await") && !cute_op_is(op, "cute.tile.release"))
        return threads_of(op) == s->threads;
    reads r = {mlirOperationGetOperand(op, 0), s->threads, false};
    cute_op_walk(s->function, "cute.tile.take", CUTE_WALK_OUTER_FIRST, note_reader, &r);
    return r.found;
}

/* Tiles that products read in stages. */
static bool is_in_stage(MlirOperation op, const void *context)
{
    (void)context;
    return !threads_of(op) && (cute_op_is(op, "cute.tile.take") || cute_op_is(op, "cute.tile.permute") ||
                               cute_op_is(op, "cute.tile.reshape"));
}

/* ---- the kernel ---- */

/* At the kernel's top level: rings, pipes, scalars that follow from such and from arguments. */
static void mark_front(MlirBlock entry)
{
    for (MlirOperation op = mlirBlockGetFirstOperation(entry); !mlirOperationIsNull(op);
         op = mlirOperationGetNextInBlock(op)) {
        bool front =
            cute_op_is(op, "cute.tile.ring") || cute_op_is(op, "cute.tile.pipe") || tile_is_scalar_op(op);
        for (intptr_t i = 0; front && i < mlirOperationGetNumOperands(op); i++) {
            MlirOperation from = cute_defining_op(mlirOperationGetOperand(op, i));
            front = mlirOperationIsNull(from) || cute_op_has(from, TILE_FRONT);
        }
        if (front && !cute_op_is(op, "gpu.return"))
            mlirOperationSetDiscardableAttributeByName(op, cute_text(TILE_FRONT),
                                                       mlirUnitAttrGet(mlirOperationGetContext(op)));
    }
}

static void unmark(MlirOperation op, void *context)
{
    (void)context;
    mlirOperationRemoveDiscardableAttributeByName(op, cute_text(TILE_FRONT));
}

static void destroy_fetch(MlirOperation op, void *context)
{
    (void)context;
    if (belongs_to_producer(op, NULL)) mlirOperationDestroy(op);
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

/* Moves the kernel's operations to `rest`, except its terminator and those with TILE_FRONT. */
static void take_rest(MlirBlock entry, MlirBlock rest)
{
    MlirOperation end = mlirBlockGetTerminator(entry);
    for (MlirOperation op = mlirBlockGetFirstOperation(entry), next; !mlirOperationEqual(op, end);
         op = next) {
        next = mlirOperationGetNextInBlock(op);
        if (cute_op_has(op, TILE_FRONT)) continue;
        mlirOperationRemoveFromParent(op);
        mlirBlockAppendOwnedOperation(rest, op);
    }
}

/* A role gives a stage back behind the last operation of the loop that reads it. */
static void release_early(MlirOperation release, void *context)
{
    (void)context;
    MlirBlock block = mlirOperationGetBlock(release);
    MlirOperation last = {NULL};
    if (mlirOperationGetNumOperands(release) > 2) return;
    for (MlirOperation op = mlirBlockGetFirstOperation(block); !mlirOperationEqual(op, release);
         op = mlirOperationGetNextInBlock(op)) {
        if (cute_op_is(op, "cute.tile.await") &&
            mlirValueEqual(mlirOperationGetOperand(op, 0), mlirOperationGetOperand(release, 0)))
            last = op;
        if (cute_op_is(op, "cute.tile.take") && !threads_of(op)) continue;
        for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); i++) {
            int dims[2];
            MlirOperation take = tile_operand_source(mlirOperationGetOperand(op, i), dims);
            if (cute_op_is(op, "cute.tile.take")) take = op;
            if (mlirOperationIsNull(take) || !cute_op_is(take, "cute.tile.take")) continue;
            if (mlirValueEqual(tile_pipe_of(mlirOperationGetOperand(take, 0)),
                               mlirOperationGetOperand(release, 0)))
                last = op;
        }
    }
    if (mlirOperationIsNull(last)) return;
    while (cute_op_has(last, "pending")) last = cute_only_user(mlirOperationGetResult(last, 0));
    mlirOperationMoveAfter(release, last);
}

/* Products that add to one sum are under way together. */
static void settle_chains(MlirOperation product, void *context)
{
    (void)context;
    MlirOperation before = cute_defining_op(mlirOperationGetOperand(product, 2)),
                  user = cute_only_user(mlirOperationGetResult(product, 0));
    bool first = mlirOperationIsNull(before) || !cute_op_is(before, "cute.tile.gemm"),
         goes_on = !mlirOperationIsNull(user) && cute_op_is(user, "cute.tile.gemm") &&
                   mlirValueEqual(mlirOperationGetOperand(user, 2), mlirOperationGetResult(product, 0));
    if ((first && !goes_on) || cute_op_has(product, "band")) return;
    tile_set_pending(product, TILE_NO_WAIT);
    if (goes_on) return;
    MlirValue sum = mlirOperationGetResult(product, 0);
    cute_builder b = cute_builder_before(mlirOperationGetNextInBlock(product));
    b.location = mlirOperationGetLocation(product);
    MlirValue settled = tile_settle(&b, sum, 0);
    mlirValueReplaceAllUsesOfWith(sum, settled);
    mlirOperationSetOperand(cute_defining_op(settled), 0, sum);
}

/* An operation with effects that neither the warpgroup of a factor nor the consumers would have. */
typedef struct homeless {
    side sides[2];
    MlirOperation found;
} homeless;

static void look_for_homeless(MlirOperation op, void *context)
{
    homeless *h = context;
    static const char *const others[] = {"cute.tile.ring", "cute.tile.pipe", "cute.tile.take", "gpu.return",
                                         "scf.yield"};
    bool has = mlirOperationGetNumRegions(op) || cute_op_is_effect_free(op) || tile_reads_element(op) ||
               belongs_to_producer(op, NULL);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) has |= cute_op_is(op, others[i]);
    for (int i = 0; i < 2 && !has; i++) has = belongs_to_side(op, &h->sides[i]);
    if (!has) h->found = op;
}

typedef struct bodies {
    MlirBlock producer, factor, consumers; /* factor: null where consumers compute it */
    MlirOperation stuck;
} bodies;

static bool find_bodies(MlirOperation function, MlirBlock entry, const tile_schedule *s, bodies *out)
{
    *out = (bodies){{NULL}, {NULL}, {NULL}, {NULL}};
    const tile_role_rule producer = {belongs_to_producer, NULL, NULL};
    out->producer = tile_role_body(entry, &producer, &out->stuck);
    if (mlirBlockIsNull(out->producer) || !tile_factor_threads(s)) return !mlirBlockIsNull(out->producer);
    homeless h = {{{tile_factor_threads(s), function}, {GROUP * tile_schedule_groups(s), function}}, {NULL}};
    cute_op_walk(function, NULL, CUTE_WALK_OUTER_FIRST, look_for_homeless, &h);
    out->stuck = h.found;
    for (int i = 0; i < 2 && mlirOperationIsNull(out->stuck); i++) {
        const tile_role_rule rule = {belongs_to_side, is_in_stage, &h.sides[i]};
        *(i ? &out->consumers : &out->factor) = tile_role_body(entry, &rule, &out->stuck);
    }
    if (mlirOperationIsNull(out->stuck)) return true;
    mlirBlockDestroy(out->producer);
    if (!mlirBlockIsNull(out->factor)) mlirBlockDestroy(out->factor);
    return false;
}

static void specialize(work *w, MlirOperation function, const tile_schedule *s)
{
    MlirBlock entry = mlirRegionGetFirstBlock(mlirOperationGetRegion(function, 0));
    bodies own;
    mark_front(entry);
    if (!find_bodies(function, entry, s, &own)) {
        if (tile_factor_threads(s))
            tile_give_up_factors(
                function,
                "its operations cannot be divided between the warpgroup of a factor and the consumers");
        cute_op_walk(function, NULL, CUTE_WALK_OUTER_FIRST, unmark, NULL);
        tile_refuse(w->pass, own.stuck,
                    "fetches stay with the warps that compute: this depends on their results");
        return;
    }
    MlirBlock rest = mlirBlockCreate(0, NULL, NULL);
    take_rest(entry, rest);
    cute_builder b = cute_builder_before(mlirBlockGetTerminator(entry));
    b.location = mlirOperationGetLocation(function);
    int groups = tile_schedule_groups(s), others = tile_factor_threads(s) / GROUP;
    /* Of several blocks on a multiprocessor each has as many registers as the launch gives it. */
    static const cute_model_registers as_launched = {0, 0, 0};
    const cute_model_registers *registers = s->blocks > 1 ? &as_launched
                                            : others      ? &cute_model_factor_registers
                                                          : &cute_model_group_registers[groups];
    make_role(&b, "producer", 1, registers->producer, own.producer);
    if (others) {
        mlirBlockDestroy(rest);
        make_role(&b, "factor", WARPS * others, registers->factor, own.factor);
        rest = own.consumers;
    }
    MlirOperation consumers = make_role(&b, "consumers", WARPS * groups, registers->consumer, rest);
    cute_op_walk(consumers, "cute.tile.", CUTE_WALK_LAST_FIRST, destroy_fetch, NULL);
    cute_op_walk(function, NULL, CUTE_WALK_OUTER_FIRST, unmark, NULL);
    if (others) {
        tile_fetch_in_parts(function);
        cute_op_walk(function, "cute.tile.gemm", CUTE_WALK_OUTER_FIRST, settle_chains, NULL);
        cute_op_walk(function, "cute.tile.release", CUTE_WALK_OUTER_FIRST, release_early, NULL);
    }
    int32_t block[3] = {GROUP * (groups + others + 1), 1, 1};
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
