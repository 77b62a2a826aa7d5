/* cute-tile-split: clusters of resident blocks split the k of tiles, so that none is idle in the last wave.
 *
 * Requires: cute-tile-persistent; a kernel whose schedule says tail=split or tail=stream, where the loop over tiles has one loop with
 * products, which carries one tile: a sum that begins with 0 and to which each iteration adds; its number of iterations is the same for all
 * tiles. Ensures: clusters take pieces of tiles (cute.tile.pieces, cute.tile.piece). The one whose piece has a tile's last iteration adds
 * the partial sums of the others (cute.tile.collect) and has what follows the loop, the others give it theirs (cute.tile.give). The kernel
 * has two more arguments, slots and flags, which are temporaries of its launch plan.
 *
 *     %first, %count, %step = cute.tile.workers(%c)
 *     scf.for %tile = %first to %count step %step {
 *       %m, %n = cute.tile.place(%tile, %c)
 *       %sum = scf.for %k = %c0 to %steps ... iter_args(%acc = %zero) { PRODUCT }
 *       EPILOGUE(%sum)
 *     }
 * ->
 *     %first, %count, %step = cute.tile.workers(%c)
 *     %start, %stop = cute.tile.pieces(%first, %count, %step, %steps) {tail = "split"}
 *     scf.for %i = %start to %stop step %step {
 *       %tile, %from, %to, %others, %distance = cute.tile.piece(%i, %first, %count, %step, %steps) {tail = "split"}
 *       %m, %n = cute.tile.place(%tile, %c)
 *       %part = scf.for %k = %from to %to ... iter_args(%acc = %zero) { PRODUCT }
 *       scf.if (%to == %steps) {
 *         %sum = scf.for %o = 0 to %others iter_args(%s = %part) { cute.tile.collect(%s, %slots, %flags, %first - (%o + 1) %distance) }
 *         EPILOGUE(%sum)
 *       } else { cute.tile.give(%part, %slots, %flags, %first) }
 *     }
 */
#include <mlir-c/BuiltinAttributes.h>
#include <mlir-c/BuiltinTypes.h>
#include <stdio.h>

#include "lib/base/buffer.h"
#include "lib/ir/mlir/arith.h"
#include "lib/ir/mlir/util.h"
#include "lib/passes/passes.h"
#include "lib/passes/tiles/describe_schedule.h"
#include "lib/passes/tiles/schedule.h"

enum { WARP = 32 };

typedef struct work {
    cute_pass_run *pass;
    MlirOperation root;
    bool changed;
} work;

typedef struct split {
    MlirOperation function, tiles, loop; /* over the tiles of a cluster; with products */
    MlirOperation workers, place;
    const char *tail;
} split;

/* ---- whether the sum may be split ---- */

/* Whether `value` is `carried` and terms that do not depend on it. */
static bool adds_to(MlirValue value, MlirValue carried, int depth)
{
    static const struct {
        const char *name;
        int addend, most; /* the operand that may carry the sum, from and to */
    } rows[] = {{"cute.tile.gemm", 2, 2}, {"arith.addf", 0, 1}, {"arith.addi", 0, 1}, {"math.fma", 2, 2}};
    enum { MOST_DEPTH = 16 };
    /* A sum that is used twice may be added to itself. */
    if (mlirOperationIsNull(cute_only_user(value))) return false;
    if (mlirValueEqual(value, carried)) return true;
    MlirOperation op = cute_defining_op(value);
    if (mlirOperationIsNull(op) || depth == MOST_DEPTH) return false;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (!cute_op_is(op, rows[i].name)) continue;
        for (int k = rows[i].addend; k <= rows[i].most; k++)
            if (adds_to(mlirOperationGetOperand(op, k), carried, depth + 1)) return true;
    }
    return false;
}

const char *tile_why_not_sum(MlirOperation loop)
{
    if (mlirOperationGetNumResults(loop) != 1) return "its loop carries several values";
    MlirBlock body = tile_loop_body(loop);
    MlirValue sum = mlirBlockGetArgument(body, 1);
    if (!mlirTypeIsARankedTensor(mlirValueGetType(sum))) return "its loop carries no tile";
    if (!tile_is_zero(mlirOperationGetOperand(loop, 3))) return "its sum does not begin with 0";
    MlirValue next = mlirOperationGetOperand(mlirBlockGetTerminator(body), 0);
    if (!adds_to(next, sum, 0)) return "its loop does more than add to a tile";
    return NULL;
}

static void look_for_launch(MlirOperation op, void *context)
{
    struct {
        MlirStringRef kernel;
        bool found;
    } *l = context;
    MlirAttribute symbol = mlirOperationGetAttributeByName(op, cute_text("kernel"));
    if (mlirAttributeIsNull(symbol) || !mlirAttributeIsASymbolRef(symbol)) return;
    intptr_t nested = mlirSymbolRefAttrGetNumNestedReferences(symbol);
    if (nested < 1) return;
    MlirStringRef leaf =
        mlirSymbolRefAttrGetLeafReference(mlirSymbolRefAttrGetNestedReference(symbol, nested - 1));
    l->found |= mlirStringRefEqual(leaf, l->kernel);
}

/* A host function that is written out passes the kernel's own arguments. */
static bool is_launched(MlirOperation root, MlirOperation function)
{
    struct {
        MlirStringRef kernel;
        bool found;
    } l = {cute_op_symbol(function), false};
    cute_op_walk(root, "gpu.launch_func", CUTE_WALK_OUTER_FIRST, look_for_launch, &l);
    return l.found;
}

/* NULL: it can be split. */
static const char *find(split *s)
{
    s->tiles = tile_parent(s->place);
    tile_product_loop l = tile_find_product_loop(s->function, tile_loop_body(s->tiles));
    s->loop = l.loop;
    if (l.several) return "it has several loops with products";
    if (l.elsewhere || mlirOperationIsNull(l.loop))
        return "it has products outside of one loop for each tile";
    if (!l.only_loads) return "it does more than load in front of its loop with products";
    return tile_why_not_sum(l.loop);
}

/* ---- the arguments ---- */

static MlirType memory_of(MlirContext context, MlirType element, int64_t elements)
{
    char text[160];
    cute_buffer name = {0};
    mlirTypePrint(element, cute_print_to_buffer, &name);
    snprintf(text, sizeof text, "!cute.memref<%s, gmem, align<256>, \"(%lld,?):(1,%lld)\">",
             cute_buffer_text(&name), (long long)elements, (long long)elements);
    cute_buffer_release(&name);
    return mlirTypeParseGet(context, cute_text(text));
}

/* Slots and flags: arguments behind those of the kernel, of which cute-tile-launch makes temporaries. */
static bool add_arguments(split *s, MlirValue sum, MlirValue out[2])
{
    enum { MOST = 128, ADDED = 2 };
    MlirContext context = mlirOperationGetContext(s->function);
    MlirType type = mlirValueGetType(sum), inputs[MOST + ADDED];
    tile_distribution d;
    if (!tile_distribution_of(type, &d)) return false;
    int64_t threads = tile_threads(&d);
    MlirType added[ADDED] = {memory_of(context, cute_tile_element(type), threads * tile_values(&d)),
                             memory_of(context, mlirIntegerTypeGet(context, 32), threads / WARP)};
    MlirBlock entry = mlirRegionGetFirstBlock(mlirOperationGetRegion(s->function, 0));
    intptr_t count = mlirBlockGetNumArguments(entry);
    if (count > MOST || threads % WARP || mlirTypeIsNull(added[0]) || mlirTypeIsNull(added[1])) return false;
    for (intptr_t i = 0; i < count; i++) inputs[i] = mlirValueGetType(mlirBlockGetArgument(entry, i));
    for (int i = 0; i < ADDED; i++) {
        inputs[count + i] = added[i];
        out[i] = mlirBlockAddArgument(entry, added[i], mlirOperationGetLocation(s->loop));
    }
    mlirOperationSetAttributeByName(
        s->function, cute_text("function_type"),
        mlirTypeAttrGet(mlirFunctionTypeGet(context, count + ADDED, inputs, 0, NULL)));
    MlirAttribute names = mlirOperationGetAttributeByName(s->function, cute_text("arg_attrs"));
    if (!mlirAttributeIsNull(names)) {
        MlirAttribute all[MOST + ADDED];
        for (intptr_t i = 0; i < count; i++) all[i] = mlirArrayAttrGetElement(names, i);
        for (int i = 0; i < ADDED; i++) all[count + i] = mlirDictionaryAttrGet(context, 0, NULL);
        mlirOperationSetAttributeByName(s->function, cute_text("arg_attrs"),
                                        mlirArrayAttrGet(context, count + ADDED, all));
    }
    mlirOperationSetAttributeByName(s->function, cute_text(TILE_TEMPORARIES),
                                    mlirIntegerAttrGet(mlirIntegerTypeGet(context, 32), ADDED));
    return true;
}

/* ---- the loops ---- */

static bool is_constant(MlirValue value, int64_t is)
{
    MlirOperation op = cute_defining_op(value);
    return !mlirOperationIsNull(op) && cute_op_is(op, "arith.constant") &&
           mlirIntegerAttrGetValueInt(mlirOperationGetAttributeByName(op, cute_text("value"))) == is;
}

static MlirValue convert(const cute_builder *b, MlirValue value, MlirType to)
{
    MlirType from = mlirValueGetType(value);
    if (mlirTypeEqual(from, to)) return value;
    bool index = mlirTypeIsAIndex(from) || mlirTypeIsAIndex(to);
    bool narrow = !index && mlirIntegerTypeGetWidth(from) > mlirIntegerTypeGetWidth(to);
    return cute_unary(b, index ? "arith.index_cast" : narrow ? "arith.trunci" : "arith.extsi", value, to);
}

/* The iterations of the loop with products, computed in front of the loop over tiles; null: they depend on the tile. */
static MlirValue count_steps(split *s)
{
    cute_builder b = cute_builder_before(s->tiles);
    MlirBlock body = tile_loop_body(s->tiles);
    MlirValue bounds[3], none = {NULL}, never = mlirOperationGetResult(s->loop, 0);
    for (int i = 0; i < 3; i++) {
        bounds[i] = tile_recompute(&b, body, mlirOperationGetOperand(s->loop, i), never, never);
        if (mlirValueIsNull(bounds[i])) return none;
    }
    MlirValue steps = bounds[1];
    if (!is_constant(bounds[0], 0)) steps = cute_binary(&b, "arith.subi", steps, bounds[0]);
    if (!is_constant(bounds[2], 1)) steps = cute_binary(&b, "arith.ceildivsi", steps, bounds[2]);
    MlirValue zero = cute_integer(&b, mlirValueGetType(steps), 0);
    return convert(&b, cute_binary(&b, "arith.maxsi", steps, zero), mlirIntegerTypeGet(b.context, 32));
}

/* The bound of the loop's range at iteration `at`. */
static MlirValue bound_at(const cute_builder *b, const split *s, MlirValue at)
{
    MlirValue low = mlirOperationGetOperand(s->loop, 0), step = mlirOperationGetOperand(s->loop, 2);
    MlirValue out = convert(b, at, mlirValueGetType(low));
    if (!is_constant(step, 1)) out = cute_binary(b, "arith.muli", out, step);
    return is_constant(low, 0) ? out : cute_binary(b, "arith.addi", out, low);
}

/* The sum with the partial sums of `others` clusters. */
static MlirValue collect(const cute_builder *b, MlirValue part, const MlirValue memory[2], MlirValue first,
                         MlirValue others, MlirValue distance)
{
    MlirType types[2] = {mlirIntegerTypeGet(b->context, 32), mlirValueGetType(part)};
    MlirLocation at[2] = {b->location, b->location};
    MlirBlock body = mlirBlockCreate(2, types, at);
    MlirRegion region = mlirRegionCreate();
    mlirRegionAppendOwnedBlock(region, body);
    cute_builder in = cute_builder_at_end(body, b->location);
    MlirValue one = cute_build_constant(&in, 32, 1),
              nth = cute_binary(&in, "arith.addi", mlirBlockGetArgument(body, 0), one),
              back = cute_binary(&in, "arith.muli", nth, distance),
              from = cute_binary(&in, "arith.subi", first, back);
    MlirValue more = cute_build_value(
        &in, "cute.tile.collect", types[1],
        CUTE_OPERANDS(mlirBlockGetArgument(body, 1), memory[0], memory[1], from), CUTE_NO_NAMED);
    cute_build(&in, "scf.yield", CUTE_OPERANDS(more), CUTE_NO_TYPES, CUTE_NO_NAMED);
    MlirValue zero = cute_build_constant(b, 32, 0), step = cute_build_constant(b, 32, 1);
    MlirOperation loop = cute_build_regions(b, "scf.for", CUTE_OPERANDS(zero, others, step, part),
                                            (cute_types){types + 1, 1}, CUTE_NO_NAMED, &region, 1);
    return mlirOperationGetResult(loop, 0);
}

static void split_tiles(split *s, MlirValue steps, const MlirValue memory[2])
{
    MlirContext context = mlirOperationGetContext(s->function);
    MlirType i32 = mlirIntegerTypeGet(context, 32), types[5] = {i32, i32, i32, i32, i32};
    MlirValue first = mlirOperationGetResult(s->workers, 0), count = mlirOperationGetResult(s->workers, 1),
              step = mlirOperationGetResult(s->workers, 2);
    MlirNamedAttribute tail = cute_attribute(context, "tail", cute_string_attribute(context, s->tail));
    cute_builder b = cute_builder_before(s->tiles);
    MlirOperation pieces = cute_build(&b, "cute.tile.pieces", CUTE_OPERANDS(first, count, step, steps),
                                      (cute_types){types, 2}, CUTE_NAMED(tail));
    for (int i = 0; i < 2; i++) mlirOperationSetOperand(s->tiles, i, mlirOperationGetResult(pieces, i));
    b = cute_builder_before(s->place);
    MlirValue index = mlirBlockGetArgument(tile_loop_body(s->tiles), 0);
    MlirOperation piece = cute_build(&b, "cute.tile.piece", CUTE_OPERANDS(index, first, count, step, steps),
                                     (cute_types){types, 5}, CUTE_NAMED(tail));
    mlirOperationSetOperand(s->place, 0, mlirOperationGetResult(piece, 0));
    b = cute_builder_before(s->loop);
    MlirValue low = bound_at(&b, s, mlirOperationGetResult(piece, 1)),
              high = bound_at(&b, s, mlirOperationGetResult(piece, 2));
    mlirOperationSetOperand(s->loop, 0, low);
    mlirOperationSetOperand(s->loop, 1, high);
    /* What follows is of the cluster that completes the tile. */
    MlirOperation end = mlirBlockGetTerminator(tile_loop_body(s->tiles));
    MlirRegion regions[2] = {mlirRegionCreate(), mlirRegionCreate()};
    MlirBlock completes = mlirBlockCreate(0, NULL, NULL), gives = mlirBlockCreate(0, NULL, NULL);
    mlirRegionAppendOwnedBlock(regions[0], completes);
    mlirRegionAppendOwnedBlock(regions[1], gives);
    MlirValue part = mlirOperationGetResult(s->loop, 0);
    for (MlirOperation op = mlirOperationGetNextInBlock(s->loop), next; !mlirOperationEqual(op, end);
         op = next) {
        next = mlirOperationGetNextInBlock(op);
        mlirOperationRemoveFromParent(op);
        mlirBlockAppendOwnedOperation(completes, op);
    }
    MlirOperation behind = mlirBlockGetFirstOperation(completes);
    cute_builder in = mlirOperationIsNull(behind)
                          ? cute_builder_at_end(completes, mlirOperationGetLocation(s->loop))
                          : cute_builder_before(behind);
    in.location = mlirOperationGetLocation(s->loop);
    MlirValue sum =
        collect(&in, part, memory, first, mlirOperationGetResult(piece, 3), mlirOperationGetResult(piece, 4));
    MlirOperation collects = cute_defining_op(sum);
    mlirValueReplaceAllUsesOfWith(part, sum);
    mlirOperationSetOperand(collects, 3, part);
    in = cute_builder_at_end(completes, mlirOperationGetLocation(s->loop));
    cute_build(&in, "scf.yield", CUTE_NO_OPERANDS, CUTE_NO_TYPES, CUTE_NO_NAMED);
    in = cute_builder_at_end(gives, mlirOperationGetLocation(s->loop));
    cute_build(&in, "cute.tile.give", CUTE_OPERANDS(part, memory[0], memory[1], first), CUTE_NO_TYPES,
               CUTE_NO_NAMED);
    cute_build(&in, "scf.yield", CUTE_NO_OPERANDS, CUTE_NO_TYPES, CUTE_NO_NAMED);
    b = cute_builder_before(end);
    b.location = mlirOperationGetLocation(s->loop);
    MlirValue ends = cute_compare(&b, CUTE_IS_EQ, mlirOperationGetResult(piece, 2), steps);
    cute_build_regions(&b, "scf.if", CUTE_OPERANDS(ends), CUTE_NO_TYPES, CUTE_NO_NAMED, regions, 2);
}

/* ---- the pass ---- */

static void visit_function(MlirOperation function, void *context)
{
    work *w = context;
    tile_schedule schedule;
    tile_schedule_of(function, &schedule);
    split s = {.function = function};
    if (!schedule.tail || cute_op_has(function, TILE_TEMPORARIES)) return;
    s.tail = tile_schedule_tail(schedule.tail);
    s.place = tile_find_op(function, "cute.tile.place");
    s.workers = tile_find_op(function, "cute.tile.workers");
    const char *why = "blocks are not resident";
    bool resident = !mlirOperationIsNull(s.place) && !mlirOperationIsNull(s.workers) &&
                    cute_op_is(tile_parent(s.place), "scf.for");
    if (schedule.turns)
        why = "warpgroups compute alternate tiles";
    else if (resident)
        why = is_launched(w->root, function) ? "a host function launches the kernel" : find(&s);
    MlirValue steps = {NULL}, memory[2];
    if (!why) {
        steps = count_steps(&s);
        if (mlirValueIsNull(steps)) why = "the number of iterations depends on the tile";
    }
    if (!why && !add_arguments(&s, mlirOperationGetResult(s.loop, 0), memory))
        why = "its sums are not distributed over whole warps";
    if (why) {
        tile_refuse(w->pass, function, "clusters compute whole tiles: %s", why);
        return;
    }
    split_tiles(&s, steps, memory);
    w->changed = true;
}

static void run_tile_split(MlirOperation root, cute_pass_run *pass)
{
    work w = {.pass = pass, .root = root};
    cute_op_walk(root, "gpu.func", CUTE_WALK_OUTER_FIRST, visit_function, &w);
    if (!w.changed) cute_pass_unchanged(pass);
}

const cute_pass cute_pass_tile_split = {
    .name = "cute-tile-split",
    .help = "Split the k of the last tiles among clusters of resident blocks",
    .dialects = CUTE_DIALECT_CUTE | CUTE_DIALECT_ARITH | CUTE_DIALECT_SCF,
    .run = run_tile_split,
};
