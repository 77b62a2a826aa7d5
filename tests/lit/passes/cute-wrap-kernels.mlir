// RUN: cute-opt %s -cute-wrap-kernels | FileCheck %s

// CHECK: gpu.module @kernels {
// CHECK:   gpu.func @k(%{{.*}}: memref<8xf32>) kernel
// CHECK:     func.call @helper
// CHECK:     gpu.return
// CHECK:   func.func @helper
// CHECK:     call @deeper
// CHECK:   func.func @deeper
// CHECK: }
func.func @deeper(%x: f32) -> f32 { return %x : f32 }
func.func @helper(%x: f32) -> f32 {
  %y = func.call @deeper(%x) : (f32) -> f32
  return %y : f32
}
func.func @k(%a: memref<8xf32>) attributes {gpu.kernel} {
  %i = gpu.thread_id x
  %x = memref.load %a[%i] : memref<8xf32>
  %y = func.call @helper(%x) : (f32) -> f32
  memref.store %y, %a[%i] : memref<8xf32>
  return
}
