/* A JSON document together with its text, so that whatever is said about a value names its path
 * ("$.buffers.A.shape[1]") and points to it in the file. */
#ifndef CUTE_LIB_LAUNCH_CONFIG_DOCUMENT_H
#define CUTE_LIB_LAUNCH_CONFIG_DOCUMENT_H

#include <jansson.h>

#include "lib/base/buffer.h"

typedef struct cute_document {
    const char *label, *text;
    size_t length;
    json_t *root;
} cute_document;

/* A step from `up` (NULL: the root) to a member (key) or an element (key NULL, index). On the stack, or in an
 * arena. */
typedef struct cute_path {
    const struct cute_path *up;
    const char *key;
    size_t index;
} cute_path;

/* "$.buffers.A.shape[1]"; `path` NULL is "$". */
void cute_path_text(const cute_path *path, cute_buffer *out);
/* The place of a value, or of its key; file NULL when it is not in the text. */
cute_place cute_document_place(const cute_document *document, const cute_path *path, bool key);
/* An error about a value (`key`: about its key), "PATH: message". */
cute_status cute_document_fail(const cute_document *document, const cute_path *path, bool key,
                               cute_diag *diag, const char *format, ...) CUTE_PRINTF(5, 6);
void cute_document_report(const cute_document *document, const cute_path *path, bool key,
                          cute_severity severity, cute_diag *diag, const char *format, ...) CUTE_PRINTF(6, 7);

#endif
