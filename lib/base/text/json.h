/* Reading and writing JSON on jansson, with errors that name the file, the line and the path in
 * the document ("$.buffers.A.shape[1]"). */
#ifndef CUTE_LIB_BASE_TEXT_JSON_H
#define CUTE_LIB_BASE_TEXT_JSON_H

#include <jansson.h>

#include "lib/base/buffer.h"

/* Parses `text`; *out is owned by the caller (json_decref). Syntax errors carry line and column,
 * duplicate keys are refused. */
cute_status cute_json_parse(const char *label, const char *text, size_t length, json_t **out,
                            cute_diag *diag);
/* Appends `value`, indented by 2 (pretty) or on one line, keys in insertion order. */
void cute_json_dump(const json_t *value, bool pretty, cute_buffer *out);
/* The end of a report that is text or JSON: appends `value` where `json`, and releases it. The text of `out`, which the
 * caller frees; NULL when memory is exhausted. */
char *cute_json_finish(json_t *value, bool json, cute_buffer *out);
/* A string; what is not UTF-8 says so. NULL of NULL. */
json_t *cute_json_text(const char *text);
/* A list of integers; those that are `unknown` are null. */
json_t *cute_json_integers(const int64_t *values, size_t count, int64_t unknown);

#endif
