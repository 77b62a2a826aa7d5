// RUN: cute-opt %s -remarks=cute-tile-fit --pass-pipeline='builtin.module(cute-tile-expand,cute-tile-fit{arch=sm_90a},cute-tile-schedule{arch=sm_90a})' 2>%t.remarks | FileCheck %s
// RUN: FileCheck %s --check-prefix=REMARK <%t.remarks
// RUN: not cute-opt %s --pass-pipeline='builtin.module(cute-tile-expand,cute-tile-schedule{arch=sm_90a},cute-tile-cluster,cute-tile-layouts{arch=sm_90a})' 2>&1 | FileCheck %s --check-prefix=WITHOUT
// RUN: cute-ptx %s -arch sm_90a | FileCheck %s --check-prefix=PTX

// The memory and registers that a schedule takes are known when it has been applied: a copy is lowered first, until it fits.
!A = !cute.memref<f8E5M2, gmem, align<16>, "(?,?{div=16}):(?{i64 div=16},1)">
!B = !cute.memref<f8E5M2, gmem, align<16>, "(?{div=16},?):(1,?{i64 div=16})">
!H = !cute.memref<f16, gmem, align<16>, "(?,?{div=8}):(?{i64 div=8},1)">
!C = !cute.memref<f32, gmem, align<16>, "(192,96):(96,1)">
!D = !cute.memref<f32, gmem, align<16>, "(?,?{div=4}):(?{i64 div=4},1)">
gpu.module @m {
  // CHECK-LABEL: gpu.func @memory
  // CHECK-SAME:    cute.schedule = "stages=4 consumers=2 cluster=1x1 persistent=1 order=1 threads=0 turns=1"
  // REMARK-DAG: :[[@LINE+2]]:3: remark: the schedule 'stages=5 consumers=2 cluster=1x1 persistent=1 order=1 threads=0 turns=1' does not fit, it takes 234496 bytes of shared memory per block, sm_90a has 232448: instead 'stages=4 consumers=2 cluster=1x1 persistent=1 order=1 threads=0 turns=1'
  // PTX: .visible .entry memory(
  gpu.func @memory(%c: !C, %a: !A, %b: !B, %bias: !cute.memref<f32, gmem, align<4>, "?:1">) kernel
      attributes {cute.schedule = "consumers=2 cluster=1x1 persistent=1 order=1 tail=whole turns=1"} {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %steps = cute.tile.count<0, 128> %a
    %i, %j = cute.tile.program<[192, 96]> %c
    %zero = arith.constant dense<0.0> : tensor<192x96xf32>
    %s = scf.for %k = %c0 to %steps step %c1 iter_args(%acc = %zero) -> (tensor<192x96xf32>) : i32 {
      %x = cute.tile.load<[192, 128]> %a[%i, %k]
      %y = cute.tile.load<[128, 96]> %b[%k, %j]
      %t = cute.tile.permute<[1, 0]> %y
      %d = cute.tile.gemm %x, %t, %acc
      scf.yield %d : tensor<192x96xf32>
    }
    %v = cute.tile.load<[96]> %bias[%j]
    %o = cute.tile.add %s, %v
    cute.tile.store %o, %c[%i, %j]
    gpu.return
  }
  // CHECK-LABEL: gpu.func @registers
  // CHECK-SAME:    cute.schedule = "stages=2 consumers=2 cluster=1x1 persistent=0
  // REMARK-DAG: :[[@LINE+3]]:3: remark: the schedule 'stages=2 consumers=1 {{.*}}' does not fit, a thread has too few registers for its part of a tile: instead 'stages=2 consumers=2
  // WITHOUT: error: this tile takes 256 registers in each of 128 threads, of which a thread has 255
  // PTX: .visible .entry registers(
  gpu.func @registers(%a: !H, %b: !H, %d: !D) kernel attributes {cute.schedule = "stages=2 consumers=1 persistent=0"} {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %steps = cute.tile.count<1, 256> %a
    %i, %j = cute.tile.program<[128, 64]> %d
    %zero = arith.constant dense<0.0> : tensor<128x64xf32>
    %none = arith.constant dense<0.0> : tensor<128x256xf32>
    %s, %all = scf.for %k = %c0 to %steps step %c1 iter_args(%acc = %zero, %sum = %none) -> (tensor<128x64xf32>, tensor<128x256xf32>) : i32 {
      %x = cute.tile.load<[128, 256]> %a[%i, %k]
      %y = cute.tile.load<[64, 256]> %b[%j, %k]
      %wide = cute.tile.cast<f32> %x
      %more = cute.tile.add %sum, %wide
      %t = cute.tile.gemm %x, %y, %acc
      scf.yield %t, %more : tensor<128x64xf32>, tensor<128x256xf32>
    }
    cute.tile.store %s, %d[%i, %j]
    gpu.return
  }
}
