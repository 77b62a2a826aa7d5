// RUN: cute-opt %s -split-input-file -verify-diagnostics

func.func @trivial(%a: !cute.swizzle<"S<0,4,3>">, %b: !cute.int_tuple<"0">, %c: !cute.layout<"8:1">) {
  // expected-error @+2 {{expects a non-trivial composed layout (with swizzle bits or non-zero offset); use `!cute.layout` for trivial wraps, but got "S<0,4,3> o 0 o 8:1"}}
  // expected-error @+1 {{failed to infer returned types}}
  %r = cute.make_composed_layout(%a, %b, %c) : (!cute.swizzle<"S<0,4,3>">, !cute.int_tuple<"0">, !cute.layout<"8:1">) -> !cute.composed_layout<"S<3,4,3> o 0 o 8:1">
  return
}

// -----

// B gives (i,j): there is no 2 + (i,j).
func.func @scalar_offset_of_a_tuple(%a: !cute.layout<"(6,2):(1,3)">, %b: !cute.int_tuple<"2">, %c: !cute.layout<"(2,3):(1@1,2@0)">) {
  // expected-error @+2 {{expects offset and `layout_eval(0, outer)` to be addable, but got 2 and (0,0)}}
  // expected-error @+1 {{failed to infer returned types}}
  %r = cute.make_composed_layout(%a, %b, %c) : (!cute.layout<"(6,2):(1,3)">, !cute.int_tuple<"2">, !cute.layout<"(2,3):(1@1,2@0)">) -> !cute.composed_layout<"(4,5):(1,4) o 2 o (2,3):(1,2)">
  return
}

// -----

func.func @swizzle_of_a_tuple(%a: !cute.swizzle<"S<3,4,3>">, %b: !cute.int_tuple<"(0,0)">, %c: !cute.layout<"(4,2):(1@0,1@1)">) {
  // expected-error @+2 {{swizzle layout expects scalar `offset` and `outer` without scaled basis, but got (0,0) and (4,2):(1@0,1@1)}}
  // expected-error @+1 {{failed to infer returned types}}
  %r = cute.make_composed_layout(%a, %b, %c) : (!cute.swizzle<"S<3,4,3>">, !cute.int_tuple<"(0,0)">, !cute.layout<"(4,2):(1@0,1@1)">) -> !cute.composed_layout<"S<3,4,3> o 0 o 8:1">
  return
}

// -----

func.func @too_many_modes(%a: !cute.layout<"(4,5,2):(1,4,20)">, %b: !cute.int_tuple<"(0,0)">, %c: !cute.layout<"(2,3):(1@0,1@1)">) {
  // expected-error @+2 {{expects arith sum of `layout_eval(0, outer)` and `offset` to be scalar or weakly congruent to inner shape, but got sum (0,0) and inner shape (4,5,2)}}
  // expected-error @+1 {{failed to infer returned types}}
  %r = cute.make_composed_layout(%a, %b, %c) : (!cute.layout<"(4,5,2):(1,4,20)">, !cute.int_tuple<"(0,0)">, !cute.layout<"(2,3):(1@0,1@1)">) -> !cute.composed_layout<"S<3,4,3> o 0 o 8:1">
  return
}

// -----

func.func @inner_of_a_layout(%a: !cute.layout<"8:1">) {
  // expected-error @+1 {{'cute.composed_get_inner' op operand #0 must be `A o offset o B`: the coordinate `c` maps to `A(offset + B(c))`, but got '!cute.layout<"8:1">'}}
  %r = cute.composed_get_inner(%a) : !cute.layout<"8:1"> -> !cute.layout<"8:1">
  return
}
