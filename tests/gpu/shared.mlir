// Reverses n i32 elements through dynamic shared memory, 1024 threads a block.
gpu.module @kernels {
  gpu.func @reverse(%in: memref<?xi32> {cute.name = "in"}, %out: memref<?xi32> {cute.name = "out"}) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %n = memref.dim %in, %c0 : memref<?xi32>
    %last = arith.subi %n, %c1 : index
    %t = gpu.thread_id x
    %threads = gpu.block_dim x
    %bytes = gpu.dynamic_shared_memory : memref<?xi8, #gpu.address_space<workgroup>>
    %tile = memref.view %bytes[%c0][%n] : memref<?xi8, #gpu.address_space<workgroup>> to memref<?xi32, #gpu.address_space<workgroup>>
    scf.for %i = %t to %n step %threads {
      %v = memref.load %in[%i] : memref<?xi32>
      memref.store %v, %tile[%i] : memref<?xi32, #gpu.address_space<workgroup>>
    }
    gpu.barrier
    scf.for %i = %t to %n step %threads {
      %j = arith.subi %last, %i : index
      %v = memref.load %tile[%j] : memref<?xi32, #gpu.address_space<workgroup>>
      memref.store %v, %out[%i] : memref<?xi32>
    }
    gpu.return
  }
}
