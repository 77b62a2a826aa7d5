/* cute-tile-slices: blocks of a cluster that divide the k of a tile become slices of one block (sliced-k, as in CUTLASS' threadblock-scoped
 * products).
 *
 * Requires: cute-tile-launch; a kernel whose schedule has slices=N, in clusters of a multiple of N blocks, without roles (cute-tile-cluster,
 * cute-tile-distribute). Ensures: N blocks that follow one another in a cluster are one block of N times the threads and shared memory: its thread
 * (x, y) is thread x of the y-th of them. A multiprocessor then has as many more warps, which wait for each other only behind the loop, and a
 * cluster as many fewer blocks.
 *
 *     gpu.launch_func @k clusters in (4, 1, 1) blocks in (%n, 1, 1) threads in (128, 1, 1) dynamic_shared_memory_size 4096
 *     gpu.func @k kernel { %b = nvvm.read.ptx.sreg.ctaid.x   %s = get_dyn_smem   gpu.barrier   st_async(%v, %p, %m, %rank) }
 * ->                                                                                                                   (N = 2)
 *     gpu.launch_func @k clusters in (2, 1, 1) blocks in (%n / 2, 1, 1) threads in (128, 2, 1) dynamic_shared_memory_size 8192
 *     gpu.func @k kernel { %b = ctaid.x * 2 + tid.y   %s = get_dyn_smem + 4096 * tid.y   named_barrier_sync(tid.y + 1, 128)
 *                          st_async(%v, %p + 4096 * (%rank % 2 - tid.y), %m + ..., %rank / 2) }
 */
#include <mlir-c/BuiltinAttributes.h>
#include <mlir-c/BuiltinTypes.h>
#include <stdio.h>

#include "lib/base/devices/multiprocessor.h"
#include "lib/ir/dialects/types.h"
#include "lib/ir/mlir/arith.h"
#include "lib/ir/mlir/util.h"
#include "lib/passes/host/launches.h"
#include "lib/passes/passes.h"
#include "lib/passes/tiles/schedule.h"

typedef struct slices {
    MlirOperation kernel;
    int64_t count;
    int64_t threads, bytes; /* of a slice; of shared memory */
    int64_t cluster;        /* blocks of a cluster, once slices are one */
    MlirValue own, barrier; /* the thread's slice, and the number of its barrier */
} slices;

static MlirValue i32(const cute_builder *b, int64_t value)
{
    return cute_build_constant(b, 32, value);
}

/* ---- the kernel ---- */

static void find_own(slices *s)
{
    cute_builder b = cute_builder_at_start(mlirRegionGetFirstBlock(mlirOperationGetRegion(s->kernel, 0)),
                                           mlirOperationGetLocation(s->kernel));
    MlirType type = mlirIntegerTypeGet(b.context, 32);
    MlirValue y = cute_build_value(&b, "nvvm.read.ptx.sreg.tid.y", type, CUTE_NO_OPERANDS, CUTE_NO_NAMED);
    s->own = cute_build_value(&b, "cute_nvgpu.arch.make_warp_uniform", type, CUTE_OPERANDS(y), CUTE_NO_NAMED);
    s->barrier = cute_binary(&b, "arith.addi", s->own, i32(&b, 1));
}

static void number_block(MlirOperation op, void *context)
{
    const slices *s = context;
    cute_builder b = cute_builder_before(mlirOperationGetNextInBlock(op));
    MlirValue block = mlirOperationGetResult(op, 0),
              all = cute_binary(&b, "arith.muli", block, i32(&b, s->count)),
              number = cute_binary(&b, "arith.addi", all, s->own);
    mlirValueReplaceAllUsesOfWith(block, number);
    mlirOperationSetOperand(cute_defining_op(all), 0, block);
}

static void meet_own_threads(MlirOperation op, void *context)
{
    const slices *s = context;
    cute_builder b = cute_builder_before(op);
    cute_build(&b, "cute_nvgpu.arch.named_barrier_sync", CUTE_OPERANDS(s->barrier, i32(&b, s->threads)),
               CUTE_NO_TYPES, CUTE_NO_NAMED);
    mlirOperationDestroy(op);
}

static void vote_of_own_threads(MlirOperation op, void *context)
{
    const slices *s = context;
    mlirOperationSetOperand(op, 0, s->barrier);
}

/* `pointer`, moved by the shared memory of so many slices. */
static MlirValue moved(const cute_builder *b, const slices *s, MlirValue pointer, MlirValue by)
{
    MlirType type = mlirValueGetType(pointer);
    int64_t elements = s->bytes * 8 / cute_type_peek(type)->pointer->bits;
    char text[64];
    snprintf(text, sizeof text, "!cute.int_tuple<\"?{div=%lld}\">", (long long)elements);
    MlirValue all = cute_binary(b, "arith.muli", by, i32(b, elements)),
              tuple =
                  cute_build_value(b, "cute.make_int_tuple", mlirTypeParseGet(b->context, cute_text(text)),
                                   CUTE_OPERANDS(all), CUTE_NO_NAMED);
    return cute_build_value(b, "cute.add_offset", type, CUTE_OPERANDS(pointer, tuple), CUTE_NO_NAMED);
}

static void take_own_memory(MlirOperation op, void *context)
{
    const slices *s = context;
    cute_builder b = cute_builder_before(mlirOperationGetNextInBlock(op));
    MlirValue base = mlirOperationGetResult(op, 0), own = moved(&b, s, base, s->own);
    mlirValueReplaceAllUsesOfWith(base, own);
    mlirOperationSetOperand(cute_defining_op(own), 0, base);
}

/* To the memory of slice `rank` of the cluster. */
static void send_to_slice(MlirOperation op, void *context)
{
    enum { ADDRESS = 1, MBARRIER, RANK };
    const slices *s = context;
    cute_builder b = cute_builder_before(op);
    MlirValue rank = mlirOperationGetOperand(op, RANK), count = i32(&b, s->count),
              slice = cute_binary(&b, "arith.remui", rank, count),
              by = cute_binary(&b, "arith.subi", slice, s->own);
    for (intptr_t i = ADDRESS; i <= MBARRIER; i++)
        mlirOperationSetOperand(op, i, moved(&b, s, mlirOperationGetOperand(op, i), by));
    mlirOperationSetOperand(op, RANK, cute_binary(&b, "arith.divui", rank, count));
}

/* A cluster of one block has no barrier of its own. */
static void meet_whole_block(MlirOperation op, void *context)
{
    (void)context;
    cute_builder b = cute_builder_before(op);
    if (cute_op_is(op, "cute_nvgpu.arch.cluster_wait"))
        cute_build(&b, "gpu.barrier", CUTE_NO_OPERANDS, CUTE_NO_TYPES, CUTE_NO_NAMED);
    mlirOperationDestroy(op);
}

static void set_numbers(MlirOperation op, const char *name, int64_t x, int64_t y)
{
    int32_t numbers[3] = {(int32_t)x, (int32_t)y, 1};
    mlirOperationSetAttributeByName(op, cute_text(name),
                                    mlirDenseI32ArrayGet(mlirOperationGetContext(op), 3, numbers));
}

static void merge_blocks(slices *s)
{
    static const struct {
        const char *name;
        void (*rewrite)(MlirOperation op, void *context);
        bool alone; /* where a cluster is one block */
    } rewrites[] = {{"nvvm.read.ptx.sreg.ctaid.x", number_block, false},
                    {"gpu.barrier", meet_own_threads, false},
                    {"cute_nvgpu.arch.named_barrier_vote", vote_of_own_threads, false},
                    {"cute_nvgpu.arch.get_dyn_smem", take_own_memory, false},
                    {"cute_nvgpu.arch.st_async", send_to_slice, false},
                    {"cute_nvgpu.arch.cluster_arrive", meet_whole_block, true},
                    {"cute_nvgpu.arch.cluster_wait", meet_whole_block, true}};
    find_own(s);
    for (size_t i = 0; i < sizeof rewrites / sizeof *rewrites; i++)
        if (!rewrites[i].alone || s->cluster == 1)
            cute_op_walk(s->kernel, rewrites[i].name, CUTE_WALK_OUTER_FIRST, rewrites[i].rewrite, s);
    MlirType type = mlirIntegerTypeGet(mlirOperationGetContext(s->kernel), 32);
    mlirOperationSetAttributeByName(s->kernel, cute_text("cute.shared_bytes"),
                                    mlirIntegerAttrGet(type, s->bytes * s->count));
    set_numbers(s->kernel, "nvvm.reqntid", s->threads, s->count);
    set_numbers(s->kernel, "nvvm.cluster_dim", s->cluster, 1);
}

/* ---- its launches ---- */

static void merge_launch(MlirOperation op, void *context)
{
    enum { GRID = CUTE_LAUNCH_GRID, CLUSTER = CUTE_LAUNCH_CLUSTER, DYNAMIC = CUTE_LAUNCH_DYNAMIC };
    const slices *s = context;
    intptr_t start[CUTE_LAUNCH_GROUPS];
    if (!cute_op_is(op, "gpu.launch_func")) return;
    cute_launch_groups(op, start);
    cute_builder b = cute_builder_before(op);
    MlirValue blocks = mlirOperationGetOperand(op, start[GRID]);
    MlirType type = mlirValueGetType(blocks);
    MlirValue count = cute_integer(&b, type, s->count);
    mlirOperationSetOperand(op, start[GRID], cute_binary(&b, "arith.divui", blocks, count));
    mlirOperationSetOperand(op, start[CUTE_LAUNCH_BLOCK + 1], count);
    if (start[DYNAMIC] > start[CLUSTER])
        mlirOperationSetOperand(op, start[CLUSTER], cute_integer(&b, type, s->cluster));
    if (start[DYNAMIC + 1] > start[DYNAMIC])
        mlirOperationSetOperand(op, start[DYNAMIC], i32(&b, s->bytes * s->count));
}

/* ---- the pass ---- */

typedef struct work {
    MlirOperation root;
    cute_launches *launches; /* indexed for the first kernel with slices */
    bool changed, failed;
} work;

static void visit_kernel(MlirOperation kernel, void *context)
{
    work *w = context;
    tile_schedule schedule;
    tile_schedule_of(kernel, &schedule);
    MlirAttribute cluster = mlirOperationGetAttributeByName(kernel, cute_text("nvvm.cluster_dim")),
                  block = mlirOperationGetAttributeByName(kernel, cute_text("nvvm.reqntid"));
    bool lowered = cute_op_has(kernel, "cute.shared_bytes") && !mlirAttributeIsNull(cluster) &&
                   !mlirAttributeIsNull(block) && mlirDenseI32ArrayGetElement(block, 1) == 1;
    if (w->failed || schedule.slices < 2 || !lowered) return;
    slices s = {.kernel = kernel,
                .count = schedule.slices,
                .threads = tile_block_size(kernel),
                .bytes = tile_slice_bytes(&schedule, cute_tile_number(kernel, "cute.shared_bytes", 0)),
                .cluster = mlirDenseI32ArrayGetElement(cluster, 0) / schedule.slices};
    if (s.threads % CUTE_SM_WARP || s.threads * s.count > CUTE_SM_BLOCK_THREADS) {
        char text[160];
        snprintf(text, sizeof text,
                 "expected slices of whole warps, at most %d threads in all, got %lld slices of %lld threads",
                 CUTE_SM_BLOCK_THREADS, (long long)s.count, (long long)s.threads);
        cute_emit_error(mlirOperationGetLocation(kernel), text);
        w->failed = true;
        return;
    }
    if (!w->launches && !(w->launches = cute_launches_create(w->root))) {
        w->failed = true;
        return;
    }
    merge_blocks(&s);
    cute_launches_each(w->launches, kernel, merge_launch, &s);
    w->changed = true;
}

static void run_tile_slices(MlirOperation root, cute_pass_run *pass)
{
    work w = {.root = root};
    cute_op_walk(root, "gpu.func", CUTE_WALK_OUTER_FIRST, visit_kernel, &w);
    if (w.launches) cute_launches_destroy(w.launches);
    cute_pass_end(pass, w.failed, w.changed);
}

const cute_pass cute_pass_tile_slices = {
    .name = "cute-tile-slices",
    .help = "Make blocks of a cluster that divide the k of a tile slices of one block",
    .anchor = "builtin.module",
    .dialects = CUTE_DIALECT_CUTE | CUTE_DIALECT_CUTE_NVGPU | CUTE_DIALECT_ARITH | CUTE_DIALECT_GPU |
                CUTE_DIALECT_NVVM,
    .run = run_tile_slices,
};
