/* The state of a launch's clusters: allocated with the machine's cluster slots, cleared when a cluster
 * starts. */
#include "lib/checks/parts.h"

#include <stdlib.h>

static bool make_cluster(const em_checks *c, const em_cluster *like, cluster_state *o)
{
    o->threads = calloc(c->entries, sizeof *o->threads);
    o->warps = calloc((size_t)like->count * like->blocks[0].warp_count, sizeof *o->warps);
    o->barriers = calloc((size_t)like->count * BLOCK_BARRIERS, sizeof *o->barriers);
    o->shared = calloc(like->count, sizeof *o->shared);
    return o->threads && o->warps && o->barriers && o->shared;
}

static bool clusters_grow(em_checks *c, uint32_t places)
{
    cluster_state *list = realloc(c->clusters, places * sizeof *list);
    if (!list) return false;
    c->clusters = list;
    memset(&list[c->cluster_room], 0, (places - c->cluster_room) * sizeof *list);
    c->cluster_room = places;
    for (uint32_t n = c->cluster_count; n < places; n++)
        if (!make_cluster(c, &c->machine->clusters[n], &list[n])) return false;
    return true;
}

static void clusters_end(em_checks *c)
{
    for (uint32_t n = 0; c->clusters && n < c->cluster_room; n++) {
        cluster_state *o = &c->clusters[n];
        free(o->threads);
        free(o->warps);
        free(o->barriers);
        free(o->shared);
    }
    free(c->clusters);
    c->clusters = NULL;
    c->cluster_count = c->cluster_room = 0;
}

static void clusters_event(em_checks *c, em_event event, em_warp *w, const em_inst *i, uint32_t mask,
                           uint64_t a, uint64_t b)
{
    cluster_state *o = cluster_of(c, w);
    (void)event, (void)i, (void)mask, (void)b;
    o->serial = c->serial_base + (uint32_t)a + 1;
    o->device = w->block->cluster->device;
    o->began = em_tick(c);
    o->map_fence = 0;
    o->waited = false;
    memset(o->stale, 0, sizeof o->stale);
    memset(o->narrow, 0, sizeof o->narrow);
    memset(o->seen, 0, sizeof o->seen);
    memset(o->warps, 0, (size_t)w->block->cluster->count * w->block->warp_count * sizeof *o->warps);
}

uint32_t em_tick(em_checks *c)
{
    return c->machine->time++;
}

const em_part em_part_clusters = {
    .events = EVENT(BEGIN), .grow = clusters_grow, .end = clusters_end, .event = clusters_event};
