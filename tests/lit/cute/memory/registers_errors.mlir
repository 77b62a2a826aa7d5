// RUN: cute-opt %s -split-input-file -verify-diagnostics

func.func @unknown(%t: !cute.memref<f16, gmem, align<16>, "((8,1),?):((1,0),?{i64})">) {
  // expected-error @+2 {{expects static extents, but got ((8,1),?)}}
  // expected-note @-2 {{%t is a}}
  %r = cute.make_fragment_like(%t)
  return
}

// -----

func.func @element(%t: !cute.memref<f16, gmem, align<16>, "((8,1),2):((1,0),?{i64})">) {
  // expected-error @+2 {{expects an element type, but got index}}
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
  // expected-error @+3 {{expects static extents, but got ((8,1),?)}}
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

// -----

func.func @no_tensor(%s: !cute.shape<"(4,8)">) {
  // expected-error @+2 {{expects a tensor in memory as operand #0}}
  // expected-note @-2 {{%s is a}}
  %r = cute.make_fragment_like %s
  return
}

// -----

func.func @no_coordinates(%t: !cute.memref<f16, gmem, "(4):(1)">, %s: !cute.shape<"4">) {
  // expected-error @+3 {{expects a tensor of coordinates as operand #0}}
  // expected-note @-2 {{%t is a}}
  // expected-note @-3 {{%s is a}}
  %r = cute.predicate %t, %s
  return
}

// -----

func.func @no_bounds(%c: !cute.coord_tensor<"(0)", "(4):(1@0)">, %l: !cute.layout<"4:1">) {
  // expected-error @+3 {{expects a shape or coordinate as operand #1}}
  // expected-note @-2 {{%c is a}}
  // expected-note @-3 {{%l is a}}
  %r = cute.predicate %c, %l
  return
}

// -----

func.func @retile_by_a_shape(%s: !cute.shape<"(4,8)">, %r: !cute.memref<f16, rmem, "(4):(1)">) {
  // expected-error @+3 {{expects a tiled copy, but got '!cute.shape<"(4,8)">'}}
  // expected-note @-2 {{%s is a}}
  // expected-note @-3 {{%r is a}}
  %t = cute.tiled.copy.retile %s, %r
  return
}
