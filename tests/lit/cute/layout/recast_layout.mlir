// RUN: cute-opt %s | FileCheck %s
// RUN: cute-opt %s -mlir-print-op-generic | cute-opt | FileCheck %s
// RUN: cute-opt %s -emit-bytecode | cute-opt | FileCheck %s
// RUN: cute-opt %s -canonicalize -cse -sccp -o /dev/null

// The same bytes in elements of another width: <new, old>.

// Two bytes are one: of stride 1 half as many, other strides halved.
// CHECK-LABEL: func.func @up(
// CHECK: cute.recast_layout<16, 8> (%{{.*}}) : !cute.layout<"(8,4):(1,8)"> -> !cute.layout<"(4,4):(1,4)">
func.func @up(%a: !cute.layout<"(8,4):(1,8)">) {
  %r = cute.recast_layout<16, 8>(%a) : !cute.layout<"(8,4):(1,8)"> -> !cute.layout<"(4,4):(1,4)">
  return
}

// CHECK-LABEL: func.func @down(
// CHECK: cute.recast_layout<8, 16> (%{{.*}}) : !cute.layout<"(4,4):(1,4)"> -> !cute.layout<"(8,4):(1,8)">
func.func @down(%a: !cute.layout<"(4,4):(1,4)">) {
  %r = cute.recast_layout<8, 16>(%a) : !cute.layout<"(4,4):(1,4)"> -> !cute.layout<"(8,4):(1,8)">
  return
}

// CHECK-LABEL: func.func @same(
// CHECK: cute.recast_layout<32, 32> (%{{.*}}) : !cute.layout<"(4,?):(?,1)"> -> !cute.layout<"(4,?):(?,1)">
func.func @same(%a: !cute.layout<"(4,?):(?,1)">) {
  %r = cute.recast_layout<32, 32>(%a) : !cute.layout<"(4,?):(?,1)"> -> !cute.layout<"(4,?):(?,1)">
  return
}

// 16 to 24 bits by way of 8: up by... 24/8 = 3 and 16/8 = 2: (6,4):(1,6) in thirds is (2,4):(1,2), twice as long.
// CHECK-LABEL: func.func @up_and_down(
// CHECK: cute.recast_layout<24, 16> (%{{.*}}) : !cute.layout<"(6,4):(1,6)"> -> !cute.layout<"(4,4):(1,4)">
func.func @up_and_down(%a: !cute.layout<"(6,4):(1,6)">) {
  %r = cute.recast_layout<24, 16>(%a) : !cute.layout<"(6,4):(1,6)"> -> !cute.layout<"(4,4):(1,4)">
  return
}

// CHECK-LABEL: func.func @row_major(
// CHECK: cute.recast_layout<32, 8> (%{{.*}}) : !cute.layout<"(4,64):(64,1)"> -> !cute.layout<"(4,16):(16,1)">
func.func @row_major(%a: !cute.layout<"(4,64):(64,1)">) {
  %r = cute.recast_layout<32, 8>(%a) : !cute.layout<"(4,64):(64,1)"> -> !cute.layout<"(4,16):(16,1)">
  return
}

// 7 bytes lie in 4 halfwords.
// CHECK-LABEL: func.func @rounded_up(
// CHECK: cute.recast_layout<16, 8> (%{{.*}}) : !cute.layout<"7:1"> -> !cute.layout<"4:1">
func.func @rounded_up(%a: !cute.layout<"7:1">) {
  %r = cute.recast_layout<16, 8>(%a) : !cute.layout<"7:1"> -> !cute.layout<"4:1">
  return
}

// CHECK-LABEL: func.func @negative(
// CHECK: cute.recast_layout<16, 8> (%{{.*}}) : !cute.layout<"(2,4):(1,-2)"> -> !cute.layout<"(1,4):(1,-1)">
func.func @negative(%a: !cute.layout<"(2,4):(1,-2)">) {
  %r = cute.recast_layout<16, 8>(%a) : !cute.layout<"(2,4):(1,-2)"> -> !cute.layout<"(1,4):(1,-1)">
  return
}

// CHECK-LABEL: func.func @unknown_stride(
// CHECK: cute.recast_layout<16, 8> (%{{.*}}) : !cute.layout<"(8,4):(1,?)"> -> !cute.layout<"(4,4):(1,?)">
func.func @unknown_stride(%a: !cute.layout<"(8,4):(1,?)">) {
  %r = cute.recast_layout<16, 8>(%a) : !cute.layout<"(8,4):(1,?)"> -> !cute.layout<"(4,4):(1,?)">
  return
}

// CHECK-LABEL: func.func @unknown_extent(
// CHECK: cute.recast_layout<16, 8> (%{{.*}}) : !cute.layout<"?:1"> -> !cute.layout<"?:1">
func.func @unknown_extent(%a: !cute.layout<"?:1">) {
  %r = cute.recast_layout<16, 8>(%a) : !cute.layout<"?:1"> -> !cute.layout<"?:1">
  return
}

// The bits that are permuted move down by one.
// CHECK-LABEL: func.func @swizzled(
// CHECK: cute.recast_layout<16, 8> (%{{.*}}) : !cute.composed_layout<"S<3,4,3> o 32 o (8,64):(64,1)"> -> !cute.composed_layout<"S<3,3,3> o 16 o (8,32):(32,1)">
func.func @swizzled(%a: !cute.composed_layout<"S<3,4,3> o 32 o (8,64):(64,1)">) {
  %r = cute.recast_layout<16, 8>(%a) : !cute.composed_layout<"S<3,4,3> o 32 o (8,64):(64,1)"> -> !cute.composed_layout<"S<3,3,3> o 16 o (8,32):(32,1)">
  return
}

// CHECK-LABEL: func.func @swizzled_down(
// CHECK: cute.recast_layout<8, 16> (%{{.*}}) : !cute.composed_layout<"S<3,3,3> o 16 o (8,32):(32,1)"> -> !cute.composed_layout<"S<3,4,3> o 32 o (8,64):(64,1)">
func.func @swizzled_down(%a: !cute.composed_layout<"S<3,3,3> o 16 o (8,32):(32,1)">) {
  %r = cute.recast_layout<8, 16>(%a) : !cute.composed_layout<"S<3,3,3> o 16 o (8,32):(32,1)"> -> !cute.composed_layout<"S<3,4,3> o 32 o (8,64):(64,1)">
  return
}
