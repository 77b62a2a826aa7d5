// RUN: cute-opt %s --pass-pipeline='builtin.module(cute-tile-expand,cute-tile-schedule{arch=sm_90a},cute-tile-cluster)' | FileCheck %s
// RUN: cute-opt %s --pass-pipeline='builtin.module(cute-tile-expand,cute-tile-schedule{arch=sm_90a},cute-tile-cluster,cute-tile-schedule{arch=sm_90a},cute-tile-cluster)' | FileCheck %s
// RUN: cute-ptx %s -arch sm_90a -o - | FileCheck %s --check-prefix=PTX
// RUN: cute-ptx %s -arch sm_90a --schedule="consumers=0" -o - | FileCheck %s --check-prefix=WARPS
// RUN: cute-ptx %s -arch sm_90 --schedule=naive -o - | FileCheck %s --check-prefix=NAIVE
// RUN: not cute-ptx %s -arch sm_80 -o /dev/null 2>&1 | FileCheck %s --check-prefix=OLD
// RUN: not cute-ptx %s -arch sm_90a --schedule=cluster=2x1 -o /dev/null 2>&1 | FileCheck %s --check-prefix=CLUSTER
// RUN: not cute-ptx %s -arch sm_90a --schedule=persistent=1 -o /dev/null 2>&1 | FileCheck %s --check-prefix=RESIDENT
// RUN: not cute-ptx %s -arch sm_90a --schedule=split=2 -o /dev/null 2>&1 | FileCheck %s --check-prefix=SPLIT

// Softmax of rows that the four blocks of a cluster have: each schedule has these clusters.
!A = !cute.memref<bf16, gmem, align<16>, "(?{div=128},?{div=8}):(?{i64 div=8},1)">
!D = !cute.memref<bf16, gmem, align<16>, "(?,?{div=8}):(?{i64 div=8},1)">
!t = tensor<128x128xf32>
gpu.module @m {
  // CHECK-LABEL: gpu.func @softmax
  // CHECK-SAME:    cluster=1x4 persistent=0
  // CHECK-SAME:    nvvm.cluster_dim = array<i32: 4, 1, 1>
  // CHECK:         %[[P:.*]]:2 = cute.tile.program<{extents = array<i32: 128, 128>, in_cluster = array<i32: 1, 4>, single}>
  // CHECK:         cute.tile.cluster_reduce<max> (%{{.*}}, %[[P]]#1) : (tensor<128x1xf32>, i32) -> tensor<128x1xf32>
  // The four threads that have copies of a row's maximum send one each. The blocks share the tiles of A.
  // PTX:     barrier.cluster.arrive.relaxed.aligned
  // PTX:     barrier.cluster.wait.aligned
  // PTX:     multicast::cluster
  // PTX-COUNT-4: st.async.weak.shared::cluster.mbarrier::complete_tx::bytes
  // PTX-NOT: st.async
  // WARPS:   fence.mbarrier_init.release.cluster
  // WARPS:   barrier.cluster.arrive.relaxed.aligned
  // WARPS:   barrier.cluster.wait.aligned
  // WARPS-NOT: barrier.cluster.wait.aligned
  // WARPS:   st.async
  // WARPS:   mbarrier.try_wait.parity.acquire.cluster
  // NAIVE:   st.async
  // OLD: :[[@LINE+4]]:14: error: expected sm_90 or later: the program has clusters
  // CLUSTER: :[[@LINE+3]]:14: error: expected a schedule with cluster=1x4, as the program states, got cluster=2x1
  // RESIDENT: :[[@LINE+2]]:14: error: expected a schedule with persistent=0, since the program has clusters, got persistent=1
  gpu.func @softmax(%a: !A, %b: !A, %c: !D) kernel {
    %i, %j = cute.tile.program<[128, 128], [1, 4]> %c {single}
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %n = cute.tile.count<1, 64> %a
    %zero = arith.constant dense<0.0> : !t
    %s = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero) -> (!t) : i32 {
      %x = cute.tile.load<[128, 64]> %a[%i, %k]
      %y = cute.tile.load<[128, 64]> %b[%j, %k]
      %d = cute.tile.gemm %x, %y, %acc
      scf.yield %d : !t
    }
    // SPLIT: :[[@LINE-11]]:14: error: expected a schedule with split=1, since the program has clusters, got split=2
    %m = cute.tile.reduce<max, 1> %s
    %most = cute.tile.cluster_reduce<max> %m, %j
    %less = cute.tile.sub %s, %most
    %e = cute.tile.exp %less
    %p = cute.tile.reduce<add, 1> %e
    %sum = cute.tile.cluster_reduce<add> %p, %j
    %z = cute.tile.div %e, %sum
    %o = cute.tile.cast<bf16> %z
    cute.tile.store %o, %c[%i, %j]
    gpu.return
  }
}
