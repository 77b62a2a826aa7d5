// RUN: cute-opt %s | FileCheck %s
// RUN: cute-opt %s -mlir-print-op-generic | cute-opt | FileCheck %s
// RUN: cute-opt %s -emit-bytecode | cute-opt | FileCheck %s
// RUN: cute-opt %s -canonicalize -cse -sccp -o /dev/null

// A static is a constant: its type says all of it.

// CHECK-LABEL: func.func @int_tuple(
// CHECK: cute.static : !cute.int_tuple<"(2,(3,-4))">
func.func @int_tuple() {
  %r = cute.static : !cute.int_tuple<"(2,(3,-4))">
  return
}

// CHECK-LABEL: func.func @scalar(
// CHECK: cute.static : !cute.int_tuple<"7">
func.func @scalar() {
  %r = cute.static : !cute.int_tuple<"7">
  return
}

// CHECK-LABEL: func.func @shape(
// CHECK: cute.static : !cute.shape<"(128,(2,64))">
func.func @shape() {
  %r = cute.static : !cute.shape<"(128,(2,64))">
  return
}

// CHECK-LABEL: func.func @stride(
// CHECK: cute.static : !cute.stride<"(1@0,2@1@1)">
func.func @stride() {
  %r = cute.static : !cute.stride<"(1@0,2@1@1)">
  return
}

// `_` is known.
// CHECK-LABEL: func.func @coord(
// CHECK: cute.static : !cute.coord<"(_,3)">
func.func @coord() {
  %r = cute.static : !cute.coord<"(_,3)">
  return
}

// CHECK-LABEL: func.func @layout(
// CHECK: cute.static : !cute.layout<"((2,3),4):((1,2),0)">
func.func @layout() {
  %r = cute.static : !cute.layout<"((2,3),4):((1,2),0)">
  return
}

// CHECK-LABEL: func.func @tile(
// CHECK: cute.static : !cute.tile<"[(4,2):(1,4);_]">
func.func @tile() {
  %r = cute.static : !cute.tile<"[(4,2):(1,4);_]">
  return
}

// CHECK-LABEL: func.func @swizzle(
// CHECK: cute.static : !cute.swizzle<"S<2,3,-3>">
func.func @swizzle() {
  %r = cute.static : !cute.swizzle<"S<2,3,-3>">
  return
}

// CHECK-LABEL: func.func @composed(
// CHECK: cute.static : !cute.composed_layout<"S<3,4,3> o 0 o (8,64):(64,1)">
func.func @composed() {
  %r = cute.static : !cute.composed_layout<"S<3,4,3> o 0 o (8,64):(64,1)">
  return
}

// CHECK-LABEL: func.func @affine(
// CHECK: cute.static : !cute.composed_layout<"(6,2):(1,3) o (2,1) o (2,3):(1@1,2@0)">
func.func @affine() {
  %r = cute.static : !cute.composed_layout<"(6,2):(1,3) o (2,1) o (2,3):(1@1,2@0)">
  return
}
