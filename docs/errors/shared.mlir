gpu.module @kernels {
  memref.global "private" @tile : memref<16384xf32, 3>
  gpu.func @sum(%p: memref<?xf32>, %i: index, %j: index) kernel {
    %tile = memref.get_global @tile : memref<16384xf32, 3>
    %x = memref.load %p[%i] : memref<?xf32>
    memref.store %x, %tile[%i] : memref<16384xf32, 3>
    gpu.barrier
    %y = memref.load %tile[%j] : memref<16384xf32, 3>
    memref.store %y, %p[%i] : memref<?xf32>
    gpu.return
  }
}
