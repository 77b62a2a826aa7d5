/* cute-tile-layouts: which thread of the block holds which element of each tile.
 *
 * Requires: cute-tile-expand; kernels with operations on tiles. Ensures: each tile's type has an encoding, its distribution
 * (distribution.h); operands of an operation are distributed as it needs them, by cute.tile.convert where they were made otherwise;
 * the kernel has a block size (nvvm.reqntid).
 *
 * Tiles that elementwise operations and loops connect have one distribution. The largest come first: that of an accumulator is the
 * MMA's, as are those of a factor computed from stages and of its inputs; in tiles that are loaded and stored
 * adjacent threads hold adjacent elements; smaller tiles follow from those that they broadcast to or are reductions of.
 *
 * With `factors=1` all tiles but wide sums are over the threads of one warpgroup: a cute.tile.convert between the two changes roles.
 *
 *     %x = cute.tile.load(%a, %c) ... -> tensor<64x32xf32>
 * ->
 *     %x = cute.tile.load(%a, %c) ... -> tensor<64x32xf32, #cute.layout<"((8,16),(4,4)):((4@1,1@0),(1@1,16@0))">>
 */
#include <mlir-c/BuiltinAttributes.h>
#include <mlir-c/BuiltinTypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/devices/multiprocessor.h"
#include "lib/base/list.h"
#include "lib/base/numbers/mix.h"
#include "lib/ir/dialects/types.h"
#include "lib/ir/mlir/builder.h"
#include "lib/ir/mlir/util.h"
#include "lib/ir/ops/tile.h"
#include "lib/passes/devices/target.h"
#include "lib/passes/passes.h"
#include "lib/passes/tiles/lane_swaps.h"
#include "lib/passes/tiles/late_rows.h"
#include "lib/passes/tiles/layouts.h"
#include "lib/passes/tiles/schedule.h"

enum { ARCH, THREADS };
static const cute_pass_option options[] = {
    CUTE_ARCH_OPTION,
    {"threads", CUTE_PASS_INT,
     "Threads of a block where the kernel does not state them; 0: chosen by the tiles", 0, NULL},
};

/* ---- tiles and classes ---- */

static size_t *slot_of(layouts *l, const void *key)
{
    size_t i = (size_t)cute_mix((uint64_t)(uintptr_t)key) & (l->slot_count - 1);
    while (l->slots[i] && l->tiles[l->slots[i] - 1].value.ptr != key) i = (i + 1) & (l->slot_count - 1);
    return &l->slots[i];
}

static size_t find_root(layouts *l, size_t i)
{
    while (l->tiles[i].parent != i) i = l->tiles[i].parent = l->tiles[l->tiles[i].parent].parent;
    return i;
}

class *layouts_class_of(layouts *l, MlirValue value)
{
    return &l->classes[find_root(l, *slot_of(l, value.ptr) - 1)];
}

static void join_tiles(layouts *l, MlirValue a, MlirValue b)
{
    if (!tile_is_tile(a) || !tile_is_tile(b)) return;
    size_t x = find_root(l, *slot_of(l, a.ptr) - 1), y = find_root(l, *slot_of(l, b.ptr) - 1);
    if (x != y) l->tiles[y > x ? y : x].parent = y > x ? x : y;
}

static void add_tile(layouts *l, MlirValue value)
{
    if (!tile_is_tile(value) || l->failed) return;
    if (!cute_arena_more(l->arena, &l->tiles, l->count, &l->capacity, sizeof *l->tiles, 64)) {
        l->failed = true;
        return;
    }
    l->tiles[l->count] = (tile){value, l->count};
    l->count++;
}

static void collect_op(MlirOperation op, void *context)
{
    layouts *l = context;
    if (l->failed) return;
    if (!cute_arena_more(l->arena, &l->ops, l->op_count, &l->op_capacity, sizeof *l->ops, 256)) {
        l->failed = true;
        return;
    }
    l->ops[l->op_count++] = op;
    for (intptr_t i = 0; i < mlirOperationGetNumResults(op); i++) add_tile(l, mlirOperationGetResult(op, i));
    for (intptr_t r = 0; r < mlirOperationGetNumRegions(op); r++)
        for (MlirBlock b = mlirRegionGetFirstBlock(mlirOperationGetRegion(op, r)); !mlirBlockIsNull(b);
             b = mlirBlockGetNextInRegion(b))
            for (intptr_t i = 0; i < mlirBlockGetNumArguments(b); i++)
                add_tile(l, mlirBlockGetArgument(b, i));
}

static MlirBlock region_block(MlirOperation op, intptr_t region)
{
    return mlirRegionGetFirstBlock(mlirOperationGetRegion(op, region));
}

static void join_for(layouts *l, MlirOperation op)
{
    MlirBlock body = region_block(op, 0);
    MlirOperation yield = mlirBlockGetTerminator(body);
    for (intptr_t i = 0; i < mlirOperationGetNumResults(op); i++) {
        join_tiles(l, result(op, i), operand(op, 3 + i));
        join_tiles(l, result(op, i), mlirBlockGetArgument(body, 1 + i));
        join_tiles(l, result(op, i), operand(yield, i));
    }
}

static void join_if(layouts *l, MlirOperation op)
{
    for (intptr_t r = 0; r < 2 && mlirOperationGetNumResults(op); r++) {
        MlirOperation yield = mlirBlockGetTerminator(region_block(op, r));
        for (intptr_t i = 0; i < mlirOperationGetNumResults(op); i++)
            join_tiles(l, result(op, i), operand(yield, i));
    }
}

static void join_while(layouts *l, MlirOperation op)
{
    MlirBlock before = region_block(op, 0), after = region_block(op, 1);
    MlirOperation condition = mlirBlockGetTerminator(before), yield = mlirBlockGetTerminator(after);
    for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); i++) {
        join_tiles(l, operand(op, i), mlirBlockGetArgument(before, i));
        join_tiles(l, operand(op, i), operand(yield, i));
    }
    for (intptr_t i = 0; i < mlirOperationGetNumResults(op); i++) {
        join_tiles(l, result(op, i), operand(condition, 1 + i));
        join_tiles(l, result(op, i), mlirBlockGetArgument(after, i));
    }
}

static void join_op(layouts *l, MlirOperation op)
{
    if (cute_op_is(op, "scf.for")) join_for(l, op);
    if (cute_op_is(op, "scf.if")) join_if(l, op);
    if (cute_op_is(op, "scf.while")) join_while(l, op);
    if (tile_is_elementwise(op) && mlirOperationGetNumResults(op) == 1)
        for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); i++)
            join_tiles(l, result(op, 0), operand(op, i));
    if (cute_op_is(op, "cute.tile.gemm")) join_tiles(l, result(op, 0), operand(op, 2));
    if (cute_op_is(op, "cute.tile.settle") || cute_op_is(op, "cute.tile.cluster_reduce"))
        join_tiles(l, result(op, 0), operand(op, 0));
    if (cute_op_is(op, "cute.tile.stack"))
        for (intptr_t i = 1; i < mlirOperationGetNumOperands(op); i++)
            join_tiles(l, operand(op, 0), operand(op, i));
}

/* ---- what classes are asked for ---- */

bool layouts_fetched_ahead(const layouts *l, MlirOperation load)
{
    tile_schedule schedule;
    tile_ahead ahead;
    MlirOperation loop = tile_parent(load);
    tile_schedule_of(l->function, &schedule);
    if (schedule.naive || schedule.stages < 2 || !cute_op_is(loop, "scf.for")) return false;
    tile_find_ahead(loop, schedule.consumers > 0, &ahead, NULL, NULL);
    for (int i = 0; i < ahead.count; i++)
        if (mlirOperationEqual(ahead.loads[i], load)) return true;
    return false;
}

static void note_access(layouts *l, MlirOperation op, MlirValue value)
{
    class *c = layouts_class_of(l, value);
    bool first = mlirOperationIsNull(c->access);
    if (first) c->access = op;
    c->staged = (first || c->staged) && cute_op_is(op, "cute.tile.load") && layouts_fetched_ahead(l, op) &&
                !tile_read_in_place(op);
}

/* The inputs of a value. */
typedef struct origin {
    bool loaded, computed;
} origin;

/* Whether all loads that a value is computed from are fetched ahead. */
static bool from_stages(const layouts *l, MlirValue value, int depth, origin *o)
{
    enum { DEPTH = 24 };
    MlirOperation op = cute_defining_op(value);
    if (!tile_is_tile(value) || mlirOperationIsNull(op) || cute_op_is(op, "arith.constant")) return true;
    if (cute_op_is(op, "cute.tile.load")) return o->loaded = true, layouts_fetched_ahead(l, op);
    bool ok = depth < DEPTH && !mlirOperationGetNumRegions(op) && !cute_op_is(op, "cute.tile.gemm");
    o->computed |= tile_is_elementwise(op);
    for (intptr_t i = 0; ok && i < mlirOperationGetNumOperands(op); i++)
        ok = from_stages(l, operand(op, i), depth + 1, o);
    return ok;
}

/* An operand of warps' products that is computed from stages: the threads that need its elements compute them. */
static bool is_factor_of_stages(const layouts *l, MlirOperation product, int side, origin *o)
{
    int dims[2];
    *o = (origin){false, false};
    MlirValue value = operand(product, side);
    if (cute_op_has(product, "wgmma") || !mlirOperationIsNull(tile_operand_source(value, dims))) return false;
    return from_stages(l, value, 0, o) && o->loaded;
}

static void note_op(layouts *l, MlirOperation op)
{
    if (cute_op_is(op, "cute.tile.load")) note_access(l, op, result(op, 0));
    if (cute_op_is(op, "cute.tile.store")) note_access(l, op, operand(op, 0));
    if (cute_op_is(op, "cute.tile.gemm")) {
        class *c = layouts_class_of(l, result(op, 0));
        if (mlirOperationIsNull(c->product) || cute_op_has(op, "wgmma") || !cute_op_has(c->product, "wgmma"))
            c->product = op;
        origin o;
        for (int i = 0; i < 2; i++)
            if (is_factor_of_stages(l, op, i, &o)) {
                c = layouts_class_of(l, operand(op, i));
                c->factor = op;
                c->side = i;
                c->computed = o.computed;
            }
    }
    if (cute_op_is(op, "cute.tile.scan")) {
        class *c = layouts_class_of(l, result(op, 0));
        c->scanned = true;
        c->scan_axis = (int)cute_tile_number(op, "mode", 0);
    }
}

const cute_value *layouts_tensor_of_access(MlirOperation op)
{
    return cute_type_peek(mlirValueGetType(operand(op, cute_op_is(op, "cute.tile.load") ? 0 : 1)));
}

/* The class of a tile, before the conversions that were inserted after it. */
static class *class_before(layouts *l, MlirValue value)
{
    for (MlirOperation op = cute_defining_op(value);
         !mlirOperationIsNull(op) && cute_op_is(op, "cute.tile.convert"); op = cute_defining_op(value))
        value = operand(op, 0);
    return layouts_class_of(l, value);
}

class *layouts_class_of_access(layouts *l, MlirOperation op)
{
    return class_before(l, cute_op_is(op, "cute.tile.load") ? result(op, 0) : operand(op, 0));
}

/* The dimension of tiles of class `from` that is dimension `dim` of class `to`: the same class, or at the other end of a
 * permutation; -1: no such relation. */
static int dim_across(layouts *l, const class *from, const class *to, int dim)
{
    if (from == to) return dim;
    for (size_t i = 0; i < l->op_count; i++) {
        MlirOperation op = l->ops[i];
        if (!cute_op_is(op, "cute.tile.permute")) continue;
        const class *in = class_before(l, operand(op, 0)), *out = layouts_class_of(l, result(op, 0));
        if ((in != from || out != to) && (in != to || out != from)) continue;
        int64_t order[CUTE_TILE_RANK];
        cute_tile_numbers(mlirOperationGetAttributeByName(op, cute_text("order")), order);
        if (out == to) return (int)order[dim];
        for (int k = 0; k < to->shape.rank; k++)
            if (order[k] == dim) return k;
    }
    return -1;
}

/* Another dimension of tiles of class `c` than `contiguous` along which a load or store, which these tiles reach unchanged but for
 * a permutation, has wide accesses; *width is theirs. -1: none. */
static int other_contiguous(layouts *l, const class *c, int contiguous, int64_t *width)
{
    int found = -1;
    for (size_t i = 0; i < l->op_count; i++) {
        MlirOperation op = l->ops[i];
        if (!cute_op_is(op, "cute.tile.load") && !cute_op_is(op, "cute.tile.store")) continue;
        const class *other = layouts_class_of_access(l, op);
        int dim;
        int64_t own = tile_access_width(layouts_tensor_of_access(op), &other->shape, &dim);
        if (dim < 0 || own == 1 || (found >= 0 && own <= *width)) continue;
        dim = dim_across(l, c, other, dim);
        if (dim < 0 || dim == contiguous) continue;
        found = dim;
        *width = own;
    }
    return found;
}

int64_t layouts_threads_of(const layouts *l, const class *c)
{
    if (!l->factor_threads) return l->threads;
    return c->resolved ? tile_threads(&c->d) : l->factor_threads;
}

bool layouts_distribute_access(layouts *l, const cute_value *tensor, const class *c, tile_distribution *out)
{
    const cute_tile_shape *shape = &c->shape;
    int order[CUTE_TILE_RANK], at = 0, contiguous;
    int64_t width = tile_access_width(tensor, shape, &contiguous), size = cute_tile_size(shape), second = 1,
            powers = 1, threads = layouts_threads_of(l, c);
    if (contiguous < 0) contiguous = shape->rank - 1;
    /* Better one narrow access of all threads than a wide one of a few. */
    while (width > 1 && size / width < threads) width /= 2;
    if (shape->rank) order[at++] = contiguous;
    int other = other_contiguous(l, c, contiguous, &second);
    /* Threads are laid along powers of two. */
    for (int i = 0; i < shape->rank; i++) powers *= shape->extent[i] & -shape->extent[i];
    while (second > 1 && powers / width / second < threads) second /= 2;
    if (other >= 0 && second > 1) order[at++] = other;
    for (int i = shape->rank - 1; i >= 0; i--)
        if (i != contiguous && (i != other || second == 1)) order[at++] = i;
    return tile_blocked(shape, order, width, second, threads, out);
}

/* A stored sum of a cluster's blocks: lanes of the warp that has the block's own part in registers write whole sectors, so that this part needs
 * no shared memory. False where it takes more than shuffles. */
static bool distribute_scattered(layouts *l, const class *c, tile_distribution *out)
{
    enum { SECTOR = 256, WORD = 32 /* bits */ };
    MlirOperation scatter = tile_scattered_source(c->access);
    if (mlirOperationIsNull(scatter)) return false;
    const cute_value *tensor = layouts_tensor_of_access(c->access);
    const class *whole = layouts_class_of(l, operand(scatter, 0));
    tile_distribution part, same;
    cute_tile_shape shape;
    int contiguous, mode = (int)cute_tile_number(scatter, "mode", 0), bits = tensor->pointer->bits;
    int64_t vector = bits < WORD ? WORD / bits : 1, width = tile_access_width(tensor, &c->shape, &contiguous);
    cute_tile_shape_of(mlirValueGetType(result(scatter, 0)), &shape);
    return whole->resolved && contiguous >= 0 &&
           tile_scatter_part(&whole->d, mode, whole->shape.extent[mode] / shape.extent[mode], &part) &&
           tile_reshaped(&part, &c->shape, &same) &&
           tile_lanes_along(&same, contiguous, SECTOR / bits, vector < width ? vector : width, out);
}

/* ---- resolution, the largest class first ---- */

/* Whether a class has results of reductions across warps that are stored: each thread then reads the elements that it stores from shared memory. */
static bool is_stored_result(layouts *l, const class *c)
{
    bool reduced = false, stored = false;
    for (size_t i = 0; i < l->op_count; i++) {
        MlirOperation op = l->ops[i];
        bool is_result = mlirOperationGetNumResults(op) == 1 && tile_is_tile(result(op, 0)) &&
                         layouts_class_of(l, result(op, 0)) == c,
             reads = false;
        for (intptr_t k = 0; k < mlirOperationGetNumOperands(op); k++)
            reads |= tile_is_tile(operand(op, k)) && layouts_class_of(l, operand(op, k)) == c;
        if ((!is_result && !reads) || tile_is_elementwise(op)) continue;
        stored |= reads && cute_op_is(op, "cute.tile.store");
        if (reads && !cute_op_is(op, "cute.tile.store")) return false;
        if (!is_result) continue;
        const class *from = cute_op_is(op, "cute.tile.reduce") ? layouts_class_of(l, operand(op, 0)) : NULL;
        if (!from || !from->resolved || tile_along_lanes(&from->d, (int)cute_tile_number(op, "mode", 0)))
            return false;
        reduced = true;
    }
    return reduced && stored;
}

/* Rows of the wide sums are those of the warpgroup that computes their factor: these pass to the others. */
static bool may_follow(const layouts *l, MlirOperation op, const class *other)
{
    return !l->factor_threads || tile_threads(&other->d) == l->factor_threads ||
           (!cute_op_is(op, "cute.tile.broadcast") && !cute_op_is(op, "cute.tile.reduce"));
}

/* From a resolved class at the other end of a broadcast, reduction, permutation or reshape. */
static bool resolve_from_neighbour(layouts *l, size_t root, class *c)
{
    for (size_t i = 0; i < l->op_count; i++) {
        MlirOperation op = l->ops[i];
        if (mlirOperationGetNumResults(op) != 1 || mlirOperationGetNumOperands(op) < 1 ||
            !cute_op_of(op, "cute.tile."))
            continue;
        MlirValue in = operand(op, 0), out = result(op, 0);
        if (!tile_is_tile(in) || !tile_is_tile(out)) continue;
        class *from = layouts_class_of(l, in), *to = layouts_class_of(l, out);
        if (from == to) continue;
        class *self = &l->classes[root];
        class *other = from == self ? to : to == self ? from : NULL;
        if (!other || !other->resolved) continue;
        if (!may_follow(l, op, other)) continue;
        bool broadcast = cute_op_is(op, "cute.tile.broadcast") && self == from,
             reduce = cute_op_is(op, "cute.tile.reduce") && self == to;
        if ((broadcast || reduce) && tile_projected(&other->d, &c->shape, &c->d)) return true;
        if (cute_op_is(op, "cute.tile.reshape") && tile_reshaped(&other->d, &c->shape, &c->d)) return true;
        bool stack = cute_op_is(op, "cute.tile.stack"), pick = cute_op_is(op, "cute.tile.pick");
        if (stack || pick) {
            int mode = stack ? other->d.shape.rank - (self == from) : (int)cute_tile_number(op, "mode", 0);
            bool with = stack == (self == to); /* this class has the dimension */
            if (with ? tile_stacked(&other->d, mode, c->shape.extent[mode], &c->d)
                     : tile_picked(&other->d, mode, &c->d))
                return true;
        }
        if (cute_op_is(op, "cute.tile.permute")) {
            int64_t order[CUTE_TILE_RANK], back[CUTE_TILE_RANK];
            cute_tile_numbers(mlirOperationGetAttributeByName(op, cute_text("order")), order);
            for (int k = 0; k < c->shape.rank; k++) back[order[k]] = k;
            tile_permuted(&other->d, self == to ? order : back, &c->d);
            return true;
        }
    }
    return false;
}

static void choose_product(const layouts *l, MlirOperation op, tile_product *out)
{
    cute_tile_shape a, sum;
    MlirType type = mlirValueGetType(operand(op, 0));
    cute_tile_shape_of(type, &a);
    cute_tile_shape_of(mlirValueGetType(result(op, 0)), &sum);
    tile_product_choose(&a, &sum, cute_tile_element(type), cute_tile_element(mlirValueGetType(result(op, 0))),
                        op, l->naive ? NULL : l->arch,
                        l->factor_threads && !tile_is_wide(op) ? l->factor_threads : l->threads, out);
}

bool layouts_distribute_product(layouts *l, MlirOperation op, const cute_tile_shape *shape,
                                tile_distribution *out)
{
    tile_product p;
    choose_product(l, op, &p);
    return tile_product_distribution(l->arena, l->context, &p, 2, shape, out);
}

bool layouts_factor_in_registers(layouts *l, MlirOperation op, tile_distribution *out)
{
    tile_product p;
    cute_tile_shape shape;
    choose_product(l, op, &p);
    return p.warpgroups && p.held && cute_tile_shape_of(mlirValueGetType(operand(op, 0)), &shape) &&
           tile_product_distribution(l->arena, l->context, &p, 0, &shape, out);
}

/* The distribution of a factor. False: threads multiply and add, or many warps would compute the same elements. */
static bool distribute_factor(layouts *l, const class *c, tile_distribution *out)
{
    enum { MOST = 2 };
    tile_product p;
    choose_product(l, c->factor, &p);
    int64_t times = (c->side ? p.rows : p.columns) * p.copies;
    if (p.multiply_add || (c->computed && times > MOST)) return false;
    return tile_product_distribution(l->arena, l->context, &p, c->side, &c->shape, out);
}

static bool resolve_class(layouts *l, size_t root)
{
    class *c = &l->classes[root];
    bool ok;
    if (!mlirOperationIsNull(c->product)) {
        ok = layouts_distribute_product(l, c->product, &c->shape, &c->d);
    } else if (l->naive) {
        ok = tile_row_major(&c->shape, 1, layouts_threads_of(l, c), &c->d);
    } else if (!mlirOperationIsNull(c->factor) && distribute_factor(l, c, &c->d)) {
        c->by_factor = ok = true;
    } else if (c->scanned) {
        ok = tile_for_scan(&c->shape, c->scan_axis, layouts_threads_of(l, c), &c->d);
    } else {
        ok = !is_stored_result(l, c) && resolve_from_neighbour(l, root, c);
        if (!ok && !mlirOperationIsNull(c->access)) ok = distribute_scattered(l, c, &c->d);
        if (!ok && !mlirOperationIsNull(c->access))
            ok = layouts_distribute_access(l, layouts_tensor_of_access(c->access), c, &c->d);
        if (!ok) ok = tile_row_major(&c->shape, 4, layouts_threads_of(l, c), &c->d);
    }
    c->resolved = true;
    return ok;
}

/* Tiles that a factor is computed from, as far as its distribution reaches through reshapes, permutations and the like. */
static void resolve_sources(layouts *l, MlirValue value, int depth)
{
    enum { DEPTH = 24 };
    if (!tile_is_tile(value) || depth == DEPTH) return;
    size_t root = find_root(l, *slot_of(l, value.ptr) - 1);
    class *c = &l->classes[root];
    if (!c->resolved &&
        (!mlirOperationIsNull(c->product) || c->scanned || !resolve_from_neighbour(l, root, c)))
        return;
    /* Words that are loaded are computed on as they are: the order of values is then changed once. */
    int contiguous;
    if (!c->resolved && !mlirOperationIsNull(c->access) && cute_op_is(c->access, "cute.tile.load")) {
        tile_access_width(layouts_tensor_of_access(c->access), &c->shape, &contiguous);
        if (contiguous >= 0) tile_adjacent_first(&c->d, contiguous);
    }
    c->resolved = true;
    MlirOperation op = cute_defining_op(value);
    for (intptr_t i = 0; !mlirOperationIsNull(op) && i < mlirOperationGetNumOperands(op); i++)
        resolve_sources(l, operand(op, i), depth + 1);
}

static int larger_first(const void *a, const void *b)
{
    const class *x = *(const class *const *)a, *y = *(const class *const *)b;
    int64_t m = cute_tile_size(&x->shape), n = cute_tile_size(&y->shape);
    bool p = !mlirOperationIsNull(x->product), q = !mlirOperationIsNull(y->product);
    if (p != q) return p ? -1 : 1;
    p = !mlirOperationIsNull(x->factor), q = !mlirOperationIsNull(y->factor);
    if (p != q) return p ? -1 : 1;
    if (m != n) return m > n ? -1 : 1;
    if (x->staged != y->staged) return y->staged ? -1 : 1;
    bool s = !mlirOperationIsNull(x->access), t = !mlirOperationIsNull(y->access);
    if (s != t) return s ? -1 : 1;
    return x < y ? -1 : x > y;
}

static bool resolve_all(layouts *l)
{
    class **order = cute_arena_array(l->arena, l->count + 1, sizeof(class *));
    size_t count = 0;
    if (!order) return false;
    for (size_t i = 0; i < l->count; i++)
        if (find_root(l, i) == i) order[count++] = &l->classes[i];
    qsort(order, count, sizeof *order, larger_first);
    for (size_t i = 0; i < count; i++)
        if (!order[i]->resolved && !resolve_class(l, (size_t)(order[i] - l->classes))) {
            cute_emit_error(
                order[i]->location,
                "this tile cannot be distributed over the threads of a block: expected extents whose "
                "factors other than 2 are few");
            return false;
        } else if (order[i]->by_factor) {
            resolve_sources(l, operand(order[i]->factor, order[i]->side), 0);
        }
    return true;
}

/* ---- block size ---- */

static int64_t choose_threads(layouts *l)
{
    int64_t stated = tile_block_size(l->function), threads = 32;
    if (stated) return stated;
    int64_t given = cute_pass_int(l->pass, THREADS);
    if (given) return given;
    tile_schedule schedule;
    tile_schedule_of(l->function, &schedule);
    if (schedule.consumers) return 128 * tile_schedule_groups(&schedule);
    if (schedule.threads) return schedule.threads;
    for (size_t i = 0; i < l->op_count; i++) {
        cute_tile_shape shape;
        if (!cute_op_is(l->ops[i], "cute.tile.gemm")) continue;
        cute_tile_shape_of(mlirValueGetType(result(l->ops[i], 0)), &shape);
        int64_t own = tile_product_threads(shape.extent[0], shape.extent[1]);
        if (own > threads) threads = own;
    }
    return threads > 32 ? threads : tile_usual_threads(l->function);
}

/* A tile that is loaded in a loop for products alone: it will be in a stage, not in registers. */
static bool is_staged(const layouts *l, MlirValue value)
{
    tile_schedule schedule;
    MlirOperation op = cute_defining_op(value), load = op;
    while (!mlirOperationIsNull(load) &&
           (cute_op_is(load, "cute.tile.permute") || cute_op_is(load, "cute.tile.reshape")))
        load = cute_defining_op(operand(load, 0));
    if (mlirOperationIsNull(load) || !cute_op_is(load, "cute.tile.load") ||
        !cute_op_is(tile_parent(load), "scf.for"))
        return false;
    tile_schedule_of(l->function, &schedule);
    return schedule.stages > 1 && tile_read_in_place(load);
}

/* Values of a thread that are one tile, in registers of 32 bits. */
static bool check_registers(layouts *l)
{
    enum { MOST = 224, OTHERS = 31 };
    tile_schedule schedule;
    tile_schedule_of(l->function, &schedule);
    int64_t threads = l->threads * schedule.slices, most = MOST;
    int64_t each = CUTE_SM_REGISTERS / (threads < CUTE_SM_BLOCK_THREADS ? threads : CUTE_SM_BLOCK_THREADS);
    if (schedule.slices > 1 && each - OTHERS < most) most = each - OTHERS;
    for (size_t i = 0; i < l->count; i++) {
        MlirType type = mlirValueGetType(l->tiles[i].value), element = cute_tile_element(type);
        int bits = cute_tile_bits(element);
        const class *c = layouts_class_of(l, l->tiles[i].value);
        int64_t registers = bits == 1 ? tile_values(&c->d) / 32 : tile_values(&c->d) * bits / 32;
        if (registers <= most || is_staged(l, l->tiles[i].value)) continue;
        int64_t fits = cute_tile_size(&c->shape) * most / registers;
        char text[256];
        snprintf(text, sizeof text,
                 "this tile takes %lld registers in each of %lld threads, of which a thread has %lld: "
                 "expected a tile of at most %lld "
                 "elements",
                 (long long)registers, (long long)l->threads, (long long)(most + OTHERS), (long long)fits);
        mlirOperationSetDiscardableAttributeByName(l->function, cute_text(TILE_CROWDED),
                                                   mlirUnitAttrGet(l->context));
        cute_emit_error(c->location, text);
        return false;
    }
    return true;
}

/* ---- the pass ---- */

static bool understood(layouts *l, MlirOperation op)
{
    if (!tile_has_tiles(op) || tile_is_elementwise(op) || cute_op_of(op, "scf.") ||
        cute_op_of(op, "cute.tile."))
        return true;
    cute_emit_error(
        mlirOperationGetLocation(op),
        "expected operations of cute.tile, arith, math and scf on tiles: this one is not lowered");
    return l->failed = true, false;
}

static void distribute_function(layouts *l)
{
    cute_op_walk(l->function, NULL, CUTE_WALK_OUTER_FIRST, collect_op, l);
    if (l->failed) return;
    for (l->slot_count = 64; l->slot_count < 2 * l->count + 2;) l->slot_count *= 2;
    l->slots = cute_arena_array(l->arena, l->slot_count, sizeof *l->slots);
    l->classes = cute_arena_array(l->arena, l->count + 1, sizeof *l->classes);
    if (!l->slots || !l->classes) {
        l->failed = true;
        return;
    }
    for (size_t i = 0; i < l->count; i++) *slot_of(l, l->tiles[i].value.ptr) = i + 1;
    for (size_t i = 0; i < l->op_count; i++)
        if (!understood(l, l->ops[i])) return;
    for (size_t i = 0; i < l->op_count; i++) join_op(l, l->ops[i]);
    for (size_t i = 0; i < l->count; i++) {
        class *c = &l->classes[i];
        if (!cute_tile_shape_of(mlirValueGetType(l->tiles[i].value), &c->shape)) {
            cute_emit_error(mlirOperationGetLocation(l->function), "expected tiles of known extents");
            l->failed = true;
            return;
        }
        MlirOperation op = cute_defining_op(l->tiles[i].value);
        c->location = mlirOperationGetLocation(mlirOperationIsNull(op) ? l->function : op);
    }
    for (size_t i = 0; i < l->op_count; i++) note_op(l, l->ops[i]);
    l->threads = choose_threads(l);
    if (l->threads < 32 || l->threads > 1024 || l->threads % 32) {
        char text[128];
        snprintf(text, sizeof text,
                 "expected a block size of whole warps, a multiple of 32 up to 1024, got %lld",
                 (long long)l->threads);
        cute_emit_error(mlirOperationGetLocation(l->function), text);
        l->failed = true;
        return;
    }
    l->naive = tile_is_naive(l->function);
    tile_schedule schedule;
    tile_schedule_of(l->function, &schedule);
    l->factor_threads = l->naive ? 0 : tile_factor_threads(&schedule);
    if (!resolve_all(l) || !check_registers(l)) {
        l->failed = true;
        return;
    }
    for (size_t i = 0; i < l->count; i++) {
        MlirValue value = l->tiles[i].value;
        mlirValueSetType(value,
                         layouts_type_with(l, mlirValueGetType(value), &layouts_class_of(l, value)->d));
    }
    if (!l->naive && tile_is_hopper(l->arch)) tile_join(l->function);
    for (size_t i = 0; i < l->op_count; i++)
        if (!layouts_settle(l, l->ops[i])) return;
    tile_settle_joined(l->function, TILE_STORE_ROOM);
    int32_t block[3] = {(int32_t)l->threads, 1, 1};
    mlirOperationSetAttributeByName(l->function, cute_text("nvvm.reqntid"),
                                    mlirDenseI32ArrayGet(l->context, 3, block));
    tile_keep_blocks(l->function);
}

typedef struct search {
    cute_pass_run *pass;
    const cute_arch *arch;
    bool changed, failed;
} search;

static void look_for_role(MlirOperation op, void *context)
{
    (void)op;
    *(bool *)context = true;
}

static void visit_function(MlirOperation function, void *context)
{
    search *s = context;
    bool roles = false;
    if (s->failed || !tile_is_program(function)) return;
    /* Tiles were distributed before their operations were given to warps. */
    cute_op_walk(function, "cute.tile.role", CUTE_WALK_OUTER_FIRST, look_for_role, &roles);
    if (roles) return;
    layouts l = {.pass = s->pass,
                 .arena = cute_arena_create(),
                 .function = function,
                 .context = mlirOperationGetContext(function),
                 .arch = s->arch};
    if (l.arena && tile_check_independence(function))
        distribute_function(&l);
    else
        l.failed = true;
    cute_arena_destroy(l.arena);
    s->changed = true;
    s->failed = l.failed;
}

static void run_tile_layouts(MlirOperation root, cute_pass_run *pass)
{
    search s = {.pass = pass};
    if (!cute_pass_arch(pass, ARCH, root, &s.arch)) return;
    cute_op_walk(root, "gpu.func", CUTE_WALK_OUTER_FIRST, visit_function, &s);
    cute_pass_end(pass, s.failed, s.changed);
}

const cute_pass cute_pass_tile_layouts = {
    .name = "cute-tile-layouts",
    .help = "Choose how the tiles of a tile program are distributed over threads",
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .dialects = CUTE_DIALECT_CUTE | CUTE_DIALECT_ARITH,
    .run = run_tile_layouts,
};
