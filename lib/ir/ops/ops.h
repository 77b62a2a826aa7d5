/* What an operation of the dialect is, beside its definition in a .td file: a row with its functions.
 *
 * A family of operations is a file in this folder that exports its rows, and a line in families.def. An
 * operation that lib/layout computes (include/cute/layout_ops.def) has a row already; a family gives it
 * another one where it has rewrites, or is more than what lib/layout computes. */
#ifndef CUTE_LIB_IR_OPS_OPS_H
#define CUTE_LIB_IR_OPS_OPS_H

#include <mlir-c/IR.h>

#include "cute/layout.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct cute_op_row cute_op_row;

/* ---- inference ---- */

/* What is known of an operation before it is made. */
typedef struct cute_op_query {
    MlirContext context;
    MlirLocation location;
    intptr_t operand_count;
    const MlirValue *operands;
    MlirAttribute attributes; /* a dictionary, properties included; may be null */
    bool dsl;                 /* as CuTe DSL has it, which tells of more results what divides them */
    bool follows;             /* no result types are written: they have to follow from the operands */
} cute_op_query;

typedef struct cute_op_types {
    MlirType *items; /* grown by cute_op_types_add */
    intptr_t count, capacity;
} cute_op_types;
void cute_op_types_add(cute_op_types *types, MlirType type);

/* ---- rewrites ---- */

/* What takes the place of an operation: a value that is there, or a new operation of the algebra. */
typedef struct cute_rewrite {
    MlirValue value;  /* not null: for the only result */
    const char *name; /* else: "cute.size", its result type inferred */
    MlirValue operands[3];
    intptr_t operand_count;
    MlirNamedAttribute attributes[2];
    intptr_t attribute_count;
} cute_rewrite;

/* Rules of an operation, tried in order; the last row has no `rewrite`. */
typedef struct cute_op_rule {
    const char *from; /* the defining op of its first operand, "cute.make_layout"; NULL: anything */
    /* False when it does not apply to `op`. `source` is the defining op of the first operand (null where
     * `from` is NULL). */
    bool (*rewrite)(MlirOperation op, MlirOperation source, cute_rewrite *out);
} cute_op_rule;

/* ---- expansion and lowering ---- */

/* cute-expand-ops on one operation. */
typedef struct cute_expansion {
    struct cute_emitter *emitter;
    cute_arena *arena;
    cute_diag *diag;
} cute_expansion;

/* cute-to-base on one operation. Its values have the lowered types already. */
typedef struct cute_op_lowering {
    MlirOperation op;
    const MlirType *operands, *results; /* their types before */
} cute_op_lowering;

/* Of an operation that only puts a value together: what its operands are. */
typedef enum cute_op_parts {
    CUTE_PARTS_NONE,     /* it computes */
    CUTE_PARTS_LEAVES,   /* an integer for each unknown leaf */
    CUTE_PARTS_FIELDS,   /* the fields of what is stored */
    CUTE_PARTS_REVERSED, /* the same, last field first */
} cute_op_parts;

/* Functions that are NULL have nothing to do. */
struct cute_op_row {
    const char *name;       /* "cute.size" */
    cute_operation algebra; /* for the functions of algebra.h and compare.c */
    bool constant;          /* its result type is its value */
    cute_op_parts parts;
    /* Appends the result types; none where they do not follow. False after an error at query->location. */
    bool (*infer)(const cute_op_row *row, const cute_op_query *query, cute_op_types *out);
    /* False after an error on `op`. */
    bool (*verify)(const cute_op_row *row, MlirOperation op);
    /* The constant that the only result is, or null. NULL: a result without unknown leaves is cute.static. */
    MlirAttribute (*fold)(const cute_op_row *row, MlirOperation op);
    const cute_op_rule *simplify; /* of cute-canonicalize */
    const cute_op_rule *fuse;     /* of cute-layout-fusion */
    /* Replaces the results by arithmetic on the unknown leaves; the driver then destroys `op`. NULL: it stays
     * until cute-to-base. */
    cute_status (*expand)(const cute_op_row *row, const cute_expansion *x, MlirOperation op);
    bool (*expands)(MlirOperation op); /* false: this one stays. NULL: all go */
    /* Replaces the operation by those of other dialects, and destroys it; false after an error. NULL: it
     * must be expanded before. */
    bool (*lower)(const cute_op_row *row, const cute_op_lowering *l);
};

typedef struct cute_op_family {
    const cute_op_row *rows;
    size_t count;
} cute_op_family;

/* The rows of all families, those of the algebra last; the first of a name counts. */
typedef bool (*cute_op_visit)(const cute_op_row *row, void *context); /* false: no further */
void cute_op_rows_each(cute_op_visit visit, void *context);
/* By name, a linear search; NULL: there is none. */
const cute_op_row *cute_op_row_find(const char *name, size_t length);
/* Of an operation of the dialect, looked up in a table of its context; NULL for others. (cute.cpp) */
const cute_op_row *cute_op_row_of(MlirOperation op);

#ifdef __cplusplus
}
#endif
#endif
