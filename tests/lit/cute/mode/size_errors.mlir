// RUN: cute-opt %s -split-input-file -verify-diagnostics

func.func @mode_out_of_range(%a: !cute.shape<"(4,8)">) {
  // expected-error @+2 {{expects mode index in [0, 2) at depth 0, but got 2}}
  // expected-error @+1 {{failed to infer returned types}}
  %r = cute.size<[2]>(%a) : (!cute.shape<"(4,8)">) -> !cute.int_tuple<"4">
  return
}

// -----

// 2^32 * 2^32
func.func @too_large(%a: !cute.shape<"(4294967296,4294967296)">) {
  // expected-error @+2 {{4294967296 * 4294967296 does not fit in 64 bits}}
  // expected-error @+1 {{failed to infer returned types}}
  %r = cute.size(%a) : (!cute.shape<"(4294967296,4294967296)">) -> !cute.int_tuple<"0">
  return
}

// -----

func.func @cosize_affine(%a: !cute.composed_layout<"(4,5):(1,4) o 2 o (2,3):(1,2)">) {
  // expected-error @+2 {{expects composed_layout inner to be a swizzle (cosize is undefined for affine inner), but got '!cute.composed_layout<"(4,5):(1,4) o 2 o (2,3):(1,2)">'}}
  // expected-error @+1 {{failed to infer returned types}}
  %r = cute.cosize(%a) : (!cute.composed_layout<"(4,5):(1,4) o 2 o (2,3):(1,2)">) -> !cute.int_tuple<"8">
  return
}

// -----

func.func @other_result(%a: !cute.shape<"(4,8)">) {
  // expected-error @+2 {{inferred type(s) '!cute.int_tuple<"32">' are incompatible with return type(s) of operation '!cute.int_tuple<"31">'}}
  // expected-error @+1 {{failed to infer returned types}}
  %r = cute.size(%a) : (!cute.shape<"(4,8)">) -> !cute.int_tuple<"31">
  return
}
