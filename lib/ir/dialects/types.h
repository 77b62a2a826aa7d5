/* Types of cute and cute_nvgpu: their rows (types.def), access from C, and the dialect handles. */
#ifndef CUTE_LIB_IR_DIALECTS_TYPES_H
#define CUTE_LIB_IR_DIALECTS_TYPES_H

#include <mlir-c/IR.h>

#include "cute/layout.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- rows ---- */

struct cute_fields;

enum { CUTE_NO_VALUE = -1 };
typedef enum cute_type_index {
#define CUTE_IR_TYPE(cls, ...) CUTE_TYPE_INDEX_##cls,
#define CUTE_IR_TEXT(cls, ...) CUTE_TYPE_INDEX_##cls,
#include "lib/ir/dialects/types.def"
    CUTE_TYPE_INDICES
} cute_type_index;

typedef struct cute_type_row {
    const char *dialect;  /* "cute" */
    const char *mnemonic; /* "layout" */
    int kind;             /* a cute_type, or CUTE_NO_VALUE */
    /* Parses `text`; *out, its canonical form, in `arena`. On failure *offset is the byte at fault. */
    cute_status (*canonical)(const struct cute_type_row *row, cute_arena *arena, const char *text,
                             size_t length, const char **out, size_t *offset, cute_diag *diag);
    /* The text for `count` integers in place of the string (`!cute.layout<2>`). */
    cute_status (*sugar)(const struct cute_type_row *row, cute_arena *arena, const int64_t *values, int count,
                         const char **out, cute_diag *diag);
    /* The lowered type of a value of `type`, a type of this row, after cute-to-base; null when memory is
     * exhausted. */
    MlirType (*lower)(MlirContext context, cute_arena *arena, MlirType type);
    /* See fields.h. */
    void (*walk)(struct cute_fields *fields, const cute_value *value);
} cute_type_row;

const cute_type_row *cute_type_row_at(cute_type_index index);
/* Finds `mnemonic` of `dialect` among the types whose text is not in quotes (CUTE_IR_TEXT). */
bool cute_type_row_find(const char *dialect, const char *mnemonic, cute_type_index *out);
/* The mnemonic of `dialect` nearest to an unknown one, or NULL. */
const char *cute_type_row_nearest(const char *dialect, const char *mnemonic);
/* Parses a text of the row to a value of lib/layout. *offset as for cute_value_parse. */
cute_status cute_type_row_value(const cute_type_row *row, cute_arena *arena, const char *text, size_t length,
                                cute_value *out, size_t *offset, cute_diag *diag);
/* The row of a kind of lib/layout's values. */
const cute_type_row *cute_type_row_of_kind(cute_type kind);
/* The row of a type of our dialects; NULL for other types. */
const cute_type_row *cute_type_row_of(MlirType type);
/* cute_type_row.sugar, or an error if the row has none. */
cute_status cute_type_sugar(const cute_type_row *row, cute_arena *arena, const int64_t *values, int count,
                            const char **out, cute_diag *diag);

/* ---- types ---- */

/* The type of a row with a canonical `text`. */
MlirType cute_type_get(MlirContext context, cute_type_index index, MlirStringRef text);
/* The kind of a type whose values are lib/layout's; false for other types. */
bool cute_type_is(MlirType type, cute_type *kind);
/* Its text; lives as long as the context. */
MlirStringRef cute_type_text(MlirType type);
/* The value of lib/layout that a type describes, without handles for dynamic leaves; NULL for other types.
 * Lives as long as the context. */
const cute_value *cute_type_peek(MlirType type);
/* A copy of it; CUTE_INVALID for other types. */
cute_status cute_type_value(MlirType type, cute_value *out, cute_diag *diag);
/* The type that describes `value`. */
MlirType cute_type_of_value(MlirContext context, cute_arena *arena, const cute_value *value);
/* Whether a type has no dynamic leaves, so that it determines its value. */
bool cute_type_is_static(MlirType type);
/* The text of a `#cute.coord<"...">`; empty for other attributes. */
MlirStringRef cute_coord_text(MlirAttribute attribute);
/* The same of `#cute.shape<"...">`. */
MlirStringRef cute_shape_text(MlirAttribute attribute);
/* The enumerator of an attribute of cute_nvgpu (words.def); empty for other attributes. */
MlirStringRef cute_word_text(MlirAttribute attribute);

void cute_dialect_insert(MlirDialectRegistry registry);
void cute_nvgpu_dialect_insert(MlirDialectRegistry registry);
MlirDialectHandle cute_dialect_handle(void);
MlirDialectHandle cute_cuda_dialect_handle(void);
MlirDialectHandle cute_nvgpu_dialect_handle(void);

#ifdef __cplusplus
}
#endif
#endif
