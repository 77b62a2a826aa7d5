// RUN: cute-opt %s --pass-pipeline='builtin.module(cute-tile-expand,cute-tile-schedule{arch=sm_90a schedule=stages=3,consumers=2,persistent=1,cluster=1x1},cute-tile-layouts{arch=sm_90a},cute-tile-persistent,cute-async-pipeline,cute-async-products,cute-warp-specialization)' | FileCheck %s
// RUN: cute-opt %s --pass-pipeline='builtin.module(cute-tile-expand,cute-tile-schedule{arch=sm_90a schedule=stages=3,consumers=0},cute-tile-layouts{arch=sm_90a},cute-async-pipeline,cute-async-products,cute-warp-specialization)' | FileCheck %s --check-prefix=NONE

// One warp has the fetches and what their coordinates need; the other ones have the rest.
!A = !cute.memref<f16, gmem, align<16>, "(?,?{div=8}):(?{i64 div=8},1)">
gpu.module @m {
  // CHECK-LABEL: gpu.func @product
  // CHECK-SAME:    nvvm.reqntid = array<i32: 384, 1, 1>
  // CHECK:         cute.tile.pipe
  // CHECK:         cute.tile.workers
  // CHECK:         cute.tile.role "producer" attributes {registers = 24 : i32, warps = 1 : i32} {
  // CHECK:           scf.for
  // CHECK:             cute.tile.place
  // CHECK:             scf.for
  // CHECK:               cute.tile.acquire
  // CHECK-COUNT-2:       cute.tile.fetch
  // CHECK-NOT:         tensor<
  // CHECK:         cute.tile.role "consumers" attributes {registers = 240 : i32, warps = 8 : i32} {
  // CHECK-NOT:       cute.tile.acquire
  // CHECK-NOT:       cute.tile.fetch
  // CHECK:           cute.tile.await
  // CHECK:           cute.tile.gemm
  // CHECK:           cute.tile.settle
  // CHECK:           cute.tile.store
  // CHECK:         gpu.return
  // NONE-LABEL: gpu.func @product
  // NONE-NOT:     cute.tile.role
  gpu.func @product(%a: !A, %b: !A, %c: !A) kernel {
    %i, %j = cute.tile.program<[128, 64]> %c
    %n = cute.tile.count<1, 64> %a
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.0> : tensor<128x64xf32>
    %s = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<128x64xf32>) : i32 {
      %x = cute.tile.load<[128, 64]> %a[%i, %k]
      %y = cute.tile.load<[64, 64]> %b[%j, %k]
      %d = cute.tile.gemm %x, %y, %acc
      scf.yield %d : tensor<128x64xf32>
    }
    %o = cute.tile.cast<f16> %s
    cute.tile.store %o, %c[%i, %j]
    gpu.return
  }
}
