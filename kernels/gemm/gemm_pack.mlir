// to = from: copies a matrix with rows of K elements and any strides to contiguous rows, zero-padded to a
// multiple of the copy width, for operands A and B that do not have the strides or alignment a kernel
// requires. -D PT: element type, PZERO: its 0. Element by element.
!any = memref<?x?x${PT}, strided<[?, ?], offset: ?>>
gpu.module @packing {
  gpu.func @gemm_pack(%from: !any {cute.name = "from"}, %to: !any {cute.name = "to"}) kernel
      attributes {nvvm.reqntid = array<i32: 32, 8, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c8 = arith.constant 8 : index
    %c32 = arith.constant 32 : index
    %tx = gpu.thread_id x
    %ty = gpu.thread_id y
    %bx = gpu.block_id x
    %by = gpu.block_id y
    %i0 = arith.muli %bx, %c8 : index
    %k0 = arith.muli %by, %c32 : index
    %i = arith.addi %i0, %ty : index
    %k = arith.addi %k0, %tx : index
    %rows = memref.dim %to, %c0 : !any
    %wide = memref.dim %to, %c1 : !any
    %narrow = memref.dim %from, %c1 : !any
    %a = arith.cmpi ult, %i, %rows : index
    %b = arith.cmpi ult, %k, %wide : index
    %is_there = arith.andi %a, %b : i1
    scf.if %is_there {
      %inside = arith.cmpi ult, %k, %narrow : index
      %x = scf.if %inside -> (${PT}) {
        %y = memref.load %from[%i, %k] : !any
        scf.yield %y : ${PT}
      } else {
        %zero = arith.constant ${PZERO} : ${PT}
        scf.yield %zero : ${PT}
      }
      memref.store %x, %to[%i, %k] : !any
    }
    gpu.return
  }
}
func.func @gemm_pack(%from: !any {cute.name = "from"}, %to: !any {cute.name = "to"}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c32 = arith.constant 32 : index
  %rows = memref.dim %to, %c0 : !any
  %wide = memref.dim %to, %c1 : !any
  %gm = arith.ceildivui %rows, %c8 : index
  %gk = arith.ceildivui %wide, %c32 : index
  gpu.launch_func @packing::@gemm_pack blocks in (%gm, %gk, %c1) threads in (%c32, %c8, %c1)
    args(%from : !any, %to : !any)
  return
}
// In an editor: -D PT=f16 -D PZERO=0.0
