// RUN: cute-opt %s -emit-gpu-binary | FileCheck %s --check-prefix=ISA
// RUN: cute-opt %s -emit-gpu-binary=compilation-target=isa | FileCheck %s --check-prefix=ISA
// RUN: cute-opt %s -emit-gpu-binary=compilation-target=llvm | FileCheck %s --check-prefix=LLVM
// RUN: cute-opt %s -emit-gpu-binary=compilation-target=offload | FileCheck %s --check-prefix=LLVM
// RUN: not cute-opt %s -emit-gpu-binary=compilation-target=cubin 2>&1 | FileCheck %s --check-prefix=TARGET
// RUN: not cute-opt %s -emit-gpu-binary="compilation-target=bin toolkit=%t/none" 2>&1 | FileCheck %s --check-prefix=TOOLKIT

// A gpu.module becomes a gpu.binary with an object for each of its targets.
// ISA:      gpu.binary @device  [
// ISA-SAME: #gpu.object<#nvvm.target<chip = "sm_80">, {{[^>]*}}assembly = "{{[^"]*}}.target sm_80\0A{{[^"]*}}.entry kernel(
// ISA-SAME: #gpu.object<#nvvm.target<chip = "sm_90a">, {{[^>]*}}assembly = "{{[^"]*}}.target sm_90a\0A{{[^"]*}}.entry kernel(
// ISA-NOT:  gpu.module
// LLVM:     gpu.binary @device  [#gpu.object<#nvvm.target<chip = "sm_80">, {{[^"]*}}"BC
// TARGET:   error: emit-gpu-binary expects compilation-target isa, bin, fatbin, offload or llvm, got 'cubin'
// TOOLKIT:  error: emit-gpu-binary expects the root of a CUDA toolkit, got '{{.*}}none'
gpu.module @device [#nvvm.target<chip = "sm_80">, #nvvm.target<chip = "sm_90a">] {
  llvm.func @kernel(%out: !llvm.ptr) attributes {gpu.kernel, nvvm.kernel} {
    %0 = nvvm.read.ptx.sreg.tid.x : i32
    llvm.store %0, %out : i32, !llvm.ptr
    llvm.return
  }
}
