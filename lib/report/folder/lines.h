/* A line diff of two MLIR or PTX texts. */
#ifndef CUTE_LIB_REPORT_FOLDER_LINES_H
#define CUTE_LIB_REPORT_FOLDER_LINES_H

#include <stdint.h>

#include "lib/base/buffer.h"
#include "lib/base/diagnostics/diag.h"

/* A unified diff of `a` and `b`, empty if they are equal. Consistent renaming of values, blocks, registers and labels within a scope
 * is ignored if there are other differences. Context lines are those of `a`. `scratch`: a temporary folder. */
cute_status cute_lines_diff(const char *scratch, const cute_buffer *a, const cute_buffer *b, cute_buffer *out,
                            int64_t *added, int64_t *removed, cute_diag *diag);

#endif
