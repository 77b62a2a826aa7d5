// RUN: cute-opt %s | FileCheck %s
// RUN: cute-opt %s -mlir-print-op-generic | cute-opt | FileCheck %s
// RUN: cute-opt %s -emit-bytecode | cute-opt | FileCheck %s
// RUN: cute-opt %s -canonicalize -cse -sccp -o /dev/null

// The modes at which the coordinate has `_`; of a composed layout the others move into the offset.

// Mode 1 stays, as a tuple of one.
// CHECK-LABEL: func.func @layout(
// CHECK: cute.slice(%{{.*}}, %{{.*}}) : !cute.layout<"(2,3,4):(1,2,6)">, !cute.coord<"(0,_,1)">
func.func @layout(%a: !cute.layout<"(2,3,4):(1,2,6)">, %c: !cute.coord<"(0,_,1)">) -> !cute.layout<"(3):(2)"> {
  %r = cute.slice(%a, %c) : !cute.layout<"(2,3,4):(1,2,6)">, !cute.coord<"(0,_,1)">
  return %r : !cute.layout<"(3):(2)">
}

// CHECK-LABEL: func.func @rows(
// CHECK: cute.slice(%{{.*}}, %{{.*}}) : !cute.layout<"(4,(2,?)):(8,(1,?{i64}))">, !cute.coord<"(?,_)">
func.func @rows(%a: !cute.layout<"(4,(2,?)):(8,(1,?{i64}))">, %c: !cute.coord<"(?,_)">) -> !cute.layout<"((2,?)):((1,?{i64}))"> {
  %r = cute.slice(%a, %c) : !cute.layout<"(4,(2,?)):(8,(1,?{i64}))">, !cute.coord<"(?,_)">
  return %r : !cute.layout<"((2,?)):((1,?{i64}))">
}

// What stays of mode 1 is a mode of the result.
// CHECK-LABEL: func.func @shape(
// CHECK: cute.slice(%{{.*}}, %{{.*}}) : !cute.shape<"(4,(2,3))">, !cute.coord<"(_,(1,_))">
func.func @shape(%a: !cute.shape<"(4,(2,3))">, %c: !cute.coord<"(_,(1,_))">) -> !cute.shape<"(4,3)"> {
  %r = cute.slice(%a, %c) : !cute.shape<"(4,(2,3))">, !cute.coord<"(_,(1,_))">
  return %r : !cute.shape<"(4,3)">
}

// CHECK-LABEL: func.func @stride(
// CHECK: cute.slice(%{{.*}}, %{{.*}}) : !cute.stride<"(?,2,4)">, !cute.coord<"(_,0,_)">
func.func @stride(%a: !cute.stride<"(?,2,4)">, %c: !cute.coord<"(_,0,_)">) -> !cute.stride<"(?,4)"> {
  %r = cute.slice(%a, %c) : !cute.stride<"(?,2,4)">, !cute.coord<"(_,0,_)">
  return %r : !cute.stride<"(?,4)">
}

// CHECK-LABEL: func.func @int_tuple(
// CHECK: cute.slice(%{{.*}}, %{{.*}}) : !cute.int_tuple<"(1,(2,3))">, !cute.coord<"(_,1)">
func.func @int_tuple(%a: !cute.int_tuple<"(1,(2,3))">, %c: !cute.coord<"(_,1)">) -> !cute.int_tuple<"(1)"> {
  %r = cute.slice(%a, %c) : !cute.int_tuple<"(1,(2,3))">, !cute.coord<"(_,1)">
  return %r : !cute.int_tuple<"(1)">
}

// CHECK-LABEL: func.func @coord(
// CHECK: cute.slice(%{{.*}}, %{{.*}}) : !cute.coord<"(0,_,1)">, !cute.coord<"(_,_,_)">
func.func @coord(%a: !cute.coord<"(0,_,1)">, %c: !cute.coord<"(_,_,_)">) -> !cute.coord<"(0,_,1)"> {
  %r = cute.slice(%a, %c) : !cute.coord<"(0,_,1)">, !cute.coord<"(_,_,_)">
  return %r : !cute.coord<"(0,_,1)">
}

// CHECK-LABEL: func.func @whole(
// CHECK: cute.slice(%{{.*}}, %{{.*}}) : !cute.layout<"(4,8):(8,1)">, !cute.coord<"_">
func.func @whole(%a: !cute.layout<"(4,8):(8,1)">, %c: !cute.coord<"_">) -> !cute.layout<"(4,8):(8,1)"> {
  %r = cute.slice(%a, %c) : !cute.layout<"(4,8):(8,1)">, !cute.coord<"_">
  return %r : !cute.layout<"(4,8):(8,1)">
}

// 2 + 1*1
// CHECK-LABEL: func.func @affine(
// CHECK: cute.slice(%{{.*}}, %{{.*}}) : !cute.composed_layout<"(4,5):(1,4) o 2 o (8,3):(1,8)">, !cute.coord<"(1,_)">
func.func @affine(%a: !cute.composed_layout<"(4,5):(1,4) o 2 o (8,3):(1,8)">, %c: !cute.coord<"(1,_)">) -> !cute.composed_layout<"(4,5):(1,4) o 3 o (3):(8)"> {
  %r = cute.slice(%a, %c) : !cute.composed_layout<"(4,5):(1,4) o 2 o (8,3):(1,8)">, !cute.coord<"(1,_)">
  return %r : !cute.composed_layout<"(4,5):(1,4) o 3 o (3):(8)">
}

// 2 + 1*1 + 1*8; no mode is left.
// CHECK-LABEL: func.func @affine_point(
// CHECK: cute.slice(%{{.*}}, %{{.*}}) : !cute.composed_layout<"(4,5):(1,4) o 2 o (8,3):(1,8)">, !cute.coord<"(1,1)">
func.func @affine_point(%a: !cute.composed_layout<"(4,5):(1,4) o 2 o (8,3):(1,8)">, %c: !cute.coord<"(1,1)">) -> !cute.composed_layout<"(4,5):(1,4) o 11 o ():()"> {
  %r = cute.slice(%a, %c) : !cute.composed_layout<"(4,5):(1,4) o 2 o (8,3):(1,8)">, !cute.coord<"(1,1)">
  return %r : !cute.composed_layout<"(4,5):(1,4) o 11 o ():()">
}

// CHECK-LABEL: func.func @affine_unknown(
// CHECK: cute.slice(%{{.*}}, %{{.*}}) : !cute.composed_layout<"(4,5):(1,4) o 2 o (8,3):(1,8)">, !cute.coord<"(?,_)">
func.func @affine_unknown(%a: !cute.composed_layout<"(4,5):(1,4) o 2 o (8,3):(1,8)">, %c: !cute.coord<"(?,_)">) -> !cute.composed_layout<"(4,5):(1,4) o ? o (3):(8)"> {
  %r = cute.slice(%a, %c) : !cute.composed_layout<"(4,5):(1,4) o 2 o (8,3):(1,8)">, !cute.coord<"(?,_)">
  return %r : !cute.composed_layout<"(4,5):(1,4) o ? o (3):(8)">
}

// 64, 128, 256 become 64, 128 + 16, 256 + 32: a layout again.
// CHECK-LABEL: func.func @swizzled_column(
// CHECK: cute.slice(%{{.*}}, %{{.*}}) : !cute.composed_layout<"S<3,4,3> o 0 o (8,64):(64,1)">, !cute.coord<"(_,5)">
func.func @swizzled_column(%a: !cute.composed_layout<"S<3,4,3> o 0 o (8,64):(64,1)">, %c: !cute.coord<"(_,5)">) -> !cute.layout<"((2,4)):((64,144))"> {
  %r = cute.slice(%a, %c) : !cute.composed_layout<"S<3,4,3> o 0 o (8,64):(64,1)">, !cute.coord<"(_,5)">
  return %r : !cute.layout<"((2,4)):((64,144))">
}

// Both fields that the swizzle combines stay, and so does the swizzle. What it does not look at is gone.
// CHECK-LABEL: func.func @swizzled_both(
// CHECK: cute.slice(%{{.*}}, %{{.*}}) : !cute.composed_layout<"S<3,4,3> o 0 o (8,8,2):(16,128,1)">, !cute.coord<"(_,_,1)">
func.func @swizzled_both(%a: !cute.composed_layout<"S<3,4,3> o 0 o (8,8,2):(16,128,1)">, %c: !cute.coord<"(_,_,1)">) -> !cute.composed_layout<"S<3,4,3> o 0 o (8,8):(16,128)"> {
  %r = cute.slice(%a, %c) : !cute.composed_layout<"S<3,4,3> o 0 o (8,8,2):(16,128,1)">, !cute.coord<"(_,_,1)">
  return %r : !cute.composed_layout<"S<3,4,3> o 0 o (8,8):(16,128)">
}

// 64 is a bit that the swizzle changes: it moves into the offset.
// CHECK-LABEL: func.func @swizzled_offset(
// CHECK: cute.slice(%{{.*}}, %{{.*}}) : !cute.composed_layout<"S<3,4,3> o 0 o (4,8,2):(16,128,64)">, !cute.coord<"(_,_,1)">
func.func @swizzled_offset(%a: !cute.composed_layout<"S<3,4,3> o 0 o (4,8,2):(16,128,64)">, %c: !cute.coord<"(_,_,1)">) -> !cute.composed_layout<"S<3,4,3> o 64 o (4,8):(16,128)"> {
  %r = cute.slice(%a, %c) : !cute.composed_layout<"S<3,4,3> o 0 o (4,8,2):(16,128,64)">, !cute.coord<"(_,_,1)">
  return %r : !cute.composed_layout<"S<3,4,3> o 64 o (4,8):(16,128)">
}

// Row 2 is at 128; S(128 + x) - S(128) for x = 1, 16, 32 is 1, -16, 32: a layout.
// CHECK-LABEL: func.func @swizzled_row(
// CHECK: cute.slice(%{{.*}}, %{{.*}}) : !cute.composed_layout<"S<3,4,3> o 0 o (8,64):(64,1)">, !cute.coord<"(2,_)">
func.func @swizzled_row(%a: !cute.composed_layout<"S<3,4,3> o 0 o (8,64):(64,1)">, %c: !cute.coord<"(2,_)">) -> !cute.layout<"((16,2,2)):((1,-16,32))"> {
  %r = cute.slice(%a, %c) : !cute.composed_layout<"S<3,4,3> o 0 o (8,64):(64,1)">, !cute.coord<"(2,_)">
  return %r : !cute.layout<"((16,2,2)):((1,-16,32))">
}

// Whether 16 and 32 count up or down depends on the row.
// CHECK-LABEL: func.func @swizzled_unknown_row(
// CHECK: cute.slice(%{{.*}}, %{{.*}}) : !cute.composed_layout<"S<3,4,3> o 0 o (8,64):(64,1)">, !cute.coord<"(?,_)">
func.func @swizzled_unknown_row(%a: !cute.composed_layout<"S<3,4,3> o 0 o (8,64):(64,1)">, %c: !cute.coord<"(?,_)">) -> !cute.layout<"((16,2,2)):((1,?,?))"> {
  %r = cute.slice(%a, %c) : !cute.composed_layout<"S<3,4,3> o 0 o (8,64):(64,1)">, !cute.coord<"(?,_)">
  return %r : !cute.layout<"((16,2,2)):((1,?,?))">
}
