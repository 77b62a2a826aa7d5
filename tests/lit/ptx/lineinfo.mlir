// RUN: cute-ptx %s -lineinfo | FileCheck %s
// RUN: cute-opt -mlir-print-debuginfo %s | cute-ptx -lineinfo | FileCheck %s
// RUN: cute-opt %s | cute-ptx -lineinfo | FileCheck %s
// RUN: cute-ptx %s | FileCheck %s --check-prefix=NONE

// NONE-NOT: .loc
// Not "debug": that would have ptxas keep every variable.
// CHECK: .target sm_90a{{$}}
// The function begins at its own line, each operation at its own.
// CHECK: .loc 1 [[# @LINE + 4]] 0
// CHECK: .loc 1 [[# @LINE + 5]] {{[0-9]+}}
// CHECK: .file 1 "{{.*}}lineinfo.mlir"
gpu.module @m {
  gpu.func @k(%x: memref<8xf32>) kernel {
    %c0 = arith.constant 0 : index
    %v = memref.load %x[%c0] : memref<8xf32>
    %w = arith.addf %v, %v : f32
    memref.store %w, %x[%c0] : memref<8xf32>
    gpu.return
  }
}
