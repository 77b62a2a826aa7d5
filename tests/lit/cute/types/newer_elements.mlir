// RUN: cute-opt %s -cute-fold-static -cute-expand-ops -cute-nvgpu-copy-lowering | FileCheck %s

// Elements of types that LLVM 19 lacks are copied as the bits that they have.
// CHECK-LABEL: gpu.func @copies(
gpu.module @m {
  gpu.func @copies(%x: !cute.memref<f4E2M1FN, gmem, align<16>, "(32):(1)">, %y: !cute.memref<f4E2M1FN, gmem, align<16>, "(32):(1)">) kernel {
    // CHECK: llvm.load {{.*}} {alignment = 16 : i64} : !llvm.ptr<1> -> vector<4xi32>
    // CHECK: llvm.store {{.*}} {alignment = 16 : i64} : vector<4xi32>, !llvm.ptr<1>
    %atom = cute.make_atom : !cute_nvgpu.atom.universal_copy<f4E2M1FN, 128 b>
    cute.copy %atom, %x, %y
    gpu.return
  }
}
