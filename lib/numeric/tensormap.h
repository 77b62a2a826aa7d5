/* Tensor maps: encoded from the arguments of cuTensorMapEncodeTiled and cuTensorMapEncodeIm2col, decoded, changed, and
 * used: the copies of cp.async.bulk.tensor in tile and im2col mode, with swizzles, interleaves, fills and reductions. */
#ifndef CUTE_LIB_NUMERIC_TENSORMAP_H
#define CUTE_LIB_NUMERIC_TENSORMAP_H

#include "cute/tensor_map.h"

/* Checks every documented limit and writes our own 128-byte form; the driver's is not public. `out` may be
 * unaligned. CUTE_INVALID says which limit. */
cute_status num_tensor_map_encode(const cute_tensor_map *map, uint8_t out[CUTE_MAP_BYTES], cute_diag *diag);
/* False when the bytes are no tensor map of ours, or one that breaks a limit; *why (may be NULL) then points
 * to a sentence that lives forever. */
bool num_tensor_map_decode(const uint8_t bytes[CUTE_MAP_BYTES], cute_tensor_map *out, const char **why);

/* tensormap.replace, of maps of tiles: changes one field in place without checks (they come when the map is used). `ordinal`:
 * the dimension, for the last four. Bytes that are all zero are a map without fields: kernels build maps from
 * them. False: the bytes are no tensor map, or ordinal or value is out of range. */
typedef enum num_map_field {
    NUM_MAP_GLOBAL_ADDRESS,
    NUM_MAP_RANK,     /* of PTX: the rank minus 1 */
    NUM_MAP_ELEMTYPE, /* in PTX's order (PTX ISA, tensormap.replace), not the driver's */
    NUM_MAP_INTERLEAVE,
    NUM_MAP_SWIZZLE,
    NUM_MAP_FILL,
    NUM_MAP_BOX_DIM,
    NUM_MAP_GLOBAL_DIM,
    NUM_MAP_GLOBAL_STRIDE,
    NUM_MAP_ELEMENT_STRIDE,
} num_map_field;
bool num_tensor_map_replace(uint8_t bytes[CUTE_MAP_BYTES], num_map_field field, int ordinal, uint64_t value);

int num_tensor_map_element_size(const cute_tensor_map *map);
/* What a load of the box adds to an mbarrier's transaction count: all of the box, out of bounds or not. */
uint32_t num_tensor_map_bytes(const cute_tensor_map *map);
/* How far the box reaches in shared memory: more than the bytes where a swizzle pads narrow rows. */
uint32_t num_tensor_map_extent(const cute_tensor_map *map);

typedef enum num_reduction {
    NUM_REDUCE_NONE, /* a plain store */
    NUM_REDUCE_ADD,
    NUM_REDUCE_MIN,
    NUM_REDUCE_MAX,
    NUM_REDUCE_INC,
    NUM_REDUCE_DEC,
    NUM_REDUCE_AND,
    NUM_REDUCE_OR,
    NUM_REDUCE_XOR,
} num_reduction;
/* Whether cp.reduce.async.bulk(.tensor) has it for this element type. */
bool num_reduction_exists(num_reduction reduction, cute_tensor_map_type type);
/* One element: *memory = *memory op *value; both little-endian, any alignment. For non-tensor bulk reductions
 * too. */
void num_reduce(num_reduction reduction, cute_tensor_map_type type, void *memory, const void *value);

/* Memory that may be used without asking for it; `bytes` is NULL where each access is to be told. */
typedef struct num_area {
    uint8_t *bytes;
    uint64_t first, size; /* addresses */
} num_area;

/* The machine's memory: where `size` bytes lie that are read or, `write`, written. NULL ends the copy (an
 * access that is not allowed); what was copied before stays. Shared addresses are those of the destination's
 * window. */
typedef struct num_copy_memory {
    void *context;
    uint8_t *(*global)(void *context, uint64_t address, uint32_t size, bool write);
    uint8_t *(*shared)(void *context, uint32_t address, uint32_t size, bool write);
    /* Reduces `count` elements atomically by num_reduce. NULL: global, num_reduce. */
    bool (*reduce_global)(void *context, num_reduction reduction, cute_tensor_map_type type, uint64_t address,
                          uint32_t count, const void *values);
    num_area global_area, shared_area; /* global_area is only read */
} num_copy_memory;

/* Copies the box at `coordinates` (fastest dimension first, as PTX gives them), or in im2col mode pixels from there on,
 * moved by `offsets` (of width, height and depth; NULL: none). `shared` is 128-byte aligned. False: a callback failed, or the shared address is misaligned (*why says so, else NULL). Global memory
 * outside of the tensor is neither read nor written; a store does not read what it would put there. */
bool num_box_load(const cute_tensor_map *map, const int32_t *coordinates, const uint16_t *offsets,
                  uint32_t shared, const num_copy_memory *memory, const char **why);
bool num_box_store(const cute_tensor_map *map, const int32_t *coordinates, uint32_t shared,
                   num_reduction reduction, const num_copy_memory *memory, const char **why);
/* The bytes of such a box that are inside the tensor. */
uint64_t num_box_inside(const cute_tensor_map *map, const int32_t *coordinates, const uint16_t *offsets);

#endif
