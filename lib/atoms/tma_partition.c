/* Partitions a tensor in shared memory and a tensor of coordinates for a TMA copy. */
#include <inttypes.h>

#include "lib/atoms/tma.h"
#include "lib/atoms/tma_algebra.h"
#include "lib/layout/pointer.h"

/* (elements of one instruction, instructions), as indices of a tile in the order of its elements in shared
 * memory. */
static cute_status instructions_of(const tma_work *w, int64_t elements, cute_layout tile, cute_layout *out)
{
    tma_work silent = {w->arena, NULL, w->diag};
    int64_t size = tma_size(tile.shape);
    if (!size || !cute_tree_is_static(tile.stride) || size % elements)
        return cute_fail(w->diag, CUTE_INVALID, NULL,
                         "expects mode 0 of the tensor in shared memory to be tiles of %" PRId64
                         " elements, which the atom copies, but got \"%s\"",
                         elements, cute_layout_text(w->arena, tile));
    cute_layout order;
    CUTE_TRY(tma_unary(&silent, CUTE_OP_RIGHT_INVERSE, tile, &order));
    if (tma_size(order.shape) != size) {
        const cute_tree *extent = tma_number(w, size);
        cute_value operands[2] = {cute_value_of_layout(order),
                                  cute_value_of_tree(CUTE_SHAPE,
                                                     extent ? cute_tree_tuple(w->arena, &extent, 1) : NULL)},
                   result;
        if (!operands[1].tree) return cute_fail_memory(w->diag);
        operands[0].layout.shape = cute_tree_tuple(w->arena, &order.shape, 1);
        operands[0].layout.stride = cute_tree_tuple(w->arena, &order.stride, 1);
        if (!operands[0].layout.shape || !operands[0].layout.stride) return cute_fail_memory(w->diag);
        CUTE_TRY(tma_apply(&silent, CUTE_OP_TILE_TO_SHAPE, operands, 2, &result));
        order = tma_layout_mode(result.layout, 0);
    }
    cute_layout one = {tma_pair(w, tma_number(w, elements), tma_number(w, size / elements)),
                       tma_pair(w, tma_number(w, 1), tma_number(w, size == elements ? 0 : elements))};
    if (!one.shape || !one.stride) return cute_fail_memory(w->diag);
    return tma_compose(&silent, order, one, out);
}

/* Divides mode 0 of a tensor by instructions; each part is coalesced. */
static cute_status by_instructions(const tma_work *w, cute_layout whole, cute_layout instructions,
                                   cute_layout *out)
{
    tma_work silent = {w->arena, NULL, w->diag};
    cute_layout parts[2], mode = tma_layout_mode(whole, 0);
    for (uint32_t i = 0; i < 2; i++) {
        CUTE_TRY(tma_compose(&silent, mode, tma_layout_mode(instructions, i), &parts[i]));
        CUTE_TRY(tma_unary(&silent, CUTE_OP_COALESCE, parts[i], &parts[i]));
    }
    uint32_t rank = tma_rank(whole.shape);
    const cute_tree **shape = cute_arena_array(w->arena, rank, sizeof *shape);
    const cute_tree **stride = cute_arena_array(w->arena, rank, sizeof *stride);
    if (!shape || !stride) return cute_fail_memory(w->diag);
    shape[0] = tma_pair(w, parts[0].shape, parts[1].shape);
    stride[0] = tma_pair(w, parts[0].stride, parts[1].stride);
    for (uint32_t i = 1; i < rank; i++) shape[i] = whole.shape->items[i], stride[i] = whole.stride->items[i];
    out->shape = shape[0] ? cute_tree_tuple(w->arena, shape, rank) : NULL;
    out->stride = stride[0] ? cute_tree_tuple(w->arena, stride, rank) : NULL;
    return out->shape && out->stride ? CUTE_OK : cute_fail_memory(w->diag);
}

/* The first of an instruction's elements that the block copies; if unknown, a multiple of the elements per
 * block. */
static cute_status block_offset(const tma_work *w, int64_t elements, const cute_value *coordinate,
                                const cute_value *blocks, cute_int *out)
{
    cute_value operands[2] = {*coordinate, *blocks}, cosize, index;
    tma_work silent = {w->arena, NULL, w->diag};
    CUTE_TRY(tma_apply(&silent, CUTE_OP_COSIZE, &operands[1], 1, &cosize));
    if (cosize.tree->kind != CUTE_TREE_INT || !cosize.tree->value.known || cosize.tree->value.value < 1 ||
        elements % cosize.tree->value.value)
        return cute_fail(w->diag, CUTE_INVALID, NULL,
                         "expects a known number of blocks that divides the %" PRId64
                         " elements of a copy, but got \"%s\"",
                         elements, cute_layout_text(w->arena, blocks->layout));
    int64_t each = elements / cosize.tree->value.value;
    *out = (cute_int){.known = true, .width = 32};
    if (cosize.tree->value.value == 1) return CUTE_OK;
    operands[0].type = CUTE_COORD;
    CUTE_TRY(tma_apply(w, CUTE_OP_CRD2IDX, operands, 2, &index));
    if (index.tree->kind != CUTE_TREE_INT)
        return cute_fail(w->diag, CUTE_INVALID, NULL, "expects a layout of blocks with integer indices");
    cute_int factor = {.known = true, .width = 32, .value = each};
    CUTE_TRY(cute_int_apply(w->arith, CUTE_MUL, index.tree->value, factor, out, w->diag));
    if (!out->known) out->divisor = each;
    return CUTE_OK;
}

/* Advances the tensor to the element at `offset` of mode (0, 0). */
static cute_status advance_in_mode(const tma_work *w, cute_int offset, cute_value *tensor)
{
    if (offset.known && !offset.value) return CUTE_OK;
    cute_layout first = tma_layout_mode(tma_layout_mode(tensor->layout, 0), 0);
    const cute_tree *leaf = cute_tree_scalar(w->arena, offset);
    if (!leaf) return cute_fail_memory(w->diag);
    cute_value operands[2] = {cute_value_of_tree(CUTE_COORD, leaf), cute_value_of_layout(first)}, by, moved;
    CUTE_TRY(tma_apply(w, CUTE_OP_CRD2IDX, operands, 2, &by));
    bool memory = tensor->type == CUTE_MEMREF;
    cute_value iterator = cute_value_of_tree(CUTE_ARITH_TUPLE_ITER, tensor->tree);
    if (memory) iterator = (cute_value){.type = CUTE_PTR, .pointer = tensor->pointer};
    if (memory && by.tree->kind == CUTE_TREE_INT && !by.tree->value.known) {
        cute_int sum = by.tree->value;
        sum.divisor = offset.divisor;
        by.tree = cute_tree_scalar(w->arena, sum);
        if (!by.tree) return cute_fail_memory(w->diag);
    }
    cute_value sum[2] = {iterator, cute_value_of_tree(CUTE_INT_TUPLE, by.tree)};
    CUTE_TRY(tma_apply(w, CUTE_OP_ADD_OFFSET, sum, 2, &moved));
    if (memory)
        tensor->pointer = moved.pointer;
    else
        tensor->tree = moved.tree;
    return CUTE_OK;
}

/* The coordinates of an im2col copy are channels: each represents a number of pixels, which TMA iterates
 * over. */
static cute_status add_pixels(const tma_work *w, const cute_tma *tma, const cute_value *global,
                              cute_value *out)
{
    cute_layout whole = global->layout, mode = tma_layout_mode(whole, 0);
    const cute_tree *pixels = tma_mode(tma->basis.shape, 1), *zero = tma_number(w, 0);
    uint32_t rank = tma_rank(whole.shape);
    const cute_tree **shape = cute_arena_array(w->arena, rank, sizeof *shape);
    const cute_tree **stride = cute_arena_array(w->arena, rank, sizeof *stride);
    if (!shape || !stride) return cute_fail_memory(w->diag);
    for (uint32_t i = 0; i < rank; i++)
        shape[i] = tma_mode(whole.shape, i), stride[i] = tma_mode(whole.stride, i);
    shape[0] = tma_pair(w, pixels, mode.shape);
    stride[0] = tma_pair(w, zero, mode.stride);
    *out = *global;
    out->layout.shape = shape[0] ? cute_tree_tuple(w->arena, shape, rank) : NULL;
    out->layout.stride = stride[0] ? cute_tree_tuple(w->arena, stride, rank) : NULL;
    return out->layout.shape && out->layout.stride ? CUTE_OK : cute_fail_memory(w->diag);
}

cute_status cute_tma_partition(cute_arena *arena, const cute_arith *arith, const cute_tma *tma,
                               const cute_value *coordinate, const cute_value *blocks,
                               const cute_value *shared, const cute_value *global, cute_value *shared_part,
                               cute_value *global_part, cute_diag *diag)
{
    tma_work w = {arena, arith, diag};
    cute_layout instructions;
    cute_int offset;
    int64_t elements = cute_tma_elements(tma);
    if (shared->tree || (global->type == CUTE_MEMREF && global->tree))
        return cute_fail(diag, CUTE_INVALID, NULL,
                         "expects tensors whose layouts have strides: a swizzle belongs to the pointer");
    cute_value pixels;
    if (tma->im2col) {
        CUTE_TRY(add_pixels(&w, tma, global, &pixels));
        global = &pixels;
    }
    int64_t tile = tma_size(tma_mode(shared->layout.shape, 0)),
            other = tma_size(tma_mode(global->layout.shape, 0));
    if (tma->im2col && (!tile || tile != other))
        return cute_fail(
            diag, CUTE_INVALID, NULL,
            "expects mode 0 of the tensors to be a tile of (pixels, channels) and its channels, but got "
            "%" PRId64 " elements in shared memory and %" PRId64 " channels of %" PRId64 " pixels each",
            tile, other / tma_size(tma_mode(tma->basis.shape, 1)), tma_size(tma_mode(tma->basis.shape, 1)));
    if (!tile || tile != other)
        return cute_fail(diag, CUTE_INVALID, NULL,
                         "expects mode 0 of both tensors to be a tile of equal size, but got %" PRId64
                         " in shared memory and %" PRId64 " of the tensor",
                         tile, other);
    CUTE_TRY(instructions_of(&w, elements, tma_layout_mode(shared->layout, 0), &instructions));
    *shared_part = *shared;
    *global_part = *global;
    CUTE_TRY(by_instructions(&w, shared->layout, instructions, &shared_part->layout));
    CUTE_TRY(by_instructions(&w, global->layout, instructions, &global_part->layout));
    CUTE_TRY(block_offset(&w, elements, coordinate, blocks, &offset));
    /* Blocks that share the copy have different pixels: the block's coordinates start at its own. */
    if (!tma->im2col) CUTE_TRY(advance_in_mode(&w, offset, global_part));
    return advance_in_mode(&w, offset, shared_part);
}
