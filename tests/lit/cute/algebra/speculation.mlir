// RUN: cute-opt %s -loop-invariant-code-motion | FileCheck %s

// A loop that does not run divides by nothing: what may divide by an unknown extent stays inside, all else moves out.

// CHECK-LABEL: func.func @unknown_extents(
// CHECK:       cute.tuple_add
// CHECK:       cute.layout_eval{{.*}}"(4,8):(8,1)"
// CHECK-NEXT:  scf.for
// CHECK:         cute.idx2crd
// CHECK:         cute.composition
// CHECK:         cute.ceil_div
func.func @unknown_extents(%n: index, %i: !cute.int_tuple<"?">, %s: !cute.shape<"(?,?)">, %l: !cute.layout<"(?,?):(?,1)">) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %at = cute.static : !cute.coord<"5">
  %known = cute.static : !cute.layout<"(4,8):(8,1)">
  %two = cute.static : !cute.layout<"8:2">
  %all = cute.static : !cute.shape<"(100,100)">
  scf.for %k = %c0 to %n step %c1 {
    %c = cute.idx2crd(%i, %s) : (!cute.int_tuple<"?">, !cute.shape<"(?,?)">) -> !cute.coord<"(?,?)">
    cute.print(%c) : !cute.coord<"(?,?)">
    %r = cute.composition(%l, %two) : (!cute.layout<"(?,?):(?,1)">, !cute.layout<"8:2">) -> !cute.layout<"(?,?):(?,?)">
    cute.print(%r) : !cute.layout<"(?,?):(?,?)">
    %t = cute.ceil_div(%all, %s) : (!cute.shape<"(100,100)">, !cute.shape<"(?,?)">) -> !cute.shape<"(?,?)">
    cute.print(%t) : !cute.shape<"(?,?)">
    %sum = cute.tuple_add(%i, %i) : (!cute.int_tuple<"?">, !cute.int_tuple<"?">) -> !cute.int_tuple<"?">
    cute.print(%sum) : !cute.int_tuple<"?">
    %e = cute.layout_eval(%at, %known) : (!cute.coord<"5">, !cute.layout<"(4,8):(8,1)">) -> !cute.int_tuple<"9">
    cute.print(%e) : !cute.int_tuple<"9">
  }
  return
}

// CHECK-LABEL: func.func @known_extents(
// CHECK:       cute.idx2crd
// CHECK-NEXT:  cute.shape_div
// CHECK-NEXT:  scf.for
func.func @known_extents(%n: index, %i: !cute.int_tuple<"?">, %s: !cute.shape<"?">) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %e = cute.static : !cute.shape<"(4,8)">
  %two = cute.static : !cute.shape<"2">
  scf.for %k = %c0 to %n step %c1 {
    %c = cute.idx2crd(%i, %e) : (!cute.int_tuple<"?">, !cute.shape<"(4,8)">) -> !cute.coord<"(?,?)">
    cute.print(%c) : !cute.coord<"(?,?)">
    %h = cute.shape_div(%s, %two) : (!cute.shape<"?">, !cute.shape<"2">) -> !cute.shape<"?">
    cute.print(%h) : !cute.shape<"?">
  }
  return
}
