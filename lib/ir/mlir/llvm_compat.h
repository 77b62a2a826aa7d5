// LLVM 19 to 22: the calls of LLVM and MLIR that changed between them and recur here. A call of one place is guarded there.
#ifndef CUTE_LIB_IR_MLIR_LLVM_COMPAT_H
#define CUTE_LIB_IR_MLIR_LLVM_COMPAT_H

#include "mlir/IR/Builders.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/Config/llvm-config.h"

namespace cute
{
// Deprecated since 22: OpBuilder::create<Op>.
template <class Op, class... Args>
Op create(mlir::OpBuilder &builder, mlir::Location location, Args &&...args)
{
#if LLVM_VERSION_MAJOR >= 22
    return Op::create(builder, location, std::forward<Args>(args)...);
#else
    return builder.create<Op>(location, std::forward<Args>(args)...);
#endif
}

// Deprecated since 22: llvm::make_scope_exit. Before it, its class was llvm's own affair.
template <class Function> auto atExit(Function function)
{
#if LLVM_VERSION_MAJOR >= 22
    return llvm::scope_exit<Function>(std::move(function));
#else
    return llvm::make_scope_exit(std::move(function));
#endif
}

// Another name since 20: applyPatternsAndFoldGreedily.
inline llvm::LogicalResult applyPatterns(mlir::Operation *root, mlir::RewritePatternSet patterns)
{
#if LLVM_VERSION_MAJOR >= 20
    return mlir::applyPatternsGreedily(root, std::move(patterns));
#else
    return mlir::applyPatternsAndFoldGreedily(root, std::move(patterns));
#endif
}
} // namespace cute

#endif
