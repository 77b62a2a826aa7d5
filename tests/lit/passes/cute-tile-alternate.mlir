// Sums of tensor cores that are scaled and added by threads: two products alternate between two tiles of sums.
// RUN: cute-opt %s --pass-pipeline='builtin.module(cute-tile-expand,cute-tile-schedule{arch=sm_90a schedule=stages=3,consumers=2},cute-tile-layouts{arch=sm_90a},cute-async-pipeline{arch=sm_90a},cute-async-products,cute-warp-specialization,cute-tile-alternate)' | FileCheck %s
// RUN: cute-opt %s -remarks=cute-tile-alternate --pass-pipeline='builtin.module(cute-tile-expand,cute-tile-schedule{arch=sm_90a schedule=stages=3,consumers=2},cute-tile-layouts{arch=sm_90a},cute-async-pipeline{arch=sm_90a},cute-async-products,cute-warp-specialization,cute-tile-alternate)' -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK
// RUN: cute-opt %s | cute-ptx -arch sm_90a --schedule="stages=3 consumers=2" | FileCheck %s --check-prefix=PTX
// The accumulators are not read while products write them, or this is an error.
// RUN: cute-opt %s | cute-ptx -arch sm_90a --schedule="stages=3 consumers=2" | cute-link -o /dev/null

!A = !cute.memref<f16, gmem, align<16>, "(?,?{div=8}):(?{i64 div=8},1)">
!F = !cute.memref<f32, gmem, align<16>, "(?,?{div=4}):(?{i64 div=4},1)">
!v = !cute.memref<f32, gmem, "(?,?):(?{i64},1)">
!s = tensor<128x128xf32>
!w = tensor<128x256xf32>
gpu.module @m {
  // CHECK-LABEL: gpu.func @scaled
  // CHECK:         cute.tile.role "consumers"
  // CHECK:         %[[ANY:[0-9a-z_#]+]] = arith.cmpi slt, %[[LOW:[0-9a-z_#]+]], %[[HIGH:[0-9a-z_#]+]] : i32
  // CHECK:         scf.if %[[ANY]]
  // CHECK:           %[[U0:[0-9a-z_#]+]] = cute.tile.load<[128, 1]>
  // CHECK:           %[[V0:[0-9a-z_#]+]] = cute.tile.load<[128, 1]>
  // CHECK:           cute.tile.await
  // CHECK-NOT:       cute.tile.load
  // CHECK:           %[[P0:[0-9a-z_#]+]] = cute.tile.gemm<{pending = 7 : i32, wgmma}>
  // CHECK-NOT:       cute.tile.settle
  // CHECK:           %[[LAST:[0-9a-z_#]+]] = arith.subi %[[HIGH]]
  // CHECK:           scf.for {{.*}} to %[[LAST]] {{.*}} iter_args(%[[P:[0-9a-z_#]+]] = %[[P0]], %[[STAGE:[0-9a-z_#]+]] = {{.*}}, %[[U:[0-9a-z_#]+]] = %[[U0]], %[[V:[0-9a-z_#]+]] = %[[V0]],
  // CHECK:             cute.tile.await(%[[PIPE:[0-9a-z_#]+]], %[[SECOND:[0-9a-z_#]+]],
  // CHECK:             %[[Q:[0-9a-z_#]+]] = cute.tile.gemm<{pending = 7 : i32, wgmma}>
  // CHECK:             %[[S:[0-9a-z_#]+]] = cute.tile.settle<1> (%[[P]])
  // CHECK:             cute.tile.release(%[[PIPE]], %[[STAGE]])
  // CHECK:             cute.tile.broadcast<[128, 128]> (%[[U]])
  // CHECK:             math.fma %[[S]]
  // CHECK:             %[[W:[0-9a-z_#]+]] = cute.tile.load<[128, 1]>
  // CHECK:             cute.tile.await(%[[PIPE]], %[[THIRD:[0-9a-z_#]+]],
  // CHECK:             %[[R:[0-9a-z_#]+]] = cute.tile.gemm<{pending = 7 : i32, wgmma}>
  // CHECK:             cute.tile.settle<1> (%[[Q]])
  // CHECK:             cute.tile.release(%[[PIPE]], %[[SECOND]])
  // CHECK:             cute.tile.broadcast<[128, 128]> (%[[V]])
  // CHECK:             %[[Z:[0-9a-z_#]+]] = cute.tile.load<[128, 1]>
  // CHECK:             scf.yield %[[R]], %[[THIRD]], %[[W]], %[[Z]],
  // CHECK:           scf.if
  // CHECK:             cute.tile.gemm<{pending = 7 : i32, wgmma}>
  // CHECK:             cute.tile.settle<1>
  // CHECK:             cute.tile.settle (
  // CHECK:           } else {
  // CHECK-NOT:         cute.tile.gemm
  // CHECK:             cute.tile.settle (
  // CHECK:           } else {
  // REMARK-DAG: remark: products alternate between two tiles of sums, so that one is under way while the sums of the other are added [cute-tile-alternate]
  // Scales are loaded with a predicate: behind a branch, the sums of the next product would have registers of their own.
  // PTX-LABEL: .entry scaled(
  // PTX:         wgmma.wait_group.sync.aligned 1;
  // PTX:         mov.b32 %r[[SCALE:[0-9]+]], 0; @%p{{[0-9]+}} ld.global.b32 %r[[SCALE]]
  // PTX:         wgmma.wait_group.sync.aligned 1;
  gpu.func @scaled(%a: !A, %b: !A, %scale: !v, %d: !F) kernel {
    %i, %j = cute.tile.program<[128, 128]> %d
    %n = cute.tile.count<1, 64> %a
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.0> : !s
    %sum = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero) -> (!s) : i32 {
      %x = cute.tile.load<[128, 64]> %a[%i, %k]
      %y = cute.tile.load<[128, 64]> %b[%j, %k]
      %u = cute.tile.load<[128, 1]> %scale[%i, %k]
      %p = cute.tile.gemm %x, %y, %zero
      %t = cute.tile.fma %p, %u, %acc
      scf.yield %t : !s
    }
    cute.tile.store %sum, %d[%i, %j]
    gpu.return
  }

  // Twice 128 registers of sums and 128 of their sum are too many.
  // CHECK-LABEL: gpu.func @wide
  // CHECK-NOT:     pending
  // REMARK-DAG: remark: products of this loop wait while their sums are added: a thread has too few registers for two tiles of sums [cute-tile-alternate]
  gpu.func @wide(%a: !A, %b: !A, %d: !F) kernel {
    %i, %j = cute.tile.program<[128, 256]> %d
    %n = cute.tile.count<1, 64> %a
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.0> : !w
    %sum = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero) -> (!w) : i32 {
      %x = cute.tile.load<[128, 64]> %a[%i, %k]
      %y = cute.tile.load<[256, 64]> %b[%j, %k]
      %p = cute.tile.gemm %x, %y, %zero
      %t = cute.tile.add %p, %acc
      scf.yield %t : !w
    }
    cute.tile.store %sum, %d[%i, %j]
    gpu.return
  }

  // What the loop carries is not a sum: the number of columns.
  // CHECK-LABEL: gpu.func @loaded
  // CHECK-NOT:     pending
  // REMARK-DAG: remark: products of this loop wait while their sums are added: it carries other values than tiles that are computed from the sums [cute-tile-alternate]
  gpu.func @loaded(%a: !A, %b: !A, %scale: !v, %d: !F) kernel {
    %i, %j = cute.tile.program<[128, 128]> %d
    %n = cute.tile.count<1, 64> %a
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.0> : !s
    %one = arith.constant dense<1.0> : tensor<128x1xf32>
    %sum, %last = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero, %before = %one) -> (!s, tensor<128x1xf32>) : i32 {
      %x = cute.tile.load<[128, 64]> %a[%i, %k]
      %y = cute.tile.load<[128, 64]> %b[%j, %k]
      %u = cute.tile.load<[128, 1]> %scale[%i, %k]
      %p = cute.tile.gemm %x, %y, %zero
      %t = cute.tile.fma %p, %before, %acc
      scf.yield %t, %u : !s, tensor<128x1xf32>
    }
    %r = cute.tile.mul %sum, %last
    cute.tile.store %r, %d[%i, %j]
    gpu.return
  }
}
