// RUN: not cute-ptx %s 2>&1 | FileCheck %s

gpu.module @m {
  gpu.func @g(%m: memref<4xi8>, %l: memref<4xi32, #gpu.address_space<private>>) kernel {
    %c0 = arith.constant 0 : index
    %b = arith.constant 1 : i8
    %i = arith.constant 1 : i32
    // CHECK: :[[#@LINE+1]]:10: error: 'memref.atomic_rmw' op expected an atomic type of 16, 32 or 64 bits, got 'i8'
    %0 = memref.atomic_rmw addi %b, %m[%c0] : (i8, memref<4xi8>) -> i8
    // CHECK: :[[#@LINE+1]]:10: error: expected a memref in global or workgroup memory for an atomic update
    %1 = memref.atomic_rmw addi %i, %l[%c0] : (i32, memref<4xi32, #gpu.address_space<private>>) -> i32
    gpu.return
  }
}
