/* Places in PTX text, and the places of the user's source that its .loc and .file lines name. */
#ifndef CUTE_LIB_TOOLKIT_PTXPLACE_H
#define CUTE_LIB_TOOLKIT_PTXPLACE_H

#include "cute/base.h"

typedef struct cute_ptx_text {
    const char *label; /* for messages: "k.ptx", "<stdin>" */
    const char *text;  /* need not be terminated */
    size_t length;
} cute_ptx_text;

/* The place of line `line` (from 1), its caret under the first of the words in quotes of `message` that is on
 * the line, else under the first token. A line beyond the end gives a place without text. */
cute_place cute_ptx_line(const cute_ptx_text *ptx, int64_t line, const char *message, size_t message_length);
/* The line of the declaration `.entry name` or `.func ... name`; 0: there is none. */
int64_t cute_ptx_function_line(const cute_ptx_text *ptx, const char *name, size_t length);
/* The user's place for PTX line `line`: of the .loc before it in the same function or, when the line declares
 * a function, of the first one in it. false: there is no line information. The strings are in `arena`; the
 * text of the line is read from the user's file where that exists. */
bool cute_ptx_source(cute_arena *arena, const cute_ptx_text *ptx, int64_t line, cute_place *out);

#endif
