/* The steps of a launch as text and as JSON, for the report and the timeline. */
#include "lib/report/launch/steps.h"

#include "lib/base/text/demangle.h"

static const char *memory_name(const cute_launch *l, size_t index)
{
    const cute_config *config = &l->config;
    return index < config->buffer_count ? config->buffers[index].tensor.name
                                        : l->plan.temporaries[index - config->buffer_count].name;
}

const char *cute_launch_step_text(const cute_launch *l, size_t index)
{
    const plan_step *step = &l->plan.main.steps[index];
    const host_step *s = step->step;
    switch (s->kind) {
    case HOST_LAUNCH:
        return cute_arena_printf(l->arena, "launch %s",
                                 cute_symbol_name(l->arena, l->plan.main.launches[s->launch].kernel->name));
    case HOST_COPY:
        if (s->box)
            return cute_arena_printf(l->arena, "copy %s to %s in parts of %lld byte%s",
                                     memory_name(l, step->from), memory_name(l, step->to),
                                     (long long)s->box->size, s->box->size == 1 ? "" : "s");
        return cute_arena_printf(l->arena, "copy %s to %s", memory_name(l, step->from),
                                 memory_name(l, step->to));
    case HOST_FILL: return cute_arena_printf(l->arena, "fill %s", memory_name(l, step->to));
    case HOST_COLLECTIVE:
        return cute_arena_printf(l->arena, "%s%s%s%s%s", comm_kind_name((comm_kind)s->call),
                                 s->from_size ? " of " : "", s->from_size ? memory_name(l, step->from) : "",
                                 s->bytes ? " to " : "", s->bytes ? memory_name(l, step->to) : "");
    case HOST_RECORD: return cute_arena_printf(l->arena, "record event %d", s->event);
    case HOST_WAIT: return cute_arena_printf(l->arena, "wait for event %d", s->event);
    }
    return NULL;
}

json_t *cute_launch_steps_json(const cute_launch *l)
{
    static const char *const kinds[] = {"launch", "copy", "fill", "record", "wait", "collective"};
    const plan_sequence *sequence = &l->plan.main;
    if (sequence->streams <= 1 && sequence->step_count == sequence->count) return NULL;
    json_t *list = json_array();
    for (size_t i = 0; i < sequence->step_count; i++) {
        const plan_step *step = &sequence->steps[i];
        const host_step *s = step->step;
        const char *text = cute_launch_step_text(l, i);
        json_t *value =
            json_pack("{s:s,s:o}", "step", kinds[s->kind], "text", cute_json_text(text ? text : ""));
        if (step->config->stream) json_object_set_new(value, "stream", cute_json_text(step->config->stream));
        if (s->kind == HOST_LAUNCH) json_object_set_new(value, "launch", json_integer((json_int_t)s->launch));
        if (s->kind == HOST_RECORD || s->kind == HOST_WAIT)
            json_object_set_new(value, "event", json_integer(s->event));
        if (s->kind == HOST_COLLECTIVE && (s->from_size || s->bytes))
            json_object_set_new(value, "bytes", json_integer(s->from_size ? s->from_size : s->bytes));
        if (s->kind == HOST_COPY || s->kind == HOST_FILL)
            json_object_set_new(value, "bytes", json_integer(s->bytes));
        json_array_append_new(list, value);
    }
    return list;
}

void cute_launch_steps_print(const json_t *steps, cute_buffer *out)
{
    size_t index;
    json_t *step;
    json_array_foreach(steps, index, step)
    {
        const char *stream = json_string_value(json_object_get(step, "stream"));
        cute_buffer_printf(out, "step %zu: %s", index, json_string_value(json_object_get(step, "text")));
        if (json_object_get(step, "bytes"))
            cute_buffer_printf(out, ", %lld bytes",
                               (long long)json_integer_value(json_object_get(step, "bytes")));
        if (stream) cute_buffer_printf(out, ", on stream %s", stream);
        cute_buffer_putc(out, '\n');
    }
}
