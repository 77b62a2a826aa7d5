// RUN: not cute-ptx %s 2>&1 | FileCheck %s

// What runs stands in a function.
gpu.module @m {
  gpu.func @k() kernel {
    gpu.return
  }
  // CHECK: :[[#@LINE+1]]:3: error: 'nvvm.barrier0' op is not in a function
  gpu.barrier
}
