// Thread 7 asserts what does not hold. Compiled with and without assertions.
gpu.module @kernels {
  gpu.func @assert(%out: memref<?xi32> {cute.name = "out"}) kernel {
    %i = gpu.thread_id x
    %c7 = arith.constant 7 : index
    %good = arith.cmpi ne, %i, %c7 : index
    cf.assert %good, "thread 7 is not welcome"
    %v = arith.index_cast %i : index to i32
    memref.store %v, %out[%i] : memref<?xi32>
    gpu.return
  }
}
