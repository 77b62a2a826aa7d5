// Loops that copy by cp.async, or load under predicates: addresses and predicates with few instructions.
#ifndef CUTE_LIB_PTX_COPY_LOOPS_H
#define CUTE_LIB_PTX_COPY_LOOPS_H

namespace llvm
{
class DominatorTree;
class Loop;
} // namespace llvm

// Innermost loops only; others are left alone.
void cute_shorten_copies(llvm::Loop &loop, const llvm::DominatorTree &tree);

#endif
