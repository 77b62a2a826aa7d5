// A constant of f64 in the middle. Cured: of f32.
gpu.module @kernels {
  gpu.func @slow(%a: memref<?xf32>, %out: memref<?xf32>, %n: index) kernel
      attributes {nvvm.reqntid = array<i32: 256, 1, 1>} {
    %tx = gpu.thread_id x
    %bx = gpu.block_id x
    %dx = gpu.block_dim x
    %gx = gpu.grid_dim x
    %r0 = arith.muli %bx, %dx : index
    %i = arith.addi %r0, %tx : index
    %all = arith.muli %gx, %dx : index
    %half = arith.constant 0.7 : f64
    scf.for %k = %i to %n step %all {
      %x = memref.load %a[%k] : memref<?xf32>
      %w = arith.extf %x : f32 to f64
      %y = arith.mulf %w, %half : f64 // FIND double
      %z = arith.truncf %y : f64 to f32
      memref.store %z, %out[%k] : memref<?xf32>
    }
    gpu.return
  }
  gpu.func @cured(%a: memref<?xf32>, %out: memref<?xf32>, %n: index) kernel
      attributes {nvvm.reqntid = array<i32: 256, 1, 1>} {
    %tx = gpu.thread_id x
    %bx = gpu.block_id x
    %dx = gpu.block_dim x
    %gx = gpu.grid_dim x
    %r0 = arith.muli %bx, %dx : index
    %i = arith.addi %r0, %tx : index
    %all = arith.muli %gx, %dx : index
    %half = arith.constant 0.7 : f32
    scf.for %k = %i to %n step %all {
      %x = memref.load %a[%k] : memref<?xf32>
      %z = arith.mulf %x, %half : f32
      memref.store %z, %out[%k] : memref<?xf32>
    }
    gpu.return
  }
}
