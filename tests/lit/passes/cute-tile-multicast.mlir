// RUN: cute-opt %s --pass-pipeline='builtin.module(cute-tile-expand,cute-tile-schedule{arch=sm_90a schedule=stages=2,consumers=1,persistent=1,cluster=2x2},cute-tile-layouts{arch=sm_90a},cute-tile-persistent,cute-async-pipeline,cute-async-products,cute-warp-specialization,cute-tile-multicast)' | FileCheck %s
// RUN: cute-opt %s --pass-pipeline='builtin.module(cute-tile-expand,cute-tile-schedule{arch=sm_90a schedule=stages=2,consumers=1,persistent=1,cluster=2x1},cute-tile-layouts{arch=sm_90a},cute-tile-persistent,cute-async-pipeline,cute-async-products,cute-warp-specialization,cute-tile-multicast)' | FileCheck %s --check-prefix=DOWN
// RUN: cute-opt %s --pass-pipeline='builtin.module(cute-tile-expand,cute-tile-schedule{arch=sm_90a schedule=stages=2,consumers=1,persistent=1,cluster=1x1},cute-tile-layouts{arch=sm_90a},cute-tile-persistent,cute-async-pipeline,cute-async-products,cute-warp-specialization,cute-tile-multicast)' | FileCheck %s --check-prefix=NONE
// RUN: cute-opt %s -remarks=cute-tile-multicast --pass-pipeline='builtin.module(cute-tile-expand,cute-tile-schedule{arch=sm_90a schedule=stages=2,consumers=1,persistent=1,cluster=2x2},cute-tile-layouts{arch=sm_90a},cute-tile-persistent,cute-async-pipeline,cute-async-products,cute-warp-specialization,cute-tile-multicast)' -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK

// A tile that does not depend on a block's place along a dimension of the cluster is shared along it.
!A = !cute.memref<f16, gmem, align<16>, "(?,?{div=8}):(?{i64 div=8},1)">
gpu.module @m {
  // CHECK-LABEL: gpu.func @product
  // CHECK:         cute.tile.fetch<[1]> (%arg0,
  // CHECK:         cute.tile.fetch<[0]> (%arg1,
  // The producer waits for the releases of the others, behind its loop over tiles.
  // CHECK:         scf.yield
  // CHECK:         scf.yield
  // CHECK:         %[[OTHER:.*]] = arith.xori %[[S:[0-9a-z_]+]]#[[P:[0-9]+]],
  // CHECK-NEXT:    cute.tile.drain(%{{.*}}, %[[S]]#{{[0-9]+}}, %[[OTHER]])
  // DOWN-LABEL: gpu.func @product
  // DOWN:         cute.tile.fetch (%arg0,
  // DOWN:         cute.tile.fetch<[0]> (%arg1,
  // NONE-LABEL: gpu.func @product
  // NONE:         cute.tile.fetch (%arg0,
  // NONE:         cute.tile.fetch (%arg1,
  // NONE-NOT:     cute.tile.drain
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

  // Blocks of a cluster with different numbers of iterations cannot share: these have the same number along dimension 1.
  // CHECK-LABEL: gpu.func @triangle
  // CHECK:         cute.tile.fetch<[1]> (%arg0,
  // CHECK:         cute.tile.fetch (%arg1,
  // DOWN-LABEL: gpu.func @triangle
  // DOWN-NOT:     cute.tile.fetch<
  gpu.func @triangle(%a: !A, %b: !A, %c: !A) kernel {
    %i, %j = cute.tile.program<[128, 64]> %c
    %n = cute.tile.count<1, 64> %a
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.0> : tensor<128x64xf32>
    %s = scf.for %k = %c0 to %i step %c1 iter_args(%acc = %zero) -> (tensor<128x64xf32>) : i32 {
      %x = cute.tile.load<[128, 64]> %a[%i, %k]
      // REMARK: :[[@LINE+1]]:{{[0-9]+}}: remark: blocks of a cluster do not share this tile: the bounds of a loop depend on the block
      %y = cute.tile.load<[64, 64]> %b[%j, %k]
      %d = cute.tile.gemm %x, %y, %acc
      scf.yield %d : tensor<128x64xf32>
    }
    %o = cute.tile.cast<f16> %s
    cute.tile.store %o, %c[%i, %j]
    gpu.return
  }
}
