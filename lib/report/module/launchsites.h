/* The launches in an MLIR text, as they stand there. */
#ifndef CUTE_LIB_REPORT_MODULE_LAUNCHSITES_H
#define CUTE_LIB_REPORT_MODULE_LAUNCHSITES_H

#include "lib/base/buffer.h"

/* Appends "LABEL:LINE: operation" for each gpu.launch_func (whole) and gpu.launch (up to its body); the
 * number found. */
size_t cute_launch_sites(const char *label, const char *text, size_t length, cute_buffer *out);

#endif
