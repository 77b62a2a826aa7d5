/* Shadows of registers: the lanes that are undefined, and how instructions propagate them. */
#ifndef CUTE_LIB_CHECKS_UNDEFINED_FLOW_H
#define CUTE_LIB_CHECKS_UNDEFINED_FLOW_H

#include "lib/checks/parts.h"

/* Words of a register's shadow: lanes with an undefined byte; the instruction of origin (NOWHERE: the
 * register was never written); lanes by byte; then, except for predicates, lanes by byte in which no bit
 * is defined. SHADOW_COMPUTED: lanes whose value was computed rather than copied; absent in 16-byte
 * registers. */
enum { SHADOW_ANY, SHADOW_ORIGIN, SHADOW_BYTES, SHADOW_COMPUTED = SHADOW_BYTES + 15, SHADOW_WHOLE };
#define NOWHERE UINT32_MAX

typedef struct register_use {
    const em_operand *o;
    bool address;
} register_use;

typedef struct register_flow {
    uint8_t kind;
    uint16_t targets, sources; /* counts of uses, from `first` on */
    uint32_t first, origin;    /* origin: index of its load_origin, + 1 */
} register_flow;

/* The last load of uninitialised memory by an instruction, for each lane. */
typedef struct load_origin {
    const em_warp *warp;
    uint32_t lanes;
    em_space space;
    uint64_t address[EM_LANES];
} load_origin;

static inline bool is_register(const em_operand *o)
{
    return o->kind == EM_O_VALUE && o->base == EM_BASE_REGISTERS;
}

/* Predicates have no room for SHADOW_COMPUTED and later words, 16-byte registers none for SHADOW_COMPUTED. */
static inline bool has_history(const em_operand *o)
{
    return is_register(o) && o->bytes && o->bytes != 16;
}

static inline uint32_t *shadow_at(const em_warp *w, uint32_t at)
{
    return (uint32_t *)(void *)(w->split->frame->shadow + at);
}

static inline int bytes_of(const em_operand *o)
{
    return o->bytes ? o->bytes : 1;
}

static inline uint32_t lanes_of(const em_warp *w, const em_operand *o)
{
    return is_register(o) ? shadow_at(w, o->at)[SHADOW_ANY] : 0;
}

/* Undefined bytes of a lane, one bit each. */
static inline uint32_t bits_of(const em_warp *w, const em_operand *o, int lane)
{
    uint32_t bits = 0;
    if (!(lanes_of(w, o) >> lane & 1)) return 0;
    const uint32_t *bytes = shadow_at(w, o->at) + SHADOW_BYTES;
    for (int n = 0; n < bytes_of(o); n++) bits |= (bytes[n] >> lane & 1) << n;
    return bits;
}

static inline void set_bits(const em_warp *w, const em_operand *o, int lane, uint32_t bits, uint32_t origin)
{
    if (!is_register(o)) return;
    uint32_t *words = shadow_at(w, o->at), *bytes = words + SHADOW_BYTES, own = 1u << lane;
    if (bits) words[SHADOW_ORIGIN] = origin;
    words[SHADOW_ANY] = (words[SHADOW_ANY] & ~own) | (bits ? own : 0);
    for (int n = 0; n < bytes_of(o); n++) bytes[n] = (bytes[n] & ~own) | (bits >> n & 1) << lane;
    for (int n = 0; bits && n < o->bytes; n++) words[SHADOW_WHOLE + n] |= own;
    if (has_history(o)) words[SHADOW_COMPUTED] &= ~own;
}

/* Undefined bytes with some defined bits, as after setting a bit-field. */
static inline uint32_t parts_of(const em_warp *w, const em_operand *o, int lane)
{
    uint32_t bits = bits_of(w, o, lane), parts = 0;
    if (!bits) return 0;
    const uint32_t *whole = shadow_at(w, o->at) + SHADOW_WHOLE;
    for (int n = 0; n < o->bytes; n++) parts |= (~whole[n] >> lane & 1) << n;
    return parts & bits;
}

static inline void set_parts(const em_warp *w, const em_operand *o, int lane, uint32_t parts)
{
    if (!is_register(o)) return;
    uint32_t *whole = shadow_at(w, o->at) + SHADOW_WHOLE;
    for (int n = 0; n < o->bytes; n++)
        if (parts >> n & 1) whole[n] &= ~(1u << lane);
}

static inline void set_lanes(const em_warp *w, const em_operand *o, uint32_t lanes, bool undefined,
                             uint32_t origin)
{
    if (!is_register(o)) return;
    uint32_t *words = shadow_at(w, o->at), *bytes = words + SHADOW_BYTES;
    if (undefined) words[SHADOW_ORIGIN] = origin;
    words[SHADOW_ANY] = undefined ? words[SHADOW_ANY] | lanes : words[SHADOW_ANY] & ~lanes;
    for (int n = 0; n < bytes_of(o); n++) bytes[n] = undefined ? bytes[n] | lanes : bytes[n] & ~lanes;
    for (int n = 0; undefined && n < o->bytes; n++) words[SHADOW_WHOLE + n] |= lanes;
}

static inline uint32_t ones(int count)
{
    return count >= 32 ? UINT32_MAX : (1u << count) - 1;
}

static inline bool is_computed(const em_warp *w, const em_operand *o, int lane)
{
    return has_history(o) && shadow_at(w, o->at)[SHADOW_COMPUTED] >> lane & 1;
}
static inline void set_computed(const em_warp *w, const em_operand *o, int lane)
{
    if (has_history(o)) shadow_at(w, o->at)[SHADOW_COMPUTED] |= 1u << lane;
}

/* mov: packs, unpacks or copies. */
void em_flow_move(const em_warp *w, const em_inst *i, int lane, uint32_t origin);
/* Undefined bytes of the result; undefined bytes with some defined bits. */
uint32_t em_flow_bits(const em_warp *w, const em_inst *i, em_dataflow kind, int lane);
uint32_t em_flow_parts(const em_warp *w, const em_inst *i, em_dataflow kind, int lane);

#endif
