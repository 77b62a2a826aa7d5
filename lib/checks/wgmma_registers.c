/* Registers of wgmma, which accesses them asynchronously. Until the wgmma.wait_group for its group, no other
 * instruction may access its accumulator or write its operands, and both need a preceding wgmma.fence
 * (lib/order/group.h). Tracks only registers that some wgmma names; the instructions that access them are
 * found once per launch. State is per warp, since wgmma needs all lanes. */
#include "lib/checks/parts.h"

#include <stdlib.h>

#include "lib/base/list.h"
#include "lib/numeric/wgmma.h"
#include "lib/order/group.h"

/* An access of an instruction to a register. */
typedef struct touch {
    uint32_t slot;
    bool write;
} touch;

typedef struct slot_state {
    order_registers of;
    uint32_t inst, user; /* the latest wgmma that uses it; the latest other instruction */
} slot_state;

struct wgmma_registers {
    uint32_t slots, warps;
    uint32_t *first; /* index of an instruction's first touch; one element more than instructions */
    touch *touches;
    order_products *warp;
    slot_state *state; /* warp by warp */
};

/* ---- accesses by instruction ---- */

static bool is_wgmma(const em_inst *i)
{
    return i->opcode == EM_OP_wgmma && em_has(i, EM_M_mma_async);
}

typedef struct walk {
    uint32_t *at; /* frame offsets of registers, sorted */
    uint32_t count, base;
    size_t capacity;
    touch *out;
    uint32_t found;
    bool collect, failed;
} walk;

static uint32_t register_slot(const walk *v, uint32_t at)
{
    uint32_t low = 0, high = v->count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (v->at[middle] < at)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void visit_register(walk *v, const em_operand *o, bool write)
{
    if (o->kind == EM_O_VECTOR || o->kind == EM_O_MEMORY) {
        for (uint32_t n = 0; n < o->count; n++)
            visit_register(v, &o->list[n], write && o->kind == EM_O_VECTOR);
        return;
    }
    if (o->kind != EM_O_VALUE || o->base != EM_BASE_REGISTERS || !o->bytes) return;
    uint32_t place = register_slot(v, o->at);
    bool there = place < v->count && v->at[place] == o->at;
    if (!v->collect) {
        if (!there) return;
        if (v->out) v->out[v->found] = (touch){.slot = v->base + place, .write = write};
        v->found++;
        return;
    }
    if (there) return;
    if (!cute_heap_more(&v->at, v->count, &v->capacity, sizeof *v->at, 64)) {
        v->failed = true;
        return;
    }
    memmove(&v->at[place + 1], &v->at[place], (v->count - place) * sizeof *v->at);
    v->at[place] = o->at;
    v->count++;
}

/* D, and A if in registers. */
static void visit_wgmma(walk *v, const em_inst *i)
{
    const num_wgmma *form = i->wgmma;
    visit_register(v, &i->o[0], true);
    if (form->a_in_registers) visit_register(v, &i->o[1], false);
}

static void visit_any(walk *v, const em_inst *i)
{
    if (is_wgmma(i)) {
        visit_wgmma(v, i);
        return;
    }
    for (int n = 0; n < i->count; n++) visit_register(v, &i->o[n], n == 0);
}

/* Called twice: to count, then to record. */
static bool find_touches(const em_program *program, struct wgmma_registers *p, bool note)
{
    walk v = {0};
    uint32_t slots = 0, total = 0;
    for (size_t f = 0; f < program->function_count && !v.failed; f++) {
        const em_function *function = program->functions[f];
        if (!function->defined) continue;
        v.count = 0;
        v.collect = true;
        for (uint32_t n = function->start; n <= function->end && n < program->count; n++)
            if (is_wgmma(&program->code[n])) visit_wgmma(&v, &program->code[n]);
        v.collect = false;
        v.base = slots;
        slots += v.count;
        for (uint32_t n = function->start; v.count && n <= function->end && n < program->count; n++) {
            v.out = note ? p->touches + p->first[n] : NULL;
            v.found = 0;
            visit_any(&v, &program->code[n]);
            if (!note) p->first[n + 1] = v.found;
            total += v.found;
        }
    }
    free(v.at);
    if (v.failed) return false;
    p->slots = slots;
    if (note) return true;
    for (uint32_t n = 0; n < program->count; n++) p->first[n + 1] += p->first[n];
    p->touches = calloc((size_t)total + 1, sizeof *p->touches);
    return p->touches != NULL;
}

static void wgmma_registers_end(em_checks *c)
{
    struct wgmma_registers *p = c->wgmma;
    if (!p) return;
    free(p->first);
    free(p->touches);
    free(p->warp);
    free(p->state);
    free(p);
    c->wgmma = NULL;
}

static bool wgmma_registers_begin(em_checks *c)
{
    const em_program *program = c->launch->program;
    bool any = false;
    for (uint32_t n = 0; n < program->count; n++) any |= is_wgmma(&program->code[n]);
    if (!any) return true;
    struct wgmma_registers *p = c->wgmma = calloc(1, sizeof *p);
    if (!p) return false;
    p->first = calloc((size_t)program->count + 1, sizeof *p->first);
    return p->first && find_touches(program, p, false) && find_touches(program, p, true);
}

static bool wgmma_registers_grow(em_checks *c, uint32_t places)
{
    struct wgmma_registers *p = c->wgmma;
    if (!p) return true;
    p->warps = c->machine->clusters[0].count * c->machine->clusters[0].blocks[0].warp_count;
    size_t warps = (size_t)p->warps * places;
    order_products *warp = realloc(p->warp, warps * sizeof *warp);
    if (warp) p->warp = warp;
    slot_state *state = realloc(p->state, warps * p->slots * sizeof *state);
    if (state) p->state = state;
    return warp && state; /* begin_cluster clears them */
}

/* ---- events ---- */

static size_t warp_number(const em_checks *c, const em_warp *w)
{
    return (size_t)(w->block->cluster - c->machine->clusters) * c->wgmma->warps +
           w->block->rank * w->block->warp_count + w->index;
}

static void reset_cluster_wgmma(em_checks *c, const em_warp *any)
{
    struct wgmma_registers *p = c->wgmma;
    size_t first = (size_t)(any->block->cluster - c->machine->clusters) * p->warps;
    memset(&p->warp[first], 0, p->warps * sizeof *p->warp);
    memset(&p->state[first * p->slots], 0, (size_t)p->warps * p->slots * sizeof *p->state);
}

static void wgmma_registers_event(em_checks *c, em_event event, em_warp *w, const em_inst *i, uint32_t mask,
                                  uint64_t a, uint64_t b)
{
    (void)i, (void)mask;
    if (!c->wgmma) return;
    if (event == EM_E_BEGIN) {
        reset_cluster_wgmma(c, w);
        return;
    }
    order_products *own = &c->wgmma->warp[warp_number(c, w)];
    if (a != EM_P_WGMMA) return;
    if (event == EM_E_COMMIT_GROUP) order_products_commit(own);
    if (event == EM_E_WAIT_GROUP) order_products_wait(own, (uint32_t)b);
}

/* One finding per wgmma is enough, since its registers are mostly used together. `before`: the earlier
 * state. */
static void report_wgmma_use(em_checks *c, em_warp *w, const em_inst *i, order_use use, bool accumulator,
                             const slot_state *before)
{
    static const char *const why[] = {[ORDER_AFTER_WRITE] = "that the warp wrote",
                                      [ORDER_AFTER_READ] = "that the warp read",
                                      [ORDER_WAS_OPERAND] = "that was an operand of another wgmma",
                                      [ORDER_WAS_ACCUMULATOR] = "that was the accumulator of another wgmma",
                                      [ORDER_OTHER_SHAPE] =
                                          "that is the accumulator of a wgmma of another shape"};
    if (use == ORDER_FIRST_PRODUCT)
        em_check_find(c, FOUND_WGMMA_FENCE, w, i, -1, UINT32_MAX,
                      "race: first wgmma of the warp without a preceding wgmma.fence");
    else if (use == ORDER_OPERAND_PENDING)
        em_check_find(c, FOUND_WGMMA_OPERAND_IS_ACCUMULATOR, w, i, -1, before->inst,
                      "race: wgmma reads as an operand a register that an earlier wgmma still writes; no "
                      "intervening wgmma.wait_group");
    else
        em_check_find(c, FOUND_WGMMA_FENCE, w, i, -1, before->of.used ? before->user : before->inst,
                      "race: wgmma uses as its %s a register %s; no intervening wgmma.fence",
                      accumulator ? "accumulator" : "operand", why[use]);
}

static void check_wgmma_registers(em_checks *c, em_warp *w, const em_inst *i, order_products *own,
                                  slot_state *state, const touch *from, const touch *to)
{
    uint32_t shape = (uint32_t)i->wgmma->n << 16 | (uint32_t)i->wgmma->k;
    bool first = order_product_begins(own), reported = false;
    for (const touch *t = from; t < to; t++) {
        slot_state before = state[t->slot];
        order_use use = order_product_takes(own, &state[t->slot].of, t->write, shape);
        state[t->slot].inst = inst_index(c, i);
        if (use != ORDER_USE_IS_VALID && !reported) report_wgmma_use(c, w, i, use, t->write, &before);
        reported |= use != ORDER_USE_IS_VALID;
    }
    if (first && !reported) report_wgmma_use(c, w, i, ORDER_FIRST_PRODUCT, false, NULL);
}

static bool is_fence(const em_inst *i)
{
    return em_has(i, EM_M_fence) && i->opcode == EM_OP_wgmma;
}

static bool wgmma_registers_concerns(const em_checks *c, const em_inst *i)
{
    uint32_t at = inst_index(c, i);
    return c->wgmma && (is_fence(i) || c->wgmma->first[at] != c->wgmma->first[at + 1]);
}

static void wgmma_registers_step(em_checks *c, em_warp *w, const em_inst *i, uint32_t lanes, uint32_t mask)
{
    struct wgmma_registers *p = c->wgmma;
    uint32_t at = inst_index(c, i), from = p->first[at], to = p->first[at + 1];
    (void)lanes;
    if (!mask) return;
    order_products *own = &p->warp[warp_number(c, w)];
    slot_state *state = &p->state[warp_number(c, w) * p->slots];
    if (is_fence(i)) own->fences++;
    if (is_wgmma(i)) {
        check_wgmma_registers(c, w, i, own, state, p->touches + from, p->touches + to);
        return;
    }
    for (const touch *t = p->touches + from; t < p->touches + to; t++) {
        slot_state *s = &state[t->slot];
        order_use use = order_registers_touched(own, &s->of, t->write);
        if (use != ORDER_USE_IS_VALID)
            em_check_find(
                c, use == ORDER_TOUCHED_OPERAND ? FOUND_WGMMA_OPERAND_WRITTEN : FOUND_WGMMA_ACCUMULATOR, w, i,
                -1, s->inst, "race: %s %s a register that wgmma still %s; no intervening wgmma.wait_group",
                em_instruction_name(i), t->write ? "writes" : "reads",
                use == ORDER_TOUCHED_OPERAND ? "reads" : "writes");
        if (t->write || !s->of.written) s->user = at;
    }
}

static const em_part *const needs[] = {&em_part_clusters, NULL};
const em_part em_part_wgmma_registers = {
    .needs = needs,
    .events = EVENT(BEGIN) | EVENT(COMMIT_GROUP) | EVENT(WAIT_GROUP),
    .begin = wgmma_registers_begin,
    .grow = wgmma_registers_grow,
    .end = wgmma_registers_end,
    .event = wgmma_registers_event,
    .concerns = wgmma_registers_concerns,
    .step = wgmma_registers_step,
};
