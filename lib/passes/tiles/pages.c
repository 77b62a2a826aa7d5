/* cute.tile.pages: a tensor whose index along mode 0 goes through a table in memory. A fetch of several pages is one for each, whose index
 * the warps that fetch read. A role of one warp reads 32 entries at once and keeps one in each lane, so that the fetches of a loop do not wait for
 * an access to memory each. Other loads of one page are loads of the tensor; of several they read elements one at a time. */
#include <mlir-c/BuiltinAttributes.h>
#include <mlir-c/BuiltinTypes.h>

#include "lib/base/buffer.h"
#include "lib/ir/dialects/types.h"
#include "lib/ir/mlir/util.h"
#include "lib/passes/tiles/emit.h"
#include "lib/passes/tiles/schedule.h"

MlirOperation tile_pages_of(MlirValue tensor)
{
    MlirOperation op = cute_defining_op(tensor);
    return !mlirOperationIsNull(op) && cute_op_is(op, "cute.tile.pages") ? op : (MlirOperation){NULL};
}

bool tile_pages_are_aligned(MlirOperation load)
{
    enum { ROWS = 8 }; /* after which swizzles repeat */
    cute_tile_shape shape;
    if (mlirOperationIsNull(tile_pages_of(mlirOperationGetOperand(load, 0)))) return true;
    if (!cute_tile_shape_of(mlirValueGetType(mlirOperationGetResult(load, 0)), &shape)) return false;
    int64_t page = cute_tile_size(&shape) / shape.extent[0];
    int contiguous;
    tile_access_width(cute_type_peek(mlirValueGetType(mlirOperationGetOperand(load, 0))), &shape,
                      &contiguous);
    return contiguous > 0 && page / shape.extent[contiguous] % ROWS == 0;
}

/* ---- elements of the table ---- */

static MlirValue extent_of(tile_emitter *e, MlirValue tensor)
{
    const int32_t mode = 0;
    const cute_value *type = cute_type_peek(mlirValueGetType(tensor));
    MlirNamedAttribute at = cute_attribute(e->context, "mode", mlirDenseI32ArrayGet(e->context, 1, &mode));
    MlirValue layout = tile_emit(e, "cute.get_layout", CUTE_OPERANDS(tensor), CUTE_NO_NAMED),
              size = tile_emit(e, "cute.size", CUTE_OPERANDS(layout),
                               type->layout.shape->kind == CUTE_TREE_TUPLE ? CUTE_NAMED(at) : CUTE_NO_NAMED);
    return tile_emit(e, "cute.get_scalars", CUTE_OPERANDS(size), CUTE_NO_NAMED);
}

/* Entry `i` of the table if `inside`, else `other`: an i32. */
static MlirValue entry_at(tile_emitter *e, MlirOperation pages, MlirValue i, MlirValue inside,
                          MlirValue other)
{
    MlirType i32 = tile_i32_type(e);
    MlirValue table = mlirOperationGetOperand(pages, 1), row = mlirOperationGetOperand(pages, 2);
    MlirRegion regions[2];
    for (int r = 0; r < 2; r++) {
        regions[r] = mlirRegionCreate();
        MlirBlock block = mlirBlockCreate(0, NULL, NULL);
        mlirRegionAppendOwnedBlock(regions[r], block);
        cute_builder b = cute_builder_at_end(block, e->b.location);
        MlirValue value = other;
        if (!r) {
            MlirValue at = cute_build_value(&b, "cute.make_coord", tile_type(e, "!cute.coord<\"(?,?)\">"),
                                            CUTE_OPERANDS(row, i), CUTE_NO_NAMED);
            value = cute_build_value(&b, "cute.memref.load", i32, CUTE_OPERANDS(table, at), CUTE_NO_NAMED);
        }
        cute_build(&b, "scf.yield", CUTE_OPERANDS(value), CUTE_NO_TYPES, CUTE_NO_NAMED);
    }
    MlirOperation op = cute_build_regions(&e->b, "scf.if", CUTE_OPERANDS(inside), CUTE_TYPES(i32),
                                          CUTE_NO_NAMED, regions, 2);
    return mlirOperationGetResult(op, 0);
}

enum cell { FIRST, ENTRY, CELLS };

static MlirValue cell_coord(tile_emitter *e, enum cell cell)
{
    return tile_static(e, cell == FIRST ? "!cute.coord<\"0\">" : "!cute.coord<\"1\">");
}

static MlirValue load_cell(tile_emitter *e, const tile_table *t, enum cell cell)
{
    return cute_build_value(&e->b, "cute.memref.load", tile_i32_type(e),
                            CUTE_OPERANDS(t->cells, cell_coord(e, cell)), CUTE_NO_NAMED);
}

static void store_cell(tile_emitter *e, const tile_table *t, enum cell cell, MlirValue value)
{
    cute_build(&e->b, "cute.memref.store", CUTE_OPERANDS(t->cells, cell_coord(e, cell), value), CUTE_NO_TYPES,
               CUTE_NO_NAMED);
}

/* Whether its row and count may change between iterations. */
static bool is_in_loop(MlirOperation pages)
{
    MlirOperation outer = mlirOperationGetParentOperation(pages);
    while (!mlirOperationIsNull(outer) && !cute_op_is(outer, "scf.for") && !cute_op_is(outer, "scf.while"))
        outer = mlirOperationGetParentOperation(outer);
    return !mlirOperationIsNull(outer);
}

/* The cells of the table in this role, which have nothing at the kernel's start. Null: each fetch reads the table. */
static const tile_table *table_of(tile_emitter *e, MlirOperation pages)
{
    MlirValue table = mlirOperationGetOperand(pages, 1), row = mlirOperationGetOperand(pages, 2),
              count = mlirOperationGetOperand(pages, 3);
    for (int i = 0; i < e->table_count; i++) {
        const tile_table *t = &e->tables[i];
        if (t->role == e->role && mlirValueEqual(t->table, table) && mlirValueEqual(t->row, row) &&
            mlirValueEqual(t->count, count))
            return t;
    }
    if (e->table_count == TILE_TABLES || is_in_loop(pages)) return NULL;
    cute_builder here = e->b;
    e->b = e->start;
    MlirType type = tile_type(e, "!cute.memref<i32, rmem, align<16>, \"2:1\">");
    if (e->failed) return NULL;
    tile_table *made = &e->tables[e->table_count++];
    *made =
        (tile_table){e->role, table, row, count,
                     cute_build_value(&e->b, "cute.memref.alloca", type, CUTE_NO_OPERANDS, CUTE_NO_NAMED)};
    for (int cell = 0; cell < CELLS; cell++)
        store_cell(e, made, (enum cell)cell, tile_i32(e, cell == FIRST ? -1 : 0)); /* no multiple of 32 */
    e->b = here;
    return made;
}

enum { LANES = 32 };

/* All lanes of a warp read the 32 entries from a multiple of 32 on, among which is entry `i`, if they do not have them. */
static void read_entries(tile_emitter *e, const tile_table *t, MlirOperation pages, MlirValue i)
{
    MlirValue lane = cute_binary(&e->b, "arith.andi", e->role->thread, tile_i32(e, LANES - 1)),
              first = cute_binary(&e->b, "arith.andi", i, tile_i32(e, -LANES)),
              others = cute_compare(&e->b, CUTE_IS_NE, load_cell(e, t, FIRST), first);
    tile_if reads = tile_if_begin(e, others);
    MlirValue own = cute_binary(&e->b, "arith.addi", first, lane),
              inside = cute_compare(&e->b, CUTE_IS_ULT, own, t->count);
    store_cell(e, t, ENTRY, entry_at(e, pages, own, inside, tile_i32(e, 0)));
    store_cell(e, t, FIRST, first);
    tile_if_end(e, &reads);
}

/* The page of index `i`, an i32; of one that is not below the count, a page behind the tensor. */
static MlirValue page_at(tile_emitter *e, MlirOperation pages, MlirValue i)
{
    MlirValue none = extent_of(e, mlirOperationGetOperand(pages, 0));
    if (e->failed) return i;
    MlirValue inside = cute_compare(&e->b, CUTE_IS_ULT, i, mlirOperationGetOperand(pages, 3));
    return entry_at(e, pages, i, inside, none);
}

/* The same of an entry that the warp has read. */
static MlirValue read_page(tile_emitter *e, const tile_table *t, MlirOperation pages, MlirValue i)
{
    MlirValue none = extent_of(e, mlirOperationGetOperand(pages, 0));
    if (e->failed) return i;
    MlirValue from = cute_binary(&e->b, "arith.andi", i, tile_i32(e, LANES - 1)),
              entry = tile_shuffle(e, load_cell(e, t, ENTRY), from, "idx"),
              inside = cute_compare(&e->b, CUTE_IS_ULT, i, t->count);
    return cute_select(&e->b, inside, entry, none);
}

/* ---- fetches ---- */

/* The coordinate with `page` along mode 0. */
static MlirValue with_page(tile_emitter *e, MlirValue coord, const MlirValue *leaves, MlirValue page)
{
    const cute_tree *tree = cute_type_peek(mlirValueGetType(coord))->tree;
    MlirValue operands[CUTE_TILE_RANK] = {page};
    intptr_t count = 1;
    cute_buffer text = {0};
    cute_buffer_printf(&text, tree->kind == CUTE_TREE_TUPLE ? "!cute.coord<\"(?" : "!cute.coord<\"?");
    for (uint32_t i = 1; tree->kind == CUTE_TREE_TUPLE && i < tree->count && i < CUTE_TILE_RANK; i++) {
        cute_buffer_printf(&text, ",%s", cute_tree_text(e->arena, tree->items[i]));
        if (!cute_tree_is_static(tree->items[i])) operands[count++] = leaves[i];
    }
    cute_buffer_printf(&text, tree->kind == CUTE_TREE_TUPLE ? ")\">" : "\">");
    MlirType type = tile_type(e, cute_buffer_text(&text));
    cute_buffer_release(&text);
    if (e->failed) return coord;
    return cute_build_value(&e->b, "cute.make_coord", type, (cute_operands){operands, count}, CUTE_NO_NAMED);
}

/* Page `r` of a stage or of all stages of a ring. */
static MlirValue part_of(tile_emitter *e, MlirValue view, const cute_tile_shape *tile, int64_t r)
{
    const cute_tree *shape = cute_type_peek(mlirValueGetType(view))->layout.shape;
    cute_buffer tiler = {0}, coord = {0};
    cute_buffer_printf(&tiler, "!cute.tile<\"[1:1");
    cute_buffer_printf(&coord, "!cute.coord<\"(%lld", (long long)r);
    for (int i = 1; i < (int)shape->count; i++) {
        bool stages = i == tile->rank;
        cute_buffer_printf(&tiler, ";%lld:1",
                           (long long)(stages ? shape->items[i]->value.value : tile->extent[i]));
        cute_buffer_printf(&coord, ",0");
    }
    cute_buffer_printf(&tiler, "]\">");
    cute_buffer_printf(&coord, ")\">");
    MlirValue tiles = tile_static(e, cute_buffer_text(&tiler)), at = tile_static(e, cute_buffer_text(&coord));
    cute_buffer_release(&tiler);
    cute_buffer_release(&coord);
    return tile_emit(e, "cute.local_tile", CUTE_OPERANDS(view, tiles, at), CUTE_NO_NAMED);
}

/* The index of the tile's first page, and all leaves of the coordinate. */
static MlirValue first_page(tile_emitter *e, MlirValue coord, int64_t extent, MlirValue leaves[64])
{
    MlirOperation all = tile_emit_op(e, "cute.get_scalars", CUTE_OPERANDS(coord), CUTE_NO_NAMED);
    if (e->failed) return coord;
    for (intptr_t i = 0; i < mlirOperationGetNumResults(all) && i < 64; i++)
        leaves[i] = mlirOperationGetResult(all, i);
    return extent == 1 ? leaves[0] : cute_binary(&e->b, "arith.muli", leaves[0], tile_i32(e, extent));
}

void tile_fetch_pages(tile_emitter *e, const tile_op *t, const cute_tile_shape *tile, MlirValue view,
                      tile_fetch_page *fetch, void *context)
{
    MlirOperation pages = tile_pages_of(mlirOperationGetOperand(t->op, 0));
    MlirValue coord = mlirOperationGetOperand(t->op, 1), leaves[64] = {{NULL}},
              first = first_page(e, coord, tile->extent[0], leaves);
    cute_tile_shape one = *tile;
    one.extent[0] = 1;
    /* All lanes of a warp execute a role of one. The pages of a tile are adjacent, from a multiple of their number on. */
    bool one_warp = e->role->op.ptr && e->role->warps == 1 && e->role->turns == 1,
         together = LANES % tile->extent[0] == 0;
    const tile_table *table = one_warp ? table_of(e, pages) : NULL;
    for (int64_t r = 0; r < tile->extent[0] && !e->failed; r++) {
        MlirValue i = r ? cute_binary(&e->b, "arith.addi", first, tile_i32(e, r)) : first;
        if (table && (!r || !together)) read_entries(e, table, pages, i);
        MlirValue page = table ? read_page(e, table, pages, i) : page_at(e, pages, i),
                  at = with_page(e, coord, leaves, page), part = part_of(e, view, tile, r);
        if (!e->failed) fetch(e, t, &one, mlirOperationGetOperand(pages, 0), at, part, context);
    }
}

/* ---- other loads ---- */

MlirValue tile_one_page(tile_emitter *e, MlirOperation load)
{
    MlirOperation pages = tile_pages_of(mlirOperationGetOperand(load, 0));
    MlirValue coord = mlirOperationGetOperand(load, 1), leaves[64] = {{NULL}},
              first = first_page(e, coord, 1, leaves);
    if (e->failed) return coord;
    return with_page(e, coord, leaves, page_at(e, pages, first));
}

MlirValue tile_load_pages(tile_emitter *e, const tile_op *t)
{
    MlirOperation pages = tile_pages_of(mlirOperationGetOperand(t->op, 0));
    MlirValue coord = mlirOperationGetOperand(t->op, 1), leaves[64] = {{NULL}}, parts[CUTE_TILE_RANK],
              own[CUTE_TILE_RANK], tensor = mlirOperationGetOperand(pages, 0);
    MlirType element = cute_type_element(mlirValueGetType(mlirOperationGetResult(t->op, 0)));
    const cute_tile_shape *shape = &t->out.shape;
    MlirValue fill = tile_fill_value(e, element, cute_tile_word(t->op, "fill")),
              out = tile_splat(e, fill, tile_values(&t->out));
    first_page(e, coord, 1, leaves);
    for (int i = 0; i < shape->rank && !e->failed; i++) {
        MlirValue thread = tile_thread_coord(e, &t->out, i),
                  tiles = cute_binary(&e->b, "arith.muli", leaves[i], tile_i32(e, shape->extent[i]));
        own[i] = cute_binary(&e->b, "arith.addi", tiles, thread);
    }
    for (int64_t v = 0; v < tile_values(&t->out) && !e->failed; v++) {
        int64_t at[CUTE_TILE_RANK] = {0};
        tile_modes_coord(&t->out.values, v, at);
        for (int i = 0; i < shape->rank; i++)
            parts[i] = at[i] ? cute_binary(&e->b, "arith.addi", own[i], tile_i32(e, at[i])) : own[i];
        parts[0] = page_at(e, pages, parts[0]);
        MlirValue mask =
            mlirOperationGetNumOperands(t->op) > 2 ? mlirOperationGetOperand(t->op, 2) : (MlirValue){NULL};
        if (!mlirValueIsNull(mask)) mask = cute_vector_extract(&e->b, mask, v);
        if (!e->failed)
            out = cute_vector_insert(&e->b, out, tile_load_element(e, tensor, shape->rank, parts, mask, fill),
                                     v);
    }
    return out;
}

void tile_remove_pages(MlirOperation op, void *context)
{
    (void)context;
    mlirOperationDestroy(op);
}
