/* The schedule of one thread of the host: which warp runs for how long, when clusters begin and end, what
 * happens when none gets on. Clusters run one after the other, until those that run wait for others: then
 * more come, as many as a device would hold at once. */
#include "lib/emulator/schedule.h"

#include <time.h>

#include "lib/base/clock.h"
#include "lib/emulator/control.h"

/* A turn in order is short: kernels that lack a barrier but run on hardware, where warps keep step, run here
 * too. */
enum { IN_ORDER_BUDGET = 16, IDLE_ROUNDS = 64 };
/* Instructions that lanes wait at a join, at first and once some have been let go. */
enum { PATIENCE = 1 << 14, LESS_PATIENCE = 1 << 10 };
/* After so many rounds without a change warps are looked at for some rounds; then after four times as many,
 * for four times as long. Kernels of which a warp ran in a circle before are looked at earlier. */
enum { QUIET_ROUNDS = 4096, SUSPECT_ROUNDS = 64, LOOKS = 128, GROWTH = 4 };
/* Instructions after which clusters that read memory and do not end get company, whatever they do. */
#define LONG_RUN (UINT64_C(1) << 22)

static bool ready(em_warp *w, em_split *s)
{
    if (!s->live || s->wait == EM_JOIN || s->wait == EM_WAIT_WARP) return false;
    if (s->wait == EM_WAIT_BARRIER) {
        if (w->block->barriers[s->barrier].generation == s->generation) return false;
        s->woken = true;
    }
    if (s->wait == EM_WAIT_CLUSTER && em_cluster_waits(w, s->mask)) return false;
    s->wait = EM_RUNS;
    return true;
}

/* Runs a warp's splits in turn. What it did: nothing, asked a mbarrier in vain, or something. */
typedef enum ran { RAN_NOTHING, RAN_POLLED, RAN } ran;

static ran run_warp(em_warp *w, uint32_t budget)
{
    ran what = RAN_NOTHING;
    int start = w->current;
    for (int n = 0; n < w->high && w->alive; n++) {
        int k = start + n;
        while (k >= w->high) k -= w->high;
        if (!w->splits[k].live || !ready(w, &w->splits[k])) continue;
        em_use_split(w, k);
        uint32_t ran_now = em_run_split(w, budget);
        w->parted += ran_now;
        if (w->stop == EM_FAULT) return RAN;
        if (w->stop == EM_POLL) {
            if (what == RAN_NOTHING) what = RAN_POLLED;
        } else if (w->stop != EM_BLOCK || ran_now > 1) {
            what = RAN;
        }
        /* After parting or joining go on with the same lanes, at most as long as the budget says. */
        if (w->stop == EM_SWITCH && budget > ran_now) {
            budget -= ran_now;
            start = k;
            n = -1;
        }
    }
    if (w->high == 1) {
        w->parted = 0;
        w->resumed = false;
    } else if (w->parted > (w->resumed ? LESS_PATIENCE : PATIENCE)) {
        em_resume_joins(w);
    }
    return what;
}

/* One turn of every warp. */
static ran run_round(em_machine *m)
{
    ran what = RAN_NOTHING;
    bool shuffled = m->launch->options.seed != 0;
    for (uint32_t c = 0; c < m->cluster_count; c++) {
        em_cluster *cluster = &m->clusters[c];
        for (uint32_t r = 0; cluster->running && r < cluster->count; r++) {
            em_block *b = &cluster->blocks[r];
            uint32_t first = shuffled ? (uint32_t)(em_random(m) % b->warp_count) : 0;
            for (uint32_t n = 0; n < b->warp_count; n++) {
                em_warp *w = &b->warps[(first + n) % b->warp_count];
                if (!w->alive) continue;
                if (shuffled && em_random(m) % 4 == 0) {
                    what = what == RAN_NOTHING ? RAN_POLLED : what;
                    continue;
                }
                ran one = run_warp(w, shuffled ? 1 + (uint32_t)(em_random(m) % 256) : IN_ORDER_BUDGET);
                if (m->failed) return RAN;
                if (one > what) what = one;
                if (!em_pending_run(m, false)) return RAN;
                if (!m->quiet.looking) continue;
                if (one == RAN)
                    em_spin_look(w);
                else
                    w->spin.found = true;
            }
        }
    }
    return what;
}

/* ---- clusters that begin and end ---- */

/* Questions to memory that other clusters write. */
static uint64_t reads(const em_machine *m)
{
    return m->counts.global_read + m->atomics;
}

/* Something happened: whoever waits may get on. */
static void stir(em_machine *m)
{
    em_idle *q = &m->quiet;
    q->changes = m->changes;
    q->rounds = 0;
    q->next = q->suspect ? SUSPECT_ROUNDS : QUIET_ROUNDS;
    q->looks = LOOKS;
    q->looking = false;
    if (m->parallel) atomic_store(&m->stuck, 0);
}

static void settle(em_machine *m)
{
    stir(m);
    m->quiet.instructions = m->counts.instructions;
    m->quiet.reads = reads(m);
    m->quiet.shared = m->counts.shared_read;
}

/* Clusters begin until as many run as may. False when memory is exhausted for the first one. */
static bool fill(em_machine *m)
{
    uint64_t index;
    for (uint32_t c = 0; m->running < m->width; c++) {
        if (c < m->cluster_count && m->clusters[c].running) continue;
        if (c == m->cluster_count) {
            if (!em_make_cluster(m, &m->clusters[c])) return m->running > 0;
            m->cluster_count++;
        }
        if (!em_grid_take(m, &index)) return true;
        em_begin_cluster(m, &m->clusters[c], index);
        settle(m);
    }
    return true;
}

/* More clusters are to run beside those that do. False: none came. */
static bool widen(em_machine *m, uint32_t places)
{
    uint32_t before = m->running, width = m->width;
    m->width = width <= places / 2 ? 2 * width : places;
    fill(m);
    if (m->running > before) return true;
    m->width = width;
    return false;
}

static bool end_clusters(em_machine *m)
{
    for (uint32_t c = 0; c < m->cluster_count; c++) {
        em_cluster *cluster = &m->clusters[c];
        if (!cluster->running || cluster->live_warps) continue;
        if (!em_pending_run(m, true)) return false;
        em_end_cluster(m, cluster);
        em_grid_ended(m, cluster);
    }
    return true;
}

/* ---- when nothing gets on ---- */

static bool all_warps(em_machine *m, bool (*ask)(em_warp *))
{
    bool all = true;
    for (uint32_t c = 0; c < m->cluster_count; c++)
        for (uint32_t r = 0; m->clusters[c].running && r < m->clusters[c].count; r++)
            for (uint32_t n = 0; n < m->clusters[c].blocks[r].warp_count; n++)
                if (m->clusters[c].blocks[r].warps[n].alive) all &= ask(&m->clusters[c].blocks[r].warps[n]);
    return all;
}

static bool begin_look(em_warp *w)
{
    em_spin_begin(w);
    return true;
}

static bool is_found(em_warp *w)
{
    return w->spin.found;
}

/* Lanes may wait at a join for others of their warp that wait for what only they would do. */
static bool keep(em_warp *w)
{
    return !em_resume_joins(w);
}

static void fail(em_machine *m)
{
    m->failed = true;
    m->failed_at = UINT64_MAX;
    for (uint32_t c = 0; c < m->cluster_count; c++)
        if (m->clusters[c].running && m->clusters[c].index < m->failed_at)
            m->failed_at = m->clusters[c].index;
}

static void fail_here(em_machine *m)
{
    fail(m);
    em_grid_deadlock(m, m->diag);
    em_explain_waits(m, 1, 0, m->diag);
}

/* All warps wait, or run in circles while the world's changes are `changes`. `asks`: some ask memory of all
 * clusters. */
static void get_unstuck(em_machine *m, uint32_t places, uint64_t changes, bool asks)
{
    if (!em_pending_run(m, true)) return;
    if (m->changes != m->quiet.changes || !all_warps(m, keep)) {
        stir(m);
        return;
    }
    if (!asks) {
        fail_here(m);
        return;
    }
    if (em_grid_has_failed(m)) {
        m->failed = true; /* what is waited for will not come; who failed tells why */
        m->failed_at = UINT64_MAX;
        return;
    }
    if (widen(m, places)) return;
    em_grid_stuck(m, changes);
    if (m->failed) {
        fail(m);
    } else {
        const struct timespec nap = {.tv_nsec = 50000};
        nanosleep(&nap, NULL);
    }
}

static void look(em_machine *m, uint32_t places)
{
    em_idle *q = &m->quiet;
    if (!q->looking) {
        if (++q->rounds < q->next || (reads(m) == q->reads && m->counts.shared_read == q->shared)) return;
        q->looking = true;
        q->left = q->looks;
        q->world = em_grid_changes(m);
        q->clocks = m->clocks;
        q->idle_reads = reads(m);
        all_warps(m, begin_look);
        return;
    }
    if (q->world != em_grid_changes(m)) {
        stir(m);
    } else if (q->clocks == m->clocks && all_warps(m, is_found)) {
        q->suspect = true;
        get_unstuck(m, places, q->world, reads(m) != q->idle_reads);
    } else if (--q->left == 0) {
        q->looking = false;
        q->next = q->rounds + q->next * GROWTH;
        q->looks *= GROWTH;
    }
}

/* No warp could do anything, but for asking mbarriers. */
static void idle(em_machine *m, bool polled, uint32_t places, uint32_t *rounds)
{
    em_idle *q = &m->quiet;
    if (!*rounds) {
        q->world = em_grid_changes(m);
        q->idle_reads = reads(m);
    }
    /* Late work has to come now, or nothing ever will. */
    if (!em_pending_run(m, true)) return;
    if (m->changes != m->quiet.changes || ++*rounds <= (polled ? IDLE_ROUNDS : 2)) return;
    *rounds = 0;
    if (q->world == em_grid_changes(m)) get_unstuck(m, places, q->world, reads(m) != q->idle_reads);
}

/* Tells that there are changes; gives up where there are none for too long, or where the time is up. */
static void beat(em_machine *m, double deadline, uint64_t *told, double *since)
{
    enum { SELDOM = 16 };
    if (deadline > 0 && cute_clock() > deadline) {
        em_grid_give_up(m, true);
        fail(m);
        return;
    }
    if (m->changes != *told) { /* a spin without an end is silent */
        *told = m->changes;
        *since = 0;
        em_grid_heartbeat(m);
    } else if (m->launch->options.patience > 0 && m->turn / 64 % SELDOM == 0) {
        if (*since <= 0 || (m->parallel && em_grid_changes(m) != m->quiet.told)) *since = cute_clock();
        m->quiet.told = em_grid_changes(m);
        if (cute_clock() - *since > m->launch->options.patience) {
            em_grid_give_up(m, false);
            fail(m);
        }
    }
}

void em_run_clusters(em_machine *m)
{
    uint32_t places = m->width, idle_rounds = 0;
    uint64_t told = m->changes;
    double since = 0,
           deadline = m->launch->options.timeout > 0 ? cute_clock() + m->launch->options.timeout : 0;
    if (!m->launch->cooperative) m->width = 1;
    for (;;) {
        if (m->running < m->width && !fill(m)) {
            cute_fail_memory(m->diag);
            fail(m);
        }
        if (!m->running || m->failed) return;
        ran what = run_round(m);
        m->turn++;
        if (m->parallel) atomic_store(&m->shown, m->changes);
        if (m->turn % 64 == 0) beat(m, deadline, &told, &since);
        if (m->failed || em_grid_is_over(m) || !end_clusters(m)) return;
        em_idle *q = &m->quiet;
        if (m->changes != q->changes) {
            stir(m);
            idle_rounds = 0;
        } else if (what == RAN) {
            idle_rounds = 0;
            look(m, places);
        } else {
            idle(m, what == RAN_POLLED, places, &idle_rounds);
        }
        if (m->counts.instructions - q->instructions > LONG_RUN * m->width && reads(m) != q->reads &&
            !m->launch->cooperative) {
            if (em_grid_has_failed(m)) return;
            q->instructions = m->counts.instructions;
            widen(m, places);
        }
    }
}
