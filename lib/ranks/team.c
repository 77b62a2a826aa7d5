/* See team.h. */
#include "lib/ranks/team.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "lib/base/list.h"
#include "lib/base/numbers/mix.h"

enum { SELDOM = 4 };

typedef enum work_kind {
    WORK_LAUNCH,
    WORK_COPY,
    WORK_FILL,
    WORK_RECORD,
    WORK_WAIT,
    WORK_COUNT,
    WORK_SIGNAL,
    WORK_AWAIT,
    WORK_MEET
} work_kind;

typedef struct work {
    struct work *next;
    work_kind kind;
    cute_device_function *function; /* LAUNCH, with `bytes` of its parameters, to which `params` points */
    cute_device_launch launch;
    void **params;
    cute_address to, from; /* COPY, FILL; COUNT: to */
    uint64_t value;        /* FILL; COUNT; AWAIT: signals */
    size_t size;
    int width, peer; /* peer: of COUNT, SIGNAL, AWAIT */
    cute_device_event *event;
    uint64_t records; /* WAIT: of the event */
    const char *name; /* MEET */
    team_operation *run;
    void *context;
    _Alignas(16) char bytes[]; /* LAUNCH: parameters; MEET: the call */
} work;

struct cute_device_event {
    cute_device_event *next;
    uint64_t records, done;
    double time;
};

typedef struct team_stream {
    cute_stream base;
    struct team_stream *next;
    work *first, **last;
} team_stream;

typedef struct team_device {
    cute_device base;
    cute_team *team;
    int rank;
    team_stream own, *streams; /* own: the device's; streams: it and those that were created */
    cute_device_event *events;
    uint64_t launches;
} team_device;

/* All ranks that load the same image have the same module. */
typedef struct team_module {
    char *image;
    size_t length;
    cute_device_module *module;
    int users;
} team_module;

typedef struct team_function {
    const cute_device_module *module;
    char *name;
    cute_device_function *function;
} team_function;

struct cute_team {
    cute_device *emulator;
    int size;
    uint64_t random; /* 0: in order */
    team_device devices[TEAM_MOST];
    uint64_t signals[TEAM_MOST][TEAM_MOST], awaited[TEAM_MOST][TEAM_MOST]; /* from, to */
    team_module *modules;
    team_function *functions;
    size_t module_count, module_capacity, function_count, function_capacity;
};

static team_device *as_member(cute_device *device)
{
    return (team_device *)device;
}

static const cute_device_ops *inner_ops(const team_device *d)
{
    return d->team->emulator->ops;
}

/* ---- queues ---- */

static cute_status add_work(team_device *d, cute_stream *stream, work_kind kind, size_t bytes, work **out,
                            cute_diag *diag)
{
    team_stream *s = stream ? (team_stream *)stream : &d->own;
    work *w = calloc(1, sizeof *w + bytes);
    if (!w) return cute_fail_memory(diag);
    w->kind = kind;
    *s->last = *out = w;
    s->last = &w->next;
    return CUTE_OK;
}

static void drop_head(team_stream *s)
{
    work *w = s->first;
    s->first = w->next;
    if (!s->first) s->last = &s->first;
    free(w);
}

static void drop_queue(team_stream *s)
{
    while (s->first) drop_head(s);
}

static double seconds_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* 0 to below - 1; without a seed 0. */
static uint64_t draw(cute_team *t, uint64_t below)
{
    if (!t->random || !below) return 0;
    t->random += CUTE_MIX_STEP;
    return cute_mix(t->random) % below;
}

/* ---- execution ---- */

static cute_status read_count(const team_device *d, cute_address counter, uint32_t *out, cute_diag *diag)
{
    return inner_ops(d)->download(d->team->emulator, NULL, out, counter, sizeof *out, diag);
}

/* Whether the head of a stream can be executed by itself: no launch and no operation of all ranks. */
static cute_status head_is_ready(team_device *d, const work *w, bool *out, cute_diag *diag)
{
    const cute_team *t = d->team;
    uint32_t now = 0;
    switch (w->kind) {
    case WORK_LAUNCH:
    case WORK_MEET: *out = false; break;
    case WORK_WAIT: *out = w->event->done >= w->records; break;
    case WORK_AWAIT: *out = t->signals[w->peer][d->rank] - t->awaited[w->peer][d->rank] >= w->value; break;
    case WORK_COUNT:
        CUTE_TRY(read_count(d, w->to, &now, diag));
        *out = (int32_t)(now - (uint32_t)w->value) >= 0;
        break;
    default: *out = true;
    }
    return CUTE_OK;
}

static cute_status execute_head(team_device *d, team_stream *s, cute_diag *diag)
{
    cute_team *t = d->team;
    const work *w = s->first;
    const cute_emulator_ops *checks = inner_ops(d)->emulator;
    cute_status status = CUTE_OK;
    switch (w->kind) {
    case WORK_COPY: status = inner_ops(d)->copy(t->emulator, NULL, w->to, w->from, w->size, diag); break;
    case WORK_FILL:
        status = inner_ops(d)->fill(t->emulator, NULL, w->to, w->value, w->width, w->size, diag);
        break;
    case WORK_RECORD:
        w->event->done++;
        w->event->time = seconds_now();
        break;
    case WORK_COUNT: checks->acquire(t->emulator, d->rank, w->to); break;
    case WORK_SIGNAL:
        t->signals[d->rank][w->peer]++;
        checks->signal(t->emulator, d->rank, w->peer);
        break;
    case WORK_AWAIT:
        t->awaited[w->peer][d->rank] += w->value;
        checks->observe(t->emulator, d->rank, w->peer);
        break;
    default: break;
    }
    drop_head(s);
    return status;
}

/* All heads that can be executed, of a random rank first; *any: there was one. */
static cute_status execute_ready(cute_team *t, bool *any, cute_diag *diag)
{
    uint64_t first = draw(t, (uint64_t)t->size);
    *any = false;
    for (int i = 0; i < t->size; i++) {
        team_device *d = &t->devices[(first + (uint64_t)i) % (uint64_t)t->size];
        for (team_stream *s = d->streams; s; s = s->next)
            while (s->first) {
                bool ready;
                CUTE_TRY(head_is_ready(d, s->first, &ready, diag));
                if (!ready) break;
                *any = true;
                CUTE_TRY(execute_head(d, s, diag));
            }
    }
    return CUTE_OK;
}

/* A stream of the rank whose head is of this kind, and like `model` unless that is NULL. */
static team_stream *find_head(team_device *d, work_kind kind, const work *model)
{
    for (team_stream *s = d->streams; s; s = s->next) {
        const work *w = s->first;
        if (!w || w->kind != kind) continue;
        if (!model || (kind == WORK_MEET && w->run == model->run && w->context == model->context) ||
            (kind == WORK_LAUNCH && w->function == model->function &&
             memcmp(w->launch.grid, model->launch.grid, sizeof w->launch.grid) == 0 &&
             memcmp(w->launch.block, model->launch.block, sizeof w->launch.block) == 0 &&
             memcmp(w->launch.cluster, model->launch.cluster, sizeof w->launch.cluster) == 0 &&
             w->launch.dynamic_smem == model->launch.dynamic_smem &&
             w->launch.cooperative == model->launch.cooperative))
            return s;
    }
    return NULL;
}

/* An operation that is next on a stream of each rank. */
static cute_status execute_meeting(cute_team *t, bool *any, cute_diag *diag)
{
    team_stream *streams[TEAM_MOST] = {NULL};
    const void *calls[TEAM_MOST];
    *any = false;
    for (int r = 0; r < t->size; r++) {
        streams[r] = find_head(&t->devices[r], WORK_MEET, r ? streams[0]->first : NULL);
        if (!streams[r]) return CUTE_OK;
        calls[r] = streams[r]->first->bytes;
    }
    *any = true;
    work *w = streams[0]->first;
    cute_status status = w->run(w->context, calls, diag);
    for (int r = 0; r < t->size; r++) drop_head(streams[r]);
    return status;
}

/* The rank that has started the fewest kernels, a random one with a seed, and all others whose next kernel is the same; with a seed, some
 * of these are late. */
static cute_status execute_launches(cute_team *t, bool *any, cute_diag *diag)
{
    team_stream *streams[TEAM_MOST] = {NULL}, *chosen = NULL;
    void *const *params[TEAM_MOST] = {NULL};
    uint64_t first = draw(t, (uint64_t)t->size), least = 0;
    uint32_t only = 0;
    int begin = 0;
    for (int i = 0; i < t->size; i++) {
        int r = (int)((first + (uint64_t)i) % (uint64_t)t->size);
        team_stream *s = find_head(&t->devices[r], WORK_LAUNCH, NULL);
        if (!s || (chosen && (t->random || t->devices[r].launches >= least))) continue;
        chosen = s;
        begin = r;
        least = t->devices[r].launches;
    }
    *any = chosen != NULL;
    if (!chosen) return CUTE_OK;
    for (int r = 0; r < t->size; r++) {
        if (r != begin && t->random && draw(t, SELDOM) == 0) continue;
        streams[r] = r == begin ? chosen : find_head(&t->devices[r], WORK_LAUNCH, chosen->first);
        if (!streams[r]) continue;
        params[r] = streams[r]->first->params;
        only |= 1u << r;
        t->devices[r].launches++;
    }
    const work *w = chosen->first;
    cute_status status =
        t->emulator->ops->emulator->start_on(t->emulator, only, w->function, &w->launch, params, diag);
    for (int r = 0; r < t->size; r++)
        if (streams[r]) drop_head(streams[r]);
    return status;
}

static void explain_head(const team_device *d, const work *w, cute_diag *diag)
{
    uint32_t now = 0;
    switch (w->kind) {
    case WORK_COUNT:
        read_count(d, w->to, &now, NULL);
        if (w->peer < 0)
            cute_note(diag, NULL, "rank %d waits for a counter: expected %u, got %u", d->rank,
                      (unsigned)w->value, now);
        else
            cute_note(diag, NULL, "rank %d waits for rank %d, for a counter: expected %u, got %u", d->rank,
                      w->peer, (unsigned)w->value, now);
        break;
    case WORK_AWAIT:
        cute_note(
            diag, NULL, "rank %d waits for rank %d: expected %llu signals, got %llu", d->rank, w->peer,
            (unsigned long long)w->value,
            (unsigned long long)(d->team->signals[w->peer][d->rank] - d->team->awaited[w->peer][d->rank]));
        break;
    case WORK_MEET: cute_note(diag, NULL, "rank %d waits for the others in %s", d->rank, w->name); break;
    case WORK_WAIT: break; /* for another stream of the rank */
    default: break;
    }
}

static cute_status finish_run(cute_team *t, cute_diag *diag)
{
    bool waits = false;
    for (int r = 0; r < t->size; r++)
        for (team_stream *s = t->devices[r].streams; s; s = s->next) waits = waits || s->first;
    if (!waits) return CUTE_OK;
    cute_fail(diag, CUTE_INVALID, NULL, "deadlock: the ranks wait for each other");
    for (int r = 0; r < t->size; r++)
        for (team_stream *s = t->devices[r].streams; s; s = s->next)
            if (s->first) explain_head(&t->devices[r], s->first, diag);
    return CUTE_INVALID;
}

cute_status cute_team_run(cute_team *t, cute_diag *diag)
{
    cute_status status = CUTE_OK;
    for (bool any = true; any && status == CUTE_OK;) {
        status = execute_ready(t, &any, diag);
        if (status == CUTE_OK && !any) status = execute_meeting(t, &any, diag);
        if (status == CUTE_OK && !any) status = execute_launches(t, &any, diag);
    }
    if (status == CUTE_OK) status = finish_run(t, diag);
    for (int r = 0; status != CUTE_OK && r < t->size; r++)
        for (team_stream *s = t->devices[r].streams; s; s = s->next) drop_queue(s);
    return status;
}

/* ---- work of all ranks ---- */

cute_status cute_team_signal(cute_team *t, int rank, cute_stream *stream, int to, cute_diag *diag)
{
    work *w = NULL;
    CUTE_TRY(add_work(&t->devices[rank], stream, WORK_SIGNAL, 0, &w, diag));
    w->peer = to;
    return CUTE_OK;
}

cute_status cute_team_await(cute_team *t, int rank, cute_stream *stream, int from, int64_t signals,
                            cute_diag *diag)
{
    work *w = NULL;
    CUTE_TRY(add_work(&t->devices[rank], stream, WORK_AWAIT, 0, &w, diag));
    w->peer = from;
    w->value = (uint64_t)signals;
    return CUTE_OK;
}

cute_status cute_team_await_count(cute_team *t, int rank, cute_stream *stream, cute_address counter,
                                  uint32_t value, int peer, cute_diag *diag)
{
    work *w = NULL;
    CUTE_TRY(add_work(&t->devices[rank], stream, WORK_COUNT, 0, &w, diag));
    w->to = counter;
    w->value = value;
    w->peer = peer;
    return CUTE_OK;
}

cute_status cute_team_meet(cute_team *t, int rank, cute_stream *stream, const char *name, team_operation *run,
                           void *context, const void *call, size_t size, cute_diag *diag)
{
    work *w = NULL;
    CUTE_TRY(add_work(&t->devices[rank], stream, WORK_MEET, size, &w, diag));
    w->name = name;
    w->run = run;
    w->context = context;
    memcpy(w->bytes, call, size);
    return CUTE_OK;
}

void cute_team_order_all(cute_team *t)
{
    const cute_emulator_ops *checks = t->emulator->ops->emulator;
    for (int r = 0; r < t->size; r++)
        for (int to = 0; to < t->size; to++)
            if (to != r) checks->signal(t->emulator, r, to);
    for (int r = 0; r < t->size; r++)
        for (int from = 0; from < t->size; from++)
            if (from != r) checks->observe(t->emulator, r, from);
}

/* ---- a rank's device: memory ---- */

static void member_close(cute_device *device)
{
    (void)device; /* the team's */
}

static cute_status member_alloc(cute_device *device, size_t size, cute_address *out, cute_diag *diag)
{
    team_device *d = as_member(device);
    CUTE_TRY(cute_emulator_select(d->team->emulator, d->rank, diag));
    return inner_ops(d)->alloc(d->team->emulator, size, out, diag);
}

static cute_status member_free(cute_device *device, cute_address address, cute_diag *diag)
{
    team_device *d = as_member(device);
    return inner_ops(d)->free(d->team->emulator, address, diag);
}

static cute_status member_upload(cute_device *device, cute_stream *stream, cute_address to, const void *from,
                                 size_t size, cute_diag *diag)
{
    team_device *d = as_member(device);
    (void)stream;
    CUTE_TRY(cute_team_run(d->team, diag));
    return inner_ops(d)->upload(d->team->emulator, NULL, to, from, size, diag);
}

static cute_status member_download(cute_device *device, cute_stream *stream, void *to, cute_address from,
                                   size_t size, cute_diag *diag)
{
    team_device *d = as_member(device);
    (void)stream;
    CUTE_TRY(cute_team_run(d->team, diag));
    return inner_ops(d)->download(d->team->emulator, NULL, to, from, size, diag);
}

static cute_status member_copy(cute_device *device, cute_stream *stream, cute_address to, cute_address from,
                               size_t size, cute_diag *diag)
{
    work *w = NULL;
    CUTE_TRY(add_work(as_member(device), stream, WORK_COPY, 0, &w, diag));
    w->to = to;
    w->from = from;
    w->size = size;
    return CUTE_OK;
}

static cute_status member_copy_rows(cute_device *device, cute_stream *stream, const cute_copy_rows *c,
                                    cute_diag *diag)
{
    for (size_t i = 0; i < c->count; i++)
        CUTE_TRY(
            member_copy(device, stream, c->to + i * c->to_pitch, c->from + i * c->from_pitch, c->row, diag));
    return CUTE_OK;
}

static cute_status member_fill(cute_device *device, cute_stream *stream, cute_address to, uint64_t value,
                               int width, size_t size, cute_diag *diag)
{
    work *w = NULL;
    CUTE_TRY(add_work(as_member(device), stream, WORK_FILL, 0, &w, diag));
    w->to = to;
    w->value = value;
    w->width = width;
    w->size = size;
    return CUTE_OK;
}

/* ---- code ---- */

static cute_status member_load(cute_device *device, const char *label, const void *image, size_t length,
                               cute_device_module **out, cute_diag *diag)
{
    cute_team *t = as_member(device)->team;
    for (size_t i = 0; i < t->module_count; i++) {
        team_module *m = &t->modules[i];
        if (m->length != length || memcmp(m->image, image, length) != 0) continue;
        m->users++;
        *out = m->module;
        return CUTE_OK;
    }
    team_module m = {.image = malloc(length + 1), .length = length, .users = 1};
    if (!m.image ||
        !cute_heap_more(&t->modules, t->module_count, &t->module_capacity, sizeof *t->modules, 8)) {
        free(m.image);
        return cute_fail_memory(diag);
    }
    memcpy(m.image, image, length);
    cute_status status = t->emulator->ops->load(t->emulator, label, image, length, &m.module, diag);
    if (status != CUTE_OK) {
        free(m.image);
        return status;
    }
    t->modules[t->module_count++] = m;
    *out = m.module;
    return CUTE_OK;
}

static void forget_functions(cute_team *t, const cute_device_module *module)
{
    size_t kept = 0;
    for (size_t i = 0; i < t->function_count; i++)
        if (t->functions[i].module == module)
            free(t->functions[i].name);
        else
            t->functions[kept++] = t->functions[i];
    t->function_count = kept;
}

static cute_status member_unload(cute_device *device, cute_device_module *module, cute_diag *diag)
{
    cute_team *t = as_member(device)->team;
    for (size_t i = 0; i < t->module_count; i++) {
        team_module *m = &t->modules[i];
        if (m->module != module) continue;
        if (--m->users) return CUTE_OK;
        free(m->image);
        forget_functions(t, module);
        *m = t->modules[--t->module_count];
        break;
    }
    return t->emulator->ops->unload(t->emulator, module, diag);
}

static cute_status member_get_function(cute_device *device, cute_device_module *module, const char *name,
                                       cute_device_function **out, cute_diag *diag)
{
    cute_team *t = as_member(device)->team;
    for (size_t i = 0; i < t->function_count; i++)
        if (t->functions[i].module == module && strcmp(t->functions[i].name, name) == 0) {
            *out = t->functions[i].function;
            return CUTE_OK;
        }
    CUTE_TRY(t->emulator->ops->get_function(t->emulator, module, name, out, diag));
    char *copy = strdup(name);
    if (!copy ||
        !cute_heap_more(&t->functions, t->function_count, &t->function_capacity, sizeof *t->functions, 8)) {
        free(copy);
        return cute_fail_memory(diag);
    }
    t->functions[t->function_count++] = (team_function){module, copy, *out};
    return CUTE_OK;
}

static cute_status member_get_global(cute_device *device, cute_device_module *module, const char *name,
                                     cute_address *out, size_t *size, cute_diag *diag)
{
    team_device *d = as_member(device);
    CUTE_TRY(cute_emulator_select(d->team->emulator, d->rank, diag));
    return inner_ops(d)->get_global(d->team->emulator, module, name, out, size, diag);
}

static cute_status member_function_info(cute_device *device, cute_device_function *function,
                                        cute_function_info *out, cute_diag *diag)
{
    team_device *d = as_member(device);
    return inner_ops(d)->function_info(d->team->emulator, function, out, diag);
}

static bool member_param_size(cute_device *device, cute_device_function *function, size_t index, size_t *size)
{
    team_device *d = as_member(device);
    return inner_ops(d)->param_size(d->team->emulator, function, index, size);
}

static cute_status member_prepare(cute_device *device, cute_device_function *function,
                                  const cute_device_launch *launch, cute_diag *diag)
{
    team_device *d = as_member(device);
    return inner_ops(d)->prepare(d->team->emulator, function, launch, diag);
}

static cute_status member_occupancy(cute_device *device, cute_device_function *function,
                                    const cute_device_launch *launch, int64_t *blocks, int64_t *clusters,
                                    cute_diag *diag)
{
    team_device *d = as_member(device);
    return inner_ops(d)->occupancy(d->team->emulator, function, launch, blocks, clusters, diag);
}

/* The parameters are copied: pointers to them first, each at a multiple of 16 bytes. */
static cute_status member_start(cute_device *device, cute_device_function *function,
                                const cute_device_launch *launch, void *const *params, cute_diag *diag)
{
    enum { UNIT = 16 };
    size_t count = 0, bytes = 0, size;
    work *w = NULL;
    for (; member_param_size(device, function, count, &size); count++)
        bytes += (size + UNIT - 1) / UNIT * UNIT;
    size_t at = (count * sizeof(void *) + UNIT - 1) / UNIT * UNIT;
    CUTE_TRY(add_work(as_member(device), launch->stream, WORK_LAUNCH, at + bytes, &w, diag));
    w->function = function;
    w->launch = *launch;
    w->launch.stream = NULL;
    w->params = (void **)(void *)w->bytes;
    for (size_t i = 0; i < count; i++) {
        member_param_size(device, function, i, &size);
        memcpy(w->bytes + at, params[i], size);
        w->params[i] = w->bytes + at;
        at += (size + UNIT - 1) / UNIT * UNIT;
    }
    return CUTE_OK;
}

static cute_status member_encode_map(cute_device *device, const cute_tensor_map *map, uint8_t *out,
                                     cute_diag *diag)
{
    team_device *d = as_member(device);
    return inner_ops(d)->encode_map(d->team->emulator, map, out, diag);
}

/* ---- streams and events ---- */

static cute_status member_sync(cute_device *device, cute_diag *diag)
{
    return cute_team_run(as_member(device)->team, diag);
}

static cute_status member_stream_create(cute_device *device, cute_stream **out, cute_diag *diag)
{
    team_device *d = as_member(device);
    team_stream *s = calloc(1, sizeof *s);
    if (!s) return cute_fail_memory(diag);
    *s = (team_stream){.base.device = device, .next = d->own.next, .last = &s->first};
    d->own.next = s;
    *out = &s->base;
    return CUTE_OK;
}

static void member_stream_destroy(cute_stream *stream)
{
    team_device *d = as_member(stream->device);
    for (team_stream **at = &d->own.next; *at; at = &(*at)->next)
        if (&(*at)->base == stream) {
            team_stream *gone = *at;
            *at = gone->next;
            drop_queue(gone);
            free(gone);
            return;
        }
}

static cute_status member_stream_wait(cute_device *device, cute_stream *stream, cute_device_event *event,
                                      cute_diag *diag)
{
    work *w = NULL;
    CUTE_TRY(add_work(as_member(device), stream, WORK_WAIT, 0, &w, diag));
    w->event = event;
    w->records = event->records;
    return CUTE_OK;
}

static cute_status member_wait_count(cute_device *device, cute_stream *stream, cute_address counter,
                                     uint32_t count, cute_diag *diag)
{
    const team_device *d = as_member(device);
    return cute_team_await_count(d->team, d->rank, stream, counter, count, -1, diag);
}

static cute_status member_stream_sync(cute_device *device, cute_stream *stream, cute_diag *diag)
{
    (void)stream;
    return cute_team_run(as_member(device)->team, diag);
}

static cute_status member_event_create(cute_device *device, cute_device_event **out, cute_diag *diag)
{
    team_device *d = as_member(device);
    if (!(*out = calloc(1, sizeof **out))) return cute_fail_memory(diag);
    (*out)->next = d->events;
    d->events = *out;
    return CUTE_OK;
}

static cute_status member_event_record(cute_device *device, cute_stream *stream, cute_device_event *event,
                                       cute_diag *diag)
{
    work *w = NULL;
    CUTE_TRY(add_work(as_member(device), stream, WORK_RECORD, 0, &w, diag));
    w->event = event;
    event->records++;
    return CUTE_OK;
}

static cute_status member_elapsed(cute_device *device, cute_device_event *from, cute_device_event *to,
                                  double *seconds, cute_diag *diag)
{
    (void)device, (void)diag;
    *seconds = to->time - from->time;
    return CUTE_OK;
}

static void member_share_leave(cute_device *device, cute_address address, size_t size)
{
    (void)device, (void)address, (void)size; /* all ranks have the same addresses */
}

static void member_share_free(cute_device *device, cute_address address, size_t size,
                              const cute_shared_name *name)
{
    (void)size, (void)name;
    member_free(device, address, NULL);
}

static cute_status member_describe_buffer(cute_device *device, cute_address address, const char *name,
                                          size_t size, bool written, cute_diag *diag)
{
    return cute_emulator_describe_buffer(as_member(device)->team->emulator, address, name, size, written,
                                         diag);
}

/* Only the functions that products and collectives use: members are internal. */
static const cute_emulator_ops member_emulator_ops = {.describe_buffer = member_describe_buffer};

static const cute_device_ops member_ops = {
    .kind = "emulator",
    .emulator = &member_emulator_ops,
    .close = member_close,
    .alloc = member_alloc,
    .free = member_free,
    .upload = member_upload,
    .download = member_download,
    .copy = member_copy,
    .copy_rows = member_copy_rows,
    .fill = member_fill,
    .load = member_load,
    .unload = member_unload,
    .get_function = member_get_function,
    .get_global = member_get_global,
    .function_info = member_function_info,
    .param_size = member_param_size,
    .prepare = member_prepare,
    .occupancy = member_occupancy,
    .start = member_start,
    .encode_map = member_encode_map,
    .sync = member_sync,
    .stream_create = member_stream_create,
    .stream_destroy = member_stream_destroy,
    .stream_wait = member_stream_wait,
    .stream_wait_count = member_wait_count,
    .stream_sync = member_stream_sync,
    .event_create = member_event_create,
    .event_record = member_event_record,
    .elapsed = member_elapsed,
    .share_leave = member_share_leave,
    .share_free = member_share_free,
};

/* ---- opening ---- */

cute_status cute_team_open(const cute_emulator_options *options, cute_team **out, cute_diag *diag)
{
    *out = NULL;
    cute_team *t = calloc(1, sizeof *t);
    if (!t) return cute_fail_memory(diag);
    cute_status status = cute_emulator_open(options, &t->emulator, diag);
    if (status != CUTE_OK) {
        free(t);
        return status;
    }
    t->size = options->devices > 1 ? (int)options->devices : 1;
    t->random = options->seed;
    for (int r = 0; r < t->size; r++) {
        team_device *d = &t->devices[r];
        *d = (team_device){.base = {&member_ops, t->emulator->info}, .team = t, .rank = r};
        d->own = (team_stream){.base.device = &d->base, .last = &d->own.first};
        d->streams = &d->own;
    }
    *out = t;
    return CUTE_OK;
}

void cute_team_close(cute_team *t)
{
    if (!t) return;
    for (int r = 0; r < t->size; r++) {
        team_device *d = &t->devices[r];
        while (d->own.next) member_stream_destroy(&d->own.next->base);
        drop_queue(&d->own);
        for (cute_device_event *e = d->events, *next; e; e = next) {
            next = e->next;
            free(e);
        }
    }
    for (size_t i = 0; i < t->module_count; i++) free(t->modules[i].image);
    for (size_t i = 0; i < t->function_count; i++) free(t->functions[i].name);
    free(t->modules);
    free(t->functions);
    cute_device_close(t->emulator);
    free(t);
}

int cute_team_size(const cute_team *t)
{
    return t->size;
}

cute_device *cute_team_device(cute_team *t, int rank)
{
    return rank >= 0 && rank < t->size ? &t->devices[rank].base : NULL;
}

cute_device *cute_team_emulator(const cute_team *t)
{
    return t->emulator;
}
