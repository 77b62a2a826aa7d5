/* Tensor maps: encoded from the arguments of cuTensorMapEncodeTiled, decoded, changed, and used: the box copy
 * of cp.async.bulk.tensor in tile mode, with swizzles, interleaves, fills and reductions. */
#ifndef CUTE_LIB_NUMERIC_TENSORMAP_H
#define CUTE_LIB_NUMERIC_TENSORMAP_H

#include "cute/device.h"

/* Checks every documented limit and writes our own 128-byte form; the driver's is not public. `out` may be
 * unaligned. CUTE_INVALID says which limit. */
cute_status emu_tensor_map_encode(const cute_tensor_map *map, uint8_t out[CUTE_MAP_BYTES], cute_diag *diag);
/* False when the bytes are no tensor map of ours, or one that breaks a limit; *why (may be NULL) then points
 * to a sentence that lives forever. */
bool emu_tensor_map_decode(const uint8_t bytes[CUTE_MAP_BYTES], cute_tensor_map *out, const char **why);

/* tensormap.replace: changes one field in place without checks (they come when the map is used). `ordinal`:
 * the dimension, for the last four. Bytes that are all zero are a map without fields: kernels build maps from
 * them. False: the bytes are no tensor map, or ordinal or value is out of range. */
typedef enum emu_map_field {
    EMU_MAP_GLOBAL_ADDRESS,
    EMU_MAP_RANK,     /* of PTX: the rank minus 1 */
    EMU_MAP_ELEMTYPE, /* in PTX's order (PTX ISA, tensormap.replace), not the driver's */
    EMU_MAP_INTERLEAVE,
    EMU_MAP_SWIZZLE,
    EMU_MAP_FILL,
    EMU_MAP_BOX_DIM,
    EMU_MAP_GLOBAL_DIM,
    EMU_MAP_GLOBAL_STRIDE,
    EMU_MAP_ELEMENT_STRIDE,
} emu_map_field;
bool emu_tensor_map_replace(uint8_t bytes[CUTE_MAP_BYTES], emu_map_field field, int ordinal, uint64_t value);

int emu_tensor_map_element_size(const cute_tensor_map *map);
/* What a load of the box adds to an mbarrier's transaction count: all of the box, out of bounds or not. */
uint32_t emu_tensor_map_bytes(const cute_tensor_map *map);
/* How far the box reaches in shared memory: more than the bytes where a swizzle pads narrow rows. */
uint32_t emu_tensor_map_extent(const cute_tensor_map *map);

typedef enum emu_reduction {
    EMU_REDUCE_NONE, /* a plain store */
    EMU_REDUCE_ADD,
    EMU_REDUCE_MIN,
    EMU_REDUCE_MAX,
    EMU_REDUCE_INC,
    EMU_REDUCE_DEC,
    EMU_REDUCE_AND,
    EMU_REDUCE_OR,
    EMU_REDUCE_XOR,
} emu_reduction;
/* Whether cp.reduce.async.bulk(.tensor) has it for this element type. */
bool emu_reduction_exists(emu_reduction reduction, cute_tensor_map_type type);
/* One element: *memory = *memory op *value; both little-endian, any alignment. For non-tensor bulk reductions
 * too. */
void emu_reduce(emu_reduction reduction, cute_tensor_map_type type, void *memory, const void *value);

/* The machine's memory. Each returns false to end the copy (an access it does not allow); what was copied
 * before stays. Shared addresses are those of the destination's window. */
typedef struct emu_copy_memory {
    void *context;
    bool (*read_global)(void *context, uint64_t address, uint32_t size, void *out);
    bool (*write_global)(void *context, uint64_t address, uint32_t size, const void *bytes);
    bool (*read_shared)(void *context, uint32_t address, uint32_t size, void *out);
    bool (*write_shared)(void *context, uint32_t address, uint32_t size, const void *bytes);
    /* Reduces `count` elements atomically by emu_reduce. NULL: read_global, emu_reduce, write_global. */
    bool (*reduce_global)(void *context, emu_reduction reduction, cute_tensor_map_type type, uint64_t address,
                          uint32_t count, const void *values);
} emu_copy_memory;

/* Copies the box at `coordinates` (fastest dimension first, as PTX gives them). `shared` is 128-byte aligned.
 * False: a callback failed, or the shared address is misaligned (*why says so, else NULL). Global memory
 * outside of the tensor is neither read nor written. */
bool emu_box_load(const cute_tensor_map *map, const int32_t *coordinates, uint32_t shared,
                  const emu_copy_memory *memory, const char **why);
bool emu_box_store(const cute_tensor_map *map, const int32_t *coordinates, uint32_t shared,
                   emu_reduction reduction, const emu_copy_memory *memory, const char **why);

#endif
