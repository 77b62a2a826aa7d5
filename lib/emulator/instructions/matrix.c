/* Matrix instructions: ldmatrix, stmatrix, movmatrix, mma, wmma, wgmma. Arithmetic and layouts are in mma.h,
 * wgmma.h and matrix.h; this file handles operands and timing. */
#include "lib/emulator/program/decode.h"

#include "lib/emulator/instructions/lanes.h"
#include "lib/numeric/matrix.h"
#include "lib/numeric/wgmma.h"
#include "lib/order/group.h"

enum { MOST_REGISTERS = 128 };

static cute_status register_list(em_parser *p, const em_raw *raw, em_operand *o, int count, ptx_type type,
                                 bool target)
{
    if (count == 1 && o->kind == EM_O_VALUE) {
        em_operand *one = cute_arena_alloc(p->arena, sizeof *one);
        if (!one) return cute_fail_memory(p->diag);
        *one = *o;
        *o = (em_operand){.kind = EM_O_VECTOR, .count = 1, .list = one};
    }
    if (o->kind != EM_O_VECTOR || o->count != count)
        return em_wrong(p, raw, "expected a list of %d registers, got %d", count,
                        o->kind == EM_O_VECTOR ? o->count : 1);
    for (int n = 0; n < count; n++)
        CUTE_TRY(target ? em_target_at(p, raw, &o->list[n], type, false)
                        : em_source_at(p, raw, &o->list[n], type));
    return CUTE_OK;
}

/* ---- ldmatrix, stmatrix, movmatrix ---- */

static void run_ldmatrix(em_warp *w, const em_inst *i, uint32_t mask)
{
    bool store = i->opcode == EM_OP_stmatrix;
    const em_operand *registers = &i->o[store ? 1 : 0], *memory = &i->o[store ? 0 : 1];
    int count = registers->count;
    const void *rows[32] = {0};
    uint32_t *d[4] = {0};
    if (!em_gather(w, i, w->alive, &mask)) return;
    for (int l = 0; l < 8 * count; l++) {
        uint64_t address = em_address(w, memory, l);
        if (!(mask >> l & 1)) {
            em_fault(w, i, l, "%s requires all lanes of the warp", em_instruction_name(i));
            return;
        }
        uint32_t shared;
        if (address & 15) {
            em_fault(w, i, l, "misaligned row of %s: address 0x%llx, alignment 16", em_instruction_name(i),
                     (unsigned long long)address);
            return;
        }
        if (!em_shared_address(w, i, l, address, &shared)) return;
        rows[l] = em_locate(w, i, l, EM_SHARED, shared, 16, store ? EM_WRITE : EM_READ);
        if (!rows[l]) return;
    }
    em_count_bytes(w->machine, i, EM_SHARED, store, 8 * 16 * (uint64_t)count);
    for (int n = 0; n < count; n++) d[n] = em_r32(w, &registers->list[n]);
    if (store)
        num_stmatrix(count, em_has(i, EM_M_trans), (void *const *)(uintptr_t)rows,
                     (const uint32_t *const *)(uintptr_t)d);
    else
        num_ldmatrix(count, em_has(i, EM_M_trans), rows, d);
}

cute_status em_decode_ldmatrix(em_parser *p, const em_raw *raw, em_inst *i)
{
    bool store = i->opcode == EM_OP_stmatrix;
    int count = em_has(i, EM_M_x4) ? 4 : em_has(i, EM_M_x2) ? 2 : 1;
    CUTE_TRY(em_operands(p, raw, 2, 2));
    if (i->type != PTX_b16) return em_unknown(p, raw);
    CUTE_TRY(em_space_operand(p, raw, i, store ? 0 : 1));
    i->run = run_ldmatrix;
    return register_list(p, raw, &i->o[store ? 1 : 0], count, PTX_b32, !store);
}

static void run_movmatrix(em_warp *w, const em_inst *i, uint32_t mask)
{
    if (!em_gather(w, i, w->alive, &mask)) return;
    num_movmatrix(em_r32(w, &i->o[0]), em_r32(w, &i->o[1]));
}

cute_status em_decode_movmatrix(em_parser *p, const em_raw *raw, em_inst *i)
{
    CUTE_TRY(em_operands(p, raw, 2, 2));
    CUTE_TRY(em_target(p, raw, i, 0, PTX_b32, false));
    i->run = run_movmatrix;
    return em_source(p, raw, i, 1, PTX_b32);
}

/* ---- mma, wmma.mma ---- */

static void register_pointers(const em_warp *w, const em_operand *o, void **out)
{
    for (int n = 0; n < o->count && n < MOST_REGISTERS; n++)
        out[n] = w->base[o->list[n].base] + o->list[n].at;
}

static void run_mma(em_warp *w, const em_inst *i, uint32_t mask)
{
    const num_mma *form = i->mma.form;
    const num_mma_options options = {
        .satfinite = i->mma.satfinite, .a_col = i->mma.a_col, .b_row = i->mma.b_row};
    void *r[4][MOST_REGISTERS];
    if (!em_gather(w, i, w->started, &mask)) return;
    if (mask != UINT32_MAX) {
        em_fault(w, i, -1, "%s requires all lanes of the warp, got active lanes 0x%08x",
                 em_instruction_name(i), mask);
        return;
    }
    for (int n = 0; n < 4; n++) register_pointers(w, &i->o[n], r[n]);
    num_mma_run(form, &options, r[0], (const void *const *)r[1], (const void *const *)r[2],
                (const void *const *)r[3]);
    w->machine->counts.mma_flops += 2ull * (uint64_t)form->m * (uint64_t)form->n * (uint64_t)form->k;
}

/* Whether the `which`-th of the modifiers .row and .col is .col. */
static bool is_col(const em_raw *raw, int which)
{
    int seen = 0;
    for (int n = 0; n < raw->modifier_count; n++) {
        uint8_t m = raw->modifiers[n];
        if ((m == EM_M_row || m == EM_M_col) && seen++ == which) return m == EM_M_col;
    }
    return which == 1;
}

static ptx_type register_type(ptx_type element)
{
    return element == PTX_f64 ? PTX_f64 : PTX_b32;
}

cute_status em_decode_mma(em_parser *p, const em_raw *raw, em_inst *i)
{
    bool wmma = i->opcode == EM_OP_wmma;
    num_mma *form = cute_arena_alloc(p->arena, sizeof *form);
    if (!form) return cute_fail_memory(p->diag);
    /* Types of mma: d, a, b, c. wmma.mma of f16 names d and c only. */
    ptx_type d = (ptx_type)i->types[0], a = (ptx_type)i->types[1], b = (ptx_type)i->types[2],
             c = (ptx_type)i->types[3];
    if (wmma && i->type_count == 2) {
        a = b = PTX_f16;
        c = (ptx_type)i->types[1];
    } else if (i->type_count != 4) {
        return em_wrong(p, raw, "expected the types of D, A, B and C");
    }
    num_mma_op op = em_has(i, EM_M_xor) ? NUM_XOR_POPC : em_has(i, EM_M_and) ? NUM_AND_POPC : NUM_MUL_ADD;
    if (!num_mma_find(wmma, raw->m, raw->n, raw->k, a, b, c, d, op, form)) return em_unknown(p, raw);
    CUTE_TRY(em_operands(p, raw, 4, 4));
    const ptx_type types[4] = {d, a, b, c};
    const uint8_t counts[4] = {form->registers[3], form->registers[0], form->registers[1],
                               form->registers[2]};
    for (int n = 0; n < 4; n++) {
        ptx_type type = register_type(types[n]);
        CUTE_TRY(register_list(p, raw, &i->o[n], counts[n], type, n == 0));
    }
    i->mma.form = form;
    i->mma.satfinite = em_has(i, EM_M_satfinite);
    i->mma.a_col = is_col(raw, 0);
    i->mma.b_row = !is_col(raw, 1);
    i->run = run_mma;
    return CUTE_OK;
}

/* ---- wmma.load, wmma.store ---- */

typedef struct mover {
    em_warp *warp;
    const em_inst *inst;
    const em_operand *memory;
    bool store;
} mover;

static bool move_piece(void *context, int lane, int64_t offset, int size, void *bytes)
{
    mover *m = context;
    uint64_t address = em_address(m->warp, m->memory, lane) + (uint64_t)offset;
    uint8_t *p = em_locate(m->warp, m->inst, lane, (em_space)m->inst->space, address, (uint32_t)size,
                           m->store ? EM_WRITE : EM_READ);
    if (!p) return false;
    em_space space = (em_space)m->inst->space;
    em_count_bytes(m->warp->machine, m->inst, space == EM_GENERIC ? EM_GLOBAL : space, m->store,
                   (uint64_t)size);
    if (m->store)
        memcpy(p, bytes, (size_t)size);
    else
        memcpy(bytes, p, (size_t)size);
    return true;
}

static void run_wmma_move(em_warp *w, const em_inst *i, uint32_t mask)
{
    bool store = i->fragment.store, col = i->fragment.col;
    int rows = i->fragment.m, columns = i->fragment.n, depth = i->fragment.k;
    num_operand operand = (num_operand)i->fragment.operand;
    ptx_type type = (ptx_type)i->fragment.type;
    const em_operand *registers = &i->o[store ? 1 : 0], *memory = &i->o[store ? 0 : 1];
    void *r[MOST_REGISTERS];
    mover m = {w, i, memory, store};
    if (!em_gather(w, i, w->started, &mask)) return;
    register_pointers(w, registers, r);
    int64_t stride = i->count > 2       ? (int64_t)(int32_t)em_uniform(w, &i->o[2], mask)
                     : operand == NUM_A ? (col ? rows : depth)
                     : operand == NUM_B ? (col ? depth : columns)
                                        : (col ? rows : columns);
    if (store)
        num_wmma_store(rows, columns, depth, type, col, stride, (const void *const *)r, move_piece, &m);
    else
        num_wmma_load(operand, rows, columns, depth, type, col, stride, r, move_piece, &m);
}

cute_status em_decode_wmma(em_parser *p, const em_raw *raw, em_inst *i)
{
    if (!em_has(i, EM_M_load) && !em_has(i, EM_M_store)) return em_decode_mma(p, raw, i);
    bool store = em_has(i, EM_M_store);
    num_operand operand = em_has(i, EM_M_a) ? NUM_A : em_has(i, EM_M_b) ? NUM_B : NUM_C;
    ptx_type type = (ptx_type)i->type;
    CUTE_TRY(em_operands(p, raw, 2, 3));
    int count = num_wmma_registers(operand, raw->m, raw->n, raw->k, type);
    if (!count) return em_unknown(p, raw);
    CUTE_TRY(em_space_operand(p, raw, i, store ? 0 : 1));
    CUTE_TRY(register_list(p, raw, &i->o[store ? 1 : 0], count, register_type(type), !store));
    if (raw->count > 2) CUTE_TRY(em_source(p, raw, i, 2, PTX_u32));
    i->fragment.operand = (uint8_t)operand;
    i->fragment.type = (uint8_t)type;
    i->fragment.col = em_has(i, EM_M_col);
    i->fragment.store = store;
    i->fragment.m = raw->m;
    i->fragment.n = raw->n;
    i->fragment.k = raw->k;
    i->class = EM_CLASS_MEMORY;
    i->run = run_wmma_move;
    return CUTE_OK;
}

/* ---- wgmma ---- */

typedef struct wgmma_call {
    num_wgmma_operands operands;
    num_wgmma wgmma;
    const uint32_t *a[4];
    uint32_t *d[MOST_REGISTERS];
} wgmma_call;

typedef struct reader {
    em_warp *warp;
    const em_inst *inst;
} reader;

static bool read_wgmma_operand(void *context, num_operand operand, uint32_t address, uint32_t size, void *out)
{
    reader *r = context;
    (void)operand;
    /* Descriptors address the block's own memory, without its rank. */
    uint64_t own = (address & ((1u << EM_RANK_SHIFT) - 1)) | (uint64_t)r->warp->block->rank << EM_RANK_SHIFT;
    const uint8_t *p = em_locate(r->warp, r->inst, -1, EM_SHARED, own, size, EM_READ);
    if (p) memcpy(out, p, size);
    return p != NULL;
}

bool em_warpgroup_issued(const em_warp *w, uint32_t sequence)
{
    uint32_t first = w->index / 4 * 4;
    for (uint32_t n = first; n < first + 4; n++)
        if (n >= w->block->warp_count || w->block->wgmma_issued[n] < sequence) return false;
    return true;
}

/* Finds the same wgmma of the other three warps, if the four can be computed together. */
static bool find_peers(em_machine *m, em_pending *p, em_pending *peers[4])
{
    const wgmma_call *c = p->data;
    for (em_pending *q = m->pending; q; q = q->next) {
        const wgmma_call *other = q->data;
        if (q->kind != EM_P_WGMMA || q->warp->block != p->warp->block ||
            q->warp->index / 4 != p->warp->index / 4)
            continue;
        if (q->sequence != p->sequence || q->inst != p->inst || (q->done && q != p)) continue;
        if (other->operands.a_descriptor != c->operands.a_descriptor ||
            other->operands.b_descriptor != c->operands.b_descriptor ||
            other->wgmma.scale_d != c->wgmma.scale_d)
            continue;
        peers[q->warp->index % 4] = q;
    }
    return peers[0] && peers[1] && peers[2] && peers[3];
}

/* Computes `count` warps of the warpgroup from warp `first` on. Reads the block's memory directly unless a
 * check observes each access. */
static bool compute_wgmma(em_pending *p, int first, int count, num_wgmma_operands *operands)
{
    const wgmma_call *c = p->data;
    const em_block *b = p->warp->block;
    em_machine *m = p->warp->machine;
    reader r = {p->warp, p->inst};
    uint64_t rows = (c->wgmma.a_in_registers ? 0 : 16 * (uint64_t)count) +
                    /* The four warps of a warpgroup read B once; if computed separately, the first one counts
                     * it. */
                    (first == 0 ? (uint64_t)c->wgmma.n : 0);
    em_count_bytes(m, p->inst, EM_SHARED, false, 32 * rows);
    if (!m->launch->hooks.access) {
        operands->shared = b->shared;
        operands->shared_first = EM_SHARED_RESERVED;
        operands->shared_bytes = b->shared_size;
    }
    return num_wgmma_run(&c->wgmma, first, count, operands, read_wgmma_operand, &r);
}

static bool complete_wgmma(em_machine *m, em_pending *p)
{
    wgmma_call *c = p->data;
    em_pending *peers[4] = {0};
    uint64_t flops = 2ull * 16 * (uint64_t)c->wgmma.n * (uint64_t)c->wgmma.k;
    if (!find_peers(m, p, peers)) {
        m->counts.mma_flops += flops;
        return compute_wgmma(p, (int)p->warp->index % 4, 1, &c->operands);
    }
    const uint32_t *a[4 * 4];
    uint32_t *d[4 * MOST_REGISTERS];
    int count = num_wgmma_registers(&c->wgmma);
    for (int w = 0; w < 4; w++) {
        const wgmma_call *own = peers[w]->data;
        memcpy(&a[4 * w], own->a, sizeof own->a);
        memcpy(&d[count * w], own->d, (size_t)count * sizeof *d);
        peers[w]->done = true;
    }
    num_wgmma_operands all = {
        .a_descriptor = c->operands.a_descriptor, .b_descriptor = c->operands.b_descriptor, .a = a, .d = d};
    m->counts.mma_flops += 4 * flops;
    return compute_wgmma(p, 0, 4, &all);
}

static void run_wgmma(em_warp *w, const em_inst *i, uint32_t mask)
{
    const num_wgmma *form = i->wgmma;
    int at = 0;
    if (!em_gather(w, i, w->started, &mask)) return;
    if (mask != UINT32_MAX) {
        em_fault(w, i, -1, "wgmma requires all lanes of the warp, got active lanes 0x%08x", mask);
        return;
    }
    em_pending *p = em_pending_add(w, i, mask, EM_P_WGMMA, sizeof(wgmma_call));
    if (!p) return;
    wgmma_call *c = p->data;
    p->complete = complete_wgmma;
    p->sequence = ++w->block->wgmma_issued[w->index];
    w->machine->changes++;
    c->wgmma = *form;
    const em_operand *d = &i->o[at++], *a = &i->o[at++], *b = &i->o[at++];
    for (int n = 0; n < d->count; n++) c->d[n] = em_r32(w, &d->list[n]);
    for (int n = 0; form->a_in_registers && n < 4; n++) c->a[n] = em_r32(w, &a->list[n]);
    if (!form->a_in_registers) c->operands.a_descriptor = em_uniform(w, a, mask);
    c->operands.b_descriptor = em_uniform(w, b, mask);
    c->wgmma.scale_d = em_uniform(w, &i->o[at], mask) != 0;
    c->operands.a = c->a;
    c->operands.d = c->d;
    if (!w->machine->launch->options.seed && em_warpgroup_issued(w, p->sequence))
        em_pending_run_wgmma(w, p->sequence);
}

/* Groups belong to the warp: its diverged parts commit and wait together. */
static void run_wgmma_commit(em_warp *w, const em_inst *i, uint32_t mask)
{
    if (!em_gather(w, i, w->alive, &mask)) return;
    uint32_t group = ++w->wgmma_groups;
    em_tell(EM_E_COMMIT_GROUP, w, i, mask, EM_P_WGMMA, group);
    for (em_pending *p = w->machine->pending; p; p = p->next)
        if (p->warp == w && p->kind == EM_P_WGMMA && !p->group) p->group = group;
}

static void run_wgmma_wait(em_warp *w, const em_inst *i, uint32_t mask)
{
    uint32_t upto = order_groups_done(w->wgmma_groups, i->group.allowed), last = 0;
    for (const em_pending *p = w->machine->pending; p; p = p->next)
        if (p->warp == w && p->kind == EM_P_WGMMA && !p->done && p->group && p->group <= upto &&
            p->sequence > last)
            last = p->sequence;
    if (last && !em_warpgroup_issued(w, last)) {
        em_block_split(w, EM_WAIT_ASYNC);
        return;
    }
    /* After the gathering above, which is repeated: parts that were gathered have continued. */
    if (!em_gather(w, i, w->alive, &mask)) return;
    em_pending_finish(w, EM_P_WGMMA, mask, upto);
    em_tell(EM_E_WAIT_GROUP, w, i, mask, EM_P_WGMMA, upto);
}

static void run_wgmma_fence(em_warp *w, const em_inst *i, uint32_t mask)
{
    (void)w, (void)i, (void)mask;
}

/* Parses imm-scale-a, imm-scale-b, imm-trans-a, imm-trans-b, as far as the types have them. */
static cute_status decode_wgmma_immediates(em_parser *p, const em_raw *raw, em_inst *i, int at, num_wgmma *g)
{
    int64_t v[4] = {1, 1, 0, 0};
    int given = raw->count - at;
    bool half = g->a == PTX_f16 || g->a == PTX_bf16, real = g->d != PTX_s32;
    int wanted = !real ? 0 : half ? (g->a_in_registers ? 3 : 4) : 2;
    if (given != 0 && given != wanted)
        return em_wrong(p, raw, "expected %d immediates after scale-d, got %d", wanted, given);
    for (int n = 0; n < given; n++) CUTE_TRY(em_number(p, raw, i, at + n, &v[n]));
    if (half && g->a_in_registers) {
        v[3] = v[2];
        v[2] = 0;
    }
    for (int n = 0; n < 4; n++)
        if (n < 2 ? v[n] != 1 && v[n] != -1 : v[n] != 0 && v[n] != 1)
            return em_wrong(p, raw,
                            n < 2 ? "expected a scale of 1 or -1" : "expected a transposition of 0 or 1");
    g->negate_a = v[0] < 0;
    g->negate_b = v[1] < 0;
    g->transpose_a = v[2];
    g->transpose_b = v[3];
    return CUTE_OK;
}

cute_status em_decode_wgmma(em_parser *p, const em_raw *raw, em_inst *i)
{
    int64_t number = 0;
    if (em_has(i, EM_M_fence) || em_has(i, EM_M_commit_group)) {
        CUTE_TRY(em_operands(p, raw, 0, 0));
        i->run = em_has(i, EM_M_fence) ? run_wgmma_fence : run_wgmma_commit;
        return CUTE_OK;
    }
    if (em_has(i, EM_M_wait_group)) {
        CUTE_TRY(em_operands(p, raw, 1, 1));
        CUTE_TRY(em_number(p, raw, i, 0, &number));
        i->group.allowed = (uint32_t)number;
        i->run = run_wgmma_wait;
        return CUTE_OK;
    }
    num_wgmma *g = cute_arena_alloc(p->arena, sizeof *g);
    if (!g) return cute_fail_memory(p->diag);
    if (!em_has(i, EM_M_mma_async) || i->type_count != 3) return em_unknown(p, raw);
    CUTE_TRY(em_operands(p, raw, 4, 8));
    g->n = raw->n;
    g->k = raw->k;
    g->d = (ptx_type)i->type;
    g->a = (ptx_type)i->types[1];
    g->b = (ptx_type)i->types[2];
    g->op = em_has(i, EM_M_and) ? NUM_AND_POPC : NUM_MUL_ADD;
    g->a_in_registers = i->o[1].kind == EM_O_VECTOR;
    g->satfinite = em_has(i, EM_M_satfinite);
    CUTE_TRY(decode_wgmma_immediates(p, raw, i, 4, g));
    g->scale_d = true;
    const char *problem = raw->m == 64 ? num_wgmma_check(g) : "wgmma requires an M of 64";
    if (problem) return em_wrong(p, raw, "%s", problem);
    CUTE_TRY(register_list(p, raw, &i->o[0], num_wgmma_registers(g), PTX_b32, true));
    CUTE_TRY(g->a_in_registers ? register_list(p, raw, &i->o[1], 4, PTX_b32, false)
                               : em_source(p, raw, i, 1, PTX_b64));
    CUTE_TRY(em_source(p, raw, i, 2, PTX_b64));
    i->wgmma = g;
    i->class = EM_CLASS_TENSOR;
    i->run = run_wgmma;
    return em_predicate(p, raw, i, 3, false);
}
