// RUN: cute-opt %s -split-input-file -verify-diagnostics

func.func @unknown(%t: !cute.memref<f16, gmem, align<16>, "((8,1),?):((1,0),?{i64})">) {
  // expected-error @+2 {{expects known extents, but got ((8,1),?)}}
  // expected-note @-2 {{%t is a}}
  %r = cute.make_fragment_like(%t)
  return
}

// -----

func.func @element(%t: !cute.memref<f16, gmem, align<16>, "((8,1),2):((1,0),?{i64})">) {
  // expected-error @+2 {{expects the type of an element, but got index}}
  // expected-note @-2 {{%t is a}}
  %r = cute.make_fragment_like(%t) {element = index}
  return
}

// -----

func.func @rank(%c: !cute.coord_tensor<"(?,?)", "((8,1),2):((1@0,0),16@1)">, %s: !cute.shape<"(?,?,?)">) {
  // expected-error @+3 {{expects congruent inputs, but got '!cute.int_tuple<"(?,?)">' and '!cute.int_tuple<"(?,?,?)">'}}
  // expected-note @-2 {{%c is a}}
  // expected-note @-3 {{%s is a}}
  %p = cute.predicate(%c, %s)
  return
}

// -----

func.func @open(%c: !cute.coord_tensor<"(?,?)", "((8,1),?):((1@0,0),16@1)">, %s: !cute.shape<"(?,?)">) {
  // expected-error @+3 {{expects known extents, but got ((8,1),?)}}
  // expected-note @-2 {{%c is a}}
  // expected-note @-3 {{%s is a}}
  %p = cute.predicate(%c, %s)
  return
}

// -----

func.func @leaf(%c: !cute.coord_tensor<"?", "8:1">, %s: !cute.shape<"?">) {
  // expected-error @+3 {{expects the values of a copy as mode 0, but got shape 8}}
  // expected-note @-2 {{%c is a}}
  // expected-note @-3 {{%s is a}}
  %p = cute.predicate(%c, %s)
  return
}
