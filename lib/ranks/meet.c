/* Joins ranks: rank 0 listens at the meeting point and keeps a connection to each other rank, over which small records and failures travel.
 * On one host the ranks also share memory, in which each names its step. A rank that ends closes its connection, so all others learn it. */
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "lib/base/diagnostics/diag.h"
#include "lib/base/system/clock.h"
#include "lib/ranks/ranks.h"

enum { MAGIC = 0x43525431, STEP_BYTES = 80, TEXT_BYTES = 1024, HOST_BYTES = 64, SLOT_PAGE = 4096 };
enum { SHARED_BYTES = 64 << 20, CHANNEL_LEAST = 16 << 10 };
enum { FRAME_HELLO = 1, FRAME_WELCOME, FRAME_RECORD, FRAME_FAIL };

/* Seconds. */
static const double retry_pause = 5e-3, watch_interval = 5e-3, spin_limit = 200;

typedef struct frame {
    uint32_t magic;
    uint16_t kind, rank;
    uint64_t bytes;
} frame;

typedef struct hello {
    uint32_t size;
    int32_t process;
    char version[32], host[HOST_BYTES], problem[TEXT_BYTES];
} hello;

typedef struct welcome {
    char shared[64]; /* the path of the shared memory; "": none */
    uint64_t bytes;
} welcome;

/* A rank's part of the shared memory. */
typedef struct slot {
    _Atomic uint64_t beats;
    _Atomic uint32_t step; /* the number of steps begun; 0: none */
    _Atomic int32_t waits; /* for rank waits - 1; 0: for none; -1: for any */
    char name[STEP_BYTES];
} slot;

struct cute_ranks {
    ranks_place place;
    double timeout;
    int *sockets; /* of rank 0: one for each rank; else [0] is that of rank 0. -1: closed */
    int socket_count;
    bool together, joined, failed;
    char *shared; /* slots, then the memory of cute_ranks_shared; NULL: none */
    size_t shared_bytes;
    hello own;
    char wrong[TEXT_BYTES]; /* of rank 0: how another differs; "": none does */
};

int cute_ranks_rank(const cute_ranks *r)
{
    return r->place.rank;
}

int cute_ranks_size(const cute_ranks *r)
{
    return r->place.size;
}

double cute_ranks_timeout(const cute_ranks *r)
{
    return r->timeout;
}

bool cute_ranks_together(const cute_ranks *r)
{
    return r->together;
}

const char *cute_ranks_host(const cute_ranks *r)
{
    return r->own.host;
}

static size_t slots_bytes(int size)
{
    return ((size_t)size * sizeof(slot) + SLOT_PAGE - 1) / SLOT_PAGE * SLOT_PAGE;
}

static slot *slot_of(const cute_ranks *r, int rank)
{
    return r->shared ? (slot *)(void *)r->shared + rank : NULL;
}

void *cute_ranks_shared(cute_ranks *r, size_t *bytes)
{
    size_t slots = slots_bytes(r->place.size);
    *bytes = r->shared ? r->shared_bytes - slots : 0;
    return r->shared ? r->shared + slots : NULL;
}

/* ---- frames ---- */

/* Sends or receives all bytes until `deadline`. Returns 1, 0 at the end of the connection, or -1 when it is late. */
static int move_bytes(int fd, void *bytes, size_t size, bool out, double deadline)
{
    char *at = bytes;
    while (size) {
        ssize_t n = out ? send(fd, at, size, MSG_NOSIGNAL | MSG_DONTWAIT) : recv(fd, at, size, MSG_DONTWAIT);
        if (n > 0) {
            at += n;
            size -= (size_t)n;
            continue;
        }
        if (n == 0 || (errno != EAGAIN && errno != EINTR)) return 0;
        double left = deadline - cute_clock();
        if (left <= 0) return -1;
        struct pollfd p = {fd, out ? POLLOUT : POLLIN, 0};
        poll(&p, 1, left < 0.1 ? (int)(left * 1e3) + 1 : 100);
    }
    return 1;
}

static int send_frame(int fd, int kind, int rank, const void *bytes, size_t size, double deadline)
{
    frame f = {MAGIC, (uint16_t)kind, (uint16_t)rank, size};
    int sent = move_bytes(fd, &f, sizeof f, true, deadline);
    return sent == 1 ? move_bytes(fd, (void *)(uintptr_t)bytes, size, true, deadline) : sent;
}

/* The header of the next frame, which stays in the connection. 0: ended; -1: nothing yet. */
static int peek_frame(int fd, frame *out)
{
    ssize_t n = recv(fd, out, sizeof *out, MSG_PEEK | MSG_DONTWAIT);
    if (n == (ssize_t)sizeof *out) return out->magic == MAGIC;
    return n < 0 && (errno == EAGAIN || errno == EINTR) ? -1 : n > 0 ? -1 : 0;
}

/* ---- failures ---- */

static int socket_index(const cute_ranks *r, int rank)
{
    return r->place.rank ? 0 : rank;
}

/* Tells all ranks but `from` of a failure: a digit, the status, and the message. */
static void spread_failure(cute_ranks *r, int from, cute_status status, const char *text)
{
    char bytes[TEXT_BYTES + 2];
    int size = snprintf(bytes, sizeof bytes, "%d%s", (int)status, text);
    for (int i = 0; i < r->socket_count; i++)
        if (i != from && r->sockets[i] >= 0)
            send_frame(r->sockets[i], FRAME_FAIL, r->place.rank, bytes, (size_t)size, cute_clock() + 0.2);
}

static void close_socket(cute_ranks *r, int index)
{
    if (r->sockets[index] >= 0) close(r->sockets[index]);
    r->sockets[index] = -1;
}

/* A failure of rank `from`, which the others learn of from this rank. */
static cute_status fail_with(cute_ranks *r, int from, cute_status status, const char *text, cute_diag *diag)
{
    if (!r->failed) spread_failure(r, r->place.rank ? -1 : from, status, text);
    r->failed = true;
    return cute_fail(diag, status, NULL, "%s", text);
}

static cute_status fail_by(cute_ranks *r, int from, const char *text, cute_diag *diag)
{
    return fail_with(r, from, CUTE_INVALID, text, diag);
}

static cute_status fail_ended(cute_ranks *r, int rank, cute_diag *diag)
{
    char text[TEXT_BYTES];
    slot *s = slot_of(r, rank);
    close_socket(r, socket_index(r, rank));
    if (s && atomic_load(&s->step))
        snprintf(text, sizeof text, "rank %d ended in its step %u (%s)", rank, atomic_load(&s->step),
                 s->name);
    else
        snprintf(text, sizeof text, "rank %d ended", rank);
    return fail_by(r, rank, text, diag);
}

static cute_status read_failure(cute_ranks *r, int index, cute_diag *diag)
{
    frame f;
    char text[TEXT_BYTES + 2];
    double deadline = cute_clock() + 1;
    if (move_bytes(r->sockets[index], &f, sizeof f, false, deadline) != 1 || !f.bytes ||
        f.bytes >= sizeof text || move_bytes(r->sockets[index], text, f.bytes, false, deadline) != 1)
        return fail_ended(r, index, diag);
    text[f.bytes] = '\0';
    if (r->place.rank) r->failed = true; /* rank 0 has told all */
    bool known = text[0] > '0' + CUTE_OK && text[0] <= '0' + CUTE_MISMATCH;
    return fail_with(r, f.rank, known ? (cute_status)(text[0] - '0') : CUTE_INVALID, text + 1, diag);
}

static cute_status watch(cute_ranks *r, cute_diag *diag)
{
    frame f;
    for (int i = 0; i < r->socket_count; i++) {
        if (r->sockets[i] < 0) continue;
        int got = peek_frame(r->sockets[i], &f);
        if (got == 0) return fail_ended(r, i, diag);
        if (got == 1 && f.kind == FRAME_FAIL) return read_failure(r, i, diag);
    }
    return CUTE_OK;
}

/* The rank that others wait for: follows the waits from `peer` (-1: none) to one that does not wait; else the one that has begun the
 * fewest steps. */
static int find_culprit(const cute_ranks *r, int peer)
{
    int at = peer, best = -1, size = r->place.size;
    if (!r->shared) return peer;
    for (int turn = 0; at >= 0 && at != r->place.rank && turn < size; turn++) {
        int waits = atomic_load(&slot_of(r, at)->waits);
        if (!waits) return at;
        at = waits < 0 ? -1 : waits - 1;
    }
    for (int i = 0; i < size; i++) {
        const slot *s = slot_of(r, i), *b = slot_of(r, best < 0 ? i : best);
        bool busy = !atomic_load(&s->waits), best_busy = !atomic_load(&b->waits);
        if (i == r->place.rank) continue;
        if (best < 0 || busy > best_busy ||
            (busy == best_busy && atomic_load(&s->step) < atomic_load(&b->step)))
            best = i;
    }
    return best;
}

static cute_status fail_late(cute_ranks *r, int peer, cute_diag *diag)
{
    char text[TEXT_BYTES];
    peer = find_culprit(r, peer);
    slot *s = peer >= 0 ? slot_of(r, peer) : NULL;
    if (s && atomic_load(&s->step))
        snprintf(text, sizeof text, "rank %d made no progress for %g s: it is in its step %u (%s)", peer,
                 r->timeout, atomic_load(&s->step), s->name);
    else if (peer >= 0)
        snprintf(text, sizeof text, "rank %d made no progress for %g s", peer, r->timeout);
    else
        snprintf(text, sizeof text, "a rank on another host made no progress for %g s", r->timeout);
    return fail_by(r, peer < 0 ? r->place.rank : peer, text, diag);
}

void cute_ranks_give_up(cute_ranks *r, cute_status status, const cute_diag *diag)
{
    char text[TEXT_BYTES];
    const char *first = "failed";
    if (!r || r->failed) return;
    for (size_t i = 0; i < cute_diag_count(diag); i++)
        if (cute_diag_get(diag, i)->severity == CUTE_ERROR) {
            first = cute_diag_get(diag, i)->text;
            break;
        }
    snprintf(text, sizeof text, "rank %d failed: %.900s", r->place.rank, first);
    r->failed = true;
    spread_failure(r, r->place.rank ? -1 : 0, status, text);
}

/* ---- waiting ---- */

void cute_ranks_step(cute_ranks *r, const char *format, ...)
{
    slot *s = r ? slot_of(r, r->place.rank) : NULL;
    if (!s) return;
    va_list args;
    va_start(args, format);
    vsnprintf(s->name, sizeof s->name, format, args);
    va_end(args);
    atomic_fetch_add(&s->step, 1);
    cute_ranks_beat(r);
}

void cute_ranks_beat(cute_ranks *r)
{
    slot *s = r ? slot_of(r, r->place.rank) : NULL;
    if (!s) return;
    atomic_store(&s->waits, 0);
    atomic_fetch_add(&s->beats, 1);
}

static uint64_t count_beats(cute_ranks *r, int peer)
{
    uint64_t sum = 0;
    for (int i = 0; r->shared && i < r->place.size; i++)
        if (i != r->place.rank && (peer < 0 || i == peer)) sum += atomic_load(&slot_of(r, i)->beats);
    return sum;
}

ranks_wait cute_ranks_wait_begin(cute_ranks *r)
{
    (void)r;
    double now = cute_clock();
    return (ranks_wait){.since = now, .watched = now};
}

cute_status cute_ranks_wait_turn(cute_ranks *r, ranks_wait *w, int peer, cute_diag *diag)
{
    if (w->turns++ < spin_limit) {
        sched_yield();
        return CUTE_OK;
    }
    usleep(50);
    double now = cute_clock();
    if (now - w->watched < watch_interval) return CUTE_OK;
    w->watched = now;
    if (r->shared) atomic_store(&slot_of(r, r->place.rank)->waits, peer < 0 ? -1 : peer + 1);
    CUTE_TRY(watch(r, diag));
    uint64_t beats = count_beats(r, peer);
    if (beats != w->beats) w->since = now;
    w->beats = beats;
    return now - w->since < r->timeout ? CUTE_OK : fail_late(r, peer, diag);
}

/* Waits for a frame of `kind` with `bytes` bytes. */
static cute_status receive_frame(cute_ranks *r, int index, int kind, void *out, size_t bytes, cute_diag *diag)
{
    ranks_wait w = cute_ranks_wait_begin(r);
    frame f;
    for (;;) {
        int got = peek_frame(r->sockets[index], &f);
        if (got == 0) return fail_ended(r, index, diag);
        if (got == 1) break;
        CUTE_TRY(cute_ranks_wait_turn(r, &w, index, diag));
    }
    if (f.kind == FRAME_FAIL) return read_failure(r, index, diag);
    double deadline = cute_clock() + r->timeout;
    if (f.kind != kind || f.bytes != bytes) {
        char text[TEXT_BYTES];
        snprintf(text, sizeof text, "rank %d exchanges a record of %llu bytes: expected %zu", index,
                 (unsigned long long)f.bytes, bytes);
        return fail_by(r, index, text, diag);
    }
    int got = move_bytes(r->sockets[index], &f, sizeof f, false, deadline);
    if (got == 1) got = move_bytes(r->sockets[index], out, bytes, false, deadline);
    cute_ranks_beat(r);
    return got == 1 ? CUTE_OK : got == 0 ? fail_ended(r, index, diag) : fail_late(r, index, diag);
}

static cute_status send_to(cute_ranks *r, int index, int kind, const void *bytes, size_t size,
                           cute_diag *diag)
{
    int sent = send_frame(r->sockets[index], kind, r->place.rank, bytes, size, cute_clock() + r->timeout);
    if (sent == 1) return CUTE_OK;
    /* a rank that failed has said why before it ended */
    frame f;
    if (sent == 0 && peek_frame(r->sockets[index], &f) == 1 && f.kind == FRAME_FAIL)
        return read_failure(r, index, diag);
    return sent == 0 ? fail_ended(r, index, diag) : fail_late(r, index, diag);
}

cute_status cute_ranks_exchange(cute_ranks *r, const void *own, size_t bytes, void *all, cute_diag *diag)
{
    size_t whole = bytes * (size_t)r->place.size;
    memcpy((char *)all + bytes * (size_t)r->place.rank, own, bytes);
    if (r->place.rank) {
        CUTE_TRY(send_to(r, 0, FRAME_RECORD, own, bytes, diag));
        return receive_frame(r, 0, FRAME_RECORD, all, whole, diag);
    }
    for (int i = 1; i < r->place.size; i++)
        CUTE_TRY(receive_frame(r, i, FRAME_RECORD, (char *)all + bytes * (size_t)i, bytes, diag));
    for (int i = 1; i < r->place.size; i++) CUTE_TRY(send_to(r, i, FRAME_RECORD, all, whole, diag));
    return CUTE_OK;
}

/* ---- joining ---- */

typedef union address {
    struct sockaddr any;
    struct sockaddr_un local;
    struct sockaddr_storage storage;
} address;

static cute_status read_address(const ranks_place *place, bool listens, address *out, socklen_t *size,
                                cute_diag *diag)
{
    *out = (address){0};
    if (strncmp(place->address, "unix:", 5) == 0) {
        const char *name = place->address + 5;
        size_t length = strlen(name);
        if (length + 1 > sizeof out->local.sun_path)
            return cute_fail(diag, CUTE_USAGE, NULL,
                             "expected a name of at most %zu bytes for the ranks' socket, got '%s'",
                             sizeof out->local.sun_path - 1, name);
        out->local.sun_family = AF_UNIX;
        memcpy(out->local.sun_path + 1, name, length); /* abstract: no file */
        *size = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + length);
        return CUTE_OK;
    }
    char host[RANKS_ADDRESS];
    snprintf(host, sizeof host, "%s", place->address + 4);
    char *port = strrchr(host, ':');
    *port++ = '\0';
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = listens ? AI_PASSIVE : 0}, *found = NULL;
    int error = getaddrinfo(host, port, &hints, &found);
    if (error)
        return cute_fail(diag, CUTE_SYSTEM, NULL, "cannot find host '%s' of rank 0: %s", host,
                         gai_strerror(error));
    memcpy(&out->storage, found->ai_addr, found->ai_addrlen);
    *size = found->ai_addrlen;
    freeaddrinfo(found);
    return CUTE_OK;
}

static cute_status fail_missing(cute_ranks *r, const bool *here, cute_diag *diag)
{
    cute_buffer names = {0};
    char text[TEXT_BYTES];
    int count = 0;
    for (int i = 1; i < r->place.size; i++)
        if (!here[i] && count++ < 16) cute_buffer_printf(&names, "%s%d", names.length ? ", " : "", i);
    snprintf(text, sizeof text, "rank%s %s did not arrive within %g s: expected %d ranks",
             count > 1 ? "s" : "", cute_buffer_text(&names), r->timeout, r->place.size);
    cute_buffer_release(&names);
    return fail_by(r, 0, text, diag);
}

/* Compares another rank with this one; the first difference becomes r->wrong, a failure when all have arrived. */
static void check_hello(cute_ranks *r, int rank, const hello *h)
{
    const hello *own = &r->own;
    char *text = r->wrong;
    if (*text) return;
    if (strncmp(h->version, own->version, sizeof own->version) != 0)
        snprintf(text, sizeof r->wrong, "rank %d has another version: expected %.31s as rank 0, got %.31s",
                 rank, own->version, h->version);
    else if (h->size != own->size)
        snprintf(text, sizeof r->wrong, "rank %d expects %u ranks, and rank 0 %u", rank, h->size, own->size);
    else if (strncmp(h->problem, own->problem, sizeof own->problem) != 0)
        snprintf(text, sizeof r->wrong,
                 "rank %d has another problem: expected '%.400s' as rank 0, got '%.400s'", rank, own->problem,
                 h->problem);
}

/* Reads the greeting of a new connection; false: it is not from a rank. */
static bool read_hello(int fd, double deadline, frame *f, hello *h)
{
    if (move_bytes(fd, f, sizeof *f, false, deadline) != 1 || f->magic != MAGIC || f->kind != FRAME_HELLO ||
        f->bytes != sizeof *h || move_bytes(fd, h, sizeof *h, false, deadline) != 1)
        return false;
    h->version[sizeof h->version - 1] = h->host[sizeof h->host - 1] = h->problem[sizeof h->problem - 1] =
        '\0';
    return true;
}

static bool same_user(int fd)
{
    struct ucred peer;
    socklen_t size = sizeof peer;
    struct sockaddr_storage name;
    socklen_t length = sizeof name;
    if (getsockname(fd, (struct sockaddr *)&name, &length) != 0 || name.ss_family != AF_UNIX) return true;
    return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 && peer.uid == getuid();
}

static cute_status accept_rank(cute_ranks *r, int fd, bool *here, cute_diag *diag)
{
    frame f;
    hello h;
    if (!same_user(fd) || !read_hello(fd, cute_clock() + 1, &f, &h)) {
        close(fd);
        return CUTE_OK;
    }
    if (f.rank == 0 || f.rank >= r->place.size || here[f.rank]) {
        char text[TEXT_BYTES];
        bool twice = f.rank && f.rank < r->place.size;
        snprintf(text, sizeof text,
                 twice ? "two processes are rank %d" : "expected ranks 0 to %2$d, got rank %1$d", f.rank,
                 r->place.size - 1);
        r->sockets[0] = fd;
        spread_failure(r, -1, CUTE_INVALID, text);
        r->sockets[0] = -1;
        r->failed = true;
        close(fd);
        return fail_by(r, 0, text, diag);
    }
    int on = 1;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    r->sockets[f.rank] = fd;
    here[f.rank] = true;
    if (strcmp(h.host, r->own.host) != 0) r->together = false;
    check_hello(r, f.rank, &h);
    return CUTE_OK;
}

static cute_status accept_ranks(cute_ranks *r, int listener, cute_diag *diag)
{
    double deadline = cute_clock() + r->timeout;
    bool here[RANKS_MOST] = {true};
    for (int left = r->place.size - 1; left > 0;) {
        double rest = deadline - cute_clock();
        if (rest <= 0 && !*r->wrong) return fail_missing(r, here, diag);
        if (rest <= 0) break;
        struct pollfd p = {listener, POLLIN, 0};
        if (poll(&p, 1, rest < 0.02 ? 1 : 20) <= 0) {
            CUTE_TRY(watch(r, diag));
            continue;
        }
        int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
        if (fd < 0) continue;
        CUTE_TRY(accept_rank(r, fd, here, diag));
        left = r->place.size;
        for (int i = 0; i < r->place.size; i++) left -= here[i];
    }
    return *r->wrong ? fail_by(r, 0, r->wrong, diag) : CUTE_OK;
}

/* Memory whose name is removed before another process learns of it: the others open it through this process's descriptor. */
static cute_status create_shared(cute_ranks *r, int *fd, welcome *out, cute_diag *diag)
{
    char name[64];
    *out = (welcome){0};
    *fd = -1;
    if (!r->together || r->place.size > RANKS_LOCAL_MOST) return CUTE_OK;
    size_t pairs = (size_t)r->place.size * (size_t)r->place.size, channel = SHARED_BYTES / pairs;
    if (channel > (256 << 10)) channel = 256 << 10;
    if (channel < CHANNEL_LEAST) channel = CHANNEL_LEAST;
    r->shared_bytes = slots_bytes(r->place.size) + pairs * channel;
    snprintf(name, sizeof name, "/cute-ranks-%ld-%lx", (long)getpid(), (unsigned long)(cute_clock() * 1e6));
    *fd = shm_open(name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (*fd >= 0) shm_unlink(name);
    if (*fd < 0 || ftruncate(*fd, (off_t)r->shared_bytes) != 0)
        return cute_fail(diag, CUTE_SYSTEM, NULL, "cannot create shared memory of %zu bytes: %s",
                         r->shared_bytes, strerror(errno));
    snprintf(out->shared, sizeof out->shared, "/proc/%ld/fd/%d", (long)getpid(), *fd);
    out->bytes = r->shared_bytes;
    return CUTE_OK;
}

static cute_status map_shared(cute_ranks *r, int fd, cute_diag *diag)
{
    if (fd < 0) return CUTE_OK;
    void *memory = mmap(NULL, r->shared_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (memory == MAP_FAILED)
        return cute_fail(diag, CUTE_SYSTEM, NULL, "cannot map shared memory: %s", strerror(errno));
    r->shared = memory;
    return CUTE_OK;
}

static cute_status open_shared(cute_ranks *r, const welcome *w, cute_diag *diag)
{
    r->together = w->shared[0] != '\0';
    if (!r->together) return CUTE_OK;
    int fd = open(w->shared, O_RDWR | O_CLOEXEC);
    if (fd < 0)
        return cute_fail(diag, CUTE_SYSTEM, NULL, "cannot open the ranks' shared memory %s: %s", w->shared,
                         strerror(errno));
    r->shared_bytes = w->bytes;
    cute_status status = map_shared(r, fd, diag);
    close(fd);
    return status;
}

/* Rank 0 keeps the descriptor of the shared memory open until all have opened it. */
static cute_status lead(cute_ranks *r, cute_diag *diag)
{
    address at;
    socklen_t size;
    int on = 1, fd = -1, all[RANKS_MOST];
    welcome w;
    CUTE_TRY(read_address(&r->place, true, &at, &size, diag));
    int listener = socket(at.any.sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (listener >= 0 && at.any.sa_family != AF_UNIX)
        setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (listener < 0 || bind(listener, &at.any, size) != 0 || listen(listener, r->place.size) != 0) {
        cute_fail(diag, CUTE_SYSTEM, NULL, "rank 0 cannot listen at %s: %s", r->place.address,
                  strerror(errno));
        if (listener >= 0) close(listener);
        return CUTE_SYSTEM;
    }
    cute_status status = accept_ranks(r, listener, diag);
    close(listener);
    if (status == CUTE_OK) status = create_shared(r, &fd, &w, diag);
    if (status == CUTE_OK) status = map_shared(r, fd, diag);
    for (int i = 1; status == CUTE_OK && i < r->place.size; i++)
        status = send_to(r, i, FRAME_WELCOME, &w, sizeof w, diag);
    if (status == CUTE_OK) status = cute_ranks_exchange(r, &on, sizeof on, all, diag);
    if (fd >= 0) close(fd);
    return status;
}

static cute_status connect_to_lead(cute_ranks *r, cute_diag *diag)
{
    address at;
    socklen_t size;
    double deadline = cute_clock() + r->timeout;
    CUTE_TRY(read_address(&r->place, false, &at, &size, diag));
    for (;;) {
        int fd = socket(at.any.sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
        if (fd < 0) return cute_fail(diag, CUTE_SYSTEM, NULL, "cannot create a socket: %s", strerror(errno));
        if (connect(fd, &at.any, size) == 0 && same_user(fd)) {
            r->sockets[0] = fd;
            return CUTE_OK;
        }
        int error = errno;
        close(fd);
        if (cute_clock() > deadline)
            return cute_fail(diag, CUTE_INVALID, NULL, "rank 0 did not arrive at %s within %g s: %s",
                             r->place.address, r->timeout, strerror(error));
        usleep((useconds_t)(retry_pause * 1e6));
    }
}

static cute_status follow(cute_ranks *r, cute_diag *diag)
{
    welcome w;
    int on = 1, all[RANKS_MOST];
    CUTE_TRY(connect_to_lead(r, diag));
    CUTE_TRY(send_to(r, 0, FRAME_HELLO, &r->own, sizeof r->own, diag));
    /* rank 0 waits as long for the others */
    double own = r->timeout;
    r->timeout = 2 * own + 1;
    cute_status status = receive_frame(r, 0, FRAME_WELCOME, &w, sizeof w, diag);
    r->timeout = own;
    if (status == CUTE_OK) status = open_shared(r, &w, diag);
    return status == CUTE_OK ? cute_ranks_exchange(r, &on, sizeof on, all, diag) : status;
}

cute_status cute_ranks_join(const ranks_place *place, const char *problem, double timeout, cute_ranks **out,
                            cute_diag *diag)
{
    *out = NULL;
    cute_ranks *r = calloc(1, sizeof *r);
    int count = place->rank ? 1 : place->size;
    int *sockets = malloc((size_t)count * sizeof *sockets);
    if (!r || !sockets) {
        free(r);
        free(sockets);
        return cute_fail_memory(diag);
    }
    for (int i = 0; i < count; i++) sockets[i] = -1;
    *r = (cute_ranks){.place = *place,
                      .timeout = timeout,
                      .sockets = sockets,
                      .socket_count = count,
                      .together = true,
                      .own = {.size = (uint32_t)place->size, .process = (int32_t)getpid()}};
    snprintf(r->own.version, sizeof r->own.version, "%s", place->version ? place->version : cute_version());
    snprintf(r->own.problem, sizeof r->own.problem, "%s", problem);
    if (gethostname(r->own.host, sizeof r->own.host - 1) != 0) r->own.host[0] = '\0';
    cute_status status = place->rank ? follow(r, diag) : lead(r, diag);
    r->joined = status == CUTE_OK;
    if (status == CUTE_OK)
        *out = r;
    else
        cute_ranks_leave(r);
    return status;
}

void cute_ranks_leave(cute_ranks *r)
{
    if (!r) return;
    char here = 0, all[RANKS_MOST];
    if (r->joined && !r->failed) cute_ranks_exchange(r, &here, sizeof here, all, NULL);
    for (int i = 0; i < r->socket_count; i++) close_socket(r, i);
    if (r->shared) munmap(r->shared, r->shared_bytes);
    free(r->sockets);
    free(r);
}
