/* See layouts.h: operations whose operands or results are distributed otherwise than their classes. */
#include "lib/passes/tiles/layouts.h"

#include <mlir-c/BuiltinAttributes.h>
#include <mlir-c/BuiltinTypes.h>

#include "lib/ir/dialects/types.h"
#include "lib/ir/mlir/builder.h"
#include "lib/ir/ops/tile.h"
#include "lib/passes/devices/target.h"
#include "lib/passes/tiles/lane_swaps.h"
#include "lib/passes/tiles/late_rows.h"
#include "lib/passes/tiles/schedule.h"

/* ---- conversions ---- */

MlirType layouts_type_with(layouts *l, MlirType type, const tile_distribution *d)
{
    cute_tile_shape shape;
    cute_tile_shape_of(type, &shape);
    return cute_tile_type(&shape, cute_tile_element(type), tile_encoding(l->context, l->arena, d));
}

static MlirValue convert(layouts *l, MlirOperation before, MlirValue value, const tile_distribution *d)
{
    tile_distribution now;
    if (tile_distribution_of(mlirValueGetType(value), &now) && tile_distribution_equal(&now, d)) return value;
    cute_builder b = cute_builder_before(before);
    return cute_build_value(&b, "cute.tile.convert", layouts_type_with(l, mlirValueGetType(value), d),
                            CUTE_OPERANDS(value), CUTE_NO_NAMED);
}

static void need(layouts *l, MlirOperation op, intptr_t i, const tile_distribution *d)
{
    if (i >= mlirOperationGetNumOperands(op) || !tile_is_tile(operand(op, i))) return;
    MlirValue value = operand(op, i), converted = convert(l, op, value, d);
    if (!mlirValueEqual(value, converted)) mlirOperationSetOperand(op, i, converted);
}

/* The result is made as `d` and, where its class is distributed otherwise, converted behind the operation. */
static void make_as(layouts *l, MlirOperation op, const tile_distribution *d)
{
    MlirValue value = result(op, 0);
    const class *c = layouts_class_of(l, value);
    if (tile_distribution_equal(d, &c->d)) return;
    MlirType wanted = mlirValueGetType(value);
    mlirValueSetType(value, layouts_type_with(l, wanted, d));
    MlirOperation next = mlirOperationGetNextInBlock(op);
    cute_builder b = cute_builder_before(next);
    b.location = mlirOperationGetLocation(op);
    MlirValue converted =
        cute_build_value(&b, "cute.tile.convert", wanted, CUTE_OPERANDS(value), CUTE_NO_NAMED);
    MlirOperation keep = cute_defining_op(converted);
    mlirValueReplaceAllUsesOfWith(value, converted);
    mlirOperationSetOperand(keep, 0, value);
}

/* A load or store whose class would touch many more sectors than it has to goes by way of a distribution of its own. */
static const tile_distribution *access_distribution(layouts *l, MlirOperation op,
                                                    const tile_distribution *of_class, tile_distribution *own)
{
    const cute_value *tensor = layouts_tensor_of_access(op);
    double waste = tile_access_waste(tensor, of_class);
    if (!l->naive && waste > 1.5 &&
        layouts_distribute_access(l, tensor, layouts_class_of_access(l, op), own) &&
        tile_access_waste(tensor, own) < waste)
        return own;
    return of_class;
}

static void settle_reshape(layouts *l, MlirOperation op)
{
    tile_distribution from, made;
    const class *c = layouts_class_of(l, result(op, 0));
    cute_tile_shape in;
    tile_distribution_of(mlirValueGetType(operand(op, 0)), &from);
    cute_tile_shape_of(mlirValueGetType(operand(op, 0)), &in);
    if (tile_reshaped(&from, &c->shape, &made)) {
        make_as(l, op, &made);
        return;
    }
    if (tile_reshaped(&c->d, &in, &made)) {
        need(l, op, 0, &made);
        return;
    }
    /* Otherwise through shared memory, where both shapes are one row-major array. */
}

static void settle_stack(layouts *l, MlirOperation op)
{
    tile_distribution d, own;
    const class *c = layouts_class_of(l, result(op, 0));
    int last = c->shape.rank - 1;
    if (!tile_picked(&c->d, last, &d)) {
        tile_distribution_of(mlirValueGetType(operand(op, 0)), &d);
        if (!tile_stacked(&d, last, c->shape.extent[last], &own)) return;
        make_as(l, op, &own);
    }
    for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); i++) need(l, op, i, &d);
}

static void settle_pick(layouts *l, MlirOperation op)
{
    tile_distribution d, own;
    int mode = (int)cute_tile_number(op, "mode", 0);
    tile_distribution_of(mlirValueGetType(operand(op, 0)), &d);
    if (tile_picked(&d, mode, &own))
        make_as(l, op, &own);
    else if (tile_stacked(&layouts_class_of(l, result(op, 0))->d, mode, d.shape.extent[mode], &own))
        need(l, op, 0, &own);
}

/* ---- accesses ---- */

/* A tile that goes through shared memory between an access and its users, and is larger than stages leave room for: so many columns at
 * a time. */
static bool access_in_bands(layouts *l, MlirOperation op, const tile_distribution *d)
{
    enum { ROOM = 32 << 10 };
    tile_distribution own;
    if (l->naive || d->shape.rank < 2 || access_distribution(l, op, d, &own) == d) return false;
    if (cute_op_is(op, "cute.tile.load") && !mlirOperationIsNull(tile_pages_of(operand(op, 0)))) return false;
    int64_t bytes = cute_tile_size(&d->shape) * layouts_tensor_of_access(op)->pointer->bits / 8, bands = 1;
    while (bytes / bands > ROOM && tile_band(d, 2 * bands, &own)) bands *= 2;
    if (bands == 1) return false;
    mlirOperationSetAttributeByName(
        op, cute_text("width"),
        mlirIntegerAttrGet(mlirIntegerTypeGet(l->context, 32), d->shape.extent[d->shape.rank - 1] / bands));
    return true;
}

/* Sums of warpgroups by TMA, other tiles as above. */
static bool store_in_bands(layouts *l, MlirOperation op, const tile_distribution *d)
{
    if (l->naive || d->shape.rank < 2 || mlirOperationGetNumOperands(op) > 3) return false;
    const cute_value *tensor = layouts_tensor_of_access(op);
    MlirType i32 = mlirIntegerTypeGet(l->context, 32);
    bool atomic = cute_op_has(op, "kind");
    int64_t across = tile_groups_across(d);
    if (tile_is_hopper(l->arch) && (atomic ? cute_text_is(cute_tile_word(op, "kind"), "add") : across == 1) &&
        tile_fits_stored_bands(tensor, operand(op, 1), d)) {
        mlirOperationSetAttributeByName(
            op, cute_text("width"),
            mlirIntegerAttrGet(
                i32, tile_tma_columns(d->shape.extent[d->shape.rank - 1] / across, tensor->pointer->bits)));
        mlirOperationSetAttributeByName(op, cute_text("tma"), mlirUnitAttrGet(l->context));
        return true;
    }
    return !atomic && access_in_bands(l, op, d);
}

/* Whether a store by TMA alone uses a tile, which is distributed as the sums of warpgroups or a row of them. */
static bool load_with_store(layouts *l, MlirOperation op, const tile_distribution *d)
{
    tile_distribution stored;
    if (l->naive || !tile_is_hopper(l->arch)) return false;
    if (!mlirOperationIsNull(tile_pages_of(operand(op, 0)))) return false;
    MlirOperation store = tile_only_store(result(op, 0));
    if (mlirOperationIsNull(store) || mlirOperationGetNumOperands(store) > 3) return false;
    tile_distribution_of(mlirValueGetType(operand(store, 0)), &stored);
    if (tile_groups_across(&stored) > 1 ||
        !tile_fits_stored_bands(layouts_tensor_of_access(store), operand(store, 1), &stored))
        return false;
    MlirAttribute mark;
    if (tile_fits_stored_bands(layouts_tensor_of_access(store), operand(store, 1), d))
        mark = mlirUnitAttrGet(l->context);
    else if (tile_is_row(op, d))
        mark = cute_string_attribute(l->context, TILE_LATE_ROW);
    else
        return false;
    mlirOperationSetDiscardableAttributeByName(op, cute_text(TILE_LATE), mark);
    return true;
}

/* Stored sums that have half of each sector in a lane's neighbourhood: 16 bytes of a lane, 64 of four, by shuffles. */
static bool distribute_swapped(MlirOperation store, const tile_distribution *d, tile_distribution *out)
{
    enum { ACCESS = 128, RUN = 512 /* bits */ };
    const cute_value *tensor = layouts_tensor_of_access(store);
    int contiguous, bits = tensor->pointer->bits;
    int64_t width = tile_access_width(tensor, &d->shape, &contiguous);
    return contiguous >= 0 && width * bits >= ACCESS && tile_access_waste(tensor, d) > 1 &&
           tile_lanes_along(d, contiguous, RUN / bits, ACCESS / bits, out);
}

/* ---- operations ---- */

static void settle_load(layouts *l, MlirOperation op)
{
    tile_distribution own;
    const class *c = layouts_class_of(l, result(op, 0));
    bool ahead = layouts_fetched_ahead(l, op);
    if (mlirOperationGetNumOperands(op) < 3 && !ahead && load_with_store(l, op, &c->d)) {
        make_as(l, op, &c->d);
        return;
    }
    if (mlirOperationGetNumOperands(op) < 3 && access_in_bands(l, op, &c->d)) return;
    const tile_distribution *as = ahead ? &c->d : access_distribution(l, op, &c->d, &own);
    need(l, op, 2, as);
    make_as(l, op, as);
}

/* Sums whose columns warpgroups divide have no bands: lanes exchange elements so that they write whole sectors, or they write half of each, rather
 * than the memory of the whole tile. */
static void settle_store(layouts *l, MlirOperation op)
{
    enum { HALVES = 2 };
    tile_distribution d, own;
    tile_distribution_of(mlirValueGetType(operand(op, 0)), &d);
    if (store_in_bands(l, op, &d)) return;
    bool divided =
        tile_groups_across(&d) > 1 && tile_access_waste(layouts_tensor_of_access(op), &d) <= HALVES;
    bool swapped = divided && distribute_swapped(op, &d, &own);
    const tile_distribution *as = swapped ? &own : divided ? &d : access_distribution(l, op, &d, &own);
    need(l, op, 0, as);
    if (swapped)
        mlirOperationSetDiscardableAttributeByName(cute_defining_op(operand(op, 0)), cute_text(TILE_SWAPPED),
                                                   mlirUnitAttrGet(l->context));
    need(l, op, 3, as);
}

/* Another product of the same sum may have another instruction. */
static void settle_product(layouts *l, MlirOperation op)
{
    tile_distribution own;
    const class *c = layouts_class_of(l, result(op, 0));
    if (layouts_factor_in_registers(l, op, &own)) need(l, op, 0, &own);
    if (!layouts_distribute_product(l, op, &c->shape, &own) || tile_distribution_equal(&own, &c->d)) return;
    need(l, op, 2, &own);
    make_as(l, op, &own);
}

static void settle_gather(layouts *l, MlirOperation op)
{
    const class *c = layouts_class_of(l, result(op, 0));
    for (intptr_t i = 1; i < mlirOperationGetNumOperands(op); i++) need(l, op, i, &c->d);
}

static void settle_update(layouts *l, MlirOperation op)
{
    tile_distribution d;
    tile_distribution_of(mlirValueGetType(operand(op, 0)), &d);
    for (intptr_t i = 2; i < mlirOperationGetNumOperands(op); i++) need(l, op, i, &d);
}

static void settle_broadcast(layouts *l, MlirOperation op)
{
    tile_distribution d;
    cute_tile_shape from;
    if (!tile_is_tile(operand(op, 0)) || !cute_tile_shape_of(mlirValueGetType(operand(op, 0)), &from)) return;
    if (tile_projected(&layouts_class_of(l, result(op, 0))->d, &from, &d)) need(l, op, 0, &d);
}

static void settle_reduce(layouts *l, MlirOperation op)
{
    tile_distribution d, own;
    const class *c = layouts_class_of(l, result(op, 0));
    tile_distribution_of(mlirValueGetType(operand(op, 0)), &d);
    if (!tile_projected(&d, &c->shape, &own)) return;
    /* A result of several warps is in shared memory, where each thread reads its own elements. */
    bool read = tile_threads(&c->d) == tile_threads(&own) && tile_reduction_bytes(op) &&
                !tile_parts_of_groups(op) && tile_values(&c->d) <= tile_values(&own);
    if (!read) make_as(l, op, &own);
}

static void settle_scan(layouts *l, MlirOperation op)
{
    tile_distribution d;
    const class *c = layouts_class_of(l, result(op, 0));
    if (!tile_for_scan(&c->shape, (int)cute_tile_number(op, "mode", 0), layouts_threads_of(l, c), &d)) return;
    need(l, op, 0, &d);
    make_as(l, op, &d);
}

static void settle_permute(layouts *l, MlirOperation op)
{
    tile_distribution d, own;
    int64_t order[CUTE_TILE_RANK];
    cute_tile_numbers(mlirOperationGetAttributeByName(op, cute_text("order")), order);
    tile_distribution_of(mlirValueGetType(operand(op, 0)), &d);
    tile_permuted(&d, order, &own);
    make_as(l, op, &own);
}

static void settle_constant(layouts *l, MlirOperation op)
{
    MlirAttribute value = mlirOperationGetAttributeByName(op, cute_text("value"));
    if (!tile_is_tile(result(op, 0))) return;
    if (!mlirAttributeIsADenseElements(value) || !mlirDenseElementsAttrIsSplat(value)) {
        cute_emit_error(
            mlirOperationGetLocation(op),
            "expected a constant tile whose elements are equal: others follow from cute.tile.iota, "
            "or are loaded");
        l->failed = true;
        return;
    }
    MlirType type = mlirValueGetType(result(op, 0));
    MlirAttribute again = mlirDenseElementsAttrReshapeGet(value, type);
    mlirOperationSetAttributeByName(op, cute_text("value"), again);
}

bool layouts_settle(layouts *l, MlirOperation op)
{
    static const struct {
        const char *name;
        void (*settle)(layouts *l, MlirOperation op);
    } rows[] = {
        {"cute.tile.load", settle_load},           {"cute.tile.store", settle_store},
        {"cute.tile.gemm", settle_product},        {"cute.tile.gather", settle_gather},
        {"cute.tile.scatter", settle_update},      {"cute.tile.atomic", settle_update},
        {"cute.tile.broadcast", settle_broadcast}, {"cute.tile.reduce", settle_reduce},
        {"cute.tile.scan", settle_scan},           {"cute.tile.permute", settle_permute},
        {"cute.tile.reshape", settle_reshape},     {"cute.tile.stack", settle_stack},
        {"cute.tile.pick", settle_pick},           {"arith.constant", settle_constant},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (cute_op_is(op, rows[i].name)) {
            rows[i].settle(l, op);
            break;
        }
    return !l->failed;
}
