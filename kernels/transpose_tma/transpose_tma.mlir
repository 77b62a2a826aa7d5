// b(j,i) = a(i,j): a is (M,N), b is (N,M), both by rows, of any size, whose rows begin at multiples of 16 bytes. TMA
// brings tiles of 128 bytes by 8 V G rows into STAGES buffers, swizzled; a thread takes V rows of V elements, 16 bytes
// each, and puts them as columns into one of OUT buffers, from which TMA takes them out: 64 G threads. Eight neighbours
// take and put pieces of a diagonal, which the swizzle has in different banks on both sides.
// -D T BITS V: the type, its bits, and 128 / BITS; G: boxes of 128 bytes that a row of the tile of b has; PER: blocks of
// a multiprocessor.
!A = !cute.memref<${T}, gmem, align<16>, "(?,?):(?{i64},1)">
#unroll = #llvm.loop_annotation<unroll = <full = true>>

gpu.module @kernels {
  gpu.func @transpose(%a: !A, %b: !A) kernel attributes {nvvm.reqntid = array<i32: ${64*G}, 1, 1>, nvvm.minctasm = ${PER} : i32} {
    %t = nvvm.read.ptx.sreg.tid.x : i32
    %block = nvvm.read.ptx.sreg.ctaid.x : i32
    %blocks = nvvm.read.ptx.sreg.nctaid.x : i32
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c8 = arith.constant 8 : i32
    %c32 = arith.constant 32 : i32
    %stages = arith.constant ${STAGES} : i32
    %bytes = arith.constant ${64*V*V*G*BITS/8} : i32
    %is_first = arith.cmpi eq, %t, %c0 : i32
    %in_first_warp = arith.cmpi ult, %t, %c32 : i32

    // Buffers of tiles of a, ${8*V*G} by ${8*V}, and of b, ${8*V} by ${8*V*G}; an mbarrier for each of the first.
    %smem = cute_nvgpu.arch.get_dyn_smem() : () -> !cute.ptr<${T}, smem, align<1024>, S<3,4,3>>
    %s = cute.make_view %smem, "((${8*V*G},${8*V}),${STAGES}):((${8*V},1),${64*V*V*G})"
    %behind = cute.add_offset %smem, ${64*V*V*G*STAGES}
    %o = cute.make_view %behind, "((${8*V},(${8*V},${G})),${OUT}):((${8*V},(1,${64*V*V})),${64*V*V*G})"
    // The same as pieces: ((V, of 16 bytes), (V, of V rows)) of a tile.
    %sp = cute.make_view %smem, "((${V},8),(${V},${8*G}),${STAGES}):((1,${V}),(${8*V},${8*V*V}),${64*V*V*G})"
    %op = cute.make_view %behind, "((${V},(8,${G})),(${V},8),${OUT}):((1,(${V},${64*V*V})),(${8*V},${8*V*V}),${64*V*V*G})"
    %barriers = cute.memref.alloca : !cute.memref<i64, smem, align<8>, "${STAGES}:1">
    %full = cute.get_iter %barriers
    scf.if %is_first {
      scf.for %i = %c0 to %stages step %c1 : i32 {
        %one = cute.add_offset %full, %i
        cute_nvgpu.arch.mbarrier_init %one, %c1
      }
      cute_nvgpu.arch.mbarrier_init_fence
    }
    gpu.barrier

    %load, %ca = cute_nvgpu.atom.make_non_exec_tiled_tma_load(%a, "S<3,4,3> o 0 o (${8*V*G},${8*V}):(${8*V},1)")
    %store, %cb = cute_nvgpu.atom.make_non_exec_tiled_tma_store(%b, "S<3,4,3> o 0 o (${8*V},(${8*V},${G})):(${8*V},(1,${64*V*V}))")
    %ga = cute.local_tile %ca, (${8*V*G}, ${8*V}), (_, _)
    %gb = cute.local_tile %cb, (${8*V}, ${8*V*G}), (_, _)
    %tiles_a = cute.group_modes<0,2> %ga
    %tiles_b = cute.group_modes<0,2> %gb
    %zero = cute.make_coord(0)
    %alone = cute.static : !cute.layout<"1:0">
    %to, %from = cute_nvgpu.atom.tma_partition(%load, %zero, %alone, %s, %tiles_a)
    %out, %into = cute_nvgpu.atom.tma_partition(%store, %zero, %alone, %o, %tiles_b)
    %loads = cute_nvgpu.atom.make_exec_tma %load
    %stores = cute_nvgpu.atom.make_exec_tma %store
    %rows_mode = cute.size<[1]> %tiles_a
    %columns_mode = cute.size<[2]> %tiles_a
    %rows = cute.get_scalars %rows_mode
    %columns = cute.get_scalars %columns_mode
    %tiles = arith.muli %rows, %columns : i32
    %left = arith.subi %tiles, %block : i32
    %own = arith.ceildivsi %left, %blocks : i32
    %begin = arith.minsi %stages, %own : i32
    scf.if %in_first_warp {
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
    }

    // The thread's piece: columns of 16 bytes t % 8, rows of V on the diagonal.
    %pc = arith.remui %t, %c8 : i32
    %u = arith.divui %t, %c8 : i32
    %d0 = arith.addi %pc, %u : i32
    %d1 = arith.remui %d0, %c8 : i32
    %half = arith.divui %u, %c8 : i32
    %h8 = arith.muli %half, %c8 : i32
    %pr = arith.addi %d1, %h8 : i32
    %wide = cute.make_atom : !cute_nvgpu.atom.universal_copy<${T}, 128 b>
    %r = cute.memref.alloca : !cute.memref<${T}, rmem, align<16>, "(${V},${V}):(1,${V})">
    %w = cute.memref.alloca : !cute.memref<${T}, rmem, align<16>, "(${V},${V}):(1,${V})">
    %rp = cute.get_iter %r
    %turned = cute.make_view %rp, "(${V},${V}):(${V},1)"
    %one = cute.make_atom : !cute_nvgpu.atom.universal_copy<${T}>
    %stage, %phase, %buffer = scf.for %i = %c0 to %own step %c1
        iter_args(%stage = %c0, %phase = %c0, %buffer = %c0) -> (i32, i32, i32) : i32 {
      %step = arith.muli %i, %blocks : i32
      %tile = arith.addi %block, %step : i32
      %m = arith.divui %tile, %columns : i32
      %n = arith.remui %tile, %columns : i32
      %bar = cute.add_offset %full, %stage
      cute_nvgpu.arch.mbarrier_wait %bar, %phase
      %piece = cute.make_coord((_, %pc), (_, %pr), %stage)
      %read = cute.slice %sp, %piece
      cute.copy %wide, %read, %r
      cute.copy %one, %turned, %w
      // All have read: the buffer may be filled again. What went out of the other buffer has been read, too.
      scf.if %in_first_warp {
        nvvm.cp.async.bulk.wait_group ${OUT-1} {read}
      }
      gpu.barrier
      %j = arith.addi %i, %stages : i32
      %more = arith.cmpi slt, %j, %own : i32
      %fills = arith.andi %more, %in_first_warp : i1
      scf.if %fills {
        %step_j = arith.muli %j, %blocks : i32
        %tile_j = arith.addi %block, %step_j : i32
        %mj = arith.divui %tile_j, %columns : i32
        %nj = arith.remui %tile_j, %columns : i32
        scf.if %is_first {
          cute_nvgpu.arch.mbarrier_arrive_and_expect_tx %bar, %bytes
        }
        cute_nvgpu.arch.warp_sync
        %atom = cute_nvgpu.atom.set_value(%loads, %bar) {field = tma_bar}
        cute.copy %atom, %from[_, %mj, %nj], %to[_, %stage]
      }
      %place = cute.make_coord((_, %pr), (_, %pc), %buffer)
      %write = cute.slice %op, %place
      cute.copy %wide, %w, %write
      nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cta>}
      gpu.barrier
      scf.if %in_first_warp {
        cute.copy %stores, %out[_, %buffer], %into[_, %n, %m]
        nvvm.cp.async.bulk.commit.group
      }
      %stage1, %phase1 = cute_nvgpu.arch.pipeline_advance<{stages = ${STAGES} : i32}> (%stage, %phase)
      %buffer1, %unused = cute_nvgpu.arch.pipeline_advance<{stages = ${OUT} : i32}> (%buffer, %c0)
      scf.yield %stage1, %phase1, %buffer1 : i32, i32, i32
    }
    scf.if %in_first_warp {
      nvvm.cp.async.bulk.wait_group 0
    }
    gpu.return
  }
}

func.func @transpose(%a: !A {cute.name = "a"}, %b: !A {cute.name = "b"}) {
  %shape = cute.shape %a
  %grid = cute.ceil_div %shape, (${8*V*G}, ${8*V})
  %m, %n = cute.get_scalars %grid
  %tiles = arith.muli %m, %n : i32
  %sms = cute_nvgpu.host.sm_count() : () -> i32
  %per = arith.constant ${PER} : i32
  %most = arith.muli %sms, %per : i32
  %blocks = arith.minsi %tiles, %most : i32
  %gx = arith.index_cast %blocks : i32 to index
  %c1 = arith.constant 1 : index
  %threads = arith.constant ${64*G} : index
  %bytes = arith.constant ${64*V*V*G*BITS/8*(STAGES+OUT)} : i32
  gpu.launch_func @kernels::@transpose blocks in (%gx, %c1, %c1) threads in (%threads, %c1, %c1)
    dynamic_shared_memory_size %bytes args(%a : !A, %b : !A)
  return
}
