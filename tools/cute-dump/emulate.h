/* Runs a launch on the emulator for views that show its counters. */
#ifndef CUTE_TOOLS_CUTE_DUMP_EMULATE_H
#define CUTE_TOOLS_CUTE_DUMP_EMULATE_H

#include "cute/cubin.h"
#include "lib/base/options/options.h"
#include "lib/base/text/json.h"

typedef struct emulate_request {
    cute_arena *arena;
    const char *label;
    const cute_module *module;
    const char *kernel; /* overrides the config's kernel; may be NULL */
    const char *config; /* path of a launch.json */
    cute_option_list defines;
    int64_t sms; /* multiprocessors; 0: not given */
} emulate_request;

/* The report of the launch with counters per line; results are not compared. The caller releases it. */
cute_status cute_dump_emulate(const emulate_request *q, json_t **out, cute_diag *diag);

/* The launches without running them, {"launches": [{"kernel", "grid", "block", "dynamic_smem"}]}: for modules without PTX, which
 * the emulator cannot run. */
cute_status cute_dump_launches(const emulate_request *q, json_t **out, cute_diag *diag);

#endif
