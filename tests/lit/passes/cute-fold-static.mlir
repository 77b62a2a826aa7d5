// RUN: cute-opt %s -cute-fold-static -split-input-file | FileCheck %s
// RUN: cute-opt %s -cute-fold-static -split-input-file | cute-opt -cute-fold-static -split-input-file | FileCheck %s

// What the result type says whole is a constant, and what made it goes.
// CHECK-LABEL: func.func @chain(
// CHECK-NEXT:  %[[N:.*]] = cute.static : !cute.int_tuple<"8">
// CHECK-NEXT:  return %[[N]]
func.func @chain() -> !cute.int_tuple<"8"> {
  %s = cute.make_shape() : () -> !cute.shape<"(2,4)">
  %d = cute.make_stride() : () -> !cute.stride<"(4,1)">
  %l = cute.make_layout(%s, %d) : (!cute.shape<"(2,4)">, !cute.stride<"(4,1)">) -> !cute.layout<"(2,4):(4,1)">
  %n = cute.size(%l) : (!cute.layout<"(2,4):(4,1)">) -> !cute.int_tuple<"8">
  return %n : !cute.int_tuple<"8">
}

// -----

// An unknown operand does not matter where the result is known: mode 1 of (?,8) has 8.
// CHECK-LABEL: func.func @known_part(
// CHECK-NEXT:  %[[N:.*]] = cute.static : !cute.int_tuple<"8">
// CHECK-NEXT:  return %[[N]]
func.func @known_part(%s: !cute.shape<"(?,8)">) -> !cute.int_tuple<"8"> {
  %n = cute.size<[1]> (%s) : (!cute.shape<"(?,8)">) -> !cute.int_tuple<"8">
  return %n : !cute.int_tuple<"8">
}

// -----

// CHECK-LABEL: func.func @unknown(
// CHECK-NEXT:  %[[N:.*]] = cute.size
// CHECK-NEXT:  return %[[N]]
func.func @unknown(%s: !cute.shape<"(?,8)">) -> !cute.int_tuple<"?"> {
  %n = cute.size(%s) : (!cute.shape<"(?,8)">) -> !cute.int_tuple<"?">
  %unused = cute.tuple_product(%s) : (!cute.shape<"(?,8)">) -> !cute.shape<"?">
  return %n : !cute.int_tuple<"?">
}

// -----

// Of several results each for itself.
// CHECK-LABEL: func.func @leaves(
// CHECK-DAG:   %[[FOUR:.*]] = cute.static : !cute.shape<"4">
// CHECK-DAG:   %[[L:.*]]:2 = cute.get_leaves
// CHECK:       return %[[FOUR]], %[[L]]#1
func.func @leaves(%s: !cute.shape<"(4,?)">) -> (!cute.shape<"4">, !cute.shape<"?">) {
  %0:2 = cute.get_leaves(%s) : !cute.shape<"(4,?)">
  return %0#0, %0#1 : !cute.shape<"4">, !cute.shape<"?">
}

// -----

// Comparisons whose answer the types give: (1,2) < (4,8); 9 is not < 8 whatever ? is; 4 is not 5.
// CHECK-LABEL: func.func @comparisons(
// CHECK-DAG:   %[[YES:.*]] = arith.constant true
// CHECK-DAG:   %[[NO:.*]] = arith.constant false
// CHECK-DAG:   %[[NO2:.*]] = arith.constant false
// CHECK:       return %[[YES]], %{{.*}}, %{{.*}} : i1, i1, i1
// CHECK-NOT:   cute.e
func.func @comparisons(%a: !cute.coord<"(1,2)">, %s: !cute.shape<"(4,8)">, %b: !cute.coord<"(?,9)">, %t: !cute.shape<"(4,?)">,
                       %u: !cute.shape<"(5,?)">) -> (i1, i1, i1) {
  %0 = cute.elem_less(%a, %s) : (!cute.coord<"(1,2)">, !cute.shape<"(4,8)">) -> i1
  %1 = cute.elem_less(%b, %s) : (!cute.coord<"(?,9)">, !cute.shape<"(4,8)">) -> i1
  %2 = cute.equal(%t, %u) : (!cute.shape<"(4,?)">, !cute.shape<"(5,?)">) -> i1
  return %0, %1, %2 : i1, i1, i1
}

// -----

// CHECK-LABEL: func.func @comparison_unknown(
// CHECK-NEXT:  %[[R:.*]] = cute.equal
// CHECK-NEXT:  return %[[R]]
func.func @comparison_unknown(%a: !cute.shape<"(4,?)">, %b: !cute.shape<"(4,8)">) -> i1 {
  %0 = cute.equal(%a, %b) : (!cute.shape<"(4,?)">, !cute.shape<"(4,8)">) -> i1
  return %0 : i1
}

// -----

// Prints stay, and what they print; arguments and values that cross blocks stay what they are.
// CHECK-LABEL: func.func @effects(
// CHECK:       %[[T:.*]] = cute.static : !cute.tile<"[4:1;_]">
// CHECK:       cute.print(%[[T]])
// CHECK:       %[[R:.*]] = scf.if
// CHECK:         scf.yield %{{.*}} : !cute.shape<"4">
// CHECK:       return %[[R]]
func.func @effects(%c: i1, %x: !cute.shape<"4">) -> !cute.shape<"4"> {
  %t = cute.make_tile() : () -> !cute.tile<"[4:1;_]">
  cute.print(%t) : !cute.tile<"[4:1;_]">
  %r = scf.if %c -> (!cute.shape<"4">) {
    %y = cute.make_shape() : () -> !cute.shape<"4">
    scf.yield %y : !cute.shape<"4">
  } else {
    scf.yield %x : !cute.shape<"4">
  }
  return %r : !cute.shape<"4">
}

// -----

// In kernels too.
// CHECK-LABEL: gpu.func @kernel(
// CHECK-NEXT:  %[[S:.*]] = cute.static : !cute.layout<"(4,2):(1,4)">
// CHECK-NEXT:  cute.print(%[[S]])
gpu.module @device {
  gpu.func @kernel() kernel {
    %l = cute.static : !cute.layout<"(2,4):(4,1)">
    %r = cute.right_inverse(%l) : (!cute.layout<"(2,4):(4,1)">) -> !cute.layout<"(4,2):(2,1)">
    %i = cute.make_layout_like(%r) : !cute.layout<"(4,2):(2,1)"> -> !cute.layout<"(4,2):(2,1)">
    %o = cute.static : !cute.int_tuple<"(0,1)">
    %s = cute.get_shape(%i) : !cute.layout<"(4,2):(2,1)"> -> !cute.shape<"(4,2)">
    %f = cute.make_ordered_layout(%s, %o) : (!cute.shape<"(4,2)">, !cute.int_tuple<"(0,1)">) -> !cute.layout<"(4,2):(1,4)">
    cute.print(%f) : !cute.layout<"(4,2):(1,4)">
    gpu.return
  }
}

// A loop, or a condition, without effects whose results nothing uses goes as a whole.
// CHECK-LABEL: func.func @dead_regions
// CHECK-NEXT: return
func.func @dead_regions(%n: i32, %p: i1) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  scf.for %i = %c0 to %n step %c1 : i32 {
    scf.for %j = %i to %n step %c1 : i32 {
      %d = arith.addi %i, %j : i32
    }
  }
  %r = scf.if %p -> (i32) {
    %s = scf.for %i = %c0 to %n step %c1 iter_args(%a = %c0) -> (i32) : i32 {
      %b = arith.addi %a, %i : i32
      scf.yield %b : i32
    }
    scf.yield %s : i32
  } else {
    scf.yield %c0 : i32
  }
  return
}
