// c = a b in f32, one thread per element, as plain MLIR: memrefs with shapes and strides, no tiling.
gpu.module @kernels {
  gpu.func @matmul_naive(%a: memref<?x?xf32> {cute.name = "a"}, %b: memref<?x?xf32> {cute.name = "b"},
                         %c: memref<?x?xf32> {cute.name = "c"})
      kernel attributes {known_block_size = array<i32: 32, 8, 1>, nvvm.reqntid = array<i32: 32, 8, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %zero = arith.constant 0.0 : f32
    %tx = gpu.thread_id x
    %ty = gpu.thread_id y
    %bx = gpu.block_id x
    %by = gpu.block_id y
    %dx = gpu.block_dim x
    %dy = gpu.block_dim y
    %j0 = arith.muli %bx, %dx : index
    %j = arith.addi %j0, %tx : index
    %i0 = arith.muli %by, %dy : index
    %i = arith.addi %i0, %ty : index
    %m = memref.dim %c, %c0 : memref<?x?xf32>
    %n = memref.dim %c, %c1 : memref<?x?xf32>
    %k = memref.dim %a, %c1 : memref<?x?xf32>
    %in_m = arith.cmpi ult, %i, %m : index
    %in_n = arith.cmpi ult, %j, %n : index
    %in = arith.andi %in_m, %in_n : i1
    scf.if %in {
      %sum = scf.for %p = %c0 to %k step %c1 iter_args(%acc = %zero) -> (f32) {
        %x = memref.load %a[%i, %p] : memref<?x?xf32>
        %y = memref.load %b[%p, %j] : memref<?x?xf32>
        %s = math.fma %x, %y, %acc : f32
        scf.yield %s : f32
      }
      memref.store %sum, %c[%i, %j] : memref<?x?xf32>
    }
    gpu.return
  }
}
