/* Tunes a kernel: lists its candidates, compiles the likeliest, and runs them or, on the emulator, takes the likeliest. */
#include <stdlib.h>
#include <string.h>

#include "lib/base/system/file.h"
#include "lib/tune/tune.h"

/* Why nothing could be run: each cause once, with its first reason. CUTE_MISMATCH: results were wrong. */
static cute_status fail_all(tune_search *s)
{
    cute_status status = CUTE_INVALID;
    for (size_t i = 0; i < s->count; i++)
        if (s->candidates[i].state == TUNE_WRONG) status = CUTE_MISMATCH;
    cute_fail(s->diag, status, NULL,
              "expected a candidate with right results, but all %zu that were compiled %s", s->compiled,
              status == CUTE_INVALID ? "were refused or failed" : "were refused, failed or had wrong ones");
    for (size_t i = 0; i < s->count; i++) {
        const tune_candidate *c = &s->candidates[i];
        bool told = !c->cause;
        for (size_t k = 0; k < i && !told; k++)
            told = s->candidates[k].cause && !strcmp(s->candidates[k].cause, c->cause);
        if (!told) cute_note(s->diag, NULL, "%s: %s: %s", c->cause, tune_defines_text(s->arena, c), c->why);
    }
    return status;
}

/* The launch as it is run in the end, with baselines and outputs: an error there is found before the candidates are measured. */
static cute_status try_whole_launch(const tune_search *s)
{
    const tune_subject *subject = &s->request->subject;
    const tune_candidate *c = s->candidates;
    while (c < s->candidates + s->count && c->state != TUNE_BUILT) c++;
    if (c == s->candidates + s->count) return CUTE_OK;
    cute_module *module = NULL;
    cute_launch *l = NULL;
    CUTE_TRY(cute_module_open(cute_file_label(subject->path), c->image.data, c->image.length, NULL, &module,
                              s->diag));
    cute_status status = tune_open(s, c, module, subject->config, subject->options->bench, &l, s->diag);
    cute_launch_close(l);
    cute_module_close(module);
    return status;
}

/* On the emulator: the likeliest that is built. */
static void take_likeliest(tune_search *s)
{
    for (size_t i = 0; i < s->count && !s->best; i++)
        if (s->candidates[i].state == TUNE_BUILT) s->best = &s->candidates[i];
}

cute_status tune_run(cute_arena *arena, const tune_request *request, tune_search *out, cute_diag *diag)
{
    *out = (tune_search){.arena = arena, .request = request, .diag = diag};
    if (request->subject.config && !(out->config = tune_subject_config(&request->subject))) {
        json_t *document = NULL;
        CUTE_TRY(cute_json_parse(request->subject.label, request->subject.config,
                                 request->subject.config_length, &document, diag));
        json_decref(document);
        return cute_fail(diag, CUTE_INVALID, NULL, "%s: expected a JSON object", request->subject.label);
    }
    CUTE_TRY(tune_explore(out));
    CUTE_TRY(tune_build(out));
    CUTE_TRY(try_whole_launch(out));
    if (request->emulated)
        take_likeliest(out);
    else
        CUTE_TRY(tune_measure(out));
    return out->best ? CUTE_OK : fail_all(out);
}

void tune_release(tune_search *s)
{
    for (size_t i = 0; i < s->count; i++) cute_buffer_release(&s->candidates[i].image);
    free(s->config);
    s->config = NULL;
}
