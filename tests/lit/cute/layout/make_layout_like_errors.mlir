// RUN: cute-opt %s -split-input-file -verify-diagnostics

func.func @affine(%a: !cute.composed_layout<"(4,5):(1,4) o 2 o (2,3):(1,2)">) {
  // expected-error @+2 {{expects source composed layout to have a Swizzle A component, but got a layout A}}
  // expected-error @+1 {{failed to infer returned types}}
  %r = cute.make_layout_like(%a) : !cute.composed_layout<"(4,5):(1,4) o 2 o (2,3):(1,2)"> -> !cute.layout<"(2,3):(1,2)">
  return
}

// -----

func.func @basis(%a: !cute.layout<"(4,8):(1@0,1@1)">) {
  // expected-error @+2 {{expects plain integer strides in source layout, but got scaled-basis strides}}
  // expected-error @+1 {{failed to infer returned types}}
  %r = cute.make_layout_like(%a) : !cute.layout<"(4,8):(1@0,1@1)"> -> !cute.layout<"(4,8):(1,4)">
  return
}

// -----

func.func @basis_in_b(%a: !cute.composed_layout<"S<3,4,3> o 1 o (4,8):(0,0)">) {
  // expected-error @+2 {{inferred type(s) '!cute.layout<"(4,8):(0,0)">' are incompatible}}
  // expected-error @+1 {{failed to infer returned types}}
  %r = cute.make_layout_like(%a) : !cute.composed_layout<"S<3,4,3> o 1 o (4,8):(0,0)"> -> !cute.layout<"(4,8):(1,4)">
  return
}
