// RUN: cute-opt %s | FileCheck %s
// RUN: cute-opt %s -mlir-print-op-generic | cute-opt | FileCheck %s
// RUN: cute-opt %s -emit-bytecode | cute-opt | FileCheck %s
// RUN: cute-opt %s -canonicalize -cse -sccp -o /dev/null

// The product of the extents; cosize: one more than the largest index, strides by magnitude.

// 4 * 8
// CHECK-LABEL: func.func @layout(
// CHECK: cute.size (%{{.*}}) : (!cute.layout<"(4,8):(8,1)">) -> !cute.int_tuple<"32">
func.func @layout(%a: !cute.layout<"(4,8):(8,1)">) {
  %r = cute.size(%a) : (!cute.layout<"(4,8):(8,1)">) -> !cute.int_tuple<"32">
  return
}

// 2 * (3 * 4)
// CHECK-LABEL: func.func @shape(
// CHECK: cute.size (%{{.*}}) : (!cute.shape<"(2,(3,4))">) -> !cute.int_tuple<"24">
func.func @shape(%a: !cute.shape<"(2,(3,4))">) {
  %r = cute.size(%a) : (!cute.shape<"(2,(3,4))">) -> !cute.int_tuple<"24">
  return
}

// CHECK-LABEL: func.func @int_tuple(
// CHECK: cute.size (%{{.*}}) : (!cute.int_tuple<"(2,?)">) -> !cute.int_tuple<"?">
func.func @int_tuple(%a: !cute.int_tuple<"(2,?)">) {
  %r = cute.size(%a) : (!cute.int_tuple<"(2,?)">) -> !cute.int_tuple<"?">
  return
}

// Mode 0 of mode 1.
// CHECK-LABEL: func.func @mode(
// CHECK: cute.size<[1, 0]> (%{{.*}}) : (!cute.layout<"(2,(3,?)):(1,(2,6))">) -> !cute.int_tuple<"3">
func.func @mode(%a: !cute.layout<"(2,(3,?)):(1,(2,6))">) {
  %r = cute.size<[1, 0]>(%a) : (!cute.layout<"(2,(3,?)):(1,(2,6))">) -> !cute.int_tuple<"3">
  return
}

// B's: the coordinates that the whole takes.
// CHECK-LABEL: func.func @composed(
// CHECK: cute.size (%{{.*}}) : (!cute.composed_layout<"S<3,4,3> o 0 o (8,64):(64,1)">) -> !cute.int_tuple<"512">
func.func @composed(%a: !cute.composed_layout<"S<3,4,3> o 0 o (8,64):(64,1)">) {
  %r = cute.size(%a) : (!cute.composed_layout<"S<3,4,3> o 0 o (8,64):(64,1)">) -> !cute.int_tuple<"512">
  return
}

// One 64-bit leaf makes the product 64 bits wide.
// CHECK-LABEL: func.func @wide(
// CHECK: cute.size (%{{.*}}) : (!cute.shape<"(?,?{i64})">) -> !cute.int_tuple<"?{i64}">
func.func @wide(%a: !cute.shape<"(?,?{i64})">) {
  %r = cute.size(%a) : (!cute.shape<"(?,?{i64})">) -> !cute.int_tuple<"?{i64}">
  return
}

// 16 * (a multiple of 8) is a multiple of 128.
// CHECK-LABEL: func.func @divisible(
// CHECK: cute.size (%{{.*}}) : (!cute.shape<"(16,?{div=8})">) -> !cute.int_tuple<"?{div=128}">
func.func @divisible(%a: !cute.shape<"(16,?{div=8})">) {
  %r = cute.size(%a) : (!cute.shape<"(16,?{div=8})">) -> !cute.int_tuple<"?{div=128}">
  return
}

// What is multiplied by 0 is known.
// CHECK-LABEL: func.func @zero(
// CHECK: cute.size (%{{.*}}) : (!cute.shape<"(?,0)">) -> !cute.int_tuple<"0">
func.func @zero(%a: !cute.shape<"(?,0)">) {
  %r = cute.size(%a) : (!cute.shape<"(?,0)">) -> !cute.int_tuple<"0">
  return
}

// 1 + 3*1 + 7*16 = 116
// CHECK-LABEL: func.func @cosize(
// CHECK: cute.cosize (%{{.*}}) : (!cute.layout<"(4,8):(1,16)">) -> !cute.int_tuple<"116">
func.func @cosize(%a: !cute.layout<"(4,8):(1,16)">) {
  %r = cute.cosize(%a) : (!cute.layout<"(4,8):(1,16)">) -> !cute.int_tuple<"116">
  return
}

// 1 + 7*|-2| = 15
// CHECK-LABEL: func.func @cosize_negative(
// CHECK: cute.cosize (%{{.*}}) : (!cute.layout<"8:-2">) -> !cute.int_tuple<"15">
func.func @cosize_negative(%a: !cute.layout<"8:-2">) {
  %r = cute.cosize(%a) : (!cute.layout<"8:-2">) -> !cute.int_tuple<"15">
  return
}

// 1 + 3*0 + 7*1 = 8
// CHECK-LABEL: func.func @cosize_broadcast(
// CHECK: cute.cosize (%{{.*}}) : (!cute.layout<"(4,8):(0,1)">) -> !cute.int_tuple<"8">
func.func @cosize_broadcast(%a: !cute.layout<"(4,8):(0,1)">) {
  %r = cute.cosize(%a) : (!cute.layout<"(4,8):(0,1)">) -> !cute.int_tuple<"8">
  return
}

// 1 + 7*16 = 113
// CHECK-LABEL: func.func @cosize_mode(
// CHECK: cute.cosize<[1]> (%{{.*}}) : (!cute.layout<"(4,8):(1,16)">) -> !cute.int_tuple<"113">
func.func @cosize_mode(%a: !cute.layout<"(4,8):(1,16)">) {
  %r = cute.cosize<[1]>(%a) : (!cute.layout<"(4,8):(1,16)">) -> !cute.int_tuple<"113">
  return
}

// CHECK-LABEL: func.func @cosize_unknown(
// CHECK: cute.cosize (%{{.*}}) : (!cute.layout<"(4,8):(1,?)">) -> !cute.int_tuple<"?">
func.func @cosize_unknown(%a: !cute.layout<"(4,8):(1,?)">) {
  %r = cute.cosize(%a) : (!cute.layout<"(4,8):(1,?)">) -> !cute.int_tuple<"?">
  return
}

// Coordinates (0..3, 0..7): 4 * 8 of them below (4,8).
// CHECK-LABEL: func.func @cosize_basis(
// CHECK: cute.cosize (%{{.*}}) : (!cute.layout<"(4,8):(1@0,1@1)">) -> !cute.int_tuple<"32">
func.func @cosize_basis(%a: !cute.layout<"(4,8):(1@0,1@1)">) {
  %r = cute.cosize(%a) : (!cute.layout<"(4,8):(1@0,1@1)">) -> !cute.int_tuple<"32">
  return
}

// Of B; a swizzle permutes what lies below: 1 + 7*64 + 63.
// CHECK-LABEL: func.func @cosize_swizzled(
// CHECK: cute.cosize (%{{.*}}) : (!cute.composed_layout<"S<3,4,3> o 0 o (8,64):(64,1)">) -> !cute.int_tuple<"512">
func.func @cosize_swizzled(%a: !cute.composed_layout<"S<3,4,3> o 0 o (8,64):(64,1)">) {
  %r = cute.cosize(%a) : (!cute.composed_layout<"S<3,4,3> o 0 o (8,64):(64,1)">) -> !cute.int_tuple<"512">
  return
}
