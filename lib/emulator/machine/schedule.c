/* The schedule of one host thread: time slices of warps, start and end of clusters, idle detection.
 * Clusters run one at a time; if the running ones make no progress more are started, up to the capacity of
 * the device. */
#include "lib/emulator/machine/schedule.h"

#include <time.h>

#include "lib/base/system/clock.h"
#include "lib/emulator/machine/control.h"

/* Time slices are short, because some kernels lack a barrier but run on hardware, where warps advance in
 * step. */
enum { IN_ORDER_BUDGET = 16, IDLE_ROUNDS = 64 };
/* Instructions after which lanes that wait at a join are resumed: the first time, later. */
enum { PATIENCE = 1 << 14, LESS_PATIENCE = 1 << 10 };
/* Failed try_waits in a row after which a loop counts as a pure wait for the mbarrier, however long
 * its body. */
enum { POLLS = 16 };
/* Idle detection: after PROBE_ROUNDS rounds without a change the states of warps are probed in PROBES rounds,
 * then both grow. SUSPECT_ROUNDS: if a warp looped without progress before. */
enum { PROBE_ROUNDS = 4096, SUSPECT_ROUNDS = 64, PROBES = 128, GROWTH = 4 };
/* Instructions after which more clusters are started if the running ones read memory and do not end. */
#define LONG_RUN (UINT64_C(1) << 22)

static bool split_is_ready(em_warp *w, em_split *s)
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

/* The result of a time slice of each split of a warp: none could run, all failed a try_wait, or some made
 * progress. */
typedef enum ran { RAN_NOTHING, RAN_POLLED, RAN } ran;

static ran run_warp(em_warp *w, uint32_t budget)
{
    ran what = RAN_NOTHING;
    int start = w->current;
    for (int n = 0; n < w->high && w->alive; n++) {
        int k = start + n;
        while (k >= w->high) k -= w->high;
        if (!w->splits[k].live || !split_is_ready(w, &w->splits[k])) continue;
        em_use_split(w, k);
        uint32_t ran_now = em_run_split(w, budget);
        w->diverged += ran_now;
        if (w->stop == EM_FAULT) return RAN;
        const em_split *s = &w->splits[k];
        bool polls =
            s->live && s->wait == EM_RUNS && s->polls > POLLS && s->polled == w->machine->changes + 1;
        if (w->stop == EM_POLL || (polls && w->stop != EM_BLOCK)) {
            if (what == RAN_NOTHING) what = RAN_POLLED;
        } else if (w->stop != EM_BLOCK || ran_now > 1) {
            what = RAN;
        }
        /* The same lanes continue after diverging or joining, within the budget. */
        if (w->stop == EM_SWITCH && budget > ran_now) {
            budget -= ran_now;
            start = k;
            n = -1;
        }
    }
    if (w->high == 1) {
        w->diverged = 0;
        w->resumed = false;
    } else if (w->diverged > (w->resumed ? LESS_PATIENCE : PATIENCE)) {
        em_resume_joins(w);
    }
    return what;
}

/* With a seed, devices start late and pause: whether the device waits in this round. */
static bool device_is_delayed(em_machine *m, uint32_t device)
{
    enum { SELDOM = 64, LONGEST = 96 };
    if (m->round < m->delays[device]) return true;
    if (m->round && em_random(m) % SELDOM) return false;
    m->delays[device] = m->round + em_random(m) % LONGEST;
    return m->round < m->delays[device];
}

/* One time slice of every warp. */
static ran run_round(em_machine *m)
{
    ran what = RAN_NOTHING;
    bool shuffled = m->launch->options.seed != 0, delayed[EM_DEVICES] = {0};
    uint32_t devices = em_devices(m->launch);
    for (uint32_t d = 0; shuffled && devices > 1 && d < devices; d++) delayed[d] = device_is_delayed(m, d);
    for (uint32_t c = 0; c < m->cluster_count; c++) {
        em_cluster *cluster = &m->clusters[c];
        if (cluster->running && delayed[cluster->device]) {
            what = RAN; /* later */
            continue;
        }
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
                /* in order, operations completed when issued */
                if (shuffled && !em_pending_run(m, false)) return RAN;
                if (!m->idle.probing) continue;
                if (one == RAN)
                    em_spin_probe(w);
                else
                    w->spin.found = true;
            }
        }
    }
    return what;
}

/* ---- start and end of clusters ---- */

/* Reads of memory that other clusters may write. */
static uint64_t count_global_reads(const em_machine *m)
{
    return m->counts.global_read + m->atomics;
}

/* Progress: restarts idle detection. */
static void reset_idle(em_machine *m)
{
    em_idle *q = &m->idle;
    q->changes = m->changes;
    q->rounds = 0;
    q->next = q->suspect ? SUSPECT_ROUNDS : PROBE_ROUNDS;
    q->probes = PROBES;
    q->probing = false;
    if (m->parallel) atomic_store(&m->stuck, 0);
}

/* A cluster has started. */
static void cluster_started(em_machine *m)
{
    reset_idle(m);
    m->idle.instructions = m->counts.instructions;
    m->idle.reads = count_global_reads(m);
    m->idle.shared = m->counts.shared_read;
}

/* Starts clusters up to the limit. False if memory is exhausted for the first one. */
static bool start_clusters(em_machine *m)
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
        cluster_started(m);
    }
    return true;
}

/* Raises the limit and starts more clusters. False: none started. */
static bool start_more_clusters(em_machine *m, uint32_t places)
{
    uint32_t before = m->running, width = m->width;
    m->width = width <= places / 2 ? 2 * width : places;
    start_clusters(m);
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

/* ---- idle detection ---- */

static bool all_warps(em_machine *m, bool (*ask)(em_warp *))
{
    bool all = true;
    for (uint32_t c = 0; c < m->cluster_count; c++)
        for (uint32_t r = 0; m->clusters[c].running && r < m->clusters[c].count; r++)
            for (uint32_t n = 0; n < m->clusters[c].blocks[r].warp_count; n++)
                if (m->clusters[c].blocks[r].warps[n].alive) all &= ask(&m->clusters[c].blocks[r].warps[n]);
    return all;
}

static bool begin_probe(em_warp *w)
{
    em_spin_begin(w);
    return true;
}

static bool is_found(em_warp *w)
{
    return w->spin.found;
}

/* Lanes at a join may wait for other lanes of their warp that wait for them. True: none were resumed. */
static bool stays_joined(em_warp *w)
{
    return !em_resume_joins(w);
}

static void fail_running_clusters(em_machine *m)
{
    m->failed = true;
    m->failed_at = UINT64_MAX;
    for (uint32_t c = 0; c < m->cluster_count; c++)
        if (m->clusters[c].running && m->clusters[c].index < m->failed_at)
            m->failed_at = m->clusters[c].index;
}

static void report_local_deadlock(em_machine *m)
{
    fail_running_clusters(m);
    em_grid_deadlock(m, m->diag);
    em_explain_waits(m, 1, 0, m->diag);
}

/* All warps wait or loop without progress while the changes of all machines are `changes`. `asks`: some read
 * memory that other clusters may write. */
static void get_unstuck(em_machine *m, uint32_t places, uint64_t changes, bool asks)
{
    if (!em_pending_run(m, true)) return;
    if (m->changes != m->idle.changes || !all_warps(m, stays_joined)) {
        reset_idle(m);
        return;
    }
    if (!asks) {
        report_local_deadlock(m);
        return;
    }
    if (em_grid_has_failed(m)) {
        m->failed = true; /* the awaited work will not come; the failed cluster reports why */
        m->failed_at = UINT64_MAX;
        return;
    }
    if (start_more_clusters(m, places)) return;
    em_grid_stuck(m, changes);
    if (m->failed) {
        fail_running_clusters(m);
    } else {
        const struct timespec nap = {.tv_nsec = 50000};
        nanosleep(&nap, NULL);
    }
}

static void probe_warps(em_machine *m, uint32_t places)
{
    em_idle *q = &m->idle;
    if (!q->probing) {
        if (++q->rounds < q->next ||
            (count_global_reads(m) == q->reads && m->counts.shared_read == q->shared))
            return;
        q->probing = true;
        q->left = q->probes;
        q->all_changes = em_grid_changes(m);
        q->clocks = m->clocks;
        q->idle_reads = count_global_reads(m);
        all_warps(m, begin_probe);
        return;
    }
    if (q->all_changes != em_grid_changes(m)) {
        reset_idle(m);
    } else if (q->clocks == m->clocks && all_warps(m, is_found)) {
        q->suspect = true;
        get_unstuck(m, places, q->all_changes, count_global_reads(m) != q->idle_reads);
    } else if (--q->left == 0) {
        q->probing = false;
        q->next = q->rounds + q->next * GROWTH;
        q->probes *= GROWTH;
    }
}

/* No warp could run, or all that ran failed a try_wait. */
static void handle_idle_round(em_machine *m, bool polled, uint32_t places, uint32_t *rounds)
{
    em_idle *q = &m->idle;
    if (!*rounds) {
        q->all_changes = em_grid_changes(m);
        q->idle_reads = count_global_reads(m);
    }
    /* The last chance: complete pending operations. */
    if (!em_pending_run(m, true)) return;
    if (m->changes != m->idle.changes || ++*rounds <= (polled ? IDLE_ROUNDS : 2)) return;
    *rounds = 0;
    if (q->all_changes == em_grid_changes(m))
        get_unstuck(m, places, q->all_changes, count_global_reads(m) != q->idle_reads);
}

/* Calls the launch's heartbeat after changes; gives up after too long without any, or at the deadline. */
static void call_heartbeat(em_machine *m, double deadline, uint64_t *told, double *since)
{
    enum { SELDOM = 16 };
    if (deadline > 0 && cute_clock() > deadline) {
        em_grid_give_up(m, true);
        fail_running_clusters(m);
        return;
    }
    if (m->changes != *told) { /* an endless spin is silent */
        *told = m->changes;
        *since = 0;
        em_grid_heartbeat(m);
    } else if (m->launch->options.patience > 0 && m->round / 64 % SELDOM == 0) {
        if (*since <= 0 || (m->parallel && em_grid_changes(m) != m->idle.clock_changes))
            *since = cute_clock();
        m->idle.clock_changes = em_grid_changes(m);
        if (cute_clock() - *since > m->launch->options.patience) {
            em_grid_give_up(m, false);
            fail_running_clusters(m);
        }
    }
}

void em_run_clusters(em_machine *m)
{
    uint32_t places = m->width, idle_rounds = 0;
    uint64_t told = m->changes;
    double since = 0,
           deadline = m->launch->options.timeout > 0 ? cute_clock() + m->launch->options.timeout : 0;
    if (!m->launch->cooperative) m->width = em_devices(m->launch);
    for (;;) {
        if (m->running < m->width && !start_clusters(m)) {
            cute_fail_memory(m->diag);
            fail_running_clusters(m);
        }
        if (!m->running || m->failed) return;
        ran what = run_round(m);
        m->round++;
        if (m->parallel) atomic_store(&m->published, m->changes);
        if (m->round % 64 == 0) call_heartbeat(m, deadline, &told, &since);
        if (m->failed || em_grid_is_over(m) || !end_clusters(m)) return;
        em_idle *q = &m->idle;
        if (m->changes != q->changes) {
            reset_idle(m);
            idle_rounds = 0;
        } else if (what == RAN) {
            idle_rounds = 0;
            probe_warps(m, places);
        } else {
            handle_idle_round(m, what == RAN_POLLED, places, &idle_rounds);
        }
        if (m->counts.instructions - q->instructions > LONG_RUN * m->width &&
            count_global_reads(m) != q->reads && !m->launch->cooperative) {
            if (em_grid_has_failed(m)) return;
            q->instructions = m->counts.instructions;
            start_more_clusters(m, places);
        }
    }
}
