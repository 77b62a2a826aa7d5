/* cute-tile-fit: schedules of tile programs that fit a multiprocessor.
 *
 * Requires: cute-tile-expand. Ensures: the schedule of each kernel with products, completed by cute-tile-schedule, leads to tiles and shared memory
 * that the architecture has; or the kernel does not fit with any of the lighter schedules, and the passes behind report that. How much memory a
 * schedule takes is known exactly when it has been applied, so the passes up to cute-tile-distribute run on a copy first; where that does not fit,
 * the kernel states the next lighter schedule, and a remark tells why.
 *
 *     gpu.func @gemm(...) kernel attributes {cute.schedule = "stages=6 consumers=2"} { ... }          // would need 295 KB
 * ->
 *     gpu.func @gemm(...) kernel attributes {cute.schedule = "stages=4 consumers=2 ..."} { ... }
 */
#include <mlir-c/BuiltinAttributes.h>
#include <stdio.h>
#include <stdlib.h>

#include "lib/base/devices/multiprocessor.h"
#include "lib/base/list.h"
#include "lib/ir/mlir/util.h"
#include "lib/ir/ops/tile.h"
#include "lib/passes/devices/target.h"
#include "lib/passes/tiles/describe_schedule.h"
#include "lib/passes/tiles/schedule.h"

enum { ARCH, SCHEDULE };
enum { MOST_TRIALS = 64 }; /* above the length of all ways to be lighter */
static const cute_pass_option options[] = {
    {"arch", CUTE_PASS_TEXT, "Architecture, such as sm_90a", 0, ""},
    {"schedule", CUTE_PASS_TEXT, "As of cute-tile-schedule", 0, ""},
};

/* ---- lighter schedules ---- */

static bool has_fewer_stages(tile_schedule *s)
{
    if (s->stages <= 2) return false;
    s->stages--;
    return true;
}

static bool shares_each_tile(tile_schedule *s)
{
    bool turns = s->turns;
    s->turns = 0;
    return turns;
}

static bool has_fewer_slices(tile_schedule *s)
{
    if (s->slices == 1) return false;
    s->slices /= 2;
    return true;
}

static bool splits_less(tile_schedule *s)
{
    if (s->split == 1) return false;
    s->split /= 2;
    return true;
}

static bool is_not_resident(tile_schedule *s)
{
    bool resident = s->persistent;
    s->persistent = s->tail = 0;
    return resident;
}

static bool loads_nothing_ahead(tile_schedule *s)
{
    bool ahead = s->stages > 1;
    s->stages = 1;
    return ahead;
}

static bool computes_factors_with_products(tile_schedule *s)
{
    bool apart = s->factors;
    s->factors = 0;
    tile_schedule_state(s, "factors");
    return apart;
}

static bool has_more_consumers(tile_schedule *s)
{
    enum { MOST = 4 };
    if (!s->consumers || s->turns || s->consumers == MOST) return false;
    s->consumers++;
    return true;
}

static bool has_more_threads(tile_schedule *s)
{
    enum { LEAST = 256, MOST = 1024 };
    if (s->threads >= MOST) return false;
    s->threads = s->consumers || s->threads < LEAST ? LEAST : 2 * s->threads;
    s->consumers = 0;
    return true;
}

/* In the order in which they are tried. False: the schedule cannot be lighter that way. */
typedef bool (*lighter)(tile_schedule *s);
static const lighter for_memory[] = {has_fewer_stages,    computes_factors_with_products,
                                     shares_each_tile,    has_fewer_slices,
                                     splits_less,         is_not_resident,
                                     loads_nothing_ahead, NULL},
                     for_registers[] = {has_fewer_slices, computes_factors_with_products,
                                        shares_each_tile, has_more_consumers,
                                        has_more_threads, NULL};

static bool make_lighter(const lighter *ways, tile_schedule *s)
{
    for (; *ways; ways++)
        if ((*ways)(s)) return true;
    return false;
}

/* ---- the trial ---- */

typedef struct kernels {
    MlirOperation *items;
    size_t count, capacity;
    bool failed;
} kernels;

static void collect_kernel(MlirOperation function, void *context)
{
    kernels *all = context;
    if (all->failed) return;
    all->failed = !cute_heap_more(&all->items, all->count, &all->capacity, sizeof *all->items, 8);
    if (all->failed) return;
    all->items[all->count++] = function;
}

static kernels kernels_of(MlirOperation root)
{
    kernels all = {0};
    cute_op_walk(root, "gpu.func", CUTE_WALK_OUTER_FIRST, collect_kernel, &all);
    return all;
}

typedef struct trial {
    cute_pass_run *pass;
    const cute_arch *arch;
    int64_t limit; /* bytes of shared memory of a block */
    bool changed, lighter;
} trial;

/* Compares a kernel with its copy that the passes have lowered, or have refused to. */
static void judge(trial *t, MlirOperation kernel, MlirOperation copy)
{
    int64_t bytes = cute_tile_number(copy, "cute.shared_bytes", 0);
    bool crowded = cute_op_has(copy, TILE_CROWDED);
    tile_schedule s;
    tile_schedule_of(copy, &s);
    /* Roles that divide the operations do not fit each program. */
    if (s.factors && !crowded && !cute_op_has(copy, "cute.shared_bytes")) {
        tile_give_up_factors(copy, "a warpgroup of its own cannot compute the factor");
        crowded = true;
    }
    int slices = s.slices;
    int64_t threads = tile_block_size(copy), share = tile_slice_share(&s, t->limit);
    bool many = threads * slices > CUTE_SM_BLOCK_THREADS;
    if (bytes <= share && !crowded && !many) return;
    if (!make_lighter(crowded || many ? for_registers : for_memory, &s)) return;
    char why[160] = "a thread has too few registers for its part of a tile";
    MlirStringRef other = cute_tile_word(copy, TILE_CROWDED);
    if (other.length) snprintf(why, sizeof why, "%.*s", (int)other.length, other.data);
    if (many)
        snprintf(why, sizeof why, "%d slices of %lld threads are more than the %d of a block", slices,
                 (long long)threads, CUTE_SM_BLOCK_THREADS);
    else if (!crowded)
        snprintf(why, sizeof why, "it takes %lld bytes of shared memory per %s, %s has %lld",
                 (long long)bytes, slices > 1 ? "slice of a block" : "block", t->arch->name,
                 (long long)share);
    MlirStringRef before = cute_tile_word(copy, TILE_SCHEDULE);
    char text[256];
    snprintf(text, sizeof text, "%.*s", (int)before.length, before.data);
    tile_schedule_set(kernel, &s);
    MlirStringRef after = cute_tile_word(kernel, TILE_SCHEDULE);
    tile_refuse(t->pass, kernel, "the schedule '%s' does not fit, %s: instead '%.*s'", text, why,
                (int)after.length, after.data);
    t->changed = t->lighter = true;
}

static bool is_scheduled_later(MlirOperation kernel)
{
    return tile_is_program(kernel) && !tile_is_naive(kernel) &&
           !mlirOperationIsNull(tile_find_op(kernel, "cute.tile.gemm")) && !tile_schedule_is_applied(kernel);
}

/* Lowers a copy of the module. True: a kernel has a lighter schedule now. */
static bool try_once(trial *t, MlirOperation root, const kernels *all, const char *steps)
{
    MlirOperation copy = mlirOperationClone(root);
    mlirBlockAppendOwnedOperation(mlirRegionGetFirstBlock(mlirOperationGetRegion(root, 0)), copy);
    MlirDiagnosticHandlerID quiet = cute_discard_diagnostics(mlirOperationGetContext(root));
    cute_pass_run_pipeline(t->pass, steps, copy);
    mlirContextDetachDiagnosticHandler(mlirOperationGetContext(root), quiet);
    kernels copies = kernels_of(copy);
    t->lighter = false;
    for (size_t i = 0; i < all->count && copies.count == all->count && !copies.failed; i++)
        if (is_scheduled_later(all->items[i])) judge(t, all->items[i], copies.items[i]);
    free(copies.items);
    mlirOperationDestroy(copy);
    return t->lighter;
}

static void run_tile_fit(MlirOperation root, cute_pass_run *pass)
{
    trial t = {.pass = pass};
    if (!cute_pass_arch(pass, ARCH, root, &t.arch)) return;
    const cute_multiprocessor *limits = t.arch ? cute_multiprocessor_of(t.arch->number) : NULL;
    MlirStringRef schedule = cute_pass_text(pass, SCHEDULE);
    kernels all = kernels_of(root);
    bool any = false;
    for (size_t i = 0; i < all.count; i++) any |= is_scheduled_later(all.items[i]);
    if (limits && any && !all.failed && !cute_text_is(schedule, "naive")) {
        t.limit = limits->block_shared;
        cute_buffer steps = {0};
        cute_tile_pipeline(t.arch, schedule, &steps);
        for (int i = 0; i < MOST_TRIALS && cute_buffer_ok(&steps); i++)
            if (!try_once(&t, root, &all, cute_buffer_text(&steps))) break;
        cute_buffer_release(&steps);
    }
    free(all.items);
    cute_pass_end(pass, all.failed, t.changed);
}

const cute_pass cute_pass_tile_fit = {
    .name = "cute-tile-fit",
    .help = "Replace schedules of tile programs that need more memory or registers than there are",
    .options = options,
    .option_count = sizeof options / sizeof *options,
    /* Those of the passes that run on the copy. */
    .dialects = CUTE_DIALECT_CUTE | CUTE_DIALECT_CUTE_NVGPU | CUTE_DIALECT_ARITH | CUTE_DIALECT_GPU |
                CUTE_DIALECT_LLVM | CUTE_DIALECT_MATH | CUTE_DIALECT_NVVM | CUTE_DIALECT_SCF |
                CUTE_DIALECT_VECTOR,
    .run = run_tile_fit,
};
