/* Tuning of kernels in MLIR: the candidates of a kernel, each a value of every parameter (//!param) and a schedule; those that
 * are refused before a run; the fastest of the others; and the cache that remembers it. Kernels are compiled by the programs
 * cute-opt, cute-ptx and cute-link. */
#ifndef CUTE_LIB_TUNE_TUNE_H
#define CUTE_LIB_TUNE_TUNE_H

#include "cute/launch.h"
#include "lib/base/buffer.h"
#include "lib/base/text/json.h"
#include "lib/toolkit/pipe.h"

enum {
    TUNE_RUNS = 32,          /* candidates that are run, by default */
    TUNE_MOST_RUNS = 4096,   /* the largest number that can be asked for */
    TUNE_COMBINATIONS = 1024 /* of parameters that are looked at; of more, so many are drawn */
};

/* ---- candidates (candidates.c) ---- */

/* A parameter that the source declares. */
typedef struct tune_param {
    const char *name, *value; /* value: the default */
    const char **candidates;
    size_t count;
} tune_param;

typedef enum tune_state {
    TUNE_LISTED,  /* not compiled: enough others are likelier */
    TUNE_REFUSED, /* before a run */
    TUNE_BUILT,   /* compiled, not run */
    TUNE_WRONG,   /* a check of its results failed */
    TUNE_FAILED,  /* the kernel faulted or hung */
    TUNE_MEASURED
} tune_state;

typedef struct tune_candidate {
    const char *const *defines; /* "NAME=VALUE", without those that the user gave */
    size_t define_count;
    const char *schedule; /* NULL: none, or the user's */
    double estimate;      /* seconds by the cost model; 0: none */
    const char *bound;    /* the longest part of the estimate; NULL: no estimate */
    size_t distance;      /* parameters that differ from their defaults */
    size_t place;         /* among the schedules of its combination, the likeliest 0 */
    size_t order;         /* of enumeration */
    tune_state state;
    const char *cause,
        *why; /* of TUNE_REFUSED, a noun ("registers"); of TUNE_REFUSED, _WRONG and _FAILED, a sentence */
    double seconds;    /* of a run, the median; 0: not measured */
    size_t rounds;     /* in which it was timed */
    cute_buffer image; /* a cubin or PTX, from TUNE_BUILT on */
} tune_candidate;

/* One value of each parameter: the product of their candidates, a parameter without any having its default; "NAME=VALUE",
 * `params` of them, one after another. The first has all defaults if these are candidates. Of more than `most`, so many are
 * drawn by `seed`, the first among them. *all is the number of the whole product (INT64_MAX: more). */
cute_status tune_combinations(cute_arena *arena, const tune_param *params, size_t count, size_t most,
                              uint64_t seed, const char ***out, size_t *drawn, int64_t *all, cute_diag *diag);
/* Parameters whose value is not the default. */
size_t tune_distance(const tune_param *params, size_t count, const char *const *defines);
/* Sorts: estimates first, the shortest of all first, the further schedules of a combination a little later; then the candidates
 * nearest to the defaults. */
void tune_rank(tune_candidate *candidates, size_t count);
/* "BM=128 BN=256"; "defaults" for none. In `arena`. */
const char *tune_defines_text(cute_arena *arena, const tune_candidate *candidate);

/* ---- the best known (best.c) ---- */

/* A cache entry: what was fastest for a key, and its time. */
typedef struct tune_best {
    double seconds;
    bool emulated; /* ranked on the emulator, not measured */
} tune_best;
/* `value` is in `arena`; false: not known. `kind` is a word, part of the key; `folder` NULL or "": no cache. */
bool tune_best_find(cute_arena *arena, const char *folder, const char *kind, const cute_buffer *key,
                    const char **value, tune_best *out);
void tune_best_put(const char *folder, const char *kind, const cute_buffer *key, const char *value,
                   const tune_best *best);

/* ---- what is tuned (subject.c) ---- */

/* A kernel, a launch and a device. */
typedef struct tune_subject {
    const char *path; /* of the MLIR; "-": standard input */
    const char *text;
    size_t length;
    const char *arch;                          /* that it is compiled for */
    const cute_option_list *defines, *folders; /* all -D, -I */
    const char *schedule;                      /* the user's; NULL: none */
    const pipe_values *values;                 /* further options of the compilation; may be NULL */
    const char *label, *config;                /* launch.json; NULL: options.plans */
    size_t config_length;
    const char *folder; /* of launch.json; may be NULL */
    const cute_launch_options *options;
    const cute_device_info *device;
} tune_subject;

/* Everything that a time depends on: the source with the files that it includes, the user's -D and schedule, the launch without
 * its checks and bench but with the values of -D, and the device. False: it cannot be read; who runs it says why. */
bool tune_subject_key(cute_arena *arena, const tune_subject *subject, cute_buffer *out);
/* "m=4096,n=4096,k=64": the extents of a product that launch.json's params or -D state, for the cost model; "": none. */
const char *tune_subject_sizes(cute_arena *arena, const tune_subject *subject);
/* launch.json without the baselines of its bench and without output files. malloc'ed; NULL when memory is exhausted or it is not valid. */
char *tune_subject_config(const tune_subject *subject);
/* The fastest candidate in the cache; false: none is known. */
bool tune_known(cute_arena *arena, const tune_subject *subject, const char *cache, tune_candidate *out,
                tune_best *best);
void tune_remember(cute_arena *arena, const tune_subject *subject, const char *cache,
                   const tune_candidate *candidate, bool emulated);

/* ---- the search ---- */

typedef struct tune_request {
    tune_subject subject;
    size_t runs;   /* at most so many candidates are run */
    uint64_t seed; /* of the combinations that are drawn, and of the order of runs */
    bool emulated; /* candidates are ranked by the model and not run */
    /* Called after each candidate that was compiled and each that was run; may be NULL. */
    void (*told)(void *context, const tune_candidate *candidate, size_t done);
    void *context;
} tune_request;

typedef struct tune_search {
    cute_arena *arena;
    const tune_request *request;
    tune_param *params; /* that the user did not set */
    size_t param_count;
    int64_t combinations; /* INT64_MAX: more */
    size_t drawn;         /* of them */
    tune_candidate *candidates;
    size_t count, capacity, compiled;
    const char *sizes;
    char *config; /* tune_subject_config; NULL: options.plans */
    tune_candidate *best;
    cute_diag *diag;
} tune_search;

/* Finds the fastest candidate. CUTE_INVALID: none could be run, with the reasons. Release the search also after a failure. */
cute_status tune_run(cute_arena *arena, const tune_request *request, tune_search *out, cute_diag *diag);
void tune_release(tune_search *search);

/* explore.c: reads the parameters and lists the candidates, ranked. */
cute_status tune_explore(tune_search *search);
/* build.c: compiles the next candidates until `runs` are built or none is left. */
cute_status tune_build(tune_search *search);
/* measure.c: runs those that are built: the checks, then the bench in turns. */
cute_status tune_measure(tune_search *search);
/* Opens the launch of a candidate, with its values of -D. `config`: search.config, or the subject's. With CUTE_BENCH_ALWAYS nothing is
 * checked. */
cute_status tune_open(const tune_search *search, const tune_candidate *candidate, const cute_module *module,
                      const char *config, cute_bench_mode bench, cute_launch **out, cute_diag *diag);
/* Marks a candidate, with the first error of `why` or, without one, `fallback`. */
void tune_mark(tune_search *search, tune_candidate *candidate, tune_state state, const char *cause,
               const cute_diag *why, const char *fallback);

#endif
