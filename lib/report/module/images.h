/* The device code images in a file of any kind, as text or JSON. */
#ifndef CUTE_LIB_REPORT_MODULE_IMAGES_H
#define CUTE_LIB_REPORT_MODULE_IMAGES_H

#include "lib/base/text/json.h"

/* A list with one object per image; the caller releases *out. CUTE_INVALID: damaged, or no device code. */
cute_status cute_report_images_json(const char *label, const void *bytes, size_t length, json_t **out,
                                    cute_diag *diag);
/* Prints such a list as a table. */
void cute_report_images(const json_t *images, cute_buffer *out);

#endif
