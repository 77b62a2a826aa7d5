// RUN: cute-opt %s | FileCheck %s
// RUN: cute-opt %s -mlir-print-op-generic | cute-opt | FileCheck %s
// RUN: cute-opt %s -emit-bytecode | cute-opt | FileCheck %s
// RUN: cute-opt %s -canonicalize -cse -sccp -o /dev/null

// Copies of A in the pattern of B. The values are of the CuTe documentation where not derived.

// (2,2):(4,1) covers 0, 1, 4, 5; its complement is (2,..):(2,8): copies at 0, 2, 8, 10, 16, 18.
// CHECK-LABEL: func.func @logical(
// CHECK: cute.logical_product(%{{.*}}, %{{.*}}) : (!cute.layout<"(2,2):(4,1)">, !cute.layout<"6:1">) -> !cute.layout<"((2,2),(2,3)):((4,1),(2,8))">
func.func @logical(%a: !cute.layout<"(2,2):(4,1)">, %b: !cute.layout<"6:1">) {
  %r = cute.logical_product(%a, %b) : (!cute.layout<"(2,2):(4,1)">, !cute.layout<"6:1">) -> !cute.layout<"((2,2),(2,3)):((4,1),(2,8))">
  return
}

// CHECK-LABEL: func.func @logical_2d(
// CHECK: cute.logical_product(%{{.*}}, %{{.*}}) : (!cute.layout<"(2,5):(5,1)">, !cute.layout<"(3,4):(1,3)">) -> !cute.layout<"((2,5),(3,4)):((5,1),(10,30))">
func.func @logical_2d(%a: !cute.layout<"(2,5):(5,1)">, %b: !cute.layout<"(3,4):(1,3)">) {
  %r = cute.logical_product(%a, %b) : (!cute.layout<"(2,5):(5,1)">, !cute.layout<"(3,4):(1,3)">) -> !cute.layout<"((2,5),(3,4)):((5,1),(10,30))">
  return
}

// CHECK-LABEL: func.func @zipped(
// CHECK: cute.zipped_product(%{{.*}}, %{{.*}}) : (!cute.layout<"(2,5):(5,1)">, !cute.layout<"(3,4):(1,3)">) -> !cute.layout<"((2,5),(3,4)):((5,1),(10,30))">
func.func @zipped(%a: !cute.layout<"(2,5):(5,1)">, %b: !cute.layout<"(3,4):(1,3)">) {
  %r = cute.zipped_product(%a, %b) : (!cute.layout<"(2,5):(5,1)">, !cute.layout<"(3,4):(1,3)">) -> !cute.layout<"((2,5),(3,4)):((5,1),(10,30))">
  return
}

// CHECK-LABEL: func.func @tiled(
// CHECK: cute.tiled_product(%{{.*}}, %{{.*}}) : (!cute.layout<"(2,5):(5,1)">, !cute.layout<"(3,4):(1,3)">) -> !cute.layout<"((2,5),3,4):((5,1),10,30)">
func.func @tiled(%a: !cute.layout<"(2,5):(5,1)">, %b: !cute.layout<"(3,4):(1,3)">) {
  %r = cute.tiled_product(%a, %b) : (!cute.layout<"(2,5):(5,1)">, !cute.layout<"(3,4):(1,3)">) -> !cute.layout<"((2,5),3,4):((5,1),10,30)">
  return
}

// CHECK-LABEL: func.func @flat(
// CHECK: cute.flat_product(%{{.*}}, %{{.*}}) : (!cute.layout<"(2,5):(5,1)">, !cute.layout<"(3,4):(1,3)">) -> !cute.layout<"(2,5,3,4):(5,1,10,30)">
func.func @flat(%a: !cute.layout<"(2,5):(5,1)">, %b: !cute.layout<"(3,4):(1,3)">) {
  %r = cute.flat_product(%a, %b) : (!cute.layout<"(2,5):(5,1)">, !cute.layout<"(3,4):(1,3)">) -> !cute.layout<"(2,5,3,4):(5,1,10,30)">
  return
}

// Rows of a block, then blocks.
// CHECK-LABEL: func.func @blocked(
// CHECK: cute.blocked_product(%{{.*}}, %{{.*}}) : (!cute.layout<"(2,5):(5,1)">, !cute.layout<"(3,4):(1,3)">) -> !cute.layout<"((2,3),(5,4)):((5,10),(1,30))">
func.func @blocked(%a: !cute.layout<"(2,5):(5,1)">, %b: !cute.layout<"(3,4):(1,3)">) {
  %r = cute.blocked_product(%a, %b) : (!cute.layout<"(2,5):(5,1)">, !cute.layout<"(3,4):(1,3)">) -> !cute.layout<"((2,3),(5,4)):((5,10),(1,30))">
  return
}

// Blocks, then rows of a block.
// CHECK-LABEL: func.func @raked(
// CHECK: cute.raked_product(%{{.*}}, %{{.*}}) : (!cute.layout<"(2,5):(5,1)">, !cute.layout<"(3,4):(1,3)">) -> !cute.layout<"((3,2),(4,5)):((10,5),(30,1))">
func.func @raked(%a: !cute.layout<"(2,5):(5,1)">, %b: !cute.layout<"(3,4):(1,3)">) {
  %r = cute.raked_product(%a, %b) : (!cute.layout<"(2,5):(5,1)">, !cute.layout<"(3,4):(1,3)">) -> !cute.layout<"((3,2),(4,5)):((10,5),(30,1))">
  return
}

// A has a mode 1 of extent 1; coalesced it is gone.
// CHECK-LABEL: func.func @blocked_lower_rank(
// CHECK: cute.blocked_product(%{{.*}}, %{{.*}}) : (!cute.layout<"4:1">, !cute.layout<"(2,3):(1,2)">) -> !cute.layout<"((4,2),(1,3)):((1,4),(0,8))">
func.func @blocked_lower_rank(%a: !cute.layout<"4:1">, %b: !cute.layout<"(2,3):(1,2)">) {
  %r = cute.blocked_product(%a, %b) : (!cute.layout<"4:1">, !cute.layout<"(2,3):(1,2)">) -> !cute.layout<"((4,2),(1,3)):((1,4),(0,8))">
  return
}

// CHECK-LABEL: func.func @unknown_copies(
// CHECK: cute.logical_product(%{{.*}}, %{{.*}}) : (!cute.layout<"(3,4):(4,1)">, !cute.layout<"(?,?):(1,2)">) -> !cute.layout<"((3,4),(?,?)):((4,1),(12,24))">
func.func @unknown_copies(%a: !cute.layout<"(3,4):(4,1)">, %b: !cute.layout<"(?,?):(1,2)">) {
  %r = cute.logical_product(%a, %b) : (!cute.layout<"(3,4):(4,1)">, !cute.layout<"(?,?):(1,2)">) -> !cute.layout<"((3,4),(?,?)):((4,1),(12,24))">
  return
}

// CHECK-LABEL: func.func @composed(
// CHECK: cute.logical_product(%{{.*}}, %{{.*}}) : (!cute.composed_layout<"S<3,4,3> o 0 o (8,64):(64,1)">, !cute.layout<"4:1">) -> !cute.composed_layout<"S<3,4,3> o 0 o ((8,64),4):((64,1),512)">
func.func @composed(%a: !cute.composed_layout<"S<3,4,3> o 0 o (8,64):(64,1)">, %b: !cute.layout<"4:1">) {
  %r = cute.logical_product(%a, %b) : (!cute.composed_layout<"S<3,4,3> o 0 o (8,64):(64,1)">, !cute.layout<"4:1">) -> !cute.composed_layout<"S<3,4,3> o 0 o ((8,64),4):((64,1),512)">
  return
}

// Coordinates up to (4,3) are taken; the last mode goes on: by 3, and 2 of those by 6.
// CHECK-LABEL: func.func @basis(
// CHECK: cute.tiled_product(%{{.*}}, %{{.*}}) : (!cute.layout<"(4,3):(1@0,1@1)">, !cute.layout<"(2,5):(1,2)">) -> !cute.layout<"((4,3),2,5):((1@0,1@1),3@1,6@1)">
func.func @basis(%a: !cute.layout<"(4,3):(1@0,1@1)">, %b: !cute.layout<"(2,5):(1,2)">) {
  %r = cute.tiled_product(%a, %b) : (!cute.layout<"(4,3):(1@0,1@1)">, !cute.layout<"(2,5):(1,2)">) -> !cute.layout<"((4,3),2,5):((1@0,1@1),3@1,6@1)">
  return
}
