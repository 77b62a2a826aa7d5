// RUN: cute-opt %s | FileCheck %s
// RUN: cute-opt %s -mlir-print-op-generic | cute-opt | FileCheck %s
// RUN: cute-opt %s -emit-bytecode | cute-opt | FileCheck %s
// RUN: cute-opt %s -canonicalize -cse -sccp -o /dev/null

// c0 + s0 * (c1 + s1 * ...): the first mode is the fastest.

// 1 + 4*2
// CHECK-LABEL: func.func @coordinate(
// CHECK: cute.crd2idx(%{{.*}}, %{{.*}}) : (!cute.coord<"(1,2)">, !cute.shape<"(4,8)">) -> !cute.int_tuple<"9">
func.func @coordinate(%c: !cute.coord<"(1,2)">, %s: !cute.shape<"(4,8)">) {
  %r = cute.crd2idx(%c, %s) : (!cute.coord<"(1,2)">, !cute.shape<"(4,8)">) -> !cute.int_tuple<"9">
  return
}

// 1 + 4*(2 + 3*3)
// CHECK-LABEL: func.func @nested(
// CHECK: cute.crd2idx(%{{.*}}, %{{.*}}) : (!cute.coord<"(1,(2,3))">, !cute.shape<"(4,(3,5))">) -> !cute.int_tuple<"45">
func.func @nested(%c: !cute.coord<"(1,(2,3))">, %s: !cute.shape<"(4,(3,5))">) {
  %r = cute.crd2idx(%c, %s) : (!cute.coord<"(1,(2,3))">, !cute.shape<"(4,(3,5))">) -> !cute.int_tuple<"45">
  return
}

// 1 + 4*5
// CHECK-LABEL: func.func @index_of_a_mode(
// CHECK: cute.crd2idx(%{{.*}}, %{{.*}}) : (!cute.coord<"(1,5)">, !cute.shape<"(4,(3,5))">) -> !cute.int_tuple<"21">
func.func @index_of_a_mode(%c: !cute.coord<"(1,5)">, %s: !cute.shape<"(4,(3,5))">) {
  %r = cute.crd2idx(%c, %s) : (!cute.coord<"(1,5)">, !cute.shape<"(4,(3,5))">) -> !cute.int_tuple<"21">
  return
}

// CHECK-LABEL: func.func @index(
// CHECK: cute.crd2idx(%{{.*}}, %{{.*}}) : (!cute.coord<"7">, !cute.shape<"(4,8)">) -> !cute.int_tuple<"7">
func.func @index(%c: !cute.coord<"7">, %s: !cute.shape<"(4,8)">) {
  %r = cute.crd2idx(%c, %s) : (!cute.coord<"7">, !cute.shape<"(4,8)">) -> !cute.int_tuple<"7">
  return
}

// ? + 1*?
// CHECK-LABEL: func.func @unknown_extent(
// CHECK: cute.crd2idx(%{{.*}}, %{{.*}}) : (!cute.coord<"(?,1)">, !cute.shape<"(?,4)">) -> !cute.int_tuple<"?">
func.func @unknown_extent(%c: !cute.coord<"(?,1)">, %s: !cute.shape<"(?,4)">) {
  %r = cute.crd2idx(%c, %s) : (!cute.coord<"(?,1)">, !cute.shape<"(?,4)">) -> !cute.int_tuple<"?">
  return
}

// CHECK-LABEL: func.func @wide(
// CHECK: cute.crd2idx(%{{.*}}, %{{.*}}) : (!cute.coord<"(1,?)">, !cute.shape<"(?{i64},4)">) -> !cute.int_tuple<"?{i64}">
func.func @wide(%c: !cute.coord<"(1,?)">, %s: !cute.shape<"(?{i64},4)">) {
  %r = cute.crd2idx(%c, %s) : (!cute.coord<"(1,?)">, !cute.shape<"(?{i64},4)">) -> !cute.int_tuple<"?{i64}">
  return
}
