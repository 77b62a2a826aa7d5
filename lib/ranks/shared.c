/* The stand-in: collectives over the shared memory of the ranks of one host. Data goes through the host, operations are complete when the
 * call returns, and sums are added in the order of the ranks, in double, and rounded once. Each ordered pair of ranks has a channel, a ring
 * of bytes with messages in it; a rank that waits empties all channels to it, so sends never wait for the receiver's call. */
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/numeric/number.h"
#include "lib/ranks/comm.h"

enum { CHANNEL_HEAD = 128 };

/* Positions count all bytes that ever passed; each is written by one side. */
typedef struct channel {
    _Atomic uint64_t written;
    char gap[56]; /* the positions are in two cache lines */
    _Atomic uint64_t read;
    char rest[56];
    char bytes[];
} channel;

/* In front of each message. */
typedef struct message {
    uint32_t kind; /* comm_kind */
    uint32_t call; /* the sender's number of the operation */
    uint64_t bytes;
    uint64_t window, offset; /* put */
} message;

typedef struct window {
    cute_address memory;
    size_t bytes;
} window;

/* Received bytes that no operation has taken yet. */
typedef struct inbox {
    cute_buffer bytes;
    size_t taken;
} inbox;

typedef struct kept_put {
    struct kept_put *next;
    message head;
    int from;
    char bytes[];
} kept_put;

typedef struct shared_comm {
    cute_comm base;
    char *memory;
    size_t channel_bytes;
    inbox *inboxes;
    kept_put *puts;               /* received, not yet waited for, the oldest first */
    window windows[COMM_WINDOWS]; /* of ranks that do not reach each other */
    int window_count;
    uint32_t calls;
} shared_comm;

static shared_comm *shared(cute_comm *c)
{
    return (shared_comm *)c;
}

static channel *channel_of(shared_comm *s, int from, int to)
{
    size_t index = (size_t)from * (size_t)s->base.size + (size_t)to;
    return (channel *)(void *)(s->memory + index * s->channel_bytes);
}

/* ---- messages ---- */

static void copy_ring(char *ring, size_t capacity, uint64_t at, char *data, size_t size, bool out)
{
    size_t begin = (size_t)(at % capacity), first = capacity - begin < size ? capacity - begin : size;
    if (out) {
        memcpy(ring + begin, data, first);
        memcpy(ring, data + first, size - first);
    } else {
        memcpy(data, ring + begin, first);
        memcpy(data + first, ring, size - first);
    }
}

/* Receives all pending messages. */
static cute_status empty_channels(shared_comm *s, cute_diag *diag)
{
    size_t capacity = s->channel_bytes - sizeof(channel);
    for (int from = 0; from < s->base.size; from++) {
        if (from == s->base.rank) continue;
        channel *c = channel_of(s, from, s->base.rank);
        uint64_t read = atomic_load(&c->read), written = atomic_load(&c->written);
        while (read < written) {
            char piece[4096];
            size_t n = written - read < sizeof piece ? (size_t)(written - read) : sizeof piece;
            copy_ring(c->bytes, capacity, read, piece, n, false);
            cute_buffer_append(&s->inboxes[from].bytes, piece, n);
            read += n;
        }
        atomic_store(&c->read, read);
        if (!cute_buffer_ok(&s->inboxes[from].bytes)) return cute_fail_memory(diag);
    }
    return CUTE_OK;
}

static cute_status send_bytes(shared_comm *s, int to, const void *data, size_t size, cute_diag *diag)
{
    channel *c = channel_of(s, s->base.rank, to);
    size_t capacity = s->channel_bytes - sizeof(channel);
    ranks_wait w = cute_ranks_wait_begin(s->base.ranks);
    for (const char *at = data; size;) {
        uint64_t written = atomic_load(&c->written);
        size_t space = capacity - (size_t)(written - atomic_load(&c->read));
        size_t n = size < space ? size : space;
        if (!n) {
            CUTE_TRY(empty_channels(s, diag));
            CUTE_TRY(cute_ranks_wait_turn(s->base.ranks, &w, to, diag));
            continue;
        }
        copy_ring(c->bytes, capacity, written, (char *)(uintptr_t)at, n, true);
        atomic_store(&c->written, written + n);
        cute_ranks_beat(s->base.ranks);
        at += n;
        size -= n;
    }
    return CUTE_OK;
}

static cute_status send_message(shared_comm *s, int to, const message *head, const void *data,
                                cute_diag *diag)
{
    CUTE_TRY(send_bytes(s, to, head, sizeof *head, diag));
    return send_bytes(s, to, data, (size_t)head->bytes, diag);
}

/* The next message from a rank if it is complete; the inbox keeps it until take_message. */
static const char *next_message(shared_comm *s, int from, message *head)
{
    inbox *in = &s->inboxes[from];
    size_t left = in->bytes.length - in->taken;
    if (left < sizeof *head) return NULL;
    memcpy(head, in->bytes.data + in->taken, sizeof *head);
    return left - sizeof *head >= head->bytes ? in->bytes.data + in->taken + sizeof *head : NULL;
}

static void take_message(shared_comm *s, int from, const message *head)
{
    inbox *in = &s->inboxes[from];
    in->taken += sizeof *head + (size_t)head->bytes;
    if (in->taken < in->bytes.length && in->taken < (1 << 20)) return;
    memmove(in->bytes.data, in->bytes.data + in->taken, in->bytes.length - in->taken);
    in->bytes.length -= in->taken;
    in->taken = 0;
}

static cute_status keep_put(shared_comm *s, int from, const message *head, const char *data, cute_diag *diag)
{
    kept_put *put = malloc(sizeof *put + (size_t)head->bytes), **last = &s->puts;
    if (!put) return cute_fail_memory(diag);
    *put = (kept_put){.head = *head, .from = from};
    memcpy(put->bytes, data, (size_t)head->bytes);
    while (*last) last = &(*last)->next;
    *last = put;
    return CUTE_OK;
}

/* Waits for the next message that is not a put. Others must have called the same operation. */
static cute_status receive(shared_comm *s, int from, const comm_call *call, void *out, size_t bytes,
                           cute_diag *diag)
{
    ranks_wait w = cute_ranks_wait_begin(s->base.ranks);
    comm_kind kind = call->kind == COMM_RECV ? COMM_SEND : call->kind;
    for (;;) {
        message head;
        CUTE_TRY(empty_channels(s, diag));
        const char *data = next_message(s, from, &head);
        if (!data) {
            CUTE_TRY(cute_ranks_wait_turn(s->base.ranks, &w, from, diag));
            continue;
        }
        if (head.kind == COMM_PUT) {
            CUTE_TRY(keep_put(s, from, &head, data, diag));
            take_message(s, from, &head);
            continue;
        }
        if (head.kind != kind || head.bytes != bytes)
            return cute_fail(
                diag, CUTE_INVALID, NULL,
                "%s: expected %zu bytes from rank %d, got a %s of %llu bytes: all ranks must call the same "
                "operations in the same order",
                comm_kind_name(call->kind), bytes, from,
                head.kind < COMM_KINDS ? comm_kind_name((comm_kind)head.kind) : "message",
                (unsigned long long)head.bytes);
        memcpy(out, data, bytes);
        take_message(s, from, &head);
        cute_ranks_beat(s->base.ranks);
        return CUTE_OK;
    }
}

/* ---- sums ---- */

static double load_element(const comm_type *type, const char *at)
{
    uint64_t bits = 0, wide;
    double value;
    if (type->format == -2) return (double)*(const int8_t *)at;
    if (type->format == -1) {
        int32_t n;
        memcpy(&n, at, sizeof n);
        return n;
    }
    memcpy(&bits, at, (size_t)type->bytes);
    wide = type->format == NUM_F64 ? bits : num_convert(NUM_F64, (num_format)type->format, bits, NUM_RN, 0);
    memcpy(&value, &wide, sizeof value);
    return value;
}

static void store_element(const comm_type *type, char *at, double value)
{
    uint64_t bits;
    if (type->format < 0) { /* sums of 4096 integers of 32 bits are exact in double; they wrap as in NCCL */
        int64_t n = (int64_t)value;
        memcpy(at, &n, (size_t)type->bytes);
        return;
    }
    memcpy(&bits, &value, sizeof bits);
    if (type->format != NUM_F64) bits = num_convert((num_format)type->format, NUM_F64, bits, NUM_RN, 0);
    memcpy(at, &bits, (size_t)type->bytes);
}

void comm_add_parts(const comm_type *type, const char *parts, int ranks, int64_t count, char *out)
{
    for (int64_t i = 0; i < count; i++) {
        double sum = 0;
        for (int r = 0; r < ranks; r++)
            sum += load_element(type, parts + ((int64_t)r * count + i) * type->bytes);
        store_element(type, out + i * type->bytes, sum);
    }
}

/* ---- operations ---- */

/* Data of one operation on the host. */
typedef struct piece {
    shared_comm *s;
    const comm_call *call;
    char *own, *all; /* what this rank sends; parts of all ranks */
    size_t bytes;    /* of `count` elements */
} piece;

static cute_status download(const piece *p, void *to, cute_address from, size_t size, cute_diag *diag)
{
    return size ? cute_device_download(p->s->base.device, to, from, size, diag) : CUTE_OK;
}

static cute_status upload(const piece *p, cute_address to, const void *from, size_t size, cute_diag *diag)
{
    return size ? cute_device_upload(p->s->base.device, to, from, size, diag) : CUTE_OK;
}

static cute_status send_piece(const piece *p, int to, const void *data, size_t bytes, cute_diag *diag)
{
    message head = {.kind = p->call->kind,
                    .call = p->s->calls,
                    .bytes = bytes,
                    .window = (uint64_t)p->call->window,
                    .offset = (uint64_t)p->call->offset};
    return send_message(p->s, to, &head, data, diag);
}

/* Each rank sends `bytes` bytes to each other, from `data` plus `step` for each rank, and receives as many from each into p->all. */
static cute_status exchange_parts(const piece *p, const char *data, size_t step, size_t bytes,
                                  cute_diag *diag)
{
    int size = p->s->base.size, rank = p->s->base.rank;
    for (int i = 1; i < size; i++) {
        int to = (rank + i) % size;
        CUTE_TRY(send_piece(p, to, data + (size_t)to * step, bytes, diag));
    }
    memcpy(p->all + (size_t)rank * bytes, data + (size_t)rank * step, bytes);
    for (int i = 1; i < size; i++) {
        int from = (rank + i) % size;
        CUTE_TRY(receive(p->s, from, p->call, p->all + (size_t)from * bytes, bytes, diag));
    }
    return CUTE_OK;
}

static cute_status run_all_gather(const piece *p, cute_diag *diag)
{
    CUTE_TRY(download(p, p->own, p->call->from, p->bytes, diag));
    CUTE_TRY(exchange_parts(p, p->own, 0, p->bytes, diag));
    return upload(p, p->call->to, p->all, p->bytes * (size_t)p->s->base.size, diag);
}

static cute_status run_reduce_scatter(const piece *p, cute_diag *diag)
{
    CUTE_TRY(download(p, p->own, p->call->from, p->bytes * (size_t)p->s->base.size, diag));
    CUTE_TRY(exchange_parts(p, p->own, p->bytes, p->bytes, diag));
    comm_add_parts(p->call->type, p->all, p->s->base.size, p->call->count, p->own);
    return upload(p, p->call->to, p->own, p->bytes, diag);
}

/* All ranks add all elements, so that all results have the same bits. */
static cute_status run_all_reduce(const piece *p, cute_diag *diag)
{
    CUTE_TRY(download(p, p->own, p->call->from, p->bytes, diag));
    CUTE_TRY(exchange_parts(p, p->own, 0, p->bytes, diag));
    comm_add_parts(p->call->type, p->all, p->s->base.size, p->call->count, p->own);
    return upload(p, p->call->to, p->own, p->bytes, diag);
}

static cute_status run_broadcast(const piece *p, cute_diag *diag)
{
    const comm_call *call = p->call;
    if (p->s->base.rank != call->peer) {
        CUTE_TRY(receive(p->s, call->peer, call, p->own, p->bytes, diag));
        return upload(p, call->to, p->own, p->bytes, diag);
    }
    CUTE_TRY(download(p, p->own, call->from, p->bytes, diag));
    for (int i = 0; i < p->s->base.size; i++)
        if (i != call->peer) CUTE_TRY(send_piece(p, i, p->own, p->bytes, diag));
    return call->to == call->from ? CUTE_OK : upload(p, call->to, p->own, p->bytes, diag);
}

static cute_status run_reduce(const piece *p, cute_diag *diag)
{
    const comm_call *call = p->call;
    CUTE_TRY(download(p, p->own, call->from, p->bytes, diag));
    if (p->s->base.rank != call->peer) return send_piece(p, call->peer, p->own, p->bytes, diag);
    for (int i = 0; i < p->s->base.size; i++)
        if (i != call->peer) CUTE_TRY(receive(p->s, i, call, p->all + (size_t)i * p->bytes, p->bytes, diag));
    memcpy(p->all + (size_t)call->peer * p->bytes, p->own, p->bytes);
    comm_add_parts(call->type, p->all, p->s->base.size, call->count, p->own);
    return upload(p, call->to, p->own, p->bytes, diag);
}

static window find_window(const shared_comm *s, uint64_t number)
{
    const cute_comm *c = &s->base;
    if (!c->reaches && number < (uint64_t)s->window_count) return s->windows[number];
    if (c->reaches && number < (uint64_t)c->shared_count)
        return (window){c->shared[number].memories[c->rank], c->shared[number].bytes};
    return (window){0};
}

static cute_status apply_put(const piece *p, const kept_put *put, cute_diag *diag)
{
    window w = find_window(p->s, put->head.window);
    if (!put->head.bytes) return CUTE_OK; /* a signal alone */
    if (put->head.offset > w.bytes || put->head.bytes > w.bytes - put->head.offset)
        return cute_fail(diag, CUTE_INVALID, NULL,
                         "put of rank %d: %llu bytes at offset %llu exceed window %llu", put->from,
                         (unsigned long long)put->head.bytes, (unsigned long long)put->head.offset,
                         (unsigned long long)put->head.window);
    return upload(p, w.memory + put->head.offset, put->bytes, (size_t)put->head.bytes, diag);
}

/* A put to the rank itself is kept as others are, until its wait. */
static cute_status run_put(const piece *p, cute_diag *diag)
{
    const comm_call *call = p->call;
    CUTE_TRY(download(p, p->own, call->from, p->bytes, diag));
    if (call->peer != p->s->base.rank) return send_piece(p, call->peer, p->own, p->bytes, diag);
    message head = {.kind = COMM_PUT,
                    .bytes = p->bytes,
                    .window = (uint64_t)call->window,
                    .offset = (uint64_t)call->offset};
    return keep_put(p->s, call->peer, &head, p->own, diag);
}

static cute_status run_wait(const piece *p, cute_diag *diag)
{
    shared_comm *s = p->s;
    int from = p->call->peer;
    ranks_wait w = cute_ranks_wait_begin(s->base.ranks);
    for (int64_t left = p->call->signals; left > 0;) {
        message head;
        kept_put **at = &s->puts;
        while (*at && (*at)->from != from) at = &(*at)->next;
        if (*at) {
            kept_put *put = *at;
            *at = put->next;
            cute_status status = apply_put(p, put, diag);
            free(put);
            if (status != CUTE_OK) return status;
            left--;
            continue;
        }
        CUTE_TRY(empty_channels(s, diag));
        const char *data = next_message(s, from, &head);
        if (data && head.kind != COMM_PUT)
            return cute_fail(
                diag, CUTE_INVALID, NULL,
                "wait: expected a put of rank %d, got a %s: all ranks must call the same operations in the "
                "same order",
                from, head.kind < COMM_KINDS ? comm_kind_name((comm_kind)head.kind) : "message");
        if (data) {
            CUTE_TRY(keep_put(s, from, &head, data, diag));
            take_message(s, from, &head);
        } else {
            CUTE_TRY(cute_ranks_wait_turn(s->base.ranks, &w, from, diag));
        }
    }
    return CUTE_OK;
}

static cute_status run_send(const piece *p, cute_diag *diag)
{
    CUTE_TRY(download(p, p->own, p->call->from, p->bytes, diag));
    return send_piece(p, p->call->peer, p->own, p->bytes, diag);
}

static cute_status run_recv(const piece *p, cute_diag *diag)
{
    CUTE_TRY(receive(p->s, p->call->peer, p->call, p->own, p->bytes, diag));
    return upload(p, p->call->to, p->own, p->bytes, diag);
}

static const struct {
    cute_status (*run)(const piece *, cute_diag *);
    bool own_of_all, parts; /* `own` has the parts of all ranks; `all` is needed */
} operations[COMM_KINDS] = {
    [COMM_ALL_REDUCE] = {run_all_reduce, false, true},
    [COMM_REDUCE_SCATTER] = {run_reduce_scatter, true, true},
    [COMM_ALL_GATHER] = {run_all_gather, false, true},
    [COMM_BROADCAST] = {run_broadcast, false, false},
    [COMM_REDUCE] = {run_reduce, false, true},
    [COMM_SEND] = {run_send, false, false},
    [COMM_RECV] = {run_recv, false, false},
    [COMM_PUT] = {run_put, false, false},
    [COMM_WAIT] = {run_wait, false, false},
};

static cute_status shared_start(cute_comm *c, const comm_call *call, cute_stream *stream, cute_diag *diag)
{
    shared_comm *s = shared(c);
    size_t bytes = call->type ? (size_t)call->count * (size_t)call->type->bytes : 0, ranks = (size_t)c->size;
    piece p = {.s = s, .call = call, .bytes = bytes};
    s->calls++;
    /* earlier work of the stream; the copies below use the device's own */
    if (stream) CUTE_TRY(cute_stream_sync(stream, diag));
    p.own = malloc(bytes * (operations[call->kind].own_of_all ? ranks : 1) + 1);
    p.all = operations[call->kind].parts ? malloc(bytes * ranks + 1) : NULL;
    bool memory = p.own && (p.all || !operations[call->kind].parts);
    cute_status status = memory ? operations[call->kind].run(&p, diag) : cute_fail_memory(diag);
    free(p.own);
    free(p.all);
    return status;
}

static cute_status shared_window(cute_comm *c, size_t bytes, cute_address *memory, int *out, cute_diag *diag)
{
    shared_comm *s = shared(c);
    if (s->window_count == COMM_WINDOWS)
        return cute_fail(diag, CUTE_INVALID, NULL, "expected at most %d windows", COMM_WINDOWS);
    CUTE_TRY(cute_device_alloc(c->device, bytes, memory, diag));
    s->windows[s->window_count] = (window){*memory, bytes};
    *out = s->window_count++;
    return CUTE_OK;
}

static cute_status shared_sync(cute_comm *c, cute_diag *diag)
{
    return cute_device_sync(c->device, diag);
}

/* Kernels of other processes increase the counter while this one polls it. */
static cute_status shared_await(cute_comm *c, cute_address counter, uint32_t value, int peer,
                                cute_stream *stream, cute_diag *diag)
{
    ranks_wait w = cute_ranks_wait_begin(c->ranks);
    if (stream) CUTE_TRY(cute_stream_sync(stream, diag));
    for (;;) {
        uint32_t now;
        CUTE_TRY(cute_device_download(c->device, &now, counter, sizeof now, diag));
        atomic_thread_fence(memory_order_acquire);
        if ((int32_t)(now - value) >= 0) return CUTE_OK;
        CUTE_TRY(cute_ranks_wait_turn(c->ranks, &w, peer, diag));
    }
}

static void shared_close(cute_comm *c)
{
    shared_comm *s = shared(c);
    for (int i = 0; s->inboxes && i < c->size; i++) cute_buffer_release(&s->inboxes[i].bytes);
    while (s->puts) {
        kept_put *next = s->puts->next;
        free(s->puts);
        s->puts = next;
    }
    free(s->inboxes);
    free(s);
}

static const cute_comm_ops shared_ops = {.close = shared_close,
                                         .window = shared_window,
                                         .start = shared_start,
                                         .sync = shared_sync,
                                         .await = shared_await};

cute_status comm_open_shared(cute_ranks *ranks, cute_device *device, cute_comm **out, cute_diag *diag)
{
    size_t bytes;
    int size = cute_ranks_size(ranks);
    char *memory = cute_ranks_shared(ranks, &bytes);
    if (!memory)
        return cute_fail(diag, CUTE_SYSTEM, NULL,
                         "the stand-in over shared memory requires at most %d ranks on one host, got %d%s",
                         RANKS_LOCAL_MOST, size, cute_ranks_together(ranks) ? "" : " on several");
    shared_comm *s = calloc(1, sizeof *s);
    inbox *inboxes = calloc((size_t)size, sizeof *inboxes);
    if (!s || !inboxes) {
        free(s);
        free(inboxes);
        return cute_fail_memory(diag);
    }
    *s = (shared_comm){.base = {.ops = &shared_ops,
                                .ranks = ranks,
                                .device = device,
                                .rank = cute_ranks_rank(ranks),
                                .size = size,
                                .puts = true,
                                .name = "shared memory (stand-in)"},
                       .memory = memory,
                       .channel_bytes = bytes / ((size_t)size * (size_t)size) / CHANNEL_HEAD * CHANNEL_HEAD,
                       .inboxes = inboxes};
    cute_status status = device->ops->emulator ? comm_find_reach(&s->base, 1, diag) : CUTE_OK;
    if (status == CUTE_OK)
        *out = &s->base;
    else
        shared_close(&s->base);
    return status;
}
