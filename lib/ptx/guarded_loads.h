// Loads under a condition in loops with wgmma, without a branch.
#ifndef CUTE_LIB_PTX_GUARDED_LOADS_H
#define CUTE_LIB_PTX_GUARDED_LOADS_H

namespace llvm
{
class Function;
}

void cute_predicate_loads(llvm::Function &function);

#endif
