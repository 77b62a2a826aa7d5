/* Two texts of MLIR or PTX line by line. */
#ifndef CUTE_LIB_REPORT_FOLDER_LINES_H
#define CUTE_LIB_REPORT_FOLDER_LINES_H

#include <stdint.h>

#include "lib/base/buffer.h"
#include "lib/base/diagnostics/diag.h"

/* A unified diff of `a` and `b`, empty where they are the same. Values, blocks, registers and labels that only have
 * other names, each one name of the other throughout its scope, are no difference where something else is one. What is shown of
 * lines without a difference is that of `a`. `scratch`: a folder. */
cute_status cute_lines_diff(const char *scratch, const cute_buffer *a, const cute_buffer *b, cute_buffer *out,
                            int64_t *added, int64_t *removed, cute_diag *diag);

#endif
