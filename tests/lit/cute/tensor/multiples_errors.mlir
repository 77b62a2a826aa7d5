// RUN: not cute-opt %s -split-input-file -source-map=off 2>&1 | FileCheck %s

// CHECK: error: failed to parse integer from "": expected 'divby' and a number
func.func private @no_divisor(!cute.i32)

// -----

// CHECK: error: failed to parse integer from "divby 0": a divisor must be positive
func.func private @zero(!cute.i32<divby 0>)

// -----

// CHECK: error: failed to parse integer from "div 4": expected 'divby' and a number
func.func private @no_word(!cute.i32<div 4>)

// -----

func.func @other_width(%m: !cute.i64<divby 8>) {
  // CHECK: error: {{.*}}'cute.assume' op expects a result as wide as its operand, 64 bits, but got 32
  %a = cute.assume %m : !cute.i32<divby 8>
  return
}

// -----

func.func @too_narrow(%m: !cute.i16<divby 8>) {
  // CHECK: error: {{.*}}'cute.make_shape' op operand #0 must be variadic of i32, i64, or depth-0 !cute.int_tuple, but got '!cute.i16<divby 8>'
  %s = cute.make_shape(4, %m)
  return
}
