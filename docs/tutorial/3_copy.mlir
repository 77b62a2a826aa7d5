// b = a, in tiles of 16 by 32. A block has 128 threads, each moving 16 bytes.
!matrix = !cute.memref<f32, gmem, align<16>, "(?,?):(?{i64 div=4},1)">

gpu.module @kernels {
  gpu.func @copy(%a: !matrix, %b: !matrix) kernel attributes {nvvm.reqntid = array<i32: 128, 1, 1>} {
    %thread = nvvm.read.ptx.sreg.tid.x : i32
    %column = nvvm.read.ptx.sreg.ctaid.x : i32
    %row = nvvm.read.ptx.sreg.ctaid.y : i32

    %atom = cute.make_atom : !cute_nvgpu.atom.universal_copy<f32, 128 b>
    %copy = cute.make_tiled_copy %atom, "(16,8):(8,1)", "(1,4):(0,1)"

    %tile_a = cute.local_tile %a, (16, 32), (%row, %column)
    %tile_b = cute.local_tile %b, (16, 32), (%row, %column)
    %from = cute.tiled.copy.partition_S %copy, %tile_a, %thread
    %to = cute.tiled.copy.partition_D %copy, %tile_b, %thread
    cute.copy %copy, %from, %to
    gpu.return
  }
}

func.func @copy(%a: !matrix, %b: !matrix) {
  %shape = cute.shape %a
  %tiles = cute.ceil_div %shape, (16, 32)
  %rows, %columns = cute.get_scalars %tiles
  %y = arith.index_cast %rows : i32 to index
  %x = arith.index_cast %columns : i32 to index
  %one = arith.constant 1 : index
  %threads = arith.constant 128 : index
  gpu.launch_func @kernels::@copy blocks in (%x, %y, %one) threads in (%threads, %one, %one)
    args(%a : !matrix, %b : !matrix)
  return
}
