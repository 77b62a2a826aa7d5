/* Tile programs: shapes of tiles, and the kinds of elementwise operations. */
#ifndef CUTE_LIB_IR_OPS_TILE_H
#define CUTE_LIB_IR_OPS_TILE_H

#include <mlir-c/IR.h>
#include <stdbool.h>
#include <stdint.h>

#include "cute/layout.h"

enum {
    CUTE_TILE_RANK = 8,
    CUTE_TILE_MOST = 1 << 20, /* elements of a tile */
};

typedef struct cute_tile_shape {
    int rank;
    int64_t extent[CUTE_TILE_RANK];
} cute_tile_shape;

/* False for a type that is not a ranked tensor of known extents, or of a rank above CUTE_TILE_RANK. */
bool cute_tile_shape_of(MlirType type, cute_tile_shape *out);
/* Of an attribute such as [64, 32]; false if an extent is less than 1 or the rank is wrong. */
bool cute_tile_shape_from(MlirAttribute list, cute_tile_shape *out);
/* The numbers of such an attribute, of any value, and how many there are; -1: it is none. */
int cute_tile_numbers(MlirAttribute list, int64_t out[CUTE_TILE_RANK]);
int64_t cute_tile_size(const cute_tile_shape *shape);
/* Broadcasts `other` into `shape` by NumPy's rules; false if an extent differs and neither is 1. */
bool cute_tile_shape_join(cute_tile_shape *shape, const cute_tile_shape *other);
bool cute_tile_shape_equal(const cute_tile_shape *a, const cute_tile_shape *b);
/* A tensor type; `encoding` may be null. */
MlirType cute_tile_type(const cute_tile_shape *shape, MlirType element, MlirAttribute encoding);
/* The element type of a tensor; any other type itself. */
MlirType cute_tile_element(MlirType type);
/* Bits of an element: those of a float or an integer, 64 of an index. */
int cute_tile_bits(MlirType element);
/* The same in memory of its own, where a bit takes a byte. */
int cute_tile_memory_bits(MlirType element);
/* Modes of a tensor. */
int cute_tile_tensor_rank(const cute_value *tensor);
/* Whether a tensor's elements share bytes: i4 and f4E2M1FN. */
bool cute_tile_is_packed(const cute_pointer *pointer);
/* The element type of a tile that is loaded from memory of a pointer's elements: theirs, or of packed ones a wider type that has
 * all their values. Null: none. */
MlirType cute_tile_loaded(MlirContext context, const cute_pointer *pointer);
/* The type to which elements of a tile are converted when they are stored: a pointer's floats for other floats. Null: none. */
MlirType cute_tile_stored(MlirType element, const cute_pointer *pointer);
/* Whether operands of `type` that are no tile are converted to `element`: integers to floats. */
bool cute_tile_converts(MlirType type, MlirType element);
/* The integer attribute `name` of `op`, or `missing`. */
int64_t cute_tile_number(MlirOperation op, const char *name, int64_t missing);
/* The string attribute `name`, or "". */
MlirStringRef cute_tile_word(MlirOperation op, const char *name);

/* The tile and the number of stages of a ring, a tensor in shared memory of known extents whose last mode counts the stages; false
 * for any other value. */
bool cute_tile_ring_shape(const cute_value *ring, cute_tile_shape *tile, int64_t *stages);

/* A row of tile_maps.def. */
typedef struct cute_tile_map {
    const char *name;
    int operands;
    const char *on_floats, *on_integers; /* NULL: none */
    bool compare;
    int float_predicate, integer_predicate; /* of a comparison; -1: none */
} cute_tile_map;
/* NULL: there is no such kind. */
const cute_tile_map *cute_tile_map_find(MlirStringRef name);
/* The element type of an operation on operands of `types`: that of its last tile or, without one, its last operand. */
MlirType cute_tile_map_element(const cute_tile_map *map, const MlirType *types);

struct cute_op_row;
struct cute_op_query;
struct cute_op_types;
/* The inference of cute.tile.from and cute.tile.rows (tile_from.c). */
bool cute_tile_infer_from(const struct cute_op_row *row, const struct cute_op_query *query,
                          struct cute_op_types *out);
bool cute_tile_infer_rows(const struct cute_op_row *row, const struct cute_op_query *query,
                          struct cute_op_types *out);

/* That only loads take the result of cute.tile.pages, and the table has two modes. */
bool cute_tile_verify_pages(const struct cute_op_row *row, MlirOperation op);

#endif
