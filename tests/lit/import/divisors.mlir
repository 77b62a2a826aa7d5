// What CuTe DSL states more of: a number that divides a product of numbers without one, and a composed layout whose swizzle
// has no bits, which it writes as the layout.
// RUN: cute-opt %s -source-map=off | FileCheck %s
// RUN: cute-opt %s -source-map=off --mlir-print-op-generic | cute-opt -source-map=off | FileCheck %s
// RUN: cute-opt %s -source-map=off -cute-expand-ops | FileCheck %s --check-prefix=EXPANDED

// CHECK-LABEL: func.func @size
func.func @size(%t: !cute.int_tuple<"((8,?),?)">) {
  // CHECK: cute.size (%{{.*}}) : (!cute.int_tuple<"((8,?),?)">) -> !cute.int_tuple<"?{div=8}">
  // EXPANDED: cute.make_int_tuple(%{{.*}}) : (i32) -> !cute.int_tuple<"?{div=8}">
  %0 = cute.size(%t) : (!cute.int_tuple<"((8,?),?)">) -> !cute.int_tuple<"?{div=8}">
  cute.print(%0) : !cute.int_tuple<"?{div=8}">
  // CHECK: cute.size (%{{.*}}) : (!cute.int_tuple<"((8,?),?)">) -> !cute.int_tuple<"?">
  // EXPANDED: cute.make_int_tuple(%{{.*}}) : (i32) -> !cute.int_tuple<"?">
  %1 = cute.size(%t)
  cute.print(%1) : !cute.int_tuple<"?">
  return
}

// CHECK-LABEL: func.func @trivial
func.func @trivial(%s: !cute.swizzle<"S<0,4,3>">, %o: !cute.int_tuple<"0">, %l: !cute.layout<"64:1">, %m: !cute.layout<"(4,5):(64,256)">) {
  // CHECK: %[[C:.*]] = cute.make_composed_layout(%{{.*}}, %{{.*}}, %{{.*}}) : {{.*}} -> <"64:1">
  %0 = "cute.make_composed_layout"(%s, %o, %l) : (!cute.swizzle<"S<0,4,3>">, !cute.int_tuple<"0">, !cute.layout<"64:1">) -> !cute.composed_layout<"64:1">
  // CHECK: cute.composed_get_inner(%[[C]]) : <"64:1"> -> !cute.swizzle<"S<0,4,3>">
  %1 = cute.composed_get_inner(%0)
  // CHECK: cute.composed_get_outer(%[[C]]) : <"64:1"> -> {{.*}}<"64:1">
  %2 = cute.composed_get_outer(%0)
  // CHECK: cute.get_shape(%[[C]]) : {{.*}}!cute.composed_layout<"64:1">{{.*}} -> !cute.shape<"64">
  %3 = cute.get_shape(%0)
  return
}
