// RUN: cute-opt %s -cute-fold-static -cute-expand-ops -cute-nvgpu-copy-lowering -cute-to-base | FileCheck %s

// Each tensor in shared memory is a variable of its own, once, whatever loops are around it. A swizzle needs whole blocks.
// CHECK-LABEL: gpu.module @variables
// CHECK-DAG:     llvm.mlir.global internal @[[A:__shared_memory_[0-9]+]]() {addr_space = 3 : i32, alignment = 16 : i64} : !llvm.array<128 x i8>
// CHECK-DAG:     llvm.mlir.global internal @[[B:__shared_memory_[0-9]+]]() {addr_space = 3 : i32, alignment = 128 : i64} : !llvm.array<896 x i8>
// CHECK-DAG:     llvm.mlir.global internal @[[C:__shared_memory_[0-9]+]]() {addr_space = 3 : i32, alignment = 32 : i64} : !llvm.array<128 x i8>
// CHECK-DAG:     llvm.mlir.global internal @[[D:__shared_memory_[0-9]+]]() {addr_space = 3 : i32, alignment = 4 : i64} : !llvm.array<4 x i8>
// CHECK:         gpu.func @k
// CHECK:           llvm.mlir.addressof @[[A]] : !llvm.ptr<3>
// CHECK:           scf.for
// CHECK:             llvm.mlir.addressof @[[B]] : !llvm.ptr<3>
gpu.module @variables {
  gpu.func @k(%n: index, %x: f32, %h: f16) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %at = cute.static : !cute.coord<"3">
    %l = cute.static : !cute.layout<"(8,4):(1,8)">
    %a = cute.memref.alloca(%l) : (!cute.layout<"(8,4):(1,8)">) -> !cute.memref<f32, smem, align<16>, "(8,4):(1,8)">
    cute.memref.store(%a, %at, %x)
    scf.for %i = %c0 to %n step %c1 {
      // 800 bytes, in blocks of 128
      %r = cute.static : !cute.layout<"(50,8):(8,1)">
      %b = cute.memref.alloca(%r) : (!cute.layout<"(50,8):(8,1)">) -> !cute.memref<f16, smem, align<16>, S<3,4,3>, "(50,8):(8,1)">
      cute.memref.store(%b, %at, %h)
    }
    // 50 elements, of which blocks of 32 exchange theirs.
    %s = cute.static : !cute.composed_layout<"S<2,3,3> o 0 o 50:1">
    %c = cute.memref.alloca(%s) : (!cute.composed_layout<"S<2,3,3> o 0 o 50:1">) -> !cute.memref<f16, smem, align<32>, "S<2,3,3> o 0 o 50:1">
    cute.memref.store(%c, %at, %h)
    %one = cute.static : !cute.layout<"1:0">
    %zero = cute.static : !cute.coord<"0">
    %d = cute.memref.alloca(%one) : (!cute.layout<"1:0">) -> !cute.memref<f32, smem, align<4>, "1:0">
    cute.memref.store(%d, %zero, %x)
    gpu.return
  }
}
