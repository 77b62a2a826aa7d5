// RUN: cute-opt %s -cute-to-base -split-input-file -verify-diagnostics

func.func private @printf(i32)
func.func @other_symbol(%i: !cute.int_tuple<"?">) {
  // expected-error @+1 {{'cute.print' op calls printf, but the symbol 'printf' of this module is not an llvm.func: rename it}}
  cute.print(%i) : !cute.int_tuple<"?">
  return
}
