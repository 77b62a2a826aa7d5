// b = a transposed, in tiles of 32 by 32 through shared memory.
!matrix = !cute.memref<f32, gmem, align<16>, "(?,?):(?{i64 div=4},1)">

gpu.module @kernels {
  gpu.func @transpose(%a: !matrix, %b: !matrix) kernel attributes {nvvm.reqntid = array<i32: 256, 1, 1>} {
    %thread = nvvm.read.ptx.sreg.tid.x : i32
    %column = nvvm.read.ptx.sreg.ctaid.x : i32
    %row = nvvm.read.ptx.sreg.ctaid.y : i32
    %tile_a = cute.local_tile %a, (32, 32), (%row, %column)
    %tile_b = cute.local_tile %b, (32, 32), (%column, %row)

    // One tile in shared memory, viewed by rows and by columns.
    %bytes = cute_nvgpu.arch.get_dyn_smem() : () -> !cute.ptr<i8, smem, align<1024>>
    %words = cute.recast_iter %bytes : f32
    %rows = cute.make_view %words, "S<5,0,5> o 0 o (32,32):(32,1)"
    %columns = cute.make_view %words, "S<5,0,5> o 0 o (32,32):(1,32)"

    %atom = cute.make_atom : !cute_nvgpu.atom.universal_copy<f32>
    %copy = cute.make_tiled_copy %atom, "(8,32):(32,1)", "(1,1):(0,0)"
    %from = cute.tiled.copy.partition_S %copy, %tile_a, %thread
    %into = cute.tiled.copy.partition_D %copy, %rows, %thread
    cute.copy %copy, %from, %into
    gpu.barrier
    %out = cute.tiled.copy.partition_S %copy, %columns, %thread
    %to = cute.tiled.copy.partition_D %copy, %tile_b, %thread
    cute.copy %copy, %out, %to
    gpu.return
  }
}

func.func @transpose(%a: !matrix, %b: !matrix) {
  %shape = cute.shape %a
  %tiles = cute.ceil_div %shape, (32, 32)
  %m, %n = cute.get_scalars %tiles
  %y = arith.index_cast %m : i32 to index
  %x = arith.index_cast %n : i32 to index
  %one = arith.constant 1 : index
  %threads = arith.constant 256 : index
  %bytes = arith.constant ${32*32*4} : i32
  gpu.launch_func @kernels::@transpose blocks in (%x, %y, %one) threads in (%threads, %one, %one)
    dynamic_shared_memory_size %bytes args(%a : !matrix, %b : !matrix)
  return
}
