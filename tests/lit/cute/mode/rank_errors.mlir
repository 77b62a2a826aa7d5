// RUN: cute-opt %s -split-input-file -verify-diagnostics

func.func @zero_rank(%a: !cute.shape<"4">, %b: !cute.shape<"1">) -> !cute.shape<"4"> {
  // expected-error @+1 {{expects rank to be a positive integer, but got 0}}
  %r = cute.append_to_rank<0>(%a, %b) : !cute.shape<"4">, !cute.shape<"1">
  return %r : !cute.shape<"4">
}

// -----

func.func @negative_rank(%a: !cute.shape<"4">, %b: !cute.shape<"1">) -> !cute.shape<"4"> {
  // expected-error @+1 {{expects rank to be a positive integer, but got -2}}
  %r = cute.prepend_to_rank<-2>(%a, %b) : !cute.shape<"4">, !cute.shape<"1">
  return %r : !cute.shape<"4">
}

// -----

func.func @absurd_rank(%a: !cute.shape<"4">, %b: !cute.shape<"1">) -> !cute.shape<"4"> {
  // expected-error @+1 {{expects rank to be}}
  %r = cute.append_to_rank<70000>(%a, %b) : !cute.shape<"4">, !cute.shape<"1">
  return %r : !cute.shape<"4">
}

// -----

// 65535 times two leaves.
func.func @too_many_leaves(%a: !cute.shape<"4">, %b: !cute.shape<"(2,2)">) -> !cute.shape<"4"> {
  // expected-error @+1 {{the result would have more than 65536 leaves}}
  %r = cute.append_to_rank<65536>(%a, %b) : !cute.shape<"4">, !cute.shape<"(2,2)">
  return %r : !cute.shape<"4">
}

// -----

func.func @other_kind(%a: !cute.shape<"4">, %b: !cute.int_tuple<"1">) -> !cute.shape<"(4,1)"> {
  // expected-error @+1 {{expects input and element to have the same kind, but got '!cute.shape<"4">' and '!cute.int_tuple<"1">'}}
  %r = cute.append_to_rank<2>(%a, %b) : !cute.shape<"4">, !cute.int_tuple<"1">
  return %r : !cute.shape<"(4,1)">
}

// -----

func.func @element_of_composed(%a: !cute.composed_layout<"S<3,4,3> o 0 o (8,64):(64,1)">, %b: !cute.shape<"1">) -> !cute.layout<"1:0"> {
  // expected-error @+1 {{expects element to be !cute.layout when input is !cute.composed_layout, but got '!cute.shape<"1">'}}
  %r = cute.prepend_to_rank<3>(%a, %b) : !cute.composed_layout<"S<3,4,3> o 0 o (8,64):(64,1)">, !cute.shape<"1">
  return %r : !cute.layout<"1:0">
}

// -----

func.func @mixed_strides(%a: !cute.stride<"1@0">, %b: !cute.stride<"1">) -> !cute.stride<"1"> {
  // expected-error @+1 {{expects strides to be either all-integer or all-scaled-basis (zero integers allowed when mixed), but got "(1@0,1)"}}
  %r = cute.append_to_rank<2>(%a, %b) : !cute.stride<"1@0">, !cute.stride<"1">
  return %r : !cute.stride<"1">
}

// -----

func.func @swizzle(%a: !cute.swizzle<"S<3,4,3>">, %b: !cute.swizzle<"S<3,4,3>">) -> !cute.shape<"4"> {
  // expected-error @+1 {{expects $input to be !cute.int_tuple, !cute.coord, !cute.stride, !cute.shape, !cute.layout, or !cute.composed_layout, but got '!cute.swizzle<"S<3,4,3>">'}}
  %r = cute.append_to_rank<2>(%a, %b) : !cute.swizzle<"S<3,4,3>">, !cute.swizzle<"S<3,4,3>">
  return %r : !cute.shape<"4">
}
