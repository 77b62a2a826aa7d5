/* Launches on several devices (ranks): what each knows of the others between launches, and the causes of races
 * between them: scopes that do not include other devices, flags that still have the value of an earlier use.
 * Launch k + 1 of a device follows its own launch k only: other devices may still run theirs. */
#include "lib/checks/parts.h"

#include <stdio.h>
#include <stdlib.h>

#include "lib/base/list.h"

/* ---- launches ---- */

void em_ranks_begin(em_checks *c)
{
    const em_program *program = c->launch->program;
    c->other_programs |= c->only_program && c->only_program != program;
    c->only_program = program;
    if (c->devices <= 1) return;
    if (!cute_heap_more(&c->launch_times, c->launch_count, &c->launch_capacity, sizeof *c->launch_times, 16))
        c->exhausted = true;
    else
        c->launch_times[c->launch_count++] = c->launch_time;
    for (uint32_t d = 0; d < c->devices; d++) {
        em_cross_drop(c->begun[d]);
        c->begun[d] = em_cross_keep(c->ended[d]);
    }
    em_flags_begin(c);
}

void em_ranks_end(em_checks *c)
{
    if (c->devices > 1) c->serial_base += (uint32_t)c->grid_clusters;
}

void em_ranks_release(em_checks *c)
{
    for (uint32_t d = 0; d < EM_DEVICES; d++) {
        em_cross_drop(c->begun[d]);
        em_cross_drop(c->ended[d]);
        for (uint32_t to = 0; to < EM_DEVICES; to++) em_cross_drop(c->signalled[d][to]);
    }
    free(c->launch_times);
}

/* ---- synchronization by the hosts of devices, between launches ---- */

/* Replaces `*at` by a clock that is new, or kept for it. */
static void replace_cross(cross_clock **at, cross_clock *by)
{
    em_cross_drop(*at);
    *at = by;
}

void em_checks_acquire(em_checks *c, uint32_t device, uint64_t counter)
{
    if (c->devices > 1)
        replace_cross(&c->ended[device], em_cross_join(c, c->ended[device], em_flags_published(c, counter)));
}

/* The signal has a time of its own, behind that of the last launch. */
void em_checks_signal(em_checks *c, uint32_t device, uint32_t to)
{
    if (c->devices <= 1) return; /* no launch yet */
    if (!cute_heap_more(&c->launch_times, c->launch_count, &c->launch_capacity, sizeof *c->launch_times,
                        16)) {
        c->exhausted = true;
        return;
    }
    c->launch_times[c->launch_count++] = c->time++;
    replace_cross(&c->signalled[device][to],
                  em_cross_launches(c, c->signalled[device][to], c->ended[device], device, c->time));
}

void em_checks_observe(em_checks *c, uint32_t device, uint32_t from)
{
    if (c->devices > 1)
        replace_cross(&c->ended[device], em_cross_join(c, c->ended[device], c->signalled[from][device]));
}

uint32_t em_ranks_launch_before(const em_checks *c, uint32_t time)
{
    size_t n = c->launch_count;
    while (n && c->launch_times[n - 1] >= time) n--;
    return n ? c->launch_times[n - 1] : 0;
}

/* What exiting threads know, later launches of their device know. */
static void ranks_event(em_checks *c, em_event event, em_warp *w, const em_inst *i, uint32_t mask, uint64_t a,
                        uint64_t b)
{
    cluster_state *o = cluster_of(c, w);
    (void)event, (void)i, (void)a, (void)b;
    if (c->devices <= 1) return;
    const vclock *last = NULL;
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        const vclock *known = o->threads[thread_id(c, w, __builtin_ctz(rest))].known;
        if (known == last) continue;
        last = known;
        cross_clock *both = em_cross_join(c, c->ended[o->device], known->cross);
        em_cross_drop(c->ended[o->device]);
        c->ended[o->device] = both;
    }
}

/* ---- causes of races ---- */

/* Whether the thread reads the same write again, or one of an earlier launch: then the value was there before this
 * wait, unless the thread still waits. */
static bool is_read_again(const em_checks *c, cluster_state *o, uint32_t id, uint64_t address, uint32_t time)
{
    size_t slot = (size_t)((address ^ (uint64_t)id << 32) * UINT64_C(0x9e3779b97f4a7c15) >> 32) % FLAGS_SEEN;
    flag_seen *seen = &o->seen[slot];
    bool again = seen->address == address && seen->id == id && seen->time == time;
    *seen = (flag_seen){.address = address, .id = id, .time = time};
    return again || time <= c->launch_time;
}

void em_ranks_poll(em_checks *c, const memory_access *a)
{
    const shadow *s = a->shadow;
    cluster_state *o = cluster_of(c, a->warp);
    if (a->lane < 0 || !s->writes || (a->at >> s->granule) > (s->total >> s->granule)) return;
    const access_record *before = &s->writes[a->at >> s->granule];
    if (!before->time || !(before->flags & ACCESS_STRONG)) return;
    uint32_t from = em_device_of(c, before->cluster), id = thread_id(c, a->warp, a->lane);
    if (from == o->device) return;
    o->stale[from] = is_read_again(c, o, id, a->address, before->time) ? a->inst : NULL;
}

/* The running cluster with a serial number; NULL: it has ended. */
static const cluster_state *running_cluster(const em_checks *c, uint32_t serial)
{
    for (uint32_t n = 0; n < c->cluster_count; n++)
        if (c->clusters[n].serial == serial) return &c->clusters[n];
    return NULL;
}

static const char *scope_name(const access_record *r)
{
    int scope = r->flags & ACCESS_SCOPE;
    return scope == ACCESS_SCOPE ? ".gpu" : scope == ACCESS_CLUSTER ? ".cluster" : ".cta";
}

rank_race em_ranks_explain(const em_checks *c, const cluster_state *o, const access_record *previous,
                           const access_record *current)
{
    uint32_t other = em_device_of(c, previous->cluster);
    bool earlier = previous->time <= c->launch_time;
    rank_race r = {.kind = FOUND_RACE_RANKS,
                   .other = earlier && c->other_programs ? UINT32_MAX : previous->inst,
                   .earlier = earlier};
    const cluster_state *theirs = running_cluster(c, previous->cluster);
    const em_inst *stale = o->stale[other];
    uint32_t waiting = o->device;
    if (!stale && theirs && theirs->stale[o->device]) {
        stale = theirs->stale[o->device];
        waiting = other;
    }
    if (previous->flags & current->flags & ACCESS_STRONG) {
        r.kind = FOUND_RACE_RANK_SCOPE;
        bool ours = current->flags & ACCESS_SCOPE;
        snprintf(r.lack, sizeof r.lack,
                 "the scope of %s access, %s, does not include other devices: use .sys",
                 ours ? "this" : "that", scope_name(ours ? current : previous));
    } else if (o->narrow[other]) {
        r.kind = FOUND_RACE_RANK_FENCE;
        r.other = inst_index(c, o->narrow[other]);
        snprintf(r.lack, sizeof r.lack,
                 "the fence between them and their flag has a scope that does not include other devices: use "
                 ".sys");
    } else if (stale) {
        r.kind = FOUND_RACE_FLAG_REUSED;
        r.other = inst_index(c, stale);
        snprintf(r.lack, sizeof r.lack,
                 "the flag that rank %u waited for still had the value of an earlier use", waiting);
    } else if (earlier) {
        r.kind = FOUND_RACE_RANK_LAUNCH;
        snprintf(r.lack, sizeof r.lack,
                 "launches of different ranks are not ordered, and no flag of system scope orders these");
    } else {
        snprintf(r.lack, sizeof r.lack, "no fence and flag of system scope between the ranks");
    }
    return r;
}

static const em_part *const needs[] = {&em_part_vector_clocks, NULL};
const em_part em_part_ranks = {.needs = needs, .events = EVENT(EXIT), .event = ranks_event};
