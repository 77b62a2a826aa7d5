// Pipelines as pages print them: with comments, and without the operations that passes are restricted to.
// RUN: sh -c 'cute-opt %s --pass-pipeline="$(cat %S/Inputs/nine.txt)"' | FileCheck %s
// RUN: sh -c 'cute-ptx -arch sm_80 %s --pass-pipeline="$(cat %S/Inputs/nine.txt)"' | FileCheck %s --check-prefix=PTX
// RUN: sh -c 'cute-opt --print-pipeline="$(cat %S/Inputs/nine.txt)"' | FileCheck %s --check-prefix=TEXT
// RUN: cute-opt %s --pass-pipeline='builtin.module(cute-to-standard,cute-nvgpu-to-nvgpu,gpu.module(convert-gpu-to-nvvm{has-redux=true},any(canonicalize)), convert-math-to-llvm ,convert-gpu-to-nvvm{use-bare-ptr-memref-call-conv=true})' | FileCheck %s
// RUN: sh -c 'cute-ptx -arch sm_80 %s --pass-pipeline="$(cat %S/Inputs/two.txt)"' | FileCheck %s --check-prefix=PTX
// RUN: not cute-opt %s --pass-pipeline='builtin.module(cse))' 2>&1 | FileCheck %s --check-prefix=BRACKET
// RUN: not cute-opt %s --pass-pipeline='builtin.module(cse, custom-communication-pass)' 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// RUN: not cute-ptx -arch sm_80 %s --pass-pipeline='builtin.module(cute-to-nvvm{O=1})' 2>&1 | FileCheck %s --check-prefix=OPTION

// CHECK: gpu.module @kernels
// CHECK: llvm.func @twice
// CHECK: llvm.fadd
// PTX: .entry twice
// PTX: add{{.*}}.f32

// TEXT: cute-nvgpu-to-nvgpu{arch=},
// TEXT: gpu-kernel-outlining
// TEXT: gpu.module(
// TEXT-NEXT: convert-gpu-to-nvvm
// TEXT: ),
// TEXT-NEXT: gpu-to-llvm

// BRACKET: error:
// UNKNOWN: 'custom-communication-pass' does not refer to a registered pass or pass pipeline
// OPTION: pipeline 'cute-to-nvvm' has no option 'O'
gpu.module @kernels {
  gpu.func @twice(%X: !cute.memref<f32, gmem, "(64):(1)">, %Y: !cute.memref<f32, gmem, "(64):(1)">) kernel attributes {nvvm.reqntid = array<i32: 64, 1, 1>} {
    %t = nvvm.read.ptx.sreg.tid.x : i32
    %x = cute.load %X[%t]
    %y = arith.addf %x, %x : f32
    cute.store %y, %Y[%t]
    gpu.return
  }
}
