// Loops that carry a factor of a product in registers, with two iterations in one.
#ifndef CUTE_LIB_PTX_ALTERNATE_FACTORS_H
#define CUTE_LIB_PTX_ALTERNATE_FACTORS_H

namespace llvm
{
class DominatorTree;
class Function;
class Loop;
class TargetMachine;
} // namespace llvm

// Whether cute_alternate_factors makes two iterations of the loop one: it then has few registers for other values.
bool cute_factor_alternates(const llvm::Loop &loop, const llvm::DominatorTree &tree);
void cute_alternate_factors(llvm::Function &function, const llvm::TargetMachine &machine);

#endif
