/* Rewrites of one operation by what made its operands, from a table, until none applies. */
#ifndef CUTE_LIB_PASSES_PEEPHOLE_H
#define CUTE_LIB_PASSES_PEEPHOLE_H

#include <mlir-c/IR.h>

#include "lib/ir/util.h"

/* What takes the place of an operation: a value that is there, or a new operation. */
typedef struct cute_rewrite {
    MlirValue value;  /* not null: for the only result */
    const char *name; /* else: a new operation, its result type inferred */
    MlirValue operands[3];
    intptr_t operand_count;
    MlirNamedAttribute attributes[2];
    intptr_t attribute_count;
} cute_rewrite;

typedef struct cute_peephole {
    const char *op;   /* "cute.get_shape" */
    const char *from; /* what makes its first operand; NULL: anything */
    /* False when it does not apply to `op`. `source` is the operation that makes the first operand (null
     * where `from` is NULL). */
    bool (*rewrite)(MlirOperation op, MlirOperation source, cute_rewrite *out);
} cute_peephole;

/* Applies the rows to all operations in `root`, in order, until none applies. A rewrite whose result is not
 * of the old type is dropped: a rule need not prove what the types decide. Returns how many were done.
 * Operations that nothing uses any more go. */
size_t cute_peephole_run(MlirOperation root, const cute_peephole *table, size_t count);

/* The new operation of `r` before `where`; null, without a diagnostic, when the algebra refuses it. */
MlirOperation cute_rewrite_insert(MlirOperation where, const cute_rewrite *r);

/* The operation that makes `value`, or null for a block argument. */
MlirOperation cute_maker(MlirValue value);

#endif
