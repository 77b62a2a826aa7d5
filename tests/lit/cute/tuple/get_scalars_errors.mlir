// RUN: cute-opt %s -split-input-file -verify-diagnostics

func.func @none(%a: !cute.shape<"(4,8)">) {
  // expected-error @+1 {{expected named operation to have at least 1 result}}
  %r:0 = cute.get_scalars<{only_dynamic}>(%a) : !cute.shape<"(4,8)">
  return
}

// -----

func.func @too_many(%a: !cute.shape<"4">) -> (i32, i32) {
  // expected-error @+1 {{operation defines 1 results but was provided 2 to bind}}
  %r:2 = cute.get_scalars(%a) : !cute.shape<"4">
  return %r#0, %r#1 : i32, i32
}
