// RUN: cute-opt %s -cute-kernel-metadata -split-input-file -verify-diagnostics
// RUN: cute-opt %s -external-kernel-for-gpu-launch -split-input-file | FileCheck %s

// What becomes a kernel by another pass has no metadata yet; the pipeline runs all of them.
// CHECK-COUNT-4: cute.kernel = {args =
func.func @host(%x: memref<32xf32>) {
  %c1 = arith.constant 1 : index
  // expected-warning @+1 {{'gpu.launch' op gets no metadata, as it is not a kernel in a gpu.module yet: run gpu-kernel-outlining before cute-kernel-metadata, or external-kernel-for-gpu-launch, which includes both}}
  gpu.launch blocks(%a, %b, %c) in (%g = %c1, %h = %c1, %i = %c1) threads(%d, %e, %f) in (%j = %c1, %k = %c1, %l = %c1) {
    %v = memref.load %x[%d] : memref<32xf32>
    memref.store %v, %x[%e] : memref<32xf32>
    gpu.terminator
  }
  return
}

// -----

// expected-warning @+1 {{'func.func' op gets no metadata, as it is not a kernel in a gpu.module yet: run cute-wrap-kernels before cute-kernel-metadata, or external-kernel-for-gpu-launch, which includes both}}
func.func @k(%x: !cute.memref<f32, gmem, "?:1">) attributes {gpu.kernel} {
  return
}

// -----

gpu.module @m {
  // expected-warning @+1 {{'cuda.kernel' op gets no metadata, as it is not a kernel in a gpu.module yet: run cute-import-kernels before cute-kernel-metadata}}
  cuda.kernel @k(%x: !cute.memref<f32, gmem, "?:1">) {
    cuda.return
  }
}

// -----

// One that is a kernel needs nothing else.
gpu.module @m {
  gpu.func @k(%x: !cute.memref<f32, gmem, "?:1">) kernel {
    gpu.return
  }
}
