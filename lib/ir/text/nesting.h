/* Limits the nesting of MLIR text: MLIR's parser is recursive and would overflow the stack. */
#ifndef CUTE_LIB_IR_TEXT_NESTING_H
#define CUTE_LIB_IR_TEXT_NESTING_H

#include "lib/base/text/include.h"

enum { CUTE_MAX_NESTING = 1000 };

/* CUTE_INVALID at the bracket that exceeds the limit: (), [], {} and <>, outside strings and comments.
 * `sources` are the files of `text`. */
cute_status cute_nesting_check(const cute_sources *sources, const char *text, size_t length, cute_diag *diag);

#endif
