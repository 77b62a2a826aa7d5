// RUN: cute-opt -split-input-file -verify-diagnostics -cute-tile-expand -cute-tile-layouts -cute-tile-distribute -cute-tile-launch %s | FileCheck %s

!X = !cute.memref<f32, gmem, "?:1">

// The body of a declared function is the launch of the kernel of its name.
// CHECK: func.func private @k(%{{.*}}: !cute.memref<f32, gmem, "?:1">) {
// CHECK: gpu.launch_func @kernels::@k
gpu.module @kernels { gpu.func @k(%x: !X) kernel {
  %i = cute.tile.program<[64]> %x
  %a = cute.tile.load<[64]> %x[%i]
  cute.tile.store %a, %x[%i]
  gpu.return
} }
func.func private @k(!X)
func.func @main(%x: !X) {
  func.call @k(%x) : (!X) -> ()
  return
}

// -----

gpu.module @kernels { gpu.func @k(%x: !cute.memref<f32, gmem, "?:1">) kernel {
  %i = cute.tile.program<[64]> %x
  %a = cute.tile.load<[64]> %x[%i]
  cute.tile.store %a, %x[%i]
  gpu.return
} }
// expected-error @+1 {{expected a declaration with the arguments of the kernel of this name, or a function with a body}}
func.func private @k(i32)
