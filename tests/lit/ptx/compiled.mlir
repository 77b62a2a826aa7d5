// What is compiled already, by the pipeline of the user or before, has no kernels that could be lowered: it is named.
// RUN: not cute-ptx %s --pass-pipeline='builtin.module(cute-to-nvvm,gpu-module-to-binary{format=isa})' 2>&1 | FileCheck %s --check-prefix=PIPELINE
// RUN: cute-opt %s --pass-pipeline='builtin.module(cute-to-nvvm{cubin-format=isa})' -o %t.mlir
// RUN: not cute-ptx %t.mlir 2>&1 | FileCheck %s --check-prefix=BEFORE
// RUN: cute-ptx %s --pass-pipeline='builtin.module(cute-to-nvvm)' | FileCheck %s --check-prefix=PTX
// Our own pipeline leaves the code to cute-ptx.
// RUN: cute-ptx %s --pass-pipeline='builtin.module(cute-to-nvvm{cubin-format=isa})' | FileCheck %s --check-prefix=PTX
// PIPELINE: compiled.mlir:14:1: error: expected a gpu.module, got gpu.binary @m, which is already compiled
// PIPELINE: note: remove gpu-module-to-binary from the pipeline, so that cute-ptx can generate PTX; 'cute-opt --pass-pipeline=... | cute-link' extracts the code of the gpu.binary
// BEFORE: error: expected a gpu.module, got gpu.binary @m, which is already compiled
// BEFORE: note: 'cute-link FILE' extracts its code
// PTX: .entry k

gpu.module @m {
  gpu.func @k(%a: memref<?xf32>) kernel { gpu.return }
}
