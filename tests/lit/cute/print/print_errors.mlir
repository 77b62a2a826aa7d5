// RUN: cute-opt %s -split-input-file -verify-diagnostics -cute-expand-ops -cute-to-base

func.func @vector(%a: vector<2xi32>) {
  // expected-error @+1 {{'cute.print' op operand #0 must be variadic of any CuTe type, but got 'vector<2xi32>'}}
  cute.print(%a) : vector<2xi32>
  return
}

// -----

func.func @places(%x: i32) {
  // expected-error@+1 {{expects one value per '{}' of its format, 2, but got 1}}
  cute.print("%d {} {}", %x) : i32
  return
}

// -----

func.func @wide(%x: i128) {
  // expected-error@+1 {{'cute.print' op expects CuTe values, integers and floats}}
  cute.print("{}", %x) : i128
  return
}
