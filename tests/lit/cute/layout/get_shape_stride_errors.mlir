// RUN: cute-opt %s -split-input-file -verify-diagnostics

func.func @open_tile(%a: !cute.tile<"[4:1;_]">) {
  // expected-error @+2 {{expects a tile operand with no underscore slots, but got '!cute.tile<"[4:1;_]">'}}
  // expected-error @+1 {{failed to infer returned types}}
  %r = cute.get_shape(%a) : !cute.tile<"[4:1;_]"> -> !cute.shape<"(4,1)">
  return
}

// -----

func.func @other_result(%a: !cute.layout<"(4,8):(1,4)">) {
  // expected-error @+2 {{inferred type(s) '!cute.shape<"(4,8)">' are incompatible with return type(s) of operation '!cute.shape<"(8,4)">'}}
  // expected-error @+1 {{failed to infer returned types}}
  %r = cute.get_shape(%a) : !cute.layout<"(4,8):(1,4)"> -> !cute.shape<"(8,4)">
  return
}
