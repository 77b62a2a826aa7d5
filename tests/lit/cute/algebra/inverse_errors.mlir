// RUN: cute-opt %s -split-input-file -verify-diagnostics

func.func @right_unknown_extent(%a: !cute.layout<"(?,4):(1,4)">) {
  // expected-error @+2 {{expects a static-shape input layout, but got '!cute.layout<"(?,4):(1,4)">'}}
  // expected-error @+1 {{failed to infer returned types}}
  %r = cute.right_inverse(%a) : (!cute.layout<"(?,4):(1,4)">) -> !cute.layout<"4:1">
  return
}

// -----

func.func @left_unknown_extent(%a: !cute.layout<"?:1">) {
  // expected-error @+2 {{expects a static-shape input layout, but got '!cute.layout<"?:1">'}}
  // expected-error @+1 {{failed to infer returned types}}
  %r = cute.left_inverse(%a) : (!cute.layout<"?:1">) -> !cute.layout<"4:1">
  return
}

// -----

func.func @left_unknown_stride(%a: !cute.layout<"4:?">) {
  // expected-error @+2 {{expects a static-stride input layout for left inverse, but got '!cute.layout<"4:?">'}}
  // expected-error @+1 {{failed to infer returned types}}
  %r = cute.left_inverse(%a) : (!cute.layout<"4:?">) -> !cute.layout<"4:1">
  return
}

// -----

func.func @left_not_divisible(%a: !cute.layout<"(4,2):(2,7)">) {
  // expected-error @+2 {{unable to compute a left inverse for '!cute.layout<"(4,2):(2,7)">': (4,2):(2,7) cannot be inverted mode by mode: at mode 1, of extent and stride 2:7, the stride 7 is not divisible by 2}}
  // expected-error @+1 {{failed to infer returned types}}
  %r = cute.left_inverse(%a) : (!cute.layout<"(4,2):(2,7)">) -> !cute.layout<"4:1">
  return
}

// -----

func.func @left_negative(%a: !cute.layout<"4:-1">) {
  // expected-error @+2 {{4:-1 cannot be inverted mode by mode: at mode 0, of extent and stride 4:-1, the stride -1 is negative}}
  // expected-error @+1 {{failed to infer returned types}}
  %r = cute.left_inverse(%a) : (!cute.layout<"4:-1">) -> !cute.layout<"4:1">
  return
}
