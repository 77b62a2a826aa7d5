/* `-D NAME=VALUE`: one source for many tiles and types. */
#ifndef CUTE_LIB_IR_TEXT_DEFINES_H
#define CUTE_LIB_IR_TEXT_DEFINES_H

#include "lib/base/buffer.h"
#include "lib/ir/text/include.h"

typedef struct cute_define {
    const char *name, *value;
} cute_define;

/* Splits "NAME=VALUE" ("NAME" alone is 1). CUTE_USAGE for what is no name, or one given twice. */
cute_status cute_defines_parse(cute_arena *arena, const char *const *texts, size_t count, cute_define **out,
                               cute_diag *diag);

/* What was put in the place of a `${...}`: bytes of the text before and after. */
typedef struct cute_edit {
    size_t from, from_length, to, to_length;
} cute_edit;

/* In order. {.arena = ...} is an empty list. */
typedef struct cute_edits {
    cute_arena *arena;
    cute_edit *items;
    size_t count, capacity;
} cute_edits;

/* Copies `text` to *out, in the spelling that MLIR 19 reads (spellings.h) and with `${NAME}` and integer
 * expressions `${BM*BN/2}` replaced. A value that is not an integer can only stand alone. What inline
 * assembly writes stays: `$${` and `${0:c}` after a digit and colon; so do comments. An undefined name or a bad expression is
 * CUTE_INVALID at its place in `sources`, which joined the text. What was replaced is added to *edits. */
cute_status cute_defines_apply(const cute_sources *sources, const char *text, size_t length,
                               const cute_define *defines, size_t count, cute_buffer *out, cute_edits *edits,
                               cute_diag *diag);

#endif
