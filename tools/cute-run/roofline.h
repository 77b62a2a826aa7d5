/* cute-run --roofline: work counted by the emulator against the peak rates of a device, with the measured time on a GPU. */
#ifndef CUTE_RUN_ROOFLINE_H
#define CUTE_RUN_ROOFLINE_H

#include "cute/launch.h"
#include "lib/base/text/json.h"
#include "lib/report/report.h"

typedef struct roofline_request {
    bool wanted;
    const char *of, *work, *svg;   /* options; NULL: not given */
    bool timed;                    /* the launch is on a GPU and timed there */
    bool own_counters, own_checks; /* enabled for the roofline only; omitted from the report */
    json_t *counters;
} roofline_request;

/* cute-run --calibrate: measures peak rates of the device, prints them and stores them in the cache. */
cute_status calibrate_device(const char *device, bool json, cute_arena *arena, cute_diag *diag);
/* Adjusts `launch` and `emulator` before the launches. If this sets `timed` and leaves `counters` NULL, the caller first runs the
 * launch on the emulator and passes it to take_counters. */
cute_status plan_roofline(roofline_request *request, cute_launch_options *launch,
                          cute_emulator_options *emulator, cute_diag *diag);
/* Keeps the counters of a launch on the emulator. */
void take_counters(roofline_request *request, const cute_launch *launch);
/* Adds the roofline to the report of the launch and writes the picture of --svg. */
cute_status add_roofline(roofline_request *request, const cute_launch *launch, launch_report *report,
                         json_t **value, cute_diag *diag);

#endif
