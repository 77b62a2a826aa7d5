// RUN: not cute-ptx -arch sm_80 %s 2>&1 | FileCheck %s

gpu.module @m {
  llvm.func @k(%p: !llvm.ptr<1>, %b: i8) attributes {gpu.kernel, nvvm.kernel} {
    // CHECK: :[[#@LINE+1]]:5: error: 'llvm.fence' op with syncscope "cluster" needs sm_90, got sm_80
    llvm.fence syncscope("cluster") release
    // CHECK: :[[#@LINE+1]]:5: error: 'llvm.fence' op expected syncscope "block", "cluster", "device", "singlethread" or none (the system), got "warp"
    llvm.fence syncscope("warp") release
    // CHECK: :[[#@LINE+1]]:10: error: 'llvm.atomicrmw' op expected an atomic type of 16, 32 or 64 bits, got 'i8'
    %0 = llvm.atomicrmw add %p, %b acq_rel : !llvm.ptr<1>, i8
    llvm.return
  }
}
