// Loads whose coordinates are read from memory that the kernel does not write run ahead, as those of pages that a table names: the table is read for
// the iteration that is fetched, by TMA in the producer's loop. A table that the kernel writes keeps them in their iteration.
// RUN: cute-opt %s --remarks=cute-async-pipeline --pass-pipeline='builtin.module(cute-tile-expand,cute-tile-schedule{arch=sm_90a schedule=stages=2,consumers=1},cute-tile-layouts{arch=sm_90a},cute-async-pipeline{arch=sm_90a},cute-async-products,cute-warp-specialization)' 2>&1 | FileCheck %s
// RUN: cute-opt %s --pass-pipeline='builtin.module(cute-tile-expand,cute-tile-schedule{arch=sm_80 schedule=stages=2},cute-tile-layouts{arch=sm_80},cute-async-pipeline{arch=sm_80})' | FileCheck %s --check-prefix=SM80
// RUN: cute-ptx -arch sm_90a %s -o /dev/null
!A = !cute.memref<f16, gmem, align<16>, "(?,?{div=8}):(?{i64 div=8},1)">
!B = !cute.memref<f16, gmem, align<16>, "(?,?,?{div=8}):(?{i64 div=8},?{i64 div=8},1)">
!T = !cute.memref<i32, gmem, "(?,?):(?{i64},1)">
// CHECK: cute-async-pipeline-memory.mlir:[[@LINE+56]]:12: remark: this load does not run ahead: its coordinate depends on earlier iterations or on memory that the kernel writes
gpu.module @m {
  // CHECK-LABEL: gpu.func @pages
  // CHECK:         cute.tile.role "producer"
  // CHECK:           scf.for %[[K:arg[0-9]+]] =
  // CHECK:             cute.tile.acquire
  // CHECK:             cute.tile.fetch (%arg0,
  // CHECK-NEXT:        cute.make_coord(%{{.*}}, %[[K]])
  // CHECK-NEXT:        %[[PAGE:.*]] = cute.memref.load(%arg2,
  // CHECK-NEXT:        %[[AT:.*]] = cute.make_coord(%[[PAGE]]
  // CHECK:             cute.tile.fetch (%arg1, %[[AT]],
  // CHECK:         cute.tile.role "consumers"
  // SM80-LABEL: gpu.func @pages
  // SM80:         scf.for %[[K:arg[0-9]+]] =
  // SM80:           %[[AHEAD:.*]] = arith.addi %[[K]], %{{.*}}
  // SM80:           cute.tile.fetch (%arg0,
  // SM80-NEXT:      cute.make_coord(%{{.*}}, %[[AHEAD]])
  // SM80-NEXT:      %[[PAGE:.*]] = cute.memref.load(%arg2,
  // SM80-NEXT:      %[[AT:.*]] = cute.make_coord(%[[PAGE]]
  // SM80:           cute.tile.fetch (%arg1, %[[AT]],
  gpu.func @pages(%a: !A, %b: !B, %table: !T, %d: !A) kernel {
    %i, %j = cute.tile.program<[64, 64]> %d
    %n = cute.tile.count<1, 64> %a
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.0> : tensor<64x64xf32>
    %s = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<64x64xf32>) : i32 {
      %page = cute.memref.load %table[%j, %k]
      %x = cute.tile.load<[64, 64]> %a[%i, %k]
      %y = cute.tile.load<[64, 64]> %b[%page, 0, 0]
      %z = cute.tile.gemm %x, %y, %acc
      scf.yield %z : tensor<64x64xf32>
    }
    %o = cute.tile.cast<f16> %s
    cute.tile.store %o, %d[%i, %j]
    gpu.return
  }
  // The last iteration, which fetches nothing, does not read the table.
  // SM80:         scf.for
  // SM80-NOT:       cute.memref.load
  // SM80:           cute.tile.gemm
  // SM80-LABEL: gpu.func @written
  // SM80:         scf.for
  // SM80:           cute.tile.load
  gpu.func @written(%a: !A, %b: !B, %table: !T, %d: !A) kernel {
    %i, %j = cute.tile.program<[64, 64]> %d
    %n = cute.tile.count<1, 64> %a
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.0> : tensor<64x64xf32>
    %next = arith.constant dense<0> : tensor<1x1xi32>
    cute.tile.store %next, %table[%i, %j]
    %s = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<64x64xf32>) : i32 {
      %page = cute.memref.load %table[%i, %j]
      %x = cute.tile.load<[64, 64]> %a[%i, %k]
      // by the block's own element, which it wrote
      %y = cute.tile.load<[64, 64]> %b[%page, 0, 0]
      %z = cute.tile.gemm %x, %y, %acc
      scf.yield %z : tensor<64x64xf32>
    }
    %o = cute.tile.cast<f16> %s
    cute.tile.store %o, %d[%i, %j]
    gpu.return
  }
}
