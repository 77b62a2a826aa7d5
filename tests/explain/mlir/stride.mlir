// Each thread sums a row. Cured: a column.
gpu.module @kernels {
  gpu.func @slow(%a: memref<?x?xf32>, %out: memref<?xf32>) kernel
      attributes {nvvm.reqntid = array<i32: 128, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %zero = arith.constant 0.0 : f32
    %tx = gpu.thread_id x
    %bx = gpu.block_id x
    %dx = gpu.block_dim x
    %r0 = arith.muli %bx, %dx : index
    %i = arith.addi %r0, %tx : index
    %n = memref.dim %a, %c1 : memref<?x?xf32>
    %sum = scf.for %k = %c0 to %n step %c1 iter_args(%s = %zero) -> (f32) {
      %x = memref.load %a[%i, %k] : memref<?x?xf32> // FIND uncoalesced
      %t = arith.addf %s, %x : f32
      scf.yield %t : f32
    }
    memref.store %sum, %out[%i] : memref<?xf32>
    gpu.return
  }
  gpu.func @cured(%a: memref<?x?xf32>, %out: memref<?xf32>) kernel
      attributes {nvvm.reqntid = array<i32: 128, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %zero = arith.constant 0.0 : f32
    %tx = gpu.thread_id x
    %bx = gpu.block_id x
    %dx = gpu.block_dim x
    %r0 = arith.muli %bx, %dx : index
    %i = arith.addi %r0, %tx : index
    %n = memref.dim %a, %c0 : memref<?x?xf32>
    %sum = scf.for %k = %c0 to %n step %c1 iter_args(%s = %zero) -> (f32) {
      %x = memref.load %a[%k, %i] : memref<?x?xf32>
      %t = arith.addf %s, %x : f32
      scf.yield %t : f32
    }
    memref.store %sum, %out[%i] : memref<?xf32>
    gpu.return
  }
}
