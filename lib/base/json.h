/* Reading and writing JSON on jansson, with errors that name the file, the line and the path in
 * the document ("$.buffers.A.shape[1]"). */
#ifndef CUTE_LIB_JSON_H
#define CUTE_LIB_JSON_H

#include <jansson.h>

#include "lib/base/buffer.h"

/* Parses `text`; *out is owned by the caller (json_decref). Syntax errors carry line and column,
 * duplicate keys are refused. */
cute_status cute_json_parse(const char *label, const char *text, size_t length, json_t **out,
                            cute_diag *diag);
/* Appends `value`, indented by 2 (pretty) or on one line, keys in insertion order. */
void cute_json_dump(const json_t *value, bool pretty, cute_buffer *out);

#endif
