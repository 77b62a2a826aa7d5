// RUN: cute-opt %s | FileCheck %s
// RUN: cute-opt %s -mlir-print-op-generic | cute-opt | FileCheck %s
// RUN: cute-opt %s -emit-bytecode | cute-opt | FileCheck %s
// RUN: cute-opt %s -canonicalize -cse -sccp -o /dev/null

// tuple_add and tuple_sub, leaf by leaf.

// CHECK-LABEL: func.func @add(
// CHECK: cute.tuple_add(%{{.*}}, %{{.*}}) : (!cute.int_tuple<"(1,?)">, !cute.int_tuple<"(2,3)">) -> !cute.int_tuple<"(3,?)">
func.func @add(%a: !cute.int_tuple<"(1,?)">, %b: !cute.int_tuple<"(2,3)">) {
  %r = cute.tuple_add(%a, %b) : (!cute.int_tuple<"(1,?)">, !cute.int_tuple<"(2,3)">) -> !cute.int_tuple<"(3,?)">
  return
}

// What only one has stays: (1+10, 2+20, 30).
// CHECK-LABEL: func.func @add_longer(
// CHECK: cute.tuple_add(%{{.*}}, %{{.*}}) : (!cute.int_tuple<"(1,2)">, !cute.int_tuple<"(10,20,30)">) -> !cute.int_tuple<"(11,22,30)">
func.func @add_longer(%a: !cute.int_tuple<"(1,2)">, %b: !cute.int_tuple<"(10,20,30)">) {
  %r = cute.tuple_add(%a, %b) : (!cute.int_tuple<"(1,2)">, !cute.int_tuple<"(10,20,30)">) -> !cute.int_tuple<"(11,22,30)">
  return
}

// CHECK-LABEL: func.func @add_nested(
// CHECK: cute.tuple_add(%{{.*}}, %{{.*}}) : (!cute.shape<"((1,2),3)">, !cute.shape<"((1,1),1)">) -> !cute.shape<"((2,3),4)">
func.func @add_nested(%a: !cute.shape<"((1,2),3)">, %b: !cute.shape<"((1,1),1)">) {
  %r = cute.tuple_add(%a, %b) : (!cute.shape<"((1,2),3)">, !cute.shape<"((1,1),1)">) -> !cute.shape<"((2,3),4)">
  return
}

// The number 0 is neutral on both sides.
// CHECK-LABEL: func.func @add_zero(
// CHECK: cute.tuple_add(%{{.*}}, %{{.*}}) : (!cute.int_tuple<"0">, !cute.int_tuple<"(1,2)">) -> !cute.int_tuple<"(1,2)">
func.func @add_zero(%a: !cute.int_tuple<"0">, %b: !cute.int_tuple<"(1,2)">) {
  %r = cute.tuple_add(%a, %b) : (!cute.int_tuple<"0">, !cute.int_tuple<"(1,2)">) -> !cute.int_tuple<"(1,2)">
  return
}

// CHECK-LABEL: func.func @add_wide(
// CHECK: cute.tuple_add(%{{.*}}, %{{.*}}) : (!cute.int_tuple<"?">, !cute.int_tuple<"?{i64}">) -> !cute.int_tuple<"?{i64}">
func.func @add_wide(%a: !cute.int_tuple<"?">, %b: !cute.int_tuple<"?{i64}">) {
  %r = cute.tuple_add(%a, %b) : (!cute.int_tuple<"?">, !cute.int_tuple<"?{i64}">) -> !cute.int_tuple<"?{i64}">
  return
}

// gcd(8, 12) divides the sum.
// CHECK-LABEL: func.func @add_divisible(
// CHECK: cute.tuple_add(%{{.*}}, %{{.*}}) : (!cute.int_tuple<"?{div=8}">, !cute.int_tuple<"?{div=12}">) -> !cute.int_tuple<"?{div=4}">
func.func @add_divisible(%a: !cute.int_tuple<"?{div=8}">, %b: !cute.int_tuple<"?{div=12}">) {
  %r = cute.tuple_add(%a, %b) : (!cute.int_tuple<"?{div=8}">, !cute.int_tuple<"?{div=12}">) -> !cute.int_tuple<"?{div=4}">
  return
}

// CHECK-LABEL: func.func @sub(
// CHECK: cute.tuple_sub(%{{.*}}, %{{.*}}) : (!cute.int_tuple<"(3,?)">, !cute.int_tuple<"(2,3)">) -> !cute.int_tuple<"(1,?)">
func.func @sub(%a: !cute.int_tuple<"(3,?)">, %b: !cute.int_tuple<"(2,3)">) {
  %r = cute.tuple_sub(%a, %b) : (!cute.int_tuple<"(3,?)">, !cute.int_tuple<"(2,3)">) -> !cute.int_tuple<"(1,?)">
  return
}

// What only one has stays, also when it is the second.
// CHECK-LABEL: func.func @sub_longer(
// CHECK: cute.tuple_sub(%{{.*}}, %{{.*}}) : (!cute.int_tuple<"(10,8)">, !cute.int_tuple<"(3,2,5)">) -> !cute.int_tuple<"(7,6,5)">
func.func @sub_longer(%a: !cute.int_tuple<"(10,8)">, %b: !cute.int_tuple<"(3,2,5)">) {
  %r = cute.tuple_sub(%a, %b) : (!cute.int_tuple<"(10,8)">, !cute.int_tuple<"(3,2,5)">) -> !cute.int_tuple<"(7,6,5)">
  return
}

// CHECK-LABEL: func.func @sub_zero(
// CHECK: cute.tuple_sub(%{{.*}}, %{{.*}}) : (!cute.int_tuple<"(1,2)">, !cute.int_tuple<"0">) -> !cute.int_tuple<"(1,2)">
func.func @sub_zero(%a: !cute.int_tuple<"(1,2)">, %b: !cute.int_tuple<"0">) {
  %r = cute.tuple_sub(%a, %b) : (!cute.int_tuple<"(1,2)">, !cute.int_tuple<"0">) -> !cute.int_tuple<"(1,2)">
  return
}

// x - 0 needs no code.
// CHECK-LABEL: func.func @sub_unknown_zero(
// CHECK: cute.tuple_sub(%{{.*}}, %{{.*}}) : (!cute.int_tuple<"?{div=4}">, !cute.int_tuple<"0">) -> !cute.int_tuple<"?{div=4}">
func.func @sub_unknown_zero(%a: !cute.int_tuple<"?{div=4}">, %b: !cute.int_tuple<"0">) {
  %r = cute.tuple_sub(%a, %b) : (!cute.int_tuple<"?{div=4}">, !cute.int_tuple<"0">) -> !cute.int_tuple<"?{div=4}">
  return
}
