/* See schedule.h: which loads of a loop may run ahead of its iterations, and the rings that hold their tiles. */
#include <mlir-c/BuiltinAttributes.h>
#include <mlir-c/BuiltinTypes.h>
#include <stdio.h>
#include <string.h>

#include "lib/atoms/access.h"
#include "lib/base/buffer.h"
#include "lib/ir/dialects/types.h"
#include "lib/ir/mlir/util.h"
#include "lib/passes/tiles/emit.h"
#include "lib/passes/tiles/schedule.h"

/* ---- what keeps a load where it is ---- */

/* The tensor of which the load's is a part: TMA copies from any element of its rows. */
static const cute_value *tensor_of(MlirOperation load)
{
    return cute_type_peek(mlirValueGetType(tile_tensor_root(mlirOperationGetOperand(load, 0))));
}

/* Wherever the load is. */
static const char *why_not_fetched(MlirOperation load)
{
    if (mlirOperationGetNumOperands(load) > 2) return "it has a mask";
    MlirStringRef fill = cute_tile_word(load, "fill");
    if (fill.length && !cute_text_is(fill, "zero")) return "its fill is not zero";
    const cute_value *type = tensor_of(load);
    if (cute_tile_is_packed(type->pointer) || type->pointer->bits < 8) return "elements share bytes";
    if (type->tree || !type->layout.shape) return "the tensor's layout is composed";
    return tile_is_written(mlirOperationGetOperand(load, 0), load) ? "the kernel also writes the tensor"
                                                                   : NULL;
}

static const char *why_not(MlirOperation loop, MlirOperation load)
{
    MlirBlock body = tile_loop_body(loop);
    MlirValue tensor = mlirOperationGetOperand(load, 0), coord = mlirOperationGetOperand(load, 1);
    const char *why = why_not_fetched(load);
    if (why) return why;
    if (tile_defined_in(tensor, body)) return "the tensor is computed in the loop";
    MlirValue iv = mlirBlockGetArgument(body, 0);
    cute_builder none = {.block = {NULL}};
    if (mlirValueIsNull(tile_recompute(&none, body, coord, iv, iv)))
        return "its coordinate depends on earlier iterations or on memory that the kernel writes";
    return NULL;
}

static int contiguous_of(MlirOperation load, int64_t *width)
{
    cute_tile_shape shape;
    int contiguous;
    cute_tile_shape_of(mlirValueGetType(mlirOperationGetResult(load, 0)), &shape);
    *width = tile_access_width(tensor_of(load), &shape, &contiguous);
    return contiguous;
}

enum { SPAN = 128 };

/* TMA: an argument of the kernel or rows of it, whose rows start at multiples of 16 bytes; at most 5 modes. */
static bool fits_tma(MlirOperation load)
{
    const cute_value *tensor = tensor_of(load);
    MlirValue value = tile_tensor_root(mlirOperationGetOperand(load, 0));
    int contiguous;
    cute_tile_shape shape;
    cute_tile_shape_of(mlirValueGetType(mlirOperationGetResult(load, 0)), &shape);
    if (!mlirValueIsABlockArgument(value) ||
        !cute_op_is(mlirBlockGetParentOperation(mlirBlockArgumentGetOwner(value)), "gpu.func") ||
        shape.rank > 5)
        return false;
    /* Rows of whole spans of 128 bytes are copied by span. */
    int64_t width = tile_row_alignment(tensor, &shape, &contiguous);
    for (int i = 0; i < shape.rank; i++)
        if (shape.extent[i] > 256 &&
            (i != contiguous || shape.extent[i] * tensor->pointer->bits % (8 * SPAN)))
            return false;
    return contiguous >= 0 && width * tensor->pointer->bits == 128 && tile_rows_are_clipped(load) &&
           tile_pages_are_aligned(load);
}

static const char not_by_tma[] = "TMA copies tiles of arguments of the kernel whose rows begin at multiples "
                                 "of 16 bytes, of at most 256 elements along a mode that is not contiguous";

/* Whether a product may read a tile as operand `at`. */
typedef bool reads_tile(MlirOperation product, unsigned at, const void *context);

/* Whether only such products read the tile, perhaps permuted or reshaped. */
static bool only_read_by(MlirValue tile, reads_tile *may, const void *context)
{
    bool any = false;
    for (MlirOpOperand use = mlirValueGetFirstUse(tile); !mlirOpOperandIsNull(use);
         use = mlirOpOperandGetNextUse(use)) {
        MlirOperation user = mlirOpOperandGetOwner(use);
        unsigned at = mlirOpOperandGetOperandNumber(use);
        bool view = cute_op_is(user, "cute.tile.permute") || cute_op_is(user, "cute.tile.reshape");
        any = true;
        if (view ? !only_read_by(mlirOperationGetResult(user, 0), may, context)
                 : !cute_op_is(user, "cute.tile.gemm") || at > 1 || !may(user, at, context))
            return false;
    }
    return any;
}

/* In a loop, where the tile is: a product of warpgroups (`context`, a bool), or of warps. */
static bool reads_in_place(MlirOperation product, unsigned at, const void *context)
{
    int dims[2];
    return cute_op_has(product, "wgmma") == *(const bool *)context &&
           cute_op_is(tile_parent(product), "scf.for") &&
           !mlirOperationIsNull(tile_operand_source(mlirOperationGetOperand(product, at), dims));
}

const char *tile_why_not_once(MlirOperation load, bool tma)
{
    if (!only_read_by(mlirOperationGetResult(load, 0), reads_in_place, &tma))
        return "not only products of the loop read it";
    const char *why = why_not_fetched(load);
    return why ? why : tma && !fits_tma(load) ? not_by_tma : NULL;
}

void tile_find_ahead(MlirOperation loop, bool tma, tile_ahead *out,
                     void (*refused)(MlirOperation load, const char *why, void *context), void *context)
{
    *out = (tile_ahead){0};
    for (MlirOperation op = mlirBlockGetFirstOperation(tile_loop_body(loop)); !mlirOperationIsNull(op);
         op = mlirOperationGetNextInBlock(op)) {
        if (!cute_op_is(op, "cute.tile.load")) continue;
        const char *why =
            out->count == TILE_AHEAD ? "the loop has more loads than are fetched ahead" : why_not(loop, op);
        if (!why && tma && !tile_rows_are_clipped(op))
            why = "TMA would read elements behind the rows of the tensor, which the kernel uses";
        if (!why && tma && !fits_tma(op)) why = not_by_tma;
        if (why) {
            if (refused) refused(op, why, context);
            continue;
        }
        out->loads[out->count++] = op;
    }
}

/* ---- rings ---- */

enum { ROW = 128, ALIGN = 1024, BOX = 256 /* elements of a copy by TMA along a mode */ };

static int64_t aligned_bytes(const cute_tile_shape *shape, int bits, int64_t align)
{
    return (cute_tile_size(shape) * bits / 8 + align - 1) / align * align;
}

int64_t tile_stage_bytes(const cute_tile_shape *shape, int bits)
{
    return aligned_bytes(shape, bits, ALIGN);
}

/* Bytes of a row that are together in a stage: 0 is all of it, without a swizzle. */
static int64_t span_of(const cute_tile_shape *shape, int contiguous, int bits)
{
    enum { LEAST = 16 };
    int64_t row = shape->extent[contiguous] * bits / 8, span = ROW;
    while (span >= LEAST && row % span) span /= 2;
    if (span < LEAST) return 0;
    /* TMA copies each span of columns to a multiple of 128 bytes; few rows are not swizzled. */
    if (row > span && cute_tile_size(shape) / shape->extent[contiguous] * span % ROW) return 0;
    /* One row has no conflicts. */
    return cute_tile_size(shape) == shape->extent[contiguous] && shape->extent[contiguous] <= BOX ? 0 : span;
}

/* How a stage has a tile: rows of dimension `contiguous` in spans of so many elements, each of all rows. */
typedef struct stage_layout {
    int contiguous;
    int64_t span;
    cute_swizzle swizzle;
} stage_layout;

/* The last stride is that of a row's next span. */
static void stage_strides(const cute_tile_shape *shape, const stage_layout *l, int64_t *stride)
{
    int64_t size = l->span;
    int contiguous = l->contiguous;
    stride[contiguous] = 1;
    for (int i = shape->rank - 1; i >= 0; i--) {
        if (i == contiguous) continue;
        stride[i] = size;
        size *= shape->extent[i];
    }
    stride[shape->rank] = size;
}

static MlirType stage_type(MlirContext context, const char *element, int bits, const cute_tile_shape *shape,
                           const stage_layout *l, int align, int stages)
{
    int64_t stride[CUTE_TILE_RANK + 1];
    stage_strides(shape, l, stride);
    const cute_swizzle *s = &l->swizzle;
    cute_buffer text = {0};
    cute_buffer_printf(&text, "!cute.memref<%s, smem, align<%d>", element, align);
    if (s->bits) cute_buffer_printf(&text, ", S<%d,%d,%d>", s->bits, s->base, s->shift);
    cute_buffer_printf(&text, ", \"(");
    for (int side = 0; side < 2; side++) {
        if (side) cute_buffer_printf(&text, ":(");
        for (int i = 0; i < shape->rank; i++) {
            if (i != l->contiguous)
                cute_buffer_printf(&text, "%lld,", (long long)(side ? stride[i] : shape->extent[i]));
            else if (shape->extent[i] == l->span)
                cute_buffer_printf(&text, "%lld,", side ? 1LL : (long long)l->span);
            else if (side)
                cute_buffer_printf(&text, "(1,%lld),", (long long)stride[shape->rank]);
            else
                cute_buffer_printf(&text, "(%lld,%lld),", (long long)l->span,
                                   (long long)(shape->extent[i] / l->span));
        }
        cute_buffer_printf(&text, "%lld)",
                           side ? (long long)aligned_bytes(shape, bits, align) * 8 / bits
                                : (long long)stages);
    }
    cute_buffer_printf(&text, "\">");
    MlirType type = mlirTypeParseGet(context, cute_text(cute_buffer_text(&text)));
    cute_buffer_release(&text);
    return type;
}

/* The layout with which TMA, cp.async, ldmatrix and wgmma have no conflicts; with `squares` cp.async and lanes that read every fourth row at
 * once: the bits of the address that number these are the swizzle's. */
static stage_layout layout_of(const cute_tile_shape *shape, int contiguous, int bits, bool squares)
{
    static const struct {
        int64_t bytes;
        cute_swizzle adjacent, squares;
    } swizzles[] = {{128, {3, 4, 3}, {3, 4, 5}}, {64, {2, 4, 3}, {3, 4, 4}}, {32, {1, 4, 3}, {3, 4, 3}}};
    int64_t bytes = span_of(shape, contiguous, bits);
    stage_layout out = {contiguous, bytes ? bytes * 8 / bits : shape->extent[contiguous], {0}};
    for (size_t i = 0; i < sizeof swizzles / sizeof *swizzles; i++)
        if (bytes == swizzles[i].bytes) out.swizzle = squares ? swizzles[i].squares : swizzles[i].adjacent;
    return out;
}

MlirType tile_stage_type(MlirContext context, const char *element, int bits, const cute_tile_shape *shape,
                         int contiguous, int stages)
{
    stage_layout l = layout_of(shape, contiguous, bits, false);
    return stage_type(context, element, bits, shape, &l, l.swizzle.bits ? ALIGN : ROW, stages);
}

int64_t tile_ring_bytes(MlirOperation load)
{
    cute_tile_shape shape;
    cute_tile_shape_of(mlirValueGetType(mlirOperationGetResult(load, 0)), &shape);
    return tile_stage_bytes(&shape, tensor_of(load)->pointer->bits);
}

/* An exact product of f32, which threads multiply and add, whose K is the tile's dimension `context`, an int. */
static bool reads_squares(MlirOperation product, unsigned at, const void *context)
{
    int dims[2];
    MlirValue operand = mlirOperationGetOperand(product, at);
    return !cute_op_has(product, "tf32") && mlirTypeIsAF32(cute_tile_element(mlirValueGetType(operand))) &&
           !mlirOperationIsNull(tile_operand_source(operand, dims)) && dims[1] == *(const int *)context;
}

/* The loads of a warp that takes the tile of a stage into registers. */
enum { MOST_LOADS = 64 };
static void find_loads(const tile_distribution *d, const stage_layout *l, int bits, cute_requests *out)
{
    int64_t stride[CUTE_TILE_RANK + 1], width = tile_run(d, l->contiguous, bits);
    stage_strides(&d->shape, l, stride);
    out->count = 0;
    for (int64_t v = 0; v < tile_values(d) && out->count < MOST_LOADS; v += width) {
        cute_request *r = &out->items[out->count++];
        *r = (cute_request){.bytes = (uint32_t)(width * bits / 8), .count = CUTE_REQUEST_LANES, .load = true};
        for (int64_t lane = 0; lane < CUTE_REQUEST_LANES; lane++) {
            int64_t coord[CUTE_TILE_RANK] = {0}, at = 0;
            tile_modes_coord(&d->threads, lane, coord);
            tile_modes_coord(&d->values, v, coord);
            for (int i = 0; i < d->shape.rank; i++)
                at += i == l->contiguous ? coord[i] % l->span + coord[i] / l->span * stride[d->shape.rank]
                                         : coord[i] * stride[i];
            r->lane[lane] = (uint8_t)lane;
            r->address[lane] = (uint64_t)(at * bits / 8);
        }
    }
}

/* For a tile that threads load into registers: the layout with the fewest wavefronts of these loads, `usual` among equals. Whole rows may be
 * together. cp.async has no conflicts with any, as adjacent lanes write adjacent units. */
static stage_layout layout_for_loads(MlirValue tile, int bits, stage_layout usual)
{
    enum { UNIT = 16, REPEATS = ALIGN };
    tile_distribution d;
    if (!tile_distribution_of(mlirValueGetType(tile), &d)) return usual;
    tile_adjacent_first(&d, usual.contiguous);
    cute_request items[MOST_LOADS];
    cute_requests loads = {.items = items};
    find_loads(&d, &usual, bits, &loads);
    cute_traffic least = cute_requests_wavefronts(&loads, usual.swizzle);
    stage_layout best = usual, l = usual;
    for (int whole = 0; whole < 2; whole++) {
        if (whole) l.span = d.shape.extent[l.contiguous];
        find_loads(&d, &l, bits, &loads);
        l.swizzle = cute_requests_swizzle(&loads, UNIT, REPEATS);
        cute_traffic t = cute_requests_wavefronts(&loads, l.swizzle);
        if (t.count >= least.count) continue;
        least = t;
        best = l;
    }
    return best;
}

MlirType tile_ring_type(MlirOperation load, int stages, bool tma)
{
    cute_tile_shape shape;
    int64_t width;
    int contiguous = contiguous_of(load, &width);
    const cute_pointer *pointer = tensor_of(load)->pointer;
    MlirValue tile = mlirOperationGetResult(load, 0);
    cute_tile_shape_of(mlirValueGetType(tile), &shape);
    if (contiguous < 0) contiguous = shape.rank - 1;
    stage_layout l =
        layout_of(&shape, contiguous, pointer->bits, !tma && only_read_by(tile, reads_squares, &contiguous));
    if (!tma && l.swizzle.bits && !tile_read_in_place(load)) l = layout_for_loads(tile, pointer->bits, l);
    return stage_type(mlirOperationGetContext(load), pointer->element, pointer->bits, &shape, &l, ALIGN,
                      stages);
}

/* ---- operands of products ---- */

/* Whether a reshape drops extents of 1, or makes one dimension of adjacent ones in front of the last. `at`: for each dimension of the result, the
 * last of those that it is made of. */
static bool keeps_dims(MlirOperation reshape, int at[CUTE_TILE_RANK])
{
    cute_tile_shape from, to;
    int k = 0;
    cute_tile_shape_of(mlirValueGetType(mlirOperationGetOperand(reshape, 0)), &from);
    cute_tile_shape_of(mlirValueGetType(mlirOperationGetResult(reshape, 0)), &to);
    for (int i = 0; i < from.rank; i++) {
        if (k == to.rank) {
            if (from.extent[i] != 1) return false;
            continue;
        }
        if (from.extent[i] == to.extent[k] && (from.extent[i] > 1 || from.rank - i == to.rank - k)) {
            at[k++] = i;
            continue;
        }
        if (from.extent[i] == 1) continue;
        int64_t size = from.extent[i];
        while (size < to.extent[k] && i + 2 < from.rank) size *= from.extent[++i];
        if (size != to.extent[k]) return false;
        at[k++] = i;
    }
    return k == to.rank;
}

MlirOperation tile_operand_source(MlirValue operand, int dims[2])
{
    const MlirOperation none = {NULL};
    int map[CUTE_TILE_RANK] = {0, 1};
    int rank = 2;
    for (MlirOperation op = cute_defining_op(operand); !mlirOperationIsNull(op);
         op = cute_defining_op(mlirOperationGetOperand(op, 0))) {
        if (cute_op_is(op, "cute.tile.load") || cute_op_is(op, "cute.tile.take")) {
            dims[0] = map[0];
            dims[1] = map[1];
            return op;
        }
        if (cute_op_is(op, "cute.tile.permute")) {
            int64_t order[CUTE_TILE_RANK];
            cute_tile_numbers(mlirOperationGetAttributeByName(op, cute_text("order")), order);
            for (int i = 0; i < rank && i < 2; i++) map[i] = (int)order[map[i]];
        } else if (cute_op_is(op, "cute.tile.reshape")) {
            int at[CUTE_TILE_RANK];
            if (!keeps_dims(op, at)) return none;
            for (int i = 0; i < 2; i++) map[i] = at[map[i]];
        } else {
            return none;
        }
    }
    return none;
}

static MlirOperation product_of(MlirValue value, int depth)
{
    enum { DEPTH = 24 };
    const MlirOperation none = {NULL};
    MlirOperation op = cute_defining_op(value);
    if (mlirOperationIsNull(op) || depth == DEPTH || !mlirTypeIsARankedTensor(mlirValueGetType(value)))
        return none;
    if (cute_op_is(op, "cute.tile.gemm")) return op;
    if (cute_op_is(op, "scf.if"))
        return product_of(mlirOperationGetOperand(
                              mlirBlockGetTerminator(mlirRegionGetFirstBlock(mlirOperationGetRegion(op, 0))),
                              mlirOpResultGetResultNumber(value)),
                          depth + 1);
    if (!cute_op_of(op, "arith.") && !cute_op_of(op, "math.") && !cute_op_is(op, "cute.tile.convert"))
        return none;
    for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); i++) {
        MlirOperation found = product_of(mlirOperationGetOperand(op, i), depth + 1);
        if (!mlirOperationIsNull(found)) return found;
    }
    return none;
}

MlirOperation tile_product_of(MlirValue value)
{
    return product_of(value, 0);
}

/* Whether wgmma reads a tile of 16-bit elements that threads write to a stage, its rows contiguous. */
static bool fits_exchange(MlirValue value)
{
    enum { ROW_BYTES = 128, UNIT = 32, BYTES = 2 };
    cute_tile_shape shape;
    MlirType type = mlirValueGetType(value), element = cute_tile_element(type);
    if (!mlirTypeIsAF16(element) && !mlirTypeIsABF16(element)) return false;
    if (!cute_tile_shape_of(type, &shape) || shape.rank != 2) return false;
    int64_t row = shape.extent[1] * BYTES;
    return row % UNIT == 0 && (row <= ROW_BYTES || row % ROW_BYTES == 0) &&
           shape.extent[0] * BYTES % UNIT == 0;
}

enum { MOST_COLUMNS = 256, GROUP_ROWS = 64, ATOM_COLUMNS = 8 };
bool tile_is_wide(MlirOperation product)
{
    cute_tile_shape c;
    return cute_tile_shape_of(mlirValueGetType(mlirOperationGetResult(product, 0)), &c) &&
           c.extent[1] > MOST_COLUMNS;
}

/* Whether warpgroups have the same rows of a wide product, whose columns they divide, and can divide the columns of the sums that its factor A is
 * computed from, too. */
static bool divides_factor(MlirOperation product, MlirValue factor)
{
    enum { GROUPS = 2 };
    cute_tile_shape a;
    return tile_is_wide(product) && cute_tile_shape_of(mlirValueGetType(factor), &a) &&
           a.extent[0] == GROUP_ROWS && a.extent[1] % (GROUPS * ATOM_COLUMNS) == 0 && fits_exchange(factor);
}

MlirValue tile_exchanged(MlirOperation product, int i)
{
    MlirValue value = mlirOperationGetOperand(product, i);
    bool permuted = false;
    for (MlirOperation op = cute_defining_op(value);
         !mlirOperationIsNull(op) && cute_op_is(op, "cute.tile.permute"); op = cute_defining_op(value)) {
        value = mlirOperationGetOperand(op, 0);
        permuted = true;
    }
    MlirOperation from = tile_product_of(value);
    bool same = !mlirOperationIsNull(from) && (i || permuted || divides_factor(product, value)) &&
                !cute_op_is(cute_defining_op(value), "cute.tile.gemm") &&
                mlirBlockEqual(mlirOperationGetBlock(from), mlirOperationGetBlock(product));
    return same ? value : (MlirValue){NULL};
}

int64_t tile_exchange_stages(MlirOperation product, int i)
{
    enum { TURNS = 2 };
    return i || cute_op_is(cute_defining_op(mlirOperationGetOperand(product, i)), "cute.tile.permute") ? TURNS
                                                                                                       : 1;
}

/* The wide product of the loop one of whose factors is computed from the sums of `product`, or of those that add to it; null: none. */
static MlirOperation wide_user(MlirOperation product)
{
    const MlirOperation none = {NULL};
    for (MlirOperation op = mlirBlockGetFirstOperation(mlirOperationGetBlock(product));
         !mlirOperationIsNull(op); op = mlirOperationGetNextInBlock(op)) {
        if (!cute_op_is(op, "cute.tile.gemm") || !tile_is_wide(op)) continue;
        for (MlirOperation from = tile_product_of(mlirOperationGetOperand(op, 0));
             !mlirOperationIsNull(from) && cute_op_is(from, "cute.tile.gemm");
             from = cute_defining_op(mlirOperationGetOperand(from, 2)))
            if (mlirOperationEqual(from, product)) return op;
    }
    return none;
}

bool tile_fits_wgmma(MlirOperation product, int consumers)
{
    cute_tile_shape c;
    MlirType element = cute_tile_element(mlirValueGetType(mlirOperationGetOperand(product, 0)));
    cute_tile_shape_of(mlirValueGetType(mlirOperationGetResult(product, 0)), &c);
    bool tf32 = mlirTypeIsAF32(element), half = mlirTypeIsAF16(element) || mlirTypeIsABF16(element);
    if (tf32 && !cute_op_has(product, "tf32")) return false;
    if (mlirTypeIsAF64(element)) return false;
    int64_t along = tile_groups_along_rows(c.extent[0], consumers), columns = c.extent[1];
    if (!along) return false;
    if (along <
        consumers) { /* columns are divided where one warpgroup cannot hold the sums, or all read A in stages */
        MlirOperation wide = wide_user(product);
        bool feeds = !mlirOperationIsNull(wide),
             divides = tile_is_wide(product) || !mlirValueIsNull(tile_exchanged(product, 0)) ||
                       (feeds && !mlirValueIsNull(tile_exchanged(wide, 0)));
        if (divides && columns % (consumers / along) == 0)
            columns /= consumers / along;
        else if (divides || !feeds)
            return false;
    }
    if (columns % ATOM_COLUMNS || (columns > MOST_COLUMNS && columns % MOST_COLUMNS)) return false;
    for (int i = 0; i < 2; i++) {
        int dims[2];
        int64_t width;
        MlirValue operand = mlirOperationGetOperand(product, i);
        MlirOperation load = tile_operand_source(operand, dims);
        if (mlirOperationIsNull(load) && !i && !tf32 && !mlirOperationIsNull(tile_product_of(operand))) {
            cute_tile_shape a;
            cute_tile_shape_of(mlirValueGetType(operand), &a);
            if (a.extent[1] * (half ? 16 : 8) % 256) return false;
            continue; /* in registers */
        }
        MlirValue exchanged = tile_exchanged(product, i);
        if (mlirOperationIsNull(load) && !mlirValueIsNull(exchanged)) {
            if (!fits_exchange(exchanged)) return false;
            continue; /* in a stage that threads write */
        }
        if (mlirOperationIsNull(load) || !cute_op_is(load, "cute.tile.load") || !fits_tma(load)) return false;
        int contiguous = contiguous_of(load, &width);
        if (contiguous == dims[0] ? !half : contiguous != dims[1]) return false;
        cute_tile_shape own;
        cute_tile_shape_of(mlirValueGetType(mlirOperationGetResult(load, 0)), &own);
        int64_t row = own.extent[contiguous] * tensor_of(load)->pointer->bits / 8,
                k = own.extent[dims[1]] * tensor_of(load)->pointer->bits / 8;
        if (row % 32 || k % 32) return false;
        if (row % 128 && row > 128) return false;
        /* Warpgroups divide a stage with contiguous columns between the spans of its rows, or within one. */
        int64_t span = (row < ROW ? row : ROW) * own.extent[contiguous] / row;
        if (i && contiguous == dims[0] && columns < c.extent[1] && columns % span && span % columns)
            return false;
    }
    return true;
}
