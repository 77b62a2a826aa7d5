/* Tensor maps: encoding from the arguments of cuTensorMapEncodeTiled and cuTensorMapEncodeIm2col, decoding,
 * modification, and the copies of cp.async.bulk.tensor in tile and im2col mode, with swizzles, interleaves,
 * fills and reductions. */
#ifndef CUTE_LIB_NUMERIC_TENSORMAP_H
#define CUTE_LIB_NUMERIC_TENSORMAP_H

#include "cute/tensor_map.h"

/* Checks every documented limit and writes the library's own 128-byte encoding; the driver's is not public.
 * `out` may be unaligned. CUTE_INVALID names the violated limit. */
cute_status num_tensor_map_encode(const cute_tensor_map *map, uint8_t out[CUTE_MAP_BYTES], cute_diag *diag);
/* False if the bytes are not such an encoding, or violate a limit; *why (may be NULL) is then a static
 * string. */
bool num_tensor_map_decode(const uint8_t bytes[CUTE_MAP_BYTES], cute_tensor_map *out, const char **why);

/* tensormap.replace, for maps of tiles: changes one field in place without checks, which are made when the
 * map is used. `ordinal`: the dimension, for the last four fields. Zero bytes are a map without fields, from
 * which kernels can build maps. False: the bytes are not a tensor map, or ordinal or value is out of
 * range. */
typedef enum num_map_field {
    NUM_MAP_GLOBAL_ADDRESS,
    NUM_MAP_RANK,     /* in PTX: the rank minus 1 */
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
/* The bytes by which a load of the box changes an mbarrier's transaction count: the whole box, including
 * out-of-bounds elements. */
uint32_t num_tensor_map_bytes(const cute_tensor_map *map);
/* The extent of the box in shared memory: larger than its bytes if a swizzle pads narrow rows. */
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
/* True if cp.reduce.async.bulk(.tensor) supports it for this element type. */
bool num_reduction_exists(num_reduction reduction, cute_tensor_map_type type);
/* One element: *memory = *memory op *value; both little-endian, any alignment. Also for bulk reductions
 * without a tensor map. */
void num_reduce(num_reduction reduction, cute_tensor_map_type type, void *memory, const void *value);

/* Directly accessible memory; `bytes` is NULL if each access needs the callback. */
typedef struct num_area {
    uint8_t *bytes;
    uint64_t first, size; /* addresses */
} num_area;

/* Access to the machine's memory: returns the location of `size` bytes to be read or, if `write`, written.
 * NULL rejects the access and ends the copy; bytes already copied remain. Shared addresses are in the
 * destination's window. */
typedef struct num_copy_memory {
    void *context;
    uint8_t *(*global)(void *context, uint64_t address, uint32_t size, bool write);
    uint8_t *(*shared)(void *context, uint32_t address, uint32_t size, bool write);
    /* Reduces `count` elements atomically with num_reduce. NULL: use global and num_reduce. */
    bool (*reduce_global)(void *context, num_reduction reduction, cute_tensor_map_type type, uint64_t address,
                          uint32_t count, const void *values);
    num_area global_area, shared_area; /* global_area is read-only */
} num_copy_memory;

/* Copies the box at `coordinates` (fastest dimension first, as in PTX), or in im2col mode pixels from there
 * on, displaced by `offsets` (of width, height and depth; NULL: none). `shared` is 128-byte aligned. False: a
 * callback failed, or the shared address is misaligned (reported in *why, else NULL). Global memory outside
 * the tensor is neither read nor written; a store does not read the corresponding shared memory. But where the tensor's rows end within a unit of 16 bytes, a
 * store writes the whole unit, from the box. */
bool num_box_load(const cute_tensor_map *map, const int32_t *coordinates, const uint16_t *offsets,
                  uint32_t shared, const num_copy_memory *memory, const char **why);
bool num_box_store(const cute_tensor_map *map, const int32_t *coordinates, uint32_t shared,
                   num_reduction reduction, const num_copy_memory *memory, const char **why);
/* The number of bytes of the box that are inside the tensor. */
uint64_t num_box_inside(const cute_tensor_map *map, const int32_t *coordinates, const uint16_t *offsets);

#endif
