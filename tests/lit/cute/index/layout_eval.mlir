// RUN: cute-opt %s | FileCheck %s
// RUN: cute-opt %s -mlir-print-op-generic | cute-opt | FileCheck %s
// RUN: cute-opt %s -emit-bytecode | cute-opt | FileCheck %s
// RUN: cute-opt %s -canonicalize -cse -sccp -o /dev/null

// L(c) = sum c_i * d_i.

// 1*8 + 2*1
// CHECK-LABEL: func.func @coordinate(
// CHECK: cute.layout_eval(%{{.*}}, %{{.*}}) : (!cute.coord<"(1,2)">, !cute.layout<"(4,8):(8,1)">) -> !cute.int_tuple<"10">
func.func @coordinate(%c: !cute.coord<"(1,2)">, %l: !cute.layout<"(4,8):(8,1)">) {
  %r = cute.layout_eval(%c, %l) : (!cute.coord<"(1,2)">, !cute.layout<"(4,8):(8,1)">) -> !cute.int_tuple<"10">
  return
}

// 5 is (5 % 4, 5 / 4) = (1,1): 8 + 1.
// CHECK-LABEL: func.func @index(
// CHECK: cute.layout_eval(%{{.*}}, %{{.*}}) : (!cute.coord<"5">, !cute.layout<"(4,8):(8,1)">) -> !cute.int_tuple<"9">
func.func @index(%c: !cute.coord<"5">, %l: !cute.layout<"(4,8):(8,1)">) {
  %r = cute.layout_eval(%c, %l) : (!cute.coord<"5">, !cute.layout<"(4,8):(8,1)">) -> !cute.int_tuple<"9">
  return
}

// 1*1 + 0*2 + 2*4
// CHECK-LABEL: func.func @nested(
// CHECK: cute.layout_eval(%{{.*}}, %{{.*}}) : (!cute.coord<"((1,0),2)">, !cute.layout<"((2,2),4):((1,2),4)">) -> !cute.int_tuple<"9">
func.func @nested(%c: !cute.coord<"((1,0),2)">, %l: !cute.layout<"((2,2),4):((1,2),4)">) {
  %r = cute.layout_eval(%c, %l) : (!cute.coord<"((1,0),2)">, !cute.layout<"((2,2),4):((1,2),4)">) -> !cute.int_tuple<"9">
  return
}

// 3 of (2,2) is (1,1): 1 + 2, and 2*4.
// CHECK-LABEL: func.func @index_of_a_mode(
// CHECK: cute.layout_eval(%{{.*}}, %{{.*}}) : (!cute.coord<"(3,2)">, !cute.layout<"((2,2),4):((1,2),4)">) -> !cute.int_tuple<"11">
func.func @index_of_a_mode(%c: !cute.coord<"(3,2)">, %l: !cute.layout<"((2,2),4):((1,2),4)">) {
  %r = cute.layout_eval(%c, %l) : (!cute.coord<"(3,2)">, !cute.layout<"((2,2),4):((1,2),4)">) -> !cute.int_tuple<"11">
  return
}

// The last mode takes what is left: 40 is (0,10).
// CHECK-LABEL: func.func @past_the_end(
// CHECK: cute.layout_eval(%{{.*}}, %{{.*}}) : (!cute.coord<"40">, !cute.layout<"(4,8):(8,1)">) -> !cute.int_tuple<"10">
func.func @past_the_end(%c: !cute.coord<"40">, %l: !cute.layout<"(4,8):(8,1)">) {
  %r = cute.layout_eval(%c, %l) : (!cute.coord<"40">, !cute.layout<"(4,8):(8,1)">) -> !cute.int_tuple<"10">
  return
}

// 3 * -2
// CHECK-LABEL: func.func @negative_stride(
// CHECK: cute.layout_eval(%{{.*}}, %{{.*}}) : (!cute.coord<"3">, !cute.layout<"8:-2">) -> !cute.int_tuple<"-6">
func.func @negative_stride(%c: !cute.coord<"3">, %l: !cute.layout<"8:-2">) {
  %r = cute.layout_eval(%c, %l) : (!cute.coord<"3">, !cute.layout<"8:-2">) -> !cute.int_tuple<"-6">
  return
}

// CHECK-LABEL: func.func @broadcast(
// CHECK: cute.layout_eval(%{{.*}}, %{{.*}}) : (!cute.coord<"(3,?)">, !cute.layout<"(4,8):(1,0)">) -> !cute.int_tuple<"3">
func.func @broadcast(%c: !cute.coord<"(3,?)">, %l: !cute.layout<"(4,8):(1,0)">) {
  %r = cute.layout_eval(%c, %l) : (!cute.coord<"(3,?)">, !cute.layout<"(4,8):(1,0)">) -> !cute.int_tuple<"3">
  return
}

// CHECK-LABEL: func.func @unknown(
// CHECK: cute.layout_eval(%{{.*}}, %{{.*}}) : (!cute.coord<"(?,1)">, !cute.layout<"(4,8):(8,1)">) -> !cute.int_tuple<"?">
func.func @unknown(%c: !cute.coord<"(?,1)">, %l: !cute.layout<"(4,8):(8,1)">) {
  %r = cute.layout_eval(%c, %l) : (!cute.coord<"(?,1)">, !cute.layout<"(4,8):(8,1)">) -> !cute.int_tuple<"?">
  return
}

// CHECK-LABEL: func.func @wide(
// CHECK: cute.layout_eval(%{{.*}}, %{{.*}}) : (!cute.coord<"(?,1)">, !cute.layout<"(4,8):(1,?{i64})">) -> !cute.int_tuple<"?{i64}">
func.func @wide(%c: !cute.coord<"(?,1)">, %l: !cute.layout<"(4,8):(1,?{i64})">) {
  %r = cute.layout_eval(%c, %l) : (!cute.coord<"(?,1)">, !cute.layout<"(4,8):(1,?{i64})">) -> !cute.int_tuple<"?{i64}">
  return
}

// (a multiple of 4) * 8 + 0
// CHECK-LABEL: func.func @divisible(
// CHECK: cute.layout_eval(%{{.*}}, %{{.*}}) : (!cute.coord<"(?{div=4},0)">, !cute.layout<"(16,8):(8,1)">) -> !cute.int_tuple<"?{div=32}">
func.func @divisible(%c: !cute.coord<"(?{div=4},0)">, %l: !cute.layout<"(16,8):(8,1)">) {
  %r = cute.layout_eval(%c, %l) : (!cute.coord<"(?{div=4},0)">, !cute.layout<"(16,8):(8,1)">) -> !cute.int_tuple<"?{div=32}">
  return
}

// 3*(0,1) + 5*(1,0)
// CHECK-LABEL: func.func @basis(
// CHECK: cute.layout_eval(%{{.*}}, %{{.*}}) : (!cute.coord<"(3,5)">, !cute.layout<"(4,8):(1@1,1@0)">) -> !cute.int_tuple<"(5,3)">
func.func @basis(%c: !cute.coord<"(3,5)">, %l: !cute.layout<"(4,8):(1@1,1@0)">) {
  %r = cute.layout_eval(%c, %l) : (!cute.coord<"(3,5)">, !cute.layout<"(4,8):(1@1,1@0)">) -> !cute.int_tuple<"(5,3)">
  return
}

// 6 is (2,1); scales 2 and 3.
// CHECK-LABEL: func.func @basis_index(
// CHECK: cute.layout_eval(%{{.*}}, %{{.*}}) : (!cute.coord<"6">, !cute.layout<"(4,8):(2@0,3@1)">) -> !cute.int_tuple<"(4,3)">
func.func @basis_index(%c: !cute.coord<"6">, %l: !cute.layout<"(4,8):(2@0,3@1)">) {
  %r = cute.layout_eval(%c, %l) : (!cute.coord<"6">, !cute.layout<"(4,8):(2@0,3@1)">) -> !cute.int_tuple<"(4,3)">
  return
}

// `1@0@1` is mode 0 of mode 1: the result is (1,(2,3)).
// CHECK-LABEL: func.func @basis_inside(
// CHECK: cute.layout_eval(%{{.*}}, %{{.*}}) : (!cute.coord<"(1,(2,3))">, !cute.layout<"(4,(4,4)):(1@0,(1@0@1,1@1@1))">) -> !cute.int_tuple<"(1,(2,3))">
func.func @basis_inside(%c: !cute.coord<"(1,(2,3))">, %l: !cute.layout<"(4,(4,4)):(1@0,(1@0@1,1@1@1))">) {
  %r = cute.layout_eval(%c, %l) : (!cute.coord<"(1,(2,3))">, !cute.layout<"(4,(4,4)):(1@0,(1@0@1,1@1@1))">) -> !cute.int_tuple<"(1,(2,3))">
  return
}

// `_` counts as 0.
// CHECK-LABEL: func.func @underscore(
// CHECK: cute.layout_eval(%{{.*}}, %{{.*}}) : (!cute.coord<"(_,2)">, !cute.layout<"(4,8):(8,1)">) -> !cute.int_tuple<"2">
func.func @underscore(%c: !cute.coord<"(_,2)">, %l: !cute.layout<"(4,8):(8,1)">) {
  %r = cute.layout_eval(%c, %l) : (!cute.coord<"(_,2)">, !cute.layout<"(4,8):(8,1)">) -> !cute.int_tuple<"2">
  return
}

// 130 is 0b10000010: S<3,4,3> takes bits 7..9 (1) to bits 4..6: 130 ^ 16.
// CHECK-LABEL: func.func @swizzled(
// CHECK: cute.layout_eval(%{{.*}}, %{{.*}}) : (!cute.coord<"130">, !cute.composed_layout<"S<3,4,3> o 0 o 1024:1">) -> !cute.int_tuple<"146">
func.func @swizzled(%c: !cute.coord<"130">, %l: !cute.composed_layout<"S<3,4,3> o 0 o 1024:1">) {
  %r = cute.layout_eval(%c, %l) : (!cute.coord<"130">, !cute.composed_layout<"S<3,4,3> o 0 o 1024:1">) -> !cute.int_tuple<"146">
  return
}

// A negative shift takes bits 4..6 to bits 7..9: 16 ^ 128.
// CHECK-LABEL: func.func @swizzled_down(
// CHECK: cute.layout_eval(%{{.*}}, %{{.*}}) : (!cute.coord<"16">, !cute.composed_layout<"S<3,4,-3> o 0 o 1024:1">) -> !cute.int_tuple<"144">
func.func @swizzled_down(%c: !cute.coord<"16">, %l: !cute.composed_layout<"S<3,4,-3> o 0 o 1024:1">) {
  %r = cute.layout_eval(%c, %l) : (!cute.coord<"16">, !cute.composed_layout<"S<3,4,-3> o 0 o 1024:1">) -> !cute.int_tuple<"144">
  return
}

// The offset counts: 128 + 2.
// CHECK-LABEL: func.func @swizzled_at(
// CHECK: cute.layout_eval(%{{.*}}, %{{.*}}) : (!cute.coord<"2">, !cute.composed_layout<"S<3,4,3> o 128 o 1024:1">) -> !cute.int_tuple<"146">
func.func @swizzled_at(%c: !cute.coord<"2">, %l: !cute.composed_layout<"S<3,4,3> o 128 o 1024:1">) {
  %r = cute.layout_eval(%c, %l) : (!cute.coord<"2">, !cute.composed_layout<"S<3,4,3> o 128 o 1024:1">) -> !cute.int_tuple<"146">
  return
}

// B(1,2) = 1 + 2*2 = 5; 5 + 2 = 7; A(7) = 7 % 4 * 5 + 7 / 4 = 16.
// CHECK-LABEL: func.func @composed(
// CHECK: cute.layout_eval(%{{.*}}, %{{.*}}) : (!cute.coord<"(1,2)">, !cute.composed_layout<"(4,5):(5,1) o 2 o (2,3):(1,2)">) -> !cute.int_tuple<"16">
func.func @composed(%c: !cute.coord<"(1,2)">, %l: !cute.composed_layout<"(4,5):(5,1) o 2 o (2,3):(1,2)">) {
  %r = cute.layout_eval(%c, %l) : (!cute.coord<"(1,2)">, !cute.composed_layout<"(4,5):(5,1) o 2 o (2,3):(1,2)">) -> !cute.int_tuple<"16">
  return
}

// B(1,2) = (4,1); + (2,1) = (6,2); A = 6*1 + 2*3 = 12.
// CHECK-LABEL: func.func @composed_tuple(
// CHECK: cute.layout_eval(%{{.*}}, %{{.*}}) : (!cute.coord<"(1,2)">, !cute.composed_layout<"(6,2):(1,3) o (2,1) o (2,3):(1@1,2@0)">) -> !cute.int_tuple<"12">
func.func @composed_tuple(%c: !cute.coord<"(1,2)">, %l: !cute.composed_layout<"(6,2):(1,3) o (2,1) o (2,3):(1@1,2@0)">) {
  %r = cute.layout_eval(%c, %l) : (!cute.coord<"(1,2)">, !cute.composed_layout<"(6,2):(1,3) o (2,1) o (2,3):(1@1,2@0)">) -> !cute.int_tuple<"12">
  return
}
