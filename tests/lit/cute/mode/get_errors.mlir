// RUN: cute-opt %s -split-input-file -verify-diagnostics

func.func @out_of_range(%a: !cute.layout<"(4,8):(1,4)">) {
  // expected-error @+2 {{expects mode index in [0, 2) at depth 0, but got 2}}
  // expected-error @+1 {{failed to infer returned types}}
  %r = cute.get<[2]>(%a) : !cute.layout<"(4,8):(1,4)"> -> !cute.layout<"4:1">
  return
}

// -----

func.func @out_of_range_inside(%a: !cute.shape<"(4,(2,2))">) {
  // expected-error @+2 {{expects mode index in [0, 2) at depth 1, but got 3}}
  // expected-error @+1 {{failed to infer returned types}}
  %r = cute.get<[1, 3]>(%a) : !cute.shape<"(4,(2,2))"> -> !cute.shape<"4">
  return
}

// -----

func.func @negative(%a: !cute.shape<"(4,8)">) {
  // expected-error @+2 {{expects mode index in [0, 2) at depth 0, but got -1}}
  // expected-error @+1 {{failed to infer returned types}}
  %r = cute.get<[-1]>(%a) : !cute.shape<"(4,8)"> -> !cute.shape<"8">
  return
}

// -----

func.func @below_a_leaf(%a: !cute.shape<"(4,8)">) {
  // expected-error @+2 {{expects mode indices to stop at a scalar leaf, but got 2 extra indices after depth 1}}
  // expected-error @+1 {{failed to infer returned types}}
  %r = cute.get<[0, 0, 1]>(%a) : !cute.shape<"(4,8)"> -> !cute.shape<"4">
  return
}

// -----

func.func @one_below_a_leaf(%a: !cute.shape<"(4,8)">) {
  // expected-error @+2 {{expects mode indices to stop at a scalar leaf, but got 1 extra index after depth 1}}
  // expected-error @+1 {{failed to infer returned types}}
  %r = cute.get<[0, 0]>(%a) : !cute.shape<"(4,8)"> -> !cute.shape<"4">
  return
}

// -----

func.func @select_out_of_range(%a: !cute.shape<"(4,8)">) {
  // expected-error @+2 {{expects mode index in [0, 2), but got 2}}
  // expected-error @+1 {{failed to infer returned types}}
  %r = cute.select<[0, 2]>(%a) : !cute.shape<"(4,8)"> -> !cute.shape<"(4,8)">
  return
}
