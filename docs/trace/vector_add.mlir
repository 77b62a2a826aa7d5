// c = a + b on vectors of any length: a thread adds one element.
!vector = !cute.memref<f32, gmem, align<16>, "?:1">

gpu.module @kernels {
  gpu.func @vector_add(%a: !vector, %b: !vector, %c: !vector) kernel attributes {nvvm.reqntid = array<i32: 128, 1, 1>} {
    %thread = nvvm.read.ptx.sreg.tid.x : i32
    %block = nvvm.read.ptx.sreg.ctaid.x : i32

    // The block's 128 elements of each vector.
    %tile_a = cute.local_tile %a, 128, %block
    %tile_b = cute.local_tile %b, 128, %block
    %tile_c = cute.local_tile %c, 128, %block

    // Where this thread's element is, as the last tile may reach behind the end.
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

// The host's part: a block for each 128 elements.
func.func @vector_add(%a: !vector, %b: !vector, %c: !vector) {
  %shape = cute.shape %c
  %tiles = cute.ceil_div %shape, 128
  %blocks = cute.get_scalars %tiles
  %x = arith.index_cast %blocks : i32 to index
  %one = arith.constant 1 : index
  %threads = arith.constant 128 : index
  gpu.launch_func @kernels::@vector_add blocks in (%x, %one, %one) threads in (%threads, %one, %one)
    args(%a : !vector, %b : !vector, %c : !vector)
  return
}
