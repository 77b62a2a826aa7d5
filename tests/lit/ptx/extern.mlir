// A function that is only declared is called by its own name, whichever dialect declares it.
// RUN: cute-ptx --relocatable-device-code %s | FileCheck %s
// RUN: sed 's/func.func private @ext/llvm.func @ext/; s/func.call @ext/llvm.call @ext/' %s | cute-ptx --rdc | FileCheck %s

// CHECK-NOT: _mlir_ciface
// CHECK: .extern .func  (.param .b32 func_retval0) ext
// CHECK-NOT: _mlir_ciface
// CHECK: call.uni (retval0),
// CHECK-NEXT: ext,
// CHECK-NOT: _mlir_ciface
gpu.module @m {
  func.func private @ext(i32) -> i32
  gpu.func @k(%x: memref<?xi32>) kernel {
    %t = gpu.thread_id x
    %v = memref.load %x[%t] : memref<?xi32>
    %r = func.call @ext(%v) : (i32) -> i32
    memref.store %r, %x[%t] : memref<?xi32>
    gpu.return
  }
}
