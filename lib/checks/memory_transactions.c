/* Bank conflicts and coalescing: merges the accesses of an instruction's lanes into a request and counts its
 * cost, in wavefronts of shared memory or sectors of global memory (lib/base/devices/traffic.h), against the
 * minimum. */
#include "lib/checks/parts.h"

#include <stdlib.h>

static const struct {
    uint32_t check;
    em_space space;
    void (*cost)(const cute_request *request, cute_traffic *out);
} kinds[EM_TRAFFIC_KINDS] = {
    [EM_WAVEFRONTS] = {CUTE_CHECK_BANK, EM_SHARED, cute_traffic_add_wavefronts},
    [EM_SECTORS] = {CUTE_CHECK_COALESCING, EM_GLOBAL, cute_traffic_add_sectors},
};

static bool memory_transactions_begin(em_checks *c)
{
    for (int k = 0; k < EM_TRAFFIC_KINDS; k++) {
        memory_traffic *t = &c->traffic[k];
        t->request.of.count = 0;
        t->by_inst = NULL;
        if (!(c->which & kinds[k].check)) continue;
        t->by_inst = calloc((size_t)c->launch->program->count + 1, sizeof *t->by_inst);
        if (!t->by_inst) return false;
    }
    return true;
}

static void memory_transactions_end(em_checks *c)
{
    for (int k = 0; k < EM_TRAFFIC_KINDS; k++) {
        free(c->traffic[k].by_inst);
        c->traffic[k].by_inst = NULL;
    }
}

static void flush_request(em_checks *c, int kind)
{
    memory_traffic *t = &c->traffic[kind];
    if (t->request.of.count) kinds[kind].cost(&t->request.of, &t->by_inst[inst_index(c, t->request.inst)]);
    t->request.of.count = 0;
}

/* The kind of traffic counted in a space; EM_TRAFFIC_KINDS: none. */
static int traffic_kind(const em_checks *c, em_space space)
{
    int k = 0;
    while (k < EM_TRAFFIC_KINDS && (kinds[k].space != space || !c->traffic[k].by_inst)) k++;
    return k;
}

static bool is_load(const em_inst *i)
{
    return i->opcode == EM_OP_ld || i->opcode == EM_OP_ldu;
}

static bool memory_transactions_access(em_checks *c, const memory_access *a)
{
    const em_pending *p = c->machine->completing;
    int kind = traffic_kind(c, a->space);
    if (kind == EM_TRAFFIC_KINDS || a->mbarrier) return true;
    if (a->lane < 0 || a->bytes > 32 || (p && p->kind != EM_P_CP_ASYNC)) return true;
    /* How hardware splits wmma.load and wmma.store is undocumented; texels are not requested by address. */
    if (a->inst->opcode == EM_OP_wmma || em_uses_object(a->inst)) return true;
    memory_request *r = &c->traffic[kind].request;
    if (r->of.count && (r->warp != a->warp || r->inst != a->inst || r->pending != p || a->lane <= r->last ||
                        r->of.bytes != a->bytes))
        flush_request(c, kind);
    if (!r->of.count)
        r->of = (cute_request){
            .bytes = a->bytes, .load = is_load(a->inst), .copy = p ? a->inst->copy.way : CUTE_COPY_NONE};
    r->warp = a->warp;
    r->inst = a->inst;
    r->pending = p;
    r->last = a->lane;
    if (r->of.copy) {
        em_lane_copy copy = em_cp_async_lane(p, a->lane);
        r->of.other[r->of.count] = a->space == EM_SHARED ? copy.from : copy.to;
        r->of.idle |= (uint32_t)!copy.used << a->lane;
    }
    r->of.lane[r->of.count] = (uint8_t)a->lane;
    r->of.address[r->of.count++] = a->address;
    return true;
}

static bool memory_transactions_row(em_checks *c, const em_warp_access *row, shadow *s, uint64_t at)
{
    (void)s, (void)at;
    int kind = traffic_kind(c, row->space);
    if (kind == EM_TRAFFIC_KINDS) return true;
    memory_request *r = &c->traffic[kind].request;
    flush_request(c, kind);
    *r = (memory_request){
        .warp = row->warp, .inst = row->inst, .of = {.bytes = row->bytes, .load = is_load(row->inst)}};
    for (uint32_t rest = row->mask; rest; rest &= rest - 1) {
        int lane = __builtin_ctz(rest);
        r->of.lane[r->of.count] = (uint8_t)lane;
        r->of.address[r->of.count++] = row->base + row->offsets[lane];
    }
    flush_request(c, kind);
    return true;
}

/* Instructions that access memory lane by lane: diverged lanes may execute one at different times. */
static bool memory_transactions_concerns(const em_checks *c, const em_inst *i)
{
    (void)c;
    return i->class == EM_CLASS_MEMORY_GENERIC || i->class == EM_CLASS_MEMORY_SHARED ||
           i->class == EM_CLASS_MEMORY_GLOBAL;
}

static void memory_transactions_step(em_checks *c, em_warp *w, const em_inst *i, uint32_t lanes,
                                     uint32_t mask)
{
    (void)w, (void)i, (void)lanes, (void)mask;
    for (int k = 0; k < EM_TRAFFIC_KINDS; k++) flush_request(c, k);
}

/* The launch ends. */
static void memory_transactions_event(em_checks *c, em_event event, em_warp *w, const em_inst *i,
                                      uint32_t mask, uint64_t a, uint64_t b)
{
    (void)event, (void)w, (void)i, (void)mask, (void)a, (void)b;
    for (int k = 0; k < EM_TRAFFIC_KINDS; k++) {
        const cute_traffic *by_inst = c->traffic[k].by_inst;
        flush_request(c, k);
        for (uint32_t n = 0; by_inst && c->transactions && n < c->launch->program->count; n++) {
            c->transactions[n].count[k] += by_inst[n].count;
            c->transactions[n].ideal[k] += by_inst[n].ideal;
        }
    }
}

const em_part em_part_memory_transactions = {
    .events = EVENT(END),
    .begin = memory_transactions_begin,
    .end = memory_transactions_end,
    .event = memory_transactions_event,
    .access = memory_transactions_access,
    .row = memory_transactions_row,
    .concerns = memory_transactions_concerns,
    .step = memory_transactions_step,
};
