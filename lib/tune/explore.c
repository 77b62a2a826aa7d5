/* The candidates of a kernel: its parameters, as cute-opt prints them, and for each combination the schedules that
 * cute-tile-schedule lists, with the cost model's estimate. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/list.h"
#include "lib/tune/tune.h"

enum { SCHEDULES = 4 /* of a combination, where there are enough combinations */ };

static bool is_given(const tune_search *s, const char *name)
{
    const cute_option_list *d = s->request->subject.defines;
    size_t length = strlen(name);
    for (size_t i = 0; d && i < d->count; i++)
        if (!strncmp(d->items[i], name, length) && (!d->items[i][length] || d->items[i][length] == '='))
            return true;
    return false;
}

/* cute-opt with the subject's -I; its output in *out, its messages in `diag`. */
static cute_status run_opt(tune_search *s, const char *const *words, cute_buffer *out, cute_diag *diag)
{
    const tune_subject *subject = &s->request->subject;
    bool standard = !strcmp(subject->path, "-");
    cute_pipe pipe = {.format = CUTE_DIAG_SARIF};
    cute_words all = {.arena = s->arena};
    cute_buffer said = {0};
    cute_words_add(&all, cute_pipe_program(s->arena, "cute-opt"));
    cute_words_add(&all, "--diagnostics=json");
    for (size_t i = 0; subject->folders && i < subject->folders->count; i++) {
        cute_words_add(&all, "-I");
        cute_words_add(&all, subject->folders->items[i]);
    }
    for (size_t i = 0; words[i]; i++) cute_words_add(&all, words[i]);
    cute_words_add(&all, subject->path);
    cute_status status = cute_pipe_program_run(&pipe, "cute-opt", &all, standard ? subject->text : NULL,
                                               standard ? subject->length : 0, out, &said, diag);
    cute_buffer_release(&said);
    return status;
}

/* ---- parameters ---- */

static cute_status read_param(tune_search *s, const json_t *value, tune_param *out)
{
    const json_t *list = json_object_get(value, "candidates");
    const char *name = json_string_value(json_object_get(value, "name")),
               *text = json_string_value(json_object_get(value, "value"));
    out->count = json_array_size(list);
    out->candidates = cute_arena_array(s->arena, out->count + 1, sizeof *out->candidates);
    if (!name || !text || !out->candidates) return cute_fail_memory(s->diag);
    out->name = cute_arena_copy(s->arena, name, strlen(name));
    out->value = cute_arena_copy(s->arena, text, strlen(text));
    if (!out->name || !out->value) return cute_fail_memory(s->diag);
    for (size_t i = 0; i < out->count; i++) {
        const char *candidate = json_string_value(json_array_get(list, i));
        out->candidates[i] = candidate ? cute_arena_copy(s->arena, candidate, strlen(candidate)) : NULL;
        if (!out->candidates[i]) return cute_fail_memory(s->diag);
    }
    return CUTE_OK;
}

/* Those with candidates that -D does not set. */
static cute_status read_params(tune_search *s)
{
    cute_buffer out = {0};
    json_t *list = NULL, *value;
    size_t i;
    const cute_option_list *given = s->request->subject.defines;
    cute_words words = {.arena = s->arena};
    cute_words_add(&words, "--print-params");
    for (size_t d = 0; given && d < given->count; d++) {
        cute_words_add(&words, "-D");
        cute_words_add(&words, given->items[d]);
    }
    cute_status status = words.failed ? cute_fail_memory(s->diag) : run_opt(s, words.items, &out, s->diag);
    if (status == CUTE_OK)
        status = cute_json_parse("<parameters>", cute_buffer_text(&out), out.length, &list, s->diag);
    s->params = cute_arena_array(s->arena, json_array_size(list) + 1, sizeof *s->params);
    if (status == CUTE_OK && !s->params) status = cute_fail_memory(s->diag);
    json_array_foreach(list, i, value)
    {
        tune_param param = {0};
        if (status == CUTE_OK) status = read_param(s, value, &param);
        if (status == CUTE_OK && param.count && !is_given(s, param.name)) s->params[s->param_count++] = param;
    }
    json_decref(list);
    cute_buffer_release(&out);
    return status;
}

/* ---- schedules ---- */

/* A schedule that cute-tile-schedule lists for the kernel at a line. */
typedef struct listed {
    int line, column;
    const char *schedule, *bound;
    double seconds;
} listed;

/* "likely: stages=4 consumers=2; 9.6 us, bound by multiplications [cute-tile-schedule]", or "...; no estimate". */
static bool read_listed(tune_search *s, const cute_message *m, listed *out)
{
    static const char word[] = "likely: ", unit[] = " us, bound by ";
    if (m->severity != CUTE_REMARK || strncmp(m->text, word, sizeof word - 1) != 0) return false;
    const char *from = m->text + sizeof word - 1, *semicolon = strchr(from, ';');
    char *end;
    if (!semicolon) return false;
    *out = (listed){.line = m->place.line, .column = m->place.column};
    out->schedule = cute_arena_copy(s->arena, from, (size_t)(semicolon - from));
    double us = strtod(semicolon + 1, &end);
    if (!strncmp(end, unit, sizeof unit - 1)) {
        const char *bound = end + sizeof unit - 1;
        size_t length = strcspn(bound, "[");
        while (length && bound[length - 1] == ' ') length--;
        out->seconds = us * 1e-6;
        out->bound = cute_arena_copy(s->arena, bound, length);
    }
    return out->schedule != NULL;
}

static cute_status add_candidate(tune_search *s, const char *const *defines, const listed *schedule,
                                 size_t place)
{
    if (!cute_arena_more(s->arena, &s->candidates, s->count, &s->capacity, sizeof *s->candidates, 64))
        return cute_fail_memory(s->diag);
    s->candidates[s->count] = (tune_candidate){.defines = defines,
                                               .define_count = s->param_count,
                                               .distance = tune_distance(s->params, s->param_count, defines),
                                               .place = place,
                                               .order = s->count};
    if (schedule) {
        s->candidates[s->count].schedule = schedule->schedule;
        s->candidates[s->count].estimate = schedule->seconds;
        s->candidates[s->count].bound = schedule->bound;
    }
    s->count++;
    return CUTE_OK;
}

/* Of a module with several tile programs, the schedules of the one with the longest estimate, the others' time left out: the
 * text applies to all. */
static cute_status add_schedules(tune_search *s, const char *const *defines, const cute_diag *said)
{
    listed row, longest = {0};
    size_t place = 0;
    for (size_t i = 0; i < cute_diag_count(said); i++)
        if (read_listed(s, cute_diag_get(said, i), &row) &&
            (!longest.line || row.seconds > longest.seconds) &&
            (row.line != longest.line || row.column != longest.column))
            longest = row;
    for (size_t i = 0; longest.line && i < cute_diag_count(said); i++)
        if (read_listed(s, cute_diag_get(said, i), &row) && row.line == longest.line &&
            row.column == longest.column)
            CUTE_TRY(add_candidate(s, defines, &row, place++));
    return place ? CUTE_OK : add_candidate(s, defines, NULL, 0);
}

static const char *pipeline_of(const tune_search *s, size_t most)
{
    const tune_subject *subject = &s->request->subject;
    char *stated = cute_arena_printf(s->arena, "%s", subject->schedule ? subject->schedule : "");
    for (char *at = stated; at && *at; at++)
        if (*at == ' ') *at = ','; /* an option's text has no spaces */
    if (!stated) return NULL;
    return cute_arena_printf(
        s->arena,
        "--pass-pipeline=builtin.module(cute-tile-expand,cute-tile-schedule{arch=%s list=%zu"
        "%s%s%s%s})",
        subject->arch ? subject->arch : "sm_90a", most, *s->sizes ? " sizes=" : "", s->sizes,
        *stated ? " schedule=" : "", stated);
}

/* Adds the candidates of one combination. */
static cute_status explore_combination(tune_search *s, const char *const *defines, size_t most)
{
    const tune_subject *subject = &s->request->subject;
    cute_words words = {.arena = s->arena};
    cute_option_list used = {0};
    cute_buffer out = {0};
    cute_diag *said = cute_diag_create();
    if (!said) return cute_fail_memory(s->diag);
    cute_status status = subject->defines ? cute_pipe_defines(s->arena, subject->defines, subject->text,
                                                              subject->length, &used, s->diag)
                                          : CUTE_OK;
    for (size_t i = 0; i < used.count + s->param_count; i++) {
        cute_words_add(&words, "-D");
        cute_words_add(&words, i < used.count ? used.items[i] : defines[i - used.count]);
    }
    cute_words_add(&words, "--remarks=cute-tile-schedule");
    cute_words_add(&words, pipeline_of(s, most));
    cute_words_add(&words, "-o");
    cute_words_add(&words, "/dev/null");
    if (status == CUTE_OK && words.failed) status = cute_fail_memory(s->diag);
    if (status == CUTE_OK && run_opt(s, words.items, &out, said) == CUTE_OK) {
        status = add_schedules(s, defines, said);
    } else if (status == CUTE_OK) {
        status = add_candidate(s, defines, NULL, 0);
        if (status == CUTE_OK)
            tune_mark(s, &s->candidates[s->count - 1], TUNE_REFUSED, "compiler", said,
                      "cute-opt does not accept the combination");
    }
    cute_buffer_release(&out);
    cute_diag_destroy(said);
    return status;
}

cute_status tune_explore(tune_search *s)
{
    const char **defines;
    s->sizes = tune_subject_sizes(s->arena, &s->request->subject);
    CUTE_TRY(read_params(s));
    CUTE_TRY(tune_combinations(s->arena, s->params, s->param_count, TUNE_COMBINATIONS, s->request->seed,
                               &defines, &s->drawn, &s->combinations, s->diag));
    size_t most = (2 * s->request->runs + s->drawn - 1) / s->drawn;
    if (most < SCHEDULES) most = SCHEDULES;
    for (size_t i = 0; i < s->drawn; i++)
        CUTE_TRY(explore_combination(s, defines + i * s->param_count, most));
    tune_rank(s->candidates, s->count);
    return CUTE_OK;
}
