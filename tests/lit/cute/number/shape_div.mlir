// RUN: cute-opt %s | FileCheck %s
// RUN: cute-opt %s -mlir-print-op-generic | cute-opt | FileCheck %s
// RUN: cute-opt %s -emit-bytecode | cute-opt | FileCheck %s
// RUN: cute-opt %s -canonicalize -cse -sccp -o /dev/null

// 8/2, 10/5
// CHECK-LABEL: func.func @each(
// CHECK: cute.shape_div(%{{.*}}, %{{.*}}) : (!cute.shape<"(8,10)">, !cute.shape<"(2,5)">) -> !cute.shape<"(4,2)">
func.func @each(%a: !cute.shape<"(8,10)">, %b: !cute.shape<"(2,5)">) {
  %r = cute.shape_div(%a, %b) : (!cute.shape<"(8,10)">, !cute.shape<"(2,5)">) -> !cute.shape<"(4,2)">
  return
}

// 16 uses up all of 8 (1 stays) and 16/8 = 2 of 10.
// CHECK-LABEL: func.func @by_one_number(
// CHECK: cute.shape_div(%{{.*}}, %{{.*}}) : (!cute.shape<"(8,10)">, !cute.shape<"16">) -> !cute.shape<"(1,5)">
func.func @by_one_number(%a: !cute.shape<"(8,10)">, %b: !cute.shape<"16">) {
  %r = cute.shape_div(%a, %b) : (!cute.shape<"(8,10)">, !cute.shape<"16">) -> !cute.shape<"(1,5)">
  return
}

// 4 of 8; the divisor is used up: 4/8 counts as 1.
// CHECK-LABEL: func.func @within_the_first(
// CHECK: cute.shape_div(%{{.*}}, %{{.*}}) : (!cute.shape<"(8,10)">, !cute.shape<"4">) -> !cute.shape<"(2,10)">
func.func @within_the_first(%a: !cute.shape<"(8,10)">, %b: !cute.shape<"4">) {
  %r = cute.shape_div(%a, %b) : (!cute.shape<"(8,10)">, !cute.shape<"4">) -> !cute.shape<"(2,10)">
  return
}

// 6 divides 12: 1.
// CHECK-LABEL: func.func @larger_divisor(
// CHECK: cute.shape_div(%{{.*}}, %{{.*}}) : (!cute.shape<"6">, !cute.shape<"12">) -> !cute.shape<"1">
func.func @larger_divisor(%a: !cute.shape<"6">, %b: !cute.shape<"12">) {
  %r = cute.shape_div(%a, %b) : (!cute.shape<"6">, !cute.shape<"12">) -> !cute.shape<"1">
  return
}

// 24 / (2*3)
// CHECK-LABEL: func.func @by_a_tuple(
// CHECK: cute.shape_div(%{{.*}}, %{{.*}}) : (!cute.shape<"24">, !cute.shape<"(2,3)">) -> !cute.shape<"4">
func.func @by_a_tuple(%a: !cute.shape<"24">, %b: !cute.shape<"(2,3)">) {
  %r = cute.shape_div(%a, %b) : (!cute.shape<"24">, !cute.shape<"(2,3)">) -> !cute.shape<"4">
  return
}

// CHECK-LABEL: func.func @nested(
// CHECK: cute.shape_div(%{{.*}}, %{{.*}}) : (!cute.shape<"((8,10),6)">, !cute.shape<"((2,5),3)">) -> !cute.shape<"((4,2),2)">
func.func @nested(%a: !cute.shape<"((8,10),6)">, %b: !cute.shape<"((2,5),3)">) {
  %r = cute.shape_div(%a, %b) : (!cute.shape<"((8,10),6)">, !cute.shape<"((2,5),3)">) -> !cute.shape<"((4,2),2)">
  return
}

// CHECK-LABEL: func.func @unknown(
// CHECK: cute.shape_div(%{{.*}}, %{{.*}}) : (!cute.shape<"?">, !cute.shape<"4">) -> !cute.shape<"?">
func.func @unknown(%a: !cute.shape<"?">, %b: !cute.shape<"4">) {
  %r = cute.shape_div(%a, %b) : (!cute.shape<"?">, !cute.shape<"4">) -> !cute.shape<"?">
  return
}

// CHECK-LABEL: func.func @wide(
// CHECK: cute.shape_div(%{{.*}}, %{{.*}}) : (!cute.shape<"?{i64}">, !cute.shape<"4">) -> !cute.shape<"?{i64}">
func.func @wide(%a: !cute.shape<"?{i64}">, %b: !cute.shape<"4">) {
  %r = cute.shape_div(%a, %b) : (!cute.shape<"?{i64}">, !cute.shape<"4">) -> !cute.shape<"?{i64}">
  return
}
