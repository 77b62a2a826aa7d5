// RUN: cute-opt %s -cute-to-standard | FileCheck %s

// Row i, column j of a row-major matrix of 64 columns: 64*i + j, and nothing else.
// CHECK-LABEL: func.func @index
// CHECK-SAME:    (%[[I:.*]]: i32, %[[J:.*]]: i32, %[[M:.*]]: i32) -> i32
// CHECK-NEXT:    %[[C:.*]] = arith.constant 64 : i32
// CHECK-NEXT:    %[[P:.*]] = arith.muli %[[I]], %[[C]]
// CHECK-NEXT:    %[[R:.*]] = arith.addi %[[P]], %[[J]]
// CHECK-NEXT:    return %[[R]] : i32
func.func @index(%i: i32, %j: i32, %m: i32) -> i32 {
  %c = cute.make_coord(%i, %j) : (i32, i32) -> !cute.coord<"(?,?)">
  %s = cute.make_shape(%m) : (i32) -> !cute.shape<"(?,64)">
  %d = cute.make_stride() : () -> !cute.stride<"(64,1)">
  %l = cute.make_layout(%s, %d) : (!cute.shape<"(?,64)">, !cute.stride<"(64,1)">) -> !cute.layout<"(?,64):(64,1)">
  %x = cute.layout_eval(%c, %l) : (!cute.coord<"(?,?)">, !cute.layout<"(?,64):(64,1)">) -> !cute.int_tuple<"?">
  %r = cute.get_scalars<{only_dynamic}> (%x) : !cute.int_tuple<"?">
  return %r : i32
}
