/* Tensor maps from any bytes: what decodes encodes to the same bytes' meaning again, and box copies of it
 * stay in the part of shared memory that the map says. Input: 128 bytes of a map (its mark is put right), 20
 * of coordinates, 1 for the place in shared memory, 1 for the reduction, then values. */
#include <stdlib.h>
#include <string.h>

#include "lib/numeric/tensormap.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

typedef struct world {
    uint32_t first, end; /* of shared memory that may be touched */
    uint32_t budget;
    uint8_t bytes[256 * 8]; /* of the longest row */
} world;

static uint8_t *global_bytes(void *context, uint64_t address, uint32_t size, bool write)
{
    world *w = context;
    (void)address;
    (void)write;
    if (size > sizeof w->bytes) abort();
    return w->budget-- > 0 ? w->bytes : NULL;
}

static uint8_t *shared_bytes(void *context, uint32_t address, uint32_t size, bool write)
{
    world *w = context;
    (void)write;
    if (size > sizeof w->bytes || address < w->first || address + size > w->end) abort();
    return w->budget-- > 0 ? w->bytes : NULL;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 150) return 0;
    cute_tensor_map map, again;
    uint8_t bytes[CUTE_MAP_BYTES], other[CUTE_MAP_BYTES];
    int32_t at[CUTE_MAP_RANK];
    const char *why;
    memcpy(bytes, data, sizeof bytes);
    if (data[149] & 0x80) memcpy(bytes, "cutemap1", 8);
    memcpy(at, data + 128, sizeof at);
    for (size_t i = 150; i + 9 < size; i += 10) {
        uint64_t value;
        memcpy(&value, data + i + 2, 8);
        num_tensor_map_replace(bytes, (num_map_field)(data[i] % 12), (int8_t)data[i + 1],
                               value >> (data[i] / 4));
    }
    if (!num_tensor_map_decode(bytes, &map, &why)) {
        if (!why) abort();
        return 0;
    }
    if (num_tensor_map_encode(&map, other, NULL) != CUTE_OK || !num_tensor_map_decode(other, &again, NULL))
        abort();
    if (map.rank != again.rank || map.address != again.address || map.box[0] != again.box[0]) abort();
    uint32_t shared = (uint32_t)data[148] * 128, extent = num_tensor_map_extent(&map);
    if (extent < num_tensor_map_bytes(&map)) abort();
    world w = {.first = shared, .end = UINT32_MAX, .budget = 20000};
    if (extent < UINT32_MAX - shared - 1024) {
        /* A swizzle exchanges chunks inside of the 128 bytes that they share. */
        w.end = shared + (extent + 127) / 128 * 128;
    }
    num_copy_memory memory = {.context = &w, .global = global_bytes, .shared = shared_bytes};
    num_box_load(&map, at, NULL, shared, &memory, &why);
    w.budget = 20000;
    num_box_store(&map, at, shared, (num_reduction)(data[149] % 9), &memory, &why);
    return 0;
}
