// RUN: cute-opt %s | FileCheck %s
// RUN: cute-opt %s -mlir-print-op-generic | cute-opt | FileCheck %s
// RUN: cute-opt %s -emit-bytecode | cute-opt | FileCheck %s
// RUN: cute-opt %s -canonicalize -cse -sccp -o /dev/null

// A block, repeated until it fills a shape; the order says in which mode copies come first.

// 2 x 3 copies of 4 elements: 4 apart, then 8.
// CHECK-LABEL: func.func @column_major(
// CHECK: cute.tile_to_shape(%{{.*}}, %{{.*}}) : (!cute.layout<"(2,2):(1,2)">, !cute.shape<"(4,6)">) -> !cute.layout<"((2,2),(2,3)):((1,4),(2,8))">
func.func @column_major(%a: !cute.layout<"(2,2):(1,2)">, %s: !cute.shape<"(4,6)">) {
  %r = cute.tile_to_shape(%a, %s) : (!cute.layout<"(2,2):(1,2)">, !cute.shape<"(4,6)">) -> !cute.layout<"((2,2),(2,3)):((1,4),(2,8))">
  return
}

// Mode 1 first: its 3 copies are 4 apart, those of mode 0 are 12 apart.
// CHECK-LABEL: func.func @row_major(
// CHECK: cute.tile_to_shape(%{{.*}}, %{{.*}}, %{{.*}}) : (!cute.layout<"(2,2):(1,2)">, !cute.shape<"(4,6)">, !cute.int_tuple<"(1,0)">) -> !cute.layout<"((2,2),(2,3)):((1,12),(2,4))">
func.func @row_major(%a: !cute.layout<"(2,2):(1,2)">, %s: !cute.shape<"(4,6)">, %o: !cute.int_tuple<"(1,0)">) {
  %r = cute.tile_to_shape(%a, %s, %o) : (!cute.layout<"(2,2):(1,2)">, !cute.shape<"(4,6)">, !cute.int_tuple<"(1,0)">) -> !cute.layout<"((2,2),(2,3)):((1,12),(2,4))">
  return
}

// 10 takes 3 blocks of 4: one mode, of a block and its copies.
// CHECK-LABEL: func.func @rounded_up(
// CHECK: cute.tile_to_shape(%{{.*}}, %{{.*}}) : (!cute.layout<"4:1">, !cute.shape<"10">) -> !cute.layout<"((4,3)):((1,4))">
func.func @rounded_up(%a: !cute.layout<"4:1">, %s: !cute.shape<"10">) {
  %r = cute.tile_to_shape(%a, %s) : (!cute.layout<"4:1">, !cute.shape<"10">) -> !cute.layout<"((4,3)):((1,4))">
  return
}

// CHECK-LABEL: func.func @lower_rank(
// CHECK: cute.tile_to_shape(%{{.*}}, %{{.*}}) : (!cute.layout<"4:1">, !cute.shape<"(8,3)">) -> !cute.layout<"((4,2),(1,3)):((1,4),(0,8))">
func.func @lower_rank(%a: !cute.layout<"4:1">, %s: !cute.shape<"(8,3)">) {
  %r = cute.tile_to_shape(%a, %s) : (!cute.layout<"4:1">, !cute.shape<"(8,3)">) -> !cute.layout<"((4,2),(1,3)):((1,4),(0,8))">
  return
}

// CHECK-LABEL: func.func @unknown_shape(
// CHECK: cute.tile_to_shape(%{{.*}}, %{{.*}}) : (!cute.layout<"(8,8):(8,1)">, !cute.shape<"(?,16)">) -> !cute.layout<"((8,?),(8,2)):((8,64),(1,?))">
func.func @unknown_shape(%a: !cute.layout<"(8,8):(8,1)">, %s: !cute.shape<"(?,16)">) {
  %r = cute.tile_to_shape(%a, %s) : (!cute.layout<"(8,8):(8,1)">, !cute.shape<"(?,16)">) -> !cute.layout<"((8,?),(8,2)):((8,64),(1,?))">
  return
}

// CHECK-LABEL: func.func @swizzled(
// CHECK: cute.tile_to_shape(%{{.*}}, %{{.*}}) : (!cute.composed_layout<"S<3,4,3> o 0 o (8,64):(64,1)">, !cute.shape<"(16,64)">) -> !cute.composed_layout<"S<3,4,3> o 0 o ((8,2),(64,1)):((64,512),(1,0))">
func.func @swizzled(%a: !cute.composed_layout<"S<3,4,3> o 0 o (8,64):(64,1)">, %s: !cute.shape<"(16,64)">) {
  %r = cute.tile_to_shape(%a, %s) : (!cute.composed_layout<"S<3,4,3> o 0 o (8,64):(64,1)">, !cute.shape<"(16,64)">) -> !cute.composed_layout<"S<3,4,3> o 0 o ((8,2),(64,1)):((64,512),(1,0))">
  return
}
