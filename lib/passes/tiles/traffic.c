/* Candidate block sizes of tile programs without products, and their estimated times (schedule.h). The bytes of a block follow from its
 * loads and stores, the number of blocks from the stated or known sizes, else from usual ones. */
#include <mlir-c/BuiltinAttributes.h>
#include <mlir-c/BuiltinTypes.h>

#include "lib/base/sort.h"
#include "lib/ir/dialects/types.h"
#include "lib/ir/mlir/util.h"
#include "lib/passes/tiles/schedule.h"

enum { LEAST = 32, MOST = 1024, WARP = 32, COUNT = 8, USUAL = 4096 };

/* ---- the usual number ---- */

/* Elements of the largest tile, and registers of 32 bits, of all threads, for the tiles that are loaded: these are alive at the same time. */
typedef struct needs {
    int64_t elements, bits;
} needs;

static void note_needs(MlirOperation op, void *context)
{
    needs *n = context;
    for (intptr_t i = 0; i < mlirOperationGetNumResults(op); i++) {
        cute_tile_shape shape;
        MlirType type = mlirValueGetType(mlirOperationGetResult(op, i));
        if (!cute_tile_shape_of(type, &shape)) continue;
        if (cute_tile_size(&shape) > n->elements) n->elements = cute_tile_size(&shape);
        if (cute_op_is(op, "cute.tile.load"))
            n->bits += cute_tile_size(&shape) * cute_tile_bits(cute_tile_element(type));
    }
}

int64_t tile_usual_threads(MlirOperation function)
{
    enum { LOADED = 96 /* registers of a thread for loaded values */ };
    needs n = {1, 0};
    int64_t threads = 32;
    cute_op_walk(function, NULL, CUTE_WALK_OUTER_FIRST, note_needs, &n);
    while (threads < 256 && threads * 16 < n.elements) threads *= 2;
    while (threads < 1024 && threads * 64 < n.elements) threads *= 2;
    while (threads < 1024 && threads * LOADED < n.bits / 32) threads *= 2;
    return threads;
}

/* ---- candidates ---- */

typedef struct traffic {
    const tile_sizes *sizes;
    MlirOperation grid; /* cute.tile.program */
    int64_t elements;   /* of the largest tile */
    int64_t loaded;     /* registers of 32 bits for loaded tiles, and for the largest tile */
    double bytes, operations, accesses, reductions, loads;
} traffic;

static void note_grid(MlirOperation op, void *context)
{
    ((traffic *)context)->grid = op;
}

static int64_t stated_or(int64_t stated)
{
    return stated ? stated : USUAL;
}

static int loops_around(MlirOperation op)
{
    int loops = 0;
    for (MlirOperation at = tile_parent(op); !cute_op_is(at, "gpu.func"); at = tile_parent(at))
        loops += cute_op_is(at, "scf.for");
    return loops;
}

/* How often an operation on `tile` is executed: each loop is over columns, as many as the tile has at a time. */
static double times(const traffic *t, MlirOperation op, const cute_tile_shape *tile)
{
    int64_t columns = tile->rank ? tile->extent[tile->rank - 1] : 1, n = stated_or(t->sizes->n);
    double count = 1;
    for (int i = loops_around(op); i > 0; i--) count *= (double)((n + columns - 1) / columns);
    return count;
}

static void look_at_access(traffic *t, MlirOperation op, bool reads)
{
    cute_tile_shape tile;
    MlirType type = mlirValueGetType(reads ? mlirOperationGetResult(op, 0) : mlirOperationGetOperand(op, 0));
    const cute_value *tensor = cute_type_peek(mlirValueGetType(mlirOperationGetOperand(op, reads ? 0 : 1)));
    if (!cute_tile_shape_of(type, &tile) || !tensor || !tensor->pointer) return;
    double count = times(t, op, &tile), size = (double)cute_tile_size(&tile);
    bool in_loop = loops_around(op) > 0;
    int64_t bits = tensor->pointer->bits;
    bool placed = cute_op_is(op, "cute.tile.load") || cute_op_is(op, "cute.tile.store");
    /* Elements that all blocks read are in L2. */
    bool own = !placed || in_loop || tile_places_of(mlirOperationGetOperand(op, reads ? 1 : 2)) != 0;
    if (own) t->bytes += count * size * (double)bits / 8;
    t->accesses += count;
    if (!reads) return;
    t->loaded += cute_tile_size(&tile) * bits / 32;
    if (in_loop) t->loads += count;
}

/* Instructions for an element of an operation, about. */
static double cost_of(MlirOperation op)
{
    enum { FUNCTION = 8 };
    if (cute_op_of(op, "math.") || cute_op_is(op, "arith.divf")) return FUNCTION;
    return 1;
}

static void look_at_op(MlirOperation op, void *context)
{
    traffic *t = context;
    cute_tile_shape tile;
    bool load = cute_op_is(op, "cute.tile.load") || cute_op_is(op, "cute.tile.gather"),
         store = cute_op_is(op, "cute.tile.store") || cute_op_is(op, "cute.tile.scatter") ||
                 cute_op_is(op, "cute.tile.atomic");
    if (load || store) look_at_access(t, op, load);
    for (intptr_t i = 0; i < mlirOperationGetNumResults(op); i++) {
        if (!cute_tile_shape_of(mlirValueGetType(mlirOperationGetResult(op, i)), &tile)) continue;
        if (cute_tile_size(&tile) > t->elements) t->elements = cute_tile_size(&tile);
        if (tile_is_elementwise(op))
            t->operations += times(t, op, &tile) * cost_of(op) * (double)cute_tile_size(&tile);
    }
    if (!cute_op_is(op, "cute.tile.reduce") && !cute_op_is(op, "cute.tile.scan")) return;
    if (!cute_tile_shape_of(mlirValueGetType(mlirOperationGetOperand(op, 0)), &tile)) return;
    t->operations += times(t, op, &tile) * (double)cute_tile_size(&tile);
    t->reductions += times(t, op, &tile);
}

/* Blocks along dimension `i` of the grid, of `rank`. */
static int64_t blocks_along(const traffic *t, int i, int rank)
{
    int64_t extents[CUTE_TILE_RANK], extent = 1;
    int count = cute_tile_numbers(mlirOperationGetAttributeByName(t->grid, cute_text("extents")), extents);
    int64_t all = i == rank - 1 && rank > 1 ? stated_or(t->sizes->n)
                  : i >= rank - 2           ? stated_or(t->sizes->m)
                                            : (t->sizes->batch ? t->sizes->batch : 1);
    if (rank == 1 && t->sizes->n) all *= t->sizes->n;
    if (count == rank) extent = extents[i];
    /* A dimension whose index is not used has one tile. */
    if (mlirOpOperandIsNull(mlirValueGetFirstUse(mlirOperationGetResult(t->grid, i)))) return 1;
    return (all + extent - 1) / extent;
}

/* A thread's registers: loaded tiles, and twice the largest one. */
static int64_t registers_of(const traffic *t, int64_t threads)
{
    enum { OTHERS = 24 };
    return OTHERS + (t->loaded + 2 * t->elements) / threads;
}

typedef struct candidate {
    int64_t threads; /* 0: chosen by the tiles */
    cute_model_time time;
} candidate;

static int faster_first(const void *a, const void *b)
{
    const candidate *x = a, *y = b;
    if (x->time.seconds != y->time.seconds) return x->time.seconds < y->time.seconds ? -1 : 1;
    return x->threads < y->threads ? -1 : x->threads > y->threads;
}

static candidate estimate(const traffic *t, const cute_model_device *d, int64_t stated, int64_t threads)
{
    enum { ACCESS = 12, BARRIERS = 2, SHUFFLES = 12, START = 60 };
    candidate out = {.threads = stated};
    int rank = mlirOperationIsNull(t->grid) ? 0 : (int)mlirOperationGetNumResults(t->grid);
    cute_model_traffic of = {.blocks = 1,
                             .threads = threads,
                             .registers = registers_of(t, threads),
                             .bytes = t->bytes,
                             .loads = t->loads > 1 ? t->loads : 1,
                             .operations = t->operations,
                             .warp_operations = START + ACCESS * t->accesses + SHUFFLES * t->reductions};
    for (int i = 0; i < rank; i++) of.blocks *= blocks_along(t, i, rank);
    if (threads > WARP) of.barriers = BARRIERS * t->reductions;
    cute_model_traffic_estimate(&of, d, &out.time);
    return out;
}

void tile_list_threads(cute_pass_run *pass, const cute_model_device *device, MlirOperation function,
                       const tile_sizes *sizes, int64_t stated, int listed)
{
    enum { ELEMENTS = 128 /* of a thread */ };
    traffic t = {.sizes = sizes, .grid = {NULL}};
    candidate all[COUNT];
    int count = 0;
    MlirLocation at = mlirOperationGetLocation(function);
    cute_op_walk(function, "cute.tile.program", CUTE_WALK_OUTER_FIRST, note_grid, &t);
    cute_op_walk(function, NULL, CUTE_WALK_OUTER_FIRST, look_at_op, &t);
    all[count++] = estimate(&t, device, stated, stated ? stated : tile_usual_threads(function));
    /* No thread without an element of the largest tile, and none with more than it has registers for. */
    for (int64_t threads = LEAST; threads <= MOST && !stated; threads *= 2)
        if (threads <= t.elements && t.elements / threads <= ELEMENTS)
            all[count++] = estimate(&t, device, threads, threads);
    cute_sort(all, (size_t)count, sizeof *all, faster_first);
    for (int i = 0; i < count && i < listed; i++)
        cute_pass_remark(pass, at, "likely: threads=%lld; %.3f us, bound by %s", (long long)all[i].threads,
                         1e6 * all[i].time.seconds, all[i].time.bound);
}
