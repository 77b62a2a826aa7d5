// TMA loads tiles of some rows of a tensor where the elements behind the rows only reach elements that stores to such rows leave out: otherwise
// cp.async loads them, within the rows.
// RUN: cute-opt %s --remarks=cute-async-pipeline --pass-pipeline='builtin.module(cute-tile-expand,cute-tile-schedule{arch=sm_90a schedule=stages=2,consumers=1,persistent=1},cute-tile-layouts{arch=sm_90a},cute-tile-persistent,cute-async-pipeline{arch=sm_90a},cute-async-products,cute-warp-specialization)' 2>&1 | FileCheck %s
// RUN: cute-opt %s --pass-pipeline='builtin.module(cute-tile-expand,cute-tile-schedule{arch=sm_80 schedule=stages=2},cute-tile-layouts{arch=sm_80},cute-async-pipeline{arch=sm_80})' | FileCheck %s --check-prefix=SM80
// RUN: cute-ptx -arch sm_90a %s -o /dev/null
!A = !cute.memref<f16, gmem, align<16>, "(?,?{div=8}):(?{i64 div=8},1)">
!M = !cute.memref<i32, gmem, "(?,2):(2,1)">
!V = !cute.memref<f32, gmem, "?:1">
// CHECK: cute-tile-rows.mlir:[[@LINE+48]]:12: remark: this load does not run ahead: TMA would read elements behind the rows of the tensor, which the kernel uses
// CHECK: cute-tile-rows.mlir:[[@LINE+70]]:12: remark: this load does not run ahead: TMA would read elements behind the rows of the tensor, which the kernel uses
gpu.module @m {
  // The producer reads the map itself.
  // CHECK-LABEL: gpu.func @clipped
  // CHECK:         cute.tile.role
  // CHECK:           cute.memref.load
  // CHECK:           %[[ROWS:.*]] = cute.tile.rows(%arg0,
  // CHECK:           cute.tile.fetch (%[[ROWS]],
  // CHECK:         cute.tile.role
  // SM80-LABEL: gpu.func @clipped
  // SM80:         %[[ROWS:.*]] = cute.tile.rows(%arg0,
  // SM80:         cute.tile.fetch (%[[ROWS]],
  gpu.func @clipped(%a: !A, %b: !A, %d: !A, %map: !M) kernel {
    %i, %j = cute.tile.program<[64, 64]> %d
    %first = cute.memref.load %map[%i, 0]
    %count = cute.memref.load %map[%i, 1]
    %rows = cute.tile.rows %a, %first, %count
    %to = cute.tile.rows %d, %first, %count
    %n = cute.tile.count<1, 64> %a
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.0> : tensor<64x64xf32>
    %s = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<64x64xf32>) : i32 {
      %x = cute.tile.load<[64, 64]> %rows[0, %k]
      %y = cute.tile.load<[64, 64]> %b[%j, %k]
      %z = cute.tile.gemm %x, %y, %acc
      scf.yield %z : tensor<64x64xf32>
    }
    %m = cute.tile.reduce<max, 1> %s
    %e = cute.tile.sub %s, %m
    %o = cute.tile.cast<f16> %e
    cute.tile.store %o, %to[0, %j]
    gpu.return
  }
  // A sum along the rows has the elements behind them.
  // CHECK-LABEL: gpu.func @summed
  // CHECK:         cute.tile.load
  gpu.func @summed(%a: !A, %b: !A, %d: !A, %map: !M, %v: !V) kernel {
    %i, %j = cute.tile.program<[64, 64]> %d
    %first = cute.memref.load %map[%i, 0]
    %count = cute.memref.load %map[%i, 1]
    %rows = cute.tile.rows %a, %first, %count
    %n = cute.tile.count<1, 64> %a
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.0> : tensor<64x64xf32>
    %s = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<64x64xf32>) : i32 {
      %x = cute.tile.load<[64, 64]> %rows[0, %k]
      %y = cute.tile.load<[64, 64]> %b[%j, %k]
      %z = cute.tile.gemm %x, %y, %acc
      scf.yield %z : tensor<64x64xf32>
    }
    %m = cute.tile.reduce<add, 0> %s
    %w = cute.tile.reshape<[64]> %m
    cute.tile.atomic<add> %w, %v
    gpu.return
  }
  // A store to other rows does not leave them out.
  // CHECK-LABEL: gpu.func @elsewhere
  // CHECK:         cute.tile.load
  gpu.func @elsewhere(%a: !A, %b: !A, %d: !A, %map: !M) kernel {
    %i, %j = cute.tile.program<[64, 64]> %d
    %first = cute.memref.load %map[%i, 0]
    %count = cute.memref.load %map[%i, 1]
    %rows = cute.tile.rows %a, %first, %count
    %n = cute.tile.count<1, 64> %a
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.0> : tensor<64x64xf32>
    %s = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<64x64xf32>) : i32 {
      %x = cute.tile.load<[64, 64]> %rows[0, %k]
      %y = cute.tile.load<[64, 64]> %b[%j, %k]
      %z = cute.tile.gemm %x, %y, %acc
      scf.yield %z : tensor<64x64xf32>
    }
    %o = cute.tile.cast<f16> %s
    cute.tile.store %o, %d[%i, %j]
    gpu.return
  }
}
