/* tensormap.replace and tensormap.cp_fenceproxy: modification of tensor maps in memory. */
#include "lib/emulator/program/decode.h"

#include "lib/numeric/tensormap.h"

typedef struct map_field {
    em_modifier modifier;
    num_map_field field;
    bool ordinal; /* takes a dimension */
} map_field;
static const map_field fields[] = {
    {EM_M_f_global_address, NUM_MAP_GLOBAL_ADDRESS, false},
    {EM_M_f_rank, NUM_MAP_RANK, false},
    {EM_M_f_elemtype, NUM_MAP_ELEMTYPE, false},
    {EM_M_f_interleave, NUM_MAP_INTERLEAVE, false},
    {EM_M_f_swizzle, NUM_MAP_SWIZZLE, false},
    {EM_M_f_fill, NUM_MAP_FILL, false},
    {EM_M_f_box_dim, NUM_MAP_BOX_DIM, true},
    {EM_M_f_global_dim, NUM_MAP_GLOBAL_DIM, true},
    {EM_M_f_global_stride, NUM_MAP_GLOBAL_STRIDE, true},
    {EM_M_f_element_stride, NUM_MAP_ELEMENT_STRIDE, true},
};

/* [map], {ordinal,} value */
static void run_replace(em_warp *w, const em_inst *i, uint32_t mask)
{
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        int l = __builtin_ctz(rest);
        uint64_t address = em_address(w, &i->o[0], l), value = em_get(w, &i->o[i->map.value], l);
        uint8_t *map = em_locate(w, i, l, (em_space)i->space, address, CUTE_MAP_BYTES, EM_WRITE);
        if (!map) return;
        if (!num_tensor_map_replace(map, (num_map_field)i->map.field, i->map.dimension, value)) {
            em_fault(w, i, l, "invalid field value 0x%llx, or no tensor map at 0x%llx",
                     (unsigned long long)value, (unsigned long long)address);
            return;
        }
    }
}

/* The ISA does not specify the copying lane: the last one, which also covers a writer chosen by
 * elect.sync. */
static void run_copy(em_warp *w, const em_inst *i, uint32_t mask)
{
    int l = 31 - __builtin_clz(mask);
    uint32_t shared;
    if (!em_shared_address(w, i, l, em_address(w, &i->o[1], l), &shared)) return;
    const uint8_t *from = em_locate(w, i, l, EM_SHARED, shared, CUTE_MAP_BYTES, EM_READ);
    uint8_t *to =
        from ? em_locate(w, i, l, EM_GLOBAL, em_address(w, &i->o[0], l), CUTE_MAP_BYTES, EM_WRITE) : NULL;
    if (!to) return;
    memcpy(to, from, CUTE_MAP_BYTES);
    em_tell(EM_E_WARP_SYNC, w, i, mask, mask, 0); /* .sync: lanes wait for each other */
}

cute_status em_decode_tensormap(em_parser *p, const em_raw *raw, em_inst *i)
{
    if (em_has(i, EM_M_cp_fenceproxy)) {
        CUTE_TRY(em_operands(p, raw, 3, 3));
        CUTE_TRY(em_memory_operand(p, raw, i, 0));
        i->run = run_copy;
        return em_memory_operand(p, raw, i, 1);
    }
    for (size_t n = 0; n < sizeof fields / sizeof *fields; n++) {
        if (!em_has(i, fields[n].modifier)) continue;
        int64_t dimension = 0;
        int value = fields[n].ordinal ? 2 : 1;
        CUTE_TRY(em_operands(p, raw, value + 1, value + 1));
        CUTE_TRY(em_space_operand(p, raw, i, 0));
        if (fields[n].ordinal) CUTE_TRY(em_number(p, raw, i, 1, &dimension));
        if (dimension < 0 || dimension > 4)
            return em_wrong(p, raw, "expected a dimension from 0 to 4, got %lld", (long long)dimension);
        i->map.field = (uint8_t)fields[n].field;
        i->map.dimension = (uint8_t)dimension;
        i->map.value = (uint8_t)value;
        i->run = run_replace;
        return em_source(p, raw, i, value, i->type == PTX_b64 ? PTX_b64 : PTX_b32);
    }
    return em_unknown(p, raw);
}
