// RUN: cute-opt %s --pass-pipeline='builtin.module(cute-tile-expand,cute-tile-schedule{arch=sm_90a schedule=persistent=0,cluster=1x1,consumers=1,stages=2,split=4},cute-tile-cluster)' -remarks=cute-tile-cluster -o - 2>%t.err | FileCheck %s
// RUN: FileCheck %s --check-prefix=REMARK < %t.err
// RUN: cute-ptx %s -arch sm_90a --schedule="persistent=0 cluster=2x1 consumers=1 stages=2 split=2 blocks=2 l2=stream" -o - | FileCheck %s --check-prefix=PTX

!A = !cute.memref<f16, gmem, align<16>, "(?,?{div=8}):(?{i64 div=8},1)">
!D = !cute.memref<f16, gmem, align<16>, "(?{div=8},?):(1,?{i64 div=8})">
!bias = !cute.memref<f32, gmem, "(?,?):(0,1)">
!t = tensor<64x64xf32>
gpu.module @m {
  // Each of four blocks has every fourth iteration; then it has a fourth of the rows, with what follows the loop.
  // CHECK-LABEL: gpu.func @rows
  // CHECK-SAME:    nvvm.cluster_dim = array<i32: 4, 1, 1>
  // CHECK:         %[[P:.*]]:3 = cute.tile.program<[64, 64], [1, 1, 4]>
  // CHECK:         %[[SKIP:.*]] = arith.muli %[[P]]#2, %{{.*}}
  // CHECK:         %[[LOW:.*]] = arith.addi %{{.*}}, %[[SKIP]]
  // CHECK:         %[[STEP:.*]] = arith.muli
  // CHECK:         %[[PART:.*]] = scf.for %{{.*}} = %[[LOW]] to %{{.*}} step %[[STEP]]
  // CHECK:         %[[SUM:.*]] = cute.tile.reduce_scatter<0> (%[[PART]], %[[P]]#2) : (tensor<64x64xf32>, i32) -> tensor<16x64xf32>
  // CHECK:         cute.tile.load<[1, 64]>
  // CHECK:         %[[FIRST:.*]] = arith.muli %[[P]]#2, %{{.*}}
  // CHECK:         cute.tile.iota<[16, 1], 0> (%[[FIRST]])
  // CHECK:         %[[FOUR:.*]] = arith.muli %[[P]]#0,
  // CHECK:         %[[I:.*]] = arith.addi %[[FOUR]], %[[P]]#2
  // CHECK:         cute.make_coord(%[[I]], %[[P]]#1)
  // CHECK:         cute.tile.store ({{.*}} (tensor<16x64xf16>,
  // Two rows of blocks share the tiles of B; those of A leave L2 first.
  // PTX: "cluster": [4, 1, 1]
  // PTX: .minnctapersm 2
  // PTX: tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes.L2::cache_hint
  // PTX: tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster
  // PTX: st.async.weak.shared::cluster.mbarrier::complete_tx::bytes{{.*}}
  // PTX: mbarrier.try_wait.parity.acquire.cluster
  // The last barrier of the cluster is that of stages that its blocks fill for one another.
  // PTX: barrier.cluster.wait.aligned
  gpu.func @rows(%a: !A, %b: !A, %c: !A, %bias: !bias) kernel {
    %i, %j = cute.tile.program<[64, 64]> %c
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %n = cute.tile.count<1, 64> %a
    %zero = arith.constant dense<0.0> : !t
    %s = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero) -> (!t) : i32 {
      %x = cute.tile.load<[64, 64]> %a[%i, %k]
      %y = cute.tile.load<[64, 64]> %b[%j, %k]
      %d = cute.tile.gemm %x, %y, %acc
      scf.yield %d : !t
    }
    %row = cute.tile.load<[1, 64]> %bias[%i, %j]
    %z = cute.tile.add %s, %row
    %r = cute.tile.iota<[64, 1], 0>
    %f = cute.tile.cast<f32> %r
    %w = cute.tile.add %z, %f
    %o = cute.tile.cast<f16> %w
    cute.tile.store %o, %c[%i, %j]
    gpu.return
  }

  // Columns, where the elements of a column are adjacent.
  // CHECK-LABEL: gpu.func @columns
  // CHECK:         cute.tile.reduce_scatter<1> ({{.*}} -> tensor<64x16xf32>
  gpu.func @columns(%a: !A, %b: !A, %c: !D) kernel {
    %i, %j = cute.tile.program<[64, 64]> %c
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %n = cute.tile.count<1, 64> %a
    %zero = arith.constant dense<0.0> : !t
    %s = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero) -> (!t) : i32 {
      %x = cute.tile.load<[64, 64]> %a[%i, %k]
      %y = cute.tile.load<[64, 64]> %b[%j, %k]
      %d = cute.tile.gemm %x, %y, %acc
      scf.yield %d : !t
    }
    %o = cute.tile.cast<f16> %s
    cute.tile.store %o, %c[%i, %j]
    gpu.return
  }

  // REMARK: :[[@LINE+9]]:10: remark: blocks of a cluster do not divide the k of a tile: its loop does more than add to a tile
  // CHECK-LABEL: gpu.func @signs
  // CHECK-NOT:     reduce_scatter
  gpu.func @signs(%a: !A, %b: !A, %c: !A) kernel {
    %i, %j = cute.tile.program<[64, 64]> %c
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %n = cute.tile.count<1, 64> %a
    %zero = arith.constant dense<0.0> : !t
    %s = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero) -> (!t) : i32 {
      %x = cute.tile.load<[64, 64]> %a[%i, %k]
      %y = cute.tile.load<[64, 64]> %b[%j, %k]
      %z = cute.tile.mul %acc, -1.0
      %d = cute.tile.gemm %x, %y, %z
      scf.yield %d : !t
    }
    %o = cute.tile.cast<f16> %s
    cute.tile.store %o, %c[%i, %j]
    gpu.return
  }

  // REMARK: :[[@LINE+9]]:10: remark: blocks of a cluster do not divide the k of a tile: an operation on its sums is neither elementwise, nor a load or store
  // CHECK-LABEL: gpu.func @sums
  // CHECK-NOT:     reduce_scatter
  gpu.func @sums(%a: !A, %b: !A, %c: !A) kernel {
    %i, %j = cute.tile.program<[64, 64]> %c
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %n = cute.tile.count<1, 64> %a
    %zero = arith.constant dense<0.0> : !t
    %s = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero) -> (!t) : i32 {
      %x = cute.tile.load<[64, 64]> %a[%i, %k]
      %y = cute.tile.load<[64, 64]> %b[%j, %k]
      %d = cute.tile.gemm %x, %y, %acc
      scf.yield %d : !t
    }
    %r = cute.tile.reduce<max, 1> %s
    %z = cute.tile.sub %s, %r
    %o = cute.tile.cast<f16> %z
    cute.tile.store %o, %c[%i, %j]
    gpu.return
  }
}
