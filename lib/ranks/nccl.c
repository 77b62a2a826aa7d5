/* Collectives by NCCL, which is opened at run time. The communicator does not block, so that a rank that waits in NCCL still learns that
 * another has failed; it then aborts the communicator. Between ranks of one host that reach each other's
 * memory, puts are copies of ours; else they need NCCL 2.29. cute_comm_puts says whether they are available. */
#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/system/library.h"
#include "lib/device/device.h"
#include "lib/ranks/comm.h"

typedef int nccl_result;
typedef struct nccl_comm_s *nccl_comm;
typedef struct nccl_window_s *nccl_window;
typedef struct nccl_id {
    char bytes[128];
} nccl_id;

/* The fields of NCCL 2.17, the version that it states: later libraries take the defaults of all others. */
typedef struct nccl_config {
    size_t size;
    unsigned magic, version;
    int blocking, cluster, least_blocks, most_blocks;
    const char *net;
    int split_share;
} nccl_config;

typedef struct nccl_wait {
    int count, peer, signal, context;
} nccl_wait;

enum { NCCL_OK = 0, NCCL_IN_PROGRESS = 7, NCCL_SUM = 0 };
enum { NCCL_OLDEST = 21700, NCCL_FIRST_PUTS = 22900 };
static const unsigned config_magic = 0xcafebeef;

/* All functions return a nccl_result but for two, which return a text. */
typedef const char *nccl_text;
typedef struct nccl_api {
#define F(result, field, name, needed, args) result(*field) args;
#include "lib/ranks/nccl_api.def"
#undef F
} nccl_api;

typedef struct nccl_memory {
    void *bytes;
    nccl_window window;
} nccl_memory;

typedef struct nccl_provider {
    cute_comm base;
    nccl_api api;
    nccl_comm comm;
    bool owned, aborted; /* owned: created here */
    nccl_memory windows[COMM_WINDOWS];
    int window_count;
    uint32_t sent[RANKS_LOCAL_MOST],
        awaited[RANKS_LOCAL_MOST]; /* puts to and from each rank that is reached */
} nccl_provider;

static nccl_provider *provider(cute_comm *c)
{
    return (nccl_provider *)c;
}

/* ---- the library ---- */

static cute_status open_library(nccl_api *api, int *version, cute_diag *diag)
{
    static const char *const names[] = {"libnccl.so.2", "libnccl.so", NULL};
    cute_buffer reasons = {0};
    const char *path;
    void *library = cute_library_open("CUTE_LIBNCCL", names, &path, &reasons), *symbol;
    if (!library) {
        cute_fail(diag, CUTE_SYSTEM, NULL, "no NCCL: cannot open %s", path);
        cute_library_notes(&reasons, diag);
        cute_note(
            diag, NULL,
            "fix: scripts/nccl DIR fetches it, and CUTE_LIBNCCL names the library; --comm=shared copies "
            "through the host instead");
        return CUTE_SYSTEM;
    }
    cute_buffer_release(&reasons);
#define F(result, field, name, needed, args)                                                                 \
    symbol = dlsym(library, name);                                                                           \
    memcpy(&api->field, &symbol, sizeof symbol);                                                             \
    if (needed && !symbol)                                                                                   \
        return cute_fail(diag, CUTE_SYSTEM, NULL, "%s lacks %s: expected NCCL 2.17 or later", path, name);
#include "lib/ranks/nccl_api.def"
#undef F
    if (api->version(version) != NCCL_OK || *version < NCCL_OLDEST)
        return cute_fail(diag, CUTE_SYSTEM, NULL, "%s is too old: expected NCCL 2.17 or later, got %d.%d",
                         path, *version / 10000, *version / 100 % 100);
    return CUTE_OK;
}

static cute_status nccl_error(nccl_provider *p, nccl_result result, const char *doing, cute_diag *diag)
{
    const char *last = p->api.last_error ? p->api.last_error(p->comm) : NULL;
    return cute_fail(diag, CUTE_INVALID, NULL, "NCCL: %s: %s (%d)%s%s", doing, p->api.error(result), result,
                     last && *last ? ": " : "", last ? last : "");
}

/* Gives up the communicator, so that its kernels end. */
static void abort_comm(nccl_provider *p)
{
    if (p->comm && p->owned && !p->aborted) p->api.abort(p->comm);
    p->aborted = p->aborted || p->owned;
}

/* Waits until a call that does not block is done. */
static cute_status settle(nccl_provider *p, nccl_result result, const char *doing, cute_diag *diag)
{
    if (result == NCCL_OK) return CUTE_OK;
    if (result != NCCL_IN_PROGRESS) return nccl_error(p, result, doing, diag);
    ranks_wait w = p->base.ranks ? cute_ranks_wait_begin(p->base.ranks) : (ranks_wait){0};
    for (;;) {
        nccl_result now = NCCL_OK, called = p->api.async_error(p->comm, &now);
        if (called != NCCL_OK) return nccl_error(p, called, doing, diag);
        if (now == NCCL_OK) return CUTE_OK;
        if (now != NCCL_IN_PROGRESS) return nccl_error(p, now, doing, diag);
        cute_status status = p->base.ranks ? cute_ranks_wait_turn(p->base.ranks, &w, -1, diag) : CUTE_OK;
        if (status != CUTE_OK) {
            abort_comm(p);
            return status;
        }
    }
}

static cute_status enter(const nccl_provider *p, cute_diag *diag)
{
    cute_device *d = p->base.device;
    return d->ops->enter ? d->ops->enter(d, diag) : CUTE_OK;
}

/* ---- operations ---- */

/* Puts between ranks that reach each other: a copy, for which copy engines serve, and then the number of puts so far in the receiver's first
 * window, where each rank has a counter. */
static cute_status start_put(nccl_provider *p, const comm_call *call, cute_stream *stream, cute_diag *diag)
{
    cute_comm *c = &p->base;
    const cute_device_ops *ops = c->device->ops;
    size_t bytes = (size_t)call->count * (size_t)(call->type ? call->type->bytes : 0);
    cute_address to = cute_comm_peer(c, call->window, call->peer) + (cute_address)call->offset;
    if (call->kind == COMM_WAIT) {
        p->awaited[call->peer] += (uint32_t)call->signals;
        return ops->stream_wait_count(
            c->device, stream, cute_comm_peer(c, 0, c->rank) + (cute_address)call->peer * sizeof(uint32_t),
            p->awaited[call->peer], diag);
    }
    if (bytes) CUTE_TRY(ops->copy(c->device, stream, to, call->from, bytes, diag));
    return ops->stream_write_count(
        c->device, stream, cute_comm_peer(c, 0, call->peer) + (cute_address)c->rank * sizeof(uint32_t),
        ++p->sent[call->peer], diag);
}

/* By the communicator itself, through device memory. */
static cute_status nccl_exchange(cute_comm *c, const void *own, size_t bytes, void *all, cute_diag *diag)
{
    nccl_provider *p = provider(c);
    size_t size = (size_t)c->size;
    const int type = comm_type_find("i8")->nccl;
    cute_address at;
    CUTE_TRY(cute_device_alloc(c->device, (size + 1) * bytes, &at, diag));
    cute_status status = cute_device_upload(c->device, at + size * bytes, own, bytes, diag);
    if (status == CUTE_OK) status = enter(p, diag);
    if (status == CUTE_OK)
        status =
            settle(p,
                   p->api.all_gather((const void *)(uintptr_t)(at + size * bytes), (void *)(uintptr_t)at,
                                     bytes, type, p->comm, c->device->ops->native_stream(c->device, NULL)),
                   "ncclAllGather", diag);
    if (status == CUTE_OK) status = cute_device_sync(c->device, diag);
    if (status == CUTE_OK) status = cute_device_download(c->device, all, at, size * bytes, diag);
    cute_device_free(c->device, at, NULL);
    return status;
}

static cute_status nccl_await(cute_comm *c, cute_address counter, uint32_t value, int peer,
                              cute_stream *stream, cute_diag *diag)
{
    (void)peer;
    CUTE_TRY(enter(provider(c), diag));
    return c->device->ops->stream_wait_count(c->device, stream, counter, value, diag);
}

static cute_status nccl_start(cute_comm *c, const comm_call *call, cute_stream *stream, cute_diag *diag)
{
    nccl_provider *p = provider(c);
    const nccl_api *f = &p->api;
    const void *from = (const void *)(uintptr_t)call->from;
    void *to = (void *)(uintptr_t)call->to, *s = c->device->ops->native_stream(c->device, stream);
    size_t count = (size_t)call->count;
    int type = call->type ? call->type->nccl : 0, peer = call->peer;
    nccl_wait wait = {(int)call->signals, peer, 0, 0};
    nccl_result result = NCCL_OK;
    CUTE_TRY(enter(p, diag));
    if (c->reaches && (call->kind == COMM_PUT || call->kind == COMM_WAIT))
        return start_put(p, call, stream, diag);
    switch (call->kind) {
    case COMM_ALL_REDUCE: result = f->all_reduce(from, to, count, type, NCCL_SUM, p->comm, s); break;
    case COMM_REDUCE_SCATTER: result = f->reduce_scatter(from, to, count, type, NCCL_SUM, p->comm, s); break;
    case COMM_ALL_GATHER: result = f->all_gather(from, to, count, type, p->comm, s); break;
    case COMM_BROADCAST: result = f->broadcast(from, to, count, type, peer, p->comm, s); break;
    case COMM_REDUCE: result = f->reduce(from, to, count, type, NCCL_SUM, peer, p->comm, s); break;
    case COMM_SEND: result = f->send(from, count, type, peer, p->comm, s); break;
    case COMM_RECV: result = f->recv(to, count, type, peer, p->comm, s); break;
    case COMM_PUT:
    case COMM_WAIT:
        if (!c->puts)
            return cute_fail(diag, CUTE_SYSTEM, NULL,
                             "%s requires NCCL 2.29 or later, got %s: use send and recv",
                             comm_kind_name(call->kind), c->name);
        result = call->kind == COMM_WAIT ? f->wait(1, &wait, p->comm, s)
                                         : f->put(from, count, type, peer, p->windows[call->window].window,
                                                  (size_t)call->offset, 0, 0, 0, p->comm, s);
        break;
    case COMM_KINDS: break;
    }
    return settle(p, result, comm_kind_name(call->kind), diag);
}

static cute_status nccl_begin(cute_comm *c, cute_diag *diag)
{
    nccl_result result = provider(c)->api.begin();
    return result == NCCL_OK ? CUTE_OK : nccl_error(provider(c), result, "ncclGroupStart", diag);
}

static cute_status nccl_end(cute_comm *c, cute_diag *diag)
{
    return settle(provider(c), provider(c)->api.end(), "ncclGroupEnd", diag);
}

static cute_status nccl_make_window(cute_comm *c, size_t bytes, cute_address *memory, int *out,
                                    cute_diag *diag)
{
    nccl_provider *p = provider(c);
    *out = -1;
    if (!c->puts) return cute_device_alloc(c->device, bytes, memory, diag);
    if (p->window_count == COMM_WINDOWS)
        return cute_fail(diag, CUTE_INVALID, NULL, "expected at most %d windows", COMM_WINDOWS);
    nccl_memory *w = &p->windows[p->window_count];
    CUTE_TRY(enter(p, diag));
    nccl_result result = p->api.alloc(&w->bytes, bytes ? bytes : 1);
    if (result != NCCL_OK) return nccl_error(p, result, "ncclMemAlloc", diag);
    *memory = (cute_address)(uintptr_t)w->bytes;
    *out = p->window_count++;
    return settle(p, p->api.window(p->comm, w->bytes, bytes ? bytes : 1, &w->window, 0),
                  "ncclCommWindowRegister", diag);
}

/* Polls the device's own stream and, so that an error of NCCL or another rank ends the wait, those as well. */
static cute_status nccl_sync(cute_comm *c, cute_diag *diag)
{
    nccl_provider *p = provider(c);
    const cute_device_ops *ops = c->device->ops;
    ranks_wait w = c->ranks ? cute_ranks_wait_begin(c->ranks) : (ranks_wait){0};
    bool idle = false;
    cute_status status = enter(p, diag);
    while (status == CUTE_OK && ops->idle) {
        nccl_result now = NCCL_OK;
        status = ops->idle(c->device, NULL, &idle, diag);
        if (status != CUTE_OK || idle) break;
        if (p->api.async_error(p->comm, &now) != NCCL_OK || (now != NCCL_OK && now != NCCL_IN_PROGRESS))
            status = nccl_error(p, now, "a collective", diag);
        else if (c->ranks)
            status = cute_ranks_wait_turn(c->ranks, &w, -1, diag);
    }
    if (status == CUTE_OK) status = cute_device_sync(c->device, diag);
    if (status != CUTE_OK) abort_comm(p);
    if (c->ranks) cute_ranks_beat(c->ranks);
    return status;
}

static void nccl_close(cute_comm *c)
{
    nccl_provider *p = provider(c);
    bool entered = enter(p, NULL) == CUTE_OK;
    for (int i = 0; entered && !p->aborted && i < p->window_count; i++) {
        if (p->windows[i].window) settle(p, p->api.unwindow(p->comm, p->windows[i].window), "", NULL);
        if (p->windows[i].bytes) p->api.free(p->windows[i].bytes);
    }
    if (entered && p->comm && p->owned && !p->aborted) p->api.destroy(p->comm);
    free(p);
}

static const cute_comm_ops nccl_ops = {.close = nccl_close,
                                       .window = nccl_make_window,
                                       .start = nccl_start,
                                       .begin = nccl_begin,
                                       .end = nccl_end,
                                       .sync = nccl_sync,
                                       .await = nccl_await,
                                       .exchange = nccl_exchange};

/* ---- opening ---- */

static cute_status create_communicator(nccl_provider *p, cute_ranks *ranks, cute_diag *diag)
{
    typedef struct offer {
        int version;
        nccl_result result;
        nccl_id id;
    } offer;
    int size = cute_ranks_size(ranks), version = 0;
    offer own = {0}, *all = calloc((size_t)size, sizeof *all);
    if (!all) return cute_fail_memory(diag);
    p->api.version(&own.version);
    version = own.version;
    if (!cute_ranks_rank(ranks)) own.result = p->api.unique(&own.id);
    cute_status status = cute_ranks_exchange(ranks, &own, sizeof own, all, diag);
    for (int i = 1; status == CUTE_OK && i < size; i++)
        if (all[i].version != all[0].version)
            status =
                cute_fail(diag, CUTE_INVALID, NULL, "rank %d has NCCL %d.%d.%d: expected %d.%d.%d as rank 0",
                          i, all[i].version / 10000, all[i].version / 100 % 100, all[i].version % 100,
                          version / 10000, version / 100 % 100, version % 100);
    if (status == CUTE_OK && all[0].result != NCCL_OK)
        status = nccl_error(p, all[0].result, "ncclGetUniqueId", diag);
    nccl_config config = {sizeof config, config_magic, NCCL_OLDEST, 0,      INT_MIN,
                          INT_MIN,       INT_MIN,      NULL,        INT_MIN};
    if (status == CUTE_OK) status = enter(p, diag);
    if (status == CUTE_OK) {
        p->owned = true;
        status = settle(p, p->api.init(&p->comm, size, all[0].id, cute_ranks_rank(ranks), &config),
                        "ncclCommInitRankConfig", diag);
    }
    free(all);
    return status;
}

cute_status comm_open_nccl(cute_ranks *ranks, cute_device *device, void *communicator, bool puts,
                           cute_comm **out, cute_diag *diag)
{
    nccl_provider *p = calloc(1, sizeof *p);
    int version = 0;
    if (!p) return cute_fail_memory(diag);
    p->base = (cute_comm){.ops = &nccl_ops, .ranks = ranks, .device = device, .timed = true};
    cute_status status = open_library(&p->api, &version, diag);
    if (status == CUTE_OK && !communicator) status = create_communicator(p, ranks, diag);
    if (status == CUTE_OK && communicator) p->comm = communicator;
    if (status == CUTE_OK) {
        nccl_result result = p->api.count(p->comm, &p->base.size);
        if (result == NCCL_OK) result = p->api.user_rank(p->comm, &p->base.rank);
        if (result != NCCL_OK) status = nccl_error(p, result, "reading the communicator", diag);
    }
    p->base.puts = puts && version >= NCCL_FIRST_PUTS && p->api.put && p->api.wait && p->api.window &&
                   p->api.unwindow && p->api.alloc && p->api.free;
    snprintf(p->base.name, sizeof p->base.name, "NCCL %d.%d.%d", version / 10000, version / 100 % 100,
             version % 100);
    if (status == CUTE_OK && (ranks ? puts : p->base.size > 1) && p->base.size <= RANKS_LOCAL_MOST &&
        device->ops->stream_write_count)
        status = comm_find_reach(&p->base, RANKS_LOCAL_MOST * sizeof(uint32_t), diag);
    p->base.puts = p->base.puts || (ranks && p->base.reaches);
    if (status == CUTE_OK)
        *out = &p->base;
    else
        nccl_close(&p->base);
    return status;
}
