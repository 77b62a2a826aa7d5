/* See schedule.h: the products of a tile program, which schedules the passes accept for them, and the one with the least time by
 * the cost model (lib/model). */
#include <mlir-c/BuiltinAttributes.h>
#include <mlir-c/BuiltinTypes.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "lib/base/buffer.h"
#include "lib/base/numbers/checked.h"
#include "lib/ir/dialects/types.h"
#include "lib/ir/mlir/util.h"
#include "lib/ir/ops/check.h"
#include "lib/model/model.h"
#include "lib/passes/tiles/describe_schedule.h"
#include "lib/passes/tiles/schedule.h"

/* ---- the sizes ---- */

static const struct {
    const char *name;
    size_t offset;
} extents[] = {{"m", offsetof(tile_sizes, m)},
               {"n", offsetof(tile_sizes, n)},
               {"k", offsetof(tile_sizes, k)},
               {"batch", offsetof(tile_sizes, batch)}};

static bool fail_sizes(MlirLocation location, const char *item, size_t length)
{
    char text[256];
    snprintf(text, sizeof text,
             "expected sizes (cute.sizes) such as \"m=4096 n=4096 k=4096 batch=1\", of 1 to 2147483647, got "
             "'%.*s'",
             (int)(length < 64 ? length : 64), item);
    cute_emit_error(location, text);
    return false;
}

bool tile_sizes_parse(MlirStringRef text, MlirLocation location, tile_sizes *out)
{
    const char *end = text.data + text.length;
    for (const char *at = text.data; at < end;) {
        const char *from = at, *equals;
        if (*at == ' ' || *at == ',') {
            at++;
            continue;
        }
        while (at < end && *at != ' ' && *at != ',') at++;
        size_t length = (size_t)(at - from), row = 0;
        if (!(equals = memchr(from, '=', length))) return fail_sizes(location, from, length);
        while (row < sizeof extents / sizeof *extents &&
               (strlen(extents[row].name) != (size_t)(equals - from) ||
                memcmp(extents[row].name, from, (size_t)(equals - from))))
            row++;
        int64_t value = 0;
        const char *digit = equals + 1;
        while (digit < at && *digit >= '0' && *digit <= '9' && value <= INT32_MAX)
            value = value * 10 + (*digit++ - '0');
        if (row == sizeof extents / sizeof *extents || digit != at || value < 1 || value > INT32_MAX)
            return fail_sizes(location, from, length);
        *(int64_t *)((char *)out + extents[row].offset) = value;
    }
    return true;
}

/* ---- the program ---- */

typedef struct choice {
    cute_pass_run *pass;
    const cute_arch *arch;
    MlirOperation function;
    int loops, products; /* loops with products whose loads can be fetched ahead; products in them */
    int fitting[5];      /* of these products, how many so many warpgroups can compute */
    MlirOperation first; /* a product with the most sums */
    MlirOperation grid;  /* cute.tile.program; null: none, or several */
    int grids;
    MlirOperation loop;      /* with products, the last one */
    bool plain;              /* loops have nothing but loads and products */
    const char *not_sharing; /* why blocks of a cluster cannot share loads; NULL: they can */
    const char *not_turning; /* why warpgroups cannot compute alternate tiles; NULL: they can */
    int64_t stored,
        loaded; /* bytes of the largest tile that is stored; that is loaded in front of a loop or behind it */
    int64_t operands; /* bytes of the operands of a product that is not read in stages */
    int64_t
        outside; /* of the loads beside products outside of loops: they are in the loop over tiles of resident blocks */
    cute_model_program program;
} choice;

static bool in_loop(MlirOperation op)
{
    return cute_op_is(tile_parent(op), "scf.for");
}

/* Elements of the tensor that operand `i` is loaded from, else of the tile. */
static int operand_bits(MlirOperation product, int i)
{
    int dims[2];
    MlirValue value = mlirOperationGetOperand(product, i);
    MlirOperation load = tile_operand_source(value, dims);
    if (mlirOperationIsNull(load)) return cute_tile_bits(cute_tile_element(mlirValueGetType(value)));
    const cute_value *tensor = cute_type_peek(mlirValueGetType(mlirOperationGetOperand(load, 0)));
    return tensor->pointer->bits;
}

static cute_model_element element_of(MlirOperation product)
{
    MlirType type = cute_tile_element(mlirValueGetType(mlirOperationGetOperand(product, 0)));
    if (mlirTypeIsAF64(type)) return CUTE_MODEL_DOUBLE;
    if (mlirTypeIsAF32(type)) return cute_op_has(product, "tf32") ? CUTE_MODEL_TF32 : CUTE_MODEL_SINGLE;
    if (mlirTypeIsAF16(type) || mlirTypeIsABF16(type)) return CUTE_MODEL_HALF;
    if (!mlirTypeIsAFloat(type)) return cute_tile_bits(type) == 8 ? CUTE_MODEL_BYTE : CUTE_MODEL_SINGLE;
    return CUTE_MODEL_FP8;
}

/* Whether the tiles of A depend on the rows of the grid alone, and those of B on its columns. */
static const char *why_not_shared(const choice *c, MlirOperation product)
{
    static const char other[] = "tiles of A or B depend on both indices of the grid";
    int rank = mlirOperationIsNull(c->grid) ? 0 : (int)mlirOperationGetNumResults(c->grid);
    if (rank < 2) return "the grid has one dimension";
    for (int i = 0; i < 2; i++) {
        int dims[2];
        MlirOperation load = tile_operand_source(mlirOperationGetOperand(product, i), dims);
        if (mlirOperationIsNull(load)) return "an operand is computed";
        int places = tile_places_of(mlirOperationGetOperand(load, 0)) |
                     tile_places_of(mlirOperationGetOperand(load, 1)),
            others = 1 << (i ? rank - 2 : rank - 1);
        if (places & (TILE_UNKNOWN_PLACE | others)) return other;
        for (MlirOperation loop = tile_parent(load); cute_op_is(loop, "scf.for"); loop = tile_parent(loop))
            if (tile_places_of_bounds(loop)) return "the bounds of a loop depend on the block";
    }
    return NULL;
}

static void note_grid(MlirOperation op, void *context)
{
    choice *c = context;
    c->grid = op;
    c->grids++;
}

/* Operands that are computed, or not in a loop, take shared memory beside stages. */
static int64_t operand_bytes(const choice *c, MlirOperation product)
{
    int64_t bytes = 0, exchanged = 0;
    bool staged = in_loop(product);
    for (int i = 0; i < 2; i++) {
        cute_tile_shape shape;
        int dims[2];
        MlirValue value = mlirOperationGetOperand(product, i);
        MlirType type = mlirValueGetType(value);
        bool held = !i && !mlirOperationIsNull(tile_product_of(value));
        bool passed = !mlirValueIsNull(tile_exchanged(product, i));
        staged = staged && (held || passed || !mlirOperationIsNull(tile_operand_source(value, dims)));
        cute_tile_shape_of(type, &shape);
        int64_t own = tile_stage_bytes(&shape, cute_tile_bits(cute_tile_element(type)));
        bytes += own;
        /* Warps of other architectures hold it. */
        if (passed && (!held || tile_is_hopper(c->arch))) exchanged += tile_exchange_stages(product, i) * own;
    }
    return staged ? exchanged : bytes;
}

static void look_at_entry(choice *c)
{
    bool product = false;
    int64_t bytes = 0;
    for (MlirOperation at =
             mlirBlockGetFirstOperation(mlirRegionGetFirstBlock(mlirOperationGetRegion(c->function, 0)));
         !mlirOperationIsNull(at); at = mlirOperationGetNextInBlock(at)) {
        product |= cute_op_is(at, "cute.tile.gemm");
        if (cute_op_is(at, "cute.tile.load")) bytes += tile_ring_bytes(at);
    }
    c->outside = product ? bytes : 0;
}

static void look_at_product(MlirOperation op, void *context)
{
    choice *c = context;
    cute_tile_shape shape;
    int64_t beside = operand_bytes(c, op);
    if (beside > c->operands) c->operands = beside;
    if (!in_loop(op)) return;
    c->products++;
    for (int i = 1; i <= 4; i++) c->fitting[i] += tile_fits_wgmma(op, i);
    cute_tile_shape_of(mlirValueGetType(mlirOperationGetResult(op, 0)), &shape);
    int64_t sums = cute_tile_size(&shape), threads = tile_product_threads(shape.extent[0], shape.extent[1]);
    int bits = cute_tile_bits(cute_tile_element(mlirValueGetType(mlirOperationGetResult(op, 0))));
    if (mlirOperationIsNull(c->first) || sums > c->program.bm * c->program.bn) {
        c->first = op;
        c->program.bm = shape.extent[0];
        c->program.bn = shape.extent[1];
    }
    MlirOperation before = cute_defining_op(mlirOperationGetOperand(op, 2));
    /* Sums that begin when others have become a factor have the registers of those. */
    bool again = tile_is_zero(mlirOperationGetOperand(op, 2)) &&
                 (!mlirValueIsNull(tile_exchanged(op, 0)) || !mlirValueIsNull(tile_exchanged(op, 1)));
    if (!again && (mlirOperationIsNull(before) || !cute_op_is(before, "cute.tile.gemm")))
        c->program.sums += sums * bits / 32;
    if (threads > c->program.threads) c->program.threads = threads;
    const char *why = why_not_shared(c, op);
    if (why) c->not_sharing = why;
}

static bool is_plain(MlirOperation op)
{
    return cute_op_is(op, "cute.tile.gemm") || cute_op_is(op, "cute.tile.load") ||
           cute_op_is(op, "cute.tile.reshape") || cute_op_is(op, "cute.tile.permute") ||
           cute_op_is(op, "cute.make_coord") || cute_op_is(op, "scf.yield") || cute_op_of(op, "arith.");
}

/* A group of a role advances by the stages of the other groups' tiles: their number must not depend on the tile. */
static const char *why_no_turns(const choice *c, MlirOperation loop)
{
    if (c->loops > 1) return "the kernel has several loops of products";
    if (!cute_op_is(tile_parent(loop), "gpu.func")) return "the loop of products is in another operation";
    return tile_places_of_bounds(loop) ? "the number of iterations depends on the tile" : NULL;
}

/* Registers of all threads for sums that the loop carries beside its products' accumulators, which look_at_product counts: products are
 * added to them, promoted or scaled. */
static int64_t carried_sums(MlirOperation loop)
{
    MlirOperation yield = mlirBlockGetTerminator(tile_loop_body(loop));
    int64_t sums = 0;
    for (intptr_t i = 0; i < mlirOperationGetNumOperands(yield); i++) {
        MlirValue next = mlirOperationGetOperand(yield, i);
        MlirOperation from = cute_defining_op(next);
        cute_tile_shape shape;
        if (!cute_tile_shape_of(mlirValueGetType(next), &shape) || shape.rank != 2 || shape.extent[0] == 1 ||
            shape.extent[1] == 1 || (!mlirOperationIsNull(from) && cute_op_is(from, "cute.tile.gemm")))
            continue;
        sums += cute_tile_size(&shape) * cute_tile_bits(cute_tile_element(mlirValueGetType(next))) / 32;
    }
    return sums;
}

static void look_at_loop(MlirOperation op, void *context)
{
    choice *c = context;
    tile_ahead ahead;
    bool product = false, plain = true;
    for (MlirOperation at = mlirBlockGetFirstOperation(tile_loop_body(op)); !mlirOperationIsNull(at);
         at = mlirOperationGetNextInBlock(at)) {
        product |= cute_op_is(at, "cute.tile.gemm");
        plain &= is_plain(at);
    }
    if (!product) return;
    tile_find_ahead(op, false, &ahead, NULL, NULL);
    if (!ahead.count) return;
    c->loops++;
    c->loop = op;
    c->plain = c->plain && plain;
    const char *why = why_no_turns(c, op);
    if (why) c->not_turning = why;
    c->program.sums += carried_sums(op);
    for (int i = 0; i < ahead.count; i++) c->program.copied += tile_ring_bytes(ahead.loads[i]);
    tile_find_ahead(op, true, &ahead, NULL, NULL);
    for (int i = 0; i < ahead.count; i++) c->program.fetched += tile_ring_bytes(ahead.loads[i]);
}

static bool is_false(MlirOperation condition)
{
    MlirAttribute value = mlirOperationIsNull(condition) || !cute_op_is(condition, "arith.constant")
                              ? (MlirAttribute){NULL}
                              : mlirOperationGetAttributeByName(condition, cute_text("value"));
    return !mlirAttributeIsNull(value) && mlirAttributeIsAInteger(value) &&
           !mlirIntegerAttrGetValueInt(value);
}

/* In a branch of an scf.if that a constant excludes. */
static bool is_dead(MlirOperation op)
{
    for (MlirOperation at = op, parent = tile_parent(op); !cute_op_is(parent, "gpu.func");
         at = parent, parent = tile_parent(parent))
        if (cute_op_is(parent, "scf.if") && is_false(cute_defining_op(mlirOperationGetOperand(parent, 0))) &&
            mlirBlockEqual(mlirOperationGetBlock(at),
                           mlirRegionGetFirstBlock(mlirOperationGetRegion(parent, 0))))
            return true;
    return false;
}

/* Tiles outside of the loops that may change threads through shared memory. */
static void look_at_access(MlirOperation op, void *context)
{
    choice *c = context;
    bool store = cute_op_is(op, "cute.tile.store");
    if (!store && (!cute_op_is(op, "cute.tile.load") || in_loop(op))) return;
    if (is_dead(op)) return;
    cute_tile_shape shape;
    MlirValue value = store ? mlirOperationGetOperand(op, 0) : mlirOperationGetResult(op, 0),
              tensor = mlirOperationGetOperand(op, store ? 1 : 0);
    if (!cute_tile_shape_of(mlirValueGetType(value), &shape)) return;
    int64_t bytes = cute_tile_size(&shape) * cute_type_peek(mlirValueGetType(tensor))->pointer->bits / 8;
    if (store && bytes > c->stored) {
        c->stored = bytes;
        c->program.problem.bits_out = cute_type_peek(mlirValueGetType(tensor))->pointer->bits;
    }
    if (!store && bytes > c->loaded) c->loaded = bytes;
}

/* The extent of a mode of a tensor, where its type states it, else 0. */
static int64_t static_extent(MlirValue tensor, int mode)
{
    const cute_value *type = cute_type_peek(mlirValueGetType(tensor));
    if (!type || type->type != CUTE_MEMREF || type->tree || !type->layout.shape) return 0;
    const cute_tree *tree = cute_check_mode(type->layout.shape, (uint32_t)mode);
    int64_t size = tree && cute_tree_is_static(tree) ? cute_check_size(tree) : 0;
    return size > 0 ? size : 0;
}

static int64_t first_of(int64_t stated, int64_t known, int64_t usual)
{
    return stated ? stated : known ? known : usual;
}

static void find_problem(choice *c, const tile_sizes *sizes)
{
    enum { USUAL = 4096 };
    cute_model_problem *p = &c->program.problem;
    int64_t known[3] = {0}, batch = 1;
    int rank = mlirOperationIsNull(c->grid) ? 0 : (int)mlirOperationGetNumResults(c->grid), dims[2];
    if (rank >= 2 && cute_op_has(c->grid, "extents")) {
        MlirValue tensor = mlirOperationGetOperand(c->grid, 0);
        known[0] = static_extent(tensor, rank - 2);
        known[1] = static_extent(tensor, rank - 1);
        for (int i = 0; i < rank - 2; i++) {
            int64_t extent = static_extent(tensor, i);
            if (!cute_mul64(batch, extent ? extent : 1, &batch) || batch > INT32_MAX) batch = INT32_MAX;
        }
    }
    MlirOperation load = tile_operand_source(mlirOperationGetOperand(c->first, 0), dims);
    if (!mlirOperationIsNull(load) && in_loop(load))
        known[2] = static_extent(mlirOperationGetOperand(load, 0), dims[1]);
    p->m = first_of(sizes->m, known[0], USUAL);
    p->n = first_of(sizes->n, known[1], USUAL);
    p->k = first_of(sizes->k, known[2], USUAL);
    p->batch = first_of(sizes->batch, batch, 1);
    p->bits_a = operand_bits(c->first, 0);
    p->bits_b = operand_bits(c->first, 1);
    p->addend = c->loaded > 0 && c->loaded >= c->stored;
    if (!p->bits_out) p->bits_out = 32;
}

/* Whether clusters can split the k of tiles: the only products are in one loop of the kernel, the same for all tiles. */
static bool splits(const choice *c, MlirBlock entry)
{
    if (c->loops != 1 || !mlirBlockEqual(mlirOperationGetBlock(c->loop), entry) || c->operands) return false;
    return !tile_places_of_bounds(c->loop) && !tile_why_not_sum(c->loop);
}

static void find_program(choice *c, const cute_model_device *d, const tile_schedule *s)
{
    enum { ROOM = 32 << 10, ALIGN = 1024, BITS = 8 };
    cute_model_program *p = &c->program;
    cute_tile_shape a;
    tile_product product;
    MlirBlock entry = mlirRegionGetFirstBlock(mlirOperationGetRegion(c->function, 0));
    MlirType of_a = mlirValueGetType(mlirOperationGetOperand(c->first, 0)),
             of_c = mlirValueGetType(mlirOperationGetResult(c->first, 0));
    cute_tile_shape shape = {2, {p->bm, p->bn}};
    cute_tile_shape_of(of_a, &a);
    p->bk = a.extent[1];
    p->element = element_of(c->first);
    int64_t stated = s->threads ? s->threads : tile_block_size(c->function);
    if (stated) p->threads = stated;
    tile_product_choose(&a, &shape, cute_tile_element(of_a), cute_tile_element(of_c), c->first, c->arch,
                        p->threads, &product);
    p->unit = product.multiply_add ? CUTE_MODEL_THREADS : CUTE_MODEL_MMA;
    if (cute_model_rate(d, p->unit, p->element) <= 0) p->unit = CUTE_MODEL_THREADS;
    p->row = p->bk * operand_bits(c->first, 0) / BITS;
    /* Accesses of more go through shared memory in parts; other conversions are not known yet. */
    int64_t most = c->loaded > c->stored ? c->loaded : c->stored;
    p->beside = c->plain && c->products == 1 && most < ROOM ? most : ROOM;
    if (p->beside < c->operands) p->beside = c->operands;
    p->beside = (p->beside + ALIGN - 1) / ALIGN * ALIGN + ALIGN;
    p->reuses = c->plain && c->products == 1 && !c->operands;
    p->ahead = c->arch && c->arch->number >= 80 && c->loops;
    bool hopper = tile_is_hopper(c->arch);
    for (int i = 1; i <= 4; i++)
        p->groups[i] = hopper && c->loops && c->products && c->fitting[i] == c->products;
    p->resident = c->grids == 1 && cute_op_has(c->grid, "extents") &&
                  mlirBlockEqual(mlirOperationGetBlock(c->grid), entry) &&
                  mlirBlockIsNull(mlirBlockGetNextInRegion(entry));
    if (!p->resident && !c->not_sharing) c->not_sharing = "blocks cannot be resident";
    p->splits = p->resident && splits(c, entry);
    if (!p->resident && !c->not_turning) c->not_turning = "blocks cannot be resident";
    p->turns = !c->not_turning;
    if (p->resident) {
        look_at_entry(c);
        p->copied += c->outside;
        p->fetched += c->outside;
    }
    p->cluster[0] = p->cluster[1] = !c->not_sharing;
}

/* ---- the device ---- */

/* The largest known device of the architecture, or of the latest one before it that has one. */
static void find_device(const cute_arch *arch, cute_model_device *out)
{
    enum { FIRST = 75, USUAL = 90 };
    int number = arch ? arch->number : USUAL;
    while (number >= FIRST && !cute_model_device_of(number, out)) number--;
    if (number < FIRST) cute_model_device_of(USUAL, out);
}

/* ---- remarks ---- */

static void append_schedule(cute_buffer *text, const cute_model_schedule *s)
{
    cute_buffer_printf(text, "stages=%d consumers=%d cluster=%dx%d persistent=%d order=%d", s->stages,
                       s->consumers, s->cluster[0], s->cluster[1], s->persistent, s->order);
    if (s->turns) cute_buffer_printf(text, " turns=%d", s->turns);
    if (s->tail) cute_buffer_printf(text, " tail=%s", tile_schedule_tail(s->tail));
}

static double us(double seconds)
{
    return seconds * 1e6;
}

static void tell_choice(const choice *c, const cute_model_device *d, const cute_model_choice *best)
{
    cute_buffer text = {0};
    const cute_model_problem *p = &c->program.problem;
    const cute_model_time *t = &best->time;
    const struct {
        const char *name;
        double seconds;
    } parts[] = {{"epilogues", t->epilogue},
                 {"device memory", t->operands},
                 {"L2", t->tiles},
                 {"load latency", t->latency}};
    append_schedule(&text, &best->schedule);
    cute_buffer_printf(&text, "; main loop %.1f us of %.1f us", us(t->main_loop), us(t->seconds));
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        cute_buffer_printf(&text, ", %s %.1f us", parts[i].name, us(parts[i].seconds));
    cute_buffer_printf(&text, ", estimated for m=%lld n=%lld k=%lld", (long long)p->m, (long long)p->n,
                       (long long)p->k);
    if (p->batch > 1) cute_buffer_printf(&text, " batch=%lld", (long long)p->batch);
    cute_pass_remark(c->pass, mlirOperationGetLocation(c->function), "schedule: %s on %s",
                     cute_buffer_text(&text), d->name);
    cute_buffer_release(&text);
}

/* Why fewer warpgroups multiply than could. */
static void tell_consumers(const choice *c, const cute_model_device *d, const cute_model_schedule *chosen)
{
    const cute_model_program *p = &c->program;
    MlirLocation at = mlirOperationGetLocation(c->first);
    char why[160];
    cute_model_time time;
    for (int groups = 2; groups > chosen->consumers; groups--) {
        cute_model_schedule s = {2, groups, {1, 1}, p->resident, 1, 0, CUTE_MODEL_WHOLE};
        if (p->bm % (64 * groups))
            snprintf(why, sizeof why, "expected a tile with M a multiple of %d, got %lld", 64 * groups,
                     (long long)p->bm);
        else if (!p->groups[groups])
            snprintf(why, sizeof why,
                     "the shape, type or order of an operand does not fit wgmma, or TMA cannot copy it");
        else if (cute_model_schedule_time(p, d, &s, &time, why, sizeof why))
            snprintf(why, sizeof why, "the estimate is longer");
        cute_pass_remark(c->pass, at, "no consumers=%d: %s", groups, why);
    }
}

static void tell_stages(const choice *c, const cute_model_device *d, const cute_model_schedule *chosen)
{
    char why[160];
    cute_model_time time;
    cute_model_schedule more = *chosen;
    more.stages++;
    if (c->program.ahead && chosen->stages < (chosen->consumers ? CUTE_MODEL_FETCHED : CUTE_MODEL_COPIED) &&
        !cute_model_schedule_time(&c->program, d, &more, &time, why, sizeof why))
        cute_pass_remark(c->pass, mlirOperationGetLocation(c->function), "no stages=%d: %s", more.stages,
                         why);
}

static void tell_cluster(const choice *c, const cute_model_choice *all, size_t count)
{
    const cute_model_schedule *chosen = &all[0].schedule;
    MlirLocation at = mlirOperationGetLocation(c->function);
    if (!chosen->consumers || chosen->cluster[0] * chosen->cluster[1] > 1) return;
    if (c->not_sharing) cute_pass_remark(c->pass, at, "no cluster: %s", c->not_sharing);
    for (size_t i = 1; i < count && !c->not_sharing; i++) {
        const cute_model_schedule *s = &all[i].schedule;
        if (s->cluster[0] * s->cluster[1] == 1) continue;
        cute_pass_remark(c->pass, at, "no cluster=%dx%d: %.1f us, estimated", s->cluster[0], s->cluster[1],
                         us(all[i].time.seconds));
        return;
    }
}

/* Why warpgroups do not take turns, or the estimate without. */
static void tell_turns(const choice *c, const cute_model_device *d, const cute_model_choice *all,
                       size_t count)
{
    const cute_model_schedule *chosen = &all[0].schedule;
    char why[160] = "";
    cute_model_time time;
    size_t i = 1;
    cute_model_schedule turns = *chosen;
    turns.turns = 1;
    if (chosen->consumers != 2 || !chosen->persistent) return;
    while (i < count && (all[i].schedule.consumers != 2 || all[i].schedule.turns == chosen->turns)) i++;
    if (i < count)
        snprintf(why, sizeof why, "%.1f us, estimated", us(all[i].time.seconds));
    else if (chosen->turns)
        return;
    else if (c->not_turning || !c->program.groups[1])
        snprintf(why, sizeof why, "%s",
                 c->not_turning ? c->not_turning : "one warpgroup cannot compute the products");
    else if (cute_model_schedule_time(&c->program, d, &turns, &time, why, sizeof why))
        return;
    cute_pass_remark(c->pass, mlirOperationGetLocation(c->function), "no turns=%d: %s", !chosen->turns, why);
}

static void tell_list(const choice *c, const cute_model_choice *all, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        cute_buffer text = {0};
        append_schedule(&text, &all[i].schedule);
        cute_pass_remark(c->pass, mlirOperationGetLocation(c->function), "likely: %s; %.3f us, bound by %s",
                         cute_buffer_text(&text), us(all[i].time.seconds), all[i].time.bound);
        cute_buffer_release(&text);
    }
}

/* ---- the choice ---- */

static void mark_product(MlirOperation op, void *context)
{
    const int *groups = context;
    int dims[2];
    MlirAttribute unit = mlirUnitAttrGet(mlirOperationGetContext(op));
    if (!in_loop(op) || !tile_fits_wgmma(op, *groups)) return;
    mlirOperationSetAttributeByName(op, cute_text("wgmma"), unit);
    if (mlirOperationIsNull(tile_operand_source(mlirOperationGetOperand(op, 0), dims)) &&
        mlirValueIsNull(tile_exchanged(op, 0)))
        mlirOperationSetDiscardableAttributeByName(op, cute_text(TILE_HELD), unit);
}

/* The products of a chain, but for those whose factor passes from warpgroup to warpgroup. */
static void mark_chain(MlirOperation op, void *context)
{
    const int *groups = context;
    MlirOperation from =
        in_loop(op) ? tile_product_of(mlirOperationGetOperand(op, 0)) : (MlirOperation){NULL};
    MlirAttribute unit = mlirUnitAttrGet(mlirOperationGetContext(op));
    if (mlirOperationIsNull(from) || cute_op_has(op, "wgmma")) return; /* it was marked before */
    if (*groups && tile_fits_wgmma(op, *groups) && !mlirValueIsNull(tile_exchanged(op, 0))) return;
    mlirOperationSetDiscardableAttributeByName(op, cute_text(TILE_ROWS), unit);
    for (; !mlirOperationIsNull(from) && cute_op_is(from, "cute.tile.gemm");
         from = cute_defining_op(mlirOperationGetOperand(from, 2)))
        mlirOperationSetDiscardableAttributeByName(from, cute_text(TILE_ROWS), unit);
}

/* Turns that the text states, where the kernel or the rest of the text does not allow them. */
static void refuse_turns(const choice *c, tile_schedule *s, cute_model_schedule *stated)
{
    const char *why = c->not_turning            ? c->not_turning
                      : stated->persistent == 0 ? "expected resident blocks, persistent=1"
                      : stated->consumers != CUTE_MODEL_FREE && stated->consumers != 2
                          ? "expected two warpgroups, consumers=2"
                      : !c->program.groups[1] ? "one warpgroup cannot compute the products"
                                              : NULL;
    if (!why) return;
    tile_refuse(c->pass, c->function, "warpgroups share each tile, without turns: %s", why);
    stated->turns = s->turns = 0;
}

/* Blocks and slices of them that divide k, and several blocks on a multiprocessor, where the rest of the schedule does not allow them. */
static void refuse_split(const choice *c, bool clusters, tile_schedule *s)
{
    enum { MOST_BLOCKS = 8 }; /* of a cluster */
    static const char resident[] = "blocks are resident: expected persistent=0";
    const char *never = !clusters       ? "clusters need sm_90"
                        : !c->loops     ? "it has no loop with products"
                        : s->persistent ? resident
                                        : NULL;
    const char *why = never;
    if (!why && s->cluster[0] * s->cluster[1] * s->split > MOST_BLOCKS)
        why = "expected a cluster of at most 8 blocks, with those of 'cluster'";
    if (s->split > 1 && why) {
        tile_refuse(c->pass, c->function, "blocks of a cluster do not divide the k of a tile: %s", why);
        s->split = 1;
    }
    why = never;
    if (!why && s->consumers) why = "warps have roles: expected consumers=0";
    if (!why && s->cluster[0] * s->cluster[1] > 1)
        why = "blocks of a cluster share loads: expected cluster=1x1";
    if (s->slices > 1 && why) {
        tile_refuse(c->pass, c->function, "warps of a block do not divide the k of a tile: %s", why);
        s->slices = 1;
    }
    if (s->blocks > 1 && s->persistent) {
        tile_refuse(c->pass, c->function, "one block on a multiprocessor: %s", resident);
        s->blocks = 1;
    }
}

static void complete(choice *c, const tile_sizes *sizes, int listed, tile_schedule *s)
{
    cute_model_device device;
    cute_model_choice all[CUTE_MODEL_CHOICES];
    cute_model_schedule stated = {.stages = tile_schedule_states(s, "stages") ? s->stages : 0,
                                  .consumers = tile_schedule_states(s, "consumers") ? s->consumers
                                               : s->slices > 1                      ? 0
                                                                                    : CUTE_MODEL_FREE,
                                  .persistent = tile_schedule_states(s, "persistent") ? s->persistent
                                                : tile_schedule_shares(s) > 1 || s->blocks > 1 || s->factors
                                                    ? 0
                                                    : CUTE_MODEL_FREE,
                                  .order = tile_schedule_states(s, "order") ? s->order : 0,
                                  .tail = tile_schedule_states(s, "tail") ? s->tail : CUTE_MODEL_FREE,
                                  .turns = tile_schedule_states(s, "turns") ? s->turns : CUTE_MODEL_FREE};
    if (tile_schedule_states(s, "cluster")) memcpy(stated.cluster, s->cluster, sizeof stated.cluster);
    find_device(c->arch, &device);
    find_problem(c, sizes);
    find_program(c, &device, s);
    if (s->turns) refuse_turns(c, s, &stated);
    /* Stages are free behind the loop of a block that has one tile. */
    if (!stated.persistent && stated.consumers > 0 && c->plain && c->products == 1 && !c->operands)
        c->program.beside = 0;
    size_t count = cute_model_schedules(&c->program, &device, &stated, all, CUTE_MODEL_CHOICES);
    if (!count && stated.stages > 1) { /* as many as fit */
        int wanted = stated.stages;
        while (!count && --stated.stages)
            count = cute_model_schedules(&c->program, &device, &stated, all, CUTE_MODEL_CHOICES);
        if (count)
            cute_pass_remark(c->pass, mlirOperationGetLocation(c->function),
                             "%d stages do not fit in shared memory: %d", wanted, stated.stages);
    }
    if (!count && stated.turns == 1) {
        char why[160] = "it is not as stated";
        cute_model_time time;
        cute_model_schedule turns = {2, 2, {1, 1}, 1, 1, 1, CUTE_MODEL_WHOLE};
        cute_model_schedule_time(&c->program, &device, &turns, &time, why, sizeof why);
        tile_refuse(c->pass, c->function, "warpgroups share each tile, without turns: %s", why);
        stated.stages = s->stages > 1 ? s->stages : stated.stages;
        stated.turns = s->turns = 0;
        count = cute_model_schedules(&c->program, &device, &stated, all, CUTE_MODEL_CHOICES);
    }
    if (!count) {
        char why[160] = "";
        cute_model_time time;
        const cute_model_schedule least = {1, 0, {1, 1}, 0, 1, 0, CUTE_MODEL_WHOLE};
        cute_model_schedule_time(&c->program, &device, &least, &time, why, sizeof why);
        cute_pass_remark(c->pass, mlirOperationGetLocation(c->function),
                         "schedule: as stated, since no choice fits %s: without stages, %s", device.name,
                         *why ? why : "it is not as stated");
        return;
    }
    const cute_model_schedule *best = &all[0].schedule;
    tell_choice(c, &device, &all[0]);
    if (tile_is_hopper(c->arch) && stated.consumers == CUTE_MODEL_FREE) tell_consumers(c, &device, best);
    if (!stated.stages) tell_stages(c, &device, best);
    if (!stated.cluster[0]) tell_cluster(c, all, count);
    if (stated.turns == CUTE_MODEL_FREE) tell_turns(c, &device, all, count);
    tell_list(c, all, listed < 0 ? 0 : (size_t)listed < count ? (size_t)listed : count);
    s->stages = best->stages;
    s->consumers = best->consumers;
    memcpy(s->cluster, best->cluster, sizeof s->cluster);
    s->persistent = best->persistent;
    s->order = best->order;
    s->tail = best->tail;
    s->turns = best->turns;
}

/* A warpgroup of its own for a factor, where there can be one. */
static void choose_factors(cute_pass_run *pass, MlirOperation function, tile_schedule *s)
{
    const char *why = tile_why_no_factors(function, s);
    if (why && s->factors && !mlirOperationIsNull(tile_find_op(function, "cute.tile.gemm")))
        tile_refuse(pass, function, "consumers compute factors themselves: %s", why);
    s->factors = !why && (s->factors || !tile_schedule_states(s, "factors"));
    if (s->factors) tile_scale_by_factors(function);
}

void tile_schedule_choose(cute_pass_run *pass, const cute_arch *arch, MlirOperation function,
                          const tile_sizes *sizes, int listed, tile_schedule *s)
{
    choice c = {.pass = pass, .arch = arch, .function = function, .plain = true};
    bool hopper = tile_is_hopper(arch);
    cute_op_walk(function, "cute.tile.program", CUTE_WALK_OUTER_FIRST, note_grid, &c);
    if (c.grids != 1) c.grid = (MlirOperation){NULL};
    cute_op_walk(function, "cute.tile.gemm", CUTE_WALK_OUTER_FIRST, look_at_product, &c);
    cute_op_walk(function, "scf.for", CUTE_WALK_OUTER_FIRST, look_at_loop, &c);
    cute_op_walk(function, "cute.tile.", CUTE_WALK_OUTER_FIRST, look_at_access, &c);
    if (s->consumers && !hopper) {
        tile_refuse(pass, function, "no warpgroups as consumers: they need TMA and wgmma, of sm_90a");
        s->consumers = 0;
    }
    if (c.loops) {
        complete(&c, sizes, listed, s);
    } else {
        cute_model_device device;
        int64_t stated = tile_block_size(function);
        if (!stated && tile_schedule_states(s, "threads")) stated = s->threads;
        find_device(arch, &device);
        if (mlirOperationIsNull(tile_find_op(function, "cute.tile.gemm")))
            tile_list_threads(pass, &device, function, sizes, stated, listed);
        s->stages = 1;
        s->consumers = s->turns = 0;
    }
    if (!s->persistent || s->consumers != 2) s->turns = 0;
    bool clusters = arch && arch->number >= 90;
    bool own = c.grids == 1 && cute_op_has(c.grid, TILE_IN_CLUSTER);
    if (!own && s->cluster[0] * s->cluster[1] > 1 && (!clusters || !(s->persistent || s->consumers))) {
        cute_pass_remark(pass, mlirOperationGetLocation(function), "no clusters: they need %s",
                         clusters ? "resident blocks, persistent=1, or warpgroups, consumers=1" : "sm_90");
        s->cluster[0] = s->cluster[1] = 1;
    }
    refuse_split(&c, clusters, s);
    int groups = tile_schedule_groups(s);
    cute_op_walk(function, "cute.tile.gemm", CUTE_WALK_OUTER_FIRST, mark_chain, &groups);
    if (groups) cute_op_walk(function, "cute.tile.gemm", CUTE_WALK_OUTER_FIRST, mark_product, &groups);
    choose_factors(pass, function, s);
}
