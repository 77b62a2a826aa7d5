/* A launch on the emulator, for views that show what it counts. */
#ifndef CUTE_TOOLS_CUTE_DUMP_EMULATE_H
#define CUTE_TOOLS_CUTE_DUMP_EMULATE_H

#include "cute/cubin.h"
#include "lib/base/options/options.h"
#include "lib/base/text/json.h"

typedef struct emulate_question {
    cute_arena *arena;
    const char *label;
    const cute_module *module;
    const char *kernel; /* instead of the config's; may be NULL */
    const char *config; /* a file */
    cute_option_list defines;
    int64_t sms; /* 0: not said */
} emulate_question;

/* The report of the launch with its counters, by line; results are not compared. The caller releases it. */
cute_status cute_dump_emulate(const emulate_question *q, json_t **out, cute_diag *diag);

/* The launches alone, {"launches": [{"kernel", "grid", "block", "dynamic_smem"}]}: of a module that the emulator cannot run,
 * because it has no PTX. */
cute_status cute_dump_launches(const emulate_question *q, json_t **out, cute_diag *diag);

#endif
