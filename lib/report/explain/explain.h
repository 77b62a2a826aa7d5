/* Why a kernel is slow: what a reviewer would say of its PTX, its machine code and a launch. One value, as text, JSON and
 * HTML. */
#ifndef CUTE_LIB_REPORT_EXPLAIN_EXPLAIN_H
#define CUTE_LIB_REPORT_EXPLAIN_EXPLAIN_H

#include "lib/base/text/json.h"
#include "lib/code/assumptions.h"
#include "lib/code/sass/code.h"
#include "lib/report/resources/resources.h"

typedef enum explain_id {
#define FINDING(id, ...) EXPLAIN_##id,
#include "lib/report/explain/findings.def"
    EXPLAIN_COUNT
} explain_id;

typedef enum explain_view {
    EXPLAIN_BOTH, /* PTX where there is some, else machine code */
    EXPLAIN_CODE, /* machine code where there is some, else PTX */
    EXPLAIN_PTX,
    EXPLAIN_SASS,
    EXPLAIN_LAUNCH /* neither */
} explain_view;

typedef enum explain_weight { EXPLAIN_LOW, EXPLAIN_MEDIUM, EXPLAIN_HIGH } explain_weight;
extern const char *const explain_weight_name[];

typedef struct explain_place {
    const char *file; /* NULL: not known */
    int64_t line, ptx_line /* 0: not known */, address /* of the machine code; -1 */;
    int64_t used;            /* address of the first instruction that takes its result; -1 */
    const char *instruction; /* its text */
} explain_place;

typedef struct explain_finding {
    explain_id id;
    explain_weight weight;
    explain_place place;
    int64_t count; /* instructions */
    double cycles; /* that could be saved, of one warp: an estimate */
    double share;  /* of the kernel's time, 0 to 1; -1: not known */
    bool measured; /* the share is of counters or samples */
    bool waits;    /* cycles: of waiting, beside those of the instructions */
    const char *evidence, *cure;
    const char *stall;   /* what a profiler saw there; NULL */
    const char *assumed; /* of arguments, on which the evidence rests; NULL: nothing */
    double worst;        /* cycles of the instruction that gave the evidence */
} explain_finding;

typedef struct explain_kernel {
    const char *name;
    const char *looked_at;     /* "PTX and machine code" */
    code_assumptions assume;   /* its block and from where it is; block[0] 0: not known */
    const char *block;         /* the same in words; NULL: nothing was looked at */
    explain_finding *findings; /* those of most weight first */
    size_t count, capacity;
    const char **unseen; /* what could not be looked at, and why */
    size_t unseen_count, unseen_capacity;
    const char *note; /* what a profiler says of the whole; NULL */
} explain_kernel;

typedef struct explain_report {
    const char *label, *arch;
    explain_kernel *kernels;
    size_t count;
} explain_report;

typedef struct explain_row {
    const char *name, *title, *cure;
    explain_view view;
} explain_row;
extern const explain_row explain_rows[EXPLAIN_COUNT];

typedef struct explain_input {
    const char *label;
    const cute_module *module;   /* what was given */
    const cute_module *compiled; /* of PTX: the cubin of it; NULL: none */
    cute_code *code;             /* NULL: not read */
    const char *no_code;         /* why not */
    const char *messages;        /* what ptxas warned of; NULL: not known */
    const char *kernel;          /* NULL: all */
    const json_t *launch;        /* the report of a launch with counters; NULL: none */
    int64_t sms;                 /* 0: as the architecture has */
    const char *ncu, *ncu_label; /* its CSV; NULL: none */
    size_t ncu_length;
} explain_input;

/* CUTE_INVALID: the CSV is none of ncu's, or names no kernel of the module. */
cute_status explain_create(cute_arena *arena, const explain_input *input, explain_report *out,
                           cute_diag *diag);
/* `all`: also what is of little weight. `colour`: for a terminal. */
void explain_print(const explain_report *report, bool all, bool colour, cute_buffer *out);
json_t *explain_json(const explain_report *report);
void explain_html(const explain_report *report, cute_buffer *out);

#endif
