/* The arithmetic of lib/layout that builds arith operations: what folds by inference is emitted by the same
 * code. */
#ifndef CUTE_LIB_PASSES_EMITTER_H
#define CUTE_LIB_PASSES_EMITTER_H

#include <mlir-c/IR.h>

#include "cute/layout.h"

#define CUTE_EMITTER_DEPTH 16 /* nested ifs */

/* Emits before `where`, or into the if that is open. */
typedef struct cute_emitter {
    MlirOperation where;
    MlirContext context;
    MlirLocation location;
    MlirAttribute nsw; /* made when first needed */
    struct {
        MlirValue condition;
        MlirBlock then, otherwise;
        bool in_else;
    } ifs[CUTE_EMITTER_DEPTH];
    int depth;
} cute_emitter;

/* Before the next operation. `emitter` starts zeroed, serves one context, and lives as long as the arithmetic
 * is used. Handles are the `ptr` of MlirValues. */
cute_arith cute_emitter_start(cute_emitter *emitter, MlirOperation where);

/* A constant iN before `where`. */
MlirValue cute_emit_constant(MlirOperation where, int width, int64_t value);

#endif
