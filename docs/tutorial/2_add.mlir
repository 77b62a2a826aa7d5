// c = a + b: each thread adds one element.
!vector = !cute.memref<f32, gmem, align<16>, "?:1">

gpu.module @kernels {
  gpu.func @add(%a: !vector, %b: !vector, %c: !vector) kernel attributes {nvvm.reqntid = array<i32: 128, 1, 1>} {
    %thread = nvvm.read.ptx.sreg.tid.x : i32
    %block = nvvm.read.ptx.sreg.ctaid.x : i32

    // The block's 128 elements of each vector.
    %tile_a = cute.local_tile %a, 128, %block
    %tile_b = cute.local_tile %b, 128, %block
    %tile_c = cute.local_tile %c, 128, %block

    // The last tile may extend beyond the end: the same tile of coordinates has each element's position.
    %shape = cute.shape %c
    %n = cute.get_scalars %shape
    %coordinates = cute.make_identity_tensor %c
    %tile_i = cute.local_tile %coordinates, 128, %block
    %i = cute.load %tile_i[%thread]
    %where = cute.get_scalars %i
    %inside = arith.cmpi slt, %where, %n : i32
    scf.if %inside {
      %x = cute.load %tile_a[%thread]
      %y = cute.load %tile_b[%thread]
      %z = arith.addf %x, %y : f32
      cute.store %z, %tile_c[%thread]
    }
    gpu.return
  }
}

// Host code: the size of the vectors determines the number of blocks.
func.func @add(%a: !vector, %b: !vector, %c: !vector) {
  %shape = cute.shape %c
  %tiles = cute.ceil_div %shape, 128
  %blocks = cute.get_scalars %tiles
  %x = arith.index_cast %blocks : i32 to index
  %one = arith.constant 1 : index
  %threads = arith.constant 128 : index
  gpu.launch_func @kernels::@add blocks in (%x, %one, %one) threads in (%threads, %one, %one)
    args(%a : !vector, %b : !vector, %c : !vector)
  return
}
