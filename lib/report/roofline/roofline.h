/* The roofline: what a kernel did (flops, bytes by space) against what a device can do, and which ceiling gives the longest time. One
 * JSON value, which docs/reports.md describes; text and picture are made of it. */
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

/* What a multiprocessor does in a clock (rates.def): lanes of arithmetic and of loads and stores, bytes of L1, dense
 * operations of tensor cores by their elements; 0: not published, or it has none. */
typedef struct cute_roof_rates {
    int arch; /* compute capability */
    double fp32, fp64, fp16, integer, special, memory, l1, f64, f16, f8, i8, i4, b1;
} cute_roof_rates;
/* NULL: nothing is published. */
const cute_roof_rates *cute_roof_rates_of(int arch);

/* What a device can do in a second; 0: not known. */
typedef struct roof_device {
    char name[128], arch[16];
    int64_t multiprocessors, l2;             /* l2: bytes */
    double clock, tensor_clock;              /* Hz */
    double most[ROOF_CEILINGS];              /* theoretical */
    double measured[ROOF_CEILINGS];          /* by --calibrate */
    bool each_multiprocessor[ROOF_CEILINGS]; /* so that a grid of few blocks has a part of it */
} roof_device;

/* `text`: "h100", "A100-SXM4-40GB", "sm_89". CUTE_USAGE with the names that there are. */
cute_status cute_roof_device_find(const char *text, roof_device *out, cute_diag *diag);
/* The device of a module that is not on one: the first of its architecture. False: none is known. */
bool cute_roof_device_of_arch(const char *arch, roof_device *out);
/* The GPU as the driver describes it, and the table where it has it. */
void cute_roof_device_of_info(const cute_device_info *info, roof_device *out);

/* What a kernel did, all its launches together. */
typedef struct roof_work {
    const char *kernel;
    int64_t launches, blocks;
    double amount[ROOF_CEILINGS];     /* in the units of ceilings.def */
    double operations[ROOF_CEILINGS]; /* flops of arithmetic */
    double dram_read, dram_written, l2_read, l2_written, shared_read, shared_written, bulk_read, bulk_written;
    double atomics;
    bool has_dram; /* the footprint was counted */
} roof_work;

/* Of an element of the counters that cute-run --counters reports. */
roof_work cute_roof_work_of_counters(const json_t *kernel);

typedef struct roof_bound {
    double seconds
        [ROOF_CEILINGS]; /* that each ceiling asks for; 0: nothing of it, or the ceiling is not known */
    roof_ceiling bound;  /* the longest */
    bool launch;         /* none is as long as a launch takes */
    double expected;     /* seconds */
    double attainable;   /* the same with what was measured of the device; 0: not measured */
} roof_bound;

/* `cached`: what it reads lies in L2 already where it fits. */
roof_bound cute_roof_bound(const roof_device *device, const roof_work *work, bool cached);

typedef struct roof_question {
    const json_t *counters; /* of cute-run --counters with --check=bank,coalescing */
    const roof_device *device;
    double measured; /* seconds of all launches together; 0: not measured */
    bool cached;
} roof_question;
/* "3.35 TB/s", in `arena`; "-" of 0. */
const char *cute_roof_rate(cute_arena *arena, double rate, const char *unit);
json_t *cute_roof_device_json(const roof_device *device);
json_t *cute_roofline_json(const roof_question *question);
void cute_roofline_text(const json_t *value, cute_buffer *out);
/* Operations a second against operations a byte of DRAM, a point for each kernel. */
void cute_roofline_svg(const json_t *value, const char *title, cute_buffer *out);

#endif
