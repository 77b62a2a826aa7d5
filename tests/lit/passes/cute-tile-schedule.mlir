// What a schedule does not state follows from the cost model, for the tiles, the types, the sizes and the architecture; remarks tell what
// was chosen and refused.
// RUN: cute-opt %s --remarks=cute-tile-schedule -pass-pipeline="builtin.module(cute-tile-expand,cute-tile-schedule{arch=sm_90a})" 2>&1 | FileCheck %s --check-prefix=SM90
// RUN: cute-opt %s --remarks=cute-tile-schedule -pass-pipeline="builtin.module(cute-tile-expand,cute-tile-schedule{arch=sm_89})" 2>&1 | FileCheck %s --check-prefix=SM89
// RUN: cute-opt %s --remarks=cute-tile-schedule -pass-pipeline="builtin.module(cute-tile-expand,cute-tile-schedule{arch=sm_80})" 2>&1 | FileCheck %s --check-prefix=SM80
// RUN: cute-opt %s -D BM=64 -D BN=128 --remarks=cute-tile-schedule -pass-pipeline="builtin.module(cute-tile-expand,cute-tile-schedule{arch=sm_90a sizes=m=64,n=8192,k=1024})" 2>&1 | FileCheck %s --check-prefix=SMALL
// RUN: cute-opt %s -D T=f8E4M3FN -D BK=128 --remarks=cute-tile-schedule -pass-pipeline="builtin.module(cute-tile-expand,cute-tile-schedule{arch=sm_90a schedule=stages=3,cluster=1x2 list=2})" 2>&1 | FileCheck %s --check-prefix=STATED
// RUN: cute-opt %s -D BM=48 --remarks=cute-tile-schedule -pass-pipeline="builtin.module(cute-tile-expand,cute-tile-schedule{arch=sm_90a})" 2>&1 | FileCheck %s --check-prefix=ROWS
// RUN: cute-opt %s -D BM=256 -D BN=256 --remarks=cute-tile-schedule -pass-pipeline="builtin.module(cute-tile-expand,cute-tile-schedule{arch=sm_90a})" 2>&1 | FileCheck %s --check-prefix=LARGE
//!param BM = 128 in 64, 128
//!param BN = 256
//!param BK = 64
//!param T = f16
!A = !cute.memref<${T}, gmem, align<16>, "(?,?{div=16}):(?{i64 div=16},1)">
!C = !cute.memref<f16, gmem, align<16>, "(?,?{div=8}):(?{i64 div=8},1)">

// SM90: :[[@LINE+10]]:3: remark: schedule: stages=4 consumers=2 cluster=2x1 persistent=1 order=8; main loop 171.8 us of {{[0-9.]+}} us, epilogues {{[0-9.]+}} us, device memory {{[0-9.]+}} us, L2 143.2 us, load latency {{[0-9.]+}} us, estimated for m=4096 n=4096 k=4096 on H100 [cute-tile-schedule]
// SM90: remark: no stages=5: it needs 279632 bytes of shared memory, more than the limit of 232448
// SM89: remark: schedule: stages=2 consumers=0 cluster=1x1 persistent=0 order=1; {{.*}} on L40S
// SM89: remark: no stages=3: it needs {{[0-9]+}} bytes of shared memory, more than the limit of 101376
// SM80: remark: schedule: stages=3 consumers=0 cluster=1x1 persistent=0 order=1; {{.*}} on A100
// STATED: remark: schedule: stages=3 consumers=2 cluster=1x2 persistent=1 order=8;
// STATED: remark: likely: stages=3 consumers=2 cluster=1x2 persistent=1 order=8; {{[0-9.]+}} us, bound by {{.*}} [cute-tile-schedule]
// STATED: remark: likely: stages=3 consumers=2 cluster=1x2 persistent=1 order=1; {{[0-9.]+}} us, bound by {{.*}} [cute-tile-schedule]
// STATED-NOT: remark: likely
gpu.module @kernels {
  gpu.func @product(%a: !A, %b: !A, %c: !C) kernel {
    // SMALL: remark: schedule: stages=8 consumers=1 cluster=1x1 persistent=1 order=8; {{.*}} for m=64 n=8192 k=1024 on H100
    // SMALL: remark: no consumers=2: expected a tile with M a multiple of 128, got 64
    // SMALL: remark: no cluster={{[12]x[12]}}: {{[0-9.]+}} us, estimated
    // ROWS: remark: schedule: stages={{[0-9]}} consumers=0 cluster=1x1 persistent=0 order=1;
    // ROWS: remark: no consumers=2: expected a tile with M a multiple of 128, got 48
    // ROWS: remark: no consumers=1: expected a tile with M a multiple of 64, got 48
    // LARGE: remark: schedule: as stated, since no choice fits H100: without stages, it needs {{[0-9]+}} registers, more than the limit of 65536
    %i, %j = cute.tile.program<[${BM}, ${BN}]> %c
    %n = cute.tile.count<1, ${BK}> %a
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.0> : tensor<${BM}x${BN}xf32>
    %sum = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<${BM}x${BN}xf32>) : i32 {
      %x = cute.tile.load<[${BM}, ${BK}]> %a[%i, %k]
      %y = cute.tile.load<[${BN}, ${BK}]> %b[%j, %k]
      %d = cute.tile.gemm %x, %y, %acc
      scf.yield %d : tensor<${BM}x${BN}xf32>
    }
    %h = cute.tile.cast<f16> %sum
    cute.tile.store %h, %c[%i, %j]
    gpu.return
  }
}
