// RUN: cute-opt %s --pass-pipeline='builtin.module(cute-tile-expand,cute-tile-layouts{arch=sm_90a},cute-tile-rare)' | FileCheck %s
// RUN: cute-opt %s -remarks=cute-tile-rare --pass-pipeline='builtin.module(cute-tile-expand,cute-tile-layouts{arch=sm_90a},cute-tile-rare)' -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK
// RUN: cute-opt %s | cute-ptx -arch sm_90a | FileCheck %s --check-prefix=PTX

// What only selections need, by one condition, is in a branch of the warps that hold such an element. A value that is the same operations on
// selected values is not selected again.
!A = !cute.memref<f32, gmem, align<16>, "(?,?{div=4}):(?{i64 div=4},1)">
gpu.module @m {
  // CHECK-LABEL: gpu.func @rescale
  // CHECK:         %[[P:.*]] = math.exp2
  // CHECK:         %[[SUM:.*]] = cute.tile.reduce<add, 1> (%[[P]])
  // CHECK:         %[[FAR:.*]] = arith.cmpf ogt, %[[SUM]]
  // CHECK:         %[[ANY:.*]] = cute.tile.any (%[[FAR]])
  // CHECK:         %[[R:.*]]:3 = scf.if %[[ANY]]
  // CHECK:           cute.tile.reduce<max, 1>
  // CHECK:           %[[SHIFT:.*]] = arith.select %[[FAR]],
  // CHECK-NOT:       arith.select
  // CHECK:           %[[Q:.*]] = math.exp2
  // CHECK:           %[[ROWS:.*]] = cute.tile.reduce<add, 1> (%[[Q]])
  // CHECK:           scf.yield %[[SHIFT]], %[[Q]], %[[ROWS]] :
  // CHECK-NEXT:    } else {
  // CHECK-NEXT:      scf.yield %{{.*}}, %[[P]], %[[SUM]] :
  // PTX-LABEL: .entry rescale(
  // PTX:         vote.sync.any.pred
  gpu.func @rescale(%x: !A, %shifts: !A, %y: !A, %new_shifts: !A, %sums: !A) kernel {
    %i, %j = cute.tile.program<[64, 64]> %y
    %a = cute.tile.load<[64, 64]> %x[%i, %j]
    %t = cute.tile.load<[64, 1]> %shifts[%i, 0]
    %e0 = cute.tile.add %a, %t
    %p0 = cute.tile.exp2 %e0 {fast}
    %sum0 = cute.tile.reduce<add, 1> %p0
    %far = cute.tile.gt %sum0, 100.0
    %top = cute.tile.reduce<max, 1> %a
    %down = cute.tile.neg %top
    %t1 = cute.tile.where %far, %down, %t {rare}
    %e1 = cute.tile.add %a, %t1
    %p1 = cute.tile.exp2 %e1 {fast}
    %sum1 = cute.tile.reduce<add, 1> %p1
    %p = cute.tile.where %far, %p1, %p0 {rare}
    %sum = cute.tile.where %far, %sum1, %sum0 {rare}
    cute.tile.store %p, %y[%i, %j]
    cute.tile.store %t1, %new_shifts[%i, %j]
    cute.tile.store %sum, %sums[%i, %j]
    gpu.return
  }

  // A selection that something in front of the next one needs has a branch of its own.
  // CHECK-LABEL: gpu.func @twice
  // CHECK:         %[[FIRST:.*]] = scf.if
  // CHECK:           math.exp
  // CHECK:         cute.tile.store
  // CHECK:         scf.if
  // CHECK:           math.sin
  gpu.func @twice(%x: !A, %y: !A, %z: !A) kernel {
    %i, %j = cute.tile.program<[64, 64]> %y
    %a = cute.tile.load<[64, 64]> %x[%i, %j]
    %c = cute.tile.gt %a, 5.0
    %e = cute.tile.exp %a
    %b = cute.tile.where %c, %e, %a {rare}
    cute.tile.store %b, %y[%i, %j]
    %s = cute.tile.sin %a
    %d = cute.tile.where %c, %s, %b {rare}
    cute.tile.store %d, %z[%i, %j]
    gpu.return
  }

  // Warps that do not take the branch would not be at the barriers of a reduction between warps.
  // CHECK-LABEL: gpu.func @between_warps
  // CHECK:         %[[ALL:.*]] = cute.tile.reduce<max, 0>
  // CHECK:         scf.if
  // REMARK: remark: this is computed whether it is needed or not: it combines elements of several warps [cute-tile-rare]
  gpu.func @between_warps(%x: !A, %y: !A) kernel {
    %i, %j = cute.tile.program<[64, 64]> %y
    %a = cute.tile.load<[64, 64]> %x[%i, %j]
    %c = cute.tile.gt %a, 5.0
    %m = cute.tile.reduce<max, 0> %a
    %d = cute.tile.sub %a, %m
    %b = cute.tile.where %c, %d, %a {rare}
    cute.tile.store %b, %y[%i, %j]
    gpu.return
  }
}
