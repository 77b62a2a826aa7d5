/* Tensors from an index of a mode on, cute.tile.from and cute.tile.rows: a pointer that is moved and an extent that is shorter; of a tensor that TMA
 * copies, coordinates that are moved, since the tensor map is of the whole argument. */
#include <mlir-c/BuiltinTypes.h>
#include <stdio.h>
#include <string.h>

#include "lib/base/buffer.h"
#include "lib/ir/dialects/types.h"
#include "lib/ir/mlir/util.h"
#include "lib/passes/tiles/emit.h"
#include "lib/passes/tiles/schedule.h"

static MlirOperation from_of(MlirValue tensor)
{
    MlirOperation op = cute_defining_op(tensor);
    bool part =
        !mlirOperationIsNull(op) && (cute_op_is(op, "cute.tile.from") || cute_op_is(op, "cute.tile.rows"));
    return part ? op : (MlirOperation){NULL};
}

/* The tensor of which pages are taken. */
static MlirValue without_pages(MlirValue tensor)
{
    MlirOperation pages = tile_pages_of(tensor);
    return mlirOperationIsNull(pages) ? tensor : mlirOperationGetOperand(pages, 0);
}

MlirValue tile_tensor_root(MlirValue tensor)
{
    tensor = without_pages(tensor);
    for (MlirOperation op = from_of(tensor); !mlirOperationIsNull(op); op = from_of(tensor))
        tensor = mlirOperationGetOperand(op, 0);
    return tensor;
}

typedef struct writes {
    MlirValue root;
    bool found;
} writes;

static void look_for_write(MlirOperation op, void *context)
{
    writes *w = context;
    bool stores = cute_op_is(op, "cute.tile.store") || cute_op_is(op, "cute.tile.scatter") ||
                  cute_op_is(op, "cute.tile.atomic") || cute_op_is(op, "cute.memref.store");
    for (intptr_t i = 0; stores && i < mlirOperationGetNumOperands(op); i++)
        w->found |= mlirValueEqual(tile_tensor_root(mlirOperationGetOperand(op, i)), w->root);
}

bool tile_is_written(MlirValue tensor, MlirOperation op)
{
    writes w = {tile_tensor_root(tensor), false};
    cute_op_walk(cute_op_parent(op, "gpu.func"), "cute.", CUTE_WALK_OUTER_FIRST, look_for_write, &w);
    return w.found;
}

bool tile_origin_of(MlirValue tensor, tile_origin *out)
{
    tensor = without_pages(tensor);
    *out = (tile_origin){.root = tensor};
    for (MlirOperation op = from_of(tensor); !mlirOperationIsNull(op); op = from_of(out->root)) {
        if (out->count == TILE_FROM) return false;
        out->mode[out->count] = (int)cute_tile_number(op, "mode", 0);
        out->from[out->count] = op;
        out->stays[out->count] = cute_op_is(op, "cute.tile.rows");
        out->first[out->count++] = mlirOperationGetOperand(op, 1);
        out->root = mlirOperationGetOperand(op, 0);
    }
    return true;
}

static int rank_of(MlirValue view)
{
    const cute_tree *shape = cute_type_peek(mlirValueGetType(view))->layout.shape;
    return shape->kind == CUTE_TREE_TUPLE ? (int)shape->count : 1;
}

/* The coordinate with `first` in mode `mode` and 0 in the others. */
static MlirValue coord_of(tile_emitter *e, int rank, int mode, MlirValue first)
{
    cute_buffer text = {0};
    cute_buffer_printf(&text, rank > 1 ? "!cute.coord<\"(" : "!cute.coord<\"");
    for (int i = 0; i < rank; i++) cute_buffer_printf(&text, "%s%s", i ? "," : "", i == mode ? "?" : "0");
    cute_buffer_printf(&text, rank > 1 ? ")\">" : "\">");
    MlirType type = tile_type(e, cute_buffer_text(&text));
    cute_buffer_release(&text);
    return e->failed ? first
                     : cute_build_value(&e->b, "cute.make_coord", type, CUTE_OPERANDS(first), CUTE_NO_NAMED);
}

static MlirValue moved_iter(tile_emitter *e, MlirValue view, MlirValue layout, const tile_origin *origin)
{
    MlirValue iter = tile_emit(e, "cute.get_iter", CUTE_OPERANDS(view), CUTE_NO_NAMED);
    for (int i = 0; i < origin->count && !e->failed; i++) {
        MlirValue first = origin->stays[i] ? mlirOperationGetOperand(origin->from[i], 1) : origin->first[i],
                  coord = coord_of(e, rank_of(view), origin->mode[i], first),
                  by = tile_emit(e, "cute.crd2idx", CUTE_OPERANDS(coord, layout), CUTE_NO_NAMED);
        if (!e->failed) iter = tile_emit(e, "cute.add_offset", CUTE_OPERANDS(iter, by), CUTE_NO_NAMED);
    }
    return iter;
}

MlirValue tile_move_view(tile_emitter *e, MlirValue view, const tile_origin *origin)
{
    if (!origin->count || e->failed) return view;
    MlirValue layout = tile_emit(e, "cute.get_layout", CUTE_OPERANDS(view), CUTE_NO_NAMED),
              iter = moved_iter(e, view, layout, origin);
    return tile_emit(e, "cute.make_view", CUTE_OPERANDS(iter, layout), CUTE_NO_NAMED);
}

/* The extent of mode `mode` less `first`, the others as they are. */
static MlirValue shorter_shape(tile_emitter *e, MlirValue tensor, MlirType result, int mode, MlirValue first)
{
    MlirValue shape = tile_emit(e, "cute.get_shape", CUTE_OPERANDS(tensor), CUTE_NO_NAMED), leaves[64];
    if (e->failed) return shape;
    MlirOperation all = tile_emit_op(e, "cute.get_scalars", CUTE_OPERANDS(shape), CUTE_NO_NAMED);
    const cute_value *from = cute_type_peek(mlirValueGetType(tensor)), *to = cute_type_peek(result);
    const cute_tree *tree = to->layout.shape, *own = from->layout.shape;
    intptr_t count = 0, at = 0;
    if (e->failed) return shape;
    for (int i = 0; i < rank_of(tensor); i++) {
        const cute_tree *leaf = tree->kind == CUTE_TREE_TUPLE ? tree->items[i] : tree,
                        *old = own->kind == CUTE_TREE_TUPLE ? own->items[i] : own;
        if (i == mode) {
            MlirValue extent = mlirOperationGetResult(all, at);
            if (!mlirTypeEqual(mlirValueGetType(extent), mlirValueGetType(first)))
                extent = cute_unary(&e->b, "arith.trunci", extent, mlirValueGetType(first));
            leaves[count++] = cute_binary(&e->b, "arith.subi", extent, first);
        } else {
            for (uint32_t k = 0; k < leaf->leaves && count < 64; k++)
                if (!cute_tree_is_static(leaf)) leaves[count++] = mlirOperationGetResult(all, at + k);
        }
        at += old->leaves;
    }
    char *text = cute_arena_printf(e->arena, "!cute.shape<\"%s\">", cute_tree_text(e->arena, tree));
    MlirType type = text ? tile_type(e, text) : (MlirType){NULL};
    if (!text || e->failed) return e->failed = true, shape;
    return cute_build_value(&e->b, "cute.make_shape", type, (cute_operands){leaves, count}, CUTE_NO_NAMED);
}

MlirValue tile_lower_from(tile_emitter *e, const tile_op *t)
{
    MlirValue tensor = mlirOperationGetOperand(t->op, 0), first = mlirOperationGetOperand(t->op, 1);
    int mode = (int)cute_tile_number(t->op, "mode", 0);
    /* Origins were noted before the operations that compute `first` were lowered. */
    for (int i = 0; i < e->buffer_count; i++)
        for (int k = 0; k < e->buffers[i].origin.count; k++)
            if (mlirOperationEqual(e->buffers[i].origin.from[k], t->op))
                e->buffers[i].origin.first[k] = first;
    const tile_origin origin = {.root = tensor, .count = 1, .mode = {mode}, .first = {first}};
    MlirValue layout = tile_emit(e, "cute.get_layout", CUTE_OPERANDS(tensor), CUTE_NO_NAMED),
              iter = moved_iter(e, tensor, layout, &origin);
    if (e->failed) return tensor;
    MlirValue shape =
                  shorter_shape(e, tensor, mlirValueGetType(mlirOperationGetResult(t->op, 0)), mode, first),
              stride = tile_emit(e, "cute.get_stride", CUTE_OPERANDS(layout), CUTE_NO_NAMED);
    if (e->failed) return tensor;
    MlirValue both = tile_emit(e, "cute.make_layout", CUTE_OPERANDS(shape, stride), CUTE_NO_NAMED);
    return tile_emit(e, "cute.make_view", CUTE_OPERANDS(iter, both), CUTE_NO_NAMED);
}
