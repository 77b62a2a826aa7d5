/* Finds the launches in MLIR text. */
#ifndef CUTE_LIB_REPORT_MODULE_LAUNCHSITES_H
#define CUTE_LIB_REPORT_MODULE_LAUNCHSITES_H

#include "lib/base/buffer.h"

/* Appends "LABEL:LINE: operation" for each gpu.launch_func and gpu.launch (without its body); returns their
 * number. */
size_t cute_launch_sites(const char *label, const char *text, size_t length, cute_buffer *out);

#endif
