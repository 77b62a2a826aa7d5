/* Resources of kernels and what they mean for the occupancy: one value, built once, as text, JSON and a picture. */
#ifndef CUTE_LIB_REPORT_RESOURCES_RESOURCES_H
#define CUTE_LIB_REPORT_RESOURCES_RESOURCES_H

#include "cute/occupancy.h"
#include "lib/base/text/json.h"

struct cute_code; /* lib/code/sass/code.h */
enum { RESOURCE_CLASSES = 4 /* of registers */ };

/* What is asked instead of what the kernel states; -1, NULL: as it states. */
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

/* The occupancy at one value of what is varied. */
typedef struct occupancy_point {
    int64_t at;
    cute_occupancy o;
} occupancy_point;

typedef enum occupancy_axis { BY_THREADS, BY_REGISTERS, BY_SHARED, OCCUPANCY_AXES } occupancy_axis;

typedef struct occupancy_report {
    cute_occupancy_input in;                 /* threads 0: not known */
    bool dynamic_unknown;                    /* the launch gives dynamic shared memory; none is counted */
    bool what_if;                            /* something was asked that the kernel does not state */
    const char *compiled_for;                /* the architecture of the registers; NULL: in.arch */
    cute_occupancy now;                      /* in.threads 0: not computed */
    cute_occupancy_most same;                /* what may be taken with as many blocks */
    cute_occupancy_most more;                /* with one more */
    bool can_more;                           /* one more is possible at all */
    occupancy_point *points[OCCUPANCY_AXES]; /* the axis BY_REGISTERS needs threads */
    size_t counts[OCCUPANCY_AXES];
} occupancy_report;

/* Instructions of one line that read and write local memory: spilled registers, arrays that have no registers. */
typedef struct resource_line {
    const char *file;                                        /* NULL: not known */
    int64_t line, loads, stores, bytes_loaded, bytes_stored; /* bytes of a thread, each instruction once */
} resource_line;

typedef struct resource_kernel {
    const cute_kernel *kernel;
    bool has_occupancy;
    const char *why_not; /* no occupancy */
    occupancy_report occupancy;
    /* Of the machine code, where it was read. */
    bool has_code;
    uint16_t live[RESOURCE_CLASSES]; /* the most at once, by cute_register_class */
    resource_line *local;
    size_t local_count;
} resource_kernel;

typedef struct resource_report {
    const char *label, *arch, *format;
    resource_kernel *kernels;
    size_t count;
} resource_report;

/* Occupancy of one input; `question` changes it first. CUTE_USAGE as cute_occupancy_compute. */
cute_status cute_occupancy_report_create(cute_arena *arena, const cute_occupancy_input *input,
                                         const resource_question *question, occupancy_report *out,
                                         cute_diag *diag);
/* The kernels of a module, or that named `only`. */
cute_status cute_resource_report_create(cute_arena *arena, const char *label, const cute_module *module,
                                        const char *only, const resource_question *question,
                                        resource_report *out, cute_diag *diag);

/* Adds what the machine code tells: registers by class, the lines that use local memory. */
cute_status cute_resource_report_add_code(cute_arena *arena, resource_report *report,
                                          const struct cute_code *code, cute_diag *diag);

/* `tables`: also the occupancy over sizes of blocks. */
void cute_occupancy_print(cute_arena *arena, const occupancy_report *report, bool tables, const char *indent,
                          cute_buffer *out);
void cute_resources_print(cute_arena *arena, const resource_report *report, bool tables, cute_buffer *out);
/* docs/reports.md has the keys. */
json_t *cute_occupancy_result_json(const cute_occupancy *occupancy);
json_t *cute_occupancy_json(const occupancy_report *report);
json_t *cute_resources_json(const resource_report *report);
/* Warps against threads, registers and shared memory. */
void cute_occupancy_svg(const occupancy_report *report, const char *title, cute_buffer *out);

#endif
