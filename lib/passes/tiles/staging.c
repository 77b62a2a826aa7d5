/* See staging.h: tiles that pass from one distribution to another through shared memory: one layout, which all threads write and then read. The
 * layout is the one with the fewest wavefronts of both sides: which dimension is contiguous, how many elements an access has, how
 * far rows are apart, and the swizzle. An access is as wide as a thread has adjacent elements, whatever the order of its registers. */
#include <math.h>
#include <mlir-c/BuiltinTypes.h>

#include "lib/atoms/access.h"
#include "lib/ir/dialects/types.h"
#include "lib/ir/mlir/util.h"
#include "lib/passes/tiles/lane_swaps.h"
#include "lib/passes/tiles/staging.h"

enum {
    WARP = CUTE_REQUEST_LANES,
    WIDEST = 128, /* bits of an access */
    SAMPLE = 4,   /* most accesses of a warp that are counted, of each tile_side */
    MOST_REQUESTS = 2 * 2 * SAMPLE
};

/* ---- candidates ---- */

/* `d` with the values along `dim` first, if a thread has adjacent ones; the result is how many, at most 16 bytes of them. */
static int64_t lead_with(const tile_distribution *d, int dim, int bits, tile_distribution *out)
{
    *out = *d;
    for (int i = 0; i < d->values.count; i++) {
        tile_mode m = d->values.at[i];
        if (m.dim != dim || m.step != 1) continue;
        for (int k = i; k > 0; k--) out->values.at[k] = out->values.at[k - 1];
        out->values.at[0] = m;
        return tile_run(out, dim, bits);
    }
    return 1;
}

/* Strides with dimension `first` contiguous, then `second`, then the others from the last; beyond the first, `pad` elements are
 * unused. The result is the size. */
static int64_t strides_of(const cute_tile_shape *shape, int first, int second, int64_t pad, int64_t *stride)
{
    int64_t size = 1;
    for (int pass = 0; pass < 3; pass++)
        for (int i = shape->rank - 1; i >= 0; i--) {
            if ((i == first ? 0 : i == second ? 1 : 2) != pass) continue;
            stride[i] = size;
            size *= shape->extent[i];
            if (pass == 0) size += pad;
        }
    return size;
}

/* ---- cost ---- */

/* Whether a thread is the first of those that hold the same elements. */
static bool is_first(const tile_modes *threads, int64_t thread)
{
    for (int m = 0; m < threads->count; m++) {
        if (threads->at[m].dim == TILE_COPIES && thread % threads->at[m].extent) return false;
        thread /= threads->at[m].extent;
    }
    return true;
}

/* Appends the requests of a warp: each `step`-th access. Of threads that hold the same elements one writes. */
static void add_requests(const tile_side *s, int64_t warp, int64_t step, int64_t bytes, cute_requests *out)
{
    for (int64_t v = 0; v < tile_values(&s->d); v += s->width * step) {
        cute_request *r = &out->items[out->count];
        *r = (cute_request){.bytes = (uint32_t)(s->width * bytes), .load = s->load};
        for (int64_t lane = 0; lane < WARP; lane++) {
            int64_t coord[CUTE_TILE_RANK] = {0}, at = 0;
            if (!s->load && !is_first(&s->d.threads, warp * WARP + lane)) continue;
            tile_modes_coord(&s->d.threads, warp * WARP + lane, coord);
            tile_modes_coord(&s->d.values, v, coord);
            for (int i = 0; i < s->d.shape.rank; i++) at += coord[i] * s->stride[i];
            r->lane[r->count] = (uint8_t)lane;
            r->address[r->count++] = (uint64_t)(at * bytes);
        }
        if (r->count) out->count++;
    }
}

/* Wavefronts of both sides, and a little for each access; chooses the swizzle. Above `limit` a swizzle is not looked for. */
static double cost_of(tile_staging *s, int64_t bytes, double limit, cute_requests *requests)
{
    const tile_side *sides[] = {&s->write, &s->read};
    int64_t accesses[2], most = 1, warps = tile_threads(&s->write.d) / WARP;
    for (int i = 0; i < 2; i++) {
        accesses[i] = tile_values(&sides[i]->d) / sides[i]->width;
        if (accesses[i] > most) most = accesses[i];
    }
    /* The accesses of a thread differ by constants: a part of them, of the first and the last warp, tells of all. */
    int64_t step = (most + SAMPLE - 1) / SAMPLE;
    requests->count = 0;
    for (int i = 0; i < 2; i++) {
        add_requests(sides[i], 0, step, bytes, requests);
        if (warps > 1) add_requests(sides[i], warps - 1, step, bytes, requests);
    }
    s->swizzle = (cute_swizzle){0};
    cute_traffic t = cute_requests_wavefronts(requests, s->swizzle);
    double each = (double)step * (double)warps / (warps > 1 ? 2 : 1), own = (double)t.requests / 8;
    int64_t together = s->write.width > s->read.width ? s->write.width : s->read.width;
    if (!s->plain && t.count > t.ideal && ((double)t.ideal + own) * each < limit) {
        s->swizzle = cute_requests_swizzle(requests, together * bytes, 1 << 16);
        t = cute_requests_wavefronts(requests, s->swizzle);
    }
    return ((double)t.count + own) * each;
}

/* Each width of an access of either side, widest first. */
static void try_widths(tile_staging s, int64_t bytes, cute_requests *requests, tile_staging *best)
{
    int64_t write_run = s.write.width, read_run = s.read.width;
    for (s.write.width = write_run; s.write.width; s.write.width /= 2)
        for (s.read.width = read_run; s.read.width; s.read.width /= 2) {
            s.cost = cost_of(&s, bytes, best->elements ? best->cost : HUGE_VAL, requests);
            if (!best->elements || s.cost < best->cost) *best = s;
        }
}

void tile_choose_staging(tile_emitter *e, const tile_distribution *from, const tile_distribution *to,
                         tile_staging_kind kind, int bits, tile_staging *best)
{
    int last = from->shape.rank - 1, last_read = to->shape.rank - 1;
    bool plain = e->naive || bits % 8 || WIDEST % bits, reshaped = kind == TILE_RESHAPED,
         unswizzled = kind == TILE_UNSWIZZLED;
    cute_requests requests = {.items = cute_arena_array(e->arena, MOST_REQUESTS, sizeof *requests.items)};
    *best = (tile_staging){.elements = 0};
    if (!requests.items) {
        e->failed = true;
        return;
    }
    if (reshaped || plain) {
        tile_staging s = {.write.d = *from,
                          .write.width = 1,
                          .read = {.d = *to, .width = 1, .load = true},
                          .plain = unswizzled};
        s.elements = strides_of(&from->shape, last, -1, 0, s.write.stride);
        strides_of(reshaped ? &to->shape : &from->shape, last_read, -1, 0, s.read.stride);
        if (!plain) {
            s.write.width = lead_with(from, last, bits, &s.write.d);
            s.read.width = lead_with(to, last_read, bits, &s.read.d);
            try_widths(s, bits / 8, &requests, best);
        } else {
            *best = s;
        }
        return;
    }
    for (int64_t pad = 0; pad <= WIDEST / bits; pad += WIDEST / bits)
        for (int f = last; f >= 0; f--)
            for (int g = last; g >= 0; g--) {
                if (last > 0 && g == f) continue;
                tile_staging s = {.read.load = true, .plain = unswizzled};
                s.write.width = lead_with(from, f, bits, &s.write.d);
                s.read.width = lead_with(to, f, bits, &s.read.d);
                s.elements = strides_of(&from->shape, f, g, pad, s.write.stride);
                strides_of(&from->shape, f, g, pad, s.read.stride);
                try_widths(s, bits / 8, &requests, best);
            }
}

/* ---- the code ---- */

MlirValue tile_staging_view(tile_emitter *e, const tile_staging *s, const tile_side *of, const char *element,
                            int bits)
{
    int64_t line = (int64_t)8 * CUTE_REQUEST_LANES * 4 / bits; /* a swizzle stays within 128 bytes */
    const char *layout = tile_layout_text(e, &of->d.shape, of->stride);
    if (e->failed) return (MlirValue){NULL};
    int64_t room = s->swizzle.bits ? (s->elements + line - 1) / line * line : s->elements;
    MlirValue view = tile_shared_view(e, element, bits, layout, room, 0);
    if (e->failed || !s->swizzle.bits) return view;
    MlirOperation made = cute_defining_op(view);
    char *type = cute_arena_printf(e->arena, "!cute.ptr<%s, smem, align<1024>, S<%d,%d,%d>>", element,
                                   s->swizzle.bits, s->swizzle.base, s->swizzle.shift);
    if (!type) return e->failed = true, view;
    MlirType swizzled = tile_type(e, type);
    if (e->failed) return view;
    MlirValue pointer = mlirOperationGetOperand(made, 0), shape = mlirOperationGetOperand(made, 1);
    MlirValue cast =
        cute_build_value(&e->b, "cute.recast_iter", swizzled, CUTE_OPERANDS(pointer), CUTE_NO_NAMED);
    MlirValue again = tile_emit(e, "cute.make_view", CUTE_OPERANDS(cast, shape), CUTE_NO_NAMED);
    mlirOperationDestroy(made);
    return again;
}

MlirValue tile_reorder(tile_emitter *e, MlirValue value, const tile_distribution *from,
                       const tile_distribution *to)
{
    int64_t count = tile_values(to);
    int32_t *map = cute_arena_array(e->arena, (size_t)count + 1, sizeof *map);
    if (!map || !tile_registers_map(e->arena, from, to, map)) return e->failed = true, value;
    return tile_pick(e, value, map, count);
}

MlirValue tile_stage(tile_emitter *e, MlirValue value, const tile_distribution *from,
                     const tile_distribution *to, tile_staging_kind kind)
{
    MlirType element = cute_type_element(mlirValueGetType(value));
    int bits;
    const char *text = tile_element_text(e, element, &bits);
    tile_staging s;
    tile_choose_staging(e, from, to, kind, bits, &s);
    if (e->failed) return value;
    value = tile_reorder(e, value, from, &s.write.d);
    tile_barrier(e);
    tile_to_shared(e, &s.write.d, value, tile_staging_view(e, &s, &s.write, text, bits), s.write.width);
    tile_barrier(e);
    MlirValue out =
        tile_from_shared(e, &s.read.d, tile_staging_view(e, &s, &s.read, text, bits), s.read.width);
    if (e->failed) return out;
    return tile_as_held(e, tile_reorder(e, out, &s.read.d, to), element);
}

MlirValue tile_lower_convert(tile_emitter *e, const tile_op *t)
{
    MlirValue value = mlirOperationGetOperand(t->op, 0);
    int64_t count = tile_values(&t->out);
    int32_t *map = cute_arena_array(e->arena, (size_t)count + 1, sizeof *map);
    if (!map) return e->failed = true, value;
    if (tile_registers_map(e->arena, &t->in[0], &t->out, map)) return tile_pick(e, value, map, count);
    tile_lane_swaps swaps;
    tile_distribution after;
    if (cute_op_has(t->op, TILE_SWAPPED) && tile_find_swaps(&t->in[0], &t->out, &swaps, &after) &&
        tile_registers_map(e->arena, &after, &t->out, map))
        return tile_pick(e, tile_swap_lanes(e, value, &swaps), map, count);
    return tile_stage(e, value, &t->in[0], &t->out, TILE_SAME);
}

MlirValue tile_lower_reshape(tile_emitter *e, const tile_op *t)
{
    tile_distribution same;
    if (tile_reshaped(&t->in[0], &t->out.shape, &same) && tile_distribution_equal(&same, &t->out))
        return mlirOperationGetOperand(t->op, 0);
    return tile_stage(e, mlirOperationGetOperand(t->op, 0), &t->in[0], &t->out, TILE_RESHAPED);
}
