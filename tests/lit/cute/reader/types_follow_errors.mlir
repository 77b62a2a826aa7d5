// RUN: cute-opt %s -split-input-file -verify-diagnostics

func.func @later() {
  cf.br ^b
^a:
  // expected-error @+1 {{'%l' is not defined above: write the types of this operation explicitly}}
  %z = cute.size(%l)
  return
^b:
  %l = cute.static : !cute.layout<"4:1">
  cf.br ^a
}

// -----

// expected-note @+1 {{%l is a '!cute.layout<"(4,?):(1,?)">'}}
func.func @outside(%l: !cute.layout<"(4,?):(1,?)">) {
  // expected-error @+1 {{expects mode index in [0, 2) at depth 0, but got 2}}
  %x = cute.get<[2]>(%l)
  return
}

// -----

// expected-note @+1 {{%s is a '!cute.shape<"4">'}}
func.func @one_operand(%s: !cute.shape<"4">) {
  // expected-error @+1 {{'cute.composition' op expects 2 operands, but got 1}}
  %x = cute.composition(%s)
  return
}

// -----

func.func @constructor(%n: i32) {
  // expected-error @+1 {{'cute.make_shape' op expects operands, or its type}}
  %s = cute.make_shape()
  return
}

// -----

// expected-note @+1 {{%c is a '!cute.coord_tensor}}
func.func @result_that_does_not_follow(%c: !cute.coord_tensor<"(0,0)", "(4,8):(1@0,1@1)">, %i: i32) {
  // expected-error @+1 {{'cute.memref.load' op expects an explicit result type: it cannot be inferred from these operands}}
  %x = cute.memref.load %c[%i, 3]
  return
}

// -----

func.func @coordinates_of_a_slice(%c: !cute.coord_tensor<"(0,0)", "(4,8):(1@0,1@1)">, %i: !cute.coord<"(?,_)">) {
  // expected-error @+1 {{'cute.load' op expects a coordinate without '_'}}
  %x = cute.load(%c, %i)
  return
}

// -----

func.func @load_of_a_slice(%t: !cute.memref<f32, gmem, "(4,8):(8,1)">, %i: i32) {
  // expected-error @+1 {{'cute.load' op expects a tensor element: cute.load %tensor[%i]; with '_' it is a slice}}
  %x = cute.load %t[%i, _]
  return
}
