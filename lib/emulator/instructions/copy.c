/* Asynchronous copies (cp.async, bulk, tensor), st.async and red.async, their groups and mbarriers. */
#include "lib/emulator/program/decode.h"

#include "lib/base/devices/traffic.h"
#include "lib/numeric/tensormap.h"
#include "lib/order/group.h"

/* with seed 0 nothing is late */
static void complete_without_seed(em_warp *w)
{
    if (!w->machine->launch->options.seed) em_pending_run(w->machine, true);
}

/* ---- groups: counted per lane, since lanes that commit separately have different numbers for the same
 * copies ---- */

static uint32_t *group_counts(em_warp *w, int kind)
{
    return kind == EM_P_BULK ? w->bulk_groups : w->copy_groups;
}

/* Those of `lanes` with as many committed groups as the first one. */
static uint32_t same_number(const uint32_t *numbers, uint32_t lanes)
{
    uint32_t first = numbers[__builtin_ctz(lanes)], same = 0;
    for (int l = 0; l < EM_LANES; l++) same |= (uint32_t)(numbers[l] == first) << l;
    return same & lanes;
}

/* Uncommitted operations join the lanes' next group. */
static void commit_copies(em_warp *w, const em_inst *i, int kind, uint32_t mask)
{
    em_machine *m = w->machine;
    uint32_t *numbers = group_counts(w, kind);
    for (uint32_t rest = mask; rest; rest &= rest - 1) numbers[__builtin_ctz(rest)]++;
    for (em_pending *p = m->pending; p; p = p->next) {
        if (p->warp != w || p->kind != kind || p->group || !(p->lanes & mask)) continue;
        if (!em_pending_split(m, p, mask) || !em_pending_split(m, p, same_number(numbers, p->lanes))) return;
        p->group = numbers[__builtin_ctz(p->lanes)];
    }
    for (uint32_t rest = mask, same; rest; rest &= ~same) {
        same = same_number(numbers, rest);
        em_tell(EM_E_COMMIT_GROUP, w, i, same, (uint64_t)kind, numbers[__builtin_ctz(rest)]);
    }
}

/* ---- cp.async ---- */

typedef struct small_copy {
    uint64_t from[EM_LANES];
    uint32_t to[EM_LANES], size, used[EM_LANES];
} small_copy;

static bool complete_small(em_machine *m, em_pending *p)
{
    small_copy *c = p->data;
    (void)m;
    for (uint32_t rest = p->lanes; rest; rest &= rest - 1) {
        int l = __builtin_ctz(rest);
        uint8_t *to = em_locate(p->warp, p->inst, l, EM_SHARED, c->to[l], c->size, EM_WRITE);
        if (!to) return false;
        uint8_t bytes[16] = {0};
        if (c->used[l]) {
            const uint8_t *from = em_locate(p->warp, p->inst, l, EM_GLOBAL, c->from[l], c->used[l], EM_READ);
            if (!from) return false;
            memcpy(bytes, from, c->used[l]);
        }
        memcpy(to, bytes, c->size);
    }
    return true;
}

em_lane_copy em_cp_async_lane(const em_pending *p, int lane)
{
    const small_copy *c = p->data;
    return (em_lane_copy){.from = c->from[lane], .to = c->to[lane], .used = c->used[lane]};
}

/* [to], [from], size, used (or ignore-src) */
static void run_cp_async(em_warp *w, const em_inst *i, uint32_t mask)
{
    em_pending *p = em_pending_add(w, i, mask, EM_P_CP_ASYNC, sizeof(small_copy));
    if (!p) return;
    small_copy *c = p->data;
    p->complete = complete_small;
    c->size = i->copy.bytes;
    uint64_t used = 0;
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        int l = __builtin_ctz(rest);
        if (!em_shared_address(w, i, l, em_address(w, &i->o[0], l), &c->to[l])) return;
        c->from[l] = em_address(w, &i->o[1], l);
        c->used[l] = c->size;
        if (i->count > 3) {
            uint64_t v = em_get(w, &i->o[3], l);
            c->used[l] = i->o[3].bytes == 0 ? (v ? 0 : c->size) : v > c->size ? c->size : (uint32_t)v;
        }
        used += c->used[l];
        if (c->to[l] % c->size || c->from[l] % c->size) {
            em_fault(w, i, l, "misaligned cp.async of %u bytes: from 0x%llx, to 0x%x, alignment %u", c->size,
                     (unsigned long long)c->from[l], c->to[l], c->size);
            return;
        }
    }
    em_count_bytes(w->machine, i, EM_GLOBAL, false, used);
    em_count_bytes(w->machine, i, EM_SHARED, true, (uint64_t)c->size * em_lanes_in(mask));
    complete_without_seed(w);
}

static void run_commit(em_warp *w, const em_inst *i, uint32_t mask)
{
    commit_copies(w, i, i->group.kind, mask);
}

static void run_copy_wait(em_warp *w, const em_inst *i, uint32_t mask)
{
    int kind = i->group.kind;
    const uint32_t *numbers = group_counts(w, kind);
    if (i->group.all) commit_copies(w, i, kind, mask); /* wait_all: also uncommitted copies */
    for (uint32_t rest = mask, same; rest; rest &= ~same) {
        same = same_number(numbers, rest);
        uint32_t committed = numbers[__builtin_ctz(rest)],
                 upto = order_groups_done(committed, i->group.allowed);
        if (!em_pending_finish(w, kind, same, upto)) return;
        em_tell(EM_E_WAIT_GROUP, w, i, same, (uint64_t)kind, upto);
    }
}

/* cp.async.mbarrier.arrive: an arrival when the lane's earlier copies complete. */
typedef struct arrivals {
    uint32_t address[EM_LANES];
    bool own; /* .noinc */
} arrivals;

static bool complete_arrivals(em_machine *m, em_pending *p)
{
    arrivals *a = p->data;
    (void)m;
    for (uint32_t rest = p->lanes; rest; rest &= rest - 1) {
        int l = __builtin_ctz(rest);
        if (!em_mbarrier_arrive(p->warp, p->inst, l, a->address[l], 1, 0, false, NULL)) return false;
    }
    return true;
}

static void run_cp_arrive(em_warp *w, const em_inst *i, uint32_t mask)
{
    em_pending *p = em_pending_add(w, i, mask, EM_P_MBARRIER, sizeof(arrivals));
    if (!p) return;
    arrivals *a = p->data;
    p->complete = complete_arrivals;
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        int l = __builtin_ctz(rest);
        if (!em_shared_address(w, i, l, em_address(w, &i->o[0], l), &a->address[l])) return;
        if (em_has(i, EM_M_noinc)) continue;
        /* The pending count is incremented first, so that the net change is zero. */
        if (!em_mbarrier_raise(w, i, l, a->address[l])) return;
    }
    complete_without_seed(w);
}

/* ---- reductions in memory ---- */

typedef struct reducer {
    num_reduction reduction;
    cute_tensor_map_type type;
    uint32_t size;
    bool others; /* other threads may write there too */
} reducer;

#define REDUCE(word)                                                                                         \
    do {                                                                                                     \
        word *at = (word *)memory, old = __atomic_load_n(at, __ATOMIC_SEQ_CST), next;                        \
        do {                                                                                                 \
            next = old;                                                                                      \
            num_reduce(r->reduction, r->type, &next, value);                                                 \
        } while (!__atomic_compare_exchange_n(at, &old, next, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST));   \
    } while (0)

static void reduce_one(const reducer *r, void *memory, const void *value)
{
    if (!r->others || r->size < 2)
        num_reduce(r->reduction, r->type, memory, value);
    else if (r->size == 2)
        REDUCE(uint16_t);
    else if (r->size == 4)
        REDUCE(uint32_t);
    else
        REDUCE(uint64_t);
}

static void reduce_all(const reducer *r, uint8_t *memory, const uint8_t *values, uint32_t bytes)
{
    for (uint32_t at = 0; at + r->size <= bytes; at += r->size) reduce_one(r, memory + at, values + at);
}

/* ---- bulk copies ---- */

typedef struct bulk {
    int lane;
    bool tensor, store, multicast, has_barrier, to_shared_from_shared, reduces;
    uint64_t to, from; /* global or shared addresses, by direction */
    uint32_t size, barrier;
    uint32_t targets; /* .multicast: mask of blocks */
    cute_tensor_map map;
    int32_t coordinates[CUTE_MAP_RANK];
    uint16_t offsets[CUTE_MAP_SPATIAL]; /* of an im2col load */
    num_reduction reduction;
    cute_tensor_map_type type;
} bulk;

typedef struct bulk_context {
    em_warp *warp;
    const em_inst *inst;
    int lane;
    uint32_t element; /* bytes of a tensor element */
} bulk_context;

static uint8_t *global_bytes(void *context, uint64_t address, uint32_t size, bool write)
{
    bulk_context *c = context;
    return em_locate(c->warp, c->inst, c->lane, EM_GLOBAL, address, size, write ? EM_WRITE : EM_READ);
}

static uint8_t *shared_bytes(void *context, uint32_t address, uint32_t size, bool write)
{
    bulk_context *c = context;
    return em_locate(c->warp, c->inst, c->lane, EM_SHARED, address, size, write ? EM_WRITE : EM_READ);
}

static bool reduce_global(void *context, num_reduction reduction, cute_tensor_map_type type, uint64_t address,
                          uint32_t count, const void *values)
{
    bulk_context *c = context;
    reducer r = {reduction, type, c->element, c->warp->machine->parallel};
    uint8_t *p = em_locate(c->warp, c->inst, c->lane, EM_GLOBAL, address, count * c->element, EM_ATOMIC);
    if (p) reduce_all(&r, p, values, count * c->element);
    return p != NULL;
}
static uint32_t at_rank(uint32_t address, uint32_t rank)
{
    return (address & ((1u << EM_RANK_SHIFT) - 1)) | rank << EM_RANK_SHIFT;
}

static bool copy_plain(em_pending *p, bulk *b, uint64_t to)
{
    em_space from_space = b->store || b->to_shared_from_shared ? EM_SHARED : EM_GLOBAL;
    em_space to_space = b->store ? EM_GLOBAL : EM_SHARED;
    const uint8_t *from = em_locate(p->warp, p->inst, b->lane, from_space, b->from, b->size, EM_READ);
    uint8_t *d =
        from ? em_locate(p->warp, p->inst, b->lane, to_space, to, b->size, b->reduces ? EM_ATOMIC : EM_WRITE)
             : NULL;
    if (!d) return false;
    if (!b->reduces) {
        memmove(d, from, b->size);
        return true;
    }
    reducer r = {b->reduction, b->type, ptx_types[p->inst->type].bytes,
                 b->store && p->warp->machine->parallel};
    reduce_all(&r, d, from, b->size);
    return true;
}

static bool copy_tensor(em_pending *p, bulk *b, uint32_t shared)
{
    bulk_context context = {p->warp, p->inst, b->lane, (uint32_t)num_tensor_map_element_size(&b->map)};
    num_copy_memory memory = {
        .context = &context, .global = global_bytes, .shared = shared_bytes, .reduce_global = reduce_global};
    const em_launch *launch = p->warp->machine->launch;
    const em_cluster *cluster = p->warp->block->cluster;
    uint32_t rank = shared >> EM_RANK_SHIFT;
    if (!launch->hooks.access && rank < cluster->count && cluster->blocks[rank].alive) {
        const em_allocation *a = em_memory_find(launch->memory, b->map.address);
        if (a) memory.global_area = (num_area){a->host, a->base, a->size};
        memory.shared_area =
            (num_area){cluster->blocks[rank].shared, ((uint64_t)rank << EM_RANK_SHIFT) + EM_SHARED_RESERVED,
                       cluster->blocks[rank].shared_size};
    }
    const char *why = NULL;
    bool done = b->store ? num_box_store(&b->map, b->coordinates, shared, b->reduction, &memory, &why)
                         : num_box_load(&b->map, b->coordinates, b->offsets, shared, &memory, &why);
    if (!done && why) em_fault(p->warp, p->inst, b->lane, "%s", why);
    return done;
}

/* Counts the bytes of a copy to `targets` blocks. Of a tensor box only the part inside the tensor is read,
 * but a load writes all of it. */
static void count_bulk(em_machine *m, const em_inst *i, const bulk *b, uint32_t targets)
{
    bool from_shared = b->store || b->to_shared_from_shared;
    uint64_t bytes = b->tensor ? num_box_inside(&b->map, b->coordinates, b->offsets) : b->size;
    em_count_bytes(m, i, from_shared ? EM_SHARED : EM_GLOBAL, false, bytes);
    /* A reduction also reads its destination. */
    if (b->store && b->reduces) em_count_bytes(m, i, EM_GLOBAL, false, bytes);
    em_count_bytes(m, i, b->store ? EM_GLOBAL : EM_SHARED, true,
                   b->store ? bytes : (uint64_t)b->size * targets);
}

static bool complete_bulk(em_machine *m, em_pending *p)
{
    bulk *b = p->data;
    uint32_t targets = b->multicast ? b->targets : 1;
    for (uint32_t rest = targets; rest; rest &= rest - 1) {
        uint32_t rank = (uint32_t)__builtin_ctz(rest);
        uint64_t to = b->multicast ? at_rank((uint32_t)b->to, rank) : b->to;
        uint32_t barrier = b->multicast ? at_rank(b->barrier, rank) : b->barrier;
        bool done = b->tensor ? copy_tensor(p, b, (uint32_t)(b->store ? b->from : to)) : copy_plain(p, b, to);
        if (!done) return false;
        if (b->has_barrier &&
            !em_mbarrier_arrive(p->warp, p->inst, b->lane, barrier, 0, -(int64_t)b->size, false, NULL))
            return false;
    }
    count_bulk(m, p->inst, b, (uint32_t)__builtin_popcount(targets));
    return true;
}

bool em_bulk_reaches(const em_pending *p, const em_block *block)
{
    const bulk *b = p->data;
    if (p->kind != EM_P_LOAD || p->warp->block->cluster != block->cluster) return false;
    if (b->multicast) return b->targets >> block->rank & 1;
    return b->to >> EM_RANK_SHIFT == block->rank || b->barrier >> EM_RANK_SHIFT == block->rank;
}

/* Operand numbers of a form, -1: absent. */
typedef struct em_bulk_form {
    bool tensor, store, multicast, shared_to_shared, reduces, prefetch, im2col;
    int8_t to, from, size, barrier, mask, map, offsets;
    num_reduction reduction;
    cute_tensor_map_type type;
    int rank;
} em_bulk_form;

static bool read_tensor_map(em_warp *w, const em_inst *i, int l, const em_bulk_form *f, bulk *b)
{
    const em_operand *o = &i->o[f->map];
    uint64_t address = em_address(w, o, l);
    const char *why = NULL;
    if (address & 63) {
        em_fault(w, i, l, "misaligned tensor map: address 0x%llx, alignment 64", (unsigned long long)address);
        return false;
    }
    const uint8_t *bytes = em_locate(w, i, l, EM_GENERIC, address, CUTE_MAP_BYTES, EM_READ);
    if (!bytes) return false;
    if (!num_tensor_map_decode(bytes, &b->map, &why)) {
        em_fault(w, i, l, "invalid tensor map at 0x%llx: %s", (unsigned long long)address, why ? why : "");
        return false;
    }
    if (b->map.rank != f->rank) {
        em_fault(w, i, l, "expected a tensor map of %d dimensions, got %d", f->rank, b->map.rank);
        return false;
    }
    if (b->map.im2col != f->im2col) {
        em_fault(w, i, l, "expected a tensor map in %s mode, as in the instruction, got %s mode",
                 f->im2col ? "im2col" : "tile", f->im2col ? "tile" : "im2col");
        return false;
    }
    for (int n = 0; f->offsets >= 0 && n < f->rank - 2; n++)
        b->offsets[n] = (uint16_t)em_get(w, &i->o[f->offsets].list[n], l);
    for (int n = 0; n < f->rank; n++) b->coordinates[n] = (int32_t)em_get(w, &o->list[1].list[n], l);
    b->size = num_tensor_map_bytes(&b->map);
    return true;
}

static bool take_bulk(em_warp *w, const em_inst *i, int l, const em_bulk_form *f, bulk *b)
{
    uint32_t shared;
    b->lane = l;
    b->tensor = f->tensor;
    b->store = f->store;
    b->multicast = f->multicast;
    b->to_shared_from_shared = f->shared_to_shared;
    b->reduces = f->reduces;
    b->reduction = f->reduction;
    b->type = f->type;
    if (f->map >= 0 && !read_tensor_map(w, i, l, f, b)) return false;
    if (f->size >= 0) b->size = (uint32_t)em_get(w, &i->o[f->size], l);
    if (f->to >= 0) {
        b->to = em_address(w, &i->o[f->to], l);
        if (!f->store && !em_shared_address(w, i, l, b->to, &shared)) return false;
        if (!f->store) b->to = shared;
    }
    if (f->from >= 0) {
        b->from = em_address(w, &i->o[f->from], l);
        if ((f->store || f->shared_to_shared) && !em_shared_address(w, i, l, b->from, &shared)) return false;
        if (f->store || f->shared_to_shared) b->from = shared;
    }
    if (f->barrier >= 0) {
        b->has_barrier = true;
        if (!em_shared_address(w, i, l, em_address(w, &i->o[f->barrier], l), &b->barrier)) return false;
    }
    if (f->multicast) {
        b->targets = (uint32_t)em_get(w, &i->o[f->mask], l) & 0xffff;
        if (b->targets >> w->block->cluster->count) {
            em_fault(w, i, l, "multicast mask 0x%x names blocks outside the cluster of %u", b->targets,
                     w->block->cluster->count);
            return false;
        }
    }
    if (!f->tensor && (b->size % 16 || b->to % 16 || b->from % 16)) {
        em_fault(w, i, l,
                 "misaligned bulk copy of %u bytes: from 0x%llx, to 0x%llx; expected multiples of 16",
                 b->size, (unsigned long long)b->from, (unsigned long long)b->to);
        return false;
    }
    return true;
}

static void run_bulk(em_warp *w, const em_inst *i, uint32_t mask)
{
    const em_bulk_form *f = i->bulk;
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        int l = __builtin_ctz(rest);
        em_pending *p = em_pending_add(w, i, 1u << l, f->barrier >= 0 ? EM_P_LOAD : EM_P_BULK, sizeof(bulk));
        if (!p) return;
        p->complete = complete_bulk;
        if (!take_bulk(w, i, l, f, p->data)) {
            p->done = true;
            return;
        }
        const bulk *b = p->data;
        p->map = b->tensor && !b->store ? &b->map : NULL;
        p->box = (uint32_t)b->to;
    }
    complete_without_seed(w);
}

static void run_bulk_prefetch(em_warp *w, const em_inst *i, uint32_t mask)
{
    (void)w, (void)i, (void)mask;
}

/* ---- decoding ---- */

static bool is_shared_modifier(em_modifier m)
{
    return m == EM_M_shared || m == EM_M_shared_cta || m == EM_M_shared_cluster;
}

/* Whether the destination, named first, is global memory: ".global.shared::cta". */
static bool to_global(const em_raw *raw)
{
    for (int n = 0; n < raw->modifier_count; n++) {
        if (raw->modifiers[n] == EM_M_global) return true;
        if (is_shared_modifier((em_modifier)raw->modifiers[n])) return false;
    }
    return false;
}

static bool from_shared(const em_raw *raw)
{
    int shared = 0;
    for (int n = 0; n < raw->modifier_count; n++)
        shared += is_shared_modifier((em_modifier)raw->modifiers[n]);
    return shared > 1;
}

static num_reduction reduction_of(const em_inst *i)
{
    static const struct {
        em_modifier m;
        num_reduction r;
    } table[] = {{EM_M_add, NUM_REDUCE_ADD}, {EM_M_min, NUM_REDUCE_MIN}, {EM_M_max, NUM_REDUCE_MAX},
                 {EM_M_inc, NUM_REDUCE_INC}, {EM_M_dec, NUM_REDUCE_DEC}, {EM_M_and, NUM_REDUCE_AND},
                 {EM_M_or, NUM_REDUCE_OR},   {EM_M_xor, NUM_REDUCE_XOR}};
    for (size_t n = 0; n < sizeof table / sizeof *table; n++)
        if (em_has(i, table[n].m)) return table[n].r;
    return NUM_REDUCE_NONE;
}

static bool can_reduce(num_reduction reduction, const em_inst *i)
{
    int map = ptx_types[i->type].map;
    return map >= 0 && num_reduction_exists(reduction, (cute_tensor_map_type)map);
}

/* {width, height, depth} of an im2col load. */
static cute_status offsets_at(em_parser *p, const em_raw *raw, em_inst *i, int at, int count)
{
    em_operand *o = &i->o[at];
    if (o->count != count) return em_wrong(p, raw, "expected %d offsets, got %d", count, o->count);
    for (int n = 0; n < count; n++) CUTE_TRY(em_source_at(p, raw, &o->list[n], PTX_b16));
    return CUTE_OK;
}

static cute_status decode_bulk(em_parser *p, const em_raw *raw, em_inst *i, bool reduces)
{
    em_bulk_form *f = cute_arena_alloc(p->arena, sizeof *f);
    if (!f) return cute_fail_memory(p->diag);
    *f =
        (em_bulk_form){.to = -1, .from = -1, .size = -1, .barrier = -1, .mask = -1, .map = -1, .offsets = -1};
    f->tensor = em_has(i, EM_M_tensor);
    f->prefetch = em_has(i, EM_M_prefetch);
    f->store = to_global(raw) && !f->prefetch;
    f->shared_to_shared = from_shared(raw);
    f->multicast = em_has(i, EM_M_multicast_cluster);
    f->reduces = reduces;
    f->rank = em_has(i, EM_M_d1d)   ? 1
              : em_has(i, EM_M_d2d) ? 2
              : em_has(i, EM_M_d3d) ? 3
              : em_has(i, EM_M_d4d) ? 4
                                    : 5;
    bool no_offsets = em_has(i, EM_M_im2col_no_offs);
    f->im2col = em_has(i, EM_M_im2col) || no_offsets;
    if (f->im2col &&
        (!f->tensor || f->rank < 3 || (em_has(i, EM_M_im2col) && f->store) || (no_offsets && !f->store)))
        return em_wrong(p, raw,
                        "expected .im2col on a load or .im2col_no_offs on a store, with 3 to 5 dimensions");
    if (reduces) f->reduction = reduction_of(i);
    if (reduces && f->reduction == NUM_REDUCE_NONE) return em_unknown(p, raw);
    if (reduces && !f->tensor) {
        if (!can_reduce(f->reduction, i)) return em_unknown(p, raw);
        f->type = (cute_tensor_map_type)ptx_types[i->type].map;
    }
    int at = 0;
    if (f->prefetch) {
        i->run = run_bulk_prefetch;
        return CUTE_OK;
    }
    if (f->tensor && f->store) {
        f->map = (int8_t)at++;
        f->from = (int8_t)at++;
    } else {
        f->to = (int8_t)at++;
        if (f->tensor)
            f->map = (int8_t)at++;
        else
            f->from = (int8_t)at++;
        if (!f->tensor) f->size = (int8_t)at++;
    }
    if (!f->store) f->barrier = (int8_t)at++;
    /* the offsets of an im2col load are optional */
    bool offsets = f->im2col && !f->store && at < raw->count && i->o[at].kind == EM_O_VECTOR;
    if (offsets) f->offsets = (int8_t)at++;
    if (f->multicast) f->mask = (int8_t)at++;
    CUTE_TRY(em_operands(p, raw, at, at + 1));
    for (int n = 0; n < at; n++) {
        if (n == f->size)
            CUTE_TRY(em_source(p, raw, i, n, PTX_u32));
        else if (n == f->mask)
            CUTE_TRY(em_source(p, raw, i, n, PTX_b16));
        else if (n == f->offsets)
            CUTE_TRY(offsets_at(p, raw, i, n, f->rank - 2));
        else
            CUTE_TRY(em_memory_operand(p, raw, i, n));
    }
    if (f->map >= 0) {
        em_operand *o = &i->o[f->map];
        if (o->count != 2 || o->list[1].count != f->rank)
            return em_wrong(p, raw, "expected %d coordinates", f->rank);
        for (int n = 0; n < f->rank; n++) CUTE_TRY(em_source_at(p, raw, &o->list[1].list[n], PTX_s32));
    }
    i->bulk = f;
    i->run = run_bulk;
    return CUTE_OK;
}

cute_status em_decode_cp(em_parser *p, const em_raw *raw, em_inst *i)
{
    int64_t number = 0;
    bool reduces = em_has(i, EM_M_reduce), is_bulk = em_has(i, EM_M_bulk);
    uint8_t kind = is_bulk ? EM_P_BULK : EM_P_CP_ASYNC;
    if (em_has(i, EM_M_commit_group)) {
        i->class = EM_CLASS_BARRIER;
        i->group.kind = kind;
        CUTE_TRY(em_operands(p, raw, 0, 0));
        i->run = run_commit;
        return CUTE_OK;
    }
    if (em_has(i, EM_M_wait_group) || em_has(i, EM_M_wait_all)) {
        bool all = em_has(i, EM_M_wait_all);
        CUTE_TRY(em_operands(p, raw, !all, !all));
        if (!all) CUTE_TRY(em_number(p, raw, i, 0, &number));
        i->class = EM_CLASS_BARRIER;
        i->group.kind = kind;
        i->group.all = all;
        i->group.allowed = (uint32_t)number;
        i->run = run_copy_wait;
        return CUTE_OK;
    }
    if (is_bulk) return decode_bulk(p, raw, i, reduces);
    if (em_has(i, EM_M_arrive)) {
        CUTE_TRY(em_operands(p, raw, 1, 1));
        i->class = EM_CLASS_BARRIER;
        i->run = run_cp_arrive;
        return em_memory_operand(p, raw, i, 0);
    }
    CUTE_TRY(em_operands(p, raw, 3, 5));
    CUTE_TRY(em_memory_operand(p, raw, i, 0));
    CUTE_TRY(em_memory_operand(p, raw, i, 1));
    CUTE_TRY(em_number(p, raw, i, 2, &number));
    if (number != 4 && number != 8 && number != 16)
        return em_wrong(p, raw, "expected 4, 8 or 16 bytes for cp.async, got %lld", (long long)number);
    i->copy.bytes = (uint8_t)number;
    i->copy.way = em_has(i, EM_M_cg) ? CUTE_COPY_PAST_L1 : CUTE_COPY_THROUGH_L1;
    i->run = run_cp_async;
    bool hint = em_has(i, EM_M_L2_cache_hint);
    i->count = (uint8_t)(raw->count - hint);
    if (i->count > 3) {
        bool predicate = i->o[3].kind == EM_O_VALUE && i->o[3].bytes == 0;
        return em_source(p, raw, i, 3, predicate ? PTX_pred : PTX_u32);
    }
    return CUTE_OK;
}

/* ---- st.async, red.async: store to a block's shared memory, completing bytes at an mbarrier ---- */

static void run_store_async(em_warp *w, const em_inst *i, uint32_t mask)
{
    uint32_t bytes = ptx_types[i->type].bytes;
    const em_operand *v = i->o[1].kind == EM_O_VECTOR ? i->o[1].list : &i->o[1];
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        int l = __builtin_ctz(rest);
        uint32_t to, barrier;
        if (!em_shared_address(w, i, l, em_address(w, &i->o[0], l), &to) ||
            !em_shared_address(w, i, l, em_address(w, &i->o[2], l), &barrier))
            return;
        uint8_t *p = em_locate(w, i, l, EM_SHARED, to, bytes * i->memory.vector, EM_WRITE);
        if (!p) return;
        for (uint32_t n = 0; n < i->memory.vector; n++) {
            uint64_t value = em_get(w, &v[n], l);
            if (!i->memory.reduction)
                memcpy(p + n * bytes, &value, bytes);
            else
                num_reduce((num_reduction)i->memory.reduction, (cute_tensor_map_type)ptx_types[i->type].map,
                           p + n * bytes, &value);
        }
        if (!em_mbarrier_arrive(w, i, l, barrier, 0, -(int64_t)bytes * i->memory.vector, false, NULL)) return;
    }
}

static cute_status decode_async(em_parser *p, const em_raw *raw, em_inst *i)
{
    CUTE_TRY(em_operands(p, raw, 3, 3));
    i->memory.vector = em_has(i, EM_M_v2) ? 2 : em_has(i, EM_M_v4) ? 4 : 1;
    CUTE_TRY(em_memory_operand(p, raw, i, 0));
    CUTE_TRY(em_memory_operand(p, raw, i, 2));
    i->class = EM_CLASS_COPY;
    i->dataflow = EM_FLOW_USE;
    i->run = run_store_async;
    if (i->memory.vector == 1) return em_source(p, raw, i, 1, (ptx_type)i->type);
    if (i->o[1].kind != EM_O_VECTOR || i->o[1].count != i->memory.vector)
        return em_wrong(p, raw, "expected a list of %d registers", i->memory.vector);
    for (int n = 0; n < i->memory.vector; n++)
        CUTE_TRY(em_source_at(p, raw, &i->o[1].list[n], (ptx_type)i->type));
    return CUTE_OK;
}

cute_status em_decode_store_async(em_parser *p, const em_raw *raw, em_inst *i)
{
    return decode_async(p, raw, i);
}

cute_status em_decode_red_async(em_parser *p, const em_raw *raw, em_inst *i)
{
    i->memory.reduction = (uint8_t)reduction_of(i);
    if (!i->memory.reduction || !can_reduce(reduction_of(i), i)) return em_unknown(p, raw);
    return decode_async(p, raw, i);
}
