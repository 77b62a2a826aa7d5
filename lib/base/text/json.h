/* Parses and writes JSON with jansson; errors have file, line and column. */
#ifndef CUTE_LIB_BASE_TEXT_JSON_H
#define CUTE_LIB_BASE_TEXT_JSON_H

#include <jansson.h>

#include "lib/base/buffer.h"

/* Parses `text`; the caller owns *out (json_decref). Syntax errors have line and column; duplicate keys are
 * rejected. */
cute_status cute_json_parse(const char *label, const char *text, size_t length, json_t **out,
                            cute_diag *diag);
/* Appends `value`, indented by 2 (pretty) or on one line, keys in insertion order. */
void cute_json_dump(const json_t *value, bool pretty, cute_buffer *out);
/* Finishes a report that is text or JSON: if `json`, appends `value`; releases it. Returns the text of `out`,
 * which the caller frees; NULL when memory is exhausted. */
char *cute_json_finish(json_t *value, bool json, cute_buffer *out);
/* A string; "(not UTF-8)" for invalid text. NULL for NULL. */
json_t *cute_json_text(const char *text);
/* An array of integers; those equal to `unknown` become null. */
json_t *cute_json_integers(const int64_t *values, size_t count, int64_t unknown);

#endif
