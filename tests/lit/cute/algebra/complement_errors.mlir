// RUN: cute-opt %s -split-input-file -verify-diagnostics

// 4 steps of 1 cover 0..3, and 2 lies inside.
func.func @overlap(%a: !cute.layout<"(4,4):(1,2)">, %b: !cute.shape<"32">) {
  // expected-error @+2 {{expects a valid complement result, but construction failed for input '!cute.layout<"(4,4):(1,2)">' with cotarget '!cute.shape<"32">': (4,4):(1,2) has no complement: mode 1, of extent and stride 4:2, overlaps the modes of smaller stride, which cover 4}}
  // expected-error @+1 {{failed to infer returned types}}
  %r = cute.complement(%a, %b) : (!cute.layout<"(4,4):(1,2)">, !cute.shape<"32">) -> !cute.layout<"1:0">
  return
}

// -----

func.func @negative(%a: !cute.layout<"4:-1">, %b: !cute.shape<"8">) {
  // expected-error @+2 {{4:-1 has no complement: mode 0, of extent and stride 4:-1, has a negative stride}}
  // expected-error @+1 {{failed to infer returned types}}
  %r = cute.complement(%a, %b) : (!cute.layout<"4:-1">, !cute.shape<"8">) -> !cute.layout<"1:0">
  return
}

// -----

func.func @overlap_without_size(%a: !cute.layout<"(4,4):(1,2)">) {
  // expected-error @+2 {{expects a valid intrinsic complement result, but construction failed for input '!cute.layout<"(4,4):(1,2)">': (4,4):(1,2) has no complement: mode 1, of extent and stride 4:2, overlaps}}
  // expected-error @+1 {{failed to infer returned types}}
  %r = cute.complement(%a) : (!cute.layout<"(4,4):(1,2)">) -> !cute.layout<"1:0">
  return
}

// -----

func.func @unknown_without_size(%a: !cute.layout<"?:1">) {
  // expected-error @+2 {{expects input with static layout, but got}}
  // expected-error @+1 {{failed to infer returned types}}
  %r = cute.complement(%a) : (!cute.layout<"?:1">) -> !cute.layout<"1:0">
  return
}

// -----

func.func @basis(%a: !cute.layout<"(4,8):(1@0,1@1)">, %b: !cute.shape<"32">) {
  // expected-error @+2 {{expects input with integer strides, but '!cute.layout<"(4,8):(1@0,1@1)">' has non-integer strides}}
  // expected-error @+1 {{failed to infer returned types}}
  %r = cute.complement(%a, %b) : (!cute.layout<"(4,8):(1@0,1@1)">, !cute.shape<"32">) -> !cute.layout<"1:0">
  return
}

// -----

func.func @unknown_strides(%a: !cute.layout<"(4,8):(?,?)">, %b: !cute.shape<"32">) {
  // expected-error @+2 {{expects input with static strides for layouts with more than one mode, but '!cute.layout<"(4,8):(?,?)">' has dynamic strides with rank 2}}
  // expected-error @+1 {{failed to infer returned types}}
  %r = cute.complement(%a, %b) : (!cute.layout<"(4,8):(?,?)">, !cute.shape<"32">) -> !cute.layout<"1:0">
  return
}

// -----

func.func @unknown_strides_inside(%a: !cute.layout<"((4,8)):((?,?))">, %b: !cute.shape<"32">) {
  // expected-error @+2 {{expects known strides, or one mode with an unknown one, to complement, but got}}
  // expected-error @+1 {{failed to infer returned types}}
  %r = cute.complement(%a, %b) : (!cute.layout<"((4,8)):((?,?))">, !cute.shape<"32">) -> !cute.layout<"1:0">
  return
}
