// RUN: cute-opt %s -split-input-file -verify-diagnostics

func.func @zero(%a: !cute.int_tuple<"7">, %b: !cute.int_tuple<"0">) {
  // expected-error @+2 {{expects valid operands, but cannot compute ceil_div for '!cute.int_tuple<"7">' and '!cute.int_tuple<"0">': tiler is zero}}
  // expected-error @+1 {{failed to infer returned types}}
  %r = cute.ceil_div(%a, %b) : (!cute.int_tuple<"7">, !cute.int_tuple<"0">) -> !cute.int_tuple<"1">
  return
}

// -----

func.func @zero_inside(%a: !cute.int_tuple<"((8,10),(6,4))">, %b: !cute.int_tuple<"((2,5),(3,0))">) {
  // expected-error @+2 {{division by zero in 4 ceil_div 0}}
  // expected-error @+1 {{failed to infer returned types}}
  %r = cute.ceil_div(%a, %b) : (!cute.int_tuple<"((8,10),(6,4))">, !cute.int_tuple<"((2,5),(3,0))">) -> !cute.int_tuple<"1">
  return
}

// -----

func.func @rank(%a: !cute.int_tuple<"(4,8)">, %b: !cute.int_tuple<"(2,4,2)">) {
  // expected-error @+2 {{rank(tiler)=3 > rank(input)=2}}
  // expected-error @+1 {{failed to infer returned types}}
  %r = cute.ceil_div(%a, %b) : (!cute.int_tuple<"(4,8)">, !cute.int_tuple<"(2,4,2)">) -> !cute.int_tuple<"1">
  return
}

// -----

func.func @rank_inside(%a: !cute.shape<"((4,8),2)">, %b: !cute.shape<"((2,4,2),2)">) {
  // expected-error @+2 {{expects a tiler of at most rank 2 for (4,8), but got (2,4,2)}}
  // expected-error @+1 {{failed to infer returned types}}
  %r = cute.ceil_div(%a, %b) : (!cute.shape<"((4,8),2)">, !cute.shape<"((2,4,2),2)">) -> !cute.shape<"1">
  return
}

// -----

func.func @rank_of_a_tile(%a: !cute.shape<"(4,8)">, %b: !cute.tile<"[2:1;4:1;2:1]">) {
  // expected-error @+2 {{rank(tiler)=3 > rank(input)=2}}
  // expected-error @+1 {{failed to infer returned types}}
  %r = cute.ceil_div(%a, %b) : (!cute.shape<"(4,8)">, !cute.tile<"[2:1;4:1;2:1]">) -> !cute.shape<"1">
  return
}

// -----

func.func @underscore(%a: !cute.shape<"(4,8)">, %b: !cute.tile<"[2:1;_]">) {
  // expected-error @+2 {{an underscore has no extent to divide by}}
  // expected-error @+1 {{failed to infer returned types}}
  %r = cute.ceil_div(%a, %b) : (!cute.shape<"(4,8)">, !cute.tile<"[2:1;_]">) -> !cute.shape<"1">
  return
}

// -----

func.func @underscore_inside(%a: !cute.shape<"8">, %b: !cute.tile<"[2:1;_]">) {
  // expected-error @+2 {{an underscore has no extent to divide by}}
  // expected-error @+1 {{failed to infer returned types}}
  %r = cute.ceil_div(%a, %b) : (!cute.shape<"8">, !cute.tile<"[2:1;_]">) -> !cute.shape<"1">
  return
}

// -----

// 2:1@1 counts in mode 1; how many of it cover 4 is no question.
func.func @basis_tile(%s: !cute.shape<"(4,8)">, %t: !cute.tile<"[2:1@1;4:1]">) {
  // expected-error @+2 {{expects tiles with integer strides, but got 2:1@1}}
  // expected-error @+1 {{'cute.ceil_div' op failed to infer returned types}}
  %r = cute.ceil_div(%s, %t) : (!cute.shape<"(4,8)">, !cute.tile<"[2:1@1;4:1]">) -> !cute.shape<"(2,2)">
  return
}
