// Operations that nothing lowers are refused where they stand, with what does the same.
// RUN: not cute-ptx %s 2>&1 | FileCheck %s

gpu.module @m {
  gpu.func @k(%x: memref<64x64xf32>, %v: vector<8xf32>, %i: index) kernel {
    // CHECK: :[[#@LINE+1]]:10: error: 'vector.flat_transpose' op is not lowered to PTX; expected vector.transpose
    %0 = vector.flat_transpose %v {rows = 2 : i32, columns = 4 : i32} : vector<8xf32> -> vector<8xf32>
    // CHECK: :[[#@LINE+1]]:5: error: 'vector.print' op is not lowered to PTX; expected gpu.printf
    vector.print %v : vector<8xf32>
    // CHECK: :[[#@LINE+1]]:10: error: 'vector.load' op expected a vector of rank 1 (vector.transfer_read takes any), got 'vector<2x4xf32>'
    %1 = vector.load %x[%i, %i] : memref<64x64xf32>, vector<2x4xf32>
    // CHECK: :[[#@LINE+1]]:10: error: 'memref.alloc' op is not lowered to PTX; expected memref.alloca, or workgroup memory of the kernel
    %2 = memref.alloc() : memref<4xf32>
    gpu.return
  }
}
