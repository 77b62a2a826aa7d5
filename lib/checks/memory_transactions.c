/* Requests to memory: the lanes of one instruction, brought together from their accesses. bank_conflicts.c and
 * coalescing.c count what a request costs. */
#include "lib/checks/parts.h"

#include <stdlib.h>

bool em_transactions_begin(em_checks *c, memory_traffic *t)
{
    t->request.of.count = 0;
    t->by_inst = calloc((size_t)c->launch->program->count + 1, sizeof *t->by_inst);
    return t->by_inst != NULL;
}

void em_transactions_end(memory_traffic *t)
{
    free(t->by_inst);
    t->by_inst = NULL;
}

void em_transactions_flush(em_checks *c, memory_traffic *t, memory_cost count)
{
    if (t->request.of.count) count(&t->request.of, &t->by_inst[inst_index(c, t->request.inst)]);
    t->request.of.count = 0;
}

static bool is_load(const em_inst *i)
{
    return i->opcode == EM_OP_ld || i->opcode == EM_OP_ldu;
}

void em_transactions_access(em_checks *c, memory_traffic *t, const memory_access *a, memory_cost count)
{
    memory_request *r = &t->request;
    const em_pending *p = c->machine->completing;
    if (a->lane < 0 || a->bytes > 32 || (p && p->kind != EM_P_CP_ASYNC)) return;
    /* How hardware splits wmma.load and wmma.store is not known. */
    if (a->inst->opcode == EM_OP_wmma) return;
    if (r->of.count && (r->warp != a->warp || r->inst != a->inst || r->pending != p || a->lane <= r->last ||
                        r->of.bytes != a->bytes))
        em_transactions_flush(c, t, count);
    r->warp = a->warp;
    r->inst = a->inst;
    r->pending = p;
    r->last = a->lane;
    r->of.bytes = a->bytes;
    r->of.load = is_load(a->inst);
    r->of.lane[r->of.count] = (uint8_t)a->lane;
    r->of.address[r->of.count++] = a->address;
}

void em_transactions_row(em_checks *c, memory_traffic *t, const em_warp_access *row, memory_cost count)
{
    memory_request *r = &t->request;
    em_transactions_flush(c, t, count);
    *r = (memory_request){
        .warp = row->warp, .inst = row->inst, .of = {.bytes = row->bytes, .load = is_load(row->inst)}};
    for (uint32_t rest = row->mask; rest; rest &= rest - 1) {
        int lane = __builtin_ctz(rest);
        r->of.lane[r->of.count] = (uint8_t)lane;
        r->of.address[r->of.count++] = row->base + row->offsets[lane];
    }
    em_transactions_flush(c, t, count);
}

bool em_transactions_concerns(const em_checks *c, const em_inst *i)
{
    (void)c;
    return i->class == EM_CLASS_MEMORY_GENERIC || i->class == EM_CLASS_MEMORY_SHARED ||
           i->class == EM_CLASS_MEMORY_GLOBAL;
}
