/* See schedule.h: the factor of a product on a warpgroup of its own.
 *
 * Where the sums of a product are divided among the consumers by columns, since one of them cannot hold them, all of them need the whole factor A. With
 * `factors=1` another warpgroup computes it, with the products that it is computed from: the tiles that it needs are distributed over this warpgroup,
 * cute-tile-exchange passes the factor on, and cute-warp-specialization gives it a role. Its products have all columns of their sums, at
 * the full rate of the instruction, and are under way while the consumers multiply. */
#include <mlir-c/BuiltinAttributes.h>
#include <mlir-c/BuiltinTypes.h>

#include "lib/ir/mlir/arith.h"
#include "lib/ir/mlir/util.h"
#include "lib/passes/tiles/schedule.h"

enum { CONSUMERS = 2, GROUP = 128, COLUMNS = 16 /* of two instructions */ };

int64_t tile_factor_threads(const tile_schedule *s)
{
    return s->factors ? GROUP : 0;
}

void tile_give_up_factors(MlirOperation function, const char *why)
{
    mlirOperationSetDiscardableAttributeByName(function, cute_text(TILE_CROWDED),
                                               cute_string_attribute(mlirOperationGetContext(function), why));
}

/* The product whose factor is computed by other warps; null: none. */
typedef struct products {
    MlirOperation wide, loop;
    bool several, elsewhere;
} products;

static void note_product(MlirOperation op, void *context)
{
    products *p = context;
    MlirOperation loop = tile_parent(op);
    bool inside =
        cute_op_is(loop, "scf.for") && cute_op_is(tile_parent(loop), "gpu.func") && cute_op_has(op, "wgmma");
    p->elsewhere |= !inside || (!mlirOperationIsNull(p->loop) && !mlirOperationEqual(loop, p->loop));
    if (inside) p->loop = loop;
    if (!tile_is_wide(op) || mlirValueIsNull(tile_exchanged(op, 0)) || tile_exchange_stages(op, 0) > 1)
        return;
    p->several |= !mlirOperationIsNull(p->wide);
    p->wide = op;
}

static products products_of(MlirOperation function)
{
    products p = {{NULL}, {NULL}, false, false};
    cute_op_walk(function, "cute.tile.gemm", CUTE_WALK_OUTER_FIRST, note_product, &p);
    return p;
}

bool tile_has_wide_factor(MlirOperation function)
{
    return !mlirOperationIsNull(products_of(function).wide);
}

const char *tile_why_no_factors(MlirOperation function, const tile_schedule *s)
{
    products p = products_of(function);
    if (s->consumers != CONSUMERS) return "expected two warpgroups that multiply, consumers=2";
    if (s->stages < 2) return "loads are not ahead: expected stages=2";
    if (mlirOperationIsNull(p.wide))
        return "no product has sums of more than 256 columns and a factor A computed from those of others";
    cute_tile_shape sums;
    cute_tile_shape_of(mlirValueGetType(mlirOperationGetResult(p.wide, 0)), &sums);
    if (sums.extent[1] % (CONSUMERS * COLUMNS)) return "the columns of its sums are not a multiple of 32";
    if (p.several) return "several products have such a factor";
    if (p.elsewhere) return "products are not all of warpgroups and in one loop of the kernel";
    if (s->persistent) return "blocks are resident: expected persistent=0";
    if (s->blocks > 1) return "several blocks are on a multiprocessor: expected blocks=1";
    if (s->cluster[0] * s->cluster[1] * s->split > 1) return "blocks are in clusters";
    return NULL;
}

/* ---- sums that are seldom scaled ---- */

/* The tile that operand `i` of a product of elements broadcasts; null: none. */
static MlirOperation broadcast_of(MlirOperation op, int i)
{
    MlirOperation from = cute_defining_op(mlirOperationGetOperand(op, i));
    bool is = !mlirOperationIsNull(from) && cute_op_is(from, "cute.tile.broadcast") &&
              tile_is_tile(mlirOperationGetOperand(from, 0));
    return is ? from : (MlirOperation){NULL};
}

/* A selection `far ? sums * f : sums`, of rows. */
typedef struct scaled {
    MlirValue sums;
    MlirOperation far, by; /* broadcasts of the condition and of the factor f */
} scaled;

static bool is_scaled(MlirOperation select, MlirOperation wide, scaled *out)
{
    if (!cute_op_is(select, "arith.select") || !cute_op_has(select, TILE_RARE) ||
        !mlirTypeEqual(mlirValueGetType(mlirOperationGetResult(select, 0)),
                       mlirValueGetType(mlirOperationGetResult(wide, 0))))
        return false;
    MlirOperation product = cute_defining_op(mlirOperationGetOperand(select, 1));
    if (mlirOperationIsNull(product) || !cute_op_is(product, "arith.mulf")) return false;
    out->far = broadcast_of(select, 0);
    out->sums = mlirOperationGetOperand(select, 2);
    for (int i = 0; i < 2; i++) {
        if (!mlirValueEqual(mlirOperationGetOperand(product, i), out->sums)) continue;
        out->by = broadcast_of(product, !i);
        if (mlirOperationIsNull(out->far) || mlirOperationIsNull(out->by)) return false;
        cute_tile_shape a, b;
        return cute_tile_shape_of(mlirValueGetType(mlirOperationGetOperand(out->far, 0)), &a) &&
               cute_tile_shape_of(mlirValueGetType(mlirOperationGetOperand(out->by, 0)), &b) &&
               cute_tile_shape_equal(&a, &b);
    }
    return false;
}

static MlirValue broadcast_as(const cute_builder *b, MlirOperation like, MlirValue value)
{
    MlirOperation copy = mlirOperationClone(like);
    mlirOperationSetOperand(copy, 0, value);
    mlirBlockInsertOwnedOperationBefore(b->block, b->before, copy);
    return mlirOperationGetResult(copy, 0);
}

/* far ? sums * f : sums  ->  g = far ? f : 1 ; g != 1 ? sums * g : sums, in front of the first use. */
static void scale_by_factor(MlirOperation select, const scaled *s)
{
    enum { UNE = 13 }; /* arith.cmpf */
    cute_builder here = cute_builder_before(select);
    MlirValue far = mlirOperationGetOperand(s->far, 0), f = mlirOperationGetOperand(s->by, 0),
              one = tile_number(&here, mlirValueGetType(f), 1);
    MlirNamedAttribute rare = cute_attribute(here.context, TILE_RARE, mlirUnitAttrGet(here.context));
    MlirValue g = cute_build_value(&here, "arith.select", mlirValueGetType(f), CUTE_OPERANDS(far, f, one),
                                   (cute_named){&rare, 1});
    MlirValue result = mlirOperationGetResult(select, 0);
    cute_builder b = cute_builder_before(tile_first_user(mlirOperationGetBlock(select), result));
    b.location = here.location;
    MlirType type = mlirValueGetType(result);
    MlirValue wide = broadcast_as(&b, s->by, g);
    MlirAttribute differs = mlirIntegerAttrGet(mlirIntegerTypeGet(b.context, 64), UNE);
    MlirValue changed =
        cute_build_value(&b, "arith.cmpf", mlirValueGetType(mlirOperationGetOperand(select, 0)),
                         CUTE_OPERANDS(wide, tile_number(&b, type, 1)),
                         CUTE_NAMED(cute_attribute(b.context, "predicate", differs)));
    MlirValue product = cute_binary(&b, "arith.mulf", s->sums, wide),
              out = cute_build_value(&b, "arith.select", type, CUTE_OPERANDS(changed, product, s->sums),
                                     (cute_named){&rare, 1});
    mlirValueReplaceAllUsesOfWith(result, out);
    mlirOperationDestroy(select);
}

void tile_scale_by_factors(MlirOperation function)
{
    products p = products_of(function);
    if (mlirOperationIsNull(p.wide)) return;
    MlirBlock body = mlirOperationGetBlock(p.wide);
    scaled s;
    for (MlirOperation op = mlirBlockGetFirstOperation(body), next; !mlirOperationIsNull(op); op = next) {
        next = mlirOperationGetNextInBlock(op);
        if (is_scaled(op, p.wide, &s)) scale_by_factor(op, &s);
    }
    tile_drop_unused(body);
}
