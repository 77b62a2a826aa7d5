/* Shared by the calculator's parser and functions. */
#ifndef CUTE_LIB_CALCULATOR_PARSE_H
#define CUTE_LIB_CALCULATOR_PARSE_H

#include "cute/layout.h"

/* One evaluation. After a failure, `status` is not CUTE_OK and the message has been reported. */
typedef struct calculation {
    cute_arena *arena;
    cute_diag *diag;
    cute_diag *trial; /* receives messages without a place; empty between calls */
    cute_place line;  /* file, line, text; columns are set when a message is reported */
    cute_status status;
    const char *error, *warning;
    /* The value of a name, or NULL. */
    const cute_value *(*lookup)(void *context, const char *name, size_t length);
    void *context;
} calculation;

/* A value and its bytes in the line. */
typedef struct operand {
    cute_value value;
    size_t start, end;
} operand;

/* Reports at bytes [start, end) of the line, unless there was an earlier failure; returns false. */
bool calc_fail(calculation *c, size_t start, size_t end, const char *format, ...) CUTE_PRINTF(4, 5);
bool calc_exhausted(calculation *c);
void calc_warn(calculation *c, size_t start, size_t end, const char *format, ...) CUTE_PRINTF(4, 5);
/* Reports the first message of `trial` at [start, end), after `prefix`, with its status. */
bool calc_pass_on(calculation *c, cute_status status, size_t start, size_t end, const char *prefix);

/* "composed layout"; for messages. */
const char *calc_kind(const cute_value *value);
/* "layout (4,2):(1,4)", for messages; never NULL. */
const char *calc_describe(calculation *c, const cute_value *value);

/* ---- conversions (call.c) ---- */

/* Converts to another tuple type if the leaves allow it. */
bool calc_as_tuple(const cute_value *value, cute_type type, cute_value *out);
/* A layout or composed layout unchanged, a shape as the compact layout. */
bool calc_as_layout(calculation *c, const operand *from, cute_value *out);
/* An element of a tile: a layout, a tile, `_`, or a shape as the compact layout. NULL after a failure. */
const cute_tree *calc_tile_leaf(calculation *c, const operand *from);

/* ---- functions (call.c) ---- */

enum { CALC_MAX_ATTRIBUTES = 64 };

typedef struct invocation {
    const char *name;
    size_t name_length, start, end; /* of the whole call */
    const operand *operands;
    size_t count;
    const int64_t *attributes; /* the numbers of name<...> */
    size_t attribute_count;
} invocation;

bool calc_call(calculation *c, const invocation *call, cute_value *out);

/* ---- parser (parse.c) ---- */

/* Parses and evaluates the expression in bytes [start, end) of the line. */
bool calc_expression(calculation *c, size_t start, size_t end, cute_value *out);
bool calc_is_name_start(char c);
bool calc_is_name_char(char c);
/* True for "o", "S" and so on, which cannot be names. */
bool calc_is_reserved(const char *name, size_t length);

#endif
