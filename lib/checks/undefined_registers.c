/* Uninitialised registers. Each register has a shadow: a mask of lanes for each of its bytes. Registers are
 * undefined at function entry and after a load of uninitialised memory; moves, packs, shifts and bitwise
 * operations propagate this by byte, other arithmetic to the whole result. Copies are harmless, uses are
 * findings: addresses, branches and other guards, operands of MMAs and atomics, stores to global memory.
 * Stores to shared and local memory make those bytes undefined again. */
#include "lib/checks/undefined_flow.h"

#include <stdio.h>
#include <stdlib.h>

#include "lib/base/list.h"
#include "lib/numeric/mma.h"

/* CC.CF, as add.cc stores it (integer.c). */
static const em_operand carry = {.kind = EM_O_VALUE, .base = EM_BASE_REGISTERS};

/* ---- registers read and written by an instruction ---- */

static bool add_register_use(em_checks *c, const em_operand *o, bool address)
{
    if (!cute_heap_more(&c->uses, c->use_count, &c->use_capacity, sizeof *c->uses, 1024)) return false;
    c->uses[c->use_count++] = (register_use){o, address};
    return true;
}

static bool add_registers(em_checks *c, const em_operand *o, bool address)
{
    if (is_register(o)) return add_register_use(c, o, address);
    bool memory = o->kind == EM_O_MEMORY;
    if (memory || o->kind == EM_O_VECTOR)
        for (int n = 0; n < o->count; n++)
            if (!add_registers(c, &o->list[n], address || memory)) return false;
    return true;
}

static bool reads_carry(const em_inst *i)
{
    return i->opcode == EM_OP_addc || i->opcode == EM_OP_subc || i->opcode == EM_OP_madc;
}

static bool make_register_flow(em_checks *c, const em_inst *i, register_flow *f)
{
    *f = (register_flow){.kind = i->dataflow, .first = (uint32_t)c->use_count};
    for (int n = 0; n < i->results && n < i->count; n++)
        if (i->o[n].kind != EM_O_MEMORY && !add_registers(c, &i->o[n], false)) return false;
    if (em_has(i, EM_M_cc) && !add_register_use(c, &carry, false)) return false;
    f->targets = (uint16_t)(c->use_count - f->first);
    for (int n = 0; n < i->count; n++)
        if ((n >= i->results || i->o[n].kind == EM_O_MEMORY) && !add_registers(c, &i->o[n], false))
            return false;
    if (f->kind == EM_FLOW_WGMMA && i->count && !add_registers(c, &i->o[0], false)) return false;
    if (reads_carry(i) && !add_register_use(c, &carry, false)) return false;
    f->sources = (uint16_t)(c->use_count - f->first - f->targets);
    return true;
}

static bool undefined_registers_grow(em_checks *c, uint32_t places)
{
    const em_cluster *cluster = &c->machine->clusters[0];
    size_t count = (size_t)places * cluster->count * cluster->blocks[0].warp_count;
    uint8_t **list = realloc(c->locals, count * sizeof *list);
    if (!list) return false;
    c->locals = list;
    for (; c->local_count < count; c->local_count++) list[c->local_count] = NULL;
    return true;
}

static bool undefined_registers_begin(em_checks *c)
{
    const em_program *p = c->launch->program;
    c->flows = calloc((size_t)p->count + 1, sizeof *c->flows);
    /* Allocated even if the program uses no registers, so that `uses` is never NULL. */
    bool ok = c->flows && cute_heap_more(&c->uses, 0, &c->use_capacity, sizeof *c->uses, 1024);
    for (uint32_t n = 0; ok && n < p->count; n++) ok = make_register_flow(c, &p->code[n], &c->flows[n]);
    return ok;
}

static void undefined_registers_end(em_checks *c)
{
    for (size_t n = 0; c->locals && n < c->local_count; n++) free(c->locals[n]);
    free(c->locals);
    free(c->flows);
    free(c->uses);
    free(c->origins);
    c->locals = NULL;
    c->flows = NULL;
    c->uses = NULL;
    c->origins = NULL;
    c->local_count = c->use_count = c->use_capacity = c->origin_count = c->origin_capacity = 0;
}

static uint8_t **local_of(em_checks *c, const em_warp *w)
{
    size_t cluster = (size_t)(w->block->cluster - c->machine->clusters);
    return &c->locals[(cluster * (c->entries / c->stride) + w->block->rank) * w->block->warp_count +
                      w->index];
}

static void reset_cluster_registers(em_checks *c, em_cluster *cluster)
{
    for (uint32_t r = 0; r < cluster->count; r++)
        for (uint32_t n = 0; n < cluster->blocks[r].warp_count; n++) {
            em_warp *w = &cluster->blocks[r].warps[n];
            em_frame *frame = w->split->frame;
            if (frame->shadow) memset(frame->shadow, 0xff, frame->function->register_bytes);
            uint8_t *local = *local_of(c, w);
            if (local) memset(local, 0, (size_t)w->local_size * EM_LANES / 8 + 8);
        }
}

/* The origin of undefined bytes in `o`; this instruction if the register was never written. */
static uint32_t origin_of(const em_checks *c, const em_warp *w, const em_operand *o, const em_inst *i)
{
    uint32_t origin = shadow_at(w, o->at)[SHADOW_ORIGIN];
    return origin == NOWHERE ? inst_index(c, i) : origin;
}

/* ---- reports ---- */

/* The name of the register of an operand. */
static void register_name(const em_warp *w, const em_operand *o, char *out, size_t size)
{
    const em_register *r = o->kind == EM_O_VALUE && o->base == EM_BASE_REGISTERS
                               ? em_register_at(w->split->frame->function, o->at)
                               : NULL;
    if (r)
        snprintf(out, size, "%.*s", (int)(r->length < 40 ? r->length : 40), r->name);
    else
        snprintf(out, size, "a register");
}

/* Whether operands decide control flow or a wait. */
static bool is_decision(const em_inst *i)
{
    return i->control != EM_NEXT || i->opcode == EM_OP_bar || i->opcode == EM_OP_barrier;
}

/* A use of an undefined value in one lane. Reported once: from then on the register counts as written. */
static void report_use(em_checks *c, em_warp *w, const em_inst *i, int lane, const em_operand *o,
                       bool address, bool guard)
{
    const em_program *p = c->machine->program;
    const char *name = em_instruction_name(i);
    uint32_t origin = shadow_at(w, o->at)[SHADOW_ORIGIN];
    const char *verb = address                                            ? "computes an address from"
                       : guard || is_decision(i)                          ? "depends on"
                       : c->flows[inst_index(c, i)].kind == EM_FLOW_STORE ? "stores"
                                                                          : "takes";
    char which[48], place[200];
    register_name(w, o, which, sizeof which);
    const register_flow *f = origin < p->count ? &c->flows[origin] : NULL;
    if (!f) {
        em_check_find(c, FOUND_UNINIT_REGISTER, w, i, lane, UINT32_MAX,
                      "uninitialised: %s %s %s, which was never written", name, verb, which);
    } else if (f->origin) {
        const load_origin *from = &c->origins[f->origin - 1];
        uint32_t lanes = from->lanes;
        int at = from->warp == w && lanes >> lane & 1 ? lane : __builtin_ctz(lanes);
        em_shadow_describe(c, w, from->space, from->address[at], place, sizeof place);
        em_check_find(c, FOUND_UNINIT_LOAD, w, &p->code[origin], lane, inst_index(c, i),
                      "uninitialised: %s reads %s, which was never written; %s %s it",
                      em_instruction_name(&p->code[origin]), place, name, verb);
    } else {
        em_check_find(c, FOUND_UNINIT_COMPUTED, w, i, lane, origin,
                      "uninitialised: %s %s %s, which derives from a register that was never written", name,
                      verb, which);
    }
}

static void report_lanes(em_checks *c, em_warp *w, const em_inst *i, uint32_t lanes, const em_operand *o,
                         bool address, bool guard)
{
    for (uint32_t rest = lanes; rest; rest &= rest - 1)
        report_use(c, w, i, __builtin_ctz(rest), o, address, guard);
    set_lanes(w, o, lanes, false, 0);
}

/* ---- propagation ---- */

/* Shuffles, votes and the like, for the lanes of `mask`. */
static void flow_exchange(em_checks *c, em_warp *w, const em_inst *i, uint32_t mask)
{
    const register_flow *f = &c->flows[inst_index(c, i)];
    const register_use *uses = &c->uses[f->first];
    bool shuffle = i->opcode == EM_OP_shfl, elect = i->opcode == EM_OP_elect;
    const em_operand *value = &i->o[shuffle || i->opcode == EM_OP_match ? 2 : 1];
    uint32_t undefined = elect ? 0 : lanes_of(w, value), here = inst_index(c, i), bits[EM_LANES];
    if (!shuffle) {
        uint32_t origin = undefined & mask ? origin_of(c, w, value, i) : 0;
        for (int n = 0; n < f->targets; n++) set_lanes(w, uses[n].o, mask, (undefined & mask) != 0, origin);
        return;
    }
    uint32_t unsure = (lanes_of(w, &i->o[3]) | lanes_of(w, &i->o[4])) & mask, origin = here;
    if (!undefined && !unsure && mask == UINT32_MAX) {
        for (int n = 0; n < f->targets; n++) set_lanes(w, uses[n].o, mask, false, 0);
        return;
    }
    if (undefined) origin = origin_of(c, w, value, i);
    for (int l = 0; l < EM_LANES; l++) {
        uint32_t b = (uint32_t)em_get(w, &i->o[3], l) & 31, k = (uint32_t)em_get(w, &i->o[4], l);
        uint32_t clamp = k & 31, segment = k >> 8 & 31, lane = (uint32_t)l;
        uint32_t most = (lane & segment) | (clamp & ~segment), j;
        bool ok;
        if (em_has(i, EM_M_up)) {
            j = lane - b;
            ok = (int32_t)j >= (int32_t)most;
        } else {
            j = em_has(i, EM_M_down)   ? lane + b
                : em_has(i, EM_M_bfly) ? lane ^ b
                                       : (lane & segment) | (b & ~segment);
            ok = (int32_t)j <= (int32_t)most;
        }
        j = ok ? j & 31 : lane;
        /* Lanes that do not take part supply no value. */
        bits[l] = unsure >> l & 1 || !(mask >> j & 1) ? 15 : bits_of(w, value, (int)j);
    }
    for (uint32_t rest = mask; rest; rest &= rest - 1)
        set_bits(w, &i->o[0], __builtin_ctz(rest), bits[__builtin_ctz(rest)], origin);
    set_lanes(w, &i->o[1], mask & ~unsure, false, 0);
    if (unsure) set_lanes(w, &i->o[1], unsure, true, here);
}

static bool from_memory(const em_checks *c, uint32_t origin)
{
    return origin < c->machine->program->count && c->flows[origin].origin;
}

/* mma: an undefined element of A makes its row of the result undefined, one of B its column. Kernels with
 * partly loaded tiles at matrix edges ignore those. A register that was never written is reported at once. */
static void flow_mma(em_checks *c, em_warp *w, const em_inst *i, uint32_t mask)
{
    uint32_t rows = 0, columns = 0, origin = NOWHERE, sums[EM_LANES] = {0};
    const em_operand *d = &i->o[0];
    const num_mma *form = i->mma.form;
    bool halves = i->type == PTX_f16, same = d->count == i->o[3].count,
         known = form->n == 8 && (form->m == 16 || form->k != 4);
    if (form->m == 8 && i->type == PTX_f64) known = true;
    for (int operand = 1; operand < 4; operand++)
        for (int n = 0; n < i->o[operand].count; n++) {
            const em_operand *o = &i->o[operand].list[n];
            uint32_t lanes = lanes_of(w, o);
            if (!lanes) continue;
            uint32_t from = shadow_at(w, o->at)[SHADOW_ORIGIN];
            if (!known || !from_memory(c, from)) {
                report_lanes(c, w, i, lanes & mask, o, false, false);
                continue;
            }
            if (origin == NOWHERE) origin = from;
            for (uint32_t rest = lanes; rest; rest &= rest - 1) {
                int l = __builtin_ctz(rest);
                if (operand == 1) rows |= 1u << ((l >> 2) + (form->m == 16 && n & 1 ? 8 : 0));
                if (operand == 2) columns |= 1u << (l >> 2);
                if (operand == 3) sums[l] |= same ? 1u << n : UINT32_MAX;
            }
        }
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        int l = __builtin_ctz(rest);
        for (int n = 0; n < d->count; n++) {
            int row = (l >> 2) + ((halves ? n : n >> 1) ? 8 : 0), column = 2 * (l & 3);
            bool all = rows >> row & 1 || sums[l] >> n & 1;
            uint32_t bits = all ? UINT32_MAX : 0;
            if (halves)
                bits |= (columns >> column & 1 ? 3u : 0) | (columns >> (column + 1) & 1 ? 12u : 0);
            else if (columns >> (column + (n & 1)) & 1)
                bits = UINT32_MAX;
            set_bits(w, &d->list[n], l, bits & ones(bytes_of(&d->list[n])), origin);
        }
    }
}

/* A source is undefined in a lane of `mask`. */
static void flow_default(em_checks *c, em_warp *w, const em_inst *i, const register_flow *f, uint32_t mask)
{
    const register_use *targets = &c->uses[f->first], *sources = targets + f->targets;
    uint32_t undefined = 0, origin = NOWHERE;
    if (f->kind == EM_FLOW_MMA) {
        flow_mma(c, w, i, mask);
        return;
    }
    for (int n = 0; n < f->sources; n++) {
        uint32_t lanes = lanes_of(w, sources[n].o) & mask;
        if (!lanes) continue;
        bool memory = f->kind == EM_FLOW_LOAD || f->kind == EM_FLOW_STORE;
        if (memory && !sources[n].address) continue;
        if (f->kind == EM_FLOW_WGMMA && n >= f->sources - f->targets) {
            uint32_t scale = em_mask_of(w, &i->o[3]); /* D = A*B where it is false */
            lanes &= scale;
        }
        if (f->kind >= EM_FLOW_LOAD) {
            if (lanes) report_lanes(c, w, i, lanes, sources[n].o, sources[n].address, false);
            continue;
        }
        if (origin == NOWHERE) origin = origin_of(c, w, sources[n].o, i);
        undefined |= lanes;
    }
    if (!undefined) {
        for (int n = 0; n < f->targets; n++) set_lanes(w, targets[n].o, mask, false, 0);
    } else if (f->kind == EM_FLOW_PURE) {
        for (int n = 0; n < f->targets; n++) {
            set_lanes(w, targets[n].o, mask & ~undefined, false, 0);
            set_lanes(w, targets[n].o, undefined, true, origin);
        }
    } else {
        for (uint32_t rest = mask; rest; rest &= rest - 1) {
            int l = __builtin_ctz(rest);
            bool some = undefined >> l & 1,
                 plain = i->o[0].kind != EM_O_VECTOR && i->o[1].kind != EM_O_VECTOR;
            uint32_t parts = some && plain ? em_flow_parts(w, i, (em_dataflow)f->kind, l) : 0;
            bool computed = plain && i->count > 1 && is_computed(w, &i->o[1], l);
            if (f->kind == EM_FLOW_COPY) {
                em_flow_move(w, i, l, origin);
            } else {
                uint32_t bits = some ? em_flow_bits(w, i, (em_dataflow)f->kind, l) : 0;
                for (int n = 0; n < f->targets; n++) set_bits(w, targets[n].o, l, bits, origin);
            }
            if (parts) set_parts(w, &i->o[0], l, parts);
            if (some && (f->kind != EM_FLOW_COPY || (plain && computed))) set_computed(w, &i->o[0], l);
        }
    }
}

static void undefined_registers_step(em_checks *c, em_warp *w, const em_inst *i, uint32_t lanes,
                                     uint32_t mask)
{
    const register_flow *f = &c->flows[inst_index(c, i)];
    const register_use *use = &c->uses[f->first], *targets = use + f->targets, *end = targets + f->sources;
    uint32_t unsure = i->guard ? shadow_at(w, i->guard_at)[SHADOW_ANY] & lanes : 0, undefined = 0;
    if (f->kind == EM_FLOW_LANES) {
        bool by_event = em_has(i, EM_M_sync) && i->opcode != EM_OP_movmatrix;
        if (!by_event && mask) flow_exchange(c, w, i, mask);
    } else {
        for (const register_use *s = targets; s < end; s++) undefined |= shadow_at(w, s->o->at)[SHADOW_ANY];
        if (undefined & mask)
            flow_default(c, w, i, f, mask);
        else
            for (; use < targets; use++)
                if (shadow_at(w, use->o->at)[SHADOW_ANY] & mask) set_lanes(w, use->o, mask, false, 0);
    }
    if (!unsure) return;
    em_operand guard = carry;
    guard.at = i->guard_at;
    if (f->kind > EM_FLOW_LOAD || !f->targets) {
        report_lanes(c, w, i, unsure, &guard, false, true);
        return;
    }
    uint32_t origin = origin_of(c, w, &guard, i);
    for (use = &c->uses[f->first]; use < targets; use++) set_lanes(w, use->o, unsure, true, origin);
}

/* ---- memory ---- */

bool em_registers_load(em_checks *c, em_warp *w, const em_inst *i, int lane, em_space space, uint64_t address,
                       uint64_t undefined)
{
    register_flow *f = c->flows ? &c->flows[inst_index(c, i)] : NULL;
    /* An exchange returns the old value, as a load does. */
    if (!f || (f->kind != EM_FLOW_LOAD && !em_has(i, EM_M_exch)) || c->machine->completing || lane < 0)
        return false;
    if (!f->origin) {
        if (!cute_heap_more(&c->origins, c->origin_count, &c->origin_capacity, sizeof *c->origins, 16))
            return false;
        c->origins[c->origin_count] = (load_origin){0};
        f->origin = (uint32_t)++c->origin_count;
    }
    load_origin *from = &c->origins[f->origin - 1];
    if (from->warp != w) from->lanes = 0;
    from->warp = w;
    from->space = space;
    from->lanes |= 1u << lane;
    from->address[lane] = address + (uint64_t)__builtin_ctzll(undefined);
    uint32_t here = inst_index(c, i);
    const em_operand *d = i->o[0].kind == EM_O_VECTOR ? i->o[0].list : &i->o[0];
    if (i->opcode == EM_OP_ldmatrix) {
        int row = lane & 7;
        d = &d[lane >> 3];
        for (int n = 0; n < 8; n++) { /* its 8 halves belong to 4 lanes in order, or to a column */
            bool across = em_has(i, EM_M_trans);
            int to = across ? 4 * n + row / 2 : 4 * row + n / 2, half = across ? row & 1 : n & 1;
            uint32_t bits = (uint32_t)(undefined >> 2 * n & 3) << 2 * half;
            if (bits) {
                set_bits(w, d, to, bits | bits_of(w, d, to), here);
                from->lanes |= 1u << to;
                from->address[to] = address + 2 * (uint64_t)n;
            }
        }
        return true;
    }
    int bytes = ptx_types[i->type].bytes;
    bool sign = ptx_types[i->type].kind == PTX_SIGNED;
    for (int n = 0; n < i->memory.vector; n++) {
        uint32_t bits = (uint32_t)(undefined >> n * bytes) & ones(bytes);
        if (sign && bits >> (bytes - 1) & 1) bits |= ~ones(bytes);
        if (is_register(&d[n])) set_bits(w, &d[n], lane, bits & ones(bytes_of(&d[n])), here);
        if (bits && bytes < bytes_of(&d[n])) set_computed(w, &d[n], lane);
    }
    return true;
}

/* The 8 halves of a row that stmatrix writes come from 4 lanes in order, or a column. */
static uint64_t row_bits(const em_warp *w, const em_inst *i, int lane)
{
    const em_operand *s = &i->o[1].list[lane >> 3];
    int row = lane & 7;
    bool across = em_has(i, EM_M_trans);
    uint64_t undefined = 0;
    for (int n = 0; n < 8; n++) {
        int from = across ? 4 * n + row / 2 : 4 * row + n / 2, half = across ? row & 1 : n & 1;
        undefined |= (uint64_t)(bits_of(w, s, from) >> 2 * half & 3) << 2 * n;
    }
    return undefined;
}

uint64_t em_registers_store(em_checks *c, em_warp *w, const em_inst *i, int lane, bool global)
{
    const register_flow *f = c->flows ? &c->flows[inst_index(c, i)] : NULL;
    if (!f || f->kind != EM_FLOW_STORE || lane < 0) return 0;
    const em_operand *s = i->o[1].kind == EM_O_VECTOR ? i->o[1].list : &i->o[1];
    int bytes = ptx_types[i->type].bytes;
    uint64_t undefined = 0;
    if (i->opcode == EM_OP_stmatrix) return row_bits(w, i, lane);
    for (int n = 0; n < i->memory.vector; n++) {
        uint32_t bits = bits_of(w, &s[n], lane) & ones(bytes), parts = parts_of(w, &s[n], lane);
        /* Copies of structures include padding, so part of a copied value may be undefined. */
        if (global && bits && (bits == ones(bytes) || is_computed(w, &s[n], lane))) {
            report_use(c, w, i, lane, &s[n], false, false);
            set_lanes(w, &s[n], 1u << lane, false, 0);
            bits = 0;
        }
        bits &= ~parts; /* a bit-field in otherwise undefined memory */
        undefined |= (uint64_t)bits << n * bytes;
    }
    return undefined;
}

bool em_registers_undefined(const em_checks *c, const em_warp *w, const em_inst *i, uint32_t mask)
{
    const em_operand *s = i->o[1].kind == EM_O_VECTOR ? i->o[1].list : &i->o[1];
    uint32_t lanes = 0;
    for (int n = 0; c->flows && n < i->memory.vector; n++) lanes |= lanes_of(w, &s[n]);
    return lanes & mask;
}

/* ---- local memory: one bit per written byte, lane by lane ---- */

static uint8_t *local_bits(em_checks *c, em_warp *w)
{
    uint8_t **at = local_of(c, w);
    if (!*at) *at = calloc((size_t)w->local_size * EM_LANES / 8 + 8, 1);
    if (!*at) c->exhausted = true;
    return *at;
}

static bool undefined_registers_access(em_checks *c, const memory_access *a)
{
    em_warp *w = a->warp;
    uint64_t size = (uint64_t)w->local_size, undefined = 0;
    if (a->space != EM_LOCAL || a->lane < 0 || a->bytes > 64 || a->address > size ||
        a->bytes > size - a->address)
        return true;
    uint8_t *bits = local_bits(c, w);
    if (!bits) return true;
    if (a->kind != EM_READ) undefined = em_registers_store(c, w, a->inst, a->lane, false);
    for (uint32_t n = 0; n < a->bytes; n++) {
        uint64_t at = (uint64_t)a->lane * size + a->address + n;
        uint8_t bit = (uint8_t)(1u << (at & 7));
        if (a->kind == EM_READ)
            undefined |= (uint64_t)!(bits[at >> 3] & bit) << n;
        else if (undefined >> n & 1)
            bits[at >> 3] &= (uint8_t)~bit;
        else
            bits[at >> 3] |= bit;
    }
    if (a->kind == EM_READ && undefined)
        em_registers_load(c, w, a->inst, a->lane, EM_LOCAL, a->address, undefined);
    return true;
}

/* Local accesses are never rows. */
static bool undefined_registers_row(em_checks *c, const em_warp_access *r, shadow *s, uint64_t at)
{
    (void)c, (void)r, (void)s, (void)at;
    return true;
}

/* Local memory at the start of a call, or written by it. */
static void enter_frame(em_checks *c, em_warp *w, uint32_t lanes, uint64_t from, uint64_t bytes, bool written)
{
    uint8_t *bits = local_bits(c, w);
    uint64_t size = (uint64_t)w->local_size;
    if (!bits || from > size || bytes > size - from) return;
    shadow all = {.total = size * EM_LANES, .written = bits};
    for (uint32_t rest = lanes; rest; rest &= rest - 1)
        em_shadow_write(&all, (uint64_t)__builtin_ctz(rest) * size + from, bytes, written);
}

static void undefined_registers_event(em_checks *c, em_event event, em_warp *w, const em_inst *i,
                                      uint32_t mask, uint64_t a, uint64_t b)
{
    switch ((int)event) {
    case EM_E_BEGIN: reset_cluster_registers(c, w->block->cluster); break;
    case EM_E_WARP_EXCHANGE:
        if (i) flow_exchange(c, w, i, mask);
        break;
    case EM_E_FRAME_ENTER:
    case EM_E_FRAME_WRITE: enter_frame(c, w, mask, a, b, event == EM_E_FRAME_WRITE); break;
    default: break;
    }
}

static const em_part *const needs[] = {&em_part_clusters, NULL};
const em_part em_part_undefined_registers = {
    .needs = needs,
    .events = EVENT(BEGIN) | EVENT(WARP_EXCHANGE) | EVENT(FRAME_ENTER) | EVENT(FRAME_WRITE),
    .begin = undefined_registers_begin,
    .grow = undefined_registers_grow,
    .end = undefined_registers_end,
    .event = undefined_registers_event,
    .access = undefined_registers_access,
    .row = undefined_registers_row,
    .step = undefined_registers_step,
    .shadows_registers = true,
};
