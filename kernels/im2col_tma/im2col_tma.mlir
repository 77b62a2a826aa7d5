// y(p,c,s,r) = x(c, STRIDE w - PAD + DIL s, STRIDE h - PAD + DIL r, n), zero outside of x: the im2col matrix of a
// convolution with an S x R filter, one row per output pixel p = (w,h,n). The channels of x are contiguous (NHWC), aligned
// to 16 bytes. A block takes PX pixels: each iteration loads CX channels of one filter position by
// TMA in im2col mode, which iterates over pixels and fills zeros, and stores them by tiled TMA. One warp, and no elements
// in registers. -D T BITS: the type and its bits; CX: 1024 / BITS channels; STAGES: buffers.
!X = !cute.memref<${T}, gmem, align<16>, "(?,?,?,?):(1,?{i64},?{i64},?{i64})">
!Y = !cute.memref<${T}, gmem, align<16>, "(?,?,${S*R}):(?{i64},1,?{i64})">

gpu.module @kernels {
  gpu.func @im2col(%x: !X, %y: !Y) kernel attributes {nvvm.reqntid = array<i32: 32, 1, 1>} {
    %t = nvvm.read.ptx.sreg.tid.x : i32
    %block = nvvm.read.ptx.sreg.ctaid.x : i32
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %positions = arith.constant ${S*R} : i32
    %width = arith.constant ${S} : i32
    %ahead = arith.constant ${STAGES-1} : i32
    %stages = arith.constant ${STAGES} : i32
    %pixels = arith.constant ${PX} : i32
    %bytes = arith.constant ${PX*CX*BITS/8} : i32
    %is_first = arith.cmpi eq, %t, %c0 : i32

    %smem = cute_nvgpu.arch.get_dyn_smem() : () -> !cute.ptr<${T}, smem, align<1024>, S<3,4,3>>
    %s = cute.make_view %smem, "((${PX},${CX}),${STAGES}):((${CX},1),${PX*CX})"
    %barriers = cute.memref.alloca : !cute.memref<i64, smem, align<8>, "${STAGES}:1">
    %full = cute.get_iter %barriers
    scf.if %is_first {
      scf.for %i = %c0 to %stages step %c1 : i32 {
        %one = cute.add_offset %full, %i
        cute_nvgpu.arch.mbarrier_init %one, %c1
      }
      cute_nvgpu.arch.mbarrier_init_fence
    }
    cute_nvgpu.arch.warp_sync

    // ((w,h,n),(c,s,r)) of the output pixels; the corners exclude pixels whose filter would extend past the padding.
    %load, %cx = cute_nvgpu.atom.make_non_exec_im2col_tma_load(%x, "S<3,4,3> o 0 o (${PX},${CX}):(${CX},1)")
      {lower = [${-PAD}, ${-PAD}], upper = [${PAD-(S-1)*DIL}, ${PAD-(R-1)*DIL}], stride = [${STRIDE}, ${STRIDE}], filter = [${S}, ${R}], dilation = [${DIL}, ${DIL}]}
    %store, %cy = cute_nvgpu.atom.make_non_exec_tiled_tma_store(%y, "S<3,4,3> o 0 o (${PX},${CX}):(${CX},1)")
    cute_nvgpu.prefetch_tma_desc %load
    cute_nvgpu.prefetch_tma_desc %store
    %loads = cute_nvgpu.atom.make_exec_tma %load
    %stores = cute_nvgpu.atom.make_exec_tma %store

    // The block's first pixel, and coordinates from there (CX, channels / CX, S, R).
    %first = arith.muli %block, %pixels : i32
    %shape = cute.shape %cx
    %output = cute.get<[0]> %shape
    %pixel = cute.idx2crd %first, %output
    %rows = cute.slice %cx, (%pixel, (_, _, _))
    %channels = cute.local_tile %rows, (${CX}, 1, 1), (_, _, _)
    %from_tiles = cute.group_modes<0,3> %channels
    %to, %from = cute_nvgpu.atom.tma_partition(%load, 0, "1:0", %s, %from_tiles)
    // (CX, channels / CX, positions) of the same rows of y.
    %tiles = cute.local_tile %cy, (${PX}, ${CX}, 1), (%block, _, _)
    %to_tiles = cute.group_modes<0,3> %tiles
    %out, %into = cute_nvgpu.atom.tma_partition(%store, 0, "1:0", %s, %to_tiles)
    %count_mode = cute.size<[1]> %to_tiles
    %count = cute.get_scalars %count_mode
    %steps = arith.muli %count, %positions : i32

    %begin = arith.minsi %ahead, %steps : i32
    scf.for %i = %c0 to %begin step %c1 : i32 {
      %c = arith.remui %i, %count : i32
      %position = arith.divui %i, %count : i32
      %q = arith.remui %position, %width : i32
      %r = arith.divui %position, %width : i32
      %bar = cute.add_offset %full, %i
      scf.if %is_first {
        cute_nvgpu.arch.mbarrier_arrive_and_expect_tx %bar, %bytes
      }
      cute_nvgpu.arch.warp_sync
      %atom = cute_nvgpu.atom.set_value(%loads, %bar) {field = tma_bar}
      cute.copy %atom, %from[_, %c, %q, %r], %to[_, %i]
    }
    %stage, %phase, %next = scf.for %i = %c0 to %steps step %c1
        iter_args(%stage = %c0, %phase = %c0, %next = %ahead) -> (i32, i32, i32) : i32 {
      %c = arith.remui %i, %count : i32
      %position = arith.divui %i, %count : i32
      %bar = cute.add_offset %full, %stage
      cute_nvgpu.arch.mbarrier_wait %bar, %phase
      cute.copy %stores, %out[_, %stage], %into[_, %c, %position]
      nvvm.cp.async.bulk.commit.group
      %j = arith.addi %i, %ahead : i32
      %more = arith.cmpi slt, %j, %steps : i32
      scf.if %more {
        nvvm.cp.async.bulk.wait_group 1 {read}
        %cj = arith.remui %j, %count : i32
        %position_j = arith.divui %j, %count : i32
        %qj = arith.remui %position_j, %width : i32
        %rj = arith.divui %position_j, %width : i32
        %bar_j = cute.add_offset %full, %next
        scf.if %is_first {
          cute_nvgpu.arch.mbarrier_arrive_and_expect_tx %bar_j, %bytes
        }
        cute_nvgpu.arch.warp_sync
        %atom = cute_nvgpu.atom.set_value(%loads, %bar_j) {field = tma_bar}
        cute.copy %atom, %from[_, %cj, %qj, %rj], %to[_, %next]
      }
      %stage1, %phase1 = cute_nvgpu.arch.pipeline_advance<{stages = ${STAGES} : i32}> (%stage, %phase)
      %next1, %unused = cute_nvgpu.arch.pipeline_advance<{stages = ${STAGES} : i32}> (%next, %c0)
      scf.yield %stage1, %phase1, %next1 : i32, i32, i32
    }
    nvvm.cp.async.bulk.wait_group 0 {read}
    gpu.return
  }
}

func.func @im2col(%x: !X {cute.name = "x"}, %y: !Y {cute.name = "y"}) {
  %shape = cute.shape %y
  %grid = cute.ceil_div %shape, (${PX}, ${CX}, 1)
  %m, %n, %unused = cute.get_scalars %grid
  %gx = arith.index_cast %m : i32 to index
  %c1 = arith.constant 1 : index
  %threads = arith.constant 32 : index
  %bytes = arith.constant ${PX*CX*BITS/8*STAGES} : i32
  gpu.launch_func @kernels::@im2col blocks in (%gx, %c1, %c1) threads in (%threads, %c1, %c1)
    dynamic_shared_memory_size %bytes args(%x : !X, %y : !Y)
  return
}
// In an editor: -D T=f16 -D BITS=16 -D PX=64 -D CX=64 -D S=3 -D R=3 -D PAD=1 -D STRIDE=1 -D DIL=1 -D STAGES=3
