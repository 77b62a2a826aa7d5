// RUN: cute-opt %s -split-input-file -verify-diagnostics

func.func @too_large(%a: !cute.int_tuple<"(2,(4294967296,4294967296))">) {
  // expected-error @+2 {{4294967296 * 4294967296 does not fit in 64 bits}}
  // expected-error @+1 {{failed to infer returned types}}
  %r = cute.tuple_product_each(%a) : (!cute.int_tuple<"(2,(4294967296,4294967296))">) -> !cute.int_tuple<"(2,0)">
  return
}

// -----

func.func @stride(%a: !cute.stride<"(2,3)">) {
  // expected-error @+1 {{op operand #0 must be Scalar integer or recursive tuple of integers or Scalar integer or recursive tuple of shape extents}}
  %r = cute.tuple_product(%a) : (!cute.stride<"(2,3)">) -> !cute.stride<"6">
  return
}
