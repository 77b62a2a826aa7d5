/* How deep MLIR's text may nest. MLIR's parser calls itself for each level and ends the process where the
 * stack does. */
#ifndef CUTE_LIB_IR_TEXT_NESTING_H
#define CUTE_LIB_IR_TEXT_NESTING_H

#include "lib/ir/text/include.h"

enum { CUTE_MAX_NESTING = 1000 };

/* CUTE_INVALID at the bracket that goes deeper: (), [], {} and <>, outside of strings and comments. `text` is what `sources` joined. */
cute_status cute_nesting_check(const cute_sources *sources, const char *text, size_t length, cute_diag *diag);

#endif
