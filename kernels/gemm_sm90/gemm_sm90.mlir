// C = A B^T on Hopper's tensor cores: A is (M,K), B (N,K), C (M,N) by rows. A warp fetches tiles of
// A and B by TMA into STAGES buffers, two warpgroups multiply them by wgmma and store tiles of C by
// TMA. -D A MA, B MB: 0 and k where K is contiguous, 1 and mn where M or N is; T ACC TC BITS BITSC:
// types of A and B, sums, C; bits of T, TC; BM BN: a block's tile, BK: 128 bytes of it; CM CN: blocks
// of a cluster along M, N, which share tiles of B, A; PP: 0 if the warpgroups halve a tile, 1 if each
// has its own and they take turns; GROUP: tiles along M before the next along N; ST: the atom that
// brings C to its NC buffers of CW columns with swizzle SC; TRUNC: ACC to TC.
!t0 = !cute.memref<${T}, gmem, align<16>, "(?,?{div=${128/BITS}}):(?{i64 div=${128/BITS}},1)">
!t1 = !cute.memref<${T}, gmem, align<16>, "(?{div=${128/BITS}},?):(1,?{i64 div=${128/BITS}})">
!C = !cute.memref<${TC}, gmem, align<16>, "(?,?{div=${128/BITSC}}):(?{i64 div=${128/BITSC}},1)">
!mma = !cute_nvgpu.sm90.mma<64x${BN}x${256/BITS}, ab_major = (${MA}, ${MB}), elem_type = (${T}, ${T}, ${ACC}), frag_kind = ss>
!store = !cute_nvgpu.atom.${ST}
!mma16 = !cute_nvgpu.sm90.mma<64x16x${256/BITS}, ab_major = (${MA}, ${MB}), elem_type = (${T}, ${T}, ${ACC}), frag_kind = ss>
#unroll = #llvm.loop_annotation<unroll = <full = true>>
gpu.module @kernels {
  // The tile with number %t: GROUP of them along M, then the next along N.
  func.func private @place(%t: i32, %tm: i32, %tn: i32) -> (i32, i32) {
    %group = arith.constant ${GROUP} : i32
    %many = arith.muli %group, %tn : i32
    %g = arith.divui %t, %many : i32
    %r = arith.remui %t, %many : i32
    %m0 = arith.muli %g, %group : i32
    %left = arith.subi %tm, %m0 : i32
    %high = arith.minui %left, %group : i32
    %dm = arith.remui %r, %high : i32
    %n = arith.divui %r, %high : i32
    %m = arith.addi %m0, %dm : i32
    return %m, %n : i32, i32
  }
  gpu.func @gemm(%A: !t${A}, %B: !t${B}, %C: !C) kernel
      attributes {nvvm.reqntid = array<i32: 384, 1, 1>, nvvm.cluster_dim = array<i32: ${CM*CN}, 1, 1>, nvvm.minctasm = 1 : i32} {
    %tid = nvvm.read.ptx.sreg.tid.x : i32
    %bid = nvvm.read.ptx.sreg.ctaid.x : i32
    %blocks = nvvm.read.ptx.sreg.nctaid.x : i32
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c3 = arith.constant 3 : i32
    %c4 = arith.constant 4 : i32
    %c5 = arith.constant 5 : i32
    %c256 = arith.constant 256 : i32
    %c128 = arith.constant 128 : i32
    %turns = arith.constant ${PP} : i1
    %ways = arith.constant ${1+PP} : i32
    %ways_m = arith.constant ${2-PP} : i32
    %chunks = arith.constant ${BN/CW} : i32
    %buffers = arith.constant ${NC} : i32
    %pieces = arith.constant ${CW/16} : i32
    %stages = arith.constant ${STAGES} : i32
    %cCM = arith.constant ${CM} : i32
    %cCN = arith.constant ${CN} : i32
    %wid = arith.shrui %tid, %c5 : i32
    %warp = cute_nvgpu.arch.make_warp_uniform %wid
    %group = arith.divui %warp, %c4 : i32
    %t = arith.remui %tid, %c128 : i32
    // This block's place in its cluster, the cluster's tiles.
    %cluster = arith.constant ${CM*CN} : i32
    %rank = arith.remui %bid, %cluster : i32
    %rm = arith.remui %rank, %cCM : i32
    %rn = arith.divui %rank, %cCM : i32
    %inM = cute.make_coord %rm
    %inN = cute.make_coord %rn
    %alone = cute.make_coord 0
    %first = arith.divui %bid, %cluster : i32
    %step = arith.divui %blocks, %cluster : i32
    %shape = cute.shape %C
    %grid = cute.ceil_div %shape, (${BM*CM}, ${BN*CN})
    %tm, %tn = cute.get_scalars %grid
    %tiles = arith.muli %tm, %tn : i32
    // The buffers, and TMA copies of their tiles.
    %sAp = cute_nvgpu.arch.get_dyn_smem() : () -> !cute.ptr<${T}, smem, align<1024>, S<3,4,3>>
    %sBp = cute.add_offset %sAp, ${BM*BK*STAGES}
    %sA = cute.make_view %sAp, "((${A?1024/BITS:BM},${A?BM*BITS/1024:1}),${BK},${STAGES}):((${A?1:BK},${A?1024/BITS*BK:0}),${A?1024/BITS:1},${BM*BK})"
    %sB = cute.make_view %sBp, "((${B?1024/BITS:BN},${B?BN*BITS/1024:1}),${BK},${STAGES}):((${B?1:BK},${B?1024/BITS*BK:0}),${B?1024/BITS:1},${BN*BK})"
    %sCp = cute_nvgpu.arch.get_dyn_smem() : () -> !cute.ptr<${TC}, smem, align<1024>, ${SC}>
    %sC = cute.add_offset %sCp, ${(BM+BN)*BK*STAGES*BITS/BITSC}
    %base = cute_nvgpu.arch.get_dyn_smem() : () -> !cute.ptr<i64, smem, align<1024>>
    %full = cute.add_offset %base, ${((BM+BN)*BK*STAGES*BITS+(PP?2:1)*BM*CW*NC*BITSC)/64}
    %empty = cute.add_offset %full, ${STAGES}
    %lA = cute.make_composed_layout "S<3,4,3>", "0", "((${A?1024/BITS:BM},${A?BM*BITS/1024:1}),${BK}):((${A?1:BK},${A?1024/BITS*BK:0}),${A?1024/BITS:1})"
    %lB = cute.make_composed_layout "S<3,4,3>", "0", "((${B?1024/BITS:BN},${B?BN*BITS/1024:1}),${BK}):((${B?1:BK},${B?1024/BITS*BK:0}),${B?1024/BITS:1})"
    %lC = cute.make_composed_layout "${SC}", "0", "(${BM/(2-PP)},${CW}):(${CW},1)"
    %tmaA, %iA = cute_nvgpu.atom.make_non_exec_tiled_tma_load(%A, %lA) {kind = #cute_nvgpu.tiled_tma_load<sm_90>, num_multicast = ${CN} : i32}
    %tmaB, %iB = cute_nvgpu.atom.make_non_exec_tiled_tma_load(%B, %lB) {kind = #cute_nvgpu.tiled_tma_load<sm_90>, num_multicast = ${CM} : i32}
    %tmaC, %iC = cute_nvgpu.atom.make_non_exec_tiled_tma_store(%C, %lC)
    // Barriers: a buffer is full when its bytes are there, empty when all who read it said so.
    %is_first = arith.cmpi eq, %tid, %c0 : i32
    %readers = arith.constant ${(PP?1:2)*(CM+CN-1)} : i32
    scf.if %is_first {
      cute_nvgpu.prefetch_tma_desc %tmaA
      cute_nvgpu.prefetch_tma_desc %tmaB
      cute_nvgpu.prefetch_tma_desc %tmaC
      scf.for %s = %c0 to %stages step %c1 : i32 {
        %f = cute.add_offset %full, %s
        %e = cute.add_offset %empty, %s
        cute_nvgpu.arch.mbarrier_init %f, %c1
        cute_nvgpu.arch.mbarrier_init %e, %readers
      }
      cute_nvgpu.arch.mbarrier_init_fence
    }
    cute_nvgpu.arch.cluster_arrive {relaxed}
    cute_nvgpu.arch.cluster_wait
    %kshape = cute.size<[1]> %A
    %kmode = cute.ceil_div %kshape, ${BK}
    %ktiles = cute.get_scalars %kmode
    cute_nvgpu.arch.griddepcontrol_launch_dependents
    %producer = arith.cmpi eq, %group, %c0 : i32
    scf.if %producer {
      // A warp fetches the tiles of all k, as soon as buffers are empty.
      cute_nvgpu.arch.setmaxregister_decrease {registers = 24 : i32}
      %fetches = arith.cmpi eq, %warp, %c0 : i32
      scf.if %fetches {
        %one = cute_nvgpu.arch.elect_one
        %bytes = arith.constant ${(BM+BN)*BK*BITS/8} : i32
        %maskA = arith.constant ${CN==1 ? 1 : 1+(CM==2?4:2)} : i16
        %maskB = arith.constant ${CM==2?3:1} : i16
        %rm16 = arith.trunci %rm : i32 to i16
        %columns = arith.muli %rn, %cCM : i32
        %rn16 = arith.trunci %columns : i32 to i16
        %toA = arith.shli %maskA, %rm16 : i16
        %toB = arith.shli %maskB, %rn16 : i16
        %execA = cute_nvgpu.atom.make_exec_tma %tmaA
        %execB = cute_nvgpu.atom.make_exec_tma %tmaB
        %castA = cute_nvgpu.atom.set_value %execA, %toA {field = #cute_nvgpu.atom_copy_field_tmaload<mcast_mask>}
        %castB = cute_nvgpu.atom.set_value %execB, %toB {field = #cute_nvgpu.atom_copy_field_tmaload<mcast_mask>}
        // What a kernel before this one writes is there, where it lets this one start early.
        cute_nvgpu.arch.griddepcontrol_wait
        scf.for %tile = %first to %tiles step %step iter_args(%i0 = %c0, %p0 = %c1) -> (i32, i32) : i32 {
          %m, %n = func.call @place(%tile, %tm, %tn) : (i32, i32, i32) -> (i32, i32)
          %mc = arith.muli %m, %cCM : i32
          %nc = arith.muli %n, %cCN : i32
          %bm = arith.addi %mc, %rm : i32
          %bn = arith.addi %nc, %rn : i32
          %gA = cute.local_tile %iA, (${BM}, ${BK}), (%bm, _)
          %gB = cute.local_tile %iB, (${BN}, ${BK}), (%bn, _)
          %sA2 = cute.group_modes(%sA) <0, 2>
          %sB2 = cute.group_modes(%sB) <0, 2>
          %gA2 = cute.group_modes(%gA) <0, 2>
          %gB2 = cute.group_modes(%gB) <0, 2>
          %tAs, %tAg = cute_nvgpu.atom.tma_partition %tmaA, %inN, "(${CN}):(1)", %sA2, %gA2
          %tBs, %tBg = cute_nvgpu.atom.tma_partition %tmaB, %inM, "(${CM}):(1)", %sB2, %gB2
          %i2, %p2 = scf.for %k = %c0 to %ktiles step %c1 iter_args(%i = %i0, %p = %p0) -> (i32, i32) : i32 {
            %f = cute.add_offset %full, %i
            %e = cute.add_offset %empty, %i
            cute_nvgpu.arch.mbarrier_wait %e, %p
            scf.if %one {
              cute_nvgpu.arch.mbarrier_arrive_and_expect_tx %f, %bytes
            }
            %loadA = cute_nvgpu.atom.set_value %castA, %f {field = #cute_nvgpu.atom_copy_field_tmaload<tma_bar>}
            %loadB = cute_nvgpu.atom.set_value %castB, %f {field = #cute_nvgpu.atom_copy_field_tmaload<tma_bar>}
            cute.copy %loadA, %tAg[_, %k], %tAs[_, %i]
            cute.copy %loadB, %tBg[_, %k], %tBs[_, %i]
            %i1, %p1 = cute_nvgpu.arch.pipeline_advance<{stages = ${STAGES} : i32}> %i, %p
            scf.yield %i1, %p1 : i32, i32
          }
          scf.yield %i2, %p2 : i32, i32
        }
      }
    } else {
      cute_nvgpu.arch.setmaxregister_increase {registers = 240 : i32}
      %w = arith.subi %group, %c1 : i32
      // Whom to tell that a buffer is empty: the blocks that fetched some of it.
      %peers = arith.constant ${CM+CN-1} : i32
      %tells = arith.cmpi ult, %t, %peers : i32
      %in_column = arith.cmpi ult, %t, %cCM : i32
      %from = arith.muli %rn, %cCM : i32
      %peerB = arith.addi %from, %t : i32
      %behind = arith.subi %t, %cCM : i32
      %skips = arith.cmpi uge, %behind, %rn : i32
      %skip = arith.extui %skips : i1 to i32
      %other = arith.addi %behind, %skip : i32
      %times = arith.muli %other, %cCM : i32
      %peerA = arith.addi %times, %rm : i32
      %peer = arith.select %in_column, %peerB, %peerA : i32
      // This warpgroup's rows of A, its fragments and its buffer of C.
      %half = arith.select %turns, %c0, %w : i32
      %sAw = cute.local_tile %sA, (${BM/(2-PP)}, ${BK}, ${STAGES}), (%half, 0, 0)
      %atom = cute.make_atom : !mma
      %mma = cute.make_tiled_mma %atom, "(1,1,1):(0,0,0)"
      %tCsA = cute.tiled.mma.partition A (%mma, %sAw, %t)
      %tCsB = cute.tiled.mma.partition B (%mma, %sB, %t)
      %rA = cute.mma.make_fragment A (%mma, %tCsA)
      %rB = cute.mma.make_fragment B (%mma, %tCsB)
      %shapeC = cute.tiled.mma.partition_shape C (%mma, (${BM/(2-PP)}, ${BN}))
      %acc = cute.mma.make_fragment C (%mma, %shapeC)
      %acc16 = cute.composition %acc, "((2,2,2),${BM/(2-PP)/64},1,${BN/16}):((1,2,4),${BN/2},0,8)"
      %rC = cute.make_fragment_like(%acc16[_, _, _, 0]) {element = ${TC}}
      %atom16 = cute.make_atom : !mma16
      %mma16 = cute.make_tiled_mma %atom16, "(1,1,1):(0,0,0)"
      %store = cute.make_atom : !store
      %r2s = cute.make_tiled_copy_C %store, %mma16
      %sCs = cute.make_view %sC, "(${BM/(2-PP)},${CW},${NC},2):(${CW},1,${BM/(2-PP)*CW},${BM/(2-PP)*CW*NC})"
      %sCt = cute.slice %sCs, (_, _, _, %w)
      %tRrC = cute.tiled.copy.retile %r2s, %rC
      %tRsC = cute.tiled.copy.partition_D %r2s, %sCt, %t
      %sC2 = cute.group_modes(%sCt) <0, 2>
      %execC = cute_nvgpu.atom.make_exec_tma %tmaC
      %w1 = arith.addi %w, %c1 : i32
      // A warp's number, not a thread's: ptxas keeps what is the same in a warp in uniform registers.
      %in_group = arith.remui %warp, %c4 : i32
      %storer = arith.cmpi eq, %in_group, %c0 : i32
      // With PP the warpgroups multiply in turns, barrier 3 says that it is the first one's, 4 the second's.
      %turn = arith.addi %w, %c3 : i32
      %other_turn = arith.subi %c4, %w : i32
      %is_second = arith.cmpi eq, %w, %c1 : i32
      %begins = arith.andi %is_second, %turns : i1
      scf.if %begins {
        cute_nvgpu.arch.named_barrier_arrive %other_turn, %c256
      }
      // The second warpgroup starts a tile later, behind the first one's buffers.
      %late = arith.select %turns, %w, %c0 : i32
      %ahead = arith.muli %late, %step : i32
      %start = arith.addi %first, %ahead : i32
      %stride = arith.muli %step, %ways : i32
      // The other warpgroup's buffers are between this one's.
      %others = arith.select %turns, %ktiles, %c0 : i32
      %theirs = arith.muli %late, %ktiles : i32
      %i0, %p0 = cute_nvgpu.arch.pipeline_index_of<{stages = ${STAGES} : i32}> %theirs
      scf.for %tile = %start to %tiles step %stride iter_args(%i1 = %i0, %p1 = %p0) -> (i32, i32) : i32 {
        %m, %n = func.call @place(%tile, %tm, %tn) : (i32, i32, i32) -> (i32, i32)
        scf.if %turns {
          cute_nvgpu.arch.named_barrier_sync %turn, %c256
        }
        %i2, %p2, %latest = scf.for %k = %c0 to %ktiles step %c1 iter_args(%i = %i1, %p = %p1, %before = %i1) -> (i32, i32, i32) : i32 {
          %f = cute.add_offset %full, %i
          cute_nvgpu.arch.mbarrier_wait %f, %p
          cute_nvgpu.arch.wgmma_fence
          %later = arith.cmpi ne, %k, %c0 : i32
          %on = cute_nvgpu.atom.set_value %mma, %later {field = #cute_nvgpu.atom_mma_field_sm90<accum_c>}
          cute.gemm %on, %acc, %rA[_, _, _, %i], %rB[_, _, _, %i], %acc
          cute_nvgpu.arch.wgmma_commit_group
          cute_nvgpu.arch.wgmma_wait_group {groups = 1 : i32}
          // The product before this one is done, its buffer is empty.
          %frees = arith.andi %later, %tells : i1
          scf.if %frees {
            %e = cute.add_offset %empty, %before
            cute_nvgpu.arch.mbarrier_arrive %e, %peer {reads_only}
          }
          %j, %q = cute_nvgpu.arch.pipeline_advance<{stages = ${STAGES} : i32}> %i, %p
          scf.yield %j, %q, %i : i32, i32, i32
        }
        %following = arith.addi %tile, %step : i32
        %another = arith.cmpi slt, %following, %tiles : i32
        %yields = arith.andi %another, %turns : i1
        scf.if %yields {
          cute_nvgpu.arch.named_barrier_arrive %other_turn, %c256
        }
        cute_nvgpu.arch.wgmma_wait_group {groups = 0 : i32}
        scf.if %tells {
          %e = cute.add_offset %empty, %latest
          cute_nvgpu.arch.mbarrier_arrive %e, %peer {reads_only}
        }
        // NC times CW columns at a time: as TC to the buffers, then to C.
        %mc = arith.muli %m, %cCM : i32
        %nc = arith.muli %n, %cCN : i32
        %bm = arith.addi %mc, %rm : i32
        %bn = arith.addi %nc, %rn : i32
        %rows = arith.muli %bm, %ways_m : i32
        %rows2 = arith.addi %rows, %half : i32
        %tilesN = arith.muli %bn, %chunks : i32
        scf.for %g = %c0 to %chunks step %buffers : i32 {
          scf.if %storer {
            cute_nvgpu.arch.cp_async_bulk_wait_group {groups = 0 : i32, read}
          }
          cute_nvgpu.arch.named_barrier_sync %w1, %c128
          scf.for %buffer = %c0 to %buffers step %c1 : i32 {
            scf.for %j = %c0 to %pieces step %c1 : i32 {
              %h = arith.addi %g, %buffer : i32
              %hp = arith.muli %h, %pieces : i32
              %hj = arith.addi %hp, %j : i32
              %x = cute.memref.load_vec %acc16[_, _, _, %hj]
              %y = arith.${TRUNC} %x : vector<${BM/(2-PP)/8}x${ACC}> to vector<${BM/(2-PP)/8}x${TC}>
              cute.memref.store_vec %y, %rC
              cute.copy %r2s, %tRrC[_, _, 0], %tRsC[_, _, %j, %buffer]
            } {loop_annotation = #unroll}
          } {loop_annotation = #unroll}
          cute_nvgpu.arch.fence_view_async_shared
          cute_nvgpu.arch.named_barrier_sync %w1, %c128
          scf.if %storer {
            scf.for %buffer = %c0 to %buffers step %c1 : i32 {
              %col0 = arith.addi %tilesN, %g : i32
              %col = arith.addi %col0, %buffer : i32
              %gC = cute.local_tile %iC, (${BM/(2-PP)}, ${CW}), (%rows2, %col)
              %gC2 = cute.group_modes(%gC) <0, 2>
              %tCs, %tCg = cute_nvgpu.atom.tma_partition %tmaC, %alone, "1:0", %sC2, %gC2
              cute.copy %execC, %tCs[_, %buffer], %tCg
            } {loop_annotation = #unroll}
            cute_nvgpu.arch.cp_async_bulk_commit_group
          }
        } {loop_annotation = #unroll}
        %i3, %p3 = cute_nvgpu.arch.pipeline_advance<{stages = ${STAGES} : i32}> %i2, %p2, %others
        scf.yield %i3, %p3 : i32, i32
      }
      scf.if %storer {
        cute_nvgpu.arch.cp_async_bulk_wait_group {groups = 0 : i32, read}
      }
    }
    cute_nvgpu.arch.cluster_arrive {relaxed}
    cute_nvgpu.arch.cluster_wait
    gpu.return
  }
}
func.func @gemm(%A: !t${A}, %B: !t${B}, %C: !C) {
  %shape = cute.shape %C
  %grid = cute.ceil_div %shape, (${BM*CM}, ${BN*CN})
  %tm, %tn = cute.get_scalars %grid
  %tiles = arith.muli %tm, %tn : i32
  %cluster = arith.constant ${CM*CN} : i32
  %sms = cute_nvgpu.host.sm_count
  %most = arith.divui %sms, %cluster : i32
  %clusters = arith.minui %tiles, %most : i32
  %blocks = arith.muli %clusters, %cluster : i32
  %gx = arith.index_cast %blocks : i32 to index
  %c1 = arith.constant 1 : index
  %cx = arith.constant ${CM*CN} : index
  %threads = arith.constant 384 : index
  %bytes = arith.constant ${(BM+BN)*BK*STAGES*BITS/8+(PP?2:1)*BM*CW*NC*BITSC/8+16*STAGES} : i32
  gpu.launch_func @kernels::@gemm clusters in (%cx, %c1, %c1) blocks in (%gx, %c1, %c1) threads in (%threads, %c1, %c1)
    dynamic_shared_memory_size %bytes args(%A : !t${A}, %B : !t${B}, %C : !C) {cute.programmatic}
  return
}
