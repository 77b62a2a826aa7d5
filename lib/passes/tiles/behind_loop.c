/* See emit.h: whether operations behind a loop of products need many registers beside its sums. */
#include "lib/ir/mlir/util.h"
#include "lib/passes/tiles/joined.h"

/* Instructions for an element, roughly; of other operations one. */
static const struct {
    const char *name;
    int weight;
} weights[] = {
    {"math.erf", 24}, {"math.powf", 32}, {"math.tanh", 8}, {"math.log", 8},    {"math.sin", 12},
    {"math.cos", 12}, {"math.exp", 4},   {"math.log2", 4}, {"arith.divf", 10}, {"arith.constant", 0},
};

typedef struct sum {
    int64_t values; /* of a thread */
    int weight;
} sum;

static void add_weight(MlirOperation op, void *context)
{
    enum { JOINED = 2 };
    sum *s = context;
    if (cute_op_has(op, TILE_JOINED)) s->weight += JOINED;
    if (!tile_is_elementwise(op) || mlirOperationGetNumResults(op) != 1) return;
    MlirType type = mlirValueGetType(mlirOperationGetResult(op, 0));
    if (!mlirTypeIsAVector(type) || cute_vector_count(type) != s->values) return;
    size_t i = 0, count = sizeof weights / sizeof *weights;
    while (i < count && !cute_op_is(op, weights[i].name)) i++;
    s->weight += i < count ? weights[i].weight : 1;
}

bool tile_is_heavy_behind(MlirOperation loop, int64_t values)
{
    enum { HEAVY = 36, HEAVY_BESIDE_MANY = 12, MANY = 160 /* sums, of 255 registers */ };
    sum s = {.values = values};
    for (MlirOperation op = mlirOperationGetNextInBlock(loop); !mlirOperationIsNull(op);
         op = mlirOperationGetNextInBlock(op))
        cute_op_walk(op, NULL, CUTE_WALK_OUTER_FIRST, add_weight, &s);
    return s.weight >= (values > MANY ? HEAVY_BESIDE_MANY : HEAVY);
}
