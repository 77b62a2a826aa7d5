// Element i of out becomes table[i] + offset; the block counts itself in offset, and writes element `index` of out again.
gpu.module @m {
  llvm.mlir.global external @table() {addr_space = 4 : i32} : !llvm.array<32 x i32> {
    %0 = llvm.mlir.zero : !llvm.array<32 x i32>
    llvm.return %0 : !llvm.array<32 x i32>
  }
  llvm.mlir.global external @offset(5 : i32) {addr_space = 1 : i32} : i32
  gpu.func @globals(%out: memref<?xi32>, %index: index) kernel attributes {gpu.known_block_size = array<i32: 32, 1, 1>} {
    %t = gpu.thread_id x
    %i = arith.index_cast %t : index to i64
    %table = llvm.mlir.addressof @table : !llvm.ptr<4>
    %at = llvm.getelementptr %table[0, %i] : (!llvm.ptr<4>, i64) -> !llvm.ptr<4>, !llvm.array<32 x i32>
    %element = llvm.load %at : !llvm.ptr<4> -> i32
    %offset = llvm.mlir.addressof @offset : !llvm.ptr<1>
    %add = llvm.load %offset : !llvm.ptr<1> -> i32
    %sum = arith.addi %element, %add : i32
    memref.store %sum, %out[%t] : memref<?xi32>
    gpu.barrier
    %zero = arith.constant 0 : index
    %first = arith.cmpi eq, %t, %zero : index
    scf.if %first {
      %one = arith.constant 1 : i32
      %next = arith.addi %add, %one : i32
      llvm.store %next, %offset : i32, !llvm.ptr<1>
      %again = memref.load %out[%zero] : memref<?xi32>
      memref.store %again, %out[%index] : memref<?xi32>
    }
    gpu.return
  }
}
