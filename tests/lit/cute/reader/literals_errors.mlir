// RUN: cute-opt %s -split-input-file -verify-diagnostics

// Literals, constants and names that are wrong.

func.func @index_has_no_width(%x: index) {
  // expected-error @+1 {{custom op 'cute.make_shape' expects an integer of 32 or 64 bits, or a tuple of the dialect cute, as part of a tuple, got 'index': convert it to i32 or i64 with arith.index_cast}}
  %s = cute.make_shape(4, %x)
  return
}

// -----

func.func @not_a_number(%x: f32) {
  // expected-error @+1 {{custom op 'cute.make_shape' expects an integer of 32 or 64 bits, or a tuple of the dialect cute, as part of a tuple, got 'f32'}}
  %s = cute.make_shape(4, %x)
  return
}

// -----

func.func @not_congruent(%x: i32) {
  // expected-error @+1 {{shape and stride must be congruent, but shape (4,?) has 2 modes and stride (1,2,3) has 3 modes}}
  %s = cute.make_layout((4, %x), (1, 2, 3))
  return
}

// -----

func.func @parenthesis(%x: i32) {
  // expected-error @+1 {{expected ')'}}
  %s = cute.make_layout((4, %x), (1, (2, 3))
  return
}

// -----

func.func @nothing_to_make(%x: i32) {
  // expected-error @+1 {{'cute.make_shape' op expects operands, or its type}}
  %s = cute.make_shape()
  return
}

// -----

func.func @static_without_type(%x: i32) {
  // expected-error @+1 {{custom op 'cute.static' expects `: ` and its type, or a text such as "(4,8):(8,1)"}}
  %s = cute.static
  return
}

// -----

func.func @static_unknown(%x: i32) {
  // expected-error @+1 {{custom op 'cute.static' expects a text without `?`: dynamic leaves need values}}
  %s = cute.static "(4,?):(8,1)"
  return
}

// -----

func.func @static_broken(%x: i32) {
  // expected-error @+1 {{custom op 'cute.static' failed to parse a value from "(4,8": expected ',' or ')'}}
  %s = cute.static "(4,8"
  return
}

// -----

func.func @static_tuple(%x: i32) {
  // expected-error @+1 {{custom op 'cute.static' expects a text other than a tuple, which needs an explicit type: cute.make_shape(4, 8), `cute.static : !cute.shape<..>`}}
  %s = cute.static "(4,8)"
  return
}

// -----

func.func @wildcard_in_a_shape(%x: i32) {
  // expected-error @+1 {{custom op 'cute.make_shape' expects a number: only coordinates and tiles can contain `_`}}
  %s = cute.make_shape(4, _)
  return
}

// -----

func.func @no_place(%x: i32) {
  // expected-error @+1 {{custom op 'cute.print' expects an SSA value as operand #0}}
  cute.print((1,2))
  return
}

// -----

func.func @coordinate_behind_the_value(%t: !cute.memref<f32, gmem, "(4,8):(8,1)">, %v: f32, %i: i32) {
  // expected-error @+1 {{custom op 'cute.memref.store' expects an SSA value as operand #2}}
  cute.memref.store %v, %t[%i, 0]
  return
}

// -----

func.func @unknown_operation(%x: i32) {
  // expected-error @+1 {{custom op 'cute.nothing' is unknown}}
  %s = cute.nothing(%x)
  return
}

// -----

// expected-note @+1 {{%x is a '!cute.layout<"(4,?):(1,4)">'}}
func.func @two_results(%x: !cute.layout<"(4,?):(1,4)">) {
  // expected-error @+1 {{'cute.size' op gives 1 result, but 2 are named}}
  %s, %t = cute.size(%x)
  return
}

// -----

func.func @undefined(%x: !cute.layout<"(4,?):(1,4)">) {
  // expected-error @+1 {{custom op 'cute.size' '%y' is not defined above: write the types of this operation explicitly}}
  %s:2 = cute.size(%y)
  return
}

// -----

// expected-note @+1 {{%x is a '!cute.layout<"(4,?):(1,4)">'}}
func.func @modes(%x: !cute.layout<"(4,?):(1,4)">) {
  // expected-error @+1 {{expects end <= rank(input)=2, but got end=3}}
  %s = cute.group_modes<0, 3>(%x)
  return
}

// -----

func.func @too_large(%x: !cute.layout<"(4,?):(1,4)">) {
  // expected-error @+1 {{custom op 'cute.group_modes' expects a number that fits in 'i32'}}
  %s = cute.group_modes<0, 99999999999>(%x)
  return
}

// -----

// expected-note @+1 {{%x is a '!cute.layout<"(4,?):(1,4)">'}}
func.func @no_attributes(%x: !cute.layout<"(4,?):(1,4)">) {
  // expected-error @+1 {{group_modes expects 2 attribute(s), but got 0: attributes follow the name in angle brackets}}
  %s = cute.group_modes(%x)
  return
}

// -----

// expected-note @+1 {{%x is a '!cute.layout<"(4,?):(1,4)">'}}
func.func @wrong_kind(%x: !cute.layout<"(4,?):(1,4)">) {
  // expected-error @+1 {{expects shape to be !cute.shape, but got '!cute.layout<"(4,?):(1,4)">'}}
  %s = cute.make_layout(%x, (1, 2))
  return
}

// -----

// expected-note @+1 {{prior use here}}
func.func @annotation(%x: !cute.shape<"(4,?)">) {
  // expected-error @+1 {{use of value '%x' expects different type than prior uses: '!cute.shape<"(?,?)">' vs '!cute.shape<"(4,?)">'}}
  %s = cute.make_layout %x : !cute.shape<2>, %x : !cute.stride<2>
  return
}

// -----

func.func @missing_attribute(%x: !cute.shape<"(4,?)">) {
  // expected-error @+1 {{'cute.select' op requires attribute 'mode'}}
  %s = cute.select(%x)
  return
}

// -----

func.func @attribute_of_another_kind(%x: !cute.layout<"(4,?):(1,4)">) {
  // expected-error @+1 {{Invalid attribute `mode` in property conversion: 1 : i32}}
  %0 = cute.size<{mode = 1}> (%x) : (!cute.layout<"(4,?):(1,4)">) -> !cute.int_tuple<"?">
  return
}

// -----

func.func @tuple_beside_a_layout(%l: !cute.layout<"(4,8):(8,1)">) {
  // expected-error @+1 {{custom op 'cute.tuple_add' expects a layout, like the other operand, but got a tuple or number}}
  %r = cute.tuple_add (4, 8), %l
  return
}
