// RUN: cute-opt %s | FileCheck %s
// RUN: cute-opt %s -mlir-print-op-generic | cute-opt | FileCheck %s
// RUN: cute-opt %s -emit-bytecode | cute-opt | FileCheck %s
// RUN: cute-opt %s -canonicalize -cse -sccp -o /dev/null

// elem_less and equal: an i1, true where it holds for each pair of leaves.

// CHECK-LABEL: func.func @less(
// CHECK: cute.elem_less(%{{.*}}, %{{.*}}) : (!cute.coord<"(?,?)">, !cute.shape<"(?,64)">) -> i1
func.func @less(%a: !cute.coord<"(?,?)">, %b: !cute.shape<"(?,64)">) {
  %r = cute.elem_less(%a, %b) : (!cute.coord<"(?,?)">, !cute.shape<"(?,64)">) -> i1
  return
}

// CHECK-LABEL: func.func @less_nested(
// CHECK: cute.elem_less(%{{.*}}, %{{.*}}) : (!cute.int_tuple<"(1,(2,?))">, !cute.coord<"(2,(3,4))">) -> i1
func.func @less_nested(%a: !cute.int_tuple<"(1,(2,?))">, %b: !cute.coord<"(2,(3,4))">) {
  %r = cute.elem_less(%a, %b) : (!cute.int_tuple<"(1,(2,?))">, !cute.coord<"(2,(3,4))">) -> i1
  return
}

// CHECK-LABEL: func.func @equal_shapes(
// CHECK: cute.equal(%{{.*}}, %{{.*}}) : (!cute.shape<"(?,4)">, !cute.shape<"(8,4)">) -> i1
func.func @equal_shapes(%a: !cute.shape<"(?,4)">, %b: !cute.shape<"(8,4)">) {
  %r = cute.equal(%a, %b) : (!cute.shape<"(?,4)">, !cute.shape<"(8,4)">) -> i1
  return
}

// CHECK-LABEL: func.func @equal_layouts(
// CHECK: cute.equal(%{{.*}}, %{{.*}}) : (!cute.layout<"(?,4):(1,?)">, !cute.layout<"(8,4):(1,8)">) -> i1
func.func @equal_layouts(%a: !cute.layout<"(?,4):(1,?)">, %b: !cute.layout<"(8,4):(1,8)">) {
  %r = cute.equal(%a, %b) : (!cute.layout<"(?,4):(1,?)">, !cute.layout<"(8,4):(1,8)">) -> i1
  return
}

// CHECK-LABEL: func.func @equal_strides(
// CHECK: cute.equal(%{{.*}}, %{{.*}}) : (!cute.stride<"(?@0,1@1)">, !cute.stride<"(2@0,1@1)">) -> i1
func.func @equal_strides(%a: !cute.stride<"(?@0,1@1)">, %b: !cute.stride<"(2@0,1@1)">) {
  %r = cute.equal(%a, %b) : (!cute.stride<"(?@0,1@1)">, !cute.stride<"(2@0,1@1)">) -> i1
  return
}

// Values of other structure may be compared: they are not equal.
// CHECK-LABEL: func.func @equal_structures(
// CHECK: cute.equal(%{{.*}}, %{{.*}}) : (!cute.int_tuple<"(?,2)">, !cute.int_tuple<"(?,2,3)">) -> i1
func.func @equal_structures(%a: !cute.int_tuple<"(?,2)">, %b: !cute.int_tuple<"(?,2,3)">) {
  %r = cute.equal(%a, %b) : (!cute.int_tuple<"(?,2)">, !cute.int_tuple<"(?,2,3)">) -> i1
  return
}
