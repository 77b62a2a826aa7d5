/* Implements lib/layout's arithmetic interface by building arith operations, so that type inference and
 * code generation share one algorithm. */
#ifndef CUTE_LIB_IR_MLIR_EMITTER_H
#define CUTE_LIB_IR_MLIR_EMITTER_H

#include "cute/layout.h"
#include "lib/ir/mlir/builder.h"

#define CUTE_EMITTER_DEPTH 16 /* nested ifs */

/* Emits at the insertion point of its builder, or in the innermost open if. */
typedef struct cute_emitter {
    cute_builder builder;
    MlirAttribute nsw; /* created on first use */
    struct {
        MlirValue condition;
        MlirBlock then, otherwise;
        cute_builder outside; /* insertion point of the scf.if */
    } ifs[CUTE_EMITTER_DEPTH];
    int depth;
} cute_emitter;

/* Starts emitting at `builder`. `emitter` must be zero-initialized, belongs to one context, and must
 * outlive the returned arithmetic. Handles are the `ptr` of MlirValues. */
cute_arith cute_emitter_start(cute_emitter *emitter, const cute_builder *builder);

#endif
