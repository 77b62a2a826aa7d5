/* Expressions over named values, parsed once: `ceil_div(M, 128) * 2`. Integers for `${...}` and launch.json,
 * real numbers for the checks of cute-run.
 * Grammar: C's ?: || && == != < <= > >= + - * / % unary - ! calls, parentheses, names (letters, digits, _),
 * integers (0x too); real numbers where allowed: 1.5e3, inf, nan; indexed names `A[i, j]` where the
 * environment supports them. */
#ifndef CUTE_LIB_BASE_NUMBERS_EXPR_H
#define CUTE_LIB_BASE_NUMBERS_EXPR_H

#include "cute/base.h"

typedef struct cute_expr cute_expr;

/* Parses `length` bytes of `text`; the tree is in `arena`. `origin` (may be NULL) is the place of the first
 * byte; error columns are relative to it. */
cute_status cute_expr_parse(cute_arena *arena, const char *text, size_t length, const cute_place *origin,
                            cute_expr **out, cute_diag *diag);

/* Looks up a name; false if undefined. */
typedef bool (*cute_expr_lookup)(void *context, const char *name, int64_t *value);

/* Checked 64-bit evaluation; / and % truncate and reject 0; functions ceil_div(a, b), round_up(a, b), min,
 * max, abs, log2 (of a power of two). An unknown name, overflow, wrong operand count or non-integer is
 * CUTE_INVALID at its place. */
cute_status cute_expr_int(const cute_expr *expr, cute_expr_lookup lookup, void *context, int64_t *out,
                          cute_diag *diag);

#endif
