// RUN: cute-opt %s --cute-unwrap-kernels -verify-diagnostics

gpu.module @a { llvm.func @k() attributes {nvvm.kernel} { llvm.return } }
gpu.module @b {
  // expected-error @+1 {{expected a name that no other operation of the module has: rename it to unwrap its gpu.module}}
  llvm.func @k() attributes {nvvm.kernel} { llvm.return }
}
