/* Accumulators of wgmma that other instructions access before the wgmma.wait_group for them. The PTX ISA
 * leaves this undefined; ptxas inserts a wait ("warpgroup.wait is injected", C7517), on which code compiled
 * by nvcc -G relies. Such an instruction therefore waits here too; lib/checks reports it as a warning. */
#include "lib/emulator/program/parser.h"

#include <stdlib.h>

#include "lib/emulator/program/decode.h"

enum { REGISTER = 4 * EM_LANES }; /* bytes of a register in the frame */

static bool is_wgmma(const em_inst *i)
{
    return i->opcode == EM_OP_wgmma && em_has(i, EM_M_mma_async);
}

static bool is_accumulator(const em_inst *wgmma, uint32_t at)
{
    const em_operand *d = &wgmma->o[0];
    for (uint32_t n = 0; n < d->count; n++)
        if (d->list[n].at == at) return true;
    return false;
}

static bool accumulator_overlaps(const em_inst *wgmma, const em_operand *o, uint32_t count)
{
    for (uint32_t n = 0; n < count; n++) {
        bool list = o[n].kind == EM_O_VECTOR || o[n].kind == EM_O_MEMORY;
        if (list && accumulator_overlaps(wgmma, o[n].list, o[n].count)) return true;
        if (o[n].kind == EM_O_VALUE && o[n].base == EM_BASE_REGISTERS && o[n].bytes &&
            is_accumulator(wgmma, o[n].at))
            return true;
    }
    return false;
}

static void run_behind_wgmma(em_warp *w, const em_inst *i, uint32_t mask)
{
    uint32_t last = 0;
    for (const em_pending *p = w->machine->pending; p; p = p->next)
        if (p->warp == w && p->kind == EM_P_WGMMA && !p->done &&
            accumulator_overlaps(p->inst, i->o, i->count))
            last = p->sequence;
    if (last && !em_warpgroup_issued(w, last)) {
        em_block_split(w, EM_WAIT_ASYNC);
        return;
    }
    if (!last || em_pending_finish_wgmma(w, last)) i->behind_wgmma(w, i, mask);
}

/* Marks each register in which some wgmma of the function accumulates. */
static void mark_registers(const em_operand *o, uint32_t count, uint8_t *marks, size_t size)
{
    for (uint32_t n = 0; n < count; n++)
        if (o[n].at / REGISTER < size) marks[o[n].at / REGISTER] = 1;
}

static bool is_marked(const em_operand *o, uint32_t count, const uint8_t *marks, size_t size)
{
    for (uint32_t n = 0; n < count; n++) {
        bool list = o[n].kind == EM_O_VECTOR || o[n].kind == EM_O_MEMORY;
        if (list && is_marked(o[n].list, o[n].count, marks, size)) return true;
        if (o[n].kind == EM_O_VALUE && o[n].base == EM_BASE_REGISTERS && o[n].bytes &&
            o[n].at / REGISTER < size && marks[o[n].at / REGISTER])
            return true;
    }
    return false;
}

cute_status em_order_accumulators(em_program *program, const em_function *f, cute_diag *diag)
{
    size_t size = (size_t)f->register_bytes / REGISTER + 1;
    uint8_t *marks = NULL;
    for (uint32_t n = f->start; n <= f->end; n++) {
        const em_inst *i = &program->code[n];
        if (!is_wgmma(i)) continue;
        if (!marks) marks = calloc(size, 1);
        if (!marks) return cute_fail_memory(diag);
        mark_registers(i->o[0].list, i->o[0].count, marks, size);
    }
    for (uint32_t n = f->start; marks && n <= f->end; n++) {
        em_inst *i = &program->code[n];
        if (i->opcode == EM_OP_wgmma || !is_marked(i->o, i->count, marks, size)) continue;
        i->behind_wgmma = i->run;
        i->run = run_behind_wgmma;
    }
    free(marks);
    return CUTE_OK;
}
