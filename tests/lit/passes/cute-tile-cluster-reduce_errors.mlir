// RUN: not cute-ptx %s -arch sm_90a -o /dev/null 2>&1 | FileCheck %s

// Blocks would wait for each other's second execution.
!X = !cute.memref<f32, gmem, "(?,?):(?{i64},1)">
gpu.module @m { gpu.func @k(%x: !X) kernel {
  %i, %j = cute.tile.program<[32, 32], [1, 2]> %x
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c2 = arith.constant 2 : i32
  %a = cute.tile.load<[32, 32]> %x[%i, %j]
  %s = scf.for %k = %c0 to %c2 step %c1 iter_args(%t = %a) -> (tensor<32x32xf32>) : i32 {
    // CHECK: :[[@LINE+1]]:10: error: expected cute.tile.cluster_reduce at the top level of the kernel: all blocks of a cluster execute it once
    %r = cute.tile.cluster_reduce<add> %t, %j
    scf.yield %r : tensor<32x32xf32>
  }
  cute.tile.store %s, %x[%i, %j]
  gpu.return
} }
