// RUN: cute-opt %s -split-input-file -verify-diagnostics

func.func @no_bits(%a: !cute.layout<"8:1">) {
  // expected-error @+2 {{expects new_type_bits to be positive, but got 0}}
  // expected-error @+1 {{failed to infer returned types}}
  %r = cute.recast_layout<0, 8>(%a) : !cute.layout<"8:1"> -> !cute.layout<"8:1">
  return
}

// -----

func.func @negative_bits(%a: !cute.layout<"8:1">) {
  // expected-error @+2 {{expects old_type_bits to be positive, but got -8}}
  // expected-error @+1 {{failed to infer returned types}}
  %r = cute.recast_layout<8, -8>(%a) : !cute.layout<"8:1"> -> !cute.layout<"8:1">
  return
}

// -----

func.func @basis(%a: !cute.layout<"(4,8):(1@0,1@1)">) {
  // expected-error @+2 {{expects integer or dynamic strides, but '!cute.layout<"(4,8):(1@0,1@1)">' has scaled-basis strides}}
  // expected-error @+1 {{failed to infer returned types}}
  %r = cute.recast_layout<16, 8>(%a) : !cute.layout<"(4,8):(1@0,1@1)"> -> !cute.layout<"8:1">
  return
}

// -----

func.func @basis_inside_affine(%a: !cute.composed_layout<"(4,8):(1@0,1@1) o 0 o 32:1">) {
  // expected-error @+2 {{expects integer or dynamic strides to recast, but got}}
  // expected-error @+1 {{failed to infer returned types}}
  %r = cute.recast_layout<16, 8>(%a) : !cute.composed_layout<"(4,8):(1@0,1@1) o 0 o 32:1"> -> !cute.layout<"8:1">
  return
}

// -----

// Every third byte is no place for halfwords.
func.func @stride(%a: !cute.layout<"4:3">) {
  // expected-error @+2 {{unable to recast '!cute.layout<"4:3">' from 8 bits to 16 bits: at mode 4:3, the stride 3 is not divisible by 2}}
  // expected-error @+1 {{failed to infer returned types}}
  %r = cute.recast_layout<16, 8>(%a) : !cute.layout<"4:3"> -> !cute.layout<"8:1">
  return
}

// -----

// Three bytes hold no whole number of steps of two.
func.func @small_stride(%a: !cute.layout<"8:2">) {
  // expected-error @+2 {{at mode 8:2, new elements of 3 are not a multiple of the stride 2}}
  // expected-error @+1 {{failed to infer returned types}}
  %r = cute.recast_layout<24, 8>(%a) : !cute.layout<"8:2"> -> !cute.layout<"8:1">
  return
}

// -----

func.func @overlap(%a: !cute.layout<"(2,2):(1,1)">) {
  // expected-error @+2 {{at mode 2:1, modes overlap inside new elements of 2}}
  // expected-error @+1 {{failed to infer returned types}}
  %r = cute.recast_layout<16, 8>(%a) : !cute.layout<"(2,2):(1,1)"> -> !cute.layout<"8:1">
  return
}

// -----

func.func @backwards(%a: !cute.layout<"8:-1">) {
  // expected-error @+2 {{at mode 8:-1, a negative stride splits new elements of 2}}
  // expected-error @+1 {{failed to infer returned types}}
  %r = cute.recast_layout<16, 8>(%a) : !cute.layout<"8:-1"> -> !cute.layout<"8:1">
  return
}

// -----

func.func @overlap_down(%a: !cute.layout<"(2,2):(1,1)">) {
  // expected-error @+2 {{at mode 2:1, a second mode of stride 1 overlaps the first}}
  // expected-error @+1 {{failed to infer returned types}}
  %r = cute.recast_layout<8, 16>(%a) : !cute.layout<"(2,2):(1,1)"> -> !cute.layout<"8:1">
  return
}

// -----

func.func @backwards_down(%a: !cute.layout<"8:-1">) {
  // expected-error @+2 {{at mode 8:-1, elements of a negative stride cannot be split in place}}
  // expected-error @+1 {{failed to infer returned types}}
  %r = cute.recast_layout<8, 16>(%a) : !cute.layout<"8:-1"> -> !cute.layout<"8:1">
  return
}

// -----

func.func @offset(%a: !cute.composed_layout<"S<3,4,3> o 3 o (8,64):(64,1)">) {
  // expected-error @+2 {{the offset 3 is not a known multiple of 2}}
  // expected-error @+1 {{failed to infer returned types}}
  %r = cute.recast_layout<16, 8>(%a) : !cute.composed_layout<"S<3,4,3> o 3 o (8,64):(64,1)"> -> !cute.layout<"8:1">
  return
}

// -----

func.func @unknown_offset(%a: !cute.composed_layout<"S<3,4,3> o ? o (8,64):(64,1)">) {
  // expected-error @+2 {{the offset ? is not a known multiple of 2}}
  // expected-error @+1 {{failed to infer returned types}}
  %r = cute.recast_layout<16, 8>(%a) : !cute.composed_layout<"S<3,4,3> o ? o (8,64):(64,1)"> -> !cute.layout<"8:1">
  return
}

// -----

// S<3,0,3> permutes single bytes: halfwords cannot follow.
func.func @swizzle_of_bytes(%a: !cute.composed_layout<"S<3,0,3> o 0 o 64:1">) {
  // expected-error @+2 {{swizzle S<3,0,3> cannot be scaled by 2}}
  // expected-error @+1 {{failed to infer returned types}}
  %r = cute.recast_layout<16, 8>(%a) : !cute.composed_layout<"S<3,0,3> o 0 o 64:1"> -> !cute.layout<"8:1">
  return
}

// -----

func.func @magnitude(%a: !cute.layout<"2:-9223372036854775808">) {
  // expected-error @+2 {{the stride -9223372036854775808 has no magnitude in 64 bits}}
  // expected-error @+1 {{failed to infer returned types}}
  %r = cute.recast_layout<16, 8>(%a) : !cute.layout<"2:-9223372036854775808"> -> !cute.layout<"8:1">
  return
}
