/* The timeline of the warps of one block, which the emulator recorded, in Chrome's Trace Event Format: a process for each launch, a
 * thread for each warp, mbarrier that copies arrive at, and warpgroup's tensor cores. Warps have the names of their roles. */
#include "cute/report.h"

#include <string.h>

#include "lib/base/text/json.h"
#include "lib/launch/launch.h"
#include "lib/report/schedule/schedule.h"

enum { FIRST_COPIES = 100, FIRST_TENSOR = 400, MOST_MBARRIERS = 256, WARPGROUP = 4, MBARRIER = 8 };

typedef struct launch_rows {
    const cute_launch *launch;
    json_t *events;
    schedule_kernel schedule; /* without roles: the kernel has none */
    int process;
    int64_t dynamic;                   /* where the kernel's dynamic shared memory begins */
    int64_t mbarriers[MOST_MBARRIERS]; /* with a row */
    int mbarrier_count, copies;
    bool tensor[32];
} launch_rows;

static int64_t number_in(const json_t *object, const char *key)
{
    return json_integer_value(json_object_get(object, key));
}

/* ---- names ---- */

/* "producer", "consumers 1", or "warp 3". */
static const char *role_name(const launch_rows *r, int64_t warp)
{
    int64_t group;
    const schedule_role *role =
        r->schedule.role_count > 1 ? cute_schedule_role_of(&r->schedule, warp, &group) : NULL;
    if (!role) return cute_arena_printf(r->launch->arena, "warp %lld", (long long)warp);
    return role->warps > WARPGROUP
               ? cute_arena_printf(r->launch->arena, "%s %lld", role->name, (long long)group)
               : role->name;
}

static const char *thread_name(const launch_rows *r, int64_t warp)
{
    int64_t group;
    if (r->schedule.role_count < 2 || !cute_schedule_role_of(&r->schedule, warp, &group))
        return role_name(r, warp);
    return cute_arena_printf(r->launch->arena, "%s, warp %lld", role_name(r, warp), (long long)warp);
}

/* The stage of an mbarrier of a pipe; -1: it is of none. */
static int64_t stage_of(const launch_rows *r, int64_t at, bool *empty)
{
    for (size_t n = 0; n < r->schedule.pipe_count; n++) {
        const schedule_pipe *p = &r->schedule.pipes[n];
        int64_t index = at - r->dynamic - p->offset;
        if (index < 0 || index / MBARRIER >= 2 * p->stages) continue;
        *empty = index / MBARRIER >= p->stages;
        return index / MBARRIER % p->stages;
    }
    return -1;
}

static const char *mbarrier_name(const launch_rows *r, int64_t at, bool row)
{
    bool empty;
    int64_t stage = stage_of(r, at, &empty);
    cute_buffer text = {0};
    if (stage < 0)
        cute_buffer_printf(&text, row ? "copies to mbarrier 0x%llx" : "wait at mbarrier 0x%llx",
                           (long long)at);
    else
        cute_buffer_printf(&text, "%s stage %lld",
                           row     ? "copies to"
                           : empty ? "acquire"
                                   : "await",
                           (long long)stage);
    const char *out = cute_arena_copy(r->launch->arena, cute_buffer_text(&text), text.length);
    cute_buffer_release(&text);
    return out;
}

static const char *barrier_name(const launch_rows *r, int64_t number)
{
    for (size_t n = 0; n < r->schedule.role_count; n++)
        if (number && r->schedule.roles[n].barrier == number)
            return cute_arena_printf(r->launch->arena, "barrier of %s", r->schedule.roles[n].name);
    return number ? cute_arena_printf(r->launch->arena, "barrier %lld", (long long)number)
                  : "barrier of the block";
}

/* ---- events ---- */

static void put_event(const launch_rows *r, const char *name, const char *category, int64_t row, double begin,
                      double end, int64_t bytes)
{
    json_array_append_new(r->events,
                          json_pack("{s:o,s:s,s:s,s:i,s:I,s:f,s:f,s:o*}", "name", cute_json_text(name), "cat",
                                    category, "ph", "X", "pid", r->process, "tid", (json_int_t)row, "ts",
                                    begin, "dur", end - begin, "args",
                                    bytes ? json_pack("{s:I}", "bytes", (json_int_t)bytes) : NULL));
}

static void put_name(const launch_rows *r, const char *what, int64_t row, const char *name)
{
    json_array_append_new(r->events,
                          json_pack("{s:s,s:s,s:i,s:I,s:{s:o}}", "name", what, "ph", "M", "pid", r->process,
                                    "tid", (json_int_t)row, "args", "name", cute_json_text(name)));
}

static void put_row(const launch_rows *r, int64_t row, const char *name)
{
    put_name(r, "thread_name", row, name);
    json_array_append_new(r->events, json_pack("{s:s,s:s,s:i,s:I,s:{s:I}}", "name", "thread_sort_index", "ph",
                                               "M", "pid", r->process, "tid", (json_int_t)row, "args",
                                               "sort_index", (json_int_t)row));
}

/* Groups of copies of a warp overlap: a pair of asynchronous events each. */
static void put_overlapping(launch_rows *r, const char *name, int64_t warp, double begin, double end)
{
    int id = ++r->copies;
    for (int n = 0; n < 2; n++)
        json_array_append_new(r->events, json_pack("{s:s,s:s,s:s,s:i,s:I,s:i,s:f}", "name", name, "cat",
                                                   "copy", "ph", n ? "e" : "b", "pid", r->process, "tid",
                                                   (json_int_t)warp, "id", id, "ts", n ? end : begin));
}

static int64_t mbarrier_row(launch_rows *r, int64_t at)
{
    int n = 0;
    while (n < r->mbarrier_count && r->mbarriers[n] != at) n++;
    if (n == MOST_MBARRIERS) return -1;
    if (n == r->mbarrier_count) {
        r->mbarriers[r->mbarrier_count++] = at;
        put_row(r, FIRST_COPIES + n, mbarrier_name(r, at, true));
    }
    return FIRST_COPIES + n;
}

static int64_t tensor_row(launch_rows *r, int64_t warp)
{
    int64_t group = warp / WARPGROUP;
    if (group < 0 || group >= (int64_t)(sizeof r->tensor / sizeof *r->tensor)) return -1;
    if (!r->tensor[group])
        put_row(r, FIRST_TENSOR + group,
                cute_arena_printf(r->launch->arena, "tensor cores, %s", role_name(r, warp)));
    r->tensor[group] = true;
    return FIRST_TENSOR + group;
}

/* By lib/emulator's em_pending_kind. */
static const char *copies_name(int64_t kind)
{
    static const char *const names[] = {"cp.async", "bulk copies", "bulk copies", "wgmma", "mbarrier"};
    return kind >= 0 && kind < (int64_t)(sizeof names / sizeof *names) ? names[kind] : "copies";
}

static void put_span(launch_rows *r, const json_t *span)
{
    const char *kind = json_string_value(json_object_get(span, "kind"));
    int64_t warp = number_in(span, "warp"), at = number_in(span, "at"), row = warp;
    double begin = json_number_value(json_object_get(span, "begin")),
           end = json_number_value(json_object_get(span, "end"));
    static const struct {
        const char *kind, *name, *category; /* name NULL: made below */
    } kinds[] = {{"warp", NULL, "warp"},          {"mbarrier", NULL, "wait"},
                 {"barrier", NULL, "wait"},       {"cluster", "barrier of the cluster", "wait"},
                 {"group", NULL, "wait"},         {"mma", "mma", "product"},
                 {"store", "store", "store"},     {"copy", "fetch", "copy"},
                 {"wgmma", "product", "product"}, {"copies", NULL, "copy"}};
    size_t n = 0, count = sizeof kinds / sizeof *kinds;
    while (kind && n < count && strcmp(kinds[n].kind, kind)) n++;
    if (!kind || n == count) return;
    const char *name = kinds[n].name;
    if (!strcmp(kind, "copies")) {
        put_overlapping(r, copies_name(at), warp, begin, end);
        return;
    }
    if (!strcmp(kind, "warp")) name = role_name(r, warp);
    if (!strcmp(kind, "mbarrier")) name = mbarrier_name(r, at, false);
    if (!strcmp(kind, "barrier")) name = barrier_name(r, at);
    if (!strcmp(kind, "group")) name = cute_arena_printf(r->launch->arena, "wait for %s", copies_name(at));
    if (!strcmp(kind, "copy")) row = mbarrier_row(r, at);
    if (!strcmp(kind, "wgmma")) row = tensor_row(r, warp);
    if (name && row >= 0) put_event(r, name, kinds[n].category, row, begin, end, number_in(span, "bytes"));
}

static const cute_kernel *find_kernel(const cute_launch *l, const char *name)
{
    for (size_t n = 0; name && n < l->plan.main.count; n++)
        if (!strcmp(l->plan.main.launches[n].kernel->name, name)) return l->plan.main.launches[n].kernel;
    return NULL;
}

static void put_launch(const cute_launch *l, json_t *events, const json_t *recorded, int process)
{
    launch_rows r = {.launch = l, .events = events, .process = process};
    const char *name = json_string_value(json_object_get(recorded, "kernel"));
    const cute_kernel *kernel = find_kernel(l, name);
    const json_t *spans = json_object_get(recorded, "spans");
    size_t index;
    json_t *span;
    r.dynamic = number_in(recorded, "dynamic_shared");
    /* A schedule that cannot be read leaves warps their numbers. */
    if (kernel && cute_schedule_read_kernel(l->arena, name, NULL, kernel, &r.schedule, NULL) != CUTE_OK)
        r.schedule = (schedule_kernel){0};
    put_name(&r, "process_name", 0,
             cute_arena_printf(l->arena, "%s: block %lld", name ? name : "kernel",
                               (long long)number_in(recorded, "block")));
    for (int64_t warp = 0; warp < number_in(recorded, "warps"); warp++)
        put_row(&r, warp, thread_name(&r, warp));
    json_array_foreach((json_t *)(uintptr_t)spans, index, span) put_span(&r, span);
}

char *cute_launch_timeline(const cute_launch *l)
{
    json_t *events = json_array(), *recorded = l->run.timeline ? json_loads(l->run.timeline, 0, NULL) : NULL,
           *item;
    int64_t dropped = 0;
    size_t index;
    json_array_foreach(recorded, index, item)
    {
        put_launch(l, events, item, (int)index + 1);
        dropped += number_in(item, "dropped");
    }
    json_decref(recorded);
    cute_buffer unused = {0};
    return cute_json_finish(
        json_pack(
            "{s:o,s:s,s:{s:s,s:s,s:I}}", "traceEvents", events, "displayTimeUnit", "ns", "otherData", "time",
            "modelled cycles of the emulator: 1 us of the trace is 1 cycle", "model",
            "an instruction of a warp takes a cycle, waits end with the event that they wait for; not a "
            "measurement",
            "dropped_spans", (json_int_t)dropped),
        true, &unused);
}
