// What other dialects leave over is refused at its line, with the pass that lowers it; what is inside of it is no error of its own.
// RUN: not cute-ptx %s 2>&1 | FileCheck %s --implicit-check-not=linalg.yield
// RUN: cute-ptx --pipeline=convert-linalg-to-loops %s | FileCheck %s --check-prefix=PTX
// PTX: .entry k(
gpu.module @m {
  gpu.func @k(%a: memref<4x4xf32>, %f: f32) kernel {
    // CHECK: :[[#@LINE+2]]:5: error: 'linalg.fill' op is not lowered to PTX on (f32, memref<4x4xf32>)
    // CHECK: note: --pipeline=convert-linalg-to-loops lowers it first
    linalg.fill ins(%f : f32) outs(%a : memref<4x4xf32>)
    gpu.return
  }
}
