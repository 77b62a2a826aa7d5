// RUN: cute-opt %s -cute-to-base -split-input-file -verify-diagnostics

func.func private @printf(i32)
func.func @other_symbol(%i: !cute.int_tuple<"?">) {
  // expected-error @+1 {{'cute.print' op calls printf, and this module has another symbol of that name: it must be an llvm.func, or go}}
  cute.print(%i) : !cute.int_tuple<"?">
  return
}
