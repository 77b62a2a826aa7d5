// RUN: cute-opt %s -cute-layout-canonicalize | FileCheck %s
// RUN: cute-opt %s -cute-layout-canonicalize -cute-expand-ops | FileCheck %s --check-prefix=EXPAND

!l = !cute.layout<"((4,8),(2,3)):((1,4),(64,32))">

// ((4,8),(2,3)):((1,4),(64,32)): the first two modes are 32:1, the last two are not one.
// CHECK-LABEL: func.func @linear
// CHECK:         %[[L:.*]] = cute.coalesce(%{{.*}}) : {{.*}} -> !cute.layout<"(32,2,3):(1,64,32)">
// CHECK:         cute.layout_eval(%{{.*}}, %[[L]])
func.func @linear(%c: !cute.coord<"?">, %l: !l) -> !cute.int_tuple<"?"> {
  %i = cute.layout_eval(%c, %l) : (!cute.coord<"?">, !l) -> !cute.int_tuple<"?">
  return %i : !cute.int_tuple<"?">
}

// CHECK-LABEL: func.func @by_mode
// CHECK:         %[[P:.*]] = cute.static : !cute.coord<"(1,1)">
// CHECK:         %[[L:.*]] = cute.coalesce(%{{.*}}, %[[P]]) : {{.*}} -> !cute.layout<"(32,(2,3)):(1,(64,32))">
// CHECK:         cute.layout_eval(%{{.*}}, %[[L]])
// EXPAND-LABEL: func.func @by_mode
// EXPAND-COUNT-1: arith.remsi
// EXPAND-NOT:    arith.remsi
// EXPAND:        return
func.func @by_mode(%c: !cute.coord<"(?,?)">, %l: !l) -> !cute.int_tuple<"?"> {
  %i = cute.layout_eval(%c, %l) : (!cute.coord<"(?,?)">, !l) -> !cute.int_tuple<"?">
  return %i : !cute.int_tuple<"?">
}

// Nothing is shorter: each leaf has its own coordinate, or modes are not one.
// CHECK-LABEL: func.func @as_short_as_can_be
// CHECK-NOT:     cute.coalesce
// CHECK:         return
func.func @as_short_as_can_be(%c: !cute.coord<"((?,?),(?,?))">, %l: !l, %d: !cute.coord<"?">, %m: !cute.layout<"(4,8):(8,1)">)
    -> (!cute.int_tuple<"?">, !cute.int_tuple<"?">) {
  %i = cute.layout_eval(%c, %l) : (!cute.coord<"((?,?),(?,?))">, !l) -> !cute.int_tuple<"?">
  %j = cute.layout_eval(%d, %m) : (!cute.coord<"?">, !cute.layout<"(4,8):(8,1)">) -> !cute.int_tuple<"?">
  return %i, %j : !cute.int_tuple<"?">, !cute.int_tuple<"?">
}
