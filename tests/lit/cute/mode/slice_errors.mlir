// RUN: cute-opt %s -split-input-file -verify-diagnostics

func.func @not_congruent(%a: !cute.layout<"(4,8):(8,1)">, %c: !cute.coord<"(_,0,_)">) -> !cute.layout<"1:0"> {
  // expected-error @+1 {{expects coord to be weakly congruent with input shape, but got '!cute.layout<"(4,8):(8,1)">' and '!cute.coord<"(_,0,_)">'}}
  %r = cute.slice(%a, %c) : !cute.layout<"(4,8):(8,1)">, !cute.coord<"(_,0,_)">
  return %r : !cute.layout<"1:0">
}

// -----

func.func @swizzle(%a: !cute.swizzle<"S<3,4,3>">, %c: !cute.coord<"_">) -> !cute.swizzle<"S<3,4,3>"> {
  // expected-error @+1 {{expects $input to be !cute.shape, !cute.stride, !cute.int_tuple, !cute.coord, !cute.layout, or !cute.composed_layout, but got '!cute.swizzle<"S<3,4,3>">'}}
  %r = cute.slice(%a, %c) : !cute.swizzle<"S<3,4,3>">, !cute.coord<"_">
  return %r : !cute.swizzle<"S<3,4,3>">
}

// -----

func.func @unknown_outer(%a: !cute.composed_layout<"S<3,4,3> o 0 o (?,64):(64,1)">, %c: !cute.coord<"(_,0)">) -> !cute.layout<"1:0"> {
  // expected-error @+1 {{expects swizzle-A composed slice's outer layout to be static, but got '!cute.composed_layout<"S<3,4,3> o 0 o (?,64):(64,1)">'}}
  %r = cute.slice(%a, %c) : !cute.composed_layout<"S<3,4,3> o 0 o (?,64):(64,1)">, !cute.coord<"(_,0)">
  return %r : !cute.layout<"1:0">
}

// -----

func.func @swizzled_point(%a: !cute.composed_layout<"S<3,4,3> o 0 o (8,64):(64,1)">, %c: !cute.coord<"(2,1)">) -> !cute.layout<"1:0"> {
  // expected-error @+1 {{expects swizzle-A composed slice's coord to contain at least one underscore, but got '!cute.coord<"(2,1)">'}}
  %r = cute.slice(%a, %c) : !cute.composed_layout<"S<3,4,3> o 0 o (8,64):(64,1)">, !cute.coord<"(2,1)">
  return %r : !cute.layout<"1:0">
}

// -----

// Rows of 48 carry into one another: no bits are fixed by an unknown row.
func.func @swizzled_carry(%a: !cute.composed_layout<"S<3,4,3> o 0 o (8,64):(48,1)">, %c: !cute.coord<"(?,_)">) -> !cute.layout<"1:0"> {
  // expected-error @+1 {{the slice is not a swizzled layout: modes of (8,64):(48,1) and offset 0 share bits}}
  %r = cute.slice(%a, %c) : !cute.composed_layout<"S<3,4,3> o 0 o (8,64):(48,1)">, !cute.coord<"(?,_)">
  return %r : !cute.layout<"1:0">
}

// -----

// The algebra goes beyond a layout, memory ends with its tensor.
// expected-note @+1 {{%t is a '!cute.memref<f32, gmem, }}
func.func @outside(%l: !cute.layout<"(4,8):(8,1)">, %t: !cute.memref<f32, gmem, "(4,8):(8,1)">) {
  %a = cute.slice %l, (_, 8)
  // expected-error @+1 {{expects a coordinate inside of the shape (4,8), but got (_,8)}}
  %b = cute.slice %t, (_, 8)
  return
}
