// RUN: cute-opt %s | FileCheck %s

// Ranks in place of texts: every leaf is unknown.
// CHECK-LABEL: func.func @ranks(
// CHECK-SAME: !cute.shape<"(?,?)">, %{{.*}}: !cute.stride<"(?,?)">, %{{.*}}: !cute.coord<"(?,?,?)">, %{{.*}}: !cute.int_tuple<"?">
func.func @ranks(%a: !cute.shape<2>, %b: !cute.stride<2>, %c: !cute.coord<3>, %d: !cute.int_tuple<1>) { return }
// CHECK-LABEL: func.func @layout(
// CHECK-SAME: !cute.layout<"(?,?):(?,?)">
func.func @layout(%a: !cute.layout<2>) { return }
// Extents of a tile: a contiguous stretch of each mode.
// CHECK-LABEL: func.func @tile(
// CHECK-SAME: !cute.tile<"[128:1;64:1;32:1]">
func.func @tile(%a: !cute.tile<128, 64, 32>) { return }
// CHECK-LABEL: func.func @int(
// CHECK-SAME: !cute.int_tuple<"?">
func.func @int(%a: !cute.int) { return }
