// RUN: cute-opt %s -split-input-file -verify-diagnostics

func.func @empty_mode(%a: !cute.shape<"(4,0)">) {
  // expected-error @+2 {{expects positive shape mode, but got "(4,0):(1@0,1@1)": mode [1] has extent 0}}
  // expected-error @+1 {{failed to infer returned types}}
  %r = cute.make_identity_layout(%a) : !cute.shape<"(4,0)"> -> !cute.layout<"(4,1):(1@0,1@1)">
  return
}

// -----

func.func @other_result(%a: !cute.shape<"(4,8)">) {
  // expected-error @+2 {{inferred type(s) '!cute.layout<"(4,8):(1@0,1@1)">' are incompatible with return type(s) of operation '!cute.layout<"(4,8):(1,4)">'}}
  // expected-error @+1 {{failed to infer returned types}}
  %r = cute.make_identity_layout(%a) : !cute.shape<"(4,8)"> -> !cute.layout<"(4,8):(1,4)">
  return
}
