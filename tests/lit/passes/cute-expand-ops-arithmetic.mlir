// RUN: cute-opt %s -cute-expand-ops | FileCheck %s

// The arithmetic that each operation becomes, in the order in which it is computed. What a type says is folded; nothing is
// shared. The values are computed in cute-expand-ops-run.mlir.

// The product of the unknown extents and 4, in order.
// CHECK-LABEL: func.func @size(
// CHECK-SAME:  %[[A:.*]]: !cute.shape<"(?,4,?)">
// CHECK-NEXT:  %[[V0:.*]]:2 = cute.get_scalars<{only_dynamic}> (%[[A]]) : !cute.shape<"(?,4,?)">
// CHECK-NEXT:  %[[V1:.*]] = arith.constant 4 : i32
// CHECK-NEXT:  %[[V2:.*]] = arith.muli %[[V0]]#0, %[[V1]] overflow<nsw> : i32
// CHECK-NEXT:  %[[V3:.*]] = arith.muli %[[V2]], %[[V0]]#1 overflow<nsw> : i32
// CHECK-NEXT:  %[[V4:.*]] = cute.make_int_tuple(%[[V3]]) : (i32) -> !cute.int_tuple<"?">
// CHECK-NEXT:  return %[[V4]] : !cute.int_tuple<"?">
func.func @size(%a: !cute.shape<"(?,4,?)">) -> !cute.int_tuple<"?"> {
  %r = cute.size(%a) : (!cute.shape<"(?,4,?)">) -> !cute.int_tuple<"?">
  return %r : !cute.int_tuple<"?">
}

// What is narrower is extended where it is used.
// CHECK-LABEL: func.func @size_mixed_widths(
// CHECK-SAME:  %[[A:.*]]: !cute.shape<"(?,?{i64})">
// CHECK-NEXT:  %[[V0:.*]]:2 = cute.get_scalars<{only_dynamic}> (%[[A]]) : !cute.shape<"(?,?{i64})">
// CHECK-NEXT:  %[[V1:.*]] = arith.extsi %[[V0]]#0 : i32 to i64
// CHECK-NEXT:  %[[V2:.*]] = arith.muli %[[V1]], %[[V0]]#1 overflow<nsw> : i64
// CHECK-NEXT:  %[[V3:.*]] = cute.make_int_tuple(%[[V2]]) : (i64) -> !cute.int_tuple<"?{i64}">
// CHECK-NEXT:  return %[[V3]] : !cute.int_tuple<"?{i64}">
func.func @size_mixed_widths(%a: !cute.shape<"(?,?{i64})">) -> !cute.int_tuple<"?{i64}"> {
  %r = cute.size(%a) : (!cute.shape<"(?,?{i64})">) -> !cute.int_tuple<"?{i64}">
  return %r : !cute.int_tuple<"?{i64}">
}

// 1 + (4-1)*1 + (8-1)*?: what is known is folded.
// CHECK-LABEL: func.func @cosize(
// CHECK-SAME:  %[[A:.*]]: !cute.layout<"(4,8):(1,?)">
// CHECK-NEXT:  %[[V0:.*]] = cute.get_scalars<{only_dynamic}> (%[[A]]) : !cute.layout<"(4,8):(1,?)">
// CHECK-NEXT:  %[[V1:.*]] = math.absi %[[V0]] : i32
// CHECK-NEXT:  %[[V2:.*]] = arith.constant 7 : i32
// CHECK-NEXT:  %[[V3:.*]] = arith.muli %[[V1]], %[[V2]] overflow<nsw> : i32
// CHECK-NEXT:  %[[V4:.*]] = arith.constant 3 : i32
// CHECK-NEXT:  %[[V5:.*]] = arith.addi %[[V4]], %[[V3]] overflow<nsw> : i32
// CHECK-NEXT:  %[[V6:.*]] = arith.constant 1 : i32
// CHECK-NEXT:  %[[V7:.*]] = arith.addi %[[V5]], %[[V6]] overflow<nsw> : i32
// CHECK-NEXT:  %[[V8:.*]] = cute.make_int_tuple(%[[V7]]) : (i32) -> !cute.int_tuple<"?">
// CHECK-NEXT:  return %[[V8]] : !cute.int_tuple<"?">
func.func @cosize(%a: !cute.layout<"(4,8):(1,?)">) -> !cute.int_tuple<"?"> {
  %r = cute.cosize(%a) : (!cute.layout<"(4,8):(1,?)">) -> !cute.int_tuple<"?">
  return %r : !cute.int_tuple<"?">
}

// One product for mode 0; mode 1 is known.
// CHECK-LABEL: func.func @product_each(
// CHECK-SAME:  %[[A:.*]]: !cute.int_tuple<"((2,?),(3,4))">
// CHECK-NEXT:  %[[V0:.*]] = cute.get_scalars<{only_dynamic}> (%[[A]]) : !cute.int_tuple<"((2,?),(3,4))">
// CHECK-NEXT:  %[[V1:.*]] = arith.constant 2 : i32
// CHECK-NEXT:  %[[V2:.*]] = arith.muli %[[V0]], %[[V1]] overflow<nsw> : i32
// CHECK-NEXT:  %[[V3:.*]] = cute.make_int_tuple(%[[V2]]) : (i32) -> !cute.int_tuple<"(?,12)">
// CHECK-NEXT:  return %[[V3]] : !cute.int_tuple<"(?,12)">
func.func @product_each(%a: !cute.int_tuple<"((2,?),(3,4))">) -> !cute.int_tuple<"(?,12)"> {
  %r = cute.tuple_product_each(%a) : (!cute.int_tuple<"((2,?),(3,4))">) -> !cute.int_tuple<"(?,12)">
  return %r : !cute.int_tuple<"(?,12)">
}

// c0 + 4*c1
// CHECK-LABEL: func.func @crd2idx(
// CHECK-SAME:  %[[A:.*]]: !cute.coord<"(?,?)">, %[[B:.*]]: !cute.shape<"(4,8)">
// CHECK-NEXT:  %[[V0:.*]]:2 = cute.get_scalars<{only_dynamic}> (%[[A]]) : !cute.coord<"(?,?)">
// CHECK-NEXT:  %[[V1:.*]] = arith.constant 4 : i32
// CHECK-NEXT:  %[[V2:.*]] = arith.muli %[[V0]]#1, %[[V1]] overflow<nsw> : i32
// CHECK-NEXT:  %[[V3:.*]] = arith.addi %[[V0]]#0, %[[V2]] overflow<nsw> : i32
// CHECK-NEXT:  %[[V4:.*]] = cute.make_int_tuple(%[[V3]]) : (i32) -> !cute.int_tuple<"?">
// CHECK-NEXT:  return %[[V4]] : !cute.int_tuple<"?">
func.func @crd2idx(%c: !cute.coord<"(?,?)">, %s: !cute.shape<"(4,8)">) -> !cute.int_tuple<"?"> {
  %r = cute.crd2idx(%c, %s) : (!cute.coord<"(?,?)">, !cute.shape<"(4,8)">) -> !cute.int_tuple<"?">
  return %r : !cute.int_tuple<"?">
}

// i % 4 and i / 4: the last mode is not reduced.
// CHECK-LABEL: func.func @idx2crd(
// CHECK-SAME:  %[[A:.*]]: !cute.int_tuple<"?">, %[[B:.*]]: !cute.shape<"(4,8)">
// CHECK-NEXT:  %[[V0:.*]] = cute.get_scalars<{only_dynamic}> (%[[A]]) : !cute.int_tuple<"?">
// CHECK-NEXT:  %[[V1:.*]] = arith.constant 4 : i32
// CHECK-NEXT:  %[[V2:.*]] = arith.divsi %[[V0]], %[[V1]] : i32
// CHECK-NEXT:  %[[V3:.*]] = arith.constant 4 : i32
// CHECK-NEXT:  %[[V4:.*]] = arith.remsi %[[V0]], %[[V3]] : i32
// CHECK-NEXT:  %[[V5:.*]] = cute.make_coord(%[[V4]], %[[V2]]) : (i32, i32) -> !cute.coord<"(?,?)">
// CHECK-NEXT:  return %[[V5]] : !cute.coord<"(?,?)">
func.func @idx2crd(%i: !cute.int_tuple<"?">, %s: !cute.shape<"(4,8)">) -> !cute.coord<"(?,?)"> {
  %r = cute.idx2crd(%i, %s) : (!cute.int_tuple<"?">, !cute.shape<"(4,8)">) -> !cute.coord<"(?,?)">
  return %r : !cute.coord<"(?,?)">
}

// Only the first extent divides.
// CHECK-LABEL: func.func @idx2crd_unknown_extents(
// CHECK-SAME:  %[[A:.*]]: !cute.int_tuple<"?">, %[[B:.*]]: !cute.shape<"(?,?)">
// CHECK-NEXT:  %[[V0:.*]] = cute.get_scalars<{only_dynamic}> (%[[A]]) : !cute.int_tuple<"?">
// CHECK-NEXT:  %[[V1:.*]]:2 = cute.get_scalars<{only_dynamic}> (%[[B]]) : !cute.shape<"(?,?)">
// CHECK-NEXT:  %[[V2:.*]] = arith.divsi %[[V0]], %[[V1]]#0 : i32
// CHECK-NEXT:  %[[V3:.*]] = arith.remsi %[[V0]], %[[V1]]#0 : i32
// CHECK-NEXT:  %[[V4:.*]] = cute.make_coord(%[[V3]], %[[V2]]) : (i32, i32) -> !cute.coord<"(?,?)">
// CHECK-NEXT:  return %[[V4]] : !cute.coord<"(?,?)">
func.func @idx2crd_unknown_extents(%i: !cute.int_tuple<"?">, %s: !cute.shape<"(?,?)">) -> !cute.coord<"(?,?)"> {
  %r = cute.idx2crd(%i, %s) : (!cute.int_tuple<"?">, !cute.shape<"(?,?)">) -> !cute.coord<"(?,?)">
  return %r : !cute.coord<"(?,?)">
}

// c0 + 1 < 4 ? c0 + 1 : 0, and c1 + (c0 + 1 < 4 ? 0 : 1).
// CHECK-LABEL: func.func @increment(
// CHECK-SAME:  %[[A:.*]]: !cute.coord<"(?,?)">, %[[B:.*]]: !cute.shape<"(4,8)">
// CHECK-NEXT:  %[[V0:.*]]:2 = cute.get_scalars<{only_dynamic}> (%[[A]]) : !cute.coord<"(?,?)">
// CHECK-NEXT:  %[[V1:.*]] = arith.constant 1 : i32
// CHECK-NEXT:  %[[V2:.*]] = arith.addi %[[V0]]#0, %[[V1]] overflow<nsw> : i32
// CHECK-NEXT:  %[[V3:.*]] = arith.constant 4 : i32
// CHECK-NEXT:  %[[V4:.*]] = arith.cmpi slt, %[[V2]], %[[V3]] : i32
// CHECK-NEXT:  %[[V5:.*]] = scf.if %[[V4]] -> (i32) {
// CHECK-NEXT:  scf.yield %[[V2]] : i32
// CHECK-NEXT:  } else {
// CHECK-NEXT:  %[[V6:.*]] = arith.constant 0 : i32
// CHECK-NEXT:  scf.yield %[[V6]] : i32
// CHECK-NEXT:  }
// CHECK-NEXT:  %[[V7:.*]] = arith.constant 4 : i32
// CHECK-NEXT:  %[[V8:.*]] = arith.cmpi slt, %[[V2]], %[[V7]] : i32
// CHECK-NEXT:  %[[V9:.*]] = scf.if %[[V8]] -> (i32) {
// CHECK-NEXT:  %[[V10:.*]] = arith.constant 0 : i32
// CHECK-NEXT:  scf.yield %[[V10]] : i32
// CHECK-NEXT:  } else {
// CHECK-NEXT:  %[[V11:.*]] = arith.constant 1 : i32
// CHECK-NEXT:  scf.yield %[[V11]] : i32
// CHECK-NEXT:  }
// CHECK-NEXT:  %[[V12:.*]] = arith.addi %[[V0]]#1, %[[V9]] overflow<nsw> : i32
// CHECK-NEXT:  %[[V13:.*]] = cute.make_coord(%[[V5]], %[[V12]]) : (i32, i32) -> !cute.coord<"(?,?)">
// CHECK-NEXT:  return %[[V13]] : !cute.coord<"(?,?)">
func.func @increment(%c: !cute.coord<"(?,?)">, %s: !cute.shape<"(4,8)">) -> !cute.coord<"(?,?)"> {
  %r = cute.increment_coord(%c, %s) : (!cute.coord<"(?,?)">, !cute.shape<"(4,8)">) -> !cute.coord<"(?,?)">
  return %r : !cute.coord<"(?,?)">
}

// 0 + x is x.
// CHECK-LABEL: func.func @add(
// CHECK-SAME:  %[[A:.*]]: !cute.int_tuple<"(?,0,3)">, %[[B:.*]]: !cute.int_tuple<"(1,?,4)">
// CHECK-NEXT:  %[[V0:.*]] = cute.get_scalars<{only_dynamic}> (%[[A]]) : !cute.int_tuple<"(?,0,3)">
// CHECK-NEXT:  %[[V1:.*]] = cute.get_scalars<{only_dynamic}> (%[[B]]) : !cute.int_tuple<"(1,?,4)">
// CHECK-NEXT:  %[[V2:.*]] = arith.constant 1 : i32
// CHECK-NEXT:  %[[V3:.*]] = arith.addi %[[V0]], %[[V2]] overflow<nsw> : i32
// CHECK-NEXT:  %[[V4:.*]] = cute.make_int_tuple(%[[V3]], %[[V1]]) : (i32, i32) -> !cute.int_tuple<"(?,?,7)">
// CHECK-NEXT:  return %[[V4]] : !cute.int_tuple<"(?,?,7)">
func.func @add(%a: !cute.int_tuple<"(?,0,3)">, %b: !cute.int_tuple<"(1,?,4)">) -> !cute.int_tuple<"(?,?,7)"> {
  %r = cute.tuple_add(%a, %b) : (!cute.int_tuple<"(?,0,3)">, !cute.int_tuple<"(1,?,4)">) -> !cute.int_tuple<"(?,?,7)">
  return %r : !cute.int_tuple<"(?,?,7)">
}

// CHECK-LABEL: func.func @sub(
// CHECK-SAME:  %[[A:.*]]: !cute.int_tuple<"(?,?{i64})">, %[[B:.*]]: !cute.int_tuple<"(1,?)">
// CHECK-NEXT:  %[[V0:.*]]:2 = cute.get_scalars<{only_dynamic}> (%[[A]]) : !cute.int_tuple<"(?,?{i64})">
// CHECK-NEXT:  %[[V1:.*]] = cute.get_scalars<{only_dynamic}> (%[[B]]) : !cute.int_tuple<"(1,?)">
// CHECK-NEXT:  %[[V2:.*]] = arith.constant 1 : i32
// CHECK-NEXT:  %[[V3:.*]] = arith.subi %[[V0]]#0, %[[V2]] overflow<nsw> : i32
// CHECK-NEXT:  %[[V4:.*]] = arith.extsi %[[V1]] : i32 to i64
// CHECK-NEXT:  %[[V5:.*]] = arith.subi %[[V0]]#1, %[[V4]] overflow<nsw> : i64
// CHECK-NEXT:  %[[V6:.*]] = cute.make_int_tuple(%[[V3]], %[[V5]]) : (i32, i64) -> !cute.int_tuple<"(?,?{i64})">
// CHECK-NEXT:  return %[[V6]] : !cute.int_tuple<"(?,?{i64})">
func.func @sub(%a: !cute.int_tuple<"(?,?{i64})">, %b: !cute.int_tuple<"(1,?)">) -> !cute.int_tuple<"(?,?{i64})"> {
  %r = cute.tuple_sub(%a, %b) : (!cute.int_tuple<"(?,?{i64})">, !cute.int_tuple<"(1,?)">) -> !cute.int_tuple<"(?,?{i64})">
  return %r : !cute.int_tuple<"(?,?{i64})">
}

// a / b, but where that is 0 (b is larger) the product of the signs.
// CHECK-LABEL: func.func @shape_div(
// CHECK-SAME:  %[[A:.*]]: !cute.shape<"?">, %[[B:.*]]: !cute.shape<"4">
// CHECK-NEXT:  %[[V0:.*]] = cute.get_scalars<{only_dynamic}> (%[[A]]) : !cute.shape<"?">
// CHECK-NEXT:  %[[V1:.*]] = arith.constant 4 : i32
// CHECK-NEXT:  %[[V2:.*]] = arith.divsi %[[V0]], %[[V1]] : i32
// CHECK-NEXT:  %[[V3:.*]] = arith.constant 0 : i32
// CHECK-NEXT:  %[[V4:.*]] = arith.cmpi ne, %[[V2]], %[[V3]] : i32
// CHECK-NEXT:  %[[V5:.*]] = scf.if %[[V4]] -> (i32) {
// CHECK-NEXT:  scf.yield %[[V2]] : i32
// CHECK-NEXT:  } else {
// CHECK-NEXT:  %[[V6:.*]] = arith.constant 0 : i32
// CHECK-NEXT:  %[[V7:.*]] = arith.cmpi sgt, %[[V0]], %[[V6]] : i32
// CHECK-NEXT:  %[[V8:.*]] = scf.if %[[V7]] -> (i32) {
// CHECK-NEXT:  %[[V9:.*]] = arith.constant 1 : i32
// CHECK-NEXT:  scf.yield %[[V9]] : i32
// CHECK-NEXT:  } else {
// CHECK-NEXT:  %[[V10:.*]] = arith.constant 0 : i32
// CHECK-NEXT:  %[[V11:.*]] = arith.cmpi eq, %[[V0]], %[[V10]] : i32
// CHECK-NEXT:  %[[V12:.*]] = scf.if %[[V11]] -> (i32) {
// CHECK-NEXT:  %[[V13:.*]] = arith.constant 0 : i32
// CHECK-NEXT:  scf.yield %[[V13]] : i32
// CHECK-NEXT:  } else {
// CHECK-NEXT:  %[[V14:.*]] = arith.constant -1 : i32
// CHECK-NEXT:  scf.yield %[[V14]] : i32
// CHECK-NEXT:  }
// CHECK-NEXT:  scf.yield %[[V12]] : i32
// CHECK-NEXT:  }
// CHECK-NEXT:  scf.yield %[[V8]] : i32
// CHECK-NEXT:  }
// CHECK-NEXT:  %[[V15:.*]] = cute.make_shape(%[[V5]]) : (i32) -> !cute.shape<"?">
// CHECK-NEXT:  return %[[V15]] : !cute.shape<"?">
func.func @shape_div(%a: !cute.shape<"?">, %b: !cute.shape<"4">) -> !cute.shape<"?"> {
  %r = cute.shape_div(%a, %b) : (!cute.shape<"?">, !cute.shape<"4">) -> !cute.shape<"?">
  return %r : !cute.shape<"?">
}

// CHECK-LABEL: func.func @ceil_div(
// CHECK-SAME:  %[[A:.*]]: !cute.shape<"(?,10)">, %[[B:.*]]: !cute.shape<"(128,4)">
// CHECK-NEXT:  %[[V0:.*]] = cute.get_scalars<{only_dynamic}> (%[[A]]) : !cute.shape<"(?,10)">
// CHECK-NEXT:  %[[V1:.*]] = arith.constant 128 : i32
// CHECK-NEXT:  %[[V2:.*]] = arith.ceildivsi %[[V0]], %[[V1]] : i32
// CHECK-NEXT:  %[[V3:.*]] = cute.make_shape(%[[V2]]) : (i32) -> !cute.shape<"(?,3)">
// CHECK-NEXT:  return %[[V3]] : !cute.shape<"(?,3)">
func.func @ceil_div(%a: !cute.shape<"(?,10)">, %b: !cute.shape<"(128,4)">) -> !cute.shape<"(?,3)"> {
  %r = cute.ceil_div(%a, %b) : (!cute.shape<"(?,10)">, !cute.shape<"(128,4)">) -> !cute.shape<"(?,3)">
  return %r : !cute.shape<"(?,3)">
}

// Each pair of leaves, joined by and.
// CHECK-LABEL: func.func @elem_less(
// CHECK-SAME:  %[[A:.*]]: !cute.coord<"(?,3)">, %[[B:.*]]: !cute.shape<"(?,8)">
// CHECK-NEXT:  %[[V0:.*]]:2 = cute.get_scalars (%[[A]]) : !cute.coord<"(?,3)">
// CHECK-NEXT:  %[[V1:.*]]:2 = cute.get_scalars (%[[B]]) : !cute.shape<"(?,8)">
// CHECK-NEXT:  %[[V2:.*]] = arith.cmpi slt, %[[V0]]#0, %[[V1]]#0 : i32
// CHECK-NEXT:  %[[V3:.*]] = arith.cmpi slt, %[[V0]]#1, %[[V1]]#1 : i32
// CHECK-NEXT:  %[[V4:.*]] = arith.andi %[[V2]], %[[V3]] : i1
// CHECK-NEXT:  return %[[V4]] : i1
func.func @elem_less(%a: !cute.coord<"(?,3)">, %b: !cute.shape<"(?,8)">) -> i1 {
  %r = cute.elem_less(%a, %b) : (!cute.coord<"(?,3)">, !cute.shape<"(?,8)">) -> i1
  return %r : i1
}

// CHECK-LABEL: func.func @equal(
// CHECK-SAME:  %[[A:.*]]: !cute.layout<"?:1">, %[[B:.*]]: !cute.layout<"8:1">
// CHECK-NEXT:  %[[V0:.*]]:2 = cute.get_scalars (%[[A]]) : !cute.layout<"?:1">
// CHECK-NEXT:  %[[V1:.*]]:2 = cute.get_scalars (%[[B]]) : !cute.layout<"8:1">
// CHECK-NEXT:  %[[V2:.*]] = arith.cmpi eq, %[[V0]]#0, %[[V1]]#0 : i32
// CHECK-NEXT:  %[[V3:.*]] = arith.cmpi eq, %[[V0]]#1, %[[V1]]#1 : i32
// CHECK-NEXT:  %[[V4:.*]] = arith.andi %[[V2]], %[[V3]] : i1
// CHECK-NEXT:  return %[[V4]] : i1
func.func @equal(%a: !cute.layout<"?:1">, %b: !cute.layout<"8:1">) -> i1 {
  %r = cute.equal(%a, %b) : (!cute.layout<"?:1">, !cute.layout<"8:1">) -> i1
  return %r : i1
}

// (offset + c*2) through A: % 4 * 5 and / 4.
// CHECK-LABEL: func.func @eval_composed(
// CHECK-SAME:  %[[A:.*]]: !cute.coord<"?">, %[[B:.*]]: !cute.composed_layout<"(4,5):(5,1) o ? o 8:2">
// CHECK-NEXT:  %[[V0:.*]] = cute.get_scalars<{only_dynamic}> (%[[A]]) : !cute.coord<"?">
// CHECK-NEXT:  %[[V1:.*]] = cute.get_scalars<{only_dynamic}> (%[[B]]) : !cute.composed_layout<"(4,5):(5,1) o ? o 8:2">
// CHECK-NEXT:  %[[V2:.*]] = arith.constant 2 : i32
// CHECK-NEXT:  %[[V3:.*]] = arith.muli %[[V0]], %[[V2]] overflow<nsw> : i32
// CHECK-NEXT:  %[[V4:.*]] = arith.addi %[[V1]], %[[V3]] overflow<nsw> : i32
// CHECK-NEXT:  %[[V5:.*]] = arith.constant 4 : i32
// CHECK-NEXT:  %[[V6:.*]] = arith.divsi %[[V4]], %[[V5]] : i32
// CHECK-NEXT:  %[[V7:.*]] = arith.constant 4 : i32
// CHECK-NEXT:  %[[V8:.*]] = arith.remsi %[[V4]], %[[V7]] : i32
// CHECK-NEXT:  %[[V9:.*]] = arith.constant 5 : i32
// CHECK-NEXT:  %[[V10:.*]] = arith.muli %[[V8]], %[[V9]] overflow<nsw> : i32
// CHECK-NEXT:  %[[V11:.*]] = arith.addi %[[V10]], %[[V6]] overflow<nsw> : i32
// CHECK-NEXT:  %[[V12:.*]] = cute.make_int_tuple(%[[V11]]) : (i32) -> !cute.int_tuple<"?">
// CHECK-NEXT:  return %[[V12]] : !cute.int_tuple<"?">
func.func @eval_composed(%c: !cute.coord<"?">, %l: !cute.composed_layout<"(4,5):(5,1) o ? o 8:2">) -> !cute.int_tuple<"?"> {
  %r = cute.layout_eval(%c, %l) : (!cute.coord<"?">, !cute.composed_layout<"(4,5):(5,1) o ? o 8:2">) -> !cute.int_tuple<"?">
  return %r : !cute.int_tuple<"?">
}

// Strides multiply: 2 * ?.
// CHECK-LABEL: func.func @composition(
// CHECK-SAME:  %[[A:.*]]: !cute.layout<"(?,?):(?,1)">, %[[B:.*]]: !cute.tile<"[4:2;_]">
// CHECK-NEXT:  %[[V0:.*]]:3 = cute.get_scalars<{only_dynamic}> (%[[A]]) : !cute.layout<"(?,?):(?,1)">
// CHECK-NEXT:  %[[V1:.*]] = arith.constant 2 : i32
// CHECK-NEXT:  %[[V2:.*]] = arith.muli %[[V0]]#2, %[[V1]] overflow<nsw> : i32
// CHECK-NEXT:  %[[V3:.*]] = cute.make_shape(%[[V0]]#1) : (i32) -> !cute.shape<"(4,?)">
// CHECK-NEXT:  %[[V4:.*]] = cute.make_stride(%[[V2]]) : (i32) -> !cute.stride<"(?,1)">
// CHECK-NEXT:  %[[V5:.*]] = cute.make_layout(%[[V3]], %[[V4]]) : (!cute.shape<"(4,?)">, !cute.stride<"(?,1)">) -> !cute.layout<"(4,?):(?,1)">
// CHECK-NEXT:  return %[[V5]] : !cute.layout<"(4,?):(?,1)">
func.func @composition(%a: !cute.layout<"(?,?):(?,1)">, %b: !cute.tile<"[4:2;_]">) -> !cute.layout<"(4,?):(?,1)"> {
  %r = cute.composition(%a, %b) : (!cute.layout<"(?,?):(?,1)">, !cute.tile<"[4:2;_]">) -> !cute.layout<"(4,?):(?,1)">
  return %r : !cute.layout<"(4,?):(?,1)">
}

// ceil(? / 4), and 4 * stride for the rest.
// CHECK-LABEL: func.func @divide(
// CHECK-SAME:  %[[A:.*]]: !cute.layout<"?:?">, %[[B:.*]]: !cute.shape<"4">
// CHECK-NEXT:  %[[V0:.*]]:2 = cute.get_scalars<{only_dynamic}> (%[[A]]) : !cute.layout<"?:?">
// CHECK-NEXT:  %[[V1:.*]] = arith.constant 4 : i32
// CHECK-NEXT:  %[[V2:.*]] = arith.ceildivsi %[[V0]]#0, %[[V1]] : i32
// CHECK-NEXT:  %[[V3:.*]] = arith.constant 4 : i32
// CHECK-NEXT:  %[[V4:.*]] = arith.ceildivsi %[[V3]], %[[V0]]#0 : i32
// CHECK-NEXT:  %[[V5:.*]] = arith.constant 4 : i32
// CHECK-NEXT:  %[[V6:.*]] = arith.muli %[[V2]], %[[V5]] overflow<nsw> : i32
// CHECK-NEXT:  %[[V7:.*]] = arith.constant 4 : i32
// CHECK-NEXT:  %[[V8:.*]] = arith.muli %[[V0]]#1, %[[V7]] overflow<nsw> : i32
// CHECK-NEXT:  %[[V9:.*]] = cute.make_shape(%[[V2]]) : (i32) -> !cute.shape<"(4,?)">
// CHECK-NEXT:  %[[V10:.*]] = cute.make_stride(%[[V0]]#1, %[[V8]]) : (i32, i32) -> !cute.stride<"(?,?)">
// CHECK-NEXT:  %[[V11:.*]] = cute.make_layout(%[[V9]], %[[V10]]) : (!cute.shape<"(4,?)">, !cute.stride<"(?,?)">) -> !cute.layout<"(4,?):(?,?)">
// CHECK-NEXT:  return %[[V11]] : !cute.layout<"(4,?):(?,?)">
func.func @divide(%a: !cute.layout<"?:?">, %b: !cute.shape<"4">) -> !cute.layout<"(4,?):(?,?)"> {
  %r = cute.logical_divide(%a, %b) : (!cute.layout<"?:?">, !cute.shape<"4">) -> !cute.layout<"(4,?):(?,?)">
  return %r : !cute.layout<"(4,?):(?,?)">
}

// The copies' stride is that of the block's end, 12.
// CHECK-LABEL: func.func @product(
// CHECK-SAME:  %[[A:.*]]: !cute.layout<"(3,4):(4,1)">, %[[B:.*]]: !cute.layout<"?:?">
// CHECK-NEXT:  %[[V0:.*]]:2 = cute.get_scalars<{only_dynamic}> (%[[B]]) : !cute.layout<"?:?">
// CHECK-NEXT:  %[[V1:.*]] = arith.constant 12 : i32
// CHECK-NEXT:  %[[V2:.*]] = arith.muli %[[V0]]#1, %[[V1]] overflow<nsw> : i32
// CHECK-NEXT:  %[[V3:.*]] = cute.make_shape(%[[V0]]#0) : (i32) -> !cute.shape<"((3,4),?)">
// CHECK-NEXT:  %[[V4:.*]] = cute.make_stride(%[[V2]]) : (i32) -> !cute.stride<"((4,1),?)">
// CHECK-NEXT:  %[[V5:.*]] = cute.make_layout(%[[V3]], %[[V4]]) : (!cute.shape<"((3,4),?)">, !cute.stride<"((4,1),?)">) -> !cute.layout<"((3,4),?):((4,1),?)">
// CHECK-NEXT:  return %[[V5]] : !cute.layout<"((3,4),?):((4,1),?)">
func.func @product(%a: !cute.layout<"(3,4):(4,1)">, %b: !cute.layout<"?:?">) -> !cute.layout<"((3,4),?):((4,1),?)"> {
  %r = cute.logical_product(%a, %b) : (!cute.layout<"(3,4):(4,1)">, !cute.layout<"?:?">) -> !cute.layout<"((3,4),?):((4,1),?)">
  return %r : !cute.layout<"((3,4),?):((4,1),?)">
}

// ceil(24 / ?), ? apart.
// CHECK-LABEL: func.func @complement(
// CHECK-SAME:  %[[A:.*]]: !cute.layout<"?:1">, %[[B:.*]]: !cute.shape<"24">
// CHECK-NEXT:  %[[V0:.*]] = cute.get_scalars<{only_dynamic}> (%[[A]]) : !cute.layout<"?:1">
// CHECK-NEXT:  %[[V1:.*]] = arith.constant 24 : i32
// CHECK-NEXT:  %[[V2:.*]] = arith.ceildivsi %[[V1]], %[[V0]] : i32
// CHECK-NEXT:  %[[V3:.*]] = cute.make_shape(%[[V2]]) : (i32) -> !cute.shape<"?">
// CHECK-NEXT:  %[[V4:.*]] = cute.make_stride(%[[V0]]) : (i32) -> !cute.stride<"?">
// CHECK-NEXT:  %[[V5:.*]] = cute.make_layout(%[[V3]], %[[V4]]) : (!cute.shape<"?">, !cute.stride<"?">) -> !cute.layout<"?:?">
// CHECK-NEXT:  return %[[V5]] : !cute.layout<"?:?">
func.func @complement(%a: !cute.layout<"?:1">, %b: !cute.shape<"24">) -> !cute.layout<"?:?"> {
  %r = cute.complement(%a, %b) : (!cute.layout<"?:1">, !cute.shape<"24">) -> !cute.layout<"?:?">
  return %r : !cute.layout<"?:?">
}

// CHECK-LABEL: func.func @tile_to_shape(
// CHECK-SAME:  %[[A:.*]]: !cute.layout<"8:1">, %[[B:.*]]: !cute.shape<"?">
// CHECK-NEXT:  %[[V0:.*]] = cute.get_scalars<{only_dynamic}> (%[[B]]) : !cute.shape<"?">
// CHECK-NEXT:  %[[V1:.*]] = arith.constant 8 : i32
// CHECK-NEXT:  %[[V2:.*]] = arith.ceildivsi %[[V0]], %[[V1]] : i32
// CHECK-NEXT:  %[[V3:.*]] = cute.make_shape(%[[V2]]) : (i32) -> !cute.shape<"((8,?))">
// CHECK-NEXT:  %[[V4:.*]] = cute.make_stride() : () -> !cute.stride<"((1,8))">
// CHECK-NEXT:  %[[V5:.*]] = cute.make_layout(%[[V3]], %[[V4]]) : (!cute.shape<"((8,?))">, !cute.stride<"((1,8))">) -> !cute.layout<"((8,?)):((1,8))">
// CHECK-NEXT:  return %[[V5]] : !cute.layout<"((8,?)):((1,8))">
func.func @tile_to_shape(%a: !cute.layout<"8:1">, %b: !cute.shape<"?">) -> !cute.layout<"((8,?)):((1,8))"> {
  %r = cute.tile_to_shape(%a, %b) : (!cute.layout<"8:1">, !cute.shape<"?">) -> !cute.layout<"((8,?)):((1,8))">
  return %r : !cute.layout<"((8,?)):((1,8))">
}

// A stride in halves.
// CHECK-LABEL: func.func @recast(
// CHECK-SAME:  %[[A:.*]]: !cute.layout<"(8,4):(1,?)">
// CHECK-NEXT:  %[[V0:.*]] = cute.get_scalars<{only_dynamic}> (%[[A]]) : !cute.layout<"(8,4):(1,?)">
// CHECK-NEXT:  %[[V1:.*]] = arith.constant 2 : i32
// CHECK-NEXT:  %[[V2:.*]] = arith.divsi %[[V0]], %[[V1]] : i32
// CHECK-NEXT:  %[[V3:.*]] = arith.constant 0 : i32
// CHECK-NEXT:  %[[V4:.*]] = arith.cmpi ne, %[[V2]], %[[V3]] : i32
// CHECK-NEXT:  %[[V5:.*]] = scf.if %[[V4]] -> (i32) {
// CHECK-NEXT:  scf.yield %[[V2]] : i32
// CHECK-NEXT:  } else {
// CHECK-NEXT:  %[[V6:.*]] = arith.constant 0 : i32
// CHECK-NEXT:  %[[V7:.*]] = arith.cmpi sgt, %[[V0]], %[[V6]] : i32
// CHECK-NEXT:  %[[V8:.*]] = scf.if %[[V7]] -> (i32) {
// CHECK-NEXT:  %[[V9:.*]] = arith.constant 1 : i32
// CHECK-NEXT:  scf.yield %[[V9]] : i32
// CHECK-NEXT:  } else {
// CHECK-NEXT:  %[[V10:.*]] = arith.constant 0 : i32
// CHECK-NEXT:  %[[V11:.*]] = arith.cmpi eq, %[[V0]], %[[V10]] : i32
// CHECK-NEXT:  %[[V12:.*]] = scf.if %[[V11]] -> (i32) {
// CHECK-NEXT:  %[[V13:.*]] = arith.constant 0 : i32
// CHECK-NEXT:  scf.yield %[[V13]] : i32
// CHECK-NEXT:  } else {
// CHECK-NEXT:  %[[V14:.*]] = arith.constant -1 : i32
// CHECK-NEXT:  scf.yield %[[V14]] : i32
// CHECK-NEXT:  }
// CHECK-NEXT:  scf.yield %[[V12]] : i32
// CHECK-NEXT:  }
// CHECK-NEXT:  scf.yield %[[V8]] : i32
// CHECK-NEXT:  }
// CHECK-NEXT:  %[[V15:.*]] = cute.make_shape() : () -> !cute.shape<"(4,4)">
// CHECK-NEXT:  %[[V16:.*]] = cute.make_stride(%[[V5]]) : (i32) -> !cute.stride<"(1,?)">
// CHECK-NEXT:  %[[V17:.*]] = cute.make_layout(%[[V15]], %[[V16]]) : (!cute.shape<"(4,4)">, !cute.stride<"(1,?)">) -> !cute.layout<"(4,4):(1,?)">
// CHECK-NEXT:  return %[[V17]] : !cute.layout<"(4,4):(1,?)">
func.func @recast(%a: !cute.layout<"(8,4):(1,?)">) -> !cute.layout<"(4,4):(1,?)"> {
  %r = cute.recast_layout<16, 8>(%a) : !cute.layout<"(8,4):(1,?)"> -> !cute.layout<"(4,4):(1,?)">
  return %r : !cute.layout<"(4,4):(1,?)">
}

// Mode 1 is the fastest; mode 0 steps over it.
// CHECK-LABEL: func.func @ordered(
// CHECK-SAME:  %[[A:.*]]: !cute.shape<"(4,?)">, %[[B:.*]]: !cute.int_tuple<"(1,0)">
// CHECK-NEXT:  %[[V0:.*]] = cute.get_scalars<{only_dynamic}> (%[[A]]) : !cute.shape<"(4,?)">
// CHECK-NEXT:  %[[V1:.*]] = cute.make_shape(%[[V0]]) : (i32) -> !cute.shape<"(4,?)">
// CHECK-NEXT:  %[[V2:.*]] = cute.make_stride(%[[V0]]) : (i32) -> !cute.stride<"(?,1)">
// CHECK-NEXT:  %[[V3:.*]] = cute.make_layout(%[[V1]], %[[V2]]) : (!cute.shape<"(4,?)">, !cute.stride<"(?,1)">) -> !cute.layout<"(4,?):(?,1)">
// CHECK-NEXT:  return %[[V3]] : !cute.layout<"(4,?):(?,1)">
func.func @ordered(%a: !cute.shape<"(4,?)">, %b: !cute.int_tuple<"(1,0)">) -> !cute.layout<"(4,?):(?,1)"> {
  %r = cute.make_ordered_layout(%a, %b) : (!cute.shape<"(4,?)">, !cute.int_tuple<"(1,0)">) -> !cute.layout<"(4,?):(?,1)">
  return %r : !cute.layout<"(4,?):(?,1)">
}

// No arithmetic: leaves change places.
// CHECK-LABEL: func.func @select(
// CHECK-SAME:  %[[A:.*]]: !cute.layout<"(?,4):(1,?)">
// CHECK-NEXT:  %[[V0:.*]]:2 = cute.get_scalars<{only_dynamic}> (%[[A]]) : !cute.layout<"(?,4):(1,?)">
// CHECK-NEXT:  %[[V1:.*]] = cute.make_shape(%[[V0]]#0) : (i32) -> !cute.shape<"(4,?)">
// CHECK-NEXT:  %[[V2:.*]] = cute.make_stride(%[[V0]]#1) : (i32) -> !cute.stride<"(?,1)">
// CHECK-NEXT:  %[[V3:.*]] = cute.make_layout(%[[V1]], %[[V2]]) : (!cute.shape<"(4,?)">, !cute.stride<"(?,1)">) -> !cute.layout<"(4,?):(?,1)">
// CHECK-NEXT:  return %[[V3]] : !cute.layout<"(4,?):(?,1)">
func.func @select(%a: !cute.layout<"(?,4):(1,?)">) -> !cute.layout<"(4,?):(?,1)"> {
  %r = cute.select<[1, 0]>(%a) : !cute.layout<"(?,4):(1,?)"> -> !cute.layout<"(4,?):(?,1)">
  return %r : !cute.layout<"(4,?):(?,1)">
}

// CHECK-LABEL: func.func @group(
// CHECK-SAME:  %[[A:.*]]: !cute.layout<"(?,4):(1,?)">
// CHECK-NEXT:  %[[V0:.*]]:2 = cute.get_scalars<{only_dynamic}> (%[[A]]) : !cute.layout<"(?,4):(1,?)">
// CHECK-NEXT:  %[[V1:.*]] = cute.make_shape(%[[V0]]#0) : (i32) -> !cute.shape<"((?,4))">
// CHECK-NEXT:  %[[V2:.*]] = cute.make_stride(%[[V0]]#1) : (i32) -> !cute.stride<"((1,?))">
// CHECK-NEXT:  %[[V3:.*]] = cute.make_layout(%[[V1]], %[[V2]]) : (!cute.shape<"((?,4))">, !cute.stride<"((1,?))">) -> !cute.layout<"((?,4)):((1,?))">
// CHECK-NEXT:  return %[[V3]] : !cute.layout<"((?,4)):((1,?))">
func.func @group(%a: !cute.layout<"(?,4):(1,?)">) -> !cute.layout<"((?,4)):((1,?))"> {
  %r = cute.group_modes<0, 2>(%a) : (!cute.layout<"(?,4):(1,?)">) -> !cute.layout<"((?,4)):((1,?))">
  return %r : !cute.layout<"((?,4)):((1,?))">
}

// CHECK-LABEL: func.func @convert(
// CHECK-SAME:  %[[A:.*]]: !cute.int_tuple<"(?,4)">
// CHECK-NEXT:  %[[V0:.*]] = cute.get_scalars<{only_dynamic}> (%[[A]]) : !cute.int_tuple<"(?,4)">
// CHECK-NEXT:  %[[V1:.*]] = cute.make_coord(%[[V0]]) : (i32) -> !cute.coord<"(?,4)">
// CHECK-NEXT:  return %[[V1]] : !cute.coord<"(?,4)">
func.func @convert(%a: !cute.int_tuple<"(?,4)">) -> !cute.coord<"(?,4)"> {
  %r = cute.to_coord(%a) : !cute.int_tuple<"(?,4)"> -> !cute.coord<"(?,4)">
  return %r : !cute.coord<"(?,4)">
}

// CHECK-LABEL: func.func @append(
// CHECK-SAME:  %[[A:.*]]: !cute.shape<"(4,?)">, %[[B:.*]]: !cute.shape<"?">
// CHECK-NEXT:  %[[V0:.*]] = cute.get_scalars<{only_dynamic}> (%[[A]]) : !cute.shape<"(4,?)">
// CHECK-NEXT:  %[[V1:.*]] = cute.get_scalars<{only_dynamic}> (%[[B]]) : !cute.shape<"?">
// CHECK-NEXT:  %[[V2:.*]] = cute.make_shape(%[[V0]], %[[V1]]) : (i32, i32) -> !cute.shape<"(4,?,?)">
// CHECK-NEXT:  return %[[V2]] : !cute.shape<"(4,?,?)">
func.func @append(%a: !cute.shape<"(4,?)">, %b: !cute.shape<"?">) -> !cute.shape<"(4,?,?)"> {
  %r = cute.append_to_rank<3>(%a, %b) : !cute.shape<"(4,?)">, !cute.shape<"?">
  return %r : !cute.shape<"(4,?,?)">
}

// A value for each leaf, from one reading of the operand.
// CHECK-LABEL: func.func @leaves(
// CHECK-SAME:  %[[A:.*]]: !cute.shape<"(4,(2,?))">
// CHECK-NEXT:  %[[V0:.*]] = cute.get_scalars<{only_dynamic}> (%[[A]]) : !cute.shape<"(4,(2,?))">
// CHECK-NEXT:  %[[V1:.*]] = cute.static : !cute.shape<"4">
// CHECK-NEXT:  %[[V2:.*]] = cute.static : !cute.shape<"2">
// CHECK-NEXT:  %[[V3:.*]] = cute.make_shape(%[[V0]]) : (i32) -> !cute.shape<"?">
// CHECK-NEXT:  return %[[V1]], %[[V2]], %[[V3]] : !cute.shape<"4">, !cute.shape<"2">, !cute.shape<"?">
func.func @leaves(%a: !cute.shape<"(4,(2,?))">) -> (!cute.shape<"4">, !cute.shape<"2">, !cute.shape<"?">) {
  %r:3 = cute.get_leaves(%a) : !cute.shape<"(4,(2,?))">
  return %r#0, %r#1, %r#2 : !cute.shape<"4">, !cute.shape<"2">, !cute.shape<"?">
}

// CHECK-LABEL: func.func @layouts(
// CHECK-SAME:  %[[A:.*]]: !cute.tile<"[4:1;_;?:2]">
// CHECK-NEXT:  %[[V0:.*]] = cute.get_scalars<{only_dynamic}> (%[[A]]) : !cute.tile<"[4:1;_;?:2]">
// CHECK-NEXT:  %[[V1:.*]] = cute.static : !cute.layout<"4:1">
// CHECK-NEXT:  %[[V2:.*]] = cute.make_shape(%[[V0]]) : (i32) -> !cute.shape<"?">
// CHECK-NEXT:  %[[V3:.*]] = cute.make_stride() : () -> !cute.stride<"2">
// CHECK-NEXT:  %[[V4:.*]] = cute.make_layout(%[[V2]], %[[V3]]) : (!cute.shape<"?">, !cute.stride<"2">) -> !cute.layout<"?:2">
// CHECK-NEXT:  return %[[V1]], %[[V4]] : !cute.layout<"4:1">, !cute.layout<"?:2">
func.func @layouts(%a: !cute.tile<"[4:1;_;?:2]">) -> (!cute.layout<"4:1">, !cute.layout<"?:2">) {
  %r:2 = cute.get_layouts_from_tile(%a) : !cute.tile<"[4:1;_;?:2]">
  return %r#0, %r#1 : !cute.layout<"4:1">, !cute.layout<"?:2">
}

// CHECK-LABEL: func.func @dice(
// CHECK-SAME:  %[[A:.*]]: !cute.layout<"(4,?):(?,1)">, %[[B:.*]]: !cute.coord<"(0,_)">
// CHECK-NEXT:  %[[V0:.*]]:2 = cute.get_scalars<{only_dynamic}> (%[[A]]) : !cute.layout<"(4,?):(?,1)">
// CHECK-NEXT:  %[[V1:.*]] = cute.make_shape() : () -> !cute.shape<"(4)">
// CHECK-NEXT:  %[[V2:.*]] = cute.make_stride(%[[V0]]#1) : (i32) -> !cute.stride<"(?)">
// CHECK-NEXT:  %[[V3:.*]] = cute.make_layout(%[[V1]], %[[V2]]) : (!cute.shape<"(4)">, !cute.stride<"(?)">) -> !cute.layout<"(4):(?)">
// CHECK-NEXT:  return %[[V3]] : !cute.layout<"(4):(?)">
func.func @dice(%a: !cute.layout<"(4,?):(?,1)">, %c: !cute.coord<"(0,_)">) -> !cute.layout<"(4):(?)"> {
  %r = cute.dice(%a, %c) : !cute.layout<"(4,?):(?,1)">, !cute.coord<"(0,_)">
  return %r : !cute.layout<"(4):(?)">
}

// The fixed coordinate goes into the offset: offset + c * 3.
// CHECK-LABEL: func.func @slice_moves_the_offset(
// CHECK-SAME:  %[[A:.*]]: !cute.composed_layout<"64:1 o ? o (8,4):(3,24)">, %[[B:.*]]: !cute.coord<"(?,_)">
// CHECK-NEXT:  %[[V0:.*]] = cute.get_scalars<{only_dynamic}> (%[[A]]) : !cute.composed_layout<"64:1 o ? o (8,4):(3,24)">
// CHECK-NEXT:  %[[V1:.*]] = cute.get_scalars<{only_dynamic}> (%[[B]]) : !cute.coord<"(?,_)">
// CHECK-NEXT:  %[[V2:.*]] = arith.constant 3 : i32
// CHECK-NEXT:  %[[V3:.*]] = arith.muli %[[V1]], %[[V2]] overflow<nsw> : i32
// CHECK-NEXT:  %[[V4:.*]] = arith.addi %[[V0]], %[[V3]] overflow<nsw> : i32
// CHECK-NEXT:  %[[V5:.*]] = cute.static : !cute.layout<"(4):(24)">
// CHECK-NEXT:  %[[V6:.*]] = cute.make_int_tuple(%[[V4]]) : (i32) -> !cute.int_tuple<"?">
// CHECK-NEXT:  %[[V7:.*]] = cute.static : !cute.layout<"64:1">
// CHECK-NEXT:  %[[V8:.*]] = cute.make_composed_layout(%[[V7]], %[[V6]], %[[V5]]) : (!cute.layout<"64:1">, <"?">, <"(4):(24)">) -> <"64:1 o ? o (4):(24)">
// CHECK-NEXT:  return %[[V8]] : !cute.composed_layout<"64:1 o ? o (4):(24)">
func.func @slice_moves_the_offset(%a: !cute.composed_layout<"64:1 o ? o (8,4):(3,24)">, %c: !cute.coord<"(?,_)">) -> !cute.composed_layout<"64:1 o ? o (4):(24)"> {
  %r = cute.slice(%a, %c) : !cute.composed_layout<"64:1 o ? o (8,4):(3,24)">, !cute.coord<"(?,_)">
  return %r : !cute.composed_layout<"64:1 o ? o (4):(24)">
}
