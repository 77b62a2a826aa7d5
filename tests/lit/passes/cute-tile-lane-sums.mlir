// RUN: cute-opt %s --pass-pipeline='builtin.module(cute-tile-expand,cute-tile-layouts{arch=sm_90a},cute-tile-lane-sums)' | FileCheck %s
// RUN: cute-opt %s --pass-pipeline='builtin.module(cute-tile-expand,cute-tile-layouts{arch=sm_90a},cute-tile-lane-sums,cute-tile-rare)' | FileCheck %s --check-prefix=RARE
// RUN: cute-opt %s | cute-ptx -arch sm_90a | FileCheck %s --check-prefix=PTX

// Sums of rows that a loop carries are carried as the parts of lanes, and added behind it.
!A = !cute.memref<f32, gmem, align<16>, "(?,?{div=4}):(?{i64 div=4},1)">
!L = !cute.memref<f32, gmem, align<16>, "(?,1):(1,1)">
!r = tensor<64x1xf32>
gpu.module @m {
  // Scaled and added to, in two operations and in one: no shuffles in the loop.
  // CHECK-LABEL: gpu.func @scaled
  // CHECK:         %[[R:.*]]:2 = scf.for {{.*}} iter_args(%[[L:.*]] = %{{.*}}, %[[M:.*]] = %{{.*}}) -> (tensor<64x16xf32, #cute.layout<"((16,16),(4)):((1@1,1@0),(16@0))">>, tensor<64x16xf32,
  // CHECK:           %[[SPLIT:.*]] = cute.tile.reshape<[64, 16, 4]>
  // CHECK:           %[[OWN:.*]] = cute.tile.reduce<add, 2> (%[[SPLIT]])
  // CHECK:           %[[PARTS:.*]] = cute.tile.reshape<[64, 16]> (%[[OWN]])
  // CHECK-NOT:       cute.tile.reduce
  // CHECK:           %[[F:.*]] = cute.tile.broadcast<[64, 16]>
  // CHECK:           %[[LESS:.*]] = arith.mulf %[[L]], %[[F]]
  // CHECK:           arith.addf %[[LESS]], %[[PARTS]]
  // CHECK:           cute.tile.reduce<add, 2>
  // CHECK:           %[[SQUARES:.*]] = cute.tile.reshape<[64, 16]>
  // CHECK:           math.fma %[[M]], %{{.*}}, %[[SQUARES]]
  // CHECK:         cute.tile.reduce<add, 1> (%[[R]]#1) : (tensor<64x16xf32
  // CHECK:         cute.tile.reduce<add, 1> (%[[R]]#0) : (tensor<64x16xf32
  // PTX-LABEL: .entry scaled(
  // PTX:         $L__BB0_{{.*}}:
  // PTX-NOT:     shfl
  // PTX:         @{{.*}} bra
  // PTX-COUNT-4: shfl.sync.bfly
  gpu.func @scaled(%x: !A, %sums: !L, %others: !L) kernel {
    %i, %j = cute.tile.program<[64, 1]> %sums
    %n = cute.tile.count<1, 64> %x
    %zero = arith.constant 0 : i32   %step = arith.constant 1 : i32
    %l0 = arith.constant dense<0.0> : !r
    %l, %m = scf.for %k = %zero to %n step %step iter_args(%li = %l0, %mi = %l0) -> (!r, !r) : i32 {
      %a = cute.tile.load<[64, 64]> %x[%i, %k]
      %p = cute.tile.exp2 %a {fast}
      %sum = cute.tile.reduce<add, 1> %p
      %iota = cute.tile.iota<[64, 1], 0>
      %row = cute.tile.cast<f32> %iota
      %f = cute.tile.mul %row, 0.25
      %less = cute.tile.mul %li, %f
      %l1 = cute.tile.add %less, %sum
      %square = cute.tile.mul %p, %p
      %squares = cute.tile.reduce<add, 1> %square
      %m1 = cute.tile.fma %mi, %f, %squares
      scf.yield %l1, %m1 : !r, !r
    }
    cute.tile.store %l, %sums[%i, 0]
    cute.tile.store %m, %others[%i, 0]
    gpu.return
  }

  // What the loop uses otherwise, sums that do not begin with 0, and products of sums stay as they are.
  // CHECK-LABEL: gpu.func @used
  // CHECK:         scf.for {{.*}} -> (tensor<64x1xf32, {{.*}}tensor<64x1xf32, {{.*}}tensor<64x1xf32, {{[^t]*}}
  // CHECK-COUNT-3:   cute.tile.reduce<add, 1> {{.*}}tensor<64x64xf32
  // CHECK-NOT:     cute.tile.reduce
  // CHECK:         gpu.return
  gpu.func @used(%x: !A, %y: !A, %sums: !L) kernel {
    %i, %j = cute.tile.program<[64, 1]> %sums
    %n = cute.tile.count<1, 64> %x
    %zero = arith.constant 0 : i32   %step = arith.constant 1 : i32
    %l0 = arith.constant dense<0.0> : !r   %l1 = arith.constant dense<1.0> : !r
    %l, %m, %q = scf.for %k = %zero to %n step %step iter_args(%li = %l0, %mi = %l1, %qi = %l1) -> (!r, !r, !r) : i32 {
      %a = cute.tile.load<[64, 64]> %x[%i, %k]
      %sum = cute.tile.reduce<add, 1> %a
      %b = cute.tile.div %a, %sum
      cute.tile.store %b, %y[%i, %k]
      %next = cute.tile.add %li, %sum
      %square = cute.tile.mul %a, %a
      %squares = cute.tile.reduce<add, 1> %square
      %more = cute.tile.add %mi, %squares
      %fourth = cute.tile.mul %square, %square
      %all = cute.tile.reduce<add, 1> %fourth
      %product = cute.tile.mul %qi, %all
      scf.yield %next, %more, %product : !r, !r, !r
    }
    %o1 = cute.tile.add %l, %m   %o = cute.tile.add %o1, %q
    cute.tile.store %o, %sums[%i, 0]
    gpu.return
  }

  // A comparison for a rare selection is in the branch, with the sum: the branch is taken where a part may be large enough, half of the limit's
  // share of a lane.
  // RARE-LABEL: gpu.func @compared
  // RARE:         scf.for
  // RARE:           %[[PARTS:.*]] = cute.tile.reshape<[64, 16]>
  // RARE:           %[[LEAST:.*]] = arith.constant 3.200000e+01 : f32
  // RARE:           %[[ALL:.*]] = cute.tile.broadcast<[64, 16]> (%[[LEAST]])
  // RARE:           %[[LARGE:.*]] = arith.cmpf ogt, %[[PARTS]], %[[ALL]]
  // RARE:           %[[ANY:.*]] = cute.tile.any (%[[LARGE]])
  // RARE:           scf.if %[[ANY]]
  // RARE:             %[[SUM:.*]] = cute.tile.reduce<add, 1> (%[[PARTS]])
  // RARE:             arith.cmpf ogt, %[[SUM]]
  // RARE:             arith.select
  gpu.func @compared(%x: !A, %sums: !L) kernel {
    %i, %j = cute.tile.program<[64, 1]> %sums
    %n = cute.tile.count<1, 64> %x
    %zero = arith.constant 0 : i32   %step = arith.constant 1 : i32
    %l0 = arith.constant dense<0.0> : !r
    %l = scf.for %k = %zero to %n step %step iter_args(%li = %l0) -> (!r) : i32 {
      %a = cute.tile.load<[64, 64]> %x[%i, %k]
      %sum0 = cute.tile.reduce<add, 1> %a
      %far = cute.tile.gt %sum0, 1024.0
      %half = cute.tile.mul %a, 0.5
      %sum1 = cute.tile.reduce<add, 1> %half
      %sum = cute.tile.where %far, %sum1, %sum0 {rare}
      %next = cute.tile.add %li, %sum
      scf.yield %next : !r
    }
    cute.tile.store %l, %sums[%i, 0]
    gpu.return
  }
}
