/* Finds steps of different streams that access the same memory with no event between them. The emulator runs steps in the order
 * of launch.json, and so does a GPU that has room for one kernel only: results alone do not show a missing event. */
#include <string.h>

#include "lib/base/list.h"
#include "lib/launch/plan/plan.h"

/* An access begins at a known byte. The extent of an access by a kernel is unknown: it conflicts with those that begin at the
 * same byte, and with a copy or fill of that byte. */
typedef struct memory_access {
    size_t memory, step;
    int64_t at, bytes; /* bytes 0: unknown */
    bool write;
    int64_t time; /* of the step on its stream */
} memory_access;

typedef struct order_check {
    const cute_plan *plan;
    const plan_sequence *sequence;
    int64_t *clocks,
        *event_clocks; /* [stream][stream]: the last step of the second that precedes later steps of the first */
    memory_access *list;
    size_t count, capacity;
    size_t warnings;
    cute_diag *diag;
} order_check;

enum { MAX_ACCESSES = 4096, MAX_WARNINGS = 8 };

static bool conflict(const memory_access *a, const memory_access *b)
{
    if (a->memory != b->memory || (!a->write && !b->write)) return false;
    if (a->at == b->at) return true;
    return (b->at > a->at && b->at - a->at < a->bytes) || (a->at > b->at && a->at - b->at < b->bytes);
}

static const char *step_name(const order_check *c, const plan_step *step)
{
    static const char *const names[] = {"launch", "copy", "fill", "record", "wait"};
    cute_arena *arena = c->plan->config->arena;
    const char *stream = step->config->stream;
    if (step->step->kind == HOST_LAUNCH)
        return cute_arena_printf(arena, "kernel '%s' on %s%s",
                                 c->sequence->launches[step->step->launch].kernel->name,
                                 stream ? "stream " : "the default stream", stream ? stream : "");
    return cute_arena_printf(arena, "the %s on %s%s", names[step->step->kind],
                             stream ? "stream " : "the default stream", stream ? stream : "");
}

static void warn_conflict(order_check *c, const memory_access *earlier, const memory_access *later)
{
    const cute_config *config = c->plan->config;
    const plan_step *a = &c->sequence->steps[earlier->step], *b = &c->sequence->steps[later->step];
    const char *name = later->memory < config->buffer_count
                           ? config->buffers[later->memory].tensor.name
                           : c->plan->temporaries[later->memory - config->buffer_count].name,
               *first = step_name(c, a), *second = step_name(c, b);
    if (c->warnings++ >= MAX_WARNINGS || !first || !second) return;
    cute_document_report(&config->document, b->config->path, false, CUTE_WARNING, c->diag,
                         "%s %s '%s' and %s %s it, and no event orders them", second,
                         later->write ? "writes" : "reads", name, first, earlier->write ? "writes" : "reads");
    cute_place place = cute_document_place(&config->document, a->config->path, false);
    cute_note(c->diag, place.text ? &place : NULL,
              "fix: record an event after the earlier step, and wait for it before the later one");
}

static bool add_access(order_check *c, memory_access access)
{
    const plan_step *step = &c->sequence->steps[access.step];
    int stream = step->step->stream, streams = c->sequence->streams;
    for (size_t i = c->count; i-- > 0;) {
        const memory_access *other = &c->list[i];
        int theirs = c->sequence->steps[other->step].step->stream;
        if (theirs == stream || !conflict(other, &access)) continue;
        if (c->clocks[stream * streams + theirs] >= other->time) continue;
        warn_conflict(c, other, &access);
        break;
    }
    if (c->count == MAX_ACCESSES)
        memmove(c->list, c->list + MAX_ACCESSES / 2, (c->count /= 2) * sizeof *c->list);
    if (!cute_arena_more(c->plan->config->arena, &c->list, c->count, &c->capacity, sizeof *c->list, 64))
        return false;
    c->list[c->count++] = access;
    return true;
}

/* A memref descriptor is the allocation's address, the aligned one and an offset in elements. */
static int64_t descriptor_offset(const plan_launch *launch, const cute_arg *arg)
{
    cute_dtype dtype;
    int64_t elements = 0;
    size_t offset = arg->first + 2;
    if (offset >= launch->param_count || launch->param_sizes[offset] != 8 || !arg->dtype ||
        !cute_dtype_find(arg->dtype, &dtype))
        return 0;
    memcpy(&elements, launch->params[offset], sizeof elements);
    return elements * cute_dtype_get(dtype)->bytes;
}

/* Whether a kernel writes the memory. If the module does not say, the first access to memory without initial contents does. */
static bool kernel_writes(const order_check *c, const cute_arg *arg, size_t memory, size_t step)
{
    const cute_config *config = c->plan->config;
    if (arg && (arg->writes || arg->reads)) return arg->writes;
    if (memory < config->buffer_count && config->buffers[memory].init != INIT_NONE) return false;
    for (size_t i = 0; i < c->count; i++)
        if (c->list[i].memory == memory && c->list[i].write) return c->list[i].step == step;
    return true;
}

static bool add_launch(order_check *c, size_t step, const plan_launch *launch, int64_t time)
{
    for (size_t i = 0; i < launch->fixup_count; i++) {
        const plan_fixup *f = &launch->fixups[i];
        const cute_arg *arg = cute_kernel_arg_of(launch->kernel, f->param);
        bool map = f->kind == FIXUP_MAP || f->kind == FIXUP_MAP_ADDRESS,
             descriptor = arg && arg->kind == CUTE_ARG_MEMREF && arg->count > 2;
        if (descriptor && f->param == arg->first) continue;
        memory_access access = {.memory = map ? c->plan->maps[f->index].buffer : f->index,
                                .step = step,
                                .at = map ? c->plan->maps[f->index].bytes : f->bytes,
                                .time = time};
        if (f->kind == FIXUP_TEXTURE) {
            const plan_texture *t = &c->plan->textures[f->index];
            access = (memory_access){t->buffer,          step,
                                     t->bytes,           (int64_t)(t->texture.slice * t->texture.depth),
                                     t->texture.surface, time};
            if (!add_access(c, access)) return false;
            continue;
        }
        if (descriptor) access.at += descriptor_offset(launch, arg);
        access.write = kernel_writes(c, arg, access.memory, step);
        if (!add_access(c, access)) return false;
    }
    return true;
}

static bool add_step(order_check *c, size_t index)
{
    const plan_step *step = &c->sequence->steps[index];
    const host_step *s = step->step;
    int streams = c->sequence->streams;
    int64_t *clock = &c->clocks[s->stream * streams], time = ++clock[s->stream];
    if (s->kind == HOST_LAUNCH) return add_launch(c, index, &c->sequence->launches[s->launch], time);
    if (s->kind == HOST_RECORD)
        memcpy(&c->event_clocks[s->event * streams], clock, (size_t)streams * sizeof *clock);
    for (int i = 0; s->kind == HOST_WAIT && i < streams; i++)
        if (c->event_clocks[s->event * streams + i] > clock[i])
            clock[i] = c->event_clocks[s->event * streams + i];
    if (s->kind == HOST_COLLECTIVE) {
        memory_access read = {step->from, index, step->from_bytes, s->from_size, false, time},
                      written = {step->to, index, step->to_bytes, s->bytes, true, time};
        return (!s->from_size || add_access(c, read)) && (!s->bytes || add_access(c, written));
    }
    if (s->kind != HOST_COPY && s->kind != HOST_FILL) return true;
    memory_access to = {step->to, index, step->to_bytes, cute_plan_step_span(s, true), true, time},
                  from = {step->from, index, step->from_bytes, cute_plan_step_span(s, false), false, time};
    return (s->kind == HOST_FILL || add_access(c, from)) && add_access(c, to);
}

void cute_plan_check_streams(const cute_plan *plan, const plan_sequence *sequence, cute_diag *diag)
{
    size_t streams = (size_t)sequence->streams;
    order_check c = {.plan = plan, .sequence = sequence, .diag = diag};
    if (streams <= 1) return;
    c.clocks = cute_arena_array(plan->config->arena, streams * streams, sizeof *c.clocks);
    c.event_clocks =
        cute_arena_array(plan->config->arena, ((size_t)sequence->events + 1) * streams, sizeof *c.clocks);
    for (size_t i = 0; c.clocks && c.event_clocks && i < sequence->step_count; i++)
        if (!add_step(&c, i)) return;
}
