// RUN: cute-ptx --backend=llvm -arch sm_80 %s | FileCheck %s --check-prefix=SM80
// RUN: cute-ptx --backend=llvm -arch sm_100a %s | FileCheck %s --check-prefix=SM100
// RUN: cute-ptx --backend=llvm -arch sm_110 %s | FileCheck %s --check-prefix=SM110
// RUN: cute-ptx --backend=auto %s | FileCheck %s --check-prefix=SM90
// RUN: not cute-ptx --backend=nvcc %s 2>&1 | FileCheck %s --check-prefix=NAME
// RUN: not cute-ptx -arch sm_100a --cuda-path=%t.none %s 2>&1 | FileCheck %s --check-prefix=MISSING
// RUN: cute-ptx --backend=llvm -arch sm_101a %s 2>&1 | FileCheck %s --check-prefix=RENAMED

// LLVM's back end ends at sm_90a; what it makes is PTX for those behind as well.
// SM80: .target sm_80
// SM100: .version 8.6
// SM100-NEXT: .target sm_100a
// SM100: .visible .entry k(
// SM110: .version 9.0
// SM110-NEXT: .target sm_110{{$}}
// SM90: .target sm_90a
// NAME: error: --backend expects 'auto' or 'llvm' or 'libnvvm', got 'nvcc'
// MISSING: error: cannot find 'libnvvm.so.4'
// MISSING: note: --backend=llvm generates PTX without libNVVM
// RENAMED: .target sm_110a
// RENAMED: remark: sm_101a was renamed to sm_110a in PTX ISA 9.0 (CUDA 13)
gpu.module @m {
  gpu.func @k(%p: memref<?xi32>) kernel {
    %t = gpu.thread_id x
    %v = memref.load %p[%t] : memref<?xi32>
    %w = arith.addi %v, %v : i32
    memref.store %w, %p[%t] : memref<?xi32>
    gpu.return
  }
}
