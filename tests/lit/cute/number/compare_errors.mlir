// RUN: cute-opt %s -split-input-file -verify-diagnostics

func.func @less_not_congruent(%a: !cute.coord<"(?,?)">, %b: !cute.shape<"64">) {
  // expected-error @+1 {{'cute.elem_less' op expects congruent inputs, but got '!cute.coord<"(?,?)">' and '!cute.shape<"64">'}}
  %r = cute.elem_less(%a, %b) : (!cute.coord<"(?,?)">, !cute.shape<"64">) -> i1
  return
}

// -----

func.func @less_underscore(%a: !cute.coord<"(?,_)">, %b: !cute.shape<"(8,8)">) {
  // expected-error @+1 {{'cute.elem_less' op expects coordinates without underscores, but got '!cute.coord<"(?,_)">'}}
  %r = cute.elem_less(%a, %b) : (!cute.coord<"(?,_)">, !cute.shape<"(8,8)">) -> i1
  return
}

// -----

func.func @other_kind(%a: !cute.shape<"4">, %b: !cute.int_tuple<"4">) {
  // expected-error @+1 {{'cute.equal' op expects lhs and rhs to be the same kind, but got '!cute.shape<"4">' and '!cute.int_tuple<"4">'}}
  %r = cute.equal(%a, %b) : (!cute.shape<"4">, !cute.int_tuple<"4">) -> i1
  return
}

// -----

func.func @not_comparable(%a: !cute.tile<"[4:1]">, %b: !cute.tile<"[4:1]">) {
  // expected-error @+1 {{operand #0 must be !cute.int_tuple, !cute.shape, !cute.coord, !cute.stride, or !cute.layout}}
  %r = cute.equal(%a, %b) : (!cute.tile<"[4:1]">, !cute.tile<"[4:1]">) -> i1
  return
}

// -----

func.func @result(%a: !cute.shape<"4">, %b: !cute.shape<"4">) {
  // expected-error @+1 {{result #0 must be 1-bit signless integer, but got 'i32'}}
  %r = cute.equal(%a, %b) : (!cute.shape<"4">, !cute.shape<"4">) -> i32
  return
}
