// RUN: cute-opt %s | FileCheck %s
// RUN: cute-opt %s -mlir-print-op-generic | cute-opt | FileCheck %s
// RUN: cute-opt %s -emit-bytecode | cute-opt | FileCheck %s
// RUN: cute-opt %s -canonicalize -cse -sccp -o /dev/null

// right_inverse: L(R(i)) = i; left_inverse: R(L(i)) = i.

// L(c) = 8*c0 + c1: i is at (i / 8, i % 8), which has the index i / 8 + 4 * (i % 8).
// CHECK-LABEL: func.func @right(
// CHECK: cute.right_inverse(%{{.*}}) : (!cute.layout<"(4,8):(8,1)">) -> !cute.layout<"(8,4):(4,1)">
func.func @right(%a: !cute.layout<"(4,8):(8,1)">) {
  %r = cute.right_inverse(%a) : (!cute.layout<"(4,8):(8,1)">) -> !cute.layout<"(8,4):(4,1)">
  return
}

// Only 0..3 are reached without a gap.
// CHECK-LABEL: func.func @right_of_a_gap(
// CHECK: cute.right_inverse(%{{.*}}) : (!cute.layout<"(4,8):(1,8)">) -> !cute.layout<"4:1">
func.func @right_of_a_gap(%a: !cute.layout<"(4,8):(1,8)">) {
  %r = cute.right_inverse(%a) : (!cute.layout<"(4,8):(1,8)">) -> !cute.layout<"4:1">
  return
}

// CHECK-LABEL: func.func @right_of_nothing(
// CHECK: cute.right_inverse(%{{.*}}) : (!cute.layout<"8:2">) -> !cute.layout<"1:0">
func.func @right_of_nothing(%a: !cute.layout<"8:2">) {
  %r = cute.right_inverse(%a) : (!cute.layout<"8:2">) -> !cute.layout<"1:0">
  return
}

// An unknown stride ends what is contiguous.
// CHECK-LABEL: func.func @right_unknown_stride(
// CHECK: cute.right_inverse(%{{.*}}) : (!cute.layout<"(4,8):(1,?)">) -> !cute.layout<"4:1">
func.func @right_unknown_stride(%a: !cute.layout<"(4,8):(1,?)">) {
  %r = cute.right_inverse(%a) : (!cute.layout<"(4,8):(1,?)">) -> !cute.layout<"4:1">
  return
}

// Sorted by stride: 2:1 (mode 2, index 12), 3:2 (mode 1, index 4), 4:6 (mode 0, index 1).
// CHECK-LABEL: func.func @right_of_three(
// CHECK: cute.right_inverse(%{{.*}}) : (!cute.layout<"(4,3,2):(6,2,1)">) -> !cute.layout<"(2,3,4):(12,4,1)">
func.func @right_of_three(%a: !cute.layout<"(4,3,2):(6,2,1)">) {
  %r = cute.right_inverse(%a) : (!cute.layout<"(4,3,2):(6,2,1)">) -> !cute.layout<"(2,3,4):(12,4,1)">
  return
}

// CHECK-LABEL: func.func @left(
// CHECK: cute.left_inverse(%{{.*}}) : (!cute.layout<"(4,8):(8,1)">) -> !cute.layout<"(8,4):(4,1)">
func.func @left(%a: !cute.layout<"(4,8):(8,1)">) {
  %r = cute.left_inverse(%a) : (!cute.layout<"(4,8):(8,1)">) -> !cute.layout<"(8,4):(4,1)">
  return
}

// R(c0 + 8 c1) = c0 + 4 c1: of 8 places the first 4 are taken.
// CHECK-LABEL: func.func @left_of_a_gap(
// CHECK: cute.left_inverse(%{{.*}}) : (!cute.layout<"(4,8):(1,8)">) -> !cute.layout<"(8,8):(1,4)">
func.func @left_of_a_gap(%a: !cute.layout<"(4,8):(1,8)">) {
  %r = cute.left_inverse(%a) : (!cute.layout<"(4,8):(1,8)">) -> !cute.layout<"(8,8):(1,4)">
  return
}

// 0, 2, 4, 6: every second.
// CHECK-LABEL: func.func @left_of_twos(
// CHECK: cute.left_inverse(%{{.*}}) : (!cute.layout<"4:2">) -> !cute.layout<"(2,4):(0,1)">
func.func @left_of_twos(%a: !cute.layout<"4:2">) {
  %r = cute.left_inverse(%a) : (!cute.layout<"4:2">) -> !cute.layout<"(2,4):(0,1)">
  return
}
