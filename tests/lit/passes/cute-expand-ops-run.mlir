// RUN: cute-opt %s -cute-fold-static -cute-expand-ops -cute-to-base -base-prepare -one-shot-convert-to-llvm \
// RUN:   | mlir-cpu-runner -e main -entry-point-result=void | FileCheck %s

// What expanded operations compute where they run. Each function gets its unknown leaves as arguments.

func.func @index(%i: i32, %j: i32, %wide: i64) {
  %c = cute.make_coord(%i, %j) : (i32, i32) -> !cute.coord<"(?,?)">
  // (3,5): 3*8 + 5*1
  // CHECK: {{^}}29{{$}}
  %l0 = cute.static : !cute.layout<"(4,8):(8,1)">
  %0 = cute.layout_eval(%c, %l0) : (!cute.coord<"(?,?)">, !cute.layout<"(4,8):(8,1)">) -> !cute.int_tuple<"?">
  cute.print(%0) : !cute.int_tuple<"?">
  // 3 * 10^10 + 5: a stride of 64 bits
  // CHECK-NEXT: {{^}}30000000005{{$}}
  %s1 = cute.static : !cute.shape<"(4,8)">
  %d1 = cute.make_stride(%wide) : (i64) -> !cute.stride<"(?{i64},1)">
  %l1 = cute.make_layout(%s1, %d1) : (!cute.shape<"(4,8)">, !cute.stride<"(?{i64},1)">) -> !cute.layout<"(4,8):(?{i64},1)">
  %1 = cute.layout_eval(%c, %l1) : (!cute.coord<"(?,?)">, !cute.layout<"(4,8):(?{i64},1)">) -> !cute.int_tuple<"?{i64}">
  cute.print(%1) : !cute.int_tuple<"?{i64}">
  // (5,3): basis vectors swap the modes
  // CHECK-NEXT: {{^}}(5,3){{$}}
  %l2 = cute.static : !cute.layout<"(4,8):(1@1,1@0)">
  %2 = cute.layout_eval(%c, %l2) : (!cute.coord<"(?,?)">, !cute.layout<"(4,8):(1@1,1@0)">) -> !cute.int_tuple<"(?,?)">
  cute.print(%2) : !cute.int_tuple<"(?,?)">
  // 3 + 4*5, and back
  // CHECK-NEXT: {{^}}23{{$}}
  // CHECK-NEXT: {{^}}(3,5){{$}}
  %3 = cute.crd2idx(%c, %s1) : (!cute.coord<"(?,?)">, !cute.shape<"(4,8)">) -> !cute.int_tuple<"?">
  cute.print(%3) : !cute.int_tuple<"?">
  %4 = cute.idx2crd(%3, %s1) : (!cute.int_tuple<"?">, !cute.shape<"(4,8)">) -> !cute.coord<"(?,?)">
  cute.print(%4) : !cute.coord<"(?,?)">
  // (3,5) in (4,8): mode 0 is at its end
  // CHECK-NEXT: {{^}}(0,6){{$}}
  // CHECK-NEXT: {{^}}(1,6){{$}}
  %5 = cute.increment_coord(%c, %s1) : (!cute.coord<"(?,?)">, !cute.shape<"(4,8)">) -> !cute.coord<"(?,?)">
  cute.print(%5) : !cute.coord<"(?,?)">
  %6 = cute.increment_coord(%5, %s1) : (!cute.coord<"(?,?)">, !cute.shape<"(4,8)">) -> !cute.coord<"(?,?)">
  cute.print(%6) : !cute.coord<"(?,?)">
  // (3,5) < (4,8), not < (4,5)
  // CHECK-NEXT: {{^}}1{{$}}
  // CHECK-NEXT: {{^}}0{{$}}
  %b7 = cute.elem_less(%c, %s1) : (!cute.coord<"(?,?)">, !cute.shape<"(4,8)">) -> i1
  func.call @print_bool(%b7) : (i1) -> ()
  %s8 = cute.static : !cute.shape<"(4,5)">
  %b8 = cute.elem_less(%c, %s8) : (!cute.coord<"(?,?)">, !cute.shape<"(4,5)">) -> i1
  func.call @print_bool(%b8) : (i1) -> ()
  return
}

func.func @print_bool(%b: i1) {
  %w = arith.extui %b : i1 to i32
  %t = cute.make_int_tuple(%w) : (i32) -> !cute.int_tuple<"?">
  cute.print(%t) : !cute.int_tuple<"?">
  return
}

// 130 = 0b10000010 under S<3,4,3>: bits 7..9 (1) xor into bits 4..6: 130 + 16.
// CHECK-NEXT: {{^}}146{{$}}
// B(1,2) = 1 + 2*2 = 5; 5 + 2 = 7; A(7) = 7 % 4 * 5 + 7 / 4.
// CHECK-NEXT: {{^}}16{{$}}
func.func @composed(%i: i32, %offset: i32) {
  %c = cute.make_coord(%i) : (i32) -> !cute.coord<"?">
  %s = cute.static : !cute.composed_layout<"S<3,4,3> o 0 o 1024:1">
  %0 = cute.layout_eval(%c, %s) : (!cute.coord<"?">, !cute.composed_layout<"S<3,4,3> o 0 o 1024:1">) -> !cute.int_tuple<"?">
  cute.print(%0) : !cute.int_tuple<"?">
  %a = cute.static : !cute.layout<"(4,5):(5,1)">
  %o = cute.make_int_tuple(%offset) : (i32) -> !cute.int_tuple<"?">
  %b = cute.static : !cute.layout<"(2,3):(1,2)">
  %l = cute.make_composed_layout(%a, %o, %b) : (!cute.layout<"(4,5):(5,1)">, !cute.int_tuple<"?">, !cute.layout<"(2,3):(1,2)">) -> !cute.composed_layout<"(4,5):(5,1) o ? o (2,3):(1,2)">
  %at = cute.static : !cute.coord<"(1,2)">
  %1 = cute.layout_eval(%at, %l) : (!cute.coord<"(1,2)">, !cute.composed_layout<"(4,5):(5,1) o ? o (2,3):(1,2)">) -> !cute.int_tuple<"?">
  cute.print(%1) : !cute.int_tuple<"?">
  return
}

func.func @sizes(%n: i32, %small: i32, %wide: i64) {
  %s = cute.make_shape(%n) : (i32) -> !cute.shape<"(?,4)">
  // 1000 * 4
  // CHECK-NEXT: {{^}}4000{{$}}
  %0 = cute.size(%s) : (!cute.shape<"(?,4)">) -> !cute.int_tuple<"?">
  cute.print(%0) : !cute.int_tuple<"?">
  // 1 + 3*1 + 7*1000
  // CHECK-NEXT: {{^}}7004{{$}}
  %s1 = cute.static : !cute.shape<"(4,8)">
  %d1 = cute.make_stride(%n) : (i32) -> !cute.stride<"(1,?)">
  %l1 = cute.make_layout(%s1, %d1) : (!cute.shape<"(4,8)">, !cute.stride<"(1,?)">) -> !cute.layout<"(4,8):(1,?)">
  %1 = cute.cosize(%l1) : (!cute.layout<"(4,8):(1,?)">) -> !cute.int_tuple<"?">
  cute.print(%1) : !cute.int_tuple<"?">
  // ceil(1000/128) = 8; ceil(4/128) = 1
  // CHECK-NEXT: {{^}}(8,1){{$}}
  %t2 = cute.static : !cute.shape<"(128,128)">
  %2 = cute.ceil_div(%s, %t2) : (!cute.shape<"(?,4)">, !cute.shape<"(128,128)">) -> !cute.shape<"(?,1)">
  cute.print(%2) : !cute.shape<"(?,1)">
  // 1000 / 4 = 250, and 2 / 4 counts as 1
  // CHECK-NEXT: {{^}}250{{$}}
  // CHECK-NEXT: {{^}}1{{$}}
  %four = cute.static : !cute.shape<"4">
  %m = cute.make_shape(%n) : (i32) -> !cute.shape<"?">
  %3 = cute.shape_div(%m, %four) : (!cute.shape<"?">, !cute.shape<"4">) -> !cute.shape<"?">
  cute.print(%3) : !cute.shape<"?">
  %k = cute.make_shape(%small) : (i32) -> !cute.shape<"?">
  %4 = cute.shape_div(%k, %four) : (!cute.shape<"?">, !cute.shape<"4">) -> !cute.shape<"?">
  cute.print(%4) : !cute.shape<"?">
  // 1000 + 10^10 in 64 bits; 2 - 7
  // CHECK-NEXT: {{^}}(10000001000,-5){{$}}
  %x = cute.make_int_tuple(%n, %small) : (i32, i32) -> !cute.int_tuple<"(?,?)">
  %y = cute.make_int_tuple(%wide) : (i64) -> !cute.int_tuple<"(?{i64},-7)">
  %5 = cute.tuple_add(%x, %y) : (!cute.int_tuple<"(?,?)">, !cute.int_tuple<"(?{i64},-7)">) -> !cute.int_tuple<"(?{i64},?)">
  cute.print(%5) : !cute.int_tuple<"(?{i64},?)">
  return
}

func.func @algebra(%m: i32, %n: i32, %ld: i32) {
  %s = cute.make_shape(%m, %n) : (i32, i32) -> !cute.shape<"(?,?)">
  %d = cute.make_stride(%ld) : (i32) -> !cute.stride<"(?,1)">
  %l = cute.make_layout(%s, %d) : (!cute.shape<"(?,?)">, !cute.stride<"(?,1)">) -> !cute.layout<"(?,?):(?,1)">
  cute.print(%l) : !cute.layout<"(?,?):(?,1)">
  // CHECK-NEXT: {{^}}(10,6):(100,1){{$}}
  // Every row, every second column.
  // CHECK-NEXT: {{^}}(4,8):(100,2){{$}}
  %t0 = cute.static : !cute.tile<"[4:1;8:2]">
  %0 = cute.composition(%l, %t0) : (!cute.layout<"(?,?):(?,1)">, !cute.tile<"[4:1;8:2]">) -> !cute.layout<"(4,8):(?,2)">
  cute.print(%0) : !cute.layout<"(4,8):(?,2)">
  // ceil(10/4) = 3 tiles of rows, 4 rows apart; ceil(6/2) = 3 tiles of columns.
  // CHECK-NEXT: {{^}}((4,2),(3,3)):((100,1),(400,2)){{$}}
  %t1 = cute.static : !cute.shape<"(4,2)">
  %1 = cute.zipped_divide(%l, %t1) : (!cute.layout<"(?,?):(?,1)">, !cute.shape<"(4,2)">) -> !cute.layout<"((4,2),(?,?)):((?,1),(?,2))">
  cute.print(%1) : !cute.layout<"((4,2),(?,?)):((?,1),(?,2))">
  // ceil(24/10) blocks, 10 apart.
  // CHECK-NEXT: {{^}}3:10{{$}}
  %sm = cute.make_shape(%m) : (i32) -> !cute.shape<"?">
  %one = cute.static : !cute.stride<"1">
  %lm = cute.make_layout(%sm, %one) : (!cute.shape<"?">, !cute.stride<"1">) -> !cute.layout<"?:1">
  %all = cute.static : !cute.shape<"24">
  %2 = cute.complement(%lm, %all) : (!cute.layout<"?:1">, !cute.shape<"24">) -> !cute.layout<"?:?">
  cute.print(%2) : !cute.layout<"?:?">
  // 3*4 elements a copy; 10 x 6 copies, in that order.
  // CHECK-NEXT: {{^}}((3,4),(10,6)):((4,1),(12,120)){{$}}
  %block = cute.static : !cute.layout<"(3,4):(4,1)">
  %d3 = cute.make_stride(%m) : (i32) -> !cute.stride<"(1,?)">
  %copies = cute.make_layout(%s, %d3) : (!cute.shape<"(?,?)">, !cute.stride<"(1,?)">) -> !cute.layout<"(?,?):(1,?)">
  %3 = cute.logical_product(%block, %copies) : (!cute.layout<"(3,4):(4,1)">, !cute.layout<"(?,?):(1,?)">) -> !cute.layout<"((3,4),(?,?)):((4,1),(12,?))">
  cute.print(%3) : !cute.layout<"((3,4),(?,?)):((4,1),(12,?))">
  // ceil(10/8) = 2 blocks down, 64 apart, then 2 across.
  // CHECK-NEXT: {{^}}((8,2),(8,2)):((8,64),(1,128)){{$}}
  %eight = cute.static : !cute.layout<"(8,8):(8,1)">
  %s4 = cute.make_shape(%m) : (i32) -> !cute.shape<"(?,16)">
  %4 = cute.tile_to_shape(%eight, %s4) : (!cute.layout<"(8,8):(8,1)">, !cute.shape<"(?,16)">) -> !cute.layout<"((8,?),(8,2)):((8,64),(1,?))">
  cute.print(%4) : !cute.layout<"((8,?),(8,2)):((8,64),(1,?))">
  // Mode 1 (6 elements) is the fastest.
  // CHECK-NEXT: {{^}}(4,6):(6,1){{$}}
  %s5 = cute.make_shape(%n) : (i32) -> !cute.shape<"(4,?)">
  %order = cute.static : !cute.int_tuple<"(1,0)">
  %5 = cute.make_ordered_layout(%s5, %order) : (!cute.shape<"(4,?)">, !cute.int_tuple<"(1,0)">) -> !cute.layout<"(4,?):(?,1)">
  cute.print(%5) : !cute.layout<"(4,?):(?,1)">
  // 100 bytes are 50 halfwords.
  // CHECK-NEXT: {{^}}(4,4):(1,50){{$}}
  %s6 = cute.static : !cute.shape<"(8,4)">
  %d6 = cute.make_stride(%ld) : (i32) -> !cute.stride<"(1,?)">
  %l6 = cute.make_layout(%s6, %d6) : (!cute.shape<"(8,4)">, !cute.stride<"(1,?)">) -> !cute.layout<"(8,4):(1,?)">
  %6 = cute.recast_layout<16, 8> (%l6) : !cute.layout<"(8,4):(1,?)"> -> !cute.layout<"(4,4):(1,?)">
  cute.print(%6) : !cute.layout<"(4,4):(1,?)">
  return
}

// A row of a swizzled tile: row 2 sets bit 7, so that bit 4 counts down; row 1 sets none of bits 7..9.
// CHECK-NEXT: {{^}}((16,2,2)):((1,-16,32)){{$}}
// CHECK-NEXT: {{^}}((16,2,2)):((1,16,32)){{$}}
func.func @row(%row: i32) {
  %tile = cute.static : !cute.composed_layout<"S<3,4,3> o 0 o (8,64):(64,1)">
  %c = cute.make_coord(%row) : (i32) -> !cute.coord<"(?,_)">
  %0 = cute.slice(%tile, %c) : !cute.composed_layout<"S<3,4,3> o 0 o (8,64):(64,1)">, !cute.coord<"(?,_)">
  cute.print(%0) : !cute.layout<"((16,2,2)):((1,?,?))">
  return
}

func.func @main() {
  %1 = arith.constant 1 : i32
  %2 = arith.constant 2 : i32
  %3 = arith.constant 3 : i32
  %5 = arith.constant 5 : i32
  %6 = arith.constant 6 : i32
  %10 = arith.constant 10 : i32
  %100 = arith.constant 100 : i32
  %130 = arith.constant 130 : i32
  %1000 = arith.constant 1000 : i32
  %wide = arith.constant 10000000000 : i64
  call @index(%3, %5, %wide) : (i32, i32, i64) -> ()
  call @composed(%130, %2) : (i32, i32) -> ()
  call @sizes(%1000, %2, %wide) : (i32, i32, i64) -> ()
  call @algebra(%10, %6, %100) : (i32, i32, i32) -> ()
  call @row(%2) : (i32) -> ()
  call @row(%1) : (i32) -> ()
  return
}
