/* Products of warpgroups, wgmma: A and B are read where they are in shared memory, the accumulator is in registers. */
#include <mlir-c/BuiltinAttributes.h>
#include <mlir-c/BuiltinTypes.h>
#include <stdio.h>

#include "lib/atoms/atoms.h"
#include "lib/ir/dialects/types.h"
#include "lib/ir/mlir/util.h"
#include "lib/passes/tiles/late_rows.h"
#include "lib/passes/tiles/schedule.h"

enum { WARPS = 4, THREADS = 128 };

static void sync_op(tile_emitter *e, const char *name)
{
    cute_build(&e->b, name, CUTE_NO_OPERANDS, CUTE_NO_TYPES, CUTE_NO_NAMED);
}

/* Waits until at most `groups` products are under way. */
static void wait(tile_emitter *e, int64_t groups)
{
    cute_build(
        &e->b, "cute_nvgpu.arch.wgmma_wait_group", CUTE_NO_OPERANDS, CUTE_NO_TYPES,
        CUTE_NAMED(cute_attribute(e->context, "groups", mlirIntegerAttrGet(tile_i32_type(e), groups))));
}

static bool is_mn_major(MlirValue view)
{
    const cute_value *tensor = cute_type_peek(mlirValueGetType(view));
    const cute_tree *stride = tensor->layout.stride->items[0];
    while (stride->kind == CUTE_TREE_TUPLE) stride = stride->items[0];
    return stride->value.value == 1;
}

/* An operand that threads hold, written to shared memory behind `offset` as a stage has it. */
static MlirValue to_shared(tile_emitter *e, const tile_op *t, int i, int64_t *offset)
{
    int bits;
    MlirValue value = mlirOperationGetOperand(t->op, i);
    const tile_distribution *d = &t->in[i];
    const char *element = tile_element_text(e, cute_type_element(mlirValueGetType(value)), &bits);
    const cute_value *type = cute_type_peek(tile_stage_type(e->context, element, bits, &d->shape, 1, 1));
    cute_layout l = type->layout;
    l.shape = cute_tree_tuple(e->arena, l.shape->items, 2);
    l.stride = cute_tree_tuple(e->arena, l.stride->items, 2);
    MlirValue view = tile_shared_swizzled(e, type->pointer, cute_layout_text(e->arena, l),
                                          cute_tile_size(&d->shape), *offset);
    *offset += tile_stage_bytes(&d->shape, bits);
    if (!e->failed) tile_to_shared(e, d, value, view, tile_run(d, 1, bits));
    return view;
}

static MlirValue descriptors(tile_emitter *e, MlirValue mma, MlirValue view, MlirValue thread, int operand)
{
    MlirNamedAttribute side =
        cute_attribute(e->context, "operand_id", mlirIntegerAttrGet(tile_i32_type(e), operand));
    MlirValue part =
        tile_emit(e, "cute.tiled.mma.partition", CUTE_OPERANDS(mma, view, thread), CUTE_NAMED(side));
    return tile_emit(e, "cute.mma.make_fragment", CUTE_OPERANDS(mma, part), CUTE_NAMED(side));
}

/* This warpgroup's part of A or B along mode 0, of `extent` elements: that of index `group`. */
static MlirValue own_part(tile_emitter *e, MlirValue view, int64_t extent, int64_t k, MlirValue group)
{
    if (mlirValueIsNull(group)) return view;
    const cute_value *tensor = cute_type_peek(mlirValueGetType(view));
    bool staged = tensor->layout.shape->count == 3;
    char tile[96], coord[48];
    int64_t stages = staged ? tensor->layout.shape->items[2]->value.value : 0;
    snprintf(tile, sizeof tile,
             staged ? "!cute.tile<\"[%lld:1;%lld:1;%lld:1]\">" : "!cute.tile<\"[%lld:1;%lld:1]\">",
             (long long)extent, (long long)k, (long long)stages);
    snprintf(coord, sizeof coord, staged ? "!cute.coord<\"(?,0,0)\">" : "!cute.coord<\"(?,0)\">");
    MlirValue at =
        cute_build_value(&e->b, "cute.make_coord", tile_type(e, coord), CUTE_OPERANDS(group), CUTE_NO_NAMED);
    return tile_emit(e, "cute.local_tile", CUTE_OPERANDS(view, tile_static(e, tile), at), CUTE_NO_NAMED);
}

/* The index of this warpgroup among those that divide rows (of A), or columns (of B). Null: there is one. */
static MlirValue own_index(tile_emitter *e, const tile_product *p, int operand)
{
    if ((operand ? p->columns : p->rows) == 1) return (MlirValue){NULL};
    MlirValue group = tile_group_index(e);
    if (operand) {
        if (p->rows > 1) group = cute_binary(&e->b, "arith.divui", group, tile_i32(e, p->rows));
        return p->copies > 1 ? cute_binary(&e->b, "arith.remui", group, tile_i32(e, p->columns)) : group;
    }
    return p->columns * p->copies > 1 ? cute_binary(&e->b, "arith.remui", group, tile_i32(e, p->rows))
                                      : group;
}

/* The index of band `band[0]` of `band[1]` of this warpgroup's columns among those of all. */
static MlirValue index_of_band(tile_emitter *e, MlirValue group, const int64_t band[2])
{
    if (band[1] == 1) return group;
    if (mlirValueIsNull(group)) return tile_i32(e, band[0]);
    return cute_binary(&e->b, "arith.addi", cute_binary(&e->b, "arith.muli", group, tile_i32(e, band[1])),
                       tile_i32(e, band[0]));
}

/* Its registers, of an accumulator (values, instructions along M, along N). */
static MlirValue sums_of_band(tile_emitter *e, MlirValue acc, const int64_t band[2])
{
    const cute_layout *l = &cute_type_peek(mlirValueGetType(acc))->layout;
    int64_t all = l->shape->items[2]->value.value, along = all / band[1],
            step = l->stride->items[2]->value.value;
    if (all % band[1]) return e->failed = true, acc;
    const cute_tree *shape[] = {l->shape->items[0], l->shape->items[1], cute_tree_number(e->arena, along)};
    cute_layout own = {cute_tree_tuple(e->arena, shape, 3), l->stride};
    char offset[48];
    snprintf(offset, sizeof offset, "!cute.int_tuple<\"%lld\">", (long long)(band[0] * along * step));
    MlirValue at = tile_emit(e, "cute.get_iter", CUTE_OPERANDS(acc), CUTE_NO_NAMED);
    if (band[0] && !e->failed)
        at = tile_emit(e, "cute.add_offset", CUTE_OPERANDS(at, tile_static(e, offset)), CUTE_NO_NAMED);
    char *layout = cute_arena_printf(e->arena, "!cute.layout<\"%s\">", cute_layout_text(e->arena, own));
    if (e->failed || !layout) return acc;
    return tile_emit(e, "cute.make_view", CUTE_OPERANDS(at, tile_static(e, layout)), CUTE_NO_NAMED);
}

static MlirValue variable_of(const tile_emitter *e, MlirValue carried)
{
    if (mlirValueIsNull(carried)) return carried;
    for (int i = 0; i < e->accumulator_count; i++)
        if (mlirValueEqual(e->accumulators[i].carried, carried)) return e->accumulators[i].variable;
    return (MlirValue){NULL};
}

typedef struct others {
    MlirOperation loop;
    bool found;
} others;

static void look_for_other(MlirOperation op, void *context)
{
    others *o = context;
    if (cute_tile_number(op, "pending", 0) > 0 && !mlirOperationEqual(tile_parent(op), o->loop))
        o->found = true;
}

/* Whether no other loop has products under way, and this one is in none but that over the tiles of a resident block. Registers that are
 * not set may be those of another sum, of which LLVM then keeps a copy: it is made while products still write them. */
static bool is_alone(tile_emitter *e, MlirOperation loop)
{
    others o = {loop, false};
    cute_op_walk(e->function, "cute.tile.gemm", CUTE_WALK_OUTER_FIRST, look_for_other, &o);
    for (int i = 0; i < e->accumulator_count; i++) {
        if (mlirValueIsNull(e->accumulators[i].carried)) continue;
        MlirBlock owner = mlirBlockArgumentGetOwner(e->accumulators[i].carried);
        if (!mlirBlockEqual(owner, tile_loop_body(loop))) o.found = true;
    }
    for (MlirOperation at = tile_parent(loop); !cute_op_is(at, "gpu.func") && !o.found;
         at = tile_parent(at)) {
        if (!cute_op_is(at, "scf.for")) continue;
        bool resident = false;
        for (MlirOperation op = mlirBlockGetFirstOperation(tile_loop_body(at)); !mlirOperationIsNull(op);
             op = mlirOperationGetNextInBlock(op))
            resident |= cute_op_is(op, "cute.tile.place");
        o.found = !resident;
    }
    return !o.found;
}

/* The last cute.tile.settle that uses a product, or the last of those that add to its sums. Null: one of them is used otherwise, or in another
 * block. */
static MlirOperation settle_of(MlirOperation product)
{
    const MlirOperation none = {NULL};
    MlirOperation last = none;
    for (MlirOpOperand use = mlirValueGetFirstUse(mlirOperationGetResult(product, 0));
         !mlirOpOperandIsNull(use); use = mlirOpOperandGetNextUse(use)) {
        MlirOperation op = mlirOpOperandGetOwner(use);
        if (!mlirBlockEqual(mlirOperationGetBlock(op), mlirOperationGetBlock(product))) return none;
        if (cute_op_is(op, "cute.tile.gemm") && mlirOpOperandGetOperandNumber(use) == 2 &&
            mlirOperationIsNull(last) && mlirOpOperandIsNull(mlirOpOperandGetNextUse(use)))
            return settle_of(op);
        if (!cute_op_is(op, "cute.tile.settle")) return none;
        if (mlirOperationIsNull(last) || cute_op_in_front(last, op)) last = op;
    }
    return last;
}

/* The value carried by a loop that the result of a product becomes: by scf.yield, of branches around it too, or as the initial value. Null: none. */
static MlirValue carried_of(MlirOperation product)
{
    const MlirValue none = {NULL};
    MlirValue value = mlirOperationGetResult(product, 0);
    for (;;) {
        MlirOpOperand use = mlirValueGetFirstUse(value);
        if (mlirOpOperandIsNull(use) || !mlirOpOperandIsNull(mlirOpOperandGetNextUse(use))) return none;
        MlirOperation user = mlirOpOperandGetOwner(use);
        intptr_t at = mlirOpOperandGetOperandNumber(use);
        if (cute_op_is(user, "cute.tile.gemm") && at == 2) { /* the next product of the same sum */
            value = mlirOperationGetResult(user, 0);
            continue;
        }
        MlirOperation parent = tile_parent(user);
        if (cute_op_is(user, "scf.for") && at > 2) return mlirBlockGetArgument(tile_loop_body(user), at - 2);
        if (!cute_op_is(user, "scf.yield")) return none;
        if (cute_op_is(parent, "scf.for")) return mlirBlockGetArgument(tile_loop_body(parent), 1 + at);
        if (!cute_op_is(parent, "scf.if")) return none;
        value = mlirOperationGetResult(parent, at);
    }
}

/* Whether a product is in front of the loop that carries its sums, whose variable it then sets. */
static bool is_issued(MlirOperation product, MlirValue carried)
{
    for (MlirOperation at = tile_parent(product); !cute_op_is(at, "gpu.func"); at = tile_parent(at))
        if (cute_op_is(at, "scf.for") &&
            mlirBlockEqual(tile_loop_body(at), mlirBlockArgumentGetOwner(carried)))
            return false;
    return true;
}

/* An accumulator's registers, at the kernel's start. */
static MlirValue make_accumulator(tile_emitter *e, MlirType of_sum, const tile_product *p,
                                  const tile_distribution *d)
{
    int bits;
    const char *element = tile_element_text(e, of_sum, &bits);
    int64_t m = d->shape.extent[0] / p->rows / p->m, n = d->shape.extent[1] / p->columns / p->n;
    cute_builder here = e->b;
    e->b = e->start;
    MlirValue acc = tile_fragment(e, element, tile_values(d) / m / n, m, n, (MlirValue){NULL});
    e->b = here;
    return acc;
}

static void choose(tile_emitter *e, const tile_op *t, tile_product *p)
{
    MlirType of_a = cute_type_element(mlirValueGetType(mlirOperationGetOperand(t->op, 0))),
             of_sum = cute_type_element(mlirValueGetType(mlirOperationGetOperand(t->op, 2)));
    tile_product_choose(&t->in[0].shape, &t->out.shape, of_a, of_sum, t->op, e->arch, e->threads, p);
}

/* Sums that products leave under way across iterations are one variable outside of the loop that carries them, since nothing may move
 * it: it is set in front of the loop, and cute.tile.settle reads it. A sum that begins with 0, of a loop that is alone and does nothing else with
 * it, is set only where that frees registers for the operations behind the loop. Those that are complete in the block of their product are set there. */
bool tile_make_accumulator(tile_emitter *e, const tile_op *t)
{
    MlirOperation settle = settle_of(t->op);
    bool local = !mlirOperationIsNull(settle);
    MlirValue carried = local ? (MlirValue){NULL} : carried_of(t->op);
    tile_product p;
    if (!local && mlirValueIsNull(carried)) return false;
    for (int i = 0; local && i < e->accumulator_count; i++) /* it adds to the sums of an earlier product */
        if (mlirOperationEqual(e->accumulators[i].settle, settle)) return true;
    if (!local && !mlirValueIsNull(variable_of(e, carried))) return true;
    if (e->accumulator_count == TILE_ACCUMULATORS) return false;
    int64_t threads = e->threads;
    e->threads = t->role->warps * THREADS / WARPS;
    choose(e, t, &p);
    e->threads = threads;
    tile_accumulator *a = &e->accumulators[e->accumulator_count++];
    *a = (tile_accumulator){.carried = carried, .first = t->op, .settle = settle};
    a->variable = make_accumulator(e, cute_type_element(mlirValueGetType(mlirOperationGetOperand(t->op, 2))),
                                   &p, &t->out);
    if (local || e->failed) return !e->failed;
    MlirOperation loop = mlirBlockGetParentOperation(mlirBlockArgumentGetOwner(carried));
    MlirValue initial = mlirOperationGetOperand(loop, 2 + mlirBlockArgumentGetArgNumber(carried));
    a->from_zero = mlirValueEqual(mlirOperationGetOperand(t->op, 2), carried) && tile_is_zero(initial) &&
                   is_alone(e, loop);
    /* Without an initial value ptxas keeps the sums of the previous tile live through its epilogue: they are zeroed where that needs their registers. */
    if (a->from_zero && !tile_is_heavy_behind(loop, tile_values(&t->out))) return true;
    if (is_issued(t->op, carried)) return true;
    cute_builder b = cute_builder_before(loop);
    cute_build(&b, "cute.memref.store_vec", CUTE_OPERANDS(initial, a->variable), CUTE_NO_TYPES,
               CUTE_NO_NAMED);
    return true;
}

/* The registers of an accumulator, which have the value of the sum; *adds is false where the product does not read them, else null. */
static MlirValue accumulator(tile_emitter *e, const tile_op *t, const tile_product *p, MlirValue carried,
                             MlirValue *adds)
{
    MlirValue sum = mlirOperationGetOperand(t->op, 2), acc = variable_of(e, carried);
    MlirOperation settle = settle_of(t->op);
    *adds = (MlirValue){NULL};
    for (int i = 0; i < e->accumulator_count; i++) {
        const tile_accumulator *a = &e->accumulators[i];
        bool same = !mlirOperationIsNull(settle) && mlirOperationEqual(a->settle, settle);
        if (same && !mlirOperationEqual(a->first, t->op)) return a->variable;
        if (!mlirOperationEqual(a->first, t->op)) continue;
        acc = a->variable;
        if (!a->from_zero) continue;
        MlirOperation loop = mlirBlockGetParentOperation(mlirBlockArgumentGetOwner(a->carried));
        *adds = cute_compare(&e->b, CUTE_IS_NE, mlirBlockGetArgument(tile_loop_body(loop), 0),
                             mlirOperationGetOperand(loop, 0));
    }
    if (mlirValueIsNull(acc)) acc = make_accumulator(e, cute_type_element(mlirValueGetType(sum)), p, &t->out);
    if (e->failed || (!mlirValueIsNull(carried) && mlirValueEqual(sum, carried))) return acc;
    if (tile_is_zero(sum))
        *adds = cute_build_constant(&e->b, 1, 0);
    else
        cute_build(&e->b, "cute.memref.store_vec", CUTE_OPERANDS(sum, acc), CUTE_NO_TYPES, CUTE_NO_NAMED);
    return acc;
}

/* A's registers, distributed as the instruction has them. */
static MlirValue held_factor(tile_emitter *e, const tile_op *t, const char *element, const tile_product *p)
{
    int64_t m = t->out.shape.extent[0] / p->rows / p->m, k = t->in[0].shape.extent[1] / p->k;
    return tile_fragment(e, element, tile_values(&t->in[0]) / m / k, m, k, mlirOperationGetOperand(t->op, 0));
}

/* The stage of operand `i`, whose descriptors have it as their last mode. */
static MlirValue stage_of(tile_emitter *e, const tile_op *t, int i, MlirValue of)
{
    return e->failed ? of : tile_slice_last(e, of, 4, t->source[i].stage);
}

/* Products that wait in each iteration leave no time behind the loop. */
static void load_rows_before(tile_emitter *e, MlirOperation loop)
{
    cute_builder here = e->b;
    if (!cute_op_is(loop, "scf.for")) return;
    e->b = cute_builder_before(loop);
    tile_load_rows(e, loop);
    e->b = here;
}

MlirValue tile_lower_wgmma(tile_emitter *e, const tile_op *t)
{
    MlirValue sum = mlirOperationGetOperand(t->op, 2), view[2] = {{NULL}, {NULL}};
    MlirType of_a = cute_type_element(mlirValueGetType(mlirOperationGetOperand(t->op, 0)));
    tile_product p;
    int bits;
    int64_t offset = 0;
    choose(e, t, &p);
    if (!p.warpgroups || p.rows < 1) return e->failed = true, sum;
    bool staged = (p.held || t->source[0].ring) && t->source[1].ring;
    if (!staged) tile_barrier(e);
    for (int i = p.held ? 1 : 0; i < 2 && !e->failed; i++)
        view[i] = t->source[i].ring ? tile_stage_view(e, &t->source[i], staged) : to_shared(e, t, i, &offset);
    if (e->failed) return sum;
    if (!staged) {
        sync_op(e, "cute_nvgpu.arch.fence_view_async_shared");
        tile_barrier(e);
    }
    const char *element = tile_element_text(e, cute_type_element(mlirValueGetType(sum)), &bits);
    const char *factor = p.tf32 ? "tf32" : tile_element_text(e, of_a, &bits);
    tile_wgmma_atom(&p, factor, element, !p.held && is_mn_major(view[0]), is_mn_major(view[1]));
    MlirValue atom =
        cute_build_value(&e->b, "cute.make_atom", tile_type(e, p.text), CUTE_NO_OPERANDS, CUTE_NO_NAMED);
    MlirValue mma =
        tile_emit(e, "cute.make_tiled_mma",
                  CUTE_OPERANDS(atom, tile_static(e, "!cute.layout<\"(1,1,1):(0,0,0)\">")), CUTE_NO_NAMED);
    MlirValue lane = cute_binary(&e->b, "arith.remui", e->thread, tile_i32(e, THREADS));
    MlirValue thread = cute_build_value(&e->b, "cute.make_coord", tile_type(e, "!cute.coord<\"?\">"),
                                        CUTE_OPERANDS(lane), CUTE_NO_NAMED);
    int64_t k = t->in[0].shape.extent[1], band[CUTE_TILE_RANK] = {0, 1};
    cute_tile_numbers(mlirOperationGetAttributeByName(t->op, cute_text("band")), band);
    for (int i = p.held ? 1 : 0; i < 2 && !e->failed; i++) {
        MlirValue index = own_index(e, &p, i);
        if (i) index = index_of_band(e, index, band);
        view[i] = own_part(e, view[i], t->out.shape.extent[i] / (i ? p.columns * band[1] : p.rows), k, index);
    }
    if (e->failed) return sum;
    MlirValue a = p.held ? held_factor(e, t, factor, &p) : descriptors(e, mma, view[0], thread, CUTE_ATOM_A),
              b = descriptors(e, mma, view[1], thread, CUTE_ATOM_B);
    if (staged && !p.held) a = stage_of(e, t, 0, a);
    if (staged) b = stage_of(e, t, 1, b);
    if (e->failed) return sum;
    int64_t pending = cute_tile_number(t->op, "pending", 0);
    MlirValue carried = pending ? carried_of(t->op) : (MlirValue){NULL}, later,
              acc = accumulator(e, t, &p, carried, &later);
    if (e->failed) return sum;
    sync_op(e, "cute_nvgpu.arch.wgmma_fence");
    MlirValue yes = mlirValueIsNull(later) ? cute_build_constant(&e->b, 1, 1) : later;
    MlirValue adds = tile_emit(
        e, "cute_nvgpu.atom.set_value", CUTE_OPERANDS(mma, yes),
        CUTE_NAMED(cute_attribute(
            e->context, "field",
            mlirAttributeParseGet(e->context, cute_text("#cute_nvgpu.atom_mma_field_sm90<accum_c>")))));
    if (e->failed) return sum;
    MlirValue sums = band[1] > 1 ? sums_of_band(e, acc, band) : acc;
    if (e->failed) return sum;
    cute_build(&e->b, "cute.gemm", CUTE_OPERANDS(adds, sums, a, b, sums), CUTE_NO_TYPES, CUTE_NO_NAMED);
    sync_op(e, "cute_nvgpu.arch.wgmma_commit_group");
    if (!pending) load_rows_before(e, tile_parent(t->op));
    tile_fetch_first(e, tile_parent(t->op));
    /* The release of the stage before does not wait for this product. */
    MlirOperation next = mlirOperationGetNextInBlock(t->op);
    if (!pending && staged && band[1] == 1 && cute_op_is(next, "cute.tile.release") &&
        mlirOperationGetNumOperands(next) > 2)
        e->b.before = mlirOperationGetNextInBlock(next);
    if (pending != TILE_NO_WAIT) wait(e, pending);
    /* It stays in the variable until cute.tile.settle. */
    if (pending) return mlirValueIsNull(carried) || is_issued(t->op, carried) ? sum : carried;
    MlirValue out = tile_emit(e, "cute.memref.load_vec", CUTE_OPERANDS(acc), CUTE_NO_NAMED);
    if (!staged && !e->failed) tile_barrier(e);
    return out;
}

/* Whether a wait that leaves at most `groups` products pending was emitted, and only reads of sums since. */
static bool has_waited(const tile_emitter *e, int64_t groups)
{
    MlirOperation wait = {NULL};
    for (MlirOperation op = mlirBlockGetFirstOperation(e->b.block); !mlirOperationEqual(op, e->b.before);
         op = mlirOperationGetNextInBlock(op))
        if (cute_op_is(op, "cute_nvgpu.arch.wgmma_wait_group"))
            wait = op;
        else if (!cute_op_is(op, "cute.memref.load_vec") && !cute_op_is(op, "arith.constant"))
            wait = (MlirOperation){NULL};
    return !mlirOperationIsNull(wait) && cute_tile_number(wait, "groups", TILE_NO_WAIT) <= groups;
}

MlirValue tile_lower_settle(tile_emitter *e, const tile_op *t)
{
    MlirValue value = mlirOperationGetOperand(t->op, 0);
    MlirOperation loop = cute_defining_op(value);
    if (!mlirOperationIsNull(loop) && !cute_op_is(loop, "scf.for")) loop = (MlirOperation){NULL};
    /* One wait for all sums of a loop: a second one would have LLVM move those that the first one is for. */
    bool again = !mlirOperationIsNull(loop) && mlirOperationEqual(e->settled, loop) &&
                 mlirBlockEqual(e->settled_in, e->b.block);
    if (!again) {
        if (!mlirOperationIsNull(loop)) tile_load_rows(e, loop);
        int64_t pending = cute_tile_number(t->op, "pending", 0);
        if (!has_waited(e, pending)) wait(e, pending);
    }
    e->settled = loop;
    e->settled_in = e->b.block;
    for (int i = 0; i < e->accumulator_count; i++)
        if (mlirOperationEqual(e->accumulators[i].settle, t->op))
            return tile_emit(e, "cute.memref.load_vec", CUTE_OPERANDS(e->accumulators[i].variable),
                             CUTE_NO_NAMED);
    if (mlirOperationIsNull(loop) && mlirValueIsABlockArgument(value)) {
        MlirValue variable = variable_of(e, value);
        return mlirValueIsNull(variable)
                   ? value
                   : tile_emit(e, "cute.memref.load_vec", CUTE_OPERANDS(variable), CUTE_NO_NAMED);
    }
    if (mlirOperationIsNull(loop) || !cute_op_is(loop, "scf.for")) return value;
    MlirValue carried = mlirBlockGetArgument(tile_loop_body(loop), 1 + mlirOpResultGetResultNumber(value));
    for (int i = 0; i < e->accumulator_count; i++) {
        const tile_accumulator *a = &e->accumulators[i];
        if (!mlirValueEqual(a->carried, carried)) continue;
        if (a->from_zero) { /* no product set it */
            MlirValue initial = mlirOperationGetOperand(loop, 3 + mlirOpResultGetResultNumber(value));
            tile_if none = tile_if_begin(e, cute_compare(&e->b, CUTE_IS_SGE, mlirOperationGetOperand(loop, 0),
                                                         mlirOperationGetOperand(loop, 1)));
            cute_build(&e->b, "cute.memref.store_vec", CUTE_OPERANDS(initial, a->variable), CUTE_NO_TYPES,
                       CUTE_NO_NAMED);
            tile_if_end(e, &none);
        }
        return tile_emit(e, "cute.memref.load_vec", CUTE_OPERANDS(a->variable), CUTE_NO_NAMED);
    }
    return value;
}
