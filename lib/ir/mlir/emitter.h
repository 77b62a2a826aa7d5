/* The arithmetic of lib/layout that builds arith operations: what folds by inference is emitted by the same
 * code. */
#ifndef CUTE_LIB_IR_MLIR_EMITTER_H
#define CUTE_LIB_IR_MLIR_EMITTER_H

#include "cute/layout.h"
#include "lib/ir/mlir/builder.h"

#define CUTE_EMITTER_DEPTH 16 /* nested ifs */

/* Emits at its builder's insertion point; while an if is open, inside of it. */
typedef struct cute_emitter {
    cute_builder builder;
    MlirAttribute nsw; /* made when first needed */
    struct {
        MlirValue condition;
        MlirBlock then, otherwise;
        cute_builder outside; /* where the if itself goes */
    } ifs[CUTE_EMITTER_DEPTH];
    int depth;
} cute_emitter;

/* At `builder`. `emitter` starts zeroed, serves one context, and lives as long as the arithmetic is used.
 * Handles are the `ptr` of MlirValues. */
cute_arith cute_emitter_start(cute_emitter *emitter, const cute_builder *builder);

#endif
