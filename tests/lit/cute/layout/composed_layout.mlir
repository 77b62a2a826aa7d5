// RUN: cute-opt %s | FileCheck %s
// RUN: cute-opt %s -mlir-print-op-generic | cute-opt | FileCheck %s
// RUN: cute-opt %s -emit-bytecode | cute-opt | FileCheck %s
// RUN: cute-opt %s -canonicalize -cse -sccp -o /dev/null

// make_composed_layout and what takes its parts out again.

// CHECK-LABEL: func.func @swizzled(
// CHECK: cute.make_composed_layout(%{{.*}}, %{{.*}}, %{{.*}}) : (!cute.swizzle<"S<3,4,3>">, <"0">, <"(8,64):(64,1)">) -> <"S<3,4,3> o 0 o (8,64):(64,1)">
func.func @swizzled(%a: !cute.swizzle<"S<3,4,3>">, %b: !cute.int_tuple<"0">, %c: !cute.layout<"(8,64):(64,1)">) {
  %r = cute.make_composed_layout(%a, %b, %c) : (!cute.swizzle<"S<3,4,3>">, !cute.int_tuple<"0">, !cute.layout<"(8,64):(64,1)">) -> !cute.composed_layout<"S<3,4,3> o 0 o (8,64):(64,1)">
  return
}

// CHECK-LABEL: func.func @swizzled_at(
// CHECK: cute.make_composed_layout(%{{.*}}, %{{.*}}, %{{.*}}) : (!cute.swizzle<"S<2,3,3>">, <"?">, <"(?,8):(8,1)">) -> <"S<2,3,3> o ? o (?,8):(8,1)">
func.func @swizzled_at(%a: !cute.swizzle<"S<2,3,3>">, %b: !cute.int_tuple<"?">, %c: !cute.layout<"(?,8):(8,1)">) {
  %r = cute.make_composed_layout(%a, %b, %c) : (!cute.swizzle<"S<2,3,3>">, !cute.int_tuple<"?">, !cute.layout<"(?,8):(8,1)">) -> !cute.composed_layout<"S<2,3,3> o ? o (?,8):(8,1)">
  return
}

// CHECK-LABEL: func.func @affine(
// CHECK: cute.make_composed_layout(%{{.*}}, %{{.*}}, %{{.*}}) : (!cute.layout<"(4,5):(1,4)">, <"2">, <"(2,3):(1,2)">) -> <"(4,5):(1,4) o 2 o (2,3):(1,2)">
func.func @affine(%a: !cute.layout<"(4,5):(1,4)">, %b: !cute.int_tuple<"2">, %c: !cute.layout<"(2,3):(1,2)">) {
  %r = cute.make_composed_layout(%a, %b, %c) : (!cute.layout<"(4,5):(1,4)">, !cute.int_tuple<"2">, !cute.layout<"(2,3):(1,2)">) -> !cute.composed_layout<"(4,5):(1,4) o 2 o (2,3):(1,2)">
  return
}

// B gives a tuple (two basis vectors), so the offset is a tuple and A takes its modes.
// CHECK-LABEL: func.func @tuple_offset(
// CHECK: cute.make_composed_layout(%{{.*}}, %{{.*}}, %{{.*}}) : (!cute.layout<"(6,2):(1,3)">, <"(2,1)">, <"(2,3):(1@1,2@0)">) -> <"(6,2):(1,3) o (2,1) o (2,3):(1@1,2@0)">
func.func @tuple_offset(%a: !cute.layout<"(6,2):(1,3)">, %b: !cute.int_tuple<"(2,1)">, %c: !cute.layout<"(2,3):(1@1,2@0)">) {
  %r = cute.make_composed_layout(%a, %b, %c) : (!cute.layout<"(6,2):(1,3)">, !cute.int_tuple<"(2,1)">, !cute.layout<"(2,3):(1@1,2@0)">) -> !cute.composed_layout<"(6,2):(1,3) o (2,1) o (2,3):(1@1,2@0)">
  return
}

// CHECK-LABEL: func.func @unknown(
// CHECK: cute.make_composed_layout(%{{.*}}, %{{.*}}, %{{.*}}) : (!cute.layout<"(?,4):(1,?)">, <"?{i64}">, <"?:?">) -> <"(?,4):(1,?) o ?{i64} o ?:?">
func.func @unknown(%a: !cute.layout<"(?,4):(1,?)">, %b: !cute.int_tuple<"?{i64}">, %c: !cute.layout<"?:?">) {
  %r = cute.make_composed_layout(%a, %b, %c) : (!cute.layout<"(?,4):(1,?)">, !cute.int_tuple<"?{i64}">, !cute.layout<"?:?">) -> !cute.composed_layout<"(?,4):(1,?) o ?{i64} o ?:?">
  return
}

// CHECK-LABEL: func.func @identity_swizzle_moved(
// CHECK: cute.make_composed_layout(%{{.*}}, %{{.*}}, %{{.*}}) : (!cute.swizzle<"S<0,4,3>">, <"5">, <"8:1">) -> <"S<0,4,3> o 5 o 8:1">
func.func @identity_swizzle_moved(%a: !cute.swizzle<"S<0,4,3>">, %b: !cute.int_tuple<"5">, %c: !cute.layout<"8:1">) {
  %r = cute.make_composed_layout(%a, %b, %c) : (!cute.swizzle<"S<0,4,3>">, !cute.int_tuple<"5">, !cute.layout<"8:1">) -> !cute.composed_layout<"S<0,4,3> o 5 o 8:1">
  return
}

// CHECK-LABEL: func.func @inner_swizzle(
// CHECK: cute.composed_get_inner(%{{.*}}) : <"S<3,4,3> o 0 o (8,8):(8,1)"> -> !cute.swizzle<"S<3,4,3>">
func.func @inner_swizzle(%a: !cute.composed_layout<"S<3,4,3> o 0 o (8,8):(8,1)">) {
  %r = cute.composed_get_inner(%a) : !cute.composed_layout<"S<3,4,3> o 0 o (8,8):(8,1)"> -> !cute.swizzle<"S<3,4,3>">
  return
}

// CHECK-LABEL: func.func @inner_layout(
// CHECK: cute.composed_get_inner(%{{.*}}) : <"(?,4):(1,?) o 1 o 8:1"> -> !cute.layout<"(?,4):(1,?)">
func.func @inner_layout(%a: !cute.composed_layout<"(?,4):(1,?) o 1 o 8:1">) {
  %r = cute.composed_get_inner(%a) : !cute.composed_layout<"(?,4):(1,?) o 1 o 8:1"> -> !cute.layout<"(?,4):(1,?)">
  return
}

// CHECK-LABEL: func.func @offset(
// CHECK: cute.composed_get_offset(%{{.*}}) : <"S<3,4,3> o ?{i64} o (8,8):(8,1)"> -> !cute.int_tuple<"?{i64}">
func.func @offset(%a: !cute.composed_layout<"S<3,4,3> o ?{i64} o (8,8):(8,1)">) {
  %r = cute.composed_get_offset(%a) : !cute.composed_layout<"S<3,4,3> o ?{i64} o (8,8):(8,1)"> -> !cute.int_tuple<"?{i64}">
  return
}

// CHECK-LABEL: func.func @offset_tuple(
// CHECK: cute.composed_get_offset(%{{.*}}) : <"(6,2):(1,3) o (2,?) o (2,3):(1@1,2@0)"> -> !cute.int_tuple<"(2,?)">
func.func @offset_tuple(%a: !cute.composed_layout<"(6,2):(1,3) o (2,?) o (2,3):(1@1,2@0)">) {
  %r = cute.composed_get_offset(%a) : !cute.composed_layout<"(6,2):(1,3) o (2,?) o (2,3):(1@1,2@0)"> -> !cute.int_tuple<"(2,?)">
  return
}

// CHECK-LABEL: func.func @outer(
// CHECK: cute.composed_get_outer(%{{.*}}) : <"S<3,4,3> o 0 o (?,8):(8,1)"> -> <"(?,8):(8,1)">
func.func @outer(%a: !cute.composed_layout<"S<3,4,3> o 0 o (?,8):(8,1)">) {
  %r = cute.composed_get_outer(%a) : !cute.composed_layout<"S<3,4,3> o 0 o (?,8):(8,1)"> -> !cute.layout<"(?,8):(8,1)">
  return
}
