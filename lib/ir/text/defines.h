/* `-D NAME=VALUE`: substitutes `${NAME}` in the text. */
#ifndef CUTE_LIB_IR_TEXT_DEFINES_H
#define CUTE_LIB_IR_TEXT_DEFINES_H

#include "lib/base/buffer.h"
#include "lib/base/text/include.h"

typedef struct cute_define {
    const char *name, *value;
} cute_define;

/* Splits "NAME=VALUE" ("NAME" alone is 1). CUTE_USAGE for an invalid or duplicate name. */
cute_status cute_defines_parse(cute_arena *arena, const char *const *texts, size_t count, cute_define **out,
                               cute_diag *diag);

/* A line `//!param BM = 128 in 64, 128, 256`: the value of a name that -D does not give, and those worth trying. The value may be an expression
 * of names of -D and of parameters in front of it: `//!param BN = ${D > 64 ? 128 : 96}`. */
typedef struct cute_param {
    const char *name, *value;
    const char **candidates;
    size_t candidate_count;
    size_t at, value_at; /* bytes of the name and the value in the text */
} cute_param;

/* The parameters that `text` declares, in `arena`, with their values. CUTE_INVALID at a line that is not one, a name that is declared
 * twice, or an expression that cannot be evaluated; places are found in `sources`. The expression of a parameter that -D gives is kept as text. */
cute_status cute_params_read(cute_arena *arena, const cute_sources *sources, const char *text, size_t length,
                             const cute_define *defines, size_t define_count, cute_param **out, size_t *count,
                             cute_diag *diag);

/* A replacement: byte ranges in the text before and after. */
typedef struct cute_edit {
    size_t from, from_length, to, to_length;
} cute_edit;

/* In order. {.arena = ...} is an empty list. */
typedef struct cute_edits {
    cute_arena *arena;
    cute_edit *items;
    size_t count, capacity;
} cute_edits;

/* Copies `text` to *out in the spelling of MLIR 19 (spellings.h), replacing `${NAME}` by the value of -D or of a
 * parameter, and integer
 * expressions `${BM*BN/2}`. A value that is not an integer cannot be part of an expression. Comments and
 * operands of inline assembly (`$${`, `${0:c}`) are kept. An undefined name or invalid expression is
 * CUTE_INVALID at its place in `sources`, the files of the text. Replacements are added to *edits. */
cute_status cute_defines_apply(const cute_sources *sources, const char *text, size_t length,
                               const cute_define *defines, size_t count, cute_buffer *out, cute_edits *edits,
                               cute_diag *diag);

#endif
