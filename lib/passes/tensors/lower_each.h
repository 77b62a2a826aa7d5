/* Table-driven lowering of operations on tensors, shared by cute-nvgpu-copy-lowering and
 * cute-nvgpu-mma-lowering. */
#ifndef CUTE_LIB_PASSES_TENSORS_LOWER_EACH_H
#define CUTE_LIB_PASSES_TENSORS_LOWER_EACH_H

#include "lib/ir/mlir/shim.h"
#include "lib/ir/ops/ops.h"

typedef struct cute_lower_row {
    const char *name; /* "cute.copy" */
    /* Builds the replacement before `op` and replaces its results; the driver then erases `op`. */
    cute_status (*lower)(const cute_expansion *x, const cute_pass_run *pass, MlirOperation op);
} cute_lower_row;

typedef struct cute_lower_table {
    const cute_lower_row *rows;
    size_t count;
} cute_lower_table;

/* Lowers each operation inside `root` whose name begins with `prefix` and has a row in one of the tables;
 * errors are reported at the operation. Removes operands that become unused. */
void cute_lower_tables(MlirOperation root, cute_pass_run *pass, const char *prefix,
                       const cute_lower_table *tables, size_t count);
/* As above, with one table. */
void cute_lower_rows(MlirOperation root, cute_pass_run *pass, const char *prefix, const cute_lower_row *rows,
                     size_t count);

#endif
