// O = softmax(scale Q K^T) V, scale > 0, for each head of a batch on Hopper's tensor cores. Q, O are (B,SQ,H,D), K, V
// (B,SK,HK,D); H / HK heads of Q share one head of K, V. @attention_packed: B = 1, and sequences of any lengths are
// concatenated; cuQ and cuK hold the cumulative lengths, one element more than there are sequences.
// A block takes 64 rows of Q per warpgroup (W of them) and makes one pass over the keys, BN at a time, starting with the
// last tile, which may need a mask. A warp of an extra warpgroup loads the tiles by TMA. The other warpgroups alternate: one
// multiplies while another computes its softmax; with two BUFFERS of P, softmax also overlaps the warpgroup's own product with V.
// -D T: f16, bf16; D: 64, 128, 256; W: 2, 3; BN; BUFFERS: 1, 2; STAGES: buffered tiles of K and of V; MANY, FEW: registers
// per thread of consumer and producer warpgroups; CAUSAL: 1 if row i attends to keys 0 to i only, else 0.
!X = !cute.memref<${T}, gmem, align<16>, "(?,?,?,${D}):(?{i64 div=8},?{i64 div=8},?{i64 div=8},1)">
!begins = !cute.memref<i32, gmem, "(?):(1)">
!mmaS = !cute_nvgpu.sm90.mma<64x${BN}x16, ab_major = (k, k), elem_type = (${T}, ${T}, f32), frag_kind = ss>
!mmaO = !cute_nvgpu.sm90.mma<64x${D}x16, ab_major = (k, mn), elem_type = (${T}, ${T}, f32), frag_kind = rs>
!rowS = vector<${BN/4}xf32>
!rowO = vector<${D/4}xf32>
#unroll = #llvm.loop_annotation<unroll = <full = true>>
gpu.module @kernels {
  gpu.func @attention(%Q: !X, %K: !X, %V: !X, %O: !X, %cuQ: !begins, %cuK: !begins, %scale: f32) kernel
      attributes {nvvm.reqntid = array<i32: ${128*(W+1)}, 1, 1>} {
    %t = nvvm.read.ptx.sreg.tid.x : i32
    %x = nvvm.read.ptx.sreg.ctaid.x : i32
    %h = nvvm.read.ptx.sreg.ctaid.y : i32
    %z = nvvm.read.ptx.sreg.ctaid.z : i32
    %blocks = nvvm.read.ptx.sreg.nctaid.x : i32
    %heads = nvvm.read.ptx.sreg.nctaid.y : i32
    %true = arith.constant true
    %false = arith.constant false
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c2 = arith.constant 2 : i32
    %c8 = arith.constant 8 : i32
    %c32 = arith.constant 32 : i32
    %c128 = arith.constant 128 : i32
    %c256 = arith.constant 256 : i32
    %cW = arith.constant ${W} : i32
    %cBM = arith.constant ${64*W} : i32
    %below = arith.constant ${64*W-1} : i32
    %cBN = arith.constant ${BN} : i32
    %kD = arith.constant ${D/16} : i32
    %kBN = arith.constant ${BN/16} : i32
    %cols = arith.constant ${BN/4} : i32
    %buffers = arith.constant ${BUFFERS} : i32
    %last_buffer = arith.constant ${BUFFERS-1} : i32
    %frees = arith.constant ${1+2*STAGES} : i32
    %barriers = arith.constant ${1+4*STAGES} : i32
    %bytesQ = arith.constant ${128*W*D} : i32
    %bytesK = arith.constant ${2*BN*D} : i32
    %zero = arith.constant 0.0 : f32
    %limit = arith.constant 16384.0 : f32  // f16 ends at 65504
    %high = arith.constant 1.0e30 : f32
    %minus_inf = arith.constant 0xFF800000 : f32
    %log2e = arith.constant 1.4426950408889634 : f32
    // Rows, heads and sequence of this block; blocks with the most keys start first.
    %behind = arith.addi %x, %c1 : i32
    %m = arith.subi %blocks, %behind : i32
    %row0 = arith.muli %m, %cBM : i32
    %shapeQ = cute.shape %Q
    %shapeK = cute.shape %K
    %batches, %sq0, %headsQ, %d0 = cute.get_scalars %shapeQ
    %batchesK, %sk0, %headsK, %d1 = cute.get_scalars %shapeK
    %share = arith.divui %heads, %headsK : i32
    %hk = arith.divui %h, %share : i32
    %sizes = cute.size %cuQ
    %boundaries = cute.get_scalars %sizes
    %packed = arith.cmpi ne, %boundaries, %c0 : i32
    %b, %beginQ, %sq, %beginK, %sk = scf.if %packed -> (i32, i32, i32, i32, i32) {
      %z1 = arith.addi %z, %c1 : i32
      %fromQ = cute.load %cuQ[%z]
      %toQ = cute.load %cuQ[%z1]
      %fromK = cute.load %cuK[%z]
      %toK = cute.load %cuK[%z1]
      %lengthQ = arith.subi %toQ, %fromQ : i32
      %lengthK = arith.subi %toK, %fromK : i32
      scf.yield %c0, %fromQ, %lengthQ, %fromK, %lengthK : i32, i32, i32, i32, i32
    } else {
      scf.yield %z, %c0, %sq0, %c0, %sk0 : i32, i32, i32, i32, i32
    }
    // Row i attends to keys before i + ahead; whole tiles before that need no mask. Without keys there is
    // still one tile, fully masked.
    %ahead = arith.constant ${CAUSAL ? 1 : 1073741824} : i32
    %seen = arith.addi %row0, %ahead : i32
    %all = arith.minui %seen, %sk : i32
    %unmasked = arith.divui %all, %cBN : i32
    %last = arith.addi %seen, %below : i32
    %some = arith.minui %last, %sk : i32
    %tiles0 = arith.ceildivui %some, %cBN : i32
    %tiles = arith.maxui %tiles0, %c1 : i32
    %c = arith.mulf %scale, %log2e : f32
    // Shared memory: the rows of Q, reused for O, and STAGES tiles of K and V each, in panels of 64 columns.
    %sQp = cute_nvgpu.arch.get_dyn_smem() : () -> !cute.ptr<${T}, smem, align<1024>, S<3,4,3>>
    %sKp = cute.add_offset %sQp, ${64*W*D}
    %sVp = cute.add_offset %sQp, ${64*W*D+STAGES*BN*D}
    %sQ = cute.make_view %sQp, "(${64*W},(64,${D/64})):(64,(1,${4096*W}))"
    %sK = cute.make_view %sKp, "(${BN},(64,${D/64}),${STAGES}):(64,(1,${64*BN}),${BN*D})"
    %sV = cute.make_view %sVp, "(${BN},(64,${D/64}),${STAGES}):(64,(1,${64*BN}),${BN*D})"
    %sVt = cute.make_view %sVp, "((64,${D/64}),${BN},${STAGES}):((1,${64*BN}),64,${BN*D})"
    // A sequence may have fewer rows than the longest.
    %has_rows = arith.cmpi slt, %row0, %sq : i32
    scf.if %has_rows {
      // mbarriers: Q has arrived; a tile of K, of V has arrived; all warpgroups are done with it.
      %bars = gpu.alloc_shared_memory(${1+4*STAGES}, i64)
      %cameQ = cute.get_iter %bars
      %cameK = cute.add_offset %cameQ, 1
      %cameV = cute.add_offset %cameQ, ${1+STAGES}
      %freeK = cute.add_offset %cameQ, ${1+2*STAGES}
      %freeV = cute.add_offset %cameQ, ${1+3*STAGES}
      %first = arith.cmpi eq, %t, %c0 : i32
      scf.if %first {
        scf.for %i = %c0 to %barriers step %c1 : i32 {
          %bar = cute.add_offset %cameQ, %i
          %is_free = arith.cmpi uge, %i, %frees : i32
          %arrivals = arith.select %is_free, %cW, %c1 : i32
          cute_nvgpu.arch.mbarrier_init %bar, %arrivals
        } {loop_annotation = #unroll}
        cute_nvgpu.arch.mbarrier_init_fence()
      }
      gpu.barrier
      %lane = arith.remui %t, %c128 : i32
      %group0 = arith.divui %t, %c128 : i32
      %group = cute_nvgpu.arch.make_warp_uniform %group0
      %brings = arith.cmpi eq, %group, %cW : i32
      scf.if %brings {
        cute_nvgpu.arch.setmaxregister_decrease<${FEW}> ()
        %active = arith.cmpi ult, %lane, %c32 : i32
        scf.if %active {
          // TMA tensors, offset to this block's sequence; tiles of its heads.
          %boxQ = cute.static "S<3,4,3> o 0 o (${64*W},(64,${D/64})):(64,(1,${4096*W}))"
          %boxK = cute.static "S<3,4,3> o 0 o (${BN},(64,${D/64})):(64,(1,${64*BN}))"
          %modesQ = cute.static "(${64*W},${D}):(1@1,1@3)"
          %modesK = cute.static "(${BN},${D}):(1@1,1@3)"
          %loadQ, %cQ = cute_nvgpu.atom.make_non_exec_tiled_tma_load %Q, %boxQ, %modesQ
          %loadK, %cK = cute_nvgpu.atom.make_non_exec_tiled_tma_load %K, %boxK, %modesK
          %loadV, %cV = cute_nvgpu.atom.make_non_exec_tiled_tma_load %V, %boxK, %modesK
          %lQ = cute.get_layout %cQ
          %lK = cute.get_layout %cK
          %iQ = cute.get_iter %cQ
          %iK = cute.get_iter %cK
          %skipQ = cute.crd2idx (0, %beginQ, 0, 0), %lQ
          %skipK = cute.crd2idx (0, %beginK, 0, 0), %lK
          %fromQ = cute.add_offset %iQ, %skipQ
          %fromK = cute.add_offset %iK, %skipK
          %xQ = cute.make_view %fromQ, %lQ
          %xK = cute.make_view %fromK, %lK
          %gQ = cute.local_tile %xQ, (1, ${64*W}, 1, ${D}), (%b, %m, %h, 0)
          %gK = cute.local_tile %xK, (1, ${BN}, 1, ${D}), (%b, _, %hk, 0)
          %onegQ = cute.group_modes<0, 4> %gQ
          %onegK = cute.group_modes<0, 4> %gK
          %onesQ = cute.group_modes<0, 2> %sQ
          %onesK = cute.group_modes<0, 2> %sK
          %onesV = cute.group_modes<0, 2> %sV
          %alone = cute.static : !cute.coord<"0">
          %tsQ, %tgQ = cute_nvgpu.atom.tma_partition(%loadQ, %alone, "1:0", %onesQ, %onegQ)
          %tsK, %tgK = cute_nvgpu.atom.tma_partition(%loadK, %alone, "1:0", %onesK, %onegK)
          %tsV, %tgV = cute_nvgpu.atom.tma_partition(%loadV, %alone, "1:0", %onesV, %onegK)
          %bringQ0 = cute_nvgpu.atom.make_exec_tma %loadQ
          %bringK0 = cute_nvgpu.atom.make_exec_tma %loadK
          %bringV0 = cute_nvgpu.atom.make_exec_tma %loadV
          %one = cute_nvgpu.arch.elect_one()
          scf.if %one {
            cute_nvgpu.arch.mbarrier_arrive_and_expect_tx %cameQ, %bytesQ
          }
          %bringQ = cute_nvgpu.atom.set_value(%bringQ0, %cameQ) {field = tma_bar}
          cute.copy %bringQ, %tgQ, %tsQ
          scf.for %up = %c0 to %tiles step %c1 iter_args(%k = %c0, %phase = %c1) -> (i32, i32) : i32 {
            %n1 = arith.subi %tiles, %up : i32
            %n = arith.subi %n1, %c1 : i32
            %cameKk = cute.add_offset %cameK, %k
            %cameVk = cute.add_offset %cameV, %k
            %freeKk = cute.add_offset %freeK, %k
            %freeVk = cute.add_offset %freeV, %k
            %bringK = cute_nvgpu.atom.set_value(%bringK0, %cameKk) {field = tma_bar}
            %bringV = cute_nvgpu.atom.set_value(%bringV0, %cameVk) {field = tma_bar}
            cute_nvgpu.arch.mbarrier_wait %freeKk, %phase
            scf.if %one {
              cute_nvgpu.arch.mbarrier_arrive_and_expect_tx %cameKk, %bytesK
            }
            cute.copy %bringK, %tgK[_, %n], %tsK[_, %k]
            cute_nvgpu.arch.mbarrier_wait %freeVk, %phase
            scf.if %one {
              cute_nvgpu.arch.mbarrier_arrive_and_expect_tx %cameVk, %bytesK
            }
            cute.copy %bringV, %tgV[_, %n], %tsV[_, %k]
            %k1, %phase1 = cute_nvgpu.arch.pipeline_advance<${STAGES}> (%k, %phase)
            scf.yield %k1, %phase1 : i32, i32
          }
        }
      } else {
        cute_nvgpu.arch.setmaxregister_increase<${MANY}> ()
        // This warpgroup's rows of Q, at a warpgroup-uniform address, and fragments of S = Q K^T and O = P V; S, P and R
        // are a thread's (rows, columns), A is P as operand A.
        %sQw = cute.local_tile %sQ, (64, ${D}), (%group, 0)
        %speaks = arith.cmpi eq, %lane, %c0 : i32
        %atomS = cute.make_atom : !mmaS
        %atomO = cute.make_atom : !mmaO
        %mmaS = cute.make_tiled_mma %atomS, "(1,1,1):(0,0,0)"
        %mmaO = cute.make_tiled_mma %atomO, "(1,1,1):(0,0,0)"
        %tQ = cute.tiled.mma.partition A (%mmaS, %sQw, %lane)
        %tK = cute.tiled.mma.partition B (%mmaS, %sK, %lane)
        %tV = cute.tiled.mma.partition B (%mmaO, %sVt, %lane)
        %fQ = cute.mma.make_fragment A (%mmaS, %tQ)
        %fK = cute.mma.make_fragment B (%mmaS, %tK)
        %fV = cute.mma.make_fragment B (%mmaO, %tV)
        %shapeS = cute.tiled.mma.partition_shape C (%mmaS, (64, ${BN}))
        %shapeO = cute.tiled.mma.partition_shape C (%mmaO, (64, ${D}))
        %rS = cute.mma.make_fragment C (%mmaS, %shapeS)
        %rO = cute.mma.make_fragment C (%mmaO, %shapeO)
        %layoutP = cute.static "((2,2,${BN/8}),1,1,${BUFFERS}):((1,2,4),0,0,${BN/2})"
        %rP = cute.memref.alloca %layoutP : ${T}
        %S = cute.composition %rS, "(2,(2,2),${BN/16}):(2,(1,4),8)"
        %P = cute.composition %rP, "(2,(2,2),${BN/16},${BUFFERS}):(2,(1,4),8,${BN/2})"
        %R = cute.composition %rO, "(2,(2,${D/8})):(2,(1,4))"
        %A = cute.composition %rP, "((2,2,2),1,${BN/16},${BUFFERS}):((1,2,4),0,8,${BN/2})"
        %shifts = cute.make_fragment_like(%S[_, 0, 0])
        %sums = cute.make_fragment_like(%S[_, 0, 0])
        %parts = cute.make_fragment_like(%S[_, 0, 0])
        cute.fill %shifts, %high
        cute.fill %sums, %zero
        cute.fill %rO, %zero
        // exp(scale x) = 2^(c x). The first row and column of a tile of S that this thread holds.
        %c_4 = vector.broadcast %c : f32 to vector<4xf32>
        %minus_c = arith.negf %c : f32
        %place = cute.layout_eval %t, "(4,8,${4*W}):(2@1,1@0,16@0)"
        %rowT, %colT = cute.get_scalars %place
        %lastT = arith.addi %seen, %rowT : i32
        // Turns: warpgroup g waits at barrier 1 + g, where the previous one arrives; for the first turn the last one does.
        %turn = arith.addi %group, %c1 : i32
        %is_last = arith.cmpi eq, %turn, %cW : i32
        %not_last = arith.cmpi ne, %turn, %cW : i32
        %after_turn = arith.addi %turn, %c1 : i32
        %turn_next = arith.select %is_last, %c1, %after_turn : i32
        scf.if %is_last {
          cute_nvgpu.arch.named_barrier_arrive %c1, %c256
        }
        cute_nvgpu.arch.mbarrier_wait %cameQ, %c0
        // Turn i computes S = Q K^T of tile i from the end, and O = O + P V of the previous tile.
        scf.for %up = %c0 to %tiles step %buffers : i32 {
          scf.for %half = %c0 to %buffers step %c1 : i32 {
            %i0 = arith.addi %up, %half : i32
            %there = arith.cmpi ult, %i0, %tiles : i32
            scf.if %there {
              %i1 = arith.addi %i0, %c1 : i32
              %n = arith.subi %tiles, %i1 : i32
              %follows = arith.cmpi ne, %i0, %c0 : i32
              %ib = arith.subi %i0, %c1 : i32
              %k, %phase = cute_nvgpu.arch.pipeline_index_of<${STAGES}> (%i0)
              %v, %phaseV = cute_nvgpu.arch.pipeline_index_of<${STAGES}> (%ib)
              %other = arith.subi %last_buffer, %half : i32
              %fKk = cute.slice %fK, (_, _, _, %k)
              %fVv = cute.slice %fV, (_, _, _, %v)
              %cameKk = cute.add_offset %cameK, %k
              %freeKk = cute.add_offset %freeK, %k
              %cameVv = cute.add_offset %cameV, %v
              %freeVv = cute.add_offset %freeV, %v
              cute_nvgpu.arch.mbarrier_wait %cameKk, %phase
              scf.if %follows {
                cute_nvgpu.arch.mbarrier_wait %cameVv, %phaseV
              }
              cute_nvgpu.arch.named_barrier_sync %turn, %c256
              nvvm.wgmma.fence.aligned
              scf.for %j = %c0 to %kD step %c1 : i32 {
                %adds = arith.cmpi ne, %j, %c0 : i32
                %mma = cute_nvgpu.atom.set_value(%mmaS, %adds) {field = accum_c}
                cute.gemm %mma, %rS, %fQ[_, _, %j], %fKk[_, _, %j], %rS
              } {loop_annotation = #unroll}
              nvvm.wgmma.commit.group.sync.aligned
              %more = arith.cmpi ne, %n, %c0 : i32
              %goes_on = arith.ori %more, %not_last : i1
              scf.if %follows {
                nvvm.wgmma.fence.aligned
                cute.gemm %mmaO, %rO, %A[_, _, _, %other], %fVv, %rO
                nvvm.wgmma.commit.group.sync.aligned
                scf.if %goes_on {
                  cute_nvgpu.arch.named_barrier_arrive %turn_next, %c256
                }
                nvvm.wgmma.wait.group.sync.aligned ${BUFFERS-1}
              } else {
                scf.if %goes_on {
                  cute_nvgpu.arch.named_barrier_arrive %turn_next, %c256
                }
                nvvm.wgmma.wait.group.sync.aligned 0
              }
              scf.if %speaks {
                cute_nvgpu.arch.mbarrier_arrive %freeKk
              }
              // Mask keys past the end or the diagonal.
              %masked = arith.cmpi uge, %n, %unmasked : i32
              scf.if %masked {
                %col0 = arith.muli %n, %cBN : i32
                %col = arith.addi %col0, %colT : i32
                %end = arith.subi %sk, %col : i32
                %diagonal = arith.subi %lastT, %col : i32
                scf.for %i = %c0 to %c2 step %c1 : i32 {
                  %rowI = arith.muli %i, %c8 : i32
                  %diagonalI = arith.addi %diagonal, %rowI : i32
                  %endI = arith.minsi %diagonalI, %end : i32
                  %row = cute.slice %S, (%i, _, _)
                  scf.for %j = %c0 to %cols step %c1 : i32 {
                    %jCol = cute.layout_eval %j, "(2,${BN/8}):(1,8)"
                    %colJ = cute.get_scalars %jCol
                    %out = arith.cmpi sge, %colJ, %endI : i32
                    %s = cute.memref.load %row[%j]
                    %kept = arith.select %out, %minus_inf, %s : f32
                    cute.store %kept, %row[%j]
                  } {loop_annotation = #unroll}
                } {loop_annotation = #unroll}
              }
              // P = 2^(c S + shift), and row sums of this thread's elements. If a sum exceeds the limit, which is rare, rescale
              // shift, sums and O by the row maxima and recompute P; so most tiles need no row maxima.
              scf.for %try = %c0 to %c2 step %c1 iter_args(%compute = %true) -> (i1) : i32 {
                %again = scf.if %compute -> (i1) {
                  %far = scf.for %i = %c0 to %c2 step %c1 iter_args(%most = %zero) -> (f32) : i32 {
                    %shift = cute.memref.load %shifts[%i]
                    %shift4 = vector.broadcast %shift : f32 to vector<4xf32>
                    %part = scf.for %j = %c0 to %kBN step %c1 iter_args(%before = %zero) -> (f32) : i32 {
                      %s = cute.memref.load_vec %S[%i, _, %j]
                      %e = math.fma %s, %c_4, %shift4 : vector<4xf32>
                      %p = math.exp2 %e fastmath<afn> : vector<4xf32>
                      %short = arith.truncf %p : vector<4xf32> to vector<4x${T}>
                      cute.memref.store_vec %short, %P[%i, _, %j, %half]
                      %after = vector.reduction <add>, %p, %before : vector<4xf32> into f32
                      scf.yield %after : f32
                    } {loop_annotation = #unroll}
                    cute.store %part, %parts[%i]
                    %larger = arith.maxnumf %most, %part : f32
                    scf.yield %larger : f32
                  } {loop_annotation = #unroll}
                  %is_first = arith.cmpi eq, %try, %c0 : i32
                  scf.if %is_first {
                    nvvm.wgmma.wait.group.sync.aligned 0
                  }
                  %is_far = arith.cmpf ogt, %far, %limit : f32
                  %any_far = cute_nvgpu.arch.vote<any> %is_far
                  %follow = arith.andi %any_far, %is_first : i1
                  scf.if %follow {
                    scf.for %i = %c0 to %c2 step %c1 : i32 {
                      %s = cute.memref.load_vec %S[%i, _, _]
                      %mine = vector.reduction <maxnumf>, %s : !rowS into f32
                      %quad = cute_nvgpu.arch.warp_all_reduce<max, 4> %mine
                      %wanted = arith.mulf %quad, %minus_c : f32
                      %old = cute.memref.load %shifts[%i]
                      %new = arith.minnumf %old, %wanted : f32
                      cute.store %new, %shifts[%i]
                      %bits = arith.subf %new, %old : f32
                      %factor = math.exp2 %bits fastmath<afn> : f32
                      %was = cute.memref.load %sums[%i]
                      %is = arith.mulf %was, %factor : f32
                      cute.store %is, %sums[%i]
                      %factors = vector.broadcast %factor : f32 to !rowO
                      %o = cute.memref.load_vec %R[%i, _]
                      %scaled = arith.mulf %o, %factors : !rowO
                      cute.memref.store_vec %scaled, %R[%i, _]
                    } {loop_annotation = #unroll}
                  }
                  scf.yield %follow : i1
                } else {
                  scf.yield %false : i1
                }
                scf.yield %again : i1
              } {loop_annotation = #unroll}
              scf.for %i = %c0 to %c2 step %c1 : i32 {
                %sum = cute.memref.load %sums[%i]
                %part = cute.memref.load %parts[%i]
                %is = arith.addf %sum, %part : f32
                cute.store %is, %sums[%i]
              } {loop_annotation = #unroll}
              %frees_v = arith.andi %follows, %speaks : i1
              scf.if %frees_v {
                cute_nvgpu.arch.mbarrier_arrive %freeVv
              }
            }
          } {loop_annotation = #unroll}
        }
        // O = O + P V of the first tile.
        %il = arith.subi %tiles, %c1 : i32
        %v, %phaseV = cute_nvgpu.arch.pipeline_index_of<${STAGES}> (%il)
        %cameVv = cute.add_offset %cameV, %v
        cute_nvgpu.arch.mbarrier_wait %cameVv, %phaseV
        %in_buffer = arith.remui %il, %buffers : i32
        scf.for %half = %c0 to %buffers step %c1 : i32 {
          %here = arith.cmpi eq, %half, %in_buffer : i32
          scf.if %here {
            nvvm.wgmma.fence.aligned
            cute.gemm %mmaO, %rO, %A[_, _, _, %half], %fV[_, _, _, %v], %rO
            nvvm.wgmma.commit.group.sync.aligned
            nvvm.wgmma.wait.group.sync.aligned 0
          }
        } {loop_annotation = #unroll}
        // Divide O by the sums over four threads each, and store it through this warpgroup's rows of Q.
        %r16 = cute.make_fragment_like(%rO) {element = ${T}}
        %R16 = cute.composition %r16, "(2,(2,${D/8})):(2,(1,4))"
        scf.for %i = %c0 to %c2 step %c1 : i32 {
          %mine = cute.memref.load %sums[%i]
          %quad = cute_nvgpu.arch.warp_all_reduce<add, 4> %mine
          %empty = arith.cmpf oeq, %quad, %zero : f32
          %over = nvvm.rcp.approx.ftz.f %quad : f32
          %factor = arith.select %empty, %zero, %over : f32
          %factors = vector.broadcast %factor : f32 to !rowO
          %o = cute.memref.load_vec %R[%i, _]
          %mean = arith.mulf %o, %factors : !rowO
          %short = arith.truncf %mean : !rowO to vector<${D/4}x${T}>
          cute.memref.store_vec %short, %R16[%i, _]
        } {loop_annotation = #unroll}
        %stsm = cute.make_atom : !cute_nvgpu.atom.stsm<${T}, mode = <"(8,8)">, num_matrices = 4, n>
        %eight = cute.make_atom : !cute_nvgpu.atom.universal_copy<${T}, 128 b>
        %r2s = cute.make_tiled_copy_C %stsm, %mmaO
        %s2g = cute.make_tiled_copy %eight, "((${1024/D},${W}),${D/8}):((${D/8},128),1)", "(${D/16},8):(8,1)"
        %tXrO = cute.tiled.copy.retile %r2s, %r16
        %tXsO = cute.tiled.copy.partition_D %r2s, %sQw, %lane
        cute.copy %r2s, %tXrO, %tXsO
        %written = arith.addi %group, %c8 : i32
        cute_nvgpu.arch.named_barrier_sync %written, %c128
        %Oh = cute.slice %O, (%b, _, %h, _)
        %pO = cute.get_iter %Oh
        %lay = cute.get_layout %Oh
        %before = cute.crd2idx (%beginQ, 0), %lay
        %pOs = cute.add_offset %pO, %before
        %ld = cute.stride %Oh, 0
        %rowsO = cute.make_layout((%sq, ${D}), (%ld, 1))
        %Os = cute.make_view %pOs, %rowsO
        %iO = cute.make_identity_tensor %Os
        %gO = cute.local_tile %Os, (${64*W}, ${D}), (%m, 0)
        %cO = cute.local_tile %iO, (${64*W}, ${D}), (%m, 0)
        %tOsO = cute.tiled.copy.partition_S %s2g, %sQ, %t
        %tOgO = cute.tiled.copy.partition_D %s2g, %gO, %t
        %tOcO = cute.tiled.copy.partition_D %s2g, %cO, %t
        %pred = cute.predicate %tOcO, %Os
        cute.copy %s2g, %tOsO, %tOgO, %pred
      }
    }
    gpu.return
  }
}
func.func @attention(%Q: !X, %K: !X, %V: !X, %O: !X, %scale: f32) {
  // Empty cumulative lengths.
  %p = cute.get_iter %O
  %none = cute.recast_iter(%p) : !cute.ptr<${T}, gmem, align<16>> to !cute.ptr<i32, gmem>
  %c0 = arith.constant 0 : i32
  %zero = cute.make_layout((%c0), (1))
  %cu = cute.make_view %none, %zero
  %shape = cute.shape %Q
  %blocks = cute.ceil_div %shape, (1, ${64*W})
  %b, %m, %h, %d = cute.get_scalars %blocks
  %c1 = arith.constant 1 : i32
  %threads = arith.constant ${128*(W+1)} : i32
  %bytes = arith.constant ${(64*W+2*STAGES*BN)*D*2} : i32
  gpu.launch_func @kernels::@attention blocks in (%m, %h, %b) threads in (%threads, %c1, %c1) : i32
    dynamic_shared_memory_size %bytes args(%Q : !X, %K : !X, %V : !X, %O : !X, %cu : !begins, %cu : !begins, %scale : f32)
  return
}
// longest: the length of the longest sequence of Q.
func.func @attention_packed(%Q: !X, %K: !X, %V: !X, %O: !X, %cuQ: !begins, %cuK: !begins, %longest: i32, %scale: f32) {
  %shape = cute.shape %Q
  %b, %s, %h, %d = cute.get_scalars %shape
  %sizes = cute.size %cuQ
  %ends = cute.get_scalars %sizes
  %c1 = arith.constant 1 : i32
  %below = arith.constant ${64*W-1} : i32
  %rows = arith.constant ${64*W} : i32
  %sequences = arith.subi %ends, %c1 : i32
  %more = arith.addi %longest, %below : i32
  %m = arith.divui %more, %rows : i32
  %threads = arith.constant ${128*(W+1)} : i32
  %bytes = arith.constant ${(64*W+2*STAGES*BN)*D*2} : i32
  gpu.launch_func @kernels::@attention blocks in (%m, %h, %sequences) threads in (%threads, %c1, %c1) : i32
    dynamic_shared_memory_size %bytes args(%Q : !X, %K : !X, %V : !X, %O : !X, %cuQ : !begins, %cuK : !begins, %scale : f32)
  return
}
// In an editor: -D T=bf16 -D D=128 -D CAUSAL=0 -D W=2 -D BN=128 -D STAGES=2 -D BUFFERS=2 -D MANY=240 -D FEW=24
