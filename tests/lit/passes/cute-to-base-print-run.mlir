// RUN: cute-opt %s -cute-expand-ops -cute-to-base -base-prepare -one-shot-convert-to-llvm \
// RUN:   | mlir-cpu-runner -e main -entry-point-result=void | FileCheck %s --strict-whitespace --match-full-lines

// What each of the eight types prints, with 7 and 10^10 in its unknown leaves.
//      CHECK:(2,7)
// CHECK-NEXT:(10000000000,4)
// CHECK-NEXT:(1@0,7@1)
// CHECK-NEXT:(_,7)
// CHECK-NEXT:(10000000000,4):(1,7)
// CHECK-NEXT:[7:1;_;4:10000000000]
// CHECK-NEXT:S<3,4,3>
// CHECK-NEXT:S<3,4,3> o 7 o (10000000000,4):(1,7)
// CHECK-NEXT:(10000000000,4):(1,7) o -7 o 7:2
// CHECK-NEXT:-7
// CHECK-NEXT:()
func.func @main() {
  %i = arith.constant 7 : i32
  %j = arith.constant -7 : i32
  %w = arith.constant 10000000000 : i64
  %t = cute.make_int_tuple(%i) : (i32) -> !cute.int_tuple<"(2,?)">
  cute.print(%t) : !cute.int_tuple<"(2,?)">
  %s = cute.make_shape(%w) : (i64) -> !cute.shape<"(?{i64},4)">
  cute.print(%s) : !cute.shape<"(?{i64},4)">
  %d = cute.make_stride(%i) : (i32) -> !cute.stride<"(1@0,?@1)">
  cute.print(%d) : !cute.stride<"(1@0,?@1)">
  %c = cute.make_coord(%i) : (i32) -> !cute.coord<"(_,?)">
  cute.print(%c) : !cute.coord<"(_,?)">
  %k = cute.make_stride(%i) : (i32) -> !cute.stride<"(1,?)">
  %l = cute.make_layout(%s, %k) : (!cute.shape<"(?{i64},4)">, !cute.stride<"(1,?)">) -> !cute.layout<"(?{i64},4):(1,?)">
  cute.print(%l) : !cute.layout<"(?{i64},4):(1,?)">
  %e = cute.make_tile(%i, %w) : (i32, i64) -> !cute.tile<"[?:1;_;4:?{i64}]">
  cute.print(%e) : !cute.tile<"[?:1;_;4:?{i64}]">
  %z = cute.static : !cute.swizzle<"S<3,4,3>">
  cute.print(%z) : !cute.swizzle<"S<3,4,3>">
  %o = cute.make_int_tuple(%i) : (i32) -> !cute.int_tuple<"?">
  %m = cute.make_composed_layout(%z, %o, %l) : (!cute.swizzle<"S<3,4,3>">, !cute.int_tuple<"?">, !cute.layout<"(?{i64},4):(1,?)">) -> !cute.composed_layout<"S<3,4,3> o ? o (?{i64},4):(1,?)">
  cute.print(%m) : !cute.composed_layout<"S<3,4,3> o ? o (?{i64},4):(1,?)">
  %q = cute.make_int_tuple(%j) : (i32) -> !cute.int_tuple<"?">
  %sb = cute.make_shape(%i) : (i32) -> !cute.shape<"?">
  %db = cute.static : !cute.stride<"2">
  %b = cute.make_layout(%sb, %db) : (!cute.shape<"?">, !cute.stride<"2">) -> !cute.layout<"?:2">
  %a = cute.make_composed_layout(%l, %q, %b) : (!cute.layout<"(?{i64},4):(1,?)">, !cute.int_tuple<"?">, !cute.layout<"?:2">) -> !cute.composed_layout<"(?{i64},4):(1,?) o ? o ?:2">
  cute.print(%a) : !cute.composed_layout<"(?{i64},4):(1,?) o ? o ?:2">
  cute.print(%q) : !cute.int_tuple<"?">
  %n = cute.static : !cute.int_tuple<"()">
  cute.print(%n) : !cute.int_tuple<"()">
  return
}
