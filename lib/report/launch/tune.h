/* The report of a search for the fastest candidate of a kernel (lib/tune). */
#ifndef CUTE_LIB_REPORT_LAUNCH_TUNE_H
#define CUTE_LIB_REPORT_LAUNCH_TUNE_H

#include "lib/base/text/json.h"
#include "lib/tune/tune.h"

/* Documented in docs/reports.md. `remembered`: the fastest is in the cache. */
json_t *cute_tune_json(const tune_search *search, bool remembered);
/* `all`: a row for each candidate that was compiled, refused ones with their reason; else only for those that ran. */
void cute_tune_text(const json_t *value, bool all, cute_buffer *out);
/* A candidate from the cache, instead of a search. */
json_t *cute_tuned_json(const tune_candidate *candidate, const tune_best *best);

#endif
