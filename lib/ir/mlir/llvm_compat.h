// Wrappers for LLVM and MLIR calls that changed between LLVM 19 and 22 and are used in several files.
#ifndef CUTE_LIB_IR_MLIR_LLVM_COMPAT_H
#define CUTE_LIB_IR_MLIR_LLVM_COMPAT_H

#include "mlir/IR/Builders.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/Config/llvm-config.h"

namespace cute
{
// OpBuilder::create<Op> is deprecated since 22.
template <class Op, class... Args>
Op create(mlir::OpBuilder &builder, mlir::Location location, Args &&...args)
{
#if LLVM_VERSION_MAJOR >= 22
    return Op::create(builder, location, std::forward<Args>(args)...);
#else
    return builder.create<Op>(location, std::forward<Args>(args)...);
#endif
}

// llvm::make_scope_exit is deprecated since 22; before, the class was internal.
template <class Function> auto atExit(Function function)
{
#if LLVM_VERSION_MAJOR >= 22
    return llvm::scope_exit<Function>(std::move(function));
#else
    return llvm::make_scope_exit(std::move(function));
#endif
}

// applyPatternsAndFoldGreedily was renamed in 20.
template <class Patterns>
llvm::LogicalResult applyPatterns(mlir::Operation *root, Patterns &&patterns, int64_t mostRewrites = -1)
{
    mlir::GreedyRewriteConfig config;
#if LLVM_VERSION_MAJOR >= 21
    config.setMaxNumRewrites(mostRewrites);
#else
    config.maxNumRewrites = mostRewrites;
#endif
#if LLVM_VERSION_MAJOR >= 20
    return mlir::applyPatternsGreedily(root, std::forward<Patterns>(patterns), config);
#else
    return mlir::applyPatternsAndFoldGreedily(root, std::forward<Patterns>(patterns), config);
#endif
}
} // namespace cute

#endif
