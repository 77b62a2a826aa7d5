// RUN: cute-opt %s -split-input-file -verify-diagnostics

func.func @unknown_shape() {
  // expected-error @+1 {{'cute.static' op expects result to be static, but got "(4,?)": each '?' needs a value: use make_*}}
  %r = cute.static : !cute.shape<"(4,?)">
  return
}

// -----

func.func @unknown_stride() {
  // expected-error @+1 {{'cute.static' op expects result to be static, but got "4:?{i64}"}}
  %r = cute.static : !cute.layout<"4:?{i64}">
  return
}

// -----

func.func @not_cute() {
  // expected-error @+1 {{'cute.static' op result #0 must be any CuTe type, but got 'i32'}}
  %r = cute.static : i32
  return
}
