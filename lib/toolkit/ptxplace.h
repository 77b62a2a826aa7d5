/* Places in PTX text, and the places in the user's source given by .loc and .file. */
#ifndef CUTE_LIB_TOOLKIT_PTXPLACE_H
#define CUTE_LIB_TOOLKIT_PTXPLACE_H

#include "cute/base.h"

typedef struct cute_ptx_text {
    const char *label; /* for messages: "k.ptx", "<stdin>" */
    const char *text;  /* may be unterminated */
    size_t length;
} cute_ptx_text;

/* The place of line `line` (from 1); the caret is under the first quoted word of `message` on the line, else
 * under the first token. A line beyond the end gives a place without text. */
cute_place cute_ptx_line(const cute_ptx_text *ptx, int64_t line, const char *message, size_t message_length);
/* The line of the declaration `.entry name` or `.func ... name`; 0: not found. */
int64_t cute_ptx_function_line(const cute_ptx_text *ptx, const char *name, size_t length);
/* The source place of PTX line `line`: the preceding .loc in the same function, or, for the line that
 * declares a function, the first .loc in it. False: no line information. Strings are in `arena`; the text of
 * the line is read from the source file if it exists. */
bool cute_ptx_source(cute_arena *arena, const cute_ptx_text *ptx, int64_t line, cute_place *out);

#endif
