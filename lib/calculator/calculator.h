/* The calculator of `cute-dump layout`: input lines of text, output values of the layout algebra.
 * docs/layouts.md is its manual. lib/layout implements the algebra; this room adds the syntax of expressions,
 * the named functions, and the answers. */
#ifndef CUTE_LIB_CALCULATOR_CALCULATOR_H
#define CUTE_LIB_CALCULATOR_CALCULATOR_H

#include "cute/layout.h"
#include "lib/base/buffer.h"

/* Holds the variables defined by `let`. Not thread-safe. */
typedef struct cute_calculator cute_calculator;

/* NULL when memory is exhausted. */
cute_calculator *cute_calculator_create(void);
void cute_calculator_destroy(cute_calculator *calculator);

/* One line of input, without newlines. */
typedef struct cute_calculator_line {
    const char *file; /* for messages: "<stdin>" */
    int number;
    const char *text;
    size_t length;
} cute_calculator_line;

typedef enum cute_answer_kind {
    CUTE_ANSWER_NONE,       /* a blank line or a comment */
    CUTE_ANSWER_DEFINITION, /* `let a = ...`: the value is stored, nothing is printed */
    CUTE_ANSWER_VALUE,
    CUTE_ANSWER_ERROR,
} cute_answer_kind;

typedef struct cute_answer {
    cute_answer_kind kind;
    cute_value value;
    const char *input;   /* the expression without comments and surrounding spaces; in the arena */
    const char *error;   /* in the arena; NULL unless the line failed */
    const char *warning; /* in the arena; NULL: none */
} cute_answer;

/* Evaluates one line; the contents of *out are in `arena`. CUTE_INVALID if the line fails: *out has the
 * reason, `diag` (may be NULL) the message with its place. CUTE_SYSTEM when memory is exhausted. Further
 * lines can be evaluated after either. */
cute_status cute_calculator_eval(cute_calculator *calculator, cute_arena *arena,
                                 const cute_calculator_line *line, cute_answer *out, cute_diag *diag);

/* Prints the answer as a line: the value's text, or `error: reason`. Prints nothing for blank lines and
 * definitions. */
void cute_answer_print(cute_arena *arena, const cute_answer *answer, cute_buffer *out);
/* Prints the answer as one JSON object on a line: input, result, error, size, cosize, injective, contiguous,
 * each null if not applicable or undecided; and warning if there is one. */
void cute_answer_json(cute_arena *arena, const cute_answer *answer, cute_buffer *out);

/* The functions for --help: one usage per call, NULL past the last. */
const char *cute_calculator_function(size_t index);

#endif
