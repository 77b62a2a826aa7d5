/* Resource usage and occupancy of kernels: one value, printed as text, JSON and SVG. */
#ifndef CUTE_LIB_REPORT_RESOURCES_RESOURCES_H
#define CUTE_LIB_REPORT_RESOURCES_RESOURCES_H

#include "cute/occupancy.h"
#include "lib/base/text/json.h"

struct cute_code; /* lib/code/sass/code.h */
enum { RESOURCE_CLASSES = 4 /* register classes */ };

/* What-if values that replace the kernel's; -1, NULL: unchanged. */
typedef struct resource_question {
    const char *arch;
    int64_t registers, shared /* static and dynamic */, dynamic, threads, barriers, cluster, carveout;
} resource_question;
#define RESOURCE_AS_IS                                                                                       \
    (resource_question){.registers = -1,                                                                     \
                        .shared = -1,                                                                        \
                        .dynamic = -1,                                                                       \
                        .threads = -1,                                                                       \
                        .barriers = -1,                                                                      \
                        .cluster = -1,                                                                       \
                        .carveout = -1}

/* The occupancy at one value of the varied quantity. */
typedef struct occupancy_point {
    int64_t at;
    cute_occupancy o;
} occupancy_point;

typedef enum occupancy_axis { BY_THREADS, BY_REGISTERS, BY_SHARED, OCCUPANCY_AXES } occupancy_axis;

typedef struct occupancy_report {
    cute_occupancy_input in;                 /* threads 0: unknown */
    bool dynamic_unknown;                    /* dynamic shared memory is set at launch and not counted */
    bool what_if;                            /* some values differ from the kernel's */
    const char *compiled_for;                /* the architecture of the register count; NULL: in.arch */
    cute_occupancy now;                      /* in.threads 0: not computed */
    cute_occupancy_most same;                /* the most resources for the same number of blocks */
    cute_occupancy_most more;                /* for one more block */
    bool can_more;                           /* one more block is possible */
    occupancy_point *points[OCCUPANCY_AXES]; /* BY_REGISTERS requires threads */
    size_t counts[OCCUPANCY_AXES];
} occupancy_report;

/* Local memory instructions of one line: spills and arrays. */
typedef struct resource_line {
    const char *file;                                        /* NULL: unknown */
    int64_t line, loads, stores, bytes_loaded, bytes_stored; /* bytes per thread, each instruction once */
} resource_line;

typedef struct resource_kernel {
    const cute_kernel *kernel;
    bool has_occupancy;
    const char *why_not; /* why there is no occupancy */
    occupancy_report occupancy;
    /* From the SASS, if it was read. */
    bool has_code;
    uint16_t live[RESOURCE_CLASSES]; /* peak, by cute_register_class */
    resource_line *local;
    size_t local_count;
} resource_kernel;

typedef struct resource_report {
    const char *label, *arch, *format;
    resource_kernel *kernels;
    size_t count;
} resource_report;

/* The occupancy of `input`, changed by `question`. CUTE_USAGE as cute_occupancy_compute. */
cute_status cute_occupancy_report_create(cute_arena *arena, const cute_occupancy_input *input,
                                         const resource_question *question, occupancy_report *out,
                                         cute_diag *diag);
/* The kernels of a module, or the one named `only`. */
cute_status cute_resource_report_create(cute_arena *arena, const char *label, const cute_module *module,
                                        const char *only, const resource_question *question,
                                        resource_report *out, cute_diag *diag);

/* Adds data from the SASS: live registers by class, lines that use local memory. */
cute_status cute_resource_report_add_code(cute_arena *arena, resource_report *report,
                                          const struct cute_code *code, cute_diag *diag);

/* `tables`: include the occupancy by block size. */
void cute_occupancy_print(cute_arena *arena, const occupancy_report *report, bool tables, const char *indent,
                          cute_buffer *out);
void cute_resources_print(cute_arena *arena, const resource_report *report, bool tables, cute_buffer *out);
/* docs/reports.md has the keys. */
json_t *cute_occupancy_result_json(const cute_occupancy *occupancy);
json_t *cute_occupancy_json(const occupancy_report *report);
json_t *cute_resources_json(const resource_report *report);
/* Charts of warps against threads, registers and shared memory. */
void cute_occupancy_svg(const occupancy_report *report, const char *title, cute_buffer *out);

#endif
