// RUN: cute-opt %s -split-input-file -verify-diagnostics

func.func @swizzle(%a: !cute.swizzle<"S<3,4,3>">) {
  // expected-error @+1 {{operand #0 must be !cute.shape, !cute.int_tuple, !cute.coord, !cute.stride, !cute.tile, !cute.layout, or !cute.composed_layout}}
  %r = cute.flatten(%a) : (!cute.swizzle<"S<3,4,3>">) -> !cute.swizzle<"S<3,4,3>">
  return
}
