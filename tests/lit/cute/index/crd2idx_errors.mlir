// RUN: cute-opt %s -split-input-file -verify-diagnostics

func.func @not_congruent(%c: !cute.coord<"((1,2),3)">, %s: !cute.shape<"(4,8)">) {
  // expected-error @+2 {{expects coord and shape to be weakly congruent, but got coord '!cute.coord<"((1,2),3)">' and shape '!cute.shape<"(4,8)">'}}
  // expected-error @+1 {{failed to infer returned types}}
  %r = cute.crd2idx(%c, %s) : (!cute.coord<"((1,2),3)">, !cute.shape<"(4,8)">) -> !cute.int_tuple<"9">
  return
}

// -----

// 2^62 * 4
func.func @too_large(%c: !cute.coord<"(0,4611686018427387904)">, %s: !cute.shape<"(4,8)">) {
  // expected-error @+2 {{unable to pack coordinate '!cute.coord<"(0,4611686018427387904)">' into shape '!cute.shape<"(4,8)">': 4611686018427387904 * 4 does not fit in 64 bits}}
  // expected-error @+1 {{failed to infer returned types}}
  %r = cute.crd2idx(%c, %s) : (!cute.coord<"(0,4611686018427387904)">, !cute.shape<"(4,8)">) -> !cute.int_tuple<"9">
  return
}
