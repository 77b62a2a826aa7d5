// RUN: cute-opt %s -split-input-file -verify-diagnostics

func.func @later() {
  cf.br ^b
^a:
  // expected-error @+1 {{'%l' is not defined above: the types of this operation must be written}}
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
