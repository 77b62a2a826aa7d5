// RUN: not cute-ptx %s 2>&1 | FileCheck %s
// RUN: not cute-ptx -arch sm_100a %s 2>&1 | FileCheck %s

// The dialect nvvm takes any name; what LLVM has no instruction for is refused with what would do.
gpu.module @m {
  gpu.func @k() kernel {
    // CHECK: :[[#@LINE+2]]:5: error: 'nvvm.made.up' is no operation of the dialect nvvm
    // CHECK: :[[#@LINE+1]]:5: note: expected one of LLVM's; llvm.inline_asm writes any instruction of PTX
    "nvvm.made.up"() : () -> ()
    gpu.return
  }
}
