/* The semantics of operations: one row of functions per operation, besides its definition in a .td file.
 *
 * A family of operations is a file in this folder that exports its rows, and a line in families.def.
 * Operations that lib/layout computes (include/cute/layout_ops.def) have default rows in algebra.c; a
 * family overrides those that have rewrites or additional semantics. */
#ifndef CUTE_LIB_IR_OPS_OPS_H
#define CUTE_LIB_IR_OPS_OPS_H

#include <mlir-c/IR.h>

#include "cute/layout.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct cute_op_row cute_op_row;

/* ---- inference ---- */

/* An operation before its creation. */
typedef struct cute_op_query {
    MlirContext context;
    MlirLocation location;
    intptr_t operand_count;
    const MlirValue *operands;
    MlirAttribute attributes; /* a dictionary, properties included; may be null */
    bool dsl;                 /* infer like CuTe DSL, which tracks more divisors */
    bool follows;             /* no result types are given: they must be inferred */
} cute_op_query;

typedef struct cute_op_types {
    MlirType *items; /* grown by cute_op_types_add */
    intptr_t count, capacity;
} cute_op_types;
void cute_op_types_add(cute_op_types *types, MlirType type);

/* ---- rewrites ---- */

/* The replacement of an operation: an existing value, or a new operation of the algebra. */
typedef struct cute_rewrite {
    MlirValue value;  /* replaces the single result; if null: */
    const char *name; /* the new operation, "cute.size", with an inferred result type */
    MlirValue operands[3];
    intptr_t operand_count;
    MlirNamedAttribute attributes[2];
    intptr_t attribute_count;
} cute_rewrite;

/* Rules of an operation, tried in order; the last row has no `rewrite`. */
typedef struct cute_op_rule {
    const char *from; /* required defining op of the first operand, "cute.make_layout"; NULL: any */
    /* False if the rule does not apply. `source` is the defining op of the first operand (null if `from`
     * is NULL). */
    bool (*rewrite)(MlirOperation op, MlirOperation source, cute_rewrite *out);
} cute_op_rule;

/* ---- expansion and lowering ---- */

/* cute-expand-ops on one operation. */
typedef struct cute_expansion {
    struct cute_emitter *emitter;
    cute_arena *arena;
    cute_diag *diag;
} cute_expansion;

/* cute-to-base on one operation, whose values already have lowered types. */
typedef struct cute_op_lowering {
    MlirOperation op;
    const MlirType *operands, *results; /* the original types */
} cute_op_lowering;

/* For an operation that only assembles a value: the role of its operands. */
typedef enum cute_op_parts {
    CUTE_PARTS_NONE,     /* not such an operation */
    CUTE_PARTS_LEAVES,   /* one integer per dynamic leaf */
    CUTE_PARTS_FIELDS,   /* the fields of the lowered struct */
    CUTE_PARTS_REVERSED, /* the fields, last first */
} cute_op_parts;

/* All functions are optional. */
struct cute_op_row {
    const char *name;       /* "cute.size" */
    cute_operation algebra; /* for the functions of algebra.h and compare.c */
    bool constant;          /* the result type determines the value */
    cute_op_parts parts;
    /* Appends the result types, or none if they cannot be inferred. False after an error at
     * query->location. */
    bool (*infer)(const cute_op_row *row, const cute_op_query *query, cute_op_types *out);
    /* False after an error on `op`. */
    bool (*verify)(const cute_op_row *row, MlirOperation op);
    /* The constant value of the single result, or null. Default: a static result is cute.static. */
    MlirAttribute (*fold)(const cute_op_row *row, MlirOperation op);
    const cute_op_rule *simplify; /* rules of cute-canonicalize */
    const cute_op_rule *fuse;     /* rules of cute-layout-fusion */
    /* Replaces the results by arithmetic on dynamic leaves; the driver then destroys `op`. NULL: kept
     * until cute-to-base. */
    cute_status (*expand)(const cute_op_row *row, const cute_expansion *x, MlirOperation op);
    bool (*expands)(MlirOperation op); /* whether to expand this operation. NULL: always */
    /* Replaces the operation by operations of other dialects and destroys it; false after an error. NULL:
     * it must have been expanded. */
    bool (*lower)(const cute_op_row *row, const cute_op_lowering *l);
};

typedef struct cute_op_family {
    const cute_op_row *rows;
    size_t count;
} cute_op_family;

/* Visits the rows of all families, the defaults of the algebra last; the first row of a name is used. */
typedef bool (*cute_op_visit)(const cute_op_row *row, void *context); /* false: stop */
void cute_op_rows_each(cute_op_visit visit, void *context);
/* Linear search by name; NULL if not found. */
const cute_op_row *cute_op_row_find(const char *name, size_t length);
/* The row of an operation, from a table in its context; NULL for other dialects. (cute.cpp) */
const cute_op_row *cute_op_row_of(MlirOperation op);

#ifdef __cplusplus
}
#endif
#endif
