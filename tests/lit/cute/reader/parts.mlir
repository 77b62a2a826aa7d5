// RUN: cute-opt %s | cute-opt | FileCheck %s
// RUN: cute-opt %s --cute-to-standard | FileCheck %s --check-prefix=LOW

// The index of a coordinate as a loop over modes, which are selected at run time.
// CHECK-LABEL: func.func @index
// CHECK: cute.get_scalars
// CHECK: arith.select
// LOW-LABEL: func.func @index
// LOW: scf.for
// LOW-DAG: %[[IS1:.*]] = arith.cmpi eq, %{{.*}}, %c1
// LOW-DAG: arith.select %[[IS1]], %c1_i64, %c8_i64 : i64
// LOW-NOT: cute.
func.func @index(%layout: !cute.layout<"(4,8,?):(8,1,?{i64})">, %coord: !cute.coord<3>) -> i64 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %rank = arith.constant 3 : index
  %z = arith.constant 0 : i64
  %idx = scf.for %i = %c0 to %rank step %c1 iter_args(%acc = %z) -> (i64) {
    %shape_i = cute.shape %layout, %i
    %stride_i = cute.stride %layout, %i
    %coord_i = cute.coord %coord, %i
    %c = arith.extsi %coord_i : i32 to i64
    %prod = arith.muli %c, %stride_i : i64
    %next = arith.addi %acc, %prod : i64
    scf.yield %next : i64
  }
  return %idx : i64
}

// One mode, and an i32 as the number of a mode.
// LOW-LABEL: func.func @single
// LOW-SAME: (%[[A:.*]]: i32, %{{.*}}: i32)
// LOW: return %[[A]] : i32
func.func @single(%c: !cute.coord<1>, %i: i32) -> i32 {
  %m = cute.coord %c, %i
  return %m : i32
}

// CHECK-LABEL: func.func @vectors
// CHECK-SAME: (%{{.*}}: !cute.memref<f32, gmem, "?:1">, %{{.*}}: !cute.memref<bf16, gmem, "?:1">)
func.func @vectors(%a: !cute.tensor, %b: !cute.tensor<bf16>) { return }
