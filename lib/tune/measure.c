/* Runs candidates: first the checks of each, then the bench in turns, a round of all before the next, so that a change of the
 * device's clock affects all alike. */
#include <math.h>
#include <string.h>

#include "lib/base/system/file.h"
#include "lib/launch/launch.h"
#include "lib/tune/tune.h"

enum { ROUNDS = 3 };
/* After a round, candidates that took longer than the fastest by these factors are not timed again. */
static const double kept[ROUNDS] = {1.25, 1.05, 0};

cute_status tune_open(const tune_search *s, const tune_candidate *c, const cute_module *module,
                      const char *config, cute_bench_mode bench, cute_launch **out, cute_diag *diag)
{
    const tune_subject *subject = &s->request->subject;
    cute_launch_options options = *subject->options;
    size_t count = options.define_count;
    const char **defines = cute_arena_array(s->arena, count + c->define_count + 1, sizeof *defines);
    if (!defines) return cute_fail_memory(diag);
    if (count) memcpy(defines, options.defines, count * sizeof *defines);
    for (size_t i = 0; i < c->define_count; i++) defines[count + i] = c->defines[i];
    options.defines = defines;
    options.define_count = count + c->define_count;
    /* Known already: a query takes a process with a driver of its own. */
    options.multiprocessors = subject->device->multiprocessors;
    options.bench = bench;
    options.no_check = options.no_check || bench == CUTE_BENCH_ALWAYS;
    options.stdout_is_data = true;
    options.trace = false;
    size_t length = config == subject->config ? subject->config_length : config ? strlen(config) : 0;
    return cute_launch_open(subject->label, config, length, subject->folder, module, &options, out, diag);
}

/* Runs a candidate; with CUTE_BENCH_ALWAYS *seconds is the median of the samples. */
static cute_status run_candidate(tune_search *s, const tune_candidate *c, cute_bench_mode bench,
                                 double *seconds, cute_diag *why)
{
    cute_module *module = NULL;
    cute_launch *l = NULL;
    cute_status status = cute_module_open(cute_file_label(s->request->subject.path), c->image.data,
                                          c->image.length, NULL, &module, why);
    if (status == CUTE_OK) status = tune_open(s, c, module, s->config, bench, &l, why);
    if (status == CUTE_OK) status = cute_launch_run(l, why);
    if (status == CUTE_OK && bench == CUTE_BENCH_ALWAYS && !l->run.samples)
        status = cute_fail(why, CUTE_INVALID, NULL, "expected a launch to time, but the grid is empty");
    if (status == CUTE_OK && bench == CUTE_BENCH_ALWAYS)
        *seconds = cute_launch_times(&l->run.samples[0], l->config.bench.samples).median;
    cute_launch_close(l);
    cute_module_close(module);
    return status;
}

/* A candidate with wrong results is a defect of the compiler or of the program: it is reported even if another one is chosen. */
static void report_wrong(tune_search *s, const tune_candidate *c, const cute_diag *why)
{
    cute_report(s->diag, CUTE_WARNING, NULL, "the results of %s%s%s are wrong",
                tune_defines_text(s->arena, c), c->schedule ? " with --schedule=" : "",
                c->schedule ? c->schedule : "");
    for (size_t i = 0; i < cute_diag_count(why); i++) {
        const cute_message *m = cute_diag_get(why, i);
        if (m->severity == CUTE_ERROR) cute_note(s->diag, NULL, "%s", m->text);
    }
}

static cute_status check_candidate(tune_search *s, tune_candidate *c)
{
    double unused;
    cute_diag *why = cute_diag_create();
    if (!why) return cute_fail_memory(s->diag);
    cute_status status = run_candidate(s, c, CUTE_BENCH_NEVER, &unused, why);
    if (status == CUTE_MISMATCH) {
        tune_mark(s, c, TUNE_WRONG, "results", why, "its results are wrong");
        report_wrong(s, c, why);
    } else if (status != CUTE_OK) {
        tune_mark(s, c, TUNE_FAILED, "launch", why, "its launch failed");
    }
    cute_diag_destroy(why);
    return CUTE_OK;
}

static cute_status time_candidate(tune_search *s, tune_candidate *c)
{
    double seconds = 0;
    cute_diag *why = cute_diag_create();
    if (!why) return cute_fail_memory(s->diag);
    if (run_candidate(s, c, CUTE_BENCH_ALWAYS, &seconds, why) != CUTE_OK) {
        tune_mark(s, c, TUNE_FAILED, "launch", why, "its launch failed while it was timed");
    } else {
        if (!c->rounds || seconds < c->seconds) c->seconds = seconds;
        c->rounds++;
        c->state = TUNE_MEASURED;
    }
    cute_diag_destroy(why);
    return CUTE_OK;
}

static tune_candidate *find_fastest(tune_search *s)
{
    tune_candidate *best = NULL;
    for (size_t i = 0; i < s->count; i++) {
        tune_candidate *c = &s->candidates[i];
        if (c->state == TUNE_MEASURED && (!best || c->seconds < best->seconds)) best = c;
    }
    return best;
}

cute_status tune_measure(tune_search *s)
{
    double limit = INFINITY;
    for (size_t i = 0; i < s->count; i++)
        if (s->candidates[i].state == TUNE_BUILT) CUTE_TRY(check_candidate(s, &s->candidates[i]));
    for (size_t round = 0; round < ROUNDS; round++) {
        for (size_t i = 0; i < s->count; i++) {
            tune_candidate *c = &s->candidates[i];
            bool runs = round ? c->state == TUNE_MEASURED && c->rounds == round && c->seconds <= limit
                              : c->state == TUNE_BUILT;
            if (!runs) continue;
            CUTE_TRY(time_candidate(s, c));
            if (s->request->told) s->request->told(s->request->context, c, s->compiled);
        }
        s->best = find_fastest(s);
        limit = s->best ? s->best->seconds * kept[round] : 0;
    }
    return CUTE_OK;
}
