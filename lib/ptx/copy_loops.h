// Loops that copy to shared memory by cp.async: addresses and predicates with few instructions.
#ifndef CUTE_LIB_PTX_COPY_LOOPS_H
#define CUTE_LIB_PTX_COPY_LOOPS_H

namespace llvm
{
class Loop;
}

// Innermost loops only; others are left alone.
void cute_shorten_copies(llvm::Loop &loop);

#endif
