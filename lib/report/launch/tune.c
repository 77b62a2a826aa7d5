/* See tune.h: one JSON value, from which the text is made. */
#include "lib/report/launch/tune.h"

#include <string.h>

#include "lib/report/table.h"

static const char *const states[] = {
    [TUNE_LISTED] = "listed", [TUNE_REFUSED] = "refused", [TUNE_BUILT] = "compiled",
    [TUNE_WRONG] = "wrong",   [TUNE_FAILED] = "failed",   [TUNE_MEASURED] = "measured"};

static json_t *defines_json(const tune_candidate *c)
{
    json_t *list = json_array();
    for (size_t i = 0; i < c->define_count; i++) json_array_append_new(list, cute_json_text(c->defines[i]));
    return list;
}

static json_t *candidate_json(const tune_candidate *c)
{
    return json_pack("{s:o,s:o*,s:s,s:o*,s:o*,s:o*,s:o*,s:o*}", "defines", defines_json(c), "schedule",
                     cute_json_text(c->schedule), "state", states[c->state], "seconds",
                     c->seconds > 0 ? json_real(c->seconds) : NULL, "estimate_s",
                     c->estimate > 0 ? json_real(c->estimate) : NULL, "bound", cute_json_text(c->bound),
                     "cause", cute_json_text(c->cause), "why", cute_json_text(c->why));
}

json_t *cute_tune_json(const tune_search *s, bool remembered)
{
    json_t *list = json_array(), *refused = json_object(), *best = json_null();
    int64_t measured = 0;
    for (size_t i = 0; i < s->compiled; i++) {
        const tune_candidate *c = &s->candidates[i];
        if (c == s->best) best = json_integer((json_int_t)json_array_size(list));
        json_array_append_new(list, candidate_json(c));
        measured += c->state == TUNE_MEASURED;
        if (c->state == TUNE_REFUSED)
            json_object_set_new(refused, c->cause,
                                json_integer(json_integer_value(json_object_get(refused, c->cause)) + 1));
    }
    bool model = s->request->emulated && s->best && s->best->estimate > 0;
    return json_pack("{s:o,s:s,s:s,s:o*,s:I,s:I,s:I,s:I,s:o,s:o,s:o,s:b}", "device",
                     cute_json_text(s->request->subject.device->name), "arch",
                     s->request->subject.arch ? s->request->subject.arch : "", "ranked_by",
                     !s->request->emulated ? "measurement"
                     : model               ? "model"
                                           : "order",
                     "sizes", *s->sizes ? cute_json_text(s->sizes) : NULL, "combinations",
                     (json_int_t)s->combinations, "drawn", (json_int_t)s->drawn, "listed",
                     (json_int_t)s->count, "measured", (json_int_t)measured, "refused", refused, "candidates",
                     list, "best", best, "remembered", remembered);
}

json_t *cute_tuned_json(const tune_candidate *c, const tune_best *best)
{
    return json_pack("{s:o,s:o*,s:o*,s:s}", "defines", defines_json(c), "schedule",
                     cute_json_text(c->schedule), "seconds",
                     best->seconds > 0 ? json_real(best->seconds) : NULL, "ranked_by",
                     best->emulated ? "model" : "measurement");
}

/* ---- text ---- */

static const char *text_in(const json_t *value, const char *key)
{
    const char *text = json_string_value(json_object_get(value, key));
    return text ? text : "";
}

static const char *time_text(cute_arena *arena, const json_t *value, const char *key)
{
    double seconds = json_real_value(json_object_get(value, key));
    return seconds > 0 ? cute_arena_printf(arena, "%.1f us", seconds * 1e6) : "-";
}

/* As typed: "-D BM=128 --schedule='stages=4'". */
static const char *command_text(cute_arena *arena, const json_t *c)
{
    const char *text = "", *schedule = text_in(c, "schedule");
    size_t i;
    json_t *define;
    json_array_foreach(json_object_get(c, "defines"), i, define) if (text) text =
        cute_arena_printf(arena, "%s%s-D %s", text, i ? " " : "", json_string_value(define));
    if (text && *schedule)
        text = cute_arena_printf(arena, "%s%s--schedule=\"%s\"", text, *text ? " " : "", schedule);
    return !text ? "" : *text ? text : "the defaults";
}

static void text_candidates(cute_arena *arena, const json_t *value, bool all, cute_buffer *out)
{
    cute_table table = {.arena = arena, .columns = 4};
    const json_t *best = json_object_get(value, "best");
    size_t i;
    json_t *c;
    cute_table_row(&table, (const char *[]){"", "time", "estimate", "candidate"});
    json_array_foreach(json_object_get(value, "candidates"), i, c)
    {
        const char *state = text_in(c, "state"), *command = command_text(arena, c);
        bool ran = strcmp(state, "refused") && strcmp(state, "compiled");
        bool chosen = json_is_integer(best) && (json_int_t)i == json_integer_value(best);
        if (!ran && !all && !chosen) continue;
        if (*text_in(c, "why"))
            command = cute_arena_printf(arena, "%s: %s: %s", command, text_in(c, "cause"), text_in(c, "why"));
        cute_table_row(&table, (const char *[]){chosen                      ? "best"
                                                : strcmp(state, "measured") ? state
                                                                            : "",
                                                time_text(arena, c, "seconds"),
                                                time_text(arena, c, "estimate_s"), command ? command : ""});
    }
    cute_table_print(&table, 1 | 1 << 3, "  ", out);
}

static void text_refused(const json_t *value, bool all, cute_buffer *out)
{
    const char *cause;
    json_t *count;
    bool first = true;
    json_object_foreach(json_object_get(value, "refused"), cause, count)
    {
        cute_buffer_printf(out, "%s%lld %s", first ? "  refused before a run: " : ", ",
                           (long long)json_integer_value(count), cause);
        first = false;
    }
    if (!first) cute_buffer_printf(out, "%s\n", all ? "" : " (--verbose lists them)");
}

static const char *ranking_text(const json_t *value)
{
    const char *by = text_in(value, "ranked_by");
    return !strcmp(by, "measurement") ? "measured"
           : !strcmp(by, "model")     ? "ranked by the cost model, not measured"
                                      : "not measured, and without an estimate: the first that compiles";
}

void cute_tune_text(const json_t *value, bool all, cute_buffer *out)
{
    cute_arena *arena = cute_arena_create();
    const json_t *best = json_array_get(json_object_get(value, "candidates"),
                                        (size_t)json_integer_value(json_object_get(value, "best")));
    json_int_t combinations = json_integer_value(json_object_get(value, "combinations")),
               drawn = json_integer_value(json_object_get(value, "drawn"));
    if (!arena) return;
    cute_buffer_printf(out, "tune on %s%s%s: ", text_in(value, "device"),
                       *text_in(value, "sizes") ? ", " : "", text_in(value, "sizes"));
    if (drawn < combinations) cute_buffer_printf(out, "%lld of ", (long long)drawn);
    cute_buffer_printf(out, "%lld combination%s of parameters, %lld candidates, %zu compiled; %s\n",
                       (long long)combinations, combinations == 1 ? "" : "s",
                       (long long)json_integer_value(json_object_get(value, "listed")),
                       json_array_size(json_object_get(value, "candidates")), ranking_text(value));
    text_candidates(arena, value, all, out);
    text_refused(value, all, out);
    cute_buffer_printf(out, "  best: %s%s\n", command_text(arena, best),
                       json_is_true(json_object_get(value, "remembered"))
                           ? ", remembered for this device and these sizes"
                           : "");
    cute_arena_destroy(arena);
}
