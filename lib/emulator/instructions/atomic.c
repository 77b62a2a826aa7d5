/* atom and red: lane by lane, in order; host atomics if other threads run other clusters. */
#include "lib/emulator/program/decode.h"

#include "lib/emulator/machine/schedule.h"
#include "lib/numeric/number.h"

static int64_t sign_extend(uint64_t value, int bits)
{
    return bits >= 64 ? (int64_t)value : (int64_t)(value << (64 - bits)) >> (64 - bits);
}

static uint64_t real_op(ptx_type type, num_op op, uint64_t a, uint64_t b)
{
    num_format format = em_format_of(type);
    if (type != PTX_f16x2 && type != PTX_bf16x2) return num_arithmetic(op, format, a, b, 0, NUM_RN, 0);
    return (num_arithmetic(op, format, a & 0xffff, b & 0xffff, 0, NUM_RN, 0) & 0xffff) |
           num_arithmetic(op, format, a >> 16 & 0xffff, b >> 16 & 0xffff, 0, NUM_RN, 0) << 16;
}

static uint64_t atomic_result(const em_inst *i, uint64_t old, uint64_t b, uint64_t c)
{
    ptx_type type = (ptx_type)i->type;
    int bits = ptx_types[type].bytes * 8;
    bool real = ptx_types[type].kind == PTX_FLOAT, sign = ptx_types[type].kind == PTX_SIGNED;
    bool is_less = sign ? sign_extend(b, bits) < sign_extend(old, bits) : b < old;
    if (em_has(i, EM_M_exch)) return b;
    if (em_has(i, EM_M_cas)) return old == b ? c : old;
    if (em_has(i, EM_M_add)) return real ? real_op(type, NUM_ADD, old, b) : old + b;
    if (em_has(i, EM_M_min)) return real ? real_op(type, NUM_MIN, old, b) : is_less ? b : old;
    if (em_has(i, EM_M_max)) return real ? real_op(type, NUM_MAX, old, b) : is_less || old == b ? old : b;
    if (em_has(i, EM_M_and)) return old & b;
    if (em_has(i, EM_M_or)) return old | b;
    if (em_has(i, EM_M_xor)) return old ^ b;
    if (em_has(i, EM_M_inc)) return old >= b ? 0 : old + 1;
    return old == 0 || old > b ? b : old - 1; /* dec */
}

/* Replaces the value in memory by the result of `i`. */
#define UPDATE(type)                                                                                         \
    do {                                                                                                     \
        type *at = (type *)(void *)p, old = __atomic_load_n(at, __ATOMIC_SEQ_CST), value;                    \
        do value = (type)atomic_result(i, old, b, c);                                                        \
        while (value != old &&                                                                               \
               !__atomic_compare_exchange_n(at, &old, value, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST));    \
        *changed |= value != old;                                                                            \
        return old;                                                                                          \
    } while (0)

static uint64_t update_atomically(const em_inst *i, uint8_t *p, uint32_t bytes, uint64_t b, uint64_t c,
                                  bool *changed)
{
    if (bytes == 8) UPDATE(uint64_t);
    if (bytes == 4) UPDATE(uint32_t);
    UPDATE(uint16_t);
}

static uint64_t update_memory(const em_inst *i, uint8_t *p, uint32_t bytes, uint64_t b, uint64_t c,
                              bool *changed)
{
    uint64_t old = 0, value;
    memcpy(&old, p, bytes);
    value = atomic_result(i, old, b, c);
    *changed |= memcmp(p, &value, bytes) != 0;
    memcpy(p, &value, bytes);
    return old;
}

/* 16 bytes: exchange or compare-and-swap. */
static void update_wide(em_warp *w, const em_inst *i, uint8_t *p, int l, bool *changed)
{
    int at = i->memory.address;
    uint8_t old[16], *d = w->base[0] + i->o[0].at + l * 16;
    const uint8_t *b = w->base[i->o[at + 1].base] + i->o[at + 1].at + l * 16, *value = b;
    em_grid_lock(w->machine);
    memcpy(old, p, 16);
    if (!em_has(i, EM_M_exch))
        value = memcmp(old, b, 16) ? old : w->base[i->o[at + 2].base] + i->o[at + 2].at + l * 16;
    *changed |= memcmp(old, value, 16) != 0;
    memcpy(p, value, 16);
    em_grid_unlock(w->machine);
    if (at && i->o[0].kind == EM_O_VALUE) memcpy(d, old, 16);
}

static void run_atomic(em_warp *w, const em_inst *i, uint32_t mask)
{
    uint32_t bytes = ptx_types[i->type].bytes, total = bytes * i->memory.vector;
    int at = i->memory.address;
    em_machine *m = w->machine;
    bool changed = false, others = m->parallel && i->space != EM_SHARED;
    m->atomics += i->space != EM_SHARED;
    for (int store = 0; store < 2; store++) em_count_access(w, i, &i->o[at], store, total, mask);
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        int l = __builtin_ctz(rest);
        uint64_t address = em_address(w, &i->o[at], l);
        if (address & (total - 1)) {
            em_fault(w, i, l, "misaligned %s of %u bytes: address 0x%llx, alignment %u",
                     em_instruction_name(i), total, (unsigned long long)address, total);
            return;
        }
        uint8_t *p = em_locate(w, i, l, (em_space)i->space, address, total, EM_ATOMIC);
        if (!p) return;
        if (i->type == PTX_b128) {
            update_wide(w, i, p, l, &changed);
            continue;
        }
        const em_operand *b = i->memory.vector > 1 ? i->o[at + 1].list : &i->o[at + 1];
        const em_operand *d = i->memory.vector > 1 ? i->o[0].list : &i->o[0];
        for (uint32_t v = 0; v < i->memory.vector; v++) {
            uint64_t x = em_get(w, &b[v], l), y = i->count > at + 2 ? em_get(w, &i->o[at + 2], l) : 0;
            uint64_t old = others ? update_atomically(i, p + v * bytes, bytes, x, y, &changed)
                                  : update_memory(i, p + v * bytes, bytes, x, y, &changed);
            if (at) em_set(w, &d[v], l, old);
        }
    }
    m->changes += changed; /* a failed lock attempt does not count */
}

void em_reduce_atomically(em_warp *w, const em_inst *i, uint8_t *memory, uint64_t value)
{
    uint32_t bytes = ptx_types[i->type].bytes;
    bool changed = false;
    w->machine->atomics++;
    if (w->machine->parallel)
        update_atomically(i, memory, bytes, value, 0, &changed);
    else
        update_memory(i, memory, bytes, value, 0, &changed);
}

cute_status em_decode_atomic(em_parser *p, const em_raw *raw, em_inst *i)
{
    bool red = i->opcode == EM_OP_red, cas = em_has(i, EM_M_cas);
    int at = red ? 0 : 1, values = cas ? 2 : 1;
    if (em_has(i, EM_M_async)) return em_decode_red_async(p, raw, i);
    CUTE_TRY(em_operands(p, raw, at + 1 + values, at + 2 + values));
    if (!i->type_count || ptx_types[i->type].bytes < 2) return em_unknown(p, raw);
    CUTE_TRY(em_space_operand(p, raw, i, at));
    i->memory.vector = em_has(i, EM_M_v2) ? 2 : em_has(i, EM_M_v4) ? 4 : em_has(i, EM_M_v8) ? 8 : 1;
    i->memory.address = (uint8_t)at;
    i->count = (uint8_t)(at + 1 + values);
    i->run = run_atomic;
    if (i->memory.vector > 1) {
        em_operand *lists[2] = {red ? NULL : &i->o[0], &i->o[at + 1]};
        for (int n = 0; n < 2; n++) {
            if (!lists[n]) continue;
            if (lists[n]->kind != EM_O_VECTOR || lists[n]->count != i->memory.vector)
                return em_wrong(p, raw, ".v%d expects a list of %d registers", i->memory.vector,
                                i->memory.vector);
            for (int v = 0; v < i->memory.vector; v++)
                CUTE_TRY(n ? em_source_at(p, raw, &lists[n]->list[v], (ptx_type)i->type)
                           : em_target_at(p, raw, &lists[n]->list[v], (ptx_type)i->type, true));
        }
        return CUTE_OK;
    }
    if (!red) CUTE_TRY(em_target(p, raw, i, 0, (ptx_type)i->type, true));
    for (int n = 0; n < values; n++) CUTE_TRY(em_source(p, raw, i, at + 1 + n, (ptx_type)i->type));
    return CUTE_OK;
}
