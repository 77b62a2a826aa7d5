/* cute-tile-overlap: the products of an iteration are under way while the factors of later ones are computed.
 *
 * Requires: cute-warp-specialization; a loop of the consumers with three products of warpgroups or more, whose factors are in stages or in registers.
 * Each of them adds to a tile that is not computed from sums, or to a sum that the loop carries and nothing else in it uses. Ensures: a product is issued behind the one before it in
 * the text where its factors are known there, and else where it was. Sums that are not carried are complete at a cute.tile.settle, in front of the
 * first operation that uses them; so many products as are issued between may then still be under way. Carried sums are complete behind the
 * loop. Stages are released in the next iteration, behind its first cute.tile.settle, which is behind all products of the iteration before.
 *
 *     scf.for ... iter_args(%acc) {
 *       await ; %s = gemm(%k, %q, 0) ; %p = FACTOR(%s) ; %t = gemm(%v, %o, 0) ; %f = FACTOR(%p, %t)
 *       %r = gemm(%f, %q, %acc) ; release ; scf.yield %r
 *     }
 * ->
 *     scf.for ... iter_args(%acc, %before) {
 *       await ; %s = gemm(%k, %q, 0) {pending} ; %t = gemm(%v, %o, 0) {pending} ; %u = settle(%s) {pending = 1} ; release(%before)
 *       %p = FACTOR(%u) ; %w = settle(%t) ; %f = FACTOR(%p, %w) ; %r = gemm(%f, %q, %acc) {pending} ; scf.yield %r, ...
 *     }
 *     settle ; release
 */
#include <mlir-c/BuiltinAttributes.h>
#include <mlir-c/BuiltinTypes.h>

#include "lib/ir/mlir/arith.h"
#include "lib/ir/mlir/util.h"
#include "lib/passes/passes.h"
#include "lib/passes/tiles/describe_schedule.h"
#include "lib/passes/tiles/emit.h"
#include "lib/passes/tiles/schedule.h"

enum { MOST = 16, MOST_READ = 64, FEWEST = 3 };

typedef struct products {
    MlirOperation gemm[MOST], release[MOST];
    bool carried[MOST]; /* the sum is: it is complete behind the loop */
    int count, releases;
} products;

typedef struct work {
    cute_pass_run *pass;
    MlirOperation loops[MOST];
    int count;
} work;

/* ---- which loops ---- */

/* NULL, or why the product waits ("": it is of other passes); *carried: its sum is a value that the loop carries, and that nothing else uses. */
static const char *check_product(MlirBlock body, MlirOperation op, bool *carried)
{
    int dims[2];
    for (int i = 0; i < 2; i++) {
        if (!i && cute_op_has(op, TILE_HELD)) continue;
        MlirOperation source = tile_operand_source(mlirOperationGetOperand(op, i), dims);
        if (mlirOperationIsNull(source) || !cute_op_is(source, "cute.tile.take")) return "";
    }
    MlirValue sum = mlirOperationGetOperand(op, 2);
    *carried = mlirValueIsABlockArgument(sum) && mlirBlockEqual(mlirBlockArgumentGetOwner(sum), body);
    bool starts = !mlirValueIsABlockArgument(sum) && mlirOperationIsNull(tile_product_of(sum));
    if (!*carried) return starts ? NULL : "a product adds to other sums";
    if (mlirOperationIsNull(cute_only_user(sum)) ||
        !mlirOperationEqual(cute_only_user(mlirOperationGetResult(op, 0)), mlirBlockGetTerminator(body)))
        return "a sum that the loop carries is used in it";
    return NULL;
}

static void look_for_product(MlirOperation op, void *context)
{
    (void)op;
    ++*(int *)context;
}

/* NULL, or why products wait; "": there are too few. */
static const char *find_products(MlirOperation loop, products *p)
{
    MlirBlock body = tile_loop_body(loop);
    int all = 0;
    bool put = false, held = false;
    const char *why = NULL;
    *p = (products){.count = 0};
    cute_op_walk(loop, "cute.tile.gemm", CUTE_WALK_OUTER_FIRST, look_for_product, &all);
    for (MlirOperation op = mlirBlockGetFirstOperation(body); !mlirOperationIsNull(op);
         op = mlirOperationGetNextInBlock(op)) {
        if (cute_op_is(op, "cute.tile.release")) {
            if (p->releases == MOST || mlirOperationGetNumOperands(op) != 2) return "";
            p->release[p->releases++] = op;
        }
        put |= cute_op_is(op, "cute.tile.put");
        if (!cute_op_is(op, "cute.tile.gemm")) continue;
        held |= cute_op_has(op, TILE_HELD);
        if (!cute_op_has(op, "wgmma") || cute_op_has(op, "pending") || p->count == MOST) return "";
        const char *own = check_product(body, op, &p->carried[p->count]);
        if (!why) why = own;
        p->gemm[p->count++] = op;
    }
    if (p->count < FEWEST || all != p->count || !p->releases) return "";
    bool local = false;
    for (int i = 0; i < p->count; i++) local |= !p->carried[i];
    if (why && put && !held) return ""; /* cute-tile-skew */
    return why ? why : local ? NULL : "";
}

static void note_loop(MlirOperation op, void *context)
{
    work *w = context;
    products p;
    const char *why = find_products(op, &p);
    if (!why && w->count < MOST)
        w->loops[w->count++] = op;
    else if (why && *why)
        tile_refuse(w->pass, op, "products of this loop wait for one another: %s", why);
}

/* ---- the change ---- */

/* Whether `value` is known in front of an operation of `op`'s block. */
static bool is_known(MlirValue value, MlirOperation op)
{
    MlirOperation from = cute_defining_op(value);
    if (mlirOperationIsNull(from) || !mlirBlockEqual(mlirOperationGetBlock(from), mlirOperationGetBlock(op)))
        return true;
    for (MlirOperation at = mlirOperationGetNextInBlock(from); !mlirOperationIsNull(at);
         at = mlirOperationGetNextInBlock(at))
        if (mlirOperationEqual(at, op)) return true;
    return false;
}

/* Moves a product, and the views that its factors are, to directly behind `before`, if they are of tiles that are known there. */
static void issue_early(MlirOperation product, MlirOperation before)
{
    MlirOperation views[MOST], behind = mlirOperationGetNextInBlock(before);
    int count = 0;
    for (int i = 0; i < 3; i++) {
        MlirValue value = mlirOperationGetOperand(product, i);
        while (!is_known(value, before)) {
            MlirOperation op = cute_defining_op(value);
            bool view = cute_op_is(op, "cute.tile.permute") || cute_op_is(op, "cute.tile.reshape");
            if (!view || count == MOST) return;
            views[count++] = op;
            value = mlirOperationGetOperand(op, 0);
        }
    }
    if (mlirOperationEqual(behind, product)) return;
    while (count-- > 0) mlirOperationMoveBefore(views[count], behind);
    mlirOperationMoveBefore(product, behind);
}

/* Products between `product` and `end`, an operation behind it. */
static int issued_between(MlirOperation product, MlirOperation end)
{
    int count = 0;
    for (MlirOperation op = mlirOperationGetNextInBlock(product); !mlirOperationEqual(op, end);
         op = mlirOperationGetNextInBlock(op))
        count += cute_op_is(op, "cute.tile.gemm");
    return count;
}

/* A cute.tile.settle of `sum` at the builder's place, which `pending` later products need not wait for. It takes the place of the sum. */
static MlirOperation settle(const cute_builder *b, MlirValue sum, int pending)
{
    MlirValue settled = tile_settle(b, sum, pending);
    MlirOperation made = cute_defining_op(settled);
    mlirValueReplaceAllUsesOfWith(sum, settled);
    mlirOperationSetOperand(made, 0, sum);
    return made;
}

/* Moves what threads read in stages, and views of it, in front of its first use: registers are few while products are under way. */
static void read_late(MlirBlock body)
{
    MlirOperation ops[MOST_READ];
    int count = 0;
    for (MlirOperation op = mlirBlockGetFirstOperation(body); !mlirOperationIsNull(op) && count < MOST_READ;
         op = mlirOperationGetNextInBlock(op)) {
        bool view = cute_op_is(op, "cute.tile.broadcast") || cute_op_is(op, "cute.tile.reshape"),
             take = cute_op_is(op, "cute.tile.take") && !tile_read_in_place(op);
        if (view || take) ops[count++] = op;
    }
    while (count-- > 0) {
        MlirOperation user = tile_first_user(body, mlirOperationGetResult(ops[count], 0));
        mlirOperationMoveBefore(ops[count], user);
    }
}

static void overlap(MlirOperation loop)
{
    products p;
    find_products(loop, &p);
    for (int i = 0; i < p.releases; i++) loop = tile_release_later(loop, p.release[i]);
    tile_loop_keep_whole(loop);
    MlirBlock body = tile_loop_body(loop);
    MlirOperation yield = mlirBlockGetTerminator(body), first = {NULL};
    for (int i = 0; i < p.count; i++) {
        if (i) issue_early(p.gemm[i], p.gemm[i - 1]);
        tile_set_pending(p.gemm[i], TILE_NO_WAIT);
    }
    for (int i = 0; i < p.count; i++) {
        if (p.carried[i]) continue;
        MlirOperation user = tile_first_user(body, mlirOperationGetResult(p.gemm[i], 0));
        cute_builder b = cute_builder_before(user);
        b.location = mlirOperationGetLocation(p.gemm[i]);
        MlirOperation made =
            settle(&b, mlirOperationGetResult(p.gemm[i], 0), issued_between(p.gemm[i], user));
        if (mlirOperationIsNull(first)) first = made;
    }
    /* Factors in registers are not kept into the next iteration for more than the last product. */
    MlirOperation last = p.gemm[p.count - 1];
    bool waits = false;
    for (MlirOperation op = last; !mlirOperationIsNull(op); op = mlirOperationGetNextInBlock(op))
        waits |= cute_op_is(op, "cute.tile.settle");
    if (!waits) tile_set_pending(last, 1);
    /* All products of the iteration before are complete behind the first one. */
    MlirOperation behind = mlirOperationGetNextInBlock(first);
    for (MlirOperation op = mlirBlockGetFirstOperation(body), next; !mlirOperationIsNull(op); op = next) {
        next = mlirOperationGetNextInBlock(op);
        if (!cute_op_is(op, "cute.tile.release")) continue;
        mlirOperationMoveBefore(cute_defining_op(mlirOperationGetOperand(op, 2)), first);
        if (!mlirOperationEqual(op, behind)) mlirOperationMoveBefore(op, behind);
    }
    read_late(body);
    cute_builder b = cute_builder_before(mlirOperationGetNextInBlock(loop));
    b.location = mlirOperationGetLocation(loop);
    for (intptr_t i = 0; i < mlirOperationGetNumResults(loop); i++) {
        MlirOperation from = cute_defining_op(mlirOperationGetOperand(yield, i));
        if (!mlirOperationIsNull(from) && cute_op_is(from, "cute.tile.gemm"))
            settle(&b, mlirOperationGetResult(loop, i), 0);
    }
}

static void run_tile_overlap(MlirOperation root, cute_pass_run *pass)
{
    work w = {.pass = pass};
    cute_op_walk(root, "scf.for", CUTE_WALK_INNER_FIRST, note_loop, &w);
    for (int i = w.count - 1; i >= 0; i--) {
        cute_pass_remark(pass, mlirOperationGetLocation(w.loops[i]),
                         "products of an iteration are under way while their factors are computed");
        overlap(w.loops[i]);
    }
    if (!w.count) cute_pass_unchanged(pass);
}

const cute_pass cute_pass_tile_overlap = {
    .name = "cute-tile-overlap",
    .help = "Issue the products of an iteration while their factors are computed",
    .dialects = CUTE_DIALECT_CUTE | CUTE_DIALECT_ARITH | CUTE_DIALECT_SCF | CUTE_DIALECT_LLVM,
    .run = run_tile_overlap,
};
