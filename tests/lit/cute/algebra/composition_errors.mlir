// RUN: cute-opt %s -split-input-file -verify-diagnostics

// 0, 3, 6, 9, 12 of A are 0, 3, 12, 21, 30: 5 elements are one mode, and these are not.
func.func @extent(%a: !cute.layout<"(4,6):(1,10)">, %b: !cute.layout<"5:3">) {
  // expected-error @+2 {{expects a valid composition result, but construction failed: cannot compose (4,6):(1,10) with 5:3: the result is not a layout, because at mode 0, of extent and stride 4:1, the extent 5 is not divisible by 2}}
  // expected-error @+1 {{failed to infer returned types}}
  %r = cute.composition(%a, %b) : (!cute.layout<"(4,6):(1,10)">, !cute.layout<"5:3">) -> !cute.layout<"5:3">
  return
}

// -----

// 0, 6, 12, 18, 24 of A are 0, 12, 30, 42, 60.
func.func @stride(%a: !cute.layout<"(4,6):(1,10)">, %b: !cute.layout<"5:6">) {
  // expected-error @+2 {{cannot compose (4,6):(1,10) with 5:6: the result is not a layout, because at mode 0, of extent and stride 4:1, the stride 6 is not divisible by 4}}
  // expected-error @+1 {{failed to infer returned types}}
  %r = cute.composition(%a, %b) : (!cute.layout<"(4,6):(1,10)">, !cute.layout<"5:6">) -> !cute.layout<"5:6">
  return
}

// -----

// 2 + 2 carries from mode 0 of A into mode 1: 16, where the modes of B alone would add up to 4.
func.func @carry(%a: !cute.layout<"(4,8):(1,16)">, %b: !cute.layout<"(3,2):(1,2)">) {
  // expected-error @+2 {{cannot compose (4,8):(1,16) with (3,2):(1,2): the result is not a layout, because at mode 0, of extent 4, the largest coordinate 4 is not below the extent 4 ((3,2):(1,2) would be wrong at index 5)}}
  // expected-error @+1 {{failed to infer returned types}}
  %r = cute.composition(%a, %b) : (!cute.layout<"(4,8):(1,16)">, !cute.layout<"(3,2):(1,2)">) -> !cute.layout<"(3,2):(1,2)">
  return
}

// -----

// B(1,2) = 3 - 4 = -1, which is not 3 and a step back of 16.
func.func @signs(%a: !cute.layout<"(4,8):(1,16)">, %b: !cute.layout<"(2,4):(3,-2)">) {
  // expected-error @+2 {{at mode 0, of extent 4, a stride of 3 is added to one of opposite sign, -2}}
  // expected-error @+1 {{failed to infer returned types}}
  %r = cute.composition(%a, %b) : (!cute.layout<"(4,8):(1,16)">, !cute.layout<"(2,4):(3,-2)">) -> !cute.layout<"(2,2):(1,-1)">
  return
}

// -----

// 63 steps of 2^61 of mode 1.
func.func @beyond_64_bits(%a: !cute.layout<"(2,8):(16,1)">, %b: !cute.layout<"64:4611686018427387904">) {
  // expected-error @+2 {{the coordinates exceed 9223372036854775807 in steps of 4611686018427387904}}
  // expected-error @+1 {{failed to infer returned types}}
  %r = cute.composition(%a, %b) : (!cute.layout<"(2,8):(16,1)">, !cute.layout<"64:4611686018427387904">) -> !cute.layout<"64:1">
  return
}

// -----

func.func @product_beyond_64_bits(%a: !cute.layout<"8:4611686018427387904">, %b: !cute.layout<"2:4">) {
  // expected-error @+2 {{4 * 4611686018427387904 does not fit in 64 bits}}
  // expected-error @+1 {{failed to infer returned types}}
  %r = cute.composition(%a, %b) : (!cute.layout<"8:4611686018427387904">, !cute.layout<"2:4">) -> !cute.layout<"2:1">
  return
}

// -----

func.func @modes_named(%a: !cute.layout<"(4,8):(8,1)">, %b: !cute.layout<"(2,2):(1@0,1@2)">) {
  // expected-error @+2 {{cannot compose (4,8):(8,1) with (2,2):(1@0,1@2): the basis strides name 3 modes, but there are 2}}
  // expected-error @+1 {{failed to infer returned types}}
  %r = cute.composition(%a, %b) : (!cute.layout<"(4,8):(8,1)">, !cute.layout<"(2,2):(1@0,1@2)">) -> !cute.layout<"(2,2):(8,1)">
  return
}

// -----

// Mode 1 of A has no mode 1.
func.func @mode_named_inside(%a: !cute.layout<"(4,8):(8,1)">, %b: !cute.layout<"(2,2):(1@0,1@1@1)">) {
  // expected-error @+2 {{the basis strides name 2 modes of 8:1, which has 1}}
  // expected-error @+1 {{failed to infer returned types}}
  %r = cute.composition(%a, %b) : (!cute.layout<"(4,8):(8,1)">, !cute.layout<"(2,2):(1@0,1@1@1)">) -> !cute.layout<"(2,2):(8,1)">
  return
}

// -----

func.func @basis_of_unknown_extent(%a: !cute.layout<"(4,8):(8,1)">, %b: !cute.layout<"(?,2):(1@0,1@1)">) {
  // expected-error @+2 {{expects a known extent for basis stride 1@0 to compose with (4,8):(8,1), but got ?}}
  // expected-error @+1 {{failed to infer returned types}}
  %r = cute.composition(%a, %b) : (!cute.layout<"(4,8):(8,1)">, !cute.layout<"(?,2):(1@0,1@1)">) -> !cute.layout<"(?,2):(8,1)">
  return
}

// -----

func.func @tiler_rank(%a: !cute.layout<"(4,8):(8,1)">, %b: !cute.tile<"[2:1;2:1;2:1]">) {
  // expected-error @+2 {{expects a tiler of at most rank 2 for (4,8):(8,1), but got one of rank 3}}
  // expected-error @+1 {{failed to infer returned types}}
  %r = cute.composition(%a, %b) : (!cute.layout<"(4,8):(8,1)">, !cute.tile<"[2:1;2:1;2:1]">) -> !cute.layout<"(2,2):(8,1)">
  return
}

// -----

func.func @empty_mode(%a: !cute.layout<"(4,8):(8,1)">, %b: !cute.shape<"(0,2)">) {
  // expected-error @+2 {{expects positive extents, but got 0:1}}
  // expected-error @+1 {{failed to infer returned types}}
  %r = cute.composition(%a, %b) : (!cute.layout<"(4,8):(8,1)">, !cute.shape<"(0,2)">) -> !cute.layout<"(2,2):(8,1)">
  return
}

// -----

func.func @empty_layout(%a: !cute.layout<"():()">, %b: !cute.layout<"4:1">) {
  // expected-error @+2 {{cannot compose the empty layout with 4:1}}
  // expected-error @+1 {{failed to infer returned types}}
  %r = cute.composition(%a, %b) : (!cute.layout<"():()">, !cute.layout<"4:1">) -> !cute.layout<"4:1">
  return
}

// -----

func.func @other_result(%a: !cute.layout<"(4,8):(8,1)">, %b: !cute.layout<"8:2">) {
  // expected-error @+2 {{inferred type(s) '!cute.layout<"(2,4):(16,1)">' are incompatible with return type(s) of operation '!cute.layout<"8:2">'}}
  // expected-error @+1 {{failed to infer returned types}}
  %r = cute.composition(%a, %b) : (!cute.layout<"(4,8):(8,1)">, !cute.layout<"8:2">) -> !cute.layout<"8:2">
  return
}

// -----

func.func @rhs_coord(%a: !cute.layout<"(4,8):(8,1)">, %b: !cute.coord<"(2,2)">) {
  // expected-error @+1 {{operand #1 must be !cute.layout, !cute.tile, or !cute.shape}}
  %r = cute.composition(%a, %b) : (!cute.layout<"(4,8):(8,1)">, !cute.coord<"(2,2)">) -> !cute.layout<"8:2">
  return
}
