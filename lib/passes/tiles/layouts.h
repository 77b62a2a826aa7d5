/* The tiles of a kernel and their classes, while cute-tile-layouts distributes them (layouts.c, layout_conversions.c). */
#ifndef CUTE_LIB_PASSES_TILES_LAYOUTS_H
#define CUTE_LIB_PASSES_TILES_LAYOUTS_H

#include "lib/base/devices/arch.h"
#include "lib/ir/mlir/util.h"
#include "lib/passes/passes.h"
#include "lib/passes/tiles/distribution.h"

/* A tile: tiles of one class, the root of `parent`, have one distribution. */
typedef struct tile {
    MlirValue value;
    size_t parent;
} tile;

typedef struct class
{
    cute_tile_shape shape;
    bool resolved;
    tile_distribution d;
    MlirOperation product; /* whose accumulator is of this class; null: none */
    MlirOperation factor;  /* a product that reads it in registers, as operand `side`; null: none */
    int side;
    bool computed;        /* by more than reshapes and permutations */
    bool by_factor;       /* `d` is that of the product's operand */
    MlirOperation access; /* a load or store, the last one in the text; null: none */
    bool staged; /* threads read its tiles in stages, in any distribution; it has no other accesses */
    bool scanned;
    int scan_axis;
    MlirLocation location;
} class;

typedef struct layouts {
    cute_pass_run *pass;
    cute_arena *arena;
    MlirOperation function;
    MlirContext context;
    const cute_arch *arch;
    int64_t threads;
    int64_t factor_threads; /* of the warpgroup that computes a factor; 0: there is none */
    bool naive;
    tile *tiles;
    size_t count, capacity;
    size_t *slots, slot_count; /* hash: 1 + index of a tile */
    class *classes;            /* by the root's index */
    MlirOperation *ops;        /* all operations of the function, in order */
    size_t op_count, op_capacity;
    bool failed;
} layouts;

static inline MlirValue operand(MlirOperation op, intptr_t i)
{
    return mlirOperationGetOperand(op, i);
}

static inline MlirValue result(MlirOperation op, intptr_t i)
{
    return mlirOperationGetResult(op, i);
}

/* The class of a tile. */
class *layouts_class_of(layouts *l, MlirValue value);
/* Whether a load is one that stages have ahead. */
bool layouts_fetched_ahead(const layouts *l, MlirOperation load);
const cute_value *layouts_tensor_of_access(MlirOperation op);
/* Of the tile that is loaded or stored. */
class *layouts_class_of_access(layouts *l, MlirOperation op);
/* Threads that have tiles of a class, where nothing else says so: with a warpgroup for a factor it has all but the wide sums, and what these
 * are distributed with. */
int64_t layouts_threads_of(const layouts *l, const class *c);
/* The distribution in which an access of `tensor` by a tile of class `c` is best. Where another access of the tile has adjacent
 * elements along another dimension, a thread holds a block: it is exchanged by wide accesses of shared memory. */
bool layouts_distribute_access(layouts *l, const cute_value *tensor, const class *c, tile_distribution *out);
/* The distribution of the sum of a product. */
bool layouts_distribute_product(layouts *l, MlirOperation op, const cute_tile_shape *shape,
                                tile_distribution *out);
/* Whether warpgroups multiply with a factor A that threads hold, and its distribution. */
bool layouts_factor_in_registers(layouts *l, MlirOperation op, tile_distribution *out);
/* `type`, distributed as `d`. */
MlirType layouts_type_with(layouts *l, MlirType type, const tile_distribution *d);
/* Gives an operation, in the order of the text, operands distributed as it needs them and results as it makes them, converted where their classes are distributed
 * otherwise. False after an error. */
bool layouts_settle(layouts *l, MlirOperation op);

#endif
