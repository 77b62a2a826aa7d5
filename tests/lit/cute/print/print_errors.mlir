// RUN: cute-opt %s -split-input-file -verify-diagnostics

func.func @integer(%a: i32) {
  // expected-error @+1 {{'cute.print' op operand #0 must be any CuTe type, but got 'i32'}}
  cute.print(%a) : i32
  return
}
