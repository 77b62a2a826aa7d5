// RUN: not cute-ptx %s 2>&1 | FileCheck %s

gpu.module @m {
  gpu.func @k(%p: memref<f32>, %x: f32, %e: i64) kernel {
    // CHECK: :[[#@LINE+1]]:10: error: 'math.fpowi' op expected an exponent of up to 32 bits
    %r = math.fpowi %x, %e : f32, i64
    memref.store %r, %p[] : memref<f32>
    gpu.return
  }
}
