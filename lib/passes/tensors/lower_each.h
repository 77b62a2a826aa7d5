/* Lowering operations on tensors, one after the other: what cute-nvgpu-copy-lowering and cute-nvgpu-mma-lowering share. */
#ifndef CUTE_LIB_PASSES_TENSORS_LOWER_EACH_H
#define CUTE_LIB_PASSES_TENSORS_LOWER_EACH_H

#include "lib/ir/mlir/shim.h"
#include "lib/ir/ops/ops.h"

typedef struct cute_lower_row {
    const char *name; /* "cute.copy" */
    /* Makes what takes the place of `op`, before it, and replaces its results; the driver then destroys it. */
    cute_status (*lower)(const cute_expansion *x, const cute_pass_run *pass, MlirOperation op);
} cute_lower_row;

typedef struct cute_lower_table {
    const cute_lower_row *rows;
    size_t count;
} cute_lower_table;

/* Lowers each operation inside of `root` whose name begins with `prefix` and that has a row in one of the tables; errors stand
 * at the operation. Values that were only put together for what is gone go too. */
void cute_lower_tables(MlirOperation root, cute_pass_run *pass, const char *prefix,
                       const cute_lower_table *tables, size_t count);
/* The same with one table. */
void cute_lower_rows(MlirOperation root, cute_pass_run *pass, const char *prefix, const cute_lower_row *rows,
                     size_t count);

#endif
