/* Dependent dialects of passes as a bit set, one bit per row of dialects.def. */
#ifndef CUTE_LIB_IR_MLIR_DIALECTS_H
#define CUTE_LIB_IR_MLIR_DIALECTS_H

#include <mlir-c/IR.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
#define CUTE_DIALECT(id, handle) CUTE_DIALECT_INDEX_##id,
#include "lib/ir/mlir/dialects.def"
#undef CUTE_DIALECT
    CUTE_DIALECT_COUNT
};
typedef enum cute_dialect_set {
    CUTE_DIALECT_NONE = 0,
#define CUTE_DIALECT(id, handle) CUTE_DIALECT_##id = 1 << CUTE_DIALECT_INDEX_##id,
#include "lib/ir/mlir/dialects.def"
#undef CUTE_DIALECT
} cute_dialect_set;

/* Inserts the dialects in `set`, bits of cute_dialect_set. */
void cute_dialects_insert(unsigned set, MlirDialectRegistry registry);

#ifdef __cplusplus
}
#endif
#endif
