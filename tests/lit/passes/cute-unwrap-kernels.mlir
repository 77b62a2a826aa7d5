// RUN: cute-opt %s --cute-full-lowering --cute-unwrap-kernels -split-input-file | FileCheck %s
// RUN: cute-opt %s --cute-full-lowering --cute-unwrap-kernels | mlir-translate --mlir-to-llvmir | llc -mcpu=sm_80 -o - | FileCheck %s --check-prefix=PTX

// CHECK: module attributes {llvm.target_triple = "nvptx64-nvidia-cuda"} {
// CHECK-NEXT: llvm.func @scale(%{{[^{]*}}) attributes {nvvm.kernel, nvvm.reqntid = array<i32: 64, 1, 1>} {
// CHECK-NOT: gpu.module
// CHECK-NOT: cute.
// PTX: .entry scale(
// PTX: .reqntid 64
gpu.module @m {
  gpu.func @scale(%x: memref<64xf32>) kernel attributes {nvvm.reqntid = array<i32: 64, 1, 1>} {
    %i = gpu.thread_id x
    %v = memref.load %x[%i] : memref<64xf32>
    %w = arith.addf %v, %v : f32
    memref.store %w, %x[%i] : memref<64xf32>
    gpu.return
  }
}
