/* The difference between two dump folders, modules or MLIR files: one JSON value (keys: cute-dump(1)), from which text and HTML are
 * generated. */
#ifndef CUTE_LIB_REPORT_FOLDER_DIFF_H
#define CUTE_LIB_REPORT_FOLDER_DIFF_H

#include "lib/base/text/json.h"

/* `arch` (may be NULL) selects an image of fatbins. The caller releases *out. CUTE_INVALID: different or unsupported kinds of input. */
cute_status cute_diff_make(const char *a, const char *b, const char *arch, const char *cuda_path,
                           json_t **out, cute_diag *diag);
void cute_diff_print(const json_t *difference, bool colour, cute_buffer *out);
/* A self-contained page. */
void cute_diff_html(const json_t *difference, cute_buffer *out);

#endif
