// RUN: cute-opt %s | FileCheck %s
// RUN: cute-opt %s -mlir-print-op-generic | cute-opt | FileCheck %s
// RUN: cute-opt %s -emit-bytecode | cute-opt | FileCheck %s
// RUN: cute-opt %s -canonicalize -cse -sccp -o /dev/null

// 2 * 3 * 4
// CHECK-LABEL: func.func @all(
// CHECK: cute.tuple_product(%{{.*}}) : (!cute.shape<"(2,(3,4))">) -> !cute.shape<"24">
func.func @all(%a: !cute.shape<"(2,(3,4))">) {
  %r = cute.tuple_product(%a) : (!cute.shape<"(2,(3,4))">) -> !cute.shape<"24">
  return
}

// CHECK-LABEL: func.func @int_tuple(
// CHECK: cute.tuple_product(%{{.*}}) : (!cute.int_tuple<"(2,?)">) -> !cute.int_tuple<"?">
func.func @int_tuple(%a: !cute.int_tuple<"(2,?)">) {
  %r = cute.tuple_product(%a) : (!cute.int_tuple<"(2,?)">) -> !cute.int_tuple<"?">
  return
}

// CHECK-LABEL: func.func @scalar(
// CHECK: cute.tuple_product(%{{.*}}) : (!cute.int_tuple<"7">) -> !cute.int_tuple<"7">
func.func @scalar(%a: !cute.int_tuple<"7">) {
  %r = cute.tuple_product(%a) : (!cute.int_tuple<"7">) -> !cute.int_tuple<"7">
  return
}

// CHECK-LABEL: func.func @each(
// CHECK: cute.tuple_product_each(%{{.*}}) : (!cute.shape<"(2,(3,4))">) -> !cute.shape<"(2,12)">
func.func @each(%a: !cute.shape<"(2,(3,4))">) {
  %r = cute.tuple_product_each(%a) : (!cute.shape<"(2,(3,4))">) -> !cute.shape<"(2,12)">
  return
}

// CHECK-LABEL: func.func @each_unknown(
// CHECK: cute.tuple_product_each(%{{.*}}) : (!cute.int_tuple<"((2,?),(3,?{i64}),5)">) -> !cute.int_tuple<"(?,?{i64},5)">
func.func @each_unknown(%a: !cute.int_tuple<"((2,?),(3,?{i64}),5)">) {
  %r = cute.tuple_product_each(%a) : (!cute.int_tuple<"((2,?),(3,?{i64}),5)">) -> !cute.int_tuple<"(?,?{i64},5)">
  return
}
