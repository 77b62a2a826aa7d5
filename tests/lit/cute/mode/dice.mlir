// RUN: cute-opt %s | FileCheck %s
// RUN: cute-opt %s -mlir-print-op-generic | cute-opt | FileCheck %s
// RUN: cute-opt %s -emit-bytecode | cute-opt | FileCheck %s
// RUN: cute-opt %s -canonicalize -cse -sccp -o /dev/null

// The modes at which the coordinate has no `_`.

// CHECK-LABEL: func.func @layout(
// CHECK: cute.dice(%{{.*}}, %{{.*}}) : !cute.layout<"(4,8):(8,1)">, !cute.coord<"(_,0)">
func.func @layout(%a: !cute.layout<"(4,8):(8,1)">, %c: !cute.coord<"(_,0)">) -> !cute.layout<"(8):(1)"> {
  %r = cute.dice(%a, %c) : !cute.layout<"(4,8):(8,1)">, !cute.coord<"(_,0)">
  return %r : !cute.layout<"(8):(1)">
}

// CHECK-LABEL: func.func @shape(
// CHECK: cute.dice(%{{.*}}, %{{.*}}) : !cute.shape<"(4,(2,?))">, !cute.coord<"(1,(_,0))">
func.func @shape(%a: !cute.shape<"(4,(2,?))">, %c: !cute.coord<"(1,(_,0))">) -> !cute.shape<"(4,?)"> {
  %r = cute.dice(%a, %c) : !cute.shape<"(4,(2,?))">, !cute.coord<"(1,(_,0))">
  return %r : !cute.shape<"(4,?)">
}

// CHECK-LABEL: func.func @stride(
// CHECK: cute.dice(%{{.*}}, %{{.*}}) : !cute.stride<"(1@0,1@1)">, !cute.coord<"(_,1)">
func.func @stride(%a: !cute.stride<"(1@0,1@1)">, %c: !cute.coord<"(_,1)">) -> !cute.stride<"(1@1)"> {
  %r = cute.dice(%a, %c) : !cute.stride<"(1@0,1@1)">, !cute.coord<"(_,1)">
  return %r : !cute.stride<"(1@1)">
}

// CHECK-LABEL: func.func @int_tuple(
// CHECK: cute.dice(%{{.*}}, %{{.*}}) : !cute.int_tuple<"(7,8,9)">, !cute.coord<"(0,_,0)">
func.func @int_tuple(%a: !cute.int_tuple<"(7,8,9)">, %c: !cute.coord<"(0,_,0)">) -> !cute.int_tuple<"(7,9)"> {
  %r = cute.dice(%a, %c) : !cute.int_tuple<"(7,8,9)">, !cute.coord<"(0,_,0)">
  return %r : !cute.int_tuple<"(7,9)">
}

// B's modes; A and the offset stay.
// CHECK-LABEL: func.func @composed(
// CHECK: cute.dice(%{{.*}}, %{{.*}}) : !cute.composed_layout<"S<3,4,3> o 1 o (8,64):(64,1)">, !cute.coord<"(0,_)">
func.func @composed(%a: !cute.composed_layout<"S<3,4,3> o 1 o (8,64):(64,1)">, %c: !cute.coord<"(0,_)">) -> !cute.composed_layout<"S<3,4,3> o 1 o (8):(64)"> {
  %r = cute.dice(%a, %c) : !cute.composed_layout<"S<3,4,3> o 1 o (8,64):(64,1)">, !cute.coord<"(0,_)">
  return %r : !cute.composed_layout<"S<3,4,3> o 1 o (8):(64)">
}
