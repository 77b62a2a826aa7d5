// RUN: cute-opt %s | FileCheck %s
// RUN: cute-opt %s -mlir-print-op-generic | cute-opt | FileCheck %s
// RUN: cute-opt %s -emit-bytecode | cute-opt | FileCheck %s
// RUN: cute-opt %s -canonicalize -cse -sccp -o /dev/null

// CHECK-LABEL: func.func @static(
// CHECK: cute.make_layout(%{{.*}}, %{{.*}}) : (!cute.shape<"(4,8)">, !cute.stride<"(8,1)">) -> !cute.layout<"(4,8):(8,1)">
func.func @static(%a: !cute.shape<"(4,8)">, %b: !cute.stride<"(8,1)">) {
  %r = cute.make_layout(%a, %b) : (!cute.shape<"(4,8)">, !cute.stride<"(8,1)">) -> !cute.layout<"(4,8):(8,1)">
  return
}

// CHECK-LABEL: func.func @scalar(
// CHECK: cute.make_layout(%{{.*}}, %{{.*}}) : (!cute.shape<"16">, !cute.stride<"2">) -> !cute.layout<"16:2">
func.func @scalar(%a: !cute.shape<"16">, %b: !cute.stride<"2">) {
  %r = cute.make_layout(%a, %b) : (!cute.shape<"16">, !cute.stride<"2">) -> !cute.layout<"16:2">
  return
}

// CHECK-LABEL: func.func @unknown(
// CHECK: cute.make_layout(%{{.*}}, %{{.*}}) : (!cute.shape<"(?,4)">, !cute.stride<"(1,?{i64})">) -> !cute.layout<"(?,4):(1,?{i64})">
func.func @unknown(%a: !cute.shape<"(?,4)">, %b: !cute.stride<"(1,?{i64})">) {
  %r = cute.make_layout(%a, %b) : (!cute.shape<"(?,4)">, !cute.stride<"(1,?{i64})">) -> !cute.layout<"(?,4):(1,?{i64})">
  return
}

// CHECK-LABEL: func.func @nested(
// CHECK: cute.make_layout(%{{.*}}, %{{.*}}) : (!cute.shape<"((2,?),3)">, !cute.stride<"((1,?),0)">) -> !cute.layout<"((2,?),3):((1,?),0)">
func.func @nested(%a: !cute.shape<"((2,?),3)">, %b: !cute.stride<"((1,?),0)">) {
  %r = cute.make_layout(%a, %b) : (!cute.shape<"((2,?),3)">, !cute.stride<"((1,?),0)">) -> !cute.layout<"((2,?),3):((1,?),0)">
  return
}

// CHECK-LABEL: func.func @negative(
// CHECK: cute.make_layout(%{{.*}}, %{{.*}}) : (!cute.shape<"8">, !cute.stride<"-1">) -> !cute.layout<"8:-1">
func.func @negative(%a: !cute.shape<"8">, %b: !cute.stride<"-1">) {
  %r = cute.make_layout(%a, %b) : (!cute.shape<"8">, !cute.stride<"-1">) -> !cute.layout<"8:-1">
  return
}

// CHECK-LABEL: func.func @basis(
// CHECK: cute.make_layout(%{{.*}}, %{{.*}}) : (!cute.shape<"(4,(2,?))">, !cute.stride<"(1@0,(1@0@1,?@1@1))">) -> !cute.layout<"(4,(2,?)):(1@0,(1@0@1,?@1@1))">
func.func @basis(%a: !cute.shape<"(4,(2,?))">, %b: !cute.stride<"(1@0,(1@0@1,?@1@1))">) {
  %r = cute.make_layout(%a, %b) : (!cute.shape<"(4,(2,?))">, !cute.stride<"(1@0,(1@0@1,?@1@1))">) -> !cute.layout<"(4,(2,?)):(1@0,(1@0@1,?@1@1))">
  return
}

// CHECK-LABEL: func.func @divisible(
// CHECK: cute.make_layout(%{{.*}}, %{{.*}}) : (!cute.shape<"(?{div=8},4)">, !cute.stride<"(1,?{i64 div=8})">) -> !cute.layout<"(?{div=8},4):(1,?{i64 div=8})">
func.func @divisible(%a: !cute.shape<"(?{div=8},4)">, %b: !cute.stride<"(1,?{i64 div=8})">) {
  %r = cute.make_layout(%a, %b) : (!cute.shape<"(?{div=8},4)">, !cute.stride<"(1,?{i64 div=8})">) -> !cute.layout<"(?{div=8},4):(1,?{i64 div=8})">
  return
}
