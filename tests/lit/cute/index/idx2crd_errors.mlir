// RUN: cute-opt %s -split-input-file -verify-diagnostics

func.func @rank(%i: !cute.int_tuple<"(1,2,3)">, %s: !cute.shape<"(4,8)">) {
  // expected-error @+2 {{expects index rank 2 (to match shape rank) or scalar, but got 3}}
  // expected-error @+1 {{failed to infer returned types}}
  %r = cute.idx2crd(%i, %s) : (!cute.int_tuple<"(1,2,3)">, !cute.shape<"(4,8)">) -> !cute.coord<"(1,2)">
  return
}

// -----

func.func @structure(%i: !cute.int_tuple<"(1,(2,3))">, %s: !cute.shape<"(4,8)">) {
  // expected-error @+2 {{unable to compute idx2crd for index '!cute.int_tuple<"(1,(2,3))">' and shape '!cute.shape<"(4,8)">': expects an index of the structure of shape 8, but got (2,3)}}
  // expected-error @+1 {{failed to infer returned types}}
  %r = cute.idx2crd(%i, %s) : (!cute.int_tuple<"(1,(2,3))">, !cute.shape<"(4,8)">) -> !cute.coord<"(1,2)">
  return
}

// -----

func.func @empty_mode(%i: !cute.int_tuple<"5">, %s: !cute.shape<"(0,4)">) {
  // expected-error @+2 {{division by zero in 5 / 0}}
  // expected-error @+1 {{failed to infer returned types}}
  %r = cute.idx2crd(%i, %s) : (!cute.int_tuple<"5">, !cute.shape<"(0,4)">) -> !cute.coord<"(1,2)">
  return
}

// -----

func.func @empty_mode_unknown(%i: !cute.int_tuple<"?">, %s: !cute.shape<"(0,4)">) {
  // expected-error @+2 {{division by zero in ? / 0}}
  // expected-error @+1 {{failed to infer returned types}}
  %r = cute.idx2crd(%i, %s) : (!cute.int_tuple<"?">, !cute.shape<"(0,4)">) -> !cute.coord<"(?,?)">
  return
}
