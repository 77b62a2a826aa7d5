// RUN: cute-opt %s -emit-gpu-binary -verify-diagnostics

// expected-error @+1 {{the module has no target attributes}}
gpu.module @no_target {
  llvm.func @kernel() attributes {gpu.kernel, nvvm.kernel} {
    llvm.return
  }
}
