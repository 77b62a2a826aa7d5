// RUN: cute-opt %s -cute-fold-static -cute-expand-ops -cute-to-base -base-prepare -one-shot-convert-to-llvm \
// RUN:   | mlir-cpu-runner -e main -entry-point-result=void | FileCheck %s --strict-whitespace --match-full-lines

// The algebra on layouts of which only the structure is known: A is (4,8):(1,16) where the program runs.

//      CHECK:(4,8):(1,16)
func.func @compose(%a: !cute.layout<"(?,?):(1,?)">, %b: !cute.layout<"(?,?):(?,1)">) {
  cute.print(%a) : !cute.layout<"(?,?):(1,?)">
  // 0, 2 of mode 0, then mode 1.
  // CHECK-NEXT:(2,4):(2,16)
  %two = cute.static : !cute.layout<"8:2">
  %0 = cute.composition(%a, %two) : (!cute.layout<"(?,?):(1,?)">, !cute.layout<"8:2">) -> !cute.layout<"(?,?):(2,?)">
  cute.print(%0) : !cute.layout<"(?,?):(2,?)">
  // B is (4,2):(2,1): its mode 0 crosses from mode 0 of A into mode 1, its mode 1 does not (an extent of 1 is left).
  // CHECK-NEXT:((2,2),(2,1)):((2,16),(1,16))
  %1 = cute.composition(%a, %b) : (!cute.layout<"(?,?):(1,?)">, !cute.layout<"(?,?):(?,1)">) -> !cute.layout<"((?,?),(?,?)):((?,?),(1,?))">
  cute.print(%1) : !cute.layout<"((?,?),(?,?)):((?,?),(1,?))">
  return
}

func.func @rearrange(%a: !cute.layout<"(?,?):(1,?)">, %n: i32) {
  // CHECK-NEXT:(8,4):(16,1)
  %0 = cute.select<[1, 0]> (%a) : !cute.layout<"(?,?):(1,?)"> -> !cute.layout<"(?,?):(?,1)">
  cute.print(%0) : !cute.layout<"(?,?):(?,1)">
  // CHECK-NEXT:((4,8)):((1,16))
  %1 = cute.group_modes<0, 2> (%a) : (!cute.layout<"(?,?):(1,?)">) -> !cute.layout<"((?,?)):((1,?))">
  cute.print(%1) : !cute.layout<"((?,?)):((1,?))">
  // CHECK-NEXT:8:16
  %2 = cute.get<[1]> (%a) : !cute.layout<"(?,?):(1,?)"> -> !cute.layout<"?:?">
  cute.print(%2) : !cute.layout<"?:?">
  // CHECK-NEXT:(4,8,5):(1,16,128)
  %s = cute.make_shape(%n) : (i32) -> !cute.shape<"?">
  %d = cute.static : !cute.stride<"128">
  %e = cute.make_layout(%s, %d) : (!cute.shape<"?">, !cute.stride<"128">) -> !cute.layout<"?:128">
  %3 = cute.append_to_rank<3> (%a, %e) : !cute.layout<"(?,?):(1,?)">, !cute.layout<"?:128">
  cute.print(%3) : !cute.layout<"(?,?,?):(1,?,128)">
  // Mode 0, which stands still, takes no room; of the others 4 elements of mode 1 come first.
  // CHECK-NEXT:(5,4,8):(0,1,4)
  %sl = cute.make_shape(%n) : (i32) -> !cute.shape<"(?,4,8)">
  %dl = cute.static : !cute.stride<"(0,1,100)">
  %ll = cute.make_layout(%sl, %dl) : (!cute.shape<"(?,4,8)">, !cute.stride<"(0,1,100)">) -> !cute.layout<"(?,4,8):(0,1,100)">
  %4 = cute.make_layout_like(%ll) : !cute.layout<"(?,4,8):(0,1,100)"> -> !cute.layout<"(?,4,8):(0,1,4)">
  cute.print(%4) : !cute.layout<"(?,4,8):(0,1,4)">
  return
}

func.func @tiles(%n: i32, %i: i32, %offset: i32) {
  // 5 copies of (2,2) in mode 0, 4 elements apart, 3 in mode 1, 20 apart; copies come before the block in each mode.
  // CHECK-NEXT:((5,2),(3,2)):((4,1),(20,2))
  %block = cute.static : !cute.layout<"(2,2):(1,2)">
  %s = cute.make_shape(%n) : (i32) -> !cute.shape<"(?,3)">
  %d = cute.make_stride(%n) : (i32) -> !cute.stride<"(1,?)">
  %copies = cute.make_layout(%s, %d) : (!cute.shape<"(?,3)">, !cute.stride<"(1,?)">) -> !cute.layout<"(?,3):(1,?)">
  %0 = cute.raked_product(%block, %copies) : (!cute.layout<"(2,2):(1,2)">, !cute.layout<"(?,3):(1,?)">) -> !cute.layout<"((?,2),(3,2)):((4,1),(?,2))">
  cute.print(%0) : !cute.layout<"((?,2),(3,2)):((4,1),(?,2))">
  // The leaves of a tile.
  // CHECK-NEXT:4:1
  // CHECK-NEXT:5:2
  %t = cute.make_tile(%n) : (i32) -> !cute.tile<"[4:1;_;?:2]">
  %1:2 = cute.get_layouts_from_tile(%t) : <"[4:1;_;?:2]">
  cute.print(%1#0) : !cute.layout<"4:1">
  cute.print(%1#1) : !cute.layout<"?:2">
  // Coordinate 2 of mode 0 goes into the offset: 7 + 2*3.
  // CHECK-NEXT:64:1 o 13 o (4):(24)
  %a = cute.static : !cute.layout<"64:1">
  %o = cute.make_int_tuple(%offset) : (i32) -> !cute.int_tuple<"?">
  %b = cute.static : !cute.layout<"(8,4):(3,24)">
  %m = cute.make_composed_layout(%a, %o, %b) : (!cute.layout<"64:1">, !cute.int_tuple<"?">, !cute.layout<"(8,4):(3,24)">) -> !cute.composed_layout<"64:1 o ? o (8,4):(3,24)">
  %c = cute.make_coord(%i) : (i32) -> !cute.coord<"(?,_)">
  %2 = cute.slice(%m, %c) : !cute.composed_layout<"64:1 o ? o (8,4):(3,24)">, !cute.coord<"(?,_)">
  cute.print(%2) : !cute.composed_layout<"64:1 o ? o (4):(24)">
  return
}

func.func @main() {
  %1 = arith.constant 1 : i32
  %2 = arith.constant 2 : i32
  %4 = arith.constant 4 : i32
  %5 = arith.constant 5 : i32
  %7 = arith.constant 7 : i32
  %8 = arith.constant 8 : i32
  %16 = arith.constant 16 : i32
  %s = cute.make_shape(%4, %8) : (i32, i32) -> !cute.shape<"(?,?)">
  %d = cute.make_stride(%16) : (i32) -> !cute.stride<"(1,?)">
  %a = cute.make_layout(%s, %d) : (!cute.shape<"(?,?)">, !cute.stride<"(1,?)">) -> !cute.layout<"(?,?):(1,?)">
  %t = cute.make_shape(%4, %2) : (i32, i32) -> !cute.shape<"(?,?)">
  %e = cute.make_stride(%2) : (i32) -> !cute.stride<"(?,1)">
  %b = cute.make_layout(%t, %e) : (!cute.shape<"(?,?)">, !cute.stride<"(?,1)">) -> !cute.layout<"(?,?):(?,1)">
  call @compose(%a, %b) : (!cute.layout<"(?,?):(1,?)">, !cute.layout<"(?,?):(?,1)">) -> ()
  call @rearrange(%a, %5) : (!cute.layout<"(?,?):(1,?)">, i32) -> ()
  call @tiles(%5, %2, %7) : (i32, i32, i32) -> ()
  return
}
