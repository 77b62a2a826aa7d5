/* cute-run --roofline: what kernels did on the emulator against what a device can do, and beside what was measured. */
#ifndef CUTE_RUN_ROOFLINE_H
#define CUTE_RUN_ROOFLINE_H

#include "cute/launch.h"
#include "lib/base/text/json.h"
#include "lib/report/report.h"

typedef struct roofline_request {
    bool wanted;
    const char *of, *work, *svg;   /* options; NULL: not given */
    bool timed;                    /* the launch is on a GPU and timed there */
    bool own_counters, own_checks; /* nobody else asked for them */
    json_t *counters;
} roofline_request;

/* cute-run --calibrate: measures the device, prints what it reaches, and remembers it. */
cute_status calibrate(const char *device, bool json, cute_arena *arena, cute_diag *diag);
/* Before the launches: what `launch` and `emulator` have to do for it. With `timed` and no counters then, the caller runs the launch
 * on the emulator first, and gives these to take_work. */
cute_status plan_roofline(roofline_request *request, cute_launch_options *launch,
                          cute_emulator_options *emulator, cute_diag *diag);
/* The counters of a launch on the emulator. */
void take_work(roofline_request *request, const cute_launch *launch);
/* Adds the roofline to what is reported of the launch, writes its picture. */
cute_status add_roofline(roofline_request *request, const cute_launch *launch, launch_report *report,
                         json_t **value, cute_diag *diag);

#endif
