// RUN: cute-opt %s -one-shot-convert-to-llvm -split-input-file -verify-diagnostics

llvm.func @not_expanded() {
  // expected-error @+1 {{'cute.static' op is not lowered to llvm: run cute-expand-ops and cute-to-base first}}
  %s = cute.static : !cute.shape<"(2,4)">
  // expected-error @+1 {{'cute.print' op is not lowered to llvm: run cute-expand-ops and cute-to-base first}}
  cute.print(%s) : !cute.shape<"(2,4)">
  llvm.return
}

// -----

llvm.func @not_of_llvm(%v: vector<4xf32>) {
  // expected-error @+1 {{'vector.print' op is not lowered to llvm: expected a pass that lowers it to arith, cf, func, gpu, math or memref first}}
  vector.print %v : vector<4xf32>
  llvm.return
}
