// RUN: cute-opt %s | FileCheck %s
// RUN: cute-opt %s -mlir-print-op-generic | cute-opt | FileCheck %s
// RUN: cute-opt %s -emit-bytecode | cute-opt | FileCheck %s
// RUN: cute-opt %s -canonicalize -cse -sccp -o /dev/null

// Each type of the dialect can be printed.

// CHECK-LABEL: func.func @int_tuple(
// CHECK: cute.print(%{{.*}}) : !cute.int_tuple<"(2,?)">
func.func @int_tuple(%a: !cute.int_tuple<"(2,?)">) {
  cute.print(%a) : !cute.int_tuple<"(2,?)">
  return
}

// CHECK-LABEL: func.func @shape(
// CHECK: cute.print(%{{.*}}) : !cute.shape<"(4,?)">
func.func @shape(%a: !cute.shape<"(4,?)">) {
  cute.print(%a) : !cute.shape<"(4,?)">
  return
}

// CHECK-LABEL: func.func @stride(
// CHECK: cute.print(%{{.*}}) : !cute.stride<"(1,?{i64})">
func.func @stride(%a: !cute.stride<"(1,?{i64})">) {
  cute.print(%a) : !cute.stride<"(1,?{i64})">
  return
}

// CHECK-LABEL: func.func @coord(
// CHECK: cute.print(%{{.*}}) : !cute.coord<"(_,?)">
func.func @coord(%a: !cute.coord<"(_,?)">) {
  cute.print(%a) : !cute.coord<"(_,?)">
  return
}

// CHECK-LABEL: func.func @layout(
// CHECK: cute.print(%{{.*}}) : !cute.layout<"(4,?):(?,1)">
func.func @layout(%a: !cute.layout<"(4,?):(?,1)">) {
  cute.print(%a) : !cute.layout<"(4,?):(?,1)">
  return
}

// CHECK-LABEL: func.func @tile(
// CHECK: cute.print(%{{.*}}) : !cute.tile<"[4:1;_]">
func.func @tile(%a: !cute.tile<"[4:1;_]">) {
  cute.print(%a) : !cute.tile<"[4:1;_]">
  return
}

// CHECK-LABEL: func.func @swizzle(
// CHECK: cute.print(%{{.*}}) : !cute.swizzle<"S<3,4,3>">
func.func @swizzle(%a: !cute.swizzle<"S<3,4,3>">) {
  cute.print(%a) : !cute.swizzle<"S<3,4,3>">
  return
}

// CHECK-LABEL: func.func @composed(
// CHECK: cute.print(%{{.*}}) : !cute.composed_layout<"S<3,4,3> o ? o (8,64):(64,1)">
func.func @composed(%a: !cute.composed_layout<"S<3,4,3> o ? o (8,64):(64,1)">) {
  cute.print(%a) : !cute.composed_layout<"S<3,4,3> o ? o (8,64):(64,1)">
  return
}

// Attributes stand behind the type.
// CHECK-LABEL: func.func @attributes(
// CHECK: cute.print(%{{.*}}) : !cute.int_tuple<"7"> {note = "here"}
func.func @attributes(%a: !cute.int_tuple<"7">) {
  cute.print(%a) : !cute.int_tuple<"7"> {note = "here"}
  return
}
