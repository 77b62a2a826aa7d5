/* A stand-in for libnccl.so.2, for tests without GPUs: collectives between processes, on memory of the host (fakecuda.c), through shared
 * memory that the unique ID names. Sums of f32 and i32. FAKENCCL selects a fault:
 *   old     version 2.14                 noputs  version 2.28, without puts
 *   error   ncclAllReduce fails          async   an operation fails later       hang    ncclAllReduce never ends
 *   duplicate  the communicator cannot be created */
#include <fcntl.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define API __attribute__((visibility("default")))

enum { OK = 0, SYSTEM = 2, INVALID = 4, USAGE = 5, REMOTE = 6, IN_PROGRESS = 7 };
enum { MOST = 8, AREA = 8 << 20, BOX = 1 << 20, QUEUE = 64, PUTS = 8 /* not yet waited for */ };

typedef struct {
    char bytes[128];
} id;

typedef struct {
    int count, peer, signal, context;
} wait_for;

/* A message from one rank to another: its size is written last and taken back to 0 by the reader. */
typedef struct {
    _Atomic size_t size;
    size_t offset, window;
    char bytes[BOX];
} box;

typedef struct {
    atomic_int arrived, inside[2], turn;
    box sends[MOST][MOST], puts[MOST][MOST][PUTS];
    char areas[MOST][AREA];
} memory;

typedef struct {
    char *bytes;
    size_t size;
} window;

typedef struct comm {
    memory *m;
    int rank, size, opened, failed;
    window windows[64];
    int window_count;
    unsigned put_to[MOST], put_from[MOST]; /* puts so far */
} comm;

typedef struct {
    int receives, peer;
    const char *from;
    char *to;
    size_t bytes;
} queued;

static queued queue[QUEUE];
static int queue_count, group_depth;
static comm *queue_comm;

static int mode(const char *name)
{
    const char *chosen = getenv("FAKENCCL");
    return chosen && strcmp(chosen, name) == 0;
}

API int ncclGetVersion(int *version)
{
    *version = mode("old") ? 21400 : mode("noputs") ? 22800 : 22901;
    return OK;
}
API const char *ncclGetErrorString(int result)
{
    return result == REMOTE ? "remote process exited or there was a network error" : "an error of NCCL";
}
API const char *ncclGetLastError(void *c)
{
    (void)c;
    return mode("error") ? "the details of it" : "";
}
API int ncclGetUniqueId(id *out)
{
    memset(out, 0, sizeof *out);
    snprintf(out->bytes, sizeof out->bytes, "/fakenccl-%d-%ld", (int)getpid(), (long)clock());
    int fd = shm_open(out->bytes, O_RDWR | O_CREAT | O_EXCL, 0600);
    if (fd < 0 || ftruncate(fd, sizeof(memory)) != 0) return SYSTEM;
    close(fd);
    return OK;
}

/* Does not wait for the others: ncclCommGetAsyncError says when they are there. */
API int ncclCommInitRankConfig(comm **out, int size, id name, int rank, const int *config)
{
    int fd = shm_open(name.bytes, O_RDWR, 0600);
    comm *c = calloc(1, sizeof *c);
    *out = c;
    (void)config;
    if (mode("duplicate")) shm_unlink(name.bytes);
    if (mode("duplicate") || fd < 0 || size > MOST) return USAGE;
    *c = (comm){.m = mmap(NULL, sizeof(memory), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0),
                .rank = rank,
                .size = size};
    close(fd);
    if (c->m == MAP_FAILED) return SYSTEM;
    if (atomic_fetch_add(&c->m->arrived, 1) == size - 1) shm_unlink(name.bytes);
    return IN_PROGRESS;
}
API int ncclCommGetAsyncError(comm *c, int *result)
{
    *result = c->failed ? c->failed : atomic_load(&c->m->arrived) >= c->size ? OK : IN_PROGRESS;
    if (*result == OK && mode("hang") && c->opened) *result = IN_PROGRESS;
    return OK;
}
API int ncclCommDestroy(comm *c)
{
    if (c->m) munmap(c->m, sizeof *c->m);
    free(c);
    return OK;
}
API int ncclCommAbort(comm *c)
{
    return ncclCommDestroy(c);
}
API int ncclCommCount(comm *c, int *out)
{
    *out = c->size;
    return OK;
}
API int ncclCommUserRank(comm *c, int *out)
{
    *out = c->rank;
    return OK;
}

/* ---- collectives ---- */

static size_t bytes_of(int type)
{
    static const size_t bytes[] = {1, 1, 4, 4, 8, 8, 2, 4, 8, 2, 1, 1};
    return bytes[type];
}

/* Ends the process after 20 seconds: a rank that others gave up stays in its call, as in NCCL's own. */
static void barrier(comm *c)
{
    time_t end = time(NULL) + 20;
    int turn = atomic_load(&c->m->turn);
    if (atomic_fetch_add(&c->m->inside[turn & 1], 1) == c->size - 1) {
        atomic_store(&c->m->inside[turn & 1], 0);
        atomic_fetch_add(&c->m->turn, 1);
    }
    while (atomic_load(&c->m->turn) == turn) {
        sched_yield();
        if (time(NULL) > end) _exit(99);
    }
}

static int add_all(comm *c, size_t first, size_t count, int type, void *to)
{
    for (size_t i = 0; i < count; i++) {
        float sum = 0;
        int32_t whole = 0;
        for (int r = 0; r < c->size; r++) {
            const char *at = c->m->areas[r] + (first + i) * bytes_of(type);
            if (type == 7) sum += *(const float *)(const void *)at;
            if (type == 2) whole += *(const int32_t *)(const void *)at;
        }
        if (type == 7) ((float *)to)[i] = sum;
        if (type == 2) ((int32_t *)to)[i] = whole;
    }
    return type == 7 || type == 2 ? OK : INVALID;
}

/* Each rank's bytes are in its area between two barriers. */
static int share(comm *c, const void *from, size_t bytes)
{
    c->opened = 1;
    if (bytes > AREA) return INVALID;
    memcpy(c->m->areas[c->rank], from, bytes);
    barrier(c);
    return OK;
}

API int ncclAllReduce(const void *from, void *to, size_t count, int type, int op, comm *c, void *stream)
{
    (void)op;
    (void)stream;
    if (mode("error")) return INVALID;
    if (mode("hang")) {
        c->opened = 1;
        return IN_PROGRESS;
    }
    int result = share(c, from, count * bytes_of(type));
    if (result == OK) result = add_all(c, 0, count, type, to);
    barrier(c);
    if (mode("async")) {
        c->failed = REMOTE;
        return IN_PROGRESS;
    }
    return result;
}
API int ncclReduceScatter(const void *from, void *to, size_t count, int type, int op, comm *c, void *stream)
{
    (void)op;
    (void)stream;
    int result = share(c, from, count * bytes_of(type) * (size_t)c->size);
    if (result == OK) result = add_all(c, count * (size_t)c->rank, count, type, to);
    barrier(c);
    return result;
}
API int ncclReduce(const void *from, void *to, size_t count, int type, int op, int root, comm *c,
                   void *stream)
{
    (void)op;
    (void)stream;
    int result = share(c, from, count * bytes_of(type));
    if (result == OK && root == c->rank) result = add_all(c, 0, count, type, to);
    barrier(c);
    return result;
}
API int ncclAllGather(const void *from, void *to, size_t count, int type, comm *c, void *stream)
{
    size_t bytes = count * bytes_of(type);
    (void)stream;
    int result = share(c, from, bytes);
    for (int r = 0; result == OK && r < c->size; r++)
        memcpy((char *)to + (size_t)r * bytes, c->m->areas[r], bytes);
    barrier(c);
    return result;
}
API int ncclBroadcast(const void *from, void *to, size_t count, int type, int root, comm *c, void *stream)
{
    size_t bytes = count * bytes_of(type);
    (void)stream;
    int result = share(c, from, bytes);
    if (result == OK) memmove(to, c->m->areas[root], bytes);
    barrier(c);
    return result;
}

/* ---- from one rank to another ---- */

static void fill_box(box *b, const char *from, size_t bytes, size_t window_number, size_t offset)
{
    while (atomic_load(&b->size)) sched_yield();
    memcpy(b->bytes, from, bytes);
    b->window = window_number;
    b->offset = offset;
    atomic_store(&b->size, bytes + 1);
}

static size_t empty_box(box *b, char *to)
{
    size_t size;
    while ((size = atomic_load(&b->size)) == 0) sched_yield();
    memcpy(to, b->bytes, size - 1);
    atomic_store(&b->size, 0);
    return size - 1;
}

static void run_queue(void)
{
    comm *c = queue_comm;
    for (int receives = 0; receives < 2; receives++)
        for (int i = 0; i < queue_count; i++) {
            queued *q = &queue[i];
            if (q->receives != receives) continue;
            for (size_t at = 0; at < q->bytes; at += BOX) {
                size_t bytes = q->bytes - at < BOX ? q->bytes - at : BOX;
                if (receives)
                    empty_box(&c->m->sends[q->peer][c->rank], q->to + at);
                else
                    fill_box(&c->m->sends[c->rank][q->peer], q->from + at, bytes, 0, 0);
            }
        }
    queue_count = 0;
}

static int add_transfer(comm *c, queued q)
{
    if (queue_count == QUEUE) return INVALID;
    queue_comm = c;
    queue[queue_count++] = q;
    if (!group_depth) run_queue();
    return OK;
}

API int ncclSend(const void *from, size_t count, int type, int peer, comm *c, void *stream)
{
    (void)stream;
    return add_transfer(c, (queued){0, peer, from, NULL, count * bytes_of(type)});
}
API int ncclRecv(void *to, size_t count, int type, int peer, comm *c, void *stream)
{
    (void)stream;
    return add_transfer(c, (queued){1, peer, NULL, to, count * bytes_of(type)});
}
API int ncclGroupStart(void)
{
    group_depth++;
    return OK;
}
API int ncclGroupEnd(void)
{
    if (--group_depth == 0 && queue_count) run_queue();
    return OK;
}

/* ---- windows and puts: a put is in its box until the other rank waits for it ---- */

API int ncclMemAlloc(void **out, size_t size)
{
    *out = aligned_alloc(4096, (size + 4095) / 4096 * 4096);
    return *out ? OK : SYSTEM;
}
API int ncclMemFree(void *memory)
{
    free(memory);
    return OK;
}
API int ncclCommWindowRegister(comm *c, void *bytes, size_t size, uintptr_t *out, int flags)
{
    (void)flags;
    c->windows[c->window_count] = (window){bytes, size};
    *out = (uintptr_t)++c->window_count;
    return OK;
}
API int ncclCommWindowDeregister(comm *c, uintptr_t number)
{
    c->windows[number - 1].bytes = NULL;
    return OK;
}
API int ncclPutSignal(const void *from, size_t count, int type, int peer, uintptr_t number, size_t offset,
                      int signal, int context, unsigned flags, comm *c, void *stream)
{
    (void)stream;
    if (signal || context || flags || count * bytes_of(type) > BOX) return INVALID;
    fill_box(&c->m->puts[c->rank][peer][c->put_to[peer]++ % PUTS], from, count * bytes_of(type), number,
             offset);
    return OK;
}
API int ncclWaitSignal(int count, const wait_for *waits, comm *c, void *stream)
{
    (void)stream;
    for (int i = 0; i < count; i++)
        for (int n = 0; n < waits[i].count; n++) {
            int peer = waits[i].peer;
            box *b = &c->m->puts[peer][c->rank][c->put_from[peer]++ % PUTS];
            while (!atomic_load(&b->size)) sched_yield();
            window *w = &c->windows[b->window - 1];
            if (b->offset > w->size || atomic_load(&b->size) - 1 > w->size - b->offset) return INVALID;
            empty_box(b, w->bytes + b->offset);
        }
    return OK;
}
