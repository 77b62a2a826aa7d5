// RUN: cute-opt %s --pass-pipeline='builtin.module(cute-tile-expand,cute-tile-schedule{arch=sm_90a schedule=stages=4,consumers=0},cute-tile-layouts{arch=sm_90a},cute-async-pipeline{arch=sm_90a})' | FileCheck %s
// RUN: cute-ptx -arch sm_90a %s --schedule="stages=4 consumers=0" -o - | FileCheck %s --check-prefix=PTX

// Packed weights are fetched ahead, and taken and converted where the product needs them: nothing changes threads in the loop.
!A = !cute.memref<f16, gmem, align<16>, "(?,?{div=8}):(?{i64 div=8},1)">
!W = !cute.memref<i4, gmem, align<16>, "(?,?{div=32}):(?{i64 div=32},1)">
!C = !cute.memref<f32, gmem, align<16>, "(?,?{div=4}):(?{i64 div=4},1)">
gpu.module @m {
  // CHECK-LABEL: gpu.func @weights
  // CHECK-COUNT-2: cute.tile.ring
  // CHECK:         scf.for
  // CHECK-COUNT-2: cute.tile.fetch
  // CHECK:         cute.tile.take({{.*}} -> tensor<64x64xi8, #cute.layout<"((4,32),(16,2)):((16@1,1@0),(1@1,32@0))">>
  // CHECK-COUNT-2: arith.sitofp
  // CHECK-NOT:     cute.tile.convert{{.*}}8@1,2@1
  // CHECK:         cute.tile.gemm
  // PTX-LABEL: weights
  // PTX-NOT:   cvt.rn.f16.s
  // PTX-NOT:   ld.global
  // PTX:       ld.shared.v4
  // PTX:       lop3.b32
  // PTX:       mma.sync
  gpu.func @weights(%a: !A, %w: !W, %c: !C) kernel {
    %i, %j = cute.tile.program<[16, 64]> %c
    %n = cute.tile.count<1, 128> %a
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.0> : tensor<16x64xf32>
    %s = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<16x64xf32>) : i32 {
      %x = cute.tile.load<[16, 128]> %a[%i, %k]
      %q = cute.tile.load<[64, 128]> %w[%j, %k]
      %f = cute.tile.cast<f16> %q
      %x1 = cute.tile.reshape<[16, 4, 4, 2, 2, 2]> %x
      %x2 = cute.tile.permute<[0, 2, 4, 5, 1, 3]> %x1
      %x3 = cute.tile.reshape<[16, 128]> %x2
      %f1 = cute.tile.reshape<[64, 4, 4, 2, 2, 2]> %f
      %f2 = cute.tile.permute<[0, 2, 4, 5, 1, 3]> %f1
      %f3 = cute.tile.reshape<[64, 128]> %f2
      %d = cute.tile.gemm %x3, %f3, %acc
      scf.yield %d : tensor<16x64xf32>
    }
    cute.tile.store %s, %c[%i, %j]
    gpu.return
  }
}
