// RUN: cute-opt %s -cute-expand-ops -split-input-file | FileCheck %s

// c0*8 + c1*1: the stride of one is not multiplied.
// CHECK-LABEL: func.func @dot
// CHECK:       %[[S:.*]]:2 = cute.get_scalars<{only_dynamic}> (%{{.*}}) : !cute.coord<"(?,?)">
// CHECK:       %[[C8:.*]] = arith.constant 8 : i32
// CHECK:       %[[P:.*]] = arith.muli %[[S]]#0, %[[C8]] overflow<nsw> : i32
// CHECK-NOT:   arith.muli
// CHECK:       arith.addi {{.*}} overflow<nsw> : i32
// CHECK:       cute.make_int_tuple(%{{.*}}) : (i32) -> !cute.int_tuple<"?">
func.func @dot(%c: !cute.coord<"(?,?)">, %l: !cute.layout<"(4,8):(8,1)">) -> !cute.int_tuple<"?"> {
  %r = cute.layout_eval(%c, %l) : (!cute.coord<"(?,?)">, !cute.layout<"(4,8):(8,1)">) -> !cute.int_tuple<"?">
  return %r : !cute.int_tuple<"?">
}

// -----

// A 64-bit stride: the coordinate is extended just before it is multiplied.
// CHECK-LABEL: func.func @wide
// CHECK:       arith.extsi %{{.*}} : i32 to i64
// CHECK:       arith.muli {{.*}} : i64
func.func @wide(%c: !cute.coord<"?">, %l: !cute.layout<"?:?{i64}">) -> !cute.int_tuple<"?{i64}"> {
  %r = cute.layout_eval(%c, %l) : (!cute.coord<"?">, !cute.layout<"?:?{i64}">) -> !cute.int_tuple<"?{i64}">
  return %r : !cute.int_tuple<"?{i64}">
}

// -----

// A swizzle is a mask, a shift and an xor: S<3,4,3> takes bits 7..9 to bits 4..6.
// CHECK-LABEL: func.func @swizzle
// CHECK:       arith.constant 896 : i32
// CHECK:       arith.andi
// CHECK:       arith.shrui
// CHECK:       arith.xori
func.func @swizzle(%c: !cute.coord<"?">, %l: !cute.composed_layout<"S<3,4,3> o 0 o 1024:1">) -> !cute.int_tuple<"?"> {
  %r = cute.layout_eval(%c, %l) : (!cute.coord<"?">, !cute.composed_layout<"S<3,4,3> o 0 o 1024:1">) -> !cute.int_tuple<"?">
  return %r : !cute.int_tuple<"?">
}

// -----

// 13 = 1 + 3*4, without a single operation.
// CHECK-LABEL: func.func @known
// CHECK-NEXT:  cute.static : !cute.coord<"(1,3)">
// CHECK-NEXT:  return
func.func @known(%i: !cute.int_tuple<"13">, %s: !cute.shape<"(4,8)">) -> !cute.coord<"(1,3)"> {
  %r = cute.idx2crd(%i, %s) : (!cute.int_tuple<"13">, !cute.shape<"(4,8)">) -> !cute.coord<"(1,3)">
  return %r : !cute.coord<"(1,3)">
}
