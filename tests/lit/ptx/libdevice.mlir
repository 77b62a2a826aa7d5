// RUN: cute-ptx %s | FileCheck %s
// RUN: cute-ptx %s -arch sm_100a | FileCheck %s --check-prefix=NVVM

// libdevice's expf is linked and inlined: nothing of it stays outside.
// CHECK-NOT: .extern
// CHECK: ex2.approx
// CHECK-NOT: .extern
// NVVM: .target sm_100a
// NVVM: ex2.approx
gpu.module @m {
  gpu.func @k(%x: memref<8xf32>) kernel {
    %i = gpu.thread_id x
    %v = memref.load %x[%i] : memref<8xf32>
    %e = math.exp %v : f32
    memref.store %e, %x[%i] : memref<8xf32>
    gpu.return
  }
}
