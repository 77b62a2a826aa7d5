// The pipelines of other tools, in their spelling.
// RUN: cute-opt %s --pass-pipeline='builtin.module(cute-to-nvvm{cubin-chip=sm_80 enable-cuda-dialect=true cuda-dialect-external-module=true})' | FileCheck %s --check-prefix=NVVM
// RUN: cute-opt %s --pass-pipeline='builtin.module(cute-to-nvvm{cubin-format=isa opt-level=2 cubin-chip=sm_90a preserve-line-info=true enable-assertions=true enable-cuda-dialect=true cuda-dialect-external-module=true})' | FileCheck %s --check-prefix=ISA
// RUN: cute-opt %s --pass-pipeline='builtin.module(cute-to-nvvm{cubin-format=isa cubin-chip=sm_80})' | FileCheck %s --check-prefix=PLAIN
// RUN: cute-opt %s --pass-pipeline='builtin.module(external-kernel-for-gpu-launch,cute-to-nvvm{cubin-format=isa cubin-chip=sm_80},external-kernel-for-gpu-launch)' | FileCheck %s --check-prefix=PLAIN
// RUN: cute-opt %s --pass-pipeline='builtin.module(print-ir{print-after-all}, cute-to-nvvm{cubin-format=isa cubin-chip=sm_80}, print-ir{print-after-all})' 2>%t.dumps | FileCheck %s --check-prefix=PLAIN
// RUN: FileCheck %s --check-prefix=DUMPS < %t.dumps
// RUN: not cute-opt %s --pass-pipeline='builtin.module(cute-to-nvvm{cubin-format=elf})' 2>&1 | FileCheck %s --check-prefix=FORMAT
// RUN: not cute-opt %s --pass-pipeline='builtin.module(cute-to-nvvm{opt-level=7})' 2>&1 | FileCheck %s --check-prefix=LEVEL
// RUN: not cute-opt %s --pass-pipeline='builtin.module(cute-to-nvvm{cubin-chip=sm_91})' 2>&1 | FileCheck %s --check-prefix=CHIP
// RUN: not cute-opt %s --pass-pipeline='builtin.module(cute-to-nvvm{chip=sm_90})' 2>&1 | FileCheck %s --check-prefix=OPTION
// RUN: not cute-opt %s --pass-pipeline='builtin.module(cute-to-standard{bogus=1})' 2>&1 | FileCheck %s --check-prefix=BOGUS
// RUN: not cute-opt %s --pass-pipeline='builtin.module(cute-to-nvvm{cubin-format=bin cubin-chip=sm_90a toolkitPath=/nowhere})' 2>&1 | FileCheck %s --check-prefix=TOOLKIT
// RUN: not cute-opt %s --pass-pipeline='builtin.module(print-ir{print-after=1})' 2>&1 | FileCheck %s --check-prefix=PRINT

// NVVM: gpu.module @kernels [#nvvm.target<O = 3, chip = "sm_80">]
// NVVM: llvm.func @twice
// NVVM-NOT: cf.assert
// NVVM: llvm.fadd
// ISA: gpu.binary @kernels {{.*}}#nvvm.target<chip = "sm_90a">{{.*}}assembly = "{{.*}}.target sm_90a{{.*}}__assertfail{{.*}}.entry twice{{.*}}.loc
// PLAIN-NOT: cute.
// PLAIN: gpu.binary @kernels {{.*}}chip = "sm_80">{{.*}}assembly = "{{.*}}.entry twice
// PLAIN-NOT: .loc

// The whole is printed first, then after each pass.
// DUMPS: IR Dump
// DUMPS: cute.memref.load
// DUMPS: IR Dump After {{.*}}cute-expand-ops
// DUMPS: IR Dump After {{.*}}emit-gpu-binary
// DUMPS: gpu.binary

// FORMAT: error: pipeline 'cute-to-nvvm': expected cubin-format isa, bin or fatbin, got 'elf'
// LEVEL: expected opt-level from 0 to 3, got '7'
// CHIP: sm_91
// OPTION: pipeline 'cute-to-nvvm' has no option 'chip'; it has cubin-format, opt-level, cubin-chip, toolkitPath, preserve-line-info, enable-assertions, enable-cuda-dialect, cuda-dialect-external-module
// BOGUS: pipeline 'cute-to-standard' has no option 'bogus'; it has none
// TOOLKIT: expects the root of a CUDA toolkit, got '/nowhere'
// PRINT: no such option print-after
gpu.module @kernels {
  gpu.func @twice(%X: !cute.memref<f32, gmem, "(64):(1)">, %Y: !cute.memref<f32, gmem, "(64):(1)">) kernel attributes {nvvm.reqntid = array<i32: 64, 1, 1>} {
    %t = nvvm.read.ptx.sreg.tid.x : i32
    %x = cute.load %X[%t]
    %ordered = arith.cmpf ord, %x, %x : f32
    cf.assert %ordered, "not a number"
    %y = arith.addf %x, %x : f32
    cute.store %y, %Y[%t]
    gpu.return
  }
}
