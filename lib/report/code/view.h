/* Views of SASS as text, JSON, dot or SVG. `only` (may be NULL) selects one function. */
#ifndef CUTE_LIB_REPORT_CODE_VIEW_H
#define CUTE_LIB_REPORT_CODE_VIEW_H

#include "lib/base/text/json.h"
#include "lib/report/code/figures.h"

typedef struct cute_sass_options {
    bool encodings; /* the encoding of each instruction */
    bool liveness;  /* live registers at each instruction */
    bool hot;       /* loops, innermost first, instead of the whole */
} cute_sass_options;

/* Instructions, each group preceded by its source line, with the text if the file exists. */
void cute_code_print_sass(const cute_code *code, const char *only, const cute_sass_options *options,
                          cute_buffer *out);
json_t *cute_code_json_sass(const cute_code *code, const char *only, const cute_sass_options *options);

/* Blocks with their edges and loops. */
void cute_code_print_cfg(const cute_code *code, const char *only, cute_buffer *out);
json_t *cute_code_json_cfg(const cute_code *code, const char *only);
void cute_code_dot_cfg(const cute_code *code, const char *only, cute_buffer *out);
void cute_code_svg_cfg(const cute_code *code, const char *only, cute_buffer *out);

/* Counts by class and opcode, memory operations, tensor cores, parallelism of blocks and loops. */
cute_status cute_code_print_histogram(const cute_code *code, const char *only, cute_buffer *out,
                                      cute_diag *diag);
cute_status cute_code_json_histogram(const cute_code *code, const char *only, json_t **out, cute_diag *diag);

/* Source lines with their instructions. `where` (may be NULL) selects a line, "FILE:LINE" or "LINE", or the line of an address,
 * "0x1f0". CUTE_INVALID: no line information, or no such line. */
cute_status cute_code_print_lines(const char *label, const cute_code *code, const char *only,
                                  const char *where, cute_buffer *out, cute_diag *diag);
cute_status cute_code_json_lines(const char *label, const cute_code *code, const char *only,
                                 const char *where, json_t **out, cute_diag *diag);

#endif
