// Swizzled addresses that differ by a multiple of the swizzle's period share a register.
#ifndef CUTE_LIB_PTX_SWIZZLES_H
#define CUTE_LIB_PTX_SWIZZLES_H

#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/Function.h"

// Those that are computed in front of a loop that uses them.
void cute_share_swizzles(llvm::Function &function, const llvm::DominatorTree &tree, const llvm::Loop &loop);

#endif
