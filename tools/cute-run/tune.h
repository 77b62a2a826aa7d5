/* cute-run --tune of a kernel in MLIR, and the fastest candidate that an earlier run remembered. */
#ifndef CUTE_RUN_TUNE_H
#define CUTE_RUN_TUNE_H

#include "lib/base/options/tool.h"
#include "lib/base/text/json.h"
#include "lib/device/device.h"
#include "lib/tune/tune.h"

typedef struct tuning {
    tune_request request;
    tune_search search;
    bool searched;
    cute_device_info device; /* kind NULL: not known */
    cute_buffer text;        /* the source */
    const char *cache;       /* its folder; NULL: none */
    json_t *known;           /* a remembered candidate for the report; NULL: none is used */
} tuning;

/* Reads --tune[=N]: the number of candidates to run. */
cute_status parse_tune(const char *text, size_t *out, cute_diag *diag);
/* Searches for the fastest candidate of request.subject, with progress on a terminal's stderr. */
cute_status search_candidates(tuning *t, cute_arena *arena, cute_diag *diag);
/* The remembered candidate of request.subject; false: none. */
bool recall_candidate(tuning *t, cute_arena *arena, tune_candidate *out);
/* After the launch of the fastest: remembers it if its results are `right`. The report of the search; NULL: there was none. */
json_t *end_tuning(const tuning *t, bool right);
void release_tuning(tuning *t);

#endif
