/* See tune.h. */
#include "tools/cute-run/tune.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "lib/base/diagnostics/log.h"
#include "lib/report/launch/tune.h"

cute_status parse_tune(const char *text, size_t *out, cute_diag *diag)
{
    char *end = NULL;
    *out = TUNE_RUNS;
    if (!*text) return CUTE_OK;
    errno = 0;
    long count = strtol(text, &end, 10);
    if (end == text || *end || errno || count < 1 || count > TUNE_MOST_RUNS)
        return cute_fail(diag, CUTE_USAGE, NULL,
                         "--tune expects a number of candidates from 1 to %d, got '%s'", TUNE_MOST_RUNS,
                         text);
    *out = (size_t)count;
    return CUTE_OK;
}

/* Prints each candidate on a terminal. */
static void print_tune_progress(void *context, const tune_candidate *c, size_t done)
{
    cute_arena *arena = isatty(STDERR_FILENO) ? cute_arena_create() : NULL;
    (void)context;
    if (!arena) return;
    fprintf(stderr, "\r\033[K[%zu] %s%s%s: ", done, tune_defines_text(arena, c), c->schedule ? " " : "",
            c->schedule ? c->schedule : "");
    if (c->state == TUNE_MEASURED)
        fprintf(stderr, "%.1f us\n", c->seconds * 1e6);
    else if (c->state == TUNE_BUILT)
        fprintf(stderr, "compiled");
    else
        fprintf(stderr, "%s\n", c->why ? c->why : "");
    cute_arena_destroy(arena);
}

cute_status search_candidates(tuning *t, cute_arena *arena, cute_diag *diag)
{
    t->request.told = print_tune_progress;
    t->searched = true;
    cute_status status = tune_run(arena, &t->request, &t->search, diag);
    if (isatty(STDERR_FILENO)) fputs("\r\033[K", stderr);
    return status;
}

bool recall_candidate(tuning *t, cute_arena *arena, tune_candidate *out)
{
    tune_best best;
    if (!tune_known(arena, &t->request.subject, t->cache, out, &best)) return false;
    t->known = cute_tuned_json(out, &best);
    cute_log(CUTE_LOG_INFO, "a remembered candidate is used: %s%s%s", tune_defines_text(arena, out),
             out->schedule ? ", schedule " : "", out->schedule ? out->schedule : "");
    return true;
}

json_t *end_tuning(const tuning *t, bool right)
{
    if (!t->searched) return NULL;
    /* On the emulator, the first of candidates without an estimate is no choice. */
    bool ranked = !t->request.emulated || t->search.best->estimate > 0,
         remembers = right && ranked && t->cache && *t->cache;
    if (remembers)
        tune_remember(t->search.arena, &t->request.subject, t->cache, t->search.best, t->request.emulated);
    return cute_tune_json(&t->search, remembers);
}

void release_tuning(tuning *t)
{
    if (t->searched) tune_release(&t->search);
    json_decref(t->known);
    cute_buffer_release(&t->text);
}
