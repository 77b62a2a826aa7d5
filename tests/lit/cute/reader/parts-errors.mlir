// RUN: cute-opt %s -split-input-file -verify-diagnostics

// A mode that is selected at run time is one of a flat tuple.
func.func @mode(%l: !cute.layout<"((4,2),8):((8,4),1)">, %i: index) {
  // expected-error @+1 {{a flat tuple of integers for a mode that is selected at run time}}
  %s = cute.shape %l, %i
  return
}

// -----

func.func @float(%l: !cute.layout<"(4,8):(8,1)">, %i: f32) {
  // expected-error @+1 {{a value and a mode number, a constant or an integer}}
  %s = cute.shape %l, %i
  return
}
