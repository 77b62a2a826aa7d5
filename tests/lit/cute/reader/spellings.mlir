// RUN: cute-opt %s | FileCheck %s
// RUN: cute-opt %s -o %t && cute-opt %t | FileCheck %s

// Operations that are written otherwise elsewhere are those of the dialect.

// CHECK-LABEL: func.func @other_spellings(
// CHECK-SAME: %[[A0:[^:]*]]:{{[^%]*}}%[[A1:[^:]*]]:{{[^%]*}}%[[A2:[^:]*]]:{{[^%]*}}%[[A3:[^:]*]]:{{[^%]*}}%[[A4:[^:]*]]:{{[^%]*}}%[[A5:[^:]*]]:{{[^%]*}}%[[A6:[^:]*]]:{{[^%]*}}
func.func @other_spellings(%s: !cute.shape<2>, %st: !cute.stride<2>, %M: i32, %N: i32, %K: i32, %c: !cute.coord<2>, %sl: !cute.layout<"(8,64):(64,1)">) {
  %layout = cute.make_layout %s, %st
  %l1 = cute.make_layout %s : !cute.shape<2>, %st : !cute.stride<2>
  %l2 = cute.make_layout (!cute.shape<"(4,8)">), (!cute.stride<"(1,4)">)
  %l3 = cute.make_layout %M, %N, %K
  %size = cute.size %layout
  %rank = cute.rank %layout
  %flat = cute.flatten %layout
  %a = cute.make_layout (4, %N), (1, 4)
  %comp = cute.composition %a, "2:1"
  %sw = cute.static "S<3,4,3>"
  %comp2 = cute.composition %sw, %sl
  %idx = cute.crd2idx %c, (4, 8)
  %s0 = cute.shape %layout, 0
  %s1 = cute.shape %layout
  %d0 = cute.stride %layout, 1
  %c0 = cute.coord %c, 1
  %t = cute.tile %layout, 16, %M
  %p = cute.local_partition %t, %M
  %pp = cute.partition %l2, (2, 2)
  %f = cute.fused_partition_flatten_compose %l2, (2, 2), "4:1"
  %smem = cute.swizzle %sl, !cute.swizzle<"S<3,4,3>">
  // CHECK-NEXT: %[[V0:.*]] = cute.static : !cute.swizzle<"S<3,4,3>">
  // CHECK-NEXT: %[[V1:.*]] = cute.static : !cute.int_tuple<"0">
  // CHECK-NEXT: %[[V2:.*]] = cute.static : !cute.shape<"(4,8)">
  // CHECK-NEXT: %[[V3:.*]] = cute.make_shape(%[[A3]]) : (i32) -> !cute.shape<"(4,?)">
  // CHECK-NEXT: %[[V4:.*]] = cute.static : !cute.stride<"(1,4)">
  // CHECK-NEXT: %[[V5:.*]] = cute.make_shape(%[[A2]], %[[A3]], %[[A4]]) : (i32, i32, i32) -> !cute.shape<"(?,?,?)">
  // CHECK-NEXT: %[[V6:.*]] = cute.make_layout(%[[A0]], %[[A1]]) : (!cute.shape<"(?,?)">, !cute.stride<"(?,?)">) -> !cute.layout<"(?,?):(?,?)">
  // CHECK-NEXT: %[[V7:.*]] = cute.make_tile(%[[A2]]) : (i32) -> !cute.tile<"[16:1;?:1]">
  // CHECK-NEXT: %[[V8:.*]] = cute.get_stride(%[[V6]]) : <"(?,?):(?,?)"> -> !cute.stride<"(?,?)">
  // CHECK-NEXT: %[[V9:.*]] = cute.get_shape(%[[V6]]) : !cute.layout<"(?,?):(?,?)"> -> !cute.shape<"(?,?)">
  // CHECK-NEXT: %[[V10:.*]] = cute.make_layout(%[[A0]], %[[A1]]) : (!cute.shape<"(?,?)">, !cute.stride<"(?,?)">) -> !cute.layout<"(?,?):(?,?)">
  // CHECK-NEXT: %[[V11:.*]] = cute.static : !cute.layout<"(4,8):(1,4)">
  // CHECK-NEXT: %[[V12:.*]] = cute.static : !cute.tile<"[2:1;2:1]">
  // CHECK-NEXT: %[[V13:.*]] = cute.zipped_divide(%[[V11]], %[[V12]]) : (!cute.layout<"(4,8):(1,4)">, !cute.tile<"[2:1;2:1]">) -> !cute.layout<"((2,2),(2,4)):((1,4),(2,8))">
  // CHECK-NEXT: %[[V14:.*]] = cute.flatten(%[[V13]]) : (!cute.layout<"((2,2),(2,4)):((1,4),(2,8))">) -> !cute.layout<"(2,2,2,4):(1,4,2,8)">
  // CHECK-NEXT: %[[V15:.*]] = cute.static : !cute.layout<"4:1">
  // CHECK-NEXT: %[[V16:.*]] = cute.static : !cute.tile<"[2:1;2:1]">
  // CHECK-NEXT: %[[V17:.*]] = cute.make_layout(%[[V5]]) : (!cute.shape<"(?,?,?)">) -> !cute.layout<"(?,?,?):(1,?,?)">
  // CHECK-NEXT: %[[V18:.*]] = cute.size (%[[V6]]) : (!cute.layout<"(?,?):(?,?)">) -> !cute.int_tuple<"?">
  // CHECK-NEXT: %[[V19:.*]] = cute.static : !cute.int_tuple<"2">
  // CHECK-NEXT: %[[V20:.*]] = cute.flatten(%[[V6]]) : (!cute.layout<"(?,?):(?,?)">) -> !cute.layout<"(?,?):(?,?)">
  // CHECK-NEXT: %[[V21:.*]] = cute.make_layout(%[[V3]], %[[V4]]) : (!cute.shape<"(4,?)">, !cute.stride<"(1,4)">) -> !cute.layout<"(4,?):(1,4)">
  // CHECK-NEXT: %[[V22:.*]] = cute.static : !cute.layout<"2:1">
  // CHECK-NEXT: %[[V23:.*]] = cute.composition(%[[V21]], %[[V22]]) : (!cute.layout<"(4,?):(1,4)">, !cute.layout<"2:1">) -> !cute.layout<"2:1">
  // CHECK-NEXT: %[[V24:.*]] = cute.static : !cute.swizzle<"S<3,4,3>">
  // CHECK-NEXT: %[[V25:.*]] = cute.static : !cute.int_tuple<"0">
  // CHECK-NEXT: %[[V26:.*]] = cute.make_composed_layout(%[[V24]], %[[V25]], %[[A6]]) : (!cute.swizzle<"S<3,4,3>">, <"0">, <"(8,64):(64,1)">) -> <"S<3,4,3> o 0 o (8,64):(64,1)">
  // CHECK-NEXT: %[[V27:.*]] = cute.crd2idx(%[[A5]], %[[V2]]) : (!cute.coord<"(?,?)">, !cute.shape<"(4,8)">) -> !cute.int_tuple<"?">
  // CHECK-NEXT: %[[V28:.*]] = cute.get<[0]> (%[[V9]]) : !cute.shape<"(?,?)"> -> !cute.shape<"?">
  // CHECK-NEXT: %[[V29:.*]] = cute.get_shape(%[[V6]]) : !cute.layout<"(?,?):(?,?)"> -> !cute.shape<"(?,?)">
  // CHECK-NEXT: %[[V30:.*]] = cute.get<[1]> (%[[V8]]) : !cute.stride<"(?,?)"> -> !cute.stride<"?">
  // CHECK-NEXT: %[[V31:.*]] = cute.get<[1]> (%[[A5]]) : !cute.coord<"(?,?)"> -> !cute.coord<"?">
  // CHECK-NEXT: %[[V32:.*]] = cute.zipped_divide(%[[V6]], %[[V7]]) : (!cute.layout<"(?,?):(?,?)">, !cute.tile<"[16:1;?:1]">) -> !cute.layout<"((16,?),(?,?)):((?,?),(?,?))">
  // CHECK-NEXT: %[[V33:.*]] = cute.make_coord(%[[A2]]) : (i32) -> !cute.coord<"(_,?)">
  // CHECK-NEXT: %[[V34:.*]] = cute.slice(%[[V32]], %[[V33]]) : !cute.layout<"((16,?),(?,?)):((?,?),(?,?))">, !cute.coord<"(_,?)">
  // CHECK-NEXT: %[[V35:.*]] = cute.zipped_divide(%[[V11]], %[[V16]]) : (!cute.layout<"(4,8):(1,4)">, !cute.tile<"[2:1;2:1]">) -> !cute.layout<"((2,2),(2,4)):((1,4),(2,8))">
  // CHECK-NEXT: %[[V36:.*]] = cute.composition(%[[V14]], %[[V15]]) : (!cute.layout<"(2,2,2,4):(1,4,2,8)">, !cute.layout<"4:1">) -> !cute.layout<"(2,2):(1,4)">
  // CHECK-NEXT: %[[V37:.*]] = cute.make_composed_layout(%[[V0]], %[[V1]], %[[A6]]) : (!cute.swizzle<"S<3,4,3>">, <"0">, <"(8,64):(64,1)">) -> <"S<3,4,3> o 0 o (8,64):(64,1)">
  return
}

// An element of a tensor of coordinates is a coordinate.
// CHECK-LABEL: func.func @coordinate(
// CHECK: %[[S:.*]] = cute.slice(%{{.*}}, %{{.*}}) : !cute.coord_tensor<"(?{div=4},0)", "(4,8):(1@0,1@1)">, !cute.coord<"(?,3)">
// CHECK: %[[I:.*]] = cute.get_iter(%[[S]]) : (!cute.coord_tensor<"(?,3)", "():()">) -> !cute.arith_tuple_iter<"(?,3)">
// CHECK: cute.deref_arith_tuple_iter(%[[I]]) : (!cute.arith_tuple_iter<"(?,3)">) -> !cute.int_tuple<"(?,3)">
func.func @coordinate(%c: !cute.coord_tensor<"(?{div=4},0)", "(4,8):(1@0,1@1)">, %i: i32) {
  %x = cute.load %c[%i, 3]
  return
}
