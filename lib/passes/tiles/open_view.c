/* Tensors whose tiles may be outside along a mode of one tile. An extent that is known and not above the tile's leaves one tile along
 * the mode, so that the algebra drops the tile's index there: tile 1 would be tile 0. As an unknown extent it is kept. */
#include <mlir-c/BuiltinTypes.h>

#include "lib/base/buffer.h"
#include "lib/ir/dialects/types.h"
#include "lib/ir/mlir/util.h"
#include "lib/passes/tiles/emit.h"

static const cute_tree *item_at(const cute_tree *tree, int i)
{
    return tree->kind == CUTE_TREE_TUPLE ? tree->items[i] : tree;
}

static bool is_known(const cute_tree *leaf)
{
    return leaf->kind != CUTE_TREE_TUPLE && leaf->value.known;
}

static MlirValue extent_at(tile_emitter *e, MlirValue layout, int i, bool tuple)
{
    int32_t mode = i;
    MlirNamedAttribute at = cute_attribute(e->context, "mode", mlirDenseI32ArrayGet(e->context, 1, &mode));
    MlirValue size = tile_emit(e, "cute.size", CUTE_OPERANDS(layout), tuple ? CUTE_NAMED(at) : CUTE_NO_NAMED);
    return tile_emit(e, "cute.get_scalars", CUTE_OPERANDS(size), CUTE_NO_NAMED);
}

MlirValue tile_open_view(tile_emitter *e, MlirValue view, const cute_tile_shape *tile, MlirValue coord)
{
    const cute_value *type = cute_type_peek(mlirValueGetType(view)),
                     *at = cute_type_peek(mlirValueGetType(coord));
    const cute_tree *shape = type->layout.shape;
    bool tuple = shape && shape->kind == CUTE_TREE_TUPLE, any = false;
    if (e->failed || !shape || (tuple ? (int)shape->count : 1) != tile->rank) return view;
    for (int i = 0; i < tile->rank; i++) {
        const cute_tree *extent = item_at(shape, i);
        if (extent->kind == CUTE_TREE_TUPLE || (!is_known(extent) && extent->value.width != 32)) return view;
        any |= is_known(extent) && extent->value.value <= tile->extent[i] && !is_known(item_at(at->tree, i));
    }
    if (!any) return view;
    MlirValue layout = tile_emit(e, "cute.get_layout", CUTE_OPERANDS(view), CUTE_NO_NAMED),
              extents[CUTE_TILE_RANK];
    intptr_t count = 0;
    cute_buffer text = {0};
    cute_buffer_printf(&text, tuple ? "!cute.shape<\"(" : "!cute.shape<\"");
    for (int i = 0; i < tile->rank && !e->failed; i++) {
        const cute_tree *extent = item_at(shape, i);
        bool opened =
            is_known(extent) && extent->value.value <= tile->extent[i] && !is_known(item_at(at->tree, i));
        if (i) cute_buffer_printf(&text, ",");
        if (opened)
            cute_buffer_printf(&text, "?{div=%lld}", (long long)extent->value.value);
        else
            cute_buffer_printf(&text, "%s", cute_tree_text(e->arena, extent));
        if (opened)
            extents[count++] = tile_i32(e, extent->value.value);
        else if (!is_known(extent))
            extents[count++] = extent_at(e, layout, i, tuple);
    }
    cute_buffer_printf(&text, tuple ? ")\">" : "\">");
    MlirType made = e->failed ? (MlirType){NULL} : tile_type(e, cute_buffer_text(&text));
    cute_buffer_release(&text);
    if (e->failed) return view;
    MlirValue open = cute_build_value(&e->b, "cute.make_shape", made, (cute_operands){extents, count},
                                      CUTE_NO_NAMED),
              stride = tile_emit(e, "cute.get_stride", CUTE_OPERANDS(layout), CUTE_NO_NAMED),
              both = tile_emit(e, "cute.make_layout", CUTE_OPERANDS(open, stride), CUTE_NO_NAMED),
              from = tile_emit(e, "cute.get_iter", CUTE_OPERANDS(view), CUTE_NO_NAMED);
    return tile_emit(e, "cute.make_view", CUTE_OPERANDS(from, both), CUTE_NO_NAMED);
}
