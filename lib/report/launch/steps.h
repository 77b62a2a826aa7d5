/* The steps of a launch.json or host function with copies, fills or several streams. */
#ifndef CUTE_LIB_REPORT_LAUNCH_STEPS_H
#define CUTE_LIB_REPORT_LAUNCH_STEPS_H

#include "lib/base/text/json.h"
#include "lib/launch/launch.h"

/* "copy a to b", "launch vector_add"; NULL when memory is exhausted. */
const char *cute_launch_step_text(const cute_launch *launch, size_t step);
/* NULL if all steps are launches on the default stream. */
json_t *cute_launch_steps_json(const cute_launch *launch);
void cute_launch_steps_print(const json_t *steps, cute_buffer *out);

#endif
