/* What the generated dialect asks C, and how C makes and reads its types. */
#ifndef CUTE_LIB_HOOKS_H
#define CUTE_LIB_HOOKS_H

#include <mlir-c/IR.h>

#include "cute/layout.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- types ---- */

/* The type of `kind` with `text`, which is canonical. */
MlirType cute_type_get(MlirContext context, cute_type kind, MlirStringRef text);
/* The kind of a type of this dialect; false for any other type. */
bool cute_type_is(MlirType type, cute_type *kind);
/* Its text; lives as long as the context. */
MlirStringRef cute_type_text(MlirType type);
/* The value that a type of this dialect describes; its unknown leaves have no handles. It lives as long as
 * the context; NULL for other types. */
const cute_value *cute_type_peek(MlirType type);
/* A copy of it; CUTE_INVALID for other types. */
cute_status cute_type_value(MlirType type, cute_value *out, cute_diag *diag);
/* The type that describes `value`. */
MlirType cute_type_of_value(MlirContext context, cute_arena *arena, const cute_value *value);
/* A type of this dialect without unknown leaves. */
bool cute_type_is_static(MlirType type);

/* Parses and canonicalises; *out in `arena`. On failure *offset is the byte of `text` at fault. */
cute_status cute_type_canonical(cute_arena *arena, cute_type kind, const char *text, size_t length,
                                const char **out, size_t *offset, cute_diag *diag);
/* The text that `count` integers in place of the string stand for (`!cute.layout<2>`). */
cute_status cute_type_sugar(cute_arena *arena, cute_type kind, const int64_t *values, int count,
                            const char **out, cute_diag *diag);

void cute_dialect_insert(MlirDialectRegistry registry);
MlirDialectHandle cute_dialect_handle(void);

#ifdef __cplusplus
}
#endif
#endif
