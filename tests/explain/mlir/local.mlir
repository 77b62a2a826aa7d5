// A histogram of sixteen bins a thread, in an array that is indexed by what is loaded. Cured: in shared memory.
gpu.module @kernels {
  memref.global "private" @bins : memref<16x128xi32, #gpu.address_space<workgroup>>
  gpu.func @slow(%a: memref<?xi32>, %out: memref<?xi32>, %n: index) kernel
      attributes {nvvm.reqntid = array<i32: 128, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c16 = arith.constant 16 : index
    %one = arith.constant 1 : i32
    %zero = arith.constant 0 : i32
    %fifteen = arith.constant 15 : i32
    %tx = gpu.thread_id x
    %bx = gpu.block_id x
    %dx = gpu.block_dim x
    %gx = gpu.grid_dim x
    %r0 = arith.muli %bx, %dx : index
    %i = arith.addi %r0, %tx : index
    %all = arith.muli %gx, %dx : index
    %bins = memref.alloca() : memref<16xi32>
    scf.for %b = %c0 to %c16 step %c1 {
      memref.store %zero, %bins[%b] : memref<16xi32>
    }
    scf.for %k = %i to %n step %all {
      %x = memref.load %a[%k] : memref<?xi32>
      %low = arith.andi %x, %fifteen : i32
      %at = arith.index_cast %low : i32 to index
      %old = memref.load %bins[%at] : memref<16xi32> // FIND local-array
      %new = arith.addi %old, %one : i32
      memref.store %new, %bins[%at] : memref<16xi32>
    }
    scf.for %b = %c0 to %c16 step %c1 {
      %v = memref.load %bins[%b] : memref<16xi32>
      %to = arith.muli %b, %all : index
      %o = arith.addi %to, %i : index
      memref.store %v, %out[%o] : memref<?xi32>
    }
    gpu.return
  }
  gpu.func @cured(%a: memref<?xi32>, %out: memref<?xi32>, %n: index) kernel
      attributes {nvvm.reqntid = array<i32: 128, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c16 = arith.constant 16 : index
    %one = arith.constant 1 : i32
    %zero = arith.constant 0 : i32
    %fifteen = arith.constant 15 : i32
    %tx = gpu.thread_id x
    %bx = gpu.block_id x
    %dx = gpu.block_dim x
    %gx = gpu.grid_dim x
    %r0 = arith.muli %bx, %dx : index
    %i = arith.addi %r0, %tx : index
    %all = arith.muli %gx, %dx : index
    %bins = memref.get_global @bins : memref<16x128xi32, #gpu.address_space<workgroup>>
    scf.for %b = %c0 to %c16 step %c1 {
      memref.store %zero, %bins[%b, %tx] : memref<16x128xi32, #gpu.address_space<workgroup>>
    }
    scf.for %k = %i to %n step %all {
      %x = memref.load %a[%k] : memref<?xi32>
      %low = arith.andi %x, %fifteen : i32
      %at = arith.index_cast %low : i32 to index
      %old = memref.load %bins[%at, %tx] : memref<16x128xi32, #gpu.address_space<workgroup>>
      %new = arith.addi %old, %one : i32
      memref.store %new, %bins[%at, %tx] : memref<16x128xi32, #gpu.address_space<workgroup>>
    }
    scf.for %b = %c0 to %c16 step %c1 {
      %v = memref.load %bins[%b, %tx] : memref<16x128xi32, #gpu.address_space<workgroup>>
      %to = arith.muli %b, %all : index
      %o = arith.addi %to, %i : index
      memref.store %v, %out[%o] : memref<?xi32>
    }
    gpu.return
  }
}
