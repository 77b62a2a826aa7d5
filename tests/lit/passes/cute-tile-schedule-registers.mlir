// Sums that a loop carries beside its accumulators take registers, too: promoted sums of 128 x 128 leave no room for turns. Three warpgroups
// are chosen for tiles that two cannot divide.
// RUN: cute-opt --pass-pipeline='builtin.module(cute-tile-expand,cute-tile-schedule{arch=sm_90a})' --remarks %s -o %t 2>&1 | FileCheck %s
!t = !cute.memref<f8E4M3FN, gmem, align<16>, "(?,?{div=16}):(?{i64 div=16},1)">
!d = !cute.memref<bf16, gmem, align<16>, "(?,?{div=8}):(?{i64 div=8},1)">
!sum = tensor<128x128xf32>
gpu.module @m {
  // CHECK: [[@LINE+2]]:3: remark: schedule: stages=6 consumers=2 cluster=2x1 persistent=1 order=8;
  // CHECK: remark: no turns=1: it needs 256 registers of a thread for sums, more than the limit of 224
  gpu.func @promoted(%A: !t, %B: !t, %D: !d) kernel {
    %i, %j = cute.tile.program<[128, 128]> %D
    %steps = cute.tile.count<1, 128> %A
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.0> : !sum
    %sum = scf.for %k = %c0 to %steps step %c1 iter_args(%acc = %zero) -> (!sum) : i32 {
      %a = cute.tile.load<[128, 128]> %A[%i, %k]
      %b = cute.tile.load<[128, 128]> %B[%j, %k]
      %d = cute.tile.gemm %a, %b, %zero
      %next = cute.tile.add %acc, %d
      scf.yield %next : !sum
    }
    %out = cute.tile.cast<bf16> %sum
    cute.tile.store %out, %D[%i, %j]
    gpu.return
  }
  // CHECK: [[@LINE+1]]:3: remark: schedule: stages={{[0-9]}} consumers=3 cluster=2x1 persistent=1
  gpu.func @rows(%A: !t, %B: !t, %D: !d) kernel {
    %i, %j = cute.tile.program<[192, 128]> %D
    %steps = cute.tile.count<1, 128> %A
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.0> : tensor<192x128xf32>
    %sum = scf.for %k = %c0 to %steps step %c1 iter_args(%acc = %zero) -> (tensor<192x128xf32>) : i32 {
      %a = cute.tile.load<[192, 128]> %A[%i, %k]
      %b = cute.tile.load<[128, 128]> %B[%j, %k]
      %d = cute.tile.gemm %a, %b, %acc
      scf.yield %d : tensor<192x128xf32>
    }
    %out = cute.tile.cast<bf16> %sum
    cute.tile.store %out, %D[%i, %j]
    gpu.return
  }
}
