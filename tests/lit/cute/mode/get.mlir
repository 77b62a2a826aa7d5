// RUN: cute-opt %s | FileCheck %s
// RUN: cute-opt %s -mlir-print-op-generic | cute-opt | FileCheck %s
// RUN: cute-opt %s -emit-bytecode | cute-opt | FileCheck %s
// RUN: cute-opt %s -canonicalize -cse -sccp -o /dev/null

// The mode at a path, and modes picked by their numbers.

// CHECK-LABEL: func.func @layout(
// CHECK: cute.get<[1, 0]> (%{{.*}}) : !cute.layout<"(4,(2,?)):(1,(4,8))"> -> !cute.layout<"2:4">
func.func @layout(%a: !cute.layout<"(4,(2,?)):(1,(4,8))">) {
  %r = cute.get<[1, 0]>(%a) : !cute.layout<"(4,(2,?)):(1,(4,8))"> -> !cute.layout<"2:4">
  return
}

// CHECK-LABEL: func.func @whole(
// CHECK: cute.get (%{{.*}}) : !cute.shape<"(4,8)"> -> !cute.shape<"(4,8)">
func.func @whole(%a: !cute.shape<"(4,8)">) {
  %r = cute.get(%a) : !cute.shape<"(4,8)"> -> !cute.shape<"(4,8)">
  return
}

// CHECK-LABEL: func.func @shape(
// CHECK: cute.get<[1]> (%{{.*}}) : !cute.shape<"(4,(2,?))"> -> !cute.shape<"(2,?)">
func.func @shape(%a: !cute.shape<"(4,(2,?))">) {
  %r = cute.get<[1]>(%a) : !cute.shape<"(4,(2,?))"> -> !cute.shape<"(2,?)">
  return
}

// Mode 0 of a scalar is the scalar.
// CHECK-LABEL: func.func @scalar(
// CHECK: cute.get<[0]> (%{{.*}}) : !cute.int_tuple<"?"> -> !cute.int_tuple<"?">
func.func @scalar(%a: !cute.int_tuple<"?">) {
  %r = cute.get<[0]>(%a) : !cute.int_tuple<"?"> -> !cute.int_tuple<"?">
  return
}

// CHECK-LABEL: func.func @stride(
// CHECK: cute.get<[0]> (%{{.*}}) : !cute.stride<"(2@1,1@0)"> -> !cute.stride<"2@1">
func.func @stride(%a: !cute.stride<"(2@1,1@0)">) {
  %r = cute.get<[0]>(%a) : !cute.stride<"(2@1,1@0)"> -> !cute.stride<"2@1">
  return
}

// CHECK-LABEL: func.func @coord(
// CHECK: cute.get<[1]> (%{{.*}}) : !cute.coord<"(3,_)"> -> !cute.coord<"_">
func.func @coord(%a: !cute.coord<"(3,_)">) {
  %r = cute.get<[1]>(%a) : !cute.coord<"(3,_)"> -> !cute.coord<"_">
  return
}

// CHECK-LABEL: func.func @tile(
// CHECK: cute.get<[0, 1]> (%{{.*}}) : !cute.tile<"{{\[\[}}4:1;(2,2):(2,1)];_]"> -> !cute.tile<"(2,2):(2,1)">
func.func @tile(%a: !cute.tile<"[[4:1;(2,2):(2,1)];_]">) {
  %r = cute.get<[0, 1]>(%a) : !cute.tile<"[[4:1;(2,2):(2,1)];_]"> -> !cute.tile<"(2,2):(2,1)">
  return
}

// The mode of B: A and the offset stay.
// CHECK-LABEL: func.func @composed(
// CHECK: cute.get<[1]> (%{{.*}}) : !cute.composed_layout<"S<3,4,3> o ? o (8,64):(64,1)"> -> !cute.composed_layout<"S<3,4,3> o ? o 64:1">
func.func @composed(%a: !cute.composed_layout<"S<3,4,3> o ? o (8,64):(64,1)">) {
  %r = cute.get<[1]>(%a) : !cute.composed_layout<"S<3,4,3> o ? o (8,64):(64,1)"> -> !cute.composed_layout<"S<3,4,3> o ? o 64:1">
  return
}

// CHECK-LABEL: func.func @select_layout(
// CHECK: cute.select<[2, 0]> (%{{.*}}) : !cute.layout<"(2,3,?):(1,2,6)"> -> !cute.layout<"(?,2):(6,1)">
func.func @select_layout(%a: !cute.layout<"(2,3,?):(1,2,6)">) {
  %r = cute.select<[2, 0]>(%a) : !cute.layout<"(2,3,?):(1,2,6)"> -> !cute.layout<"(?,2):(6,1)">
  return
}

// CHECK-LABEL: func.func @select_one(
// CHECK: cute.select<[1]> (%{{.*}}) : !cute.shape<"(2,(3,4))"> -> !cute.shape<"((3,4))">
func.func @select_one(%a: !cute.shape<"(2,(3,4))">) {
  %r = cute.select<[1]>(%a) : !cute.shape<"(2,(3,4))"> -> !cute.shape<"((3,4))">
  return
}

// A mode may be picked more than once.
// CHECK-LABEL: func.func @select_twice(
// CHECK: cute.select<[0, 0]> (%{{.*}}) : !cute.int_tuple<"(?,4)"> -> !cute.int_tuple<"(?,?)">
func.func @select_twice(%a: !cute.int_tuple<"(?,4)">) {
  %r = cute.select<[0, 0]>(%a) : !cute.int_tuple<"(?,4)"> -> !cute.int_tuple<"(?,?)">
  return
}

// CHECK-LABEL: func.func @select_composed(
// CHECK: cute.select<[1, 0]> (%{{.*}}) : !cute.composed_layout<"S<3,4,3> o 0 o (8,64):(64,1)"> -> !cute.composed_layout<"S<3,4,3> o 0 o (64,8):(1,64)">
func.func @select_composed(%a: !cute.composed_layout<"S<3,4,3> o 0 o (8,64):(64,1)">) {
  %r = cute.select<[1, 0]>(%a) : !cute.composed_layout<"S<3,4,3> o 0 o (8,64):(64,1)"> -> !cute.composed_layout<"S<3,4,3> o 0 o (64,8):(1,64)">
  return
}
