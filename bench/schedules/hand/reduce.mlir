// out = sum of x, n elements aligned to 16 bytes. A grid-stride loop over the tiles of x takes
// U vectors of V elements per thread; each block writes its sum to partial, and the last block
// to finish adds these in a fixed order, so the result is deterministic. count is 0 before
// and after.
// -D T: f32, f16 or bf16; V: elements in 16 bytes; U; BLOCKS: the maximum grid size, with PER_SM
// resident blocks per multiprocessor; EXT: extf, or bitcast for f32.
!X = !cute.memref<${T}, gmem, align<16>, "?:1">
!partial = !cute.memref<f32, gmem, "${BLOCKS}:1">
!count = !cute.memref<i32, gmem, "1:1">
!out = !cute.memref<f32, gmem, "1:1">
!warps = !cute.memref<f32, smem, align<1024>, "8:1">

gpu.module @kernels {
  // The sum of mine over the block's 256 threads, returned to all of them.
  func.func private @block_sum(%mine: f32, %warps: !warps) -> f32 {
    %t = nvvm.read.ptx.sreg.tid.x : i32
    %c0 = arith.constant 0 : i32
    %c32 = arith.constant 32 : i32
    %lane = arith.remui %t, %c32 : i32
    %warp = arith.divui %t, %c32 : i32
    %first = arith.cmpi eq, %lane, %c0 : i32
    %sum = cute_nvgpu.arch.warp_all_reduce<add> %mine
    gpu.barrier
    scf.if %first {
      cute.store %sum, %warps[%warp]
    }
    gpu.barrier
    %sums = cute.memref.load_vec %warps
    %all = vector.reduction <add>, %sums : vector<8xf32> into f32
    return %all : f32
  }

  gpu.func @sum(%x: !X, %partial: !partial, %count: !count, %out: !out) kernel
      attributes {nvvm.reqntid = array<i32: 256, 1, 1>, nvvm.minctasm = ${PER_SM} : i32} {
    %t = nvvm.read.ptx.sreg.tid.x : i32
    %block = nvvm.read.ptx.sreg.ctaid.x : i32
    %blocks = nvvm.read.ptx.sreg.nctaid.x : i32
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c256 = arith.constant 256 : i32
    %v = arith.constant ${V} : i32
    %zero = arith.constant 0.0 : f32
    %none = arith.constant 0.0 : ${T}
    %bytes = cute_nvgpu.arch.get_dyn_smem() : () -> !cute.ptr<i8, smem, align<1024>>
    %floats = cute.recast_iter %bytes : f32
    %warps = cute.make_view %floats, "8:1"
    %behind = cute.add_offset %bytes, 32
    %flags = cute.recast_iter %behind : i32
    %flag = cute.make_view %flags, "1:1"

    // The whole vectors of x, tile by tile.
    %size = cute.size %x
    %n = cute.get_scalars %size
    %rest = arith.remui %n, %v : i32
    %whole = arith.subi %n, %rest : i32
    %shape = cute.make_shape(%whole)
    %layout = cute.make_layout(%shape)
    %from = cute.get_iter %x
    %vectors = cute.make_view %from, %layout
    %where = cute.make_identity_tensor %shape
    %count_tiles = cute.ceil_div %shape, ${256*U*V}
    %tiles = cute.get_scalars %count_tiles
    %some = cute.make_atom : !cute_nvgpu.atom.universal_copy<${T}, 128 b>
    %copy = cute.make_tiled_copy %some, "256:1", "${V}:1"
    %vector_sum = scf.for %i = %block to %tiles step %blocks
        iter_args(%so_far = %zero) -> (f32) : i32 {
      %gX = cute.local_tile %vectors, ${256*U*V}, %i
      %gI = cute.local_tile %where, ${256*U*V}, %i
      %tX = cute.tiled.copy.partition_S %copy, %gX, %t
      %tI = cute.tiled.copy.partition_S %copy, %gI, %t
      %inside = cute.predicate %tI, %shape
      %rX = cute.make_fragment_like %tX
      cute.fill %rX, %none
      cute.copy %copy, %tX, %rX, %inside
      %values = cute.memref.load_vec %rX
      %wide = arith.${EXT} %values : vector<${U*V}x${T}> to vector<${U*V}xf32>
      %more = vector.reduction <add>, %wide, %so_far : vector<${U*V}xf32> into f32
      scf.yield %more : f32
    }

    // The first threads of the first block add the remaining elements.
    %in_first = arith.cmpi eq, %block, %c0 : i32
    %has_one = arith.cmpi ult, %t, %rest : i32
    %adds = arith.andi %in_first, %has_one : i1
    %thread_sum = scf.if %adds -> (f32) {
      %at = arith.addi %whole, %t : i32
      %element = cute.load %x[%at]
      %wide = arith.${EXT} %element : ${T} to f32
      %more = arith.addf %vector_sum, %wide : f32
      scf.yield %more : f32
    } else {
      scf.yield %vector_sum : f32
    }
    %block_sum = func.call @block_sum(%thread_sum, %warps) : (f32, !warps) -> f32

    // The atomic count releases this block's sum and acquires those of previous blocks.
    %is_first = arith.cmpi eq, %t, %c0 : i32
    scf.if %is_first {
      cute.store %block_sum, %partial[%block]
      %counter = cute.get_iter %count
      %address = cute.ptrtoint %counter : i64
      %pointer = llvm.inttoptr %address : i64 to !llvm.ptr<1>
      %before = llvm.atomicrmw add %pointer, %c1 syncscope("device") acq_rel : !llvm.ptr<1>, i32
      cute.store %before, %flag[0]
    }
    gpu.barrier
    %before = cute.load %flag[0]
    %up = arith.addi %before, %c1 : i32
    %is_last = arith.cmpi eq, %up, %blocks : i32
    scf.if %is_last {
      %sums = scf.for %i = %t to %blocks step %c256 iter_args(%so_far = %zero) -> (f32) : i32 {
        %one = cute.load %partial[%i]
        %more = arith.addf %so_far, %one : f32
        scf.yield %more : f32
      }
      %all = func.call @block_sum(%sums, %warps) : (f32, !warps) -> f32
      scf.if %is_first {
        cute.store %all, %out[0]
        cute.store %c0, %count[0]
      }
    }
    gpu.return
  }
}

func.func @sum(%x: !X, %partial: !partial, %count: !count, %out: !out) {
  %shape = cute.shape %x
  %tiles = cute.ceil_div %shape, ${256*U*V}
  %n = cute.get_scalars %tiles
  %most = arith.constant ${BLOCKS} : i32
  %blocks = arith.minui %n, %most : i32
  %grid = arith.index_cast %blocks : i32 to index
  %c1 = arith.constant 1 : index
  %threads = arith.constant 256 : index
  %bytes = arith.constant 36 : i32
  gpu.launch_func @kernels::@sum blocks in (%grid, %c1, %c1) threads in (%threads, %c1, %c1)
    dynamic_shared_memory_size %bytes
    args(%x : !X, %partial : !partial, %count : !count, %out : !out)
  return
}
// In an editor: -D T=f32 -D V=4 -D U=4 -D EXT=bitcast -D BLOCKS=1056 -D PER_SM=8
