// b = a for matrices by rows, of any size, whose rows begin at multiples of 16 bytes. Each block stays on its
// multiprocessor and brings tiles of (TM,TN) into STAGES buffers and out again by TMA: one warp, and no register
// holds an element. AHEAD loads are under way before the first is stored; so the stores of STAGES - AHEAD tiles may
// still be read from their buffers. -D T BITS: the type and its bits; PER: blocks of a multiprocessor.
!A = !cute.memref<${T}, gmem, align<16>, "(?,?):(?{i64},1)">

gpu.module @kernels {
  gpu.func @copy(%a: !A, %b: !A) kernel attributes {nvvm.reqntid = array<i32: 32, 1, 1>} {
    %t = nvvm.read.ptx.sreg.tid.x : i32
    %block = nvvm.read.ptx.sreg.ctaid.x : i32
    %blocks = nvvm.read.ptx.sreg.nctaid.x : i32
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %ahead = arith.constant ${AHEAD} : i32
    %stages = arith.constant ${STAGES} : i32
    %bytes = arith.constant ${TM*TN*BITS/8} : i32
    %is_first = arith.cmpi eq, %t, %c0 : i32

    // Buffers, and an mbarrier for each.
    %smem = cute_nvgpu.arch.get_dyn_smem() : () -> !cute.ptr<${T}, smem, align<1024>>
    %s = cute.make_view %smem, "((${TM},${TN}),${STAGES}):((${TN},1),${TM*TN})"
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

    // The tiles of both, and what an instruction copies of them.
    %load, %ca = cute_nvgpu.atom.make_non_exec_tiled_tma_load(%a, "(${TM},${TN}):(${TN},1)")
    %store, %cb = cute_nvgpu.atom.make_non_exec_tiled_tma_store(%b, "(${TM},${TN}):(${TN},1)")
    cute_nvgpu.prefetch_tma_desc %load
    cute_nvgpu.prefetch_tma_desc %store
    %ga = cute.local_tile %ca, (${TM}, ${TN}), (_, _)
    %gb = cute.local_tile %cb, (${TM}, ${TN}), (_, _)
    %tiles_a = cute.group_modes<0,2> %ga
    %tiles_b = cute.group_modes<0,2> %gb
    %zero = cute.make_coord(0)
    %alone = cute.static : !cute.layout<"1:0">
    %to, %from = cute_nvgpu.atom.tma_partition(%load, %zero, %alone, %s, %tiles_a)
    %out, %into = cute_nvgpu.atom.tma_partition(%store, %zero, %alone, %s, %tiles_b)
    %loads = cute_nvgpu.atom.make_exec_tma %load
    %stores = cute_nvgpu.atom.make_exec_tma %store
    %rows_mode = cute.size<[1]> %tiles_a
    %columns_mode = cute.size<[2]> %tiles_a
    %rows = cute.get_scalars %rows_mode
    %columns = cute.get_scalars %columns_mode
    %tiles = arith.muli %rows, %columns : i32

    // The block's tiles: block, block + blocks, ...
    %left = arith.subi %tiles, %block : i32
    %own = arith.ceildivsi %left, %blocks : i32
    %begin = arith.minsi %ahead, %own : i32
    scf.for %i = %c0 to %begin step %c1 : i32 {
      %step = arith.muli %i, %blocks : i32
      %tile = arith.addi %block, %step : i32
      %m = arith.divui %tile, %columns : i32
      %n = arith.remui %tile, %columns : i32
      %bar = cute.add_offset %full, %i
      scf.if %is_first {
        cute_nvgpu.arch.mbarrier_arrive_and_expect_tx %bar, %bytes
      }
      cute_nvgpu.arch.warp_sync
      %atom = cute_nvgpu.atom.set_value(%loads, %bar) {field = tma_bar}
      cute.copy %atom, %from[_, %m, %n], %to[_, %i]
    }
    %stage, %phase, %next = scf.for %i = %c0 to %own step %c1
        iter_args(%stage = %c0, %phase = %c0, %next = %ahead) -> (i32, i32, i32) : i32 {
      // Tile i goes out as soon as it is there,
      %step = arith.muli %i, %blocks : i32
      %tile = arith.addi %block, %step : i32
      %m = arith.divui %tile, %columns : i32
      %n = arith.remui %tile, %columns : i32
      %bar = cute.add_offset %full, %stage
      cute_nvgpu.arch.mbarrier_wait %bar, %phase
      cute.copy %stores, %out[_, %stage], %into[_, %m, %n]
      nvvm.cp.async.bulk.commit.group
      // and tile i + AHEAD comes in where tile i + AHEAD - STAGES was.
      %j = arith.addi %i, %ahead : i32
      %more = arith.cmpi slt, %j, %own : i32
      scf.if %more {
        nvvm.cp.async.bulk.wait_group ${STAGES-AHEAD} {read}
        %step_j = arith.muli %j, %blocks : i32
        %tile_j = arith.addi %block, %step_j : i32
        %mj = arith.divui %tile_j, %columns : i32
        %nj = arith.remui %tile_j, %columns : i32
        %bar_j = cute.add_offset %full, %next
        scf.if %is_first {
          cute_nvgpu.arch.mbarrier_arrive_and_expect_tx %bar_j, %bytes
        }
        cute_nvgpu.arch.warp_sync
        %atom = cute_nvgpu.atom.set_value(%loads, %bar_j) {field = tma_bar}
        cute.copy %atom, %from[_, %mj, %nj], %to[_, %next]
      }
      %stage1, %phase1 = cute_nvgpu.arch.pipeline_advance<{stages = ${STAGES} : i32}> (%stage, %phase)
      %next1, %unused = cute_nvgpu.arch.pipeline_advance<{stages = ${STAGES} : i32}> (%next, %c0)
      scf.yield %stage1, %phase1, %next1 : i32, i32, i32
    }
    nvvm.cp.async.bulk.wait_group 0
    gpu.return
  }
}

func.func @copy(%a: !A {cute.name = "a"}, %b: !A {cute.name = "b"}) {
  %shape = cute.shape %a
  %grid = cute.ceil_div %shape, (${TM}, ${TN})
  %m, %n = cute.get_scalars %grid
  %tiles = arith.muli %m, %n : i32
  %sms = cute_nvgpu.host.sm_count() : () -> i32
  %per = arith.constant ${PER} : i32
  %most = arith.muli %sms, %per : i32
  %blocks = arith.minsi %tiles, %most : i32
  %gx = arith.index_cast %blocks : i32 to index
  %c1 = arith.constant 1 : index
  %threads = arith.constant 32 : index
  %bytes = arith.constant ${TM*TN*BITS/8*STAGES} : i32
  gpu.launch_func @kernels::@copy blocks in (%gx, %c1, %c1) threads in (%threads, %c1, %c1)
    dynamic_shared_memory_size %bytes args(%a : !A, %b : !A)
  return
}
