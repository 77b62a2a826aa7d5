// RUN: cute-opt %s | FileCheck %s
// RUN: cute-opt %s -mlir-print-op-generic | cute-opt | FileCheck %s
// RUN: cute-opt %s -emit-bytecode | cute-opt | FileCheck %s
// RUN: cute-opt %s -canonicalize -cse -sccp -o /dev/null

// A as tiles and the rest. The values are of the CuTe documentation where not derived.

// 4:2 and its complement in 24, (2,3):(1,8), both through A.
// CHECK-LABEL: func.func @logical(
// CHECK: cute.logical_divide(%{{.*}}, %{{.*}}) : (!cute.layout<"(4,2,3):(2,1,8)">, !cute.layout<"4:2">) -> !cute.layout<"((2,2),(2,3)):((4,1),(2,8))">
func.func @logical(%a: !cute.layout<"(4,2,3):(2,1,8)">, %b: !cute.layout<"4:2">) {
  %r = cute.logical_divide(%a, %b) : (!cute.layout<"(4,2,3):(2,1,8)">, !cute.layout<"4:2">) -> !cute.layout<"((2,2),(2,3)):((4,1),(2,8))">
  return
}

// CHECK-LABEL: func.func @logical_2d(
// CHECK: cute.logical_divide(%{{.*}}, %{{.*}}) : (!cute.layout<"(9,(4,8)):(59,(13,1))">, !cute.tile<"[3:3;(2,4):(1,8)]">) -> !cute.layout<"((3,3),((2,4),(2,2))):((177,59),((13,2),(26,1)))">
func.func @logical_2d(%a: !cute.layout<"(9,(4,8)):(59,(13,1))">, %b: !cute.tile<"[3:3;(2,4):(1,8)]">) {
  %r = cute.logical_divide(%a, %b) : (!cute.layout<"(9,(4,8)):(59,(13,1))">, !cute.tile<"[3:3;(2,4):(1,8)]">) -> !cute.layout<"((3,3),((2,4),(2,2))):((177,59),((13,2),(26,1)))">
  return
}

// CHECK-LABEL: func.func @zipped(
// CHECK: cute.zipped_divide(%{{.*}}, %{{.*}}) : (!cute.layout<"(9,(4,8)):(59,(13,1))">, !cute.tile<"[3:3;(2,4):(1,8)]">) -> !cute.layout<"((3,(2,4)),(3,(2,2))):((177,(13,2)),(59,(26,1)))">
func.func @zipped(%a: !cute.layout<"(9,(4,8)):(59,(13,1))">, %b: !cute.tile<"[3:3;(2,4):(1,8)]">) {
  %r = cute.zipped_divide(%a, %b) : (!cute.layout<"(9,(4,8)):(59,(13,1))">, !cute.tile<"[3:3;(2,4):(1,8)]">) -> !cute.layout<"((3,(2,4)),(3,(2,2))):((177,(13,2)),(59,(26,1)))">
  return
}

// CHECK-LABEL: func.func @tiled(
// CHECK: cute.tiled_divide(%{{.*}}, %{{.*}}) : (!cute.layout<"(6,8):(8,1)">, !cute.shape<"(3,4)">) -> !cute.layout<"((3,4),2,2):((8,1),24,4)">
func.func @tiled(%a: !cute.layout<"(6,8):(8,1)">, %b: !cute.shape<"(3,4)">) {
  %r = cute.tiled_divide(%a, %b) : (!cute.layout<"(6,8):(8,1)">, !cute.shape<"(3,4)">) -> !cute.layout<"((3,4),2,2):((8,1),24,4)">
  return
}

// CHECK-LABEL: func.func @flat(
// CHECK: cute.flat_divide(%{{.*}}, %{{.*}}) : (!cute.layout<"(6,8):(8,1)">, !cute.shape<"(3,4)">) -> !cute.layout<"(3,4,2,2):(8,1,24,4)">
func.func @flat(%a: !cute.layout<"(6,8):(8,1)">, %b: !cute.shape<"(3,4)">) {
  %r = cute.flat_divide(%a, %b) : (!cute.layout<"(6,8):(8,1)">, !cute.shape<"(3,4)">) -> !cute.layout<"(3,4,2,2):(8,1,24,4)">
  return
}

// Mode 1 is rest.
// CHECK-LABEL: func.func @fewer_modes(
// CHECK: cute.zipped_divide(%{{.*}}, %{{.*}}) : (!cute.layout<"(6,8):(8,1)">, !cute.shape<"(3)">) -> !cute.layout<"((3),(2,8)):((8),(24,1))">
func.func @fewer_modes(%a: !cute.layout<"(6,8):(8,1)">, %b: !cute.shape<"(3)">) {
  %r = cute.zipped_divide(%a, %b) : (!cute.layout<"(6,8):(8,1)">, !cute.shape<"(3)">) -> !cute.layout<"((3),(2,8)):((8),(24,1))">
  return
}

// `_` takes a mode whole.
// CHECK-LABEL: func.func @open_tile(
// CHECK: cute.logical_divide(%{{.*}}, %{{.*}}) : (!cute.layout<"(6,8):(8,1)">, !cute.tile<"[3:1;_]">) -> !cute.layout<"((3,2),8):((8,24),1)">
func.func @open_tile(%a: !cute.layout<"(6,8):(8,1)">, %b: !cute.tile<"[3:1;_]">) {
  %r = cute.logical_divide(%a, %b) : (!cute.layout<"(6,8):(8,1)">, !cute.tile<"[3:1;_]">) -> !cute.layout<"((3,2),8):((8,24),1)">
  return
}

// 10 in tiles of 4: 3 of them.
// CHECK-LABEL: func.func @rounded_up(
// CHECK: cute.logical_divide(%{{.*}}, %{{.*}}) : (!cute.layout<"10:1">, !cute.shape<"4">) -> !cute.layout<"(4,3):(1,4)">
func.func @rounded_up(%a: !cute.layout<"10:1">, %b: !cute.shape<"4">) {
  %r = cute.logical_divide(%a, %b) : (!cute.layout<"10:1">, !cute.shape<"4">) -> !cute.layout<"(4,3):(1,4)">
  return
}

// ceil(? / 4)
// CHECK-LABEL: func.func @unknown(
// CHECK: cute.zipped_divide(%{{.*}}, %{{.*}}) : (!cute.layout<"(?,8):(8,1)">, !cute.shape<"(4,8)">) -> !cute.layout<"((4,8),(?,1)):((8,1),(32,8))">
func.func @unknown(%a: !cute.layout<"(?,8):(8,1)">, %b: !cute.shape<"(4,8)">) {
  %r = cute.zipped_divide(%a, %b) : (!cute.layout<"(?,8):(8,1)">, !cute.shape<"(4,8)">) -> !cute.layout<"((4,8),(?,1)):((8,1),(32,8))">
  return
}

// CHECK-LABEL: func.func @composed(
// CHECK: cute.flat_divide(%{{.*}}, %{{.*}}) : (!cute.composed_layout<"S<3,4,3> o 0 o (6,8):(8,1)">, !cute.shape<"(3,4)">) -> !cute.composed_layout<"S<3,4,3> o 0 o (3,4,2,2):(8,1,24,4)">
func.func @composed(%a: !cute.composed_layout<"S<3,4,3> o 0 o (6,8):(8,1)">, %b: !cute.shape<"(3,4)">) {
  %r = cute.flat_divide(%a, %b) : (!cute.composed_layout<"S<3,4,3> o 0 o (6,8):(8,1)">, !cute.shape<"(3,4)">) -> !cute.composed_layout<"S<3,4,3> o 0 o (3,4,2,2):(8,1,24,4)">
  return
}
