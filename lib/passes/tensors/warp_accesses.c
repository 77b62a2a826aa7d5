/* See warp_accesses.h. */
#include "lib/passes/tensors/warp_accesses.h"

#include <mlir-c/BuiltinAttributes.h>
#include <mlir-c/BuiltinTypes.h>
#include <mlir-c/Dialect/LLVM.h>

#include "lib/base/list.h"
#include "lib/ir/mlir/util.h"
#include "lib/passes/tensors/lane_values.h"

/* ---- operations that access memory ---- */

static int64_t integer_attribute(MlirOperation op, const char *name)
{
    MlirAttribute a = mlirOperationGetAttributeByName(op, cute_text(name));
    return mlirAttributeIsNull(a) || !mlirAttributeIsAInteger(a) ? 0 : mlirIntegerAttrGetValueInt(a);
}

static int64_t bits_of(MlirType type)
{
    int64_t count = 1;
    if (mlirTypeIsAVector(type)) {
        for (int64_t i = 0; i < mlirShapedTypeGetRank(type); i++) count *= mlirShapedTypeGetDimSize(type, i);
        type = mlirShapedTypeGetElementType(type);
    }
    if (mlirTypeIsAInteger(type)) return count * (int64_t)mlirIntegerTypeGetWidth(type);
    if (mlirTypeIsAFloat(type)) return count * (int64_t)mlirFloatTypeGetWidth(type);
    return mlirTypeIsALLVMPointerType(type) ? 64 : 0;
}

static int64_t bytes_of_result(MlirOperation op, uint32_t *lanes)
{
    (void)lanes;
    return (bits_of(mlirValueGetType(mlirOperationGetResult(op, 0))) + 7) / 8;
}

static int64_t bytes_of_value(MlirOperation op, uint32_t *lanes)
{
    (void)lanes;
    return (bits_of(mlirValueGetType(mlirOperationGetOperand(op, 0))) + 7) / 8;
}

static int64_t bytes_of_copy(MlirOperation op, uint32_t *lanes)
{
    (void)lanes;
    return integer_attribute(op, "size");
}

/* Bytes of a row and the lanes that give the addresses of rows, for matrices of 8 rows. */
static int64_t bytes_of_row(MlirOperation op, uint32_t *lanes)
{
    int64_t matrices = integer_attribute(op, "num");
    if (!matrices) matrices = mlirOperationGetNumOperands(op) - 1;
    *lanes = matrices > 0 && matrices < 4 ? 8 * (uint32_t)matrices : 32;
    return 16;
}

static const struct {
    const char *name;
    intptr_t pointer;
    bool store;
    int64_t (*bytes)(MlirOperation op, uint32_t *lanes);
} kinds[] = {
    {"llvm.load", 0, false, bytes_of_result},
    {"llvm.store", 1, true, bytes_of_value},
    {"nvvm.cp.async.shared.global", 0, true, bytes_of_copy},
    {"nvvm.cp.async.shared.global", 1, false, bytes_of_copy},
    {"nvvm.ldmatrix", 0, false, bytes_of_row},
    {"nvvm.stmatrix", 0, true, bytes_of_row},
};

/* ---- one access ---- */

typedef struct collection {
    cute_arena *arena;
    cute_lane_values *warps[CUTE_ACCESS_WARPS];
    uint32_t threads; /* existing threads of the warps */
    cute_accesses *out;
    bool exhausted;
} collection;

/* Whether the thread reaches the operation, as far as conditions are known. */
static bool comes_to(cute_lane_values *values, int lane, MlirOperation op)
{
    for (MlirOperation parent; !mlirOperationIsNull(parent = mlirOperationGetParentOperation(op));
         op = parent) {
        if (!cute_op_is(parent, "scf.if")) continue;
        cute_cell c = cute_lane_value(values, mlirOperationGetOperand(parent, 0), lane);
        bool then = mlirRegionEqual(mlirBlockGetParentRegion(mlirOperationGetBlock(op)),
                                    mlirOperationGetRegion(parent, 0));
        if (c.known && !c.root && (c.value != 0) != then) return false;
    }
    return true;
}

static void fill_addresses(collection *c, MlirOperation op, MlirValue pointer, uint32_t lanes, cute_access *a)
{
    a->known = true;
    for (uint32_t thread = 0; thread < c->threads; thread++) {
        uint32_t lane = thread % CUTE_REQUEST_LANES;
        cute_lane_values *values = c->warps[thread / CUTE_REQUEST_LANES];
        if (lane == 0) a->requests[a->count++] = (cute_request){.bytes = a->bytes, .load = a->plain_load};
        if (lane >= lanes || !comes_to(values, (int)lane, op)) continue;
        cute_cell cell = cute_lane_value(values, pointer, (int)lane);
        if (!cell.known || !cell.root || (a->root && a->root != cell.root)) a->known = false;
        cute_request *r = &a->requests[a->count - 1];
        a->root = cell.root;
        r->lane[r->count] = (uint8_t)lane;
        r->address[r->count++] = (uint64_t)cell.value;
    }
    if (!a->root) a->known = false;
}

static void collect_access(MlirOperation op, void *context)
{
    collection *c = context;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        if (!cute_op_is(op, kinds[i].name)) continue;
        MlirValue pointer = mlirOperationGetOperand(op, kinds[i].pointer);
        MlirType type = mlirValueGetType(pointer);
        unsigned space = mlirTypeIsALLVMPointerType(type) ? mlirLLVMPointerTypeGetAddressSpace(type) : 0;
        if (space != 1 && space != 3) continue;
        uint32_t lanes = CUTE_REQUEST_LANES;
        int64_t bytes = kinds[i].bytes(op, &lanes);
        if (bytes < 1 || bytes > 16) continue;
        if (!cute_arena_more(c->arena, &c->out->items, c->out->count, &c->out->capacity,
                             sizeof *c->out->items, 64)) {
            c->exhausted = true;
            return;
        }
        cute_access *a = &c->out->items[c->out->count++];
        *a = (cute_access){.location = mlirOperationGetLocation(op),
                           .store = kinds[i].store,
                           .space = space == 1 ? CUTE_SPACE_GMEM : CUTE_SPACE_SMEM,
                           .bytes = (uint32_t)bytes,
                           .plain_load = cute_op_is(op, "llvm.load")};
        fill_addresses(c, op, pointer, lanes, a);
    }
}

/* ---- all of a function ---- */

/* Extents of the blocks of a kernel; zeros if not stated. */
static void block_extents(MlirOperation function, int64_t out[3])
{
    static const char *const names[] = {"known_block_size", "gpu.known_block_size", "nvvm.reqntid",
                                        "nvvm.maxntid"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        MlirAttribute a = mlirOperationGetAttributeByName(function, cute_text(names[i]));
        if (mlirAttributeIsNull(a) || !mlirAttributeIsADenseI32Array(a)) continue;
        intptr_t count = mlirDenseArrayGetNumElements(a);
        for (intptr_t k = 0; k < 3; k++) out[k] = k < count ? mlirDenseI32ArrayGetElement(a, k) : 1;
        return;
    }
}

cute_status cute_accesses_of(cute_arena *arena, MlirOperation function, cute_accesses *out)
{
    enum { MOST = CUTE_ACCESS_WARPS * CUTE_REQUEST_LANES };
    int64_t block[3] = {0}, threads = MOST;
    collection c = {.arena = arena, .out = out};
    *out = (cute_accesses){0};
    block_extents(function, block);
    if (block[0] > 0 && block[0] <= MOST && block[1] <= MOST && block[2] <= MOST)
        threads = block[0] * (block[1] > 0 ? block[1] : 1) * (block[2] > 0 ? block[2] : 1);
    c.threads = threads < MOST ? (uint32_t)threads : MOST;
    for (int i = 0; i < CUTE_ACCESS_WARPS && !c.exhausted; i++)
        c.exhausted = !(c.warps[i] = cute_lane_values_create(i, block));
    if (!c.exhausted) cute_op_walk(function, NULL, CUTE_WALK_OUTER_FIRST, collect_access, &c);
    for (int i = 0; i < CUTE_ACCESS_WARPS; i++) cute_lane_values_destroy(c.warps[i]);
    return c.exhausted ? CUTE_SYSTEM : CUTE_OK;
}

/* ---- a lowered copy ---- */

MlirOperation cute_lowered_clone(cute_pass_run *pass, MlirOperation root,
                                 bool (*prepare)(MlirOperation clone, void *context), void *context)
{
    static const char steps[] =
        "cute-fold-static,cute-expand-ops,cute-nvgpu-copy-lowering,cute-nvgpu-mma-lowering";
    MlirOperation clone = mlirOperationClone(root);
    MlirContext c = mlirOperationGetContext(root);
    mlirBlockAppendOwnedOperation(mlirRegionGetFirstBlock(mlirOperationGetRegion(root, 0)), clone);
    MlirDiagnosticHandlerID quiet = cute_discard_diagnostics(c);
    bool ok = (!prepare || prepare(clone, context)) && mlirOperationVerify(clone) &&
              cute_pass_run_pipeline(pass, steps, clone);
    mlirContextDetachDiagnosticHandler(c, quiet);
    if (ok) return clone;
    mlirOperationDestroy(clone);
    return (MlirOperation){NULL};
}
