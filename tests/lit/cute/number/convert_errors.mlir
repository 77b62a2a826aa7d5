// RUN: cute-opt %s -split-input-file -verify-diagnostics

func.func @underscore(%a: !cute.coord<"(4,_)">) {
  // expected-error @+2 {{expects source without underscores (_), but got '!cute.coord<"(4,_)">'}}
  // expected-error @+1 {{failed to infer returned types}}
  %r = cute.to_int_tuple(%a) : !cute.coord<"(4,_)"> -> !cute.int_tuple<"(4,1)">
  return
}

// -----

func.func @basis(%a: !cute.stride<"(4@0,1@1)">) {
  // expected-error @+2 {{expects source without scaled-basis strides, but got '!cute.stride<"(4@0,1@1)">'}}
  // expected-error @+1 {{failed to infer returned types}}
  %r = cute.to_int_tuple(%a) : !cute.stride<"(4@0,1@1)"> -> !cute.int_tuple<"(4,1)">
  return
}

// -----

func.func @other_result(%a: !cute.int_tuple<"(?,4)">) {
  // expected-error @+2 {{inferred type(s) '!cute.shape<"(?,4)">' are incompatible with return type(s) of operation '!cute.shape<"(4,?)">'}}
  // expected-error @+1 {{failed to infer returned types}}
  %r = cute.to_shape(%a) : !cute.int_tuple<"(?,4)"> -> !cute.shape<"(4,?)">
  return
}

// -----

func.func @not_an_int_tuple(%a: !cute.stride<"4">) {
  // expected-error @+1 {{op operand #0 must be Scalar integer or recursive tuple of integers}}
  %r = cute.to_shape(%a) : !cute.stride<"4"> -> !cute.shape<"4">
  return
}
