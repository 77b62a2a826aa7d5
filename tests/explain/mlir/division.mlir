// Each element's place in a row whose length is loaded. Cured: rows are a loop of their own.
gpu.module @kernels {
  gpu.func @slow(%a: memref<?xf32>, %widths: memref<?xi32>, %out: memref<?xf32>, %n: i32) kernel
      attributes {nvvm.reqntid = array<i32: 256, 1, 1>} {
    %c1 = arith.constant 1 : i32
    %zero = arith.constant 0.0 : f32
    %tx = gpu.thread_id x
    %bx = gpu.block_id x
    %dx = gpu.block_dim x
    %r0 = arith.muli %bx, %dx : index
    %i = arith.addi %r0, %tx : index
    %i32 = arith.index_cast %i : index to i32
    %width = memref.load %widths[%i] : memref<?xi32>
    %sum = scf.for %k = %c1 to %n step %c1 iter_args(%s = %zero) -> (f32) : i32 {
      %d = arith.addi %width, %k : i32
      %row = arith.remui %i32, %d : i32 // FIND integer-division
      %x = arith.uitofp %row : i32 to f32
      %t = arith.addf %s, %x : f32
      scf.yield %t : f32
    }
    memref.store %sum, %out[%i] : memref<?xf32>
    gpu.return
  }
  gpu.func @cured(%a: memref<?xf32>, %widths: memref<?xi32>, %out: memref<?xf32>, %n: i32) kernel
      attributes {nvvm.reqntid = array<i32: 256, 1, 1>} {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant 0.0 : f32
    %tx = gpu.thread_id x
    %bx = gpu.block_id x
    %dx = gpu.block_dim x
    %r0 = arith.muli %bx, %dx : index
    %i = arith.addi %r0, %tx : index
    %width = memref.load %widths[%i] : memref<?xi32>
    %sum, %place = scf.for %k = %c1 to %n step %c1 iter_args(%s = %zero, %p = %c0) -> (f32, i32) : i32 {
      %x = arith.uitofp %p : i32 to f32
      %t = arith.addf %s, %x : f32
      %up = arith.addi %p, %c1 : i32
      %wraps = arith.cmpi uge, %up, %width : i32
      %next = arith.select %wraps, %c0, %up : i32
      scf.yield %t, %next : f32, i32
    }
    memref.store %sum, %out[%i] : memref<?xf32>
    gpu.return
  }
}
