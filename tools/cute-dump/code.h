/* The views of machine code. */
#ifndef CUTE_TOOLS_CUTE_DUMP_CODE_H
#define CUTE_TOOLS_CUTE_DUMP_CODE_H

#include "lib/base/options/options.h"
#include "lib/report/code/view.h"

typedef struct code_question {
    cute_arena *arena;
    const char *label, *kernel;
    const char *at; /* a line or an address */
    bool json, dot, svg;
    cute_sass_options sass;
} code_question;

typedef cute_status code_view(const code_question *q, const cute_code *code, cute_buffer *out,
                              cute_diag *diag);
code_view cute_dump_sass, cute_dump_cfg, cute_dump_histogram, cute_dump_lines;

/* {"file": ..., key: functions}; takes `functions`. */
void cute_dump_put(const code_question *q, json_t *functions, const char *key, cute_buffer *out);

/* How cuobjdump and nvdisasm are asked for views: options without a value. */
enum { CUTE_DUMP_LINES, CUTE_DUMP_HABITS = 20 };
typedef struct code_habit {
    const char *option, *view;
    char letter;
} code_habit;
extern const code_habit cute_dump_habits[CUTE_DUMP_HABITS];

#endif
