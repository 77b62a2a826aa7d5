// RUN: cute-opt %s -split-input-file -verify-diagnostics

func.func @unknown(%a: !cute.layout<"(4,8):(8,1)">, %c: !cute.coord<"(_,?)">) -> !cute.layout<"1:0"> {
  // expected-error @+1 {{expects coord to be static, but got '!cute.coord<"(_,?)">'}}
  %r = cute.dice(%a, %c) : !cute.layout<"(4,8):(8,1)">, !cute.coord<"(_,?)">
  return %r : !cute.layout<"1:0">
}

// -----

func.func @not_congruent(%a: !cute.shape<"4">, %c: !cute.coord<"(_,0)">) -> !cute.shape<"4"> {
  // expected-error @+1 {{expects coord to be weakly congruent with input shape, but got '!cute.shape<"4">' and '!cute.coord<"(_,0)">'}}
  %r = cute.dice(%a, %c) : !cute.shape<"4">, !cute.coord<"(_,0)">
  return %r : !cute.shape<"4">
}
