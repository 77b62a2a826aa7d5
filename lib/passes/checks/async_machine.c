/* Runs the warps of a block or cluster in the static checks (async.h): one after the other, each until it
 * waits. Tensor copies complete only when all warps wait, so that a missing wait is found. */
#include <mlir-c/BuiltinAttributes.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/list.h"
#include "lib/ir/mlir/util.h"
#include "lib/passes/checks/async_events.h"

/* ---- warps ---- */

static async_known *known_create(async_machine *m)
{
    async_known *k = cute_arena_alloc(m->arena, sizeof *k);
    if (k) memset(k, 0, sizeof *k);
    return k;
}

static uint32_t threads_of(const async_machine *m, int warp)
{
    const int64_t *b = m->eval.setting->block;
    int64_t left = b[0] * b[1] * b[2] - (int64_t)warp * 32;
    return left >= 32 ? 0xffffffffu : (1u << left) - 1;
}

static bool init_warps(async_machine *m)
{
    m->warps = cute_arena_array(m->arena, (size_t)m->warp_count, sizeof *m->warps);
    m->copies = cute_arena_array(m->arena, ASYNC_MAX_COPIES, sizeof *m->copies);
    m->groups = cute_arena_array(m->arena, (size_t)m->warp_count, sizeof *m->groups);
    m->cluster_gathered = known_create(m);
    m->cluster_acquired = known_create(m);
    if (!m->warps || !m->copies || !m->cluster_gathered || !m->cluster_acquired || !m->groups) return false;
    memset(m->warps, 0, (size_t)m->warp_count * sizeof *m->warps);
    memset(m->groups, 0, (size_t)m->warp_count * sizeof *m->groups);
    for (int i = 0; i < m->warp_count; i++) {
        async_warp *w = &m->warps[i];
        w->id = i;
        w->cta = i / m->block_warps;
        w->index = i % m->block_warps;
        w->mask = threads_of(m, w->index);
        w->known = known_create(m);
        w->seq = 1;
        w->slots = cute_arena_array(m->arena, (size_t)m->program->slots + 1, sizeof *w->slots);
        if (!w->slots || !w->known) return false;
        memcpy(w->slots, m->program->initial, ((size_t)m->program->slots + 1) * sizeof *w->slots);
    }
    return true;
}

/* ---- instructions ---- */

static lane_value read_slot(const async_warp *w, int index)
{
    return index < 0 ? (lane_value){0} : w->slots[index];
}

/* A number that is the same in all active lanes. */
static bool uniform_number(const async_warp *w, const lane_value *v, int64_t *out)
{
    bool first = true;
    for (int lane = 0; lane < 32; lane++) {
        if (!(w->mask >> lane & 1)) continue;
        int64_t n;
        lane_value one = lane_of(v, lane);
        if (!lane_number_of(&one, &n)) return false;
        if (!first && n != *out) return false;
        *out = n;
        first = false;
        if (v->kind != LANE_EACH) return true;
    }
    return !first;
}

static void write_slot(async_machine *m, async_warp *w, int index, lane_value v, bool part)
{
    if (index < 0) return;
    if (!part) {
        w->slots[index] = v;
        return;
    }
    lane_value *lanes = cute_arena_array(m->arena, 32, sizeof *lanes);
    if (!lanes) return;
    for (int lane = 0; lane < 32; lane++)
        lanes[lane] = w->mask >> lane & 1 ? lane_of(&v, lane) : lane_of(&w->slots[index], lane);
    w->slots[index] = (lane_value){.kind = LANE_EACH, .lanes = lanes};
}

static bool is_split(const async_warp *w)
{
    for (int i = 0; i < w->depth; i++)
        if (w->frames[i].split) return true;
    return false;
}

static void evaluate_instr(async_machine *m, async_warp *w, const async_instr *i)
{
    lane_value in[16], out[16];
    if (i->in_count > 16 || i->out_count > 16) {
        for (int n = 0; n < i->out_count; n++) write_slot(m, w, i->out[n], (lane_value){0}, false);
        return;
    }
    for (int n = 0; n < i->in_count; n++) in[n] = read_slot(w, i->in[n]);
    lane_op own = *i->eval;
    if (own.rule->operands) { /* the operands that matter come first */
        own.in_count = 0;
        for (int n = 0; n < i->in_count; n++)
            if (i->in[n] >= 0) in[own.in_count++] = read_slot(w, i->in[n]);
    }
    m->eval.cta = w->cta;
    m->eval.warp = w->index;
    m->eval.mask = w->mask;
    lane_evaluate(&m->eval, &own, in, out);
    for (int n = 0; n < i->out_count; n++) write_slot(m, w, i->out[n], out[n], false);
}

static void copy_slots(async_machine *m, async_warp *w, const async_instr *i)
{
    lane_value values[64];
    bool part = is_split(w);
    if (i->in_count <= 64) {
        for (int n = 0; n < i->in_count; n++) values[n] = read_slot(w, i->in[n]);
        for (int n = 0; n < i->in_count; n++) write_slot(m, w, i->out[n], values[n], part);
    } else {
        m->stopped = true;
    }
}

/* Runs an IF whose condition is unknown or differs between lanes. */
static void run_branch(async_machine *m, async_warp *w, const async_instr *i)
{
    lane_value condition = read_slot(w, i->in[0]);
    uint32_t yes = 0;
    const async_instr *other = &m->program->code[i->target];
    for (int lane = 0; lane < 32; lane++) {
        if (!(w->mask >> lane & 1)) continue;
        int64_t n;
        lane_value one = lane_of(&condition, lane);
        if (lane_number_of(&one, &n)) {
            yes |= (uint32_t)(n & 1) << lane;
            continue;
        }
        if (i->events_inside) { /* whether the events happen is unknown */
            m->stopped = true;
            return;
        }
        for (int r = 0; r < i->out_count; r++) write_slot(m, w, i->out[r], (lane_value){0}, false);
        w->pc = (size_t)other->target + 1;
        return;
    }
    if (w->depth == ASYNC_DEPTH) {
        m->stopped = true;
        return;
    }
    async_frame *f = &w->frames[w->depth++];
    *f = (async_frame){.saved = w->mask, .other = w->mask & ~yes, .split = yes && (w->mask & ~yes)};
    if (yes) w->mask = yes;
    w->pc = yes ? w->pc + 1 : (size_t)i->target + 1;
}

static void run_loop(async_machine *m, async_warp *w, const async_instr *i, bool first)
{
    const async_instr *head = first ? i : &m->program->code[i->target];
    lane_value lower = read_slot(w, head->in[0]), upper = read_slot(w, head->in[1]),
               step = read_slot(w, head->in[2]), counter;
    int64_t a, b, c, n;
    if (!uniform_number(w, &lower, &a) || !uniform_number(w, &upper, &b) || !uniform_number(w, &step, &c) ||
        c <= 0) {
        if (head->events_inside) {
            m->stopped = true;
            return;
        }
        a = b = 0; /* the results of the loop are unknown */
        c = 1;
        for (const async_instr *p = &m->program->code[head->target];
             p->code == ASYNC_COPY && mlirOperationEqual(p->op, head->op); p++)
            for (int r = 0; r < p->in_count; r++)
                if (p->in[r] >= 0) w->slots[p->in[r]] = (lane_value){0};
    }
    if (first) {
        n = a;
    } else {
        counter = read_slot(w, head->out[0]);
        if (!lane_number_of(&counter, &n) || __builtin_add_overflow(n, c, &n)) {
            m->stopped = true;
            return;
        }
    }
    w->slots[head->out[0]] = lane_number(n);
    w->pc = n < b ? (size_t)head->id + 1 : (size_t)head->target;
}

/* Runs one instruction; false if the warp waits or ends. */
static bool run_instr(async_machine *m, async_warp *w)
{
    const async_instr *i = &m->program->code[w->pc];
    int64_t n;
    lane_value condition;
    m->at = i->op;
    switch (i->code) {
    case ASYNC_EVAL: evaluate_instr(m, w, i); break;
    case ASYNC_COPY: copy_slots(m, w, i); break;
    case ASYNC_IF: run_branch(m, w, i); return !m->stopped;
    case ASYNC_ELSE: {
        async_frame *f = &w->frames[w->depth - 1];
        if (!f->split) {
            w->pc = (size_t)i->target;
            return true;
        }
        w->mask = f->other;
        break;
    }
    case ASYNC_ENDIF: w->mask = w->frames[--w->depth].saved; break;
    case ASYNC_FOR: run_loop(m, w, i, true); return !m->stopped;
    case ASYNC_NEXT: run_loop(m, w, i, false); return !m->stopped;
    case ASYNC_CONDITION:
        condition = read_slot(w, i->in[0]);
        if (!uniform_number(w, &condition, &n)) {
            m->stopped = true;
            return false;
        }
        if (!(n & 1)) {
            w->pc = (size_t)i->target;
            return true;
        }
        break;
    case ASYNC_GOTO: w->pc = (size_t)i->target; return true;
    case ASYNC_END: w->state = ASYNC_ENDED; return false;
    case ASYNC_EVENT: {
        async_step done = async_event_do(m, w, i);
        if (done == ASYNC_AGAIN) return false;
        w->pc++;
        return done == ASYNC_GOES_ON && !m->stopped;
    }
    }
    w->pc++;
    return true;
}

/* ---- run ---- */

static bool may_go_on(async_machine *m, async_warp *w)
{
    switch (w->state) {
    case ASYNC_RUNS: return true;
    case ASYNC_AT_MBARRIER: return order_mbarrier_passes(&m->barriers[w->barrier].state, (uint32_t)w->parity);
    case ASYNC_AT_PRODUCT: return async_products_together(m, w);
    case ASYNC_AT_CLUSTER: return async_cluster_over(m, w);
    default: return false;
    }
}

static bool complete_copies(async_machine *m)
{
    if (!m->flight_count) return false;
    size_t count = m->flight_count;
    for (size_t i = 0; i < count && !m->stopped; i++) async_arrived(m, &m->flights[i]);
    m->flight_count = 0;
    for (size_t i = 0; i < m->barrier_count && !m->stopped; i++) async_complete(m, &m->barriers[i], true);
    return true;
}

static void run_warps(async_machine *m)
{
    for (;;) {
        bool ran = false, all = true;
        uint32_t before = m->activity;
        for (int i = 0; i < m->warp_count && !m->stopped; i++) {
            async_warp *w = &m->warps[i];
            if (w->state == ASYNC_ENDED) continue;
            all = false;
            if (!may_go_on(m, w)) continue;
            if (w->state != ASYNC_RUNS && w->state != ASYNC_AT_MBARRIER) w->state = ASYNC_RUNS;
            if (w->state == ASYNC_AT_MBARRIER) async_passed(m, w);
            ran = true;
            while (m->steps++ < m->budget && run_instr(m, w)) {
            }
            if (m->steps >= m->budget) m->stopped = true;
        }
        if (m->stopped) return;
        if (all) {
            complete_copies(m);
            if (!m->stopped) async_end(m);
            return;
        }
        if (ran && before != m->activity) continue;
        if (ran && !m->flight_count) { /* only tests fail: repeat each once, then let them wait */
            bool polls = false;
            for (int i = 0; i < m->warp_count; i++) polls |= m->warps[i].state == ASYNC_RUNS;
            if (polls) continue;
        }
        if (complete_copies(m)) continue;
        if (ran) continue;
        async_deadlock(m);
        return;
    }
}

async_outcome async_run(cute_arena *arena, const async_program *program, const async_setting *setting,
                        async_report *report)
{
    async_machine *m = cute_arena_alloc(arena, sizeof *m);
    if (!m) return (async_outcome){0};
    memset(m, 0, sizeof *m);
    m->arena = arena;
    m->program = program;
    m->report = report;
    m->eval = (lane_eval){.arena = arena, .setting = &setting->values, .most_operands = 8, .most_results = 4};
    m->ctas = (int)(setting->values.cluster[0] * setting->values.cluster[1] * setting->values.cluster[2]);
    m->block_warps =
        (int)((setting->values.block[0] * setting->values.block[1] * setting->values.block[2] + 31) / 32);
    m->warp_count = m->ctas * m->block_warps;
    m->budget = setting->steps;
    m->at = program->kernel;
    if (m->warp_count < 1 || m->warp_count > ASYNC_MAX_WARPS || !init_warps(m))
        return (async_outcome){.at = program->kernel};
    run_warps(m);
    if (!m->found) async_registers(m);
    uint32_t phases = 0;
    for (size_t i = 0; i < m->barrier_count; i++)
        if (phases < m->barriers[i].state.phase) phases = m->barriers[i].state.phase;
    bool full = m->steps >= m->budget || m->copy_count >= ASYNC_MAX_COPIES - 64;
    return (async_outcome){.ended = !m->stopped,
                           .at = full ? (MlirOperation){NULL} : m->at,
                           .steps = m->steps,
                           .barriers = m->barrier_count,
                           .copies = m->copy_count,
                           .phases = phases};
}
