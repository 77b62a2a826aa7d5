/* cute-tile-skew: a loop with two products, the second of which has a factor computed from the sums of the first one, is skewed: an
 * iteration computes its first product and the second one of the iteration before, and both are under way while its factor is computed.
 *
 * Requires: cute-warp-specialization; a loop of the consumers with two products of warpgroups, on tiles of two pipes. The first adds to
 * 0, the sums of the second are carried by the loop. Ensures: the loop begins with its second iteration, and carries the factor. The first
 * iteration up to its factor is in front of the loop, the last second product behind it, both where there is an iteration. The sums
 * of the first product are complete at its cute.tile.settle, those of the second where they are needed, behind the factor: until then no
 * registers of the factor are written. Where the next factor fits beside it, a branch marked `cute.rare` in front of which they are needed stays
 * marked: cute-tile-distribute moves the wait into its regions.
 *
 *     scf.for %i = %low to %high iter_args(%o) {
 *       await(%pk) ; %s = gemm(%q, %k, 0) ; release(%pk) ; %p = FACTOR(%s) ; %u = SCALE(%o)
 *       await(%pv) ; %r = gemm(%p, %v, %u) ; release(%pv) ; scf.yield %r
 *     }
 * ->
 *     %p0, %u0 = scf.if %any { await(%pk) ; %s = gemm(%q, %k, 0) ; release(%pk) ; %p = FACTOR(%s) ; %u = SCALE(%o) }
 *     %p1, %u1 = scf.for %i = %low + 1 to %high iter_args(%p = %p0, %u = %u0) {
 *       await(%pk) ; %s = gemm(%q, %k, 0) {pending} ; await(%pv) ; %r = gemm(%p, %v, %u) {pending}
 *       %t = settle(%s) {pending = 1} ; release(%pk) ; %n = FACTOR(%t) ; %o = settle(%r) ; release(%pv) ; scf.yield %n, SCALE(%o)
 *     }
 *     scf.if %any { await(%pv) ; gemm(%p1, %v, %u1) ; release(%pv) }
 *
 * The same for products of one pipe, of which the last has a factor that warpgroups exchange (cute-tile-exchange) and the others add to one sum. The
 * loop carries the index of the last product's stage, which is released one iteration later; the pipe has two stages or more. The last product is
 * issued first: it is complete, and its stage free, while the first of the others is under way.
 *
 *     scf.for %i = %low to %high iter_args(%o, %s) {
 *       await(%s) ; %x = gemm(%q, %k, 0) ; put(FACTOR(%x)) ; %r = gemm(take, %k, SCALE(%o)) ; release(%s) ; scf.yield %r, %s + 1
 *     }
 * ->
 *     scf.if %any { await(%s) ; %x = gemm(%q, %k, 0) ; put(FACTOR(%x)) }
 *     scf.for %i = %low + 1 to %high iter_args(%u, %s, %before) {
 *       %r = gemm(take, %k[%before], %u) {pending} ; await(%s) ; %x = gemm(%q, %k, 0) {pending} ; settle(%r) {pending = 1} ; release(%before)
 *       %y = settle(%x) ; %o = settle(%r) ; put(FACTOR(%y)) ; scf.yield SCALE(%o), %s + 1, %s
 *     }
 *     scf.if %any { gemm(take, %k[%before], %u) ; release(%before) }
 */
#include <mlir-c/BuiltinAttributes.h>
#include <mlir-c/BuiltinTypes.h>

#include "lib/ir/dialects/types.h"
#include "lib/ir/mlir/arith.h"
#include "lib/ir/mlir/shim.h"
#include "lib/ir/mlir/util.h"
#include "lib/passes/passes.h"
#include "lib/passes/tiles/copies.h"
#include "lib/passes/tiles/describe_schedule.h"
#include "lib/passes/tiles/schedule.h"

enum { MOST = 16, MOST_OPS = 16, MOST_CARRIED = 64 };

/* A product and the stage that it reads. */
typedef struct staged {
    MlirOperation product, await, release, advance; /* advance: of the stage and phase */
    MlirOperation ops[MOST_OPS]; /* the take and the views of it, in order, without the product */
    int op_count;
    intptr_t stage, phase; /* arguments of the loop's body */
} staged;

typedef struct work {
    cute_pass_run *pass;
    MlirOperation loops[MOST];
    int count;
} work;

/* ---- which loops ---- */

static intptr_t argument_of(MlirBlock body, MlirValue value)
{
    bool own = mlirValueIsABlockArgument(value) && mlirBlockEqual(mlirBlockArgumentGetOwner(value), body);
    return own ? mlirBlockArgumentGetArgNumber(value) : -1;
}

/* The operations of the body that operand `value` of a product is made of: a take, views of it. Constants are moved out of the loop. */
static bool collect_views(MlirBlock body, MlirValue value, staged *s)
{
    MlirOperation op = cute_defining_op(value);
    if (mlirOperationIsNull(op) || !mlirBlockEqual(mlirOperationGetBlock(op), body))
        return argument_of(body, value) < 0;
    if (cute_op_is(op, "arith.constant")) return true;
    bool view = cute_op_is(op, "cute.tile.permute") || cute_op_is(op, "cute.tile.reshape");
    if (view && !collect_views(body, mlirOperationGetOperand(op, 0), s)) return false;
    if (!view && !cute_op_is(op, "cute.tile.take")) return false;
    for (int i = 0; i < s->op_count; i++)
        if (mlirOperationEqual(s->ops[i], op)) return true;
    if (s->op_count == MOST_OPS) return false;
    s->ops[s->op_count++] = op;
    return true;
}

/* The await, the release and the next state of the pipe whose stage the take in `ops` reads. */
static bool find_pipe(MlirBlock body, staged *s)
{
    MlirOperation take = {NULL};
    for (int i = 0; i < s->op_count; i++)
        if (cute_op_is(s->ops[i], "cute.tile.take")) take = s->ops[i];
    if (mlirOperationIsNull(take)) return false;
    s->stage = argument_of(body, mlirOperationGetOperand(take, 1));
    if (s->stage < 1) return false;
    for (MlirOperation op = mlirBlockGetFirstOperation(body); !mlirOperationIsNull(op);
         op = mlirOperationGetNextInBlock(op)) {
        bool await = cute_op_is(op, "cute.tile.await"), release = cute_op_is(op, "cute.tile.release");
        if ((!await && !release) || argument_of(body, mlirOperationGetOperand(op, 1)) != s->stage) continue;
        if (await)
            s->await = op;
        else
            s->release = op;
    }
    if (mlirOperationIsNull(s->await) || mlirOperationIsNull(s->release)) return false;
    s->phase = argument_of(body, mlirOperationGetOperand(s->await, 2));
    if (s->phase < 1) return false;
    MlirOperation yield = mlirBlockGetTerminator(body);
    s->advance = cute_defining_op(mlirOperationGetOperand(yield, s->stage - 1));
    return !mlirOperationIsNull(s->advance) && cute_op_is(s->advance, "cute_nvgpu.arch.pipeline_advance") &&
           mlirOperationEqual(s->advance, cute_defining_op(mlirOperationGetOperand(yield, s->phase - 1)));
}

static bool only_yield(MlirValue value, MlirBlock body)
{
    return mlirOperationEqual(cute_only_user(value), mlirBlockGetTerminator(body));
}

/* Whether a thread has registers for `sums` copies of the first product's sums, `factors` of the second one's factor, its sums, and `others`. */
static bool fits(MlirOperation first, MlirOperation second, int sums, int factors, int others)
{
    int64_t all = cute_tile_number(tile_role_around(first), "registers", 0),
            needed = sums * tile_registers_of(mlirOperationGetResult(first, 0)) +
                     factors * tile_registers_of(mlirOperationGetOperand(second, 0)) +
                     tile_registers_of(mlirOperationGetResult(second, 0));
    return !all || needed + others <= all;
}

/* Whether both sums, the factor while it is read, and the next one before it is rounded fit in the registers of a thread at the same time. */
static bool fits_registers(MlirOperation first, MlirOperation second)
{
    return fits(first, second, 2, 1, 12);
}

/* Whether the factor that a product reads and the next one, rounded, fit beside both sums, as a branch in front of the wait for the product requires.
 * Elements of fewer than 16 bits are also exchanged between lanes. */
static bool fits_both_factors(MlirOperation first, MlirOperation second)
{
    MlirType element = cute_tile_element(mlirValueGetType(mlirOperationGetOperand(second, 0)));
    return mlirTypeIsAFloat(element) && mlirFloatTypeGetWidth(element) == 16 && fits(first, second, 1, 2, 36);
}

/* NULL, or why the loop is not skewed. */
static const char *find_products(MlirOperation loop, staged *first, staged *second)
{
    MlirBlock body = tile_loop_body(loop);
    *first = (staged){.product = {NULL}};
    *second = *first;
    for (MlirOperation op = mlirBlockGetFirstOperation(body); !mlirOperationIsNull(op);
         op = mlirOperationGetNextInBlock(op)) {
        if (!cute_op_is(op, "cute.tile.gemm")) continue;
        if (!mlirOperationIsNull(second->product)) return "it has more than two products";
        staged *to = mlirOperationIsNull(first->product) ? first : second;
        to->product = op;
    }
    if (mlirOperationIsNull(second->product)) return "it has one product";
    if (!cute_op_has(first->product, "wgmma") || !cute_op_has(second->product, TILE_HELD))
        return "warpgroups do not multiply with a factor in registers";
    if (!mlirOperationEqual(tile_product_of(mlirOperationGetOperand(second->product, 0)), first->product))
        return "the factor is not computed from the sums of its first product";
    if (!cute_op_is(tile_role_around(loop), "cute.tile.role")) return "the warps that compute also load";
    if (!tile_is_zero(mlirOperationGetOperand(first->product, 2))) return "its first product adds to sums";
    if (!only_yield(mlirOperationGetResult(second->product, 0), body))
        return "it uses the sums of its second product";
    int dims[2];
    MlirOperation other = tile_operand_source(mlirOperationGetOperand(first->product, 0), dims);
    if (mlirOperationIsNull(other) || !cute_op_is(other, "cute.tile.take"))
        return "a factor of its first product is not in a stage";
    for (int i = 0; i < 3; i++)
        if (!collect_views(body, mlirOperationGetOperand(first->product, i), first))
            return "a factor of its first product is computed in the loop";
    if (!collect_views(body, mlirOperationGetOperand(second->product, 1), second))
        return "the other factor of its second product is computed";
    if (!find_pipe(body, first) || !find_pipe(body, second))
        return "the factors are not in stages of two pipes";
    return first->stage == second->stage ? "both products are of one pipe" : NULL;
}

/* A product with a factor in registers that waits: cute-tile-overlap has not taken the loop. */
static void look_for_held(MlirOperation op, void *context)
{
    *(bool *)context |= cute_op_has(op, TILE_HELD) && !cute_op_has(op, "pending");
}

/* The stages of the ring that a take reads. */
static int64_t stages_of(MlirOperation take)
{
    cute_tile_shape tile;
    int64_t stages;
    const cute_value *ring = cute_type_peek(mlirValueGetType(mlirOperationGetOperand(take, 0)));
    return cute_tile_ring_shape(ring, &tile, &stages) ? stages : 0;
}

static const char *check_exchange(MlirBlock body, MlirOperation put, const staged *first,
                                  const staged *second)
{
    int dims[2];
    MlirOperation factor = tile_operand_source(mlirOperationGetOperand(second->product, 0), dims),
                  other = tile_operand_source(mlirOperationGetOperand(second->product, 1), dims);
    if (mlirOperationIsNull(factor) || !cute_op_is(factor, "cute.tile.take") ||
        !mlirValueEqual(mlirOperationGetOperand(factor, 0), mlirOperationGetOperand(put, 1)) ||
        !mlirOperationEqual(tile_product_of(mlirOperationGetOperand(put, 0)), first->product))
        return "its last product has another factor than that which warpgroups exchange";
    if (!only_yield(mlirOperationGetResult(second->product, 0), body))
        return "it uses the sums of its last product";
    intptr_t sums =
        mlirOpOperandGetOperandNumber(mlirValueGetFirstUse(mlirOperationGetResult(second->product, 0)));
    MlirOperation user = tile_first_user(body, mlirBlockGetArgument(body, 1 + sums));
    if (!cute_op_in_front(mlirOperationGetNextInBlock(first->product), user))
        return "it uses the sums that it carries in front of its products";
    if (mlirOperationIsNull(other) || !cute_op_is(other, "cute.tile.take") ||
        argument_of(body, mlirOperationGetOperand(other, 1)) != first->stage)
        return "its products are of several pipes";
    return stages_of(other) < 2 ? "its pipe has one stage" : NULL;
}

/* The same for a loop with products of one pipe whose last one has a factor that warpgroups exchange: the others add to the sums from which it is
 * computed. `second` has the release. */
static const char *find_exchanging(MlirOperation loop, staged *first, staged *second)
{
    MlirBlock body = tile_loop_body(loop);
    MlirOperation put = {NULL};
    *first = *second = (staged){.product = {NULL}};
    for (MlirOperation op = mlirBlockGetFirstOperation(body); !mlirOperationIsNull(op);
         op = mlirOperationGetNextInBlock(op)) {
        if (cute_op_is(op, "cute.tile.put")) {
            if (!mlirValueIsNull(tile_filled_pipe(op))) return ""; /* a role of its own computes the factor */
            if (!mlirOperationIsNull(put)) return "warpgroups exchange several factors";
            put = op;
        }
        if (!cute_op_is(op, "cute.tile.gemm")) continue;
        if (!cute_op_has(op, "wgmma") || cute_op_has(op, "pending") || cute_op_has(op, TILE_HELD)) return "";
        first->product = second->product;
        second->product = op;
    }
    if (mlirOperationIsNull(put) || mlirOperationIsNull(first->product) ||
        !cute_op_is(tile_role_around(loop), "cute.tile.role"))
        return "";
    for (MlirOperation op = first->product; !mlirOperationIsNull(op);) {
        MlirValue sum = mlirOperationGetOperand(op, 2);
        for (int i = 0; i < 2; i++)
            if (!collect_views(body, mlirOperationGetOperand(op, i), first))
                return "a factor of its first products is computed in the loop";
        op = cute_defining_op(sum);
        if (tile_is_zero(sum)) break;
        if (mlirOperationIsNull(op) || !cute_op_is(op, "cute.tile.gemm") ||
            mlirOperationIsNull(cute_only_user(sum)))
            return "its first products add to sums";
    }
    if (!find_pipe(body, first) || mlirOperationGetNumOperands(first->release) != 2)
        return "the factors are not in stages of a pipe";
    for (int i = 0; i < 2; i++)
        if (!collect_views(body, mlirOperationGetOperand(second->product, i), second))
            return "the other factor of its last product is computed";
    const char *why = check_exchange(body, put, first, second);
    second->release = first->release;
    second->stage = first->stage;
    first->release = (MlirOperation){NULL};
    return why;
}

static void note_loop(MlirOperation op, void *context)
{
    work *w = context;
    staged first, second;
    const char *none = find_exchanging(op, &first, &second);
    if (!none && w->count < MOST) {
        w->loops[w->count++] = op;
        return;
    }
    if (none && *none)
        tile_refuse(w->pass, op, "products of this loop do not overlap the computation between them: %s",
                    none);
    bool held = false;
    for (MlirOperation at = mlirBlockGetFirstOperation(tile_loop_body(op)); !mlirOperationIsNull(at);
         at = mlirOperationGetNextInBlock(at))
        if (cute_op_is(at, "cute.tile.gemm")) look_for_held(at, &held);
    if (!held) return;
    const char *why = find_products(op, &first, &second);
    if (!why && w->count < MOST)
        w->loops[w->count++] = op;
    else
        tile_refuse(w->pass, op, "products of this loop do not overlap the computation between them: %s",
                    why ? why : "");
}

/* ---- the loop ---- */

typedef struct pair {
    /* The factor passes through a stage: the loop carries the index of the second product's stage instead. */
    bool exchanges;
    MlirOperation loop;
    MlirBlock body;
    staged first, second;
    intptr_t sums;     /* of the loop's results: those of the second product */
    MlirValue any;     /* i1: there is an iteration */
    MlirValue factor;  /* of the second product, or its stage */
    MlirOperation end; /* the loop's yield */
} pair;

/* Whether an operation of the body belongs to the second product: it is not executed in front of the loop. */
static bool is_of_second(const pair *p, MlirOperation op)
{
    const staged *s = &p->second;
    const MlirOperation own[] = {s->product, s->await, s->release, s->advance, p->end};
    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        if (!mlirOperationIsNull(own[i]) && mlirOperationEqual(op, own[i])) return true;
    for (int i = 0; i < s->op_count; i++)
        if (mlirOperationEqual(op, s->ops[i])) return true;
    return false;
}

/* Whether a result of the loop is the state of a pipe that the second product alone reads. */
static bool is_state(const pair *p, intptr_t result)
{
    return !p->exchanges && (result == p->second.stage - 1 || result == p->second.phase - 1);
}

/* The first iteration up to its factor, in front of the loop, whose initial values it computes. Returns the first factor. */
static MlirValue begin(pair *p)
{
    cute_builder b = cute_builder_before(p->loop);
    MlirValue values[MOST_CARRIED], others[MOST_CARRIED];
    intptr_t at[MOST_CARRIED], results = mlirOperationGetNumResults(p->loop);
    int count = 0;
    tile_copies c = {.into = mlirBlockCreate(0, NULL, NULL)};
    tile_map(&c, mlirBlockGetArgument(p->body, 0), mlirOperationGetOperand(p->loop, 0));
    for (intptr_t i = 0; i < results; i++)
        tile_map(&c, mlirBlockGetArgument(p->body, 1 + i), mlirOperationGetOperand(p->loop, 3 + i));
    for (MlirOperation op = mlirBlockGetFirstOperation(p->body); !mlirOperationIsNull(op);
         op = mlirOperationGetNextInBlock(op))
        if (!is_of_second(p, op)) tile_copy(&c, op);
    for (intptr_t i = 0; i < results; i++) {
        if (is_state(p, i)) continue;
        values[count] =
            i == p->sums ? mlirOperationGetOperand(p->second.product, 2) : mlirOperationGetOperand(p->end, i);
        others[count] = mlirOperationGetOperand(p->loop, 3 + i);
        at[count++] = i;
    }
    values[count] = p->factor;
    others[count] = tile_zero_of(&b, mlirValueGetType(p->factor));
    MlirOperation front = tile_copies_if(&b, p->any, &c, NULL, values, others, count + 1);
    for (int i = 0; i < count; i++)
        mlirOperationSetOperand(p->loop, 3 + at[i], mlirOperationGetResult(front, i));
    MlirValue low = cute_binary(&b, "arith.addi", mlirOperationGetOperand(p->loop, 0),
                                mlirOperationGetOperand(p->loop, 2));
    mlirOperationSetOperand(p->loop, 0, low);
    return mlirOperationGetResult(front, count);
}

/* The last second product, behind the loop, of which `factor` (or its stage) is a result. */
static void end(const pair *p, MlirValue factor)
{
    MlirOperation behind = mlirOperationGetNextInBlock(p->loop);
    /* Stages that only the first products read are free. */
    while (cute_op_is(behind, "cute.tile.release") &&
           !mlirValueEqual(mlirOperationGetOperand(behind, 0), mlirOperationGetOperand(p->second.release, 0)))
        behind = mlirOperationGetNextInBlock(behind);
    cute_builder b = cute_builder_before(behind);
    b.location = mlirOperationGetLocation(p->second.product);
    MlirValue sums = mlirOperationGetResult(p->loop, p->sums);
    const staged *s = &p->second;
    MlirValue values[3] = {mlirOperationGetResult(s->product, 0)}, others[3] = {sums};
    int count = 1;
    tile_copies c = {.into = mlirBlockCreate(0, NULL, NULL)};
    tile_map(&c, mlirOperationGetOperand(s->product, 2), sums);
    if (p->exchanges) {
        tile_map(&c, p->factor, factor);
    } else {
        for (; count < 3; count++) {
            intptr_t at = count == 1 ? s->stage : s->phase;
            values[count] = mlirOperationGetResult(s->advance, count - 1);
            others[count] = mlirOperationGetResult(p->loop, at - 1);
            tile_map(&c, mlirBlockGetArgument(p->body, at), others[count]);
        }
        tile_map(&c, p->factor, factor);
        tile_copy(&c, s->await);
    }
    for (int i = 0; i < s->op_count; i++) tile_copy(&c, s->ops[i]);
    tile_copy(&c, s->product);
    tile_copy(&c, s->release);
    if (!p->exchanges) tile_copy(&c, s->advance);
    MlirOperation last = tile_copies_if(&b, p->any, &c, NULL, values, others, count);
    for (int i = 0; i < count; i++) {
        MlirOperation yield =
            mlirBlockGetTerminator(mlirRegionGetFirstBlock(mlirOperationGetRegion(last, 1)));
        mlirValueReplaceAllUsesOfWith(others[i], mlirOperationGetResult(last, i));
        mlirOperationSetOperand(yield, i, others[i]);
    }
    /* What the branch itself reads. */
    tile_copies back = {.count = count};
    for (int i = 0; i < count; i++) back.from[i] = mlirOperationGetResult(last, i), back.to[i] = others[i];
    for (MlirOperation op = mlirBlockGetFirstOperation(c.into); !mlirOperationIsNull(op);
         op = mlirOperationGetNextInBlock(op))
        tile_map_operands(&back, op);
}

/* The sums of a product, which does not wait itself. */
static MlirValue settle(const cute_builder *b, MlirOperation product, int pending)
{
    tile_set_pending(product, TILE_NO_WAIT);
    return tile_settle(b, mlirOperationGetResult(product, 0), pending);
}

/* Warpgroups of the role issue the products of an iteration in turn; the last one begins the first one's. `from`, `to`: the operations in
 * front of which a turn begins and ends. */
static void take_turns(const pair *p, MlirOperation from, MlirOperation to)
{
    enum { GROUP = 4 };
    int64_t groups = cute_tile_number(tile_role_around(p->loop), "warps", 1) / GROUP;
    if (groups < 2) return;
    cute_builder b = cute_builder_before(p->loop);
    MlirValue low = mlirOperationGetOperand(p->loop, 0), high = mlirOperationGetOperand(p->loop, 1),
              turn = cute_build_value(&b, "cute.tile.turn", mlirIntegerTypeGet(b.context, 32),
                                      CUTE_NO_OPERANDS, CUTE_NO_NAMED),
              final = cute_build_constant(&b, 32, groups - 1),
              is_last = cute_compare(&b, CUTE_IS_EQ, turn, final),
              is_other = cute_compare(&b, CUTE_IS_NE, turn, final),
              any = cute_compare(&b, CUTE_IS_SLT, low, high);
    cute_build(&b, "cute.tile.end_turn", CUTE_OPERANDS(cute_binary(&b, "arith.andi", is_last, any)),
               CUTE_NO_TYPES, CUTE_NO_NAMED);
    b = cute_builder_before(from);
    cute_build(&b, "cute.tile.begin_turn", CUTE_NO_OPERANDS, CUTE_NO_TYPES, CUTE_NO_NAMED);
    b = cute_builder_before(to);
    MlirValue left = cute_binary(&b, "arith.subi", high, mlirBlockGetArgument(p->body, 0)),
              more = cute_compare(&b, CUTE_IS_SGT, left, mlirOperationGetOperand(p->loop, 2));
    cute_build(&b, "cute.tile.end_turn", CUTE_OPERANDS(cute_binary(&b, "arith.ori", is_other, more)),
               CUTE_NO_TYPES, CUTE_NO_NAMED);
}

/* The body: both products are issued at its beginning; `factor` is the one that the loop carries. */
static void overlap(const pair *p, MlirValue factor)
{
    const staged *s = &p->second;
    MlirValue carried = mlirBlockGetArgument(p->body, 1 + p->sums),
              scaled = mlirOperationGetOperand(s->product, 2);
    MlirOperation behind = mlirOperationGetNextInBlock(p->first.product),
                  user = tile_first_user(p->body, carried);
    bool whole = fits_registers(p->first.product, s->product);
    mlirOperationSetOperand(s->product, 0, factor);
    mlirOperationMoveBefore(s->await, p->first.product);
    for (int i = 0; i < s->op_count; i++) mlirOperationMoveBefore(s->ops[i], behind);
    mlirOperationMoveBefore(s->product, behind);
    take_turns(p, p->first.product, behind);
    /* The sums of the first product. */
    cute_builder b = cute_builder_before(behind);
    MlirValue first = mlirOperationGetResult(p->first.product, 0),
              settled = settle(&b, p->first.product, whole);
    mlirValueReplaceAllUsesOfWith(first, settled);
    mlirOperationSetOperand(cute_defining_op(settled), 0, first);
    if (!mlirOperationEqual(p->first.release, behind)) mlirOperationMoveBefore(p->first.release, behind);
    /* Those of the second one, where the next ones are scaled. */
    if (!whole) user = mlirOperationGetNextInBlock(p->first.release);
    if (mlirOperationEqual(user, s->product)) user = p->end; /* they are not scaled */
    b = cute_builder_before(user);
    MlirValue complete = settle(&b, s->product, 0);
    mlirValueReplaceAllUsesOfWith(carried, complete);
    mlirOperationMoveBefore(s->release, user);
    mlirOperationSetOperand(s->product, 2, carried);
    mlirOperationSetOperand(p->end, p->sums, mlirValueEqual(scaled, carried) ? complete : scaled);
    if (!fits_both_factors(p->first.product, s->product))
        mlirOperationRemoveDiscardableAttributeByName(user, cute_text(TILE_RARE));
}

/* The body of a loop that exchanges the factor: the second product is issued first, of stage `before`. Its sums are complete, and the stage released,
 * while the first of the other products is under way, in front of the rest: those take as long to issue as to compute, and the next tile would
 * be fetched that much later. Its registers are read with those of the others, since a wait behind would have LLVM move them. */
static void overlap_exchanging(const pair *p, MlirValue before)
{
    const staged *s = &p->second;
    MlirValue carried = mlirBlockGetArgument(p->body, 1 + p->sums),
              scaled = mlirOperationGetOperand(s->product, 2);
    MlirOperation front = p->first.await, behind = mlirOperationGetNextInBlock(p->first.product);
    MlirOperation leading = {NULL}; /* of the other products, the one that is issued first */
    for (MlirOperation op = p->first.product; !mlirOperationIsNull(op) && cute_op_is(op, "cute.tile.gemm");
         op = cute_defining_op(mlirOperationGetOperand(op, 2))) {
        tile_set_pending(op, TILE_NO_WAIT);
        leading = op;
    }
    for (int i = 0; i < s->op_count; i++) {
        mlirOperationMoveBefore(s->ops[i], front);
        if (cute_op_is(s->ops[i], "cute.tile.take") &&
            mlirValueEqual(mlirOperationGetOperand(s->ops[i], 1), p->factor))
            mlirOperationSetOperand(s->ops[i], 1, before);
    }
    mlirOperationMoveBefore(s->product, front);
    MlirOperation next = mlirOperationGetNextInBlock(leading);
    cute_builder b = cute_builder_before(next);
    settle(&b, s->product, 1);
    mlirOperationMoveBefore(s->release, next);
    mlirOperationSetOperand(s->release, 1, before);
    b = cute_builder_before(behind);
    MlirValue first = mlirOperationGetResult(p->first.product, 0), settled = settle(&b, p->first.product, 0);
    mlirValueReplaceAllUsesOfWith(first, settled);
    mlirOperationSetOperand(cute_defining_op(settled), 0, first);
    MlirValue complete = settle(&b, s->product, 0);
    mlirValueReplaceAllUsesOfWith(carried, complete);
    mlirOperationSetOperand(s->product, 2, carried);
    mlirOperationSetOperand(p->end, p->sums, mlirValueEqual(scaled, carried) ? complete : scaled);
}

/* Gives the second product views of its own where it shares them with the others. */
static void own_views(staged *s)
{
    for (int i = s->op_count - 1; i >= 0; i--) {
        MlirOperation op = s->ops[i], made;
        bool alone = true;
        for (MlirOpOperand use = mlirValueGetFirstUse(mlirOperationGetResult(op, 0));
             !mlirOpOperandIsNull(use); use = mlirOpOperandGetNextUse(use)) {
            MlirOperation user = mlirOpOperandGetOwner(use);
            bool own = mlirOperationEqual(user, s->product);
            for (int k = 0; k < s->op_count; k++) own |= mlirOperationEqual(user, s->ops[k]);
            alone &= own;
        }
        if (alone) continue;
        made = mlirOperationClone(op);
        mlirBlockInsertOwnedOperationBefore(mlirOperationGetBlock(op), mlirOperationGetNextInBlock(op), made);
        for (int k = i + 1; k <= s->op_count; k++) {
            MlirOperation user = k < s->op_count ? s->ops[k] : s->product;
            for (intptr_t o = 0; o < mlirOperationGetNumOperands(user); o++)
                if (mlirValueEqual(mlirOperationGetOperand(user, o), mlirOperationGetResult(op, 0)))
                    mlirOperationSetOperand(user, o, mlirOperationGetResult(made, 0));
        }
        s->ops[i] = made;
    }
}

static void find(pair *p)
{
    p->exchanges = !find_exchanging(p->loop, &p->first, &p->second);
    if (!p->exchanges) find_products(p->loop, &p->first, &p->second);
    p->body = tile_loop_body(p->loop);
    p->end = mlirBlockGetTerminator(p->body);
    p->factor = p->exchanges ? mlirBlockGetArgument(p->body, p->second.stage)
                             : mlirOperationGetOperand(p->second.product, 0);
}

static void skew(MlirOperation loop)
{
    pair p = {.loop = loop};
    tile_hoist_constants(loop);
    find(&p);
    if (p.exchanges) own_views(&p.second);
    p.sums = mlirOpOperandGetOperandNumber(mlirValueGetFirstUse(mlirOperationGetResult(p.second.product, 0)));
    cute_builder b = cute_builder_before(loop);
    p.any = cute_compare(&b, CUTE_IS_SLT, mlirOperationGetOperand(loop, 0), mlirOperationGetOperand(loop, 1));
    MlirValue factor = begin(&p);
    p.loop = tile_loop_carry(loop, &factor, 1);
    tile_loop_keep_whole(p.loop);
    find(&p);
    intptr_t last = mlirOperationGetNumResults(p.loop) - 1;
    mlirOperationSetOperand(p.end, last, p.factor);
    end(&p, mlirOperationGetResult(p.loop, last));
    if (p.exchanges)
        overlap_exchanging(&p, mlirBlockGetArgument(p.body, 1 + last));
    else
        overlap(&p, mlirBlockGetArgument(p.body, 1 + last));
}

static void run_tile_skew(MlirOperation root, cute_pass_run *pass)
{
    work w = {.pass = pass};
    cute_op_walk(root, "scf.for", CUTE_WALK_INNER_FIRST, note_loop, &w);
    for (int i = 0; i < w.count; i++) {
        pair p = {.loop = w.loops[i]};
        find(&p);
        cute_pass_remark(
            pass, mlirOperationGetLocation(w.loops[i]),
            "the %s product of an iteration is issued %s of the next%s", p.exchanges ? "last" : "second",
            p.exchanges ? "with those" : "behind the first one",
            p.exchanges || fits_registers(p.first.product, p.second.product)
                ? ""
                : ", and complete before the next factor is computed: a thread has too few registers");
        skew(w.loops[i]);
    }
    if (!w.count) cute_pass_unchanged(pass);
}

const cute_pass cute_pass_tile_skew = {
    .name = "cute-tile-skew",
    .help = "Issue the first products of the next iteration with the last one, which depends on them",
    .dialects = CUTE_DIALECT_CUTE | CUTE_DIALECT_CUTE_NVGPU | CUTE_DIALECT_ARITH | CUTE_DIALECT_SCF |
                CUTE_DIALECT_LLVM,
    .run = run_tile_skew,
};
