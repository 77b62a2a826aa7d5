// A tile of several pages is one stage that as many fetches fill, of the page that the table has: by TMA in the producer, or by cp.async. Without stages
// its elements are loaded one at a time, and those of one page as others.
// RUN: cute-opt %s --pass-pipeline='builtin.module(cute-tile-expand,cute-tile-schedule{arch=sm_90a schedule=stages=2,consumers=1},cute-tile-layouts{arch=sm_90a},cute-async-pipeline{arch=sm_90a},cute-async-products,cute-warp-specialization)' | FileCheck %s
// RUN: cute-ptx -arch sm_90a --schedule="stages=2 consumers=1" %s | FileCheck %s --check-prefix=TMA
// RUN: cute-ptx -arch sm_80 --schedule="stages=2" %s | FileCheck %s --check-prefix=COPY
// RUN: cute-ptx -arch sm_80 --schedule="stages=1" %s | FileCheck %s --check-prefix=ONE
!A = !cute.memref<f16, gmem, align<16>, "(?,?{div=8}):(?{i64 div=8},1)">
!K = !cute.memref<f16, gmem, align<16>, "(?,16,64):(1024,64,1)">
!T = !cute.memref<i32, gmem, "(?,?):(?{i64},1)">
gpu.module @m {
  // CHECK-LABEL: gpu.func @several
  // CHECK:         cute.tile.ring() : () -> !cute.memref<f16, smem, align<1024>, S<3,4,3>, "(4,16,64,2):(1024,64,1,4096)">
  // CHECK:         cute.tile.role "producer"
  // CHECK:           cute.tile.fetch (%[[PAGES:.*]], %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}) : (!cute.memref<f16, gmem, align<16>, "(?,16,64):(1024,64,1)">
  // TMA-LABEL:   .entry several
  // TMA-COUNT-4: cp.async.bulk.tensor.3d
  // TMA-NOT:     cp.async.bulk.tensor.3d
  // COPY-LABEL:  .entry several
  // COPY:        cp.async.cg
  // ONE-LABEL:   .entry several
  // ONE-NOT:     cp.async
  // ONE:         ld.global{{.*}}.b16
  gpu.func @several(%a: !A, %k: !K, %table: !T, %d: !A) kernel {
    %i, %j = cute.tile.program<[64, 64]> %d
    %n = cute.tile.count<1, 64> %a
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %four = arith.constant 4 : i32
    %count = arith.muli %n, %four : i32
    %pages = cute.tile.pages %k, %table, %j, %count
    %zero = arith.constant dense<0.0> : tensor<64x64xf32>
    %s = scf.for %m = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<64x64xf32>) : i32 {
      %x = cute.tile.load<[64, 64]> %a[%i, %m]
      %y3 = cute.tile.load<[4, 16, 64]> %pages[%m, 0, 0]
      %y = cute.tile.reshape<[64, 64]> %y3
      %z = cute.tile.gemm %x, %y, %acc
      scf.yield %z : tensor<64x64xf32>
    }
    %o = cute.tile.cast<f16> %s
    cute.tile.store %o, %d[%i, %j]
    gpu.return
  }
}
