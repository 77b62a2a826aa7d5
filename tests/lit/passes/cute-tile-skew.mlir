// RUN: cute-opt %s --pass-pipeline='builtin.module(cute-tile-expand,cute-tile-schedule{arch=sm_90a schedule=stages=2,consumers=2},cute-tile-layouts{arch=sm_90a},cute-async-pipeline{arch=sm_90a})' | FileCheck %s --check-prefix=PIPES
// RUN: cute-opt %s --pass-pipeline='builtin.module(cute-tile-expand,cute-tile-schedule{arch=sm_90a schedule=stages=2,consumers=2},cute-tile-layouts{arch=sm_90a},cute-async-pipeline{arch=sm_90a},cute-async-products,cute-warp-specialization,cute-tile-skew)' | FileCheck %s
// RUN: cute-opt %s -remarks=cute-tile-skew --pass-pipeline='builtin.module(cute-tile-expand,cute-tile-schedule{arch=sm_90a schedule=stages=2,consumers=2},cute-tile-layouts{arch=sm_90a},cute-async-pipeline{arch=sm_90a},cute-async-products,cute-warp-specialization,cute-tile-skew)' -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK
// RUN: cute-opt %s | cute-ptx -arch sm_90a --schedule="stages=2 consumers=2" | FileCheck %s --check-prefix=PTX

!A = !cute.memref<f16, gmem, align<16>, "(?,64):(?{i64 div=8},1)">
!s = tensor<128x64xf32>
gpu.module @m {
  // A tile that is loaded in front of the loop has one stage; the products of a chain have pipes of their own.
  // PIPES-LABEL: gpu.func @chain
  // PIPES-DAG:     %[[Q:[0-9a-z_#]+]] = cute.tile.ring() : () -> !cute.memref<f16, smem, align<1024>, S<3,4,3>, "(128,64,1):(64,1,8192)">
  // PIPES-DAG:     %[[ONCE:[0-9a-z_#]+]] = cute.tile.pipe<16384, 1>
  // PIPES-DAG:     %[[PV:[0-9a-z_#]+]] = cute.tile.pipe<8192, 2>
  // PIPES-DAG:     %[[PK:[0-9a-z_#]+]] = cute.tile.pipe<8192, 2>
  // PIPES:         cute.tile.acquire(%[[ONCE]]
  // PIPES:         cute.tile.await(%[[ONCE]]
  // PIPES:         scf.for
  // PIPES:           cute.tile.acquire(%[[FIRST:[0-9a-z_#]+]], %[[I:[0-9a-z_#]+]],
  // PIPES:           cute.tile.acquire(%[[SECOND:[0-9a-z_#]+]], %[[J:[0-9a-z_#]+]],
  // PIPES:           cute.tile.await(%[[FIRST]], %[[I]],
  // PIPES:           cute.tile.gemm<{wgmma}>
  // PIPES:           cute.tile.release(%[[FIRST]], %[[I]])
  // PIPES:           cute.tile.await(%[[SECOND]], %[[J]],
  // PIPES:           cute.tile.gemm<{wgmma}> {{.*}} {cute.held
  // PIPES:           cute.tile.release(%[[SECOND]], %[[J]])

  // CHECK-LABEL: gpu.func @chain
  // CHECK:         cute.tile.role "consumers"
  // CHECK:           %[[ANY:[0-9a-z_#]+]] = arith.cmpi slt, %[[LOW:[0-9a-z_#]+]], %[[HIGH:[0-9a-z_#]+]] : i32
  // CHECK:           %[[FRONT:[0-9a-z_#]+]]:4 = scf.if %[[ANY]]
  // CHECK:             cute.tile.gemm<{wgmma}>
  // CHECK-NOT:         cute.tile.gemm
  // CHECK:             arith.truncf
  // CHECK:           %[[NEXT:[0-9a-z_#]+]] = arith.addi %[[LOW]]
  // CHECK:           cute.tile.turn
  // CHECK:           cute.tile.end_turn
  // CHECK:           %{{.*}} = scf.for %{{.*}} = %[[NEXT]] to %[[HIGH]]
  // CHECK:             cute.tile.await(%[[PK:[0-9a-z_#]+]], %[[I:[0-9a-z_#]+]],
  // CHECK:             cute.tile.await(%[[PV:[0-9a-z_#]+]], %[[J:[0-9a-z_#]+]],
  // CHECK:             cute.tile.begin_turn
  // CHECK:             %[[S:[0-9a-z_#]+]] = cute.tile.gemm<{pending = 7 : i32, wgmma}>
  // CHECK:             %[[O:[0-9a-z_#]+]] = cute.tile.gemm<{pending = 7 : i32, wgmma}>
  // CHECK:             cute.tile.end_turn
  // CHECK:             cute.tile.settle<1> (%[[S]])
  // CHECK:             cute.tile.release(%[[PK]], %[[I]])
  // CHECK:             math.exp2
  // CHECK:             cute.tile.settle (%[[O]])
  // CHECK:             cute.tile.release(%[[PV]], %[[J]])
  // CHECK:             arith.mulf
  // CHECK:             scf.yield
  // CHECK:           scf.if %[[ANY]]
  // CHECK:             cute.tile.await(%[[PV]]
  // CHECK:             cute.tile.gemm<{wgmma}>
  // CHECK:             cute.tile.release(%[[PV]]
  // REMARK-DAG:      remark: the second product of an iteration is issued behind the first one of the next [cute-tile-skew]
  // PTX-LABEL: .entry chain(
  // PTX:         wgmma.wait_group.sync.aligned 1;
  gpu.func @chain(%q: !A, %k: !A, %v: !A, %o: !A) kernel {
    %i, %one = cute.tile.program<[128, 64]> %o
    %n = cute.tile.count<0, 64> %k
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.0> : !s
    %a = cute.tile.load<[128, 64]> %q[%i, 0]
    %r = scf.for %j = %c0 to %n step %c1 iter_args(%sum = %zero) -> (!s) : i32 {
      %b = cute.tile.load<[64, 64]> %k[%j, 0]
      %s = cute.tile.gemm %a, %b, %zero
      %e = cute.tile.exp2 %s
      %p = cute.tile.cast<f16> %e
      %half = cute.tile.mul %sum, 0.5
      %w = cute.tile.load<[64, 64]> %v[%j, 0]
      %t = cute.tile.permute<[1, 0]> %w
      %d = cute.tile.gemm %p, %t, %half
      scf.yield %d : !s
    }
    cute.tile.store %r, %o[%i, 0]
    gpu.return
  }

  // The last product of the loop is used in it.
  // CHECK-LABEL: gpu.func @used
  // CHECK-NOT:     pending
  // REMARK-DAG: remark: products of this loop do not overlap the computation between them: it uses the sums of its second product [cute-tile-skew]
  gpu.func @used(%q: !A, %k: !A, %v: !A, %o: !A) kernel {
    %i, %one = cute.tile.program<[128, 64]> %o
    %n = cute.tile.count<0, 64> %k
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.0> : !s
    %a = cute.tile.load<[128, 64]> %q[%i, 0]
    %r = scf.for %j = %c0 to %n step %c1 iter_args(%sum = %zero) -> (!s) : i32 {
      %b = cute.tile.load<[64, 64]> %k[%j, 0]
      %s = cute.tile.gemm %a, %b, %zero
      %p = cute.tile.cast<f16> %s
      %w = cute.tile.load<[64, 64]> %v[%j, 0]
      %t = cute.tile.permute<[1, 0]> %w
      %d = cute.tile.gemm %p, %t, %sum
      %h = cute.tile.mul %d, 0.5
      scf.yield %h : !s
    }
    cute.tile.store %r, %o[%i, 0]
    gpu.return
  }
}
