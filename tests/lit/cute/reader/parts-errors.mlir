// RUN: cute-opt %s -split-input-file -verify-diagnostics

// expected-error @+1 {{expected '<', as in !cute.tensor<f32, "(64,?):(?,1)">: elements and layout are parts of the type}}
func.func @bare(%a: !cute.tensor) {
  return
}

// -----

// The mode is chosen when it is compiled; while the kernel runs, numbers are chosen.
func.func @mode(%l: !cute.layout<"(4,8):(8,1)">, %i: index) {
  // expected-error @+1 {{a value and a static mode number (to select at run time, use cute.get_scalars and arith.select)}}
  %s = cute.shape %l, %i
  return
}
