/* The roofline model: the work of a kernel (operations, bytes by level) against the rates of a device; the ceiling that requires the
 * longest time is the bound. One JSON value (docs/reports.md), from which text and picture are generated. */
#ifndef CUTE_LIB_REPORT_ROOFLINE_ROOFLINE_H
#define CUTE_LIB_REPORT_ROOFLINE_ROOFLINE_H

#include "cute/launch.h"
#include "lib/base/text/json.h"

typedef enum roof_ceiling {
#define CEILING(id, ...) ROOF_##id,
#include "lib/report/roofline/ceilings.def"
    ROOF_CEILINGS
} roof_ceiling;

typedef struct roof_ceiling_info {
    const char *key, *unit, *text;
} roof_ceiling_info;
extern const roof_ceiling_info roof_ceilings[ROOF_CEILINGS];

/* Rates per second of a device; 0: unknown. */
typedef struct roof_device {
    char name[128], arch[16];
    int64_t multiprocessors, l2;             /* l2: bytes */
    double clock, tensor_clock;              /* Hz */
    double most[ROOF_CEILINGS];              /* theoretical */
    double measured[ROOF_CEILINGS];          /* by --calibrate */
    bool each_multiprocessor[ROOF_CEILINGS]; /* scales with the multiprocessors in use */
} roof_device;

/* `text`: "h100", "A100-SXM4-40GB", "sm_89". CUTE_USAGE, with the known names. */
cute_status cute_roof_device_find(const char *text, roof_device *out, cute_diag *diag);
/* The first known device of an architecture; false: none. */
bool cute_roof_device_of_arch(const char *arch, roof_device *out);
/* A GPU, from the driver's description and the device table. */
void cute_roof_device_of_info(const cute_device_info *info, roof_device *out);

/* The work of a kernel, summed over its launches. */
typedef struct roof_work {
    const char *kernel;
    int64_t launches, blocks;
    double amount[ROOF_CEILINGS];     /* in the units of ceilings.def */
    double operations[ROOF_CEILINGS]; /* arithmetic operations */
    double dram_read, dram_written, l2_read, l2_written, shared_read, shared_written, bulk_read, bulk_written;
    double atomics;
    bool has_dram; /* DRAM traffic was counted */
} roof_work;

/* From an element of the counters of cute-run --counters. */
roof_work cute_roof_work_of_counters(const json_t *kernel);

typedef struct roof_bound {
    double seconds[ROOF_CEILINGS]; /* required by each ceiling; 0: no such work, or an unknown rate */
    roof_ceiling bound;            /* the ceiling with the longest time */
    bool launch;                   /* the launch time exceeds all ceilings */
    double expected;               /* seconds */
    double attainable;             /* the same with the measured rates; 0: not measured */
} roof_bound;

/* `cached`: inputs that fit are in L2 already. */
roof_bound cute_roof_bound(const roof_device *device, const roof_work *work, bool cached);

typedef struct roof_question {
    const json_t *counters; /* of cute-run --counters with --check=bank,coalescing */
    const roof_device *device;
    double measured; /* seconds of all launches; 0: not measured */
    bool cached;
} roof_question;
/* "3.35 TB/s", in `arena`; "-" for 0. */
const char *cute_roof_rate(cute_arena *arena, double rate, const char *unit);
json_t *cute_roof_device_json(const roof_device *device);
json_t *cute_roofline_json(const roof_question *question);
void cute_roofline_text(const json_t *value, cute_buffer *out);
/* Operations per second against operations per byte of DRAM, one point per kernel. */
void cute_roofline_svg(const json_t *value, const char *title, cute_buffer *out);

#endif
