// RUN: cute-opt %s -split-input-file -verify-diagnostics

func.func @too_few(%a: i32) {
  // expected-error @+1 {{'cute.make_shape' op expects 2 dynamic operand(s) for result type '!cute.shape<"(?,(2,?))">', but got 1}}
  %r = cute.make_shape(%a) : (i32) -> !cute.shape<"(?,(2,?))">
  return
}

// -----

func.func @too_many(%a: i32) {
  // expected-error @+1 {{'cute.make_int_tuple' op expects 0 dynamic operand(s) for result type '!cute.int_tuple<"(2,3)">', but got 1}}
  %r = cute.make_int_tuple(%a) : (i32) -> !cute.int_tuple<"(2,3)">
  return
}

// -----

func.func @too_narrow(%a: i32, %b: i32) {
  // expected-error @+1 {{'cute.make_stride' op expects operand #1 to have (width=64), but got (width=32)}}
  %r = cute.make_stride(%a, %b) : (i32, i32) -> !cute.stride<"(?,?{i64})">
  return
}

// -----

func.func @too_wide(%a: i64) {
  // expected-error @+1 {{'cute.make_coord' op expects operand #0 to have (width=32), but got (width=64)}}
  %r = cute.make_coord(%a) : (i64) -> !cute.coord<"(?,_)">
  return
}

// -----

// An int_tuple that is unknown has a width of its own.
func.func @leaf_too_narrow(%a: !cute.int_tuple<"?">) {
  // expected-error @+1 {{'cute.make_tile' op expects operand #0 to have (width=64), but got (width=32)}}
  %r = cute.make_tile(%a) : (!cute.int_tuple<"?">) -> !cute.tile<"[4:?{i64};_]">
  return
}

// -----

func.func @not_an_integer(%a: index) {
  // expected-error @+1 {{'cute.make_shape' op operand #0 must be variadic of i32, i64, or depth-0 !cute.int_tuple, but got 'index'}}
  %r = cute.make_shape(%a) : (index) -> !cute.shape<"?">
  return
}

// -----

func.func @not_a_leaf(%a: !cute.int_tuple<"(?,?)">) {
  // expected-error @+1 {{'cute.make_shape' op operand #0 must be variadic of i32, i64, or depth-0 !cute.int_tuple}}
  %r = cute.make_shape(%a) : (!cute.int_tuple<"(?,?)">) -> !cute.shape<"?">
  return
}

// -----

func.func @other_result(%a: i32) {
  // expected-error @+1 {{'cute.make_shape' op result #0 must be Scalar integer or recursive tuple of shape extents}}
  %r = cute.make_shape(%a) : (i32) -> !cute.stride<"?">
  return
}

// -----

func.func @promise(%t: !cute.int_tuple<"?{div=4}">) {
  // expected-error @+1 {{'cute.make_shape' op expects operand #0 to be a multiple of 8, but its divisor is 4}}
  %0 = cute.make_shape(%t) : (!cute.int_tuple<"?{div=4}">) -> !cute.shape<"?{div=8}">
  return
}

// -----

func.func @promise_of_nothing(%t: !cute.int_tuple<"?">, %i: i32) {
  // expected-error @+1 {{'cute.make_coord' op expects operand #1 to be a multiple of 8, but its divisor is 1}}
  %0 = cute.make_coord(%i, %t) : (i32, !cute.int_tuple<"?">) -> !cute.coord<"(?{div=16},?{div=8})">
  return
}

// -----

func.func @promise_of_number() {
  %n = arith.constant 12 : i64
  // expected-error @+1 {{'cute.make_stride' op expects operand #0 to be a multiple of 8, but got 12}}
  %0 = cute.make_stride(%n) : (i64) -> !cute.stride<"?{i64 div=8}">
  return
}

// -----

func.func @promise_of_known(%t: !cute.int_tuple<"6">) {
  // expected-error @+1 {{'cute.make_int_tuple' op expects operand #0 to be a multiple of 4, but got 6}}
  %0 = cute.make_int_tuple(%t) : (!cute.int_tuple<"6">) -> !cute.int_tuple<"?{div=4}">
  return
}

// -----

func.func @promise_of_multiple(%i: !cute.i32<divby 6>) {
  // expected-error @+1 {{expects operand #0 to be a multiple of 4, but its divisor is 6}}
  %0 = cute.make_int_tuple(%i) : (!cute.i32<divby 6>) -> !cute.int_tuple<"?{div=4}">
  return
}

// -----

// What keeps it: zero, a multiple, an integer of which nothing is known.
func.func @kept(%t: !cute.int_tuple<"?{div=24}">, %i: i32) {
  %n = arith.constant 0 : i32
  %0 = cute.make_coord(%t, %i, %n) : (!cute.int_tuple<"?{div=24}">, i32, i32) -> !cute.coord<"(?{div=8},?{div=8},?{div=8})">
  return
}
