/* See describe_schedule.h. Indices of roles, rings and pipes are those of the lists in the dictionary. */
#include "lib/passes/tiles/describe_schedule.h"

#include <mlir-c/BuiltinAttributes.h>
#include <mlir-c/BuiltinTypes.h>
#include <stdarg.h>

#include "lib/base/buffer.h"
#include "lib/ir/dialects/types.h"
#include "lib/ir/mlir/util.h"
#include "lib/passes/host/describe.h"
#include "lib/passes/tiles/late_rows.h"
#include "lib/passes/tiles/schedule.h"

static void put_place(cute_dict *d, MlirOperation op)
{
    MlirStringRef file;
    unsigned line, column;
    if (!cute_location_place(mlirOperationGetLocation(op), &file, &line, &column)) return;
    cute_dict_ref(d, "file", file);
    cute_dict_int(d, "line", line);
}

/* ---- lists ---- */

enum { MOST = 64, WARP = 32 };

typedef struct list {
    tile_emitter *e;
    MlirAttribute items[MOST];
    intptr_t count;
} list;

static void add(list *l, cute_dict *d)
{
    if (l->count < MOST) l->items[l->count++] = cute_dict_finish(d);
}

static void put_list(cute_dict *d, const char *name, const list *l)
{
    if (l->count) cute_dict_put(d, name, mlirArrayAttrGet(d->context, l->count, l->items));
}

static void put_numbers(cute_dict *d, const char *name, const int64_t *values, intptr_t count)
{
    cute_dict_put(d, name, cute_int_array(d->context, values, count, INT64_MIN));
}

/* ---- refusals ---- */

void tile_refuse(const cute_pass_run *pass, MlirOperation op, const char *format, ...)
{
    cute_buffer text = {0};
    va_list arguments;
    va_start(arguments, format);
    cute_buffer_vprintf(&text, format, arguments);
    va_end(arguments);
    cute_pass_remark(pass, mlirOperationGetLocation(op), "%s", cute_buffer_text(&text));
    MlirOperation function = cute_op_is(op, "gpu.func") ? op : cute_op_parent(op, "gpu.func");
    cute_dict d = {.context = mlirOperationGetContext(op)};
    cute_dict_text(&d, "text", cute_buffer_text(&text));
    put_place(&d, op);
    cute_buffer_release(&text);
    if (mlirOperationIsNull(function)) return;
    MlirAttribute item = cute_dict_finish(&d),
                  old = mlirOperationGetAttributeByName(function, cute_text(TILE_REFUSALS));
    list all = {0};
    intptr_t count = mlirAttributeIsNull(old) ? 0 : mlirArrayAttrGetNumElements(old);
    for (intptr_t i = 0; i < count && i < MOST; i++) {
        all.items[all.count++] = mlirArrayAttrGetElement(old, i);
        if (mlirAttributeEqual(all.items[i], item)) return;
    }
    if (all.count == MOST) return;
    all.items[all.count++] = item;
    mlirOperationSetAttributeByName(function, cute_text(TILE_REFUSALS),
                                    mlirArrayAttrGet(d.context, all.count, all.items));
}

/* ---- roles ---- */

static int64_t index_of_role(tile_emitter *e, MlirOperation op)
{
    return tile_role_number(e, tile_role_of(e, op));
}

static void put_roles(tile_emitter *e, cute_dict *out)
{
    list roles = {.e = e};
    for (int i = e->role_count > 1; i < e->role_count; i++) {
        const tile_role *r = &e->roles[i];
        cute_dict d = {.context = e->context};
        int64_t registers = i ? cute_tile_number(r->op, "registers", 0) : 0;
        if (i)
            cute_dict_ref(&d, "name", cute_tile_word(r->op, "label"));
        else
            cute_dict_text(&d, "name", "all warps");
        cute_dict_int(&d, "first_warp", r->first_warp);
        cute_dict_int(&d, "warps", r->warps * r->turns);
        if (r->turns > 1) cute_dict_int(&d, "turns", r->turns);
        if (registers) cute_dict_int(&d, "registers", registers);
        if (r->barrier) cute_dict_int(&d, "barrier", r->barrier);
        add(&roles, &d);
    }
    put_list(out, "roles", &roles);
}

/* ---- rings and pipes ---- */

typedef struct fetches {
    tile_emitter *e;
    const tile_buffer *ring;
    MlirOperation found;
} fetches;

static void look_for_fetch(MlirOperation op, void *context)
{
    fetches *f = context;
    const tile_buffer *own = tile_buffer_of(f->e, mlirOperationGetOperand(op, 2));
    if (own == f->ring || (own && own->whole == f->ring)) f->found = op;
}

static int64_t index_of_pipe(tile_emitter *e, const tile_buffer *pipe)
{
    int64_t index = 0;
    for (const tile_buffer *b = e->buffers; b < pipe; b++) index += b->is_pipe;
    return index;
}

static void look_for_put(MlirOperation op, void *context)
{
    fetches *f = context;
    if (mlirValueEqual(mlirOperationGetOperand(op, 1), f->ring->view)) f->found = op;
}

static void put_tensor(cute_dict *d, MlirValue tensor)
{
    if (mlirValueIsABlockArgument(tensor)) cute_dict_int(d, "tensor", mlirBlockArgumentGetArgNumber(tensor));
}

static void add_ring(tile_emitter *e, const tile_buffer *b, list *rings)
{
    cute_dict d = {.context = e->context};
    cute_tile_shape tile;
    int64_t stages;
    const cute_swizzle *s = &b->ring->pointer->swizzle;
    fetches f = {e, b, {NULL}};
    if (!cute_tile_ring_shape(b->ring, &tile, &stages)) return;
    cute_op_walk(e->function, "cute.tile.fetch", CUTE_WALK_OUTER_FIRST, look_for_fetch, &f);
    put_numbers(&d, "tile", tile.extent, tile.rank);
    cute_dict_text(&d, "dtype", b->ring->pointer->element);
    cute_dict_int(&d, "stages", stages);
    cute_dict_int(&d, "bytes", b->bytes);
    cute_dict_int(&d, "offset", b->offset);
    const char *layout = cute_layout_text(e->arena, b->ring->layout),
               *swizzle = cute_arena_printf(e->arena, "S<%d,%d,%d>", s->bits, s->base, s->shift);
    if (s->bits && swizzle) cute_dict_text(&d, "swizzle", swizzle);
    if (layout) cute_dict_text(&d, "layout", layout);
    if (!mlirOperationIsNull(f.found)) {
        bool tma = !mlirValueIsNull(tile_filled_pipe(f.found));
        int64_t along[CUTE_TILE_RANK];
        int count =
            cute_tile_numbers(mlirOperationGetAttributeByName(f.found, cute_text("multicast")), along);
        put_tensor(&d, tile_tensor_root(mlirOperationGetOperand(f.found, 0)));
        cute_dict_text(&d, "copy", tma ? "tma" : "cp.async");
        cute_dict_int(&d, "role", index_of_role(e, f.found));
        if (tma) {
            const tile_buffer *pipe = tile_buffer_of(e, tile_filled_pipe(f.found));
            if (pipe) cute_dict_int(&d, "pipe", index_of_pipe(e, pipe));
        }
        if (count > 0) put_numbers(&d, "multicast", along, count);
        put_place(&d, f.found);
    } else {
        cute_op_walk(e->function, "cute.tile.put", CUTE_WALK_OUTER_FIRST, look_for_put, &f);
        if (!mlirOperationIsNull(f.found)) {
            cute_dict_text(&d, "copy", "threads");
            cute_dict_int(&d, "role", index_of_role(e, f.found));
            put_place(&d, f.found);
        }
    }
    add(rings, &d);
}

typedef struct ends {
    tile_emitter *e;
    const tile_buffer *pipe;
    int64_t producer, consumer, other; /* other: a role that reads the stages too; -1: none */
} ends;

static void look_for_end(MlirOperation op, void *context)
{
    ends *w = context;
    MlirValue filled = cute_op_is(op, "cute.tile.put") ? tile_filled_pipe(op) : (MlirValue){NULL};
    bool puts = !mlirValueIsNull(filled), acquires = puts || cute_op_is(op, "cute.tile.acquire"),
         awaits = cute_op_is(op, "cute.tile.await");
    if (!acquires && !awaits) return;
    if (!mlirValueEqual(puts ? filled : mlirOperationGetOperand(op, 0), w->pipe->view)) return;
    int64_t role = index_of_role(w->e, op);
    if (awaits && w->consumer >= 0 && w->consumer != role) w->other = w->consumer;
    *(acquires ? &w->producer : &w->consumer) = role;
}

static void add_pipe(tile_emitter *e, const tile_buffer *b, list *pipes)
{
    cute_dict d = {.context = e->context};
    ends w = {e, b, 0, -1, -1};
    cute_op_walk(e->function, "cute.tile.", CUTE_WALK_OUTER_FIRST, look_for_end, &w);
    cute_dict_int(&d, "stages", b->stages);
    cute_dict_int(&d, "offset", b->offset);
    cute_dict_int(&d, "bytes", b->bytes);
    cute_dict_int(&d, "expected", b->expected);
    if (!b->expected) cute_dict_int(&d, "writers", b->writers);
    cute_dict_int(&d, "arrivals", tile_pipe_arrivals(e, b));
    cute_dict_int(&d, "readers", b->readers);
    cute_dict_text(&d, "reader", b->by_warpgroup ? "warpgroup" : "warp");
    cute_dict_int(&d, "producer", w.producer);
    cute_dict_int(&d, "consumer", w.consumer < 0 ? 0 : w.consumer);
    if (w.other >= 0) cute_dict_int(&d, "other", w.other);
    add(pipes, &d);
}

/* ---- products and stores ---- */

static void add_product(MlirOperation op, void *context)
{
    list *l = context;
    tile_emitter *e = l->e;
    cute_tile_shape a, c;
    tile_product p;
    MlirType of_a = mlirValueGetType(mlirOperationGetOperand(op, 0)),
             of_c = mlirValueGetType(mlirOperationGetResult(op, 0));
    if (!cute_tile_shape_of(of_a, &a) || !cute_tile_shape_of(of_c, &c)) return;
    int64_t threads = tile_role_of(e, op)->warps * WARP, shape[3] = {c.extent[0], c.extent[1]};
    shape[2] = a.extent[1];
    tile_product_choose(&a, &c, cute_tile_element(of_a), cute_tile_element(of_c), op, e->arch, threads, &p);
    int64_t atom[3] = {p.m, p.n, p.k}, pending = cute_tile_number(op, "pending", 0);
    cute_dict d = {.context = e->context};
    bool adds = p.multiply_add || e->naive;
    put_numbers(&d, "tile", shape, 3);
    cute_dict_text(&d, "instruction", adds ? "fma" : p.warpgroups ? "wgmma" : "mma");
    if (!adds) put_numbers(&d, "atom", atom, 3);
    cute_dict_int(&d, "role", index_of_role(e, op));
    if (pending == TILE_NO_WAIT)
        cute_dict_put(&d, "pending", mlirUnitAttrGet(e->context));
    else
        cute_dict_int(&d, "pending", pending);
    put_place(&d, op);
    add(l, &d);
}

/* An access of a tile of `tensor`, in bands of so many columns unless these are 0. */
static void add_access(list *l, MlirOperation op, MlirValue tile, MlirValue tensor, bool tma, int64_t band)
{
    cute_tile_shape shape;
    cute_dict d = {.context = l->e->context};
    if (!cute_tile_shape_of(mlirValueGetType(tile), &shape)) return;
    put_tensor(&d, tensor);
    put_numbers(&d, "tile", shape.extent, shape.rank);
    if (tma) cute_dict_text(&d, "copy", "tma");
    if (band) cute_dict_int(&d, "band", band);
    cute_dict_int(&d, "role", index_of_role(l->e, op));
    put_place(&d, op);
    add(l, &d);
}

static void add_store(MlirOperation op, void *context)
{
    add_access(context, op, mlirOperationGetOperand(op, 0), mlirOperationGetOperand(op, 1),
               cute_op_has(op, "tma"), cute_tile_number(op, "width", 0));
}

/* A load together with a store. */
static void add_late(MlirOperation op, void *context)
{
    list *l = context;
    MlirValue tile = mlirOperationGetResult(op, 0);
    MlirStringRef how = cute_tile_word(op, TILE_LATE);
    if (!cute_op_has(op, TILE_LATE)) return;
    MlirOperation store = tile_only_store(tile);
    bool row = cute_text_is(how, TILE_LATE_ROW), copied = tile_late_copies_of(l->e, op, NULL) != NULL;
    if (mlirOperationIsNull(store)) return;
    add_access(l, op, tile, mlirOperationGetOperand(op, 0), copied,
               row ? 0 : cute_tile_number(store, "width", 0));
}

static void note_groups(MlirOperation op, void *context)
{
    int64_t groups = cute_tile_number(op, "groups", 0);
    *(int64_t *)context = groups;
}

/* ---- the grid ---- */

typedef struct grid {
    MlirOperation program, workers, place, pieces;
} grid;

static void note_grid(MlirOperation op, void *context)
{
    grid *g = context;
    if (cute_op_is(op, "cute.tile.program")) g->program = op;
    if (cute_op_is(op, "cute.tile.workers")) g->workers = op;
    if (cute_op_is(op, "cute.tile.place")) g->place = op;
    if (cute_op_is(op, "cute.tile.pieces")) g->pieces = op;
}

static void put_grid(tile_emitter *e, cute_dict *out)
{
    grid g = {{NULL}, {NULL}, {NULL}, {NULL}};
    cute_op_walk(e->function, "cute.tile.", CUTE_WALK_OUTER_FIRST, note_grid, &g);
    bool resident = !mlirOperationIsNull(g.workers);
    MlirOperation from = resident ? g.workers : g.program;
    int64_t values[CUTE_TILE_RANK];
    cute_dict d = {.context = e->context};
    cute_dict_put(&d, "resident", mlirBoolAttrGet(e->context, resident));
    if (mlirOperationIsNull(from)) return;
    int count = cute_tile_numbers(mlirOperationGetAttributeByName(from, cute_text("extents")), values);
    if (count > 0) put_numbers(&d, "tile", values, count);
    tile_schedule schedule;
    tile_schedule_of(e->function, &schedule);
    count = tile_cluster_of(from, values);
    if (count > 0) values[count - 1] /= schedule.slices;
    if (count > 0 && e->cluster_size > schedule.slices) put_numbers(&d, "cluster", values, count);
    if (schedule.slices > 1) cute_dict_int(&d, "slices", schedule.slices);
    if (!mlirOperationIsNull(g.place)) cute_dict_int(&d, "order", cute_tile_number(g.place, "order", 1));
    if (!mlirOperationIsNull(g.pieces)) cute_dict_ref(&d, "tail", cute_tile_word(g.pieces, "tail"));
    cute_dict_put(out, "grid", cute_dict_finish(&d));
}

MlirAttribute tile_describe_schedule(tile_emitter *e)
{
    cute_dict d = {.context = e->context};
    list rings = {.e = e}, pipes = {.e = e}, products = {.e = e}, stores = {.e = e}, loads = {.e = e};
    int64_t groups = -1;
    MlirStringRef text = cute_tile_word(e->function, TILE_SCHEDULE);
    MlirAttribute refused = mlirOperationGetAttributeByName(e->function, cute_text(TILE_REFUSALS));
    if (text.length) cute_dict_ref(&d, "text", text);
    put_roles(e, &d);
    for (int i = 0; i < e->buffer_count; i++) {
        const tile_buffer *b = &e->buffers[i];
        if (b->is_pipe)
            add_pipe(e, b, &pipes);
        else if (!b->whole)
            add_ring(e, b, &rings);
    }
    cute_op_walk(e->function, "cute.tile.gemm", CUTE_WALK_OUTER_FIRST, add_product, &products);
    cute_op_walk(e->function, "cute.tile.store", CUTE_WALK_OUTER_FIRST, add_store, &stores);
    cute_op_walk(e->function, "cute.tile.load", CUTE_WALK_OUTER_FIRST, add_late, &loads);
    cute_op_walk(e->function, "cute_nvgpu.arch.cp_async_wait_group", CUTE_WALK_OUTER_FIRST, note_groups,
                 &groups);
    put_list(&d, "rings", &rings);
    put_list(&d, "pipes", &pipes);
    put_list(&d, "products", &products);
    put_list(&d, "stores", &stores);
    put_list(&d, "loads", &loads);
    if (groups >= 0) cute_dict_int(&d, "copies_pending", groups);
    put_grid(e, &d);
    if (!mlirAttributeIsNull(refused)) cute_dict_put(&d, "refused", refused);
    return cute_dict_finish(&d);
}

/* ---- after lowering ---- */

typedef struct barriers {
    int64_t uses[16];
} barriers;

static void count_barrier(MlirOperation op, void *context)
{
    barriers *b = context;
    MlirOperation from = cute_defining_op(mlirOperationGetOperand(op, 0));
    if (mlirOperationIsNull(from) || !cute_op_is(from, "arith.constant")) return;
    int64_t number = mlirIntegerAttrGetValueInt(mlirOperationGetAttributeByName(from, cute_text("value")));
    if (number > 0 && number < 16) b->uses[number]++;
}

static void add_scratch(const tile_emitter *e, list *to, int64_t role, int64_t offset, int64_t bytes)
{
    cute_dict d = {.context = e->context};
    if (bytes <= 0) return;
    cute_dict_int(&d, "role", role);
    cute_dict_int(&d, "offset", offset);
    cute_dict_int(&d, "bytes", bytes);
    add(to, &d);
}

/* Shared memory of a role's conversions, reductions and stores: behind that of the roles before it. That of rows and of stores whose tiles TMA
 * loads is in front. */
static void put_scratch(tile_emitter *e, cute_dict *out)
{
    list scratch = {0};
    for (const tile_row *r = e->rows; r; r = r->next)
        add_scratch(e, &scratch, r->role, r->memory, r->bytes * r->warpgroups);
    for (const tile_late_copies *c = e->copies; c; c = c->next)
        add_scratch(e, &scratch, c->role, c->memory, c->plan.bytes);
    for (int i = e->role_count > 1; i < e->role_count; i++) {
        int64_t end = i + 1 < e->role_count ? e->roles[i + 1].scratch : e->shared_bytes;
        add_scratch(e, &scratch, i ? i - 1 : 0, e->roles[i].scratch, end - e->roles[i].scratch);
    }
    put_list(out, "scratch", &scratch);
}

static void put_barriers(tile_emitter *e, cute_dict *out)
{
    list all = {0};
    barriers b = {{0}};
    cute_op_walk(e->function, "cute_nvgpu.arch.named_barrier_sync", CUTE_WALK_OUTER_FIRST, count_barrier, &b);
    for (int i = 1; i < e->role_count; i++) {
        const tile_role *r = &e->roles[i];
        if (r->barrier > 15 || !b.uses[r->barrier]) continue;
        cute_dict d = {.context = e->context};
        cute_dict_int(&d, "number", r->barrier);
        cute_dict_int(&d, "role", i - 1);
        cute_dict_int(&d, "threads", r->warps * WARP);
        cute_dict_int(&d, "uses", b.uses[r->barrier]);
        add(&all, &d);
    }
    put_list(out, "barriers", &all);
}

void tile_write_description(tile_emitter *e, MlirAttribute before)
{
    cute_dict d = {.context = e->context};
    for (intptr_t i = 0; i < mlirDictionaryAttrGetNumElements(before); i++)
        d.items[d.count++] = mlirDictionaryAttrGetElement(before, i);
    tile_schedule schedule;
    tile_schedule_of(e->function, &schedule);
    cute_dict_int(&d, "shared", schedule.slices * tile_slice_bytes(&schedule, e->shared_bytes));
    put_scratch(e, &d);
    put_barriers(e, &d);
    mlirOperationSetAttributeByName(e->function, cute_text(TILE_DESCRIPTION), cute_dict_finish(&d));
    mlirOperationRemoveAttributeByName(e->function, cute_text(TILE_REFUSALS));
}
