// RUN: cute-opt %s | FileCheck %s
// RUN: cute-opt %s -o %t && cute-opt %t | FileCheck %s
// RUN: cute-opt %s -cute-to-standard | FileCheck %s --check-prefix=LOWER

// Integers that are known to be multiples stand wherever an integer does, and what divides them divides what comes of it.

// CHECK-LABEL: func.func @parts(
func.func @parts(%p: !cute.ptr<f16, gmem, align<16>>, %i: i32, %m: !cute.i32<divby 8>, %n: !cute.i64<divby 16>) {
  // CHECK: %[[T:.*]] = cute.make_int_tuple(%{{.*}}) : (!cute.i32<divby 8>) -> !cute.int_tuple<"?{div=8}">
  // CHECK: cute.add_offset(%{{.*}}, %[[T]]) {{.*}} -> !cute.ptr<f16, gmem, align<16>>
  %a = cute.add_offset %p, %m
  // CHECK: cute.make_shape(%{{.*}}) : (!cute.i32<divby 8>) -> !cute.shape<"(4,?{div=8})">
  %s = cute.make_shape(4, %m)
  // CHECK: cute.make_shape(%{{.*}}, %{{.*}}) : (!cute.i64<divby 16>, i32) -> !cute.shape<"(?{i64 div=16},?)">
  %t = cute.make_shape(%n, %i)
  return
}

// CHECK-LABEL: func.func @arithmetic(
func.func @arithmetic(%m: !cute.i32<divby 8>) {
  // CHECK: cute.tuple_add({{.*}}) : (!cute.int_tuple<"?{div=8}">, !cute.int_tuple<"8">) -> !cute.int_tuple<"?{div=8}">
  %a = cute.tuple_add %m, 8
  // CHECK: cute.tuple_mul({{.*}}) {{.*}} -> !cute.int_tuple<"?{div=32}">
  %b = cute.tuple_mul %m, 4
  return
}

// CHECK-LABEL: func.func @layout(
func.func @layout(%m: !cute.i32<divby 8>, %n: !cute.i64<divby 16>) -> i64 {
  // CHECK: cute.make_layout({{.*}}) {{.*}} -> !cute.layout<"(?{div=8},?{i64 div=16}):(?{i64 div=16},1)">
  %l = cute.make_layout (%m, %n), (%n, 1)
  // CHECK: cute.size ({{.*}}) {{.*}} -> !cute.int_tuple<"?{i64 div=128}">
  %s = cute.size %l
  %x = cute.get_scalars %s
  // LOWER-LABEL: func.func @layout(
  // LOWER-SAME: %[[M:.*]]: i32, %[[N:.*]]: i64) -> i64
  // LOWER: %[[W:.*]] = arith.extsi %[[M]] : i32 to i64
  // LOWER: arith.muli %[[W]], %[[N]]
  return %x : i64
}

// A promise may be weaker than what is known; calls and results carry it.
// CHECK-LABEL: func.func @weaker(
// LOWER-LABEL: func.func @weaker(
// LOWER-SAME: %[[I:.*]]: i32) -> i32
func.func @weaker(%i: i32) -> !cute.i32<divby 8> {
  // CHECK: cute.assume(%{{.*}}) : (i32) -> !cute.i32<divby 64>
  %a = cute.assume %i : !cute.i32<divby 64>
  // CHECK: cute.assume(%{{.*}}) : (!cute.i32<divby 64>) -> !cute.i32<divby 8>
  %b = cute.assume %a : !cute.i32<divby 8>
  // LOWER: return %[[I]] : i32
  return %b : !cute.i32<divby 8>
}

// LOWER-LABEL: func.func @call(
func.func @call(%i: i32) -> !cute.i32<divby 8> {
  // LOWER: call @weaker(%{{.*}}) : (i32) -> i32
  %r = func.call @weaker(%i) : (i32) -> !cute.i32<divby 8>
  return %r : !cute.i32<divby 8>
}

// A loop hands multiples on.
// LOWER-LABEL: func.func @loop(
func.func @loop(%m: !cute.i32<divby 8>, %n: index) -> !cute.i32<divby 8> {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  // LOWER: scf.for {{.*}} iter_args({{.*}}) -> (i32)
  %r = scf.for %i = %zero to %n step %one iter_args(%at = %m) -> (!cute.i32<divby 8>) {
    %t = cute.tuple_add %at, 8
    %x = cute.get_scalars %t
    %y = cute.assume %x : !cute.i32<divby 8>
    scf.yield %y : !cute.i32<divby 8>
  }
  return %r : !cute.i32<divby 8>
}
