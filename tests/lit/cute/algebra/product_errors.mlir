// RUN: cute-opt %s -split-input-file -verify-diagnostics

func.func @unknown_block(%a: !cute.layout<"(?,8):(1,4)">, %b: !cute.layout<"(2,4):(1,2)">) {
  // expected-error @+2 {{expects lhs to be static, but got '!cute.layout<"(?,8):(1,4)">'}}
  // expected-error @+1 {{failed to infer returned types}}
  %r = cute.logical_product(%a, %b) : (!cute.layout<"(?,8):(1,4)">, !cute.layout<"(2,4):(1,2)">) -> !cute.layout<"1:0">
  return
}

// -----

func.func @basis_copies(%a: !cute.layout<"(3,4):(4,1)">, %b: !cute.layout<"(2,5):(1@0,1@1)">) {
  // expected-error @+2 {{expects rhs stride to be integer-only (scaled-basis strides like `N@M` are not supported), but got '!cute.layout<"(2,5):(1@0,1@1)">'}}
  // expected-error @+1 {{failed to infer returned types}}
  %r = cute.zipped_product(%a, %b) : (!cute.layout<"(3,4):(4,1)">, !cute.layout<"(2,5):(1@0,1@1)">) -> !cute.layout<"1:0">
  return
}

// -----

func.func @basis_and_unknown(%a: !cute.layout<"(4,3):(1@0,1@1)">, %b: !cute.layout<"(?,?):(?,?)">) {
  // expected-error @+2 {{expects rhs to be static when lhs has scaled-basis strides (`N@M`), but got rhs '!cute.layout<"(?,?):(?,?)">'}}
  // expected-error @+1 {{failed to infer returned types}}
  %r = cute.flat_product(%a, %b) : (!cute.layout<"(4,3):(1@0,1@1)">, !cute.layout<"(?,?):(?,?)">) -> !cute.layout<"1:0">
  return
}

// -----

func.func @overlap(%a: !cute.layout<"(4,4):(1,2)">, %b: !cute.layout<"2:1">) {
  // expected-error @+2 {{expects valid operands, but cannot compute product for '!cute.layout<"(4,4):(1,2)">' and '!cute.layout<"2:1">': (4,4):(1,2) has no complement: mode 1, of extent and stride 4:2, overlaps the modes of smaller stride, which cover 4}}
  // expected-error @+1 {{failed to infer returned types}}
  %r = cute.tiled_product(%a, %b) : (!cute.layout<"(4,4):(1,2)">, !cute.layout<"2:1">) -> !cute.layout<"1:0">
  return
}

// -----

func.func @overlap_blocked(%a: !cute.layout<"(4,4):(1,2)">, %b: !cute.layout<"2:1">) {
  // expected-error @+2 {{cannot compute product for '!cute.layout<"(4,4):(1,2)">' and '!cute.layout<"2:1">'}}
  // expected-error @+1 {{failed to infer returned types}}
  %r = cute.blocked_product(%a, %b) : (!cute.layout<"(4,4):(1,2)">, !cute.layout<"2:1">) -> !cute.layout<"1:0">
  return
}

// -----

func.func @overlap_raked(%a: !cute.layout<"(4,4):(1,2)">, %b: !cute.layout<"2:1">) {
  // expected-error @+2 {{cannot compute product for '!cute.layout<"(4,4):(1,2)">' and '!cute.layout<"2:1">'}}
  // expected-error @+1 {{failed to infer returned types}}
  %r = cute.raked_product(%a, %b) : (!cute.layout<"(4,4):(1,2)">, !cute.layout<"2:1">) -> !cute.layout<"1:0">
  return
}
