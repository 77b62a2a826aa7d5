/* cute-async-products: the product of one iteration is under way while the next one is issued.
 *
 * Requires: cute-async-pipeline; loops whose products are all of warpgroups (wgmma), on accumulators that the loop carries and nothing
 * else in it uses. Ensures: these products wait for those of the iteration before (`pending`), whose stage is released then; behind
 * the loop cute.tile.settle waits for the last ones. Small tiles that are loaded behind it are loaded in front of that wait.
 * Where products of warpgroups wait for one another, the stage of the iteration before is released once the last product of this one is issued, so
 * that no thread releases between two products.
 *
 *     scf.for %k = %lo to %hi ... iter_args(%acc, %i, %phase) {
 *       ... %d = cute.tile.gemm(%a, %b, %acc) {wgmma} ; cute.tile.release(%pipe, %i) ; scf.yield %d, ...
 *     }
 * ->
 *     %r:4 = scf.for %k = %lo to %hi ... iter_args(%acc, %i, %phase, %before) {
 *       ... %d = cute.tile.gemm(%a, %b, %acc) {pending = 1, wgmma} ; cute.tile.release(%pipe, %before, %later) ; scf.yield %d, ..., %i
 *     }
 *     %sum = cute.tile.settle(%r#0) ; cute.tile.release(%pipe, %r#3, %any)
 */
#include <mlir-c/BuiltinAttributes.h>
#include <mlir-c/BuiltinTypes.h>

#include "lib/ir/mlir/arith.h"
#include "lib/ir/mlir/util.h"
#include "lib/passes/passes.h"
#include "lib/passes/tiles/describe_schedule.h"
#include "lib/passes/tiles/schedule.h"

enum { MOST = 16 };

typedef struct work {
    cute_pass_run *pass;
    MlirOperation loops[MOST], waiting[MOST];
    int count, waiting_count;
    bool changed;
} work;

typedef struct products {
    MlirOperation gemm[MOST], release;
    int count;
} products;

/* NULL, or why the products of a loop wait for one another. */
static const char *find_products(MlirOperation loop, products *p)
{
    MlirBlock body = tile_loop_body(loop);
    *p = (products){.release = {NULL}};
    for (MlirOperation op = mlirBlockGetFirstOperation(body); !mlirOperationIsNull(op);
         op = mlirOperationGetNextInBlock(op)) {
        if (cute_op_is(op, "cute.tile.release")) {
            if (!mlirOperationIsNull(p->release)) return "the loop has several pipes";
            p->release = op;
        }
        if (cute_op_is(op, "cute.tile.put")) return p->count = 0, ""; /* cute-tile-overlap, cute-tile-skew */
        if (!cute_op_is(op, "cute.tile.gemm")) continue;
        if (!cute_op_has(op, "wgmma")) return "it has a product of single warps";
        if (cute_op_has(op, TILE_HELD)) return p->count = 0, ""; /* cute-tile-skew */
        if (cute_op_has(op, "pending")) return "they are asynchronous";
        if (p->count == MOST) return "it has too many";
        p->gemm[p->count++] = op;
    }
    if (!p->count) return "it has no product";
    if (mlirOperationIsNull(p->release)) return "its operands are not in stages";
    for (int i = 0; i < p->count; i++) {
        MlirOperation op = p->gemm[i], user = cute_only_user(mlirOperationGetResult(op, 0));
        MlirValue sum = mlirOperationGetOperand(op, 2);
        bool carried = mlirValueIsABlockArgument(sum) && mlirBlockEqual(mlirBlockArgumentGetOwner(sum), body);
        if (!carried && !(i && mlirValueEqual(sum, mlirOperationGetResult(p->gemm[i - 1], 0))))
            return "an accumulator is not carried by the loop";
        if (mlirOperationIsNull(cute_only_user(sum))) return "an accumulator is used in the loop";
        bool goes_on =
            !mlirOperationIsNull(user) &&
            (cute_op_is(user, "scf.yield") || (i + 1 < p->count && mlirOperationEqual(user, p->gemm[i + 1])));
        if (!goes_on) return "a sum is used in the loop";
        for (int k = 0; k < 2; k++) {
            int dims[2];
            MlirOperation source = tile_operand_source(mlirOperationGetOperand(op, k), dims);
            if (mlirOperationIsNull(source) || !cute_op_is(source, "cute.tile.take"))
                return "an operand is not in a stage";
        }
    }
    return NULL;
}

/* The last product of a loop whose products, of warpgroups, wait for one another, where the only release is directly behind it; null: it may not be
 * an iteration later. */
static MlirOperation product_in_front_of_release(MlirOperation loop)
{
    const MlirOperation none = {NULL};
    MlirOperation last = none, release = none;
    for (MlirOperation op = mlirBlockGetFirstOperation(tile_loop_body(loop)); !mlirOperationIsNull(op);
         op = mlirOperationGetNextInBlock(op)) {
        if (cute_op_is(op, "cute.tile.release")) {
            if (!mlirOperationIsNull(release) || mlirOperationGetNumOperands(op) != 2) return none;
            release = op;
        }
        if (cute_op_is(op, "cute.tile.put")) return none; /* cute-tile-skew */
        if (!cute_op_is(op, "cute.tile.gemm")) continue;
        if (!cute_op_has(op, "wgmma") || cute_op_has(op, "pending")) return none;
        last = op;
    }
    if (mlirOperationIsNull(last) || mlirOperationIsNull(release)) return none;
    for (int k = 0; k < 2; k++) {
        int dims[2];
        MlirOperation source = tile_operand_source(mlirOperationGetOperand(last, k), dims);
        if (mlirOperationIsNull(source) || !cute_op_is(source, "cute.tile.take")) return none;
    }
    return mlirOperationEqual(mlirOperationGetNextInBlock(last), release) ? last : none;
}

static void note_loop(MlirOperation op, void *context)
{
    work *w = context;
    products p;
    const char *why = find_products(op, &p);
    if (!why && w->count < MOST)
        w->loops[w->count++] = op;
    else if (why && *why && p.count)
        tile_refuse(w->pass, op, "products of this loop wait for one another: %s", why);
    if (why && w->waiting_count < MOST && !mlirOperationIsNull(product_in_front_of_release(op)))
        w->waiting[w->waiting_count++] = op;
}

/* ---- loads behind the loop ---- */

typedef struct small_loads {
    MlirOperation loop, items[MOST];
    int count;
} small_loads;

/* A tile of a few values of a thread, as a column that all columns add, behind `loop` or in a branch there. */
static void note_small(MlirOperation op, void *context)
{
    enum { FEW = 8 };
    small_loads *s = context;
    tile_distribution d;
    const cute_builder none = {.block = {NULL}};
    if (s->count == MOST || cute_op_has(op, TILE_LATE) || cute_op_has(op, "width") ||
        mlirOperationGetNumOperands(op) > 2 ||
        !tile_distribution_of(mlirValueGetType(mlirOperationGetResult(op, 0)), &d) || tile_values(&d) > FEW)
        return;
    MlirOperation at = op;
    MlirBlock around = mlirOperationGetBlock(s->loop);
    while (!mlirBlockEqual(mlirOperationGetBlock(at), around)) {
        at = tile_parent(at);
        if (!cute_op_is(at, "scf.if")) return;
    }
    for (at = mlirOperationGetNextInBlock(at); !mlirOperationIsNull(at); at = mlirOperationGetNextInBlock(at))
        if (mlirOperationEqual(at, s->loop)) return; /* it is in front */
    if (!tile_is_written(mlirOperationGetOperand(op, 0), op) &&
        !mlirValueIsNull(tile_hoist(&none, s->loop, mlirOperationGetOperand(op, 1))))
        s->items[s->count++] = op;
}

/* They are under way while the last products are computed. */
static void load_before(MlirOperation loop, MlirOperation settle)
{
    small_loads s = {.loop = loop};
    cute_op_walk(cute_op_parent(loop, "gpu.func"), "cute.tile.load", CUTE_WALK_OUTER_FIRST, note_small, &s);
    cute_builder b = cute_builder_before(settle);
    for (int i = 0; i < s.count; i++) {
        MlirOperation op = s.items[i];
        mlirOperationSetOperand(op, 1, tile_hoist(&b, settle, mlirOperationGetOperand(op, 1)));
        mlirOperationMoveBefore(op, settle);
    }
}

MlirOperation tile_release_later(MlirOperation loop, MlirOperation release)
{
    cute_builder b = cute_builder_before(loop);
    MlirValue zero = cute_build_constant(&b, 32, 0);
    loop = tile_loop_carry(loop, &zero, 1);
    MlirBlock body = tile_loop_body(loop);
    intptr_t last = mlirOperationGetNumResults(loop) - 1;
    MlirValue low = mlirOperationGetOperand(loop, 0), stop = mlirOperationGetOperand(loop, 1),
              pipe = mlirOperationGetOperand(release, 0), stage = mlirOperationGetOperand(release, 1);
    b = cute_builder_before(release);
    MlirValue later = cute_compare(&b, CUTE_IS_NE, mlirBlockGetArgument(body, 0), low);
    cute_build(&b, "cute.tile.release", CUTE_OPERANDS(pipe, mlirBlockGetArgument(body, 1 + last), later),
               CUTE_NO_TYPES, CUTE_NO_NAMED);
    mlirOperationDestroy(release);
    mlirOperationSetOperand(mlirBlockGetTerminator(body), last, stage);
    b = cute_builder_before(mlirOperationGetNextInBlock(loop));
    b.location = mlirOperationGetLocation(loop);
    MlirValue any = cute_compare(&b, CUTE_IS_SLT, low, stop);
    cute_build(&b, "cute.tile.release", CUTE_OPERANDS(pipe, mlirOperationGetResult(loop, last), any),
               CUTE_NO_TYPES, CUTE_NO_NAMED);
    return loop;
}

static void make_asynchronous(MlirOperation loop)
{
    products p;
    find_products(loop, &p);
    loop = tile_release_later(loop, p.release);
    /* An iteration that LLVM peels off has its sum in other registers: moves of registers that products still write. */
    tile_loop_keep_whole(loop);
    for (int i = 0; i < p.count; i++) tile_set_pending(p.gemm[i], i + 1 < p.count ? TILE_NO_WAIT : p.count);
    MlirOperation yield = mlirBlockGetTerminator(tile_loop_body(loop));
    cute_builder b = cute_builder_before(mlirOperationGetNextInBlock(loop));
    b.location = mlirOperationGetLocation(loop);
    for (intptr_t i = 0; i < mlirOperationGetNumResults(loop) - 1; i++) {
        MlirOperation from = cute_defining_op(mlirOperationGetOperand(yield, i));
        if (mlirOperationIsNull(from) || !cute_op_is(from, "cute.tile.gemm")) continue;
        MlirValue sum = mlirOperationGetResult(loop, i);
        MlirValue settled = tile_settle(&b, sum, 0);
        mlirValueReplaceAllUsesOfWith(sum, settled);
        mlirOperationSetOperand(cute_defining_op(settled), 0, sum);
    }
    load_before(loop, mlirOperationGetNextInBlock(loop));
}

static void run_async_products(MlirOperation root, cute_pass_run *pass)
{
    work w = {.pass = pass};
    cute_op_walk(root, "scf.for", CUTE_WALK_INNER_FIRST, note_loop, &w);
    for (int i = w.count - 1; i >= 0; i--) make_asynchronous(w.loops[i]);
    for (int i = w.waiting_count - 1; i >= 0; i--) {
        MlirOperation product = product_in_front_of_release(w.waiting[i]);
        tile_release_later(w.waiting[i], mlirOperationGetNextInBlock(product));
        /* Its condition is in front of the product, so that it is directly behind it again. */
        mlirOperationMoveBefore(mlirOperationGetNextInBlock(product), product);
    }
    if (!w.count && !w.waiting_count) cute_pass_unchanged(pass);
}

const cute_pass cute_pass_async_products = {
    .name = "cute-async-products",
    .help = "Issue the products of an iteration while those before are under way",
    .dialects = CUTE_DIALECT_CUTE | CUTE_DIALECT_ARITH | CUTE_DIALECT_SCF | CUTE_DIALECT_LLVM,
    .run = run_async_products,
};
