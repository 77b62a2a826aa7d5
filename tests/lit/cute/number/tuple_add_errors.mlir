// RUN: cute-opt %s -split-input-file -verify-diagnostics

func.func @other_kind(%a: !cute.int_tuple<"1">, %b: !cute.shape<"1">) {
  // expected-error @+2 {{expects lhs and rhs to have the same kind, but got '!cute.int_tuple<"1">' and '!cute.shape<"1">'}}
  // expected-error @+1 {{failed to infer returned types}}
  %r = cute.tuple_add(%a, %b) : (!cute.int_tuple<"1">, !cute.shape<"1">) -> !cute.int_tuple<"2">
  return
}

// -----

func.func @scalar_and_tuple(%a: !cute.int_tuple<"1">, %b: !cute.int_tuple<"(1,2)">) {
  // expected-error @+2 {{expects matching structure, but lhs is a scalar and rhs is a tuple: '!cute.int_tuple<"1">' and '!cute.int_tuple<"(1,2)">'}}
  // expected-error @+1 {{failed to infer returned types}}
  %r = cute.tuple_add(%a, %b) : (!cute.int_tuple<"1">, !cute.int_tuple<"(1,2)">) -> !cute.int_tuple<"(2,2)">
  return
}

// -----

func.func @tuple_and_scalar(%a: !cute.int_tuple<"(1,2)">, %b: !cute.int_tuple<"?">) {
  // expected-error @+2 {{expects matching structure, but rhs is a scalar and lhs is a tuple: '!cute.int_tuple<"(1,2)">' and '!cute.int_tuple<"?">'}}
  // expected-error @+1 {{failed to infer returned types}}
  %r = cute.tuple_add(%a, %b) : (!cute.int_tuple<"(1,2)">, !cute.int_tuple<"?">) -> !cute.int_tuple<"(2,2)">
  return
}

// -----

// -(1,2) is not what CuTe computes.
func.func @sub_from_zero(%a: !cute.int_tuple<"0">, %b: !cute.int_tuple<"(1,2)">) {
  // expected-error @+2 {{expects matching structure, but lhs is a scalar and rhs is a tuple: '!cute.int_tuple<"0">' and '!cute.int_tuple<"(1,2)">'}}
  // expected-error @+1 {{failed to infer returned types}}
  %r = cute.tuple_sub(%a, %b) : (!cute.int_tuple<"0">, !cute.int_tuple<"(1,2)">) -> !cute.int_tuple<"(-1,-2)">
  return
}

// -----

func.func @nesting(%a: !cute.int_tuple<"(1,(2,3))">, %b: !cute.int_tuple<"(1,2)">) {
  // expected-error @+2 {{expects matching nesting at element 1, but got: '!cute.int_tuple<"(1,(2,3))">' and '!cute.int_tuple<"(1,2)">'}}
  // expected-error @+1 {{failed to infer returned types}}
  %r = cute.tuple_add(%a, %b) : (!cute.int_tuple<"(1,(2,3))">, !cute.int_tuple<"(1,2)">) -> !cute.int_tuple<"(2,4)">
  return
}

// -----

func.func @nesting_inside(%a: !cute.int_tuple<"(1,(2,(3,4)))">, %b: !cute.int_tuple<"(1,(2,3))">) {
  // expected-error @+2 {{expects matching nesting at element 1, but got: '!cute.int_tuple<"(1,(2,(3,4)))">' and '!cute.int_tuple<"(1,(2,3))">'}}
  // expected-error @+1 {{failed to infer returned types}}
  %r = cute.tuple_sub(%a, %b) : (!cute.int_tuple<"(1,(2,(3,4)))">, !cute.int_tuple<"(1,(2,3))">) -> !cute.int_tuple<"(2,4)">
  return
}

// -----

func.func @too_large(%a: !cute.int_tuple<"9223372036854775807">, %b: !cute.int_tuple<"1">) {
  // expected-error @+2 {{expects valid operands, but cannot compute result for '!cute.int_tuple<"9223372036854775807">' and '!cute.int_tuple<"1">': 9223372036854775807 + 1 does not fit in 64 bits}}
  // expected-error @+1 {{failed to infer returned types}}
  %r = cute.tuple_add(%a, %b) : (!cute.int_tuple<"9223372036854775807">, !cute.int_tuple<"1">) -> !cute.int_tuple<"0">
  return
}

// -----

func.func @too_small(%a: !cute.int_tuple<"(-9223372036854775808,0)">, %b: !cute.int_tuple<"(1,0)">) {
  // expected-error @+2 {{-9223372036854775808 - 1 does not fit in 64 bits}}
  // expected-error @+1 {{failed to infer returned types}}
  %r = cute.tuple_sub(%a, %b) : (!cute.int_tuple<"(-9223372036854775808,0)">, !cute.int_tuple<"(1,0)">) -> !cute.int_tuple<"0">
  return
}
