/* cute-tile-alternate: the products of a loop alternate between two accumulators, so that one is under way while threads promote or scale the sums
 * of the other, outside of tensor cores.
 *
 * Requires: cute-async-products, cute-warp-specialization; a loop of the consumers with one product of warpgroups, on tiles of one pipe, which adds to
 * 0; the tiles that the loop carries are computed from its sums. Ensures: an iteration does the work of two. A product is issued ahead of the
 * operations on the previous product's sums. Those sums are complete at a cute.tile.settle, which leaves one product under way; their stage is
 * released behind it. The first product is in front of the loop. Loads, of scales, are two products ahead, where the registers of
 * those before are free: ptxas multiplies scales among the instructions of the product that comes before their use, and those would wait for memory.
 *
 *     scf.for %i = %low to %high iter_args(%o) {
 *       await ; %u = load(%i) ; %p = gemm(%a, %b, 0) ; release(before) ; scf.yield ADD(%p, %u, %o)
 *     }
 * ->
 *     scf.if %any {
 *       %u0 = load(%low) ; %v0 = load(%low + 1) ; await ; %p0 = gemm(%a, %b, 0) {pending}
 *       scf.for %i = %low + 1 to %high - 1 step 2 iter_args(%p, %u, %v, %o) {
 *         await ; %q = gemm(%a, %b, 0) {pending} ; %s = settle(%p) {pending = 1} ; release ; %x = ADD(%s, %u, %o) ; %w = load(%i + 1)
 *         await ; %r = gemm(%a, %b, 0) {pending} ; %t = settle(%q) {pending = 1} ; release ; %y = ADD(%t, %v, %x) ; %z = load(%i + 2)
 *         scf.yield %r, %w, %z, %y
 *       }
 *       scf.if %rest { the product of the last iteration, and both } else { settle(%p) ; release ; ADD }
 *     }
 *
 * A load behind the last iteration's has elements outside of the tensor, which are 0, or those of another part of it.
 */
#include <mlir-c/BuiltinAttributes.h>
#include <mlir-c/BuiltinTypes.h>

#include "lib/base/devices/multiprocessor.h"
#include "lib/ir/mlir/arith.h"
#include "lib/ir/mlir/util.h"
#include "lib/passes/passes.h"
#include "lib/passes/tiles/copies.h"
#include "lib/passes/tiles/describe_schedule.h"
#include "lib/passes/tiles/schedule.h"

enum { MOST = 16, MOST_OPS = 128, MOST_CARRIED = 24 };

typedef struct work {
    cute_pass_run *pass;
    MlirOperation loops[MOST];
    int count;
} work;

/* A loop, and the operations of its body but the release and the yield. */
typedef struct parts {
    MlirOperation loop, product, release;
    MlirBlock body;
    MlirOperation ops[MOST_OPS];
    bool late[MOST_OPS]; /* depends on the sums, on tiles loaded in the iteration, or on carried tiles */
    int count;
    /* Operands of late operations that the others define: the product's sum, its stage, and more. */
    MlirValue crossing[MOST_CARRIED];
    int crossing_count;
    /* Of these, loaded tiles are in place `own` and behind it again: those of the iteration that follows. */
    int own, loaded[MOST_CARRIED]; /* of each place from `own` on, the first place */
} parts;

/* ---- which loops ---- */

static bool is_late(const parts *p, MlirValue value)
{
    if (mlirValueIsABlockArgument(value))
        return mlirBlockEqual(mlirBlockArgumentGetOwner(value), p->body) && tile_is_tile(value);
    MlirOperation from = mlirOpResultGetOwner(value);
    if (mlirOperationEqual(from, p->product) || cute_op_is(from, "cute.tile.load"))
        return tile_defined_in(value, p->body);
    for (int i = 0; i < p->count; i++)
        if (mlirOperationEqual(p->ops[i], from)) return p->late[i];
    return false;
}

/* Values that another iteration holds: 32-bit numbers and tiles. */
static bool note_crossing(parts *p, MlirValue value)
{
    for (int i = 0; i < p->crossing_count; i++)
        if (mlirValueEqual(p->crossing[i], value)) return true;
    if (p->crossing_count == MOST_CARRIED) return false;
    p->crossing[p->crossing_count++] = value;
    return tile_is_tile(value) ||
           mlirTypeEqual(mlirValueGetType(value), mlirIntegerTypeGet(mlirOperationGetContext(p->loop), 32));
}

static bool is_loaded(MlirValue value)
{
    MlirOperation from = cute_defining_op(value);
    return !mlirOperationIsNull(from) && cute_op_is(from, "cute.tile.load");
}

/* NULL, or why an operation keeps the loop as it is. */
static const char *note_op(parts *p, MlirOperation op)
{
    if (mlirOperationGetNumRegions(op)) return "it has branches";
    if (p->count == MOST_OPS) return "it has too many operations";
    if (cute_op_is(op, "cute.tile.load") && tile_is_written(mlirOperationGetOperand(op, 0), op))
        return "the kernel writes a tensor that it loads";
    bool late = false;
    for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); i++)
        late |= is_late(p, mlirOperationGetOperand(op, i));
    if (late && (mlirOperationEqual(op, p->product) || cute_op_is(op, "cute.tile.load")))
        return "a factor or a load depends on the sums";
    for (intptr_t i = 0; late && i < mlirOperationGetNumOperands(op); i++) {
        MlirValue value = mlirOperationGetOperand(op, i);
        bool own = mlirValueIsABlockArgument(value)
                       ? mlirBlockEqual(mlirBlockArgumentGetOwner(value), p->body)
                       : tile_defined_in(value, p->body),
             here = is_late(p, value) && !is_loaded(value);
        MlirOperation from = cute_defining_op(value);
        bool constant =
            !mlirOperationIsNull(from) && cute_op_is(from, "arith.constant"); /* in front of the loop */
        if (own && !here && !constant && !note_crossing(p, value)) return "it holds values of other types";
    }
    p->ops[p->count] = op;
    p->late[p->count++] = late;
    return NULL;
}

/* The argument that is the stage of the product. */
static intptr_t stage_of(const parts *p)
{
    int dims[2];
    MlirOperation take = tile_operand_source(mlirOperationGetOperand(p->product, 0), dims),
                  other = tile_operand_source(mlirOperationGetOperand(p->product, 1), dims);
    if (mlirOperationIsNull(take) || !cute_op_is(take, "cute.tile.take") || mlirOperationIsNull(other) ||
        !cute_op_is(other, "cute.tile.take"))
        return 0;
    MlirValue stage = mlirOperationGetOperand(take, 1);
    bool one = mlirValueEqual(stage, mlirOperationGetOperand(other, 1)) && mlirValueIsABlockArgument(stage) &&
               mlirBlockEqual(mlirBlockArgumentGetOwner(stage), p->body);
    return one ? mlirBlockArgumentGetArgNumber(stage) : 0;
}

/* The release of the stage of the iteration before, and nothing else of that stage: cute-async-products has made it so. */
static bool releases_stage(const parts *p, intptr_t stage)
{
    if (mlirOperationIsNull(p->release) || mlirOperationGetNumOperands(p->release) != 3) return false;
    MlirValue before = mlirOperationGetOperand(p->release, 1);
    if (!mlirValueIsABlockArgument(before) || !mlirBlockEqual(mlirBlockArgumentGetOwner(before), p->body) ||
        !mlirOperationEqual(cute_only_user(before), p->release))
        return false;
    intptr_t at = mlirBlockArgumentGetArgNumber(before);
    MlirOperation user = cute_only_user(mlirOperationGetResult(p->loop, at - 1));
    return !mlirOperationIsNull(user) && cute_op_is(user, "cute.tile.release") &&
           mlirValueEqual(mlirOperationGetOperand(mlirBlockGetTerminator(p->body), at - 1),
                          mlirBlockGetArgument(p->body, stage));
}

/* Registers of a thread that multiplies: those of its role, or a block's share. */
static int64_t most_registers(MlirOperation role)
{
    enum { MOST_REGISTERS = 255, GROUP = 128, GROUP_WARPS = 4, UNIT = 8 };
    int64_t own = cute_tile_number(role, "registers", 0),
            groups = cute_tile_number(role, "warps", GROUP_WARPS) / GROUP_WARPS;
    tile_schedule s;
    tile_schedule_of(cute_op_parent(role, "gpu.func"), &s);
    int64_t share = CUTE_SM_REGISTERS / (s.blocks > 1 ? s.blocks : 1) / ((groups + 1) * GROUP) / UNIT * UNIT;
    if (own) return own;
    return share < MOST_REGISTERS ? share : MOST_REGISTERS;
}

/* Two of each crossing value, and the values that the loop carries. */
static bool fits_registers(const parts *p)
{
    enum { OTHERS = 20 };
    int64_t needed = OTHERS;
    for (int i = 0; i < p->crossing_count; i++)
        needed += (i < p->own ? 2 : 1) * tile_registers_of(p->crossing[i]);
    for (intptr_t i = 1; i < mlirBlockGetNumArguments(p->body); i++)
        needed += tile_registers_of(mlirBlockGetArgument(p->body, i));
    return needed <= most_registers(tile_role_around(p->loop));
}

/* Whether `value` of the loop's body is computed from the iteration's number alone. */
static bool is_of_index(const parts *p, MlirValue value, int depth)
{
    enum { MOST_DEPTH = 16 };
    if (mlirValueIsABlockArgument(value))
        return !mlirBlockEqual(mlirBlockArgumentGetOwner(value), p->body) ||
               mlirBlockArgumentGetArgNumber(value) == 0;
    if (!tile_defined_in(value, p->body)) return true;
    MlirOperation op = mlirOpResultGetOwner(value);
    bool known = depth < MOST_DEPTH && (cute_op_is(op, "cute.tile.load") || cute_op_is_effect_free(op));
    for (intptr_t i = 0; known && i < mlirOperationGetNumOperands(op); i++)
        known = is_of_index(p, mlirOperationGetOperand(op, i), depth + 1);
    return known;
}

/* Loads for the next product, if all can be and there are registers. */
static void load_for_next(parts *p)
{
    bool all = true;
    p->own = p->crossing_count;
    for (int i = 0; i < p->own && all; i++) {
        if (!is_loaded(p->crossing[i])) continue;
        all = p->crossing_count < MOST_CARRIED && is_of_index(p, p->crossing[i], 0);
        if (!all) break;
        p->loaded[p->crossing_count] = i;
        p->crossing[p->crossing_count++] = p->crossing[i];
    }
    if (!all || !fits_registers(p)) p->crossing_count = p->own;
}

/* NULL, or the reason to keep the loop; "": the pass does not apply to it. */
static const char *find_parts(MlirOperation loop, parts *p)
{
    *p = (parts){.loop = loop, .body = tile_loop_body(loop)};
    MlirOperation end = mlirBlockGetTerminator(p->body);
    for (MlirOperation op = mlirBlockGetFirstOperation(p->body); !mlirOperationIsNull(op);
         op = mlirOperationGetNextInBlock(op)) {
        if (cute_op_is(op, "cute.tile.put")) return "";
        if (cute_op_is(op, "cute.tile.release")) {
            if (!mlirOperationIsNull(p->release)) return "";
            p->release = op;
        }
        if (!cute_op_is(op, "cute.tile.gemm")) continue;
        bool other = !cute_op_has(op, "wgmma") || cute_op_has(op, "pending") || cute_op_has(op, TILE_HELD);
        if (other || !mlirOperationIsNull(p->product)) return "";
        p->product = op;
    }
    if (mlirOperationIsNull(p->product) || !tile_is_zero(mlirOperationGetOperand(p->product, 2))) return "";
    if (!cute_op_is(tile_role_around(loop), "cute.tile.role")) return "the warps that compute also load";
    intptr_t stage = stage_of(p);
    if (!stage || !releases_stage(p, stage)) return "its factors are not in stages of a pipe";
    note_crossing(p, mlirOperationGetResult(p->product, 0));
    note_crossing(p, mlirBlockGetArgument(p->body, stage));
    for (MlirOperation op = mlirBlockGetFirstOperation(p->body); !mlirOperationEqual(op, end);
         op = mlirOperationGetNextInBlock(op)) {
        const char *why = mlirOperationEqual(op, p->release) ? NULL : note_op(p, op);
        if (why) return why;
    }
    load_for_next(p);
    intptr_t carried = mlirOperationGetNumOperands(end);
    if (carried + p->crossing_count + 1 > MOST_CARRIED) return "it carries too many values";
    for (intptr_t i = 0; i < carried; i++) {
        MlirValue next = mlirOperationGetOperand(end, i), argument = mlirBlockGetArgument(p->body, 1 + i);
        bool sum = mlirValueEqual(next, mlirOperationGetResult(p->product, 0));
        if (sum || is_late(p, next) != tile_is_tile(argument) || is_loaded(next))
            return "it carries other values than tiles that are computed from the sums";
    }
    return fits_registers(p) ? NULL : "a thread has too few registers for two tiles of sums";
}

static void note_loop(MlirOperation op, void *context)
{
    work *w = context;
    parts p;
    const char *why = find_parts(op, &p);
    if (!why && w->count < MOST)
        w->loops[w->count++] = op;
    else if (why && *why)
        tile_refuse(w->pass, op, "products of this loop wait while their sums are added: %s", why);
}

/* ---- the loop ---- */

/* The crossing values of an iteration. */
typedef struct issued {
    MlirValue values[MOST_CARRIED];
} issued;

/* Maps carried values, the tiles or the others, to those of the next iteration, and drops the mappings behind the first `kept`. */
static void carry_on(const parts *p, tile_copies *c, bool tiles, int kept)
{
    MlirOperation end = mlirBlockGetTerminator(p->body);
    intptr_t count = mlirOperationGetNumOperands(end);
    MlirValue next[MOST_CARRIED];
    for (intptr_t i = 0; i < count; i++) next[i] = tile_mapped(c, mlirOperationGetOperand(end, i));
    c->count = kept;
    for (intptr_t i = 0; i < count; i++) {
        MlirValue argument = mlirBlockGetArgument(p->body, 1 + i);
        if (tile_is_tile(argument) == tiles) tile_map(c, argument, next[i]);
    }
}

/* The loads of the body, and the operations that compute their coordinates. */
static void mark_loads(const parts *p, bool needed[MOST_OPS])
{
    for (int i = p->count - 1; i >= 0; i--) {
        needed[i] = cute_op_is(p->ops[i], "cute.tile.load");
        for (int user = i + 1; user < p->count; user++)
            for (intptr_t k = 0; needed[user] && k < mlirOperationGetNumOperands(p->ops[user]); k++) {
                MlirOperation from = cute_defining_op(mlirOperationGetOperand(p->ops[user], k));
                needed[i] |= !mlirOperationIsNull(from) && mlirOperationEqual(from, p->ops[i]);
            }
    }
}

/* The loads of iteration `iv`, for a product that is issued later. */
static void load_ahead(const parts *p, tile_copies *c, MlirValue iv, issued *out)
{
    int kept = c->count;
    bool needed[MOST_OPS];
    if (p->crossing_count == p->own) return;
    mark_loads(p, needed);
    tile_map(c, mlirBlockGetArgument(p->body, 0), iv);
    for (int i = 0; i < p->count; i++)
        if (needed[i]) tile_copy(c, p->ops[i]);
    for (int i = p->own; i < p->crossing_count; i++) out->values[i] = tile_mapped(c, p->crossing[i]);
    c->count = kept;
}

/* The part of iteration `iv` that issues its product. `before`: the values of the product before, of which the last are the loads for this
 * one. */
static issued issue(const parts *p, tile_copies *c, MlirValue iv, const issued *before)
{
    issued out;
    bool ahead = p->crossing_count > p->own;
    int kept = c->count;
    tile_map(c, mlirBlockGetArgument(p->body, 0), iv);
    for (int i = 0; i < p->count; i++)
        if (!p->late[i] && !(ahead && cute_op_is(p->ops[i], "cute.tile.load"))) tile_copy(c, p->ops[i]);
    for (int i = 0; i < p->own; i++)
        if (!ahead || !is_loaded(p->crossing[i])) out.values[i] = tile_mapped(c, p->crossing[i]);
    for (int i = p->own; i < p->crossing_count; i++) out.values[p->loaded[i]] = before->values[i];
    carry_on(p, c, false, kept);
    return out;
}

/* The other part, of the product that was issued before the last `pending` ones. Behind it, where the registers of its loaded tiles are free, the
 * loads of iteration `iv`, for the product that is issued behind `next`; null: none. */
static void use(const parts *p, tile_copies *c, const issued *from, int pending, MlirValue iv, issued *next)
{
    cute_builder b = cute_builder_at_end(c->into, mlirOperationGetLocation(p->product));
    int kept = c->count;
    MlirValue sums = tile_settle(&b, from->values[0], pending);
    cute_build(&b, "cute.tile.release",
               CUTE_OPERANDS(mlirOperationGetOperand(p->release, 0), from->values[1]), CUTE_NO_TYPES,
               CUTE_NO_NAMED);
    for (int i = 0; i < p->own; i++) tile_map(c, p->crossing[i], i ? from->values[i] : sums);
    for (int i = 0; i < p->count; i++)
        if (p->late[i]) tile_copy(c, p->ops[i]);
    if (next) load_ahead(p, c, iv, next);
    carry_on(p, c, true, kept);
}

/* Crossing values, then the loop's arguments. */
static int list_values(const parts *p, MlirValue *out)
{
    int count = 0;
    for (int i = 0; i < p->crossing_count; i++) out[count++] = p->crossing[i];
    for (intptr_t i = 1; i < mlirBlockGetNumArguments(p->body); i++)
        out[count++] = mlirBlockGetArgument(p->body, i);
    return count;
}

/* Maps arguments to the values of an operation or block; the result are those that cross. */
static issued map_values(const parts *p, tile_copies *c, const MlirValue *values)
{
    issued out;
    for (int i = 0; i < p->crossing_count; i++) out.values[i] = values[i];
    for (intptr_t i = 1; i < mlirBlockGetNumArguments(p->body); i++)
        tile_map(c, mlirBlockGetArgument(p->body, i), values[p->crossing_count + i - 1]);
    return out;
}

/* Pairs of iterations behind the one that is issued; `all`: the first one's values. The last result is the next iteration. */
static MlirOperation build_pairs(const parts *p, tile_copies *all, const issued *first, int count)
{
    cute_builder b = cute_builder_at_end(all->into, mlirOperationGetLocation(p->loop));
    MlirValue low = mlirOperationGetOperand(p->loop, 0), high = mlirOperationGetOperand(p->loop, 1),
              step = mlirOperationGetOperand(p->loop, 2), second = cute_binary(&b, "arith.addi", low, step),
              last = cute_binary(&b, "arith.subi", high, step),
              twice = cute_binary(&b, "arith.addi", step, step);
    MlirValue operands[MOST_CARRIED + 4] = {second, last, twice}, values[MOST_CARRIED] = {{NULL}},
                                      yields[MOST_CARRIED + 1];
    MlirType types[MOST_CARRIED + 2] = {mlirValueGetType(low)};
    MlirLocation places[MOST_CARRIED + 2];
    list_values(p, values);
    for (int i = 0; i < count; i++)
        operands[3 + i] = i < p->crossing_count ? first->values[i] : tile_mapped(all, values[i]);
    operands[3 + count] = second;
    for (int i = 0; i <= count; i++) types[1 + i] = mlirValueGetType(operands[3 + i]);
    for (int i = 0; i < count + 2; i++) places[i] = b.location;
    tile_copies c = {.into = mlirBlockCreate(count + 2, types, places)};
    MlirValue arguments[MOST_CARRIED] = {{NULL}}, iv = mlirBlockGetArgument(c.into, 0);
    for (int i = 0; i < count; i++) arguments[i] = mlirBlockGetArgument(c.into, 1 + i);
    issued even = map_values(p, &c, arguments), odd = issue(p, &c, iv, &even);
    cute_builder in = cute_builder_at_end(c.into, b.location);
    MlirValue next = cute_binary(&in, "arith.addi", iv, step),
              after = cute_binary(&in, "arith.addi", iv, twice);
    use(p, &c, &even, 1, next, &odd);
    even = issue(p, &c, next, &odd);
    use(p, &c, &odd, 1, after, &even);
    for (int i = 0; i < count; i++)
        yields[i] = i < p->crossing_count ? even.values[i] : tile_mapped(&c, values[i]);
    yields[count] = after;
    cute_build(&in, "scf.yield", (cute_operands){yields, count + 1}, CUTE_NO_TYPES, CUTE_NO_NAMED);
    MlirRegion region = mlirRegionCreate();
    mlirRegionAppendOwnedBlock(region, c.into);
    return cute_build_regions(&b, "scf.for", (cute_operands){operands, count + 4},
                              (cute_types){types + 1, count + 1}, CUTE_NO_NAMED, &region, 1);
}

/* The last sums, and where one is left the last product, behind the loop of pairs. */
static void end(const parts *p, tile_copies *all, MlirOperation pairs, int count)
{
    cute_builder b = cute_builder_at_end(all->into, mlirOperationGetLocation(p->loop));
    MlirValue results[MOST_CARRIED], arguments[MOST_CARRIED], next = mlirOperationGetResult(pairs, count);
    int carried = count - p->crossing_count;
    for (int i = 0; i < count; i++) results[i] = mlirOperationGetResult(pairs, i);
    for (int i = 0; i < carried; i++) arguments[i] = mlirBlockGetArgument(p->body, 1 + i);
    tile_copies one = {.into = mlirBlockCreate(0, NULL, NULL)},
                none = {.into = mlirBlockCreate(0, NULL, NULL)};
    issued before = map_values(p, &one, results), last = issue(p, &one, next, &before);
    MlirValue none_behind = {NULL};
    use(p, &one, &before, 1, none_behind, NULL);
    use(p, &one, &last, 0, none_behind, NULL);
    before = map_values(p, &none, results);
    use(p, &none, &before, 0, none_behind, NULL);
    MlirValue rest = cute_compare(&b, CUTE_IS_SLT, next, mlirOperationGetOperand(p->loop, 1));
    MlirOperation both = tile_copies_if(&b, rest, &one, &none, arguments, NULL, carried);
    for (int i = 0; i < carried; i++) tile_map(all, arguments[i], mlirOperationGetResult(both, i));
}

/* All of it is in a branch: where there is no iteration, nothing sets the registers of a product that may be under way. */
static void alternate(MlirOperation loop)
{
    parts p;
    MlirValue values[MOST_CARRIED], arguments[MOST_CARRIED] = {{NULL}}, initial[MOST_CARRIED];
    find_parts(loop, &p);
    tile_set_pending(p.product, TILE_NO_WAIT);
    int carried = (int)mlirOperationGetNumResults(loop), count = list_values(&p, values);
    tile_copies all = {.into = mlirBlockCreate(0, NULL, NULL)};
    for (int i = 0; i < carried; i++) {
        arguments[i] = mlirBlockGetArgument(p.body, 1 + i);
        initial[i] = mlirOperationGetOperand(loop, 3 + i);
        tile_map(&all, arguments[i], initial[i]);
    }
    issued loaded = {{{NULL}}}, second = {{{NULL}}};
    MlirValue low = mlirOperationGetOperand(loop, 0);
    cute_builder in = cute_builder_at_end(all.into, mlirOperationGetLocation(loop));
    load_ahead(&p, &all, low, &loaded);
    load_ahead(&p, &all, cute_binary(&in, "arith.addi", low, mlirOperationGetOperand(loop, 2)), &second);
    issued first = issue(&p, &all, low, &loaded);
    for (int i = p.own; i < p.crossing_count; i++) first.values[i] = second.values[i];
    MlirOperation pairs = build_pairs(&p, &all, &first, count);
    tile_loop_keep_whole(pairs);
    end(&p, &all, pairs, count);
    cute_builder b = cute_builder_before(loop);
    MlirValue any =
        cute_compare(&b, CUTE_IS_SLT, mlirOperationGetOperand(loop, 0), mlirOperationGetOperand(loop, 1));
    MlirOperation done = tile_copies_if(&b, any, &all, NULL, arguments, initial, carried);
    intptr_t before = mlirBlockArgumentGetArgNumber(mlirOperationGetOperand(p.release, 1));
    mlirOperationDestroy(cute_only_user(mlirOperationGetResult(loop, before - 1)));
    for (intptr_t i = 0; i < carried; i++)
        mlirValueReplaceAllUsesOfWith(mlirOperationGetResult(loop, i), mlirOperationGetResult(done, i));
    mlirOperationDestroy(loop);
}

static void run_tile_alternate(MlirOperation root, cute_pass_run *pass)
{
    work w = {.pass = pass};
    cute_op_walk(root, "scf.for", CUTE_WALK_INNER_FIRST, note_loop, &w);
    for (int i = 0; i < w.count; i++) {
        cute_pass_remark(pass, mlirOperationGetLocation(w.loops[i]),
                         "products alternate between two tiles of sums, so that one is under way while the "
                         "sums of the other are added");
        tile_hoist_constants(w.loops[i]);
        alternate(w.loops[i]);
    }
    if (!w.count) cute_pass_unchanged(pass);
}

const cute_pass cute_pass_tile_alternate = {
    .name = "cute-tile-alternate",
    .help = "Issue a product in front of the operations on the sums of the one before",
    .dialects = CUTE_DIALECT_CUTE | CUTE_DIALECT_CUTE_NVGPU | CUTE_DIALECT_ARITH | CUTE_DIALECT_SCF |
                CUTE_DIALECT_LLVM,
    .run = run_tile_alternate,
};
