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

/* ---- operations: a row each in ops.c ---- */

typedef struct cute_op_query {
    MlirContext context;
    MlirLocation location;
    intptr_t operand_count;
    const MlirValue *operands;
    MlirAttribute attributes; /* a dictionary, properties included; may be null */
} cute_op_query;

typedef struct cute_op_types {
    MlirType *items; /* grown by cute_op_types_add */
    intptr_t count, capacity;
} cute_op_types;
void cute_op_types_add(cute_op_types *types, MlirType type);

typedef struct cute_op_hooks {
    const char *name; /* "cute.size" */
    /* Appends the result types; false after an error at query->location. */
    bool (*infer)(const cute_op_query *query, cute_op_types *out);
    /* False after an error on `op`. */
    bool (*verify)(MlirOperation op);
    /* The constant that the only result is, or null. */
    MlirAttribute (*fold)(MlirOperation op);
} cute_op_hooks;

/* The integer attributes of an operation as the algebra wants them; `get` gives one by name, or null. *out
 * points into `arena`. */
typedef MlirAttribute (*cute_attribute_of)(void *context, MlirStringRef name);
cute_status cute_op_attributes(cute_arena *arena, cute_attribute_of get, void *context, cute_attributes *out,
                               cute_diag *diag);
/* Bits of what get_scalars gives for a leaf: 32, or 64 for an unknown i64 and a number that needs it. */
int cute_scalar_width(const cute_int *value);
/* NULL: nothing to do for this operation. */
const cute_op_hooks *cute_op_hooks_find(const char *name, size_t length);

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
