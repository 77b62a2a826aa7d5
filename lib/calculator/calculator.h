/* The calculator of `cute-dump layout`: lines of text in, values of the layout algebra out. docs/layouts.md
 * is its manual. The algebra is lib/layout's; here are the syntax of expressions, the functions by name, and
 * answers. */
#ifndef CUTE_LIB_CALCULATOR_CALCULATOR_H
#define CUTE_LIB_CALCULATOR_CALCULATOR_H

#include "cute/layout.h"
#include "lib/base/buffer.h"

/* Holds what `let` named. Not thread-safe. */
typedef struct cute_calculator cute_calculator;

/* NULL when memory is exhausted. */
cute_calculator *cute_calculator_create(void);
void cute_calculator_destroy(cute_calculator *calculator);

/* One line of input; nothing in it is a newline. */
typedef struct cute_calculator_line {
    const char *file; /* for places: "<stdin>" */
    int number;
    const char *text;
    size_t length;
} cute_calculator_line;

typedef enum cute_answer_kind {
    CUTE_ANSWER_NONE,       /* a blank line or a comment */
    CUTE_ANSWER_DEFINITION, /* `let a = ...`: the value is kept, nothing is to be said */
    CUTE_ANSWER_VALUE,
    CUTE_ANSWER_ERROR,
} cute_answer_kind;

typedef struct cute_answer {
    cute_answer_kind kind;
    cute_value value;
    const char *input;   /* the expression without comment and spaces around it; in the arena */
    const char *error;   /* in the arena; NULL unless the line was refused */
    const char *warning; /* in the arena; NULL: none */
} cute_answer;

/* Evaluates one line; what *out points to lives in `arena`. CUTE_INVALID for a line that is refused: *out
 * says why, `diag` (may be NULL) where. CUTE_SYSTEM when memory is exhausted. Lines go on after either. */
cute_status cute_calculator_eval(cute_calculator *calculator, cute_arena *arena,
                                 const cute_calculator_line *line, cute_answer *out, cute_diag *diag);

/* The answer as a line: the value's text, or `error: why`. Nothing for none and definitions. */
void cute_answer_print(cute_arena *arena, const cute_answer *answer, cute_buffer *out);
/* The answer as one JSON object on a line: input, result, error, size, cosize, injective, contiguous, each
 * null where it does not apply or was not decided; and warning where there is one. */
void cute_answer_json(cute_arena *arena, const cute_answer *answer, cute_buffer *out);

/* The functions for --help: a name per call, NULL behind the last. */
const char *cute_calculator_function(size_t index);

#endif
