/* A JSON document with its text, so that messages about a value name its path ("$.buffers.A.shape[1]") and
 * its place in the file. */
#ifndef CUTE_LIB_LAUNCH_CONFIG_DOCUMENT_H
#define CUTE_LIB_LAUNCH_CONFIG_DOCUMENT_H

#include <jansson.h>

#include "lib/base/buffer.h"

typedef struct cute_document {
    const char *label, *text;
    size_t length;
    json_t *root;
} cute_document;

/* A member (`key`) or element (`index`, if `key` is NULL) of the value at `up` (NULL: the root). */
typedef struct cute_path {
    const struct cute_path *up;
    const char *key;
    size_t index;
} cute_path;

/* "$.buffers.A.shape[1]"; "$" for NULL. */
void cute_path_text(const cute_path *path, cute_buffer *out);
/* The place of a value, or of its key; without a line if it is not in the text. */
cute_place cute_document_place(const cute_document *document, const cute_path *path, bool key);
/* Reports "PATH: message" at a value, or at its key. */
cute_status cute_document_fail(const cute_document *document, const cute_path *path, bool key,
                               cute_diag *diag, const char *format, ...) CUTE_PRINTF(5, 6);
void cute_document_report(const cute_document *document, const cute_path *path, bool key,
                          cute_severity severity, cute_diag *diag, const char *format, ...) CUTE_PRINTF(6, 7);

#endif
