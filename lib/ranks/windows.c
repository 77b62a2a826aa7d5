/* Windows that all ranks of a host reach: each rank allocates its own, and maps those of the others into its device's addresses. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/ranks/comm.h"

typedef struct offer {
    int32_t good;
    cute_shared_name name;
} offer;

enum { HOST = 256 };

static cute_status exchange(cute_comm *c, const void *own, size_t bytes, void *all, cute_diag *diag)
{
    return c->ranks ? cute_ranks_exchange(c->ranks, own, bytes, all, diag)
                    : c->ops->exchange(c, own, bytes, all, diag);
}

/* Whether all ranks say yes. */
static cute_status agree(cute_comm *c, bool own, bool *out, cute_diag *diag)
{
    int32_t all[RANKS_MOST], mine = own;
    CUTE_TRY(exchange(c, &mine, sizeof mine, all, diag));
    *out = true;
    for (int i = 0; i < c->size; i++) *out = *out && all[i];
    return CUTE_OK;
}

static void release_window(cute_comm *c, comm_window *w)
{
    for (int i = 0; w->memories && i < c->size; i++) {
        if (!w->memories[i]) continue;
        if (i == c->rank)
            c->device->ops->share_free(c->device, w->memories[i], w->bytes, &w->name);
        else
            c->device->ops->share_leave(c->device, w->memories[i], w->bytes);
    }
    free(w->memories);
    *w = (comm_window){0};
}

/* *good: all ranks have all memories. The reason of a rank that has not is in its `why`. */
static cute_status open_window(cute_comm *c, comm_window *w, bool *good, cute_diag *why, cute_diag *diag)
{
    const cute_device_ops *ops = c->device->ops;
    offer own = {0}, *all = calloc((size_t)c->size, sizeof *all);
    w->memories = calloc((size_t)c->size, sizeof *w->memories);
    if (!all || !w->memories) {
        free(all);
        return cute_fail_memory(diag);
    }
    own.good = ops->share_alloc(c->device, w->bytes, &w->memories[c->rank], &w->name, why) == CUTE_OK;
    if (!own.good) w->memories[c->rank] = 0;
    own.name = w->name;
    cute_status status = exchange(c, &own, sizeof own, all, diag);
    bool reached = status == CUTE_OK;
    for (int i = 0; reached && i < c->size; i++) {
        reached = all[i].good;
        if (reached && i != c->rank)
            reached = ops->share_reach(c->device, &all[i].name, w->bytes, &w->memories[i], why) == CUTE_OK;
    }
    free(all);
    return status == CUTE_OK ? agree(c, reached, good, diag) : status;
}

cute_status comm_share_window(cute_comm *c, size_t bytes, cute_address *memory, int *window, cute_diag *diag)
{
    bool good = false;
    if (c->shared_count == COMM_WINDOWS)
        return cute_fail(diag, CUTE_INVALID, NULL, "expected at most %d windows", COMM_WINDOWS);
    comm_window *w = &c->shared[c->shared_count];
    *w = (comm_window){.bytes = bytes ? bytes : 1};
    cute_status status = open_window(c, w, &good, diag, diag);
    if (status == CUTE_OK && !good)
        status = cute_fail(diag, CUTE_SYSTEM, NULL, "the ranks do not reach a window of %zu bytes", bytes);
    if (status != CUTE_OK) {
        release_window(c, w);
        return status;
    }
    *memory = w->memories[c->rank];
    *window = c->shared_count++;
    return CUTE_OK;
}

/* Whether all ranks are on this host. */
static cute_status find_together(cute_comm *c, bool *out, cute_diag *diag)
{
    char own[HOST] = "", *all;
    *out = c->ranks && cute_ranks_together(c->ranks);
    if (c->ranks) return CUTE_OK;
    if (gethostname(own, sizeof own - 1) != 0) own[0] = '\0';
    if (!(all = calloc((size_t)c->size, sizeof own))) return cute_fail_memory(diag);
    cute_status status = exchange(c, own, sizeof own, all, diag);
    *out = status == CUTE_OK && own[0];
    for (int i = 0; i < c->size; i++) *out = *out && memcmp(all + (size_t)i * HOST, own, HOST) == 0;
    free(all);
    return status;
}

cute_status comm_find_reach(cute_comm *c, size_t bytes, cute_diag *diag)
{
    bool able, good = false;
    comm_window *w = &c->shared[0];
    CUTE_TRY(find_together(c, &able, diag));
    CUTE_TRY(agree(c, able && c->device->ops->share_alloc, &able, diag));
    if (!able) return CUTE_OK;
    *w = (comm_window){.bytes = bytes};
    cute_status status = open_window(c, w, &good, NULL, diag);
    c->reaches = status == CUTE_OK && good;
    c->shared_count = c->reaches;
    if (!c->reaches) release_window(c, w);
    return status;
}

void comm_release_windows(cute_comm *c)
{
    while (c->shared_count) release_window(c, &c->shared[--c->shared_count]);
}

bool cute_comm_reaches(const cute_comm *c)
{
    return c->reaches;
}

cute_address cute_comm_peer(const cute_comm *c, int window, int rank)
{
    bool known = window >= 0 && window < c->shared_count && rank >= 0 && rank < c->size;
    return known ? c->shared[window].memories[rank] : 0;
}

cute_status cute_comm_await(cute_comm *c, cute_address counter, uint32_t value, int peer, cute_stream *stream,
                            cute_diag *diag)
{
    return c->ops->await(c, counter, value, peer, stream, diag);
}
