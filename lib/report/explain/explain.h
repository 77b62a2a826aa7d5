/* Performance problems of kernels, found in PTX, SASS and a launch: one value, printed as text, JSON and HTML. */
#ifndef CUTE_LIB_REPORT_EXPLAIN_EXPLAIN_H
#define CUTE_LIB_REPORT_EXPLAIN_EXPLAIN_H

#include "cute/plugin.h"
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
    EXPLAIN_BOTH, /* PTX if available, else SASS */
    EXPLAIN_CODE, /* SASS if available, else PTX */
    EXPLAIN_PTX,
    EXPLAIN_SASS,
    EXPLAIN_LAUNCH, /* neither: launch and resources */
    EXPLAIN_VIEWS
} explain_view;
extern const char *const explain_view_name[EXPLAIN_VIEWS];

typedef enum explain_weight { EXPLAIN_LOW, EXPLAIN_MEDIUM, EXPLAIN_HIGH } explain_weight;
extern const char *const explain_weight_name[];

typedef struct explain_place {
    const char *file; /* NULL: unknown */
    int64_t line, ptx_line /* 0: unknown */, address /* in the SASS; -1: unknown */;
    int64_t used;            /* address of the first instruction that uses the result; -1: unknown */
    const char *instruction; /* its text */
} explain_place;

struct explain_row;
typedef struct explain_finding {
    int id; /* explain_id, or EXPLAIN_COUNT and the index of a plugin's finding */
    const struct explain_row *row;
    explain_weight weight;
    explain_place place;
    int64_t count; /* instructions */
    double cycles; /* per warp that could be saved: an estimate */
    double share;  /* of the kernel's time, 0 to 1; -1: unknown */
    bool measured; /* the share comes from counters or samples */
    bool stalls;   /* `cycles` are stalls, which add to the cycles of instructions */
    const char *evidence, *fix;
    const char *stall;   /* the stall reason that a profiler sampled; NULL */
    const char *assumed; /* the assumption about arguments behind the evidence; NULL: none */
    double worst;        /* cycles of the instruction with the evidence */
} explain_finding;

typedef struct explain_kernel {
    const char *name;
    const char *sources;       /* "PTX and SASS"; NULL: neither could be read */
    code_assumptions assume;   /* the block and its origin; block[0] 0: unknown */
    const char *block;         /* the same as text; NULL: nothing was analysed */
    explain_finding *findings; /* the most significant first */
    size_t count, capacity;
    const char **missing; /* inputs that were not analysed, with the reason */
    size_t missing_count, missing_capacity;
    const char *note; /* the stall reasons of the kernel; NULL */
} explain_kernel;

typedef struct explain_report {
    const char *label, *arch;
    explain_kernel *kernels;
    size_t count;
} explain_report;

typedef struct explain_row {
    const char *code, *name, *title, *fix;
    explain_view view;
} explain_row;
extern const explain_row explain_rows[EXPLAIN_COUNT];

typedef struct explain_input {
    const char *label;
    const cute_module *module;   /* the input */
    const cute_module *compiled; /* the cubin compiled from PTX; NULL: none */
    cute_code *code;             /* NULL: not read */
    const char *no_code;         /* why not */
    const char *messages;        /* warnings of ptxas; NULL: unknown */
    const char *kernel;          /* NULL: all */
    const json_t *launch;        /* the report of a launch with counters; NULL: none */
    int64_t sms;                 /* multiprocessors; 0: those of a device of the architecture */
    const char *ncu, *ncu_label; /* CSV of Nsight Compute; NULL: none */
    size_t ncu_length;
    const cute_plugins *plugins; /* with findings of their own; may be NULL */
} explain_input;

/* CUTE_INVALID: the CSV is not a table of ncu, or names no kernel of the module. */
cute_status explain_create(cute_arena *arena, const explain_input *input, explain_report *out,
                           cute_diag *diag);
/* `all`: include minor findings. `colour`: for a terminal. */
void explain_print(const explain_report *report, bool all, bool colour, cute_buffer *out);
json_t *explain_json(const explain_report *report);
void explain_html(const explain_report *report, cute_buffer *out);
void explain_svg(const explain_report *report, bool all, cute_buffer *out);

/* The findings that explain looks for (findings.def): all, or the one with the code or id `name`; false: unknown. */
bool explain_print_findings(const cute_plugins *plugins, const char *name, cute_buffer *out);
json_t *explain_findings_json(const cute_plugins *plugins, const char *name);
/* The rows of the table, then those of plugins (may be NULL). */
size_t explain_row_count(const cute_plugins *plugins);
explain_row explain_row_at(const cute_plugins *plugins, size_t index);
/* CUTE_INVALID: a plugin's finding has the name of another. */
cute_status explain_check_plugins(const cute_plugins *plugins, cute_diag *diag);

#endif
