/* See schedule.h: tiles that two roles read, in parts of their columns.
 *
 * A tile that the warpgroup of a factor reads along K, and the consumers by columns, as the keys of latent attention, which are the values too, has a stage
 * that is free only once both have read it, and full only once all of it has arrived. In parts with an mbarrier pair each the product along K
 * begins with the first part, and a part is fetched again once the consumers have computed its columns.
 *
 *     producer:  acquire(%p) ; fetch(%r, %p)
 *     factor:    await(%p) ; %s = gemm(%q, take(%r), 0) ; release(%p)
 *     consumers: await(%p) ; %o = gemm(%f, take(%r), %acc) ; release(%p)
 * ->
 *     producer:  acquire(%p0) ; fetch(%r0, %p0) ; acquire(%p1) ; fetch(%r1, %p1) ...
 *     factor:    await(%p0) ; %s0 = gemm(%q0, take(%r0), 0) ; await(%p1) ; %s1 = gemm(%q1, take(%r1), %s0) ... ; release(%p0) ; release(%p1) ...
 *     consumers: await(%p0) ; await(%p1) ... ; %o0 = gemm(%f, take(%r), %acc) {band = 0 of 2} ; release(%p0) ... ; %o1 = gemm(...) {band = 1 of 2} ...
 */
#include <mlir-c/BuiltinAttributes.h>
#include <mlir-c/BuiltinTypes.h>

#include "lib/base/buffer.h"
#include "lib/ir/dialects/types.h"
#include "lib/ir/mlir/arith.h"
#include "lib/ir/mlir/util.h"
#include "lib/passes/tiles/schedule.h"

enum { GROUPS = 2, MOST_BANDS = 4, MOST = GROUPS * MOST_BANDS };

/* A tile of both roles. */
typedef struct shared {
    cute_arena *arena;
    MlirOperation wide, product; /* of the consumers, and along K of the warpgroup of the factor */
    MlirValue ring, factor_ring; /* factor_ring: of the product's A */
    MlirValue pipe;
    MlirOperation acquire, fetch, last_fetch, await[2], release[2]; /* of the factor, of the consumers */
    int64_t bands, parts, bytes, others; /* bytes of the tile, and of others of the pipe */
    MlirValue part[MOST], factor_part[MOST], pipes[MOST];
} shared;

/* ---- the tile, its pipe and its products ---- */

static void note_wide(MlirOperation op, void *context)
{
    shared *s = context;
    if (tile_is_wide(op) && cute_op_has(op, "wgmma")) s->wide = op;
}

/* Whether an operand is a take, perhaps reshaped, with the same last dimension throughout. */
static MlirOperation rows_taken(MlirValue operand)
{
    const MlirOperation none = {NULL};
    cute_tile_shape last, own;
    if (!cute_tile_shape_of(mlirValueGetType(operand), &last)) return none;
    for (MlirOperation op = cute_defining_op(operand); !mlirOperationIsNull(op);
         op = cute_defining_op(mlirOperationGetOperand(op, 0))) {
        if (!cute_tile_shape_of(mlirValueGetType(mlirOperationGetResult(op, 0)), &own) ||
            own.extent[own.rank - 1] != last.extent[last.rank - 1])
            return none;
        if (cute_op_is(op, "cute.tile.take")) return op;
        if (!cute_op_is(op, "cute.tile.reshape")) return none;
    }
    return none;
}

/* Spans of a row of a ring's tiles; 0: rows are not in spans. */
static int64_t spans_of(MlirValue ring)
{
    const cute_value *v = cute_type_peek(mlirValueGetType(ring));
    const cute_tree *columns = v->layout.shape->items[v->layout.shape->count - 2];
    return columns->kind == CUTE_TREE_TUPLE && columns->count == 2 ? columns->items[1]->value.value : 0;
}

static void note_product(MlirOperation op, void *context)
{
    shared *s = context;
    MlirOperation b = rows_taken(mlirOperationGetOperand(op, 1)),
                  a = rows_taken(mlirOperationGetOperand(op, 0));
    if (mlirOperationEqual(op, s->wide) || mlirOperationIsNull(a) || mlirOperationIsNull(b)) return;
    if (!mlirValueEqual(mlirOperationGetOperand(b, 0), s->ring)) return;
    s->product = op;
    s->factor_ring = mlirOperationGetOperand(a, 0);
}

static bool is_last_static(MlirOperation fetch)
{
    const cute_value *c = cute_type_peek(mlirValueGetType(mlirOperationGetOperand(fetch, 1)));
    MlirOperation made = cute_defining_op(mlirOperationGetOperand(fetch, 1));
    return !mlirOperationIsNull(made) && cute_op_is(made, "cute.make_coord") &&
           c->tree->kind == CUTE_TREE_TUPLE && cute_tree_is_static(c->tree->items[c->tree->count - 1]);
}

static int64_t bytes_of(MlirValue ring)
{
    cute_tile_shape tile;
    int64_t stages;
    const cute_value *v = cute_type_peek(mlirValueGetType(ring));
    cute_tile_ring_shape(v, &tile, &stages);
    return cute_tile_size(&tile) * v->pointer->bits / 8;
}

/* The uses of the pipe; false: they are not those of a loop of each role. */
static bool find_uses(shared *s)
{
    MlirOperation sides[2] = {tile_parent(s->product), tile_parent(s->wide)};
    for (MlirOpOperand use = mlirValueGetFirstUse(s->pipe); !mlirOpOperandIsNull(use);
         use = mlirOpOperandGetNextUse(use)) {
        MlirOperation user = mlirOpOperandGetOwner(use);
        bool own = false;
        if (cute_op_is(user, "cute.tile.acquire")) own = true, s->acquire = user;
        if (cute_op_is(user, "cute.tile.fetch")) {
            own = true;
            bool shares = mlirValueEqual(mlirOperationGetOperand(user, 2), s->ring);
            if (shares) s->fetch = user;
            if (!shares) s->others += bytes_of(mlirOperationGetOperand(user, 2));
            if (mlirOperationIsNull(s->last_fetch) || cute_op_in_front(s->last_fetch, user))
                s->last_fetch = user;
        }
        for (int i = 0; i < 2; i++) {
            if (!mlirOperationEqual(tile_parent(user), sides[i])) continue;
            if (cute_op_is(user, "cute.tile.await")) own = true, s->await[i] = user;
            if (cute_op_is(user, "cute.tile.release") && mlirOperationGetNumOperands(user) == 2)
                own = true, s->release[i] = user;
        }
        if (!own) return false;
    }
    return !mlirOperationIsNull(s->acquire) && !mlirOperationIsNull(s->fetch) &&
           !mlirOperationIsNull(s->await[0]) && !mlirOperationIsNull(s->await[1]) &&
           !mlirOperationIsNull(s->release[0]) && !mlirOperationIsNull(s->release[1]);
}

static void look_for_other(MlirOperation take, void *context)
{
    shared *s = context;
    MlirValue ring = mlirOperationGetOperand(take, 0);
    if (!mlirOperationEqual(tile_parent(take), tile_parent(s->wide)) || mlirValueEqual(ring, s->ring)) return;
    if (mlirValueEqual(tile_pipe_of(ring), s->pipe))
        s->bands = 0; /* the consumers read another tile of the pipe */
}

static bool find(MlirOperation function, shared *s)
{
    int dims[2];
    cute_tile_shape sums;
    cute_op_walk(function, "cute.tile.gemm", CUTE_WALK_OUTER_FIRST, note_wide, s);
    if (mlirOperationIsNull(s->wide)) return false;
    MlirOperation take = tile_operand_source(mlirOperationGetOperand(s->wide, 1), dims);
    if (mlirOperationIsNull(take) || !cute_op_is(take, "cute.tile.take")) return false;
    s->ring = mlirOperationGetOperand(take, 0);
    cute_op_walk(function, "cute.tile.gemm", CUTE_WALK_OUTER_FIRST, note_product, s);
    if (mlirOperationIsNull(s->product)) return false;
    s->pipe = tile_pipe_of(s->ring);
    if (mlirValueIsNull(s->pipe) || !find_uses(s) || !is_last_static(s->fetch)) return false;
    cute_tile_shape_of(mlirValueGetType(mlirOperationGetResult(s->wide, 0)), &sums);
    int64_t own = sums.extent[1] / GROUPS;
    s->bands = own / tile_factor_columns(own);
    cute_op_walk(function, "cute.tile.take", CUTE_WALK_OUTER_FIRST, look_for_other, s);
    s->parts = GROUPS * s->bands;
    s->bytes = bytes_of(s->ring);
    if (s->bands < 2 || s->bands > MOST_BANDS) return false;
    int64_t spans = spans_of(s->ring), factor_spans = spans_of(s->factor_ring);
    return spans && spans % s->parts == 0 && factor_spans && factor_spans % s->parts == 0;
}

/* ---- rings and pipes ---- */

/* The type of a ring's part. */
static MlirType part_type(const shared *s, MlirValue ring)
{
    const cute_value *v = cute_type_peek(mlirValueGetType(ring));
    const cute_swizzle *w = &v->pointer->swizzle;
    cute_layout l = v->layout;
    uint32_t count = l.shape->count, at = count - 2;
    const cute_tree *modes[CUTE_TILE_RANK + 1];
    for (uint32_t i = 0; i < count; i++) modes[i] = l.shape->items[i];
    const cute_tree *columns[] = {modes[at]->items[0],
                                  cute_tree_number(s->arena, modes[at]->items[1]->value.value / s->parts)};
    modes[at] = cute_tree_tuple(s->arena, columns, 2);
    l.shape = cute_tree_tuple(s->arena, modes, count);
    cute_buffer text = {0};
    cute_buffer_printf(&text, "!cute.memref<%s, smem, align<%lld>", v->pointer->element,
                       (long long)v->pointer->align);
    if (w->bits) cute_buffer_printf(&text, ", S<%d,%d,%d>", w->bits, w->base, w->shift);
    cute_buffer_printf(&text, ", \"%s\">", cute_layout_text(s->arena, l));
    MlirType type =
        mlirTypeParseGet(mlirTypeGetContext(mlirValueGetType(ring)), cute_text(cute_buffer_text(&text)));
    cute_buffer_release(&text);
    return type;
}

static MlirNamedAttribute number(const cute_builder *b, const char *name, int64_t value)
{
    return cute_attribute(b->context, name, mlirIntegerAttrGet(mlirIntegerTypeGet(b->context, 32), value));
}

static void make_rings(shared *s)
{
    MlirOperation pipe = cute_defining_op(s->pipe);
    cute_builder b = cute_builder_before(mlirOperationGetNextInBlock(pipe));
    int64_t stages = cute_tile_number(pipe, "stages", 1);
    MlirType type = part_type(s, s->ring), factor = part_type(s, s->factor_ring);
    b.location = mlirOperationGetLocation(s->fetch);
    for (int64_t i = 0; i < s->parts; i++) {
        MlirNamedAttribute which[] = {number(&b, "count", s->parts), number(&b, "index", i)};
        s->part[i] =
            cute_build_value(&b, "cute.tile.part", type, CUTE_OPERANDS(s->ring), (cute_named){which, 2});
        s->factor_part[i] = cute_build_value(&b, "cute.tile.part", factor, CUTE_OPERANDS(s->factor_ring),
                                             (cute_named){which, 2});
        s->pipes[i] = cute_build_value(
            &b, "cute.tile.pipe", mlirValueGetType(s->pipe), CUTE_NO_OPERANDS,
            CUTE_NAMED(number(&b, "bytes", s->bytes / s->parts), number(&b, "stages", stages)));
    }
}

/* Parts in the order in which they are fetched: those that the consumers read first, of each of them. */
static int64_t part_at(const shared *s, int64_t i)
{
    return i % GROUPS * s->bands + i / GROUPS;
}

static void use(const cute_builder *b, const char *name, MlirValue pipe, MlirOperation like)
{
    MlirValue operands[] = {pipe, mlirOperationGetOperand(like, 1),
                            mlirOperationGetNumOperands(like) > 2 ? mlirOperationGetOperand(like, 2) : pipe};
    cute_build(b, name, (cute_operands){operands, mlirOperationGetNumOperands(like)}, CUTE_NO_TYPES,
               CUTE_NO_NAMED);
}

/* ---- the roles ---- */

/* The coordinate of part `i`, in parts. */
static MlirValue part_coord(const shared *s, const cute_builder *b, int64_t i)
{
    MlirOperation made = cute_defining_op(mlirOperationGetOperand(s->fetch, 1));
    const cute_tree *tree = cute_type_peek(mlirValueGetType(mlirOperationGetOperand(s->fetch, 1)))->tree;
    const cute_tree *items[CUTE_TILE_RANK];
    for (uint32_t k = 0; k < tree->count; k++) items[k] = tree->items[k];
    int64_t from = items[tree->count - 1]->value.value;
    items[tree->count - 1] = cute_tree_number(s->arena, from * s->parts + i);
    char *text = cute_arena_printf(s->arena, "!cute.coord<\"%s\">",
                                   cute_tree_text(s->arena, cute_tree_tuple(s->arena, items, tree->count)));
    MlirValue operands[CUTE_TILE_RANK];
    intptr_t count = mlirOperationGetNumOperands(made);
    for (intptr_t k = 0; k < count; k++) operands[k] = mlirOperationGetOperand(made, k);
    return cute_build_value(b, "cute.make_coord", mlirTypeParseGet(b->context, cute_text(text)),
                            (cute_operands){operands, count}, CUTE_NO_NAMED);
}

static void fetch_parts(const shared *s)
{
    cute_builder b = cute_builder_before(mlirOperationGetNextInBlock(s->last_fetch));
    b.location = mlirOperationGetLocation(s->fetch);
    for (int64_t i = 0; i < s->parts; i++) {
        int64_t part = part_at(s, i);
        use(&b, "cute.tile.acquire", s->pipes[part], s->acquire);
        MlirOperation own = mlirOperationClone(s->fetch);
        mlirOperationSetOperand(own, 1, part_coord(s, &b, part));
        mlirOperationSetOperand(own, 2, s->part[part]);
        mlirOperationSetOperand(own, 4, s->pipes[part]);
        mlirBlockInsertOwnedOperationBefore(b.block, b.before, own);
    }
    mlirOperationDestroy(s->fetch);
}

/* A type of tiles that products read in stages: they are in no registers. */
static MlirType type_of(const shared *s, MlirType whole)
{
    enum { THREADS = 128, VECTOR = 8 };
    cute_tile_shape shape;
    tile_distribution d;
    cute_tile_shape_of(whole, &shape);
    shape.extent[shape.rank - 1] /= s->parts;
    if (!tile_row_major(&shape, VECTOR, THREADS, &d)) tile_row_major(&shape, 1, THREADS, &d);
    return cute_tile_type(&shape, cute_tile_element(whole),
                          tile_encoding(mlirTypeGetContext(whole), s->arena, &d));
}

/* `operand`, reshapes of a take, of part `i` of its ring. */
static MlirValue view_of_part(const shared *s, const cute_builder *b, MlirValue operand, MlirValue part)
{
    MlirOperation op = cute_defining_op(operand);
    MlirType type = type_of(s, mlirValueGetType(operand));
    if (cute_op_is(op, "cute.tile.take"))
        return cute_build_value(b, "cute.tile.take", type,
                                CUTE_OPERANDS(part, mlirOperationGetOperand(op, 1)), CUTE_NO_NAMED);
    MlirValue inner = view_of_part(s, b, mlirOperationGetOperand(op, 0), part);
    cute_tile_shape shape;
    int32_t extents[CUTE_TILE_RANK];
    cute_tile_shape_of(type, &shape);
    for (int k = 0; k < shape.rank; k++) extents[k] = (int32_t)shape.extent[k];
    return cute_build_value(
        b, "cute.tile.reshape", type, CUTE_OPERANDS(inner),
        CUTE_NAMED(
            cute_attribute(b->context, "extents", mlirDenseI32ArrayGet(b->context, shape.rank, extents))));
}

/* Removes a take that nothing uses any more, and the reshapes of it. */
static void drop_views(MlirValue operand)
{
    MlirOperation op = cute_defining_op(operand);
    if (!mlirOpOperandIsNull(mlirValueGetFirstUse(operand))) return;
    bool take = cute_op_is(op, "cute.tile.take");
    MlirValue of = mlirOperationGetOperand(op, 0);
    mlirOperationDestroy(op);
    if (!take) drop_views(of);
}

static void multiply_parts(const shared *s)
{
    MlirOperation op = s->product;
    cute_builder b = cute_builder_before(op);
    b.location = mlirOperationGetLocation(op);
    MlirValue sum = mlirOperationGetOperand(op, 2);
    for (int64_t i = 0; i < s->parts; i++) {
        int64_t part = part_at(s, i);
        use(&b, "cute.tile.await", s->pipes[part], s->await[0]);
        MlirValue y = view_of_part(s, &b, mlirOperationGetOperand(op, 1), s->part[part]),
                  x = view_of_part(s, &b, mlirOperationGetOperand(op, 0), s->factor_part[part]);
        MlirOperation own = mlirOperationClone(op);
        mlirOperationSetOperand(own, 0, x);
        mlirOperationSetOperand(own, 1, y);
        mlirOperationSetOperand(own, 2, sum);
        mlirBlockInsertOwnedOperationBefore(b.block, b.before, own);
        sum = mlirOperationGetResult(own, 0);
    }
    MlirValue whole[] = {mlirOperationGetOperand(op, 0), mlirOperationGetOperand(op, 1)};
    mlirValueReplaceAllUsesOfWith(mlirOperationGetResult(op, 0), sum);
    mlirOperationDestroy(op);
    for (int i = 0; i < 2; i++) drop_views(whole[i]);
    b = cute_builder_before(s->release[0]);
    for (int64_t i = 0; i < s->parts; i++)
        use(&b, "cute.tile.release", s->pipes[part_at(s, i)], s->release[0]);
}

/* A warpgroup gives the parts that it does not read back at once. */
static void compute_bands(const shared *s)
{
    MlirOperation loop = tile_parent(s->wide), op = s->wide;
    cute_builder b = cute_builder_before(loop);
    MlirValue group = cute_build_value(&b, "cute.tile.turn", mlirIntegerTypeGet(b.context, 32),
                                       CUTE_NO_OPERANDS, CUTE_NO_NAMED),
              mine[GROUPS], others[GROUPS], stage = mlirOperationGetOperand(s->release[1], 1);
    for (int g = 0; g < GROUPS; g++) {
        MlirValue number = cute_build_constant(&b, 32, g);
        mine[g] = cute_compare(&b, CUTE_IS_EQ, group, number);
        others[g] = cute_compare(&b, CUTE_IS_NE, group, number);
    }
    b = cute_builder_before(s->await[1]);
    for (int64_t i = 0; i < s->parts; i++) {
        int64_t part = part_at(s, i);
        use(&b, "cute.tile.await", s->pipes[part], s->await[1]);
        cute_build(&b, "cute.tile.release", CUTE_OPERANDS(s->pipes[part], stage, others[part / s->bands]),
                   CUTE_NO_TYPES, CUTE_NO_NAMED);
    }
    b = cute_builder_before(op);
    b.location = mlirOperationGetLocation(op);
    MlirValue sum = mlirOperationGetOperand(op, 2);
    for (int64_t band = 0; band < s->bands; band++) {
        MlirOperation own = mlirOperationClone(op);
        int32_t which[] = {(int32_t)band, (int32_t)s->bands};
        mlirOperationSetOperand(own, 2, sum);
        mlirOperationSetAttributeByName(own, cute_text("band"), mlirDenseI32ArrayGet(b.context, 2, which));
        mlirBlockInsertOwnedOperationBefore(b.block, b.before, own);
        sum = mlirOperationGetResult(own, 0);
        for (int g = 0; g < GROUPS; g++)
            cute_build(&b, "cute.tile.release", CUTE_OPERANDS(s->pipes[g * s->bands + band], stage, mine[g]),
                       CUTE_NO_TYPES, CUTE_NO_NAMED);
    }
    mlirValueReplaceAllUsesOfWith(mlirOperationGetResult(op, 0), sum);
    mlirOperationDestroy(op);
}

void tile_fetch_in_parts(MlirOperation function)
{
    shared s = {.arena = cute_arena_create()};
    if (s.arena && find(function, &s)) {
        make_rings(&s);
        fetch_parts(&s);
        multiply_parts(&s);
        compute_bands(&s);
        mlirOperationDestroy(s.await[1]);
        mlirOperationDestroy(s.release[1]);
        if (s.others) {
            cute_builder b = cute_builder_before(cute_defining_op(s.pipe));
            MlirNamedAttribute bytes = number(&b, "bytes", s.others);
            mlirOperationSetAttributeByName(cute_defining_op(s.pipe), cute_text("bytes"), bytes.attribute);
        } else {
            mlirOperationDestroy(s.await[0]);
            mlirOperationDestroy(s.release[0]);
            mlirOperationDestroy(s.acquire);
            mlirOperationDestroy(cute_defining_op(s.pipe));
        }
    }
    cute_arena_destroy(s.arena);
}
