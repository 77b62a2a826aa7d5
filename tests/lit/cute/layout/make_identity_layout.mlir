// RUN: cute-opt %s | FileCheck %s
// RUN: cute-opt %s -mlir-print-op-generic | cute-opt | FileCheck %s
// RUN: cute-opt %s -emit-bytecode | cute-opt | FileCheck %s
// RUN: cute-opt %s -canonicalize -cse -sccp -o /dev/null

// L(c) = c: the stride of each leaf is the basis vector of its place.

// CHECK-LABEL: func.func @flat(
// CHECK: cute.make_identity_layout(%{{.*}}) : !cute.shape<"(4,?)"> -> !cute.layout<"(4,?):(1@0,1@1)">
func.func @flat(%a: !cute.shape<"(4,?)">) {
  %r = cute.make_identity_layout(%a) : !cute.shape<"(4,?)"> -> !cute.layout<"(4,?):(1@0,1@1)">
  return
}

// A shape of one mode has nothing to name.
// CHECK-LABEL: func.func @scalar(
// CHECK: cute.make_identity_layout(%{{.*}}) : !cute.shape<"8"> -> !cute.layout<"8:1">
func.func @scalar(%a: !cute.shape<"8">) {
  %r = cute.make_identity_layout(%a) : !cute.shape<"8"> -> !cute.layout<"8:1">
  return
}

// Innermost first: `1@0@1` is mode 0 of mode 1.
// CHECK-LABEL: func.func @nested(
// CHECK: cute.make_identity_layout(%{{.*}}) : !cute.shape<"(4,(2,(3,?{i64})))"> -> !cute.layout<"(4,(2,(3,?{i64}))):(1@0,(1@0@1,(1@0@1@1,1@1@1@1)))">
func.func @nested(%a: !cute.shape<"(4,(2,(3,?{i64})))">) {
  %r = cute.make_identity_layout(%a) : !cute.shape<"(4,(2,(3,?{i64})))"> -> !cute.layout<"(4,(2,(3,?{i64}))):(1@0,(1@0@1,(1@0@1@1,1@1@1@1)))">
  return
}
