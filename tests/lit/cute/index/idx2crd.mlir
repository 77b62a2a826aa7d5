// RUN: cute-opt %s | FileCheck %s
// RUN: cute-opt %s -mlir-print-op-generic | cute-opt | FileCheck %s
// RUN: cute-opt %s -emit-bytecode | cute-opt | FileCheck %s
// RUN: cute-opt %s -canonicalize -cse -sccp -o /dev/null

// The inverse of crd2idx; the last mode is not reduced.

// 9 = 1 + 4*2
// CHECK-LABEL: func.func @index(
// CHECK: cute.idx2crd(%{{.*}}, %{{.*}}) : (!cute.int_tuple<"9">, !cute.shape<"(4,8)">) -> !cute.coord<"(1,2)">
func.func @index(%i: !cute.int_tuple<"9">, %s: !cute.shape<"(4,8)">) {
  %r = cute.idx2crd(%i, %s) : (!cute.int_tuple<"9">, !cute.shape<"(4,8)">) -> !cute.coord<"(1,2)">
  return
}

// 100 = 0 + 4*25
// CHECK-LABEL: func.func @past_the_end(
// CHECK: cute.idx2crd(%{{.*}}, %{{.*}}) : (!cute.int_tuple<"100">, !cute.shape<"(4,8)">) -> !cute.coord<"(0,25)">
func.func @past_the_end(%i: !cute.int_tuple<"100">, %s: !cute.shape<"(4,8)">) {
  %r = cute.idx2crd(%i, %s) : (!cute.int_tuple<"100">, !cute.shape<"(4,8)">) -> !cute.coord<"(0,25)">
  return
}

// 109 = 1 + 3*36, 36 = 1 + 5*7, 7 = 1 + 2*3
// CHECK-LABEL: func.func @nested(
// CHECK: cute.idx2crd(%{{.*}}, %{{.*}}) : (!cute.int_tuple<"109">, !cute.shape<"(3,((5),(2),4))">) -> !cute.coord<"(1,((1),(1),3))">
func.func @nested(%i: !cute.int_tuple<"109">, %s: !cute.shape<"(3,((5),(2),4))">) {
  %r = cute.idx2crd(%i, %s) : (!cute.int_tuple<"109">, !cute.shape<"(3,((5),(2),4))">) -> !cute.coord<"(1,((1),(1),3))">
  return
}

// 5 of (2,3) is (1,2), 7 of (4,4) is (3,1).
// CHECK-LABEL: func.func @one_a_mode(
// CHECK: cute.idx2crd(%{{.*}}, %{{.*}}) : (!cute.int_tuple<"(5,7)">, !cute.shape<"((2,3),(4,4))">) -> !cute.coord<"((1,2),(3,1))">
func.func @one_a_mode(%i: !cute.int_tuple<"(5,7)">, %s: !cute.shape<"((2,3),(4,4))">) {
  %r = cute.idx2crd(%i, %s) : (!cute.int_tuple<"(5,7)">, !cute.shape<"((2,3),(4,4))">) -> !cute.coord<"((1,2),(3,1))">
  return
}

// CHECK-LABEL: func.func @scalar_shape(
// CHECK: cute.idx2crd(%{{.*}}, %{{.*}}) : (!cute.int_tuple<"?">, !cute.shape<"8">) -> !cute.coord<"?">
func.func @scalar_shape(%i: !cute.int_tuple<"?">, %s: !cute.shape<"8">) {
  %r = cute.idx2crd(%i, %s) : (!cute.int_tuple<"?">, !cute.shape<"8">) -> !cute.coord<"?">
  return
}

// CHECK-LABEL: func.func @unknown(
// CHECK: cute.idx2crd(%{{.*}}, %{{.*}}) : (!cute.int_tuple<"?">, !cute.shape<"(4,8)">) -> !cute.coord<"(?,?)">
func.func @unknown(%i: !cute.int_tuple<"?">, %s: !cute.shape<"(4,8)">) {
  %r = cute.idx2crd(%i, %s) : (!cute.int_tuple<"?">, !cute.shape<"(4,8)">) -> !cute.coord<"(?,?)">
  return
}

// i % 1 is 0.
// CHECK-LABEL: func.func @extent_of_one(
// CHECK: cute.idx2crd(%{{.*}}, %{{.*}}) : (!cute.int_tuple<"?">, !cute.shape<"(1,8)">) -> !cute.coord<"(0,?)">
func.func @extent_of_one(%i: !cute.int_tuple<"?">, %s: !cute.shape<"(1,8)">) {
  %r = cute.idx2crd(%i, %s) : (!cute.int_tuple<"?">, !cute.shape<"(1,8)">) -> !cute.coord<"(0,?)">
  return
}

// CHECK-LABEL: func.func @wide(
// CHECK: cute.idx2crd(%{{.*}}, %{{.*}}) : (!cute.int_tuple<"?{i64}">, !cute.shape<"(4,8)">) -> !cute.coord<"(?{i64},?{i64})">
func.func @wide(%i: !cute.int_tuple<"?{i64}">, %s: !cute.shape<"(4,8)">) {
  %r = cute.idx2crd(%i, %s) : (!cute.int_tuple<"?{i64}">, !cute.shape<"(4,8)">) -> !cute.coord<"(?{i64},?{i64})">
  return
}
