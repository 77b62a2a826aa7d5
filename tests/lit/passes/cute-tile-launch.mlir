// RUN: cute-opt %s --pass-pipeline='builtin.module(cute-tile-launch)' | FileCheck %s

// The number of a block along three dimensions: one division is a shift where the extent is a power of two, and none is needed for the first
// product of a batch.
!A = !cute.memref<f32, gmem, align<16>, "(?,?,?):(?{i64},?,1)">
gpu.module @m {
  // CHECK-LABEL: gpu.func @copy
  // CHECK:         %[[BLOCK:.*]] = nvvm.read.ptx.sreg.ctaid.x : i32
  // CHECK:         %[[COLUMNS:.*]] = cute.get_scalars (%{{.*}}) : !cute.int_tuple<"?">
  // CHECK:         %[[BELOW:.*]] = arith.subi %[[COLUMNS]], %c1_i32
  // CHECK:         %[[BITS:.*]] = arith.andi %[[COLUMNS]], %[[BELOW]]
  // CHECK:         %[[POWER:.*]] = arith.cmpi eq, %[[BITS]], %c0_i32
  // CHECK:         %[[IJ:.*]]:2 = scf.if %[[POWER]]
  // CHECK:           %[[SHIFT:.*]] = math.cttz %[[COLUMNS]]
  // CHECK:           %[[Q:.*]] = arith.shrui %[[BLOCK]], %[[SHIFT]]
  // CHECK:           %[[R:.*]] = arith.andi %[[BLOCK]],
  // CHECK:           scf.yield %[[Q]], %[[R]]
  // CHECK:         } else {
  // CHECK-DAG:       %[[R2:.*]] = arith.remui %[[BLOCK]], %[[COLUMNS]]
  // CHECK-DAG:       %[[Q2:.*]] = arith.divui %[[BLOCK]], %[[COLUMNS]]
  // CHECK:           scf.yield %[[Q2]], %[[R2]]
  // CHECK:         %[[FIRST:.*]] = arith.cmpi ult, %[[IJ]]#0, %[[ROWS:.*]] : i32
  // CHECK:         %[[LI:.*]]:2 = scf.if %[[FIRST]]
  // CHECK:           scf.yield %c0_i32{{.*}}, %[[IJ]]#0
  // CHECK:         } else {
  // CHECK-DAG:       arith.remui %[[IJ]]#0, %[[ROWS]]
  // CHECK-DAG:       arith.divui %[[IJ]]#0, %[[ROWS]]
  // CHECK:         cute.make_coord(%[[LI]]#0, %[[LI]]#1, %[[IJ]]#1)
  gpu.func @copy(%A: !A, %B: !A) kernel {
    %l, %i, %j = cute.tile.program<[1, 32, 32]> %A
    %x = cute.tile.load<[32, 32]> %A[%l, %i, %j]
    cute.tile.store %x, %B[%l, %i, %j]
    gpu.return
  }
}
