// RUN: cute-opt %s | FileCheck %s
// RUN: cute-opt %s -mlir-print-op-generic | cute-opt | FileCheck %s
// RUN: cute-opt %s -emit-bytecode | cute-opt | FileCheck %s
// RUN: cute-opt %s -canonicalize -cse -sccp -o /dev/null

// to_int_tuple, to_shape, to_stride, to_coord: the same numbers in another role.

// CHECK-LABEL: func.func @from_shape(
// CHECK: cute.to_int_tuple(%{{.*}}) : !cute.shape<"(?,(4,?{i64}))"> -> !cute.int_tuple<"(?,(4,?{i64}))">
func.func @from_shape(%a: !cute.shape<"(?,(4,?{i64}))">) {
  %r = cute.to_int_tuple(%a) : !cute.shape<"(?,(4,?{i64}))"> -> !cute.int_tuple<"(?,(4,?{i64}))">
  return
}

// CHECK-LABEL: func.func @from_stride(
// CHECK: cute.to_int_tuple(%{{.*}}) : !cute.stride<"(1,?)"> -> !cute.int_tuple<"(1,?)">
func.func @from_stride(%a: !cute.stride<"(1,?)">) {
  %r = cute.to_int_tuple(%a) : !cute.stride<"(1,?)"> -> !cute.int_tuple<"(1,?)">
  return
}

// CHECK-LABEL: func.func @from_coord(
// CHECK: cute.to_int_tuple(%{{.*}}) : !cute.coord<"(3,?)"> -> !cute.int_tuple<"(3,?)">
func.func @from_coord(%a: !cute.coord<"(3,?)">) {
  %r = cute.to_int_tuple(%a) : !cute.coord<"(3,?)"> -> !cute.int_tuple<"(3,?)">
  return
}

// CHECK-LABEL: func.func @from_int_tuple(
// CHECK: cute.to_int_tuple(%{{.*}}) : !cute.int_tuple<"7"> -> !cute.int_tuple<"7">
func.func @from_int_tuple(%a: !cute.int_tuple<"7">) {
  %r = cute.to_int_tuple(%a) : !cute.int_tuple<"7"> -> !cute.int_tuple<"7">
  return
}

// CHECK-LABEL: func.func @shape(
// CHECK: cute.to_shape(%{{.*}}) : !cute.int_tuple<"(?,4)"> -> !cute.shape<"(?,4)">
func.func @shape(%a: !cute.int_tuple<"(?,4)">) {
  %r = cute.to_shape(%a) : !cute.int_tuple<"(?,4)"> -> !cute.shape<"(?,4)">
  return
}

// CHECK-LABEL: func.func @stride(
// CHECK: cute.to_stride(%{{.*}}) : !cute.int_tuple<"(1,?{i64})"> -> !cute.stride<"(1,?{i64})">
func.func @stride(%a: !cute.int_tuple<"(1,?{i64})">) {
  %r = cute.to_stride(%a) : !cute.int_tuple<"(1,?{i64})"> -> !cute.stride<"(1,?{i64})">
  return
}

// CHECK-LABEL: func.func @coord(
// CHECK: cute.to_coord(%{{.*}}) : !cute.int_tuple<"(?,(3,4))"> -> !cute.coord<"(?,(3,4))">
func.func @coord(%a: !cute.int_tuple<"(?,(3,4))">) {
  %r = cute.to_coord(%a) : !cute.int_tuple<"(?,(3,4))"> -> !cute.coord<"(?,(3,4))">
  return
}
