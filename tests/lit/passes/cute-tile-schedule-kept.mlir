// RUN: cute-opt %s --pass-pipeline='builtin.module(cute-tile-expand,cute-tile-schedule{arch=sm_90a})' | FileCheck %s
// RUN: cute-opt %s --pass-pipeline='builtin.module(cute-tile-expand,cute-tile-schedule{arch=sm_80})' | FileCheck %s --check-prefix=AMPERE
// RUN: cute-opt %s --pass-pipeline='builtin.module(cute-tile-expand,cute-tile-schedule{arch=sm_75})' | FileCheck %s --check-prefix=TURING
// RUN: cute-opt %s --pass-pipeline='builtin.module(cute-tile-expand,cute-tile-schedule{arch=sm_90a schedule=naive})' | FileCheck %s --check-prefix=NAIVE
// RUN: cute-opt %s --pass-pipeline='builtin.module(cute-tile-expand,cute-tile-schedule{arch=sm_90a schedule=stages=2,consumers=1,cluster=2x1})' | FileCheck %s --check-prefix=STATED
// RUN: cute-opt %s -remarks=cute-tile-schedule --pass-pipeline='builtin.module(cute-tile-expand,cute-tile-schedule{arch=sm_80 schedule=stages=16,consumers=1,cluster=2x1})' -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK

// The schedule of a kernel follows from its tiles, types and the architecture; the text of the kernel, else of the option, is kept.
!A = !cute.memref<f16, gmem, align<16>, "(?,?{div=8}):(?{i64 div=8},1)">
gpu.module @m {
  // CHECK-LABEL: gpu.func @derived
  // CHECK-SAME:    cute.schedule = "stages={{[2-8]}} consumers=2 cluster={{[12]x[12]}} persistent=1 order=8 threads=0{{( tail=[a-z]+)?}}"
  // CHECK:         cute.tile.gemm<{wgmma}>
  // AMPERE-LABEL: gpu.func @derived
  // AMPERE-SAME:    cute.schedule = "stages={{[2-5]}} consumers=0 cluster=1x1 persistent=0 order=1 threads=0"
  // AMPERE-NOT:     wgmma
  // TURING-LABEL: gpu.func @derived
  // TURING-SAME:    cute.schedule = "stages=1 consumers=0
  // NAIVE-LABEL: gpu.func @derived
  // NAIVE-SAME:    cute.schedule = "naive"
  // STATED-LABEL: gpu.func @derived
  // STATED-SAME:    cute.schedule = "stages=2 consumers=1 cluster=2x1 persistent=1 order=8 threads=0"
  // REMARK: :[[@LINE+3]]:3: remark: no warpgroups as consumers: they need TMA and wgmma, of sm_90a
  // REMARK: :[[@LINE+2]]:3: remark: 16 stages do not fit in shared memory: 6
  // REMARK: :[[@LINE+1]]:3: remark: no clusters: they need sm_90
  gpu.func @derived(%a: !A, %b: !A, %c: !A) kernel {
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

  // CHECK-LABEL: gpu.func @own
  // CHECK-SAME:    cute.schedule = "stages=3 consumers=0 cluster=1x1 persistent=0 order=1 threads=0"
  gpu.func @own(%a: !A, %b: !A, %c: !A) kernel attributes {cute.schedule = "stages=3 consumers=0"} {
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

  // A kernel without loops with products has no stages.
  // CHECK-LABEL: gpu.func @copy
  // CHECK-SAME:    cute.schedule = "stages=1 consumers=0 cluster=1x1 persistent=0 order=1 threads=0"
  gpu.func @copy(%a: !A, %c: !A) kernel {
    %i, %j = cute.tile.program<[64, 64]> %c
    %x = cute.tile.load<[64, 64]> %a[%i, %j]
    cute.tile.store %x, %c[%i, %j]
    gpu.return
  }
}
