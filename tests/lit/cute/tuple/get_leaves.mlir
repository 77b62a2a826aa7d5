// RUN: cute-opt %s | FileCheck %s
// RUN: cute-opt %s -mlir-print-op-generic | cute-opt | FileCheck %s
// RUN: cute-opt %s -emit-bytecode | cute-opt | FileCheck %s
// RUN: cute-opt %s -canonicalize -cse -sccp -o /dev/null

// A value for each leaf, depth first.

// CHECK-LABEL: func.func @shape(
// CHECK: %{{.*}}:3 = cute.get_leaves(%{{.*}}) : !cute.shape<"(4,(2,?))">
func.func @shape(%a: !cute.shape<"(4,(2,?))">) -> (!cute.shape<"4">, !cute.shape<"2">, !cute.shape<"?">) {
  %r:3 = cute.get_leaves(%a) : !cute.shape<"(4,(2,?))">
  return %r#0, %r#1, %r#2 : !cute.shape<"4">, !cute.shape<"2">, !cute.shape<"?">
}

// CHECK-LABEL: func.func @scalar(
// CHECK: cute.get_leaves(%{{.*}}) : !cute.int_tuple<"?{i64}">
func.func @scalar(%a: !cute.int_tuple<"?{i64}">) -> !cute.int_tuple<"?{i64}"> {
  %r = cute.get_leaves(%a) : !cute.int_tuple<"?{i64}">
  return %r : !cute.int_tuple<"?{i64}">
}

// CHECK-LABEL: func.func @stride(
// CHECK: %{{.*}}:2 = cute.get_leaves(%{{.*}}) : !cute.stride<"(2@1,?@0)">
func.func @stride(%a: !cute.stride<"(2@1,?@0)">) -> (!cute.stride<"2@1">, !cute.stride<"?@0">) {
  %r:2 = cute.get_leaves(%a) : !cute.stride<"(2@1,?@0)">
  return %r#0, %r#1 : !cute.stride<"2@1">, !cute.stride<"?@0">
}

// CHECK-LABEL: func.func @coord(
// CHECK: %{{.*}}:3 = cute.get_leaves(%{{.*}}) : !cute.coord<"((_,1),?)">
func.func @coord(%a: !cute.coord<"((_,1),?)">) -> (!cute.coord<"_">, !cute.coord<"1">, !cute.coord<"?">) {
  %r:3 = cute.get_leaves(%a) : !cute.coord<"((_,1),?)">
  return %r#0, %r#1, %r#2 : !cute.coord<"_">, !cute.coord<"1">, !cute.coord<"?">
}

// The leaves of a tile are layouts; a mode that it takes whole is a tile.
// CHECK-LABEL: func.func @tile(
// CHECK: %{{.*}}:3 = cute.get_leaves(%{{.*}}) : !cute.tile<"{{\[\[}}4:1;_];(2,?):(1,2)]">
func.func @tile(%a: !cute.tile<"[[4:1;_];(2,?):(1,2)]">) -> (!cute.layout<"4:1">, !cute.tile<"_">, !cute.layout<"(2,?):(1,2)">) {
  %r:3 = cute.get_leaves(%a) : !cute.tile<"[[4:1;_];(2,?):(1,2)]">
  return %r#0, %r#1, %r#2 : !cute.layout<"4:1">, !cute.tile<"_">, !cute.layout<"(2,?):(1,2)">
}

// CHECK-LABEL: func.func @layouts(
// CHECK: %{{.*}}:2 = cute.get_layouts_from_tile(%{{.*}}) : <"[(4,8):(1,4);_;[2:1;_]]">
func.func @layouts(%a: !cute.tile<"[(4,8):(1,4);_;[2:1;_]]">) -> (!cute.layout<"(4,8):(1,4)">, !cute.layout<"2:1">) {
  %r:2 = cute.get_layouts_from_tile(%a) : !cute.tile<"[(4,8):(1,4);_;[2:1;_]]">
  return %r#0, %r#1 : !cute.layout<"(4,8):(1,4)">, !cute.layout<"2:1">
}
