/* Registers of wgmma: wgmma reads and writes them asynchronously. Between it and the wgmma.wait_group that
 * waits for its group nothing else may touch its accumulator or change its operands. A wgmma.fence has to stand before the
 * first wgmma, and between any access to a register and a wgmma that names it, but between accumulators of wgmmas of one
 * shape (PTX ISA 8.5, 9.7.15.1 and 9.7.15.7.1). Only registers that some wgmma names are watched: which instructions touch
 * them is found once a launch. Kept by warp: a wgmma needs all its lanes. */
#include "lib/checks/parts.h"

#include <stdlib.h>

#include "lib/base/list.h"
#include "lib/numeric/wgmma.h"

enum { COMMITS_KEPT = 64 };

/* An instruction touches a register. */
typedef struct touch {
    uint32_t slot;
    bool write;
} touch;

typedef struct slot_state {
    uint32_t wgmma, inst,
        issued; /* the last wgmma that has it, by its number in the warp, 0 none; `issued`: as `used` */
    uint32_t used, user; /* fences of the warp when something else last accessed it, + 1 */
    bool written;        /* that was a write; reads behind it in front of the next fence do not count */
    bool operand;        /* the wgmma only reads it */
} slot_state;

typedef struct warp_wgmma {
    uint32_t issued, finished, fences;
    uint32_t committed[COMMITS_KEPT]; /* wgmma issued when a group was */
} warp_wgmma;

struct wgmma_registers {
    uint32_t slots, warps;
    uint32_t *first; /* of an instruction's touches; one more than there are instructions */
    touch *touches;
    warp_wgmma *warp;
    slot_state *state; /* of each warp in turn */
};

/* ---- which instructions touch what ---- */

static bool is_wgmma(const em_inst *i)
{
    return i->opcode == EM_OP_wgmma && em_has(i, EM_M_mma_async);
}

typedef struct walk {
    uint32_t *at; /* of registers, sorted */
    uint32_t count, base;
    size_t capacity;
    touch *out;
    uint32_t found;
    bool collect, failed;
} walk;

static uint32_t place_of(const walk *v, uint32_t at)
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

static void visit(walk *v, const em_operand *o, bool write)
{
    if (o->kind == EM_O_VECTOR || o->kind == EM_O_MEMORY) {
        for (uint32_t n = 0; n < o->count; n++) visit(v, &o->list[n], write && o->kind == EM_O_VECTOR);
        return;
    }
    if (o->kind != EM_O_VALUE || o->base != EM_BASE_REGISTERS || !o->bytes) return;
    uint32_t place = place_of(v, o->at);
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

/* D, and A where it is in registers. */
static void visit_wgmma(walk *v, const em_inst *i)
{
    const num_wgmma *form = i->wgmma;
    visit(v, &i->o[0], true);
    if (form->a_in_registers) visit(v, &i->o[1], false);
}

static void visit_any(walk *v, const em_inst *i)
{
    if (is_wgmma(i)) {
        visit_wgmma(v, i);
        return;
    }
    for (int n = 0; n < i->count; n++) visit(v, &i->o[n], n == 0);
}

/* Twice: first counted, then noted. */
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

static void end(em_checks *c)
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

static bool begin(em_checks *c)
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

static bool grow(em_checks *c, uint32_t places)
{
    struct wgmma_registers *p = c->wgmma;
    if (!p) return true;
    p->warps = c->machine->clusters[0].count * c->machine->clusters[0].blocks[0].warp_count;
    size_t warps = (size_t)p->warps * places;
    warp_wgmma *warp = realloc(p->warp, warps * sizeof *warp);
    if (warp) p->warp = warp;
    slot_state *state = realloc(p->state, warps * p->slots * sizeof *state);
    if (state) p->state = state;
    return warp && state; /* begin_cluster clears them */
}

/* ---- as it happens ---- */

static size_t number_of(const em_checks *c, const em_warp *w)
{
    return (size_t)(w->block->cluster - c->machine->clusters) * c->wgmma->warps +
           w->block->rank * w->block->warp_count + w->index;
}

static void begin_cluster(em_checks *c, const em_warp *any)
{
    struct wgmma_registers *p = c->wgmma;
    size_t first = (size_t)(any->block->cluster - c->machine->clusters) * p->warps;
    memset(&p->warp[first], 0, p->warps * sizeof *p->warp);
    memset(&p->state[first * p->slots], 0, (size_t)p->warps * p->slots * sizeof *p->state);
}

static void waited(warp_wgmma *own, uint32_t group)
{
    uint32_t upto = group ? own->committed[group % COMMITS_KEPT] : 0;
    if (upto > own->finished) own->finished = upto;
}

static void event(em_checks *c, em_event event, em_warp *w, const em_inst *i, uint32_t mask, uint64_t a,
                  uint64_t b)
{
    (void)i, (void)mask;
    if (!c->wgmma) return;
    if (event == EM_E_BEGIN) {
        begin_cluster(c, w);
        return;
    }
    warp_wgmma *own = &c->wgmma->warp[number_of(c, w)];
    if (a != EM_P_WGMMA) return;
    if (event == EM_E_COMMIT_GROUP) own->committed[(uint32_t)b % COMMITS_KEPT] = own->issued;
    if (event == EM_E_WAIT_GROUP) waited(own, (uint32_t)b);
}

/* Why a wgmma needs a fence in front of it that is not there; NULL: it does not. */
static const char *lacks_fence(const em_checks *c, const em_inst *i, const warp_wgmma *own,
                               const slot_state *s, bool accumulator, uint32_t *other)
{
    uint32_t now = own->fences + 1;
    *other = s->user;
    if (s->used == now) return s->written ? "that the warp wrote before" : "that the warp read before";
    *other = s->inst;
    if (s->wgmma && s->issued == now) {
        const num_wgmma *form = i->wgmma, *last = c->launch->program->code[s->inst].wgmma;
        if (accumulator == s->operand && (accumulator || s->wgmma <= own->finished))
            return accumulator ? "that was an operand of another wgmma"
                               : "that was the accumulator of another wgmma";
        if (accumulator && !s->operand && (form->n != last->n || form->k != last->k))
            return "that is the accumulator of a wgmma of another shape";
    }
    return NULL;
}

/* One finding for a wgmma is enough: its registers were mostly used together. */
static void check_wgmma(em_checks *c, em_warp *w, const em_inst *i, const warp_wgmma *own,
                        const slot_state *s, bool accumulator, bool *reported)
{
    uint32_t other;
    const char *why = *reported ? NULL : lacks_fence(c, i, own, s, accumulator, &other);
    if (why)
        em_check_find(c, FOUND_WGMMA_FENCE, w, i, -1, other,
                      "race: wgmma uses as its %s a register %s; no wgmma.fence in between",
                      accumulator ? "accumulator" : "operand", why);
    *reported |= why != NULL;
    if (*reported || accumulator || s->wgmma <= own->finished || s->operand) return;
    *reported = true;
    em_check_find(c, FOUND_WGMMA_OPERAND_IS_ACCUMULATOR, w, i, -1, s->inst,
                  "race: wgmma reads as its operand a register that another wgmma still writes; no "
                  "wgmma.wait_group in between");
}

static bool is_fence(const em_inst *i)
{
    return em_has(i, EM_M_fence) && i->opcode == EM_OP_wgmma;
}

static bool concerns(const em_checks *c, const em_inst *i)
{
    uint32_t at = inst_index(c, i);
    return c->wgmma && (is_fence(i) || c->wgmma->first[at] != c->wgmma->first[at + 1]);
}

static void step(em_checks *c, em_warp *w, const em_inst *i, uint32_t lanes, uint32_t mask)
{
    struct wgmma_registers *p = c->wgmma;
    uint32_t at = inst_index(c, i), from = p->first[at], to = p->first[at + 1];
    (void)lanes;
    if (!mask) return;
    warp_wgmma *own = &p->warp[number_of(c, w)];
    slot_state *state = &p->state[number_of(c, w) * p->slots];
    if (is_fence(i)) own->fences++;
    if (is_wgmma(i)) {
        own->issued++;
        bool reported = false, first = !own->fences && own->issued == 1;
        for (uint32_t n = from; n < to; n++) {
            slot_state *s = &state[p->touches[n].slot];
            bool accumulator = p->touches[n].write;
            check_wgmma(c, w, i, own, s, accumulator, &reported);
            s->operand = !accumulator && (s->operand || s->wgmma <= own->finished);
            s->wgmma = own->issued;
            s->inst = at;
            s->issued = own->fences + 1;
            s->used = 0;
        }
        if (first && !reported)
            em_check_find(c, FOUND_WGMMA_FENCE, w, i, -1, UINT32_MAX,
                          "race: wgmma is the first of its warp; no wgmma.fence before it");
        return;
    }
    for (uint32_t n = from; n < to; n++) {
        const touch *t = &p->touches[n];
        slot_state *s = &state[t->slot];
        if (s->wgmma > own->finished && (t->write || !s->operand))
            em_check_find(
                c, s->operand ? FOUND_WGMMA_OPERAND_WRITTEN : FOUND_WGMMA_ACCUMULATOR, w, i, -1, s->inst,
                "race: %s %s a register that wgmma still %s; no wgmma.wait_group in between",
                em_instruction_name(i), t->write ? "writes" : "reads", s->operand ? "reads" : "writes");
        if (!t->write && s->used == own->fences + 1 && s->written) continue;
        s->used = own->fences + 1;
        s->user = at;
        s->written = t->write;
    }
}

static const em_part *const needs[] = {&em_part_clusters, NULL};
const em_part em_part_wgmma_registers = {
    .needs = needs,
    .events = EVENT(BEGIN) | EVENT(COMMIT_GROUP) | EVENT(WAIT_GROUP),
    .begin = begin,
    .grow = grow,
    .end = end,
    .event = event,
    .concerns = concerns,
    .step = step,
};
