/* Resources that an asynchronous kernel requests, where stated (async.h): threads, clusters, shared
 * memory. */
#include <mlir-c/BuiltinAttributes.h>

#include "lib/base/devices/multiprocessor.h"
#include "lib/ir/dialects/types.h"
#include "lib/ir/mlir/util.h"
#include "lib/passes/checks/async.h"
#include "lib/passes/tensors/shared_memory.h"

/* ---- launches ---- */

/* Parses `name = array<i32: 128, 1, 1>`. */
static bool read_extents(MlirOperation op, const char *name, int64_t *out)
{
    MlirAttribute a = mlirOperationGetAttributeByName(op, cute_text(name));
    if (mlirAttributeIsNull(a) || !mlirAttributeIsADenseI32Array(a)) return false;
    intptr_t count = mlirDenseArrayGetNumElements(a);
    if (count < 1 || count > 3) return false;
    for (intptr_t i = 0; i < 3; i++) out[i] = i < count ? mlirDenseI32ArrayGetElement(a, i) : 1;
    return true;
}

static bool constant_value(MlirValue value, int64_t *out)
{
    for (int steps = 0; steps < 8; steps++) {
        MlirOperation op = cute_defining_op(value);
        if (mlirOperationIsNull(op)) return false;
        if (cute_op_is(op, "arith.constant")) {
            MlirAttribute a = mlirOperationGetAttributeByName(op, cute_text("value"));
            if (mlirAttributeIsNull(a) || !mlirAttributeIsAInteger(a)) return false;
            return *out = mlirIntegerAttrGetValueInt(a), true;
        }
        if (!cute_op_is(op, "arith.index_cast") && !cute_op_is(op, "arith.extsi") &&
            !cute_op_is(op, "arith.extui"))
            return false;
        value = mlirOperationGetOperand(op, 0);
    }
    return false;
}

typedef struct search {
    async_launch *out;
    int count;
} search;

/* Three operands of the group at `group` of operandSegmentSizes. */
static bool launch_three(MlirOperation op, MlirAttribute sizes, intptr_t group, int64_t *out)
{
    intptr_t start[CUTE_LAUNCH_GROUPS];
    cute_launch_groups(op, start);
    for (int i = 0; i < 3; i++)
        if (mlirDenseI32ArrayGetElement(sizes, group + i) != 1 ||
            !constant_value(mlirOperationGetOperand(op, start[group] + i), &out[i])) {
            out[0] = 0;
            return false;
        }
    return true;
}

static void see_launch(MlirOperation op, void *context)
{
    search *s = context;
    MlirAttribute sizes = mlirOperationGetAttributeByName(op, cute_text("operandSegmentSizes"));
    if (mlirAttributeIsNull(sizes) || !mlirAttributeIsADenseI32Array(sizes) ||
        mlirDenseArrayGetNumElements(sizes) != CUTE_LAUNCH_GROUPS)
        return; /* a launch of the dialect cuda */
    async_launch *l = s->out;
    if (s->count++) { /* launches may differ */
        l->grid[0] = 0;
        l->dynamic = -1;
        return;
    }
    l->launch = op;
    launch_three(op, sizes, CUTE_LAUNCH_GRID, l->grid);
    if (l->block[0] == 0) launch_three(op, sizes, CUTE_LAUNCH_BLOCK, l->block);
    if (l->cluster[0] == 0 && mlirDenseI32ArrayGetElement(sizes, CUTE_LAUNCH_CLUSTER))
        launch_three(op, sizes, CUTE_LAUNCH_CLUSTER, l->cluster);
    if (!mlirDenseI32ArrayGetElement(sizes, CUTE_LAUNCH_DYNAMIC)) {
        l->dynamic = 0;
        return;
    }
    intptr_t at = 0;
    for (intptr_t i = 0; i < CUTE_LAUNCH_DYNAMIC; i++) at += mlirDenseI32ArrayGetElement(sizes, i);
    if (!constant_value(mlirOperationGetOperand(op, at), &l->dynamic)) l->dynamic = -1;
}

async_launch async_launch_of(const cute_launches *launches, MlirOperation kernel)
{
    async_launch l = {.dynamic = -1};
    if (!read_extents(kernel, "nvvm.reqntid", l.block) &&
        !read_extents(kernel, "known_block_size", l.block) &&
        !read_extents(kernel, "gpu.known_block_size", l.block))
        read_extents(kernel, "nvvm.maxntid", l.block);
    if (!read_extents(kernel, "nvvm.cluster_dim", l.cluster))
        read_extents(kernel, "known_cluster_size", l.cluster);
    search s = {.out = &l};
    cute_launches_each(launches, kernel, see_launch, &s);
    return l;
}

/* ---- checks ---- */

typedef struct shared {
    int64_t bytes; /* INT64_MAX: overflow */
    MlirOperation last;
} shared;

static void add_shared(MlirOperation op, void *context)
{
    shared *s = context;
    const cute_value *tensor = cute_type_peek(mlirValueGetType(mlirOperationGetResult(op, 0)));
    if (!tensor || tensor->type != CUTE_MEMREF || tensor->pointer->space != CUTE_SPACE_SMEM) return;
    cute_arena *arena = cute_arena_create();
    int64_t bytes, align;
    if (arena && cute_shared_size(arena, tensor, &bytes, &align, NULL) == CUTE_OK) {
        if (__builtin_add_overflow(s->bytes, bytes, &s->bytes)) s->bytes = INT64_MAX;
        s->last = op;
    }
    cute_arena_destroy(arena);
}

static void check_shared(MlirOperation kernel, const async_launch *l, const cute_arch *arch,
                         async_report *report)
{
    const cute_multiprocessor *has = arch ? cute_multiprocessor_of(arch->number) : NULL;
    int64_t limit = has ? has->block_shared : 0, sum;
    shared s = {0};
    cute_op_each(kernel, "cute.memref.alloca", add_shared, &s);
    if (!limit || l->dynamic < 0) return;
    if (__builtin_add_overflow(s.bytes, l->dynamic, &sum)) sum = INT64_MAX;
    if (sum <= limit) return;
    async_finding f = async_find(
        ASYNC_RESOURCES, mlirOperationIsNull(l->launch) ? kernel : l->launch,
        "uses %lld bytes of shared memory per block, %s has %lld: expected fewer stages or smaller tiles",
        (long long)sum, arch->name, (long long)limit);
    async_note(&f, kernel, "%lld bytes are dynamic, %lld static", (long long)l->dynamic, (long long)s.bytes);
    async_tell(report, &f);
}

static bool extent_product(const int64_t *extent, int64_t *out)
{
    return !__builtin_mul_overflow(extent[0], extent[1], out) &&
           !__builtin_mul_overflow(*out, extent[2], out);
}

static void check_cluster(MlirOperation kernel, const async_launch *l, async_report *report)
{
    int64_t blocks;
    if (!l->cluster[0] && !l->cluster[1] && !l->cluster[2]) return;
    async_finding f;
    if (l->cluster[0] <= 0 || l->cluster[1] <= 0 || l->cluster[2] <= 0) {
        f = async_find(ASYNC_RESOURCES, kernel,
                       "has clusters of (%lld,%lld,%lld) blocks: expected 1 or more along each axis",
                       (long long)l->cluster[0], (long long)l->cluster[1], (long long)l->cluster[2]);
        async_tell(report, &f);
        return;
    }
    if (!extent_product(l->cluster, &blocks) || blocks > 16) {
        f = async_find(
            ASYNC_RESOURCES, kernel,
            "has clusters of (%lld,%lld,%lld) blocks: expected at most 8, or 16 if the launch allows it",
            (long long)l->cluster[0], (long long)l->cluster[1], (long long)l->cluster[2]);
        async_tell(report, &f);
        return;
    }
    if (blocks > 8) {
        f = async_find(ASYNC_CLUSTER, kernel,
                       "has clusters of %lld blocks: only 8 are portable, and the launch must allow more",
                       (long long)blocks);
        async_tell(report, &f);
    }
    for (int i = 0; i < 3 && l->grid[0] > 0; i++) {
        if (l->grid[i] % l->cluster[i] == 0) continue;
        f = async_find(ASYNC_RESOURCES, mlirOperationIsNull(l->launch) ? kernel : l->launch,
                       "has a grid of (%lld,%lld,%lld) blocks, which is not a multiple of the clusters of "
                       "(%lld,%lld,%lld)",
                       (long long)l->grid[0], (long long)l->grid[1], (long long)l->grid[2],
                       (long long)l->cluster[0], (long long)l->cluster[1], (long long)l->cluster[2]);
        async_tell(report, &f);
        return;
    }
}

static void check_block(const async_launch *l, const async_program *p, MlirOperation kernel,
                        async_report *report)
{
    int64_t threads;
    if (l->block[0] <= 0) return;
    async_finding f;
    if (!extent_product(l->block, &threads) || threads > 1024 || threads < 1) {
        f = async_find(ASYNC_RESOURCES, kernel,
                       "has blocks of (%lld,%lld,%lld) threads: expected at most 1024",
                       (long long)l->block[0], (long long)l->block[1], (long long)l->block[2]);
        async_tell(report, &f);
        return;
    }
    if (p->wgmma && threads % 128) {
        f = async_find(ASYNC_RESOURCES, p->first_wgmma,
                       "is an operation of the 128 threads of a warpgroup, but the block has %lld: expected "
                       "a multiple of 128",
                       (long long)threads);
        async_tell(report, &f);
    }
}

/* Checks the register count of setmaxnreg, which the ISA restricts. */
static void check_number(MlirOperation op, const char *name, async_report *report)
{
    MlirAttribute a = mlirOperationGetAttributeByName(op, cute_text(name));
    if (mlirAttributeIsNull(a) || !mlirAttributeIsAInteger(a)) return;
    int64_t n = mlirIntegerAttrGetValueInt(a);
    if (n >= 24 && n <= 256 && n % 8 == 0) return;
    async_finding f = async_find(ASYNC_REGISTERS, op,
                                 "expected a multiple of 8 from 24 to 256 registers, got %lld", (long long)n);
    async_tell(report, &f);
}

static void see_registers(MlirOperation op, void *context)
{
    check_number(op, "regCount", context);
}

void async_check_resources(MlirOperation kernel, const async_launch *l, const cute_arch *arch,
                           const async_program *p, async_report *report)
{
    cute_op_each(kernel, "nvvm.setmaxregister", see_registers, report);
    check_cluster(kernel, l, report);
    if (!p->interesting) return;
    check_block(l, p, kernel, report);
    check_shared(kernel, l, arch, report);
}
