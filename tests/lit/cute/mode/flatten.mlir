// RUN: cute-opt %s | FileCheck %s
// RUN: cute-opt %s -mlir-print-op-generic | cute-opt | FileCheck %s
// RUN: cute-opt %s -emit-bytecode | cute-opt | FileCheck %s
// RUN: cute-opt %s -canonicalize -cse -sccp -o /dev/null

// CHECK-LABEL: func.func @layout(
// CHECK: cute.flatten(%{{.*}}) : (!cute.layout<"(2,(3,?)):(1,(2,6))">) -> !cute.layout<"(2,3,?):(1,2,6)">
func.func @layout(%a: !cute.layout<"(2,(3,?)):(1,(2,6))">) {
  %r = cute.flatten(%a) : (!cute.layout<"(2,(3,?)):(1,(2,6))">) -> !cute.layout<"(2,3,?):(1,2,6)">
  return
}

// CHECK-LABEL: func.func @shape(
// CHECK: cute.flatten(%{{.*}}) : (!cute.shape<"((2,(3)),4)">) -> !cute.shape<"(2,3,4)">
func.func @shape(%a: !cute.shape<"((2,(3)),4)">) {
  %r = cute.flatten(%a) : (!cute.shape<"((2,(3)),4)">) -> !cute.shape<"(2,3,4)">
  return
}

// CHECK-LABEL: func.func @scalar(
// CHECK: cute.flatten(%{{.*}}) : (!cute.int_tuple<"?">) -> !cute.int_tuple<"?">
func.func @scalar(%a: !cute.int_tuple<"?">) {
  %r = cute.flatten(%a) : (!cute.int_tuple<"?">) -> !cute.int_tuple<"?">
  return
}

// CHECK-LABEL: func.func @stride(
// CHECK: cute.flatten(%{{.*}}) : (!cute.stride<"(1@0,(1@0@1,1@1@1))">) -> !cute.stride<"(1@0,1@0@1,1@1@1)">
func.func @stride(%a: !cute.stride<"(1@0,(1@0@1,1@1@1))">) {
  %r = cute.flatten(%a) : (!cute.stride<"(1@0,(1@0@1,1@1@1))">) -> !cute.stride<"(1@0,1@0@1,1@1@1)">
  return
}

// CHECK-LABEL: func.func @coord(
// CHECK: cute.flatten(%{{.*}}) : (!cute.coord<"((_,1),?)">) -> !cute.coord<"(_,1,?)">
func.func @coord(%a: !cute.coord<"((_,1),?)">) {
  %r = cute.flatten(%a) : (!cute.coord<"((_,1),?)">) -> !cute.coord<"(_,1,?)">
  return
}

// CHECK-LABEL: func.func @tile(
// CHECK: cute.flatten(%{{.*}}) : (!cute.tile<"{{\[\[}}4:1;_];(2,2):(2,1)]">) -> !cute.tile<"[4:1;_;(2,2):(2,1)]">
func.func @tile(%a: !cute.tile<"[[4:1;_];(2,2):(2,1)]">) {
  %r = cute.flatten(%a) : (!cute.tile<"[[4:1;_];(2,2):(2,1)]">) -> !cute.tile<"[4:1;_;(2,2):(2,1)]">
  return
}

// CHECK-LABEL: func.func @composed(
// CHECK: cute.flatten(%{{.*}}) : (!cute.composed_layout<"S<3,4,3> o 0 o (8,(2,32)):(64,(1,2))">) -> !cute.composed_layout<"S<3,4,3> o 0 o (8,2,32):(64,1,2)">
func.func @composed(%a: !cute.composed_layout<"S<3,4,3> o 0 o (8,(2,32)):(64,(1,2))">) {
  %r = cute.flatten(%a) : (!cute.composed_layout<"S<3,4,3> o 0 o (8,(2,32)):(64,(1,2))">) -> !cute.composed_layout<"S<3,4,3> o 0 o (8,2,32):(64,1,2)">
  return
}
