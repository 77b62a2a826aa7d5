// RUN: cute-opt %s | FileCheck %s
// RUN: cute-opt %s -mlir-print-op-generic | cute-opt | FileCheck %s
// RUN: cute-opt %s -emit-bytecode | cute-opt | FileCheck %s
// RUN: cute-opt %s -canonicalize -cse -sccp -o /dev/null

// append_to_rank and prepend_to_rank: the second operand, repeated until the rank is reached.

// CHECK-LABEL: func.func @append(
// CHECK: cute.append_to_rank<3> (%{{.*}}, %{{.*}}) : !cute.shape<"(4,?)">, !cute.shape<"1">
func.func @append(%a: !cute.shape<"(4,?)">, %b: !cute.shape<"1">) -> !cute.shape<"(4,?,1)"> {
  %r = cute.append_to_rank<3>(%a, %b) : !cute.shape<"(4,?)">, !cute.shape<"1">
  return %r : !cute.shape<"(4,?,1)">
}

// CHECK-LABEL: func.func @append_twice(
// CHECK: cute.append_to_rank<4> (%{{.*}}, %{{.*}}) : !cute.layout<"(4,8):(1,4)">, !cute.layout<"1:0">
func.func @append_twice(%a: !cute.layout<"(4,8):(1,4)">, %b: !cute.layout<"1:0">) -> !cute.layout<"(4,8,1,1):(1,4,0,0)"> {
  %r = cute.append_to_rank<4>(%a, %b) : !cute.layout<"(4,8):(1,4)">, !cute.layout<"1:0">
  return %r : !cute.layout<"(4,8,1,1):(1,4,0,0)">
}

// CHECK-LABEL: func.func @append_to_a_scalar(
// CHECK: cute.append_to_rank<2> (%{{.*}}, %{{.*}}) : !cute.int_tuple<"?">, !cute.int_tuple<"?{i64}">
func.func @append_to_a_scalar(%a: !cute.int_tuple<"?">, %b: !cute.int_tuple<"?{i64}">) -> !cute.int_tuple<"(?,?{i64})"> {
  %r = cute.append_to_rank<2>(%a, %b) : !cute.int_tuple<"?">, !cute.int_tuple<"?{i64}">
  return %r : !cute.int_tuple<"(?,?{i64})">
}

// CHECK-LABEL: func.func @append_a_tuple(
// CHECK: cute.append_to_rank<2> (%{{.*}}, %{{.*}}) : !cute.shape<"4">, !cute.shape<"(2,3)">
func.func @append_a_tuple(%a: !cute.shape<"4">, %b: !cute.shape<"(2,3)">) -> !cute.shape<"(4,(2,3))"> {
  %r = cute.append_to_rank<2>(%a, %b) : !cute.shape<"4">, !cute.shape<"(2,3)">
  return %r : !cute.shape<"(4,(2,3))">
}

// A rank that is reached, or exceeded, stays.
// CHECK-LABEL: func.func @append_nothing(
// CHECK: cute.append_to_rank<2> (%{{.*}}, %{{.*}}) : !cute.shape<"(4,8,2)">, !cute.shape<"1">
func.func @append_nothing(%a: !cute.shape<"(4,8,2)">, %b: !cute.shape<"1">) -> !cute.shape<"(4,8,2)"> {
  %r = cute.append_to_rank<2>(%a, %b) : !cute.shape<"(4,8,2)">, !cute.shape<"1">
  return %r : !cute.shape<"(4,8,2)">
}

// Modes are B's.
// CHECK-LABEL: func.func @append_to_composed(
// CHECK: cute.append_to_rank<3> (%{{.*}}, %{{.*}}) : !cute.composed_layout<"S<3,4,3> o 0 o (8,64):(64,1)">, !cute.layout<"1:0">
func.func @append_to_composed(%a: !cute.composed_layout<"S<3,4,3> o 0 o (8,64):(64,1)">, %b: !cute.layout<"1:0">) -> !cute.composed_layout<"S<3,4,3> o 0 o (8,64,1):(64,1,0)"> {
  %r = cute.append_to_rank<3>(%a, %b) : !cute.composed_layout<"S<3,4,3> o 0 o (8,64):(64,1)">, !cute.layout<"1:0">
  return %r : !cute.composed_layout<"S<3,4,3> o 0 o (8,64,1):(64,1,0)">
}

// CHECK-LABEL: func.func @append_coord(
// CHECK: cute.append_to_rank<3> (%{{.*}}, %{{.*}}) : !cute.coord<"(1,_)">, !cute.coord<"_">
func.func @append_coord(%a: !cute.coord<"(1,_)">, %b: !cute.coord<"_">) -> !cute.coord<"(1,_,_)"> {
  %r = cute.append_to_rank<3>(%a, %b) : !cute.coord<"(1,_)">, !cute.coord<"_">
  return %r : !cute.coord<"(1,_,_)">
}

// CHECK-LABEL: func.func @prepend(
// CHECK: cute.prepend_to_rank<3> (%{{.*}}, %{{.*}}) : !cute.shape<"(4,?)">, !cute.shape<"1">
func.func @prepend(%a: !cute.shape<"(4,?)">, %b: !cute.shape<"1">) -> !cute.shape<"(1,4,?)"> {
  %r = cute.prepend_to_rank<3>(%a, %b) : !cute.shape<"(4,?)">, !cute.shape<"1">
  return %r : !cute.shape<"(1,4,?)">
}

// CHECK-LABEL: func.func @prepend_layout(
// CHECK: cute.prepend_to_rank<2> (%{{.*}}, %{{.*}}) : !cute.layout<"8:1">, !cute.layout<"?:8">
func.func @prepend_layout(%a: !cute.layout<"8:1">, %b: !cute.layout<"?:8">) -> !cute.layout<"(?,8):(8,1)"> {
  %r = cute.prepend_to_rank<2>(%a, %b) : !cute.layout<"8:1">, !cute.layout<"?:8">
  return %r : !cute.layout<"(?,8):(8,1)">
}

// CHECK-LABEL: func.func @prepend_stride(
// CHECK: cute.prepend_to_rank<2> (%{{.*}}, %{{.*}}) : !cute.stride<"1@1">, !cute.stride<"1@0">
func.func @prepend_stride(%a: !cute.stride<"1@1">, %b: !cute.stride<"1@0">) -> !cute.stride<"(1@0,1@1)"> {
  %r = cute.prepend_to_rank<2>(%a, %b) : !cute.stride<"1@1">, !cute.stride<"1@0">
  return %r : !cute.stride<"(1@0,1@1)">
}
