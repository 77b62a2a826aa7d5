/* Deadlocks between devices (ranks): which rank waits for which. A warp that polls memory waits for the ranks that
 * would write it, if they got past their own waits: each waiting warp is run ahead without its effects, leaving
 * each loop that it does not end itself. */
#include <stdlib.h>

#include "lib/emulator/machine/control.h"
#include "lib/emulator/machine/schedule.h"

/* Instructions, and warps of each launch, that are run ahead. */
enum { STEPS_AHEAD = 20000, WARPS_AHEAD = 256, LOOPS = 3 };

void em_ranks_wait(em_rank_waits *waits, uint32_t device, uint64_t address)
{
    for (uint32_t n = 0; n < waits->count; n++)
        if (waits->list[n].device == device && waits->list[n].address == address) return;
    if (waits->count == EM_RANK_WAITS) return;
    waits->list[waits->count++] = (em_rank_wait){.device = device, .address = address};
}

static void note_writer(em_rank_waits *waits, uint64_t address, uint32_t bytes, uint32_t device)
{
    for (uint32_t n = 0; n < waits->count; n++)
        if (waits->list[n].address - address < bytes) waits->list[n].writers |= 1u << device;
}

/* The memory that an instruction writes, if it is a plain or atomic write. */
static const em_operand *written_operand(const em_inst *i, uint32_t *bytes)
{
    bool store = i->opcode == EM_OP_st, update = i->opcode == EM_OP_red || i->opcode == EM_OP_atom;
    if ((!store && !update) || (i->space != EM_GLOBAL && i->space != EM_GENERIC)) return NULL;
    const em_operand *o = &i->o[update ? i->memory.address : 0];
    *bytes = ptx_types[i->type].bytes * (store ? i->memory.vector : 1u);
    return o->kind == EM_O_MEMORY ? o : NULL;
}

static uint32_t guarded_lanes(const em_warp *w, const em_inst *i, uint32_t mask)
{
    uint32_t guard;
    if (!i->guard) return mask;
    memcpy(&guard, w->base[EM_BASE_REGISTERS] + i->guard_at, sizeof guard);
    return mask & (i->guard == 2 ? ~guard : guard);
}

/* Follows the branch of the first lane, unless that path was taken often. */
static void choose_path(em_warp *w, const em_inst *i, uint8_t *visits)
{
    em_split *s = w->split;
    uint32_t here = s->pc, next = here + 1, target = i->branch.target;
    bool taken = guarded_lanes(w, i, s->mask) != 0;
    s->pc = taken ? target : next;
    if (i->guard && visits[s->pc] >= LOOPS && visits[taken ? next : target] < visits[s->pc])
        s->pc = taken ? next : target;
}

/* Instructions that only change registers, or read memory. */
static bool is_harmless(const em_inst *i)
{
    static const uint8_t classes[] = {EM_CLASS_INTEGER, EM_CLASS_FLOAT, EM_CLASS_CONVERSION, EM_CLASS_MOVE};
    for (size_t n = 0; n < sizeof classes; n++)
        if (i->class == classes[n]) return true;
    return i->opcode == EM_OP_ld;
}

static void run_ahead(em_warp *w, int k, em_rank_waits *waits, uint8_t *visits)
{
    em_machine *m = w->machine;
    em_split *s = &w->splits[k];
    uint32_t device = w->block->cluster->device, bytes;
    memset(visits, 0, (size_t)m->program->count + 1);
    em_use_split(w, k);
    for (int n = 0; n < STEPS_AHEAD && s->pc < m->program->count; n++) {
        const em_inst *i = &m->code[s->pc];
        const em_operand *o = written_operand(i, &bytes);
        if (visits[s->pc] < UINT8_MAX) visits[s->pc]++;
        if (o)
            for (uint32_t rest = guarded_lanes(w, i, s->mask); rest; rest &= rest - 1)
                note_writer(waits, em_address(w, o, __builtin_ctz(rest)), bytes, device);
        if (i->opcode == EM_OP_bra) {
            choose_path(w, i, visits);
        } else if (i->control != EM_NEXT) {
            return;
        } else if (is_harmless(i)) {
            s->wait = EM_RUNS;
            if (guarded_lanes(w, i, s->mask)) i->run(w, i, guarded_lanes(w, i, s->mask));
            s->pc++;
            if (w->stop == EM_FAULT || !s->live) return;
        } else {
            s->pc++;
        }
    }
}

static void find_writers(em_machine *m, em_rank_waits *waits)
{
    uint8_t *visits = malloc((size_t)m->program->count + 1);
    int warps = 0;
    em_launch quiet = *m->launch;
    const em_launch *launch = m->launch;
    quiet.hooks = (em_hooks){0};
    m->launch = &quiet;
    for (uint32_t c = 0; visits && c < m->cluster_count; c++)
        for (uint32_t r = 0; m->clusters[c].running && r < m->clusters[c].count; r++)
            for (uint32_t n = 0; n < m->clusters[c].blocks[r].warp_count; n++) {
                em_warp *w = &m->clusters[c].blocks[r].warps[n];
                for (int k = 0; k < EM_SPLITS && w->alive && warps < WARPS_AHEAD; k++)
                    if (w->splits[k].live && w->splits[k].wait != EM_JOIN) {
                        run_ahead(w, k, waits, visits);
                        warps++;
                    }
            }
    m->launch = launch;
    free(visits);
}

static bool is_running(const em_machine *m, uint32_t device)
{
    for (uint32_t c = 0; c < m->cluster_count; c++)
        if (m->clusters[c].running && m->clusters[c].device == device) return true;
    return false;
}

/* "ranks 1, 3". */
static void list_ranks(uint32_t mask, cute_buffer *out)
{
    cute_buffer_printf(out, mask & (mask - 1) ? "ranks " : "rank ");
    for (bool first = true; mask; mask &= mask - 1, first = false)
        cute_buffer_printf(out, "%s%d", first ? "" : ", ", __builtin_ctz(mask));
}

void em_explain_ranks(em_machine *m, em_rank_waits *waits, cute_diag *diag)
{
    uint32_t devices = em_devices(m->launch), on[EM_DEVICES] = {0}, lost = 0, ended = 0;
    find_writers(m, waits);
    for (uint32_t n = 0; n < waits->count; n++) {
        on[waits->list[n].device] |= waits->list[n].writers;
        if (!waits->list[n].writers) lost |= 1u << waits->list[n].device;
    }
    for (uint32_t d = 0; d < devices; d++) ended |= is_running(m, d) ? 0 : 1u << d;
    for (uint32_t d = 0; d < devices; d++) {
        cute_buffer text = {0};
        if (on[d]) {
            list_ranks(on[d], &text);
            cute_note(diag, NULL, "rank %u waits for %s", d, cute_buffer_text(&text));
        } else if (lost >> d & 1) {
            if (ended) list_ranks(ended, &text);
            if (ended)
                cute_note(diag, NULL, "rank %u waits for a value that no running rank writes; %s %s ended", d,
                          cute_buffer_text(&text), ended & (ended - 1) ? "have" : "has");
            else
                cute_note(diag, NULL, "rank %u waits for a value that no rank writes", d);
        }
        cute_buffer_release(&text);
    }
}
