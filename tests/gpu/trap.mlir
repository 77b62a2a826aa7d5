// Thread 5 of block 1 meets a trap.
gpu.module @kernels {
  gpu.func @trap(%out: memref<?xi32> {cute.name = "out"}) kernel {
    %block = gpu.block_id x
    %size = gpu.block_dim x
    %thread = gpu.thread_id x
    %first = arith.muli %block, %size : index
    %i = arith.addi %first, %thread : index
    %c37 = arith.constant 37 : index
    %bad = arith.cmpi eq, %i, %c37 : index
    scf.if %bad {
      "llvm.intr.trap"() : () -> ()
    }
    %v = arith.index_cast %i : index to i32
    memref.store %v, %out[%i] : memref<?xi32>
    gpu.return
  }
}
