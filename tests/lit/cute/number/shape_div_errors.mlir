// RUN: cute-opt %s -split-input-file -verify-diagnostics

func.func @not_divisible(%a: !cute.shape<"7">, %b: !cute.shape<"3">) {
  // expected-error @+2 {{expects valid operands, but cannot compute shape_div for '!cute.shape<"7">' and '!cute.shape<"3">': 7 is not divisible by 3 (neither 7 % 3 == 0 nor 3 % 7 == 0)}}
  // expected-error @+1 {{failed to infer returned types}}
  %r = cute.shape_div(%a, %b) : (!cute.shape<"7">, !cute.shape<"3">) -> !cute.shape<"3">
  return
}

// -----

func.func @zero(%a: !cute.shape<"(4,8)">, %b: !cute.shape<"0">) {
  // expected-error @+2 {{expects valid operands, but cannot compute shape_div for '!cute.shape<"(4,8)">' and '!cute.shape<"0">': divisor is zero}}
  // expected-error @+1 {{failed to infer returned types}}
  %r = cute.shape_div(%a, %b) : (!cute.shape<"(4,8)">, !cute.shape<"0">) -> !cute.shape<"3">
  return
}

// -----

func.func @zero_inside(%a: !cute.shape<"(4,8)">, %b: !cute.shape<"(2,0)">) {
  // expected-error @+2 {{cannot compute shape_div for '!cute.shape<"(4,8)">' and '!cute.shape<"(2,0)">': divisor is zero}}
  // expected-error @+1 {{failed to infer returned types}}
  %r = cute.shape_div(%a, %b) : (!cute.shape<"(4,8)">, !cute.shape<"(2,0)">) -> !cute.shape<"3">
  return
}

// -----

func.func @rank(%a: !cute.shape<"(4,8)">, %b: !cute.shape<"(2,2,2)">) {
  // expected-error @+2 {{expects shapes of the same rank to divide, but got (4,8) and (2,2,2)}}
  // expected-error @+1 {{failed to infer returned types}}
  %r = cute.shape_div(%a, %b) : (!cute.shape<"(4,8)">, !cute.shape<"(2,2,2)">) -> !cute.shape<"3">
  return
}
