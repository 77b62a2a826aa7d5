/* Runs the passes that distribute tiles on a copy of the kernel, in which the operation of interest has a location of its own:
 * the passes may replace it by several, and those inherit the location. */
#include "lib/lsp/tiles.h"

#include <mlir-c/BuiltinTypes.h>
#include <pthread.h>
#include <stdio.h>

#include "lib/base/devices/arch.h"
#include "lib/ir/mlir/shim.h"
#include "lib/ir/mlir/util.h"
#include "lib/passes/passes.h"
#include "lib/passes/tiles/tiles.h"

#define LOCATION_NAME "cute-lsp"

/* Place of a value relative to an operation: an argument of a block in it, or a result if `region` is -1. */
typedef struct position {
    intptr_t region, block, index;
} position;

typedef struct search {
    MlirLocation location;
    position position;
    MlirType type; /* without encoding */
    bool found;
    tile_distribution out;
} search;

/* ---- positions of values ---- */

static MlirBlock block_at(MlirOperation op, intptr_t region, intptr_t index)
{
    MlirBlock block = {NULL};
    if (region < mlirOperationGetNumRegions(op))
        block = mlirRegionGetFirstBlock(mlirOperationGetRegion(op, region));
    while (index-- > 0 && !mlirBlockIsNull(block)) block = mlirBlockGetNextInRegion(block);
    return block;
}

static position position_of(MlirValue value, MlirOperation *owner)
{
    if (mlirValueIsAOpResult(value)) {
        *owner = mlirOpResultGetOwner(value);
        return (position){-1, 0, mlirOpResultGetResultNumber(value)};
    }
    MlirBlock block = mlirBlockArgumentGetOwner(value), at;
    position p = {.index = mlirBlockArgumentGetArgNumber(value)};
    *owner = mlirBlockGetParentOperation(block);
    while (!mlirBlockEqual(at = block_at(*owner, p.region, p.block), block)) {
        bool next_region = mlirBlockIsNull(at);
        p.region += next_region;
        p.block = next_region ? 0 : p.block + 1;
    }
    return p;
}

/* Null if the operation has none there. */
static MlirValue value_at(MlirOperation op, position p)
{
    MlirValue none = {NULL};
    if (p.region < 0)
        return p.index < mlirOperationGetNumResults(op) ? mlirOperationGetResult(op, p.index) : none;
    MlirBlock block = block_at(op, p.region, p.block);
    if (mlirBlockIsNull(block) || p.index >= mlirBlockGetNumArguments(block)) return none;
    return mlirBlockGetArgument(block, p.index);
}

/* A conversion of a tile to its own type is removed by the passes. */
static MlirValue skip_casts(MlirValue value)
{
    for (MlirOperation op; !mlirOperationIsNull(op = cute_defining_op(value));) {
        if (!cute_op_is(op, "cute.tile.cast")) break;
        MlirValue from = mlirOperationGetOperand(op, 0);
        if (!mlirTypeEqual(mlirValueGetType(from), mlirValueGetType(value))) break;
        value = from;
    }
    return value;
}

/* ---- the passes ---- */

static void register_passes(void)
{
    cute_pass_register(&cute_pass_tile_expand);
    cute_pass_register(&cute_pass_tile_layouts);
}

static void ignore_text(MlirStringRef text, void *context)
{
    (void)text, (void)context;
}

static bool run_passes(MlirOperation function)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT; /* MLIR's registry is process-wide */
    pthread_once(&once, register_passes);
    const cute_arch *arch;
    char pipeline[128];
    if (cute_arch_choose(NULL, &arch, NULL)) return false;
    snprintf(pipeline, sizeof pipeline, "cute-tile-expand,cute-tile-layouts{arch=%s}", arch->name);
    MlirContext context = mlirOperationGetContext(function);
    MlirDiagnosticHandlerID quiet = cute_discard_diagnostics(context);
    MlirPassManager manager = mlirPassManagerCreateOnOperation(context, cute_text("gpu.func"));
    mlirPassManagerEnableVerifier(manager, false);
    bool ok = mlirLogicalResultIsSuccess(mlirOpPassManagerAddPipeline(
                  mlirPassManagerGetAsOpPassManager(manager), cute_text(pipeline), ignore_text, NULL)) &&
              mlirLogicalResultIsSuccess(mlirPassManagerRunOnOp(manager, function));
    mlirPassManagerDestroy(manager);
    mlirContextDetachDiagnosticHandler(context, quiet);
    return ok;
}

/* ---- the result ---- */

static MlirType without_encoding(MlirType type)
{
    cute_tile_shape shape;
    if (!cute_tile_shape_of(type, &shape)) return type;
    return cute_tile_type(&shape, cute_tile_element(type), mlirAttributeGetNull());
}

/* Whether the number of threads or values is reasonable, and the coordinates are in the tile. `last`: the largest so far. */
static bool fits(const tile_distribution *d, const tile_modes *modes, int64_t last[CUTE_TILE_RANK])
{
    int64_t size = 1, way;
    for (int i = 0; i < modes->count; i++) {
        const tile_mode *m = &modes->at[i];
        if (__builtin_mul_overflow(size, m->extent, &size)) return false;
        if (m->dim == TILE_COPIES) continue;
        if (m->step < 0 || __builtin_mul_overflow(m->extent - 1, m->step, &way) ||
            __builtin_add_overflow(last[m->dim], way, &last[m->dim]) ||
            last[m->dim] >= d->shape.extent[m->dim])
            return false;
    }
    return size <= INT32_MAX;
}

/* The distribution that a type states; not one that a user wrote wrong. */
static bool read_distribution(MlirType type, tile_distribution *out)
{
    int64_t last[CUTE_TILE_RANK] = {0};
    return tile_distribution_of(type, out) && fits(out, &out->threads, last) && fits(out, &out->values, last);
}

/* The last one of the operations is the result. A conversion is of the result for its users, or of an operand. */
static void visit_op(MlirOperation op, void *context)
{
    search *s = context;
    if (!mlirLocationEqual(mlirOperationGetLocation(op), s->location) || cute_op_is(op, "cute.tile.convert"))
        return;
    MlirValue value = value_at(op, s->position);
    if (mlirValueIsNull(value) || !mlirTypeEqual(without_encoding(mlirValueGetType(value)), s->type)) return;
    s->found = read_distribution(mlirValueGetType(value), &s->out);
}

static int bits_of(MlirType element)
{
    if (mlirTypeIsAFloat(element)) return (int)mlirFloatTypeGetWidth(element);
    return mlirTypeIsAInteger(element) ? (int)mlirIntegerTypeGetWidth(element) : 64;
}

bool lsp_tile_of(MlirValue value, lsp_tile *out)
{
    MlirType type = mlirValueGetType(value);
    if (!mlirTypeIsARankedTensor(type)) return false;
    out->bits = bits_of(cute_tile_element(type));
    if (!mlirAttributeIsNull(mlirRankedTensorTypeGetEncoding(type)))
        return read_distribution(type, &out->distribution);

    MlirOperation owner;
    search s = {.position = position_of(skip_casts(value), &owner), .type = without_encoding(type)};
    MlirOperation function = owner;
    while (!mlirOperationIsNull(function) && !cute_op_is(function, "gpu.func"))
        function = mlirOperationGetParentOperation(function);
    if (mlirOperationIsNull(function) || !tile_is_program(function)) return false;

    MlirLocation old = mlirOperationGetLocation(owner);
    s.location = mlirLocationNameGet(mlirOperationGetContext(owner), cute_text(LOCATION_NAME), old);
    cute_op_set_location(owner, s.location);
    MlirOperation copy = mlirOperationClone(function);
    cute_op_set_location(owner, old);
    if (run_passes(copy)) cute_op_walk(copy, NULL, CUTE_WALK_OUTER_FIRST, visit_op, &s);
    mlirOperationDestroy(copy);
    out->distribution = s.out;
    return s.found;
}
