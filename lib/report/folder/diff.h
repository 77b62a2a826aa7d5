/* Two dump folders, modules or MLIR files beside each other: what is not the same. One value, a JSON document (docs/man,
 * cute-dump(1) has its keys), from which the text and the page are made. */
#ifndef CUTE_LIB_REPORT_FOLDER_DIFF_H
#define CUTE_LIB_REPORT_FOLDER_DIFF_H

#include "lib/base/text/json.h"

/* `arch` (may be NULL) chooses of fatbins. *out is released by the caller. CUTE_INVALID: the two are of different kinds, or
 * one is none of these. */
cute_status cute_diff_make(const char *a, const char *b, const char *arch, const char *cuda_path,
                           json_t **out, cute_diag *diag);
void cute_diff_print(const json_t *difference, bool colour, cute_buffer *out);
/* A page that needs no other file. */
void cute_diff_html(const json_t *difference, cute_buffer *out);

#endif
