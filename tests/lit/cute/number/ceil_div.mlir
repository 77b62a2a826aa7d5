// RUN: cute-opt %s | FileCheck %s
// RUN: cute-opt %s -mlir-print-op-generic | cute-opt | FileCheck %s
// RUN: cute-opt %s -emit-bytecode | cute-opt | FileCheck %s
// RUN: cute-opt %s -canonicalize -cse -sccp -o /dev/null

// How many tiles cover: (s + t - 1) / t.

// (7 + 1) / 2
// CHECK-LABEL: func.func @number(
// CHECK: cute.ceil_div(%{{.*}}, %{{.*}}) : (!cute.int_tuple<"7">, !cute.int_tuple<"2">) -> !cute.int_tuple<"4">
func.func @number(%a: !cute.int_tuple<"7">, %b: !cute.int_tuple<"2">) {
  %r = cute.ceil_div(%a, %b) : (!cute.int_tuple<"7">, !cute.int_tuple<"2">) -> !cute.int_tuple<"4">
  return
}

// ?, and (10 + 3) / 4
// CHECK-LABEL: func.func @each(
// CHECK: cute.ceil_div(%{{.*}}, %{{.*}}) : (!cute.shape<"(?,10)">, !cute.shape<"(128,4)">) -> !cute.shape<"(?,3)">
func.func @each(%a: !cute.shape<"(?,10)">, %b: !cute.shape<"(128,4)">) {
  %r = cute.ceil_div(%a, %b) : (!cute.shape<"(?,10)">, !cute.shape<"(128,4)">) -> !cute.shape<"(?,3)">
  return
}

// Modes without a tiler stay: (100+31)/32, (50+15)/16, 3.
// CHECK-LABEL: func.func @fewer_modes(
// CHECK: cute.ceil_div(%{{.*}}, %{{.*}}) : (!cute.shape<"(100,50,3)">, !cute.shape<"(32,16)">) -> !cute.shape<"(4,4,3)">
func.func @fewer_modes(%a: !cute.shape<"(100,50,3)">, %b: !cute.shape<"(32,16)">) {
  %r = cute.ceil_div(%a, %b) : (!cute.shape<"(100,50,3)">, !cute.shape<"(32,16)">) -> !cute.shape<"(4,4,3)">
  return
}

// 4 of 10 leaves 3 tiles, and 4 of 10 used up is 1 of the next mode.
// CHECK-LABEL: func.func @by_one_number(
// CHECK: cute.ceil_div(%{{.*}}, %{{.*}}) : (!cute.shape<"(10,10)">, !cute.shape<"4">) -> !cute.shape<"(3,10)">
func.func @by_one_number(%a: !cute.shape<"(10,10)">, %b: !cute.shape<"4">) {
  %r = cute.ceil_div(%a, %b) : (!cute.shape<"(10,10)">, !cute.shape<"4">) -> !cute.shape<"(3,10)">
  return
}

// ceil(4/8) = 1; ceil(8/4) = 2 of 10: 5.
// CHECK-LABEL: func.func @over_the_first(
// CHECK: cute.ceil_div(%{{.*}}, %{{.*}}) : (!cute.shape<"(4,10)">, !cute.shape<"8">) -> !cute.shape<"(1,5)">
func.func @over_the_first(%a: !cute.shape<"(4,10)">, %b: !cute.shape<"8">) {
  %r = cute.ceil_div(%a, %b) : (!cute.shape<"(4,10)">, !cute.shape<"8">) -> !cute.shape<"(1,5)">
  return
}

// ceil(1000/128) = 8, ceil(130/64) = 3
// CHECK-LABEL: func.func @tile(
// CHECK: cute.ceil_div(%{{.*}}, %{{.*}}) : (!cute.shape<"(1000,130)">, !cute.tile<"[128:1;64:1]">) -> !cute.shape<"(8,3)">
func.func @tile(%a: !cute.shape<"(1000,130)">, %b: !cute.tile<"[128:1;64:1]">) {
  %r = cute.ceil_div(%a, %b) : (!cute.shape<"(1000,130)">, !cute.tile<"[128:1;64:1]">) -> !cute.shape<"(8,3)">
  return
}

// 1000 / (8*16) rounded up.
// CHECK-LABEL: func.func @tile_of_a_number(
// CHECK: cute.ceil_div(%{{.*}}, %{{.*}}) : (!cute.shape<"1000">, !cute.tile<"[8:1;16:1]">) -> !cute.shape<"8">
func.func @tile_of_a_number(%a: !cute.shape<"1000">, %b: !cute.tile<"[8:1;16:1]">) {
  %r = cute.ceil_div(%a, %b) : (!cute.shape<"1000">, !cute.tile<"[8:1;16:1]">) -> !cute.shape<"8">
  return
}

// CHECK-LABEL: func.func @shape_by_int_tuple(
// CHECK: cute.ceil_div(%{{.*}}, %{{.*}}) : (!cute.shape<"?{i64}">, !cute.int_tuple<"8">) -> !cute.shape<"?{i64}">
func.func @shape_by_int_tuple(%a: !cute.shape<"?{i64}">, %b: !cute.int_tuple<"8">) {
  %r = cute.ceil_div(%a, %b) : (!cute.shape<"?{i64}">, !cute.int_tuple<"8">) -> !cute.shape<"?{i64}">
  return
}

// A multiple of 64 in tiles of 16: a multiple of 4.
// CHECK-LABEL: func.func @divisible(
// CHECK: cute.ceil_div(%{{.*}}, %{{.*}}) : (!cute.int_tuple<"?{div=64}">, !cute.int_tuple<"16">) -> !cute.int_tuple<"?{div=4}">
func.func @divisible(%a: !cute.int_tuple<"?{div=64}">, %b: !cute.int_tuple<"16">) {
  %r = cute.ceil_div(%a, %b) : (!cute.int_tuple<"?{div=64}">, !cute.int_tuple<"16">) -> !cute.int_tuple<"?{div=4}">
  return
}
