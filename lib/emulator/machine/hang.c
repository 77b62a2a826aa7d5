/* Detects and explains hangs. While memory does not change, a warp's next steps follow from its state alone:
 * its paths and their program counters, its registers, its local memory. A state that recurs therefore recurs
 * for ever. If no warp can make progress, the explanation lists each waiting warp and the condition it waits
 * for. */
#include <stdio.h>

#include "lib/emulator/machine/control.h"
#include "lib/emulator/machine/schedule.h"

enum { SHOWN_WAITS = 12, STEPS = 4096 };

/* ---- loops without progress ---- */

static uint64_t hash_word(uint64_t state, uint64_t word)
{
    state = (state ^ word) * UINT64_C(0x9e3779b97f4a7c15);
    return state ^ state >> 29;
}

static uint64_t mix_bytes(uint64_t state, const uint8_t *bytes, size_t size)
{
    uint64_t lanes[4] = {state, state + 1, state + 2, state + 3}, word;
    size_t at = 0;
    for (; at + 32 <= size; at += 32)
        for (size_t n = 0; n < 4; n++) {
            memcpy(&word, bytes + at + 8 * n, 8);
            lanes[n] = hash_word(lanes[n], word);
        }
    for (; at < size; at++) lanes[0] = hash_word(lanes[0], bytes[at]);
    return hash_word(hash_word(hash_word(lanes[0], lanes[1]), lanes[2]), lanes[3]);
}

/* Local memory of the frames, and of results just left after them by a callee. */
static int64_t used_local(const em_warp *w)
{
    enum { RESULTS = 1024 };
    int64_t used = 0;
    for (int k = 0; k < w->high; k++) {
        const em_split *s = &w->splits[k];
        int64_t end = s->live ? s->sp + s->frame->function->stack_bytes + RESULTS : 0;
        if (end > used) used = end;
    }
    return used < w->local_size ? used : w->local_size;
}

static uint64_t hash_warp_state(const em_warp *w)
{
    uint64_t state = (uint64_t)w->current;
    for (int k = 0; k < w->high; k++) {
        const em_split *s = &w->splits[k];
        if (!s->live) continue;
        state = hash_word(hash_word(state, (uint64_t)k << 32 | s->pc),
                          (uint64_t)s->mask << 32 | (uint32_t)s->depth);
        state = hash_word(state, (uint64_t)s->wait << 32 | (uint64_t)s->sp);
    }
    for (const em_frame *v = w->frames; v; v = v->next)
        state = mix_bytes(state, v->registers, v->function->register_bytes);
    if (w->local_stores == w->spin.local_stores) return state;
    state = mix_bytes(state, (const uint8_t *)w->stack_top, sizeof w->stack_top);
    int64_t used = used_local(w);
    for (int l = 0; l < EM_LANES; l++) {
        const uint8_t *local = w->local + l * w->local_size;
        int64_t top = w->stack_top[l] < used ? used : w->stack_top[l];
        state = mix_bytes(state, local, (size_t)used);
        state = mix_bytes(state, local + top, (size_t)(w->local_size - top));
    }
    return state;
}

void em_spin_begin(em_warp *w)
{
    w->spin = (em_spin){.left = 1, .span = 1, .local_stores = w->local_stores};
}

/* Brent's cycle detection: each saved state is kept twice as long as the one before, which finds cycles of
 * any length. */
void em_spin_probe(em_warp *w)
{
    em_spin *s = &w->spin;
    if (s->found) return;
    uint64_t state = hash_warp_state(w);
    s->found = state == s->state;
    if (--s->left) return;
    s->state = state;
    s->span *= 2;
    s->left = s->span;
}

/* ---- waits ---- */

static const char *barrier_text(const em_warp *w, const em_split *s, char *out, size_t size)
{
    const em_barrier *b = &w->block->barriers[s->barrier];
    uint32_t wanted = b->expected ? b->expected : w->block->alive;
    snprintf(out, size, "waits at barrier %u: %u of %u threads have arrived", s->barrier, b->arrived, wanted);
    return out;
}

/* Finds the memory that a split polls, by running it up to that read. False: none found. */
static bool find_polled_memory(em_warp *w, int k, const em_inst **out, char *text, size_t size,
                               em_rank_waits *waits)
{
    bool several = em_devices(w->machine->launch) > 1;
    em_use_split(w, k);
    for (int n = 0; n < STEPS && w->splits[k].live && w->splits[k].wait == EM_RUNS; n++) {
        const em_split *s = &w->splits[k];
        const em_inst *i = &w->machine->code[s->pc];
        bool load = i->opcode == EM_OP_ld, update = i->opcode == EM_OP_atom;
        bool shared = i->space == EM_SHARED,
             memory = shared || i->space == EM_GLOBAL || i->space == EM_GENERIC;
        if ((load || update) && memory && i->o[1].kind == EM_O_MEMORY) {
            uint64_t address = em_address(w, &i->o[1], __builtin_ctz(s->mask)), value = 0;
            uint32_t bytes = ptx_types[i->type].bytes;
            const em_allocation *a = em_memory_find(w->machine->launch->memory, address);
            *out = i;
            int length = snprintf(text, size, "spins reading %s memory at 0x%llx",
                                  shared ? "shared" : "global", (unsigned long long)address);
            if (a && several && (size_t)length < size)
                length += snprintf(text + length, size - (size_t)length, " of rank %u", a->device);
            if (a && several) em_ranks_wait(waits, w->block->cluster->device, address);
            if (a && bytes <= 8 && a->size - (address - a->base) >= bytes && (size_t)length < size) {
                memcpy(&value, a->host + (address - a->base), bytes);
                length += snprintf(text + length, size - (size_t)length, "%s%s%s, which holds 0x%llx",
                                   a->name ? " ('" : "", a->name ? a->name : "", a->name ? "')" : "",
                                   (unsigned long long)value);
            }
            if ((size_t)length < size) snprintf(text + length, size - (size_t)length, " and does not change");
            return true;
        }
        em_run_split(w, 1);
        if (w->stop == EM_FAULT) break;
    }
    return false;
}

static void note_split(em_warp *w, const em_inst *i, uint32_t mask, const char *text, cute_diag *diag)
{
    em_machine *m = w->machine;
    cute_place place = em_place(m->program, i);
    const em_loc *loc = em_loc_of(m->program, i);
    char at[300] = "", rank[24] = "";
    if (loc) snprintf(at, sizeof at, " (%s:%u:%u)", loc->file, loc->line, loc->column);
    if (em_devices(m->launch) > 1) snprintf(rank, sizeof rank, "rank %u, ", w->block->cluster->device);
    cute_note(diag, &place, "%sblock (%u, %u, %u), warp %u, lanes 0x%08x: %s%s", rank, w->block->ctaid[0],
              w->block->ctaid[1], w->block->ctaid[2], w->index, mask, text, at);
}

static const em_inst *next_of(const em_machine *m, const em_split *s)
{
    return &m->code[s->pc < m->program->count ? s->pc : m->program->count - 1];
}

static void describe_split(em_warp *w, int k, em_rank_waits *waits, cute_diag *diag)
{
    char text[300];
    em_machine *m = w->machine;
    const em_split *s = &w->splits[k];
    uint32_t mask = s->mask;
    const em_inst *i = next_of(m, s);
    switch (s->wait) {
    case EM_WAIT_BARRIER: barrier_text(w, s, text, sizeof text); break;
    case EM_WAIT_CLUSTER:
        snprintf(text, sizeof text, "waits at barrier.cluster: %u of %u threads have arrived",
                 w->block->cluster->arrived, w->block->cluster->alive);
        break;
    case EM_WAIT_WARP:
        snprintf(text, sizeof text, "waits for lanes 0x%08x of its warp, which do not reach this instruction",
                 s->member & w->alive & ~s->gathered);
        break;
    case EM_WAIT_ASYNC:
        snprintf(text, sizeof text,
                 "waits for a wgmma that the other warps of its warpgroup have not issued");
        break;
    default:
        if (s->polled) {
            i = &m->code[s->polled_at];
            em_mbarrier_describe(w, s->poll_address, s->poll_phase, text, sizeof text);
        } else if (!find_polled_memory(w, k, &i, text, sizeof text, waits)) {
            snprintf(text, sizeof text, "is here");
        }
        break;
    }
    note_split(w, i, mask, text, diag);
}

/* With several devices all waits are found, but only the first are shown. */
static void describe_warp(em_warp *w, int *shown, em_rank_waits *waits, cute_diag *diag)
{
    bool several = em_devices(w->machine->launch) > 1;
    for (int k = 0; k < EM_SPLITS && w->alive; k++) {
        const em_split *s = &w->splits[k];
        if (!s->live || s->wait == EM_JOIN) continue;
        bool polled = s->wait == EM_RUNS && s->polled;
        em_tell(EM_E_DEADLOCK, w, &w->machine->code[polled ? s->polled_at : s->pc], s->mask,
                polled ? s->poll_address : UINT64_MAX, 0);
        bool show = (*shown)++ < SHOWN_WAITS;
        if (show || several) describe_split(w, k, waits, show ? diag : NULL);
    }
}

void em_explain_waits(em_machine *machines, uint32_t count, uint64_t waiting, cute_diag *diag)
{
    int shown = 0;
    em_rank_waits waits = {0};
    for (uint32_t n = 0; n < count; n++)
        for (uint32_t c = 0; c < machines[n].cluster_count; c++) {
            const em_cluster *cluster = &machines[n].clusters[c];
            for (uint32_t r = 0; cluster->running && r < cluster->count; r++)
                for (uint32_t k = 0; k < cluster->blocks[r].warp_count; k++)
                    describe_warp(&cluster->blocks[r].warps[k], &shown, &waits, diag);
        }
    if (shown > SHOWN_WAITS) cute_note(diag, NULL, "%d more warps are waiting", shown - SHOWN_WAITS);
    if (em_devices(machines->launch) > 1) em_explain_ranks(machines, &waits, diag);
    if (waiting)
        cute_note(diag, NULL, "%llu more clusters or blocks have not started: the device is full",
                  (unsigned long long)waiting);
}

void em_show_places(em_machine *machines, uint32_t count, cute_diag *diag)
{
    int shown = 0;
    for (uint32_t n = 0; n < count; n++)
        for (uint32_t c = 0; c < machines[n].cluster_count; c++) {
            const em_cluster *cluster = &machines[n].clusters[c];
            for (uint32_t r = 0; cluster->running && r < cluster->count; r++)
                for (uint32_t k = 0; k < cluster->blocks[r].warp_count; k++) {
                    em_warp *w = &cluster->blocks[r].warps[k];
                    for (int part = 0; part < EM_SPLITS && w->alive && shown < SHOWN_WAITS; part++) {
                        const em_split *s = &w->splits[part];
                        if (!s->live || s->wait == EM_JOIN) continue;
                        shown++;
                        note_split(w, next_of(&machines[n], s), s->mask, "is here", diag);
                    }
                }
        }
}
