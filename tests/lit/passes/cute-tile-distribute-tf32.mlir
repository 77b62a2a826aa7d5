// RUN: cute-opt %s --pass-pipeline='builtin.module(cute-tile-expand,cute-tile-schedule{arch=sm_90a schedule=consumers=1},cute-tile-layouts{arch=sm_90a},cute-tile-persistent,cute-async-pipeline{arch=sm_90a},cute-async-products,cute-warp-specialization,cute-tile-multicast,cute-tile-distribute{arch=sm_90a})' | cute-opt - | FileCheck %s

// Warpgroups multiply f32 in shared memory as tf32: the module is valid after the pass, and when it is read again.
!A = !cute.memref<f32, gmem, align<16>, "(?,?{div=4}):(?{i64 div=4},1)">
gpu.module @m {
  // CHECK: cute.mma.make_fragment A {{.*}}tf32{{.*}}!cute.memref<f32, smem
  gpu.func @tf32(%a: !A, %b: !A, %c: !A) kernel {
    %i, %j = cute.tile.program<[64, 64]> %c
    %n = cute.tile.count<1, 32> %a
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.0> : tensor<64x64xf32>
    %s = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<64x64xf32>) : i32 {
      %x = cute.tile.load<[64, 32]> %a[%i, %k]
      %y = cute.tile.load<[64, 32]> %b[%j, %k]
      %d = cute.tile.gemm %x, %y, %acc {tf32}
      scf.yield %d : tensor<64x64xf32>
    }
    cute.tile.store %s, %c[%i, %j]
    gpu.return
  }
}
