// D = act(alpha A B^T + beta C + bias) for large A and small B (split-K): A is (M,K), B (N,K), C and D
// (M,N) with any strides. A cluster computes CM vertically adjacent tiles of D, with S blocks for each:
// block s multiplies the k-tiles s, s + S, ... A producer warp loads tiles of A and B by TMA into STAGES
// buffers, those of B for all CM blocks; one warpgroup per 64 rows multiplies them by wgmma. Finally,
// block s reduces part s, OWN sums, of every thread: the other blocks send their sums, which it adds
// in a fixed order.
// -D A MA, B MB: 0 and k if K is contiguous, 1 and mn if M or N is; T ACC TC BITS: types of A
// and B, sums, C, D and bias, bits of T; BM BN: the tile; BK: elements of K in a buffer, a multiple
// of 128 bytes; S CM; PB: adjacent elements of B in a buffer, 128 bytes of them, or if B is 1: 16, 32 or
// 64, a divisor of BN; OWN: BN / (2 S), rounded up; V: 1, 2 or 4, a divisor of OWN; PER: blocks per
// multiprocessor; HINTA HINTB: L2 cache policies; BETA: 1 with C; BIAS: 0, 1 if it has N elements,
// 2 if M; ACT: none, relu or gelu (tanh approximation); ES: type of the epilogue, EFROM
// EEXT ETO: arith operations from ACC and TC to ES, and from ES to TC, ADD: addition of two sums.
!t0 = !cute.memref<${T}, gmem, align<16>, "(?,?):(?{i64 div=${128/BITS}},1)">
!t1 = !cute.memref<${T}, gmem, align<16>, "(?,?):(1,?{i64 div=${128/BITS}})">
!D = !cute.memref<${TC}, gmem, "(?,?):(?{i64},?{i64})">
!bias = !cute.memref<${TC}, gmem, "?:?{i64}">
!mma = !cute_nvgpu.sm90.mma<64x${BN}x${256/BITS}, ab_major = (${MA}, ${MB}), elem_type = (${T}, ${T}, ${ACC}), frag_kind = ss>
#unroll = #llvm.loop_annotation<unroll = <full = true>>
#keep = #llvm.loop_annotation<unroll = <disable = true>>
gpu.module @kernels {
  // Sum v = 4 j + 2 h + e of a thread is 8 h rows below and 8 j + e columns right of its first one.
  func.func private @place(%v: i32) -> (i32, i32) {
    %c1 = arith.constant 1 : i32
    %c2 = arith.constant 2 : i32
    %c4 = arith.constant 4 : i32
    %c8 = arith.constant 8 : i32
    %h = arith.andi %v, %c2 : i32
    %m = arith.muli %h, %c4 : i32
    %e = arith.andi %v, %c1 : i32
    %j = arith.divui %v, %c4 : i32
    %j8 = arith.muli %j, %c8 : i32
    %n = arith.addi %e, %j8 : i32
    return %m, %n : i32, i32
  }
  func.func private @none(%x: ${ES}) -> ${ES} {
    return %x : ${ES}
  }
  func.func private @relu(%x: ${ES}) -> ${ES} {
    %zero = arith.constant 0.0 : ${ES}
    %y = arith.maximumf %x, %zero : ${ES}
    return %y : ${ES}
  }
  // x / (1 + exp(-2 sqrt(2 / pi) (x + 0.044715 x^3)))
  func.func private @gelu(%x: ${ES}) -> ${ES} {
    %one = arith.constant 1.0 : ${ES}
    %cubic = arith.constant 0.044715 : ${ES}
    %scale = arith.constant -1.5957691216057308 : ${ES}
    %xx = arith.mulf %x, %x : ${ES}
    %xxx = arith.mulf %xx, %x : ${ES}
    %inner = math.fma %xxx, %cubic, %x : ${ES}
    %scaled = arith.mulf %inner, %scale : ${ES}
    %e = math.exp %scaled : ${ES}
    %below = arith.addf %one, %e : ${ES}
    %y = arith.divf %x, %below : ${ES}
    return %y : ${ES}
  }
  gpu.func @gemm_split(%A: !t${A}, %B: !t${B}, %D: !D, %C: !D, %bias: !bias, %alpha: ${ES}, %beta: ${ES}) kernel
      attributes {nvvm.reqntid = array<i32: ${128+2*BM}, 1, 1>, nvvm.cluster_dim = array<i32: ${S*CM}, 1, 1>, nvvm.minctasm = ${PER} : i32} {
    %tid = nvvm.read.ptx.sreg.tid.x : i32
    %bx = nvvm.read.ptx.sreg.ctaid.x : i32
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c2 = arith.constant 2 : i32
    %c3 = arith.constant 3 : i32
    %c4 = arith.constant 4 : i32
    %c5 = arith.constant 5 : i32
    %c8 = arith.constant 8 : i32
    %c16 = arith.constant 16 : i32
    %c32 = arith.constant 32 : i32
    %c128 = arith.constant 128 : i32
    %cBM = arith.constant ${BM} : i32
    %cBN = arith.constant ${BN} : i32
    %cS = arith.constant ${S} : i32
    %own = arith.constant ${OWN} : i32
    %sums = arith.constant ${BN/2} : i32
    %cV = arith.constant ${V} : i32
    %cS1 = arith.constant ${S-1} : i32
    %several = arith.constant ${S>1} : i1
    %stages = arith.constant ${STAGES} : i32
    %ahead = arith.constant ${STAGES-1} : i32
    %wid = arith.shrui %tid, %c5 : i32
    %warp = cute_nvgpu.arch.make_warp_uniform %wid
    %cCM = arith.constant ${CM} : i32
    %cluster = arith.constant ${S*CM} : i32
    // Clusters of the same rows are adjacent, so that L2 holds their tiles of A.
    %shape = cute.shape %D
    %grid = cute.ceil_div %shape, (${BM*CM}, ${BN})
    %tm, %tn = cute.get_scalars %grid
    %number = arith.divui %bx, %cluster : i32
    %one_column = arith.cmpi eq, %tn, %c1 : i32
    %by, %bn = scf.if %one_column -> (i32, i32) {
      scf.yield %number, %c0 : i32, i32
    } else {
      %m = arith.divui %number, %tn : i32
      %n = arith.remui %number, %tn : i32
      scf.yield %m, %n : i32, i32
    }
    %in_cluster = arith.remui %bx, %cluster : i32
    %rank = arith.divui %in_cluster, %cCM : i32
    %rm = arith.remui %in_cluster, %cCM : i32
    %first_m = arith.muli %by, %cCM : i32
    %bm = arith.addi %first_m, %rm : i32
    %inM = cute.make_coord %rm
    // Block 0 of those with the same k-tiles.
    %team = arith.muli %rank, %cCM : i32
    %shares = arith.constant ${CM>1} : i1
    %alone = arith.constant ${CM==1} : i1
    // The buffers, the partial sums that the blocks exchange, and TMA copies.
    %sAp = cute_nvgpu.arch.get_dyn_smem() : () -> !cute.ptr<${T}, smem, align<1024>, S<3,4,3>>
    %smem = cute_nvgpu.arch.get_dyn_smem() : () -> !cute.ptr<${T}, smem, align<1024>, S<${log2(PB*BITS/128)},4,3>>
    %sBp = cute.add_offset %smem, ${BM*BK*STAGES}
    %sA = cute.make_view %sAp, "((${A?1024/BITS:BM},${A?BM*BITS/1024:1}),(${A?BK:1024/BITS},${A?1:BK*BITS/1024}),${STAGES}):((${A?1:1024/BITS},${A?1024/BITS*BK:0}),(${A?1024/BITS:1},${A?0:BM*1024/BITS}),${BM*BK})"
    %sB = cute.make_view %sBp, "((${B?PB:BN},${B?BN/PB:1}),(${B?BK:PB},${B?1:BK/PB}),${STAGES}):((${B?1:PB},${B?PB*BK:0}),(${B?PB:1},${B?0:BN*PB}),${BN*BK})"
    %words = cute_nvgpu.arch.get_dyn_smem() : () -> !cute.ptr<${ACC}, smem, align<1024>>
    %parts = cute.add_offset %words, ${(BM+BN)*BK*STAGES*BITS/32}
    %sD = cute.make_view %parts, "((${V},${OWN/V}),${2*BM},${S}):((1,${V*2*BM}),${V},${OWN*2*BM})"
    %base = cute_nvgpu.arch.get_dyn_smem() : () -> !cute.ptr<i64, smem, align<1024>>
    %full = cute.add_offset %base, ${((BM+BN)*BK*STAGES*BITS/32+(S-1)*OWN*2*BM)/2}
    %empty = cute.add_offset %full, ${STAGES}
    %all = cute.add_offset %empty, ${STAGES}
    %lA = cute.make_composed_layout "S<3,4,3>", "0", "((${A?1024/BITS:BM},${A?BM*BITS/1024:1}),(${A?BK:1024/BITS},${A?1:BK*BITS/1024})):((${A?1:1024/BITS},${A?1024/BITS*BK:0}),(${A?1024/BITS:1},${A?0:BM*1024/BITS}))"
    %lB = cute.make_composed_layout "S<${log2(PB*BITS/128)},4,3>", "0", "((${B?PB:BN},${B?BN/PB:1}),(${B?BK:PB},${B?1:BK/PB})):((${B?1:PB},${B?PB*BK:0}),(${B?PB:1},${B?0:BN*PB}))"
    %tmaA, %iA = cute_nvgpu.atom.make_non_exec_tiled_tma_load(%A, %lA)
    %tmaB, %iB = cute_nvgpu.atom.make_non_exec_tiled_tma_load(%B, %lB) {kind = #cute_nvgpu.tiled_tma_load<sm_90>, num_multicast = ${CM} : i32}
    // The producer warp initializes the mbarriers itself, so its first copies wait for no other warp. A
    // buffer is full when its bytes have arrived, empty when the warpgroups have read it; the sums of this
    // block's part are complete when their bytes have arrived.
    %fetches = arith.cmpi eq, %warp, %c0 : i32
    scf.if %fetches {
      %first = arith.cmpi eq, %tid, %c0 : i32
      scf.if %first {
        cute_nvgpu.prefetch_tma_desc %tmaA
        cute_nvgpu.prefetch_tma_desc %tmaB
        scf.for %i = %c0 to %stages step %c1 : i32 {
          %f = cute.add_offset %full, %i
          %e = cute.add_offset %empty, %i
          cute_nvgpu.arch.mbarrier_init %f, %c1
          cute_nvgpu.arch.mbarrier_init %e, ${BM/64*CM}
        } {loop_annotation = #unroll}
        scf.if %several {
          cute_nvgpu.arch.mbarrier_init %all, %c1
        }
        cute_nvgpu.arch.mbarrier_init_fence
        scf.if %several {
          %before = arith.muli %rank, %own : i32
          %left0 = arith.subi %sums, %before : i32
          %left1 = arith.minsi %left0, %own : i32
          %left = arith.maxsi %left1, %c0 : i32
          %each = arith.constant ${(S-1)*8*BM} : i32
          %come = arith.muli %left, %each : i32
          cute_nvgpu.arch.mbarrier_arrive_and_expect_tx %all, %come
        }
      }
      cute_nvgpu.arch.warp_sync
    }
    cute_nvgpu.arch.cluster_arrive {relaxed}
    cute_nvgpu.arch.griddepcontrol_launch_dependents
    // Block s takes the k-tiles s, s + S, ..., at least one: past K it is zero-filled.
    %kshape = cute.size<[1]> %A
    %kmode = cute.ceil_div %kshape, ${BK*S}
    %rounds = cute.get_scalars %kmode
    %group = arith.divui %warp, %c4 : i32
    %producer = arith.cmpi eq, %group, %c0 : i32
    scf.if %producer {
      scf.if %fetches {
        %one = cute_nvgpu.arch.elect_one
        %bytes = arith.constant ${(BM+BN)*BK*BITS/8} : i32
        %policyA = arith.constant ${HINTA} : i64
        %policyB = arith.constant ${HINTB} : i64
        %execA = cute_nvgpu.atom.make_exec_tma %tmaA
        %execB = cute_nvgpu.atom.make_exec_tma %tmaB
        %hintA = cute_nvgpu.atom.set_value %execA, %policyA {field = #cute_nvgpu.atom_copy_field_tmaload<cache_policy>}
        %hintB = cute_nvgpu.atom.set_value %execB, %policyB {field = #cute_nvgpu.atom_copy_field_tmaload<cache_policy>}
        %blocks = arith.constant ${CM==1?1:CM==2?3:CM==4?15:255} : i16
        %team16 = arith.trunci %team : i32 to i16
        %mask = arith.shli %blocks, %team16 : i16
        %castB = cute_nvgpu.atom.set_value %hintB, %mask {field = #cute_nvgpu.atom_copy_field_tmaload<mcast_mask>}
        %gA = cute.local_tile %iA, (${BM}, ${BK}), (%bm, _)
        %gB = cute.local_tile %iB, (${BN}, ${BK}), (%bn, _)
        %sA2 = cute.group_modes(%sA) <0, 2>
        %sB2 = cute.group_modes(%sB) <0, 2>
        %gA2 = cute.group_modes(%gA) <0, 2>
        %gB2 = cute.group_modes(%gB) <0, 2>
        %one_block = cute.make_coord 0
        %tAs, %tAg = cute_nvgpu.atom.tma_partition %tmaA, %one_block, "1:0", %sA2, %gA2
        %tBs, %tBg = cute_nvgpu.atom.tma_partition %tmaB, %inM, "(${CM}):(1)", %sB2, %gB2
        // Wait for writes of the previous kernel, which may let this one start early.
        cute_nvgpu.arch.griddepcontrol_wait
        // All buffers are empty at first; buffers of B filled by other blocks need their mbarriers initialized.
        %begin = arith.minsi %rounds, %stages : i32
        scf.for %i = %c0 to %begin step %c1 : i32 {
          %before = arith.muli %i, %cS : i32
          %k = arith.addi %before, %rank : i32
          %f = cute.add_offset %full, %i
          scf.if %one {
            cute_nvgpu.arch.mbarrier_arrive_and_expect_tx %f, %bytes
          }
          %loadA = cute_nvgpu.atom.set_value %hintA, %f {field = #cute_nvgpu.atom_copy_field_tmaload<tma_bar>}
          cute.copy %loadA, %tAg[_, %k], %tAs[_, %i]
          scf.if %alone {
            %loadB = cute_nvgpu.atom.set_value %hintB, %f {field = #cute_nvgpu.atom_copy_field_tmaload<tma_bar>}
            cute.copy %loadB, %tBg[_, %k], %tBs[_, %i]
          }
        } {loop_annotation = #keep}
        cute_nvgpu.arch.cluster_wait
        scf.if %shares {
          scf.for %i = %c0 to %begin step %c1 : i32 {
            %before = arith.muli %i, %cS : i32
            %k = arith.addi %before, %rank : i32
            %f = cute.add_offset %full, %i
            %loadB = cute_nvgpu.atom.set_value %castB, %f {field = #cute_nvgpu.atom_copy_field_tmaload<tma_bar>}
            cute.copy %loadB, %tBg[_, %k], %tBs[_, %i]
          } {loop_annotation = #keep}
        }
        scf.for %r = %stages to %rounds step %c1 iter_args(%i = %c0, %p = %c0) -> (i32, i32) : i32 {
          %before = arith.muli %r, %cS : i32
          %k = arith.addi %before, %rank : i32
          %f = cute.add_offset %full, %i
          %e = cute.add_offset %empty, %i
          cute_nvgpu.arch.mbarrier_wait %e, %p
          scf.if %one {
            cute_nvgpu.arch.mbarrier_arrive_and_expect_tx %f, %bytes
          }
          %loadA = cute_nvgpu.atom.set_value %hintA, %f {field = #cute_nvgpu.atom_copy_field_tmaload<tma_bar>}
          cute.copy %loadA, %tAg[_, %k], %tAs[_, %i]
          scf.if %shares {
            %loadB = cute_nvgpu.atom.set_value %castB, %f {field = #cute_nvgpu.atom_copy_field_tmaload<tma_bar>}
            cute.copy %loadB, %tBg[_, %k], %tBs[_, %i]
          } else {
            %loadB = cute_nvgpu.atom.set_value %hintB, %f {field = #cute_nvgpu.atom_copy_field_tmaload<tma_bar>}
            cute.copy %loadB, %tBg[_, %k], %tBs[_, %i]
          }
          %i1, %p1 = cute_nvgpu.arch.pipeline_advance<{stages = ${STAGES} : i32}> (%i, %p)
          scf.yield %i1, %p1 : i32, i32
        } {loop_annotation = #keep}
      } else {
        cute_nvgpu.arch.cluster_wait
      }
    } else {
      cute_nvgpu.arch.cluster_wait
      %w = arith.subi %group, %c1 : i32
      %ct = arith.subi %tid, %c128 : i32
      %t = arith.remui %tid, %c128 : i32
      // Blocks to notify that a buffer is empty: those that loaded parts of it.
      %tells = arith.cmpi ult, %t, %cCM : i32
      %peer = arith.addi %team, %t : i32
      %sAw = cute.local_tile %sA, (64, ${BK}, ${STAGES}), (%w, 0, 0)
      %atom = cute.make_atom : !mma
      %mma = cute.make_tiled_mma %atom, "(1,1,1):(0,0,0)"
      %tCsA = cute.tiled.mma.partition A (%mma, %sAw, %t)
      %tCsB = cute.tiled.mma.partition B (%mma, %sB, %t)
      %rA = cute.mma.make_fragment A (%mma, %tCsA)
      %rB = cute.mma.make_fragment B (%mma, %tCsB)
      %shapeC = cute.tiled.mma.partition_shape C (%mma, (64, ${BN}))
      %acc = cute.mma.make_fragment C (%mma, %shapeC)
      scf.for %r = %c0 to %rounds step %c1 iter_args(%i = %c0, %p = %c0, %last = %c0) -> (i32, i32, i32) : i32 {
        %f = cute.add_offset %full, %i
        cute_nvgpu.arch.mbarrier_wait %f, %p
        cute_nvgpu.arch.wgmma_fence
        %later = arith.cmpi ne, %r, %c0 : i32
        %on = cute_nvgpu.atom.set_value %mma, %later {field = #cute_nvgpu.atom_mma_field_sm90<accum_c>}
        cute.gemm %on, %acc, %rA[_, _, _, %i], %rB[_, _, _, %i], %acc
        cute_nvgpu.arch.wgmma_commit_group
        cute_nvgpu.arch.wgmma_wait_group {groups = 1 : i32}
        // The previous product is complete, so its buffer is empty; the last buffers are not refilled.
        %next = arith.addi %r, %ahead : i32
        %is_filled = arith.cmpi slt, %next, %rounds : i32
        %is_free = arith.andi %later, %is_filled : i1
        %frees = arith.andi %is_free, %tells : i1
        scf.if %frees {
          %e = cute.add_offset %empty, %last
          scf.if %shares {
            cute_nvgpu.arch.mbarrier_arrive %e, %peer {reads_only}
          } else {
            cute_nvgpu.arch.mbarrier_arrive %e
          }
        }
        %i1, %p1 = cute_nvgpu.arch.pipeline_advance<{stages = ${STAGES} : i32}> (%i, %p)
        scf.yield %i1, %p1, %i : i32, i32, i32
      } {loop_annotation = #keep}
      cute_nvgpu.arch.wgmma_wait_group {groups = 0 : i32}
      %lane = arith.remui %ct, %c32 : i32
      %up = arith.divui %ct, %c32 : i32
      %row0 = arith.muli %up, %c16 : i32
      %row1 = arith.shrui %lane, %c2 : i32
      %row2 = arith.addi %row0, %row1 : i32
      %pair = arith.andi %lane, %c3 : i32
      %column2 = arith.muli %pair, %c2 : i32
      %m0 = arith.muli %bm, %cBM : i32
      %n0 = arith.muli %bn, %cBN : i32
      %row = arith.addi %row2, %m0 : i32
      %column = arith.addi %column2, %n0 : i32
      // Block s sends its part of the sums of block s + d mod S to slot d - 1 there.
      %vectors = cute.composition %acc, "(${V},${BN/2/V}):(1,${V})"
      %groups = arith.constant ${BN/2/V} : i32
      scf.for %g = %c0 to %groups step %c1 : i32 {
        %v = arith.muli %g, %cV : i32
        %to = arith.divui %v, %own : i32
        %at0 = arith.remui %v, %own : i32
        %at = arith.divui %at0, %cV : i32
        %is_other = arith.cmpi ne, %to, %rank : i32
        %sends = arith.andi %is_other, %several : i1
        scf.if %sends {
          %x = cute.memref.load_vec %vectors[_, %g]
          %ahead0 = arith.subi %rank, %to : i32
          %ahead1 = arith.addi %ahead0, %cS1 : i32
          %d = arith.remui %ahead1, %cS : i32
          %part = cute.slice %sD, ((0, %at), %ct, %d)
          %place = cute.get_iter %part
          %row_of = arith.muli %to, %cCM : i32
          %block = arith.addi %row_of, %rm : i32
          cute_nvgpu.arch.st_async %x, %place, %all, %block
        }
      } {loop_annotation = #unroll}
      // Load epilogue operands of this block's sums while the others' sums arrive; coordinates are clamped to D.
      %rows, %columns = cute.get_scalars %shape
      %last_m = arith.subi %rows, %c1 : i32
      %last_n = arith.subi %columns, %c1 : i32
      %with_c = arith.constant ${BETA} : i1
      %with_bias = arith.constant ${BIAS!=0} : i1
      %with_rest = arith.ori %with_c, %with_bias : i1
      %along_m = arith.constant ${BIAS==2} : i1
      %nothing = arith.constant 0.0 : ${ES}
      %line = cute.static : !cute.layout<"(${V},${OWN/V}):(1,${V})">
      %rest = cute.memref.alloca %line : ${ES}
      %total = cute.memref.alloca %line : ${ACC}
      %done = cute.memref.alloca %line : ${TC}
      // The first sum of the group of four in which the block's own sums start, and their offset in it.
      %from = arith.muli %rank, %own : i32
      %j0 = arith.divui %from, %c4 : i32
      %odd = arith.remui %from, %c4 : i32
      %column1 = arith.muli %j0, %c8 : i32
      %column_own = arith.addi %column, %column1 : i32
      scf.for %i = %c0 to %own step %c1 : i32 {
        %v = arith.addi %odd, %i : i32
        %dm, %dn = func.call @place(%v) : (i32) -> (i32, i32)
        %m = arith.addi %row, %dm : i32
        %n = arith.addi %column_own, %dn : i32
        %m_in = arith.minsi %m, %last_m : i32
        %n_in = arith.minsi %n, %last_n : i32
        %y0 = scf.if %with_c -> (${ES}) {
          %c = cute.load %C[%m_in, %n_in]
          %wide = arith.${EEXT} %c : ${TC} to ${ES}
          %y = arith.mulf %wide, %beta : ${ES}
          scf.yield %y : ${ES}
        } else {
          scf.yield %nothing : ${ES}
        }
        %y1 = scf.if %with_bias -> (${ES}) {
          %at = arith.select %along_m, %m_in, %n_in : i32
          %b = cute.load %bias[%at]
          %wide = arith.${EEXT} %b : ${TC} to ${ES}
          %y = arith.addf %y0, %wide : ${ES}
          scf.yield %y : ${ES}
        } else {
          scf.yield %y0 : ${ES}
        }
        cute.store %y1, %rest[%i]
      } {loop_annotation = #unroll}
      scf.if %several {
        cute_nvgpu.arch.mbarrier_wait<cluster> %all, %c0
      }
      // The last parts may be shorter than OWN.
      %whole = arith.constant ${OWN*S==BN/2} : i1
      %owned = arith.constant ${OWN/V} : i32
      %highest = arith.constant ${BN/2/V-1} : i32
      scf.for %g = %c0 to %owned step %c1 : i32 {
        %x0 = cute.memref.load_vec %vectors[_, %g]
        %mine = scf.for %s = %c1 to %cS step %c1 iter_args(%x = %x0) -> (vector<${V}x${ACC}>) : i32 {
          %skip = arith.muli %s, %owned : i32
          %index = arith.addi %skip, %g : i32
          %bounded = arith.minsi %index, %highest : i32
          %other = cute.memref.load_vec %vectors[_, %bounded]
          %is_mine = arith.cmpi eq, %rank, %s : i32
          %y = arith.select %is_mine, %other, %x : vector<${V}x${ACC}>
          scf.yield %y : vector<${V}x${ACC}>
        } {loop_annotation = #unroll}
        %gv = arith.muli %g, %cV : i32
        %v = arith.addi %from, %gv : i32
        %is_sent = arith.cmpi slt, %v, %sums : i32
        %adds = arith.ori %is_sent, %whole : i1
        %sum = scf.if %adds -> (vector<${V}x${ACC}>) {
          %y = scf.for %d = %c0 to %cS1 step %c1 iter_args(%x = %mine) -> (vector<${V}x${ACC}>) : i32 {
            %came = cute.memref.load_vec %sD[(_, %g), %ct, %d]
            %y = arith.${ADD} %x, %came : vector<${V}x${ACC}>
            scf.yield %y : vector<${V}x${ACC}>
          } {loop_annotation = #unroll}
          scf.yield %y : vector<${V}x${ACC}>
        } else {
          scf.yield %mine : vector<${V}x${ACC}>
        }
        cute.memref.store_vec %sum, %total[_, %g]
      } {loop_annotation = #unroll}
      scf.for %i = %c0 to %own step %c1 : i32 {
        %sum = cute.load %total[%i]
        %more = cute.load %rest[%i]
        %wide = arith.${EFROM} %sum : ${ACC} to ${ES}
        %scaled = arith.mulf %wide, %alpha : ${ES}
        %x = scf.if %with_rest -> (${ES}) {
          %z = arith.addf %scaled, %more : ${ES}
          scf.yield %z : ${ES}
        } else {
          scf.yield %scaled : ${ES}
        }
        %y = func.call @${ACT}(%x) : (${ES}) -> ${ES}
        %d = arith.${ETO} %y : ${ES} to ${TC}
        cute.store %d, %done[%i]
      } {loop_annotation = #unroll}
      %layout_D = cute.get_layout %D
      %first_D = cute.get_iter %D
      %offset = cute.crd2idx (%row, %column_own), %layout_D
      %at_D = cute.add_offset %first_D, %offset
      %D_own = cute.make_view %at_D, %layout_D
      // Few tiles cross the border of D.
      %end_m = arith.addi %m0, %cBM : i32
      %end_n = arith.addi %n0, %cBN : i32
      %inside_m = arith.cmpi sle, %end_m, %rows : i32
      %inside_n = arith.cmpi sle, %end_n, %columns : i32
      %inside_mn = arith.andi %inside_m, %inside_n : i1
      %inside = arith.andi %inside_mn, %whole : i1
      scf.if %inside {
        scf.for %i = %c0 to %own step %c1 : i32 {
          %v = arith.addi %odd, %i : i32
          %dm, %dn = func.call @place(%v) : (i32) -> (i32, i32)
          %d = cute.load %done[%i]
          cute.store %d, %D_own[%dm, %dn]
        } {loop_annotation = #unroll}
      } else {
        scf.for %i = %c0 to %own step %c1 : i32 {
          %v = arith.addi %odd, %i : i32
          %dm, %dn = func.call @place(%v) : (i32) -> (i32, i32)
          %m = arith.addi %row, %dm : i32
          %n = arith.addi %column_own, %dn : i32
          %in_m = arith.cmpi slt, %m, %rows : i32
          %in_n = arith.cmpi slt, %n, %columns : i32
          %v_own = arith.addi %from, %i : i32
          %in_sums = arith.cmpi slt, %v_own, %sums : i32
          %in_v = arith.ori %in_sums, %whole : i1
          %in_mn = arith.andi %in_m, %in_n : i1
          %is_there = arith.andi %in_mn, %in_v : i1
          %d = cute.load %done[%i]
          scf.if %is_there {
            cute.store %d, %D_own[%dm, %dn]
          }
        } {loop_annotation = #unroll}
      }
    }
    gpu.return
  }
}
func.func @gemm_split(%A: !t${A}, %B: !t${B}, %D: !D, %C: !D, %bias: !bias, %alpha: ${ES}, %beta: ${ES}) {
  %shape = cute.shape %D
  %grid = cute.ceil_div %shape, (${BM*CM}, ${BN})
  %tm, %tn = cute.get_scalars %grid
  %cluster = arith.constant ${S*CM} : i32
  %tiles = arith.muli %tm, %tn : i32
  %gx = arith.muli %tiles, %cluster : i32
  %ix = arith.index_cast %gx : i32 to index
  %c1 = arith.constant 1 : index
  %cx = arith.constant ${S*CM} : index
  %threads = arith.constant ${128+2*BM} : index
  %bytes = arith.constant ${(BM+BN)*BK*STAGES*BITS/8+(S-1)*OWN*8*BM+16*STAGES+8} : i32
  gpu.launch_func @kernels::@gemm_split clusters in (%cx, %c1, %c1) blocks in (%ix, %c1, %c1) threads in (%threads, %c1, %c1)
    dynamic_shared_memory_size %bytes args(%A : !t${A}, %B : !t${B}, %D : !D, %C : !D, %bias : !bias, %alpha : ${ES}, %beta : ${ES}) {cute.programmatic}
  return
}
// In an editor: -D T=bf16 -D TC=bf16 -D ACC=f32 -D BITS=16 -D ES=f32 -D EFROM=bitcast -D EEXT=extf -D ETO=truncf
// -D ADD=addf -D A=0 -D MA=k -D B=0 -D MB=k -D BM=64 -D BN=16 -D BK=64 -D PB=64 -D OWN=2 -D V=2 -D STAGES=7 -D S=4
// -D CM=1 -D PER=3 -D HINTA=0x1000000000000000 -D HINTB=0x1000000000000000 -D BETA=0 -D BIAS=0 -D ACT=none
