// RUN: cute-opt %s | FileCheck %s
// RUN: cute-opt %s -o %t && cute-opt %t | FileCheck %s

// Operands may be literals: operations that make them stand behind the last definition of a value that is used.

// CHECK-LABEL: func.func @constructors(
// CHECK-SAME: %[[M:[^:]*]]: i32, %[[N:[^:]*]]: i64, %[[T:[^:]*]]:
func.func @constructors(%m: i32, %n: i64, %t: !cute.int_tuple<"(?,(4,?{i64 div=8}))">) {
  // CHECK-NEXT: %[[P:.*]]:3 = cute.get_leaves(%[[T]])
  // CHECK-NEXT: cute.make_shape(%[[M]]) : (i32) -> !cute.shape<"(4,?)">
  %0 = cute.make_shape(4, %m)
  // CHECK-NEXT: cute.make_shape(%[[M]], %[[N]]) : (i32, i64) -> !cute.shape<"(?,(2,?{i64}))">
  %1 = cute.make_shape(%m, (2, %n))
  // CHECK-NEXT: cute.make_shape(%[[N]]) : (i64) -> !cute.shape<"(4,?{i64})">
  %2 = cute.make_shape((4, %n))
  // CHECK-NEXT: cute.make_shape(%[[M]]) : (i32) -> !cute.shape<"?">
  %3 = cute.make_shape(%m)
  // CHECK-NEXT: cute.make_shape(%[[M]]) : (i32) -> !cute.shape<"(?)">
  %4 = cute.make_shape((%m))
  // CHECK-NEXT: cute.make_coord(%[[M]]) : (i32) -> !cute.coord<"(?,_)">
  %5 = cute.make_coord(%m, _)
  // CHECK-NEXT: cute.static : !cute.coord<"_">
  %6 = cute.make_coord(_)
  // CHECK-NEXT: cute.make_coord(%[[P]]#0, %[[P]]#2) : (!cute.int_tuple<"?">, !cute.int_tuple<"?{i64 div=8}">) -> !cute.coord<"(-3,(?,(4,?{i64 div=8})))">
  %7 = cute.make_coord(-3, %t)
  // CHECK-NEXT: cute.make_stride(%[[M]]) : (i32) -> !cute.stride<"(1,?)">
  %8 = cute.make_stride 1, %m
  // CHECK-NEXT: cute.make_tile(%[[M]]) : (i32) -> !cute.tile<"[?:1;8:1;_;(4,2):(2,1)]">
  %9 = cute.make_tile(%m, 8, _, "(4,2):(2,1)")
  // CHECK-NEXT: cute.static : !cute.int_tuple<"(1,2)">
  %10 = cute.make_int_tuple(1, 2)
  // CHECK-NEXT: cute.make_shape(%[[M]]) : (i32) -> !cute.shape<"(?,4)">
  %11 = cute.make_shape(%m, 4) : !cute.shape<"(?,4)">
  // CHECK-NEXT: cute.static : !cute.layout<"(4,8):(8,1)">
  %12 = cute.static "(4,8):(8,1)"
  // CHECK-NEXT: cute.static : !cute.swizzle<"S<3,4,3>">
  %13 = cute.static "S<3,4,3>"
  return
}

// CHECK-LABEL: func.func @layouts(
// CHECK-SAME: %[[N:[^:]*]]: i32
func.func @layouts(%n: i32) {
  // CHECK-NEXT: %[[S1:.*]] = cute.make_shape(%[[N]]) : (i32) -> !cute.shape<"(128,?)">
  // CHECK-NEXT: %[[D1:.*]] = cute.static : !cute.stride<"(1,128)">
  // CHECK-NEXT: %[[S0:.*]] = cute.make_shape(%[[N]]) : (i32) -> !cute.shape<"(4,?)">
  // CHECK-NEXT: %[[D0:.*]] = cute.make_stride(%[[N]]) : (i32) -> !cute.stride<"(?,1)">
  // CHECK-NEXT: cute.make_layout(%[[S0]], %[[D0]])
  %0 = cute.make_layout((4, %n), (%n, 1))
  // CHECK-NEXT: cute.make_layout(%[[S1]], %[[D1]])
  %1 = cute.make_layout (128, %n), (1, 128)
  // CHECK-NEXT: cute.static : !cute.layout<"(128,64):(1,128)">
  %2 = cute.make_layout (128, 64), (1, 128)
  // CHECK-NEXT: cute.static : !cute.int_tuple<"32">
  %3 = cute.size "(4,8):(8,1)"
  return
}

// CHECK-LABEL: func.func @operands(
// CHECK-SAME: %[[L:[^:]*]]: !cute.layout<"(4,?):(1,?)">, %[[T:[^:]*]]:
func.func @operands(%l: !cute.layout<"(4,?):(1,?)">, %t: !cute.int_tuple<"(1,?)">, %s: !cute.shape<"?">) {
  // CHECK-NEXT: %[[C:.*]] = cute.to_coord(%[[T]])
  // CHECK-NEXT: %[[FOUR:.*]] = cute.static : !cute.shape<"4">
  // CHECK-NEXT: %[[B:.*]] = cute.static : !cute.layout<"(4,2):(2,1)">
  // CHECK-NEXT: %[[A:.*]] = cute.static : !cute.shape<"2">
  // CHECK-NEXT: %[[Z:.*]] = cute.static : !cute.tile<"[2:1;_]">
  // CHECK-NEXT: %[[Y:.*]] = cute.static : !cute.tile<"[2:1;8:1]">
  // CHECK-NEXT: cute.zipped_divide(%[[L]], %[[Y]])
  %0 = cute.zipped_divide(%l, (2, 8))
  // CHECK-NEXT: cute.logical_divide(%[[L]], %[[Z]])
  %1 = cute.logical_divide(%l, "[2:1;_]")
  // CHECK-NEXT: cute.logical_divide(%[[L]], %[[A]])
  %2 = cute.logical_divide(%l, 2)
  // CHECK-NEXT: cute.composition(%[[L]], %[[B]])
  %3 = cute.composition(%l, "(4,2):(2,1)")
  // CHECK-NEXT: cute.tuple_add(%{{.*}}, %[[FOUR]]) : (!cute.shape<"?">, !cute.shape<"4">) -> !cute.shape<"?">
  %4 = cute.tuple_add(%s, 4)
  // CHECK-NEXT: cute.layout_eval(%[[C]], %[[L]])
  %5 = cute.layout_eval %t, %l
  return
}

// CHECK-LABEL: func.func @nested(
// CHECK-SAME: %[[L:[^:]*]]: !cute.layout<"(4,?):(1,?)">, %[[N:[^:]*]]: i32
func.func @nested(%l: !cute.layout<"(4,?):(1,?)">, %n: i32, %m: i32) {
  // CHECK: scf.for %[[J:.*]] = %[[N]] to
  scf.for %j = %n to %n step %n : i32 {
    // CHECK-NEXT: %[[K:.*]] = arith.addi %[[J]], %[[N]]
    %k = arith.addi %j, %n : i32
    // CHECK-NEXT: %[[C:.*]] = cute.make_coord(%[[N]], %[[K]]) : (i32, i32) -> !cute.coord<"(?,?)">
    // CHECK-NEXT: arith.addi %[[K]]
    %o = arith.addi %k, %n : i32
    // CHECK-NEXT: cute.layout_eval(%[[C]], %[[L]])
    %0 = cute.layout_eval((%n, %k), %l)
    scf.yield
  }
  return
}

// CHECK-LABEL: func.func @blocks(
// CHECK-SAME: %[[L:[^:]*]]: !cute.layout<"(4,?):(1,?)">, %[[N:[^:]*]]: i32
func.func @blocks(%l: !cute.layout<"(4,?):(1,?)">, %n: i32) {
  // CHECK: %[[K:.*]] = arith.addi
  %k = arith.addi %n, %n : i32
  cf.br ^a(%k : i32)
^a(%p: i32):
  // CHECK: ^bb1(%[[P:.*]]: i32):
  // CHECK-NEXT: %[[C:.*]] = cute.make_coord(%[[P]], %[[K]])
  // CHECK-NEXT: cute.layout_eval(%[[C]], %[[L]])
  %1 = cute.layout_eval((%p, %k), %l)
  return
}
