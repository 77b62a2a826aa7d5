// RUN: cute-opt %s | FileCheck %s
// RUN: cute-opt %s -mlir-print-op-generic | cute-opt | FileCheck %s
// RUN: cute-opt %s -emit-bytecode | cute-opt | FileCheck %s
// RUN: cute-opt %s -canonicalize -cse -sccp -o /dev/null

// make_int_tuple, make_shape, make_stride, make_coord and make_tile: an operand for each `?`, depth first.

// CHECK-LABEL: func.func @int_tuple(
// CHECK: cute.make_int_tuple(%{{.*}}, %{{.*}}) : (i32, i64) -> !cute.int_tuple<"(?,(4,?{i64}))">
func.func @int_tuple(%a: i32, %b: i64) {
  %r = cute.make_int_tuple(%a, %b) : (i32, i64) -> !cute.int_tuple<"(?,(4,?{i64}))">
  return
}

// CHECK-LABEL: func.func @scalar(
// CHECK: cute.make_int_tuple(%{{.*}}) : (i32) -> !cute.int_tuple<"?">
func.func @scalar(%a: i32) {
  %r = cute.make_int_tuple(%a) : (i32) -> !cute.int_tuple<"?">
  return
}

// CHECK-LABEL: func.func @no_operands(
// CHECK: cute.make_int_tuple() : () -> !cute.int_tuple<"(2,3)">
func.func @no_operands() {
  %r = cute.make_int_tuple() : () -> !cute.int_tuple<"(2,3)">
  return
}

// CHECK-LABEL: func.func @shape(
// CHECK: cute.make_shape(%{{.*}}, %{{.*}}) : (i32, i32) -> !cute.shape<"(?,(2,?))">
func.func @shape(%a: i32, %b: i32) {
  %r = cute.make_shape(%a, %b) : (i32, i32) -> !cute.shape<"(?,(2,?))">
  return
}

// CHECK-LABEL: func.func @divisible(
// CHECK: cute.make_shape(%{{.*}}, %{{.*}}) : (i32, i64) -> !cute.shape<"(?{div=8},?{i64 div=16})">
func.func @divisible(%a: i32, %b: i64) {
  %r = cute.make_shape(%a, %b) : (i32, i64) -> !cute.shape<"(?{div=8},?{i64 div=16})">
  return
}

// Integers of the dialect are operands too; a number takes the width of its leaf.
// CHECK-LABEL: func.func @from_leaves(
// CHECK: cute.make_shape(%{{.*}}, %{{.*}}) : (!cute.int_tuple<"?">, !cute.int_tuple<"7">) -> !cute.shape<"(?,?{i64})">
func.func @from_leaves(%a: !cute.int_tuple<"?">, %b: !cute.int_tuple<"7">) {
  %r = cute.make_shape(%a, %b) : (!cute.int_tuple<"?">, !cute.int_tuple<"7">) -> !cute.shape<"(?,?{i64})">
  return
}

// CHECK-LABEL: func.func @stride(
// CHECK: cute.make_stride(%{{.*}}) : (i64) -> !cute.stride<"(1,?{i64})">
func.func @stride(%a: i64) {
  %r = cute.make_stride(%a) : (i64) -> !cute.stride<"(1,?{i64})">
  return
}

// CHECK-LABEL: func.func @basis(
// CHECK: cute.make_stride(%{{.*}}) : (i32) -> !cute.stride<"(?@0,1@1)">
func.func @basis(%a: i32) {
  %r = cute.make_stride(%a) : (i32) -> !cute.stride<"(?@0,1@1)">
  return
}

// CHECK-LABEL: func.func @coord(
// CHECK: cute.make_coord(%{{.*}}, %{{.*}}) : (i32, i32) -> !cute.coord<"(?,(_,?))">
func.func @coord(%a: i32, %b: i32) {
  %r = cute.make_coord(%a, %b) : (i32, i32) -> !cute.coord<"(?,(_,?))">
  return
}

// CHECK-LABEL: func.func @tile(
// CHECK: cute.make_tile(%{{.*}}, %{{.*}}) : (i32, i64) -> !cute.tile<"[?:1;_;4:?{i64}]">
func.func @tile(%a: i32, %b: i64) {
  %r = cute.make_tile(%a, %b) : (i32, i64) -> !cute.tile<"[?:1;_;4:?{i64}]">
  return
}

// CHECK-LABEL: func.func @nested_tile(
// CHECK: cute.make_tile(%{{.*}}) : (i32) -> !cute.tile<"{{\[\[}}4:1;?:2];_]">
func.func @nested_tile(%a: i32) {
  %r = cute.make_tile(%a) : (i32) -> !cute.tile<"[[4:1;?:2];_]">
  return
}
