/* Views of machine code. */
#ifndef CUTE_TOOLS_CUTE_DUMP_CODE_H
#define CUTE_TOOLS_CUTE_DUMP_CODE_H

#include "lib/base/options/options.h"
#include "lib/report/code/view.h"

typedef struct code_request {
    cute_arena *arena;
    const char *label, *kernel;
    const char *at; /* "[FILE:]LINE" or "0xADDRESS"; may be NULL */
    bool json, dot, svg;
    cute_sass_options sass;
} code_request;

typedef cute_status code_view(const code_request *q, const cute_code *code, cute_buffer *out,
                              cute_diag *diag);
code_view cute_dump_sass, cute_dump_cfg, cute_dump_histogram, cute_dump_lines;

/* Prints {"file": label, key: functions}; takes ownership of `functions`. */
void cute_dump_write_json(const code_request *q, json_t *functions, const char *key, cute_buffer *out);

/* Flags of cuobjdump and nvdisasm that select a view. */
enum { CUTE_DUMP_FLAG_LINES, CUTE_DUMP_VIEW_FLAGS = 20 };
typedef struct dump_view_flag {
    const char *option, *view; /* the long option, and the view it selects */
    char letter;
} dump_view_flag;
extern const dump_view_flag cute_dump_view_flags[CUTE_DUMP_VIEW_FLAGS];

#endif
