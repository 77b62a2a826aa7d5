/* Helpers for MLIR's C API, for lib/ir, lib/passes and lib/ptx. */
#ifndef CUTE_LIB_IR_MLIR_UTIL_H
#define CUTE_LIB_IR_MLIR_UTIL_H

#include <mlir-c/BuiltinAttributes.h>
#include <mlir-c/BuiltinTypes.h>
#include <mlir-c/Diagnostics.h>
#include <mlir-c/IR.h>
#include <string.h>

#include "lib/base/buffer.h"

static inline MlirStringRef cute_text(const char *text)
{
    return mlirStringRefCreateFromCString(text);
}
static inline bool cute_text_is(MlirStringRef a, const char *b)
{
    return a.length == strlen(b) && memcmp(a.data, b, a.length) == 0;
}
static inline bool cute_op_is(MlirOperation op, const char *name)
{
    return cute_text_is(mlirIdentifierStr(mlirOperationGetName(op)), name);
}
/* Whether `op` belongs to a dialect, given as "math.". */
static inline bool cute_op_of(MlirOperation op, const char *dialect)
{
    MlirStringRef name = mlirIdentifierStr(mlirOperationGetName(op));
    size_t length = strlen(dialect);
    return name.length > length && memcmp(name.data, dialect, length) == 0;
}
static inline bool cute_op_has(MlirOperation op, const char *attribute)
{
    return !mlirAttributeIsNull(mlirOperationGetAttributeByName(op, cute_text(attribute)));
}

MlirNamedAttribute cute_attribute(MlirContext context, const char *name, MlirAttribute value);
MlirAttribute cute_string_attribute(MlirContext context, const char *text);
/* Callback for the C API's print functions: appends to a cute_buffer. */
void cute_print_to_buffer(MlirStringRef text, void *buffer);
typedef enum cute_walk_order {
    CUTE_WALK_OUTER_FIRST,
    CUTE_WALK_INNER_FIRST,
    CUTE_WALK_LAST_FIRST, /* users before definitions, inner before outer */
} cute_walk_order;
/* Calls `visit` for `root` and each nested operation named `name` (NULL: all; "math.": all of a dialect).
 * `visit` may erase its operation; operations that it creates are not visited. */
void cute_op_walk(MlirOperation root, const char *name, cute_walk_order order,
                  void (*visit)(MlirOperation op, void *context), void *context);
/* The same, outer first. */
void cute_op_each(MlirOperation root, const char *name, void (*visit)(MlirOperation op, void *context),
                  void *context);
/* The defining operation of `value`; null for a block argument. */
MlirOperation cute_defining_op(MlirValue value);
/* Whether an operation in the body of `module` has the symbol `name`. */
bool cute_symbol_in(MlirOperation module, const char *name);
/* A handler that discards all diagnostics, for mlirContextDetachDiagnosticHandler. */
MlirDiagnosticHandlerID cute_discard_diagnostics(MlirContext context);
/* The nearest enclosing operation named `name`, or null. */
MlirOperation cute_op_parent(MlirOperation op, const char *name);
/* The operation with the only use of a value; null: it is used otherwise, or not at all. */
MlirOperation cute_only_user(MlirValue value);
/* Whether `a` is `b`, or in front of `b` in the same block. */
bool cute_op_in_front(MlirOperation a, MlirOperation b);
/* Its sym_name; empty: it has none. */
MlirStringRef cute_op_symbol(MlirOperation op);

#endif
