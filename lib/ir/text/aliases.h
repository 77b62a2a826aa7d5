/* Aliases that the printer gives to long LLVM types. */
#ifndef CUTE_LIB_IR_TEXT_ALIASES_H
#define CUTE_LIB_IR_TEXT_ALIASES_H

#include <mlir-c/IR.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Takes effect when the dialect nvvm is loaded. */
void cute_aliases_insert(MlirDialectRegistry registry);

#ifdef __cplusplus
}

#include <optional>

#include "mlir/IR/Operation.h"

namespace cute
{
// Types and attributes that get an alias, in the order of operations.
struct Named {
    llvm::SmallVector<mlir::Type> types;
    llvm::SmallVector<mlir::Attribute> attributes;
};
// Empty if the printer itself must decide: affine maps get an alias only when printed, resources are printed
// at the end.
std::optional<Named> namedIn(llvm::ArrayRef<mlir::Operation *> operations);
} // namespace cute
#endif
#endif
