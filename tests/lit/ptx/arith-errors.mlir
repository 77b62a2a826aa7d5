// RUN: not cute-ptx %s 2>&1 | FileCheck %s

gpu.module @m {
  gpu.func @k(%x: memref<f64>, %y: memref<f8E5M2>, %z: memref<f8E4M3B11FNUZ>) kernel {
    %v = memref.load %x[] : memref<f64>
    // CHECK: :[[#@LINE+1]]:10: error: 'arith.truncf' op expected f16, bf16 or f32 to narrow to 8 bits, got 'f64'
    %r = arith.truncf %v : f64 to f8E5M2
    memref.store %r, %y[] : memref<f8E5M2>
    %w = memref.load %z[] : memref<f8E4M3B11FNUZ>
    // CHECK: :[[#@LINE+1]]:10: error: 'arith.extf' op expected f8E4M3FN or f8E5M2 and a wider float, got 'f8E4M3B11FNUZ'
    %s = arith.extf %w : f8E4M3B11FNUZ to f64
    memref.store %s, %x[] : memref<f64>
    gpu.return
  }
}
