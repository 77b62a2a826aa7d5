// RUN: cute-opt %s -split-input-file -verify-diagnostics

func.func @unknown_order(%a: !cute.shape<"(4,8)">, %b: !cute.int_tuple<"(?,0)">) {
  // expected-error @+2 {{expects order to be a static int_tuple, but got '!cute.int_tuple<"(?,0)">'}}
  // expected-error @+1 {{failed to infer returned types}}
  %r = cute.make_ordered_layout(%a, %b) : (!cute.shape<"(4,8)">, !cute.int_tuple<"(?,0)">) -> !cute.layout<"(4,8):(1,4)">
  return
}

// -----

func.func @not_congruent(%a: !cute.shape<"(4,8)">, %b: !cute.int_tuple<"(0,1,2)">) {
  // expected-error @+2 {{expects order to be weakly congruent to shape '!cute.shape<"(4,8)">', but got '!cute.int_tuple<"(0,1,2)">'}}
  // expected-error @+1 {{failed to infer returned types}}
  %r = cute.make_ordered_layout(%a, %b) : (!cute.shape<"(4,8)">, !cute.int_tuple<"(0,1,2)">) -> !cute.layout<"(4,8):(1,4)">
  return
}

// -----

func.func @empty_mode(%a: !cute.shape<"(4,0)">, %b: !cute.int_tuple<"(0,1)">) {
  // expected-error @+2 {{expects positive shape mode, but got "(4,0):(1,4)": mode [1] has extent 0}}
  // expected-error @+1 {{failed to infer returned types}}
  %r = cute.make_ordered_layout(%a, %b) : (!cute.shape<"(4,0)">, !cute.int_tuple<"(0,1)">) -> !cute.layout<"(4,8):(1,4)">
  return
}
