/* Collective operations: the tables, and the choice of a provider. */
#include "lib/ranks/comm.h"

#include <stdio.h>
#include <string.h>

#include "lib/device/device.h"
#include "lib/numeric/number.h"

static const char *const kind_names[] = {
#define COLLECTIVE(id, name, help) name,
#include "lib/ranks/collectives.def"
#undef COLLECTIVE
};

static const comm_type types[] = {
#define COMM_TYPE(name, bytes, nccl, format) {name, bytes, nccl, format},
#include "lib/ranks/types.def"
#undef COMM_TYPE
};

const char *comm_kind_name(comm_kind kind)
{
    return kind_names[kind];
}

bool comm_kind_find(const char *name, comm_kind *out)
{
    for (int i = 0; i < COMM_KINDS; i++)
        if (strcmp(kind_names[i], name) == 0) {
            *out = (comm_kind)i;
            return true;
        }
    return false;
}

const comm_type *comm_type_find(const char *name)
{
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (strcmp(types[i].name, name) == 0) return &types[i];
    return NULL;
}

bool comm_provider_find(const char *name, comm_provider *out)
{
    static const struct {
        const char *name;
        comm_provider provider;
    } table[] = {{"nccl", COMM_NCCL}, {"nccl-send", COMM_NCCL_SEND}, {"shared", COMM_SHARED}};
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (strcmp(table[i].name, name) == 0) {
            *out = table[i].provider;
            return true;
        }
    return false;
}

/* NCCL needs a GPU for each rank. */
static cute_status check_gpus(cute_ranks *ranks, const cute_device *device, cute_diag *diag)
{
    typedef struct place {
        int32_t domain, bus, device;
        char host[64];
    } place;
    enum { MOST = 1024 };
    place all[MOST], own = {device->info.pci_domain, device->info.pci_bus, device->info.pci_device, {0}};
    int size = cute_ranks_size(ranks);
    if (size > MOST) return CUTE_OK; /* NCCL itself reports it */
    snprintf(own.host, sizeof own.host, "%s", cute_ranks_host(ranks));
    CUTE_TRY(cute_ranks_exchange(ranks, &own, sizeof own, all, diag));
    for (int i = 0; i < size; i++)
        for (int k = 0; k < i; k++)
            if (memcmp(&all[i], &all[k], sizeof own) == 0)
                return cute_fail(diag, CUTE_INVALID, NULL,
                                 "ranks %d and %d have the same GPU: expected a GPU for each of %d ranks", k,
                                 i, size);
    return CUTE_OK;
}

cute_status cute_comm_open(cute_ranks *ranks, cute_device *device, comm_provider provider, cute_comm **out,
                           cute_diag *diag)
{
    bool emulated = device->ops->emulator != NULL;
    *out = NULL;
    if (provider == COMM_AUTO) provider = emulated ? COMM_SHARED : COMM_NCCL;
    if (provider == COMM_SHARED) return comm_open_shared(ranks, device, out, diag);
    if (emulated)
        return cute_fail(diag, CUTE_USAGE, NULL,
                         "NCCL requires GPUs, got the emulator: use the stand-in over shared memory");
    CUTE_TRY(check_gpus(ranks, device, diag));
    return comm_open_nccl(ranks, device, NULL, provider == COMM_NCCL, out, diag);
}

cute_status cute_comm_wrap(void *communicator, cute_device *device, cute_comm **out, cute_diag *diag)
{
    *out = NULL;
    if (device->ops->emulator)
        return cute_fail(diag, CUTE_USAGE, NULL, "an NCCL communicator requires a GPU, got the emulator");
    return comm_open_nccl(NULL, device, communicator, false, out, diag);
}

void cute_comm_close(cute_comm *c)
{
    if (!c) return;
    if (c->reaches) comm_release_windows(c);
    c->ops->close(c);
}

int cute_comm_rank(const cute_comm *c)
{
    return c->rank;
}

int cute_comm_size(const cute_comm *c)
{
    return c->size;
}

const char *cute_comm_name(const cute_comm *c)
{
    return c->name;
}

bool cute_comm_puts(const cute_comm *c)
{
    return c->puts;
}

bool cute_comm_timed(const cute_comm *c)
{
    return c->timed;
}

cute_status cute_comm_window(cute_comm *c, size_t bytes, cute_address *memory, int *window, cute_diag *diag)
{
    return c->reaches && !c->own_windows ? comm_share_window(c, bytes, memory, window, diag)
                                         : c->ops->window(c, bytes, memory, window, diag);
}

cute_status cute_comm_start(cute_comm *c, const comm_call *call, cute_stream *stream, cute_diag *diag)
{
    if (call->peer < 0 || call->peer >= c->size)
        return cute_fail(diag, CUTE_USAGE, NULL, "%s: expected a rank from 0 to %d, got %d",
                         comm_kind_name(call->kind), c->size - 1, call->peer);
    return c->ops->start(c, call, stream, diag);
}

cute_status cute_comm_group_begin(cute_comm *c, cute_diag *diag)
{
    return c->ops->begin ? c->ops->begin(c, diag) : CUTE_OK;
}

cute_status cute_comm_group_end(cute_comm *c, cute_diag *diag)
{
    return c->ops->end ? c->ops->end(c, diag) : CUTE_OK;
}

cute_status cute_comm_sync(cute_comm *c, cute_diag *diag)
{
    return c->ops->sync(c, diag);
}
