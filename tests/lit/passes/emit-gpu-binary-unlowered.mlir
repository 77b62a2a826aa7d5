// A kernel that is not lowered is refused at its line, with what lowers it.
// RUN: cute-opt %s -attach-nvvm-target -emit-gpu-binary=compilation-target=isa -verify-diagnostics
// RUN: cute-opt %s -cute-full-lowering -attach-nvvm-target -emit-gpu-binary=compilation-target=isa | FileCheck %s
// CHECK: gpu.binary @m
gpu.module @m {
  // expected-error @+1 {{emit-gpu-binary expects kernels of llvm and nvvm, got a gpu.func; run cute-full-lowering first, or cute-to-nvvm instead}}
  gpu.func @k() kernel { gpu.return }
}
