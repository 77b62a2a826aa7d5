// RUN: cute-opt %s -split-input-file -verify-diagnostics

func.func @not_congruent(%c: !cute.coord<"5">, %s: !cute.shape<"(4,8)">) {
  // expected-error @+2 {{expects coord to be congruent with shape, but got '!cute.coord<"5">' and '!cute.shape<"(4,8)">'}}
  // expected-error @+1 {{failed to infer returned types}}
  %r = cute.increment_coord(%c, %s) : (!cute.coord<"5">, !cute.shape<"(4,8)">) -> !cute.coord<"6">
  return
}

// -----

func.func @underscore(%c: !cute.coord<"(_,1)">, %s: !cute.shape<"(4,8)">) {
  // expected-error @+2 {{expects coord to be free of underscore wildcards, but got '!cute.coord<"(_,1)">'}}
  // expected-error @+1 {{failed to infer returned types}}
  %r = cute.increment_coord(%c, %s) : (!cute.coord<"(_,1)">, !cute.shape<"(4,8)">) -> !cute.coord<"(_,2)">
  return
}

// -----

func.func @too_large(%c: !cute.coord<"9223372036854775807">, %s: !cute.shape<"8">) {
  // expected-error @+2 {{unable to compute increment_coord for coord '!cute.coord<"9223372036854775807">' and shape '!cute.shape<"8">': 9223372036854775807 + 1 does not fit in 64 bits}}
  // expected-error @+1 {{failed to infer returned types}}
  %r = cute.increment_coord(%c, %s) : (!cute.coord<"9223372036854775807">, !cute.shape<"8">) -> !cute.coord<"8">
  return
}
