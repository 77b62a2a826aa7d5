// RUN: cute-ptx %s | FileCheck %s --check-prefix=CLOSED
// RUN: cute-ptx %s --relocatable-device-code | FileCheck %s

// CLOSED-NOT: helper
// CHECK: .visible .func {{.*}}helper(
gpu.module @m {
  func.func @helper(%x: f32) -> f32 {
    %y = arith.addf %x, %x : f32
    return %y : f32
  }
  gpu.func @k() kernel { gpu.return }
}
