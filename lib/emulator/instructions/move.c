/* mov: registers, special registers, addresses, packing and unpacking of vectors. */
#include "lib/emulator/program/decode.h"

#include "lib/emulator/instructions/lanes.h"

static void run_mov32(em_warp *w, const em_inst *i, uint32_t mask)
{
    uint32_t *d = em_r32(w, &i->o[0]);
    const uint32_t *a = em_r32(w, &i->o[1]);
    EM_EACH(mask, d[l] = a[l]);
}
static void run_mov64(em_warp *w, const em_inst *i, uint32_t mask)
{
    uint64_t *d = em_r64(w, &i->o[0]);
    const uint64_t *a = em_r64(w, &i->o[1]);
    EM_EACH(mask, d[l] = a[l]);
}
static void run_mov128(em_warp *w, const em_inst *i, uint32_t mask)
{
    EM_EACH(mask, memmove(w->base[0] + i->o[0].at + l * 16, w->base[i->o[1].base] + i->o[1].at + l * 16, 16));
}
static void run_mov_predicate(em_warp *w, const em_inst *i, uint32_t mask)
{
    em_set_mask(w, &i->o[0], mask, em_mask_of(w, &i->o[1]));
}

/* Clocks count executed instructions, so that they are the same in every run. */
static uint64_t special_value(em_warp *w, em_sreg which)
{
    const cute_emulator_counts *c = &w->machine->counts;
    uint64_t ticks = c->lanes + w->machine->round;
    w->machine->clocks++;
    switch (which) {
    case EM_SREG_clock: return (uint32_t)ticks;
    case EM_SREG_clock_hi: return ticks >> 32;
    case EM_SREG_clock64: return ticks;
    case EM_SREG_globaltimer: return ticks;
    case EM_SREG_globaltimer_lo: return (uint32_t)ticks;
    case EM_SREG_globaltimer_hi: return ticks >> 32;
    case EM_SREG_envreg1: return w->machine->workspaces[w->block->cluster->device] >> 32;
    case EM_SREG_envreg2: return (uint32_t)w->machine->workspaces[w->block->cluster->device];
    case EM_SREG_is_explicit_cluster: return w->machine->launch->cluster[0] != 0;
    default: return 0;
    }
}

static void run_mov_special(em_warp *w, const em_inst *i, uint32_t mask)
{
    uint64_t value = special_value(w, (em_sreg)i->o[1].at);
    EM_EACH(mask, em_set(w, &i->o[0], l, value));
}

/* Part `at` of a value, lowest first. */
static uint64_t value_part(uint64_t low, uint64_t high, int at, int bits)
{
    uint64_t v = at >= 64 ? high >> (at - 64) : low >> at;
    return bits >= 64 ? v : v & ((UINT64_C(1) << bits) - 1);
}

static void run_unpack(em_warp *w, const em_inst *i, uint32_t mask)
{
    const em_operand *list = i->o[0].list;
    int count = i->o[0].count, bits = ptx_types[i->type].bytes * 8 / count;
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        int l = __builtin_ctz(rest);
        uint64_t v[2] = {0};
        if (i->type == PTX_b128)
            memcpy(v, w->base[i->o[1].base] + i->o[1].at + l * 16, 16);
        else
            v[0] = em_get(w, &i->o[1], l);
        for (int n = 0; n < count; n++) em_set(w, &list[n], l, value_part(v[0], v[1], n * bits, bits));
    }
}

/* Packs two registers in all lanes: wgmma descriptors, halves of results. */
static bool pack_whole(em_warp *w, const em_inst *i, int bits)
{
    const em_operand *low = &i->o[1].list[0], *high = &i->o[1].list[1], *to = &i->o[0];
    if (low->bytes == 0 || low->bytes > 4 || high->bytes == 0 || high->bytes > 4) return false;
    const uint32_t *x = em_r32(w, low), *y = em_r32(w, high);
    if (bits == 32 && to->bytes == 8) {
        uint64_t *d = em_r64(w, to);
        for (int l = 0; l < EM_LANES; l++) d[l] = (uint64_t)y[l] << 32 | x[l];
        return true;
    }
    if (bits != 16 || to->bytes != 4) return false;
    uint32_t *d = em_r32(w, to);
    for (int l = 0; l < EM_LANES; l++) d[l] = y[l] << 16 | (x[l] & 0xffff);
    return true;
}

static void run_pack(em_warp *w, const em_inst *i, uint32_t mask)
{
    const em_operand *list = i->o[1].list;
    int count = i->o[1].count, bits = ptx_types[i->type].bytes * 8 / count;
    if (mask == UINT32_MAX && count == 2 && pack_whole(w, i, bits)) return;
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        int l = __builtin_ctz(rest);
        uint64_t v[2] = {0};
        for (int n = 0; n < count; n++) {
            uint64_t x = em_get(w, &list[n], l) & (bits == 64 ? UINT64_MAX : (UINT64_C(1) << bits) - 1);
            v[n * bits / 64] |= x << (n * bits % 64);
        }
        if (i->type == PTX_b128)
            memcpy(w->base[0] + i->o[0].at + l * 16, v, 16);
        else
            em_set(w, &i->o[0], l, v[0]);
    }
}

static cute_status check_vector_parts(em_parser *p, const em_raw *raw, const em_inst *i, em_operand *vector,
                                      bool target)
{
    static const ptx_type by_bytes[] = {[1] = PTX_b8, [2] = PTX_b16, [4] = PTX_b32, [8] = PTX_b64};
    int bytes = ptx_types[i->type].bytes;
    if (vector->count < 2 || bytes % vector->count || bytes / vector->count > 8 || vector->count > 8)
        return em_wrong(p, raw, "%d registers do not evenly divide %d bits", vector->count, bytes * 8);
    for (int n = 0; n < vector->count; n++) {
        ptx_type part = by_bytes[bytes / vector->count];
        CUTE_TRY(target ? em_target_at(p, raw, &vector->list[n], part, true)
                        : em_source_at(p, raw, &vector->list[n], part));
    }
    return CUTE_OK;
}

cute_status em_decode_mov(em_parser *p, const em_raw *raw, em_inst *i)
{
    CUTE_TRY(em_operands(p, raw, 2, 2));
    if (!i->type_count) return em_wrong(p, raw, "expected a type");
    ptx_type type = (ptx_type)i->type;
    CUTE_TRY(em_element(p, raw, &i->o[1], ptx_types[type].bytes == 4 ? 4 : 8));
    if (i->o[0].kind == EM_O_VECTOR) {
        i->run = run_unpack;
        CUTE_TRY(check_vector_parts(p, raw, i, &i->o[0], true));
        return em_source(p, raw, i, 1, type);
    }
    CUTE_TRY(em_target(p, raw, i, 0, type, false));
    if (i->o[1].kind == EM_O_VECTOR) {
        i->run = run_pack;
        return check_vector_parts(p, raw, i, &i->o[1], false);
    }
    if (i->o[1].kind == EM_O_SREG) {
        i->run = run_mov_special;
        return CUTE_OK;
    }
    i->run = type == PTX_pred             ? run_mov_predicate
             : ptx_types[type].bytes == 8 ? run_mov64
             : type == PTX_b128           ? run_mov128
                                          : run_mov32;
    return em_source(p, raw, i, 1, type);
}
