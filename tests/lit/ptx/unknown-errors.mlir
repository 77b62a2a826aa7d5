// RUN: not cute-ptx %s 2>&1 | FileCheck %s
// RUN: not cute-ptx -arch sm_100a %s 2>&1 | FileCheck %s

// The dialect nvvm takes any name; what LLVM has no instruction for is refused with what would do.
gpu.module @m {
  gpu.func @k() kernel {
    // CHECK: :[[#@LINE+2]]:5: error: 'nvvm.made.up' is not an operation of the dialect nvvm
    // CHECK: :[[#@LINE+1]]:5: note: expected an LLVM intrinsic; llvm.inline_asm emits any PTX instruction
    "nvvm.made.up"() : () -> ()
    gpu.return
  }
}
