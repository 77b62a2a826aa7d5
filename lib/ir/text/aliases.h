/* Names that the printer gives to long types of LLVM's dialect. */
#ifndef CUTE_LIB_IR_TEXT_ALIASES_H
#define CUTE_LIB_IR_TEXT_ALIASES_H

#include <mlir-c/IR.h>

#ifdef __cplusplus
extern "C" {
#endif

/* They are there when the dialect nvvm is loaded. */
void cute_aliases_insert(MlirDialectRegistry registry);

#ifdef __cplusplus
}

#include <optional>

#include "mlir/IR/Operation.h"

namespace cute
{
// What the printer gives names, in the order of the operations.
struct Named {
    llvm::SmallVector<mlir::Type> types;
    llvm::SmallVector<mlir::Attribute> attributes;
};
// None: some has a name only if it is printed, as an affine map, or resources are printed at the end.
std::optional<Named> namedIn(llvm::ArrayRef<mlir::Operation *> operations);
} // namespace cute
#endif
#endif
